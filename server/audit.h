/* SPDX-License-Identifier: Apache-2.0
 *
 * Who opened what: a line of JSON for every page, answer and download, allowed or not, added to a file (afterglow.audit.file). Not for files of the front end and not for health checks.
 *
 *     {"time":"2026-11-29T20:56:36.123Z","request":"5f1c09aa-2a","peer":"10.0.0.7","via":"127.0.0.1","user":"alice","kind":"page","run":"app-1","method":"GET","address":"/a/app-1/stages/3.0","status":200,
 *      "allowed":true}
 *
 * kind: page, answer (of an API), download (event logs, lists as CSV, reports), change. run: as the address names it, `other` the second one of a comparison. user null: nobody is named; `as`: whom that user speaks for (doAs); `claimed`: the name
 * that somebody gave whose password was wrong. via: the proxy that the request came through. allowed: false with 401, 403 and 429. What is long is cut: addresses at 1024 bytes, names at 256.
 *
 * Each line is one write to the end of the file, so that several processes may share it; the file is opened anew where its name leads to another one (logrotate), and on audit_reopen. A line that cannot be
 * written is lost and counted, and that is told by audit_refresh: nobody is kept out because a disk is full, or waits for whoever reads a pipe. The line after one that was written in part stands by itself.
 * Threads: safe. */
#ifndef SERVER_AUDIT_H
#define SERVER_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "server/request.h"

struct audit;

/* Makes the file where it is missing, readable by its owner and group. A pipe that nobody reads is an error. */
enum err_code audit_new(struct audit **ret, const char *path, struct err *err) WARN_UNUSED;
void audit_free(struct audit *self); /* NULL is fine */

/* Once every few seconds. ERR_IO: lines were lost since the last time, or the file cannot be opened anew (the old one is written on). */
enum err_code audit_refresh(struct audit *self, struct err *err) WARN_UNUSED;
void audit_reopen(struct audit *self); /* with the next audit_refresh */

/* Texts borrowed; STR_NONE where there is none. */
struct audit_record {
    const struct request *request; /* path, parameters, viewer, method, address */
    const char *id;
    struct str peer, via, claimed;
    int status;
};

/* Nothing where self is NULL, or where the request is none of those above. */
void audit_write(struct audit *self, const struct audit_record *record);

/* The line, with its end. False: nothing to be written. */
bool audit_line(const struct audit_record *record, int64_t now_ms, struct buf *out);

#endif
