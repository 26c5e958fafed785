/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/list_csv.h"

#include <stdio.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"
#include "server/api/api.h"

#define MOST_COLUMNS 256
#define ITEM_BYTES ((size_t)64 << 20) /* texts of one item: a statement, a plan */

/* Objects in items that may be null: their members are columns whether the first item has them or not. */
static const struct {
    const char *key, *members;
} nested[] = {
    {"skew", "grade rule priceMs height durationRatio bytesRatio bytesHeight bytes"},
    {"gc", "grade rule priceMs height share"},
    {"peaks",
     "jvmHeapMemoryBytes jvmOffHeapMemoryBytes onHeapExecutionMemoryBytes offHeapExecutionMemoryBytes onHeapStorageMemoryBytes offHeapStorageMemoryBytes onHeapUnifiedMemoryBytes "
     "offHeapUnifiedMemoryBytes directPoolMemoryBytes mappedPoolMemoryBytes processTreeJvmVMemoryBytes processTreeJvmRssMemoryBytes processTreePythonVMemoryBytes "
     "processTreePythonRssMemoryBytes processTreeOtherVMemoryBytes processTreeOtherRssMemoryBytes minorGcCount minorGcTimeMs majorGcCount majorGcTimeMs totalGcTimeMs concurrentGcCount "
     "concurrentGcTimeMs"},
};

struct column {
    struct str key, member; /* member STR_NONE: the value of the key itself */
};

struct csv {
    struct response *response;     /* borrowed */
    struct arena *arena;           /* borrowed: names of columns */
    struct buf item, row, scratch; /* JSON of the item that is being written, its row, one text of it */
    int depth;
    bool in_string, escaped, ended; /* ended: the items are */
    struct column columns[MOST_COLUMNS];
    struct str cells[MOST_COLUMNS]; /* JSON of each value, in `item` */
    size_t column_count;
};

/* ---- JSON as we write it: no blanks between tokens ---- */

/* The value at the begin of *rest, which goes on behind it. */
static struct str take_value(struct str *rest)
{
    size_t i = 0;
    int depth = 0;
    bool in_string = false;
    for (; i < rest->len; i++) {
        char c = rest->ptr[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (depth == 0)
                break;
            depth -= c != ',';
        }
    }
    struct str value = {rest->ptr, MIN(i, rest->len)};
    *rest = (struct str){rest->ptr + value.len, rest->len - value.len};
    return value;
}

/* One member of an object whose brace was taken off. False: there are no more. */
static bool take_member(struct str *rest, struct str *ret_key, struct str *ret_value)
{
    if (rest->len && rest->ptr[0] == ',')
        *rest = (struct str){rest->ptr + 1, rest->len - 1};
    const char *end = rest->len && rest->ptr[0] == '"' ? memchr(rest->ptr + 1, '"', rest->len - 1) : NULL;
    if (!end)
        return false;
    *ret_key = (struct str){rest->ptr + 1, (size_t)(end - rest->ptr) - 1}; /* keys are ours: nothing in them is escaped */
    *rest = (struct str){end + 2, rest->len - (size_t)(end + 2 - rest->ptr)};
    *ret_value = take_value(rest);
    return true;
}

static struct str inside(struct str value)
{
    return value.len >= 2 ? (struct str){value.ptr + 1, value.len - 2} : STR_LIT("");
}

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* The writer escapes control characters by \u, and nothing beyond ASCII. */
static void unescape(struct buf *out, struct str quoted)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    struct str text = inside(quoted);
    while (text.len) {
        const char *slash = memchr(text.ptr, '\\', text.len);
        size_t plain = slash ? (size_t)(slash - text.ptr) : text.len;
        buf_append(out, text.ptr, plain);
        text = (struct str){text.ptr + plain, text.len - plain};
        if (text.len < 2)
            return;
        const char *known = strchr(from, text.ptr[1]);
        size_t taken = text.ptr[1] == 'u' && text.len >= 6 ? 6 : 2;
        int c = taken == 6 ? hex(text.ptr[4]) << 4 | hex(text.ptr[5]) : known ? to[known - from] : text.ptr[1];
        buf_char(out, (char)c);
        text = (struct str){text.ptr + taken, text.len - taken};
    }
}

/* ---- cells ---- */

static bool is_formula(char c)
{
    return c == '=' || c == '+' || c == '-' || c == '@' || (unsigned char)c < 0x20;
}

/* Semicolon and tab too: spreadsheets of some languages divide at them, and a formula could begin behind one. */
static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr("\",;\t\n\r", text.ptr[i]) && text.ptr[i])
            return true;
    return text.len && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ');
}

static void put_text(struct buf *out, struct str text)
{
    bool quotes = needs_quotes(text);
    if (quotes)
        buf_char(out, '"');
    if (text.len && is_formula(text.ptr[0]))
        buf_char(out, '\'');
    for (size_t i = 0; quotes && i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_char(out, '"');
        buf_char(out, text.ptr[i]);
    }
    if (quotes)
        buf_char(out, '"');
    else
        buf_append(out, text.ptr, text.len);
}

static bool is_plain(struct str value)
{
    return value.len && value.ptr[0] != '{' && value.ptr[0] != '[';
}

/* Words of an array with blanks between them; false: it holds more than words. */
static bool join(struct buf *out, struct str array)
{
    for (struct str rest = inside(array); rest.len;) {
        struct str value = take_value(&rest);
        if (!is_plain(value))
            return false;
        if (out->len)
            buf_char(out, ' ');
        if (value.ptr[0] == '"')
            unescape(out, value);
        else
            buf_append(out, value.ptr, value.len);
        if (rest.len)
            rest = (struct str){rest.ptr + 1, rest.len - 1};
    }
    return true;
}

static void put_cell(struct csv *self, struct str value)
{
    buf_clear(&self->scratch);
    if (!value.len || str_is(value, "null"))
        return;
    if (value.ptr[0] == '"') {
        unescape(&self->scratch, value);
    } else if (value.ptr[0] == '[') {
        if (!join(&self->scratch, value)) {
            buf_clear(&self->scratch);
            buf_append(&self->scratch, value.ptr, value.len);
        }
    } else if (value.ptr[0] == '{') {
        buf_append(&self->scratch, value.ptr, value.len);
    } else {
        buf_append(&self->row, value.ptr, value.len); /* a number, true or false */
        return;
    }
    self->row.failed |= buf_failed(&self->scratch);
    put_text(&self->row, buf_str(&self->scratch));
}

/* ---- rows ---- */

static void add_column(struct csv *self, struct str key, struct str member)
{
    struct column *column = &self->columns[self->column_count];
    if (self->column_count == MOST_COLUMNS || arena_str(self->arena, key, &column->key) || (str_known(member) && arena_str(self->arena, member, &column->member)))
        self->row.failed = true;
    else
        self->column_count++;
}

static const char *members_of(struct str key)
{
    for (size_t i = 0; i < ARRAY_LENGTH(nested); i++)
        if (str_is(key, nested[i].key))
            return nested[i].members;
    return NULL;
}

static void name_columns(struct csv *self)
{
    struct str rest = inside(buf_str(&self->item)), key, value;
    while (take_member(&rest, &key, &value)) {
        const char *member = members_of(key);
        if (!member)
            add_column(self, key, STR_NONE);
        while (member && *member) {
            size_t len = strcspn(member, " ");
            add_column(self, key, (struct str){member, len});
            member += len + (member[len] == ' ');
        }
    }
    for (size_t i = 0; i < self->column_count; i++) {
        buf_printf(&self->row, "%s%.*s", i ? "," : "", (int)self->columns[i].key.len, self->columns[i].key.ptr);
        if (str_known(self->columns[i].member))
            buf_printf(&self->row, ".%.*s", (int)self->columns[i].member.len, self->columns[i].member.ptr);
    }
    buf_text(&self->row, "\r\n");
}

/* Keys come in the order of the columns, so the search begins where the last one was found. */
static void set_cell(struct csv *self, size_t *at, struct str key, struct str member, struct str value)
{
    for (size_t i = 0; i < self->column_count; i++) {
        size_t k = (*at + i) % self->column_count;
        if (str_eq(self->columns[k].key, key) && str_eq(self->columns[k].member, member)) {
            self->cells[k] = value;
            *at = k + 1;
            return;
        }
    }
}

static enum err_code put_row(struct csv *self)
{
    struct str rest = inside(buf_str(&self->item)), key, value, member, part;
    size_t at = 0;
    buf_clear(&self->row);
    if (!self->column_count)
        name_columns(self);
    for (size_t i = 0; i < self->column_count; i++)
        self->cells[i] = STR_NONE;
    while (take_member(&rest, &key, &value)) {
        if (!members_of(key)) {
            set_cell(self, &at, key, STR_NONE, value);
            continue;
        }
        for (struct str object = value.ptr[0] == '{' ? inside(value) : STR_LIT(""); take_member(&object, &member, &part);)
            set_cell(self, &at, key, member, part);
    }
    for (size_t i = 0; i < self->column_count; i++) {
        if (i)
            buf_char(&self->row, ',');
        put_cell(self, self->cells[i]);
    }
    buf_text(&self->row, "\r\n");
    return buf_failed(&self->row) ? ERR_NOMEM : response_write(self->response, self->row.data, self->row.len);
}

/* ---- the stream of JSON ---- */

/* {"items":[ is depth 2; an item is what begins and ends there. */
#define ITEM_DEPTH 2

static enum err_code take(void *context, const char *bytes, size_t len)
{
    struct csv *self = context;
    size_t from = 0;
    for (size_t i = 0; i < len && !self->ended; i++) {
        char c = bytes[i];
        if (self->in_string) {
            if (self->escaped) {
                self->escaped = false;
                continue;
            }
            while (i < len && bytes[i] != '"' && bytes[i] != '\\')
                i++;
            if (i < len) {
                self->in_string = bytes[i] != '"';
                self->escaped = bytes[i] == '\\';
            }
        } else if (c == '"') {
            self->in_string = true;
        } else if (c == '{' || c == '[') {
            if (self->depth++ == ITEM_DEPTH) {
                buf_clear(&self->item);
                from = i;
            }
        } else if (c == '}' || c == ']') {
            if (--self->depth == ITEM_DEPTH) {
                buf_append(&self->item, bytes + from, i + 1 - from);
                enum err_code rc = buf_failed(&self->item) ? ERR_NOMEM : put_row(self);
                if (rc)
                    return rc;
                from = i + 1;
            }
            self->ended = self->depth < ITEM_DEPTH;
        }
    }
    if (self->depth > ITEM_DEPTH)
        buf_append(&self->item, bytes + from, len - from);
    return ERR_OK;
}

static void dispose(void *context)
{
    struct csv *self = context;
    buf_dispose(&self->item);
    buf_dispose(&self->row);
    buf_dispose(&self->scratch);
    mem_free(self);
}

struct json_writer *list_csv_begin(struct response *response, struct str name, struct arena *arena)
{
    struct csv *self = mem_zalloc(sizeof *self);
    if (self) {
        *self = (struct csv){.response = response, .arena = arena};
        buf_init(&self->item, ITEM_BYTES);
        buf_init(&self->row, 2 * ITEM_BYTES);
        buf_init(&self->scratch, ITEM_BYTES);
    }
    api_download(response, name, ".csv");
    response_content_type(response, "text/csv;charset=utf-8;header=present");
    return response_json_through(response, self ? take : NULL, dispose, self);
}
