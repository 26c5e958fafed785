/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/load_queue.h"

#include "base/mem.h"
#include "base/units.h"

static int size_class(int64_t bytes)
{
    int class = 0;
    for (int64_t limit = 64 << 10; bytes >= limit && class < 8; limit <<= 4)
        class++;
    return class;
}

static int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Before it (below 0) or after it (above 0)? */
static int compare(const struct load_item *a, const struct load_item *b)
{
    if ((a->tries > 0) != (b->tries > 0))
        return a->tries > 0 ? 1 : -1;
    int order = order_i64(b->wanted_ms, a->wanted_ms);   /* UNKNOWN is the smallest number: after all wishes */
    if (!order)
        order = size_class(a->bytes) - size_class(b->bytes);
    if (!order)
        order = order_i64(b->modified_ms, a->modified_ms);
    return order ? order : order_i64(a->log_id, b->log_id);
}

static void swap_items(struct load_item *a, struct load_item *b)
{
    struct load_item copy = *a;
    *a = *b;
    *b = copy;
}

static void sift_up(struct load_queue *self, size_t at)
{
    for (; at && compare(&self->heap[at], &self->heap[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        swap_items(&self->heap[at], &self->heap[(at - 1) / 2]);
}

static void sift_down(struct load_queue *self, size_t at)
{
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < self->count; child++)
            if (compare(&self->heap[child], &self->heap[best]) < 0)
                best = child;
        if (best == at)
            return;
        swap_items(&self->heap[at], &self->heap[best]);
        at = best;
    }
}

static int push_heap(struct load_queue *self, const struct load_item *item)
{
    if (mem_grow((void **)&self->heap, &self->capacity, self->count + 1, LOAD_QUEUE_MAX, sizeof *self->heap))
        return -1;
    self->heap[self->count++] = *item;
    sift_up(self, self->count - 1);
    return 0;
}

int load_queue_push(struct load_queue *self, const struct load_item *item, int64_t now_ns)
{
    if (item->due_ns <= now_ns)
        return push_heap(self, item);
    if (mem_grow((void **)&self->aside, &self->aside_capacity, self->aside_count + 1, LOAD_QUEUE_MAX, sizeof *self->aside))
        return -1;
    self->aside[self->aside_count++] = *item;
    return 0;
}

bool load_queue_pop(struct load_queue *self, struct load_item *ret)
{
    if (!self->count)
        return false;
    *ret = self->heap[0];
    self->heap[0] = self->heap[--self->count];
    sift_down(self, 0);
    return true;
}

int64_t load_queue_wake(struct load_queue *self, int64_t now_ns)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < self->aside_count;) {
        if (self->aside[i].due_ns <= now_ns && push_heap(self, &self->aside[i]) == 0) {
            self->aside[i] = self->aside[--self->aside_count];
            continue;
        }
        next = MIN(next, self->aside[i].due_ns);
        i++;
    }
    return next;
}

bool load_queue_want(struct load_queue *self, int64_t log_id, int64_t wanted_ms)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->heap[i].log_id == log_id) {
            self->heap[i].wanted_ms = wanted_ms;
            sift_up(self, i);
            return true;
        }
    for (size_t i = 0; i < self->aside_count; i++)
        if (self->aside[i].log_id == log_id) {
            self->aside[i].wanted_ms = wanted_ms;
            self->aside[i].due_ns = 0;
            return true;
        }
    return false;
}

void load_queue_dispose(struct load_queue *self)
{
    mem_free(self->heap);
    mem_free(self->aside);
    *self = (struct load_queue){0};
}
