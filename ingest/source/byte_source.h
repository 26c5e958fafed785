/* SPDX-License-Identifier: Apache-2.0
 *
 * The stored bytes of one file of a log: a file of this machine or of a remote place (place.h), or a member of a zip archive. Where bytes come from is known here and nowhere above.
 * A file may grow: ERR_EOF is the present end, and reading again later gives what was added; a remote file shows that when
 * it is opened anew. ERR_AWAY: its place does not answer, now or any more. One thread. */
#ifndef SOURCE_BYTE_SOURCE_H
#define SOURCE_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct byte_source;

/* Opens for reading without ever waiting: a pipe, a device, a directory is ERR_INVALID. *ret_fd is the caller's. */
enum err_code byte_source_open_regular(const char *path, int *ret_fd, struct err *err) WARN_UNUSED;

/* *self is NULL or an earlier source, which is closed or used further (an open archive goes on from where it is). On failure *self may be either; close it in the end. `member`
 * NULL: a file. */
enum err_code byte_source_open(struct byte_source **self, const char *path, const char *member, struct err *err) WARN_UNUSED;

/* At most `room` bytes. ERR_OK: *ret_len > 0. ERR_EOF: the present end. Other codes: nothing more can be read. */
enum err_code byte_source_read(struct byte_source *self, void *into, size_t room, size_t *ret_len, struct err *err) WARN_UNUSED;

/* Files: the next byte to read. Members: ERR_UNSUPPORTED unless it is 0. */
enum err_code byte_source_seek(struct byte_source *self, int64_t offset, struct err *err) WARN_UNUSED;

/* Files: size, device and inode now. Members: UNKNOWN and 0. */
enum err_code byte_source_stat(struct byte_source *self, int64_t *ret_bytes, uint64_t *ret_device, uint64_t *ret_inode, struct err *err) WARN_UNUSED;

void byte_source_close(struct byte_source *self);   /* NULL is fine */

#endif
