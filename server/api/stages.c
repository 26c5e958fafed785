/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of stage attempts and what one row of it holds. Findings are graded at read time, with the thresholds of the request. */
#include <stddef.h>

#include "analysis/finding.h"
#include "server/api/handlers.h"
#include "server/api/stage_operators.h"

/* From the first task's launch, as the History Server counts: waiting for executors is not the stage's work. */
#define DURATION \
    "CASE WHEN s.completion_ms >= coalesce(s.first_task_launch_ms, s.submission_ms) THEN s.completion_ms - coalesce(s.first_task_launch_ms, s.submission_ms) END"
const char stage_duration_sql[] = DURATION;

#define SHUFFLE_READ API_SHUFFLE_READ("s")

/* Findings about stages that lists show: the worst grade and the largest saving, by key, and the same of the rules that judge a number of the list.
 * Its ? is the thresholds (API_LADDERS). */
#define OF_RULE(id, what) "max(CASE WHEN rule_id = '" id "' THEN " what " END)"
#define FINDINGS \
    "(SELECT subject_key, max(grade) AS grade, max(CASE WHEN grade > 0 THEN price_ms END) AS saving_ms," \
    "        " OF_RULE(ANNOTATE_RULE_SKEW, "grade") " AS skew_grade, " OF_RULE(ANNOTATE_RULE_STRAGGLER, "grade") " AS straggler_grade," \
    "        " OF_RULE(ANNOTATE_RULE_GC, "grade") " AS gc_grade," \
    "        max(CASE WHEN rule_id IN ('" ANNOTATE_RULE_SKEW "', '" ANNOTATE_RULE_STRAGGLER "') THEN price_ms END) AS skew_price_ms," \
    "        " OF_RULE(ANNOTATE_RULE_GC, "price_ms") " AS gc_price_ms" \
    "   FROM (SELECT subject_key, rule_id, price_ms, finding_grade(rule_id, measure, price_ms, scenario, confidence, grade_shift, at_most, at_least, wall_ms, ?) AS grade" \
    "           FROM finding, analysis WHERE subject_kind = 'stage' AND mute IS NULL AND suppressed_by IS NULL) GROUP BY subject_key)"

/* How much later a stage that the run did not wait for could have ended before a stage that reads it, or else its job, would have waited. */
#define STAGE_END "max(coalesce(s.completion_ms, 0), coalesce(s.last_task_finish_ms, 0))"
#define SLACK \
    "CASE WHEN a.on_path_ms = 0 AND s.completed_seen THEN max(0, coalesce(" \
    "   (SELECT min(c.submission_ms) FROM stage_parent p JOIN stage c ON c.stage_id = p.stage_id WHERE p.parent_id = s.stage_id AND c.submission_ms >= " STAGE_END ")," \
    "   (SELECT max(j.completion_ms) FROM job_stage js JOIN job j ON j.job_id = js.job_id WHERE js.stage_id = s.stage_id AND js.ran)) - " STAGE_END ") END"

/* By what they ask: the stage's own row, d, f, a of ITEM_FROM. */
static const struct list_sort sorts[] = {
    {"id", "s.stage_id"},
    {"submission", "s.submission_ms"},
    {"duration", DURATION},
    {"tasks", "s.num_tasks"},
    {"failedTasks", "s.failed_tasks"},
    {"input", "s.input_bytes"},
    {"output", "s.output_bytes"},
    {"shuffleRead", SHUFFLE_READ},
    {"shuffleWrite", "s.shuffle_write_bytes"},
    {"spill", "s.disk_spilled_bytes"},
    {"gcShare", "CASE WHEN s.task_time_ms > 0 THEN CAST(s.jvm_gc_time_ms AS REAL) / s.task_time_ms END"},
    {"taskTime", "s.task_time_ms"},
    {"median", "d.p50"},
    {"max", "d.max"},
    {"ratio", "CAST(d.max AS REAL) / max(d.p50, 1)"},
    {"saving", "f.saving_ms"},
    {"finding", "f.grade"},
    {"onPath", "a.on_path_ms"},
    {NULL, NULL},
};
enum { SORTS_OF_DURATIONS = 12, SORTS_OF_FINDINGS = 15, SORTS_OF_ANALYSIS = 17 };

/* By stage.status; the same words are what ?status= takes. */
static const char *const statuses[] = {"pending", "active", "complete", "failed", "skipped", "unknown"};
enum { STATUS_PENDING, STATUS_ACTIVE, STATUS_COMPLETE, STATUS_FAILED, STATUS_SKIPPED, STATUS_UNKNOWN };

#define ITEM_COLUMNS \
    "SELECT s.status," \
    "       (SELECT group_concat(j.job_id, ' ') FROM (SELECT DISTINCT job_id FROM job_stage WHERE stage_id = s.stage_id ORDER BY job_id) j)," \
    "       d.task_count, r.p50, r.max, i.p50, i.max," \
    "       s.stage_id, s.attempt, s.name, s.description, s.submission_ms, s.completion_ms, s.first_task_launch_ms, " DURATION " AS duration_ms, s.num_tasks," \
    "       s.complete_tasks, s.failed_tasks, s.killed_tasks, s.active_tasks, s.ended_tasks, s.task_time_ms, d.p50 AS median_ms, d.p95 AS p95_ms, d.max AS max_ms," \
    "       s.input_bytes, s.input_records, s.output_bytes, s.output_records, " SHUFFLE_READ " AS shuffle_read_bytes, s.shuffle_records_read AS shuffle_read_records," \
    "       s.shuffle_write_bytes, s.shuffle_write_records, s.memory_spilled_bytes, s.disk_spilled_bytes, s.jvm_gc_time_ms AS gc_time_ms," \
    "       s.executor_run_time_ms AS run_time_ms, s.executor_cpu_time_ns AS cpu_time_ns, s.executor_deserialize_time_ms AS deserialize_time_ms," \
    "       s.result_serialization_time_ms, s.shuffle_fetch_wait_time_ms AS fetch_wait_time_ms, s.shuffle_write_time_ns, s.sql_execution_id, s.pool, t.body AS failure," \
    "       f.saving_ms, a.on_path_ms, " SLACK " AS slack_ms, f.grade, a.stage_ref, f.skew_grade, f.straggler_grade, f.gc_grade, f.skew_price_ms, f.gc_price_ms, s.stage_ref"
#define ITEM_FIRST_PLAIN 7
#define ITEM_TASK_TIME 21
#define ITEM_MEDIAN 22
#define ITEM_MAX 24
#define ITEM_GC_TIME 35
#define ITEM_EXECUTION 42
#define ITEM_END 48
#define ITEM_FINDING_GRADE 48
#define ITEM_ANALYSED 49
#define ITEM_SKEW_GRADE 50
#define ITEM_STRAGGLER_GRADE 51
#define ITEM_GC_GRADE 52
#define ITEM_SKEW_PRICE 53
#define ITEM_GC_PRICE 54
#define ITEM_REF 55
#define JOIN_DURATIONS " LEFT JOIN stage_quantile d ON d.stage_ref = s.stage_ref AND d.name = 'duration_ms'"
#define JOIN_ANALYSIS " LEFT JOIN stage_analysis a ON a.stage_ref = s.stage_ref"
#define JOIN_FINDINGS " LEFT JOIN " FINDINGS " f ON f.subject_key = s.stage_id || '.' || s.attempt"
#define ITEM_FROM \
    " FROM stage s" JOIN_DURATIONS \
    " LEFT JOIN stage_quantile r ON r.stage_ref = s.stage_ref AND r.name = 'shuffle_read_bytes'" \
    " LEFT JOIN stage_quantile i ON i.stage_ref = s.stage_ref AND i.name = 'input_bytes'" \
    " LEFT JOIN text t ON t.text_id = s.failure_text_id" JOIN_ANALYSIS JOIN_FINDINGS

/* With the worst of what one or two rules found. */
static struct api_found found_by(sqlite3_stmt *stmt, const char *rule, int column, const char *other, int other_column, int price_column)
{
    if (db_is_null(stmt, ITEM_ANALYSED))
        return api_not_judged;
    int64_t grade = known_or(db_i64(stmt, column), GRADE_OK), other_grade = known_or(db_i64(stmt, other_column), GRADE_OK);
    int64_t worst = MAX(grade, other_grade);
    return (struct api_found){.rule = worst == GRADE_OK ? NULL : grade == worst ? rule : other, .grade = worst, .price_ms = db_i64(stmt, price_column)};
}

static void write_item(struct json_writer *json, sqlite3_stmt *stmt, bool ended)
{
    int64_t status = db_i64(stmt, 0);
    bool endless = status == STATUS_PENDING || status == STATUS_ACTIVE;
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_END);
    json_kv_text(json, "findingGrade", db_is_null(stmt, ITEM_ANALYSED) ? NULL : grade_names[known_or(db_i64(stmt, ITEM_FINDING_GRADE), GRADE_OK)]);
    json_kv_text(json, "status", API_WORD(statuses, endless && ended ? STATUS_UNKNOWN : status));
    api_numbers(json, "jobIds", db_str(stmt, 1));
    struct api_found skew = found_by(stmt, ANNOTATE_RULE_SKEW, ITEM_SKEW_GRADE, ANNOTATE_RULE_STRAGGLER, ITEM_STRAGGLER_GRADE, ITEM_SKEW_PRICE);
    struct api_found gc = found_by(stmt, ANNOTATE_RULE_GC, ITEM_GC_GRADE, ANNOTATE_RULE_GC, ITEM_GC_GRADE, ITEM_GC_PRICE);
    api_skew(json, &(struct annotate_spread){.task_count = db_i64(stmt, 2), .median_ms = db_i64(stmt, ITEM_MEDIAN), .max_ms = db_i64(stmt, ITEM_MAX),
                                             .median_shuffle_read_bytes = db_i64(stmt, 3), .max_shuffle_read_bytes = db_i64(stmt, 4), .median_input_bytes = db_i64(stmt, 5),
                                             .max_input_bytes = db_i64(stmt, 6)}, &skew);
    api_gc(json, db_i64(stmt, ITEM_TASK_TIME), db_i64(stmt, ITEM_GC_TIME), &gc);
}

static enum err_code each_item(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *query, bool as_elements, int64_t *ret_count, struct err *err)
{
    CLEANUP(stage_operators_dispose) struct stage_operators operators;
    sqlite3_stmt *stmt = NULL;
    stage_operators_init(&operators, app->db, arena);
    enum err_code rc = query_prepare(query, app->db, &stmt, err);
    for (*ret_count = 0; !rc && (rc = db_step(stmt, err)) == ERR_OK; ++*ret_count) {
        if (as_elements)
            json_object_begin(json);
        write_item(json, stmt, app->ended);
        rc = stage_operators_write(&operators, json, db_i64(stmt, ITEM_REF), db_i64(stmt, ITEM_EXECUTION), err);
        if (as_elements)
            json_object_end(json);
        if (rc)
            break;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code stage_items(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *where, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_pointer(&query, ITEM_COLUMNS ITEM_FROM, app->ladders, API_LADDERS);
    query_append(&query, where);
    int64_t count;
    return each_item(json, app, arena, &query, true, &count, err);
}

enum err_code stage_item(struct json_writer *json, const struct api_app *app, int64_t stage_ref, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_pointer(&query, ITEM_COLUMNS ITEM_FROM, app->ladders, API_LADDERS);
    query_number(&query, " WHERE s.stage_ref = ?", stage_ref);
    int64_t count;
    return each_item(json, app, arena, &query, false, &count, err);
}

struct filters {
    struct str q, pool;
    int status;                      /* -1: any */
    int64_t job, sql, grade, skipped;
};

static enum err_code read_filters(struct filters *self, const struct request *request, struct err *err)
{
    self->q = request_param(request, "q");
    self->pool = request_param(request, "pool");
    enum err_code rc;
    if ((rc = param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &self->status, err)) ||
        (rc = request_param_i64(request, "job", UNKNOWN, 0, INT64_MAX, &self->job, err)) || (rc = request_param_i64(request, "sql", UNKNOWN, 0, INT64_MAX, &self->sql, err)) ||
        (rc = request_param_i64(request, "skipped", 1, 0, 1, &self->skipped, err)))
        return rc;
    return request_param_i64(request, "grade", 0, 0, 4, &self->grade, err);
}

static void where_stages(struct query *query, const struct filters *filters, bool ended)
{
    query_add(query, " WHERE 1");
    if (filters->q.len)
        query_contains(query, " AND (s.name LIKE ? ESCAPE '\\' OR s.description LIKE ? ESCAPE '\\' OR s.stage_id LIKE ? ESCAPE '\\')", filters->q);
    bool endless = filters->status == STATUS_PENDING || filters->status == STATUS_ACTIVE;
    if (filters->status == STATUS_UNKNOWN ? !ended : endless && ended)
        query_add(query, " AND 0");
    else if (filters->status == STATUS_UNKNOWN)
        query_add(query, " AND s.status IN (0, 1)");
    else if (filters->status >= 0)
        query_number(query, " AND s.status = ?", filters->status);
    if (!filters->skipped)
        query_add(query, " AND s.status <> 4");
    if (known(filters->job))
        query_number(query, " AND s.stage_id IN (SELECT stage_id FROM job_stage WHERE job_id = ?)", filters->job);
    if (known(filters->sql))
        query_number(query, " AND s.sql_execution_id = ?", filters->sql);
    if (filters->pool.len)
        query_text(query, " AND s.pool = ?", filters->pool);
    if (filters->grade > 0) /* coalesce: of a plain comparison SQLite makes an inner join, and goes through all stages once a finding */
        query_number(query, " AND coalesce(f.grade, 0) >= ?", filters->grade);
}

static void order_stages(struct query *query, const struct list *list)
{
    query_order(query, list, "s.stage_id");
    query_add(query, list->descending ? ", s.attempt DESC" : ", s.attempt");
}

/* WHERE and ORDER BY of a page. Which stages are on it is asked with no more joined than that takes, and all the rest is joined with these alone: of 20,000 stages that is most of the time. */
static void page_of_stages(struct query *ret, const struct query *where, const struct list *list, const struct filters *filters, const struct api_app *app)
{
    ptrdiff_t sort = list->sort - sorts;
    query_add(ret, " WHERE s.stage_ref IN (SELECT s.stage_ref FROM stage s");
    if (sort >= SORTS_OF_DURATIONS && sort < SORTS_OF_FINDINGS)
        query_add(ret, JOIN_DURATIONS);
    if ((sort >= SORTS_OF_FINDINGS && sort < SORTS_OF_ANALYSIS) || filters->grade > 0)
        query_pointer(ret, JOIN_FINDINGS, app->ladders, API_LADDERS);
    if (sort >= SORTS_OF_ANALYSIS)
        query_add(ret, JOIN_ANALYSIS);
    query_append(ret, where);
    order_stages(ret, list);
    query_page(ret, list);
    query_add(ret, ")");
    order_stages(ret, list);
}

static enum err_code write_list(const struct api_app *app, struct list *list, const struct filters *filters, const struct request *request, struct response *response,
                                struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query page;
    query_init(&where, request->arena);
    query_init(&count, request->arena);
    query_init(&page, request->arena);
    where_stages(&where, filters, app->ended);
    if (filters->grade > 0)
        query_pointer(&count, "SELECT count(*) FROM stage s" JOIN_FINDINGS, app->ladders, API_LADDERS);
    else
        query_add(&count, "SELECT count(*) FROM stage s");
    query_append(&count, &where);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    page_of_stages(&page, &where, list, filters, app);
    struct json_writer *json = list_begin(list, response);
    rc = stage_items(json, app, request->arena, &page, err);
    list_end(list, json);
    json_object_end(json);
    return rc;
}

enum err_code api_stages(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct filters filters;
    struct api_app app;
    enum err_code rc;
    struct ladder *ladders;
    bool unsound = list_read(&list, request, sorts, "-duration", err) || read_filters(&filters, request, err) || request_ladders(request, &ladders, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    app.ladders = ladders;
    rc = write_list(&app, &list, &filters, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
