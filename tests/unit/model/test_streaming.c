/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/streaming.h"
#include "tests/unit/model/model_fixture.h"

#define Q "org.apache.spark.sql.streaming.StreamingQueryListener$Query"
#define STARTED "{'Event':'" Q "StartedEvent','id':'i','runId':'r','name':'n','timestamp':'2026-01-01T00:00:00.000Z','jobTags':['t']}"
#define PROGRESS(batch) "{'Event':'" Q "ProgressEvent','progress':{'id':'i','runId':'r','name':'n','timestamp':'2026-01-01T00:00:0" batch ".000Z','batchId':" batch "," \
    "'sources':[{'description':'src','numInputRows':1}],'sink':{'description':'out','numOutputRows':1}}}"
#define IDLE(second) "{'Event':'" Q "IdleEvent','id':'i','runId':'r','timestamp':'2026-01-01T00:01:0" second ".000Z'}"
#define FAILED "{'Event':'" Q "TerminatedEvent','id':'i','runId':'r','exception':'boom','errorClassOnException':'BOOM'}"
#define START_MS 1767225600000

static const struct streaming_query *query_of(const struct model_fixture *f, const char *run_id)
{
    assert_non_null(f->model->streaming);
    const struct streaming_query *query = smap_get(&f->model->streaming->by_run_id, str_of(run_id));
    assert_non_null(query);
    return query;
}

static void every_order_of_events_gives_the_same_run(void **state)
{
    (void)state;
    static const char *const lines[] = {STARTED, PROGRESS("1"), PROGRESS("2"), IDLE("3"), IDLE("4"), PROGRESS("5"), FAILED};
    for (unsigned n = 0; n < 60; n++) {
        struct model_fixture *f = fixture_new();
        fixture_play(f, lines, ARRAY_LENGTH(lines), n);
        const struct streaming_query *q = query_of(f, "r");
        assert_int_equal(f->model->streaming->queries.count, 1);
        assert_int_equal(q->run_ref, 1);
        assert_str(q->run_id, "r");
        assert_str(q->query_id, "i");
        assert_str(q->name, "n");
        assert_str(q->job_tags, "t");
        assert_str(q->error_class, "BOOM");
        assert_int_equal(q->start_ms, START_MS);
        assert_int_equal(q->start_seen, 1);
        assert_int_equal(q->end_seen, 1);
        assert_string_equal(f->texts[q->exception_text_id], "boom");
        assert_int_equal(q->idle_count, 2);
        assert_int_equal(q->last_idle_ms, START_MS + 64000);
        assert_int_equal(f->progress_count, 3);
        for (int64_t i = 0; i < 3; i++) {
            assert_int_equal(f->progress[i].run_ref, 1);
            assert_int_equal(f->progress[i].progress_no, i + 1);
            assert_string_equal(f->texts[f->progress[i].sink_text_id], "out");
            assert_string_equal(f->texts[f->progress[i].first_source_text_id], "src");
        }
        assert_int_equal(f->model->health.duplicate_event_count, 0);
        assert_int_equal(f->model->first_event_ms, START_MS);
        assert_int_equal(f->model->last_event_ms, START_MS + 64000);
        fixture_free(f);
    }
}

static void what_has_no_start_is_kept_and_marked(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, PROGRESS("1"));
    assert_int_equal(query_of(f, "r")->start_seen, 0);
    assert_int_equal(query_of(f, "r")->end_seen, 0);
    assert_int_equal(query_of(f, "r")->start_ms, UNKNOWN);
    assert_str(query_of(f, "r")->name, "n");
    fixture_apply(f, "{'Event':'" Q "TerminatedEvent','id':'i','runId':'other','exception':null}");
    assert_int_equal(query_of(f, "other")->run_ref, 2);
    assert_int_equal(query_of(f, "other")->start_seen, 0);
    assert_int_equal(query_of(f, "other")->end_seen, 1);
    assert_int_equal(query_of(f, "other")->exception_text_id, UNKNOWN);
    fixture_free(f);
}

static void a_restart_is_a_run_of_its_own(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, STARTED);
    fixture_apply(f, FAILED);
    fixture_apply(f, "{'Event':'" Q "StartedEvent','id':'i','runId':'r2','name':'n','timestamp':'2026-01-01T00:05:00.000Z'}");
    assert_int_equal(f->model->streaming->queries.count, 2);
    assert_str(query_of(f, "r2")->query_id, "i");
    assert_int_equal(query_of(f, "r2")->end_seen, 0);
    assert_int_equal(query_of(f, "r")->end_seen, 1);
    fixture_free(f);
}

static void repeated_starts_and_ends_are_counted(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, STARTED);
    fixture_apply(f, STARTED);
    fixture_apply(f, FAILED);
    fixture_apply(f, FAILED);
    assert_int_equal(f->model->health.duplicate_event_count, 2);
    fixture_free(f);
}

static void the_bodies_of_spark_2_0_change_nothing(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'" Q "StartedEvent','queryStatus':{'name':'query-1','id':1}}");
    assert_null(f->model->streaming);
    fixture_free(f);
}

static void secrets_do_not_leave_the_model(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'" Q "TerminatedEvent','id':'i','runId':'r','exception':'E: jdbc password=hunter2'}");
    fixture_apply(f, "{'Event':'" Q "ProgressEvent','progress':{'runId':'r','batchId':1,'sources':[{'description':'amqp://me:hunter2@host/q'}],'sink':{'description':'s3 secret=hunter2'}}}");
    for (size_t i = 0; i < ARRAY_LENGTH(f->texts); i++)
        assert_null(strstr(f->texts[i], "hunter2"));
    assert_int_equal(f->progress_count, 1);
    fixture_free(f);
}

/* DStream batches are told by their jobs. */
static void a_job_names_its_dstream_batch(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'SparkListenerJobStart','Job ID':1,'Submission Time':1,'Stage Infos':[],'Properties':"
                     "{'spark.streaming.internal.batchTime':'1767225600000','spark.streaming.internal.outputOpId':'2'}}");
    fixture_apply(f, "{'Event':'SparkListenerJobStart','Job ID':2,'Submission Time':1,'Stage Infos':[],'Properties':"
                     "{'spark.streaming.internal.batchTime':'soon','spark.streaming.internal.outputOpId':'-1'}}");
    const struct job *first = imap_get(&f->model->job_by_id, 1), *second = imap_get(&f->model->job_by_id, 2);
    assert_int_equal(first->batch_ms, 1767225600000);
    assert_int_equal(first->output_op_id, 2);
    assert_int_equal(second->batch_ms, UNKNOWN);
    assert_int_equal(second->output_op_id, UNKNOWN);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_events_gives_the_same_run), cmocka_unit_test(what_has_no_start_is_kept_and_marked), cmocka_unit_test(a_restart_is_a_run_of_its_own),
        cmocka_unit_test(repeated_starts_and_ends_are_counted), cmocka_unit_test(the_bodies_of_spark_2_0_change_nothing), cmocka_unit_test(secrets_do_not_leave_the_model),
        cmocka_unit_test(a_job_names_its_dstream_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
