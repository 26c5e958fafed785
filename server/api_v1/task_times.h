/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduler delay and getting-result time as the History Server's store has them (AppStatusUtils): a task without an end lasts until v1_end_of_open_tasks, and one that lasted no
 * time at all is taken for one that still fetches, until now. Our own interface says what the log says instead (server/task_columns.h). */
#ifndef API_V1_TASK_TIMES_H
#define API_V1_TASK_TIMES_H

#include "base/db.h"
#include "server/task_columns.h"

/* fetch_ms: when the driver began to fetch the result, UNKNOWN or 0 where it did not. */
int64_t v1_getting_result_time_ms(int64_t launch_ms, int64_t end_ms, int64_t fetch_ms, int64_t now_ms);

/* One number for each task, in the order of the columns; freed with mem_free. A task that reported no metrics has them too: the caller leaves it out. Columns that are
 * read on the way are forgotten. */
enum err_code v1_getting_result_times(struct db *db, struct task_columns *columns, int64_t **ret, struct err *err) WARN_UNUSED;
enum err_code v1_scheduler_delays(struct db *db, struct task_columns *columns, int64_t **ret, struct err *err) WARN_UNUSED;

#endif
