/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/store/catalog_rebuild.h"

#define ROW_TEXT_BYTES ((size_t)1 << 20)   /* a path, a reason, ids: some kilobytes at most */
#define TRIES_BEFORE_SET_ASIDE 2

#define ROW_COLUMNS \
    "SELECT l.log_id, l.place_id, l.path, l.fingerprint, l.reason, l.flags, l.layout, l.bytes, l.modified_ms, l.changed_ms, l.wanted_ms, l.tries, " \
    "l.line_count, l.bad_line_count, l.task_count, l.load_ms, l.finished_name, l.state, l.app_key, a.app_id, a.attempt_id, a.complete, a.loaded, " \
    "a.log_id = l.log_id " \
    "FROM log AS l LEFT JOIN app AS a ON a.app_key = l.app_key "

enum statement {
    SQL_ROW_BY_ID,
    SQL_ROW_BY_PATH,
    SQL_INSERT_LOG,
    SQL_CHANGE_LOG,
    SQL_SET_PLACE,
    SQL_ADOPT_FINGERPRINT,
    SQL_REJECT,
    SQL_RENAMED_OLD,
    SQL_RENAMED_NEW,
    SQL_RENAMED_APP,
    SQL_PLACE_INSERT,
    SQL_PLACE_ID,
    SQL_PLACE_SCANNED,
    SQL_PRESENT,
    SQL_GONE,
    SQL_BACK,
    SQL_RELEASE_COPIES,
    SQL_WANT,
    SQL_APP_SOURCE,
    SQL_SET_KEY,
    SQL_COPY_SKIPPED,
    SQL_LISTED_APP,
    SQL_GENERATION,
    SQL_LOADING,
    SQL_PROGRESS,
    SQL_DONE,
    SQL_LOADED_APP,
    SQL_UNLIST_APP,
    SQL_UNLIST_LOG,
    SQL_PUT_OFF,
    SQL_NOT_LOADED,
    STATEMENT_COUNT
};

static const char *const statement_sql[STATEMENT_COUNT] = {
    [SQL_ROW_BY_ID] = ROW_COLUMNS "WHERE l.log_id = ?1",
    [SQL_ROW_BY_PATH] = ROW_COLUMNS "WHERE l.path = ?1",
    [SQL_INSERT_LOG] =
        "INSERT INTO log (place_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting', ?8, ?8)",
    [SQL_CHANGE_LOG] =
        "UPDATE log SET layout = ?2, finished_name = ?3, bytes = ?4, modified_ms = ?5, fingerprint = ?6, state = 'waiting', reason = ?8, tries = 0, changed_ms = ?7, "
        "flags = CASE WHEN app_key IS NULL THEN '' ELSE flags END WHERE log_id = ?1",
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
    [SQL_PLACE_SCANNED] = "UPDATE place SET last_scan_ms = ?2, last_scan_duration_ms = ?3, entry_count = ?4, last_error = ?5 WHERE place_id = ?1",
    [SQL_PRESENT] = "SELECT log_id, path FROM log WHERE place_id = ?1 AND state <> 'gone'",
    /* The reason stays: it is that of the load, and of use when the log comes back. */
    [SQL_GONE] = "UPDATE log SET state = 'gone', changed_ms = ?2, wanted_ms = NULL WHERE log_id = ?1",
    [SQL_BACK] = "UPDATE log SET state = ?2, changed_ms = ?3 WHERE log_id = ?1",
    /* Other logs of the run that this log gave: an empty fingerprint makes the next look at them count as a change. */
    [SQL_RELEASE_COPIES] =
        "UPDATE log SET fingerprint = '' WHERE state = 'skipped' AND log_id <> ?1 AND app_key = (SELECT app_key FROM log WHERE log_id = ?1)",
    [SQL_WANT] = "UPDATE log SET wanted_ms = ?2 WHERE log_id = ?1 AND state IN ('waiting', 'loading')",
    [SQL_APP_SOURCE] =
        "SELECT a.app_id, a.attempt_id, a.name, a.complete, a.loaded, l.log_id, l.path, l.state, l.bytes, l.modified_ms, l.app_key = a.app_key "
        "FROM app AS a JOIN log AS l ON l.log_id = a.log_id WHERE a.app_key = ?1",
    [SQL_SET_KEY] = "UPDATE log SET app_key = ?2 WHERE log_id = ?1",
    [SQL_COPY_SKIPPED] = "UPDATE log SET state = 'skipped', reason = ?2, changed_ms = ?3, flags = '' WHERE log_id = ?1",
    [SQL_LISTED_APP] =
        "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, queue, start_ms, end_ms, complete, log_id, exit_code, vendor_version, loaded, generation) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0) "
        "ON CONFLICT (app_key) DO UPDATE SET log_id = excluded.log_id, "
        "app_id = iif(loaded, app_id, excluded.app_id), attempt_id = iif(loaded, attempt_id, excluded.attempt_id), name = iif(loaded, name, excluded.name), "
        "user = iif(loaded, user, excluded.user), spark_version = iif(loaded, spark_version, excluded.spark_version), queue = iif(loaded, queue, excluded.queue), "
        "start_ms = iif(loaded, start_ms, excluded.start_ms), end_ms = iif(loaded, end_ms, excluded.end_ms), complete = iif(loaded, complete, excluded.complete), "
        "exit_code = iif(loaded, exit_code, excluded.exit_code), vendor_version = iif(loaded, vendor_version, excluded.vendor_version)",
    [SQL_GENERATION] = "SELECT generation FROM app WHERE app_key = (SELECT app_key FROM log WHERE log_id = ?1)",
    [SQL_LOADING] =
        "UPDATE log SET state = 'loading', reason = NULL, changed_ms = ?2, read_bytes = 0 WHERE log_id = ?1",
    [SQL_PROGRESS] = "UPDATE log SET read_bytes = ?2, line_count = ?3 WHERE log_id = ?1 AND state = 'loading'",
    [SQL_DONE] =
        "UPDATE log SET state = iif(state = 'gone', state, ?2), reason = ?3, flags = ?4, changed_ms = ?5, wanted_ms = NULL, tries = 0, read_bytes = ?12, line_count = ?6, "
        "bad_line_count = ?7, task_count = ?8, load_ms = ?9, layout = ?10, finished_name = ?11, bytes = ?12, modified_ms = ?13, fingerprint = ?14 WHERE log_id = ?1",
    [SQL_LOADED_APP] =
        "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, queue, start_ms, end_ms, last_event_ms, complete, log_id, loaded, generation, "
        "outcome, duration_ms, job_count, failed_job_count, stage_count, failed_stage_count, task_count, failed_task_count, executor_count, lost_executor_count, "
        "task_time_ms, gc_time_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes, disk_spill_bytes, exit_code, skew_grade, gc_grade, vendor_version) "
        "VALUES ((SELECT app_key FROM log WHERE log_id = ?11), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1, ?12, "
        "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33) "
        "ON CONFLICT (app_key) DO UPDATE SET app_id = excluded.app_id, attempt_id = excluded.attempt_id, name = excluded.name, user = excluded.user, "
        "spark_version = excluded.spark_version, queue = excluded.queue, start_ms = excluded.start_ms, end_ms = excluded.end_ms, "
        "last_event_ms = excluded.last_event_ms, complete = excluded.complete, loaded = 1, generation = max(generation, excluded.generation), "
        "outcome = excluded.outcome, duration_ms = excluded.duration_ms, job_count = excluded.job_count, failed_job_count = excluded.failed_job_count, "
        "stage_count = excluded.stage_count, failed_stage_count = excluded.failed_stage_count, task_count = excluded.task_count, "
        "failed_task_count = excluded.failed_task_count, executor_count = excluded.executor_count, lost_executor_count = excluded.lost_executor_count, "
        "task_time_ms = excluded.task_time_ms, gc_time_ms = excluded.gc_time_ms, input_bytes = excluded.input_bytes, output_bytes = excluded.output_bytes, "
        "shuffle_read_bytes = excluded.shuffle_read_bytes, shuffle_write_bytes = excluded.shuffle_write_bytes, disk_spill_bytes = excluded.disk_spill_bytes, "
        "exit_code = excluded.exit_code, skew_grade = excluded.skew_grade, gc_grade = excluded.gc_grade, vendor_version = excluded.vendor_version",
    [SQL_UNLIST_APP] = "DELETE FROM app WHERE log_id = ?1 AND loaded = 0",
    [SQL_UNLIST_LOG] = "UPDATE log SET app_key = NULL WHERE log_id = ?1 AND NOT EXISTS (SELECT 1 FROM app WHERE app.app_key = log.app_key)",
    [SQL_PUT_OFF] = "UPDATE log SET state = 'waiting', reason = ?2, changed_ms = ?3, read_bytes = NULL WHERE log_id = ?1",
    [SQL_NOT_LOADED] = "UPDATE app SET loaded = 0 WHERE app_key = ?1",
};

struct catalog {
    struct db db;
    char *store_dir;                              /* owned */
    dev_t device;
    ino_t inode;                                  /* of catalog.db when it was opened */
    sqlite3_stmt *statements[STATEMENT_COUNT];    /* prepared when first used */
    struct arena row_arena;
    char remark[256];
};

static const char *const state_names[] = {"waiting", "loading", "loaded", "partial", "failed", "skipped", "gone"};

const char *log_state_name(enum log_state state)
{
    return state_names[state];
}

/* A row whose state is none of ours was written by something else; waiting makes us look at it. */
static enum log_state state_of(struct str name)
{
    for (int i = LOG_WAITING; i <= LOG_GONE; i++)
        if (str_is(name, state_names[i]))
            return (enum log_state)i;
    return LOG_WAITING;
}

enum log_state catalog_state_of_flags(const char *flags)
{
    static const char *const partial[] = {"cut", "lines", "gap", "unreadable"};
    for (const char *p = flags; *p;) {
        size_t len = strcspn(p, " ");
        for (size_t i = 0; i < ARRAY_LENGTH(partial); i++)
            if (strlen(partial[i]) == len && strncmp(p, partial[i], len) == 0)
                return LOG_PARTIAL;
        p += len;
        p += *p == ' ';
    }
    return LOG_LOADED;
}

/* --- opening */

static enum err_code make_directory(const char *path, struct err *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return ERR_OK;
    return err_set_errno(err, errno, "cannot make %s", path);
}

/* STORE with its parents, and STORE/apps. */
static enum err_code make_store(const char *store_dir, struct err *err)
{
    char path[4096];
    size_t len = strlen(store_dir);
    if (len == 0 || len > sizeof path - 64)
        return err_set(err, ERR_INVALID, "the path of the store is empty or too long");
    memcpy(path, store_dir, len + 1);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        enum err_code rc = access(path, F_OK) == 0 ? ERR_OK : make_directory(path, err);
        *slash = '/';
        if (rc)
            return rc;
    }
    enum err_code rc = make_directory(path, err);
    if (rc)
        return rc;
    memcpy(path + len, "/apps", sizeof "/apps");
    return make_directory(path, err);
}

static enum err_code open_checked(struct db *db, const char *path, struct err *err)
{
    enum err_code rc = db_open(db, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err);
    if (rc)
        return rc;
    sqlite3_stmt *stmt = NULL;
    if (!(rc = db_prepare(db, &stmt, "PRAGMA quick_check(1)", err)) && !(rc = db_step(stmt, err)) && !str_is(db_str(stmt, 0), "ok"))
        rc = err_set(err, ERR_CORRUPT, "%.*s", (int)MIN(db_str(stmt, 0).len, (size_t)200), db_str(stmt, 0).ptr);
    db_finalize(stmt);
    if (rc)
        db_close(db);
    return rc;
}

/* catalog.db and its companions get the name catalog.db.old-<time>. */
static enum err_code set_aside(const char *path, int64_t now_ms, struct err *err)
{
    static const char *const companions[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LENGTH(companions); i++) {
        char from[4300], to[4400];
        snprintf(from, sizeof from, "%s%s", path, companions[i]);
        snprintf(to, sizeof to, "%s.old-%lld%s", path, (long long)now_ms, companions[i]);
        if (rename(from, to) && errno != ENOENT)
            return err_set_errno(err, errno, "cannot set %s aside", from);
    }
    return ERR_OK;
}

static enum err_code open_or_rebuild(struct catalog *self, struct err *err)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/catalog.db", self->store_dir);
    struct err why = {0};
    struct stat file;
    bool missing = stat(path, &file) != 0 && errno == ENOENT;
    int64_t now_ms = time_now_ms(), count = 0;
    enum err_code rc = open_checked(&self->db, path, &why);
    if (rc != ERR_UNSUPPORTED && rc != ERR_INVALID && rc != ERR_CORRUPT) {
        if (rc && err)
            *err = why;
        if (rc)
            return err_prefix(err, "%s", path), rc;
        if (missing && (rc = catalog_rebuild(&self->db, self->store_dir, &count, err)))
            return rc;
        if (count)
            snprintf(self->remark, sizeof self->remark, "catalog.db was missing: %lld runs read back from apps/", (long long)count);
        return ERR_OK;
    }
    if ((rc = set_aside(path, now_ms, err)) || (rc = open_checked(&self->db, path, err)) || (rc = catalog_rebuild(&self->db, self->store_dir, &count, err)))
        return rc;
    snprintf(self->remark, sizeof self->remark, "catalog.db could not be used (%.120s): set aside as catalog.db.old-%lld, %lld runs read back from apps/", why.message,
        (long long)now_ms, (long long)count);
    return ERR_OK;
}

static bool stat_catalog(const struct catalog *self, dev_t *ret_device, ino_t *ret_inode)
{
    char path[4200];
    struct stat file;
    snprintf(path, sizeof path, "%s/catalog.db", self->store_dir);
    if (stat(path, &file))
        return false;
    *ret_device = file.st_dev;
    *ret_inode = file.st_ino;
    return true;
}

enum err_code catalog_open(struct catalog **ret, const char *store_dir, struct err *err)
{
    enum err_code rc = make_store(store_dir, err);
    if (rc)
        return rc;
    struct catalog *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    arena_init(&self->row_arena, ROW_TEXT_BYTES);
    if (!(self->store_dir = mem_strndup(store_dir, strlen(store_dir)))) {
        catalog_close(self);
        return err_nomem(err);
    }
    /* One process at a time opens: two must not set the same damaged file aside. */
    char lock_path[4200];
    snprintf(lock_path, sizeof lock_path, "%s/catalog.lock", store_dir);
    int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0)
        rc = err_set_errno(err, errno, "%s", lock_path);
    else if (flock(lock, LOCK_EX))
        rc = err_set_errno(err, errno, "%s", lock_path);
    else
        rc = open_or_rebuild(self, err);
    if (!rc && !stat_catalog(self, &self->device, &self->inode))
        rc = err_set_errno(err, errno, "%s/catalog.db", store_dir);
    if (lock >= 0)
        close(lock);
    if (rc) {
        catalog_close(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

bool catalog_in_place(const struct catalog *self)
{
    dev_t device;
    ino_t inode;
    return stat_catalog(self, &device, &inode) && device == self->device && inode == self->inode;
}

void catalog_close(struct catalog *self)
{
    if (!self)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        db_finalize(self->statements[i]);
    if (self->db.handle)
        db_rollback(&self->db);
    db_close(&self->db);
    arena_dispose(&self->row_arena);
    mem_free(self->store_dir);
    mem_free(self);
}

struct db *catalog_db(struct catalog *self)
{
    return &self->db;
}

const char *catalog_remark(const struct catalog *self)
{
    return self->remark[0] ? self->remark : NULL;
}

/* --- statements */

static enum err_code statement(struct catalog *self, enum statement which, sqlite3_stmt **ret, struct err *err)
{
    enum err_code rc = self->statements[which] ? ERR_OK : db_prepare(&self->db, &self->statements[which], statement_sql[which], err);
    *ret = self->statements[which];
    return rc;
}

static enum err_code run_id(struct catalog *self, enum statement which, int64_t id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, which, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, id);
    return db_run(stmt, err);
}

/* Parameters: an id, a text (NULL: none) and, where there is a third, now. */
static enum err_code run_id_text_time(struct catalog *self, enum statement which, int64_t id, const char *text, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, which, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, id);
    db_bind_str(stmt, 2, str_of(text));
    if (sqlite3_bind_parameter_count(stmt) == 3)
        db_bind_i64(stmt, 3, time_now_ms());
    return db_run(stmt, err);
}

static const char *keep(struct catalog *self, sqlite3_stmt *stmt, int column, bool *out_of_memory)
{
    struct str text = db_str(stmt, column);
    if (!text.ptr)
        return NULL;
    char *copy = arena_strndup(&self->row_arena, text.ptr, text.len);
    *out_of_memory |= copy == NULL;
    return copy;
}

/* Steps a statement made of ROW_COLUMNS once. */
static enum err_code read_row(struct catalog *self, sqlite3_stmt *stmt, struct catalog_row *ret, struct err *err)
{
    enum err_code rc = db_step(stmt, err);
    if (rc)
        return rc == ERR_EOF ? ERR_NOT_FOUND : rc;
    bool out_of_memory = false;
    arena_reset(&self->row_arena);
    *ret = (struct catalog_row){
        .log_id = db_i64(stmt, 0), .place_id = db_i64(stmt, 1),
        .path = keep(self, stmt, 2, &out_of_memory), .fingerprint = keep(self, stmt, 3, &out_of_memory),
        .reason = keep(self, stmt, 4, &out_of_memory), .flags = keep(self, stmt, 5, &out_of_memory),
        .layout = db_i64(stmt, 6), .bytes = db_i64(stmt, 7), .modified_ms = db_i64(stmt, 8), .changed_ms = db_i64(stmt, 9), .wanted_ms = db_i64(stmt, 10),
        .tries = db_i64(stmt, 11), .line_count = db_i64(stmt, 12), .bad_line_count = db_i64(stmt, 13), .task_count = db_i64(stmt, 14), .load_ms = db_i64(stmt, 15),
        .finished_name = db_i64(stmt, 16) == 1, .state = state_of(db_str(stmt, 17)),
        .app_key = keep(self, stmt, 18, &out_of_memory), .app_id = keep(self, stmt, 19, &out_of_memory), .attempt_id = keep(self, stmt, 20, &out_of_memory),
        .complete = db_i64(stmt, 21) == 1, .loaded = db_i64(stmt, 22) == 1, .is_source = db_i64(stmt, 23) == 1,
    };
    db_reset(stmt);
    return out_of_memory ? err_nomem(err) : ERR_OK;
}

enum err_code catalog_get(struct catalog *self, int64_t log_id, struct catalog_row *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_ROW_BY_ID, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    return read_row(self, stmt, ret, err);
}

enum err_code catalog_find(struct catalog *self, const char *path, struct catalog_row *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_ROW_BY_PATH, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(path));
    return read_row(self, stmt, ret, err);
}

/* Several statements that belong together: a transaction of their own where the caller has none. */
static enum err_code enter(struct catalog *self, bool *ret_own, struct err *err)
{
    *ret_own = sqlite3_get_autocommit(self->db.handle) != 0;
    return *ret_own ? db_begin(&self->db, err) : ERR_OK;
}

static enum err_code leave(struct catalog *self, bool own, enum err_code rc, struct err *err)
{
    if (!own)
        return rc;
    if (!rc)
        rc = db_commit(&self->db, err);
    if (rc)
        db_rollback(&self->db);
    return rc;
}

/* --- what a scan sees */

/* Does apps/<key>.db hold a run of this program's version? Reads the file's head; one whose head is still in its -wal is opened. */
static bool file_is_current(struct catalog *self, const char *app_key)
{
    char path[4400];
    unsigned char head[100];
    snprintf(path, sizeof path, "%s/apps/%s.db", self->store_dir, app_key);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, head, sizeof head, 0);
    close(fd);
    if (got == (ssize_t)sizeof head) {
        /* SQLite's file format: user_version at 60, application_id at 68, big endian */
        uint32_t version = (uint32_t)head[60] << 24 | (uint32_t)head[61] << 16 | (uint32_t)head[62] << 8 | head[63];
        uint32_t id = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
        if (version == DB_APP_VERSION && id == DB_APP_ID)
            return true;
    }
    struct db db;
    if (db_open(&db, path, DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL))
        return false;
    db_close(&db);
    return true;
}

static enum err_code change(struct catalog *self, int64_t log_id, const struct catalog_sighting *s, const char *reason, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_CHANGE_LOG, &stmt, err);
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
    if ((rc = statement(self, SQL_RENAMED_NEW, &stmt, err)))
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, old.log_id);
    if ((rc = db_run(stmt, err)) || (rc = statement(self, SQL_RENAMED_APP, &stmt, err)))
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, old.log_id);
    if ((rc = db_run(stmt, err)) || (rc = run_id_text_time(self, SQL_RENAMED_OLD, old.log_id, reason, err)))
        return rc;
    *ret_from = old.log_id;
    return ERR_OK;
}

static enum err_code insert_log(struct catalog *self, const struct catalog_sighting *s, int64_t *ret_renamed_from, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_INSERT_LOG, &stmt, err);
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

static enum err_code see_known(struct catalog *self, const struct catalog_sighting *s, bool check_file, const struct catalog_row *row, enum sighting_news *ret_news,
    struct err *err)
{
    enum err_code rc = ERR_OK;
    int64_t log_id = row->log_id;
    bool same = strcmp(row->fingerprint, s->fingerprint) == 0 && row->state != LOG_GONE;
    bool was_loaded = row->state == LOG_LOADED || row->state == LOG_PARTIAL;
    if (!known(row->place_id) && known(s->place_id)) {
        sqlite3_stmt *stmt;
        if ((rc = statement(self, SQL_SET_PLACE, &stmt, err)))
            return rc;
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, s->place_id);
        if ((rc = db_run(stmt, err)))
            return rc;
    }
    if (row->state == LOG_LOADING)
        return ERR_OK;               /* its worker compares again when it is done */
    if (was_loaded && strcmp(row->fingerprint, CATALOG_REBUILT) == 0 && row->bytes == s->bytes && row->modified_ms == s->modified_ms) {
        if ((rc = run_id_text_time(self, SQL_ADOPT_FINGERPRINT, log_id, s->fingerprint, err)))
            return rc;
        same = true;
    }
    /* A directory that was away for a while (not mounted) must not mean that everything is loaded again. */
    if (row->state == LOG_GONE && row->loaded && row->is_source && strcmp(row->fingerprint, s->fingerprint) == 0 && file_is_current(self, row->app_key))
        return run_id_text_time(self, SQL_BACK, log_id, log_state_name(catalog_state_of_flags(row->flags)), err);
    if (same && was_loaded && check_file && row->is_source && !file_is_current(self, row->app_key)) {
        sqlite3_stmt *stmt;
        if ((rc = statement(self, SQL_NOT_LOADED, &stmt, err)))
            return rc;
        db_bind_str(stmt, 1, str_of(row->app_key));
        if ((rc = db_run(stmt, err)))
            return rc;
        *ret_news = SIGHTING_CHANGED;
        return change(self, log_id, s, "its file in the store is missing or of another version", err);
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
    if ((rc = enter(self, &own, err)))
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
    if ((rc = leave(self, own, rc, err)))
        return rc;
    return catalog_find(self, s->path, ret_row, err);
}

enum err_code catalog_reject(struct catalog *self, const struct catalog_sighting *s, const char *flags, const char *reason, struct catalog_row *ret_row, struct err *err)
{
    enum err_code rc = catalog_find(self, s->path, ret_row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && ret_row->state == LOG_SKIPPED && ret_row->bytes == s->bytes && ret_row->modified_ms == s->modified_ms && ret_row->reason && strcmp(ret_row->reason, reason) == 0 &&
        strcmp(ret_row->flags, flags) == 0 && (known(ret_row->place_id) || !known(s->place_id)))
        return ERR_OK;
    sqlite3_stmt *stmt;
    if ((rc = statement(self, SQL_REJECT, &stmt, err)))
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
    enum err_code rc = statement(self, SQL_PLACE_INSERT, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(uri));
    db_bind_str(stmt, 2, str_of(name));
    if ((rc = db_run(stmt, err)) || (rc = statement(self, SQL_PLACE_ID, &stmt, err)))
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
    enum err_code rc = statement(self, SQL_PLACE_SCANNED, &stmt, err);
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
    enum err_code rc = statement(self, SQL_PRESENT, &stmt, err);
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

enum err_code catalog_gone(struct catalog *self, int64_t log_id, struct err *err)
{
    bool own;
    sqlite3_stmt *stmt;
    enum err_code rc = enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = statement(self, SQL_GONE, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, time_now_ms());
        rc = db_run(stmt, err);
    }
    if (!rc)
        rc = run_id(self, SQL_RELEASE_COPIES, log_id, err);
    return leave(self, own, rc, err);
}

enum err_code catalog_want(struct catalog *self, int64_t log_id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_WANT, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_i64(stmt, 2, time_now_ms());
    return db_run(stmt, err);
}

/* --- runs */

static bool same_text(struct str a, const char *b)
{
    return a.ptr ? b && str_is(a, b) : !b;
}

/* What the catalogue knows of a run and of the log it is taken from. */
struct source {
    bool found, same_run, started, complete, loaded, holds_run;
    int64_t log_id, bytes, modified_ms;
    enum log_state state;
    char path[512];                  /* for reasons; cut */
};

static enum err_code find_source(struct catalog *self, const char *app_key, const struct catalog_run *run, struct source *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    *ret = (struct source){0};
    enum err_code rc = statement(self, SQL_APP_SOURCE, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    rc = db_step(stmt, err);
    if (rc)
        return rc == ERR_EOF ? ERR_OK : rc;
    *ret = (struct source){.found = true, .same_run = same_text(db_str(stmt, 0), run->app_id) && same_text(db_str(stmt, 1), run->attempt_id), .started = !db_is_null(stmt, 2),
        .complete = db_i64(stmt, 3) == 1, .loaded = db_i64(stmt, 4) == 1, .log_id = db_i64(stmt, 5), .state = state_of(db_str(stmt, 7)),
        .bytes = db_i64(stmt, 8), .modified_ms = db_i64(stmt, 9), .holds_run = db_i64(stmt, 10) == 1};
    snprintf(ret->path, sizeof ret->path, "%s", db_str(stmt, 6).ptr);
    db_reset(stmt);
    return ERR_OK;
}

/* Complete, then larger, then newer. Below 0: `a` is the lesser. */
static int compare_copies(bool a_complete, int64_t a_bytes, int64_t a_modified_ms, bool b_complete, int64_t b_bytes, int64_t b_modified_ms)
{
    if (a_complete != b_complete)
        return a_complete ? 1 : -1;
    if (a_bytes != b_bytes)
        return a_bytes > b_bytes ? 1 : -1;
    return (a_modified_ms > b_modified_ms) - (a_modified_ms < b_modified_ms);
}

/* Is `row` the log to take the run from, rather than the one it is taken from so far? */
static bool is_better_source(const struct catalog_row *row, bool complete, const struct source *old)
{
    if (!old->found || old->log_id == row->log_id || !old->holds_run)
        return true;
    if (old->state == LOG_FAILED || (old->state == LOG_GONE && !old->loaded))
        return true;
    int order = compare_copies(complete, row->bytes, row->modified_ms, old->complete, old->bytes, old->modified_ms);
    return old->state == LOG_GONE ? order >= 0 : order > 0;
}

static enum err_code write_listed_app(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_LISTED_APP, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_str(stmt, 2, str_of(run->app_id));
    db_bind_str(stmt, 3, str_of(run->attempt_id));
    db_bind_str(stmt, 4, str_of(run->name));
    db_bind_str(stmt, 5, str_of(run->user));
    db_bind_str(stmt, 6, str_of(run->spark_version));
    db_bind_str(stmt, 7, str_of(run->queue));
    db_bind_i64(stmt, 8, run->start_ms);
    db_bind_i64(stmt, 9, run->end_ms);
    db_bind_i64(stmt, 10, run->complete);
    db_bind_i64(stmt, 11, log_id);
    db_bind_i64(stmt, 12, run->exit_code);
    db_bind_i64(stmt, 13, run->vendor_version);
    return db_run(stmt, err);
}

static enum err_code skip_copy(struct catalog *self, int64_t log_id, const char *shown_path, bool shown_is_gone, struct err *err)
{
    char reason[640];
    snprintf(reason, sizeof reason, shown_is_gone ? "the run was read from a copy that held more or was newer and is gone now: %s"
                                                  : "another copy of this run is shown, which holds more or is newer: %s", shown_path);
    return run_id_text_time(self, SQL_COPY_SKIPPED, log_id, reason, err);
}

static enum err_code listed(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, bool *ret_chosen, struct err *err)
{
    struct catalog_row row;
    struct source source;
    char old_key[256] = "";
    enum err_code rc = catalog_get(self, log_id, &row, err);
    if (rc)
        return rc;
    /* The key that the row has stays when it is still the same run: one handed on by a rename, or one made from the name of a log that had no ApplicationStart yet. */
    if (row.app_key && strcmp(row.app_key, app_key) != 0) {
        snprintf(old_key, sizeof old_key, "%s", row.app_key);
        if ((rc = find_source(self, old_key, run, &source, err)))
            return rc;
        if (source.found && source.log_id == log_id && (source.same_run || !source.started))
            app_key = old_key;
    }
    if ((rc = find_source(self, app_key, run, &source, err)) || (rc = run_id_text_time(self, SQL_SET_KEY, log_id, app_key, err)))
        return rc;
    *ret_chosen = is_better_source(&row, run->complete, &source);
    if (!*ret_chosen)
        return skip_copy(self, log_id, source.path, source.state == LOG_GONE, err);
    if (source.found && source.log_id != log_id && source.holds_run && source.state != LOG_GONE && source.state != LOG_FAILED && source.state != LOG_LOADING &&
        (rc = skip_copy(self, source.log_id, row.path, false, err)))
        return rc;
    return write_listed_app(self, log_id, app_key, run, err);
}

enum err_code catalog_listed(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, bool *ret_chosen, struct err *err)
{
    bool own;
    enum err_code rc = enter(self, &own, err);
    if (rc)
        return rc;
    return leave(self, own, listed(self, log_id, app_key, run, ret_chosen, err), err);
}

/* --- loads */

enum err_code catalog_load_begin(struct catalog *self, int64_t log_id, int64_t *ret_generation, struct err *err)
{
    sqlite3_stmt *stmt;
    bool own;
    int64_t now_ms = time_now_ms(), generation = UNKNOWN;
    enum err_code rc = enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = statement(self, SQL_GENERATION, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            generation = db_i64(stmt, 0);
            db_reset(stmt);
        }
        rc = rc == ERR_EOF ? ERR_OK : rc;
    }
    if (!rc && !(rc = statement(self, SQL_LOADING, &stmt, err))) {
        db_bind_i64(stmt, 1, log_id);
        db_bind_i64(stmt, 2, now_ms);
        rc = db_run(stmt, err);
    }
    /* The clock makes generations grow across a catalogue that was lost, too: ETags of the time before stay invalid. */
    *ret_generation = known(generation) && generation >= now_ms ? generation + 1 : now_ms;
    return leave(self, own, rc, err);
}

enum err_code catalog_load_progress(struct catalog *self, int64_t log_id, int64_t read_bytes, int64_t line_count, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_PROGRESS, &stmt, err);
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
    enum err_code rc = statement(self, SQL_LOADED_APP, &stmt, err);
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
        run->vendor_version};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        db_bind_i64(stmt, (int)i + 14, numbers[i]);
    return db_run(stmt, err);
}

static enum err_code load_done(struct catalog *self, int64_t log_id, const struct catalog_result *result, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = statement(self, SQL_DONE, &stmt, err);
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
    if (result->state == LOG_LOADED || result->state == LOG_PARTIAL)
        return write_loaded_app(self, log_id, result->generation, run, err);
    if ((rc = run_id(self, SQL_RELEASE_COPIES, log_id, err)) || (rc = run_id(self, SQL_UNLIST_APP, log_id, err)))
        return rc;
    return run_id(self, SQL_UNLIST_LOG, log_id, err);
}

enum err_code catalog_load_done(struct catalog *self, int64_t log_id, const struct catalog_result *result, const struct catalog_run *run, struct err *err)
{
    bool own;
    enum err_code rc = enter(self, &own, err);
    if (rc)
        return rc;
    return leave(self, own, load_done(self, log_id, result, run, err), err);
}

enum err_code catalog_each_unjudged(struct catalog *self, catalog_key_fn *each, void *context, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(&self->db, &stmt, "SELECT app_key FROM app WHERE loaded AND task_count > 0 AND skew_grade IS NULL", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = each(context, db_str(stmt, 0).ptr);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code catalog_judged(struct catalog *self, const char *app_key, int64_t skew_grade, int64_t gc_grade, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(&self->db, &stmt, "UPDATE app SET skew_grade = ?2, gc_grade = ?3 WHERE app_key = ?1", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_i64(stmt, 2, skew_grade);
    db_bind_i64(stmt, 3, gc_grade);
    rc = db_run(stmt, err);
    db_finalize(stmt);
    return rc;
}

enum err_code catalog_load_put_off(struct catalog *self, int64_t log_id, const char *reason, struct err *err)
{
    return run_id_text_time(self, SQL_PUT_OFF, log_id, reason, err);
}

/* --- after a death */

static bool is_leftover(const char *name)
{
    struct str s = str_of(name);
    return str_ends(s, ".lock") || str_ends(s, ".loading.db") || str_ends(s, ".loading.db-wal") || str_ends(s, ".loading.db-shm") || str_ends(s, ".loading.db-journal");
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
