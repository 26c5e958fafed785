/* SPDX-License-Identifier: Apache-2.0 */
#include "server/router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static enum err_code nothing(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    (void)ctx, (void)request, (void)response, (void)err;
    return ERR_OK;
}

static const struct route routes[] = {
    {"/", nothing, "root"},
    {"/apps", nothing, "list"},
    {"/apps/{ref}", nothing, "one"},
    {"/apps/{ref}/jobs/{id:d}", nothing, "job"},
    {"/apps/{ref}/stages/{id:d}.{attempt:d}", nothing, "attempt"},
    {"/apps/{ref}/{rest}", nothing, "rest"},
    {NULL, NULL, NULL},
};

struct fixture {
    struct arena arena;
    struct request request;
};

static int setup(void **state)
{
    static struct fixture fixture;
    arena_init(&fixture.arena, (size_t)1 << 20);
    fixture.request.arena = &fixture.arena;
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    arena_dispose(&((struct fixture *)*state)->arena);
    return 0;
}

static const char *matched(void **state, const char *path)
{
    struct fixture *fixture = *state;
    fixture->request.raw_path = str_of(path);
    const struct route *route = router_match(routes, &fixture->request);
    return route ? route->summary : "none";
}

static struct str argument(void **state, size_t i)
{
    struct fixture *fixture = *state;
    assert_true(i < fixture->request.path_arg_count);
    return fixture->request.path_args[i];
}

static void segments_match_as_a_whole(void **state)
{
    assert_string_equal(matched(state, "/"), "root");
    assert_string_equal(matched(state, "/apps"), "list");
    assert_string_equal(matched(state, "/app"), "none");
    assert_string_equal(matched(state, "/appsx"), "none");
    assert_string_equal(matched(state, "/apps/a/b/c"), "none");
}

static void one_slash_at_the_end_is_ignored(void **state)
{
    assert_string_equal(matched(state, "/apps/"), "list");
    assert_string_equal(matched(state, "/apps/x/"), "one");
    assert_string_equal(matched(state, "/apps//"), "none");
}

static void arguments_are_decoded_after_the_cut(void **state)
{
    assert_string_equal(matched(state, "/apps/a%2Fb%20c"), "one");
    assert_true(str_is(argument(state, 0), "a/b c"));
    assert_string_equal(matched(state, "/apps/%E4%BD%A0+"), "one");
    assert_true(str_is(argument(state, 0), "\xE4\xBD\xA0+"));
}

static void digits_are_digits_only(void **state)
{
    assert_string_equal(matched(state, "/apps/x/jobs/17"), "job");
    assert_true(str_is(argument(state, 1), "17"));
    assert_string_equal(matched(state, "/apps/x/jobs/-1"), "none");
    assert_string_equal(matched(state, "/apps/x/jobs/1%37"), "none");
    assert_string_equal(matched(state, "/apps/x/jobs/"), "rest");
}

static void a_segment_may_hold_two_arguments(void **state)
{
    assert_string_equal(matched(state, "/apps/x/stages/12.3"), "attempt");
    assert_true(str_is(argument(state, 1), "12"));
    assert_true(str_is(argument(state, 2), "3"));
    assert_string_equal(matched(state, "/apps/x/stages/12"), "none");
    assert_string_equal(matched(state, "/apps/x/stages/12."), "none");
    assert_string_equal(matched(state, "/apps/x/stages/.3"), "none");
    assert_string_equal(matched(state, "/apps/x/stages/1.2.3"), "none");
}

static void the_first_in_the_table_wins(void **state)
{
    assert_string_equal(matched(state, "/apps/x/y"), "rest");
    assert_true(str_is(argument(state, 1), "y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_match_as_a_whole, setup, teardown),           cmocka_unit_test_setup_teardown(one_slash_at_the_end_is_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_are_decoded_after_the_cut, setup, teardown), cmocka_unit_test_setup_teardown(digits_are_digits_only, setup, teardown),
        cmocka_unit_test_setup_teardown(a_segment_may_hold_two_arguments, setup, teardown),    cmocka_unit_test_setup_teardown(the_first_in_the_table_wins, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
