/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs, jobs/{id} (spec/core.md §2.5, §3.4 JobData). A job of which only the end was read (its start went with compaction) holds nothing to show and is left out.
 * What was counted behind a job's own end (late_…) is not in the History Server's record of it. */
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

#define JOB_COLUMNS \
    "SELECT job_id, name, description, submission_ms, completion_ms, job_group, tags, status, num_tasks, active_tasks - late_active_tasks, " \
    "completed_tasks - late_completed_tasks, skipped_tasks, failed_tasks - late_failed_tasks, killed_tasks - late_killed_tasks, " \
    "completed_indices - late_completed_indices, active_stages - late_active_stages, completed_stages - late_completed_stages, skipped_stages, " \
    "failed_stages - late_failed_stages FROM job "

static const char *const statuses[] = {"RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"};

/* job.status in this order. */
#define STATUS_COUNT 3

static const char *const count_keys[] = {
    "numTasks", "numActiveTasks", "numCompletedTasks", "numSkippedTasks", "numFailedTasks", "numKilledTasks", "numCompletedIndices",
    "numActiveStages", "numCompletedStages", "numSkippedStages", "numFailedStages",
};
#define FIRST_COUNT 8                /* column of numTasks */

struct job_writer {
    sqlite3_stmt *stages, *kills;
    struct json_writer *w;
};

static enum err_code job_writer_init(struct job_writer *self, struct db *db, struct json_writer *w, struct err *err)
{
    *self = (struct job_writer){.w = w};
    enum err_code rc = db_prepare(db, &self->stages, "SELECT stage_id FROM job_stage WHERE job_id = ?1 ORDER BY ordinal", err);
    if (rc)
        return rc;
    return db_prepare(db, &self->kills,
                      "SELECT x.body, k.task_count - k.late_count FROM kill_reason k JOIN text x ON x.text_id = k.reason_text_id "
                      "WHERE k.owner_kind = 0 AND k.owner = ?1 AND k.task_count > k.late_count", err);
}

static void job_writer_dispose(struct job_writer *self)
{
    db_finalize(self->stages);
    db_finalize(self->kills);
}

static void write_tags(struct json_writer *w, struct str tags)
{
    json_key(w, "jobTags");
    json_array_begin(w);
    while (tags.len) {
        struct str tag = str_word(&tags, ',');
        if (tag.len)
            json_str(w, tag);
    }
    json_array_end(w);
}

static enum err_code write_job(struct job_writer *self, sqlite3_stmt *row, struct err *err)
{
    struct json_writer *w = self->w;
    int64_t id = db_i64(row, 0), status = db_i64(row, 7);
    enum err_code rc;
    json_object_begin(w);
    json_kv_i64(w, "jobId", id);
    v1_text(w, "name", db_str(row, 1));
    v1_text_if(w, "description", db_str(row, 2));
    v1_date_if(w, "submissionTime", db_i64(row, 3));
    v1_date_if(w, "completionTime", db_i64(row, 4));
    json_key(w, "stageIds");
    json_array_begin(w);
    db_bind_i64(self->stages, 1, id);
    while ((rc = db_step(self->stages, err)) == ERR_OK)
        json_i64(w, db_i64(self->stages, 0));
    json_array_end(w);
    if (rc != ERR_EOF)
        return rc;
    v1_text_if(w, "jobGroup", db_str(row, 5));
    write_tags(w, db_str(row, 6));
    json_kv_text(w, "status", status >= 0 && status < STATUS_COUNT ? statuses[status] : "UNKNOWN");
    for (int i = 0; i < (int)ARRAY_LENGTH(count_keys); i++)
        v1_count(w, count_keys[i], db_i64(row, FIRST_COUNT + i));
    json_key(w, "killedTasksSummary");
    json_object_begin(w);
    db_bind_i64(self->kills, 1, id);
    while ((rc = db_step(self->kills, err)) == ERR_OK) {
        json_key_str(w, db_str(self->kills, 0));
        json_i64(w, db_i64(self->kills, 1));
    }
    json_object_end(w);
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static bool convert_status(struct v1_scope *scope)
{
    return v1_param_words(scope->request, "status", statuses, ARRAY_LENGTH(statuses), &scope->wanted, &scope->filtered);
}

static enum err_code jobs(struct v1_scope *scope, struct err *err)
{
    struct json_writer *w = response_json(scope->response, true);
    CLEANUP(job_writer_dispose) struct job_writer writer;
    enum err_code rc = job_writer_init(&writer, scope->db, w, err);
    if (rc)
        return rc;
    sqlite3_stmt *rows = NULL;
    if ((rc = db_prepare(scope->db, &rows, JOB_COLUMNS "WHERE start_seen = 1 ORDER BY job_id DESC", err)))
        return rc;
    json_array_begin(w);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        int64_t status = db_i64(rows, 7);
        if (scope->filtered && !(status >= 0 && status < STATUS_COUNT && (scope->wanted >> status & 1u)))
            continue;
        if ((rc = write_job(&writer, rows, err)))
            break;
    }
    db_finalize(rows);
    if (rc != ERR_EOF)
        return rc;
    json_array_end(w);
    return ERR_OK;
}

static enum err_code job(struct v1_scope *scope, struct err *err)
{
    int64_t id = scope->ids[0];
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(scope->db, &rows, JOB_COLUMNS "WHERE start_seen = 1 AND job_id = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, id);
    if ((rc = db_step(rows, err)) == ERR_OK) {
        CLEANUP(job_writer_dispose) struct job_writer writer;
        rc = job_writer_init(&writer, scope->db, response_json(scope->response, true), err);
        if (rc == ERR_OK)
            rc = write_job(&writer, rows, err);
    } else if (rc == ERR_EOF) {
        response_plain(scope->response, 404, "unknown job: %lld", (long long)id);
        rc = ERR_OK;
    }
    db_finalize(rows);
    return rc;
}

enum err_code v1_jobs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, convert_status, jobs, err);
}

enum err_code v1_job(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, v1_convert_ids, job, err);
}
