/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "server/answer_cache.h"
#include "server/audit.h"
#include "server/dispatch.h"
#include "server/http_listen.h"
#include "server/http_parts.h"
#include "server/route_times.h"
#include "server/tls.h"
#include "server/uploads.h"

#define MAX_CONNECTIONS_PER_CLIENT 512u      /* a reverse proxy is one client, so not much less than all */
#define CONNECTION_BYTES ((size_t)32 << 10)  /* head of a request and of an answer: bounds the number and length of headers (longer: 431 by the library) */
#define BODY_BYTES ((int64_t)64 << 10)       /* of a request, as much as is dropped */
#define IDLE_SECONDS 30u                     /* without a byte in either direction */
#define REFUSED_BYTES ((int64_t)64 << 20)    /* of a log that is refused, as much is dropped: a browser that is cut off while it sends shows no answer */
#define WAIT_SECONDS 60                      /* for a run to be loaded (EXACT_WAIT) */
#define STOP_SECONDS 5                       /* for running answers when the server stops */
#define REQUEST_ARENA_BYTES ((size_t)64 << 20)       /* what one handler may remember: a page of 1000 rows needs some hundred kB */
#define PLAIN_THREADS 2u                     /* that answer where https is */
#define FIRST_BYTES_SECONDS 10               /* a connection for https that says nothing so long is taken without */
#define TLS_FIRST_BYTE 0x16                  /* of a handshake (RFC 8446, 5.1); no request of HTTP begins with it */
#define DESCRIPTORS 8192                     /* connections, databases with their -wal and -shm, temporary files */

/* ---- connections ---- */

/* NULL: there was no memory for it. */
static struct connection *state_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Somebody speaks HTTP where a handshake is waited for, which would only break off. What they sent is there already (TCP_DEFER_ACCEPT). */
static void answer_in_clear(int fd)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain;charset=utf-8\r\nConnection: close\r\n\r\n"
                                 "This address is answered by https only: write https:// instead of http://.\n";
    char dropped[4096];
    unsigned char first;
    if (recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1 || first == TLS_FIRST_BYTE)
        return;
    while (recv(fd, dropped, sizeof dropped, MSG_DONTWAIT) == (ssize_t)sizeof dropped) /* else the system takes the answer back, too */
        continue;
    ssize_t sent = send(fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent;
    shutdown(fd, SHUT_RDWR);
}

static void exchange_end(struct http *self, struct exchange *exchange);

static void on_connection(void *cls, struct MHD_Connection *connection, void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct http *self = cls;
    struct connection *c = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info && http_is_secure(connection))
            answer_in_clear(info->connect_fd);
        if (info)
            *socket_context = connections_add(&self->connections, info->connect_fd);
    } else if (c) {
        struct exchange *left = c->exchange; /* the library tells of no end where its own memory was too small for the request */
        connections_remove(&self->connections, c); /* it closes the descriptor after this call */
        exchange_end(self, left);
        *socket_context = NULL;
    }
}

/* ---- one request ---- */

static void exchange_free(struct exchange *self)
{
    if (!self)
        return;
    response_free(self->response);
    arena_dispose(&self->arena);
    mem_free(self);
}

/* With all that it holds. NULL is fine. */
static void exchange_end(struct http *self, struct exchange *exchange)
{
    if (!exchange)
        return;
    if (exchange->upload && upload_abort(TAKE(exchange->upload)))
        server_scan_uploads(self->server);
    exchange_free(exchange);
    atomic_fetch_sub(&self->running, 1);
}

/* The library keeps each parameter in the connection's memory, and where that is full it neither answers nor ends the request (0.9.75). We read them ourselves: it finds none. The text is const for us alone,
 * it cuts it up itself right after. */
static void hide_parameters(const char *address)
{
    char *mark = strchr((char *)(uintptr_t)address, '?');
    if (mark)
        mark[1] = '\0';
}

/* First sight of a request: the address, before the library cuts it up. */
static void *on_address(void *cls, const char *address, struct MHD_Connection *connection)
{
    struct http *self = cls;
    struct connection *c = state_of(connection);
    struct exchange *exchange = c ? mem_zalloc(sizeof *exchange) : NULL;
    if (!exchange)
        return NULL;
    atomic_fetch_add(&self->running, 1);
    arena_init(&exchange->arena, REQUEST_ARENA_BYTES);
    exchange->begin_ns = time_monotonic_ns();
    exchange->request.arena = &exchange->arena;
    struct str text = str_of(address);
    exchange->too_long = text.len > REQUEST_MAX_URL;
    text.len = MIN(text.len, (size_t)REQUEST_MAX_URL);
    if (arena_str(&exchange->arena, text, &exchange->address)) {
        atomic_fetch_sub(&self->running, 1);
        exchange_free(exchange);
        return NULL;
    }
    hide_parameters(address);
    return c->exchange = exchange;
}

/* For those who read logs. */
static void record_answer(struct http *self, const struct exchange *exchange, bool whole, bool opened)
{
    char peer[ACCESS_ADDRESS_BYTES], via[ACCESS_ADDRESS_BYTES], ms[32];
    bool through_proxy = memcmp(exchange->peer, exchange->client, sizeof exchange->peer) != 0;
    const struct request *request = &exchange->request;
    const struct audit_record record = {.request = request, .id = exchange->id, .status = exchange->status, .peer = str_of(access_address_text(exchange->client, peer)),
                                        .via = through_proxy ? str_of(access_address_text(exchange->peer, via)) : STR_NONE,
                                        .claimed = exchange->login.verdict == LOGIN_RIGHT ? STR_NONE : exchange->words.user};
    snprintf(ms, sizeof ms, "%.2f", (double)(time_monotonic_ns() - exchange->begin_ns) / NS_PER_MS);
    const struct log_field fields[] = {{"method", str_of(exchange->method), UNKNOWN}, {"path", exchange->address, UNKNOWN}, {"status", STR_NONE, exchange->status}, {"bytes", STR_NONE, exchange->bytes},
                                       {"ms", str_of(ms), UNKNOWN}, {"whole", str_of(whole ? "yes" : "no"), UNKNOWN}, {"peer", record.peer, UNKNOWN}, {"via", record.via, UNKNOWN},
                                       {"user", request->viewer.user, UNKNOWN}};
    log_set_request(exchange->id);
    log_fields(LOG_DEBUG, "http", fields, ARRAY_LENGTH(fields));
    log_set_request(NULL);
    if (opened)
        audit_write(server_audit(self->server), &record);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code)
{
    struct http *self = cls;
    struct exchange *exchange = *context;
    connections_phase(&self->connections, state_of(connection), PHASE_READING);
    if (!exchange)
        return;
    struct connection *c = state_of(connection);
    if (c)
        c->exchange = NULL;
    *context = NULL;
    if (exchange->answered)
        record_answer(self, exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK, !http_only_leads(self, connection));
    exchange_end(self, exchange);
}

/* A body means nothing here, but some clients send one with every request: a small one is read and dropped, as there. */
static bool body_too_long(struct MHD_Connection *connection)
{
    struct str length = http_header(connection, "Content-Length");
    int64_t bytes;
    return length.len && (!str_to_i64(length, &bytes) || bytes > BODY_BYTES);
}

static bool method_known(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

/* Whether what is sent may be an action: what of the address is read here only spares the rest of a POST, dispatch knows the routes. */
static bool may_act(const struct exchange *exchange, const char *method)
{
    const char *query = memchr(exchange->address.ptr, '?', exchange->address.len);
    struct str path = {exchange->address.ptr, query ? (size_t)(query - exchange->address.ptr) : exchange->address.len};
    return strcmp(method, "POST") == 0 && (str_ends(path, "/reload") || str_ends(path, "/forget") || str_ends(path, "/pin"));
}

/* Fills the exchange's response, whatever happens; false: not even that was possible. */
static bool make_answer(struct http *self, struct MHD_Connection *connection, const char *method, struct exchange *exchange)
{
    struct str prefix;
    struct err err = {0};
    if (!http_read_head(self, connection, exchange, &prefix))
        return false;
    struct request *request = &exchange->request;
    struct response *response = exchange->response;
    if (http_only_leads(self, connection)) {
        http_lead_to_https(self, exchange);
    } else if (exchange->too_long) {
        dispatch_refuse(request->path, response, 414, "address_too_long", "the address is longer than 8192 bytes");
    } else if (!method_known(method) && !may_act(exchange, method)) {
        dispatch_refuse(request->path, response, 405, "method_not_allowed", "only " HTTP_METHODS " are answered");
        response_header(response, "Allow", STR_LIT(HTTP_METHODS));
    } else if (body_too_long(connection)) {
        dispatch_refuse(request->path, response, 413, "body_too_long", "the body of the request is longer than 64 KiB, and means nothing here");
    } else if (http_parse_head(self, connection, exchange, prefix)) {
        enum err_code rc = dispatch(self->server, request, response, &err);
        if (rc)
            http_fail(exchange, rc, &err);
    }
    return true;
}

/* ---- a log that is sent to us ---- */

static int64_t announced_bytes(struct MHD_Connection *connection)
{
    int64_t bytes;
    return str_to_i64(http_header(connection, "Content-Length"), &bytes) && bytes >= 0 ? bytes : UNKNOWN;
}

/* The head of a POST is there. True: it is such a log, which is taken (exchange->upload) or refused. */
static bool begin_upload(struct http *self, struct MHD_Connection *connection, struct exchange *exchange)
{
    struct str prefix;
    struct request *request = &exchange->request;
    if (http_only_leads(self, connection) || exchange->too_long || !memmem(exchange->address.ptr, exchange->address.len, UPLOADS_ADDRESS, strlen(UPLOADS_ADDRESS)) ||
        !http_read_head(self, connection, exchange, &prefix))
        return false;
    exchange->receives = true;
    if (!http_parse_head(self, connection, exchange, prefix))
        return true;
    if (!(exchange->receives = str_is(request->raw_path, UPLOADS_ADDRESS)))
        return false;
    request->route = ROUTE_UPLOAD;
    struct upload_head head = {.marker = http_header(connection, "X-Afterglow-Upload"), .bytes = announced_bytes(connection)};
    memcpy(head.peer, exchange->peer, sizeof head.peer);
    if (upload_begin(server_uploads(self->server), request, &head, &exchange->upload, exchange->response))
        connections_phase(&self->connections, state_of(connection), PHASE_RECEIVING);
    return true;
}

/* One piece. False: the connection is cut. */
static bool receive(struct http *self, struct exchange *exchange, const char *bytes, size_t len)
{
    if (exchange->upload) {
        bool goes_on = upload_write(exchange->upload, bytes, len);
        if (upload_has_news(exchange->upload))
            server_scan_uploads(self->server);
        return goes_on;
    }
    exchange->body_bytes += (int64_t)len;
    return exchange->body_bytes <= REFUSED_BYTES;
}

static void end_upload(struct http *self, struct exchange *exchange)
{
    bool changed = false;
    if (exchange->upload)
        upload_finish(TAKE(exchange->upload), exchange->response, &changed);
    if (changed)
        server_scan_uploads(self->server);
}

static bool finish_answer(struct http *self, struct exchange *exchange, struct response_parts *parts)
{
    struct err err = {0};
    enum err_code rc = response_finish(exchange->response, exchange->request.if_none_match, parts, &err);
    if (rc == ERR_OK) {
        answer_cache_keep(server_answers(self->server), &exchange->request, parts);
        return true;
    }
    http_fail(exchange, rc, &err);
    return response_finish(exchange->response, STR_NONE, parts, &err) == ERR_OK;
}

/* Whether the exchange waits for another answer than the one it has. No thread waits with it: the connection is laid aside until the door's next round. */
static bool wait_for_another(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, const struct response_parts *parts)
{
    if (!parts->later || !server_exact(self->server, EXACT_WAIT) || time_monotonic_ns() - exchange->begin_ns >= WAIT_SECONDS * SECOND_NS)
        return false;
    connections_phase(&self->connections, state_of(connection), PHASE_ANSWERING);
    return http_wait(self, connection, exchange);
}

static enum MHD_Result go_on(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, const char *method, const char *upload_data, size_t *upload_data_size)
{
    if (exchange->answered) {        /* rest of a refused body */
        *upload_data_size = 0;
        return MHD_YES;
    }
    /* Called first when the head is there, then with each piece of the body, then without one. An answer before the last call closes the connection: right for a body that will
     * not be read, only for that. */
    if (!exchange->method && !(exchange->method = arena_strndup(&exchange->arena, method, MIN(strlen(method), (size_t)32))))
        return MHD_NO;
    if (!exchange->seen && strcmp(method, "POST") == 0 && begin_upload(self, connection, exchange)) {
        exchange->seen = true;
        if (exchange->upload || known_or(announced_bytes(connection), 0) <= REFUSED_BYTES)
            return MHD_YES;
    } else if (exchange->receives && *upload_data_size) {
        bool goes_on = receive(self, exchange, upload_data, *upload_data_size);
        connections_received(&self->connections, state_of(connection), *upload_data_size);
        *upload_data_size = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    bool refused = !exchange->receives && (exchange->too_long || (!method_known(method) && !may_act(exchange, method)) || body_too_long(connection));
    if (!exchange->seen && !refused) {
        exchange->seen = true;
        return MHD_YES;
    }
    if (*upload_data_size && !refused) {
        exchange->body_bytes += (int64_t)*upload_data_size;
        *upload_data_size = 0;
        return exchange->body_bytes > BODY_BYTES ? MHD_NO : MHD_YES; /* in chunks: there is no answer in the middle of a body */
    }
    struct response_parts parts;
    if (exchange->receives)
        end_upload(self, exchange);
    else if (!make_answer(self, connection, method, exchange))
        return MHD_NO;
    if (!finish_answer(self, exchange, &parts))
        return MHD_NO;
    if (wait_for_another(self, connection, exchange, &parts))
        return MHD_YES;
    exchange->answered = true;
    exchange->status = parts.status;
    exchange->bytes = parts.kind == RESPONSE_FILE ? parts.file_bytes : parts.kind == RESPONSE_MEMORY ? (int64_t)parts.memory.len : -1;
    route_times_add(server_route_times(self->server), exchange->request.route, parts.status, (time_monotonic_ns() - exchange->begin_ns) / 1000, exchange->bytes);
    connections_phase(&self->connections, state_of(connection), parts.kind == RESPONSE_STREAM ? PHASE_STREAMING : PHASE_ANSWERING);
    return http_send(self, connection, exchange, &parts);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url UNUSED, const char *method, const char *version UNUSED, const char *upload_data,
                                  size_t *upload_data_size, void **context)
{
    struct http *self = cls;
    struct exchange *exchange = *context;
    if (!exchange)
        return MHD_NO;               /* there was no memory to begin with */
    if (!exchange->met) {
        exchange->met = true;
        if (!http_meet(self, connection, exchange))
            return MHD_YES;
    }
    log_set_request(exchange->id);
    enum MHD_Result result = go_on(self, connection, exchange, method, upload_data, upload_data_size);
    log_set_request(NULL);
    return result;
}

/* ---- life ---- */

static void library_log(void *cls, const char *fmt, va_list args)
{
    (void)cls;
    char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(text, sizeof text, fmt, args);
#pragma GCC diagnostic pop
    log_debug("http library: %s", text);
}

static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS) {
        limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)DESCRIPTORS);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* What both daemons have. */
#define DAEMON_OPTIONS(self, threads) \
    MHD_OPTION_EXTERNAL_LOGGER, library_log, NULL, MHD_OPTION_THREAD_POOL_SIZE, (threads), MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, \
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, MAX_CONNECTIONS_PER_CLIENT, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, \
        MHD_OPTION_URI_LOG_CALLBACK, on_address, (self), MHD_OPTION_NOTIFY_COMPLETED, on_completed, (self), MHD_OPTION_NOTIFY_CONNECTION, on_connection, (self)

static struct MHD_Daemon *start_daemon(struct http *self, unsigned threads, bool tls)
{
    bool suspends = server_exact(self->server, EXACT_WAIT) || server_login(self->server);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET | (suspends ? MHD_ALLOW_SUSPEND_RESUME : 0u) | (tls ? MHD_USE_TLS : 0u);
    return tls ? MHD_start_daemon(flags, 0, NULL, NULL, on_request, self, DAEMON_OPTIONS(self, threads), MHD_OPTION_HTTPS_CERT_CALLBACK, tls_retrieve, MHD_OPTION_HTTPS_PRIORITIES, TLS_PRIORITIES,
                                  MHD_OPTION_END)
               : MHD_start_daemon(flags, 0, NULL, NULL, on_request, self, DAEMON_OPTIONS(self, threads), MHD_OPTION_END);
}

enum err_code http_start(struct http **ret, const struct http_settings *settings, struct server *server, struct err *err)
{
    struct http *self = *ret = mem_zalloc(sizeof *self);
    if (!self) {
        close(settings->listen_fd);
        if (settings->plain_fd >= 0)
            close(settings->plain_fd);
        return err_nomem(err);
    }
    self->server = server;
    self->wake_fd = -1;
    self->listen_fd = settings->listen_fd;
    self->plain_fd = settings->plain_fd;
    self->https_port = (int)http_port(self->listen_fd);
    self->temp_dir = settings->temp_dir;
    self->proxy_base = settings->proxy_base;
    http_policies_init(&self->policies, settings->framing_from, settings->transport_security);
    connections_init(&self->connections);
    pthread_mutex_init(&self->lock, NULL);
    raise_descriptors();
    int wait_seconds = FIRST_BYTES_SECONDS;
    if (settings->tls)
        setsockopt(self->listen_fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &wait_seconds, sizeof wait_seconds);
    if (self->plain_fd >= 0)
        self->plain = start_daemon(self, PLAIN_THREADS, false);
    if (self->plain || self->plain_fd < 0)
        self->daemon = start_daemon(self, settings->threads, settings->tls);
    if (!self->daemon || !http_door_open(self)) {
        http_stop(TAKE(*ret));
        return err_set(err, ERR_IO, "the HTTP threads cannot be started");
    }
    return ERR_OK;
}

void http_stop(struct http *self)
{
    if (!self)
        return;
    http_door_shut(self);
    if (server_login(self->server))
        login_stop(server_login(self->server));
    for (int tenths = 0; tenths < STOP_SECONDS * 10 && atomic_load(&self->running) > 0; tenths++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    http_door_close(self);
    if (self->plain)
        MHD_stop_daemon(self->plain);
    if (self->daemon)
        MHD_stop_daemon(self->daemon);
    close(self->listen_fd);
    if (self->plain_fd >= 0)
        close(self->plain_fd);
    connections_dispose(&self->connections);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}
