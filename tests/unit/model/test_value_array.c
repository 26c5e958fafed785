/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/value_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void set(struct value_array *a, int64_t index, int64_t value, size_t *bytes)
{
    assert_int_equal(value_array_set(a, index, value, bytes), 0);
}

static void all_numbers_come_back_in_order_of_index(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 127, -128, 128, 255, 32767, 1 << 20, INT32_MIN, (int64_t)1 << 40, INT64_MAX, INT64_MIN + 1, 5};
    struct value_array a = {.length = 3000};
    size_t bytes = 0, count = sizeof values / sizeof *values;
    int64_t got[20];
    for (size_t i = count; i-- > 0;)         /* every width meets every other */
        set(&a, (int64_t)i * 213, values[i], &bytes);
    assert_int_equal(a.set_count, count);
    assert_int_equal(value_array_gather(&a, got), count);
    assert_memory_equal(got, values, sizeof values);
    value_array_dispose(&a);
}

static void the_last_value_of_an_index_counts(void **state)
{
    (void)state;
    struct value_array a = {.length = 1};
    size_t bytes = 0;
    int64_t got[1];
    set(&a, 0, 7, &bytes);
    set(&a, 0, -300, &bytes);
    assert_int_equal(a.set_count, 1);
    assert_int_equal(value_array_gather(&a, got), 1);
    assert_int_equal(got[0], -300);
    value_array_dispose(&a);
}

static void a_million_small_numbers_take_three_bytes_each(void **state)
{
    (void)state;
    struct value_array a = {.length = 1000000};
    size_t bytes = 0;
    for (int64_t i = 0; i < a.length; i++)
        set(&a, i, i * 8, &bytes);           /* up to 8,000,000 */
    assert_true(bytes < 3100000);
    value_array_dispose(&a);
    struct value_array far = {.length = (int64_t)1 << 26};
    bytes = 0;
    set(&far, far.length - 1, 1, &bytes);    /* the list of chunks, and one chunk */
    assert_true(bytes < 600000);
    value_array_dispose(&far);
}

static void a_failed_allocation_leaves_what_was_there(void **state)
{
    (void)state;
    struct value_array a = {.length = 10000};
    size_t bytes = 0;
    int64_t got[1];
    set(&a, 3, 9, &bytes);
    for (int64_t index = 3; index < 10000; index += 9990) {
        mem_fail_at(1, 0);
        assert_int_equal(value_array_set(&a, index, 1 << 20, &bytes), -1);
        mem_fail_at(0, 0);
        assert_int_equal(value_array_gather(&a, got), 1);
        assert_int_equal(got[0], 9);
    }
    value_array_dispose(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_numbers_come_back_in_order_of_index), cmocka_unit_test(the_last_value_of_an_index_counts), cmocka_unit_test(a_million_small_numbers_take_three_bytes_each),
        cmocka_unit_test(a_failed_allocation_leaves_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
