/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kind of remote place must be able to do. To add one: a place_NAME.c with one const struct place_driver, and its line in the table of place.c. */
#ifndef PLACE_PLACE_DRIVER_H
#define PLACE_PLACE_DRIVER_H

#include "place/fetch.h"
#include "place/place.h"

#define PLACE_VALIDATOR_BYTES 256

/* A URI in its parts; the path begins with a slash or is empty. */
struct place_uri {
    struct str scheme, authority; /* borrowed from the address */
    const char *path;             /* borrowed; to its end */
};
struct place_uri place_uri_of(const char *address);

struct place_driver {
    const char *schemes[4];                                               /* without "://"; ended by NULL */
    enum err_code (*check)(const struct place_uri *uri, struct err *err); /* does the address make sense? Asks nobody */
    /* All but the name. `validator` may be NULL; else it is filled as by `read`, which then need not ask again. */
    enum err_code (*stat)(const struct place_uri *uri, struct place_child *ret, char validator[PLACE_VALIDATOR_BYTES], struct err *err);
    enum err_code (*list)(void *view, const struct place_uri *dir, const struct place_child *status, struct place_children *ret,
                          struct err *err); /* in any order, hidden names too; view may be NULL */
    /* A stream of the bytes from `offset` on, at most `len` of them; ERR_EOF: there are none (yet). `validator` is empty at first, and keeps what later answers must agree with. */
    enum err_code (*read)(const struct place_uri *uri, int64_t offset, int64_t len, char validator[PLACE_VALIDATOR_BYTES], struct fetch_stream **ret, struct err *err);
    enum err_code (*remove)(const struct place_uri *uri, enum child_kind kind, struct err *err); /* as place_remove */
    /* What scans remember (place_view); all NULL: nothing. */
    enum err_code (*view_new)(const struct place_uri *root, void **ret, struct err *err);
    enum err_code (*view_begin)(void *view, struct err *err);
    void (*view_free)(void *view);
};

extern const struct place_driver place_webhdfs, place_s3;

/* Percent encoding of all but letters, digits, "-._~" and, where `slash`, "/". */
void place_escape(struct buf *out, struct str text, bool slash);
bool place_unescape(struct str text, char *out, size_t room); /* NUL-terminated; false: no room, a bad escape or a NUL */

/* Which file it is, from text that tells it from others. Never 0. */
uint64_t place_hash(struct str a, struct str b);

/* Waits before a question is asked once more: 100 ms, doubling, until PLACE_PATIENCE_MS are over. False: enough, or place_stop. Begin with {0}. */
struct place_patience {
    int64_t began_ns, pause_ms;
};
bool place_wait(struct place_patience *self);

#endif
