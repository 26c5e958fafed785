/* SPDX-License-Identifier: Apache-2.0
 *
 * Plan texts out of table plan_text, for both interfaces: one reader for one answer, which keeps the memory of the longest text so far (at most twice PACKED_TEXT_MAX_BYTES).
 * Zero-initialised is a valid reader. Owner disposes. One thread. */
#ifndef SERVER_PLAN_TEXT_H
#define SERVER_PLAN_TEXT_H

#include "base/buf.h"
#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

struct plan_text {
    sqlite3_stmt *row;               /* owned */
    struct buf text, base;
};

/* *ret is borrowed until the next call; STR_NONE when `plan_text_id` is UNKNOWN. ERR_CORRUPT: what the table holds cannot be unpacked. */
enum err_code plan_text_read(struct plan_text *self, struct db *db, int64_t plan_text_id, struct str *ret, struct err *err) WARN_UNUSED;
void plan_text_dispose(struct plan_text *self);

#endif
