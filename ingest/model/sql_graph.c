/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of a plan, as the History Server draws it: spec/sql.md §2.2, case by case. All that is decided, is decided when a plan node is first met, so a stack of what is still to
 * be visited takes the place of recursion. */
#include <string.h>

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/sql.h"

#define NO_NODE (-1)
#define METADATA_MAX_BYTES ((size_t)256 << 20)   /* a line's, escaped */

struct visit {
    uint32_t at;
    int64_t parent, cluster;         /* node ids or NO_NODE */
};

struct making {
    struct app_model *model;
    const struct sql_plan_info *plan;
    struct sql_graph *graph;
    struct digest *subtrees;         /* by plan node: its name, its simple string and those of all below it */
    struct smap exchanges;           /* digest of a subtree → node id + 1 */
    struct visit *stack;             /* no more than nodes of the plan: each is pushed once */
    size_t stack_count;
    bool adaptive_seen;
    struct buf text;
};

/* Children come behind their parents, so one walk from the end has theirs ready. */
static void digest_subtrees(struct making *self)
{
    const struct sql_plan_node *nodes = self->plan->nodes;
    for (size_t i = self->plan->node_count; i-- > 0;) {
        struct digest *digest = self->subtrees + i;
        digest_text(digest, nodes[i].name);
        digest_text(digest, nodes[i].simple_string);
        for (uint32_t child = nodes[i].first_child; child != SQL_PLAN_NO_NODE; child = nodes[child].next_sibling) {
            digest_i64(digest, (int64_t)self->subtrees[child].hash);
            digest_i64(digest, (int64_t)self->subtrees[child].other);
            digest_i64(digest, (int64_t)self->subtrees[child].len);
        }
    }
}

static int64_t registered(const struct making *self, uint32_t at)
{
    return at == SQL_PLAN_NO_NODE ? NO_NODE : (intptr_t)smap_get(&self->exchanges, digest_key(self->subtrees + at)) - 1;
}

static void push(struct making *self, uint32_t at, int64_t parent, int64_t cluster)
{
    if (at != SQL_PLAN_NO_NODE)      /* a wrapper of nothing: the History Server fails on the whole plan */
        self->stack[self->stack_count++] = (struct visit){at, parent, cluster};
}

/* Children in their order: the first ends on top. */
static void push_children(struct making *self, uint32_t parent, int64_t parent_id, int64_t cluster)
{
    const struct sql_plan_node *nodes = self->plan->nodes;
    size_t from = self->stack_count;
    for (uint32_t child = nodes[parent].first_child; child != SQL_PLAN_NO_NODE; child = nodes[child].next_sibling)
        push(self, child, parent_id, cluster);
    for (size_t a = from, b = self->stack_count; a + 1 < b; a++) {
        struct visit swap = self->stack[a];
        self->stack[a] = self->stack[--b];
        self->stack[b] = swap;
    }
}

static void add_edge(struct making *self, int64_t from, int64_t to)
{
    if (to != NO_NODE)
        self->graph->edges[self->graph->edge_count++] = (struct sql_graph_edge){from, to};
}

static enum err_code metadata_text(struct making *self, const struct kv_list *metadata, int64_t *ret, struct err *err)
{
    struct json_writer json;
    *ret = UNKNOWN;
    if (!metadata->count)
        return ERR_OK;
    buf_clear(&self->text);
    json_writer_init(&json, json_sink_buf, &self->text, false);
    json_object_begin(&json);
    for (size_t i = 0; i < metadata->count; i++) {
        json_key_str(&json, metadata->items[i].name);
        json_str(&json, metadata->items[i].value);
    }
    json_object_end(&json);
    if (json_writer_end(&json))
        return err_nomem(err);
    return model_text_id(self->model, buf_str(&self->text), ret, err);
}

static enum err_code accumulators_text(struct making *self, const struct sql_plan_node *source, struct str *ret, struct err *err)
{
    buf_clear(&self->text);
    for (size_t i = 0; i < source->metric_count; i++)
        buf_printf(&self->text, "%s%lld", i ? " " : "", (long long)self->plan->metrics[source->first_metric + i].accumulator_id);
    struct str text = source->metric_count ? buf_str(&self->text) : STR_LIT("");
    return buf_failed(&self->text) || arena_str(&self->model->sql->fresh, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code add_node(struct making *self, const struct sql_plan_node *source, int64_t cluster, bool is_cluster, int64_t *ret_id, struct err *err)
{
    struct sql_graph_node *node = self->graph->nodes + self->graph->node_count;
    *node = (struct sql_graph_node){.cluster_id = cluster == NO_NODE ? UNKNOWN : cluster, .is_cluster = is_cluster, .source = source};
    *ret_id = (int64_t)self->graph->node_count++;
    if (!self->adaptive_seen && str_is(source->name, "AdaptiveSparkPlan")) {
        self->adaptive_seen = true;
        self->graph->final = str_starts(source->simple_string, "AdaptiveSparkPlan isFinalPlan=true");
    }
    enum err_code rc;
    if (redact_copy(&self->model->sql->fresh, str_known(source->name) ? source->name : STR_LIT(""), &node->name))
        return err_nomem(err);
    if ((rc = model_text_id(self->model, source->simple_string, &node->description_text_id, err)) || (rc = metadata_text(self, &source->metadata, &node->metadata_text_id, err)))
        return rc;
    return accumulators_text(self, source, &node->accumulators, err);
}

/* Anything that is no wrapper. */
static enum err_code visit_operator(struct making *self, struct visit v, struct err *err)
{
    const struct sql_plan_node *source = self->plan->nodes + v.at;
    int64_t id;
    enum err_code rc = add_node(self, source, v.cluster, false, &id, err);
    if (rc)
        return rc;
    bool exchange = source->name.len && memmem(source->name.ptr, source->name.len, "Exchange", strlen("Exchange"));
    if ((exchange || str_is(source->name, "Subquery")) && smap_put(&self->exchanges, digest_key(self->subtrees + v.at), (void *)(intptr_t)(id + 1)))
        return err_nomem(err);
    add_edge(self, id, v.parent);
    push_children(self, v.at, id, v.cluster);
    return ERR_OK;
}

static enum err_code visit(struct making *self, struct visit v, struct err *err)
{
    const struct sql_plan_node *source = self->plan->nodes + v.at;
    struct str name = source->name;
    int64_t id;
    if (str_starts(name, "WholeStageCodegen")) {
        enum err_code rc = add_node(self, source, NO_NODE, true, &id, err);
        push(self, source->first_child, v.parent, id);
        return rc;
    }
    if (str_is(name, "InputAdapter") || str_is(name, "TableCacheQueryStage") || str_is(name, "ResultQueryStage")) {
        push(self, source->first_child, v.parent, NO_NODE);
        return ERR_OK;
    }
    if (str_is(name, "BroadcastQueryStage") || str_is(name, "ShuffleQueryStage")) {
        if ((id = registered(self, source->first_child)) != NO_NODE)
            add_edge(self, id, v.parent);
        else
            push(self, source->first_child, v.parent, NO_NODE);
        return ERR_OK;
    }
    if (str_is(name, "Subquery")) {
        v.cluster = NO_NODE;         /* never inside one */
        if ((id = registered(self, v.at)) != NO_NODE) {
            add_edge(self, id, v.parent);
            return ERR_OK;
        }
    }
    if (str_is(name, "ReusedSubquery")) {
        push(self, source->first_child, v.parent, v.cluster);
        return ERR_OK;
    }
    if (str_is(name, "ReusedExchange") && (id = registered(self, source->first_child)) != NO_NODE) {
        add_edge(self, id, v.parent);
        return ERR_OK;
    }
    return visit_operator(self, v, err);
}

enum err_code sql_graph_make(struct app_model *model, const struct sql_plan_info *plan, struct sql_graph *ret, struct err *err)
{
    *ret = (struct sql_graph){0};
    if (!plan->node_count)
        return ERR_OK;
    struct making self = {.model = model, .plan = plan, .graph = ret};
    self.subtrees = mem_array(plan->node_count, sizeof *self.subtrees);
    self.stack = mem_array(plan->node_count, sizeof *self.stack);
    ret->nodes = arena_alloc(&model->sql->fresh, plan->node_count * sizeof *ret->nodes);
    ret->edges = arena_alloc(&model->sql->fresh, plan->node_count * sizeof *ret->edges);
    smap_init(&self.exchanges, plan->node_count, MODEL_ARENA_BYTES);
    buf_init(&self.text, METADATA_MAX_BYTES);
    enum err_code rc = ERR_OK;
    if (!self.subtrees || !self.stack || !ret->nodes || !ret->edges) {
        rc = err_nomem(err);
    } else {
        digest_subtrees(&self);
        push(&self, 0, NO_NODE, NO_NODE);
    }
    while (!rc && self.stack_count)
        rc = visit(&self, self.stack[--self.stack_count], err);
    mem_free(self.subtrees);
    mem_free(self.stack);
    smap_dispose(&self.exchanges);
    buf_dispose(&self.text);
    return rc;
}

void sql_graph_digest(const struct sql_graph *graph, struct digest *ret)
{
    *ret = (struct digest){0};
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct sql_graph_node *node = graph->nodes + i;
        digest_text(ret, node->name);
        digest_text(ret, node->accumulators);
        digest_i64(ret, node->cluster_id);
        digest_i64(ret, node->is_cluster);
        digest_i64(ret, node->description_text_id);
        digest_i64(ret, node->metadata_text_id);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        digest_i64(ret, graph->edges[i].from);
        digest_i64(ret, graph->edges[i].to);
    }
}
