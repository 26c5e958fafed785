/* SPDX-License-Identifier: Apache-2.0
 *
 * The other side of response.h: how http.c (and tests) make a response and take the finished one apart. */
#ifndef SERVER_RESPONSE_BODY_H
#define SERVER_RESPONSE_BODY_H

#include "base/arena.h"
#include "server/response.h"

/* Below this a body is sent as it is: gzip would win less than a packet. */
#define RESPONSE_GZIP_LEAST_BYTES ((size_t)1024)

/* The fastest level: 1 compresses our JSON five- to twelvefold at some 250 to 500 MB/s a core (libdeflate; bodies beyond RESPONSE_MEMORY_BYTES by zlib, which can go piece by piece). */
#define RESPONSE_GZIP_LEVEL 1

/* A body larger than this is refused: some ten million tasks as JSON, compressed; it bounds the temporary file. */
#define RESPONSE_MAX_BYTES ((int64_t)4 << 30)

/* What the temporary files of all answers may hold at the same time: clients that read slowly must not fill the disk. Beyond it ERR_BUSY. */
#define RESPONSE_FILES_BYTES ((int64_t)16 << 30)

#define RESPONSE_MAX_HEADERS 16
#define RESPONSE_MAX_ETAG 256

enum response_kind { RESPONSE_MEMORY, RESPONSE_FILE, RESPONSE_STREAM };

struct response_header {
    const char *name;                /* static */
    const char *value;               /* arena */
};

/* A finished answer. */
struct response_parts {
    int status;
    enum response_kind kind;
    const char *content_type;        /* NULL: no body */
    bool html;                       /* the body is a page; of a 304, the one that the client has: a cache takes over its headers */
    bool later;                      /* response_later */
    const char *cache_control;
    const char *etag;                /* NULL: none; weak when the body was compressed on the way */
    bool gzip;                       /* the bytes are gzip */
    bool varies;                     /* they would differ for a client that takes (or does not take) gzip */
    const struct response_header *headers;
    size_t header_count;
    struct str memory;               /* RESPONSE_MEMORY: borrowed from the response */
    int fd;                          /* RESPONSE_FILE: owned by the response until taken with response_take_fd */
    int64_t file_bytes;
    response_read_fn *read;          /* RESPONSE_STREAM */
    void (*done)(void *);
    void *context;
};

/* The arena is borrowed and must outlive the response. temp_dir is for bodies beyond RESPONSE_MEMORY_BYTES. */
enum err_code response_new(struct response **ret, struct arena *arena, bool accepts_gzip, const char *temp_dir, struct err *err) WARN_UNUSED;

/* The body that another response_finish has made, with its coding. */
enum err_code response_made(struct response *self, const char *type, struct str body, bool gzip) WARN_UNUSED;

/* Ends the body. After a failure (of the disk, of memory, of a limit: the first one of any write) the response can still be made an error with response_error or response_plain
 * and be finished again. */
enum err_code response_finish(struct response *self, struct str if_none_match, struct response_parts *ret, struct err *err) WARN_UNUSED;

int response_take_fd(struct response *self);                                  /* the caller closes it, and frees the response thereafter: until then it counts */
void response_take_stream(struct response *self);                             /* the caller calls done */
void response_free(struct response *self);                                    /* NULL is fine */

void response_limit_files(int64_t bytes);                                     /* for tests: another RESPONSE_FILES_BYTES */

#endif
