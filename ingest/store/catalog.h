/* SPDX-License-Identifier: Apache-2.0
 *
 * STORE/catalog.db as ingest writes it: places, logs with their state and reason, runs (schema.sql, first part). Short transactions, safe with several ingest
 * processes on one store (WAL, busy time-out). A struct catalog belongs to one thread.
 *
 * The life of a log row:
 *
 *   seen ──► waiting ──► loading ──► loaded | partial | failed          a log that changes is waiting again
 *     │         │  ▲                        │
 *     │         ▼  │ somebody opens it      ▼ put away
 *     │        listed ◄─────────────────────┘
 *     └────► skipped  (no log, or another copy of a run that is shown)  a log that is not there any more is gone; its run stays
 *
 * A run (table app) is made from the head and tail of its log (catalog_listed), completed by the load (catalog_load_done) and never deleted, except when
 * it turns out that there is nothing readable in it. Several logs can hold one run (same app_key): the complete one, then the larger, then the newer is the one that is
 * loaded; the others are skipped with the reason and looked at again when the one goes or fails.
 *
 * Each function that writes is a transaction: all of it happens or nothing. Texts in a struct catalog_row belong to the catalog
 * and are valid until the next call that fills one. */
#ifndef STORE_CATALOG_H
#define STORE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"

struct catalog;
struct run_history;
struct run_summary;

/* Makes STORE, STORE/apps and catalog.db where missing. A catalogue of another version, or a damaged one, is set aside as catalog.db.old-<time>; that one and a missing
 * one are made anew from apps/ (what a scan of the log directories then adds is up to the worker); catalog_remark says so. */
enum err_code catalog_open(struct catalog **ret, const char *store_dir, struct err *err) WARN_UNUSED;
void catalog_close(struct catalog *self);
bool catalog_in_place(const struct catalog *self);   /* false: catalog.db is another file by now, or gone; what is written here is seen by nobody */
/* Looks at the file as catalog_open does. ERR_CORRUPT: the next catalog_open sets it aside. */
enum err_code catalog_check(const struct catalog *self, struct err *err) WARN_UNUSED;
struct db *catalog_db(struct catalog *self);         /* borrowed */
const char *catalog_remark(const struct catalog *self);   /* one line for the log, borrowed; NULL: nothing happened */

enum log_state { LOG_WAITING, LOG_LOADING, LOG_LOADED, LOG_PARTIAL, LOG_LISTED, LOG_FAILED, LOG_SKIPPED, LOG_GONE };
const char *log_state_name(enum log_state state);
/* A row whose state is none of ours was written by something else; waiting makes us look at it. */
enum log_state log_state_of(struct str name);
/* LOG_PARTIAL when the words say that something of the log could not be read (cut lines gap unreadable), else LOG_LOADED. */
enum log_state catalog_state_of_flags(const char *flags);

/* One log with its run, as far as known. */
struct catalog_row {
    int64_t log_id, place_id;        /* place UNKNOWN: none */
    const char *path, *fingerprint, *reason, *flags;      /* reason NULL: none; flags "" */
    int64_t layout, bytes, modified_ms, changed_ms, wanted_ms, tries, line_count, bad_line_count, task_count, load_ms;
    bool finished_name;
    enum log_state state;
    const char *app_key;             /* NULL: not listed yet; also of rejects */
    /* of the run: NULL, UNKNOWN, false where app_key is NULL */
    const char *app_id, *attempt_id;
    bool complete, loaded;
    bool is_source;                  /* the run is taken from this log */
    bool put_away;                   /* it was loaded, and its file in the store was removed to make room */
    int64_t removing_ms;             /* as in schema.sql */
};

/* ERR_NOT_FOUND: no such row; err is left as it was. */
enum err_code catalog_get(struct catalog *self, int64_t log_id, struct catalog_row *ret, struct err *err) WARN_UNUSED;
enum err_code catalog_find(struct catalog *self, const char *path, struct catalog_row *ret, struct err *err) WARN_UNUSED;

/* What a look at a directory says of an entry. */
struct catalog_sighting {
    int64_t place_id;                /* UNKNOWN: named on a command line */
    const char *path, *fingerprint;
    int64_t layout, bytes, modified_ms;
    int64_t looked_ms;               /* when the look began that saw it; 0: just now. Of a log that went after that it tells nothing */
    bool finished_name;
};
enum sighting_news { SIGHTING_SAME, SIGHTING_NEW, SIGHTING_CHANGED };

/* A log was seen. New and changed ones are `waiting` afterwards; with `check_file`, which costs a look at it, also those whose file below apps/ is missing or of another
 * version. One that was gone and comes back unchanged is loaded as before. A new log beside a row <path>.inprogress is that log renamed: the old row is gone, its key
 * is handed on, and *ret_renamed_from is its log_id (else 0). *ret_row is filled in any case. */
enum err_code catalog_see(struct catalog *self, const struct catalog_sighting *sighting, bool check_file, enum sighting_news *ret_news, int64_t *ret_renamed_from,
    struct catalog_row *ret_row, struct err *err) WARN_UNUSED;

/* Something was seen that is no log: the row is `skipped` with flags and reason. */
enum err_code catalog_reject(struct catalog *self, const struct catalog_sighting *sighting, const char *flags, const char *reason, struct catalog_row *ret_row,
                             struct err *err) WARN_UNUSED;

enum err_code catalog_place(struct catalog *self, const char *uri, const char *name, int64_t *ret_place_id, struct err *err) WARN_UNUSED;     /* name NULL: keep */
/* `error` NULL: it could be looked at. Else it fails since now, unless it did so before. */
enum err_code catalog_place_scanned(struct catalog *self, int64_t place_id, int64_t duration_ms, int64_t entry_count, const char *error, struct err *err) WARN_UNUSED;
/* The place turned out to be one log: its logs are without a place. */
enum err_code catalog_place_drop(struct catalog *self, int64_t place_id, struct err *err) WARN_UNUSED;

/* Logs of a place that are not gone: id and path, for finding those a scan did not see. `each` must not call the catalogue. */
typedef enum err_code catalog_each_fn(void *context, int64_t log_id, const char *path);
enum err_code catalog_each_present(struct catalog *self, int64_t place_id, catalog_each_fn *each, void *context, struct err *err) WARN_UNUSED;
enum err_code catalog_count_present(struct catalog *self, int64_t place_id, int64_t *ret, struct err *err) WARN_UNUSED; /* how many these are, for a tenth of the time */
/* Logs that are not gone, with path and fingerprint. The same rule. */
typedef enum err_code catalog_fingerprint_fn(void *context, const char *path, const char *fingerprint);
enum err_code catalog_each_fingerprint(struct catalog *self, catalog_fingerprint_fn *each, void *context, struct err *err) WARN_UNUSED;
/* The log is not there any more. Its run stays; copies of it are looked at again by the next scan. */
enum err_code catalog_gone(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;

/* Somebody wants to see what is in this log: it goes first. A listed one is waiting from then on. */
enum err_code catalog_want(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;

/* A run as its log tells it. Texts NULL and numbers UNKNOWN where the log does not say. */
struct catalog_run {
    const char *app_id, *attempt_id, *name, *user, *spark_version, *queue;
    const char *view_users, *view_groups;
    int64_t start_ms, end_ms, last_event_ms, exit_code;
    bool vendor_version;             /* as application.vendor_version */
    bool start_inferred;             /* its ApplicationStart has no time */
    bool complete;
    /* from here on by a load only */
    const char *outcome;
    int64_t duration_ms;
    int64_t job_count, failed_job_count, stage_count, failed_stage_count, task_count, failed_task_count, executor_count, lost_executor_count;
    int64_t task_time_ms, gc_time_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes, disk_spill_bytes;
    int64_t skew_grade, gc_grade;    /* judgements over the rows, made after the load */
    const struct run_history *history;   /* as above; NULL: the catalogue keeps what it has, as with the next */
    const struct run_summary *summary;
};

/* The head and tail of a log were read. The log gets its key (one that it was handed by a rename stays) and the run its row. *ret_chosen: this log is the one to load for
 * its run; if not, it is `skipped` now, with the reason. */
enum err_code catalog_listed(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, bool *ret_chosen, struct err *err) WARN_UNUSED;

/* A load begins: the row is `loading`. *ret_generation is greater than that of any load before. */
enum err_code catalog_load_begin(struct catalog *self, int64_t log_id, int64_t *ret_generation, struct err *err) WARN_UNUSED;
enum err_code catalog_load_progress(struct catalog *self, int64_t log_id, int64_t read_bytes, int64_t line_count, struct err *err) WARN_UNUSED;

struct catalog_result {
    enum log_state state;            /* LOADED, PARTIAL; FAILED: nothing readable; SKIPPED: nothing there yet */
    const char *flags, *reason;      /* reason NULL: none */
    const struct catalog_sighting *read;     /* the log as it was when its reading began, which may be later than when it was last seen */
    int64_t generation, line_count, bad_line_count, task_count, load_ms;
};
/* The load is over. LOADED and PARTIAL: `run` is what it found. FAILED and SKIPPED: a run that never was loaded goes with its row, an older load stays. A log that went meanwhile
 * stays gone. */
enum err_code catalog_load_done(struct catalog *self, int64_t log_id, const struct catalog_result *result, const struct catalog_run *run, struct err *err) WARN_UNUSED;
/* Loaded runs with tasks of which there is no summary (the catalogue was rebuilt), the newest last: their keys, and what to say of them then. `each` must not call the catalogue. */
typedef enum err_code catalog_key_fn(void *context, const char *app_key);
enum err_code catalog_each_unjudged(struct catalog *self, catalog_key_fn *each, void *context, struct err *err) WARN_UNUSED;
enum err_code catalog_judged(struct catalog *self, const char *app_key, int64_t skew_grade, int64_t gc_grade, const struct run_history *history,
                              const struct run_summary *summary, struct err *err) WARN_UNUSED;

/* The load could not be done for a reason that is not the log's (memory, disk, cancelled): the row is `waiting`, with the reason (NULL: none). */
enum err_code catalog_load_put_off(struct catalog *self, int64_t log_id, const char *reason, struct err *err) WARN_UNUSED;

/* After worker processes ended without a word and no other is alive: logs left in `loading` are waiting again, with tries + 1 when `died`; after the second death they
 * are failed, set aside. Files of unfinished loads below apps/ are removed; those of loads that were still being followed are closed for good (db_seal). */
struct catalog_recovery {
    int64_t reset_count, set_aside_count, removed_file_count;
};
enum err_code catalog_recover(struct catalog *self, bool died, struct catalog_recovery *ret, struct err *err) WARN_UNUSED;

#endif
