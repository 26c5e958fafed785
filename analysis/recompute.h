/* SPDX-License-Identifier: Apache-2.0
 *
 * Rule RDD.RECOMPUTE (spec/findings.md 7.6): the same thing computed again. What is the same is found out in two places: RDDs by lineage (rules_reuse.c), parts of query plans by what they say
 * (rules_sql_fragment.c); it is told here. One thread. */
#ifndef ANALYSIS_RECOMPUTE_H
#define ANALYSIS_RECOMPUTE_H

#include "analysis/judge.h"

/* One action's computation of it. */
struct computation {
    const uint32_t *stages;          /* positions, borrowed; the first one is named */
    size_t stage_count;
    double cost_ms;                  /* Σ o' of them */
};

/* In order of time, two or more. Of each later one goes what the cheapest cost (W11). */
void recompute_tell(const struct judged *judged, struct findings *findings, const struct computation *at, size_t count, enum subject_kind kind, const char *key, struct str name);

#endif
