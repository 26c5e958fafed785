/* SPDX-License-Identifier: Apache-2.0 */
#include "base/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ITEMS 20000

static char cells[ITEMS];

static void *produce(void *context)
{
    struct queue *queue = context;
    for (int i = 0; i < ITEMS; i++)
        if (!queue_push(queue, &cells[i]))
            return &cells[i];
    queue_close(queue);
    return NULL;
}

static void all_items_arrive_in_order(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue, 3);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, &queue), 0);
    for (int i = 0; i < ITEMS; i++)
        assert_ptr_equal(queue_pop(&queue), &cells[i]);
    assert_null(queue_pop(&queue));
    void *refused;
    pthread_join(producer, &refused);
    assert_null(refused);
    queue_dispose(&queue);
}

/* The consumer gives up: the producer, which waits for room, must wake and keep its item. */
static void closing_wakes_a_waiting_producer(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue, 2);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, &queue), 0);
    assert_ptr_equal(queue_pop(&queue), &cells[0]);
    queue_close(&queue);
    void *refused;
    pthread_join(producer, &refused);
    assert_non_null(refused);
    queue_dispose(&queue);
}

static void *pop_one(void *context)
{
    return queue_pop(context);
}

static void closing_wakes_a_waiting_consumer(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue, 1);
    pthread_t consumer;
    assert_int_equal(pthread_create(&consumer, NULL, pop_one, &queue), 0);
    queue_close(&queue);
    void *item = &queue;
    pthread_join(consumer, &item);
    assert_null(item);
    queue_dispose(&queue);
}

static void what_is_left_comes_out_of_a_closed_queue(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue, QUEUE_MAX);
    for (int i = 0; i < QUEUE_MAX; i++)
        assert_true(queue_push(&queue, &cells[i]));
    queue_close(&queue);
    assert_false(queue_push(&queue, &cells[99]));
    for (int i = 0; i < QUEUE_MAX; i++)
        assert_ptr_equal(queue_pop(&queue), &cells[i]);
    assert_null(queue_pop(&queue));
    queue_dispose(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_arrive_in_order),
        cmocka_unit_test(closing_wakes_a_waiting_producer),
        cmocka_unit_test(closing_wakes_a_waiting_consumer),
        cmocka_unit_test(what_is_left_comes_out_of_a_closed_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
