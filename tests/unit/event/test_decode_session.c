/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event/event_fixture.h"

#define THRIFT "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer"
#define CONNECT "org.apache.spark.sql.connect.service.SparkListenerConnect"
#define TAG "SparkConnect_OperationTag_User_svc-reports_Session_1ff8c0b6_Operation_d1d4090b"

/* Lines of Spark 3.5.7 and 4.3.0, which write the same. */
static void a_thrift_session_opens_and_closes(void **state)
{
    struct fixture *f = *state;
    const struct event_server_session *s = &must_decode(f, EVENT_SERVER_SESSION,
        "{'Event':'" THRIFT "SessionCreated','ip':'127.0.0.1','sessionId':'014327ac-bf77-46d5-b016-f21e6f40def6','userName':'alice','startTime':1795989534319}")->server_session;
    assert_int_equal(s->server, SERVER_THRIFT);
    assert_false(s->closed);
    assert_text(s->id, "014327ac-bf77-46d5-b016-f21e6f40def6");
    assert_text(s->user, "alice");
    assert_text(s->ip, "127.0.0.1");
    assert_i64(s->time_ms, 1795989534319);
    s = &must_decode(f, EVENT_SERVER_SESSION, "{'Event':'" THRIFT "SessionClosed','sessionId':'014327ac-bf77-46d5-b016-f21e6f40def6','finishTime':1795989539149}")->server_session;
    assert_true(s->closed);
    assert_text(s->user, NULL);
    assert_text(s->ip, NULL);
    assert_i64(s->time_ms, 1795989539149);
}

static void the_events_of_a_thrift_statement(void **state)
{
    struct fixture *f = *state;
    const struct event_server_operation *o = &must_decode(f, EVENT_SERVER_OPERATION,
        "{'Event':'" THRIFT "OperationStart','id':'47cfb24d','sessionId':'014327ac','statement':'select 1','groupId':'47cfb24d-group','startTime':1795989535921,'userName':'alice'}")
        ->server_operation;
    assert_int_equal(o->server, SERVER_THRIFT);
    assert_int_equal(o->state, OPERATION_STARTED);
    assert_text(o->key, "47cfb24d");
    assert_text(o->id, "47cfb24d");
    assert_text(o->session_id, "014327ac");
    assert_text(o->statement, "select 1");
    assert_text(o->job_group, "47cfb24d-group");
    assert_text(o->user, "alice");
    assert_text(o->plan, NULL);
    assert_i64(o->time_ms, 1795989535921);
    assert_i64(o->produced_rows, UNKNOWN);
    o = &must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" THRIFT "OperationParsed','id':'47cfb24d','executionPlan':'== Parsed Logical Plan ==\\nOneRowRelation'}")->server_operation;
    assert_int_equal(o->state, OPERATION_COMPILED);
    assert_text(o->plan, "== Parsed Logical Plan ==\nOneRowRelation");
    assert_i64(o->time_ms, UNKNOWN);
    o = &must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" THRIFT "OperationError','id':'7bc6e0ac','errorMsg':'no such table','errorTrace':'E: no\\n\\tat X','finishTime':1795989539121}")
        ->server_operation;
    assert_int_equal(o->state, OPERATION_FAILED);
    assert_text(o->error, "no such table");
    assert_text(o->trace, "E: no\n\tat X");
    assert_i64(o->time_ms, 1795989539121);
    static const struct {
        const char *name, *time;
        enum operation_state state;
    } others[] = {{"Finish", "finishTime", OPERATION_FINISHED}, {"Canceled", "finishTime", OPERATION_CANCELED}, {"Timeout", "finishTime", OPERATION_TIMED_OUT}, {"Closed", "closeTime", OPERATION_CLOSED}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        char line[300];
        snprintf(line, sizeof line, "{'Event':'" THRIFT "Operation%s','id':'a','%s':5}", others[i].name, others[i].time);
        o = &must_decode(f, EVENT_SERVER_OPERATION, line)->server_operation;
        assert_int_equal(o->state, others[i].state);
        assert_i64(o->time_ms, 5);
    }
}

/* Lines of Spark 4.3.0, ids shortened. */
static void the_events_of_a_connect_session(void **state)
{
    struct fixture *f = *state;
    const struct event_server_session *s = &must_decode(f, EVENT_SERVER_SESSION,
        "{'Event':'" CONNECT "SessionStarted','sessionId':'1ff8c0b6','userId':'svc-reports','eventTime':1795989942278,'extraTags':{}}")->server_session;
    assert_int_equal(s->server, SERVER_CONNECT);
    assert_false(s->closed);
    assert_text(s->id, "1ff8c0b6");
    assert_text(s->user, "svc-reports");
    assert_i64(s->time_ms, 1795989942278);
    assert_true(must_decode(f, EVENT_SERVER_SESSION, "{'Event':'" CONNECT "SessionClosed','sessionId':'1ff8c0b6','userId':'svc-reports','eventTime':9,'extraTags':{}}")->server_session.closed);
}

static void the_events_of_a_connect_operation(void **state)
{
    struct fixture *f = *state;
    const struct event_server_operation *o = &must_decode(f, EVENT_SERVER_OPERATION,
        "{'Event':'" CONNECT "OperationStarted','jobTag':'" TAG "','operationId':'d1d4090b','eventTime':1795989942826,'sessionId':'1ff8c0b6','userId':'svc-reports','userName':'',"
        "'statementText':'common {\\n  plan_id: 2\\n}\\n','sparkSessionTags':['report-7','nightly'],'extraTags':{}}")->server_operation;
    assert_int_equal(o->server, SERVER_CONNECT);
    assert_int_equal(o->state, OPERATION_STARTED);
    assert_text(o->key, TAG);
    assert_text(o->id, "d1d4090b");
    assert_text(o->session_id, "1ff8c0b6");
    assert_text(o->user, "svc-reports");
    assert_text(o->statement, "common {\n  plan_id: 2\n}\n");
    assert_text(o->tags, "report-7,nightly");
    assert_text(o->job_group, NULL);
    assert_i64(o->time_ms, 1795989942826);
    static const struct {
        const char *name;
        enum operation_state state;
    } others[] = {{"Analyzed", OPERATION_COMPILED}, {"ReadyForExecution", OPERATION_READY}, {"Finished", OPERATION_FINISHED}, {"Failed", OPERATION_FAILED}, {"Canceled", OPERATION_CANCELED},
                  {"Closed", OPERATION_CLOSED}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        char line[400];
        snprintf(line, sizeof line, "{'Event':'" CONNECT "Operation%s','jobTag':'" TAG "','operationId':'d1d4090b','eventTime':7,'extraTags':{}}", others[i].name);
        o = &must_decode(f, EVENT_SERVER_OPERATION, line)->server_operation;
        assert_int_equal(o->state, others[i].state);
        assert_text(o->key, TAG);
        assert_i64(o->time_ms, 7);
        assert_i64(o->produced_rows, UNKNOWN);
    }
    o = &must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" CONNECT "OperationFinished','jobTag':'t','operationId':'d','eventTime':7,'producedRowCount':10,'extraTags':{}}")->server_operation;
    assert_i64(o->produced_rows, 10);
    o = &must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" CONNECT "OperationFinished','jobTag':'t','operationId':'d','eventTime':7,'producedRowCount':null,'extraTags':{}}")->server_operation;
    assert_i64(o->produced_rows, UNKNOWN);
    o = &must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" CONNECT "OperationFailed','jobTag':'t','operationId':'d','eventTime':7,'errorMessage':'INTERNAL: no','extraTags':{}}")->server_operation;
    assert_text(o->error, "INTERNAL: no");
}

static void a_connect_server_begins_and_ends_to_listen(void **state)
{
    struct fixture *f = *state;
    const struct event_server_service *s = &must_decode(f, EVENT_SERVER_SERVICE,
        "{'Event':'" CONNECT "ServiceStarted','hostAddress':'localhost','bindingPort':15002,'eventTime':1795989938818}")->server_service;
    assert_false(s->ended);
    assert_text(s->host, "localhost");
    assert_int_equal(s->port, 15002);
    assert_int_equal(s->time_ms, 1795989938818);
    s = &must_decode(f, EVENT_SERVER_SERVICE, "{'Event':'" CONNECT "ServiceEnd','hostAddress':'localhost','bindingPort':-1}")->server_service;
    assert_true(s->ended);
    assert_int_equal(s->port, UNKNOWN);
    assert_int_equal(s->time_ms, UNKNOWN);
}

static void the_name_stands_in_when_there_is_no_user_id(void **state)
{
    struct fixture *f = *state;
    assert_text(must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" CONNECT "OperationStarted','jobTag':'t','userId':'','userName':'bob'}")->server_operation.user, "bob");
}

static void values_of_other_kinds_are_unknown(void **state)
{
    struct fixture *f = *state;
    const struct event_server_operation *o = &must_decode(f, EVENT_SERVER_OPERATION,
        "{'Event':'" CONNECT "OperationStarted','jobTag':'t','eventTime':'soon','sessionId':5,'statementText':{'a':[1]},'sparkSessionTags':[1,'',null,{},'x'],'producedRowCount':-4}")
        ->server_operation;
    assert_i64(o->time_ms, UNKNOWN);
    assert_text(o->session_id, NULL);
    assert_text(o->statement, NULL);
    assert_text(o->tags, "x");
    assert_i64(o->produced_rows, UNKNOWN);
    assert_int_equal(f->event.out_of_range, 1);
}

static void without_an_id_there_is_nothing_to_tell(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {
        "{'Event':'" THRIFT "SessionCreated','ip':'127.0.0.1'}", "{'Event':'" THRIFT "OperationStart','statement':'select 1'}", "{'Event':'" CONNECT "SessionClosed','sessionId':''}",
        "{'Event':'" CONNECT "OperationClosed','operationId':'d'}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        assert_int_equal(decode_text(f, lines[i]), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'" CONNECT "OperationClosed','jobTag':'t'"), ERR_CORRUPT);
    must_decode(f, EVENT_UNKNOWN, "{'Event':'" CONNECT "ServiceMoved','hostAddress':'localhost','bindingPort':15002,'eventTime':1}");
}

static void the_last_event_name_decides(void **state)
{
    struct fixture *f = *state;
    const struct event *e = must_decode(f, EVENT_SERVER_OPERATION, "{'Event':'" THRIFT "OperationStart','id':'a','finishTime':3,'Event':'" THRIFT "OperationFinish'}");
    assert_int_equal(e->server_operation.state, OPERATION_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thrift_session_opens_and_closes), cmocka_unit_test(the_events_of_a_thrift_statement), cmocka_unit_test(the_events_of_a_connect_session),
        cmocka_unit_test(the_events_of_a_connect_operation), cmocka_unit_test(the_name_stands_in_when_there_is_no_user_id), cmocka_unit_test(values_of_other_kinds_are_unknown),
        cmocka_unit_test(without_an_id_there_is_nothing_to_tell), cmocka_unit_test(the_last_event_name_decides), cmocka_unit_test(a_connect_server_begins_and_ends_to_listen),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
