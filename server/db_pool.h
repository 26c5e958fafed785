/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only connections to catalog.db and apps/<key>.db, kept open for reuse: opening costs some milliseconds, a reuse microseconds. At most DB_POOL_MAX_IDLE idle
 * connections stay, least recently used go first. A connection is lent to one call at a time, keeps its statements, and shows one state of its file as long as it is lent. A
 * file that was replaced (new inode) is opened anew. Threads: safe. */
#ifndef SERVER_DB_POOL_H
#define SERVER_DB_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

#define DB_POOL_MAX_IDLE 64          /* with 2 MB cache each this stays below the server's memory budget */

struct db_pool;

/* A lent database. */
struct db_lease {
    struct db *db;
    void *slot;                      /* the pool's own */
    dev_t device;                    /* which file it is: another one after it was replaced */
    ino_t inode;
};

/* Called once for each connection to an application's database, for SQL functions of our own. */
typedef enum err_code db_pool_prepare_fn(struct db *db, struct err *err);

enum err_code db_pool_new(struct db_pool **ret, const char *store_dir, db_pool_prepare_fn *prepare_app, struct err *err) WARN_UNUSED;      /* prepare_app NULL: nothing to do */
enum err_code db_pool_catalog(struct db_pool *self, struct db_lease *ret, struct err *err) WARN_UNUSED;

/* apps/<key>.db, or apps/<key>.loading.db while it is being filled for the first time. ERR_NOT_FOUND: neither is there. */
enum err_code db_pool_app(struct db_pool *self, struct str app_key, struct db_lease *ret, struct err *err) WARN_UNUSED;
void db_pool_return(struct db_pool *self, struct db_lease *lease);      /* idempotent */
int64_t db_pool_open_count(struct db_pool *self);     /* connections that are open, lent or not */
void db_pool_free(struct db_pool *self);

#endif
