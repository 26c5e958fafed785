/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <math.h>

#include "base/mem.h"

/* Puts `value` at the root of the min-heap of `count` items in place of what was there. */
static void heap_replace_first(double *heap, size_t count, double value)
{
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

double list_schedule(const double *w, size_t count, double slots)
{
    double last = 0;
    if (slots >= (double)count) {
        for (size_t i = 0; i < count; i++)
            last = fmax(last, w[i]);
        return last;
    }
    size_t slot_count = slots >= 1 ? (size_t)slots : 1;
    double *free_at = mem_array(slot_count, sizeof *free_at);
    if (!free_at)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        double end = free_at[0] + w[i];
        last = fmax(last, end);
        heap_replace_first(free_at, slot_count, end);
    }
    mem_free(free_at);
    return last;
}
