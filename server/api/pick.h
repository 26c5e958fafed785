/* SPDX-License-Identifier: Apache-2.0
 *
 * The first rows of an order without sorting all: rows are offered one after another, the best so many are kept in a heap. With it one scan gives both the number of rows
 * that pass a filter and the page of them, where SQL needs two scans. Values are those of one column: integers, texts (byte order), or unknown, which is last either way;
 * equal ones are ordered by id. */
#ifndef SERVER_API_PICK_H
#define SERVER_API_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct pick_row {
    int64_t id;
    bool known;
    int64_t number;
    struct str text;                 /* str_known: the value is this */
};

struct pick {
    struct pick_row *rows;           /* owned; a heap, the worst on top, until pick_sort */
    size_t count, capacity, want;
    bool descending;
    struct arena *arena;             /* borrowed: texts of rows that are kept */
    int64_t offered;
};

/* want: how many of the best to keep. */
void pick_init(struct pick *self, size_t want, bool descending, struct arena *arena);
enum err_code pick_offer(struct pick *self, const struct pick_row *row, struct err *err) WARN_UNUSED;
void pick_sort(struct pick *self);                                     /* best first; the last call */
void pick_dispose(struct pick *self);

#endif
