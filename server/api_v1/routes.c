/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of /api/v1. Each resource of an application stands twice: for applications whose attempts have ids the second segment is the attempt. */
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

/* What the History Server's router says to an address below an application that no resource has: the address, as it came. */
static enum err_code no_resource(struct api_ctx *ctx UNUSED, const struct request *request, struct response *response, struct err *err UNUSED)
{
    const char *query = memchr(request->address.ptr, '?', request->address.len);
    struct str path = {request->address.ptr, query ? (size_t)(query - request->address.ptr) : request->address.len};
    response_plain(response, 404, "%.*s", (int)path.len, path.ptr);
    return ERR_OK;
}

/* … and elsewhere: a page. */
static enum err_code no_page(struct api_ctx *ctx UNUSED, const struct request *request, struct response *response, struct err *err)
{
    return v1_not_found(request, response, err);
}

#define ROOT "/api/v1"
#define APP ROOT "/applications/{app}"
#define ATTEMPT APP "/{attempt}"

/* Without, then with attempt. */
#define RESOURCE(path, handler, summary) {APP path, handler, summary}, {ATTEMPT path, handler, summary ", of an attempt with an id"}

const struct route api_v1_routes[] = {
    {ROOT "/version", v1_version, "the History Server version whose answers these are"},
    {ROOT "/applications", v1_applications, "all applications; status minDate maxDate minEndDate maxEndDate limit"},
    {APP, v1_application, "one application with its attempts"},
    RESOURCE("/jobs", v1_jobs, "jobs, newest first; status"),
    RESOURCE("/jobs/{id:d}", v1_job, "one job"),
    RESOURCE("/stages", v1_stages, "stage attempts, newest first; status details withSummaries quantiles taskStatus"),
    RESOURCE("/stages/{id:d}", v1_stage, "all attempts of a stage; details withSummaries quantiles taskStatus"),
    RESOURCE("/stages/{id:d}/{stage_attempt:d}", v1_stage_attempt, "one stage attempt; details withSummaries quantiles taskStatus"),
    RESOURCE("/stages/{id:d}/{stage_attempt:d}/taskSummary", v1_task_summary, "distributions of the tasks' metrics; quantiles"),
    RESOURCE("/stages/{id:d}/{stage_attempt:d}/taskList", v1_task_list, "tasks; offset length sortBy status"),
    RESOURCE("/stages/{id:d}/{stage_attempt:d}/taskTable", v1_task_table, "a page of tasks for DataTables; numTasks columnNameToSort order[0][dir] start length search[value]"),
    RESOURCE("/executors", v1_executors, "active executors"),
    RESOURCE("/executors/{executor}/threads", v1_executor_threads, "refused: no History Server has thread dumps"),
    RESOURCE("/threads", v1_threads, "refused: no History Server has thread dumps; taskId executorId"),
    RESOURCE("/allexecutors", v1_all_executors, "active and removed executors"),
    RESOURCE("/allmiscellaneousprocess", v1_processes, "other processes, for example a YARN application master"),
    RESOURCE("/environment", v1_environment, "properties, class path, resource profiles"),
    RESOURCE("/storage/rdd", v1_rdds, "cached RDDs"),
    RESOURCE("/storage/rdd/{id:d}", v1_rdd, "one RDD with a storage level"),
    RESOURCE("/logs", v1_logs, "the event logs as a zip"),
    RESOURCE("/sql", v1_sql_list, "SQL executions; details planDescription offset length"),
    RESOURCE("/sql/sqlTable", v1_sql_table, "a page of SQL executions for DataTables; draw start length search[value] status order[0][…] columns[n][name] groupSubExecution"),
    RESOURCE("/sql/{id:d}", v1_sql, "one SQL execution; details planDescription"),
    RESOURCE("/streaming/statistics", v1_streaming, "refused, and so all of streaming: event logs do not hold it"),
    RESOURCE("/streaming/receivers", v1_streaming, "refused"),
    RESOURCE("/streaming/receivers/{id:d}", v1_streaming_receiver, "refused"),
    RESOURCE("/streaming/batches", v1_streaming_batches, "refused; status"),
    RESOURCE("/streaming/batches/{id:d}", v1_streaming_batch, "refused"),
    RESOURCE("/streaming/batches/{id:d}/operations", v1_streaming_batch, "refused"),
    RESOURCE("/streaming/batches/{id:d}/operations/{operation:d}", v1_streaming_operation, "refused"),
    {APP "/streaming", no_page, "404"},
    {ATTEMPT "/streaming", no_page, "404"},
    {ATTEMPT, v1_attempt, "one attempt"},
    {APP "/stages/{rest}/{more}/{still}/{most}", no_page, "404"},
    {ATTEMPT "/stages/{rest}/{more}/{still}/{most}", no_page, "404"},
    {APP "/stages/{rest}/{more}/{still}", no_page, "404"},
    {ATTEMPT "/stages/{rest}/{more}/{still}", no_page, "404"},
    {APP "/stages/{rest}/{more}", no_page, "404"},
    {APP "/stages/{rest}", no_page, "404"},
    {ATTEMPT "/stages/{rest}/{more}", no_page, "404"},
    {ATTEMPT "/stages/{rest}", no_page, "404"},
    {APP "/sql/{rest}", no_page, "404"},
    {ATTEMPT "/sql/{rest}", no_page, "404"},
    {APP "/sql/{rest}/{more}", no_page, "404"},
    {ATTEMPT "/sql/{rest}/{more}", no_page, "404"},
    {APP "/streaming/{rest}", no_page, "404"},
    {ATTEMPT "/streaming/{rest}", no_page, "404"},
    {APP "/streaming/{rest}/{more}", no_page, "404"},
    {ATTEMPT "/streaming/{rest}/{more}", no_page, "404"},
    {ATTEMPT "/{a}", no_resource, "404"},
    {ATTEMPT "/{a}/{b}", no_resource, "404"},
    {ATTEMPT "/{a}/{b}/{c}", no_resource, "404"},
    {ATTEMPT "/{a}/{b}/{c}/{d}", no_resource, "404"},
    {ATTEMPT "/{a}/{b}/{c}/{d}/{e}", no_resource, "404"},
    {ROOT, no_page, "404"},
    {ROOT "/{path}", no_page, "404"},
    {NULL, NULL, NULL},
};
