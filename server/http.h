/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1 over a listening socket (http_listen.h), by libmicrohttpd, which only this and its parts know (http_parts.h). One thread lets clients in and deals them out to a pool of
 * threads, each with an epoll set; a handler runs in the thread of its connection.
 * Only GET and HEAD, no request bodies but logs that are added (uploads.h); everything a client can send or hold has a limit (http.c, top; connections.h). Speaks to the rest through struct request,
 * struct response and dispatch.h. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <stdbool.h>

#include "base/err.h"
#include "server/server.h"

struct http;

struct http_settings {
    int listen_fd;                   /* owned by http from http_start on, also when that fails */
    int plain_fd;                    /* the same; answers by http, that https is on listen_fd's port; -1: none */
    bool tls;                        /* https on listen_fd, with the certificate of tls.h */
    unsigned threads;
    const char *temp_dir;            /* borrowed: for long answers */
    const char *proxy_base;          /* borrowed; NULL: none */
    const char *framing_from, *transport_security;       /* borrowed; NULL: none */
};

enum err_code http_start(struct http **ret, const struct http_settings *settings, struct server *server, struct err *err) WARN_UNUSED;

/* Stops accepting, lets running answers finish for some seconds, closes what is left. NULL is fine. */
void http_stop(struct http *self);

#endif
