/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/db.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/answer_cache.h"
#include "server/api/api.h"
#include "server/api/app_table.h"
#include "server/db_pool.h"
#include "server/http.h"

#define PROGRAM "/proc/self/exe"
#define KEPT_FREE_BYTES (2 << 20) /* of each thread */

struct server {
    const struct server_settings *settings;
    struct db_pool *pool;
    struct access *access;
    struct app_table *apps;
    struct answer_cache *answers;
    struct uploads *uploads;         /* NULL: off */
    struct http *http;
    struct supervisor *supervisor;   /* NULL: no places to watch */
    const char **ingest_argv;        /* owned array of borrowed texts */
    int listen_fd;
    const char *temp_dir;
    char program[4096];              /* real path of this program: /proc/self/exe would be the child's own view of itself otherwise */
    char build[SERVER_BUILD_BYTES];
    char address[HTTP_ADDRESS_BYTES + 16];
};

/* The program file's content and the settings that are in answers, in short: what changes makes changed tags, the same program built twice does not. */
static void name_build(const struct server_settings *settings, char out[SERVER_BUILD_BYTES])
{
    uint64_t hash = 0;
    int fd = open(PROGRAM, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            hash = hash_bytes(bytes, (size_t)st.st_size);
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (settings->log_addresses.pattern)
        hash ^= hash_bytes(settings->log_addresses.pattern, strlen(settings->log_addresses.pattern)) + settings->log_addresses.complete_only;
    if (settings->redaction)
        hash = hash * 31 + hash_bytes(settings->redaction, strlen(settings->redaction));
    snprintf(out, SERVER_BUILD_BYTES, "%s-%012" PRIx64, AFTERGLOW_VERSION, hash & 0xFFFFFFFFFFFF);
}

static const char *find_temp_dir(void)
{
    const char *named = getenv("TMPDIR");
    return named && named[0] ? named : access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

static enum err_code check_store(const struct server_settings *settings, struct err *err)
{
    struct stat st;
    bool there = stat(settings->store_dir, &st) == 0;
    if (there && !S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "the store %s is not a directory", settings->store_dir);
    if (!there && settings->place_count == 0 && !settings->uploads.dir)
        return err_set(err, ERR_NOT_FOUND, "there is no store %s, and no --logs to fill one from", settings->store_dir);
    return ERR_OK;
}

static enum err_code make_ingest_argv(struct server *self, struct err *err)
{
    const struct server_settings *s = self->settings;
    const char **argv = self->ingest_argv = mem_array(s->ingest_option_count + s->place_count + 9, sizeof *argv);
    if (!argv)
        return err_nomem(err);
    ssize_t len = readlink(PROGRAM, self->program, sizeof self->program - 1);
    if (len <= 0)
        return err_set(err, ERR_IO, "cannot find the file of this program");
    self->program[len] = '\0';
    size_t n = 0;
    argv[n++] = self->program;
    argv[n++] = "ingest";
    argv[n++] = "--watch";
    argv[n++] = "--control";
    argv[n++] = "--store";
    argv[n++] = s->store_dir;
    for (size_t i = 0; i < s->ingest_option_count; i++)
        argv[n++] = s->ingest_options[i];
    argv[n++] = "--";
    for (size_t i = 0; i < s->place_count; i++)
        argv[n++] = s->places[i];
    if (self->uploads)
        argv[n++] = uploads_dir(self->uploads);
    return ERR_OK;
}

enum err_code server_new(struct server **ret, const struct server_settings *settings, struct err *err)
{
    *ret = NULL;
    enum err_code rc = check_store(settings, err);
    if (rc)
        return rc;
    /* SQLite counts its memory under one lock for all threads, which nobody reads here. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* What one answer freed the next one needs: below this it is not given back in between, page by page. */
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE_BYTES);
    struct server *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->settings = settings;
    self->listen_fd = -1;
    self->temp_dir = find_temp_dir();
    name_build(settings, self->build);
    char real[HTTP_ADDRESS_BYTES];
    if ((rc = access_new(&self->access, &settings->access, err)) || (rc = db_pool_new(&self->pool, settings->store_dir, api_register_grades, err)) ||
        (rc = app_table_new(&self->apps, err)) || (rc = answer_cache_new(&self->answers, err)) || (rc = uploads_new(&self->uploads, &settings->uploads, err)) ||
        ((settings->place_count || self->uploads) && (rc = make_ingest_argv(self, err))) ||
        (rc = http_listen(settings->host, settings->port, &self->listen_fd, real, err))) {
        server_free(self);
        return rc;
    }
    snprintf(self->address, sizeof self->address, "http://%s/", real);
    *ret = self;
    return ERR_OK;
}

/* The list's columns before somebody waits for them. What keeps them from being read now is met, and told, by the first request for the list. */
static void read_apps(struct server *self)
{
    struct db_lease catalog;
    bool read = db_pool_catalog(self->pool, &catalog, NULL) == ERR_OK && app_table_refresh(self->apps, &catalog, NULL) == ERR_OK;
    (void)read;
    db_pool_return(self->pool, &catalog);
}

enum err_code server_start(struct server *self, struct err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = self->settings->threads ? self->settings->threads : (unsigned)MAX(MIN(cores, 64L) * 2, 4L);
    struct http_settings http = {.listen_fd = self->listen_fd, .threads = threads, .temp_dir = self->temp_dir, .proxy_base = self->settings->proxy_base,
                                 .framing_from = self->settings->framing_from, .transport_security = self->settings->transport_security};
    self->listen_fd = -1;
    read_apps(self);
    if (self->ingest_argv) {
        enum err_code rc = supervise_start(&self->supervisor, self->ingest_argv, err);
        if (rc) {
            close(http.listen_fd);
            return rc;
        }
    }
    return http_start(&self->http, &http, self, err);
}

const char *server_address(const struct server *self)
{
    return self->address;
}

void server_free(struct server *self)
{
    if (!self)
        return;
    http_stop(self->http);
    supervise_free(self->supervisor);
    answer_cache_free(self->answers);
    uploads_free(self->uploads);
    app_table_free(self->apps);
    db_pool_free(self->pool);
    access_free(self->access);
    if (self->listen_fd >= 0)
        close(self->listen_fd);
    mem_free(self->ingest_argv);
    mem_free(self);
}

struct db_pool *server_pool(struct server *self)
{
    return self->pool;
}

bool server_exact(const struct server *self, enum server_exact what)
{
    return self->settings->exact & what;
}

struct access *server_access(struct server *self)
{
    return self->access;
}

struct app_table *server_apps(struct server *self)
{
    return self->apps;
}

struct uploads *server_uploads(struct server *self)
{
    return self->uploads;
}

struct answer_cache *server_answers(struct server *self)
{
    return self->answers;
}

const char *server_assets_dir(const struct server *self)
{
    return self->settings->assets_dir;
}

const char *server_store(const struct server *self)
{
    return self->settings->store_dir;
}

const struct log_address_settings *server_log_addresses(const struct server *self)
{
    return &self->settings->log_addresses;
}

const char *server_build(const struct server *self)
{
    return self->build;
}

void server_ingest_status(struct server *self, struct ingest_status *ret)
{
    *ret = (struct ingest_status){0};
    if (self->supervisor)
        supervise_status(self->supervisor, ret);
}

void server_want(struct server *self, int64_t log_id)
{
    if (self->supervisor)
        supervise_want(self->supervisor, log_id);
}

void server_scan(struct server *self)
{
    if (self->supervisor)
        supervise_scan(self->supervisor);
}
