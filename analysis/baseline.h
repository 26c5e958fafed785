/* SPDX-License-Identifier: Apache-2.0
 *
 * What is usual for a job: its earlier runs, the median of what they took, and how much they differ anyway (spec/findings.md 9.1, 9.3). Found in the catalogue's run_history when somebody
 * asks, because it changes with every run; nothing of it is stored. */
#ifndef ANALYSIS_BASELINE_H
#define ANALYSIS_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/run_record.h"
#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"

#define BASELINE_MOST 20       /* the newest so many earlier runs are members … */
#define BASELINE_FEWEST 3      /* … and fewer than these say nothing (CO 3–30) */
#define BASELINE_AFTER_DRIFT 7 /* how many of them where the job has been changing all the time */

/* How far runs of one job lie apart in one number. */
struct noise {
    size_t count;              /* known values that went in */
    double median, mad, sigma; /* sigma: σ̂ = max(1.4826 MAD, 2 % of the median, 0.5 s for times); NaN where count is 0 */
    double allowed;            /* no change up to here: max(3 σ̂, 2 % of the median, 2 s for times) */
};
/* Sorts and overwrites `values`; NaN ones are left out. `unit` "ms": a time. */
struct noise noise_of(double *values, size_t count, const char *unit);
bool noise_no_change(const struct noise *noise, double value);
double noise_z(const struct noise *noise, double value); /* NaN: unknown, or everything is 0 */

/* The trend of values in order: the median of the slopes between all pairs, a step (Theil–Sen). 0 for fewer than two. */
double trend_of(const double *values, size_t count);

struct baseline_run {
    struct str app_key;
    int64_t begin_ms, wall_ms;
    int64_t generation; /* of its load or later analysis, as in the catalogue */
    struct str shape;
};

struct baseline {
    struct arena arena;
    struct str run_key;                         /* STR_NONE: the run's name says nothing, so nothing is usual for it */
    struct baseline_run members[BASELINE_MOST]; /* newest first */
    size_t member_count;
    size_t earlier_count; /* runs of this job before it that may be members, whatever they are made of; the newest 1000 are looked at */
    bool drifts;          /* the wall times have been going up or down by more than 20 % of the median: the newest 7 are the members */
    bool other_shape;     /* the run is made of other stages than its predecessors, which are the members all the same: what is usual for the job */
    size_t reference;     /* the member whose wall is nearest to the median; the newest of several */
    struct noise wall;
    int64_t median_ms;
};

/* Chooses members among `earlier`, newest first: the runs of the judged run's own series (stages in common, by time, at least half) when there are BASELINE_FEWEST of it, else the series of the newest
 * one. Pure; the members' texts stay borrowed. */
void baseline_choose(struct baseline *ret, const struct baseline_run *earlier, size_t count, struct str shape);

/* Whether somebody may know of a run. */
typedef bool baseline_allow_fn(void *context, struct str app_key);

/* Of a run in the catalogue, among runs that `allow` lets pass (NULL: all); runs from added logs are earlier ones of each
 * other only (DB_ADDED_MARK). ERR_NOT_FOUND: the catalogue has no history of this run (it was not analysed). A baseline with fewer members than BASELINE_FEWEST is no error. */
enum err_code baseline_find(struct baseline *ret, struct db *catalog, struct str app_key, baseline_allow_fn *allow, void *context, struct err *err) WARN_UNUSED;
void baseline_dispose(struct baseline *self); /* idempotent */

/* A number that changes with whatever a comparison with this baseline may tell: its members, and what was read and judged of them. For tags of answers; not for keeping across versions. */
uint64_t baseline_state(const struct baseline *self);

/* How far a member's wall is from the median, in ms. */
double baseline_distance(const struct baseline *self, size_t member);

/* How many members were faster than `wall_ms`: "slower than {r} of {n} runs". */
size_t baseline_rank(const struct baseline *self, int64_t wall_ms);

/* Noise of everything that runs are measured by, out of the members' own files below store_dir/apps. A member whose file cannot be read is left out. */
enum err_code baseline_measure(const struct baseline *self, const char *store_dir, struct noise ret[RUN_METRIC_COUNT], struct err *err) WARN_UNUSED;

#endif
