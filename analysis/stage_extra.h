/* SPDX-License-Identifier: Apache-2.0
 *
 * What single rules ask about the tasks of one stage attempt, beyond stage_stats.h: one pass over the same winners, while they are in memory. Pure; NaN where there is nothing to say. */
#ifndef ANALYSIS_STAGE_EXTRA_H
#define ANALYSIS_STAGE_EXTRA_H

#include "analysis/stage_stats.h"
#include "base/err.h"

struct stage_extra {
    double delay_ms;                 /* Σ max(0, o' − R − D − S − G) */
    double warm_count, warm_serde_ms, warm_ms;     /* of warm tasks: how many, Σ (D + S), Σ o' */
    double deser_p25_ms;             /* p25 of D + S */
    double overhead_p50_ms;          /* v of W6 and W7: p50(o' − R) */
    double gc_ms;                    /* Σ gc */
    double spilled_tasks, spill_outlier_share, gc_outlier_share;      /* tasks with disk spill; share of its bytes, and of gc, in outliers (5.2) */
    double warmup_ms;                /* warm-up of the outliers (5.2) */
    double data_ratio, data_max, data_median;      /* STAGE.SKEW_DATA: the largest ratio over sizes read, its largest and median value */
    enum data_column data_column;
    size_t data_task;                /* position of the task with data_max */
    bool big_reader;                 /* one task reads ≥ 20 % of the stage's bytes and is an outlier (7.2) */
    double outlier_read_ratio;       /* largest size read among outliers ÷ median; 0: nothing is read */
    double write_ratio, write_max, write_median;   /* STAGE.SKEW_WRITE: shuffle write or output */
    double largest_bytes;            /* max over tasks of max(input, shuffle read, output, shuffle write) */
    double away_count, away_ms;      /* STAGE.LOCALITY: tasks at RACK_LOCAL or ANY, what they lost against the near ones */
    double near_count;
    double slow_read_count, slow_read_ratio, slow_read_min, slow_read_median;      /* STAGE.SLOW_STORAGE: bytes a second */
    double slow_read_ms;             /* what those tasks lost */
    double retried_count;
    double over_cut_ms;              /* Σ (o' − cut) of outliers */
};
enum err_code stage_extra_make(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, struct err *err) WARN_UNUSED;

#endif
