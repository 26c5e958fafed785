/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/pipeline.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/executor_loss.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/queue.h"
#include "base/time.h"
#include "ingest/app_lock.h"
#include "ingest/event/event_decode.h"
#include "ingest/model/app_model.h"
#include "ingest/model/sql.h"
#include "ingest/model/streaming.h"
#include "ingest/source/line_reader.h"
#include "ingest/store/app_writer.h"

#define PATH_BYTES 4096
#define BLOCKS_IN_FLIGHT 8                       /* decoded ahead of the model: 8 MiB */
#define LARGE_BLOCK_BYTES ((size_t)4 << 20)      /* blocks around one long line: never two of them waiting */
#define SCRATCH_BYTES (LINE_MAX_BYTES * 3)       /* a line's unescaped texts and arrays */
#define LARGE_LOG_BYTES ((int64_t)2 << 20)       /* stored: ten thousand tasks and more where it is compressed */
#define CHECKPOINT_NS 1000000000                 /* pages show what is at most a second old (design.md §3) */
#define PROGRESS_NS 200000000
#define ANALYSIS_PAUSE 10                        /* a growing log is judged again when this many times as long as that took has passed: a tenth of the time */
#define MAX_EVENT_NAMES 10000                    /* kinds of events counted one by one; real logs have some fifty */
#define EVENT_NAME_BYTES 300
#define MISSING_TEXT_BYTES 8192

struct load {
    char *store_dir, *app_key, *path, *loading_path;
    int lock;
    struct load_options options;
    struct line_reader *lines;
    struct app_model *model;
    struct app_writer *writer;
    struct arena scratch;
    struct event_memory memory;
    bool published;
    /* what was met on the way */
    int64_t stored_bytes;                        /* of the log, when it was last read to its end */
    int64_t started_ms, started_ns, last_checkpoint_ns, last_progress_ns;
    int64_t next_analysis_ns;                    /* not before that, while the log grows */
    int64_t line_count, good_count, bad_line_count, unknown_event_count, glued_zero_count;
    struct smap event_names;                     /* name → index + 1 into events */
    size_t last_of_kind[EVENT_KIND_MAX_];        /* index + 1 of the name seen last for a kind: nearly always the same */
    struct event_count_row *events;
    size_t event_count, event_capacity;
    struct log_problem_row problems[LOG_PROBLEM_MAX];
    size_t problem_count;
    bool frame_problems, tail_cut, tail_pending;
    struct {                                     /* the log's last line when it has no LF: the reader delivers it again, whole, when the log grows */
        int32_t file_no;
        int64_t text_offset;
        bool applied;                            /* it was a whole event, and counted */
    } tail;
    struct log_problem_row tail_problem;
};

static void copy_text(char *out, size_t size, struct str from)
{
    size_t len = from.len < size ? from.len : size - 1;
    if (len)
        len = utf8_valid_prefix(from.ptr, len);
    if (len)
        memcpy(out, from.ptr, len);
    out[len] = '\0';
}

static void keep_problem(struct load *self, const struct log_problem_row *problem)
{
    if (self->problem_count < LOG_PROBLEM_MAX)
        self->problems[self->problem_count++] = *problem;
}

/* First bytes of a line, as text that can be shown. */
static void sample_of(struct str line, char *out, size_t size)
{
    /* Secrets are looked for in more than is shown: where one ends tells that it is one. */
    char begin[151], repaired[3 * sizeof begin];
    size_t begin_len = redact_into((struct str){line.ptr, MIN(line.len, (size_t)1 << 16)}, begin, sizeof begin);
    size_t len = utf8_repair((struct str){begin, begin_len}, repaired);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)repaired[i] < 0x20)
            repaired[i] = ' ';
    if (len >= size)
        len = size - 1;
    len = utf8_valid_prefix(repaired, len);
    memcpy(out, repaired, len);
    out[len] = '\0';
}

static enum err_code count_event(struct load *self, const struct event *event, struct err *err)
{
    struct str name = {event->name.ptr, MIN(event->name.len, (size_t)EVENT_NAME_BYTES)};
    self->unknown_event_count += event->kind == EVENT_UNKNOWN;
    size_t last = self->last_of_kind[event->kind];
    if (last && str_eq(self->events[last - 1].event, name)) {
        self->events[last - 1].seen++;
        return ERR_OK;
    }
    size_t found = (size_t)(intptr_t)smap_get(&self->event_names, name);
    if (!found) {
        if (self->event_count == MAX_EVENT_NAMES)
            return ERR_OK;
        if (mem_grow((void **)&self->events, &self->event_capacity, self->event_count + 1, MAX_EVENT_NAMES, sizeof *self->events) ||
            smap_put(&self->event_names, name, (void *)(intptr_t)(self->event_count + 1)))
            return err_nomem(err);
        self->events[self->event_count] = (struct event_count_row){.event = self->event_names.entries[self->event_count].key, .handled = event->kind != EVENT_UNKNOWN};
        found = ++self->event_count;
    }
    self->events[found - 1].seen++;
    self->last_of_kind[event->kind] = found;
    return ERR_OK;
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
            return false;
    return true;
}

/* One line into the model. A line that cannot be used costs itself; only memory and the store end the load. */
static enum err_code apply_line(struct load *self, struct str line, const struct line_block *block, int64_t line_no, bool unterminated, struct err *err)
{
    struct event event;
    struct err bad = {0};
    int64_t text_offset = block->text_offset + (line.ptr - block->text);
    if (UNLIKELY(self->tail.file_no == block->file_no && self->tail.text_offset == text_offset)) {
        if (!unterminated)
            self->tail.file_no = 0;
        if (self->tail.applied)
            return ERR_OK;
    }
    self->line_count++;
    if (is_blank(line))
        return ERR_OK;
    if (unterminated) {
        self->tail.file_no = block->file_no;
        self->tail.text_offset = text_offset;
        self->tail.applied = false;
    }
    arena_reset(&self->scratch);
    enum err_code rc = event_decode(line, &self->scratch, &self->memory, &event, &bad);
    if (rc == ERR_NOMEM)
        return err_nomem(err);
    if (rc == ERR_OK) {
        self->good_count++;
        self->glued_zero_count += line.ptr[0] == '\0';
        self->tail.applied |= unterminated;
        if ((rc = count_event(self, &event, err)))
            return rc;
        return app_model_apply(self->model, &event, err);
    }
    struct log_problem_row problem = {.kind = "line", .file_no = block->file_no, .line_no = line_no, .text_offset = text_offset};
    copy_text(problem.reason, sizeof problem.reason, str_of(bad.message));
    sample_of(line, problem.sample, sizeof problem.sample);
    if (unterminated) {   /* judged when it is clear whether this is the end of the log */
        self->tail_pending = true;
        self->tail_problem = problem;
        return ERR_OK;
    }
    self->bad_line_count++;
    keep_problem(self, &problem);
    return ERR_OK;
}

static void settle_tail(struct load *self)
{
    if (!self->tail_pending)
        return;
    self->tail_pending = false;
    self->bad_line_count++;
    keep_problem(self, &self->tail_problem);
}

static enum err_code apply_block(struct load *self, const struct line_block *block, struct err *err)
{
    settle_tail(self);   /* more text follows: the half line before was in the middle of the log */
    const char *p = block->text, *end = p + block->len;
    for (size_t i = 0; p < end; i++) {
        const char *line_end = i < block->line_feed_count ? block->text + block->line_feeds[i] : end;
        enum err_code rc = apply_line(self, (struct str){p, (size_t)(line_end - p)}, block, block->first_line + (int64_t)i, line_end == end, err);
        if (rc)
            return rc;
        p = line_end + 1;
    }
    return ERR_OK;
}

static void take_source_problems(struct load *self)
{
    static const char *const kinds[] = {[PROBLEM_FRAME] = "frame", [PROBLEM_LINE_TOO_LONG] = "line", [PROBLEM_FILE] = "file", [PROBLEM_TRAILING] = "frame"};
    struct source_problem taken[16];
    for (size_t n; (n = line_reader_take_problems(self->lines, taken, ARRAY_LENGTH(taken))) > 0;)
        for (size_t i = 0; i < n; i++) {
            struct log_problem_row problem = {.kind = kinds[taken[i].kind],
                                              .file_no = taken[i].file_no,
                                              .line_no = taken[i].line > 0 ? taken[i].line : UNKNOWN,
                                              .text_offset = taken[i].text_offset};
            snprintf(problem.reason, sizeof problem.reason, "%s", taken[i].reason);
            self->bad_line_count += taken[i].kind == PROBLEM_LINE_TOO_LONG;
            self->frame_problems = true;
            keep_problem(self, &problem);
        }
}

struct file_sums {
    int64_t text_bytes;
    bool cut_last, cut_before, name_disagrees, failed;
};

static struct file_sums sum_files(const struct load *self, const struct log_entry *entry)
{
    struct file_sums sums = {0};
    for (size_t i = 0; i < entry->file_count; i++) {
        const struct file_state *file = line_reader_file(self->lines, i);
        bool last = i + 1 == entry->file_count;
        sums.text_bytes += file->text_bytes;
        sums.cut_last |= last && file->cut;
        sums.cut_before |= !last && file->cut;
        sums.name_disagrees |= file->name_disagrees;
        sums.failed |= file->failed;
    }
    return sums;
}

/* What is wrong with this log, in the words of tools/make_damaged.py. */
static unsigned judge_flags(const struct load *self, const struct log_entry *entry)
{
    const struct model_health *health = &self->model->health;
    struct file_sums files = sum_files(self, entry);
    bool complete = self->model->has_end;
    unsigned flags = 0;
    if (entry->finished_name && (files.cut_last || self->tail_cut || !complete))
        flags |= FLAG_CUT;
    int64_t bad_inside = self->bad_line_count - (self->tail_cut && entry->finished_name);
    if (bad_inside > 0 || self->frame_problems || files.cut_before || files.failed || self->glued_zero_count)
        flags |= FLAG_LINES;
    if (entry->remarks & ENTRY_GAP)
        flags |= FLAG_GAP;
    if (files.name_disagrees)
        flags |= FLAG_NAME;
    bool odd_order = complete && (health->jobs_without_end || health->stages_without_end || health->tasks_without_end || health->jobs_without_start);
    if ((entry->remarks & ~(unsigned)ENTRY_GAP) || odd_order || health->duplicate_event_count || health->clock_step_count || health->out_of_range_count || health->repaired_count ||
        !health->application_start || health->application_start_count > 1)
        flags |= FLAG_NOTICE;
    return flags;
}

static void missing_text(const struct log_entry *entry, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < entry->missing_count && len + 24 < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%lld", i ? " " : "", (long long)entry->missing[i]);
}

/* Facts for the store, then a checkpoint or the end of the load. */
static enum err_code write_store(struct load *self, const struct log_entry *entry, bool finished, struct err *err)
{
    char flags[80], missing[MISSING_TEXT_BYTES];
    missing_text(entry, missing, sizeof missing);
    flags_text(finished ? judge_flags(self, entry) : 0, flags, sizeof flags);
    struct load_facts facts = {
        .app_key = str_of(self->app_key), .log_path = str_of(entry->path), .flags = str_of(flags), .missing_files = missing[0] ? str_of(missing) : STR_NONE,
        .generation = self->options.generation, .layout = entry->layout, .finished_name = entry->finished_name, .log_modified_ms = entry->modified_ms, .stored_bytes = entry->bytes,
        .read_bytes = line_reader_stored_position(self->lines), .line_count = self->line_count, .started_ms = self->started_ms, .ended_ms = finished ? time_now_ms() : UNKNOWN,
        .bad_line_count = self->bad_line_count, .compacted = (entry->remarks & ENTRY_COMPACTED) != 0, .unknown_event_count = self->unknown_event_count,
        .id_from_name = str_of(entry->id_from_name), .problems = self->problems, .problem_count = self->problem_count, .events = self->events, .event_count = self->event_count,
    };
    CLEANUP(mem_freep) struct log_file_row *files = NULL;
    if (finished) {   /* before that the reader's thread is at work on them */
        struct file_sums sums = sum_files(self, entry);
        facts.text_bytes = sums.text_bytes;
        facts.cut = sums.cut_last || self->tail_cut;
        files = mem_array(entry->file_count, sizeof *files);
        if (!files)
            return err_nomem(err);
        for (size_t i = 0; i < entry->file_count; i++) {
            const struct file_state *state = line_reader_file(self->lines, i);
            const char *problem = state->failed ? "could not be read to its end" : state->cut ? "ends in the middle of a compressed unit" : NULL;
            files[i] = (struct log_file_row){.name = str_of(entry->files[i].name), .codec = str_of(state->codec ? state->codec : "none"), .problem = str_of(problem),
                                             .roll_index = entry->files[i].roll_index, .compact = entry->files[i].compact, .stored_bytes = state->stored_bytes,
                                             .text_bytes = state->text_bytes, .line_count = state->line_count};
        }
        facts.files = files;
        facts.file_count = entry->file_count;
    } else
        facts.text_bytes = UNKNOWN;
    return finished ? app_writer_finish(self->writer, self->model, &facts, err) : app_writer_checkpoint(self->writer, self->model, &facts, err);
}

/* ---- the reader's thread: stored bytes → blocks of lines */

struct reading {
    struct line_reader *lines;
    struct queue blocks;
    enum err_code rc;
    struct err err;
};

static void *read_blocks(void *context)
{
    struct reading *self = context;
    pthread_setname_np(pthread_self(), "log-reader");   /* for perf and top */
    for (struct line_block *block; (self->rc = line_reader_next(self->lines, &block, &self->err)) == ERR_OK;) {
        if (block->len > LARGE_BLOCK_BYTES)
            queue_wait_empty(&self->blocks);
        if (!queue_push(&self->blocks, block)) {
            line_block_free(block);
            self->rc = ERR_CANCELLED;
            break;
        }
    }
    queue_close(&self->blocks);
    return NULL;
}

static enum err_code pause_to_report(struct load *self, const struct log_entry *entry, struct err *err)
{
    int64_t now = time_monotonic_ns();
    if (now - self->last_progress_ns > PROGRESS_NS) {
        self->last_progress_ns = now;
        if (self->options.progress && !self->options.progress(self->options.progress_context, line_reader_stored_position(self->lines), entry->bytes, self->line_count))
            return err_set(err, ERR_CANCELLED, "asked to stop");
    }
    if (now - self->last_checkpoint_ns <= CHECKPOINT_NS && sql_fresh_bytes(self->model->sql) < SQL_FRESH_BYTES)
        return ERR_OK;
    enum err_code rc = write_store(self, entry, false, err);
    self->last_checkpoint_ns = time_monotonic_ns();
    return rc;
}

/* The story of a load: blocks of lines → events → model → rows, until the log ends. */
static enum err_code read_to_end(struct load *self, const struct log_entry *entry, struct err *err)
{
    struct reading reading = {.lines = self->lines};
    pthread_t thread;
    queue_init(&reading.blocks, BLOCKS_IN_FLIGHT);
    self->last_checkpoint_ns = self->last_progress_ns = time_monotonic_ns();
    int failed = pthread_create(&thread, NULL, read_blocks, &reading);
    if (failed) {
        queue_dispose(&reading.blocks);
        return err_set_errno(err, failed, "cannot start the reader's thread");
    }
    enum err_code rc = ERR_OK;
    for (struct line_block *block; (block = queue_pop(&reading.blocks));) {
        if (!rc)
            rc = apply_block(self, block, err);
        line_block_free(block);
        if (!rc)
            rc = pause_to_report(self, entry, err);
        if (rc)
            queue_close(&reading.blocks);
    }
    pthread_join(thread, NULL);
    queue_dispose(&reading.blocks);
    if (!rc && reading.rc != ERR_EOF && reading.rc != ERR_TRUNCATED) {
        rc = reading.rc;
        if (err)
            *err = reading.err;
    }
    if (rc)
        return rc;
    take_source_problems(self);
    self->tail_cut = self->tail_pending;
    if (self->tail_cut && !entry->finished_name)
        self->line_count--;     /* it comes again */
    if (entry->finished_name)
        settle_tail(self);      /* of a running application the half line is normal: it is read again when it is whole */
    self->tail_pending = false;
    return app_model_finish(self->model, err);
}

/* ---- what became of it */

/* Its streaming query was stopped, which is how such a query ends. */
static bool was_stopped(const struct app_model *model, const struct job *job)
{
    const struct streaming_query *query =
        job->status == JOB_FAILED && model->streaming && str_known(job->job_group) ? smap_get(&model->streaming->by_run_id, job->job_group) : NULL;
    return query && query->end_seen == 1 && !known(query->exception_text_id);
}

static const char *outcome_of(const struct app_model *model)
{
    if (!model->has_end)
        return "unknown";
    if (known(model->exit_code) && model->exit_code != 0)
        return "failed";
    const struct job *last = NULL;
    for (size_t i = 0; i < model->jobs.count; i++) {
        const struct job *job = model->jobs.items[i];
        if (job->status != JOB_NO_END && !was_stopped(model, job) && (!last || known_or(job->completion_ms, 0) >= known_or(last->completion_ms, 0)))
            last = job;
    }
    if (last)
        return last->status == JOB_FAILED ? "failed" : "succeeded";
    return known(model->exit_code) ? "succeeded" : "unknown";
}

static void describe_problems(const struct load *self, const struct log_entry *entry, struct load_report *report)
{
    char *out = report->message;
    size_t size = sizeof report->message, len = 0;
    out[0] = '\0';
#define ADD(...) do { if (len < size) len += (size_t)snprintf(out + len, size - len, __VA_ARGS__); } while (0)
    if (report->flags & FLAG_CUT)
        ADD("%sthe log %s", len ? "; " : "", self->tail_cut || sum_files(self, entry).cut_last ? "is cut" : "has no end record");
    if (self->bad_line_count)
        ADD("%s%lld line%s could not be read", len ? "; " : "", (long long)self->bad_line_count, self->bad_line_count == 1 ? "" : "s");
    else if (report->flags & FLAG_LINES)
        ADD("%sparts could not be read", len ? "; " : "");
    if (self->problem_count && (report->flags & FLAG_LINES))
        ADD(" (%s)", self->problems[0].reason);
    if (entry->missing_count)
        ADD("%s%zu file%s missing", len ? "; " : "", entry->missing_count, entry->missing_count == 1 ? " is" : "s are");
    if (report->flags & FLAG_NAME)
        ADD("%sthe name promises another compression", len ? "; " : "");
    if (entry->remarks & ENTRY_COMPACTED)
        ADD("%solder work was compacted away by a History Server", len ? "; " : "");
    if (entry->remarks & ENTRY_NO_APPSTATUS)
        ADD("%sthe appstatus marker is missing", len ? "; " : "");
    if (entry->remarks & ENTRY_BOTH_APPSTATUS)
        ADD("%sboth appstatus markers are there", len ? "; " : "");
    if (!self->model->health.application_start)
        ADD("%sthe application's start record is missing", len ? "; " : "");
#undef ADD
}

static void fill_report(struct load *self, const struct log_entry *entry, struct load_report *report)
{
    const struct app_model *model = self->model;
    report->complete = model->has_end;
    report->nothing_readable = self->good_count == 0;
    report->flags = judge_flags(self, entry);
    report->stored_bytes = self->stored_bytes = entry->bytes;
    report->text_bytes = sum_files(self, entry).text_bytes;
    report->line_count = self->line_count;
    report->bad_line_count = self->bad_line_count;
    report->task_count = model->task_end_count;
    report->load_ms = (time_monotonic_ns() - self->started_ns) / NS_PER_MS;
    copy_text(report->app_id, sizeof report->app_id, str_known(model->app_id) ? model->app_id : str_of(entry->id_from_name));
    copy_text(report->attempt_id, sizeof report->attempt_id, model->attempt_id);
    copy_text(report->name, sizeof report->name, model->name);
    copy_text(report->user, sizeof report->user, model->user);
    copy_text(report->spark_version, sizeof report->spark_version, model->spark_version);
    copy_text(report->queue, sizeof report->queue, kv_find(&model->environment[ENV_SPARK], "spark.yarn.queue"));
    listing_join_lists(model->view_acls, model->admin_acls, report->view_users);
    listing_join_lists(model->view_acls_groups, model->admin_acls_groups, report->view_groups);
    report->has_attempt_id = str_known(model->attempt_id);
    report->vendor_version = model->vendor_version;
    report->start_inferred = model->health.application_start && !known(model->start_ms);
    report->start_ms = known(model->start_ms) ? model->start_ms : model->first_event_ms;
    bool sound_end = model->has_end && known(elapsed_known(report->start_ms, model->end_ms));
    report->end_ms = !model->has_end ? UNKNOWN : sound_end ? model->end_ms : model->last_event_ms;
    report->exit_code = model->exit_code;
    report->last_event_ms = model->last_event_ms;
    report->duration_ms = elapsed_known(report->start_ms, known(report->end_ms) ? report->end_ms : model->last_event_ms);
    report->outcome = outcome_of(model);
    report->job_count = (int64_t)model->jobs.count;
    report->task_time_ms = report->gc_time_ms = report->input_bytes = report->output_bytes = report->shuffle_read_bytes = report->shuffle_write_bytes = report->disk_spill_bytes =
        UNKNOWN;
    report->failed_job_count = report->stage_count = report->failed_stage_count = report->failed_task_count = 0;
    report->executor_count = report->lost_executor_count = 0;
    for (size_t i = 0; i < model->jobs.count; i++)
        report->failed_job_count += ((const struct job *)model->jobs.items[i])->status == JOB_FAILED;
    for (size_t i = 0; i < model->stages.count; i++) {
        const struct stage *stage = model->stages.items[i];
        report->stage_count += stage->status != STAGE_SKIPPED && stage->status != STAGE_PENDING;
        report->failed_stage_count += stage->status == STAGE_FAILED;
        report->failed_task_count += stage->tasks.failed;
        report->task_time_ms = add_known(report->task_time_ms, stage->task_time_ms);
        report->gc_time_ms = add_known(report->gc_time_ms, stage->metrics[METRIC_JVM_GC_TIME]);
        report->input_bytes = add_known(report->input_bytes, stage->metrics[METRIC_INPUT_BYTES]);
        report->output_bytes = add_known(report->output_bytes, stage->metrics[METRIC_OUTPUT_BYTES]);
        report->shuffle_read_bytes = add_known(add_known(report->shuffle_read_bytes, stage->metrics[METRIC_SHUFFLE_REMOTE_READ]), stage->metrics[METRIC_SHUFFLE_LOCAL_READ]);
        report->shuffle_write_bytes = add_known(report->shuffle_write_bytes, stage->metrics[METRIC_SHUFFLE_WRITE_BYTES]);
        report->disk_spill_bytes = add_known(report->disk_spill_bytes, stage->metrics[METRIC_DISK_SPILLED]);
    }
    for (size_t i = 0; i < model->executors.count; i++) {
        const struct executor *executor = model->executors.items[i];
        bool driver = str_is(executor->executor_id, "driver");
        report->executor_count += !driver;
        report->lost_executor_count += !driver && executor_was_lost(executor->active, executor->remove_ms, executor->remove_reason, report->end_ms);
    }
    describe_problems(self, entry, report);
}

/* ---- life of a load */

int64_t load_read_bytes(const struct load *self)
{
    return self->stored_bytes;
}

void load_free(struct load *self)
{
    if (!self)
        return;
    app_writer_free(self->writer);
    app_model_free(self->model);
    line_reader_close(self->lines);
    if (!self->published && self->loading_path && self->lock >= 0) {
        char name[PATH_BYTES + 16];
        static const char *const endings[] = {"", "-wal", "-shm", "-journal", APP_WRITER_NEW};
        for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
            snprintf(name, sizeof name, "%s%s", self->loading_path, endings[i]);
            unlink(name);
        }
    }
    if (self->store_dir && self->app_key)
        app_lock_release(self->store_dir, self->app_key, self->lock);
    smap_dispose(&self->event_names);
    mem_free(self->events);
    arena_dispose(&self->scratch);
    mem_free(self->store_dir);
    mem_free(self->app_key);
    mem_free(self->path);
    mem_free(self->loading_path);
    mem_free(self);
    malloc_trim(0);    /* the next log is read by another thread, out of another arena: what this one took would lie beside it */
}

static void load_freep(struct load **load)
{
    load_free(*load);
}

static char *path_of(const char *store_dir, const char *app_key, const char *ending)
{
    char path[PATH_BYTES];
    int len = snprintf(path, sizeof path, "%s/apps/%s%s", store_dir, app_key, ending);
    return len > 0 && (size_t)len < sizeof path ? mem_strndup(path, (size_t)len) : NULL;
}

static struct load *load_new(const struct load_options *options, struct err *err)
{
    struct load *self = mem_zalloc(sizeof *self);
    if (!self) {
        err_nomem(err);
        return NULL;
    }
    self->lock = -1;
    self->options = *options;
    self->started_ms = time_now_ms();
    self->started_ns = time_monotonic_ns();
    arena_init(&self->scratch, SCRATCH_BYTES);
    smap_init(&self->event_names, MAX_EVENT_NAMES, (size_t)MAX_EVENT_NAMES * (EVENT_NAME_BYTES + 64));
    self->store_dir = mem_strndup(options->store_dir, strlen(options->store_dir));
    self->app_key = mem_strndup(options->app_key, strlen(options->app_key));
    self->path = path_of(options->store_dir, options->app_key, ".db");
    self->loading_path = path_of(options->store_dir, options->app_key, ".loading.db");
    if (!self->store_dir || !self->app_key || !self->path || !self->loading_path) {
        load_free(self);
        err_nomem(err);
        return NULL;
    }
    return self;
}

/* A log with its final name is not followed: its file is closed for good. */
static bool may_go_on(const struct load *self, const struct log_entry *entry)
{
    return self->options.keep && !entry->finished_name;
}

/* Judgements belong into the file that is published. A log is no worse where they fail: the file then has none, and the report says why. */
static enum err_code judge_run(struct load *self, const struct log_entry *entry, struct load_report *report, struct err *err)
{
    struct db *app;
    struct err why = {0};
    int64_t begun_ns = time_monotonic_ns();
    if (may_go_on(self, entry) && begun_ns < self->next_analysis_ns)
        return ERR_OK;
    enum err_code rc = app_writer_db(self->writer, &app, err);
    if (rc)
        return rc;
    if (analyse(app, &why)) {
        size_t len = strlen(report->message);
        snprintf(report->message + len, sizeof report->message - len, "%sit could not be judged: %s", len ? "; " : "", why.message);
    }
    int64_t ended_ns = time_monotonic_ns();
    self->next_analysis_ns = ended_ns + ANALYSIS_PAUSE * (ended_ns - begun_ns);
    return ERR_OK;
}

static enum err_code finish(struct load *self, const struct log_entry *entry, struct load_report *report, struct err *err)
{
    enum err_code rc = write_store(self, entry, true, err);
    if (!rc && !may_go_on(self, entry)) {    /* what reading took makes room for what analysis needs */
        line_reader_close(TAKE(self->lines));
        app_model_free(TAKE(self->model));
        malloc_trim(0);
    }
    if (!rc)
        rc = judge_run(self, entry, report, err);
    if (!rc)
        rc = app_writer_publish(self->writer, self->path, may_go_on(self, entry), err);
    self->published |= rc == ERR_OK;
    report->load_ms = (time_monotonic_ns() - self->started_ns) / NS_PER_MS;
    return rc;
}

enum err_code load_run(const struct log_entry *entry, const struct load_options *options, struct load_report *report, struct load **ret_load, struct err *err)
{
    memset(report, 0, sizeof *report);
    report->start_ms = report->end_ms = report->exit_code = report->last_event_ms = report->duration_ms = UNKNOWN;
    report->outcome = "unknown";
    if (ret_load)
        *ret_load = NULL;
    CLEANUP(load_freep) struct load *self = load_new(options, err);
    enum err_code rc;
    if (!self)
        return ERR_NOMEM;
    if ((rc = app_lock_acquire(self->store_dir, self->app_key, &self->lock, err)) || (rc = line_reader_open(&self->lines, entry, err)) ||
        (rc = app_writer_open(&self->writer, self->loading_path, entry->bytes >= LARGE_LOG_BYTES, err)))
        return rc;
    self->model = app_model_new(app_writer_sink(self->writer));
    if (!self->model)
        return err_nomem(err);
    rc = read_to_end(self, entry, err);
    fill_report(self, entry, report);
    if (rc || report->nothing_readable)
        return rc;
    rc = finish(self, entry, report, err);
    if (!rc && may_go_on(self, entry) && ret_load)
        *ret_load = TAKE(self);
    return rc;
}

enum err_code load_advance(struct load *self, const struct log_entry *entry, struct load_report *report, struct err *err)
{
    enum err_code rc;
    self->started_ns = time_monotonic_ns();
    self->options.generation++;
    if ((rc = line_reader_resume(self->lines, entry, err)) || (rc = app_writer_resume(self->writer, err)))
        return rc;
    rc = read_to_end(self, entry, err);
    memset(report, 0, sizeof *report);
    fill_report(self, entry, report);
    return rc ? rc : finish(self, entry, report, err);
}
