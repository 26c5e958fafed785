/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured Streaming: the list of runs, and one run with its progress as columns for charts. Progress is ordered by trigger time, as the History Server orders it; what has none
 * comes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers.h"

#define RECENT "100"                 /* progress records of a run that the History Server keeps (spark.sql.streaming.ui.retainedProgressUpdates) */
#define FIRST_LINE_CHARS "500"

/* A mean as the History Server makes it: what is no number counts as 0. */
#define RECENT_MEAN(column) \
    "(SELECT avg(ifnull(" column ", 0)) FROM (SELECT " column " FROM streaming_progress WHERE run_ref = q.run_ref ORDER BY progress_no DESC LIMIT " RECENT "))"

#define LAST_SIGN(last_trigger_ms) "max(ifnull(" last_trigger_ms ", q.last_idle_ms), ifnull(q.last_idle_ms, " last_trigger_ms "))"
#define DURATION(last_trigger_ms) "CASE WHEN " LAST_SIGN(last_trigger_ms) " >= q.start_ms THEN " LAST_SIGN(last_trigger_ms) " - q.start_ms END"

/* What the progress of a run comes to. */
#define INPUT_ROWS "CASE WHEN count(input_rows) THEN CAST(total(input_rows) AS INTEGER) END"
#define MEAN_OF(column) "avg(ifnull(" column ", 0))"
#define OF_RUN(aggregate) "(SELECT " aggregate " FROM streaming_progress p WHERE p.run_ref = q.run_ref)"

/* Made for every run, where a list is sorted by them: each looks only at the progress it needs. */
static const struct list_sort sorts[] = {
    {"start", "q.start_ms"},
    {"name", "q.name"},
    {"duration", DURATION(OF_RUN("max(trigger_ms)"))},
    {"batches", OF_RUN("nullif(count(*), 0)")},
    {"inputRows", OF_RUN(INPUT_ROWS)},
    {"inputRate", OF_RUN(MEAN_OF("input_rows_per_second"))},
    {"processedRate", OF_RUN(MEAN_OF("processed_rows_per_second"))},
    {NULL, NULL},
};

static const char *const statuses[] = {"running", "finished", "failed", "unknown"};
enum { STATUS_RUNNING, STATUS_FINISHED, STATUS_FAILED, STATUS_UNKNOWN };

#define STATUS "CASE WHEN NOT q.end_seen THEN 0 WHEN q.exception_text_id IS NULL THEN 1 ELSE 2 END"
#define ITEM_COLUMNS \
    "SELECT " STATUS ", q.start_seen, q.job_tags, q.run_ref," \
    "       q.run_id, q.query_id, q.name, q.start_ms, s.last_trigger_ms, q.last_idle_ms, " DURATION("s.last_trigger_ms") " AS duration_ms, ifnull(s.progress_count, 0) AS progress_count," \
    "       q.idle_count," \
    "       (SELECT p.batch_id FROM streaming_progress p WHERE p.run_ref = q.run_ref ORDER BY p.trigger_ms DESC, p.batch_id DESC, p.progress_no DESC LIMIT 1) AS latest_batch_id," \
    "       s.input_rows, " RECENT_MEAN("input_rows_per_second") " AS recent_input_rows_per_second," \
    "       " RECENT_MEAN("processed_rows_per_second") " AS recent_processed_rows_per_second, s.mean_input_rows_per_second, s.mean_processed_rows_per_second," \
    "       s.max_batch_duration_ms, (SELECT count(*) FROM job j WHERE j.job_group = q.run_id) AS job_count," \
    "       (SELECT count(*) FROM job j WHERE j.job_group = q.run_id AND j.status = 2) AS failed_job_count, q.error_class"
#define ITEM_FIRST_PLAIN 4
#define ITEM_PROGRESS_COUNT 11
#define ITEM_END 23

/* Before them stands "WITH page (run_ref) AS MATERIALIZED (SELECT …)", the runs that are shown: progress of others is not looked at. */
#define ITEM_FROM \
    " FROM page JOIN streaming_query q ON q.run_ref = page.run_ref LEFT JOIN (" \
    "     SELECT run_ref, count(*) AS progress_count, max(trigger_ms) AS last_trigger_ms," \
    "            " INPUT_ROWS " AS input_rows," \
    "            " MEAN_OF("input_rows_per_second") " AS mean_input_rows_per_second, " MEAN_OF("processed_rows_per_second") " AS mean_processed_rows_per_second," \
    "            max(batch_duration_ms) AS max_batch_duration_ms" \
    "     FROM streaming_progress WHERE run_ref IN (SELECT run_ref FROM page) GROUP BY run_ref) s ON s.run_ref = q.run_ref" \
    " LEFT JOIN text t ON t.text_id = q.exception_text_id"

static void write_item(struct json_writer *json, sqlite3_stmt *stmt, bool ended)
{
    int64_t status = db_i64(stmt, 0);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_END);
    json_kv_text(json, "status", API_WORD(statuses, status == STATUS_RUNNING && ended ? STATUS_UNKNOWN : status));
    json_kv_bool(json, "startSeen", db_i64(stmt, 1) == 1);
    api_words(json, "jobTags", db_str(stmt, 2), ',');
}

static void where_queries(struct query *query, const struct request *request, int status, bool ended)
{
    struct str q = request_param(request, "q");
    query_add(query, " WHERE 1");
    if (q.len)
        query_contains(query, " AND (q.name LIKE ? ESCAPE '\\' OR q.run_id LIKE ? ESCAPE '\\' OR q.query_id LIKE ? ESCAPE '\\')", q);
    if (status == STATUS_FINISHED || status == STATUS_FAILED)
        query_number(query, " AND " STATUS " = ?", status);
    else if (status >= 0)            /* without an end: one or the other, for all of them */
        query_add(query, (status == STATUS_UNKNOWN) == ended ? " AND NOT q.end_seen" : " AND 0");
}

static enum err_code write_list(const struct api_app *app, struct list *list, int status, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query query;
    query_init(&count, request->arena);
    query_init(&query, request->arena);
    query_add(&count, "SELECT count(*) FROM streaming_query q");
    where_queries(&count, request, status, app->ended);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    query_add(&query, "WITH page (run_ref) AS MATERIALIZED (SELECT q.run_ref FROM streaming_query q");
    where_queries(&query, request, status, app->ended);
    query_order(&query, list, "q.run_ref");
    query_page(&query, list);
    query_add(&query, ") " ITEM_COLUMNS ", substr(t.body, 1, min(instr(t.body || char(10), char(10)) - 1, " FIRST_LINE_CHARS ")) AS error" ITEM_FROM);
    query_order(&query, list, "q.run_ref");
    sqlite3_stmt *stmt = NULL;
    struct json_writer *json = list_begin(list, response);
    rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_item(json, stmt, app->ended);
        api_columns(json, stmt, ITEM_END, ITEM_END + 1);
        json_object_end(json);
    }
    db_finalize(stmt);
    list_end(list, json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_streaming(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int status;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "-start", err) || param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &status, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_list(&app, &list, status, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- one run as columns */

#define MAX_POINTS 10000             /* more than a chart has pixels; a run of a million batches has 100 in each */
#define MAX_PHASES 64                /* arrays of durations in an answer; Spark has some ten phases */
#define MAX_PHASE_ID 2000            /* ingest gives no higher ones */

/* How the values of several progress records become one, in whatever order they come. */
enum fold { SUM, MEAN, MINIMUM, MAXIMUM };

struct column {
    const char *name;                /* as a column, camel-cased on the way out */
    enum fold fold;
    double *values;                  /* by point; NaN: not known. Arena */
    uint32_t *counts;                /* values that went into the point */
};

/* Points are so many records each, in the order of the log, in which all tables of progress are read once; they are shown in the order of time. */
struct series {
    int64_t *first_nos;              /* progress_no of each point's first record, ascending; arena, as all here */
    uint32_t *positions;             /* where each point is shown */
    size_t progress_count, point_count, per_point;
    int64_t end_no;                  /* of the last record in the log; later ones came after the series was made */
    int64_t last_no;                 /* of the last record in time; UNKNOWN: there is none */
};

struct moment {
    int64_t trigger_ms, batch_id;
    uint32_t point;
};

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->trigger_ms != b->trigger_ms)
        return a->trigger_ms < b->trigger_ms ? -1 : 1;
    if (a->batch_id != b->batch_id)
        return a->batch_id < b->batch_id ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static enum err_code column_init(struct column *self, const struct series *series, struct arena *arena, struct err *err)
{
    self->values = arena_alloc(arena, series->point_count * sizeof *self->values + 1);
    self->counts = arena_zalloc(arena, series->point_count + 1, sizeof *self->counts);
    if (!self->values || !self->counts)
        return err_nomem(err);
    for (size_t i = 0; i < series->point_count; i++)
        self->values[i] = (double)NAN;
    return ERR_OK;
}

static void column_take(struct column *self, size_t point, double value)
{
    if (isnan(value))
        return;
    double *to = &self->values[point];
    if (++self->counts[point] == 1)
        *to = value;
    else if (self->fold == SUM)
        *to += value;
    else if (self->fold == MEAN)
        *to += (value - *to) / self->counts[point];
    else if (self->fold == MINIMUM ? value < *to : value > *to)
        *to = value;
}

static void column_write(struct json_writer *json, const struct column *self, size_t point_count)
{
    api_key(json, self->name);
    json_array_begin(json);
    for (size_t i = 0; i < point_count; i++) {
        double value = self->values[i];
        if (fabs(value) < 9007199254740992.0 && value == floor(value))
            json_i64(json, (int64_t)value);
        else
            json_f64(json, value);
    }
    json_array_end(json);
}

/* First record of each point, and the last record of all. */
static enum err_code read_moments(struct series *self, struct db *db, int64_t run_ref, size_t progress_count, struct moment *moments, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct moment last = {0};
    enum err_code rc = db_prepare(db, &stmt, "SELECT progress_no, trigger_ms, batch_id FROM streaming_progress WHERE run_ref = ? ORDER BY progress_no", err);
    if (!rc)
        db_bind_i64(stmt, 1, run_ref);
    while (!rc && self->progress_count < progress_count && (rc = db_step(stmt, err)) == ERR_OK) {
        size_t at = self->progress_count++;
        self->end_no = db_i64(stmt, 0);
        struct moment moment = {db_i64(stmt, 1), db_i64(stmt, 2), (uint32_t)(at / self->per_point)};
        if (at % self->per_point == 0) {
            self->first_nos[moment.point] = self->end_no;
            moments[moment.point] = moment;
            self->point_count++;
        }
        if (at == 0 || compare_moments(&last, &moment) <= 0) {
            last = moment;
            self->last_no = self->end_no;
        }
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code series_init(struct series *self, struct db *db, int64_t run_ref, size_t progress_count, struct arena *arena, struct err *err)
{
    size_t per_point = MAX((progress_count + MAX_POINTS - 1) / MAX_POINTS, (size_t)1), capacity = (progress_count + per_point - 1) / per_point;
    *self = (struct series){.per_point = per_point, .end_no = UNKNOWN, .last_no = UNKNOWN};
    self->first_nos = arena_alloc(arena, capacity * sizeof *self->first_nos + 1);
    self->positions = arena_alloc(arena, capacity * sizeof *self->positions + 1);
    struct moment *moments = arena_alloc(arena, capacity * sizeof *moments + 1);
    if (!self->first_nos || !self->positions || !moments)
        return err_nomem(err);
    enum err_code rc = read_moments(self, db, run_ref, progress_count, moments, err);
    if (rc)
        return rc;
    qsort(moments, self->point_count, sizeof *moments, compare_moments);
    for (size_t i = 0; i < self->point_count; i++)
        self->positions[moments[i].point] = (uint32_t)i;
    return ERR_OK;
}

/* Where a record is shown; *at is where the search begins and ends. False: the record came after the series was made. */
static bool series_point(const struct series *self, int64_t progress_no, size_t *at, size_t *ret_point)
{
    if (!self->point_count || progress_no > self->end_no)
        return false;
    while (*at + 1 < self->point_count && self->first_nos[*at + 1] <= progress_no)
        ++*at;
    *ret_point = self->positions[*at];
    return true;
}

/* Columns 1 … of the statement into `columns`. */
static enum err_code fill_columns(struct db *db, const char *sql, int64_t run_ref, const struct series *series, struct column *columns, size_t count, struct arena *arena,
                                  struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t at = 0, point;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = column_init(&columns[i], series, arena, err);
    if (!rc)
        db_bind_i64(stmt, 1, run_ref);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        if (series_point(series, db_i64(stmt, 0), &at, &point))
            for (size_t i = 0; i < count; i++)
                column_take(&columns[i], point, db_f64(stmt, (int)i + 1));
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_series(struct json_writer *json, struct db *db, int64_t run_ref, const struct series *series, struct arena *arena, struct err *err)
{
    static const char progress_sql[] =
        "SELECT progress_no, batch_id, trigger_ms, 1, batch_duration_ms, batch_duration_ms, input_rows, input_rows_per_second, processed_rows_per_second, output_rows,"
        "       watermark_ms, CASE WHEN watermark_ms > 0 THEN trigger_ms - watermark_ms END"
        " FROM streaming_progress WHERE run_ref = ? ORDER BY progress_no";
    static const char state_sql[] =
        "SELECT progress_no, sum(CAST(rows_total AS REAL)), sum(CAST(rows_updated AS REAL)), sum(CAST(rows_removed AS REAL)), sum(CAST(rows_dropped AS REAL)),"
        "       sum(CAST(memory_bytes AS REAL))"
        " FROM streaming_state WHERE run_ref = ? GROUP BY progress_no ORDER BY progress_no";
    struct column progress[] = {
        {.name = "batch_id", .fold = MINIMUM}, {.name = "trigger_ms", .fold = MINIMUM}, {.name = "progress_count", .fold = SUM}, {.name = "batch_duration_ms", .fold = MEAN},
        {.name = "max_batch_duration_ms", .fold = MAXIMUM}, {.name = "input_rows", .fold = SUM}, {.name = "input_rows_per_second", .fold = MEAN},
        {.name = "processed_rows_per_second", .fold = MEAN}, {.name = "output_rows", .fold = SUM}, {.name = "watermark_ms", .fold = MAXIMUM},
        {.name = "watermark_gap_ms", .fold = MAXIMUM},
    };
    struct column state[] = {
        {.name = "state_rows_total", .fold = MAXIMUM}, {.name = "state_rows_updated", .fold = SUM}, {.name = "state_rows_removed", .fold = SUM},
        {.name = "state_rows_dropped", .fold = SUM}, {.name = "state_memory_bytes", .fold = MAXIMUM},
    };
    enum err_code rc;
    if ((rc = fill_columns(db, progress_sql, run_ref, series, progress, ARRAY_LENGTH(progress), arena, err)) ||
        (rc = fill_columns(db, state_sql, run_ref, series, state, ARRAY_LENGTH(state), arena, err)))
        return rc;
    json_kv_i64(json, "progressPerPoint", (int64_t)series->per_point);
    json_key(json, "series");
    json_object_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(progress); i++)
        column_write(json, &progress[i], series->point_count);
    for (size_t i = 0; i < ARRAY_LENGTH(state); i++)
        column_write(json, &state[i], series->point_count);
    json_object_end(json);
    return ERR_OK;
}

struct phase {
    struct column column;
    int64_t trigger_count, total_ms, max_ms;
};

/* Adds one duration. */
static enum err_code phase_take(struct phase **phase, size_t *phase_count, const struct series *series, size_t point, int64_t duration_ms, struct arena *arena, struct err *err)
{
    if (!*phase) {
        if (*phase_count == MAX_PHASES)
            return ERR_OK;
        *phase = arena_zalloc(arena, 1, sizeof **phase);
        if (!*phase)
            return err_nomem(err);
        ++*phase_count;
        (*phase)->column = (struct column){.name = "duration_ms", .fold = MEAN};
        enum err_code rc = column_init(&(*phase)->column, series, arena, err);
        if (rc)
            return rc;
    }
    (*phase)->trigger_count++;
    (*phase)->total_ms = add_known((*phase)->total_ms, duration_ms);
    (*phase)->max_ms = MAX((*phase)->max_ms, duration_ms);
    column_take(&(*phase)->column, point, (double)duration_ms);
    return ERR_OK;
}

/* Takes the next phase_id:ms off the text. False: there is none. */
static bool next_duration(struct str *text, int64_t *ret_id, int64_t *ret_ms)
{
    struct str ms = str_word(text, ' '), id = str_word(&ms, ':');
    return str_to_i64(id, ret_id) && str_to_i64(ms, ret_ms);
}

/* Durations by phase id; NULL where the run had none of that phase. */
static enum err_code read_phases(struct db *db, int64_t run_ref, const struct series *series, struct phase **phases, struct arena *arena, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t at = 0, point, phase_count = 0;
    enum err_code rc = db_prepare(db, &stmt, "SELECT progress_no, durations FROM streaming_progress WHERE run_ref = ? ORDER BY progress_no", err);
    if (!rc)
        db_bind_i64(stmt, 1, run_ref);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        if (!series_point(series, db_i64(stmt, 0), &at, &point))
            continue;
        struct str text = db_str(stmt, 1);
        for (int64_t id, duration_ms; !rc && next_duration(&text, &id, &duration_ms);)
            if (id >= 0 && id <= MAX_PHASE_ID)
                rc = phase_take(&phases[id], &phase_count, series, point, duration_ms, arena, err);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_phases(struct json_writer *json, struct db *db, int64_t run_ref, const struct series *series, struct arena *arena, struct err *err)
{
    struct phase *phases[MAX_PHASE_ID + 1] = {NULL};
    sqlite3_stmt *names = NULL;
    enum err_code rc = read_phases(db, run_ref, series, phases, arena, err);
    if (rc || (rc = db_prepare(db, &names, "SELECT phase_id, name FROM streaming_phase ORDER BY name", err)))
        return rc;
    json_key(json, "phases");
    json_array_begin(json);
    while ((rc = db_step(names, err)) == ERR_OK) {
        int64_t id = db_i64(names, 0);
        const struct phase *phase = id >= 0 && id <= MAX_PHASE_ID ? phases[id] : NULL;
        if (!phase)
            continue;
        json_object_begin(json);
        api_columns(json, names, 1, 2);
        json_kv_i64(json, "triggerCount", phase->trigger_count);
        json_kv_i64(json, "totalMs", phase->total_ms);
        json_kv_i64(json, "maxMs", phase->max_ms);
        column_write(json, &phase->column, series->point_count);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(names);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Rows of the last progress record: plain columns from the second on, then one of JSON that ingest made. */
static enum err_code write_last(struct json_writer *json, struct db *db, const char *key, const char *sql, int64_t run_ref, int64_t progress_no, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    json_key(json, key);
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc) {
        db_bind_i64(stmt, 1, run_ref);
        db_bind_i64(stmt, 2, progress_no);
    }
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        int last = sqlite3_column_count(stmt) - 1;
        json_object_begin(json);
        api_columns(json, stmt, 0, last);
        api_key(json, sqlite3_column_name(stmt, last));
        api_stored_json(json, db_str(stmt, last));
        json_object_end(json);
    }
    db_finalize(stmt);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_latest(struct json_writer *json, struct db *db, int64_t run_ref, int64_t progress_no, struct err *err)
{
    static const char source_sql[] =
        "SELECT s.ordinal, t.body AS description, s.start_offset, s.end_offset, s.latest_offset, s.input_rows, s.input_rows_per_second, s.processed_rows_per_second, s.metrics"
        " FROM streaming_source s LEFT JOIN text t ON t.text_id = s.description_text_id WHERE s.run_ref = ? AND s.progress_no = ? ORDER BY s.ordinal LIMIT 1000";
    static const char state_sql[] =
        "SELECT ordinal, operator, rows_total, rows_updated, rows_removed, rows_dropped, updates_time_ms, removals_time_ms, commit_time_ms, memory_bytes, shuffle_partitions,"
        "       store_instances, custom_metrics"
        " FROM streaming_state WHERE run_ref = ? AND progress_no = ? ORDER BY ordinal LIMIT 1000";
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT t.body AS sink, p.observed_metrics, p.event_time_min_ms, p.event_time_max_ms, p.event_time_avg_ms, p.sink_metrics"
                                  " FROM streaming_progress p LEFT JOIN text t ON t.text_id = p.sink_text_id WHERE p.run_ref = ? AND p.progress_no = ?",
                                  err);
    if (!rc) {
        db_bind_i64(stmt, 1, run_ref);
        db_bind_i64(stmt, 2, progress_no);
        rc = db_step(stmt, err);
    }
    json_key(json, "latest");
    if (rc) {
        json_null(json);
    } else {
        json_object_begin(json);
        api_columns(json, stmt, 0, 5);
        json_key(json, "sinkMetrics");
        api_stored_json(json, db_str(stmt, 5));
        if (!(rc = write_last(json, db, "sources", source_sql, run_ref, progress_no, err)))
            rc = write_last(json, db, "stateOperators", state_sql, run_ref, progress_no, err);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_query(const struct api_app *app, const struct request *request, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt,
                                  "WITH page (run_ref) AS MATERIALIZED (SELECT run_ref FROM streaming_query WHERE run_id = ?) " ITEM_COLUMNS ", t.body AS error" ITEM_FROM, err);
    if (!rc) {
        db_bind_str(stmt, 1, request->path_args[1]);
        rc = db_step(stmt, err);
    }
    if (rc == ERR_EOF) {
        db_finalize(stmt);
        response_error(response, 404, "not_found", "there is no streaming query with this run id");
        return ERR_OK;
    }
    struct series series = {0};
    int64_t run_ref = rc ? UNKNOWN : db_i64(stmt, 3);
    if (rc || (rc = series_init(&series, app->db, run_ref, (size_t)db_i64(stmt, ITEM_PROGRESS_COUNT), request->arena, err))) {
        db_finalize(stmt);
        return rc;
    }
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    write_item(json, stmt, app->ended);
    api_columns(json, stmt, ITEM_END, ITEM_END + 1);
    db_finalize(stmt);
    if (!(rc = write_series(json, app->db, run_ref, &series, request->arena, err)) && !(rc = write_phases(json, app->db, run_ref, &series, request->arena, err)))
        rc = write_latest(json, app->db, run_ref, series.last_no, err);
    json_object_end(json);
    return rc;
}

enum err_code api_streaming_query(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_query(&app, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
