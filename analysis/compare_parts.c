/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the difference of two wall times comes from (spec/findings.md 9.4). Whole milliseconds from begin to end: each step takes a part of what is left and never more, so the parts sum
 * to the difference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/fingerprint.h"
#include "base/attributes.h"
#include "base/mem.h"

#define MATCHED_ENOUGH 0.80 /* share of task time below which two runs are different programs */
#define SAME_DATA 0.05      /* ratios of data nearer to 1 say nothing */
#define SLOWER_ROWS 1.10    /* processor time a record from which rows are slower */
#define NAMED_GAP 0.5       /* of a class of gaps: one that explains so much of it is named */
#define SMALL_SHARE 0.01    /* parts below both are told as one */
#define SMALL_MS 500
#define PARTLY_KNOWN 0.30

const char *const compare_part_names[COMPARE_PART_KIND_COUNT] = {
#define X(id, name) [COMPARE_##id] = name,
    COMPARE_PARTS(X)
#undef X
};
const char *const plan_change_names[PLAN_CHANGE_COUNT] = {"same", "broadcast_lost", "broadcast_gained", "join", "exchanges", "adaptive", "other"};

/* --- parts */

struct parts {
    struct compare_part *items; /* owned; grows: one a kind, and one a new or removed stage's name, query change or class of gaps */
    size_t count, capacity;
    bool out_of_memory;
};

#define PARTS_MAX ((size_t)4096)
#define NAMED_STAGES ((size_t)1000) /* names of new and removed stages that are told apart; the others are together */

/* The part of this kind and name, made when missing; NULL: out of memory. */
static struct compare_part *part_of(struct parts *self, enum compare_part_kind kind, int detail, struct str name)
{
    bool by_name = kind == COMPARE_NEW_STAGE || kind == COMPARE_REMOVED_STAGE;
    if (by_name && self->count >= NAMED_STAGES)
        name = STR_NONE;
    for (size_t i = 0; i < self->count; i++) {
        struct compare_part *part = &self->items[i];
        if (part->kind == kind && (kind != COMPARE_DRIVER || (int)part->gap == detail) && (kind != COMPARE_PLAN || (int)part->change == detail) &&
            (!by_name || str_eq(part->what, name)))
            return part;
    }
    if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, PARTS_MAX, sizeof *self->items)) {
        self->out_of_memory = true;
        return NULL;
    }
    struct compare_part *part = &self->items[self->count++];
    *part = (struct compare_part){.kind = kind, .what = name, .base_id = UNKNOWN, .new_id = UNKNOWN, .before = (double)NAN, .after = (double)NAN, .unit = "ms"};
    if (kind == COMPARE_DRIVER)
        part->gap = (enum bucket)detail;
    if (kind == COMPARE_PLAN)
        part->change = (enum plan_change)detail;
    return part;
}

static struct compare_part *add(struct parts *self, enum compare_part_kind kind, int64_t ms)
{
    struct compare_part *part = ms ? part_of(self, kind, 0, STR_NONE) : NULL;
    if (part)
        part->ms += ms;
    return part;
}

/* What of a stage's difference goes to one cause: never more than is left, never against its sign. */
static int64_t take(int64_t *left_ms, double wanted_ms)
{
    double taken = isnan(wanted_ms) ? 0 : *left_ms > 0 ? fmin((double)*left_ms, fmax(wanted_ms, 0)) : fmax((double)*left_ms, fmin(wanted_ms, 0));
    int64_t ms = llround(taken);
    ms = *left_ms > 0 ? MIN(ms, *left_ms) : MAX(ms, *left_ms);
    *left_ms -= ms;
    return ms;
}

/* A cause with the stage it is largest in. */
static void add_of_stage(struct parts *self, enum compare_part_kind kind, int64_t ms, const struct run_stage *base, const struct run_stage *new_run, double before, double after,
                         const char *unit)
{
    struct compare_part *part = add(self, kind, ms);
    if (!part)
        return;
    part->count++;
    if (llabs(ms) <= llabs(part->largest_ms))
        return;
    part->largest_ms = ms;
    part->what = new_run->name;
    part->base_id = base->stage_id;
    part->new_id = new_run->stage_id;
    part->before = before;
    part->after = after;
    part->unit = unit;
}

/* --- plans */

static bool is_join(struct str name)
{
    return str_ends(name, "Join") || str_is(name, "CartesianProduct");
}

static bool is_broadcast(struct str name)
{
    return str_is(name, "BroadcastHashJoin") || str_is(name, "BroadcastNestedLoopJoin");
}

/* Photon's, RAPIDS' and Comet's exchanges are called after Spark's. */
static bool is_exchange(struct str name)
{
    return str_ends(name, "Exchange") && !str_starts(name, "Broadcast") && !str_starts(name, "GpuBroadcast") && !str_starts(name, "Reused");
}

static bool is_adaptive(struct str name)
{
    return str_is(name, "AQEShuffleRead") || str_is(name, "CustomShuffleReader") || str_is(name, "AdaptiveSparkPlan");
}

static int64_t count_of(const struct run_operator *operators, size_t count, bool (*kind)(struct str))
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += kind(operators[i].name) ? operators[i].count : 0;
    return sum;
}

static bool operators_equal(const struct run_operator *a, size_t a_count, const struct run_operator *b, size_t b_count, bool (*kind)(struct str))
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a_count && kind && !kind(a[i].name))
            i++;
        while (k < b_count && kind && !kind(b[k].name))
            k++;
        if (i == a_count || k == b_count)
            return i == a_count && k == b_count;
        if (!str_eq(a[i].name, b[k].name) || a[i].count != b[k].count)
            return false;
    }
}

enum plan_change plan_compare(const struct run_operator *base, size_t base_count, const struct run_operator *new_run, size_t new_count, int64_t *ret_before, int64_t *ret_after)
{
    if (operators_equal(base, base_count, new_run, new_count, NULL))
        return PLAN_SAME;
    *ret_before = count_of(base, base_count, is_broadcast);
    *ret_after = count_of(new_run, new_count, is_broadcast);
    if (*ret_before != *ret_after)
        return *ret_before > *ret_after ? PLAN_BROADCAST_LOST : PLAN_BROADCAST_GAINED;
    *ret_before = count_of(base, base_count, is_join);
    *ret_after = count_of(new_run, new_count, is_join);
    if (!operators_equal(base, base_count, new_run, new_count, is_join))
        return PLAN_JOIN;
    *ret_before = count_of(base, base_count, is_exchange);
    *ret_after = count_of(new_run, new_count, is_exchange);
    if (*ret_before != *ret_after)
        return PLAN_EXCHANGES;
    *ret_before = count_of(base, base_count, is_adaptive);
    *ret_after = count_of(new_run, new_count, is_adaptive);
    return *ret_before != *ret_after ? PLAN_ADAPTIVE : PLAN_OTHER;
}

/* A query of both runs whose plan is another one now. */
struct changed_query {
    enum plan_change change;                              /* PLAN_SAME: not changed */
    int64_t before, after;                                /* operators that tell */
    int64_t base_ms, new_ms, base_queue_ms, new_queue_ms; /* of its stages on the critical chain */
};

struct step {
    struct comparison *self;
    const struct run_match *match;
    struct parts parts;
    struct changed_query *queries; /* by position of the base's query; owned */
    double slots_before, slots_after;
};

static enum err_code find_changes(struct step *step, struct db *base_db, struct db *new_db, struct err *err)
{
    struct run_record *base = &step->self->base, *new_run = &step->self->new_run;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < base->query_count && !rc; i++) {
        uint32_t other = step->match->query_in_new[i];
        struct run_operator *before = NULL, *after = NULL;
        size_t before_count = 0, after_count = 0;
        if (other == NO_MATCH || base->queries[i].final == new_run->queries[other].final || !known(base->queries[i].plan_id) || !known(new_run->queries[other].plan_id))
            continue;
        if (!(rc = run_plan_load(base, base_db, base->queries[i].plan_id, &before, &before_count, err)) &&
            !(rc = run_plan_load(new_run, new_db, new_run->queries[other].plan_id, &after, &after_count, err)))
            step->queries[i].change = plan_compare(before, before_count, after, after_count, &step->queries[i].before, &step->queries[i].after);
    }
    return rc;
}

/* The changed query that a stage belongs to; NULL: none. */
static struct changed_query *changed_of(const struct step *step, const struct run_stage *stage, bool in_new)
{
    uint32_t query = run_query_of(in_new ? &step->self->new_run : &step->self->base, stage);
    if (query != NO_MATCH && in_new)
        query = step->match->query_in_base[query];
    return query != NO_MATCH && step->queries[query].change != PLAN_SAME ? &step->queries[query] : NULL;
}

static double share_of(int64_t part_ms, int64_t all_ms)
{
    return all_ms > 0 ? fmin(fmax((double)part_ms / (double)all_ms, 0), 1) : 0;
}

/* What fewer slots make of time that was spent in a queue for them; of both runs the queue that is longer, for where there was one slot each there was none. */
static double slots_cost(const struct step *step, int64_t base_ms, double base_queue_share, double new_queue_share)
{
    if (!(step->slots_before > 0) || !(step->slots_after > 0))
        return (double)NAN;
    return (double)base_ms * (step->slots_before / step->slots_after - 1) * fmax(base_queue_share, new_queue_share);
}

/* Its slots first: fewer of them make any plan slower, and are no fault of this one. */
static int64_t explain_queries(struct step *step)
{
    struct run_record *base = &step->self->base, *new_run = &step->self->new_run;
    int64_t sum = 0;
    for (size_t i = 0; i < base->query_count; i++) {
        struct changed_query *query = &step->queries[i];
        if (query->change == PLAN_SAME)
            continue;
        const struct run_query *other = &new_run->queries[step->match->query_in_new[i]];
        int64_t left = query->new_ms - query->base_ms;
        sum += left;
        int64_t slots = take(&left, slots_cost(step, query->base_ms, share_of(query->base_queue_ms, query->base_ms), share_of(query->new_queue_ms, query->new_ms)));
        struct compare_part *part = add(&step->parts, COMPARE_SLOTS, slots);
        if (part) {
            part->count++;
            part->before = step->slots_before;
            part->after = step->slots_after;
            part->unit = "slots";
        }
        part = left ? part_of(&step->parts, COMPARE_PLAN, (int)query->change, STR_NONE) : NULL;
        if (!part)
            continue;
        part->ms += left;
        part->before = isnan(part->before) ? (double)query->before : part->before + (double)query->before;
        part->after = isnan(part->after) ? (double)query->after : part->after + (double)query->after;
        part->unit = "count";
        part->count++;
        if (llabs(left) > llabs(part->largest_ms)) {
            part->largest_ms = left;
            part->what = other->description;
            part->base_id = base->queries[i].execution_id;
            part->new_id = other->execution_id;
        }
    }
    return sum;
}

/* --- stages */

static double data_of(const struct run_stage *base, const struct run_stage *new_run, const struct run_stage *which, const char **ret_unit)
{
    bool by_bytes = base->bytes > 0 && new_run->bytes > 0;
    *ret_unit = by_bytes ? "bytes" : "records";
    return by_bytes ? which->bytes : which->records;
}

static void explain_stage(struct step *step, const struct run_stage *base, const struct run_stage *new_run, int64_t left)
{
    static const enum compare_part_kind kinds[RUN_PART_COUNT] = {COMPARE_GC, COMPARE_FETCH, COMPARE_SPILL, COMPARE_DELAY, COMPARE_DESER, COMPARE_PYTHON};
    struct parts *parts = &step->parts;
    const char *unit;
    double before = data_of(base, new_run, base, &unit), after = data_of(base, new_run, new_run, &unit), ratio = before > 0 ? after / before : (double)NAN;
    if (fabs(ratio - 1) >= SAME_DATA)
        add_of_stage(parts, COMPARE_DATA, take(&left, (double)base->chain_ms * (ratio - 1)), base, new_run, before, after, unit);
    add_of_stage(parts, COMPARE_SLOTS, take(&left, slots_cost(step, base->chain_ms, share_of(base->queue_ms, base->chain_ms), share_of(new_run->queue_ms, new_run->chain_ms))),
                 base, new_run, step->slots_before, step->slots_after, "slots");
    add_of_stage(parts, COMPARE_SKEW, take(&left, new_run->rec_cap_ms - base->rec_cap_ms), base, new_run, base->rec_cap_ms, new_run->rec_cap_ms, "ms");
    for (int i = 0; i < RUN_PART_COUNT; i++) {
        if (!base->task_count || !new_run->task_count)
            break;
        double base_mean = base->part_ms[i] / (double)base->task_count, new_mean = new_run->part_ms[i] / (double)new_run->task_count;
        add_of_stage(parts, kinds[i], take(&left, (new_mean - base_mean) * (double)new_run->task_count / fmax(new_run->slots, 1)), base, new_run, base_mean, new_mean, "ms");
    }
    before = base->records > 0 ? base->cpu_ms * 1e6 / base->records : (double)NAN; /* a million records */
    after = new_run->records > 0 ? new_run->cpu_ms * 1e6 / new_run->records : (double)NAN;
    if (left > 0 && before > 0 && after >= SLOWER_ROWS * before)
        add_of_stage(parts, COMPARE_SLOWER_ROWS, left, base, new_run, before, after, "ms");
    else
        add(parts, COMPARE_UNEXPLAINED, left);
}

/* What lost work costs more, taken from the stages in which work was lost. */
static void explain_lost(struct step *step, int64_t *differences)
{
    struct run_record *base = &step->self->base, *new_run = &step->self->new_run;
    if (!known(base->lost_ms) || !known(new_run->lost_ms))
        return;
    int64_t left = new_run->lost_ms - base->lost_ms;
    for (size_t i = 0; i < base->stage_count && left; i++) {
        uint32_t other = step->match->stage_in_new[i];
        if (other == NO_MATCH || !(base->stages[i].lost_count || new_run->stages[other].lost_count))
            continue;
        int64_t taken = take(&differences[i], (double)left);
        left -= taken;
        add_of_stage(&step->parts, COMPARE_LOST, taken, &base->stages[i], &new_run->stages[other], (double)base->stages[i].lost_count, (double)new_run->stages[other].lost_count,
                     "count");
    }
}

static void add_alone(struct step *step, const struct run_stage *stage, bool in_new)
{
    if (!stage->chain_ms)
        return;
    struct compare_part *part = part_of(&step->parts, in_new ? COMPARE_NEW_STAGE : COMPARE_REMOVED_STAGE, 0, call_site_verb(stage->name));
    if (!part)
        return;
    part->ms += in_new ? stage->chain_ms : -stage->chain_ms;
    part->count++;
    if (stage->chain_ms > part->largest_ms) {
        part->largest_ms = stage->chain_ms;
        *(in_new ? &part->new_id : &part->base_id) = stage->stage_id;
    }
}

/* Both runs have it, outside of queries that changed. */
static bool is_common(const struct step *step, size_t i)
{
    uint32_t other = step->match->stage_in_new[i];
    return other != NO_MATCH && !changed_of(step, &step->self->base.stages[i], false) && !changed_of(step, &step->self->new_run.stages[other], true);
}

/* Returns what all stages together explain of the jobs' time. A stage of a changed query is its query's. */
static enum err_code explain_stages(struct step *step, int64_t *ret_sum, struct err *err)
{
    struct run_record *base = &step->self->base, *new_run = &step->self->new_run;
    CLEANUP(mem_freep) int64_t *differences = mem_array(base->stage_count + 1, sizeof *differences);
    if (!differences)
        return err_nomem(err);
    int64_t sum = 0;
    for (size_t i = 0; i < base->stage_count; i++) {
        const struct run_stage *stage = &base->stages[i];
        struct changed_query *query = changed_of(step, stage, false);
        if (query) {
            query->base_ms += stage->chain_ms;
            query->base_queue_ms += stage->queue_ms;
        } else if (is_common(step, i)) {
            differences[i] = new_run->stages[step->match->stage_in_new[i]].chain_ms - stage->chain_ms;
            sum += differences[i];
        } else {
            sum -= stage->chain_ms;
            add_alone(step, stage, false);
        }
    }
    for (size_t i = 0; i < new_run->stage_count; i++) {
        const struct run_stage *stage = &new_run->stages[i];
        struct changed_query *query = changed_of(step, stage, true);
        uint32_t other = step->match->stage_in_base[i];
        if (query) {
            query->new_ms += stage->chain_ms;
            query->new_queue_ms += stage->queue_ms;
        } else if (other == NO_MATCH || !is_common(step, other)) {
            sum += stage->chain_ms;
            add_alone(step, stage, true);
        }
    }
    explain_lost(step, differences);
    sum += explain_queries(step);
    for (size_t i = 0; i < base->stage_count; i++)
        if (differences[i])
            explain_stage(step, &base->stages[i], &new_run->stages[step->match->stage_in_new[i]], differences[i]);
    *ret_sum = sum;
    return ERR_OK;
}

/* --- outside of jobs */

static void add_bucket(struct step *step, enum compare_part_kind kind, enum bucket bucket, int64_t *left)
{
    const struct run_record *base = &step->self->base, *new_run = &step->self->new_run;
    int64_t before = base->bucket_ms[bucket], after = new_run->bucket_ms[bucket], ms = after - before;
    *left -= ms;
    struct compare_part *part = ms ? part_of(&step->parts, kind, (int)bucket, STR_NONE) : NULL;
    if (!part)
        return;
    part->ms += ms;
    part->before = isnan(part->before) ? (double)before : part->before + (double)before;
    part->after = isnan(part->after) ? (double)after : part->after + (double)after;
    if (kind != COMPARE_DRIVER)
        return;
    /* One gap that explains most of it has a name: the job it came before, or the one it came after. */
    const struct run_gap *longer = &(ms > 0 ? new_run : base)->gaps[bucket], *shorter = &(ms > 0 ? base : new_run)->gaps[bucket];
    if ((double)(longer->ms - shorter->ms) >= NAMED_GAP * (double)llabs(ms))
        part->what = str_known(longer->before) ? longer->before : longer->after;
}

static const struct {
    enum compare_part_kind kind;
    enum bucket bucket;
} outside[] = {
    {COMPARE_STARTUP, BUCKET_STARTUP},   {COMPARE_STARTUP, BUCKET_GAP_STARTUP}, {COMPARE_WAIT_EXEC, BUCKET_WAIT_EXEC}, {COMPARE_DRIVER, BUCKET_GAP_SQL},
    {COMPARE_DRIVER, BUCKET_GAP_STREAM}, {COMPARE_DRIVER, BUCKET_GAP_SERVER},   {COMPARE_DRIVER, BUCKET_GAP_USER},     {COMPARE_SHUTDOWN, BUCKET_GAP_SHUTDOWN},
};

/* --- the end */

static int by_size(const void *a, const void *b)
{
    const struct compare_part *x = a, *y = b;
    bool x_last = x->kind >= COMPARE_UNEXPLAINED, y_last = y->kind >= COMPARE_UNEXPLAINED;
    if (x_last != y_last)
        return x_last ? 1 : -1;
    if (llabs(x->ms) != llabs(y->ms))
        return llabs(x->ms) > llabs(y->ms) ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void fold(struct step *step)
{
    struct comparison *self = step->self;
    struct parts *parts = &step->parts;
    int64_t small = MAX((int64_t)(SMALL_SHARE * (double)llabs(self->delta_ms)), SMALL_MS), other = 0;
    size_t kept = 0;
    self->part_count = 0;
    if (parts->count)
        qsort(parts->items, parts->count, sizeof *parts->items, by_size);
    for (size_t i = 0; i < parts->count; i++) {
        const struct compare_part *part = &parts->items[i];
        if (part->ms == 0)
            continue;
        if (part->kind == COMPARE_UNEXPLAINED && llabs(part->ms) >= small)
            self->partly_known = (double)llabs(part->ms) > PARTLY_KNOWN * (double)llabs(self->delta_ms);
        if (llabs(part->ms) >= small && kept + 2 < COMPARE_MAX_PARTS)
            self->parts[kept++] = *part;
        else
            other += part->ms;
    }
    if (other)
        self->parts[kept++] =
            (struct compare_part){.kind = COMPARE_OTHER, .ms = other, .base_id = UNKNOWN, .new_id = UNKNOWN, .before = (double)NAN, .after = (double)NAN, .unit = "ms"};
    self->part_count = kept;
}

void compare_noise(struct comparison *self)
{
    for (size_t i = 0; i < self->part_count; i++) {
        struct compare_part *part = &self->parts[i];
        double allowed = 0;
        for (size_t k = 0; k < ARRAY_LENGTH(outside); k++) {
            const struct noise *noise = &self->metrics[RUN_BUCKETS + outside[k].bucket];
            if (outside[k].kind == part->kind && (part->kind != COMPARE_DRIVER || part->gap == outside[k].bucket) && noise->count >= BASELINE_FEWEST)
                allowed += noise->allowed;
        }
        part->noise_ms = allowed > 0 ? allowed : self->wall.allowed;
    }
}

enum err_code compare_decompose(struct comparison *self, const struct run_match *match, struct db *base, struct db *new_run, struct err *err)
{
    struct step step = {.self = self,
                        .match = match,
                        .queries = mem_array(self->base.query_count + 1, sizeof *step.queries),
                        .slots_before = (double)self->base.slot_peak,
                        .slots_after = (double)self->new_run.slot_peak};
    int64_t left = self->new_run.wall_ms - self->base.wall_ms, stages = 0;
    enum err_code rc = step.queries ? ERR_OK : err_nomem(err);
    for (size_t i = 0; i < ARRAY_LENGTH(outside) && !rc; i++)
        add_bucket(&step, outside[i].kind, outside[i].bucket, &left);
    self->matched_share = match->share;
    self->code_changed = match->share < MATCHED_ENOUGH;
    if (!rc && self->code_changed)
        add(&step.parts, COMPARE_CODE, left);
    else if (!rc && !(rc = find_changes(&step, base, new_run, err)) && !(rc = explain_stages(&step, &stages, err)))
        add(&step.parts, COMPARE_UNEXPLAINED, left - stages);
    if (!rc)
        add(&step.parts, COMPARE_UNEXPLAINED, self->base.wall_ms - self->usual_ms); /* the reference is not quite what is usual */
    if (!rc && step.parts.out_of_memory)
        rc = err_nomem(err);
    if (!rc)
        fold(&step);
    mem_free(step.parts.items);
    mem_free(step.queries);
    return rc;
}
