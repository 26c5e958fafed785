/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs and stages, with the RDDs that stages describe. */
#include "ingest/event/decode.h"

static const struct json_key rdd_keys[] = {
    JSON_KEY("RDD ID", 0), JSON_KEY("Name", 1), JSON_KEY("Scope", 2), JSON_KEY("Callsite", 3), JSON_KEY("Parent IDs", 4), JSON_KEY("Storage Level", 5), JSON_KEY("Barrier", 6),
    JSON_KEY("DeterministicLevel", 7), JSON_KEY("Number of Partitions", 8), JSON_KEY("Number of Cached Partitions", 9), JSON_KEY("Memory Size", 10), JSON_KEY("Disk Size", 11),
};

static int64_t determinism(struct str word)
{
    return str_eq(word, STR_LIT("DETERMINATE")) ? 0 : str_eq(word, STR_LIT("UNORDERED")) ? 1 : str_eq(word, STR_LIT("INDETERMINATE")) ? 2 : UNKNOWN;
}

static struct rdd_info *rdd_infos(struct json_pull *in, size_t *ret_count)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret_count = 0;
    if (!json_array_begin(in))
        return NULL;
    while (json_array_next(in)) {
        struct rdd_info one = {.id = UNKNOWN, .level.replication = UNKNOWN, .determinism = UNKNOWN, .num_partitions = UNKNOWN}, *item;
        struct json_object o;
        if (json_object_begin(in, &o, KEYS(rdd_keys)))
            for (int key; (key = json_next(in, &o)) >= 0;)
                switch (key) {
                case 0: one.id = json_id(in); break;
                case 1: one.name = json_str(in); break;
                case 2: one.scope = json_str(in); break;
                case 3: one.callsite = json_str(in); break;
                case 4: one.parents = decode_ids(in); break;
                case 5: one.level = decode_storage_level(in); break;
                case 6: one.barrier = json_bool(in, false); break;
                case 7: one.determinism = determinism(json_str(in)); break;
                case 8: one.num_partitions = json_count(in); break;
                default: json_skip(in);      /* sizes: always 0 in a log */
                }
        if (!known(one.id))
            continue;
        if (!(item = list_push(in, &items, ret_count, &capacity, sizeof *item)))
            break;
        *item = one;
    }
    return items;
}

static const struct json_key stage_info_keys[] = {
    JSON_KEY("Stage ID", 0), JSON_KEY("Stage Attempt ID", 1), JSON_KEY("Stage Name", 2), JSON_KEY("Number of Tasks", 3), JSON_KEY("RDD Info", 4), JSON_KEY("Parent IDs", 5),
    JSON_KEY("Details", 6), JSON_KEY("Submission Time", 7), JSON_KEY("Completion Time", 8), JSON_KEY("Failure Reason", 9), JSON_KEY("Accumulables", 10),
    JSON_KEY("Resource Profile Id", 11), JSON_KEY("Shuffle Push Enabled", 12), JSON_KEY("Shuffle Push Mergers Count", 13),
};

static struct stage_info no_stage(void)
{
    return (struct stage_info){
        .id = UNKNOWN, .num_tasks = UNKNOWN, .submission_ms = UNKNOWN, .completion_ms = UNKNOWN, .resource_profile_id = UNKNOWN, .shuffle_push_enabled = UNKNOWN,
        .shuffle_mergers_count = UNKNOWN,
    };
}

static struct stage_info stage_info(struct json_pull *in)
{
    struct stage_info ret = no_stage();
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(stage_info_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret.id = json_id(in); break;
            case 1: ret.attempt = known_or(json_id(in), 0); break;
            case 2: ret.name = json_str(in); break;
            case 3: ret.num_tasks = json_id(in); break;     /* a 32-bit number too: sums of them fit */
            case 4: ret.rdds = rdd_infos(in, &ret.rdd_count); break;
            case 5: ret.parents = decode_ids(in); break;
            case 6: ret.details = json_str(in); break;
            case 7: ret.submission_ms = decode_time(in); break;
            case 8: ret.completion_ms = decode_time(in); break;
            case 9: ret.failure_reason = json_str(in); break;
            case 10: ret.accumulables = decode_accumulables(in); break;
            case 11: ret.resource_profile_id = json_count(in); break;
            case 12: ret.shuffle_push_enabled = json_flag(in); break;
            case 13: ret.shuffle_mergers_count = json_count(in); break;
            default: json_skip(in);
            }
    return ret;
}

static struct stage_info *stage_infos(struct json_pull *in, size_t *ret_count, bool *ret_any)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret_count = 0;
    *ret_any = json_array_begin(in);
    while (*ret_any && json_array_next(in)) {
        struct stage_info one = stage_info(in), *item;
        if (!known(one.id))
            continue;
        if (!(item = list_push(in, &items, ret_count, &capacity, sizeof *item)))
            break;
        *item = one;
    }
    return items;
}

/* What the History Server makes of a log before 1.2, spec/core.md §1.4. */
static void stages_from_ids(struct json_pull *in, struct id_list ids, struct event_job_start *ret)
{
    struct stage_info *stages = json_scratch(in, ids.count * sizeof *stages);
    if (!stages)
        return;
    for (size_t i = 0; i < ids.count; i++) {
        stages[i] = no_stage();
        stages[i].id = ids.items[i];
        stages[i].name = stages[i].details = STR_LIT("unknown");
        stages[i].num_tasks = 0;
        stages[i].resource_profile_id = 0;
    }
    ret->stages = stages;
    ret->stage_count = ids.count;
}

static const struct json_key job_start_keys[] = {
    JSON_KEY("Job ID", 0), JSON_KEY("Submission Time", 1), JSON_KEY("Stage Infos", 2), JSON_KEY("Stage IDs", 3), JSON_KEY("Properties", 4),
};

const char *decode_job_start(struct json_pull *in, struct event *event)
{
    struct event_job_start *ret = &event->job_start;
    struct id_list ids = {NULL, 0};
    bool described = false;
    struct json_object o;
    *ret = (struct event_job_start){.id = UNKNOWN, .submission_ms = UNKNOWN};
    json_object_at(&o, KEYS(job_start_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_id(in); break;
        case 1: ret->submission_ms = decode_time(in); break;
        case 2: ret->stages = stage_infos(in, &ret->stage_count, &described); break;
        case 3: ids = decode_ids(in); break;
        case 4: ret->properties = decode_kv(in, NULL); break;
        default: decode_other(in);
        }
    if (!described && ids.count)
        stages_from_ids(in, ids, ret);
    return known(ret->id) ? NULL : "job start without a job id";
}

static const struct json_key job_end_keys[] = {JSON_KEY("Job ID", 0), JSON_KEY("Completion Time", 1), JSON_KEY("Job Result", 2)};
static const struct json_key job_result_keys[] = {JSON_KEY("Result", 0), JSON_KEY("Exception", 1)};
static const struct json_key exception_keys[] = {JSON_KEY("Message", 0), JSON_KEY("Stack Trace", 1)};

static void job_result(struct json_pull *in, struct event_job_end *ret)
{
    struct json_object o, exception;
    if (json_object_begin(in, &o, KEYS(job_result_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret->succeeded = str_eq(json_str(in), STR_LIT("JobSucceeded")); break;
            case 1:
                if (json_object_begin(in, &exception, KEYS(exception_keys)))
                    for (int part; (part = json_next(in, &exception)) >= 0;)
                        switch (part) {
                        case 0: ret->failure = json_str(in); break;
                        default: json_skip(in);
                        }
                break;
            default: json_skip(in);
            }
}

const char *decode_job_end(struct json_pull *in, struct event *event)
{
    struct event_job_end *ret = &event->job_end;
    struct json_object o;
    *ret = (struct event_job_end){.id = UNKNOWN, .completion_ms = UNKNOWN};
    json_object_at(&o, KEYS(job_end_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_id(in); break;
        case 1: ret->completion_ms = decode_time(in); break;
        case 2: job_result(in, ret); break;
        default: decode_other(in);
        }
    return known(ret->id) ? NULL : "job end without a job id";
}

static const struct json_key stage_keys[] = {JSON_KEY("Stage Info", 0), JSON_KEY("Properties", 1)};

const char *decode_stage(struct json_pull *in, struct event *event)
{
    struct event_stage *ret = &event->stage;
    struct json_object o;
    *ret = (struct event_stage){.info = no_stage()};
    json_object_at(&o, KEYS(stage_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->info = stage_info(in); break;
        case 1: ret->properties = decode_kv(in, NULL); break;
        default: decode_other(in);
        }
    return known(ret->info.id) ? NULL : "stage without a stage id";
}
