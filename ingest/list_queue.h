/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs whose head and tail are to be read, first come, first served (a ring), but for those that somebody waits for. One thread. Made of zeroes. */
#ifndef INGEST_LIST_QUEUE_H
#define INGEST_LIST_QUEUE_H

#include "ingest/load_queue.h"

struct list_queue {
    struct load_item *items;         /* owned */
    size_t head, count, capacity;    /* at most LOAD_QUEUE_MAX */
};

/* -1: out of memory. */
int list_queue_push(struct list_queue *self, const struct load_item *item) WARN_UNUSED;
const struct load_item *list_queue_first(const struct list_queue *self);      /* borrowed until the next push; there must be one */
void list_queue_pop(struct list_queue *self);                                 /* drops the first */
/* Somebody wants this log: it is first now, and its wish goes with it to the load queue. Nothing where it is not in here. */
void list_queue_want(struct list_queue *self, int64_t log_id, int64_t wanted_ms);
void list_queue_dispose(struct list_queue *self);

#endif
