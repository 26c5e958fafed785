/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/sort.h"
#include "base/attributes.h"
#include "base/mem.h"

/* Registration (6.2): an executor that was added while a stage waited, or up to so long before one did, takes tasks from its first launch on if that came within so long. */
#define WAITING_STAGE_US (1000 * US_PER_MS)
#define REGISTRATION_US (5000 * US_PER_MS)
/* Two times that mean the same moment differ by no more. */
#define NEAR_US US_PER_MS

/* What one pass over the attempts of a stage finds; −1: none. */
struct stage_times {
    int64_t submission_us, first_begin_us, last_winner_us, last_gating_us, last_finish_us;
    double gap_ms;  /* an item */
    double lag_ms;  /* from submission to first launch, with slots free */
    double work_ms; /* Σ o' */
    bool any_lost;  /* or a speculative copy */
};

/* Lists of events, sorted each by itself: attempts begin in the order in which they lie and finish in that of their rows, so that there is little to do. */
enum event_list { EVENTS_BEGIN, EVENTS_FINISH, EVENTS_RARE, EVENT_LISTS };

struct maker {
    struct simulation *sim;
    const struct facts *facts;
    struct stage_times *stages;
    uint64_t *events[EVENT_LISTS]; /* see sweep; behind each EVENT_END */
    size_t event_count[EVENT_LISTS];
    int shift;
    struct err *err;
};

/* µs from the begin of the interval; all times of facts but submissions are inside it. */
static int64_t since_begin(const struct facts *facts, int64_t at_ms)
{
    return (MIN(MAX(at_ms, facts->begin_ms), facts->end_ms) - facts->begin_ms) * US_PER_MS;
}

/* --- events in the order of time --- */

/* An event is one number: time (32 bits, in steps of 2^shift ms), kind (3), position of a stage or executor (29): events of one time happen in the order of kinds. A task leaves the
 * queue when it is launched, and takes its slot when that is free for it, which is mostly the same moment: ENTER. Second attempts of an index (AGAIN) left no queue. */
enum sweep_kind { SWEEP_SUBMIT, SWEEP_ENTER, SWEEP_LAUNCH, SWEEP_AGAIN, SWEEP_FINISH, SWEEP_STAGE_END, SWEEP_SLOTS_COME, SWEEP_SLOTS_GO };
#define SWEEP_SUBJECTS ((size_t)1 << 29)
#define EVENT_END UINT64_MAX /* behind all subjects */

static uint64_t event_of(const struct maker *self, int64_t at_us, enum sweep_kind kind, size_t subject)
{
    uint64_t at = (uint64_t)MIN(at_us, self->sim->wall_us) / US_PER_MS >> self->shift;
    return at << 32 | (uint64_t)kind << 29 | (uint64_t)subject;
}

static void event_add(struct maker *self, enum event_list list, int64_t at_us, enum sweep_kind kind, size_t subject)
{
    self->events[list][self->event_count[list]++] = event_of(self, at_us, kind, subject);
}

static enum err_code sort_events(struct maker *self)
{
    size_t most = MAX(self->event_count[EVENTS_BEGIN], MAX(self->event_count[EVENTS_FINISH], self->event_count[EVENTS_RARE]));
    uint64_t *scratch = mem_alloc((most + 1) * sizeof *scratch);
    if (!scratch)
        return err_nomem(self->err);
    for (size_t list = 0; list < EVENT_LISTS; list++) {
        sort_keys(self->events[list], scratch, self->event_count[list]);
        self->events[list][self->event_count[list]] = EVENT_END;
    }
    mem_free(scratch);
    return ERR_OK;
}

/* One pass over attempts: times of stages and executors, and the events of the sweep. */
static void collect(struct maker *self)
{
    const struct facts *facts = self->facts;
    for (size_t s = 0; s < facts->stage_count; s++) {
        const struct stage_fact *stage = &facts->stages[s];
        struct stage_times *times = &self->stages[s];
        *times = (struct stage_times){.first_begin_us = -1, .last_winner_us = -1, .last_gating_us = -1, .last_finish_us = -1};
        if (!stage->attempt_count)
            continue;
        int64_t first_us = since_begin(facts, stage->first_launch_ms);
        times->submission_us = known(stage->submission_ms) ? MIN(since_begin(facts, stage->submission_ms), first_us) : first_us;
        event_add(self, EVENTS_RARE, times->submission_us, SWEEP_SUBMIT, s);
        for (size_t i = stage->first_attempt; i < stage->first_attempt + stage->attempt_count; i++) {
            const struct attempt *attempt = &facts->attempts[i];
            int64_t begin = since_begin(facts, attempt->begin_ms), finish = begin + attempt_occupancy_ms(attempt) * US_PER_MS;
            bool waits = !attempt->again && attempt->begin_ms != facts->launches[i].launch_ms;
            if (waits)
                event_add(self, EVENTS_BEGIN, since_begin(facts, facts->launches[i].launch_ms), SWEEP_LAUNCH, s);
            event_add(self, EVENTS_BEGIN, begin, attempt->again || waits ? SWEEP_AGAIN : SWEEP_ENTER, s);
            self->events[EVENTS_FINISH][stage->first_attempt + attempt->row] = event_of(self, finish, SWEEP_FINISH, s);
            times->first_begin_us = times->first_begin_us < 0 ? begin : MIN(times->first_begin_us, begin);
            times->last_finish_us = MAX(times->last_finish_us, finish);
            if (attempt->kind == WINNER)
                times->last_winner_us = MAX(times->last_winner_us, finish);
            if (attempt->kind != LOST_SPECULATIVE)
                times->last_gating_us = MAX(times->last_gating_us, finish);
            times->work_ms += (double)attempt_occupancy_ms(attempt);
            times->any_lost |= attempt->kind != WINNER || attempt->speculative;
        }
        event_add(self, EVENTS_RARE, times->last_finish_us, SWEEP_STAGE_END, s);
    }
    self->event_count[EVENTS_FINISH] = facts->attempt_count;
}

/* --- slots --- */

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

/* Where its first attempt ran: with dynamic allocation off, stages of task profiles run on the executors of another. */
static uint32_t stage_pool(const struct simulation *sim, uint32_t stage)
{
    return sim->executor_pool[sim->facts->attempts[sim->facts->stages[stage].first_attempt].executor];
}

static enum err_code make_pools(struct maker *self)
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

/* From and until when the slots of each executor take tasks. */
static enum err_code make_availability(struct maker *self)
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
        event_add(self, EVENTS_RARE, from, SWEEP_SLOTS_COME, e);
        event_add(self, EVENTS_RARE, to, SWEEP_SLOTS_GO, e);
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

/* Capacities over time. Executors that outlive the last job stay: their end is the application's, whatever the scenario makes of it. */
static enum err_code make_slots(struct maker *self)
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

/* --- the sweep: what tasks and stages waited for with slots free --- */

/* Two integrals over time serve all stages of a pool: H = ∫ min(idle, P) ÷ P, of which a stage has the part of its own waiting tasks, and Z = ∫ [idle > 0]. P: tasks that wait. */
struct pool_time {
    int64_t slots, busy, waiting, last;
    double share_ms, idle_ms; /* H, Z */
};

struct open_stage {
    double share_at_first_ms; /* H at its first launch */
    double idle_at_submission_ms;
    int64_t left; /* tasks to be launched */
    bool first_seen;
};

static void pool_advance(struct pool_time *pool, int64_t now, double step_ms)
{
    double length_ms = (double)(now - pool->last) * step_ms;
    int64_t idle = pool->slots - pool->busy;
    if (idle > 0) {
        pool->idle_ms += length_ms;
        if (pool->waiting > 0)
            pool->share_ms += length_ms * (idle < pool->waiting ? (double)idle / (double)pool->waiting : 1);
    }
    pool->last = now;
}

static void stage_event(struct open_stage *stage, struct stage_times *times, struct pool_time *pool, enum sweep_kind kind, int64_t num_tasks)
{
    switch (kind) {
    case SWEEP_SUBMIT:
        stage->left = MIN(MAX(num_tasks, 0), SIM_SLOTS_MAX);
        pool->waiting = add_known(pool->waiting, stage->left);
        stage->idle_at_submission_ms = pool->idle_ms;
        break;
    case SWEEP_ENTER:
    case SWEEP_LAUNCH:
    case SWEEP_AGAIN:
        pool->busy += kind != SWEEP_LAUNCH;
        if (!stage->first_seen) {
            stage->first_seen = true;
            stage->share_at_first_ms = pool->share_ms;
            times->lag_ms = pool->idle_ms - stage->idle_at_submission_ms;
        }
        if (kind != SWEEP_AGAIN && stage->left > 0) {
            stage->left--;
            pool->waiting--;
            times->gap_ms += pool->share_ms - stage->share_at_first_ms;
        }
        break;
    case SWEEP_FINISH: pool->busy--; break;
    case SWEEP_STAGE_END:
        times->gap_ms += (double)stage->left * (pool->share_ms - stage->share_at_first_ms);
        pool->waiting -= stage->left;
        stage->left = 0;
        break;
    case SWEEP_SLOTS_COME:
    case SWEEP_SLOTS_GO: break;
    }
}

static inline uint64_t next_event(const uint64_t *next[EVENT_LISTS])
{
    uint64_t event = MIN(*next[EVENTS_BEGIN], MIN(*next[EVENTS_FINISH], *next[EVENTS_RARE]));
    if (event == EVENT_END)
        return event;
    size_t list = event == *next[EVENTS_BEGIN] ? EVENTS_BEGIN : event == *next[EVENTS_FINISH] ? EVENTS_FINISH : EVENTS_RARE;
    next[list]++;
    return event;
}

static enum err_code sweep(struct maker *self)
{
    const struct facts *facts = self->facts;
    const struct simulation *sim = self->sim;
    struct open_stage *open = mem_array(facts->stage_count + 1, sizeof *open);
    struct pool_time *pools = mem_array(sim->pool_count, sizeof *pools);
    enum err_code rc = open && pools ? ERR_OK : err_nomem(self->err);
    double step_ms = (double)((int64_t)1 << self->shift);
    const uint64_t *next[EVENT_LISTS] = {self->events[EVENTS_BEGIN], self->events[EVENTS_FINISH], self->events[EVENTS_RARE]};
    for (uint64_t event; !rc && (event = next_event(next)) != EVENT_END;) {
        size_t subject = event & (SWEEP_SUBJECTS - 1);
        enum sweep_kind kind = (enum sweep_kind)(event >> 29 & 7);
        bool of_executor = kind == SWEEP_SLOTS_COME || kind == SWEEP_SLOTS_GO;
        struct pool_time *pool = &pools[of_executor ? sim->executor_pool[subject] : stage_pool(sim, (uint32_t)subject)];
        pool_advance(pool, (int64_t)(event >> 32), step_ms);
        if (of_executor)
            pool->slots = add_known(pool->slots, kind == SWEEP_SLOTS_COME ? facts->executors[subject].slots : -facts->executors[subject].slots);
        else
            stage_event(&open[subject], &self->stages[subject], pool, kind, facts->stages[subject].num_tasks);
    }
    for (size_t s = 0; s < facts->stage_count; s++)
        if (facts->stages[s].attempt_count)
            self->stages[s].gap_ms /= (double)facts->stages[s].attempt_count;
    mem_free(open);
    mem_free(pools);
    return rc;
}

/* --- jobs --- */

struct job_order {
    int64_t begin_us, end_us;
    uint32_t job, turn;
};

static int compare_turns(const void *a, const void *b)
{
    const struct job_order *x = a, *y = b;
    return x->begin_us != y->begin_us ? (x->begin_us > y->begin_us) - (x->begin_us < y->begin_us) : (x->job > y->job) - (x->job < y->job);
}

static int compare_ends(const void *a, const void *b)
{
    const struct job_order *x = a, *y = b;
    return x->end_us != y->end_us ? (x->end_us > y->end_us) - (x->end_us < y->end_us) : (x->turn > y->turn) - (x->turn < y->turn);
}

/* Position of the job's root SQL execution; NO_ENTITY. */
static uint32_t root_of(const struct facts *facts, const struct job_fact *job)
{
    int64_t id = job->sql_execution_id;
    for (int step = 0; step < 2 && known(id); step++) {
        size_t low = 0, high = facts->sql_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (facts->sqls[middle].execution_id < id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == facts->sql_count || facts->sqls[low].execution_id != id)
            return NO_ENTITY;
        if (step || !known(facts->sqls[low].root_id) || facts->sqls[low].root_id == id)
            return (uint32_t)low;
        id = facts->sqls[low].root_id;
    }
    return NO_ENTITY;
}

/* The predecessor is a job of an earlier turn that was over at most 1 ms after this one began: the one that ended last, of the same SQL execution if there is one. Ends are gone
 * through in step with begins. A job that ended before a begin and has a later turn (both are within that 1 ms) is no predecessor. */
static enum err_code make_predecessors(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    size_t count = sim->job_count;
    struct job_order *turns = mem_array(count + 1, sizeof *turns), *ends = mem_array(count + 1, sizeof *ends);
    uint32_t *last_of_root = mem_array(facts->sql_count + 1, sizeof *last_of_root);
    if (!turns || !ends || !last_of_root) {
        mem_free(turns);
        mem_free(ends);
        mem_free(last_of_root);
        return err_nomem(self->err);
    }
    for (size_t i = 0; i < count; i++)
        turns[i] = (struct job_order){sim->jobs[i].begin_us, sim->jobs[i].end_us, (uint32_t)i, 0};
    for (size_t i = 0; i < facts->sql_count; i++)
        last_of_root[i] = SIM_NONE;
    qsort(turns, count, sizeof *turns, compare_turns);
    for (uint32_t i = 0; i < count; i++) {
        sim->by_turn[i] = turns[i].job;
        sim->jobs[turns[i].job].turn = turns[i].turn = i;
    }
    memcpy(ends, turns, count * sizeof *ends);
    qsort(ends, count, sizeof *ends, compare_ends);
    size_t ended = 0;
    uint32_t last = SIM_NONE;
    for (size_t i = 0; i < count; i++) {
        struct sim_job *job = &sim->jobs[turns[i].job];
        uint32_t root = root_of(facts, &facts->jobs[turns[i].job]);
        for (; ended < count && ends[ended].end_us <= job->begin_us + NEAR_US && sim->jobs[ends[ended].job].turn < i; ended++) {
            last = ends[ended].job;
            uint32_t its_root = root_of(facts, &facts->jobs[last]);
            if (its_root != NO_ENTITY)
                last_of_root[its_root] = last;
        }
        job->predecessor = root != NO_ENTITY && last_of_root[root] != SIM_NONE ? last_of_root[root] : last;
        int64_t gap = job->begin_us - (job->predecessor == SIM_NONE ? 0 : sim->jobs[job->predecessor].end_us);
        job->gap_us = gap > 0 ? gap : 0;
    }
    mem_free(turns);
    mem_free(ends);
    mem_free(last_of_root);
    return ERR_OK;
}

/* Lists of followers, and the cuts (simulation.h). */
static enum err_code make_successors(struct maker *self)
{
    struct simulation *sim = self->sim;
    uint32_t *outside = mem_array(sim->job_count + 1, sizeof *outside); /* by turn: jobs behind the cut that follow on it directly */
    if (!outside)
        return err_nomem(self->err);
    uint32_t total = 0;
    for (size_t i = 0; i < sim->job_count; i++)
        if (sim->jobs[i].predecessor != SIM_NONE)
            sim->jobs[sim->jobs[i].predecessor].successor_count++;
    for (size_t i = 0; i < sim->job_count; i++) {
        sim->jobs[i].first_successor = total;
        total += sim->jobs[i].successor_count;
        sim->jobs[i].successor_count = 0;
    }
    for (uint32_t turn = 0; turn < sim->job_count; turn++) {
        uint32_t job = sim->by_turn[turn], before = sim->jobs[job].predecessor;
        if (before != SIM_NONE)
            sim->successors[sim->jobs[before].first_successor + sim->jobs[before].successor_count++] = job;
    }
    for (size_t k = 0; k <= sim->job_count; k++)
        sim->cuts[k] = (struct sim_cut){SIM_NONE, -1};
    size_t different = 0;
    uint64_t sum = 0; /* of the different turns: the turn itself where there is one */
    for (size_t k = sim->job_count; k-- > 1;) {
        uint32_t before = sim->jobs[sim->by_turn[k]].predecessor;
        if (before == SIM_NONE)
            break;
        uint32_t turn = sim->jobs[before].turn;
        if (outside[k]) {
            different--;
            sum -= k;
        }
        if (!outside[turn]++) {
            different++;
            sum += turn;
        }
        if (different == 1)
            sim->cuts[k].pivot = sim->by_turn[sum];
    }
    mem_free(outside);
    return ERR_OK;
}

/* --- nodes --- */

static int compare_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* One queue a pool of slots, or under FAIR one for each scheduler pool in it. */
static enum err_code make_queues(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    bool fair = str_is(facts_conf(facts, "spark.scheduler.mode"), "FAIR");
    struct str *names = mem_array(facts->job_count + 1, sizeof *names);
    uint64_t *pairs = mem_array(sim->node_count + 1, sizeof *pairs), *sorted = mem_array(sim->node_count + 1, sizeof *sorted);
    sim->queues = arena_zalloc(&sim->arena, sim->node_count + 1, sizeof *sim->queues);
    sim->pool_queue = arena_zalloc(&sim->arena, sim->pool_count, sizeof *sim->pool_queue);
    enum err_code rc = names && pairs && sorted && sim->queues && sim->pool_queue ? ERR_OK : err_nomem(self->err);
    size_t name_count = 0;
    for (size_t i = 0; i < facts->job_count && !rc && fair; i++)
        names[name_count++] = facts->jobs[i].pool;
    if (!rc)
        qsort(names, name_count, sizeof *names, compare_text);
    for (size_t i = 0; i < sim->node_count && !rc; i++) {
        const struct sim_node *node = &sim->nodes[i];
        size_t low = 0, high = name_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (str_compare(names[middle], facts->jobs[node->job].pool) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        pairs[i] = sorted[i] = (uint64_t)stage_pool(sim, node->stage) << 32 | low;
    }
    if (!rc)
        qsort(sorted, sim->node_count, sizeof *sorted, compare_i64);
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
    collect(self);
    enum err_code rc = make_pools(self);
    if (!rc)
        rc = make_availability(self);
    if (rc)
        return rc;
    rc = sort_events(self);
    if (!rc)
        rc = sweep(self);
    if (!rc)
        rc = make_slots(self);
    if (!rc)
        rc = make_predecessors(self);
    if (!rc)
        rc = make_successors(self);
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
