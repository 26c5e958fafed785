/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operators of its query's plan a stage worked for: stages of one job have the same call site as their name, and only this tells them apart. Known by the metrics that its tasks reported, as on the page of the
 * query (sql_graph.c), so an operator without metrics, or without a row, is none. Plans are read when the first of their stages comes and kept for the answer. */
#ifndef SERVER_API_STAGE_OPERATORS_H
#define SERVER_API_STAGE_OPERATORS_H

#include "base/arena.h"
#include "base/db.h"
#include "base/json_writer.h"
#include "base/map.h"

#define STAGE_OPERATORS_MOST 12 /* kinds that are told of one stage, those nearest to the data first */

struct stage_operators {
    struct db *db;             /* borrowed */
    struct arena *arena;       /* borrowed; names go there */
    struct imap nodes;         /* accumulator id (one of an application's own) → the node that it belongs to */
    struct imap executions;    /* whose plans were read */
    sqlite3_stmt *plan, *uses; /* prepared when first used */
};

void stage_operators_init(struct stage_operators *self, struct db *db, struct arena *arena);
void stage_operators_dispose(struct stage_operators *self);

/* "operators":["Scan parquet","Filter"], empty where none is known. null: it belongs to no query, or the plans of the stages of this answer have no room in a request. */
enum err_code stage_operators_write(struct stage_operators *self, struct json_writer *json, int64_t stage_ref, int64_t execution_id, struct err *err) WARN_UNUSED;

#endif
