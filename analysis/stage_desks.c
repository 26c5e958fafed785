/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_desks.h"

#include "base/attributes.h"

void stage_desks_init(struct stage_desks *self, desk_fn *look, void *context)
{
    *self = (struct stage_desks){.look = look, .context = context};
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
}

void stage_desks_dispose(struct stage_desks *self)
{
    for (size_t i = 0; i < DESK_COUNT; i++)
        stage_samples_dispose(&self->desks[i].samples);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
}

static struct stage_desk *find(struct stage_desk *desks, size_t count, int state)
{
    for (size_t i = 0; i < count; i++)
        if ((int)desks[i].state == state)
            return &desks[i];
    return NULL;
}

/* With the lock held, which is let go meanwhile. */
static void look_at(struct stage_desks *self, struct stage_desk *desk)
{
    struct err err = {0};
    enum err_code rc = self->rc;
    desk->state = DESK_TAKEN;
    if (!rc) {
        pthread_mutex_unlock(&self->lock);
        rc = self->look(self->context, desk, &err);
        pthread_mutex_lock(&self->lock);
        if (rc && !self->rc) {
            self->rc = rc;
            self->err = err;
        }
    }
    desk->state = DESK_FREE;
    pthread_cond_broadcast(&self->changed);
}

struct stage_desk *stage_desks_take(struct stage_desks *self, size_t tasks)
{
    bool large = tasks > DESK_TASKS;
    struct stage_desk *first = self->desks + !large, *desk = NULL, *ready;
    size_t count = large ? 1 : DESK_COUNT - 1;
    pthread_mutex_lock(&self->lock);
    while (!self->rc && !(desk = find(first, count, DESK_FREE))) {
        if ((ready = find(self->desks, DESK_COUNT, DESK_READY)))
            look_at(self, ready);
        else
            pthread_cond_wait(&self->changed, &self->lock);
    }
    if (desk)
        desk->state = DESK_TAKEN;
    pthread_mutex_unlock(&self->lock);
    return desk;
}

void stage_desks_ready(struct stage_desks *self, struct stage_desk *desk)
{
    pthread_mutex_lock(&self->lock);
    desk->state = DESK_READY;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void stage_desks_close(struct stage_desks *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void stage_desks_work(struct stage_desks *self)
{
    struct stage_desk *ready;
    pthread_mutex_lock(&self->lock);
    while ((ready = find(self->desks, DESK_COUNT, DESK_READY)) || !self->closed) {
        if (ready)
            look_at(self, ready);
        else
            pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}
