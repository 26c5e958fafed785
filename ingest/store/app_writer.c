/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/app_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/db.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/redact.h"
#include "ingest/store/entity_rows.h"
#include "ingest/store/session_rows.h"
#include "ingest/store/streaming_rows.h"
#include "ingest/store/sql_rows.h"
#include "ingest/store/task_store.h"

#define BATCH_ROWS 512               /* 340 kB: some milliseconds of the writer's work */
#define BATCH_COUNT 16               /* in flight or free; bounds memory to 5 MB of rows */
#define BATCH_TEXT_BYTES ((size_t)256 << 20)
#define PATH_BYTES 4096
#define MAX_BATCH_ITEMS ((size_t)1 << 24)
#define BATCH_FULL_BYTES ((size_t)4 << 20)       /* texts and accumulables that make a batch go early */

struct text_item {
    int64_t id;
    struct str body;
};
struct accumulable_item {
    int64_t task_seq, ordinal;
    struct accumulable accumulable;
};

struct summary_item {
    int64_t stage_ref;
    struct executor_stage *summary;  /* owned */
};

struct batch {
    size_t row_count, text_count, text_capacity, accumulable_count, accumulable_capacity, summary_count, summary_capacity, done_count, done_capacity;
    size_t progress_count, progress_capacity;
    bool commit;                     /* when all of this is written */
    struct text_item *texts;
    struct accumulable_item *accumulables;
    struct summary_item *summaries;
    int64_t *done_stage_refs;        /* to be summarised after the rows */
    struct streaming_progress_row *progress;     /* what they point to is in the arena */
    struct arena arena;
    struct task_row rows[BATCH_ROWS];
};

struct app_writer {
    struct db db;
    char path[PATH_BYTES + 8];       /* where the file lies */
    char shown_path[PATH_BYTES];     /* where readers look for it: its name from the first commit on */
    bool is_new;                     /* nothing is committed yet, and the file is ours alone */
    struct task_store *tasks;
    struct entity_rows *entities;
    struct streaming_rows *streaming;
    struct session_rows *sessions;
    struct sql_rows *sql;
    sqlite3_stmt *insert_text;
    struct queue full, free;
    struct batch *filling;
    pthread_t thread;
    bool thread_started;
    atomic_int failed;               /* the thread's error code; `thread_err` is complete once this is set */
    struct err thread_err;
};

static enum err_code prepare_text(struct app_writer *self, struct err *err)
{
    return db_prepare(&self->db, &self->insert_text, "INSERT OR REPLACE INTO text (text_id, body) VALUES (?, ?)", err);
}

static void detach(struct app_writer *self)
{
    db_finalize(TAKE(self->insert_text));
    if (self->tasks)
        task_store_detach(self->tasks);
    if (self->entities)
        entity_rows_detach(self->entities);
    if (self->streaming)
        streaming_rows_detach(self->streaming);
    if (self->sessions)
        session_rows_detach(self->sessions);
    if (self->sql)
        sql_rows_detach(self->sql);
}

static enum err_code attach(struct app_writer *self, const char *path, struct err *err)
{
    enum err_code rc;
    snprintf(self->path, sizeof self->path, "%s", path);
    if ((rc = db_open(&self->db, path, DB_BULK, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err)) || (rc = db_begin(&self->db, err)) || (rc = prepare_text(self, err)) ||
        (rc = task_store_attach(self->tasks, &self->db, err)) || (rc = entity_rows_attach(self->entities, &self->db, err)) ||
        (rc = streaming_rows_attach(self->streaming, &self->db, err)) || (rc = session_rows_attach(self->sessions, &self->db, err)))
        return rc;
    return sql_rows_attach(self->sql, &self->db, err);
}

/* The file that nobody could open takes the name where readers look for it. From here on they may read while we write: WAL. */
static enum err_code show_new(struct app_writer *self, struct err *err)
{
    detach(self);
    db_close(&self->db);
    if (rename(self->path, self->shown_path) != 0)
        return err_set_errno(err, errno, "cannot put the database in place");
    self->is_new = false;
    return attach(self, self->shown_path, err);
}

static enum err_code commit(struct app_writer *self, struct err *err)
{
    enum err_code rc = db_commit(&self->db, err);
    if (rc)
        return rc;
    db_start_writeback(&self->db);
    return self->is_new ? show_new(self, err) : db_begin(&self->db, err);
}

static enum err_code write_batch(struct app_writer *self, struct batch *batch, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < batch->text_count && !rc; i++) {
        db_bind_i64(self->insert_text, 1, batch->texts[i].id);
        db_bind_str(self->insert_text, 2, batch->texts[i].body);
        rc = db_run(self->insert_text, err);
    }
    if (!rc)
        rc = task_store_add(self->tasks, batch->rows, batch->row_count, err);
    for (size_t i = 0; i < batch->accumulable_count && !rc; i++) {
        const struct accumulable_item *item = &batch->accumulables[i];
        rc = task_store_add_accumulable(self->tasks, item->task_seq, item->ordinal, &item->accumulable, err);
    }
    for (size_t i = 0; i < batch->progress_count && !rc; i++)
        rc = streaming_rows_add(self->streaming, &batch->progress[i], err);
    for (size_t i = 0; i < batch->summary_count && !rc; i++)
        rc = entity_rows_add_executor_stage(self->entities, batch->summaries[i].stage_ref, batch->summaries[i].summary, err);
    for (size_t i = 0; i < batch->done_count && !rc; i++)
        rc = task_store_summarise(self->tasks, batch->done_stage_refs[i], true, err);
    return rc || !batch->commit ? rc : commit(self, err);
}

static void reset_batch(struct batch *batch)
{
    for (size_t i = 0; i < batch->summary_count; i++)
        mem_free(batch->summaries[i].summary);
    batch->row_count = batch->text_count = batch->accumulable_count = batch->summary_count = batch->done_count = batch->progress_count = 0;
    batch->commit = false;
    arena_reset(&batch->arena);
}

static void free_batch(struct batch *batch)
{
    if (!batch)
        return;
    reset_batch(batch);
    mem_free(batch->texts);
    mem_free(batch->accumulables);
    mem_free(batch->summaries);
    mem_free(batch->done_stage_refs);
    mem_free(batch->progress);
    arena_dispose(&batch->arena);
    mem_free(batch);
}

static void *writer_main(void *context)
{
    struct app_writer *self = context;
    pthread_setname_np(pthread_self(), "row-writer");   /* for perf and top */
    for (struct batch *batch; (batch = queue_pop(&self->full));) {
        if (!atomic_load(&self->failed)) {
            struct err err = {0};
            enum err_code rc = write_batch(self, batch, &err);
            if (rc) {
                self->thread_err = err;
                atomic_store(&self->failed, (int)rc);
            }
        }
        reset_batch(batch);
        if (!queue_push(&self->free, batch))
            free_batch(batch);
    }
    return NULL;
}

static enum err_code thread_error(struct app_writer *self, struct err *err)
{
    enum err_code rc = (enum err_code)atomic_load(&self->failed);
    if (rc && err)
        *err = self->thread_err;
    return rc;
}

static enum err_code send_batch(struct app_writer *self, struct err *err)
{
    if (!queue_push(&self->full, TAKE(self->filling)))
        return err_set(err, ERR_CANCELLED, "writer is closed");
    self->filling = queue_pop(&self->free);
    return thread_error(self, err);
}

static enum err_code send_if_full(struct app_writer *self, struct err *err)
{
    const struct batch *batch = self->filling;
    return batch->row_count == BATCH_ROWS || arena_bytes(&batch->arena) > BATCH_FULL_BYTES ? send_batch(self, err) : ERR_OK;
}

static enum err_code sink_task(void *context, const struct task_row *row, struct err *err)
{
    struct app_writer *self = context;
    self->filling->rows[self->filling->row_count++] = *row;
    return send_if_full(self, err);
}

static enum err_code sink_accumulable(void *context, int64_t task_seq, int64_t ordinal, const struct accumulable *accumulable, struct err *err)
{
    struct app_writer *self = context;
    struct batch *batch = self->filling;
    if (mem_grow((void **)&batch->accumulables, &batch->accumulable_capacity, batch->accumulable_count + 1, MAX_BATCH_ITEMS, sizeof *batch->accumulables))
        return err_nomem(err);
    struct accumulable_item *item = &batch->accumulables[batch->accumulable_count];
    *item = (struct accumulable_item){task_seq, ordinal, *accumulable};
    if (redact_copy(&batch->arena, accumulable->name, &item->accumulable.name) || redact_copy(&batch->arena, accumulable->update, &item->accumulable.update) ||
        redact_copy(&batch->arena, accumulable->value, &item->accumulable.value))
        return err_nomem(err);
    batch->accumulable_count++;
    return send_if_full(self, err);
}

static enum err_code sink_text(void *context, int64_t text_id, struct str body, struct err *err)
{
    struct app_writer *self = context;
    struct batch *batch = self->filling;
    if (mem_grow((void **)&batch->texts, &batch->text_capacity, batch->text_count + 1, MAX_BATCH_ITEMS, sizeof *batch->texts))
        return err_nomem(err);
    struct text_item *item = &batch->texts[batch->text_count];
    item->id = text_id;
    if (arena_str(&batch->arena, body, &item->body))
        return err_nomem(err);
    batch->text_count++;
    return send_if_full(self, err);
}

static enum err_code sink_progress(void *context, const struct streaming_progress_row *row, struct err *err)
{
    struct app_writer *self = context;
    struct batch *batch = self->filling;
    if (mem_grow((void **)&batch->progress, &batch->progress_capacity, batch->progress_count + 1, MAX_BATCH_ITEMS, sizeof *batch->progress))
        return err_nomem(err);
    enum err_code rc = streaming_rows_copy(row, &batch->arena, &batch->progress[batch->progress_count], err);
    if (rc)
        return rc;
    batch->progress_count++;
    return send_if_full(self, err);
}

/* The writer's thread does what is left to do for the stage, while the model goes on. */
static enum err_code sink_stage_done(void *context, struct stage *stage, struct err *err)
{
    struct app_writer *self = context;
    struct batch *batch = self->filling;
    size_t count = stage->executors.count;
    if (mem_grow((void **)&batch->summaries, &batch->summary_capacity, batch->summary_count + count, MAX_BATCH_ITEMS, sizeof *batch->summaries) ||
        mem_grow((void **)&batch->done_stage_refs, &batch->done_capacity, batch->done_count + 1, MAX_BATCH_ITEMS, sizeof *batch->done_stage_refs))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        batch->summaries[batch->summary_count++] = (struct summary_item){stage->stage_ref, stage->executors.entries[i].value};
    imap_dispose(&stage->executors);
    stage->executors_dirty = stage->stats_due = false;
    batch->done_stage_refs[batch->done_count++] = stage->stage_ref;
    return batch->summary_count >= BATCH_ROWS ? send_batch(self, err) : ERR_OK;
}

struct row_sink app_writer_sink(struct app_writer *self)
{
    return (struct row_sink){self, sink_task, sink_accumulable, sink_text, sink_progress, sink_stage_done};
}

static enum err_code add_batches(struct app_writer *self, struct err *err)
{
    for (int i = 0; i < BATCH_COUNT; i++) {
        struct batch *batch = mem_alloc(sizeof *batch);
        if (!batch)
            return err_nomem(err);
        memset(batch, 0, offsetof(struct batch, rows));
        arena_init(&batch->arena, BATCH_TEXT_BYTES);
        if (!self->filling)
            self->filling = batch;
        else if (!queue_push(&self->free, batch)) {
            free_batch(batch);
            return err_set(err, ERR_CANCELLED, "writer is closed");
        }
    }
    return ERR_OK;
}

/* So that the new name is on disk. A file system that cannot do it has no better way either. */
static void sync_directory_of(const char *path)
{
    char dir[PATH_BYTES];
    snprintf(dir, sizeof dir, "%s", path);
    char *slash = strrchr(dir, '/');
    if (!slash)
        return;
    *slash = '\0';
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

enum err_code app_writer_open(struct app_writer **ret, const char *path, bool large, struct err *err)
{
    struct app_writer *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    queue_init(&self->full, BATCH_COUNT);
    queue_init(&self->free, BATCH_COUNT);
    snprintf(self->shown_path, sizeof self->shown_path, "%s", path);
    snprintf(self->path, sizeof self->path, "%s" APP_WRITER_NEW, path);
    self->is_new = true;
    unlink(path);
    unlink(self->path);
    db_remove_beside(path);
    enum err_code rc;
    if ((rc = db_open(&self->db, self->path, large ? DB_NEW_LARGE : DB_NEW, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err)) || (rc = db_begin(&self->db, err)) ||
        (rc = prepare_text(self, err)) || (rc = task_store_new(&self->tasks, &self->db, err)) ||
        (rc = entity_rows_new(&self->entities, &self->db, err)) || (rc = sql_rows_new(&self->sql, &self->db, err)) ||
        (rc = streaming_rows_new(&self->streaming, &self->db, err)) || (rc = session_rows_new(&self->sessions, &self->db, err)) || (rc = add_batches(self, err)))
        goto fail;
    int failed = pthread_create(&self->thread, NULL, writer_main, self);
    if (failed) {
        rc = err_set_errno(err, failed, "cannot start the writer's thread");
        goto fail;
    }
    self->thread_started = true;
    *ret = self;
    return ERR_OK;
fail:
    app_writer_free(self);
    *ret = NULL;
    return rc;
}

/* Waits until the thread has written all that was sent; from then on the connection is ours. */
static enum err_code drain(struct app_writer *self, struct err *err)
{
    enum err_code rc = send_batch(self, err);
    struct batch *idle[BATCH_COUNT];
    size_t count = 0;
    while (count < BATCH_COUNT - 1 && (idle[count] = queue_pop(&self->free)))
        count++;
    for (size_t i = 0; i < count; i++)
        if (!queue_push(&self->free, idle[i]))
            free_batch(idle[i]);
    if (rc)
        return rc;
    return thread_error(self, err);
}

/* Quantiles of the stages that had news since they were summarised, or never were. */
static enum err_code summarise_rest(struct app_writer *self, struct app_model *model, struct err *err)
{
    for (size_t i = 0; i < model->stages.count; i++) {
        struct stage *stage = model->stages.items[i];
        enum err_code rc = stage->stats_due ? task_store_summarise(self->tasks, stage->stage_ref, stage->done, err) : ERR_OK;
        if (rc)
            return rc;
        stage->stats_due = false;
    }
    return ERR_OK;
}

static enum err_code write_all(struct app_writer *self, struct app_model *model, const struct load_facts *facts, bool finished, struct err *err)
{
    enum err_code rc;
    if ((rc = drain(self, err)) || (rc = streaming_rows_write(self->streaming, model, err)) || (rc = session_rows_write(self->sessions, model, err)) ||
        (rc = entity_rows_write(self->entities, model, facts, finished, err)) || (rc = sql_rows_write(self->sql, model->sql, err)) ||
        (rc = finished ? summarise_rest(self, model, err) : ERR_OK))
        return rc;
    return task_store_flush(self->tasks, err);
}

enum err_code app_writer_checkpoint(struct app_writer *self, struct app_model *model, const struct load_facts *facts, struct err *err)
{
    enum err_code rc = write_all(self, model, facts, false, err);
    if (rc)
        return rc;
    self->filling->commit = true;
    return send_batch(self, err);
}

enum err_code app_writer_finish(struct app_writer *self, struct app_model *model, const struct load_facts *facts, struct err *err)
{
    return write_all(self, model, facts, true, err);
}

enum err_code app_writer_db(struct app_writer *self, struct db **ret, struct err *err)
{
    *ret = &self->db;
    return drain(self, err);
}

enum err_code app_writer_publish(struct app_writer *self, const char *path, bool go_on, struct err *err)
{
    enum err_code rc = drain(self, err);
    if (rc)
        return rc;
    if ((rc = db_commit(&self->db, err)))
        return rc;
    bool in_place = strcmp(self->path, path) == 0;
    if (in_place && go_on)   /* published before: readers see the commit */
        return db_begin(&self->db, err);
    detach(self);
    if ((rc = db_seal(&self->db, err)))
        return rc;
    if (!in_place) {
        /* What an older file of that name left beside itself must not meet the new one. */
        db_remove_beside(path);
        if (rename(self->path, path) != 0)
            return err_set_errno(err, errno, "cannot put the database in place");
        self->is_new = false;
        db_remove_beside(self->path);
        sync_directory_of(path);
    }
    return go_on ? attach(self, path, err) : ERR_OK;
}

enum err_code app_writer_resume(struct app_writer *self, struct err *err)
{
    enum err_code rc = drain(self, err);
    return rc ? rc : task_store_resume(self->tasks, err);
}

void app_writer_free(struct app_writer *self)
{
    if (!self)
        return;
    queue_close(&self->full);
    if (self->thread_started)
        pthread_join(self->thread, NULL);
    queue_close(&self->free);
    free_batch(self->filling);
    for (struct batch *batch; (batch = queue_pop(&self->free));)
        free_batch(batch);
    for (struct batch *batch; (batch = queue_pop(&self->full));)
        free_batch(batch);
    queue_dispose(&self->full);
    queue_dispose(&self->free);
    if (self->db.handle)
        db_rollback(&self->db);
    detach(self);
    task_store_free(self->tasks);
    entity_rows_free(self->entities);
    streaming_rows_free(self->streaming);
    session_rows_free(self->sessions);
    sql_rows_free(self->sql);
    db_close(&self->db);
    mem_free(self);
}
