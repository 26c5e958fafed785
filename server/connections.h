/* SPDX-License-Identifier: Apache-2.0
 *
 * Open connections, and how long each may take over what it does: who sends a byte a second, or takes one, must not hold a place for ever. (Who sends nothing at all is the HTTP
 * library's matter.) Knows descriptors alone, which it never closes: whoever does calls connections_remove before. Any thread; a struct connection is of the thread that serves it. */
#ifndef SERVER_CONNECTIONS_H
#define SERVER_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTIONS_MAX 1024u        /* over all threads */
#define CONNECTION_HEAD_SECONDS 60   /* from the connection, or the end of the last answer, to a complete head */
#define CONNECTION_ANSWER_SECONDS 3600       /* for an answer of known length, and for a log that is sent to us; streams (zips of any size) end by idling only */
#define CONNECTION_WINDOW_SECONDS 30 /* in each such time of a log that is sent to us comes so much of it, or it holds its place for nothing */
#define CONNECTION_WINDOW_BYTES ((int64_t)30 << 10)

enum connection_phase { PHASE_READING, PHASE_RECEIVING, PHASE_ANSWERING, PHASE_STREAMING };

struct exchange;

struct connection {
    struct exchange *exchange;       /* the request in work; for whoever serves the connection */
    /* Below: for connections.c, under the lock. */
    struct connection *next, *previous;
    int fd;
    enum connection_phase phase;
    int64_t since_ns;                /* of the phase */
    int64_t window_ns, window_bytes; /* of a log that comes: since when, and what came since then */
};

struct connections {
    pthread_mutex_t lock;
    struct connection *first;
    size_t count;
};

void connections_init(struct connections *self);
void connections_dispose(struct connections *self);      /* when all are removed */

/* In PHASE_READING. Owned by the list until connections_remove; NULL: there is no memory. */
struct connection *connections_add(struct connections *self, int fd);
void connections_remove(struct connections *self, struct connection *connection);
bool connections_full(struct connections *self);

/* What it does from now on. `connection` NULL is fine, here and below. */
void connections_phase(struct connections *self, struct connection *connection, enum connection_phase phase);
void connections_received(struct connections *self, struct connection *connection, size_t bytes);

/* Shuts down those that took too long; to be called about once a second. now_ns: monotonic. */
void connections_cut_overdue(struct connections *self, int64_t now_ns);

#endif
