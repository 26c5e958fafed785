/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules against what FsHistoryProvider.cleanLogs does (spec/files.md 5.4); tests/api/cleaner.py holds the whole against a real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/clean_rules.h"

#define NOW ((int64_t)1000000)

static struct clean_log ended(int64_t app, int64_t age_ms)
{
    return (struct clean_log){.app = app, .updated_ms = NOW - age_ms, .ended = true, .settled = true};
}

static struct clean_log running(int64_t app, int64_t age_ms)
{
    return (struct clean_log){.app = app, .updated_ms = NOW - age_ms, .settled = true};
}

/* One letter a log: - stays, a age, n number, x abandoned. */
static void expect(struct clean_log *logs, size_t count, struct clean_rules rules, const char *reasons)
{
    static const char letters[] = {[CLEAN_KEEP] = '-', [CLEAN_AGE] = 'a', [CLEAN_NUMBER] = 'n', [CLEAN_ABANDONED] = 'x'};
    char got[32] = "";
    assert_int_equal(clean_choose(logs, count, &rules, NOW), 0);
    for (size_t i = 0; i < count; i++)
        got[i] = letters[logs[i].reason];
    assert_string_equal(got, reasons);
}

static void age_takes_attempts_not_applications(void **state)
{
    (void)state;
    struct clean_log logs[] = {ended(1, 101), ended(1, 100), ended(2, 99), running(3, 5000), ended(UNKNOWN, 101), running(UNKNOWN, 101), ended(UNKNOWN, 100)};
    expect(logs, 7, (struct clean_rules){.max_age_ms = 100, .max_count = UNKNOWN}, "a---aa-");
}

static void logs_without_an_end_go_only_when_that_is_asked_for(void **state)
{
    (void)state;
    struct clean_log logs[] = {running(1, 501), running(2, 500), ended(3, 501)};
    expect(logs, 3, (struct clean_rules){.max_age_ms = 1000, .max_count = UNKNOWN, .abandoned_after_ms = 500}, "---");
    expect(logs, 3, (struct clean_rules){.max_age_ms = 1000, .max_count = UNKNOWN, .abandoned_after_ms = 500, .abandoned = true}, "x--");
}

static void number_takes_whole_applications_by_their_oldest_attempt(void **state)
{
    (void)state;
    const struct clean_rules three = {.max_age_ms = 10000, .max_count = 3}, none = {.max_age_ms = 10000, .max_count = 0};
    struct clean_log logs[] = {ended(5, 10), ended(4, 20), ended(4, 30), running(3, 0), ended(2, 40), ended(1, 50)};
    expect(logs, 6, three, "-nn-nn");        /* one more than needed: attempts of 4 go together */
    expect(logs, 6, none, "nnn-nn");         /* what runs stays, whatever the limit */
    expect(logs, 6, (struct clean_rules){.max_age_ms = 10000, .max_count = 6}, "------");
    expect(logs, 6, (struct clean_rules){.max_age_ms = 35, .max_count = 3}, "-nn-aa");       /* age first; four are left, and the surplus is counted anew */
}

static void a_running_attempt_of_a_chosen_application_stays(void **state)
{
    (void)state;
    struct clean_log logs[] = {ended(1, 50), running(1, 60), ended(2, 40)};
    expect(logs, 3, (struct clean_rules){.max_age_ms = 10000, .max_count = 2}, "n--");
}

static void logs_without_an_application_count_and_are_not_taken_for_number(void **state)
{
    (void)state;
    struct clean_log logs[] = {ended(UNKNOWN, 90), ended(1, 50), ended(2, 40)};
    expect(logs, 3, (struct clean_rules){.max_age_ms = 10000, .max_count = 2}, "-n-");
}

static void what_is_not_settled_stays_and_counts(void **state)
{
    (void)state;
    struct clean_log logs[] = {ended(1, 500), ended(2, 400), ended(3, 30)};
    logs[0].settled = false;
    expect(logs, 3, (struct clean_rules){.max_age_ms = 450, .max_count = 3}, "---");
    expect(logs, 3, (struct clean_rules){.max_age_ms = 350, .max_count = 3}, "-a-");
}

static void number_waits_for_older_logs_that_are_not_settled(void **state)
{
    (void)state;
    const struct clean_rules one = {.max_age_ms = 10000, .max_count = 1};
    struct clean_log older[] = {ended(UNKNOWN, 500), ended(2, 400), ended(3, 30)}, newer[] = {ended(1, 500), ended(2, 400), ended(UNKNOWN, 30)},
        between[] = {ended(1, 500), ended(2, 300), ended(2, 200), ended(3, 100)}, running_one[] = {running(1, 500), ended(2, 400), ended(3, 30)};
    older[0].settled = newer[2].settled = between[2].settled = running_one[0].settled = false;
    expect(older, 3, one, "---");            /* not the younger ones in its place */
    expect(newer, 3, one, "nn-");
    expect(between, 4, one, "n---");         /* attempts go together, and 3 not before 2 */
    expect(running_one, 3, one, "-nn");
}

static void without_memory_nothing_goes(void **state)
{
    (void)state;
    struct clean_log logs[] = {ended(1, 500)};
    const struct clean_rules rules = {.max_age_ms = 100, .max_count = UNKNOWN};
    mem_fail_at(1, 1);
    int rc = clean_choose(logs, 1, &rules, NOW);
    mem_fail_at(0, 0);
    assert_int_equal(rc, -1);
    assert_int_equal(logs[0].reason, CLEAN_KEEP);
}

static void a_clock_that_was_set_is_noticed_once(void **state)
{
    (void)state;
    int64_t offset = UNKNOWN;
    assert_false(clean_clock_was_set(&offset, NOW, 5000));
    assert_false(clean_clock_was_set(&offset, NOW + 86400000 + CLEAN_CLOCK_STEP_MS, 5000 + 86400000));       /* a day later, an hour corrected */
    assert_true(clean_clock_was_set(&offset, 2 * NOW + 400 * (int64_t)86400000, 5000 + 86400000));
    assert_false(clean_clock_was_set(&offset, 2 * NOW + 401 * (int64_t)86400000, 5000 + 2 * 86400000));
    assert_true(clean_clock_was_set(&offset, NOW, 5000 + 3 * 86400000));    /* and back */
}

static void a_log_is_settled_when_a_second_scan_can_have_seen_it(void **state)
{
    (void)state;
    assert_false(clean_is_settled(NOW, 10000, NOW));
    assert_false(clean_is_settled(NOW - 9999, 10000, NOW));
    assert_true(clean_is_settled(NOW - 10000, 10000, NOW));
    assert_false(clean_is_settled(NOW + CLEAN_CLOCK_STEP_MS, 10000, NOW));     /* a small step back: it may be a second ago */
    assert_true(clean_is_settled(NOW + CLEAN_CLOCK_STEP_MS + 1, 10000, NOW));  /* the clock ran ahead for a while: it must not wait for years */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(age_takes_attempts_not_applications),
        cmocka_unit_test(logs_without_an_end_go_only_when_that_is_asked_for),
        cmocka_unit_test(number_takes_whole_applications_by_their_oldest_attempt),
        cmocka_unit_test(a_running_attempt_of_a_chosen_application_stays),
        cmocka_unit_test(logs_without_an_application_count_and_are_not_taken_for_number),
        cmocka_unit_test(what_is_not_settled_stays_and_counts),
        cmocka_unit_test(number_waits_for_older_logs_that_are_not_settled),
        cmocka_unit_test(a_clock_that_was_set_is_noticed_once),
        cmocka_unit_test(a_log_is_settled_when_a_second_scan_can_have_seen_it),
        cmocka_unit_test(without_memory_nothing_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
