/* SPDX-License-Identifier: Apache-2.0 */
#include "server/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void only_pages_of_this_server_and_programs_change_something(void **state)
{
    (void)state;
    static const struct {
        const char *marker, *site, *origin, *host, *forwarded_host;
        bool secure, wanted;
    } cases[] = {
        {"1", NULL, NULL, "h:18080", NULL, false, true},  /* a program */
        {NULL, NULL, NULL, "h:18080", NULL, false, false},
        {"", NULL, NULL, "h:18080", NULL, false, false},
        {NULL, "same-origin", "http://h:18080", "h:18080", NULL, false, false}, /* a form without the header */
        {"1", "same-origin", "http://elsewhere", "h:18080", NULL, false, true}, /* a proxy changed the host: the browser knows better */
        {"1", "same-site", NULL, "h:18080", NULL, false, false},
        {"1", "cross-site", "http://h:18080", "h:18080", NULL, false, false},
        {"1", "none", NULL, "h:18080", NULL, false, false},
        {"1", "", NULL, "h:18080", NULL, false, false},
        {"1", NULL, "http://h:18080", "h:18080", NULL, false, true},
        {"1", NULL, "http://H:18080", "h:18080", NULL, false, true}, /* names of hosts know no case */
        {"1", NULL, "http://h", "h:18080", NULL, false, false},      /* another port is another origin */
        {"1", NULL, "http://h:18080.evil", "h:18080", NULL, false, false},
        {"1", NULL, "http://evil/h:18080", "h:18080", NULL, false, false},
        {"1", NULL, "null", "h:18080", NULL, false, false},          /* a sandboxed frame, a file */
        {"1", NULL, "null", "null", NULL, false, false},
        {"1", NULL, "", "h", NULL, false, false},
        {"1", NULL, "https://", "", NULL, false, false},
        {"1", NULL, "https://portal", "127.0.0.1:18080", "portal", false, true},
        {"1", NULL, "https://portal", "127.0.0.1:18080", "portal, inner", false, true}, /* the first proxy's */
        {"1", NULL, "https://inner", "127.0.0.1:18080", "portal, inner", false, false},
        {"1", NULL, "http://h", "h", NULL, true, false},             /* a page by http, a server by https */
        {"1", NULL, "https://h", "h", NULL, true, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const struct request request = {.site = str_of(cases[i].site), .origin = str_of(cases[i].origin), .host = str_of(cases[i].host), .forwarded_host = str_of(cases[i].forwarded_host),
                                        .secure = cases[i].secure};
        if (origin_may_change(&request, str_of(cases[i].marker)) != cases[i].wanted)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_pages_of_this_server_and_programs_change_something)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
