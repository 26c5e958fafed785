/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/attributes.h"

static const char *cleaned(void (*clean)(struct buf *, struct str), const char *text)
{
    static struct buf out;
    buf_dispose(&out);
    buf_init(&out, 65536);
    clean(&out, str_of(text));
    return out.data ? out.data : "";
}

static void names_lose_dates_times_and_ids(void **state)
{
    static const char *const table[][2] = {
        {"nightly_sales", "nightly_sales"},
        {"Load 2026-11-29_04:30 part 1024", "load # part #"},
        {"Load 20261129", "load #"},
        {"etl-2026/11/29", "etl-#"},
        {"etl_2026-11-29T04:30:00.123", "etl_#"},
        {"run 13:05:59", "run #"},
        {"run2026", "run#"},
        {"job 12", "job 12"},
        {"job 123", "job #"},
        {"x 123 456", "x #"},
        {"x-123-456_789", "x-#"},
        {"task 550e8400-e29b-41d4-a716-446655440000 end", "task # end"},
        {"build deadbeef01", "build #"},
        {"feedbacc", "feedbacc"}, /* hex, yet a word */
        {"v2 of 3", "v2 of 3"},
        {"", ""},
        {"每日 2026-11-29", "每日 #"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        assert_string_equal(cleaned(clean_name, table[i][0]), table[i][1]);
}

static void plans_lose_ids_numbers_and_places(void **state)
{
    static const char *const table[][2] = {
        {"HashAggregate(keys=[city#10], functions=[sum(price#3), sum(length(receipt#2))])", "HashAggregate(keys=[city#], functions=[sum(price#), sum(length(receipt#))])"},
        {"Filter isnotnull(store#1L)", "Filter isnotnull(store#)"},
        {"Exchange hashpartitioning(city#10, 16), ENSURE_REQUIREMENTS, [plan_id=40]", "Exchange hashpartitioning(city#, ?), ENSURE_REQUIREMENTS, [plan_id=?]"},
        {"BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]),false), [id=#35]",
         "BroadcastExchange HashedRelationBroadcastMode(List(input[?, bigint, false]),false), [id=#]"},
        {"WholeStageCodegen (12)", "WholeStageCodegen (?)"},
        {"BatchEvalPython [<lambda>(id#0L)#2L], [pythonUDF0#12]", "BatchEvalPython [<lambda>(id#)#], [pythonUDF#]"},
        {"Range (0, 2000000, step=1, splits=8)", "Range (?, ?, step=?, splits=?)"},
        {"Filter (day#7 = 2026-11-29)", "Filter (day# = ?)"},
        {"Filter (t#7 > 2026-11-29 04:30:00.0)", "Filter (t# > ?)"},
        {"Filter (x#7 > -1.5E10)", "Filter (x# > ?)"},
        {"Filter (col1#7 = 5)", "Filter (col1# = ?)"},
        {"SubqueryAlias tmp_view_1699999", "SubqueryAlias tmp_view_?"},
        {"SubqueryAlias view_550e8400_e29b_41d4_a716_446655440000", "SubqueryAlias view_?"},
        {"Location: InMemoryFileIndex(1 paths)[hdfs://nn:8020/data/sales/orders/dt=2026-11-29]", "Location: InMemoryFileIndex(? paths)[orders/dt=*]"},
        {"Location: InMemoryFileIndex(1 paths)[file:/srv/spark/da...", "Location: InMemoryFileIndex(? paths)[spark/*"},
        {"[s3a://bucket/raw/2026/11/29/part-00000.parquet]", "[*/*]"},
        {"[s3a://bucket/raw/orders/2026-11-29]", "[orders/*]"},
        {"Format: Parquet, a / b", "Format: Parquet, a / b"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        assert_string_equal(cleaned(clean_plan, table[i][0]), table[i][1]);
}

static void call_sites_have_no_lines(void **state)
{
    static const char spark_frames[] = "org.apache.spark.rdd.RDD.collect(RDD.scala:1049)\n"
                                       "java.base/java.lang.Thread.run(Thread.java:840)\n";
    char details[512];
    static const struct {
        const char *name, *frame, *site;
    } table[] = {
        {"collect at Main.scala:12", "com.shop.Main$.run(Main.scala:12)", "Main.scala|collect"},
        {"collect at Main.scala:99", "com.shop.Main$.run(Main.scala:99)", "Main.scala|collect"},
        {"count at X.java:1", "com.shop.X.go(Unknown Source)", "com.shop.X|count"},
        {"collect at /srv/jobs/workloads.py:375", "", "workloads.py|collect"},
        {"parquet at NativeMethodAccessorImpl.java:0", "", "|parquet"},
        {"no place at all", "", "|no place at all"},
        {"show at <console>:23", "$line12.$read$$iw.<init>(<console>:23)", "<console>|show"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        struct buf out;
        buf_init(&out, 4096);
        snprintf(details, sizeof details, "%s%s", spark_frames, table[i].frame);
        clean_call_site(&out, str_of(table[i].name), str_of(details));
        assert_string_equal(out.data, table[i].site);
        buf_dispose(&out);
    }
    assert_true(str_is(call_site_verb(str_of("collect at job.py:37")), "collect"));
    assert_true(str_is(call_site_verb(str_of("look at me")), "look at me"));
}

/* Whatever is in a log: no read past its end (the sanitizers look), no growth beyond a few times its length. */
static void survives_any_bytes(void **state)
{
    static const char alphabet[] = "#L0129-:/_.aef[](){}=T \\\xff\x80\"'e+";
    unsigned seed = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[40];
        size_t len = (size_t)(round % 40);
        struct buf out;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1103515245U + 12345U;
            text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        char *exact = malloc(len ? len : 1);
        memcpy(exact, text, len);
        buf_init(&out, 4096);
        clean_plan(&out, (struct str){exact, len});
        clean_name(&out, (struct str){exact, len});
        clean_call_site(&out, (struct str){exact, len}, (struct str){exact, len});
        assert_false(buf_failed(&out));
        assert_true(out.len <= 8 * len + 8);
        buf_dispose(&out);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_dates_times_and_ids),
        cmocka_unit_test(plans_lose_ids_numbers_and_places),
        cmocka_unit_test(call_sites_have_no_lines),
        cmocka_unit_test(survives_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
