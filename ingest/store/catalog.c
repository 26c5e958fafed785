/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing: making the store, setting a damaged catalogue aside, noticing that catalog.db is another file by now. */
#include "ingest/store/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/directories.h"
#include "base/mem.h"
#include "base/time.h"
#include "ingest/store/catalog_carry.h"
#include "ingest/store/catalog_rebuild.h"
#include "ingest/store/catalog_statements.h"

#define ROW_TEXT_BYTES ((size_t)1 << 20)   /* a path, a reason, ids: some kilobytes at most */

/* STORE with its parents, and STORE/apps. */
static enum err_code make_store(const char *store_dir, struct err *err)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/apps", store_dir) > sizeof path - 64 || !store_dir[0])
        return err_set(err, ERR_INVALID, "the path of the store is empty or too long");
    return directories_make(path, err);
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
    int64_t now_ms = time_now_ms(), count = 0, carried_count = 0;
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
    char old_path[4300];
    snprintf(old_path, sizeof old_path, "%s.old-%lld", path, (long long)now_ms);
    if ((rc = set_aside(path, now_ms, err)) || (rc = open_checked(&self->db, path, err)) || (rc = catalog_rebuild(&self->db, self->store_dir, &count, err)) ||
        (rc = catalog_carry_over(&self->db, old_path, &carried_count, err)))
        return rc;
    snprintf(self->remark, sizeof self->remark, "catalog.db could not be used (%.120s): set aside as catalog.db.old-%lld, %lld runs read back from apps/, %lld others from it",
        why.message, (long long)now_ms, (long long)count, (long long)carried_count);
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

enum err_code catalog_check(const struct catalog *self, struct err *err)
{
    char path[4200];
    struct db db;
    snprintf(path, sizeof path, "%s/catalog.db", self->store_dir);
    enum err_code rc = open_checked(&db, path, err);
    if (!rc)
        db_close(&db);
    return rc;
}

void catalog_close(struct catalog *self)
{
    if (!self)
        return;
    for (int i = 0; i < CATALOG_STATEMENT_COUNT; i++)
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
