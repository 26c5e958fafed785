/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots of executors and which lane each attempt ran on (spec/findings.md 3.2). */
#include <stdatomic.h>

#include "analysis/facts_parts.h"
#include "analysis/lane_heap.h"
#include "base/beside.h"
#include "base/mem.h"

#define MORE_SLOTS_MAX INT64_C(4096)  /* that are inferred on top of what the cores say */
#define CLEAR_OVERLAP_MS INT64_C(250) /* from here on, and half of its time, an attempt's overlap is more than a late time stamp */
#define OVERLAP_SHARE 0.05            /* of an executor's time in such attempts: it has more slots than its cores say */
#define AHEAD ((size_t)16)            /* attempts of one executor lie apart: they are on their way into the cache while others are looked at */

struct lanes {
    struct facts *facts;
    const int64_t *freed_ms; /* by attempt: when its core was free; NULL: when it finished, as far as is known */
    struct lane *heap;       /* owned */
    size_t room;
    double overlap_ms, total_ms, clear_ms; /* of the last run: Σ (o − o'), Σ o, Σ o of attempts with clear overlap */
};

static size_t lane_count(const struct executor_fact *executor, int64_t slots)
{
    return (size_t)MIN(slots, (int64_t)executor->attempt_count);
}

/* Puts the executor's attempts on `slots` lanes. False: out of memory. */
static bool fill_lanes(struct lanes *self, const struct executor_fact *executor, int64_t slots)
{
    size_t count = lane_count(executor, slots);
    if (mem_grow((void **)&self->heap, &self->room, count, SLOTS_MAX + 1, sizeof *self->heap))
        return false;
    struct lane *heap = self->heap;
    for (size_t i = 0; i < count; i++)
        heap[i] = (struct lane){executor->from_ms, (uint32_t)i};
    self->overlap_ms = self->total_ms = self->clear_ms = 0;
    const uint32_t *positions = self->facts->by_executor + executor->first_attempt;
    for (size_t i = 0; i < executor->attempt_count; i++) {
        if (i + AHEAD < executor->attempt_count) {
            __builtin_prefetch(&self->facts->attempts[positions[i + AHEAD]], 1);
            __builtin_prefetch(&self->facts->launches[positions[i + AHEAD]].launch_ms);
        }
        struct attempt *attempt = &self->facts->attempts[positions[i]];
        int64_t launch_ms = self->facts->launches[positions[i]].launch_ms, length = attempt->finish_ms - launch_ms;
        int64_t free_ms = self->freed_ms ? self->freed_ms[positions[i]] : attempt->finish_ms;
        attempt->begin_ms = MIN(MAX(launch_ms, heap[0].free_ms), attempt->finish_ms);
        attempt->lane = (uint16_t)heap[0].number;
        int64_t overlap = attempt->begin_ms - launch_ms;
        self->total_ms += (double)length;
        self->overlap_ms += (double)overlap;
        if (overlap >= MAX(CLEAR_OVERLAP_MS, (length + 1) / 2))
            self->clear_ms += (double)length;
        if (free_ms > heap[0].free_ms)
            lane_sink(heap, count, free_ms);
    }
    return true;
}

static bool too_few(const struct lanes *self)
{
    return self->clear_ms > OVERLAP_SHARE * self->total_ms;
}

/* The fewest slots on which the attempts do not clearly overlap: looked for in growing steps, then between the last two. */
static bool infer_slots(struct lanes *self, struct executor_fact *executor)
{
    int64_t low = executor->slots, limit = MIN(low + MORE_SLOTS_MAX, SLOTS_MAX), high = low;
    if (!fill_lanes(self, executor, low))
        return false;
    if (!too_few(self) || low >= limit)
        return true;
    for (int64_t step = 1; too_few(self) && high < limit; step *= 2) {
        low = high;
        high = MIN(high + step, limit);
        if (!fill_lanes(self, executor, high))
            return false;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (!fill_lanes(self, executor, middle))
            return false;
        if (too_few(self))
            low = middle;
        else
            high = middle;
    }
    executor->slots = high;
    executor->slots_inferred = true;
    return fill_lanes(self, executor, high);
}

/* ---- Which attempts an executor has ---- */

/* The place of an executor's next attempt, and its last one: while stages come one after the other its attempts come in their order. */
struct order {
    size_t next;
    int64_t launch_ms, task_id;
    bool unsorted;
};

static enum err_code sort_executor(struct facts *self, const struct executor_fact *executor, struct err *err)
{
    size_t count = executor->attempt_count;
    uint32_t *positions = self->by_executor + executor->first_attempt;
    struct sort_item *items = facts_scratch(self, count);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sort_item){self->launches[positions[i]].launch_ms, self->launches[positions[i]].task_id, positions[i]};
    sort_items(items, items + count, count);
    for (size_t i = 0; i < count; i++)
        positions[i] = items[i].position;
    return ERR_OK;
}

static enum err_code sort_by_executor(struct facts *self, struct err *err)
{
    CLEANUP(mem_freep) struct order *orders = mem_array(self->executor_count + 1, sizeof *orders);
    self->by_executor = mem_array(self->attempt_count + 1, sizeof *self->by_executor);
    if (!orders || !self->by_executor)
        return err_nomem(err);
    size_t first = 0;
    for (size_t e = 0; e < self->executor_count; e++) {
        self->executors[e].first_attempt = orders[e].next = first;
        orders[e].launch_ms = orders[e].task_id = INT64_MIN;
        first += self->executors[e].attempt_count;
    }
    for (size_t i = 0; i < self->attempt_count; i++) {
        const struct attempt_launch *launch = &self->launches[i];
        struct order *order = &orders[self->attempts[i].executor];
        self->by_executor[order->next++] = (uint32_t)i;
        order->unsorted |= launch->launch_ms < order->launch_ms || (launch->launch_ms == order->launch_ms && launch->task_id < order->task_id);
        order->launch_ms = launch->launch_ms;
        order->task_id = launch->task_id;
    }
    enum err_code rc = ERR_OK;
    for (size_t e = 0; e < self->executor_count && !rc; e++)
        if (orders[e].unsorted)
            rc = sort_executor(self, &self->executors[e], err);
    return rc;
}

/* Most attempts at the same time. */
static enum err_code most_at_once(const struct facts *self, const struct executor_fact *executor, int64_t *ret, struct err *err)
{
    size_t count = executor->attempt_count, ended = 0;
    *ret = 0;
    CLEANUP(mem_freep) int64_t *ends = mem_array(2 * count + 1, sizeof *ends);
    if (!ends)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        ends[i] = self->attempts[self->by_executor[executor->first_attempt + i]].finish_ms;
    sort_times(ends, ends + count, count);
    for (size_t i = 0; i < count; i++) {
        int64_t launch_ms = self->launches[self->by_executor[executor->first_attempt + i]].launch_ms;
        while (ended < i && ends[ended] <= launch_ms)
            ended++;
        *ret = MAX(*ret, (int64_t)(i + 1 - ended));
    }
    return ERR_OK;
}

/* ---- Slots as the log has them ---- */

struct cpus {
    int64_t profile_id;
    double amount;
};

struct profiles {
    struct cpus *items; /* owned */
    size_t count, capacity;
    double otherwise;
};

static enum err_code read_profiles(struct profiles *ret, const struct facts *self, struct err *err)
{
    *ret = (struct profiles){.otherwise = 1};
    int64_t cpus;
    if (str_to_i64(facts_conf(self, "spark.task.cpus"), &cpus) && cpus > 0)
        ret->otherwise = (double)cpus;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "SELECT profile_id, amount FROM resource_request WHERE kind = 1 AND name = 'cpus'", err);
    if (rc)
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        if (mem_grow((void **)&ret->items, &ret->capacity, ret->count + 1, (size_t)1 << 24, sizeof *ret->items)) {
            rc = err_nomem(err);
            break;
        }
        ret->items[ret->count++] = (struct cpus){db_i64(stmt, 0), db_f64(stmt, 1)}; /* by profile_id: the primary key begins with it */
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static double cpus_of(const struct profiles *self, int64_t profile_id)
{
    size_t low = 0;
    int64_t wanted = known_or(profile_id, 0); /* the default profile */
    for (size_t high = self->count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (self->items[i].profile_id < wanted)
            low = i + 1;
        else
            high = i;
    }
    bool found = low < self->count && self->items[low].profile_id == wanted && self->items[low].amount > 0;
    return found ? self->items[low].amount : self->otherwise;
}

/* N of local[N] or local[N,failures]; 1 of local; UNKNOWN for local[*]. */
static int64_t cores_of_master(struct str master)
{
    if (str_is(master, "local"))
        return 1;
    if (!str_starts(master, "local["))
        return UNKNOWN;
    struct str digits = {master.ptr + 6, 0};
    while (digits.len < master.len - 6 && digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9')
        digits.len++;
    int64_t cores;
    return str_to_i64(digits, &cores) ? cores : UNKNOWN;
}

static enum err_code set_slots(const struct facts *self, const struct profiles *profiles, struct executor_fact *executor, struct err *err)
{
    executor->slots = 0;
    if (executor->is_driver && !self->is_local && !executor->attempt_count)
        return ERR_OK;
    int64_t cores = executor->cores;
    if (!known(cores) && executor->is_driver)
        cores = cores_of_master(facts_conf(self, "spark.master"));
    if (!known(cores)) {
        enum err_code rc = most_at_once(self, executor, &executor->slots, err);
        executor->slots = MIN(executor->slots, SLOTS_MAX);
        return rc;
    }
    double slots = (double)cores / cpus_of(profiles, executor->profile_id);
    executor->slots = slots >= SLOTS_MAX ? SLOTS_MAX : slots >= 1 ? (int64_t)slots : 1;
    return ERR_OK;
}

static void set_life(const struct facts *self, struct executor_fact *executor)
{
    /* The driver's block manager is there long before a task can run in it; only ExecutorAdded, which says the cores, makes it an executor before its first task. */
    int64_t add_ms = executor->is_driver && !known(executor->cores) ? UNKNOWN : executor->add_ms;
    executor->from_ms = clip_time(self, known_or(min_known(add_ms, executor->first_launch_ms), self->end_ms));
    executor->to_ms = clip_time(self, max_known(executor->removed && known(executor->remove_ms) ? executor->remove_ms : self->end_ms, executor->last_finish_ms));
    if (!executor->slots || executor->to_ms < executor->from_ms)
        executor->to_ms = executor->from_ms;
}

static enum err_code set_slot_peak(struct facts *self, struct err *err)
{
    struct sort_item *items = facts_scratch(self, 2 * self->executor_count);
    if (!items)
        return err_nomem(err);
    size_t count = 0;
    for (size_t i = 0; i < self->executor_count; i++) {
        const struct executor_fact *executor = &self->executors[i];
        if (executor->from_ms == executor->to_ms)
            continue;
        items[count++] = (struct sort_item){executor->from_ms, executor->slots, (uint32_t)i};
        items[count++] = (struct sort_item){executor->to_ms, -executor->slots, (uint32_t)i}; /* ends sort before begins */
    }
    sort_items(items, items + count, count);
    int64_t slots = 0;
    for (size_t i = 0; i < count; i++) {
        slots += items[i].tie;
        self->slot_peak = MAX(self->slot_peak, slots);
    }
    return ERR_OK;
}

/* The first winner of a stage on a lane is cold: `seen` holds the stage that was last looked at, by lane. */
static enum err_code mark_cold(struct facts *self, struct err *err)
{
    CLEANUP(mem_freep) size_t *first_lane = mem_array(self->executor_count + 1, sizeof *first_lane);
    if (!first_lane)
        return err_nomem(err);
    size_t lanes = 0;
    for (size_t i = 0; i < self->executor_count; i++) {
        first_lane[i] = lanes;
        lanes += lane_count(&self->executors[i], self->executors[i].slots);
    }
    CLEANUP(mem_freep) uint32_t *seen = mem_array(lanes + 1, sizeof *seen);
    if (!seen)
        return err_nomem(err);
    for (size_t i = 0; i < self->attempt_count; i++) {
        struct attempt *attempt = &self->attempts[i];
        uint32_t *lane = &seen[first_lane[attempt->executor] + attempt->lane];
        if (attempt->kind != WINNER || *lane == attempt->stage + 1)
            continue;
        *lane = attempt->stage + 1;
        attempt->cold = true;
    }
    return ERR_OK;
}

/* Executors are dealt with one by one, by the thread that is free. */
struct lane_work {
    struct facts *facts;
    const struct profiles *profiles;
    atomic_size_t next;
    double *overlap_ms; /* by executor; owned */
};

static enum err_code lanes_of_executors(struct lane_work *self, struct err *err)
{
    struct facts *facts = self->facts;
    struct lanes lanes = {.facts = facts};
    enum err_code rc = ERR_OK;
    for (size_t i; !rc && (i = atomic_fetch_add(&self->next, 1)) < facts->executor_count;) {
        struct executor_fact *executor = &facts->executors[i];
        if ((rc = set_slots(facts, self->profiles, executor, err)))
            break;
        set_life(facts, executor);
        if (executor->attempt_count && !infer_slots(&lanes, executor))
            rc = err_nomem(err);
        if (executor->attempt_count)
            self->overlap_ms[i] = lanes.overlap_ms;
    }
    mem_free(lanes.heap);
    return rc;
}

/* Of winners, which lanes do not ask for; then lanes too, while there are any left. */
struct classifying {
    struct lane_work *lanes;
    enum err_code rc;
    struct err err;
};

static void classify(void *context)
{
    struct classifying *self = context;
    self->rc = facts_classify(self->lanes->facts, &self->err);
    if (!self->rc)
        self->rc = lanes_of_executors(self->lanes, &self->err);
}

static enum err_code classify_and_fill(struct lane_work *work, struct err *err)
{
    struct classifying classifying = {.lanes = work};
    struct beside beside;
    beside_start(&beside, work->facts->attempt_count >= FACTS_BESIDE_FROM, classify, &classifying);
    enum err_code rc = lanes_of_executors(work, err);
    beside_join(&beside);
    return rc || !classifying.rc ? rc : err_set(err, classifying.rc, "%s", classifying.err.message);
}

/* ---- Results on their way to the driver ---- */

/* By attempt: its finish, or, where the driver fetched its result, when that began. */
static enum err_code when_cores_were_free(const struct facts *self, int64_t *ret, struct err *err)
{
    for (uint32_t s = 0; s < self->stage_count; s++) {
        const struct stage_fact *stage = &self->stages[s];
        struct task_values values;
        enum err_code rc = stage->attempt_count ? facts_values(self, s, 1U << VALUE_GETTING_RESULT_MS, &values, err) : ERR_OK;
        if (rc)
            return rc;
        for (size_t i = stage->first_attempt; i < stage->first_attempt + stage->attempt_count; i++) {
            int64_t fetched_ms = values.of[VALUE_GETTING_RESULT_MS][i - stage->first_attempt];
            bool was_fetched = known(fetched_ms) && fetched_ms >= self->launches[i].launch_ms && fetched_ms < self->attempts[i].finish_ms;
            ret[i] = was_fetched ? fetched_ms : self->attempts[i].finish_ms;
        }
        if (stage->attempt_count)
            task_values_dispose(&values);
    }
    return ERR_OK;
}

/* A core is free again when its task has run, and the task ends when the driver has fetched its result: while large results are fetched the next tasks run already, on the same cores. What looked
 * like more slots than cores is looked at again with that in mind. Times of results are read here alone, for few runs have such executors. */
static enum err_code infer_again(struct lane_work *work, struct err *err)
{
    struct facts *facts = work->facts;
    bool any = false;
    for (size_t i = 0; i < facts->executor_count; i++)
        any |= facts->executors[i].slots_inferred;
    if (!any)
        return ERR_OK;
    CLEANUP(mem_freep) int64_t *freed_ms = mem_array(facts->attempt_count + 1, sizeof *freed_ms);
    enum err_code rc = freed_ms ? when_cores_were_free(facts, freed_ms, err) : err_nomem(err);
    struct lanes lanes = {.facts = facts};
    for (size_t i = 0; i < facts->executor_count && !rc; i++) {
        struct executor_fact *executor = &facts->executors[i];
        if (!executor->slots_inferred)
            continue;
        executor->slots_inferred = false;
        lanes.freed_ms = freed_ms;
        if ((rc = set_slots(facts, work->profiles, executor, err)))
            break;
        bool done = infer_slots(&lanes, executor);
        lanes.freed_ms = NULL; /* a result that is fetched is part of its task: the next one's own time begins behind it */
        if (!done || !fill_lanes(&lanes, executor, executor->slots))
            rc = err_nomem(err);
        work->overlap_ms[i] = lanes.overlap_ms;
    }
    mem_free(lanes.heap);
    return rc;
}

enum err_code facts_lanes(struct facts *self, struct err *err)
{
    struct profiles profiles = {0};
    struct lane_work work = {.facts = self, .profiles = &profiles, .overlap_ms = mem_array(self->executor_count + 1, sizeof *work.overlap_ms)};
    enum err_code rc = work.overlap_ms ? sort_by_executor(self, err) : err_nomem(err);
    if (!rc)
        rc = read_profiles(&profiles, self, err);
    if (!rc)
        rc = classify_and_fill(&work, err);
    if (!rc)
        rc = infer_again(&work, err);
    for (size_t i = 0; i < self->executor_count && !rc; i++)
        self->overlap_ms += work.overlap_ms[i];
    mem_free(profiles.items);
    mem_free(work.overlap_ms);
    if (!rc)
        rc = set_slot_peak(self, err);
    return rc ? rc : mark_cold(self, err);
}
