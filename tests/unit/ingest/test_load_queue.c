/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "ingest/load_queue.h"

#define MIB ((int64_t)1 << 20)

static void push(struct load_queue *queue, int64_t id, int64_t bytes, int64_t modified_ms, int64_t wanted_ms, int64_t tries)
{
    const struct load_item item = {.log_id = id, .bytes = bytes, .modified_ms = modified_ms, .wanted_ms = wanted_ms, .tries = tries};
    assert_int_equal(load_queue_push(queue, &item, 0), 0);
}

static void expect_order(struct load_queue *queue, const int64_t *ids, size_t count)
{
    struct load_item item;
    for (size_t i = 0; i < count; i++) {
        assert_true(load_queue_pop(queue, &item));
        assert_int_equal(item.log_id, ids[i]);
    }
    assert_false(load_queue_pop(queue, &item));
    load_queue_dispose(queue);
}

static void wanted_then_small_then_new_then_dangerous(void **state)
{
    (void)state;
    struct load_queue queue = {0};
    push(&queue, 1, 2000 * MIB, 90, UNKNOWN, 0);
    push(&queue, 2, 20000, 10, UNKNOWN, 0);
    push(&queue, 3, 20000, 20, UNKNOWN, 0);
    push(&queue, 4, 10, 99, UNKNOWN, 1);
    push(&queue, 5, 3 * MIB, 1, UNKNOWN, 0);
    push(&queue, 6, 9000 * MIB, 1, 500, 0);
    push(&queue, 7, 5000 * MIB, 1, 600, 0);
    expect_order(&queue, (const int64_t[]){7, 6, 3, 2, 5, 1, 4}, 7);
}

static void logs_of_about_one_size_go_by_age(void **state)
{
    (void)state;
    struct load_queue queue = {0};
    push(&queue, 1, 70000, 10, UNKNOWN, 0);
    push(&queue, 2, 900000, 20, UNKNOWN, 0);    /* larger, but of the same class */
    push(&queue, 3, 0, 1, UNKNOWN, 0);
    expect_order(&queue, (const int64_t[]){3, 2, 1}, 3);
}

static void a_wish_moves_a_log_to_the_front(void **state)
{
    (void)state;
    struct load_queue queue = {0};
    for (int64_t id = 1; id <= 100; id++)
        push(&queue, id, 1, 1000 - id, UNKNOWN, 0);
    assert_true(load_queue_want(&queue, 77, 5));
    assert_false(load_queue_want(&queue, 101, 5));
    struct load_item item;
    assert_true(load_queue_pop(&queue, &item));
    assert_int_equal(item.log_id, 77);
    for (int64_t id = 1; id <= 100; id++)
        if (id != 77) {
            assert_true(load_queue_pop(&queue, &item));
            assert_int_equal(item.log_id, id);
        }
    load_queue_dispose(&queue);
}

static void what_is_not_due_lies_aside_until_it_is_or_is_wanted(void **state)
{
    (void)state;
    struct load_queue queue = {0};
    struct load_item item = {.log_id = 1, .wanted_ms = UNKNOWN, .due_ns = 100};
    assert_int_equal(load_queue_push(&queue, &item, 0), 0);
    item = (struct load_item){.log_id = 2, .wanted_ms = UNKNOWN, .due_ns = 300};
    assert_int_equal(load_queue_push(&queue, &item, 0), 0);
    assert_false(load_queue_pop(&queue, &item));
    assert_int_equal(load_queue_wake(&queue, 50), 100);
    assert_int_equal(load_queue_wake(&queue, 100), 300);
    assert_true(load_queue_pop(&queue, &item));
    assert_int_equal(item.log_id, 1);
    assert_true(load_queue_want(&queue, 2, 9));
    assert_int_equal(load_queue_wake(&queue, 101), INT64_MAX);
    assert_true(load_queue_pop(&queue, &item));
    assert_int_equal(item.log_id, 2);
    load_queue_dispose(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wanted_then_small_then_new_then_dangerous),
        cmocka_unit_test(logs_of_about_one_size_go_by_age),
        cmocka_unit_test(a_wish_moves_a_log_to_the_front),
        cmocka_unit_test(what_is_not_due_lies_aside_until_it_is_or_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
