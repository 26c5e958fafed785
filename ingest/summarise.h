/* SPDX-License-Identifier: Apache-2.0
 *
 * What the list of runs shows of an analysed run (run_summary.h, run_history.h, the marks for skew and GC), read out of its file and put into words in every language, with the default
 * thresholds. Some milliseconds a run: it reads all findings. Any thread. */
#ifndef INGEST_SUMMARISE_H
#define INGEST_SUMMARISE_H

#include "base/db.h"
#include "base/err.h"
#include "ingest/store/run_history.h"
#include "ingest/store/run_summary.h"

struct run_judgement {
    int64_t skew_grade, gc_grade; /* UNKNOWN: not judged */
    struct run_history history;
    struct run_summary summary;
};

/* Of the database of a run. A run that was not analysed is no error: its parts say that they are not known. Dispose in every case. */
enum err_code summarise(struct run_judgement *ret, struct db *app, struct err *err) WARN_UNUSED;

/* The same of STORE/apps/<key>.db. */
enum err_code summarise_run(struct run_judgement *ret, const char *store_dir, const char *app_key, struct err *err) WARN_UNUSED;

void run_judgement_dispose(struct run_judgement *self); /* idempotent */

#endif
