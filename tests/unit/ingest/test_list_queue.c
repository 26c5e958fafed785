/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/list_queue.h"

static void push(struct list_queue *q, int64_t log_id)
{
    assert_int_equal(list_queue_push(q, &(struct load_item){.log_id = log_id, .wanted_ms = UNKNOWN}), 0);
}

static int64_t pop(struct list_queue *q)
{
    int64_t log_id = list_queue_first(q)->log_id;
    list_queue_pop(q);
    return log_id;
}

static void logs_come_out_as_they_came_also_when_the_ring_grows_or_cannot(void **state)
{
    (void)state;
    struct list_queue q = {0};
    int64_t next_in = 1, next_out = 1;
    for (int round = 0; round < 50; round++) {       /* three in, two out: the first moves on while the ring fills */
        for (int i = 0; i < 3; i++)
            push(&q, next_in++);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pop(&q), next_out++);
    }
    assert_int_equal(q.count, 50);
    while (q.count < q.capacity)
        push(&q, next_in++);
    mem_fail_at(1, 0);
    assert_int_equal(list_queue_push(&q, &(struct load_item){.log_id = 9999}), -1);
    mem_fail_at(0, 0);
    for (int i = 0; i < 100; i++)
        push(&q, next_in++);
    while (q.count)
        assert_int_equal(pop(&q), next_out++);
    assert_int_equal(next_out, next_in);
    list_queue_dispose(&q);
}

static void a_wanted_log_is_first_with_its_wish_and_the_others_keep_their_order(void **state)
{
    (void)state;
    struct list_queue q = {0};
    for (int64_t id = 1; id <= 64; id++)
        push(&q, id);
    for (int64_t id = 1; id <= 60; id++)
        assert_int_equal(pop(&q), id);
    for (int64_t id = 65; id <= 67; id++)
        push(&q, id);                                /* past the end of the ring */
    list_queue_want(&q, 66, 5000);
    list_queue_want(&q, 9, 6000);                    /* not in here */
    assert_int_equal(list_queue_first(&q)->wanted_ms, 5000);
    static const int64_t left[] = {66, 61, 62, 63, 64, 65, 67};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        assert_true(i == 0 || !known(list_queue_first(&q)->wanted_ms));
        assert_int_equal(pop(&q), left[i]);
    }
    assert_int_equal(q.count, 0);
    list_queue_dispose(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_come_out_as_they_came_also_when_the_ring_grows_or_cannot),
        cmocka_unit_test(a_wanted_log_is_first_with_its_wish_and_the_others_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
