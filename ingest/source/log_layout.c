/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/log_name.h"

#define MISSING_LISTED 1000

/* ---- what a directory is */

enum log_layout log_layout_of(const char *dir_name, const struct place_children *children)
{
    if (strncmp(dir_name, ROLLING_PREFIX, strlen(ROLLING_PREFIX)) == 0)
        return LAYOUT_ROLLING;
    size_t databricks = 0;
    bool appstatus = false, events = false, legacy = false;
    struct str one_log = STR_NONE;
    bool several_logs = false;
    for (size_t i = 0; i < children->count; i++) {
        const struct place_child *child = &children->items[i];
        int64_t index;
        struct str rest;
        if (child->kind != CHILD_FILE)
            continue;
        databricks += log_name_databricks(child->name) >= 0;
        appstatus |= str_starts(str_of(child->name), "appstatus_");
        legacy |= str_starts(str_of(child->name), "EVENT_LOG_");
        if (log_name_events(child->name, &index, &rest)) {
            /* The rest is a file name by itself: id and suffixes. */
            struct str id = log_name_split(rest.ptr).id;
            several_logs |= events && !str_eq(id, one_log);
            one_log = id;
            events = true;
        }
    }
    if (legacy)
        return LAYOUT_LEGACY;
    if (events && appstatus && !several_logs)      /* a rolling directory that somebody renamed */
        return LAYOUT_ROLLING;
    return databricks > 1 ? LAYOUT_DATABRICKS : LAYOUT_FILE;
}

/* ---- entries */

enum err_code log_entry_reserve(struct log_entry *self, size_t count, struct err *err)
{
    if (count > LOG_ENTRY_MAX_FILES)
        return err_set(err, ERR_LIMIT, "more than %d files", LOG_ENTRY_MAX_FILES);
    self->files = mem_array(count, sizeof *self->files);
    return self->files ? ERR_OK : err_nomem(err);
}

enum err_code log_entry_add_file(struct log_entry *self, const char *path, const struct place_child *child, struct err *err)
{
    struct log_file file = {
        .path = child->member ? mem_strndup(path, strlen(path)) : place_join(path, child->name),
        .name = mem_strndup(child->name, strlen(child->name)),
        .member = child->member ? mem_strndup(child->member, strlen(child->member)) : NULL,
        .roll_index = UNKNOWN,
        .bytes = child->bytes,
        .modified_ms = child->modified_ms,
        .device = child->device,
        .inode = child->inode,
    };
    if (!file.path || !file.name || (child->member && !file.member)) {
        mem_free(file.path);
        mem_free(file.name);
        mem_free(file.member);
        return err_nomem(err);
    }
    self->files[self->file_count++] = file;
    return ERR_OK;
}

/* FNV-1a, 64 bits, from two starting points: 128 bits tell changed from unchanged. */
static void digest(uint64_t state[2], const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        for (int s = 0; s < 2; s++)
            state[s] = (state[s] ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3u;
}

static void digest_i64(uint64_t state[2], int64_t value)
{
    digest(state, &value, sizeof value);
}

void log_entry_finish(struct log_entry *self, int64_t archive_bytes, int64_t archive_modified_ms)
{
    uint64_t state[2] = {0xCBF29CE484222325u, 0x84222325CBF29CE4u};
    self->bytes = UNKNOWN;
    self->modified_ms = UNKNOWN;
    digest(state, self->path, strlen(self->path) + 1);
    digest_i64(state, self->layout);
    digest_i64(state, self->finished_name);
    digest_i64(state, self->remarks);
    digest_i64(state, archive_bytes);
    digest_i64(state, archive_modified_ms);
    for (size_t i = 0; i < self->file_count; i++) {
        const struct log_file *file = &self->files[i];
        digest(state, file->name, strlen(file->name) + 1);
        digest_i64(state, file->bytes);
        digest_i64(state, file->modified_ms);
        digest_i64(state, (int64_t)file->device);
        digest_i64(state, (int64_t)file->inode);
        self->bytes = add_known(self->bytes, file->bytes);
        self->modified_ms = max_known(self->modified_ms, file->modified_ms);
    }
    self->bytes = known_or(self->bytes, archive_bytes);
    self->modified_ms = known_or(self->modified_ms, archive_modified_ms);
    snprintf(self->fingerprint, sizeof self->fingerprint, "%016llx%016llx", (unsigned long long)state[0], (unsigned long long)state[1]);
}

/* ---- the layouts with several files */

enum { MARKER_DONE = 1, MARKER_RUNNING = 2 };    /* appstatus files */

struct part {
    const struct place_child *child;
    int64_t index;
    int order;               /* of those with the same index */
    bool compact;
};

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->order != b->order ? a->order - b->order : strcmp(a->child->name, b->child->name);
}

/* Indices from `first` on that are not there. */
static enum err_code name_missing(struct log_entry *entry, int64_t first, struct err *err)
{
    int64_t expected = first;
    for (size_t i = 0; i < entry->file_count; i++) {
        int64_t index = entry->files[i].roll_index;
        for (; expected < index && entry->missing_count < MISSING_LISTED; expected++) {
            if (!entry->missing && !(entry->missing = mem_array(MISSING_LISTED, sizeof *entry->missing)))
                return err_nomem(err);
            entry->missing[entry->missing_count++] = expected;
        }
        if (index == INT64_MAX)
            break;
        expected = index + 1;
    }
    if (entry->missing_count > 0)
        entry->remarks |= ENTRY_GAP;
    return ERR_OK;
}

/* spec/files.md 1.5: by number, the last compact file replaces all before it. */
static enum err_code keep_rolling(struct log_entry *entry, const char *path, const struct part *parts, size_t count, struct err *err)
{
    size_t first = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].compact)
            first = i;
    if (count == 0)
        return ERR_OK;
    enum err_code reserved = log_entry_reserve(entry, count - first, err);
    if (reserved != ERR_OK)
        return reserved;
    for (size_t i = first; i < count; i++) {
        enum err_code rc = log_entry_add_file(entry, path, parts[i].child, err);
        if (rc != ERR_OK)
            return rc;
        entry->files[entry->file_count - 1].roll_index = parts[i].index;
        entry->files[entry->file_count - 1].compact = parts[i].compact;
    }
    if (parts[first].compact)
        entry->remarks |= ENTRY_COMPACTED;
    return name_missing(entry, parts[first].compact ? parts[first].index : 1, err);
}

/* True: the child is an event file of the layout; fills *ret. Markers are noted in the entry. */
static bool take_part(struct log_entry *entry, enum log_layout layout, const struct place_child *child, struct part *ret, unsigned *markers)
{
    struct str name = str_of(child->name), rest;
    *ret = (struct part){.child = child};
    switch (layout) {
    case LAYOUT_ROLLING:
        if (str_starts(name, "appstatus_"))
            *markers |= str_ends(name, ".inprogress") ? MARKER_RUNNING : MARKER_DONE;
        if (!log_name_events(child->name, &ret->index, &rest))
            return false;
        ret->compact = str_ends(name, ".compact");
        ret->order = ret->compact;
        return true;
    case LAYOUT_LEGACY:
        if (str_starts(name, "APPLICATION_COMPLETE"))
            entry->finished_name = true;
        if (!str_starts(name, "EVENT_LOG_"))
            return false;
        if (!str_to_i64((struct str){name.ptr + 10, name.len - 10}, &ret->index))
            ret->index = INT64_MAX;
        return true;
    default:
        /* Dated parts sort by name; the undated one is the newest. */
        ret->order = log_name_databricks(child->name) == 0;
        return log_name_databricks(child->name) >= 0;
    }
}

enum err_code log_layout_collect(struct log_entry *entry, enum log_layout layout, const char *path, const char *dir_name, const struct place_children *children,
    const char **ret_empty, struct err *err)
{
    struct part *parts = NULL;
    size_t count = 0, capacity = 0;
    unsigned markers = 0;
    size_t filled = 0;
    enum err_code rc = ERR_OK;
    *ret_empty = NULL;
    for (size_t i = 0; i < children->count; i++) {
        struct part part;
        if (children->items[i].kind != CHILD_FILE || !take_part(entry, layout, &children->items[i], &part, &markers))
            continue;
        if (mem_grow((void **)&parts, &capacity, count + 1, PLACE_CHILDREN_MAX, sizeof *parts)) {
            mem_free(parts);
            return err_nomem(err);
        }
        parts[count++] = part;
    }
    if (count > 1)
        qsort(parts, count, sizeof *parts, compare_parts);
    if (layout == LAYOUT_ROLLING) {
        rc = keep_rolling(entry, path, parts, count, err);
        entry->finished_name = markers & MARKER_DONE;
        entry->remarks |= markers == 0 ? ENTRY_NO_APPSTATUS : markers == (MARKER_DONE | MARKER_RUNNING) ? ENTRY_BOTH_APPSTATUS : 0;
    } else if (count > 0) {
        rc = log_entry_reserve(entry, count, err);
    }
    for (size_t i = 0; i < count && layout != LAYOUT_ROLLING && rc == ERR_OK; i++)
        rc = log_entry_add_file(entry, path, parts[i].child, err);
    struct str id = str_of(dir_name);
    if (layout == LAYOUT_ROLLING) {
        struct str rest;
        int64_t index;
        if (str_starts(id, ROLLING_PREFIX))
            id = str_of(dir_name + strlen(ROLLING_PREFIX));
        else if (count > 0 && log_name_events(parts[0].child->name, &index, &rest))
            id = log_name_split(rest.ptr).id;
    }
    mem_free(parts);
    if (rc != ERR_OK)
        return rc;
    if (!(entry->id_from_name = mem_strndup(id.ptr, id.len)))
        return err_nomem(err);
    for (size_t i = 0; i < entry->file_count; i++)
        filled += entry->files[i].bytes != 0;
    if (count == 0)
        *ret_empty = "a folder for event files without any";
    else if (filled == 0)
        *ret_empty = "all its event files are empty yet";
    return ERR_OK;
}
