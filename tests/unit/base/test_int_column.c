/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int_column.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

#define ROOM 1000

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void assert_round_trip(const int64_t *values, size_t count)
{
    struct buf blob;
    buf_init(&blob, 1 << 20);
    assert_true(int_column_pack(values, count, &blob));
    assert_false(buf_failed(&blob));
    /* Exactly as long as the blob: the sanitizer sees a read past its end. */
    char *exact = malloc(blob.len);
    memcpy(exact, blob.data, blob.len);
    struct str packed = {exact, blob.len};
    size_t found = 0;
    assert_int_equal(int_column_count(packed, &found, NULL), ERR_OK);
    assert_int_equal(found, count);
    int64_t least = INT64_MAX, smallest;
    for (size_t i = 0; i < count; i++)
        least = values[i] == UNKNOWN ? least : MIN(least, values[i]);
    assert_int_equal(int_column_least(packed, &smallest, NULL), ERR_OK);
    assert_int_equal(smallest, least);
    int64_t *out = malloc(count * sizeof *out);
    assert_int_equal(int_column_unpack(packed, out, count, NULL), ERR_OK);
    assert_memory_equal(out, values, count * sizeof *out);
    free(out);
    free(exact);
    buf_dispose(&blob);
}

static void the_layout_is_the_documented_one(void **state)
{
    (void)state;
    static const int64_t values[] = {300, UNKNOWN, 301, 1000};
    struct buf blob;
    buf_init(&blob, 1000);
    assert_true(int_column_pack(values, 4, &blob));
    static const unsigned char expected[] = {
        1, 2, 1, 0, 4, 0, 0, 0, 0x2C, 1, 0, 0, 0, 0, 0, 0,   /* version, width, bitmap, -, count, base 300 */
        0x0D,                                                 /* known: values 0, 2, 3 */
        0, 0, 0, 0, 1, 0, 0xBC, 2,                            /* 0, unknown, 1, 700 */
    };
    assert_int_equal(blob.len, sizeof expected);
    assert_memory_equal(blob.data, expected, sizeof expected);
    buf_dispose(&blob);
}

static void a_constant_column_is_sixteen_bytes(void **state)
{
    (void)state;
    int64_t values[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        values[i] = -5;
    struct buf blob;
    buf_init(&blob, 1000);
    assert_true(int_column_pack(values, ROOM, &blob));
    assert_int_equal(blob.len, 16);
    buf_dispose(&blob);
    assert_round_trip(values, ROOM);
}

static void all_unknown_leaves_nothing(void **state)
{
    (void)state;
    static const int64_t values[] = {UNKNOWN, UNKNOWN};
    struct buf blob;
    buf_init(&blob, 1000);
    assert_false(int_column_pack(values, 2, &blob));
    assert_false(int_column_pack(values, 0, &blob));
    assert_int_equal(blob.len, 0);
    buf_dispose(&blob);
}

static void every_width_comes_back(void **state)
{
    (void)state;
    int64_t values[ROOM];
    for (unsigned bits = 0; bits <= 64; bits++)
        for (size_t count = 1; count <= ROOM; count = count * 3 + 1)
            for (int with_unknown = 0; with_unknown < 2; with_unknown++) {
                uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
                for (size_t i = 0; i < count; i++) {
                    values[i] = (int64_t)(random_u64() & mask) - (int64_t)(bits < 63 ? mask / 2 : 0);
                    if (values[i] == UNKNOWN || (with_unknown && i > 0 && random_u64() % 3 == 0))
                        values[i] = UNKNOWN;
                }
                if (values[0] == UNKNOWN)
                    values[0] = 0;
                assert_round_trip(values, count);
            }
}

static void the_extremes_come_back(void **state)
{
    (void)state;
    static const int64_t values[] = {INT64_MAX, INT64_MIN + 1, 0, UNKNOWN, -1};
    assert_round_trip(values, 5);
    assert_round_trip(values, 1);
}

/* Every byte of a good blob set to every value: never a wild read, and never more values than there is room for. */
static void damaged_blobs_are_refused_or_read_within_bounds(void **state)
{
    (void)state;
    static const int64_t values[] = {1, 70000, UNKNOWN, 4, 5, 6, 7, 8, 9, 10};
    struct buf blob;
    buf_init(&blob, 1000);
    assert_true(int_column_pack(values, 10, &blob));
    int64_t out[10];
    char *copy = malloc(blob.len);
    for (size_t at = 0; at < blob.len; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, blob.data, blob.len);
            copy[at] = (char)byte;
            enum err_code rc = int_column_unpack((struct str){copy, blob.len}, out, 10, NULL);
            assert_true(rc == ERR_OK || rc == ERR_CORRUPT);
            if (at < 8 && copy[at] != blob.data[at] && at != 3)
                assert_int_equal(rc, ERR_CORRUPT);
        }
    for (size_t len = 0; len < blob.len; len++) {
        char *cut = malloc(len ? len : 1);
        memcpy(cut, blob.data, len);
        assert_int_equal(int_column_unpack((struct str){cut, len}, out, 10, NULL), ERR_CORRUPT);
        free(cut);
    }
    assert_int_equal(int_column_unpack(buf_str(&blob), out, 9, NULL), ERR_CORRUPT);
    free(copy);
    buf_dispose(&blob);
}

static void quantiles_are_chosen_as_spark_does(void **state)
{
    (void)state;
    /* AppStatusStore.taskSummary: (q * n).toLong, at most n - 1. */
    assert_int_equal(quantile_index(0.0, 10), 0);
    assert_int_equal(quantile_index(0.25, 10), 2);
    assert_int_equal(quantile_index(0.5, 10), 5);
    assert_int_equal(quantile_index(0.5, 1), 0);
    assert_int_equal(quantile_index(0.95, 20), 19);
    assert_int_equal(quantile_index(1.0, 10), 9);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void the_nth_is_that_of_the_sorted_values(void **state)
{
    (void)state;
    int64_t values[ROOM], sorted[ROOM];
    for (int round = 0; round < 3000; round++) {
        size_t count = 1 + random_u64() % (round % 50 == 0 ? ROOM : 40);
        uint64_t kinds = round % 3 == 0 ? 2 : round % 3 == 1 ? 10 : UINT64_MAX;
        for (size_t i = 0; i < count; i++)
            values[i] = round % 7 == 0 ? (int64_t)i : round % 7 == 1 ? -(int64_t)i : (int64_t)(random_u64() % kinds);
        memcpy(sorted, values, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_i64);
        size_t nth = random_u64() % count;
        select_nth(values, count, nth);
        assert_true(values[nth] == sorted[nth]);
        for (size_t i = 0; i < count; i++)
            assert_true(i < nth ? values[i] <= values[nth] : values[i] >= values[nth]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_the_documented_one),
        cmocka_unit_test(a_constant_column_is_sixteen_bytes),
        cmocka_unit_test(all_unknown_leaves_nothing),
        cmocka_unit_test(every_width_comes_back),
        cmocka_unit_test(the_extremes_come_back),
        cmocka_unit_test(damaged_blobs_are_refused_or_read_within_bounds),
        cmocka_unit_test(quantiles_are_chosen_as_spark_does),
        cmocka_unit_test(the_nth_is_that_of_the_sorted_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
