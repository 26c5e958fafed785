/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct arena arena;
static struct request request;

static int setup(void **state)
{
    (void)state;
    memset(&request, 0, sizeof request);
    arena_init(&arena, (size_t)1 << 20);
    request.arena = &arena;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_dispose(&arena);
    return 0;
}

static enum err_code parse(const char *address, const char *prefix)
{
    return request_parse(&request, str_of(address), str_of(prefix), NULL);
}

static void path_and_parameters_are_decoded_once(void **state)
{
    (void)state;
    assert_int_equal(parse("/a%20b/%2541?q=a+b%2Bc&q=second&empty=&flag&%3D=x", ""), ERR_OK);
    assert_true(str_is(request.path, "/a b/%41"));
    assert_true(str_is(request.raw_path, "/a%20b/%2541"));
    assert_int_equal(request.param_count, 5);
    assert_true(str_is(request_param(&request, "q"), "a b+c"));
    assert_true(str_known(request_param(&request, "empty")) && request_param(&request, "empty").len == 0);
    assert_true(str_known(request_param(&request, "flag")));
    assert_true(str_is(request_param(&request, "="), "x"));
    assert_false(str_known(request_param(&request, "absent")));
}

static void a_plus_in_a_path_is_a_plus(void **state)
{
    (void)state;
    assert_int_equal(parse("/a+b", ""), ERR_OK);
    assert_true(str_is(request.path, "/a+b"));
}

static void malformed_addresses_are_refused(void **state)
{
    (void)state;
    const char *bad[] = {"", "a", "*", "http://x/", "?q=1", "/%", "/%1", "/%zz", "/x?a=%4", "/x?%G0=1", "/%00", "/x?a=%00"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_int_equal(parse(bad[i], ""), ERR_INVALID);
}

static void parameters_of_segments_are_cut_off(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/jobs;jsessionid=1", "/jobs"}, {"/a;x=1;y/0;/b;z=%2F?q=1", "/a/0/b"}, {"/;x=1", "/"}, {"/;/;", "//"}, {"/a%3Bx", "/a;x"}, {"/a?b;c", "/a"}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        assert_int_equal(parse(cases[i][0], ""), ERR_OK);
        assert_true(str_is(request.path, cases[i][1]));
    }
}

static void more_parameters_than_the_limit_are_refused(void **state)
{
    (void)state;
    char address[4096] = "/x?";
    for (int i = 0; i < REQUEST_MAX_PARAMS; i++)
        strcat(address, "a=1&");
    assert_int_equal(parse(address, ""), ERR_OK);
    assert_int_equal(request.param_count, REQUEST_MAX_PARAMS);
    strcat(address, "b=2");
    assert_int_equal(parse(address, ""), ERR_LIMIT);
}

static void the_prefix_is_taken_off_where_the_path_begins_with_it(void **state)
{
    (void)state;
    assert_int_equal(parse("/gate/apps", "/gate"), ERR_OK);
    assert_true(str_is(request.path, "/apps"));
    assert_true(str_is(request.prefix, "/gate"));
    assert_int_equal(parse("/gate", "/gate"), ERR_OK);
    assert_true(str_is(request.path, "/"));
    assert_int_equal(parse("/gateway/apps", "/gate"), ERR_OK);
    assert_true(str_is(request.path, "/gateway/apps"));
    assert_int_equal(parse("/apps", "/gate"), ERR_OK); /* the proxy took it off already */
    assert_true(str_is(request.path, "/apps"));
    assert_true(str_is(request.prefix, "/gate"));
}

static void numbers_are_whole_and_within_bounds(void **state)
{
    (void)state;
    int64_t n = 0;
    struct err err = {0};
    assert_int_equal(parse("/?a=7&b=&c=7.5&d=99999999999999999999&e=0x10&f=-1", ""), ERR_OK);
    assert_int_equal(request_param_i64(&request, "a", 1, 0, 10, &n, &err), ERR_OK);
    assert_int_equal(n, 7);
    assert_int_equal(request_param_i64(&request, "absent", 42, 0, 10, &n, &err), ERR_OK);
    assert_int_equal(n, 42);
    assert_int_equal(request_param_i64(&request, "a", 1, 8, 10, &n, &err), ERR_INVALID);
    assert_string_equal(err.message, "a must lie between 8 and 10");
    const char *junk[] = {"b", "c", "d", "e"};
    for (size_t i = 0; i < ARRAY_LENGTH(junk); i++)
        assert_int_equal(request_param_i64(&request, junk[i], 1, 0, INT64_MAX, &n, &err), ERR_INVALID);
    assert_int_equal(request_param_i64(&request, "f", 1, 0, 10, &n, &err), ERR_INVALID);
}

static void only_true_is_true(void **state)
{
    (void)state;
    assert_int_equal(parse("/?a=TrUe&b=1&c=false&d=", ""), ERR_OK);
    assert_true(request_param_true(&request, "a", false));
    assert_false(request_param_true(&request, "b", true));
    assert_false(request_param_true(&request, "c", true));
    assert_true(request_param_true(&request, "d", true));      /* empty is absent */
    assert_false(request_param_true(&request, "d", false));
    assert_true(request_param_true(&request, "absent", true));
}

static struct str wholly(const char *text)
{
    return request_decode_wholly(&arena, str_of(text));
}

/* URLDecoder until the text stays: a + is a blank as soon as it is there. */
static void what_proxies_encoded_again_is_decoded_until_it_stays(void **state)
{
    (void)state;
    assert_true(str_is(wholly("plain"), "plain"));
    assert_true(str_is(wholly("a%2Bb+c"), "a b c"));
    assert_true(str_is(wholly("a%252520b"), "a b"));
    assert_true(str_is(wholly("100%"), "100%"));
    assert_true(str_is(wholly("100%25+%"), "100%25+%"));
    assert_true(str_is(wholly("a%2500"), "a%00"));
    assert_true(str_is(wholly("%252525252525252541"), "%2525252541"));           /* more than anybody encodes */
    assert_false(str_known(request_decode_wholly(&arena, STR_NONE)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(path_and_parameters_are_decoded_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_plus_in_a_path_is_a_plus, setup, teardown),
        cmocka_unit_test_setup_teardown(malformed_addresses_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters_of_segments_are_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(more_parameters_than_the_limit_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_prefix_is_taken_off_where_the_path_begins_with_it, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_whole_and_within_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(only_true_is_true, setup, teardown),
        cmocka_unit_test_setup_teardown(what_proxies_encoded_again_is_decoded_until_it_stays, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
