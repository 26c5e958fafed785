/* SPDX-License-Identifier: Apache-2.0
 *
 * The search of the stage page's task table (spec/core.md §3.7): a text is looked for in what the History Server would show of a task, numbers in its words ("2.0 KiB", "1.5 min").
 * Letters of ASCII match in any case. Column by column, each value of a column once as long as it is remembered, and only columns whose texts could hold what is looked for.
 * Memory: a byte a task, and 8 for each column that is read at the time (three at most, six for the derived ones of a stage that is not packed yet). */
#ifndef API_V1_TASK_SEARCH_H
#define API_V1_TASK_SEARCH_H

#include "base/db.h"
#include "server/task_columns.h"

/* `keep` has a byte for each task: those that are not 0 are looked at, and set to 0 when they do not hold `text`. `text` is not empty. */
enum err_code v1_task_search(struct db *db, struct task_columns *columns, struct str text, unsigned char *keep, struct err *err) WARN_UNUSED;

#endif
