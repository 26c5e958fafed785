/* SPDX-License-Identifier: Apache-2.0
 *
 * Distributions over the tasks and the executors of a stage attempt, with the History Server's definition of a quantile (spec/core.md §3.6): of n values in ascending order
 * the one at trunc(q × n), at most the last. */
#ifndef API_V1_QUANTILES_H
#define API_V1_QUANTILES_H

#include "base/db.h"
#include "base/json_writer.h"

struct v1_task_distribution;

/* quantiles: ascending, borrowed until free. *ret_any: a task succeeded; without one there is nothing to write. */
enum err_code v1_task_distribution_new(struct v1_task_distribution **ret, struct db *db, int64_t stage_ref, const double *quantiles, size_t count, bool *ret_any,
                                       struct err *err) WARN_UNUSED;
enum err_code v1_task_distribution_write(struct v1_task_distribution *self, struct json_writer *w, struct err *err) WARN_UNUSED;   /* an object */
void v1_task_distribution_free(struct v1_task_distribution *self);

/* "executorMetricsDistributions" : {…}, or nothing when no executor worked for the stage. */
enum err_code v1_executor_distribution(struct json_writer *w, struct db *db, int64_t stage_ref, const double *quantiles, size_t count, struct err *err) WARN_UNUSED;

#endif
