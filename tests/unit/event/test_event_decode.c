/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event/event_fixture.h"
#include "tests/unit/event/real_task_end.h"

#include "base/mem.h"

static void names_lead_to_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum event_kind kind;
    } cases[] = {
        {"SparkListenerLogStart", EVENT_LOG_START}, {"DBCEventLoggingListenerMetadata", EVENT_LOG_START}, {"SparkListenerApplicationStart", EVENT_APPLICATION_START},
        {"SparkListenerApplicationEnd", EVENT_APPLICATION_END}, {"SparkListenerEnvironmentUpdate", EVENT_ENVIRONMENT_UPDATE}, {"SparkListenerResourceProfileAdded",
            EVENT_RESOURCE_PROFILE_ADDED},
        {"SparkListenerBlockManagerAdded", EVENT_BLOCK_MANAGER_ADDED}, {"SparkListenerBlockManagerRemoved", EVENT_BLOCK_MANAGER_REMOVED}, {"SparkListenerExecutorAdded",
            EVENT_EXECUTOR_ADDED},
        {"SparkListenerExecutorRemoved", EVENT_EXECUTOR_REMOVED}, {"SparkListenerJobStart", EVENT_JOB_START}, {"SparkListenerJobEnd", EVENT_JOB_END},
        {"SparkListenerStageSubmitted", EVENT_STAGE_SUBMITTED}, {"SparkListenerStageCompleted", EVENT_STAGE_COMPLETED}, {"SparkListenerTaskStart", EVENT_TASK_START},
        {"SparkListenerTaskGettingResult", EVENT_TASK_GETTING_RESULT}, {"SparkListenerTaskEnd", EVENT_TASK_END}, {"SparkListenerUnpersistRDD", EVENT_UNPERSIST_RDD},
        {"SparkListenerBlockUpdated", EVENT_BLOCK_UPDATED}, {"SparkListenerStageExecutorMetrics", EVENT_STAGE_EXECUTOR_METRICS},
        {"SparkListenerExecutorMetricsUpdate", EVENT_EXECUTOR_METRICS_UPDATE}, {"org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded", EVENT_PROCESS_ADDED},
        {"org.apache.spark.scheduler.SparkListenerNodeUnexcluded", EVENT_EXCLUSION}, {"org.apache.spark.scheduler.SparkListenerExecutorBlacklistedForStage", EVENT_EXCLUSION},
        {"org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent", EVENT_STREAMING_STARTED},
        {"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent", EVENT_STREAMING_PROGRESS},
        {"org.apache.spark.sql.streaming.StreamingQueryListener$QueryIdleEvent", EVENT_STREAMING_IDLE},
        {"org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent", EVENT_STREAMING_TERMINATED},
        {"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgress", EVENT_UNKNOWN},      /* 2.0.0 */
        {"org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerSessionClosed", EVENT_SERVER_SESSION},
        {"org.apache.spark.sql.connect.service.SparkListenerConnectOperationReadyForExecution", EVENT_SERVER_OPERATION},
        {"org.apache.spark.sql.connect.service.SparkListenerConnectServiceStarted", EVENT_SERVER_SERVICE},
        {"org.apache.spark.sql.connect.service.SparkListenerConnectServiceEnd", EVENT_SERVER_SERVICE},
        {"org.apache.spark.sql.connect.service.SparkListenerConnectServiceMoved", EVENT_UNKNOWN},
        {"SparkListenerTask", EVENT_UNKNOWN}, {"SparkListenerTaskEnd2", EVENT_UNKNOWN}, {"sparklistenertaskend", EVENT_UNKNOWN}, {"", EVENT_UNKNOWN},
            {"com.example.SparkListenerTaskEnd", EVENT_UNKNOWN},
        {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", EVENT_SQL_START}, {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", EVENT_SQL_END},
        {"org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates", EVENT_SQL_DRIVER_UPDATES},
        {"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate", EVENT_SQL_PLAN_UPDATE},
        {"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveSQLMetricUpdates", EVENT_SQL_METRIC_UPDATE},
        {"org.apache.spark.sql.execution.ui.SparkListenerQueryExecutionMetrics", EVENT_UNKNOWN}, {"SparkListenerSQLExecutionStart", EVENT_UNKNOWN},
        {"org.apache.spark.scheduler.", EVENT_UNKNOWN},
    };
    bool seen[EVENT_KIND_MAX_] = {false};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        assert_int_equal(event_kind_of(str_of(cases[i].name)), cases[i].kind);
        seen[cases[i].kind] = true;
    }
    for (int i = 0; i < EVENT_KIND_MAX_; i++)
        assert_true(seen[i]);
    assert_int_equal(event_kind_of(STR_NONE), EVENT_UNKNOWN);
}

/* make_damaged.py, unknown_events. */
static void an_event_from_elsewhere_has_only_its_name(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_UNKNOWN, "{'Event':'com.example.Foo','x':{'y':[1,2,3]}}");
    assert_text(e->name, "com.example.Foo");
    must_decode(f, EVENT_UNKNOWN, "{'Event':'SparkListenerFromTheFuture','Stage ID':'text instead of a number'}");
    assert_int_equal(decode_text(f, "{'Event':'com.example.Foo','x':{'y':[1,2,3}}}"), ERR_CORRUPT);
    assert_int_equal(decode_text(f, "{'Event':'com.example.Foo','x':{'y':[1,2,3]}"), ERR_CORRUPT);
}

static void the_name_need_not_come_first(void **state)
{
    struct fixture *f = *state;
    static const char *const same[] = {
        "{'Job ID':3,'Completion Time':7,'Event':'SparkListenerJobEnd'}", "{'Job ID':3,'Event':'SparkListenerJobEnd','Completion Time':7}",
        "{'Event' : 'SparkListenerJobEnd' , 'Job ID' : 3 , 'Completion Time' : 7}",
        "  \t{ 'Job ID': 3,\t'Completion Time': 7 ,'Event':\r'SparkListenerJobEnd' } \r", "{'\\u0045vent':'SparkListenerJob\\u0045nd','Job\\u0020ID':3,'Completion Time':7}",
        "{'Event':'SparkListenerJobEnd','Job ID':3,'Completion Time':7} and more {{{ text \\ that nobody reads",
        "{'Event':'SparkListenerJobEnd','Job ID':3,'Completion Time':7}{'Event':'x'}",
        "{'Event':7,'Job ID':3,'Completion Time':7,'Event':'SparkListenerJobEnd'}", "{'Event':'SparkListenerJobStart','Job ID':3,'Completion Time':7,"
        "'Event':'SparkListenerJobEnd'}",
        "{'Event':'Nobody','Job ID':3,'Completion Time':7,'Event':'SparkListenerJobEnd'}", "{'Event':'SparkListenerJobEnd','Job ID':3,'Completion Time':7,"
        "'Event':'SparkListenerJobEnd'}",
        "{'Job ID':9,'Event':'SparkListenerJobStart','Job ID':3,'Completion Time':7,'Event':'SparkListenerJobEnd','job id':8}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(same); i++) {
        struct event *e = must_decode(f, EVENT_JOB_END, same[i]);
        assert_text(e->name, "SparkListenerJobEnd");
        assert_i64(e->job_end.id, 3);
        assert_i64(e->job_end.completion_ms, 7);
    }
    assert_text(must_decode(f, EVENT_UNKNOWN, "{'Event':'SparkListenerJobEnd','Job ID':3,'Event':'Nobody'}")->name, "Nobody");
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerJobEnd','Job ID':3,'Event':null}"), ERR_INVALID);
    /* What the first walk counted is not counted twice. */
    struct event *e = must_decode(f, EVENT_JOB_END, "{'Job ID':3,'Completion Time':-7,'x':'\\ud800','Event':'SparkListenerJobEnd'}");
    assert_int_equal(e->out_of_range, 1);
}

static void zeros_blanks_and_a_byte_order_mark_before_a_line_are_passed_over(void **state)
{
    struct fixture *f = *state;
    static const char bytes[] = "\0\0\0\0 \0{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":4}";
    assert_int_equal(decode_bytes(f, bytes, sizeof bytes - 1), ERR_OK);
    assert_i64(f->event.unpersist.rdd_id, 4);
    assert_i64(must_decode(f, EVENT_UNPERSIST_RDD, "\xEF\xBB\xBF{'Event':'SparkListenerUnpersistRDD','RDD ID':4}")->unpersist.rdd_id, 4);
    char zeros[4096] = {0};
    assert_int_equal(decode_bytes(f, zeros, sizeof zeros), ERR_CORRUPT);
    assert_int_equal(decode_bytes(f, "{\"Event\":\"x\"\0}", 14), ERR_CORRUPT);
    assert_int_equal(decode_bytes(f, "{\"Event\":\"x\0y\"}", 15), ERR_CORRUPT);
}

/* make_damaged.py, not_objects. */
static void json_that_is_no_event_is_invalid(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {
        "42", "-1.5e3", "null", "[]", "'x'", "true", "false", "{}", "{'Event':7}", "{'Event':null}", "{'Event':{'Event':'SparkListenerJobEnd'}}",
        "{'event':'SparkListenerJobStart'}", "[{'Event':'SparkListenerJobEnd'}]", "", "   ", "\t\r",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        assert_int_equal(decode_text(f, lines[i]), ERR_INVALID);
    assert_int_equal(event_decode(STR_NONE, &f->scratch, NULL, &f->event, NULL), ERR_INVALID);
}

static void what_is_not_json_is_corrupt_and_says_where(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {
        "x", "nul", "{", "[", "{'Event'", "{'Event':", "{'Event':'SparkListenerJobEnd'", "{'Event':'SparkListenerJobEnd',", "{'Event':'SparkListenerJobEnd','Job ID':1",
        "{'Event':'SparkListenerJobEnd','Job ID':1]",
        "{'Event':'SparkListenerJobEnd','Job ID':1,}", "{'Event':'SparkListenerJobEnd' 'Job ID':1}", "{'Event':'SparkListenerJobEnd','Job ID':01}",
        "{'Event':'SparkListenerJobEnd','Job ID':1x}",
        "{'Event':'SparkListenerJobEnd','Job ID':1,'z':{{}}}", "{'Event':'SparkListenerJobEnd','Job ID':1,'z':[[[[}", "{'Event':'SparkListenerJobEnd','Job ID':1,'z':NaN}",
        "{'Event':'SparkListenerJobEnd','Job ID':1,'z':'\x01'}",
        "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{{'Task ID':5}}", "[1,2", "'x", "{{}}", "[[[[[[[", "}", "]",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
        if (decode_text(f, lines[i]) != ERR_CORRUPT)
            print_error("%s\n", lines[i]);
        assert_int_equal(f->err.code, ERR_CORRUPT);
    }
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerJobEnd','Job ID':x}"), ERR_CORRUPT);
    assert_string_equal(f->err.message, "expected a value at byte 40 of the line");
    assert_int_equal(f->err.offset, 40);
}

/* make_damaged.py, garbage_line: noise of many seeds. Nothing may come out of it. */
static void noise_is_corrupt(void **state)
{
    struct fixture *f = *state;
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        char bytes[3000];
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            bytes[i] = (char)(random >> 56);
        }
        bytes[0] = (char)(bytes[0] | 0x80);
        assert_int_equal(decode_bytes(f, bytes, sizeof bytes), ERR_CORRUPT);
    }
}

/* A real line of 4684 bytes, cut behind each of its bytes, with its own rest in the padding. */
static void a_task_end_that_is_cut_anywhere_is_corrupt(void **state)
{
    struct fixture *f = *state;
    char json[8192];
    size_t len = (size_t)snprintf(json, sizeof json, "%s", real_task_end());
    for (size_t i = 0; i < len; i++)
        json[i] = json[i] == '\'' ? '"' : json[i];
    for (size_t cut = 1; cut < len; cut++) {
        assert_int_equal(decode_bytes_before(f, json, cut, json + cut, len - cut), ERR_CORRUPT);
        assert_int_equal(decode_bytes(f, json, cut), ERR_CORRUPT);
    }
    assert_int_equal(decode_bytes(f, json, len), ERR_OK);
    assert_i64(f->event.task_end.metrics[METRIC_EXECUTOR_RUN_TIME], 131);
}

/* The same line with one byte changed to another at each place: whatever comes of it, no fault, and no text that is not UTF-8. */
static void a_changed_byte_never_breaks_the_reader(void **state)
{
    struct fixture *f = *state;
    static const char to[] = {'"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', ' ', '\0', '\x7F', '\x80', '\xFF'};
    char json[8192];
    size_t len = (size_t)snprintf(json, sizeof json, "%s", real_task_end());
    for (size_t i = 0; i < len; i++)
        json[i] = json[i] == '\'' ? '"' : json[i];
    for (size_t at = 0; at < len; at++) {
        char was = json[at];
        json[at] = to[at % sizeof to];
        enum err_code code = decode_bytes(f, json, len);
        assert_true(code == ERR_OK || code == ERR_CORRUPT || code == ERR_INVALID);
        if (code == ERR_OK && f->event.kind == EVENT_TASK_END) {
            assert_int_equal(utf8_valid_prefix(f->event.task_end.info.host.ptr, f->event.task_end.info.host.len), f->event.task_end.info.host.len);
            for (size_t i = 0; i < f->event.task_end.shown.count; i++)
                assert_int_equal(utf8_valid_prefix(f->event.task_end.shown.items[i].name.ptr, f->event.task_end.shown.items[i].name.len),
                    f->event.task_end.shown.items[i].name.len);
        }
        json[at] = was;
    }
}

/* make_damaged.py, json_legal_but_odd: a real line with blanks around every token, the name last, slashes and letters escaped. */
static void a_real_line_in_odd_but_legal_json_reads_the_same(void **state)
{
    struct fixture *f = *state;
    struct event_task_end plain = must_decode(f, EVENT_TASK_END, real_task_end())->task_end;
    const char *text = real_task_end();
    static char odd[60000];
    size_t used = 0;
    bool inside = false;
    odd[used++] = '{';
    /* Behind {'Event':'SparkListenerTaskEnd', */
    for (const char *p = text + sizeof "{'Event':'SparkListenerTaskEnd'," - 1; p[1]; p++) {
        if (*p == '\'')
            inside = !inside;
        if (inside && (*p == 'e' || *p == 'a'))
            used += (size_t)snprintf(odd + used, sizeof odd - used, "\\u00%02X", (unsigned)*p);
        else if (!inside && (*p == ',' || *p == ':' || *p == '{' || *p == '}' || *p == '[' || *p == ']'))
            used += (size_t)snprintf(odd + used, sizeof odd - used, " %c\t", *p);
        else
            odd[used++] = *p;
    }
    snprintf(odd + used, sizeof odd - used, " , 'Event' : 'SparkListenerT\\u0061skEnd' } ");
    struct event_task_end *t = &must_decode(f, EVENT_TASK_END, odd)->task_end;
    assert_memory_equal(t->metrics, plain.metrics, sizeof plain.metrics);
    assert_memory_equal(t->peaks, plain.peaks, sizeof plain.peaks);
    assert_i64(t->info.launch_ms, plain.info.launch_ms);
    assert_i64(t->info.locality, plain.info.locality);
    assert_text(t->info.host, "localhost");
    assert_int_equal(t->reason, END_SUCCESS);
    assert_int_equal(t->shown.count, 0);
}

/* make_damaged.py, invalid_utf8 and hostile_text. */
static void bad_text_is_repaired_and_counted(void **state)
{
    struct fixture *f = *state;
    struct event *e = must_decode(f, EVENT_APPLICATION_START,
        "{'Event':'SparkListenerApplicationStart','App Name':'caf\xE9 \xFF\xFE \xED\xA0\x80 ok','App ID':'a\\ud800\\u0000','User':'fine \xE2\x80\xA8','Timestamp':1,"
        "'skipped':'\xFF'}");
    assert_text(e->application_start.name, "caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ok");
    assert_text(e->application_start.id, "a\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_text(e->application_start.user, "fine \xE2\x80\xA8");
    assert_int_equal(e->repaired, 2);
    e = must_decode(f, EVENT_APPLICATION_START, "{'Event':'SparkListenerApplicationStart','App Name':'<script>alert(1)</script>`{{7*7}}%s%n\\u2028\\u202e../../etc/passwd',"
        "'App ID':'..','Timestamp':1}");
    assert_text(e->application_start.name, "<script>alert(1)</script>`{{7*7}}%s%n\xE2\x80\xA8\xE2\x80\xAE../../etc/passwd");
    assert_int_equal(e->repaired, 0);
}

/* make_damaged.py, deep_nesting. */
static void plans_nest_deeply_and_brackets_without_end_are_refused(void **state)
{
    struct fixture *f = *state;
    size_t room = 1 << 20, used = 0;
    char *text = malloc(room);
    used += (size_t)snprintf(text, room, "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart','executionId':0,'sparkPlanInfo':");
    for (int i = 0; i < 1500; i++)
        used += (size_t)snprintf(text + used, room - used, "{'nodeName':'N%d','simpleString':'N','children':[", i);
    used += (size_t)snprintf(text + used, room - used, "{}");
    for (int i = 0; i < 1500; i++)
        used += (size_t)snprintf(text + used, room - used, "],'metadata':{},'metrics':[]}");
    snprintf(text + used, room - used, ",'time':1700000000000}");
    assert_i64((int64_t)must_decode(f, EVENT_SQL_START, text)->sql_start.plan.node_count, 1501);
    memset(text, '[', 100000);
    assert_int_equal(decode_bytes(f, text, 100000), ERR_LIMIT);
    used = (size_t)snprintf(text, room, "{'Event':'x','a':");
    for (int i = 0; i < 100000; i++, used += 5)
        memcpy(text + used, "{'a':", 6);
    assert_int_equal(decode_text(f, text), ERR_LIMIT);
    memset(text, '[', 5000);
    assert_int_equal(decode_bytes(f, text, 5000), ERR_CORRUPT);
    free(text);
}

static const char *const rich[] = {
    "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart','executionId':1,'description':'a\\n','sparkPlanInfo':{'nodeName':'A\\t','children':[{'nodeName':'B',"
    "'metadata':{'a\\n':'b','c':'d'},'metrics':[{'name':'\\u00e9','accumulatorId':1,'metricType':'sum'}]},{'nodeName':'C'}]},'modifiedConfigs':{'a':'\\n','b':'c'},'jobTags':['\\n','b']}",
    "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates','executionId':1,'accumUpdates':[[1,2],[3,4]]}",
    "{'Event':'SparkListenerJobStart','Job ID':1,'Stage Infos':[{'Stage ID':1,'Stage Name':'a\\n','RDD Info':[{'RDD ID':1,'Name':'\\t','Parent IDs':[1,2,3]}],'Parent IDs':[4],"
    "'Accumulables':[{'ID':1,'Name':'\\u00e9'}]}],"
    "'Stage IDs':[1],'Properties':{'a':'1','b\\n':'2','a':'3'}}",
    "{'Event':'SparkListenerJobStart','Job ID':1,'Stage IDs':[1,2]}",
    "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task End Reason':{'Reason':'ExceptionFailure','Class Name':'E','Stack Trace':[{'Declaring Class':'a\\u0041',"
    "'Line Number':5}]},'Task Info':{'Task ID':1,'Accumulables':[{'ID':1,'Name':'\xFF'}]}}",
    "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task End Reason':{'Reason':'TaskCommitDenied'},'Task Info':{'Task ID':1}}",
    "{'Event':'SparkListenerExecutorAdded','Executor ID':'1\\n','Executor Info':{'Log Urls':{'x':'y'},'Resources':{'gpu':{'addresses':['1']}}}}",
    "{'Event':'SparkListenerResourceProfileAdded','Resource Profile Id':1,"
    "'Task Resource Requests':{'cpus':{'Amount':1.00000000000000000000000000000000000000000000000000000000000000000000000000000}}}",
    "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'driver','Executor Metrics Updated':[{'Stage ID':-1,'Stage Attempt ID':-1,'Executor Metrics':{}}]}",
    "{'Event':'SparkListenerEnv\\u0069ronmentUpdate','Spark Properties':{'a':'b'},'JVM Information':{'c':'\\n'}}",
};

/* 4 KiB is the first block of an arena: padding the scratch up makes every later allocation of a line need one of its own. */
static void every_failing_allocation_is_out_of_memory_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LENGTH(rich); i++) {
        assert_int_equal(decode_text(f, rich[i]), ERR_OK);
        for (size_t left = 0; left < 1024; left += 16) {
            struct arena scratch;
            char *json = malloc(strlen(rich[i]) + EVENT_LINE_PADDING);
            struct str line = {json, strlen(rich[i])};
            for (size_t c = 0; c < line.len; c++)
                json[c] = rich[i][c] == '\'' ? '"' : rich[i][c];
            memset(json + line.len, 0, EVENT_LINE_PADDING);
            enum err_code code = ERR_NOMEM;
            for (uint64_t nth = 1; code; nth++) {
                arena_init(&scratch, SCRATCH_BYTES);
                if (left)
                    assert_non_null(arena_alloc(&scratch, 4096 - left));
                mem_fail_at(nth, 0);
                code = event_decode(line, &scratch, NULL, &f->event, &f->err);
                bool reached = mem_alloc_count() >= nth;
                mem_fail_at(0, 0);
                assert_int_equal(code, reached ? ERR_NOMEM : ERR_OK);
                arena_dispose(&scratch);
            }
            free(json);
        }
    }
}

static void a_line_that_needs_more_than_scratch_holds_is_a_limit(void **state)
{
    struct fixture *f = *state;
    static const char line[] = "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\\nb\",\"App ID\":\"x\""
        "}                                                                 ";
    struct arena scratch;
    arena_init(&scratch, 4000);
    assert_int_equal(event_decode((struct str){line, sizeof line - 66}, &scratch, NULL, &f->event, &f->err), ERR_LIMIT);
    arena_dispose(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_to_kinds), cmocka_unit_test(an_event_from_elsewhere_has_only_its_name), cmocka_unit_test(the_name_need_not_come_first),
        cmocka_unit_test(zeros_blanks_and_a_byte_order_mark_before_a_line_are_passed_over), cmocka_unit_test(json_that_is_no_event_is_invalid),
            cmocka_unit_test(what_is_not_json_is_corrupt_and_says_where),
        cmocka_unit_test(noise_is_corrupt), cmocka_unit_test(a_task_end_that_is_cut_anywhere_is_corrupt), cmocka_unit_test(a_changed_byte_never_breaks_the_reader),
        cmocka_unit_test(a_real_line_in_odd_but_legal_json_reads_the_same), cmocka_unit_test(bad_text_is_repaired_and_counted),
            cmocka_unit_test(plans_nest_deeply_and_brackets_without_end_are_refused),
        cmocka_unit_test(every_failing_allocation_is_out_of_memory_and_nothing_else), cmocka_unit_test(a_line_that_needs_more_than_scratch_holds_is_a_limit),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
