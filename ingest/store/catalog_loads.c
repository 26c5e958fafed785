/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads: a wish, a beginning, progress, the end; and what a worker that died left behind. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "ingest/store/app_writer.h"
#include "ingest/store/catalog_statements.h"
#include "ingest/store/run_file_state.h"
#include "ingest/store/run_history.h"
#include "ingest/store/run_summary.h"

#define TRIES_BEFORE_SET_ASIDE 2

enum err_code catalog_want(struct catalog *self, int64_t log_id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_WANT, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, time_now_ms());
    return db_run(stmt, err);
}

enum err_code catalog_load_begin(struct catalog *self, int64_t log_id, int64_t *ret_generation, struct err *err)
{
    sqlite3_stmt *stmt;
    bool own;
    int64_t now_ms = time_now_ms(), generation = UNKNOWN;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = catalog_statement(self, SQL_GENERATION, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            generation = db_i64(stmt, 0);
            db_reset(stmt);
        }
        rc = rc == ERR_EOF ? ERR_OK : rc;
    }
    if (!rc && !(rc = catalog_statement(self, SQL_LOADING, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, now_ms);
        rc = db_run(stmt, err);
    }
    /* The clock makes generations grow across a catalogue that was lost, too: ETags of the time before stay invalid. */
    *ret_generation = known(generation) && generation >= now_ms ? generation + 1 : now_ms;
    return catalog_leave(self, own, rc, err);
}

enum err_code catalog_load_progress(struct catalog *self, int64_t log_id, int64_t read_bytes, int64_t line_count, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PROGRESS, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, read_bytes);
    db_bind_i64(stmt, 3, line_count);
    return db_run(stmt, err);
}

static enum err_code write_loaded_app(struct catalog *self, int64_t log_id, int64_t generation, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_LOADED_APP, &stmt, err);
    if (rc)
        return rc;
    const char *texts[] = {run->app_id, run->attempt_id, run->name, run->user, run->spark_version, run->queue};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        db_bind_str(stmt, (int)i + 1, str_of(texts[i]));
    db_bind_i64(stmt, 7, run->start_ms);
    db_bind_i64(stmt, 8, run->end_ms);
    db_bind_i64(stmt, 9, run->last_event_ms);
    db_bind_i64(stmt, 10, run->complete);
    db_bind_i64(stmt, 11, log_id);
    db_bind_i64(stmt, 12, generation);
    db_bind_str(stmt, 13, str_of(run->outcome));
    const int64_t numbers[] = {run->duration_ms, run->job_count, run->failed_job_count, run->stage_count, run->failed_stage_count, run->task_count, run->failed_task_count,
        run->executor_count, run->lost_executor_count, run->task_time_ms, run->gc_time_ms, run->input_bytes, run->output_bytes, run->shuffle_read_bytes,
        run->shuffle_write_bytes, run->disk_spill_bytes, run->exit_code, run->skew_grade, run->gc_grade,
        run->vendor_version, run->start_inferred};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        db_bind_i64(stmt, (int)i + 14, numbers[i]);
    struct catalog_row row;
    if ((rc = db_run(stmt, err)) || (rc = catalog_write_access(self, log_id, NULL, run, err)) || !run->history || (rc = catalog_get(self, log_id, &row, err)))
        return rc;
    rc = run_history_write(&self->db, row.app_key, run->history, err);
    return rc || !run->summary ? rc : run_summary_write(&self->db, row.app_key, run->summary, err);
}

static enum err_code load_done(struct catalog *self, int64_t log_id, const struct catalog_result *result, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_DONE, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_str(stmt, 2, str_of(log_state_name(result->state)));
    db_bind_str(stmt, 3, str_of(result->reason));
    db_bind_str(stmt, 4, str_of(result->flags));
    db_bind_i64(stmt, 5, time_now_ms());
    db_bind_i64(stmt, 6, result->line_count);
    db_bind_i64(stmt, 7, result->bad_line_count);
    db_bind_i64(stmt, 8, result->task_count);
    db_bind_i64(stmt, 9, result->load_ms);
    db_bind_i64(stmt, 10, result->read->layout);
    db_bind_i64(stmt, 11, result->read->finished_name);
    db_bind_i64(stmt, 12, result->read->bytes);
    db_bind_i64(stmt, 13, result->read->modified_ms);
    db_bind_str(stmt, 14, str_of(result->read->fingerprint));
    if ((rc = db_run(stmt, err)))
        return rc;
    if (result->state == LOG_LOADED || result->state == LOG_PARTIAL) {
        /* A copy that was being loaded when this one was chosen has ended since then. */
        rc = write_loaded_app(self, log_id, result->generation, run, err);
        return rc ? rc : catalog_exec_id_text_time(self, SQL_COPIES_SKIPPED, log_id, CATALOG_COPY_REASON, err);
    }
    if ((rc = catalog_exec_id(self, SQL_RELEASE_COPIES, log_id, err)) || (rc = catalog_exec_id(self, SQL_UNLIST_APP, log_id, err)))
        return rc;
    return catalog_exec_id(self, SQL_UNLIST_LOG, log_id, err);
}

enum err_code catalog_load_done(struct catalog *self, int64_t log_id, const struct catalog_result *result, const struct catalog_run *run, struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    return catalog_leave(self, own, load_done(self, log_id, result, run, err), err);
}

enum err_code catalog_load_put_off(struct catalog *self, int64_t log_id, const char *reason, struct err *err)
{
    return catalog_exec_id_text_time(self, SQL_PUT_OFF, log_id, reason, err);
}

/* --- after a death */

static bool is_leftover(const char *name)
{
    struct str s = str_of(name);
    return str_ends(s, ".lock") || str_ends(s, ".loading.db") || str_ends(s, ".loading.db-wal") || str_ends(s, ".loading.db-shm") || str_ends(s, ".loading.db-journal") ||
           str_ends(s, ".loading.db" APP_WRITER_NEW);
}

static enum err_code remove_leftovers(const char *store_dir, int64_t *ret_count, struct err *err)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/apps", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return err_set_errno(err, errno, "%s", path);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (is_leftover(entry->d_name)) {
            snprintf(path, sizeof path, "%s/apps/%s", store_dir, entry->d_name);
            *ret_count += unlink(path) == 0;
        } else if (str_ends(str_of(entry->d_name), ".db-wal") || str_ends(str_of(entry->d_name), ".db-journal")) {
            snprintf(path, sizeof path, "%s/apps/%.*s", store_dir, (int)(strrchr(entry->d_name, '-') - entry->d_name), entry->d_name);
            if (run_file_settle(path, NULL))
                continue; /* what cannot be opened, or has a reader just now, stays as it is: it is read with its -wal */
        }
    closedir(dir);
    return ERR_OK;
}

enum err_code catalog_recover(struct catalog *self, bool died, struct catalog_recovery *ret, struct err *err)
{
    static const char *const after_death =
        "UPDATE log SET tries = tries + 1, changed_ms = ?1, read_bytes = NULL, state = iif(tries + 1 >= ?2, 'failed', 'waiting'), "
        "reason = iif(tries + 1 >= ?2, 'set aside: loading it ended the worker twice', 'loading it ended the worker once') WHERE state = 'loading'";
    static const char *const after_stop = "UPDATE log SET changed_ms = ?1, read_bytes = NULL, state = 'waiting' WHERE state = 'loading'";
    *ret = (struct catalog_recovery){0};
    sqlite3_stmt *stmt = NULL;
    int64_t set_aside_before = 0, set_aside_after = 0;
    static const char *const count_set_aside = "SELECT count(*) FROM log WHERE state = 'failed' AND tries >= 2";
    enum err_code rc;
    if ((rc = db_query_i64(&self->db, count_set_aside, &set_aside_before, err)) || (rc = db_prepare(&self->db, &stmt, died ? after_death : after_stop, err)))
        return rc;
    db_bind_i64(stmt, 1, time_now_ms());
    if (died)
        db_bind_i64(stmt, 2, TRIES_BEFORE_SET_ASIDE);
    rc = db_run(stmt, err);
    ret->reset_count = sqlite3_changes(self->db.handle);
    db_finalize(stmt);
    if (rc || (rc = db_query_i64(&self->db, count_set_aside, &set_aside_after, err)))
        return rc;
    ret->set_aside_count = set_aside_after - set_aside_before;
    ret->reset_count -= ret->set_aside_count;
    return remove_leftovers(self->store_dir, &ret->removed_file_count, err);
}
