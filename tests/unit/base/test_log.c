/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"

/* What is written to standard error, NUL-terminated. Without fields by log_line. */
static void capture_fields(char *out, size_t size, enum log_level level, const char *text, const struct log_field *fields, size_t count)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    if (fields)
        log_fields(level, text, fields, count);
    else
        log_line(level, "%s", text);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void capture(char *out, size_t size, enum log_level level, const char *text)
{
    capture_fields(out, size, level, text, NULL, 0);
}

#define TEXT(literal) {literal, sizeof literal - 1}

static const struct log_field fields[] = {{"method", TEXT("GET"), UNKNOWN}, {"path", TEXT("/a b?q=\"1\"\n"), UNKNOWN}, {"status", {NULL, 0}, 200}, {"bytes", {NULL, 0}, UNKNOWN},
                                          {"token", TEXT("secret=hunter2"), UNKNOWN}, {"user", TEXT("\xC3\xA4\xFF"), UNKNOWN}};

static void fields_are_keys_and_values(void **state)
{
    (void)state;
    char out[4096];
    log_set_request("5f1c09aa-2a");
    capture_fields(out, sizeof out, LOG_INFO, "http", fields, 4);
    assert_non_null(strstr(out, "Z info http method=GET path=\"/a b?q=\\\"1\\\" \" status=200 request=5f1c09aa-2a\n"));
    log_set_request(NULL);
    capture_fields(out, sizeof out, LOG_INFO, "http", fields + 4, 1);
    assert_non_null(strstr(out, " http token=\"secret=*********(redacted)\"\n"));
}

static void lines_are_json_where_that_is_wanted(void **state)
{
    (void)state;
    char out[4096];
    log_set_format(LOG_JSON);
    log_set_request("5f1c09aa-2a");
    capture_fields(out, sizeof out, LOG_WARNING, "a \"b\"\n{", fields, ARRAY_LENGTH(fields));
    log_set_request(NULL);
    assert_memory_equal(out, "{\"time\":\"20", 11);
    assert_non_null(strstr(out, "Z\",\"level\":\"warning\",\"message\":\"a \\\"b\\\" {\",\"method\":\"GET\",\"path\":\"/a b?q=\\\"1\\\"\\n\",\"status\":200,"
                                "\"token\":\"secret=*********(redacted)\",\"user\":\"\xC3\xA4\xEF\xBF\xBD\",\"request\":\"5f1c09aa-2a\"}\n"));
    capture(out, sizeof out, LOG_ERROR, "no fields");
    assert_non_null(strstr(out, "\"level\":\"error\",\"message\":\"no fields\"}\n"));
    log_set_format(LOG_TEXT);
}

static void a_long_value_is_cut(void **state)
{
    (void)state;
    static char text[5000], out[20000];
    memset(text, 'x', sizeof text);
    const struct log_field field = {"path", {text, sizeof text}, UNKNOWN};
    capture_fields(out, sizeof out, LOG_INFO, "http", &field, 1);
    assert_int_equal(strspn(strstr(out, "path=") + 5, "x"), LOG_FIELD_BYTES);
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
        cmocka_unit_test(text_of_a_log_cannot_forge_a_line), cmocka_unit_test(fields_are_keys_and_values), cmocka_unit_test(lines_are_json_where_that_is_wanted),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(secrets_are_not_said), cmocka_unit_test(a_very_long_text_is_one_line),
        cmocka_unit_test(what_is_less_important_than_asked_for_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
