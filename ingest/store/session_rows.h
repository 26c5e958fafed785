/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions and operations of a Thrift server or of Spark Connect as rows: at checkpoints, those that changed. One owner, the connection's thread at that time (app_writer.h). */
#ifndef STORE_SESSION_ROWS_H
#define STORE_SESSION_ROWS_H

#include "base/db.h"
#include "base/err.h"
#include "ingest/model/app_model.h"

struct session_rows;

enum err_code session_rows_new(struct session_rows **ret, struct db *db, struct err *err) WARN_UNUSED;

/* Also the operations that the tags of changed jobs name: before entity_rows_write, which takes their marks off. */
enum err_code session_rows_write(struct session_rows *self, struct app_model *model, struct err *err) WARN_UNUSED;

/* Lets the connection go / takes another on the same data, when the file moves. */
void session_rows_detach(struct session_rows *self);
enum err_code session_rows_attach(struct session_rows *self, struct db *db, struct err *err) WARN_UNUSED;
void session_rows_free(struct session_rows *self);

#endif
