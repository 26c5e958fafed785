/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of facts_load, in the order in which they run; each builds on what those before it filled. For the files facts*.c alone. */
#ifndef ANALYSIS_FACTS_PARTS_H
#define ANALYSIS_FACTS_PARTS_H

#include "analysis/facts.h"
#include "analysis/sort.h"

/* Entities: everything but tasks, as logged. facts_entities.c */
enum err_code facts_read_entities(struct facts *self, struct err *err) WARN_UNUSED;
/* Attempts as logged, by stage, there in the order of their ids where these are dense; of stages: first_attempt, attempt_count. Why an attempt was not a success is in `kind`, as far as that can be said of it alone. facts_tasks.c */
enum err_code facts_read_tasks(struct facts *self, struct err *err) WARN_UNUSED;
void facts_close_tasks(struct facts *self);
/* begin_ms, end_ms; then stages and attempts are moved inside, what has no begin or end gets one, and attempts are sorted by (stage, launch, task id). facts_interval.c */
enum err_code facts_bound(struct facts *self, struct err *err) WARN_UNUSED;
/* Winners and kinds; of stages: winner_count, seen_success, completeness. Does not ask for lanes, nor they for it until it is done: facts_lanes calls it beside. facts_classify.c */
enum err_code facts_classify(struct facts *self, struct err *err) WARN_UNUSED;
enum err_code facts_lanes(struct facts *self, struct err *err) WARN_UNUSED; /* facts_lanes.c */
/* The rest of jobs, owners, parents. */
enum err_code facts_own(struct facts *self, struct err *err) WARN_UNUSED; /* facts_own.c */

/* Room for sorting `count` items, items[count …] for sort_items to work in; good until the next call, freed when facts are loaded. One for all steps: fresh memory costs more than what
 * is done with it. NULL: out of memory. */
struct sort_item *facts_scratch(struct facts *self, size_t count);

/* A time of the log, or UNKNOWN where it cannot be one. */
static inline int64_t sound_time(int64_t ms)
{
    return ms >= SOUND_TIME_MIN_MS && ms <= SOUND_TIME_MAX_MS ? ms : UNKNOWN;
}

static inline int64_t clip_time(const struct facts *self, int64_t ms)
{
    return ms < self->begin_ms ? self->begin_ms : ms > self->end_ms ? self->end_ms : ms;
}

/* task.status and task.end_reason of schema.sql. */
enum { STATUS_NO_END = 0, STATUS_SUCCESS = 1, STATUS_KILLED = 3 };
enum { END_SUCCESS = 0, END_FETCH_FAILED = 2, END_KILLED = 5, END_EXECUTOR_LOST = 7 };

static inline void note_clock_fault(struct facts *self, struct clock_fault fault)
{
    self->clock_faults++;
    if (self->first_fault.of == CLOCK_NONE || fault.end_ms < self->first_fault.end_ms)
        self->first_fault = fault;
}

#endif
