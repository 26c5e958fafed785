/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/time.h"
#include "ingest/load_verdict.h"
#include "ingest/store/catalog_policy.h"
#include "ingest/worker_arrivals.h"
#include "ingest/worker_count.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_schedule.h"
#include "ingest/worker_tell.h"

#define RETRY_LONGEST_NS (60 * NS_PER_S)     /* back within a minute once there is memory or disk again */

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

/* The log is not where it was: under another name, gone, or not to be read. */
static enum err_code log_moved(struct worker *self, struct job *job, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, job->item.log_id, &row, err);
    if (rc)
        return rc;
    worker_count_load(self, job, LOAD_END_GONE);
    if (job->rc != ERR_NOT_FOUND) {
        bool closed = job->rc == ERR_PERMISSION || job->rc == ERR_IO;
        const struct catalog_sighting sighting = {.place_id = row.place_id, .path = job->path, .fingerprint = "", .bytes = row.bytes, .modified_ms = row.modified_ms};
        rc = catalog_reject(self->catalog, &sighting, closed ? "unreadable" : "not-a-log", job->err.message, &row, err);
    } else if (job->entry.path && strcmp(job->entry.path, job->path) != 0) {
        const struct catalog_sighting sighting = worker_sighting_of(&job->entry, row.place_id);
        if ((rc = worker_see(self, &sighting, err)) || (rc = catalog_get(self->catalog, job->item.log_id, &row, err)))
            return rc;
        if (row.state == LOG_LOADING || row.state == LOG_WAITING)        /* the new name was there before: nothing was handed over */
            rc = catalog_gone(self->catalog, job->item.log_id, err);
        if (!rc)
            worker_finish(self, &job->item);
        return rc;
    } else {
        rc = worker_log_gone(self, job->item.log_id, err);
    }
    if (rc || (rc = worker_tell_log(self, job->item.log_id, true, false, err)))
        return rc;
    worker_finish(self, &job->item);
    return ERR_OK;
}

bool worker_error_passes(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_NO_SPACE || rc == ERR_DB || rc == ERR_BUSY || rc == ERR_IO || rc == ERR_PERMISSION || rc == ERR_CANCELLED || rc == ERR_AWAY;
}

/* Not the log's fault. While watching it is tried again, ever more slowly; else it is told, and left for the next start. */
static enum err_code put_off(struct worker *self, struct job *job, struct err *err)
{
    struct load_item item = job->item;
    char reason[320];
    snprintf(reason, sizeof reason, "not loaded: %s", job->err.message[0] ? job->err.message : err_code_name(job->rc));
    enum err_code rc;
    if (job->rc == ERR_BUSY) {               /* another process has it: its row is that process's */
        item.due_ns = time_monotonic_ns() + WORKER_FOREIGN_RETRY_NS;
        return worker_push_load(self, &item, err);
    }
    worker_count_put_off(self, job);
    if ((rc = catalog_load_put_off(self->catalog, item.log_id, job->rc == ERR_CANCELLED ? NULL : reason, err)))
        return rc;
    if (self->options->watch && job->kind == JOB_LOAD && job->rc != ERR_CANCELLED) {
        int64_t pause = MIN(WORKER_RETRY_FIRST_NS << MIN(item.attempts, 6), RETRY_LONGEST_NS);
        if (job->rc != ERR_AWAY)             /* that was said once, of the place */
            log_warning("%s: %s; next try in %lld s", job->path, reason, (long long)(pause / NS_PER_S));
        item.attempts++;
        item.due_ns = time_monotonic_ns() + pause;
        return worker_push_load(self, &item, err);
    }
    if (job->rc != ERR_CANCELLED && (rc = worker_tell_log(self, item.log_id, true, true, err)))
        return rc;
    worker_finish(self, &job->item);
    return ERR_OK;
}

static bool is_added(const char *added_dir, const char *dir)
{
    size_t len = added_dir ? strlen(added_dir) : 0;
    return len && strncmp(dir, added_dir, len) == 0 && (dir[len] == '/' || dir[len] == '\0');
}

static enum err_code list_done(struct worker *self, struct job *job, struct err *err)
{
    const struct listing *listing = &job->listing;
    const struct log_entry *entry = &job->entry;
    if (job->rc == ERR_NOMEM || job->rc == ERR_AWAY || job->rc == ERR_CANCELLED)
        return put_off(self, job, err);      /* while watching, the next scan finds it waiting */
    if (job->rc)
        return log_moved(self, job, err);
    char key[LISTING_KEY_BYTES];
    const struct catalog_run run = {.app_id = listing->app_id,
                                    .attempt_id = listing->has_attempt_id ? listing->attempt_id : NULL,
                                    .name = listing->has_start ? listing->name : NULL,
                                    .user = listing->has_start ? listing->user : NULL,
                                    .spark_version = text_or_null(listing->spark_version),
                                    .queue = text_or_null(listing->queue),
                                    .view_users = text_or_null(listing->view_users),
                                    .view_groups = text_or_null(listing->view_groups),
                                    .start_ms = listing->start_ms,
                                    .end_ms = listing->end_ms,
                                    .exit_code = listing->exit_code,
                                    .vendor_version = listing->vendor_version,
                                    .start_inferred = listing->start_inferred,
                                    .last_event_ms = UNKNOWN,
                                    .complete = listing->has_end};
    listing_app_key(run.app_id, run.attempt_id, entry->dir, is_added(self->options->added_dir, entry->dir), key);
    bool chosen;
    enum err_code rc = catalog_listed(self->catalog, job->item.log_id, key, &run, &chosen, err);
    if (rc)
        return rc;
    struct catalog_row row;
    if (chosen) {
        if ((rc = catalog_get(self->catalog, job->item.log_id, &row, err)))
            return rc;
        if (!worker_only_lists(self, &row, run.complete))
            return worker_push_load(self, &job->item, err);
        if ((rc = catalog_list_only(self->catalog, job->item.log_id, err)))
            return rc;
    }
    if ((rc = worker_tell_log(self, job->item.log_id, true, false, err)))
        return rc;
    worker_finish(self, &job->item);
    return ERR_OK;
}

static struct catalog_run run_of(const struct job *job)
{
    const struct load_report *report = &job->report;
    return (struct catalog_run){.app_id = report->app_id, .attempt_id = report->has_attempt_id ? report->attempt_id : NULL, .name = text_or_null(report->name),
        .user = text_or_null(report->user), .spark_version = text_or_null(report->spark_version), .queue = text_or_null(report->queue),
        .view_users = text_or_null(report->view_users), .view_groups = text_or_null(report->view_groups), .start_ms = report->start_ms,
        .end_ms = report->end_ms, .last_event_ms = report->last_event_ms, .complete = report->complete, .outcome = report->outcome, .duration_ms = report->duration_ms,
        .job_count = report->job_count, .failed_job_count = report->failed_job_count, .stage_count = report->stage_count, .failed_stage_count = report->failed_stage_count,
        .task_count = report->task_count, .failed_task_count = report->failed_task_count, .executor_count = report->executor_count,
        .lost_executor_count = report->lost_executor_count, .task_time_ms = report->task_time_ms, .gc_time_ms = report->gc_time_ms, .input_bytes = report->input_bytes,
        .output_bytes = report->output_bytes, .shuffle_read_bytes = report->shuffle_read_bytes, .shuffle_write_bytes = report->shuffle_write_bytes,
        .disk_spill_bytes = report->disk_spill_bytes, .exit_code = report->exit_code, .vendor_version = report->vendor_version, .start_inferred = report->start_inferred, .skew_grade = job->judgement.skew_grade, .gc_grade = job->judgement.gc_grade,
        .history = &job->judgement.history, .summary = &job->judgement.summary};
}

static enum err_code load_done(struct worker *self, struct job *job, struct err *err)
{
    if (job->rc && !job->probed && job->rc != ERR_NOMEM && job->rc != ERR_AWAY && job->rc != ERR_CANCELLED)
        return log_moved(self, job, err);    /* the look at it failed, not the load */
    if (job->rc && worker_error_passes(job->rc))
        return put_off(self, job, err);
    const struct load_report *report = &job->report;
    const struct catalog_sighting read = worker_sighting_of(&job->entry, UNKNOWN);
    struct catalog_run run = run_of(job);
    const struct load_verdict verdict = load_verdict_of(&job->entry, report, job->rc, &job->err);
    if (!run.app_id[0])
        run.app_id = job->entry.id_from_name;
    const enum log_state state = verdict.state;
    const char *flags = verdict.flags, *reason = text_or_null(verdict.reason);
    const struct catalog_result result = {.state = state, .flags = flags, .reason = reason, .read = &read, .generation = job->generation,
        .line_count = report->line_count, .bad_line_count = report->bad_line_count, .task_count = report->task_count, .load_ms = report->load_ms};
    enum err_code rc = catalog_load_done(self->catalog, job->item.log_id, &result, &run, err);
    if (rc)
        return rc;
    if (job->load && self->options->watch && !job->entry.finished_name)
        kept_loads_keep(&self->kept, job->item.log_id, job->app_key, TAKE(job->load));
    worker_finish(self, &job->item);
    worker_store_grew(self);
    worker_count_load(self, job, state == LOG_LOADED ? LOAD_END_LOADED : state == LOG_PARTIAL ? LOAD_END_PARTIAL : state == LOG_SKIPPED ? LOAD_END_EMPTY : job->rc ? LOAD_END_TOO_LARGE : LOAD_END_UNREADABLE);
    const struct worker_result told = {.path = job->path, .app_key = state == LOG_LOADED || state == LOG_PARTIAL ? job->app_key : NULL,
        .app_id = text_or_null(run.app_id), .attempt_id = run.attempt_id, .state = state, .complete = report->complete, .flags = flags, .bytes = report->stored_bytes,
        .line_count = report->line_count, .bad_line_count = report->bad_line_count, .task_count = report->task_count, .load_ms = report->load_ms,
        .message = reason, .fresh = true};
    worker_tell(self, &told);
    return ERR_OK;
}

enum err_code worker_act_on(struct worker *self, struct job *job, struct err *err)
{
    if (job->kind == JOB_CHECK)
        return worker_arrival_checked(self, job, err);
    return job->kind == JOB_LIST ? list_done(self, job, err) : load_done(self, job, err);
}
