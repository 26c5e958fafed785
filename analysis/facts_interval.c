/* SPDX-License-Identifier: Apache-2.0
 *
 * The interval that is judged (spec/findings.md 3.1), and jobs, stages and attempts inside it. */
#include "analysis/facts_parts.h"

#define DAY_MS INT64_C(86400000) /* by how much an executor's time may lengthen a run; hand-edited logs have ones years away */

/* The last time of any job, stage, task or SQL event; the first one where the application names none. */
static void stretch(int64_t ms, int64_t *first, int64_t *last)
{
    *first = min_known(*first, ms);
    *last = max_known(*last, ms);
}

static void find_events(const struct facts *self, int64_t *first, int64_t *last)
{
    for (size_t i = 0; i < self->job_count; i++) {
        stretch(self->jobs[i].begin_ms, first, last);
        stretch(self->jobs[i].end_ms, first, last);
    }
    for (size_t i = 0; i < self->stage_count; i++) {
        stretch(self->stages[i].submission_ms, first, last);
        stretch(self->stages[i].completion_ms, first, last);
        stretch(self->stages[i].first_launch_ms, first, last); /* still as logged */
        stretch(self->stages[i].last_finish_ms, first, last);
    }
    for (size_t i = 0; i < self->sql_count; i++) {
        stretch(self->sqls[i].begin_ms, first, last);
        stretch(self->sqls[i].end_ms, first, last);
    }
}

static void set_interval(struct facts *self)
{
    int64_t first = UNKNOWN, last = UNKNOWN;
    find_events(self, &first, &last);
    int64_t latest = last; /* without the executors */
    for (size_t i = 0; i < self->executor_count; i++) {
        const int64_t times[] = {self->executors[i].add_ms, self->executors[i].remove_ms};
        for (size_t t = 0; t < ARRAY_LENGTH(times); t++) {
            if (!known(times[t]))
                continue;
            first = min_known(first, times[t]);
            if (!known(latest) || times[t] - latest <= DAY_MS)
                last = max_known(last, times[t]);
        }
    }
    if (!known(self->begin_ms))
        self->begin_ms = known_or(first, 0);
    self->end_at_least = !known(self->end_ms) || self->end_ms < self->begin_ms;
    if (self->end_at_least)
        self->end_ms = known(last) && last > self->begin_ms ? last : self->begin_ms;
    for (size_t i = 0; i < self->executor_count; i++) {
        const struct executor_fact *executor = &self->executors[i];
        int64_t bound = self->end_ms + (self->end_at_least ? 0 : DAY_MS);
        if (known(executor->add_ms) && executor->add_ms > bound)
            note_clock_fault(self, (struct clock_fault){CLOCK_EXECUTOR, executor->executor_ref, UNKNOWN, executor->add_ms, self->end_ms});
        if (known(executor->remove_ms) && executor->remove_ms > bound)
            note_clock_fault(self, (struct clock_fault){CLOCK_EXECUTOR, executor->executor_ref, UNKNOWN, executor->remove_ms, self->end_ms});
        if (known(executor->add_ms) && known(executor->remove_ms) && executor->remove_ms < executor->add_ms)
            note_clock_fault(self, (struct clock_fault){CLOCK_EXECUTOR, executor->executor_ref, UNKNOWN, executor->add_ms, executor->remove_ms});
    }
}

static bool is_before(const struct attempt_launch *a, const struct attempt_launch *b)
{
    return a->launch_ms < b->launch_ms || (a->launch_ms == b->launch_ms && a->task_id <= b->task_id);
}

/* Whether the stage's attempts are in their order: they were put into that of their ids, which tasks get in the order of their launches. */
static bool bound_attempts(struct facts *self, struct stage_fact *stage)
{
    bool ordered = true;
    stage->first_launch_ms = stage->last_finish_ms = UNKNOWN;
    for (size_t i = 0; i < stage->attempt_count; i++) {
        struct attempt *attempt = &self->attempts[stage->first_attempt + i];
        struct attempt_launch *launch = &self->launches[stage->first_attempt + i];
        struct executor_fact *executor = &self->executors[attempt->executor];
        if (!known(launch->launch_ms))
            launch->launch_ms = known(attempt->finish_ms) ? attempt->finish_ms : known_or(stage->submission_ms, self->begin_ms);
        if (!attempt->ended || !known(attempt->finish_ms)) {
            /* The first of these that is not before the launch (3.3). Tasks of a stage that failed run on behind its end until they are killed. */
            const int64_t ends[] = {stage->failed ? UNKNOWN : stage->completion_ms, executor->remove_ms};
            attempt->finish_ms = MAX(self->end_ms, launch->launch_ms);
            for (size_t e = 0; e < ARRAY_LENGTH(ends); e++)
                if (known(ends[e]) && ends[e] >= launch->launch_ms && ends[e] < attempt->finish_ms)
                    attempt->finish_ms = ends[e];
        }
        if (attempt->finish_ms < launch->launch_ms) {
            note_clock_fault(self, (struct clock_fault){CLOCK_TASK, launch->task_id, UNKNOWN, launch->launch_ms, attempt->finish_ms});
            attempt->finish_ms = launch->launch_ms;
        }
        launch->launch_ms = clip_time(self, launch->launch_ms);
        attempt->finish_ms = clip_time(self, attempt->finish_ms);
        stage->first_launch_ms = min_known(stage->first_launch_ms, launch->launch_ms);
        stage->last_finish_ms = max_known(stage->last_finish_ms, attempt->finish_ms);
        executor->first_launch_ms = min_known(executor->first_launch_ms, launch->launch_ms);
        executor->last_finish_ms = max_known(executor->last_finish_ms, attempt->finish_ms);
        executor->attempt_count++;
        ordered &= !i || is_before(launch - 1, launch);
    }
    return ordered;
}

/* Sorts a stage's attempts by (launch, task id): keys first, then each attempt moves once. */
static enum err_code sort_attempts(struct facts *self, size_t first_attempt, size_t count, struct err *err)
{
    struct attempt *attempts = self->attempts + first_attempt;
    struct attempt_launch *launches = self->launches + first_attempt;
    struct sort_item *items = facts_scratch(self, count);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sort_item){launches[i].launch_ms, launches[i].task_id, (uint32_t)i};
    sort_items(items, items + count, count);
    for (size_t begin = 0; begin < count; begin++) {
        size_t hole = begin, from = items[begin].position;
        if (from == begin)
            continue;
        struct attempt first = attempts[begin];
        struct attempt_launch first_launch = launches[begin];
        for (; from != begin; from = items[hole].position) {
            attempts[hole] = attempts[from];
            launches[hole] = launches[from];
            items[hole].position = (uint32_t)hole;
            hole = from;
        }
        attempts[hole] = first;
        launches[hole] = first_launch;
        items[hole].position = (uint32_t)hole;
    }
    return ERR_OK;
}

static enum err_code bound_all_attempts(struct facts *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->stage_count && !rc; i++)
        if (!bound_attempts(self, &self->stages[i]))
            rc = sort_attempts(self, self->stages[i].first_attempt, self->stages[i].attempt_count, err);
    return rc;
}

static void bound_stages(struct facts *self)
{
    for (size_t i = 0; i < self->stage_count; i++) {
        struct stage_fact *stage = &self->stages[i];
        if (known(stage->submission_ms) && known(stage->completion_ms) && stage->completion_ms < stage->submission_ms)
            note_clock_fault(self, (struct clock_fault){CLOCK_STAGE, stage->stage_id, stage->attempt, stage->submission_ms, stage->completion_ms});
        if (!stage->attempt_count)
            continue;
        stage->end_ms = stage->last_finish_ms;
        stage->begin_ms = known(stage->submission_ms) ? clip_time(self, stage->submission_ms) : stage->first_launch_ms;
        if (stage->begin_ms > stage->end_ms)
            stage->begin_ms = stage->first_launch_ms;
    }
}

enum err_code facts_bound(struct facts *self, struct err *err)
{
    set_interval(self);
    enum err_code rc = bound_all_attempts(self, err);
    bound_stages(self);
    return rc;
}
