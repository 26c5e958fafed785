/* SPDX-License-Identifier: Apache-2.0 */
#include "server/uploads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/origin.h"

#define RECEIVING ".receiving-"
#define ARRIVING ".inprogress" /* as Spark calls a log that it is writing */
#define ROLLING "eventlog_v2_" /* a directory of this name is one log whatever is in it */
#define PATH_BYTES 4600
#define ABANDONED_SECONDS 3600 /* between two files of one upload */
#define MINUTE_NS ((int64_t)60 * 1000 * NS_PER_MS)
#define DROPPED_BYTES ((int64_t)64 << 20) /* of a body behind an error, as much is read so that the client can be told; a longer one is cut off */
#define WALK_DEPTH 16                     /* open directories while sizes are summed up */
#define NEWS_BYTES ((int64_t)64 << 10)    /* the head of a log, with which it can be listed, is smaller in all known ones but for their class path */
#define NEWS_NS ((int64_t)2000 * NS_PER_MS)

struct uploads {
    struct upload_settings settings;
    char dir[4096];       /* real path */
    pthread_mutex_t lock; /* all below */
    int64_t used_bytes;   /* in dir, as last counted, with what came since */
    int64_t *begun_ns;    /* owned; ring of most_per_minute begins */
    size_t begun_at;
    struct upload *active[UPLOADS_AT_ONCE];
};

struct upload {
    struct uploads *uploads; /* borrowed */
    char id[UPLOAD_ID_BYTES];
    char name[UPLOAD_NAME_BYTES];
    uint64_t sender;         /* hash of the user, or of the address where no user is named */
    char receiving[PATH_BYTES - 8], place[PATH_BYTES - 8]; /* DIR/.receiving-ID, DIR/ID */
    char path[PATH_BYTES + 2 * UPLOAD_NAME_BYTES];         /* of the file, without ARRIVING */
    int fd;
    bool last, is_shown;          /* is_shown: it is read while it arrives */
    bool is_renamed;              /* the file has ARRIVING behind its name until it is whole */
    int64_t told_bytes, told_ns;  /* at the last news */
    int64_t earlier_bytes, bytes; /* of the files before, of this one */
    int64_t dropped_bytes;
    int status; /* of the answer; 0: all is well */
    const char *error;
    char why[256];
};

/* ---- names ---- */

void upload_name(struct str text, char out[UPLOAD_NAME_BYTES])
{
    size_t begin = 0, len = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '/' || text.ptr[i] == '\\')
            begin = i + 1;
    begin = MAX(begin, text.len > UPLOAD_NAME_BYTES - 1 ? text.len - (UPLOAD_NAME_BYTES - 1) : 0);
    for (size_t i = begin; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool harmless = (c < 0x80 && isalnum(c)) || c == '_' || c == '-' || (c == '.' && len > 0);
        out[len++] = harmless ? (char)c : '_';
    }
    out[len] = '\0';
    if (out[strspn(out, "_.")] == '\0')
        memcpy(out, "log", sizeof "log");
}

bool upload_id(struct str text, char out[UPLOAD_ID_BYTES])
{
    if (text.len != UPLOAD_ID_BYTES - 1)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdef", text.ptr[i]) || !text.ptr[i])
            return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

/* ---- the directory ---- */

static int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *where UNUSED)
{
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static void remove_tree(const char *path)
{
    if (nftw(path, remove_one, WALK_DEPTH, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        log_warning("%s: what is left of an upload cannot be removed: %s", path, strerror(errno));
}

/* Bytes and regular files below; bounded in depth, since what we make here has two levels. */
static void count_tree(const char *path, int depth, int64_t *bytes, int64_t *files)
{
    DIR *dir = opendir(path);
    struct stat st;
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISREG(st.st_mode)) {
            *bytes += st.st_size;
            ++*files;
        } else if (S_ISDIR(st.st_mode) && depth > 0) {
            char below[PATH_BYTES];
            int len = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
            if (len > 0 && (size_t)len < sizeof below)
                count_tree(below, depth - 1, bytes, files);
        }
    }
    closedir(dir);
}

static bool is_active(const struct uploads *self, const char *id)
{
    for (size_t i = 0; i < UPLOADS_AT_ONCE; i++)
        if (self->active[i] && strcmp(self->active[i]->id, id) == 0)
            return true;
    return false;
}

/* Under the lock. */
static size_t count_of(const struct uploads *self, uint64_t sender)
{
    size_t count = 0;
    for (size_t i = 0; i < UPLOADS_AT_ONCE; i++)
        count += self->active[i] && self->active[i]->sender == sender;
    return count;
}

/* Under the lock. Uploads whose client went away between two files. */
static void remove_abandoned(struct uploads *self, int64_t age_seconds)
{
    DIR *dir = opendir(self->dir);
    struct stat st;
    time_t now = time(NULL);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!str_starts(str_of(entry->d_name), RECEIVING) || is_active(self, entry->d_name + strlen(RECEIVING)) || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            now - st.st_mtime < age_seconds)
            continue;
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", self->dir, entry->d_name + strlen(RECEIVING));
        remove_tree(path);
        snprintf(path, sizeof path, "%s/%s", self->dir, entry->d_name);
        remove_tree(path); /* last: without it the other one would count as whole */
    }
    closedir(dir);
}

enum err_code uploads_new(struct uploads **ret, const struct upload_settings *settings, struct err *err)
{
    *ret = NULL;
    if (!settings->dir)
        return ERR_OK;
    if (mkdir(settings->dir, 0770) && errno != EEXIST)
        return err_set_errno(err, errno, "cannot make %s (afterglow.uploads.dir)", settings->dir);
    struct uploads *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    char *real = realpath(settings->dir, NULL);
    struct stat st;
    bool usable = real && strlen(real) < sizeof self->dir && stat(real, &st) == 0 && S_ISDIR(st.st_mode) && access(real, W_OK | X_OK) == 0;
    if (usable)
        snprintf(self->dir, sizeof self->dir, "%s", real);
    free(real);
    self->settings = *settings;
    if (!usable || !(self->begun_ns = mem_zalloc((size_t)settings->most_per_minute * sizeof *self->begun_ns))) {
        mem_free(self);
        return usable ? err_nomem(err) : err_set(err, ERR_PERMISSION, "%s (afterglow.uploads.dir) is no directory that can be written", settings->dir);
    }
    pthread_mutex_init(&self->lock, NULL);
    remove_abandoned(self, 0);
    *ret = self;
    return ERR_OK;
}

void uploads_free(struct uploads *self)
{
    if (!self)
        return;
    pthread_mutex_destroy(&self->lock);
    mem_free(self->begun_ns);
    mem_free(self);
}

const char *uploads_dir(const struct uploads *self)
{
    return self->dir;
}

int64_t uploads_most_bytes(const struct uploads *self)
{
    return self->settings.most_bytes;
}

bool uploads_may(const struct uploads *self, const struct viewer *viewer)
{
    if (!self || viewer->refusal)
        return false;
    for (size_t i = 0; i < self->settings.user_count && !viewer->sees_all; i++)
        if (strcmp(self->settings.users[i], "*") == 0 || (viewer->user.len && str_is(viewer->user, self->settings.users[i])))
            return true;
    return viewer->sees_all;
}

/* ---- the head of a request ---- */

/* Under the lock. Seconds until another one may begin; 0: now, and it is counted. */
static int64_t wait_for_rate(struct uploads *self)
{
    int64_t now_ns = time_monotonic_ns(), oldest_ns = self->begun_ns[self->begun_at];
    if (oldest_ns && now_ns - oldest_ns < MINUTE_NS)
        return (MINUTE_NS - (now_ns - oldest_ns)) / ((int64_t)1000 * NS_PER_MS) + 1;
    self->begun_ns[self->begun_at] = now_ns;
    self->begun_at = (self->begun_at + 1) % (size_t)self->settings.most_per_minute;
    return 0;
}

static void say_later(struct response *response, int64_t seconds, const char *detail)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, seconds);
    response_error(response, 429, "too_many_uploads", "%s", detail);
    response_header(response, "Retry-After", str_of(text));
}

static void say_not_written(struct response *response)
{
    response_error(response, errno == ENOSPC || errno == EDQUOT ? 507 : 500, "cannot_write", "the upload cannot be kept: %s", strerror(errno));
}

/* Where files come. */
static const char *into(const struct upload *self)
{
    return self->is_shown ? self->place : self->receiving;
}

/* The file's name while it arrives. */
static const char *arriving_path(const struct upload *self, char *out, size_t size)
{
    snprintf(out, size, "%s%s", self->path, self->is_renamed ? ARRIVING : "");
    return out;
}

static bool make_directory(const char *path)
{
    return mkdir(path, 0770) == 0 || errno == EEXIST;
}

static bool make_file(struct upload *self, const char *folder, struct response *response)
{
    char below[PATH_BYTES + UPLOAD_NAME_BYTES], arriving[sizeof self->path + sizeof ARRIVING];
    struct stat st;
    snprintf(below, sizeof below, "%s%s%s", into(self), folder[0] ? "/" : "", folder);
    snprintf(self->path, sizeof self->path, "%s/%s", below, self->name);
    /* Touched: an upload is not abandoned as long as its files come. */
    if (!make_directory(self->receiving) || utimensat(AT_FDCWD, self->receiving, NULL, 0) || !make_directory(into(self)) || !make_directory(below)) {
        say_not_written(response);
        return false;
    }
    self->fd = self->is_renamed && lstat(self->path, &st) == 0 ? (errno = EEXIST, -1)
                                                               : open(arriving_path(self, arriving, sizeof arriving), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (self->fd < 0 && errno == EEXIST)
        response_error(response, 409, "file_exists", "this upload has a file %s already", self->name);
    else if (self->fd < 0)
        say_not_written(response);
    return self->fd >= 0;
}

/* Under the lock. False: the answer is made. */
static bool admit(struct uploads *self, struct upload *upload, const struct upload_head *head, struct response *response)
{
    int64_t files = 0, all_files = 0, announced = known_or(head->bytes, 0), wait_seconds;
    struct stat st;
    size_t place = 0;
    remove_abandoned(self, ABANDONED_SECONDS);
    self->used_bytes = 0;
    count_tree(self->dir, 2, &self->used_bytes, &all_files);
    count_tree(into(upload), 1, &upload->earlier_bytes, &files);
    while (place < UPLOADS_AT_ONCE && self->active[place])
        place++;
    if (is_active(self, upload->id) || (lstat(upload->place, &st) == 0 && lstat(upload->receiving, &st)))
        response_error(response, 409, "upload_exists", "there is an upload of this id already");
    else if (announced > self->settings.most_bytes - upload->earlier_bytes)
        response_error(response, 413, "log_too_large", "an upload may have %" PRId64 " bytes (afterglow.uploads.maxBytes)", self->settings.most_bytes);
    else if (announced > self->settings.most_total_bytes - self->used_bytes)
        response_error(response, 413, "uploads_full", "all uploads together may have %" PRId64 " bytes (afterglow.uploads.maxTotalBytes), and %" PRId64 " are there",
                       self->settings.most_total_bytes, self->used_bytes);
    else if (files >= UPLOAD_MOST_FILES)
        response_error(response, 413, "too_many_files", "an upload may have %d files", UPLOAD_MOST_FILES);
    else if (place == UPLOADS_AT_ONCE)
        say_later(response, 5, "as many uploads as may be are under way");
    else if (count_of(self, upload->sender) >= UPLOADS_OF_ONE)
        say_later(response, 5, "as many of your uploads as may be are under way");
    else if (files == 0 && (wait_seconds = wait_for_rate(self)) > 0)
        say_later(response, wait_seconds, "so many uploads have begun within a minute as may (afterglow.uploads.perMinute)");
    else {
        self->active[place] = upload;
        return true;
    }
    return false;
}

static void leave(struct upload *self)
{
    struct uploads *uploads = self->uploads;
    pthread_mutex_lock(&uploads->lock);
    for (size_t i = 0; i < UPLOADS_AT_ONCE; i++)
        if (uploads->active[i] == self)
            uploads->active[i] = NULL;
    pthread_mutex_unlock(&uploads->lock);
}

bool upload_begin(struct uploads *self, const struct request *request, const struct upload_head *head, struct upload **ret, struct response *response)
{
    struct str folder = request_param(request, "folder");
    char folder_name[UPLOAD_NAME_BYTES] = "";
    *ret = NULL;
    if (!self) {
        response_error(response, 403, "uploads_off", "adding logs is switched off (afterglow.uploads.dir)");
        return false;
    }
    if (!uploads_may(self, &request->viewer)) {
        response_error(response, 403, "forbidden", "you may not add logs (afterglow.uploads.users)");
        return false;
    }
    if (!origin_may_change(request, head->marker)) {
        response_error(response, 403, "wrong_origin", "logs are added by pages of this server, or by programs that send the header X-Afterglow-Upload");
        return false;
    }
    struct upload *upload = mem_zalloc(sizeof *upload);
    if (!upload) {
        response_error(response, 503, "busy", "out of memory");
        return false;
    }
    *upload = (struct upload){.uploads = self, .fd = -1};
    if (!upload_id(request_param(request, "upload"), upload->id)) {
        response_error(response, 400, "bad_parameter", "upload is 32 digits of 0-9 and a-f");
        mem_free(upload);
        return false;
    }
    upload_name(request_param(request, "name"), upload->name);
    upload->sender = request->viewer.user.len ? hash_bytes(request->viewer.user.ptr, request->viewer.user.len) : hash_bytes(head->peer, sizeof head->peer);
    if (folder.len)
        upload_name(folder, folder_name);
    upload->last = request_param_true(request, "last", !folder.len);
    upload->is_shown = folder.len ? str_starts(str_of(folder_name), ROLLING) : !str_ends(str_of(upload->name), ".zip");
    upload->is_renamed = upload->is_shown && !folder.len && !str_ends(str_of(upload->name), ARRIVING);
    snprintf(upload->place, sizeof upload->place, "%s/%s", self->dir, upload->id);
    snprintf(upload->receiving, sizeof upload->receiving, "%s/" RECEIVING "%s", self->dir, upload->id);
    pthread_mutex_lock(&self->lock);
    bool admitted = admit(self, upload, head, response);
    pthread_mutex_unlock(&self->lock);
    if (admitted && make_file(upload, folder_name, response)) {
        *ret = upload;
        return true;
    }
    if (admitted)
        leave(upload);
    mem_free(upload);
    return false;
}

/* ---- its body ---- */

static void fail(struct upload *self, int status, const char *error, const char *why)
{
    self->status = status;
    self->error = error;
    snprintf(self->why, sizeof self->why, "%s", why);
}

/* Counts what came; false: more than may. */
static bool count(struct upload *self, int64_t len)
{
    struct uploads *uploads = self->uploads;
    self->bytes += len;
    if (self->earlier_bytes + self->bytes > uploads->settings.most_bytes) {
        fail(self, 413, "log_too_large", "the upload has more bytes than one may have (afterglow.uploads.maxBytes)");
        return false;
    }
    pthread_mutex_lock(&uploads->lock);
    uploads->used_bytes += len;
    bool fits = uploads->used_bytes <= uploads->settings.most_total_bytes;
    pthread_mutex_unlock(&uploads->lock);
    if (!fits)
        fail(self, 413, "uploads_full", "all uploads together have more bytes than they may (afterglow.uploads.maxTotalBytes)");
    return fits;
}

bool upload_write(struct upload *self, const void *bytes, size_t len)
{
    const char *at = bytes;
    if (self->status || !count(self, (int64_t)len))
        return (self->dropped_bytes += (int64_t)len) <= DROPPED_BYTES;
    while (len) {
        ssize_t written = write(self->fd, at, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            bool is_full = errno == ENOSPC || errno == EDQUOT;
            fail(self, is_full ? 507 : 500, is_full ? "disk_full" : "cannot_write", is_full ? "the disk of the server is full" : strerror(errno));
            return true;
        }
        at += written;
        len -= (size_t)written;
    }
    return true;
}

bool upload_has_news(struct upload *self)
{
    int64_t now_ns = time_monotonic_ns();
    if (!self->is_shown || self->status || self->bytes - self->told_bytes < NEWS_BYTES || (self->told_ns && now_ns - self->told_ns < NEWS_NS))
        return false;
    self->told_bytes = self->bytes;
    self->told_ns = now_ns;
    return true;
}

/* The file is whole, and with the last one the upload. */
static void put_in_place(struct upload *self)
{
    char arriving[sizeof self->path + sizeof ARRIVING];
    if ((self->is_renamed && rename(arriving_path(self, arriving, sizeof arriving), self->path)) ||
        (self->last && (self->is_shown ? rmdir(self->receiving) : rename(self->receiving, self->place))))
        fail(self, 500, "cannot_write", strerror(errno));
}

void upload_finish(struct upload *self, struct response *response, bool *ret_changed)
{
    int fd = self->fd;
    self->fd = -1;
    /* One that keeps its name must look changed, or no scan would tell that it is whole. */
    if (self->is_shown && !self->is_renamed && futimens(fd, NULL) && !self->status)
        fail(self, 500, "cannot_write", strerror(errno));
    if (close(fd) && !self->status)
        fail(self, errno == ENOSPC || errno == EDQUOT ? 507 : 500, "cannot_write", strerror(errno));
    if (!self->status)
        put_in_place(self);
    *ret_changed = self->is_shown || (!self->status && self->last);
    if (self->status) {
        response_error(response, self->status, self->error, "%s", self->why);
        upload_abort(self);
        return;
    }
    response_status(response, 201);
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_text(json, "upload", self->id);
    json_kv_text(json, "name", self->name);
    json_kv_i64(json, "bytes", self->bytes);
    json_kv_bool(json, "complete", self->last);
    json_object_end(json);
    log_info("upload %s: %s, %" PRId64 " bytes", self->id, self->name, self->bytes);
    leave(self);
    mem_free(self);
}

bool upload_abort(struct upload *self)
{
    bool is_shown = self->is_shown;
    if (self->fd >= 0)
        close(self->fd);
    remove_tree(self->place);
    remove_tree(self->receiving); /* last: without it the other one would count as whole */
    log_info("upload %s: broke off after %" PRId64 " bytes", self->id, self->earlier_bytes + self->bytes);
    leave(self);
    mem_free(self);
    return is_shown;
}

const char *const upload_state_names[] = {[UPLOAD_NONE] = NULL, [UPLOAD_ARRIVING] = "arriving", [UPLOAD_WHOLE] = "whole", [UPLOAD_GONE] = "gone"};

enum upload_state upload_state_of(const struct uploads *self, struct str path)
{
    char place[PATH_BYTES];
    struct stat st;
    size_t len = self ? strlen(self->dir) : 0;
    if (!self || !str_starts(path, self->dir) || path.len < len + UPLOAD_ID_BYTES || path.ptr[len] != '/' ||
        (path.len > len + UPLOAD_ID_BYTES && path.ptr[len + UPLOAD_ID_BYTES] != '/'))
        return UPLOAD_NONE;
    const char *id = path.ptr + len + 1;
    char known_id[UPLOAD_ID_BYTES];
    if (!upload_id((struct str){id, UPLOAD_ID_BYTES - 1}, known_id))
        return UPLOAD_NONE;
    snprintf(place, sizeof place, "%s/" RECEIVING "%s", self->dir, known_id);
    if (lstat(place, &st) == 0)
        return UPLOAD_ARRIVING;
    snprintf(place, sizeof place, "%s/%s", self->dir, known_id);
    return lstat(place, &st) == 0 ? UPLOAD_WHOLE : UPLOAD_GONE;
}
