/* SPDX-License-Identifier: Apache-2.0
 *
 * Lost attempts are picked out of batches that come in the order of ends, and lie by attempt afterwards. */
#include "analysis/lost_tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/attributes.h"

static void lost_attempts_are_picked_and_sorted(void **state UNUSED)
{
    /* Two stages of three: winners at 0 and 4; the rest is lost. */
    struct attempt attempts[6] = {{.kind = WINNER}, {.kind = LOST_FAILED}, {.kind = LOST_FETCH}, {.kind = LOST_EXECUTOR}, {.kind = WINNER}, {.kind = LOST_SPECULATIVE}};
    struct stage_fact stages[3] = {{.first_attempt = 0, .attempt_count = 3, .winner_count = 1}, {.first_attempt = 3, .attempt_count = 3, .winner_count = 1}, {.first_attempt = 6}};
    struct facts facts = {.attempts = attempts, .attempt_count = 6, .stages = stages, .stage_count = 3};
    int64_t texts[] = {12, 10, 11}, input[] = {200, UNKNOWN, 100}, read[] = {20, 0, UNKNOWN};
    struct task_values values = {.count = 3, .of = {[VALUE_ERROR_TEXT_ID] = texts, [VALUE_INPUT_BYTES] = input, [VALUE_SHUFFLE_READ_BYTES] = read}};
    const uint32_t places[] = {2, 0, 1};
    struct lost_tasks lost = {0};
    struct err err;

    for (uint32_t stage = 0; stage < 2; stage++) {
        assert_true(stage_loses_work(&stages[stage]));
        assert_int_equal(lost_tasks_add(&lost, &facts, stage, &values, places, &err), ERR_OK);
        lost_tasks_end_stage(&lost, &facts, stage);
    }
    assert_false(stage_loses_work(&stages[2]));

    static const struct lost_task expected[] = {{1, 11, 100, UNKNOWN}, {2, 12, 200, 20}, {3, 10, UNKNOWN, 0}, {5, 12, 200, 20}};
    assert_int_equal(lost.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(lost.items[i].attempt, expected[i].attempt);
        assert_int_equal(lost.items[i].error_text_id, expected[i].error_text_id);
        assert_int_equal(lost.items[i].input_bytes, expected[i].input_bytes);
        assert_int_equal(lost.items[i].shuffle_read_bytes, expected[i].shuffle_read_bytes);
    }
    assert_int_equal(lost_tasks_of(&lost, &stages[0]).count, 2);
    assert_int_equal(lost_tasks_of(&lost, &stages[1]).count, 2);
    assert_int_equal(lost_tasks_of(&lost, &stages[1]).items[0].attempt, 3);
    assert_int_equal(lost_tasks_of(&lost, &stages[2]).count, 0);
    lost_tasks_dispose(&lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lost_attempts_are_picked_and_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
