/* SPDX-License-Identifier: Apache-2.0 */
#include "server/login_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct login_limits limits;

static int fresh(void **state)
{
    (void)state;
    memset(&limits, 0, sizeof limits);
    return 0;
}

/* 10.0.0.n, or 2001:db8:n::last. */
static const unsigned char *four(unsigned char n)
{
    static unsigned char out[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 10};
    out[15] = n;
    return out;
}

static const unsigned char *six(unsigned char net, unsigned char last)
{
    static unsigned char out[16] = {0x20, 0x01, 0x0d, 0xb8};
    out[7] = net;
    out[15] = last;
    return out;
}

static struct str name(int n)
{
    static char text[16];
    snprintf(text, sizeof text, "user%d", n);
    return str_of(text);
}

static void an_address_waits_twice_as_long_each_time(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = {1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 300000, 300000};
    int64_t now = 1000000;
    int n = 0;
    for (; n < LOGIN_FREE_FAILURES; n++)
        assert_int_equal(login_limits_try(&limits, four(1), name(n), now), 0);
    for (size_t i = 0; i < ARRAY_LENGTH(waits_ms); i++) {
        assert_int_equal(login_limits_try(&limits, four(1), name(n++), now), 0);
        assert_int_equal(login_limits_try(&limits, four(1), name(n++), now), waits_ms[i]);
        assert_int_equal(login_limits_try(&limits, four(1), name(n++), now + waits_ms[i] - 1), 1); /* what was refused does not count */
        now += waits_ms[i];
    }
    assert_int_equal(login_limits_try(&limits, four(2), name(n), now), 0); /* another address */
}

static void a_user_waits_half_a_minute_at_most_wherever_it_is_tried_from(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    int64_t now = 5;
    unsigned char net = 0;
    for (; net < LOGIN_FREE_FAILURES; net++)
        assert_int_equal(login_limits_try(&limits, six(net, 1), STR_LIT("alice"), now), 0);
    for (size_t i = 0; i < ARRAY_LENGTH(waits_ms); i++) {
        assert_int_equal(login_limits_try(&limits, six(net++, 1), STR_LIT("alice"), now), 0);
        assert_int_equal(login_limits_try(&limits, six(net++, 1), STR_LIT("alice"), now), waits_ms[i]);
        now += waits_ms[i];
    }
    assert_int_equal(login_limits_try(&limits, six(net, 1), STR_LIT("bob"), now), 0);
}

static void one_machine_has_all_of_a_64(void **state)
{
    (void)state;
    for (int n = 0; n <= LOGIN_FREE_FAILURES; n++)
        assert_int_equal(login_limits_try(&limits, six(1, (unsigned char)n), name(n), 7), 0);
    assert_int_equal(login_limits_try(&limits, six(1, 250), name(250), 7), 1000);
    assert_int_equal(login_limits_try(&limits, six(2, 250), name(250), 7), 0);
    assert_int_equal(login_limits_try(&limits, four(2), name(251), 7), 0); /* IPv4 addresses share their first half, and not their limit */
    assert_int_equal(login_limits_try(&limits, four(3), name(252), 7), 0);
}

static void what_was_right_is_no_failure(void **state)
{
    (void)state;
    for (int n = 0; n < 100; n++) {
        assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), n), 0);
        login_limits_right(&limits, four(1), STR_LIT("alice"));
    }
    /* But it does not forgive the guesses at others. */
    for (int n = 0; n <= LOGIN_FREE_FAILURES; n++) {
        assert_int_equal(login_limits_try(&limits, four(1), name(n), 200), 0);
        if (n < LOGIN_FREE_FAILURES) {
            assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), 200), 0);
            login_limits_right(&limits, four(1), STR_LIT("alice"));
        }
    }
    assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), 200), 1000);
}

static void a_quarter_of_an_hour_forgives(void **state)
{
    (void)state;
    for (int n = 0; n <= LOGIN_FREE_FAILURES; n++)
        assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), 0), 0);
    assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), 0), 1000);
    assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), LOGIN_FORGIVE_MS + 1), 0);
    assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), LOGIN_FORGIVE_MS + 1), 0);
}

static void memory_does_not_grow_and_who_waits_is_kept(void **state)
{
    (void)state;
    for (int n = 0; n <= LOGIN_FREE_FAILURES; n++)
        assert_int_equal(login_limits_try(&limits, four(1), STR_LIT("alice"), 0), 0);
    int refused = 0;
    for (int n = 0; n < 100000; n++)
        refused += login_limits_try(&limits, four((unsigned char)(2 + n % 200)), name(n), n / 100) > 0;
    assert_true(refused > 90000); /* 200 addresses with ten free tries each, and then some */
    assert_int_equal(login_limits_try(&limits, four(250), STR_LIT("alice"), 999), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_address_waits_twice_as_long_each_time, fresh), cmocka_unit_test_setup(a_user_waits_half_a_minute_at_most_wherever_it_is_tried_from, fresh),
        cmocka_unit_test_setup(one_machine_has_all_of_a_64, fresh),              cmocka_unit_test_setup(what_was_right_is_no_failure, fresh),
        cmocka_unit_test_setup(a_quarter_of_an_hour_forgives, fresh),            cmocka_unit_test_setup(memory_does_not_grow_and_who_waits_is_kept, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
