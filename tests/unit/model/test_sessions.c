/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/sessions.h"
#include "tests/unit/model/model_fixture.h"

#define T "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer"
#define C "org.apache.spark.sql.connect.service.SparkListenerConnect"
#define CONNECT_OPERATION(name, time) "{'Event':'" C "Operation" name "','jobTag':'tag','operationId':'op','eventTime':" time

static const struct server_operation *operation_of(const struct model_fixture *f, enum server_kind server, const char *key)
{
    assert_non_null(f->model->sessions);
    const struct server_operation *operation = smap_get(&f->model->sessions->operation_by_key[server], str_of(key));
    assert_non_null(operation);
    return operation;
}

static const struct server_session *session_of(const struct model_fixture *f, enum server_kind server, const char *id)
{
    assert_non_null(f->model->sessions);
    const struct server_session *session = smap_get(&f->model->sessions->session_by_id[server], str_of(id));
    assert_non_null(session);
    return session;
}

static void a_thrift_statement_that_fails(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{'Event':'" T "SessionCreated','ip':'10.0.0.1','sessionId':'s','userName':'alice','startTime':1767225600000}",
        "{'Event':'" T "OperationStart','id':'a','sessionId':'s','statement':'select 1/0','groupId':'g','startTime':1767225601000,'userName':'alice'}",
        "{'Event':'" T "OperationParsed','id':'a','executionPlan':'plan'}",
        "{'Event':'" T "OperationError','id':'a','errorMsg':'divided','errorTrace':'E: divided','finishTime':1767225602000}",
        "{'Event':'" T "OperationClosed','id':'a','closeTime':1767225603000}",
        "{'Event':'" T "SessionClosed','sessionId':'s','finishTime':1767225604000}",
    };
    for (unsigned n = 0; n < 60; n++) {
        struct model_fixture *f = fixture_new();
        fixture_play(f, lines, ARRAY_LENGTH(lines), n);
        const struct server_operation *o = operation_of(f, SERVER_THRIFT, "a");
        assert_int_equal(o->state, OPERATION_CLOSED);
        assert_int_equal(o->outcome, OPERATION_FAILED);
        assert_int_equal(o->start_seen, 1);
        assert_int_equal(o->start_ms, 1767225601000);
        assert_int_equal(o->finish_ms, 1767225602000);
        assert_int_equal(o->close_ms, 1767225603000);
        assert_str(o->operation_id, "a");
        assert_str(o->session_id, "s");
        assert_str(o->job_group, "g");
        assert_str(o->user, "alice");
        assert_string_equal(f->texts[o->statement_text_id], "select 1/0");
        assert_string_equal(f->texts[o->plan_text_id], "plan");
        assert_string_equal(f->texts[o->error_text_id], "divided");
        assert_string_equal(f->texts[o->trace_text_id], "E: divided");
        const struct server_session *s = session_of(f, SERVER_THRIFT, "s");
        assert_int_equal(s->start_ms, 1767225600000);
        assert_int_equal(s->finish_ms, 1767225604000);
        assert_int_equal(s->start_seen, 1);
        assert_int_equal(s->end_seen, 1);
        assert_str(s->user, "alice");
        assert_str(s->ip, "10.0.0.1");
        assert_int_equal(f->model->health.duplicate_event_count, 0);
        fixture_free(f);
    }
}

/* spec/sql.md §8.1: after each event. */
static void the_states_of_a_thrift_statement(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum operation_state state;
        int64_t outcome;
    } steps[] = {
        {"{'Event':'" T "OperationStart','id':'a','startTime':1}", OPERATION_STARTED, UNKNOWN},
        {"{'Event':'" T "OperationParsed','id':'a','executionPlan':'p'}", OPERATION_COMPILED, UNKNOWN},
        {"{'Event':'" T "OperationFinish','id':'a','finishTime':2}", OPERATION_FINISHED, OPERATION_FINISHED},
        {"{'Event':'" T "OperationClosed','id':'a','closeTime':3}", OPERATION_CLOSED, OPERATION_FINISHED},
        {"{'Event':'" T "OperationStart','id':'b','startTime':1}", OPERATION_STARTED, UNKNOWN},
        {"{'Event':'" T "OperationTimeout','id':'b','finishTime':2}", OPERATION_TIMED_OUT, OPERATION_TIMED_OUT},
        {"{'Event':'" T "OperationStart','id':'c','startTime':1}", OPERATION_STARTED, UNKNOWN},
        {"{'Event':'" T "OperationCanceled','id':'c','finishTime':2}", OPERATION_CANCELED, OPERATION_CANCELED},
        {"{'Event':'" T "OperationStart','id':'d','startTime':1}", OPERATION_STARTED, UNKNOWN},
        {"{'Event':'" T "OperationClosed','id':'d','closeTime':2}", OPERATION_CLOSED, UNKNOWN},
    };
    struct model_fixture *f = fixture_new();
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++) {
        fixture_apply(f, steps[i].line);
        char key[2] = {*(strstr(steps[i].line, "'id':'") + 6), '\0'};
        assert_int_equal(operation_of(f, SERVER_THRIFT, key)->state, steps[i].state);
        assert_int_equal(operation_of(f, SERVER_THRIFT, key)->outcome, steps[i].outcome);
    }
    fixture_free(f);
}

/* §1.6: canceled may follow finished and failed, failed may follow finished: the last in that order is the outcome, with its time. */
static void a_connect_operation_that_is_canceled_at_its_end(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{'Event':'" C "SessionStarted','sessionId':'s','userId':'u','eventTime':1767225600000}",
        CONNECT_OPERATION("Started", "1767225601000") ",'sessionId':'s','userId':'u','statementText':'range {}','sparkSessionTags':['x','y']}",
        CONNECT_OPERATION("Analyzed", "1767225601100") "}", CONNECT_OPERATION("Analyzed", "1767225601200") "}", CONNECT_OPERATION("ReadyForExecution", "1767225601300") "}",
        CONNECT_OPERATION("Finished", "1767225602000") ",'producedRowCount':7}", CONNECT_OPERATION("Failed", "1767225602100") ",'errorMessage':'gone'}",
        CONNECT_OPERATION("Canceled", "1767225602200") "}", CONNECT_OPERATION("Closed", "1767225603000") "}",
    };
    for (unsigned n = 0; n < 60; n++) {
        struct model_fixture *f = fixture_new();
        fixture_play(f, lines, ARRAY_LENGTH(lines), n);
        const struct server_operation *o = operation_of(f, SERVER_CONNECT, "tag");
        assert_int_equal(o->state, OPERATION_CLOSED);
        assert_int_equal(o->outcome, OPERATION_CANCELED);
        assert_int_equal(o->start_ms, 1767225601000);
        assert_int_equal(o->finish_ms, 1767225602200);
        assert_int_equal(o->close_ms, 1767225603000);
        assert_int_equal(o->produced_rows, 7);
        assert_str(o->operation_id, "op");
        assert_str(o->session_id, "s");
        assert_str(o->tags, "x,y");
        assert_string_equal(f->texts[o->error_text_id], "gone");
        assert_int_equal(session_of(f, SERVER_CONNECT, "s")->end_seen, 0);
        fixture_free(f);
    }
}

static void what_has_no_start_is_kept_and_marked(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'" T "OperationFinish','id':'a','finishTime':1767225602000}");
    fixture_apply(f, "{'Event':'" C "SessionClosed','sessionId':'a','userId':'u','eventTime':1767225602000}");
    assert_int_equal(operation_of(f, SERVER_THRIFT, "a")->start_seen, 0);
    assert_int_equal(operation_of(f, SERVER_THRIFT, "a")->start_ms, UNKNOWN);
    assert_int_equal(session_of(f, SERVER_CONNECT, "a")->start_seen, 0);
    assert_int_equal(session_of(f, SERVER_CONNECT, "a")->end_seen, 1);
    assert_str(session_of(f, SERVER_CONNECT, "a")->user, "u");
    assert_int_equal(f->model->sessions->sessions.count, 1);
    assert_int_equal(f->model->sessions->operations.count, 1);
    fixture_free(f);
}

static void the_two_servers_do_not_share_ids(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'" T "SessionCreated','sessionId':'s','userName':'a','startTime':1}");
    fixture_apply(f, "{'Event':'" C "SessionStarted','sessionId':'s','userId':'b','eventTime':2}");
    assert_str(session_of(f, SERVER_THRIFT, "s")->user, "a");
    assert_str(session_of(f, SERVER_CONNECT, "s")->user, "b");
    fixture_free(f);
}

static void equal_statements_are_one_text_and_hold_no_secret(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, "{'Event':'" T "OperationStart','id':'a','statement':'create table t options (password = hunter2)','startTime':1}");
    fixture_apply(f, "{'Event':'" T "OperationStart','id':'b','statement':'create table t options (password = hunter2)','startTime':1}");
    fixture_apply(f, "{'Event':'" T "OperationError','id':'b','errorMsg':'no: url=jdbc:x;password=hunter2','errorTrace':'E: password=hunter2','finishTime':1}");
    assert_int_equal(operation_of(f, SERVER_THRIFT, "a")->statement_text_id, operation_of(f, SERVER_THRIFT, "b")->statement_text_id);
    for (size_t i = 0; i < ARRAY_LENGTH(f->texts); i++)
        assert_null(strstr(f->texts[i], "hunter2"));
    fixture_free(f);
}

static void assert_service(const struct model_fixture *f, size_t at, const char *host, int64_t port, int64_t start_ms, int64_t end_ms)
{
    const struct server_service *s = f->model->sessions->services.items[at];
    assert_str(s->host, host);
    assert_int_equal(s->port, port);
    assert_int_equal(s->start_ms, start_ms);
    assert_int_equal(s->end_ms, end_ms);
}

#define SERVICE(name, host, port, time) "{'Event':'" C "Service" name "','hostAddress':'" host "','bindingPort':" port ",'eventTime':" time "}"

static void a_service_ends_where_it_began(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    fixture_apply(f, SERVICE("Started", "a", "15002", "1767225600000"));
    fixture_apply(f, SERVICE("Started", "a", "15002", "1767225600000"));
    fixture_apply(f, SERVICE("End", "a", "15002", "1767225601000"));
    fixture_apply(f, SERVICE("End", "a", "15002", "1767225601000"));
    fixture_apply(f, SERVICE("Started", "a", "15002", "1767225602000"));
    fixture_apply(f, SERVICE("End", "b", "15002", "1767225603000"));
    assert_int_equal(f->model->sessions->services.count, 3);
    assert_int_equal(f->model->health.duplicate_event_count, 2);
    assert_service(f, 0, "a", 15002, 1767225600000, 1767225601000);
    assert_service(f, 1, "a", 15002, 1767225602000, UNKNOWN);
    assert_service(f, 2, "b", 15002, UNKNOWN, 1767225603000);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thrift_statement_that_fails), cmocka_unit_test(the_states_of_a_thrift_statement), cmocka_unit_test(a_connect_operation_that_is_canceled_at_its_end),
        cmocka_unit_test(what_has_no_start_is_kept_and_marked), cmocka_unit_test(the_two_servers_do_not_share_ids), cmocka_unit_test(equal_statements_are_one_text_and_hold_no_secret),
        cmocka_unit_test(a_service_ends_where_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
