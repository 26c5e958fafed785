/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run's own file (apps/<key>.db, schema.sql second part) says of the run and of its log, in the words of the catalogue; and whether a file that somebody else made is such a
 * file at all. For a catalogue that is made anew (catalog_rebuild.h) and for databases that a back-fill made elsewhere (catalog_arrivals.h). */
#ifndef STORE_RUN_FILE_H
#define STORE_RUN_FILE_H

#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"
#include "ingest/store/catalog.h"

/* One row: the columns of tables log and app in the order in which both are written; no row: the file was not filled to its end. */
extern const char run_file_sql[];
enum run_file_column { RUN_FILE_PATH = 0, RUN_FILE_FLAGS = 7, RUN_FILE_REASON = 9, RUN_FILE_STARTED = 10, RUN_FILE_APP_KEY = 11, RUN_FILE_APP_ID = 12, RUN_FILE_TASKS = 29, RUN_FILE_LAST = 44 };

struct run_file {
    struct arena texts;              /* owns what the texts below point to */
    const char *log_path, *app_key, *flags, *reason;     /* reason NULL: none */
    int64_t layout, stored_bytes, modified_ms, line_count, bad_line_count, load_ms;
    bool finished_name;
    struct catalog_run run;          /* without history, summary and grades */
};

/* ERR_INVALID: the file was not filled to its end, or says things that no log can. Dispose in every case. */
enum err_code run_file_read(struct run_file *ret, struct db *app, struct err *err) WARN_UNUSED;
void run_file_dispose(struct run_file *self);

/* Opens a file that comes from elsewhere, to be read, when it is what this program itself would have written: kind and version, exactly our tables and indexes (a view or a trigger
 * with the name of a table would run as our own), closed for good rather than left with a journal, every page sound. Reads it all. ERR_INVALID, ERR_UNSUPPORTED, ERR_CORRUPT: it is not,
 * and why. ERR_NOT_FOUND: it is not there. ERR_IO, ERR_NOMEM, …: that cannot be told now. */
enum err_code run_file_open_foreign(struct db *ret, const char *path, struct err *err) WARN_UNUSED;

#endif
