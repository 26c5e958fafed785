/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks: nine tenths of the bytes of a log. A task end is read in one walk; of its accumulables, most of the line, only those that people may see are kept. */
#include "ingest/event/decode.h"
#include "ingest/event/event_decode.h"

/* Ids of the groups, above those of the metrics. */
enum { GROUP_READ = TASK_METRIC_COUNT, GROUP_WRITE, GROUP_INPUT, GROUP_OUTPUT, GROUP_PUSH, GROUP_NOT_READ };

/* One table of keys for each group of TASK_METRICS: a row passes where its group is defined to keep it. */
#define X(id, column, group, key, accumulable) PICK_##group(JSON_KEY(key, METRIC_##id))
#define KEEP(...) __VA_ARGS__,
#define DROP(...)

#define PICK_TOP KEEP
#define PICK_INPUT DROP
#define PICK_OUTPUT DROP
#define PICK_SHUFFLE_READ DROP
#define PICK_PUSH DROP
#define PICK_SHUFFLE_WRITE DROP
static const struct json_key top_keys[] = {
    TASK_METRICS(X)
    JSON_KEY("Shuffle Read Metrics", GROUP_READ), JSON_KEY("Shuffle Write Metrics", GROUP_WRITE), JSON_KEY("Input Metrics", GROUP_INPUT), JSON_KEY("Output Metrics", GROUP_OUTPUT),
    JSON_KEY("Updated Blocks", GROUP_NOT_READ), JSON_KEY("Host Name", GROUP_NOT_READ),
};
#undef PICK_TOP
#define PICK_TOP DROP
#undef PICK_SHUFFLE_READ
#define PICK_SHUFFLE_READ KEEP
static const struct json_key read_keys[] = {
    TASK_METRICS(X)
    JSON_KEY("Push Based Shuffle", GROUP_PUSH),
};
#undef PICK_SHUFFLE_READ
#define PICK_SHUFFLE_READ DROP
#undef PICK_PUSH
#define PICK_PUSH KEEP
static const struct json_key push_keys[] = {TASK_METRICS(X)};
#undef PICK_PUSH
#define PICK_PUSH DROP
#undef PICK_SHUFFLE_WRITE
#define PICK_SHUFFLE_WRITE KEEP
static const struct json_key write_keys[] = {TASK_METRICS(X)};
#undef PICK_SHUFFLE_WRITE
#define PICK_SHUFFLE_WRITE DROP
#undef PICK_INPUT
#define PICK_INPUT KEEP
static const struct json_key input_keys[] = {TASK_METRICS(X)};
#undef PICK_INPUT
#define PICK_INPUT DROP
#undef PICK_OUTPUT
#define PICK_OUTPUT KEEP
static const struct json_key output_keys[] = {TASK_METRICS(X)};
#undef X

static void no_metrics(int64_t metrics[TASK_METRIC_COUNT])
{
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        metrics[i] = UNKNOWN;
}

/* Of a group that comes twice the last one counts, like any duplicate key. */
static void forget(int64_t metrics[TASK_METRIC_COUNT], const struct json_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].id < TASK_METRIC_COUNT)
            metrics[keys[i].id] = UNKNOWN;
}

static void metrics_group(struct json_pull *in, int64_t metrics[TASK_METRIC_COUNT], const struct json_key *keys, size_t count)
{
    struct json_object o;
    forget(metrics, keys, count);
    if (!json_object_begin(in, &o, keys, count))
        return;
    for (int key; (key = json_next_counts(in, &o, metrics, TASK_METRIC_COUNT)) >= 0;)
        if (key < TASK_METRIC_COUNT)
            metrics[key] = json_count(in);
        else
            json_skip(in);
}

static void read_group(struct json_pull *in, int64_t metrics[TASK_METRIC_COUNT])
{
    struct json_object o;
    forget(metrics, KEYS(read_keys));
    if (!json_object_begin(in, &o, KEYS(read_keys)))
        return;
    for (int key; (key = json_next_counts(in, &o, metrics, TASK_METRIC_COUNT)) >= 0;)
        if (key < TASK_METRIC_COUNT)
            metrics[key] = json_count(in);
        else if (key == GROUP_PUSH)
            metrics_group(in, metrics, KEYS(push_keys));
        else
            json_skip(in);
}

static bool task_metrics(struct json_pull *in, int64_t metrics[TASK_METRIC_COUNT])
{
    struct json_object o;
    no_metrics(metrics);
    if (!json_object_begin(in, &o, KEYS(top_keys)))
        return false;
    for (int key; (key = json_next_counts(in, &o, metrics, TASK_METRIC_COUNT)) >= 0;)
        if (key < TASK_METRIC_COUNT)
            metrics[key] = json_count(in);
        else
            switch (key) {
            case GROUP_READ: read_group(in, metrics); break;
            case GROUP_WRITE: metrics_group(in, metrics, KEYS(write_keys)); break;
            case GROUP_INPUT: metrics_group(in, metrics, KEYS(input_keys)); break;
            case GROUP_OUTPUT: metrics_group(in, metrics, KEYS(output_keys)); break;
            case GROUP_PUSH: metrics_group(in, metrics, KEYS(push_keys)); break;
            default: json_skip(in);
            }
    return true;
}

/* Of the accumulables of a task end: those that people may see, the updates that may be of SQL metrics, and the peak of execution memory, which Spark 2.x has nowhere else. */
struct kept_accumulables {
    struct accumulable_list shown;
    struct accumulator_update_list updates;
    size_t update_capacity;
    int64_t peak_execution_memory;
};

/* Longest accumulable that internal_accumulable may walk over, with room to load behind it. */
#define INTERNAL_ACCUMULABLE_BYTES 512

/* The scalar at p: a plain number or a short plain text. Returns what is behind it, or NULL. */
ALWAYS_INLINE const char *behind_scalar(const char *p, struct str *ret)
{
    if (*p == '"') {
        int len = json_short_text(p + 1);
        *ret = (struct str){p + 1, (size_t)len};
        return len < 0 ? NULL : p + len + 2;
    }
    unsigned len = json_digits(p);
    *ret = (struct str){p, len};
    return len && (*p != '0' || len == 1) ? p + len : NULL;
}

#define PASS(p, literal) (memcmp((p), (literal), sizeof(literal) - 1) == 0 && ((p) += sizeof(literal) - 1, true))

static const struct json_key accumulable_tail = JSON_KEY("Internal\":true,\"Count Failed Values", 0);

/* From an id to behind "Update":, which is remembered. NULL: another shape. */
static const char *behind_head(const char *p, struct accumulable_head *head, struct str *ret_id, struct str *ret_name)
{
    if (*p == '"' || !(p = behind_scalar(p, ret_id)))
        return NULL;
    const char *begin = p;
    if (!PASS(p, ",\"Name\":") || *p != '"' || !(p = behind_scalar(p, ret_name)) || !PASS(p, ",\"Update\":"))
        return NULL;
    size_t len = (size_t)(p - begin);
    if (head && ret_id->len < 16 && len <= sizeof head->text) {
        memcpy(head->text, begin, len);
        head->len = len;
        head->id_len = (unsigned)ret_id->len;
        head->name = (struct str){head->text + (ret_name->ptr - begin), ret_name->len};
    }
    return p;
}

/* An id of as many digits is at p, and behind it what is remembered. That the lengths are known beforehand is the gain: the processor need not wait for one text's end to look
 * at the next. */
ALWAYS_INLINE bool head_here(const char *p, const struct accumulable_head *head)
{
    unsigned digits = head->id_len;
    return head->len && (json_no_digits16(p) & ((2U << digits) - 1)) == 1U << digits && (*p != '0' || digits == 1) && memcmp(p + digits, head->text, head->len) == 0;
}

/* Spark writes those that nobody is shown in one shape: members in this order, plain values, Internal true. Returns what is behind the accumulable at p, of which
 * INTERNAL_ACCUMULABLE_BYTES are there; NULL: another shape, for decode_accumulable. `head` may be NULL. */
static const char *internal_accumulable(const char *p, struct accumulable_head *head, struct str *ret_id, struct str *ret_name, struct str *ret_update)
{
    struct str value;
    if (!PASS(p, "{\"ID\":"))
        return NULL;
    if (head && LIKELY(head_here(p, head))) {
        *ret_id = (struct str){p, head->id_len};
        *ret_name = head->name;
        p += head->id_len + head->len;
    } else if (!(p = behind_head(p, head, ret_id, ret_name)))
        return NULL;
    if (!(p = behind_scalar(p, ret_update)) || !PASS(p, ",\"Value\":") || !(p = behind_scalar(p, &value)) || *p != ',' || !json_key_here(p + 1, &accumulable_tail))
        return NULL;
    p += 1 + accumulable_tail.len;
    if (!PASS(p, "true") && !PASS(p, "false"))
        return NULL;
    (void)PASS(p, ",\"Metadata\":\"sql\"");
    return *p == '}' ? p + 1 : NULL;
}

static void note_peak(struct kept_accumulables *kept, struct str name, struct str update)
{
    static const char peak_name[] = "internal.metrics.peakExecutionMemory";
    if (LIKELY(name.len != sizeof peak_name - 1 || memcmp(name.ptr, peak_name, sizeof peak_name - 1) != 0))
        return;
    if (!str_to_i64(update, &kept->peak_execution_memory) || kept->peak_execution_memory < 0)
        kept->peak_execution_memory = UNKNOWN;
}

/* Task metrics are accumulables as well: most of them, and known from "Task Metrics". */
ALWAYS_INLINE bool is_task_metric(struct str name)
{
    return name.len > 17 && memcmp(name.ptr, "internal.metrics.", 17) == 0;
}

static void keep_update(struct json_pull *in, struct kept_accumulables *kept, int64_t id, struct str update)
{
    int64_t value;
    if (!str_to_i64(update, &value) || !known(value))
        return;
    void *items = kept->updates.items;
    struct accumulator_update *item = list_push(in, &items, &kept->updates.count, &kept->update_capacity, sizeof *item);
    if (!item)
        return;
    kept->updates.items = items;
    *item = (struct accumulator_update){id, value};
}

static void keep_accumulables(struct json_pull *in, struct kept_accumulables *ret)
{
    void *items = NULL;
    size_t capacity = 0;
    *ret = (struct kept_accumulables){.peak_execution_memory = UNKNOWN};
    if (!json_array_begin(in))
        return;
    for (size_t i = 0; json_array_next(in); i++) {
        struct accumulable one, *item;
        struct accumulable_head *head = in->memory && i < EVENT_HEADS ? &in->memory->heads[i] : NULL;
        struct str id;
        const char *behind = NULL;
        if (LIKELY(in->end - in->p > INTERNAL_ACCUMULABLE_BYTES) && LIKELY((behind = internal_accumulable(in->p, head, &id, &one.name, &one.update)) != NULL)) {
            in->p = behind;
            if (is_task_metric(one.name))
                note_peak(ret, one.name, one.update);
            else if (str_to_i64(id, &one.id))
                keep_update(in, ret, one.id, one.update);
            continue;
        }
        if (!decode_accumulable(in, &one))
            continue;
        if (is_task_metric(one.name))
            note_peak(ret, one.name, one.update);
        else
            keep_update(in, ret, one.id, one.update);
        if (one.internal || str_eq(one.metadata, STR_LIT("sql")))
            continue;
        if (!(item = list_push(in, &items, &ret->shown.count, &capacity, sizeof *item)))
            break;
        *item = one;
    }
    ret->shown.items = items;
}

static const struct json_key task_info_keys[] = {
    JSON_KEY("Task ID", 0), JSON_KEY("Index", 1), JSON_KEY("Attempt", 2), JSON_KEY("Partition ID", 3), JSON_KEY("Launch Time", 4), JSON_KEY("Executor ID", 5), JSON_KEY("Host", 6),
    JSON_KEY("Locality", 7), JSON_KEY("Speculative", 8), JSON_KEY("Getting Result Time", 9), JSON_KEY("Finish Time", 10), JSON_KEY("Failed", 11), JSON_KEY("Killed", 12),
    JSON_KEY("Accumulables", 13),
};

static int64_t locality(struct str word)
{
    return str_eq(word, STR_LIT("PROCESS_LOCAL")) ? LOCALITY_PROCESS : str_eq(word, STR_LIT("NODE_LOCAL")) ? LOCALITY_NODE : str_eq(word, STR_LIT("NO_PREF")) ? LOCALITY_NONE :
           str_eq(word, STR_LIT("RACK_LOCAL")) ? LOCALITY_RACK : str_eq(word, STR_LIT("ANY")) ? LOCALITY_ANY : UNKNOWN;
}

/* −1 is what Spark writes where there is no partition id. */
static int64_t partition_id(struct json_pull *in)
{
    int64_t id = json_i64(in);
    if (known(id) && id < 0)
        return id == -1 ? UNKNOWN : json_out_of_range(in);
    return id;
}

static int64_t nonzero_time(struct json_pull *in)
{
    int64_t ms = decode_time(in);
    return ms == 0 ? UNKNOWN : ms;
}

static void no_task(struct task_info *ret)
{
    *ret = (struct task_info){
        .id = UNKNOWN, .index = UNKNOWN, .attempt = 1, .partition_id = UNKNOWN, .launch_ms = UNKNOWN, .finish_ms = UNKNOWN, .getting_result_ms = UNKNOWN,
        .locality = UNKNOWN,
    };
}

/* `accumulables` NULL: nobody wants them. */
static void task_info(struct json_pull *in, struct task_info *ret, struct kept_accumulables *accumulables)
{
    struct json_object o;
    no_task(ret);
    if (accumulables)
        *accumulables = (struct kept_accumulables){.peak_execution_memory = UNKNOWN};
    if (json_object_begin(in, &o, KEYS(task_info_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: ret->id = json_count(in); break;
            case 1: ret->index = json_count(in); break;
            case 2: ret->attempt = known_or(json_count(in), 1); break;
            case 3: ret->partition_id = partition_id(in); break;
            case 4: ret->launch_ms = decode_time(in); break;
            case 5: ret->executor_id = json_str(in); break;
            case 6: ret->host = json_str(in); break;
            case 7: ret->locality = locality(json_str(in)); break;
            case 8: ret->speculative = json_bool(in, false); break;
            case 9: ret->getting_result_ms = nonzero_time(in); break;
            case 10: ret->finish_ms = nonzero_time(in); break;
            case 11: ret->failed = json_bool(in, false); break;
            case 12: ret->killed = json_bool(in, false); break;
            case 13:
                if (accumulables) {
                    keep_accumulables(in, accumulables);
                    break;
                }
                FALLTHROUGH;
            default: json_skip(in);
            }
}

static const struct json_key task_start_keys[] = {JSON_KEY("Stage ID", 0), JSON_KEY("Stage Attempt ID", 1), JSON_KEY("Task Info", 2)};

static void task_start(struct json_pull *in, struct event_task_start *ret)
{
    struct json_object o;
    ret->stage_id = UNKNOWN;
    ret->stage_attempt = 0;
    no_task(&ret->info);
    json_object_at(&o, KEYS(task_start_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->stage_id = json_id(in); break;
        case 1: ret->stage_attempt = known_or(json_id(in), 0); break;
        case 2: task_info(in, &ret->info, NULL); break;
        default: decode_other(in);
        }
}

const char *decode_task_start(struct json_pull *in, struct event *event)
{
    task_start(in, &event->task_start);
    return known(event->task_start.stage_id) && known(event->task_start.info.id) ? NULL : "task start without a stage id or a task id";
}

const char *decode_task_getting_result(struct json_pull *in, struct event *event)
{
    task_start(in, &event->task_start);
    event->task_start.stage_id = event->task_start.stage_attempt = UNKNOWN;      /* Spark does not write them here */
    return known(event->task_start.info.id) ? NULL : "task result fetch without a task id";
}

static const struct json_key task_end_keys[] = {
    JSON_KEY("Stage ID", 0), JSON_KEY("Stage Attempt ID", 1), JSON_KEY("Task Type", 2), JSON_KEY("Task End Reason", 3), JSON_KEY("Task Info", 4),
    JSON_KEY("Task Executor Metrics", 5), JSON_KEY("Task Metrics", 6),
};

const char *decode_task_end(struct json_pull *in, struct event *event)
{
    struct event_task_end *ret = &event->task_end;
    struct kept_accumulables accumulables = {.peak_execution_memory = UNKNOWN};
    struct json_object o;
    bool metrics_seen = false, peaks_seen = false;
    ret->stage_id = UNKNOWN;
    ret->stage_attempt = 0;
    no_task(&ret->info);
    ret->reason = END_UNKNOWN;
    ret->error = ret->kill_reason = STR_NONE;
    ret->has_metrics = ret->has_peaks = false;
    json_object_at(&o, KEYS(task_end_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->stage_id = json_id(in); break;
        case 1: ret->stage_attempt = known_or(json_id(in), 0); break;
        case 2: json_skip(in); break;
        case 3: decode_end_reason(in, ret); break;
        case 4: task_info(in, &ret->info, &accumulables); break;
        case 5:
            ret->has_peaks = decode_peaks(in, ret->peaks);
            peaks_seen = true;
            break;
        case 6:
            ret->has_metrics = task_metrics(in, ret->metrics);
            metrics_seen = true;
            break;
        default: decode_other(in);
        }
    if (!metrics_seen)
        no_metrics(ret->metrics);
    if (!peaks_seen)
        peaks_unknown(ret->peaks);
    if (ret->has_metrics && !known(ret->metrics[METRIC_PEAK_EXECUTION_MEMORY]))
        ret->metrics[METRIC_PEAK_EXECUTION_MEMORY] = accumulables.peak_execution_memory;
    ret->shown = accumulables.shown;
    ret->updates = accumulables.updates;
    return known(ret->stage_id) && known(ret->info.id) ? NULL : "task end without a stage id or a task id";
}
