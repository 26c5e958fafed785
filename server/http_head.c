/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_parts.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/log.h"
#include "server/access.h"
#include "server/dispatch.h"
#include "server/negotiate.h"
#include "server/proxy.h"

struct str http_header(struct MHD_Connection *connection, const char *name)
{
    return str_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

bool http_is_secure(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session;
}

bool http_only_leads(const struct http *self, struct MHD_Connection *connection)
{
    return self->plain && !http_is_secure(connection);
}

void http_fail(struct exchange *exchange, enum err_code code, const struct err *err)
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
    return found.count > 1 ? STR_LIT(",") : http_header(connection, name);
}

/* From the thread that checks passwords. The lock: not before the connection was laid aside. */
static void on_login(void *context)
{
    struct exchange *exchange = context;
    struct http *self = exchange->http;
    pthread_mutex_lock(&self->lock);
    MHD_resume_connection(exchange->suspended); /* it may be answered and gone at once */
    pthread_mutex_unlock(&self->lock);
}

bool http_meet(struct http *self, struct MHD_Connection *connection, struct exchange *exchange)
{
    struct access *access = server_access(self->server);
    struct login *login = server_login(self->server);
    exchange->http = self;
    peer_address(connection, exchange->peer);
    access_client(access, exchange->peer, sole_header(connection, "X-Forwarded-For"), exchange->client);
    bool believed = access_believes(access, exchange->peer);
    request_id(http_header(connection, "X-Request-Id"), believed, exchange->id);
    bool by_proxy = believed && access_header(access) && http_header(connection, access_header(access)).len;
    if (!login || by_proxy || !login_parse(http_header(connection, "Authorization"), &exchange->arena, &exchange->words)) {
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
        if (str_known(http_header(connection, passed_on[i])))
            memset(sender, 0, sizeof exchange->request.sender);
}

bool http_read_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str *ret_prefix)
{
    struct request *request = &exchange->request;
    request->method = str_of(exchange->method);
    request->if_none_match = http_header(connection, "If-None-Match");
    request->accept = http_header(connection, "Accept");
    request->accept_language = http_header(connection, "Accept-Language");
    request->cookies = http_header(connection, "Cookie");
    request->host = http_header(connection, "Host");
    request->origin = http_header(connection, "Origin");
    request->site = http_header(connection, "Sec-Fetch-Site");
    request->forwarded_host = http_header(connection, "X-Forwarded-Host");
    request->action = http_header(connection, "X-Afterglow-Action");
    request->secure = http_is_secure(connection);
    note_sender(connection, exchange);
    request->accepts_gzip = negotiate_gzip(http_header(connection, "Accept-Encoding"));
    request->address = request->path = request->raw_path = exchange->address;
    *ret_prefix = proxy_prefix(str_of(self->proxy_base), http_header(connection, "X-Forwarded-Context"), http_header(connection, "X-Forwarded-Prefix"));
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
        http_fail(exchange, rc, &err);
    return false;
}

void http_lead_to_https(struct http *self, struct exchange *exchange)
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

bool http_parse_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str prefix)
{
    struct err err = {0};
    enum err_code rc = request_parse(&exchange->request, exchange->address, prefix, &err);
    if (!rc)
        rc = identify(self, connection, exchange, &err);
    if (rc == ERR_INVALID || rc == ERR_LIMIT)
        dispatch_refuse(exchange->address, exchange->response, 400, rc == ERR_LIMIT ? "too_many_parameters" : "bad_request", err.message);
    else if (rc)
        http_fail(exchange, rc, &err);
    return !rc && may_enter(self, exchange);
}
