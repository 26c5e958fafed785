/* SPDX-License-Identifier: Apache-2.0
 *
 * What the History Server's store sorts the tasks of a stage attempt by (spec/core.md §2.7, §3.5, §3.7): a number for each task. Metrics of tasks that did not succeed come
 * first, as -v - 1; those of tasks without an end are -1. Texts become their rank among the texts that there are. Memory: 9 bytes a task for the keys, 8 for each column that
 * is read at the time (three at most, six for the derived ones of a stage that is not packed yet), 16 for each text that is ranked. */
#ifndef API_V1_TASK_ORDER_H
#define API_V1_TASK_ORDER_H

#include "base/db.h"
#include "server/task_columns.h"

struct v1_task_order;                /* static */

/* The column of the stage page's table with this title, any case for "Logs", which stands for "Index"; NULL: none has it. */
const struct v1_task_order *v1_task_order_of(struct str title);

/* The keys in the order of the columns, for task_page; the caller frees them with mem_free. None is UNKNOWN. The column that they are made of is
 * forgotten. */
enum err_code v1_task_order_keys(const struct v1_task_order *self, struct db *db, struct task_columns *columns, int64_t **ret, struct err *err) WARN_UNUSED;

/* How far a task came, as bits. Ended: it has metrics, be they all 0. Finished: its status says success, failed or killed. */
enum { V1_TASK_ENDED = 1, V1_TASK_FINISHED = 2, V1_TASK_SUCCESSFUL = 4 };

/* A byte of these bits for each task; freed with mem_free. The columns that it is made of are forgotten. */
enum err_code v1_task_progress(struct task_columns *columns, unsigned char **ret, struct err *err) WARN_UNUSED;

#endif
