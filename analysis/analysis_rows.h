/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of analysis as rows (end of schema.sql), and findings read back for other thresholds. Writing wants them cleared; the caller has a transaction open.
 * What pages look at for a whole application is kept in full; per stage and job only as much as somebody may open: see the limits. */
#ifndef ANALYSIS_ANALYSIS_ROWS_H
#define ANALYSIS_ANALYSIS_ROWS_H

#include "analysis/judge.h"
#include "analysis/slot_use.h"
#include "base/db.h"

/* Stages and jobs that keep their accounts and distributions: those with most work. */
#define DETAILED_STAGES 500
#define DETAILED_JOBS 500
/* Driver gaps, the longest. Segments of the chain: from some ten thousand on, neighbours that are short beside the run become one of label `short`. */
#define STORED_GAPS 10000
#define STORED_SEGMENTS 10000

struct analysis_result {
    const struct judged *judged;
    const struct findings *findings;
    const struct slot_use *slot_use;
    const struct joint_price *joint;
    size_t joint_count;
};

enum err_code analysis_rows_clear(struct db *app, struct err *err) WARN_UNUSED;
enum err_code analysis_rows_write(struct db *app, const struct analysis_result *result, struct err *err) WARN_UNUSED;
/* The last thing to write: how long it all took, rows included. */
enum err_code analysis_rows_end(struct db *app, int64_t duration_ms, struct err *err) WARN_UNUSED;

/* All findings in their stored order; texts in `arena`. Rules that this program does not know are left out. ERR_NOT_FOUND: analysis has not run. */
struct stored_findings {
    struct finding *items;           /* in the arena */
    size_t count;
    int64_t wall_ms, completeness;
    int64_t version;                 /* ANALYSIS_VERSION of whoever wrote them */
};
enum err_code analysis_rows_read(struct db *app, struct arena *arena, struct stored_findings *ret, struct err *err) WARN_UNUSED;

#endif
