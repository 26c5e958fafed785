/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <math.h>

#include "analysis/executor_times.h"
#include "analysis/sort_items.h"
#include "base/attributes.h"
#include "base/mem.h"

/* spec/findings.md 5.2 and 5.3; own where it names no other source. */
#define OUTLIER_RATIO 1.5 /* of p75 of the occupancy (DB) */
#define WARMUP_MUTES 0.5
#define MIN_WALL_MS 1000.0 /* shorter stages are not judged */
#define MIN_COST_MS 1000.0 /* what a fault must cost: a second … */
#define MIN_COST_SHARE 0.1 /* … and a tenth of the stage */
#define HOST_TASKS 5
#define HOST_RATIO 1.5
#define HOST_ABOVE_SHARE 0.7
#define FEW_TASKS_SHARE 0.5 /* of the slots */
#define FEW_TASKS_WALL_MS 3000.0
#define SPILL_SHARE 0.1        /* of the stage's data … */
#define SPILL_BYTES 67108864.0 /* … and 64 MiB */
#define GC_SHARE 0.10
#define PART_SHARE 0.20 /* of all occupancy */
#define UNEVEN_CV 0.5
#define UNEVEN_WAVES 2

const char *const stat_column_names[STAT_COLUMN_COUNT] = {
#define X(id, name, floor) name,
    STAT_COLUMNS(X)
#undef X
};

static const double stat_column_floors[STAT_COLUMN_COUNT] = {
#define X(id, name, floor) floor,
    STAT_COLUMNS(X)
#undef X
};

const char *const stage_verdict_names[STAGE_VERDICT_COUNT] = {"muted", "slow_host", "few_slow", "few_tasks", "memory", "gc", "fetch", "delay", "deser", "shwrite", "uneven", "ok"};

static double at(const struct stage_sample *sample, enum stat_column column, size_t i)
{
    return sample->of[column] ? sample->of[column][i] : 0;
}

/* Puts `value` at the root of the min-heap of `count` items in place of what was there. */
static void heap_replace_first(double *heap, size_t count, double value)
{
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

double list_schedule(const double *w, size_t count, double slots)
{
    double last = 0;
    if (slots >= (double)count) {
        for (size_t i = 0; i < count; i++)
            last = fmax(last, w[i]);
        return last;
    }
    size_t slot_count = slots >= 1 ? (size_t)slots : 1;
    double *free_at = mem_array(slot_count, sizeof *free_at);
    if (!free_at)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        double end = free_at[0] + w[i];
        last = fmax(last, end);
        heap_replace_first(free_at, slot_count, end);
    }
    mem_free(free_at);
    return last;
}

enum err_code stage_distributions(const struct stage_sample *sample, struct distribution ret[STAT_COLUMN_COUNT], struct err *err)
{
    int64_t *scratch = mem_array(sample->count + 1, sizeof *scratch);
    if (!scratch)
        return err_nomem(err);
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++) {
        size_t count = c == STAT_CPU && !sample->has_cpu ? 0 : sample->count;
        ret[c] = sample->of[c] ? distribution_of(sample->of[c], count, stat_column_floors[c], scratch) : distribution_of_equal(0, count, stat_column_floors[c]);
    }
    mem_free(scratch);
    return ERR_OK;
}

/* 4.3: what normal work of the outliers would save, and the same work spread evenly. */
static enum err_code find_recoverable(struct stage_stats *self, const struct stage_sample *sample)
{
    const double *w = sample->of[STAT_OCCUPANCY];
    double cut = self->outliers.cut_ms, over = 0;
    self->base_ms = self->rec_cap_ms = self->rec_spread_ms = NAN;
    if (sample->count < 2)
        return ERR_OK;
    self->base_ms = list_schedule(w, sample->count, sample->slots);
    self->rec_cap_ms = self->rec_spread_ms = 0;
    if (self->outliers.count) {
        double *changed = mem_array(sample->count, sizeof *changed);
        if (!changed)
            return ERR_NOMEM;
        for (size_t i = 0; i < sample->count; i++) {
            changed[i] = fmin(w[i], cut);
            over += w[i] - changed[i];
        }
        self->rec_cap_ms = fmax(0, self->base_ms - list_schedule(changed, sample->count, sample->slots));
        for (size_t i = 0; i < sample->count; i++)
            changed[i] += over / (double)sample->count;
        double spread = list_schedule(changed, sample->count, sample->slots);
        self->rec_spread_ms = isnan(spread) ? spread : fmax(0, self->base_ms - spread);
        mem_free(changed);
    }
    return isnan(self->base_ms) || isnan(self->rec_spread_ms) ? ERR_NOMEM : ERR_OK;
}

/* 5.2, without causes: who they are. */
static enum err_code find_outliers(struct outliers *self, const struct stage_sample *sample, double p75)
{
    const double *w = sample->of[STAT_OCCUPANCY];
    *self = (struct outliers){.cut_ms = OUTLIER_RATIO * p75, .cause = CAUSE_NONE, .data = STAT_COLUMN_COUNT, .worst = sample->count ? 0 : SIZE_MAX};
    for (size_t i = 0; i < sample->count; i++) {
        if (w[i] > w[self->worst] || (w[i] == w[self->worst] && sample->task_id[i] < sample->task_id[self->worst]))
            self->worst = i;
        self->count += w[i] > self->cut_ms;
    }
    if (!self->count)
        return ERR_OK;
    struct sort_item *items = mem_array(self->count, 2 * sizeof *items);
    if (!items)
        return ERR_NOMEM;
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (w[i] > self->cut_ms) {
            items[count++] = (struct sort_item){sample->task_id[i], i};
            self->any_retried |= sample->retried && sample->retried[i];
        }
    sort_items(items, count, items + count);
    for (size_t i = 0; i < count; i++)
        items[i].key = order_key(-w[items[i].carried]);
    sort_items(items, count, items + count);
    for (; self->member_count < count && self->member_count < ARRAY_LENGTH(self->members); self->member_count++)
        self->members[self->member_count] = items[self->member_count].carried;
    mem_free(items);
    return ERR_OK;
}

static void add_causes(struct outliers *self, const struct stage_sample *sample, const struct stage_medians *medians)
{
    double of_data[STAT_COLUMN_COUNT + 1] = {0};
    for (size_t i = 0; i < self->member_count; i++) {
        size_t k = self->members[i];
        struct slow_task task = why_slow(sample, medians, k);
        if (task.excess_ms <= 0)
            return; /* too few winners to say why */
        double weight = (sample->of[STAT_OCCUPANCY][k] - self->cut_ms) / task.excess_ms;
        for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
            self->ms[cause] += weight * task.ms[cause];
        of_data[task.data] += weight * task.ms[CAUSE_DATA];
    }
    self->cause = CAUSE_DELAY;
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
        self->total_ms += self->ms[cause];
        if (self->ms[cause] > self->ms[self->cause])
            self->cause = (enum cause)cause;
    }
    for (size_t column = 0; column < STAT_COLUMN_COUNT; column++)
        if (of_data[column] > (self->data == STAT_COLUMN_COUNT ? 0 : of_data[self->data]))
            self->data = (enum stat_column)column;
    self->cause_share = self->ms[self->cause] / self->total_ms;
    self->warmup_share = self->ms[CAUSE_WARMUP] / self->total_ms;
    self->warmup_mutes = self->warmup_share >= WARMUP_MUTES;
}

static enum err_code find_causes(struct outliers *self, const struct stage_sample *sample, const struct distribution of[STAT_COLUMN_COUNT], struct err *err)
{
    if (!self->count)
        return ERR_OK;
    struct stage_medians *medians;
    enum err_code rc = stage_medians_make(&medians, sample, of, err);
    if (rc)
        return rc;
    add_causes(self, sample, medians);
    stage_medians_free(medians);
    return ERR_OK;
}

/* Run time as if every task had read the median amount: what is left differs by where it ran. */
static void normalise_run(const struct stage_sample *sample, double *ret, int64_t *scratch)
{
    for (size_t i = 0; i < sample->count; i++)
        ret[i] = fmax(at(sample, STAT_INPUT_BYTES, i) + at(sample, STAT_READ_BYTES, i), at(sample, STAT_INPUT_RECORDS, i) + at(sample, STAT_READ_RECORDS, i));
    double median = fmax(1, distribution_of(ret, sample->count, 1, scratch).p50);
    for (size_t i = 0; i < sample->count; i++)
        ret[i] = sample->of[STAT_RUN][i] / fmax(1, ret[i] / median);
}

static bool dearer(const struct slow_executor *a, const struct slow_executor *b)
{
    if (a->slow != b->slow)
        return a->slow;
    return a->slow ? a->cost_ms > b->cost_ms : a->ratio > b->ratio;
}

static void compare_executors(struct stage_stats *self, const struct stage_sample *sample, const struct executor_times *times)
{
    for (size_t g = 0; g < times->group_count; g++) {
        const struct executor_group *group = &times->groups[g];
        size_t own = group->end - group->begin, above = 0;
        if (own < HOST_TASKS || sample->count - own < HOST_TASKS)
            continue;
        struct slow_executor one = {.executor = group->executor, .ratio = executor_quantile(times, group, 0.5) / fmax(1, others_quantile(times, group, 0.5))};
        double p75 = others_quantile(times, group, 0.75);
        for (uint32_t i = group->begin; i < group->end; i++) {
            above += times->sorted[times->ranks[i]] > p75;
            one.cost_ms += sample->of[STAT_OCCUPANCY][times->order[times->ranks[i]]];
        }
        one.above_share = (double)above / (double)own;
        one.slow = one.ratio >= HOST_RATIO && one.above_share >= HOST_ABOVE_SHARE;
        one.cost_ms = one.ratio > 1 ? one.cost_ms * (1 - 1 / one.ratio) / sample->slots : 0;
        if (self->slow_executor.executor == UINT32_MAX || dearer(&one, &self->slow_executor))
            self->slow_executor = one;
    }
}

/* Between-executor sum of squares of the run time ÷ the whole one. */
static double eta2_of(const struct stage_stats *self, const struct stage_sample *sample, const struct executor_times *times)
{
    const struct distribution *run = &self->of[STAT_RUN];
    double between = 0, whole = run->sigma * run->sigma * (double)run->count;
    for (size_t g = 0; g < times->group_count; g++) {
        const struct executor_group *group = &times->groups[g];
        double sum = 0, count = group->end - group->begin;
        for (uint32_t i = group->begin; i < group->end; i++)
            sum += sample->of[STAT_RUN][times->order[times->ranks[i]]];
        between += count * (sum / count - run->mean) * (sum / count - run->mean);
    }
    return whole > 0 ? fmin(1, between / whole) : 0;
}

static enum err_code find_executors(struct stage_stats *self, const struct stage_sample *sample, struct err *err)
{
    size_t count = sample->count;
    double *run = mem_array(count, sizeof *run);
    int64_t *scratch = mem_array(count, sizeof *scratch);
    struct executor_times times = {0};
    enum err_code rc = run && scratch ? ERR_OK : err_nomem(err);
    if (!rc) {
        normalise_run(sample, run, scratch);
        rc = executor_times_make(&times, run, sample->executor, count, err);
    }
    if (!rc) {
        compare_executors(self, sample, &times);
        self->eta2 = eta2_of(self, sample, &times);
    }
    executor_times_dispose(&times);
    mem_free(scratch);
    mem_free(run);
    return rc;
}

static double gc_share_of(const struct stage_sample *sample)
{
    double gc = 0, whole = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double ran = at(sample, STAT_RUN, i) + at(sample, STAT_DESER, i);
        gc += fmin(at(sample, STAT_GC, i), ran);
        whole += ran;
    }
    return whole > 0 ? gc / whole : (double)NAN;
}

/* 5.3: the first that matches. */
static enum stage_verdict verdict_of(const struct stage_stats *self, const struct stage_sample *sample, double wall_ms)
{
    static const struct {
        enum stat_column column;
        enum stage_verdict verdict;
    } parts[] = {{STAT_FETCH, VERDICT_FETCH}, {STAT_DELAY, VERDICT_DELAY}, {STAT_DESER, VERDICT_DESER}, {STAT_SHWRITE, VERDICT_SHWRITE}};

    const struct distribution *of = self->of;
    double count = (double)sample->count, worth_ms = fmax(MIN_COST_MS, MIN_COST_SHARE * wall_ms);
    if (self->slow_executor.slow && self->slow_executor.cost_ms >= worth_ms)
        return VERDICT_SLOW_HOST;
    if (self->rec_cap_ms >= worth_ms)
        return VERDICT_FEW_SLOW;
    if (count <= FEW_TASKS_SHARE * sample->slots && wall_ms >= FEW_TASKS_WALL_MS)
        return VERDICT_FEW_TASKS;
    double read = of[STAT_INPUT_BYTES].sum + of[STAT_READ_BYTES].sum, written = of[STAT_OUTPUT_BYTES].sum + of[STAT_WRITE_BYTES].sum;
    if (of[STAT_DISK_SPILL].sum > SPILL_SHARE * fmax(read, written) && of[STAT_DISK_SPILL].sum > SPILL_BYTES)
        return VERDICT_MEMORY;
    if (self->gc_share >= GC_SHARE)
        return VERDICT_GC;
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (of[STAT_OCCUPANCY].sum > 0 && of[parts[i].column].sum >= PART_SHARE * of[STAT_OCCUPANCY].sum)
            return parts[i].verdict;
    if (of[STAT_RUN].cv > UNEVEN_CV && count > UNEVEN_WAVES * sample->slots)
        return VERDICT_UNEVEN;
    return VERDICT_OK;
}

enum err_code stage_stats_make(struct stage_stats *ret, const struct stage_sample *sample, struct err *err)
{
    *ret = (struct stage_stats){.verdict = VERDICT_MUTED, .gc_share = gc_share_of(sample), .slow_executor.executor = UINT32_MAX};
    enum err_code rc = stage_distributions(sample, ret->of, err);
    if (!rc && (find_outliers(&ret->outliers, sample, ret->of[STAT_OCCUPANCY].p75) || find_recoverable(ret, sample)))
        rc = err_nomem(err);
    if (!rc)
        rc = find_causes(&ret->outliers, sample, ret->of, err);
    double wall_ms = (double)sample->end_ms - (double)sample->first_launch_ms;
    if (rc || !sample->count || wall_ms < MIN_WALL_MS)
        return rc;
    rc = find_executors(ret, sample, err);
    if (!rc)
        ret->verdict = verdict_of(ret, sample, wall_ms);
    return rc;
}
