/* SPDX-License-Identifier: Apache-2.0 */
#include "server/proxy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void harmless_prefixes_are_kept_without_their_last_slash(void **state)
{
    (void)state;
    assert_true(str_is(proxy_prefix_clean(STR_LIT("/gateway")), "/gateway"));
    assert_true(str_is(proxy_prefix_clean(STR_LIT("/gateway/spark-3.5_x~/")), "/gateway/spark-3.5_x~"));
    assert_true(str_is(proxy_prefix_clean(STR_LIT("/.hidden/...")), "/.hidden/..."));
}

static void what_could_become_a_link_elsewhere_or_markup_is_no_prefix(void **state)
{
    (void)state;
    const char *bad[] = {"",     "/",    "gateway", "//evil.example",        "/a//b",     "/a/../b", "/..", "/.", "/a b", "/a\"><script>", "/a%2f",
                         "/a?b", "/a#b", "/a\\b",   "https://evil.example/", "/a\r\nX: y"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_int_equal(proxy_prefix_clean(str_of(bad[i])).len, 0);
    assert_int_equal(proxy_prefix_clean(STR_NONE).len, 0);
    char text[PROXY_PREFIX_BYTES + 2];
    memset(text, 'a', sizeof text);
    text[0] = '/';
    assert_int_equal(proxy_prefix_clean((struct str){text, PROXY_PREFIX_BYTES}).len, 0);
    assert_int_equal(proxy_prefix_clean((struct str){text, PROXY_PREFIX_BYTES - 1}).len, PROXY_PREFIX_BYTES - 1);
}

static void the_setting_comes_before_the_headers(void **state)
{
    (void)state;
    assert_true(str_is(proxy_prefix(STR_LIT("/set"), STR_LIT("/context"), STR_LIT("/prefix")), "/set"));
    assert_true(str_is(proxy_prefix(STR_NONE, STR_LIT("/context"), STR_LIT("/prefix")), "/context"));
    assert_true(str_is(proxy_prefix(STR_LIT(""), STR_LIT("//bad"), STR_LIT("/prefix/")), "/prefix"));
    assert_int_equal(proxy_prefix(STR_NONE, STR_NONE, STR_NONE).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmless_prefixes_are_kept_without_their_last_slash),
        cmocka_unit_test(what_could_become_a_link_elsewhere_or_markup_is_no_prefix),
        cmocka_unit_test(the_setting_comes_before_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
