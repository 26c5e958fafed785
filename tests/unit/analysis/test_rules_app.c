/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules about the whole application (spec/findings.md 7.1). */
#include "analysed_app.h"

/* Eight tasks of 4 s on two slots from 2 s on, and with four slots. The time before the job is the same. */
static void twice_the_slots_save_half_of_the_work(void **state)
{
    (void)state;
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.save.v' FROM finding WHERE rule_id = 'APP.SCALING'"), 8000.0);
    assert_near(measure("APP.SCALING", "-"), (60000.0 - 8000) / 60000);
}

/* 0 is no heap and 10^300 no share of it: Spark's own are taken, (1024 − 300) MiB × 0.6 for two slots. */
static void memory_that_cannot_be_is_not_set(void **state)
{
    (void)state;
    add_setting("spark.executor.memory", "0");
    add_setting("spark.memory.fraction", "1e300");
    run_stage(0, 2, 2, 4000, UNKNOWN);
    app_tasks[0].input_bytes = 2 * GIB;
    analyse_app();
    assert_near(measure("STAGE.BIG_PARTITION", "0.0"), 2048 / (724 * 0.6 / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(twice_the_slots_save_half_of_the_work),
        TEST(memory_that_cannot_be_is_not_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
