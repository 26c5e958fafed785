/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks in JSON: for the task list, and for stages with details (spec/core.md §3.4 TaskData). */
#ifndef API_V1_TASKS_H
#define API_V1_TASKS_H

#include "base/db.h"
#include "base/json_writer.h"
#include "server/api_v1/v1.h"

enum { TASK_RUNNING, TASK_SUCCESS, TASK_FAILED, TASK_KILLED, TASK_FETCHING };       /* task.status */

/* The words of a task.status and of a task.locality; numbers from V1_TASK_WORDS on, and negative ones, are those of which nothing is known. */
#define V1_TASK_WORDS 5
struct str v1_task_status_word(int64_t status);
struct str v1_task_locality_word(int64_t locality);

/* The words that a filter of tasks may hold (v1_param_words), in the order of task.status. UNKNOWN matches no task, and a task whose result is being fetched is matched by
 * none. */
#define V1_TASK_STATUS_COUNT 5
extern const char *const v1_task_statuses[V1_TASK_STATUS_COUNT];

/* Does a filter (v1_param_words over v1_task_statuses) let tasks of this task.status through? */
bool v1_task_wanted(unsigned wanted, int64_t status);

/* Prepared once for many tasks. */
struct v1_task_writer {
    struct json_writer *w;
    sqlite3_stmt *row, *accumulables, *executor;
    struct executor_logs logs;
    int64_t now_ms;                  /* the end of tasks without one */
};

/* The time until which a task without an end has lasted: when the log was loaded, or of a log that has ended its modification time. */
enum err_code v1_end_of_open_tasks(struct db *db, int64_t *ret_ms, struct err *err) WARN_UNUSED;

enum err_code v1_task_writer_init(struct v1_task_writer *self, const struct server *server, struct db *db, struct json_writer *w, struct err *err) WARN_UNUSED;
void v1_task_writer_dispose(struct v1_task_writer *self);

/* UNKNOWN: no such stage attempt. */
enum err_code v1_stage_ref(struct v1_scope *scope, int64_t stage_id, int64_t attempt, int64_t *ret, struct err *err) WARN_UNUSED;

/* An array of the tasks seqs[positions[0]], seqs[positions[1]] … */
enum err_code v1_write_tasks(struct v1_scope *scope, struct json_writer *w, const int64_t *seqs, const size_t *positions, size_t count, struct err *err) WARN_UNUSED;

/* The task as an object; with `keyed` as "id" : {…} of an object. */
enum err_code v1_write_task(struct v1_task_writer *self, int64_t task_seq, bool keyed, struct err *err) WARN_UNUSED;

#endif
