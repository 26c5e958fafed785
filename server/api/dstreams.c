/* SPDX-License-Identifier: Apache-2.0
 *
 * DStreams (spec/sql.md §9): their events are not logged, so batches are rebuilt from the jobs that name one. Batches and output operations without a job leave no trace;
 * processing seems to begin with the first job and to end with the last, a little late and a little early. */
#include "server/api/handlers.h"

#define RECEIVER "Streaming job running receiver "
#define RECEIVER_ID "CAST(substr(description, length('" RECEIVER "') + 1) AS INTEGER)"

static const struct list_sort sorts[] = {
    {"batch", "batch_ms"},
    {"schedulingDelay", "scheduling_delay_ms"},
    {"processingTime", "processing_time_ms"},
    {"totalDelay", "total_delay_ms"},
    {"jobs", "job_count"},
    {NULL, NULL},
};

/* Of a batch and of an output operation. */
static const char *const statuses[] = {"running", "succeeded", "failed", "unknown"};
enum { STATUS_RUNNING, STATUS_SUCCEEDED, STATUS_FAILED, STATUS_UNKNOWN };

/* One without an end makes the whole endless; else one that failed makes it failed. */
#define STATUS "CASE WHEN min(status) = 0 THEN 0 ELSE max(status) END"
#define END "CASE WHEN count(completion_ms) = count(*) THEN max(completion_ms) END"

#define BATCHES \
    "(SELECT batch_ms, start_ms, end_ms, status, job_count, failed_job_count, output_op_count," \
    "        CASE WHEN start_ms >= batch_ms THEN start_ms - batch_ms END AS scheduling_delay_ms, CASE WHEN end_ms >= start_ms THEN end_ms - start_ms END AS processing_time_ms," \
    "        CASE WHEN end_ms >= batch_ms THEN end_ms - batch_ms END AS total_delay_ms" \
    " FROM (SELECT batch_ms, min(submission_ms) AS start_ms, " END " AS end_ms, " STATUS " AS status, count(*) AS job_count, sum(status = 2) AS failed_job_count," \
    "              count(DISTINCT output_op_id) AS output_op_count" \
    "       FROM job WHERE batch_ms IS NOT NULL GROUP BY batch_ms))"

static const char ops_sql[] =
    "SELECT " STATUS ", (SELECT group_concat(job_id, ' ') FROM (SELECT job_id FROM job WHERE batch_ms = j.batch_ms AND output_op_id IS j.output_op_id ORDER BY job_id)),"
    "       output_op_id, max(name) AS name, min(submission_ms) AS start_ms, " END " AS end_ms"
    " FROM job j WHERE batch_ms = ? GROUP BY output_op_id ORDER BY output_op_id";

static void write_status(struct json_writer *json, int64_t status, bool ended)
{
    json_kv_text(json, "status", API_WORD(statuses, status == STATUS_RUNNING && ended ? STATUS_UNKNOWN : status));
}

static enum err_code write_batch(struct json_writer *json, sqlite3_stmt *batch, sqlite3_stmt *ops, bool ended, struct err *err)
{
    enum err_code rc;
    json_object_begin(json);
    write_status(json, db_i64(batch, 0), ended);
    api_columns(json, batch, 1, sqlite3_column_count(batch));
    json_key(json, "outputOps");
    json_array_begin(json);
    db_bind_i64(ops, 1, db_i64(batch, 1));
    while ((rc = db_step(ops, err)) == ERR_OK) {
        json_object_begin(json);
        write_status(json, db_i64(ops, 0), ended);
        api_numbers(json, "jobIds", db_str(ops, 1));
        api_columns(json, ops, 2, sqlite3_column_count(ops));
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_batches(struct json_writer *json, const struct api_app *app, const struct list *list, int64_t batch_ms, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    /* Rows that tasks read, and only a hint: direct Kafka streams report none. */
    query_add(&query, "SELECT status, batch_ms, start_ms, end_ms, scheduling_delay_ms, processing_time_ms, total_delay_ms, job_count, failed_job_count, output_op_count,"
                      "       (SELECT CASE WHEN count(s.input_records) THEN CAST(total(s.input_records) AS INTEGER) END FROM stage s WHERE s.stage_id IN"
                      "           (SELECT js.stage_id FROM job j JOIN job_stage js ON js.job_id = j.job_id WHERE j.batch_ms = b.batch_ms)) AS input_records"
                      " FROM " BATCHES " b WHERE 1");
    if (known(batch_ms))
        query_number(&query, " AND batch_ms = ?", batch_ms);
    query_order(&query, list, "batch_ms");
    query_page(&query, list);
    sqlite3_stmt *stmt = NULL, *ops = NULL;
    enum err_code rc = query_prepare(&query, app->db, &stmt, err);
    if (!rc)
        rc = db_prepare(app->db, &ops, ops_sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = write_batch(json, stmt, ops, app->ended, err);
    db_finalize(stmt);
    db_finalize(ops);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The batch interval is guessed: the smallest distance of two batches; sure when all batch times are multiples of it, as Spark makes them. */
static enum err_code write_interval(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt,
                                  "WITH b AS (SELECT DISTINCT batch_ms FROM job WHERE batch_ms IS NOT NULL),"
                                  "     d AS (SELECT min(distance) AS interval_ms FROM (SELECT batch_ms - lag(batch_ms) OVER (ORDER BY batch_ms) AS distance FROM b))"
                                  " SELECT interval_ms, NOT EXISTS (SELECT 1 FROM b WHERE batch_ms % interval_ms <> 0) FROM d",
                                  err);
    if (!rc)
        rc = db_step(stmt, err);
    if (!rc) {
        int64_t interval_ms = db_i64(stmt, 0);
        json_kv_i64(json, "intervalMs", interval_ms);
        json_kv_bool(json, "intervalFits", known(interval_ms) && db_i64(stmt, 1) == 1);
    }
    db_finalize(stmt);
    return rc;
}

/* A receiver is a job of one long task; each restart is another such job. */
static enum err_code write_receivers(struct json_writer *json, struct db *db, bool ended, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    json_key(json, "receivers");
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT " STATUS ", group_concat(job_id, ' '), " RECEIVER_ID " AS stream_id, min(submission_ms) AS start_ms, " END " AS end_ms"
                                  " FROM (SELECT * FROM job ORDER BY job_id) WHERE description GLOB '" RECEIVER "[0-9]*' AND batch_ms IS NULL GROUP BY stream_id ORDER BY stream_id"
                                  " LIMIT 1000",
                                  err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_status(json, db_i64(stmt, 0), ended);
        api_numbers(json, "jobIds", db_str(stmt, 1));
        api_columns(json, stmt, 2, sqlite3_column_count(stmt));
        json_object_end(json);
    }
    db_finalize(stmt);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_answer(const struct api_app *app, struct list *list, int64_t batch_ms, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    query_init(&count, request->arena);
    query_add(&count, "SELECT count(DISTINCT batch_ms) FROM job WHERE batch_ms IS NOT NULL");
    if (known(batch_ms))
        query_number(&count, " AND batch_ms = ?", batch_ms);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    struct json_writer *json = list_begin(list, response);
    rc = write_batches(json, app, list, batch_ms, request->arena, err);
    list_end(list, json);
    if (!rc && !(rc = write_interval(json, app->db, err)))
        rc = write_receivers(json, app->db, app->ended, err);
    json_object_end(json);
    return rc;
}

enum err_code api_dstreams(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int64_t batch_ms;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "batch", err) || request_param_i64(request, "batch", UNKNOWN, 0, INT64_MAX, &batch_ms, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_answer(&app, &list, batch_ms, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
