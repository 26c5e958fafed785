/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors and block managers: coming, going, excluded, and their peaks. */
#include "ingest/event/decode.h"

static const struct json_key block_manager_keys[] = {
    JSON_KEY("Block Manager ID", 0), JSON_KEY("Maximum Memory", 1), JSON_KEY("Timestamp", 2), JSON_KEY("Maximum Onheap Memory", 3), JSON_KEY("Maximum Offheap Memory", 4),
};

const char *decode_block_manager_added(struct json_pull *in, struct event *event)
{
    struct event_block_manager *ret = &event->block_manager;
    struct json_object o;
    *ret = (struct event_block_manager){{STR_NONE, STR_NONE, UNKNOWN}, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    json_object_at(&o, KEYS(block_manager_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = decode_block_manager_id(in); break;
        case 1: ret->max_memory_bytes = json_count(in); break;
        case 2: ret->time_ms = decode_time(in); break;
        case 3: ret->max_on_heap_bytes = json_count(in); break;
        case 4: ret->max_off_heap_bytes = json_count(in); break;
        default: decode_other(in);
        }
    return str_known(ret->id.executor_id) ? NULL : "block manager without an executor id";
}

const char *decode_block_manager_removed(struct json_pull *in, struct event *event)
{
    return decode_block_manager_added(in, event);      /* the same keys, fewer of them */
}

static const struct json_key resource_keys[] = {JSON_KEY("name", 0), JSON_KEY("addresses", 1)};

/* An object of resource name to {"name":"gpu","addresses":["0","1"]}. */
static struct executor_resource *executor_resources(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    struct json_object o;
    *ret_count = 0;
    if (!json_object_begin(in, &o, NULL, 0))
        return NULL;
    while (json_next_any(in)) {
        struct executor_resource one = {.name = in->key};
        if (json_object_begin(in, &o, KEYS(resource_keys)))
            for (int key; (key = json_next(in, &o)) >= 0;) {
                if (key != 1) {
                    json_skip(in);      /* "name" repeats the key */
                    continue;
                }
                void *addresses = NULL;
                size_t room = 0;
                one.address_count = 0;
                if (json_array_begin(in))
                    while (json_array_next(in)) {
                        struct str address = json_text(in), *item;
                        if (!str_known(address))
                            continue;
                        if (!(item = list_push(in, &addresses, &one.address_count, &room, sizeof *item)))
                            break;
                        *item = address;
                    }
                one.addresses = addresses;
            }
        struct executor_resource *item = list_push(in, &items, ret_count, &capacity, sizeof *item);
        if (!item)
            break;
        *item = one;
    }
    return items;
}

static const struct json_key executor_added_keys[] = {JSON_KEY("Timestamp", 0), JSON_KEY("Executor ID", 1), JSON_KEY("Executor Info", 2)};
static const struct json_key executor_info_keys[] = {
    JSON_KEY("Host", 0), JSON_KEY("Total Cores", 1), JSON_KEY("Log Urls", 2), JSON_KEY("Attributes", 3), JSON_KEY("Resources", 4), JSON_KEY("Resource Profile Id", 5),
    JSON_KEY("Registration Time", 6), JSON_KEY("Request Time", 7),
};

static void executor_info(struct json_pull *in, struct event_executor_added *ret)
{
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(executor_info_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret->host = json_str(in); break;
            case 1: ret->total_cores = json_count(in); break;
            case 2: ret->logs = decode_kv(in, NULL); break;
            case 3: ret->attributes = decode_kv(in, NULL); break;
            case 4: ret->resources = executor_resources(in, &ret->resource_count); break;
            case 5: ret->resource_profile_id = json_count(in); break;
            case 6: ret->registration_ms = decode_time(in); break;
            case 7: ret->request_ms = decode_time(in); break;
            default: json_skip(in);
            }
}

const char *decode_executor_added(struct json_pull *in, struct event *event)
{
    struct event_executor_added *ret = &event->executor_added;
    struct json_object o;
    *ret = (struct event_executor_added){.time_ms = UNKNOWN, .total_cores = UNKNOWN, .resource_profile_id = UNKNOWN, .registration_ms = UNKNOWN, .request_ms = UNKNOWN};
    json_object_at(&o, KEYS(executor_added_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->time_ms = decode_time(in); break;
        case 1: ret->id = json_str(in); break;
        case 2: executor_info(in, ret); break;
        default: decode_other(in);
        }
    return str_known(ret->id) ? NULL : "executor added without an executor id";
}

static const struct json_key executor_removed_keys[] = {JSON_KEY("Timestamp", 0), JSON_KEY("Executor ID", 1), JSON_KEY("Removed Reason", 2)};

const char *decode_executor_removed(struct json_pull *in, struct event *event)
{
    struct event_executor_removed *ret = &event->executor_removed;
    struct json_object o;
    *ret = (struct event_executor_removed){.time_ms = UNKNOWN};
    json_object_at(&o, KEYS(executor_removed_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->time_ms = decode_time(in); break;
        case 1: ret->id = json_str(in); break;
        case 2: ret->reason = json_str(in); break;
        default: decode_other(in);
        }
    return str_known(ret->id) ? NULL : "executor removed without an executor id";
}

static const struct json_key exclusion_keys[] = {
    JSON_KEY("time", 0), JSON_KEY("executorId", 1), JSON_KEY("hostId", 2), JSON_KEY("taskFailures", 3), JSON_KEY("executorFailures", 3), JSON_KEY("stageId", 4),
    JSON_KEY("stageAttemptId", 5),
};

static const char *exclusion(struct json_pull *in, struct event *event, bool lifted)
{
    struct event_exclusion *ret = &event->exclusion;
    struct json_object o;
    *ret = (struct event_exclusion){.time_ms = UNKNOWN, .lifted = lifted, .stage_id = UNKNOWN, .stage_attempt = UNKNOWN, .failures = UNKNOWN};
    ret->old_name = memmem(event->name.ptr, event->name.len, "lacklisted", 10) != NULL;
    json_object_at(&o, KEYS(exclusion_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->time_ms = decode_time(in); break;
        case 1: ret->executor_id = json_str(in); break;
        case 2: ret->host = json_str(in); break;
        case 3: ret->failures = json_count(in); break;
        case 4: ret->stage_id = json_id(in); break;
        case 5: ret->stage_attempt = json_id(in); break;
        default: decode_other(in);
        }
    if (known(ret->stage_id) && !known(ret->stage_attempt))
        ret->stage_attempt = 0;
    return str_known(ret->executor_id) || str_known(ret->host) ? NULL : "exclusion of neither an executor nor a node";
}

const char *decode_exclusion(struct json_pull *in, struct event *event)
{
    return exclusion(in, event, false);
}

const char *decode_exclusion_lifted(struct json_pull *in, struct event *event)
{
    return exclusion(in, event, true);
}

static const struct json_key stage_peaks_keys[] = {JSON_KEY("Executor ID", 0), JSON_KEY("Stage ID", 1), JSON_KEY("Stage Attempt ID", 2), JSON_KEY("Executor Metrics", 3)};

const char *decode_stage_executor_metrics(struct json_pull *in, struct event *event)
{
    struct event_stage_executor_metrics *ret = &event->stage_executor_metrics;
    struct json_object o;
    ret->executor_id = STR_NONE;
    ret->stage_id = UNKNOWN;
    ret->stage_attempt = 0;
    peaks_unknown(ret->peaks);
    json_object_at(&o, KEYS(stage_peaks_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->executor_id = json_str(in); break;
        case 1: ret->stage_id = json_id(in); break;
        case 2: ret->stage_attempt = known_or(json_id(in), 0); break;
        case 3: decode_peaks(in, ret->peaks); break;
        default: decode_other(in);
        }
    return str_known(ret->executor_id) && known(ret->stage_id) ? NULL : "stage executor metrics without an executor id or a stage id";
}

static const struct json_key metrics_update_keys[] = {JSON_KEY("Executor ID", 0), JSON_KEY("Metrics Updated", 1), JSON_KEY("Executor Metrics Updated", 2)};
static const struct json_key update_item_keys[] = {JSON_KEY("Stage ID", 0), JSON_KEY("Stage Attempt ID", 1), JSON_KEY("Executor Metrics", 2)};

/* Stage (−1, −1) is what the driver writes for itself. */
static struct stage_peaks *updated_peaks(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    struct json_object o;
    *ret_count = 0;
    if (!json_array_begin(in))
        return NULL;
    while (json_array_next(in)) {
        if (!json_object_begin(in, &o, KEYS(update_item_keys)))
            continue;
        struct stage_peaks *item = list_push(in, &items, ret_count, &capacity, sizeof *item);
        if (!item)
            break;
        item->stage_id = item->stage_attempt = UNKNOWN;
        peaks_unknown(item->peaks);
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: item->stage_id = json_i64(in); break;
            case 1: item->stage_attempt = json_i64(in); break;
            case 2: decode_peaks(in, item->peaks); break;
            default: json_skip(in);
            }
    }
    return items;
}

/* Task metrics by the names of their accumulators, below internal.metrics. (spec/core.md §1.8). */
static const struct {
    const char *name;
    enum task_metric metric;
} metric_accumulators[] = {
#define X(id, column, group, key, accumulable) {accumulable, METRIC_##id},
    TASK_METRICS(X)
#undef X
};

static void task_metric(struct str name, int64_t value, int64_t metrics[TASK_METRIC_COUNT])
{
    for (size_t i = 0; i < ARRAY_LENGTH(metric_accumulators); i++)
        if (value >= 0 && metric_accumulators[i].name && str_is(name, metric_accumulators[i].name))
            metrics[metric_accumulators[i].metric] = value;
}

static void reported_accumulators(struct json_pull *in, struct task_report *ret)
{
    static const char prefix[] = "internal.metrics.";
    const size_t prefix_len = sizeof prefix - 1;
    void *items = NULL;
    size_t capacity = 0;
    if (!json_array_begin(in))
        return;
    while (json_array_next(in)) {
        struct accumulable one;
        int64_t value;
        if (!decode_accumulable(in, &one) || !str_to_i64(one.update, &value) || !known(value))
            continue;
        if (str_starts(one.name, prefix)) {
            task_metric((struct str){one.name.ptr + prefix_len, one.name.len - prefix_len}, value, ret->metrics);
            continue;
        }
        struct accumulator_update *item = list_push(in, &items, &ret->updates.count, &capacity, sizeof *item);
        if (!item)
            break;
        *item = (struct accumulator_update){one.id, value};
    }
    ret->updates.items = items;
}

static const struct json_key task_report_keys[] = {JSON_KEY("Task ID", 0), JSON_KEY("Stage ID", 1), JSON_KEY("Stage Attempt ID", 2), JSON_KEY("Accumulator Updates", 3)};

static struct task_report *task_reports(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    struct json_object o;
    *ret_count = 0;
    if (!json_array_begin(in))
        return NULL;
    while (json_array_next(in)) {
        if (!json_object_begin(in, &o, KEYS(task_report_keys)))
            continue;
        struct task_report *item = list_push(in, &items, ret_count, &capacity, sizeof *item);
        if (!item)
            break;
        *item = (struct task_report){.task_id = UNKNOWN, .stage_id = UNKNOWN};
        for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
            item->metrics[i] = UNKNOWN;
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: item->task_id = json_count(in); break;
            case 1: item->stage_id = json_id(in); break;
            case 2: item->stage_attempt = known_or(json_id(in), 0); break;
            case 3: reported_accumulators(in, item); break;
            default: json_skip(in);
            }
    }
    return items;
}

const char *decode_executor_metrics_update(struct json_pull *in, struct event *event)
{
    struct event_executor_metrics_update *ret = &event->executor_metrics_update;
    struct json_object o;
    *ret = (struct event_executor_metrics_update){.executor_id = STR_NONE};
    json_object_at(&o, KEYS(metrics_update_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->executor_id = json_str(in); break;
        case 2: ret->items = updated_peaks(in, &ret->count); break;
        case 1: ret->tasks = task_reports(in, &ret->task_count); break;
        default: decode_other(in);
        }
    return str_known(ret->executor_id) ? NULL : "executor metrics without an executor id";
}
