/* SPDX-License-Identifier: Apache-2.0
 *
 * environment and storage: what they show is nearly what the tables hold. */
#include "v1_store.h"

#define A "/api/v1/applications/a"

static void the_environment_has_sparks_shape(void **state)
{
    (void)state;
    add_app("a");
    app_sql("a", "INSERT INTO environment VALUES (0, 'Java Version', '17'), (0, 'Other', 'x'), (1, 'spark.b', '2'), (1, 'spark.a', '1'), (2, 'h', NULL), ("
            "5, '/a.jar', 'System Classpath');"
                 "INSERT INTO resource_profile VALUES (1), (0);"
                 "INSERT INTO resource_request VALUES (0, 0, 'memory', 0, 1024.0, NULL, NULL, NULL), (0, 0, 'gpu', 1, 2.0, 'gpu', '/get', 'nv'), ("
                 "0, 1, 'cpus', 0, 0.5, NULL, NULL, NULL)");
    assert_answer(A "/environment",
                  "{\"runtime\":{\"javaVersion\":\"17\"},\"sparkProperties\":[[\"spark.a\",\"1\"],[\"spark.b\",\"2\"]],\"hadoopProperties\":[[\"h\",\"\"]],\"systemProperties\":[],"
                  "\"metricsProperties\":[],\"classpathEntries\":[[\"/a.jar\",\"System Classpath\"]],\"resourceProfiles\":["
                  "{\"id\":0,\"executorResources\":{\"memory\":{\"resourceName\":\"memory\",\"amount\":1024,\"discoveryScript\":\"\",\"vendor\":\"\"},"
                  "\"gpu\":{\"resourceName\":\"gpu\",\"amount\":2,\"discoveryScript\":\"/get\",\"vendor\":\"nv\"}},"
                  "\"taskResources\":{\"cpus\":{\"resourceName\":\"cpus\",\"amount\":0.5}}},{\"id\":1,\"executorResources\":{},\"taskResources\":{}}]}");
}

static void what_it_runs_on_stands_in_sparks_order(void **state)
{
    static const char *const order[] = {"javaVersion", "javaHome", "scalaVersion", "sparkProperties"};
    (void)state;
    add_app("a");
    app_sql("a", "INSERT INTO environment VALUES (0, 'Java Home', '/jvm'), (0, 'Java Version', '17'), (0, 'Scala Version', '2.13')");
    struct answer answer = ask(A "/environment");
    const char *at = answer.text;
    for (size_t i = 0; i < ARRAY_LENGTH(order); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
    forget(&answer);
}

static void a_log_without_environment_has_no_such_resource(void **state)
{
    (void)state;
    add_app("a");
    app_sql("a", "UPDATE log_health SET no_environment = 1");
    assert_refused(A "/environment", 404, "no such app: a");
}

static void rdds_are_listed_while_cached(void **state)
{
    (void)state;
    add_app("a");
    app_sql("a", "INSERT INTO rdd (rdd_id, name, tracked, unpersisted, storage_name, storage_level, storage_partitions, memory_used_bytes, disk_used_bytes) VALUES "
                 "(4, 'later name', 1, 0, 'first name', 'Memory Serialized 1x Replicated', 2, 100, 5), ("
                 "5, 'x', 1, 0, 'never filled', 'Disk Serialized 1x Replicated', 3, NULL, NULL), "
                 "(6, 'x', 0, 1, 'unpersisted', 'Disk Serialized 1x Replicated', 3, 1, 1);"
                 "INSERT INTO rdd_partition VALUES (4, 0, 'rdd_4_1', 'Memory Serialized 2x Replicated', 100, 5, '2 1');"
                 "INSERT INTO rdd_distribution VALUES (4, 0, '2', 'h:1', 100, 900, 5, 100, 0, 700, 200), (4, 1, '1', 'h:2', 0, 900, 0, NULL, NULL, NULL, NULL)");
    assert_answer(A "/storage/rdd",
                  "[{\"id\":4,\"name\":\"first name\",\"numPartitions\":2,\"numCachedPartitions\":1,\"storageLevel\":\"Memory Serialized 1x Replicated\",\"memoryUsed\":100,"
                  "\"diskUsed\":5,\"dataDistribution\":["
                  "{\"address\":\"h:1\",\"memoryUsed\":100,\"memoryRemaining\":900,\"diskUsed\":5,\"onHeapMemoryUsed\":100,\"offHeapMemoryUsed\":0,\"onHeapMemoryRemaining\":700,"
                  "\"offHeapMemoryRemaining\":200},{\"address\":\"h:2\",\"memoryUsed\":0,\"memoryRemaining\":900,\"diskUsed\":0}],"
                  "\"partitions\":[{\"blockName\":\"rdd_4_1\",\"storageLevel\":\"Memory Serialized 2x "
                  "Replicated\",\"memoryUsed\":100,\"diskUsed\":5,\"executors\":[\"2\",\"1\"]}]}]");
    assert_answer(A "/storage/rdd/5",
                  "{\"id\":5,\"name\":\"never filled\",\"numPartitions\":3,\"numCachedPartitions\":0,\"storageLevel\":\"Disk Serialized 1x Replicated\",\"memoryUsed\":0,"
                  "\"diskUsed\":0,\"partitions\":[]}");
    assert_refused(A "/storage/rdd/6", 404, "no rdd found w/ id 6");
    assert_refused(A "/storage/rdd/99999", 404, "no rdd found w/ id 99999");
    assert_page_not_found(A "/storage/rdd/99999999999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(the_environment_has_sparks_shape),
        STORE_TEST(what_it_runs_on_stands_in_sparks_order),
        STORE_TEST(a_log_without_environment_has_no_such_resource),
        STORE_TEST(rdds_are_listed_while_cached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
