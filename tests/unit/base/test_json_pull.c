/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event/event_fixture.h"

#include <math.h>

#include "base/mem.h"
#include "base/json_pull.h"

/* A reader over an exact allocation. */
struct reading {
    struct json_pull in;
    struct arena scratch;
    char *line;
};

static struct json_pull *read_bytes(struct reading *r, const char *bytes, size_t len)
{
    r->line = malloc(len + JSON_PADDING);
    memcpy(r->line, bytes, len);
    memset(r->line + len, '1', JSON_PADDING);
    arena_init(&r->scratch, SCRATCH_BYTES);
    json_pull_init(&r->in, (struct str){r->line, len}, &r->scratch);
    return &r->in;
}

static struct json_pull *read_text(struct reading *r, const char *text)
{
    return read_bytes(r, text, strlen(text));
}

static void done(struct reading *r)
{
    arena_dispose(&r->scratch);
    free(r->line);
}

/* The same value with few and with many bytes behind it: the slow and the fast half of the reader. */
static const char *const tails[] = {"]", " ]", ",1]", ",\"0123456789012345678901234567890123456789012345678901234567890123456789\"]"};

static void whole_numbers_are_exact_to_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        unsigned out_of_range;
    } cases[] = {
        {"0", 0, 0}, {"-0", 0, 0}, {"7", 7, 0}, {"10", 10, 0}, {"1234567", 1234567, 0}, {"12345678", 12345678, 0}, {"123456789", 123456789, 0}, {"1795985807554", 1795985807554, 0},
        {"123456789012345", 123456789012345, 0}, {"1234567890123456", 1234567890123456, 0}, {"9007199254740993", 9007199254740993, 0}, {"-17", -17, 0}, {"999999999999999999",
            999999999999999999, 0},
        {"9223372036854775807", INT64_MAX, 0}, {"-9223372036854775807", -INT64_MAX, 0}, {"9223372036854775808", UNKNOWN, 1}, {"-9223372036854775808", UNKNOWN, 1},
        {"-9223372036854775809", UNKNOWN, 1}, {"99999999999999999999999", UNKNOWN, 1}, {"18446744073709551617", UNKNOWN, 1},
        {"1.0", 1, 0}, {"1.99", 1, 0}, {"-1.99", -1, 0}, {"0.5", 0, 0}, {"12345678.5", 12345678, 0}, {"1e3", 1000, 0}, {"1E+3", 1000, 0}, {"15e-1", 1, 0}, {"1.5e1", 15, 0},
            {"1.25e1", 12, 0},
        {"9007199254740993e0", 9007199254740993, 0}, {"922337203685477580.7e1", INT64_MAX, 0}, {"922337203685477580.8e1", UNKNOWN, 1}, {"0.0000000000000000001e19", 1, 0},
        {"1e400", UNKNOWN, 1}, {"-1e400", UNKNOWN, 1}, {"1e-400", 0, 0}, {"0e400", 0, 0}, {"0.000e99999999999999999999999", 0, 0}, {"1e99999999999999999999999", UNKNOWN, 1},
        {"1e-99999999999999999999999", 0, 0}, {"123e-2", 1, 0}, {"123e-3", 0, 0},
        {"\"12\"", UNKNOWN, 0}, {"null", UNKNOWN, 0}, {"true", UNKNOWN, 0}, {"{\"a\":[1]}", UNKNOWN, 0}, {"[]", UNKNOWN, 0}, {"[1,[2]]", UNKNOWN, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        for (size_t t = 0; t < ARRAY_LENGTH(tails); t++) {
            char text[256];
            struct reading r;
            snprintf(text, sizeof text, "[%s%s", cases[i].text, tails[t]);
            struct json_pull *in = read_text(&r, text);
            assert_true(json_array_begin(in));
            assert_true(json_array_next(in));
            assert_i64(json_i64(in), cases[i].value);
            assert_int_equal(in->out_of_range, cases[i].out_of_range);
            while (json_array_next(in))
                json_skip(in);
            assert_int_equal(in->failed, ERR_OK);
            assert_true(in->p == in->end);
            done(&r);
        }
}

static void counts_are_never_negative(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "[-1,0,-9999999999999999999,5,-0.5]");
    assert_true(json_array_begin(in));
    static const int64_t want[] = {UNKNOWN, 0, UNKNOWN, 5, 0};
    for (size_t i = 0; i < ARRAY_LENGTH(want); i++) {
        assert_true(json_array_next(in));
        assert_i64(json_count(in), want[i]);
    }
    assert_false(json_array_next(in));
    assert_int_equal(in->out_of_range, 2);
    done(&r);
}

/* Refused wherever they stand: read, skipped, fast or slow. */
static void values_that_are_no_json_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "01", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "--1", "0x10", "1_000", "12345678a", "1 2", "00", "-01", "NaN", "Infinity", "-Infinity", "nul", "nulL", "True", "tru",
        "falsee", "undefined",
        "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\\"", "\"a\tb\"", "\"a\nb\"", "\"\x01\"", "", ",", "]", "}", ":", "{", "[", "{{}}", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{a:1}",
        "{1:1}", "{\"a\" 1}", "{,}", "[1,]", "[,1]", "[1 2]", "[1}", "{\"a\":1]", "[[1]", "[[1]}", "{\"a\":[1}", "[1]]", "{\"a\":{\"b\":[{\"c\":1]}}", "\"a\"b", "@", "\\",
    };
    static const char *const rests[] = {"}", ",\"z\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}"};
    static const struct json_key keys[] = {JSON_KEY("a", 0)};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        for (size_t t = 0; t < ARRAY_LENGTH(rests); t++)
            for (int how = 0; how < 6; how++) {
                char text[256];
                struct reading r;
                snprintf(text, sizeof text, "{\"a\":%s%s", bad[i], rests[t]);
                struct json_pull *in = read_text(&r, text);
                struct json_object o;
                bool inside = json_object_begin(in, &o, KEYS(keys));
                assert_true(inside);
                for (int key; (key = json_next(in, &o)) >= 0;)
                    switch (how) {
                    case 0: json_skip(in); break;
                    case 1: (void)json_i64(in); break;
                    case 2: (void)json_str(in); break;
                    case 3: (void)json_bool(in, false); break;
                    case 4: (void)json_text(in); break;
                    default: (void)json_double(in);
                    }
                if (in->failed != ERR_CORRUPT)
                    print_error("accepted: %s\n", text);
                assert_int_equal(in->failed, ERR_CORRUPT);
                done(&r);
            }
}

static void texts_are_borrowed_when_nothing_has_to_change(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "", "a", "0123456789abcde", "0123456789abcdef", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef0123456789abcd",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "caf\xC3\xA9", "0123456789abcd\xE2\x82\xACuro",
        "0123456789abcdef0123456789abcdef0123456789abc\xF0\x9F\x98\x80", "\x7F",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
        for (size_t t = 0; t < ARRAY_LENGTH(tails); t++) {
            char text[256];
            struct reading r;
            snprintf(text, sizeof text, "[\"%s\"%s", plain[i], tails[t]);
            struct json_pull *in = read_text(&r, text);
            assert_true(json_array_begin(in));
            assert_true(json_array_next(in));
            struct str got = json_str(in);
            assert_text(got, plain[i]);
            assert_ptr_equal(got.ptr, r.line + 2);
            assert_int_equal(in->repaired, 0);
            done(&r);
        }
}

static void escapes_are_resolved_and_bad_text_is_repaired(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *want;
        unsigned repaired;
    } cases[] = {
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0},
        {"a\\u0041\\u00e9\\u20AC", "aA\xC3\xA9\xE2\x82\xAC", 0},
        {"\\ud83d\\ude00!", "\xF0\x9F\x98\x80!", 0},
        {"lone \\ud800 x", "lone \xEF\xBF\xBD x", 1},
        {"\\ud800\\ud83d\\ude00", "\xEF\xBF\xBD\xF0\x9F\x98\x80", 1},
        {"\\udc00\\ud800", "\xEF\xBF\xBD\xEF\xBF\xBD", 1},
        {"\\ud800\\n", "\xEF\xBF\xBD\n", 1},
        {"nul \\u0000.", "nul \xEF\xBF\xBD.", 1},
        {"caf\xE9", "caf\xEF\xBF\xBD", 1},
        {"\xFF\xFE \xED\xA0\x80 ok", "\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ok", 1},
        {"\xC3\x28 and \\u00e9 and \xC3\xA9", "\xEF\xBF\xBD( and \xC3\xA9 and \xC3\xA9", 1},
        {"\xC0\xAF \xF5\x80\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 1},
        {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\\n\xE9", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n\xEF\xBF\xBD", 1},
        {"\\u000a", "\n", 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        for (size_t t = 0; t < ARRAY_LENGTH(tails); t++) {
            char text[512];
            struct reading r;
            snprintf(text, sizeof text, "[\"%s\"%s", cases[i].raw, tails[t]);
            struct json_pull *in = read_text(&r, text);
            assert_true(json_array_begin(in));
            assert_true(json_array_next(in));
            struct str got = json_str(in);
            assert_text(got, cases[i].want);
            assert_int_equal(utf8_valid_prefix(got.ptr, got.len), got.len);
            assert_int_equal(in->repaired, cases[i].repaired);
            while (json_array_next(in))
                json_skip(in);
            assert_int_equal(in->failed, ERR_OK);
            done(&r);
        }
}

static void a_text_may_end_or_change_at_every_offset(void **state)
{
    (void)state;
    /* A quote, an escape, a two-byte character and a control character at each place of texts up to 100 bytes: all widths of the scanner. */
    for (size_t len = 0; len < 100; len++)
        for (int what = 0; what < 4; what++) {
            char text[256], want[256];
            static const char *const raw[] = {"", "\\n", "\xC3\xA9", "\x1F"}, *const meant[] = {"", "\n", "\xC3\xA9", ""};
            struct reading r;
            memset(text, 'x', sizeof text);
            memset(want, 'x', sizeof want);
            text[0] = '[';
            text[1] = '"';
            strcpy(text + 2 + len, raw[what]);
            strcat(text, "\",\"0123456789012345678901234567890123456789012345678901234567890123456789\"]");
            strcpy(want + len, meant[what]);
            struct json_pull *in = read_text(&r, text);
            assert_true(json_array_begin(in));
            assert_true(json_array_next(in));
            struct str got = json_str(in);
            if (what == 3)
                assert_int_equal(in->failed, ERR_CORRUPT);
            else
                assert_text(got, want);
            done(&r);
        }
}

static void a_scalar_reads_as_its_text(void **state)
{
    (void)state;
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"\"7\"", "7"}, {"7", "7"}, {"-1.50e3", "-1.50e3"}, {"123456789012345678901234567890", "123456789012345678901234567890"}, {"true", "true"}, {"false", "false"}, {"null",
            NULL}, {"{\"a\":1}", ""},
        {"[1,2]", ""}, {"[]", ""}, {"12345678", "12345678"}, {"\"a\\nb\"", "a\nb"}, {"0", "0"}, {"1234567890123456", "1234567890123456"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        for (size_t t = 0; t < ARRAY_LENGTH(tails); t++) {
            char text[256];
            struct reading r;
            snprintf(text, sizeof text, "[ %s%s", cases[i].json, tails[t]);
            struct json_pull *in = read_text(&r, text);
            assert_true(json_array_begin(in));
            assert_true(json_array_next(in));
            assert_text(json_text(in), cases[i].want);
            assert_int_equal(in->failed, ERR_OK);
            done(&r);
        }
}

static void booleans_fractions_and_raw_values(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "[true,false,null,1,true,null,1.5,-2,\"x\",1e400, {\"a\" : [1]} ,[]]");
    bool more = json_array_begin(in) && json_array_next(in);
    assert_true(more && json_bool(in, false));
    more = json_array_next(in);
    assert_true(more && !json_bool(in, true));
    more = json_array_next(in);
    assert_true(more && json_bool(in, true));
    more = json_array_next(in);
    assert_true(more && !json_bool(in, false));
    more = json_array_next(in);
    assert_true(more && json_flag(in) == 1);
    more = json_array_next(in);
    assert_true(more && json_flag(in) == UNKNOWN);
    more = json_array_next(in);
    assert_true(more && json_double(in) == 1.5);
    more = json_array_next(in);
    assert_true(more && json_double(in) == -2.0);
    more = json_array_next(in);
    assert_true(more && isnan(json_double(in)));
    more = json_array_next(in);
    assert_true(more && isnan(json_double(in)));
    assert_int_equal(in->out_of_range, 1);
    more = json_array_next(in);
    assert_true(more);
    assert_text(json_span(in), "{\"a\" : [1]}");
    more = json_array_next(in);
    assert_true(more);
    assert_text(json_span(in), "[]");
    assert_false(json_array_next(in));
    assert_int_equal(in->failed, ERR_OK);
    done(&r);
}

static const struct json_key abc_keys[] = {JSON_KEY("a", 0), JSON_KEY("bb", 1), JSON_KEY("a much longer key that Spark might write", 2)};

static void keys_come_in_any_order_with_blanks_and_escapes(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"a\":1,\"bb\":2,\"a much longer key that Spark might write\":3}", "{\"bb\":2,\"a\":1,\"a much longer key that Spark might write\":3}",
        " {\t\"a much longer key that Spark might write\"\r : 3 , \"a\":1 ,\"bb\" :2 } ", "{\"a\":9,\"bb\":2,\"a\":1,\"a much longer key that Spark might write\":3}",
        "{\"\\u0061\":1,\"b\\u0062\":2,\"a much longer key that Spark might writ\\u0065\":3}", "{\"A\":5,\"a\":1,\"b\":7,\"bbb\":[{}],\"bb\":2,\""
        "a much longer key that Spark might write\":3,\"\":null}",
        "{\"a\":1,\"a much longer key that Spark might write2\":7,\"a much longer key that Spark might writ\":8,\"a much longer key that Spark might write\":3,\"bb\":2}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(same); i++)
        for (int padded = 0; padded < 2; padded++) {
            char text[512];
            struct reading r;
            int64_t got[3] = {0, 0, 0};
            snprintf(text, sizeof text, "%s%s", same[i], padded ? "                                                                              " : "");
            struct json_pull *in = read_text(&r, text);
            struct json_object o;
            in->p += strspn(in->p, " ");
            bool inside = json_object_begin(in, &o, KEYS(abc_keys));
            assert_true(inside);
            for (int key; (key = json_next(in, &o)) >= 0;)
                if (key == JSON_OTHER)
                    json_skip(in);
                else
                    got[key] = json_i64(in);
            assert_int_equal(in->failed, ERR_OK);
            assert_i64(got[0], 1);
            assert_i64(got[1], 2);
            assert_i64(got[2], 3);
            assert_int_equal(in->depth, 0);
            done(&r);
        }
}

static void a_key_that_begins_like_another_is_another(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "{\"a\" :1,\"a much longer key that Spark might writE\":2,\"bb\\\"\":3,\"c\":\""
        "0123456789012345678901234567890123456789012345678901234567890123456789\"}");
    struct json_object o;
    static const int want[] = {0, JSON_OTHER, JSON_OTHER, JSON_OTHER, JSON_END, JSON_END};
    bool inside = json_object_begin(in, &o, KEYS(abc_keys));
    assert_true(inside);
    for (size_t i = 0; i < ARRAY_LENGTH(want); i++) {
        if (i < 5)
            assert_int_equal(json_next(in, &o), want[i]);
        if (i == 2)
            assert_text(in->key, "bb\"");
        if (i < 4)
            json_skip(in);
    }
    assert_int_equal(in->failed, ERR_OK);
    done(&r);
}

static void values_of_another_kind_are_skipped(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "[{\"x\":[1,{}]},[7,[]],\"text\",12,null]");
    struct json_object o;
    assert_true(json_array_begin(in));
    assert_true(json_array_next(in));
    assert_false(json_array_begin(in));
    assert_true(json_array_next(in));
    assert_false(json_object_begin(in, &o, KEYS(abc_keys)));
    assert_true(json_array_next(in));
    assert_false(json_object_begin(in, &o, KEYS(abc_keys)));
    assert_true(json_array_next(in));
    assert_text(json_str(in), NULL);
    assert_true(json_array_next(in));
    assert_false(json_array_begin(in));
    assert_false(json_array_next(in));
    assert_int_equal(in->failed, ERR_OK);
    done(&r);
}

static void brackets_nest_to_the_limit_and_no_further(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++)
        for (int kind = 0; kind < 2; kind++) {
            size_t depth = JSON_MAX_DEPTH + (size_t)over, each = kind ? 5 : 1;
            char *text = malloc(depth * (each + 1) + 2), *p = text;
            for (size_t i = 0; i < depth; i++, p += each)
                memcpy(p, kind ? "{\"a\":" : "[", each);
            if (kind)
                *p++ = '1';
            memset(p, kind ? '}' : ']', depth);
            p += depth;
            struct reading r;
            struct json_pull *in = read_bytes(&r, text, (size_t)(p - text));
            json_skip(in);
            assert_int_equal(in->failed, over ? ERR_LIMIT : ERR_OK);
            done(&r);
            free(text);
        }
}

static void the_first_failure_sticks(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "{\"a\":1,\"bb\":x}");
    struct json_object o;
    bool inside = json_object_begin(in, &o, KEYS(abc_keys));
    assert_true(inside);
    assert_int_equal(json_next(in, &o), 0);
    assert_i64(json_i64(in), 1);
    assert_int_equal(json_next(in, &o), 1);
    assert_i64(json_i64(in), UNKNOWN);
    assert_int_equal(in->failed, ERR_CORRUPT);
    assert_int_equal(in->failed_at - r.line, 12);
    assert_int_equal(json_next(in, &o), JSON_END);
    assert_false(json_array_next(in));
    assert_text(json_str(in), NULL);
    assert_false(json_bool(in, false));
    assert_true(json_scratch(in, 1) == NULL);
    assert_string_equal(in->what, "expected a value");
    done(&r);
}

static void what_scratch_cannot_hold_is_a_limit_or_out_of_memory(void **state)
{
    (void)state;
    struct reading r;
    struct json_pull *in = read_text(&r, "\"a\\n\"");
    mem_fail_at(1, 0);
    assert_text(json_str(in), NULL);
    mem_fail_at(0, 0);
    assert_int_equal(in->failed, ERR_NOMEM);
    done(&r);
    in = read_text(&r, "\"a\\n\"");
    r.scratch.max_bytes = 100;
    assert_text(json_str(in), NULL);
    assert_int_equal(in->failed, ERR_LIMIT);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact_to_64_bits), cmocka_unit_test(counts_are_never_negative), cmocka_unit_test(values_that_are_no_json_are_refused),
        cmocka_unit_test(texts_are_borrowed_when_nothing_has_to_change), cmocka_unit_test(escapes_are_resolved_and_bad_text_is_repaired),
            cmocka_unit_test(a_text_may_end_or_change_at_every_offset),
        cmocka_unit_test(a_scalar_reads_as_its_text), cmocka_unit_test(booleans_fractions_and_raw_values), cmocka_unit_test(keys_come_in_any_order_with_blanks_and_escapes),
        cmocka_unit_test(a_key_that_begins_like_another_is_another), cmocka_unit_test(values_of_another_kind_are_skipped),
            cmocka_unit_test(brackets_nest_to_the_limit_and_no_further),
        cmocka_unit_test(the_first_failure_sticks), cmocka_unit_test(what_scratch_cannot_hold_is_a_limit_or_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
