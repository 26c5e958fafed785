/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_times.h"

#include <math.h>

#include "analysis/distribution.h"
#include "analysis/sort_items.h"
#include "base/mem.h"

static enum err_code group(struct executor_times *self, const struct sort_item *items)
{
    size_t group_count = 1;
    for (size_t i = 1; i < self->count; i++)
        group_count += items[i].key != items[i - 1].key;
    self->groups = mem_array(group_count, sizeof *self->groups);
    if (!self->groups)
        return ERR_NOMEM;
    for (size_t i = 0; i < self->count; i++) {
        self->ranks[i] = (uint32_t)items[i].carried;
        if (i == 0 || items[i].key != items[i - 1].key)
            self->groups[self->group_count++] = (struct executor_group){(uint32_t)items[i].key, (uint32_t)i, (uint32_t)i};
        self->groups[self->group_count - 1].end++;
    }
    return ERR_OK;
}

enum err_code executor_times_make(struct executor_times *ret, const double *values, const uint32_t *executors, size_t count, struct err *err)
{
    *ret = (struct executor_times){.count = count};
    if (!count)
        return ERR_OK;
    if (count >= UINT32_MAX)
        return err_set(err, ERR_LIMIT, "%zu tasks in a stage", count);
    ret->sorted = mem_array(count, sizeof *ret->sorted);
    ret->order = mem_array(count, sizeof *ret->order);
    ret->ranks = mem_array(count, sizeof *ret->ranks);
    struct sort_item *items = mem_array(count, 2 * sizeof *items);
    enum err_code rc = ret->sorted && ret->order && ret->ranks && items ? ERR_OK : ERR_NOMEM;
    if (!rc) {
        for (size_t i = 0; i < count; i++)
            items[i] = (struct sort_item){order_key(values[i]), i};
        sort_items(items, count, items + count);
        for (size_t rank = 0; rank < count; rank++) {
            size_t task = items[rank].carried;
            ret->sorted[rank] = values[task];
            ret->order[rank] = (uint32_t)task;
            items[rank] = (struct sort_item){executors[task], rank};
        }
        sort_items(items, count, items + count);
        rc = group(ret, items);
    }
    mem_free(items);
    if (rc) {
        executor_times_dispose(ret);
        return err_nomem(err);
    }
    return ERR_OK;
}

void executor_times_dispose(struct executor_times *self)
{
    mem_free(self->sorted);
    mem_free(self->order);
    mem_free(self->ranks);
    mem_free(self->groups);
    *self = (struct executor_times){0};
}

const struct executor_group *executor_times_find(const struct executor_times *self, uint32_t executor)
{
    size_t low = 0, high = self->group_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->groups[middle].executor < executor)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->group_count && self->groups[low].executor == executor ? &self->groups[low] : NULL;
}

/* The value of rank `rank` in some subset of the numbers. */
typedef double value_fn(const struct executor_times *self, const struct executor_group *group, size_t left_out, size_t rank);

static double own_value(const struct executor_times *self, const struct executor_group *group, size_t left_out, size_t rank)
{
    return self->sorted[self->ranks[group->begin + rank + (rank >= left_out)]];
}

/* Counts the group's own numbers before the one that is looked for: `own` is the first of the group of whose rank it is known that enough others come before. */
static double others_value(const struct executor_times *self, const struct executor_group *group, size_t left_out, size_t rank)
{
    (void)left_out;
    size_t own = 0, high = group->end - group->begin;
    while (own < high) {
        size_t middle = own + (high - own) / 2;
        if (self->ranks[group->begin + middle] - middle <= rank)
            own = middle + 1;
        else
            high = middle;
    }
    return self->sorted[rank + own];
}

static double quantile(const struct executor_times *self, const struct executor_group *group, size_t left_out, value_fn *value, size_t count, double q)
{
    if (!count)
        return NAN;
    double h = (double)(count - 1) * q;
    size_t i = (size_t)h;
    double low = value(self, group, left_out, i);
    return i + 1 < count ? low + (h - (double)i) * (value(self, group, left_out, i + 1) - low) : low;
}

double executor_quantile(const struct executor_times *self, const struct executor_group *group, double q)
{
    return quantile(self, group, SIZE_MAX, own_value, group->end - group->begin, q);
}

double executor_quantile_without(const struct executor_times *self, const struct executor_group *group, double left_out, double q)
{
    size_t low = group->begin, high = group->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->sorted[self->ranks[middle]] < left_out)
            low = middle + 1;
        else
            high = middle;
    }
    return quantile(self, group, low - group->begin, own_value, group->end - group->begin - 1, q);
}

double others_quantile(const struct executor_times *self, const struct executor_group *group, double q)
{
    return quantile(self, group, SIZE_MAX, others_value, self->count - (group->end - group->begin), q);
}
