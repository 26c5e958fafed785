/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded queue of pointers between two threads: how the stages of a load overlap. The producer blocks while it is full, the
 * consumer while it is empty. Closing wakes both: push then returns false, pop hands out what is left and then NULL. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

#define QUEUE_MAX 64

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *items[QUEUE_MAX];
    size_t head, count, limit;
    bool closed;
};

void queue_init(struct queue *self, size_t limit);                 /* limit ≤ QUEUE_MAX */
bool queue_push(struct queue *self, void *item) WARN_UNUSED;       /* false: closed, the item stays the caller's */
void *queue_pop(struct queue *self);                               /* NULL: closed and empty */
void queue_wait_empty(struct queue *self);                         /* until the consumer took everything, or it is closed */
void queue_close(struct queue *self);
void queue_dispose(struct queue *self);

#endif
