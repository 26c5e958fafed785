/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/time.h"
#include "base/units.h"
#include "server/file_stamp.h"

#define ADDRESS_BYTES 1024
#define NAME_BYTES 256
#define LINE_BYTES ((size_t)32 << 10) /* a cut address of control characters is six times as long when it is escaped */
#define FILE_MODE 0640

struct audit {
    char *path;            /* owned */
    pthread_rwlock_t lock; /* for writing where the descriptor changes */
    int fd;
    atomic_bool reopen;
    atomic_bool torn;      /* the last line has no end: there was no room for it */
    atomic_int_fast64_t lost;
};

/* ---- what a request is about ---- */

enum kind { KIND_NONE, KIND_PAGE, KIND_ANSWER, KIND_DOWNLOAD, KIND_CHANGE };

struct subject {
    enum kind kind;
    struct str run, other;
};

static bool below(struct str path, const char *place, struct str *ret_rest)
{
    size_t len = strlen(place);
    if (!str_starts(path, place) || (path.len > len && path.ptr[len] != '/'))
        return false;
    *ret_rest = path.len > len + 1 ? (struct str){path.ptr + len + 1, path.len - len - 1} : STR_LIT("");
    return true;
}

static struct str first_segment(struct str path)
{
    const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    path.len = slash ? (size_t)(slash - path.ptr) : path.len;
    return path.len ? path : STR_NONE;
}

static bool is_download(const struct request *request)
{
    return str_ends(request->path, "/logs") || str_ends(request->path, "/report") || str_is(request_param(request, "format"), "csv");
}

static struct subject subject_of(const struct request *request)
{
    struct str path = request->path, rest;
    if (!str_is(request->method, "GET") && !str_is(request->method, "HEAD") && !str_is(request->method, "OPTIONS"))
        return (struct subject){KIND_CHANGE, below(path, "/api/afterglow/v1/apps", &rest) ? first_segment(rest) : STR_NONE, STR_NONE};
    enum kind kind = is_download(request) ? KIND_DOWNLOAD : KIND_ANSWER;
    if (below(path, "/a", &rest) || below(path, "/history", &rest))
        return (struct subject){KIND_PAGE, first_segment(rest), STR_NONE};
    if (str_is(path, "/compare"))
        return (struct subject){KIND_PAGE, request_param(request, "b"), request_param(request, "a")};
    if (str_is(path, "/") || str_starts(path, "/p/")) /* a pinned view leads to its run, or to nothing that may be told */
        return (struct subject){KIND_PAGE, STR_NONE, STR_NONE};
    if (below(path, "/api/afterglow/v1/apps", &rest) || below(path, "/api/v1/applications", &rest))
        return (struct subject){kind, first_segment(rest), STR_NONE};
    if (below(path, "/api/afterglow/v1/compare", &rest))
        return (struct subject){kind, request_param(request, "new"), request_param(request, "base")};
    return (struct subject){str_starts(path, "/api/") ? kind : KIND_NONE, STR_NONE, STR_NONE};
}

/* ---- the line ---- */

static struct str cut(struct str text, size_t most)
{
    return (struct str){text.ptr, MIN(text.len, most)};
}

bool audit_line(const struct audit_record *record, int64_t now_ms, struct buf *out)
{
    static const char *const kinds[] = {[KIND_PAGE] = "page", [KIND_ANSWER] = "answer", [KIND_DOWNLOAD] = "download", [KIND_CHANGE] = "change"};
    const struct request *request = record->request;
    const struct subject subject = subject_of(request);
    char stamp[TIME_ISO_BYTES], address[2 * ADDRESS_BYTES];
    if (subject.kind == KIND_NONE)
        return false;
    struct json_writer json;
    json_writer_init(&json, json_sink_buf, out, false);
    json_object_begin(&json);
    json_kv_text(&json, "time", time_format_iso(now_ms, stamp));
    json_kv_text(&json, "request", record->id);
    json_kv_str(&json, "peer", record->peer);
    if (str_known(record->via))
        json_kv_str(&json, "via", record->via);
    json_kv_str(&json, "user", cut(request->viewer.asker, NAME_BYTES));
    if (!str_eq(request->viewer.asker, request->viewer.user))
        json_kv_str(&json, "as", cut(request->viewer.user, NAME_BYTES));
    if (str_known(record->claimed))
        json_kv_str(&json, "claimed", cut(record->claimed, NAME_BYTES));
    json_kv_text(&json, "kind", kinds[subject.kind]);
    json_kv_str(&json, "run", cut(subject.run, NAME_BYTES));
    if (str_known(subject.other))
        json_kv_str(&json, "other", cut(subject.other, NAME_BYTES));
    json_kv_str(&json, "method", cut(request->method, 32));
    json_kv_str(&json, "address", (struct str){address, redact_into(cut(request->address, ADDRESS_BYTES), address, sizeof address)});
    json_kv_i64(&json, "status", record->status);
    json_kv_bool(&json, "allowed", record->status != 401 && record->status != 403 && record->status != 429);
    json_object_end(&json);
    enum err_code rc = json_writer_end(&json);
    buf_char(out, '\n');
    return rc == ERR_OK && !buf_failed(out);
}

void audit_write(struct audit *self, const struct audit_record *record)
{
    if (!self)
        return;
    CLEANUP(buf_dispose) struct buf line;
    buf_init(&line, LINE_BYTES);
    if (audit_line(record, time_now_ms(), &line)) {
        bool torn = atomic_exchange(&self->torn, false);
        char end[] = "\n";
        const struct iovec parts[] = {{end, torn}, {line.data, line.len}};
        pthread_rwlock_rdlock(&self->lock);
        ssize_t written = writev(self->fd, parts, ARRAY_LENGTH(parts));
        pthread_rwlock_unlock(&self->lock);
        if (written == (ssize_t)(line.len + torn))
            return;
        atomic_fetch_add(&self->lost, 1);
        if (written > torn || (written <= 0 && torn))
            atomic_store(&self->torn, true);
    } else if (buf_failed(&line)) {
        atomic_fetch_add(&self->lost, 1);
    }
}

/* ---- the file ---- */

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, FILE_MODE);
}

enum err_code audit_new(struct audit **ret, const char *path, struct err *err)
{
    *ret = NULL;
    int fd = open_file(path);
    if (fd < 0)
        return err_set_errno(err, errno, "%s (afterglow.audit.file) cannot be written", path);
    struct audit *self = mem_zalloc(sizeof *self);
    if (!self || !(self->path = mem_strndup(path, strlen(path)))) {
        mem_free(self);
        close(fd);
        return err_nomem(err);
    }
    pthread_rwlock_init(&self->lock, NULL);
    self->fd = fd;
    *ret = self;
    return ERR_OK;
}

void audit_free(struct audit *self)
{
    if (!self)
        return;
    close(self->fd);
    pthread_rwlock_destroy(&self->lock);
    mem_free(self->path);
    mem_free(self);
}

void audit_reopen(struct audit *self)
{
    atomic_store(&self->reopen, true);
}

enum err_code audit_refresh(struct audit *self, struct err *err)
{
    long long lost = (long long)atomic_exchange(&self->lost, 0);
    if (atomic_exchange(&self->reopen, false) || !file_is_open_at(self->fd, self->path)) {
        int fd = open_file(self->path);
        if (fd < 0)
            return err_set_errno(err, errno, "%s cannot be opened anew; the old one is written on", self->path);
        pthread_rwlock_wrlock(&self->lock);
        int old = self->fd;
        self->fd = fd;
        pthread_rwlock_unlock(&self->lock);
        close(old);
    }
    return lost ? err_set(err, ERR_IO, "%s: %lld lines were lost, the disk may be full", self->path, lost) : ERR_OK;
}
