/* SPDX-License-Identifier: Apache-2.0 */
#include "base/queue.h"

#include <assert.h>
#include <string.h>

void queue_init(struct queue *self, size_t limit)
{
    assert(limit > 0 && limit <= QUEUE_MAX);
    memset(self, 0, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->limit = limit;
}

bool queue_push(struct queue *self, void *item)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == self->limit && !self->closed)
        pthread_cond_wait(&self->changed, &self->lock);
    bool open = !self->closed;
    if (open) {
        self->items[(self->head + self->count++) % QUEUE_MAX] = item;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return open;
}

void *queue_pop(struct queue *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == 0 && !self->closed)
        pthread_cond_wait(&self->changed, &self->lock);
    void *item = NULL;
    if (self->count) {
        item = self->items[self->head];
        self->head = (self->head + 1) % QUEUE_MAX;
        self->count--;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return item;
}

void queue_wait_empty(struct queue *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->count && !self->closed)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

void queue_close(struct queue *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void queue_dispose(struct queue *self)
{
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
}
