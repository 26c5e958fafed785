/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/attributes.h"

struct given {
    const char *key, *value;
};

static struct str lookup(void *context, const char *key)
{
    for (const struct given *given = context; given && given->key; given++)
        if (strcmp(given->key, key) == 0)
            return str_of(given->value);
    return STR_NONE;
}

static void assert_key(struct given *given, const char *name, const char *user, const char *command, const char *key, const char *source)
{
    struct buf out;
    buf_init(&out, 65536);
    assert_string_equal(run_key_make(&out, lookup, given, str_of(name), str_of(user), str_of(command)), source);
    assert_string_equal(out.data ? out.data : "", key);
    buf_dispose(&out);
}

static void takes_what_a_scheduler_says_first(void **state)
{
    struct given own[] = {{"spark.afterglow.job", "daily"}, {"spark.airflow.dag_id", "d"}, {"spark.airflow.task_id", "t"}, {NULL, NULL}};
    struct given airflow[] = {{"spark.airflow.dag_id", "sales"}, {"spark.airflow.task_id", "load"}, {NULL, NULL}};
    struct given half[] = {{"spark.airflow.dag_id", "sales"}, {NULL, NULL}};
    struct given tags[] = {{"spark.yarn.tags", "a, job:nightly 7 ,b"}, {NULL, NULL}};
    struct given several[] = {{"spark.databricks.job.id", "9"}, {"spark.oozie.action.id", "0000012-261129061100123-oozie-oozi-W@load"}, {"spark.job.tags", "job:b"}, {NULL, NULL}};
    struct given schedulers[] = {{"spark.databricks.job.id", "9"}, {"spark.oozie.action.id", "0000012-261129061100123-oozie-oozi-W@load"}, {NULL, NULL}};
    struct given oozie[] = {{"spark.oozie.action.id", "0000012-261129061100123-oozie-oozi-W@load"}, {NULL, NULL}};
    struct given databricks[] = {{"spark.databricks.clusterUsageTags.clusterName", "job-123-run-456"}, {NULL, NULL}};
    (void)state;
    assert_key(own, "x", "u", NULL, "spark.afterglow.job=daily", "spark.afterglow.job");
    assert_key(airflow, "x", "u", NULL, "spark.airflow.dag_id=sales/load", "spark.airflow.dag_id");
    assert_key(half, "x", "u", NULL, "x|u|", "name");
    assert_key(tags, "x", "u", NULL, "job:nightly 7 ", "spark.yarn.tags");
    assert_key(several, "x", "u", NULL, "job:b", "spark.job.tags");
    assert_key(schedulers, "x", "u", NULL, "spark.oozie.action.id=#-oozie-oozi-w@load", "spark.oozie.action.id");
    assert_key(oozie, "x", "u", NULL, "spark.oozie.action.id=#-oozie-oozi-w@load", "spark.oozie.action.id");
    assert_key(databricks, "x", "u", NULL, "job-123", "spark.databricks.clusterUsageTags.clusterName");
}

static void takes_name_user_and_program_then(void **state)
{
    (void)state;
    assert_key(NULL, "Nightly 2026-11-29", "etl", "org.apache.spark.deploy.SparkSubmit --master yarn --class com.shop.Sales --jars a.jar b.jar", "nightly #|etl|com.shop.sales",
               "name");
    assert_key(NULL, "n", "etl", "org.apache.spark.deploy.SparkSubmit --conf spark.x=1 --py-files lib.py /jobs/sales.py 2026-11-29", "n|etl|sales.py", "name");
    assert_key(NULL, "n", NULL, NULL, "n||", "name");
}

static void gives_shells_no_key(void **state)
{
    static const char *const names[] = {"Spark shell", "Spark SQL::10.0.0.1", "PySparkShell", "Zeppelin", "jupyter-notebook", "", "   ", "12345", NULL};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        assert_key(NULL, names[i], "u", NULL, "", "none");
}

static void cuts_a_key_of_any_length(void **state)
{
    static char name[4096];
    struct buf out;
    (void)state;
    memset(name, 'x', sizeof name - 1);
    buf_init(&out, 65536);
    run_key_make(&out, lookup, NULL, str_of(name), str_of("u"), STR_NONE);
    assert_int_equal(out.len, RUN_KEY_MAX_BYTES);
    buf_dispose(&out);
}

struct pair {
    int64_t fingerprint, ms;
};
#define SHAPE(array) ((struct str){(const char *)(array), sizeof(array)})

static void shapes_overlap_by_time_in_common_stages(void **state)
{
    const struct pair a[] = {{1, 6000}, {2, 4000}}, b[] = {{1, 3000}, {3, 1000}}, other[] = {{7, 5}};
    (void)state;
    /* in common: 6 + 3 s; all: 14 s */
    assert_float_equal(shape_overlap(SHAPE(a), SHAPE(b)), 9.0 / 14, 1e-9);
    assert_float_equal(shape_overlap(SHAPE(a), SHAPE(a)), 1, 0);
    assert_float_equal(shape_overlap(SHAPE(a), SHAPE(other)), 0, 0);
    assert_float_equal(shape_overlap(STR_NONE, STR_NONE), 1, 0);
    assert_float_equal(shape_overlap(SHAPE(a), STR_LIT("damaged")), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_a_scheduler_says_first), cmocka_unit_test(takes_name_user_and_program_then),        cmocka_unit_test(gives_shells_no_key),
        cmocka_unit_test(cuts_a_key_of_any_length),          cmocka_unit_test(shapes_overlap_by_time_in_common_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
