/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stage and which query of one run is which of another one (spec/findings.md 9.2). Ids mean nothing across runs; what counts is what is done, and in which order:
 *
 *   1  queries with the same first plan, the k-th with the k-th; in such a pair, stages with the same fingerprint, in order
 *   1b queries that are left, with the same description, the k-th with the k-th: the same place in the program, whose plan is another one now
 *   2  stages that are left, with the same fingerprint, in order
 *   3a stages that are left, by call site, by their place between stages of their job that were matched, and by how much they read, to a power of two: a table that is joined in another way is read
 *      in another order, and it is the same table still
 *   3b stages that are left, by call site and place alone
 *   4  what remains was added or removed
 *
 * Pure functions over two records; memory: some words a stage. */
#ifndef ANALYSIS_MATCH_H
#define ANALYSIS_MATCH_H

#include "analysis/run_record.h"
#include "base/buf.h"

#define NO_MATCH UINT32_MAX

struct run_match {
    uint32_t *stage_in_new, *stage_in_base; /* by position in the base's stages: position in the new run's; and the other way round. Owned */
    uint32_t *query_in_new, *query_in_base;
    double share; /* of both runs' task time, how much is in stages that have a counterpart, or whose query has one; 1 where there is no task time */
};

enum err_code run_match_make(struct run_match *ret, const struct run_record *base, const struct run_record *new_run, struct err *err) WARN_UNUSED;
void run_match_dispose(struct run_match *self);

/* Position of the query of a stage in its record's queries; NO_MATCH: none. */
uint32_t run_query_of(const struct run_record *record, const struct run_stage *stage);

/* The key that a finding's subject of the base has in the new run, into `out`; false: it has no counterpart. Subjects whose keys mean the same in every run (hosts, settings,
 * executors, the application) keep theirs. */
bool run_match_subject(const struct run_match *self, const struct run_record *base, const struct run_record *new_run, enum subject_kind kind, struct str key, struct buf *out);

#endif
