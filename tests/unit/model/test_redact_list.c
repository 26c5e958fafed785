/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void values_of_secret_keys_and_secret_values_are_hidden_whole_others_in_part(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *wanted;
    } cases[] = {
        {"spark.hadoop.fs.s3a.secret.key", "hunter2", "*********(redacted)"},
        {"sun.java.command", "org.apache.spark.deploy.SparkSubmit --conf x.password=hunter2 app.jar", "*********(redacted)"},
        {"spark.app.name", "daily", "daily"},
        {"spark.my.url", "jdbc:mysql://me:hunter2@db/shop", "jdbc:mysql://me:*********(redacted)@db/shop"},
        {"spark.my.url", "jdbc:x://h/d?user=me&pwd=hunter2", "jdbc:x://h/d?user=me&pwd=*********(redacted)"},
        {"spark.jars", "/opt/secret-lib.jar", "*********(redacted)"}, /* as Spark does: only Classpath Entries are left alone */
        {"spark.empty", "", ""},
        {"spark.password.unknown", NULL, NULL},
    };
    struct arena arena;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct kv item = {str_of(cases[i].name), str_of(cases[i].value)};
        struct kv_list list = {&item, 1};
        assert_int_equal(redact_list(&arena, &list), 0);
        assert_int_equal(str_known(item.value), cases[i].wanted != NULL);
        assert_true(str_eq(item.value, str_of(cases[i].wanted)));
    }
    arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_secret_keys_and_secret_values_are_hidden_whole_others_in_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
