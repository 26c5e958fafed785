/* SPDX-License-Identifier: Apache-2.0
 *
 * Distinct texts with numbers, for columns in memory (app_table.h): a row holds a text's id, 4 bytes, comparing two rows compares ranks, and a search within the texts of a column
 * reads each text once, however many rows have it. Texts stay until the whole set goes. Ids begin at 1; 0 is the unknown text. Some 60 bytes a text beside its own.
 * One writer or many readers at a time. Functions that return an int: -1 out of memory, or more texts than 16 million. */
#ifndef SERVER_API_TEXT_SET_H
#define SERVER_API_TEXT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

struct text_set {
    struct smap ids;                 /* text to id */
    struct buf folded;               /* all texts one after another in lower case (of ASCII), each with a NUL behind it */
    uint32_t *begin;                 /* of each text in folded */
    uint32_t *order;                 /* ids, in the order of their texts' bytes */
    uint32_t *rank;                  /* by id: place in the order, from 1; of the unknown text 0 */
    size_t begin_capacity, order_capacity, rank_capacity, ranked_count;
};

void text_set_init(struct text_set *self);
int text_set_add(struct text_set *self, struct str text, uint32_t *ret_id) WARN_UNUSED;        /* unknown gives 0 */
uint32_t text_set_find(const struct text_set *self, struct str text);                          /* 0: not there */
struct str text_set_text(const struct text_set *self, uint32_t id);                            /* borrowed from the set; 0 gives STR_NONE */

/* Makes rank[] true for all texts there are. Costs little where few are new. */
int text_set_rank(struct text_set *self) WARN_UNUSED;

/* ret_found[id] becomes 1 for each text that holds `part` (letters of ASCII in either case), else 0; count + 1 bytes. */
int text_set_search(const struct text_set *self, struct str part, uint8_t *ret_found) WARN_UNUSED;
size_t text_set_count(const struct text_set *self);
void text_set_dispose(struct text_set *self);

#endif
