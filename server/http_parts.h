/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of http.h, for the files http*.c alone, which are the home of libmicrohttpd: http.c (the story of a request, and the life of the whole), http_door.c (who is let in, who waits), http_head.c
 * (who asks, and for what), http_send.c (what goes out). All of an exchange but its place among those that wait is of the thread that serves its connection. */
#ifndef SERVER_HTTP_PARTS_H
#define SERVER_HTTP_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

#include "base/arena.h"
#include "base/units.h"
#include "server/connections.h"
#include "server/http.h"
#include "server/login.h"
#include "server/request.h"
#include "server/request_id.h"
#include "server/response.h"
#include "server/response_body.h"

#define SECOND_NS ((int64_t)1000 * NS_PER_MS)

/* Headers that say what a browser may do with our answers. */
#define PAGE_POLICY "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
#define DATA_POLICY "default-src 'none'; frame-ancestors 'self'"
#define FRAMING_BYTES 256
struct http_policies {
    const char *transport_security;  /* borrowed; NULL: none */
    char frame_options[FRAMING_BYTES + 16], page[FRAMING_BYTES + sizeof PAGE_POLICY], data[FRAMING_BYTES + sizeof DATA_POLICY];
};

struct http {
    struct server *server;
    struct MHD_Daemon *daemon, *plain;       /* plain NULL: there is none */
    int listen_fd, plain_fd;
    int https_port;                          /* where `plain` leads to */
    const char *temp_dir, *proxy_base;
    struct http_policies policies;
    atomic_int running;                      /* answers being made or sent */
    struct connections connections;
    pthread_t door;                          /* the thread that lets in, and watches over total times */
    bool has_door;
    int wake_fd;                             /* eventfd: the door is to look at what changed */
    pthread_mutex_t lock;                    /* all below */
    bool stopping;                           /* nobody is let in any more */
    bool closed;                             /* the door's thread ends */
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

/* ---- http_door.c ---- */

/* False: its thread cannot be started. */
bool http_door_open(struct http *self);
void http_door_shut(struct http *self);      /* nobody is let in any more; those who wait try a last time */
void http_door_close(struct http *self);     /* the thread ends */

/* Lays the connection aside until the door's next round; no thread waits with it. False: the server stops, and nobody waits. */
bool http_wait(struct http *self, struct MHD_Connection *connection, struct exchange *exchange);

/* ---- http_head.c ---- */

struct str http_header(struct MHD_Connection *connection, const char *name); /* borrowed, until the end of the request; STR_NONE: none */
bool http_is_secure(struct MHD_Connection *connection);      /* by https */
bool http_only_leads(const struct http *self, struct MHD_Connection *connection);    /* by the plain port, which only says where https is */

/* The head is there: its sender, and whether the password, where one comes, is right. False: that is being looked at, and the library calls again. */
bool http_meet(struct http *self, struct MHD_Connection *connection, struct exchange *exchange);

/* What is said in the head, and an empty answer. *ret_prefix: of a proxy. False: there is no memory. */
bool http_read_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str *ret_prefix);

/* Who asks, and for what. False: the answer says why not. */
bool http_parse_head(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, struct str prefix);

/* The plain port leads to the other one, as the History Server's does. */
void http_lead_to_https(struct http *self, struct exchange *exchange);

/* The answer says that the store, the disk or memory failed. */
void http_fail(struct exchange *exchange, enum err_code code, const struct err *err);

/* ---- http_send.c ---- */

/* Warns of what is set and is no value of a header. */
void http_policies_init(struct http_policies *self, const char *framing_from, const char *transport_security);

/* A finished answer goes out. */
enum MHD_Result http_send(struct http *self, struct MHD_Connection *connection, struct exchange *exchange, const struct response_parts *parts);

#endif
