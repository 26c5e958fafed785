/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    char *pieces[300];
    for (size_t i = 0; i < 300; i++) {
        pieces[i] = arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 0x7F), i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], i & 0x7F);
    arena_dispose(&arena);
}

static void the_maximum_holds_and_a_smaller_piece_may_still_fit(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 10000);
    assert_non_null(arena_alloc(&arena, 4000));
    assert_null(arena_alloc(&arena, 9000));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_zalloc(&arena, SIZE_MAX / 2, 3));
    assert_non_null(arena_alloc(&arena, 90));
    assert_true(arena_bytes(&arena) <= 10000);
    arena_dispose(&arena);
}

static void after_a_reset_the_first_block_is_used_again(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    char *first = arena_alloc(&arena, 100);
    for (int i = 0; i < 100; i++)
        assert_non_null(arena_alloc(&arena, 1000));
    size_t before = arena_bytes(&arena);
    arena_reset(&arena);
    assert_true(arena_bytes(&arena) < before);
    assert_ptr_equal(arena_alloc(&arena, 100), first);
    arena_dispose(&arena);
}

static void a_reset_arena_may_be_filled_to_its_maximum_again(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64 << 10);
    for (int round = 0; round < 50; round++) {
        size_t pieces = 0;
        while (arena_alloc(&arena, 1000))
            pieces++;
        assert_true(pieces >= 20);
        assert_true(arena_bytes(&arena) <= 64 << 10);
        arena_reset(&arena);
    }
    arena_dispose(&arena);
}

static void texts_are_copied_and_unknown_stays_unknown(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    char source[] = "stage";
    struct str copy, none = STR_LIT("x");
    assert_int_equal(arena_str(&arena, (struct str){source, 5}, &copy), 0);
    source[0] = 'X';
    assert_true(str_is(copy, "stage"));
    assert_int_equal(copy.ptr[5], '\0');
    assert_int_equal(arena_str(&arena, STR_NONE, &none), 0);
    assert_false(str_known(none));
    assert_string_equal(arena_printf(&arena, "%s-%d", "job", 12), "job-12");
    arena_dispose(&arena);
}

static void out_of_memory_is_null_and_leaves_the_arena_usable(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    mem_fail_at(1, 0);
    assert_null(arena_alloc(&arena, 10));
    mem_fail_at(0, 0);
    int *zeros = arena_zalloc(&arena, 100, sizeof *zeros);
    assert_non_null(zeros);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(the_maximum_holds_and_a_smaller_piece_may_still_fit),
        cmocka_unit_test(after_a_reset_the_first_block_is_used_again),
        cmocka_unit_test(a_reset_arena_may_be_filled_to_its_maximum_again),
        cmocka_unit_test(texts_are_copied_and_unknown_stays_unknown),
        cmocka_unit_test(out_of_memory_is_null_and_leaves_the_arena_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
