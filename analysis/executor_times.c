/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_times.h"

#include <math.h>

#include "analysis/distribution.h"
#include "analysis/sort_packed.h"
#include "base/mem.h"

/* The median of all lies between that of an executor and that of the others: if one is `ratio` times the other, at least one of them is √ratio away from it. */
enum err_code executors_differ(const double *values, const uint32_t *executors, size_t count, size_t executor_count, double median, double ratio, bool *ret, struct err *err)
{
    struct tally {
        size_t all, high, low;
    } * tallies;
    *ret = false;
    if (executor_count < 2)
        return ERR_OK;
    tallies = mem_array(executor_count, sizeof *tallies);
    if (!tallies)
        return err_nomem(err);
    double high = median * sqrt(ratio) * (1 - 1e-9), low = fmax(median / sqrt(ratio), 1) * (1 + 1e-9);
    size_t all_low = 0;
    for (size_t i = 0; i < count; i++) {
        struct tally *tally = &tallies[executors[i]];
        tally->all++;
        tally->high += values[i] >= high;
        tally->low += values[i] <= low;
        all_low += values[i] <= low;
    }
    for (size_t e = 0; e < executor_count; e++)
        *ret |= 2 * tallies[e].high + 2 >= tallies[e].all || 2 * (all_low - tallies[e].low) + 2 >= count - tallies[e].all;
    mem_free(tallies);
    return ERR_OK;
}

/* Counts, sums up, and puts each rank to its executor: in the order of ranks, so they ascend. */
static void group(struct executor_times *self, const uint32_t *executors)
{
    uint32_t *places = self->begins + 1; /* begins[e + 1] is where the next rank of e goes, and at the end where e + 1 begins */
    for (size_t i = 0; i < self->count; i++)
        self->begins[executors[i] + 2]++;
    for (size_t e = 1; e <= self->executor_count; e++)
        places[e] += places[e - 1];
    for (size_t rank = 0; rank < self->count; rank++)
        self->ranks[places[executors[self->order[rank]]]++] = (uint32_t)rank;
}

enum err_code executor_times_make(struct executor_times *ret, const double *values, const uint32_t *executors, size_t count, size_t executor_count, struct err *err)
{
    *ret = (struct executor_times){.count = count, .executor_count = executor_count};
    if (count >= UINT32_MAX)
        return err_set(err, ERR_LIMIT, "%zu tasks in a stage", count);
    ret->sorted = mem_alloc((count + 1) * sizeof *ret->sorted);
    ret->order = mem_alloc((count + 1) * sizeof *ret->order);
    ret->ranks = mem_alloc((count + 1) * sizeof *ret->ranks);
    ret->begins = mem_array(executor_count + 2, sizeof *ret->begins);
    uint64_t *items = mem_alloc((count + 1) * 2 * sizeof *items);
    if (!ret->sorted || !ret->order || !ret->ranks || !ret->begins || !items) {
        mem_free(items);
        executor_times_dispose(ret);
        return err_nomem(err);
    }
    for (size_t i = 0; i < count; i++)
        items[i] = packed_item(values[i], (uint32_t)i);
    sort_packed(items, count, items + count);
    for (size_t rank = 0; rank < count; rank++) {
        ret->order[rank] = (uint32_t)items[rank];
        ret->sorted[rank] = values[ret->order[rank]];
    }
    mem_free(items);
    group(ret, executors);
    return ERR_OK;
}

void executor_times_dispose(struct executor_times *self)
{
    mem_free(self->sorted);
    mem_free(self->order);
    mem_free(self->ranks);
    mem_free(self->begins);
    *self = (struct executor_times){0};
}

/* The value of rank `rank` in some subset of the numbers. */
typedef double value_fn(const struct executor_times *self, uint32_t executor, size_t left_out, size_t rank);

static double own_value(const struct executor_times *self, uint32_t executor, size_t left_out, size_t rank)
{
    return self->sorted[self->ranks[self->begins[executor] + rank + (rank >= left_out)]];
}

/* Counts the executor's own numbers before the one that is looked for: `own` is the first of them of whose rank it is known that enough others come before. */
static double others_value(const struct executor_times *self, uint32_t executor, size_t left_out, size_t rank)
{
    (void)left_out;
    size_t own = 0, high = executor_task_count(self, executor);
    while (own < high) {
        size_t middle = own + (high - own) / 2;
        if (self->ranks[self->begins[executor] + middle] - middle <= rank)
            own = middle + 1;
        else
            high = middle;
    }
    return self->sorted[rank + own];
}

static double quantile(const struct executor_times *self, uint32_t executor, size_t left_out, value_fn *value, size_t count, double q)
{
    if (!count)
        return NAN;
    double h = (double)(count - 1) * q;
    size_t i = (size_t)h;
    double low = value(self, executor, left_out, i);
    return i + 1 < count ? low + (h - (double)i) * (value(self, executor, left_out, i + 1) - low) : low;
}

double executor_quantile(const struct executor_times *self, uint32_t executor, double q)
{
    return quantile(self, executor, SIZE_MAX, own_value, executor_task_count(self, executor), q);
}

double executor_quantile_without(const struct executor_times *self, uint32_t executor, double left_out, double q)
{
    size_t low = self->begins[executor], high = self->begins[executor + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->sorted[self->ranks[middle]] < left_out)
            low = middle + 1;
        else
            high = middle;
    }
    return quantile(self, executor, low - self->begins[executor], own_value, executor_task_count(self, executor) - 1, q);
}

double others_quantile(const struct executor_times *self, uint32_t executor, double q)
{
    return quantile(self, executor, SIZE_MAX, others_value, self->count - executor_task_count(self, executor), q);
}
