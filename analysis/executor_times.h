/* SPDX-License-Identifier: Apache-2.0
 *
 * One number a task (its run time, say), ordered as a whole and by executor, so that the quantiles of one executor's tasks, and of all the others', are found in O(log n) each:
 * with a thousand executors in a stage nobody goes through its tasks a thousand times. Of 16 bytes a task; 48 while it is made. One thread. */
#ifndef ANALYSIS_EXECUTOR_TIMES_H
#define ANALYSIS_EXECUTOR_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct executor_group {
    uint32_t executor;
    uint32_t begin, end; /* its tasks: ranks[begin … end) */
};

struct executor_times {
    size_t count;
    double *sorted;                /* all numbers, ascending; owned, as the three below */
    uint32_t *order;               /* whose they are: positions of tasks */
    uint32_t *ranks;               /* positions in `sorted`, by (executor, rank) */
    struct executor_group *groups; /* by executor */
    size_t group_count;
};

/* At most 2^32 − 1 tasks. */
enum err_code executor_times_make(struct executor_times *ret, const double *values, const uint32_t *executors, size_t count, struct err *err) WARN_UNUSED;
void executor_times_dispose(struct executor_times *self); /* of a zeroed one, too */

const struct executor_group *executor_times_find(const struct executor_times *self, uint32_t executor); /* NULL: no task ran there */
/* Quantiles of type 7. NaN: nothing is left. */
double executor_quantile(const struct executor_times *self, const struct executor_group *group, double q);
double executor_quantile_without(const struct executor_times *self, const struct executor_group *group, double left_out, double q); /* without one of this value, which is there */
double others_quantile(const struct executor_times *self, const struct executor_group *group, double q);

#endif
