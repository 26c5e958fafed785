/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts are those of the History Server, spec/core.md §1.6. */
#include "tests/unit/event/event_fixture.h"

static struct event_task_end *ended(struct fixture *f, const char *reason)
{
    char text[4096];
    snprintf(text, sizeof text, "{'Event':'SparkListenerTaskEnd','Stage ID':2,'Task End Reason':%s,'Task Info':{'Task ID':8}}", reason);
    return &must_decode(f, EVENT_TASK_END, text)->task_end;
}

static void each_reason_has_its_text(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *json;
        enum end_reason reason;
        const char *error, *kill_reason;
    } cases[] = {
        {"{'Reason':'Success'}", END_SUCCESS, NULL, NULL},
        {"{'Reason':'Resubmitted'}", END_RESUBMITTED, "Resubmitted (resubmitted due to lost executor)", NULL},
        {"{'Reason':'TaskResultLost'}", END_RESULT_LOST, "TaskResultLost (result lost from block manager)", NULL},
        {"{'Reason':'UnknownReason'}", END_UNKNOWN, "UnknownReason", NULL},
        {"{'Reason':'FromTheFuture','x':[{}]}", END_OTHER, "FromTheFuture", NULL},
        {"{}", END_UNKNOWN, NULL, NULL},
        {"{'Reason':7}", END_UNKNOWN, NULL, NULL},
        {"null", END_UNKNOWN, NULL, NULL},
        {"'Success'", END_UNKNOWN, NULL, NULL},

        {"{'Reason':'FetchFailed','Block Manager Address':{'Executor ID':'3','Host':'h.example','Port':7337},'Shuffle ID':1,'Map ID':42,'Map Index':7,'Reduce ID':5,"
            "'Message':'Connection reset\\n\\tat x'}", END_FETCH_FAILED,
         "FetchFailed(BlockManagerId(3, h.example, 7337, None), shuffleId=1, mapIndex=7, mapId=42, reduceId=5, message=\nConnection reset\n\tat x\n)", NULL},
        {"{'Message':'m','Reduce ID':5,'Map ID':42,'Shuffle ID':1,'Reason':'FetchFailed'}", END_FETCH_FAILED,
         "FetchFailed(null, shuffleId=1, mapIndex=Unknown, mapId=42, reduceId=5, message=\nm\n)", NULL},
        {"{'Reason':'FetchFailed','Shuffle ID':1,'Map ID':42,'Map Index':-2147483648,'Reduce ID':5}", END_FETCH_FAILED,
         "FetchFailed(null, shuffleId=1, mapIndex=Unknown, mapId=42, reduceId=5, message=\nUnknown reason\n)", NULL},

        {"{'Reason':'ExceptionFailure','Class Name':'java.lang.RuntimeException','Description':'boom','Stack Trace':[{'Declaring Class':'A','Method Name':'m',"
            "'File Name':'A.scala','Line Number':1}],"
         "'Full Stack Trace':'java.lang.RuntimeException: boom\\n\\tat A.m(A.scala:1)\\n','Accumulator Updates':[{'ID':1,'Update':'2'}]}", END_EXCEPTION,
         "java.lang.RuntimeException: boom\n\tat A.m(A.scala:1)\n", NULL},
        {"{'Reason':'ExceptionFailure','Class Name':'E','Description':'caf\\u00e9','Stack Trace':[{'Declaring Class':'a.B','Method Name':'m','File Name':'B.scala',"
            "'Line Number':12},"
         "{'Declaring Class':'a.C','Method Name':'<init>','File Name':'C.java','Line Number':-1},{'Declaring Class':'a.D','Method Name':'n','File Name':null,'Line Number':-1},"
         "{'Declaring Class':'a.E','Method Name':'invoke0','File Name':'E.java','Line Number':-2},{'Declaring Class':'a.F','Method Name':'z','File Name':'F\\u0041.java',"
         "'Line Number':0}],'Full Stack Trace':null}", END_EXCEPTION,
         "E: caf\xC3\xA9\n        a.B.m(B.scala:12)\n        a.C.<init>(C.java)\n        a.D.n(Unknown Source)\n        a.E.invoke0(Native Method)\n        a.F.z(FA.java:0)",
         NULL},
        {"{'Reason':'ExceptionFailure','Class Name':'E','Description':null,'Stack Trace':[]}", END_EXCEPTION, "E: \n", NULL},
        {"{'Reason':'ExceptionFailure'}", END_EXCEPTION, "null: \n", NULL},
        {"{'Reason':'ExceptionFailure','Class Name':'E','Description':'d','Stack Trace':{'a':1},'Metrics':{'Executor Run Time':5}}", END_EXCEPTION, "E: d\n", NULL},

        {"{'Reason':'TaskKilled','Kill Reason':'another attempt succeeded','Accumulator Updates':[]}", END_KILLED, "another attempt succeeded", "another attempt succeeded"},
        {"{'Reason':'TaskKilled'}", END_KILLED, "unknown reason", "unknown reason"},
        {"{'Reason':'TaskCommitDenied','Job ID':3,'Partition ID':1,'Attempt Number':2}", END_COMMIT_DENIED, "TaskCommitDenied (Driver denied task commit) for job: 3,"
            " partition: 1, attemptNumber: 2",
         "TaskCommitDenied (Driver denied task commit) for job: 3, partition: 1, attemptNumber: 2"},
        {"{'Reason':'TaskCommitDenied'}", END_COMMIT_DENIED, "TaskCommitDenied (Driver denied task commit) for job: -1, partition: -1, attemptNumber: -1",
         "TaskCommitDenied (Driver denied task commit) for job: -1, partition: -1, attemptNumber: -1"},
        {"{'Reason':'ExecutorLostFailure','Executor ID':'4','Exit Caused By App':true,'Loss Reason':'Command exited with code 137'}", END_EXECUTOR_LOST,
         "ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Command exited with code 137", NULL},
        {"{'Reason':'ExecutorLostFailure','Executor ID':'4','Exit Caused By App':false}", END_EXECUTOR_LOST,
            "ExecutorLostFailure (executor 4 exited unrelated to the running tasks)", NULL},
        {"{'Reason':'ExecutorLostFailure'}", END_EXECUTOR_LOST, "ExecutorLostFailure (executor Unknown exited caused by one of the running tasks)", NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct event_task_end *t = ended(f, cases[i].json);
        assert_int_equal(t->reason, cases[i].reason);
        assert_text(t->error, cases[i].error);
        assert_text(t->kill_reason, cases[i].kill_reason);
        assert_i64(t->stage_id, 2);
        assert_i64(t->info.id, 8);
    }
}

static void a_stack_trace_is_checked_even_where_nobody_reads_it(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerTaskEnd','Stage ID':2,'Task End Reason':{'Reason':'ExceptionFailure','Stack Trace':[{'Line Number':1]],"
        "'Full Stack Trace':'x'},'Task Info':{'Task ID':8}}"), ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_reason_has_its_text), cmocka_unit_test(a_stack_trace_is_checked_even_where_nobody_reads_it)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
