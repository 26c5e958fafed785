/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <math.h>
#include <string.h>

#include "analysis/executor_times.h"
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
#define HOST_MIN_RATIO 1.2 /* where none reaches this, executors are alike and none is named */
#define HOST_ABOVE_SHARE 0.7
#define FEW_TASKS_SHARE 0.5 /* of the slots */
#define FEW_TASKS_WALL_MS 3000.0
#define SPILL_SHARE 0.1        /* of the stage's data … */
#define SPILL_BYTES 67108864.0 /* … and 64 MiB */
#define GC_SHARE 0.10
#define PART_SHARE 0.20 /* of all occupancy */
#define UNEVEN_CV 0.5
#define UNEVEN_WAVES 2

/* From so many tasks on a second thread is worth its beginning. */
#define LARGE_FROM ((size_t)50000)

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

/* A list schedule while it is made: a tree of losers over when each slot is free. The path of the slot that takes a task has a fixed length and its places follow from the slot alone, so
 * that nothing is guessed and several schedules go side by side. Times are compared as whole numbers (order_key). */
struct schedule {
    int64_t first_at, *loser_at; /* when the slot that is free first is; by node, from 1 on, when the one that lost there is. NULL: more slots than tasks */
    uint32_t first, *loser;      /* which they are */
    size_t leaves;               /* a power of two; what is behind the slots is never free */
    double last;
};

static enum err_code schedule_begin(struct schedule *self, size_t count, double slots)
{
    *self = (struct schedule){.leaves = 1};
    if (slots >= (double)count)
        return ERR_OK;
    while ((double)self->leaves < slots)
        self->leaves *= 2;
    self->loser_at = mem_alloc(self->leaves * sizeof *self->loser_at);
    self->loser = mem_alloc(self->leaves * sizeof *self->loser);
    if (!self->loser_at || !self->loser) {
        mem_free(TAKE(self->loser_at));
        mem_free(TAKE(self->loser));
        return ERR_NOMEM;
    }
    for (size_t node = 1; node < self->leaves; node++) {
        size_t leaf = 2 * node + 1; /* all are free at 0: the left half won */
        while (leaf < self->leaves)
            leaf *= 2;
        leaf -= self->leaves;
        self->loser_at[node] = (double)(leaf + 1) > slots ? INT64_MAX : order_key(0);
        self->loser[node] = (uint32_t)leaf;
    }
    return ERR_OK;
}

static inline void schedule_add(struct schedule *self, double w)
{
    if (!self->loser) {
        self->last = MAX(self->last, w);
        return;
    }
    double end = order_value(self->first_at) + w;
    int64_t at = order_key(end);
    uint32_t who = self->first;
    self->last = MAX(self->last, end);
    for (size_t node = (self->leaves + who) / 2; node; node /= 2) {
        /* swapped by masks: compilers make a jump of anything else, and nobody can predict it */
        int64_t other_at = self->loser_at[node], swap = -(int64_t)(other_at < at), change_at = (other_at ^ at) & swap;
        uint32_t other = self->loser[node], change = (other ^ who) & (uint32_t)swap;
        self->loser_at[node] = other_at ^ change_at;
        self->loser[node] = other ^ change;
        at ^= change_at;
        who ^= change;
    }
    self->first_at = at;
    self->first = who;
}

static double schedule_end(struct schedule *self)
{
    mem_free(self->loser_at);
    mem_free(self->loser);
    return self->last;
}

double list_schedule(const double *w, size_t count, double slots)
{
    struct schedule schedule;
    if (schedule_begin(&schedule, count, slots))
        return (double)NAN;
    for (size_t i = 0; i < count; i++)
        schedule_add(&schedule, w[i]);
    return schedule_end(&schedule);
}

/* `scratch`: a place for each task. */
static void distributions(const struct stage_sample *sample, size_t first, size_t end, struct distribution ret[STAT_COLUMN_COUNT], int64_t *scratch)
{
    for (size_t c = first; c < end; c++) {
        size_t count = c == STAT_CPU && !sample->has_cpu ? 0 : sample->count;
        ret[c] = sample->of[c] ? distribution_of(sample->of[c], count, stat_column_floors[c], scratch) : distribution_of_equal(0, count, stat_column_floors[c]);
    }
}

enum err_code stage_distributions(const struct stage_sample *sample, struct distribution ret[STAT_COLUMN_COUNT], struct err *err)
{
    CLEANUP(mem_freep) int64_t *scratch = mem_alloc((sample->count + 1) * sizeof *scratch);
    if (!scratch)
        return err_nomem(err);
    distributions(sample, 0, STAT_COLUMN_COUNT, ret, scratch);
    return ERR_OK;
}

/* 4.3: what normal work of the outliers would save, and the same work spread evenly. The three schedules go side by side: each waits for its own heap most of the time. */
static enum err_code find_recoverable(struct stage_stats *self, const struct stage_sample *sample)
{
    const double *w = sample->of[STAT_OCCUPANCY];
    double cut = self->outliers.cut_ms, over = 0;
    if (sample->count < 2) {
        self->base_ms = self->rec_cap_ms = self->rec_spread_ms = (double)NAN;
        return ERR_OK;
    }
    if (!self->outliers.count) {
        self->base_ms = list_schedule(w, sample->count, sample->slots);
        return isnan(self->base_ms) ? ERR_NOMEM : ERR_OK;
    }
    struct schedule base = {0}, capped = {0}, spread = {0};
    enum err_code rc = schedule_begin(&base, sample->count, sample->slots);
    if (!rc)
        rc = schedule_begin(&capped, sample->count, sample->slots);
    if (!rc)
        rc = schedule_begin(&spread, sample->count, sample->slots);
    for (size_t i = 0; i < sample->count; i++)
        over += w[i] > cut ? w[i] - cut : 0;
    double each = over / (double)sample->count;
    for (size_t i = 0; !rc && i < sample->count; i++) {
        schedule_add(&base, w[i]);
        schedule_add(&capped, MIN(w[i], cut));
        schedule_add(&spread, MIN(w[i], cut) + each);
    }
    self->base_ms = schedule_end(&base);
    self->rec_cap_ms = fmax(0, self->base_ms - schedule_end(&capped));
    self->rec_spread_ms = fmax(0, self->base_ms - schedule_end(&spread));
    return rc;
}

/* Whether task `a` comes before `b` among the slow ones: longer, or of a smaller id. */
static bool slower(const struct stage_sample *sample, size_t a, size_t b)
{
    const double *w = sample->of[STAT_OCCUPANCY];
    return w[a] > w[b] || (w[a] == w[b] && sample->task_id[a] < sample->task_id[b]);
}

static void add_member(struct outliers *self, const struct stage_sample *sample, size_t k)
{
    size_t at_place = self->member_count < ARRAY_LENGTH(self->members) ? self->member_count++ : self->member_count - 1;
    for (; at_place > 0 && slower(sample, k, self->members[at_place - 1]); at_place--)
        self->members[at_place] = self->members[at_place - 1];
    self->members[at_place] = k;
}

/* 5.2, without causes: who they are. */
static void find_outliers(struct outliers *self, const struct stage_sample *sample, double p75)
{
    const double *w = sample->of[STAT_OCCUPANCY];
    *self = (struct outliers){.cut_ms = OUTLIER_RATIO * p75, .cause = CAUSE_NONE, .data = STAT_COLUMN_COUNT, .worst = sample->count ? 0 : SIZE_MAX};
    for (size_t i = 0; i < sample->count; i++) {
        if (slower(sample, i, self->worst))
            self->worst = i;
        if (w[i] <= self->cut_ms)
            continue;
        self->count++;
        self->any_retried |= sample->retried && sample->retried[i];
        if (self->member_count < ARRAY_LENGTH(self->members) || slower(sample, i, self->members[self->member_count - 1]))
            add_member(self, sample, i);
    }
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
        self->warming[i] = task.ms[CAUSE_WARMUP] >= WARMUP_MUTES * task.excess_ms;
        for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
            self->ms[cause] += weight * task.ms[cause];
        of_data[task.data] += weight * task.ms[CAUSE_DATA];
        self->data_counts |= task.data_counts;
    }
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
        self->total_ms += self->ms[cause];
    self->cause = largest_cause(self->ms, self->data_counts);
    for (size_t column = 0; column < STAT_COLUMN_COUNT; column++)
        if (of_data[column] > (self->data == STAT_COLUMN_COUNT ? 0 : of_data[self->data]))
            self->data = (enum stat_column)column;
    self->cause_share = self->cause == CAUSE_NONE ? 0 : self->ms[self->cause] / self->total_ms;
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

/* What a fault must cost to be one (5.3 step 2). */
static double worth_ms(double wall_ms)
{
    return fmax(MIN_COST_MS, MIN_COST_SHARE * wall_ms);
}

/* 1.6: warm-up mutes what it explains. Where many slots warm up at once, a slow task of another kind is few seconds among theirs, and may still be what all wait for: if normal work of
 * the others alone would save enough, they are told beside it. `scratch`: a place for each task. */
static enum err_code look_beside_warmup(struct stage_stats *self, const struct stage_sample *sample, double wall_ms, int64_t *scratch)
{
    struct outliers *outliers = &self->outliers;
    const double *w = sample->of[STAT_OCCUPANCY];
    if (!outliers->warmup_mutes || outliers->total_ms - outliers->ms[CAUSE_WARMUP] < worth_ms(wall_ms))
        return ERR_OK;
    struct schedule capped = {0};
    enum err_code rc = schedule_begin(&capped, sample->count, sample->slots);
    if (rc)
        return rc;
    memset(scratch, 0, sample->count * sizeof *scratch);
    for (size_t i = 0; i < outliers->member_count; i++)
        scratch[outliers->members[i]] = !outliers->warming[i];
    for (size_t i = 0; i < sample->count; i++)
        schedule_add(&capped, scratch[i] ? MIN(w[i], outliers->cut_ms) : w[i]);
    if (self->base_ms - schedule_end(&capped) < worth_ms(wall_ms))
        return ERR_OK;
    outliers->beside_warmup = true;
    outliers->warmup_mutes = false;
    double others[CAUSE_COUNT];
    memcpy(others, outliers->ms, sizeof others);
    others[CAUSE_WARMUP] = 0;
    outliers->cause = largest_cause(others, outliers->data_counts);
    outliers->cause_share = outliers->cause == CAUSE_NONE ? 0 : outliers->ms[outliers->cause] / outliers->total_ms;
    return ERR_OK;
}

/* Run time as if every task had read the median amount: what is left differs by where it ran. */
static void normalise_run(const struct stage_sample *sample, double *ret, int64_t *scratch)
{
    for (size_t i = 0; i < sample->count; i++) {
        double bytes = at(sample, STAT_INPUT_BYTES, i) + at(sample, STAT_READ_BYTES, i), records = at(sample, STAT_INPUT_RECORDS, i) + at(sample, STAT_READ_RECORDS, i);
        ret[i] = MAX(bytes, records);
    }
    double median = fmax(1, quantile_of(ret, sample->count, 0.5, scratch));
    for (size_t i = 0; i < sample->count; i++)
        ret[i] = sample->of[STAT_RUN][i] / MAX(1, ret[i] / median);
}

static bool dearer(const struct slow_executor *a, const struct slow_executor *b)
{
    if (a->slow != b->slow)
        return a->slow;
    return a->slow ? a->cost_ms > b->cost_ms : a->ratio > b->ratio;
}

static void compare_executors(struct stage_stats *self, const struct stage_sample *sample, const struct executor_times *times)
{
    for (uint32_t executor = 0; executor < sample->executor_count; executor++) {
        size_t own = executor_task_count(times, executor), above = 0;
        if (own < HOST_TASKS || sample->count - own < HOST_TASKS)
            continue;
        struct slow_executor one = {.executor = executor, .ratio = executor_quantile(times, executor, 0.5) / fmax(1, others_quantile(times, executor, 0.5))};
        double p75 = others_quantile(times, executor, 0.75);
        for (uint32_t i = times->begins[executor]; i < times->begins[executor + 1]; i++) {
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
static enum err_code find_eta2(struct stage_stats *self, const struct stage_sample *sample)
{
    struct {
        double sum, count;
    } *groups = mem_array(sample->executor_count, sizeof *groups);
    if (!groups)
        return ERR_NOMEM;
    for (size_t i = 0; i < sample->count; i++) {
        groups[sample->executor[i]].sum += sample->of[STAT_RUN][i];
        groups[sample->executor[i]].count++;
    }
    const struct distribution *run = &self->of[STAT_RUN];
    double between = 0, whole = run->sigma * run->sigma * (double)run->count;
    for (size_t e = 0; e < sample->executor_count; e++) {
        double difference = groups[e].count > 0 ? groups[e].sum / groups[e].count - run->mean : 0;
        between += groups[e].count * difference * difference;
    }
    self->eta2 = whole > 0 ? fmin(1, between / whole) : 0;
    mem_free(groups);
    return ERR_OK;
}

static enum err_code find_executors(struct stage_stats *self, const struct stage_sample *sample, int64_t *scratch, struct err *err)
{
    size_t count = sample->count;
    if (sample->executor_count < 2)
        return ERR_OK;
    double *run = mem_alloc(count * sizeof *run);
    enum err_code rc = run && !find_eta2(self, sample) ? ERR_OK : err_nomem(err);
    bool any = false;
    if (!rc) {
        normalise_run(sample, run, scratch);
        double median = quantile_of(run, count, 0.5, scratch);
        rc = executors_differ(run, sample->executor, count, sample->executor_count, median, HOST_MIN_RATIO, &any, err);
    }
    struct executor_times times = {0};
    if (!rc && any)
        rc = executor_times_make(&times, run, sample->executor, count, sample->executor_count, err);
    if (!rc && any)
        compare_executors(self, sample, &times);
    executor_times_dispose(&times);
    mem_free(run);
    return rc;
}

static double gc_share_of(const struct stage_sample *sample, const struct distribution of[STAT_COLUMN_COUNT])
{
    double gc = 0, whole = of[STAT_RUN].sum + of[STAT_DESER].sum;
    for (size_t i = 0; sample->of[STAT_GC] && i < sample->count; i++) {
        double ran = sample->of[STAT_RUN][i] + at(sample, STAT_DESER, i);
        gc += MIN(sample->of[STAT_GC][i], ran);
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
    double count = (double)sample->count, worth = worth_ms(wall_ms);
    if (self->slow_executor.slow && self->slow_executor.cost_ms >= worth)
        return VERDICT_SLOW_HOST;
    if (self->rec_cap_ms >= worth)
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

/* The list schedules, which ask for occupancies alone. */
static void recover(void *context)
{
    struct stats_making *self = context;
    self->recovered = find_recoverable(self->stats, self->sample);
}

bool stage_is_large(const struct stage_sample *sample)
{
    return sample->count >= LARGE_FROM;
}

enum err_code stage_stats_begin(struct stats_making *self, struct stage_stats *ret, const struct stage_sample *sample, struct err *err)
{
    *self = (struct stats_making){.stats = ret, .sample = sample, .wall_ms = (double)sample->end_ms - (double)sample->first_launch_ms};
    *ret = (struct stage_stats){.verdict = VERDICT_MUTED, .slow_executor.executor = UINT32_MAX};
    if (!(self->scratch = mem_alloc((sample->count + 1) * sizeof *self->scratch)))
        return err_nomem(err);
    distributions(sample, STAT_OCCUPANCY, STAT_OCCUPANCY + 1, ret->of, self->scratch);
    find_outliers(&ret->outliers, sample, ret->of[STAT_OCCUPANCY].p75);
    beside_start(&self->recovering, stage_is_large(sample), recover, self);
    distributions(sample, STAT_OCCUPANCY + 1, STAT_COLUMN_COUNT, ret->of, self->scratch);
    ret->gc_share = gc_share_of(sample, ret->of);
    return ERR_OK;
}

enum err_code stage_stats_end(struct stats_making *self, struct err *err)
{
    bool judged = self->sample->count && self->wall_ms >= MIN_WALL_MS;
    enum err_code rc = find_causes(&self->stats->outliers, self->sample, self->stats->of, err);
    if (!rc && judged)
        rc = find_executors(self->stats, self->sample, self->scratch, err);
    beside_join(&self->recovering);
    if (!rc && (self->recovered || (judged && look_beside_warmup(self->stats, self->sample, self->wall_ms, self->scratch))))
        rc = err_nomem(err);
    mem_free(TAKE(self->scratch));
    if (rc)
        return rc;
    if (judged)
        self->stats->verdict = verdict_of(self->stats, self->sample, self->wall_ms);
    return ERR_OK;
}

enum err_code stage_stats_make(struct stage_stats *ret, const struct stage_sample *sample, struct err *err)
{
    struct stats_making making;
    enum err_code rc = stage_stats_begin(&making, ret, sample, err);
    return rc ? rc : stage_stats_end(&making, err);
}
