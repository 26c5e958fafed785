/* SPDX-License-Identifier: Apache-2.0
 *
 * A document of paragraphs and tables, written as text for a terminal, Markdown or HTML. What is put in is plain text (wording.h made it harmless); marks and escapes are the format's. The rows of a
 * table are gathered first, because a terminal needs to know how wide its columns are. One thread. */
#ifndef ANALYSIS_SHEET_H
#define ANALYSIS_SHEET_H

#include "analysis/report.h"

#define SHEET_COLUMNS 6

struct sheet {
    struct buf *out;                   /* borrowed */
    struct report_style style;         /* not REPORT_JSON */
    struct arena arena;                /* cells of the table at work */
    struct str (*rows)[SHEET_COLUMNS]; /* owned */
    size_t row_count, row_capacity, column_count;
    unsigned numbers; /* bits 1 << column: aligned to the right */
    bool failed;      /* out of memory: sticks */
};

void sheet_begin(struct sheet *self, struct buf *out, const struct report_style *style, struct str title, struct str facts);
void sheet_verdict(struct sheet *self, struct str text);
void sheet_heading(struct sheet *self, struct str text);
void sheet_paragraph(struct sheet *self, struct str text);
void sheet_note(struct sheet *self, struct str text); /* of a list */
/* Heads of the columns; then rows of as many cells; then the end, which writes it. */
void sheet_table(struct sheet *self, const struct str *heads, size_t column_count, unsigned numbers);
void sheet_row(struct sheet *self, const struct str *cells);
void sheet_table_end(struct sheet *self);
/* False: out of memory. Frees what the sheet owns. */
bool sheet_end(struct sheet *self, struct str footer) WARN_UNUSED;

#endif
