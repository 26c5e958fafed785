/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of one stage attempt by column (table task_column): what makes sorting, filtering and quantiles of a million tasks fast. Loads only the columns asked for,
 * and derives durations and delays. A stage whose columns are not written yet (its log is still being loaded) is read from table
 * task instead: slower, the same values. Memory: 8 bytes a task and column, freed with the set. One thread. */
#ifndef SERVER_TASK_COLUMNS_H
#define SERVER_TASK_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"

#define TASK_COLUMNS_MAX_TASKS ((size_t)1 << 27)     /* Spark numbers the tasks of a stage with 31 bits; a column of this many is 1 GiB */

struct task_columns;

/* A stage attempt without tasks, or without a row, is an empty set. */
enum err_code task_columns_open(struct task_columns **ret, struct db *db, int64_t stage_ref, struct err *err) WARN_UNUSED;
size_t task_columns_count(const struct task_columns *self);            /* tasks of the stage attempt */

/* A column by its name in table task (task_seq is one of them: how a position becomes a row), or a derived one: duration_ms, scheduler_delay_ms, getting_result_time_ms,
 * shuffle_read_bytes, shuffle_blocks_fetched (spec/core.md §2.7). Borrowed until free; in order of task_seq. A column that the log never had is all UNKNOWN.
 * scheduler_delay_ms and getting_result_time_ms are UNKNOWN for tasks without an end, the latter also where the result came after it, which then has no part in the delay. ERR_NOT_FOUND: no such name. */
enum err_code task_columns_get(struct task_columns *self, const char *name, const int64_t **ret, struct err *err) WARN_UNUSED;
void task_columns_forget(struct task_columns *self, const char *name);  /* frees that column, if it is there: for a walk over many */

/* For who looks at many columns once: plain ones (not the derived), in pieces of up to 16384 tasks, so that they need the memory of a piece. values[c][i] is names[c] of the task at
 * position first + i. `keep`, by position, is 0 or 1: pieces without a kept task are passed over; NULL: none is. While a log is being loaded there is one piece. */
#define TASK_COLUMNS_WALK_MOST 16
typedef enum err_code task_columns_walk_fn(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err);
enum err_code task_columns_walk(struct task_columns *self, const char *const *names, size_t name_count, const unsigned char *keep, task_columns_walk_fn *take, void *context,
                                struct err *err) WARN_UNUSED;
void task_columns_free(struct task_columns *self);

/* The derivations for one task. UNKNOWN without finish_ms (or launch_ms). A result that came with the end of the task took no time to get; what a task's duration holds
 * besides its known work is the scheduler's, never below 0 (AppStatusUtils.gettingResultTime, schedulerDelay). A result whose
 * fetch began after the end took less than no time there, which makes the delay longer, and so it is answered in /api/v1. */
int64_t task_getting_result_time_ms(int64_t finish_ms, int64_t getting_result_ms);
int64_t task_scheduler_delay_ms(int64_t finish_ms, int64_t launch_ms, int64_t getting_result_ms, int64_t run_time_ms, int64_t deserialize_time_ms,
                                int64_t result_serialization_time_ms);

#endif
