/* SPDX-License-Identifier: Apache-2.0
 *
 * What the store may take: which loaded runs are put away to make room, and putting them away. The file apps/<key>.db goes; row, verdict and findings stay in the
 * catalogue, and the run is loaded again when somebody opens it.
 *
 * Least useful first: runs that nobody opened before those that somebody did; of the former the oldest (by the run's last event), of the latter the one opened longest ago; of
 * equals the larger. A run whose log is gone could not be loaded again, so such runs go after all others, in the same order among themselves, and never for their age alone. What was
 * opened within BUDGET_GRACE_MS stays in any case: a page that somebody is reading, or is waiting for, is worth more than the budget. One thread. */
#ifndef INGEST_STORE_BUDGET_H
#define INGEST_STORE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ingest/store/catalog_policy.h"

#define BUDGET_GRACE_MS ((int64_t)10 * 60 * 1000)

struct budget_limits {
    int64_t max_bytes, max_age_ms;   /* 0: no limit. Age is since a run was loaded or last opened */
};

enum budget_reason { BUDGET_KEEP, BUDGET_SPACE, BUDGET_AGE };
const char *budget_reason_word(enum budget_reason reason);   /* "space", "age"; "" */

struct budget_run {
    char *app_key, *app_id, *attempt_id, *name;      /* owned; attempt_id and name NULL: none */
    int64_t bytes, opened_ms, ended_ms;      /* as in struct catalog_kept_row; bytes of its files */
    int64_t loaded_ms;
    bool log_gone;
    enum budget_reason reason;
};

struct budget_plan {
    struct budget_run *runs;         /* owned; those that go are the first, in the order in which they go */
    size_t count, capacity, going_count;
    int64_t store_bytes;             /* all files below apps/, as they are now */
    int64_t freed_bytes;             /* of those that go */
};

/* Sorts the runs, least useful first, and sets their reasons so that `store_bytes` less what goes is within the limits, if that can be. */
void budget_choose(struct budget_plan *self, const struct budget_limits *limits, int64_t now_ms);

enum err_code budget_plan_make(struct budget_plan *ret, struct db *catalog, const char *store_dir, const struct budget_limits *limits, int64_t now_ms, struct err *err) WARN_UNUSED;
void budget_plan_dispose(struct budget_plan *self);

/* *ret_done false: it is being loaded, or was put away by somebody else. */
enum err_code budget_put_away(struct catalog *catalog, const char *store_dir, const char *app_key, bool *ret_done, struct err *err) WARN_UNUSED;
/* Removes files of runs that were put away by a process that was killed before it came to that. */
enum err_code budget_sweep(struct catalog *catalog, const char *store_dir, struct err *err) WARN_UNUSED;

#endif
