/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

#define TEXT_BYTES ((size_t)1 << 20) /* ids, names, access lists: some kilobytes */
#define FORMAT_AT 18                 /* SQLite's file format: 1, or 2 where a write-ahead log belongs to the file */
#define HEAD_BYTES 100

const char run_file_sql[] =
    "SELECT l.log_path, l.layout, l.finished_name, l.stored_bytes, l.log_modified_ms, l.line_count, h.bad_line_count, h.flags, l.ended_ms - l.started_ms, " /* 0-8 */
    "(SELECT reason FROM log_problem ORDER BY problem_no LIMIT 1), l.started_ms, l.app_key, "                                                               /* 9-11 */
    "a.app_id, a.attempt_id, a.name, a.user, a.spark_version, (SELECT value FROM environment WHERE section = 1 AND name = 'spark.yarn.queue'), "            /* 12-17 */
    "coalesce(a.start_ms, a.first_event_ms), iif(h.complete, iif(a.end_ms >= coalesce(a.start_ms, a.first_event_ms), a.end_ms, a.last_event_ms), NULL), "   /* 18-19 */
    "a.last_event_ms, h.complete, l.generation, "                                                                                                           /* 20-22 */
    "CASE WHEN NOT h.complete THEN 'unknown' WHEN a.exit_code <> 0 THEN 'failed' ELSE coalesce((SELECT iif(status = 2, 'failed', 'succeeded') FROM job "
    /* Not one that was stopped with its streaming query. */
    "WHERE status <> 0 AND NOT (status = 2 AND coalesce(job_group IN (SELECT run_id FROM streaming_query WHERE end_seen AND exception_text_id IS NULL), 0)) "
    "ORDER BY completion_ms DESC, job_id DESC LIMIT 1), iif(a.exit_code IS NULL, 'unknown', 'succeeded')) END, " /* 23 */
    "coalesce(iif(h.complete AND a.end_ms >= coalesce(a.start_ms, a.first_event_ms), a.end_ms, a.last_event_ms), a.last_event_ms) "
    "- coalesce(a.start_ms, a.first_event_ms), "                                                                                                       /* 24 */
    "(SELECT count(*) FROM job), (SELECT count(*) FROM job WHERE status = 2), "                                                                        /* 25-26 */
    "(SELECT count(*) FROM stage WHERE status NOT IN (0, 4)), (SELECT count(*) FROM stage WHERE status = 3), "                                         /* 27-28 */
    "(SELECT coalesce(sum(ended_tasks), 0) FROM stage), (SELECT coalesce(sum(failed_tasks), 0) FROM stage), "                                          /* 29-30 */
    "(SELECT count(*) FROM executor WHERE executor_id <> 'driver'), "                                                                                  /* 31 */
    "(SELECT count(*) FROM executor WHERE executor_id <> 'driver' AND NOT active AND (NOT h.complete OR remove_ms IS NULL OR remove_ms < a.end_ms)), " /* 32 */
    "t.*, nullif(coalesce(a.view_acls || ',', '') || coalesce(a.admin_acls, ''), ''), nullif(coalesce(a.view_acls_groups || ',', '') || coalesce(a.admin_acls_groups, ''), ''), a.vendor_version, a.start_ms IS NULL AND NOT h.no_application_start " /* 33-40, 41-44 */
    "FROM load AS l, application AS a, log_health AS h, "
    "(SELECT sum(task_time_ms), sum(jvm_gc_time_ms), sum(input_bytes), sum(output_bytes), "
    "sum(coalesce(min(shuffle_remote_read_bytes + shuffle_local_read_bytes, 9223372036854775807), shuffle_remote_read_bytes, shuffle_local_read_bytes)), sum(shuffle_write_bytes), sum(disk_spilled_bytes), (SELECT exit_code FROM application) FROM stage) AS t "
    "WHERE l.state = 'done' LIMIT 1";

static enum err_code text(struct run_file *self, sqlite3_stmt *row, int column, const char **ret, struct err *err)
{
    struct str value = db_str(row, column);
    *ret = NULL;
    if (value.ptr && !(*ret = arena_strndup(&self->texts, value.ptr, value.len)))
        return err_set(err, ERR_INVALID, "its texts are longer than any that this program writes");
    return ERR_OK;
}

static enum err_code read_texts(struct run_file *self, sqlite3_stmt *row, struct err *err)
{
    struct catalog_run *run = &self->run;
    const struct {
        int column;
        const char **to;
    } texts[] = {{RUN_FILE_PATH, &self->log_path},
                 {RUN_FILE_FLAGS, &self->flags},
                 {RUN_FILE_REASON, &self->reason},
                 {RUN_FILE_APP_KEY, &self->app_key},
                 {RUN_FILE_APP_ID, &run->app_id},
                 {13, &run->attempt_id},
                 {14, &run->name},
                 {15, &run->user},
                 {16, &run->spark_version},
                 {17, &run->queue},
                 {23, &run->outcome},
                 {41, &run->view_users},
                 {42, &run->view_groups}};
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(texts) && !rc; i++)
        rc = text(self, row, texts[i].column, texts[i].to, err);
    if (!rc && (!self->log_path || !self->app_key || !self->flags || !run->app_id))
        rc = err_set(err, ERR_INVALID, "it does not say which run it holds");
    return rc;
}

static void read_numbers(struct run_file *self, sqlite3_stmt *row)
{
    struct catalog_run *run = &self->run;
    int64_t *const numbers[] = {&run->job_count,          &run->failed_job_count,    &run->stage_count,      &run->failed_stage_count, &run->task_count,  &run->failed_task_count,
                                &run->executor_count,     &run->lost_executor_count, &run->task_time_ms,     &run->gc_time_ms,         &run->input_bytes, &run->output_bytes,
                                &run->shuffle_read_bytes, &run->shuffle_write_bytes, &run->disk_spill_bytes, &run->exit_code};
    self->layout = db_i64(row, 1);
    self->finished_name = db_i64(row, 2) == 1;
    self->stored_bytes = known_or(db_i64(row, 3), 0);
    self->modified_ms = known_or(db_i64(row, 4), 0);
    self->line_count = db_i64(row, 5);
    self->bad_line_count = db_i64(row, 6);
    self->load_ms = db_i64(row, 8);
    run->start_ms = db_i64(row, 18);
    run->end_ms = db_i64(row, 19);
    run->last_event_ms = db_i64(row, 20);
    run->complete = db_i64(row, 21) == 1;
    run->duration_ms = db_i64(row, 24);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        *numbers[i] = db_i64(row, 25 + (int)i);
    run->vendor_version = db_i64(row, 43) == 1;
    run->start_inferred = db_i64(row, RUN_FILE_LAST) == 1;
    run->skew_grade = run->gc_grade = UNKNOWN;
}

enum err_code run_file_read(struct run_file *ret, struct db *app, struct err *err)
{
    *ret = (struct run_file){0};
    arena_init(&ret->texts, TEXT_BYTES);
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(app, &row, run_file_sql, err);
    if (!rc)
        rc = db_step(row, err);
    if (rc == ERR_EOF)
        rc = err_set(err, ERR_INVALID, "it was not filled to its end");
    if (!rc && !(rc = read_texts(ret, row, err)))
        read_numbers(ret, row);
    db_finalize(row);
    return rc;
}

void run_file_dispose(struct run_file *self)
{
    arena_dispose(&self->texts);
    *self = (struct run_file){0};
}

/* ---- files from elsewhere */

/* SQLite would make files of its own beside one that is not closed for good. */
static enum err_code check_closed(const char *path, struct err *err)
{
    unsigned char head[HEAD_BYTES];
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a pipe would keep us waiting */
    if (fd < 0)
        return errno == ELOOP ? err_set(err, ERR_INVALID, "it is a link") : err_set_errno(err, errno, "it cannot be read");
    if (fstat(fd, &file) || !S_ISREG(file.st_mode)) {
        close(fd);
        return err_set(err, ERR_INVALID, "it is no file");
    }
    ssize_t got = pread(fd, head, sizeof head, 0);
    int failed = errno;
    close(fd);
    if (got < 0)
        return err_set_errno(err, failed, "it cannot be read");
    if (got < HEAD_BYTES)
        return err_set(err, ERR_INVALID, "it is no database");
    return head[FORMAT_AT] == 1 ? ERR_OK : err_set(err, ERR_INVALID, "it is no database, or was not closed for good");
}

static const char objects_sql[] = "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1";

static enum err_code check_schema(struct db *self, struct err *err)
{
    struct db ours = {0};
    sqlite3_stmt *expected = NULL, *found = NULL;
    enum err_code rc = db_open(&ours, ":memory:", DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err);
    if (rc)
        return rc;
    if (!(rc = db_prepare(&ours, &expected, objects_sql, err)))
        rc = db_prepare(self, &found, objects_sql, err);
    while (!rc) {
        enum err_code other = db_step(found, err);
        rc = db_step(expected, err);
        if (other && other != ERR_EOF)
            rc = other;
        else if (rc != other || (!rc && !str_eq(db_str(expected, 0), db_str(found, 0))))
            rc = err_set(err, ERR_INVALID, "its tables are not those that this program makes");
    }
    db_finalize(expected);
    db_finalize(found);
    db_close(&ours);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code check_pages(struct db *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self, &stmt, "PRAGMA quick_check(1)", err);
    if (!rc && !(rc = db_step(stmt, err)) && !str_is(db_str(stmt, 0), "ok"))
        rc = err_set(err, ERR_CORRUPT, "it is damaged: %.*s", (int)MIN(db_str(stmt, 0).len, (size_t)200), db_str(stmt, 0).ptr);
    db_finalize(stmt);
    return rc;
}

enum err_code run_file_open_foreign(struct db *ret, const char *path, struct err *err)
{
    *ret = (struct db){0};
    enum err_code rc = check_closed(path, err);
    if (rc || (rc = db_open(ret, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, err)))
        return rc;
    if ((rc = check_schema(ret, err)) || (rc = check_pages(ret, err)))
        db_close(ret);
    return rc;
}
