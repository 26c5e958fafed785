/* SPDX-License-Identifier: Apache-2.0 */
#include "server/db_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "server/access.h"

#define PATH_MAX_BYTES 4096          /* Linux's PATH_MAX */
#define KEY_MAX_BYTES 250            /* a file name has 255, ".db" is ours */

struct slot {
    struct db db;
    char *path;                      /* owned */
    dev_t device;
    ino_t inode;
    off_t bytes;                     /* when it was opened: pages are mapped, and those beyond the end of a file that was cut off would kill us */
    struct slot *older, *newer;      /* list of idle slots */
};

struct db_pool {
    pthread_mutex_t lock;
    char *store_dir;                 /* owned */
    db_pool_prepare_fn *prepare_app; /* NULL: nothing to do */
    struct slot *newest, *oldest;    /* idle ones, by when they came back */
    size_t idle_count;
    atomic_int_fast64_t open_count;
};

static void slot_free(struct db_pool *pool, struct slot *self)
{
    if (!self)
        return;
    atomic_fetch_sub(&pool->open_count, 1);
    db_close(&self->db);
    mem_free(self->path);
    mem_free(self);
}

static void unlink_slot(struct db_pool *self, struct slot *slot)
{
    *(slot->newer ? &slot->newer->older : &self->newest) = slot->older;
    *(slot->older ? &slot->older->newer : &self->oldest) = slot->newer;
    slot->newer = slot->older = NULL;
    self->idle_count--;
}

enum err_code db_pool_new(struct db_pool **ret, const char *store_dir, db_pool_prepare_fn *prepare_app, struct err *err)
{
    *ret = NULL;
    struct db_pool *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->store_dir = mem_strndup(store_dir, strlen(store_dir));
    if (!self->store_dir) {
        mem_free(self);
        return err_nomem(err);
    }
    self->prepare_app = prepare_app;
    pthread_mutex_init(&self->lock, NULL);
    *ret = self;
    return ERR_OK;
}

int64_t db_pool_open_count(struct db_pool *self)
{
    return atomic_load(&self->open_count);
}

void db_pool_free(struct db_pool *self)
{
    if (!self)
        return;
    while (self->newest) {
        struct slot *slot = self->newest;
        unlink_slot(self, slot);
        slot_free(self, slot);
    }
    pthread_mutex_destroy(&self->lock);
    mem_free(self->store_dir);
    mem_free(self);
}

/* An idle connection to this very file, out of the list. One to a file that was since replaced is handed out in *ret_stale to be closed outside the lock. */
static struct slot *take_idle(struct db_pool *self, const char *path, const struct stat *file, struct slot **ret_stale)
{
    struct slot *found = NULL;
    *ret_stale = NULL;
    pthread_mutex_lock(&self->lock);
    for (struct slot *slot = self->newest, *next; slot && !found; slot = next) {
        next = slot->older;
        if (strcmp(slot->path, path) != 0)
            continue;
        unlink_slot(self, slot);
        if (slot->device == file->st_dev && slot->inode == file->st_ino && slot->bytes <= file->st_size) {
            found = slot;
        } else {
            slot->older = *ret_stale;
            *ret_stale = slot;
        }
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

static enum err_code open_slot(struct slot *self, const char *path, int application_id, int version, db_pool_prepare_fn *prepare, struct err *err)
{
    enum err_code rc = db_open(&self->db, path, DB_READ, NULL, application_id, version, err);
    if (!rc)
        rc = db_keep_statements(&self->db, err);
    if (!rc && application_id == DB_CATALOG_ID)
        rc = access_register(&self->db, err);
    return rc || !prepare ? rc : prepare(&self->db, err);
}

static enum err_code lend(struct db_pool *self, const char *path, int application_id, int version, db_pool_prepare_fn *prepare, struct db_lease *ret, struct err *err)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return errno == ENOENT || errno == ENOTDIR ? err_set(err, ERR_NOT_FOUND, "no such database") : err_set_errno(err, errno, "cannot look at the database");
    struct slot *stale, *slot = take_idle(self, path, &file, &stale);
    while (stale) {
        struct slot *next = stale->older;
        slot_free(self, stale);
        stale = next;
    }
    if (!slot) {
        slot = mem_zalloc(sizeof *slot);
        if (!slot)
            return err_nomem(err);
        atomic_fetch_add(&self->open_count, 1);
        slot->path = mem_strndup(path, strlen(path));
        slot->device = file.st_dev;
        slot->inode = file.st_ino;
        slot->bytes = file.st_size;
        enum err_code rc = slot->path ? open_slot(slot, path, application_id, version, prepare, err) : err_nomem(err);
        if (rc) {
            slot_free(self, slot);
            return rc;
        }
    }
    enum err_code rc = db_read_begin(&slot->db, err);
    if (rc) {
        slot_free(self, slot);
        return rc;
    }
    ret->db = &slot->db;
    ret->slot = slot;
    ret->device = slot->device;
    ret->inode = slot->inode;
    return ERR_OK;
}

enum err_code db_pool_catalog(struct db_pool *self, struct db_lease *ret, struct err *err)
{
    *ret = (struct db_lease){0};
    CLEANUP(buf_dispose) struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    buf_printf(&path, "%s/catalog.db", self->store_dir);
    if (buf_failed(&path))
        return err_set(err, ERR_LIMIT, "the store's path is too long");
    return lend(self, path.data, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL, ret, err);
}

/* Keys come from the catalogue; one that could leave apps/ is no key. */
static bool sound_key(struct str key)
{
    return key.len > 0 && key.len <= KEY_MAX_BYTES && key.ptr[0] != '.' && !memchr(key.ptr, '/', key.len) && !memchr(key.ptr, '\0', key.len);
}

enum err_code db_pool_app(struct db_pool *self, struct str app_key, struct db_lease *ret, struct err *err)
{
    *ret = (struct db_lease){0};
    if (!sound_key(app_key))
        return err_set(err, ERR_NOT_FOUND, "no such database");
    CLEANUP(buf_dispose) struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    static const char *const endings[] = {".db", ".loading.db"};
    enum err_code rc = ERR_NOT_FOUND;
    for (size_t i = 0; i < ARRAY_LENGTH(endings) && rc == ERR_NOT_FOUND; i++) {
        buf_clear(&path);
        buf_printf(&path, "%s/apps/%.*s%s", self->store_dir, (int)app_key.len, app_key.ptr, endings[i]);
        if (buf_failed(&path))
            return err_set(err, ERR_LIMIT, "the store's path is too long");
        rc = lend(self, path.data, DB_APP_ID, DB_APP_VERSION, self->prepare_app, ret, err);
    }
    return rc;
}

void db_pool_return(struct db_pool *self, struct db_lease *lease)
{
    struct slot *slot = lease->slot, *evicted = NULL;
    *lease = (struct db_lease){0};
    if (!slot)
        return;
    db_read_end(&slot->db);
    sqlite3_db_release_memory(slot->db.handle); /* pages of temporary tables, which an answer leaves behind */
    pthread_mutex_lock(&self->lock);
    slot->older = self->newest;
    *(self->newest ? &self->newest->newer : &self->oldest) = slot;
    self->newest = slot;
    if (++self->idle_count > DB_POOL_MAX_IDLE) {
        evicted = self->oldest;
        unlink_slot(self, evicted);
    }
    pthread_mutex_unlock(&self->lock);
    slot_free(self, evicted);
}
