/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/executor_times.h"
#include "analysis/sort_packed.h"
#include "base/attributes.h"
#include "base/int_column.h"
#include "base/mem.h"

/* spec/findings.md 5.1; own, chosen from measured logs (its section 11). */
#define MIN_WINNERS 3 /* fewer have no median worth the name */
#define MIN_WARM 3
#define COLD_EXTRA_MS 3000.0 /* what a cold task may take beyond warm ones where no other cold one says it */
#define DATA_RATIO 1.2       /* a size below this × median explains nothing */
#define DATA_BYTES 1048576.0 /* sizes below explain nothing: 1 MiB … */
#define DATA_RECORDS 1000.0  /* … or a thousand records */
#define REGRESSION_COUNT 20
#define REGRESSION_SPREAD 1.5 /* p90 ÷ p10 of a size from which its slope is worth looking at */
#define REGRESSION_MAX ((size_t)1 << 16)
#define EXECUTOR_PEERS 3
#define EXECUTOR_RATIO 1.3

/* In the order in which ties are decided. */
static const enum stat_column data_columns[] = {STAT_READ_RECORDS, STAT_READ_BYTES, STAT_INPUT_RECORDS, STAT_INPUT_BYTES};

const char *const cause_names[CAUSE_COUNT + 1] = {"delay", "warmup",  "deser", "ser",      "getres",   "data",    "executor",    "gc",
                                                  "fetch", "shwrite", "spill", "locality", "code_cpu", "waiting", "unexplained", "none"};

struct stage_medians {
    const struct distribution *of;             /* by column; borrowed */
    double slopes[ARRAY_LENGTH(data_columns)]; /* ms of run time a byte or record, ≥ 0 */
    double warm_ms;                            /* p50 of R + D of the warm ones; NaN: fewer than three */
    double *cold_ms;                           /* R + D of the cold ones, ascending; owned */
    size_t cold_count;
    bool executors_differ; /* else no executor reaches EXECUTOR_RATIO, and `run` is empty */
    struct executor_times run;
    int usual_locality; /* the most frequent; −1: none is known */
};

static double at(const struct stage_sample *sample, enum stat_column column, size_t i)
{
    return sample->of[column] ? sample->of[column][i] : 0;
}

static double run_and_deser(const struct stage_sample *sample, size_t i)
{
    return at(sample, STAT_RUN, i) + at(sample, STAT_DESER, i);
}

/* Points of the regression. Of stages with more than REGRESSION_MAX tasks every second, third … task is looked at: a median of so many slopes does not move any more. */
struct points {
    size_t count;
    uint64_t *by_run, *by_size, *scratch; /* packed positions of tasks; `scratch` as long as the others */
    int64_t *slopes;
};

static enum err_code points_make(struct points *self, const double *run, size_t task_count)
{
    size_t step = task_count / REGRESSION_MAX + 1;
    *self = (struct points){.count = (task_count + step - 1) / step};
    self->by_run = mem_alloc(self->count * 3 * sizeof *self->by_run);
    self->slopes = mem_alloc(self->count * sizeof *self->slopes);
    if (!self->by_run || !self->slopes)
        return ERR_NOMEM;
    self->by_size = self->by_run + self->count;
    self->scratch = self->by_size + self->count;
    for (size_t i = 0; i < self->count; i++)
        self->by_run[i] = packed_item(run[i * step], (uint32_t)(i * step));
    sort_packed(self->by_run, self->count, self->scratch);
    return ERR_OK;
}

static void points_dispose(struct points *self)
{
    mem_free(self->by_run);
    mem_free(self->slopes);
}

/* Incomplete Theil-Sen: the median of the slopes between each point and the one half of all points further, by (size, run time). */
static double slope_of(const double *sizes, const double *run, struct points *points)
{
    size_t count = points->count, half = count / 2, slope_count = 0;
    uint64_t *items = points->by_size;
    int64_t *slopes = points->slopes;
    for (size_t i = 0; i < count; i++)
        items[i] = packed_item(sizes[(uint32_t)points->by_run[i]], (uint32_t)points->by_run[i]);
    sort_packed(items, count, points->scratch); /* stable: equal sizes stay in the order of their run times */
    for (size_t i = 0; i + half < count; i++) {
        double dx = (double)packed_value(items[i + half]) - (double)packed_value(items[i]);
        slopes[slope_count] = order_key((run[(uint32_t)items[i + half]] - run[(uint32_t)items[i]]) / dx);
        slope_count += dx > 0;
    }
    if (!slope_count)
        return 0;
    size_t middle = (slope_count - 1) / 2;
    select_nth(slopes, slope_count, middle);
    double low = order_value(slopes[middle]), high = low;
    if (slope_count % 2 == 0) {
        select_nth(slopes + middle + 1, slope_count - middle - 1, 0);
        high = order_value(slopes[middle + 1]);
    }
    return fmax(0, low + 0.5 * (high - low));
}

static bool needs_slope(const struct stage_medians *self, size_t count, enum stat_column column)
{
    return count >= REGRESSION_COUNT && self->of[column].p90 >= REGRESSION_SPREAD * fmax(1, self->of[column].p10);
}

static enum err_code find_slopes(struct stage_medians *self, const struct stage_sample *sample, struct err *err)
{
    const double *run = sample->of[STAT_RUN];
    struct points points = {0};
    enum err_code rc = ERR_OK;
    for (size_t c = 0; !rc && c < ARRAY_LENGTH(data_columns); c++) {
        if (!needs_slope(self, sample->count, data_columns[c]))
            continue;
        if (!points.count && points_make(&points, run, sample->count))
            rc = err_nomem(err);
        else
            self->slopes[c] = slope_of(sample->of[data_columns[c]], run, &points);
    }
    points_dispose(&points);
    return rc;
}

static enum err_code find_executors(struct stage_medians *self, const struct stage_sample *sample, struct err *err)
{
    const double *run = sample->of[STAT_RUN];
    bool any;
    enum err_code rc = executors_differ(run, sample->executor, sample->count, sample->executor_count, self->of[STAT_RUN].p50, EXECUTOR_RATIO, &any, err);
    if (rc || !any)
        return rc;
    self->executors_differ = true;
    return executor_times_make(&self->run, run, sample->executor, sample->count, sample->executor_count, err);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What cold and warm tasks usually take. */
static enum err_code find_warmth(struct stage_medians *self, const struct stage_sample *sample, struct err *err)
{
    size_t count = sample->count, warm_count = 0;
    self->warm_ms = NAN;
    for (size_t i = 0; sample->cold && i < count; i++)
        self->cold_count += sample->cold[i];
    if (!self->cold_count)
        return ERR_OK; /* nobody asks for warm_ms then */
    self->cold_ms = mem_alloc(self->cold_count * sizeof *self->cold_ms);
    double *warm = mem_alloc(count * sizeof *warm);
    int64_t *keys = mem_alloc(count * sizeof *keys);
    enum err_code rc = self->cold_ms && warm && keys ? ERR_OK : err_nomem(err);
    if (!rc) {
        size_t cold_count = 0;
        for (size_t i = 0; i < count; i++)
            *(sample->cold[i] ? &self->cold_ms[cold_count++] : &warm[warm_count++]) = run_and_deser(sample, i);
        qsort(self->cold_ms, cold_count, sizeof *self->cold_ms, compare_doubles);
        if (warm_count >= MIN_WARM)
            self->warm_ms = quantile_of(warm, warm_count, 0.5, keys);
    }
    mem_free(keys);
    mem_free(warm);
    return rc;
}

static int usual_locality(const struct stage_sample *sample)
{
    size_t counts[5] = {0};
    for (size_t i = 0; sample->locality && i < sample->count; i++)
        if (sample->locality[i] >= 0 && sample->locality[i] < 5)
            counts[sample->locality[i]]++;
    int usual = -1;
    for (int level = 0; level < 5; level++)
        if (counts[level] > (usual < 0 ? 0 : counts[usual]))
            usual = level;
    return usual;
}

enum err_code stage_medians_make(struct stage_medians **ret, const struct stage_sample *sample, const struct distribution of[STAT_COLUMN_COUNT], struct err *err)
{
    *ret = NULL;
    struct stage_medians *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->of = of;
    self->usual_locality = usual_locality(sample);
    enum err_code rc = find_slopes(self, sample, err);
    if (!rc)
        rc = find_executors(self, sample, err);
    if (!rc)
        rc = find_warmth(self, sample, err);
    if (rc) {
        stage_medians_free(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

void stage_medians_free(struct stage_medians *self)
{
    if (!self)
        return;
    executor_times_dispose(&self->run);
    mem_free(self->cold_ms);
    mem_free(self);
}

/* The excess of one task while causes take their parts. */
struct excess {
    struct slow_task *task;
    double rest;
};

static double take(struct excess *self, enum cause cause, double value)
{
    double taken = fmax(0, fmin(value, self->rest));
    self->task->ms[cause] += taken;
    self->rest -= taken;
    return taken;
}

/* The median of the cold ones without this one: its first wave. */
static double other_cold_ms(const struct stage_medians *medians, double own_ms)
{
    size_t low = 0, high = medians->cold_count, left = medians->cold_count - 1;
    if (!left)
        return medians->warm_ms + COLD_EXTRA_MS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (medians->cold_ms[middle] < own_ms)
            low = middle + 1;
        else
            high = middle;
    }
    size_t first = (left - 1) / 2, second = left / 2;
    return 0.5 * medians->cold_ms[first + (first >= low)] + 0.5 * medians->cold_ms[second + (second >= low)];
}

static void take_data(struct excess *self, const struct stage_sample *sample, const struct stage_medians *medians, size_t k)
{
    double median_run = medians->of[STAT_RUN].p50, limit = fmin(self->rest, at(sample, STAT_RUN, k) - median_run), best = 0;
    for (size_t c = 0; c < ARRAY_LENGTH(data_columns); c++) {
        enum stat_column column = data_columns[c];
        const struct distribution *sizes = &medians->of[column];
        double size = at(sample, column, k);
        if (size <= 0 || size < DATA_RATIO * fmax(sizes->p50, 1))
            continue;
        double explained = sizes->p50 > 0 ? median_run * (size / sizes->p50 - 1) : limit * fmin(1, 2 * size / sizes->sum);
        explained = fmax(explained, medians->slopes[c] * (size - sizes->p50));
        if (explained > best) {
            best = explained;
            self->task->data = column;
            self->task->data_counts = size >= (column == STAT_READ_RECORDS || column == STAT_INPUT_RECORDS ? DATA_RECORDS : DATA_BYTES);
        }
    }
    if (take(self, CAUSE_DATA, fmin(best, limit)) <= 0)
        self->task->data = STAT_COLUMN_COUNT, self->task->data_counts = false;
}

static void take_executor(struct excess *self, const struct stage_sample *sample, const struct stage_medians *medians, size_t k)
{
    uint32_t executor = sample->executor[k];
    if (!medians->executors_differ)
        return;
    size_t own = executor_task_count(&medians->run, executor);
    double run = at(sample, STAT_RUN, k);
    if (own < EXECUTOR_PEERS + 1 || sample->count - own < EXECUTOR_PEERS)
        return;
    double ratio = executor_quantile_without(&medians->run, executor, run, 0.5) / fmax(1, others_quantile(&medians->run, executor, 0.5));
    if (ratio >= EXECUTOR_RATIO)
        take(self, CAUSE_EXECUTOR, run * (1 - 1 / ratio));
}

enum cause largest_cause(const double ms[CAUSE_COUNT], bool data_counts)
{
    enum cause largest = CAUSE_NONE;
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
        if (ms[cause] > (largest == CAUSE_NONE ? 0 : ms[largest]) && (cause != CAUSE_DATA || data_counts))
            largest = (enum cause)cause;
    return largest;
}

struct slow_task why_slow(const struct stage_sample *sample, const struct stage_medians *medians, size_t k)
{
    const struct distribution *of = medians->of;
    struct slow_task task = {.data = STAT_COLUMN_COUNT, .first = CAUSE_NONE, .retried = sample->retried && sample->retried[k]};
    if (sample->count < MIN_WINNERS)
        return task;
    task.excess_ms = at(sample, STAT_OCCUPANCY, k) - of[STAT_OCCUPANCY].p50;
    if (task.excess_ms <= 0)
        return task;

    struct excess excess = {&task, task.excess_ms};
    double deser = at(sample, STAT_DESER, k), warmup = 0;
    bool cold = sample->cold && sample->cold[k];
    take(&excess, CAUSE_DELAY, at(sample, STAT_DELAY, k) - of[STAT_DELAY].p50);
    if (cold && !isnan(medians->warm_ms)) {
        warmup = fmax(0, other_cold_ms(medians, run_and_deser(sample, k)) - medians->warm_ms);
        double taken = take(&excess, CAUSE_WARMUP, fmin(warmup, deser - of[STAT_DESER].p50));
        warmup -= taken;
        deser -= taken;
    }
    take(&excess, CAUSE_DESER, deser - of[STAT_DESER].p50);
    take(&excess, CAUSE_SER, at(sample, STAT_SER, k) - of[STAT_SER].p50);
    take(&excess, CAUSE_GETRES, at(sample, STAT_GETRES, k) - of[STAT_GETRES].p50);
    take_data(&excess, sample, medians, k);
    take_executor(&excess, sample, medians, k);
    take(&excess, CAUSE_GC, at(sample, STAT_GC, k) - of[STAT_GC].p50);
    take(&excess, CAUSE_FETCH, at(sample, STAT_FETCH, k) - of[STAT_FETCH].p50);
    take(&excess, CAUSE_SHWRITE, at(sample, STAT_SHWRITE, k) - of[STAT_SHWRITE].p50);
    if (at(sample, STAT_DISK_SPILL, k) > 0 && of[STAT_DISK_SPILL].p50 == 0)
        take(&excess, CAUSE_SPILL, excess.rest);
    if (sample->locality && sample->locality[k] >= 3 && sample->locality[k] != medians->usual_locality)
        take(&excess, CAUSE_LOCALITY, excess.rest);
    take(&excess, CAUSE_WARMUP, warmup);
    if (sample->has_cpu) {
        take(&excess, CAUSE_CODE_CPU, at(sample, STAT_CPU, k) - of[STAT_CPU].p50);
        take(&excess, CAUSE_WAITING, excess.rest);
    } else {
        take(&excess, CAUSE_UNEXPLAINED, excess.rest);
    }

    task.first = largest_cause(task.ms, task.data_counts);
    task.first_share = task.first == CAUSE_NONE ? 0 : task.ms[task.first] / task.excess_ms;
    return task;
}
