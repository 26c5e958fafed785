/* SPDX-License-Identifier: Apache-2.0
 *
 * The report for a ticket: Markdown as GitHub, GitLab and Jira's importers read it. Everything but our own marks is escaped. */
#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/snippets.h"
#include "base/attributes.h"

/* Backslash before what Markdown would read; a line break cannot come here (wording.c). */
void report_escape_markdown(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] && strchr("\\`*_{}[]<>#|~@&!$", text.ptr[i]))
            buf_char(out, '\\');
        buf_char(out, text.ptr[i]);
    }
}

static void say(struct buf *out, enum lang lang, const char *what)
{
    report_escape_markdown(out, str_of(message_of(lang, "report", what)));
}

static void heading(struct buf *out, enum lang lang, const char *what)
{
    buf_text(out, "\n## ");
    say(out, lang, what);
    buf_text(out, "\n\n");
}

static void write_account(struct buf *out, struct report *report, enum lang lang)
{
    CLEANUP(buf_dispose) struct buf note;
    struct report_account_row rows[BUCKET_COUNT + 1];
    size_t count = report_account_rows(report, lang, rows);
    heading(out, lang, "account");
    buf_text(out, "| ");
    say(out, lang, "bucket");
    buf_text(out, " | ");
    say(out, lang, "time");
    buf_text(out, " | ");
    say(out, lang, "share");
    buf_text(out, " |\n|---|---:|---:|\n");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, "| ");
        report_escape_markdown(out, rows[i].name);
        buf_text(out, " | ");
        word_duration(out, (double)rows[i].ms);
        buf_text(out, " | ");
        word_share(out, rows[i].share);
        buf_text(out, " |\n");
    }
    buf_init(&note, 4096);
    report_account_note(&note, report, lang);
    buf_char(out, '\n');
    report_escape_markdown(out, buf_str(&note));
    buf_char(out, '\n');
}

static void write_first_fix(struct buf *out, enum lang lang, const struct report_item *item)
{
    const char *fixes = finding_fixes(item->finding);
    const struct snippet *snippet = snippet_find((struct str){fixes, strcspn(fixes, " ")});
    if (!snippet)
        return;
    buf_text(out, "\n**");
    say(out, lang, "fixes");
    buf_text(out, "**: ");
    report_escape_markdown(out, str_of(message_of(lang, "snippets", snippet->id)));
    buf_printf(out, "\n\n```%s\n", strcmp(snippet->language, "conf") == 0 ? "sh" : snippet->language);
    snippet_fill(out, snippet, lang, item->args, item->arg_count);
    buf_text(out, "\n```\n");
}

/* `before`: what parts it from what stands before it. */
static void labelled(struct buf *out, enum lang lang, const char *before, const char *label, struct str text)
{
    if (!text.len)
        return;
    buf_printf(out, "%s**", before);
    say(out, lang, label);
    buf_text(out, "**: ");
    report_escape_markdown(out, text);
}

static void write_evidence(struct buf *out, struct report *report, enum lang lang, const struct report_item *item)
{
    CLEANUP(buf_dispose) struct buf line;
    buf_init(&line, (size_t)64 << 10);
    if (!item->evidence.formula.len && !item->evidence.count)
        return;
    buf_text(out, "\n\n**");
    say(out, lang, "evidence");
    buf_text(out, "**: ");
    report_escape_markdown(out, item->evidence.formula);
    buf_char(out, '\n');
    for (size_t at = 0, rows = 0; rows < REPORT_EVIDENCE_ROWS && report_evidence_row(&line, lang, &item->evidence, &at); rows++) {
        buf_text(out, "\n- ");
        report_escape_markdown(out, report_keep(report, &line));
    }
    if (item->evidence.row_count > REPORT_EVIDENCE_ROWS) {
        const struct word_arg n = report_number("n", (double)(item->evidence.row_count - REPORT_EVIDENCE_ROWS), "count");
        report_say(&line, lang, "more_evidence", &n, 1);
        buf_text(out, "\n- ");
        report_escape_markdown(out, report_keep(report, &line));
    }
}

/* `is_first_step`: what to do about it stands on top already. */
static void write_finding(struct buf *out, struct report *report, enum lang lang, size_t number, const struct report_group *group, const struct report_item *item, bool is_first_step)
{
    CLEANUP(buf_dispose) struct buf others;
    buf_init(&others, (size_t)64 << 10);
    buf_printf(out, "### %zu. ", number);
    report_escape_markdown(out, str_of(item->name));
    buf_text(out, " · ");
    report_escape_markdown(out, item->subject);
    buf_text(out, "\n\n**");
    report_escape_markdown(out, str_of(report_grade_name(lang, item->graded->grade)));
    buf_text(out, "**");
    if (item->saving.len) {
        buf_text(out, " · ");
        report_escape_markdown(out, item->saving);
    }
    buf_text(out, "\n\n");
    report_escape_markdown(out, item->sentence);
    labelled(out, lang, "\n\n", "code", item->code);
    labelled(out, lang, "\n\n", "origin", item->origin);
    labelled(out, lang, "\n\n", "first", is_first_step ? str_of(message_of(lang, "report", "first_step_above")) : item->advice);
    write_evidence(out, report, lang, item);
    report_others(&others, report, group, lang);
    labelled(out, lang, "\n\n", "others", buf_str(&others));
    buf_char(out, '\n');
    if (!is_first_step)
        write_first_fix(out, lang, item);
    buf_char(out, '\n');
}

static void write_first_step(struct buf *out, const struct report *report, enum lang lang, const struct report_first_step *step)
{
    heading(out, lang, "first_step");
    report_escape_markdown(out, step->text);
    labelled(out, lang, "\n\n", "first_step_where", step->where);
    if (step->position < report->finding_count) {
        labelled(out, lang, "\n\n", "origin", step->item.origin);
        if (step->saving.len)
            buf_text(out, "\n\n");
        report_escape_markdown(out, step->saving);
        buf_char(out, '\n');
        write_first_fix(out, lang, &step->item);
    } else {
        buf_char(out, '\n');
    }
}

static enum err_code write_findings(struct buf *out, struct report *report, enum lang lang, size_t first_step, struct err *err)
{
    CLEANUP(buf_dispose) struct buf together;
    struct report_groups groups;
    struct report_item item;
    enum err_code rc = ERR_OK;
    buf_init(&together, 4096);
    report_group(report, &groups);
    heading(out, lang, "findings");
    if (groups.full_count == 0) {
        say(out, lang, "no_findings");
        buf_char(out, '\n');
    }
    if (groups.full_count > 1) {
        say(out, lang, "order");
        buf_text(out, "\n\n");
    }
    for (size_t i = 0; i < groups.full_count; i++) {
        if ((rc = report_item(report, groups.of[i].first, lang, &item, err)))
            return rc;
        write_finding(out, report, lang, i + 1, &groups.of[i], &item, groups.of[i].first == first_step);
    }
    report_together(&together, report, lang);
    if (together.len) {
        report_escape_markdown(out, buf_str(&together));
        buf_char(out, '\n');
    }
    if (groups.full_count < groups.count)
        heading(out, lang, "notes");
    for (size_t i = groups.full_count; i < groups.count; i++) {
        if ((rc = report_item(report, groups.of[i].first, lang, &item, err)))
            return rc;
        buf_text(out, "- ");
        report_escape_markdown(out, str_of(item.name));
        if (item.saving.len) {
            buf_text(out, " · ");
            report_escape_markdown(out, item.saving);
        }
        buf_text(out, report_colon(lang));
        report_escape_markdown(out, item.sentence);
        if (report_note_advises(&item))
            labelled(out, lang, " ", "first", item.advice);
        buf_char(out, '\n');
    }
    return ERR_OK;
}

enum err_code report_write_markdown(struct report *report, const struct report_style *style, struct buf *out, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    struct report_first_step step;
    struct str verdict, judged[8];
    size_t judged_count;
    buf_init(&text, (size_t)64 << 10);
    enum err_code rc = report_verdict(report, style->lang, &verdict, err);
    if (rc || (rc = report_first_step(report, style->lang, &step, err)))
        return rc;
    report_head(&text, report);
    buf_text(out, "# ");
    report_escape_markdown(out, report_keep(report, &text));
    report_facts(&text, report, style->lang);
    buf_text(out, "\n\n");
    report_escape_markdown(out, report_keep(report, &text));
    buf_text(out, "\n\n> ");
    report_escape_markdown(out, verdict);
    buf_char(out, '\n');
    write_first_step(out, report, style->lang, &step);
    write_account(out, report, style->lang);
    if ((rc = write_findings(out, report, style->lang, step.position, err)) || (rc = report_judged(report, style->lang, judged, &judged_count, err)))
        return rc;
    heading(out, style->lang, "judged");
    for (size_t i = 0; i < judged_count; i++) {
        buf_text(out, "- ");
        report_escape_markdown(out, judged[i]);
        buf_char(out, '\n');
    }
    return ERR_OK;
}
