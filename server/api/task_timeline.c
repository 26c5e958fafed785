/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of one stage attempt over time, for its picture: singly where a window holds few of them, else how full each executor's slots were and with what. Either is bounded, whatever the
 * stage holds: so many tasks, or so many cells. */
#include <math.h>
#include <stdlib.h>

#include "analysis/task_parts.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/api/stage_lanes.h"

#define DEFAULT_BINS 600
#define MOST_BINS 2000               /* more pixels than a picture is wide */
#define MOST_ROWS 200
#define DEFAULT_ROWS 60
#define MOST_CELLS 20000             /* of each phase */
#define MOST_TASKS 4000
#define FEW_TASKS 300                /* are drawn singly however narrow they are */
#define NARROW_BINS 2.0              /* tasks narrower than this, on average, are not */
#define MOST_LANES 200               /* with more of them, executors are drawn as wholes */
#define SCALE 200                    /* parts of a row's slot time: a row is not higher in pixels */

/* What a task did while it had its slot, in the order in which it usually happens: Spark logs only sums. Buckets of the time account (analysis/account.h). */
enum phase { DELAY, DESER, FETCH, CPU, GC, REST, SHWRITE, SER, GETRES, LOST, NOMETRICS, PHASE_COUNT };
static const char *const phase_buckets[PHASE_COUNT] = {"delay", "deser", "fetch", "cpu", "gc", "other", "shwrite", "ser", "getres", "lost", "nometrics"};

/* What is walked over. The last four are asked for where tasks are drawn singly. */
enum value { STATUS, HAS_METRICS, RUN, DESERIALIZE, SERIALIZE, GETTING_RESULT, GC_TIME, CPU_TIME, FETCH_WAIT, WRITE_TIME, TASK_ID, TASK_INDEX, ATTEMPT, SPECULATIVE, VALUE_COUNT };
static const char *const value_names[VALUE_COUNT] = {
    "status",         "has_metrics",          "executor_run_time_ms",      "executor_deserialize_time_ms", "result_serialization_time_ms", "getting_result_ms",
    "jvm_gc_time_ms", "executor_cpu_time_ns", "shuffle_fetch_wait_time_ms", "shuffle_write_time_ns",        "task_id",                      "task_index",
    "attempt",        "speculative"};
#define PHASE_VALUES TASK_ID

struct row {
    size_t first, count;             /* executors, by position among the picked */
    double slots;
    size_t task_count;               /* in the window */
};

struct shown_task {
    size_t row;
    uint32_t lane;
    int64_t task_id, index, attempt, launch_ms, begin_ms, end_ms, status;
    bool speculative, has_end;
    double ms[PHASE_COUNT];
};

struct timeline {
    const struct api_app *app;
    struct stage_lanes lanes;
    enum lang lang;
    int64_t from_ms, to_ms, bins, most_rows;
    struct str filter;
    const char *rest;                /* bucket of the run time that nothing measures */
    size_t *row_of;                  /* by executor; SIZE_MAX: not picked */
    uint32_t *picked;                /* executors */
    size_t picked_count;
    struct row *rows;
    size_t row_count;
    unsigned char *keep;             /* tasks in the window */
    size_t task_count;
    double task_ms;                  /* of them in the window */
    bool singly;
    struct shown_task *tasks;
    size_t shown_count;
    double *cells, *steps;           /* row_count × bins × PHASE_COUNT: what a task did lies together; steps: what changes from a bin to the next */
};

static void timeline_dispose(struct timeline *self)
{
    stage_lanes_dispose(&self->lanes);
    mem_free(self->row_of);
    mem_free(self->picked);
    mem_free(self->rows);
    mem_free(self->keep);
    mem_free(self->tasks);
    mem_free(self->cells);
    mem_free(self->steps);
}

/* ---- rows: an executor each, or a range of them ---- */

static double slots_of(const struct stage_executor *executor)
{
    size_t lanes = MAX(executor->lane_count, (size_t)1);
    return known(executor->slots) ? (double)MAX(executor->slots, (int64_t)lanes) : (double)lanes;
}

static enum err_code make_rows(struct timeline *self, struct err *err)
{
    size_t count = self->lanes.executor_count;
    self->row_of = mem_array(count + 1, sizeof *self->row_of);
    self->picked = mem_array(count + 1, sizeof *self->picked);
    self->rows = mem_array((size_t)self->most_rows, sizeof *self->rows);
    if (!self->row_of || !self->picked || !self->rows)
        return err_nomem(err);
    for (size_t e = 0; e < count; e++) {
        self->row_of[e] = SIZE_MAX;
        if (self->lanes.executors[e].is_picked)
            self->picked[self->picked_count++] = (uint32_t)e;
    }
    size_t each = (self->picked_count + (size_t)self->most_rows - 1) / (size_t)self->most_rows;
    for (size_t i = 0; i < self->picked_count; i++) {
        size_t row = i / each;
        if (i % each == 0)
            self->rows[self->row_count++] = (struct row){.first = i};
        self->rows[row].count++;
        self->rows[row].slots += slots_of(&self->lanes.executors[self->picked[i]]);
        self->row_of[self->picked[i]] = row;
    }
    return ERR_OK;
}

static bool any_unknown_slots(const struct stage_lanes *lanes)
{
    for (size_t e = 0; e < lanes->executor_count; e++)
        if (lanes->executors[e].is_picked && !known(lanes->executors[e].slots))
            return true;
    return false;
}

/* ---- the window ---- */

/* A window that is not inside of the tasks' time is the nearest that is. */
static void clip_window(struct timeline *self)
{
    int64_t begin_ms = self->lanes.begin_ms, end_ms = MAX(self->lanes.end_ms, begin_ms + 1);
    self->from_ms = known(self->from_ms) ? MIN(MAX(self->from_ms, begin_ms), end_ms - 1) : begin_ms;
    self->to_ms = known(self->to_ms) ? MIN(MAX(self->to_ms, self->from_ms + 1), end_ms) : end_ms;
}

static enum err_code find_tasks(struct timeline *self, struct err *err)
{
    const struct stage_lanes *lanes = &self->lanes;
    if (!(self->keep = mem_array(lanes->count + 1, 1)))
        return err_nomem(err);
    for (size_t i = 0; i < lanes->count; i++) {
        int64_t begin_ms, end_ms;
        size_t row;
        if (!stage_task_place(lanes, i, &begin_ms, &end_ms) || end_ms < self->from_ms || begin_ms > self->to_ms || (row = self->row_of[stage_task_executor(lanes, i)]) == SIZE_MAX)
            continue;
        self->keep[i] = 1;
        self->task_count++;
        self->task_ms += (double)(MIN(end_ms, self->to_ms) - MAX(begin_ms, self->from_ms));
        self->rows[row].task_count++;
    }
    return ERR_OK;
}

static bool draws_singly(const struct timeline *self)
{
    double slots = 0;
    for (size_t r = 0; r < self->row_count; r++) {
        if (self->rows[r].count > 1)
            return false;
        slots += self->rows[r].slots;
    }
    double wide = self->task_count ? self->task_ms / (double)self->task_count / (double)(self->to_ms - self->from_ms) * (double)self->bins : 0;
    return slots <= MOST_LANES && self->task_count <= MOST_TASKS && (self->task_count <= FEW_TASKS || wide >= NARROW_BINS);
}

/* ---- phases ---- */

static double or_none(int64_t value)
{
    return value > 0 ? (double)value : 0;        /* UNKNOWN is below */
}

/* Sums to `occupancy`. What failed or was killed is lost as a whole. */
static void phases_of(const int64_t *const *values, size_t i, double occupancy, int64_t end_ms, double ret[PHASE_COUNT])
{
    for (int p = 0; p < PHASE_COUNT; p++)
        ret[p] = 0;
    int64_t status = values[STATUS][i], fetched_ms = values[GETTING_RESULT][i];
    if (status == TASK_STATUS_FAILED || status == TASK_STATUS_KILLED || values[HAS_METRICS][i] != 1) {
        ret[status == TASK_STATUS_FAILED || status == TASK_STATUS_KILLED ? LOST : NOMETRICS] = occupancy;
        return;
    }
    struct task_times times = {.occupancy = occupancy,
                               .run = or_none(values[RUN][i]),
                               .deser = or_none(values[DESERIALIZE][i]),
                               .ser = or_none(values[SERIALIZE][i]),
                               .getres = fetched_ms > 0 && fetched_ms < end_ms ? (double)(end_ms - fetched_ms) : 0,
                               .gc = or_none(values[GC_TIME][i]),
                               .cpu = or_none(values[CPU_TIME][i]) / NS_PER_MS,
                               .fetch = or_none(values[FETCH_WAIT][i]),
                               .shwrite = or_none(values[WRITE_TIME][i]) / NS_PER_MS};
    struct task_parts parts = task_parts(&times);
    ret[DELAY] = parts.delay;
    ret[DESER] = parts.deser - parts.gc_in_deser;
    ret[FETCH] = parts.fetch;
    ret[CPU] = parts.cpu;
    ret[GC] = parts.gc_in_run + parts.gc_in_deser;
    ret[REST] = parts.rest;
    ret[SHWRITE] = parts.shwrite;
    ret[SER] = parts.ser;
    ret[GETRES] = parts.getres;
}

/* Python's workers do what Spark does not measure, where the account says that the stage has some. */
static enum err_code read_rest(struct timeline *self, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->app->db, &stmt, "SELECT 1 FROM account WHERE scope = 4 AND owner = ?1 AND bucket = 'python'", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_ref);
    rc = db_step(stmt, err);
    self->rest = rc == ERR_OK ? "python" : phase_buckets[REST];
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* ---- tasks, singly ---- */

static enum err_code take_tasks(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err)
{
    (void)err;
    struct timeline *self = context;
    const struct stage_lanes *lanes = &self->lanes;
    for (size_t i = 0; i < count; i++) {
        size_t task = first + i;
        int64_t begin_ms, end_ms;
        if (!self->keep[task] || !stage_task_place(lanes, task, &begin_ms, &end_ms))
            continue;
        struct shown_task *shown = &self->tasks[self->shown_count++];
        *shown = (struct shown_task){.row = self->row_of[stage_task_executor(lanes, task)],
                                     .lane = lanes->lane[task],
                                     .task_id = values[TASK_ID][i],
                                     .index = values[TASK_INDEX][i],
                                     .attempt = values[ATTEMPT][i],
                                     .launch_ms = begin_ms,
                                     .begin_ms = lanes->begun_ms[task],
                                     .end_ms = end_ms,
                                     .status = values[STATUS][i],
                                     .speculative = values[SPECULATIVE][i] == 1,
                                     .has_end = known(lanes->finish_ms[task])};
        phases_of(values, i, (double)(end_ms - begin_ms), end_ms, shown->ms);
    }
    return ERR_OK;
}

static int by_launch(const void *a, const void *b)
{
    const struct shown_task *x = a, *y = b;
    if (x->launch_ms != y->launch_ms)
        return x->launch_ms < y->launch_ms ? -1 : 1;
    return x->task_id < y->task_id ? -1 : x->task_id > y->task_id;
}

static void write_phase(struct json_writer *json, const struct timeline *self, int phase)
{
    const char *bucket = phase == REST ? self->rest : phase_buckets[phase];
    json_object_begin(json);
    json_kv_text(json, "bucket", bucket);
    json_kv_text(json, "name", message(self->lang, "buckets", str_of(bucket), "name"));
    json_key(json, "values");
    json_array_begin(json);
}

static void end_phase(struct json_writer *json)
{
    json_array_end(json);
    json_object_end(json);
}

/* Under the key, of each task what the expression says of `t`. */
#define WRITE_EACH(json, self, key, write)                                                                                                                             \
    do {                                                                                                                                                               \
        json_key(json, key);                                                                                                                                           \
        json_array_begin(json);                                                                                                                                        \
        for (size_t i = 0; i < (self)->shown_count; i++) {                                                                                                             \
            const struct shown_task *t = &(self)->tasks[i];                                                                                                            \
            write;                                                                                                                                                     \
        }                                                                                                                                                              \
        json_array_end(json);                                                                                                                                          \
    } while (0)

static void write_tasks(struct json_writer *json, const struct timeline *self)
{
    int64_t from_ms = self->lanes.begin_ms;
    json_key(json, "tasks");
    json_object_begin(json);
    WRITE_EACH(json, self, "taskId", json_i64(json, t->task_id));
    WRITE_EACH(json, self, "index", json_i64(json, t->index));
    WRITE_EACH(json, self, "attempt", json_i64(json, t->attempt));
    WRITE_EACH(json, self, "row", json_i64(json, (int64_t)t->row));
    WRITE_EACH(json, self, "lane", json_i64(json, t->lane));
    WRITE_EACH(json, self, "launchOffsetMs", json_i64(json, t->launch_ms - from_ms));
    WRITE_EACH(json, self, "waitMs", json_i64(json, t->begin_ms - t->launch_ms));
    WRITE_EACH(json, self, "durationMs", json_i64(json, t->has_end ? t->end_ms - t->launch_ms : UNKNOWN));
    WRITE_EACH(json, self, "status", json_text(json, API_WORD(task_statuses, self->app->ended && (t->status == TASK_STATUS_RUNNING || t->status == TASK_STATUS_FETCHING) ? TASK_STATUS_UNKNOWN : t->status)));
    WRITE_EACH(json, self, "speculative", json_i64(json, t->speculative));
    json_key(json, "phases");
    json_array_begin(json);
    for (int p = 0; p < PHASE_COUNT; p++) {
        double most = 0;
        for (size_t i = 0; i < self->shown_count; i++)
            most = MAX(most, self->tasks[i].ms[p]);
        if (most < 0.5)
            continue;
        write_phase(json, self, p);
        for (size_t i = 0; i < self->shown_count; i++)
            json_i64(json, (int64_t)llround(self->tasks[i].ms[p]));
        end_phase(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* ---- density ---- */

static double bin_ms(const struct timeline *self)
{
    return (double)(self->to_ms - self->from_ms) / (double)self->bins;
}

static double *cell_of(double *cells, const struct timeline *self, size_t row, size_t bin)
{
    return cells + (row * (size_t)self->bins + bin) * PHASE_COUNT;
}

static void add_all(double *cell, const double ms[PHASE_COUNT], double share)
{
    for (size_t p = 0; p < PHASE_COUNT; p++)
        cell[p] += ms[p] * share;
}

/* Spreads what a task did evenly over its time, from `begin` to `end` of the window. A task over many bins costs as much as one over three: what is between its first and its last bin is one
 * step up and one down. */
static void add_task(struct timeline *self, size_t row, double begin, double end, double occupancy, const double ms[PHASE_COUNT])
{
    double width = bin_ms(self);
    size_t last_bin = (size_t)self->bins - 1, first = MIN((size_t)(begin / width), last_bin), last = MIN((size_t)(end / width), last_bin);
    double head = first == last ? end - begin : (double)(first + 1) * width - begin;
    add_all(cell_of(self->cells, self, row, first), ms, head / occupancy);
    if (last == first)
        return;
    add_all(cell_of(self->cells, self, row, last), ms, (end - (double)last * width) / occupancy);
    if (last == first + 1)
        return;
    add_all(cell_of(self->steps, self, row, first + 1), ms, width / occupancy);
    add_all(cell_of(self->steps, self, row, last), ms, -width / occupancy);
}

static enum err_code take_density(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err)
{
    (void)err;
    struct timeline *self = context;
    const struct stage_lanes *lanes = &self->lanes;
    for (size_t i = 0; i < count; i++) {
        int64_t begin_ms, end_ms;
        if (!self->keep[first + i] || !stage_task_place(lanes, first + i, &begin_ms, &end_ms) || end_ms <= begin_ms)
            continue;
        double ms[PHASE_COUNT], occupancy = (double)(end_ms - begin_ms);
        phases_of(values, i, occupancy, end_ms, ms);
        size_t row = self->row_of[stage_task_executor(lanes, first + i)];
        double begin = (double)(MAX(begin_ms, self->from_ms) - self->from_ms), end = (double)(MIN(end_ms, self->to_ms) - self->from_ms);
        if (end > begin)
            add_task(self, row, begin, end, occupancy, ms);
    }
    return ERR_OK;
}

static void sum_steps(struct timeline *self)
{
    for (size_t row = 0; row < self->row_count; row++) {
        double more[PHASE_COUNT] = {0};
        for (size_t b = 0; b < (size_t)self->bins; b++) {
            double *cell = cell_of(self->cells, self, row, b);
            const double *step = cell_of(self->steps, self, row, b);
            for (size_t p = 0; p < PHASE_COUNT; p++)
                cell[p] += more[p] += step[p];
        }
    }
}

/* What failed is news, however little it is; the rest is rounded. `cell`: of all rows. */
static int64_t scaled(const struct timeline *self, int phase, size_t cell)
{
    double ms = self->cells[cell * PHASE_COUNT + (size_t)phase], share = ms / (self->rows[cell / (size_t)self->bins].slots * bin_ms(self)) * SCALE;
    return share < 1e-6 ? 0 : (int64_t)(phase == LOST ? ceil(share) : round(share));
}

static void write_density(struct json_writer *json, const struct timeline *self)
{
    size_t cell_count = self->row_count * (size_t)self->bins;
    json_key(json, "density");
    json_object_begin(json);
    json_kv_i64(json, "bins", self->bins);
    json_kv_i64(json, "scale", SCALE);
    json_key(json, "phases");
    json_array_begin(json);
    for (int p = 0; p < PHASE_COUNT; p++) {
        bool any = false;
        for (size_t i = 0; i < cell_count && !any; i++)
            any = scaled(self, p, i) > 0;
        if (!any)
            continue;
        write_phase(json, self, p);
        for (size_t i = 0; i < cell_count; i++)
            json_i64(json, scaled(self, p, i));
        end_phase(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* ---- answer ---- */

static void write_rows(struct json_writer *json, const struct timeline *self)
{
    json_key(json, "rows");
    json_array_begin(json);
    for (size_t r = 0; r < self->row_count; r++) {
        const struct row *row = &self->rows[r];
        const struct stage_executor *first = &self->lanes.executors[self->picked[row->first]], *last = &self->lanes.executors[self->picked[row->first + row->count - 1]];
        json_object_begin(json);
        json_kv_i64(json, "executorCount", (int64_t)row->count);
        json_kv_str(json, "firstExecutorId", first->id);
        json_kv_str(json, "lastExecutorId", last->id);
        json_kv_str(json, "host", row->count == 1 ? first->host : STR_NONE);
        json_kv_i64(json, "slots", (int64_t)row->slots);
        json_kv_i64(json, "taskCount", (int64_t)row->task_count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_answer(struct json_writer *json, const struct timeline *self)
{
    bool any = known(self->lanes.begin_ms);
    json_object_begin(json);
    json_kv_i64(json, "beginMs", self->lanes.begin_ms);
    json_kv_i64(json, "endMs", self->lanes.end_ms);
    json_kv_i64(json, "fromMs", any ? self->from_ms : UNKNOWN);
    json_kv_i64(json, "toMs", any ? self->to_ms : UNKNOWN);
    json_kv_i64(json, "allTasks", (int64_t)self->lanes.count);
    json_kv_i64(json, "taskCount", (int64_t)self->task_count);
    json_kv_i64(json, "executorCount", (int64_t)self->lanes.executor_count);
    json_kv_i64(json, "pickedExecutorCount", (int64_t)self->picked_count);
    write_rows(json, self);
    if (self->tasks)
        write_tasks(json, self);
    else if (self->cells)
        write_density(json, self);
    json_object_end(json);
}

static enum err_code look_at_tasks(struct timeline *self, struct task_columns *columns, struct err *err)
{
    if (!(self->tasks = mem_array(self->task_count + 1, sizeof *self->tasks)))
        return err_nomem(err);
    enum err_code rc = self->lanes.lane ? ERR_OK : stage_lanes_fill(&self->lanes, err);
    if (!rc)
        rc = task_columns_walk(columns, value_names, VALUE_COUNT, self->keep, take_tasks, self, err);
    for (size_t r = 0; r < self->row_count; r++)
        self->rows[r].slots = slots_of(&self->lanes.executors[self->picked[self->rows[r].first]]);
    if (!rc && self->shown_count)
        qsort(self->tasks, self->shown_count, sizeof *self->tasks, by_launch);
    return rc;
}

static enum err_code look_at_density(struct timeline *self, struct task_columns *columns, struct err *err)
{
    self->bins = MAX(MIN(self->bins, (int64_t)(MOST_CELLS / MAX(self->row_count, (size_t)1))), 1);
    size_t cells = PHASE_COUNT * self->row_count * (size_t)self->bins;
    self->cells = mem_array(cells + 1, sizeof *self->cells);
    self->steps = mem_array(cells + 1, sizeof *self->steps);
    if (!self->cells || !self->steps)
        return err_nomem(err);
    enum err_code rc = task_columns_walk(columns, value_names, PHASE_VALUES, self->keep, take_density, self, err);
    sum_steps(self);
    return rc;
}

static enum err_code look(struct timeline *self, struct task_columns *columns, int64_t stage_ref, struct arena *arena, struct err *err)
{
    enum err_code rc = stage_lanes_open(&self->lanes, self->app->db, columns, stage_ref, self->filter, arena, err);
    if (rc || !known(self->lanes.begin_ms))
        return rc;
    clip_window(self);
    if (any_unknown_slots(&self->lanes) && (rc = stage_lanes_fill(&self->lanes, err)))
        return rc;
    if ((rc = make_rows(self, err)) || (rc = find_tasks(self, err)) || (rc = read_rest(self, stage_ref, err)))
        return rc;
    return draws_singly(self) ? look_at_tasks(self, columns, err) : look_at_density(self, columns, err);
}

static enum err_code read_params(struct timeline *self, const struct request *request, struct err *err)
{
    enum err_code rc;
    self->filter = request_param(request, "filter");
    if ((rc = request_lang(request, &self->lang, err)) || (rc = request_param_i64(request, "from", UNKNOWN, 0, INT64_MAX, &self->from_ms, err)) ||
        (rc = request_param_i64(request, "to", UNKNOWN, 0, INT64_MAX, &self->to_ms, err)) || (rc = request_param_i64(request, "bins", DEFAULT_BINS, 1, MOST_BINS, &self->bins, err)))
        return rc;
    return request_param_i64(request, "rows", DEFAULT_ROWS, 1, MOST_ROWS, &self->most_rows, err);
}

enum err_code api_task_timeline(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct timeline timeline = {.app = &app};
    struct task_columns *columns = NULL;
    int64_t stage_ref;
    enum err_code rc;
    bool unsound = read_params(&timeline, request, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = stage_find(app.db, request, &stage_ref, err);
    if (!rc && !known(stage_ref))
        response_error(response, 404, "not_found", "there is no such stage attempt");
    else if (!rc && !(rc = task_columns_open(&columns, app.db, stage_ref, err)) && !(rc = look(&timeline, columns, stage_ref, request->arena, err)))
        write_answer(response_json(response, false), &timeline);
    timeline_dispose(&timeline);
    task_columns_free(columns);
    api_app_close(ctx, &app);
    return rc;
}
