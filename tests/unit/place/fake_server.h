/* SPDX-License-Identifier: Apache-2.0
 *
 * A server that answers as the test says: one request a connection, on a free port of loopback, in a thread of its own. */
#ifndef PLACE_FAKE_SERVER_H
#define PLACE_FAKE_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

struct fake_request {
    char method[16], target[9000]; /* as they came; the target with its query */
    char head[16000];              /* all header lines */
    int number;                    /* of the connection, from 1 */
};

struct fake_server {
    int fd, port;
    pthread_t thread;
    atomic_int count;
    void (*answer)(const struct fake_request *request, struct buf *out); /* the raw bytes that are sent; the connection ends behind them */
    int pause_ms;                                                        /* before an answer */
};

static inline void fake_reply(struct buf *out, int status, const char *headers, const char *body)
{
    buf_printf(out, "HTTP/1.1 %d Word\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%s", status, strlen(body), headers, body);
}

static inline bool fake_has_header(const struct fake_request *request, const char *line)
{
    return strstr(request->head, line) != NULL;
}

static inline void *fake_serve(void *context)
{
    struct fake_server *self = context;
    for (;;) {
        int fd = accept(self->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        struct fake_request *request = calloc(1, sizeof *request);
        char bytes[16000] = "";
        size_t used = 0;
        ssize_t got;
        while (used < sizeof bytes - 1 && !strstr(bytes, "\r\n\r\n") && (got = read(fd, bytes + used, sizeof bytes - 1 - used)) > 0)
            used += (size_t)got;
        sscanf(bytes, "%15s %8999s", request->method, request->target);
        snprintf(request->head, sizeof request->head, "%s", bytes);
        request->number = atomic_fetch_add(&self->count, 1) + 1;
        struct buf out;
        buf_init(&out, (size_t)256 << 20);
        usleep((useconds_t)self->pause_ms * 1000);
        self->answer(request, &out);
        for (size_t sent = 0; sent < out.len && (got = send(fd, out.data + sent, out.len - sent, MSG_NOSIGNAL)) > 0;)
            sent += (size_t)got;
        buf_dispose(&out);
        free(request);
        shutdown(fd, SHUT_WR);
        while (read(fd, bytes, sizeof bytes) > 0)
            continue;
        close(fd);
    }
}

static inline void fake_start(struct fake_server *self, void (*answer)(const struct fake_request *request, struct buf *out))
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    *self = (struct fake_server){.answer = answer, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (bind(self->fd, (struct sockaddr *)&address, len) || listen(self->fd, 16) || getsockname(self->fd, (struct sockaddr *)&address, &len))
        abort();
    self->port = ntohs(address.sin_port);
    pthread_create(&self->thread, NULL, fake_serve, self);
}

static inline void fake_stop(struct fake_server *self)
{
    shutdown(self->fd, SHUT_RDWR);
    pthread_join(self->thread, NULL);
    close(self->fd);
}

#endif
