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

enum child_kind { CHILD_FILE, CHILD_DIRECTORY, CHILD_LINKED_DIRECTORY, CHILD_BAD_LINK, CHILD_SPECIAL, CHILD_UNREADABLE };

struct log_child {
    char *name;              /* owned; last component */
    char *member;            /* owned; zip: the whole name in the archive */
    enum child_kind kind;
    int error;               /* errno of BAD_LINK and UNREADABLE */
    int64_t bytes, modified_ms;
    uint64_t device, inode;
    bool is_log;             /* log_scan: an entry was made of it */
};

struct log_children {
    struct log_child *items; /* owned; sorted by name */
    size_t count, capacity;
};

/* Takes over the strings of `child` (also on failure). */
enum err_code log_children_add(struct log_children *self, const struct log_child *child, struct err *err) WARN_UNUSED;
void log_children_sort(struct log_children *self);
struct log_child *log_children_find(const struct log_children *self, const char *name);
void log_children_dispose(struct log_children *self);

/* What a directory of that name with these children is. LAYOUT_FILE: no log by itself, its children may be logs. */
enum log_layout log_layout_of(const char *dir_name, const struct log_children *children);

/* Fills `entry` (its path, dir and layout are set) with the files of a directory that is `layout`: LAYOUT_ROLLING, _LEGACY or _DATABRICKS. `path` is the directory, or the archive
 * that holds it. *ret_empty: a static reason when there is nothing to read in it, else NULL. ERR_LIMIT: more than LOG_ENTRY_MAX_FILES. */
enum err_code log_layout_collect(struct log_entry *entry, enum log_layout layout, const char *path, const char *dir_name, const struct log_children *children,
    const char **ret_empty, struct err *err) WARN_UNUSED;

/* Room for the entry's files, once; then a copy of each `child`. `path` is the directory it lies in, or the archive. */
enum err_code log_entry_reserve(struct log_entry *self, size_t count, struct err *err) WARN_UNUSED;
enum err_code log_entry_add_file(struct log_entry *self, const char *path, const struct log_child *child, struct err *err) WARN_UNUSED;

/* Sums, newest time and fingerprint, after everything else is set. `archive_*`: of a zip archive, else 0. */
void log_entry_finish(struct log_entry *self, int64_t archive_bytes, int64_t archive_modified_ms);

/* "<dir>/<name>", owned by the caller; NULL: out of memory. */
char *log_path_join(const char *dir, const char *name);

#endif
