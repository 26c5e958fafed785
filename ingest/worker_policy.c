/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_policy.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/cleaner.h"
#include "ingest/store_budget.h"
#include "ingest/worker_outcome.h"
#include "ingest/worker_scan.h"

#define ROUND_NS (NS_PER_S / 10)             /* deleting and putting away: finished loads wait no longer than that for the worker's thread */
#define BUDGET_PAUSE_NS (2 * NS_PER_S)       /* between two looks at the store while loads end */
#define LOOK_SHARE 20                        /* a look takes at most this part of the time */
#define AGE_PAUSE_NS (600 * NS_PER_S)        /* between two looks for what has become old */

bool worker_only_lists(const struct worker *self, const struct catalog_row *row, bool ended)
{
    if (known(row->wanted_ms) || row->loaded)
        return false;
    return self->options->watch && (row->put_away ? !ended : self->options->policy.load_opened);
}

void worker_store_grew(struct worker *self)
{
    self->policy.next_budget_ns = MIN(self->policy.next_budget_ns, self->policy.budget_not_before_ns);
}

/* ---- logs */

static bool *told_stuck(struct worker *self, const char *place)
{
    for (size_t i = 0; i < self->options->place_count; i++)
        if (strcmp(self->places[i].path, place) == 0)
            return &self->places[i].told_stuck;
    return NULL;
}

/* A log that cannot be deleted is left for another time; an error ends the round. */
static enum err_code delete_log(struct worker *self, const struct clean_item *item, struct err *err)
{
    struct err why = {0};
    enum err_code rc = clean_item_delete(self->catalog, item, &why);
    if (rc == ERR_NOMEM || rc == ERR_DB || rc == ERR_NO_SPACE)
        return worker_hand_on(err, &why, rc);
    if (!rc) {
        log_info("%s: deleted (%s)", item->path, clean_reason_word(item->reason));
        kept_loads_drop(&self->kept, item->log_id);
        self->policy.logs.deleted_count++;
        self->policy.logs.deleted_bytes += item->bytes;
    } else if (rc != ERR_BUSY && rc != ERR_NOT_FOUND) {      /* those have changed, or are gone: the next scan sees it */
        bool *told = told_stuck(self, item->place);
        self->policy.logs.stuck_count++;
        if (!told || !*told)                                 /* one of each place says why; a directory that is read-only would fill the log */
            log_warning("%s: cannot be deleted: %s", item->path, why.message);
        if (told)
            *told = true;
    }
    return ERR_OK;
}

static void end_of_logs(struct worker *self)
{
    if (self->policy.logs.deleted_count)
        worker_unsettle_all(self);
    if (self->policy.logs.deleted_count || self->policy.logs.stuck_count)
        log_info("the cleaner deleted %zu of %zu logs, %lld bytes; %zu could not be deleted", self->policy.logs.deleted_count, self->policy.logs.plan.log_count,
            (long long)self->policy.logs.deleted_bytes, self->policy.logs.stuck_count);
    clean_plan_dispose(&self->policy.logs.plan);
    memset(&self->policy.logs, 0, sizeof self->policy.logs);
    for (size_t i = 0; i < self->options->place_count; i++)
        self->places[i].told_stuck = false;
}

static enum err_code delete_some_logs(struct worker *self, struct err *err)
{
    int64_t until_ns = time_monotonic_ns() + ROUND_NS;
    enum err_code rc = ERR_OK;
    while (!rc && self->policy.logs.at < self->policy.logs.plan.count && time_monotonic_ns() < until_ns)
        rc = delete_log(self, &self->policy.logs.plan.items[self->policy.logs.at++], err);
    if (rc || self->policy.logs.at == self->policy.logs.plan.count)
        end_of_logs(self);
    return rc;
}

static int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / NS_PER_MS;
}

static enum err_code plan_logs(struct worker *self, struct err *err)
{
    const struct worker_policy *policy = &self->options->policy;
    size_t count = self->options->place_count;
    int64_t began_ns = time_monotonic_ns();
    if (clean_clock_was_set(&self->policy.clock_offset_ms, time_now_ms(), boot_ms())) {
        log_warning("the clock was set by more than an hour: no log is deleted before the next spark.history.fs.cleaner.interval");
        self->policy.next_clean_ns = began_ns + policy->clean_interval_ms * NS_PER_MS;
        return ERR_OK;
    }
    CLEANUP(mem_freep) const char **places = mem_array(count ? count : 1, sizeof *places);
    enum err_code rc = places ? ERR_OK : err_nomem(err);
    for (size_t i = 0; i < count && !rc; i++)
        places[i] = self->places[i].path;
    const struct clean_scope scope = {.places = places, .place_count = count, .settle_ms = self->options->interval_ms};
    if (!rc && !(rc = clean_resume(self->catalog, &scope, err)))
        rc = clean_plan_make(&self->policy.logs.plan, catalog_db(self->catalog), &scope, &policy->clean, time_now_ms(), err);
    self->policy.logs.made = !rc;
    /* Logs that are being read or were just found are judged when that is done, not an interval later. */
    int64_t now_ns = time_monotonic_ns(), pause_ns = policy->clean_interval_ms * NS_PER_MS;
    if (self->policy.logs.plan.unsettled_count)
        pause_ns = MIN(pause_ns, MAX(self->options->interval_ms * NS_PER_MS, (now_ns - began_ns) * LOOK_SHARE));
    self->policy.next_clean_ns = now_ns + pause_ns;
    return rc;
}

/* ---- the store */

static void end_of_runs(struct worker *self)
{
    const int64_t most = self->options->policy.store.max_bytes, left = self->policy.runs.plan.store_bytes - self->policy.runs.freed_bytes;
    if (self->policy.runs.put_away_count)
        log_info("%zu runs were put away, %lld bytes; opening one loads it again", self->policy.runs.put_away_count, (long long)self->policy.runs.freed_bytes);
    bool over = most && left > most;
    if (over && !self->policy.told_over_budget)
        log_warning("the store takes %lld bytes, more than afterglow.store.maxBytes (%lld): what is left is being loaded, or was opened a moment ago", (long long)left, (long long)most);
    self->policy.told_over_budget = over;
    budget_plan_dispose(&self->policy.runs.plan);
    memset(&self->policy.runs, 0, sizeof self->policy.runs);
}

static enum err_code put_some_away(struct worker *self, struct err *err)
{
    int64_t until_ns = time_monotonic_ns() + ROUND_NS;
    enum err_code rc = ERR_OK;
    while (!rc && self->policy.runs.at < self->policy.runs.plan.going_count && time_monotonic_ns() < until_ns) {
        const struct budget_run *run = &self->policy.runs.plan.runs[self->policy.runs.at++];
        bool done;
        if ((rc = budget_put_away(self->catalog, self->options->store_dir, run->app_key, &done, err)) || !done)
            continue;
        self->policy.runs.put_away_count++;
        self->policy.runs.freed_bytes += run->bytes;
        if (run->log_gone)
            log_warning("%s: put away to hold the store's budget, and its log is gone: only its row in the list is left", run->app_key);
    }
    if (rc || self->policy.runs.at == self->policy.runs.plan.going_count)
        end_of_runs(self);
    return rc;
}

static enum err_code plan_runs(struct worker *self, struct err *err)
{
    const struct budget_limits *limits = &self->options->policy.store;
    int64_t began_ns = time_monotonic_ns();
    enum err_code rc = ERR_OK;
    if (!self->policy.swept)
        rc = budget_sweep(self->catalog, self->options->store_dir, err);
    self->policy.swept = self->policy.swept || !rc;
    if (!rc && (limits->max_bytes || limits->max_age_ms)) {
        rc = budget_plan_make(&self->policy.runs.plan, catalog_db(self->catalog), self->options->store_dir, limits, time_now_ms(), err);
        self->policy.runs.made = !rc;
    }
    int64_t now_ns = time_monotonic_ns();
    self->policy.budget_not_before_ns = now_ns + MAX(BUDGET_PAUSE_NS, (now_ns - began_ns) * LOOK_SHARE);
    self->policy.next_budget_ns = now_ns + AGE_PAUSE_NS;
    return rc;
}

/* ---- when */

/* A step that failed for a reason that passes is tried again later. */
static enum err_code later(enum err_code rc, const struct err *why, const char *what, struct err *err)
{
    if (!rc || rc == ERR_NOMEM || !worker_error_passes(rc))
        return worker_hand_on(err, why, rc);
    log_warning("%s: %s", what, why->message);
    return ERR_OK;
}

enum err_code worker_apply_policy(struct worker *self, struct err *err)
{
    const struct worker_policy *policy = &self->options->policy;
    struct err why = {0};
    enum err_code rc = ERR_OK;
    int64_t now_ns = time_monotonic_ns();
    if (now_ns < self->quiet_until_ns)
        return ERR_OK;
    if (policy->clean.abandoned_after_ms && now_ns >= self->policy.next_mark_ns) {
        self->policy.next_mark_ns = now_ns + self->options->interval_ms * NS_PER_MS;
        rc = later(catalog_mark_abandoned(self->catalog, time_now_ms() - policy->clean.abandoned_after_ms, &why), &why, "abandoned runs cannot be marked", err);
    }
    if (!rc && policy->cleaner && self->options->watch && !self->policy.logs.made && now_ns >= self->policy.next_clean_ns)
        rc = later(plan_logs(self, &why), &why, "logs cannot be cleaned", err);
    if (!rc && self->policy.logs.made)
        rc = later(delete_some_logs(self, &why), &why, "logs cannot be cleaned", err);
    if (!rc && !self->policy.runs.made && now_ns >= self->policy.next_budget_ns)
        rc = later(plan_runs(self, &why), &why, "the store's budget cannot be held", err);
    if (!rc && self->policy.runs.made)
        rc = later(put_some_away(self, &why), &why, "the store's budget cannot be held", err);
    return rc;
}

bool worker_policy_is_busy(const struct worker *self)
{
    return self->policy.logs.made || self->policy.runs.made;
}

void worker_policy_dispose(struct worker *self)
{
    clean_plan_dispose(&self->policy.logs.plan);
    budget_plan_dispose(&self->policy.runs.plan);
}
