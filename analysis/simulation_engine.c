/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation.h"

#include <string.h>

#include "base/attributes.h"
#include "base/mem.h"

/* A binary heap of keys in ascending order: coming events, nodes that are ready, scheduler pools by running tasks. */
struct entry {
    int64_t key;
    uint32_t kind, subject;
};
struct heap {
    struct entry *entries;
    size_t count, capacity;
};

static bool entry_before(const struct entry *a, const struct entry *b)
{
    return a->key != b->key ? a->key < b->key : a->kind != b->kind ? a->kind < b->kind : a->subject < b->subject;
}

static enum err_code heap_push(struct heap *self, struct entry entry, struct err *err)
{
    if (mem_grow((void **)&self->entries, &self->capacity, self->count + 1, SIZE_MAX / sizeof(struct entry), sizeof(struct entry)))
        return err_nomem(err);
    size_t i = self->count++;
    for (; i > 0 && entry_before(&entry, &self->entries[(i - 1) / 2]); i = (i - 1) / 2)
        self->entries[i] = self->entries[(i - 1) / 2];
    self->entries[i] = entry;
    return ERR_OK;
}

static void heap_pop(struct heap *self)
{
    struct entry last = self->entries[--self->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < self->count; i = child) {
        if (child + 1 < self->count && entry_before(&self->entries[child + 1], &self->entries[child]))
            child++;
        if (!entry_before(&self->entries[child], &last))
            break;
        self->entries[i] = self->entries[child];
    }
    if (self->count)
        self->entries[i] = last;
}

/* Times beyond do not grow any more: tasks of a thousand years in a row must not overflow. */
#define END_MAX_US ((int64_t)1 << 61)

/* Running items by their end: the hot one. Four children a parent, and a popped root is filled by the next push, for an item's end usually begins another. */
struct running {
    int64_t end_us;
    uint32_t node, gates;
};
struct running_heap {
    struct running *at;
    size_t count, capacity;
    bool hole; /* at[0] is popped */
};

/* The least of four, by sums instead of jumps: nobody can predict which one it is. */
static inline size_t least_of_four(const struct running *at, size_t i)
{
    size_t a = i + (at[i + 1].end_us < at[i].end_us), b = i + 2 + (at[i + 3].end_us < at[i + 2].end_us);
    return a + (b - a) * (at[b].end_us < at[a].end_us);
}

static void sift_down(struct running_heap *self, struct running moved)
{
    struct running *at = self->at;
    size_t count = self->count, i = 0, best;
    for (size_t child; (child = 4 * i + 1) < count; i = best) {
        if (child + 4 <= count) {
            best = least_of_four(at, child);
        } else {
            best = child;
            for (size_t c = child + 1; c < count; c++)
                best = at[c].end_us < at[best].end_us ? c : best;
        }
        if (at[best].end_us >= moved.end_us)
            break;
        at[i] = at[best];
    }
    at[i] = moved;
}

static enum err_code running_push(struct running_heap *self, struct running item, struct err *err)
{
    if (self->hole) {
        self->hole = false;
        sift_down(self, item);
        return ERR_OK;
    }
    if (self->count == self->capacity && mem_grow((void **)&self->at, &self->capacity, self->count + 1, SIZE_MAX / sizeof item, sizeof item))
        return err_nomem(err);
    size_t i = self->count++;
    for (; i > 0 && item.end_us < self->at[(i - 1) / 4].end_us; i = (i - 1) / 4)
        self->at[i] = self->at[(i - 1) / 4];
    self->at[i] = item;
    return ERR_OK;
}

static void running_close(struct running_heap *self)
{
    if (!self->hole)
        return;
    self->hole = false;
    struct running last = self->at[--self->count];
    if (self->count)
        sift_down(self, last);
}

/* The next item that ends by then; the hole stays open where there is none. */
static bool running_pop(struct running_heap *self, int64_t now_us, struct running *ret)
{
    if (self->hole) {
        size_t end = self->count < 5 ? self->count : 5;
        bool due = false;
        for (size_t i = 1; i < end; i++)
            due |= self->at[i].end_us <= now_us;
        if (!due)
            return false;
        running_close(self);
    }
    if (!self->count || self->at[0].end_us > now_us)
        return false;
    *ret = self->at[0];
    self->hole = true;
    return true;
}

/* Kinds of events, in the order in which they happen at one time (6.3); ends of items and changes of slots come before them. */
enum event_kind { JOB_RELEASE, NODE_READY, LATE_ITEM, JOB_END };

struct node_state {
    const struct sim_costs *costs;
    size_t next, gating_left;
    uint32_t late_next, late_due; /* late items that have begun; whose time has come */
    int64_t start_us;             /* of its first item */
    uint32_t parents_left;
    bool started, queued, ended;
};

struct queue_state {
    struct heap ready; /* nodes with items to begin */
    int64_t running;
};

struct pool_state {
    int64_t capacity, running;
    struct heap by_running; /* FAIR: its queues, by running tasks; entries of earlier counts are passed over */
    bool dirty;
};

struct engine {
    const struct sim_run *run;
    const struct simulation *sim;
    struct err *err;
    struct node_state *nodes; /* valid from their job's release on */
    uint32_t *nodes_left;     /* by job */
    struct queue_state *queues;
    struct pool_state *pools;
    uint32_t *dirty;
    size_t dirty_count;
    struct heap events;
    struct running_heap running;
    int64_t now_us, last_end_us;
    size_t next_slots, next_turn, released, finished;
    uint32_t last_turn; /* largest of finished jobs */
    bool stopped, returned;
};

static enum err_code event_push(struct engine *self, int64_t at_us, enum event_kind kind, uint32_t subject)
{
    return heap_push(&self->events, (struct entry){MIN(at_us, END_MAX_US), (uint32_t)kind, subject}, self->err);
}

static int64_t gap_of(const struct engine *self, uint32_t job)
{
    return self->run->gaps_us ? self->run->gaps_us[job] : self->sim->jobs[job].gap_us;
}

static const struct sim_override *override_of(const struct engine *self, uint32_t node)
{
    size_t low = 0, high = self->run->override_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->run->overrides[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->run->override_count && self->run->overrides[low].node == node ? &self->run->overrides[low] : NULL;
}

static void pool_touch(struct engine *self, uint32_t pool)
{
    if (!self->pools[pool].dirty) {
        self->pools[pool].dirty = true;
        self->dirty[self->dirty_count++] = pool;
    }
}

static bool node_has_items(const struct node_state *node)
{
    return !node->ended && (node->next < node->costs->count || node->late_next < node->late_due);
}

/* A queue's place among the others of its pool changed. */
static enum err_code queue_moved(struct engine *self, uint32_t queue)
{
    uint32_t pool = self->sim->queues[queue].pool;
    if (self->sim->pool_queue[pool] != SIM_NONE || !self->queues[queue].ready.count)
        return ERR_OK;
    return heap_push(&self->pools[pool].by_running, (struct entry){self->queues[queue].running, self->sim->queues[queue].rank, queue}, self->err);
}

static enum err_code node_queue(struct engine *self, uint32_t node)
{
    uint32_t queue = self->sim->nodes[node].queue;
    if (!node_has_items(&self->nodes[node]) || self->nodes[node].queued)
        return ERR_OK;
    self->nodes[node].queued = true;
    pool_touch(self, self->sim->queues[queue].pool);
    enum err_code rc = heap_push(&self->queues[queue].ready, (struct entry){node, 0, node}, self->err);
    return rc ? rc : queue_moved(self, queue);
}

static enum err_code next_late_item(struct engine *self, uint32_t node)
{
    struct node_state *state = &self->nodes[node];
    if (state->ended || state->late_due >= state->costs->late_count)
        return ERR_OK;
    return event_push(self, state->start_us + state->costs->late[state->late_due].offset_us, LATE_ITEM, node);
}

static enum err_code node_start(struct engine *self, uint32_t node)
{
    self->nodes[node].started = true;
    self->nodes[node].start_us = self->now_us;
    return next_late_item(self, node);
}

static enum err_code parents_done(struct engine *self, uint32_t node)
{
    const struct sim_override *override = override_of(self, node);
    return event_push(self, self->now_us + (override && override->no_lag ? 0 : self->sim->nodes[node].lag_us), NODE_READY, node);
}

static enum err_code job_release(struct engine *self, uint32_t job)
{
    const struct sim_job *of = &self->sim->jobs[job];
    self->released++;
    self->nodes_left[job] = of->node_count;
    if (self->run->record)
        self->sim->job_begin_us[job] = self->now_us;
    enum err_code rc = of->node_count ? ERR_OK : event_push(self, self->now_us + of->tail_us, JOB_END, job);
    for (uint32_t node = of->first_node; node < of->first_node + of->node_count && !rc; node++) {
        const struct sim_override *override = override_of(self, node);
        struct node_state *state = &self->nodes[node];
        *state = (struct node_state){.costs = override ? &override->costs : &self->sim->nodes[node].costs, .parents_left = self->sim->nodes[node].parent_count};
        if (self->run->items)
            *self->run->items += 1 + (self->run->unlimited ? 0 : state->costs->count);
        state->gating_left = self->run->unlimited ? state->costs->gating_count > 0 : state->costs->gating_count;
        if (!state->parents_left)
            rc = parents_done(self, node);
    }
    return rc;
}

/* Gone when any of its nodes says so, whichever ends last: that may differ with the number of slots. */
static int64_t job_tail(const struct engine *self, uint32_t job)
{
    const struct sim_job *of = &self->sim->jobs[job];
    for (uint32_t node = of->first_node; self->run->override_count && node < of->first_node + of->node_count; node++) {
        const struct sim_override *override = override_of(self, node);
        if (override && override->no_tail)
            return 0;
    }
    return of->tail_us;
}

static enum err_code node_end(struct engine *self, uint32_t node)
{
    const struct sim_node *of = &self->sim->nodes[node];
    self->nodes[node].ended = true;
    enum err_code rc = ERR_OK;
    for (uint32_t i = 0; i < of->child_count && !rc; i++) {
        uint32_t child = self->sim->children[of->first_child + i];
        if (--self->nodes[child].parents_left == 0)
            rc = parents_done(self, child);
    }
    if (!rc && --self->nodes_left[of->job] == 0)
        rc = event_push(self, self->now_us + job_tail(self, of->job), JOB_END, of->job);
    return rc;
}

static enum err_code node_ready(struct engine *self, uint32_t node)
{
    struct node_state *state = &self->nodes[node];
    if (!state->gating_left)
        return node_end(self, node);
    if (self->run->unlimited)
        return running_push(&self->running, (struct running){self->now_us + state->costs->longest_us, node, 1}, self->err);
    if (!state->costs->count)
        return node_start(self, node);
    return node_queue(self, node);
}

static enum err_code release_successors(struct engine *self, uint32_t job, uint32_t from_turn)
{
    const struct sim_job *of = &self->sim->jobs[job];
    enum err_code rc = ERR_OK;
    for (uint32_t i = 0; i < of->successor_count && !rc; i++) {
        uint32_t next = self->sim->successors[of->first_successor + i];
        if (self->sim->jobs[next].turn >= from_turn)
            rc = event_push(self, self->now_us + gap_of(self, next), JOB_RELEASE, next);
    }
    return rc;
}

/* From here on slots change while the rest of the run would last, in this run or the one as observed. */
static bool slots_change_later(const struct engine *self, int64_t observed_us)
{
    const struct sim_run *run = self->run;
    int64_t first = self->now_us < observed_us ? self->now_us : observed_us;
    return run->slot_count && run->slots[run->slot_count - 1].time_us > first;
}

/* At a cut, with nothing running: on to the last cut before the next job that differs, or to the end; in time as long as it took there. */
static enum err_code skip_unchanged(struct engine *self)
{
    const struct simulation *sim = self->sim;
    const struct sim_run *run = self->run;
    int64_t shift_us = self->now_us - sim->cuts[self->finished].time_us;
    while (self->next_turn < run->turn_count && run->turns[self->next_turn] < self->finished)
        self->next_turn++;
    if (self->next_turn == run->turn_count) {
        self->stopped = true;
        self->last_end_us = sim->as_observed_us - (sim->wall_us - sim->last_end_us) + shift_us;
        return ERR_OK;
    }
    size_t cut = run->turns[self->next_turn];
    while (sim->cuts[cut].time_us < 0) /* the one at hand ends it at the latest */
        cut--;
    self->finished = self->released = cut;
    self->last_turn = (uint32_t)cut - 1;
    self->now_us = self->last_end_us = sim->cuts[cut].time_us + shift_us;
    return release_successors(self, sim->cuts[cut].pivot, (uint32_t)cut);
}

static enum err_code job_end(struct engine *self, uint32_t job)
{
    const struct simulation *sim = self->sim;
    self->finished++;
    if (self->now_us > self->last_end_us)
        self->last_end_us = self->now_us;
    if (sim->jobs[job].turn > self->last_turn || self->finished == 1)
        self->last_turn = sim->jobs[job].turn;
    if (self->run->record)
        sim->job_end_us[job] = self->now_us;
    struct sim_cut *cut = &sim->cuts[self->finished];
    if (cut->pivot == job && self->released == self->finished && self->last_turn + 1 == self->finished && self->running.count == self->running.hole && !self->returned) {
        if (self->run->record)
            cut->time_us = self->now_us;
        else if (self->run->partial && cut->time_us >= 0 && !slots_change_later(self, cut->time_us))
            return skip_unchanged(self);
    }
    return release_successors(self, job, 0);
}

static enum err_code event_happens(struct engine *self, struct entry event)
{
    switch ((enum event_kind)event.kind) {
    case JOB_RELEASE: return job_release(self, event.subject);
    case NODE_READY: return node_ready(self, event.subject);
    case LATE_ITEM: {
        self->nodes[event.subject].late_due++;
        enum err_code rc = next_late_item(self, event.subject);
        return rc ? rc : node_queue(self, event.subject);
    }
    case JOB_END: return job_end(self, event.subject);
    }
    return ERR_OK;
}

static enum err_code item_ends(struct engine *self, struct running item)
{
    struct node_state *state = &self->nodes[item.node];
    enum err_code rc = ERR_OK;
    if (!self->run->unlimited) {
        uint32_t queue = self->sim->nodes[item.node].queue, pool = self->sim->queues[queue].pool;
        self->pools[pool].running--;
        self->queues[queue].running--;
        pool_touch(self, pool);
        rc = queue_moved(self, queue);
    }
    if (!rc && item.gates && --state->gating_left == 0)
        rc = node_end(self, item.node);
    return rc;
}

/* The queue whose turn it is (6.3): the pool of fewest running tasks, by name; SIM_NONE: none has items. */
static uint32_t pool_pick(struct engine *self, uint32_t pool)
{
    uint32_t queue = self->sim->pool_queue[pool];
    if (queue != SIM_NONE)
        return queue;
    struct heap *order = &self->pools[pool].by_running;
    for (; order->count; heap_pop(order)) {
        queue = order->entries[0].subject;
        if (self->queues[queue].ready.count && self->queues[queue].running == order->entries[0].key)
            return queue;
    }
    return SIM_NONE;
}

static enum err_code pool_dispatch(struct engine *self, uint32_t pool)
{
    struct pool_state *state = &self->pools[pool];
    state->dirty = false;
    enum err_code rc = ERR_OK;
    while (state->running < state->capacity && !rc) {
        uint32_t queue = pool_pick(self, pool);
        if (queue == SIM_NONE || !self->queues[queue].ready.count)
            break;
        uint32_t id = self->queues[queue].ready.entries[0].subject;
        struct node_state *node = &self->nodes[id];
        bool fifo = self->sim->pool_queue[pool] != SIM_NONE;
        if (!node->started)
            rc = node_start(self, id);
        while (node_has_items(node) && state->running < state->capacity && !rc) {
            int64_t item = node->late_next < node->late_due ? node->costs->late[node->late_next++].item : node->costs->items[node->next++];
            state->running++;
            self->queues[queue].running++;
            rc = running_push(&self->running, (struct running){MIN(self->now_us + item_cost(item), END_MAX_US), id, (uint32_t)(item & 1)}, self->err);
            if (!fifo)
                break;
        }
        if (!node_has_items(node)) {
            node->queued = false;
            heap_pop(&self->queues[queue].ready);
        }
        if (!rc)
            rc = queue_moved(self, queue);
    }
    return rc;
}

/* Most of a run is this: all slots are busy, one node's items follow each other, and nothing else happens. Ends before the next event, none of which ends a node, are dealt with here,
 * as engine_step would, without its detours. */
static void items_follow(struct engine *self, uint32_t pool)
{
    const struct sim_run *run = self->run;
    uint32_t queue = self->sim->pool_queue[pool];
    if (queue == SIM_NONE || self->pools[pool].running != self->pools[pool].capacity || !self->queues[queue].ready.count || self->running.hole)
        return;
    struct node_state *node = &self->nodes[self->queues[queue].ready.entries[0].subject];
    uint32_t id = self->queues[queue].ready.entries[0].subject;
    int64_t until = self->events.count ? self->events.entries[0].key : INT64_MAX;
    if (self->next_slots < run->slot_count && run->slots[self->next_slots].time_us < until)
        until = run->slots[self->next_slots].time_us;
    if (!node->started || node->late_next < node->late_due)
        return;
    const int64_t *items = node->costs->items;
    size_t next = node->next, count = node->costs->count;
    /* one is left, for whoever takes the last also takes the node out of the queue */
    while (next + 1 < count && self->running.count) {
        struct running first = self->running.at[0];
        struct node_state *owner = &self->nodes[first.node];
        if (first.end_us >= until || self->sim->nodes[first.node].queue != queue || (first.gates && owner->gating_left == 1))
            break;
        owner->gating_left -= first.gates;
        int64_t item = items[next++];
        sift_down(&self->running, (struct running){MIN(first.end_us + item_cost(item), END_MAX_US), id, (uint32_t)(item & 1)});
        self->now_us = MAX(self->now_us, first.end_us);
    }
    node->next = next;
}

static void slots_change(struct engine *self, const struct sim_slots *slots)
{
    self->pools[slots->pool].capacity = slots->capacity;
    pool_touch(self, slots->pool);
}

/* Nothing runs and nothing is to come, but jobs are left: their executors went when, in the log, the work was done. They would have stayed. */
static void slots_return(struct engine *self)
{
    self->returned = true;
    for (uint32_t pool = 0; pool < self->sim->pool_count; pool++)
        slots_change(self, &(struct sim_slots){self->now_us, pool, 1});
    for (size_t i = 0; i < self->run->slot_count; i++)
        if (self->run->slots[i].capacity > self->pools[self->run->slots[i].pool].capacity)
            slots_change(self, &self->run->slots[i]);
}

/* All that happens at the next time; then free slots are given out. */
static enum err_code engine_step(struct engine *self)
{
    const struct sim_run *run = self->run;
    running_close(&self->running);
    int64_t next = self->running.count ? self->running.at[0].end_us : INT64_MAX;
    if (self->events.count && self->events.entries[0].key < next)
        next = self->events.entries[0].key;
    if (self->next_slots < run->slot_count && run->slots[self->next_slots].time_us < next)
        next = run->slots[self->next_slots].time_us;
    if (next == INT64_MAX)
        slots_return(self);
    else if (next > self->now_us)
        self->now_us = next;
    enum err_code rc = ERR_OK;
    for (struct running item; !rc && running_pop(&self->running, self->now_us, &item);)
        rc = item_ends(self, item);
    for (; self->next_slots < run->slot_count && run->slots[self->next_slots].time_us <= self->now_us; self->next_slots++)
        slots_change(self, &run->slots[self->next_slots]);
    while (!rc && !self->stopped && self->events.count && self->events.entries[0].key <= self->now_us) {
        struct entry event = self->events.entries[0];
        heap_pop(&self->events);
        rc = event_happens(self, event);
    }
    while (self->dirty_count && !rc) {
        uint32_t pool = self->dirty[--self->dirty_count];
        rc = pool_dispatch(self, pool);
        if (!rc && !self->dirty_count)
            items_follow(self, pool);
    }
    if (!rc && next == INT64_MAX && !self->running.count)
        rc = err_set(self->err, ERR_INVALID, "simulation stands still with %zu of %zu jobs done", self->finished, self->sim->job_count);
    return rc;
}

/* From the begin, or from the last cut before the first job that differs. */
static enum err_code engine_begin(struct engine *self)
{
    const struct simulation *sim = self->sim;
    const struct sim_run *run = self->run;
    size_t cut = run->partial ? run->turns[0] : 0;
    while (cut > 0 && sim->cuts[cut].time_us < 0)
        cut--;
    enum err_code rc = ERR_OK;
    if (!cut) {
        for (uint32_t job = 0; job < sim->job_count && !rc; job++)
            if (sim->jobs[job].predecessor == SIM_NONE)
                rc = event_push(self, gap_of(self, job), JOB_RELEASE, job);
        return rc;
    }
    self->finished = self->released = cut;
    self->last_turn = (uint32_t)cut - 1;
    self->now_us = self->last_end_us = sim->cuts[cut].time_us;
    for (; self->next_slots < run->slot_count && run->slots[self->next_slots].time_us <= self->now_us; self->next_slots++)
        slots_change(self, &run->slots[self->next_slots]);
    return release_successors(self, sim->cuts[cut].pivot, (uint32_t)cut);
}

enum err_code sim_engine(const struct sim_run *run, int64_t *ret_last_end_us, struct err *err)
{
    const struct simulation *sim = run->simulation;
    struct engine self = {.run = run, .sim = sim, .err = err};
    /* Of nodes and jobs only those that are released are ever touched, which is what keeps a short run short. */
    self.nodes = mem_alloc((sim->node_count + 1) * sizeof *self.nodes);
    self.nodes_left = mem_alloc((sim->job_count + 1) * sizeof *self.nodes_left);
    self.queues = mem_array(sim->queue_count + 1, sizeof *self.queues);
    self.pools = mem_array(sim->pool_count + 1, sizeof *self.pools);
    self.dirty = mem_array(sim->pool_count + 1, sizeof *self.dirty);
    enum err_code rc = self.nodes && self.nodes_left && self.queues && self.pools && self.dirty ? engine_begin(&self) : err_nomem(err);
    while (!rc && !self.stopped && self.finished < sim->job_count)
        rc = engine_step(&self);
    *ret_last_end_us = self.last_end_us;
    for (size_t i = 0; self.queues && i < sim->queue_count; i++)
        mem_free(self.queues[i].ready.entries);
    for (size_t i = 0; self.pools && i < sim->pool_count; i++)
        mem_free(self.pools[i].by_running.entries);
    mem_free(self.nodes);
    mem_free(self.nodes_left);
    mem_free(self.queues);
    mem_free(self.pools);
    mem_free(self.dirty);
    mem_free(self.events.entries);
    mem_free(self.running.at);
    return rc;
}
