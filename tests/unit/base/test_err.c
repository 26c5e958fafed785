/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_message_longer_than_its_room_is_cut_and_terminated(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_CORRUPT, "%s", text), ERR_CORRUPT);
    assert_int_equal(err.code, ERR_CORRUPT);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(err_prefix(&err, "file"), ERR_CORRUPT);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strncmp(err.message, "file: xxx", 9), 0);
}

static void errno_values_become_codes_and_words(void **state)
{
    (void)state;
    static const struct {
        int errno_value;
        enum err_code code;
    } cases[] = {
        {ENOENT, ERR_NOT_FOUND}, {ENOTDIR, ERR_NOT_FOUND}, {EACCES, ERR_PERMISSION}, {EPERM, ERR_PERMISSION}, {EROFS, ERR_PERMISSION},
        {ENOMEM, ERR_NOMEM},     {ENOSPC, ERR_NO_SPACE},   {EDQUOT, ERR_NO_SPACE},   {EAGAIN, ERR_NOMEM}, {EBUSY, ERR_BUSY},      {EIO, ERR_IO},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct err err = {0};
        assert_int_equal(err_set_errno(&err, cases[i].errno_value, "cannot open"), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_non_null(strstr(err.message, strerror(cases[i].errno_value)));
        assert_int_equal(strncmp(err.message, "cannot open: ", 13), 0);
    }
}

static void a_prefix_keeps_code_line_and_text(void **state)
{
    (void)state;
    struct err err = {.line = 7, .offset = 99};
    (void)err_set(&err, ERR_TRUNCATED, "the line has no end");
    assert_int_equal(err_prefix(&err, "events_%d", 3), ERR_TRUNCATED);
    assert_string_equal(err.message, "events_3: the line has no end");
    assert_int_equal(err.line, 7);
    assert_int_equal(err.offset, 99);
}

static void no_struct_is_needed(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_IO, "x"), ERR_IO);
    assert_int_equal(err_set_errno(NULL, ENOSPC, "x"), ERR_NO_SPACE);
    assert_int_equal(err_nomem(NULL), ERR_NOMEM);
    assert_int_equal(err_prefix(NULL, "x"), ERR_OK);
}

static void every_code_has_a_word(void **state)
{
    (void)state;
    for (int code = ERR_OK; code >= ERR_CANCELLED; code--)
        assert_string_not_equal(err_code_name((enum err_code)code), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_longer_than_its_room_is_cut_and_terminated),
        cmocka_unit_test(errno_values_become_codes_and_words),
        cmocka_unit_test(a_prefix_keeps_code_line_and_text),
        cmocka_unit_test(no_struct_is_needed),
        cmocka_unit_test(every_code_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
