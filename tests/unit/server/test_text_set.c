/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/text_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct text_set set;

static int setup(void **state)
{
    (void)state;
    text_set_init(&set);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    text_set_dispose(&set);
    return 0;
}

static uint32_t add(const char *text)
{
    uint32_t id = 99;
    assert_int_equal(text_set_add(&set, str_of(text), &id), 0);
    return id;
}

static void equal_texts_have_one_id(void **state)
{
    (void)state;
    assert_int_equal(add("b"), 1);
    assert_int_equal(add("a"), 2);
    assert_int_equal(add("b"), 1);
    assert_int_equal(add(""), 3);
    assert_int_equal(add(NULL), 0);
    assert_int_equal(text_set_count(&set), 3);
    assert_int_equal(text_set_find(&set, STR_LIT("a")), 2);
    assert_int_equal(text_set_find(&set, STR_LIT("A")), 0);
    assert_int_equal(text_set_find(&set, STR_NONE), 0);
}

static void ranks_are_the_order_of_bytes_also_when_texts_come_later(void **state)
{
    (void)state;
    assert_int_equal(text_set_rank(&set), 0);
    assert_int_equal(set.rank[0], 0);
    uint32_t m = add("m"), z = add("Z"), e = add("\xC3\xA9");    /* é: above every letter of ASCII */
    assert_int_equal(text_set_rank(&set), 0);
    assert_int_equal(set.rank[z], 1);
    assert_int_equal(set.rank[m], 2);
    assert_int_equal(set.rank[e], 3);
    uint32_t mm = add("mm"), none = add(""), a = add("a");
    assert_int_equal(text_set_rank(&set), 0);
    const uint32_t order[] = {none, z, a, m, mm, e};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(set.rank[order[i]], i + 1);
}

static void many_texts_are_ranked(void **state)
{
    (void)state;
    char text[16];
    for (int i = 0; i < 1000; i++) {             /* a permutation of 000 … 999, ranked now and then */
        snprintf(text, sizeof text, "%03d", i * 7919 % 1000);
        add(text);
        if (i % 97 == 0)
            assert_int_equal(text_set_rank(&set), 0);
    }
    assert_int_equal(text_set_rank(&set), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(set.rank[i + 1], i * 7919 % 1000 + 1);
}

static void expect_found(struct str part, const char *found)
{
    uint8_t out[16];
    assert_int_equal(text_set_search(&set, part, out), 0);
    assert_int_equal(out[0], 0);
    for (size_t i = 0; found[i]; i++)
        assert_int_equal(out[i + 1], found[i] - '0');
}

static void a_search_finds_parts_in_either_case(void **state)
{
    (void)state;
    expect_found(STR_LIT("x"), "");
    add("Daily Report");
    add("daily");
    add("");
    add("\xC3\x89t\xC3\xA9");                        /* Été */
    add("port");
    expect_found(STR_LIT("DAILY"), "11000");
    expect_found(STR_LIT("port"), "10001");
    expect_found(STR_LIT("y r"), "10000");
    expect_found(STR_LIT("daily report!"), "00000");
    expect_found(STR_LIT("\xC3\xA9"), "00010");
    expect_found(STR_LIT("\xC3\xA9T"), "00000");
    expect_found(STR_LIT("ly"), "11000");
}

/* One text after another in memory: nothing may be found across their borders. */
static void a_search_stays_within_a_text(void **state)
{
    (void)state;
    add("ab");
    add("cd");
    expect_found(STR_LIT("bc"), "00");
    expect_found(STR_LIT("b\0c"), "00");
    expect_found(STR_LIT("b\0"), "00");
    expect_found(STR_LIT("cd"), "01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_texts_have_one_id, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_are_the_order_of_bytes_also_when_texts_come_later, setup, teardown),
        cmocka_unit_test_setup_teardown(many_texts_are_ranked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_search_finds_parts_in_either_case, setup, teardown),
        cmocka_unit_test_setup_teardown(a_search_stays_within_a_text, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
