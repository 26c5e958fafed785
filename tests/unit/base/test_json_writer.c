/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/units.h"

static struct buf out;
static struct json_writer writer;

static int start(void **state)
{
    (void)state;
    buf_init(&out, 1 << 20);
    json_writer_init(&writer, json_sink_buf, &out, false);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    buf_dispose(&out);
    return 0;
}

static void assert_written(const char *expected)
{
    assert_int_equal(json_writer_end(&writer), ERR_OK);
    assert_string_equal(out.data, expected);
}

static void nested_values_have_their_commas(void **state)
{
    (void)state;
    json_object_begin(&writer);
    json_kv_i64(&writer, "a", 1);
    json_key(&writer, "b");
    json_array_begin(&writer);
    json_i64(&writer, -2);
    json_object_begin(&writer);
    json_object_end(&writer);
    json_array_begin(&writer);
    json_array_end(&writer);
    json_bool(&writer, true);
    json_array_end(&writer);
    json_kv_text(&writer, "c", "d");
    json_key(&writer, "e");
    json_raw(&writer, STR_LIT("[1,2]"));
    json_object_end(&writer);
    assert_written("{\"a\":1,\"b\":[-2,{},[],true],\"c\":\"d\",\"e\":[1,2]}");
}

static void unknown_values_are_null(void **state)
{
    (void)state;
    json_array_begin(&writer);
    json_i64(&writer, UNKNOWN);
    json_str(&writer, STR_NONE);
    json_text(&writer, NULL);
    json_f64(&writer, (double)NAN);
    json_f64(&writer, (double)INFINITY);
    json_null(&writer);
    json_array_end(&writer);
    assert_written("[null,null,null,null,null,null]");
}

static void text_is_escaped_and_always_valid_utf8(void **state)
{
    (void)state;
    json_array_begin(&writer);
    json_str(&writer, (struct str){"\"\\\n\r\t\b\f\0\x1f/<\x7f", 12});
    json_text(&writer, "\xC3\xA4\xFF\xE2\x82");
    json_str(&writer, STR_LIT(""));
    json_array_end(&writer);
    assert_written("[\"\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f/<\x7f\",\"\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\",\"\"]");
}

/* Bytes are looked at eight at a time: each byte that needs escaping, at each place of texts of each length. */
static void every_byte_is_escaped_wherever_it_stands(void **state)
{
    (void)state;
    for (size_t len = 1; len <= 17; len++) {
        for (size_t at = 0; at < len; at++) {
            for (int c = 0; c < 0x80; c++) {
                char text[24], expected[48], escaped[8];
                memset(text, '~', len);
                text[at] = (char)c;
                const char *pair = c ? strchr("\"\"\\\\\nn\rr\tt\bb\ff", c) : NULL;
                if (c == '"' || c == '\\')
                    snprintf(escaped, sizeof escaped, "\\%c", c);
                else if (c < 0x20 && pair)
                    snprintf(escaped, sizeof escaped, "\\%c", pair[1]);
                else
                    snprintf(escaped, sizeof escaped, c < 0x20 ? "\\u%04x" : "%c", (unsigned)c);
                snprintf(expected, sizeof expected, "\"%.*s%s%.*s\"", (int)at, "~~~~~~~~~~~~~~~~~", escaped, (int)(len - at - 1), "~~~~~~~~~~~~~~~~~");
                buf_clear(&out);
                json_writer_init(&writer, json_sink_buf, &out, false);
                json_str(&writer, (struct str){text, len});
                assert_written(expected);
            }
        }
    }
}

static void keys_are_escaped_too(void **state)
{
    (void)state;
    json_object_begin(&writer);
    json_key_str(&writer, STR_LIT("a\"b"));
    json_null(&writer);
    json_object_end(&writer);
    assert_written("{\"a\\\"b\":null}");
}

static void integers_keep_all_their_digits(void **state)
{
    (void)state;
    json_array_begin(&writer);
    json_i64(&writer, INT64_MAX);
    json_i64(&writer, INT64_MIN + 1);
    json_i64(&writer, 0);
    json_i64(&writer, 9007199254740993);
    json_array_end(&writer);
    assert_written("[9223372036854775807,-9223372036854775807,0,9007199254740993]");
}

static void whole_fractions_are_written_without_a_point(void **state)
{
    (void)state;
    json_array_begin(&writer);
    json_f64(&writer, 0.0);
    json_f64(&writer, -0.0);
    json_f64(&writer, 2.0);
    json_f64(&writer, 999999999999999.0);
    json_f64(&writer, 1e15);
    json_array_end(&writer);
    assert_written("[0,-0,2,999999999999999,1e+15]");
}

static void a_key_may_be_quoted_already(void **state)
{
    (void)state;
    json_object_begin(&writer);
    json_key_raw(&writer, STR_LIT("\"a\""));
    json_null(&writer);
    json_key_raw(&writer, STR_LIT("\"b\""));
    json_null(&writer);
    json_object_end(&writer);
    assert_written("{\"a\":null,\"b\":null}");
}

static void fractions_read_back_as_the_same_number(void **state)
{
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 1e300, -2.5, 123456789.125, 5e-324, 0.30000000000000004};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        buf_clear(&out);
        json_writer_init(&writer, json_sink_buf, &out, false);
        json_f64(&writer, values[i]);
        assert_int_equal(json_writer_end(&writer), ERR_OK);
        assert_true(strtod(out.data, NULL) == values[i]);
    }
    buf_clear(&out);
    json_writer_init(&writer, json_sink_buf, &out, false);
    json_f64(&writer, 0.1);
    assert_written("0.1");
}

/* The form of the History Server (spec/core.md §3.1): Jackson's default pretty printer. */
static void the_pretty_form_is_the_history_servers(void **state)
{
    (void)state;
    json_writer_init(&writer, json_sink_buf, &out, true);
    json_array_begin(&writer);
    json_object_begin(&writer);
    json_kv_text(&writer, "id", "app-1");
    json_key(&writer, "attempts");
    json_array_begin(&writer);
    json_object_begin(&writer);
    json_kv_bool(&writer, "completed", true);
    json_object_end(&writer);
    json_array_end(&writer);
    json_key(&writer, "none");
    json_array_begin(&writer);
    json_array_end(&writer);
    json_key(&writer, "some");
    json_array_begin(&writer);
    json_i64(&writer, 1);
    json_i64(&writer, 2);
    json_array_end(&writer);
    json_key(&writer, "empty");
    json_object_begin(&writer);
    json_object_end(&writer);
    json_object_end(&writer);
    json_array_end(&writer);
    assert_written("[ {\n  \"id\" : \"app-1\",\n  \"attempts\" : [ {\n    \"completed\" : true\n  } ],\n  \"none\" : [ ],\n  \"some\" : [ 1, 2 ],\n  \"empty\" : { }\n} ]");
}

static void output_longer_than_the_buffer_is_whole(void **state)
{
    (void)state;
    json_array_begin(&writer);
    for (int i = 0; i < 20000; i++)
        json_i64(&writer, i);
    json_array_end(&writer);
    assert_int_equal(json_writer_end(&writer), ERR_OK);
    const char *p = out.data;
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(*p++, i ? ',' : '[');
        char *end;
        assert_int_equal(strtol(p, &end, 10), i);
        p = end;
    }
    assert_string_equal(p, "]");
}

static int calls;

static enum err_code full_sink(void *context, const char *bytes, size_t len)
{
    (void)context;
    (void)bytes;
    (void)len;
    calls++;
    return ERR_NO_SPACE;
}

static void a_sink_that_fails_is_not_called_again(void **state)
{
    (void)state;
    calls = 0;
    json_writer_init(&writer, full_sink, NULL, false);
    json_array_begin(&writer);
    for (int i = 0; i < 50000; i++)
        json_i64(&writer, i);
    json_array_end(&writer);
    assert_int_equal(json_writer_end(&writer), ERR_NO_SPACE);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nested_values_have_their_commas, start, stop),
        cmocka_unit_test_setup_teardown(unknown_values_are_null, start, stop),
        cmocka_unit_test_setup_teardown(text_is_escaped_and_always_valid_utf8, start, stop),
        cmocka_unit_test_setup_teardown(every_byte_is_escaped_wherever_it_stands, start, stop),
        cmocka_unit_test_setup_teardown(keys_are_escaped_too, start, stop),
        cmocka_unit_test_setup_teardown(integers_keep_all_their_digits, start, stop),
        cmocka_unit_test_setup_teardown(whole_fractions_are_written_without_a_point, start, stop),
        cmocka_unit_test_setup_teardown(a_key_may_be_quoted_already, start, stop),
        cmocka_unit_test_setup_teardown(fractions_read_back_as_the_same_number, start, stop),
        cmocka_unit_test_setup_teardown(the_pretty_form_is_the_history_servers, start, stop),
        cmocka_unit_test_setup_teardown(output_longer_than_the_buffer_is_whole, start, stop),
        cmocka_unit_test(a_sink_that_fails_is_not_called_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
