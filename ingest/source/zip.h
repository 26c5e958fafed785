/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a zip archive member by member, as a stream, never writing anything. libarchive lives here. Member names are text from outside: they are shown and compared, never used as
 * paths. Archives whose end is missing (a download that broke off) are read as far as they go. One thread. */
#ifndef SOURCE_ZIP_H
#define SOURCE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct zip;

struct zip_member {
    const char *name;        /* borrowed until the next call */
    int64_t bytes;           /* decompressed; UNKNOWN when the archive does not say */
    int64_t modified_ms;     /* UNKNOWN likewise */
    bool directory;
    bool encrypted;
};

enum err_code zip_open(struct zip **ret, const char *path, struct err *err) WARN_UNUSED;

/* The next member. ERR_EOF: no more. ERR_TRUNCATED, ERR_CORRUPT: the archive breaks off or is damaged here. */
enum err_code zip_next(struct zip *self, struct zip_member *ret, struct err *err) WARN_UNUSED;

/* Goes to the member of that name: forward from here, then from the start. ERR_NOT_FOUND: there is none. */
enum err_code zip_find(struct zip *self, const char *member, struct err *err) WARN_UNUSED;

/* Text of the present member. ERR_EOF at its end; ERR_TRUNCATED, ERR_CORRUPT, ERR_UNSUPPORTED (encrypted, unknown method). */
enum err_code zip_read(struct zip *self, void *into, size_t room, size_t *ret_len, struct err *err) WARN_UNUSED;

const char *zip_path(const struct zip *self);
void zip_close(struct zip *self);

#endif
