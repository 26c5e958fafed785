/* SPDX-License-Identifier: Apache-2.0
 *
 * Deleting old logs: the plan (which logs of the catalogue go, by clean_rules.h) and its doing. The worker's cleaner and `afterglow clean` are this. A log goes only when
 * - it lies in one of the places named here,
 * - it was looked at by two scans at least and nobody is reading it,
 * - a look right before finds it as the last scan did: the same files, sizes and times.
 * The run that was read from it stays in the store. One thread. */
#ifndef INGEST_CLEANER_H
#define INGEST_CLEANER_H

#include "ingest/clean_rules.h"
#include "ingest/store/catalog_policy.h"

struct clean_scope {
    const char *const *places;       /* addresses (place.h); borrowed */
    size_t place_count;
    int64_t settle_ms;               /* logs that were first seen within that time stay: the interval of scans */
};

struct clean_item {
    int64_t log_id, layout, bytes, updated_ms;
    char *path, *place, *fingerprint, *app_id, *attempt_id, *name;   /* owned; NULL as in struct catalog_clean_row */
    enum log_state state;
    bool run_stays;                  /* it is loaded; else only its row in the list is left */
    enum clean_reason reason;
};

struct clean_plan {
    struct clean_item *items;        /* owned; by log_id */
    size_t count, capacity;
    size_t log_count;                /* logs in the places */
    size_t unsettled_count;          /* of these, logs that cannot be judged yet */
    int64_t bytes;                   /* of the items */
};

enum err_code clean_plan_make(struct clean_plan *ret, struct db *catalog, const struct clean_scope *scope, const struct clean_rules *rules, int64_t now_ms, struct err *err) WARN_UNUSED;
void clean_plan_dispose(struct clean_plan *self);

/* ERR_OK: deleted. ERR_BUSY: it has changed or is being read, and stays; ERR_NOT_FOUND: somebody else deleted it; log_remove's errors. */
enum err_code clean_item_delete(struct catalog *catalog, const struct clean_item *item, struct err *err) WARN_UNUSED;

/* Ends what a killed cleaner began. What cannot be deleted is logged and left for the next time. */
enum err_code clean_resume(struct catalog *catalog, const struct clean_scope *scope, struct err *err) WARN_UNUSED;

#endif
