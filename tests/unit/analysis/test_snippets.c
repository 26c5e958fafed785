/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/snippets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/finding.h"
#include "analysis/messages.h"
#include "base/attributes.h"

static void has_every_fix_of_every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < rule_count; i++)
        for (const char *p = rules[i].fixes; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " ");
            if (!snippet_find((struct str){p, len}))
                fail_msg("%s names %.*s, which is no snippet", rules[i].id, (int)len, p);
            p += len;
        }
}

static void has_a_title_for_each_in_both_languages(void **state)
{
    (void)state;
    for (size_t i = 0; i < snippet_count; i++)
        for (int lang = 0; lang < LANG_COUNT; lang++)
            assert_non_null(message((enum lang)lang, "snippets", str_of(snippets[i].id), NULL));
}

static void assert_filled(const char *id, const struct word_arg *args, size_t count, const char *expected)
{
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, 1 << 16);
    snippet_fill(&out, snippet_find(str_of(id)), args, count);
    assert_non_null(strstr(out.data, expected));
}

static void fills_numbers_whole(void **state)
{
    const struct word_arg ideal = {.name = STR_LIT("ideal"), .value = 23.2, .unit = STR_LIT("count")};
    (void)state;
    assert_filled("SHUFPART", &ideal, 1, "spark.sql.shuffle.partitions=24;");
    assert_filled("SHUFPART", NULL, 0, "spark.sql.shuffle.partitions=<ideal>;");
    const struct word_arg unknown = {.name = STR_LIT("ideal"), .value = (double)NAN, .unit = STR_LIT("count")};
    assert_filled("SHUFPART", &unknown, 1, "spark.sql.shuffle.partitions=<ideal>;");
}

static void fills_names_and_nothing_that_could_run(void **state)
{
    const struct word_arg good = {.name = STR_LIT("key"), .text = STR_LIT("customer_id")};
    static const char *const bad[] = {"a'); import os; os.system('x", "$(reboot)", "", "--conf", "a b", "k\n"};
    (void)state;
    assert_filled("WINDOW_PART", &good, 1, "PARTITION BY customer_id ");
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        const struct word_arg arg = {.name = STR_LIT("key"), .text = str_of(bad[i]), .value = (double)NAN};
        assert_filled("WINDOW_PART", &arg, 1, "PARTITION BY <key> ");
    }
}

static void gives_settings_in_python_too(void **state)
{
    (void)state;
    assert_filled(
        "AQE_ON", NULL, 0,
        "=128m\n# in Python: SparkSession.builder\n#     .config('spark.sql.adaptive.enabled', 'true')\n#     .config('spark.sql.adaptive.coalescePartitions.enabled', 'true')\n"
        "#     .config('spark.sql.adaptive.advisoryPartitionSizeInBytes', '128m')");
    assert_filled("STATIC", NULL, 0, "--num-executors <executors>\n# in Python: SparkSession.builder\n#     .config('spark.dynamicAllocation.enabled', 'false')");
    assert_filled("G1", NULL, 0, ".config('spark.executor.extraJavaOptions', '-XX:+UseG1GC -XX:InitiatingHeapOccupancyPercent=35')");
    assert_filled("SERVICE", NULL, 0, "\n#     .config('spark.shuffle.service.enabled', 'true')\n#     .config('spark.reducer.maxSizeInFlight', '96m')"); /* without Kubernetes' */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_fix_of_every_rule),  cmocka_unit_test(has_a_title_for_each_in_both_languages),
        cmocka_unit_test(fills_numbers_whole),          cmocka_unit_test(fills_names_and_nothing_that_could_run),
        cmocka_unit_test(gives_settings_in_python_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
