/* SPDX-License-Identifier: Apache-2.0
 *
 * A run over time, for its picture: slots alive and busy, what the driver did meanwhile, executors that came and went, jobs, and of few jobs their stages with what of them the run waited
 * for. Of a part of the run, too. Bounded: a picture has no room for more, and what is left out is counted. */
#include "analysis/messages.h"
#include "base/mem.h"
#include "server/api/handlers.h"

/* More jobs than the first have no stages here, more than the second are told as numbers of jobs over time. */
#define JOBS_WITH_STAGES 60
#define MOST_JOBS 400
#define MOST_STAGES 1200
#define MOST_EXECUTORS 500
#define MOST_GAPS 500
#define DENSITY_PARTS 400
#define LONGEST_MS INT64_C(10000000000000) /* three centuries: no run is longer, and sums stay sound */

/* ?1 and ?2 in all of them: from and to, epoch ms; ?3: most rows; ?4: the only job, or NULL. */
static const char slots_sql[] = "SELECT from_ms, round(alive, 3) AS alive, round(busy, 3) AS busy FROM slot_use"
                                " WHERE from_ms < ?2 AND from_ms >= coalesce((SELECT max(from_ms) FROM slot_use WHERE from_ms <= ?1), 0) ORDER BY from_ms";

/* The chain's start-up goes on until the first job; a driver's gap in it is told by itself. The longest. */
#define GAPS                                                                                                                                                                       \
    " FROM (SELECT from_ms, to_ms, kind AS bucket, sub, job_before, job_after FROM driver_gap"                                                                                     \
    "       UNION ALL SELECT from_ms, min(to_ms, coalesce((SELECT min(from_ms) FROM driver_gap), to_ms)), 'startup', NULL, NULL, NULL FROM chain_segment WHERE label = 'startup')" \
    " WHERE from_ms < ?2 AND to_ms > ?1"
static const char gap_count_sql[] = "SELECT count(*)" GAPS;
static const char gaps_sql[] = "SELECT * FROM (SELECT *" GAPS " ORDER BY to_ms - from_ms DESC, from_ms LIMIT ?3) ORDER BY from_ms";

#define EXECUTORS " FROM executor e WHERE executor_id <> 'driver' AND announced AND (add_ms BETWEEN ?1 AND ?2 OR remove_ms BETWEEN ?1 AND ?2)"
static const char executor_count_sql[] = "SELECT count(*)" EXECUTORS;
static const char executors_sql[] = "SELECT executor_id, add_ms, remove_ms, remove_reason, " EXECUTOR_LOST EXECUTORS " ORDER BY coalesce(add_ms, remove_ms), executor_ref LIMIT ?3";
#define EXECUTOR_PLAIN 4

#define JOB_WHERE " WHERE j.submission_ms < ?2 AND coalesce(j.completion_ms, ?2) >= ?1 AND (?4 IS NULL OR j.job_id = ?4)"
#define JOBS " FROM job j" JOB_WHERE
static const char job_count_sql[] = "SELECT count(*)" JOBS;
static const char jobs_sql[] = "SELECT j.job_id, j.name, j.description, j.submission_ms AS from_ms, j.completion_ms AS to_ms, j.sql_execution_id,"
                               "       (SELECT count(*) FROM job_stage s WHERE s.job_id = j.job_id) AS num_stages,"
                               "       (SELECT count(*) FROM job_stage s WHERE s.job_id = j.job_id AND s.skipped AND NOT s.ran) AS skipped_stages, p.ms AS on_path_ms, j.status = 2"
                               "  FROM job j LEFT JOIN (SELECT job_id, sum(to_ms - from_ms) AS ms FROM chain_segment GROUP BY job_id) p ON p.job_id = j.job_id" JOB_WHERE
                               " ORDER BY j.submission_ms, j.job_id LIMIT ?3";
#define JOB_PLAIN 9

#define STAGE_FROM "coalesce(s.submission_ms, s.first_task_launch_ms)"
#define STAGE_TO "CASE WHEN s.completed_seen THEN max(coalesce(s.completion_ms, 0), coalesce(s.last_task_finish_ms, 0)) END"
#define STAGES                                                                                         \
    " FROM stage s WHERE s.task_rows > 0 AND " STAGE_FROM " < ?2 AND coalesce(" STAGE_TO ", ?2) >= ?1" \
    " AND (?4 IS NULL OR s.stage_id IN (SELECT stage_id FROM job_stage WHERE job_id = ?4))"
static const char stage_count_sql[] = "SELECT count(*)" STAGES;
/* Slack: how much later the stage could have ended before a stage that reads it, or its job, would have waited. The last task is the one that the run waited for. */
static const char stages_sql[] =
    "WITH task AS (SELECT stage_ref, max(task_id) AS task_id, min(from_ms) AS from_ms, max(to_ms) AS to_ms FROM chain_segment WHERE label = 'task' GROUP BY stage_ref),"
    "     shown AS (SELECT s.*, " STAGE_FROM " AS from_ms, " STAGE_TO " AS to_ms,"
    "                      (SELECT job_id FROM job_stage j WHERE j.stage_id = s.stage_id AND (?4 IS NULL OR j.job_id = ?4) ORDER BY j.ran DESC, j.skipped, j.job_id LIMIT 1) AS job_id" STAGES
    " ORDER BY from_ms, s.stage_ref LIMIT ?3),"
    "     reader AS (SELECT s.stage_ref, min(c.submission_ms) AS at_ms FROM stage_parent p JOIN shown s ON s.stage_id = p.parent_id JOIN stage c ON c.stage_id = p.stage_id"
    "                 WHERE c.submission_ms >= s.to_ms GROUP BY s.stage_ref)"
    "SELECT s.stage_id, s.attempt, s.job_id, s.name, s.from_ms, s.to_ms, s.num_tasks, s.failed_tasks, a.on_path_ms,"
    "       max(0, coalesce(r.at_ms, j.completion_ms) - s.to_ms) AS slack_ms,"
    "       t.task_id AS last_task_id, t.from_ms AS last_task_from_ms, t.to_ms AS last_task_to_ms,"
    "       t.to_ms - t.from_ms > a.outlier_cut_ms AND a.outlier_count > 0, s.status = 3"
    "  FROM shown s LEFT JOIN stage_analysis a ON a.stage_ref = s.stage_ref LEFT JOIN task t ON t.stage_ref = s.stage_ref LEFT JOIN job j ON j.job_id = s.job_id"
    "  LEFT JOIN reader r ON r.stage_ref = s.stage_ref"
    " ORDER BY s.from_ms, s.stage_ref";
#define STAGE_PLAIN 13

struct span {
    int64_t from_ms, to_ms, job; /* job: the only one; UNKNOWN: all */
};

/* A statement over the span with at most `most` rows; UNKNOWN: the statement has no ?3. */
static enum err_code prepare(struct db *db, const char *sql, const struct span *span, int64_t most, sqlite3_stmt **ret, struct err *err)
{
    enum err_code rc = db_prepare(db, ret, sql, err);
    if (rc)
        return rc;
    db_bind_i64(*ret, 1, span->from_ms);
    db_bind_i64(*ret, 2, span->to_ms);
    if (known(most))
        db_bind_i64(*ret, 3, most);
    if (sqlite3_bind_parameter_count(*ret) >= 4)
        db_bind_i64(*ret, 4, span->job);
    return ERR_OK;
}

static enum err_code count_of(struct db *db, const char *sql, const struct span *span, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = prepare(db, sql, span, UNKNOWN, &stmt, err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        *ret = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc;
}

/* What a row has behind its plain columns. */
typedef void write_rest(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang);

static enum err_code write_rows(struct json_writer *json, const char *key, sqlite3_stmt *stmt, int plain, write_rest *rest, enum lang lang, struct err *err)
{
    enum err_code rc;
    json_key(json, key);
    json_array_begin(json);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, plain);
        if (rest)
            rest(json, stmt, lang);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void gap_rest(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang)
{
    json_kv_text(json, "name", message(lang, "buckets", db_str(stmt, 2), "name"));
}

static void executor_rest(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang)
{
    (void)lang;
    json_kv_bool(json, "lost", db_i64(stmt, EXECUTOR_PLAIN) == 1);
}

static void job_rest(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang)
{
    (void)lang;
    json_kv_bool(json, "failed", db_i64(stmt, JOB_PLAIN) == 1);
}

static void stage_rest(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang)
{
    (void)lang;
    json_kv_bool(json, "lastTaskSlow", db_i64(stmt, STAGE_PLAIN) == 1);
    json_kv_bool(json, "failed", db_i64(stmt, STAGE_PLAIN + 1) == 1);
}

/* "…Count" and the rows themselves. */
static enum err_code write_counted(struct json_writer *json, struct db *db, const char *const keys[2], const char *const sql[2], const struct span *span, int64_t most, int plain,
                                   write_rest *rest, enum lang lang, struct err *err)
{
    int64_t count = 0;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = count_of(db, sql[0], span, &count, err);
    json_kv_i64(json, keys[0], count);
    if (!rc)
        rc = prepare(db, sql[1], span, most, &stmt, err);
    return rc ? rc : write_rows(json, keys[1], stmt, plain, rest, lang, err);
}

/* Mean number of jobs running in each part of the span, and of those failed that ended in it. */
struct density {
    struct span span;
    double running_ms[DENSITY_PARTS];
    int64_t failed[DENSITY_PARTS];
};

static void add_job(struct density *self, struct span job, bool failed)
{
    double part_ms = (double)(self->span.to_ms - self->span.from_ms) / DENSITY_PARTS;
    double from = (double)(MAX(job.from_ms, self->span.from_ms) - self->span.from_ms) / part_ms, to = (double)(MIN(job.to_ms, self->span.to_ms) - self->span.from_ms) / part_ms;
    int last = (int)MIN(to, DENSITY_PARTS - 1.0);
    for (int i = (int)MIN(from, DENSITY_PARTS - 1.0); i <= last; i++)
        self->running_ms[i] += (MIN(to, i + 1.0) - MAX(from, (double)i)) * part_ms;
    self->failed[last] += failed && job.to_ms <= self->span.to_ms;
}

static enum err_code write_density(struct json_writer *json, struct db *db, const struct span *span, struct err *err)
{
    CLEANUP(mem_freep) struct density *density = mem_zalloc(sizeof *density);
    sqlite3_stmt *stmt = NULL;
    if (!density)
        return err_nomem(err);
    density->span = *span;
    enum err_code rc = prepare(db, "SELECT j.submission_ms, coalesce(j.completion_ms, ?2), j.status = 2" JOBS, span, UNKNOWN, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        add_job(density, (struct span){db_i64(stmt, 0), MAX(db_i64(stmt, 0), db_i64(stmt, 1)), UNKNOWN}, db_i64(stmt, 2) == 1);
    db_finalize(stmt);
    double part_ms = (double)(span->to_ms - span->from_ms) / DENSITY_PARTS;
    json_key(json, "density");
    json_object_begin(json);
    json_kv_f64(json, "partMs", part_ms);
    json_key(json, "running");
    json_array_begin(json);
    for (int i = 0; i < DENSITY_PARTS; i++)
        json_f64(json, (double)(int64_t)(density->running_ms[i] / part_ms * 1000 + 0.5) / 1000);
    json_array_end(json);
    json_key(json, "failed");
    json_array_begin(json);
    for (int i = 0; i < DENSITY_PARTS; i++)
        json_i64(json, density->failed[i]);
    json_array_end(json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_jobs(struct json_writer *json, struct db *db, const struct span *span, enum lang lang, struct err *err)
{
    static const char *const job_keys[] = {"jobCount", "jobs"}, *const job_queries[] = {job_count_sql, jobs_sql};
    static const char *const stage_keys[] = {"stageCount", "stages"}, *const stage_queries[] = {stage_count_sql, stages_sql};
    int64_t count = 0;
    enum err_code rc = count_of(db, job_count_sql, span, &count, err);
    if (!rc)
        rc = write_counted(json, db, job_keys, job_queries, span, count > MOST_JOBS ? 0 : MOST_JOBS, JOB_PLAIN, job_rest, lang, err);
    if (!rc)
        rc = write_counted(json, db, stage_keys, stage_queries, span, count > JOBS_WITH_STAGES ? 0 : MOST_STAGES, STAGE_PLAIN, stage_rest, lang, err);
    if (!rc && count > MOST_JOBS)
        return write_density(json, db, span, err);
    json_key(json, "density");
    json_null(json);
    return rc;
}

/* Of a job alone its own time is shown; one that there is not leaves the span as it is. */
static enum err_code span_of_job(struct db *db, struct span *span, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT submission_ms, completion_ms FROM job WHERE job_id = ?1 AND submission_ms IS NOT NULL", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, span->job);
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        span->from_ms = MIN(MAX(span->from_ms, db_i64(stmt, 0)), span->to_ms);
        span->to_ms = MIN(span->to_ms, MAX(span->from_ms, known_or(db_i64(stmt, 1), span->to_ms)));
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code answer(struct db *db, const struct span *asked, enum lang lang, struct response *response, struct err *err)
{
    static const char *const gap_keys[] = {"gapCount", "gaps"}, *const gap_queries[] = {gap_count_sql, gaps_sql};
    static const char *const executor_keys[] = {"executorCount", "executors"}, *const executor_queries[] = {executor_count_sql, executors_sql};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT begin_ms, end_ms, slot_peak FROM analysis", err);
    if (!rc)
        rc = db_step(stmt, err);
    if (rc) {
        db_finalize(stmt);
        return rc;
    }
    int64_t begin_ms = db_i64(stmt, 0), end_ms = db_i64(stmt, 1);
    struct span span = {MIN(begin_ms + asked->from_ms, end_ms), end_ms, asked->job};
    if (known(asked->to_ms))
        span.to_ms = MIN(begin_ms + asked->to_ms, end_ms);
    else if (known(asked->job) && (rc = span_of_job(db, &span, err))) {
        db_finalize(stmt);
        return rc;
    }
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    api_columns(json, stmt, 0, 3);
    db_finalize(stmt);
    json_kv_i64(json, "fromMs", span.from_ms);
    json_kv_i64(json, "toMs", span.to_ms);
    if (!(rc = prepare(db, slots_sql, &span, UNKNOWN, &stmt, err)))
        rc = write_rows(json, "slots", stmt, 3, NULL, lang, err);
    if (!rc)
        rc = write_counted(json, db, gap_keys, gap_queries, &span, MOST_GAPS, 6, gap_rest, lang, err);
    if (!rc)
        rc = write_counted(json, db, executor_keys, executor_queries, &span, MOST_EXECUTORS, EXECUTOR_PLAIN, executor_rest, lang, err);
    if (!rc)
        rc = write_jobs(json, db, &span, lang, err);
    json_object_end(json);
    return rc;
}

enum err_code request_run_part(const struct request *request, int64_t *ret_from_ms, int64_t *ret_to_ms, struct err *err)
{
    enum err_code rc;
    if ((rc = request_param_i64(request, "fromMs", 0, 0, LONGEST_MS, ret_from_ms, err)) || (rc = request_param_i64(request, "toMs", UNKNOWN, 1, LONGEST_MS, ret_to_ms, err)))
        return rc;
    return known(*ret_to_ms) && *ret_to_ms <= *ret_from_ms ? err_set(err, ERR_INVALID, "toMs is greater than fromMs") : ERR_OK;
}

enum err_code api_timeline(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct span asked;
    enum lang lang;
    enum err_code rc;
    if (request_lang(request, &lang, err) || request_run_part(request, &asked.from_ms, &asked.to_ms, err) ||
        request_param_i64(request, "job", UNKNOWN, 0, INT32_MAX, &asked.job, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err))
        rc = answer(app.db, &asked, lang, response, err);
    api_app_close(ctx, &app);
    return rc;
}
