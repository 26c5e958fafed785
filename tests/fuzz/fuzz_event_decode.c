/* SPDX-License-Identifier: Apache-2.0
 *
 * event_decode on any bytes. Beside the sanitizers: a line is corrupt for the decoder exactly when it is for a reader that only skips it; texts are valid UTF-8;
 * values are in their ranges. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/event/event_decode.h"
#include "base/json_pull.h"

#define SCRATCH_BYTES ((size_t)256 << 20)   /* more than the longest input can make of itself */

static void require(bool right)
{
    if (!right)
        abort();
}

static void check_text(struct str text)
{
    require(str_known(text) || text.len == 0);
    require(utf8_valid_prefix(text.ptr, text.len) == text.len);
}

static void check_kv(struct kv_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        require(str_known(list.items[i].name));
        check_text(list.items[i].name);
        check_text(list.items[i].value);
    }
}

static void check_accumulables(struct accumulable_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        require(list.items[i].id >= 0);
        check_text(list.items[i].name);
        check_text(list.items[i].update);
        check_text(list.items[i].value);
        check_text(list.items[i].metadata);
    }
}

static void check_count(int64_t value)
{
    require(value >= 0 || !known(value));
}

static void check_stage(const struct stage_info *stage)
{
    require(stage->id >= 0 && stage->attempt >= 0);
    check_text(stage->name);
    check_text(stage->details);
    check_text(stage->failure_reason);
    check_accumulables(stage->accumulables);
    for (size_t i = 0; i < stage->rdd_count; i++) {
        check_count(stage->rdds[i].id);
        check_text(stage->rdds[i].name);
        check_text(stage->rdds[i].scope);
        check_text(stage->rdds[i].callsite);
        for (size_t p = 0; p < stage->rdds[i].parents.count; p++)
            require(stage->rdds[i].parents.items[p] >= 0);
    }
}

static void check_task(const struct task_info *info)
{
    require(info->id >= 0);
    check_count(info->launch_ms);
    check_count(info->finish_ms);
    check_text(info->executor_id);
    check_text(info->host);
    require(!known(info->locality) || (info->locality >= 0 && info->locality < LOCALITY_COUNT));
}

static void check_counts(const struct name_count_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        check_text(list->items[i].name);
        require(known(list->items[i].value));
    }
}

static void check_progress(const struct event_streaming_progress *p)
{
    require(str_known(p->run_id));
    check_text(p->id);
    check_text(p->run_id);
    check_text(p->name);
    check_text(p->sink);
    check_text(p->observed);
    check_kv(p->sink_metrics);
    check_counts(&p->durations);
    check_count(p->batch_id);
    check_count(p->batch_duration_ms);
    check_count(p->output_rows);
    for (size_t i = 0; i < p->operator_count; i++) {
        check_text(p->operators[i].name);
        check_counts(&p->operators[i].custom_metrics);
        check_count(p->operators[i].rows_total);
        check_count(p->operators[i].memory_bytes);
    }
    for (size_t i = 0; i < p->source_count; i++) {
        check_text(p->sources[i].description);
        check_text(p->sources[i].start_offset);
        check_text(p->sources[i].end_offset);
        check_text(p->sources[i].latest_offset);
        check_kv(p->sources[i].metrics);
        check_count(p->sources[i].input_rows);
    }
}

static void check_operation(const struct event_server_operation *o)
{
    const struct str texts[] = {o->key, o->id, o->session_id, o->user, o->job_group, o->statement, o->plan, o->error, o->trace, o->tags};
    require(o->key.len > 0);
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check_text(texts[i]);
    check_count(o->time_ms);
    check_count(o->produced_rows);
    require((int)o->state >= 0 && o->state < OPERATION_STATE_COUNT);
}

static void check_metrics(const struct sql_plan_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(metrics[i].accumulator_id >= 0);
        check_text(metrics[i].name);
        check_text(metrics[i].type);
    }
}

static void check_updates(struct accumulator_update_list updates)
{
    for (size_t i = 0; i < updates.count; i++)
        require(updates.items[i].id >= 0 && known(updates.items[i].value));
}

/* What the root leads to is a tree: parents come before their children. */
static void check_plan(const struct sql_plan_info *plan)
{
    require(plan->node_count <= SQL_PLAN_MAX_NODES && (!plan->too_large || plan->node_count == 0));
    check_metrics(plan->metrics, plan->metric_count);
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct sql_plan_node *node = plan->nodes + i;
        check_text(node->name);
        check_text(node->simple_string);
        check_kv(node->metadata);
        require(node->first_metric <= plan->metric_count && node->metric_count <= plan->metric_count - node->first_metric);
        require(i == 0 ? node->parent == SQL_PLAN_NO_NODE : node->parent < i);
        for (size_t before = i, child = node->first_child; child != SQL_PLAN_NO_NODE; before = child, child = plan->nodes[child].next_sibling)
            require(child > before && child < plan->node_count && plan->nodes[child].parent == i);
    }
}

static void check_event(const struct event *e)
{
    check_text(e->name);
    switch (e->kind) {
    case EVENT_TASK_START:
    case EVENT_TASK_GETTING_RESULT:
        check_task(&e->task_start.info);
        break;
    case EVENT_TASK_END:
        check_task(&e->task_end.info);
        check_text(e->task_end.error);
        check_text(e->task_end.kill_reason);
        require((int)e->task_end.reason >= 0 && e->task_end.reason <= END_OTHER);
        for (int i = 0; i < TASK_METRIC_COUNT; i++)
            check_count(e->task_end.metrics[i]);
        for (int i = 0; i < EXECUTOR_METRIC_COUNT; i++)
            check_count(e->task_end.peaks[i]);
        check_accumulables(e->task_end.shown);
        check_updates(e->task_end.updates);
        break;
    case EVENT_SQL_START:
        require(e->sql_start.execution_id >= 0);
        check_count(e->sql_start.root_execution_id);
        check_count(e->sql_start.time_ms);
        check_text(e->sql_start.description);
        check_text(e->sql_start.details);
        check_text(e->sql_start.plan_text);
        check_text(e->sql_start.job_group);
        check_text(e->sql_start.query_id);
        check_kv(e->sql_start.configs);
        check_plan(&e->sql_start.plan);
        for (size_t i = 0; i < e->sql_start.tag_count; i++)
            check_text(e->sql_start.tags[i]);
        break;
    case EVENT_SQL_END:
        require(e->sql_end.execution_id >= 0);
        check_text(e->sql_end.error);
        break;
    case EVENT_SQL_DRIVER_UPDATES:
        check_updates(e->sql_driver_updates.updates);
        break;
    case EVENT_SQL_PLAN_UPDATE:
        check_text(e->sql_plan_update.plan_text);
        check_plan(&e->sql_plan_update.plan);
        break;
    case EVENT_SQL_METRIC_UPDATE:
        check_metrics(e->sql_metric_update.metrics, e->sql_metric_update.metric_count);
        break;
    case EVENT_JOB_START:
        require(e->job_start.id >= 0);
        check_kv(e->job_start.properties);
        for (size_t i = 0; i < e->job_start.stage_count; i++)
            check_stage(&e->job_start.stages[i]);
        break;
    case EVENT_STAGE_SUBMITTED:
    case EVENT_STAGE_COMPLETED:
        check_stage(&e->stage.info);
        check_kv(e->stage.properties);
        break;
    case EVENT_JOB_END:
        check_text(e->job_end.failure);
        break;
    case EVENT_ENVIRONMENT_UPDATE:
        for (int i = 0; i < ENV_SECTION_COUNT; i++)
            check_kv(e->environment.sections[i]);
        break;
    case EVENT_APPLICATION_START:
        check_text(e->application_start.name);
        check_text(e->application_start.id);
        check_kv(e->application_start.driver_logs);
        check_kv(e->application_start.driver_attributes);
        break;
    case EVENT_RESOURCE_PROFILE_ADDED:
        for (size_t i = 0; i < e->resource_profile.executor_count; i++)
            check_text(e->resource_profile.executor[i].vendor);
        for (size_t i = 0; i < e->resource_profile.task_count; i++)
            check_text(e->resource_profile.task[i].name);
        break;
    case EVENT_EXECUTOR_ADDED:
        check_kv(e->executor_added.logs);
        for (size_t i = 0; i < e->executor_added.resource_count; i++)
            for (size_t a = 0; a < e->executor_added.resources[i].address_count; a++)
                check_text(e->executor_added.resources[i].addresses[a]);
        break;
    case EVENT_STREAMING_STARTED:
    case EVENT_STREAMING_IDLE:
    case EVENT_STREAMING_TERMINATED:
        require(str_known(e->streaming_query.run_id));
        check_text(e->streaming_query.id);
        check_text(e->streaming_query.run_id);
        check_text(e->streaming_query.name);
        check_text(e->streaming_query.exception);
        check_text(e->streaming_query.error_class);
        check_text(e->streaming_query.job_tags);
        break;
    case EVENT_STREAMING_PROGRESS:
        check_progress(&e->streaming_progress);
        break;
    case EVENT_SERVER_SESSION:
        require(e->server_session.id.len > 0);
        check_text(e->server_session.id);
        check_text(e->server_session.user);
        check_text(e->server_session.ip);
        check_count(e->server_session.time_ms);
        break;
    case EVENT_SERVER_OPERATION:
        check_operation(&e->server_operation);
        break;
    case EVENT_SERVER_SERVICE:
        check_text(e->server_service.host);
        check_count(e->server_service.port);
        check_count(e->server_service.time_ms);
        break;
    case EVENT_EXECUTOR_METRICS_UPDATE:
        for (size_t i = 0; i < e->executor_metrics_update.count; i++)
            for (int m = 0; m < EXECUTOR_METRIC_COUNT; m++)
                check_count(e->executor_metrics_update.items[i].peaks[m]);
        for (size_t i = 0; i < e->executor_metrics_update.task_count; i++) {
            const struct task_report *report = &e->executor_metrics_update.tasks[i];
            for (int m = 0; m < TASK_METRIC_COUNT; m++)
                check_count(report->metrics[m]);
            for (size_t u = 0; u < report->updates.count; u++)
                require(known(report->updates.items[u].value));
        }
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + EVENT_LINE_PADDING);
    struct arena scratch;
    struct event event = {0};
    struct err err = {0};
    struct json_pull skipper;
    if (size)
        memcpy(line, data, size);
    memset(line + size, '}', EVENT_LINE_PADDING);
    arena_init(&scratch, SCRATCH_BYTES);
    enum err_code code = event_decode((struct str){line, size}, &scratch, NULL, &event, &err);
    require(code == ERR_OK || code == ERR_CORRUPT || code == ERR_INVALID || code == ERR_LIMIT);
    json_pull_init(&skipper, (struct str){line, size}, &scratch);
    if (skipper.p < skipper.end) {
        json_skip(&skipper);
        if (skipper.failed != ERR_LIMIT)     /* plans may be deeper than what can be skipped */
            require((skipper.failed != ERR_OK) == (code == ERR_CORRUPT || code == ERR_LIMIT));
    }
    if (code == ERR_OK)
        check_event(&event);
    /* What is remembered of a line, this one included, changes nothing. */
    static struct event_memory memory;
    size_t shown = event.task_end.shown.count;
    int64_t peak = event.task_end.metrics[METRIC_PEAK_EXECUTION_MEMORY];
    for (int again = 0; again < 2; again++) {
        enum event_kind kind = event.kind;
        arena_reset(&scratch);
        require(event_decode((struct str){line, size}, &scratch, &memory, &event, &err) == code && event.kind == kind);
        require(code != ERR_OK || kind != EVENT_TASK_END || (event.task_end.shown.count == shown && event.task_end.metrics[METRIC_PEAK_EXECUTION_MEMORY] == peak));
    }
    arena_dispose(&scratch);
    free(line);
    return 0;
}
