/* SPDX-License-Identifier: Apache-2.0 */
#include "server/negotiate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void gzip_is_taken_where_it_is_named_or_everything_is(void **state)
{
    (void)state;
    const char *yes[] = {"gzip", "deflate, gzip", "gzip, deflate, br", "x-gzip", "*", "br;q=1.0, gzip;q=0.5", "GZIP", "gzip;q=1", " gzip ; q=0.001"};
    const char *no[] = {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "gzipped", "deflate"};
    for (size_t i = 0; i < ARRAY_LENGTH(yes); i++)
        assert_true(negotiate_gzip(str_of(yes[i])));
    for (size_t i = 0; i < ARRAY_LENGTH(no); i++)
        assert_false(negotiate_gzip(str_of(no[i])));
    assert_false(negotiate_gzip(STR_NONE));
}

static void tags_match_weakly_and_in_lists(void **state)
{
    (void)state;
    struct str tag = STR_LIT("\"3-0.1.0\"");
    assert_true(negotiate_etag(STR_LIT("\"3-0.1.0\""), tag));
    assert_true(negotiate_etag(STR_LIT("W/\"3-0.1.0\""), tag));
    assert_true(negotiate_etag(STR_LIT("\"a\", W/\"3-0.1.0\" ,\"b\""), tag));
    assert_true(negotiate_etag(STR_LIT("*"), tag));
    assert_true(negotiate_etag(STR_LIT("\"x\""), STR_LIT("W/\"x\"")));
    assert_false(negotiate_etag(STR_LIT("\"3-0.1\""), tag));
    assert_false(negotiate_etag(STR_LIT("3-0.1.0"), tag));
    assert_false(negotiate_etag(STR_LIT(""), tag));
    assert_false(negotiate_etag(STR_NONE, tag));
    assert_false(negotiate_etag(STR_LIT("*"), STR_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_taken_where_it_is_named_or_everything_is),
        cmocka_unit_test(tags_match_weakly_and_in_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
