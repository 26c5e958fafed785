/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured Streaming. Spark 2.0 used the same event names with another body ("queryInfo", "queryStatus"), in which there is no run id: those are events that nobody reads. */
#include <math.h>

#include "base/time.h"
#include "ingest/event/decode.h"

#define NO_RUN_ID "streaming query without a run id"

/* Whose event it is. NULL: go on; else what is wrong. */
static const char *check_run_id(struct event *event, struct str run_id, bool spark_2_0)
{
    if (str_known(run_id))
        return NULL;
    if (!spark_2_0)
        return NO_RUN_ID;
    event->kind = EVENT_UNKNOWN;
    return NULL;
}

static bool is_of_spark_2_0(struct str key)
{
    return str_eq(key, STR_LIT("queryInfo")) || str_eq(key, STR_LIT("queryStatus"));
}

static const struct json_key query_keys[] = {
    JSON_KEY("id", 0), JSON_KEY("runId", 1), JSON_KEY("name", 2), JSON_KEY("timestamp", 3), JSON_KEY("exception", 4), JSON_KEY("errorClassOnException", 5), JSON_KEY("jobTags", 6),
};

const char *decode_streaming_query(struct json_pull *in, struct event *event)
{
    struct event_streaming_query *ret = &event->streaming_query;
    bool spark_2_0 = false;
    struct json_object o;
    *ret = (struct event_streaming_query){.time_ms = UNKNOWN};
    json_object_at(&o, KEYS(query_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_str(in); break;
        case 1: ret->run_id = json_str(in); break;
        case 2: ret->name = json_str(in); break;
        case 3: ret->time_ms = time_parse_iso(json_str(in)); break;
        case 4: ret->exception = json_str(in); break;
        case 5: ret->error_class = json_str(in); break;
        case 6: ret->job_tags = decode_words(in); break;
        default:
            spark_2_0 |= is_of_spark_2_0(in->key);
            decode_other(in);
        }
    return check_run_id(event, ret->run_id, spark_2_0);
}

/* An object of numbers; what is none is left out. Of duplicate names the writer takes the last. Some metrics of state stores are -1 until there is something to tell (4.0);
 * durations cannot be negative. */
static struct name_count_list numbers(struct json_pull *in, bool may_be_negative)
{
    struct name_count_list list = {NULL, 0};
    void *items = NULL;
    size_t capacity = 0;
    struct json_object unused;
    if (json_object_begin(in, &unused, NULL, 0))
        while (json_next_any(in)) {
            struct name_count one = {in->key, 0}, *item;
            one.value = may_be_negative ? json_i64(in) : json_count(in);
            if (!known(one.value))
                continue;
            if (!(item = list_push(in, &items, &list.count, &capacity, sizeof *item)))
                return (struct name_count_list){NULL, 0};
            *item = one;
        }
    list.items = items;
    return list;
}

static const struct json_key operator_keys[] = {
    JSON_KEY("operatorName", 0), JSON_KEY("numRowsTotal", 1), JSON_KEY("numRowsUpdated", 2), JSON_KEY("allUpdatesTimeMs", 3), JSON_KEY("numRowsRemoved", 4),
    JSON_KEY("allRemovalsTimeMs", 5), JSON_KEY("commitTimeMs", 6), JSON_KEY("memoryUsedBytes", 7), JSON_KEY("numRowsDroppedByWatermark", 8), JSON_KEY("numShufflePartitions", 9),
    JSON_KEY("numStateStoreInstances", 10), JSON_KEY("customMetrics", 11), JSON_KEY("numLateInputs", 12),
};

static struct streaming_operator *operators(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret_count = 0;
    if (!json_array_begin(in))
        return NULL;
    while (json_array_next(in)) {
        struct streaming_operator one = {.rows_total = UNKNOWN, .rows_updated = UNKNOWN, .updates_time_ms = UNKNOWN, .rows_removed = UNKNOWN, .removals_time_ms = UNKNOWN,
                                         .commit_time_ms = UNKNOWN, .memory_bytes = UNKNOWN, .rows_dropped = UNKNOWN, .shuffle_partitions = UNKNOWN, .store_instances = UNKNOWN};
        struct streaming_operator *item;
        struct json_object o;
        if (json_object_begin(in, &o, KEYS(operator_keys)))
            for (int key; (key = json_next(in, &o)) >= 0;)
                switch (key) {
                case 0: one.name = json_str(in); break;
                case 1: one.rows_total = json_count(in); break;
                case 2: one.rows_updated = json_count(in); break;
                case 3: one.updates_time_ms = json_count(in); break;
                case 4: one.rows_removed = json_count(in); break;
                case 5: one.removals_time_ms = json_count(in); break;
                case 6: one.commit_time_ms = json_count(in); break;
                case 7: one.memory_bytes = json_count(in); break;
                case 8: case 12: one.rows_dropped = json_count(in); break;
                case 9: one.shuffle_partitions = json_count(in); break;
                case 10: one.store_instances = json_count(in); break;
                case 11: one.custom_metrics = numbers(in, true); break;
                default: json_skip(in);
                }
        if (!(item = list_push(in, &items, ret_count, &capacity, sizeof *item)))
            break;
        *item = one;
    }
    return items;
}

static const struct json_key source_keys[] = {
    JSON_KEY("description", 0), JSON_KEY("startOffset", 1), JSON_KEY("endOffset", 2), JSON_KEY("latestOffset", 3), JSON_KEY("numInputRows", 4), JSON_KEY("inputRowsPerSecond", 5),
    JSON_KEY("processedRowsPerSecond", 6), JSON_KEY("metrics", 7),
};

static struct streaming_source *sources(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret_count = 0;
    if (!json_array_begin(in))
        return NULL;
    while (json_array_next(in)) {
        struct streaming_source one = {.input_rows = UNKNOWN, .input_rows_per_second = (double)NAN, .processed_rows_per_second = (double)NAN}, *item;
        struct json_object o;
        if (json_object_begin(in, &o, KEYS(source_keys)))
            for (int key; (key = json_next(in, &o)) >= 0;)
                switch (key) {
                case 0: one.description = json_str(in); break;
                case 1: one.start_offset = json_str(in); break;
                case 2: one.end_offset = json_str(in); break;
                case 3: one.latest_offset = json_str(in); break;
                case 4: one.input_rows = json_count(in); break;
                case 5: one.input_rows_per_second = json_double(in); break;
                case 6: one.processed_rows_per_second = json_double(in); break;
                case 7: one.metrics = decode_kv(in, NULL); break;
                default: json_skip(in);
                }
        if (!(item = list_push(in, &items, ret_count, &capacity, sizeof *item)))
            break;
        *item = one;
    }
    return items;
}

static const struct json_key sink_keys[] = {JSON_KEY("description", 0), JSON_KEY("numOutputRows", 1), JSON_KEY("metrics", 2)};

static void sink(struct json_pull *in, struct event_streaming_progress *ret)
{
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(sink_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret->sink = json_str(in); break;
            case 1: ret->output_rows = json_i64(in); break;
            case 2: ret->sink_metrics = decode_kv(in, NULL); break;
            default: json_skip(in);
            }
    if (known(ret->output_rows) && ret->output_rows < 0)     /* -1 is Spark's "not known" */
        ret->output_rows = UNKNOWN;
}

static const struct json_key event_time_keys[] = {JSON_KEY("avg", 0), JSON_KEY("max", 1), JSON_KEY("min", 2), JSON_KEY("watermark", 3)};

static void event_time(struct json_pull *in, struct event_streaming_progress *ret)
{
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(event_time_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret->event_time_avg_ms = time_parse_iso(json_str(in)); break;
            case 1: ret->event_time_max_ms = time_parse_iso(json_str(in)); break;
            case 2: ret->event_time_min_ms = time_parse_iso(json_str(in)); break;
            case 3: ret->watermark_ms = time_parse_iso(json_str(in)); break;
            default: json_skip(in);
            }
}

/* The value as it stands in the line, bad bytes replaced; an empty object is none. */
static struct str opaque(struct json_pull *in)
{
    struct str raw = json_span(in);
    if (!str_known(raw) || raw.ptr[0] != '{' || str_eq(raw, STR_LIT("{}")))
        return STR_NONE;
    if (utf8_valid_prefix(raw.ptr, raw.len) == raw.len)
        return raw;
    char *out = json_scratch(in, 3 * raw.len);
    if (!out)
        return STR_NONE;
    in->repaired++;
    return (struct str){out, utf8_repair(raw, out)};
}

static const struct json_key progress_keys[] = {
    JSON_KEY("id", 0), JSON_KEY("runId", 1), JSON_KEY("name", 2), JSON_KEY("timestamp", 3), JSON_KEY("batchId", 4), JSON_KEY("batchDuration", 5), JSON_KEY("durationMs", 6),
    JSON_KEY("eventTime", 7), JSON_KEY("stateOperators", 8), JSON_KEY("sources", 9), JSON_KEY("sink", 10), JSON_KEY("observedMetrics", 11),
};

static void progress(struct json_pull *in, struct event_streaming_progress *ret)
{
    struct json_object o;
    *ret = (struct event_streaming_progress){.trigger_ms = UNKNOWN, .batch_id = UNKNOWN, .batch_duration_ms = UNKNOWN, .event_time_min_ms = UNKNOWN, .event_time_max_ms = UNKNOWN,
                                             .event_time_avg_ms = UNKNOWN, .watermark_ms = UNKNOWN, .output_rows = UNKNOWN};
    if (!json_object_begin(in, &o, KEYS(progress_keys)))
        return;
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_str(in); break;
        case 1: ret->run_id = json_str(in); break;
        case 2: ret->name = json_str(in); break;
        case 3: ret->trigger_ms = time_parse_iso(json_str(in)); break;
        case 4: ret->batch_id = json_count(in); break;
        case 5: ret->batch_duration_ms = json_count(in); break;
        case 6: ret->durations = numbers(in, false); break;
        case 7: event_time(in, ret); break;
        case 8: ret->operators = operators(in, &ret->operator_count); break;
        case 9: ret->sources = sources(in, &ret->source_count); break;
        case 10: sink(in, ret); break;
        case 11: ret->observed = opaque(in); break;
        default: json_skip(in);
        }
}

static const struct json_key progress_event_keys[] = {JSON_KEY("progress", 0)};

const char *decode_streaming_progress(struct json_pull *in, struct event *event)
{
    struct event_streaming_progress *ret = &event->streaming_progress;
    bool spark_2_0 = false;
    struct json_object o;
    *ret = (struct event_streaming_progress){.trigger_ms = UNKNOWN};
    json_object_at(&o, KEYS(progress_event_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        if (key == 0) {
            progress(in, ret);
        } else {
            spark_2_0 |= is_of_spark_2_0(in->key);
            decode_other(in);
        }
    return check_run_id(event, ret->run_id, spark_2_0);
}
