/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tasks of one stage attempt are like, and why some were slow (spec/findings.md 4 and 5). Pure functions over arrays: no database, so that synthetic stages can be
 * judged in tests. Over winners with metrics. One thread, of large stages two while a call runs; scratch memory of a few arrays of the stage's length while a call runs. */
#ifndef ANALYSIS_STAGE_STATS_H
#define ANALYSIS_STAGE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/distribution.h"
#include "base/beside.h"
#include "base/err.h"

/* What is known of each task; also the columns of which a distribution is stored (stage_distribution.name). ms, bytes, counts. */
#define STAT_COLUMNS(X)                                                                                                                                                \
    X(OCCUPANCY, "occupancy_ms", 1)                                                                                                                                    \
    X(RUN, "run_ms", 1)                     /* R, D, S, G: clipped so that with the delay they sum to the occupancy (3.4) */                                           \
    X(DESER, "deser_ms", 1)                                                                                                                                            \
    X(SER, "ser_ms", 1)                                                                                                                                                \
    X(GETRES, "getres_ms", 1)                                                                                                                                          \
    X(DELAY, "delay_ms", 1)                                                                                                                                            \
    X(CPU, "cpu_ms", 1)                     /* cpu, gc, fetch, shwrite: parts of R and D, as their buckets (3.4) */                                                    \
    X(GC, "gc_ms", 1)                                                                                                                                                  \
    X(FETCH, "fetch_wait_ms", 1)                                                                                                                                       \
    X(SHWRITE, "shuffle_write_ms", 1)                                                                                                                                  \
    X(READ_RECORDS, "shuffle_read_records", 1)                                                                                                                         \
    X(READ_BYTES, "shuffle_read_bytes", 1024)                                                                                                                          \
    X(INPUT_RECORDS, "input_records", 1)                                                                                                                               \
    X(INPUT_BYTES, "input_bytes", 1024)                                                                                                                                \
    X(WRITE_RECORDS, "shuffle_write_records", 1)                                                                                                                       \
    X(WRITE_BYTES, "shuffle_write_bytes", 1024)                                                                                                                        \
    X(OUTPUT_RECORDS, "output_records", 1)                                                                                                                             \
    X(OUTPUT_BYTES, "output_bytes", 1024)                                                                                                                              \
    X(DISK_SPILL, "disk_spill_bytes", 1024)                                                                                                                            \
    X(MEMORY_SPILL, "memory_spill_bytes", 1024)                                                                                                                        \
    X(PEAK_MEMORY, "peak_memory_bytes", 1024)
enum stat_column {
#define X(id, name, floor) STAT_##id,
    STAT_COLUMNS(X)
#undef X
    STAT_COLUMN_COUNT,
};
extern const char *const stat_column_names[STAT_COLUMN_COUNT];

/* The winners with metrics of one stage attempt, by column; each array has `count` places, in (launch, task id) order. Numbers are finite and ≥ 0. */
struct stage_sample {
    size_t count;
    const int64_t *task_id;
    const uint32_t *executor;        /* numbers below executor_count */
    size_t executor_count;
    const bool *cold, *retried;      /* retried: its partition had more than one attempt. NULL: none is */
    const int8_t *locality;          /* 0 PROCESS_LOCAL, NODE_LOCAL, NO_PREF, RACK_LOCAL, 4 ANY; −1 unknown. NULL: all unknown */
    const double *of[STAT_COLUMN_COUNT];           /* NULL: 0 for all; occupancy and run are always there */
    bool has_cpu;                    /* CPU time is recorded */
    int64_t first_launch_ms, end_ms; /* W_s */
    double slots;                    /* S_s ≥ 1 */
};

/* List scheduling: the end of the last of `w` (≥ 0) put in order on the earliest of `slots` slots (rounded down, at least 1). O(n log slots). NaN: out of memory. */
double list_schedule(const double *w, size_t count, double slots);

enum cause {
    CAUSE_DELAY, CAUSE_WARMUP, CAUSE_DESER, CAUSE_SER, CAUSE_GETRES, CAUSE_DATA, CAUSE_EXECUTOR, CAUSE_GC, CAUSE_FETCH, CAUSE_SHWRITE, CAUSE_SPILL, CAUSE_LOCALITY, CAUSE_CODE_CPU,
    CAUSE_WAITING, CAUSE_UNEXPLAINED, CAUSE_COUNT, CAUSE_NONE = CAUSE_COUNT
};
extern const char *const cause_names[CAUSE_COUNT + 1];

/* Why one task took longer than the median (5.1). Milliseconds of all causes sum to excess_ms. */
struct slow_task {
    double excess_ms;                /* E; ≤ 0: not slower than the median, or fewer than three winners, and nothing below is set */
    double ms[CAUSE_COUNT];          /* ≥ 0 */
    enum stat_column data;           /* which size explains CAUSE_DATA: READ_RECORDS … INPUT_BYTES; STAT_COLUMN_COUNT: none */
    bool data_counts;                /* that size is a MiB or a thousand records at least; data is not named the cause otherwise */
    enum cause first;                /* the largest that may be named; CAUSE_NONE */
    double first_share;              /* of excess: name it at 0.2, call it the cause at 0.6 */
    bool retried;
};

/* What 5.1 compares a task with; made once a stage from its distributions, which stay borrowed. Up to 16 bytes a task; twice that while it is made. */
struct stage_medians;
enum err_code stage_distributions(const struct stage_sample *sample, struct distribution ret[STAT_COLUMN_COUNT], struct err *err) WARN_UNUSED;
enum err_code stage_medians_make(struct stage_medians **ret, const struct stage_sample *sample, const struct distribution of[STAT_COLUMN_COUNT], struct err *err) WARN_UNUSED;
void stage_medians_free(struct stage_medians *self);
enum cause largest_cause(const double ms[CAUSE_COUNT], bool data_counts);
struct slow_task why_slow(const struct stage_sample *sample, const struct stage_medians *medians, size_t k);

/* The outliers together (5.2). */
struct outliers {
    size_t count;                    /* with o' > cut_ms, all of them */
    double cut_ms;                   /* 1.5 × p75(o') */
    double ms[CAUSE_COUNT], total_ms;
    enum cause cause;                /* largest that may be named; CAUSE_NONE without outliers */
    double cause_share;              /* of total_ms */
    double warmup_share;
    bool warmup_mutes;               /* ≥ 50 %, and the others cost too little by themselves */
    bool beside_warmup;              /* ≥ 50 %, and the others cost enough: `cause` is theirs */
    bool any_retried;
    size_t worst;                    /* position of the largest task (ties: smaller task id), outlier or not; SIZE_MAX: no tasks */
    enum stat_column data;           /* the size that explains most of CAUSE_DATA; STAT_COLUMN_COUNT: none */
    bool data_counts;                /* as in slow_task, of any of them */
    size_t members[200];             /* positions, largest first; at most 200 are looked at */
    bool warming[200];               /* by member: warm-up is half of its excess or more */
    size_t member_count;
};

enum stage_verdict { VERDICT_MUTED, VERDICT_SLOW_HOST, VERDICT_FEW_SLOW /* see outliers.cause */, VERDICT_FEW_TASKS, VERDICT_MEMORY, VERDICT_GC, VERDICT_FETCH, VERDICT_DELAY,
                     VERDICT_DESER, VERDICT_SHWRITE, VERDICT_UNEVEN, VERDICT_OK, STAGE_VERDICT_COUNT };
extern const char *const stage_verdict_names[STAGE_VERDICT_COUNT];

/* 5.3 step 1. Of the executors that pass its two tests the dearest; when none does, the one with the largest ratio. */
struct slow_executor {
    uint32_t executor;               /* as in the sample; UINT32_MAX: none has five tasks beside five elsewhere, no ratio reaches 1.2, or the stage is muted */
    double ratio;                    /* r: its median ÷ the others', run time for equal data */
    double above_share;              /* of its tasks above the others' p75 */
    double cost_ms;                  /* Σ (o − o/r) / S, ≥ 0 */
    bool slow;                       /* r ≥ 1.5, share ≥ 0.7 */
};

struct stage_stats {
    struct distribution of[STAT_COLUMN_COUNT];
    double base_ms, rec_cap_ms, rec_spread_ms;     /* NaN: n < 2 */
    double gc_share;                 /* Σ min(gc, R+D) ÷ Σ (R+D); NaN where that is 0 */
    double eta2;                     /* between-executor share of the variance of R; 0 where R does not vary */
    struct outliers outliers;
    struct slow_executor slow_executor;
    enum stage_verdict verdict;
};
enum err_code stage_stats_make(struct stage_stats *ret, const struct stage_sample *sample, struct err *err) WARN_UNUSED;

/* The same in two steps, for who looks at a large stage beside: distributions and who its outliers are is there after the first, and stays as it is; base_ms, rec_cap_ms and rec_spread_ms
 * are made on another thread until the end of the second, which finds causes, the slow executor and the verdict. The second must follow a first that went well. */
struct stats_making {
    struct stage_stats *stats;
    const struct stage_sample *sample;
    double wall_ms;
    int64_t *scratch;                /* a place for each task; owned */
    struct beside recovering;
    enum err_code recovered;
};
bool stage_is_large(const struct stage_sample *sample); /* a second thread is worth its beginning */
enum err_code stage_stats_begin(struct stats_making *self, struct stage_stats *ret, const struct stage_sample *sample, struct err *err) WARN_UNUSED;
enum err_code stage_stats_end(struct stats_making *self, struct err *err) WARN_UNUSED;

#endif
