/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/run_history.h"

#include <string.h>

#include "base/mem.h"

#define ELIGIBLE_COMPLETENESS "95" /* C from which later runs may be measured against a run (spec/findings.md 9.1) */

enum err_code run_history_read(struct run_history *ret, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret = (struct run_history){0};
    enum err_code rc =
        db_prepare(app, &row,
                   "SELECT i.run_key, a.begin_ms, a.wall_ms, a.completeness, i.shape, "
                   "h.complete AND NOT i.excluded AND a.completeness >= " ELIGIBLE_COMPLETENESS " AND coalesce(p.exit_code, 0) = 0 AND coalesce((SELECT status <> 2 FROM job "
                   "WHERE status <> 0 ORDER BY completion_ms DESC, job_id DESC LIMIT 1), 1) "
                   "FROM run_identity AS i, analysis AS a, log_health AS h, application AS p LIMIT 1",
                   err);
    if (!rc && !(rc = db_step(row, err))) {
        struct str key = db_str(row, 0), shape = db_blob(row, 4);
        *ret = (struct run_history){.known = true,
                                    .begin_ms = db_i64(row, 1),
                                    .wall_ms = db_i64(row, 2),
                                    .completeness = db_i64(row, 3),
                                    .eligible = db_i64(row, 5) == 1,
                                    .run_key = str_known(key) ? mem_strndup(key.ptr, key.len) : NULL,
                                    .shape = mem_alloc(shape.len + 1),
                                    .shape_bytes = shape.len};
        if ((str_known(key) && !ret->run_key) || !ret->shape)
            rc = err_nomem(err);
        else if (shape.len)
            memcpy(ret->shape, shape.ptr, shape.len);
    }
    db_finalize(row);
    if (rc && rc != ERR_EOF)
        run_history_dispose(ret);
    return rc == ERR_EOF ? ERR_OK : rc;
}

void run_history_dispose(struct run_history *self)
{
    mem_free(self->run_key);
    mem_free(self->shape);
    *self = (struct run_history){0};
}

enum err_code run_history_write(struct db *catalog, const char *app_key, const struct run_history *history, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(catalog, &stmt, history->known ? "INSERT OR REPLACE INTO run_history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)" : "DELETE FROM run_history WHERE app_key = ?1", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    if (history->known) {
        db_bind_str(stmt, 2, str_of(history->run_key));
        db_bind_i64(stmt, 3, history->begin_ms);
        db_bind_i64(stmt, 4, history->wall_ms);
        db_bind_i64(stmt, 5, history->completeness);
        db_bind_i64(stmt, 6, history->eligible);
        db_bind_blob(stmt, 7, history->shape, history->shape_bytes);
    }
    rc = db_run(stmt, err);
    db_finalize(stmt);
    return rc;
}
