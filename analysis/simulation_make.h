/* SPDX-License-Identifier: Apache-2.0
 *
 * How a simulation is made of a log, step by step in this order (spec/findings.md 6.2); for the files of these steps and simulation_make.c, which puts them together, alone. One thread. */
#ifndef ANALYSIS_SIMULATION_MAKE_H
#define ANALYSIS_SIMULATION_MAKE_H

#include "analysis/simulation.h"

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
static inline int64_t since_begin(const struct facts *facts, int64_t at_ms)
{
    return (MIN(MAX(at_ms, facts->begin_ms), facts->end_ms) - facts->begin_ms) * US_PER_MS;
}

/* ---- simulation_sweep.c: events in the order of time, and what tasks and stages waited for with slots free ---- */

/* An event is one number: time (32 bits, in steps of 2^shift ms), kind (3), position of a stage or executor (29): events of one time happen in the order of kinds. A task leaves the
 * queue when it is launched, and takes its slot when that is free for it, which is mostly the same moment: ENTER. Second attempts of an index (AGAIN) left no queue. */
enum sweep_kind { SWEEP_SUBMIT, SWEEP_ENTER, SWEEP_LAUNCH, SWEEP_AGAIN, SWEEP_FINISH, SWEEP_STAGE_END, SWEEP_SLOTS_COME, SWEEP_SLOTS_GO };
#define SWEEP_SUBJECTS ((size_t)1 << 29)
#define EVENT_END UINT64_MAX /* behind all subjects */

void maker_event(struct maker *self, enum event_list list, int64_t at_us, enum sweep_kind kind, size_t subject);
void maker_collect(struct maker *self); /* times of stages, and the events of attempts and stages */
enum err_code maker_sort_events(struct maker *self) WARN_UNUSED;
enum err_code maker_sweep(struct maker *self) WARN_UNUSED; /* gaps and lags of stages */

/* ---- simulation_slots.c ---- */

enum err_code maker_pools(struct maker *self) WARN_UNUSED;
enum err_code maker_availability(struct maker *self) WARN_UNUSED; /* from and until when the slots of each executor take tasks, with the events of that */
enum err_code maker_slots(struct maker *self) WARN_UNUSED;        /* capacities over time. Executors that outlive the last job stay: their end is the application's, whatever the scenario makes of it */
/* Where its first attempt ran: with dynamic allocation off, stages of task profiles run on the executors of another. */
uint32_t maker_stage_pool(const struct simulation *sim, uint32_t stage);

/* ---- simulation_jobs.c ---- */

enum err_code maker_predecessors(struct maker *self) WARN_UNUSED;
enum err_code maker_successors(struct maker *self) WARN_UNUSED; /* lists of followers, and the cuts */

#endif
