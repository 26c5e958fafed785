/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers of /api/afterglow/v1 (routes.c), and what they lend each other. */
#ifndef SERVER_API_HANDLERS_H
#define SERVER_API_HANDLERS_H

#include "analysis/messages.h"
#include "server/api/api.h"
#include "server/api/list.h"
#include "server/task_columns.h"

api_handler api_status, api_apps, api_app, api_health, api_jobs, api_job, api_stages, api_stage, api_tasks, api_task_timeline, api_task_scatter, api_executors, api_environment, api_storage;
api_handler api_sql_list, api_sql, api_sql_plan, api_job_graph, api_stage_graph;
api_handler api_findings, api_report, api_logs, api_account, api_timeline, api_chain, api_what_ifs, api_stage_analysis, api_why, api_compare, api_compare_stages, api_compare_queries, api_baseline;
api_handler api_facets, api_search, api_upload, api_server;
api_handler api_reload, api_forget;
api_handler api_pin, api_pinned;
/* Answers /p/{token}: a redirect to the view, or 404. */
api_handler pin_respond;
/* Whether the request's viewer may have things done to runs: who sees every run and is named, and where nobody is, whoever sits at this machine. */
bool api_may_act(const struct request *request);
api_handler api_executor_timeline, api_hosts, api_processes, api_rdd, api_rdd_partitions, api_receiver_blocks;
api_handler api_streaming, api_streaming_query, api_sessions, api_operations, api_operation, api_dstreams;

/* The members of an application's item; the caller's object is open. ERR_NOT_FOUND: no such key. */
enum err_code app_item(struct json_writer *json, struct db *catalog, struct str app_key, enum lang lang, struct err *err) WARN_UNUSED;

/* Stage and job items as array elements, for all rows of `where` (which begins with " WHERE" or is empty and may end with an order and a limit). */
enum err_code stage_items(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *where, struct err *err) WARN_UNUSED;
enum err_code job_items(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *where, struct err *err) WARN_UNUSED;

/* The members of one stage's item; the caller's object is open. */
enum err_code stage_item(struct json_writer *json, const struct api_app *app, int64_t stage_ref, struct arena *arena, struct err *err) WARN_UNUSED;

/* The stage attempt of path arguments 1 and 2; UNKNOWN: there is none. */
enum err_code stage_find(struct db *db, const struct request *request, int64_t *ret_stage_ref, struct err *err) WARN_UNUSED;

/* "executors":[…]: what each did in the stage attempt. */
enum err_code stage_executors(struct json_writer *json, const struct server *server, struct db *db, int64_t stage_ref, struct task_columns *columns, struct err *err) WARN_UNUSED;

/* The column of table task that a key of an answer, or of ?sort=, is made of: executorRunTimeMs gives executor_run_time_ms. False: too long for any of ours. */
#define TASK_COLUMN_NAME_BYTES 96
bool task_column_name(struct str key, char *out, size_t room);
/* task.status, and the words of ?status= and of answers for it. In a log that has ended, what was running or fetching is unknown. */
enum { TASK_STATUS_RUNNING, TASK_STATUS_SUCCESS, TASK_STATUS_FAILED, TASK_STATUS_KILLED, TASK_STATUS_FETCHING, TASK_STATUS_UNKNOWN, TASK_STATUS_COUNT };
extern const char *const task_statuses[TASK_STATUS_COUNT];
/* ms, ns, bytes or count, by a column's name. */
const char *metric_unit(struct str column);

/* "health":{…} */
enum err_code health_object(struct json_writer *json, const struct api_app *app, struct err *err) WARN_UNUSED;

/* Whether the run was judged. False: the answer is made (409 not_analysed) or *ret_rc is not ERR_OK. */
bool analysis_is_there(const struct api_app *app, struct response *response, enum err_code *ret_rc, struct err *err);

struct baseline; /* analysis/baseline.h */
/* What is usual for the job of a run, by those earlier runs that the viewer may know. ERR_NOT_FOUND: the catalogue has no history of the run: it was not judged. */
enum err_code usual_find(struct api_ctx *ctx, const struct request *request, struct str app_key, struct baseline *ret, struct err *err) WARN_UNUSED;

/* Gives an answer about a run and what is usual for its job a tag that names both. A file that is being filled has none. True: there is nothing to make. */
bool usual_tag(struct api_ctx *ctx, const struct request *request, const struct api_app *app, const struct baseline *usual, struct response *response);

/* Language of texts, from parameter lang: en where it is absent. ERR_INVALID: another one. */
enum err_code request_lang(const struct request *request, enum lang *ret, struct err *err) WARN_UNUSED;

struct ladder; /* analysis/finding.h */
/* The default ladders with those of parameters threshold.RULE, as many as there are rules, in the request's arena. *ret NULL: no parameter names one. ERR_INVALID: not a ladder, or no such rule. */
enum err_code request_ladders(const struct request *request, struct ladder **ret, struct err *err) WARN_UNUSED;

/* A part of the run, from parameters fromMs and toMs: ms from its begin. *ret_to_ms UNKNOWN: to its end. */
enum err_code request_run_part(const struct request *request, int64_t *ret_from_ms, int64_t *ret_to_ms, struct err *err) WARN_UNUSED;

/* What the comparison of an opened run with `base` (empty: with the earlier runs of its job) says first. The viewer may see both. ERR_NOT_FOUND, ERR_BUSY: not there, or not judged yet. */
enum err_code compare_sentence(struct api_ctx *ctx, const struct request *request, struct str base, const struct app_ref *run, enum lang lang, struct buf *out, struct err *err)
    WARN_UNUSED;

/* Under the key the buckets of one time account (table account), in the order of pages. */
enum err_code account_buckets(struct json_writer *json, const char *key, struct db *db, int64_t scope, int64_t owner, enum lang lang, struct err *err) WARN_UNUSED;

/* Which executors the parameters exec, host and state ask for. state -1: any. */
struct executor_filter {
    struct str exec, host;
    int state;
};
enum err_code executor_filter_read(struct executor_filter *self, const struct request *request, struct err *err) WARN_UNUSED;
/* " WHERE …" over table executor as e. */
void executor_filter_where(struct query *query, const struct executor_filter *filter);
/* Ids are numbers as a rule, and words for the driver: driver, 2, 10. */
void executor_order(struct query *query, bool descending);

/* Of a row e of executor: it went, and neither Spark nor the end of the application wanted that; or tasks failed because it went, whatever is logged of its removal. */
#define EXECUTOR_LOST                                                                                                                          \
    "(executor_lost(e.active, e.remove_ms, e.remove_reason, (SELECT end_ms FROM application LIMIT 1))"                                         \
    " OR e.executor_ref IN (SELECT executor_ref FROM lost_work WHERE kind = 'executor'))"

/* What "slowest" means, for lists of stages and for an application's page. */
extern const char stage_duration_sql[];

#endif
