/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs that come through the browser: bodies of POST /api/afterglow/v1/uploads, written into a directory of their own (afterglow.uploads.dir), which is one more place that the ingest
 * child watches. Off where no directory is set.
 *
 * One upload is a log: a file, or the files of a rolling log's directory, each in a request of its own. It has an id that the client draws (32 hex digits), and lies in DIR/ID. It is read
 * while it arrives, as a log that is being written: a file is DIR/ID/NAME.inprogress until it is whole, a folder eventlog_v2_… grows by files. What only shows what it is when it is whole (a
 * zip archive, any other folder) comes into DIR/.receiving-ID, which no scan looks into, and becomes DIR/ID with its last file. Names are the client's only as far as they are harmless
 * (upload_name), paths never are. While an upload is not whole there is a DIR/.receiving-ID in any case: what breaks off is known by that, and removed with its connection, after an hour, or
 * when the server starts.
 *
 * Limits, each with its answer: bytes of an upload (413), of all that lies in the directory (413), uploads a minute, at a time and of one sender at a time (429), files of one (413), the disk (507). Only
 * pages of this very server may send (403): origin.h.
 *
 * Threads: safe; one upload belongs to the thread of its connection. */
#ifndef SERVER_UPLOADS_H
#define SERVER_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/request.h"
#include "server/response.h"

#define UPLOADS_ADDRESS "/api/afterglow/v1/uploads"
#define UPLOAD_ID_BYTES 33
#define UPLOAD_NAME_BYTES 201
#define UPLOADS_AT_ONCE 8      /* each holds a connection for as long as its log needs */
#define UPLOADS_OF_ONE 4       /* of those from one sender, so that others find a place: a user where one is named, else an address */
#define UPLOAD_MOST_FILES 4096 /* of one rolling log: half a terabyte at Spark's 128 MiB a file */

/* All borrowed. */
struct upload_settings {
    const char *dir; /* NULL: nobody may add a log */
    int64_t most_bytes, most_total_bytes, most_per_minute;
    const char *const *users; /* who may, beside those who see every run; "*": everybody */
    size_t user_count;
};

struct uploads;

/* Makes the directory where it is missing, and removes what a server before left unfinished. *ret NULL and ERR_OK: they are off. */
enum err_code uploads_new(struct uploads **ret, const struct upload_settings *settings, struct err *err) WARN_UNUSED;
void uploads_free(struct uploads *self);                                   /* NULL is fine */
const char *uploads_dir(const struct uploads *self);                       /* real path, static in self */
int64_t uploads_most_bytes(const struct uploads *self);                    /* of one */
bool uploads_may(const struct uploads *self, const struct viewer *viewer); /* self may be NULL: nobody */

/* What the head of the request says besides its address. STR_NONE: absent. */
struct upload_head {
    struct str marker;      /* X-Afterglow-Upload */
    unsigned char peer[16]; /* address of the connection, as for access_identify */
    int64_t bytes;          /* Content-Length; UNKNOWN: in chunks */
};

struct upload;

/* The head is there. False: the answer is made, nothing is to be written. Parameters: upload (the id), name, folder, last (default: true where there is no folder). */
bool upload_begin(struct uploads *self, const struct request *request, const struct upload_head *head, struct upload **ret, struct response *response);

/* A piece of the body. What goes wrong is kept for the end: there is no answer in the middle of a body. False: so much more came than may, that it is not waited for. */
bool upload_write(struct upload *self, const void *bytes, size_t len);

/* So much more came that a scan should look at it: not more often than every two seconds, and never of what scans do not look into. */
bool upload_has_news(struct upload *self);

/* The body is there: the answer is made. *ret_changed: a scan will find something new. Frees. */
void upload_finish(struct upload *self, struct response *response, bool *ret_changed);

/* The connection broke: what came is removed. Frees. True: a scan may have seen it. */
bool upload_abort(struct upload *self);

/* What became of the upload that a log belongs to. UPLOAD_NONE: the log was not added here. */
enum upload_state { UPLOAD_NONE, UPLOAD_ARRIVING, UPLOAD_WHOLE, UPLOAD_GONE };
extern const char *const upload_state_names[];                                  /* UPLOAD_NONE: NULL */
enum upload_state upload_state_of(const struct uploads *self, struct str path); /* self may be NULL; path: of a log, or of the directory DIR/ID */

/* The last part of a name or path, of letters, digits, '.', '_' and '-', others as '_', not beginning with '.'; what is too long loses its begin. "log" where nothing is left. */
void upload_name(struct str text, char out[UPLOAD_NAME_BYTES]);
bool upload_id(struct str text, char out[UPLOAD_ID_BYTES]); /* false: no id */

#endif
