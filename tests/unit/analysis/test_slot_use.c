/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots alive and busy over time: exact steps of small runs, means of large ones, and the areas of both. */
#include "analysis/slot_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "app_fixture.h"
#include "base/attributes.h"

static struct slot_use make(struct app *app)
{
    struct slot_use use;
    struct err err = {0};
    app_done(app);
    if (slot_use_make(&use, &app->facts, &err))
        fail_msg("slot_use_make: %s", err.message);
    return use;
}

static void expect_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.9f, expected %.9f", value, expected);
}

static void expect_step(const struct slot_step *step, int64_t from_ms, double alive, double busy)
{
    assert_int_equal(step->from_ms - EPOCH, from_ms);
    expect_near(step->alive, alive, 1e-9);
    expect_near(step->busy, busy, 1e-9);
}

/* Two slots from 1.0 to 9.0 s of ten; a task from 2 to 5, another from 3 to 5. What changes at one moment is one step. */
static void few_changes_are_steps(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 10000);
    app_executor(&app, 2, 1000, 9000);
    app_stage(&app, app_job(&app, 1500, 6000), 1500, 2, NO_ENTITY);
    app_task(&app, 0, 2000, 3000, WINNER);
    app_task(&app, 0, 3000, 2000, WINNER);
    struct slot_use use = make(&app);
    assert_int_equal(use.count, 6);
    expect_step(&use.steps[0], 0, 0, 0);
    expect_step(&use.steps[1], 1000, 2, 0);
    expect_step(&use.steps[2], 2000, 2, 1);
    expect_step(&use.steps[3], 3000, 2, 2);
    expect_step(&use.steps[4], 5000, 2, 0);
    expect_step(&use.steps[5], 9000, 0, 0);
    slot_use_dispose(&use);
    app_dispose(&app);
}

static void a_step_at_the_end_is_none(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 4000);
    app_executor(&app, 1, 0, 4000);
    struct slot_use use = make(&app);
    assert_int_equal(use.count, 1);
    expect_step(&use.steps[0], 0, 1, 0);
    slot_use_dispose(&use);
    app_dispose(&app);
}

/* 3,000 tasks of 7 ms, one every 10 ms, on one slot that is there from 5 s on: of each part of 20 ms (40 s ÷ 2,000) 14 are busy. Then the areas. */
static void many_changes_are_means(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 40000);
    app_executor(&app, 1, 5000, 40000);
    app_stage(&app, app_job(&app, 5000, 35000), 5000, 3000, NO_ENTITY);
    for (int i = 0; i < 3000; i++)
        app_task(&app, 0, 5000 + 10 * i, 7, WINNER);
    struct slot_use use = make(&app);
    assert_int_equal(use.count, 3);
    expect_step(&use.steps[0], 0, 0, 0);
    expect_step(&use.steps[1], 5000, 1, 0.7);
    expect_step(&use.steps[2], 35000, 1, 0);
    slot_use_dispose(&use);
    app_dispose(&app);
}

/* Lengths that fit no part: the area is the sum of the lengths all the same. */
static void areas_are_those_of_the_account(void **state)
{
    (void)state;
    struct app app;
    int64_t busy_ms = 0;
    app_init(&app, 123457);
    app_executor(&app, 3, 777, 120001);
    app_executor(&app, 2, 50021, 123457);
    app_stage(&app, app_job(&app, 800, 120000), 800, 1200, NO_ENTITY);
    for (int i = 0; i < 1200; i++) {
        int64_t length_ms = 1 + 97 * i % 411;
        app_task(&app, 0, 801 + 97 * i, length_ms, WINNER);
        busy_ms += length_ms;
    }
    struct slot_use use = make(&app);
    assert_in_range(use.count, 1000, SLOT_USE_STEPS);
    double alive = 0, busy = 0;
    for (size_t i = 0; i < use.count; i++) {
        double length = (double)((i + 1 < use.count ? use.steps[i + 1].from_ms : app.facts.end_ms) - use.steps[i].from_ms);
        alive += length * use.steps[i].alive;
        busy += length * use.steps[i].busy;
    }
    expect_near(alive, 3.0 * (120001 - 777) + 2.0 * (123457 - 50021), 1e-3);
    expect_near(busy, (double)busy_ms, 1e-3);
    slot_use_dispose(&use);
    app_dispose(&app);
}

static void no_time_is_no_step(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 0);
    struct slot_use use = make(&app);
    assert_int_equal(use.count, 0);
    slot_use_dispose(&use);
    app_dispose(&app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_changes_are_steps), cmocka_unit_test(a_step_at_the_end_is_none), cmocka_unit_test(many_changes_are_means),
                                       cmocka_unit_test(areas_are_those_of_the_account), cmocka_unit_test(no_time_is_no_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
