/* SPDX-License-Identifier: Apache-2.0 */
#include "server/task_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/int_column.h"
#include "base/mem.h"
#include "base/units.h"

#define MAX_CHUNKS ((size_t)1 << 20)
#define MAX_COLUMNS 160              /* table task has some 80, and there are the derived ones */

/* Where the tasks of one chunk stand in a column. */
struct chunk {
    int64_t number;
    size_t first, count;
};

struct column {
    char *name;                      /* owned */
    int64_t *values;                 /* owned; in order of task_seq */
};

struct task_columns {
    struct db *db;                   /* borrowed */
    int64_t stage_ref, first_seq, last_seq;
    size_t count;
    bool from_rows;                  /* no packed columns yet: read from table task */
    struct chunk *chunks;            /* by number */
    size_t chunk_count, chunk_capacity, largest_chunk;
    struct column *columns;
    size_t column_count, column_capacity;
};

static const char packed_sql[] =
    "SELECT chunk, packed FROM task_column WHERE stage_ref = ?1 AND column_id = (SELECT column_id FROM task_column_name WHERE name = ?2) ORDER BY chunk";

/* Adds a column to the set; its values are not set yet. */
static enum err_code add_column(struct task_columns *self, const char *name, int64_t **ret, struct err *err)
{
    if (mem_grow((void **)&self->columns, &self->column_capacity, self->column_count + 1, MAX_COLUMNS, sizeof *self->columns))
        return err_nomem(err);
    int64_t *values = mem_alloc((self->count ? self->count : 1) * sizeof *values);
    char *copy = mem_strndup(name, strlen(name));
    if (!values || !copy) {
        mem_free(values);
        mem_free(copy);
        return err_nomem(err);
    }
    self->columns[self->column_count++] = (struct column){copy, values};
    *ret = values;
    return ERR_OK;
}

static void drop_last_column(struct task_columns *self)
{
    struct column *last = &self->columns[--self->column_count];
    mem_free(last->name);
    mem_free(last->values);
}

static enum err_code add_chunk(struct task_columns *self, int64_t number, struct str packed, size_t room, int64_t *ids, struct err *err)
{
    size_t count;
    enum err_code rc = int_column_count(packed, &count, err);
    if (rc)
        return rc;
    if (mem_grow((void **)&self->chunks, &self->chunk_capacity, self->chunk_count + 1, MAX_CHUNKS, sizeof *self->chunks))
        return err_nomem(err);
    struct chunk chunk = {number, self->chunk_count ? self->chunks[self->chunk_count - 1].first + self->chunks[self->chunk_count - 1].count : 0, count};
    if (count > room - chunk.first)
        return err_set(err, ERR_NOT_FOUND, "more tasks in the columns than in the stage");
    self->chunks[self->chunk_count++] = chunk;
    self->largest_chunk = MAX(self->largest_chunk, count);
    return int_column_unpack(packed, ids + chunk.first, count, err);
}

/* The chunks' sizes are those of task_id, which every task has; it becomes the first column. ERR_NOT_FOUND: the columns do not hold the stage's tasks (yet). */
static enum err_code read_chunks(struct task_columns *self, struct err *err)
{
    int64_t *ids;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc;
    if ((rc = add_column(self, "task_id", &ids, err)) || (rc = db_prepare(self->db, &stmt, packed_sql, err)))
        return rc;
    db_bind_i64(stmt, 1, self->stage_ref);
    db_bind_str(stmt, 2, STR_LIT("task_id"));
    size_t total = 0;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        if ((rc = add_chunk(self, db_i64(stmt, 0), db_blob(stmt, 1), self->count, ids, err)))
            break;
        total += self->chunks[self->chunk_count - 1].count;
    }
    db_finalize(stmt);
    if (rc == ERR_EOF)
        rc = total == self->count ? ERR_OK : err_set(err, ERR_NOT_FOUND, "fewer tasks in the columns than in the stage");
    if (rc)
        drop_last_column(self);
    return rc;
}

static enum err_code count_rows(struct task_columns *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "SELECT count(*) FROM task WHERE stage_ref = ?1 AND task_seq BETWEEN ?2 AND ?3", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, self->stage_ref);
    db_bind_i64(stmt, 2, self->first_seq);
    db_bind_i64(stmt, 3, self->last_seq);
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        int64_t rows = db_i64(stmt, 0);
        if (rows > (int64_t)TASK_COLUMNS_MAX_TASKS)
            rc = err_set(err, ERR_LIMIT, "the stage has more tasks than can be sorted");
        else
            self->count = (size_t)rows;
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code open_stage(struct task_columns *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "SELECT task_rows, first_task_seq, last_task_seq FROM stage WHERE stage_ref = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, self->stage_ref);
    int64_t rows = 0;
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        rows = db_i64(stmt, 0);
        self->first_seq = db_i64(stmt, 1);
        self->last_seq = db_i64(stmt, 2);
    }
    db_finalize(stmt);
    if (rc == ERR_EOF || (rc == ERR_OK && (rows <= 0 || !known(self->first_seq) || !known(self->last_seq))))
        return ERR_OK;
    if (rc)
        return rc;
    if (rows > (int64_t)TASK_COLUMNS_MAX_TASKS)
        return err_set(err, ERR_LIMIT, "the stage has more tasks than can be sorted");
    self->count = (size_t)rows;
    if ((rc = read_chunks(self, err)) != ERR_NOT_FOUND)
        return rc;
    self->from_rows = true;
    return count_rows(self, err);
}

enum err_code task_columns_open(struct task_columns **ret, struct db *db, int64_t stage_ref, struct err *err)
{
    *ret = NULL;
    struct task_columns *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->db = db;
    self->stage_ref = stage_ref;
    enum err_code rc = open_stage(self, err);
    if (rc) {
        task_columns_free(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

size_t task_columns_count(const struct task_columns *self)
{
    return self->count;
}

void task_columns_forget(struct task_columns *self, const char *name)
{
    for (size_t i = 0; i < self->column_count; i++) {
        struct column *column = &self->columns[i];
        if (strcmp(column->name, name) != 0)
            continue;
        mem_free(column->name);
        mem_free(column->values);
        *column = self->columns[--self->column_count];
        return;
    }
}

void task_columns_free(struct task_columns *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->column_count; i++) {
        mem_free(self->columns[i].name);
        mem_free(self->columns[i].values);
    }
    mem_free(self->columns);
    mem_free(self->chunks);
    mem_free(self);
}

/* One packed column, chunk by chunk. */
struct reader {
    sqlite3_stmt *stmt;              /* NULL: ended */
    int64_t number;                  /* chunk of the row at hand */
};

static enum err_code reader_step(struct reader *self, struct err *err)
{
    enum err_code rc = db_step(self->stmt, err);
    if (rc == ERR_OK) {
        self->number = db_i64(self->stmt, 0);
        return ERR_OK;
    }
    db_finalize(TAKE(self->stmt));
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code reader_open(struct reader *self, const struct task_columns *set, const char *name, struct err *err)
{
    enum err_code rc = db_prepare(set->db, &self->stmt, packed_sql, err);
    if (rc)
        return rc;
    db_bind_i64(self->stmt, 1, set->stage_ref);
    db_bind_str(self->stmt, 2, str_of(name));
    return reader_step(self, err);
}

/* The chunk's values; unknown ones where the column has no such chunk. Chunks are asked for in order. */
static enum err_code reader_chunk(struct reader *self, const struct chunk *chunk, int64_t *out, struct err *err)
{
    if (!self->stmt || self->number > chunk->number) {
        for (size_t i = 0; i < chunk->count; i++)
            out[i] = UNKNOWN;
        return ERR_OK;
    }
    size_t count;
    enum err_code rc = int_column_count(db_blob(self->stmt, 1), &count, err);
    if (rc)
        return rc;
    if (self->number != chunk->number || count != chunk->count)
        return err_set(err, ERR_CORRUPT, "the columns of a stage are not equally long");
    if ((rc = int_column_unpack(db_blob(self->stmt, 1), out, count, err)))
        return rc;
    return reader_step(self, err);
}

/* The chunk is not looked at. */
static enum err_code reader_pass(struct reader *self, const struct chunk *chunk, struct err *err)
{
    return self->stmt && self->number == chunk->number ? reader_step(self, err) : ERR_OK;
}

/* All chunks were read: nothing may be left. */
static enum err_code reader_end(struct reader *self, struct err *err)
{
    if (!self->stmt)
        return ERR_OK;
    db_finalize(TAKE(self->stmt));
    return err_set(err, ERR_CORRUPT, "the columns of a stage are not equally long");
}

static enum err_code unpack(struct task_columns *self, const char *name, int64_t *values, struct err *err)
{
    struct reader reader = {0};
    enum err_code rc = reader_open(&reader, self, name, err);
    for (size_t i = 0; i < self->chunk_count && rc == ERR_OK; i++)
        rc = reader_chunk(&reader, &self->chunks[i], values + self->chunks[i].first, err);
    if (rc == ERR_OK)
        rc = reader_end(&reader, err);
    db_finalize(reader.stmt);
    return rc;
}

/* `name` was found in the schema of table task, so it is a plain word. */
static enum err_code read_rows(struct task_columns *self, const char *name, int64_t *values, struct err *err)
{
    char sql[256];
    sqlite3_snprintf(sizeof sql, sql, "SELECT \"%w\" FROM task WHERE stage_ref = ?1 AND task_seq BETWEEN ?2 AND ?3 ORDER BY task_seq", name);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, sql, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, self->stage_ref);
    db_bind_i64(stmt, 2, self->first_seq);
    db_bind_i64(stmt, 3, self->last_seq);
    /* A log that is being loaded may have gained rows since the count. */
    size_t n = 0;
    while (n < self->count && (rc = db_step(stmt, err)) == ERR_OK)
        values[n++] = db_i64(stmt, 0);
    for (size_t i = n; i < self->count; i++)
        values[i] = UNKNOWN;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Asked of a statement, which is kept: a pragma would be compiled each time. */
static enum err_code is_task_column(struct db *db, const char *name, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT * FROM task", err);
    if (rc)
        return rc;
    int count = sqlite3_column_count(stmt), i = 0;
    while (i < count && strcmp(sqlite3_column_name(stmt, i), name) != 0)
        i++;
    db_finalize(stmt);
    return i < count ? ERR_OK : err_set(err, ERR_NOT_FOUND, "no such task column");
}

static enum err_code load(struct task_columns *self, const char *name, int64_t *values, struct err *err)
{
    bool contiguous = self->count && (uint64_t)self->last_seq - (uint64_t)self->first_seq + 1 == self->count;
    if (strcmp(name, "task_seq") == 0 && contiguous) {
        for (size_t i = 0; i < self->count; i++)
            values[i] = self->first_seq + (int64_t)i;
        return ERR_OK;
    }
    if (self->from_rows)
        return read_rows(self, name, values, err);
    enum err_code rc = unpack(self, name, values, err);
    /* A database whose writer kept no such column still has the rows. */
    if (rc == ERR_OK && strcmp(name, "task_seq") == 0 && self->count && !known(values[0]))
        rc = read_rows(self, name, values, err);
    return rc;
}

static int64_t minus(int64_t a, int64_t b)
{
    int64_t out;
    if (__builtin_sub_overflow(a, b, &out))
        return b < 0 ? INT64_MAX : INT64_MIN + 1;
    return out;
}

#define MAX_INPUTS 6

/* The columns that a derived one is made of, and the derivation of one task. in[] in the order of the names. */
struct derived {
    const char *name;
    const char *from[MAX_INPUTS];
    int64_t (*value)(const int64_t *in);
};

static int64_t duration(const int64_t *in)
{
    return known(in[0]) && known(in[1]) ? minus(in[0], in[1]) : UNKNOWN;
}

int64_t task_getting_result_time_ms(int64_t finish_ms, int64_t getting_result_ms)
{
    if (!known(finish_ms))
        return UNKNOWN;
    return known(getting_result_ms) && getting_result_ms > 0 ? minus(finish_ms, getting_result_ms) : 0;
}

int64_t task_scheduler_delay_ms(int64_t finish_ms, int64_t launch_ms, int64_t getting_result_ms, int64_t run_time_ms, int64_t deserialize_time_ms,
                                int64_t result_serialization_time_ms)
{
    if (!known(finish_ms) || !known(launch_ms))
        return UNKNOWN;
    int64_t left = minus(finish_ms, launch_ms);
    left = minus(left, known_or(run_time_ms, 0));
    left = minus(left, known_or(deserialize_time_ms, 0));
    left = minus(left, known_or(result_serialization_time_ms, 0));
    left = minus(left, task_getting_result_time_ms(finish_ms, getting_result_ms));
    return MAX(left, 0);
}

static int64_t getting_result(const int64_t *in)
{
    int64_t time_ms = task_getting_result_time_ms(in[0], in[1]);
    return time_ms < 0 ? UNKNOWN : time_ms;
}

static int64_t scheduler_delay(const int64_t *in)
{
    bool fetched_within = known(in[0]) && known(in[2]) && in[2] <= in[0];
    return task_scheduler_delay_ms(in[0], in[1], fetched_within ? in[2] : UNKNOWN, in[3], in[4], in[5]);
}

static int64_t sum(const int64_t *in)
{
    return add_known(in[0], in[1]);
}

static const struct derived derived_columns[] = {
    {"duration_ms", {"finish_ms", "launch_ms"}, duration},
    {"getting_result_time_ms", {"finish_ms", "getting_result_ms"}, getting_result},
    {"scheduler_delay_ms",
     {"finish_ms", "launch_ms", "getting_result_ms", "executor_run_time_ms", "executor_deserialize_time_ms", "result_serialization_time_ms"},
     scheduler_delay},
    {"shuffle_read_bytes", {"shuffle_remote_read_bytes", "shuffle_local_read_bytes"}, sum},
    {"shuffle_blocks_fetched", {"shuffle_remote_blocks_fetched", "shuffle_local_blocks_fetched"}, sum},
};

static const int64_t *loaded(const struct task_columns *self, const char *name)
{
    for (size_t i = 0; i < self->column_count; i++)
        if (strcmp(self->columns[i].name, name) == 0)
            return self->columns[i].values;
    return NULL;
}

static enum err_code get_plain(struct task_columns *self, const char *name, const int64_t **ret, struct err *err)
{
    *ret = loaded(self, name);
    if (*ret)
        return ERR_OK;
    enum err_code rc = is_task_column(self->db, name, err);
    int64_t *values;
    if (rc || (rc = add_column(self, name, &values, err)))
        return rc;
    if ((rc = load(self, name, values, err)))
        drop_last_column(self);
    else
        *ret = values;
    return rc;
}

/* ---- Walks ---- */

static bool any_kept(const unsigned char *keep, const struct chunk *chunk)
{
    return !keep || memchr(keep + chunk->first, 1, chunk->count);
}

/* Chunk by chunk: what a walk looks at needs no memory of its own. */
static enum err_code walk_packed(struct task_columns *self, const char *const *names, size_t name_count, const unsigned char *keep, task_columns_walk_fn *take, void *context,
                                 struct err *err)
{
    struct reader readers[TASK_COLUMNS_WALK_MOST] = {0};
    const int64_t *values[TASK_COLUMNS_WALK_MOST];
    CLEANUP(mem_freep) int64_t *scratch = mem_alloc((self->largest_chunk ? self->largest_chunk : 1) * name_count * sizeof *scratch);
    enum err_code rc = scratch ? ERR_OK : err_nomem(err);
    for (size_t c = 0; c < name_count && rc == ERR_OK; c++)
        rc = reader_open(&readers[c], self, names[c], err);
    for (size_t i = 0; i < self->chunk_count && rc == ERR_OK; i++) {
        const struct chunk *chunk = &self->chunks[i];
        bool wanted = any_kept(keep, chunk);
        for (size_t c = 0; c < name_count && rc == ERR_OK; c++) {
            int64_t *out = scratch + c * self->largest_chunk;
            values[c] = out;
            rc = wanted ? reader_chunk(&readers[c], chunk, out, err) : reader_pass(&readers[c], chunk, err);
        }
        if (rc == ERR_OK && wanted)
            rc = take(context, chunk->first, chunk->count, values, err);
    }
    for (size_t c = 0; c < name_count; c++) {
        if (rc == ERR_OK)
            rc = reader_end(&readers[c], err);
        db_finalize(readers[c].stmt);
    }
    return rc;
}

enum err_code task_columns_walk(struct task_columns *self, const char *const *names, size_t name_count, const unsigned char *keep, task_columns_walk_fn *take, void *context,
                                struct err *err)
{
    const int64_t *values[TASK_COLUMNS_WALK_MOST];
    if (!self->from_rows)
        return walk_packed(self, names, name_count, keep, take, context, err);
    for (size_t c = 0; c < name_count; c++) {
        enum err_code rc = get_plain(self, names[c], &values[c], err);
        if (rc)
            return rc;
    }
    return take(context, 0, self->count, values, err);
}

struct derivation {
    const struct derived *derived;
    size_t inputs;
    int64_t *out;
};

static enum err_code derive(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err)
{
    (void)err;
    struct derivation *self = context;
    for (size_t i = 0; i < count; i++) {
        int64_t in[MAX_INPUTS];
        for (size_t c = 0; c < self->inputs; c++)
            in[c] = values[c][i];
        self->out[first + i] = self->derived->value(in);
    }
    return ERR_OK;
}

static enum err_code get_derived(struct task_columns *self, const struct derived *derived, const int64_t **ret, struct err *err)
{
    size_t inputs = 0;
    while (inputs < MAX_INPUTS && derived->from[inputs])
        inputs++;
    CLEANUP(mem_freep) int64_t *made = mem_alloc((self->count ? self->count : 1) * sizeof *made);
    char *name = mem_strndup(derived->name, strlen(derived->name));
    enum err_code rc = made && name ? ERR_OK : err_nomem(err);
    if (rc == ERR_OK)
        rc = task_columns_walk(self, derived->from, inputs, NULL, derive, &(struct derivation){derived, inputs, made}, err);
    if (rc == ERR_OK && mem_grow((void **)&self->columns, &self->column_capacity, self->column_count + 1, MAX_COLUMNS, sizeof *self->columns))
        rc = err_nomem(err);
    if (rc) {
        mem_free(name);
        return rc;
    }
    *ret = made;
    self->columns[self->column_count++] = (struct column){name, TAKE(made)};
    return ERR_OK;
}

enum err_code task_columns_get(struct task_columns *self, const char *name, const int64_t **ret, struct err *err)
{
    *ret = loaded(self, name);
    if (*ret)
        return ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(derived_columns); i++)
        if (strcmp(name, derived_columns[i].name) == 0)
            return get_derived(self, &derived_columns[i], ret, err);
    return get_plain(self, name, ret, err);
}
