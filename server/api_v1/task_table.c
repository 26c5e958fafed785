/* SPDX-License-Identifier: Apache-2.0
 *
 * taskTable: a page of a stage attempt's tasks for the DataTables library (spec/core.md §3.7). The counts of the answer are texts: what the request says of them. */
#include <strings.h>

#include "base/mem.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/task_order.h"
#include "server/api_v1/task_search.h"
#include "server/api_v1/tasks.h"
#include "server/api_v1/v1.h"
#include "server/task_columns.h"
#include "server/task_page.h"

struct table {
    const struct v1_task_order *order;
    bool descending;
    struct str search;               /* empty: all tasks */
    struct str task_count_text;      /* as the request says it */
    int64_t task_count;              /* the same: a search looks at so many tasks, the first in order */
    size_t offset, limit;
};

/* The first parameter of that name; names and values may have been encoded once more. */
static struct str table_param(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->param_count; i++)
        if (str_is(request_decode_wholly(request->arena, request->params[i].name), name))
            return request_decode_wholly(request->arena, request->params[i].value);
    return STR_NONE;
}

static bool whole_number(struct str text, int64_t *ret)
{
    return str_to_i64(text, ret) && *ret >= INT32_MIN && *ret <= INT32_MAX;
}

/* False: refused. */
static bool read_params(struct v1_scope *scope, struct table *ret)
{
    const struct request *request = scope->request;
    int64_t start, length;
    struct str direction = table_param(request, "order[0][dir]");
    *ret = (struct table){.order = v1_task_order_of(table_param(request, "columnNameToSort")), .search = table_param(request, "search[value]"),
                          .task_count_text = table_param(request, "numTasks")};
    if (!whole_number(ret->task_count_text, &ret->task_count) || !whole_number(table_param(request, "start"), &start) ||
        !whole_number(table_param(request, "length"), &length)) {
        response_plain(scope->response, 400, "The parameters \"numTasks\", \"start\" and \"length\" are whole numbers.");
        return false;
    }
    if (!ret->order || !str_known(direction)) {
        response_plain(scope->response, 400, ret->order ? "The parameter \"order[0][dir]\" is missing." : "The parameter \"columnNameToSort\" names no column of the table.");
        return false;
    }
    if (length <= 0 && !ret->search.len) {
        response_plain(scope->response, 400, "Bad value for parameter \"length\".  Expected a number above 0, got \"%lld\"", (long long)length);
        return false;
    }
    ret->descending = direction.len != 3 || strncasecmp(direction.ptr, "asc", 3) != 0;
    /* As in taskList: all tasks are skipped, then taken; found ones are cut out from `start` to `start + length`. */
    int64_t end = ret->search.len ? start + length : MAX(start, 0) + length;
    ret->offset = (size_t)MAX(start, 0);
    ret->limit = end > (int64_t)ret->offset ? (size_t)end - ret->offset : 0;
    return true;
}

/* A byte for each task: 1 for those that a search finds. */
static enum err_code find(struct v1_scope *scope, struct task_columns *columns, const struct table *table, const int64_t *keys, const int64_t *ids, unsigned char **ret,
                          struct err *err)
{
    size_t count = task_columns_count(columns), first = table->task_count > 0 ? MIN((size_t)table->task_count, count) : 0, written, total;
    *ret = mem_alloc(count ? count : 1);
    if (!*ret)
        return err_nomem(err);
    memset(*ret, first == count, count);
    if (first < count) {
        CLEANUP(mem_freep) size_t *positions = mem_alloc((first ? first : 1) * sizeof *positions);
        if (!positions)
            return err_nomem(err);
        enum err_code rc = task_page(keys, ids, NULL, count, table->descending, 0, first, positions, &written, &total, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < written; i++)
            (*ret)[positions[i]] = 1;
    }
    return v1_task_search(scope->db, columns, table->search, *ret, err);
}

static enum err_code write_table(struct v1_scope *scope, struct task_columns *columns, const struct table *table, struct err *err)
{
    size_t count = task_columns_count(columns), room = table->offset < count ? MIN(table->limit, count - table->offset) : 0, written, found;
    CLEANUP(mem_freep) int64_t *keys = NULL;
    CLEANUP(mem_freep) unsigned char *keep = NULL;
    CLEANUP(mem_freep) size_t *positions = mem_alloc((room ? room : 1) * sizeof *positions);
    const int64_t *ids, *seqs;
    enum err_code rc;
    if (!positions)
        return err_nomem(err);
    if ((rc = v1_task_order_keys(table->order, scope->db, columns, &keys, err)) || (rc = task_columns_get(columns, "task_id", &ids, err)) ||
        (table->search.len && (rc = find(scope, columns, table, keys, ids, &keep, err))) || (rc = task_columns_get(columns, "task_id", &ids, err)) ||
        (rc = task_page(keys, ids, keep, count, table->descending, table->offset, room, positions, &written, &found, err)) ||
        (rc = task_columns_get(columns, "task_seq", &seqs, err)))
        return rc;

    struct json_writer *w = response_json(scope->response, true);
    json_object_begin(w);
    json_key(w, "recordsFiltered");
    if (keep && count && table->task_count > 0) {
        char text[24];
        sqlite3_snprintf(sizeof text, text, "%llu", (unsigned long long)found);
        json_text(w, text);
    } else
        json_str(w, table->task_count_text);
    json_key(w, "aaData");
    if ((rc = v1_write_tasks(scope, w, seqs, positions, written, err)))
        return rc;
    json_kv_str(w, "recordsTotal", table->task_count_text);
    json_object_end(w);
    return ERR_OK;
}

static enum err_code task_table(struct v1_scope *scope, struct err *err)
{
    int64_t stage_ref;
    struct table table;
    if (!read_params(scope, &table))
        return ERR_OK;
    struct task_columns *columns = NULL;
    enum err_code rc = v1_stage_ref(scope, scope->ids[0], scope->ids[1], &stage_ref, err);
    if (rc == ERR_OK && (rc = task_columns_open(&columns, scope->db, stage_ref, err)) == ERR_OK)
        rc = write_table(scope, columns, &table, err);
    task_columns_free(columns);
    return rc;
}

enum err_code v1_task_table(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 2, v1_convert_ids, task_table, err);
}
