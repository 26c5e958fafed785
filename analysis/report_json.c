/* SPDX-License-Identifier: Apache-2.0
 *
 * The report for programs. Keys may be added, never renamed; analysis/README.md describes them. */
#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/snippets.h"
#include "analysis/verdict.h"
#include "base/json_writer.h"

static void write_app(struct json_writer *w, const struct report *report)
{
    json_key(w, "app");
    json_object_begin(w);
    json_kv_str(w, "id", report->app.id);
    json_kv_str(w, "attemptId", report->app.attempt);
    json_kv_str(w, "name", report->app.name);
    json_kv_str(w, "user", report->app.user);
    json_kv_str(w, "sparkVersion", report->app.spark_version);
    json_kv_i64(w, "startMs", report->begin_ms);
    json_kv_i64(w, "endMs", report->end_ms);
    json_kv_i64(w, "wallMs", report->wall_ms);
    json_kv_bool(w, "endAtLeast", report->end_at_least);
    json_kv_bool(w, "failed", report->app.failed);
    json_object_end(w);
}

static enum err_code write_completeness(struct json_writer *w, struct report *report, enum lang lang, struct err *err)
{
    CLEANUP(buf_dispose) struct buf missing;
    buf_init(&missing, (size_t)64 << 10);
    enum err_code rc = report_missing(report, lang, &missing, err);
    json_key(w, "completeness");
    json_object_begin(w);
    json_kv_i64(w, "score", report->completeness);
    json_kv_str(w, "missing", missing.len ? buf_str(&missing) : STR_NONE);
    json_kv_i64(w, "clockFaults", report->clock_faults);
    json_object_end(w);
    return rc;
}

static void write_account(struct json_writer *w, const struct report *report, enum lang lang)
{
    json_key(w, "account");
    json_object_begin(w);
    json_kv_i64(w, "wallMs", report->wall_ms);
    json_kv_i64(w, "slotMs", report->frame_ms);
    json_kv_i64(w, "allocatedMs", report->allocated_ms);
    json_kv_i64(w, "slotPeak", report->slot_peak);
    json_key(w, "buckets");
    json_array_begin(w);
    for (int i = 0; i < BUCKET_COUNT; i++) {
        if (!report->account[i].is_there)
            continue;
        json_object_begin(w);
        json_kv_text(w, "bucket", bucket_names[i]);
        json_kv_text(w, "name", report_bucket_name(lang, (enum bucket)i));
        json_kv_i64(w, "slotMs", report->account[i].slot_ms);
        json_kv_i64(w, "wallMs", report->account[i].wall_ms);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

static void write_simulation(struct json_writer *w, const struct report *report)
{
    json_key(w, "simulation");
    json_object_begin(w);
    json_kv_i64(w, "simulatedMs", report->simulated_ms);
    json_kv_f64(w, "error", report->simulation_error);
    json_kv_i64(w, "boundInfiniteMs", report->bound_infinite_ms);
    json_kv_i64(w, "boundWorkMs", report->bound_work_ms);
    json_kv_bool(w, "pricesAllowed", report->prices_allowed);
    json_object_end(w);
}

static void write_price(struct json_writer *w, const struct finding *finding)
{
    json_key(w, "price");
    if (!known(finding->price.ms)) {
        json_null(w);
        return;
    }
    json_object_begin(w);
    json_kv_i64(w, "ms", finding->price.ms);
    json_kv_i64(w, "lowMs", finding->price.low_ms);
    json_kv_i64(w, "highMs", finding->price.high_ms);
    json_kv_text(w, "scenario", finding->scenario);
    json_kv_bool(w, "weak", finding->weak);
    json_object_end(w);
}

static void write_fixes(struct json_writer *w, enum lang lang, const struct report_item *item)
{
    json_key(w, "fixes");
    json_array_begin(w);
    for (const char *p = finding_fixes(item->finding); *p;) {
        CLEANUP(buf_dispose) struct buf code;
        buf_init(&code, (size_t)64 << 10);
        size_t len = strcspn(p, " ");
        const struct snippet *snippet = snippet_find((struct str){p, len});
        p += len;
        p += *p == ' ';
        if (!snippet)
            continue;
        snippet_fill(&code, snippet, lang, item->args, item->arg_count);
        json_object_begin(w);
        json_kv_text(w, "id", snippet->id);
        json_kv_text(w, "title", message_of(lang, "snippets", snippet->id));
        json_kv_text(w, "language", snippet->language);
        json_kv_str(w, "code", buf_str(&code));
        json_object_end(w);
    }
    json_array_end(w);
}

/* The caller's object is open. */
static void write_value(struct json_writer *w, struct str name, struct str text, double value, struct str unit)
{
    json_kv_str(w, "name", name);
    json_key(w, "value");
    if (str_known(text))
        json_str(w, text);
    else
        json_f64(w, value);
    json_kv_str(w, "unit", unit);
}

/* What the sentence is made of, and what was measured beside it. */
static void write_measures(struct json_writer *w, const struct report_item *item)
{
    json_key(w, "measures");
    json_array_begin(w);
    for (size_t i = 0; i < item->arg_count; i++) {
        json_object_begin(w);
        write_value(w, item->args[i].name, item->args[i].text, item->args[i].value, item->args[i].unit);
        json_object_end(w);
    }
    json_array_end(w);
}

/* What the rule is graded by where nobody brings other thresholds. */
static void write_ladder(struct json_writer *w, const struct rule *rule)
{
    json_key(w, "ladder");
    json_object_begin(w);
    json_kv_bool(w, "down", rule->ladder.down);
    json_kv_bool(w, "withPrice", rule->kind == RULE_TIME);
    json_key(w, "steps");
    json_array_begin(w);
    for (int i = 0; i < 4; i++)
        json_f64(w, rule->ladder.step[i]);
    json_array_end(w);
    json_object_end(w);
}

static void write_words(struct json_writer *w, const char *key, struct buf *words)
{
    json_kv_str(w, key, buf_str(words));
    buf_clear(words);
}

static void write_evidence(struct json_writer *w, enum lang lang, const struct report_evidence *evidence)
{
    CLEANUP(buf_dispose) struct buf words;
    buf_init(&words, 4096);
    json_key(w, "evidence");
    json_object_begin(w);
    json_kv_str(w, "formula", evidence->formula);
    json_kv_f64(w, "threshold", evidence->threshold);
    json_kv_str(w, "source", evidence->source);
    json_kv_str(w, "filter", evidence->filter);
    json_key(w, "rows");
    json_array_begin(w);
    for (size_t i = 0; i < evidence->count;) {
        size_t row = evidence->cells[i].row;
        json_object_begin(w);
        json_kv_str(w, "kind", evidence->cells[i].kind);
        json_kv_str(w, "key", evidence->cells[i].key);
        report_subject(&words, lang, evidence->cells[i].kind, evidence->cells[i].key);
        write_words(w, "name", &words);
        json_kv_str(w, "role", evidence->cells[i].role);
        json_key(w, "cells");
        json_array_begin(w);
        for (; i < evidence->count && evidence->cells[i].row == row; i++) {
            if (!str_known(evidence->cells[i].name))
                continue;
            json_object_begin(w);
            write_value(w, evidence->cells[i].name, evidence->cells[i].text, evidence->cells[i].value, evidence->cells[i].unit);
            report_cell_name(&words, lang, evidence->cells[i].name);
            write_words(w, "label", &words);
            json_object_end(w);
        }
        json_array_end(w);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

void report_json_finding(struct json_writer *w, enum lang lang, const struct report_item *item, enum report_part part)
{
    static const char *const parts[PART_COUNT] = {"lead", "cause", "symptom", "note", "usual"};
    static const char *const confidence[] = {"low", "medium", "high"};
    const struct finding *f = item->finding;
    json_object_begin(w);
    json_kv_text(w, "rule", f->rule->id);
    json_kv_i64(w, "ruleVersion", f->rule->version);
    json_kv_text(w, "name", item->name);
    json_kv_text(w, "question", f->rule->question);
    json_kv_text(w, "grade", grade_names[item->graded->grade]);
    json_kv_bool(w, "noFault", finding_is_no_fault(f));
    json_kv_text(w, "part", parts[part]);
    json_key(w, "subject");
    json_object_begin(w);
    json_kv_text(w, "kind", subject_kind_names[f->subject_kind]);
    json_kv_str(w, "key", f->subject_key);
    json_kv_str(w, "name", item->subject);
    json_object_end(w);
    json_key(w, "measure");
    json_object_begin(w);
    json_kv_f64(w, "value", f->measure);
    json_kv_text(w, "unit", f->rule->unit);
    json_object_end(w);
    json_kv_f64(w, "margin", item->graded->margin);
    write_price(w, f);
    json_kv_text(w, "confidence", confidence[f->confidence]);
    json_kv_text(w, "cause", f->cause);
    json_kv_str(w, "sentence", item->sentence);
    json_kv_str(w, "advice", item->advice);
    write_measures(w, item);
    write_ladder(w, f->rule);
    write_evidence(w, lang, &item->evidence);
    write_fixes(w, lang, item);
    json_kv_text(w, "mute", mute_names[f->mute]);
    json_kv_text(w, "muteText", f->mute ? message_of(lang, "mutes", mute_names[f->mute]) : NULL);
    json_kv_str(w, "suppressedBy", f->suppressed_by);
    json_object_end(w);
}

enum err_code report_json_first_step(struct json_writer *w, struct report *report, enum lang lang, struct err *err)
{
    struct report_first_step step;
    enum err_code rc = report_first_step(report, lang, &step, err);
    if (rc)
        return rc;
    bool has_finding = step.position < report->finding_count;
    json_key(w, "firstStep");
    json_object_begin(w);
    json_kv_str(w, "text", step.text);
    json_kv_str(w, "where", step.where.len ? step.item.subject : STR_NONE);
    json_kv_str(w, "code", has_finding && step.item.code.len ? step.item.code : STR_NONE);
    json_kv_str(w, "origin", has_finding && step.item.origin.len ? step.item.origin : STR_NONE);
    json_kv_str(w, "saving", step.saving.len ? step.saving : STR_NONE);
    json_kv_text(w, "rule", has_finding ? step.item.finding->rule->id : NULL);
    json_kv_text(w, "kind", has_finding ? subject_kind_names[step.item.finding->subject_kind] : NULL);
    json_kv_str(w, "key", has_finding ? step.item.finding->subject_key : STR_NONE);
    json_object_end(w);
    return ERR_OK;
}

void report_json_joint(struct json_writer *w, const struct report *report)
{
    json_key(w, "joint");
    json_array_begin(w);
    for (size_t i = 0; i < report->joint_count; i++) {
        const struct finding *f = &report->findings[report->joint[i].finding].finding;
        json_object_begin(w);
        json_kv_i64(w, "k", (int64_t)i + 1);
        json_kv_text(w, "rule", f->rule->id);
        json_kv_str(w, "key", f->subject_key);
        json_kv_i64(w, "savingMs", report->joint[i].saving_ms);
        json_object_end(w);
    }
    json_array_end(w);
}

static enum err_code write_findings(struct json_writer *w, struct report *report, enum lang lang, struct err *err)
{
    json_key(w, "findings");
    json_array_begin(w);
    enum err_code rc = ERR_OK;
    size_t lead = verdict_lead(report);
    for (size_t i = 0; i < report->shown_count && !rc; i++) {
        struct report_item item;
        if (!(rc = report_item(report, i, lang, &item, err)))
            report_json_finding(w, lang, &item, report_part_of(report, i, lead));
    }
    json_array_end(w);
    return rc;
}

/* The rule that came nearest without firing. */
static void write_closest(struct json_writer *w, const struct report *report, enum lang lang)
{
    size_t at = verdict_closest(report, NULL, 0);
    json_key(w, "closest");
    if (at == report->finding_count) {
        json_null(w);
        return;
    }
    const struct finding *f = &report->findings[at].finding;
    json_object_begin(w);
    json_kv_text(w, "rule", f->rule->id);
    json_kv_text(w, "name", report_rule_name(lang, f));
    json_kv_str(w, "key", f->subject_key);
    json_kv_f64(w, "margin", report->findings[at].margin);
    json_object_end(w);
}

enum err_code report_write_json(struct report *report, const struct report_style *style, struct buf *out, struct err *err)
{
    struct json_writer w;
    struct str verdict;
    enum err_code rc = report_verdict(report, style->lang, &verdict, err);
    json_writer_init(&w, json_sink_buf, out, true);
    json_object_begin(&w);
    json_kv_i64(&w, "analysisVersion", report->analysis_version);
    json_kv_text(&w, "lang", lang_names[style->lang]);
    write_app(&w, report);
    json_kv_str(&w, "verdict", verdict);
    if (!rc)
        rc = report_json_first_step(&w, report, style->lang, err);
    if (!rc)
        rc = write_completeness(&w, report, style->lang, err);
    write_account(&w, report, style->lang);
    write_simulation(&w, report);
    if (!rc)
        rc = write_findings(&w, report, style->lang, err);
    report_json_joint(&w, report);
    write_closest(&w, report, style->lang);
    json_object_end(&w);
    enum err_code written = json_writer_end(&w);
    buf_char(out, '\n');
    return rc ? rc : written == ERR_OK || buf_failed(out) ? ERR_OK : err_set(err, written, "cannot write the report");
}
