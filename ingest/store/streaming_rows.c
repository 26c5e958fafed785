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
#include "ingest/store/row_value.h"

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
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct smap phases;              /* name → phase_id */
};

#define ROW(which, ...) row_put(self->statements[which], err, ROW_VALUES(__VA_ARGS__))

enum err_code streaming_rows_attach(struct streaming_rows *self, struct db *db, struct err *err)
{
    return rows_prepare(self->statements, statement_texts, STATEMENT_COUNT, db, err);
}

void streaming_rows_detach(struct streaming_rows *self)
{
    rows_finalize(self->statements, STATEMENT_COUNT);
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
    return ROW(PUT_PHASE, N(*ret), S(name));
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
    return ROW(PUT_PROGRESS, N(row->run_ref), N(row->progress_no), N(p->batch_id), N(p->trigger_ms), N(p->batch_duration_ms),
               S(durations.len ? buf_str(&durations) : STR_LIT("")), N(input_rows), R(sum_rate(p, offsetof(struct streaming_source, input_rows_per_second))),
               R(sum_rate(p, offsetof(struct streaming_source, processed_rows_per_second))), N(p->event_time_min_ms), N(p->event_time_max_ms), N(p->event_time_avg_ms),
               N(p->watermark_ms), N(p->output_rows), N(row->sink_text_id), S(sink_metrics), S(p->observed));
}

static enum err_code put_source(struct streaming_rows *self, const struct streaming_progress_row *row, size_t ordinal, struct err *err)
{
    const struct streaming_source *s = &row->progress->sources[ordinal];
    CLEANUP(buf_dispose) struct buf json;
    buf_init(&json, JSON_MAX_BYTES);
    struct str metrics;
    enum err_code rc = pairs_json(&s->metrics, NULL, &json, &metrics, err);
    if (rc)
        return rc;
    return ROW(PUT_SOURCE, N(row->run_ref), N(row->progress_no), N((int64_t)ordinal), N(row->source_text_ids[ordinal]), S(s->start_offset), S(s->end_offset), S(s->latest_offset),
               N(s->input_rows), R(s->input_rows_per_second), R(s->processed_rows_per_second), S(metrics));
}

static enum err_code put_state(struct streaming_rows *self, const struct streaming_progress_row *row, size_t ordinal, struct err *err)
{
    const struct streaming_operator *o = &row->progress->operators[ordinal];
    CLEANUP(buf_dispose) struct buf json;
    buf_init(&json, JSON_MAX_BYTES);
    struct str custom_metrics;
    enum err_code rc = pairs_json(NULL, &o->custom_metrics, &json, &custom_metrics, err);
    if (rc)
        return rc;
    return ROW(PUT_STATE, N(row->run_ref), N(row->progress_no), N((int64_t)ordinal), S(o->name), N(o->rows_total), N(o->rows_updated), N(o->rows_removed), N(o->rows_dropped),
               N(o->updates_time_ms), N(o->removals_time_ms), N(o->commit_time_ms), N(o->memory_bytes), N(o->shuffle_partitions), N(o->store_instances), S(custom_metrics));
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
    for (size_t i = 0; model->streaming && i < model->streaming->queries.count; i++) {
        struct streaming_query *q = model->streaming->queries.items[i];
        if (!q->dirty)
            continue;
        enum err_code rc = ROW(PUT_QUERY, N(q->run_ref), S(q->run_id), S(q->query_id), S(q->name), S(q->job_tags), N(q->start_ms), N(q->start_seen), N(q->end_seen),
                               N(q->exception_text_id), S(q->error_class), N(q->idle_count), N(q->last_idle_ms));
        if (rc)
            return rc;
        q->dirty = false;
    }
    return ERR_OK;
}
