/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation_make.h"

#include "analysis/sort.h"
#include "base/mem.h"

static uint64_t event_of(const struct maker *self, int64_t at_us, enum sweep_kind kind, size_t subject)
{
    uint64_t at = (uint64_t)MIN(at_us, self->sim->wall_us) / US_PER_MS >> self->shift;
    return at << 32 | (uint64_t)kind << 29 | (uint64_t)subject;
}

void maker_event(struct maker *self, enum event_list list, int64_t at_us, enum sweep_kind kind, size_t subject)
{
    self->events[list][self->event_count[list]++] = event_of(self, at_us, kind, subject);
}

enum err_code maker_sort_events(struct maker *self)
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
void maker_collect(struct maker *self)
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
        maker_event(self, EVENTS_RARE, times->submission_us, SWEEP_SUBMIT, s);
        for (size_t i = stage->first_attempt; i < stage->first_attempt + stage->attempt_count; i++) {
            const struct attempt *attempt = &facts->attempts[i];
            int64_t begin = since_begin(facts, attempt->begin_ms), finish = begin + attempt_occupancy_ms(attempt) * US_PER_MS;
            bool waits = !attempt->again && attempt->begin_ms != facts->launches[i].launch_ms;
            if (waits)
                maker_event(self, EVENTS_BEGIN, since_begin(facts, facts->launches[i].launch_ms), SWEEP_LAUNCH, s);
            maker_event(self, EVENTS_BEGIN, begin, attempt->again || waits ? SWEEP_AGAIN : SWEEP_ENTER, s);
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
        maker_event(self, EVENTS_RARE, times->last_finish_us, SWEEP_STAGE_END, s);
    }
    self->event_count[EVENTS_FINISH] = facts->attempt_count;
}

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

enum err_code maker_sweep(struct maker *self)
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
        struct pool_time *pool = &pools[of_executor ? sim->executor_pool[subject] : maker_stage_pool(sim, (uint32_t)subject)];
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
