/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis_rows.h"
#include "analysis/failed_job.h"
#include "analysis/finding_order.h"
#include "analysis/interactive.h"
#include "analysis/report_links.h"
#include "base/attributes.h"
#include "base/mem.h"
#include "base/time.h"

const char *const report_format_names[REPORT_FORMAT_COUNT] = {"text", "json", "html", "markdown"};

/* ---- reading */

static struct str keep(struct report *self, sqlite3_stmt *row, int column, enum err_code *rc)
{
    struct str text = db_str(row, column), out = STR_NONE;
    if (str_known(text) && arena_str(&self->arena, text, &out))
        *rc = ERR_LIMIT;
    return out;
}

/* ?1: it is a server, which does not fail with its last job. */
static const char *const app_sql =
    "SELECT a.app_id, a.attempt_id, a.name, a.user, a.spark_version, coalesce(a.start_ms, a.first_event_ms), h.complete, "
    "coalesce(a.exit_code, 0) <> 0 OR (h.complete AND NOT ?1 AND coalesce((SELECT status = 2 FROM job WHERE status > 0 AND NOT (status = 2 AND " STOPPED_WITH_ITS_QUERY ") ORDER BY coalesce(completion_ms, 0) DESC, job_id LIMIT 1), 0)), "
    "(SELECT count(*) FROM job), (SELECT count(*) FROM task), (SELECT count(*) FROM job WHERE status = 2) "
    "FROM application AS a, log_health AS h";

static enum err_code read_app(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = app_is_server(self->db, &self->app.is_server, err);
    if (rc || (rc = db_prepare(self->db, &row, app_sql, err)))
        return rc;
    db_bind_i64(row, 1, self->app.is_server);
    if ((rc = db_step(row, err)) == ERR_OK) {
        self->app.id = keep(self, row, 0, &rc);
        self->app.attempt = keep(self, row, 1, &rc);
        self->app.name = keep(self, row, 2, &rc);
        self->app.user = keep(self, row, 3, &rc);
        self->app.spark_version = keep(self, row, 4, &rc);
        self->app.start_ms = db_i64(row, 5);
        self->app.complete = db_i64(row, 6) != 0;
        self->app.failed = db_i64(row, 7) != 0;
        self->app.job_count = db_i64(row, 8);
        self->app.task_count = db_i64(row, 9);
        self->app.failed_job_count = db_i64(row, 10);
    }
    db_finalize(row);
    if (rc)
        return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the store holds no application here") : rc;
    if ((rc = app_is_shell(self->db, &self->app.is_shell, err)))
        return rc;
    int64_t job_id;
    return failed_job(self->db, &self->arena, &job_id, &self->app.failure, err);
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
        int64_t *const numbers[] = {&self->analysis_version, &self->begin_ms,     &self->end_ms,       NULL,
                                    &self->wall_ms,          &self->jobs_ms,      &self->completeness, &self->slot_peak,
                                    &self->frame_ms,         &self->allocated_ms, &self->clock_faults, &self->simulated_ms};
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

/* Since its last event, or since its file changed, which a copy does later. */
static enum err_code read_age(struct report *self, struct err *err)
{
    int64_t modified_ms;
    enum err_code rc = db_query_i64(self->db, "SELECT max(log_modified_ms) FROM load", &modified_ms, err);
    int64_t changed_ms = min_known(modified_ms, self->end_ms);
    self->app.is_abandoned = !rc && !self->app.complete && known(changed_ms) && changed_ms < time_now_ms() - ABANDONED_AGE_MS;
    return rc;
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

static enum err_code read_findings(struct report *self, const struct profile *profile, struct err *err)
{
    struct stored_findings stored;
    enum err_code rc = analysis_rows_read(self->db, &self->arena, &stored, err);
    if (rc)
        return rc;
    struct findings sorted = {.items = stored.items, .count = stored.count};
    findings_sort(&sorted, profile, self->wall_ms);
    if (!(self->findings = arena_zalloc(&self->arena, stored.count + 1, sizeof *self->findings)))
        return err_set(err, ERR_LIMIT, "the findings of this run take more than %zu bytes", REPORT_BYTES);
    self->finding_count = stored.count;
    for (size_t i = 0; i < stored.count; i++) {
        const struct finding *finding = &stored.items[i];
        if (self->app.is_abandoned && finding->cause && strcmp(finding->cause, "running") == 0)
            stored.items[i].cause = "abandoned";
        self->findings[i] = (struct report_finding){.finding = *finding,
                                                    .grade = finding_grade(finding, profile, self->wall_ms),
                                                    .margin = finding_margin(finding, profile),
                                                    .is_shown = finding_shows(finding, profile, self->wall_ms)};
        self->shown_count += self->findings[i].is_shown;
    }
    return ERR_OK;
}

/* Of the failures that are shown; args that are no JSON have none. */
static enum err_code read_errors(struct report *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "SELECT coalesce(?1 ->> '$.signature.v', ?1 ->> '$.reason.v') WHERE json_valid(?1)", err);
    for (size_t i = 0; i < self->shown_count && !rc; i++) {
        struct report_finding *f = &self->findings[i];
        if (strcmp(f->finding.rule->question, "failure") != 0)
            continue;
        db_bind_str(stmt, 1, f->finding.args);
        if ((rc = db_step(stmt, err)) == ERR_OK)
            f->error = keep(self, stmt, 0, &rc);
        else if (rc == ERR_EOF)
            rc = ERR_OK;
        db_reset(stmt);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code read_joint(struct report *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc =
        db_prepare(self->db, &row, "SELECT f.rule_id, f.subject_kind, f.subject_key, p.saving_ms FROM joint_price AS p JOIN finding AS f USING (finding_no) ORDER BY p.k LIMIT 10",
                   err);
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
        rc = read_age(ret, err);
    if (!rc)
        rc = read_account(ret, err);
    if (!rc)
        rc = read_findings(ret, profile, err);
    if (!rc)
        rc = read_errors(ret, err);
    if (!rc)
        rc = read_joint(ret, err);
    if (!rc)
        rc = report_link(ret, err);
    if (rc)
        report_dispose(ret);
    return rc;
}

void report_dispose(struct report *self)
{
    arena_dispose(&self->arena);
    *self = (struct report){0};
}

/* ---- the texts of a finding */

/* Evidence has at most 50 rows of some ten cells; a stored text that says more is no evidence of ours. */
#define EVIDENCE_CELLS 100000

/* Text that is no JSON would be a fault of ours; it must not spoil the report all the same. */
#define SOUND(json) "CASE WHEN json_valid(" json ") THEN " json " ELSE '[]' END"

/* A word of ours ("problems:no_max"), or several joined by ", ", said in words; STR_NONE: it is none of ours. */
static struct str in_words(struct report *self, enum lang lang, struct str name, struct str codes)
{
    CLEANUP(buf_dispose) struct buf out;
    char entry[160];
    buf_init(&out, 4096);
    for (size_t at = 0; at <= codes.len;) {
        const char *comma = memmem(codes.ptr + at, codes.len - at, ", ", 2);
        size_t len = comma ? (size_t)(comma - codes.ptr) - at : codes.len - at;
        int wrote = snprintf(entry, sizeof entry, "%.*s:%.*s", (int)MIN(name.len, (size_t)40), name.ptr, (int)MIN(len, (size_t)100), codes.ptr + at);
        const char *word = wrote > 0 && (size_t)wrote < sizeof entry ? message(lang, "words", str_of(entry), NULL) : NULL;
        if (!word)
            return STR_NONE;
        buf_printf(&out, "%s%s", at ? lang == LANG_ZH_CN ? "、" : ", " : "", word);
        at += len + 2;
    }
    struct str kept = STR_LIT("");
    return out.len && arena_str(&self->arena, buf_str(&out), &kept) ? STR_NONE : kept;
}

/* Where a placeholder may be of several units, the sentence cannot name them: "x:records" does. */
static struct str with_unit(struct report *self, enum lang lang, const struct word_arg *arg)
{
    CLEANUP(buf_dispose) struct buf out;
    char entry[80];
    buf_init(&out, 4096);
    snprintf(entry, sizeof entry, "%.*s:%.*s", (int)MIN(arg->name.len, (size_t)30), arg->name.ptr, (int)MIN(arg->unit.len, (size_t)30), arg->unit.ptr ? arg->unit.ptr : "");
    const char *word = message(lang, "words", str_of(entry), NULL);
    const struct word_arg value = {.name = STR_LIT("v"), .value = arg->value, .unit = arg->unit};
    if (!word)
        return STR_NONE;
    word_fill(&out, word, &value, 1);
    struct str kept;
    return out.len && !arena_str(&self->arena, buf_str(&out), &kept) ? kept : STR_NONE;
}

/* A place is a machine or an executor, and its key alone does not say which. */
static struct str as_subject(struct report *self, enum lang lang, const struct finding *finding)
{
    CLEANUP(buf_dispose) struct buf out;
    struct str kept;
    buf_init(&out, 4096);
    report_subject(&out, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
    return out.len && !arena_str(&self->arena, buf_str(&out), &kept) ? kept : STR_NONE;
}

static void say_in_words(struct report *self, enum lang lang, const struct finding *finding, struct word_arg *arg)
{
    struct str words = STR_NONE;
    if (str_known(arg->text) && (str_is(arg->name, "host") || str_is(arg->name, "who")) && str_eq(arg->text, finding->subject_key))
        words = as_subject(self, lang, finding);
    else if (str_known(arg->text))
        words = in_words(self, lang, arg->name, arg->text);
    else if (str_is(arg->unit, "flag"))
        words = in_words(self, lang, arg->name, arg->value == 1 ? STR_LIT("1") : STR_LIT("0"));
    else
        words = with_unit(self, lang, arg);
    if (str_known(words))
        arg->text = words;
}

/* The rule knows how much is missing; what that is called is said here, with what the load saw beside it. */
static enum err_code say_missing(struct report *self, enum lang lang, struct word_arg *arg, struct err *err)
{
    CLEANUP(buf_dispose) struct buf missing;
    buf_init(&missing, 4096);
    enum err_code rc = report_missing(self, lang, &missing, err);
    struct str kept;
    if (!rc && missing.len && !arena_str(&self->arena, buf_str(&missing), &kept))
        arg->text = kept;
    return rc;
}

/* clang-format off */
static const char args_sql[] =
    "SELECT key, value ->> 'v', value ->> 'u', typeof(value ->> 'v') = 'text' FROM json_each(" SOUND("?1") ") WHERE type = 'object' "
    "UNION ALL SELECT key, value ->> 'v', value ->> 'u', typeof(value ->> 'v') = 'text' FROM json_each(" SOUND("?2") ") WHERE type = 'object'";
static const char cells_sql[] =
    "SELECT e.key, e.value ->> 'kind', e.value ->> 'key', e.value ->> 'role', c.value ->> 'n', c.value ->> 'v', c.value ->> 'u', typeof(c.value ->> 'v') = 'text' "
    "FROM json_each(" SOUND("?1") ") AS e LEFT JOIN json_each(e.value, '$.cols') AS c ON c.type = 'object' WHERE e.type = 'object' AND (c.id IS NOT NULL OR e.value ->> 'role' = 'culprit') "
    "ORDER BY e.id, c.id";
static const char formula_sql[] =
    "SELECT value ->> '$.formula.variant', value -> '$.formula.numbers', value ->> 'threshold', value ->> 'source' FROM json_each(" SOUND("?1") ") "
    "WHERE type = 'object' AND json_type(value, '$.formula') = 'object' LIMIT 1";
static const char filter_sql[] = "SELECT value ->> 'filter' FROM json_each(" SOUND("?1") ") WHERE type = 'object' AND json_type(value, '$.filter') = 'text' LIMIT 1";
static const char numbers_sql[] = "SELECT key, value ->> 'v', value ->> 'u' FROM json_each(" SOUND("?1") ") WHERE type = 'object'";
/* clang-format on */

enum err_code report_args(struct report *self, enum lang lang, const struct finding *finding, struct word_arg ret[REPORT_ARGS], size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret_count = 0;
    enum err_code rc = db_prepare(self->db, &row, args_sql, err);
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->args);
    db_bind_str(row, 2, finding->measures);
    while (*ret_count < REPORT_ARGS && (rc = db_step(row, err)) == ERR_OK) {
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
        say_in_words(self, lang, finding, arg);
        (*ret_count)++;
    }
    db_finalize(row);
    if (rc == ERR_EOF)
        rc = ERR_OK;
    for (size_t i = 0; i < *ret_count && !rc; i++)
        if (str_is(ret[i].name, "missing"))
            rc = say_missing(self, lang, &ret[i], err);
    return rc;
}

static enum err_code read_cells(struct report *self, const struct finding *finding, struct report_evidence *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, cells_sql, err);
    size_t capacity = 0;
    struct report_cell *cells = NULL;
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->evidence);
    while ((rc = db_step(row, err)) == ERR_OK) {
        enum err_code full = ERR_OK;
        if (mem_grow((void **)&cells, &capacity, ret->count + 1, EVIDENCE_CELLS, sizeof *cells)) {
            rc = err_nomem(err);
            break;
        }
        struct report_cell *cell = &cells[ret->count];
        *cell = (struct report_cell){.row = (size_t)known_or(db_i64(row, 0), 0),
                                     .kind = keep(self, row, 1, &full),
                                     .key = keep(self, row, 2, &full),
                                     .role = keep(self, row, 3, &full),
                                     .name = keep(self, row, 4, &full),
                                     .unit = keep(self, row, 6, &full),
                                     .value = (double)NAN};
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

static const char *rule_text(enum lang lang, const struct finding *finding, const char *part)
{
    return message(lang, "rules", str_of(finding->rule->id), part);
}

/* Numbers of a formula go before placeholders of the same name. */
static enum err_code read_numbers(struct report *self, struct str json, struct word_arg ret[REPORT_ARGS], size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, numbers_sql, err);
    if (rc)
        return rc;
    db_bind_str(row, 1, json);
    while (*ret_count < REPORT_ARGS && (rc = db_step(row, err)) == ERR_OK) {
        enum err_code full = ERR_OK;
        ret[(*ret_count)++] = (struct word_arg){.name = keep(self, row, 0, &full), .value = db_f64(row, 1), .unit = keep(self, row, 2, &full)};
        if (full) {
            rc = err_set(err, ERR_LIMIT, "the evidence of this run takes more than %zu bytes", REPORT_BYTES);
            break;
        }
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* How the measure came about, in words; nothing where an older analysis stored it otherwise. */
static enum err_code say_formula(struct report *self, enum lang lang, const struct finding *finding, struct str variant, struct str numbers, const struct word_arg *args,
                                 size_t count, struct str *ret, struct err *err)
{
    struct word_arg all[2 * REPORT_ARGS + 1] = {{.name = STR_LIT("m"), .value = finding->measure, .unit = str_of(finding->rule->unit)}};
    size_t used = 1;
    char part[60];
    enum err_code rc = read_numbers(self, numbers, all, &used, err);
    if (rc)
        return rc;
    memcpy(all + used, args, count * sizeof *args);
    snprintf(part, sizeof part, "formula%s%.*s", variant.len ? "_" : "", (int)MIN(variant.len, (size_t)40), variant.ptr ? variant.ptr : "");
    const char *text = rule_text(lang, finding, part);
    CLEANUP(buf_dispose) struct buf out, division;
    buf_init(&out, 4096);
    buf_init(&division, 4096);
    /* Of something divided by next to nothing the division is told, not its result. */
    const char *result = text && strcmp(finding->rule->unit, "ratio") == 0 && finding->measure > WORDING_RATIO_MAX ? strstr(text, " = {m}") : NULL;
    if (result) {
        buf_append(&division, text, (size_t)(result - text));
        buf_text(&division, result + strlen(" = {m}"));
        text = division.data;
    }
    if (text)
        word_fill(&out, text, all, used + count);
    return out.len && arena_str(&self->arena, buf_str(&out), ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code read_filter(struct report *self, const struct finding *finding, struct str *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, filter_sql, err);
    *ret = STR_NONE;
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->evidence);
    if ((rc = db_step(row, err)) == ERR_OK)
        *ret = keep(self, row, 0, &rc);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code report_evidence(struct report *self, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count, struct report_evidence *ret,
                              struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret = (struct report_evidence){.threshold = (double)NAN};
    enum err_code rc = read_cells(self, finding, ret, err);
    if (!rc)
        rc = db_prepare(self->db, &row, formula_sql, err);
    if (rc)
        return rc;
    struct str variant = STR_NONE, numbers = STR_NONE;
    bool any = false;
    db_bind_str(row, 1, finding->evidence);
    if ((rc = db_step(row, err)) == ERR_OK) {
        any = true;
        variant = keep(self, row, 0, &rc);
        numbers = keep(self, row, 1, &rc);
        ret->threshold = db_f64(row, 2);
        ret->source = keep(self, row, 3, &rc);
    }
    db_finalize(row);
    if (any && !rc)
        rc = say_formula(self, lang, finding, variant, numbers, args, count, &ret->formula, err);
    return rc && rc != ERR_EOF ? rc : read_filter(self, finding, &ret->filter, err);
}

void report_sentence(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count)
{
    if (finding->confidence == 0)
        buf_text(out, message_of(lang, "verdict", "possibly"));
    char part[64];
    snprintf(part, sizeof part, "sentence_%s", finding->cause ? finding->cause : "");
    const char *of_cause = rule_text(lang, finding, part);
    const char *sentence = of_cause ? of_cause : rule_text(lang, finding, "sentence"), *shorter = rule_text(lang, finding, "shorter");
    word_fill(out, shorter && word_lacks(sentence, args, count) ? shorter : sentence, args, count);
}

void report_advice(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count)
{
    char part[64];
    snprintf(part, sizeof part, "do_%s", finding->cause ? finding->cause : "");
    const char *of_cause = rule_text(lang, finding, part);
    if (!of_cause && finding->cause && (strcmp(finding->rule->question, "failure") == 0 || strcmp(finding->rule->id, "TASK.OOM") == 0))
        of_cause = message(lang, "failures", str_of(finding->cause), NULL);
    const char *advice = of_cause ? of_cause : rule_text(lang, finding, "do"), *shorter = rule_text(lang, finding, "do_shorter");
    word_fill(out, shorter && word_lacks(advice, args, count) ? shorter : advice, args, count);
}

const char *report_rule_name(enum lang lang, const struct finding *finding)
{
    char part[64];
    snprintf(part, sizeof part, "name_%s", finding->cause ? finding->cause : "");
    const char *of_cause = rule_text(lang, finding, part);
    return of_cause ? of_cause : rule_text(lang, finding, "name");
}

void report_subject(struct buf *out, enum lang lang, struct str kind, struct str key)
{
    const char *text = message(lang, "kinds", kind, NULL);
    const char *slash = key.len ? memchr(key.ptr, '/', key.len) : NULL; /* "query/operator" */
    size_t before = slash ? (size_t)(slash - key.ptr) : key.len;
    const struct word_arg ids[] = {{.name = STR_LIT("key"), .text = key, .value = (double)NAN},
                                   {.name = STR_LIT("query"), .text = {key.ptr, before}, .value = (double)NAN},
                                   {.name = STR_LIT("operator"), .text = {key.ptr + before + (slash != NULL), key.len - before - (slash != NULL)}, .value = (double)NAN}};
    if (text)
        word_fill(out, text, ids, ARRAY_LENGTH(ids));
    else
        word_text(out, key, 300);
}

/* ---- what the log lacks */

static void add_missing(struct buf *out, enum lang lang, const char *what, double n, double all, struct str list)
{
    const struct word_arg args[] = {{.name = STR_LIT("n"), .value = n, .unit = STR_LIT("count")},
                                    {.name = STR_LIT("all"), .value = all, .unit = STR_LIT("count")},
                                    {.name = STR_LIT("list"), .text = list}};
    if (out->len)
        buf_text(out, lang == LANG_ZH_CN ? "；" : "; ");
    word_fill(out, message_of(lang, "report", what), args, ARRAY_LENGTH(args));
}

enum err_code report_missing(struct report *self, enum lang lang, struct buf *out, struct err *err)
{
    static const char *const counts[] = {"missing_tasks", "missing_jobs", "missing_stages", "missing_sqls", "missing_lines"};
    static const char *const facts[] = {"missing_start", "missing_end", "missing_cut", "missing_compacted"};
    sqlite3_stmt *row = NULL;
    enum err_code rc =
        db_prepare(self->db, &row,
                   "SELECT tasks_without_end, jobs_without_end, stages_without_end, (SELECT count(*) FROM sql_execution WHERE start_seen AND NOT end_seen), bad_line_count, "
                   "no_application_start, NOT complete, cut, compacted, missing_files FROM log_health",
                   err);
    if (rc)
        return rc;
    if ((rc = db_step(row, err)) == ERR_OK) {
        for (int i = 0; i < (int)ARRAY_LENGTH(counts); i++)
            if (db_i64(row, i) > 0)
                add_missing(out, lang, counts[i], (double)db_i64(row, i), (double)self->app.task_count, STR_NONE);
        for (int i = 0; i < (int)ARRAY_LENGTH(facts); i++)
            if (db_i64(row, (int)ARRAY_LENGTH(counts) + i) > 0)
                add_missing(out, lang, facts[i], (double)NAN, (double)NAN, STR_NONE);
        struct str files = db_str(row, (int)(ARRAY_LENGTH(counts) + ARRAY_LENGTH(facts)));
        if (files.len)
            add_missing(out, lang, "missing_files", (double)NAN, (double)NAN, files);
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
