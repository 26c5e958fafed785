/* SPDX-License-Identifier: Apache-2.0
 *
 * What a scan says to the catalogue: a log was seen, something is no log, a place was looked at, a log is gone. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "ingest/store/catalog_rebuild.h"
#include "ingest/store/catalog_statements.h"
#include "ingest/store/run_file_state.h"

static enum err_code change(struct catalog *self, int64_t log_id, const struct catalog_sighting *s, const char *reason, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_CHANGE_LOG, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, s->layout);
    db_bind_i64(stmt, 3, s->finished_name);
    db_bind_i64(stmt, 4, s->bytes);
    db_bind_i64(stmt, 5, s->modified_ms);
    db_bind_str(stmt, 6, str_of(s->fingerprint));
    db_bind_i64(stmt, 7, time_now_ms());
    db_bind_str(stmt, 8, str_of(reason));
    return db_run(stmt, err);
}

/* Its run cannot be read from the store. */
static enum err_code load_again(struct catalog *self, const struct catalog_sighting *s, const struct catalog_row *row, enum run_file_state file, struct err *err)
{
    static const char *const reasons[] = {[RUN_FILE_MISSING] = "its file in the store is missing",
                                          [RUN_FILE_OTHER_VERSION] = "its file in the store is of another version",
                                          [RUN_FILE_DAMAGED] = "its file in the store is damaged, and set aside"};
    int64_t log_id = row->log_id;
    sqlite3_stmt *stmt;
    bool kept = file != RUN_FILE_DAMAGED || !run_file_set_aside(self->store_dir, row->app_key, NULL);
    enum err_code rc = catalog_statement(self, SQL_NOT_LOADED, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(row->app_key));
    if ((rc = db_run(stmt, err)))
        return rc;
    return change(self, log_id, s, kept ? reasons[file] : "its file in the store is damaged, and could not be set aside", err);
}

/* The row of <path>.inprogress, if there is one that is not gone, hands its key, its run and its place in the queue to the new row. */
static enum err_code take_over_renamed(struct catalog *self, const char *path, int64_t log_id, int64_t *ret_from, struct err *err)
{
    char old_path[4200], reason[512];
    if ((size_t)snprintf(old_path, sizeof old_path, "%s.inprogress", path) >= sizeof old_path)
        return ERR_OK;
    struct catalog_row old;
    enum err_code rc = catalog_find(self, old_path, &old, NULL);
    if (rc || old.state == LOG_GONE)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    const char *slash = strrchr(path, '/');
    snprintf(reason, sizeof reason, "its run goes on in %s", slash ? slash + 1 : path);
    sqlite3_stmt *stmt;
    if ((rc = catalog_statement(self, SQL_RENAMED_NEW, &stmt, err)))
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, old.log_id);
    if ((rc = db_run(stmt, err)) || (rc = catalog_statement(self, SQL_RENAMED_APP, &stmt, err)))
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, old.log_id);
    if ((rc = db_run(stmt, err)) || (rc = catalog_exec_id_text_time(self, SQL_RENAMED_OLD, old.log_id, reason, err)))
        return rc;
    *ret_from = old.log_id;
    return ERR_OK;
}

static enum err_code insert_log(struct catalog *self, const struct catalog_sighting *s, int64_t *ret_renamed_from, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_INSERT_LOG, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, s->place_id);
    db_bind_str(stmt, 2, str_of(s->path));
    db_bind_i64(stmt, 3, s->layout);
    db_bind_i64(stmt, 4, s->finished_name);
    db_bind_i64(stmt, 5, s->bytes);
    db_bind_i64(stmt, 6, s->modified_ms);
    db_bind_str(stmt, 7, str_of(s->fingerprint));
    db_bind_i64(stmt, 8, time_now_ms());
    if ((rc = db_run(stmt, err)))
        return rc;
    return s->finished_name ? take_over_renamed(self, s->path, sqlite3_last_insert_rowid(self->db.handle), ret_renamed_from, err) : ERR_OK;
}

/* The look began before the log was gone: it was seen on its way. The next look tells. A time in the future says nothing: the clock was set back since. */
static bool went_since(const struct catalog_row *row, const struct catalog_sighting *s)
{
    return row->state == LOG_GONE && s->looked_ms && s->looked_ms < row->changed_ms && row->changed_ms <= time_now_ms();
}

static enum err_code see_known(struct catalog *self, const struct catalog_sighting *s, bool check_file, const struct catalog_row *row, enum sighting_news *ret_news,
    struct err *err)
{
    enum err_code rc = ERR_OK;
    int64_t log_id = row->log_id;
    bool same = strcmp(row->fingerprint, s->fingerprint) == 0 && row->state != LOG_GONE;
    bool was_loaded = row->state == LOG_LOADED || row->state == LOG_PARTIAL;
    if (!known(row->place_id) && known(s->place_id)) {
        sqlite3_stmt *stmt;
        if ((rc = catalog_statement(self, SQL_SET_PLACE, &stmt, err)))
            return rc;
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, s->place_id);
        if ((rc = db_run(stmt, err)))
            return rc;
    }
    if (row->state == LOG_LOADING)
        return ERR_OK;               /* its worker compares again when it is done */
    if (went_since(row, s))
        return ERR_OK;
    if (known(row->removing_ms) && s->modified_ms <= row->removing_ms)
        return ERR_OK;               /* what the cleaner has not deleted yet */
    if (was_loaded && strcmp(row->fingerprint, CATALOG_REBUILT) == 0 && row->bytes == s->bytes && row->modified_ms == s->modified_ms) {
        if ((rc = catalog_exec_id_text_time(self, SQL_ADOPT_FINGERPRINT, log_id, s->fingerprint, err)))
            return rc;
        same = true;
    }
    /* A directory that was away for a while (not mounted) must not mean that everything is loaded again. */
    if (row->state == LOG_GONE && row->loaded && row->is_source && strcmp(row->fingerprint, s->fingerprint) == 0 && run_file_look(self->store_dir, row->app_key) == RUN_FILE_GOOD)
        return catalog_exec_id_text_time(self, SQL_BACK, log_id, log_state_name(catalog_state_of_flags(row->flags)), err);
    if (row->state == LOG_GONE && row->put_away && row->is_source && strcmp(row->fingerprint, s->fingerprint) == 0)
        return catalog_exec_id_text_time(self, SQL_BACK, log_id, log_state_name(LOG_LISTED), err);
    if (same && was_loaded && check_file && row->is_source) {
        enum run_file_state file = run_file_look(self->store_dir, row->app_key);
        if (file != RUN_FILE_GOOD) {
            *ret_news = SIGHTING_CHANGED;
            return load_again(self, s, row, file, err);
        }
    }
    if (same)
        return ERR_OK;
    *ret_news = SIGHTING_CHANGED;
    return change(self, log_id, s, NULL, err);
}

enum err_code catalog_see(struct catalog *self, const struct catalog_sighting *s, bool check_file, enum sighting_news *ret_news, int64_t *ret_renamed_from,
    struct catalog_row *ret_row, struct err *err)
{
    *ret_news = SIGHTING_SAME;
    *ret_renamed_from = 0;
    bool own;
    enum err_code rc = catalog_find(self, s->path, ret_row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    bool is_new = rc == ERR_NOT_FOUND;
    /* The common case, an unchanged log, must not cost a write lock. */
    if (!is_new && ret_row->state != LOG_GONE && strcmp(ret_row->fingerprint, s->fingerprint) == 0 && (known(ret_row->place_id) || !known(s->place_id)) && !check_file)
        return ERR_OK;
    if ((rc = catalog_enter(self, &own, err)))
        return rc;
    if (is_new) {   /* another process may have seen it between the look and the lock */
        rc = catalog_find(self, s->path, ret_row, err);
        is_new = rc == ERR_NOT_FOUND;
    }
    if (rc && rc != ERR_NOT_FOUND) {
        /* told by leave */
    } else if (is_new) {
        *ret_news = SIGHTING_NEW;
        rc = insert_log(self, s, ret_renamed_from, err);
    } else {
        rc = see_known(self, s, check_file, ret_row, ret_news, err);
    }
    if ((rc = catalog_leave(self, own, rc, err)))
        return rc;
    return catalog_find(self, s->path, ret_row, err);
}

enum err_code catalog_reject(struct catalog *self, const struct catalog_sighting *s, const char *flags, const char *reason, struct catalog_row *ret_row, struct err *err)
{
    enum err_code rc = catalog_find(self, s->path, ret_row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && (known(ret_row->removing_ms) || went_since(ret_row, s)))
        return ERR_OK;               /* what the cleaner has not deleted yet, or has since */
    if (!rc && ret_row->state == LOG_SKIPPED && ret_row->bytes == s->bytes && ret_row->modified_ms == s->modified_ms && ret_row->reason && strcmp(ret_row->reason, reason) == 0 &&
        strcmp(ret_row->flags, flags) == 0 && (known(ret_row->place_id) || !known(s->place_id)))
        return ERR_OK;
    sqlite3_stmt *stmt;
    if ((rc = catalog_statement(self, SQL_REJECT, &stmt, err)))
        return rc;
    db_bind_i64(stmt, 1, s->place_id);
    db_bind_str(stmt, 2, str_of(s->path));
    db_bind_i64(stmt, 3, s->bytes);
    db_bind_i64(stmt, 4, s->modified_ms);
    db_bind_str(stmt, 5, str_of(reason));
    db_bind_str(stmt, 6, str_of(flags));
    db_bind_i64(stmt, 7, time_now_ms());
    if ((rc = db_run(stmt, err)))
        return rc;
    return catalog_find(self, s->path, ret_row, err);
}

enum err_code catalog_place(struct catalog *self, const char *uri, const char *name, int64_t *ret_place_id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PLACE_INSERT, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(uri));
    db_bind_str(stmt, 2, str_of(name));
    if ((rc = db_run(stmt, err)) || (rc = catalog_statement(self, SQL_PLACE_ID, &stmt, err)))
        return rc;
    db_bind_str(stmt, 1, str_of(uri));
    if ((rc = db_step(stmt, err)))
        return rc;
    *ret_place_id = db_i64(stmt, 0);
    db_reset(stmt);
    return ERR_OK;
}

enum err_code catalog_place_scanned(struct catalog *self, int64_t place_id, int64_t duration_ms, int64_t entry_count, const char *error, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PLACE_SCANNED, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, place_id);
    db_bind_i64(stmt, 2, time_now_ms());
    db_bind_i64(stmt, 3, duration_ms);
    db_bind_i64(stmt, 4, entry_count);
    db_bind_str(stmt, 5, str_of(error));
    return db_run(stmt, err);
}

enum err_code catalog_place_drop(struct catalog *self, int64_t place_id, struct err *err)
{
    char sql[160];
    snprintf(sql, sizeof sql, "UPDATE log SET place_id = NULL WHERE place_id = %lld; DELETE FROM place WHERE place_id = %lld", (long long)place_id, (long long)place_id);
    return db_exec(&self->db, sql, err);
}

enum err_code catalog_each_present(struct catalog *self, int64_t place_id, catalog_each_fn *each, void *context, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PRESENT, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, place_id);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        struct str path = db_str(stmt, 1);
        if ((rc = each(context, db_i64(stmt, 0), path.ptr))) {
            db_reset(stmt);
            return rc;
        }
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code catalog_count_present(struct catalog *self, int64_t place_id, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PRESENT_COUNT, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, place_id);
    if (!(rc = db_step(stmt, err)))
        *ret = db_i64(stmt, 0);
    db_reset(stmt);
    return rc;
}

enum err_code catalog_each_fingerprint(struct catalog *self, catalog_fingerprint_fn *each, void *context, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_FINGERPRINTS, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str path = db_str(stmt, 0), fingerprint = db_str(stmt, 1);
        if ((rc = each(context, path.ptr, fingerprint.ptr))) {
            db_reset(stmt);
            return rc == ERR_NOMEM ? err_nomem(err) : rc;
        }
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code catalog_gone(struct catalog *self, int64_t log_id, struct err *err)
{
    bool own;
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = catalog_statement(self, SQL_GONE, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, time_now_ms());
        rc = db_run(stmt, err);
    }
    if (!rc)
        rc = catalog_exec_id(self, SQL_RELEASE_COPIES, log_id, err);
    return catalog_leave(self, own, rc, err);
}
