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
    snippet_fill(&out, snippet_find(str_of(id)), LANG_EN, args, count);
    assert_non_null(strstr(out.data, expected));
}

/* Each comment has a text in both languages and each text a place; in Chinese the code is the same but for its comments. */
static void comments_are_in_the_language_of_the_reader(void **state)
{
    size_t text_count, marks = 1 /* in_python */, texts = 0;
    const struct message *all = messages_all(LANG_EN, &text_count);
    CLEANUP(buf_dispose) struct buf zh;
    (void)state;
    buf_init(&zh, 1 << 16);
    for (size_t i = 0; i < text_count; i++)
        texts += strncmp(all[i].path, "snippet_comments/", 17) == 0;
    for (size_t i = 0; i < snippet_count; i++)
        for (const char *p = snippets[i].code; (p = strstr(p, "{#")) != NULL; p++) {
            char entry[60];
            int digits = (int)strcspn(p + 2, "}");
            snprintf(entry, sizeof entry, "%s%s%.*s", snippets[i].id, digits ? "_" : "", digits, p + 2);
            marks++;
            for (int lang = 0; lang < LANG_COUNT; lang++)
                if (!message((enum lang)lang, "snippet_comments", str_of(entry), NULL))
                    fail_msg("%s: no text of %s", lang_names[lang], entry);
        }
    assert_int_equal(texts, marks);
    const struct word_arg ideal = {.name = STR_LIT("ideal"), .value = 24, .unit = STR_LIT("count")};
    assert_filled("SHUFPART", &ideal, 1, "SET spark.sql.shuffle.partitions=24;     -- for RDDs: spark.default.parallelism, or reduceByKey(f, 24)");
    snippet_fill(&zh, snippet_find(STR_LIT("SHUFPART")), LANG_ZH_CN, &ideal, 1);
    assert_string_equal(zh.data, "SET spark.sql.shuffle.partitions=24;     -- RDD 用 spark.default.parallelism，或 reduceByKey(f, 24)");
    buf_clear(&zh);
    snippet_fill(&zh, snippet_find(STR_LIT("KRYO")), LANG_ZH_CN, NULL, 0);
    assert_non_null(strstr(zh.data, "\n# 在 Python 中：SparkSession.builder\n#     .config('spark.serializer', "));
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
        cmocka_unit_test(gives_settings_in_python_too), cmocka_unit_test(comments_are_in_the_language_of_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
