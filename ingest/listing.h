/* SPDX-License-Identifier: Apache-2.0
 *
 * The list row of a log before it is loaded: from its first events and its last ones, within milliseconds (design.md §5, spec/files.md §3). */
#ifndef INGEST_LISTING_H
#define INGEST_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "ingest/source/log_entry.h"

#define LISTING_HEAD_MAX_BYTES ((int64_t)64 << 20)   /* decompressed; ApplicationStart follows the environment, which is < 1 MB in all known logs */
#define LISTING_TAIL_BYTES ((size_t)1 << 20)         /* as the History Server's endEventReparseChunkSize */

#define LISTING_ACCESS_BYTES 4096        /* of an access list: some hundred users; what does not fit is not allowed in */

struct listing {
    bool readable;                   /* at least one event was found at the head */
    bool has_start, has_end;
    char app_id[512];                /* from ApplicationStart, else spark.app.id, else the name of the log */
    bool has_attempt_id;
    char attempt_id[128], name[512], user[256], spark_version[64], queue[256];
    char view_users[LISTING_ACCESS_BYTES], view_groups[LISTING_ACCESS_BYTES];    /* as in table app; empty: nobody is named */
    bool vendor_version;             /* spark_version is from a vendor's first record */
    bool start_inferred;             /* there is a start without a time; start_ms is the first time seen */
    int64_t start_ms, end_ms, exit_code;        /* UNKNOWN where not found; start falls back to the first time seen */
    char reason[160];                /* not readable: why */
};

/* Two comma-separated lists as one. Items that do not fit are left out whole: half a name is another's. `out` has LISTING_ACCESS_BYTES. Returns out. */
char *listing_join_lists(struct str first, struct str second, char *out);

enum err_code listing_read(const struct log_entry *entry, struct listing *ret, struct err *err) WARN_UNUSED;

/* The file name of a run below apps/ without .db: readable id and attempt (characters outside [A-Za-z0-9_.-] become _, at most 100), "-", 8 hex digits
 * of XXH3 over id, attempt and the directory the log lies in; `added`: behind DB_ADDED_MARK. A renamed .inprogress log keeps its key. `out` has LISTING_KEY_BYTES. */
#define LISTING_KEY_BYTES 128
char *listing_app_key(const char *app_id, const char *attempt_id_or_null, const char *dir, bool added, char *out);

#endif
