/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_scan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/byte_source.h"
#include "ingest/source/log_look.h"
#include "ingest/source/log_name.h"

#define SEEN_MAX ((size_t)1 << 30)
#define IN_PROGRESS ".inprogress"

/* ---- what callbacks get */

/* Where the directory really is; NULL: out of memory. */
static const char *resolve(struct scanner *self, const char *dir)
{
    char resolved[PATH_MAX];
    if (self->dir && self->real_dir && strcmp(self->dir, dir) == 0)
        return self->real_dir;
    const char *real = !place_is_remote(dir) && realpath(dir, resolved) ? resolved : dir;
    mem_free(self->dir);
    mem_free(self->real_dir);
    self->real_dir = mem_strndup(real, strlen(real));
    self->dir = mem_strndup(dir, strlen(dir));
    return self->dir ? self->real_dir : NULL;
}

enum err_code scanner_begin(struct scanner *self, struct log_entry *ret, enum log_layout layout, const char *path, const char *dir_to_resolve, struct err *err)
{
    const char *dir = resolve(self, dir_to_resolve);
    *ret = (struct log_entry){.layout = layout, .path = mem_strndup(path, strlen(path)), .dir = dir ? mem_strndup(dir, strlen(dir)) : NULL};
    if (ret->path && ret->dir)
        return ERR_OK;
    log_entry_dispose(ret);
    return err_nomem(err);
}

enum err_code scanner_emit(struct scanner *self, struct log_entry *entry)
{
    struct log_entry given = *entry;
    *entry = (struct log_entry){0};
    return self->scan->on_entry(self->scan->context, &given);
}

enum err_code scanner_reject(struct scanner *self, const char *path, enum reject_kind kind, const char *reason, int64_t bytes, int64_t modified_ms)
{
    struct log_reject reject = {.path = path, .kind = kind, .reason = reason, .bytes = bytes, .modified_ms = modified_ms};
    return self->scan->on_reject(self->scan->context, &reject);
}

static enum err_code reject_child(struct scanner *self, const char *path, const struct place_child *child, enum reject_kind kind, const char *reason)
{
    return scanner_reject(self, path, kind, reason, known_or(child->bytes, 0), known_or(child->modified_ms, 0));
}

/* ---- files */

/* *ret_fresh: not met before under another name. */
static enum err_code note_seen(struct scanner *self, const struct place_child *child, bool *ret_fresh, struct err *err)
{
    const void *known_device = imap_get(&self->seen, (int64_t)child->inode);
    uintptr_t device = (uintptr_t)child->device + 1;
    *ret_fresh = (uintptr_t)known_device != device;
    if (known_device)
        return ERR_OK;
    return imap_put(&self->seen, (int64_t)child->inode, (void *)device) ? err_nomem(err) : ERR_OK;
}

static enum err_code read_file(void *context, void *into, size_t room, size_t *ret_len, struct err *err)
{
    return byte_source_read(context, into, room, ret_len, err);
}

/* Its bytes say so, and will say so again while it stays the same. */
static enum err_code reject_content(struct scanner *self, const struct log_entry *entry, const struct place_child *child, const char *reason)
{
    const struct log_reject reject = {.path = entry->path, .kind = REJECT_NOT_A_LOG, .reason = reason, .fingerprint = entry->fingerprint, .bytes = known_or(child->bytes, 0),
                                      .modified_ms = known_or(child->modified_ms, 0)};
    return self->scan->on_reject(self->scan->context, &reject);
}

/* All that the fingerprint of a single file is made of, but for what its path says. Never 0. */
static int64_t stamp_of(const char *path, const struct place_child *child, unsigned remarks)
{
    const int64_t facts[] = {child->bytes, child->modified_ms, (int64_t)child->device, (int64_t)child->inode, remarks};
    int64_t stamp = (int64_t)(hash_bytes(path, strlen(path)) * 31 + hash_bytes(facts, sizeof facts));
    return stamp ? stamp : 1;
}

/* Of the place, not of one log: it does not answer, or we are to stop. Ends the scan. */
static bool is_place_failure(enum err_code rc)
{
    return rc == ERR_AWAY || rc == ERR_CANCELLED;
}

/* A single file: an entry, the logs of an archive, or a reject. child->is_log tells. */
static enum err_code scan_file(struct scanner *self, const char *dir, const char *path, struct place_child *child, unsigned remarks, struct err *err)
{
    struct log_name name = log_name_split(child->name);
    struct log_entry entry = {0};
    struct byte_source *source = NULL;
    enum look_verdict verdict = LOOK_LOG;
    const char *reason = "";
    struct err why = {0};
    bool fresh;
    enum err_code rc = note_seen(self, child, &fresh, err);
    if (rc != ERR_OK || !fresh)
        return rc;
    int64_t stamp = stamp_of(path, child, remarks);
    if (self->scan->pass_over && ((rc = self->scan->pass_over(self->scan->context, stamp, &child->is_log)) || child->is_log))
        return rc;
    if (child->bytes == 0)
        return reject_child(self, path, child, child->name[0] == '_' ? REJECT_NOT_A_LOG : REJECT_EMPTY, child->name[0] == '_' ? "a marker file" : "empty");
    rc = scanner_begin(self, &entry, LAYOUT_FILE, path, dir, err);
    if (rc == ERR_OK)
        rc = log_entry_reserve(&entry, 1, err);
    if (rc == ERR_OK)
        rc = log_entry_add_file(&entry, dir, child, err);
    if (rc == ERR_OK && !(entry.id_from_name = mem_strndup(name.id.ptr, name.id.len)))
        rc = err_nomem(err);
    if (rc != ERR_OK)
        goto done;
    entry.finished_name = !name.in_progress;
    entry.remarks = remarks;
    entry.stamp = stamp;
    log_entry_finish(&entry, 0, 0);
    /* Elsewhere a look is two or three questions, and the name is good enough to begin with: the lister reads the head anyway, and says what is no log. */
    bool trusted = place_is_remote(path) && log_name_looks_like_log(child->name);
    const char *known_reason = NULL;
    if (!trusted && self->scan->is_known && self->scan->is_known(self->scan->context, path, entry.fingerprint, &known_reason)) {
        verdict = known_reason ? LOOK_NOT_A_LOG : LOOK_LOG;
        reason = known_reason;
    } else if (!trusted) {
        rc = byte_source_open(&source, path, NULL, &why);
        if (rc == ERR_OK)
            rc = log_look(read_file, source, &verdict, &reason, &why);
        byte_source_close(source);
        if (rc == ERR_NOMEM || is_place_failure(rc)) {
            err_set(err, rc, "%s", why.message);
            goto done;
        }
        if (rc != ERR_OK) {
            rc = rc == ERR_NOT_FOUND ? ERR_OK : reject_child(self, path, child, REJECT_UNREADABLE, why.message);
            goto done;
        }
    }
    if (verdict == LOOK_NOTHING_YET && (name.codec || log_name_looks_like_log(child->name)))
        verdict = LOOK_LOG;
    child->is_log = verdict == LOOK_LOG;
    if (verdict == LOOK_LOG)
        rc = scanner_emit(self, &entry);
    else if (verdict == LOOK_ZIP && !(self->walking && place_is_remote(path)))
        rc = zip_scan(self, path, dir, child, err);
    else
        rc = reject_content(self, &entry, child, verdict == LOOK_ZIP ? "a zip archive in a remote place is read when it is named itself" : reason);
done:
    log_entry_dispose(&entry);
    return rc;
}

/* ---- directories */

/* A directory that is one log. `path` is the directory's, `parent` where it lies. */
static enum err_code scan_layout(struct scanner *self, enum log_layout layout, const char *path, const char *parent, const char *name, const struct place_child *dir,
    const struct place_children *children, struct err *err)
{
    struct log_entry entry;
    const char *empty = NULL;
    enum err_code rc = scanner_begin(self, &entry, layout, path, parent, err);
    if (rc != ERR_OK)
        return rc;
    struct err why = {0};
    rc = log_layout_collect(&entry, layout, path, name, children, &empty, &why);
    if (rc == ERR_LIMIT)
        rc = reject_child(self, path, dir, REJECT_NOT_A_LOG, why.message);
    else if (rc != ERR_OK)
        err_set(err, rc, "%s", why.message);
    else if (empty)
        rc = reject_child(self, path, dir, REJECT_EMPTY, empty);
    else {
        log_entry_finish(&entry, 0, 0);
        rc = scanner_emit(self, &entry);
    }
    log_entry_dispose(&entry);
    return rc;
}

static enum err_code scan_directory(struct scanner *self, const char *path, const char *parent, const struct place_child *dir, int depth, bool one_log, struct err *err);

/* The finished file that <x>.inprogress belongs to, when it is there and a log. */
static bool is_superseded(const struct place_children *children, const struct place_child *child)
{
    size_t len = strlen(child->name), suffix = strlen(IN_PROGRESS);
    if (len <= suffix || strcmp(child->name + len - suffix, IN_PROGRESS) != 0)
        return false;
    char finished[NAME_MAX + 1];
    if (len - suffix > NAME_MAX)
        return false;
    memcpy(finished, child->name, len - suffix);
    finished[len - suffix] = '\0';
    const struct place_child *other = place_children_find(children, finished);
    return other && other->is_log;
}

static bool has_in_progress(const struct place_children *children, const struct place_child *child)
{
    char name[NAME_MAX + sizeof IN_PROGRESS];
    const struct place_child *next = child + 1, *end = children->items + children->count;
    if (next == end || strncmp(next->name, child->name, strlen(child->name)) != 0)
        return false;                /* the usual case, and far cheaper than a search: it would follow, with others that begin like it */
    snprintf(name, sizeof name, "%s%s", child->name, IN_PROGRESS);
    const struct place_child *other = place_children_find(children, name);
    return other && other->kind == CHILD_FILE;
}

static enum err_code scan_child(struct scanner *self, const char *dir, const char *path, struct place_child *child, const struct place_children *siblings, int depth, struct err *err)
{
    char reason[160];
    switch (child->kind) {
    case CHILD_FILE:
        if (is_superseded(siblings, child))
            return ERR_OK;
        return scan_file(self, dir, path, child, has_in_progress(siblings, child) ? ENTRY_SUPERSEDES_INPROGRESS : 0, err);
    case CHILD_DIRECTORY:
        if (depth > LOG_SCAN_MAX_DEPTH)
            return reject_child(self, path, child, REJECT_NOT_A_LOG, "deeper than directories are looked into");
        return scan_directory(self, path, dir, child, depth, false, err);
    case CHILD_LINKED_DIRECTORY:
        return reject_child(self, path, child, REJECT_NOT_A_LOG, "a link to a directory is not followed");
    case CHILD_BAD_LINK:
        snprintf(reason, sizeof reason, "a link that leads nowhere: %s", strerror(child->error));
        return reject_child(self, path, child, REJECT_NOT_A_LOG, reason);
    case CHILD_BAD_NAME:
        return reject_child(self, path, child, REJECT_NOT_A_LOG, "a name that no file can have");
    case CHILD_SPECIAL:
        return reject_child(self, path, child, REJECT_NOT_A_LOG, "a pipe, socket or device");
    case CHILD_UNREADABLE:
        return reject_child(self, path, child, REJECT_UNREADABLE, strerror(child->error));
    }
    return ERR_OK;
}

/* `depth` directories lie above it in this scan, 0: it is where the scan begins. `one_log`: only what the directory itself is, its children are not entered.
 * Calls itself LOG_SCAN_MAX_DEPTH times at most. */
static enum err_code scan_directory(struct scanner *self, const char *path, const char *parent, const struct place_child *dir, int depth, bool one_log, struct err *err)
{
    struct place_children children;
    struct err why = {0};
    enum err_code rc = place_list(self->scan->view, path, dir, &children, &why);
    if (rc == ERR_NOMEM || is_place_failure(rc) || (rc != ERR_OK && depth == 0))
        return err_set(err, rc, "%s", why.message);
    if (rc != ERR_OK)
        return rc == ERR_NOT_FOUND ? ERR_OK : reject_child(self, path, dir, REJECT_UNREADABLE, why.message);
    enum log_layout layout = log_layout_of(dir->name, &children);
    if (layout != LAYOUT_FILE)
        rc = scan_layout(self, layout, path, parent, dir->name, dir, &children, err);
    else if (one_log || (children.count == 0 && log_name_looks_like_log(dir->name)))
        rc = reject_child(self, path, dir, REJECT_NOT_A_LOG, children.count == 0 ? "an empty directory" : "a directory that is no log itself");
    self->walking = true;
    bool walk = !one_log && (layout == LAYOUT_FILE || layout == LAYOUT_DATABRICKS);
    for (size_t i = 0; i < children.count && walk && rc == ERR_OK; i++) {
        struct place_child *child = &children.items[i];
        if (layout == LAYOUT_DATABRICKS && child->kind == CHILD_FILE && log_name_databricks(child->name) >= 0)
            continue;
        char *child_path = place_join(path, child->name);
        rc = child_path ? scan_child(self, path, child_path, child, &children, depth + 1, err) : err_nomem(err);
        mem_free(child_path);
    }
    place_children_dispose(&children);
    return rc;
}

/* ---- where a scan begins */

static enum err_code file_exists(const char *path, bool *ret, struct err *err)
{
    struct place_child child;
    struct err why = {0};
    enum err_code rc = place_stat(path, &child, &why);
    *ret = rc == ERR_OK && child.kind == CHILD_FILE;
    place_child_dispose(&child);
    return rc == ERR_NOMEM || is_place_failure(rc) ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

/* `path` is absolute. */
static enum err_code scan_root(struct scanner *self, const char *path, bool one_log, struct err *err)
{
    char *dir = NULL, *running = NULL;
    const char *name;
    struct place_child child = {0};
    enum err_code rc = (dir = place_parent(path, &name)) ? one_log ? place_stat(path, &child, err) : place_probe(path, &child, err) : err_nomem(err);
    if (rc == ERR_OK && child.kind == CHILD_FILE) {
        size_t size = strlen(path) + sizeof IN_PROGRESS;
        bool runs = false;
        if (!(running = mem_alloc(size))) {
            rc = err_nomem(err);
        } else {
            snprintf(running, size, "%s%s", path, IN_PROGRESS);
            rc = file_exists(running, &runs, err);
        }
        if (rc == ERR_OK)
            rc = scan_file(self, dir, path, &child, runs ? ENTRY_SUPERSEDES_INPROGRESS : 0, err);
    } else if (rc == ERR_OK && child.kind == CHILD_DIRECTORY) {
        if (self->scan->ret_modified_ms)
            *self->scan->ret_modified_ms = child.modified_ms;
        rc = place_view_begin(self->scan->view, err);
        if (rc == ERR_OK)
            rc = scan_directory(self, path, dir, &child, 0, one_log, err);
    } else if (rc == ERR_OK) {
        rc = reject_child(self, path, &child, REJECT_NOT_A_LOG, "a pipe, socket or device");
    }
    mem_free(running);
    place_child_dispose(&child);
    mem_free(dir);
    return rc;
}

static void scanner_end(struct scanner *self)
{
    imap_dispose(&self->seen);
    mem_free(self->dir);
    mem_free(self->real_dir);
}

enum err_code log_scan(const char *path, const struct log_scan *scan, struct err *err)
{
    struct scanner self = {.scan = scan};
    char *absolute;
    enum err_code rc = place_address(path, &absolute, err);
    if (rc)
        return rc;
    imap_init(&self.seen, SEEN_MAX);
    rc = scan_root(&self, absolute, false, err);
    scanner_end(&self);
    mem_free(absolute);
    return rc;
}

/* ---- one known log again */

struct probe {
    struct log_entry *ret;
    bool found, rejected;
    enum reject_kind kind;
    char reason[160];
};

static enum err_code keep_entry(void *context, struct log_entry *entry)
{
    struct probe *probe = context;
    if (probe->found) {
        log_entry_dispose(entry);
        return ERR_OK;
    }
    probe->found = true;
    *probe->ret = *entry;
    return ERR_OK;
}

static enum err_code keep_reject(void *context, const struct log_reject *reject)
{
    struct probe *probe = context;
    probe->rejected = true;
    probe->kind = reject->kind;
    snprintf(probe->reason, sizeof probe->reason, "%s", reject->reason);
    return ERR_OK;
}

static enum err_code probe_path(const char *path, const char *zip_entry, struct probe *probe, struct err *err)
{
    struct log_scan scan = {.context = probe, .on_entry = keep_entry, .on_reject = keep_reject};
    struct scanner self = {.scan = &scan, .only = zip_entry};
    imap_init(&self.seen, SEEN_MAX);
    enum err_code rc = scan_root(&self, path, true, err);
    scanner_end(&self);
    return rc;
}

enum err_code log_entry_probe(const char *path, struct log_entry *ret, struct err *err)
{
    struct probe probe = {.ret = ret};
    *ret = (struct log_entry){0};
    const char *slashes = place_member(path);
    size_t len = slashes ? (size_t)(slashes - path) : strlen(path), suffix = strlen(IN_PROGRESS);
    char *copy = mem_strndup(path, len);
    char *start = NULL;
    enum err_code rc = copy ? place_address(copy, &start, err) : err_nomem(err);
    mem_free(copy);
    if (rc)
        return rc;
    rc = ERR_NOT_FOUND;
    len = strlen(start);
    if (!slashes && len > suffix && strcmp(start + len - suffix, IN_PROGRESS) == 0) {
        /* Renamed meanwhile, or about to be: the finished file is the log. */
        bool finished;
        start[len - suffix] = '\0';
        enum err_code failed = file_exists(start, &finished, err);
        rc = failed ? failed : finished ? probe_path(start, NULL, &probe, err) : rc;
        start[len - suffix] = IN_PROGRESS[0];
    }
    if (!probe.found && rc != ERR_NOMEM && !is_place_failure(rc)) {
        probe.rejected = false;
        rc = probe_path(start, slashes ? path : NULL, &probe, err);
    }
    mem_free(start);
    if (rc != ERR_OK) {
        log_entry_dispose(ret);
        return rc;
    }
    if (probe.found)
        return ERR_OK;
    if (slashes || !probe.rejected)
        return err_set(err, ERR_NOT_FOUND, "not there any more");
    return err_set(err, probe.kind == REJECT_UNREADABLE ? ERR_PERMISSION : ERR_INVALID, "%s", probe.reason);
}
