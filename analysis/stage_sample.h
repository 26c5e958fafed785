/* SPDX-License-Identifier: Apache-2.0
 *
 * The sample of one stage attempt (stage_stats.h) out of an application's facts: its winners with metrics, by column. One buffer is read into for stage after stage and grows to
 * the largest: 8 bytes a task and column that is not 0 throughout. Zeroed before the first use; freed by stage_samples_dispose. One thread. */
#ifndef ANALYSIS_STAGE_SAMPLE_H
#define ANALYSIS_STAGE_SAMPLE_H

#include "analysis/facts.h"
#include "analysis/stage_stats.h"

#define NOT_IN_SAMPLE UINT32_MAX

struct stage_samples {
    struct stage_sample sample; /* of the stage at hand; points into the buffers */
    uint32_t *places;           /* in the sample, by the stage's attempts; NOT_IN_SAMPLE */
    uint32_t *executors;        /* position in facts->executors, by the sample's number of an executor */
    /* Internal: the buffers. */
    double *columns[STAT_COLUMN_COUNT];
    size_t column_room[STAT_COLUMN_COUNT], room, place_room, executor_room, number_room, loser_room;
    const struct attempt *stage_attempts; /* borrowed from facts */
    int64_t *task_ids;
    uint32_t *executor_numbers, *numbers; /* by place; by position of executor: number + 1, 0: none yet */
    bool *cold, *retried;
    int8_t *locality;
    int32_t *losers;
    uint64_t may_lose[1024];
    double delays_ms;
    size_t added; /* attempts whose values are in */
};

/* What a sample is made of: values of facts.h. */
#define SAMPLE_VALUES                                                                                                                                                  \
    (1U << VALUE_RUN_MS | 1U << VALUE_DESERIALIZE_MS | 1U << VALUE_SERIALIZE_MS | 1U << VALUE_GETTING_RESULT_MS | 1U << VALUE_GC_MS | 1U << VALUE_CPU_NS |                \
     1U << VALUE_FETCH_WAIT_MS | 1U << VALUE_SHUFFLE_WRITE_NS | 1U << VALUE_SHUFFLE_READ_RECORDS | 1U << VALUE_SHUFFLE_READ_BYTES | 1U << VALUE_INPUT_RECORDS |           \
     1U << VALUE_INPUT_BYTES | 1U << VALUE_SHUFFLE_WRITE_RECORDS | 1U << VALUE_SHUFFLE_WRITE_BYTES | 1U << VALUE_OUTPUT_RECORDS | 1U << VALUE_OUTPUT_BYTES |              \
     1U << VALUE_DISK_SPILL_BYTES | 1U << VALUE_MEMORY_SPILL_BYTES | 1U << VALUE_PEAK_MEMORY_BYTES | 1U << VALUE_LOCALITY)

/* `slots`: S_s, see struct stage_account. A stage without winners gives an empty sample. */
enum err_code stage_samples_read(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err) WARN_UNUSED;
/* The same in steps, for who takes the values of facts_value_batches for other things, too: begin, add for each batch, end. The sample is whole after the last one. */
enum err_code stage_samples_begin(struct stage_samples *self, const struct facts *facts, uint32_t stage, double slots, struct err *err) WARN_UNUSED;
enum err_code stage_samples_add(struct stage_samples *self, const struct task_values *values, const uint32_t *of_attempt, struct err *err) WARN_UNUSED;
void stage_samples_end(struct stage_samples *self);
void stage_samples_dispose(struct stage_samples *self);

#endif
