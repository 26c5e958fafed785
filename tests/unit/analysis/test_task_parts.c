/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/task_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void parts_of_an_ordinary_task(void **state)
{
    (void)state;
    struct task_times times = {.occupancy = 1000, .run = 800, .deser = 50, .ser = 10, .getres = 20, .gc = 30, .cpu = 500, .fetch = 100, .shwrite = 60};
    struct task_parts parts = task_parts(&times);
    assert_true(parts.run == 800 && parts.deser == 50 && parts.ser == 10 && parts.getres == 20 && parts.delay == 120);
    assert_true(parts.gc_in_run == 30 && parts.gc_in_deser == 0 && parts.fetch == 100 && parts.cpu == 500 && parts.shwrite == 60 && parts.rest == 110);
}

/* 70 ms too much: 20 from G, 10 from S, 40 of 50 from D. */
static void what_is_too_much_is_taken_from_the_ends_first(void **state)
{
    (void)state;
    struct task_times times = {.occupancy = 810, .run = 800, .deser = 50, .ser = 10, .getres = 20};
    struct task_parts parts = task_parts(&times);
    assert_true(parts.run == 800 && parts.deser == 10 && parts.ser == 0 && parts.getres == 0 && parts.delay == 0);
    times.occupancy = 700;
    parts = task_parts(&times);
    assert_true(parts.run == 700 && parts.deser == 0 && parts.delay == 0);
    times.occupancy = 0;
    assert_true(task_parts(&times).run == 0);
}

static void collections_span_deserialising_and_running(void **state)
{
    (void)state;
    struct task_times times = {.occupancy = 200, .run = 100, .deser = 50, .gc = 120, .cpu = 90, .fetch = 90, .shwrite = 90};
    struct task_parts parts = task_parts(&times);
    assert_true(parts.gc_in_run == 100 && parts.gc_in_deser == 20 && parts.fetch == 0 && parts.cpu == 0 && parts.shwrite == 0 && parts.rest == 0);
    times.gc = 1000;
    assert_true(task_parts(&times).gc_in_deser == 50);
    times.gc = 20; /* fetch before CPU before writing: each what is left */
    parts = task_parts(&times);
    assert_true(parts.fetch == 80 && parts.cpu == 0);
    times.fetch = 10;
    parts = task_parts(&times);
    assert_true(parts.fetch == 10 && parts.cpu == 70 && parts.shwrite == 0);
    times.cpu = 30;
    assert_true(task_parts(&times).shwrite == 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_an_ordinary_task),
        cmocka_unit_test(what_is_too_much_is_taken_from_the_ends_first),
        cmocka_unit_test(collections_span_deserialising_and_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
