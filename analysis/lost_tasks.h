/* SPDX-License-Identifier: Apache-2.0
 *
 * Attempts whose work was lost, with the values that are asked of them alone. They are few among many, so they are picked while the values of all tasks are read (facts_value_batches)
 * and nobody reads columns again, or looks at all attempts, for their sake. 32 bytes each. */
#ifndef ANALYSIS_LOST_TASKS_H
#define ANALYSIS_LOST_TASKS_H

#include "analysis/facts.h"

struct lost_task {
    uint32_t attempt;                                       /* position; its kind is not WINNER */
    int64_t error_text_id, input_bytes, shuffle_read_bytes; /* UNKNOWN: not logged */
};

struct lost_tasks {
    struct lost_task *items; /* by attempt, so by stage; owned */
    size_t count, capacity;
};

#define LOST_VALUES (1U << VALUE_ERROR_TEXT_ID | 1U << VALUE_INPUT_BYTES | 1U << VALUE_SHUFFLE_READ_BYTES)

bool stage_loses_work(const struct stage_fact *stage);

/* Stage by stage in the order of facts, those that lose work: each batch of LOST_VALUES or more, then end. */
enum err_code lost_tasks_add(struct lost_tasks *self, const struct facts *facts, uint32_t stage, const struct task_values *values, const uint32_t *places,
                             struct err *err) WARN_UNUSED;
void lost_tasks_end_stage(struct lost_tasks *self, const struct facts *facts, uint32_t stage);
void lost_tasks_dispose(struct lost_tasks *self);

/* Those of one stage, out of all. */
struct lost_slice {
    const struct lost_task *items;
    size_t count;
};
struct lost_slice lost_tasks_of(const struct lost_tasks *self, const struct stage_fact *stage);

#endif
