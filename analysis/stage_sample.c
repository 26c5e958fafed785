/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_sample.h"

#include <stdlib.h>

#include "analysis/task_parts.h"
#include "base/attributes.h"
#include "base/mem.h"

/* Values of a stage are read as many columns at a time as fit in here; of a stage with millions of tasks one after the other. */
#define VALUES_BYTES ((size_t)24 << 20)

static const struct {
    enum task_value value;
    enum stat_column column;
    double unit; /* ns are ms in the sample */
} sources[] = {
    {VALUE_RUN_MS, STAT_RUN, 1},
    {VALUE_DESERIALIZE_MS, STAT_DESER, 1},
    {VALUE_SERIALIZE_MS, STAT_SER, 1},
    {VALUE_GETTING_RESULT_MS, STAT_GETRES, 1},
    {VALUE_GC_MS, STAT_GC, 1},
    {VALUE_CPU_NS, STAT_CPU, NS_PER_MS},
    {VALUE_FETCH_WAIT_MS, STAT_FETCH, 1},
    {VALUE_SHUFFLE_WRITE_NS, STAT_SHWRITE, NS_PER_MS},
    {VALUE_SHUFFLE_READ_RECORDS, STAT_READ_RECORDS, 1},
    {VALUE_SHUFFLE_READ_BYTES, STAT_READ_BYTES, 1},
    {VALUE_INPUT_RECORDS, STAT_INPUT_RECORDS, 1},
    {VALUE_INPUT_BYTES, STAT_INPUT_BYTES, 1},
    {VALUE_SHUFFLE_WRITE_RECORDS, STAT_WRITE_RECORDS, 1},
    {VALUE_SHUFFLE_WRITE_BYTES, STAT_WRITE_BYTES, 1},
    {VALUE_OUTPUT_RECORDS, STAT_OUTPUT_RECORDS, 1},
    {VALUE_OUTPUT_BYTES, STAT_OUTPUT_BYTES, 1},
    {VALUE_DISK_SPILL_BYTES, STAT_DISK_SPILL, 1},
    {VALUE_MEMORY_SPILL_BYTES, STAT_MEMORY_SPILL, 1},
    {VALUE_PEAK_MEMORY_BYTES, STAT_PEAK_MEMORY, 1},
};

static bool grow_to(void *array, size_t *room, size_t need, size_t each)
{
    return need <= *room || !mem_grow(array, room, need, FACTS_MAX_ATTEMPTS, each);
}

static bool grow_column(struct stage_samples *self, size_t column)
{
    return grow_to(&self->columns[column], &self->column_room[column], self->sample.count, sizeof(double));
}

static bool grow_arrays(struct stage_samples *self, size_t count)
{
    void *arrays[] = {&self->attempts, &self->task_ids, &self->executor_numbers, &self->cold, &self->retried, &self->locality};
    static const size_t each[] = {sizeof(uint32_t), sizeof(int64_t), sizeof(uint32_t), sizeof(bool), sizeof(bool), sizeof(int8_t)};
    size_t room = self->room;
    for (size_t i = 0; i < ARRAY_LENGTH(arrays); i++) {
        room = self->room;
        if (!grow_to(arrays[i], &room, count, each[i]))
            return false;
    }
    self->room = room;
    return true;
}

static int compare_indexes(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Partitions with an attempt that is no winner, ascending. */
static enum err_code find_losers(struct stage_samples *self, const struct attempt *attempts, size_t count, size_t *ret_count)
{
    size_t losers = 0;
    for (size_t i = 0; i < count; i++)
        losers += attempts[i].kind != WINNER && attempts[i].index >= 0;
    *ret_count = losers;
    if (!grow_to(&self->losers, &self->loser_room, losers, sizeof *self->losers))
        return ERR_NOMEM;
    losers = 0;
    for (size_t i = 0; i < count; i++)
        if (attempts[i].kind != WINNER && attempts[i].index >= 0)
            self->losers[losers++] = attempts[i].index;
    if (losers)
        qsort(self->losers, losers, sizeof *self->losers, compare_indexes);
    return ERR_OK;
}

/* The executor's number in this sample; those that have none yet get the next one. */
static bool number_executor(struct stage_samples *self, uint32_t executor, uint32_t *ret)
{
    if (!self->numbers[executor]) {
        if (!grow_to(&self->executors, &self->executor_room, self->sample.executor_count + 1, sizeof *self->executors))
            return false;
        self->executors[self->sample.executor_count++] = executor;
        self->numbers[executor] = (uint32_t)self->sample.executor_count;
    }
    *ret = self->numbers[executor] - 1;
    return true;
}

static enum err_code take_attempts(struct stage_samples *self, const struct facts *facts, const struct stage_fact *stage)
{
    const struct attempt *attempts = facts->attempts + stage->first_attempt;
    size_t count = 0, loser_count;
    for (size_t i = 0; i < stage->attempt_count; i++)
        count += attempts[i].kind == WINNER && attempts[i].has_metrics;
    size_t numbers_before = self->number_room;
    if (!grow_arrays(self, count) || !grow_to(&self->numbers, &self->number_room, facts->executor_count, sizeof *self->numbers) ||
        find_losers(self, attempts, stage->attempt_count, &loser_count))
        return ERR_NOMEM;
    for (size_t i = numbers_before; i < self->number_room; i++)
        self->numbers[i] = 0;

    struct stage_sample *sample = &self->sample;
    sample->count = count;
    if (!grow_column(self, STAT_OCCUPANCY))
        return ERR_NOMEM;
    size_t place = 0;
    bool complete = true;
    for (size_t i = 0; i < stage->attempt_count; i++) {
        const struct attempt *attempt = &attempts[i];
        if (attempt->kind != WINNER || !attempt->has_metrics)
            continue;
        self->attempts[place] = (uint32_t)(stage->first_attempt + i);
        self->task_ids[place] = attempt->task_id;
        self->cold[place] = attempt->cold;
        self->retried[place] = attempt->again || (loser_count && bsearch(&attempt->index, self->losers, loser_count, sizeof *self->losers, compare_indexes));
        self->columns[STAT_OCCUPANCY][place] = (double)attempt->occupancy_ms;
        complete &= number_executor(self, attempt->executor, &self->executor_numbers[place]);
        place++;
    }
    for (size_t e = 0; e < sample->executor_count; e++)
        self->numbers[self->executors[e]] = 0;
    sample->task_id = self->task_ids;
    sample->executor = self->executor_numbers;
    sample->cold = self->cold;
    sample->retried = self->retried;
    sample->locality = self->locality;
    sample->of[STAT_OCCUPANCY] = self->columns[STAT_OCCUPANCY];
    return complete ? ERR_OK : ERR_NOMEM;
}

/* One column of doubles; none where all are 0. */
static enum err_code take_column(struct stage_samples *self, const int64_t *values, size_t first_attempt, enum stat_column column, double unit)
{
    const size_t spare = STAT_COLUMN_COUNT;
    if (!grow_column(self, spare))
        return ERR_NOMEM;
    double *to = self->columns[spare];
    int64_t any = 0;
    for (size_t i = 0; i < self->sample.count; i++) {
        int64_t value = MAX(values[self->attempts[i] - first_attempt], 0);
        to[i] = (double)value / unit;
        any |= value;
    }
    if (!any && column != STAT_RUN)
        return ERR_OK;
    size_t room = self->column_room[spare];
    self->columns[spare] = self->columns[column];
    self->column_room[spare] = self->column_room[column];
    self->columns[column] = to;
    self->column_room[column] = room;
    self->sample.of[column] = to;
    return ERR_OK;
}

static void take_localities(struct stage_samples *self, const int64_t *values, size_t first_attempt)
{
    for (size_t i = 0; i < self->sample.count; i++) {
        int64_t level = values[self->attempts[i] - first_attempt];
        self->locality[i] = level >= 0 && level <= 4 ? (int8_t)level : -1;
    }
}

/* When the result began to be fetched becomes how long it took. */
static void take_getting_result(struct stage_samples *self, int64_t *values, const struct facts *facts, size_t first_attempt)
{
    for (size_t i = 0; i < self->sample.count; i++) {
        int64_t *value = &values[self->attempts[i] - first_attempt], finish_ms = facts->attempts[self->attempts[i]].finish_ms;
        *value = *value > 0 && *value < finish_ms ? finish_ms - *value : 0;
    }
}

static enum err_code take_values(struct stage_samples *self, const struct facts *facts, uint32_t stage, struct err *err)
{
    size_t first_attempt = facts->stages[stage].first_attempt, at_once = VALUES_BYTES / sizeof(int64_t) / facts->stages[stage].attempt_count;
    for (size_t first = 0, end; first <= ARRAY_LENGTH(sources); first = end) { /* locality comes after the sources */
        uint32_t wanted = 0;
        for (end = first; end <= ARRAY_LENGTH(sources) && (end == first || end - first < at_once); end++)
            wanted |= 1U << (end < ARRAY_LENGTH(sources) ? sources[end].value : VALUE_LOCALITY);
        struct task_values values;
        enum err_code rc = facts_values(facts, stage, wanted, &values, err);
        if (rc)
            return rc;
        for (size_t i = first; i < end && !rc; i++) {
            if (i == ARRAY_LENGTH(sources)) {
                take_localities(self, values.of[VALUE_LOCALITY], first_attempt);
                continue;
            }
            if (sources[i].value == VALUE_GETTING_RESULT_MS)
                take_getting_result(self, values.of[VALUE_GETTING_RESULT_MS], facts, first_attempt);
            if (take_column(self, values.of[sources[i].value], first_attempt, sources[i].column, sources[i].unit))
                rc = err_nomem(err);
        }
        task_values_dispose(&values);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static double get(const double *column, size_t i)
{
    return column ? column[i] : 0;
}

static void put(double *column, size_t i, double value)
{
    if (column)
        column[i] = value;
}

/* The times as logged become parts of the occupancy: a part that was 0 for all stays so. */
static enum err_code clip(struct stage_samples *self)
{
    struct stage_sample *sample = &self->sample;
    double *of[STAT_COLUMN_COUNT], delays = 0;
    if (!grow_column(self, STAT_DELAY))
        return ERR_NOMEM;
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
        of[c] = sample->of[c] ? self->columns[c] : NULL;
    for (size_t i = 0; i < sample->count; i++) {
        struct task_times times = {.occupancy = of[STAT_OCCUPANCY][i],
                                   .run = of[STAT_RUN][i],
                                   .deser = get(of[STAT_DESER], i),
                                   .ser = get(of[STAT_SER], i),
                                   .getres = get(of[STAT_GETRES], i),
                                   .gc = get(of[STAT_GC], i),
                                   .cpu = get(of[STAT_CPU], i),
                                   .fetch = get(of[STAT_FETCH], i),
                                   .shwrite = get(of[STAT_SHWRITE], i)};
        struct task_parts parts = task_parts(&times);
        of[STAT_RUN][i] = parts.run;
        put(of[STAT_DESER], i, parts.deser);
        put(of[STAT_SER], i, parts.ser);
        put(of[STAT_GETRES], i, parts.getres);
        put(of[STAT_GC], i, parts.gc_in_run + parts.gc_in_deser);
        put(of[STAT_CPU], i, parts.cpu);
        put(of[STAT_FETCH], i, parts.fetch);
        put(of[STAT_SHWRITE], i, parts.shwrite);
        self->columns[STAT_DELAY][i] = parts.delay;
        delays += parts.delay;
    }
    sample->of[STAT_DELAY] = delays > 0 ? self->columns[STAT_DELAY] : NULL;
    return ERR_OK;
}

enum err_code stage_samples_read(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err)
{
    const struct stage_fact *fact = &facts->stages[stage];
    self->sample = (struct stage_sample){.has_cpu = facts->has_cpu_time, .slots = slots};
    if (!fact->attempt_count)
        return ERR_OK;
    self->sample.first_launch_ms = fact->first_launch_ms;
    self->sample.end_ms = fact->last_finish_ms;
    if (take_attempts(self, facts, fact))
        return err_nomem(err);
    if (!self->sample.count)
        return ERR_OK;
    enum err_code rc = take_values(self, facts, stage, err);
    if (!rc && clip(self))
        rc = err_nomem(err);
    return rc;
}

void stage_samples_dispose(struct stage_samples *self)
{
    for (size_t c = 0; c <= STAT_COLUMN_COUNT; c++)
        mem_free(self->columns[c]);
    mem_free(self->attempts);
    mem_free(self->executors);
    mem_free(self->task_ids);
    mem_free(self->executor_numbers);
    mem_free(self->numbers);
    mem_free(self->cold);
    mem_free(self->retried);
    mem_free(self->locality);
    mem_free(self->losers);
    *self = (struct stage_samples){0};
}
