/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulator (spec/findings.md 6.2–6.6): the run again under its own scheduler's rules, with other costs. A `simulation` holds nodes, items, releases and slots calibrated from
 * the log; scenarios are lists of changes to it; a price is the difference of two runs. Integer ms, no randomness: the same input gives the same result. One thread a simulation;
 * runs over one simulation may go side by side (it is not changed). */
#ifndef ANALYSIS_SIMULATE_H
#define ANALYSIS_SIMULATE_H

#include "analysis/account.h"
#include "analysis/facts.h"
#include "analysis/stage_stats.h"

struct simulation;

/* `accounts` gives gaps and slots. */
enum err_code simulation_make(struct simulation **ret, const struct facts *facts, const struct accounts *accounts, struct err *err) WARN_UNUSED;
void simulation_free(struct simulation *self);

/* Changes of 6.5. Applied in the order of 6.6 whatever their order here. */
enum change_kind { CHANGE_NO_LOST, CHANGE_DROP, CHANGE_HOST, CHANGE_CAP, CHANGE_SPREAD, CHANGE_PART, CHANGE_FACTOR, CHANGE_SPLIT, CHANGE_MERGE, CHANGE_GAPS, CHANGE_SLOTS, CHANGE_RAMP,
                   CHANGE_STARTUP, CHANGE_ZERO };
struct change {
    enum change_kind kind;
    uint32_t stage;                  /* position; NO_ENTITY: all, or not a stage's */
    uint32_t executor;               /* HOST */
    uint32_t lost_kinds;             /* NO_LOST: bits 1 << enum lost_kind; 0: all */
    const bool *lost_attempts;       /* NO_LOST, may be NULL: only these, by position of attempt */
    enum bucket part;                /* PART, FACTOR */
    double number;                   /* HOST: ratio r; PART: target (ms, or share of R+D for gc); FACTOR: x; SPLIT: f; MERGE: m; SLOTS: k; GAPS, STARTUP: τ in ms */
    int64_t slots_delta;             /* SLOTS: executors more or less instead of a factor, when not 0 */
    const size_t *gaps;              /* GAPS: positions in accounts->gaps */
    size_t gap_count;
};

struct simulated {
    int64_t wall_ms;
    bool grew;                       /* slots were added and it took longer: Graham's anomaly, kept */
};
enum err_code simulation_run(const struct simulation *self, const struct change *changes, size_t count, struct simulated *ret, struct err *err) WARN_UNUSED;

struct calibration {
    int64_t observed_ms, as_observed_ms;           /* wall; sim(as observed) */
    double error;                    /* e = (sim − wall) ÷ T_jobs; 0 where T_jobs is 0 */
    int64_t t_inf_ms, t_work_ms;     /* bounds */
    bool prices_allowed;             /* |e| ≤ 0.15 */
};
enum err_code simulation_calibrate(const struct simulation *self, struct calibration *ret, struct err *err) WARN_UNUSED;

struct price {
    int64_t ms, low_ms, high_ms;     /* ≥ 0; UNKNOWN: none */
};
/* A price with its band (6.4). */
enum band { BAND_NORMAL, BAND_WEAK, BAND_SLOTS };
struct price price_of(const struct calibration *calibration, int64_t saved_ms, enum band band);

/* One segment of the observed critical chain (6.1). */
struct chain_segment {
    const char *label;               /* static: startup gap shutdown job_tail stage_lag task queue wait_exec launch_lag behind overlap */
    uint32_t job, stage, behind_stage;             /* positions; NO_ENTITY */
    size_t attempt;                  /* of label task; SIZE_MAX */
    enum bucket gap;                 /* class of label gap */
    int64_t from_ms, to_ms;
};
struct chain {
    struct chain_segment *segments;  /* ascending in time, contiguous; owned */
    size_t count;
    double *stage_ms;                /* on path, by position of stage; owned */
};
enum err_code chain_make(struct chain *ret, const struct facts *facts, const struct accounts *accounts, struct err *err) WARN_UNUSED;
void chain_dispose(struct chain *self);

#endif
