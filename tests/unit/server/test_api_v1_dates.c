/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/api_v1/dates.h"

#define DAY_MS INT64_C(86400000)
#define THE_DAY INT64_C(1424390400000)           /* 2015-02-20T00:00:00Z */
#define THE_MOMENT INT64_C(1424474477190)        /* 2015-02-20T23:21:17.190Z; spec/files.md 6.6, run with Java's SimpleDateFormat */
#define HOUR_MS INT64_C(3600000)

static void assert_date(const char *text, int64_t expected)
{
    int64_t ms;
    if (!v1_parse_date(str_of(text), &ms))
        fail_msg("\"%s\" was refused", text);
    if (ms != expected)
        fail_msg("\"%s\" is %lld, not %lld", text, (long long)ms, (long long)expected);
}

static void moments_need_a_zone_that_java_knows(void **state)
{
    (void)state;
    assert_date("2015-02-20T23:21:17.190GMT", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190UTC", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190gmt", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190-0500", THE_MOMENT + 5 * HOUR_MS);
    assert_date("2015-02-20T23:21:17.190+0800", THE_MOMENT - 8 * HOUR_MS);
    assert_date("2015-02-20T23:21:17.190GMT+08:00", THE_MOMENT - 8 * HOUR_MS);
    assert_date("2015-02-20T23:21:17.190PST", THE_MOMENT + 8 * HOUR_MS);
    assert_date("2015-02-20T23:21:17.190GMT and more", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190GMT+8", THE_DAY);           /* the minutes must be there */
    assert_date("2015-02-20T23:21:17.190UTC+08:00", THE_MOMENT);    /* only GMT has an offset behind it */
}

static void everything_else_is_the_day(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "2015-02-20", "2015-2-20", " 2015-02-20", "2015-02-20xyz", "2015-02-20T23:21:17.190Z", "2015-02-20T23:21:17.190-05:00", "2015-02-20T23:21:17.190+08:00",
        "2015-02-20T23:21:17.190", "2015-02-20T23:21:17GMT", "2015-02-20 23:21:17.190GMT",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        assert_date(texts[i], THE_DAY);
}

static void numbers_are_lenient(void **state)
{
    (void)state;
    assert_date("2015-13-45", THE_DAY + (365 - 6) * DAY_MS);                   /* 2016-02-14 */
    assert_date("15-02-20", INT64_C(-61689513600000));               /* year 15, in the Gregorian calendar */
    assert_date("2015-02-20T23:21:17.1GMT", THE_MOMENT - 189);
    assert_date("2015-02-20T23:21:17.190123GMT", THE_MOMENT - 190 + 190123);
    assert_date("2015-02-20T25:61:61.0GMT", THE_DAY + 26 * HOUR_MS + 2 * 60000 + 1000);
}

/* Values of Java 17's SimpleDateFormat. */
static void numbers_are_javas_ints(void **state)
{
    (void)state;
    assert_date("2015--1-1", 1414800000000);
    assert_date("2026-11--29", 1790899200000);
    assert_date("2015-02-20T23:21:-10.000GMT", 1424474450000);
    assert_date("2015-02-20T23:21:17.-5GMT", 1424474476995);
    assert_date("2015-02-20T-1:21:17.190GMT", 1424388077190);
    assert_date("2015-02-20T99999999999:00:00.000GMT", 4378132278000000);
    assert_date("99999999999-01-01", 1471883220702496768);           /* the lower 32 bits, and milliseconds beyond 64 */
    assert_date("2026-99999999999-01", 3197121225696000000);
    assert_date("2015-99999999999999999999-1", 5647337948131200000); /* the largest int */
    assert_date("292278995-01-01", -9223372025043951616);
}

static void names_of_zones_are_known(void **state)
{
    (void)state;
    assert_date("2015-02-20T23:21:17.190Pacific Standard Time", 1424503277190);
    assert_date("2015-02-20T23:21:17.190central european summer time", 1424467277190);
    assert_date("2015-02-20T23:21:17.190Coordinated Universal Time", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190 GMT", THE_MOMENT);
    assert_date("2015-02-20T23:21:17.190EASTERN", 1424463677190);    /* EAST, of Easter Island */
    assert_date("2015-02-20T23:21:17.190East Timor Time", 1424463677190);
    assert_date("2015-02-20T23:21:17.190Nowhere Time", THE_DAY);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"20150220", "1424474477190", "2015-02", "", "nonsense", "2015-x-1", "-", "2015-- 1-1", "- 2015-1-1", "+2015-1-1"};
    int64_t ms;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        if (v1_parse_date(str_of(texts[i]), &ms))
            fail_msg("\"%s\" was taken", texts[i]);
    assert_false(v1_parse_date(STR_NONE, &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_need_a_zone_that_java_knows),
        cmocka_unit_test(everything_else_is_the_day),
        cmocka_unit_test(numbers_are_lenient),
        cmocka_unit_test(numbers_are_javas_ints),
        cmocka_unit_test(names_of_zones_are_known),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
