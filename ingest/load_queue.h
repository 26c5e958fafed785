/* SPDX-License-Identifier: Apache-2.0
 *
 * What is to be loaded, in order: what somebody wants to see (the latest wish first), then small logs before large ones (in steps of 16, from 64 KiB on), then new
 * before old; logs that may kill the worker last of all. Items that must wait (a retry, a log that grows faster than it is worth reading) lie aside until they are due. One
 * thread. */
#ifndef INGEST_LOAD_QUEUE_H
#define INGEST_LOAD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define LOAD_QUEUE_MAX ((size_t)50 << 20)        /* logs; 72 bytes each */

struct load_item {
    int64_t log_id, bytes, modified_ms;
    int64_t wanted_ms;               /* UNKNOWN: nobody asked */
    int64_t tries;                   /* loads that ended a worker */
    int64_t due_ns;                  /* monotonic; not before */
    int attempts;                    /* loads that failed for want of memory or disk, or because another process has the run */
};

struct load_queue {
    struct load_item *heap;          /* owned; best first */
    size_t count, capacity;
    struct load_item *aside;         /* owned; in no order */
    size_t aside_count, aside_capacity;
};

/* -1: out of memory. An item whose time has not come lies aside. */
int load_queue_push(struct load_queue *self, const struct load_item *item, int64_t now_ns) WARN_UNUSED;
/* Takes the best item. False: none is ready. */
bool load_queue_pop(struct load_queue *self, struct load_item *ret);
/* Brings in what is due; returns when the next one is (INT64_MAX: nothing lies aside). */
int64_t load_queue_wake(struct load_queue *self, int64_t now_ns);
/* Somebody wants this log: it goes first, and at once. False: it is not in the queue. */
bool load_queue_want(struct load_queue *self, int64_t log_id, int64_t wanted_ms);
void load_queue_dispose(struct load_queue *self);

#endif
