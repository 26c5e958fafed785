/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of tasks become attempts, once, and values of a stage's tasks as often as somebody asks. */
#include <string.h>

#include "analysis/facts_task_reader.h"
#include "base/beside.h"
#include "base/int_column.h"
#include "base/mem.h"

static const enum task_column column_of_value[TASK_VALUE_COUNT] = {COLUMN_RUN,          COLUMN_DESERIALIZE,    COLUMN_SERIALIZE,    COLUMN_GETTING_RESULT, COLUMN_GC,
                                                                   COLUMN_CPU,          COLUMN_FETCH_WAIT,     COLUMN_WRITE_NS,     COLUMN_DISK_SPILL,     COLUMN_MEMORY_SPILL,
                                                                   COLUMN_INPUT_BYTES,  COLUMN_INPUT_RECORDS,  COLUMN_REMOTE_BYTES, COLUMN_REMOTE_BYTES,   COLUMN_READ_RECORDS,
                                                                   COLUMN_OUTPUT_BYTES, COLUMN_OUTPUT_RECORDS, COLUMN_WRITE_BYTES,  COLUMN_WRITE_RECORDS,  COLUMN_RESULT_BYTES,
                                                                   COLUMN_PEAK_MEMORY,  COLUMN_LOCALITY,       COLUMN_END_REASON,   COLUMN_ERROR};

_Static_assert(sizeof(struct attempt) == 32, "two of them are a cache line");
_Static_assert(sizeof(struct attempt) + sizeof(struct attempt_launch) == 56, "facts.h promises 56 bytes an attempt");

/* Rows of a batch from which on it is worth a thread: some 100 µs of work. */
#define FILL_BESIDE_FROM ((size_t)2048)
#define ATTEMPT_COLUMNS                                                                                                                                              \
    (UINT64_C(1) << COLUMN_INDEX | UINT64_C(1) << COLUMN_ATTEMPT | UINT64_C(1) << COLUMN_PARTITION | UINT64_C(1) << COLUMN_EXECUTOR | UINT64_C(1) << COLUMN_LAUNCH | \
     UINT64_C(1) << COLUMN_FINISH | UINT64_C(1) << COLUMN_SPECULATIVE | UINT64_C(1) << COLUMN_STATUS | UINT64_C(1) << COLUMN_END_REASON | UINT64_C(1) << COLUMN_HAS_METRICS)

/* ---- Attempts ---- */

/* Where to put the attempts of a stage. Rows come in the order of ends; they are put where their ids say, where these are those of `count` tasks in a row: then hardly one has to be
 * moved again. */
struct stage_ids {
    uint32_t stage;
    bool by_id;
    int64_t first_id;
    size_t count; /* as the stage says */
};

/* Batches become attempts beside the reading of the next one. */
struct attempts {
    struct facts *facts;
    size_t capacity;     /* of the two arrays */
    struct stage_ids of; /* the stage at hand */
    size_t first, read;  /* its first attempt; its rows so far */
    uint64_t *placed;    /* bits: ids that were met; owned */
    size_t placed_room;
    /* Of the batch at hand; what the reader fills while a large one is, then those of that batch: owned, NULL until then, for fresh memory costs more than a small run. */
    int64_t *values, *spare;
    size_t batch_count; /* its rows */
    struct beside beside;
    bool filling, begins_stage; /* the batch at hand; it is its stage's first */
    enum err_code rc;
    struct err err;
};

static int32_t index_of(int64_t logged)
{
    return logged >= 0 && logged <= INT32_MAX ? (int32_t)logged : -1;
}

/* As far as it can be said of the attempt alone; facts_classify looks at others too. The reason of an end says more than the flags that `status` is made of. */
static enum lost_kind kind_of(int64_t status, int64_t reason)
{
    switch (reason) {
    case END_FETCH_FAILED: return LOST_FETCH;
    case END_EXECUTOR_LOST: return LOST_EXECUTOR;
    case END_KILLED: return LOST_CANCELLED;
    default: return !known(reason) && status == STATUS_KILLED ? LOST_CANCELLED : LOST_FAILED;
    }
}

/* Refs are numbers from 1 on in every database that ingest wrote. */
static uint32_t position_of(const struct facts *self, int64_t ref)
{
    size_t low = 0, high = self->executor_count;
    if (ref >= 1 && (uint64_t)ref <= high && self->executors[ref - 1].executor_ref == ref)
        return (uint32_t)(ref - 1);
    while (low < high) {
        size_t i = low + (high - low) / 2;
        if (self->executors[i].executor_ref == ref)
            return (uint32_t)i;
        if (self->executors[i].executor_ref < ref)
            low = i + 1;
        else
            high = i;
    }
    return NO_ENTITY;
}

/* Tasks whose executor no row knows share one without an id; it is made when the first is met. */
static enum err_code nameless_executor(struct facts *self, uint32_t *ret, struct err *err)
{
    const struct executor_fact *last = self->executor_count ? &self->executors[self->executor_count - 1] : NULL;
    if (!last || known(last->executor_ref)) {
        struct executor_fact *more = mem_realloc(self->executors, (self->executor_count + 1) * sizeof *more);
        if (!more)
            return err_nomem(err);
        self->executors = more;
        more[self->executor_count++] = (struct executor_fact){.executor_ref = UNKNOWN,
                                                              .add_ms = UNKNOWN,
                                                              .remove_ms = UNKNOWN,
                                                              .cores = UNKNOWN,
                                                              .profile_id = UNKNOWN,
                                                              .max_memory_bytes = UNKNOWN,
                                                              .held_storage_bytes = UNKNOWN,
                                                              .first_launch_ms = UNKNOWN,
                                                              .last_finish_ms = UNKNOWN,
                                                              .task_time_ms = UNKNOWN,
                                                              .gc_time_ms = UNKNOWN,
                                                              .input_bytes = UNKNOWN,
                                                              .shuffle_read_bytes = UNKNOWN,
                                                              .shuffle_write_bytes = UNKNOWN};
    }
    *ret = (uint32_t)(self->executor_count - 1);
    return ERR_OK;
}

/* The place of a task among those of its stage; SIZE_MAX: ids are not what they were taken for. */
static size_t place_of(struct attempts *self, int64_t id)
{
    uint64_t place = (uint64_t)id - (uint64_t)self->of.first_id;
    if (place >= self->of.count || self->placed[place / 64] >> (place % 64) & 1)
        return SIZE_MAX;
    self->placed[place / 64] |= UINT64_C(1) << (place % 64);
    return (size_t)place;
}

/* From places by id to the order of rows, `count` so far. */
static enum err_code place_by_row(struct attempts *self, size_t count, struct err *err)
{
    struct attempt *attempts = self->facts->attempts + self->first;
    struct attempt_launch *launches = self->facts->launches + self->first;
    CLEANUP(mem_freep) struct attempt *rows = mem_alloc((count + 1) * sizeof *rows);
    CLEANUP(mem_freep) struct attempt_launch *row_launches = mem_alloc((count + 1) * sizeof *row_launches);
    if (!rows || !row_launches)
        return err_nomem(err);
    for (size_t place = 0; place < self->of.count; place++)
        if (self->placed[place / 64] >> (place % 64) & 1) {
            rows[attempts[place].row] = attempts[place];
            row_launches[attempts[place].row] = launches[place];
        }
    memcpy(attempts, rows, count * sizeof *rows);
    memcpy(launches, row_launches, count * sizeof *row_launches);
    self->of.by_id = false;
    return ERR_OK;
}

/* For as many attempts as the stages say to have. */
static enum err_code begin_reading(struct attempts *self, struct err *err)
{
    struct facts *facts = self->facts;
    size_t count = 0;
    for (size_t i = 0; i < facts->stage_count; i++)
        count += MIN(facts->stages[i].attempt_count, FACTS_MAX_ATTEMPTS - count);
    facts->attempts = mem_alloc((count + 1) * sizeof *facts->attempts);
    facts->launches = mem_alloc((count + 1) * sizeof *facts->launches);
    if (!facts->attempts || !facts->launches)
        return err_nomem(err);
    self->capacity = count;
    return ERR_OK;
}

static enum err_code make_room(struct attempts *self, struct err *err)
{
    struct facts *facts = self->facts;
    size_t end = self->first + MAX(self->of.by_id ? self->of.count : 0, self->read + self->batch_count), capacity = self->capacity;
    if (mem_grow((void **)&facts->attempts, &capacity, end, FACTS_MAX_ATTEMPTS, sizeof *facts->attempts) ||
        mem_grow((void **)&facts->launches, &self->capacity, end, FACTS_MAX_ATTEMPTS, sizeof *facts->launches))
        return err_set(err, ERR_LIMIT, "more tasks than analysis takes");
    return ERR_OK;
}

static enum err_code begin_stage(struct attempts *self, struct err *err)
{
    size_t words = self->of.count / 64 + 1;
    self->first = self->facts->attempt_count;
    self->read = 0;
    if (!self->of.by_id)
        return ERR_OK;
    if (mem_grow((void **)&self->placed, &self->placed_room, words, FACTS_MAX_ATTEMPTS, sizeof *self->placed))
        return err_nomem(err);
    memset(self->placed, 0, words * sizeof *self->placed);
    return ERR_OK;
}

static enum err_code fill_rows(struct attempts *self, struct err *err)
{
    struct facts *facts = self->facts;
    struct stage_fact *stage = &facts->stages[self->of.stage];
    enum err_code rc = self->begins_stage ? begin_stage(self, err) : ERR_OK;
    if (rc || (rc = make_room(self, err)))
        return rc;
    const int64_t *ids = task_values_in(self->values, COLUMN_TASK_ID), *indexes = task_values_in(self->values, COLUMN_INDEX), *tries = task_values_in(self->values, COLUMN_ATTEMPT),
                  *partitions = task_values_in(self->values, COLUMN_PARTITION), *executors = task_values_in(self->values, COLUMN_EXECUTOR),
                  *launches = task_values_in(self->values, COLUMN_LAUNCH), *finishes = task_values_in(self->values, COLUMN_FINISH),
                  *speculative = task_values_in(self->values, COLUMN_SPECULATIVE), *statuses = task_values_in(self->values, COLUMN_STATUS),
                  *reasons = task_values_in(self->values, COLUMN_END_REASON), *metrics = task_values_in(self->values, COLUMN_HAS_METRICS);
    struct attempt *attempts = facts->attempts + self->first;
    struct attempt_launch *launched = facts->launches + self->first;
    int64_t ref = UNKNOWN;
    uint32_t executor = NO_ENTITY;
    for (size_t i = 0; i < self->batch_count; i++) {
        if (executors[i] != ref || executor == NO_ENTITY) {
            executor = position_of(facts, ref = executors[i]);
            rc = executor == NO_ENTITY ? nameless_executor(facts, &executor, err) : ERR_OK;
            if (rc)
                return rc;
        }
        size_t place = self->of.by_id ? place_of(self, ids[i]) : self->read;
        if (place == SIZE_MAX) {
            if ((rc = place_by_row(self, self->read, err)) || (rc = make_room(self, err)))
                return rc;
            attempts = facts->attempts + self->first;
            launched = facts->launches + self->first;
            place = self->read;
        }
        int64_t launch_ms = sound_time(launches[i]), finish_ms = sound_time(finishes[i]);
        stage->first_launch_ms = min_known(stage->first_launch_ms, min_known(launch_ms, finish_ms));
        stage->last_finish_ms = max_known(stage->last_finish_ms, max_known(launch_ms, finish_ms));
        launched[place] = (struct attempt_launch){ids[i], launch_ms, index_of(indexes[i]), index_of(partitions[i])};
        attempts[place] = (struct attempt){.finish_ms = finish_ms,
                                           .stage = self->of.stage,
                                           .executor = executor,
                                           .row = (uint32_t)self->read,
                                           .kind = (uint8_t)kind_of(statuses[i], reasons[i]),
                                           .success = known(reasons[i]) ? reasons[i] == END_SUCCESS : statuses[i] == STATUS_SUCCESS,
                                           .ended = known(reasons[i]) || statuses[i] > STATUS_NO_END,
                                           .has_metrics = metrics[i] == 1,
                                           .speculative = speculative[i] == 1,
                                           .again = tries[i] > 0};
        self->read++;
    }
    stage->attempt_count = self->read;
    facts->attempt_count = self->first + self->read;
    return ERR_OK;
}

static void fill(void *context)
{
    struct attempts *self = context;
    self->rc = fill_rows(self, &self->err);
}

static enum err_code end_filling(struct attempts *self, struct err *err)
{
    if (!self->filling)
        return ERR_OK;
    self->filling = false;
    beside_join(&self->beside);
    return self->rc ? err_set(err, self->rc, "%s", self->err.message) : ERR_OK;
}

struct stage_reading {
    struct attempts *attempts;
    struct stage_ids of;
};

static enum err_code take_attempts(void *to, struct task_reader *reader, struct err *err)
{
    const struct stage_reading *from = to;
    struct attempts *self = from->attempts;
    enum err_code rc = end_filling(self, err);
    if (rc)
        return rc;
    bool large = reader->count >= FILL_BESIDE_FROM;
    if (large && !self->spare && !(self->spare = task_reader_values()))
        return err_nomem(err);
    self->values = reader->values;
    if (large) {
        reader->values = self->spare;
        self->spare = self->values;
    }
    self->batch_count = reader->count;
    self->of = reader->first ? self->of : from->of; /* rows may have been found to be out of place */
    self->begins_stage = !reader->first;
    self->filling = true;
    beside_start(&self->beside, large, fill, self);
    return large ? ERR_OK : end_filling(self, err);
}

/* The smallest id of a stage's tasks and how many rows there are, by the heads of chunks. */
static enum err_code look_at_ids(struct task_reader *reader, int64_t stage_ref, int64_t *ret_first_id, size_t *ret_rows, struct err *err)
{
    sqlite3_stmt *stmt = reader->task_ids;
    db_bind_i64(stmt, 1, stage_ref);
    db_bind_i64(stmt, 2, reader->id_of_column[COLUMN_TASK_ID]);
    *ret_first_id = INT64_MAX;
    *ret_rows = 0;
    enum err_code rc;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        struct str packed = db_blob(stmt, 0);
        int64_t least;
        size_t count;
        if ((rc = int_column_least(packed, &least, err)) || (rc = int_column_count(packed, &count, err)))
            break;
        *ret_first_id = MIN(*ret_first_id, least);
        *ret_rows += count;
    }
    db_reset(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_stage_attempts(struct attempts *self, uint32_t stage, struct err *err)
{
    struct task_reader *reader = self->facts->tasks;
    struct stage_fact *fact = &self->facts->stages[stage];
    struct stage_reading reading = {self, {.stage = stage, .count = fact->attempt_count}};
    size_t rows;
    enum err_code rc = look_at_ids(reader, fact->stage_ref, &reading.of.first_id, &rows, err);
    if (rc)
        return rc;
    reading.of.by_id = rows == reading.of.count;
    fact->attempt_count = 0;
    return task_reader_batches(reader, fact->stage_ref, reading.of.count, ATTEMPT_COLUMNS, take_attempts, &reading, err);
}

enum err_code facts_read_tasks(struct facts *self, struct err *err)
{
    struct attempts to = {.facts = self};
    enum err_code rc = task_reader_open(self, err);
    if (!rc)
        rc = begin_reading(&to, err);
    for (size_t i = 0; i < self->stage_count && !rc; i++)
        if (self->stages[i].attempt_count)
            rc = read_stage_attempts(&to, (uint32_t)i, err);
    enum err_code filled = end_filling(&to, rc ? NULL : err);
    size_t first = 0;
    for (size_t i = 0; i < self->stage_count; i++) {
        self->stages[i].first_attempt = first;
        first += self->stages[i].attempt_count;
    }
    self->counts.task_start = MAX((int64_t)self->attempt_count - self->counts.task_end_only, 0);
    mem_free(to.placed);
    mem_free(to.spare);
    return rc ? rc : filled;
}

/* ---- Values ---- */

static uint64_t columns_of(uint32_t wanted)
{
    uint64_t columns = wanted >> VALUE_SHUFFLE_READ_BYTES & 1 ? UINT64_C(1) << COLUMN_LOCAL_BYTES : 0;
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        if (wanted >> v & 1)
            columns |= UINT64_C(1) << column_of_value[v];
    return columns;
}

static enum err_code make_places(struct task_reader *self, const struct facts *facts, const struct stage_fact *stage, struct err *err)
{
    if (self->placed == stage)
        return ERR_OK;
    self->placed = NULL;
    if (mem_grow((void **)&self->places, &self->place_room, stage->attempt_count, FACTS_MAX_ATTEMPTS, sizeof *self->places))
        return err_nomem(err);
    for (size_t i = 0; i < stage->attempt_count; i++)
        self->places[facts->attempts[stage->first_attempt + i].row] = (uint32_t)i;
    self->placed = stage;
    return ERR_OK;
}

struct value_batches {
    const struct stage_fact *stage;
    uint32_t wanted;
    values_fn *take;
    void *to;
};

static enum err_code take_values(void *to, struct task_reader *batch, struct err *err)
{
    struct value_batches *self = to;
    if (batch->first + batch->count > self->stage->attempt_count)
        return err_set(err, ERR_CORRUPT, "a stage has more tasks in its columns than before");
    struct task_values values = {.count = batch->count};
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        if (self->wanted >> v & 1)
            values.of[v] = task_reader_column(batch, column_of_value[v]);
    if (self->wanted >> VALUE_SHUFFLE_READ_BYTES & 1) {
        /* The sum takes the place of the local bytes, which nobody asks for alone. */
        const int64_t *remote = task_reader_column(batch, COLUMN_REMOTE_BYTES);
        int64_t *sum = values.of[VALUE_SHUFFLE_READ_BYTES] = task_reader_column(batch, COLUMN_LOCAL_BYTES);
        for (size_t i = 0; i < batch->count; i++)
            sum[i] = add_known(sum[i], remote[i]);
    }
    return self->take(self->to, &values, batch->places + batch->first, err);
}

enum err_code facts_value_batches(const struct facts *self, uint32_t stage, uint32_t wanted, values_fn *take, void *to, struct err *err)
{
    struct value_batches batches = {.stage = &self->stages[stage], .wanted = wanted, .take = take, .to = to};
    if (!batches.stage->attempt_count)
        return ERR_OK;
    enum err_code rc = make_places(self->tasks, self, batches.stage, err);
    return rc ? rc : task_reader_batches(self->tasks, batches.stage->stage_ref, batches.stage->attempt_count, columns_of(wanted), take_values, &batches, err);
}

static enum err_code scatter(void *to, const struct task_values *batch, const uint32_t *places, struct err *err)
{
    (void)err;
    struct task_values *all = to;
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        for (size_t i = 0; batch->of[v] && i < batch->count; i++)
            all->of[v][places[i]] = batch->of[v][i];
    return ERR_OK;
}

enum err_code facts_values(const struct facts *self, uint32_t stage, uint32_t wanted, struct task_values *ret, struct err *err)
{
    *ret = (struct task_values){.count = self->stages[stage].attempt_count};
    for (size_t v = 0; v < TASK_VALUE_COUNT && ret->count; v++)
        if (wanted >> v & 1 && !(ret->of[v] = mem_alloc(ret->count * sizeof *ret->of[v]))) {
            task_values_dispose(ret);
            return err_nomem(err);
        }
    enum err_code rc = facts_value_batches(self, stage, wanted, scatter, ret, err);
    if (rc)
        task_values_dispose(ret);
    return rc;
}

void task_values_dispose(struct task_values *self)
{
    for (size_t v = 0; v < TASK_VALUE_COUNT; v++)
        mem_free(TAKE(self->of[v]));
}
