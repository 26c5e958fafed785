/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/facts_task_reader.h"

#include "base/int_column.h"
#include "base/mem.h"

#define NO_COLUMN COLUMN_COUNT

static const char *const column_names[COLUMN_COUNT] = {"task_id",
                                                       "task_index",
                                                       "attempt",
                                                       "partition_id",
                                                       "executor_ref",
                                                       "launch_ms",
                                                       "finish_ms",
                                                       "getting_result_ms",
                                                       "locality",
                                                       "speculative",
                                                       "status",
                                                       "end_reason",
                                                       "error_text_id",
                                                       "has_metrics",
                                                       "executor_deserialize_time_ms",
                                                       "executor_run_time_ms",
                                                       "executor_cpu_time_ns",
                                                       "peak_execution_memory_bytes",
                                                       "result_size_bytes",
                                                       "jvm_gc_time_ms",
                                                       "result_serialization_time_ms",
                                                       "memory_spilled_bytes",
                                                       "disk_spilled_bytes",
                                                       "input_bytes",
                                                       "input_records",
                                                       "output_bytes",
                                                       "output_records",
                                                       "shuffle_fetch_wait_time_ms",
                                                       "shuffle_remote_read_bytes",
                                                       "shuffle_local_read_bytes",
                                                       "shuffle_records_read",
                                                       "shuffle_write_bytes",
                                                       "shuffle_write_time_ns",
                                                       "shuffle_write_records"};

int64_t *task_reader_values(void)
{
    return mem_alloc(COLUMN_COUNT * TASK_BATCH_ROWS * sizeof(int64_t));
}

static void name_row(struct task_reader *self, int64_t id, struct str name)
{
    for (size_t i = 0; id >= 0 && id < COLUMN_IDS && i < COLUMN_COUNT; i++)
        if (str_is(name, column_names[i])) {
            self->column_of_id[id] = (enum task_column)i;
            self->id_of_column[i] = (int)id;
        }
}

static enum err_code read_names(struct task_reader *self, struct db *db, struct err *err)
{
    for (size_t i = 0; i < COLUMN_IDS; i++)
        self->column_of_id[i] = NO_COLUMN;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        self->id_of_column[i] = -1;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT column_id, name FROM task_column_name", err);
    if (rc)
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK)
        name_row(self, db_i64(stmt, 0), db_str(stmt, 1));
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code task_reader_open(struct facts *facts, struct err *err)
{
    struct task_reader *self = facts->tasks = mem_zalloc(sizeof *self);
    if (!self || !(self->values = task_reader_values()))
        return err_nomem(err);
    enum err_code rc;
    if ((rc = read_names(self, facts->db, err)) ||
        (rc = db_prepare(facts->db, &self->read_stage,
                         "SELECT column_id, chunk, packed FROM task_column WHERE stage_ref = ?1 AND column_id BETWEEN ?3 AND ?4"
                         "  AND (?2 >> column_id) & 1 ORDER BY column_id, chunk",
                         err)) ||
        (rc = db_prepare(facts->db, &self->task_ids, "SELECT packed FROM task_column WHERE stage_ref = ?1 AND column_id = ?2", err)) ||
        (rc = db_prepare(facts->db, &self->read_chunk, "SELECT packed FROM task_column WHERE stage_ref = ?1 AND column_id = ?2 AND chunk = ?3", err)))
        return rc;
    return db_prepare(facts->db, &self->list_chunks, "SELECT chunk FROM task_column WHERE stage_ref = ?1 AND column_id = ?2 ORDER BY chunk", err);
}

void facts_close_tasks(struct facts *self)
{
    struct task_reader *reader = TAKE(self->tasks);
    if (!reader)
        return;
    db_finalize(reader->read_stage);
    db_finalize(reader->read_chunk);
    db_finalize(reader->list_chunks);
    db_finalize(reader->task_ids);
    mem_free(reader->chunks);
    mem_free(reader->values);
    mem_free(reader->places);
    mem_free(reader);
}

#define MAX_CHUNKS ((size_t)1 << 20)

static enum err_code add_chunk(struct task_reader *self, int64_t number, size_t count, struct err *err)
{
    if (mem_grow((void **)&self->chunks, &self->chunk_capacity, self->chunk_count + 1, MAX_CHUNKS, sizeof *self->chunks))
        return err_set(err, ERR_LIMIT, "more chunks of tasks than analysis takes");
    const struct chunk *last = self->chunk_count ? &self->chunks[self->chunk_count - 1] : NULL;
    self->chunks[self->chunk_count++] = (struct chunk){number, last ? last->first + last->count : 0, count};
    return ERR_OK;
}

static void fill_unknown(struct task_reader *self, enum task_column which, size_t to)
{
    int64_t *values = task_reader_column(self, which);
    for (size_t i = self->filled[which]; i < to; i++)
        values[i] = UNKNOWN;
    self->filled[which] = to;
}

/* One column of one chunk. The ids of tasks come first and make the batch; every other chunk must have its place there. */
static enum err_code add_values(struct task_reader *self, enum task_column which, int64_t number, struct str packed, size_t *at, struct err *err)
{
    size_t count;
    enum err_code rc = int_column_count(packed, &count, err);
    if (rc)
        return rc;
    if (which == COLUMN_TASK_ID) {
        if (count > TASK_BATCH_ROWS - self->count)
            return err_set(err, ERR_CORRUPT, "a stage has more tasks in its columns than it says");
        if ((rc = add_chunk(self, number, count, err)))
            return rc;
        self->count += count;
        *at = self->chunk_count - 1;
    }
    while (*at < self->chunk_count && self->chunks[*at].number < number)
        ++*at;
    if (*at == self->chunk_count || self->chunks[*at].number != number || self->chunks[*at].count != count || self->filled[which] > self->chunks[*at].first)
        return err_set(err, ERR_CORRUPT, "the columns of a stage are not equally long");
    fill_unknown(self, which, self->chunks[*at].first);
    self->filled[which] += count;
    return int_column_unpack(packed, task_reader_column(self, which) + self->chunks[*at].first, count, err);
}

static void clear_batch(struct task_reader *self)
{
    self->count = self->chunk_count = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        self->filled[i] = 0;
}

static enum err_code give_batch(struct task_reader *self, uint64_t columns, task_batch_fn *take, void *to, struct err *err)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (columns >> i & 1)
            fill_unknown(self, (enum task_column)i, self->count);
    enum err_code rc = self->count ? take(to, self, err) : ERR_OK;
    self->first += self->count;
    return rc;
}

static enum err_code read_whole(struct task_reader *self, int64_t stage_ref, uint64_t columns, task_batch_fn *take, void *to, struct err *err)
{
    uint64_t ids = 0;
    int least = COLUMN_IDS, most = -1;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        int id = self->id_of_column[i];
        if (!(columns >> i & 1) || id < 0)
            continue;
        ids |= UINT64_C(1) << id;
        least = MIN(least, id);
        most = MAX(most, id);
    }
    clear_batch(self);
    db_bind_i64(self->read_stage, 1, stage_ref);
    db_bind_i64(self->read_stage, 2, (int64_t)ids);
    db_bind_i64(self->read_stage, 3, least);
    db_bind_i64(self->read_stage, 4, most);
    size_t at = 0;
    enum task_column before = NO_COLUMN;
    enum err_code rc;
    while ((rc = db_step(self->read_stage, err)) == ERR_OK) {
        enum task_column which = self->column_of_id[db_i64(self->read_stage, 0) & (COLUMN_IDS - 1)];
        if (which != before)
            at = 0;
        before = which;
        if ((rc = add_values(self, which, db_i64(self->read_stage, 1), db_blob(self->read_stage, 2), &at, err)))
            break;
    }
    db_reset(self->read_stage);
    return rc == ERR_EOF ? give_batch(self, columns, take, to, err) : rc;
}

static enum err_code read_one_chunk(struct task_reader *self, int64_t stage_ref, int64_t number, uint64_t columns, task_batch_fn *take, void *to, struct err *err)
{
    clear_batch(self);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!(columns >> i & 1) || self->id_of_column[i] < 0)
            continue;
        db_bind_i64(self->read_chunk, 1, stage_ref);
        db_bind_i64(self->read_chunk, 2, self->id_of_column[i]);
        db_bind_i64(self->read_chunk, 3, number);
        size_t at = 0;
        enum err_code rc = db_step(self->read_chunk, err);
        if (rc == ERR_OK)
            rc = add_values(self, (enum task_column)i, number, db_blob(self->read_chunk, 0), &at, err);
        db_reset(self->read_chunk);
        if (rc && rc != ERR_EOF)
            return rc;
    }
    return give_batch(self, columns, take, to, err);
}

static enum err_code read_chunks(struct task_reader *self, int64_t stage_ref, uint64_t columns, task_batch_fn *take, void *to, struct err *err)
{
    CLEANUP(mem_freep) int64_t *numbers = NULL;
    size_t count = 0, capacity = 0;
    db_bind_i64(self->list_chunks, 1, stage_ref);
    db_bind_i64(self->list_chunks, 2, self->id_of_column[COLUMN_TASK_ID]);
    enum err_code rc;
    while ((rc = db_step(self->list_chunks, err)) == ERR_OK) {
        if (mem_grow((void **)&numbers, &capacity, count + 1, MAX_CHUNKS, sizeof *numbers)) {
            rc = err_set(err, ERR_LIMIT, "more chunks of tasks than analysis takes");
            break;
        }
        numbers[count++] = db_i64(self->list_chunks, 0);
    }
    db_reset(self->list_chunks);
    if (rc == ERR_EOF)
        rc = ERR_OK;
    for (size_t i = 0; i < count && !rc; i++)
        rc = read_one_chunk(self, stage_ref, numbers[i], columns, take, to, err);
    return rc;
}

enum err_code task_reader_batches(struct task_reader *self, int64_t stage_ref, size_t rows, uint64_t columns, task_batch_fn *take, void *to, struct err *err)
{
    columns |= UINT64_C(1) << COLUMN_TASK_ID;
    self->first = 0;
    return rows <= TASK_BATCH_ROWS ? read_whole(self, stage_ref, columns, take, to, err) : read_chunks(self, stage_ref, columns, take, to, err);
}
