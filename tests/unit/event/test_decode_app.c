/* SPDX-License-Identifier: Apache-2.0
 *
 * "3.5.7" and "4.3.0": the line is from such a log of our own corpus; the others are written after spec/core.md §1.4. */
#include "tests/unit/event/event_fixture.h"

#include <math.h>

static void a_log_start_names_the_version(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_LOG_START, "{'Event':'SparkListenerLogStart','Spark Version':'3.5.7'}");      /* 3.5.7 */
    assert_text(e->name, "SparkListenerLogStart");
    assert_text(e->log_start.spark_version, "3.5.7");
    assert_false(e->log_start.databricks);
    e = must_decode(f, EVENT_LOG_START, "{'Event':'SparkListenerLogStart'}");
    assert_text(e->log_start.spark_version, NULL);
}

static void databricks_logs_start_with_their_own_record(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_LOG_START,
        "{'Event':'DBCEventLoggingListenerMetadata','Spark Version':'3.3.0','Timestamp':1707850702370,'Rollover Number':0,'SparkContext Id':8880912756278443690}");
    assert_text(e->log_start.spark_version, "3.3.0");
    assert_true(e->log_start.databricks);
    assert_int_equal(e->out_of_range, 0);
}

static void an_application_start_of_today(void **state)
{
    struct fixture *f = *state;
    struct event_application_start *a = &must_decode(f, EVENT_APPLICATION_START,      /* 4.3.0 */
        "{'Event':'SparkListenerApplicationStart','App Name':'big_stage','App ID':'local-1795988882105','Timestamp':1795988881485,'User':'bob'}")->application_start;
    assert_text(a->name, "big_stage");
    assert_text(a->id, "local-1795988882105");
    assert_text(a->user, "bob");
    assert_text(a->attempt_id, NULL);
    assert_i64(a->time_ms, 1795988881485);
    assert_false(a->has_driver_logs);
    assert_int_equal(a->driver_logs.count, 0);
}

static void an_application_start_on_yarn_has_an_attempt_and_driver_logs(void **state)
{
    struct fixture *f = *state;
    struct event_application_start *a = &must_decode(f, EVENT_APPLICATION_START,
        "{'Event':'SparkListenerApplicationStart','App Name':'caf\u00e9 \\u20ac','App ID':'application_1_2','Timestamp':17,'User':null,'App Attempt ID':'2',"
        "'Driver Logs':{'stdout':'http://a/o','stderr':'http://a/e','stdout':'http://b/o'},'Driver Attributes':{'USER':'u','N':5}}")->application_start;
    assert_text(a->name, "caf\u00e9 \u20ac");
    assert_text(a->user, NULL);
    assert_text(a->attempt_id, "2");
    assert_true(a->has_driver_logs);
    assert_int_equal(a->driver_logs.count, 2);
    assert_kv(a->driver_logs, 0, "stdout", "http://b/o");
    assert_kv(a->driver_logs, 1, "stderr", "http://a/e");
    assert_int_equal(a->driver_attributes.count, 2);
    assert_kv(a->driver_attributes, 1, "N", NULL);
}

static void an_application_start_of_1_0_has_no_id(void **state)
{
    struct fixture *f = *state;
    struct event_application_start *a = &must_decode(f, EVENT_APPLICATION_START,
        "{'Event':'SparkListenerApplicationStart','App Name':'x','Timestamp':-1,'User':'u'}")->application_start;
    assert_text(a->id, NULL);
    assert_i64(a->time_ms, UNKNOWN);
    assert_int_equal(f->event.out_of_range, 0);
}

static void an_application_end_has_an_exit_code_from_4_0(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_APPLICATION_END, "{'Event':'SparkListenerApplicationEnd','Timestamp':1795987786367,'ExitCode':0}");      /* 4.3.0 */
    assert_i64(e->application_end.time_ms, 1795987786367);
    assert_i64(e->application_end.exit_code, 0);
    e = must_decode(f, EVENT_APPLICATION_END, "{'Event':'SparkListenerApplicationEnd','Timestamp':1795986888241}");          /* 3.5.7 */
    assert_i64(e->application_end.exit_code, UNKNOWN);
    e = must_decode(f, EVENT_APPLICATION_END, "{'Event':'SparkListenerApplicationEnd','Timestamp':-5,'ExitCode':-9}");
    assert_i64(e->application_end.time_ms, UNKNOWN);
    assert_i64(e->application_end.exit_code, -9);
    assert_int_equal(e->out_of_range, 1);
}

static void an_environment_has_six_sections(void **state)
{
    struct fixture *f = *state;
    struct kv_list *s = must_decode(f, EVENT_ENVIRONMENT_UPDATE,
        "{'Event':'SparkListenerEnvironmentUpdate','JVM Information':{'Java Home':'/usr/lib/jvm/java-17-openjdk-amd64','Java Version':'17.0.15 (Debian)',"
        "'Scala Version':'version 2.12.18'},"
        "'Spark Properties':{'spark.master':'local[2]','spark.app.name':'a','spark.master':'local[4]'},'Hadoop Properties':{'h':'1'},'System Properties':{'line.separator':'\\"
        "n','empty':''},"
        "'Metrics Properties':{'*.sink':null},'Classpath Entries':{'/opt/a.jar':'System Classpath'}}")->environment.sections;
    assert_int_equal(s[ENV_JVM].count, 3);
    assert_kv(s[ENV_JVM], 1, "Java Version", "17.0.15 (Debian)");
    assert_int_equal(s[ENV_SPARK].count, 2);
    assert_kv(s[ENV_SPARK], 0, "spark.master", "local[4]");
    assert_kv(s[ENV_HADOOP], 0, "h", "1");
    assert_kv(s[ENV_SYSTEM], 0, "line.separator", "\n");
    assert_kv(s[ENV_SYSTEM], 1, "empty", "");
    assert_kv(s[ENV_METRICS], 0, "*.sink", NULL);
    assert_kv(s[ENV_CLASSPATH], 0, "/opt/a.jar", "System Classpath");
}

static void an_environment_of_1_x_has_four_sections(void **state)
{
    struct fixture *f = *state;
    struct kv_list *s = must_decode(f, EVENT_ENVIRONMENT_UPDATE,
        "{'Event':'SparkListenerEnvironmentUpdate','JVM Information':{},'Spark Properties':{'a':'b'},'System Properties':{},'Classpath Entries':null}")->environment.sections;
    assert_int_equal(s[ENV_SPARK].count, 1);
    assert_int_equal(s[ENV_HADOOP].count + s[ENV_METRICS].count + s[ENV_CLASSPATH].count, 0);
}

/* 5000 keys, each three times: the last value of each stays, in the order of the first. */
static void many_duplicate_keys_leave_the_last_values(void **state)
{
    struct fixture *f = *state;
    size_t room = 5000 * 3 * 32, used = 0;
    char *text = malloc(room);
    used += (size_t)snprintf(text, room, "{'Event':'SparkListenerEnvironmentUpdate','Spark Properties':{");
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 5000; i++)
            used += (size_t)snprintf(text + used, room - used, "%s'k%d':'%d'", round + i ? "," : "", i, round * 10000 + i);
    snprintf(text + used, room - used, "}}");
    struct kv_list spark = must_decode(f, EVENT_ENVIRONMENT_UPDATE, text)->environment.sections[ENV_SPARK];
    assert_int_equal(spark.count, 5000);
    for (int i = 0; i < 5000; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "k%d", i);
        snprintf(value, sizeof value, "%d", 20000 + i);
        assert_kv(spark, (size_t)i, name, value);
    }
    free(text);
}

static void a_resource_profile_lists_requests(void **state)
{
    struct fixture *f = *state;
    struct event_resource_profile *p = &must_decode(f, EVENT_RESOURCE_PROFILE_ADDED,      /* 4.3.0 */
        "{'Event':'SparkListenerResourceProfileAdded','Resource Profile Id':0,'Executor Resource Requests':{'memory':{'Resource Name':'memory','Amount':512,'Di"
        "scovery Script':'','Vendor':''},'offHeap':{'Resource Name':'offHeap','Amount':0,'Discovery Script':'','Vendor':''}},'Task Resource Requests':{'cpus':{"
        "'Resource Name':'cpus','Amount':1.0}}}")->resource_profile;
    assert_i64(p->id, 0);
    assert_int_equal(p->executor_count, 2);
    assert_text(p->executor[0].name, "memory");
    assert_text(p->executor[0].resource_name, "memory");
    assert_true(p->executor[0].amount == 512.0);
    assert_text(p->executor[0].discovery_script, "");
    assert_text(p->executor[1].vendor, "");
    assert_int_equal(p->task_count, 1);
    assert_text(p->task[0].name, "cpus");
    assert_true(p->task[0].amount == 1.0);
    assert_text(p->task[0].vendor, NULL);
    p = &must_decode(f, EVENT_RESOURCE_PROFILE_ADDED, "{'Event':'SparkListenerResourceProfileAdded','Resource Profile Id':3,'Task Resource Requests':{'gpu':{'Amount':0.25},"
        "'odd':7}}")->resource_profile;
    assert_int_equal(p->executor_count, 0);
    assert_true(p->task[0].amount == 0.25);
    assert_true(isnan(p->task[1].amount));
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerResourceProfileAdded'}"), ERR_INVALID);
    assert_string_equal(f->err.message, "resource profile without an id");
}

static void a_process_of_yarn(void **state)
{
    struct fixture *f = *state;
    struct event_process_added *p = &must_decode(f, EVENT_PROCESS_ADDED,
        "{'Event':'org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded','time':1618846550218,'processId':'yarn-am','info':{'hostPort':'h:8042','cores':1,"
        "'logUrlInfo':{'stdout':'http://h/o'}}}"
        )->process_added;
    assert_i64(p->time_ms, 1618846550218);
    assert_i64(p->cores, 1);
    assert_text(p->id, "yarn-am");
    assert_text(p->host_port, "h:8042");
    assert_kv(p->logs, 0, "stdout", "http://h/o");
    assert_int_equal(decode_text(f, "{'Event':'org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded','time':1}"), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_start_names_the_version), cmocka_unit_test(databricks_logs_start_with_their_own_record), cmocka_unit_test(an_application_start_of_today),
        cmocka_unit_test(an_application_start_on_yarn_has_an_attempt_and_driver_logs), cmocka_unit_test(an_application_start_of_1_0_has_no_id),
        cmocka_unit_test(an_application_end_has_an_exit_code_from_4_0), cmocka_unit_test(an_environment_has_six_sections),
            cmocka_unit_test(an_environment_of_1_x_has_four_sections),
        cmocka_unit_test(many_duplicate_keys_leave_the_last_values), cmocka_unit_test(a_resource_profile_lists_requests), cmocka_unit_test(a_process_of_yarn),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
