/* SPDX-License-Identifier: Apache-2.0
 *
 * One application's database while it is filled (schema.sql, second part). Task rows come through the sink and are written by a thread of the writer's own; everything
 * else is copied from the model at a checkpoint, while that thread is idle. The row sink and all calls belong to one thread, the model's.
 *
 * Life: open, sink, checkpoints at least each second of work, finish; then publish; then free, or resume when the log goes on. A failed write makes the writer fail for
 * good; the file is then thrown away by the caller. */
#ifndef STORE_APP_WRITER_H
#define STORE_APP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"
#include "base/str.h"
#include "ingest/model/app_model.h"

#define LOG_PROBLEM_MAX 50           /* sampled problems that are kept; all are counted */

struct app_writer;

/* What the pipeline knows of the log; borrowed for the call. */
struct log_file_row {
    struct str name, codec, problem;
    int64_t roll_index, compact, stored_bytes, text_bytes, line_count;
};
struct log_problem_row {
    const char *kind;                /* static */
    int64_t file_no, line_no, text_offset;
    char reason[160];
    char sample[160];                /* UTF-8; empty: none */
};
struct event_count_row {
    struct str event;
    int64_t seen;
    bool handled;
};
struct load_facts {
    struct str app_key, log_path, flags, missing_files;
    int64_t generation, layout, finished_name, log_modified_ms, stored_bytes, read_bytes, text_bytes, line_count, started_ms, ended_ms;
    int64_t bad_line_count, cut, compacted, unknown_event_count;
    struct str id_from_name;         /* application id where the log has none */
    const struct log_file_row *files;
    size_t file_count;
    const struct log_problem_row *problems;
    size_t problem_count;
    const struct event_count_row *events;
    size_t event_count;
};

/* Makes the file (an old one is removed first). Readers find it at `path` from the first checkpoint on; until then it lies beside that, with APP_WRITER_NEW behind its name,
 * and is written without a journal, which costs half. `large`: many tasks are expected. */
#define APP_WRITER_NEW "-new"
enum err_code app_writer_open(struct app_writer **ret, const char *path, bool large, struct err *err) WARN_UNUSED;
struct row_sink app_writer_sink(struct app_writer *self);

/* Writes what changed in the model; the writer's thread then commits, and begins anew. An error of that is reported by a later call. */
enum err_code app_writer_checkpoint(struct app_writer *self, struct app_model *model, const struct load_facts *facts, struct err *err) WARN_UNUSED;

/* The log has (for now) ended; app_model_finish was called. As a checkpoint, and the quantiles of all stages are brought up to date; load.state becomes done. app_writer_publish commits it. */
enum err_code app_writer_finish(struct app_writer *self, struct app_model *model, const struct load_facts *facts, struct err *err) WARN_UNUSED;

/* After finish: the connection, with all rows written and a transaction open, for whoever reads the rows and adds to them before they are published. Borrowed until app_writer_publish. */
enum err_code app_writer_db(struct app_writer *self, struct db **ret, struct err *err) WARN_UNUSED;

/* After finish: gives the file its lasting name, whole by itself and on disk, in place of what was there. With `go_on` it is opened again, for app_writer_resume. */
enum err_code app_writer_publish(struct app_writer *self, const char *path, bool go_on, struct err *err) WARN_UNUSED;

/* The log goes on: drops the rows of open tasks. */
enum err_code app_writer_resume(struct app_writer *self, struct err *err) WARN_UNUSED;

/* Frees; what was not published or committed is lost. NULL is fine. */
void app_writer_free(struct app_writer *self);

#endif
