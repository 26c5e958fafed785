/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"

/* A value that says which key it belongs to. */
static char cells[20000];

static void integers_are_found_again_in_insertion_order(void **state)
{
    (void)state;
    struct imap map;
    imap_init(&map, 20000);
    assert_null(imap_get(&map, 5));
    for (int64_t i = 0; i < 10000; i++)
        assert_int_equal(imap_put(&map, (i - 5000) * 1024, &cells[i]), 0);
    assert_int_equal(imap_put(&map, INT64_MIN, &cells[10000]), 0);
    for (int64_t i = 0; i < 10000; i++) {
        assert_ptr_equal(imap_get(&map, (i - 5000) * 1024), &cells[i]);
        assert_true(map.entries[i].key == (i - 5000) * 1024);
    }
    assert_ptr_equal(imap_get(&map, INT64_MIN), &cells[10000]);
    assert_null(imap_get(&map, 1));
    imap_dispose(&map);
}

static void putting_again_replaces(void **state)
{
    (void)state;
    struct imap map;
    imap_init(&map, 1);
    assert_int_equal(imap_put(&map, 7, &cells[1]), 0);
    assert_int_equal(imap_put(&map, 7, &cells[2]), 0);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(imap_get(&map, 7), &cells[2]);
    assert_int_equal(imap_put(&map, 8, &cells[3]), -1);
    imap_dispose(&map);
}

/* Against a plain array, so that a gap left by a removal cannot hide a key that was pushed past it. */
static void removal_never_hides_another_key(void **state)
{
    (void)state;
    struct imap map;
    imap_init(&map, 1000);
    void *expected[512] = {0};
    uint32_t seed = 1;
    for (int step = 0; step < 20000; step++) {
        seed = seed * 1664525 + 1013904223;
        size_t key = seed >> 23;
        if (seed & 1024) {
            assert_int_equal(imap_put(&map, (int64_t)key, &cells[step]), 0);
            expected[key] = &cells[step];
        } else {
            assert_ptr_equal(imap_remove(&map, (int64_t)key), expected[key]);
            expected[key] = NULL;
        }
        if (step % 100 == 0)
            for (size_t k = 0; k < ARRAY_LENGTH(expected); k++)
                assert_ptr_equal(imap_get(&map, (int64_t)k), expected[k]);
    }
    imap_clear(&map);
    for (size_t k = 0; k < ARRAY_LENGTH(expected); k++)
        assert_null(imap_get(&map, (int64_t)k));
    imap_dispose(&map);
}

static void texts_are_copied_keys(void **state)
{
    (void)state;
    struct smap map;
    smap_init(&map, 10000, 1 << 20);
    char key[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "executor %d", i);
        assert_int_equal(smap_put(&map, str_of(key), &cells[i]), 0);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "executor %d", i);
        assert_ptr_equal(smap_get(&map, str_of(key)), &cells[i]);
    }
    assert_null(smap_get(&map, STR_LIT("executor")));
    assert_null(smap_get(&map, STR_LIT("")));
    assert_int_equal(smap_put(&map, STR_NONE, &cells[1]), 0);
    assert_ptr_equal(smap_get(&map, STR_LIT("")), &cells[1]);
    smap_dispose(&map);
}

static void the_memory_of_keys_is_bounded(void **state)
{
    (void)state;
    struct smap map;
    smap_init(&map, 1000000, 8192);
    char key[32];
    int put = 0;
    do
        snprintf(key, sizeof key, "key %d", put);
    while (put < 100000 && !smap_put(&map, str_of(key), &cells[1]) && ++put);
    assert_in_range(put, 200, 512);
    assert_int_equal(map.count, put);
    assert_non_null(smap_get(&map, STR_LIT("key 0")));
    smap_dispose(&map);
}

static void every_failed_allocation_leaves_the_map_whole(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 40; nth++) {
        struct imap ints;
        struct smap texts;
        imap_init(&ints, 1000);
        smap_init(&texts, 1000, 1 << 20);
        int64_t put = 0, put_texts = 0;
        char key[32];
        mem_fail_at(nth, 0);
        while (put < 200 && !imap_put(&ints, put, &cells[put]))
            put++;
        for (snprintf(key, sizeof key, "0"); put_texts < 200 && !smap_put(&texts, str_of(key), &cells[put_texts]); snprintf(key, sizeof key, "%d", (int)put_texts))
            put_texts++;
        mem_fail_at(0, 0);
        for (int64_t i = 0; i < put; i++)
            assert_ptr_equal(imap_get(&ints, i), &cells[i]);
        for (int64_t i = 0; i < put_texts; i++) {
            snprintf(key, sizeof key, "%d", (int)i);
            assert_ptr_equal(smap_get(&texts, str_of(key)), &cells[i]);
        }
        assert_int_equal(imap_put(&ints, put, &cells[put]), 0);
        assert_ptr_equal(imap_get(&ints, put), &cells[put]);
        imap_dispose(&ints);
        smap_dispose(&texts);
    }
}

/* 20,000 keys whose hash_i64 ends in the same 24 bits, as a hostile log can have them (it is a bijection: these are hash_i64 taken back). Were places taken by what everybody knows,
 * each would go over all before it: 200 million steps, and a million keys hours. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

static int64_t hash_i64_back(uint64_t hash)
{
    uint64_t x = hash ^ hash >> 32;
    x *= inverse(0xBF58476D1CE4E5B9ULL);
    x ^= x >> 29 ^ x >> 58;
    x *= inverse(0x9E3779B97F4A7C15ULL);
    return (int64_t)(x ^ x >> 32);
}

static void hostile_keys_do_not_meet(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct imap map;
    imap_init(&map, COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        int64_t key = hash_i64_back((uint64_t)i << 24 | 5);
        assert_int_equal(hash_i64(key), i << 24 | 5);
        assert_int_equal(imap_put(&map, key, &cells[1]), 0);
    }
    size_t run = 0, longest = 0;
    for (size_t i = 0; i < map.slot_count; i++) {
        run = map.slots[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 1000);
    imap_dispose(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_found_again_in_insertion_order),
        cmocka_unit_test(putting_again_replaces),
        cmocka_unit_test(removal_never_hides_another_key),
        cmocka_unit_test(texts_are_copied_keys),
        cmocka_unit_test(the_memory_of_keys_is_bounded),
        cmocka_unit_test(every_failed_allocation_leaves_the_map_whole),
        cmocka_unit_test(hostile_keys_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
