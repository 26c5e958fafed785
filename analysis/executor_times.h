/* SPDX-License-Identifier: Apache-2.0
 *
 * One number a task (its run time, say), ordered as a whole and by executor, so that the quantiles of one executor's tasks, and of all the others', are found in O(log n) each:
 * with a thousand executors in a stage nobody goes through its tasks a thousand times. 16 bytes a task; as many more while it is made. One thread. */
#ifndef ANALYSIS_EXECUTOR_TIMES_H
#define ANALYSIS_EXECUTOR_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct executor_times {
    size_t count, executor_count;
    double *sorted;   /* all numbers, ascending (those that are equal as floats in any order); owned, as the three below */
    uint32_t *order;  /* whose they are: positions of tasks */
    uint32_t *ranks;  /* positions in `sorted`, by (executor, rank) */
    uint32_t *begins; /* the ranks of executor e: ranks[begins[e] … begins[e + 1]) */
};

/* `executors` are numbers below `executor_count`; at most 2^32 − 1 tasks. */
enum err_code executor_times_make(struct executor_times *ret, const double *values, const uint32_t *executors, size_t count, size_t executor_count, struct err *err) WARN_UNUSED;
void executor_times_dispose(struct executor_times *self); /* of a zeroed one, too */

static inline size_t executor_task_count(const struct executor_times *self, uint32_t executor)
{
    return self->begins[executor + 1] - self->begins[executor];
}

/* Whether some executor's median can be `ratio` (> 1) times that of all others, told in one pass so that most stages need not be sorted: false is certain. `median`: of all values. */
enum err_code executors_differ(const double *values, const uint32_t *executors, size_t count, size_t executor_count, double median, double ratio, bool *ret,
                               struct err *err) WARN_UNUSED;

/* Quantiles of type 7. NaN: nothing is left. */
double executor_quantile(const struct executor_times *self, uint32_t executor, double q);
double executor_quantile_without(const struct executor_times *self, uint32_t executor, double left_out, double q); /* without one of this value, which is there */
double others_quantile(const struct executor_times *self, uint32_t executor, double q);

#endif
