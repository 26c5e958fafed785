/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/byte_source.h"

#define READ_BYTES ((size_t)64 << 10)

struct zip {
    struct archive *archive;
    char *path;
    int fd;
    int64_t ordinal;         /* of the present member, from 1 */
    char unnamed[32];
};

static enum err_code archive_failed(struct zip *self, struct err *err)
{
    const char *text = archive_error_string(self->archive);
    int number = archive_errno(self->archive);
    if (number == ENOMEM)
        return err_nomem(err);
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
}

static enum err_code open_archive(struct zip *self, struct err *err)
{
    close_archive(self);
    self->ordinal = 0;
    enum err_code rc = byte_source_open_regular(self->path, &self->fd, err);
    if (rc != ERR_OK)
        return rc;
    self->archive = archive_read_new();
    if (!self->archive || archive_read_support_format_zip(self->archive) != ARCHIVE_OK)
        return err_nomem(err);
    if (archive_read_open_fd(self->archive, self->fd, READ_BYTES) != ARCHIVE_OK)
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
    mem_free(self);
}
