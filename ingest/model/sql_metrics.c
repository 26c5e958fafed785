/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL metrics: which ones an execution knows, what its tasks report, what that comes to (spec/sql.md §3). */
#include <string.h>

#include "base/int_column.h"
#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/sql.h"

static struct str *name_of(struct sql_model *self, struct str text)
{
    struct str *name = smap_get(&self->names, text);
    if (name)
        return name;
    name = arena_alloc(&self->arena, sizeof *name);
    return name && redact_copy(&self->arena, text, name) == 0 && smap_put(&self->names, text, name) == 0 ? name : NULL;
}

static enum sql_metric_kind kind_of(struct str type)
{
    return str_is(type, "sum") ? SQL_SUM : str_is(type, "average") ? SQL_AVERAGE : str_starts(type, "v2Custom_") ? SQL_CUSTOM : SQL_SIZE_OR_TIMING;
}

static void no_numbers(struct sql_metric *metric)
{
    metric->value_count = metric->raw_count = metric->reported_count = metric->total = metric->min = metric->median = metric->max = UNKNOWN;
    metric->max_stage_id = metric->max_stage_attempt = metric->max_task_id = UNKNOWN;
}

/* Of several definitions the last one counts. */
enum err_code sql_metric_learn(struct sql_model *self, struct sql_execution *execution, const struct sql_plan_metric *from, struct err *err)
{
    size_t found = (size_t)(intptr_t)imap_get(&execution->metric_at, from->accumulator_id);
    const struct str *name = name_of(self, from->name), *type = name_of(self, from->type);
    if (!name || !type)
        return err_nomem(err);
    if (!found) {
        if (mem_grow((void **)&execution->metrics, &execution->metric_capacity, execution->metric_count + 1, MODEL_MAX_ENTITIES, sizeof *execution->metrics) ||
            imap_put(&execution->metric_at, from->accumulator_id, (void *)(intptr_t)(execution->metric_count + 1)))
            return err_nomem(err);
        found = ++execution->metric_count;
        execution->metrics[found - 1] = (struct sql_metric){.accumulator_id = from->accumulator_id};
        no_numbers(&execution->metrics[found - 1]);
    }
    struct sql_metric *metric = execution->metrics + found - 1;
    metric->name = *name;
    metric->type = *type;
    metric->kind = kind_of(*type);
    execution->metrics_dirty = true;
    return ERR_OK;
}

/* ---- what tasks report */

struct sql_tracker *sql_tracker_new(const struct sql_execution *execution, int64_t attempt, int64_t task_count)
{
    struct sql_tracker *self = mem_zalloc(sizeof *self);
    if (!self)
        return NULL;
    *self = (struct sql_tracker){.execution = execution, .attempt = attempt, .task_count = task_count};
    imap_init(&self->metric_at, MODEL_MAX_ENTITIES);
    return self;
}

static void forget(struct sql_model *self, struct sql_tracker *tracker)
{
    for (size_t i = 0; i < tracker->metric_count; i++)
        value_array_dispose(&tracker->metrics[i].values);
    tracker->metric_count = tracker->next = 0;
    imap_clear(&tracker->metric_at);
    bit_set_dispose(&tracker->complete);
    self->tracked_bytes -= tracker->bytes;
    tracker->bytes = 0;
}

void sql_tracker_restart(struct sql_model *self, struct sql_tracker *tracker, int64_t attempt)
{
    forget(self, tracker);
    tracker->attempt = attempt;
}

void sql_tracker_free(struct sql_model *self, struct sql_tracker *tracker)
{
    if (!tracker)
        return;
    forget(self, tracker);
    mem_free(tracker->metrics);
    imap_dispose(&tracker->metric_at);
    mem_free(tracker);
}

/* Tasks of a stage report the same metrics in the same order: where the last one was found, the next one follows. */
static struct sql_tracked *tracked_find(struct sql_tracker *self, int64_t accumulator_id)
{
    size_t at = self->next;
    if (at >= self->metric_count || self->metrics[at].accumulator_id != accumulator_id) {
        at = (size_t)(intptr_t)imap_get(&self->metric_at, accumulator_id);
        if (!at--)
            return NULL;
    }
    self->next = at + 1 < self->metric_count ? at + 1 : 0;
    return self->metrics + at;
}

static struct sql_tracked *tracked_new(struct sql_tracker *self, const struct accumulator_update *first, int64_t task_id)
{
    if (mem_grow((void **)&self->metrics, &self->metric_capacity, self->metric_count + 1, MODEL_MAX_ENTITIES, sizeof *self->metrics) ||
        imap_put(&self->metric_at, first->id, (void *)(intptr_t)(self->metric_count + 1)))
        return NULL;
    struct sql_tracked *tracked = self->metrics + self->metric_count++;
    *tracked = (struct sql_tracked){
        .accumulator_id = first->id, .values.length = known_or(self->task_count, BIT_SET_MAX), .max = first->value, .max_task_id = task_id,
    };
    return tracked;
}

enum err_code sql_check_bytes(const struct sql_model *self, struct err *err)
{
    return self->tracked_bytes > SQL_TRACKED_MAX_BYTES ? err_set(err, ERR_LIMIT, "running queries need more than %zu bytes", SQL_TRACKED_MAX_BYTES) : ERR_OK;
}

enum err_code sql_track(struct sql_model *self, struct sql_tracker *tracker, const struct sql_task *task, const struct accumulator_update_list *updates, struct err *err)
{
    int64_t index = task->index;
    if (index < 0 || index >= MIN(known_or(tracker->task_count, BIT_SET_MAX), BIT_SET_MAX) || bit_set_has(&tracker->complete, index))
        return ERR_OK;
    size_t before = tracker->bytes;
    for (size_t i = 0; i < updates->count; i++) {
        const struct accumulator_update *update = updates->items + i;
        struct sql_tracked *tracked = tracked_find(tracker, update->id);
        if (!tracked) {
            if (!imap_get(&tracker->execution->metric_at, update->id))
                continue;
            if (!(tracked = tracked_new(tracker, update, task->task_id)))
                return err_nomem(err);
        }
        if (update->value > tracked->max) {
            tracked->max = update->value;
            tracked->max_task_id = task->task_id;
        }
        if (value_array_set(&tracked->values, index, update->value, &tracker->bytes))
            return err_nomem(err);
    }
    self->tracked_bytes += tracker->bytes - before;
    enum err_code rc = sql_check_bytes(self, err);
    if (rc)
        return rc;
    return task->succeeded && bit_set_add(&tracker->complete, index) < 0 ? err_nomem(err) : ERR_OK;
}

/* ---- what the driver reports */

/* Signed numbers as those of value_array.c, seven bits in a byte, the lowest first; all bytes but the last have the highest bit. */
#define PACKED_NUMBER_MAX_BYTES ((size_t)10)

static size_t pack_number(unsigned char *out, int64_t number)
{
    size_t len = 0;
    uint64_t rest = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    for (; rest >= 128; rest >>= 7)
        out[len++] = (unsigned char)(rest | 128);
    out[len++] = (unsigned char)rest;
    return len;
}

static int64_t unpack_number(const unsigned char **at)
{
    uint64_t code = 0;
    unsigned shift = 0;
    for (; **at & 128; shift += 7)
        code |= (uint64_t)(*(*at)++ & 127) << shift;
    code |= (uint64_t)*(*at)++ << shift;
    return (int64_t)(code >> 1 ^ (code & 1 ? UINT64_MAX : 0));
}

enum err_code sql_keep_updates(struct sql_execution *execution, const struct accumulator_update_list *updates, struct err *err)
{
    for (size_t i = 0; i < updates->count; i++) {
        if (mem_grow((void **)&execution->updates, &execution->update_capacity, execution->update_bytes + 2 * PACKED_NUMBER_MAX_BYTES, SQL_TRACKED_MAX_BYTES, 1))
            return err_nomem(err);
        execution->update_bytes += pack_number(execution->updates + execution->update_bytes, updates->items[i].id);
        execution->update_bytes += pack_number(execution->updates + execution->update_bytes, updates->items[i].value);
    }
    execution->update_count += updates->count;
    return ERR_OK;
}

/* ---- what it comes to */

static unsigned digit_of(int64_t key, unsigned shift)
{
    uint32_t h = (uint32_t)key;
    h += ~(h << 9);
    h ^= h >> 14;
    h += h << 4;
    h ^= h >> 10;
    return h >> shift & 31;
}

/* One level of the hash trie: keys alone in their slot first, then the slots with several, each by the next digit. Seven levels use up the hash. */
static void order_level(int64_t *keys, int64_t *room, size_t count, unsigned shift)
{
    size_t sizes[32] = {0}, at[32], next = 0;
    if (shift >= 32)
        return;
    for (size_t i = 0; i < count; i++)
        sizes[digit_of(keys[i], shift)]++;
    for (unsigned d = 0; d < 32; d++)
        if (sizes[d] == 1)
            at[d] = next++;
    size_t groups = next;
    for (unsigned d = 0; d < 32; d++)
        if (sizes[d] > 1) {
            at[d] = next;
            next += sizes[d];
        }
    for (size_t i = 0; i < count; i++)
        room[at[digit_of(keys[i], shift)]++] = keys[i];
    memcpy(keys, room, count * sizeof *keys);
    for (unsigned d = 0; d < 32; d++)
        if (sizes[d] > 1) {
            order_level(keys + groups, room, sizes[d], shift + 5);
            groups += sizes[d];
        }
}

void sql_set_order(int64_t *keys, int64_t *room, size_t count)
{
    if (count > 4)
        order_level(keys, room, count, 0);
}

/* What one stage, or the driver (tracker NULL), says of one metric. */
struct source {
    size_t metric;
    const struct sql_tracker *tracker;
    int64_t stage_id;
    const struct sql_tracked *tracked;
    const int64_t *values;           /* of the driver */
    size_t value_count;
};

struct adding {
    struct source *sources;
    size_t count, capacity;
    int64_t *values;
    size_t value_capacity;
    int64_t *driver_values;          /* by metric */
};

static enum err_code add_source(struct adding *self, struct source source, struct err *err)
{
    if (mem_grow((void **)&self->sources, &self->capacity, self->count + 1, SIZE_MAX / sizeof *self->sources, sizeof *self->sources))
        return err_nomem(err);
    self->sources[self->count++] = source;
    return ERR_OK;
}

static enum err_code collect_stages(struct adding *self, const struct sql_model *model, const struct sql_execution *execution, struct err *err)
{
    size_t count = execution->stages.count;
    CLEANUP(mem_freep) int64_t *order = mem_array(2 * count + 1, sizeof *order);
    if (!order)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        order[i] = execution->stages.entries[i].key;
    sql_set_order(order, order + count, count);
    for (size_t i = 0; i < count; i++) {
        const struct sql_stage *stage = imap_get(&model->stages, order[i]);
        const struct sql_tracker *tracker = stage ? stage->tracker : NULL;
        for (size_t m = 0; tracker && m < tracker->metric_count; m++) {
            size_t at = (size_t)(intptr_t)imap_get(&execution->metric_at, tracker->metrics[m].accumulator_id);
            enum err_code rc = at ? add_source(self, (struct source){.metric = at - 1, .tracker = tracker, .stage_id = order[i], .tracked = &tracker->metrics[m]}, err) : ERR_OK;
            if (rc)
                return rc;
        }
    }
    return ERR_OK;
}

/* The driver's values, one source for each metric that has any. */
static enum err_code collect_driver(struct adding *self, const struct sql_execution *execution, struct err *err)
{
    CLEANUP(mem_freep) size_t *ends = mem_array(execution->metric_count + 1, sizeof *ends);      /* [m]: where the values of metric m begin, in the end where they end */
    if (!execution->update_count)
        return ERR_OK;
    const unsigned char *end = execution->updates + execution->update_bytes;
    if (!ends || !(self->driver_values = mem_array(execution->update_count, sizeof *self->driver_values)))
        return err_nomem(err);
    for (const unsigned char *at = execution->updates; at < end; unpack_number(&at)) {
        size_t metric = (size_t)(intptr_t)imap_get(&execution->metric_at, unpack_number(&at));
        if (metric)
            ends[metric]++;
    }
    for (size_t m = 1; m <= execution->metric_count; m++)
        ends[m] += ends[m - 1];
    for (const unsigned char *at = execution->updates; at < end;) {
        size_t metric = (size_t)(intptr_t)imap_get(&execution->metric_at, unpack_number(&at));
        int64_t value = unpack_number(&at);
        if (metric)
            self->driver_values[ends[metric - 1]++] = value;
    }
    enum err_code rc = ERR_OK;
    for (size_t m = 0, from = 0; m < execution->metric_count && !rc; from = ends[m++])
        if (ends[m] > from)
            rc = add_source(self, (struct source){.metric = m, .values = self->driver_values + from, .value_count = ends[m] - from}, err);
    return rc;
}

/* By metric; those of one metric stay in their order. */
static enum err_code sort_sources(struct adding *self, size_t metric_count, struct err *err)
{
    CLEANUP(mem_freep) size_t *next = mem_array(metric_count + 1, sizeof *next);
    struct source *sorted = mem_array(self->count + 1, sizeof *sorted);
    if (!next || !sorted) {
        mem_free(sorted);
        return err_nomem(err);
    }
    for (size_t i = 0; i < self->count; i++)
        next[self->sources[i].metric + 1]++;
    for (size_t m = 1; m < metric_count; m++)
        next[m] += next[m - 1];
    for (size_t i = 0; i < self->count; i++)
        sorted[next[self->sources[i].metric]++] = self->sources[i];
    mem_free(self->sources);
    self->sources = sorted;
    return ERR_OK;
}

static bool counts(enum sql_metric_kind kind, int64_t value)
{
    return kind == SQL_SIZE_OR_TIMING ? value >= 0 : kind == SQL_AVERAGE ? value > 0 : true;
}

/* `values`: those reported, `zeros` those of tasks that reported none. */
static void sum_up(struct sql_metric *metric, int64_t *values, size_t count, int64_t zeros)
{
    size_t kept = 0;
    int64_t negative = 0, total = 0, min = INT64_MAX, max = INT64_MIN;
    bool has_unset = metric->kind == SQL_SIZE_OR_TIMING || metric->kind == SQL_AVERAGE;
    metric->raw_count = (int64_t)count + zeros;
    metric->reported_count = 0;
    for (size_t i = 0; i < count; i++) {
        metric->reported_count += !has_unset || values[i] >= 0;
        if (!counts(metric->kind, values[i]))
            continue;
        total = add_known(total, values[i]);
        min = MIN(min, values[i]);
        max = MAX(max, values[i]);
        negative += values[i] < 0;
        values[kept++] = values[i];
    }
    if (!counts(metric->kind, 0))
        zeros = 0;
    metric->value_count = (int64_t)kept + zeros;
    metric->total = total;
    if (!metric->value_count)
        return;
    metric->min = zeros ? MIN(min, 0) : min;
    metric->max = zeros ? MAX(max, 0) : max;
    int64_t middle = metric->value_count / 2;
    if (middle >= negative && middle < negative + zeros) {
        metric->median = 0;
        return;
    }
    size_t nth = (size_t)(middle < negative ? middle : middle - zeros);
    select_nth(values, kept, nth);
    metric->median = values[nth];
}

static enum err_code add_metric(struct adding *self, struct sql_metric *metric, const struct source *sources, size_t count, struct err *err)
{
    size_t room = 0, filled = 0;
    int64_t zeros = 0, max = UNKNOWN;
    for (size_t i = 0; i < count; i++)
        room += sources[i].tracked ? sources[i].tracked->values.set_count : sources[i].value_count;
    if (mem_grow((void **)&self->values, &self->value_capacity, room, SIZE_MAX / sizeof *self->values, sizeof *self->values))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct source *source = sources + i;
        if (!source->tracked) {
            for (size_t v = 0; v < source->value_count; v++) {
                self->values[filled++] = source->values[v];
                if (known(metric->max_stage_id) && max < source->values[v])
                    metric->max_stage_id = metric->max_stage_attempt = metric->max_task_id = UNKNOWN;
            }
            continue;
        }
        size_t reported = value_array_gather(&source->tracked->values, self->values + filled);
        filled += reported;
        zeros += known_or(source->tracker->task_count, (int64_t)reported) - (int64_t)reported;
        if (metric->kind != SQL_SUM && (!known(max) || source->tracked->max > max)) {
            max = source->tracked->max;
            metric->max_stage_id = source->stage_id;
            metric->max_stage_attempt = source->tracker->attempt;
            metric->max_task_id = source->tracked->max_task_id;
        }
    }
    sum_up(metric, self->values, filled, zeros);
    return ERR_OK;
}

enum err_code sql_aggregate(struct sql_model *model, struct sql_execution *execution, struct err *err)
{
    struct adding self = {0};
    enum err_code rc = collect_stages(&self, model, execution, err);
    if (!rc)
        rc = collect_driver(&self, execution, err);
    if (!rc)
        rc = sort_sources(&self, execution->metric_count, err);
    for (size_t i = 0; i < execution->metric_count; i++)
        no_numbers(execution->metrics + i);
    for (size_t from = 0, to = 0; from < self.count && !rc; from = to) {
        while (to < self.count && self.sources[to].metric == self.sources[from].metric)
            to++;
        rc = add_metric(&self, execution->metrics + self.sources[from].metric, self.sources + from, to - from, err);
    }
    mem_free(self.sources);
    mem_free(self.values);
    mem_free(self.driver_values);
    execution->metrics_dirty = true;
    return rc;
}
