/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stream_health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/error_text.h"
#include "base/mem.h"

#define RECENT_BATCHES 20 /* 7.9: what counts as now */
#define RECENT_OFFSETS 10
#define WAIT_LEAST_MS 20 /* a shorter pause between batches is the engine's own work */
#define WAITS_SHARE 0.2  /* so many of the batches waited: then there is an interval */
#define GROWS_SHARE 0.5  /* rows or durations that grow by this much over the run, of their median */
/* 10.5: peaks at a fixed distance. */
#define PERIOD_MOST 50
#define PERIOD_CORRELATION 0.6
#define PERIOD_LEAST_BATCHES 12
/* From here on the verdict names it: the steps of the rules from which on there is something to do. */
#define VERDICT_BEHIND 0.9
#define VERDICT_STATE 0.2
#define VERDICT_STATE_ROWS 1e5
#define VERDICT_WATERMARK 2.0
#define VERDICT_OVERHEAD 0.5

const char *const stream_verdict_names[STREAM_VERDICT_COUNT] = {"failed", "behind", "state", "watermark", "overhead", "keeps up", "idle"};

/* Phases beside addBatch, in the order of the table. */
static const char *const phase_names[] = {"walCommit", "queryPlanning", "getBatch", "latestOffset", "getOffset", "commitOffsets", "setOffsetRange", "getEndOffset"};
enum { PHASES = ARRAY_LENGTH(phase_names), PHASE_ADD_BATCH = PHASES, PHASE_TRIGGER, PHASE_OTHER };

struct batch {
    int64_t progress_no, batch_id, trigger_ms;
    double duration_ms, add_ms, trigger_execution_ms, rows, input_rate, processed_rate, state_rows, state_bytes, updated, dropped, event_max_ms, watermark_ms, offsets_behind;
};

struct reader {
    struct stream_health *health;
    struct batch *batches; /* of one run */
    size_t count, capacity;
    double phase_ms[PHASES];
    int *phase_of; /* by phase_id: position in phase_names or one of PHASE_… */
    size_t phase_count;
    double *scratch;
    size_t scratch_capacity;
};

static double real(int64_t value)
{
    return known(value) ? (double)value : (double)NAN;
}

/* ---- reading */

static int phase_named(struct str name)
{
    for (int i = 0; i < PHASES; i++)
        if (str_is(name, phase_names[i]))
            return i;
    return str_is(name, "addBatch") ? PHASE_ADD_BATCH : str_is(name, "triggerExecution") ? PHASE_TRIGGER : PHASE_OTHER;
}

#define MAX_PHASES 10000

static enum err_code read_phases(struct reader *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    enum err_code rc = db_prepare(db, &stmt, "SELECT phase_id, name FROM streaming_phase WHERE phase_id >= 0 ORDER BY phase_id", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        int64_t id = db_i64(stmt, 0);
        if (id >= MAX_PHASES)
            continue;
        if (mem_grow((void **)&self->phase_of, &capacity, (size_t)id + 1, MAX_PHASES, sizeof *self->phase_of)) {
            rc = err_nomem(err);
            break;
        }
        while (self->phase_count <= (size_t)id)
            self->phase_of[self->phase_count++] = PHASE_OTHER;
        self->phase_of[id] = phase_named(db_str(stmt, 1));
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* "3:120 7:4": phase and ms. */
static void take_durations(struct reader *self, struct batch *batch, struct str text)
{
    for (size_t begin = 0; begin < text.len;) {
        size_t end = begin, colon = 0;
        for (; end < text.len && text.ptr[end] != ' '; end++)
            colon = text.ptr[end] == ':' ? end : colon;
        int64_t id, ms;
        if (colon > begin && str_to_i64((struct str){text.ptr + begin, colon - begin}, &id) && str_to_i64((struct str){text.ptr + colon + 1, end - colon - 1}, &ms) && id >= 0 &&
            (size_t)id < self->phase_count && ms >= 0) {
            int phase = self->phase_of[id];
            if (phase == PHASE_ADD_BATCH)
                batch->add_ms = (double)ms;
            else if (phase == PHASE_TRIGGER)
                batch->trigger_execution_ms = (double)ms;
            else if (phase < PHASES)
                self->phase_ms[phase] += (double)ms;
        }
        begin = end + 1;
    }
}

/* [["maxOffsetsBehindLatest","12"],…]: the text was made by ingest out of names and values of the log. */
static double offsets_behind(struct str metrics)
{
    static const char key[] = "\"maxOffsetsBehindLatest\",\"";
    const char *at = metrics.len ? memmem(metrics.ptr, metrics.len, key, sizeof key - 1) : NULL;
    if (!at)
        return (double)NAN;
    at += sizeof key - 1;
    size_t len = 0, most = (size_t)(metrics.ptr + metrics.len - at);
    while (len < most && at[len] != '"' && at[len] != '.')
        len++;
    int64_t value;
    return str_to_i64((struct str){at, len}, &value) && value >= 0 ? (double)value : (double)NAN;
}

static const char progress_sql[] =
    "SELECT progress_no, batch_id, trigger_ms, batch_duration_ms, durations, input_rows, input_rows_per_second, processed_rows_per_second, event_time_max_ms,"
    " watermark_ms FROM streaming_progress WHERE run_ref = ?1 ORDER BY progress_no";
static const char state_sql[] = "SELECT progress_no, total(rows_total), total(memory_bytes), total(rows_updated), total(rows_dropped) FROM streaming_state WHERE run_ref = ?1"
                                " GROUP BY progress_no ORDER BY progress_no";
static const char source_sql[] = "SELECT progress_no, metrics FROM streaming_source WHERE run_ref = ?1 AND metrics IS NOT NULL ORDER BY progress_no";

static enum err_code read_progress(struct reader *self, sqlite3_stmt *stmt, int64_t run_ref, struct err *err)
{
    enum err_code rc;
    db_bind_i64(stmt, 1, run_ref);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        if (mem_grow((void **)&self->batches, &self->capacity, self->count + 1, (size_t)1 << 26, sizeof *self->batches)) {
            db_reset(stmt);
            return err_nomem(err);
        }
        struct batch *batch = &self->batches[self->count];
        *batch = (struct batch){.progress_no = db_i64(stmt, 0),
                                .batch_id = db_i64(stmt, 1),
                                .trigger_ms = db_i64(stmt, 2),
                                .add_ms = (double)NAN,
                                .trigger_execution_ms = (double)NAN,
                                .rows = real(db_i64(stmt, 5)),
                                .input_rate = db_f64(stmt, 6),
                                .processed_rate = db_f64(stmt, 7),
                                .state_rows = (double)NAN,
                                .state_bytes = (double)NAN,
                                .event_max_ms = real(db_i64(stmt, 8)),
                                .watermark_ms = real(db_i64(stmt, 9)),
                                .offsets_behind = (double)NAN};
        take_durations(self, batch, db_str(stmt, 4));
        int64_t duration = db_i64(stmt, 3);
        batch->duration_ms = known(duration) && duration >= 0 ? (double)duration : batch->trigger_execution_ms;
        if (known(batch->trigger_ms) && batch->trigger_ms >= SOUND_TIME_MIN_MS && batch->trigger_ms <= SOUND_TIME_MAX_MS)
            self->count++;
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Rows by progress_no beside the batches, which are in that order too. */
static enum err_code read_states(struct reader *self, sqlite3_stmt *stmt, int64_t run_ref, struct err *err)
{
    enum err_code rc;
    size_t at = 0;
    db_bind_i64(stmt, 1, run_ref);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        while (at < self->count && self->batches[at].progress_no < db_i64(stmt, 0))
            at++;
        if (at == self->count || self->batches[at].progress_no != db_i64(stmt, 0))
            continue;
        self->batches[at].state_rows = db_f64(stmt, 1);
        self->batches[at].state_bytes = db_f64(stmt, 2);
        self->batches[at].updated = db_f64(stmt, 3);
        self->batches[at].dropped = db_f64(stmt, 4);
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_sources(struct reader *self, sqlite3_stmt *stmt, int64_t run_ref, struct err *err)
{
    enum err_code rc;
    size_t at = 0;
    db_bind_i64(stmt, 1, run_ref);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        while (at < self->count && self->batches[at].progress_no < db_i64(stmt, 0))
            at++;
        if (at == self->count || self->batches[at].progress_no != db_i64(stmt, 0))
            continue;
        double behind = offsets_behind(db_str(stmt, 1));
        struct batch *batch = &self->batches[at];
        if (!isnan(behind))
            batch->offsets_behind = isnan(batch->offsets_behind) ? behind : MAX(batch->offsets_behind, behind);
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* ---- series */

static int by_trigger(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;
    if (x->trigger_ms != y->trigger_ms)
        return x->trigger_ms < y->trigger_ms ? -1 : 1;
    return (x->progress_no > y->progress_no) - (x->progress_no < y->progress_no);
}

/* Records without rows and without a change are no batches, but end a pause. */
static bool is_batch(const struct batch *batch)
{
    return batch->rows > 0 || batch->updated > 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What `scratch` holds, NaN left out; sorts it. */
static double value_at_quantile(struct reader *self, size_t count, double q)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(self->scratch[i]))
            self->scratch[kept++] = self->scratch[i];
    if (kept)
        qsort(self->scratch, kept, sizeof *self->scratch, compare_doubles);
    return quantile_type7(self->scratch, kept, q);
}

#define MEDIAN(self, from, expression)                    \
    (__extension__({                                      \
        size_t n_ = 0;                                    \
        for (size_t i = (from); i < (self)->count; i++) { \
            const struct batch *b = &(self)->batches[i];  \
            (self)->scratch[n_++] = (expression);         \
        }                                                 \
        value_at_quantile((self), n_, 0.5);                     \
    }))

/* Median of slopes between points half the series apart (incomplete Theil–Sen); points by batch. `value` picks the series. */
typedef double value_fn(const struct batch *batch);
static double rows_of(const struct batch *batch)
{
    return batch->rows;
}
static double duration_of(const struct batch *batch)
{
    return batch->duration_ms;
}
static double state_of(const struct batch *batch)
{
    return batch->state_rows;
}

static double slope_of(struct reader *self, size_t from, value_fn *value)
{
    size_t count = self->count - from, half = count / 2, n = 0;
    for (size_t i = from; half && i + half < self->count; i++)
        self->scratch[n++] = (value(&self->batches[i + half]) - value(&self->batches[i])) / (double)half;
    return value_at_quantile(self, n, 0.5);
}

static bool grows(struct reader *self, value_fn *value, double median)
{
    double slope = slope_of(self, 0, value);
    return median > 0 && slope * (double)self->count / median >= GROWS_SHARE;
}

static void find_interval(struct reader *self, struct stream_row *row)
{
    size_t waited = 0, pairs = self->count ? self->count - 1 : 0;
    for (size_t i = 0; i < pairs; i++) {
        double start = (double)(self->batches[i + 1].trigger_ms - self->batches[i].trigger_ms), pause = start - self->batches[i].duration_ms;
        if (pause >= WAIT_LEAST_MS)
            self->scratch[waited++] = start;
    }
    row->back_to_back = pairs && (double)waited < WAITS_SHARE * (double)pairs;
    if (!row->back_to_back) {
        row->interval_ms = value_at_quantile(self, waited, 0.5);
        return;
    }
    for (size_t i = 0; i < pairs; i++)
        self->scratch[i] = (double)(self->batches[i + 1].trigger_ms - self->batches[i].trigger_ms);
    row->interval_ms = value_at_quantile(self, pairs, 0.5);
}

static void drop_idle_records(struct reader *self)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (is_batch(&self->batches[i]))
            self->batches[kept++] = self->batches[i];
    self->count = kept;
}

static void judge_delay(struct reader *self, struct stream_row *row)
{
    size_t n = 0;
    for (size_t i = 1; i < self->count; i++)
        self->scratch[n++] = MAX(0.0, (double)(self->batches[i].trigger_ms - self->batches[i - 1].trigger_ms) - row->interval_ms);
    row->delay_ms = value_at_quantile(self, n, 0.5);
}

static void judge_state(struct reader *self, struct stream_row *row)
{
    size_t first = 0, half;
    while (first < self->count && isnan(self->batches[first].state_rows))
        first++;
    if (first == self->count)
        return;
    row->state_first = self->batches[first].state_rows;
    for (size_t i = first; i < self->count; i++)
        if (!isnan(self->batches[i].state_rows)) {
            row->state_rows = self->batches[i].state_rows;
            row->state_bytes = self->batches[i].state_bytes;
        }
    half = first + (self->count - first) / 2;
    double slope = slope_of(self, half, state_of);
    row->state_growth = row->state_rows > 0 ? MAX(0.0, slope * (double)(self->count - first)) / row->state_rows : (double)NAN;
}

static void judge_watermark(struct reader *self, struct stream_row *row)
{
    size_t n = 0, delays = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->batches[i].watermark_ms > 0) /* it begins at 1970 */
            self->scratch[n++] = MAX(0.0, (double)self->batches[i].trigger_ms - self->batches[i].watermark_ms);
    row->watermark_lag_ms = value_at_quantile(self, n, 0.95);
    for (size_t i = 1; i < self->count; i++)
        if (self->batches[i].watermark_ms > 0 && self->batches[i - 1].event_max_ms >= self->batches[i].watermark_ms)
            self->scratch[delays++] = self->batches[i - 1].event_max_ms - self->batches[i].watermark_ms;
    row->watermark_delay_ms = value_at_quantile(self, delays, 0.5);
    double base = isnan(row->watermark_delay_ms) ? row->interval_ms : isnan(row->interval_ms) ? row->watermark_delay_ms : MAX(row->watermark_delay_ms, row->interval_ms);
    row->watermark_ratio = base > 0 ? row->watermark_lag_ms / base : (double)NAN;
}

static void judge_overhead(struct reader *self, struct stream_row *row)
{
    double whole = 0, largest = 0;
    row->overhead = MEDIAN(self, 0, b->trigger_execution_ms > 0 && b->add_ms <= b->trigger_execution_ms ? 1 - b->add_ms / b->trigger_execution_ms : (double)NAN);
    for (size_t i = 0; i < self->count; i++)
        whole += isnan(self->batches[i].trigger_execution_ms) ? 0 : self->batches[i].trigger_execution_ms;
    for (int i = 0; i < PHASES; i++)
        if (self->phase_ms[i] > largest) {
            largest = self->phase_ms[i];
            row->overhead_phase = phase_names[i];
        }
    row->overhead_phase_share = whole > 0 ? MIN(1.0, largest / whole) : (double)NAN;
}

static void judge_offsets(struct reader *self, struct stream_row *row)
{
    size_t from = self->count > RECENT_OFFSETS ? self->count - RECENT_OFFSETS : 0;
    for (size_t i = from; i < self->count; i++)
        if (!isnan(self->batches[i].offsets_behind))
            row->offsets_behind = isnan(row->offsets_behind) ? self->batches[i].offsets_behind : MAX(row->offsets_behind, self->batches[i].offsets_behind);
    row->offsets_ratio = row->rows > 0 ? row->offsets_behind / row->rows : (double)NAN;
}

static void judge_period(struct reader *self, struct stream_row *row)
{
    double mean = 0, variance = 0, best = PERIOD_CORRELATION;
    if (self->count < PERIOD_LEAST_BATCHES)
        return;
    for (size_t i = 0; i < self->count; i++) {
        if (isnan(self->batches[i].duration_ms))
            return;
        mean += self->batches[i].duration_ms / (double)self->count;
    }
    for (size_t i = 0; i < self->count; i++)
        variance += (self->batches[i].duration_ms - mean) * (self->batches[i].duration_ms - mean);
    /* A peak of the correlation: where it only falls with the distance, durations drift and nothing repeats. */
    double before = (double)INFINITY;
    for (size_t lag = 1; lag <= PERIOD_MOST && 3 * lag <= self->count && variance > 0; lag++) {
        double sum = 0;
        for (size_t i = lag; i < self->count; i++)
            sum += (self->batches[i].duration_ms - mean) * (self->batches[i - lag].duration_ms - mean);
        double correlation = sum / variance * (double)self->count / (double)(self->count - lag);
        if (correlation >= best + 1e-9 && correlation > before) {
            best = correlation;
            row->period = (int)lag;
        }
        before = correlation;
    }
}

static enum stream_verdict verdict_of(const struct stream_row *row)
{
    if (row->failed)
        return STREAM_FAILED;
    if (!row->batch_count)
        return STREAM_IDLE;
    if (row->behind >= VERDICT_BEHIND && (!row->back_to_back || row->growing))
        return STREAM_BEHIND;
    if (row->state_growth >= VERDICT_STATE && row->state_rows >= VERDICT_STATE_ROWS)
        return STREAM_STATE;
    if (row->watermark_ratio >= VERDICT_WATERMARK)
        return STREAM_WATERMARK;
    return row->overhead >= VERDICT_OVERHEAD ? STREAM_OVERHEAD : STREAM_KEEPS_UP;
}

static enum err_code judge_run(struct reader *self, struct stream_row *row, struct err *err)
{
    if (self->count)
        qsort(self->batches, self->count, sizeof *self->batches, by_trigger);
    if (mem_grow((void **)&self->scratch, &self->scratch_capacity, self->count + 1, (size_t)1 << 27, sizeof *self->scratch))
        return err_nomem(err);
    find_interval(self, row);
    drop_idle_records(self);
    row->batch_count = self->count;
    for (size_t i = 0; i < self->count; i++) {
        const struct batch *batch = &self->batches[i];
        row->row_batch_count += batch->rows > 0;
        row->input_rows += isnan(batch->rows) ? 0 : batch->rows;
        row->dropped_rows += batch->dropped;
        row->last_batch_id = max_known(row->last_batch_id, batch->batch_id);
    }
    row->duration_ms = MEDIAN(self, 0, b->duration_ms);
    row->recent_ms = MEDIAN(self, self->count > RECENT_BATCHES ? self->count - RECENT_BATCHES : 0, b->duration_ms);
    row->behind = row->interval_ms > 0 ? row->recent_ms / row->interval_ms : (double)NAN;
    row->rows = MEDIAN(self, 0, b->rows > 0 ? b->rows : (double)NAN);
    row->input_rate = MEDIAN(self, 0, b->rows > 0 ? b->input_rate : (double)NAN);
    row->processed_rate = MEDIAN(self, 0, b->rows > 0 ? b->processed_rate : (double)NAN);
    row->rate_ratio = row->processed_rate > 0 ? row->input_rate / row->processed_rate : (double)NAN;
    row->dropped_share = row->input_rows > 0 && !isnan(row->state_rows) ? row->dropped_rows / row->input_rows : (double)NAN;
    row->growing = self->count >= 5 && (grows(self, rows_of, row->rows) || grows(self, duration_of, row->duration_ms));
    judge_delay(self, row);
    judge_state(self, row);
    row->dropped_share = row->input_rows > 0 && !isnan(row->state_rows) ? MIN(1.0, row->dropped_rows / row->input_rows) : (double)NAN;
    judge_watermark(self, row);
    judge_overhead(self, row);
    judge_offsets(self, row);
    judge_period(self, row);
    row->verdict = verdict_of(row);
    return ERR_OK;
}

static enum err_code copy_text(struct arena *arena, struct str text, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    if (!str_known(text))
        return ERR_OK;
    text.len = utf8_valid_prefix(text.ptr, MIN(text.len, (size_t)300));
    return arena_str(arena, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code read_run(struct stream_health *health, sqlite3_stmt *stmt, size_t *capacity, struct err *err)
{
    if (mem_grow((void **)&health->rows, capacity, health->count + 1, (size_t)1 << 24, sizeof *health->rows))
        return err_nomem(err);
    struct stream_row *row = &health->rows[health->count];
    const double unknown = (double)NAN;
    *row = (struct stream_row){.run_ref = db_i64(stmt, 0),
                               .last_batch_id = UNKNOWN,
                               .ended = db_i64(stmt, 3) == 1,
                               .interval_ms = unknown,
                               .duration_ms = unknown,
                               .recent_ms = unknown,
                               .behind = unknown,
                               .delay_ms = unknown,
                               .rows = unknown,
                               .input_rate = unknown,
                               .processed_rate = unknown,
                               .rate_ratio = unknown,
                               .overhead = unknown,
                               .overhead_phase_share = unknown,
                               .state_first = unknown,
                               .state_rows = unknown,
                               .state_bytes = unknown,
                               .state_growth = unknown,
                               .watermark_lag_ms = unknown,
                               .watermark_delay_ms = unknown,
                               .watermark_ratio = unknown,
                               .dropped_share = unknown,
                               .offsets_behind = unknown,
                               .offsets_ratio = unknown};
    struct str body = db_str(stmt, 4);
    row->failed = str_known(body);
    enum err_code rc;
    if ((rc = copy_text(&health->arena, db_str(stmt, 1), &row->run_id, err)) || (rc = copy_text(&health->arena, db_str(stmt, 2), &row->name, err)) ||
        (rc = copy_text(&health->arena, row->failed ? error_message_of(body) : STR_NONE, &row->error, err)))
        return rc;
    health->count++;
    return ERR_OK;
}

static enum err_code read_runs(struct stream_health *health, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    enum err_code rc =
        db_prepare(db, &stmt,
                   "SELECT q.run_ref, q.run_id, q.name, q.end_seen, t.body FROM streaming_query q LEFT JOIN text t ON t.text_id = q.exception_text_id ORDER BY q.run_ref", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = read_run(health, stmt, &capacity, err);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define HEALTH_ARENA_BYTES ((size_t)256 << 20)

enum err_code stream_health_make(struct stream_health *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct stream_health){0};
    arena_init(&ret->arena, HEALTH_ARENA_BYTES);
    enum err_code rc = read_runs(ret, facts->db, err);
    struct reader self = {.health = ret};
    sqlite3_stmt *progress = NULL, *states = NULL, *sources = NULL;
    if (!rc && ret->count && !(rc = read_phases(&self, facts->db, err)) && !(rc = db_prepare(facts->db, &progress, progress_sql, err)) &&
        !(rc = db_prepare(facts->db, &states, state_sql, err)))
        rc = db_prepare(facts->db, &sources, source_sql, err);
    for (size_t i = 0; i < ret->count && !rc; i++) {
        int64_t run_ref = ret->rows[i].run_ref;
        self.count = 0;
        memset(self.phase_ms, 0, sizeof self.phase_ms);
        if (!(rc = read_progress(&self, progress, run_ref, err)) && !(rc = read_states(&self, states, run_ref, err)) && !(rc = read_sources(&self, sources, run_ref, err)))
            rc = judge_run(&self, &ret->rows[i], err);
    }
    db_finalize(progress);
    db_finalize(states);
    db_finalize(sources);
    mem_free(self.batches);
    mem_free(self.phase_of);
    mem_free(self.scratch);
    if (rc)
        stream_health_dispose(ret);
    return rc;
}

void stream_health_dispose(struct stream_health *self)
{
    mem_free(self->rows);
    arena_dispose(&self->arena);
    *self = (struct stream_health){0};
}

enum err_code stream_health_store(const struct stream_health *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "INSERT INTO stream_health VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct stream_row *row = &self->rows[i];
        const double values[] = {
            row->interval_ms,  row->duration_ms,          row->recent_ms,     row->behind,     row->delay_ms,    row->rows,         row->input_rate,       row->processed_rate,
            row->overhead,     row->overhead_phase_share, row->state_first,   row->state_rows, row->state_bytes, row->state_growth, row->watermark_lag_ms, row->watermark_delay_ms,
            row->dropped_rows, row->dropped_share,        row->offsets_behind};
        int at = 1;
        db_bind_i64(stmt, at++, row->run_ref);
        db_bind_str(stmt, at++, str_of(stream_verdict_names[row->verdict]));
        db_bind_i64(stmt, at++, (int64_t)row->batch_count);
        db_bind_i64(stmt, at++, row->back_to_back);
        db_bind_i64(stmt, at++, row->growing);
        db_bind_i64(stmt, at++, row->period ? row->period : UNKNOWN);
        db_bind_str(stmt, at++, str_of(row->overhead_phase));
        for (size_t k = 0; k < ARRAY_LENGTH(values); k++)
            db_bind_f64(stmt, at++, values[k]);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
