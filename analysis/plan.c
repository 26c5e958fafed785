/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "analysis/sort.h"
#include "base/mem.h"

struct edge {
    uint32_t from, to;
};

struct plan_reader {
    const struct facts *facts;
    struct plan plan;
    struct arena texts; /* of the present plan */
    sqlite3_stmt *plans, *nodes, *edges, *metrics, *accumulables;
    struct plan_node *node_array;
    size_t node_capacity;
    struct plan_metric *metric_array;
    size_t metric_capacity;
    struct edge *edge_array;
    size_t edge_count, edge_capacity;
    struct sort_item *stage_order; /* stages by (execution, position) */
    struct sort_item *reported;    /* (accumulator, stage) of the present execution, once somebody asked */
    struct sort_item *scratch;
    uint32_t *reported_stages; /* those of reported, in its order: what plan_stages gives parts of */
    size_t reported_count, reported_capacity, scratch_capacity, stages_capacity;
    bool reported_read;
};

static const char latest_sql[] = "SELECT e.execution_id, p.version, p.graph_plan_id, p.final, p.too_large, t.text_bytes, p.logged_ms, 1"
                                 "  FROM sql_execution e CROSS JOIN sql_plan p ON p.plan_id = e.plan_id LEFT JOIN plan_text t ON t.plan_text_id = p.plan_text_id"
                                 "  ORDER BY e.execution_id";
static const char changed_sql[] = "SELECT e.execution_id, p.version, p.graph_plan_id, p.final, p.too_large, t.text_bytes, p.logged_ms, p.plan_id = e.plan_id"
                                  "  FROM sql_execution e CROSS JOIN sql_plan p ON p.execution_id = e.execution_id LEFT JOIN plan_text t ON t.plan_text_id = p.plan_text_id"
                                  "  WHERE EXISTS (SELECT 1 FROM sql_plan q WHERE q.execution_id = e.execution_id AND q.version > 0) ORDER BY e.execution_id, p.version";
static const char nodes_sql[] = "SELECT n.node_id, n.is_cluster, n.cluster_id, n.name, d.body, m.body, n.accumulator_ids"
                                "  FROM sql_node n LEFT JOIN text d ON d.text_id = n.description_text_id LEFT JOIN text m ON m.text_id = n.metadata_text_id"
                                "  WHERE n.plan_id = ?1 ORDER BY n.node_id";
static const char edges_sql[] = "SELECT from_id, to_id FROM sql_edge WHERE plan_id = ?1 ORDER BY ordinal";
static const char metrics_sql[] = "SELECT accumulator_id, name, metric_type, total, min, median, max, reported_count, max_stage_id, max_stage_attempt, max_task_id"
                                  "  FROM sql_metric WHERE execution_id = ?1 ORDER BY accumulator_id";
static const char accumulables_sql[] = "SELECT accumulable_id FROM stage_accumulable WHERE stage_ref = ?1 AND metadata = 'sql'";

static enum err_code order_stages(struct plan_reader *self, struct err *err)
{
    size_t count = self->facts->stage_count;
    if (!count)
        return ERR_OK;
    struct sort_item *scratch = mem_array(count, sizeof *scratch);
    self->stage_order = mem_array(count, sizeof *self->stage_order);
    if (scratch && self->stage_order) {
        for (size_t i = 0; i < count; i++)
            self->stage_order[i] = (struct sort_item){.key = self->facts->stages[i].sql_execution_id, .position = (uint32_t)i};
        sort_items(self->stage_order, scratch, count);
    }
    mem_free(scratch);
    return scratch && self->stage_order ? ERR_OK : err_nomem(err);
}

enum err_code plan_reader_open(struct plan_reader **ret, const struct facts *facts, enum plans which, struct err *err)
{
    struct plan_reader *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->facts = facts;
    arena_init(&self->texts, PLAN_ARENA_BYTES);
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } statements[] = {{&self->plans, which == PLANS_LATEST ? latest_sql : changed_sql},
                      {&self->nodes, nodes_sql},
                      {&self->edges, edges_sql},
                      {&self->metrics, metrics_sql},
                      {&self->accumulables, accumulables_sql}};
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(statements) && !rc; i++)
        rc = db_prepare(facts->db, statements[i].stmt, statements[i].sql, err);
    if (!rc)
        rc = order_stages(self, err);
    if (rc) {
        plan_reader_close(self);
        *ret = NULL;
    }
    return rc;
}

void plan_reader_close(struct plan_reader *self)
{
    if (!self)
        return;
    sqlite3_stmt *statements[] = {self->plans, self->nodes, self->edges, self->metrics, self->accumulables};
    for (size_t i = 0; i < ARRAY_LENGTH(statements); i++)
        db_finalize(statements[i]);
    mem_free(self->node_array);
    mem_free(self->metric_array);
    mem_free(self->edge_array);
    mem_free(self->stage_order);
    mem_free(self->reported);
    mem_free(self->scratch);
    mem_free(self->reported_stages);
    arena_dispose(&self->texts);
    mem_free(self);
}

/* ---- one plan */

static struct str without_suffix(struct str name)
{
    static const char *const suffixes[] = {" total (min, med, max)", " (min, med, max)", " (bytes)", " (ms)"};
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++)
        if (str_known(name) && str_ends(name, suffixes[i]))
            return (struct str){name.ptr, name.len - strlen(suffixes[i])};
    return name;
}

static enum err_code read_metrics(struct plan_reader *self, struct err *err)
{
    enum err_code rc;
    db_bind_i64(self->metrics, 1, self->plan.execution_id);
    while ((rc = db_step(self->metrics, err)) == ERR_OK) {
        sqlite3_stmt *stmt = self->metrics;
        if (mem_grow((void **)&self->metric_array, &self->metric_capacity, self->plan.metric_count + 1, PLAN_MAX_NODES * 64, sizeof *self->metric_array)) {
            db_reset(stmt);
            return err_nomem(err);
        }
        struct plan_metric *metric = &self->metric_array[self->plan.metric_count++];
        struct str name = db_str(stmt, 1), type = db_str(stmt, 2);
        *metric = (struct plan_metric){.accumulator_id = db_i64(stmt, 0),
                                       .total = db_i64(stmt, 3),
                                       .min = db_i64(stmt, 4),
                                       .median = db_i64(stmt, 5),
                                       .max = db_i64(stmt, 6),
                                       .reported_count = db_i64(stmt, 7),
                                       .max_stage_id = db_i64(stmt, 8),
                                       .max_stage_attempt = db_i64(stmt, 9),
                                       .max_task_id = db_i64(stmt, 10)};
        if ((str_known(name) && arena_str(&self->texts, name, &metric->name)) || (str_known(type) && arena_str(&self->texts, type, &metric->type))) {
            db_reset(stmt);
            return err_nomem(err);
        }
        metric->name = without_suffix(metric->name);
    }
    self->plan.metrics = self->metric_array;
    return rc == ERR_EOF ? ERR_OK : rc;
}

static uint32_t find_metric(const struct plan *plan, int64_t accumulator_id)
{
    size_t low = 0;
    for (size_t high = plan->metric_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (plan->metrics[i].accumulator_id < accumulator_id)
            low = i + 1;
        else
            high = i;
    }
    return low < plan->metric_count && plan->metrics[low].accumulator_id == accumulator_id ? (uint32_t)low : NO_ENTITY;
}

/* "12 13 15" → positions of metrics. */
static enum err_code take_metrics(struct plan_reader *self, struct plan_node *node, struct str ids, struct err *err)
{
    size_t words = 0;
    for (size_t i = 0; i < ids.len; i++)
        words += ids.ptr[i] == ' ';
    uint32_t *positions = arena_alloc(&self->texts, (words + 1) * sizeof *positions);
    if (!positions)
        return err_nomem(err);
    for (size_t begin = 0; begin < ids.len;) {
        size_t end = begin;
        while (end < ids.len && ids.ptr[end] != ' ')
            end++;
        int64_t id;
        uint32_t at = str_to_i64((struct str){ids.ptr + begin, end - begin}, &id) ? find_metric(&self->plan, id) : NO_ENTITY;
        if (at != NO_ENTITY)
            positions[node->metric_count++] = at;
        begin = end + 1;
    }
    node->metrics = positions;
    return ERR_OK;
}

static enum err_code take_text(struct plan_reader *self, struct str text, size_t most, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    if (!str_known(text))
        return ERR_OK;
    if (text.len > most)
        text.len = utf8_valid_prefix(text.ptr, most);
    return arena_str(&self->texts, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code read_node(struct plan_reader *self, int64_t *ret_cluster_id, struct err *err)
{
    sqlite3_stmt *stmt = self->nodes;
    size_t count = self->plan.node_count;
    if (mem_grow((void **)&self->node_array, &self->node_capacity, count + 1, PLAN_MAX_NODES, sizeof *self->node_array))
        return err_set(err, ERR_LIMIT, "a plan of more nodes than ingest stores");
    struct plan_node *node = &self->node_array[count];
    *node = (struct plan_node){.node_id = db_i64(stmt, 0), .is_cluster = db_i64(stmt, 1) == 1, .cluster = NO_ENTITY, .rows = (double)NAN};
    *ret_cluster_id = db_i64(stmt, 2);
    struct str name = db_str(stmt, 3), text = db_str(stmt, 4);
    while (name.len && name.ptr[name.len - 1] == ' ')
        name.len--;
    node->text_bytes = text.len;
    enum err_code rc;
    if ((rc = take_text(self, name, PLAN_TEXT_BYTES, &node->name, err)) || (rc = take_text(self, text, PLAN_TEXT_BYTES, &node->text, err)) ||
        (rc = take_text(self, db_str(stmt, 5), (size_t)1 << 16, &node->metadata, err)) || (rc = take_metrics(self, node, db_str(stmt, 6), err)))
        return rc;
    node->is_subquery =
        plan_named(node, "Subquery") || plan_named(node, "ReusedSubquery") || plan_named(node, "SubqueryBroadcast") || plan_named(node, "SubqueryAdaptiveBroadcast");
    self->plan.node_count++;
    return ERR_OK;
}

static uint32_t find_node(const struct plan *plan, int64_t node_id)
{
    size_t low = 0;
    for (size_t high = plan->node_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (plan->nodes[i].node_id < node_id)
            low = i + 1;
        else
            high = i;
    }
    return low < plan->node_count && plan->nodes[low].node_id == node_id ? (uint32_t)low : NO_ENTITY;
}

static enum err_code read_nodes(struct plan_reader *self, int64_t graph_plan_id, struct err *err)
{
    enum err_code rc;
    int64_t cluster_id = UNKNOWN;
    db_bind_i64(self->nodes, 1, graph_plan_id);
    while ((rc = db_step(self->nodes, err)) == ERR_OK) {
        if ((rc = read_node(self, &cluster_id, err))) {
            db_reset(self->nodes);
            return rc;
        }
        self->plan.nodes = self->node_array;
        if (known(cluster_id)) /* a cluster has a smaller id than what is in it */
            self->node_array[self->plan.node_count - 1].cluster = find_node(&self->plan, cluster_id);
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Children and parents of all nodes out of the edges, each list in their order. */
static enum err_code link_nodes(struct plan_reader *self, struct err *err)
{
    size_t count = self->plan.node_count;
    uint32_t *children = arena_alloc(&self->texts, (self->edge_count + 1) * sizeof *children), *parents = arena_alloc(&self->texts, (self->edge_count + 1) * sizeof *parents);
    if (!children || !parents)
        return err_nomem(err);
    for (size_t i = 0; i < self->edge_count; i++) {
        self->node_array[self->edge_array[i].to].child_count++;
        self->node_array[self->edge_array[i].from].parent_count++;
    }
    for (size_t i = 0, at_child = 0, at_parent = 0; i < count; i++) {
        struct plan_node *node = &self->node_array[i];
        node->children = children + at_child;
        node->parents = parents + at_parent;
        at_child += node->child_count;
        at_parent += node->parent_count;
        node->child_count = node->parent_count = 0;
    }
    for (size_t i = 0; i < self->edge_count; i++) {
        struct plan_node *to = &self->node_array[self->edge_array[i].to], *from = &self->node_array[self->edge_array[i].from];
        children[(size_t)(to->children - children) + to->child_count++] = self->edge_array[i].from;
        parents[(size_t)(from->parents - parents) + from->parent_count++] = self->edge_array[i].to;
    }
    return ERR_OK;
}

static enum err_code read_edges(struct plan_reader *self, int64_t graph_plan_id, struct err *err)
{
    enum err_code rc;
    self->edge_count = 0;
    db_bind_i64(self->edges, 1, graph_plan_id);
    while ((rc = db_step(self->edges, err)) == ERR_OK) {
        struct edge edge = {find_node(&self->plan, db_i64(self->edges, 0)), find_node(&self->plan, db_i64(self->edges, 1))};
        if (edge.from == NO_ENTITY || edge.to == NO_ENTITY)
            continue;
        if (mem_grow((void **)&self->edge_array, &self->edge_capacity, self->edge_count + 1, 8 * PLAN_MAX_NODES, sizeof *self->edge_array)) {
            db_reset(self->edges);
            return err_set(err, ERR_LIMIT, "a plan of more edges than eight a node");
        }
        self->edge_array[self->edge_count++] = edge;
    }
    return rc == ERR_EOF ? link_nodes(self, err) : rc;
}

/* Operators that hand on each row as it comes and count none themselves. */
static bool keeps_rows(const struct plan_node *node)
{
    static const char *const names[] = {"Sort",
                                        "Project",
                                        "AQEShuffleRead",
                                        "CustomShuffleReader",
                                        "Exchange",
                                        "BroadcastExchange",
                                        "ColumnarToRow",
                                        "RowToColumnar",
                                        "InputAdapter",
                                        "AdaptiveSparkPlan",
                                        "ReusedExchange",
                                        "Window",
                                        "WindowInPandas",
                                        "BatchEvalPython",
                                        "ArrowEvalPython",
                                        "WriteFiles",
                                        "TableCacheQueryStage",
                                        "SerializeFromObject",
                                        "DeserializeToObject"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (plan_named(node, names[i]))
            return true;
    return false;
}

static double rows_of(const struct plan *plan, const struct plan_node *node)
{
    double own = plan_total(plan, node, "number of output rows");
    if (isnan(own) && plan_is_shuffle(node))
        own = plan_total(plan, node, "shuffle records written");
    if (!isnan(own) || node->is_cluster)
        return own;
    if (plan_named(node, "Union")) {
        double sum = 0;
        for (size_t i = 0; i < node->child_count; i++)
            sum += plan->nodes[node->children[i]].rows;
        return node->child_count ? sum : (double)NAN;
    }
    uint32_t child = keeps_rows(node) ? plan_child(plan, node) : NO_ENTITY;
    return child == NO_ENTITY ? (double)NAN : plan->nodes[child].rows;
}

/* Ids are those of a walk from the root, so from the end to the begin children come first, but for edges to a plan that is used again: they are met in the second round. */
static void count_rows(struct plan_reader *self)
{
    for (int round = 0; round < 2; round++)
        for (size_t i = self->plan.node_count; i-- > 0;)
            if (isnan(self->node_array[i].rows))
                self->node_array[i].rows = rows_of(&self->plan, &self->node_array[i]);
}

enum err_code plan_next(struct plan_reader *self, const struct plan **ret, struct err *err)
{
    enum err_code rc = db_step(self->plans, err);
    if (rc)
        return rc;
    struct plan *plan = &self->plan;
    int64_t graph_plan_id = db_i64(self->plans, 2);
    *plan = (struct plan){.facts = self->facts,
                          .execution_id = db_i64(self->plans, 0),
                          .version = db_i64(self->plans, 1),
                          .final = db_i64(self->plans, 3) == 1,
                          .too_large = db_i64(self->plans, 4) == 1,
                          .text_bytes = db_i64(self->plans, 5),
                          .logged_ms = db_i64(self->plans, 6),
                          .latest = db_i64(self->plans, 7) == 1};
    plan->sql = facts_sql(self->facts, plan->execution_id);
    plan->nodes = self->node_array;
    plan->metrics = self->metric_array;
    self->reported_read = false;
    self->reported_count = 0;
    arena_reset(&self->texts);
    if ((plan->latest && (rc = read_metrics(self, err))) || (rc = read_nodes(self, graph_plan_id, err)) || (rc = read_edges(self, graph_plan_id, err)))
        return rc;
    count_rows(self);
    *ret = plan;
    return ERR_OK;
}

/* ---- stages */

/* The first of `count` items whose key is at least `key`. */
static size_t lower_bound(const struct sort_item *items, size_t count, int64_t key)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (items[i].key < key)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static enum err_code read_accumulables(struct plan_reader *self, uint32_t stage, struct err *err)
{
    enum err_code rc;
    db_bind_i64(self->accumulables, 1, self->facts->stages[stage].stage_ref);
    while ((rc = db_step(self->accumulables, err)) == ERR_OK) {
        if (mem_grow((void **)&self->reported, &self->reported_capacity, self->reported_count + 1, PLAN_MAX_NODES * 64, sizeof *self->reported)) {
            db_reset(self->accumulables);
            return err_nomem(err);
        }
        self->reported[self->reported_count++] = (struct sort_item){.key = db_i64(self->accumulables, 0), .tie = stage, .position = stage};
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_reported(struct plan_reader *self, struct err *err)
{
    size_t count = self->facts->stage_count;
    enum err_code rc = ERR_OK;
    for (size_t i = lower_bound(self->stage_order, count, self->plan.execution_id); i < count && self->stage_order[i].key == self->plan.execution_id && !rc; i++)
        rc = read_accumulables(self, self->stage_order[i].position, err);
    if (rc)
        return rc;
    if (self->reported_count && (mem_grow((void **)&self->scratch, &self->scratch_capacity, self->reported_count, PLAN_MAX_NODES * 64, sizeof *self->scratch) ||
                                 mem_grow((void **)&self->reported_stages, &self->stages_capacity, self->reported_count, PLAN_MAX_NODES * 64, sizeof *self->reported_stages)))
        return err_nomem(err);
    if (self->reported_count)
        sort_items(self->reported, self->scratch, self->reported_count);
    for (size_t i = 0; i < self->reported_count; i++)
        self->reported_stages[i] = self->reported[i].position;
    self->reported_read = true;
    return ERR_OK;
}

enum err_code plan_stages(struct plan_reader *self, int64_t accumulator_id, const uint32_t **ret, size_t *ret_count, struct err *err)
{
    *ret = NULL;
    *ret_count = 0;
    enum err_code rc = self->reported_read ? ERR_OK : read_reported(self, err);
    if (rc || !self->reported_count)
        return rc;
    size_t begin = lower_bound(self->reported, self->reported_count, accumulator_id), end = begin;
    while (end < self->reported_count && self->reported[end].key == accumulator_id)
        end++;
    *ret = self->reported_stages + begin;
    *ret_count = end - begin;
    return ERR_OK;
}

/* ---- what a node is */

static bool named_any(const struct plan_node *node, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (plan_named(node, names[i]))
            return true;
    return false;
}

bool plan_is_scan(const struct plan_node *node)
{
    static const char *const names[] = {"Scan", "BatchScan", "FileScan", "GpuScan", "GpuBatchScan", "PhotonScan", "MicroBatchScan"};
    return named_any(node, names, ARRAY_LENGTH(names)) && !plan_named(node, "Scan ExistingRDD") && !plan_named(node, "Scan In-memory") && !plan_named(node, "Scan OneRowRelation");
}

bool plan_is_join(const struct plan_node *node)
{
    static const char *const names[] = {"SortMergeJoin", "BroadcastHashJoin", "ShuffledHashJoin", "BroadcastNestedLoopJoin", "CartesianProduct"};
    return named_any(node, names, ARRAY_LENGTH(names));
}

bool plan_is_shuffle(const struct plan_node *node)
{
    static const char *const names[] = {"Exchange", "GpuColumnarExchange", "PhotonShuffleExchangeSink", "ShuffleExchange"};
    return named_any(node, names, ARRAY_LENGTH(names));
}

bool plan_is_shuffle_read(const struct plan_node *node)
{
    return plan_named(node, "AQEShuffleRead") || plan_named(node, "CustomShuffleReader");
}

bool plan_is_python(const struct plan_node *node)
{
    static const char *const words[] = {"EvalPython", "InPandas", "InArrow", "InPySpark"};
    for (size_t i = 0; i < ARRAY_LENGTH(words) && node->name.len > 8; i++)
        if (memmem(node->name.ptr, node->name.len, words[i], strlen(words[i])))
            return true;
    return false;
}

const struct plan_metric *plan_metric(const struct plan *plan, const struct plan_node *node, const char *name)
{
    for (size_t i = 0; i < node->metric_count; i++) {
        const struct plan_metric *metric = &plan->metrics[node->metrics[i]];
        if (str_is(metric->name, name) && known(metric->total) && metric->reported_count != 0)
            return metric;
    }
    return NULL;
}

double plan_total(const struct plan *plan, const struct plan_node *node, const char *name)
{
    const struct plan_metric *metric = plan_metric(plan, node, name);
    return metric && metric->total >= 0 ? (double)metric->total : (double)NAN;
}

double plan_total_ms(const struct plan *plan, const struct plan_node *node, const char *name)
{
    const struct plan_metric *metric = plan_metric(plan, node, name);
    if (!metric || metric->total < 0)
        return (double)NAN;
    return str_is(metric->type, "nsTiming") ? (double)metric->total / NS_PER_MS : (double)metric->total;
}

uint32_t plan_child(const struct plan *plan, const struct plan_node *node)
{
    uint32_t only = NO_ENTITY;
    for (size_t i = 0; i < node->child_count; i++) {
        if (plan->nodes[node->children[i]].is_subquery)
            continue;
        if (only != NO_ENTITY)
            return NO_ENTITY;
        only = node->children[i];
    }
    return only;
}

uint32_t plan_shuffle_below(const struct plan *plan, uint32_t from)
{
    /* A hostile graph may have a circle: no way down is longer than the plan. */
    for (size_t steps = 0; from != NO_ENTITY && steps <= plan->node_count; steps++) {
        const struct plan_node *node = &plan->nodes[from];
        if (plan_is_shuffle(node))
            return from;
        if (!plan_named(node, "Sort") && !plan_named(node, "Project") && !plan_named(node, "ColumnarToRow") && !plan_named(node, "GpuCoalesceBatches") &&
            !plan_named(node, "Filter") && !plan_is_shuffle_read(node))
            return NO_ENTITY;
        from = plan_child(plan, node);
    }
    return NO_ENTITY;
}

/* ---- texts */

/* The JSON is ours (ingest wrote it): an object of texts. Whatever else it is gives no text. */
struct str plan_metadata(const struct plan_node *node, const char *key, struct arena *arena)
{
    const char *at = node->metadata.ptr, *end = at ? at + node->metadata.len : at;
    size_t key_len = strlen(key);
    while (at < end) {
        const char *begin = memchr(at, '"', (size_t)(end - at));
        if (!begin)
            break;
        const char *close = ++begin;
        while (close < end && *close != '"')
            close += *close == '\\' && close + 1 < end ? 2 : 1;
        if (close >= end)
            break;
        bool is_key = close + 2 < end && close[1] == ':' && close[2] == '"', found = is_key && (size_t)(close - begin) == key_len && memcmp(begin, key, key_len) == 0;
        at = close + (is_key ? 2 : 1); /* at the value's quote, or behind a value */
        if (!found)
            continue;
        const char *value = at + 1, *value_end = value;
        while (value_end < end && *value_end != '"')
            value_end += *value_end == '\\' && value_end + 1 < end ? 2 : 1;
        char *out = arena_alloc(arena, (size_t)(value_end - value) + 1);
        size_t len = 0;
        for (const char *c = value; out && c < value_end; c++)
            out[len++] = *c == '\\' && c + 1 < value_end ? *++c : *c;
        return out ? (struct str){out, len} : STR_NONE;
    }
    return STR_NONE;
}

struct str plan_text_field(const struct plan_node *node, const char *key)
{
    size_t len = strlen(key);
    if (node->text.len < len + 2)
        return STR_NONE;
    for (size_t at = 0; at + len + 2 <= node->text.len; at++) {
        const char *c = node->text.ptr + at;
        if (memcmp(c, key, len) != 0 || c[len] != ':' || c[len + 1] != ' ' || (at && c[-1] != ' '))
            continue;
        size_t begin = at + len + 2, end = begin;
        int depth = 0;
        for (; end < node->text.len; end++) {
            char b = node->text.ptr[end];
            depth += (b == '[' || b == '(' || b == '<') - (b == ']' || b == ')' || b == '>');
            if (b == ',' && depth <= 0)
                break;
        }
        return (struct str){node->text.ptr + begin, end - begin};
    }
    return STR_NONE;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

uint64_t plan_text_hash(struct str text, uint64_t seed)
{
    uint64_t hash = seed ^ 0xcbf29ce484222325U; /* FNV-1a */
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool begins_word = i == 0 || !is_word(text.ptr[i - 1]);
        size_t digits = i;
        while (digits < text.len && isdigit((unsigned char)text.ptr[digits]))
            digits++;
        if (c == '#') { /* #12, #12L: an expression's id */
            size_t end = i + 1;
            while (end < text.len && isdigit((unsigned char)text.ptr[end]))
                end++;
            end += end < text.len && end > i + 1 && text.ptr[end] == 'L';
            i = end - 1;
        } else if (begins_word && digits > i && (digits == text.len || !is_word(text.ptr[digits]))) {
            bool id = i && (text.ptr[i - 1] == '=' || text.ptr[i - 1] == '('); /* plan_id=12, codegen (3) */
            if (id) {
                c = '?';
                i = digits - 1;
            }
        } else if (digits > i && i >= 9 && memcmp(text.ptr + i - 9, "pythonUDF", 9) == 0) {
            c = '?';
            i = digits - 1;
        }
        hash = (hash ^ (uint8_t)c) * 0x100000001b3U;
    }
    return hash;
}
