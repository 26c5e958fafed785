/* SPDX-License-Identifier: Apache-2.0 */
#include "server/log_zip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "place/place.h"
#include "server/zip_writer.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define OUT_MAX_BYTES ((size_t)65 << 20)     /* the directory at the archive's end comes at once (zip_writer.c) */
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct log_zip {
    struct zip_writer *zip;                  /* into out */
    char **logs;                             /* owned, each of them too */
    size_t log_count, log_capacity, next_log;
    int dir_fd;                              /* of the log that is a directory; -1: none is open */
    const char *dir_name;                    /* in logs */
    char **names;                            /* of its files; owned, each of them too */
    size_t name_count, name_capacity, next_name;
    bool is_remote;                          /* the present log lies in HDFS or S3: dir_fd and fd are not used, but those below */
    struct place_file *remote;               /* of the running entry; NULL: none */
    int64_t offset;                          /* in it */
    int fd;                                  /* of the running entry; -1: none */
    int64_t left_bytes;
    bool ended;
    struct buf out;                          /* made, of which `taken` bytes were sent */
    size_t taken;
    char chunk[CHUNK_BYTES];
};

enum err_code log_zip_new(struct log_zip **ret, struct err *err)
{
    struct log_zip *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->dir_fd = self->fd = -1;
    buf_init(&self->out, OUT_MAX_BYTES);
    enum err_code rc = zip_writer_new(&self->zip, &self->out, err);
    if (rc)
        log_zip_free(TAKE(*ret));
    return rc;
}

enum err_code log_zip_add(struct log_zip *self, struct str path, struct err *err)
{
    if (self->log_count == LOG_ZIP_MAX_LOGS)
        return err_set(err, ERR_LIMIT, "more than %d logs", LOG_ZIP_MAX_LOGS);
    char *copy = mem_strndup(path.ptr, path.len);
    if (!copy || mem_grow((void **)&self->logs, &self->log_capacity, self->log_count + 1, LOG_ZIP_MAX_LOGS, sizeof *self->logs)) {
        mem_free(copy);
        return err_nomem(err);
    }
    struct stat st;
    if (place_is_remote(copy)) {
        struct place_child child = {0};
        place_be_brief();
        enum err_code rc = place_member(copy) ? ERR_NOT_FOUND : place_stat(copy, &child, err);
        place_child_dispose(&child);
        if (rc) {
            mem_free(copy);
            return rc == ERR_NOT_FOUND ? err_set(err, rc, "no such log") : rc;
        }
    } else if (lstat(copy, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        mem_free(copy);
        return err_set(err, ERR_NOT_FOUND, "no such log");
    }
    self->logs[self->log_count++] = copy;
    return ERR_OK;
}

size_t log_zip_count(const struct log_zip *self)
{
    return self->log_count;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void free_names(struct log_zip *self)
{
    for (size_t i = 0; i < self->name_count; i++)
        mem_free(self->names[i]);
    self->name_count = self->next_name = 0;
}

void log_zip_free(void *log_zip)
{
    struct log_zip *self = log_zip;
    if (!self)
        return;
    free_names(self);
    mem_free(self->names);
    for (size_t i = 0; i < self->log_count; i++)
        mem_free(self->logs[i]);
    mem_free(self->logs);
    close_fd(&self->fd);
    close_fd(&self->dir_fd);
    place_file_close(self->remote);
    zip_writer_free(self->zip);
    buf_dispose(&self->out);
    mem_free(self);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What the codecs of event logs, and zip files, begin with. */
static bool is_compressed(const char *head, size_t len)
{
    static const struct {
        const char *bytes;
        size_t len;
    } magics[] = {{"\x28\xB5\x2F\xFD", 4}, {"LZ4Block", 8}, {"\x82SNAPPY", 7}, {"ZV", 2}, {"\x1F\x8B", 2}, {"PK\x03\x04", 4}};
    for (size_t i = 0; i < ARRAY_LENGTH(magics); i++)
        if (len >= magics[i].len && memcmp(head, magics[i].bytes, magics[i].len) == 0)
            return true;
    return false;
}

static bool begin_entry(struct log_zip *self, const char *dir, const char *name, int64_t modified_s, bool compressed)
{
    CLEANUP(buf_dispose) struct buf path;
    buf_init(&path, CHUNK_BYTES);
    buf_printf(&path, "%s%s%s", dir ? dir : "", dir ? "/" : "", name);
    if (buf_failed(&path))
        return false;
    zip_writer_begin(self->zip, buf_str(&path), modified_s, compressed);
    return true;
}

/* The entry of the open file `fd`, which is taken. */
static bool begin_file(struct log_zip *self, int fd, const char *dir, const char *name)
{
    struct stat st;
    char head[8];
    self->fd = fd;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close_fd(&self->fd);
        return true;
    }
    ssize_t len = pread(fd, head, sizeof head, 0);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    self->left_bytes = st.st_size;
    return begin_entry(self, dir, name, st.st_mtim.tv_sec, len > 0 && is_compressed(head, (size_t)len));
}

static bool copy_some(struct log_zip *self)
{
    ssize_t len;
    do
        len = read(self->fd, self->chunk, (size_t)MIN(self->left_bytes, (int64_t)CHUNK_BYTES));
    while (len < 0 && errno == EINTR);
    if (len < 0)
        return false;
    zip_writer_write(self->zip, self->chunk, (size_t)len);
    self->left_bytes -= len;
    if (len > 0 && self->left_bytes > 0)
        return true;
    close_fd(&self->fd);
    zip_writer_end(self->zip);
    return true;
}

static int last_first(const void *a, const void *b)
{
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

static bool list_names(struct log_zip *self)
{
    int copy = fcntl(self->dir_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (!dir) {
        close_fd(&copy);
        return false;
    }
    const struct dirent *item;
    bool done = true;
    while (done && (item = readdir(dir))) {
        if (item->d_name[0] == '.')
            continue;
        char *name = mem_strndup(item->d_name, strlen(item->d_name));
        done = name && !mem_grow((void **)&self->names, &self->name_capacity, self->name_count + 1, LOG_ZIP_MAX_FILES, sizeof *self->names);
        if (done)
            self->names[self->name_count++] = name;
        else
            mem_free(name);
    }
    closedir(dir);
    if (self->name_count)
        qsort(self->names, self->name_count, sizeof *self->names, last_first);
    return done;
}

/* ---- logs in remote places */

static bool copy_remote(struct log_zip *self)
{
    size_t len;
    enum err_code rc = place_file_read(self->remote, self->offset, self->chunk, CHUNK_BYTES, &len, NULL);
    if (rc && rc != ERR_EOF)
        return false;
    zip_writer_write(self->zip, self->chunk, len);
    self->offset += (int64_t)len;
    if (rc == ERR_EOF) {
        place_file_close(TAKE(self->remote));
        zip_writer_end(self->zip);
    }
    return true;
}

static bool begin_remote_file(struct log_zip *self, const char *address, const char *dir, const char *name)
{
    struct place_child child = {0};
    size_t len = 0;
    if (place_file_open(&self->remote, address, NULL) || place_file_stat(self->remote, &child, NULL))
        return false;
    enum err_code rc = place_file_read(self->remote, 0, self->chunk, CHUNK_BYTES, &len, NULL);
    if ((rc && rc != ERR_EOF) || !begin_entry(self, dir, name, known_or(child.modified_ms, 0) / 1000, is_compressed(self->chunk, len)))
        return false;
    zip_writer_write(self->zip, self->chunk, len);
    self->offset = (int64_t)len;
    return true;
}

static bool keep_names(struct log_zip *self, const struct place_children *children)
{
    for (size_t i = children->count; i-- > 0;) {     /* the last name first */
        if (children->items[i].kind != CHILD_FILE)
            continue;
        char *name = mem_strndup(children->items[i].name, strlen(children->items[i].name));
        if (!name || mem_grow((void **)&self->names, &self->name_capacity, self->name_count + 1, LOG_ZIP_MAX_FILES, sizeof *self->names)) {
            mem_free(name);
            return false;
        }
        self->names[self->name_count++] = name;
    }
    return true;
}

static bool begin_remote_log(struct log_zip *self, const char *address)
{
    struct place_child child = {0};
    struct place_children children = {0};
    self->is_remote = true;
    if (place_stat(address, &child, NULL))
        return false;
    bool is_file = child.kind == CHILD_FILE;
    int64_t modified_s = known_or(child.modified_ms, 0) / 1000;
    place_child_dispose(&child);
    if (is_file)
        return begin_remote_file(self, address, NULL, base_name(address));
    self->dir_name = base_name(address);
    bool done = place_list(NULL, address, NULL, &children, NULL) == ERR_OK && keep_names(self, &children) && begin_entry(self, self->dir_name, "", modified_s, false);
    place_children_dispose(&children);
    if (done)
        zip_writer_end(self->zip);
    return done;
}

static bool begin_remote_name(struct log_zip *self)
{
    char *address = place_join(self->logs[self->next_log - 1], self->names[self->next_name]);
    bool done = address && begin_remote_file(self, address, self->dir_name, self->names[self->next_name]);
    mem_free(address);
    self->next_name++;
    return done;
}

/* ---- all */

static bool begin_log(struct log_zip *self)
{
    const char *path = self->logs[self->next_log++];
    struct stat st;
    self->is_remote = false;
    if (place_is_remote(path))
        return begin_remote_log(self, path);
    int fd = open(path, OPEN_FLAGS);
    if (fd < 0)
        return false;                        /* it was there when the answer began: the archive must not look whole */
    if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
        return begin_file(self, fd, NULL, base_name(path));
    self->dir_fd = fd;
    self->dir_name = base_name(path);
    if (!list_names(self) || !begin_entry(self, self->dir_name, "", st.st_mtim.tv_sec, false))
        return false;
    zip_writer_end(self->zip);
    return true;
}

static bool begin_next_name(struct log_zip *self)
{
    int fd = openat(self->dir_fd, self->names[self->next_name], OPEN_FLAGS);
    const char *name = self->names[self->next_name++];
    if (fd >= 0)
        return begin_file(self, fd, self->dir_name, name);
    return errno == ENOENT || errno == ELOOP;
}

/* One piece of work; false: the archive cannot be finished. */
static bool step(struct log_zip *self)
{
    if (self->remote)
        return copy_remote(self);
    if (self->fd >= 0)
        return copy_some(self);
    if (self->next_name < self->name_count)
        return self->is_remote ? begin_remote_name(self) : begin_next_name(self);
    free_names(self);
    close_fd(&self->dir_fd);
    if (self->next_log < self->log_count)
        return begin_log(self);
    self->ended = true;
    zip_writer_finish(self->zip);
    return true;
}

int64_t log_zip_read(void *log_zip, char *out, size_t room)
{
    struct log_zip *self = log_zip;
    place_be_brief();                        /* other connections wait for this thread */
    while (self->taken == self->out.len && !self->ended) {
        buf_clear(&self->out);
        self->taken = 0;
        if (!step(self) || zip_writer_failed(self->zip))
            return -1;
    }
    size_t len = MIN(room, self->out.len - self->taken);
    if (len)
        memcpy(out, self->out.data + self->taken, len);
    self->taken += len;
    return (int64_t)len;
}
