/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of accounts_make: what attempts were busy with, and what slots did meanwhile. For the files account*.c alone. */
#ifndef ANALYSIS_ACCOUNT_PARTS_H
#define ANALYSIS_ACCOUNT_PARTS_H

#include "analysis/account.h"

/* Busy buckets and lost work of all attempts, into the application, costs and windows. account_busy.c */
enum err_code account_busy(struct accounts *self, const struct facts *facts, struct err *err) WARN_UNUSED;
/* Idle buckets and gaps, and what others did in a window: runs after account_busy. account_sweep.c */
enum err_code account_idle(struct accounts *self, const struct facts *facts, struct err *err) WARN_UNUSED;
/* The changes along which it goes: what asks the database, made by accounts_begin. account_sweep.c */
enum err_code account_sweep_make(struct accounts *accounts, const struct facts *facts, struct err *err) WARN_UNUSED;
void account_sweep_free(struct account_sweep *self); /* NULL is fine */

/* What says what the driver did while no job ran (3.6). account_gaps.c */
enum gap_event { GAP_SQL_BEGIN, GAP_STREAM_BEGIN, GAP_TRIGGER, GAP_SESSION_BEGIN, GAP_OPERATION_BEGIN, GAP_SQL_END, GAP_STREAM_END, GAP_SESSION_END, GAP_OPERATION_END };

struct gap_change {
    int64_t time_ms; /* inside the interval */
    enum gap_event event;
    uint32_t sql; /* position, of SQL events */
};

struct gap_state {
    const struct facts *facts;  /* borrowed */
    struct gap_change *changes; /* not sorted; owned */
    size_t change_count, change_capacity;
    int64_t *first_job_ms, *last_job_ms; /* of an execution and those below it, by position; owned */
    uint32_t *open;                      /* executions that have begun, latest last; those that have ended since are still in it until they are on top; owned */
    bool *ended;                         /* owned */
    size_t open_count, sql_left, streams, sessions, operations;
};
enum err_code gap_state_make(struct gap_state *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void gap_state_dispose(struct gap_state *self);
void gap_state_apply(struct gap_state *self, const struct gap_change *change);
bool gap_event_cuts(enum gap_event event); /* whether a gap ends there */
/* The class of a gap from `now_ms` on; `begun`: a job has begun before; `over`: none begins any more. */
struct driver_gap gap_state_class(struct gap_state *self, int64_t now_ms, bool begun, bool over);

#endif
