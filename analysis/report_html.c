/* SPDX-License-Identifier: Apache-2.0
 *
 * The report as one HTML file: opens offline, needs no script, loads nothing (its own policy forbids it), light or dark as the reader has it, and prints. Every text is escaped. */
#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/snippets.h"
#include "base/attributes.h"

void report_escape_html(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '&': buf_text(out, "&amp;"); break;
        case '<': buf_text(out, "&lt;"); break;
        case '>': buf_text(out, "&gt;"); break;
        case '"': buf_text(out, "&quot;"); break;
        case '\'': buf_text(out, "&#39;"); break;
        default: buf_char(out, text.ptr[i]);
        }
    }
}

/* `open` and `close` are marks of ours. */
static void element(struct buf *out, const char *open, struct str text, const char *close)
{
    buf_text(out, open);
    report_escape_html(out, text);
    buf_text(out, close);
}

static struct str said(enum lang lang, const char *what)
{
    return str_of(message_of(lang, "report", what));
}

/* Takes what is in `text`. */
static void element_of(struct buf *out, const char *open, struct buf *text, const char *close)
{
    element(out, open, buf_str(text), close);
    buf_clear(text);
}

static void write_account(struct buf *out, struct buf *text, struct report *report, enum lang lang)
{
    struct report_account_row rows[BUCKET_COUNT + 1];
    size_t count = report_account_rows(report, lang, rows);
    element(out, "<h2>", said(lang, "account"), "</h2>\n");
    element(out, "<table>\n<tr><th>", said(lang, "bucket"), "</th>");
    element(out, "<th class=\"number\">", said(lang, "time"), "</th>");
    element(out, "<th class=\"number\">", said(lang, "share"), "</th><th></th></tr>\n");
    for (size_t i = 0; i < count; i++) {
        element(out, "<tr><td title=\"", str_of(rows[i].meaning ? rows[i].meaning : ""), "\">");
        report_escape_html(out, rows[i].name);
        word_duration(text, (double)rows[i].ms);
        element_of(out, "</td><td class=\"number\">", text, "</td>");
        word_share(text, rows[i].share);
        element_of(out, "<td class=\"number\">", text, "</td>");
        buf_printf(out,
                   "<td class=\"bar\"><svg viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"12\"/>"
                   "<rect class=\"mark\" width=\"%.1f\" height=\"12\"/></svg></td></tr>\n",
                   MIN(MAX(rows[i].share, 0.0), 1.0) * 100);
    }
    buf_text(out, "</table>\n");
    report_account_note(text, report, lang);
    element_of(out, "<p class=\"note\">", text, "</p>\n");
}

/* Rows of one kind have the same columns as a rule, so a line of "name value" pairs reads better than a table with holes. */
static void write_evidence(struct buf *out, struct buf *text, const struct report_item *item, enum lang lang)
{
    const struct report_evidence *evidence = &item->evidence;
    if (!item->evidence.formula.len && !evidence->count)
        return;
    element(out, "<div class=\"evidence\"><span class=\"label\">", said(lang, "evidence"), "</span> ");
    report_escape_html(out, item->evidence.formula);
    buf_text(out, "\n<ul>\n");
    for (size_t at = 0; report_evidence_row(text, lang, evidence, &at);)
        element_of(out, "<li>", text, "</li>\n");
    buf_text(out, "</ul></div>\n");
}

static void write_fix(struct buf *out, struct buf *text, const struct report_item *item, const struct snippet *snippet, bool is_open, enum lang lang)
{
    buf_text(out, is_open ? "<details open><summary>" : "<details><summary>");
    report_escape_html(out, str_of(message_of(lang, "snippets", snippet->id)));
    snippet_fill(text, snippet, lang, item->args, item->arg_count);
    element_of(out, "</summary><pre>", text, "</pre></details>\n");
}

/* From the `from`-th on, the first of them unfolded. */
static void write_fixes(struct buf *out, struct buf *text, const struct report_item *item, size_t from, enum lang lang)
{
    size_t at = 0, count = 0;
    for (const char *p = finding_fixes(item->finding); *p; at++) {
        size_t len = strcspn(p, " ");
        const struct snippet *snippet = snippet_find((struct str){p, len});
        p += len;
        p += *p == ' ';
        if (!snippet || at < from)
            continue;
        if (!count)
            element(out, "<p><span class=\"label\">", said(lang, "fixes"), "</span></p>\n");
        write_fix(out, text, item, snippet, count++ == 0, lang);
    }
}

static void write_others(struct buf *out, struct buf *text, const struct report *report, const struct report_group *group, enum lang lang)
{
    report_others(text, report, group, lang);
    if (!text->len)
        return;
    element(out, "<p><span class=\"label\">", said(lang, "others"), "</span> ");
    element_of(out, "", text, "</p>\n");
}

/* `first_step`: position of the finding whose advice and first cure stand on top already. */
static enum err_code write_finding(struct buf *out, struct buf *text, struct report *report, const struct report_group *group, size_t number, size_t first_step, enum lang lang,
                                   struct err *err)
{
    struct report_item item;
    enum err_code rc = report_item(report, group->first, lang, &item, err);
    if (rc)
        return rc;
    buf_printf(out, "<section class=\"finding %s\">\n<h3>%zu. ", grade_names[item.graded->grade], number);
    report_escape_html(out, str_of(item.name));
    element(out, " · ", item.subject, "</h3>\n<p>");
    element(out, "<span class=\"grade\">", str_of(report_grade_name(lang, item.graded->grade)), "</span>");
    if (item.saving.len)
        element(out, "<span class=\"saving\">", item.saving, "</span>");
    element(out, "</p>\n<p>", item.sentence, "</p>\n");
    if (item.code.len) {
        element(out, "<p><strong>", said(lang, "code"), "</strong> ");
        element(out, "<code>", item.code, "</code></p>\n");
    }
    if (item.origin.len) {
        element(out, "<p><strong>", said(lang, "origin"), "</strong> ");
        element(out, "<code>", item.origin, "</code></p>\n");
    }
    element(out, "<p><strong>", said(lang, "first"), "</strong> ");
    element(out, "", group->first == first_step ? said(lang, "first_step_above") : item.advice, "</p>\n");
    write_evidence(out, text, &item, lang);
    write_others(out, text, report, group, lang);
    write_fixes(out, text, &item, group->first == first_step ? 1 : 0, lang);
    buf_text(out, "</section>\n");
    return ERR_OK;
}

static enum err_code write_notes(struct buf *out, struct report *report, const struct report_groups *groups, enum lang lang, struct err *err)
{
    if (groups->full_count == groups->count)
        return ERR_OK;
    element(out, "<h2>", said(lang, "notes"), "</h2>\n<ul>\n");
    for (size_t i = groups->full_count; i < groups->count; i++) {
        struct report_item item;
        enum err_code rc = report_item(report, groups->of[i].first, lang, &item, err);
        if (rc)
            return rc;
        element(out, "<li><strong>", str_of(item.name), "</strong> ");
        if (item.saving.len)
            element(out, "<span class=\"saving\">", item.saving, "</span> ");
        element(out, "", item.sentence, "");
        if (report_note_advises(&item)) {
            element(out, " <strong>", said(lang, "first"), "</strong> ");
            element(out, "", item.advice, "");
        }
        buf_text(out, "</li>\n");
    }
    buf_text(out, "</ul>\n");
    return ERR_OK;
}

static void write_head(struct buf *out, struct buf *text, const struct report *report, enum lang lang)
{
    buf_printf(out,
               "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>",
               lang_names[lang]);
    report_escape_html(out, said(lang, "title"));
    report_head(text, report);
    buf_text(out, report_colon(lang));
    element(out, "", buf_str(text), "</title>\n<style>\n");
    buf_text(out, report_css);
    buf_text(out, "</style>\n</head>\n<body>\n");
    element_of(out, "<h1>", text, "</h1>\n");
    report_facts(text, report, lang);
    element_of(out, "<p class=\"facts\">", text, "</p>\n");
}

static void write_first_step(struct buf *out, struct buf *text, const struct report *report, const struct report_first_step *step, enum lang lang)
{
    element(out, "<section class=\"first\">\n<h2>", said(lang, "first_step"), "</h2>\n");
    element(out, "<p>", step->text, "</p>\n");
    if (step->where.len) {
        element(out, "<p><strong>", said(lang, "first_step_where"), "</strong> ");
        element(out, "", step->where, "</p>\n");
    }
    if (step->position < report->finding_count) {
        const char *fixes = finding_fixes(step->item.finding);
        const struct snippet *snippet = snippet_find((struct str){fixes, strcspn(fixes, " ")});
        if (step->item.origin.len) {
            element(out, "<p><strong>", said(lang, "origin"), "</strong> ");
            element(out, "<code>", step->item.origin, "</code></p>\n");
        }
        if (step->saving.len)
            element(out, "<p>", step->saving, "</p>\n");
        if (snippet)
            write_fix(out, text, &step->item, snippet, true, lang);
    }
    buf_text(out, "</section>\n");
}

static void write_together(struct buf *out, struct buf *text, const struct report *report, enum lang lang)
{
    report_together(text, report, lang);
    if (text->len)
        element_of(out, "<p>", text, "</p>\n");
}

enum err_code report_write_html(struct report *report, const struct report_style *style, struct buf *out, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    enum lang lang = style->lang;
    struct report_groups groups;
    struct report_first_step step;
    struct str verdict, judged[8];
    size_t judged_count;
    buf_init(&text, (size_t)64 << 10);
    enum err_code rc = report_verdict(report, lang, &verdict, err);
    if (rc || (rc = report_first_step(report, lang, &step, err)))
        return rc;
    report_group(report, &groups);
    write_head(out, &text, report, lang);
    element(out, "<p class=\"verdict\">", verdict, "</p>\n");
    write_first_step(out, &text, report, &step, lang);
    write_account(out, &text, report, lang);
    element(out, "<h2>", said(lang, "findings"), "</h2>\n");
    if (groups.full_count == 0)
        element(out, "<p>", said(lang, "no_findings"), "</p>\n");
    if (groups.full_count > 1)
        element(out, "<p class=\"note\">", said(lang, "order"), "</p>\n");
    for (size_t i = 0; i < groups.full_count; i++)
        if ((rc = write_finding(out, &text, report, &groups.of[i], i + 1, step.position, lang, err)))
            return rc;
    write_together(out, &text, report, lang);
    if ((rc = write_notes(out, report, &groups, lang, err)) || (rc = report_judged(report, lang, judged, &judged_count, err)))
        return rc;
    element(out, "<h2>", said(lang, "judged"), "</h2>\n<ul class=\"judged\">\n");
    for (size_t i = 0; i < judged_count; i++)
        element(out, "<li>", judged[i], "</li>\n");
    const struct word_arg version = report_text("version", STR_LIT(AFTERGLOW_VERSION));
    report_say(&text, lang, "made_by", &version, 1);
    element_of(out, "</ul>\n<footer>", &text, "</footer>\n</body>\n</html>\n");
    return ERR_OK;
}
