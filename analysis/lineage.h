/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tasks of each stage computed of the RDDs that the log lists for it. A list names everything behind the stage up to its shuffles, also what lies behind a cached RDD and
 * was not computed again; so each stage is walked from its last RDD backwards, and the walk ends at RDDs that were persisted then (spec/findings.md 7.6). Linear in the rows of
 * stage_rdd and rdd_parent. Only stages that ran tasks; first attempts alone (a retry is no second use). One thread. */
#ifndef ANALYSIS_LINEAGE_H
#define ANALYSIS_LINEAGE_H

#include "analysis/facts.h"

struct lineage_use {
    uint32_t rdd, stage; /* positions in facts */
};

struct lineage {
    struct lineage_use *computed; /* RDDs made of a source or a cache, persisted neither: not those that come from shuffles alone, whose
                                     files were kept; by (rdd, begin of the stage); owned, as `met` */
    struct lineage_use *met;      /* persisted ones: the first stage filled them, those behind read them or filled them again; likewise ordered */
    size_t computed_count, met_count;
};

enum err_code lineage_make(struct lineage *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void lineage_dispose(struct lineage *self); /* of a zeroed one, too */

/* Where the uses of the RDD at `position` begin, and how many they are. */
size_t lineage_uses(const struct lineage_use *uses, size_t count, uint32_t rdd, size_t *ret_count);

#endif
