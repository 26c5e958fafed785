/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static void a_harmless_one_of_a_proxy_is_kept(void **state)
{
    (void)state;
    char id[REQUEST_ID_BYTES], longest[66];
    request_id(STR_LIT("Root=1-67891233_abc.def"), true, id);
    assert_null(strchr(id, '=')); /* not ours to judge what = means to a log */
    request_id(STR_LIT("1-67891233_abc.DEF"), true, id);
    assert_string_equal(id, "1-67891233_abc.DEF");
    memset(longest, 'a', sizeof longest);
    request_id((struct str){longest, 64}, true, id);
    assert_int_equal(strlen(id), 64);
    request_id((struct str){longest, 65}, true, id);
    assert_int_not_equal(id[0], '\0');
    assert_true(strlen(id) < 30);
}

static void others_get_one_of_their_own(void **state)
{
    (void)state;
    static const char *const bad[] = {NULL, "", "a b", "a\nb", "a\"b", "\xC3\xA4", "a;b", "<b>"};
    char id[REQUEST_ID_BYTES], before[REQUEST_ID_BYTES] = "";
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        request_id(str_of(bad[i]), true, id);
        assert_int_equal(strspn(id, "0123456789abcdef"), 8);
        assert_int_equal(id[8], '-');
        assert_int_equal(strspn(id + 9, "0123456789abcdef"), strlen(id + 9));
        assert_string_not_equal(id, before);
        strcpy(before, id);
    }
    request_id(STR_LIT("mine"), false, id);
    assert_string_not_equal(id, "mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_harmless_one_of_a_proxy_is_kept), cmocka_unit_test(others_get_one_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
