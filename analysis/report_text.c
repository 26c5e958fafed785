/* SPDX-License-Identifier: Apache-2.0
 *
 * The report for a terminal, 96 columns wide: the verdict, where the time went, what to change, how the run was judged. Texts of the log were made harmless by wording.c; colours are the only
 * escape sequences. */
#include <ctype.h>
#include <string.h>

#include "analysis/report_parts.h"
#include "analysis/snippets.h"
#include "base/attributes.h"

#define WIDTH 96
#define BAR_WIDTH 28
#define NAME_WIDTH 30

enum colour { PLAIN, BOLD, DIM, RED, YELLOW, GREEN, BLUE };

static void colour(struct buf *out, const struct report_style *style, enum colour which)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[32m", "\033[36m"};
    if (style->colour)
        buf_text(out, codes[which]);
}

/* ---- columns */

/* Bytes of the character at `p`, and how many columns it takes: two for those of East Asia. The text is valid UTF-8, for wording.c made it. */
static size_t character(const char *p, int *ret_columns)
{
    unsigned char c = (unsigned char)p[0];
    size_t len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    uint32_t code = c < 0x80 ? c : c & (0x7FU >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)p[i] & 0x3F);
    bool is_wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) || (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                   (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) || (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
    *ret_columns = is_wide ? 2 : 1;
    return len;
}

int report_width(struct str text)
{
    int width = 0, columns;
    for (size_t at = 0; at < text.len; width += columns)
        at += character(text.ptr + at, &columns);
    return width;
}

static void blanks(struct buf *out, int count)
{
    for (; count > 0; count--)
        buf_char(out, ' ');
}

/* A blank inside of "1 m 05 s". */
static bool is_within_duration(struct str text, size_t at)
{
    return at >= 3 && at + 1 < text.len && text.ptr[at] == ' ' && strchr("mhd", text.ptr[at - 1]) && text.ptr[at - 2] == ' ' && isdigit((unsigned char)text.ptr[at - 3]) &&
           isdigit((unsigned char)text.ptr[at + 1]);
}

/* A blank between a number and its unit. */
static bool is_before_unit(struct str text, size_t at)
{
    static const char *const units[] = {"ms", "s", "m", "h", "d", "B", "KiB", "MiB", "GiB", "TiB", "%"};
    if (at == 0 || text.ptr[at] != ' ' || text.ptr[at - 1] < '0' || text.ptr[at - 1] > '9')
        return false;
    struct str rest = {text.ptr + at + 1, text.len - at - 1};
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        size_t len = strlen(units[i]);
        if (str_starts(rest, units[i]) && (rest.len == len || !isalnum((unsigned char)rest.ptr[len])))
            return true;
    }
    return false;
}

/* The longest piece from `at` on that must not be broken: a word, a number with its unit, a length of time, or one wide character with the punctuation behind it. */
static size_t piece_at(struct str text, size_t at, int *ret_width)
{
    size_t begin = at;
    *ret_width = 0;
    while (at < text.len && (text.ptr[at] != ' ' || is_before_unit(text, at) || is_within_duration(text, at))) {
        int columns, next = 0;
        at += character(text.ptr + at, &columns);
        *ret_width += columns;
        if (at < text.len)
            character(text.ptr + at, &next);
        bool is_mark_next = at + 3 <= text.len && (memcmp(text.ptr + at, "\xE3\x80", 2) == 0 || memcmp(text.ptr + at, "\xEF\xBC", 2) == 0);
        if ((columns == 2 || next == 2) && !is_mark_next)
            break;
    }
    return at - begin;
}

/* `text` from column `indent` on, broken before WIDTH; the cursor stands at `column`. Ends the line. */
void report_paragraph(struct buf *out, struct str text, int indent, int column)
{
    bool at_begin = true;
    for (size_t at = 0; at < text.len;) {
        int width;
        bool blank = text.ptr[at] == ' ';
        if (blank) {
            at++;
            continue;
        }
        size_t len = piece_at(text, at, &width);
        bool gap = at > 0 && text.ptr[at - 1] == ' ' && !at_begin;
        if (!at_begin && column + gap + width > WIDTH) {
            buf_char(out, '\n');
            blanks(out, indent);
            column = indent;
            gap = false;
        }
        if (gap)
            buf_char(out, ' ');
        buf_append(out, text.ptr + at, len);
        column += width + gap;
        at += len;
        at_begin = false;
    }
    buf_char(out, '\n');
}

static void indented(struct buf *out, struct str text, int indent)
{
    blanks(out, indent);
    report_paragraph(out, text, indent, indent);
}

static void heading(struct buf *out, const struct report_style *style, const char *what)
{
    buf_char(out, '\n');
    colour(out, style, BOLD);
    buf_text(out, message_of(style->lang, "report", what));
    colour(out, style, PLAIN);
    buf_char(out, '\n');
}

/* ---- parts */

static void bar(struct buf *out, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int cells = (int)(share * BAR_WIDTH * 8 + 0.5);
    for (; cells >= 8; cells -= 8)
        buf_text(out, "█");
    buf_text(out, eighths[cells > 0 ? cells : 0]);
}

static void account_row(struct buf *out, struct str name, int64_t ms, double share)
{
    CLEANUP(buf_dispose) struct buf time, percent;
    buf_init(&time, 64);
    buf_init(&percent, 64);
    word_duration(&time, (double)ms);
    word_share(&percent, share);
    blanks(out, 2);
    buf_append(out, name.ptr, name.len);
    blanks(out, NAME_WIDTH - report_width(name) + 10 - report_width(buf_str(&time)));
    buf_append(out, time.data, time.len);
    blanks(out, 9 - report_width(buf_str(&percent)));
    buf_append(out, percent.data, percent.len);
    blanks(out, 2);
    bar(out, share);
    buf_char(out, '\n');
}

static void write_account(struct buf *out, struct report *report, const struct report_style *style)
{
    struct report_account_row rows[BUCKET_COUNT + 1];
    size_t count = report_account_rows(report, style->lang, rows);
    heading(out, style, "account");
    for (size_t i = 0; i < count; i++)
        account_row(out, rows[i].name, rows[i].ms, rows[i].share);
    CLEANUP(buf_dispose) struct buf note;
    buf_init(&note, 1024);
    report_account_note(&note, report, style->lang);
    colour(out, style, DIM);
    indented(out, buf_str(&note), 2);
    colour(out, style, PLAIN);
}

/* Nothing where there is no text. `indent`: where the label stands; further lines are moved in. */
static void labelled(struct buf *out, const struct report_style *style, int indent, const char *label, struct str text)
{
    struct str name = str_of(message_of(style->lang, "report", label));
    if (!text.len)
        return;
    blanks(out, indent);
    colour(out, style, BLUE);
    buf_append(out, name.ptr, name.len);
    colour(out, style, PLAIN);
    buf_text(out, report_colon(style->lang));
    report_paragraph(out, text, indent + 2, indent + report_width(name) + 2);
}

static void write_evidence(struct buf *out, struct report *report, const struct report_style *style, const struct report_item *item)
{
    const struct report_evidence *evidence = &item->evidence;
    CLEANUP(buf_dispose) struct buf line;
    buf_init(&line, (size_t)64 << 10);
    labelled(out, style, 4, "evidence", item->evidence.formula);
    size_t rows = 0;
    for (size_t at = 0; rows < REPORT_EVIDENCE_ROWS && report_evidence_row(&line, style->lang, evidence, &at); rows++)
        indented(out, report_keep(report, &line), 6);
    if (evidence->row_count > rows) {
        const struct word_arg n = report_number("n", (double)(evidence->row_count - rows), "count");
        report_say(&line, style->lang, "more_evidence", &n, 1);
        indented(out, report_keep(report, &line), 6);
    }
}

/* `indent`: of its label. */
static void write_first_fix(struct buf *out, const struct report_style *style, const struct report_item *item, int indent)
{
    const char *fixes = finding_fixes(item->finding);
    const struct snippet *snippet = snippet_find((struct str){fixes, strcspn(fixes, " ")});
    if (!snippet)
        return;
    CLEANUP(buf_dispose) struct buf code;
    buf_init(&code, (size_t)64 << 10);
    snippet_fill(&code, snippet, style->lang, item->args, item->arg_count);
    labelled(out, style, indent, "fixes", str_of(message_of(style->lang, "snippets", snippet->id)));
    for (const char *p = code.data; p && *p;) {
        size_t len = strcspn(p, "\n");
        blanks(out, 8);
        buf_append(out, p, len);
        buf_char(out, '\n');
        p += len + (p[len] == '\n');
    }
}

static void write_others(struct buf *out, const struct report *report, const struct report_style *style, const struct report_group *group)
{
    CLEANUP(buf_dispose) struct buf line;
    buf_init(&line, (size_t)64 << 10);
    report_others(&line, report, group, style->lang);
    labelled(out, style, 4, "others", buf_str(&line));
}

/* `first_step`: position of the finding whose advice and cure stand on top already. */
static enum err_code write_finding(struct buf *out, struct report *report, const struct report_style *style, size_t number, const struct report_group *group, size_t first_step, struct err *err)
{
    struct report_item item;
    bool is_first_step = group->first == first_step;
    enum err_code rc = report_item(report, group->first, style->lang, &item, err);
    if (rc)
        return rc;
    enum grade grade = item.graded->grade;
    buf_printf(out, "\n%2zu  ", number);
    colour(out, style, grade == GRADE_SEVERE ? RED : grade == GRADE_MODERATE ? YELLOW : BLUE);
    buf_text(out, report_grade_name(style->lang, grade));
    colour(out, style, BOLD);
    buf_printf(out, "  %s", item.name);
    colour(out, style, PLAIN);
    buf_printf(out, " · %.*s", (int)item.subject.len, item.subject.ptr);
    if (item.saving.len) {
        buf_text(out, " · ");
        colour(out, style, GREEN);
        buf_append(out, item.saving.ptr, item.saving.len);
        colour(out, style, PLAIN);
    }
    buf_char(out, '\n');
    indented(out, item.sentence, 4);
    labelled(out, style, 4, "code", item.code);
    labelled(out, style, 4, "origin", item.origin);
    labelled(out, style, 4, "first", is_first_step ? str_of(message_of(style->lang, "report", "first_step_above")) : item.advice);
    write_evidence(out, report, style, &item);
    write_others(out, report, style, group);
    if (!is_first_step)
        write_first_fix(out, style, &item, 4);
    return ERR_OK;
}

/* Small ones and what is no fault. */
static enum err_code write_notes(struct buf *out, struct report *report, const struct report_style *style, const struct report_groups *groups, struct err *err)
{
    for (size_t i = groups->full_count; i < groups->count; i++) {
        struct report_item item;
        enum err_code rc = report_item(report, groups->of[i].first, style->lang, &item, err);
        if (rc)
            return rc;
        if (i == groups->full_count)
            heading(out, style, "notes");
        int width = 4 + report_width(str_of(item.name)) + 2;
        buf_text(out, "  · ");
        colour(out, style, BOLD);
        buf_text(out, item.name);
        colour(out, style, PLAIN);
        if (item.saving.len) {
            buf_printf(out, " · %.*s", (int)item.saving.len, item.saving.ptr);
            width += 3 + report_width(item.saving);
        }
        buf_text(out, report_colon(style->lang));
        report_paragraph(out, item.sentence, 4, width);
        if (report_note_advises(&item))
            labelled(out, style, 4, "first", item.advice);
    }
    return ERR_OK;
}

static void write_first_step(struct buf *out, const struct report *report, const struct report_style *style, const struct report_first_step *step)
{
    heading(out, style, "first_step");
    indented(out, step->text, 2);
    labelled(out, style, 2, "first_step_where", step->where);
    if (step->position == report->finding_count)
        return;
    labelled(out, style, 2, "origin", step->item.origin);
    if (step->saving.len)
        indented(out, step->saving, 2);
    write_first_fix(out, style, &step->item, 2);
}

static void write_together(struct buf *out, struct report *report, const struct report_style *style)
{
    CLEANUP(buf_dispose) struct buf line;
    buf_init(&line, 4096);
    report_together(&line, report, style->lang);
    if (!line.len)
        return;
    buf_char(out, '\n');
    indented(out, buf_str(&line), 2);
}

enum err_code report_write_text(struct report *report, const struct report_style *style, struct buf *out, struct err *err)
{
    struct report_groups groups;
    struct report_first_step step;
    struct str verdict, judged[8];
    size_t judged_count = 0;
    enum err_code rc = report_verdict(report, style->lang, &verdict, err);
    if (rc || (rc = report_first_step(report, style->lang, &step, err)))
        return rc;
    report_group(report, &groups);
    colour(out, style, BOLD);
    report_head(out, report);
    colour(out, style, PLAIN);
    buf_char(out, '\n');
    report_facts(out, report, style->lang);
    buf_char(out, '\n');
    heading(out, style, "verdict");
    indented(out, verdict, 2);
    write_first_step(out, report, style, &step);
    write_account(out, report, style);
    heading(out, style, "findings");
    if (groups.full_count == 0)
        indented(out, str_of(message_of(style->lang, "report", "no_findings")), 2);
    if (groups.full_count > 1)
        indented(out, str_of(message_of(style->lang, "report", "order")), 2);
    for (size_t i = 0; i < groups.full_count; i++)
        if ((rc = write_finding(out, report, style, i + 1, &groups.of[i], step.position, err)))
            return rc;
    write_together(out, report, style);
    if ((rc = write_notes(out, report, style, &groups, err)) || (rc = report_judged(report, style->lang, judged, &judged_count, err)))
        return rc;
    heading(out, style, "judged");
    for (size_t i = 0; i < judged_count; i++)
        indented(out, judged[i], 2);
    return ERR_OK;
}
