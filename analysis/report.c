/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/mem.h"

const char *const report_format_names[REPORT_FORMAT_COUNT] = {"text", "json", "html", "markdown"};

/* ---- reading */

static struct str keep(struct report *self, sqlite3_stmt *row, int column, enum err_code *rc)
{
    struct str text = db_str(row, column), out = STR_NONE;
    if (str_known(text) && arena_str(&self->arena, text, &out))
        *rc = ERR_LIMIT;
    return out;
}

static const char *const app_sql =
    "SELECT a.app_id, a.attempt_id, a.name, a.user, a.spark_version, coalesce(a.start_ms, a.first_event_ms), h.complete, "
    "coalesce(a.exit_code, 0) <> 0 OR (h.complete AND coalesce((SELECT status = 2 FROM job WHERE status > 0 ORDER BY coalesce(completion_ms, 0) DESC, job_id LIMIT 1), 0)), "
    "(SELECT t.body FROM job AS j LEFT JOIN text AS t ON t.text_id = j.failure_text_id WHERE j.status = 2 ORDER BY coalesce(j.completion_ms, 0) DESC, j.job_id LIMIT 1), "
    "(SELECT count(*) FROM job), (SELECT count(*) FROM task) "
    "FROM application AS a, log_health AS h";

static enum err_code read_app(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, app_sql, err);
    if (rc)
        return rc;
    if ((rc = db_step(row, err)) == ERR_OK) {
        self->app.id = keep(self, row, 0, &rc);
        self->app.attempt = keep(self, row, 1, &rc);
        self->app.name = keep(self, row, 2, &rc);
        self->app.user = keep(self, row, 3, &rc);
        self->app.spark_version = keep(self, row, 4, &rc);
        self->app.start_ms = db_i64(row, 5);
        self->app.complete = db_i64(row, 6) != 0;
        self->app.failed = db_i64(row, 7) != 0;
        self->app.failure = keep(self, row, 8, &rc);
        self->app.job_count = db_i64(row, 9);
        self->app.task_count = db_i64(row, 10);
    }
    db_finalize(row);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the store holds no application here") : rc;
}

static enum err_code read_analysis(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT analysis_version, begin_ms, end_ms, end_at_least, wall_ms, jobs_ms, completeness, slot_peak, frame_ms, allocated_ms, clock_faults, "
                                  "simulated_ms, simulation_error, bound_infinite_ms, bound_work_ms, prices_allowed FROM analysis",
                                  err);
    if (rc)
        return rc;
    if ((rc = db_step(row, err)) == ERR_OK) {
        int64_t *const numbers[] = {&self->analysis_version, &self->begin_ms, &self->end_ms, NULL, &self->wall_ms, &self->jobs_ms, &self->completeness,
                                    &self->slot_peak, &self->frame_ms, &self->allocated_ms, &self->clock_faults, &self->simulated_ms};
        for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
            if (numbers[i])
                *numbers[i] = db_i64(row, (int)i);
        self->end_at_least = db_i64(row, 3) != 0;
        self->simulation_error = db_f64(row, 12);
        self->bound_infinite_ms = db_i64(row, 13);
        self->bound_work_ms = db_i64(row, 14);
        self->prices_allowed = db_i64(row, 15) != 0;
    }
    db_finalize(row);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "this run has not been analysed yet: 'afterglow analyze' does it") : rc;
}

static enum err_code read_account(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, "SELECT bucket, slot_ms, wall_ms FROM account WHERE scope = 0 AND owner = 0", err);
    if (rc)
        return rc;
    while ((rc = db_step(row, err)) == ERR_OK)
        for (int i = 0; i < BUCKET_COUNT; i++)
            if (str_is(db_str(row, 0), bucket_names[i])) {
                self->account[i].slot_ms = db_i64(row, 1);
                self->account[i].wall_ms = db_i64(row, 2);
                self->account[i].is_there = true;
            }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static int name_index(struct str name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (names[i] && str_is(name, names[i]))
            return i;
    return 0;
}

/* Text that is no JSON would be a fault of ours; it must not spoil an answer all the same. */
#define JSON_OR(column, empty) "CASE WHEN json_valid(" column ") THEN " column " ELSE '" empty "' END"

static const char *const finding_sql =
    "SELECT rule_id, subject_kind, subject_key, measure, price_ms, price_low_ms, price_high_ms, scenario, weak, mute, suppressed_by, confidence, grade_shift, at_most, at_least, "
    "cause, " JSON_OR("args", "{}") ", " JSON_OR("measures", "{}") ", " JSON_OR("evidence", "[]") ", finding_no FROM finding ORDER BY finding_no";

static int clamp(int64_t value, int low, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

static enum err_code take_finding(struct report *self, sqlite3_stmt *row, struct report_finding *ret)
{
    enum err_code rc = ERR_OK;
    struct finding *f = &ret->finding;
    *f = (struct finding){.rule = rule_find(db_str(row, 0)), .measure = db_f64(row, 3), .weak = db_i64(row, 8) == 1, .local_saving_ms = (double)NAN, .cause_share = (double)NAN};
    f->subject_kind = (enum subject_kind)name_index(db_str(row, 1), subject_kind_names, SUBJECT_KIND_COUNT);
    f->subject_key = keep(self, row, 2, &rc);
    f->price.ms = db_i64(row, 4);
    f->price.low_ms = db_i64(row, 5);
    f->price.high_ms = db_i64(row, 6);
    f->scenario = keep(self, row, 7, &rc).ptr;
    f->mute = (enum mute)name_index(db_str(row, 9), mute_names, MUTE_COUNT);
    f->suppressed_by = keep(self, row, 10, &rc);
    f->confidence = clamp(db_i64(row, 11), 0, 2);
    f->grade_shift = clamp(db_i64(row, 12), -4, 4);
    f->at_most = (enum grade)clamp(db_i64(row, 13), GRADE_OK, GRADE_SEVERE);
    f->at_least = (enum grade)clamp(db_i64(row, 14), GRADE_OK, GRADE_SEVERE);
    f->cause = keep(self, row, 15, &rc).ptr;
    f->args = keep(self, row, 16, &rc);
    f->measures = keep(self, row, 17, &rc);
    f->evidence = keep(self, row, 18, &rc);
    return rc;
}

static enum err_code read_findings(struct report *self, const struct profile *profile, struct err *err)
{
    sqlite3_stmt *row = NULL;
    size_t capacity = 0;
    enum err_code rc = db_prepare(self->db, &row, finding_sql, err);
    if (rc)
        return rc;
    while ((rc = db_step(row, err)) == ERR_OK) {
        if (!rule_find(db_str(row, 0)))
            continue;                /* a rule of another version of this program */
        if (mem_grow((void **)&self->findings, &capacity, self->finding_count + 1, (size_t)1 << 20, sizeof *self->findings)) {
            rc = err_nomem(err);
            break;
        }
        struct report_finding *f = &self->findings[self->finding_count];
        if (take_finding(self, row, f)) {
            rc = err_set(err, ERR_LIMIT, "the findings of this run take more than %zu bytes", REPORT_BYTES);
            break;
        }
        f->grade = finding_grade(&f->finding, profile, self->wall_ms);
        f->margin = finding_margin(&f->finding, profile);
        f->is_shown = f->grade >= GRADE_INFO && f->finding.mute == MUTE_NONE && !str_known(f->finding.suppressed_by);
        self->shown_count += f->is_shown;
        self->finding_count++;
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Health rules that come first in their grade, before those with a price (8.2). */
static bool leads(const struct finding *f)
{
    return strcmp(f->rule->id, "JOB.FAILED") == 0 || strcmp(f->rule->id, "STREAM.FAILED") == 0 || strcmp(f->rule->id, "LOG.INCOMPLETE") == 0;
}

static int compare_findings(const void *left, const void *right)
{
    const struct report_finding *a = left, *b = right;
    if (a->is_shown != b->is_shown)
        return a->is_shown ? -1 : 1;
    if (a->is_shown && a->grade != b->grade)
        return a->grade > b->grade ? -1 : 1;
    if (a->is_shown && leads(&a->finding) != leads(&b->finding))
        return leads(&a->finding) ? -1 : 1;
    int64_t a_price = known_or(a->finding.price.ms, -1), b_price = known_or(b->finding.price.ms, -1);
    if (a->is_shown && a_price != b_price)
        return a_price > b_price ? -1 : 1;
    double a_margin = isnan(a->margin) ? -1 : a->margin, b_margin = isnan(b->margin) ? -1 : b->margin;
    if (!a->is_shown && a_margin != b_margin)
        return a_margin > b_margin ? -1 : 1;
    int by_rule = strcmp(a->finding.rule->id, b->finding.rule->id);
    return by_rule ? by_rule : str_compare(a->finding.subject_key, b->finding.subject_key);
}

static enum err_code read_joint(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT f.rule_id, f.subject_kind, f.subject_key, p.saving_ms FROM joint_price AS p JOIN finding AS f USING (finding_no) ORDER BY p.k LIMIT 10", err);
    if (rc)
        return rc;
    while ((rc = db_step(row, err)) == ERR_OK && self->joint_count < ARRAY_LENGTH(self->joint))
        for (size_t i = 0; i < self->finding_count; i++) {
            const struct finding *f = &self->findings[i].finding;
            if (!str_is(db_str(row, 0), f->rule->id) || !str_is(db_str(row, 1), subject_kind_names[f->subject_kind]) || !str_eq(db_str(row, 2), f->subject_key))
                continue;
            self->joint[self->joint_count].finding = i;
            self->joint[self->joint_count++].saving_ms = db_i64(row, 3);
            break;
        }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code report_load(struct report *ret, struct db *app, const struct profile *profile, struct err *err)
{
    *ret = (struct report){.db = app};
    arena_init(&ret->arena, REPORT_BYTES);
    enum err_code rc = read_app(ret, err);
    if (!rc)
        rc = read_analysis(ret, err);
    if (!rc)
        rc = read_account(ret, err);
    if (!rc)
        rc = read_findings(ret, profile, err);
    if (!rc && ret->finding_count)
        qsort(ret->findings, ret->finding_count, sizeof *ret->findings, compare_findings);
    if (!rc)
        rc = read_joint(ret, err);
    if (rc)
        report_dispose(ret);
    return rc;
}

void report_dispose(struct report *self)
{
    mem_free(self->findings);
    arena_dispose(&self->arena);
    *self = (struct report){0};
}

/* ---- the texts of a finding */

enum err_code report_args(struct report *self, const struct finding *finding, struct word_arg ret[REPORT_ARGS], size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret_count = 0;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT key, value ->> 'v', value ->> 'u', typeof(value ->> 'v') = 'text' FROM json_each(?1) WHERE type = 'object' "
                                  "UNION ALL SELECT key, value ->> 'v', value ->> 'u', typeof(value ->> 'v') = 'text' FROM json_each(?2) WHERE type = 'object'",
                                  err);
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->args);
    db_bind_str(row, 2, finding->measures);
    while ((rc = db_step(row, err)) == ERR_OK && *ret_count < REPORT_ARGS) {
        struct word_arg *arg = &ret[*ret_count];
        enum err_code full = ERR_OK;
        *arg = (struct word_arg){.name = keep(self, row, 0, &full), .unit = keep(self, row, 2, &full), .value = (double)NAN};
        if (db_i64(row, 3) == 1)
            arg->text = keep(self, row, 1, &full);
        else
            arg->value = db_f64(row, 1);
        if (full) {
            rc = err_set(err, ERR_LIMIT, "the findings of this run take more than %zu bytes", REPORT_BYTES);
            break;
        }
        (*ret_count)++;
    }
    db_finalize(row);
    return rc == ERR_EOF || rc == ERR_OK ? ERR_OK : rc;
}

static enum err_code read_cells(struct report *self, const struct finding *finding, struct report_evidence *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT e.key, e.value ->> 'kind', e.value ->> 'key', e.value ->> 'role', c.value ->> 'n', c.value ->> 'v', c.value ->> 'u', "
                                  "typeof(c.value ->> 'v') = 'text' FROM json_each(?1) AS e, json_each(e.value, '$.cols') AS c WHERE e.type = 'object' AND c.type = 'object' "
                                  "ORDER BY e.id, c.id LIMIT 2000",
                                  err);
    size_t capacity = 0;
    struct report_cell *cells = NULL;
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->evidence);
    while ((rc = db_step(row, err)) == ERR_OK) {
        enum err_code full = ERR_OK;
        if (mem_grow((void **)&cells, &capacity, ret->count + 1, 2000, sizeof *cells)) {
            rc = err_nomem(err);
            break;
        }
        struct report_cell *cell = &cells[ret->count];
        *cell = (struct report_cell){.row = (size_t)known_or(db_i64(row, 0), 0), .kind = keep(self, row, 1, &full), .key = keep(self, row, 2, &full), .role = keep(self, row, 3, &full),
                                     .name = keep(self, row, 4, &full), .unit = keep(self, row, 6, &full), .value = (double)NAN};
        if (db_i64(row, 7) == 1)
            cell->text = keep(self, row, 5, &full);
        else
            cell->value = db_f64(row, 5);
        if (full) {
            rc = err_set(err, ERR_LIMIT, "the evidence of this run takes more than %zu bytes", REPORT_BYTES);
            break;
        }
        ret->row_count += ret->count == 0 || cells[ret->count - 1].row != cell->row;
        ret->count++;
    }
    db_finalize(row);
    if (ret->count && (ret->cells = arena_alloc(&self->arena, ret->count * sizeof *cells)) != NULL)
        memcpy(ret->cells, cells, ret->count * sizeof *cells);
    else
        ret->count = 0;
    mem_free(cells);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code report_evidence(struct report *self, const struct finding *finding, struct report_evidence *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret = (struct report_evidence){.threshold = (double)NAN};
    enum err_code rc = read_cells(self, finding, ret, err);
    if (!rc)
        rc = db_prepare(self->db, &row,
                        "SELECT value ->> 'formula', value ->> 'threshold', value ->> 'source', value ->> 'filter' FROM json_each(?1) "
                        "WHERE type = 'object' AND value ->> 'formula' IS NOT NULL LIMIT 1",
                        err);
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->evidence);
    if ((rc = db_step(row, err)) == ERR_OK) {
        ret->formula = keep(self, row, 0, &rc);
        ret->threshold = db_f64(row, 1);
        ret->source = keep(self, row, 2, &rc);
        ret->filter = keep(self, row, 3, &rc);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void rule_text(struct buf *out, enum lang lang, const struct finding *finding, const char *part, const struct word_arg *args, size_t count)
{
    const char *text = message(lang, "rules", str_of(finding->rule->id), part);
    word_fill(out, lang, text ? text : finding->rule->id, args, count);
}

void report_sentence(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count)
{
    if (finding->confidence == 0)
        buf_text(out, message_of(lang, "verdict", "possibly"));
    rule_text(out, lang, finding, "sentence", args, count);
}

void report_advice(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count)
{
    rule_text(out, lang, finding, "do", args, count);
}

const char *report_rule_name(enum lang lang, const struct finding *finding)
{
    const char *name = message(lang, "rules", str_of(finding->rule->id), "name");
    return name ? name : finding->rule->id;
}

void report_subject(struct buf *out, enum lang lang, struct str kind, struct str key)
{
    const char *text = message(lang, "kinds", kind, NULL);
    const struct word_arg arg = {.name = STR_LIT("key"), .text = key, .unit = STR_NONE, .value = (double)NAN};
    if (text)
        word_fill(out, lang, text, &arg, 1);
    else
        word_text(out, key, 300);
}

/* ---- what the log lacks */

static void add_missing(struct buf *out, enum lang lang, const char *what, double n, double all, struct str list)
{
    const struct word_arg args[] = {{.name = STR_LIT("n"), .value = n, .unit = STR_LIT("count")}, {.name = STR_LIT("all"), .value = all, .unit = STR_LIT("count")},
                                    {.name = STR_LIT("list"), .text = list}};
    if (out->len)
        buf_text(out, lang == LANG_ZH_CN ? "；" : "; ");
    word_fill(out, lang, message_of(lang, "report", what), args, ARRAY_LENGTH(args));
}

enum err_code report_missing(struct report *self, enum lang lang, struct buf *out, struct err *err)
{
    static const char *const counts[] = {"missing_tasks", "missing_jobs", "missing_stages", "missing_lines"};
    static const char *const facts[] = {"missing_start", "missing_end", "missing_cut", "missing_compacted"};
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT tasks_without_end, jobs_without_end, stages_without_end, bad_line_count, no_application_start, NOT complete, cut, compacted, missing_files "
                                  "FROM log_health",
                                  err);
    if (rc)
        return rc;
    if ((rc = db_step(row, err)) == ERR_OK) {
        for (int i = 0; i < (int)ARRAY_LENGTH(counts); i++)
            if (db_i64(row, i) > 0)
                add_missing(out, lang, counts[i], (double)db_i64(row, i), (double)self->app.task_count, STR_NONE);
        for (int i = 0; i < (int)ARRAY_LENGTH(facts); i++)
            if (db_i64(row, 4 + i) > 0)
                add_missing(out, lang, facts[i], (double)NAN, (double)NAN, STR_NONE);
        if (db_str(row, 8).len)
            add_missing(out, lang, "missing_files", (double)NAN, (double)NAN, db_str(row, 8));
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

size_t report_buckets(const struct report *self, enum bucket ret[BUCKET_COUNT])
{
    size_t count = 0;
    for (int i = 0; i < BUCKET_COUNT; i++) {
        if (!self->account[i].is_there || known_or(self->account[i].wall_ms, 0) <= 0)
            continue;
        size_t at = count++;
        for (; at > 0 && self->account[ret[at - 1]].wall_ms < self->account[i].wall_ms; at--)
            ret[at] = ret[at - 1];
        ret[at] = (enum bucket)i;
    }
    return count;
}
