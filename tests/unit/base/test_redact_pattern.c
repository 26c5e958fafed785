/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/redact.h"

static void set(enum redact_pattern which, const char *pattern)
{
    struct err err = {0};
    assert_int_equal(redact_pattern_set(which, pattern, &err), ERR_OK);
}

static int forget(void **state UNUSED)
{
    for (int which = 0; which < REDACT_PATTERN_COUNT; which++)
        set((enum redact_pattern)which, NULL);
    return 0;
}

static void properties(void **state UNUSED)
{
    assert_false(redact_is_secret(STR_LIT("my.zebra")));
    set(REDACT_PROPERTIES, "(?i)zebra|internal[.]host$");
    assert_true(redact_is_secret(STR_LIT("my.Zebra")));
    assert_true(redact_is_secret(STR_LIT("x.internal.host")));
    assert_false(redact_is_secret(STR_LIT("x.internal.hosts")));
    assert_true(redact_is_secret(STR_LIT("my.password"))); /* what is built in stays, whatever an operator sets */
    assert_false(redact_is_secret(STR_NONE));
    assert_false(redact_is_secret(STR_LIT("")));
    assert_true(str_is(redact_shown(STR_LIT("zebra"), STR_LIT("x")), REDACTED));
    assert_true(str_is(redact_shown(STR_LIT("plain"), STR_LIT("x")), "x"));
    assert_false(str_known(redact_shown(STR_LIT("zebra"), STR_NONE)));
    set(REDACT_PROPERTIES, "");
    assert_false(redact_is_secret(STR_LIT("my.zebra")));
}

static void check_text(const char *given, const char *wanted)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct str got;
    assert_int_equal(redact_text(&arena, str_of(given), &got), 0);
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.ptr, wanted, got.len);
    char into[256];
    assert_int_equal(redact_into(str_of(given), into, sizeof into), strlen(wanted));
    assert_string_equal(into, wanted);
    arena_dispose(&arena);
}

static void texts(void **state UNUSED)
{
    set(REDACT_TEXTS, "\\d{3}-\\d{4}");
    set(REDACT_SQL_TEXTS, "(?<=customer )\\w+");
    check_text("call 555-1234 or 555-9876 now", "call " REDACTED " or " REDACTED " now");
    check_text("customer bob, 555-1234", "customer " REDACTED ", " REDACTED);
    check_text("555-1234555-1234", REDACTED); /* side by side: once */
    check_text("password=hunter2 555-1234", "password=" REDACTED " " REDACTED);
    check_text("nothing", "nothing");
    set(REDACT_SQL_TEXTS, "password"); /* a pattern that finds the key takes nothing from the rules that are built in */
    check_text("password=hunter2 555-1234", REDACTED "=" REDACTED " " REDACTED);
    check_text("url=jdbc:x://me:password@host", "url=jdbc:x://me:" REDACTED "@host");
    set(REDACT_SQL_TEXTS, "1234 \\w+"); /* overlapping, whatever begins first */
    check_text("call 555-1234 bob now", "call " REDACTED " now");
    set(REDACT_SQL_TEXTS, "token=.{5}\\d+");
    check_text("token=5551234, 77 token=x555-12345 on", REDACTED ", 77 " REDACTED " on");
    set(REDACT_TEXTS, "x*"); /* an empty match is none */
    set(REDACT_SQL_TEXTS, NULL);
    check_text("axxb", "a" REDACTED "b");
    set(REDACT_TEXTS, ".");
    check_text("caf\xC3\xA9", REDACTED);
}

static void bad_patterns(void **state UNUSED)
{
    static const char *const bad[] = {"(", "[a", "*", "(?<n", "\\", "a{2,1}"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct err err = {0};
        assert_int_equal(redact_pattern_set(REDACT_TEXTS, bad[i], &err), ERR_INVALID);
        assert_non_null(strstr(err.message, "not a regular expression"));
        assert_false(redact_pattern_is_set(REDACT_TEXTS));
    }
    char deep[2048] = "";
    memset(deep, '(', 1000);
    memset(deep + 1000, ')', 1000);
    assert_int_equal(redact_pattern_set(REDACT_TEXTS, deep, NULL), ERR_INVALID);
}

/* Patterns that take for ever on a text that does not match: the time is bounded, and the text is hidden or, where the bound is not met, rightly not. */
static void hostile(void **state UNUSED)
{
    static const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "(.*a){20}b", "(?:a?){40}a{40}b", "a*a*a*a*a*a*b", "(a*)*b",
                                           "\\d*x",  "\\d*+x",   "(?R)?a+b",   "(a(?1)?a)b",       "(?=(a+))*b",    "(.)\\1*b"};
    size_t len = (size_t)1 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    for (size_t i = 0; i < ARRAY_LENGTH(patterns); i++) {
        struct err err = {0};
        if (redact_pattern_set(REDACT_TEXTS, patterns[i], &err))
            continue; /* refused as it is compiled: as good */
        memset(text, patterns[i][0] == '\\' ? '7' : 'a', len);
        text[len - 1] = '!';
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        redact_pattern_finds(REDACT_TEXTS, (struct str){text, len});
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
        if (seconds > 20)
            fail_msg("%s took %.1f s", patterns[i], seconds);
    }
    free(text);
    set(REDACT_TEXTS, "(a+)+$");
    assert_true(redact_pattern_finds(REDACT_TEXTS, STR_LIT("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"))); /* in doubt */
}

static void any_bytes(void **state UNUSED)
{
    set(REDACT_TEXTS, "(?i)\xC3\xA9+|z.b");
    char text[40000];
    memset(text, 0xC3, sizeof text); /* no character anywhere */
    assert_false(redact_pattern_finds(REDACT_TEXTS, (struct str){text, sizeof text}));
    for (size_t at = 16380; at < 16390; at++) { /* across the border of two looks */
        memset(text, 'a', sizeof text);
        memcpy(text + at,
               "z\xC3\xA9"
               "b",
               4);
        struct str match;
        assert_true(redact_pattern_next(REDACT_TEXTS, (struct str){text, sizeof text}, 0, &match));
        assert_ptr_equal(match.ptr, text + at);
        assert_int_equal(match.len, 4);
    }
    text[100] = '\0';
    assert_true(redact_pattern_finds(REDACT_TEXTS, (struct str){text, sizeof text}));
}

static void without_memory(void **state UNUSED)
{
    set(REDACT_PROPERTIES, "zebra");
    mem_fail_at(1, 1);
    assert_true(redact_pattern_finds(REDACT_PROPERTIES, STR_LIT("plain")));
    mem_fail_at(0, 0);
    for (uint64_t nth = 1; nth < 20; nth++) {
        mem_fail_at(nth, 0);
        enum err_code rc = redact_pattern_set(REDACT_TEXTS, "zebra", NULL);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM || rc == ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(properties, forget), cmocka_unit_test_teardown(texts, forget),     cmocka_unit_test_teardown(bad_patterns, forget),
        cmocka_unit_test_teardown(hostile, forget),    cmocka_unit_test_teardown(any_bytes, forget), cmocka_unit_test_teardown(without_memory, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
