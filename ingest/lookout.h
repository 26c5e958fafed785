/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's lookout: threads that look at the places and tell what they see. All local places have one thread, which takes them in order; each remote place has one of its own (beyond
 * LOOKOUT_REMOTE_LANES they share), so that a place that is slow or away keeps no other waiting, and none keeps the worker. What they see comes out of one bounded queue, in the
 * order in which it was seen, each place's between its BEGIN and its END: whoever looks faster than the worker takes waits.
 *
 * A lane looks once, or so often that what came, grew or went is told within `interval_ms`, or at once when it is poked. In between it glances at its places, ten times in an interval: one
 * whose own directory has another time than the last look found, because something in it was made, renamed or deleted, is looked at now, as long as that takes no more than
 * LOOKOUT_EARLY_SHARE of the time. That is a stat, or a question to a name node; S3 has no directories and no such time. A log whose path and fingerprint it, or the catalogue, has seen before is not opened. A log in one
 * file that is as the last look told it is told by its key alone (SEEN_SAME), many at a time, so that 100,000 logs that did not change cost little more than their stat.
 *
 * Threads: all functions are the worker's, but for what the lanes do inside. */
#ifndef INGEST_LOOKOUT_H
#define INGEST_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ingest/source/log_entry.h"

#define LOOKOUT_REMOTE_LANES 16
#define LOOKOUT_EARLY_SHARE 20 /* a twentieth */
#define LOOKOUT_SAME_COUNT 1024
#define LOOKOUT_FIND_BYTES 256 /* of an application's id; no scheduler's is longer */

enum seen_kind {
    SEEN_BEGIN,  /* a place is looked at from now on */
    SEEN_LOG,    /* `entry` */
    SEEN_SAME,   /* `same`: logs that are there as they were told before */
    SEEN_REJECT, /* `path`, `reject`, `reason`, `bytes`, `modified_ms` */
    SEEN_END,    /* `rc`, `err`, `duration_ms` */
    SEEN_FOUND,  /* `entry`: a log that was asked for by name, outside a look at the whole place */
};

struct seen {
    enum seen_kind kind;
    size_t place;           /* index of the place */
    int64_t looked_ms;      /* when the look began that saw it */
    struct log_entry entry; /* owned */
    char *path, *reason;    /* owned */
    int64_t *same;          /* owned; lookout_key of each */
    size_t same_count;      /* at most LOOKOUT_SAME_COUNT */
    enum reject_kind reject;
    int64_t bytes, modified_ms;
    bool is_directory, is_there; /* BEGIN; of a remote place both are taken for granted while watching, else neither */
    bool is_hidden;              /* BEGIN; a directory is there, and this process may not open it (confine_hides) */
    enum err_code rc;
    struct err err;
    int64_t duration_ms;
};

struct lookout;

struct lookout_options {
    const char *const *places; /* addresses (place.h); borrowed */
    size_t place_count;
    bool again; /* look again and again; only then are there glances */
    int64_t interval_ms;
    int wake_fd; /* a byte is written when there is something to take */
};

/* `known` are hashes of paths and fingerprints (lookout_key) that need no look; its entries are taken over (the map is empty then). Starts the lanes. */
struct imap;
enum err_code lookout_start(struct lookout **ret, const struct lookout_options *options, struct imap *known, struct err *err) WARN_UNUSED;
int64_t lookout_key(const char *path, const char *fingerprint);

bool lookout_next(struct lookout *self, struct seen *ret); /* false: nothing now; dispose of what came */
void seen_dispose(struct seen *self);
bool lookout_has_news(struct lookout *self); /* something is to be taken */
bool lookout_is_busy(struct lookout *self);  /* a lane looks, or something is to be taken */
#define LOOKOUT_ALL SIZE_MAX
void lookout_poke(struct lookout *self, size_t place); /* look at that place now, or at all; when the next look is due stays as it is */
/* From the next look on nothing of that place counts as told: for who does not know any more what a key was. */
void lookout_tell_anew(struct lookout *self, size_t place);
/* Logs of that application by the names that Spark gives them, in all places; they come as SEEN_FOUND. Too many at a time: dropped, the next scan finds them as well. */
void lookout_find(struct lookout *self, const char *app_id);
void lookout_stop(struct lookout *self); /* ends all looking, waits, frees; NULL is fine */

#endif
