/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_parts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "server/http_listen.h"

#define ROUND_MS 1000                        /* of the door's watch */
#define FULL_MS 50                           /* while there is no room, how often it is looked for */
#define REFRESH_SECONDS 2                    /* between two looks at files that may have changed */

/* Under the lock. */
static void resume_waiting(struct http *self)
{
    while (self->waiting) {
        struct exchange *exchange = self->waiting;
        self->waiting = exchange->next_waiting;
        MHD_resume_connection(exchange->suspended);
    }
}

/* Everybody who stands there. The library deals connections out to its threads by their descriptors, which follow each other: its own threads, who accept what they see, may leave nearly all of a burst
 * to one of them, and then its clients wait for each other while other processors have nothing to do. */
static void let_in(struct MHD_Daemon *daemon, int listen_fd)
{
    for (int i = 0; i < HTTP_BACKLOG; i++) {
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
        bool crowded = connections_full(&self->connections);
        pthread_mutex_lock(&self->lock);
        bool closed = self->closed, open = !self->stopping && !crowded, full = !open && !self->stopping, refreshes = false;
        if (time_monotonic_ns() - last_round_ns >= SECOND_NS) {
            last_round_ns = time_monotonic_ns();
            connections_cut_overdue(&self->connections, last_round_ns);
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

bool http_door_open(struct http *self)
{
    self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return self->has_door = self->wake_fd >= 0 && pthread_create(&self->door, NULL, keep_door, self) == 0;
}

/* Sets one of the door's marks and lets it look. */
static void tell(struct http *self, bool *mark)
{
    pthread_mutex_lock(&self->lock);
    *mark = true;
    if (self->daemon)
        resume_waiting(self);
    pthread_mutex_unlock(&self->lock);
    if (self->wake_fd >= 0 && eventfd_write(self->wake_fd, 1))
        log_debug("http door: %s", strerror(errno)); /* it looks once a second anyway */
}

void http_door_shut(struct http *self)
{
    tell(self, &self->stopping);
}

void http_door_close(struct http *self)
{
    tell(self, &self->closed);
    if (self->has_door)
        pthread_join(self->door, NULL);
    if (self->wake_fd >= 0)
        close(self->wake_fd);
}

bool http_wait(struct http *self, struct MHD_Connection *connection, struct exchange *exchange)
{
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
