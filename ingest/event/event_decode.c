/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/event/event_decode.h"

#include "ingest/event/decode.h"

_Static_assert(EVENT_LINE_PADDING >= JSON_PADDING, "the reader loads that far");
_Static_assert(EVENT_MAX_DEPTH == JSON_MAX_DEPTH, "one limit");

#define SQL_UI "org.apache.spark.sql.execution.ui."
#define SCHEDULER "org.apache.spark.scheduler."
#define STREAMING "org.apache.spark.sql.streaming.StreamingQueryListener$"
#define THRIFT "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer"
#define CONNECT "org.apache.spark.sql.connect.service.SparkListenerConnect"

/* Names as logged. Family A is short; family B has the scheduler's package in front, which is left out here and accepted before every name. SQL's come with their package. */
static const struct row {
    struct str name;
    enum event_kind kind;
    event_decoder_fn *decode;
} rows[] = {
#define ROW(name_, kind_, decode_) {{name_, sizeof(name_) - 1}, kind_, decode_}
    ROW("SparkListenerTaskEnd", EVENT_TASK_END, decode_task_end),
    ROW("SparkListenerTaskStart", EVENT_TASK_START, decode_task_start),
    ROW("SparkListenerTaskGettingResult", EVENT_TASK_GETTING_RESULT, decode_task_getting_result),
    ROW("SparkListenerLogStart", EVENT_LOG_START, decode_log_start),
    ROW("DBCEventLoggingListenerMetadata", EVENT_LOG_START, decode_databricks_start),
    ROW("SparkListenerApplicationStart", EVENT_APPLICATION_START, decode_application_start),
    ROW("SparkListenerApplicationEnd", EVENT_APPLICATION_END, decode_application_end),
    ROW("SparkListenerEnvironmentUpdate", EVENT_ENVIRONMENT_UPDATE, decode_environment_update),
    ROW("SparkListenerResourceProfileAdded", EVENT_RESOURCE_PROFILE_ADDED, decode_resource_profile),
    ROW("SparkListenerBlockManagerAdded", EVENT_BLOCK_MANAGER_ADDED, decode_block_manager_added),
    ROW("SparkListenerBlockManagerRemoved", EVENT_BLOCK_MANAGER_REMOVED, decode_block_manager_removed),
    ROW("SparkListenerExecutorAdded", EVENT_EXECUTOR_ADDED, decode_executor_added),
    ROW("SparkListenerExecutorRemoved", EVENT_EXECUTOR_REMOVED, decode_executor_removed),
    ROW("SparkListenerJobStart", EVENT_JOB_START, decode_job_start),
    ROW("SparkListenerJobEnd", EVENT_JOB_END, decode_job_end),
    ROW("SparkListenerStageSubmitted", EVENT_STAGE_SUBMITTED, decode_stage),
    ROW("SparkListenerStageCompleted", EVENT_STAGE_COMPLETED, decode_stage),
    ROW("SparkListenerUnpersistRDD", EVENT_UNPERSIST_RDD, decode_unpersist),
    ROW("SparkListenerBlockUpdated", EVENT_BLOCK_UPDATED, decode_block_updated),
    ROW("SparkListenerStageExecutorMetrics", EVENT_STAGE_EXECUTOR_METRICS, decode_stage_executor_metrics),
    ROW("SparkListenerExecutorMetricsUpdate", EVENT_EXECUTOR_METRICS_UPDATE, decode_executor_metrics_update),
    ROW("SparkListenerMiscellaneousProcessAdded", EVENT_PROCESS_ADDED, decode_process_added),
    ROW("SparkListenerExecutorExcluded", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerExecutorExcludedForStage", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerExecutorUnexcluded", EVENT_EXCLUSION, decode_exclusion_lifted),
    ROW("SparkListenerNodeExcluded", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerNodeExcludedForStage", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerNodeUnexcluded", EVENT_EXCLUSION, decode_exclusion_lifted),
    ROW("SparkListenerExecutorBlacklisted", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerExecutorBlacklistedForStage", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerExecutorUnblacklisted", EVENT_EXCLUSION, decode_exclusion_lifted),
    ROW("SparkListenerNodeBlacklisted", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerNodeBlacklistedForStage", EVENT_EXCLUSION, decode_exclusion),
    ROW("SparkListenerNodeUnblacklisted", EVENT_EXCLUSION, decode_exclusion_lifted),
    ROW(STREAMING "QueryProgressEvent", EVENT_STREAMING_PROGRESS, decode_streaming_progress),
    ROW(STREAMING "QueryIdleEvent", EVENT_STREAMING_IDLE, decode_streaming_query),
    ROW(STREAMING "QueryStartedEvent", EVENT_STREAMING_STARTED, decode_streaming_query),
    ROW(STREAMING "QueryTerminatedEvent", EVENT_STREAMING_TERMINATED, decode_streaming_query),
    ROW(THRIFT "SessionCreated", EVENT_SERVER_SESSION, decode_thrift_session),
    ROW(THRIFT "SessionClosed", EVENT_SERVER_SESSION, decode_thrift_session),
    ROW(THRIFT "OperationStart", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationParsed", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationCanceled", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationTimeout", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationError", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationFinish", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(THRIFT "OperationClosed", EVENT_SERVER_OPERATION, decode_thrift_operation),
    ROW(CONNECT "SessionStarted", EVENT_SERVER_SESSION, decode_connect_session),
    ROW(CONNECT "SessionClosed", EVENT_SERVER_SESSION, decode_connect_session),
    ROW(CONNECT "OperationStarted", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationAnalyzed", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationReadyForExecution", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationFinished", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationFailed", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationCanceled", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "OperationClosed", EVENT_SERVER_OPERATION, decode_connect_operation),
    ROW(CONNECT "ServiceStarted", EVENT_SERVER_SERVICE, decode_connect_service),
    ROW(CONNECT "ServiceEnd", EVENT_SERVER_SERVICE, decode_connect_service),
    ROW(SQL_UI "SparkListenerSQLExecutionStart", EVENT_SQL_START, decode_sql_start),
    ROW(SQL_UI "SparkListenerSQLExecutionEnd", EVENT_SQL_END, decode_sql_end),
    ROW(SQL_UI "SparkListenerDriverAccumUpdates", EVENT_SQL_DRIVER_UPDATES, decode_sql_driver_updates),
    ROW(SQL_UI "SparkListenerSQLAdaptiveExecutionUpdate", EVENT_SQL_PLAN_UPDATE, decode_sql_plan_update),
    ROW(SQL_UI "SparkListenerSQLAdaptiveSQLMetricUpdates", EVENT_SQL_METRIC_UPDATE, decode_sql_metric_update),
#undef ROW
};

static const struct row *row_of(struct str name)
{
    if (str_starts(name, SCHEDULER)) {
        name.ptr += sizeof SCHEDULER - 1;
        name.len -= sizeof SCHEDULER - 1;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        if (str_eq(name, rows[i].name))
            return rows + i;
    return NULL;
}

enum event_kind event_kind_of(struct str name)
{
    const struct row *row = row_of(name);
    return row ? row->kind : EVENT_UNKNOWN;
}

static const struct json_key event_keys[] = {JSON_KEY("Event", 0)};

/* Reads the rest of the event's object for its name alone: the last "Event". */
static void find_name(struct json_pull *in, struct json_object *object, struct str *name)
{
    for (int key; (key = json_next(in, object)) >= 0;)
        if (key == 0)
            *name = json_str(in);
        else
            json_skip(in);
}

/* Walks the object with the decoder of `name`. The reader stands behind the opening brace, or behind a first key. */
static const char *decode_named(struct json_pull *in, struct str name, struct event *ret)
{
    struct json_object object;
    const struct row *row = row_of(name);
    ret->name = name;
    ret->kind = row ? row->kind : EVENT_UNKNOWN;
    if (row)
        return row->decode(in, ret);
    json_object_at(&object, KEYS(event_keys));
    for (int key; (key = json_next(in, &object)) >= 0;)
        if (key == 0) {
            in->event_again = true;
            json_skip(in);
        } else {
            json_skip(in);
        }
    return NULL;
}

/* What is wrong with the line that the reader has not seen; NULL: nothing. */
static const char *decode_line(struct json_pull *in, struct event *ret)
{
    struct json_object object;
    struct str name = STR_NONE;
    if (!json_object_begin(in, &object, KEYS(event_keys)))
        return "not an object";
    struct json_pull inside = *in;
    if (json_next(in, &object) == 0) {       /* as Spark writes it: the name comes first */
        name = json_str(in);
        if (str_known(name)) {
            const char *missing = decode_named(in, name, ret);
            if (!in->event_again)
                return missing;
        }
    }
    if (in->failed)
        return NULL;
    /* The odd ways: another key first, or "Event" twice. Once more for the name, then once more for the event. */
    *in = inside;
    find_name(in, &object, &name);
    if (in->failed || !str_known(name))
        return "no event name";
    *in = inside;
    return decode_named(in, name, ret);
}

enum err_code event_decode(struct str line, struct arena *scratch, struct event_memory *memory, struct event *ret_event, struct err *err)
{
    struct json_pull in;
    json_pull_init(&in, line, scratch);
    in.memory = memory;
    ret_event->kind = EVENT_UNKNOWN;
    ret_event->name = STR_NONE;
    ret_event->out_of_range = ret_event->repaired = 0;
    if (in.p == in.end && (!line.len || !memchr(line.ptr, '\0', line.len)))
        return err_set(err, ERR_INVALID, "empty line");
    const char *invalid = decode_line(&in, ret_event);
    ret_event->out_of_range = in.out_of_range;
    ret_event->repaired = in.repaired;
    if (UNLIKELY(in.failed == ERR_NOMEM))
        return err_nomem(err);
    if (UNLIKELY(in.failed)) {
        err_set(err, in.failed, "%s at byte %zu of the line", in.what, (size_t)(in.failed_at - line.ptr));
        if (err)
            err->offset = in.failed_at - line.ptr;
        return in.failed;
    }
    if (UNLIKELY(invalid != NULL))
        return err_set(err, ERR_INVALID, "%s", invalid);
    return ERR_OK;
}
