/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/db.h"
#include "base/directories.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "base/worker_counts.h"
#include "server/answer_cache.h"
#include "server/api/api.h"
#include "server/api/app_table.h"
#include "server/audit.h"
#include "server/db_pool.h"
#include "server/exposure.h"
#include "server/http.h"
#include "server/http_listen.h"
#include "server/login.h"
#include "server/network.h"
#include "server/route_times.h"
#include "server/store_usage.h"

#define PROGRAM "/proc/self/exe"
#define KEPT_FREE_BYTES (2 << 20) /* of each thread */
#define OPENED_SLOTS 256             /* runs whose last opening is remembered: telling of it once a minute is enough */
#define OPENED_MINUTES 1024

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
    struct tls *tls;                 /* NULL: no https */
    struct login *login;             /* NULL: nobody is asked for a password */
    struct audit *audit;             /* NULL: off */
    struct network *metrics_from;
    struct worker_counts *counts;    /* of the child; NULL: there is none */
    int counts_fd;
    struct route_times *route_times;
    struct store_usage_watch *store_usage;
    int64_t started_ms;
    atomic_int_fast64_t opened[OPENED_SLOTS];    /* by log_id: log_id and minute of the last opening that was told, as one number */
    int listen_fd, plain_fd;         /* -1: http has it; there is none */
    const char *temp_dir;
    char program[4096];              /* real path of this program: /proc/self/exe would be the child's own view of itself otherwise */
    char build[SERVER_BUILD_BYTES];
    char address[HTTP_ADDRESS_BYTES + 16], plain_address[HTTP_ADDRESS_BYTES + 16];
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

/* What the worker cannot write it could only complain of again and again. */
static enum err_code make_writable(const char *store_dir, struct err *err)
{
    enum err_code rc = directories_make(store_dir, err);
    return !rc && access(store_dir, W_OK | X_OK) ? err_set_errno(err, errno, "the store %s cannot be written (without --logs it is only read)", store_dir) : rc;
}

static enum err_code check_store(const struct server_settings *settings, struct err *err)
{
    struct stat st;
    bool there = stat(settings->store_dir, &st) == 0;
    if (there && !S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "the store %s is not a directory", settings->store_dir);
    if (!there && settings->place_count == 0 && !settings->uploads.dir)
        return err_set(err, ERR_NOT_FOUND, "there is no store %s, and no --logs to fill one from", settings->store_dir);
    return settings->place_count || settings->uploads.dir ? make_writable(settings->store_dir, err) : ERR_OK;
}

static enum err_code make_ingest_argv(struct server *self, struct err *err)
{
    const struct server_settings *s = self->settings;
    const char **argv = self->ingest_argv = mem_array(s->ingest_option_count + s->place_count + 11, sizeof *argv);
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
    argv[n++] = "--counts";
    argv[n++] = SUPERVISE_COUNTS_FD;
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

static bool wants_tls(const struct server_settings *settings)
{
    return settings->tls.certificate || settings->tls.keystore;
}

/* Who may come in, and where. */
static enum err_code open_doors(struct server *self, struct err *err)
{
    const struct server_settings *s = self->settings;
    const struct exposure exposure = {.tls = wants_tls(s), .login = s->login_users_file, .proxy = s->access.header, .insecure = s->listen_insecure};
    char real[HTTP_ADDRESS_BYTES];
    bool run_out = false, two_ports = wants_tls(s) && known(s->https_port);
    enum err_code rc;
    if (wants_tls(s) && (rc = tls_new(&self->tls, &s->tls, &run_out, err)))
        return rc;
    if ((s->login_users_file && (rc = login_new(&self->login, s->login_users_file, err))) || (s->audit_file && (rc = audit_new(&self->audit, s->audit_file, err))))
        return rc;
    if (run_out)
        log_warning("the certificate has run out, or is not valid yet");
    if (two_ports) {
        if ((rc = http_listen(s->host, s->port, &self->plain_fd, real, err)))
            return rc;
        snprintf(self->plain_address, sizeof self->plain_address, "http://%s/", real);
    }
    if ((rc = http_listen(s->host, two_ports ? (int)s->https_port : s->port, &self->listen_fd, real, err)))
        return rc;
    snprintf(self->address, sizeof self->address, "%s://%s/", wants_tls(s) ? "https" : "http", real);
    return exposure_check(self->listen_fd, real, &exposure, err);
}

enum err_code server_new(struct server **ret, const struct server_settings *settings, struct err *err)
{
    *ret = NULL;
    enum err_code rc = check_store(settings, err);
    if (rc)
        return rc;
    /* What one answer freed the next one needs: below this it is not given back in between, page by page. */
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE_BYTES);
    struct server *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->settings = settings;
    self->started_ms = time_now_ms();
    self->listen_fd = self->plain_fd = -1;
    self->temp_dir = find_temp_dir();
    name_build(settings, self->build);
    if ((rc = access_new(&self->access, &settings->access, err)) || (rc = db_pool_new(&self->pool, settings->store_dir, api_register_grades, err)) ||
        (rc = app_table_new(&self->apps, err)) || (rc = answer_cache_new(&self->answers, err)) || (rc = uploads_new(&self->uploads, &settings->uploads, err)) ||
        ((settings->place_count || self->uploads) && ((rc = make_ingest_argv(self, err)) || (rc = worker_counts_new(&self->counts, &self->counts_fd, err)))) ||
        (rc = networks_parse(&self->metrics_from, settings->metrics_from, settings->metrics_from_count, "afterglow.metrics.from", err)) ||
        (rc = route_times_new(&self->route_times, err)) || (rc = store_usage_new(&self->store_usage, settings->store_dir, err)) || (rc = open_doors(self, err))) {
        server_free(self);
        return rc;
    }
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

unsigned server_threads(const struct server *self)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return self->settings->threads ? self->settings->threads : (unsigned)MAX(MIN(cores, 64L) * 2, 4L);
}

enum err_code server_start(struct server *self, struct err *err)
{
    struct http_settings http = {.listen_fd = self->listen_fd, .plain_fd = self->plain_fd, .tls = self->tls != NULL, .threads = server_threads(self), .temp_dir = self->temp_dir, .proxy_base = self->settings->proxy_base,
                                 .framing_from = self->settings->framing_from, .transport_security = self->settings->transport_security};
    self->listen_fd = self->plain_fd = -1;
    read_apps(self);
    if (self->ingest_argv) {
        enum err_code rc = supervise_start(&self->supervisor, self->ingest_argv, self->counts_fd, err);
        if (rc) {
            self->listen_fd = http.listen_fd;
            self->plain_fd = http.plain_fd;
            return rc;
        }
    }
    return http_start(&self->http, &http, self, err);
}

const char *server_address(const struct server *self)
{
    return self->address;
}

const char *server_plain_address(const struct server *self)
{
    return self->plain_address[0] ? self->plain_address : NULL;
}

static void tell_refresh(bool changed, const char *what, enum err_code rc, const struct err *err)
{
    if (rc)
        log_error("%s; the old %s stays", err->message, what);
    else if (changed)
        log_info("the %s changed and was read", what);
}

void server_refresh(struct server *self)
{
    struct err err = {0};
    bool changed = false;
    enum err_code rc = self->tls ? tls_refresh(self->tls, &changed, &err) : ERR_OK;
    tell_refresh(changed, "certificate", rc, &err);
    changed = false;
    rc = self->login ? login_refresh(self->login, &changed, &err) : ERR_OK;
    tell_refresh(changed, "file of users", rc, &err);
    if (self->audit && audit_refresh(self->audit, &err))
        log_error("%s", err.message);
}

void server_reopen(struct server *self)
{
    if (self->audit)
        audit_reopen(self->audit);
}

void server_free(struct server *self)
{
    if (!self)
        return;
    http_stop(self->http);
    login_free(self->login);
    tls_free(self->tls);
    audit_free(self->audit);
    supervise_free(self->supervisor);
    worker_counts_free(self->counts, self->counts_fd);
    route_times_free(self->route_times);
    store_usage_free(self->store_usage);
    mem_free(self->metrics_from);
    answer_cache_free(self->answers);
    uploads_free(self->uploads);
    app_table_free(self->apps);
    db_pool_free(self->pool);
    access_free(self->access);
    if (self->listen_fd >= 0)
        close(self->listen_fd);
    if (self->plain_fd >= 0)
        close(self->plain_fd);
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

struct login *server_login(struct server *self)
{
    return self->login;
}

struct audit *server_audit(struct server *self)
{
    return self->audit;
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
    *ret = (struct ingest_status){.since_ms = UNKNOWN, .pid = -1};
    if (self->supervisor)
        supervise_status(self->supervisor, ret);
}

struct worker_counts *server_counts(struct server *self)
{
    return self->counts;
}

struct route_times *server_route_times(struct server *self)
{
    return self->route_times;
}

struct store_usage_watch *server_store_usage(struct server *self)
{
    return self->store_usage;
}

const struct settings *server_settings_given(const struct server *self)
{
    return self->settings->all;
}

int64_t server_started_ms(const struct server *self)
{
    return self->started_ms;
}

bool server_may_scrape(const struct server *self, const unsigned char sender[16])
{
    return networks_have(self->metrics_from, self->settings->metrics_from_count, sender);
}

void server_want(struct server *self, int64_t log_id)
{
    if (self->supervisor)
        supervise_want(self->supervisor, log_id);
}

void server_opened(struct server *self, int64_t log_id)
{
    int64_t minute = time_monotonic_ns() / NS_PER_MS / 60000, note = log_id * OPENED_MINUTES + minute % OPENED_MINUTES;
    if (self->supervisor && atomic_exchange_explicit(&self->opened[(uint64_t)log_id % OPENED_SLOTS], note, memory_order_relaxed) != note)
        supervise_opened(self->supervisor, log_id);
}

void server_damaged(struct server *self, int64_t log_id)
{
    if (self->supervisor)
        supervise_damaged(self->supervisor, log_id);
}

bool server_reload(struct server *self, int64_t log_id)
{
    return self->supervisor && supervise_reload(self->supervisor, log_id);
}

bool server_forget(struct server *self, int64_t log_id)
{
    return self->supervisor && supervise_forget(self->supervisor, log_id);
}

bool server_pin(struct server *self, struct str words)
{
    return self->supervisor && supervise_pin(self->supervisor, words);
}

int64_t server_most_pins(const struct server *self)
{
    return self->settings->most_pins;
}

void server_scan_uploads(struct server *self)
{
    if (self->supervisor)
        supervise_scan(self->supervisor, self->settings->place_count); /* the last place: make_ingest_argv */
}

bool server_finds(const struct server *self)
{
    return self->supervisor != NULL;
}

void server_find(struct server *self, struct str app_id)
{
    if (self->supervisor)
        supervise_find(self->supervisor, app_id);
}
