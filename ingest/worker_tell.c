/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_tell.h"

#include <string.h>

static void count_result(struct worker *self, const struct worker_result *result)
{
    struct worker_summary *s = self->summary;
    if (result->store_failed)
        s->store_failed_count++;
    else if (result->state == LOG_LOADED)
        s->loaded_count++;
    else if (result->state == LOG_PARTIAL)
        s->partial_count++;
    else if (result->state == LOG_FAILED)
        s->failed_count++;
    else if (result->state == LOG_SKIPPED) {
        s->skipped_count++;
        s->unreadable_count += strstr(result->flags, "unreadable") != NULL;
    }
}

void worker_tell(struct worker *self, const struct worker_result *result)
{
    count_result(self, result);
    if (self->options->on_result)
        self->options->on_result(self->options->context, result);
}

void worker_tell_row(struct worker *self, const struct catalog_row *row, bool fresh, bool store_failed)
{
    const struct worker_result result = {.path = row->path, .app_key = row->app_key, .app_id = row->app_id, .attempt_id = row->attempt_id,
        .state = store_failed ? LOG_FAILED : row->state, .complete = row->complete, .flags = row->flags, .bytes = row->bytes, .line_count = row->line_count,
        .bad_line_count = row->bad_line_count, .task_count = row->task_count, .load_ms = row->load_ms, .message = row->reason, .fresh = fresh, .store_failed = store_failed};
    worker_tell(self, &result);
}

void worker_tell_progress(struct worker *self)
{
    struct worker_progress progress = {.read_bytes = self->done_bytes, .total_bytes = self->total_bytes, .done_count = self->done_count, .total_count = self->total_count,
        .listing_count = self->to_list.count + crew_started_count(&self->crew, JOB_LIST)};
    int64_t largest = -1;
    for (size_t i = CREW_LOADERS_FROM; i < self->crew.count; i++) {
        struct job *job = &self->crew.jobs[i];
        if (job->state == JOB_FREE)          /* only this thread frees a job */
            continue;
        progress.read_bytes += atomic_load(&job->read_bytes);
        if (job->item.bytes > largest) {
            largest = job->item.bytes;
            progress.path = job->path;
        }
    }
    if (self->options->on_progress)
        self->options->on_progress(self->options->context, &progress);
}

enum err_code worker_tell_log(struct worker *self, int64_t log_id, bool fresh, bool store_failed, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (!rc)
        worker_tell_row(self, &row, fresh, store_failed);
    return rc;
}
