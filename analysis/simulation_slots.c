/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation_make.h"

#include <stdlib.h>

#include "base/mem.h"

/* Registration (6.2): an executor that was added while a stage waited, or up to so long before one did, takes tasks from its first launch on if that came within so long. */
#define WAITING_STAGE_US (1000 * US_PER_MS)
#define REGISTRATION_US (5000 * US_PER_MS)

struct waiting { /* [submission, end) of a stage */
    int64_t from_us, to_us;
};

static int compare_waiting(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    return (x->from_us > y->from_us) - (x->from_us < y->from_us);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t pool_of(const struct simulation *sim, int64_t profile)
{
    size_t low = 0, high = sim->pool_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (sim->pools[middle].profile <= profile)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

uint32_t maker_stage_pool(const struct simulation *sim, uint32_t stage)
{
    return sim->executor_pool[sim->facts->attempts[sim->facts->stages[stage].first_attempt].executor];
}

enum err_code maker_pools(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    int64_t *profiles = mem_array(facts->executor_count + 1, sizeof *profiles);
    sim->pools = arena_zalloc(&sim->arena, facts->executor_count + 1, sizeof *sim->pools);
    sim->executor_pool = arena_zalloc(&sim->arena, facts->executor_count + 1, sizeof *sim->executor_pool);
    if (!profiles || !sim->pools || !sim->executor_pool) {
        mem_free(profiles);
        return err_nomem(self->err);
    }
    size_t count = 0;
    for (size_t i = 0; i < facts->executor_count; i++)
        if (facts->executors[i].slots > 0)
            profiles[count++] = known_or(facts->executors[i].profile_id, 0);
    if (!count)
        profiles[count++] = 0;
    qsort(profiles, count, sizeof *profiles, compare_i64);
    for (size_t i = 0; i < count; i++)
        if (!i || profiles[i] != profiles[i - 1])
            sim->pools[sim->pool_count++] = (struct sim_pool){.profile = profiles[i], .peak = 1, .per_executor = 1};
    for (size_t i = 0; i < facts->executor_count; i++)
        sim->executor_pool[i] = pool_of(sim, known_or(facts->executors[i].profile_id, 0));
    mem_free(profiles);
    return ERR_OK;
}

enum err_code maker_availability(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    struct waiting *waiting = mem_array(facts->stage_count + 1, sizeof *waiting);
    sim->executor_from_us = arena_zalloc(&sim->arena, facts->executor_count + 1, sizeof *sim->executor_from_us);
    sim->executor_to_us = arena_zalloc(&sim->arena, facts->executor_count + 1, sizeof *sim->executor_to_us);
    if (!waiting || !sim->executor_from_us || !sim->executor_to_us) {
        mem_free(waiting);
        return err_nomem(self->err);
    }
    sim->first_executor_us = UNKNOWN;
    size_t count = 0;
    for (size_t s = 0; s < facts->stage_count; s++)
        if (facts->stages[s].attempt_count)
            waiting[count++] = (struct waiting){self->stages[s].submission_us, self->stages[s].last_finish_us};
    qsort(waiting, count, sizeof *waiting, compare_waiting);
    for (size_t i = 1; i < count; i++)
        if (waiting[i].to_us < waiting[i - 1].to_us)
            waiting[i].to_us = waiting[i - 1].to_us;
    for (size_t e = 0; e < facts->executor_count; e++) {
        const struct executor_fact *executor = &facts->executors[e];
        int64_t from = since_begin(facts, executor->from_ms), to = since_begin(facts, executor->to_ms);
        int64_t first = executor->attempt_count ? since_begin(facts, facts->launches[facts->by_executor[executor->first_attempt]].launch_ms) : from;
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (waiting[middle].from_us <= from + WAITING_STAGE_US)
                low = middle + 1;
            else
                high = middle;
        }
        if (executor->slots > 0)
            sim->first_executor_us = min_known(sim->first_executor_us, from);
        if (low && waiting[low - 1].to_us > from && first > from && first - from <= REGISTRATION_US)
            from = first;
        if (to < from)
            to = from;
        sim->executor_from_us[e] = from;
        sim->executor_to_us[e] = to;
        if (executor->slots <= 0)
            continue;
        maker_event(self, EVENTS_RARE, from, SWEEP_SLOTS_COME, e);
        maker_event(self, EVENTS_RARE, to, SWEEP_SLOTS_GO, e);
    }
    sim->first_executor_us = known_or(sim->first_executor_us, 0);
    mem_free(waiting);
    return ERR_OK;
}

static int compare_slots(const void *a, const void *b)
{
    const struct sim_slots *x = a, *y = b;
    return x->time_us != y->time_us ? (x->time_us > y->time_us) - (x->time_us < y->time_us) : (x->pool > y->pool) - (x->pool < y->pool);
}

enum err_code maker_slots(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    sim->slots = arena_zalloc(&sim->arena, 2 * facts->executor_count + 1, sizeof *sim->slots);
    int64_t *capacity = mem_array(sim->pool_count, sizeof *capacity), *sizes = mem_array(facts->executor_count + 1, sizeof *sizes);
    if (!sim->slots || !capacity || !sizes) {
        mem_free(capacity);
        mem_free(sizes);
        return err_nomem(self->err);
    }
    for (size_t e = 0; e < facts->executor_count; e++) {
        if (facts->executors[e].slots <= 0)
            continue;
        if (sim->executor_to_us[e] >= sim->last_end_us)
            sim->executor_to_us[e] = INT64_MAX;
        else
            sim->slots[sim->slot_count++] = (struct sim_slots){sim->executor_to_us[e], sim->executor_pool[e], -facts->executors[e].slots};
        sim->slots[sim->slot_count++] = (struct sim_slots){sim->executor_from_us[e], sim->executor_pool[e], facts->executors[e].slots};
    }
    qsort(sim->slots, sim->slot_count, sizeof *sim->slots, compare_slots);
    size_t kept = 0;
    for (size_t i = 0; i < sim->slot_count; i++) {
        struct sim_slots *slots = &sim->slots[i];
        int64_t now = capacity[slots->pool] = add_known(capacity[slots->pool], slots->capacity);
        bool again = i + 1 < sim->slot_count && !compare_slots(slots, slots + 1);
        if (again)
            continue;
        if (now > sim->pools[slots->pool].peak)
            sim->pools[slots->pool].peak = now;
        sim->slots[kept++] = (struct sim_slots){slots->time_us, slots->pool, now};
    }
    sim->slot_count = kept;
    size_t size_count = 0;
    for (size_t e = 0; e < facts->executor_count; e++)
        if (facts->executors[e].slots > 0)
            sizes[size_count++] = (int64_t)sim->executor_pool[e] << 32 | (facts->executors[e].slots < INT32_MAX ? facts->executors[e].slots : INT32_MAX);
    qsort(sizes, size_count, sizeof *sizes, compare_i64);
    for (size_t from = 0, to; from < size_count; from = to) {
        for (to = from; to < size_count && sizes[to] >> 32 == sizes[from] >> 32; to++)
            continue;
        sim->pools[sizes[from] >> 32].per_executor = sizes[from + (to - from) / 2] & UINT32_MAX;
    }
    mem_free(capacity);
    mem_free(sizes);
    return ERR_OK;
}
