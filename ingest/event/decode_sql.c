/* SPDX-License-Identifier: Apache-2.0
 *
 * Spark SQL: executions, their plans, what the driver measured (spec/sql.md §1.1, §2.1). Names are those of the fields of Spark's classes. */
#include "ingest/event/decode.h"

static const struct json_key metric_keys[] = {JSON_KEY("name", 0), JSON_KEY("accumulatorId", 1), JSON_KEY("metricType", 2)};

/* The metrics of one node, or of an event; appended. Those without an id can have no value and are left out. */
static void plan_metrics(struct json_pull *in, struct sql_plan_metric **metrics, size_t *count, size_t *capacity)
{
    if (!json_array_begin(in))
        return;
    while (json_array_next(in)) {
        struct sql_plan_metric one = {.accumulator_id = UNKNOWN}, *item;
        struct json_object o;
        if (!json_object_begin(in, &o, KEYS(metric_keys)))
            continue;
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: one.name = json_str(in); break;
            case 1: one.accumulator_id = json_count(in); break;
            case 2: one.type = json_str(in); break;
            default: json_skip(in);          /* experimental: Databricks */
            }
        void *items = *metrics;
        if (!known(one.accumulator_id) || !(item = list_push(in, &items, count, capacity, sizeof *item)))
            continue;
        *metrics = items;
        *item = one;
    }
}

enum { PLAN_NAME, PLAN_SIMPLE_STRING, PLAN_CHILDREN, PLAN_METADATA, PLAN_METRICS };
static const struct json_key plan_keys[] = {
    JSON_KEY("nodeName", PLAN_NAME), JSON_KEY("simpleString", PLAN_SIMPLE_STRING), JSON_KEY("children", PLAN_CHILDREN), JSON_KEY("metadata", PLAN_METADATA),
    JSON_KEY("metrics", PLAN_METRICS),
};

struct plan_reading {
    struct sql_plan_info *plan;
    size_t node_capacity, metric_capacity;
    uint32_t at;                     /* the node that is being read */
};

/* A node begins, below the one that is being read. */
static void plan_node_begins(struct json_pull *in, struct plan_reading *self)
{
    struct sql_plan_info *plan = self->plan;
    if (plan->too_large)
        return;
    if (plan->node_count == SQL_PLAN_MAX_NODES) {
        *plan = (struct sql_plan_info){.too_large = true};
        return;
    }
    void *nodes = plan->nodes;
    struct sql_plan_node *node = list_push(in, &nodes, &plan->node_count, &self->node_capacity, sizeof *node);
    if (!node)
        return;
    plan->nodes = nodes;
    uint32_t index = (uint32_t)plan->node_count - 1;
    *node = (struct sql_plan_node){
        .parent = self->at, .first_child = SQL_PLAN_NO_NODE, .last_child = SQL_PLAN_NO_NODE, .next_sibling = SQL_PLAN_NO_NODE,
    };
    if (self->at != SQL_PLAN_NO_NODE) {
        struct sql_plan_node *parent = plan->nodes + self->at;
        if (parent->last_child == SQL_PLAN_NO_NODE)
            parent->first_child = index;
        else
            plan->nodes[parent->last_child].next_sibling = index;
        parent->last_child = index;
    }
    self->at = index;
}

/* One key of the node that is being read, all but its children. */
static void plan_field(struct json_pull *in, struct plan_reading *self, int key)
{
    struct sql_plan_info *plan = self->plan;
    if (plan->too_large || !plan->node_count) {
        json_skip(in);
        return;
    }
    struct sql_plan_node *node = plan->nodes + self->at;
    switch (key) {
    case PLAN_NAME: node->name = json_str(in); break;
    case PLAN_SIMPLE_STRING: node->simple_string = json_str(in); break;
    case PLAN_METADATA: node->metadata = decode_kv(in, NULL); break;
    case PLAN_METRICS:
        node->first_metric = plan->metric_count;
        plan_metrics(in, &plan->metrics, &plan->metric_count, &self->metric_capacity);
        node->metric_count = plan->metric_count - node->first_metric;
        break;
    default: json_skip(in);                  /* explainId: Databricks */
    }
}

/* Goes to the next child in the array that is open. False: the array has ended. */
static bool next_child(struct json_pull *in, struct json_object *object)
{
    while (json_array_next(in))
        if (json_object_begin(in, object, KEYS(plan_keys)))
            return true;
    return false;
}

/* The tree under the reader. `levels` nodes are open, each in the children of the one before: that is all there is to remember, however deep it goes. The plan's brackets are not
 * counted as depth, which guards json_skip alone. */
static void read_plan(struct json_pull *in, struct sql_plan_info *ret)
{
    struct plan_reading reading = {.plan = ret, .at = SQL_PLAN_NO_NODE};
    struct json_object object;
    unsigned depth = in->depth, levels = 1;
    *ret = (struct sql_plan_info){0};
    if (!json_object_begin(in, &object, KEYS(plan_keys)))
        return;
    plan_node_begins(in, &reading);
    while (levels) {
        in->depth = depth + 1;
        int key = json_next(in, &object);
        if (key >= 0 && key != PLAN_CHILDREN) {
            plan_field(in, &reading, key);
            continue;
        }
        if (key == PLAN_CHILDREN) {
            if (!ret->too_large && ret->node_count)
                ret->nodes[reading.at].first_child = ret->nodes[reading.at].last_child = SQL_PLAN_NO_NODE;
            if (!json_array_begin(in))
                continue;
        } else {
            levels--;                        /* the node's end */
            if (!levels || in->failed)
                break;
            if (!ret->too_large)
                reading.at = ret->nodes[reading.at].parent;
        }
        in->depth = depth + 1;
        if (next_child(in, &object)) {
            plan_node_begins(in, &reading);
            levels++;
        } else {
            object = (struct json_object){.keys = plan_keys, .count = ARRAY_LENGTH(plan_keys), .expected = PLAN_CHILDREN + 1};
        }
    }
    in->depth = depth;
    if (in->failed)
        *ret = (struct sql_plan_info){0};
}

static struct str *read_tags(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret_count = 0;
    if (json_array_begin(in))
        while (json_array_next(in)) {
            struct str tag = json_str(in), *item;
            if (str_known(tag) && (item = list_push(in, &items, ret_count, &capacity, sizeof *item)))
                *item = tag;
        }
    return items;
}

static const struct json_key start_keys[] = {
    JSON_KEY("executionId", 0), JSON_KEY("rootExecutionId", 1), JSON_KEY("description", 2), JSON_KEY("details", 3), JSON_KEY("physicalPlanDescription", 4),
    JSON_KEY("sparkPlanInfo", 5), JSON_KEY("time", 6), JSON_KEY("modifiedConfigs", 7), JSON_KEY("jobTags", 8), JSON_KEY("jobGroupId", 9), JSON_KEY("queryId", 10),
};

const char *decode_sql_start(struct json_pull *in, struct event *event)
{
    struct event_sql_start *ret = &event->sql_start;
    struct json_object o;
    *ret = (struct event_sql_start){.execution_id = UNKNOWN, .root_execution_id = UNKNOWN, .time_ms = UNKNOWN};
    json_object_at(&o, KEYS(start_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->execution_id = json_count(in); break;
        case 1: ret->root_execution_id = json_count(in); break;
        case 2: ret->description = json_str(in); break;
        case 3: ret->details = json_str(in); break;
        case 4: ret->plan_text = json_str(in); break;
        case 5: read_plan(in, &ret->plan); break;
        case 6: ret->time_ms = decode_time(in); break;
        case 7: ret->configs = decode_kv(in, NULL); break;
        case 8: ret->tags = read_tags(in, &ret->tag_count); break;
        case 9: ret->job_group = json_str(in); break;
        case 10: ret->query_id = json_str(in); break;
        default: decode_other(in);
        }
    return known(ret->execution_id) ? NULL : "start of a query without its id";
}

static const struct json_key end_keys[] = {JSON_KEY("executionId", 0), JSON_KEY("time", 1), JSON_KEY("errorMessage", 2)};

const char *decode_sql_end(struct json_pull *in, struct event *event)
{
    struct event_sql_end *ret = &event->sql_end;
    struct json_object o;
    *ret = (struct event_sql_end){.execution_id = UNKNOWN, .time_ms = UNKNOWN};
    json_object_at(&o, KEYS(end_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->execution_id = json_count(in); break;
        case 1: ret->time_ms = decode_time(in); break;
        case 2: ret->error = json_str(in); break;
        default: decode_other(in);
        }
    return known(ret->execution_id) ? NULL : "end of a query without its id";
}

/* [[id, value], …]; what lies beyond the second of a pair is skipped, what is less than a pair left out. */
static struct accumulator_update_list read_updates(struct json_pull *in)
{
    struct accumulator_update_list list = {NULL, 0};
    void *items = NULL;
    size_t capacity = 0;
    if (!json_array_begin(in))
        return list;
    while (json_array_next(in)) {
        struct accumulator_update one = {UNKNOWN, UNKNOWN}, *item;
        if (!json_array_begin(in))
            continue;
        for (int i = 0; json_array_next(in); i++)
            switch (i) {
            case 0: one.id = json_count(in); break;
            case 1: one.value = json_i64(in); break;
            default: json_skip(in);
            }
        if (known(one.id) && known(one.value) && (item = list_push(in, &items, &list.count, &capacity, sizeof *item)))
            *item = one;
    }
    list.items = items;
    return list;
}

static const struct json_key driver_keys[] = {JSON_KEY("executionId", 0), JSON_KEY("accumUpdates", 1)};

const char *decode_sql_driver_updates(struct json_pull *in, struct event *event)
{
    struct event_sql_driver_updates *ret = &event->sql_driver_updates;
    struct json_object o;
    *ret = (struct event_sql_driver_updates){.execution_id = UNKNOWN};
    json_object_at(&o, KEYS(driver_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->execution_id = json_count(in); break;
        case 1: ret->updates = read_updates(in); break;
        default: decode_other(in);
        }
    return known(ret->execution_id) ? NULL : "metrics of a query without its id";
}

static const struct json_key plan_update_keys[] = {JSON_KEY("executionId", 0), JSON_KEY("physicalPlanDescription", 1), JSON_KEY("sparkPlanInfo", 2)};

const char *decode_sql_plan_update(struct json_pull *in, struct event *event)
{
    struct event_sql_plan_update *ret = &event->sql_plan_update;
    struct json_object o;
    *ret = (struct event_sql_plan_update){.execution_id = UNKNOWN};
    json_object_at(&o, KEYS(plan_update_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->execution_id = json_count(in); break;
        case 1: ret->plan_text = json_str(in); break;
        case 2: read_plan(in, &ret->plan); break;
        default: decode_other(in);
        }
    return known(ret->execution_id) ? NULL : "plan of a query without its id";
}

static const struct json_key metric_update_keys[] = {JSON_KEY("executionId", 0), JSON_KEY("sqlPlanMetrics", 1)};

const char *decode_sql_metric_update(struct json_pull *in, struct event *event)
{
    struct event_sql_metric_update *ret = &event->sql_metric_update;
    struct json_object o;
    size_t capacity = 0;
    *ret = (struct event_sql_metric_update){.execution_id = UNKNOWN};
    json_object_at(&o, KEYS(metric_update_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->execution_id = json_count(in); break;
        case 1:
            *ret = (struct event_sql_metric_update){.execution_id = ret->execution_id};
            capacity = 0;
            plan_metrics(in, &ret->metrics, &ret->metric_count, &capacity);
            break;
        default: decode_other(in);
        }
    return known(ret->execution_id) ? NULL : "metrics of a query without its id";
}
