/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/sql_rows.h"

#include "base/mem.h"
#include "ingest/model/sql.h"
#include "ingest/store/operation_tags.h"
#include "ingest/store/row_value.h"

enum statement { PUT_EXECUTION, REOPEN_EXECUTION, PUT_TAG, PUT_CONFIG, PUT_PLAN, PUT_PLAN_TEXT, PUT_NODE, PUT_EDGE, PUT_METRIC, ADD_METRIC, STATEMENT_COUNT };

#define METRIC_VALUES \
    " INTO sql_metric (execution_id, accumulator_id, name, metric_type, value_count, raw_count, reported_count, total, min, median, max, " \
    "max_stage_id, max_stage_attempt, max_task_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_EXECUTION] = "INSERT OR REPLACE INTO sql_execution (execution_id, root_execution_id, description, details_text_id, job_group, job_tags, query_id, submission_ms, "
                      "completion_ms, outcome, error_text_id, status, start_seen, end_seen, plan_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [REOPEN_EXECUTION] = "UPDATE sql_execution SET status = ?2, plan_id = ?3 WHERE execution_id = ?1",
    [PUT_TAG] = "INSERT OR IGNORE INTO sql_tag (tag, execution_id) VALUES (?, ?)",
    [PUT_CONFIG] = "INSERT OR REPLACE INTO sql_config (execution_id, name, value) VALUES (?, ?, ?)",
    [PUT_PLAN] = "INSERT INTO sql_plan (plan_id, execution_id, version, plan_text_id, graph_plan_id, final, logged_ms, too_large) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_PLAN_TEXT] = "INSERT INTO plan_text (plan_text_id, base_id, text_bytes, packed) VALUES (?, ?, ?, ?)",
    [PUT_NODE] = "INSERT INTO sql_node (plan_id, node_id, is_cluster, cluster_id, name, description_text_id, metadata_text_id, accumulator_ids) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_EDGE] = "INSERT INTO sql_edge (plan_id, ordinal, from_id, to_id) VALUES (?, ?, ?, ?)",
    [PUT_METRIC] = "INSERT OR REPLACE" METRIC_VALUES,
    [ADD_METRIC] = "INSERT OR IGNORE" METRIC_VALUES,
};

struct sql_rows {
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

#define ROW(which, ...) row_put(self->statements[which], err, ROW_VALUES(__VA_ARGS__))

enum err_code sql_rows_attach(struct sql_rows *self, struct db *db, struct err *err)
{
    return rows_prepare(self->statements, statement_texts, STATEMENT_COUNT, db, err);
}

void sql_rows_detach(struct sql_rows *self)
{
    rows_finalize(self->statements, STATEMENT_COUNT);
}

enum err_code sql_rows_new(struct sql_rows **ret, struct db *db, struct err *err)
{
    struct sql_rows *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    enum err_code rc = sql_rows_attach(self, db, err);
    if (rc) {
        sql_rows_free(self);
        self = NULL;
    }
    *ret = self;
    return rc;
}

void sql_rows_free(struct sql_rows *self)
{
    if (!self)
        return;
    sql_rows_detach(self);
    mem_free(self);
}

static enum err_code write_plan(struct sql_rows *self, const struct sql_plan *plan, struct err *err)
{
    enum err_code rc = ROW(PUT_PLAN, N(plan->plan_id), N(plan->execution_id), N(plan->version), N(plan->plan_text_id), N(plan->graph_plan_id), N(plan->graph.final),
                           N(plan->logged_ms), N(plan->too_large));
    for (size_t i = 0; i < plan->graph.node_count && !rc; i++) {
        const struct sql_graph_node *node = plan->graph.nodes + i;
        rc = ROW(PUT_NODE, N(plan->plan_id), N((int64_t)i), N(node->is_cluster), N(node->cluster_id), S(node->name), N(node->description_text_id), N(node->metadata_text_id),
                 S(node->accumulators));
    }
    for (size_t i = 0; i < plan->graph.edge_count && !rc; i++)
        rc = ROW(PUT_EDGE, N(plan->plan_id), N((int64_t)i), N(plan->graph.edges[i].from), N(plan->graph.edges[i].to));
    return rc;
}

static enum err_code write_metrics(struct sql_rows *self, const struct sql_execution *execution, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < execution->metric_count && !rc; i++) {
        const struct sql_metric *m = execution->metrics + i;
        rc = ROW(execution->metrics_settled ? ADD_METRIC : PUT_METRIC, N(execution->execution_id), N(m->accumulator_id), S(m->name), S(m->type), N(m->value_count),
                 N(m->raw_count), N(m->reported_count), N(m->total), N(m->min), N(m->median), N(m->max), N(m->max_stage_id), N(m->max_stage_attempt), N(m->max_task_id));
    }
    return rc;
}

static enum err_code write_execution(struct sql_rows *self, struct sql_model *model, struct sql_execution *execution, struct err *err)
{
    const struct sql_execution *e = execution;
    int64_t status = sql_execution_status(e);
    enum err_code rc = ERR_OK;
    if (e->dirty && e->settled)
        rc = ROW(REOPEN_EXECUTION, N(e->execution_id), N(status), N(e->plan_id));
    else if (e->dirty)
        rc = ROW(PUT_EXECUTION, N(e->execution_id), N(e->root_execution_id), S(e->description), N(e->details_text_id), S(e->job_group), S(e->job_tags), S(e->query_id),
                 N(e->submission_ms), N(e->completion_ms), N(e->outcome), N(e->error_text_id), N(status), N(e->start_seen), N(e->end_seen), N(e->plan_id));
    struct str tags = e->dirty && !e->settled ? e->job_tags : STR_NONE, tag;
    while (!rc && operation_tag_next(&tags, &tag))
        rc = ROW(PUT_TAG, S(tag), N(e->execution_id));
    for (size_t i = 0; i < e->configs.count && e->configs_dirty && !rc; i++)
        rc = ROW(PUT_CONFIG, N(e->execution_id), S(e->configs.items[i].name), S(e->configs.items[i].value));
    if (!rc && e->metrics_dirty)
        rc = write_metrics(self, e, err);
    if (!rc)
        sql_execution_written(model, execution);
    return rc;
}

enum err_code sql_rows_write(struct sql_rows *self, struct sql_model *model, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < model->text_count && !rc; i++) {
        const struct sql_plan_text *text = model->texts + i;
        rc = ROW(PUT_PLAN_TEXT, N(text->plan_text_id), N(text->base_id), N(text->text_bytes), B(text->packed));
    }
    for (size_t i = 0; i < model->plan_count && !rc; i++)
        rc = write_plan(self, model->plans + i, err);
    if (!rc)
        sql_fresh_written(model);
    for (size_t i = 0; i < model->executions.count && !rc; i++) {
        struct sql_execution *execution = model->executions.items[i];
        if (execution->dirty || execution->configs_dirty || execution->metrics_dirty)
            rc = write_execution(self, model, execution, err);
    }
    return rc;
}
