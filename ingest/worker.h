/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker: looks at the places, decides what to load and in which order, isolates damage. `afterglow ingest` is this and a way to show it.
 *
 * One thread (the caller's) owns the catalogue, scans and decides; two listers read heads and tails, so that new logs are listed within seconds whatever else is going
 * on; `jobs` loaders run loads (each of which has threads of its own). Order of loads: what someone opened, then small, then new (design.md 5). A log whose loading ended a worker
 * before is loaded last and alone, so that no other log is blamed for its crash.
 *
 * With `watch` it first waits until no other process watches for this store (writer_role.h), and then goes on until SIGTERM or SIGINT: it looks again every interval, follows growing logs with the load that is still open (at most KEPT_LOADS_MAX of them,
 * kept_loads.h), loads replaced ones anew, marks those that are gone, and tries again what failed for want of memory or disk. With `control` it reads standard input: a line
 * "want LOG_ID" puts that log in front, "opened LOG_ID" says that somebody opened its run, "scan" looks at the places now, "scan N" at the Nth of them, from 0, "reload LOG_ID" reads a log anew, "damaged LOG_ID" says that its run's file cannot be read (0: the catalogue), "forget LOG_ID" drops its run until the log
 * changes, and the end of input means that the server has ended: stop.
 *
 * This header is for those who run a worker; worker_state.h says what its files share. */
#ifndef INGEST_WORKER_H
#define INGEST_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"
#include "base/worker_counts.h"
#include "ingest/clean_rules.h"
#include "ingest/store/catalog.h"
#include "ingest/store_budget.h"

struct worker_place {
    const char *path;                /* a log or a directory, as place_address takes it; borrowed */
    const char *name;                /* NULL: none */
};

/* One log is done; texts are borrowed for the call. */
struct worker_result {
    const char *path, *app_key, *app_id, *attempt_id;    /* NULL: not known */
    enum log_state state;
    bool complete;
    const char *flags;               /* words, blank-separated */
    int64_t bytes, line_count, bad_line_count, task_count, load_ms;      /* UNKNOWN where nothing was read */
    const char *message;             /* NULL: nothing to say */
    bool fresh;                      /* false: it was known before, nothing was done */
    bool store_failed;               /* it could not be loaded for want of memory or disk: no fault of the log */
};

struct worker_progress {
    int64_t read_bytes, total_bytes; /* stored bytes of all logs to load, and of what is read of them */
    size_t done_count, total_count;  /* logs */
    size_t listing_count;            /* logs that still have to be listed */
    const char *path;                /* largest log that is loading now; NULL: none */
};

/* What is loaded, kept and deleted (README.md: afterglow.load, afterglow.store.*, spark.history.fs.cleaner.*). */
struct worker_policy {
    bool load_opened;                /* while watching: runs are only listed until somebody opens them */
    bool cleaner;                    /* while watching: old logs are deleted */
    int64_t clean_interval_ms;
    struct clean_rules clean;        /* abandoned_after_ms holds for the list, too; 0: nothing is called abandoned */
    struct budget_limits store;
    int64_t max_memory_bytes;        /* 0: no limit. While this process has more in memory, no load begins beside another, and growing logs are not followed with an open load */
};

struct worker_options {
    const char *store_dir;
    const struct worker_place *places;
    size_t place_count;
    const char *added_dir;           /* real path; logs below it are marked as added (DB_ADDED_MARK); NULL: none are */
    int jobs;
    bool watch, control;
    int64_t interval_ms;
    struct worker_policy policy;
    void (*on_result)(void *context, const struct worker_result *result);        /* may be NULL, as the next */
    void (*on_progress)(void *context, const struct worker_progress *progress);  /* a few times a second */
    int (*confine)(void *context);   /* called once the store is there, before threads are made and logs are read; gives up rights, says the level that holds (base/confine.h). NULL: rights are kept */
    void *context;
    struct worker_counts *counts;    /* borrowed; NULL: nobody wants them */
};

struct worker_summary {
    size_t loaded_count, partial_count, failed_count, skipped_count;     /* known before or not */
    size_t unreadable_count;         /* of those skipped: entries that may not be read */
    size_t store_failed_count;
    size_t missing_count;            /* places that are not there or cannot be read */
    size_t refused_count;            /* files that were named and are no log */
    bool stopped;                    /* by a signal or the end of control, before all was done */
};

/* Returns when all is done or, with `watch`, when asked to stop (ERR_OK). An error: the store cannot be used. */
enum err_code worker_run(const struct worker_options *options, struct worker_summary *ret, struct err *err) WARN_UNUSED;

/* Half the processors, at least two: a load keeps two busy, and a second one keeps small logs from waiting for a large one. */
int worker_default_jobs(void);

#endif
