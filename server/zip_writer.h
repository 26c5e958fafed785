/* SPDX-License-Identifier: Apache-2.0
 *
 * A zip archive as a stream, in the form that Java's ZipOutputStream gives it: every entry is deflated, its lengths and checksum stand behind it, in 32 bits unless they need more.
 * Java's ZipInputStream, which reads from the front, takes no other: an entry without its length must be deflated to have an end. Content that is compressed already goes into
 * deflate's stored blocks: five bytes for each 64 kB, and hardly more work than copying. Names may be any bytes; those that are UTF-8 are marked as such.
 *
 * Bytes are appended to the caller's buffer, which may be emptied between two calls. Memory: 270 kB of deflate and some 100 bytes and the name of each entry, for the directory
 * at the end. What failed (no memory) stays failed: zip_writer_failed after a call says so. One thread. */
#ifndef SERVER_ZIP_WRITER_H
#define SERVER_ZIP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct zip_writer;

enum err_code zip_writer_new(struct zip_writer **ret, struct buf *out, struct err *err) WARN_UNUSED;      /* out is borrowed */

/* Begins an entry; a name that ends with / is a directory's. `compressed`: its content is. The previous entry has ended. */
void zip_writer_begin(struct zip_writer *self, struct str name, int64_t modified_s, bool compressed);
void zip_writer_write(struct zip_writer *self, const void *bytes, size_t len);
void zip_writer_end(struct zip_writer *self);

/* The directory. Nothing follows. */
void zip_writer_finish(struct zip_writer *self);

bool zip_writer_failed(const struct zip_writer *self);
void zip_writer_free(struct zip_writer *self);       /* NULL is fine; at any time */

#endif
