/* SPDX-License-Identifier: Apache-2.0 */
#include "server/history_address.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "server/app_lookup.h"
#include "server/dispatch.h"
#include "server/http_text.h"

#define MAX_ID_BYTES 512 /* of a session or a run of a query: they are UUIDs */
#define MAX_DECODINGS 4  /* one by the web server, one by each proxy on the way */

/* ---- the pages ---- */

/* A column: its title on the History Server's page and the key of our list. */
struct column {
    const char *title, *key;
};

static const struct column job_columns[] = {{"Job Id", "id"}, {"Job Id (Job Group)", "id"}, {"Description", "name"}, {"Submitted", "submission"}, {"Duration", "duration"},
                                            {NULL, NULL}};

static const struct column stage_columns[] = {
    {"Stage Id", "id"},   {"Submitted", "submission"},     {"Duration", "duration"},          {"Input", "input"},
    {"Output", "output"}, {"Shuffle Read", "shuffleRead"}, {"Shuffle Write", "shuffleWrite"}, {NULL, NULL},
};

static const struct column task_columns[] = {
    {"Index", "index"},
    {"ID", "taskId"},
    {"Task Index", "index"},
    {"Task ID", "taskId"},
    {"Attempt", "attempt"},
    {"Status", "status"},
    {"Locality Level", "locality"},
    {"Executor ID", "executor"},
    {"Host", "host"},
    {"Launch Time", "launchMs"},
    {"Duration", "durationMs"},
    {"Scheduler Delay", "schedulerDelayMs"},
    {"Task Deserialization Time", "executorDeserializeTimeMs"},
    {"GC Time", "jvmGcTimeMs"},
    {"Result Serialization Time", "resultSerializationTimeMs"},
    {"Getting Result Time", "gettingResultTimeMs"},
    {"Peak Execution Memory", "peakExecutionMemoryBytes"},
    {"Input Size / Records", "inputBytes"},
    {"Output Size / Records", "outputBytes"},
    {"Shuffle Read Blocked Time", "shuffleFetchWaitTimeMs"},
    {"Shuffle Read Fetch Wait Time", "shuffleFetchWaitTimeMs"},
    {"Shuffle Read Size / Records", "shuffleReadBytes"},
    {"Shuffle Remote Reads", "shuffleRemoteReadBytes"},
    {"Write Time", "shuffleWriteTimeNs"},
    {"Shuffle Write Time", "shuffleWriteTimeNs"},
    {"Shuffle Write Size / Records", "shuffleWriteBytes"},
    {"Spill (Memory)", "memorySpilledBytes"},
    {"Shuffle Spill (Memory)", "memorySpilledBytes"},
    {"Spill (Disk)", "diskSpilledBytes"},
    {"Shuffle Spill (Disk)", "diskSpilledBytes"},
    {"Errors", "error"},
    {NULL, NULL},
};

static const struct column block_columns[] = {{"Block Name", "name"},   {"Storage Level", "level"}, {"Size in Memory", "memory"},
                                              {"Size on Disk", "disk"}, {"Executors", "executors"}, {NULL, NULL}};

static const struct column sql_columns[] = {{"ID", "id"}, {"Description", "description"}, {"Submitted", "submission"}, {"Duration", "duration"}, {NULL, NULL}};

static const struct column query_columns[] = {
    {"Name", "name"}, {"Start Time", "start"}, {"Duration", "duration"}, {"Avg Input /sec", "inputRate"}, {"Avg Process /sec", "processedRate"}, {NULL, NULL}};

static const struct column session_columns[] = {{"User", "user"},         {"Start Time", "start"},         {"Finish Time", "finish"},
                                                {"Duration", "duration"}, {"Total Execute", "operations"}, {NULL, NULL}};

static const struct column statement_columns[] = {
    {"User", "user"}, {"Start Time", "start"}, {"Finish Time", "finish"}, {"Execution Time", "executionTime"}, {"Duration", "duration"}, {"State", "state"}, {NULL, NULL}};

/* A table of a page: its parameters are TAG.page, TAG.sort, TAG.desc, TAG.pageSize. `status`: the filter that makes our one list that table. `first`: our key of the column that it is
 * sorted by at first, downward; NULL: upward. `id`: ours, where a page of ours has several: its parameters begin with that. */
struct table {
    const char *tag, *status;
    const struct column *columns;
    const char *first, *id;
};

static const struct table job_tables[] = {{"activeJob", "running", job_columns, "id", ""},
                                          {"completedJob", "succeeded", job_columns, "id", ""},
                                          {"failedJob", "failed", job_columns, "id", ""},
                                          {NULL, NULL, NULL, NULL, NULL}};

static const struct table stage_tables[] = {
    {"activeStage", "active", stage_columns, "id", ""},   {"pendingStage", "pending", stage_columns, "id", ""}, {"completedStage", "complete", stage_columns, "id", ""},
    {"skippedStage", "skipped", stage_columns, "id", ""}, {"failedStage", "failed", stage_columns, "id", ""},   {NULL, NULL, NULL, NULL, NULL},
};

static const struct table task_tables[] = {{"task", NULL, task_columns, NULL, ""}, {NULL, NULL, NULL, NULL, NULL}};

static const struct table block_tables[] = {{"block", NULL, block_columns, "name", ""}, {NULL, NULL, NULL, NULL, NULL}};

static const struct table sql_tables[] = {{"running", "running", sql_columns, "id", ""},
                                          {"completed", "completed", sql_columns, "id", ""},
                                          {"failed", "failed", sql_columns, "id", ""},
                                          {NULL, NULL, NULL, NULL, NULL}};

/* What is active there has no end in the log: running or unknown here, as the log may go on or not. */
static const struct table query_tables[] = {{"active", NULL, query_columns, "start", ""}, {"completed", NULL, query_columns, "start", ""}, {NULL, NULL, NULL, NULL, NULL}};

static const struct table server_tables[] = {{"sessionstat", NULL, session_columns, "start", "sessions"},
                                             {"sqlstat", NULL, statement_columns, "start", ""},
                                             {NULL, NULL, NULL, NULL, NULL}};

static const struct table session_tables[] = {{"sqlsessionstat", NULL, statement_columns, "start", ""}, {NULL, NULL, NULL, NULL, NULL}};

/* How a page there names its thing: nothing, a number that is part of our address, a stage attempt, a text, or a text that is the parameter `param` of ours. */
enum ids { NO_ID, ONE_ID, STAGE_ID, TEXT_ID, PARAM_ID };

/* One page of the History Server: where it leads. With ids: ours is the page of that object, and without a sound id its list. */
static const struct page {
    const char *path, *ours;
    enum ids ids;
    const struct table *tables;
    const char *name, *param; /* of the id there, and of ours */
} pages[] = {
    {"", "", NO_ID, NULL, NULL, NULL},
    {"jobs", "jobs", NO_ID, job_tables, NULL, NULL},
    {"jobs/job", "jobs", ONE_ID, stage_tables, "id", NULL},
    {"stages", "stages", NO_ID, stage_tables, NULL, NULL},
    {"stages/stage", "stages", STAGE_ID, task_tables, "id", NULL},
    {"stages/pool", "stages", NO_ID, NULL, NULL, NULL},                           /* live only */
    {"stages/taskThreadDump", "executors", PARAM_ID, NULL, "executorId", "exec"}, /* live only, and so the next two of executors */
    {"storage", "storage", NO_ID, NULL, NULL, NULL},
    {"storage/rdd", "storage", ONE_ID, block_tables, "id", NULL},
    {"environment", "env", NO_ID, NULL, NULL, NULL},
    {"executors", "executors", NO_ID, NULL, NULL, NULL},
    {"executors/threadDump", "executors", PARAM_ID, NULL, "executorId", "exec"},
    {"executors/heapHistogram", "executors", PARAM_ID, NULL, "executorId", "exec"},
    {"SQL", "sql", NO_ID, sql_tables, NULL, NULL},
    {"SQL/execution", "sql", ONE_ID, NULL, "id", NULL},
    {"StreamingQuery", "streaming", NO_ID, query_tables, NULL, NULL},
    {"StreamingQuery/statistics", "streaming", TEXT_ID, NULL, "id", NULL},
    {"sqlserver", "sessions", NO_ID, server_tables, NULL, NULL},
    {"sqlserver/session", "sessions", TEXT_ID, session_tables, "id", NULL},
    {"connect", "sessions", NO_ID, server_tables, NULL, NULL},
    {"connect/session", "sessions", TEXT_ID, session_tables, "id", NULL},
    {"streaming", "dstreams", NO_ID, NULL, NULL, NULL}, /* live only, and the links in descriptions of jobs lead there */
    {"streaming/batch", "dstreams", PARAM_ID, NULL, "id", "batch"},
    {"logs", "", NO_ID, NULL, NULL, NULL}, /* live only */
};

static struct str table_param(const struct request *request, const char *tag, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", tag, what);
    return request_param(request, name);
}

static bool number_of(struct str text, int64_t low, int64_t high, int64_t *ret)
{
    return str_known(text) && str_to_i64(text, ret) && *ret >= low && *ret <= high;
}

static void add_param(struct buf *out, bool *first, const char *id, const char *name, const char *value)
{
    buf_printf(out, "%c%s%s=%s", *first ? '?' : '&', id, name, value);
    *first = false;
}

/* The first table of the page that the address speaks of. */
static void table_params(const struct table *table, const struct request *request, struct buf *out)
{
    static const char *const words[] = {"page", "sort", "desc", "pageSize"};
    bool first = true, named = false;
    for (; table && table->tag && !named; table += !named)
        for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
            named |= str_known(table_param(request, table->tag, words[i]));
    if (!named)
        return;
    char text[96];
    if (table->status)
        add_param(out, &first, "", "status", table->status);
    struct str title = request_decode_wholly(request->arena, table_param(request, table->tag, "sort"));
    for (const struct column *column = table->columns; column->title; column++) {
        if (!str_known(title) || !str_is(title, column->title))
            continue;
        struct str desc = table_param(request, table->tag, "desc");
        /* A table that is sorted as it is at first, without saying how, is so downward. */
        bool down = str_known(desc) ? str_is(desc, "true") : table->first && strcmp(table->first, column->key) == 0;
        snprintf(text, sizeof text, "%s%s", down ? "-" : "", column->key);
        add_param(out, &first, table->id, "sort", text);
        break;
    }
    int64_t number;
    if (number_of(table_param(request, table->tag, "page"), 2, INT32_MAX, &number)) {
        snprintf(text, sizeof text, "%" PRId64, number);
        add_param(out, &first, table->id, "page", text);
    }
    if (number_of(table_param(request, table->tag, "pageSize"), 1, INT32_MAX, &number)) {
        snprintf(text, sizeof text, "%" PRId64, MIN(number, (int64_t)1000));
        add_param(out, &first, table->id, "limit", text);
    }
}

/* False: there is none, and our page is the list. */
static bool object_address(const struct page *page, const struct request *request, struct buf *out)
{
    struct str text = request_decode_wholly(request->arena, request_param(request, page->name));
    int64_t id, attempt = 0;
    if (page->ids == TEXT_ID || page->ids == PARAM_ID) {
        /* A segment of dots is a way up, for a browser, however it is written. */
        if (!text.len || text.len > MAX_ID_BYTES || (page->ids == TEXT_ID && (str_is(text, ".") || str_is(text, ".."))))
            return false;
        if (page->ids == PARAM_ID)
            buf_printf(out, "?%s=", page->param);
        else
            buf_char(out, '/');
        url_segment(out, text);
        return true;
    }
    if (!number_of(text, 0, INT32_MAX, &id))
        return false;
    buf_printf(out, "/%" PRId64, id);
    if (page->ids == STAGE_ID) {
        text = request_decode_wholly(request->arena, request_param(request, "attempt"));
        buf_printf(out, ".%" PRId64, number_of(text, 0, INT32_MAX, &attempt) ? attempt : 0);
    }
    return true;
}

static void page_address(const struct page *page, const struct request *request, struct buf *out)
{
    buf_text(out, page->ours);
    if (page->ids == NO_ID || object_address(page, request, out))
        table_params(page->tables, request, out);
}

static struct str without_slashes(struct str path)
{
    while (path.len && path.ptr[0] == '/')
        path = (struct str){path.ptr + 1, path.len - 1};
    while (path.len && path.ptr[path.len - 1] == '/')
        path.len--;
    return path;
}

void history_page(struct str path, const struct request *request, struct buf *out)
{
    path = without_slashes(path);
    if (str_is(path, "json") || str_ends(path, "/json")) /* every page has such a twin */
        path = without_slashes((struct str){path.ptr, path.len - 4});
    for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
        if (str_is(path, pages[i].path)) {
            page_address(&pages[i], request, out);
            return;
        }
}

/* ---- the answers ---- */

/* Takes the next segment off a raw path that begins with a slash; STR_NONE: there is none. */
static struct str take_segment(struct str *rest)
{
    if (!rest->len)
        return STR_NONE;
    *rest = (struct str){rest->ptr + 1, rest->len - 1};
    const char *slash = rest->len ? memchr(rest->ptr, '/', rest->len) : NULL;
    struct str segment = {rest->ptr, slash ? (size_t)(slash - rest->ptr) : rest->len};
    *rest = (struct str){rest->ptr + segment.len, rest->len - segment.len};
    return segment;
}

static enum err_code answer_not_found(const struct request *request, struct response *response, struct str app, struct err *err)
{
    const char *sentence = arena_printf(request->arena, "Application %.*s not found.", (int)app.len, app.ptr);
    return sentence ? response_page(request, response, 404, "Not Found", str_of(sentence), err) : err_nomem(err);
}

static enum err_code redirect_to_app(struct request *request, struct response *response, struct str ref, struct str page_path, struct err *err)
{
    CLEANUP(buf_dispose) struct buf to;
    CLEANUP(buf_dispose) struct buf page;
    buf_init(&to, HISTORY_ADDRESS_BYTES);
    buf_init(&page, HISTORY_ADDRESS_BYTES);
    history_page(page_path, request, &page);
    buf_text(&to, "/a/");
    url_segment(&to, ref);
    if (page.len)
        buf_char(&to, '/');
    buf_append(&to, page.data, page.len);
    return buf_failed(&to) || buf_failed(&page) ? err_nomem(err) : response_redirect(request, response, buf_str(&to), err);
}

enum err_code history_respond(struct api_ctx *ctx, struct request *request, struct response *response, struct err *err)
{
    struct str rest = {request->raw_path.ptr + sizeof "/history" - 1, request->raw_path.len - (sizeof "/history" - 1)};
    struct str app = take_segment(&rest), behind_app = rest, attempt = take_segment(&rest), path;
    if (!app.len && !without_slashes(rest).len && !attempt.len)
        return response_redirect(request, response, STR_LIT("/"), err);
    struct str ref;
    enum err_code rc = ERR_NOT_FOUND;
    bool names_attempt = false;
    struct str first_app = STR_NONE;
    for (int i = 0; i < MAX_DECODINGS && rc == ERR_NOT_FOUND; i++) {
        size_t before = app.len + attempt.len;
        if (request_decode(request->arena, app, false, &app, err) || (attempt.len && request_decode(request->arena, attempt, false, &attempt, err)))
            break;
        if (i == 0)
            first_app = app;
        else if (app.len + attempt.len == before)
            break;
        rc = app_lookup_history(ctx, request, app, attempt, &ref, &names_attempt, err);
    }
    if (rc == ERR_NOT_FOUND)
        return answer_not_found(request, response, first_app, err);
    bool allowed = true;
    if (!rc)
        rc = app_allowed(ctx, request, ref, &allowed, err);
    if (!rc && !allowed)
        return dispatch_forbid(request, response, err);
    if (rc || (rc = request_decode(request->arena, names_attempt ? rest : behind_app, false, &path, err)))
        return rc;
    return redirect_to_app(request, response, ref, path, err);
}

enum err_code history_respond_start(const struct request *request, struct response *response, struct err *err)
{
    struct str incomplete = request_param(request, "showIncomplete");
    if (str_is(incomplete, "true"))
        return response_redirect(request, response, STR_LIT("/?complete=false"), err);
    if (str_is(incomplete, "false"))
        return response_redirect(request, response, STR_LIT("/?complete=true"), err);
    response_plain(response, 400, "showIncomplete is neither true nor false");
    return ERR_OK;
}
