/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report_parts.h"

#include <math.h>
#include <string.h>

#include "analysis/error_text.h"
#include "analysis/report_links.h"
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

/* `what`: "saves" or "first_step_saves". */
static void say_saving(struct buf *out, const struct report *report, enum lang lang, const char *what, const struct finding *finding)
{
    const struct word_arg args[] = {report_number("ms", report_ms(finding->price.ms), "ms"), report_number("low", report_ms(finding->price.low_ms), "ms"),
                                    report_number("high", report_ms(finding->price.high_ms), "ms"), report_number("wall", report_ms(report->wall_ms), "ms")};
    report_say(out, lang, what, args, ARRAY_LENGTH(args));
}

/* ---- where a subject comes from */

#define CODE_BYTES 160 /* of a call or a query: enough to know it again */

static const struct {
    enum subject_kind kind;
    const char *sql;    /* the call, the query; ?1 is the key of the subject */
    const char *others; /* calls that led to it, nearest first: asked where those of `sql` name no line of the user's */
} code_sql[] = {
    {SUBJECT_JOB,
     "SELECT j.name, coalesce(q.description, j.description) FROM job AS j LEFT JOIN sql_execution AS q ON q.execution_id = j.sql_execution_id WHERE job_id = CAST(?1 AS INTEGER)",
     "SELECT name FROM job WHERE sql_execution_id = (SELECT sql_execution_id FROM job WHERE job_id = CAST(?1 AS INTEGER)) ORDER BY job_id LIMIT 50"},
    {SUBJECT_STAGE,
     "SELECT s.name, coalesce(q.description, s.description) FROM stage AS s LEFT JOIN sql_execution AS q ON q.execution_id = s.sql_execution_id "
     "WHERE stage_id = CAST(?1 AS INTEGER) AND attempt = CAST(substr(?1, instr(?1, '.') + 1) AS INTEGER)",
     "SELECT j.name FROM job_stage AS l JOIN job AS j USING (job_id) WHERE l.stage_id = CAST(?1 AS INTEGER) ORDER BY j.job_id LIMIT 50"},
    {SUBJECT_SQL, "SELECT NULL, description FROM sql_execution WHERE execution_id = CAST(?1 AS INTEGER)",
     "SELECT name FROM job WHERE sql_execution_id = CAST(?1 AS INTEGER) ORDER BY job_id LIMIT 50"},
    {SUBJECT_NODE, "SELECT NULL, description FROM sql_execution WHERE execution_id = CAST(?1 AS INTEGER)", /* "query/operator" */
     "SELECT name FROM job WHERE sql_execution_id = CAST(?1 AS INTEGER) ORDER BY job_id LIMIT 50"},
    {SUBJECT_RDD, "SELECT callsite, NULL FROM rdd WHERE rdd_id = CAST(?1 AS INTEGER)",
     "SELECT name FROM (SELECT s.name, s.stage_ref, 0 AS far FROM stage_rdd AS l JOIN stage AS s USING (stage_ref) WHERE l.rdd_id = CAST(?1 AS INTEGER) UNION ALL "
     "SELECT j.name, s.stage_ref, 1 FROM stage_rdd AS l JOIN stage AS s USING (stage_ref) JOIN job_stage AS k USING (stage_id) JOIN job AS j USING (job_id) "
     "WHERE l.rdd_id = CAST(?1 AS INTEGER)) ORDER BY far, stage_ref LIMIT 50"},
};

/* Files of Spark and Java that stand as a call's place where nobody's program was on the stack. Of the first two, through which Python and clients of a server come, the call itself is the user's. */
#define GATEWAY_COUNT 2
static const char *const foreign_files[] = {"NativeMethodAccessorImpl.java", "AccessController.java", "CompletableFuture.java",     "FutureTask.java",       "Executors.java",
                                            "ThreadPoolExecutor.java",       "Thread.java",           "PythonRDD.scala",            "SerDeUtil.scala",       "PythonHadoopUtil.scala",
                                            "SQLExecution.scala",            "Dataset.scala",         "BroadcastExchangeExec.scala", "ThreadUtils.scala",     "DirectMethodHandle.java",
                                            "PythonUtils.scala",             "EvaluatePython.scala",  "Method.java",                "DelegatingMethodAccessorImpl.java"};

/* "collect at /a/b.py:7": the place behind " at ", NULL: there is none. */
static const char *place_of(struct str call)
{
    static const char at[] = " at ";
    const char *found = NULL;
    for (const char *p = call.ptr; call.len && (p = memmem(p, (size_t)(call.ptr + call.len - p), at, sizeof at - 1)) != NULL; p += sizeof at - 1)
        found = p;
    return found;
}

/* Which of foreign_files the call's place is; ARRAY_LENGTH(foreign_files): none of them. */
static size_t foreign_file(struct str call)
{
    const char *place = place_of(call);
    for (size_t i = 0; place && i < ARRAY_LENGTH(foreign_files); i++) {
        size_t len = strlen(foreign_files[i]), left = (size_t)(call.ptr + call.len - (place + 4));
        if (left > len && memcmp(place + 4, foreign_files[i], len) == 0 && place[4 + len] == ':')
            return i;
    }
    return ARRAY_LENGTH(foreign_files);
}

static bool names_users_line(struct str call)
{
    return str_known(call) && place_of(call) && foreign_file(call) == ARRAY_LENGTH(foreign_files);
}

/* What of a call its user wrote. Requests of Connect as their wire has them nobody did. */
static struct str call_of(struct str name)
{
    size_t foreign = foreign_file(name);
    if (str_starts(name, "Spark Connect - ") || (foreign >= GATEWAY_COUNT && foreign < ARRAY_LENGTH(foreign_files)))
        return STR_NONE;
    if (foreign < GATEWAY_COUNT)
        name.len = (size_t)(place_of(name) - name.ptr);
    return name;
}

static void add_call(struct buf *out, struct str call)
{
    if (!call.len)
        return;
    buf_text(out, out->len ? " · " : "");
    word_text(out, call, CODE_BYTES);
}

/* The first call that names a line of the user's. */
static enum err_code say_others(struct report *report, const struct finding *finding, const char *sql, struct buf *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(report->db, &row, sql, err);
    if (rc)
        return rc;
    db_bind_str(row, 1, finding->subject_key);
    while ((rc = db_step(row, err)) == ERR_OK)
        if (names_users_line(db_str(row, 0))) {
            add_call(out, db_str(row, 0));
            break;
        }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code say_code(struct report *report, const struct finding *finding, struct buf *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(code_sql); i++) {
        if (code_sql[i].kind != finding->subject_kind)
            continue;
        bool names_line = false;
        enum err_code rc = db_prepare(report->db, &row, code_sql[i].sql, err);
        if (rc)
            return rc;
        db_bind_str(row, 1, finding->subject_key);
        if ((rc = db_step(row, err)) == ERR_OK) {
            struct str call = call_of(db_str(row, 0)), query = call_of(db_str(row, 1));
            names_line = names_users_line(call) || names_users_line(query);
            add_call(out, call);
            if (!str_eq(call, query))
                add_call(out, query);
        }
        db_finalize(row);
        if (rc && rc != ERR_EOF)
            return rc;
        return names_line ? ERR_OK : say_others(report, finding, code_sql[i].others, out, err);
    }
    return ERR_OK;
}

/* Two cures that set one number contradict each other where both are done. */
static void say_one_of_two(const struct report *report, size_t position, enum lang lang, struct buf *out)
{
    CLEANUP(buf_dispose) struct buf where;
    buf_init(&where, 4096);
    size_t other = report_sets_the_same(report, position);
    if (other == report->finding_count)
        return;
    const struct finding *finding = &report->findings[other].finding;
    report_subject(&where, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
    const struct word_arg args[] = {report_text("rule", str_of(report_rule_name(lang, finding))), report_text("where", buf_str(&where))};
    if (lang == LANG_EN)
        buf_char(out, ' ');
    report_say(out, lang, "one_of_two", args, ARRAY_LENGTH(args));
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
    say_one_of_two(report, position, lang, &text);
    ret->advice = report_keep(report, &text);
    for (size_t i = 0; i < ret->arg_count; i++)
        if (str_is(ret->args[i].name, "origin") && str_known(ret->args[i].text)) {
            word_text(&text, ret->args[i].text, ERROR_ORIGIN_BYTES);
            ret->origin = report_keep(report, &text);
        }
    if (!finding_is_usual(finding) && known(finding->price.ms) && price_grade(finding->price.ms, report->wall_ms) > GRADE_OK) {
        say_saving(&text, report, lang, "saves", finding);
        ret->saving = report_keep(report, &text);
    }
    return ERR_OK;
}

static void say_nothing_to_do(struct buf *out, const struct report *report, enum lang lang)
{
    const struct word_arg wall = report_number("wall", report_ms(report->wall_ms), "ms");
    const char *what = report->app.failed            ? "first_step_unknown"
                       : verdict_is_too_short(report) ? "first_step_short"
                       : report->app.job_count == 0   ? "first_step_no_job"
                       : report->end_at_least         ? "first_step_so_far"
                       : verdict_waited_for_people(report) ? "first_step_shell"
                                                      : "first_step_nothing";
    report_say(out, lang, what, &wall, 1);
}

enum err_code report_first_step(struct report *report, enum lang lang, struct report_first_step *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, TEXT_BYTES);
    *ret = (struct report_first_step){.position = verdict_first_step(report)};
    if (ret->position == report->finding_count) {
        say_nothing_to_do(&text, report, lang);
        ret->text = report_keep(report, &text);
        return ERR_OK;
    }
    struct report_item *item = &ret->item;
    enum err_code rc = report_item(report, ret->position, lang, item, err);
    if (rc)
        return rc;
    ret->text = item->advice;
    if (item->finding->subject_kind != SUBJECT_APP) {
        buf_append(&text, item->subject.ptr, item->subject.len);
        if (item->code.len)
            buf_printf(&text, " · %.*s", (int)item->code.len, item->code.ptr);
        ret->where = report_keep(report, &text);
    }
    if (item->saving.len && !report->app.failed) {
        say_saving(&text, report, lang, "first_step_saves", item->finding);
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
        const struct report_finding *other = &report->findings[group->others[i]];
        buf_text(out, i ? separator : "");
        report_subject(out, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
        if (finding->rule != report->findings[group->first].finding.rule && known(other->failed_attempts)) {
            const struct word_arg n = report_number("n", (double)other->failed_attempts, "count");
            report_say(out, lang, "others_attempts", &n, 1);
        }
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

/* What tells of a failure that another finding tells more of goes with that one. */
static void add_to_group(const struct report *report, size_t position, bool is_full, struct report_groups *ret)
{
    const struct report_finding *f = &report->findings[report->findings[position].same_as];
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
        group->first = (size_t)(f - report->findings);
        group->count = 1;
        ret->full_count += is_full && ret->full_count < REPORT_FULL_RULES && ret->full_count == at;
    }
    const struct finding *first = &report->findings[group->first].finding, *own = &report->findings[position].finding;
    if (first->subject_kind == own->subject_kind && str_eq(first->subject_key, own->subject_key))
        return; /* itself, or what failed of it */
    if (group->other_count < REPORT_FURTHER_SUBJECTS)
        group->others[group->other_count++] = position;
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
