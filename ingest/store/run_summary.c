/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/run_summary.h"

#include "base/mem.h"

void run_summary_dispose(struct run_summary *self)
{
    mem_free(self->rules);
    mem_free(self->costs);
    mem_free(self->verdict_en);
    mem_free(self->verdict_zh);
    *self = (struct run_summary){0};
}

enum err_code run_summary_write(struct db *catalog, const char *app_key, const struct run_summary *summary, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt,
                                  summary->known ? "INSERT OR REPLACE INTO run_summary (app_key, grade, completeness, saving_ms, busy_share, rules, costs, verdict_en, verdict_zh) "
                                                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                                                 : "DELETE FROM run_summary WHERE app_key = ?1",
                                  err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    if (summary->known) {
        db_bind_i64(stmt, 2, summary->grade);
        db_bind_i64(stmt, 3, summary->completeness);
        db_bind_i64(stmt, 4, summary->saving_ms);
        db_bind_f64(stmt, 5, summary->busy_share);
        db_bind_str(stmt, 6, str_of(summary->rules));
        db_bind_str(stmt, 7, str_of(summary->costs));
        db_bind_str(stmt, 8, str_of(summary->verdict_en));
        db_bind_str(stmt, 9, str_of(summary->verdict_zh));
    }
    rc = db_run(stmt, err);
    db_finalize(stmt);
    return rc;
}
