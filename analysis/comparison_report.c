/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/comparison_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/sheet.h"
#include "base/attributes.h"
#include "base/units.h"

#define TEXT_BYTES ((size_t)64 << 10) /* of one sentence with its values, which are cut */
#define SENTENCE_PARTS 3
#define SHOWN_ROWS 60 /* of settings and findings; more are counted, and in the JSON */
#define NAME_MAX 80

static void say_of(struct buf *out, enum lang lang, const char *section, const char *what, const struct word_arg *args, size_t count)
{
    word_fill(out, message_of(lang, section, what), args, count);
}

static void say(struct buf *out, enum lang lang, const char *what, const struct word_arg *args, size_t count)
{
    say_of(out, lang, "compare", what, args, count);
}

static struct str said(enum lang lang, const char *what)
{
    return str_of(message_of(lang, "compare", what));
}

/* --- parts */

static const char *part_entry(const struct compare_part *part, char scratch[64])
{
    const char *detail = part->kind == COMPARE_PLAN ? plan_change_names[part->change] : NULL;
    bool two_ways = part->kind == COMPARE_DATA || part->kind == COMPARE_SLOTS || part->kind == COMPARE_SKEW || part->kind == COMPARE_LOST;
    snprintf(scratch, 64, "%s%s%s%s", compare_part_names[part->kind], detail ? "_" : "", detail ? detail : "", two_ways && part->ms < 0 ? "_less" : "");
    return scratch;
}

void comparison_part(struct buf *out, enum lang lang, const struct compare_part *part)
{
    char entry[64];
    const struct word_arg args[] = {report_number("before", part->before, part->unit), report_number("after", part->after, part->unit),
                                    report_text("what", str_known(part->what) ? part->what : said(lang, "several")),
                                    report_text("gap", part->kind == COMPARE_DRIVER ? str_of(report_bucket_name(lang, part->gap)) : STR_NONE)};
    say_of(out, lang, "compare_parts", part_entry(part, entry), args, ARRAY_LENGTH(args));
}

/* "+5.1 s", "−0.3 s". */
static void signed_duration(struct buf *out, int64_t ms)
{
    buf_text(out, ms > 0 ? "+" : "");
    word_duration(out, (double)ms);
}

void comparison_parts(struct buf *out, enum lang lang, const struct comparison *self)
{
    CLEANUP(buf_dispose) struct buf what, time;
    int64_t unexplained = 0;
    size_t told = 0;
    buf_init(&what, TEXT_BYTES);
    buf_init(&time, 64);
    for (size_t i = 0; i < self->part_count; i++) {
        const struct compare_part *part = &self->parts[i];
        if (part->kind == COMPARE_UNEXPLAINED)
            unexplained = part->ms;
        if (part->kind >= COMPARE_UNEXPLAINED || told == SENTENCE_PARTS)
            continue;
        buf_clear(&what);
        buf_clear(&time);
        comparison_part(&what, lang, part);
        signed_duration(&time, part->ms);
        const struct word_arg args[] = {report_text("time", buf_str(&time)), report_text("what", buf_str(&what))};
        say(out, lang, told++ ? "part_next" : "part_first", args, ARRAY_LENGTH(args));
    }
    if (unexplained) {
        buf_clear(&time);
        signed_duration(&time, unexplained);
        const struct word_arg args[] = {report_text("time", buf_str(&time))};
        say(out, lang, told ? "part_unexplained" : "part_only_unexplained", args, ARRAY_LENGTH(args));
    }
}

void comparison_sentence(struct buf *out, enum lang lang, const struct comparison *self)
{
    CLEANUP(buf_dispose) struct buf parts;
    buf_init(&parts, TEXT_BYTES);
    bool one = !self->baseline;
    if (self->state == COMPARE_TOO_FEW) {
        const struct word_arg args[] = {report_number("n", (double)self->baseline->member_count, "count"), report_number("needed", BASELINE_FEWEST, "count"),
                                        report_number("wall", (double)self->new_run.wall_ms, "ms")};
        say(out, lang, str_known(self->baseline->run_key) ? "too_few" : "no_key", args, ARRAY_LENGTH(args));
        return;
    }
    if (self->state == COMPARE_INCOMPLETE) {
        const struct word_arg args[] = {report_number("base", (double)self->base.completeness, "count"), report_number("new", (double)self->new_run.completeness, "count"),
                                        report_number("wall", (double)self->new_run.wall_ms, "ms"), report_number("med", (double)self->usual_ms, "ms")};
        say(out, lang,
            compare_is_open(&self->new_run, -self->delta_ms) ? "no_end"
            : compare_is_open(&self->base, self->delta_ms)   ? "no_end_base"
                                                             : "incomplete",
            args, ARRAY_LENGTH(args));
        return;
    }
    if (self->verdict != COMPARE_NO_CHANGE)
        comparison_parts(&parts, lang, self);
    const struct word_arg args[] = {
        report_number("delta", fabs((double)self->delta_ms), "ms"), report_number("med", (double)self->usual_ms, "ms"), report_number("wall", (double)self->new_run.wall_ms, "ms"),
        report_number("n", (double)self->wall.count, "count"),      report_number("sigma", self->wall.sigma, "ms"),     report_text("parts", buf_str(&parts))};
    const char *words[][2] = {[COMPARE_NO_CHANGE] = {"no_change", "no_change_one"}, [COMPARE_SLOWER] = {"slower", "slower_one"}, [COMPARE_FASTER] = {"faster", "faster_one"}};
    say(out, lang, words[self->verdict][one], args, ARRAY_LENGTH(args));
}

/* --- the document */

static void write_title(struct buf *out, const struct run_record *run)
{
    word_text(out, str_known(run->name) ? run->name : STR_LIT(WORDING_UNKNOWN), NAME_MAX);
    buf_text(out, " · ");
    word_text(out, run->app_id, NAME_MAX);
    if (str_known(run->attempt_id)) {
        buf_char(out, '/');
        word_text(out, run->attempt_id, NAME_MAX);
    }
}

static void write_facts(struct buf *out, enum lang lang, const struct comparison *self)
{
    CLEANUP(buf_dispose) struct buf base;
    buf_init(&base, 1024);
    if (self->state != COMPARE_TOO_FEW)
        write_title(&base, &self->base);
    const struct word_arg args[] = {report_text("base", buf_str(&base)), report_number("base_wall", (double)self->base.wall_ms, "ms"),
                                    report_number("wall", (double)self->new_run.wall_ms, "ms"), report_number("started", (double)self->new_run.begin_ms, "time"),
                                    report_number("n", self->baseline ? (double)self->baseline->member_count : 1, "count")};
    say(out, lang, self->state == COMPARE_TOO_FEW ? "facts_alone" : self->baseline ? "facts_usual" : "facts_one", args, ARRAY_LENGTH(args));
}

struct writing {
    const struct comparison *self;
    enum lang lang;
    struct sheet sheet;
    struct buf text;                 /* scratch of one text */
    struct buf cells[SHEET_COLUMNS]; /* scratch of one row */
};

static void note(struct writing *w, const char *what, const struct word_arg *args, size_t count)
{
    buf_clear(&w->text);
    say(&w->text, w->lang, what, args, count);
    sheet_note(&w->sheet, buf_str(&w->text));
}

static void write_notes(struct writing *w)
{
    const struct comparison *self = w->self;
    const struct baseline *baseline = self->baseline;
    const struct word_arg args[] = {report_number("share", self->matched_share, "share"), report_number("n", baseline ? (double)baseline->member_count : 1, "count"),
                                    report_number("rank", baseline ? (double)baseline_rank(baseline, self->new_run.wall_ms) : (double)NAN, "count"),
                                    report_number("base", (double)self->base.completeness, "count"), report_number("new", (double)self->new_run.completeness, "count")};
    size_t count = ARRAY_LENGTH(args);
    if (baseline)
        note(w, "note_rank", args, count);
    else
        note(w, "note_one", args, count);
    if (baseline && baseline->drifts)
        note(w, "note_drift", args, count);
    if (baseline && baseline->other_shape)
        note(w, "note_shape", args, count);
    if (self->base.completeness < 100 || self->new_run.completeness < 100)
        note(w, "note_completeness", args, count);
    note(w, self->code_changed ? "note_code" : "note_matched", args, count);
    if (self->partly_known)
        note(w, "note_partly", args, count);
}

/* A table whose heads are texts of section compare. */
static void table(struct writing *w, const char *const *heads, size_t count, unsigned numbers)
{
    struct str said_heads[SHEET_COLUMNS];
    for (size_t i = 0; i < count; i++)
        said_heads[i] = said(w->lang, heads[i]);
    sheet_table(&w->sheet, said_heads, count, numbers);
}

static void row(struct writing *w)
{
    struct str cells[SHEET_COLUMNS];
    for (size_t i = 0; i < SHEET_COLUMNS; i++)
        cells[i] = w->cells[i].data ? buf_str(&w->cells[i]) : STR_LIT("");
    sheet_row(&w->sheet, cells);
    for (size_t i = 0; i < SHEET_COLUMNS; i++)
        buf_clear(&w->cells[i]);
}

static void write_where(struct writing *w, const struct compare_part *part, struct buf *out)
{
    if (part->kind == COMPARE_NEW_STAGE || part->kind == COMPARE_REMOVED_STAGE || part->kind >= COMPARE_UNEXPLAINED)
        return;
    int64_t id = known(part->new_id) ? part->new_id : part->base_id;
    const struct word_arg args[] = {report_text("what", part->what), report_number("id", (double)id, "id"), report_number("n", (double)part->count - 1, "count")};
    if (str_known(part->what))
        say(out, w->lang, !known(id) ? "where_job" : part->kind == COMPARE_PLAN ? "where_query" : "where_stage", args, ARRAY_LENGTH(args));
    if (part->count > 1)
        say(out, w->lang, str_known(part->what) ? "where_more" : "where_several", args, ARRAY_LENGTH(args));
}

static void write_parts(struct writing *w)
{
    static const char *const heads[] = {"head_time", "head_part", "head_where", "head_settings"};
    const struct comparison *self = w->self;
    sheet_heading(&w->sheet, said(w->lang, "parts"));
    table(w, heads, ARRAY_LENGTH(heads), 1);
    for (size_t i = 0; i < self->part_count; i++) {
        const struct compare_part *part = &self->parts[i];
        signed_duration(&w->cells[0], part->ms);
        comparison_part(&w->cells[1], w->lang, part);
        write_where(w, part, &w->cells[2]);
        for (size_t k = 0; k < part->link_count; k++) {
            buf_text(&w->cells[3], k ? ", " : "");
            word_text(&w->cells[3], self->settings[part->links[k]].name, NAME_MAX);
        }
        row(w);
    }
    signed_duration(&w->cells[0], self->delta_ms);
    buf_text(&w->cells[1], said(w->lang, "sum").ptr);
    row(w);
    sheet_table_end(&w->sheet);
}

/* Long values that begin alike (options of a JVM) begin where they differ, at a word. */
static void write_value(struct writing *w, struct str value, struct str other, struct buf *out)
{
    size_t common = 0, begin = 0;
    if (!str_known(value)) {
        buf_text(out, said(w->lang, "not_set").ptr);
        return;
    }
    while (common < MIN(value.len, other.len) && value.ptr[common] == other.ptr[common])
        common++;
    for (size_t i = 0; value.len > NAME_MAX && i < common; i++)
        if (value.ptr[i] == ' ' || value.ptr[i] == ',')
            begin = i + 1;
    buf_text(out, begin ? "… " : "");
    word_text(out, (struct str){value.ptr + begin, value.len - begin}, NAME_MAX);
}

static void more(struct writing *w, size_t count)
{
    const struct word_arg args[] = {report_number("n", (double)count - SHOWN_ROWS, "count")};
    if (count > SHOWN_ROWS)
        note(w, "more", args, 1);
}

static void write_settings(struct writing *w)
{
    static const char *const heads[] = {"head_group", "head_setting", "head_base", "head_new"};
    const struct comparison *self = w->self;
    sheet_heading(&w->sheet, said(w->lang, "settings"));
    if (!self->setting_count) {
        sheet_paragraph(&w->sheet, said(w->lang, "no_settings"));
        return;
    }
    table(w, heads, ARRAY_LENGTH(heads), 0);
    for (size_t i = 0; i < MIN(self->setting_count, (size_t)SHOWN_ROWS); i++) {
        const struct compare_setting *setting = &self->settings[i];
        buf_text(&w->cells[0], message_of(w->lang, "compare_groups", setting_group_names[setting->group]));
        word_text(&w->cells[1], setting->name, NAME_MAX);
        write_value(w, setting->base, setting->new_run, &w->cells[2]);
        write_value(w, setting->new_run, setting->base, &w->cells[3]);
        row(w);
    }
    sheet_table_end(&w->sheet);
    more(w, self->setting_count);
}

/* What stayed as it was is not news: it is counted. */
static void write_findings(struct writing *w)
{
    static const char *const heads[] = {"head_news", "head_grade", "head_finding", "head_where"};
    const struct comparison *self = w->self;
    size_t news = 0;
    sheet_heading(&w->sheet, said(w->lang, "findings"));
    for (size_t i = 0; i < self->finding_count; i++)
        news += self->findings[i].news != FINDING_SAME;
    if (news) {
        table(w, heads, ARRAY_LENGTH(heads), 0);
        for (size_t i = 0, shown = 0; i < self->finding_count && shown < SHOWN_ROWS; i++) {
            const struct compare_finding *finding = &self->findings[i];
            if (finding->news == FINDING_SAME)
                continue;
            buf_text(&w->cells[0], message_of(w->lang, "compare_news", finding_news_names[finding->news]));
            if (finding->news == FINDING_WORSE || finding->news == FINDING_BETTER)
                buf_printf(&w->cells[1], "%s → ", report_grade_name(w->lang, finding->base_grade));
            buf_text(&w->cells[1], report_grade_name(w->lang, finding->news == FINDING_GONE ? finding->base_grade : finding->new_grade));
            const char *name = message(w->lang, "rules", str_of(finding->rule->id), "name");
            buf_text(&w->cells[2], name ? name : finding->rule->id);
            report_subject(&w->cells[3], w->lang, str_of(subject_kind_names[finding->kind]), str_known(finding->new_key) ? finding->new_key : finding->base_key);
            row(w);
            shown++;
        }
        sheet_table_end(&w->sheet);
        more(w, news);
    }
    const struct word_arg args[] = {report_number("n", (double)(self->finding_count - news), "count")};
    if (self->finding_count > news || !news)
        note(w, self->finding_count > news ? "findings_same" : "no_findings", args, 1);
}

static void write_stages(struct writing *w)
{
    static const char *const heads[] = {"head_stage", "head_of", "head_usual", "head_new"};
    const struct comparison *self = w->self;
    if (!self->stage_count)
        return;
    sheet_heading(&w->sheet, said(w->lang, "stages"));
    table(w, heads, ARRAY_LENGTH(heads), 1U << 2 | 1U << 3);
    for (size_t i = 0; i < self->stage_count; i++) {
        const struct compare_stage *stage = &self->stages[i];
        const struct word_arg args[] = {report_text("what", stage->name), report_number("id", (double)stage->new_id, "id")};
        say(&w->cells[0], w->lang, "where_stage", args, ARRAY_LENGTH(args));
        buf_text(&w->cells[1], said(w->lang, stage->is_wall ? "stage_wall" : "stage_work").ptr);
        word_duration(&w->cells[2], stage->usual_ms);
        word_duration(&w->cells[3], stage->ms);
        row(w);
    }
    sheet_table_end(&w->sheet);
}

const char *comparison_metric_name(enum lang lang, enum run_metric metric)
{
    return metric >= RUN_BUCKETS ? report_bucket_name(lang, (enum bucket)(metric - RUN_BUCKETS)) : message_of(lang, "compare_metrics", run_metric_name(metric));
}

/* With a baseline, what is outside of its usual range is marked; with one run there is no such thing. */
static void write_metrics(struct writing *w)
{
    static const char *const heads[] = {"head_number", "head_usual", "head_range", "head_new", "head_mark"}, *const heads_one[] = {"head_number", "head_base", "head_new"};
    const struct comparison *self = w->self;
    bool usual = self->baseline != NULL;
    sheet_heading(&w->sheet, said(w->lang, "numbers"));
    table(w, usual ? heads : heads_one, usual ? ARRAY_LENGTH(heads) : ARRAY_LENGTH(heads_one), usual ? 1U << 1 | 1U << 2 | 1U << 3 : 1U << 1 | 1U << 2);
    for (int m = 0; m < RUN_METRIC_COUNT; m++) {
        const struct noise *noise = &self->metrics[m];
        struct str unit = str_of(run_metric_unit((enum run_metric)m));
        double before = usual ? noise->median : self->base.metrics[m], after = self->new_run.metrics[m];
        if ((m >= RUN_BUCKETS && !(before > 0) && !(after > 0)) || (isnan(before) && isnan(after)))
            continue;
        buf_text(&w->cells[0], comparison_metric_name(w->lang, (enum run_metric)m));
        word_value(&w->cells[1], before, unit);
        if (usual) {
            buf_text(&w->cells[2], "±");
            word_value(&w->cells[2], noise->allowed, unit);
            if (noise->count && !isnan(after) && !noise_no_change(noise, after))
                buf_text(&w->cells[4], said(w->lang, after > noise->median ? "above" : "below").ptr);
        }
        word_value(&w->cells[usual ? 3 : 2], after, unit);
        row(w);
    }
    sheet_table_end(&w->sheet);
}

static enum err_code write_sheet(const struct comparison *self, const struct report_style *style, struct buf *out, struct err *err)
{
    struct writing w = {.self = self, .lang = style->lang};
    CLEANUP(buf_dispose) struct buf facts;
    buf_init(&facts, TEXT_BYTES);
    buf_init(&w.text, TEXT_BYTES);
    for (size_t i = 0; i < SHEET_COLUMNS; i++)
        buf_init(&w.cells[i], TEXT_BYTES);
    write_title(&w.text, &self->new_run);
    write_facts(&facts, w.lang, self);
    sheet_begin(&w.sheet, out, style, buf_str(&w.text), buf_str(&facts));
    buf_clear(&w.text);
    comparison_sentence(&w.text, w.lang, self);
    sheet_verdict(&w.sheet, buf_str(&w.text));
    if (self->state == COMPARE_DONE) {
        write_notes(&w);
        if (self->part_count)
            write_parts(&w);
        write_settings(&w);
        write_findings(&w);
        write_stages(&w);
        write_metrics(&w);
    }
    buf_clear(&w.text);
    const struct word_arg version = report_text("version", STR_LIT(AFTERGLOW_VERSION));
    report_say(&w.text, w.lang, "made_by", &version, 1);
    bool done = sheet_end(&w.sheet, buf_str(&w.text));
    buf_dispose(&w.text);
    for (size_t i = 0; i < SHEET_COLUMNS; i++)
        buf_dispose(&w.cells[i]);
    return done ? ERR_OK : err_nomem(err);
}

enum err_code comparison_write(const struct comparison *self, const struct report_style *style, struct buf *out, struct err *err)
{
    if (style->format != REPORT_JSON)
        return write_sheet(self, style, out, err);
    struct json_writer w;
    json_writer_init(&w, json_sink_buf, out, true);
    comparison_json(&w, self, style->lang);
    enum err_code rc = json_writer_end(&w);
    buf_char(out, '\n');
    return rc || buf_failed(out) ? err_nomem(err) : ERR_OK;
}
