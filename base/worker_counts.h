/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ingest process counts, for the server that started it: one piece of memory (memfd) that both see. The server makes it and keeps it as long as it lives, so that counts go on where they were when the
 * process ends and is started again; the process finds it under a number that it is told (`ingest --counts FD`) and only adds. No file, no lock: what is written in the middle of a crash is one number.
 *
 * struct time_counts is also how the server counts its own answers: how many took how long, in buckets, as Prometheus has them.
 *
 * Threads: everything in here is atomic; any thread of either process may add and read. */
#ifndef BASE_WORKER_COUNTS_H
#define BASE_WORKER_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TIME_BUCKETS 10

struct time_counts {
    atomic_int_fast64_t counts[TIME_BUCKETS + 1];    /* by the first bound that is not below it; the last: above all */
    atomic_int_fast64_t sum_us;
};
/* bounds_us: TIME_BUCKETS, ascending. */
void time_counts_add(struct time_counts *self, const int64_t *bounds_us, int64_t us);

extern const int64_t load_bounds_us[TIME_BUCKETS];

/* How a load ended. Faults of the log itself are LOADED to DAMAGED; the others are tried again. */
enum load_end {
    LOAD_END_LOADED,
    LOAD_END_PARTIAL,                /* something of the log could not be read */
    LOAD_END_EMPTY,                  /* nothing was there yet */
    LOAD_END_UNREADABLE,             /* nothing in it could be read */
    LOAD_END_TOO_LARGE,              /* more than this program can hold */
    LOAD_END_GONE,                   /* the log was not there any more, or may not be opened */
    LOAD_END_CRASHED,                /* it ended the process */
    LOAD_END_NO_MEMORY,
    LOAD_END_NO_SPACE,
    LOAD_END_STORE,                  /* the store could not be written for another reason */
    LOAD_END_COUNT
};
extern const char *const load_end_names[LOAD_END_COUNT];     /* snake_case, as in /metrics */

/* The last process's; 0 while none runs is up to the reader. */
enum queue_stage { QUEUE_TO_LIST, QUEUE_TO_LOAD, QUEUE_PUT_OFF, QUEUE_LOADING, QUEUE_STAGE_COUNT };
extern const char *const queue_stage_names[QUEUE_STAGE_COUNT];

struct worker_counts {
    uint64_t form;                   /* of this struct: a process of another version than the server leaves it alone */
    atomic_bool listed;              /* every place was looked at, or could not be reached, and all logs that were seen then are in the list */
    atomic_bool standby;             /* another server's worker writes the store: this one waits to take over */
    atomic_int confined;             /* the level that the process is confined by (base/confine.h); 0: not */
    atomic_int_fast64_t load_ends[LOAD_END_COUNT];
    atomic_int_fast64_t read_bytes;  /* of logs, as stored */
    atomic_int_fast64_t scans, failed_scans;         /* of one place each */
    atomic_int_fast64_t queue[QUEUE_STAGE_COUNT];
    struct time_counts load_times;   /* loads that went to their end, load_bounds_us */
};

/* *ret_fd: to be handed to the process; closed with the counts. */
enum err_code worker_counts_new(struct worker_counts **ret, int *ret_fd, struct err *err) WARN_UNUSED;
void worker_counts_free(struct worker_counts *self, int fd); /* NULL is fine */

/* In the process. NULL: there is nothing of that form, and nobody to count for. Mapped until the process ends. */
struct worker_counts *worker_counts_open(int fd);

#endif
