/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/pick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static struct pick pick;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pick_dispose(&pick);
    arena_dispose(&arena);
    return 0;
}

static void offer_number(int64_t id, bool is_known, int64_t number)
{
    assert_int_equal(pick_offer(&pick, &(struct pick_row){.id = id, .known = is_known, .number = number}, NULL), ERR_OK);
}

static void offer_text(int64_t id, const char *text)
{
    char copy[16] = {0};
    struct str value = str_of(text);
    if (text)
        memcpy(copy, text, value.len);
    assert_int_equal(pick_offer(&pick, &(struct pick_row){.id = id, .known = text != NULL, .text = text ? (struct str){copy, value.len} : STR_NONE}, NULL), ERR_OK);
}

static void expect(const int64_t *ids, size_t count)
{
    pick_sort(&pick);
    assert_int_equal(pick.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pick.rows[i].id, ids[i]);
}

static void keeps_the_best_of_many(void **state)
{
    (void)state;
    pick_init(&pick, 5, false, &arena);
    for (int64_t i = 0; i < 1000; i++)
        offer_number(i, true, i * 7919 % 1000); /* a permutation of 0 … 999 */
    assert_int_equal(pick.offered, 1000);
    pick_sort(&pick);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(pick.rows[i].number, i);
}

static void unknown_is_last_either_way_and_ids_decide_ties(void **state)
{
    (void)state;
    for (int descending = 0; descending < 2; descending++) {
        pick_dispose(&pick);
        pick_init(&pick, 10, descending, &arena);
        offer_number(1, false, 0);
        offer_number(2, true, 5);
        offer_number(3, true, INT64_MAX);
        offer_number(4, true, 5);
        offer_number(5, false, 0);
        expect(descending ? (int64_t[]){3, 4, 2, 5, 1} : (int64_t[]){2, 4, 3, 1, 5}, 5);
    }
}

static void texts_are_kept_beyond_the_call(void **state)
{
    (void)state;
    pick_init(&pick, 3, true, &arena);
    offer_text(1, "b");
    offer_text(2, NULL);
    offer_text(3, "");
    offer_text(4, "ab");
    offer_text(5, "c");
    expect((int64_t[]){5, 1, 4}, 3);
    assert_true(str_is(pick.rows[2].text, "ab"));
}

static void nothing_wanted_is_only_counted(void **state)
{
    (void)state;
    pick_init(&pick, 0, false, &arena);
    offer_number(1, true, 1);
    expect(NULL, 0);
    assert_int_equal(pick.offered, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_the_best_of_many, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_is_last_either_way_and_ids_decide_ties, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_are_kept_beyond_the_call, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_wanted_is_only_counted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
