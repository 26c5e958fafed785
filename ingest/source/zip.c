/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/byte_source.h"
#include "place/place.h"

#define READ_BYTES ((size_t)64 << 10)
#define REMOTE_READ_BYTES ((size_t)256 << 10)

struct zip {
    struct archive *archive;
    char *path;
    int fd;                  /* of a local archive */
    struct place_file *remote;   /* of another; owned */
    int64_t offset;          /* in it */
    enum err_code remote_failed;
    char *chunk;             /* REMOTE_READ_BYTES of it; owned */
    int64_t ordinal;         /* of the present member, from 1 */
    char unnamed[32];
};

static enum err_code archive_failed(struct zip *self, struct err *err)
{
    const char *text = archive_error_string(self->archive);
    int number = archive_errno(self->archive);
    if (number == ENOMEM)
        return err_nomem(err);
    if (self->remote_failed)
        return err_set(err, self->remote_failed, "%s", text ? text : "cannot be read");
    if (!text)
        text = "damaged zip archive";
    enum err_code code = strstr(text, "runcated") ? ERR_TRUNCATED : strstr(text, "ncrypt") || strstr(text, "nsupported") ? ERR_UNSUPPORTED : ERR_CORRUPT;
    return err_set(err, code, "%s", text);
}

static void close_archive(struct zip *self)
{
    if (self->archive)
        archive_read_free(self->archive);
    self->archive = NULL;
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
    place_file_close(TAKE(self->remote));
}

/* ---- what libarchive calls for a remote archive */

static la_ssize_t read_remote(struct archive *archive, void *context, const void **ret_bytes)
{
    struct zip *self = context;
    struct err why = {0};
    size_t len;
    enum err_code rc = place_file_read(self->remote, self->offset, self->chunk, REMOTE_READ_BYTES, &len, &why);
    *ret_bytes = self->chunk;
    if (rc && rc != ERR_EOF) {
        self->remote_failed = rc;
        archive_set_error(archive, rc == ERR_NOMEM ? ENOMEM : EIO, "%s", why.message);
        return -1;
    }
    self->offset += (int64_t)len;
    return (la_ssize_t)len;
}

static la_int64_t seek_remote(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    struct zip *self = context;
    struct place_child child = {.bytes = 0};
    struct err why = {0};
    if (whence == SEEK_END && (self->remote_failed = place_file_stat(self->remote, &child, &why))) {
        archive_set_error(archive, EIO, "%s", why.message);
        return ARCHIVE_FATAL;
    }
    self->offset = MAX(0, offset + (whence == SEEK_CUR ? self->offset : whence == SEEK_END ? known_or(child.bytes, 0) : 0));
    return self->offset;
}

static la_int64_t skip_remote(struct archive *archive, void *context, la_int64_t count)
{
    struct zip *self = context;
    (void)archive;
    self->offset += count;
    return count;
}

static int open_remote(struct zip *self)
{
    archive_read_set_read_callback(self->archive, read_remote);
    archive_read_set_seek_callback(self->archive, seek_remote);
    archive_read_set_skip_callback(self->archive, skip_remote);
    archive_read_set_callback_data(self->archive, self);
    return archive_read_open1(self->archive);
}

static enum err_code open_archive(struct zip *self, struct err *err)
{
    close_archive(self);
    self->ordinal = 0;
    self->offset = 0;
    self->remote_failed = ERR_OK;
    bool is_remote = place_is_remote(self->path);
    if (is_remote && !self->chunk && !(self->chunk = mem_alloc(REMOTE_READ_BYTES)))
        return err_nomem(err);
    enum err_code rc = is_remote ? place_file_open(&self->remote, self->path, err) : byte_source_open_regular(self->path, &self->fd, err);
    if (rc != ERR_OK)
        return rc;
    self->archive = archive_read_new();
    if (!self->archive || archive_read_support_format_zip(self->archive) != ARCHIVE_OK)
        return err_nomem(err);
    if ((is_remote ? open_remote(self) : archive_read_open_fd(self->archive, self->fd, READ_BYTES)) != ARCHIVE_OK)
        return archive_failed(self, err);
    return ERR_OK;
}

enum err_code zip_open(struct zip **ret, const char *path, struct err *err)
{
    *ret = NULL;
    struct zip *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->fd = -1;
    self->path = mem_strndup(path, strlen(path));
    enum err_code rc = self->path ? open_archive(self, err) : err_nomem(err);
    if (rc != ERR_OK) {
        zip_close(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

/* The same name for the same member on every pass, also when its bytes are no text of any known encoding. */
static const char *member_name(struct zip *self, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);
    if (!name)
        name = archive_entry_pathname(entry);
    if (name && *name)
        return name;
    snprintf(self->unnamed, sizeof self->unnamed, "member %lld", (long long)self->ordinal);
    return self->unnamed;
}

enum err_code zip_next(struct zip *self, struct zip_member *ret, struct err *err)
{
    for (;;) {
        struct archive_entry *entry;
        int status = archive_read_next_header(self->archive, &entry);
        if (status == ARCHIVE_EOF)
            return err_set(err, ERR_EOF, "no more members");
        if (status == ARCHIVE_FATAL)
            return archive_failed(self, err);
        if (status == ARCHIVE_RETRY)
            continue;
        self->ordinal++;
        if (status == ARCHIVE_FAILED)
            continue;
        *ret = (struct zip_member){
            .name = member_name(self, entry),
            .bytes = archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0 ? archive_entry_size(entry) : UNKNOWN,
            .modified_ms = archive_entry_mtime_is_set(entry) ? (int64_t)archive_entry_mtime(entry) * 1000 : UNKNOWN,
            .directory = archive_entry_filetype(entry) == AE_IFDIR,
            .encrypted = archive_entry_is_data_encrypted(entry) > 0,
        };
        return ERR_OK;
    }
}

enum err_code zip_find(struct zip *self, const char *member, struct err *err)
{
    int64_t from = self->ordinal;
    for (int pass = 0; pass < 2; pass++) {
        struct zip_member found;
        enum err_code rc;
        while ((rc = zip_next(self, &found, err)) == ERR_OK)
            if (!found.directory && strcmp(found.name, member) == 0)
                return ERR_OK;
        if (from == 0)
            return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "no such member") : rc;
        from = 0;
        if ((rc = open_archive(self, err)) != ERR_OK)
            return rc;
    }
    return err_set(err, ERR_NOT_FOUND, "no such member");
}

enum err_code zip_read(struct zip *self, void *into, size_t room, size_t *ret_len, struct err *err)
{
    *ret_len = 0;
    la_ssize_t len = archive_read_data(self->archive, into, room);
    if (len == 0)
        return err_set(err, ERR_EOF, "end of the member");
    if (len < 0)
        return archive_failed(self, err);
    *ret_len = (size_t)len;
    return ERR_OK;
}

const char *zip_path(const struct zip *self)
{
    return self->path;
}

void zip_close(struct zip *self)
{
    if (!self)
        return;
    close_archive(self);
    mem_free(self->path);
    mem_free(self->chunk);
    mem_free(self);
}
