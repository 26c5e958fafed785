/* SPDX-License-Identifier: Apache-2.0
 *
 * What a log says about the application as a whole. */
#include <math.h>

#include "ingest/event/decode.h"

static const struct json_key log_start_keys[] = {JSON_KEY("Spark Version", 0)};

const char *decode_log_start(struct json_pull *in, struct event *event)
{
    struct event_log_start *ret = &event->log_start;
    struct json_object o;
    *ret = (struct event_log_start){.spark_version = STR_NONE};
    json_object_at(&o, KEYS(log_start_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        if (key == 0)
            ret->spark_version = json_str(in);
        else
            decode_other(in);
    return NULL;
}

const char *decode_databricks_start(struct json_pull *in, struct event *event)
{
    const char *missing = decode_log_start(in, event);
    event->log_start.databricks = true;
    return missing;
}

static const struct json_key application_start_keys[] = {
    JSON_KEY("App Name", 0), JSON_KEY("App ID", 1), JSON_KEY("Timestamp", 2), JSON_KEY("User", 3), JSON_KEY("App Attempt ID", 4), JSON_KEY("Driver Logs", 5),
    JSON_KEY("Driver Attributes", 6),
};

const char *decode_application_start(struct json_pull *in, struct event *event)
{
    struct event_application_start *ret = &event->application_start;
    struct json_object o;
    *ret = (struct event_application_start){.time_ms = UNKNOWN};
    json_object_at(&o, KEYS(application_start_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->name = json_str(in); break;
        case 1: ret->id = json_str(in); break;
        case 2: ret->time_ms = decode_time(in); break;
        case 3: ret->user = json_str(in); break;
        case 4: ret->attempt_id = json_str(in); break;
        case 5: ret->driver_logs = decode_kv(in, &ret->has_driver_logs); break;
        case 6: ret->driver_attributes = decode_kv(in, NULL); break;
        default: decode_other(in);
        }
    return NULL;
}

static const struct json_key application_end_keys[] = {JSON_KEY("Timestamp", 0), JSON_KEY("ExitCode", 1)};

const char *decode_application_end(struct json_pull *in, struct event *event)
{
    struct event_application_end *ret = &event->application_end;
    struct json_object o;
    *ret = (struct event_application_end){UNKNOWN, UNKNOWN};
    json_object_at(&o, KEYS(application_end_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->time_ms = decode_time(in); break;
        case 1: ret->exit_code = json_i64(in); break;
        default: decode_other(in);
        }
    return NULL;
}

static const struct json_key environment_keys[] = {
    JSON_KEY("JVM Information", ENV_JVM), JSON_KEY("Spark Properties", ENV_SPARK), JSON_KEY("Hadoop Properties", ENV_HADOOP), JSON_KEY("System Properties", ENV_SYSTEM),
    JSON_KEY("Metrics Properties", ENV_METRICS), JSON_KEY("Classpath Entries", ENV_CLASSPATH),
};

const char *decode_environment_update(struct json_pull *in, struct event *event)
{
    struct event_environment_update *ret = &event->environment;
    struct json_object o;
    memset(ret, 0, sizeof *ret);
    json_object_at(&o, KEYS(environment_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        if (key < ENV_SECTION_COUNT)
            ret->sections[key] = decode_kv(in, NULL);
        else
            decode_other(in);
    return NULL;
}

static const struct json_key request_keys[] = {JSON_KEY("Resource Name", 0), JSON_KEY("Amount", 1), JSON_KEY("Discovery Script", 2), JSON_KEY("Vendor", 3)};

/* An object of resource name to request. */
static struct resource_request *resource_requests(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    struct json_object o;
    *ret_count = 0;
    if (!json_object_begin(in, &o, NULL, 0))
        return NULL;
    while (json_next_any(in)) {
        struct resource_request one = {.name = in->key, .amount = (double)NAN};
        if (json_object_begin(in, &o, KEYS(request_keys)))
            for (int key; (key = json_next(in, &o)) >= 0;)
                switch (key) {
                case 0: one.resource_name = json_str(in); break;
                case 1: one.amount = json_double(in); break;
                case 2: one.discovery_script = json_str(in); break;
                case 3: one.vendor = json_str(in); break;
                default: json_skip(in);
                }
        struct resource_request *item = list_push(in, &items, ret_count, &capacity, sizeof *item);
        if (!item)
            break;
        *item = one;
    }
    return items;
}

static const struct json_key profile_keys[] = {JSON_KEY("Resource Profile Id", 0), JSON_KEY("Executor Resource Requests", 1), JSON_KEY("Task Resource Requests", 2)};

const char *decode_resource_profile(struct json_pull *in, struct event *event)
{
    struct event_resource_profile *ret = &event->resource_profile;
    struct json_object o;
    *ret = (struct event_resource_profile){.id = UNKNOWN};
    json_object_at(&o, KEYS(profile_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_count(in); break;
        case 1: ret->executor = resource_requests(in, &ret->executor_count); break;
        case 2: ret->task = resource_requests(in, &ret->task_count); break;
        default: decode_other(in);
        }
    return known(ret->id) ? NULL : "resource profile without an id";
}

static const struct json_key process_keys[] = {JSON_KEY("time", 0), JSON_KEY("processId", 1), JSON_KEY("info", 2)};
static const struct json_key process_info_keys[] = {JSON_KEY("hostPort", 0), JSON_KEY("cores", 1), JSON_KEY("logUrlInfo", 2)};

const char *decode_process_added(struct json_pull *in, struct event *event)
{
    struct event_process_added *ret = &event->process_added;
    struct json_object o, info;
    *ret = (struct event_process_added){.time_ms = UNKNOWN, .cores = UNKNOWN};
    json_object_at(&o, KEYS(process_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->time_ms = decode_time(in); break;
        case 1: ret->id = json_str(in); break;
        case 2:
            if (json_object_begin(in, &info, KEYS(process_info_keys)))
                for (int part; (part = json_next(in, &info)) >= 0;)
                    switch (part) {
                    case 0: ret->host_port = json_str(in); break;
                    case 1: ret->cores = json_count(in); break;
                    case 2: ret->logs = decode_kv(in, NULL); break;
                    default: json_skip(in);
                    }
            break;
        default: decode_other(in);
        }
    return str_known(ret->id) ? NULL : "process without an id";
}
