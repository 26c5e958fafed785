/* SPDX-License-Identifier: Apache-2.0
 *
 * One log, from stored bytes to committed rows. Three threads overlap: reading and decoding (source/), events and model (the caller's thread), writing rows (store/).
 * A load goes into <store>/apps/<key>.loading.db, which pages may read from the first second on while it fills (WAL, a commit at least each second of work), and is renamed to <key>.db when the
 * end of the log is reached; a load that fails leaves the old file. A struct load can be kept to follow a growing log: load_advance reads only what is new. The file stays in WAL
 * until the log has its final name.
 * Killed at any moment, it leaves a .loading.db or .loading.db-new that the next load of the key throws away. */
#ifndef INGEST_PIPELINE_H
#define INGEST_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ingest/listing.h"
#include "ingest/source/log_entry.h"

/* Flags of a log, spec: tools/make_damaged.py; written blank-separated into log.flags in this order. */
enum {
    FLAG_CUT = 1 << 0, FLAG_LINES = 1 << 1, FLAG_GAP = 1 << 2, FLAG_NAME = 1 << 3, FLAG_EMPTY = 1 << 4, FLAG_UNREADABLE = 1 << 5,
    FLAG_NOT_A_LOG = 1 << 6, FLAG_NOTICE = 1 << 7
};
/* Writes the words into `out` (80 bytes are enough). Returns out. */
char *flags_text(unsigned flags, char *out, size_t size);

/* What one load found out; the numbers that `ingest --json` and the catalogue show. Fixed-size texts are cut and valid UTF-8. */
struct load_report {
    bool complete;                   /* an ApplicationEnd record was read */
    bool nothing_readable;           /* no event at all could be read */
    unsigned flags;
    int64_t stored_bytes, text_bytes, line_count, bad_line_count;
    int64_t task_count;              /* distinct task attempts whose end was read */
    int64_t load_ms;
    char message[256];               /* one line: what is wrong with the log; empty: nothing */
    /* the run, for its catalogue row (table app) */
    char app_id[512], attempt_id[128], name[512], user[256], spark_version[64], queue[256];
    char view_users[LISTING_ACCESS_BYTES], view_groups[LISTING_ACCESS_BYTES];
    bool has_attempt_id, vendor_version, start_inferred;
    int64_t start_ms, end_ms, exit_code, last_event_ms, duration_ms;
    const char *outcome;             /* static: succeeded failed unknown */
    int64_t job_count, failed_job_count, stage_count, failed_stage_count, failed_task_count, executor_count, lost_executor_count;
    int64_t task_time_ms, gc_time_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes, disk_spill_bytes;
};

/* Called from the load's thread a few times a second. Return false to stop the load (ERR_CANCELLED). */
typedef bool load_progress_fn(void *context, int64_t read_bytes, int64_t total_bytes, int64_t line_count);

struct load;

/* Reads the log to its present end. On ERR_OK *ret_load follows it further when `keep` is true and the name is not final, else *ret_load is NULL. `app_key` names the file. The
 * report is filled as far as things went, also on failure. Errors are those of the store and of memory (ERR_NO_SPACE, ERR_PERMISSION, ERR_NOMEM, ERR_DB …): damage of the log is
 * in the report. A log in which nothing is readable gives ERR_OK with nothing_readable set and leaves no file. ERR_BUSY: another process loads this key. */
struct load_options {
    const char *store_dir;
    const char *app_key;
    int64_t generation;
    bool keep;
    load_progress_fn *progress;      /* may be NULL */
    void *progress_context;
};
enum err_code load_run(const struct log_entry *entry, const struct load_options *options, struct load_report *report, struct load **ret_load, struct err *err) WARN_UNUSED;

/* Reads what was added since. Once the entry has its final name, the load can only be freed afterwards. ERR_UNSUPPORTED: the log was replaced or shrank; load it anew. */
enum err_code load_advance(struct load *self, const struct log_entry *entry, struct load_report *report, struct err *err) WARN_UNUSED;
int64_t load_read_bytes(const struct load *self);     /* of the log, as stored, when it was last read to its end */
void load_free(struct load *self);

#endif
