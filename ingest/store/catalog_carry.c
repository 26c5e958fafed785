/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/catalog_carry.h"

#include <stdbool.h>

#include "base/buf.h"

#define SQL_BYTES ((size_t)64 << 10)
#define CARRIED "(SELECT c.app_key FROM temp.carried AS c)"

/* Runs that were loaded once and that apps/ did not give. */
static const char choose_sql[] = "CREATE TEMP TABLE carried AS SELECT app_key, log_id FROM old.app WHERE generation > 0 AND app_key NOT IN (SELECT app_key FROM main.app)";

/* Tables whose rows are carried, by what is said after the common columns: `o` is the old table. */
static const struct {
    const char *table, *instead, *from;      /* a column that gets another value, and that value with what it comes from */
    bool came_later;                         /* catalogues of before version 10 have it not, and are whole */
} carried[] = {
    {"log", "place_id", "NULL FROM old.log AS o WHERE o.log_id IN (SELECT c.log_id FROM temp.carried AS c)", false},
    {"app", "log_id",
     "(SELECT l.log_id FROM main.log AS l WHERE l.path = (SELECT p.path FROM old.log AS p WHERE p.log_id = o.log_id)) FROM old.app AS o WHERE o.app_key IN " CARRIED, false},
    {"run_history", "app_key", "o.app_key FROM old.run_history AS o WHERE o.app_key IN (SELECT a.app_key FROM main.app AS a) AND o.app_key IN " CARRIED, false},
    {"run_summary", "app_key", "o.app_key FROM old.run_summary AS o WHERE o.app_key IN (SELECT a.app_key FROM main.app AS a) AND o.app_key IN " CARRIED, false},
    {"pin", "token", "o.token FROM old.pin AS o", true},
    {"run_use", "app_key", "o.app_key FROM old.run_use AS o WHERE o.app_key IN (SELECT a.app_key FROM main.app AS a)", false},
};

/* Columns that both versions have. An id that the new catalogue gives itself, and the column with another value, are left out. */
static enum err_code common_columns(struct db *db, const char *table, const char *instead, struct buf *out, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT name FROM pragma_table_info(?1, 'main') WHERE name <> ?2 AND NOT (?1 = 'log' AND name = 'log_id') "
                                  "AND name IN (SELECT name FROM pragma_table_info(?1, 'old'))", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(table));
    db_bind_str(stmt, 2, str_of(instead));
    while ((rc = db_step(stmt, err)) == ERR_OK)
        buf_printf(out, "%s, ", db_str(stmt, 0).ptr);
    db_finalize(stmt);
    if (rc == ERR_EOF)
        rc = buf_failed(out) ? err_nomem(err) : ERR_OK;
    return rc;
}

static enum err_code carry_table(struct db *db, size_t which, struct err *err)
{
    CLEANUP(buf_dispose) struct buf columns;
    CLEANUP(buf_dispose) struct buf sql;
    buf_init(&columns, SQL_BYTES);
    buf_init(&sql, 2 * SQL_BYTES);
    buf_text(&columns, "");
    enum err_code rc = common_columns(db, carried[which].table, carried[which].instead, &columns, err);
    if (rc)
        return rc;
    const char *names = columns.len ? columns.data : "";
    if (!columns.len && carried[which].came_later)
        return ERR_OK;
    buf_printf(&sql, "INSERT OR IGNORE INTO main.%s (%s%s) SELECT %s%s", carried[which].table, names, carried[which].instead, names, carried[which].from);
    return buf_failed(&sql) ? err_nomem(err) : db_exec(db, sql.data, err);
}

enum err_code catalog_carry_over(struct db *catalog, const char *old_path, int64_t *ret_count, struct err *err)
{
    static const char count_sql[] = "SELECT count(*) FROM main.app AS a WHERE a.app_key IN " CARRIED;
    sqlite3_stmt *stmt = NULL;
    *ret_count = 0;
    enum err_code rc = db_prepare(catalog, &stmt, "ATTACH ?1 AS old", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(old_path));
    bool attached = !db_run(stmt, NULL);
    db_finalize(stmt);
    if (!attached)
        return ERR_OK;
    bool carried_over = !db_begin(catalog, NULL) && !db_exec(catalog, choose_sql, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(carried) && carried_over; i++)
        carried_over = !carry_table(catalog, i, NULL);
    if (carried_over && !db_query_i64(catalog, count_sql, ret_count, NULL))
        carried_over = !db_commit(catalog, NULL);
    if (!carried_over) {
        db_rollback(catalog);
        *ret_count = 0;
    }
    return db_exec(catalog, "DROP TABLE IF EXISTS temp.carried; DETACH old", err);
}
