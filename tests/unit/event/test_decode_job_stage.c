/* SPDX-License-Identifier: Apache-2.0
 *
 * "3.5.7" and "4.3.0": the line is from such a log of our own corpus; the others are written after spec/core.md §1.4 and 1.5. */
#include "tests/unit/event/event_fixture.h"

static void a_job_starts_with_its_stages_and_rdds(void **state)
{
    struct fixture *f = *state;
    struct event_job_start *j = &must_decode(f, EVENT_JOB_START,      /* 3.5.7 */
        "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':1795987961439,'Stage Infos':[{'Stage ID':0,'Stage Attempt ID':0,'Stage Name':'parquet at"
        " NativeMethodAccessorImpl.java:0','Number of Tasks':1,'RDD Info':[{'RDD ID':1,'Name':'MapPartitionsRDD','Scope':'{\\'id\\':\\'1\\',\\'name\\':\\'mapPa"
        "rtitions\\'}','Callsite':'parquet at NativeMethodAccessorImpl.java:0','Parent IDs':[0],'Storage Level':{'Use Disk':false,'Use Memory':false,'Use Off H"
        "eap':false,'Deserialized':false,'Replication':1},'Barrier':false,'DeterministicLevel':'DETERMINATE','Number of Partitions':1,'Number of Cached Partiti"
        "ons':0,'Memory Size':0,'Disk Size':0},{'RDD ID':0,'Name':'ParallelCollectionRDD','Scope':'{\\'id\\':\\'0\\',\\'name\\':\\'parallelize\\'}','Callsite':"
        "'parquet at NativeMethodAccessorImpl.java:0','Parent IDs':[],'Storage Level':{'Use Disk':false,'Use Memory':false,'Use Off Heap':false,'Deserialized':"
        "false,'Replication':1},'Barrier':false,'DeterministicLevel':'DETERMINATE','Number of Partitions':1,'Number of Cached Partitions':0,'Memory Size':0,'Di"
        "sk Size':0}],'Parent IDs':[],'Details':'org.apache.spark.sql.DataFrameReader.parquet(DataFrameReader.scala:563)\\njava.base/jdk.internal.reflect.Nativ"
        "eMethodAccessorImpl.invoke0(Native Method)\\njava.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke(NativeMethodAccessorImpl.java:77)\\njava.b"
        "ase/jdk.internal.reflect.DelegatingMethodAccessorImpl.invoke(DelegatingMethodAccessorImpl.java:43)\\njava.base/java.lang.reflect.Method.invoke(Method."
        "java:569)\\npy4j.reflection.MethodInvoker.invoke(MethodInvoker.java:244)\\npy4j.reflection.ReflectionEngine.invoke(ReflectionEngine.java:374)\\npy4j.G"
        "ateway.invoke(Gateway.java:282)\\npy4j.commands.AbstractCommand.invokeMethod(AbstractCommand.java:132)\\npy4j.commands.CallCommand.execute(CallCommand"
        ".java:79)\\npy4j.ClientServerConnection.waitForCommands(ClientServerConnection.java:182)\\npy4j.ClientServerConnection.run(ClientServerConnection.java"
        ":106)\\njava.base/java.lang.Thread.run(Thread.java:840)','Accumulables':[],'Resource Profile Id':0,'Shuffle Push Enabled':false,'Shuffle Push Mergers "
        "Count':0}],'Stage IDs':[0],'Properties':{'spark.rdd.scope':'{\\'id\\':\\'2\\',\\'name\\':\\'collect\\'}','spark.rdd.scope.noOverride':'true'}}")->job_start;
    assert_i64(j->id, 0);
    assert_i64(j->submission_ms, 1795987961439);
    assert_int_equal(j->stage_count, 1);
    struct stage_info *s = j->stages;
    assert_i64(s->id, 0);
    assert_i64(s->attempt, 0);
    assert_text(s->name, "parquet at NativeMethodAccessorImpl.java:0");
    assert_i64(s->num_tasks, 1);
    assert_int_equal(s->parents.count, 0);
    assert_true(str_starts(s->details, "org.apache.spark.sql.DataFrameReader.parquet(DataFrameReader.scala:563)\njava.base/jdk"));
    assert_true(str_ends(s->details, "\njava.base/java.lang.Thread.run(Thread.java:840)"));
    assert_i64(s->submission_ms, UNKNOWN);
    assert_i64(s->completion_ms, UNKNOWN);
    assert_text(s->failure_reason, NULL);
    assert_int_equal(s->accumulables.count, 0);
    assert_i64(s->resource_profile_id, 0);
    assert_i64(s->shuffle_push_enabled, 0);
    assert_i64(s->shuffle_mergers_count, 0);
    assert_int_equal(s->rdd_count, 2);
    struct rdd_info *r = s->rdds;
    assert_i64(r[0].id, 1);
    assert_text(r[0].name, "MapPartitionsRDD");
    assert_text(r[0].scope, "{\"id\":\"1\",\"name\":\"mapPartitions\"}");
    assert_text(r[0].callsite, "parquet at NativeMethodAccessorImpl.java:0");
    assert_int_equal(r[0].parents.count, 1);
    assert_i64(r[0].parents.items[0], 0);
    assert_false(r[0].level.use_disk || r[0].level.use_memory || r[0].level.use_off_heap || r[0].level.deserialized);
    assert_i64(r[0].level.replication, 1);
    assert_false(r[0].barrier);
    assert_i64(r[0].determinism, 0);
    assert_i64(r[0].num_partitions, 1);
    assert_i64(r[1].id, 0);
    assert_int_equal(r[1].parents.count, 0);
    assert_int_equal(j->properties.count, 2);
    assert_kv(j->properties, 0, "spark.rdd.scope", "{\"id\":\"2\",\"name\":\"collect\"}");
    assert_kv(j->properties, 1, "spark.rdd.scope.noOverride", "true");
}

static void a_job_of_1_0_gets_its_stages_from_their_ids(void **state)
{
    struct fixture *f = *state;
    struct event_job_start *j = &must_decode(f, EVENT_JOB_START, "{'Event':'SparkListenerJobStart','Job ID':4,'Stage IDs':[7,'x',3,-1],'Properties':null}")->job_start;
    assert_i64(j->submission_ms, UNKNOWN);
    assert_int_equal(j->properties.count, 0);
    assert_int_equal(j->stage_count, 2);
    assert_i64(j->stages[0].id, 7);
    assert_i64(j->stages[1].id, 3);
    assert_i64(j->stages[1].attempt, 0);
    assert_text(j->stages[1].name, "unknown");
    assert_text(j->stages[1].details, "unknown");
    assert_i64(j->stages[1].num_tasks, 0);
    assert_i64(j->stages[1].resource_profile_id, 0);
    assert_i64(j->stages[1].submission_ms, UNKNOWN);
    assert_int_equal(j->stages[1].rdd_count + j->stages[1].parents.count, 0);
}

static void stage_infos_win_over_stage_ids(void **state)
{
    struct fixture *f = *state;
    struct event_job_start *j = &must_decode(f, EVENT_JOB_START,
        "{'Event':'SparkListenerJobStart','Stage IDs':[1,2,3],'Job ID':4,'Submission Time':-1,"
        "'Stage Infos':[{'Stage ID':2,'Number of Tasks':5},{'Stage Name':'no id'},null]}")->job_start;
    assert_int_equal(j->stage_count, 1);
    assert_i64(j->stages[0].id, 2);
    assert_i64(j->stages[0].num_tasks, 5);
    assert_i64(j->submission_ms, UNKNOWN);
    assert_int_equal(must_decode(f, EVENT_JOB_START, "{'Event':'SparkListenerJobStart','Job ID':4,'Stage IDs':[1],'Stage Infos':[]}")->job_start.stage_count, 0);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerJobStart','Stage IDs':[1]}"), ERR_INVALID);
    assert_string_equal(f->err.message, "job start without a job id");
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerJobStart','Job ID':-1,'Stage IDs':[1]}"), ERR_INVALID);
}

static void a_job_ends_well_or_not(void **state)
{
    struct fixture *f = *state;
    struct event_job_end *j = &must_decode(f, EVENT_JOB_END,
        "{'Event':'SparkListenerJobEnd','Job ID':0,'Completion Time':1795986873731,'Job Result':{'Result':'JobSucceeded'}}")->job_end;      /* 3.5.7 */
    assert_i64(j->id, 0);
    assert_i64(j->completion_ms, 1795986873731);
    assert_true(j->succeeded);
    assert_text(j->failure, NULL);
    j = &must_decode(f, EVENT_JOB_END,
        "{'Event':'SparkListenerJobEnd','Job ID':1,'Completion Time':-1,'Job Result':{'Result':'JobFailed','Exception':{'Message':'Job aborted\\n\\tat x',"
        "'Stack Trace':[{'Declaring Class':'a','Line Number':1}]}}}")->job_end;
    assert_false(j->succeeded);
    assert_i64(j->completion_ms, UNKNOWN);
    assert_text(j->failure, "Job aborted\n\tat x");
    j = &must_decode(f, EVENT_JOB_END, "{'Event':'SparkListenerJobEnd','Job ID':2,'Job Result':{'Result':'JobFailed','Exception':{'Message':null}}}")->job_end;
    assert_text(j->failure, NULL);
    assert_false(must_decode(f, EVENT_JOB_END, "{'Event':'SparkListenerJobEnd','Job ID':2,'Job Result':{'Result':'FromTheFuture'}}")->job_end.succeeded);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerJobEnd','Completion Time':5}"), ERR_INVALID);
}

static void a_stage_is_submitted(void **state)
{
    struct fixture *f = *state;
    struct event_stage *s = &must_decode(f, EVENT_STAGE_SUBMITTED,
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':16,'Stage Attempt ID':1,'Stage Name':'count','Number of Tasks':2,'RDD Info':[{'RDD ID':33,"
        "'Name':'PythonRDD','Parent IDs':[32,31],"
        "'Storage Level':{'Use Disk':true,'Use Memory':true,'Use Tachyon':false,'Deserialized':false,'Replication':2},'Barrier':true,'DeterministicLevel':'INDETERMINATE',"
        "'Number of Partitions':2,"
        "'Number of Cached Partitions':0,'Memory Size':0,'Tachyon Size':0,'Disk Size':0},{'Name':'no id'}],'Parent IDs':[14,15],'Details':'','Submission Time':1795990095202,"
        "'Accumulables':[],'Resource Profile Id':2,"
        "'Shuffle Push Enabled':true,'Shuffle Push Mergers Count':3},'Properties':{'spark.scheduler.pool':'p'}}")->stage;
    assert_i64(s->info.id, 16);
    assert_i64(s->info.attempt, 1);
    assert_int_equal(s->info.parents.count, 2);
    assert_i64(s->info.parents.items[1], 15);
    assert_text(s->info.details, "");
    assert_i64(s->info.submission_ms, 1795990095202);
    assert_i64(s->info.resource_profile_id, 2);
    assert_i64(s->info.shuffle_push_enabled, 1);
    assert_i64(s->info.shuffle_mergers_count, 3);
    assert_int_equal(s->info.rdd_count, 1);
    assert_true(s->info.rdds[0].level.use_disk && s->info.rdds[0].level.use_memory && s->info.rdds[0].barrier);
    assert_i64(s->info.rdds[0].level.replication, 2);
    assert_i64(s->info.rdds[0].determinism, 2);
    assert_text(s->info.rdds[0].scope, NULL);
    assert_text(s->info.rdds[0].callsite, NULL);
    assert_kv(s->properties, 0, "spark.scheduler.pool", "p");
}

static void a_stage_is_completed_with_its_accumulables(void **state)
{
    struct fixture *f = *state;
    struct event_stage *s = &must_decode(f, EVENT_STAGE_COMPLETED,
        "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':0,'Stage Name':'x','Number of Tasks':8,'RDD Info':[],'Submission Time':5,'Completion Time':9,"
        "'Failure Reason':'Job aborted',"
        "'Accumulables':[{'ID':7,'Name':'data size','Value':'264000000','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':31,"
        "'Name':'internal.metrics.executorRunTime','Value':6072,'Internal':true},"
        "{'Name':'no id'},{'ID':40,'Value':[1,2],'Update':null},{'ID':41,'Name':'flag','Value':true,'Update':1.5},{'ID':9223372036854775807,'Name':'big',"
        "'Value':9007199254740993}]}}")->stage;
    assert_i64(s->info.attempt, 0);
    assert_i64(s->info.completion_ms, 9);
    assert_text(s->info.failure_reason, "Job aborted");
    assert_text(s->info.details, NULL);
    assert_i64(s->info.resource_profile_id, UNKNOWN);
    assert_i64(s->info.shuffle_push_enabled, UNKNOWN);
    assert_int_equal(s->properties.count, 0);
    assert_int_equal(s->info.accumulables.count, 5);
    struct accumulable *a = s->info.accumulables.items;
    assert_i64(a[0].id, 7);
    assert_text(a[0].name, "data size");
    assert_text(a[0].value, "264000000");
    assert_text(a[0].update, NULL);
    assert_text(a[0].metadata, "sql");
    assert_true(a[0].internal);
    assert_text(a[1].value, "6072");
    assert_text(a[1].metadata, NULL);
    assert_text(a[2].value, "");
    assert_text(a[2].update, NULL);
    assert_text(a[2].name, NULL);
    assert_false(a[2].internal);
    assert_text(a[3].value, "true");
    assert_text(a[3].update, "1.5");
    assert_i64(a[4].id, INT64_MAX);
    assert_text(a[4].value, "9007199254740993");
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage Name':'x'}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerStageCompleted'}"), ERR_INVALID);
}

/* A stage id is an Int in Spark. What is beyond must not meet another stage in the model, whose keys are made of 32-bit ids. */
static void an_id_beyond_32_bits_is_out_of_range(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_JOB_START,
        "{'Event':'SparkListenerJobStart','Job ID':1,'Stage Infos':[{'Stage ID':2147483648},{'Stage ID':2147483647,'Stage Attempt ID':4294967296}],'Properties':{}}");
    assert_int_equal(e->out_of_range, 2);
    assert_int_equal(e->job_start.stage_count, 1);
    assert_i64(e->job_start.stages[0].id, 2147483647);
    assert_i64(e->job_start.stages[0].attempt, 0);
    struct id_list parents =
        must_decode(f, EVENT_STAGE_SUBMITTED, "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':1,'Parent IDs':[4294967296,0]}}")->stage.info.parents;
    assert_int_equal(parents.count, 1);
    assert_int_equal(f->event.out_of_range, 1);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':9223372036854775807}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskEnd','Stage ID':4294967296,'Stage Attempt ID':0,'Task Info':{'Task ID':1}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskStart','Stage ID':2147483648,'Stage Attempt ID':0,'Task Info':{'Task ID':1}}"), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_with_its_stages_and_rdds), cmocka_unit_test(a_job_of_1_0_gets_its_stages_from_their_ids), cmocka_unit_test(stage_infos_win_over_stage_ids),
        cmocka_unit_test(a_job_ends_well_or_not), cmocka_unit_test(a_stage_is_submitted), cmocka_unit_test(a_stage_is_completed_with_its_accumulables),
        cmocka_unit_test(an_id_beyond_32_bits_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
