/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_lookup.h"

#include <stdio.h>

#include "base/attributes.h"

#define PATH_BYTES 4600

static enum err_code find_in(struct db *catalog, const char *name, char *out, struct err *err)
{
    static const char *const queries[] = {
        "SELECT app_key FROM app WHERE app_key = ?1",
        "SELECT a.app_key FROM app AS a JOIN log AS l USING (log_id) WHERE a.app_id = ?1 "
        "ORDER BY " DB_IS_ADDED("a.app_key") ", a.loaded DESC, a.start_ms DESC, a.complete DESC, l.bytes DESC, l.modified_ms DESC LIMIT 1",
        "SELECT a.app_key FROM app AS a JOIN log AS l USING (log_id) WHERE a.app_id || '/' || a.attempt_id = ?1 "
        "ORDER BY " DB_IS_ADDED("a.app_key") ", a.loaded DESC, a.complete DESC, l.bytes DESC, l.modified_ms DESC LIMIT 1",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(queries); i++) {
        sqlite3_stmt *stmt = NULL;
        enum err_code rc = db_prepare(catalog, &stmt, queries[i], err);
        if (rc)
            return rc;
        db_bind_str(stmt, 1, str_of(name));
        if ((rc = db_step(stmt, err)) == ERR_OK)
            snprintf(out, RUN_KEY_BYTES, "%s", db_str(stmt, 0).ptr);
        db_finalize(stmt);
        if (rc != ERR_EOF)
            return rc;
    }
    return err_set(err, ERR_NOT_FOUND, "%s: the store knows no such run", name);
}

enum err_code run_find(const char *store, const char *name, char ret_key[RUN_KEY_BYTES], struct err *err)
{
    char path[PATH_BYTES];
    struct db catalog;
    snprintf(path, sizeof path, "%s/catalog.db", store);
    enum err_code rc = db_open(&catalog, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err);
    if (rc) {
        err_prefix(err, "%s", path);
        return rc;
    }
    rc = find_in(&catalog, name, ret_key, err);
    db_close(&catalog);
    return rc;
}

enum err_code run_open(const char *store, const char *key, enum db_mode mode, struct db *ret, struct err *err)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/apps/%s.db", store, key);
    enum err_code rc = db_open(ret, path, mode, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err);
    if (rc == ERR_NOT_FOUND)
        err_prefix(err, "%s is not loaded yet", key);
    else if (rc)
        err_prefix(err, "%s", path);
    return rc;
}
