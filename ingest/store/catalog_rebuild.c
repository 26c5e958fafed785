/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/catalog_rebuild.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/time.h"
#include "ingest/store/catalog.h"
#include "ingest/store/run_file.h"
#include "ingest/store/run_file_state.h"
#include "ingest/store/run_history.h"

static const char *const log_sql =
    "INSERT INTO log (path, layout, finished_name, bytes, modified_ms, line_count, bad_line_count, flags, load_ms, reason, first_seen_ms, app_key, fingerprint, state, "
    "changed_ms, task_count) VALUES (?1, ?2, ?3, coalesce(?4, 0), coalesce(?5, 0), ?6, ?7, ?8, ?9, ?10, ?11, ?12, '" CATALOG_REBUILT "', ?13, ?14, ?15) "
    "ON CONFLICT (path) DO UPDATE SET app_key = excluded.app_key, layout = excluded.layout, bytes = excluded.bytes, modified_ms = excluded.modified_ms, flags = excluded.flags, "
    "state = excluded.state, line_count = excluded.line_count, bad_line_count = excluded.bad_line_count, task_count = excluded.task_count, first_seen_ms = excluded.first_seen_ms "
    "WHERE excluded.first_seen_ms > first_seen_ms";      /* two runs from one path: the later load is what the path holds now */

static const char *const app_sql =
    "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, queue, start_ms, end_ms, last_event_ms, complete, generation, outcome, duration_ms, "
    "job_count, failed_job_count, stage_count, failed_stage_count, task_count, failed_task_count, executor_count, lost_executor_count, task_time_ms, gc_time_ms, "
    "input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes, disk_spill_bytes, exit_code, view_users, view_groups, vendor_version, start_inferred, log_id, loaded) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, "
    "?33, ?34, (SELECT log_id FROM log WHERE path = ?35), 1)";

/* Copies the value of a column, whatever its type. */
static void bind_column(sqlite3_stmt *to, int position, sqlite3_stmt *from, int column)
{
    sqlite3_bind_value(to, position, sqlite3_column_value(from, column));
}

static enum err_code copy_run(sqlite3_stmt *run, const char *app_key, sqlite3_stmt *log, sqlite3_stmt *app, struct err *err)
{
    char flags[128];
    snprintf(flags, sizeof flags, "%s", db_str(run, RUN_FILE_FLAGS).ptr ? db_str(run, RUN_FILE_FLAGS).ptr : "");
    for (int column = RUN_FILE_PATH; column <= RUN_FILE_STARTED; column++)
        bind_column(log, column + 1, run, column);
    db_bind_str(log, 12, str_of(app_key));
    db_bind_str(log, 13, str_of(log_state_name(catalog_state_of_flags(flags))));
    db_bind_i64(log, 14, time_now_ms());
    bind_column(log, 15, run, RUN_FILE_TASKS);
    if (catalog_state_of_flags(flags) != LOG_PARTIAL)
        sqlite3_bind_null(log, RUN_FILE_REASON + 1);
    enum err_code rc = db_run(log, err);
    if (rc)
        return rc;
    db_bind_str(app, 1, str_of(app_key));
    for (int column = RUN_FILE_APP_ID; column <= RUN_FILE_LAST; column++)
        bind_column(app, column - RUN_FILE_APP_ID + 2, run, column);
    bind_column(app, 35, run, RUN_FILE_PATH);
    return db_run(app, err);
}

/* False: this file gives no run; anything that is wrong with it must not keep the others from being found. */
static bool read_file(struct db *catalog, const char *path, const char *app_key, sqlite3_stmt *log, sqlite3_stmt *app)
{
    struct db db;
    struct run_history history = {0};
    sqlite3_stmt *run = NULL;
    if (db_open(&db, path, DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL))
        return false;
    bool done = !db_prepare(&db, &run, run_file_sql, NULL) && db_step(run, NULL) == ERR_OK && !copy_run(run, app_key, log, app, NULL);
    if (done && !run_history_read(&history, &db, NULL))
        done = !run_history_write(catalog, app_key, &history, NULL);
    run_history_dispose(&history);
    db_finalize(run);
    db_close(&db);
    return done;
}

static bool is_run_file(const char *name)
{
    struct str s = str_of(name);
    return str_ends(s, ".db") && !str_ends(s, ".loading.db") && s.len > 3 && s.len < 200;
}

enum err_code catalog_rebuild(struct db *catalog, const char *store_dir, int64_t *ret_run_count, struct err *err)
{
    char path[4400];
    sqlite3_stmt *log = NULL, *app = NULL;
    *ret_run_count = 0;
    snprintf(path, sizeof path, "%s/apps", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return err_set_errno(err, errno, "%s", path);
    enum err_code rc;
    if (!(rc = db_prepare(catalog, &log, log_sql, err)) && !(rc = db_prepare(catalog, &app, app_sql, err)) && !(rc = db_begin(catalog, err))) {
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (!is_run_file(entry->d_name))
                continue;
            char key[256];
            snprintf(key, sizeof key, "%.*s", (int)(strlen(entry->d_name) - 3), entry->d_name);
            snprintf(path, sizeof path, "%s/apps/%s", store_dir, entry->d_name);
            bool found = read_file(catalog, path, key, log, app);
            *ret_run_count += found;
            if (!found && run_file_look(store_dir, key) == RUN_FILE_DAMAGED && run_file_set_aside(store_dir, key, NULL)) { /* it stays until its run is read anew */ }
        }
        rc = db_commit(catalog, err);
    }
    db_rollback(catalog);
    db_finalize(log);
    db_finalize(app);
    closedir(dir);
    return rc;
}
