/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulator (spec/findings.md 6.2–6.6): the run again under its own scheduler's rules, with other costs. A `simulation` holds nodes, items, releases and slots calibrated from
 * the log; scenarios are lists of changes to it; a price is the difference of two runs. Integer ms, no randomness: the same input gives the same result. One thread makes a
 * simulation; runs over it may go side by side (it is not changed), but for changes that read values of tasks, which share the database. */
#ifndef ANALYSIS_SIMULATE_H
#define ANALYSIS_SIMULATE_H

#include "analysis/account.h"
#include "analysis/facts.h"
#include "analysis/stage_stats.h"

struct simulation;                   /* simulation.h */

/* `accounts` gives gaps and T_jobs, and is not looked at before it is calibrated or a change asks for gaps. Both are borrowed while the simulation lives. Calibrates, and runs once as observed. 8 bytes a task; some 32 more while it is made. */
enum err_code simulation_make(struct simulation **ret, const struct facts *facts, const struct accounts *accounts, struct err *err) WARN_UNUSED;
void simulation_free(struct simulation *self);

/* Changes of 6.5. Applied in the order of 6.6 whatever their order here. */
enum change_kind { CHANGE_NO_LOST, CHANGE_DROP, CHANGE_HOST, CHANGE_CAP, CHANGE_SPREAD, CHANGE_PART, CHANGE_SPILL, CHANGE_LAG /* nothing lies between the stage and what it
                   waits for, nor between it and the end of its job */, CHANGE_FACTOR, CHANGE_SPLIT, CHANGE_MERGE, CHANGE_GAPS, CHANGE_SLOTS, CHANGE_RAMP,
                   CHANGE_STARTUP, CHANGE_ZERO /* no work, all lags: what is saved is the stage's highest price (6.6) */ };
struct change {
    enum change_kind kind;
    uint32_t stage;                  /* position; NO_ENTITY: all, or not a stage's */
    uint32_t executor;               /* HOST */
    uint32_t lost_kinds;             /* NO_LOST: bits 1 << enum lost_kind; 0: all */
    const bool *lost_attempts;       /* NO_LOST, may be NULL: only these, by position of attempt */
    enum bucket part;                /* PART, FACTOR; SCHED_WAIT: what lies between two tasks on a slot while others wait */
    double number;                   /* DROP: share of the cost that stays; HOST: ratio r; PART: target (ms, or share of R+D for gc); SPILL: ms a byte on disk; FACTOR: x; SPLIT: f; MERGE: m; SLOTS: k, INFINITY: no limit; GAPS, STARTUP: τ in ms */
    bool first_wave_apart;           /* CAP, SPREAD: the first tasks on a slot are normal up to 1.5 × their own median */
    bool warm_only;                  /* PART: the first tasks on a slot stay as they were, for they warm up */
    double overhead_ms;              /* SPLIT, MERGE: v of 6.5 where it is known already (stage_extra.h), else 0 */
    int64_t executors;               /* SLOTS: executors of the usual size more or less instead of a factor, when not 0; one stays */
    const size_t *gaps;              /* GAPS: positions in accounts->gaps */
    size_t gap_count;
};

struct simulated {
    int64_t wall_ms;
    bool grew;                       /* slots were added and it took longer: Graham's anomaly, kept */
    size_t items;                    /* that it went through: its cost, for budgets. Some 0.1 µs each */
};
/* PART, SPILL and FACTOR, and SPLIT and MERGE without their overhead, read the stage's values from the database of facts; the others touch nothing but the simulation. */
bool change_reads_values(const struct change *change);
/* The same change twice is done once. */
enum err_code simulation_run(const struct simulation *self, const struct change *changes, size_t count, struct simulated *ret, struct err *err) WARN_UNUSED;

/* The run without any lost work (W4), simulated once: what-ifs ask for it, and the ledger of a run that lost all for one cause. Any thread; who comes second waits. */
enum err_code simulation_without_lost(const struct simulation *self, struct simulated *ret, struct err *err) WARN_UNUSED;

struct calibration {
    int64_t observed_ms, as_observed_ms;           /* wall; sim(as observed) */
    double error;                    /* e = (sim − wall) ÷ T_jobs, which counts as 1 ms at least */
    int64_t t_inf_ms, t_work_ms;     /* bounds */
    bool prices_allowed;             /* |e| ≤ 0.15, and the log is complete enough: prices and what-ifs are told (2.3) */
};
enum err_code simulation_calibrate(const struct simulation *self, struct calibration *ret, struct err *err) WARN_UNUSED;

/* e of one job: simulated ÷ observed length − 1; NaN where it had none. */
double simulation_job_error(const struct simulation *self, uint32_t job);

struct price {
    int64_t ms, low_ms, high_ms;     /* ≥ 0; UNKNOWN: none */
};
/* A price with its band (6.4). */
enum band { BAND_NORMAL, BAND_WEAK, BAND_SLOTS };
struct price price_of(const struct calibration *calibration, int64_t saved_ms, enum band band);

/* What-ifs of the whole run, for table what_if: W4, W5 (gaps between and after jobs to 1 s), the scaling curve (W9: slots × 0.1 … 5, an executor more and less), W10. None where no prices
 * are allowed. `wall_ms` is the observed wall less what the scenario saves. */
#define WHAT_IF_BUDGET_ITEMS(attempt_count) ((size_t)100000 + (size_t)(attempt_count))     /* all together; the last one may overdraw it. A small run gets all rows, a large one the first ones */
struct what_if {
    const char *scenario;            /* static */
    char subject[24];                /* W9 "0.1" … "5", "+1", "-1"; else "" */
    int64_t wall_ms, low_ms, high_ms;
};
struct what_if what_if_of(const struct calibration *calibration, const char *scenario, const char *subject, int64_t simulated_ms, enum band band);
enum err_code what_ifs_make(struct what_if **ret, size_t *ret_count, const struct simulation *simulation, const struct calibration *calibration, struct err *err) WARN_UNUSED;
void what_ifs_free(struct what_if *self);

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
