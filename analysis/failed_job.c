/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/failed_job.h"

#include "analysis/error_text.h"
#include "base/units.h"

enum err_code failed_job(struct db *app, struct arena *arena, int64_t *ret_job_id, struct str *ret_text, struct err *err)
{
    sqlite3_stmt *job = NULL;
    int64_t last = UNKNOWN, chosen = UNKNOWN;
    *ret_text = STR_NONE;
    enum err_code rc = db_prepare(app, &job,
                                  "SELECT j.job_id, t.body FROM job AS j LEFT JOIN text AS t ON t.text_id = j.failure_text_id WHERE j.status = 2 AND NOT " STOPPED_WITH_ITS_QUERY " "
                                  "ORDER BY coalesce(j.completion_ms, 0) DESC, j.job_id DESC",
                                  err);
    while (!rc && !known(chosen) && (rc = db_step(job, err)) == ERR_OK) {
        last = known(last) ? last : db_i64(job, 0);
        if (error_kind_of(db_str(job, 1)) != ERROR_CANCELLED)
            chosen = db_i64(job, 0);
    }
    db_finalize(job);
    *ret_job_id = known(chosen) ? chosen : last;
    if (rc == ERR_EOF)
        rc = ERR_OK;
    if (rc || !known(*ret_job_id))
        return rc;
    if ((rc = db_prepare(app, &job, "SELECT t.body FROM job AS j JOIN text AS t ON t.text_id = j.failure_text_id WHERE j.job_id = ?1", err)))
        return rc;
    db_bind_i64(job, 1, *ret_job_id);
    if ((rc = db_step(job, err)) == ERR_OK && arena_str(arena, db_str(job, 0), ret_text))
        rc = err_nomem(err);
    db_finalize(job);
    return rc == ERR_EOF ? ERR_OK : rc;
}
