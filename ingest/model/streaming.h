/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured Streaming: one struct a run of a query. Progress does not stay here: each goes out through the row sink with the next number, so memory follows runs, not
 * batches. A progress or an end without a start makes its run (start_seen 0).
 * Texts live in the model's arena; `dirty` is cleared by the writer. */
#ifndef MODEL_STREAMING_H
#define MODEL_STREAMING_H

#include "ingest/model/app_model.h"

struct streaming_query {
    int64_t run_ref;                 /* from 1, in order of appearance */
    struct str run_id, query_id, name, error_class, job_tags;
    int64_t start_ms, start_seen, end_seen, exception_text_id;
    int64_t idle_count, last_idle_ms;
    bool dirty;
};

struct streaming_model {
    struct entities queries;         /* struct streaming_query */
    struct smap by_run_id;
    int64_t progress_count;          /* handed out; the last one's number */
};

#endif
