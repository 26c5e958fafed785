/* SPDX-License-Identifier: Apache-2.0 */
#include "base/db.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"

#define BUSY_MS 5000
#define PATH_BYTES 4096

void db_setup(void)
{
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0); /* no pages in advance: readers have the file mapped */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void db_temporary_directory(const char *dir)
{
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = sqlite3_mprintf("%s", dir); /* NULL for want of memory: SQLite looks for one itself */
}

enum err_code db_error(sqlite3 *handle, struct err *err, const char *what)
{
    int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
    int extended = handle ? sqlite3_extended_errcode(handle) : SQLITE_NOMEM;
    const char *text = handle ? sqlite3_errmsg(handle) : "out of memory";
    enum err_code mapped = ERR_DB;
    switch (code & 0xFF) {
    case SQLITE_NOMEM: mapped = ERR_NOMEM; break;
    case SQLITE_FULL: mapped = ERR_NO_SPACE; break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: mapped = ERR_PERMISSION; break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: mapped = ERR_BUSY; break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: mapped = ERR_CORRUPT; break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: mapped = ERR_IO; break;
    case SQLITE_INTERRUPT: mapped = ERR_CANCELLED; break;
    default: break;
    }
    if (extended == SQLITE_IOERR_NOMEM)
        mapped = ERR_NOMEM;
    return err_set(err, mapped, "%s: %s", what, text);
}

static enum err_code check_identity(struct db *self, int application_id, int version, bool *ret_empty, struct err *err)
{
    int64_t id = 0, found = 0, objects = 0;
    enum err_code rc;
    /* The tables first: they come in one piece with the rest, and somebody may be making them right now. */
    if ((rc = db_query_i64(self, "SELECT count(*) FROM sqlite_schema", &objects, err)) || (rc = db_query_i64(self, "PRAGMA application_id", &id, err)) ||
        (rc = db_query_i64(self, "PRAGMA user_version", &found, err)))
        return rc;
    *ret_empty = id == 0 && objects == 0;
    if (*ret_empty)
        return ERR_OK;
    if (id != application_id)
        return err_set(err, ERR_INVALID, "not a database of this kind (application_id %lld)", (long long)id);
    if (found != version)
        return err_set(err, ERR_UNSUPPORTED, "database version %lld, this program writes %d", (long long)found, version);
    return ERR_OK;
}

static enum err_code create(struct db *self, const char *schema, int application_id, int version, struct err *err)
{
    char identity[96];
    snprintf(identity, sizeof identity, "PRAGMA application_id = %d; PRAGMA user_version = %d;", application_id, version);
    enum err_code rc;
    if ((rc = db_begin(self, err)))
        return rc;
    if ((rc = db_exec(self, schema, err)) || (rc = db_exec(self, identity, err)) || (rc = db_commit(self, err)))
        db_rollback(self);
    return rc;
}

/* ---- sum() ---- */

/* What a log holds is anything up to 2^63, and SQLite's own sum() fails where the result does not fit. This one is exact and stops at the ends of the range. */
__extension__ typedef __int128 whole_sum __attribute__((aligned(8))); /* as SQLite aligns its memory */

struct sum {
    whole_sum whole;
    double real;
    int64_t values, reals;
};

static void sum_add(sqlite3_context *context, sqlite3_value *value, int64_t sign)
{
    struct sum *self = sqlite3_aggregate_context(context, sizeof *self);
    int type = sqlite3_value_numeric_type(value);
    if (!self || type == SQLITE_NULL)
        return;
    self->values += sign;
    if (type == SQLITE_INTEGER) {
        self->whole += (whole_sum)sqlite3_value_int64(value) * sign;
    } else {
        self->reals += sign;
        self->real += sqlite3_value_double(value) * (double)sign;
    }
}

static void sum_step(sqlite3_context *context, int count UNUSED, sqlite3_value **values)
{
    sum_add(context, values[0], 1);
}

static void sum_inverse(sqlite3_context *context, int count UNUSED, sqlite3_value **values)
{
    sum_add(context, values[0], -1);
}

static void sum_result(sqlite3_context *context)
{
    const struct sum *self = sqlite3_aggregate_context(context, 0);
    if (!self || !self->values)
        return; /* NULL */
    if (self->reals)
        sqlite3_result_double(context, self->real + (double)self->whole);
    else
        sqlite3_result_int64(context, self->whole > INT64_MAX ? INT64_MAX : self->whole <= INT64_MIN ? INT64_MIN + 1 : (int64_t)self->whole);
}

static enum err_code add_sum(struct db *self, struct err *err)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    if (sqlite3_create_window_function(self->handle, "sum", 1, flags, NULL, sum_step, sum_result, sum_result, sum_inverse, NULL))
        return db_error(self->handle, err, "cannot add SQL functions");
    return ERR_OK;
}

/* ---- opening ---- */

static enum err_code open_handle(struct db *self, const char *path, enum db_mode mode, bool immutable, struct err *err)
{
    static const char *const pragmas[] = {
        [DB_READ] = "PRAGMA query_only = ON; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -2000;",
        [DB_WRITE] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
        [DB_BULK] = "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;",
#define ALONE "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;"
        [DB_NEW] = ALONE,
        [DB_NEW_LARGE] = "PRAGMA page_size = 16384;" ALONE,
#undef ALONE
    };
    char uri[3 * PATH_BYTES + 32];
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (immutable) {
        size_t len = (size_t)snprintf(uri, sizeof uri, "file:");
        for (const char *p = path; *p && len + 32 < sizeof uri; p++)
            len += (size_t)snprintf(uri + len, sizeof uri - len, strchr("%?#", *p) ? "%%%02X" : "%c", (unsigned char)*p);
        snprintf(uri + len, sizeof uri - len, "?immutable=1");
        flags |= SQLITE_OPEN_URI;
    }
    if (sqlite3_open_v2(immutable ? uri : path, &self->handle, flags, NULL) != SQLITE_OK)
        return db_error(self->handle, err, "cannot open database");
    sqlite3_busy_timeout(self->handle, BUSY_MS);
    enum err_code rc = add_sum(self, err);
    return rc ? rc : db_exec(self, pragmas[mode], err);
}

/* A WAL database cannot be read where nothing may be written (its -shm is missing). With an empty -wal the file is whole, and then it may be read as one that never changes. */
static bool is_whole_without_wal(const char *path)
{
    char wal[PATH_BYTES + 8];
    struct stat st;
    snprintf(wal, sizeof wal, "%s-wal", path);
    return stat(wal, &st) != 0 || st.st_size == 0;
}

enum err_code db_open(struct db *self, const char *path, enum db_mode mode, const char *schema, int application_id, int version, struct err *err)
{
    self->handle = NULL;
    if (mode == DB_READ && access(path, F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "no such database");
    bool empty = false;
    enum err_code rc = open_handle(self, path, mode, false, err);
    if (!rc)
        rc = check_identity(self, application_id, version, &empty, err);
    if (mode == DB_READ && (rc == ERR_IO || rc == ERR_PERMISSION) && is_whole_without_wal(path)) {
        db_close(self);
        if (!(rc = open_handle(self, path, mode, true, err)))
            rc = check_identity(self, application_id, version, &empty, err);
    }
    if (!rc && empty)
        rc = mode == DB_READ ? err_set(err, ERR_NOT_FOUND, "the database is just being made") : create(self, schema, application_id, version, err);
    if (rc)
        db_close(self);
    return rc;
}

/* ---- kept statements ---- */

struct kept {
    struct kept_statement {
        sqlite3_stmt *stmt;          /* owned */
        uint64_t hash;               /* of its text */
        uint64_t last_use;
        bool lent;                   /* between db_prepare and db_finalize */
        void *note;                  /* owned; NULL: none yet */
    } statements[DB_KEPT_STATEMENTS];
    size_t count;
    uint64_t use_count;
};

/* SQLite has a place for a pointer of a connection's owner only from 3.44 on. A read-only connection never calls its update hook, so that the hook's argument is such a place. */
static struct kept *kept_of(sqlite3 *handle)
{
    struct kept *kept = sqlite3_update_hook(handle, NULL, NULL);
    if (kept)
        sqlite3_update_hook(handle, NULL, kept);
    return kept;
}

enum err_code db_keep_statements(struct db *self, struct err *err)
{
    struct kept *kept = mem_zalloc(sizeof *kept);
    if (!kept)
        return err_nomem(err);
    sqlite3_update_hook(self->handle, NULL, kept);
    return ERR_OK;
}

static sqlite3_stmt *take_kept(struct kept *self, const char *sql, uint64_t hash)
{
    for (size_t i = 0; i < self->count; i++) {
        struct kept_statement *have = &self->statements[i];
        if (!have->lent && have->hash == hash && strcmp(sqlite3_sql(have->stmt), sql) == 0) {
            have->lent = true;
            have->last_use = ++self->use_count;
            return have->stmt;
        }
    }
    return NULL;
}

/* A new statement gets a place, unless all are lent: then db_finalize does not know it and ends it. */
static void keep(struct kept *self, sqlite3_stmt *stmt, uint64_t hash)
{
    struct kept_statement *place = NULL;
    if (self->count < DB_KEPT_STATEMENTS) {
        place = &self->statements[self->count++];
    } else {
        for (size_t i = 0; i < self->count; i++)
            if (!self->statements[i].lent && (!place || self->statements[i].last_use < place->last_use))
                place = &self->statements[i];
        if (!place)
            return;
        sqlite3_finalize(place->stmt);
        mem_free(place->note);
    }
    *place = (struct kept_statement){stmt, hash, ++self->use_count, true, NULL};
}

static void free_kept(struct kept *self)
{
    for (size_t i = 0; self && i < self->count; i++) {
        sqlite3_finalize(self->statements[i].stmt);
        mem_free(self->statements[i].note);
    }
    mem_free(self);
}

void db_close(struct db *self)
{
    if (self && self->handle) {
        free_kept(sqlite3_update_hook(self->handle, NULL, NULL));
        sqlite3_close_v2(self->handle);
        self->handle = NULL;
    }
}

/* Bytes 18 and 19 of a database file say how it is written: 1 rollback journal, 2 WAL (SQLite file format, section 1.3). "PRAGMA journal_mode" refuses to change them while
 * a reader has the file open; with every frame checkpointed and the -wal empty, the bytes are all that is left to change. */
#define JOURNAL_BYTES_OFFSET 18

static enum err_code leave_wal_and_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open the database again");
    static const char rollback[2] = {1, 1};
    enum err_code rc = ERR_OK;
    if (pwrite(fd, rollback, sizeof rollback, JOURNAL_BYTES_OFFSET) != (ssize_t)sizeof rollback || fsync(fd) != 0)
        rc = err_set_errno(err, errno, "cannot flush the database to disk");
    close(fd);
    return rc;
}

void db_remove_beside(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char name[PATH_BYTES + 16];
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++)
        if ((size_t)snprintf(name, sizeof name, "%s%s", path, endings[i]) < sizeof name)
            unlink(name);
}

void db_start_writeback(struct db *self)
{
    const char *path = sqlite3_db_filename(self->handle, "main");
    int fd = path && *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    close(fd);
}

enum err_code db_seal(struct db *self, struct err *err)
{
    char path[PATH_BYTES];
    const char *name = sqlite3_db_filename(self->handle, "main");
    snprintf(path, sizeof path, "%s", name ? name : "");
    int64_t busy = 1;
    enum err_code rc = db_query_i64(self, "PRAGMA wal_checkpoint(TRUNCATE)", &busy, err);
    if (!rc && busy)
        rc = err_set(err, ERR_BUSY, "a reader holds the database");
    db_close(self);
    return rc ? rc : leave_wal_and_sync(path, err);
}

enum err_code db_exec(struct db *self, const char *sql, struct err *err)
{
    return sqlite3_exec(self->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK : db_error(self->handle, err, "database");
}

enum err_code db_begin(struct db *self, struct err *err)
{
    return db_exec(self, "BEGIN IMMEDIATE", err);
}

enum err_code db_commit(struct db *self, struct err *err)
{
    return db_exec(self, "COMMIT", err);
}

/* BEGIN and COMMIT through db_prepare: kept like other statements. */
static enum err_code run_once(struct db *self, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self, &stmt, sql, err);
    if (!rc)
        rc = db_run(stmt, err);
    db_finalize(stmt);
    return rc;
}

enum err_code db_read_begin(struct db *self, struct err *err)
{
    return run_once(self, "BEGIN", err);
}

void db_read_end(struct db *self)
{
    if (!sqlite3_get_autocommit(self->handle) && run_once(self, "COMMIT", NULL))
        db_rollback(self);
}

void db_rollback(struct db *self)
{
    if (self->handle && !sqlite3_get_autocommit(self->handle))
        sqlite3_exec(self->handle, "ROLLBACK", NULL, NULL, NULL);
}

enum err_code db_prepare(struct db *self, sqlite3_stmt **ret, const char *sql, struct err *err)
{
    struct kept *kept = kept_of(self->handle);
    uint64_t hash = kept ? hash_bytes(sql, strlen(sql)) : 0;
    if (kept && (*ret = take_kept(kept, sql, hash)))
        return ERR_OK;
    if (sqlite3_prepare_v3(self->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) != SQLITE_OK) {
        *ret = NULL;
        return db_error(self->handle, err, "statement");
    }
    if (kept && *ret)
        keep(kept, *ret, hash);
    return ERR_OK;
}

/* NULL: not kept. */
static struct kept_statement *kept_statement_of(sqlite3_stmt *stmt)
{
    struct kept *kept = stmt ? kept_of(sqlite3_db_handle(stmt)) : NULL;
    for (size_t i = 0; kept && i < kept->count; i++)
        if (kept->statements[i].stmt == stmt)
            return &kept->statements[i];
    return NULL;
}

void db_finalize(sqlite3_stmt *stmt)
{
    struct kept_statement *kept = kept_statement_of(stmt);
    if (kept) {
        db_reset(stmt);
        kept->lent = false;
    } else {
        sqlite3_finalize(stmt);
    }
}

void **db_statement_note(sqlite3_stmt *stmt)
{
    struct kept_statement *kept = kept_statement_of(stmt);
    return kept ? &kept->note : NULL;
}

void db_bind_i64(sqlite3_stmt *stmt, int position, int64_t value)
{
    if (known(value))
        sqlite3_bind_int64(stmt, position, value);
    else
        sqlite3_bind_null(stmt, position);
}

void db_bind_f64(sqlite3_stmt *stmt, int position, double value)
{
    if (isnan(value))
        sqlite3_bind_null(stmt, position);
    else
        sqlite3_bind_double(stmt, position, value);
}

void db_bind_str(sqlite3_stmt *stmt, int position, struct str value)
{
    if (value.ptr)
        sqlite3_bind_text64(stmt, position, value.ptr, value.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(stmt, position);
}

void db_bind_blob(sqlite3_stmt *stmt, int position, const void *bytes, size_t len)
{
    if (bytes)
        sqlite3_bind_blob64(stmt, position, bytes, len, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, position);
}

enum err_code db_step(sqlite3_stmt *stmt, struct err *err)
{
    int code = sqlite3_step(stmt);
    if (code == SQLITE_ROW)
        return ERR_OK;
    enum err_code rc = code == SQLITE_DONE ? ERR_EOF : db_error(sqlite3_db_handle(stmt), err, "database");
    db_reset(stmt);
    return rc;
}

enum err_code db_run(sqlite3_stmt *stmt, struct err *err)
{
    int code = sqlite3_step(stmt);
    enum err_code rc = code == SQLITE_DONE || code == SQLITE_ROW ? ERR_OK : db_error(sqlite3_db_handle(stmt), err, "database");
    db_reset(stmt);
    return rc;
}

void db_reset(sqlite3_stmt *stmt)
{
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
}

/* A connection has no locks (db_setup) and belongs to one thread: its values need no protection, and are looked up once instead of for each question. */
int64_t db_i64(sqlite3_stmt *stmt, int column)
{
    sqlite3_value *value = sqlite3_column_value(stmt, column);
    return sqlite3_value_type(value) == SQLITE_NULL ? UNKNOWN : sqlite3_value_int64(value);
}

double db_f64(sqlite3_stmt *stmt, int column)
{
    sqlite3_value *value = sqlite3_column_value(stmt, column);
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

struct str db_str(sqlite3_stmt *stmt, int column)
{
    sqlite3_value *value = sqlite3_column_value(stmt, column);
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? (struct str){text, (size_t)sqlite3_value_bytes(value)} : STR_NONE;
}

struct str db_blob(sqlite3_stmt *stmt, int column)
{
    const char *bytes = sqlite3_column_blob(stmt, column);
    return bytes ? (struct str){bytes, (size_t)sqlite3_column_bytes(stmt, column)} : STR_NONE;
}

bool db_is_null(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL;
}

enum err_code db_query_i64(struct db *self, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self, &stmt, sql, err);
    if (rc)
        return rc;
    *ret = UNKNOWN;
    rc = db_step(stmt, err);
    if (rc == ERR_OK)
        *ret = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}
