/* SPDX-License-Identifier: Apache-2.0
 *
 * "3.5.7" and "4.3.0": the line is from such a log of our own corpus; the others are written after spec/core.md §1.4 and 1.5. */
#include "tests/unit/event/event_fixture.h"
#include "tests/unit/event/real_task_end.h"

#define ENDED "{'Event':'SparkListenerTaskEnd','Stage ID':2,'Stage Attempt ID':1,'Task End Reason':{'Reason':'Success'},'Task Info':{'Task ID':8"

static void a_task_starts(void **state)
{
    struct fixture *f = *state;
    struct event_task_start *t = &must_decode(f, EVENT_TASK_START,      /* 3.5.7 */
        "{'Event':'SparkListenerTaskStart','Stage ID':6,'Stage Attempt ID':0,'Task Info':{'Task ID':6,'Index':0,'Attempt':0,'Partition ID':0,'Launch Time':1795"
        "987969086,'Executor ID':'0','Host':'localhost','Locality':'NODE_LOCAL','Speculative':false,'Getting Result Time':0,'Finish Time':0,'Failed':false,'Kil"
        "led':false,'Accumulables':[]}}")->task_start;
    assert_i64(t->stage_id, 6);
    assert_i64(t->stage_attempt, 0);
    assert_i64(t->info.id, 6);
    assert_i64(t->info.index, 0);
    assert_i64(t->info.attempt, 0);
    assert_i64(t->info.partition_id, 0);
    assert_i64(t->info.launch_ms, 1795987969086);
    assert_i64(t->info.finish_ms, UNKNOWN);
    assert_i64(t->info.getting_result_ms, UNKNOWN);
    assert_text(t->info.executor_id, "0");
    assert_text(t->info.host, "localhost");
    assert_i64(t->info.locality, LOCALITY_NODE);
    assert_false(t->info.speculative || t->info.failed || t->info.killed);
}

static void a_task_of_1_0_starts(void **state)
{
    struct fixture *f = *state;
    struct event_task_start *t = &must_decode(f, EVENT_TASK_START,
        "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{'Task ID':0,'Index':3,'Launch Time':5,'Executor ID':'<driver>','Host':'h','Locality':'SOMEWHERE',"
        "'Getting Result Time':0,'Finish Time':0,"
        "'Failed':false,'Partition ID':-1}}")->task_start;
    assert_i64(t->stage_attempt, 0);
    assert_i64(t->info.attempt, 1);
    assert_i64(t->info.partition_id, UNKNOWN);
    assert_i64(t->info.locality, UNKNOWN);
    assert_int_equal(f->event.out_of_range, 0);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskStart','Task Info':{'Task ID':1}}"), ERR_INVALID);
}

static void localities_are_words(void **state)
{
    struct fixture *f = *state;
    static const char *const words[LOCALITY_COUNT] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};
    for (int i = 0; i < LOCALITY_COUNT; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{'Task ID':1,'Locality':'%s'}}", words[i]);
        assert_i64(must_decode(f, EVENT_TASK_START, text)->task_start.info.locality, i);
    }
}

static void a_result_is_fetched(void **state)
{
    struct fixture *f = *state;
    struct event_task_start *t = &must_decode(f, EVENT_TASK_GETTING_RESULT,      /* 4.3.0 */
        "{'Event':'SparkListenerTaskGettingResult','Task Info':{'Task ID':1,'Index':1,'Attempt':0,'Partition ID':1,'Launch Time':1795988938556,'Executor ID':'0"
        "','Host':'localhost','Locality':'PROCESS_LOCAL','Speculative':false,'Getting Result Time':1795988940817,'Finish Time':0,'Failed':false,'Killed':false,"
        "'Accumulables':[]}}")->task_start;
    assert_i64(t->stage_id, UNKNOWN);
    assert_i64(t->stage_attempt, UNKNOWN);
    assert_i64(t->info.id, 1);
    assert_i64(t->info.getting_result_ms, 1795988940817);
}

static void a_task_of_4_3_ends(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END, real_task_end())->task_end;
    assert_i64(t->stage_id, 4);
    assert_i64(t->stage_attempt, 0);
    assert_int_equal(t->reason, END_SUCCESS);
    assert_text(t->error, NULL);
    assert_text(t->kill_reason, NULL);
    assert_i64(t->info.id, 6);
    assert_i64(t->info.launch_ms, 1795989948105);
    assert_i64(t->info.finish_ms, 1795989948254);
    assert_text(t->info.executor_id, "driver");
    assert_true(t->has_metrics && t->has_peaks);
    assert_i64(t->peaks[PEAK_JVM_HEAP_MEMORY], 0);
    assert_i64(t->peaks[PEAK_CONCURRENT_GC_TIME], 0);
    static const int64_t zero[] = {
        METRIC_PEAK_EXECUTION_MEMORY_OFF_HEAP, METRIC_JVM_GC_TIME, METRIC_RESULT_SERIALIZATION_TIME, METRIC_MEMORY_SPILLED, METRIC_DISK_SPILLED, METRIC_INPUT_BYTES,
            METRIC_OUTPUT_BYTES,
        METRIC_SHUFFLE_REMOTE_BLOCKS_FETCHED, METRIC_SHUFFLE_REMOTE_REQUESTS_DURATION, METRIC_PUSH_CORRUPT_MERGED_BLOCK_CHUNKS, METRIC_PUSH_REMOTE_MERGED_REQUESTS_DURATION,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(zero); i++)
        assert_i64(t->metrics[zero[i]], 0);
    assert_i64(t->metrics[METRIC_EXECUTOR_DESERIALIZE_TIME], 7);
    assert_i64(t->metrics[METRIC_EXECUTOR_DESERIALIZE_CPU_TIME], 3230432);
    assert_i64(t->metrics[METRIC_EXECUTOR_RUN_TIME], 131);
    assert_i64(t->metrics[METRIC_EXECUTOR_CPU_TIME], 33227785);
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], 262144);
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY_ON_HEAP], 8650736);
    assert_i64(t->metrics[METRIC_RESULT_SIZE], 2305);
    assert_i64(t->metrics[METRIC_INPUT_RECORDS], 25000);
    assert_i64(t->metrics[METRIC_SHUFFLE_WRITE_BYTES], 136);
    assert_i64(t->metrics[METRIC_SHUFFLE_WRITE_TIME], 4368778);
    assert_i64(t->metrics[METRIC_SHUFFLE_WRITE_RECORDS], 3);
    assert_int_equal(t->shown.count, 0);
    assert_int_equal(f->event.out_of_range + f->event.repaired, 0);
}

/* Each key of the table in each group lands in its own place: written from the table, in the reverse order of Spark's. */
static void every_task_metric_is_read_in_any_order(void **state)
{
    struct fixture *f = *state;
    enum { TOP, INPUT, OUTPUT, SHUFFLE_READ, PUSH, SHUFFLE_WRITE };
    static const struct {
        const char *key;
        int group;
    } rows[] = {
#define X(id, column, group, key, accumulable) {key, group},
        TASK_METRICS(X)
#undef X
    };
    static const int order[] = {OUTPUT, INPUT, SHUFFLE_WRITE, PUSH, SHUFFLE_READ};
    static const char *const before[] = {
        [OUTPUT] = "'Output Metrics':{'x':[]", [INPUT] = "},'Input Metrics':{'x':{}", [SHUFFLE_WRITE] = "},'Shuffle Write Metrics':{'x':null",
            [PUSH] = "},'Shuffle Read Metrics':{'Push Based Shuffle':{'x':1",
        [SHUFFLE_READ] = "},'y':'z'",
    };
    char text[6000];
    size_t used = (size_t)snprintf(text, sizeof text, "{'Task Metrics':{");
    for (size_t g = 0; g < ARRAY_LENGTH(order); g++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", before[order[g]]);
        for (int i = TASK_METRIC_COUNT - 1; i >= 0; i--)
            if (rows[i].group == order[g])
                used += (size_t)snprintf(text + used, sizeof text - used, ",'%s':%d", rows[i].key, 1000 + i);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "}");
    for (int i = TASK_METRIC_COUNT - 1; i >= 0; i--)
        if (rows[i].group == TOP)
            used += (size_t)snprintf(text + used, sizeof text - used, ",'%s':%d", rows[i].key, 1000 + i);
    snprintf(text + used, sizeof text - used, "},'Task Info':{'Task ID':1},'Stage ID':2,'Event':'SparkListenerTaskEnd'}");
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END, text)->task_end;
    for (int i = 0; i < TASK_METRIC_COUNT; i++)
        assert_i64(t->metrics[i], 1000 + i);
    assert_int_equal(t->reason, END_UNKNOWN);
    assert_text(t->error, NULL);
}

static void only_the_spelling_of_push_metrics_that_spark_writes_counts(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        ENDED "},'Task Metrics':{'Shuffle Read Metrics':{'Local Bytes Read':5,'Shuffle Push Read Metrics':{'Corrupt Merged Block Chunks':10},"
            "'Push Based Shuffle':{'Merged Fetch Fallback Count':2,'Merged Local Bytes Read':100}}}}")->task_end;
    assert_i64(t->metrics[METRIC_SHUFFLE_LOCAL_READ], 5);
    assert_i64(t->metrics[METRIC_PUSH_CORRUPT_MERGED_BLOCK_CHUNKS], UNKNOWN);
    assert_i64(t->metrics[METRIC_PUSH_MERGED_FETCH_FALLBACK_COUNT], 2);
    assert_i64(t->metrics[METRIC_PUSH_LOCAL_MERGED_READ], 100);
}

static void what_a_task_did_not_report_is_unknown_and_not_zero(void **state)
{
    struct fixture *f = *state;
    static const char *const without[] = {ENDED "}}", ENDED "},'Task Metrics':null,'Task Executor Metrics':null}", ENDED "},'Task Metrics':7,'Task Executor Metrics':[]}"};
    for (size_t n = 0; n < ARRAY_LENGTH(without); n++) {
        struct event_task_end *t = &must_decode(f, EVENT_TASK_END, without[n])->task_end;
        assert_false(t->has_metrics || t->has_peaks);
        for (int i = 0; i < TASK_METRIC_COUNT; i++)
            assert_i64(t->metrics[i], UNKNOWN);
        for (int i = 0; i < EXECUTOR_METRIC_COUNT; i++)
            assert_i64(t->peaks[i], UNKNOWN);
    }
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END, ENDED "},'Task Executor Metrics':{},'Task Metrics':{'JVM GC Time':3,'Shuffle Read Metrics':null,"
        "'Input Metrics':{'Bytes Read':4}}}")->task_end;
    assert_true(t->has_metrics && t->has_peaks);
    assert_i64(t->metrics[METRIC_JVM_GC_TIME], 3);
    assert_i64(t->metrics[METRIC_EXECUTOR_RUN_TIME], UNKNOWN);
    assert_i64(t->metrics[METRIC_INPUT_BYTES], 4);
    assert_i64(t->metrics[METRIC_INPUT_RECORDS], UNKNOWN);
    assert_i64(t->metrics[METRIC_SHUFFLE_LOCAL_READ], UNKNOWN);
}

/* A line of 1.2, in its shape: no CPU time, no groups, blocks with Tachyon sizes. */
static void a_task_of_1_2_ends(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Stage Attempt ID':0,'Task Type':'ResultTask','Task End Reason':{'Reason':'Success'},'Task Info':{'Task ID':6,'Index':6,"
        "'Attempt':0,"
        "'Launch Time':1422981762084,'Executor ID':'<driver>','Host':'localhost','Locality':'PROCESS_LOCAL','Speculative':false,'Getting Result Time':0,"
        "'Finish Time':1422981762632,'Failed':false,'Accumulables':[]},"
        "'Task Metrics':{'Host Name':'localhost','Executor Deserialize Time':10,'Executor Run Time':521,'Result Size':1268,'JVM GC Time':20,'Result Serialization Time':0,"
        "'Memory Bytes Spilled':0,"
        "'Disk Bytes Spilled':0,'Input Metrics':{'Data Read Method':'Memory','Bytes Read':7},'Updated Blocks':[{'Block ID':'rdd_0_6',"
        "'Status':{'Storage Level':{'Use Disk':false,'Use Memory':true,"
        "'Use Tachyon':false,'Deserialized':true,'Replication':1},'Memory Size':3500016,'Tachyon Size':0,'Disk Size':0}}]}}")->task_end;
    assert_i64(t->metrics[METRIC_EXECUTOR_RUN_TIME], 521);
    assert_i64(t->metrics[METRIC_EXECUTOR_CPU_TIME], UNKNOWN);
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], UNKNOWN);
    assert_i64(t->metrics[METRIC_INPUT_BYTES], 7);
    assert_i64(t->metrics[METRIC_OUTPUT_BYTES], UNKNOWN);
    assert_i64(t->metrics[METRIC_SHUFFLE_WRITE_BYTES], UNKNOWN);
    assert_false(t->has_peaks);
    assert_i64(t->info.partition_id, UNKNOWN);
}

static void the_peak_of_execution_memory_of_2_x_is_an_accumulable(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        ENDED ",'Accumulables':[{'ID':3,'Name':'internal.metrics.peakExecutionMemory','Update':4096,'Value':8192,'Internal':true}"
        "]},'Task Metrics':{'Executor Run Time':1}}")->task_end;
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], 4096);
    assert_int_equal(t->shown.count, 0);
    t = &must_decode(f, EVENT_TASK_END,
        ENDED ",'Accumulables':[{'ID':3,'Name':'internal.metrics.peakExecutionMemory','Update':'4096','Internal':true}]},'Task Metrics':{'Peak Execution Memory':17}}")->task_end;
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], 17);
    t = &must_decode(f, EVENT_TASK_END, ENDED ",'Accumulables':[{'ID':3,'Name':'internal.metrics.peakExecutionMemory','Update':'many'}]},'Task Metrics':{}}")->task_end;
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], UNKNOWN);
    t = &must_decode(f, EVENT_TASK_END, ENDED ",'Accumulables':[{'ID':3,'Name':'internal.metrics.peakExecutionMemory','Update':'4096'}]}}")->task_end;
    assert_i64(t->metrics[METRIC_PEAK_EXECUTION_MEMORY], UNKNOWN);
}

static void people_see_accumulables_that_are_neither_internal_nor_sql(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        ENDED ",'Accumulables':[{'ID':1,'Name':'a','Update':'1','Value':'2','Internal':true},{'ID':2,'Name':'b','Update':'1','Metadata':'sql','Internal':false},"
        "{'ID':990001,'Name':'exact','Update':9007199254740993,'Value':9007199254740993,'Internal':false,'Count Failed Values':false},{'ID':4,'Name':'list','Update':'[x]',"
        "'Value':'[x, y]'},"
        "{'ID':5,'Value':'only'},{'Name':'no id'},7,{'ID':6,'Name':'other','Metadata':'mine'}]}}")->task_end;
    assert_int_equal(t->shown.count, 4);
    struct accumulable *a = t->shown.items;
    assert_i64(a[0].id, 990001);
    assert_text(a[0].name, "exact");
    assert_text(a[0].update, "9007199254740993");
    assert_text(a[0].value, "9007199254740993");
    assert_text(a[1].value, "[x, y]");
    assert_text(a[2].name, NULL);
    assert_text(a[2].update, NULL);
    assert_text(a[3].metadata, "mine");
}

/* Those in Spark's own shape are passed over without a look at their members; near misses of that shape must mean the same as anywhere else. */
static void accumulables_of_nearly_the_usual_shape_are_read_with_care(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *json;
        bool shown;
        enum err_code code;
    } cases[] = {
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_OK},
        {"{'ID':7,'Name':'n','Update':'1','Value':'2','Internal':true,'Count Failed Values':false,'Metadata':'sql'}", false, ERR_OK},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true,'Internal':false}", true, ERR_OK},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true,'Metadata':'sql','Internal':false,'Metadata':null}", true, ERR_OK},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':false,'Count Failed Values':true}", true, ERR_OK},
        {"{'ID':7,'Name':'n','Update':1,'Internal':true,'Value':2,'Count Failed Values':true}", false, ERR_OK},
        {"{'ID':7,'Name':'n\\'','Update':-1,'Value':2.5,'Internal':false,'Count Failed Values':true}", true, ERR_OK},
        {"{'ID':7,'Name':'n','Update':-1,'Value':2e3,'Internal':true,'Count Failed Values':true}", false, ERR_OK},
        {"{'ID':7,'Name':'0123456789012345678901234567890123456789012345678901234567890123456789\xE9','Update':123456789012345678901234567890,'Value':[],'Internal':true,"
            "'Count Failed Values':true}", false, ERR_OK},
        {"{ 'ID' :7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true }", false, ERR_OK},
        {"{'ID':07,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':00,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n\t','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':,'Value':2,'Internal':true,'Count Failed Values':true}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':truee}", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true]", false, ERR_CORRUPT},
        {"{'ID':7,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true,'Metadata':'sql'", false, ERR_CORRUPT},
    };
    /* What the task before looked like changes nothing. */
    static const char *const before[] = {NULL, "7", "17", "123456789012345"};
    char tail[700], text[2000];
    memset(tail, 'x', sizeof tail);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        for (size_t b = 0; b < ARRAY_LENGTH(before); b++)
            for (int near_the_end = 0; near_the_end < 2; near_the_end++) {
                memset(&f->memory, 0, sizeof f->memory);
                if (before[b]) {
                    snprintf(text, sizeof text, ENDED ",'Accumulables':[{'ID':%s,'Name':'n','Update':1,'Value':2,'Internal':true,'Count Failed Values':true}]},'Task Type':'%.*s'}",
                             before[b], (int)sizeof tail, tail);
                    assert_int_equal(decode_text(f, text), ERR_OK);
                    assert_int_equal(f->memory.heads[0].id_len, strlen(before[b]));
                }
                snprintf(text, sizeof text, ENDED ",'Accumulables':[%s,{'ID':8,'Name':'last'}]},'Task Type':'%.*s'}", cases[i].json, near_the_end ? 1 : (int)sizeof tail, tail);
                assert_int_equal(decode_text(f, text), cases[i].code);
                if (cases[i].code)
                    continue;
                assert_int_equal(f->event.task_end.shown.count, 1 + cases[i].shown);
                assert_i64(f->event.task_end.shown.items[0].id, cases[i].shown ? 7 : 8);
            }
}

static void what_is_remembered_of_the_task_before_is_only_how_accumulables_begin(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *id, *name, *update;
        int64_t peak;
    } tasks[] = {
        {"3", "internal.metrics.peakExecutionMemory", "4096", 4096},
        {"3", "internal.metrics.peakExecutionMemory", "8192", 8192},
        {"44", "internal.metrics.peakExecutionMemory", "1", 1},
        {"44", "internal.metrics.peakExecutionMemorx", "2", UNKNOWN},
        {"44", "internal.metrics.peakExecutionMemory", "3", 3},
        {"44", "a name that is longer than the longest one that is remembered, so that of the next task is read", "4", UNKNOWN},
        {"44", "internal.metrics.peakExecutionMemory", "5", 5},
    };
    char tail[700], text[2000];
    memset(tail, 'x', sizeof tail);
    for (size_t i = 0; i < ARRAY_LENGTH(tasks); i++) {
        snprintf(text, sizeof text,
                 ENDED ",'Accumulables':[{'ID':%s,'Name':'%s','Update':%s,'Value':99,'Internal':true,'Count Failed Values':true}]},'Task Metrics':{'Executor Run Time':1},"
                 "'Task Type':'%.*s'}", tasks[i].id, tasks[i].name, tasks[i].update, (int)sizeof tail, tail);
        assert_int_equal(decode_text(f, text), ERR_OK);
        assert_i64(f->event.task_end.metrics[METRIC_PEAK_EXECUTION_MEMORY], tasks[i].peak);
    }
}

static void a_hundred_accumulables_keep_their_order(void **state)
{
    struct fixture *f = *state;
    char text[20000];
    size_t used = (size_t)snprintf(text, sizeof text, ENDED ",'Accumulables':[");
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s{'ID':%d,'Name':'n%d','Update':'%d'}", i ? "," : "", i, i, i * i);
    snprintf(text + used, sizeof text - used, "]}}");
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END, text)->task_end;
    assert_int_equal(t->shown.count, 100);
    for (int i = 0; i < 100; i++) {
        char square[16];
        snprintf(square, sizeof square, "%d", i * i);
        assert_i64(t->shown.items[i].id, i);
        assert_text(t->shown.items[i].update, square);
    }
}

/* make_damaged.py, int_overflow and negative_times. */
static void numbers_that_cannot_be_are_unknown_and_counted(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        ENDED ",'Launch Time':1000,'Finish Time':-4000},'Task Metrics':{'Executor Run Time':99999999999999999999999,'JVM GC Time':-9223372036854775809,"
            "'Result Size':9223372036854775807,'Memory Bytes Spilled':1e400,"
        "'Disk Bytes Spilled':-17,'Executor CPU Time':12.75,'Input Metrics':{'Bytes Read':-1},'Output Metrics':{'Bytes Written':'12'}}}")->task_end;
    assert_i64(t->info.finish_ms, UNKNOWN);
    assert_i64(t->metrics[METRIC_EXECUTOR_RUN_TIME], UNKNOWN);
    assert_i64(t->metrics[METRIC_JVM_GC_TIME], UNKNOWN);
    assert_i64(t->metrics[METRIC_RESULT_SIZE], INT64_MAX);
    assert_i64(t->metrics[METRIC_MEMORY_SPILLED], UNKNOWN);
    assert_i64(t->metrics[METRIC_DISK_SPILLED], UNKNOWN);
    assert_i64(t->metrics[METRIC_EXECUTOR_CPU_TIME], 12);
    assert_i64(t->metrics[METRIC_INPUT_BYTES], UNKNOWN);
    assert_i64(t->metrics[METRIC_OUTPUT_BYTES], UNKNOWN);
    assert_int_equal(f->event.out_of_range, 6);
}

/* make_damaged.py, task_end_bare. */
static void a_bare_task_end_is_one(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        "{'Event':'SparkListenerTaskEnd','Stage ID':3,'Stage Attempt ID':0,'Task End Reason':{'Reason':'FromTheFuture'},'Task Info':{'Task ID':7}}")->task_end;
    assert_i64(t->stage_id, 3);
    assert_i64(t->info.id, 7);
    assert_int_equal(t->reason, END_OTHER);
    assert_text(t->error, "FromTheFuture");
    assert_i64(t->info.launch_ms, UNKNOWN);
    assert_text(t->info.executor_id, NULL);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskEnd','Stage ID':3,'Task End Reason':{'Reason':'Success'},'Task Info':{'Index':7}}"), ERR_INVALID);
    assert_string_equal(f->err.message, "task end without a stage id or a task id");
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskEnd','Stage ID':'3','Task Info':{'Task ID':7}}"), ERR_INVALID);
}

static void of_duplicate_keys_the_last_wins_whole(void **state)
{
    struct fixture *f = *state;
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END,
        "{'Event':'SparkListenerTaskEnd','Stage ID':3,'Stage ID':4,'Task End Reason':{'Reason':'TaskKilled','Kill Reason':'k'},'Task End Reason':{'Reason':'Success'},"
        "'Task Info':{'Task ID':7,'Index':1,'Failed':true,'Accumulables':[{'ID':1,'Name':'n'}]},'Task Info':{'Task ID':8,'Task ID':9},"
        "'Task Metrics':{'JVM GC Time':1,'Input Metrics':{'Bytes Read':1}},'Task Metrics':{'Result Size':2,'Shuffle Read Metrics':{'Local Bytes Read':1},"
        "'Shuffle Read Metrics':{'Remote Bytes Read':2}},"
        "'Task Executor Metrics':{'JVMHeapMemory':1},'Task Executor Metrics':null}")->task_end;
    assert_i64(t->stage_id, 4);
    assert_i64(t->info.id, 9);
    assert_i64(t->info.index, UNKNOWN);
    assert_false(t->info.failed);
    assert_int_equal(t->shown.count, 0);
    assert_int_equal(t->reason, END_SUCCESS);
    assert_text(t->error, NULL);
    assert_text(t->kill_reason, NULL);
    assert_i64(t->metrics[METRIC_JVM_GC_TIME], UNKNOWN);
    assert_i64(t->metrics[METRIC_INPUT_BYTES], UNKNOWN);
    assert_i64(t->metrics[METRIC_RESULT_SIZE], 2);
    assert_i64(t->metrics[METRIC_SHUFFLE_LOCAL_READ], UNKNOWN);
    assert_i64(t->metrics[METRIC_SHUFFLE_REMOTE_READ], 2);
    assert_false(t->has_peaks);
    assert_i64(t->peaks[PEAK_JVM_HEAP_MEMORY], UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_starts), cmocka_unit_test(a_task_of_1_0_starts), cmocka_unit_test(localities_are_words), cmocka_unit_test(a_result_is_fetched),
            cmocka_unit_test(a_task_of_4_3_ends),
        cmocka_unit_test(every_task_metric_is_read_in_any_order), cmocka_unit_test(only_the_spelling_of_push_metrics_that_spark_writes_counts),
            cmocka_unit_test(what_a_task_did_not_report_is_unknown_and_not_zero),
        cmocka_unit_test(a_task_of_1_2_ends), cmocka_unit_test(the_peak_of_execution_memory_of_2_x_is_an_accumulable),
        cmocka_unit_test(people_see_accumulables_that_are_neither_internal_nor_sql), cmocka_unit_test(accumulables_of_nearly_the_usual_shape_are_read_with_care),
            cmocka_unit_test(what_is_remembered_of_the_task_before_is_only_how_accumulables_begin), cmocka_unit_test(a_hundred_accumulables_keep_their_order),
        cmocka_unit_test(numbers_that_cannot_be_are_unknown_and_counted), cmocka_unit_test(a_bare_task_end_is_one), cmocka_unit_test(of_duplicate_keys_the_last_wins_whole),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
