/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/answer_cache.h"
#include "server/audit.h"
#include "server/dispatch.h"
#include "server/http_text.h"
#include "server/login.h"
#include "server/negotiate.h"
#include "server/proxy.h"
#include "server/request_id.h"
#include "server/response_body.h"
#include "server/route_times.h"
#include "server/server.h"
#include "server/tls.h"
#include "server/uploads.h"

#define MAX_CONNECTIONS 1024u                /* over all threads; each costs CONNECTION_BYTES while it is open */
#define MAX_CONNECTIONS_PER_CLIENT 512u      /* a reverse proxy is one client, so not much less than all */
#define CONNECTION_BYTES ((size_t)32 << 10)  /* head of a request and of an answer: bounds the number and length of headers (longer: 431 by the library) */
#define BODY_BYTES ((int64_t)64 << 10)       /* of a request, as much as is dropped */
#define IDLE_SECONDS 30u                     /* without a byte in either direction */
#define HEAD_SECONDS 60                      /* from the connection, or the end of the last answer, to a complete head: a byte a second is no way to hold a connection */
#define ANSWER_SECONDS 3600                  /* for an answer of known length, and for a log that is sent to us; streams (zips of any size) end by idling only */
#define WINDOW_SECONDS 30                    /* in each such time of a log that is sent to us comes so much of it, or it holds its place for nothing and is cut off */
#define WINDOW_BYTES ((int64_t)30 << 10)
#define REFUSED_BYTES ((int64_t)64 << 20)    /* of a log that is refused, as much is dropped: a browser that is cut off while it sends shows no answer */
#define WAIT_SECONDS 60                      /* for a run to be loaded (EXACT_WAIT) */
#define STOP_SECONDS 5                       /* for running answers when the server stops */
#define REQUEST_ARENA_BYTES ((size_t)64 << 20)       /* what one handler may remember: a page of 1000 rows needs some hundred kB */
#define SECOND_NS ((int64_t)1000 * NS_PER_MS)
#define ROUND_MS 1000                        /* of the door's watch */
#define FULL_MS 50                           /* while there is no room, how often it is looked for */
#define REFRESH_SECONDS 2                    /* between two looks at files that may have changed */
#define PLAIN_THREADS 2u                     /* that answer where https is */
#define FIRST_BYTES_SECONDS 10               /* a connection for https that says nothing so long is taken without */
#define TLS_FIRST_BYTE 0x16                  /* of a handshake (RFC 8446, 5.1); no request of HTTP begins with it */
#define BACKLOG 511
#define DESCRIPTORS 8192                     /* connections, databases with their -wal and -shm, temporary files */

#define PAGE_POLICY "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
#define DATA_POLICY "default-src 'none'; frame-ancestors 'self'"
#define FRAMING_BYTES 256

enum phase { PHASE_READING, PHASE_RECEIVING, PHASE_ANSWERING, PHASE_STREAMING };

/* One open connection. In a list, for the watch over total times. */
struct connection {
    struct connection *next, *previous;
    int fd;
    enum phase phase;
    int64_t since_ns;                        /* of the phase */
    int64_t window_ns, window_bytes;         /* of a log that comes: since when, and what came since then */
    struct exchange *exchange;               /* of the thread that serves the connection, without the lock */
};

struct http {
    struct server *server;
    struct MHD_Daemon *daemon, *plain;       /* plain NULL: there is none */
    int listen_fd, plain_fd;
    int wake_fd;                             /* eventfd: the door is to look at what changed */
    int https_port;                          /* where `plain` leads to */
    const char *temp_dir, *proxy_base, *transport_security;
    char frame_options[FRAMING_BYTES + 16], page_policy[FRAMING_BYTES + sizeof PAGE_POLICY], data_policy[FRAMING_BYTES + sizeof DATA_POLICY];
    atomic_int running;                      /* answers being made or sent */
    pthread_t door;                          /* the thread that lets in, and watches over total times */
    bool has_door;
    pthread_mutex_t lock;                    /* all below */
    bool stopping;                           /* nobody is let in any more */
    bool closed;                             /* the door's thread ends */
    struct connection *connections;
    size_t connection_count;
    struct exchange *waiting;                /* suspended; the door lets them try again */
};

/* One request, from its first line to the end of its answer. */
struct exchange {
    struct http *http;
    struct arena arena;
    struct request request;
    struct response *response;
    struct str address;                      /* as in the request line */
    bool too_long, met, seen, answered;
    bool receives;                           /* a log is sent to us: uploads.h */
    struct upload *upload;                   /* owned, until its end or that of the connection; NULL: it was refused, and the answer is made */
    int64_t begin_ns, body_bytes;            /* body_bytes: of the request, so far */
    int status;
    int64_t bytes;
    const char *method;                      /* arena */
    unsigned char peer[16], client[16];      /* who has the connection, and for whom: access_client */
    char id[REQUEST_ID_BYTES];               /* request_id.h */
    struct login_words words;                /* arena; STR_NONE: none came, or nobody asks for them */
    struct login_waiter login;               /* what became of them */
    struct MHD_Connection *suspended;
    struct exchange *next_waiting;
};

/* ---- listening ---- */

static enum err_code bind_one(const struct addrinfo *at, int *ret_fd)
{
    int one = 1, zero = 0;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ERR_IO;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);       /* ":port" means both families */
    if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, BACKLOG)) {
        int kept = errno;
        close(fd);
        errno = kept;
        return ERR_IO;
    }
    *ret_fd = fd;
    return ERR_OK;
}

static unsigned port_of(int fd)
{
    struct sockaddr_storage real;
    socklen_t len = sizeof real;
    unsigned port = 0;
    if (getsockname(fd, (struct sockaddr *)&real, &len) == 0) {
        struct sockaddr_in6 six;
        struct sockaddr_in four;
        memcpy(&six, &real, sizeof six);
        memcpy(&four, &real, sizeof four);
        port = ntohs(real.ss_family == AF_INET6 ? six.sin6_port : four.sin_port);
    }
    return port;
}

enum err_code http_listen(const char *host, int port, int *ret_fd, char *ret_address, struct err *err)
{
    *ret_fd = -1;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    int code = getaddrinfo(host[0] ? host : NULL, service, &hints, &found);
    if (code)
        return err_set(err, ERR_INVALID, "cannot listen on %s: %s", host, gai_strerror(code));
    errno = 0;
    int first_errno = 0;
    /* Without a host both families are there; the IPv6 one serves both, IPv4 alone where the machine has no IPv6. */
    for (int family = host[0] ? AF_UNSPEC : AF_INET6; *ret_fd < 0; family = AF_INET) {
        for (struct addrinfo *at = found; at && *ret_fd < 0; at = at->ai_next)
            if ((family == AF_UNSPEC || at->ai_family == family) && bind_one(at, ret_fd) && !first_errno)
                first_errno = errno;
        if (family != AF_INET6)
            break;
    }
    freeaddrinfo(found);
    if (*ret_fd < 0 && first_errno == EADDRINUSE)
        return err_set(err, ERR_BUSY, "cannot listen on %s port %d: another program has it; choose another with --listen, or stop that program",
                       host[0] ? host : "all addresses", port);
    if (*ret_fd < 0)
        return err_set_errno(err, first_errno, "cannot listen on %s port %d", host[0] ? host : "all addresses", port);
    snprintf(ret_address, HTTP_ADDRESS_BYTES, strchr(host, ':') ? "[%.64s]:%u" : "%.64s:%u", host[0] ? host : "localhost", port_of(*ret_fd));
    return ERR_OK;
}

/* ---- connections and their total times ---- */

/* NULL: there was no memory for it. */
static struct connection *state_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void set_phase(struct http *self, struct MHD_Connection *connection, enum phase phase)
{
    struct connection *c = state_of(connection);
    if (!c)
        return;
    pthread_mutex_lock(&self->lock);
    c->phase = phase;
    c->since_ns = c->window_ns = time_monotonic_ns();
    c->window_bytes = 0;
    pthread_mutex_unlock(&self->lock);
}

static void count_received(struct http *self, struct MHD_Connection *connection, size_t bytes)
{
    struct connection *c = state_of(connection);
    if (!c)
        return;
    pthread_mutex_lock(&self->lock);
    c->window_bytes += (int64_t)bytes;
    pthread_mutex_unlock(&self->lock);
}

static bool is_secure(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session;
}

/* By the plain port, which only says where https is. */
static bool only_leads(const struct http *self, struct MHD_Connection *connection)
{
    return self->plain && !is_secure(connection);
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
        if (info && is_secure(connection))
            answer_in_clear(info->connect_fd);
        if (!info || !(c = mem_zalloc(sizeof *c)))
            return;
        c->fd = info->connect_fd;
        c->since_ns = time_monotonic_ns();
        *socket_context = c;
        pthread_mutex_lock(&self->lock);
        c->next = self->connections;
        if (c->next)
            c->next->previous = c;
        self->connections = c;
        self->connection_count++;
        pthread_mutex_unlock(&self->lock);
    } else if (c) {
        /* The library closes the descriptor after this call, so the door never touches a foreign one. */
        pthread_mutex_lock(&self->lock);
        *(c->previous ? &c->previous->next : &self->connections) = c->next;
        if (c->next)
            c->next->previous = c->previous;
        self->connection_count--;
        pthread_mutex_unlock(&self->lock);
        exchange_end(self, c->exchange); /* the library tells of no end where its own memory was too small for the request */
        mem_free(c);
        *socket_context = NULL;
    }
}

/* Under the lock. */
static void resume_waiting(struct http *self)
{
    while (self->waiting) {
        struct exchange *exchange = self->waiting;
        self->waiting = exchange->next_waiting;
        MHD_resume_connection(exchange->suspended);
    }
}

/* Under the lock. */
static void cut_overdue(struct http *self)
{
    int64_t now = time_monotonic_ns();
    for (struct connection *c = self->connections; c; c = c->next) {
        int64_t seconds = (now - c->since_ns) / SECOND_NS;
        bool slow = false;
        if (c->phase == PHASE_RECEIVING && now - c->window_ns >= WINDOW_SECONDS * SECOND_NS) {
            slow = c->window_bytes < WINDOW_BYTES;
            c->window_ns = now;
            c->window_bytes = 0;
        }
        if (slow || (c->phase == PHASE_READING && seconds >= HEAD_SECONDS) || ((c->phase == PHASE_ANSWERING || c->phase == PHASE_RECEIVING) && seconds >= ANSWER_SECONDS))
            shutdown(c->fd, SHUT_RDWR);
    }
}

/* Everybody who stands there. The library deals connections out to its threads by their descriptors, which follow each other: its own threads, who accept what they see, may leave nearly all of a burst
 * to one of them, and then its clients wait for each other while other processors have nothing to do. */
static void let_in(struct MHD_Daemon *daemon, int listen_fd)
{
    for (int i = 0; i < BACKLOG; i++) {
        struct sockaddr_storage peer;
        socklen_t len = sizeof peer;
        int fd = accept4(listen_fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            nanosleep(&(struct timespec){.tv_nsec = FULL_MS * NS_PER_MS}, NULL);
        if (fd < 0 || MHD_add_connection(daemon, fd, (struct sockaddr *)&peer, len) != MHD_YES) /* closes it when it says no */
            return;
    }
}

static void *keep_door(void *context)
{
    struct http *self = context;
    int64_t last_round_ns = 0;
    for (unsigned round = 0;;) {
        pthread_mutex_lock(&self->lock);
        bool closed = self->closed, open = !self->stopping && self->connection_count < MAX_CONNECTIONS, full = !open && !self->stopping, refreshes = false;
        if (time_monotonic_ns() - last_round_ns >= SECOND_NS) {
            last_round_ns = time_monotonic_ns();
            cut_overdue(self);
            resume_waiting(self);
            refreshes = ++round % REFRESH_SECONDS == 0;
        }
        pthread_mutex_unlock(&self->lock);
        if (closed)
            return NULL;
        if (refreshes)
            server_refresh(self->server);
        eventfd_t told;
        struct pollfd fds[] = {{.fd = self->wake_fd, .events = POLLIN}, {.fd = open ? self->listen_fd : -1, .events = POLLIN}, {.fd = open ? self->plain_fd : -1, .events = POLLIN}};
        if (poll(fds, ARRAY_LENGTH(fds), full ? FULL_MS : ROUND_MS) <= 0)
            continue;
        if (fds[0].revents)
            eventfd_read(self->wake_fd, &told);
        if (fds[1].revents)
            let_in(self->daemon, self->listen_fd);
        if (fds[2].revents)
            let_in(self->plain, self->plain_fd);
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
    set_phase(self, connection, PHASE_READING);
    if (!exchange)
        return;
    struct connection *c = state_of(connection);
    if (c)
        c->exchange = NULL;
    *context = NULL;
    if (exchange->answered)
        record_answer(self, exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK, !only_leads(self, connection));
    exchange_end(self, exchange);
}

static struct str header(struct MHD_Connection *connection, const char *name)
{
    return str_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

/* A body means nothing here, but some clients send one with every request: a small one is read and dropped, as there. */
static bool body_too_long(struct MHD_Connection *connection)
{
    struct str length = header(connection, "Content-Length");
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

/* The store, the disk or memory failed. */
static void make_failure(struct exchange *exchange, enum err_code code, const struct err *err)
{
    bool later = code == ERR_BUSY || code == ERR_AWAY || code == ERR_NOMEM;
    log_warning("cannot answer %.*s: %s", (int)MIN(exchange->address.len, 300), exchange->address.ptr, err->message);
    const char *kind = later ? "busy" : code == ERR_CORRUPT ? "damaged" : "internal";
    const char *after = code == ERR_CORRUPT ? "; what the store holds of it is damaged, and is made anew from the log where that is still there" : "";
    const char *text = arena_printf(&exchange->arena, "%s%s (request %s)", err->message, after, exchange->id);
    dispatch_refuse(exchange->request.path, exchange->response, later ? 503 : 500, kind, text ? text : err->message);
    if (later)
        response_header(exchange->response, "Retry-After", RESPONSE_RETRY_AFTER);
}

static void peer_address(struct MHD_Connection *connection, unsigned char out[16])
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    memset(out, 0, 16);
    if (!info || !info->client_addr)
        return;
    if (info->client_addr->sa_family == AF_INET6) {
        memcpy(&six, info->client_addr, sizeof six);
        memcpy(out, &six.sin6_addr, 16);
    } else if (info->client_addr->sa_family == AF_INET) {
        memcpy(&four, info->client_addr, sizeof four);
        out[10] = out[11] = 0xFF;
        memcpy(out + 12, &four.sin_addr, 4);
    }
}

struct occurrences {
    const char *name;
    int count;
};

static enum MHD_Result count_header(void *cls, enum MHD_ValueKind kind UNUSED, const char *name, const char *value UNUSED)
{
    struct occurrences *self = cls;
    self->count += strcasecmp(name, self->name) == 0;
    return MHD_YES;
}

/* What a proxy says of the user. Twice: one of them may be the client's own, and as HTTP joins them it is a list, which is neither a name nor a group. */
static struct str sole_header(struct MHD_Connection *connection, const char *name)
{
    struct occurrences found = {.name = name};
    if (!name)
        return STR_NONE;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &found);
    return found.count > 1 ? STR_LIT(",") : header(connection, name);
}

/* ---- who sends it ---- */

/* From the thread that checks passwords. The lock: not before the connection was laid aside. */
static void on_login(void *context)
{
    struct exchange *exchange = context;
    pthread_mutex_lock(&exchange->http->lock);
    MHD_resume_connection(exchange->suspended);
    pthread_mutex_unlock(&exchange->http->lock);
}

/* The head is there: its sender, and whether the password, where one comes, is right. False: that is being looked at, and the library calls again. */
static bool meet(struct http *self, struct MHD_Connection *connection, struct exchange *exchange)
{
    struct access *access = server_access(self->server);
    struct login *login = server_login(self->server);
    exchange->http = self;
    peer_address(connection, exchange->peer);
    access_client(access, exchange->peer, sole_header(connection, "X-Forwarded-For"), exchange->client);
    bool believed = access_believes(access, exchange->peer);
    request_id(header(connection, "X-Request-Id"), believed, exchange->id);
    bool by_proxy = believed && access_header(access) && header(connection, access_header(access)).len;
    if (!login || by_proxy || !login_parse(header(connection, "Authorization"), &exchange->arena, &exchange->words)) {
        exchange->words = (struct login_words){STR_NONE, STR_NONE};
        exchange->login.verdict = LOGIN_WRONG;
        return true;
    }
    exchange->suspended = connection;
    exchange->login = (struct login_waiter){.done = on_login, .context = exchange};
    pthread_mutex_lock(&self->lock);
    bool waits = login_ask(login, &exchange->words, exchange->client, &exchange->login) == LOGIN_PENDING;
    if (waits)
        MHD_suspend_connection(connection);
    pthread_mutex_unlock(&self->lock);
    return !waits;
}

static enum err_code identify(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct err *err)
{
    struct access *access = server_access(self->server);
    struct request *request = &exchange->request;
    struct str login = exchange->login.verdict == LOGIN_RIGHT ? exchange->words.user : STR_NONE;
    return access_identify(access, exchange->peer, login, sole_header(connection, access_header(access)), sole_header(connection, access_groups_header(access)), request_param(request, "doAs"),
                           request->arena, &request->viewer, err);
}

/* A proxy that passes a request on mostly says so; where it does not say for whom, or is not believed, the sender is nobody we know, above all not this machine. */
static void note_sender(struct MHD_Connection *connection, struct exchange *exchange)
{
    static const char *const passed_on[] = {"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-Context", "X-Real-IP", "Forwarded", "Via"};
    unsigned char *sender = exchange->request.sender;
    memcpy(sender, exchange->client, sizeof exchange->client);
    for (size_t i = 0; i < ARRAY_LENGTH(passed_on) && memcmp(exchange->client, exchange->peer, sizeof exchange->peer) == 0; i++)
        if (str_known(header(connection, passed_on[i])))
            memset(sender, 0, sizeof exchange->request.sender);
}

/* What is said in the head, and an empty answer. *ret_prefix: of a proxy. */
static bool read_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str *ret_prefix)
{
    struct request *request = &exchange->request;
    request->method = str_of(exchange->method);
    request->if_none_match = header(connection, "If-None-Match");
    request->accept = header(connection, "Accept");
    request->accept_language = header(connection, "Accept-Language");
    request->cookies = header(connection, "Cookie");
    request->host = header(connection, "Host");
    request->origin = header(connection, "Origin");
    request->site = header(connection, "Sec-Fetch-Site");
    request->forwarded_host = header(connection, "X-Forwarded-Host");
    request->action = header(connection, "X-Afterglow-Action");
    request->secure = is_secure(connection);
    note_sender(connection, exchange);
    request->accepts_gzip = negotiate_gzip(header(connection, "Accept-Encoding"));
    request->address = request->path = request->raw_path = exchange->address;
    *ret_prefix = proxy_prefix(str_of(self->proxy_base), header(connection, "X-Forwarded-Context"), header(connection, "X-Forwarded-Prefix"));
    response_free(TAKE(exchange->response));                 /* of a try before */
    return response_new(&exchange->response, &exchange->arena, request->accepts_gzip, self->temp_dir, NULL) == ERR_OK;
}

/* False: the answer asks for a password, or to wait with the next one. */
static bool may_enter(struct http *self, struct exchange *exchange)
{
    struct request *request = &exchange->request;
    struct err err = {0};
    char seconds[16];
    if (!request->viewer.must_log_in || dispatch_is_open(self->server, request))
        return true;
    if (str_known(exchange->words.user) && exchange->login.verdict == LOGIN_LATER) {
        snprintf(seconds, sizeof seconds, "%d", exchange->login.wait_seconds);
        dispatch_refuse(request->raw_path, exchange->response, 429, "too_many_attempts", "passwords were wrong too often, or too many are being checked; try again later");
        response_header(exchange->response, "Retry-After", str_of(seconds));
        return false;
    }
    enum err_code rc = dispatch_ask_login(request, exchange->response, &err);
    if (rc)
        make_failure(exchange, rc, &err);
    return false;
}

/* The plain port leads to the other one, as the History Server's does. */
static void lead_to_https(struct http *self, struct exchange *exchange)
{
    struct str host = exchange->request.host;
    const char *port = host.len ? memrchr(host.ptr, ':', host.len) : NULL;
    if (port && !memchr(port, ']', (size_t)(host.ptr + host.len - port)))
        host.len = (size_t)(port - host.ptr);
    /* Of an address that does not begin with a slash "@elsewhere" would be the host. */
    bool sound = host.len > 0 && host.len < 256 && str_starts(exchange->address, "/");
    for (size_t i = 0; i < host.len && sound; i++)
        sound = strchr("[]:.-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", host.ptr[i]) != NULL;
    const char *to = sound ? arena_printf(&exchange->arena, "https://%.*s:%d%.*s", (int)host.len, host.ptr, self->https_port, (int)exchange->address.len, exchange->address.ptr) : NULL;
    response_plain(exchange->response, to ? 302 : 400, "%s", to ? "this is answered by https" : "the request has no Host, or no path, that could be led to https");
    if (to)
        response_header(exchange->response, "Location", str_of(to));
}

/* Who asks, and for what. False: the answer says why not. */
static bool parse_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str prefix)
{
    struct err err = {0};
    enum err_code rc = request_parse(&exchange->request, exchange->address, prefix, &err);
    if (!rc)
        rc = identify(self, connection, exchange, &err);
    if (rc == ERR_INVALID || rc == ERR_LIMIT)
        dispatch_refuse(exchange->address, exchange->response, 400, rc == ERR_LIMIT ? "too_many_parameters" : "bad_request", err.message);
    else if (rc)
        make_failure(exchange, rc, &err);
    return !rc && may_enter(self, exchange);
}

/* Fills the exchange's response, whatever happens; false: not even that was possible. */
static bool make_answer(struct http *self, struct MHD_Connection *connection, const char *method, struct exchange *exchange)
{
    struct str prefix;
    struct err err = {0};
    if (!read_head(self, connection, exchange, &prefix))
        return false;
    struct request *request = &exchange->request;
    struct response *response = exchange->response;
    if (only_leads(self, connection)) {
        lead_to_https(self, exchange);
    } else if (exchange->too_long) {
        dispatch_refuse(request->path, response, 414, "address_too_long", "the address is longer than 8192 bytes");
    } else if (!method_known(method) && !may_act(exchange, method)) {
        dispatch_refuse(request->path, response, 405, "method_not_allowed", "only " HTTP_METHODS " are answered");
        response_header(response, "Allow", STR_LIT(HTTP_METHODS));
    } else if (body_too_long(connection)) {
        dispatch_refuse(request->path, response, 413, "body_too_long", "the body of the request is longer than 64 KiB, and means nothing here");
    } else if (parse_head(self, connection, exchange, prefix)) {
        enum err_code rc = dispatch(self->server, request, response, &err);
        if (rc)
            make_failure(exchange, rc, &err);
    }
    return true;
}

/* ---- a log that is sent to us ---- */

static int64_t announced_bytes(struct MHD_Connection *connection)
{
    int64_t bytes;
    return str_to_i64(header(connection, "Content-Length"), &bytes) && bytes >= 0 ? bytes : UNKNOWN;
}

/* The head of a POST is there. True: it is such a log, which is taken (exchange->upload) or refused. */
static bool begin_upload(struct http *self, struct MHD_Connection *connection, struct exchange *exchange)
{
    struct str prefix;
    struct request *request = &exchange->request;
    if (only_leads(self, connection) || exchange->too_long || !memmem(exchange->address.ptr, exchange->address.len, UPLOADS_ADDRESS, strlen(UPLOADS_ADDRESS)) ||
        !read_head(self, connection, exchange, &prefix))
        return false;
    exchange->receives = true;
    if (!parse_head(self, connection, exchange, prefix))
        return true;
    if (!(exchange->receives = str_is(request->raw_path, UPLOADS_ADDRESS)))
        return false;
    request->route = ROUTE_UPLOAD;
    struct upload_head head = {.marker = header(connection, "X-Afterglow-Upload"), .bytes = announced_bytes(connection)};
    peer_address(connection, head.peer);
    if (upload_begin(server_uploads(self->server), request, &head, &exchange->upload, exchange->response))
        set_phase(self, connection, PHASE_RECEIVING);
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
    make_failure(exchange, rc, &err);
    return response_finish(exchange->response, STR_NONE, parts, &err) == ERR_OK;
}

/* Whether the exchange waits for another answer than the one it has. No thread waits with it: the connection is laid aside until the door's next round. */
static bool wait_for_another(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, const struct response_parts *parts)
{
    if (!parts->later || !server_exact(self->server, EXACT_WAIT) || time_monotonic_ns() - exchange->begin_ns >= WAIT_SECONDS * SECOND_NS)
        return false;
    set_phase(self, connection, PHASE_ANSWERING);
    pthread_mutex_lock(&self->lock);
    bool waits = !self->stopping;
    if (waits) {
        exchange->suspended = connection;
        exchange->next_waiting = self->waiting;
        self->waiting = exchange;
        MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&self->lock);
    return waits;
}

static ssize_t read_stream(void *cls, uint64_t position, char *out, size_t room)
{
    const struct response_parts *parts = cls;
    (void)position;
    int64_t n = parts->read(parts->context, out, room);
    return n > 0 ? (ssize_t)n : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_stream(void *cls)
{
    struct response_parts *parts = cls;
    parts->done(parts->context);
    mem_free(parts);
}

static struct MHD_Response *library_response(struct exchange *exchange, const struct response_parts *parts)
{
    struct MHD_Response *out = NULL;
    if (parts->kind == RESPONSE_FILE) {
        int fd = response_take_fd(exchange->response);
        if (!(out = MHD_create_response_from_fd64((uint64_t)parts->file_bytes, fd)))
            close(fd);
    } else if (parts->kind == RESPONSE_STREAM) {
        struct response_parts *kept = mem_alloc(sizeof *kept);
        if (!kept)
            return NULL;
        *kept = *parts;
        if ((out = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)64 << 10, read_stream, kept, free_stream)))
            response_take_stream(exchange->response);
        else
            mem_free(kept);
    } else {
        /* The library's parameter lacks a const; PERSISTENT means that it only reads. The bytes live as long as the exchange. */
        out = MHD_create_response_from_buffer(parts->memory.len, (void *)(uintptr_t)(parts->memory.len ? parts->memory.ptr : ""), MHD_RESPMEM_PERSISTENT);
    }
    return out;
}

/* What an answer depends on besides its address. While access lists decide, no cache may give one user's answer to another. */
static void vary(struct http *self, const struct response_parts *parts, bool by_proxy, char *out, size_t size)
{
    struct access *access = server_access(self->server);
    const char *const words[] = {parts->varies || by_proxy ? "Accept-Encoding" : NULL, parts->html ? "Accept-Language" : NULL, by_proxy ? "X-Forwarded-Context, X-Forwarded-Prefix" : NULL,
                                 access_enabled(access) ? access_header(access) : NULL, access_enabled(access) ? access_groups_header(access) : NULL,
                                 server_login(self->server) ? "Authorization" : NULL};
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (words[i] && len < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", words[i]);
}

static bool add_headers(struct http *self, struct MHD_Connection *connection, const struct exchange *exchange, struct MHD_Response *out, const struct response_parts *parts)
{
    bool for_one = (access_enabled(server_access(self->server)) || server_login(self->server)) && strcmp(parts->cache_control, "no-cache") == 0;
    bool secure = exchange->request.secure || str_is(header(connection, "X-Forwarded-Proto"), "https");
    char varies[512];
    vary(self, parts, parts->html || parts->status == 302, varies, sizeof varies);
    const struct response_header fixed[] = {
        {"Cache-Control", for_one ? "private, no-cache" : parts->cache_control}, {"Content-Type", parts->content_type}, {"ETag", parts->etag},
        {"Content-Encoding", parts->gzip ? "gzip" : NULL}, {"Vary", varies[0] ? varies : NULL},
        {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", self->frame_options}, {"X-XSS-Protection", "1; mode=block"}, {"Referrer-Policy", "same-origin"},
        {"Content-Security-Policy", parts->html ? self->page_policy : self->data_policy}, {"Strict-Transport-Security", secure ? self->transport_security : NULL},
        {"X-Request-Id", exchange->id},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(fixed); i++)
        if (fixed[i].value && MHD_add_response_header(out, fixed[i].name, fixed[i].value) != MHD_YES)
            return false;
    for (size_t i = 0; i < parts->header_count; i++)
        if (MHD_add_response_header(out, parts->headers[i].name, parts->headers[i].value) != MHD_YES)
            return false;
    return true;
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
        count_received(self, connection, *upload_data_size);
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
    set_phase(self, connection, parts.kind == RESPONSE_STREAM ? PHASE_STREAMING : PHASE_ANSWERING);
    struct MHD_Response *out = library_response(exchange, &parts);
    if (!out)
        return MHD_NO;
    /* The library ends a body of unknown length with an empty chunk, even where only the head goes out; as for HTTP 1.0 the end of the connection is its end. */
    if (parts.kind == RESPONSE_STREAM && strcmp(method, "HEAD") == 0)
        MHD_set_response_options(out, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    enum MHD_Result queued = add_headers(self, connection, exchange, out, &parts) ? MHD_queue_response(connection, (unsigned)parts.status, out) : MHD_NO;
    MHD_destroy_response(out);
    return queued;
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
        if (!meet(self, connection, exchange))
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

static bool plain_text(const char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text >= 0x7F)
            return false;
    return true;
}

/* A site that may frame us, where one is set and is no more than that. */
static void allow_framing(struct http *self, const char *from)
{
    bool sound = from && from[0] && strlen(from) < FRAMING_BYTES;
    for (const char *p = from; sound && *p; p++)
        sound = *p > 0x20 && *p < 0x7F && *p != ';' && *p != ',';
    if (from && !sound)
        log_warning("spark.ui.allowFramingFrom is not the address of a site; nobody may frame the pages");
    snprintf(self->frame_options, sizeof self->frame_options, sound ? "ALLOW-FROM %s" : "SAMEORIGIN", from);
    snprintf(self->page_policy, sizeof self->page_policy, sound ? PAGE_POLICY " %s" : PAGE_POLICY, from);
    snprintf(self->data_policy, sizeof self->data_policy, sound ? DATA_POLICY " %s" : DATA_POLICY, from);
}

/* What both daemons have. */
#define DAEMON_OPTIONS(self, threads) \
    MHD_OPTION_EXTERNAL_LOGGER, library_log, NULL, MHD_OPTION_THREAD_POOL_SIZE, (threads), MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS, \
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
    self->listen_fd = settings->listen_fd;
    self->plain_fd = settings->plain_fd;
    self->https_port = (int)port_of(self->listen_fd);
    self->temp_dir = settings->temp_dir;
    self->proxy_base = settings->proxy_base;
    self->transport_security = settings->transport_security;
    if (self->transport_security && !plain_text(self->transport_security)) {
        log_warning("spark.ui.strictTransportSecurity is no value of a header; it is not sent");
        self->transport_security = NULL;
    }
    allow_framing(self, settings->framing_from);
    pthread_mutex_init(&self->lock, NULL);
    raise_descriptors();
    int wait_seconds = FIRST_BYTES_SECONDS;
    if (settings->tls)
        setsockopt(self->listen_fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &wait_seconds, sizeof wait_seconds);
    if (self->plain_fd >= 0)
        self->plain = start_daemon(self, PLAIN_THREADS, false);
    if (self->plain || self->plain_fd < 0)
        self->daemon = start_daemon(self, settings->threads, settings->tls);
    self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->has_door = self->daemon && self->wake_fd >= 0 && pthread_create(&self->door, NULL, keep_door, self) == 0;
    if (!self->has_door) {
        http_stop(TAKE(*ret));
        return err_set(err, ERR_IO, "the HTTP threads cannot be started");
    }
    return ERR_OK;
}

/* Sets one of the door's marks and lets it look. */
static void tell_door(struct http *self, bool *mark)
{
    pthread_mutex_lock(&self->lock);
    *mark = true;
    if (self->daemon)
        resume_waiting(self);
    pthread_mutex_unlock(&self->lock);
    if (self->wake_fd >= 0 && eventfd_write(self->wake_fd, 1))
        log_debug("http door: %s", strerror(errno)); /* it looks once a second anyway */
}

void http_stop(struct http *self)
{
    if (!self)
        return;
    tell_door(self, &self->stopping);
    if (server_login(self->server))
        login_stop(server_login(self->server));
    for (int tenths = 0; tenths < STOP_SECONDS * 10 && atomic_load(&self->running) > 0; tenths++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    tell_door(self, &self->closed);
    if (self->has_door)
        pthread_join(self->door, NULL);
    if (self->plain)
        MHD_stop_daemon(self->plain);
    if (self->daemon)
        MHD_stop_daemon(self->daemon);
    close(self->listen_fd);
    if (self->plain_fd >= 0)
        close(self->plain_fd);
    if (self->wake_fd >= 0)
        close(self->wake_fd);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}
