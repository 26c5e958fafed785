/* SPDX-License-Identifier: Apache-2.0
 *
 * One HTTP request as handlers see it: no type of the HTTP library. Made and owned by http.c; handlers borrow it for the call. All text is percent-decoded
 * once (/api/v1 decodes again where the History Server does) and may be anything but a NUL: bound it, escape it. */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "server/access.h"

#define REQUEST_MAX_URL 8192         /* path and query; the History Server's header limit (spark.ui.requestHeaderSize) */
#define REQUEST_MAX_PARAMS 256
#define REQUEST_MAX_PATH_ARGS 8

struct request_param {
    struct str name, value;
};

struct request {
    struct str address;              /* as in the request line */
    struct str method;               /* GET or HEAD in a handler: dispatch.c answers OPTIONS, http.c refuses others */
    struct str path;                 /* decoded, prefix removed, begins with /; without parameters of segments (";x=1"), which mean nothing, as there */
    struct str raw_path;             /* the same before decoding: routes are matched on it, so that %2F stays inside its segment */
    struct str prefix;               /* what a proxy put before us ("" or "/gateway"), for links */
    bool shortened;                  /* the path began with it */
    struct request_param params[REQUEST_MAX_PARAMS];
    size_t param_count;
    struct str path_args[REQUEST_MAX_PATH_ARGS];   /* what the route's {…} matched, in order */
    size_t path_arg_count;
    struct viewer viewer;            /* who asks */
    struct str if_none_match, accept, accept_language, cookies, host;       /* headers as they came; STR_NONE: absent */
    struct str origin, site, forwarded_host; /* Origin, Sec-Fetch-Site, X-Forwarded-Host: origin.h */
    struct str action;               /* X-Afterglow-Action: the marker of origin.h for what is asked for by POST */
    bool secure;                     /* it came by https of ours */
    unsigned char sender[16];        /* network.h: who sends it, as the proxies that are believed say; all zero: a proxy passed it on and does not say for whom */
    size_t route;                    /* route_times.h; set by dispatch */
    bool accepts_gzip;
    struct arena *arena;             /* dies with the request */
};

/* Fills path, raw_path, prefix and params from the address of the request line ("/a%20b?q=1") and a clean prefix (proxy.h) that is removed where the path begins with it.
 * ERR_LIMIT: more parameters than REQUEST_MAX_PARAMS. ERR_INVALID: does not begin with /, a % without two hex digits, or a NUL. Texts go to the arena. */
enum err_code request_parse(struct request *self, struct str address, struct str prefix, struct err *err) WARN_UNUSED;

/* Puts the prefix back that was removed from path and raw_path. ERR_NOMEM. */
enum err_code request_lengthen(struct request *self, struct err *err) WARN_UNUSED;

/* Percent-decodes `in` into the arena, once; `plus`: + means a blank. ERR_INVALID as above. */
enum err_code request_decode(struct arena *arena, struct str in, bool plus, struct str *ret, struct err *err) WARN_UNUSED;

/* As a form field (+ is a blank), once more for each proxy that encoded it again, until nothing is left to decode or what is left is no encoding; a few times at most. Without
 * memory: as it is. */
struct str request_decode_wholly(struct arena *arena, struct str text);

/* First value of a query parameter; STR_NONE when absent. */
struct str request_param(const struct request *self, const char *name);

/* Whole decimal integer within [low, high]. Absent: *ret = otherwise. ERR_INVALID with a sentence when it is no such number. */
enum err_code request_param_i64(const struct request *self, const char *name, int64_t otherwise, int64_t low, int64_t high, int64_t *ret, struct err *err) WARN_UNUSED;

/* The History Server's booleans: only `true`, in any case, is true; an empty one counts as absent. */
bool request_param_true(const struct request *self, const char *name, bool otherwise);

#endif
