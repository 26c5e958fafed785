/* SPDX-License-Identifier: Apache-2.0
 *
 * Task rows on their way into an application's database: as rows (table task), by column in chunks (task_column), and, when a stage is done, as quantiles (stage_quantile).
 * Chunks of open stages are kept unpacked, at most TASK_STORE_BYTES of them together; beyond that the largest is written early. Rows without an end are provisional:
 * task_store_resume drops them.
 * One thread at a time; the database connection is the caller's. */
#ifndef STORE_TASK_STORE_H
#define STORE_TASK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"
#include "ingest/model/row_sink.h"

#define TASK_CHUNK_ROWS ((size_t)16384)
#define TASK_STORE_BYTES ((size_t)48 << 20)      /* unpacked chunks: nine full ones, or thousands of small stages */

struct task_store;

enum err_code task_store_new(struct task_store **ret, struct db *db, struct err *err) WARN_UNUSED;
/* Many at once cost less. They are borrowed for the call. */
enum err_code task_store_add(struct task_store *self, const struct task_row *rows, size_t count, struct err *err) WARN_UNUSED;
enum err_code task_store_add_accumulable(struct task_store *self, int64_t task_seq, int64_t ordinal, const struct accumulable *accumulable, struct err *err) WARN_UNUSED;

/* Writes what changed of the open chunks, so that a commit shows every row by column too. */
enum err_code task_store_flush(struct task_store *self, struct err *err) WARN_UNUSED;

/* Writes the stage's open chunk and its quantiles. `close`: no more rows are expected, let its memory go (rows that come all the same open another chunk). */
enum err_code task_store_summarise(struct task_store *self, int64_t stage_ref, bool close, struct err *err) WARN_UNUSED;

/* Lets the connection go / takes another on the same data, when the file moves. */
void task_store_detach(struct task_store *self);
enum err_code task_store_attach(struct task_store *self, struct db *db, struct err *err) WARN_UNUSED;

/* The log goes on: drops the provisional rows. */
enum err_code task_store_resume(struct task_store *self, struct err *err) WARN_UNUSED;
void task_store_free(struct task_store *self);

/* Names of table task's metric and peak columns, by enum task_metric and enum executor_metric. */
extern const char *const task_metric_columns[TASK_METRIC_COUNT];
extern const char *const executor_metric_columns[EXECUTOR_METRIC_COUNT];

#endif
