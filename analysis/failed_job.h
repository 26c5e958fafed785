/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed job that tells why a run failed: the last one that nobody cancelled, for a cancelled job says no more than that; the last one where all were cancelled. */
#ifndef ANALYSIS_FAILED_JOB_H
#define ANALYSIS_FAILED_JOB_H

#include "base/arena.h"
#include "base/db.h"

/* `app`: an application's database. *ret_job_id is UNKNOWN where no job failed. *ret_text, in `arena`: what it says; STR_NONE: nothing. One thread. */
enum err_code failed_job(struct db *app, struct arena *arena, int64_t *ret_job_id, struct str *ret_text, struct err *err) WARN_UNUSED;

#endif
