/* SPDX-License-Identifier: Apache-2.0
 *
 * All SQL of the catalogue in full, in the order of enum catalog_statement; catalog_*.c bind it. */
#include "ingest/store/catalog_statements.h"

#include "base/time.h"

#define ROW_COLUMNS \
    "SELECT l.log_id, l.place_id, l.path, l.fingerprint, l.reason, l.flags, l.layout, l.bytes, l.modified_ms, l.changed_ms, l.wanted_ms, l.tries, " \
    "l.line_count, l.bad_line_count, l.task_count, l.load_ms, l.finished_name, l.state, l.app_key, a.app_id, a.attempt_id, a.complete, a.loaded, " \
    "a.log_id = l.log_id, l.removing_ms, a.generation > 0 AND NOT a.loaded " \
    "FROM log AS l LEFT JOIN app AS a ON a.app_key = l.app_key "

static const char *const statement_sql[CATALOG_STATEMENT_COUNT] = {
    [SQL_ROW_BY_ID] = ROW_COLUMNS "WHERE l.log_id = ?1",
    [SQL_ROW_BY_PATH] = ROW_COLUMNS "WHERE l.path = ?1",
    [SQL_INSERT_LOG] =
        "INSERT INTO log (place_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting', ?8, ?8)",
    [SQL_CHANGE_LOG] =
        "UPDATE log SET layout = ?2, finished_name = ?3, bytes = ?4, modified_ms = ?5, fingerprint = ?6, state = 'waiting', reason = ?8, tries = 0, changed_ms = ?7, "
        "removing_ms = NULL, grown_ms = iif(bytes <> ?4, ?7, grown_ms), flags = CASE WHEN app_key IS NULL THEN '' ELSE trim(replace(flags, 'abandoned', '')) END WHERE log_id = ?1",
    [SQL_SET_PLACE] = "UPDATE log SET place_id = ?2 WHERE log_id = ?1",
    [SQL_ADOPT_FINGERPRINT] = "UPDATE log SET fingerprint = ?2 WHERE log_id = ?1",
    [SQL_REJECT] =
        "INSERT INTO log (place_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, reason, flags, first_seen_ms, changed_ms) "
        "VALUES (?1, ?2, 0, 0, ?3, ?4, '', 'skipped', ?5, ?6, ?7, ?7) "
        "ON CONFLICT (path) DO UPDATE SET place_id = coalesce(place_id, excluded.place_id), bytes = excluded.bytes, modified_ms = excluded.modified_ms, fingerprint = '', "
        "state = 'skipped', reason = excluded.reason, flags = excluded.flags, changed_ms = excluded.changed_ms",
    [SQL_RENAMED_OLD] = "UPDATE log SET state = 'gone', reason = ?2, changed_ms = ?3, wanted_ms = NULL WHERE log_id = ?1",
    [SQL_RENAMED_NEW] =
        "UPDATE log SET app_key = (SELECT app_key FROM log WHERE log_id = ?2), wanted_ms = (SELECT wanted_ms FROM log WHERE log_id = ?2) WHERE log_id = ?1",
    [SQL_RENAMED_APP] = "UPDATE app SET log_id = ?1 WHERE log_id = ?2",
    [SQL_PLACE_INSERT] = "INSERT INTO place (uri, name) VALUES (?1, ?2) ON CONFLICT (uri) DO UPDATE SET name = coalesce(excluded.name, name)",
    [SQL_PLACE_ID] = "SELECT place_id FROM place WHERE uri = ?1",
    [SQL_PLACE_SCANNED] = "UPDATE place SET last_scan_ms = ?2, last_scan_duration_ms = ?3, entry_count = ?4, last_error = ?5, "
        "failing_since_ms = CASE WHEN ?5 IS NULL THEN NULL ELSE coalesce(failing_since_ms, ?2) END WHERE place_id = ?1",
    [SQL_FINGERPRINTS] = "SELECT path, fingerprint FROM log WHERE state <> 'gone' AND fingerprint <> ''",
    [SQL_PRESENT_COUNT] = "SELECT count(*) FROM log WHERE place_id = ?1 AND state <> 'gone'",
    [SQL_PRESENT] = "SELECT log_id, path FROM log WHERE place_id = ?1 AND state <> 'gone'",
    /* The reason stays: it is that of the load, and of use when the log comes back. */
    [SQL_GONE] = "UPDATE log SET state = 'gone', changed_ms = ?2, wanted_ms = NULL WHERE log_id = ?1",
    [SQL_BACK] = "UPDATE log SET state = ?2, changed_ms = ?3 WHERE log_id = ?1",
    /* Other logs of the run that this log gave: an empty fingerprint makes the next look at them count as a change. */
    [SQL_RELEASE_COPIES] =
        "UPDATE log SET fingerprint = '' WHERE state = 'skipped' AND log_id <> ?1 AND app_key = (SELECT app_key FROM log WHERE log_id = ?1)",
    [SQL_WANT] = "UPDATE log SET wanted_ms = ?2, state = iif(state = 'listed', 'waiting', state) WHERE log_id = ?1 AND state IN ('waiting', 'loading', 'listed')",
    [SQL_APP_SOURCE] =
        "SELECT a.app_id, a.attempt_id, a.name, a.complete, a.loaded, l.log_id, l.path, l.state, l.bytes, l.modified_ms, l.app_key = a.app_key "
        "FROM app AS a JOIN log AS l ON l.log_id = a.log_id WHERE a.app_key = ?1",
    [SQL_SET_KEY] = "UPDATE log SET app_key = ?2 WHERE log_id = ?1",
    [SQL_COPY_SKIPPED] = "UPDATE log SET state = 'skipped', reason = ?2, changed_ms = ?3, flags = '' WHERE log_id = ?1",
    [SQL_COPIES_SKIPPED] =
        "UPDATE log SET state = 'skipped', reason = ?2 || (SELECT path FROM log WHERE log_id = ?1), "
        "changed_ms = ?3, flags = '' WHERE log_id <> ?1 AND state IN ('loaded', 'partial') AND app_key = (SELECT app_key FROM log WHERE log_id = ?1)",
    [SQL_LISTED_APP] =
        "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, queue, start_ms, end_ms, complete, log_id, exit_code, vendor_version, start_inferred, loaded, generation) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, 0) "
        "ON CONFLICT (app_key) DO UPDATE SET log_id = excluded.log_id, "
        "app_id = iif(generation, app_id, excluded.app_id), attempt_id = iif(generation, attempt_id, excluded.attempt_id), name = iif(generation, name, excluded.name), "
        "user = iif(generation, user, excluded.user), spark_version = iif(generation, spark_version, excluded.spark_version), queue = iif(generation, queue, excluded.queue), "
        "start_ms = iif(generation, start_ms, excluded.start_ms), end_ms = iif(generation, end_ms, excluded.end_ms), complete = iif(generation, complete, excluded.complete), "
        "exit_code = iif(generation, exit_code, excluded.exit_code), vendor_version = iif(generation, vendor_version, excluded.vendor_version), "
        "start_inferred = iif(generation, start_inferred, excluded.start_inferred)",
    [SQL_RUN_ACCESS] = "UPDATE app SET view_users = ?3, view_groups = ?4 WHERE app_key = coalesce(?2, (SELECT app_key FROM log WHERE log_id = ?1)) AND (?2 IS NULL OR NOT generation)",
    [SQL_GENERATION] = "SELECT generation FROM app WHERE app_key = (SELECT app_key FROM log WHERE log_id = ?1)",
    [SQL_LOADING] =
        "UPDATE log SET state = 'loading', reason = NULL, changed_ms = ?2, read_bytes = 0 WHERE log_id = ?1",
    [SQL_PROGRESS] = "UPDATE log SET read_bytes = ?2, line_count = ?3 WHERE log_id = ?1 AND state = 'loading'",
    [SQL_DONE] =
        "UPDATE log SET state = iif(state = 'gone', state, ?2), reason = ?3, flags = ?4, changed_ms = ?5, wanted_ms = NULL, tries = 0, read_bytes = ?12, line_count = ?6, "
        "grown_ms = iif(bytes <> ?12, ?5, grown_ms), "
        "bad_line_count = ?7, task_count = ?8, load_ms = ?9, layout = ?10, finished_name = ?11, bytes = ?12, modified_ms = ?13, fingerprint = ?14 WHERE log_id = ?1",
    [SQL_LOADED_APP] =
        "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, queue, start_ms, end_ms, last_event_ms, complete, log_id, loaded, generation, "
        "outcome, duration_ms, job_count, failed_job_count, stage_count, failed_stage_count, task_count, failed_task_count, executor_count, lost_executor_count, "
        "task_time_ms, gc_time_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes, disk_spill_bytes, exit_code, skew_grade, gc_grade, vendor_version, start_inferred) "
        "VALUES ((SELECT app_key FROM log WHERE log_id = ?11), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1, ?12, "
        "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34) "
        "ON CONFLICT (app_key) DO UPDATE SET app_id = excluded.app_id, attempt_id = excluded.attempt_id, name = excluded.name, user = excluded.user, "
        "spark_version = excluded.spark_version, queue = excluded.queue, start_ms = excluded.start_ms, end_ms = excluded.end_ms, "
        "last_event_ms = excluded.last_event_ms, complete = excluded.complete, loaded = 1, generation = max(generation, excluded.generation), "
        "outcome = excluded.outcome, duration_ms = excluded.duration_ms, job_count = excluded.job_count, failed_job_count = excluded.failed_job_count, "
        "stage_count = excluded.stage_count, failed_stage_count = excluded.failed_stage_count, task_count = excluded.task_count, "
        "failed_task_count = excluded.failed_task_count, executor_count = excluded.executor_count, lost_executor_count = excluded.lost_executor_count, "
        "task_time_ms = excluded.task_time_ms, gc_time_ms = excluded.gc_time_ms, input_bytes = excluded.input_bytes, output_bytes = excluded.output_bytes, "
        "shuffle_read_bytes = excluded.shuffle_read_bytes, shuffle_write_bytes = excluded.shuffle_write_bytes, disk_spill_bytes = excluded.disk_spill_bytes, "
        "exit_code = excluded.exit_code, skew_grade = excluded.skew_grade, gc_grade = excluded.gc_grade, vendor_version = excluded.vendor_version, "
        "start_inferred = excluded.start_inferred",
    [SQL_UNLIST_APP] = "DELETE FROM app WHERE log_id = ?1 AND generation = 0",
    [SQL_UNLIST_LOG] = "UPDATE log SET app_key = NULL WHERE log_id = ?1 AND NOT EXISTS (SELECT 1 FROM app WHERE app.app_key = log.app_key)",
    [SQL_PUT_OFF] = "UPDATE log SET state = 'waiting', reason = ?2, changed_ms = ?3, read_bytes = NULL WHERE log_id = ?1",
    [SQL_NOT_LOADED] = "UPDATE app SET loaded = 0 WHERE app_key = ?1",
    [SQL_LIST_ONLY] = "UPDATE log SET state = 'listed', reason = NULL, changed_ms = ?2, wanted_ms = NULL WHERE log_id = ?1 AND state = 'waiting'",
    [SQL_OPENED] = "INSERT INTO run_use (app_key, opened_ms) SELECT app_key, ?2 FROM app WHERE log_id = ?1 ON CONFLICT (app_key) DO UPDATE SET opened_ms = excluded.opened_ms",
    [SQL_ABANDONED] =
        "UPDATE log SET flags = trim(flags || ' abandoned') WHERE state IN ('loaded', 'partial', 'listed') AND log_id IN (SELECT log_id FROM app WHERE complete = 0) "
        "AND ' ' || flags || ' ' NOT LIKE '% abandoned %' AND max(modified_ms, coalesce(grown_ms, 0)) < ?1",
    /* The state before: only a log that nobody is reading. */
    [SQL_REMOVING] =
        "UPDATE log SET state = 'gone', removing_ms = ?2, changed_ms = ?2, wanted_ms = NULL WHERE log_id = ?1 AND state IN ('loaded', 'partial', 'listed', 'failed', 'skipped')",
    [SQL_REMOVED] = "UPDATE log SET removing_ms = NULL, reason = ?2, changed_ms = ?3 WHERE log_id = ?1",
    [SQL_NOT_REMOVED] = "UPDATE log SET removing_ms = NULL, state = ?2, changed_ms = ?3 WHERE log_id = ?1",
    [SQL_PUT_AWAY] =
        "UPDATE app SET loaded = 0 WHERE app_key = ?1 AND loaded AND (SELECT l.state FROM log AS l WHERE l.log_id = app.log_id) NOT IN ('waiting', 'loading')",
    [SQL_PUT_AWAY_LOG] =
        "UPDATE log SET state = 'listed', changed_ms = ?2 WHERE app_key = ?1 AND state IN ('loaded', 'partial') AND log_id = (SELECT log_id FROM app WHERE app.app_key = ?1)",
    [SQL_RELOAD] =
        "UPDATE log SET state = 'waiting', reason = NULL, tries = 0, wanted_ms = ?2, changed_ms = ?2 WHERE log_id = ?1 AND state IN ('waiting', 'loaded', 'partial', 'listed', 'failed')",
    [SQL_FORGET_LOGS] =
        "UPDATE log SET state = iif(state = 'gone', state, 'skipped'), flags = 'forgotten', reason = ?2, changed_ms = ?3, wanted_ms = NULL, tries = 0, app_key = NULL WHERE app_key = ?1",
    [SQL_FORGET_APP] = "DELETE FROM app WHERE app_key = ?1",
    [SQL_PIN] = "INSERT OR IGNORE INTO pin (token, app_key, address, pinned_ms, author, generation, analysis_version) SELECT ?1, app_key, ?3, ?4, ?5, ?6, ?7 FROM app WHERE app_key = ?2",
};

enum err_code catalog_statement(struct catalog *self, enum catalog_statement which, sqlite3_stmt **ret, struct err *err)
{
    enum err_code rc = self->statements[which] ? ERR_OK : db_prepare(&self->db, &self->statements[which], statement_sql[which], err);
    *ret = self->statements[which];
    return rc;
}

enum err_code catalog_exec_id(struct catalog *self, enum catalog_statement which, int64_t id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, which, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, id);
    return db_run(stmt, err);
}

enum err_code catalog_exec_id_text_time(struct catalog *self, enum catalog_statement which, int64_t id, const char *text, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, which, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, id);
    db_bind_str(stmt, 2, str_of(text));
    if (sqlite3_bind_parameter_count(stmt) == 3)
        db_bind_i64(stmt, 3, time_now_ms());
    return db_run(stmt, err);
}

enum err_code catalog_enter(struct catalog *self, bool *ret_own, struct err *err)
{
    *ret_own = sqlite3_get_autocommit(self->db.handle) != 0;
    return *ret_own ? db_begin(&self->db, err) : ERR_OK;
}

enum err_code catalog_leave(struct catalog *self, bool own, enum err_code rc, struct err *err)
{
    if (!own)
        return rc;
    if (!rc)
        rc = db_commit(&self->db, err);
    if (rc)
        db_rollback(&self->db);
    return rc;
}
