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

static void the_type_is_the_one_liked_best(void **state)
{
    (void)state;
    enum { HTML = 1, JSON };
    static const struct negotiable types[] = {{"text/html", HTML}, {"application/json", JSON}, {"text/*", HTML}, {"*/*", HTML}};
    static const struct {
        const char *accept;
        int wanted;
    } cases[] = {
        {"application/json", JSON},
        {"application/json, */*", JSON},
        {"*/*, application/json", JSON},
        {"text/html, application/json", HTML},
        {"application/json, text/html", HTML},
        {"application/json;q=0.5, text/html", HTML},
        {"text/html;q=0.1, application/json;q=0.2", JSON},
        {"text/*;q=0.3,application/json;q=0.30", JSON},
        {"image/png", -1},
        {"application/json;q=0", -1},
        {"", -1},
        {"application/*", -1},
        {"APPLICATION/JSON; charset=x ; q=1.0", JSON},
        {"text/html;q=0.999, */*", HTML},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (negotiate_type(str_of(cases[i].accept), types, ARRAY_LENGTH(types), HTML) != cases[i].wanted)
            fail_msg("\"%s\" is not %d", cases[i].accept, cases[i].wanted);
    assert_int_equal(negotiate_type(STR_NONE, types, ARRAY_LENGTH(types), HTML), HTML);
}

static void the_language_is_the_one_liked_best_of_two(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        enum lang wanted;
    } cases[] = {
        {"", LANG_EN},
        {"de", LANG_EN},
        {"zh", LANG_ZH_CN},
        {"zh-CN,zh;q=0.9,en;q=0.8", LANG_ZH_CN},
        {"en-GB,zh;q=0.9", LANG_EN},
        {"zh;q=0.5, en;q=0.6", LANG_EN},
        {"ZH-tw", LANG_ZH_CN},
        {"zh;q=0", LANG_EN},
        {"fr, zh;q=0.1", LANG_ZH_CN},
        {"zhx", LANG_EN},
        {"en;q=0.5,zh-Hans;q=0.5", LANG_EN},
        {"*", LANG_EN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (negotiate_lang(str_of(cases[i].accept)) != cases[i].wanted)
            fail_msg("\"%s\" is not %s", cases[i].accept, lang_names[cases[i].wanted]);
    assert_int_equal(negotiate_lang(STR_NONE), LANG_EN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_taken_where_it_is_named_or_everything_is),
        cmocka_unit_test(the_type_is_the_one_liked_best),
        cmocka_unit_test(the_language_is_the_one_liked_best_of_two),
        cmocka_unit_test(tags_match_weakly_and_in_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
