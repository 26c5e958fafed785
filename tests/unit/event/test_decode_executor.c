/* SPDX-License-Identifier: Apache-2.0
 *
 * "3.5.7" and "4.3.0": the line is from such a log of our own corpus; the others are written after spec/core.md §1.4. */
#include "tests/unit/event/event_fixture.h"

static void a_block_manager_comes_with_its_memory(void **state)
{
    struct fixture *f = *state;
    struct event_block_manager *b = &must_decode(f, EVENT_BLOCK_MANAGER_ADDED,      /* 3.5.7 */
        "{'Event':'SparkListenerBlockManagerAdded','Block Manager ID':{'Executor ID':'0','Host':'localhost','Port':33583},'Maximum Memory':55574528,'Timestamp'"
        ":1795985907649,'Maximum Onheap Memory':55574528,'Maximum Offheap Memory':0}")->block_manager;
    assert_text(b->id.executor_id, "0");
    assert_text(b->id.host, "localhost");
    assert_i64(b->id.port, 33583);
    assert_i64(b->time_ms, 1795985907649);
    assert_i64(b->max_memory_bytes, 55574528);
    assert_i64(b->max_on_heap_bytes, 55574528);
    assert_i64(b->max_off_heap_bytes, 0);
    b = &must_decode(f, EVENT_BLOCK_MANAGER_ADDED,
        "{'Event':'SparkListenerBlockManagerAdded','Block Manager ID':{'Executor ID':'<driver>','Host':'h','Port':1},'Maximum Memory':278302556,'Timestamp':-1}")->block_manager;
    assert_i64(b->time_ms, UNKNOWN);
    assert_i64(b->max_on_heap_bytes, UNKNOWN);
    assert_i64(b->max_off_heap_bytes, UNKNOWN);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerBlockManagerAdded','Block Manager ID':{'Host':'h'},'Maximum Memory':1}"), ERR_INVALID);
}

static void a_block_manager_goes(void **state)
{
    struct fixture *f = *state;
    struct event_block_manager *b = &must_decode(f, EVENT_BLOCK_MANAGER_REMOVED,
        "{'Event':'SparkListenerBlockManagerRemoved','Block Manager ID':{'Executor ID':'4','Host':'h','Port':-4},'Timestamp':1479252044930}")->block_manager;
    assert_text(b->id.executor_id, "4");
    assert_i64(b->id.port, UNKNOWN);
    assert_i64(b->time_ms, 1479252044930);
    assert_i64(b->max_memory_bytes, UNKNOWN);
    assert_int_equal(f->event.out_of_range, 1);
}

static void an_executor_comes(void **state)
{
    struct fixture *f = *state;
    struct event_executor_added *x = &must_decode(f, EVENT_EXECUTOR_ADDED,      /* 4.3.0 */
        "{'Event':'SparkListenerExecutorAdded','Timestamp':1795989939041,'Executor ID':'driver','Executor Info':{'Host':'localhost','Total Cores':2,'Log Urls':"
        "{},'Attributes':{},'Resources':{},'Resource Profile Id':0}}")->executor_added;
    assert_i64(x->time_ms, 1795989939041);
    assert_text(x->id, "driver");
    assert_text(x->host, "localhost");
    assert_i64(x->total_cores, 2);
    assert_i64(x->resource_profile_id, 0);
    assert_i64(x->registration_ms, UNKNOWN);
    assert_int_equal(x->logs.count + x->attributes.count + x->resource_count, 0);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerExecutorAdded','Timestamp':1,'Executor Info':{}}"), ERR_INVALID);
}

static void an_executor_comes_with_logs_and_resources(void **state)
{
    struct fixture *f = *state;
    struct event_executor_added *x = &must_decode(f, EVENT_EXECUTOR_ADDED,
        "{'Event':'SparkListenerExecutorAdded','Timestamp':1578764769706,'Executor ID':'1','Executor Info':{'Host':'host1','Total Cores':4,"
        "'Log Urls':{'stdout':'http://host1/o'},'Attributes':{'USER':'u'},"
        "'Resources':{'gpu':{'name':'gpu','addresses':['0','1',2,null]},'fpga':{}},'Resource Profile Id':3,'Registration Time':7,'Request Time':6}}")->executor_added;
    assert_kv(x->logs, 0, "stdout", "http://host1/o");
    assert_kv(x->attributes, 0, "USER", "u");
    assert_int_equal(x->resource_count, 2);
    assert_text(x->resources[0].name, "gpu");
    assert_int_equal(x->resources[0].address_count, 3);
    assert_text(x->resources[0].addresses[1], "1");
    assert_text(x->resources[0].addresses[2], "2");
    assert_text(x->resources[1].name, "fpga");
    assert_int_equal(x->resources[1].address_count, 0);
    assert_i64(x->resource_profile_id, 3);
    assert_i64(x->registration_ms, 7);
    assert_i64(x->request_ms, 6);
}

static void an_executor_of_1_3_knows_less(void **state)
{
    struct fixture *f = *state;
    struct event_executor_added *x = &must_decode(f, EVENT_EXECUTOR_ADDED,
        "{'Event':'SparkListenerExecutorAdded','Timestamp':1,'Executor ID':'0','Executor Info':{'Host':'h','Total Cores':8,'Log Urls':{}}}")->executor_added;
    assert_i64(x->resource_profile_id, UNKNOWN);
    assert_i64(x->request_ms, UNKNOWN);
}

static void an_executor_goes_for_a_reason(void **state)
{
    struct fixture *f = *state;
    struct event_executor_removed *x = &must_decode(f, EVENT_EXECUTOR_REMOVED,
        "{'Event':'SparkListenerExecutorRemoved','Timestamp':9,'Executor ID':'3','Removed Reason':'Command exited with code 137'}")->executor_removed;
    assert_text(x->id, "3");
    assert_i64(x->time_ms, 9);
    assert_text(x->reason, "Command exited with code 137");
    assert_text(must_decode(f, EVENT_EXECUTOR_REMOVED,
        "{'Event':'SparkListenerExecutorRemoved','Timestamp':9,'Executor ID':'3','Removed Reason':null}")->executor_removed.reason, NULL);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerExecutorRemoved','Timestamp':9}"), ERR_INVALID);
}

/* All twelve events, both spellings. */
static void executors_and_nodes_are_excluded_in_both_spellings(void **state)
{
    struct fixture *f = *state;
    static const char *const words[][2] = {{"Blacklisted", "Unblacklisted"}, {"Excluded", "Unexcluded"}};
    for (int old = 1; old >= 0; old--)
        for (int node = 0; node < 2; node++)
            for (int how = 0; how < 3; how++) {
                char text[400];
                snprintf(text, sizeof text, "{'Event':'org.apache.spark.scheduler.SparkListener%s%s%s','time':1515493278918,'%s':'7'%s%s}", node ? "Node" : "Executor",
                    words[!old][how == 1],
                         how == 2 ? "ForStage" : "", node ? "hostId" : "executorId", how == 1 ? "" : node ? ",'executorFailures':2" : ",'taskFailures':4",
                             how == 2 ? ",'stageId':5,'stageAttemptId':1" : "");
                struct event_exclusion *x = &must_decode(f, EVENT_EXCLUSION, text)->exclusion;
                assert_i64(x->time_ms, 1515493278918);
                assert_text(x->executor_id, node ? NULL : "7");
                assert_text(x->host, node ? "7" : NULL);
                assert_int_equal(x->lifted, how == 1);
                assert_int_equal(x->old_name, old);
                assert_i64(x->failures, how == 1 ? UNKNOWN : node ? 2 : 4);
                assert_i64(x->stage_id, how == 2 ? 5 : UNKNOWN);
                assert_i64(x->stage_attempt, how == 2 ? 1 : UNKNOWN);
            }
    assert_int_equal(decode_text(f, "{'Event':'org.apache.spark.scheduler.SparkListenerExecutorExcluded','time':1}"), ERR_INVALID);
}

static void peaks_of_a_stage(void **state)
{
    struct fixture *f = *state;
    struct event_stage_executor_metrics *m = &must_decode(f, EVENT_STAGE_EXECUTOR_METRICS,
        "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'1','Stage ID':3,'Stage Attempt ID':2,'Executor Metrics':{'JVMHeapMemory':75898880,'JVMOffHeapMemory':79568936,"
        "'OnHeapExecutionMemory':0,'DirectPoolMemory':8747811,'MinorGCTime':186,'FromTheFuture':9,'TotalGCTime':-1}}")->stage_executor_metrics;
    assert_text(m->executor_id, "1");
    assert_i64(m->stage_id, 3);
    assert_i64(m->stage_attempt, 2);
    assert_i64(m->peaks[PEAK_JVM_HEAP_MEMORY], 75898880);
    assert_i64(m->peaks[PEAK_JVM_OFF_HEAP_MEMORY], 79568936);
    assert_i64(m->peaks[PEAK_ON_HEAP_EXECUTION_MEMORY], 0);
    assert_i64(m->peaks[PEAK_DIRECT_POOL_MEMORY], 8747811);
    assert_i64(m->peaks[PEAK_MINOR_GC_TIME], 186);
    assert_i64(m->peaks[PEAK_MAJOR_GC_TIME], UNKNOWN);
    assert_i64(m->peaks[PEAK_TOTAL_GC_TIME], UNKNOWN);
    assert_int_equal(f->event.out_of_range, 1);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'1'}"), ERR_INVALID);
}

/* Each name of the table lands in its own place: all 23, in one line. */
static void every_executor_metric_is_read(void **state)
{
    struct fixture *f = *state;
    char text[2000] = "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'1','Stage ID':3,'Executor Metrics':{'x':{}";
#define X(id, column, key) snprintf(text + strlen(text), sizeof text - strlen(text), ",'%s':%d", key, 1000 + PEAK_##id);
    EXECUTOR_METRICS(X)
#undef X
    strcat(text, "}}");
    struct event_stage_executor_metrics *m = &must_decode(f, EVENT_STAGE_EXECUTOR_METRICS, text)->stage_executor_metrics;
    for (int i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        assert_i64(m->peaks[i], 1000 + i);
    assert_i64(m->stage_attempt, 0);
}

static void the_drivers_own_metrics(void **state)
{
    struct fixture *f = *state;
    struct event_executor_metrics_update *m = &must_decode(f, EVENT_EXECUTOR_METRICS_UPDATE,      /* 4.3.0 */
        "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'driver','Metrics Updated':[],'Executor Metrics Updated':[{'Stage ID':-1,'Stage Attempt ID"
        "':-1,'Executor Metrics':{'JVMHeapMemory':85854528,'JVMOffHeapMemory':155948096,'OnHeapExecutionMemory':0,'OffHeapExecutionMemory':0,'OnHeapStorageMemo"
        "ry':0,'OffHeapStorageMemory':0,'OnHeapUnifiedMemory':0,'OffHeapUnifiedMemory':0,'DirectPoolMemory':659637,'MappedPoolMemory':0,'ProcessTreeJVMVMemory'"
        ":0,'ProcessTreeJVMRSSMemory':0,'ProcessTreePythonVMemory':0,'ProcessTreePythonRSSMemory':0,'ProcessTreeOtherVMemory':0,'ProcessTreeOtherRSSMemory':0,'"
        "MinorGCCount':16,'MinorGCTime':262,'MajorGCCount':0,'MajorGCTime':0,'TotalGCTime':262,'ConcurrentGCCount':0,'ConcurrentGCTime':0}}]}")->executor_metrics_update;
    assert_text(m->executor_id, "driver");
    assert_int_equal(m->count, 1);
    assert_i64(m->items[0].stage_id, -1);
    assert_i64(m->items[0].stage_attempt, -1);
    assert_i64(m->items[0].peaks[PEAK_JVM_HEAP_MEMORY], 85854528);
    assert_i64(m->items[0].peaks[PEAK_TOTAL_GC_TIME], 262);
    assert_i64(m->items[0].peaks[PEAK_CONCURRENT_GC_TIME], 0);
    m = &must_decode(f, EVENT_EXECUTOR_METRICS_UPDATE, "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'5','Metrics Updated':[{'Task ID':1,"
        "'Accumulator Updates':[{'ID':1}]}]}")->executor_metrics_update;
    assert_int_equal(m->count, 0);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerExecutorMetricsUpdate','Metrics Updated':[]}"), ERR_INVALID);
}

/* As local mode logs them: accumulators without a value yet are not named, those of SQL metrics have no name. */
static void running_tasks_report(void **state)
{
    struct fixture *f = *state;
    struct event_executor_metrics_update *m = &must_decode(f, EVENT_EXECUTOR_METRICS_UPDATE,
        "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'driver','Metrics Updated':[{'Task ID':7,'Stage ID':2,'Stage Attempt ID':1,'Accumulator Updates':["
        "{'ID':1,'Name':'internal.metrics.executorRunTime','Update':1500,'Internal':true,'Count Failed Values':true},"
        "{'ID':2,'Name':'internal.metrics.shuffle.read.remoteBytesRead','Update':77,'Internal':true},{'ID':3,'Name':'internal.metrics.noSuchThing','Update':5},"
        "{'ID':4,'Name':'internal.metrics.resultSize','Update':-5},{'ID':5,'Name':'internal.metrics.jvmGCTime','Value':9},"
        "{'ID':6,'Update':12,'Internal':true,'Metadata':'sql'},{'ID':8,'Name':'rows','Update':'34'},{'ID':9,'Name':'words','Update':'many'}]},"
        "{'Task ID':8},5],'Executor Metrics Updated':[]}")->executor_metrics_update;
    assert_int_equal(m->count, 0);
    assert_int_equal(m->task_count, 2);
    const struct task_report *task = &m->tasks[0];
    assert_i64(task->task_id, 7);
    assert_i64(task->stage_id, 2);
    assert_i64(task->stage_attempt, 1);
    assert_i64(task->metrics[METRIC_EXECUTOR_RUN_TIME], 1500);
    assert_i64(task->metrics[METRIC_SHUFFLE_REMOTE_READ], 77);
    assert_i64(task->metrics[METRIC_RESULT_SIZE], UNKNOWN);
    assert_i64(task->metrics[METRIC_JVM_GC_TIME], UNKNOWN);
    assert_int_equal(task->updates.count, 2);
    assert_i64(task->updates.items[0].id, 6);
    assert_i64(task->updates.items[0].value, 12);
    assert_i64(task->updates.items[1].id, 8);
    assert_i64(task->updates.items[1].value, 34);
    assert_i64(m->tasks[1].task_id, 8);
    assert_i64(m->tasks[1].stage_id, UNKNOWN);
    assert_i64(m->tasks[1].stage_attempt, 0);
    assert_int_equal(m->tasks[1].updates.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_manager_comes_with_its_memory), cmocka_unit_test(a_block_manager_goes), cmocka_unit_test(an_executor_comes),
            cmocka_unit_test(an_executor_comes_with_logs_and_resources),
        cmocka_unit_test(an_executor_of_1_3_knows_less), cmocka_unit_test(an_executor_goes_for_a_reason), cmocka_unit_test(executors_and_nodes_are_excluded_in_both_spellings),
        cmocka_unit_test(peaks_of_a_stage), cmocka_unit_test(every_executor_metric_is_read), cmocka_unit_test(the_drivers_own_metrics),
            cmocka_unit_test(running_tasks_report),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
