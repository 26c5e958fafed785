/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions and operations of the Thrift server and of Spark Connect. Which of its events a line is stands in its name alone, so that one decoder reads all of a family. */
#include "ingest/event/decode.h"

struct change {
    const char *ending;              /* of the event's name */
    enum operation_state state;
};

static const struct change thrift_changes[] = {
    {"OperationStart", OPERATION_STARTED}, {"OperationParsed", OPERATION_COMPILED}, {"OperationCanceled", OPERATION_CANCELED}, {"OperationTimeout", OPERATION_TIMED_OUT},
    {"OperationError", OPERATION_FAILED}, {"OperationFinish", OPERATION_FINISHED}, {"OperationClosed", OPERATION_CLOSED},
};
static const struct change connect_changes[] = {
    {"OperationStarted", OPERATION_STARTED}, {"OperationAnalyzed", OPERATION_COMPILED}, {"OperationReadyForExecution", OPERATION_READY}, {"OperationFinished", OPERATION_FINISHED},
    {"OperationFailed", OPERATION_FAILED}, {"OperationCanceled", OPERATION_CANCELED}, {"OperationClosed", OPERATION_CLOSED},
};

static enum operation_state state_of(struct str event_name, const struct change *changes, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && !str_ends(event_name, changes[i].ending))
        i++;
    return changes[i].state;
}

static const char *session_result(const struct event_server_session *session)
{
    return session->id.len ? NULL : "session without an id";
}

static const struct json_key thrift_session_keys[] = {
    JSON_KEY("ip", 0), JSON_KEY("sessionId", 1), JSON_KEY("userName", 2), JSON_KEY("startTime", 3), JSON_KEY("finishTime", 3),
};

const char *decode_thrift_session(struct json_pull *in, struct event *event)
{
    struct event_server_session *ret = &event->server_session;
    struct json_object o;
    *ret = (struct event_server_session){.server = SERVER_THRIFT, .closed = str_ends(event->name, "Closed"), .time_ms = UNKNOWN};
    json_object_at(&o, KEYS(thrift_session_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->ip = json_str(in); break;
        case 1: ret->id = json_str(in); break;
        case 2: ret->user = json_str(in); break;
        case 3: ret->time_ms = decode_time(in); break;
        default: decode_other(in);
        }
    return session_result(ret);
}

static const struct json_key connect_session_keys[] = {JSON_KEY("sessionId", 0), JSON_KEY("userId", 1), JSON_KEY("eventTime", 2)};

const char *decode_connect_session(struct json_pull *in, struct event *event)
{
    struct event_server_session *ret = &event->server_session;
    struct json_object o;
    *ret = (struct event_server_session){.server = SERVER_CONNECT, .closed = str_ends(event->name, "Closed"), .time_ms = UNKNOWN};
    json_object_at(&o, KEYS(connect_session_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_str(in); break;
        case 1: ret->user = json_str(in); break;
        case 2: ret->time_ms = decode_time(in); break;
        default: decode_other(in);
        }
    return session_result(ret);
}

static const char *operation_result(const struct event_server_operation *operation)
{
    return operation->key.len ? NULL : "operation without an id";
}

static const struct json_key thrift_operation_keys[] = {
    JSON_KEY("id", 0), JSON_KEY("sessionId", 1), JSON_KEY("statement", 2), JSON_KEY("groupId", 3), JSON_KEY("startTime", 4), JSON_KEY("userName", 5), JSON_KEY("executionPlan", 6),
    JSON_KEY("errorMsg", 7), JSON_KEY("errorTrace", 8), JSON_KEY("finishTime", 4), JSON_KEY("closeTime", 4),
};

const char *decode_thrift_operation(struct json_pull *in, struct event *event)
{
    struct event_server_operation *ret = &event->server_operation;
    struct json_object o;
    *ret = (struct event_server_operation){.server = SERVER_THRIFT, .state = state_of(event->name, thrift_changes, ARRAY_LENGTH(thrift_changes)), .time_ms = UNKNOWN,
                                           .produced_rows = UNKNOWN};
    json_object_at(&o, KEYS(thrift_operation_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_str(in); break;
        case 1: ret->session_id = json_str(in); break;
        case 2: ret->statement = json_str(in); break;
        case 3: ret->job_group = json_str(in); break;
        case 4: ret->time_ms = decode_time(in); break;
        case 5: ret->user = json_str(in); break;
        case 6: ret->plan = json_str(in); break;
        case 7: ret->error = json_str(in); break;
        case 8: ret->trace = json_str(in); break;
        default: decode_other(in);
        }
    ret->key = ret->id;
    return operation_result(ret);
}

static const struct json_key connect_operation_keys[] = {
    JSON_KEY("jobTag", 0), JSON_KEY("operationId", 1), JSON_KEY("eventTime", 2), JSON_KEY("sessionId", 3), JSON_KEY("userId", 4), JSON_KEY("userName", 5),
    JSON_KEY("statementText", 6), JSON_KEY("sparkSessionTags", 7), JSON_KEY("producedRowCount", 8), JSON_KEY("errorMessage", 9), JSON_KEY("extraTags", 10),
};

const char *decode_connect_operation(struct json_pull *in, struct event *event)
{
    struct event_server_operation *ret = &event->server_operation;
    struct str user_name = STR_NONE;
    struct json_object o;
    *ret = (struct event_server_operation){.server = SERVER_CONNECT, .state = state_of(event->name, connect_changes, ARRAY_LENGTH(connect_changes)), .time_ms = UNKNOWN,
                                           .produced_rows = UNKNOWN};
    json_object_at(&o, KEYS(connect_operation_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->key = json_str(in); break;
        case 1: ret->id = json_str(in); break;
        case 2: ret->time_ms = decode_time(in); break;
        case 3: ret->session_id = json_str(in); break;
        case 4: ret->user = json_str(in); break;
        case 5: user_name = json_str(in); break;
        case 6: ret->statement = json_str(in); break;
        case 7: ret->tags = decode_words(in); break;
        case 8: ret->produced_rows = json_count(in); break;
        case 9: ret->error = json_str(in); break;
        case 10: json_skip(in); break;
        default: decode_other(in);
        }
    if (!ret->user.len)
        ret->user = user_name;
    return operation_result(ret);
}

static const struct json_key connect_service_keys[] = {JSON_KEY("hostAddress", 0), JSON_KEY("bindingPort", 1), JSON_KEY("eventTime", 2)};

const char *decode_connect_service(struct json_pull *in, struct event *event)
{
    struct event_server_service *ret = &event->server_service;
    struct json_object o;
    *ret = (struct event_server_service){.ended = str_ends(event->name, "End"), .port = UNKNOWN, .time_ms = UNKNOWN};
    json_object_at(&o, KEYS(connect_service_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->host = json_str(in); break;
        case 1: ret->port = json_count(in); break;
        case 2: ret->time_ms = decode_time(in); break;
        default: decode_other(in);
        }
    return NULL;
}
