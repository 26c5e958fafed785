/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors, resource profiles, other processes, exclusion and peaks: spec/core.md §2.2, §2.3, §2.4, §2.8. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/app_model.h"

#define ADDRESSES_MAX_BYTES ((size_t)16 << 20)   /* of one executor resource, as JSON */

struct executor *model_executor_find(struct app_model *self, struct str id)
{
    return smap_get(&self->executor_by_id, id);
}

static struct executor *add_life(struct app_model *self, struct str id, const struct executor *before)
{
    struct executor *executor = model_entity(self, &self->executors, sizeof *executor);
    if (!executor || arena_str(&self->arena, id, &executor->executor_id) || smap_put(&self->executor_by_id, executor->executor_id, executor))
        return NULL;
    executor->executor_ref = (int64_t)self->executors.count;
    executor->id_serial = before ? before->id_serial : ++self->next_executor_serial;
    executor->active = 1;
    executor->dirty = true;
    executor->add_ms = executor->remove_ms = executor->total_cores = executor->max_tasks = executor->resource_profile_id = UNKNOWN;
    executor->max_memory_bytes = executor->max_on_heap_memory_bytes = executor->max_off_heap_memory_bytes = executor->request_ms = executor->registration_ms = UNKNOWN;
    executor->gc_time_ms = executor->on_heap_used_bytes = executor->off_heap_used_bytes = UNKNOWN;
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        executor->peaks[i] = UNKNOWN;
    for (size_t i = 0; i < EXECUTOR_WORK_COUNT; i++)
        executor->work[i] = UNKNOWN;
    return executor;
}

struct executor *model_executor_get(struct app_model *self, struct str id)
{
    struct executor *executor = model_executor_find(self, id);
    return executor ? executor : add_life(self, id, NULL);
}

/* The living executor of that id: an id that comes back after its removal is a new one. */
static struct executor *live_executor(struct app_model *self, struct str id, int64_t time_ms)
{
    struct executor *executor = model_executor_get(self, id);
    if (executor && !executor->active) {
        struct executor *before = executor;
        before->superseded = 1;
        before->dirty = true;
        executor = add_life(self, id, before);
    }
    if (executor && !executor->announced) {
        executor->announced = 1;
        executor->add_ms = time_ms;
        if (self->has_driver_logs && str_is(id, "driver")) {
            executor->logs = self->driver_logs;
            executor->attributes = self->driver_attributes;
            executor->maps_dirty = true;
        }
    }
    if (executor)
        executor->dirty = true;
    model_time(self, time_ms);
    return executor;
}

static int64_t cpus_of_profile(const struct app_model *self, int64_t profile_id)
{
    const struct resource_profile *profile = imap_get(&self->profile_by_id, profile_id);
    for (size_t i = 0; profile && i < profile->task_count; i++)
        if (str_is(profile->task[i].name, "cpus"))
            return (int64_t)profile->task[i].amount;
    return self->cpus_per_task;
}

static enum err_code copy_resources(struct app_model *self, struct executor *executor, const struct event_executor_added *e, struct err *err)
{
    struct kv *items = arena_zalloc(&self->arena, e->resource_count, sizeof *items);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < e->resource_count; i++) {
        CLEANUP(buf_dispose) struct buf text;
        buf_init(&text, ADDRESSES_MAX_BYTES);
        CLEANUP(mem_freep) struct json_writer *json = mem_alloc(sizeof *json);
        if (!json)
            return err_nomem(err);
        json_writer_init(json, json_sink_buf, &text, false);
        json_array_begin(json);
        for (size_t a = 0; a < e->resources[i].address_count; a++)
            json_str(json, e->resources[i].addresses[a]);
        json_array_end(json);
        if (json_writer_end(json) || arena_str(&self->arena, e->resources[i].name, &items[i].name) || arena_str(&self->arena, buf_str(&text), &items[i].value))
            return err_nomem(err);
    }
    executor->resources = (struct kv_list){items, e->resource_count};
    return ERR_OK;
}

enum err_code model_executor_added(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_executor_added *e = &event->executor_added;
    struct executor *executor = live_executor(self, e->id, e->time_ms);
    if (!executor)
        return err_nomem(err);
    executor->maps_dirty = true;
    executor->total_cores = e->total_cores;
    executor->resource_profile_id = e->resource_profile_id;
    executor->request_ms = e->request_ms;
    executor->registration_ms = e->registration_ms;
    int64_t cpus = cpus_of_profile(self, known_or(e->resource_profile_id, 0));
    executor->max_tasks = known(e->total_cores) && cpus > 0 ? e->total_cores / cpus : UNKNOWN;
    enum err_code rc;
    if ((rc = model_str(self, &executor->host, e->host, err)) || (rc = model_kv_copy(self, &executor->logs, &e->logs, err)) ||
        (rc = model_kv_copy(self, &executor->attributes, &e->attributes, err)))
        return rc;
    return copy_resources(self, executor, e, err);
}

enum err_code model_block_manager_added(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_block_manager *e = &event->block_manager;
    if (!str_known(e->id.executor_id))
        return ERR_OK;
    struct executor *executor = live_executor(self, e->id.executor_id, e->time_ms);
    if (!executor)
        return err_nomem(err);
    char *host_port =
        str_known(e->id.host) ? arena_printf(&self->arena, "%.*s:%lld", (int)MIN(e->id.host.len, (size_t)4096), e->id.host.ptr, (long long)known_or(e->id.port, 0)) : NULL;
    if (str_known(e->id.host) && !host_port)
        return err_nomem(err);
    executor->host_port = str_of(host_port);
    executor->max_memory_bytes = e->max_memory_bytes;
    if (known(e->max_on_heap_bytes)) {
        executor->max_on_heap_memory_bytes = e->max_on_heap_bytes;
        executor->max_off_heap_memory_bytes = e->max_off_heap_bytes;
        executor->on_heap_used_bytes = executor->off_heap_used_bytes = 0;
    }
    return ERR_OK;
}

enum err_code model_executor_removed(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_executor_removed *e = &event->executor_removed;
    model_time(self, e->time_ms);
    struct executor *executor = model_executor_get(self, e->id);
    if (!executor)
        return err_nomem(err);
    if (!executor->active) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    executor->active = 0;
    executor->remove_ms = e->time_ms;
    executor->dirty = true;
    model_storage_executor_removed(self, executor);
    return model_str(self, &executor->remove_reason, e->reason, err);
}

enum err_code model_resource_profile(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_resource_profile *e = &event->resource_profile;
    struct resource_profile *profile = imap_get(&self->profile_by_id, e->id);
    if (!profile) {
        profile = model_entity(self, &self->profiles, sizeof *profile);
        if (!profile || imap_put(&self->profile_by_id, e->id, profile))
            return err_nomem(err);
        profile->id = e->id;
    }
    const struct resource_request *from[] = {e->executor, e->task};
    const size_t counts[] = {e->executor_count, e->task_count};
    struct resource_request *copies[2];
    for (size_t k = 0; k < 2; k++) {
        copies[k] = arena_zalloc(&self->arena, counts[k], sizeof *copies[k]);
        if (!copies[k])
            return err_nomem(err);
        for (size_t i = 0; i < counts[k]; i++) {
            copies[k][i].amount = from[k][i].amount;
            if (arena_str(&self->arena, from[k][i].name, &copies[k][i].name) || arena_str(&self->arena, from[k][i].resource_name, &copies[k][i].resource_name) ||
                redact_copy(&self->arena, from[k][i].discovery_script, &copies[k][i].discovery_script) || redact_copy(&self->arena, from[k][i].vendor, &copies[k][i].vendor))
                return err_nomem(err);
        }
    }
    profile->executor = copies[0];
    profile->executor_count = counts[0];
    profile->task = copies[1];
    profile->task_count = counts[1];
    self->environment_dirty = true;
    return ERR_OK;
}

enum err_code model_process_added(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_process_added *e = &event->process_added;
    model_time(self, e->time_ms);
    struct process *process = smap_get(&self->process_by_id, e->id);
    if (!process) {
        process = model_entity(self, &self->processes, sizeof *process);
        if (!process || arena_str(&self->arena, e->id, &process->id) || smap_put(&self->process_by_id, process->id, process))
            return err_nomem(err);
        process->add_ms = e->time_ms;   /* of the first event of that id */
    }
    process->cores = e->cores;
    self->environment_dirty = true;
    enum err_code rc = model_str(self, &process->host_port, e->host_port, err);
    return rc ? rc : model_kv_copy(self, &process->logs, &e->logs, err);
}

void model_stage_set_excluded(struct app_model *self, struct executor *executor, int64_t stage_id, bool excluded)
{
    size_t at = 0;
    while (at < executor->excluded_count && executor->excluded_in_stages[at] < stage_id)
        at++;
    bool is_there = at < executor->excluded_count && executor->excluded_in_stages[at] == stage_id;
    if (is_there == excluded)
        return;
    executor->dirty = true;
    if (!excluded) {
        self->stage_exclusion_count--;
        memmove(executor->excluded_in_stages + at, executor->excluded_in_stages + at + 1, (--executor->excluded_count - at) * sizeof *executor->excluded_in_stages);
        return;
    }
    if (mem_grow((void **)&executor->excluded_in_stages, &executor->excluded_capacity, executor->excluded_count + 1, MODEL_MAX_ENTITIES, sizeof *executor->excluded_in_stages))
        return;   /* out of memory shows at the next allocation that is checked; the exclusion itself is in the exclusion table */
    memmove(executor->excluded_in_stages + at + 1, executor->excluded_in_stages + at, (executor->excluded_count++ - at) * sizeof *executor->excluded_in_stages);
    executor->excluded_in_stages[at] = stage_id;
    self->stage_exclusion_count++;
}

static bool on_host(const struct executor *executor, struct str host)
{
    if (str_is(executor->executor_id, "driver"))
        return false;
    if (str_known(executor->host))
        return str_eq(executor->host, host);
    return executor->host_port.len > host.len && memcmp(executor->host_port.ptr, host.ptr, host.len) == 0 && executor->host_port.ptr[host.len] == ':';
}

/* What is read about a stage behind its last word is not in the History Server's record of it. */
static bool is_open(const struct stage *stage)
{
    return !stage->done && stage->status != STAGE_SKIPPED;
}

static enum err_code exclude_for_stage(struct app_model *self, struct executor *executor, const struct event_exclusion *e, struct err *err)
{
    struct stage *stage = model_stage_find(self, e->stage_id, known_or(e->stage_attempt, 0));
    if (stage && is_open(stage)) {
        struct executor_stage *summary = model_executor_stage(self, stage, executor);
        if (!summary)
            return err_nomem(err);
        summary->is_excluded = 1;
    }
    if (executor->active)
        model_stage_set_excluded(self, executor, e->stage_id, true);
    return ERR_OK;
}

/* Versions from 3.1 write each fact in both spellings: one row. */
static bool is_twin(const struct app_model *self, const struct event_exclusion *e)
{
    for (size_t i = self->exclusions.count; i > 0 && self->exclusions.count - i < 16; i--) {
        const struct exclusion *x = self->exclusions.items[i - 1];
        if (x->time_ms == e->time_ms && x->lifted == e->lifted && x->stage_id == e->stage_id && x->stage_attempt == e->stage_attempt && str_eq(x->executor_id, e->executor_id) &&
            str_eq(x->host, e->host))
            return true;
    }
    return false;
}

/* -1: out of memory. */
static int note_exclusion(struct app_model *self, const struct event_exclusion *e)
{
    struct exclusion *row = model_entity(self, &self->exclusions, sizeof *row);
    if (!row || arena_str(&self->arena, e->executor_id, &row->executor_id) || arena_str(&self->arena, e->host, &row->host))
        return -1;
    row->time_ms = e->time_ms;
    row->lifted = e->lifted;
    row->stage_id = e->stage_id;
    row->stage_attempt = e->stage_attempt;
    row->failures = e->failures;
    return 0;
}

enum err_code model_exclusion(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_exclusion *e = &event->exclusion;
    if (!is_twin(self, e) && note_exclusion(self, e))
        return err_nomem(err);
    if (known(e->stage_id) && str_known(e->executor_id) && !model_executor_get(self, e->executor_id))   /* one that nothing else tells of has its line in the stage */
        return err_nomem(err);
    for (size_t i = 0; i < self->executors.count; i++) {
        struct executor *executor = self->executors.items[i];
        bool by_id = str_known(e->executor_id) && str_eq(executor->executor_id, e->executor_id);
        bool meant = by_id ? executor->active || (known(e->stage_id) && !executor->superseded) : executor->active && str_known(e->host) && on_host(executor, e->host);
        if (!meant)
            continue;
        if (known(e->stage_id)) {
            enum err_code rc = exclude_for_stage(self, executor, e, err);
            if (rc)
                return rc;
        } else {
            executor->is_excluded = !e->lifted;
            executor->dirty = true;
        }
    }
    return ERR_OK;
}

/* A driver's heartbeat tells of a stage once more after its end: that is the next stage's use of memory and counts for nobody. */
static enum err_code raise_stage_peaks(struct app_model *self, struct executor *executor, int64_t stage_id, int64_t attempt, const int64_t *peaks, struct err *err)
{
    struct stage *stage = model_stage_find(self, stage_id, attempt);
    if (!stage || !is_open(stage))
        return ERR_OK;
    struct executor_stage *summary = model_executor_stage(self, stage, executor);
    if (!summary)
        return err_nomem(err);
    if (peaks_measured(peaks))
        summary->peaks_set = stage->peaks_set = 1;
    peaks_raise(summary->peaks, peaks);
    peaks_raise(stage->peaks, peaks);
    stage->dirty = true;
    return ERR_OK;
}

enum err_code model_stage_executor_metrics(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_stage_executor_metrics *e = &event->stage_executor_metrics;
    struct executor *executor = model_executor_get(self, e->executor_id);
    if (!executor)
        return err_nomem(err);
    executor->peaks_set |= peaks_measured(e->peaks);
    peaks_raise(executor->peaks, e->peaks);
    executor->dirty = true;
    return raise_stage_peaks(self, executor, e->stage_id, e->stage_attempt, e->peaks, err);
}

enum err_code model_executor_metrics_update(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_executor_metrics_update *e = &event->executor_metrics_update;
    enum err_code rc = model_tasks_reported(self, e->tasks, e->task_count, err);
    if (rc || !e->count)
        return rc;
    struct executor *executor = model_executor_get(self, e->executor_id);
    if (!executor)
        return err_nomem(err);
    for (size_t i = 0; i < e->count; i++) {
        executor->peaks_set |= peaks_measured(e->items[i].peaks);
        peaks_raise(executor->peaks, e->items[i].peaks);
        executor->dirty = true;
        if ((rc = raise_stage_peaks(self, executor, e->items[i].stage_id, e->items[i].stage_attempt, e->items[i].peaks, err)))
            return rc;
    }
    return ERR_OK;
}
