/* SPDX-License-Identifier: Apache-2.0
 *
 * Random applications as facts (app_fixture.h), for tests of what must hold of the simulator and the chain whatever stands in a database. `seed` decides. */
#ifndef TESTS_UNIT_ANALYSIS_RANDOM_FIXTURE_H
#define TESTS_UNIT_ANALYSIS_RANDOM_FIXTURE_H

#include "app_fixture.h"

static uint32_t seed;
static uint32_t roll(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return below ? (uint32_t)((uint64_t)(seed >> 8) * below >> 24) : 0;
}

/* Anything a database may hold after facts_load: jobs that overlap, without stages, stages without jobs, circles among parents, executors that vanish, zero lengths, far times. */
static void random_app(struct app *app)
{
    bool far = roll(10) == 0;
    int64_t wall = far ? INT64_C(400000000000) : 1 + roll(20000);
    app_init(app, wall);
    uint32_t executors = 1 + roll(4), jobs = roll(6), stages = jobs ? roll(10) : roll(2);
    for (uint32_t i = 0; i < executors; i++) {
        int64_t from = roll((uint32_t)(far ? 20000 : wall)), to = roll(3) ? wall : from + roll((uint32_t)(far ? 20000 : wall - from));
        app_executor(app, roll(8) ? 1 + roll(4) : roll(2) ? 0 : INT64_C(1) << 40, from, to);
        app->facts.executors[i].profile_id = roll(4) ? 0 : roll(3) ? 1 : UNKNOWN;
    }
    for (uint32_t i = 0; i < jobs; i++) {
        int64_t begin = roll((uint32_t)(far ? 20000 : wall)), end = begin + (roll(5) ? roll((uint32_t)(far ? 20000 : wall - begin)) : 0);
        app_job(app, begin, roll(20) ? end : wall);
    }
    for (uint32_t s = 0; s < stages; s++) {
        uint32_t job = jobs && roll(10) ? roll(jobs) : NO_ENTITY;
        int64_t submission = roll(10) ? (int64_t)roll((uint32_t)(far ? 20000 : wall)) : -1;
        uint32_t stage = app_stage(app, job, submission, roll(20) ? roll(8) : INT64_MAX, roll(2) ? roll(stages) : NO_ENTITY);
        if (s && roll(6) == 0) {
            app->facts.stages[stage].stage_id = app->facts.stages[stage - 1].stage_id;
            app->facts.stages[stage].attempt = 1;
        }
        uint32_t tasks = roll(4) ? roll(8) : roll(60);
        int64_t launch = submission < 0 ? 0 : submission;
        for (uint32_t i = 0; i < tasks; i++) {
            launch += roll(2) ? roll(50) : 0;
            launch = launch < wall ? launch : wall;
            int64_t most = wall - launch;
            struct attempt *attempt = app_task(app, roll(executors), launch,
                                               roll(6)             ? roll((uint32_t)(most < 500 ? most : 500))
                                               : most < 2000000000 ? most
                                                                   : 2000000000,
                                               roll(5) ? WINNER : (enum lost_kind)roll(LOST_KIND_COUNT));
            attempt->again = roll(2);
            attempt->speculative = roll(8) == 0;
        }
    }
    for (uint32_t i = 0; i < roll(4); i++)
        app_gap(app, i * wall / 4, i * wall / 4 + roll(1000), BUCKET_GAP_USER);
}

#endif
