/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "base/process_usage.h"
#include "base/units.h"

static void a_time_is_counted_up_to_its_bound(void **state)
{
    (void)state;
    static const int64_t bounds[TIME_BUCKETS] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    static const int64_t times[] = {0, 10, 11, 20, 99, 100, 101, 1000000};
    struct time_counts counts = {0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        time_counts_add(&counts, bounds, times[i]);
    static const int64_t expected[TIME_BUCKETS + 1] = {2, 2, 0, 0, 0, 0, 0, 0, 0, 2, 2};
    for (size_t i = 0; i <= TIME_BUCKETS; i++)
        assert_int_equal(atomic_load(&counts.counts[i]), expected[i]);
    assert_int_equal(atomic_load(&counts.sum_us), 0 + 10 + 11 + 20 + 99 + 100 + 101 + 1000000);
}

static void processes_count_on_one_after_the_other(void **state)
{
    (void)state;
    struct worker_counts *counts;
    int fd;
    assert_int_equal(worker_counts_new(&counts, &fd, NULL), ERR_OK);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct worker_counts *mine = worker_counts_open(fd);
            if (!mine)
                _exit(1);
            atomic_fetch_add(&mine->load_ends[LOAD_END_LOADED], 2);
            abort();
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
    }
    assert_int_equal(atomic_load(&counts->load_ends[LOAD_END_LOADED]), 6);
    worker_counts_free(counts, fd);
}

static void what_is_of_another_form_is_left_alone(void **state)
{
    (void)state;
    struct worker_counts *counts;
    int fd, ends[2];
    assert_int_equal(worker_counts_new(&counts, &fd, NULL), ERR_OK);
    counts->form++;
    assert_null(worker_counts_open(fd));
    worker_counts_free(counts, fd);
    assert_null(worker_counts_open(-1));
    assert_int_equal(pipe(ends), 0);
    assert_null(worker_counts_open(ends[0]));
    close(ends[0]);
    close(ends[1]);
}

static void a_process_uses_something(void **state)
{
    (void)state;
    struct process_usage usage;
    process_usage(getpid(), &usage);
    assert_true(usage.resident_bytes > 100000 && usage.resident_bytes < ((int64_t)1 << 42));
    assert_int_equal(usage.thread_count, 1);
    assert_true(usage.open_file_count >= 3);
    assert_true(usage.cpu_ms >= 0);
    process_usage(0x7FFFFFFF, &usage);
    assert_false(known(usage.resident_bytes) || known(usage.thread_count) || known(usage.open_file_count) || known(usage.cpu_ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_time_is_counted_up_to_its_bound), cmocka_unit_test(processes_count_on_one_after_the_other),
                                       cmocka_unit_test(what_is_of_another_form_is_left_alone), cmocka_unit_test(a_process_uses_something)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
