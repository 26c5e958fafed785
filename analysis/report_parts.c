/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report_parts.h"

#include <math.h>
#include <string.h>

#include "analysis/error_text.h"
#include "analysis/verdict.h"
#include "base/attributes.h"

#define COMPLETE_FOR_PRICES 95        /* below it nothing is priced (spec/findings.md 2.3) */
#define TEXT_BYTES ((size_t)64 << 10) /* of one sentence with its values, which are cut at 300 bytes each */

struct word_arg report_number(const char *name, double value, const char *unit)
{
    return (struct word_arg){.name = str_of(name), .unit = str_of(unit), .value = value};
}

struct word_arg report_text(const char *name, struct str text)
{
    return (struct word_arg){.name = str_of(name), .text = text, .value = (double)NAN};
}

double report_ms(int64_t ms)
{
    return known(ms) ? (double)ms : (double)NAN;
}

const char *report_colon(enum lang lang)
{
    return lang == LANG_ZH_CN ? "：" : ": ";
}

const char *report_comma(enum lang lang)
{
    return lang == LANG_ZH_CN ? "，" : ", ";
}

const char *report_grade_name(enum lang lang, enum grade grade)
{
    return message_of(lang, "grades", grade_names[grade]);
}

bool report_cell_is_news(const struct report_cell *cell)
{
    return str_known(cell->text) || cell->value > 0 || cell->value < 0;
}

void report_cell_name(struct buf *out, enum lang lang, struct str name)
{
    const char *known_name = message(lang, "cells", name, NULL);
    if (known_name)
        buf_text(out, known_name);
    else
        word_text(out, name, 60);
}

bool report_evidence_row(struct buf *out, enum lang lang, const struct report_evidence *evidence, size_t *at)
{
    if (*at >= evidence->count)
        return false;
    const struct report_cell *cell = &evidence->cells[*at];
    size_t row = cell->row;
    const char *separator = report_colon(lang);
    report_subject(out, lang, cell->kind, cell->key);
    for (; *at < evidence->count && (cell = &evidence->cells[*at])->row == row; ++*at) {
        if (!report_cell_is_news(cell))
            continue;
        buf_text(out, separator);
        separator = report_comma(lang);
        report_cell_name(out, lang, cell->name);
        buf_char(out, ' ');
        if (str_known(cell->text))
            word_text(out, cell->text, 120);
        else
            word_value(out, cell->value, cell->unit);
    }
    return true;
}

const char *report_bucket_name(enum lang lang, enum bucket bucket)
{
    const char *name = message(lang, "buckets", str_of(bucket_names[bucket]), "name");
    return name ? name : bucket_names[bucket];
}

void report_say(struct buf *out, enum lang lang, const char *what, const struct word_arg *args, size_t count)
{
    word_fill(out, message_of(lang, "report", what), args, count);
}

struct str report_keep(struct report *report, struct buf *text)
{
    struct str out = STR_LIT("");
    if (!buf_failed(text) && text->len && arena_str(&report->arena, buf_str(text), &out))
        out = STR_LIT("");
    buf_clear(text);
    return out;
}

static void say_saving(struct buf *out, enum lang lang, const struct finding *finding)
{
    const struct word_arg args[] = {report_number("ms", report_ms(finding->price.ms), "ms"), report_number("low", report_ms(finding->price.low_ms), "ms"),
                                    report_number("high", report_ms(finding->price.high_ms), "ms")};
    report_say(out, lang, "saves", args, ARRAY_LENGTH(args));
}

/* ---- where a subject comes from */

#define CODE_BYTES 160 /* of a call or a query: enough to know it again */

static const struct {
    enum subject_kind kind;
    const char *sql; /* the call, the query; ?1 is the key of the subject */
} code_sql[] = {
    {SUBJECT_JOB,
     "SELECT j.name, coalesce(q.description, j.description) FROM job AS j LEFT JOIN sql_execution AS q ON q.execution_id = j.sql_execution_id WHERE job_id = CAST(?1 AS INTEGER)"},
    {SUBJECT_STAGE, "SELECT s.name, coalesce(q.description, s.description) FROM stage AS s LEFT JOIN sql_execution AS q ON q.execution_id = s.sql_execution_id "
                    "WHERE stage_id = CAST(?1 AS INTEGER) AND attempt = CAST(substr(?1, instr(?1, '.') + 1) AS INTEGER)"},
    {SUBJECT_SQL, "SELECT NULL, description FROM sql_execution WHERE execution_id = CAST(?1 AS INTEGER)"},
    {SUBJECT_NODE, "SELECT NULL, description FROM sql_execution WHERE execution_id = CAST(?1 AS INTEGER)"}, /* "query/operator" */
    {SUBJECT_RDD, "SELECT callsite, NULL FROM rdd WHERE rdd_id = CAST(?1 AS INTEGER)"},
};

/* Python's calls into SQL all come from one line of Java, and so do those of clients of a server: it says nothing. Nor do requests of Connect as their
 * wire has them, which nobody wrote. */
static struct str call_of(struct str name)
{
    if (str_starts(name, "Spark Connect - "))
        return STR_NONE;
    static const char *const gateways[] = {" at NativeMethodAccessorImpl.java:", " at AccessController.java:"};
    for (size_t i = 0; i < ARRAY_LENGTH(gateways); i++) {
        const char *at = name.len ? memmem(name.ptr, name.len, gateways[i], strlen(gateways[i])) : NULL;
        if (at)
            name.len = (size_t)(at - name.ptr);
    }
    return name;
}

static enum err_code say_code(struct report *report, const struct finding *finding, struct buf *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(code_sql); i++) {
        if (code_sql[i].kind != finding->subject_kind)
            continue;
        if ((rc = db_prepare(report->db, &row, code_sql[i].sql, err)))
            return rc;
        db_bind_str(row, 1, finding->subject_key);
        if ((rc = db_step(row, err)) == ERR_OK) {
            struct str call = call_of(db_str(row, 0)), query = call_of(db_str(row, 1));
            if (call.len)
                word_text(out, call, CODE_BYTES);
            if (query.len && !str_eq(call, query)) {
                buf_text(out, call.len ? " · " : "");
                word_text(out, query, CODE_BYTES);
            }
        }
        db_finalize(row);
        return rc == ERR_EOF ? ERR_OK : rc;
    }
    return ERR_OK;
}

enum err_code report_item(struct report *report, size_t position, enum lang lang, struct report_item *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, TEXT_BYTES);
    const struct finding *finding = &report->findings[position].finding;
    *ret = (struct report_item){.graded = &report->findings[position], .finding = finding, .name = report_rule_name(lang, finding)};
    enum err_code rc = report_args(report, lang, finding, ret->args, &ret->arg_count, err);
    if (!rc)
        rc = report_evidence(report, lang, finding, ret->args, ret->arg_count, &ret->evidence, err);
    if (rc)
        return rc;
    report_subject(&text, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
    ret->subject = report_keep(report, &text);
    if ((rc = say_code(report, finding, &text, err)))
        return rc;
    if (text.len)
        ret->code = report_keep(report, &text);
    report_sentence(&text, lang, finding, ret->args, ret->arg_count);
    ret->sentence = report_keep(report, &text);
    report_advice(&text, lang, finding, ret->args, ret->arg_count);
    ret->advice = report_keep(report, &text);
    for (size_t i = 0; i < ret->arg_count; i++)
        if (str_is(ret->args[i].name, "origin") && str_known(ret->args[i].text)) {
            word_text(&text, ret->args[i].text, ERROR_ORIGIN_BYTES);
            ret->origin = report_keep(report, &text);
        }
    if (!finding_is_usual(finding) && known(finding->price.ms) && price_grade(finding->price.ms, report->wall_ms) > GRADE_OK) {
        say_saving(&text, lang, finding);
        ret->saving = report_keep(report, &text);
    }
    return ERR_OK;
}

void report_together(struct buf *out, const struct report *report, enum lang lang)
{
    if (report->joint_count < 2 || !known(verdict_saving_ms(report)))
        return;
    const struct word_arg args[] = {report_number("k", (double)report->joint_count, "count"), report_number("ms", report_ms(verdict_saving_ms(report)), "ms")};
    report_say(out, lang, "together", args, ARRAY_LENGTH(args));
}

void report_others(struct buf *out, const struct report *report, const struct report_group *group, enum lang lang)
{
    const char *separator = lang == LANG_ZH_CN ? "、" : ", ";
    for (size_t i = 0; i < group->other_count; i++) {
        const struct finding *finding = &report->findings[group->others[i]].finding;
        buf_text(out, i ? separator : "");
        report_subject(out, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
        if (!finding_is_usual(finding) && price_grade(finding->price.ms, report->wall_ms) > GRADE_OK) {
            buf_text(out, lang == LANG_ZH_CN ? "（" : " (");
            word_duration(out, (double)finding->price.ms);
            buf_text(out, lang == LANG_ZH_CN ? "）" : ")");
        }
    }
    if (group->count > group->other_count + 1) {
        const struct word_arg n = report_number("n", (double)(group->count - group->other_count - 1), "count");
        buf_text(out, group->other_count ? report_comma(lang) : "");
        report_say(out, lang, "others_more", &n, 1);
    }
}

enum report_part report_part_of(const struct report *report, size_t position, size_t lead)
{
    const struct report_finding *f = &report->findings[position];
    if (position == lead)
        return PART_LEAD;
    if (finding_is_usual(&f->finding))
        return PART_USUAL;
    return f->grade < GRADE_LOW ? PART_NOTE : finding_is_symptom(&f->finding) ? PART_SYMPTOM : PART_CAUSE;
}

static void add_to_group(const struct report *report, size_t position, bool is_full, struct report_groups *ret)
{
    const struct report_finding *f = &report->findings[position];
    size_t at = 0, of_rule = 0, last = 0;
    for (; at < ret->count; at++) {
        const struct report_finding *first = &report->findings[ret->of[at].first];
        if (first->finding.rule != f->finding.rule)
            continue;
        if (str_eq(first->error, f->error))
            break;
        of_rule++;
        last = at;
    }
    if (at == ret->count && of_rule == REPORT_ERRORS) {
        ret->of[last].count++;
        return;
    }
    if (at == ARRAY_LENGTH(ret->of))
        return;
    struct report_group *group = &ret->of[at];
    if (at == ret->count) {
        ret->count++;
        group->first = position;
        ret->full_count += is_full && ret->full_count < REPORT_FULL_RULES && ret->full_count == at;
    } else if (group->other_count < REPORT_FURTHER_SUBJECTS) {
        group->others[group->other_count++] = position;
    }
    group->count++;
}

void report_group(const struct report *report, struct report_groups *ret)
{
    size_t lead = verdict_lead(report);
    *ret = (struct report_groups){0};
    for (int part = 0; part < PART_COUNT; part++)
        for (size_t i = 0; i < report->shown_count; i++)
            if ((int)report_part_of(report, i, lead) == part)
                add_to_group(report, i, part <= PART_SYMPTOM, ret);
}

bool report_note_advises(const struct report_item *item)
{
    return item->advice.len > 0 && !finding_is_no_fault(item->finding);
}

enum err_code report_verdict(struct report *report, enum lang lang, struct str *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, TEXT_BYTES);
    enum err_code rc = verdict_app(report, lang, &text, err);
    *ret = report_keep(report, &text);
    return rc;
}

size_t report_account_rows(struct report *report, enum lang lang, struct report_account_row ret[BUCKET_COUNT + 1])
{
    CLEANUP(buf_dispose) struct buf name;
    enum bucket buckets[BUCKET_COUNT];
    size_t all = report_buckets(report, buckets), count = 0;
    int64_t small_ms = 0;
    buf_init(&name, 256);
    for (size_t i = 0; i < all; i++) {
        int64_t ms = report->account[buckets[i]].wall_ms;
        double share = report->wall_ms > 0 ? (double)ms / (double)report->wall_ms : 0;
        if (share < REPORT_SMALL_BUCKET)
            small_ms += ms;
        else
            ret[count++] =
                (struct report_account_row){str_of(report_bucket_name(lang, buckets[i])), message(lang, "buckets", str_of(bucket_names[buckets[i]]), "meaning"), ms, share};
    }
    if (count < all) {
        const struct word_arg n = report_number("n", (double)(all - count), "count");
        report_say(&name, lang, "others_row", &n, 1);
        ret[count] = (struct report_account_row){report_keep(report, &name), NULL, small_ms, report->wall_ms > 0 ? (double)small_ms / (double)report->wall_ms : 0};
        count++;
    }
    return count;
}

void report_account_note(struct buf *out, const struct report *report, enum lang lang)
{
    enum bucket buckets[BUCKET_COUNT];
    size_t count = report_buckets(report, buckets);
    bool any = false;
    const struct word_arg slots = report_number("slots", (double)report->slot_peak, "count");
    report_say(out, lang, "account_note", &slots, 1);
    for (size_t i = 0; i < count && (double)report->account[buckets[i]].wall_ms >= REPORT_LARGE_BUCKET * (double)report->wall_ms; i++) {
        const char *meaning = message(lang, "buckets", str_of(bucket_names[buckets[i]]), "meaning");
        const struct word_arg args[] = {report_text("name", str_of(report_bucket_name(lang, buckets[i]))), report_text("meaning", str_of(meaning ? meaning : ""))};
        if (i)
            buf_text(out, lang == LANG_ZH_CN ? "；" : "; ");
        else if (lang == LANG_EN)
            buf_char(out, ' ');
        report_say(out, lang, "account_meaning", args, ARRAY_LENGTH(args));
        any = true;
    }
    if (any)
        buf_text(out, lang == LANG_ZH_CN ? "。" : ".");
}

static void say_simulator(struct buf *out, const struct report *report, enum lang lang)
{
    const struct word_arg args[] = {report_number("sim", report_ms(report->simulated_ms), "ms"), report_number("wall", report_ms(report->wall_ms), "ms"),
                                    report_number("error", fabs(report->simulation_error), "share")};
    const char *what = "simulator";
    if (report->completeness < COMPLETE_FOR_PRICES)
        what = "simulator_incomplete";
    else if (!known(report->simulated_ms))
        what = "simulator_none";
    else if (!report->prices_allowed)
        what = "simulator_off";
    report_say(out, lang, what, args, ARRAY_LENGTH(args));
}

static bool has_shown(const struct report *report, const struct rule *rule)
{
    for (size_t i = 0; i < report->shown_count; i++)
        if (report->findings[i].finding.rule == rule)
            return true;
    return false;
}

static void say_rules(struct buf *out, const struct report *report, enum lang lang)
{
    size_t fired = 0;
    for (size_t i = 0; i < rule_count; i++)
        fired += has_shown(report, &rules[i]);
    const struct word_arg args[] = {report_number("checked", (double)rule_count, "count"), report_number("fired", (double)fired, "count")};
    report_say(out, lang, "rules", args, ARRAY_LENGTH(args));
}

/* The few rules that came nearest without reaching their limit anywhere, one subject each. */
static void say_closest(struct buf *out, const struct report *report, enum lang lang)
{
    const struct rule *said[REPORT_CLOSEST] = {NULL};
    size_t count = 0;
    for (size_t i = report->shown_count; i < report->finding_count && count < REPORT_CLOSEST; i++) {
        const struct report_finding *f = &report->findings[i];
        bool again = has_shown(report, f->finding.rule);
        for (size_t j = 0; j < count; j++)
            again |= said[j] == f->finding.rule;
        if (again || !verdict_may_be_closest(f))
            continue;
        said[count++] = f->finding.rule;
        if (count == 1)
            buf_printf(out, "%s%s", message_of(lang, "report", "closest"), report_colon(lang));
        else
            buf_text(out, lang == LANG_ZH_CN ? "；" : "; ");
        const struct word_arg args[] = {report_text("rule", str_of(report_rule_name(lang, &f->finding))), report_number("margin", f->margin, "share")};
        report_say(out, lang, "closest_row", args, ARRAY_LENGTH(args));
    }
    if (count)
        buf_text(out, lang == LANG_ZH_CN ? "。" : ".");
}

enum err_code report_judged(struct report *report, enum lang lang, struct str ret[8], size_t *ret_count, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text, missing;
    buf_init(&text, TEXT_BYTES);
    buf_init(&missing, TEXT_BYTES);
    size_t count = 0;
    enum err_code rc = report_missing(report, lang, &missing, err);
    if (rc)
        return rc;
    const struct word_arg health[] = {report_number("c", (double)report->completeness, "count"), report_text("missing", buf_str(&missing))};
    report_say(&text, lang, missing.len ? "completeness_missing" : "completeness", health, ARRAY_LENGTH(health));
    ret[count++] = report_keep(report, &text);
    say_simulator(&text, report, lang);
    ret[count++] = report_keep(report, &text);
    if (known(report->bound_infinite_ms) && known(report->bound_work_ms)) {
        const struct word_arg bounds[] = {report_number("infinite", report_ms(report->bound_infinite_ms), "ms"), report_number("work", report_ms(report->bound_work_ms), "ms")};
        report_say(&text, lang, "bounds", bounds, ARRAY_LENGTH(bounds));
        ret[count++] = report_keep(report, &text);
    }
    say_rules(&text, report, lang);
    ret[count++] = report_keep(report, &text);
    say_closest(&text, report, lang);
    if (text.len)
        ret[count++] = report_keep(report, &text);
    ret[count++] = str_of(message_of(lang, "report", "words"));
    *ret_count = count;
    return ERR_OK;
}

void report_head(struct buf *out, const struct report *report)
{
    if (report->app.name.len) {
        word_text(out, report->app.name, 200);
        buf_text(out, " · ");
    }
    word_text(out, report->app.id, 300);
    if (str_known(report->app.attempt)) {
        buf_char(out, '/');
        word_text(out, report->app.attempt, 100);
    }
}

void report_facts(struct buf *out, const struct report *report, enum lang lang)
{
    buf_printf(out, "%s ", message_of(lang, "report", "spark"));
    word_text(out, report->app.spark_version, 60);
    buf_printf(out, " · %s ", message_of(lang, "report", "user"));
    word_text(out, report->app.user, 100);
    buf_printf(out, " · %s ", message_of(lang, "report", "started"));
    word_time(out, report_ms(report->begin_ms));
    buf_printf(out, " %s · %s ", message_of(lang, "report", "utc"), message_of(lang, "report", "took"));
    if (report->end_at_least)
        buf_text(out, "≥ ");
    word_duration(out, report_ms(report->wall_ms));
}

enum err_code report_write(struct report *self, const struct report_style *style, struct buf *out, struct err *err)
{
    static report_writer *const writers[REPORT_FORMAT_COUNT] = {report_write_text, report_write_json, report_write_html, report_write_markdown};
    enum err_code rc = writers[style->format](self, style, out, err);
    if (!rc && buf_failed(out))
        rc = err_set(err, ERR_LIMIT, "the report is larger than %zu bytes", out->max_bytes);
    return rc;
}
