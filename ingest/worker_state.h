/* SPDX-License-Identifier: Apache-2.0
 *
 * What the worker's files (worker_*.c) share: one struct, made and freed by worker_run. It belongs to the worker's own thread, as does all that is called with it; the
 * crew's threads see their jobs alone (worker_crew.h). Each part stands below the name of the file that it is for.
 *
 * Errors: a function that returns one has failed for want of memory or because the catalogue could not be read or written; a log's own faults end in its row. Callable
 * again after an error (worker_pump): nothing that is finished is lost. */
#ifndef INGEST_WORKER_STATE_H
#define INGEST_WORKER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "ingest/cleaner.h"
#include "ingest/kept_loads.h"
#include "ingest/list_queue.h"
#include "ingest/load_queue.h"
#include "ingest/lookout.h"
#include "ingest/store/catalog.h"
#include "ingest/worker.h"
#include "ingest/worker_crew.h"
#include "ingest/worker_marker.h"

#define WORKER_CONTROL_BYTES 4096                    /* a line of control: what a pipe takes whole */
#define WORKER_MAX_LOGS LOAD_QUEUE_MAX
#define NS_PER_S ((int64_t)1000000000)
#define WORKER_PUMP_NS (NS_PER_S / 10)               /* while much is seen: how often finished jobs are looked after */
#define WORKER_FOREIGN_RETRY_NS (NS_PER_S / 2)       /* another process has the run */
#define WORKER_RETRY_FIRST_NS NS_PER_S

struct worker {
    const struct worker_options *options;    /* borrowed, as the summary */
    struct worker_summary *summary;
    struct catalog *catalog;                 /* owned */
    struct crew crew;
    struct worker_marker marker;
    int writer_lock;                         /* -1: not held: one that does not watch needs none, and one that stands by waits for it (writer_role.h) */
    int wake[2];                             /* a pipe: jobs that are done and signals write, the loop waits */

    /* worker_schedule.c */
    struct list_queue to_list;
    struct load_queue queue;
    struct kept_loads kept;
    struct imap under_way;                   /* log_id → enum stage */
    int64_t total_bytes, done_bytes;         /* of all logs that were ever on their way in this process */
    size_t total_count, done_count;

    /* worker_scan.c */
    struct imap settled; /* lookout_key → log_id of logs with which nothing is to be done, -log_id of those that the catalogue is asked for when they are seen and not on their way */
    struct lookout *lookout;                 /* owned */
    struct place_state {
        char *path;                          /* owned; the address */
        int64_t place_id;                    /* UNKNOWN: not a directory, or not known yet */
        bool scanned;                        /* once, in this process */
        bool looked_at;                      /* once, in this process, and be it in vain */
        bool failing;                        /* the last look found it away */
        bool asked;                          /* a look at it was asked for since a log was done with last */
        bool told_stuck;                     /* the cleaner said, this time, why a log of it cannot be deleted */
        /* the look that is going on */
        bool check_files, is_log;
        bool spoiled;                        /* what was seen could not be written down: nothing is known to be gone */
        bool forgotten;                      /* something was told by a key that `settled` does not have any more: the next look tells all, and what is gone shows then */
        int64_t entry_count;
        int64_t *seen;                       /* owned; log ids */
        size_t seen_count, seen_capacity;
        char **closed;                       /* owned, and each; directories that could not be read: what lies below is not gone */
        size_t closed_count, closed_capacity;
    } *places;                               /* owned; as options->places */
    const char **addresses;                  /* owned; of the places, for the lookout */
    int64_t next_check_ns;                   /* when catalog.db is looked for again; monotonic */

    /* worker_loop.c; times are monotonic */
    bool failing;                            /* the last write to the catalogue did not succeed */
    int64_t quiet_until_ns;                  /* after a failure: nothing is tried before */
    int64_t next_progress_ns;

    /* worker_policy.c; times are monotonic */
    struct {
        int64_t next_mark_ns, next_clean_ns, next_budget_ns;     /* 0: at once */
        int64_t budget_not_before_ns;
        struct {                             /* what is being done, some at a time: finished loads and scans do not wait for it */
            struct clean_plan plan;          /* owned */
            size_t at, deleted_count, stuck_count;
            int64_t deleted_bytes;
            bool made;
        } logs;
        struct {
            struct budget_plan plan;         /* owned */
            size_t at, put_away_count;
            int64_t freed_bytes;
            bool made;                       /* there is a plan, and be it that nothing goes */
        } runs;
        int64_t clock_offset_ms;             /* clean_clock_was_set */
        bool swept;                          /* files that a killed process should have removed were looked for */
        bool told_over_budget;
    } policy;

    /* worker_unjudged.c */
    struct {
        char **keys;                         /* owned, and each; the last is next */
        size_t count, capacity;
    } unjudged;

    /* worker_arrivals.c */
    struct {
        char **names;                        /* owned, and each; in STORE/arrivals; the last is next */
        size_t count, capacity;
        int64_t next_look_ns;                /* monotonic; 0: at once */
        bool told;                           /* that they cannot be taken */
    } arrivals;

    /* worker_control.c */
    bool stop;                               /* the end of control */
    int64_t next_wishes_ns;                  /* when those of other servers are looked for; monotonic */
    struct {
        struct imap told;                    /* log_id → something: runs that were called damaged once in this process */
        bool catalog;                        /* the catalogue is to be checked */
        int64_t catalog_not_before_ns;       /* monotonic */
    } damage;
    struct {
        char line[WORKER_CONTROL_BYTES];     /* as far as it was read; the rest of a longer one is dropped */
        size_t used;
    } control;
};

/* Gives an error that was caught to a caller who may not want its text. */
static inline enum err_code worker_hand_on(struct err *err, const struct err *why, enum err_code rc)
{
    if (err && rc)
        *err = *why;
    return rc;
}

#endif
