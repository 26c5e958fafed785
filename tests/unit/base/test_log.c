/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What log_line writes to standard error, NUL-terminated. */
static void capture(char *out, size_t size, enum log_level level, const char *text)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    log_line(level, "%s", text);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void text_of_a_log_cannot_forge_a_line(void **state)
{
    (void)state;
    char out[2048];
    capture(out, sizeof out, LOG_ERROR, "name\n2026-01-01 error forged\r\x1b[2J");
    assert_non_null(strstr(out, " error name 2026-01-01 error forged  [2J\n"));
    assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

static void secrets_are_not_said(void **state)
{
    (void)state;
    char out[2048];
    capture(out, sizeof out, LOG_ERROR, "cannot answer /x?password=hunter2&a=b: no");
    assert_non_null(strstr(out, " error cannot answer /x?password=*********(redacted)&a=b: no\n"));
}

static void a_very_long_text_is_one_line(void **state)
{
    (void)state;
    static char text[10000], out[20000];
    memset(text, 'x', sizeof text - 1);
    capture(out, sizeof out, LOG_WARNING, text);
    assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

static void what_is_less_important_than_asked_for_is_not_said(void **state)
{
    (void)state;
    char out[256];
    log_set_level(LOG_WARNING);
    capture(out, sizeof out, LOG_INFO, "quiet");
    assert_string_equal(out, "");
    capture(out, sizeof out, LOG_WARNING, "loud");
    assert_non_null(strstr(out, "loud"));
    log_set_level(LOG_INFO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_a_log_cannot_forge_a_line),
        cmocka_unit_test(secrets_are_not_said), cmocka_unit_test(a_very_long_text_is_one_line),
        cmocka_unit_test(what_is_less_important_than_asked_for_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
