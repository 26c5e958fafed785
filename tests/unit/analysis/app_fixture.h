/* SPDX-License-Identifier: Apache-2.0
 *
 * Applications made by hand for tests of the simulator and the chain: struct facts without a database. Times are ms from the begin, which is EPOCH. */
#ifndef TESTS_APP_FIXTURE_H
#define TESTS_APP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "analysis/account.h"
#include "analysis/facts.h"

#define EPOCH INT64_C(1700000000000)
#define APP_PARENTS 4

struct app {
    struct facts facts;
    struct accounts accounts;
    size_t executor_capacity, job_capacity, stage_capacity, attempt_capacity, gap_capacity;
    uint32_t (*parents)[APP_PARENTS]; /* of each stage */
    uint32_t *stages_of;              /* of each job, one after another */
};

static inline void *app_more(void *array, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    void *more = realloc(array, *capacity * each);
    if (!more)
        abort();
    return more;
}

static inline void app_init(struct app *app, int64_t wall_ms)
{
    *app = (struct app){.facts = {.begin_ms = EPOCH, .end_ms = EPOCH + wall_ms, .spark_major = 3, .spark_minor = 5, .counts = {.app_start = true, .app_end = true}}};
}

static inline void app_dispose(struct app *app)
{
    free(app->facts.executors);
    free(app->facts.jobs);
    free(app->facts.stages);
    free(app->facts.attempts);
    free(app->facts.launches);
    free(app->facts.by_executor);
    free(app->accounts.gaps);
    free(app->parents);
    free(app->stages_of);
}

static inline uint32_t app_executor(struct app *app, int64_t slots, int64_t from_ms, int64_t to_ms)
{
    struct facts *facts = &app->facts;
    facts->executors = app_more(facts->executors, facts->executor_count, &app->executor_capacity, sizeof *facts->executors);
    facts->executors[facts->executor_count] = (struct executor_fact){.executor_ref = (int64_t)facts->executor_count,
                                                                     .announced = true,
                                                                     .add_ms = EPOCH + from_ms,
                                                                     .remove_ms = UNKNOWN,
                                                                     .cores = slots,
                                                                     .profile_id = 0,
                                                                     .slots = slots,
                                                                     .from_ms = EPOCH + from_ms,
                                                                     .to_ms = EPOCH + to_ms};
    facts->slot_peak += slots;
    return (uint32_t)facts->executor_count++;
}

static inline uint32_t app_job(struct app *app, int64_t begin_ms, int64_t end_ms)
{
    struct facts *facts = &app->facts;
    facts->jobs = app_more(facts->jobs, facts->job_count, &app->job_capacity, sizeof *facts->jobs);
    facts->jobs[facts->job_count] =
        (struct job_fact){.job_id = (int64_t)facts->job_count, .begin_ms = EPOCH + begin_ms, .end_ms = EPOCH + end_ms, .sql_execution_id = UNKNOWN, .end_seen = true};
    return (uint32_t)facts->job_count++;
}

/* Tasks of it follow before the next stage. parent: NO_ENTITY, none. */
static inline uint32_t app_stage(struct app *app, uint32_t job, int64_t submission_ms, int64_t num_tasks, uint32_t parent)
{
    struct facts *facts = &app->facts;
    size_t capacity = app->stage_capacity;
    facts->stages = app_more(facts->stages, facts->stage_count, &app->stage_capacity, sizeof *facts->stages);
    app->parents = app_more(app->parents, facts->stage_count, &capacity, sizeof *app->parents);
    uint32_t stage = (uint32_t)facts->stage_count++;
    facts->stages[stage] = (struct stage_fact){.stage_ref = stage,
                                               .stage_id = stage,
                                               .num_tasks = num_tasks,
                                               .submission_ms = submission_ms < 0 ? UNKNOWN : EPOCH + submission_ms,
                                               .first_launch_ms = UNKNOWN,
                                               .last_finish_ms = UNKNOWN,
                                               .completion_ms = UNKNOWN,
                                               .job = job,
                                               .first_attempt = facts->attempt_count,
                                               .parent_count = parent != NO_ENTITY,
                                               .completeness = 1,
                                               .profile_id = UNKNOWN};
    app->parents[stage][0] = parent;
    return stage;
}

static inline struct attempt *app_task(struct app *app, uint32_t executor, int64_t launch_ms, int64_t length_ms, enum lost_kind kind)
{
    struct facts *facts = &app->facts;
    struct stage_fact *stage = &facts->stages[facts->stage_count - 1];
    size_t capacity = app->attempt_capacity;
    facts->attempts = app_more(facts->attempts, facts->attempt_count, &app->attempt_capacity, sizeof *facts->attempts);
    facts->launches = app_more(facts->launches, facts->attempt_count, &capacity, sizeof *facts->launches);
    struct attempt_launch *launch = &facts->launches[facts->attempt_count];
    *launch = (struct attempt_launch){.task_id = (int64_t)facts->attempt_count,
                                      .launch_ms = EPOCH + launch_ms,
                                      .index = (int32_t)stage->attempt_count,
                                      .partition = (int32_t)stage->attempt_count};
    struct attempt *attempt = &facts->attempts[facts->attempt_count];
    *attempt = (struct attempt){.begin_ms = EPOCH + launch_ms,
                                .finish_ms = EPOCH + launch_ms + length_ms,
                                .stage = (uint32_t)facts->stage_count - 1,
                                .executor = executor,
                                .row = (uint32_t)stage->attempt_count,
                                .kind = (uint8_t)kind,
                                .success = kind == WINNER,
                                .ended = true,
                                .has_metrics = true};
    facts->attempt_count++;
    stage->attempt_count++;
    stage->winner_count += kind == WINNER;
    stage->first_launch_ms = min_known(stage->first_launch_ms, launch->launch_ms);
    stage->last_finish_ms = max_known(stage->last_finish_ms, attempt->finish_ms);
    return attempt;
}

static inline void app_gap(struct app *app, int64_t from_ms, int64_t to_ms, enum bucket kind)
{
    app->accounts.gaps = app_more(app->accounts.gaps, app->accounts.gap_count, &app->gap_capacity, sizeof *app->accounts.gaps);
    app->accounts.gaps[app->accounts.gap_count++] =
        (struct driver_gap){.from_ms = EPOCH + from_ms, .to_ms = EPOCH + to_ms, .kind = kind, .job_before = NO_ENTITY, .job_after = NO_ENTITY};
}

/* A stage whose tasks go on the first free of `slots` slots of executor 0. Returns when the last ends. */
static inline int64_t app_run_stage(struct app *app, uint32_t job, int64_t submission_ms, uint32_t parent, const int64_t *costs_ms, size_t count, size_t slots)
{
    int64_t free_ms[64], last = submission_ms;
    for (size_t s = 0; s < slots; s++)
        free_ms[s] = submission_ms;
    app_stage(app, job, submission_ms, (int64_t)count, parent);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        for (size_t s = 1; s < slots; s++)
            first = free_ms[s] < free_ms[first] ? s : first;
        app_task(app, 0, free_ms[first], costs_ms[i], WINNER);
        free_ms[first] += costs_ms[i];
        last = free_ms[first] > last ? free_ms[first] : last;
    }
    return last;
}

struct app_place {
    int64_t key, launch_ms;
    uint32_t position;
};

static inline int app_compare_places(const void *a, const void *b)
{
    const struct app_place *x = a, *y = b;
    if (x->key != y->key)
        return (x->key > y->key) - (x->key < y->key);
    return x->launch_ms != y->launch_ms ? (x->launch_ms > y->launch_ms) - (x->launch_ms < y->launch_ms) : (x->position > y->position) - (x->position < y->position);
}

/* Gives the parts that a load would compute: attempts by executor, stages by job, parents; T_jobs of jobs that do not overlap, unless it was set. */
static inline void app_done(struct app *app)
{
    struct facts *facts = &app->facts;
    struct app_place *places = calloc(facts->attempt_count + facts->stage_count + 1, sizeof *places);
    facts->by_executor = calloc(facts->attempt_count + 1, sizeof *facts->by_executor);
    app->stages_of = calloc(facts->stage_count + 1, sizeof *app->stages_of);
    if (!places || !facts->by_executor || !app->stages_of)
        abort();
    for (uint32_t i = 0; i < facts->attempt_count; i++)
        places[i] = (struct app_place){facts->attempts[i].executor, facts->launches[i].launch_ms, i};
    qsort(places, facts->attempt_count, sizeof *places, app_compare_places);
    for (size_t i = facts->attempt_count; i-- > 0;) {
        facts->by_executor[i] = places[i].position;
        facts->executors[places[i].key].first_attempt = i;
        facts->executors[places[i].key].attempt_count++;
    }
    size_t count = 0;
    for (uint32_t s = 0; s < facts->stage_count; s++) {
        facts->stages[s].parents = app->parents[s];
        if (facts->stages[s].job != NO_ENTITY)
            places[count++] = (struct app_place){facts->stages[s].job, 0, s};
    }
    qsort(places, count, sizeof *places, app_compare_places);
    for (size_t i = count; i-- > 0;) {
        app->stages_of[i] = places[i].position;
        facts->jobs[places[i].key].stages = &app->stages_of[i];
        facts->jobs[places[i].key].stage_count++;
    }
    free(places);
    for (size_t j = 0; j < facts->job_count && app->accounts.jobs_ms <= 0; j++)
        for (size_t i = j; i < facts->job_count; i++)
            app->accounts.jobs_ms += (double)(facts->jobs[i].end_ms - facts->jobs[i].begin_ms);
}

#endif
