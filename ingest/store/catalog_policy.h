/* SPDX-License-Identifier: Apache-2.0
 *
 * What the catalogue knows of use and age, and what it is told when a log is deleted or a run is put away. Which ones that are is decided elsewhere (ingest/clean_rules.h,
 * ingest/store_budget.h).
 *
 * Kill-safe by order: a log is `gone` with removing_ms before its first file is deleted, and a scan passes over what is left of it until catalog_removed; a run is
 * not `loaded` any more before its file is removed. What a killed process left is found by catalog_each_removing and catalog_each_put_away. */
#ifndef STORE_CATALOG_POLICY_H
#define STORE_CATALOG_POLICY_H

#include "ingest/store/catalog.h"

/* The log was listed, and that is all for now: waiting → listed. */
enum err_code catalog_list_only(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;
/* Somebody opened the run that is taken from this log. */
enum err_code catalog_opened(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;
/* Runs without an end whose log did not change since `before_ms` get the flag abandoned; a change takes it away. */
enum err_code catalog_mark_abandoned(struct catalog *self, int64_t before_ms, struct err *err) WARN_UNUSED;
/* An administrator wants it read anew, whatever it is now: waiting, and first. ERR_BUSY: it is being read, gone, or no log of a run that is shown; nothing changed. */
enum err_code catalog_reload(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;
/* Its file cannot be read any more (and was set aside): as catalog_reload, and until then the run is not loaded. */
enum err_code catalog_run_damaged(struct catalog *self, int64_t log_id, const char *app_key, struct err *err) WARN_UNUSED;
/* An administrator does not want to see the run any more: its row goes with all that is derived from it, and its logs, copies too, are skipped until they change. Its file has gone before (budget_put_away). */
enum err_code catalog_forget(struct catalog *self, const char *app_key, struct err *err) WARN_UNUSED;

/* A view of a run that somebody pinned (schema.sql, table pin). Texts are borrowed for the call; author NULL: nobody is named; analysis_version UNKNOWN: the run was not judged. */
struct catalog_pin {
    const char *token, *app_key, *address, *author;
    int64_t generation, analysis_version;
};
/* A run that is not there any more, and a token that is taken, change nothing. */
enum err_code catalog_pin(struct catalog *self, const struct catalog_pin *pin, struct err *err) WARN_UNUSED;

/* A log in one of the places, for the cleaner. Texts are borrowed for the call. */
struct catalog_clean_row {
    int64_t log_id, layout, bytes, modified_ms, grown_ms, first_seen_ms;
    const char *path, *place, *fingerprint, *app_id, *attempt_id, *name;  /* app_id NULL: it holds no application; the next two likewise */
    enum log_state state;
    bool complete, loaded;
};
/* All logs that are there and lie in a place: what is no log is left out; by log_id. `each` must not call the catalogue. Takes any connection to a catalogue: a dry run only reads. */
typedef enum err_code catalog_clean_fn(void *context, const struct catalog_clean_row *row);
enum err_code catalog_each_to_clean(struct db *catalog, catalog_clean_fn *each, void *context, struct err *err) WARN_UNUSED;

/* The cleaner is about to delete it. ERR_BUSY: it is being read, or gone; nothing changed. */
enum err_code catalog_removing(struct catalog *self, int64_t log_id, struct err *err) WARN_UNUSED;
enum err_code catalog_removed(struct catalog *self, int64_t log_id, const char *reason, struct err *err) WARN_UNUSED;
enum err_code catalog_not_removed(struct catalog *self, int64_t log_id, enum log_state before, struct err *err) WARN_UNUSED;  /* nothing of it was deleted */
/* Logs whose deletion began and did not end: only the id, path, place, layout and removing time (as modified_ms) are set. */
enum err_code catalog_each_removing(struct db *catalog, catalog_clean_fn *each, void *context, struct err *err) WARN_UNUSED;

/* A loaded run, for the budget of the store. */
struct catalog_kept_row {
    const char *app_key, *app_id, *attempt_id, *name;     /* borrowed for the call; attempt_id and name NULL: none */
    int64_t opened_ms, ended_ms;     /* UNKNOWN: nobody did; the log has no time */
    bool log_gone;                   /* it could not be loaded again */
};
typedef enum err_code catalog_kept_fn(void *context, const struct catalog_kept_row *row);
enum err_code catalog_each_kept(struct db *catalog, catalog_kept_fn *each, void *context, struct err *err) WARN_UNUSED;
/* The run's file is about to be removed: loaded 0, and its log is listed. *ret_done false: it is being read again, or is not loaded. */
enum err_code catalog_put_away(struct catalog *self, const char *app_key, bool *ret_done, struct err *err) WARN_UNUSED;
/* Keys of runs that were put away: none of them has a file. */
enum err_code catalog_each_put_away(struct catalog *self, catalog_key_fn *each, void *context, struct err *err) WARN_UNUSED;

#endif
