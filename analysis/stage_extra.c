/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_extra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/mem.h"

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
#define LOCALITY_RACK 3

static const struct {
    enum stat_column column;
    bool records;
} read_columns[DATA_NONE] = {[DATA_READ_RECORDS] = {STAT_READ_RECORDS, true},
                             [DATA_READ_BYTES] = {STAT_READ_BYTES, false},
                             [DATA_INPUT_RECORDS] = {STAT_INPUT_RECORDS, true},
                             [DATA_INPUT_BYTES] = {STAT_INPUT_BYTES, false}};

static const double *read_values(const struct stage_sample *sample, enum data_column column)
{
    switch (column) {
    case DATA_READ_RECORDS: return sample->read_records;
    case DATA_READ_BYTES: return sample->read_bytes;
    case DATA_INPUT_RECORDS: return sample->input_records;
    default: return sample->input_bytes;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Type 7 of unsorted values without sorting them all: the two elements around the place are brought there. Reorders. */
static double select_quantile(double *values, size_t count, double q)
{
    double h = (double)(count - 1) * q;
    size_t k = (size_t)h, low = 0, high = count - 1;
    for (int rounds = 0; low + 16 < high; rounds++) {
        if (rounds == 64)   /* hostile order: no further halving by luck */
            break;
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double swapped = values[i];
                values[i++] = values[j];
                values[j] = swapped;
                if (!j)
                    break;
                j--;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            low = high = k;
    }
    qsort(values + low, high - low + 1, sizeof *values, compare_doubles);
    if (h <= (double)k || k + 1 >= count)
        return values[k];
    double next = (double)INFINITY;
    for (size_t i = k + 1; i < count; i++)
        next = MIN(next, values[i]);
    return values[k] + (h - (double)k) * (next - values[k]);
}

static struct extra_task describe(const struct stage_sample *sample, size_t k)
{
    return (struct extra_task){.task_id = sample->task_id[k],
                               .executor = sample->executor[k],
                               .duration_ms = sample->occupancy[k],
                               .run_ms = sample->run[k],
                               .gc_ms = sample->gc[k],
                               .read_bytes = sample->input_bytes[k] + sample->read_bytes[k],
                               .read_records = sample->input_records[k] + sample->read_records[k],
                               .disk_spill_bytes = sample->disk_spill[k]};
}

static void sums(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats)
{
    double cut = stats->outliers.cut_ms, spill = 0, spill_outliers = 0, gc_outliers = 0, nearest = (double)INFINITY, median = stats->of[STAT_OCCUPANCY].p50;
    size_t peer = 0, worst = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double o = sample->occupancy[i], serde = sample->deser[i] + sample->ser[i];
        ret->delay_ms += MAX(0.0, o - sample->run[i] - serde - sample->getres[i]);
        ret->serde_ms += serde;
        ret->getres_ms += sample->getres[i];
        ret->gc_ms += sample->gc[i];
        ret->gc_excess_ms += MAX(0.0, sample->gc[i] - GC_TARGET_SHARE * (sample->run[i] + sample->deser[i]));
        if (!sample->cold[i]) {
            ret->warm_count++;
            ret->warm_serde_ms += serde;
            ret->warm_ms += o;
        }
        bool outlier = o > cut;
        if (sample->disk_spill[i] > 0) {
            ret->spilled_tasks++;
            spill += sample->disk_spill[i];
            spill_outliers += outlier ? sample->disk_spill[i] : 0;
        }
        gc_outliers += outlier ? sample->gc[i] : 0;
        ret->retried_count += sample->retried[i];
        double largest = MAX(MAX(sample->input_bytes[i], sample->read_bytes[i]), MAX(sample->output_bytes[i], sample->write_bytes[i]));
        ret->largest_bytes = MAX(ret->largest_bytes, largest);
        if (fabs(o - median) < nearest) {
            nearest = fabs(o - median);
            peer = i;
        }
        if (o > sample->occupancy[worst])
            worst = i;
    }
    ret->spill_outlier_share = spill > 0 ? spill_outliers / spill : (double)NAN;
    ret->gc_outlier_share = ret->gc_ms > 0 ? gc_outliers / ret->gc_ms : (double)NAN;
    ret->worst = describe(sample, worst);
    ret->peer = describe(sample, peer);
}

/* STAGE.SKEW_DATA and STAGE.STRAGGLER: how uneven what tasks read is, and whether that concerns the slow ones. */
static void sizes_read(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats)
{
    size_t task = 0;
    ret->data_column = DATA_NONE;
    for (int c = 0; c < DATA_NONE; c++) {
        const struct distribution *d = &stats->of[read_columns[c].column];
        if (!d->count || isnan(d->ratio) || d->max < (read_columns[c].records ? DATA_LEAST_RECORDS : DATA_LEAST_BYTES))
            continue;
        const double *x = read_values(sample, (enum data_column)c);
        double floor = read_columns[c].records ? 1.0 : 1024.0;
        size_t largest = 0;
        for (size_t i = 0; i < sample->count; i++) {
            if (x[i] > x[largest])
                largest = i;
            if (sample->occupancy[i] > stats->outliers.cut_ms)
                ret->outlier_read_ratio = MAX(ret->outlier_read_ratio, x[i] / MAX(d->p50, floor));
        }
        if (!read_columns[c].records && x[largest] >= BIG_READER_SHARE * d->sum && sample->occupancy[largest] > stats->outliers.cut_ms)
            ret->big_reader = true;
        if (ret->data_column == DATA_NONE || d->ratio > ret->data_ratio) {
            ret->data_column = (enum data_column)c;
            ret->data_ratio = d->ratio;
            ret->data_max = d->max;
            ret->data_median = d->p50;
            task = largest;
        }
    }
    if (ret->data_column != DATA_NONE)
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

/* Tasks away from their data against the others, run times at the stage's median size. */
static void locality(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, double *scratch)
{
    double p50 = stats->of[STAT_INPUT_BYTES].count ? stats->of[STAT_INPUT_BYTES].p50 : 0;
    size_t near = 0;
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->locality[i] >= LOCALITY_RACK)
            ret->away_count++;
        else if (sample->locality[i] == 0 || sample->locality[i] == 1)
            scratch[near++] = sample->run[i] / (p50 > 0 ? MAX(1.0, sample->input_bytes[i] / p50) : 1.0);
    }
    ret->near_count = (double)near;
    if (!near || ret->away_count < 1)
        return;
    double usual = select_quantile(scratch, near, 0.5);
    for (size_t i = 0; i < sample->count; i++)
        if (sample->locality[i] >= LOCALITY_RACK)
            ret->away_ms += MAX(0.0, sample->run[i] - usual * (p50 > 0 ? MAX(1.0, sample->input_bytes[i] / p50) : 1.0));
}

static void storage(struct stage_extra *ret, const struct stage_sample *sample, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (sample->input_bytes[i] >= STORAGE_LEAST_INPUT && sample->run[i] >= STORAGE_LEAST_RUN_MS)
            scratch[n++] = sample->input_bytes[i] / sample->run[i] * 1000;
    ret->read_rate_count = (double)n;
    if (!n)
        return;
    ret->read_rate_median = select_quantile(scratch, n, 0.5);
    double slowest = (double)INFINITY, run = 0, gc = 0, cpu = 0;
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->input_bytes[i] < STORAGE_LEAST_INPUT || sample->run[i] < STORAGE_LEAST_RUN_MS)
            continue;
        double rate = sample->input_bytes[i] / sample->run[i] * 1000;
        slowest = MIN(slowest, rate);
        if (rate * STORAGE_SLOW_RATIO > ret->read_rate_median)
            continue;
        ret->slow_read_count++;
        ret->slow_read_ms += MAX(0.0, sample->run[i] * (1 - rate / ret->read_rate_median));
        run += sample->run[i];
        gc += sample->gc[i];
        cpu += sample->cpu ? sample->cpu[i] : 0;
    }
    ret->read_rate_min = slowest;
    ret->slow_read_busy = run > 0 && MAX(gc, cpu) >= STORAGE_BUSY_SHARE * run;
}

enum err_code stage_extra_make(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, struct err *err)
{
    *ret = (struct stage_extra){.data_ratio = (double)NAN, .write_ratio = (double)NAN, .data_column = DATA_NONE, .spill_outlier_share = (double)NAN, .gc_outlier_share = (double)NAN};
    if (!sample->count)
        return ERR_OK;
    CLEANUP(mem_freep) double *scratch = mem_array(sample->count, sizeof *scratch);
    if (!scratch)
        return err_nomem(err);
    sums(ret, sample, stats);
    sizes_read(ret, sample, stats);
    sizes_written(ret, stats);
    locality(ret, sample, stats, scratch);
    storage(ret, sample, scratch);
    for (size_t i = 0; i < sample->count; i++)
        scratch[i] = MAX(0.0, sample->occupancy[i] - sample->run[i]);
    ret->overhead_p50_ms = select_quantile(scratch, sample->count, 0.5);
    for (size_t i = 0; i < sample->count; i++)
        scratch[i] = sample->deser[i];
    ret->deser_p25_ms = select_quantile(scratch, sample->count, 0.25);
    return ERR_OK;
}
