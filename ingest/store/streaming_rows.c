/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/streaming_rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/redact.h"
#include "ingest/model/streaming.h"

#define MAX_PHASES 1000              /* Spark has some ten; the names of a hostile log beyond that are one phase */
#define RECORD_PHASES 64             /* of one record; the rest of a hostile one is left out */
#define PHASE_NAME_BYTES ((size_t)200)
#define DURATION_BYTES ((size_t)32)  /* blank, id, colon, number */
#define OTHER_PHASE STR_LIT("other")
#define JSON_MAX_BYTES ((size_t)64 << 20)        /* escaped: six times what a line's texts can be at worst is not reached by any log that loads */

enum statement { PUT_QUERY, FIND_PROGRESS, DROP_PROGRESS, DROP_SOURCES, DROP_STATES, PUT_PROGRESS, PUT_PHASE, PUT_SOURCE, PUT_STATE, STATEMENT_COUNT };

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_QUERY] = "INSERT OR REPLACE INTO streaming_query (run_ref, run_id, query_id, name, job_tags, start_ms, start_seen, end_seen, exception_text_id, error_class, idle_count,"
                  " last_idle_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [FIND_PROGRESS] = "SELECT progress_no FROM streaming_progress WHERE run_ref = ? AND batch_id = ? AND trigger_ms = ?",
    [DROP_PROGRESS] = "DELETE FROM streaming_progress WHERE run_ref = ? AND progress_no = ?",
    [DROP_SOURCES] = "DELETE FROM streaming_source WHERE run_ref = ? AND progress_no = ?",
    [DROP_STATES] = "DELETE FROM streaming_state WHERE run_ref = ? AND progress_no = ?",
    [PUT_PROGRESS] = "INSERT INTO streaming_progress (run_ref, progress_no, batch_id, trigger_ms, batch_duration_ms, durations, input_rows, input_rows_per_second,"
                     " processed_rows_per_second, event_time_min_ms, event_time_max_ms, event_time_avg_ms, watermark_ms, output_rows, sink_text_id, sink_metrics, observed_metrics)"
                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_PHASE] = "INSERT OR REPLACE INTO streaming_phase (phase_id, name) VALUES (?, ?)",
    [PUT_SOURCE] = "INSERT INTO streaming_source (run_ref, progress_no, ordinal, description_text_id, start_offset, end_offset, latest_offset, input_rows, input_rows_per_second,"
                   " processed_rows_per_second, metrics) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_STATE] = "INSERT INTO streaming_state (run_ref, progress_no, ordinal, operator, rows_total, rows_updated, rows_removed, rows_dropped, updates_time_ms, removals_time_ms,"
                  " commit_time_ms, memory_bytes, shuffle_partitions, store_instances, custom_metrics) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

struct streaming_rows {
    struct db *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct smap phases;              /* name → phase_id */
};

enum err_code streaming_rows_attach(struct streaming_rows *self, struct db *db, struct err *err)
{
    enum err_code rc = ERR_OK;
    self->db = db;
    for (size_t i = 0; i < STATEMENT_COUNT && !rc; i++)
        rc = db_prepare(db, &self->statements[i], statement_texts[i], err);
    return rc;
}

void streaming_rows_detach(struct streaming_rows *self)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        db_finalize(TAKE(self->statements[i]));
}

enum err_code streaming_rows_new(struct streaming_rows **ret, struct db *db, struct err *err)
{
    struct streaming_rows *self = mem_zalloc(sizeof *self);
    *ret = self;
    if (!self)
        return err_nomem(err);
    smap_init(&self->phases, MAX_PHASES + 1, (size_t)1 << 20);
    enum err_code rc = streaming_rows_attach(self, db, err);
    if (rc) {
        streaming_rows_free(self);
        *ret = NULL;
    }
    return rc;
}

void streaming_rows_free(struct streaming_rows *self)
{
    if (!self)
        return;
    streaming_rows_detach(self);
    smap_dispose(&self->phases);
    mem_free(self);
}

/* ---- copies */

static int copy_array(struct arena *arena, const void *items, size_t count, size_t each_bytes, void *ret)
{
    void *copy = arena_alloc(arena, count * each_bytes + 1);
    if (!copy)
        return -1;
    if (count)
        memcpy(copy, items, count * each_bytes);
    memcpy(ret, &copy, sizeof copy);
    return 0;
}

static int copy_kv(struct arena *arena, struct kv_list *list)
{
    if (copy_array(arena, list->items, list->count, sizeof *list->items, &list->items))
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct kv *item = &list->items[i];
        if (redact_item(arena, item) || arena_str(arena, item->name, &item->name) || arena_str(arena, item->value, &item->value))
            return -1;
    }
    return 0;
}

static int copy_counts(struct arena *arena, struct name_count_list *list)
{
    if (copy_array(arena, list->items, list->count, sizeof *list->items, &list->items))
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (arena_str(arena, list->items[i].name, &list->items[i].name))
            return -1;
    return 0;
}

/* Only what streaming_rows_add reads: whose it is says the row. Secrets stay behind. */
static int copy_progress(struct arena *arena, struct event_streaming_progress *p)
{
    p->id = p->run_id = p->name = p->sink = STR_NONE;
    if (copy_counts(arena, &p->durations) || copy_kv(arena, &p->sink_metrics) || redact_copy(arena, p->observed, &p->observed) ||
        copy_array(arena, p->operators, p->operator_count, sizeof *p->operators, &p->operators) || copy_array(arena, p->sources, p->source_count, sizeof *p->sources, &p->sources))
        return -1;
    for (size_t i = 0; i < p->operator_count; i++)
        if (arena_str(arena, p->operators[i].name, &p->operators[i].name) || copy_counts(arena, &p->operators[i].custom_metrics))
            return -1;
    for (size_t i = 0; i < p->source_count; i++) {
        struct streaming_source *s = &p->sources[i];
        s->description = STR_NONE;
        if (redact_copy(arena, s->start_offset, &s->start_offset) || redact_copy(arena, s->end_offset, &s->end_offset) || redact_copy(arena, s->latest_offset, &s->latest_offset) ||
            copy_kv(arena, &s->metrics))
            return -1;
    }
    return 0;
}

enum err_code streaming_rows_copy(const struct streaming_progress_row *from, struct arena *arena, struct streaming_progress_row *ret, struct err *err)
{
    struct event_streaming_progress *progress = arena_alloc(arena, sizeof *progress);
    *ret = *from;
    if (!progress || copy_array(arena, from->source_text_ids, from->progress->source_count, sizeof *from->source_text_ids, &ret->source_text_ids))
        return err_nomem(err);
    *progress = *from->progress;
    ret->progress = progress;
    return copy_progress(arena, progress) ? err_nomem(err) : ERR_OK;
}

/* ---- rows */

/* `out` gets the list as a JSON array of [name, value]; an empty list is no text at all. */
static enum err_code pairs_json(const struct kv_list *texts, const struct name_count_list *numbers, struct buf *out, struct str *ret, struct err *err)
{
    struct json_writer json;
    size_t count = texts ? texts->count : numbers->count;
    *ret = STR_NONE;
    if (!count)
        return ERR_OK;
    json_writer_init(&json, json_sink_buf, out, false);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        json_array_begin(&json);
        json_str(&json, texts ? texts->items[i].name : numbers->items[i].name);
        if (texts)
            json_str(&json, texts->items[i].value);
        else
            json_i64(&json, numbers->items[i].value);
        json_array_end(&json);
    }
    json_array_end(&json);
    if (json_writer_end(&json))
        return err_nomem(err);
    *ret = buf_str(out);
    return ERR_OK;
}

static enum err_code drop_same(struct streaming_rows *self, const struct streaming_progress_row *row, struct err *err)
{
    sqlite3_stmt *find = self->statements[FIND_PROGRESS];
    db_bind_i64(find, 1, row->run_ref);
    db_bind_i64(find, 2, row->progress->batch_id);
    db_bind_i64(find, 3, row->progress->trigger_ms);
    enum err_code rc = db_step(find, err);
    if (rc)
        return rc == ERR_EOF ? ERR_OK : rc;
    int64_t progress_no = db_i64(find, 0);
    db_reset(find);
    static const enum statement drops[] = {DROP_PROGRESS, DROP_SOURCES, DROP_STATES};
    for (size_t i = 0; i < ARRAY_LENGTH(drops); i++) {
        db_bind_i64(self->statements[drops[i]], 1, row->run_ref);
        db_bind_i64(self->statements[drops[i]], 2, progress_no);
        if ((rc = db_run(self->statements[drops[i]], err)))
            return rc;
    }
    return ERR_OK;
}

/* The sum over sources as Spark builds it: a value that is none makes the sum none. Without sources it is 0. */
static double sum_rate(const struct event_streaming_progress *p, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < p->source_count; i++) {
        double rate;
        memcpy(&rate, (const char *)&p->sources[i] + offset, sizeof rate);
        sum += rate;
    }
    return sum;
}

static enum err_code phase_id(struct streaming_rows *self, struct str name, int64_t *ret, struct err *err)
{
    name.len = utf8_valid_prefix(name.ptr, MIN(name.len, PHASE_NAME_BYTES));
    intptr_t found = (intptr_t)smap_get(&self->phases, name);
    if (!found && self->phases.count >= MAX_PHASES) {
        name = OTHER_PHASE;
        found = (intptr_t)smap_get(&self->phases, name);
    }
    *ret = (int64_t)found;
    if (found)
        return ERR_OK;
    *ret = (int64_t)self->phases.count + 1;
    if (smap_put(&self->phases, name, (void *)(intptr_t)*ret))
        return err_nomem(err);
    db_bind_i64(self->statements[PUT_PHASE], 1, *ret);
    db_bind_str(self->statements[PUT_PHASE], 2, name);
    return db_run(self->statements[PUT_PHASE], err);
}

/* "1:2601 2:271": of a name that comes twice the last value. */
static enum err_code durations_text(struct streaming_rows *self, const struct name_count_list *durations, struct buf *out, struct err *err)
{
    struct {
        int64_t phase_id, duration_ms;
    } kept[RECORD_PHASES];
    size_t count = 0;
    for (size_t i = 0; i < durations->count; i++) {
        int64_t id;
        enum err_code rc = phase_id(self, durations->items[i].name, &id, err);
        if (rc)
            return rc;
        size_t at = 0;
        while (at < count && kept[at].phase_id != id)
            at++;
        if (at == RECORD_PHASES)
            continue;
        count += at == count;
        kept[at].phase_id = id;
        kept[at].duration_ms = durations->items[i].value;
    }
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%" PRId64 ":%" PRId64, i ? " " : "", kept[i].phase_id, kept[i].duration_ms);
    return buf_failed(out) ? err_nomem(err) : ERR_OK;
}

static enum err_code put_progress(struct streaming_rows *self, const struct streaming_progress_row *row, struct err *err)
{
    const struct event_streaming_progress *p = row->progress;
    sqlite3_stmt *stmt = self->statements[PUT_PROGRESS];
    CLEANUP(buf_dispose) struct buf json;
    CLEANUP(buf_dispose) struct buf durations;
    buf_init(&json, JSON_MAX_BYTES);
    buf_init(&durations, RECORD_PHASES * DURATION_BYTES);
    struct str sink_metrics;
    enum err_code rc;
    if ((rc = pairs_json(&p->sink_metrics, NULL, &json, &sink_metrics, err)) || (rc = durations_text(self, &p->durations, &durations, err)))
        return rc;
    int64_t input_rows = p->source_count ? UNKNOWN : 0;
    for (size_t i = 0; i < p->source_count; i++)
        input_rows = add_known(input_rows, p->sources[i].input_rows);
    int64_t const numbers[] = {row->run_ref, row->progress_no, p->batch_id, p->trigger_ms, p->batch_duration_ms};
    int64_t const times[] = {p->event_time_min_ms, p->event_time_max_ms, p->event_time_avg_ms, p->watermark_ms, p->output_rows, row->sink_text_id};
    int at = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        db_bind_i64(stmt, at++, numbers[i]);
    db_bind_str(stmt, at++, durations.len ? buf_str(&durations) : STR_LIT(""));
    db_bind_i64(stmt, at++, input_rows);
    db_bind_f64(stmt, at++, sum_rate(p, offsetof(struct streaming_source, input_rows_per_second)));
    db_bind_f64(stmt, at++, sum_rate(p, offsetof(struct streaming_source, processed_rows_per_second)));
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++)
        db_bind_i64(stmt, at++, times[i]);
    db_bind_str(stmt, at++, sink_metrics);
    db_bind_str(stmt, at, p->observed);
    return db_run(stmt, err);
}

static enum err_code put_source(struct streaming_rows *self, const struct streaming_progress_row *row, size_t ordinal, struct err *err)
{
    const struct streaming_source *s = &row->progress->sources[ordinal];
    sqlite3_stmt *stmt = self->statements[PUT_SOURCE];
    CLEANUP(buf_dispose) struct buf json;
    buf_init(&json, JSON_MAX_BYTES);
    struct str metrics;
    enum err_code rc = pairs_json(&s->metrics, NULL, &json, &metrics, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, row->run_ref);
    db_bind_i64(stmt, 2, row->progress_no);
    db_bind_i64(stmt, 3, (int64_t)ordinal);
    db_bind_i64(stmt, 4, row->source_text_ids[ordinal]);
    db_bind_str(stmt, 5, s->start_offset);
    db_bind_str(stmt, 6, s->end_offset);
    db_bind_str(stmt, 7, s->latest_offset);
    db_bind_i64(stmt, 8, s->input_rows);
    db_bind_f64(stmt, 9, s->input_rows_per_second);
    db_bind_f64(stmt, 10, s->processed_rows_per_second);
    db_bind_str(stmt, 11, metrics);
    return db_run(stmt, err);
}

static enum err_code put_state(struct streaming_rows *self, const struct streaming_progress_row *row, size_t ordinal, struct err *err)
{
    const struct streaming_operator *o = &row->progress->operators[ordinal];
    sqlite3_stmt *stmt = self->statements[PUT_STATE];
    CLEANUP(buf_dispose) struct buf json;
    buf_init(&json, JSON_MAX_BYTES);
    struct str custom_metrics;
    enum err_code rc = pairs_json(NULL, &o->custom_metrics, &json, &custom_metrics, err);
    if (rc)
        return rc;
    int64_t const numbers[] = {o->rows_total, o->rows_updated, o->rows_removed, o->rows_dropped, o->updates_time_ms, o->removals_time_ms, o->commit_time_ms, o->memory_bytes,
                               o->shuffle_partitions, o->store_instances};
    db_bind_i64(stmt, 1, row->run_ref);
    db_bind_i64(stmt, 2, row->progress_no);
    db_bind_i64(stmt, 3, (int64_t)ordinal);
    db_bind_str(stmt, 4, o->name);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        db_bind_i64(stmt, (int)i + 5, numbers[i]);
    db_bind_str(stmt, (int)ARRAY_LENGTH(numbers) + 5, custom_metrics);
    return db_run(stmt, err);
}

enum err_code streaming_rows_add(struct streaming_rows *self, const struct streaming_progress_row *row, struct err *err)
{
    enum err_code rc;
    if ((rc = drop_same(self, row, err)) || (rc = put_progress(self, row, err)))
        return rc;
    for (size_t i = 0; i < row->progress->source_count && !rc; i++)
        rc = put_source(self, row, i, err);
    for (size_t i = 0; i < row->progress->operator_count && !rc; i++)
        rc = put_state(self, row, i, err);
    return rc;
}

enum err_code streaming_rows_write(struct streaming_rows *self, struct app_model *model, struct err *err)
{
    sqlite3_stmt *stmt = self->statements[PUT_QUERY];
    for (size_t i = 0; model->streaming && i < model->streaming->queries.count; i++) {
        struct streaming_query *query = model->streaming->queries.items[i];
        if (!query->dirty)
            continue;
        db_bind_i64(stmt, 1, query->run_ref);
        db_bind_str(stmt, 2, query->run_id);
        db_bind_str(stmt, 3, query->query_id);
        db_bind_str(stmt, 4, query->name);
        db_bind_str(stmt, 5, query->job_tags);
        db_bind_i64(stmt, 6, query->start_ms);
        db_bind_i64(stmt, 7, query->start_seen);
        db_bind_i64(stmt, 8, query->end_seen);
        db_bind_i64(stmt, 9, query->exception_text_id);
        db_bind_str(stmt, 10, query->error_class);
        db_bind_i64(stmt, 11, query->idle_count);
        db_bind_i64(stmt, 12, query->last_idle_ms);
        enum err_code rc = db_run(stmt, err);
        if (rc)
            return rc;
        query->dirty = false;
    }
    return ERR_OK;
}
