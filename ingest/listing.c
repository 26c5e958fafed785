/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/listing.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/db.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/units.h"
#include "ingest/event/event_decode.h"
#include "ingest/source/line_reader.h"

#define SCRATCH_BYTES ((size_t)64 << 20)                 /* one event; as large as the longest line */
#define BLOCKS_AFTER_START 4                             /* in all known logs the environment comes before the start; one that comes much later is not waited for */
#define KEY_NAME_MAX 100

_Static_assert(LINE_PADDING >= EVENT_LINE_PADDING, "a block's padding must do for the event reader");

/* What the head of a log has told so far. */
struct head {
    struct listing *listing;
    struct arena scratch;
    bool has_environment;
    bool has_app_id;                                     /* from the start or from spark.app.id */
    int64_t first_seen_ms;                               /* earliest time of any event, for logs without a start */
    int64_t line_count, bad_count;
};

/* Copies as much as fits, never half a character. */
static void copy_text(char *out, size_t size, struct str text)
{
    size_t len = text.ptr ? utf8_valid_prefix(text.ptr, MIN(text.len, size - 1)) : 0;
    if (len)
        memcpy(out, text.ptr, len);
    out[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (out[i] == '\0')
            out[i] = ' ';                                /* an escaped NUL must not hide the rest of a name */
}

static int64_t time_of(const struct event *event)
{
    switch (event->kind) {
    case EVENT_APPLICATION_START: return event->application_start.time_ms;
    case EVENT_BLOCK_MANAGER_ADDED: return event->block_manager.time_ms;
    case EVENT_EXECUTOR_ADDED: return event->executor_added.time_ms;
    case EVENT_JOB_START: return event->job_start.submission_ms;
    case EVENT_STAGE_SUBMITTED: return event->stage.info.submission_ms;
    case EVENT_TASK_START: return event->task_start.info.launch_ms;
    case EVENT_TASK_END: return event->task_end.info.launch_ms;
    default: return UNKNOWN;
    }
}

/* Of a key that comes twice the last value. */
static struct str find(const struct kv_list *list, const char *name)
{
    for (size_t i = list->count; i-- > 0;)
        if (str_is(list->items[i].name, name))
            return list->items[i].value;
    return STR_NONE;
}

char *listing_join_lists(struct str first, struct str second, char *out)
{
    const struct str lists[] = {first, second};
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
        for (struct str rest = lists[i]; rest.len;) {
            struct str item = str_word(&rest, ',');
            if (!item.len || memchr(item.ptr, '\0', item.len) || len + item.len + 2 > LISTING_ACCESS_BYTES)
                continue;
            if (len)
                out[len++] = ',';
            memcpy(out + len, item.ptr, item.len);
            len += item.len;
            out[len] = '\0';
        }
    }
    return out;
}

static void take_environment(struct head *head, const struct event_environment_update *environment)
{
    const struct kv_list *spark = &environment->sections[ENV_SPARK];
    struct listing *listing = head->listing;
    head->has_environment = true;
    listing_join_lists(find(spark, "spark.ui.view.acls"), find(spark, "spark.admin.acls"), listing->view_users);
    listing_join_lists(find(spark, "spark.ui.view.acls.groups"), find(spark, "spark.admin.acls.groups"), listing->view_groups);
    for (size_t i = 0; i < spark->count; i++) {
        if (str_is(spark->items[i].name, "spark.yarn.queue"))
            copy_text(head->listing->queue, sizeof head->listing->queue, spark->items[i].value);
        if (str_is(spark->items[i].name, "spark.app.id") && !head->has_app_id && spark->items[i].value.len) {
            copy_text(head->listing->app_id, sizeof head->listing->app_id, spark->items[i].value);
            head->has_app_id = true;
        }
    }
}

static void take_start(struct head *head, const struct event_application_start *start)
{
    struct listing *listing = head->listing;
    if (listing->has_start)
        return;                                          /* a second start does not rename the run */
    listing->has_start = true;
    if (start->id.len) {
        copy_text(listing->app_id, sizeof listing->app_id, start->id);
        head->has_app_id = true;
    }
    listing->has_attempt_id = str_known(start->attempt_id);
    copy_text(listing->attempt_id, sizeof listing->attempt_id, start->attempt_id);
    char name[4 * sizeof listing->name];
    copy_text(listing->name, sizeof listing->name, (struct str){name, redact_into(start->name, name, sizeof name)});
    copy_text(listing->user, sizeof listing->user, start->user);
    listing->start_ms = start->time_ms;
}

static void take_event(struct head *head, const struct event *event)
{
    struct listing *listing = head->listing;
    listing->readable = true;
    head->first_seen_ms = min_known(head->first_seen_ms, time_of(event));
    if (event->kind == EVENT_LOG_START && (!listing->spark_version[0] || (listing->vendor_version && !event->log_start.databricks))) {
        copy_text(listing->spark_version, sizeof listing->spark_version, event->log_start.spark_version);
        listing->vendor_version = event->log_start.databricks;
    } else if (event->kind == EVENT_ENVIRONMENT_UPDATE && !head->has_environment)
        take_environment(head, &event->environment);
    else if (event->kind == EVENT_APPLICATION_START)
        take_start(head, &event->application_start);
    else if (event->kind == EVENT_APPLICATION_END) {
        listing->has_end = true;
        listing->end_ms = event->application_end.time_ms;
        listing->exit_code = event->application_end.exit_code;
    }
}

/* Calls take_event for each line of a text; stops early when the head is complete. ERR_NOMEM only: bad lines are the load's matter. */
static enum err_code take_lines(struct head *head, const char *text, size_t len, struct err *err)
{
    const char *end = text + len;
    while (text < end && !(head->listing->has_start && head->has_environment)) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        if (line_end > text) {
            struct event event;
            arena_reset(&head->scratch);
            enum err_code rc = event_decode((struct str){text, (size_t)(line_end - text)}, &head->scratch, NULL, &event, NULL);
            if (rc == ERR_NOMEM)
                return err_nomem(err);
            head->line_count++;
            if (rc)
                head->bad_count++;
            else
                take_event(head, &event);
        }
        text = line_end + (line_end < end);
    }
    return ERR_OK;
}

static enum err_code read_head(const struct log_entry *entry, struct head *head, struct err *err)
{
    struct line_reader *reader = NULL;
    struct listing *listing = head->listing;
    int64_t read_bytes = 0;
    int blocks_after_start = 0;
    enum err_code rc = line_reader_open(&reader, entry, err);
    if (rc)
        return rc;
    struct line_block *block;
    while (read_bytes < LISTING_HEAD_MAX_BYTES && (rc = line_reader_next(reader, &block, err)) == ERR_OK) {
        read_bytes += (int64_t)block->len;
        rc = take_lines(head, block->text, block->len, err);
        line_block_free(block);
        if (rc || (listing->has_start && (head->has_environment || ++blocks_after_start > BLOCKS_AFTER_START)))
            break;
    }
    struct source_problem problem;
    if (!listing->readable && line_reader_take_problems(reader, &problem, 1) == 1)
        snprintf(listing->reason, sizeof listing->reason, "%s", problem.reason);
    line_reader_close(reader);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The last ApplicationEnd of the log's last lines. Only lines that speak of it are decoded. */
static enum err_code read_tail(const struct log_entry *entry, struct head *head, struct err *err)
{
    static const char wanted[] = "ApplicationEnd";
    char *text = NULL;
    size_t len = 0;
    enum err_code rc = line_reader_tail(entry, LISTING_TAIL_BYTES, &text, &len, err);
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_OK;            /* damage, or a codec without a quick way to the end: the load will tell */
    const char *end = text + len;
    for (const char *line = text; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((line_end ? line_end : end) - line);
        struct event event;
        arena_reset(&head->scratch);
        if (memmem(line, length, wanted, sizeof wanted - 1) && event_decode((struct str){line, length}, &head->scratch, NULL, &event, NULL) == ERR_OK &&
            event.kind == EVENT_APPLICATION_END)
            take_event(head, &event);
        line += length + 1;
    }
    mem_free(text);
    return ERR_OK;
}

enum err_code listing_read(const struct log_entry *entry, struct listing *ret, struct err *err)
{
    *ret = (struct listing){.start_ms = UNKNOWN, .end_ms = UNKNOWN, .exit_code = UNKNOWN};
    struct head head = {.listing = ret, .first_seen_ms = UNKNOWN};
    arena_init(&head.scratch, SCRATCH_BYTES);
    enum err_code rc = read_head(entry, &head, err);
    if (!rc)
        rc = read_tail(entry, &head, err);
    arena_dispose(&head.scratch);
    if (rc)
        return rc;
    if (!head.has_app_id)
        copy_text(ret->app_id, sizeof ret->app_id, str_of(entry->id_from_name));
    ret->start_inferred = ret->has_start && !known(ret->start_ms);
    if (!known(ret->start_ms))
        ret->start_ms = head.first_seen_ms;
    if (known(ret->end_ms) && known(ret->start_ms) && ret->end_ms < ret->start_ms)
        ret->end_ms = UNKNOWN;                           /* a clock step; the load finds the last sound time */
    if (!ret->readable && !ret->reason[0])
        snprintf(ret->reason, sizeof ret->reason, head.bad_count ? "none of the first %lld lines is an event" : "no line was found", (long long)head.bad_count);
    return ERR_OK;
}

static size_t append_readable(char *out, size_t used, const char *text)
{
    for (; *text && used < KEY_NAME_MAX; text++) {
        char c = *text;
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
        out[used++] = plain ? c : '_';
    }
    return used;
}

char *listing_app_key(const char *app_id, const char *attempt_id_or_null, const char *dir, bool added, char *out)
{
    /* Hashes of hashes, so that the borders of the texts count; an attempt without an id is not one with an empty id. */
    const XXH64_hash_t parts[] = {XXH3_64bits(app_id, strlen(app_id)), attempt_id_or_null ? XXH3_64bits(attempt_id_or_null, strlen(attempt_id_or_null)) : 0,
                                  XXH3_64bits(dir, strlen(dir))};
    XXH64_hash_t hash = XXH3_64bits(parts, sizeof parts);
    size_t begin = added ? strlen(memcpy(out, DB_ADDED_MARK, sizeof DB_ADDED_MARK)) : 0, used = append_readable(out, begin, app_id);
    if (attempt_id_or_null) {
        used = append_readable(out, used, "_");
        used = append_readable(out, used, attempt_id_or_null);
    }
    if (used > begin && out[begin] == '.')
        out[begin] = '_';                                    /* no hidden files, no ".." */
    snprintf(out + used, LISTING_KEY_BYTES - used, "-%08x", (unsigned)(hash & 0xFFFFFFFFu));
    return out;
}
