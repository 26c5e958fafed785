/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_sample.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/task_parts.h"
#include "base/attributes.h"
#include "base/mem.h"

/* Where a column of the sample comes from. Times come first: they are clipped together. */
static const struct {
    enum task_value value;
    enum stat_column column;
} sources[] = {
    {VALUE_RUN_MS, STAT_RUN},
    {VALUE_DESERIALIZE_MS, STAT_DESER},
    {VALUE_SERIALIZE_MS, STAT_SER},
    {VALUE_GETTING_RESULT_MS, STAT_GETRES},
    {VALUE_GC_MS, STAT_GC},
    {VALUE_CPU_NS, STAT_CPU},
    {VALUE_FETCH_WAIT_MS, STAT_FETCH},
    {VALUE_SHUFFLE_WRITE_NS, STAT_SHWRITE},
    {VALUE_SHUFFLE_READ_RECORDS, STAT_READ_RECORDS},
    {VALUE_SHUFFLE_READ_BYTES, STAT_READ_BYTES},
    {VALUE_INPUT_RECORDS, STAT_INPUT_RECORDS},
    {VALUE_INPUT_BYTES, STAT_INPUT_BYTES},
    {VALUE_SHUFFLE_WRITE_RECORDS, STAT_WRITE_RECORDS},
    {VALUE_SHUFFLE_WRITE_BYTES, STAT_WRITE_BYTES},
    {VALUE_OUTPUT_RECORDS, STAT_OUTPUT_RECORDS},
    {VALUE_OUTPUT_BYTES, STAT_OUTPUT_BYTES},
    {VALUE_DISK_SPILL_BYTES, STAT_DISK_SPILL},
    {VALUE_MEMORY_SPILL_BYTES, STAT_MEMORY_SPILL},
    {VALUE_PEAK_MEMORY_BYTES, STAT_PEAK_MEMORY},
};
#define TIME_SOURCES 8

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
    void *arrays[] = {&self->task_ids, &self->executor_numbers, &self->cold, &self->retried, &self->locality};
    static const size_t each[] = {sizeof(int64_t), sizeof(uint32_t), sizeof(bool), sizeof(bool), sizeof(int8_t)};
    size_t room = self->room;
    for (size_t i = 0; i < ARRAY_LENGTH(arrays); i++) {
        room = self->room;
        if (!grow_to(arrays[i], &room, count, each[i]))
            return false;
    }
    self->room = room;
    return true;
}

static uint64_t *may_lose_word(struct stage_samples *self, int32_t index)
{
    return &self->may_lose[(size_t)index / 64 % ARRAY_LENGTH(self->may_lose)];
}

static int compare_indexes(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Counts the sample; on the way finds the partitions with an attempt that is no winner, in the end ascending. Of each a bit says that there may be one. */
static enum err_code count_sample(struct stage_samples *self, const struct attempt *attempts, const struct attempt_launch *launches, size_t count, size_t *ret_losers)
{
    size_t losers = 0;
    memset(self->may_lose, 0, sizeof self->may_lose);
    self->sample.count = 0;
    for (size_t i = 0; i < count; i++) {
        self->sample.count += attempts[i].kind == WINNER && attempts[i].has_metrics;
        if (LIKELY(attempts[i].kind == WINNER) || launches[i].index < 0)
            continue;
        if (!grow_to(&self->losers, &self->loser_room, losers + 1, sizeof *self->losers))
            return ERR_NOMEM;
        self->losers[losers++] = launches[i].index;
        *may_lose_word(self, launches[i].index) |= UINT64_C(1) << (launches[i].index % 64);
    }
    if (losers)
        qsort(self->losers, losers, sizeof *self->losers, compare_indexes);
    *ret_losers = losers;
    return ERR_OK;
}

static bool has_loser(struct stage_samples *self, size_t loser_count, int32_t index)
{
    return index >= 0 && *may_lose_word(self, index) >> (index % 64) & 1 && bsearch(&index, self->losers, loser_count, sizeof index, compare_indexes);
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
    const struct attempt_launch *launches = facts->launches + stage->first_attempt;
    size_t loser_count, numbers_before = self->number_room;
    if (count_sample(self, attempts, launches, stage->attempt_count, &loser_count) || !grow_arrays(self, self->sample.count) ||
        !grow_to(&self->numbers, &self->number_room, facts->executor_count, sizeof *self->numbers) ||
        !grow_to(&self->places, &self->place_room, stage->attempt_count, sizeof *self->places))
        return ERR_NOMEM;
    for (size_t i = numbers_before; i < self->number_room; i++)
        self->numbers[i] = 0;

    struct stage_sample *sample = &self->sample;
    if (!grow_column(self, STAT_OCCUPANCY))
        return ERR_NOMEM;
    size_t place = 0;
    bool complete = true;
    for (size_t i = 0; i < stage->attempt_count; i++) {
        const struct attempt *attempt = &attempts[i];
        self->places[i] = NOT_IN_SAMPLE;
        if (attempt->kind != WINNER || !attempt->has_metrics)
            continue;
        self->places[i] = (uint32_t)place;
        self->task_ids[place] = launches[i].task_id;
        self->cold[place] = attempt->cold;
        self->retried[place] = attempt->again || (loser_count && has_loser(self, loser_count, launches[i].index));
        self->columns[STAT_OCCUPANCY][place] = (double)attempt_occupancy_ms(attempt);
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

/* Whether there is a number above 0 for a task of the sample. */
static bool any_of(const int64_t *values, const uint32_t *places, size_t count)
{
    int64_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= values[i];
    if (!any || any == UNKNOWN) /* half of a task's metrics are */
        return false;
    for (size_t i = 0; i < count; i++)
        if (values[i] > 0 && places[i] != NOT_IN_SAMPLE)
            return true;
    return false;
}

/* A column is there from its first number above 0 on: 0 for all tasks before. Those to come are put in. */
static enum err_code need_column(struct stage_samples *self, enum stat_column column)
{
    if (self->sample.of[column])
        return ERR_OK;
    if (!grow_column(self, column))
        return ERR_NOMEM;
    if (self->added)
        memset(self->columns[column], 0, self->sample.count * sizeof(double));
    self->sample.of[column] = self->columns[column];
    return ERR_OK;
}

static void take_localities(struct stage_samples *self, const int64_t *levels, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (places[i] != NOT_IN_SAMPLE)
            self->locality[places[i]] = levels[i] >= 0 && levels[i] <= 4 ? (int8_t)levels[i] : -1;
}

static double time_at(const int64_t *values, size_t i)
{
    return values && values[i] > 0 ? (double)values[i] : 0;
}

static void put(double *column, size_t i, double value)
{
    if (column)
        column[i] = value;
}

/* The times as logged become parts of the occupancy: a part that was 0 for all stays so. When the result began to be fetched becomes how long it took. */
static void clip(struct stage_samples *self, const struct attempt *attempts, const int64_t *const raw[STAT_COLUMN_COUNT], const uint32_t *of_attempt, const uint32_t *places,
                 size_t count)
{
    double *of[STAT_COLUMN_COUNT];
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
        of[c] = self->sample.of[c] ? self->columns[c] : NULL;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = places[i];
        if (place == NOT_IN_SAMPLE)
            continue;
        double fetched_ms = time_at(raw[STAT_GETRES], i), finish_ms = (double)attempts[of_attempt[i]].finish_ms;
        struct task_times times = {.occupancy = of[STAT_OCCUPANCY][place],
                                   .run = time_at(raw[STAT_RUN], i),
                                   .deser = time_at(raw[STAT_DESER], i),
                                   .ser = time_at(raw[STAT_SER], i),
                                   .getres = fetched_ms > 0 && fetched_ms < finish_ms ? finish_ms - fetched_ms : 0,
                                   .gc = time_at(raw[STAT_GC], i),
                                   .cpu = time_at(raw[STAT_CPU], i) / NS_PER_MS,
                                   .fetch = time_at(raw[STAT_FETCH], i),
                                   .shwrite = time_at(raw[STAT_SHWRITE], i) / NS_PER_MS};
        struct task_parts parts = task_parts(&times);
        of[STAT_RUN][place] = parts.run;
        put(of[STAT_DESER], place, parts.deser);
        put(of[STAT_SER], place, parts.ser);
        put(of[STAT_GETRES], place, parts.getres);
        put(of[STAT_GC], place, parts.gc_in_run + parts.gc_in_deser);
        put(of[STAT_CPU], place, parts.cpu);
        put(of[STAT_FETCH], place, parts.fetch);
        put(of[STAT_SHWRITE], place, parts.shwrite);
        of[STAT_DELAY][place] = parts.delay;
        self->delays_ms += parts.delay;
    }
}

enum err_code stage_samples_begin(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err)
{
    const struct stage_fact *fact = &facts->stages[stage];
    self->sample = (struct stage_sample){.has_cpu = facts->has_cpu_time, .slots = slots};
    self->stage_attempts = facts->attempts + fact->first_attempt;
    self->delays_ms = 0;
    self->added = 0;
    if (!fact->attempt_count)
        return ERR_OK;
    self->sample.first_launch_ms = fact->first_launch_ms;
    self->sample.end_ms = fact->last_finish_ms;
    if (take_attempts(self, facts, fact) || (self->sample.count && (need_column(self, STAT_RUN) || need_column(self, STAT_DELAY))))
        return err_nomem(err);
    return ERR_OK;
}

enum err_code stage_samples_add(struct stage_samples *self, const struct task_values *values, const uint32_t *of_attempt, struct err *err)
{
    const int64_t *raw[STAT_COLUMN_COUNT] = {NULL};
    uint32_t places[TASK_BATCH_ROWS];
    if (!self->sample.count)
        return ERR_OK;
    for (size_t i = 0; i < values->count; i++)
        places[i] = self->places[of_attempt[i]];
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        enum stat_column c = sources[s].column;
        const int64_t *of = values->of[sources[s].value];
        if (!self->sample.of[c] && !any_of(of, places, values->count))
            continue;
        if (need_column(self, c))
            return err_nomem(err);
        raw[c] = of;
        double *to = self->columns[c];
        for (size_t i = 0; s >= TIME_SOURCES && i < values->count; i++)
            if (places[i] != NOT_IN_SAMPLE)
                to[places[i]] = (double)MAX(of[i], 0);
    }
    clip(self, self->stage_attempts, raw, of_attempt, places, values->count);
    take_localities(self, values->of[VALUE_LOCALITY], places, values->count);
    self->added += values->count;
    return ERR_OK;
}

void stage_samples_end(struct stage_samples *self)
{
    if (!(self->delays_ms > 0))
        self->sample.of[STAT_DELAY] = NULL;
}

static enum err_code add_batch(void *to, const struct task_values *values, const uint32_t *places, struct err *err)
{
    return stage_samples_add(to, values, places, err);
}

enum err_code stage_samples_read(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err)
{
    enum err_code rc = stage_samples_begin(self, facts, stage, slots, err);
    if (!rc && self->sample.count)
        rc = facts_value_batches(facts, stage, SAMPLE_VALUES, add_batch, self, err);
    stage_samples_end(self);
    return rc;
}

void stage_samples_dispose(struct stage_samples *self)
{
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
        mem_free(self->columns[c]);
    mem_free(self->places);
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
