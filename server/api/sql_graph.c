/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/sql_graph.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "server/api/handlers.h"

/* A graph goes out in pieces, so that a plan of 100,000 nodes holds no thread for seconds. Spark's nodes have some ten metrics each. */
#define PIECE_NODES 2000
#define PIECE_METRICS ((size_t)20000) /* after so many no further node begins */
#define NODE_METRICS ((size_t)1000)   /* of one node; no operator has as many */
#define MAX_USES ((size_t)1 << 22)    /* metrics that the stages of one execution reported: 24 bytes each */

/* A stage attempt whose tasks reported a metric. */
struct metric_use {
    int64_t accumulator_id, stage_id, attempt;
};

struct graph {
    struct json_writer *json;
    int64_t execution_id;
    sqlite3_stmt *metrics, *metadata;
    size_t metric_count;                 /* written */
    struct metric_use *uses, *node_uses; /* by accumulator; those of one node; owned */
    size_t use_count, use_capacity, node_use_count, node_use_capacity;
};

static void graph_dispose(struct graph *self)
{
    db_finalize(self->metrics);
    db_finalize(self->metadata);
    mem_free(self->uses);
    mem_free(self->node_uses);
}

static int by_accumulator(const void *a, const void *b)
{
    const struct metric_use *x = a, *y = b;
    return x->accumulator_id < y->accumulator_id ? -1 : x->accumulator_id > y->accumulator_id;
}

static int by_stage(const void *a, const void *b)
{
    const struct metric_use *x = a, *y = b;
    if (x->stage_id != y->stage_id)
        return x->stage_id < y->stage_id ? -1 : 1;
    return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

static enum err_code read_uses(struct graph *self, struct db *db, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(db, &rows,
                                  "SELECT a.accumulable_id, s.stage_id, s.attempt FROM (SELECT DISTINCT k.stage_id FROM job j JOIN job_stage k ON k.job_id = j.job_id "
                                  "WHERE j.sql_execution_id = ?1) AS mine JOIN stage s ON s.stage_id = mine.stage_id "
                                  "JOIN stage_accumulable a ON a.stage_ref = s.stage_ref WHERE a.metadata = 'sql'",
                                  err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, self->execution_id);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        if (mem_grow((void **)&self->uses, &self->use_capacity, self->use_count + 1, MAX_USES, sizeof *self->uses)) {
            rc = err_nomem(err);
            break;
        }
        self->uses[self->use_count++] = (struct metric_use){db_i64(rows, 0), db_i64(rows, 1), db_i64(rows, 2)};
    }
    db_finalize(rows);
    if (self->use_count)
        qsort(self->uses, self->use_count, sizeof *self->uses, by_accumulator);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A metric that nobody reported (its values are all unset ones) has no numbers; a single value, the driver's, is a total and no distribution. */
static const char metric_sql[] =
    "SELECT accumulator_id, name, metric_type AS type, iif(reported_count > 0, value_count, NULL) AS value_count, nullif(reported_count, 0) AS reported_count, "
    "iif(reported_count > 0, total, NULL) AS total, iif(spread, min, NULL) AS min, iif(spread, median, NULL) AS median, iif(spread, max, NULL) AS max, "
    "iif(spread, max_stage_id, NULL) AS max_stage_id, iif(spread, max_stage_attempt, NULL) AS max_stage_attempt, iif(spread, max_task_id, NULL) AS max_task_id "
    "FROM (SELECT *, reported_count > 0 AND (value_count > 1 OR max_task_id IS NOT NULL) AS spread FROM sql_metric WHERE execution_id = ?1 AND accumulator_id = ?2)";

static enum err_code graph_init(struct graph *self, struct db *db, struct json_writer *json, int64_t execution_id, struct err *err)
{
    *self = (struct graph){.json = json, .execution_id = execution_id};
    enum err_code rc = db_prepare(db, &self->metrics, metric_sql, err);
    if (rc == ERR_OK)
        rc = db_prepare(db, &self->metadata, "SELECT m.key, m.value FROM text t, json_each(iif(json_valid(t.body), t.body, '{}')) AS m WHERE t.text_id = ?1 ORDER BY m.id", err);
    return rc ? rc : read_uses(self, db, err);
}

/* The unit of a metric's numbers (spec/sql.md §3.3); NULL: its type does not say. */
static const char *unit_of(struct str type)
{
    static const struct {
        const char *type, *unit;
    } units[] = {{"sum", "count"}, {"size", "bytes"}, {"timing", "ms"}, {"nsTiming", "ns"}, {"average", "tenths"}, {"count", "count"}};
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (str_is(type, units[i].type))
            return units[i].unit;
    return NULL;
}

static enum err_code write_metric(struct graph *self, int64_t accumulator_id, struct err *err)
{
    db_bind_i64(self->metrics, 1, self->execution_id);
    db_bind_i64(self->metrics, 2, accumulator_id);
    enum err_code rc = db_step(self->metrics, err);
    if (rc == ERR_OK) {
        json_object_begin(self->json);
        api_columns(self->json, self->metrics, 0, 12);
        json_kv_text(self->json, "unit", unit_of(db_str(self->metrics, 2)));
        json_object_end(self->json);
    }
    db_reset(self->metrics);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code add_uses(struct graph *self, int64_t accumulator_id, struct err *err)
{
    size_t low = 0, high = self->use_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->uses[middle].accumulator_id < accumulator_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < self->use_count && self->uses[low].accumulator_id == accumulator_id; low++) {
        if (mem_grow((void **)&self->node_uses, &self->node_use_capacity, self->node_use_count + 1, MAX_USES, sizeof *self->node_uses))
            return err_nomem(err);
        self->node_uses[self->node_use_count++] = self->uses[low];
    }
    return ERR_OK;
}

static void write_stages(struct graph *self)
{
    if (self->node_use_count)
        qsort(self->node_uses, self->node_use_count, sizeof *self->node_uses, by_stage);
    json_key(self->json, "stages");
    json_array_begin(self->json);
    for (size_t i = 0; i < self->node_use_count; i++) {
        if (i && by_stage(&self->node_uses[i - 1], &self->node_uses[i]) == 0)
            continue;
        json_object_begin(self->json);
        json_kv_i64(self->json, "stageId", self->node_uses[i].stage_id);
        json_kv_i64(self->json, "attempt", self->node_uses[i].attempt);
        json_object_end(self->json);
    }
    json_array_end(self->json);
}

static enum err_code write_metrics(struct graph *self, struct str ids, struct err *err)
{
    enum err_code rc = ERR_OK;
    size_t count = 0;
    self->node_use_count = 0;
    json_key(self->json, "metrics");
    json_array_begin(self->json);
    for (; ids.len && !rc && count < NODE_METRICS; count++) {
        int64_t id;
        if (str_to_i64(str_word(&ids, ' '), &id) && !(rc = write_metric(self, id, err)))
            rc = add_uses(self, id, err);
    }
    json_array_end(self->json);
    self->metric_count += count;
    return rc;
}

static enum err_code write_metadata(struct graph *self, int64_t text_id, struct err *err)
{
    enum err_code rc;
    json_key(self->json, "metadata");
    json_array_begin(self->json);
    db_bind_i64(self->metadata, 1, text_id);
    while ((rc = db_step(self->metadata, err)) == ERR_OK) {
        json_array_begin(self->json);
        json_str(self->json, db_str(self->metadata, 0));
        json_str(self->json, db_str(self->metadata, 1));
        json_array_end(self->json);
    }
    json_array_end(self->json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* "nodes" from first_node on, as many as go into one answer, and "nextNode". */
static enum err_code write_nodes(struct graph *self, struct db *db, int64_t graph_plan_id, int64_t first_node, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    int64_t node_count = 0, next_node = UNKNOWN;
    json_key(self->json, "nodes");
    json_array_begin(self->json);
    enum err_code rc = db_prepare(db, &rows,
                                  "SELECT n.is_cluster, n.accumulator_ids, n.metadata_text_id, n.node_id AS id, n.cluster_id, n.name, d.body AS description FROM sql_node n "
                                  "LEFT JOIN text d ON d.text_id = n.description_text_id WHERE n.plan_id = ?1 AND n.node_id >= ?2 ORDER BY n.node_id",
                                  err);
    if (!rc) {
        db_bind_i64(rows, 1, graph_plan_id);
        db_bind_i64(rows, 2, first_node);
    }
    while (!rc && (rc = db_step(rows, err)) == ERR_OK) {
        if (node_count++ == PIECE_NODES || self->metric_count >= PIECE_METRICS) {
            next_node = db_i64(rows, 3);
            break;
        }
        json_object_begin(self->json);
        api_columns(self->json, rows, 3, 7);
        json_kv_bool(self->json, "isCluster", db_i64(rows, 0) == 1);
        if (!(rc = write_metadata(self, db_i64(rows, 2), err)))
            rc = write_metrics(self, db_str(rows, 1), err);
        write_stages(self);
        json_object_end(self->json);
    }
    db_finalize(rows);
    json_array_end(self->json);
    json_kv_i64(self->json, "nextNode", next_node);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_node_count(struct json_writer *json, struct db *db, int64_t graph_plan_id, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, "SELECT ifnull(max(node_id) + 1, 0) AS node_count FROM sql_node WHERE plan_id = ?1", err);
    if (!rc) {
        db_bind_i64(row, 1, graph_plan_id);
        rc = db_step(row, err);
    }
    if (!rc)
        api_columns(json, row, 0, 1);
    db_finalize(row);
    return rc;
}

static enum err_code write_edges(struct json_writer *json, struct db *db, int64_t graph_plan_id, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(db, &rows, "SELECT from_id, to_id FROM sql_edge WHERE plan_id = ?1 ORDER BY ordinal", err);
    if (!rc) {
        db_bind_i64(rows, 1, graph_plan_id);
        rc = api_rows(json, "edges", NULL, rows, err);
    }
    db_finalize(rows);
    return rc;
}

enum err_code sql_graph(struct json_writer *json, struct db *db, int64_t execution_id, int64_t graph_plan_id, int64_t first_node, struct err *err)
{
    CLEANUP(graph_dispose) struct graph graph;
    enum err_code rc = graph_init(&graph, db, json, execution_id, err);
    if (rc == ERR_OK)
        rc = write_nodes(&graph, db, graph_plan_id, first_node, err);
    if (rc == ERR_OK)
        rc = write_node_count(json, db, graph_plan_id, err);
    return rc ? rc : write_edges(json, db, first_node == 0 ? graph_plan_id : UNKNOWN, err);
}
