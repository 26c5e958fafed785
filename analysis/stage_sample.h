/* SPDX-License-Identifier: Apache-2.0
 *
 * The sample of one stage attempt (stage_stats.h) out of an application's facts: its winners with metrics, by column. One buffer is read into for stage after stage and grows to
 * the largest: 8 bytes a task and column that is not 0 throughout, and some 24 MiB of values on the way. Zeroed before the first use; freed by stage_samples_dispose. One thread. */
#ifndef ANALYSIS_STAGE_SAMPLE_H
#define ANALYSIS_STAGE_SAMPLE_H

#include "analysis/facts.h"
#include "analysis/stage_stats.h"

struct stage_samples {
    struct stage_sample sample; /* of the stage read last; points into the buffers */
    uint32_t *attempts;         /* position in facts->attempts, by place in the sample */
    uint32_t *executors;        /* position in facts->executors, by the sample's number of an executor */
    /* Internal: the buffers. */
    double *columns[STAT_COLUMN_COUNT + 1];        /* the last is filled and changes places with a column where not all is 0 */
    size_t column_room[STAT_COLUMN_COUNT + 1], room, executor_room, number_room, loser_room;
    int64_t *task_ids;
    uint32_t *executor_numbers, *numbers; /* by place; by position of executor: number + 1, 0: none yet */
    bool *cold, *retried;
    int8_t *locality;
    int32_t *losers;
};

/* `slots`: S_s, see struct stage_account. A stage without winners gives an empty sample. */
enum err_code stage_samples_read(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err) WARN_UNUSED;
void stage_samples_dispose(struct stage_samples *self);

#endif
