/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slot_use.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "base/mem.h"

/* What adds slots from one moment to another. */
typedef void slots_between(void *into, int64_t from_ms, int64_t to_ms, int64_t alive, int64_t busy);

static void each_interval(const struct facts *facts, slots_between *add, void *into)
{
    for (size_t i = 0; i < facts->executor_count; i++)
        if (facts->executors[i].from_ms < facts->executors[i].to_ms)
            add(into, facts->executors[i].from_ms, facts->executors[i].to_ms, facts->executors[i].slots, 0);
    for (size_t i = 0; i < facts->attempt_count; i++)
        if (facts->attempts[i].begin_ms < facts->attempts[i].finish_ms)
            add(into, facts->attempts[i].begin_ms, facts->attempts[i].finish_ms, 0, 1);
}

/* ---- few changes: each is a step */

struct change_list {
    struct slot_step *items; /* alive and busy are differences */
    size_t count;
};

static void add_changes(void *into, int64_t from_ms, int64_t to_ms, int64_t alive, int64_t busy)
{
    struct change_list *list = into;
    list->items[list->count++] = (struct slot_step){from_ms, (double)alive, (double)busy};
    list->items[list->count++] = (struct slot_step){to_ms, -(double)alive, -(double)busy};
}

static int by_time(const void *a, const void *b)
{
    const struct slot_step *x = a, *y = b;
    return (x->from_ms > y->from_ms) - (x->from_ms < y->from_ms);
}

/* Adds up differences in place. */
static void exact_steps(struct slot_use *self, const struct facts *facts)
{
    struct change_list list = {self->steps, 1};
    self->steps[0] = (struct slot_step){.from_ms = facts->begin_ms};
    each_interval(facts, add_changes, &list);
    qsort(list.items, list.count, sizeof *list.items, by_time);
    for (size_t i = 1; i < list.count; i++) {
        struct slot_step *last = &self->steps[self->count], next = self->steps[i];
        next.alive += last->alive;
        next.busy += last->busy;
        if (next.from_ms != last->from_ms)
            self->count++;
        self->steps[self->count] = next;
    }
    self->count += self->steps[self->count].from_ms < facts->end_ms;
}

/* ---- many: means over equal parts */

struct parts {
    int64_t count, begins_ms[SLOT_USE_STEPS + 1]; /* of each, and the end */
    double of_a_ms;                               /* parts */
    struct {
        double alive_ms, busy_ms; /* of what covers a part of it */
        double alive, busy;       /* differences of what covers it whole, to the part before */
    } of[SLOT_USE_STEPS + 1];
};

static int64_t part_at(const struct parts *self, int64_t time_ms)
{
    int64_t i = (int64_t)((double)(time_ms - self->begins_ms[0]) * self->of_a_ms);
    i = MAX(0, MIN(i, self->count - 1));
    while (i > 0 && self->begins_ms[i] > time_ms)
        i--;
    while (i + 1 < self->count && self->begins_ms[i + 1] <= time_ms)
        i++;
    return i;
}

static void add_to_parts(void *into, int64_t from_ms, int64_t to_ms, int64_t alive, int64_t busy)
{
    struct parts *self = into;
    int64_t first = part_at(self, from_ms), last = part_at(self, to_ms);
    double in_first = (double)(MIN(to_ms, self->begins_ms[first + 1]) - from_ms);
    self->of[first].alive_ms += in_first * (double)alive;
    self->of[first].busy_ms += in_first * (double)busy;
    if (first == last)
        return;
    double in_last = (double)(to_ms - self->begins_ms[last]);
    self->of[last].alive_ms += in_last * (double)alive;
    self->of[last].busy_ms += in_last * (double)busy;
    self->of[first + 1].alive += (double)alive;
    self->of[first + 1].busy += (double)busy;
    self->of[last].alive -= (double)alive;
    self->of[last].busy -= (double)busy;
}

static void write_means(struct slot_use *self, const struct parts *parts)
{
    double alive = 0, busy = 0;
    for (int64_t i = 0; i < parts->count; i++) {
        double length = (double)(parts->begins_ms[i + 1] - parts->begins_ms[i]);
        alive += parts->of[i].alive;
        busy += parts->of[i].busy;
        struct slot_step step = {parts->begins_ms[i], alive + parts->of[i].alive_ms / length, busy + parts->of[i].busy_ms / length};
        struct slot_step *last = self->count ? &self->steps[self->count - 1] : NULL;
        if (!last || last->alive < step.alive || last->alive > step.alive || last->busy < step.busy || last->busy > step.busy)
            self->steps[self->count++] = step;
    }
}

static enum err_code mean_steps(struct slot_use *self, const struct facts *facts, struct err *err)
{
    CLEANUP(mem_freep) struct parts *parts = mem_zalloc(sizeof *parts);
    if (!parts)
        return err_nomem(err);
    int64_t wall_ms = facts->end_ms - facts->begin_ms;
    parts->count = MIN(wall_ms, SLOT_USE_STEPS);
    parts->of_a_ms = (double)parts->count / (double)wall_ms;
    for (int64_t i = 0; i <= parts->count; i++)
        parts->begins_ms[i] = facts->begin_ms + (int64_t)((double)wall_ms * (double)i / (double)parts->count);
    each_interval(facts, add_to_parts, parts);
    write_means(self, parts);
    return ERR_OK;
}

enum err_code slot_use_make(struct slot_use *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct slot_use){mem_array(SLOT_USE_STEPS, sizeof *ret->steps), 0};
    if (!ret->steps)
        return err_nomem(err);
    if (facts->begin_ms >= facts->end_ms)
        return ERR_OK;
    enum err_code rc = ERR_OK;
    if (facts->attempt_count <= SLOT_USE_STEPS && 2 * (facts->attempt_count + facts->executor_count) < SLOT_USE_STEPS)
        exact_steps(ret, facts);
    else
        rc = mean_steps(ret, facts, err);
    if (rc)
        slot_use_dispose(ret);
    return rc;
}

void slot_use_dispose(struct slot_use *self)
{
    mem_free(TAKE(self->steps));
    self->count = 0;
}
