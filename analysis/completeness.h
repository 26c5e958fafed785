/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of what a log should hold is there (spec/findings.md 2.2): C from 0 to 100, and what is missing, as numbers for texts. Pure: over the counts and stages of facts. What C gates
 * (2.3) is the callers'. */
#ifndef ANALYSIS_COMPLETENESS_H
#define ANALYSIS_COMPLETENESS_H

#include "analysis/facts.h"

/* The kinds of things that can be missing: "4,212 of 128,152 task ends are missing". */
enum missing_kind { MISSING_TASK_SUCCESSES, MISSING_TASK_ENDS, MISSING_STAGE_ENDS, MISSING_JOB_ENDS, MISSING_SQL_ENDS, MISSING_FILES, MISSING_LINES /* that could not be read */, MISSING_KIND_COUNT };
extern const char *const missing_kind_names[MISSING_KIND_COUNT];

/* Why C is not higher than some bound, whatever the shares say. */
enum completeness_cap { CAP_NO_APP_START, CAP_COMPACTED, CAP_ROLL_GAP, CAP_NO_APP_END, CAP_TAIL_CUT, CAP_BAD_LINES, COMPLETENESS_CAP_COUNT };
extern const char *const completeness_cap_names[COMPLETENESS_CAP_COUNT];

struct missing {
    int64_t count, of;               /* of 0: nothing of the kind was expected */
};

#define COMPLETE_FOR_PRICES 95       /* points from which on the run may be simulated under other conditions (2.3) */

struct completeness {
    int score;                       /* C */
    bool final;                      /* an end was read, or the log's name says that it is finished: only then is what is open missing */
    double tasks, open, stages, jobs, sqls, files, lines;     /* f_… of 2.2, 0 … 1 */
    struct missing missing[MISSING_KIND_COUNT];
    unsigned caps;                   /* bits 1 << enum completeness_cap: those that hold, whether they bind or not */
};

struct completeness completeness_of(const struct facts *facts);

#endif
