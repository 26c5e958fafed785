/* SPDX-License-Identifier: Apache-2.0
 *
 * What the writers of reports share: a finding with all its texts, findings of one rule together, and texts in the report's arena. For report_*.c, and for answers that hold findings. */
#ifndef ANALYSIS_REPORT_PARTS_H
#define ANALYSIS_REPORT_PARTS_H

#include "analysis/report.h"
#include "base/json_writer.h"

/* A readable report shows so many rules with all they have, so many further subjects of a rule, and so many rows of evidence; it says how many more there are. */
#define REPORT_FULL_RULES 12
#define REPORT_FURTHER_SUBJECTS 5
#define REPORT_EVIDENCE_ROWS 5
#define REPORT_LARGE_BUCKET 0.10     /* of the wall: buckets from there on are explained below the account */
#define REPORT_SMALL_BUCKET 0.01     /* of the wall: buckets below it are one row */
#define REPORT_CLOSEST 3
#define REPORT_ERRORS 4              /* of a rule about failures so many different errors are told; further ones are counted */

/* All texts are in the report's arena. */
struct report_item {
    const struct report_finding *graded;
    const struct finding *finding;
    const char *name;                /* static: of its rule */
    struct str subject, sentence, advice;
    struct str code;                 /* the call that its subject comes from, and its query: "count at a.py:7 · SELECT …"; STR_NONE: the log has neither */
    struct str origin;               /* where what failed was thrown (error_text.h); STR_NONE: it is about no failure, or the log does not say */
    struct str saving;               /* "saves about 5.0 s (4.8 s to 5.3 s)"; STR_NONE: no price, or nothing to do about it */
    struct word_arg args[REPORT_ARGS];
    size_t arg_count;
    struct report_evidence evidence;
};
enum err_code report_item(struct report *report, size_t position, enum lang lang, struct report_item *ret, struct err *err) WARN_UNUSED;

/* What to do first, for who reads no further; told right below the verdict. */
struct report_first_step {
    size_t position;                 /* of the finding that it is about; finding_count: none, and `item` is not set */
    struct report_item item;
    struct str text;                 /* its advice, or that there is nothing to do, or where else to look */
    struct str where;                /* "stage 3.0 · count at a.py:7"; STR_NONE: it is about the whole run, or about none */
    struct str saving;               /* a sentence; STR_NONE: no price, or the run has to work first */
};
enum err_code report_first_step(struct report *report, enum lang lang, struct report_first_step *ret, struct err *err) WARN_UNUSED;

/* The part of a readable list that a finding stands in: what the verdict is about, whatever its grade, then causes before what they lead to, then notes, and last what is usual. `lead`: verdict_lead, asked once for all. */
enum report_part { PART_LEAD, PART_CAUSE, PART_SYMPTOM, PART_NOTE, PART_USUAL, PART_COUNT };
enum report_part report_part_of(const struct report *report, size_t position, size_t lead);

/* Shown findings by rule, and by error where they tell of failures; what tells of a failure once more is with the one that tells most of it. Part by part, in each in the order of the first of each (8.2). */
struct report_group {
    size_t first, count;             /* position of the first; how many there are */
    size_t others[REPORT_FURTHER_SUBJECTS];
    size_t other_count;
};
struct report_groups {
    struct report_group of[128];     /* more than there are rules, and errors of rules about failures */
    size_t count, full_count;        /* full: from grade low on and worth doing something about, at most REPORT_FULL_RULES; the rest are notes */
};
void report_group(const struct report *report, struct report_groups *ret);
/* A note says what to do where there is something to mend, whatever its grade: the verdict may lead with it, and savings together count it. */
bool report_note_advises(const struct report_item *item);

/* Texts into the arena; STR_NONE and `buf` cleared. ERR_NOMEM is the caller's: an empty text is what a full arena gives. */
struct str report_keep(struct report *report, struct buf *text);
/* A text of section "report" with placeholders; the next argument is the text of an arg, or NULL for a number. */
void report_say(struct buf *out, enum lang lang, const char *what, const struct word_arg *args, size_t count);
/* The further subjects of a group: "stage 2.0 (1.2 s), stage 3.0, 4 more"; nothing where there are none. */
void report_others(struct buf *out, const struct report *report, const struct report_group *group, enum lang lang);
/* What the largest savings come to together (verdict_saving_ms); nothing where there are not two. */
void report_together(struct buf *out, const struct report *report, enum lang lang);
struct word_arg report_number(const char *name, double value, const char *unit);
struct word_arg report_text(const char *name, struct str text);
double report_ms(int64_t ms);        /* UNKNOWN gives NaN */
/* Punctuation of the language: ": " and ", ", or those of Chinese. */
const char *report_colon(enum lang lang);
const char *report_comma(enum lang lang);
const char *report_grade_name(enum lang lang, enum grade grade);
/* A readable report leaves out cells that say nothing happened: nothing spilled, nothing read. */
bool report_cell_is_news(const struct report_cell *cell);
void report_cell_name(struct buf *out, enum lang lang, struct str name);     /* of a column of evidence */
/* One row of evidence, "task 7: took 5.0 s, ran 4.0 s", from the cell *at on, which is moved behind it. False: there is none left. */
bool report_evidence_row(struct buf *out, enum lang lang, const struct report_evidence *evidence, size_t *at);
const char *report_bucket_name(enum lang lang, enum bucket bucket);
/* Rows of the account, largest first; those below REPORT_SMALL_BUCKET are one row, the last: names as texts of the arena. Returns their number, so that their times add up to the run. */
struct report_account_row {
    struct str name;
    const char *meaning;             /* static; NULL of the row of small ones */
    int64_t ms;
    double share;
};
size_t report_account_rows(struct report *report, enum lang lang, struct report_account_row ret[BUCKET_COUNT + 1]);
/* Below the account: what a slot is, and what the largest parts mean. */
void report_account_note(struct buf *out, const struct report *report, enum lang lang);

/* "Healthy…", as text of the arena. */
enum err_code report_verdict(struct report *report, enum lang lang, struct str *ret, struct err *err) WARN_UNUSED;
/* The lines on how the run was judged, and last one on what words mean, each a text of the arena or static. Returns their number, at most 8. */
enum err_code report_judged(struct report *report, enum lang lang, struct str ret[8], size_t *ret_count, struct err *err) WARN_UNUSED;
/* "app name · app-2026…/1", and "Spark 4.3.0 · user x · started …". */
void report_head(struct buf *out, const struct report *report);
void report_facts(struct buf *out, const struct report *report, enum lang lang);

/* One finding as an object of JSON, as reports and the interface have it: in the order of 8.2, with the part of a readable list that it would stand in. */
void report_json_finding(struct json_writer *w, enum lang lang, const struct report_item *item, enum report_part part);
/* "firstStep":{…} */
enum err_code report_json_first_step(struct json_writer *w, struct report *report, enum lang lang, struct err *err) WARN_UNUSED;
/* "joint":[…] */
void report_json_joint(struct json_writer *w, const struct report *report);

/* For other documents in the same formats (comparison_report.c). Text: the columns a line takes on a terminal; `text` from column `indent` on, broken before column 96, the cursor at `column`. */
void report_escape_html(struct buf *out, struct str text);
void report_escape_markdown(struct buf *out, struct str text);
int report_width(struct str text);
void report_paragraph(struct buf *out, struct str text, int indent, int column);

extern const char report_css[];      /* analysis/report.css, compiled in */

typedef enum err_code report_writer(struct report *report, const struct report_style *style, struct buf *out, struct err *err);
report_writer report_write_text, report_write_json, report_write_html, report_write_markdown;

#endif
