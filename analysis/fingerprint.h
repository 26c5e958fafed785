/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stage or a query is, whatever its ids, its dates and its numbers are in one run: a 64-bit hash of its texts after everything that changes from run to run was replaced
 * (spec/findings.md 9.2). Equal in two runs: the same work. The hash (XXH3) is the same on every machine and in every version, so it may be stored and compared across files. */
#ifndef ANALYSIS_FINGERPRINT_H
#define ANALYSIS_FINGERPRINT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

/* A name of an application, a setting's value (9.1): lower case; dates, times, UUIDs, hex of 8 digits or more and integers of 3 digits or more become one '#', also where several of
 * them follow one another with one separator between. "Load 2026-11-29_04:30 part 1024" → "load # part #". */
void clean_name(struct buf *out, struct str name);

/* A plan node's description, an RDD's scope (9.2): expression ids "k#2L" → "k#", numbers and dates → '?', "pythonUDF3" → "pythonUDF", suffixes of temporary views → "_?", paths → their last
 * two directories with dates and partition values as '*'. */
void clean_plan(struct buf *out, struct str text);

/* A place in the user's code without lines: the file (or class) of the first frame of `details` that is not Spark's or the language's own, then the stage's name without " at FILE:LINE". Where
 * no frame is the user's (Python), the file that the name ends with. */
void clean_call_site(struct buf *out, struct str name, struct str details);
/* "collect at job.py:37" → "collect"; anything else stays. */
struct str call_site_verb(struct str name);

uint64_t fingerprint_of(struct str text);
/* Of several, in order. */
uint64_t fingerprint_join(const uint64_t *parts, size_t count);

/* Fills stage_fingerprint and sql_fingerprint from the facts; what is there goes. Part of analyse(). Memory: 24 bytes for each node and each metric of the plans; plans beyond
 * FINGERPRINT_MAX_METRICS do not take part in the fingerprints of their stages. */
#define FINGERPRINT_MAX_METRICS ((size_t)1 << 22)
enum err_code fingerprints_write(struct db *app, struct err *err) WARN_UNUSED;

#endif
