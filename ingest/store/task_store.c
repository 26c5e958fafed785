/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/task_store.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/int_column.h"
#include "base/map.h"
#include "base/mem.h"

const char *const task_metric_columns[TASK_METRIC_COUNT] = {
#define X(id, column, group, key, accumulable) column,
    TASK_METRICS(X)
#undef X
};

const char *const executor_metric_columns[EXECUTOR_METRIC_COUNT] = {
#define X(id, column, key) column,
    EXECUTOR_METRICS(X)
#undef X
};

/* Table task's columns before the metrics, in the order of struct task_row, which is all numbers: a row is read as an array. `packed` ones go to task_column too. */
static const struct {
    const char *name;
    bool packed;
} row_columns[] = {
#define ROW(name, packed) {#name, packed}
    ROW(task_seq, true),   ROW(stage_ref, false),  ROW(task_id, true),           ROW(task_index, true), ROW(attempt, true),     ROW(partition_id, true), ROW(executor_ref, true),
    ROW(host_ref, true),   ROW(launch_ms, true),   ROW(finish_ms, true),         ROW(getting_result_ms, true), ROW(locality, true), ROW(speculative, true), ROW(status, true),
    ROW(end_reason, true), ROW(error_text_id, true), ROW(start_seen, false),     ROW(has_metrics, true),
#undef ROW
};

enum {
    ROW_COLUMNS = ARRAY_LENGTH(row_columns),
    TABLE_COLUMNS = ROW_COLUMNS + TASK_METRIC_COUNT,         /* of table task */
    ALL_COLUMNS = TABLE_COLUMNS + EXECUTOR_METRIC_COUNT,     /* of task_column */
};
_Static_assert(sizeof(struct task_row) == ALL_COLUMNS * sizeof(int64_t), "struct task_row and its columns differ");
#define COLUMN_BLOB_MAX ((size_t)64 << 20)       /* a chunk's column is 128 KiB */
#define PAGE_CELLS ((size_t)4096 / sizeof(int64_t))   /* from here on columns would lie whole pages apart */
#define LINE_CELLS ((size_t)64 / sizeof(int64_t))     /* of a cache line */
#define ROWS_AT_ONCE ((size_t)32)                /* a statement of 32 × 46 values: what SQLite does once a statement is shared, its 110 kB still lie in the cache */
#define SPARE_BELOW_BYTES (TASK_STORE_BYTES / 4)       /* of open chunks: with many stages open at once a small one must not sit in a large chunk's memory */
#define MAX_STAGES ((size_t)50 << 20)
#define MAX_STAGE_TASKS ((size_t)1 << 28)        /* for quantiles: 2 GiB of values; Spark's ids are 32-bit */

/* Open chunk of one stage attempt. The struct stays when the stage is done: later rows need the next number. */
struct chunk {
    int64_t stage_ref, number;
    int64_t *cells;                  /* ALL_COLUMNS × stride_of(capacity), by column; owned; NULL while empty */
    size_t count, capacity;
    size_t stored_rows;              /* in chunks written and let go */
    bool dirty;
    bool written;                    /* `number` has columns in the database */
    /* Rows of open tasks have chunks of their own, behind all others: they are dropped when the log goes on. */
    bool provisional;
    int64_t first_provisional;       /* the first such chunk's number */
    size_t solid_rows;               /* stored_rows before it */
};

/* INSERT of `rows` rows at once. Bindings outlive sqlite3_reset: only what differs from the rows before is bound again, and half of a task's metrics are always 0. */
struct row_insert {
    sqlite3_stmt *stmt;
    size_t rows;
    int64_t *bound;                  /* rows × TABLE_COLUMNS; owned; NULL: nothing is bound yet */
};

struct task_store {
    struct db *db;
    struct row_insert insert_one, insert_many;
    sqlite3_stmt *insert_accumulable, *put_column, *drop_chunk, *drop_chunks, *get_column, *put_quantile, *drop_rows;
    struct imap chunks;              /* stage_ref → struct chunk, owned */
    size_t open_bytes;
    int64_t *spare;                  /* cells of a chunk that was let go, for the next that needs room: fresh memory costs as much as what is written into it; owned */
    size_t spare_capacity;
    struct buf blob;
    int64_t first_provisional;
    int64_t *values, *other;         /* scratch of summarise, owned */
    size_t values_room, other_room;
    unsigned char *keep;
    size_t keep_room;
};

static const char *column_name(size_t column)
{
    if (column < ROW_COLUMNS)
        return row_columns[column].name;
    return column < TABLE_COLUMNS ? task_metric_columns[column - ROW_COLUMNS] : executor_metric_columns[column - TABLE_COLUMNS];
}

/* OR FAIL spares the copies of pages that SQLite keeps to take half a statement back: a load that fails is thrown away whole. */
static enum err_code prepare_insert(struct task_store *self, struct row_insert *insert, size_t rows, struct err *err)
{
    CLEANUP(buf_dispose) struct buf sql;
    buf_init(&sql, 65536);
    buf_text(&sql, "INSERT OR FAIL INTO task (");
    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        buf_printf(&sql, "%s%s", i ? ", " : "", column_name(i));
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < TABLE_COLUMNS; i++)
            buf_text(&sql, i ? ", ?" : row ? "), (?" : ") VALUES (?");
    buf_text(&sql, ")");
    if (buf_failed(&sql))
        return err_nomem(err);
    insert->rows = rows;
    return db_prepare(self->db, &insert->stmt, sql.data, err);
}

static enum err_code prepare(struct task_store *self, struct err *err)
{
    const struct {
        sqlite3_stmt **to;
        const char *text;
    } statements[] = {
        {&self->insert_accumulable, "INSERT OR REPLACE INTO task_accumulable (task_seq, ordinal, accumulable_id, name, update_text, value_text) VALUES (?, ?, ?, ?, ?, ?)"},
        {&self->put_column, "INSERT OR REPLACE INTO task_column (stage_ref, column_id, chunk, packed) VALUES (?, ?, ?, ?)"},
        {&self->drop_chunk, "DELETE FROM task_column WHERE stage_ref = ? AND column_id = ? AND chunk = ?"},
        {&self->drop_chunks, "DELETE FROM task_column WHERE stage_ref = ? AND chunk >= ?"},
        {&self->get_column, "SELECT chunk, packed FROM task_column WHERE stage_ref = ? AND column_id = ? AND chunk < ? ORDER BY chunk"},
        {&self->put_quantile,
         "INSERT OR REPLACE INTO stage_quantile (stage_ref, name, task_count, min, p05, p25, p50, p75, p95, p99, max, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&self->drop_rows, "DELETE FROM task WHERE task_seq >= ?"},
    };
    enum err_code rc;
    if ((rc = prepare_insert(self, &self->insert_one, 1, err)) || (rc = prepare_insert(self, &self->insert_many, ROWS_AT_ONCE, err)))
        return rc;
    for (size_t i = 0; i < ARRAY_LENGTH(statements); i++)
        if ((rc = db_prepare(self->db, statements[i].to, statements[i].text, err)))
            return rc;
    return ERR_OK;
}

static enum err_code name_columns(struct task_store *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "INSERT OR REPLACE INTO task_column_name (column_id, name) VALUES (?, ?)", err);
    for (size_t i = 0; i < ALL_COLUMNS && !rc; i++) {
        if (i < ROW_COLUMNS && !row_columns[i].packed)
            continue;
        db_bind_i64(stmt, 1, (int64_t)i);
        db_bind_str(stmt, 2, str_of(column_name(i)));
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

enum err_code task_store_new(struct task_store **ret, struct db *db, struct err *err)
{
    struct task_store *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->first_provisional = UNKNOWN;
    imap_init(&self->chunks, MAX_STAGES);
    buf_init(&self->blob, COLUMN_BLOB_MAX);
    enum err_code rc = task_store_attach(self, db, err);
    if (!rc)
        rc = name_columns(self, err);
    if (rc) {
        task_store_free(self);
        self = NULL;
    }
    *ret = self;
    return rc;
}

/* From a column to the next one. A line more than a power of two: else the cells of a row, written together, would all fall into the same few lines of the cache. */
static size_t stride_of(size_t capacity)
{
    return capacity >= PAGE_CELLS ? capacity + LINE_CELLS : capacity;
}

static size_t cells_bytes(size_t capacity)
{
    return stride_of(capacity) * ALL_COLUMNS * sizeof(int64_t);
}

/* The larger one becomes, or stays, the spare. */
static void keep_spare(struct task_store *self, int64_t *cells, size_t capacity)
{
    if (capacity > self->spare_capacity) {
        mem_free(self->spare);
        self->spare = cells;
        self->spare_capacity = capacity;
    } else {
        mem_free(cells);
    }
}

static void let_cells_go(struct task_store *self, struct chunk *chunk)
{
    self->open_bytes -= cells_bytes(chunk->capacity);
    keep_spare(self, chunk->cells, chunk->capacity);
    chunk->cells = NULL;
    chunk->count = chunk->capacity = 0;
    chunk->dirty = false;
}

void task_store_detach(struct task_store *self)
{
    sqlite3_stmt **const statements[] = {&self->insert_one.stmt, &self->insert_many.stmt, &self->insert_accumulable, &self->put_column, &self->drop_chunk,
                                         &self->drop_chunks,     &self->get_column,       &self->put_quantile,       &self->drop_rows};
    for (size_t i = 0; i < ARRAY_LENGTH(statements); i++)
        db_finalize(TAKE(*statements[i]));
    mem_free(TAKE(self->insert_one.bound));
    mem_free(TAKE(self->insert_many.bound));
}

enum err_code task_store_attach(struct task_store *self, struct db *db, struct err *err)
{
    self->db = db;
    return prepare(self, err);
}

/* The spare, and some 17 bytes a task of the largest stage. */
static void let_scratch_go(struct task_store *self)
{
    mem_free(TAKE(self->spare));
    self->spare_capacity = 0;
    mem_free(TAKE(self->values));
    mem_free(TAKE(self->other));
    mem_free(TAKE(self->keep));
    self->values_room = self->other_room = self->keep_room = 0;
}

void task_store_free(struct task_store *self)
{
    if (!self)
        return;
    task_store_detach(self);
    for (size_t i = 0; i < self->chunks.count; i++) {
        struct chunk *chunk = self->chunks.entries[i].value;
        mem_free(chunk->cells);
        mem_free(chunk);
    }
    imap_dispose(&self->chunks);
    buf_dispose(&self->blob);
    let_scratch_go(self);
    mem_free(self);
}

static struct chunk *chunk_get(struct task_store *self, int64_t stage_ref)
{
    struct chunk *chunk = imap_get(&self->chunks, stage_ref);
    if (chunk)
        return chunk;
    chunk = mem_zalloc(sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->stage_ref = stage_ref;
    if (imap_put(&self->chunks, stage_ref, chunk)) {
        mem_free(chunk);
        return NULL;
    }
    return chunk;
}

static int grow_cells(struct task_store *self, struct chunk *chunk)
{
    bool take_spare = self->spare_capacity > chunk->capacity && self->open_bytes < SPARE_BELOW_BYTES;
    size_t capacity = take_spare ? self->spare_capacity : chunk->capacity ? chunk->capacity * 2 : 16;
    int64_t *cells = take_spare ? self->spare : mem_alloc(cells_bytes(capacity));
    if (!cells)
        return -1;
    if (take_spare) {
        self->spare = NULL;
        self->spare_capacity = 0;
    }
    for (size_t c = 0; c < ALL_COLUMNS && chunk->count; c++)
        memcpy(cells + c * stride_of(capacity), chunk->cells + c * stride_of(chunk->capacity), chunk->count * sizeof *cells);
    self->open_bytes += cells_bytes(capacity) - cells_bytes(chunk->capacity);
    keep_spare(self, chunk->cells, chunk->capacity);
    chunk->cells = cells;
    chunk->capacity = capacity;
    return 0;
}

/* Writes the chunk's columns over what was written of it before. */
static enum err_code write_chunk(struct task_store *self, struct chunk *chunk, struct err *err)
{
    for (size_t c = 0; c < ALL_COLUMNS; c++) {
        if (c < ROW_COLUMNS && !row_columns[c].packed)
            continue;
        buf_clear(&self->blob);
        bool any = chunk->count && int_column_pack(chunk->cells + c * stride_of(chunk->capacity), chunk->count, &self->blob);
        if (buf_failed(&self->blob))
            return err_nomem(err);
        if (!any && !chunk->written)
            continue;
        sqlite3_stmt *stmt = any ? self->put_column : self->drop_chunk;
        db_bind_i64(stmt, 1, chunk->stage_ref);
        db_bind_i64(stmt, 2, (int64_t)c);
        db_bind_i64(stmt, 3, chunk->number);
        if (any)
            db_bind_blob(stmt, 4, self->blob.data, self->blob.len);
        enum err_code rc = db_run(stmt, err);
        if (rc)
            return rc;
    }
    chunk->dirty = false;
    chunk->written = true;
    return ERR_OK;
}

/* Writes and forgets the chunk's rows; the next row opens a new one. */
static enum err_code close_chunk(struct task_store *self, struct chunk *chunk, struct err *err)
{
    if (!chunk->count)
        return ERR_OK;
    enum err_code rc = chunk->dirty ? write_chunk(self, chunk, err) : ERR_OK;
    if (rc)
        return rc;
    chunk->stored_rows += chunk->count;
    chunk->number++;
    chunk->written = false;
    let_cells_go(self, chunk);
    return ERR_OK;
}

/* Closes those with the most room, until a quarter of the memory is free: a look at all stages must pay for many rows, or tasks of thousands of open stages in turn take
 * forever. */
static enum err_code close_largest(struct task_store *self, struct err *err)
{
    size_t largest = 0;
    for (size_t i = 0; i < self->chunks.count; i++)
        largest = MAX(largest, ((const struct chunk *)self->chunks.entries[i].value)->capacity);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->chunks.count && !rc && largest && self->open_bytes > TASK_STORE_BYTES / 4 * 3; i++) {
        struct chunk *chunk = self->chunks.entries[i].value;
        if (chunk->capacity == largest)
            rc = close_chunk(self, chunk, err);
    }
    return rc;
}

static enum err_code insert_rows(struct task_store *self, struct row_insert *insert, const struct task_row *rows, struct err *err)
{
    bool first = !insert->bound;
    if (first && !(insert->bound = mem_alloc(insert->rows * TABLE_COLUMNS * sizeof *insert->bound)))
        return err_nomem(err);
    int64_t *bound = insert->bound;
    int position = 1;
    for (size_t r = 0; r < insert->rows; r++) {
        const int64_t *values = &rows[r].task_seq;
        for (size_t i = 0; i < TABLE_COLUMNS; i++, bound++, position++)
            if (first || values[i] != *bound) {
                db_bind_i64(insert->stmt, position, values[i]);
                *bound = values[i];
            }
    }
    int code = sqlite3_step(insert->stmt);
    sqlite3_reset(insert->stmt);
    return code == SQLITE_DONE ? ERR_OK : db_error(self->db->handle, err, "task row");
}

static enum err_code begin_provisional(struct task_store *self, struct chunk *chunk, int64_t task_seq, struct err *err)
{
    if (!known(self->first_provisional))
        self->first_provisional = task_seq;
    if (chunk->provisional)
        return ERR_OK;
    enum err_code rc = close_chunk(self, chunk, err);
    chunk->provisional = true;
    chunk->first_provisional = chunk->number;
    chunk->solid_rows = chunk->stored_rows;
    return rc;
}

/* Room for one more row, at least, in the stage's chunk. */
static enum err_code make_room(struct task_store *self, struct chunk *chunk, struct err *err)
{
    enum err_code rc;
    if (chunk->count >= TASK_CHUNK_ROWS && (rc = close_chunk(self, chunk, err)))
        return rc;
    if (chunk->count < chunk->capacity)
        return ERR_OK;
    while (self->open_bytes > TASK_STORE_BYTES) {
        size_t before = self->open_bytes;
        if ((rc = close_largest(self, err)))
            return rc;
        if (self->open_bytes == before)
            break;
    }
    return chunk->count == chunk->capacity && grow_cells(self, chunk) ? err_nomem(err) : ERR_OK;
}

/* Rows of one stage, with or all without an end, into its chunk. A cache line of a column is written whole, not a cell for each row. */
static enum err_code add_to_chunk(struct task_store *self, const struct task_row *rows, size_t count, struct err *err)
{
    struct chunk *chunk = chunk_get(self, rows->stage_ref);
    if (!chunk)
        return err_nomem(err);
    enum err_code rc = known(rows->end_reason) ? ERR_OK : begin_provisional(self, chunk, rows->task_seq, err);
    for (size_t done = 0, step; done < count && !rc; done += step) {
        step = 0;
        if ((rc = make_room(self, chunk, err)))
            break;
        step = MIN(MIN(count - done, chunk->capacity - chunk->count), LINE_CELLS - chunk->count % LINE_CELLS);
        size_t stride = stride_of(chunk->capacity);
        for (size_t c = 0; c < ALL_COLUMNS; c++)
            for (size_t r = 0; r < step; r++)
                chunk->cells[c * stride + chunk->count + r] = (&rows[done + r].task_seq)[c];
        chunk->count += step;
        chunk->dirty = true;
    }
    return rc;
}

enum err_code task_store_add(struct task_store *self, const struct task_row *rows, size_t count, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < count && !rc;) {
        struct row_insert *insert = count - i >= ROWS_AT_ONCE ? &self->insert_many : &self->insert_one;
        rc = insert_rows(self, insert, rows + i, err);
        i += insert->rows;
    }
    for (size_t i = 0, end; i < count && !rc; i = end) {
        for (end = i + 1; end < count && rows[end].stage_ref == rows[i].stage_ref && known(rows[end].end_reason) == known(rows[i].end_reason);)
            end++;
        rc = add_to_chunk(self, rows + i, end - i, err);
    }
    return rc;
}

enum err_code task_store_add_accumulable(struct task_store *self, int64_t task_seq, int64_t ordinal, const struct accumulable *accumulable, struct err *err)
{
    sqlite3_stmt *stmt = self->insert_accumulable;
    db_bind_i64(stmt, 1, task_seq);
    db_bind_i64(stmt, 2, ordinal);
    db_bind_i64(stmt, 3, accumulable->id);
    db_bind_str(stmt, 4, accumulable->name);
    db_bind_str(stmt, 5, accumulable->update);
    db_bind_str(stmt, 6, accumulable->value);
    return db_run(stmt, err);
}

enum err_code task_store_flush(struct task_store *self, struct err *err)
{
    let_scratch_go(self);
    for (size_t i = 0; i < self->chunks.count; i++) {
        struct chunk *chunk = self->chunks.entries[i].value;
        enum err_code rc = chunk->dirty ? write_chunk(self, chunk, err) : ERR_OK;
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err_code room_for(int64_t **values, size_t *room, size_t need, struct err *err)
{
    return mem_grow((void **)values, room, need, MAX_STAGE_TASKS, sizeof **values) ? err_nomem(err) : ERR_OK;
}

/* A column of the whole stage attempt, in order of rows: `total` values. */
static enum err_code load_column(struct task_store *self, const struct chunk *chunk, size_t column, int64_t *to, size_t total, struct err *err)
{
    /* A chunk without this column has no row: all unknown. Rows of a chunk are counted by task_seq, which every chunk has. */
    const size_t first_column = 0;
    size_t at = 0;
    int64_t next_chunk = 0;
    sqlite3_stmt *stmt = self->get_column;
    enum err_code rc = ERR_OK;
    if (chunk->stored_rows) {
        db_bind_i64(stmt, 1, chunk->stage_ref);
        db_bind_i64(stmt, 2, (int64_t)column);
        db_bind_i64(stmt, 3, chunk->number);
        while ((rc = db_step(stmt, err)) == ERR_OK) {
            size_t count;
            struct str blob = db_blob(stmt, 1);
            for (; next_chunk < db_i64(stmt, 0); next_chunk++) {   /* skipped chunks are full ones, except where memory was short */
                int64_t missing = 0;
                sqlite3_stmt *length = NULL;
                if ((rc = db_prepare(self->db, &length, "SELECT packed FROM task_column WHERE stage_ref = ? AND column_id = ? AND chunk = ?", err)))
                    goto fail;
                db_bind_i64(length, 1, chunk->stage_ref);
                db_bind_i64(length, 2, (int64_t)first_column);
                db_bind_i64(length, 3, next_chunk);
                size_t rows = 0;
                rc = db_step(length, err);
                if (rc == ERR_OK)
                    rc = int_column_count(db_blob(length, 0), &rows, err);
                db_finalize(length);
                if (rc && rc != ERR_EOF)
                    goto fail;
                missing = (int64_t)rows;
                for (; missing > 0 && at < total; missing--)
                    to[at++] = UNKNOWN;
            }
            if ((rc = int_column_unpack(blob, to + at, total - at, err)) || (rc = int_column_count(blob, &count, err)))
                goto fail;
            at += count;
            next_chunk++;
        }
        if (rc != ERR_EOF)
            return rc;
    }
    while (at < chunk->stored_rows)
        to[at++] = UNKNOWN;
    if (chunk->count)
        memcpy(to + at, chunk->cells + column * stride_of(chunk->capacity), chunk->count * sizeof *to);
    return ERR_OK;
fail:
    db_reset(stmt);
    return rc;
}

static size_t column_of(const char *name)
{
    size_t i = 0;
    while (strcmp(column_name(i), name) != 0)
        i++;
    return i;
}

static enum err_code put_quantiles(struct task_store *self, int64_t stage_ref, const char *name, size_t total, struct err *err)
{
    enum { QUANTILES = 8 };
    static const double at[QUANTILES] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    size_t count = 0;
    int64_t sum = UNKNOWN, low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < total; i++)
        if (self->keep[i] && known(self->values[i])) {
            int64_t value = self->values[count++] = self->values[i];
            sum = add_known(sum, value);
            low = MIN(low, value);
            high = MAX(high, value);
        }
    sqlite3_stmt *stmt = self->put_quantile;
    if (!count)
        return ERR_OK;
    db_bind_i64(stmt, 1, stage_ref);
    db_bind_str(stmt, 2, str_of(name));
    db_bind_i64(stmt, 3, (int64_t)count);
    /* The smallest and largest are known; the rest from the middle outwards, so that each looks only at the part where it
     * lies, without those that are in place. */
    size_t nth[QUANTILES];
    for (size_t i = 0; i < QUANTILES; i++)
        nth[i] = i + 1 == QUANTILES ? count - 1 : quantile_index(at[i], count);
    if (low != high) {
        static const struct {
            unsigned char which, after, before;   /* between which of those in place it lies */
        } order[] = {{3, 0, 7}, {2, 0, 3}, {1, 0, 2}, {4, 3, 7}, {5, 4, 7}, {6, 5, 7}};
        for (size_t i = 0; i < ARRAY_LENGTH(order); i++) {
            size_t begin = order[i].after == 0 ? 0 : nth[order[i].after] + 1, end = order[i].before == 7 ? count : nth[order[i].before], here = nth[order[i].which];
            if (here >= begin && here < end)   /* else it is one of those in place: few values */
                select_nth(self->values + begin, end - begin, here - begin);
        }
    }
    for (size_t i = 0; i < QUANTILES; i++)
        db_bind_i64(stmt, 4 + (int)i, i == 0 ? low : i + 1 == QUANTILES ? high : self->values[nth[i]]);
    db_bind_i64(stmt, 12, sum);
    return db_run(stmt, err);
}

/* values −= column where both are known; UNKNOWN where the column is and `required`. */
static enum err_code subtract(struct task_store *self, const struct chunk *chunk, size_t column, bool required, size_t total, struct err *err)
{
    enum err_code rc = load_column(self, chunk, column, self->other, total, err);
    for (size_t i = 0; i < total && !rc; i++)
        if (known(self->values[i]))
            self->values[i] = known(self->other[i]) ? add_known(self->values[i], -self->other[i]) : required ? UNKNOWN : self->values[i];
    return rc;
}

static enum err_code load_duration(struct task_store *self, const struct chunk *chunk, int64_t *to, size_t total, struct err *err)
{
    enum err_code rc;
    if ((rc = load_column(self, chunk, column_of("finish_ms"), to, total, err)) || (rc = load_column(self, chunk, column_of("launch_ms"), self->other, total, err)))
        return rc;
    for (size_t i = 0; i < total; i++)
        to[i] = elapsed_known(self->other[i], to[i]);
    return ERR_OK;
}

/* Getting-result time (spec/core.md §2.7): 0 where the result came with the end, else from the fetch's begin to the finish. */
static enum err_code load_getting_result(struct task_store *self, const struct chunk *chunk, size_t total, struct err *err)
{
    enum err_code rc;
    if ((rc = load_column(self, chunk, column_of("finish_ms"), self->values, total, err)) ||
        (rc = load_column(self, chunk, column_of("getting_result_ms"), self->other, total, err)))
        return rc;
    for (size_t i = 0; i < total; i++)
        self->values[i] = self->other[i] > 0 ? elapsed_known(self->other[i], self->values[i]) : 0;
    return ERR_OK;
}

static enum err_code derived_quantiles(struct task_store *self, const struct chunk *chunk, size_t total, struct err *err)
{
    enum err_code rc;
    if ((rc = load_duration(self, chunk, self->values, total, err)) || (rc = put_quantiles(self, chunk->stage_ref, "duration_ms", total, err)))
        return rc;
    if ((rc = load_getting_result(self, chunk, total, err)) || (rc = put_quantiles(self, chunk->stage_ref, "getting_result_time_ms", total, err)))
        return rc;
    /* delay = duration − run − deserialise − serialise − getting result, not below 0. The last is duration-like: finish − fetch begin. */
    if ((rc = load_column(self, chunk, column_of("getting_result_ms"), self->values, total, err)) ||
        (rc = load_column(self, chunk, column_of("finish_ms"), self->other, total, err)))
        return rc;
    for (size_t i = 0; i < total; i++)   /* the moment at which the task itself was over */
        self->values[i] = self->values[i] > 0 ? min_known(self->values[i], self->other[i]) : self->other[i];
    if ((rc = subtract(self, chunk, column_of("launch_ms"), true, total, err)) || (rc = subtract(self, chunk, column_of("executor_run_time_ms"), true, total, err)) ||
        (rc = subtract(self, chunk, column_of("executor_deserialize_time_ms"), false, total, err)) ||
        (rc = subtract(self, chunk, column_of("result_serialization_time_ms"), false, total, err)))
        return rc;
    for (size_t i = 0; i < total; i++)
        self->values[i] = known(self->values[i]) && self->values[i] < 0 ? 0 : self->values[i];
    if ((rc = put_quantiles(self, chunk->stage_ref, "scheduler_delay_ms", total, err)))
        return rc;
    static const struct {
        const char *name;
        int a, b;
    } sums[] = {
        {"shuffle_read_bytes", METRIC_SHUFFLE_REMOTE_READ, METRIC_SHUFFLE_LOCAL_READ},
        {"shuffle_blocks_fetched", METRIC_SHUFFLE_REMOTE_BLOCKS_FETCHED, METRIC_SHUFFLE_LOCAL_BLOCKS_FETCHED},
    };
    for (size_t s = 0; s < ARRAY_LENGTH(sums); s++) {
        if ((rc = load_column(self, chunk, ROW_COLUMNS + (size_t)sums[s].a, self->values, total, err)) ||
            (rc = load_column(self, chunk, ROW_COLUMNS + (size_t)sums[s].b, self->other, total, err)))
            return rc;
        for (size_t i = 0; i < total; i++)
            self->values[i] = add_known(self->values[i], self->other[i]);
        if ((rc = put_quantiles(self, chunk->stage_ref, sums[s].name, total, err)))
            return rc;
    }
    return ERR_OK;
}

enum err_code task_store_summarise(struct task_store *self, int64_t stage_ref, bool close, struct err *err)
{
    struct chunk *chunk = imap_get(&self->chunks, stage_ref);
    if (!chunk)
        return ERR_OK;
    size_t total = chunk->stored_rows + chunk->count;
    enum err_code rc;
    if (!total)
        return ERR_OK;
    if ((rc = room_for(&self->values, &self->values_room, total, err)) || (rc = room_for(&self->other, &self->other_room, total, err)))
        return rc;
    if (mem_grow((void **)&self->keep, &self->keep_room, total, MAX_STAGE_TASKS, 1))
        return err_nomem(err);
    if ((rc = load_column(self, chunk, column_of("status"), self->values, total, err)) || (rc = load_column(self, chunk, column_of("has_metrics"), self->other, total, err)))
        return rc;
    for (size_t i = 0; i < total; i++)
        self->keep[i] = self->values[i] == TASK_SUCCESS && self->other[i] == 1;
    for (size_t m = 0; m < TASK_METRIC_COUNT; m++)
        if ((rc = load_column(self, chunk, ROW_COLUMNS + m, self->values, total, err)) || (rc = put_quantiles(self, stage_ref, task_metric_columns[m], total, err)))
            return rc;
    if ((rc = derived_quantiles(self, chunk, total, err)))
        return rc;
    return close ? close_chunk(self, chunk, err) : ERR_OK;
}

enum err_code task_store_resume(struct task_store *self, struct err *err)
{
    if (!known(self->first_provisional))
        return ERR_OK;
    db_bind_i64(self->drop_rows, 1, self->first_provisional);
    enum err_code rc = db_run(self->drop_rows, err);
    for (size_t i = 0; i < self->chunks.count && !rc; i++) {
        struct chunk *chunk = self->chunks.entries[i].value;
        if (!chunk->provisional)
            continue;
        let_cells_go(self, chunk);
        chunk->provisional = chunk->written = false;
        chunk->number = chunk->first_provisional;
        chunk->stored_rows = chunk->solid_rows;
        db_bind_i64(self->drop_chunks, 1, chunk->stage_ref);
        db_bind_i64(self->drop_chunks, 2, chunk->number);
        rc = db_run(self->drop_chunks, err);
    }
    self->first_provisional = UNKNOWN;
    return rc;
}
