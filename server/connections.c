/* SPDX-License-Identifier: Apache-2.0 */
#include "server/connections.h"

#include <sys/socket.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"

#define SECOND_NS ((int64_t)1000 * NS_PER_MS)

void connections_init(struct connections *self)
{
    *self = (struct connections){0};
    pthread_mutex_init(&self->lock, NULL);
}

void connections_dispose(struct connections *self)
{
    pthread_mutex_destroy(&self->lock);
}

struct connection *connections_add(struct connections *self, int fd)
{
    struct connection *c = mem_zalloc(sizeof *c);
    if (!c)
        return NULL;
    c->fd = fd;
    c->since_ns = time_monotonic_ns();
    pthread_mutex_lock(&self->lock);
    c->next = self->first;
    if (c->next)
        c->next->previous = c;
    self->first = c;
    self->count++;
    pthread_mutex_unlock(&self->lock);
    return c;
}

void connections_remove(struct connections *self, struct connection *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&self->lock);
    *(c->previous ? &c->previous->next : &self->first) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    self->count--;
    pthread_mutex_unlock(&self->lock);
    mem_free(c);
}

bool connections_full(struct connections *self)
{
    pthread_mutex_lock(&self->lock);
    bool full = self->count >= CONNECTIONS_MAX;
    pthread_mutex_unlock(&self->lock);
    return full;
}

void connections_phase(struct connections *self, struct connection *c, enum connection_phase phase)
{
    if (!c)
        return;
    pthread_mutex_lock(&self->lock);
    c->phase = phase;
    c->since_ns = c->window_ns = time_monotonic_ns();
    c->window_bytes = 0;
    pthread_mutex_unlock(&self->lock);
}

void connections_received(struct connections *self, struct connection *c, size_t bytes)
{
    if (!c)
        return;
    pthread_mutex_lock(&self->lock);
    c->window_bytes += (int64_t)bytes;
    pthread_mutex_unlock(&self->lock);
}

/* Also ends the window of a log that comes, when it is over. */
static bool overdue(struct connection *c, int64_t now_ns)
{
    bool slow = false;
    if (c->phase == PHASE_RECEIVING && now_ns - c->window_ns >= CONNECTION_WINDOW_SECONDS * SECOND_NS) {
        slow = c->window_bytes < CONNECTION_WINDOW_BYTES;
        c->window_ns = now_ns;
        c->window_bytes = 0;
    }
    int64_t seconds = (now_ns - c->since_ns) / SECOND_NS;
    switch (c->phase) {
    case PHASE_READING: return seconds >= CONNECTION_HEAD_SECONDS;
    case PHASE_RECEIVING: return slow || seconds >= CONNECTION_ANSWER_SECONDS;
    case PHASE_ANSWERING: return seconds >= CONNECTION_ANSWER_SECONDS;
    case PHASE_STREAMING: break;
    }
    return false;
}

void connections_cut_overdue(struct connections *self, int64_t now_ns)
{
    pthread_mutex_lock(&self->lock);
    for (struct connection *c = self->first; c; c = c->next)
        if (overdue(c, now_ns))
            shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&self->lock);
}
