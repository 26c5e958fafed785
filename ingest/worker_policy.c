/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_policy.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/cleaner.h"
#include "ingest/store_budget.h"
#include "ingest/worker_outcome.h"

#define BUDGET_PAUSE_NS (2 * NS_PER_S)       /* between two looks at the store while loads end */
#define LOOK_SHARE 20                        /* a look takes at most this part of the time */
#define AGE_PAUSE_NS (600 * NS_PER_S)        /* between two looks for what has become old */

bool worker_only_lists(const struct worker *self, const struct catalog_row *row)
{
    return self->options->watch && self->options->policy.load_opened && !known(row->wanted_ms) && !row->loaded;
}

void worker_store_grew(struct worker *self)
{
    self->policy.next_budget_ns = MIN(self->policy.next_budget_ns, self->policy.budget_not_before_ns);
}

/* ---- logs */

static enum err_code delete_logs(struct worker *self, const struct clean_plan *plan, struct err *err)
{
    size_t count = 0, kept = 0;
    int64_t bytes = 0;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < plan->count && !self->stop && !rc; i++) {
        struct err why = {0};
        rc = clean_item_delete(self->catalog, &plan->items[i], &why);
        if (!rc) {
            log_info("%s: deleted (%s)", plan->items[i].path, clean_reason_word(plan->items[i].reason));
            kept_loads_drop(&self->kept, plan->items[i].log_id);
            bytes += plan->items[i].bytes;
            count++;
        } else if (rc == ERR_BUSY || rc == ERR_NOT_FOUND) {
            rc = ERR_OK;             /* it has changed, or is gone: the next scan sees it */
        } else if (rc == ERR_NOMEM || rc == ERR_DB || rc == ERR_NO_SPACE) {
            return worker_hand_on(err, &why, rc);
        } else {
            if (!kept++)             /* one says why; a directory that is read-only would fill the log */
                log_warning("%s: cannot be deleted: %s", plan->items[i].path, why.message);
            rc = ERR_OK;
        }
    }
    if (count)
        imap_clear(&self->settled);  /* a log that comes back by one of these names must be seen to */
    if (count || kept)
        log_info("the cleaner deleted %zu of %zu logs, %lld bytes%s", count, plan->log_count, (long long)bytes, kept ? "; some could not be deleted" : "");
    return rc;
}

static enum err_code clean(struct worker *self, struct err *err)
{
    const struct worker_policy *policy = &self->options->policy;
    size_t count = self->options->place_count;
    int64_t began_ns = time_monotonic_ns();
    CLEANUP(mem_freep) const char **places = mem_array(count ? count : 1, sizeof *places);
    char **owned = mem_array(count ? count : 1, sizeof *owned);
    enum err_code rc = places && owned ? ERR_OK : err_nomem(err);
    for (size_t i = 0; i < count && !rc; i++)
        if (!(places[i] = owned[i] = log_absolute_path(self->options->places[i].path, err)))
            rc = ERR_NOMEM;
    const struct clean_scope scope = {.places = places, .place_count = count, .settle_ms = self->options->interval_ms};
    struct clean_plan plan = {0};
    if (!rc && !(rc = clean_resume(self->catalog, &scope, err)) &&
        !(rc = clean_plan_make(&plan, catalog_db(self->catalog), &scope, &policy->clean, time_now_ms(), err)))
        rc = delete_logs(self, &plan, err);
    /* Logs that are being read or were just found are judged when that is done, not an interval later. */
    int64_t now_ns = time_monotonic_ns(), pause_ns = policy->clean_interval_ms * NS_PER_MS;
    if (plan.unsettled_count)
        pause_ns = MIN(pause_ns, MAX(self->options->interval_ms * NS_PER_MS, (now_ns - began_ns) * LOOK_SHARE));
    self->policy.next_clean_ns = now_ns + pause_ns;
    clean_plan_dispose(&plan);
    for (size_t i = 0; owned && i < count; i++)
        mem_free(owned[i]);
    mem_free(owned);
    return rc;
}

/* ---- the store */

static enum err_code put_away(struct worker *self, const struct budget_plan *plan, struct err *err)
{
    const int64_t most = self->options->policy.store.max_bytes;
    size_t count = 0;
    int64_t bytes = 0;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < plan->going_count && !rc; i++) {
        bool done;
        rc = budget_put_away(self->catalog, self->options->store_dir, plan->runs[i].app_key, &done, err);
        count += !rc && done;
        bytes += !rc && done ? plan->runs[i].bytes : 0;
        if (!rc && done && plan->runs[i].log_gone)
            log_warning("%s: put away to hold the store's budget, and its log is gone: only its row in the list is left", plan->runs[i].app_key);
    }
    if (count)
        log_info("%zu runs were put away, %lld bytes; opening one loads it again", count, (long long)bytes);
    bool over = most && plan->store_bytes - bytes > most;
    if (over && !self->policy.told_over_budget)
        log_warning("the store takes %lld bytes, more than afterglow.store.maxBytes (%lld): what is left is being loaded, or was opened a moment ago", (long long)(plan->store_bytes - bytes),
            (long long)most);
    self->policy.told_over_budget = over;
    return rc;
}

static enum err_code hold_budget(struct worker *self, struct err *err)
{
    const struct budget_limits *limits = &self->options->policy.store;
    int64_t began_ns = time_monotonic_ns();
    struct budget_plan plan = {0};
    enum err_code rc = ERR_OK;
    if (!self->policy.swept)
        rc = budget_sweep(self->catalog, self->options->store_dir, err);
    self->policy.swept = self->policy.swept || !rc;
    if (!rc && (limits->max_bytes || limits->max_age_ms) &&
        !(rc = budget_plan_make(&plan, catalog_db(self->catalog), self->options->store_dir, limits, time_now_ms(), err)))
        rc = put_away(self, &plan, err);
    budget_plan_dispose(&plan);
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
    if (!rc && policy->cleaner && self->options->watch && now_ns >= self->policy.next_clean_ns)
        rc = later(clean(self, &why), &why, "logs cannot be cleaned", err);
    if (!rc && now_ns >= self->policy.next_budget_ns)
        rc = later(hold_budget(self, &why), &why, "the store's budget cannot be held", err);
    return rc;
}
