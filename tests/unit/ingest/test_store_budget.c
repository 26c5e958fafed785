/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "ingest/store_budget.h"

#define NOW ((int64_t)1000000000000)
#define HOUR ((int64_t)3600000)

static struct budget_run run(const char *name, int64_t bytes, int64_t opened_ms, int64_t ended_ms)
{
    return (struct budget_run){.app_key = (char *)(uintptr_t)name, .bytes = bytes, .opened_ms = opened_ms, .ended_ms = ended_ms, .loaded_ms = NOW - HOUR};
}

/* Names of those that go, in order. */
static void expect(struct budget_run *runs, size_t count, struct budget_limits limits, const char *going)
{
    struct budget_plan plan = {.runs = runs, .count = count};
    for (size_t i = 0; i < count; i++)
        plan.store_bytes += runs[i].bytes;
    budget_choose(&plan, &limits, NOW);
    char got[64] = "";
    int64_t freed = 0;
    for (size_t i = 0; i < plan.going_count; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s", runs[i].app_key);
        freed += runs[i].bytes;
    }
    assert_string_equal(got, going);
    assert_int_equal(plan.freed_bytes, freed);
}

static void least_useful_goes_first(void **state)
{
    (void)state;
    struct budget_run runs[] = {run("a", 10, NOW - 2 * HOUR, 1), run("b", 10, UNKNOWN, 300), run("c", 10, UNKNOWN, 200), run("d", 10, NOW - 3 * HOUR, 900), run("e", 30, UNKNOWN, 300)};
    expect(runs, 5, (struct budget_limits){.max_bytes = 70}, "");
    expect(runs, 5, (struct budget_limits){.max_bytes = 69}, "c");
    expect(runs, 5, (struct budget_limits){.max_bytes = 59}, "ce");          /* equally old: the larger first */
    expect(runs, 5, (struct budget_limits){.max_bytes = 1}, "cebda");        /* opened ones last, that opened longest ago first */
    expect(runs, 5, (struct budget_limits){0}, "");
}

static void what_cannot_be_loaded_again_goes_last_and_not_for_its_age(void **state)
{
    (void)state;
    struct budget_run runs[] = {run("a", 10, UNKNOWN, 100), run("b", 10, NOW - HOUR, 200)};
    runs[0].log_gone = true;
    expect(runs, 2, (struct budget_limits){.max_bytes = 10}, "b");
    expect(runs, 2, (struct budget_limits){.max_bytes = 5}, "ba");
    expect(runs, 2, (struct budget_limits){.max_age_ms = HOUR / 2}, "b");
}

static void what_was_opened_a_moment_ago_stays(void **state)
{
    (void)state;
    struct budget_run runs[] = {run("a", 10, NOW - BUDGET_GRACE_MS + 1, 100), run("b", 10, NOW - BUDGET_GRACE_MS, 200)};
    expect(runs, 2, (struct budget_limits){.max_bytes = 1}, "b");
    struct budget_run ahead[] = {run("a", 10, NOW + BUDGET_GRACE_MS - 1, 100), run("b", 10, NOW + 24 * HOUR, 200)}; /* opened by a clock that was set back since */
    expect(ahead, 2, (struct budget_limits){.max_bytes = 1}, "b");
}

static void age_is_since_the_last_use_and_counts_towards_the_space(void **state)
{
    (void)state;
    struct budget_run runs[] = {run("a", 10, UNKNOWN, 1), run("b", 10, NOW - 3 * HOUR, 2), run("c", 10, UNKNOWN, 3)};
    runs[0].loaded_ms = NOW - HOUR;
    runs[1].loaded_ms = runs[2].loaded_ms = NOW - 9 * HOUR;
    expect(runs, 3, (struct budget_limits){.max_age_ms = 2 * HOUR}, "cb");
    expect(runs, 3, (struct budget_limits){.max_age_ms = 2 * HOUR, .max_bytes = 10}, "cb");
    expect(runs, 3, (struct budget_limits){.max_age_ms = 4 * HOUR, .max_bytes = 10}, "ac");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_useful_goes_first),
        cmocka_unit_test(what_cannot_be_loaded_again_goes_last_and_not_for_its_age),
        cmocka_unit_test(what_was_opened_a_moment_ago_stays),
        cmocka_unit_test(age_is_since_the_last_use_and_counts_towards_the_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
