/* SPDX-License-Identifier: Apache-2.0
 *
 * What log_scan.c (directories and files) and zip_scan.c (archives) share of one scan. */
#ifndef SOURCE_LOG_SCAN_H
#define SOURCE_LOG_SCAN_H

#include "base/map.h"
#include "ingest/source/log_entry.h"
#include "ingest/source/log_layout.h"

struct scanner {
    const struct log_scan *scan;
    struct imap seen;            /* inode → device + 1 of each file looked at */
    bool walking;                /* a directory: what is looked at was not named itself */
    const char *only;            /* zip: report just the entry with this path; NULL: all */
    char *dir, *real_dir;        /* owned; the directory that was resolved last, and where it really is: its logs come one after another */
};

/* An entry with its path and its real directory set. `path` is copied. */
enum err_code scanner_begin(struct scanner *self, struct log_entry *ret, enum log_layout layout, const char *path, const char *dir_to_resolve, struct err *err) WARN_UNUSED;

/* Hands the entry over (it is empty afterwards, whatever comes back). */
enum err_code scanner_emit(struct scanner *self, struct log_entry *entry);
enum err_code scanner_reject(struct scanner *self, const char *path, enum reject_kind kind, const char *reason, int64_t bytes, int64_t modified_ms);

/* All logs in the archive `dir`/`child->name`; one reject when there is none. */
enum err_code zip_scan(struct scanner *self, const char *path, const char *dir, const struct place_child *archive, struct err *err) WARN_UNUSED;

#endif
