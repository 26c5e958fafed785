/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/zip.h"
#include "place/place.h"

struct byte_source {
    int fd;                  /* of a local file; -1: none */
    struct place_file *remote;   /* owned; NULL: none */
    int64_t offset;
    struct zip *zip;         /* owned; a member is read, unless one of the others is open */
};

enum err_code byte_source_open_regular(const char *path, int *ret_fd, struct err *err)
{
    *ret_fd = -1;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open");
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_INVALID, "not a regular file");
    }
    *ret_fd = fd;
    return ERR_OK;
}

static void close_file(struct byte_source *self)
{
    if (self->fd >= 0)
        close(self->fd);
    place_file_close(TAKE(self->remote));
    self->fd = -1;
    self->offset = 0;
}

static bool is_member(const struct byte_source *self)
{
    return self->fd < 0 && !self->remote;
}

enum err_code byte_source_open(struct byte_source **self, const char *path, const char *member, struct err *err)
{
    if (!*self) {
        *self = mem_zalloc(sizeof **self);
        if (!*self)
            return err_nomem(err);
        (*self)->fd = -1;
    }
    struct byte_source *source = *self;
    close_file(source);
    if (source->zip && (!member || strcmp(zip_path(source->zip), path) != 0)) {
        zip_close(source->zip);
        source->zip = NULL;
    }
    if (!member && place_is_remote(path))
        return place_file_open(&source->remote, path, err);
    if (!member) {
        enum err_code rc = byte_source_open_regular(path, &source->fd, err);
        if (rc == ERR_OK)
            posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return rc;
    }
    enum err_code rc = source->zip ? ERR_OK : zip_open(&source->zip, path, err);
    return rc == ERR_OK ? zip_find(source->zip, member, err) : rc;
}

enum err_code byte_source_read(struct byte_source *self, void *into, size_t room, size_t *ret_len, struct err *err)
{
    *ret_len = 0;
    if (is_member(self))
        return zip_read(self->zip, into, room, ret_len, err);
    if (self->remote) {
        enum err_code rc = place_file_read(self->remote, self->offset, into, room, ret_len, err);
        self->offset += (int64_t)*ret_len;
        return rc;
    }
    ssize_t len;
    do
        len = pread(self->fd, into, room, self->offset);
    while (len < 0 && errno == EINTR);
    if (len < 0)
        return err_set_errno(err, errno, "cannot read");
    if (len == 0)
        return err_set(err, ERR_EOF, "end of file");
    self->offset += len;
    *ret_len = (size_t)len;
    return ERR_OK;
}

enum err_code byte_source_seek(struct byte_source *self, int64_t offset, struct err *err)
{
    if (is_member(self) && offset != 0)
        return err_set(err, ERR_UNSUPPORTED, "a member of an archive is read from its start");
    self->offset = offset;
    return ERR_OK;
}

enum err_code byte_source_stat(struct byte_source *self, int64_t *ret_bytes, uint64_t *ret_device, uint64_t *ret_inode, struct err *err)
{
    *ret_bytes = UNKNOWN;
    *ret_device = *ret_inode = 0;
    if (is_member(self))
        return ERR_OK;
    if (self->remote) {
        struct place_child child;
        enum err_code rc = place_file_stat(self->remote, &child, err);
        if (rc == ERR_OK) {
            *ret_bytes = child.bytes;
            *ret_device = child.device;
            *ret_inode = child.inode;
        }
        return rc;
    }
    struct stat st;
    if (fstat(self->fd, &st) != 0)
        return err_set_errno(err, errno, "cannot look at the file");
    *ret_bytes = st.st_size;
    *ret_device = (uint64_t)st.st_dev;
    *ret_inode = (uint64_t)st.st_ino;
    return ERR_OK;
}

void byte_source_close(struct byte_source *self)
{
    if (!self)
        return;
    close_file(self);
    zip_close(self->zip);
    mem_free(self);
}
