/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP to the servers of a place; libcurl lives in fetch.c. An answer is a stream: its head first, then its body piece by piece, at most FETCH_AHEAD_BYTES of it in memory (then the
 * connection waits). Connections are kept and used again by whoever asks next.
 *
 * Only http: and https: are spoken. Nothing is followed by itself: a redirect is an answer. Certificates are checked, against the system's authorities or those of
 * place_config "afterglow.places.caFile". No proxy but "afterglow.places.proxy", whatever the environment says. No answer may keep us waiting: connecting and each pause in an answer
 * end after "afterglow.places.timeout".
 *
 * Errors: ERR_AWAY no connection, no answer in time, or one that broke off (another try may do); ERR_LIMIT a head beyond FETCH_HEAD_MAX_BYTES, or a body beyond what was allowed;
 * ERR_CANCELLED fetch_stop; ERR_NOMEM; ERR_IO the rest (TLS, nonsense). Messages name `what` and never the URL. Threads: safe; a stream belongs to one thread. */
#ifndef PLACE_FETCH_H
#define PLACE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define FETCH_AHEAD_BYTES ((size_t)4 << 20)
#define FETCH_HEAD_MAX_BYTES ((size_t)64 << 10)
#define FETCH_HEADERS 8
#define FETCH_LOCATION_BYTES 8192

struct fetch_request {
    const char *method;                 /* NULL: GET */
    const char *url;                    /* borrowed, as the others, for the call */
    const char *what;                   /* for messages: which question to whom */
    const char *headers[FETCH_HEADERS]; /* "Name: value" */
    size_t header_count;
    struct str body; /* STR_NONE: none */
    bool negotiate;  /* SPNEGO, with the credentials of the process */
};

struct fetch_head {
    int status;
    int64_t length;                      /* of the body, as announced; UNKNOWN */
    int64_t range_begin, range_total;    /* of Content-Range; UNKNOWN */
    int64_t modified_ms;                 /* of Last-Modified; UNKNOWN */
    char etag[256];                      /* with quotes; empty: none, or too long */
    char location[FETCH_LOCATION_BYTES]; /* empty: none, or too long */
    char region[64];                     /* x-amz-bucket-region */
};

struct fetch_stream;

/* Sends the request and waits for the head. *ret: close it in all cases but an error. */
enum err_code fetch_open(struct fetch_stream **ret, const struct fetch_request *request, struct err *err) WARN_UNUSED;
const struct fetch_head *fetch_head(const struct fetch_stream *self);
/* ERR_OK: *ret_len > 0. ERR_EOF: the body is over. */
enum err_code fetch_read(struct fetch_stream *self, void *into, size_t room, size_t *ret_len, struct err *err) WARN_UNUSED;
void fetch_close(struct fetch_stream *self); /* NULL is fine */

/* The rest of the body into `body`, whose maximum is that of buf_init; it is cleared first, and JSON_PADDING zero bytes stand behind it. Closes the stream in all cases. */
enum err_code fetch_take(struct fetch_stream *self, struct buf *body, struct err *err) WARN_UNUSED;

/* Both in one. */
enum err_code fetch_whole(const struct fetch_request *request, struct fetch_head *ret, struct buf *body, struct err *err) WARN_UNUSED;

/* For this thread, from now on: another time-out, and no second try (place_wait). */
void fetch_be_brief(int64_t ms);
bool fetch_is_brief(void);

bool fetch_stopped(void);
void fetch_stop(bool stop);

#endif
