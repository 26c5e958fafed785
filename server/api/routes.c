/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/handlers.h"

#define V "/api/afterglow/v1"

const struct route api_routes[] = {
    {V "/status", api_status, "the server: version, places that are watched, counts of logs by state, the ingest process"},
    {V "/apps", api_apps, "list of applications and of logs that are none yet"},
    {V "/apps/{ref}", api_app, "one application: its row, log, health, slowest stages, failures"},
    {V "/apps/{ref}/health", api_health, "how far its log can be trusted: counts, files, sampled problems, events by name"},
    {V "/apps/{ref}/findings", api_findings, "what was wrong, what it cost, what to change: graded, with thresholds as parameters"},
    {V "/apps/{ref}/account", api_account, "where the time went: the account of the application, a job or a stage attempt"},
    {V "/apps/{ref}/chain", api_chain, "the critical chain: what the run waited for, without holes"},
    {V "/apps/{ref}/what-ifs", api_what_ifs, "the run simulated under other conditions"},
    {V "/apps/{ref}/baseline", api_baseline, "what is usual for its job: earlier runs, and how this one lies among them"},
    {V "/compare", api_compare, "two runs of one job side by side, or a run and what is usual: where the difference comes from"},
    {V "/compare/stages", api_compare_stages, "list of the stages of two runs in pairs: which is which, and what either took"},
    {V "/compare/queries", api_compare_queries, "list of the SQL executions of two runs in pairs"},
    {V "/apps/{ref}/jobs", api_jobs, "list of jobs"},
    {V "/apps/{ref}/jobs/{id:d}", api_job, "one job with its stages and own properties"},
    {V "/apps/{ref}/stages", api_stages, "list of stage attempts"},
    {V "/apps/{ref}/stages/{id:d}.{attempt:d}", api_stage, "one stage attempt: quantiles, histogram, executors, errors"},
    {V "/apps/{ref}/stages/{id:d}.{attempt:d}/analysis", api_stage_analysis, "what its tasks are like and why some were slow"},
    {V "/apps/{ref}/stages/{id:d}.{attempt:d}/tasks", api_tasks, "list of the tasks of a stage attempt"},
    {V "/apps/{ref}/tasks/{id:d}/why", api_why, "why a task took longer than the median of its stage"},
    {V "/apps/{ref}/sql", api_sql_list, "list of SQL executions"},
    {V "/apps/{ref}/sql/{id:d}", api_sql, "one SQL execution: settings, plan versions, its latest plan with metrics, jobs"},
    {V "/apps/{ref}/sql/{id:d}/plans/{version:d}", api_sql_plan, "one version of its plan: text and graph"},
    {V "/apps/{ref}/executors", api_executors, "list of executors, the driver among them"},
    {V "/apps/{ref}/environment", api_environment, "settings, class path and resource profiles"},
    {V "/apps/{ref}/storage", api_storage, "cached RDDs"},
    {V "/apps/{ref}/streaming", api_streaming, "list of structured streaming queries, one row a run"},
    {V "/apps/{ref}/streaming/{run}", api_streaming_query, "one run of a streaming query: its progress as columns, phases, sources, state"},
    {V "/apps/{ref}/sessions", api_sessions, "list of Thrift and Connect sessions"},
    {V "/apps/{ref}/operations", api_operations, "list of the statements of those sessions"},
    {V "/apps/{ref}/operations/{id:d}", api_operation, "one statement with its whole texts"},
    {V "/apps/{ref}/dstreams", api_dstreams, "list of the batches of a DStreams application, rebuilt from its jobs"},
    {NULL, NULL, NULL},
};
