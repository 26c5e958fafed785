/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model hands out as it goes, because keeping it would make memory follow the number of tasks. Implemented by store/app_writer; a test may implement it too.
 * Rows are borrowed for the call. */
#ifndef MODEL_ROW_SINK_H
#define MODEL_ROW_SINK_H

#include "base/err.h"
#include "ingest/event/event.h"

enum task_status { TASK_NO_END, TASK_SUCCESS, TASK_FAILED, TASK_KILLED, TASK_FETCHING };   /* as task.status in schema.sql */

/* One row of table task; the names and their order are its columns. Nothing but numbers: store/task_store reads it as an array. */
struct task_row {
    int64_t task_seq, stage_ref, task_id, task_index, attempt, partition_id, executor_ref, host_ref;
    int64_t launch_ms, finish_ms, getting_result_ms;
    int64_t locality, speculative, status, end_reason, error_text_id, start_seen, has_metrics;
    int64_t metrics[TASK_METRIC_COUNT];
    int64_t peaks[EXECUTOR_METRIC_COUNT];
};

/* One row of table streaming_progress with its rows in streaming_source and streaming_state: a long-running query has a million of them. */
struct streaming_progress_row {
    int64_t run_ref, progress_no;
    int64_t sink_text_id;
    int64_t *source_text_ids;        /* descriptions, one a source of `progress` */
    const struct event_streaming_progress *progress;
};

struct stage;

struct row_sink {
    void *context;
    enum err_code (*task)(void *context, const struct task_row *row, struct err *err);
    enum err_code (*task_accumulable)(void *context, int64_t task_seq, int64_t ordinal, const struct accumulable *accumulable, struct err *err);
    enum err_code (*text)(void *context, int64_t text_id, struct str body, struct err *err);
    enum err_code (*streaming_progress)(void *context, const struct streaming_progress_row *row, struct err *err);
    /* The stage's end was read and no task of it runs: its per-executor sums may be taken out of it, its quantiles computed. Once a stage; what comes later is found at a
     * checkpoint. */
    enum err_code (*stage_done)(void *context, struct stage *stage, struct err *err);
};

#endif
