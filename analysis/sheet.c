/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sheet.h"

#include "analysis/report_parts.h"
#include "base/attributes.h"
#include "base/mem.h"

#define CELL_COLUMNS 72 /* of a terminal: longer cells are cut with … */
#define ROWS_MAX ((size_t)1 << 20)

static bool is_text(const struct sheet *self)
{
    return self->style.format == REPORT_TEXT;
}

static bool is_html(const struct sheet *self)
{
    return self->style.format == REPORT_HTML;
}

static void escape(struct sheet *self, struct str text)
{
    if (is_html(self))
        report_escape_html(self->out, text);
    else if (self->style.format == REPORT_MARKDOWN)
        report_escape_markdown(self->out, text);
    else
        buf_append(self->out, text.ptr, text.len);
}

/* Our own marks of the format around a text. */
static void put(struct sheet *self, const char *html_open, const char *html_close, const char *markdown_open, const char *markdown_close, struct str text)
{
    buf_text(self->out, is_html(self) ? html_open : markdown_open);
    escape(self, text);
    buf_text(self->out, is_html(self) ? html_close : markdown_close);
}

static void bold(struct sheet *self, struct str text)
{
    buf_text(self->out, self->style.colour ? "\033[1m" : "");
    report_paragraph(self->out, text, 0, 0);
    if (self->style.colour)
        buf_text(self->out, "\033[0m");
}

void sheet_begin(struct sheet *self, struct buf *out, const struct report_style *style, struct str title, struct str facts)
{
    *self = (struct sheet){.out = out, .style = *style};
    arena_init(&self->arena, (size_t)256 << 20);
    if (is_text(self)) {
        bold(self, title);
        report_paragraph(out, facts, 0, 0);
        return;
    }
    if (is_html(self)) {
        buf_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>",
                   lang_names[style->lang]);
        report_escape_html(out, title);
        buf_text(out, "</title>\n<style>\n");
        buf_text(out, report_css);
        buf_text(out, "</style>\n</head>\n<body>\n");
    }
    put(self, "<h1>", "</h1>\n", "# ", "\n\n", title);
    put(self, "<p class=\"facts\">", "</p>\n", "", "\n\n", facts);
}

void sheet_verdict(struct sheet *self, struct str text)
{
    if (is_text(self)) {
        buf_char(self->out, '\n');
        bold(self, text);
    } else {
        put(self, "<p class=\"verdict\">", "</p>\n", "**", "**\n\n", text);
    }
}

void sheet_heading(struct sheet *self, struct str text)
{
    if (is_text(self)) {
        buf_char(self->out, '\n');
        bold(self, text);
    } else {
        put(self, "<h2>", "</h2>\n", "\n## ", "\n\n", text);
    }
}

void sheet_paragraph(struct sheet *self, struct str text)
{
    if (is_text(self))
        report_paragraph(self->out, text, 0, 0);
    else
        put(self, "<p>", "</p>\n", "", "\n\n", text);
}

void sheet_note(struct sheet *self, struct str text)
{
    if (is_text(self)) {
        buf_text(self->out, "- ");
        report_paragraph(self->out, text, 2, 2);
    } else {
        put(self, "<p class=\"note\">", "</p>\n", "- ", "\n", text);
    }
}

void sheet_table(struct sheet *self, const struct str *heads, size_t column_count, unsigned numbers)
{
    arena_reset(&self->arena);
    self->row_count = 0;
    self->column_count = MIN(column_count, (size_t)SHEET_COLUMNS);
    self->numbers = numbers;
    sheet_row(self, heads);
}

/* As much of the text as fits into CELL_COLUMNS of a terminal. */
static enum err_code cut(struct sheet *self, struct str text, struct str *ret)
{
    CLEANUP(buf_dispose) struct buf whole = {0};
    if (!is_text(self) || report_width(text) <= CELL_COLUMNS)
        return arena_str(&self->arena, text, ret) ? ERR_NOMEM : ERR_OK;
    size_t len = MIN(text.len, (size_t)CELL_COLUMNS * 4);
    do
        len = utf8_valid_prefix(text.ptr, len - 1);
    while (report_width((struct str){text.ptr, len}) >= CELL_COLUMNS);
    buf_init(&whole, 4096);
    buf_append(&whole, text.ptr, len);
    buf_text(&whole, "…");
    return buf_failed(&whole) || arena_str(&self->arena, buf_str(&whole), ret) ? ERR_NOMEM : ERR_OK;
}

void sheet_row(struct sheet *self, const struct str *cells)
{
    if (mem_grow((void **)&self->rows, &self->row_capacity, self->row_count + 1, ROWS_MAX, sizeof *self->rows)) {
        self->failed = true;
        return;
    }
    for (size_t i = 0; i < self->column_count; i++)
        self->failed |= cut(self, str_known(cells[i]) ? cells[i] : STR_LIT(""), &self->rows[self->row_count][i]) != ERR_OK;
    self->row_count += !self->failed;
}

static void blanks(struct buf *out, int count)
{
    for (; count > 0; count--)
        buf_char(out, ' ');
}

static void text_rows(struct sheet *self)
{
    int widths[SHEET_COLUMNS] = {0};
    for (size_t r = 0; r < self->row_count; r++)
        for (size_t c = 0; c < self->column_count; c++)
            widths[c] = MAX(widths[c], report_width(self->rows[r][c]));
    for (size_t r = 0; r < self->row_count; r++) {
        buf_text(self->out, r == 0 && self->style.colour ? "\033[2m" : "");
        for (size_t c = 0; c < self->column_count; c++) {
            struct str cell = self->rows[r][c];
            int missing = widths[c] - report_width(cell);
            bool right = self->numbers & 1U << c, last = c + 1 == self->column_count;
            blanks(self->out, 2 + (right ? missing : 0));
            buf_append(self->out, cell.ptr, cell.len);
            blanks(self->out, right || last ? 0 : missing);
        }
        while (self->out->len && self->out->data[self->out->len - 1] == ' ')
            self->out->data[--self->out->len] = '\0';
        buf_text(self->out, r == 0 && self->style.colour ? "\033[0m\n" : "\n");
    }
}

static void marked_rows(struct sheet *self)
{
    buf_text(self->out, is_html(self) ? "<table>\n" : "");
    for (size_t r = 0; r < self->row_count; r++) {
        const char *cell = r == 0 ? "th" : "td";
        buf_text(self->out, is_html(self) ? "<tr>" : "|");
        for (size_t c = 0; c < self->column_count; c++) {
            if (is_html(self))
                buf_printf(self->out, "<%s%s>", cell, self->numbers & 1U << c ? " class=\"number\"" : "");
            else
                buf_char(self->out, ' ');
            escape(self, self->rows[r][c]);
            if (is_html(self))
                buf_printf(self->out, "</%s>", cell);
            else
                buf_text(self->out, " |");
        }
        buf_text(self->out, is_html(self) ? "</tr>\n" : "\n");
        for (size_t c = 0; r == 0 && !is_html(self) && c < self->column_count; c++)
            buf_text(self->out, self->numbers & 1U << c ? "|---:" : "|---");
        buf_text(self->out, r == 0 && !is_html(self) ? "|\n" : "");
    }
    buf_text(self->out, is_html(self) ? "</table>\n" : "\n");
}

void sheet_table_end(struct sheet *self)
{
    if (is_text(self))
        text_rows(self);
    else
        marked_rows(self);
}

bool sheet_end(struct sheet *self, struct str footer)
{
    if (is_text(self)) {
        buf_char(self->out, '\n');
        report_paragraph(self->out, footer, 0, 0);
    } else {
        put(self, "<footer>", "</footer>\n</body>\n</html>\n", "\n", "\n", footer);
    }
    mem_free(TAKE(self->rows));
    arena_dispose(&self->arena);
    return !self->failed && !buf_failed(self->out);
}
