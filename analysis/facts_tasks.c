/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks, from table task_column: chunk by chunk, one statement a stage attempt, and nothing a task. */
#include <string.h>

#include "analysis/facts_parts.h"
#include "base/int_column.h"
#include "base/mem.h"

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
static const enum task_column column_of_value[TASK_VALUE_COUNT] = {COLUMN_RUN,          COLUMN_DESERIALIZE,    COLUMN_SERIALIZE,    COLUMN_GETTING_RESULT, COLUMN_GC,
                                                                   COLUMN_CPU,          COLUMN_FETCH_WAIT,     COLUMN_WRITE_NS,     COLUMN_DISK_SPILL,     COLUMN_MEMORY_SPILL,
                                                                   COLUMN_INPUT_BYTES,  COLUMN_INPUT_RECORDS,  COLUMN_REMOTE_BYTES, COLUMN_REMOTE_BYTES,   COLUMN_READ_RECORDS,
                                                                   COLUMN_OUTPUT_BYTES, COLUMN_OUTPUT_RECORDS, COLUMN_WRITE_BYTES,  COLUMN_WRITE_RECORDS,  COLUMN_RESULT_BYTES,
                                                                   COLUMN_PEAK_MEMORY,  COLUMN_LOCALITY,       COLUMN_END_REASON,   COLUMN_ERROR};

#define COLUMN_IDS 64 /* column_id below: bits of a mask */
#define MAX_CHUNKS ((size_t)1 << 20)
#define NO_COLUMN COLUMN_COUNT

/* Where a chunk's tasks stand among the rows of the stage. */
struct chunk {
    int64_t number;
    size_t first, count;
};

struct task_reader {
    sqlite3_stmt *stmt;
    enum task_column column_of_id[COLUMN_IDS];
    struct chunk *chunks; /* of the stage at hand; owned */
    size_t chunk_count, chunk_capacity;
    int64_t *values; /* of one column of one chunk; owned */
    size_t value_room;
    uint32_t *places; /* facts_values: place of each row among the stage's attempts; owned */
    size_t place_room;
    struct imap executors; /* executor_ref → position + 1 */
};

static enum err_code name_row(struct task_reader *self, int64_t id, struct str name)
{
    for (size_t i = 0; id >= 0 && id < COLUMN_IDS && i < COLUMN_COUNT; i++)
        if (str_is(name, column_names[i]))
            self->column_of_id[id] = (enum task_column)i;
    return ERR_OK;
}

static enum err_code read_names(struct task_reader *self, struct db *db, struct err *err)
{
    for (size_t i = 0; i < COLUMN_IDS; i++)
        self->column_of_id[i] = NO_COLUMN;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT column_id, name FROM task_column_name", err);
    if (rc)
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK && (rc = name_row(self, db_i64(stmt, 0), db_str(stmt, 1))) == ERR_OK)
        ;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code reader_open(struct facts *facts, struct err *err)
{
    struct task_reader *self = facts->tasks = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    imap_init(&self->executors, FACTS_MAX_ATTEMPTS);
    for (size_t i = 0; i < facts->executor_count; i++)
        if (imap_put(&self->executors, facts->executors[i].executor_ref, (void *)(uintptr_t)(i + 1)))
            return err_nomem(err);
    enum err_code rc = read_names(self, facts->db, err);
    return rc ? rc
              : db_prepare(facts->db, &self->stmt, "SELECT column_id, chunk, packed FROM task_column WHERE stage_ref = ?1 AND (?2 >> column_id) & 1 ORDER BY column_id, chunk",
                           err);
}

void facts_close_tasks(struct facts *self)
{
    struct task_reader *reader = TAKE(self->tasks);
    if (!reader)
        return;
    db_finalize(reader->stmt);
    imap_dispose(&reader->executors);
    mem_free(reader->chunks);
    mem_free(reader->values);
    mem_free(reader->places);
    mem_free(reader);
}

/* Gives the values of one column of one chunk: those of rows `first` …. False: out of memory. */
typedef bool take_fn(void *to, enum task_column column, size_t first, size_t count, const int64_t *values);

static enum err_code add_chunk(struct task_reader *self, int64_t number, size_t count, size_t room, struct err *err)
{
    if (mem_grow((void **)&self->chunks, &self->chunk_capacity, self->chunk_count + 1, MAX_CHUNKS, sizeof *self->chunks))
        return err_nomem(err);
    const struct chunk *last = self->chunk_count ? &self->chunks[self->chunk_count - 1] : NULL;
    struct chunk chunk = {number, last ? last->first + last->count : 0, count};
    if (count > room - chunk.first)
        return err_set(err, ERR_LIMIT, "more tasks than analysis takes");
    self->chunks[self->chunk_count++] = chunk;
    return ERR_OK;
}

static enum err_code unpack(struct task_reader *self, struct str packed, size_t count, struct err *err)
{
    if (mem_grow((void **)&self->values, &self->value_room, count, FACTS_MAX_ATTEMPTS, sizeof *self->values))
        return err_nomem(err);
    return int_column_unpack(packed, self->values, count, err);
}

/* One row of the statement. `at`: where its chunk is looked for, columns have theirs in the same order. */
static enum err_code take_row(struct task_reader *self, size_t *at, enum task_column *before, size_t room, take_fn *take, void *to, struct err *err)
{
    int64_t id = db_i64(self->stmt, 0), number = db_i64(self->stmt, 1);
    enum task_column column = self->column_of_id[id & (COLUMN_IDS - 1)];
    struct str packed = db_blob(self->stmt, 2);
    size_t count;
    enum err_code rc = int_column_count(packed, &count, err);
    if (!rc && column == COLUMN_TASK_ID)
        rc = add_chunk(self, number, count, room, err);
    if (rc)
        return rc;
    if (column != *before)
        *at = 0;
    *before = column;
    while (*at < self->chunk_count && self->chunks[*at].number < number)
        ++*at;
    if (*at == self->chunk_count || self->chunks[*at].number != number || self->chunks[*at].count != count)
        return err_set(err, ERR_CORRUPT, "the columns of a stage are not equally long");
    if ((rc = unpack(self, packed, count, err)))
        return rc;
    return take(to, column, self->chunks[*at].first, count, self->values) ? ERR_OK : err_nomem(err);
}

/* `columns`: bits 1 << enum task_column; the ids of tasks are read in any case. At most `room` tasks. */
static enum err_code read_stage(struct task_reader *self, int64_t stage_ref, uint64_t columns, size_t room, take_fn *take, void *to, struct err *err)
{
    uint64_t ids = 0;
    for (size_t i = 0; i < COLUMN_IDS; i++)
        if (self->column_of_id[i] != NO_COLUMN && (columns | UINT64_C(1) << COLUMN_TASK_ID) >> self->column_of_id[i] & 1)
            ids |= UINT64_C(1) << i;
    self->chunk_count = 0;
    db_bind_i64(self->stmt, 1, stage_ref);
    db_bind_i64(self->stmt, 2, (int64_t)ids);
    size_t at = 0;
    enum task_column before = NO_COLUMN;
    enum err_code rc;
    while ((rc = db_step(self->stmt, err)) == ERR_OK && (rc = take_row(self, &at, &before, room, take, to, err)) == ERR_OK)
        ;
    db_reset(self->stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* ---- Attempts ---- */

struct attempts {
    struct facts *facts;
    size_t first, capacity; /* of the stage at hand; of the array */
    uint32_t stage;
};

static bool add_attempts(struct attempts *self, size_t count)
{
    struct facts *facts = self->facts;
    if (mem_grow((void **)&facts->attempts, &self->capacity, facts->attempt_count + count, FACTS_MAX_ATTEMPTS, sizeof *facts->attempts))
        return false;
    for (size_t i = 0; i < count; i++)
        facts->attempts[facts->attempt_count + i] = (struct attempt){.launch_ms = UNKNOWN,
                                                                     .finish_ms = UNKNOWN,
                                                                     .stage = self->stage,
                                                                     .executor = NO_ENTITY,
                                                                     .row = (uint32_t)(facts->attempt_count + i - self->first),
                                                                     .index = -1,
                                                                     .partition = -1};
    facts->attempt_count += count;
    return true;
}

static int32_t index_of(int64_t logged)
{
    return logged >= 0 && logged <= INT32_MAX ? (int32_t)logged : -1;
}

/* Why and whether it ended wait in `kind` and `success` for facts_classify, which looks at more than one attempt. */
static void set_status(struct attempt *attempt, int64_t status)
{
    attempt->ended = status > 0;
    attempt->success = status == 1;
    attempt->kind = status == 3 ? LOST_CANCELLED : LOST_FAILED;
}

static void set_end_reason(struct attempt *attempt, int64_t reason)
{
    if (!known(reason))
        return;
    attempt->ended = true;
    attempt->success = reason == END_SUCCESS;
    attempt->kind = reason == END_FETCH_FAILED ? LOST_FETCH : reason == END_EXECUTOR_LOST ? LOST_EXECUTOR : reason == END_KILLED ? LOST_CANCELLED : LOST_FAILED;
}

static uint32_t position_of(const struct imap *executors, int64_t ref)
{
    uintptr_t place = (uintptr_t)imap_get(executors, ref);
    return place ? (uint32_t)place - 1 : NO_ENTITY;
}

#define SET(statement)                    \
    for (size_t i = 0; i < count; i++) {  \
        struct attempt *a = &attempts[i]; \
        int64_t v = values[i];            \
        statement;                        \
    }                                     \
    break

static bool take_attempts(void *to, enum task_column column, size_t first, size_t count, const int64_t *values)
{
    struct attempts *self = to;
    if (column == COLUMN_TASK_ID && !add_attempts(self, count))
        return false;
    struct attempt *attempts = self->facts->attempts + self->first + first;
    const struct imap *executors = &self->facts->tasks->executors;
    int64_t ref = UNKNOWN;
    uint32_t position = NO_ENTITY;
    switch (column) {
    case COLUMN_TASK_ID: SET(a->task_id = v);
    case COLUMN_INDEX: SET(a->index = index_of(v));
    case COLUMN_ATTEMPT: SET(a->again = v > 0);
    case COLUMN_PARTITION: SET(a->partition = index_of(v));
    case COLUMN_EXECUTOR: SET(if (v != ref) position = position_of(executors, ref = v); a->executor = position);
    case COLUMN_LAUNCH: SET(a->launch_ms = sound_time(v));
    case COLUMN_FINISH: SET(a->finish_ms = sound_time(v));
    case COLUMN_SPECULATIVE: SET(a->speculative = v == 1);
    case COLUMN_STATUS: SET(set_status(a, v));
    case COLUMN_END_REASON: SET(set_end_reason(a, v));
    case COLUMN_HAS_METRICS: SET(a->has_metrics = v == 1);
    default: break;
    }
    return true;
}

#define ATTEMPT_COLUMNS                                                                                                                                              \
    (UINT64_C(1) << COLUMN_INDEX | UINT64_C(1) << COLUMN_ATTEMPT | UINT64_C(1) << COLUMN_PARTITION | UINT64_C(1) << COLUMN_EXECUTOR | UINT64_C(1) << COLUMN_LAUNCH | \
     UINT64_C(1) << COLUMN_FINISH | UINT64_C(1) << COLUMN_SPECULATIVE | UINT64_C(1) << COLUMN_STATUS | UINT64_C(1) << COLUMN_END_REASON | UINT64_C(1) << COLUMN_HAS_METRICS)

/* Tasks whose executor no row knows share one without an id; it is made when the first is met. */
static enum err_code give_executors(struct facts *self, struct attempt *attempts, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (attempts[i].executor != NO_ENTITY)
            continue;
        struct executor_fact *last = self->executor_count ? &self->executors[self->executor_count - 1] : NULL;
        if (!last || known(last->executor_ref)) {
            struct executor_fact *more = mem_realloc(self->executors, (self->executor_count + 1) * sizeof *more);
            if (!more)
                return err_nomem(err);
            self->executors = more;
            last = &more[self->executor_count++];
            *last = (struct executor_fact){.executor_ref = UNKNOWN,
                                           .add_ms = UNKNOWN,
                                           .remove_ms = UNKNOWN,
                                           .cores = UNKNOWN,
                                           .profile_id = UNKNOWN,
                                           .max_memory_bytes = UNKNOWN,
                                           .task_time_ms = UNKNOWN,
                                           .gc_time_ms = UNKNOWN,
                                           .input_bytes = UNKNOWN,
                                           .shuffle_read_bytes = UNKNOWN,
                                           .shuffle_write_bytes = UNKNOWN};
        }
        attempts[i].executor = (uint32_t)(self->executor_count - 1);
    }
    return ERR_OK;
}

static enum err_code read_attempts(struct attempts *to, struct stage_fact *stage, struct err *err)
{
    struct facts *self = to->facts;
    to->first = self->attempt_count;
    enum err_code rc = read_stage(self->tasks, stage->stage_ref, ATTEMPT_COLUMNS, FACTS_MAX_ATTEMPTS - self->attempt_count, take_attempts, to, err);
    if (rc)
        return rc;
    stage->first_attempt = to->first;
    stage->attempt_count = self->attempt_count - to->first;
    return give_executors(self, self->attempts + to->first, stage->attempt_count, err);
}

enum err_code facts_read_tasks(struct facts *self, struct err *err)
{
    enum err_code rc = reader_open(self, err);
    struct attempts to = {.facts = self};
    for (size_t i = 0; i < self->stage_count && !rc; i++) {
        struct stage_fact *stage = &self->stages[i];
        to.stage = (uint32_t)i;
        if (stage->attempt_count)
            rc = read_attempts(&to, stage, err);
    }
    self->counts.task_start = MAX((int64_t)self->attempt_count - self->counts.task_end_only, 0);
    return rc;
}

/* ---- Values ---- */

struct value_taker {
    struct task_values *to;
    const uint32_t *places;
};

static void put(const int64_t *values, size_t first, size_t count, const uint32_t *places, int64_t *to)
{
    if (!to)
        return;
    for (size_t i = 0; i < count; i++)
        to[places[first + i]] = values[i];
}

static void add(const int64_t *values, size_t first, size_t count, const uint32_t *places, int64_t *to)
{
    if (!to)
        return;
    for (size_t i = 0; i < count; i++)
        to[places[first + i]] = add_known(to[places[first + i]], values[i]);
}

static bool take_values(void *to, enum task_column column, size_t first, size_t count, const int64_t *values)
{
    struct value_taker *self = to;
    int64_t **of = self->to->of;
    if (column == COLUMN_LOCAL_BYTES || column == COLUMN_REMOTE_BYTES)
        add(values, first, count, self->places, of[VALUE_SHUFFLE_READ_BYTES]);
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        if (column_of_value[v] == column && v != VALUE_SHUFFLE_READ_BYTES)
            put(values, first, count, self->places, of[v]);
    return true;
}

static enum err_code make_places(struct task_reader *self, const struct attempt *attempts, size_t count, struct err *err)
{
    if (mem_grow((void **)&self->places, &self->place_room, count, FACTS_MAX_ATTEMPTS, sizeof *self->places))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        self->places[attempts[i].row] = (uint32_t)i;
    return ERR_OK;
}

enum err_code facts_values(const struct facts *self, uint32_t stage, uint32_t wanted, struct task_values *ret, struct err *err)
{
    const struct stage_fact *of = &self->stages[stage];
    *ret = (struct task_values){.count = of->attempt_count};
    if (!ret->count)
        return ERR_OK;
    uint64_t columns = wanted >> VALUE_SHUFFLE_READ_BYTES & 1 ? UINT64_C(1) << COLUMN_LOCAL_BYTES : 0;
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++) {
        if (!(wanted >> v & 1))
            continue;
        columns |= UINT64_C(1) << column_of_value[v];
        if (!(ret->of[v] = mem_alloc(ret->count * sizeof *ret->of[v]))) {
            task_values_dispose(ret);
            return err_nomem(err);
        }
        for (size_t i = 0; i < ret->count; i++)
            ret->of[v][i] = UNKNOWN;
    }
    enum err_code rc = make_places(self->tasks, self->attempts + of->first_attempt, ret->count, err);
    struct value_taker taker = {.to = ret, .places = self->tasks->places};
    if (!rc)
        rc = read_stage(self->tasks, of->stage_ref, columns, ret->count, take_values, &taker, err);
    if (rc)
        task_values_dispose(ret);
    return rc;
}

void task_values_dispose(struct task_values *self)
{
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        mem_free(TAKE(self->of[v]));
}
