/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks out of table task_column, batch by batch: a stage attempt that fits into one with one statement, the others chunk by chunk, and no statement a task. For facts_tasks.c alone. Made by
 * facts_read_tasks, ended by facts_close_tasks. One thread. Damaged columns are ERR_CORRUPT. */
#ifndef ANALYSIS_FACTS_TASK_READER_H
#define ANALYSIS_FACTS_TASK_READER_H

#include "analysis/facts_parts.h"
#include "base/db.h"

/* Columns of table task that are read. COLUMN_TASK_ID comes first in the database too: it says how many tasks a chunk has. */
enum task_column {
    COLUMN_TASK_ID,
    COLUMN_INDEX,
    COLUMN_ATTEMPT,
    COLUMN_PARTITION,
    COLUMN_EXECUTOR,
    COLUMN_LAUNCH,
    COLUMN_FINISH,
    COLUMN_GETTING_RESULT,
    COLUMN_LOCALITY,
    COLUMN_SPECULATIVE,
    COLUMN_STATUS,
    COLUMN_END_REASON,
    COLUMN_ERROR,
    COLUMN_HAS_METRICS,
    COLUMN_DESERIALIZE,
    COLUMN_RUN,
    COLUMN_CPU,
    COLUMN_PEAK_MEMORY,
    COLUMN_RESULT_BYTES,
    COLUMN_GC,
    COLUMN_SERIALIZE,
    COLUMN_MEMORY_SPILL,
    COLUMN_DISK_SPILL,
    COLUMN_INPUT_BYTES,
    COLUMN_INPUT_RECORDS,
    COLUMN_OUTPUT_BYTES,
    COLUMN_OUTPUT_RECORDS,
    COLUMN_FETCH_WAIT,
    COLUMN_REMOTE_BYTES,
    COLUMN_LOCAL_BYTES,
    COLUMN_READ_RECORDS,
    COLUMN_WRITE_BYTES,
    COLUMN_WRITE_NS,
    COLUMN_WRITE_RECORDS,
    COLUMN_COUNT
};
#define COLUMN_IDS 64 /* column_id below: bits of a mask */

struct chunk {
    int64_t number;
    size_t first, count; /* among the rows of the batch */
};

struct task_reader {
    sqlite3_stmt *read_stage, *read_chunk, *list_chunks, *task_ids;
    enum task_column column_of_id[COLUMN_IDS];
    int id_of_column[COLUMN_COUNT]; /* −1: the log has no such column */
    /* The batch at hand: values of the rows from `first` on, by column. */
    int64_t *values;                           /* COLUMN_COUNT × TASK_BATCH_ROWS; owned */
    size_t first, count, filled[COLUMN_COUNT]; /* filled: rows whose values are there; they are unknown from there on */
    struct chunk *chunks;                      /* that the batch is made of, or is to be made of one by one; owned */
    size_t chunk_count, chunk_capacity;
    uint32_t *places; /* of each row of `placed` among its attempts; owned */
    const struct stage_fact *placed;
    size_t place_room;
};

static inline int64_t *task_values_in(int64_t *values, enum task_column which)
{
    return values + (size_t)which * TASK_BATCH_ROWS;
}

static inline int64_t *task_reader_column(const struct task_reader *self, enum task_column which)
{
    return task_values_in(self->values, which);
}

/* What is done with each batch: rows `first` … of the stage. */
typedef enum err_code task_batch_fn(void *to, struct task_reader *batch, struct err *err);

/* Room for the values of a batch, by column; NULL: no memory. Freed with mem_free. */
int64_t *task_reader_values(void);
/* facts->tasks. */
enum err_code task_reader_open(struct facts *facts, struct err *err) WARN_UNUSED;
/* `columns`: bits 1 << enum task_column; the ids of tasks are read in any case. `rows`: how many tasks the stage is said to have. */
enum err_code task_reader_batches(struct task_reader *self, int64_t stage_ref, size_t rows, uint64_t columns, task_batch_fn *take, void *to, struct err *err) WARN_UNUSED;

#endif
