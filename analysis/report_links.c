/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report_links.h"

#include <string.h>

#include "analysis/verdict.h"
#include "base/attributes.h"

static bool is_rule(const struct report_finding *f, const char *id)
{
    return strcmp(f->finding.rule->id, id) == 0;
}

/* The shown finding of that rule on that subject; finding_count: none. */
static size_t shown_on(const struct report *self, const char *rule, enum subject_kind kind, struct str key)
{
    const struct rule *of = rule_find(str_of(rule));
    for (size_t i = 0; i < self->shown_count; i++)
        if (self->findings[i].finding.rule == of && self->findings[i].finding.subject_kind == kind && str_eq(self->findings[i].finding.subject_key, key))
            return i;
    return self->finding_count;
}

/* ---- one failure, told more than once */

/* Failed jobs: of a query, whose failure is theirs; of a stage that failed, whose tasks are why. ?1 is the key of the finding's subject. */
static const char *const jobs_of_query_sql = "SELECT CAST(job_id AS TEXT) FROM job WHERE status = 2 AND sql_execution_id = CAST(?1 AS INTEGER) ORDER BY job_id";
static const char *const jobs_of_stage_sql =
    "SELECT CAST(j.job_id AS TEXT) FROM job_stage AS l JOIN job AS j USING (job_id) JOIN stage AS s USING (stage_id) WHERE j.status = 2 AND s.status = 3 AND s.stage_id = CAST(?1 AS INTEGER) "
    "AND s.attempt = CAST(substr(?1, instr(?1, '.') + 1) AS INTEGER) ORDER BY j.job_id";

/* "[X] no", and with the class of the exception before it: "a.b.Error: [X] no". A job's text may lack it. */
static bool is_same_error(struct str a, struct str b)
{
    struct str longer = a.len > b.len ? a : b, shorter = a.len > b.len ? b : a;
    size_t before = longer.len - shorter.len;
    return str_eq(a, b) || (shorter.len && before > 2 && memcmp(longer.ptr + before, shorter.ptr, shorter.len) == 0 && memcmp(longer.ptr + before - 2, ": ", 2) == 0);
}

/* The first failed job that is shown and, of tasks, failed with the same error: a job that was ended from outside did not fail by what its tasks met. */
static enum err_code job_behind(struct report *self, const struct report_finding *f, const char *sql, bool with_same_error, size_t *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, sql, err);
    if (rc)
        return rc;
    db_bind_str(row, 1, f->finding.subject_key);
    *ret = self->finding_count;
    while (*ret == self->finding_count && (rc = db_step(row, err)) == ERR_OK) {
        size_t job = shown_on(self, "JOB.FAILED", SUBJECT_JOB, db_str(row, 0));
        if (job < self->finding_count && (!with_same_error || is_same_error(self->findings[job].error, f->error)))
            *ret = job;
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_attempts(struct report *self, struct report_finding *f, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, "SELECT ?1 ->> '$.k.v' WHERE json_valid(?1)", err);
    if (rc)
        return rc;
    db_bind_str(row, 1, f->finding.args);
    if ((rc = db_step(row, err)) == ERR_OK)
        f->failed_attempts = db_i64(row, 0);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Memory that ran out in the driver says more than that a job or a query failed of it. */
static enum err_code link_failure(struct report *self, size_t position, struct err *err)
{
    struct report_finding *f = &self->findings[position];
    size_t same = self->finding_count;
    enum err_code rc = ERR_OK;
    if (is_rule(f, "JOB.FAILED") && f->finding.subject_kind == SUBJECT_JOB) {
        same = shown_on(self, "TASK.OOM", SUBJECT_JOB, f->finding.subject_key);
    } else if (is_rule(f, "SQL.FAILED") && f->finding.subject_kind == SUBJECT_SQL) {
        same = shown_on(self, "TASK.OOM", SUBJECT_SQL, f->finding.subject_key);
        if (same == self->finding_count)
            rc = job_behind(self, f, jobs_of_query_sql, false, &same, err);
    } else if (is_rule(f, "TASK.FAILURES")) {
        rc = job_behind(self, f, jobs_of_stage_sql, true, &same, err);
        if (!rc)
            rc = read_attempts(self, f, err);
    }
    f->same_as = same < self->finding_count ? same : position;
    return rc;
}

/* ---- one number, wanted otherwise more than once */

/* Rules whose cure is another number of pieces (partitions, tasks); NULL: whatever the cause. */
static const struct {
    const char *rule, *not_of_cause;
} sets_pieces[] = {
    {"STAGE.FEW_TASKS", NULL},     {"STAGE.SINGLE_TASK", NULL},     {"STAGE.TINY_TASKS", "listing"}, {"STAGE.BIG_PARTITION", NULL},
    {"STAGE.SCHED_DELAY", "few"}, {"SQL.SMALL_FILES_WRITE", NULL}, {"STAGE.SPILL", "few"},
};

/* The stage whose pieces they are: the subject, or, of a plan's operator, the one that ran it. */
static enum err_code read_pieces(struct report *self, struct report_finding *f, struct err *err)
{
    bool sets = false;
    for (size_t i = 0; i < ARRAY_LENGTH(sets_pieces); i++)
        sets |= is_rule(f, sets_pieces[i].rule) && !(sets_pieces[i].not_of_cause && f->finding.cause && strcmp(f->finding.cause, sets_pieces[i].not_of_cause) == 0);
    if (!sets)
        return ERR_OK;
    if (f->finding.subject_kind == SUBJECT_STAGE) {
        f->pieces_of = f->finding.subject_key;
        return ERR_OK;
    }
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, "SELECT ?1 ->> '$.written_by.v' WHERE json_valid(?1)", err);
    if (rc)
        return rc;
    db_bind_str(row, 1, f->finding.args);
    if ((rc = db_step(row, err)) == ERR_OK && str_known(db_str(row, 0)) && arena_str(&self->arena, db_str(row, 0), &f->pieces_of))
        rc = err_set(err, ERR_LIMIT, "the findings of this run take more than %zu bytes", REPORT_BYTES);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

size_t report_sets_the_same(const struct report *self, size_t position)
{
    struct str stage = self->findings[position].pieces_of;
    size_t others = 0, first = self->finding_count;
    if (position >= self->shown_count || !str_known(stage))
        return self->finding_count;
    for (size_t i = 0; i < self->shown_count; i++) {
        if (i == position || !str_known(self->findings[i].pieces_of) || !str_eq(self->findings[i].pieces_of, stage))
            continue;
        first = others++ ? first : i;
    }
    size_t lead = others ? verdict_lead(self) : self->finding_count; /* asked last: it looks at all findings */
    if (lead == position)
        return self->finding_count;
    if (lead < self->finding_count && str_known(self->findings[lead].pieces_of) && str_eq(self->findings[lead].pieces_of, stage))
        return lead;
    return first < position ? first : self->finding_count;
}

enum err_code report_link(struct report *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->finding_count; i++) {
        self->findings[i].same_as = i;
        self->findings[i].failed_attempts = UNKNOWN;
        self->findings[i].pieces_of = STR_NONE;
    }
    for (size_t i = 0; i < self->shown_count && !rc; i++)
        if (!(rc = link_failure(self, i, err)))
            rc = read_pieces(self, &self->findings[i], err);
    /* A query by its job, the job by the driver's memory: the end of that chain. */
    for (size_t i = 0; i < self->shown_count; i++)
        self->findings[i].same_as = self->findings[self->findings[i].same_as].same_as;
    return rc;
}
