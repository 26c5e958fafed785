/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation_make.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"

static int compare_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Spark takes the mode in any case. */
static bool is_fair(const struct facts *facts)
{
    struct str mode = facts_conf(facts, "spark.scheduler.mode");
    return mode.len == 4 && strncasecmp(mode.ptr, "FAIR", 4) == 0;
}

/* A job that names no pool is in Spark's own one. */
static struct str scheduler_pool(const struct job_fact *job)
{
    return str_known(job->pool) ? job->pool : STR_LIT("default");
}

/* One queue a pool of slots, or under FAIR one for each scheduler pool in it. */
static enum err_code make_queues(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    bool fair = is_fair(facts);
    struct str *names = mem_array(facts->job_count + 1, sizeof *names);
    uint64_t *pairs = mem_array(sim->node_count + 1, sizeof *pairs), *sorted = mem_array(sim->node_count + 1, sizeof *sorted);
    sim->queues = arena_zalloc(&sim->arena, sim->node_count + 1, sizeof *sim->queues);
    sim->pool_queue = arena_zalloc(&sim->arena, sim->pool_count, sizeof *sim->pool_queue);
    enum err_code rc = names && pairs && sorted && sim->queues && sim->pool_queue ? ERR_OK : err_nomem(self->err);
    size_t name_count = 0;
    for (size_t i = 0; i < facts->job_count && !rc && fair; i++)
        names[name_count++] = scheduler_pool(&facts->jobs[i]);
    if (!rc)
        qsort(names, name_count, sizeof *names, compare_text);
    for (size_t i = 0; i < sim->node_count && !rc; i++) {
        const struct sim_node *node = &sim->nodes[i];
        size_t low = 0, high = name_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (str_compare(names[middle], scheduler_pool(&facts->jobs[node->job])) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        pairs[i] = sorted[i] = (uint64_t)maker_stage_pool(sim, node->stage) << 32 | low;
    }
    if (!rc)
        qsort(sorted, sim->node_count, sizeof *sorted, compare_pairs);
    for (size_t p = 0; p < sim->pool_count && !rc; p++)
        sim->pool_queue[p] = SIM_NONE;
    for (size_t i = 0; i < sim->node_count && !rc; i++) {
        if (i && sorted[i] == sorted[i - 1])
            continue;
        uint32_t pool = (uint32_t)(sorted[i] >> 32);
        bool first = !sim->queue_count || sim->queues[sim->queue_count - 1].pool != pool;
        sim->pool_queue[pool] = first ? (uint32_t)sim->queue_count : SIM_NONE;
        sorted[sim->queue_count] = sorted[i];
        sim->queues[sim->queue_count++] = (struct sim_queue){pool, (uint32_t)sorted[i]};
    }
    for (size_t i = 0; i < sim->node_count && !rc; i++) {
        size_t low = 0, high = sim->queue_count;
        while (low + 1 < high) {
            size_t middle = low + (high - low) / 2;
            if (sorted[middle] <= pairs[i])
                low = middle;
            else
                high = middle;
        }
        sim->nodes[i].queue = (uint32_t)low;
    }
    mem_free(names);
    mem_free(pairs);
    mem_free(sorted);
    return rc;
}

/* A parent of the same job whose stage id is smaller, or the attempt before: anything else is not Spark's, and could be a circle. */
static bool depends(const struct simulation *sim, uint32_t stage, uint32_t parent)
{
    return parent < stage && sim->stage_node[parent] != SIM_NONE && sim->nodes[sim->stage_node[parent]].job == sim->nodes[sim->stage_node[stage]].job;
}

/* The stage attempt follows on another of the same stage. */
static bool is_retry(const struct facts *facts, uint32_t stage)
{
    return stage > 0 && stage < facts->stage_count && facts->stages[stage].stage_id == facts->stages[stage - 1].stage_id;
}

static enum err_code make_nodes(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    size_t edges = 0;
    for (size_t s = 0; s < facts->stage_count; s++) {
        sim->stage_node[s] = SIM_NONE;
        if (facts->stages[s].attempt_count && facts->stages[s].job < facts->job_count) {
            sim->jobs[facts->stages[s].job].node_count++;
            sim->node_count++;
            edges += facts->stages[s].parent_count;
        }
    }
    sim->nodes = arena_zalloc(&sim->arena, sim->node_count, sizeof *sim->nodes);
    sim->children = arena_zalloc(&sim->arena, edges, sizeof *sim->children);
    if (!sim->nodes || !sim->children)
        return err_nomem(self->err);
    uint32_t at = 0;
    for (size_t j = 0; j < sim->job_count; j++) {
        sim->jobs[j].first_node = at;
        at += sim->jobs[j].node_count;
        sim->jobs[j].node_count = 0;
    }
    for (uint32_t s = 0; s < facts->stage_count; s++) {
        if (!facts->stages[s].attempt_count || facts->stages[s].job >= facts->job_count)
            continue;
        struct sim_job *job = &sim->jobs[facts->stages[s].job];
        uint32_t node = job->first_node + job->node_count++;
        sim->stage_node[s] = node;
        sim->nodes[node] = (struct sim_node){.stage = s, .job = facts->stages[s].job, .gap_ms = self->stages[s].gap_ms, .first_begin_us = self->stages[s].first_begin_us};
    }
    for (size_t n = 0; n < sim->node_count; n++) {
        struct sim_node *node = &sim->nodes[n];
        const struct stage_fact *stage = &facts->stages[node->stage];
        int64_t ready = sim->jobs[node->job].begin_us, wait;
        for (size_t i = 0; i < stage->parent_count; i++) {
            if (!depends(sim, node->stage, stage->parents[i]))
                continue;
            node->parent_count++;
            sim->nodes[sim->stage_node[stage->parents[i]]].child_count++;
            if (self->stages[stage->parents[i]].last_gating_us > ready)
                ready = self->stages[stage->parents[i]].last_gating_us;
        }
        node->lossy = self->stages[node->stage].any_lost || is_retry(facts, node->stage) || is_retry(facts, node->stage + 1);
        wait = self->stages[node->stage].submission_us - ready;
        node->lag_us = (wait > 0 ? wait : 0) + (int64_t)(self->stages[node->stage].lag_ms * US_PER_MS);
    }
    uint32_t total = 0;
    for (size_t n = 0; n < sim->node_count; n++) {
        sim->nodes[n].first_child = total;
        total += sim->nodes[n].child_count;
        sim->nodes[n].child_count = 0;
    }
    for (uint32_t n = 0; n < sim->node_count; n++) {
        const struct stage_fact *stage = &facts->stages[sim->nodes[n].stage];
        for (size_t i = 0; i < stage->parent_count; i++) {
            if (!depends(sim, sim->nodes[n].stage, stage->parents[i]))
                continue;
            struct sim_node *parent = &sim->nodes[sim->stage_node[stage->parents[i]]];
            sim->children[parent->first_child + parent->child_count++] = n;
        }
    }
    return ERR_OK;
}

/* A job without any winner waited for its losers. */
static void make_tails(struct maker *self)
{
    struct simulation *sim = self->sim;
    for (size_t j = 0; j < sim->job_count; j++) {
        struct sim_job *job = &sim->jobs[j];
        int64_t winner = -1, any = -1;
        for (uint32_t n = job->first_node; n < job->first_node + job->node_count; n++) {
            winner = MAX(winner, self->stages[sim->nodes[n].stage].last_winner_us);
            any = MAX(any, self->stages[sim->nodes[n].stage].last_gating_us);
        }
        job->tail_us = MAX(0, job->end_us - (winner >= 0 ? winner : any >= 0 ? any : job->begin_us));
    }
}

static enum err_code make_costs(struct maker *self)
{
    struct simulation *sim = self->sim;
    enum err_code rc = ERR_OK;
    for (size_t n = 0; n < sim->node_count && !rc; n++) {
        struct sim_node *node = &sim->nodes[n];
        struct sim_work observed = sim_work_of(sim, node);
        rc = sim_work_seal(sim, node, &observed, &sim->arena, &node->costs, self->err);
        sim->work_ms += self->stages[node->stage].work_ms + node->gap_ms * (double)observed.count;
        sim->item_count += node->costs.count + node->costs.late_count;
    }
    return rc;
}

static enum err_code make_all(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    sim->job_count = facts->job_count;
    sim->wall_us = since_begin(facts, facts->end_ms);
    sim->jobs = arena_zalloc(&sim->arena, sim->job_count, sizeof *sim->jobs);
    sim->by_turn = arena_zalloc(&sim->arena, sim->job_count, sizeof *sim->by_turn);
    sim->successors = arena_zalloc(&sim->arena, sim->job_count, sizeof *sim->successors);
    sim->cuts = arena_zalloc(&sim->arena, sim->job_count + 1, sizeof *sim->cuts);
    sim->job_begin_us = arena_zalloc(&sim->arena, sim->job_count, sizeof *sim->job_begin_us);
    sim->job_end_us = arena_zalloc(&sim->arena, sim->job_count, sizeof *sim->job_end_us);
    sim->stage_node = arena_zalloc(&sim->arena, facts->stage_count, sizeof *sim->stage_node);
    self->stages = mem_array(facts->stage_count + 1, sizeof *self->stages);
    self->events[EVENTS_BEGIN] = mem_alloc((2 * facts->attempt_count + 1) * sizeof(uint64_t)); /* half is mostly not used and never touched */
    self->events[EVENTS_FINISH] = mem_alloc((facts->attempt_count + 1) * sizeof(uint64_t));
    self->events[EVENTS_RARE] = mem_alloc((2 * (facts->stage_count + facts->executor_count) + 1) * sizeof(uint64_t));
    if (!sim->jobs || !sim->by_turn || !sim->successors || !sim->cuts || !sim->job_begin_us || !sim->job_end_us || !sim->stage_node || !self->stages ||
        !self->events[EVENTS_BEGIN] || !self->events[EVENTS_FINISH] || !self->events[EVENTS_RARE])
        return err_nomem(self->err);
    if (facts->stage_count >= SWEEP_SUBJECTS || facts->executor_count >= SWEEP_SUBJECTS)
        return err_set(self->err, ERR_LIMIT, "more than %zu stages or executors", SWEEP_SUBJECTS);
    while (sim->wall_us / US_PER_MS >> self->shift > UINT32_MAX)
        self->shift++;
    for (size_t j = 0; j < sim->job_count; j++) {
        sim->jobs[j].begin_us = since_begin(facts, facts->jobs[j].begin_ms);
        sim->jobs[j].end_us = since_begin(facts, facts->jobs[j].end_ms);
        if (sim->jobs[j].end_us < sim->jobs[j].begin_us)
            sim->jobs[j].end_us = sim->jobs[j].begin_us;
        if (sim->jobs[j].end_us > sim->last_end_us)
            sim->last_end_us = sim->jobs[j].end_us;
    }
    maker_collect(self);
    enum err_code rc = maker_pools(self);
    if (!rc)
        rc = maker_availability(self);
    if (rc)
        return rc;
    rc = maker_sort_events(self);
    if (!rc)
        rc = maker_sweep(self);
    if (!rc)
        rc = maker_slots(self);
    if (!rc)
        rc = maker_predecessors(self);
    if (!rc)
        rc = maker_successors(self);
    if (!rc)
        rc = make_nodes(self);
    if (!rc)
        rc = make_queues(self);
    if (rc)
        return rc;
    make_tails(self);
    rc = make_costs(self);
    if (rc)
        return rc;
    int64_t end;
    rc = sim_engine(&(struct sim_run){.simulation = sim, .slots = sim->slots, .slot_count = sim->slot_count, .record = true}, &end, self->err);
    sim->as_observed_us = end + sim->wall_us - sim->last_end_us;
    return rc;
}

enum err_code simulation_make(struct simulation **ret, const struct facts *facts, const struct accounts *accounts, struct err *err)
{
    *ret = NULL;
    struct simulation *sim = mem_zalloc(sizeof *sim);
    if (!sim)
        return err_nomem(err);
    sim->facts = facts;
    sim->accounts = accounts;
    arena_init(&sim->arena, SIZE_MAX);
    if (!(sim->without_lost = arena_zalloc(&sim->arena, 1, sizeof *sim->without_lost))) {
        arena_dispose(&sim->arena);
        mem_free(sim);
        return err_nomem(err);
    }
    pthread_mutex_init(&sim->without_lost->lock, NULL);
    struct maker maker = {.sim = sim, .facts = facts, .err = err};
    enum err_code rc = make_all(&maker);
    mem_free(maker.stages);
    for (size_t list = 0; list < EVENT_LISTS; list++)
        mem_free(maker.events[list]);
    if (rc)
        simulation_free(sim);
    else
        *ret = sim;
    return rc;
}

void simulation_free(struct simulation *self)
{
    if (!self)
        return;
    pthread_mutex_destroy(&self->without_lost->lock);
    arena_dispose(&self->arena);
    mem_free(self);
}
