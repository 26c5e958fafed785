/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tests/unit/event/event_fixture.h"

#define Q "org.apache.spark.sql.streaming.StreamingQueryListener$Query"

static void a_query_starts_idles_and_ends(void **state)
{
    struct fixture *f = *state;
    const struct event_streaming_query *q = &must_decode(f, EVENT_STREAMING_STARTED,      /* a line of Spark 4.3.0 */
        "{'Event':'" Q "StartedEvent','id':'3a28cf2a-e0f3-4a96-be7a-70eed2b46457','runId':'5da20644-62ed-4bf2-84e3-4d9382603b6d','name':'windows',"
        "'timestamp':'2026-11-30T02:04:29.021Z','jobTags':[]}")->streaming_query;
    assert_text(q->id, "3a28cf2a-e0f3-4a96-be7a-70eed2b46457");
    assert_text(q->run_id, "5da20644-62ed-4bf2-84e3-4d9382603b6d");
    assert_text(q->name, "windows");
    assert_i64(q->time_ms, 1796004269021);
    assert_text(q->job_tags, NULL);
    q = &must_decode(f, EVENT_STREAMING_STARTED, "{'Event':'" Q "StartedEvent','id':'i','runId':'r','name':null,'timestamp':'2026-11-30T02:04:29.021Z','jobTags':['b','a']}")->streaming_query;
    assert_text(q->name, NULL);
    assert_text(q->job_tags, "b,a");
    q = &must_decode(f, EVENT_STREAMING_IDLE, "{'Event':'" Q "IdleEvent','id':'i','runId':'r','timestamp':'2026-11-30T02:04:30.021Z'}")->streaming_query;
    assert_text(q->run_id, "r");
    assert_i64(q->time_ms, 1796004270021);
    q = &must_decode(f, EVENT_STREAMING_TERMINATED, "{'Event':'" Q "TerminatedEvent','id':'i','runId':'r','exception':'E: no\\n\\tat X','errorClassOnException':'PYTHON_EXCEPTION'}")->streaming_query;
    assert_text(q->exception, "E: no\n\tat X");
    assert_text(q->error_class, "PYTHON_EXCEPTION");
    assert_i64(q->time_ms, UNKNOWN);
    q = &must_decode(f, EVENT_STREAMING_TERMINATED, "{'Event':'" Q "TerminatedEvent','id':'i','runId':'r','exception':null}")->streaming_query;      /* before 3.5 */
    assert_text(q->exception, NULL);
    assert_text(q->error_class, NULL);
}

/* A line of Spark 4.3.0, whole. */
static void a_progress_record(void **state)
{
    struct fixture *f = *state;
    const struct event_streaming_progress *p = &must_decode(f, EVENT_STREAMING_PROGRESS,
        "{'Event':'" Q "ProgressEvent','progress':{'id':'3a28cf2a-e0f3-4a96-be7a-70eed2b46457','runId':'5da20644-62ed-4bf2-84e3-4d9382603b6d','name':'windows',"
        "'timestamp':'2026-11-30T02:04:50.422Z','batchId':2,'batchDuration':2602,'durationMs':{'triggerExecution':2601,'queryPlanning':271,'getBatch':0,'commitOffsets':219,"
        "'latestOffset':0,'addBatch':2039,'walCommit':59},'eventTime':{'min':'2026-11-30T02:04:44.720Z','avg':'2026-11-30T02:04:47.170Z','watermark':'2026-11-30T02:04:42.620Z',"
        "'max':'2026-11-30T02:04:49.620Z'},'stateOperators':[{'operatorName':'stateStoreSave','numRowsTotal':16,'numRowsUpdated':12,'allUpdatesTimeMs':1131,'numRowsRemoved':26,"
        "'allRemovalsTimeMs':23,'commitTimeMs':129,'memoryUsedBytes':11408,'numRowsDroppedByWatermark':0,'numShufflePartitions':2,'numStateStoreInstances':2,"
        "'customMetrics':{'stateOnCurrentVersionSizeBytes':4368,'forceSnapshotCount':0,'loadedMapCacheMissCount':0,'SnapshotLastUploaded.partition_0_default':-1,"
        "'loadedMapCacheHitCount':8,'SnapshotLastUploaded.partition_1_default':-1,'numSnapshotsAutoRepaired':0},'snapshotCustomMetricNames':['stateOnCurrentVersionSizeBytes']}],"
        "'sources':[{'description':'RateStreamV2[rowsPerSecond=10, rampUpTimeSeconds=0, numPartitions=2','startOffset':'15','endOffset':'20','latestOffset':'20',"
        "'numInputRows':50,'inputRowsPerSecond':10.12965964343598,'processedRowsPerSecond':19.215987701767872,'metrics':{}}],"
        "'sink':{'description':'MemorySink','numOutputRows':12,'metrics':{}},"
        "'observedMetrics':{'seen':{'values':[50,199],'schema':{'type':'struct','fields':[]}}}}}")->streaming_progress;
    assert_text(p->id, "3a28cf2a-e0f3-4a96-be7a-70eed2b46457");
    assert_text(p->run_id, "5da20644-62ed-4bf2-84e3-4d9382603b6d");
    assert_text(p->name, "windows");
    assert_i64(p->trigger_ms, 1796004290422);
    assert_i64(p->batch_id, 2);
    assert_i64(p->batch_duration_ms, 2602);
    assert_i64((int64_t)p->durations.count, 7);
    assert_text(p->durations.items[0].name, "triggerExecution");
    assert_i64(p->durations.items[0].value, 2601);
    assert_text(p->durations.items[6].name, "walCommit");
    assert_i64(p->durations.items[6].value, 59);
    assert_i64(p->event_time_min_ms, 1796004284720);
    assert_i64(p->event_time_avg_ms, 1796004287170);
    assert_i64(p->event_time_max_ms, 1796004289620);
    assert_i64(p->watermark_ms, 1796004282620);
    assert_i64((int64_t)p->operator_count, 1);
    const struct streaming_operator *o = &p->operators[0];
    assert_text(o->name, "stateStoreSave");
    assert_i64(o->rows_total, 16);
    assert_i64(o->rows_updated, 12);
    assert_i64(o->updates_time_ms, 1131);
    assert_i64(o->rows_removed, 26);
    assert_i64(o->removals_time_ms, 23);
    assert_i64(o->commit_time_ms, 129);
    assert_i64(o->memory_bytes, 11408);
    assert_i64(o->rows_dropped, 0);
    assert_i64(o->shuffle_partitions, 2);
    assert_i64(o->store_instances, 2);
    assert_i64((int64_t)o->custom_metrics.count, 7);
    assert_text(o->custom_metrics.items[3].name, "SnapshotLastUploaded.partition_0_default");
    assert_i64(o->custom_metrics.items[3].value, -1);
    assert_i64((int64_t)p->source_count, 1);
    const struct streaming_source *s = &p->sources[0];
    assert_text(s->description, "RateStreamV2[rowsPerSecond=10, rampUpTimeSeconds=0, numPartitions=2");
    assert_text(s->start_offset, "15");
    assert_text(s->end_offset, "20");
    assert_text(s->latest_offset, "20");
    assert_i64(s->input_rows, 50);
    assert_true(s->input_rows_per_second == 10.12965964343598);
    assert_true(s->processed_rows_per_second == 19.215987701767872);
    assert_i64((int64_t)s->metrics.count, 0);
    assert_text(p->sink, "MemorySink");
    assert_i64(p->output_rows, 12);
    assert_text(p->observed, "{\"seen\":{\"values\":[50,199],\"schema\":{\"type\":\"struct\",\"fields\":[]}}}");
    assert_int_equal(f->event.out_of_range, 0);
}

/* Spark 3.1: no latestOffset, no metrics, no operatorName, the old name of dropped rows, and numbers that are texts. */
static void a_progress_record_of_an_old_version(void **state)
{
    struct fixture *f = *state;
    const struct event_streaming_progress *p = &must_decode(f, EVENT_STREAMING_PROGRESS,
        "{'Event':'" Q "ProgressEvent','progress':{'id':'i','runId':'r','name':null,'timestamp':'2020-07-29T11:00:16.015Z','batchId':0,'durationMs':{'addBatch':30},'eventTime':{},"
        "'stateOperators':[{'numRowsTotal':1,'numRowsUpdated':1,'memoryUsedBytes':776,'numLateInputs':4,'customMetrics':{}}],"
        "'sources':[{'description':'KafkaV2[Subscribe[t]]','startOffset':null,'endOffset':'{\\\"t\\\":{\\\"0\\\":7}}','numInputRows':3,'inputRowsPerSecond':'NaN','processedRowsPerSecond':'Infinity'},"
        "{'description':'x','numInputRows':null}],'sink':{'description':'ConsoleTable','numOutputRows':-1},'observedMetrics':{}}}")->streaming_progress;
    assert_i64(p->trigger_ms, 1596020416015);
    assert_i64(p->batch_duration_ms, UNKNOWN);
    assert_i64(p->watermark_ms, UNKNOWN);
    assert_text(p->operators[0].name, NULL);
    assert_i64(p->operators[0].memory_bytes, 776);
    assert_i64(p->operators[0].rows_dropped, 4);
    assert_i64(p->operators[0].rows_removed, UNKNOWN);
    assert_i64(p->operators[0].shuffle_partitions, UNKNOWN);
    assert_i64((int64_t)p->source_count, 2);
    assert_text(p->sources[0].start_offset, NULL);
    assert_text(p->sources[0].end_offset, "{\"t\":{\"0\":7}}");
    assert_text(p->sources[0].latest_offset, NULL);
    assert_true(isnan(p->sources[0].input_rows_per_second));
    assert_true(isnan(p->sources[0].processed_rows_per_second));
    assert_i64(p->sources[1].input_rows, UNKNOWN);
    assert_i64(p->output_rows, UNKNOWN);
    assert_text(p->observed, NULL);
    assert_int_equal(f->event.out_of_range, 0);      /* -1 is Spark's own "not known" */
}

static void broken_values_are_unknown(void **state)
{
    struct fixture *f = *state;
    const struct event_streaming_progress *p = &must_decode(f, EVENT_STREAMING_PROGRESS,
        "{'Event':'" Q "ProgressEvent','progress':{'runId':'r','timestamp':1596020416015,'batchId':'7','batchDuration':-3,'durationMs':{'a':'x','b':-2,'c':5},"
        "'eventTime':['2020-07-29T11:00:16.015Z'],'stateOperators':[5,null,{}],'sources':{'a':1},'sink':'s','observedMetrics':[1]}}")->streaming_progress;
    assert_text(p->id, NULL);
    assert_i64(p->trigger_ms, UNKNOWN);
    assert_i64(p->batch_id, UNKNOWN);
    assert_i64(p->batch_duration_ms, UNKNOWN);
    assert_i64((int64_t)p->durations.count, 1);
    assert_text(p->durations.items[0].name, "c");
    assert_i64(p->event_time_min_ms, UNKNOWN);
    assert_i64((int64_t)p->operator_count, 3);
    assert_i64(p->operators[0].rows_total, UNKNOWN);
    assert_i64((int64_t)p->source_count, 0);
    assert_text(p->sink, NULL);
    assert_i64(p->output_rows, UNKNOWN);
    assert_text(p->observed, NULL);
    assert_int_equal(f->event.out_of_range, 2);
    assert_i64(must_decode(f, EVENT_STREAMING_STARTED, "{'Event':'" Q "StartedEvent','runId':'r','timestamp':'yesterday'}")->streaming_query.time_ms, UNKNOWN);
}

static void metrics_that_are_not_utf8_are_repaired(void **state)
{
    struct fixture *f = *state;
    const struct event_streaming_progress *p = &must_decode(f, EVENT_STREAMING_PROGRESS, "{'Event':'" Q "ProgressEvent','progress':{'runId':'r','observedMetrics':{'a':'\xFF'}}}")->streaming_progress;
    assert_text(p->observed, "{\"a\":\"\xEF\xBF\xBD\"}");
    assert_int_equal(f->event.repaired, 1);
}

/* The bodies of Spark 2.0 have no run id: they are nobody's, and no damage. */
static void the_events_of_spark_2_0_are_not_read(void **state)
{
    struct fixture *f = *state;
    must_decode(f, EVENT_UNKNOWN, "{'Event':'" Q "StartedEvent','queryStatus':{'name':'query-1','id':1,'timestamp':1480491481350,'inputRate':0.0,'latency':null,'sourceStatuses':[]}}");
    must_decode(f, EVENT_UNKNOWN, "{'Event':'" Q "ProgressEvent','queryStatus':{'name':'query-1','id':1,'triggerDetails':{'triggerId':'0'}}}");
    must_decode(f, EVENT_UNKNOWN, "{'Event':'" Q "TerminatedEvent','queryStatus':{'name':'query-1','id':1},'exception':'E'}");
    must_decode(f, EVENT_UNKNOWN, "{'Event':'" Q "Progress','queryInfo':{'name':'hello','id':0}}");
    assert_int_equal(decode_text(f, "{'Event':'" Q "StartedEvent','id':'i','name':'n'}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'" Q "ProgressEvent','progress':{'id':'i'}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'" Q "ProgressEvent'}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'" Q "ProgressEvent','progress':{'runId':'r','sources':[{]}}"), ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_starts_idles_and_ends), cmocka_unit_test(a_progress_record), cmocka_unit_test(a_progress_record_of_an_old_version),
        cmocka_unit_test(broken_values_are_unknown), cmocka_unit_test(metrics_that_are_not_utf8_are_repaired), cmocka_unit_test(the_events_of_spark_2_0_are_not_read),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
