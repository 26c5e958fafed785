/* SPDX-License-Identifier: Apache-2.0 */
#include "base/beside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct job {
    int times;
    pthread_t by;
};

static void work(void *context)
{
    struct job *job = context;
    job->times++;
    job->by = pthread_self();
}

static void the_work_is_done_once_by_another_thread(void **state)
{
    (void)state;
    struct job job = {0};
    struct beside beside;
    beside_start(&beside, true, work, &job);
    beside_join(&beside);
    assert_int_equal(job.times, 1);
    assert_false(pthread_equal(job.by, pthread_self()));
}

static void what_is_not_worth_a_thread_is_done_when_it_is_waited_for(void **state)
{
    (void)state;
    struct job job = {0};
    struct beside beside;
    beside_start(&beside, false, work, &job);
    assert_int_equal(job.times, 0);
    beside_join(&beside);
    assert_int_equal(job.times, 1);
    assert_true(pthread_equal(job.by, pthread_self()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_work_is_done_once_by_another_thread),
        cmocka_unit_test(what_is_not_worth_a_thread_is_done_when_it_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
