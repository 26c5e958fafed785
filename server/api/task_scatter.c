/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of one stage attempt by duration and by one other measure, for a picture on two logarithmic axes: what is slow because it has more to do lies along the line of the median speed,
 * what is slow for its data above it. Up to MOST_POINTS tasks singly; of more, how many are in each field, and the outliers singly. */
#include <math.h>

#include "analysis/distribution.h"
#include "base/int_column.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/task_columns.h"
#include "server/task_page.h"

#define MOST_POINTS 20000
#define MOST_OUTLIERS 2000
#define FIELD_COLUMNS 96
#define FIELD_ROWS 64
#define OUTLIER_FACTOR 1.5           /* of the third quartile, where analysis has no limit of its own (spec/findings.md 5.2) */
#define MAX_EXECUTORS ((size_t)1 << 24)

static const char *const statuses[] = {"running", "success", "failed", "killed", "fetching", "unknown"};      /* by task.status */
enum { STATUS_SUCCESS = 1 };

struct scatter {
    const struct api_app *app;
    struct str x_key;
    char x_name[TASK_COLUMN_NAME_BYTES];
    size_t count;
    const int64_t *duration_ms, *x, *status, *task_id, *index, *executor_ref;
    int64_t least_ms, most_ms, least_x, most_x;    /* over what is on the axes: above 0 */
    size_t known_count, data_count;
    double ms_per_unit, cut_ms;
    size_t outlier_count;
    size_t *points;                  /* positions; owned */
    size_t point_count;
};

static void measure(struct scatter *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!known(self->duration_ms[i]))
            continue;
        int64_t ms = MAX(self->duration_ms[i], 1);
        self->known_count++;
        self->least_ms = min_known(self->least_ms, ms);
        self->most_ms = max_known(self->most_ms, ms);
        if (self->x[i] <= 0)         /* UNKNOWN, too */
            continue;
        self->data_count++;
        self->least_x = min_known(self->least_x, self->x[i]);
        self->most_x = max_known(self->most_x, self->x[i]);
    }
}

/* Median over successful tasks of the time for a unit. */
static enum err_code measure_speed(struct scatter *self, struct err *err)
{
    CLEANUP(mem_freep) int64_t *rates = mem_array(self->data_count + 1, sizeof *rates);
    size_t n = 0;
    if (!rates)
        return err_nomem(err);
    for (size_t i = 0; i < self->count; i++)
        if (known(self->duration_ms[i]) && self->x[i] > 0 && self->status[i] == STATUS_SUCCESS)
            rates[n++] = order_key((double)MAX(self->duration_ms[i], 1) / (double)self->x[i]);
    if (n)
        select_nth(rates, n, n / 2);
    self->ms_per_unit = n ? order_value(rates[n / 2]) : (double)NAN;
    return ERR_OK;
}

static enum err_code measure_cut(struct scatter *self, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->app->db, &stmt,
                                  "SELECT coalesce((SELECT outlier_cut_ms FROM stage_analysis WHERE stage_ref = ?1),"
                                  "                (SELECT ?2 * p75 FROM stage_quantile WHERE stage_ref = ?1 AND name = 'duration_ms'))",
                                  err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_ref);
    db_bind_f64(stmt, 2, OUTLIER_FACTOR);
    rc = db_step(stmt, err);
    self->cut_ms = rc == ERR_OK ? db_f64(stmt, 0) : (double)NAN;
    db_finalize(stmt);
    for (size_t i = 0; i < self->count && !isnan(self->cut_ms); i++)
        self->outlier_count += known(self->duration_ms[i]) && (double)self->duration_ms[i] > self->cut_ms;
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* All, longest first; of many the outliers. */
static enum err_code pick_points(struct scatter *self, struct err *err)
{
    size_t most = self->known_count <= MOST_POINTS ? self->known_count : MIN(self->outlier_count, (size_t)MOST_OUTLIERS), kept;
    if (!(self->points = mem_array(most + 1, sizeof *self->points)))
        return err_nomem(err);
    return most ? task_page(self->duration_ms, self->task_id, NULL, self->count, true, 0, most, self->points, &self->point_count, &kept, err) : ERR_OK;
}

/* ---- answer ---- */

static enum err_code read_executor_ids(struct imap *out, struct db *db, struct arena *arena, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT executor_ref, executor_id FROM executor", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str id = db_str(stmt, 1);
        char *copy = arena_strndup(arena, id.ptr, id.len);
        if (!copy || imap_put(out, db_i64(stmt, 0), copy))
            rc = err_nomem(err);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define WRITE_EACH(json, self, key, write)                       \
    do {                                                         \
        json_key(json, key);                                     \
        json_array_begin(json);                                  \
        for (size_t p = 0; p < (self)->point_count; p++) {       \
            size_t i = (self)->points[p];                        \
            write;                                               \
        }                                                        \
        json_array_end(json);                                    \
    } while (0)

static void write_points(struct json_writer *json, const struct scatter *self, const struct imap *executor_ids)
{
    json_key(json, "points");
    json_object_begin(json);
    WRITE_EACH(json, self, "taskId", json_i64(json, self->task_id[i]));
    WRITE_EACH(json, self, "index", json_i64(json, self->index[i]));
    WRITE_EACH(json, self, "durationMs", json_i64(json, self->duration_ms[i]));
    WRITE_EACH(json, self, "x", json_i64(json, self->x[i]));
    WRITE_EACH(json, self, "status", json_text(json, API_WORD(statuses, self->status[i])));
    WRITE_EACH(json, self, "executorId", json_text(json, known(self->executor_ref[i]) ? imap_get(executor_ids, self->executor_ref[i]) : NULL));
    json_object_end(json);
}

/* A float's logarithm: a field is wide, and there may be millions of tasks. */
static size_t place(int64_t value, int64_t least, int64_t most, size_t fields)
{
    if (value <= least || most <= least)
        return 0;
    float share = logf((float)value / (float)least) / logf((float)most / (float)least);
    return MIN((size_t)(share * (float)fields), fields - 1);
}

/* Column −1 is the gutter: tasks without data. Only fields with tasks are told: [column, row, tasks] one after the other. */
static enum err_code write_fields(struct json_writer *json, const struct scatter *self, struct err *err)
{
    json_key(json, "fields");
    if (self->known_count <= MOST_POINTS) {
        json_null(json);
        return ERR_OK;
    }
    CLEANUP(mem_freep) int64_t *counts = mem_array((FIELD_COLUMNS + 1) * FIELD_ROWS, sizeof *counts);
    if (!counts)
        return err_nomem(err);
    for (size_t i = 0; i < self->count; i++) {
        if (!known(self->duration_ms[i]))
            continue;
        size_t column = self->x[i] > 0 ? 1 + place(self->x[i], self->least_x, self->most_x, FIELD_COLUMNS) : 0;
        counts[column * FIELD_ROWS + place(self->duration_ms[i], self->least_ms, self->most_ms, FIELD_ROWS)]++;
    }
    json_object_begin(json);
    json_kv_i64(json, "columns", FIELD_COLUMNS);
    json_kv_i64(json, "rows", FIELD_ROWS);
    json_key(json, "cells");
    json_array_begin(json);
    for (int64_t i = 0; i < (FIELD_COLUMNS + 1) * FIELD_ROWS; i++) {
        if (!counts[i])
            continue;
        json_i64(json, i / FIELD_ROWS - 1);
        json_i64(json, i % FIELD_ROWS);
        json_i64(json, counts[i]);
    }
    json_array_end(json);
    json_object_end(json);
    return ERR_OK;
}

static enum err_code answer(struct scatter *self, struct arena *arena, struct response *response, struct err *err)
{
    CLEANUP(imap_dispose) struct imap executor_ids;
    imap_init(&executor_ids, MAX_EXECUTORS);
    enum err_code rc = read_executor_ids(&executor_ids, self->app->db, arena, err);
    if (rc)
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_str(json, "x", self->x_key);
    json_kv_text(json, "unit", metric_unit(str_of(self->x_name)));
    json_kv_i64(json, "taskCount", (int64_t)self->known_count);
    json_kv_i64(json, "dataCount", (int64_t)self->data_count);
    json_kv_i64(json, "minDurationMs", self->least_ms);
    json_kv_i64(json, "maxDurationMs", self->most_ms);
    json_kv_i64(json, "minX", self->least_x);
    json_kv_i64(json, "maxX", self->most_x);
    json_kv_f64(json, "medianMsPerUnit", self->ms_per_unit);
    json_kv_f64(json, "outlierCutMs", self->cut_ms);
    json_kv_i64(json, "outlierCount", (int64_t)self->outlier_count);
    write_points(json, self, &executor_ids);
    rc = write_fields(json, self, err);
    json_object_end(json);
    return rc;
}

static enum err_code look(struct scatter *self, struct task_columns *columns, int64_t stage_ref, struct arena *arena, struct response *response, struct err *err)
{
    self->count = task_columns_count(columns);
    enum err_code rc = task_columns_get(columns, self->x_name, &self->x, err);
    if (rc == ERR_NOT_FOUND) {
        response_error(response, 400, "bad_parameter", "x is no measure of tasks");
        return ERR_OK;
    }
    if (rc || (rc = task_columns_get(columns, "duration_ms", &self->duration_ms, err)) || (rc = task_columns_get(columns, "status", &self->status, err)) ||
        (rc = task_columns_get(columns, "task_id", &self->task_id, err)) || (rc = task_columns_get(columns, "task_index", &self->index, err)) ||
        (rc = task_columns_get(columns, "executor_ref", &self->executor_ref, err)))
        return rc;
    measure(self);
    if ((rc = measure_speed(self, err)) || (rc = measure_cut(self, stage_ref, err)) || (rc = pick_points(self, err)))
        return rc;
    return answer(self, arena, response, err);
}

enum err_code api_task_scatter(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct scatter scatter = {.app = &app, .x_key = request_param(request, "x"), .least_ms = UNKNOWN, .most_ms = UNKNOWN, .least_x = UNKNOWN, .most_x = UNKNOWN};
    struct task_columns *columns = NULL;
    int64_t stage_ref;
    enum err_code rc;
    if (!task_column_name(scatter.x_key, scatter.x_name, sizeof scatter.x_name)) {
        response_error(response, 400, "bad_parameter", "x names a measure of tasks, as the list of tasks does");
        return ERR_OK;
    }
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = stage_find(app.db, request, &stage_ref, err);
    if (!rc && !known(stage_ref))
        response_error(response, 404, "not_found", "there is no such stage attempt");
    else if (!rc && !(rc = task_columns_open(&columns, app.db, stage_ref, err)))
        rc = look(&scatter, columns, stage_ref, request->arena, response, err);
    mem_free(scatter.points);
    task_columns_free(columns);
    api_app_close(ctx, &app);
    return rc;
}
