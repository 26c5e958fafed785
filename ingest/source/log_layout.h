/* SPDX-License-Identifier: Apache-2.0
 *
 * From the files of one directory (or of one folder in a zip archive) to a struct log_entry: which of them are the log's, in which order. Nothing is opened here.
 * log_scan finds the directories; these functions know the layouts of spec/files.md 1. */
#ifndef SOURCE_LOG_LAYOUT_H
#define SOURCE_LOG_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/source/log_entry.h"
#include "place/place.h"

/* What a directory of that name with these children is. LAYOUT_FILE: no log by itself, its children may be logs. */
enum log_layout log_layout_of(const char *dir_name, const struct place_children *children);

/* Fills `entry` (its path, dir and layout are set) with the files of a directory that is `layout`: LAYOUT_ROLLING, _LEGACY or _DATABRICKS. `path` is the directory, or the archive
 * that holds it. *ret_empty: a static reason when there is nothing to read in it, else NULL. ERR_LIMIT: more than LOG_ENTRY_MAX_FILES. */
enum err_code log_layout_collect(struct log_entry *entry, enum log_layout layout, const char *path, const char *dir_name, const struct place_children *children,
    const char **ret_empty, struct err *err) WARN_UNUSED;

/* Room for the entry's files, once; then a copy of each `child`. `path` is the directory it lies in, or the archive. */
enum err_code log_entry_reserve(struct log_entry *self, size_t count, struct err *err) WARN_UNUSED;
enum err_code log_entry_add_file(struct log_entry *self, const char *path, const struct place_child *child, struct err *err) WARN_UNUSED;

/* Sums, newest time and fingerprint, after everything else is set. `archive_*`: of a zip archive, else 0. */
void log_entry_finish(struct log_entry *self, int64_t archive_bytes, int64_t archive_modified_ms);

#endif
