/* SPDX-License-Identifier: Apache-2.0 */
#include "place/xml.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str xml_trim(struct str text)
{
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_blank(*text.ptr)) {
        text.ptr++;
        text.len--;
    }
    return text;
}

void xml_init(struct xml *self, struct str text)
{
    *self = (struct xml){.p = text.ptr, .end = text.ptr + text.len};
}

static enum xml_event fail(struct xml *self)
{
    self->p = NULL;
    return XML_FAILED;
}

/* Behind the next `mark`, or NULL. */
static const char *behind(const char *p, const char *end, const char *mark)
{
    const char *found = memmem(p, (size_t)(end - p), mark, strlen(mark));
    return found ? found + strlen(mark) : NULL;
}

static bool starts(const char *p, const char *end, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(end - p) >= len && memcmp(p, text, len) == 0;
}

/* The '>' that ends a tag; quoted values may hold others. */
static const char *tag_end(const char *p, const char *end)
{
    char quote = 0;
    for (; p < end; p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        else if (!quote && *p == '>')
            return p;
    }
    return NULL;
}

static enum xml_event take_tag(struct xml *self)
{
    const char *p = self->p + 1, *close = tag_end(p, self->end);
    if (!close)
        return fail(self);
    bool closing = *p == '/';
    p += closing;
    const char *name = p;
    while (p < close && !is_blank(*p) && *p != '/') {
        if (*p++ == ':')
            name = p;
    }
    self->name = (struct str){name, (size_t)(p - name)};
    self->p = close + 1;
    self->closes_itself = !closing && close[-1] == '/';
    self->depth += closing ? -1 : 1;
    if (self->name.len == 0 || self->depth < 0 || self->depth > XML_DEPTH_MAX)
        return fail(self);
    return closing ? XML_CLOSE : XML_OPEN;
}

enum xml_event xml_next(struct xml *self)
{
    if (!self->p)
        return XML_FAILED;
    if (self->closes_itself) {
        self->closes_itself = false;
        self->depth--;
        return XML_CLOSE;
    }
    while (self->p < self->end) {
        const char *p = self->p;
        if (*p != '<') {
            const char *next = memchr(p, '<', (size_t)(self->end - p));
            self->raw = (struct str){p, (size_t)((next ? next : self->end) - p)};
            self->p = next ? next : self->end;
            if (self->depth > 0)
                return XML_TEXT;
            if (xml_trim(self->raw).len > 0 && !starts(p, self->end, "\xEF\xBB\xBF"))
                return fail(self);
            continue;
        }
        const char *after = starts(p, self->end, "<!--") ? behind(p + 4, self->end, "-->") : starts(p, self->end, "<?") ? behind(p, self->end, "?>") : p;
        if (!after || starts(p, self->end, "<!D") || starts(p, self->end, "<!["))
            return fail(self);
        if (after == p)
            return take_tag(self);
        self->p = after;
    }
    return self->depth == 0 ? XML_END : fail(self);
}

/* "#38", "#x26". 0: no character. */
static unsigned numbered(struct str s)
{
    unsigned base = 10, code = 0;
    size_t i = 1;
    if (s.len > 2 && (s.ptr[1] == 'x' || s.ptr[1] == 'X')) {
        base = 16;
        i = 2;
    }
    if (i == s.len)
        return 0;
    for (; i < s.len; i++) {
        char c = s.ptr[i], low = (char)(c | 0x20);
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : low >= 'a' && low <= 'f' ? (unsigned)(low - 'a') + 10 : 99;
        if (digit >= base || (code = code * base + digit) > 0x10FFFF)
            return 0;
    }
    return code >= 0xD800 && code < 0xE000 ? 0 : code;
}

int xml_text(const struct xml *self, struct buf *out)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (const char *p = self->raw.ptr, *end = p + self->raw.len; p < end;) {
        const char *mark = memchr(p, '&', (size_t)(end - p)), *stop = mark ? mark : end;
        buf_append(out, p, (size_t)(stop - p));
        if (!mark)
            break;
        const char *semicolon = memchr(mark, ';', (size_t)(end - mark));
        if (!semicolon)
            return -1;
        struct str name = {mark + 1, (size_t)(semicolon - mark - 1)};
        char c = 0;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (str_is(name, known[i].name))
                c = known[i].c;
        unsigned code = c ? (unsigned)(unsigned char)c : name.len > 1 && *name.ptr == '#' ? numbered(name) : 0;
        if (!code)
            return -1;
        buf_utf8(out, code);
        p = semicolon + 1;
    }
    return buf_failed(out) ? -1 : 0;
}
