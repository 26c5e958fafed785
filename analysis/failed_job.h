/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed job that tells why a run failed: the last one that nobody cancelled, for a cancelled job says no more than that; the last one where all were cancelled. What a streaming query was at when
 * somebody stopped it did not fail: that is how such a query ends. */
#ifndef ANALYSIS_FAILED_JOB_H
#define ANALYSIS_FAILED_JOB_H

#include "base/arena.h"
#include "base/db.h"

/* Of a row of job that failed: 1 where its streaming query was stopped, and did not end with an error. */
#define STOPPED_WITH_ITS_QUERY "coalesce(job_group IN (SELECT run_id FROM streaming_query WHERE end_seen AND exception_text_id IS NULL), 0)"

/* `app`: an application's database. *ret_job_id is UNKNOWN where no job failed. *ret_text, in `arena`: what it says; STR_NONE: nothing. One thread. */
enum err_code failed_job(struct db *app, struct arena *arena, int64_t *ret_job_id, struct str *ret_text, struct err *err) WARN_UNUSED;

#endif
