/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of stages on their way from the thread that reads them to whoever looks at them: the reader itself, or one other thread beside it. A desk is a buffer that is filled, looked at
 * and used again; the large one, for stages of more than DESK_TASKS tasks, is there once, so that memory is that of the largest stage and some MB. With no other thread everything is
 * done by the reader, in the order in which it comes. */
#ifndef ANALYSIS_STAGE_DESKS_H
#define ANALYSIS_STAGE_DESKS_H

#include <pthread.h>

#include "analysis/stage_sample.h"

#define DESK_COUNT 5
#define DESK_TASKS ((size_t)32768)

struct stage_desk {
    struct stage_samples samples;
    uint32_t stage; /* position */
    size_t place;   /* the caller's */
    enum { DESK_FREE, DESK_TAKEN, DESK_READY } state;
};

typedef enum err_code desk_fn(void *context, struct stage_desk *desk, struct err *err);

struct stage_desks {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct stage_desk desks[DESK_COUNT]; /* the first is the large one */
    desk_fn *look;
    void *context;
    bool closed;
    enum err_code rc; /* the first failure of `look`: from then on nothing is looked at */
    struct err err;
};

void stage_desks_init(struct stage_desks *self, desk_fn *look, void *context);
void stage_desks_dispose(struct stage_desks *self);

/* The reader: a desk for a stage of so many tasks, which is its own until it is ready. Where none is free it looks at one that is ready first. NULL: a look failed, see rc. */
struct stage_desk *stage_desks_take(struct stage_desks *self, size_t tasks);
void stage_desks_ready(struct stage_desks *self, struct stage_desk *desk);
void stage_desks_close(struct stage_desks *self); /* no more come; idempotent */

/* Looks at what is ready until the desks are closed and nothing is. */
void stage_desks_work(struct stage_desks *self);

#endif
