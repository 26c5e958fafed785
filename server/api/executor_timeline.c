/* SPDX-License-Identifier: Apache-2.0
 *
 * Not timeline.c, which shows what analysis stored of a whole run: this reads tasks, of those executors that are asked for, of a run that nobody judged, too.
 *
 * Slots over time: how many were there and how many had a task, of all executors and of a page of them one by one, in equal bins over the run or a part of it. Every task that was
 * logged counts: a million of them are read by column and cost two additions each, however many bins they fill. A task without an end runs until its executor goes. */
#include "analysis/executor_bounds.h"
#include "base/int_column.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/api/handlers.h"

#define DEFAULT_BINS 300
#define MOST_BINS 1000
#define DEFAULT_LINES 50
#define MOST_LINES 200 /* times bins: 200,000 numbers in an answer */
#define MOST_EXECUTORS ((size_t)1 << 20)
#define CHUNK_ROOM 16384 /* tasks of one chunk: schema.sql, task_column */

/* Slot-milliseconds by bin. Bins that something fills wholly are counted as a step up and a step down, and added up at the end. */
struct track {
    int64_t *partial, *steps; /* arena; one bin more than there are */
};

/* One executor. */
struct line {
    int64_t begin_ms, end_ms, slots;
    struct track track; /* of the page's alone */
};

struct timeline {
    int64_t begin_ms, end_ms;                  /* of the run */
    int64_t from_ms, to_ms, bin_ms, bin_count; /* of the part that is shown; the last bin may reach beyond its end */
    struct track alive, busy;
    struct imap lines;   /* executor_ref → struct line */
    struct arena *arena; /* borrowed: the request's */
};

static enum err_code track_init(const struct timeline *timeline, struct track *self, struct err *err)
{
    size_t count = (size_t)timeline->bin_count + 1;
    self->partial = arena_zalloc(timeline->arena, count, sizeof *self->partial);
    self->steps = arena_zalloc(timeline->arena, count, sizeof *self->steps);
    return self->partial && self->steps ? ERR_OK : err_nomem(err);
}

static void track_add(const struct timeline *timeline, struct track *self, int64_t begin_ms, int64_t end_ms, int64_t weight)
{
    int64_t begin = MAX(begin_ms, timeline->from_ms) - timeline->from_ms, end = MIN(end_ms, timeline->to_ms) - timeline->from_ms, bin_ms = timeline->bin_ms;
    if (begin >= end)
        return;
    int64_t first = begin / bin_ms, last = (end - 1) / bin_ms;
    if (first == last) {
        self->partial[first] += (end - begin) * weight;
        return;
    }
    self->partial[first] += ((first + 1) * bin_ms - begin) * weight;
    self->partial[last] += (end - last * bin_ms) * weight;
    self->steps[first + 1] += weight;
    self->steps[last] -= weight;
}

static void track_write(const struct timeline *timeline, struct json_writer *json, const char *key, const struct track *self)
{
    int64_t whole = 0;
    json_key(json, key);
    json_array_begin(json);
    for (int64_t i = 0; i < timeline->bin_count; i++) {
        whole += self->steps[i];
        json_i64(json, self->partial[i] + whole * timeline->bin_ms);
    }
    json_array_end(json);
}

/* What is asked for. `limit`: executors with bins of their own. `from_ms`, `to_ms`: of the run's time (request_run_part). */
struct wish {
    struct list list;
    struct executor_filter filter;
    int64_t bins, from_ms, to_ms;
};

/* The part that is asked for, as far as it lies in the run; a log that says neither begin nor end has one bin. */
static enum err_code read_span(struct timeline *self, struct db *db, const struct wish *wish, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT coalesce(start_ms, first_event_ms), max(coalesce(end_ms, 0), coalesce(last_event_ms, 0)) FROM application LIMIT 1", err);
    if (!rc)
        rc = db_step(stmt, err);
    int64_t from = rc ? 0 : known_or(db_i64(stmt, 0), 0), to = rc ? 0 : known_or(db_i64(stmt, 1), 0), span = 1;
    db_finalize(stmt);
    if (__builtin_sub_overflow(to, from, &span) || span < 1 || span > INT64_MAX / 4)
        span = 1;
    self->begin_ms = from;
    self->end_ms = from + span;
    self->from_ms = from + MIN(wish->from_ms, span - 1);
    self->to_ms = from + (known(wish->to_ms) ? MIN(wish->to_ms, span) : span);
    span = self->to_ms - self->from_ms;
    self->bin_ms = (span + wish->bins - 1) / wish->bins;
    self->bin_count = (span + self->bin_ms - 1) / self->bin_ms;
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* All executors, with their life as slots that are there. A driver on a cluster has no cores, and so no slots. */
static enum err_code read_executors(struct timeline *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT executor_ref, add_ms, remove_ms, coalesce(max_tasks, total_cores) FROM executor", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct line *line = arena_zalloc(self->arena, 1, sizeof *line);
        if (!line || imap_put(&self->lines, db_i64(stmt, 0), line)) {
            db_finalize(stmt);
            return err_nomem(err);
        }
        line->begin_ms = known_or(db_i64(stmt, 1), self->begin_ms);
        line->end_ms = known_or(db_i64(stmt, 2), self->end_ms);
        line->slots = MIN(MAX(known_or(db_i64(stmt, 3), 0), (int64_t)0), (int64_t)INT32_MAX);
        track_add(self, &self->alive, line->begin_ms, line->end_ms, line->slots);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void take_task(struct timeline *self, int64_t launch_ms, int64_t finish_ms, int64_t executor_ref)
{
    struct line *line = known(executor_ref) ? imap_get(&self->lines, executor_ref) : NULL;
    if (!known(launch_ms))
        return;
    if (!known(finish_ms))
        finish_ms = line ? line->end_ms : self->end_ms;
    track_add(self, &self->busy, launch_ms, finish_ms, 1);
    if (line && line->track.partial)
        track_add(self, &line->track, launch_ms, finish_ms, 1);
}

/* A column that a chunk has not is unknown for all its tasks. */
static enum err_code unpack(sqlite3_stmt *stmt, int column, int64_t *ret, size_t count, struct err *err)
{
    struct str blob = db_blob(stmt, column);
    size_t has = 0;
    for (size_t i = 0; i < count; i++)
        ret[i] = UNKNOWN;
    enum err_code rc = blob.len ? int_column_count(blob, &has, err) : ERR_OK;
    return rc || !has ? rc : has != count ? err_set(err, ERR_CORRUPT, "columns of tasks differ in length") : int_column_unpack(blob, ret, count, err);
}

static enum err_code read_columns(struct timeline *self, struct db *db, struct err *err)
{
    static const char sql[] =
        "WITH n AS MATERIALIZED (SELECT max(CASE name WHEN 'launch_ms' THEN column_id END) AS launch, max(CASE name WHEN 'finish_ms' THEN column_id END) AS finish,"
        "                               max(CASE name WHEN 'executor_ref' THEN column_id END) AS executor FROM task_column_name)"
        " SELECT l.packed, f.packed, e.packed FROM n CROSS JOIN stage s CROSS JOIN task_column l ON l.stage_ref = s.stage_ref AND l.column_id = n.launch"
        " LEFT JOIN task_column f ON f.stage_ref = s.stage_ref AND f.column_id = n.finish AND f.chunk = l.chunk"
        " LEFT JOIN task_column e ON e.stage_ref = s.stage_ref AND e.column_id = n.executor AND e.chunk = l.chunk";
    int64_t *values = arena_alloc(self->arena, 3 * (size_t)CHUNK_ROOM * sizeof *values);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = values ? db_prepare(db, &stmt, sql, err) : err_nomem(err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        size_t count = 0;
        rc = int_column_count(db_blob(stmt, 0), &count, err);
        if (!rc && count > CHUNK_ROOM)
            rc = err_set(err, ERR_CORRUPT, "a chunk of tasks is too long");
        for (int c = 0; c < 3 && !rc; c++)
            rc = unpack(stmt, c, values + (size_t)c * CHUNK_ROOM, count, err);
        for (size_t i = 0; i < count && !rc; i++)
            take_task(self, values[i], values[CHUNK_ROOM + i], values[2 * CHUNK_ROOM + i]);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Stages of a log that is still being read have no columns yet. */
static enum err_code read_rows(struct timeline *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(db, &stmt, "SELECT launch_ms, finish_ms, executor_ref FROM task t WHERE NOT EXISTS (SELECT 1 FROM task_column c WHERE c.stage_ref = t.stage_ref)", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        take_task(self, db_i64(stmt, 0), db_i64(stmt, 1), db_i64(stmt, 2));
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void page_of(struct query *query, const char *columns, const struct executor_filter *filter, const struct list *list)
{
    query_add(query, columns);
    query_add(query, " FROM executor e");
    executor_filter_where(query, filter);
    executor_order(query, list->descending);
    query_number(query, " LIMIT ?", list->limit);
    query_number(query, " OFFSET ?", list->offset);
}

/* Gives those of the page a track of their own. */
static enum err_code mark_page(struct timeline *self, struct db *db, const struct executor_filter *filter, const struct list *list, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    query_init(&query, self->arena);
    page_of(&query, "SELECT e.executor_ref", filter, list);
    enum err_code rc = query_prepare(&query, db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct line *line = imap_get(&self->lines, db_i64(stmt, 0));
        rc = line ? track_init(self, &line->track, err) : ERR_OK;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_lines(struct timeline *self, struct db *db, const struct executor_filter *filter, const struct list *list, struct json_writer *json, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    query_init(&query, self->arena);
    page_of(&query, "SELECT e.executor_ref, " EXECUTOR_LOST ", e.executor_id, e.host, e.add_ms, e.remove_ms", filter, list);
    enum err_code rc = query_prepare(&query, db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        const struct line *line = imap_get(&self->lines, db_i64(stmt, 0));
        if (!line || !line->track.partial)
            continue; /* it came while this answer was made */
        json_object_begin(json);
        api_columns(json, stmt, 2, 6);
        json_kv_bool(json, "lost", db_i64(stmt, 1) == 1);
        json_kv_i64(json, "slots", line->slots);
        track_write(self, json, "busyMs", &line->track);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_all(struct timeline *self, const struct api_app *app, const struct wish *wish, struct err *err)
{
    enum err_code rc;
    if ((rc = read_span(self, app->db, wish, err)) || (rc = track_init(self, &self->alive, err)) || (rc = track_init(self, &self->busy, err)) ||
        (rc = read_executors(self, app->db, err)) || (rc = mark_page(self, app->db, &wish->filter, &wish->list, err)) || (rc = read_columns(self, app->db, err)))
        return rc;
    return app->ref.loaded ? ERR_OK : read_rows(self, app->db, err);
}

/* How many executors were asked for, and how many slots one of them has: lines across the chart. */
static void write_bounds(struct json_writer *json, const struct executor_bounds *bounds)
{
    json_key(json, "bounds");
    json_object_begin(json);
    json_kv_bool(json, "dynamic", bounds->dynamic);
    json_kv_i64(json, "leastExecutors", bounds->least);
    json_kv_i64(json, "startExecutors", bounds->at_start);
    json_kv_i64(json, "mostExecutors", bounds->most);
    json_kv_i64(json, "slotsEach", bounds->slots_each);
    json_object_end(json);
}

static enum err_code answer(const struct api_app *app, struct wish *wish, const struct request *request, struct response *response, struct err *err)
{
    struct list *list = &wish->list;
    CLEANUP(query_dispose) struct query count;
    struct timeline timeline = {.arena = request->arena};
    struct executor_bounds bounds;
    int64_t total;
    query_init(&count, request->arena);
    query_add(&count, "SELECT count(*) FROM executor e");
    executor_filter_where(&count, &wish->filter);
    enum err_code rc;
    if ((rc = query_i64(&count, app->db, &total, err)) || (rc = executor_bounds_read(&bounds, app->db, err)))
        return rc;
    list_total(list, total);
    imap_init(&timeline.lines, MOST_EXECUTORS);
    if (!(rc = read_all(&timeline, app, wish, err))) {
        struct json_writer *json = list_begin(list, response);
        rc = write_lines(&timeline, app->db, &wish->filter, list, json, err);
        list_end(list, json);
        json_kv_i64(json, "beginMs", timeline.begin_ms);
        json_kv_i64(json, "endMs", timeline.end_ms);
        json_kv_i64(json, "fromMs", timeline.from_ms);
        json_kv_i64(json, "binMs", timeline.bin_ms);
        track_write(&timeline, json, "aliveMs", &timeline.alive);
        track_write(&timeline, json, "busyMs", &timeline.busy);
        write_bounds(json, &bounds);
        json_object_end(json);
    }
    imap_dispose(&timeline.lines);
    return rc;
}

enum err_code api_executor_timeline(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct wish wish = {0};
    if (list_read_page(&wish.list, request, err) || (wish.list.is_csv && err_set(err, ERR_INVALID, "lines over time are no table: there is no CSV of them")) ||
        request_param_i64(request, "limit", DEFAULT_LINES, 1, MOST_LINES, &wish.list.limit, err) ||
        request_param_i64(request, "bins", DEFAULT_BINS, 1, MOST_BINS, &wish.bins, err) || executor_filter_read(&wish.filter, request, err) ||
        request_run_part(request, &wish.from_ms, &wish.to_ms, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = answer(&app, &wish, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
