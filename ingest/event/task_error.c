/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a task ended, and the text that the History Server shows for it: TaskEndReason.toErrorString of Spark, spec/core.md §1.6. Members may come in any
 * order, so they are collected first. "Accumulator Updates" and the 1.x "Metrics" of a failure are not read: the task end has its own. */
#include <inttypes.h>
#include <stdio.h>

#include "ingest/event/decode.h"

/* Spark's mark for a map index that nobody knows (Int.MinValue). */
#define NO_MAP_INDEX (-2147483648LL)

enum {
    REASON, BLOCK_MANAGER, SHUFFLE_ID, MAP_ID, MAP_INDEX, REDUCE_ID, MESSAGE, CLASS_NAME, DESCRIPTION, STACK_TRACE, FULL_STACK_TRACE, KILL_REASON,
    JOB_ID, PARTITION_ID, ATTEMPT_NUMBER, EXECUTOR_ID, EXIT_CAUSED_BY_APP, LOSS_REASON, NOT_READ
};

static const struct json_key reason_keys[] = {
    JSON_KEY("Reason", REASON),
    JSON_KEY("Block Manager Address", BLOCK_MANAGER), JSON_KEY("Shuffle ID", SHUFFLE_ID), JSON_KEY("Map ID", MAP_ID), JSON_KEY("Map Index", MAP_INDEX),
    JSON_KEY("Reduce ID", REDUCE_ID), JSON_KEY("Message", MESSAGE),
    JSON_KEY("Class Name", CLASS_NAME), JSON_KEY("Description", DESCRIPTION), JSON_KEY("Stack Trace", STACK_TRACE), JSON_KEY("Full Stack Trace", FULL_STACK_TRACE),
    JSON_KEY("Accumulator Updates", NOT_READ),
    JSON_KEY("Kill Reason", KILL_REASON),
    JSON_KEY("Job ID", JOB_ID), JSON_KEY("Partition ID", PARTITION_ID), JSON_KEY("Attempt Number", ATTEMPT_NUMBER),
    JSON_KEY("Executor ID", EXECUTOR_ID), JSON_KEY("Exit Caused By App", EXIT_CAUSED_BY_APP), JSON_KEY("Loss Reason", LOSS_REASON),
};

struct reason {
    struct str word, message, class_name, description, stack_trace, full_stack_trace, kill_reason, executor_id, loss_reason;
    struct block_manager_id address;
    int64_t shuffle_id, map_id, map_index, reduce_id, job_id, partition_id, attempt_number;
    bool exit_caused_by_app;
};

static const struct json_key frame_keys[] = {JSON_KEY("Declaring Class", 0), JSON_KEY("Method Name", 1), JSON_KEY("File Name", 2), JSON_KEY("Line Number", 3)};

/* A text that is made twice by the same function: first only measured (`to` NULL), then written. */
struct text {
    char *to;
    size_t len;
};

static void put(struct text *out, struct str part)
{
    if (out->to && part.len)
        memcpy(out->to + out->len, part.ptr, part.len);
    out->len += part.len;
}

static void put_number(struct text *out, int64_t value)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, value);
    put(out, (struct str){digits, (size_t)len});
}

static void put_number_or_unknown(struct text *out, int64_t value)
{
    if (known(value))
        put_number(out, value);
    else
        put(out, STR_LIT("Unknown"));
}

static struct str or(struct str text, const char *otherwise)
{
    return str_known(text) ? text : str_of(otherwise);
}

/* StackTraceElement.toString of Java, each after eight blanks, one a line. The array is read from its place in the line, so that nothing is kept of it when nobody needs it. */
static void put_frames(struct text *out, struct str array, struct json_pull *whole)
{
    struct json_pull in;
    struct json_object o;
    if (!str_known(array))
        return;
    json_pull_init(&in, array, whole->scratch);
    bool first = true;
    if (json_array_begin(&in))
        while (json_array_next(&in)) {
            struct str class_name = STR_NONE, method = STR_NONE, file = STR_NONE;
            int64_t line = UNKNOWN;
            if (!json_object_begin(&in, &o, KEYS(frame_keys)))
                continue;
            for (int key; (key = json_next(&in, &o)) >= 0;)
                switch (key) {
                case 0: class_name = json_str(&in); break;
                case 1: method = json_str(&in); break;
                case 2: file = json_str(&in); break;
                case 3: line = json_i64(&in); break;
                default: json_skip(&in);
                }
            put(out, first ? STR_LIT("        ") : STR_LIT("\n        "));
            first = false;
            put(out, class_name);
            put(out, STR_LIT("."));
            put(out, method);
            if (line == -2) {
                put(out, STR_LIT("(Native Method)"));
            } else if (str_known(file)) {
                put(out, STR_LIT("("));
                put(out, file);
                if (line >= 0) {
                    put(out, STR_LIT(":"));
                    put_number(out, line);
                }
                put(out, STR_LIT(")"));
            } else {
                put(out, STR_LIT("(Unknown Source)"));
            }
        }
    if (in.failed)                           /* the scratch arena is full; the JSON was checked when the line was read */
        json_fail(whole, in.failed, in.what);
}

static void put_fetch_failed(struct text *out, const struct reason *r)
{
    put(out, STR_LIT("FetchFailed("));
    if (str_known(r->address.executor_id)) {
        put(out, STR_LIT("BlockManagerId("));
        put(out, r->address.executor_id);
        put(out, STR_LIT(", "));
        put(out, r->address.host);
        put(out, STR_LIT(", "));
        put_number_or_unknown(out, r->address.port);
        put(out, STR_LIT(", None)"));
    } else {
        put(out, STR_LIT("null"));
    }
    put(out, STR_LIT(", shuffleId="));
    put_number_or_unknown(out, r->shuffle_id);
    put(out, STR_LIT(", mapIndex="));
    put_number_or_unknown(out, r->map_index == NO_MAP_INDEX ? UNKNOWN : r->map_index);
    put(out, STR_LIT(", mapId="));
    put_number_or_unknown(out, r->map_id);
    put(out, STR_LIT(", reduceId="));
    put_number_or_unknown(out, r->reduce_id);
    put(out, STR_LIT(", message=\n"));
    put(out, or(r->message, "Unknown reason"));
    put(out, STR_LIT("\n)"));
}

static void put_error(struct text *out, enum end_reason reason, const struct reason *r, struct json_pull *in)
{
    switch (reason) {
    case END_FETCH_FAILED:
        put_fetch_failed(out, r);
        break;
    case END_EXCEPTION:                      /* without a full stack trace: before 1.2 */
        put(out, or(r->class_name, "null"));
        put(out, STR_LIT(": "));
        put(out, r->description);
        put(out, STR_LIT("\n"));
        put_frames(out, r->stack_trace, in);
        break;
    case END_COMMIT_DENIED:
        put(out, STR_LIT("TaskCommitDenied (Driver denied task commit) for job: "));
        put_number(out, known_or(r->job_id, -1));
        put(out, STR_LIT(", partition: "));
        put_number(out, known_or(r->partition_id, -1));
        put(out, STR_LIT(", attemptNumber: "));
        put_number(out, known_or(r->attempt_number, -1));
        break;
    case END_EXECUTOR_LOST:
        put(out, STR_LIT("ExecutorLostFailure (executor "));
        put(out, or(r->executor_id, "Unknown"));
        put(out, r->exit_caused_by_app ? STR_LIT(" exited caused by one of the running tasks)") : STR_LIT(" exited unrelated to the running tasks)"));
        if (str_known(r->loss_reason)) {
            put(out, STR_LIT(" Reason: "));
            put(out, r->loss_reason);
        }
        break;
    default:
        break;
    }
}

static struct str make_error(struct json_pull *in, enum end_reason reason, const struct reason *r)
{
    struct text text = {NULL, 0};
    put_error(&text, reason, r, in);
    char *room = json_scratch(in, text.len);
    if (!room)
        return STR_NONE;
    size_t measured = text.len;
    text = (struct text){room, 0};
    put_error(&text, reason, r, in);
    return (struct str){room, measured};
}

static const struct { struct str word; enum end_reason reason; const char *error; } reasons[] = {
    {{"Success", 7}, END_SUCCESS, NULL},
    {{"Resubmitted", 11}, END_RESUBMITTED, "Resubmitted (resubmitted due to lost executor)"},
    {{"FetchFailed", 11}, END_FETCH_FAILED, NULL},
    {{"ExceptionFailure", 16}, END_EXCEPTION, NULL},
    {{"TaskResultLost", 14}, END_RESULT_LOST, "TaskResultLost (result lost from block manager)"},
    {{"TaskKilled", 10}, END_KILLED, NULL},
    {{"TaskCommitDenied", 16}, END_COMMIT_DENIED, NULL},
    {{"ExecutorLostFailure", 19}, END_EXECUTOR_LOST, NULL},
    {{"UnknownReason", 13}, END_UNKNOWN, "UnknownReason"},
};

static void read_reason(struct json_pull *in, struct reason *r)
{
    struct json_object o;
    *r = (struct reason){.address.port = UNKNOWN, .shuffle_id = UNKNOWN, .map_id = UNKNOWN, .map_index = UNKNOWN, .reduce_id = UNKNOWN, .job_id = UNKNOWN, .partition_id = UNKNOWN,
                         .attempt_number = UNKNOWN, .exit_caused_by_app = true};
    if (json_object_begin(in, &o, KEYS(reason_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case REASON: r->word = json_str(in); break;
            case BLOCK_MANAGER: r->address = decode_block_manager_id(in); break;
            case SHUFFLE_ID: r->shuffle_id = json_i64(in); break;
            case MAP_ID: r->map_id = json_i64(in); break;
            case MAP_INDEX: r->map_index = json_i64(in); break;
            case REDUCE_ID: r->reduce_id = json_i64(in); break;
            case MESSAGE: r->message = json_str(in); break;
            case CLASS_NAME: r->class_name = json_str(in); break;
            case DESCRIPTION: r->description = json_str(in); break;
            case STACK_TRACE: r->stack_trace = json_span(in); break;
            case FULL_STACK_TRACE: r->full_stack_trace = json_str(in); break;
            case KILL_REASON: r->kill_reason = json_str(in); break;
            case JOB_ID: r->job_id = json_i64(in); break;
            case PARTITION_ID: r->partition_id = json_i64(in); break;
            case ATTEMPT_NUMBER: r->attempt_number = json_i64(in); break;
            case EXECUTOR_ID: r->executor_id = json_str(in); break;
            case EXIT_CAUSED_BY_APP: r->exit_caused_by_app = json_bool(in, true); break;
            case LOSS_REASON: r->loss_reason = json_str(in); break;
            default: json_skip(in);
            }
}

void decode_end_reason(struct json_pull *in, struct event_task_end *ret)
{
    struct reason r;
    ret->reason = END_UNKNOWN;
    ret->error = ret->kill_reason = STR_NONE;
    read_reason(in, &r);
    if (in->failed || !str_known(r.word))
        return;
    ret->reason = END_OTHER;
    for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++)
        if (str_eq(r.word, reasons[i].word)) {
            ret->reason = reasons[i].reason;
            ret->error = str_of(reasons[i].error);
            break;
        }
    switch (ret->reason) {
    case END_OTHER:
        ret->error = r.word;
        break;
    case END_EXCEPTION:
        ret->error = str_known(r.full_stack_trace) ? r.full_stack_trace : make_error(in, ret->reason, &r);
        break;
    case END_KILLED:
        ret->error = ret->kill_reason = or(r.kill_reason, "unknown reason");
        break;
    case END_COMMIT_DENIED:
        ret->error = ret->kill_reason = make_error(in, ret->reason, &r);
        break;
    case END_FETCH_FAILED:
    case END_EXECUTOR_LOST:
        ret->error = make_error(in, ret->reason, &r);
        break;
    default:
        break;
    }
}
