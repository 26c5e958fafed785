/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything of the model that is not a task, as rows: which struct field goes into which column stands in tables in entity_rows.c. Called at checkpoints; writes only what is
 * dirty. */
#ifndef STORE_ENTITY_ROWS_H
#define STORE_ENTITY_ROWS_H

#include <stdbool.h>

#include "base/db.h"
#include "base/err.h"
#include "ingest/store/app_writer.h"

struct entity_rows;

enum err_code entity_rows_new(struct entity_rows **ret, struct db *db, struct err *err) WARN_UNUSED;
enum err_code entity_rows_write(struct entity_rows *self, struct app_model *model, const struct load_facts *facts, bool finished, struct err *err) WARN_UNUSED;

/* Adds one executor's sums to its row of the stage attempt. */
enum err_code entity_rows_add_executor_stage(struct entity_rows *self, int64_t stage_ref, const struct executor_stage *summary, struct err *err) WARN_UNUSED;

/* Lets the connection go / takes another on the same data, when the file moves. */
void entity_rows_detach(struct entity_rows *self);
enum err_code entity_rows_attach(struct entity_rows *self, struct db *db, struct err *err) WARN_UNUSED;
void entity_rows_free(struct entity_rows *self);

#endif
