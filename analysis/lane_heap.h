/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes of one executor by when they are free: a heap whose top is the lane that is free first (of several, the one with the smallest number). Here as inline functions since they are
 * called for each task. */
#ifndef ANALYSIS_LANE_HEAP_H
#define ANALYSIS_LANE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane {
    int64_t free_ms;
    uint32_t number;
};

static inline bool lane_before(struct lane a, struct lane b)
{
    return a.free_ms < b.free_ms || (a.free_ms == b.free_ms && a.number < b.number);
}

/* The lane on top is free later now. */
static inline void lane_sink(struct lane *heap, size_t count, int64_t free_ms)
{
    struct lane lane = {free_ms, heap[0].number};
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && lane_before(heap[child + 1], heap[child]))
            child++;
        if (!lane_before(heap[child], lane))
            break;
        heap[i] = heap[child];
    }
    heap[i] = lane;
}

/* One more lane, at heap[count], for which there is room. */
static inline void lane_add(struct lane *heap, size_t count, int64_t free_ms)
{
    struct lane lane = {free_ms, (uint32_t)count};
    size_t i = count;
    for (size_t parent; i > 0 && lane_before(lane, heap[parent = (i - 1) / 2]); i = parent)
        heap[i] = heap[parent];
    heap[i] = lane;
}

#endif
