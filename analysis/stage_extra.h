/* SPDX-License-Identifier: Apache-2.0
 *
 * What single rules ask about the tasks of one stage attempt, beyond stage_stats.h: some passes over the same winners, while they are in memory. Pure. NaN: nothing to say. */
#ifndef ANALYSIS_STAGE_EXTRA_H
#define ANALYSIS_STAGE_EXTRA_H

#include "analysis/stage_stats.h"
#include "base/err.h"

/* Collections above this share of run and deserialisation time could go (W8 of STAGE.GC_HIGH). */
#define GC_TARGET_SHARE 0.05

/* STAGE.TINY_TASKS is about stages whose median task runs shorter than this. */
#define TINY_TASK_RUN_MS 500.0

/* One task, for evidence. */
struct extra_task {
    int64_t task_id;
    uint32_t executor;               /* as in the sample */
    double duration_ms, run_ms, gc_ms, read_bytes, read_records, disk_spill_bytes;
};

/* STAGE.SPILL: a regression over fewer says nothing. */
#define SPILL_LEAST_TASKS 20

struct stage_extra {
    struct extra_task worst, peer;   /* the longest, and the one nearest to the median duration */
    double gc_excess_ms;             /* Σ max(0, gc − 5 % of R + D) */
    double warm_count, warm_deser_ms, warm_serde_ms, warm_ms;     /* of warm tasks: how many, Σ D, Σ (D + S), Σ o' */
    double overhead_p50_ms;          /* v of W6 and W7: p50(o' − R); NaN where neither could apply: as many tasks as slots, half of them of half a second and more */
    double spilled_tasks;
    double spill_slope, spill_r2;    /* run time on bytes spilled to disk: ms a byte, and how much of the variance that explains; NaN below SPILL_LEAST_TASKS winners */
    double spill_outlier_share, gc_outlier_share;  /* of disk spill and of gc: what lies in outliers (5.2) */
    double retried_count;            /* partitions with more than one attempt */
    enum stat_column data_column;    /* STAGE.SKEW_DATA: which size read is most uneven; STAT_COLUMN_COUNT: nothing of weight is read */
    double data_ratio, data_max, data_median;
    struct extra_task data_task;     /* with data_max */
    bool big_reader;                 /* an outlier, or a task that is one among those after the first wave, reads a fifth of the stage's bytes or more */
    double outlier_read_ratio;       /* largest size read by an outlier ÷ median, of the first wave by the longest task alone; 0: nothing of weight is read */
    double write_ratio, write_max, write_median;   /* shuffle write or output, whichever has the larger task */
    double largest_bytes;            /* max of input, shuffle read, output, shuffle write over tasks */
    double away_count, near_count, away_ms;        /* tasks at RACK_LOCAL or ANY, at PROCESS_LOCAL or NODE_LOCAL; what the former lost */
    bool some_rack, some_any;        /* which of the two there are */
    int64_t last_near_task;          /* the latter's last to be launched; UNKNOWN: none */
    double read_rate_count, read_rate_min, read_rate_median;      /* STAGE.SLOW_STORAGE: tasks that tell, bytes a second */
    double slow_read_count, slow_read_ms;          /* a third of the median or less; what they lost */
    bool slow_read_busy;             /* they were collecting garbage or computing, not reading */
};
/* Of `stats` what is there after stage_stats_begin. */
enum err_code stage_extra_make(struct stage_extra *ret, const struct stage_sample *sample, const struct stage_stats *stats, struct err *err) WARN_UNUSED;

#endif
