/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tasks of one stage attempt are like, and why some were slow (spec/findings.md 4 and 5). Pure functions over arrays: no database, so that synthetic stages can be
 * judged in tests. Over winners with metrics. One thread; scratch memory of a few arrays of the stage's length while a call runs. */
#ifndef ANALYSIS_STAGE_STATS_H
#define ANALYSIS_STAGE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The winners of one stage attempt, by column; each array has `count` places, in (launch, task id) order. */
struct stage_sample {
    size_t count;
    const int64_t *task_id;
    const uint32_t *executor;        /* any numbers that tell executors apart */
    const bool *cold, *retried;      /* retried: its partition had more than one attempt */
    const double *occupancy, *run, *deser, *ser, *getres;      /* ms, after 3.4's clipping where it says so: R D S G */
    const double *gc, *fetch, *shwrite, *cpu;                  /* ms; cpu NULL: not recorded */
    const double *input_bytes, *input_records, *read_bytes, *read_records, *output_bytes, *write_bytes, *write_records;   /* read: shuffle */
    const double *disk_spill, *memory_spill, *peak_memory;     /* bytes */
    const int *locality;             /* 0 PROCESS … 4 ANY; −1 unknown */
    int64_t first_launch_ms, end_ms;
    double slots;                    /* S_s ≥ 1 */
};

enum stat_column { STAT_OCCUPANCY, STAT_RUN, STAT_INPUT_BYTES, STAT_INPUT_RECORDS, STAT_READ_BYTES, STAT_READ_RECORDS, STAT_WRITE_BYTES, STAT_WRITE_RECORDS, STAT_OUTPUT_BYTES,
                   STAT_GC, STAT_FETCH, STAT_DISK_SPILL, STAT_PEAK_MEMORY, STAT_COLUMN_COUNT };
extern const char *const stat_column_names[STAT_COLUMN_COUNT];

/* Quantiles by linear interpolation (type 7), σ of the population. NaN where count is 0. */
struct distribution {
    size_t count;
    double sum, min, p25, p50, p75, p95, p99, max, mean, sigma;
    double ratio, r95, z, cv;        /* 4.3 */
};
/* `floor` of ratio: 1 ms, 1 KiB, 1 record. Sorts `scratch`, a copy the caller made. */
struct distribution distribution_of(double *scratch, size_t count, double floor);
double quantile_type7(const double *sorted, size_t count, double q);

/* List scheduling: the end of the last of `w` (≥ 0) put in order on the earliest of `slots` slots (rounded down, at least 1). O(n log slots). NaN: out of memory. */
double list_schedule(const double *w, size_t count, double slots);

enum cause {
    CAUSE_DELAY, CAUSE_WARMUP, CAUSE_DESER, CAUSE_SER, CAUSE_GETRES, CAUSE_DATA, CAUSE_EXECUTOR, CAUSE_GC, CAUSE_FETCH, CAUSE_SHWRITE, CAUSE_SPILL, CAUSE_LOCALITY, CAUSE_CODE_CPU,
    CAUSE_WAITING, CAUSE_UNEXPLAINED, CAUSE_COUNT, CAUSE_NONE = CAUSE_COUNT
};
extern const char *const cause_names[CAUSE_COUNT + 1];
enum data_column { DATA_READ_RECORDS, DATA_READ_BYTES, DATA_INPUT_RECORDS, DATA_INPUT_BYTES, DATA_NONE };

/* Why one task took longer than the median (5.1). Seconds of all causes sum to excess_ms. */
struct slow_task {
    double excess_ms;                /* E; ≤ 0: not slower than the median, and nothing below is set */
    double ms[CAUSE_COUNT];
    enum data_column data;           /* which size explains CAUSE_DATA */
    enum cause first;                /* the largest */
    double first_share;              /* of excess: name it at 0.2, call it the cause at 0.6 */
    bool retried;
};

struct stage_medians;                /* what 5.1 compares with; made once a stage */
enum err_code stage_medians_make(struct stage_medians **ret, const struct stage_sample *sample, struct err *err) WARN_UNUSED;
void stage_medians_free(struct stage_medians *self);
struct slow_task why_slow(const struct stage_sample *sample, const struct stage_medians *medians, size_t k);

/* The outliers together (5.2). */
struct outliers {
    size_t count;                    /* with o' > cut_ms, all of them */
    double cut_ms;                   /* 1.5 × p75(o') */
    double ms[CAUSE_COUNT], total_ms;
    enum cause cause;                /* largest; CAUSE_NONE without outliers */
    double cause_share;              /* of total_ms */
    double warmup_share;
    bool warmup_mutes;               /* ≥ 50 % */
    bool any_retried;
    size_t worst;                    /* position of the largest task */
    enum data_column data;
    size_t members[200];             /* positions, largest first; at most 200 are looked at */
    size_t member_count;
};

enum stage_verdict { VERDICT_MUTED, VERDICT_SLOW_HOST, VERDICT_FEW_SLOW /* see outliers.cause */, VERDICT_FEW_TASKS, VERDICT_MEMORY, VERDICT_GC, VERDICT_FETCH, VERDICT_DELAY,
                     VERDICT_DESER, VERDICT_SHWRITE, VERDICT_UNEVEN, VERDICT_OK, STAGE_VERDICT_COUNT };
extern const char *const stage_verdict_names[STAGE_VERDICT_COUNT];

struct slow_executor {               /* 5.3 step 1 */
    uint32_t executor;
    double ratio;                    /* r */
    double cost_ms;                  /* Σ (o − o/r) / S */
};

struct stage_stats {
    struct distribution of[STAT_COLUMN_COUNT];
    double base_ms, rec_cap_ms, rec_spread_ms;     /* NaN: n < 2 */
    double gc_share;                 /* Σ min(gc, R+D) ÷ Σ (R+D); NaN */
    double eta2;                     /* between-executor share of the variance of R */
    struct outliers outliers;
    struct slow_executor slow_executor;            /* worst; executor UINT32_MAX: none */
    enum stage_verdict verdict;
};
enum err_code stage_stats_make(struct stage_stats *ret, const struct stage_sample *sample, struct err *err) WARN_UNUSED;

#endif
