/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lost_tasks.h"

#include <stdlib.h>

#include "base/mem.h"

bool stage_loses_work(const struct stage_fact *stage)
{
    return stage->winner_count < stage->attempt_count;
}

enum err_code lost_tasks_add(struct lost_tasks *self, const struct facts *facts, uint32_t stage, const struct task_values *values, const uint32_t *places, struct err *err)
{
    size_t first = facts->stages[stage].first_attempt;
    for (size_t i = 0; i < values->count; i++) {
        if (facts->attempts[first + places[i]].kind == WINNER)
            continue;
        if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, FACTS_MAX_ATTEMPTS, sizeof *self->items))
            return err_nomem(err);
        self->items[self->count++] =
            (struct lost_task){(uint32_t)first + places[i], values->of[VALUE_ERROR_TEXT_ID][i], values->of[VALUE_INPUT_BYTES][i], values->of[VALUE_SHUFFLE_READ_BYTES][i]};
    }
    return ERR_OK;
}

static int by_attempt(const void *a, const void *b)
{
    const struct lost_task *x = a, *y = b;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* The place of the first one at or behind an attempt. */
static size_t first_from(const struct lost_tasks *self, size_t attempt)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->items[middle].attempt < attempt)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Its rows came in the order of ends; all before them are in order. */
void lost_tasks_end_stage(struct lost_tasks *self, const struct facts *facts, uint32_t stage)
{
    size_t begin = self->count;
    while (begin > 0 && self->items[begin - 1].attempt >= facts->stages[stage].first_attempt)
        begin--;
    if (begin < self->count)
        qsort(self->items + begin, self->count - begin, sizeof *self->items, by_attempt);
}

void lost_tasks_dispose(struct lost_tasks *self)
{
    mem_free(self->items);
    *self = (struct lost_tasks){0};
}

struct lost_slice lost_tasks_of(const struct lost_tasks *self, const struct stage_fact *stage)
{
    size_t begin = first_from(self, stage->first_attempt), end = begin;
    while (end < self->count && self->items[end].attempt < stage->first_attempt + stage->attempt_count)
        end++;
    return (struct lost_slice){self->items + begin, end - begin};
}
