/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/sql_findings.h"

#include "analysis/report.h"

static enum err_code execution_of(struct db *db, const char *sql, int64_t first, int64_t second, int64_t *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, sql, err);
    if (rc)
        return rc;
    db_bind_i64(row, 1, first);
    if (known(second))
        db_bind_i64(row, 2, second);
    if ((rc = db_step(row, err)) == ERR_OK)
        *ret = db_i64(row, 0);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code sql_of_finding(struct db *db, const struct finding *finding, int64_t *ret_execution_id, struct err *err)
{
    struct str key = finding->subject_key;
    struct str rest;
    int64_t first, attempt;
    *ret_execution_id = UNKNOWN;
    switch (finding->subject_kind) {
    case SUBJECT_SQL:
    case SUBJECT_NODE:
        if (subject_key_split(key, '/', &first, &rest))
            *ret_execution_id = first;
        return ERR_OK;
    case SUBJECT_JOB: return str_to_i64(key, &first) ? execution_of(db, "SELECT sql_execution_id FROM job WHERE job_id = ?1", first, UNKNOWN, ret_execution_id, err) : ERR_OK;
    case SUBJECT_STAGE:
        if (!subject_key_pair(key, '.', &first, &attempt))
            return ERR_OK;
        return execution_of(db, "SELECT sql_execution_id FROM stage WHERE stage_id = ?1 AND attempt = ?2", first, attempt, ret_execution_id, err);
    default: return ERR_OK;
    }
}

static enum err_code write_shown(const struct report *report, struct buf *out, struct err *err)
{
    const char *separator = "";
    buf_printf(out, "[");
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct report_finding *shown = &report->findings[i];
        int64_t execution_id;
        enum err_code rc = sql_of_finding(report->db, &shown->finding, &execution_id, err);
        if (rc)
            return rc;
        if (!known(execution_id))
            continue;
        enum grade grade = finding_is_no_fault(&shown->finding) ? GRADE_OK : shown->grade;
        buf_printf(out, "%s[%lld,%d,", separator, (long long)execution_id, (int)grade);
        if (known(shown->finding.price.ms))
            buf_printf(out, "%lld]", (long long)shown->finding.price.ms);
        else
            buf_printf(out, "null]");
        separator = ",";
    }
    buf_printf(out, "]");
    return buf_failed(out) ? err_nomem(err) : ERR_OK;
}

enum err_code sql_findings_json(struct db *db, const struct profile *profile, struct buf *ret, bool *ret_known, struct err *err)
{
    struct report report;
    enum err_code rc = report_load(&report, db, profile, err);
    *ret_known = !rc;
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    rc = write_shown(&report, ret, err);
    report_dispose(&report);
    return rc;
}
