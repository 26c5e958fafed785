/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQL part of the model as rows: tables sql_execution, sql_config, sql_plan, plan_text, sql_node, sql_edge, sql_metric. Called at checkpoints; writes what changed since, and
 * then tells the model what it may forget. The texts that rows refer to come through the sink and are there before. */
#ifndef STORE_SQL_ROWS_H
#define STORE_SQL_ROWS_H

#include "base/db.h"
#include "base/err.h"

struct sql_model;
struct sql_rows;

enum err_code sql_rows_new(struct sql_rows **ret, struct db *db, struct err *err) WARN_UNUSED;
enum err_code sql_rows_write(struct sql_rows *self, struct sql_model *model, struct err *err) WARN_UNUSED;

/* Lets the connection go / takes another on the same data, when the file moves. */
void sql_rows_detach(struct sql_rows *self);
enum err_code sql_rows_attach(struct sql_rows *self, struct db *db, struct err *err) WARN_UNUSED;
void sql_rows_free(struct sql_rows *self);

#endif
