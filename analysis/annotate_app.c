/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate_app.h"

#include "analysis/annotate.h"

static const char stages_sql[] = "SELECT d.task_count, d.p50, d.max, r.p50, r.max, i.p50, i.max, s.task_time_ms, s.jvm_gc_time_ms"
                                 "  FROM stage s"
                                 "  LEFT JOIN stage_quantile d ON d.stage_ref = s.stage_ref AND d.name = 'duration_ms'"
                                 "  LEFT JOIN stage_quantile r ON r.stage_ref = s.stage_ref AND r.name = 'shuffle_read_bytes'"
                                 "  LEFT JOIN stage_quantile i ON i.stage_ref = s.stage_ref AND i.name = 'input_bytes'"
                                 " WHERE s.ended_tasks > 0";

enum err_code annotate_app(struct db *app, int64_t *ret_skew_grade, int64_t *ret_gc_grade, struct err *err)
{
    *ret_skew_grade = *ret_gc_grade = UNKNOWN;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, stages_sql, err);
    if (rc)
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        struct annotate_spread spread = {.task_count = db_i64(stmt, 0),
                                         .median_ms = db_i64(stmt, 1),
                                         .max_ms = db_i64(stmt, 2),
                                         .median_shuffle_read_bytes = db_i64(stmt, 3),
                                         .max_shuffle_read_bytes = db_i64(stmt, 4),
                                         .median_input_bytes = db_i64(stmt, 5),
                                         .max_input_bytes = db_i64(stmt, 6)};
        *ret_skew_grade = max_known(*ret_skew_grade, (int64_t)annotate_skew(&spread).grade);
        *ret_gc_grade = max_known(*ret_gc_grade, (int64_t)annotate_gc(db_i64(stmt, 7), db_i64(stmt, 8)).grade);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}
