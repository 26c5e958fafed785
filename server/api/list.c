/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/list.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "server/api/list_csv.h"

#define CURSOR_MARK 'p'

static enum err_code read_sort(struct list *self, struct str text, const struct list_sort *sorts, struct err *err)
{
    self->descending = text.len && text.ptr[0] == '-';
    if (self->descending)
        text = (struct str){text.ptr + 1, text.len - 1};
    for (self->sort = sorts; self->sort->name; self->sort++)
        if (str_is(text, self->sort->name))
            return ERR_OK;
    return err_set(err, ERR_INVALID, "cannot sort by that key");
}

static enum err_code read_cursor(struct list *self, struct str cursor, struct err *err)
{
    if (cursor.len < 2 || cursor.ptr[0] != CURSOR_MARK || !str_to_i64((struct str){cursor.ptr + 1, cursor.len - 1}, &self->page) || self->page < 1 || self->page > LIST_MAX_PAGE)
        return err_set(err, ERR_INVALID, "cursor is none of ours");
    return ERR_OK;
}

/* What a file is called after: what follows the version in the address, "app-1/jobs". */
static struct str file_name(struct str path)
{
    static const char before[] = "/api/afterglow/v1/", run[] = "apps/";
    if (str_starts(path, before))
        path = (struct str){path.ptr + sizeof before - 1, path.len - (sizeof before - 1)};
    return str_starts(path, run) ? (struct str){path.ptr + sizeof run - 1, path.len - (sizeof run - 1)} : path;
}

enum err_code list_read_page(struct list *self, const struct request *request, struct err *err)
{
    static const char *const formats[] = {"json", "csv"};
    struct str cursor = request_param(request, "cursor");
    int format;
    enum err_code rc;
    if ((rc = param_word(request, "format", formats, ARRAY_LENGTH(formats), &format, err)) || (rc = request_param_i64(request, "page", 1, 1, LIST_MAX_PAGE, &self->page, err)) ||
        (rc = request_param_i64(request, "limit", LIST_DEFAULT_LIMIT, 1, LIST_MAX_LIMIT, &self->limit, err)))
        return rc;
    if ((self->is_csv = format == 1)) {
        self->page = 1;
        self->limit = LIST_MAX_PAGE;
        self->arena = request->arena;
        self->csv_name = file_name(request->path);
        return ERR_OK;
    }
    return cursor.len ? read_cursor(self, cursor, err) : ERR_OK;
}

enum err_code list_read(struct list *self, const struct request *request, const struct list_sort *sorts, const char *otherwise, struct err *err)
{
    *self = (struct list){0};
    struct str sort = request_param(request, "sort");
    enum err_code rc = list_read_page(self, request, err);
    return rc ? rc : read_sort(self, sort.len ? sort : str_of(otherwise), sorts, err);
}

void list_total(struct list *self, int64_t total)
{
    self->total = total;
    if (self->is_csv)
        self->limit = MAX(total, 1);
    int64_t last = total > 0 ? (total - 1) / self->limit + 1 : 1;
    self->page = MIN(self->page, last);
    self->offset = (self->page - 1) * self->limit;
}

struct json_writer *list_begin(const struct list *self, struct response *response)
{
    struct json_writer *json = self->is_csv ? list_csv_begin(response, self->csv_name, self->arena) : response_json(response, false);
    json_object_begin(json);
    json_key(json, "items");
    json_array_begin(json);
    return json;
}

void list_end(const struct list *self, struct json_writer *json)
{
    json_array_end(json);
    json_kv_i64(json, "total", self->total);
    json_kv_i64(json, "page", self->page);
    json_kv_i64(json, "limit", self->limit);
    char cursor[32];
    snprintf(cursor, sizeof cursor, "%c%" PRId64, CURSOR_MARK, self->page + 1);
    json_kv_text(json, "next", self->offset + self->limit < self->total ? cursor : NULL);
}

void query_init(struct query *self, struct arena *arena)
{
    buf_init(&self->sql, QUERY_MAX_SQL);
    self->arena = arena;
    self->value_count = 0;
}

void query_add(struct query *self, const char *sql)
{
    buf_text(&self->sql, sql);
}

static void bind_each(struct query *self, const char *sql, struct query_value value)
{
    query_add(self, sql);
    for (; *sql; sql++) {
        if (*sql != '?')
            continue;
        if (self->value_count == QUERY_MAX_VALUES)
            self->sql.failed = true;             /* seen by query_prepare */
        else
            self->values[self->value_count++] = value;
    }
}

void query_text(struct query *self, const char *sql, struct str value)
{
    bind_each(self, sql, (struct query_value){.is_text = true, .text = value});
}

void query_number(struct query *self, const char *sql, int64_t value)
{
    bind_each(self, sql, (struct query_value){.number = value});
}

void query_pointer(struct query *self, const char *sql, const void *pointer, const char *type)
{
    bind_each(self, sql, (struct query_value){.pointer = pointer, .type = type});
}

void query_contains(struct query *self, const char *sql, struct str value)
{
    char *pattern = arena_alloc(self->arena, value.len * 2 + 3);
    if (!pattern) {
        self->sql.failed = true;
        return;
    }
    size_t n = 0;
    pattern[n++] = '%';
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '%' || value.ptr[i] == '_' || value.ptr[i] == '\\')
            pattern[n++] = '\\';
        pattern[n++] = value.ptr[i];
    }
    pattern[n++] = '%';
    query_text(self, sql, (struct str){pattern, n});
}

void query_append(struct query *self, const struct query *other)
{
    struct str sql = buf_str(&other->sql);
    buf_append(&self->sql, sql.ptr, sql.len);
    if (buf_failed(&other->sql) || other->value_count > QUERY_MAX_VALUES - self->value_count) {
        self->sql.failed = true;
        return;
    }
    for (size_t i = 0; i < other->value_count; i++)
        self->values[self->value_count++] = other->values[i];
}

void query_order(struct query *self, const struct list *list, const char *tie)
{
    const char *direction = list->descending ? "DESC" : "ASC";
    buf_printf(&self->sql, " ORDER BY %s %s NULLS LAST, %s %s", list->sort->sql, direction, tie, direction);
}

void query_page(struct query *self, const struct list *list)
{
    query_number(self, " LIMIT ?", list->limit);
    query_number(self, " OFFSET ?", list->offset);
}

enum err_code query_prepare(struct query *self, struct db *db, sqlite3_stmt **ret, struct err *err)
{
    *ret = NULL;
    if (buf_failed(&self->sql))
        return err_nomem(err);
    enum err_code rc = db_prepare(db, ret, self->sql.data, err);
    for (size_t i = 0; !rc && i < self->value_count; i++) {
        if (self->values[i].is_text)
            db_bind_str(*ret, (int)i + 1, self->values[i].text);
        else if (self->values[i].type)
            sqlite3_bind_pointer(*ret, (int)i + 1, (void *)(uintptr_t)self->values[i].pointer, self->values[i].type, NULL);
        else
            db_bind_i64(*ret, (int)i + 1, self->values[i].number);
    }
    return rc;
}

enum err_code query_i64(struct query *self, struct db *db, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(self, db, &stmt, err);
    *ret = UNKNOWN;
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        *ret = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code list_count(struct list *self, struct query *count, struct db *db, struct err *err)
{
    int64_t total;
    enum err_code rc = query_i64(count, db, &total, err);
    if (!rc)
        list_total(self, total);
    return rc;
}

void query_dispose(struct query *self)
{
    buf_dispose(&self->sql);
}

enum err_code param_word(const struct request *request, const char *name, const char *const *words, size_t count, int *ret, struct err *err)
{
    struct str value = request_param(request, name);
    *ret = -1;
    if (!value.len)
        return ERR_OK;
    for (size_t i = 0; i < count; i++) {
        if (str_is(value, words[i])) {
            *ret = (int)i;
            return ERR_OK;
        }
    }
    return err_set(err, ERR_INVALID, "%s has no such value", name);
}
