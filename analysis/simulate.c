/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/completeness.h"
#include "analysis/simulation.h"
#include "base/attributes.h"
#include "base/mem.h"

/* 6.4: beyond this error nothing is priced; half widths of bands. */
#define ERROR_AT_MOST 0.15
#define BAND_AT_LEAST 0.05
#define BAND_WEAK_AT_LEAST 0.5
#define BAND_SLOTS_AT_LEAST 0.25

/* W5: what is left of a gap. */
#define GAP_LEFT_MS 1000

/* One run being put together. */
struct scenario {
    const struct simulation *sim;
    struct change *changes; /* a copy, in the order of 6.6 */
    size_t count;
    struct arena arena;
    struct sim_override *overrides;
    size_t override_count;
    struct sim_slots *slots; /* NULL: as observed */
    size_t slot_count;
    int64_t *gaps_us; /* by job; NULL: as observed */
    int64_t tail_us;  /* from the last job's end to the end */
    bool more_slots, unlimited;
    uint32_t *turns; /* of jobs that differ */
    size_t turn_count, turn_room;
    struct err *err;
};

static enum err_code turn_changes(struct scenario *self, uint32_t job)
{
    if (mem_grow((void **)&self->turns, &self->turn_room, self->turn_count + 1, SIZE_MAX / sizeof *self->turns, sizeof *self->turns))
        return err_nomem(self->err);
    self->turns[self->turn_count++] = self->sim->jobs[job].turn;
    return ERR_OK;
}

/* What is told is whole ms. */
static int64_t ms_of(int64_t us)
{
    return (us + US_PER_MS / 2) / US_PER_MS;
}

/* --- order --- */

/* ZERO stands where DROP does. */
static int rank_of(enum change_kind kind)
{
    return kind == CHANGE_ZERO ? (int)CHANGE_DROP : (int)kind;
}

static bool of_items(enum change_kind kind)
{
    return rank_of(kind) <= CHANGE_MERGE;
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (rank_of(x->kind) != rank_of(y->kind))
        return rank_of(x->kind) - rank_of(y->kind);
    if (x->stage != y->stage)
        return (x->stage > y->stage) - (x->stage < y->stage);
    if (x->executor != y->executor)
        return (x->executor > y->executor) - (x->executor < y->executor);
    if (x->part != y->part)
        return (int)x->part - (int)y->part;
    return (x->number > y->number) - (x->number < y->number);
}

/* Of two findings with the same cure one does it. Lost work and gaps are sets, which add up by themselves. */
static bool does_again(const struct change *a, const struct change *b)
{
    return a->kind == b->kind && a->stage == b->stage && of_items(a->kind) && a->kind != CHANGE_NO_LOST && (a->kind != CHANGE_HOST || a->executor == b->executor) &&
           ((a->kind != CHANGE_PART && a->kind != CHANGE_FACTOR) || a->part == b->part);
}

static enum err_code take_changes(struct scenario *self, const struct change *changes, size_t count)
{
    self->changes = mem_array(count + 1, sizeof *self->changes);
    if (!self->changes)
        return err_nomem(self->err);
    if (count)
        memcpy(self->changes, changes, count * sizeof *changes);
    qsort(self->changes, count, sizeof *self->changes, compare_changes);
    for (size_t i = 0; i < count; i++)
        if (!self->count || !does_again(&self->changes[self->count - 1], &self->changes[i]))
            self->changes[self->count++] = self->changes[i];
    return ERR_OK;
}

/* --- items --- */

static bool concerns(const struct change *change, const struct sim_node *node)
{
    return of_items(change->kind) && (change->stage == NO_ENTITY || change->stage == node->stage) && (change->kind != CHANGE_NO_LOST || node->lossy);
}

static enum err_code change_node(struct scenario *self, uint32_t id)
{
    const struct sim_node *node = &self->sim->nodes[id];
    struct sim_override *override = &self->overrides[self->override_count];
    struct sim_work work = sim_work_of(self->sim, node);
    enum err_code rc = ERR_OK;
    bool no_lag = false;
    for (size_t i = 0; i < self->count && !rc; i++) {
        if (!concerns(&self->changes[i], node))
            continue;
        rc = sim_work_change(self->sim, node, &work, &self->changes[i], self->err);
        no_lag |= self->changes[i].kind == CHANGE_LAG;
    }
    *override = (struct sim_override){.node = id, .no_lag = no_lag || work.count == 0, .no_tail = no_lag};
    if (!rc)
        rc = sim_work_seal(self->sim, node, &work, &self->arena, &override->costs, self->err);
    sim_work_dispose(&work);
    self->override_count++;
    return rc ? rc : turn_changes(self, node->job);
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum err_code change_items(struct scenario *self)
{
    const struct simulation *sim = self->sim;
    bool all = false;
    for (size_t i = 0; i < self->count; i++)
        all |= of_items(self->changes[i].kind) && self->changes[i].stage == NO_ENTITY;
    size_t count = all ? sim->node_count : self->count, used = 0;
    uint32_t *nodes = mem_array(count + 1, sizeof *nodes);
    self->overrides = mem_array(count + 1, sizeof *self->overrides);
    enum err_code rc = nodes && self->overrides ? ERR_OK : err_nomem(self->err);
    for (size_t i = 0; i < count && !rc; i++) {
        if (all)
            nodes[used++] = (uint32_t)i;
        else if (of_items(self->changes[i].kind) && self->changes[i].stage < sim->facts->stage_count && sim->stage_node[self->changes[i].stage] != SIM_NONE)
            nodes[used++] = sim->stage_node[self->changes[i].stage];
    }
    if (!rc)
        qsort(nodes, used, sizeof *nodes, compare_ids);
    for (size_t i = 0; i < used && !rc; i++) {
        bool any = false;
        for (size_t k = 0; k < self->count && !any && (!i || nodes[i] != nodes[i - 1]); k++)
            any = concerns(&self->changes[k], &sim->nodes[nodes[i]]);
        if (any)
            rc = change_node(self, nodes[i]);
    }
    mem_free(nodes);
    return rc;
}

/* --- gaps --- */

/* What chosen gaps that are over by then give together. `saved[i]` is that of the gaps before i. */
static int64_t saved_until(const struct simulation *sim, const int64_t *saved, int64_t at_us)
{
    const struct accounts *accounts = sim->accounts;
    size_t low = 0, high = accounts->gap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((accounts->gaps[middle].to_ms - sim->facts->begin_ms) * US_PER_MS <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return saved[low];
}

static enum err_code own_gaps(struct scenario *self)
{
    if (self->gaps_us)
        return ERR_OK;
    self->gaps_us = mem_array(self->sim->job_count + 1, sizeof *self->gaps_us);
    if (!self->gaps_us)
        return err_nomem(self->err);
    for (size_t j = 0; j < self->sim->job_count; j++)
        self->gaps_us[j] = self->sim->jobs[j].gap_us;
    return ERR_OK;
}

static enum err_code shorten(struct scenario *self, uint32_t job, int64_t by_us)
{
    if (by_us <= 0)
        return ERR_OK;
    self->gaps_us[job] = self->gaps_us[job] > by_us ? self->gaps_us[job] - by_us : 0;
    return turn_changes(self, job);
}

static enum err_code change_gaps(struct scenario *self)
{
    const struct simulation *sim = self->sim;
    bool any = false;
    for (size_t i = 0; i < self->count; i++)
        any |= self->changes[i].kind == CHANGE_GAPS;
    size_t count = any && sim->accounts ? sim->accounts->gap_count : 0;
    if (!count)
        return ERR_OK;
    int64_t *saved = mem_array(count + 1, sizeof *saved);
    enum err_code rc = saved ? own_gaps(self) : err_nomem(self->err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct change *change = &self->changes[i];
        for (size_t k = 0; change->kind == CHANGE_GAPS && k < change->gap_count; k++) {
            if (change->gaps[k] >= count)
                continue;
            const struct driver_gap *gap = &sim->accounts->gaps[change->gaps[k]];
            int64_t saves = (gap->to_ms - gap->from_ms) * US_PER_MS - (int64_t)(fmax(0, change->number) * US_PER_MS);
            if (saves > saved[change->gaps[k] + 1])
                saved[change->gaps[k] + 1] = saves;
        }
    }
    for (size_t i = 0; i < count && !rc; i++)
        saved[i + 1] += saved[i];
    for (uint32_t j = 0; j < sim->job_count && !rc; j++) {
        const struct sim_job *job = &sim->jobs[j];
        rc = shorten(self, j, saved_until(sim, saved, job->begin_us) - (job->predecessor == SIM_NONE ? 0 : saved_until(sim, saved, sim->jobs[job->predecessor].end_us)));
    }
    if (!rc) {
        self->tail_us -= saved[count] - saved_until(sim, saved, sim->last_end_us);
        self->tail_us = self->tail_us > 0 ? self->tail_us : 0;
    }
    mem_free(saved);
    return rc;
}

/* --- slots --- */

static enum err_code own_slots(struct scenario *self)
{
    if (self->slots)
        return ERR_OK;
    self->slots = mem_array(self->sim->slot_count + 1, sizeof *self->slots);
    if (!self->slots)
        return err_nomem(self->err);
    if (self->sim->slot_count)
        memcpy(self->slots, self->sim->slots, self->sim->slot_count * sizeof *self->slots);
    self->slot_count = self->sim->slot_count;
    return ERR_OK;
}

/* W9. A pool that has slots keeps one, or one executor. Executors come and go in the largest pool. */
static void change_capacity(struct scenario *self, const struct change *change)
{
    const struct simulation *sim = self->sim;
    uint32_t pool = 0;
    for (uint32_t i = 1; i < sim->pool_count; i++)
        pool = sim->pools[i].peak > sim->pools[pool].peak ? i : pool;
    for (size_t i = 0; i < self->slot_count; i++) {
        struct sim_slots *slots = &self->slots[i];
        if (slots->capacity <= 0)
            continue;
        double size = (double)sim->pools[pool].per_executor, now = (double)slots->capacity, least = 1;
        if (change->executors) {
            least = fmin(now, size);
            now = slots->pool == pool ? now + (double)change->executors * size : now;
        } else {
            now = floor(now * change->number + 0.5);
        }
        slots->capacity = (int64_t)fmin(fmax(now, least), (double)SIM_SLOTS_MAX);
    }
}

/* W10: as many slots as each pool ever had, from the first executor on. */
static enum err_code ramp(struct scenario *self)
{
    int64_t *peaks = mem_array(self->sim->pool_count, sizeof *peaks);
    if (!peaks)
        return err_nomem(self->err);
    for (size_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].capacity > peaks[self->slots[i].pool])
            peaks[self->slots[i].pool] = self->slots[i].capacity;
    int64_t first_us = self->slot_count ? self->slots[0].time_us : 0;
    self->slot_count = 0;
    for (uint32_t pool = 0; pool < self->sim->pool_count; pool++)
        if (peaks[pool])
            self->slots[self->slot_count++] = (struct sim_slots){first_us, pool, peaks[pool]};
    mem_free(peaks);
    return ERR_OK;
}

/* W13: the first executor comes so long after the begin; all that began after it moves with it. */
static enum err_code change_startup(struct scenario *self, double wanted_us)
{
    const struct simulation *sim = self->sim;
    if (!((double)sim->first_executor_us > wanted_us))
        return ERR_OK;
    int64_t first_us = sim->first_executor_us, earlier_us = first_us - (int64_t)fmax(0, wanted_us);
    enum err_code rc = own_gaps(self);
    if (rc)
        return rc;
    for (size_t i = 0; i < self->slot_count; i++)
        self->slots[i].time_us = self->slots[i].time_us > earlier_us ? self->slots[i].time_us - earlier_us : 0;
    for (uint32_t j = 0; j < sim->job_count && !rc; j++)
        if (sim->jobs[j].predecessor == SIM_NONE && sim->jobs[j].begin_us >= first_us)
            rc = shorten(self, j, earlier_us);
    return rc;
}

static enum err_code change_slots(struct scenario *self)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct change *change = &self->changes[i];
        if (change->kind != CHANGE_SLOTS && change->kind != CHANGE_RAMP && change->kind != CHANGE_STARTUP)
            continue;
        rc = own_slots(self);
        if (rc || change->kind == CHANGE_STARTUP)
            rc = rc ? rc : change_startup(self, change->number * US_PER_MS);
        else if (change->kind == CHANGE_RAMP)
            rc = ramp(self);
        else if (!change->executors && isinf(change->number))
            self->unlimited = true;
        else
            change_capacity(self, change);
        self->more_slots |= change->kind == CHANGE_SLOTS && (change->executors > 0 || (!change->executors && change->number > 1));
    }
    return rc;
}

/* --- runs --- */

static enum err_code scenario_run(struct scenario *self, struct simulated *ret)
{
    const struct simulation *sim = self->sim;
    enum err_code rc = change_items(self);
    if (!rc)
        rc = change_gaps(self);
    if (!rc)
        rc = change_slots(self);
    if (rc)
        return rc;
    int64_t end_us = sim->as_observed_us - (sim->wall_us - sim->last_end_us);
    if (self->turn_count || self->slots) {
        if (self->turn_count)
            qsort(self->turns, self->turn_count, sizeof *self->turns, compare_ids);
        for (size_t i = 0; i < self->override_count; i++)
            ret->items += sim->facts->stages[sim->nodes[self->overrides[i].node].stage].attempt_count;
        rc = sim_engine(&(struct sim_run){.simulation = sim,
                                          .overrides = self->overrides,
                                          .override_count = self->override_count,
                                          .slots = self->slots ? self->slots : sim->slots,
                                          .slot_count = self->slots ? self->slot_count : sim->slot_count,
                                          .gaps_us = self->gaps_us,
                                          .unlimited = self->unlimited,
                                          .partial = !self->slots,
                                          .turns = self->turns,
                                          .turn_count = self->turn_count,
                                          .items = &ret->items},
                        &end_us, self->err);
    }
    ret->wall_ms = ms_of(end_us + self->tail_us);
    ret->grew = self->more_slots && end_us + self->tail_us > sim->as_observed_us;
    return rc;
}

bool change_reads_values(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_PART:
    case CHANGE_SPILL:
    case CHANGE_FACTOR: return true;
    case CHANGE_SPLIT:
    case CHANGE_MERGE: return !(change->overhead_ms > 0);
    default: return false;
    }
}

enum err_code simulation_run(const struct simulation *self, const struct change *changes, size_t count, struct simulated *ret, struct err *err)
{
    struct scenario scenario = {.sim = self, .tail_us = self->wall_us - self->last_end_us, .err = err};
    arena_init(&scenario.arena, SIZE_MAX);
    *ret = (struct simulated){0};
    enum err_code rc = take_changes(&scenario, changes, count);
    if (!rc)
        rc = scenario_run(&scenario, ret);
    mem_free(scenario.turns);
    mem_free(scenario.changes);
    mem_free(scenario.overrides);
    mem_free(scenario.slots);
    mem_free(scenario.gaps_us);
    arena_dispose(&scenario.arena);
    return rc;
}

enum err_code simulation_without_lost(const struct simulation *self, struct simulated *ret, struct err *err)
{
    struct without_lost *once = self->without_lost;
    enum err_code rc = ERR_OK;
    pthread_mutex_lock(&once->lock);
    if (!once->known) {
        rc = simulation_run(self, &(struct change){.kind = CHANGE_NO_LOST, .stage = NO_ENTITY, .executor = NO_ENTITY}, 1, &once->simulated, err);
        once->known = !rc;
    }
    *ret = once->simulated;
    pthread_mutex_unlock(&once->lock);
    return rc;
}

enum err_code simulation_calibrate(const struct simulation *self, struct calibration *ret, struct err *err)
{
    double jobs_ms = self->accounts ? self->accounts->jobs_ms : 0;
    int64_t slots = self->facts->slot_peak;
    *ret = (struct calibration){.observed_ms = ms_of(self->wall_us), .as_observed_ms = ms_of(self->as_observed_us)};
    ret->error = (double)(self->as_observed_us - self->wall_us) / US_PER_MS / MAX(jobs_ms, 1);
    ret->prices_allowed = fabs(ret->error) <= ERROR_AT_MOST && completeness_of(self->facts).score >= COMPLETE_FOR_PRICES;
    double work_ms = (slots > 0 ? self->work_ms / (double)slots : 0) + fmax(0, (double)self->wall_us / US_PER_MS - jobs_ms);
    ret->t_work_ms = (int64_t)fmin(work_ms + 0.5, (double)INT64_MAX / 2);
    struct simulated unlimited;
    enum err_code rc = simulation_run(self, &(struct change){.kind = CHANGE_SLOTS, .stage = NO_ENTITY, .number = INFINITY}, 1, &unlimited, err);
    ret->t_inf_ms = unlimited.wall_ms;
    return rc;
}

double simulation_job_error(const struct simulation *self, uint32_t job)
{
    if (job >= self->job_count || self->jobs[job].end_us <= self->jobs[job].begin_us)
        return NAN;
    return (double)(self->job_end_us[job] - self->job_begin_us[job]) / (double)(self->jobs[job].end_us - self->jobs[job].begin_us) - 1;
}

/* --- prices --- */

static double half_width(const struct calibration *calibration, enum band band)
{
    double least = band == BAND_WEAK ? BAND_WEAK_AT_LEAST : band == BAND_SLOTS ? BAND_SLOTS_AT_LEAST : BAND_AT_LEAST;
    return fmax(fabs(calibration->error), least);
}

struct price price_of(const struct calibration *calibration, int64_t saved_ms, enum band band)
{
    if (!calibration->prices_allowed)
        return (struct price){UNKNOWN, UNKNOWN, UNKNOWN};
    double saved = fmax(0, (double)saved_ms), half = half_width(calibration, band);
    return (struct price){(int64_t)saved, (int64_t)(fmax(0, saved * (1 - half)) + 0.5), (int64_t)(saved * (1 + half) + 0.5)};
}

struct what_if what_if_of(const struct calibration *calibration, const char *scenario, const char *subject, int64_t simulated_ms, enum band band)
{
    struct what_if ret = {.scenario = scenario};
    snprintf(ret.subject, sizeof ret.subject, "%s", subject);
    double saved = (double)(calibration->as_observed_ms - simulated_ms), half = half_width(calibration, band) * fabs(saved),
           wall = fmax(0, (double)calibration->observed_ms - saved);
    ret.wall_ms = (int64_t)wall;
    ret.low_ms = (int64_t)(fmax(0, wall - half) + 0.5);
    ret.high_ms = (int64_t)(wall + half + 0.5);
    return ret;
}

/* Gaps in which nothing but the user's code and the end of the application can have been waited for; as APP.DRIVER_GAP. */
static size_t *long_gaps(const struct accounts *accounts, size_t *ret_count)
{
    *ret_count = 0;
    size_t *gaps = mem_array(accounts->gap_count + 1, sizeof *gaps);
    for (size_t i = 0; gaps && i < accounts->gap_count; i++)
        if ((accounts->gaps[i].kind == BUCKET_GAP_USER || accounts->gaps[i].kind == BUCKET_GAP_SHUTDOWN) && accounts->gaps[i].to_ms - accounts->gaps[i].from_ms > GAP_LEFT_MS)
            gaps[(*ret_count)++] = i;
    return gaps;
}

enum err_code what_ifs_make(struct what_if **ret, size_t *ret_count, const struct simulation *simulation, const struct calibration *calibration, struct err *err)
{
    /* What is asked for most comes first: of a large run only that is in the budget. Factors are those of Sparklens. */
    static const struct {
        const char *scenario, *subject;
        struct change change;
    } rows[] = {
        {"W9", "1", {.kind = CHANGE_SLOTS, .number = 1}},         {"W4", "", {.kind = CHANGE_NO_LOST, .stage = NO_ENTITY}},
        {"W5", "", {.kind = CHANGE_GAPS, .number = GAP_LEFT_MS}}, {"W9", "2", {.kind = CHANGE_SLOTS, .number = 2}},
        {"W9", "0.5", {.kind = CHANGE_SLOTS, .number = 0.5}},     {"W9", "+1", {.kind = CHANGE_SLOTS, .executors = 1}},
        {"W9", "-1", {.kind = CHANGE_SLOTS, .executors = -1}},    {"W10", "", {.kind = CHANGE_RAMP}},
        {"W9", "5", {.kind = CHANGE_SLOTS, .number = 5}},         {"W9", "0.1", {.kind = CHANGE_SLOTS, .number = 0.1}},
        {"W9", "3", {.kind = CHANGE_SLOTS, .number = 3}},         {"W9", "1.5", {.kind = CHANGE_SLOTS, .number = 1.5}},
        {"W9", "0.2", {.kind = CHANGE_SLOTS, .number = 0.2}},     {"W9", "0.8", {.kind = CHANGE_SLOTS, .number = 0.8}},
        {"W9", "4", {.kind = CHANGE_SLOTS, .number = 4}},         {"W9", "1.2", {.kind = CHANGE_SLOTS, .number = 1.2}},
        {"W9", "1.1", {.kind = CHANGE_SLOTS, .number = 1.1}},
    };
    *ret = NULL;
    *ret_count = 0;
    if (!calibration->prices_allowed || !simulation->slot_count)
        return ERR_OK;
    size_t gap_count;
    size_t *gaps = long_gaps(simulation->accounts, &gap_count);
    struct what_if *out = mem_array(ARRAY_LENGTH(rows), sizeof *out);
    enum err_code rc = gaps && out ? ERR_OK : err_nomem(err);
    size_t budget = WHAT_IF_BUDGET_ITEMS(simulation->facts->attempt_count);
    for (size_t i = 0; i < ARRAY_LENGTH(rows) && budget && !rc; i++) {
        struct change change = rows[i].change;
        bool slots = change.kind == CHANGE_SLOTS || change.kind == CHANGE_RAMP, same = slots && change.number == 1;
        if (change.executors && simulation->facts->is_local)
            continue;
        change.gaps = gaps;
        change.gap_count = gap_count;
        struct simulated simulated;
        rc = change.kind == CHANGE_NO_LOST ? simulation_without_lost(simulation, &simulated, err) : simulation_run(simulation, &change, same ? 0 : 1, &simulated, err);
        budget -= MIN(budget, simulated.items);
        if (!rc)
            out[(*ret_count)++] = what_if_of(calibration, rows[i].scenario, rows[i].subject, simulated.wall_ms, slots ? BAND_SLOTS : BAND_NORMAL);
    }
    mem_free(gaps);
    if (rc) {
        mem_free(out);
        *ret_count = 0;
        return rc;
    }
    *ret = out;
    return ERR_OK;
}

void what_ifs_free(struct what_if *self)
{
    mem_free(self);
}
