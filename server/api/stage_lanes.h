/* SPDX-License-Identifier: Apache-2.0
 *
 * The executors of one stage attempt, in the order of lists, and the lanes on which its tasks ran: as many as the executor has slots, more only where the log does not say them or where
 * tasks clearly ran side by side. Made for one request; everything is freed by stage_lanes_dispose. One thread. */
#ifndef SERVER_API_STAGE_LANES_H
#define SERVER_API_STAGE_LANES_H

#include "analysis/facts.h"
#include "base/arena.h"
#include "base/attributes.h"
#include "server/task_columns.h"

#define STAGE_MAX_EXECUTOR_REF (INT64_C(1) << 24)    /* executors of one application: rows are numbered from 1 */

struct stage_executor {
    struct str id, host;             /* STR_NONE: tasks that name no executor */
    int64_t slots;                   /* UNKNOWN: the log does not say how many */
    size_t task_count, lane_count;   /* lanes: 0 until stage_lanes_fill */
    bool is_picked;
};

/* The stage's tasks by column, borrowed, and what follows of them. A task without a sound launch time has no place and is left out. */
struct stage_lanes {
    size_t count;
    const int64_t *launch_ms, *finish_ms, *executor_ref;
    int64_t begin_ms, end_ms;        /* first launch, last end; UNKNOWN: no task has a place */
    int64_t open_end_ms;             /* where tasks without an end are drawn to; UNKNOWN: as if they took no time */
    struct stage_executor *executors;
    size_t executor_count;
    uint32_t *place_of_ref;          /* position in executors + 1; 0: none. Of ref 0: tasks without one */
    size_t ref_count;
    /* After stage_lanes_fill, by position of task: its lane, and from when on the lane was free for it. */
    uint32_t *lane;
    int64_t *begun_ms;
};

/* `filter`: executors whose id or host contains it are picked, all where it is empty. Texts live in the arena. */
enum err_code stage_lanes_open(struct stage_lanes *ret, struct db *db, struct task_columns *columns, int64_t stage_ref, struct str filter, struct arena *arena, struct err *err) WARN_UNUSED;
enum err_code stage_lanes_fill(struct stage_lanes *self, struct err *err) WARN_UNUSED;
void stage_lanes_dispose(struct stage_lanes *self);

/* False: the task has no place in time. Called for each task, hence inline, as the next one. */
static inline bool stage_task_place(const struct stage_lanes *self, size_t task, int64_t *ret_begin_ms, int64_t *ret_end_ms)
{
    int64_t launch_ms = self->launch_ms[task];
    if (!known(launch_ms) || launch_ms < SOUND_TIME_MIN_MS || launch_ms > SOUND_TIME_MAX_MS)
        return false;
    *ret_begin_ms = launch_ms;
    *ret_end_ms = MAX(launch_ms, MIN(known_or(self->finish_ms[task], self->open_end_ms), SOUND_TIME_MAX_MS));
    return true;
}
/* Which of the executors ran it. */
static inline size_t stage_task_executor(const struct stage_lanes *self, size_t task)
{
    return self->place_of_ref[known_or(self->executor_ref[task], 0)] - 1;
}

#endif
