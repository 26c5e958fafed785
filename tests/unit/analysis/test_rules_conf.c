/* SPDX-License-Identifier: Apache-2.0
 *
 * Defaults, the configuration audit and its rules (spec/findings.md 7.8, 10.4). */
#include "analysed_app.h"

#include <math.h>

#include "analysis/conf_audit.h"

static void expect_default(const char *key, int major, int minor, const char *value, enum conf_known state)
{
    enum conf_known found;
    const struct conf_default *entry = conf_default_find(str_of(key));
    assert_non_null(entry);
    struct str text = conf_default_value(entry, major, minor, &found);
    assert_int_equal(found, state);
    assert_true(value ? str_is(text, value) : !str_known(text));
}

static void defaults_follow_the_version(void **state)
{
    (void)state;
    expect_default("spark.sql.adaptive.enabled", 3, 1, "false", CONF_KNOWN);
    expect_default("spark.sql.adaptive.enabled", 3, 2, "true", CONF_KNOWN);
    expect_default("spark.sql.adaptive.enabled", 1, 5, NULL, CONF_TOO_NEW);
    expect_default("spark.speculation.quantile", 4, 3, "0.9", CONF_KNOWN);
    expect_default("spark.speculation.quantile", -1, -1, "0.9", CONF_KNOWN); /* of an unknown version: the newest */
    expect_default("spark.shuffle.memoryFraction", 3, 5, NULL, CONF_REMOVED);
    expect_default("spark.executor.instances", 3, 5, NULL, CONF_KNOWN);
}

static double distance(enum conf_kind kind, const char *value, const char *otherwise)
{
    return conf_distance(kind, str_of(value), str_of(otherwise));
}

static void distances_are_powers_of_two(void **state)
{
    (void)state;
    assert_near(distance(CONF_COUNT, "1600", "200"), 3.0);
    assert_near(distance(CONF_MIB, "512", "2g"), 2.0);
    assert_near(distance(CONF_MS, "6s", "3s"), 1.0);
    assert_near(distance(CONF_BYTES, "10485760b", "10m"), 0.0);
    assert_near(distance(CONF_BYTES, "-1", "10m"), 10.0);
    assert_near(distance(CONF_BOOL, "TRUE", "true"), 0.0);
    assert_near(distance(CONF_BOOL, "false", "true"), 1.0);
    assert_near(distance(CONF_TEXT, "x", NULL), 1.0);
    assert_near(distance(CONF_COUNT, "many", "200"), 1.0);
}

static const char *state_of(const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT state FROM conf_audit WHERE name = '%s' AND at_run_time = 0", name);
    return text_of(sql);
}

static void settings_without_effect_are_told(void **state)
{
    (void)state;
    add_setting("spark.sql.shuffle.partitions", "800");
    add_setting("spark.sql.shuffle.partition", "800");
    add_setting("spark.memory.useLegacyMode", "true");
    add_setting("spark.sql.execution.pythonUDTF.arrow.enabled", "true");
    add_setting("spark.shuffle.readHostLocalDisk", "true");
    add_setting("spark.my.own.setting", "x");
    app_sql("UPDATE application SET spark_version = '3.4.1'");
    app_sql("INSERT INTO sql_config VALUES (1, 'spark.sql.shuffle.partitions', '50')");
    analyse_app();
    assert_string_equal(state_of("spark.sql.shuffle.partitions"), "overridden");
    assert_near(number_of("SELECT distance FROM conf_audit WHERE at_run_time = 1"), 2.0); /* 50 against 200 */
    assert_string_equal(state_of("spark.sql.shuffle.partition"), "misspelt");
    assert_string_equal(text_of("SELECT meant FROM conf_audit WHERE state = 'misspelt'"), "spark.sql.shuffle.partitions");
    assert_string_equal(state_of("spark.memory.useLegacyMode"), "gone");
    assert_string_equal(state_of("spark.sql.execution.pythonUDTF.arrow.enabled"), "not yet");
    assert_string_equal(state_of("spark.shuffle.readHostLocalDisk"), "effective");
    assert_string_equal(state_of("spark.my.own.setting"), "");
    assert_near(measure("CONF.FAR", "-"), 1.0); /* what the session set */
}

/* Set to 50, then to 400, then back for one key; the other key ends at what the environment has. */
static void the_last_value_of_a_session_counts(void **state)
{
    (void)state;
    add_setting("spark.sql.shuffle.partitions", "800");
    add_setting("spark.sql.files.maxPartitionBytes", "64m");
    app_sql("INSERT INTO sql_config VALUES (1, 'spark.sql.shuffle.partitions', '50'), (2, 'spark.sql.shuffle.partitions', '400'), (3, 'spark.sql.shuffle.partitions', '100'),"
            " (1, 'spark.sql.files.maxPartitionBytes', '1m'), (2, 'spark.sql.files.maxPartitionBytes', '64m')");
    analyse_app();
    assert_string_equal(text_of("SELECT value FROM conf_audit WHERE name = 'spark.sql.shuffle.partitions' AND at_run_time = 1"), "100");
    assert_near(number_of("SELECT count(*) FROM conf_audit WHERE at_run_time = 1"), 1.0);
    assert_string_equal(state_of("spark.sql.files.maxPartitionBytes"), "effective");
    assert_near(measure("CONF.FAR", "-"), 2.0); /* 100 against 200, 64m against 128m */
}

static void contradictions_are_counted(void **state)
{
    (void)state;
    add_setting("spark.memory.offHeap.enabled", "true");
    add_setting("spark.dynamicAllocation.enabled", "true");
    add_setting("spark.dynamicAllocation.minExecutors", "10");
    add_setting("spark.dynamicAllocation.maxExecutors", "5");
    add_setting("spark.executor.extraJavaOptions", "-XX:+UseG1GC -XX:+UseParallelGC");
    analyse_app();
    assert_near(measure("CONF.CONFLICT", "spark.dynamicAllocation.minExecutors"), 3.0);
}

/* 301 s to send a broadcast: more than the 300 s that Spark waits where nobody sets it. */
static void a_broadcast_longer_than_its_time_out_contradicts(void **state)
{
    (void)state;
    app_sql("INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, total) VALUES (1, 1, 'time to broadcast', 'timing', 301000)");
    analyse_app();
    assert_near(measure("CONF.CONFLICT", "spark.sql.broadcastTimeout"), 1.0);
}

/* A size of what is off gives no memory, and a factor beside a size of the overhead counts for nothing. */
static void memory_that_nobody_gets_contradicts(void **state)
{
    (void)state;
    add_setting("spark.memory.offHeap.size", "1g");
    add_setting("spark.executor.memoryOverhead", "512m");
    add_setting("spark.executor.memoryOverheadFactor", "0.4");
    analyse_app();
    assert_near(measure("CONF.CONFLICT", "spark.memory.offHeap.size"), 2.0);
}

static void what_a_deploy_mode_ignores_is_told(void **state)
{
    (void)state;
    add_setting("spark.submit.deployMode", "client");
    add_setting("spark.driver.cores", "4");
    add_setting("spark.cores.max", "8"); /* of a standalone master, as this one is */
    analyse_app();
    assert_string_equal(state_of("spark.driver.cores"), "irrelevant");
    assert_string_equal(state_of("spark.cores.max"), "effective");
}

/* Two versions side by side in one folder, the newer one in another folder as well: that is the one that may win. */
static void a_copy_in_another_folder_is_told_however_they_are_sorted(void **state)
{
    (void)state;
    app_sql("INSERT INTO environment VALUES (5, '/a/x-1.0.jar', 'System Classpath'), (5, '/a/x-2.0.jar', 'System Classpath'), (5, '/b/x-2.0.jar', 'Added By User')");
    analyse_app();
    assert_near(measure("CONF.JARS", "classpath"), 1.0);
    assert_string_equal(text_of("SELECT first || ' ' || second FROM jar_conflict"), "1.0 2.0");
}

static void sound_settings_do_not_contradict(void **state)
{
    (void)state;
    add_setting("spark.memory.offHeap.enabled", "true");
    add_setting("spark.memory.offHeap.size", "1g");
    add_setting("spark.dynamicAllocation.enabled", "true");
    add_setting("spark.dynamicAllocation.maxExecutors", "5");
    add_setting("spark.executor.extraJavaOptions", "-XX:+UseG1GC -Xss2m");
    add_setting("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    analyse_app();
    assert_false(fires("CONF.CONFLICT"));
}

static void expect_jar(const char *file, const char *artefact, const char *scala, const char *version)
{
    struct jar_name name;
    assert_true(jar_name_of(str_of(file), &name));
    assert_true(str_is(name.artefact, artefact));
    assert_true(str_is(name.scala, scala));
    assert_true(str_is(name.version, version));
}

static void names_of_jars_are_read(void **state)
{
    (void)state;
    struct jar_name name;
    expect_jar("/spark/jars/spark-core_2.12-3.5.7.jar", "spark-core", "2.12", "3.5.7");
    expect_jar("netty-transport-native-epoll-4.1.96.Final-linux-x86_64.jar", "netty-transport-native-epoll", "", "4.1.96.Final");
    expect_jar("a-1.jar", "a", "", "1");
    expect_jar("lib_2-7.jar", "lib_2", "", "7");
    assert_false(jar_name_of(STR_LIT("mine.jar"), &name));
    assert_false(jar_name_of(STR_LIT("conf-1.xml"), &name));
    assert_false(jar_name_of(STR_LIT(".jar"), &name));
}

static void add_jar(const char *path)
{
    app_sql("INSERT INTO environment VALUES (5, '%s', 'System Classpath')", path);
}

static void the_same_library_twice_is_told(void **state)
{
    (void)state;
    app_sql("INSERT INTO environment VALUES (0, 'Scala Version', 'version 2.13.16')");
    add_jar("/spark/jars/guava-14.0.1.jar");
    add_jar("/data/lib/guava-31.1-jre.jar");
    add_jar("/data/lib/tool_2.12-1.0.jar");
    analyse_app();
    assert_near(measure("CONF.JARS", "classpath"), 2.0);
    assert_near(number_of("SELECT count(*) FROM jar_conflict WHERE artefact = 'guava' AND first = '14.0.1' AND second = '31.1' AND sparks_own = 1"), 1.0);
    assert_near(number_of("SELECT count(*) FROM jar_conflict WHERE artefact = 'tool' AND scala = 1 AND first = '2.12' AND second = '2.13'"), 1.0);
}

/* Spark itself ships these two. */
static void what_spark_ships_is_no_conflict(void **state)
{
    (void)state;
    add_jar("/spark/jars/hive-shims-0.23-2.3.10.jar");
    add_jar("/spark/jars/hive-shims-2.3.10.jar");
    add_jar("/data/lib/mine-1.0.jar");
    analyse_app();
    assert_false(fires("CONF.JARS"));
}

/* 800 partitions of 2 tasks … here: 40 tasks of 100 ms that read 40 MiB; two slots: 4 would do. */
static void too_many_partitions_are_told_with_a_symptom(void **state)
{
    (void)state;
    add_setting("spark.sql.adaptive.enabled", "false");
    run_stage(0, 1, 400, 100, 0);
    for (size_t i = 0; i < app_task_count; i++) {
        app_tasks[i].executor_run_time_ms = 40;
        app_tasks[i].executor_cpu_time_ns = 40000000;
        app_tasks[i].shuffle_local_read_bytes = 100000;
        app_tasks[i].shuffle_remote_read_bytes = 0;
    }
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, status, start_seen, end_seen) VALUES (0, 0, %lld, 1, 1, 1)", (long long)T0);
    analyse_app();
    assert_near(measure("CONF.SHUFFLE_PARTITIONS", "spark.sql.shuffle.partitions"), 100.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'CONF.SHUFFLE_PARTITIONS'"), "lower");
}

/* The same stage beside another job that runs all the time on slots of its own: merging its tasks saves the run nothing, and nobody is told to. */
static void partitions_without_a_symptom_that_shows_are_not(void **state)
{
    (void)state;
    add_setting("spark.sql.adaptive.enabled", "false");
    run_stage(0, 1, 400, 100, 0);
    for (size_t i = 0; i < app_task_count; i++) {
        app_tasks[i].executor_run_time_ms = 40;
        app_tasks[i].executor_cpu_time_ns = 40000000;
        app_tasks[i].shuffle_local_read_bytes = 100000;
        app_tasks[i].shuffle_remote_read_bytes = 0;
    }
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, status, start_seen, end_seen) VALUES (0, 0, %lld, 1, 1, 1)", (long long)T0);
    add_executor(2, "2", 1, T0, UNKNOWN);
    app_sql("UPDATE executor SET resource_profile_id = executor_ref - 1");
    add_job(1, T0 + 1000, T0 + 60000, 1);
    list_stage(1, 1);
    add_stage(1, 1, 0, 1, T0 + 1000, T0 + 60000, 2);
    app_sql("UPDATE stage SET resource_profile_id = stage_ref");
    struct task_cells *task = add_task(1, next_task++, 0, 2, T0 + 1000, T0 + 60000);
    task->has_metrics = 1;
    task->executor_run_time_ms = 59000;
    analyse_app();
    assert_near(measure("CONF.SHUFFLE_PARTITIONS", "spark.sql.shuffle.partitions"), 400 / 6.0);
    assert_string_equal(mute_of_rule("CONF.SHUFFLE_PARTITIONS"), "off_path");
}

/* What to do about a contradiction depends on what contradicts. */
static void a_contradiction_says_what_it_is_about(void **state)
{
    (void)state;
    add_setting("spark.driver.maxResultSize", "4g");
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'CONF.CONFLICT'"), "spark.driver.memory");
}

static void heaps_of_odd_shape_are_told(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 16");
    add_setting("spark.executor.memory", "80g");
    add_setting("spark.executor.memoryOverhead", "1g");
    analyse_app();
    assert_near(measure("CONF.MEMORY_RATIO", "spark.executor.memory"), 2.0); /* 16 cores, 80 GiB */
}

static void overhead_may_be_a_factor(void **state)
{
    (void)state;
    add_setting("spark.executor.memory", "8g");
    add_setting("spark.executor.memoryOverheadFactor", "0.5");
    analyse_app();
    assert_near(measure("CONF.MEMORY_RATIO", "spark.executor.memory"), 1.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'CONF.MEMORY_RATIO'"), "much overhead");
}

static void ordinary_heaps_are_not(void **state)
{
    (void)state;
    add_setting("spark.executor.memory", "8g");
    analyse_app();
    assert_false(fires("CONF.MEMORY_RATIO"));
}

static void java_serialisation_of_much_data_is_told(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, UNKNOWN);
    run_stage(1, 12, 4, 4000, 5); /* SQL has its own format */
    app_sql("UPDATE stage SET shuffle_write_bytes = %lld", (long long)(2 * GIB));
    analyse_app();
    assert_near(measure("CONF.SERIALIZER", "spark.serializer"), 2.0 * (double)GIB);
}

static void kryo_is_not(void **state)
{
    (void)state;
    add_setting("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    run_stage(0, 1, 4, 4000, UNKNOWN);
    app_sql("UPDATE stage SET shuffle_write_bytes = %lld", (long long)(2 * GIB));
    analyse_app();
    assert_false(fires("CONF.SERIALIZER"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_follow_the_version),
        cmocka_unit_test(distances_are_powers_of_two),
        cmocka_unit_test(names_of_jars_are_read),
        TEST(settings_without_effect_are_told),
        TEST(the_last_value_of_a_session_counts),
        TEST(contradictions_are_counted),
        TEST(a_broadcast_longer_than_its_time_out_contradicts),
        TEST(memory_that_nobody_gets_contradicts),
        TEST(what_a_deploy_mode_ignores_is_told),
        TEST(a_copy_in_another_folder_is_told_however_they_are_sorted),
        TEST(sound_settings_do_not_contradict),
        TEST(the_same_library_twice_is_told),
        TEST(what_spark_ships_is_no_conflict),
        TEST(too_many_partitions_are_told_with_a_symptom),
        TEST(partitions_without_a_symptom_that_shows_are_not),
        TEST(a_contradiction_says_what_it_is_about),
        TEST(heaps_of_odd_shape_are_told),
        TEST(overhead_may_be_a_factor),
        TEST(ordinary_heaps_are_not),
        TEST(java_serialisation_of_much_data_is_told),
        TEST(kryo_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
