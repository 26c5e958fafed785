/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/access.h"

static bool plain_text(const char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text >= 0x7F)
            return false;
    return true;
}

/* A site that may frame us, where one is set and is no more than that. */
static void allow_framing(struct http_policies *self, const char *from)
{
    bool sound = from && from[0] && strlen(from) < FRAMING_BYTES;
    for (const char *p = from; sound && *p; p++)
        sound = *p > 0x20 && *p < 0x7F && *p != ';' && *p != ',';
    if (from && !sound)
        log_warning("spark.ui.allowFramingFrom is not the address of a site; nobody may frame the pages");
    snprintf(self->frame_options, sizeof self->frame_options, sound ? "ALLOW-FROM %s" : "SAMEORIGIN", from);
    snprintf(self->page, sizeof self->page, sound ? PAGE_POLICY " %s" : PAGE_POLICY, from);
    snprintf(self->data, sizeof self->data, sound ? DATA_POLICY " %s" : DATA_POLICY, from);
}

void http_policies_init(struct http_policies *self, const char *framing_from, const char *transport_security)
{
    self->transport_security = transport_security;
    if (transport_security && !plain_text(transport_security)) {
        log_warning("spark.ui.strictTransportSecurity is no value of a header; it is not sent");
        self->transport_security = NULL;
    }
    allow_framing(self, framing_from);
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
    bool secure = exchange->request.secure || str_is(http_header(connection, "X-Forwarded-Proto"), "https");
    char varies[512];
    vary(self, parts, parts->html || parts->status == 302, varies, sizeof varies);
    const struct response_header fixed[] = {
        {"Cache-Control", for_one ? "private, no-cache" : parts->cache_control}, {"Content-Type", parts->content_type}, {"ETag", parts->etag},
        {"Content-Encoding", parts->gzip ? "gzip" : NULL}, {"Vary", varies[0] ? varies : NULL},
        {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", self->policies.frame_options}, {"X-XSS-Protection", "1; mode=block"}, {"Referrer-Policy", "same-origin"},
        {"Content-Security-Policy", parts->html ? self->policies.page : self->policies.data}, {"Strict-Transport-Security", secure ? self->policies.transport_security : NULL},
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

enum MHD_Result http_send(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, const struct response_parts *parts)
{
    struct MHD_Response *out = library_response(exchange, parts);
    if (!out)
        return MHD_NO;
    /* The library ends a body of unknown length with an empty chunk, even where only the head goes out; as for HTTP 1.0 the end of the connection is its end. */
    if (parts->kind == RESPONSE_STREAM && strcmp(exchange->method, "HEAD") == 0)
        MHD_set_response_options(out, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    enum MHD_Result queued = add_headers(self, connection, exchange, out, parts) ? MHD_queue_response(connection, (unsigned)parts->status, out) : MHD_NO;
    MHD_destroy_response(out);
    return queued;
}
