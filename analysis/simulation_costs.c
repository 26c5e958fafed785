/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "base/attributes.h"
#include "base/mem.h"

/* A node of more items than this is run in blocks of consecutive ones, but for its largest (6.3). */
#define BLOCK_FROM ((size_t)100000)
#define SINGLE_ITEMS ((size_t)1000)
/* A block must stay a small part of what a slot does in the stage. */
#define WAVES_AT_LEAST 20
/* More pieces than this of one node are not told apart: nothing has so many slots. */
#define SPLIT_PIECES ((size_t)1000000)

static const struct attempt *attempt_of(const struct simulation *sim, const struct sim_work *work, size_t i)
{
    return &sim->facts->attempts[work->attempt ? work->attempt[i] : work->first_attempt + i];
}

static bool is_winner(const struct simulation *sim, const struct sim_work *work, size_t i)
{
    return attempt_of(sim, work, i)->kind == WINNER;
}

struct sim_work sim_work_of(const struct simulation *sim, const struct sim_node *node)
{
    const struct stage_fact *stage = &sim->facts->stages[node->stage];
    return (struct sim_work){.first_attempt = stage->first_attempt, .count = stage->attempt_count};
}

/* For changes that leave some out. */
static enum err_code own_attempts(struct sim_work *work, struct err *err)
{
    if (work->attempt)
        return ERR_OK;
    if (!(work->attempt = mem_alloc((work->count + 1) * sizeof *work->attempt)))
        return err_nomem(err);
    for (size_t i = 0; i < work->count; i++)
        work->attempt[i] = (uint32_t)(work->first_attempt + i);
    return ERR_OK;
}

/* For changes that treat them differently. */
static enum err_code own_costs(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, struct err *err)
{
    if (work->cost_ms)
        return ERR_OK;
    if (!(work->cost_ms = mem_alloc((work->count + 1) * sizeof *work->cost_ms)))
        return err_nomem(err);
    for (size_t i = 0; i < work->count; i++)
        work->cost_ms[i] = work->nothing ? 0 : (double)attempt_occupancy_ms(attempt_of(sim, work, i)) + node->gap_ms - work->less_ms;
    work->less_ms = 0;
    work->nothing = false;
    return ERR_OK;
}

void sim_work_dispose(struct sim_work *self)
{
    mem_free(self->cost_ms);
    mem_free(self->attempt);
    *self = (struct sim_work){0};
}

/* --- changes --- */

/* A quantile of costs. */
static enum err_code quantile(const double *values, size_t count, double q, double *ret, struct err *err)
{
    int64_t *scratch = mem_alloc((count + 1) * sizeof *scratch);
    if (!scratch)
        return err_nomem(err);
    *ret = quantile_of(values, count, q, scratch);
    mem_free(scratch);
    return ERR_OK;
}

/* W1, W2: what winners do beyond 1.5 × p75 is cut off, and spread over them all. The first wave, where it is apart, beyond 1.5 × its own median. */
static enum err_code cap(const struct simulation *sim, struct sim_work *work, const struct change *change, struct err *err)
{
    CLEANUP(mem_freep) double *costs = mem_alloc((2 * work->count + 1) * sizeof *costs);
    CLEANUP(mem_freep) bool *wins = mem_alloc(work->count + 1);
    if (!costs || !wins)
        return err_nomem(err);
    double *cold = costs + work->count, p75 = 0, first_p50 = 0;
    size_t count = 0, cold_count = 0;
    for (size_t i = 0; i < work->count; i++) {
        costs[count] = cold[cold_count] = work->cost_ms[i];
        count += wins[i] = is_winner(sim, work, i);
        cold_count += wins[i] && change->first_wave_apart && attempt_of(sim, work, i)->cold;
    }
    enum err_code rc = quantile(costs, count, 0.75, &p75, err);
    if (!rc && cold_count)
        rc = quantile(cold, cold_count, 0.5, &first_p50, err);
    if (rc)
        return rc;
    double cut = 0;
    for (size_t i = 0; i < work->count; i++) {
        double limit = 1.5 * (cold_count && attempt_of(sim, work, i)->cold ? MAX(p75, first_p50) : p75);
        if (wins[i] && work->cost_ms[i] > limit) {
            cut += work->cost_ms[i] - limit;
            work->cost_ms[i] = limit;
        }
    }
    for (size_t i = 0; change->kind == CHANGE_SPREAD && i < work->count; i++)
        if (wins[i])
            work->cost_ms[i] += cut / (double)count;
    return ERR_OK;
}

/* W8, W12: one part of each winner above a target, a share of it, or what it spilled at so much a byte, is saved. A cost that was changed before has its parts in proportion. */
struct parts {
    const struct simulation *sim;
    const struct sim_node *node;
    struct sim_work *work;
    const struct change *change;
    uint32_t *item_of; /* by place among the stage's attempts; SIM_NONE: no such winner is left */
};

static double saved_of(const struct change *change, const double *parts, const struct task_values *values, size_t i)
{
    if (change->kind == CHANGE_FACTOR)
        return parts[change->part] * (1 - change->number);
    if (change->kind == CHANGE_SPILL)
        return fmin((double)known_or(values->of[VALUE_RUN_MS][i], 0), fmax(0, change->number) * (double)known_or(values->of[VALUE_DISK_SPILL_BYTES][i], 0));
    double target = change->number;
    if (change->part == BUCKET_GC)
        target *= (double)known_or(values->of[VALUE_RUN_MS][i], 0) + (double)known_or(values->of[VALUE_DESERIALIZE_MS][i], 0);
    return fmax(0, parts[change->part] - target);
}

static enum err_code part_batch(void *to, const struct task_values *batch, const uint32_t *places, struct err *err)
{
    (void)err;
    struct parts *self = to;
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t item = self->item_of[places[i]];
        if (item == SIM_NONE)
            continue;
        const struct attempt *attempt = attempt_of(self->sim, self->work, item);
        double parts[BUCKET_COUNT] = {0}, *cost_ms = &self->work->cost_ms[item];
        attempt_buckets(self->sim->facts, attempt, batch, i, parts);
        parts[BUCKET_SCHED_WAIT] = self->node->gap_ms;
        *cost_ms = fmax(0, *cost_ms * (1 - saved_of(self->change, parts, batch, i) / ((double)attempt_occupancy_ms(attempt) + self->node->gap_ms)));
    }
    return ERR_OK;
}

static enum err_code part(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err)
{
    const struct stage_fact *stage = &sim->facts->stages[node->stage];
    struct parts parts = {sim, node, work, change, mem_alloc((stage->attempt_count + 1) * sizeof(uint32_t))};
    if (!parts.item_of)
        return err_nomem(err);
    memset(parts.item_of, 0xff, stage->attempt_count * sizeof *parts.item_of);
    for (size_t i = 0; i < work->count; i++) {
        const struct attempt *attempt = attempt_of(sim, work, i);
        /* attempts of a retry that were put here have their values elsewhere */
        bool is_left_out = change->warm_only && attempt->cold;
        if (is_winner(sim, work, i) && !is_left_out && attempt->stage == node->stage && attempt_occupancy_ms(attempt) > 0)
            parts.item_of[(size_t)(attempt - sim->facts->attempts) - stage->first_attempt] = (uint32_t)i;
    }
    enum err_code rc = facts_value_batches(sim->facts, node->stage, ACCOUNT_VALUES, part_batch, &parts, err);
    mem_free(parts.item_of);
    return rc;
}

struct overheads {
    const struct attempt *attempts; /* of the stage */
    double *ms;
    size_t count;
};

static enum err_code overhead_batch(void *to, const struct task_values *values, const uint32_t *places, struct err *err)
{
    (void)err;
    struct overheads *self = to;
    for (size_t i = 0; i < values->count; i++) {
        const struct attempt *attempt = &self->attempts[places[i]];
        int64_t run = values->of[VALUE_RUN_MS][i];
        if (attempt->kind == WINNER && attempt->has_metrics && known(run))
            self->ms[self->count++] = fmax(0, (double)attempt_occupancy_ms(attempt) - (double)run);
    }
    return ERR_OK;
}

/* v of 6.5: what a task costs beside its run time, the median of the winners. */
static enum err_code overhead_of(const struct simulation *sim, const struct sim_node *node, double *ret, struct err *err)
{
    *ret = 0;
    const struct stage_fact *stage = &sim->facts->stages[node->stage];
    struct overheads overheads = {.attempts = sim->facts->attempts + stage->first_attempt, .ms = mem_alloc((stage->attempt_count + 1) * sizeof *overheads.ms)};
    if (!overheads.ms)
        return err_nomem(err);
    enum err_code rc = facts_value_batches(sim->facts, node->stage, 1U << VALUE_RUN_MS, overhead_batch, &overheads, err);
    if (!rc && overheads.count)
        rc = quantile(overheads.ms, overheads.count, 0.5, ret, err);
    mem_free(overheads.ms);
    return rc;
}

/* The rule may know it already. */
static enum err_code overhead_for(const struct simulation *sim, const struct sim_node *node, const struct change *change, double *ret, struct err *err)
{
    if (!(change->overhead_ms > 0))
        return overhead_of(sim, node, ret, err);
    *ret = change->overhead_ms;
    return ERR_OK;
}

/* W6: each item becomes some, which share its work and have its overhead each. */
static enum err_code split(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err)
{
    double overhead, pieces = change->number;
    enum err_code rc = overhead_for(sim, node, change, &overhead, err);
    if (rc || !work->count || !(pieces > 1) || (rc = own_attempts(work, err)))
        return rc;
    double most = fmax(1, floor((double)SPLIT_PIECES / (double)work->count));
    size_t each = (size_t)fmin(ceil(pieces), most);
    struct sim_work finer = {.count = work->count * each, .no_copies = work->no_copies};
    finer.cost_ms = mem_alloc(finer.count * sizeof *finer.cost_ms);
    finer.attempt = mem_alloc(finer.count * sizeof *finer.attempt);
    if (!finer.cost_ms || !finer.attempt) {
        sim_work_dispose(&finer);
        return err_nomem(err);
    }
    for (size_t i = 0; i < finer.count; i++) {
        double cost = work->cost_ms[i / each], own = fmin(overhead, cost);
        finer.cost_ms[i] = (cost - own) / (double)each + own;
        finer.attempt[i] = work->attempt[i / each];
    }
    sim_work_dispose(work);
    *work = finer;
    return ERR_OK;
}

/* W7: of n tasks m are left: the overhead of the others goes, their work stays. What an item cannot give is taken from those behind it (sim_work_seal). */
static enum err_code merge(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err)
{
    double overhead, count = (double)work->count, tasks = change->number;
    enum err_code rc = overhead_for(sim, node, change, &overhead, err);
    if (rc || !(tasks < count))
        return rc;
    double less_ms = (count - fmax(1, tasks)) / count * (overhead + node->gap_ms);
    if (work->less_ms > 0 && (rc = own_costs(sim, node, work, err))) /* merged before */
        return rc;
    for (size_t i = 0; i < work->count && work->cost_ms; i++)
        work->cost_ms[i] -= less_ms;
    work->less_ms = work->cost_ms ? 0 : less_ms;
    return ERR_OK;
}

static bool is_dropped(const struct change *change, const struct attempt *attempt, uint32_t position)
{
    uint32_t kinds = change->lost_kinds ? change->lost_kinds : UINT32_MAX;
    return attempt->kind != WINNER && kinds & 1U << attempt->kind && (!change->lost_attempts || change->lost_attempts[position]);
}

/* The stage would not have run again: of what it lost, in all its attempts, nothing is left. Where only some losses are undone, others may have wanted the retry. */
static bool retries_go(const struct simulation *sim, uint32_t stage, const struct change *change)
{
    const struct facts *facts = sim->facts;
    const struct stage_fact *stages = facts->stages;
    bool any = false;
    if (change->lost_kinds && !(change->lost_kinds & 1U << LOST_RECOMPUTED))
        return false;
    if (!change->lost_attempts)
        return true;
    uint32_t first = stage;
    while (first > 0 && stages[first - 1].stage_id == stages[stage].stage_id)
        first--;
    for (uint32_t s = first; s < facts->stage_count && stages[s].stage_id == stages[stage].stage_id; s++)
        for (size_t i = 0; i < stages[s].attempt_count; i++) {
            uint32_t position = (uint32_t)(stages[s].first_attempt + i);
            const struct attempt *attempt = &facts->attempts[position];
            bool dropped = is_dropped(change, attempt, position);
            if (!dropped && attempt->kind != WINNER && attempt->kind != LOST_SPECULATIVE)
                return false;
            any |= dropped;
        }
    return any;
}

/* W4. Without any loss a retry of the stage is not there either, and what it won runs in the first attempt. */
static enum err_code no_lost(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err)
{
    const struct facts *facts = sim->facts;
    const struct stage_fact *stages = facts->stages, *stage = &stages[node->stage];
    bool merge_retries = !work->retries_merged && retries_go(sim, node->stage, change);
    size_t kept = 0;
    enum err_code rc = own_attempts(work, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < work->count; i++) {
        if (is_dropped(change, attempt_of(sim, work, i), work->attempt[i]))
            continue;
        work->attempt[kept] = work->attempt[i];
        if (work->cost_ms)
            work->cost_ms[kept] = work->cost_ms[i];
        kept++;
    }
    work->count = kept;
    work->no_copies |= !change->lost_kinds || change->lost_kinds & 1U << LOST_SPECULATIVE;
    if (!merge_retries)
        return ERR_OK;
    work->retries_merged = true;
    if (node->stage > 0 && stages[node->stage - 1].stage_id == stage->stage_id && sim->stage_node[node->stage - 1] != SIM_NONE &&
        sim->nodes[sim->stage_node[node->stage - 1]].job == node->job) {
        work->count = 0;
        return ERR_OK;
    }
    size_t more = 0;
    uint32_t end = node->stage + 1;
    for (; end < facts->stage_count && stages[end].stage_id == stage->stage_id && sim->stage_node[end] != SIM_NONE && sim->nodes[sim->stage_node[end]].job == node->job; end++)
        more += stages[end].attempt_count;
    if (!more)
        return ERR_OK;
    if ((rc = own_costs(sim, node, work, err)))
        return rc;
    double *costs = mem_realloc(work->cost_ms, (work->count + more) * sizeof *costs);
    if (costs)
        work->cost_ms = costs;
    uint32_t *attempts = mem_realloc(work->attempt, (work->count + more) * sizeof *attempts);
    if (attempts)
        work->attempt = attempts;
    if (!costs || !attempts)
        return err_nomem(err);
    for (uint32_t retry = node->stage + 1; retry < end; retry++) {
        for (size_t i = 0; i < stages[retry].attempt_count; i++) {
            uint32_t position = (uint32_t)(stages[retry].first_attempt + i);
            if (is_dropped(change, &facts->attempts[position], position))
                continue;
            work->attempt[work->count] = position;
            work->cost_ms[work->count++] = (double)attempt_occupancy_ms(&facts->attempts[position]) + sim->nodes[sim->stage_node[retry]].gap_ms;
        }
    }
    return ERR_OK;
}

/* What is done to an item depends on the item. */
static bool of_single_items(enum change_kind kind)
{
    return kind == CHANGE_DROP || kind == CHANGE_HOST || kind == CHANGE_CAP || kind == CHANGE_SPREAD || kind == CHANGE_PART || kind == CHANGE_SPILL || kind == CHANGE_FACTOR ||
           kind == CHANGE_SPLIT;
}

enum err_code sim_work_change(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err)
{
    enum err_code rc = of_single_items(change->kind) ? own_costs(sim, node, work, err) : ERR_OK;
    if (rc)
        return rc;
    switch (change->kind) {
    case CHANGE_NO_LOST: return no_lost(sim, node, work, change, err);
    case CHANGE_DROP:
        for (size_t i = 0; i < work->count; i++)
            work->cost_ms[i] *= MIN(MAX(change->number, 0.0), 1.0);
        return ERR_OK;
    case CHANGE_ZERO:
        mem_free(work->cost_ms);
        work->cost_ms = NULL;
        work->nothing = true;
        return ERR_OK;
    case CHANGE_HOST:
        for (size_t i = 0; i < work->count && change->number > 0; i++)
            if (attempt_of(sim, work, i)->executor == change->executor)
                work->cost_ms[i] /= change->number;
        return ERR_OK;
    case CHANGE_CAP:
    case CHANGE_SPREAD: return cap(sim, work, change, err);
    case CHANGE_PART:
    case CHANGE_SPILL:
    case CHANGE_FACTOR: return part(sim, node, work, change, err);
    case CHANGE_SPLIT: return split(sim, node, work, change, err);
    case CHANGE_MERGE: return merge(sim, node, work, change, err);
    case CHANGE_LAG: /* of the node, not of its items */
    case CHANGE_GAPS:
    case CHANGE_SLOTS:
    case CHANGE_RAMP:
    case CHANGE_STARTUP: break;
    }
    return ERR_OK;
}

/* --- sealing --- */

/* The cost above which an item stays single: the least of the SINGLE_ITEMS largest. */
static int64_t single_above(const int64_t *items, size_t count, int64_t *heap)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t cost = item_cost(items[i]);
        size_t at;
        if (used < SINGLE_ITEMS) {
            for (at = used++; at > 0 && heap[(at - 1) / 2] > cost; at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        } else if (cost > heap[0]) {
            at = 0;
            for (size_t child; (child = 2 * at + 1) < used; at = child) {
                child += child + 1 < used && heap[child + 1] < heap[child];
                if (heap[child] >= cost)
                    break;
                heap[at] = heap[child];
            }
        } else {
            continue;
        }
        heap[at] = cost;
    }
    return used ? heap[0] : 0;
}

/* Joins consecutive items in place; returns how many are left. */
static size_t make_blocks(int64_t *items, size_t count, size_t length)
{
    int64_t heap[SINGLE_ITEMS];
    int64_t single = single_above(items, count, heap);
    size_t out = 0, open = SIZE_MAX, in_open = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t item = items[i];
        if (item_cost(item) <= single && open != SIZE_MAX && in_open < length && (items[open] & 1) == (item & 1) && item_cost(items[open]) < SIM_MAX_US) {
            items[open] += item & ~(int64_t)1;
            in_open++;
            continue;
        }
        if (item_cost(item) <= single) {
            open = out;
            in_open = 1;
        }
        items[out++] = item;
    }
    return out;
}

static int compare_late(const void *a, const void *b)
{
    const struct sim_late *x = a, *y = b;
    return x->offset_us != y->offset_us ? (x->offset_us > y->offset_us) - (x->offset_us < y->offset_us) : (x->item > y->item) - (x->item < y->item);
}

enum err_code sim_work_seal(const struct simulation *sim, const struct sim_node *node, const struct sim_work *work, struct arena *arena, struct sim_costs *ret, struct err *err)
{
    size_t late_count = 0;
    for (size_t i = 0; i < work->count && node->lossy; i++)
        late_count += attempt_of(sim, work, i)->speculative && !work->no_copies;
    /* Blocks are made in a place of their own: what is left of the node would stay in the arena. */
    bool blocks = work->count - late_count > BLOCK_FROM;
    int64_t *items = blocks ? mem_alloc(work->count * sizeof *items) : arena_alloc(arena, (work->count - late_count) * sizeof *items);
    struct sim_late *late = arena_zalloc(arena, late_count, sizeof *late);
    if (!items || !late) {
        if (blocks)
            mem_free(items);
        return err_nomem(err);
    }
    *ret = (struct sim_costs){.items = items, .late = late};
    double carry = 0; /* whole µs an item, and still the exact sum; what an item cannot give (merge) is taken from the next ones */
    for (size_t i = 0; i < work->count; i++) {
        const struct attempt *attempt = attempt_of(sim, work, i);
        double cost_ms = work->cost_ms   ? work->cost_ms[i]
                         : work->nothing ? 0
                                         : (double)attempt_occupancy_ms(attempt) + node->gap_ms - work->less_ms,
               exact = MIN(cost_ms * US_PER_MS + carry, (double)SIM_MAX_US);
        int64_t cost = exact > 0 ? (int64_t)(exact + 0.5) : 0;
        carry = exact - (double)cost;
        int64_t gates = attempt->kind != LOST_SPECULATIVE, item = cost * 2 + gates, offset = 0;
        if (attempt->speculative && !work->no_copies) {
            offset = (attempt->begin_ms - sim->facts->begin_ms) * US_PER_MS - node->first_begin_us;
            offset = offset > 0 ? offset : 0;
            late[ret->late_count++] = (struct sim_late){offset, item};
        } else {
            items[ret->count++] = item;
        }
        ret->gating_count += (size_t)gates;
        if (gates && offset + cost > ret->longest_us)
            ret->longest_us = offset + cost;
    }
    if (late_count)
        qsort(late, late_count, sizeof *late, compare_late);
    if (!blocks)
        return ERR_OK;
    size_t length = (ret->count + BLOCK_FROM - 1) / BLOCK_FROM, slots = (size_t)sim->pools[sim->queues[node->queue].pool].peak;
    size_t longest = slots < ret->count ? ret->count / (slots * WAVES_AT_LEAST) : 1;
    length = length < longest ? length : longest > 1 ? longest : 1;
    size_t before = ret->count;
    if (length > 1)
        ret->count = make_blocks(items, ret->count, length);
    /* gating items that were joined are waited for as one */
    if (ret->count != before) {
        ret->gating_count = 0;
        for (size_t i = 0; i < ret->count; i++)
            ret->gating_count += (size_t)(items[i] & 1);
        for (size_t i = 0; i < ret->late_count; i++)
            ret->gating_count += (size_t)(late[i].item & 1);
    }
    int64_t *kept = arena_alloc(arena, ret->count * sizeof *kept);
    if (kept)
        memcpy(kept, items, ret->count * sizeof *kept);
    ret->items = kept;
    mem_free(items);
    return kept ? ERR_OK : err_nomem(err);
}
