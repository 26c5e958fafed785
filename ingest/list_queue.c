/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/list_queue.h"

#include "base/mem.h"

int list_queue_push(struct list_queue *self, const struct load_item *item)
{
    if (self->count == self->capacity) {
        size_t wanted = self->capacity ? self->capacity * 2 : 64;
        struct load_item *ring = wanted > LOAD_QUEUE_MAX ? NULL : mem_array(wanted, sizeof *ring);
        if (!ring)
            return -1;
        for (size_t i = 0; i < self->count; i++)
            ring[i] = self->items[(self->head + i) % self->capacity];
        mem_free(self->items);
        self->items = ring;
        self->head = 0;
        self->capacity = wanted;
    }
    self->items[(self->head + self->count++) % self->capacity] = *item;
    return 0;
}

const struct load_item *list_queue_first(const struct list_queue *self)
{
    return &self->items[self->head];
}

void list_queue_pop(struct list_queue *self)
{
    self->head = (self->head + 1) % self->capacity;
    self->count--;
}

void list_queue_want(struct list_queue *self, int64_t log_id, int64_t wanted_ms)
{
    size_t at = 0;
    while (at < self->count && self->items[(self->head + at) % self->capacity].log_id != log_id)
        at++;
    if (at == self->count)
        return;
    struct load_item wanted = self->items[(self->head + at) % self->capacity];
    wanted.wanted_ms = wanted_ms;
    for (; at > 0; at--)
        self->items[(self->head + at) % self->capacity] = self->items[(self->head + at - 1) % self->capacity];
    self->items[self->head] = wanted;
}

void list_queue_dispose(struct list_queue *self)
{
    mem_free(self->items);
}
