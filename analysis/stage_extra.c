/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_extra.h"

#include <math.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/units.h"

#define MIB ((double)(1 << 20))
/* Sizes below these are not what makes a task slow (spec/findings.md 5.1, guard rails). */
#define DATA_LEAST_BYTES MIB
#define DATA_LEAST_RECORDS 1000.0
/* STAGE.SLOW_STORAGE: tasks that say how fast the storage is. */
#define STORAGE_LEAST_INPUT (10 * MIB)
#define STORAGE_LEAST_RUN_MS 2000.0
#define STORAGE_SLOW_RATIO 3.0
#define STORAGE_BUSY_SHARE 0.6
/* STAGE.SKEW_DATA: a task with this share of all bytes. */
#define BIG_READER_SHARE 0.2
#define SLOW_RATIO 1.5 /* of three quarters of the tasks, as for outliers (5.2) */
#define SLOW_LEAST_WARM_TASKS 3
/* Levels as in the log. */
#define LOCALITY_PROCESS 0
#define LOCALITY_NODE 1
#define LOCALITY_RACK 3

/* What is read, and whether it is counted in records. */
static const struct {
    enum stat_column column;
    bool records;
} read_columns[] = {{STAT_READ_RECORDS, true}, {STAT_READ_BYTES, false}, {STAT_INPUT_RECORDS, true}, {STAT_INPUT_BYTES, false}};

static double value(const struct stage_sample *sample, enum stat_column column, size_t i)
{
    return sample->of[column] ? sample->of[column][i] : 0;
}

static double bytes_read(const struct stage_sample *sample, size_t i)
{
    return value(sample, STAT_INPUT_BYTES, i) + value(sample, STAT_READ_BYTES, i);
}

static struct extra_task describe(const struct stage_sample *sample, size_t k)
{
    return (struct extra_task){.task_id = sample->task_id[k],
                               .executor = sample->executor[k],
                               .duration_ms = value(sample, STAT_OCCUPANCY, k),
                               .run_ms = value(sample, STAT_RUN, k),
                               .gc_ms = value(sample, STAT_GC, k),
                               .read_bytes = bytes_read(sample, k),
                               .read_records = value(sample, STAT_INPUT_RECORDS, k) + value(sample, STAT_READ_RECORDS, k),
                               .disk_spill_bytes = value(sample, STAT_DISK_SPILL, k)};
}

static void sums(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats)
{
    double cut = stats->outliers.cut_ms, spill = 0, spill_outliers = 0, gc = 0, gc_outliers = 0, nearest = (double)INFINITY, median = stats->of[STAT_OCCUPANCY].p50;
    size_t peer = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double o = value(sample, STAT_OCCUPANCY, i), task_gc = value(sample, STAT_GC, i), task_spill = value(sample, STAT_DISK_SPILL, i);
        gc += task_gc;
        ret->gc_excess_ms += MAX(0.0, task_gc - GC_TARGET_SHARE * (value(sample, STAT_RUN, i) + value(sample, STAT_DESER, i)));
        if (!sample->cold[i]) {
            ret->warm_count++;
            ret->warm_deser_ms += value(sample, STAT_DESER, i);
            ret->warm_serde_ms += value(sample, STAT_DESER, i) + value(sample, STAT_SER, i);
            ret->warm_ms += o;
        }
        ret->spilled_tasks += task_spill > 0;
        spill += task_spill;
        if (o > cut) {
            spill_outliers += task_spill;
            gc_outliers += task_gc;
        }
        ret->retried_count += sample->retried && sample->retried[i];
        double largest =
            MAX(MAX(value(sample, STAT_INPUT_BYTES, i), value(sample, STAT_READ_BYTES, i)), MAX(value(sample, STAT_OUTPUT_BYTES, i), value(sample, STAT_WRITE_BYTES, i)));
        ret->largest_bytes = MAX(ret->largest_bytes, largest);
        if (fabs(o - median) < nearest) {
            nearest = fabs(o - median);
            peer = i;
        }
    }
    ret->spill_outlier_share = spill > 0 ? spill_outliers / spill : (double)NAN;
    ret->gc_outlier_share = gc > 0 ? gc_outliers / gc : (double)NAN;
    ret->worst = describe(sample, MIN(stats->outliers.worst, sample->count - 1));
    ret->peer = describe(sample, peer);
}

/* Least squares. */
static void spill_regression(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats)
{
    double n = (double)sample->count, mean_x = stats->of[STAT_DISK_SPILL].sum / n, mean_y = stats->of[STAT_RUN].sum / n, xx = 0, xy = 0, yy = 0;
    if (sample->count < SPILL_LEAST_TASKS || !(mean_x > 0))
        return;
    for (size_t i = 0; i < sample->count; i++) {
        double x = value(sample, STAT_DISK_SPILL, i) - mean_x, y = value(sample, STAT_RUN, i) - mean_y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (xx > 0 && yy > 0) {
        ret->spill_slope = xy / xx;
        ret->spill_r2 = xy * xy / (xx * yy);
    }
}

/* An outlier; or, where the first wave is so much of the stage that a quarter of its tasks are slow, a later task that is to the other later ones what outliers are to all. */
static bool is_slow(const struct stage_sample *sample, const struct stage_stats *stats, size_t k, double *values, int64_t *scratch)
{
    double own = value(sample, STAT_OCCUPANCY, k);
    size_t warm = 0;
    if (own > stats->outliers.cut_ms)
        return true;
    if (!sample->cold || sample->cold[k])
        return false;
    for (size_t i = 0; i < sample->count; i++)
        if (!sample->cold[i])
            values[warm++] = value(sample, STAT_OCCUPANCY, i);
    return warm >= SLOW_LEAST_WARM_TASKS && own > SLOW_RATIO * quantile_of(values, warm, 0.75, scratch);
}

/* STAGE.SKEW_DATA and STAGE.STRAGGLER: how uneven what tasks read is, and whether that concerns the slow ones. */
static void sizes_read(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, double *values, int64_t *scratch)
{
    size_t task = 0;
    for (size_t c = 0; c < ARRAY_LENGTH(read_columns); c++) {
        const struct distribution *d = &stats->of[read_columns[c].column];
        const double *x = sample->of[read_columns[c].column];
        if (!x || !(d->max >= (read_columns[c].records ? DATA_LEAST_RECORDS : DATA_LEAST_BYTES)))
            continue;
        double floor = read_columns[c].records ? 1.0 : 1024.0;
        size_t largest = 0;
        for (size_t i = 0; i < sample->count; i++) {
            if (x[i] > x[largest])
                largest = i;
            if (value(sample, STAT_OCCUPANCY, i) > stats->outliers.cut_ms && (i == stats->outliers.worst || !sample->cold || !sample->cold[i]))
                ret->outlier_read_ratio = MAX(ret->outlier_read_ratio, x[i] / MAX(d->p50, floor));
        }
        if (!read_columns[c].records && x[largest] >= BIG_READER_SHARE * d->sum && is_slow(sample, stats, largest, values, scratch))
            ret->big_reader = true;
        if (ret->data_column == STAT_COLUMN_COUNT || d->ratio > ret->data_ratio) {
            ret->data_column = read_columns[c].column;
            ret->data_ratio = d->ratio;
            ret->data_max = d->max;
            ret->data_median = d->p50;
            task = largest;
        }
    }
    if (ret->data_column != STAT_COLUMN_COUNT)
        ret->data_task = describe(sample, task);
}

static void sizes_written(struct stage_extra *ret, const struct stage_stats *stats)
{
    const struct distribution *shuffle = &stats->of[STAT_WRITE_BYTES], *output = &stats->of[STAT_OUTPUT_BYTES];
    const struct distribution *d = output->count && (!shuffle->count || shuffle->max <= output->max) ? output : shuffle;
    ret->write_ratio = d->count ? d->ratio : (double)NAN;
    ret->write_max = d->count ? d->max : 0;
    ret->write_median = d->count ? d->p50 : 0;
}

static double median_of(const double *values, size_t count, int64_t *scratch)
{
    return quantile_of(values, count, 0.5, scratch);
}

/* Tasks away from their data against the others, run times at the stage's median size. */
static void locality(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, double *values, int64_t *scratch)
{
    double p50 = stats->of[STAT_INPUT_BYTES].p50;
    size_t near = 0;
    for (size_t i = 0; sample->locality && i < sample->count; i++) {
        ret->away_count += sample->locality[i] >= LOCALITY_RACK;
        ret->some_rack |= sample->locality[i] == LOCALITY_RACK;
        ret->some_any |= sample->locality[i] > LOCALITY_RACK;
        if (sample->locality[i] != LOCALITY_PROCESS && sample->locality[i] != LOCALITY_NODE)
            continue;
        ret->last_near_task = sample->task_id[i];
        values[near++] = value(sample, STAT_RUN, i) / (p50 > 0 ? MAX(1.0, value(sample, STAT_INPUT_BYTES, i) / p50) : 1.0);
    }
    ret->near_count = (double)near;
    if (!near || ret->away_count < 1)
        return;
    double usual = median_of(values, near, scratch);
    for (size_t i = 0; i < sample->count; i++)
        if (sample->locality[i] >= LOCALITY_RACK)
            ret->away_ms += MAX(0.0, value(sample, STAT_RUN, i) - usual * (p50 > 0 ? MAX(1.0, value(sample, STAT_INPUT_BYTES, i) / p50) : 1.0));
}

static bool tells_rate(const struct stage_sample *sample, size_t i)
{
    return value(sample, STAT_INPUT_BYTES, i) >= STORAGE_LEAST_INPUT && value(sample, STAT_RUN, i) >= STORAGE_LEAST_RUN_MS;
}

static void storage(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, double *values, int64_t *scratch)
{
    size_t n = 0;
    if (!(stats->of[STAT_INPUT_BYTES].max >= STORAGE_LEAST_INPUT))
        return;
    for (size_t i = 0; i < sample->count; i++)
        if (tells_rate(sample, i))
            values[n++] = value(sample, STAT_INPUT_BYTES, i) / value(sample, STAT_RUN, i) * 1000;
    ret->read_rate_count = (double)n;
    if (!n)
        return;
    ret->read_rate_median = median_of(values, n, scratch);
    double slowest = (double)INFINITY, run = 0, gc = 0, cpu = 0;
    for (size_t i = 0; i < sample->count; i++) {
        if (!tells_rate(sample, i))
            continue;
        double rate = value(sample, STAT_INPUT_BYTES, i) / value(sample, STAT_RUN, i) * 1000;
        slowest = MIN(slowest, rate);
        if (rate * STORAGE_SLOW_RATIO > ret->read_rate_median)
            continue;
        ret->slow_read_count++;
        ret->slow_read_ms += value(sample, STAT_RUN, i) * (1 - rate / ret->read_rate_median);
        run += value(sample, STAT_RUN, i);
        gc += value(sample, STAT_GC, i);
        cpu += value(sample, STAT_CPU, i);
    }
    ret->read_rate_min = slowest;
    ret->slow_read_busy = run > 0 && MAX(gc, cpu) >= STORAGE_BUSY_SHARE * run;
}

enum err_code stage_extra_make(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, struct err *err)
{
    double nan = (double)NAN;
    *ret = (struct stage_extra){.data_ratio = nan,
                                .write_ratio = nan,
                                .data_column = STAT_COLUMN_COUNT,
                                .last_near_task = UNKNOWN,
                                .spill_outlier_share = nan,
                                .gc_outlier_share = nan,
                                .overhead_p50_ms = nan,
                                .spill_slope = nan,
                                .spill_r2 = nan};
    if (!sample->count)
        return ERR_OK;
    CLEANUP(mem_freep) double *values = mem_alloc(sample->count * sizeof *values);
    CLEANUP(mem_freep) int64_t *scratch = mem_alloc(sample->count * sizeof *scratch);
    if (!values || !scratch)
        return err_nomem(err);
    sums(ret, sample, stats);
    spill_regression(ret, sample, stats);
    sizes_read(ret, sample, stats, values, scratch);
    sizes_written(ret, stats);
    locality(ret, sample, stats, values, scratch);
    storage(ret, sample, stats, values, scratch);
    if ((double)sample->count < sample->slots || stats->of[STAT_RUN].p50 < TINY_TASK_RUN_MS) {
        for (size_t i = 0; i < sample->count; i++)
            values[i] = MAX(0.0, value(sample, STAT_OCCUPANCY, i) - value(sample, STAT_RUN, i));
        ret->overhead_p50_ms = median_of(values, sample->count, scratch);
    }
    return ERR_OK;
}
