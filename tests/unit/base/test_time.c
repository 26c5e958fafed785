/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void dates_are_written_in_both_forms(void **state)
{
    (void)state;
    char out[TIME_ISO_BYTES];
    assert_string_equal(time_format_iso(0, out), "1970-01-01T00:00:00.000Z");
    assert_string_equal(time_format_iso(951782400123, out), "2000-02-29T00:00:00.123Z");
    assert_string_equal(time_format_gmt(1700000000999, out), "2023-11-14T22:13:20.999GMT");
    assert_string_equal(time_format_iso(-1, out), "1969-12-31T23:59:59.999Z");
}

static void every_day_is_written_as_it_is_read(void **state)
{
    (void)state;
    const int64_t first = time_days_from_civil(0, 1, 1), last = time_days_from_civil(9999, 12, 31);
    for (int64_t day = first; day <= last; day++) {
        char out[TIME_ISO_BYTES];
        int64_t ms = day * 86400000 + (day - first) * 7919 % 86400000;
        time_format_iso(ms, out);
        assert_int_equal(time_parse_iso(str_of(out)), ms);
    }
}

static void impossible_times_are_clamped(void **state)
{
    (void)state;
    char out[TIME_ISO_BYTES];
    assert_string_equal(time_format_iso(INT64_MAX, out), "9999-12-31T23:59:59.999Z");
    assert_string_equal(time_format_gmt(INT64_MIN, out), "0000-01-01T00:00:00.000GMT");
}

static void days_of_dates(void **state)
{
    (void)state;
    assert_int_equal(time_days_from_civil(1970, 1, 1), 0);
    assert_int_equal(time_days_from_civil(2000, 3, 1), 11017);
    assert_int_equal(time_days_from_civil(1969, 12, 31), -1);
    assert_int_equal(time_days_from_civil(1600, 1, 1), -135140);
    /* months and days roll over */
    assert_int_equal(time_days_from_civil(2023, 13, 1), time_days_from_civil(2024, 1, 1));
    assert_int_equal(time_days_from_civil(2024, 0, 1), time_days_from_civil(2023, 12, 1));
    assert_int_equal(time_days_from_civil(2024, -12, 1), time_days_from_civil(2022, 12, 1));
    assert_int_equal(time_days_from_civil(2024, 2, 30), time_days_from_civil(2024, 3, 1));
}

static void the_measuring_clock_does_not_go_back(void **state)
{
    (void)state;
    int64_t before = time_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = time_monotonic_ns();
        assert_true(now >= before);
        before = now;
    }
    assert_true(time_now_ms() > 1600000000000);
}

static void iso_dates_are_read_as_they_are_written(void **state)
{
    (void)state;
    assert_int_equal(time_parse_iso(STR_LIT("1970-01-01T00:00:00.000Z")), 0);
    assert_int_equal(time_parse_iso(STR_LIT("2000-02-29T00:00:00.123Z")), 951782400123);
    assert_int_equal(time_parse_iso(STR_LIT("2023-11-14T22:13:20Z")), 1700000000000);
    assert_int_equal(time_parse_iso(STR_LIT("2023-11-14T22:13:20.9Z")), 1700000000900);
    assert_int_equal(time_parse_iso(STR_LIT("2023-11-14T22:13:20.999999999Z")), 1700000000999);
    assert_int_equal(time_parse_iso(STR_LIT("1969-12-31T23:59:59.999Z")), -1);
    assert_int_equal(time_parse_iso(STR_LIT("0000-01-01T00:00:00.000Z")), -62167219200000);
}

static void other_texts_are_no_dates(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "x", "2023", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20.1234567890Z", "2023-11-14T22:13:20.123", "2023-11-14T22:13:20.123ZZ",
        "2023-11-14T22:13:20.123+01:00", "2023-11-14 22:13:20.123Z", "2023-02-29T00:00:00.000Z", "2023-13-01T00:00:00.000Z", "2023-00-01T00:00:00.000Z", "2023-01-00T00:00:00.000Z",
        "2023-01-01T24:00:00.000Z", "2023-01-01T00:60:00.000Z", "2023-01-01T00:00:60.000Z", "+023-01-01T00:00:00.000Z", "2023-1-01T00:00:00.0000Z", "-2023-01-01T00:00:00.000Z",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(time_parse_iso(str_of(texts[i])) == INT64_MIN);
    assert_true(time_parse_iso(STR_NONE) == INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_written_in_both_forms),
        cmocka_unit_test(every_day_is_written_as_it_is_read),
        cmocka_unit_test(impossible_times_are_clamped),
        cmocka_unit_test(days_of_dates), cmocka_unit_test(iso_dates_are_read_as_they_are_written), cmocka_unit_test(other_texts_are_no_dates),
        cmocka_unit_test(the_measuring_clock_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
