/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/units.h"

/* Texts as Spark (TaskSchedulerImpl, HeartbeatReceiver, ExecutorAllocationManager), YarnAllocator and ExecutorPodsLifecycleManager write them. */
static const struct {
    const char *text, *reason;
    bool wanted;
} removals[] = {
    {"Executor heartbeat timed out after 130000 ms", "heartbeat timed out", false},
    {"Container killed by YARN for exceeding memory limits. 5.6 GB of 5.5 GB physical memory used.", "memory limit", false},
    {"Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used.", "memory limit", false}, /* since 3.0 */
    {"Container killed by YARN for exceeding virtual memory limits. 11.6 GB of 11.6 GB virtual memory used.", "memory limit", false},
    {"Container marked as failed: container_1 on host: h. Exit status: 137.", "killed (137)", false},
    {"Container marked as failed: container_1 on host: h. Exit status: 143.", "terminated (143)", false},
    {"Container container_1 on host h was preempted.", "preempted", false},
    {"The executor with id 4 exited with exit code 137 (SIGKILL, possible container OOM). The API gave: OOMKilled", "memory limit", false},
    {"Container from a bad node: container_1 on host: h. Exit status: 143. Diagnostics: Killed", "terminated (143)", false},
    {"Command exited with code 137", "killed (137)", false},
    {"worker lost: Not receiving heartbeat for 60 seconds at 10.0.137.143:7078", "heartbeat timed out", false},
    {"Remote RPC client at 10.137.0.143:7337 went away", "unknown", false}, /* no exit code: an address */
    {"worker lost: 10.59.184.228:46767 got disassociated", "disconnected", false},
    {"Command exited with code 52", "heap full", false}, /* Spark's own: an OutOfMemoryError that nobody caught */
    {"Command exited with code 53", "disk full", false},
    {"Command exited with code 56", "heartbeat timed out", false},
    {"Command exited with code 1", "unknown", false},
    {"Command exited with code 0", "unknown", true},
    {"Executor killed by driver.", "unknown", true},
    {"Container container_1 exited from explicit termination request.", "unknown", true},
    {"Executor decommission: spark scale down", "decommissioned", true},
    {"", "unknown", false},
};

static void removals_are_told_by_their_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(removals); i++) {
        assert_string_equal(executor_loss_reason(str_of(removals[i].text)), removals[i].reason);
        if (executor_loss_is_wanted(str_of(removals[i].text)) != removals[i].wanted)
            fail_msg("%s", removals[i].text);
    }
    assert_string_equal(executor_loss_reason(STR_NONE), "unknown");
    assert_false(executor_loss_is_wanted(STR_NONE));
}

/* Five seconds before the end belong to shutting down, where the log tells of an end. */
static void what_goes_with_the_application_is_not_lost(void **state)
{
    (void)state;
    struct str why = STR_LIT("Executor Process Lost");
    assert_true(executor_was_lost(false, 54999, why, 60000));
    assert_false(executor_was_lost(false, 55000, why, 60000));
    assert_true(executor_was_lost(false, 60000, why, UNKNOWN));
    assert_false(executor_was_lost(false, 60000, STR_LIT("Executor killed by driver."), UNKNOWN));
    assert_false(executor_was_lost(true, UNKNOWN, STR_NONE, UNKNOWN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(removals_are_told_by_their_words), cmocka_unit_test(what_goes_with_the_application_is_not_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
