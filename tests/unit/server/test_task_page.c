/* SPDX-License-Identifier: Apache-2.0 */
#include "server/task_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/units.h"

#define U UNKNOWN

static void assert_page(const int64_t *key, const int64_t *tie, const unsigned char *keep, size_t count, bool descending, size_t offset, size_t limit, const size_t *expected,
                        size_t expected_count, size_t expected_total)
{
    size_t positions[16], written, total;
    assert_int_equal(task_page(key, tie, keep, count, descending, offset, limit, positions, &written, &total, NULL), ERR_OK);
    assert_int_equal(written, expected_count);
    assert_int_equal(total, expected_total);
    for (size_t i = 0; i < written; i++)
        assert_int_equal(positions[i], expected[i]);
}

static void pages_put_unknowns_last_either_way(void **state)
{
    (void)state;
    const int64_t key[] = {5, U, 3, 5, U, 9}, tie[] = {1, 2, 3, 4, 5, 6};
    assert_page(key, tie, NULL, 6, false, 0, 6, (size_t[]){2, 0, 3, 5, 1, 4}, 6, 6);
    assert_page(key, tie, NULL, 6, true, 0, 6, (size_t[]){5, 3, 0, 2, 4, 1}, 6, 6);
    assert_page(key, tie, NULL, 6, true, 3, 2, (size_t[]){2, 4}, 2, 6);
    assert_page(key, tie, NULL, 6, false, 5, 10, (size_t[]){4}, 1, 6);
    assert_page(key, tie, NULL, 6, false, 6, 10, NULL, 0, 6);
    assert_page(key, tie, (const unsigned char[]){1, 0, 0, 1, 1, 0}, 6, false, 0, 6, (size_t[]){0, 3, 4}, 3, 3);
    assert_page(key, tie, NULL, 0, false, 0, 6, NULL, 0, 0);
}

struct row {
    int64_t key, tie;
    size_t position;
};

static int as_the_page_orders(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (known(x->key) != known(y->key))
        return known(x->key) ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

/* Any page of any mixture of few and many different values, unknowns, filters and repeated ties is the slice of the sorted whole. */
static void pages_are_slices_of_the_sorted_whole(void **state)
{
    (void)state;
    enum { MOST = 400 };
    static int64_t key[MOST], tie[MOST];
    static unsigned char keep[MOST];
    static struct row rows[MOST];
    static size_t positions[MOST];
    srand(42);
    for (int round = 0; round < 3000; round++) {
        size_t count = (size_t)(rand() % MOST), kept = 0, known_count = 0;
        int kinds = 1 + rand() % (round % 3 ? 5 : 1000), tie_kinds = round % 5 ? 1000000 : 3, unknown_of_ten = rand() % 11;
        for (size_t i = 0; i < count; i++) {
            key[i] = rand() % 10 < unknown_of_ten ? U : rand() % kinds - kinds / 2;
            tie[i] = rand() % tie_kinds;
            keep[i] = rand() % 4 != 0;
            if (keep[i])
                rows[kept++] = (struct row){key[i], tie[i], i};
        }
        qsort(rows, kept, sizeof *rows, as_the_page_orders);
        while (known_count < kept && known(rows[known_count].key))
            known_count++;
        bool descending = rand() % 2;
        size_t offset = (size_t)(rand() % (MOST + 10)), limit = (size_t)(rand() % 60), written, total;
        if (round % 7 == 0)
            offset = 0, limit = MOST;
        assert_int_equal(task_page(key, tie, keep, count, descending, offset, limit, positions, &written, &total, NULL), ERR_OK);
        assert_int_equal(total, kept);
        size_t expected = offset < kept ? (limit < kept - offset ? limit : kept - offset) : 0;
        assert_int_equal(written, expected);
        for (size_t i = 0; i < written; i++) {
            size_t rank = offset + i;
            if (descending)
                rank = rank < known_count ? known_count - 1 - rank : kept - 1 - (rank - known_count);
            assert_int_equal(positions[i], rows[rank].position);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_put_unknowns_last_either_way),
        cmocka_unit_test(pages_are_slices_of_the_sorted_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
