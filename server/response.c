/* SPDX-License-Identifier: Apache-2.0 */
#include "server/response_body.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/negotiate.h"

#define ZLIB_CHUNK_BYTES ((size_t)16384)
#define STEP_BYTES ((size_t)256 << 20) /* of one step: a row may hold texts of 64 MiB, and their quotes are doubled */
#define GZIP_WINDOW_BITS (15 + 16)   /* zlib's way to ask for a gzip head */

enum coding { CODING_OPEN, CODING_PLAIN, CODING_GZIP, CODING_GZIP_MADE };    /* open: all that was written is in memory as it is; made: at once, not by the deflater */

static atomic_llong all_files_bytes, most_files_bytes = RESPONSE_FILES_BYTES;

struct response {
    struct arena *arena;             /* borrowed */
    bool accepts_gzip;
    const char *temp_dir;            /* borrowed */
    int status;
    const char *content_type;
    const char *cache_control;
    char etag[RESPONSE_MAX_ETAG];
    struct response_header headers[RESPONSE_MAX_HEADERS];
    size_t header_count;

    struct json_writer *json;        /* owned; NULL: none begun */
    void (*sink_done)(void *);       /* frees what response_json_through was given */
    void *sink_context;
    struct buf pending;              /* plain bytes while the coding is open */
    enum coding coding;
    z_stream *deflater;              /* owned; of a body that is longer than memory may be */
    struct buf memory;               /* body as sent */
    int fd;                          /* -1 until the body is longer than memory may be */
    int64_t file_bytes;
    int64_t counted_bytes;           /* of ours in all_files_bytes */
    struct err failed;               /* the first failure of a write */

    bool is_static;
    struct str static_plain, static_gzip;

    response_read_fn *read;
    void (*done)(void *);
    void *context;
    bool later;

    response_step_fn *step;
    void (*step_done)(void *);
    void *step_context;
    bool steps_ended;
    size_t sent;                     /* of what the last steps left in memory */
};

enum err_code response_new(struct response **ret, struct arena *arena, bool accepts_gzip, const char *temp_dir, struct err *err)
{
    struct response *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->arena = arena;
    self->accepts_gzip = accepts_gzip;
    self->temp_dir = temp_dir;
    self->status = 200;
    self->cache_control = "no-cache";
    self->fd = -1;
    buf_init(&self->pending, RESPONSE_MEMORY_BYTES);
    buf_init(&self->memory, RESPONSE_MEMORY_BYTES);
    return ERR_OK;
}

static void drop_deflater(struct response *self)
{
    if (self->deflater)
        deflateEnd(self->deflater);
    mem_free(TAKE(self->deflater));
}

/* Forgets all that was said about the body. */
static void drop_body(struct response *self)
{
    mem_free(TAKE(self->json));
    if (self->sink_context)
        self->sink_done(TAKE(self->sink_context));
    buf_clear(&self->pending);
    buf_clear(&self->memory);
    drop_deflater(self);
    self->coding = CODING_OPEN;
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
    self->file_bytes = 0;
    atomic_fetch_sub(&all_files_bytes, self->counted_bytes);
    self->counted_bytes = 0;
    memset(&self->failed, 0, sizeof self->failed);
    self->is_static = false;
    if (self->done)
        self->done(self->context);
    self->read = NULL;
    self->done = NULL;
    self->context = NULL;
    if (self->step_done)
        self->step_done(self->step_context);
    self->step = NULL;
    self->step_done = NULL;
}

void response_free(struct response *self)
{
    if (!self)
        return;
    drop_body(self);
    buf_dispose(&self->pending);
    buf_dispose(&self->memory);
    mem_free(self);
}

void response_status(struct response *self, int status)
{
    self->status = status;
}

void response_header(struct response *self, const char *name, struct str value)
{
    assert(self->header_count < RESPONSE_MAX_HEADERS);
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < 0x20 || value.ptr[i] == 0x7F)
            return;                  /* a forged header is worse than a missing one */
    const char *copy = arena_strndup(self->arena, value.ptr, value.len);
    if (!copy) {
        err_nomem(&self->failed);
        return;
    }
    self->headers[self->header_count++] = (struct response_header){name, copy};
}

void response_content_type(struct response *self, const char *type)
{
    self->content_type = type;
}

void response_etag(struct response *self, struct str etag)
{
    bool fits = etag.len < sizeof self->etag;
    for (size_t i = 0; fits && i < etag.len; i++)
        fits = (unsigned char)etag.ptr[i] > 0x20 && etag.ptr[i] != 0x7F;
    snprintf(self->etag, sizeof self->etag, "%.*s", fits ? (int)etag.len : 0, etag.ptr);
}

void response_later(struct response *self)
{
    self->later = true;
}

void response_cache(struct response *self, const char *cache_control)
{
    self->cache_control = cache_control;
}

static int open_temporary(const char *dir)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/afterglow-XXXXXX", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

void response_limit_files(int64_t bytes)
{
    atomic_store(&most_files_bytes, bytes);
}

static enum err_code write_file(struct response *self, const char *bytes, size_t len)
{
    if ((int64_t)len > RESPONSE_MAX_BYTES - self->file_bytes)
        return err_set(&self->failed, ERR_LIMIT, "the answer is longer than 4 GiB");
    self->counted_bytes += (int64_t)len;
    if (atomic_fetch_add(&all_files_bytes, (long long)len) + (long long)len > atomic_load(&most_files_bytes))
        return err_set(&self->failed, ERR_BUSY, "too many long answers are being read at the same time");
    while (len) {
        ssize_t n = write(self->fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(&self->failed, errno, "cannot write the temporary file of an answer");
        bytes += n;
        len -= (size_t)n;
        self->file_bytes += n;
    }
    return ERR_OK;
}

/* Bytes as they are sent. */
static enum err_code put(struct response *self, const char *bytes, size_t len)
{
    if (self->fd < 0 && !self->step && len > RESPONSE_MEMORY_BYTES - self->memory.len) {
        self->fd = open_temporary(self->temp_dir);
        if (self->fd < 0)
            return err_set_errno(&self->failed, errno, "cannot make a temporary file in %s", self->temp_dir);
        enum err_code rc = write_file(self, self->memory.data, self->memory.len);
        if (rc)
            return rc;
        buf_dispose(&self->memory);
    }
    if (self->fd >= 0)
        return write_file(self, bytes, len);
    buf_append(&self->memory, bytes, len);
    return buf_failed(&self->memory) ? err_nomem(&self->failed) : ERR_OK;
}

static enum err_code put_compressed(struct response *self, const char *bytes, size_t len, int flush)
{
    Bytef out[ZLIB_CHUNK_BYTES];
    z_stream *z = self->deflater;
    while (len || flush == Z_FINISH) {
        uInt piece = (uInt)MIN(len, (size_t)1 << 30);
        z->next_in = (z_const Bytef *)(uintptr_t)bytes;
        z->avail_in = piece;
        int code;
        do {
            z->next_out = out;
            z->avail_out = sizeof out;
            code = deflate(z, len == piece ? flush : Z_NO_FLUSH);
            assert(code != Z_STREAM_ERROR);
            enum err_code rc = put(self, (const char *)out, sizeof out - z->avail_out);
            if (rc)
                return rc;
        } while (z->avail_out == 0);
        bytes += piece;
        len -= piece;
        if (code == Z_STREAM_END)
            break;
    }
    return ERR_OK;
}

static bool worth_compressing(const char *type)
{
    return type && (strncmp(type, "application/json", 16) == 0 || strncmp(type, "text/", 5) == 0);
}

/* A body that is too long to be compressed at once: from here on it is sent piece by piece. */
static enum err_code begin_coding(struct response *self)
{
    self->coding = self->accepts_gzip && worth_compressing(self->content_type) ? CODING_GZIP : CODING_PLAIN;
    if (self->coding == CODING_GZIP) {
        self->deflater = mem_zalloc(sizeof *self->deflater);
        if (!self->deflater || deflateInit2(self->deflater, RESPONSE_GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
            mem_free(TAKE(self->deflater));
            return err_nomem(&self->failed);
        }
    }
    struct str early = buf_str(&self->pending);
    enum err_code rc = !early.len ? ERR_OK : self->coding == CODING_GZIP ? put_compressed(self, early.ptr, early.len, Z_NO_FLUSH) : put(self, early.ptr, early.len);
    buf_dispose(&self->pending);
    return rc;
}

enum err_code response_write(struct response *self, const void *bytes, size_t len)
{
    if (self->failed.code)
        return self->failed.code;
    if (self->coding == CODING_OPEN) {
        if (len <= RESPONSE_MEMORY_BYTES - self->pending.len) {
            buf_append(&self->pending, bytes, len);
            return buf_failed(&self->pending) ? err_nomem(&self->failed) : ERR_OK;
        }
        enum err_code rc = begin_coding(self);
        if (rc)
            return rc;
    }
    return self->coding == CODING_GZIP ? put_compressed(self, bytes, len, Z_NO_FLUSH) : put(self, bytes, len);
}

static enum err_code json_sink(void *context, const char *bytes, size_t len)
{
    return response_write(context, bytes, len);
}

/* A writer must come back in any case; without memory for one of its own, the arena's fallback is this: one that swallows. */
static struct json_writer *begin_json(struct response *self, json_sink_fn *sink, void *context, bool pretty)
{
    static _Thread_local struct json_writer swallower;
    assert(!self->json);
    self->json = sink ? mem_alloc(sizeof *self->json) : NULL;
    if (!self->json) {
        err_nomem(&self->failed);
        json_writer_init(&swallower, json_sink, self, pretty);
        return &swallower;
    }
    json_writer_init(self->json, sink, context, pretty);
    return self->json;
}

struct json_writer *response_json(struct response *self, bool pretty)
{
    if (!self->content_type)
        self->content_type = "application/json";
    return begin_json(self, json_sink, self, pretty);
}

struct json_writer *response_json_through(struct response *self, json_sink_fn *sink, void (*done)(void *), void *context)
{
    self->sink_done = done;
    self->sink_context = context;
    return begin_json(self, sink, context, false);
}

void response_static(struct response *self, const char *type, struct str body, struct str gzip)
{
    drop_body(self);
    self->content_type = type;
    self->is_static = true;
    self->static_plain = body;
    self->static_gzip = gzip;
}

enum err_code response_made(struct response *self, const char *type, struct str body, bool gzip)
{
    drop_body(self);
    self->content_type = type;
    self->coding = gzip ? CODING_GZIP_MADE : CODING_PLAIN;
    return put(self, body.ptr, body.len);
}

void response_stream(struct response *self, response_read_fn *read, void (*done)(void *), void *context)
{
    drop_body(self);
    self->read = read;
    self->done = done;
    self->context = context;
}

static void begin_error(struct response *self, int status, const char *type)
{
    drop_body(self);
    self->status = status;
    self->content_type = type;
    self->cache_control = "no-cache, no-store, must-revalidate";
    self->etag[0] = '\0';
    self->header_count = 0;
}

void response_error(struct response *self, int status, const char *error, const char *fmt, ...)
{
    char detail[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    begin_error(self, status, "application/json");
    struct json_writer *json = response_json(self, false);
    json_object_begin(json);
    json_kv_i64(json, "status", status);
    json_kv_text(json, "error", error);
    json_kv_text(json, "detail", detail);
    json_object_end(json);
}

void response_plain(struct response *self, int status, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    begin_error(self, status, "text/plain;charset=utf-8");
    size_t n = len < 0 ? 0 : MIN((size_t)len, sizeof text - 1);
    if (response_write(self, text, utf8_valid_prefix(text, n)))
        return;                      /* kept in self->failed */
}

/* A compressor is some 200 kB of tables: one stays with each thread of the server instead of being made, and its pages fetched from the system, for each answer. */
static pthread_once_t compressors_once = PTHREAD_ONCE_INIT;
static pthread_key_t compressors;

static void free_compressor(void *compressor)
{
    libdeflate_free_compressor(compressor);
}

static void make_key(void)
{
    if (pthread_key_create(&compressors, free_compressor))
        abort();                     /* at the first answer, for lack of a slot that is ours */
}

/* The thread's; NULL: no memory. */
static struct libdeflate_compressor *thread_compressor(void)
{
    pthread_once(&compressors_once, make_key);
    struct libdeflate_compressor *compressor = pthread_getspecific(compressors);
    if (!compressor && (compressor = libdeflate_alloc_compressor(RESPONSE_GZIP_LEVEL)) && pthread_setspecific(compressors, compressor))
        free_compressor(TAKE(compressor));
    return compressor;
}

/* The whole body is there: libdeflate needs half the time of zlib, and what it makes stays only in its real size. A body that would not shrink goes out as it is. */
static enum err_code finish_short_body(struct response *self)
{
    struct str plain = buf_str(&self->pending);
    self->coding = CODING_PLAIN;
    if (self->accepts_gzip && worth_compressing(self->content_type) && plain.len >= RESPONSE_GZIP_LEAST_BYTES) {
        CLEANUP(mem_freep) char *room = mem_alloc(plain.len);
        struct libdeflate_compressor *compressor = thread_compressor();
        if (!room || !compressor)
            return err_nomem(&self->failed);
        size_t len = libdeflate_gzip_compress(compressor, plain.ptr, plain.len, room, plain.len);
        if (len) {
            self->coding = CODING_GZIP_MADE;
            buf_dispose(&self->pending);
            return put(self, room, len);
        }
    }
    buf_dispose(&self->memory);
    self->memory = self->pending;
    buf_init(&self->pending, RESPONSE_MEMORY_BYTES);
    return ERR_OK;
}

static enum err_code finish_body(struct response *self)
{
    if (self->json)
        if (json_writer_end(self->json) && !self->failed.code)
            return err_set(&self->failed, ERR_IO, "the answer could not be written");
    if (self->failed.code)
        return self->failed.code;
    if (self->coding == CODING_OPEN)
        return finish_short_body(self);
    return self->coding == CODING_GZIP ? put_compressed(self, NULL, 0, Z_FINISH) : ERR_OK;
}

static int64_t read_steps(void *context, char *out, size_t room)
{
    struct response *self = context;
    while (self->sent == self->memory.len && !self->steps_ended) {
        struct err err = {0};
        bool more = false;
        buf_clear(&self->memory);
        self->sent = 0;
        enum err_code rc = self->step(self->step_context, &more, &err);
        self->steps_ended = !more;
        if (rc || self->failed.code || (!more && finish_body(self))) {
            log_warning("an answer is cut off: %s", rc ? err.message : self->failed.message);
            return -1;
        }
    }
    size_t len = MIN(room, self->memory.len - self->sent);
    memcpy(out, self->memory.data + self->sent, len);
    self->sent += len;
    return (int64_t)len;
}

static void leave_steps(void *context UNUSED)
{
    /* They are the response's, which stays until the request has ended. */
}

void response_steps(struct response *self, response_step_fn *step, void (*done)(void *), void *context)
{
    assert(self->coding == CODING_OPEN);
    self->step = step;
    self->step_done = done;
    self->step_context = context;
    buf_dispose(&self->memory);
    buf_init(&self->memory, STEP_BYTES);
    if (begin_coding(self))
        return;                      /* kept in self->failed */
}

enum err_code response_finish(struct response *self, struct str if_none_match, struct response_parts *ret, struct err *err)
{
    if (self->step ? self->failed.code : !self->is_static && !self->read && finish_body(self)) {
        if (err)
            *err = self->failed;
        return self->failed.code;
    }
    if (!self->step) {
        mem_free(TAKE(self->json));
        drop_deflater(self);
    }
    *ret = (struct response_parts){.status = self->status, .later = self->later, .content_type = self->content_type, .cache_control = self->cache_control, .headers = self->headers,
                                   .header_count = self->header_count, .fd = self->fd, .file_bytes = self->file_bytes};
    if (self->read) {
        ret->kind = RESPONSE_STREAM;
        ret->read = self->read;
        ret->done = self->done;
        ret->context = self->context;
    } else if (self->step) {
        ret->kind = RESPONSE_STREAM;
        ret->read = read_steps;
        ret->done = leave_steps;
        ret->context = self;
        ret->varies = worth_compressing(self->content_type);
        ret->gzip = self->coding == CODING_GZIP;
    } else if (self->is_static) {
        ret->varies = str_known(self->static_gzip);
        ret->gzip = ret->varies && self->accepts_gzip;
        ret->memory = ret->gzip ? self->static_gzip : self->static_plain;
    } else {
        ret->kind = self->fd >= 0 ? RESPONSE_FILE : RESPONSE_MEMORY;
        ret->varies = worth_compressing(self->content_type);
        ret->gzip = self->coding == CODING_GZIP || self->coding == CODING_GZIP_MADE;
        ret->memory = buf_str(&self->memory);
    }
    ret->html = self->content_type && strncmp(self->content_type, "text/html", strlen("text/html")) == 0;
    if (!self->etag[0])
        return ERR_OK;
    /* One strong tag may not name two sequences of bytes; without a type it is a handler's short way to a 304, and the body would have been JSON. */
    ret->etag = self->etag;
    ret->varies = ret->varies || !self->content_type;
    if (ret->varies && self->etag[0] == '"' && !(ret->etag = arena_printf(self->arena, "W/%s", self->etag)))
        return err_nomem(err);
    if (self->status == 200 && negotiate_etag(if_none_match, str_of(self->etag))) {
        ret->status = 304;
        ret->kind = RESPONSE_MEMORY;
        ret->memory = STR_LIT("");
        ret->content_type = NULL;
        ret->gzip = false;
    }
    return ERR_OK;
}

int response_take_fd(struct response *self)
{
    int fd = self->fd;
    self->fd = -1;
    return fd;
}

void response_take_stream(struct response *self)
{
    self->read = NULL;
    self->done = NULL;
    self->context = NULL;
}
