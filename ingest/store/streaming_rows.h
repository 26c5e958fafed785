/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured Streaming as rows: runs at checkpoints, progress as it comes. One owner, the connection's thread at that time (app_writer.h). */
#ifndef STORE_STREAMING_ROWS_H
#define STORE_STREAMING_ROWS_H

#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"
#include "ingest/model/app_model.h"

struct streaming_rows;

enum err_code streaming_rows_new(struct streaming_rows **ret, struct db *db, struct err *err) WARN_UNUSED;

/* A copy of the row and all it points to, secrets replaced, for the way to the writer's thread. It dies with the arena. */
enum err_code streaming_rows_copy(const struct streaming_progress_row *from, struct arena *arena, struct streaming_progress_row *ret, struct err *err) WARN_UNUSED;

/* Writes one progress record, in place of one of the same run, batch and trigger time. */
enum err_code streaming_rows_add(struct streaming_rows *self, const struct streaming_progress_row *row, struct err *err) WARN_UNUSED;

/* Writes the runs that changed. */
enum err_code streaming_rows_write(struct streaming_rows *self, struct app_model *model, struct err *err) WARN_UNUSED;

/* Lets the connection go / takes another on the same data, when the file moves. */
void streaming_rows_detach(struct streaming_rows *self);
enum err_code streaming_rows_attach(struct streaming_rows *self, struct db *db, struct err *err) WARN_UNUSED;
void streaming_rows_free(struct streaming_rows *self);

#endif
