/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(void (*write)(struct buf *, struct str), struct str given, const char *wanted)
{
    struct buf out;
    buf_init(&out, 4096);
    write(&out, given);
    assert_string_equal(out.len ? out.data : "", wanted);
    buf_dispose(&out);
}

static void text_of_a_page_is_text(void **state)
{
    (void)state;
    check(html_text, STR_LIT("<img src=x onerror='a(\"b\")'> & more"), "&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt; &amp; more");
    check(html_text, STR_LIT("a\r\nb\0c\x7F"), "a  b c ");
    check(html_text, STR_LIT("\xC3\xA4\xFF\xC3"), "\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD");
    check(html_text, STR_LIT(""), "");
    check(html_text, STR_NONE, "");
}

static void a_segment_stays_one(void **state)
{
    (void)state;
    check(url_segment, STR_LIT("application_1_0001"), "application_1_0001");
    check(url_segment, STR_LIT("a/b?c#d%e f"), "a%2Fb%3Fc%23d%25e%20f");
    check(url_segment, STR_LIT("\r\nX: y"), "%0D%0AX%3A%20y");
    check(url_segment, STR_LIT("//evil"), "%2F%2Fevil");
    check(url_segment, STR_LIT("\xC3\xA4"), "%C3%A4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_of_a_page_is_text), cmocka_unit_test(a_segment_stays_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
