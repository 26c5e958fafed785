/* SPDX-License-Identifier: Apache-2.0
 *
 * Event logs as a zip archive, made while it is sent: the body of …/logs (spec/files.md §1.10). A file becomes one entry named like it; a directory becomes an entry for itself
 * and one for each visible regular file in it, the last name first, which for a rolling log is the newest part. Bytes are those of the log as stored: plain
 * text is deflated, what is compressed already is not compressed again (zip_writer.h). Memory is constant: some 500 kB, the names of one directory, and the archive's own.
 *
 * What is read may change meanwhile. An entry ends where its file ended when it was opened, or earlier where the file has become shorter; a file of a directory that has gone
 * is left out; lengths and checksums stand behind each entry, so the archive is whole in all cases. Only regular files are read, and no symbolic link is followed: not for a log
 * either, so that nobody who may write to a log folder can have a file from elsewhere.
 *
 * Logs in HDFS and S3 are read with what patience a thread has for which others wait (place_be_brief): when their place does not answer the archive breaks off.
 *
 * log_zip_read and log_zip_free fit response_stream. One thread. */
#ifndef SERVER_LOG_ZIP_H
#define SERVER_LOG_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define LOG_ZIP_MAX_LOGS 4096        /* attempts of one application: YARN gives up long before */
#define LOG_ZIP_MAX_FILES 100000     /* of one directory: as many parts as a rolling log of some TB has */

struct log_zip;

enum err_code log_zip_new(struct log_zip **ret, struct err *err) WARN_UNUSED;

/* One more log at the end; the path is copied. ERR_NOT_FOUND: neither a file nor a directory is there. ERR_LIMIT: too many.
 * ERR_AWAY and others: its place does not tell. */
enum err_code log_zip_add(struct log_zip *self, struct str path, struct err *err) WARN_UNUSED;

size_t log_zip_count(const struct log_zip *self);

/* The next bytes of the archive; 0 at its end, -1 when it cannot be finished. */
int64_t log_zip_read(void *log_zip, char *out, size_t room);
void log_zip_free(void *log_zip);                            /* NULL is fine */

#endif
