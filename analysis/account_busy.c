/* SPDX-License-Identifier: Apache-2.0
 *
 * What attempts were busy with (spec/findings.md 3.4), stage by stage: the values of one stage's tasks are in memory at a time. */
#include <math.h>

#include "analysis/account_parts.h"
#include "analysis/task_parts.h"

#define BUSY_COUNT (BUCKET_LOST + 1) /* buckets of attempts come first */

static double ms_of(const struct task_values *values, enum task_value value, size_t i)
{
    int64_t logged = values->of[value] ? values->of[value][i] : UNKNOWN;
    return known(logged) && logged > 0 ? (double)logged : 0;
}

static bool is_positive(const struct task_values *values, enum task_value value, size_t i)
{
    return values->of[value] && known(values->of[value][i]) && values->of[value][i] > 0;
}

static enum bucket rest_bucket(const struct facts *facts, const struct attempt *attempt, const struct task_values *values, size_t i)
{
    if (!values->of[VALUE_CPU_NS] || !known(values->of[VALUE_CPU_NS][i]))
        return BUCKET_RUN_UNSPLIT;
    if (facts->stages[attempt->stage].is_python)
        return BUCKET_PYTHON;
    if (is_positive(values, VALUE_DISK_SPILL_BYTES, i))
        return BUCKET_SPILL_IO;
    return is_positive(values, VALUE_INPUT_BYTES, i) || is_positive(values, VALUE_OUTPUT_BYTES, i) ? BUCKET_STORAGE_IO : BUCKET_OTHER;
}

static inline void busy_buckets(const struct facts *facts, const struct attempt *attempt, const struct task_values *values, size_t i, double ret[BUSY_COUNT])
{
    for (size_t b = 0; b < BUSY_COUNT; b++)
        ret[b] = 0;
    if (attempt->kind != WINNER || !attempt->has_metrics) {
        ret[attempt->kind != WINNER ? BUCKET_LOST : BUCKET_NOMETRICS] = (double)attempt_occupancy_ms(attempt);
        return;
    }
    int64_t fetched_ms = values->of[VALUE_GETTING_RESULT_MS] ? values->of[VALUE_GETTING_RESULT_MS][i] : UNKNOWN;
    struct task_times times = {.occupancy = (double)attempt_occupancy_ms(attempt),
                               .run = ms_of(values, VALUE_RUN_MS, i),
                               .deser = ms_of(values, VALUE_DESERIALIZE_MS, i),
                               .ser = ms_of(values, VALUE_SERIALIZE_MS, i),
                               .getres = known(fetched_ms) && fetched_ms > 0 && fetched_ms < attempt->finish_ms ? (double)attempt->finish_ms - (double)fetched_ms : 0,
                               .gc = ms_of(values, VALUE_GC_MS, i),
                               .cpu = ms_of(values, VALUE_CPU_NS, i) / NS_PER_MS,
                               .fetch = ms_of(values, VALUE_FETCH_WAIT_MS, i),
                               .shwrite = ms_of(values, VALUE_SHUFFLE_WRITE_NS, i) / NS_PER_MS};
    struct task_parts parts = task_parts(&times);
    ret[BUCKET_DELAY] = parts.delay;
    ret[BUCKET_DESER] = parts.deser - parts.gc_in_deser;
    ret[BUCKET_SER] = parts.ser;
    ret[BUCKET_GETRES] = parts.getres;
    ret[BUCKET_GC] = parts.gc_in_run + parts.gc_in_deser;
    ret[BUCKET_FETCH] = parts.fetch;
    ret[BUCKET_CPU] = parts.cpu;
    ret[BUCKET_SHWRITE] = parts.shwrite;
    ret[rest_bucket(facts, attempt, values, i)] += parts.rest;
}

void attempt_buckets(const struct facts *facts, const struct attempt *attempt, const struct task_values *values, size_t i, double ret[BUCKET_COUNT])
{
    busy_buckets(facts, attempt, values, i, ret);
    for (size_t b = BUSY_COUNT; b < BUCKET_COUNT; b++)
        ret[b] = 0;
}

/* `of`: parts of the attempt's whole length that lie in the window. */
static void add_window(struct account *window, const double parts[BUSY_COUNT], const struct attempt *attempt, const struct slot_curve *curve, int64_t from_ms, int64_t to_ms)
{
    from_ms = MAX(from_ms, attempt->begin_ms);
    to_ms = MIN(to_ms, attempt->finish_ms);
    if (from_ms >= to_ms)
        return;
    double length = (double)attempt_occupancy_ms(attempt), share = (double)(to_ms - from_ms) / length, wall = slot_curve_per_slot(curve, from_ms, to_ms) / length;
    for (size_t b = 0; b < BUSY_COUNT; b++) {
        window->slot_ms[b] += parts[b] * share;
        window->wall_ms[b] += parts[b] * wall;
    }
}

static void add_account(struct account *to, const struct account *from)
{
    for (size_t b = 0; b < BUSY_COUNT; b++) {
        to->slot_ms[b] += from->slot_ms[b];
        to->wall_ms[b] += from->wall_ms[b];
    }
}

static bool inside(const struct stage_fact *stage, int64_t from_ms, int64_t to_ms)
{
    return stage->first_launch_ms >= from_ms && stage->last_finish_ms <= to_ms;
}

static void add_attempt(struct account_pass *self, const struct attempt *attempt, const struct task_values *values, size_t i)
{
    struct stage_account *account = self->account;
    double parts[BUSY_COUNT], length = (double)attempt_occupancy_ms(attempt);
    const struct slot_curve *curve = &self->accounts->curve;
    double wall = slot_curve_per_slot(curve, attempt->begin_ms, attempt->finish_ms) / length;
    busy_buckets(self->facts, attempt, values, i, parts);
    account->occupancy_ms += length;
    account->winner_occupancy_ms += attempt->kind == WINNER ? length : 0;
    for (size_t b = 0; b < BUSY_COUNT; b++) {
        account->cost.slot_ms[b] += parts[b];
        account->cost.wall_ms[b] += parts[b] * wall;
    }
    if (!self->in_stage)
        add_window(&account->window, parts, attempt, curve, self->stage->begin_ms, self->stage->end_ms);
    if (!self->in_job)
        add_window(&self->accounts->job_windows[self->stage->job], parts, attempt, curve, self->job->begin_ms, self->job->end_ms);
}

void account_pass_begin(struct account_pass *self, struct accounts *accounts, const struct facts *facts, uint32_t stage)
{
    const struct stage_fact *fact = &facts->stages[stage];
    const struct job_fact *job = fact->job == NO_ENTITY ? NULL : &facts->jobs[fact->job];
    *self = (struct account_pass){.accounts = accounts,
                                  .facts = facts,
                                  .stage = fact,
                                  .account = &accounts->stages[stage],
                                  .job = job,
                                  .in_stage = inside(fact, fact->begin_ms, fact->end_ms),
                                  .in_job = !job || inside(fact, job->begin_ms, job->end_ms)};
}

void account_pass_add(struct account_pass *self, const struct task_values *values, const uint32_t *places)
{
    const struct attempt *attempts = self->facts->attempts + self->stage->first_attempt;
    for (size_t i = 0; i < values->count; i++)
        if (attempt_occupancy_ms(&attempts[places[i]]))
            add_attempt(self, &attempts[places[i]], values, i);
}

void account_pass_end(struct account_pass *self)
{
    struct accounts *accounts = self->accounts;
    const struct account *cost = &self->account->cost;
    for (size_t b = 0; b < BUSY_COUNT; b++) /* who is no winner with metrics has all of its time in one of the two */
        self->account->winner_ms[b] = b == BUCKET_LOST || b == BUCKET_NOMETRICS ? 0 : cost->slot_ms[b];
    if (self->in_stage)
        add_account(&self->account->window, cost);
    if (self->job && self->in_job)
        add_account(&accounts->job_windows[self->stage->job], cost);
    if (self->job)
        add_account(&accounts->job_costs[self->stage->job], cost);
    else
        accounts->unowned_ms += self->account->occupancy_ms;
    add_account(&accounts->app, cost);
}

static enum err_code add_batch(void *to, const struct task_values *values, const uint32_t *places, struct err *err)
{
    (void)err;
    account_pass_add(to, values, places);
    return ERR_OK;
}

enum err_code account_busy(struct accounts *self, const struct facts *facts, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (uint32_t i = 0; i < facts->stage_count && !rc; i++) {
        if (!facts->stages[i].attempt_count)
            continue;
        struct account_pass pass;
        account_pass_begin(&pass, self, facts, i);
        rc = facts_value_batches(facts, i, ACCOUNT_VALUES, add_batch, &pass, err);
        account_pass_end(&pass);
    }
    return rc;
}
