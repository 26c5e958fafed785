/* SPDX-License-Identifier: Apache-2.0
 *
 * `afterglow serve` as one object: settings, the pool of databases, the HTTP threads (http.h) and the watched ingest child (supervise.h).
 * Made by cli/cmd_serve.c. Handlers get it through struct api_ctx and use the accessors below, which any thread may call. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/settings.h"
#include "base/str.h"
#include "server/access.h"
#include "server/supervise.h"
#include "server/tls.h"
#include "server/uploads.h"

#define SERVER_BUILD_BYTES 32

/* Of the logs of executors: executor_logs.h. */
struct log_address_settings {
    const char *pattern;             /* spark.history.custom.executor.log.url; NULL: none */
    bool complete_only;              /* …applyIncompleteApplication is false */
};

/* afterglow.history.exact: where a client may depend on an answer of the History Server that we would not give. Bits. */
enum server_exact {
    EXACT_LISTS = 1,                 /* lists of /api/v1 ignore the access lists */
    EXACT_WAIT = 2,                  /* requests for a run that is not loaded wait */
};

/* All borrowed, and must outlive the server. */
struct server_settings {
    const char *store_dir;
    const char *host;                /* to listen on: name, IPv4 or bare IPv6 address; "": all */
    int port;                        /* 0: a free one */
    int64_t https_port;              /* a port of its own for https, to which the other one leads; 0: a free one; UNKNOWN: https, where there is any, is on `port` */
    bool listen_insecure;            /* exposure.h */
    struct tls_settings tls;         /* neither certificate nor keystore: no https */
    const char *login_users_file, *audit_file;           /* NULL: none */
    const char *proxy_base;          /* spark.ui.proxyBase; NULL or "": none */
    const char *assets_dir;          /* pages from disk while developing; NULL: from the binary */
    const char *const *places;       /* logs for the ingest child; none: no child, only what the store holds is served */
    size_t place_count;
    const char *const *ingest_options;       /* further arguments for the child, before the places */
    size_t ingest_option_count;
    struct access_settings access;
    const char *const *metrics_from; /* networks that may read /metrics without a login */
    size_t metrics_from_count;
    const char *framing_from, *transport_security;       /* spark.ui.allowFramingFrom, spark.ui.strictTransportSecurity; NULL: none */
    struct log_address_settings log_addresses;
    struct upload_settings uploads;
    int64_t most_pins;               /* pinned views: api/pins.c */
    const char *redaction;           /* spark.redaction.regex, which is set already (base/redact_pattern.h): answers depend on it, so their tags do; NULL: none */
    unsigned exact;                  /* bits of enum server_exact */
    const struct settings *all;      /* those above as they were given, for the page of the server's state */
    unsigned threads;                /* 0: two for each core, at least four */
};

struct answer_cache;
struct app_table;
struct audit;
struct db_pool;
struct login;
struct route_times;
struct server;
struct store_usage_watch;
struct worker_counts;

/* Opens the store and binds the address; nothing is answered yet. ERR_BUSY: the port is taken. ERR_NOT_FOUND: no store there and no places that could make one. */
enum err_code server_new(struct server **ret, const struct server_settings *settings, struct err *err) WARN_UNUSED;

/* Starts the child (if any) and the HTTP threads. */
enum err_code server_start(struct server *self, struct err *err) WARN_UNUSED;

/* "http://127.0.0.1:18080/", static in self; with the real port after server_new. The second: the one that leads to it; NULL: none. */
const char *server_address(const struct server *self);
const char *server_plain_address(const struct server *self);

/* Files that may have changed are looked at: certificate, users, audit log. What changed or went wrong is logged. Called every few seconds by http_door.c, by one thread. */
void server_refresh(struct server *self);
/* Files that are written on are opened anew with the next server_refresh. */
void server_reopen(struct server *self);

/* Stops accepting, lets running answers finish for some seconds, ends the child gracefully, frees. NULL is fine. */
void server_free(struct server *self);

/* For dispatch.c. */
struct db_pool *server_pool(struct server *self);                 /* borrowed */
struct access *server_access(struct server *self);                /* borrowed */
struct login *server_login(struct server *self);                  /* borrowed; NULL: nobody is asked for a password */
struct audit *server_audit(struct server *self);                  /* borrowed; NULL: none */
bool server_exact(const struct server *self, enum server_exact what);
const char *server_assets_dir(const struct server *self);        /* NULL: pages come from the binary */

/* For handlers. */
const struct log_address_settings *server_log_addresses(const struct server *self);     /* static in self */
struct app_table *server_apps(struct server *self);               /* borrowed */
struct answer_cache *server_answers(struct server *self);         /* borrowed */
const char *server_store(const struct server *self);             /* static in self */
const char *server_build(const struct server *self);             /* names this very program file and what of the settings answers show; part of ETags; static in self */
void server_ingest_status(struct server *self, struct ingest_status *ret);
struct worker_counts *server_counts(struct server *self);         /* borrowed; NULL: there is no child */
struct route_times *server_route_times(struct server *self);      /* borrowed */
struct store_usage_watch *server_store_usage(struct server *self);       /* borrowed */
const struct settings *server_settings_given(const struct server *self); /* borrowed */
int64_t server_started_ms(const struct server *self);             /* epoch */
unsigned server_threads(const struct server *self);               /* that answer */
bool server_may_scrape(const struct server *self, const unsigned char sender[16]);       /* /metrics, without a login */

struct uploads *server_uploads(struct server *self);              /* borrowed; NULL: off */

/* Somebody looks at the run of this log, which is not loaded: tells the child to load it next. Cheap, may be repeated, never blocks. */
void server_want(struct server *self, int64_t log_id);
/* Tells the child to look for logs of that name (on_demand.h); false: there is no child. */
bool server_finds(const struct server *self);
void server_find(struct server *self, struct str app_id);
/* The file of that log's run cannot be read; 0: the catalogue. Tells the child, which sets it aside and makes it anew. Likewise. */
void server_damaged(struct server *self, int64_t log_id);
/* Somebody looks at the run of this log, which is loaded: tells the child, at most once a minute. Likewise. */
void server_opened(struct server *self, int64_t log_id);
/* What an administrator asked for. False: the child could not be told. */
bool server_reload(struct server *self, int64_t log_id) WARN_UNUSED;
bool server_forget(struct server *self, int64_t log_id) WARN_UNUSED;
/* A view that somebody pinned, as supervise_pin; likewise. And how many views there may be. */
bool server_pin(struct server *self, struct str words) WARN_UNUSED;
int64_t server_most_pins(const struct server *self);
/* A log that is added has come, grown or gone: tells the child to look at the place of uploads. Likewise. */
void server_scan_uploads(struct server *self);

#endif
