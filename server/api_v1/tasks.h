/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks in JSON: for the task list, and for stages with details (spec/core.md §3.4 TaskData). */
#ifndef API_V1_TASKS_H
#define API_V1_TASKS_H

#include "base/db.h"
#include "base/json_writer.h"

/* The words that a filter of tasks may hold (v1_param_words), in the order of task.status. UNKNOWN matches no task, and a task whose result is being fetched is matched by
 * none. */
#define V1_TASK_STATUS_COUNT 5
extern const char *const v1_task_statuses[V1_TASK_STATUS_COUNT];

/* Does a filter (v1_param_words over v1_task_statuses) let tasks of this task.status through? */
bool v1_task_wanted(unsigned wanted, int64_t status);

/* Prepared once for many tasks. */
struct v1_task_writer {
    struct json_writer *w;
    sqlite3_stmt *row, *accumulables, *logs;
    int64_t now_ms;                  /* the end of tasks without one */
};

/* The time until which a task without an end has lasted: when the log was loaded, or of a log that has ended its modification time. */
enum err_code v1_end_of_open_tasks(struct db *db, int64_t *ret_ms, struct err *err) WARN_UNUSED;

enum err_code v1_task_writer_init(struct v1_task_writer *self, struct db *db, struct json_writer *w, struct err *err) WARN_UNUSED;
void v1_task_writer_dispose(struct v1_task_writer *self);

/* The task as an object; with `keyed` as "id" : {…} of an object. */
enum err_code v1_write_task(struct v1_task_writer *self, int64_t task_seq, bool keyed, struct err *err) WARN_UNUSED;

#endif
