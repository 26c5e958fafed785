/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs in a zip archive of the History Server's /logs route (spec/files.md 1.10): single files, and eventlog_v2_ folders with everything in them. Several attempts are several
 * logs. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/log_look.h"
#include "ingest/source/log_name.h"
#include "ingest/source/log_scan.h"
#include "ingest/source/zip.h"

#define FOLDERS_MAX ((size_t)1 << 20)

struct folder {
    char *name;                  /* of the folder in the archive, up to eventlog_v2_… without a slash at the end */
    struct place_children children;
};

struct zip_scan {
    struct scanner *scanner;
    const char *path, *dir;
    const struct place_child *archive;
    struct zip *zip;
    struct folder *folders;
    size_t folder_count, folder_capacity;
    size_t found;
    bool encrypted;
};

static enum err_code read_member(void *context, void *into, size_t room, size_t *ret_len, struct err *err)
{
    return zip_read(context, into, room, ret_len, err);
}

/* "<archive>//<name>": two slashes occur in no path of ours, so the two halves can be told apart. */
static char *entry_path(const struct zip_scan *self, const char *name)
{
    size_t len = strlen(self->path) + strlen(name) + 3;
    char *path = mem_alloc(len);
    if (path)
        snprintf(path, len, "%s//%s", self->path, name);
    return path;
}

static const char *last_component(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Length of the part up to and with an eventlog_v2_ folder; 0: the member is in none. */
static size_t rolling_folder_len(const struct zip_member *member)
{
    for (const char *p = member->name;;) {
        const char *slash = strchr(p, '/');
        if (strncmp(p, ROLLING_PREFIX, strlen(ROLLING_PREFIX)) == 0 && (slash || member->directory))
            return slash ? (size_t)(slash - member->name) : strlen(member->name);
        if (!slash)
            return 0;
        p = slash + 1;
    }
}

static enum err_code folder_for(struct zip_scan *self, const char *name, size_t len, struct folder **ret, struct err *err)
{
    for (size_t i = self->folder_count; i-- > 0;) {
        *ret = &self->folders[i];
        if (strlen((*ret)->name) == len && memcmp((*ret)->name, name, len) == 0)
            return ERR_OK;
    }
    if (mem_grow((void **)&self->folders, &self->folder_capacity, self->folder_count + 1, FOLDERS_MAX, sizeof *self->folders))
        return err_nomem(err);
    struct folder folder = {.name = mem_strndup(name, len)};
    if (!folder.name)
        return err_nomem(err);
    self->folders[self->folder_count] = folder;
    *ret = &self->folders[self->folder_count++];
    return ERR_OK;
}

static enum err_code make_child(const struct zip_scan *self, const struct zip_member *member, struct place_child *ret, struct err *err)
{
    const char *name = last_component(member->name);
    *ret = (struct place_child){
        .name = mem_strndup(name, strlen(name)),
        .member = mem_strndup(member->name, strlen(member->name)),
        .kind = CHILD_FILE,
        .bytes = member->bytes,
        .modified_ms = known_or(member->modified_ms, self->archive->modified_ms),
        .device = self->archive->device,
        .inode = self->archive->inode,
    };
    if (ret->name && ret->member)
        return ERR_OK;
    mem_free(ret->name);
    mem_free(ret->member);
    *ret = (struct place_child){0};
    return err_nomem(err);
}

static bool is_wanted(const struct zip_scan *self, const char *path)
{
    return !self->scanner->only || strcmp(self->scanner->only, path) == 0;
}

static enum err_code single_file(struct zip_scan *self, const struct zip_member *member, struct err *err)
{
    struct log_entry entry = {0};
    struct place_child child = {0};
    enum look_verdict verdict;
    const char *reason;
    char *path = entry_path(self, member->name);
    enum err_code rc = path ? make_child(self, member, &child, err) : err_nomem(err);
    bool wanted = rc == ERR_OK && is_wanted(self, path);
    if (wanted) {
        struct err why = {0};
        rc = log_look(read_member, self->zip, &verdict, &reason, &why);
        wanted = rc == ERR_OK && (verdict == LOOK_LOG || (verdict == LOOK_NOTHING_YET && log_name_looks_like_log(child.name)));
        rc = rc == ERR_NOMEM ? err_nomem(err) : ERR_OK;     /* a member that cannot be read is none */
    }
    if (rc == ERR_OK && wanted) {
        struct log_name name = log_name_split(child.name);
        rc = scanner_begin(self->scanner, &entry, LAYOUT_ZIP, path, self->dir, err);
        if (rc == ERR_OK)
            rc = log_entry_reserve(&entry, 1, err);
        if (rc == ERR_OK)
            rc = log_entry_add_file(&entry, self->path, &child, err);
        if (rc == ERR_OK && !(entry.id_from_name = mem_strndup(name.id.ptr, name.id.len)))
            rc = err_nomem(err);
        entry.finished_name = !name.in_progress;
        if (rc == ERR_OK) {
            self->found++;
            log_entry_finish(&entry, self->archive->bytes, self->archive->modified_ms);
            rc = scanner_emit(self->scanner, &entry);
        }
        log_entry_dispose(&entry);
    }
    mem_free(child.name);
    mem_free(child.member);
    mem_free(path);
    return rc;
}

static enum err_code take_member(struct zip_scan *self, const struct zip_member *member, struct err *err)
{
    const char *name = last_component(member->name);
    self->encrypted |= member->encrypted;
    size_t folder_len = rolling_folder_len(member);
    if (folder_len > 0) {
        struct folder *folder = NULL;
        struct place_child child;
        enum err_code rc = folder_for(self, member->name, folder_len, &folder, err);
        if (rc != ERR_OK || member->directory || member->encrypted || name != member->name + folder_len + 1)
            return rc;
        rc = make_child(self, member, &child, err);
        return rc == ERR_OK ? place_children_add(&folder->children, &child, err) : rc;
    }
    if (member->directory || member->encrypted || member->bytes == 0 || name[0] == '.')
        return ERR_OK;
    return single_file(self, member, err);
}

static enum err_code emit_folder(struct zip_scan *self, struct folder *folder, struct err *err)
{
    struct log_entry entry = {0};
    const char *empty = NULL;
    char *path = entry_path(self, folder->name);
    if (!path)
        return err_nomem(err);
    enum err_code rc = ERR_OK;
    if (is_wanted(self, path)) {
        place_children_sort(&folder->children);
        rc = scanner_begin(self->scanner, &entry, LAYOUT_ZIP, path, self->dir, err);
        if (rc == ERR_OK)
            rc = log_layout_collect(&entry, LAYOUT_ROLLING, self->path, last_component(folder->name), &folder->children, &empty, err);
        if (rc == ERR_OK || rc == ERR_LIMIT)
            self->found++;
        if (rc == ERR_LIMIT)
            rc = scanner_reject(self->scanner, path, REJECT_NOT_A_LOG, "more files than a log can have", self->archive->bytes, self->archive->modified_ms);
        else if (rc == ERR_OK && empty)
            rc = scanner_reject(self->scanner, path, REJECT_EMPTY, empty, 0, self->archive->modified_ms);
        else if (rc == ERR_OK) {
            log_entry_finish(&entry, self->archive->bytes, self->archive->modified_ms);
            rc = scanner_emit(self->scanner, &entry);
        }
        log_entry_dispose(&entry);
    }
    mem_free(path);
    return rc;
}

enum err_code zip_scan(struct scanner *scanner, const char *path, const char *dir, const struct place_child *archive, struct err *err)
{
    struct zip_scan self = {.scanner = scanner, .path = path, .dir = dir, .archive = archive};
    struct zip_member member;
    struct err why = {0};
    const char *reason = "zip archive without an event log";
    enum err_code rc = zip_open(&self.zip, path, &why), ended = rc;
    while (ended == ERR_OK && rc == ERR_OK && (ended = zip_next(self.zip, &member, &why)) == ERR_OK)
        rc = take_member(&self, &member, err);
    if (ended == ERR_NOMEM || ended == ERR_AWAY || ended == ERR_CANCELLED)
        rc = err_set(err, ended, "%s", why.message);
    else if (rc != ERR_OK && ended != ERR_OK)
        rc = ERR_OK;                                        /* could not be opened: said below */
    for (size_t i = 0; i < self.folder_count && rc == ERR_OK; i++)
        rc = emit_folder(&self, &self.folders[i], err);
    if (rc == ERR_OK && self.found == 0) {
        if (ended != ERR_EOF)
            reason = why.message;
        else if (self.encrypted)
            reason = "encrypted zip archive";
        rc = scanner_reject(scanner, path, ended == ERR_PERMISSION ? REJECT_UNREADABLE : REJECT_NOT_A_LOG, reason, archive->bytes, archive->modified_ms);
    }
    for (size_t i = 0; i < self.folder_count; i++) {
        place_children_dispose(&self.folders[i].children);
        mem_free(self.folders[i].name);
    }
    mem_free(self.folders);
    zip_close(self.zip);
    return rc;
}
