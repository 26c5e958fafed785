/* SPDX-License-Identifier: Apache-2.0
 *
 * Where logs lie: directories of this machine, HDFS through WebHDFS, S3. An address is an absolute path ("/var/spark/app-1") or a URI ("hdfs://prod/spark-logs/app-1",
 * "s3a://bucket/logs/app-1"); its text after the authority is the file's name as it is, without percent encoding, as Hadoop writes paths. One table of functions a kind of place
 * (struct place_driver, place_driver.h); who reads logs asks here and knows no kind.
 *
 * Whatever a server says is hostile: answers are bounded, names are checked (place_list), redirects are followed only where a driver expects one. Addresses in messages are
 * those that were configured; what the driver adds to them (users, tokens, signatures) is never told.
 *
 * A place that is away keeps nobody waiting twice: after an ERR_AWAY all questions to the same servers fail at once with the same words, until a scan (place_probe) finds them again, or
 * for PLACE_AWAY_MS.
 *
 * Errors: ERR_NOT_FOUND it is not there; ERR_PERMISSION; ERR_AWAY the place does not answer, or not yet (tried for as long as PLACE_PATIENCE_MS says); ERR_CANCELLED place_stop
 * was called; ERR_INVALID the address makes no sense; ERR_LIMIT; ERR_IO. Threads: safe; a struct belongs to one thread at a time. */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PLACE_NAME_MAX 1024                    /* bytes of one name: S3's limit for a whole key; HDFS and local file systems end at 255 */
#define PLACE_CHILDREN_MAX ((size_t)100 << 20) /* names in one directory; some 10 GB of memory, beyond what file systems are used for */
#define PLACE_AWAY_MS 60000
#define PLACE_PATIENCE_MS 15000 /* how long one question is asked again while servers are away, in standby or in safe mode */

enum child_kind { CHILD_FILE, CHILD_DIRECTORY, CHILD_LINKED_DIRECTORY, CHILD_BAD_LINK, CHILD_BAD_NAME, CHILD_SPECIAL, CHILD_UNREADABLE };

struct place_child {
    char *name;   /* owned; last component */
    char *member; /* owned; zip: the whole name in the archive */
    enum child_kind kind;
    int error; /* errno of BAD_LINK and UNREADABLE */
    int64_t bytes, modified_ms;
    uint64_t device, inode; /* which file it is, whatever it is called: HDFS's fileId; S3: from key and ETag, so that another content is another file */
    bool is_log;            /* for a scan: an entry was made of it */
};

struct place_children {
    struct place_child *items; /* owned */
    size_t count, capacity;
};

/* Takes over the strings of `child` (also on failure). */
enum err_code place_children_add(struct place_children *self, const struct place_child *child, struct err *err) WARN_UNUSED;
void place_children_sort(struct place_children *self);                                        /* by name */
struct place_child *place_children_find(const struct place_children *self, const char *name); /* of sorted ones; NULL: none */
void place_children_dispose(struct place_children *self);

/* ---- addresses */

bool place_is_remote(const char *address);

/* An argument or setting as an address: "file:/x", "file:///x" and "/x" are local, a relative path follows the working directory; "..", which means something else after a link, is
 * resolved by the file system; without "//", "/./" and a slash at the end. ERR_UNSUPPORTED: another scheme. ERR_INVALID: credentials in the address, no bucket and the like.
 * *ret: owned (mem_free). */
enum err_code place_address(const char *text, char **ret, struct err *err) WARN_UNUSED;

/* An address that was refused, for a message: itself, or other words where it holds a user or a secret. */
const char *place_shown(const char *text);

/* The directory it lies in (owned; NULL: out of memory) and its name (borrowed; empty: a root). */
char *place_parent(const char *address, const char **ret_name) WARN_UNUSED;
char *place_join(const char *dir, const char *name) WARN_UNUSED; /* "<dir>/<name>", owned; NULL: out of memory */

/* Where "//" parts an archive from what lies in it, in a log's path; NULL: it names no archive. */
const char *place_member(const char *path);

/* ---- looking */

/* What is at the address. Links are followed. The name is owned by *ret: place_child_dispose. */
enum err_code place_stat(const char *address, struct place_child *ret, struct err *err) WARN_UNUSED;
/* The same, asked even while the place is away (below), which is over when there is an answer. For the scan of a place. */
enum err_code place_probe(const char *address, struct place_child *ret, struct err *err) WARN_UNUSED;
void place_child_dispose(struct place_child *self);

/* What scans of one place remember from one to the next, so that what did not change is not asked for again. NULL with ERR_OK: this kind of place remembers nothing. */
struct place_view;
enum err_code place_view_new(const char *root, struct place_view **ret, struct err *err) WARN_UNUSED;
enum err_code place_view_begin(struct place_view *self, struct err *err) WARN_UNUSED; /* before each scan; NULL is fine */
void place_view_free(struct place_view *self);                                        /* NULL is fine */

/* The visible names (not beginning with a dot) of a directory with what they are, sorted. What a server calls by a name that cannot be one (empty, ".", "..", with a slash or a control
 * character, too long) is CHILD_BAD_NAME, cut and with '?' for what does not print. `view` may be
 * NULL, and so may `status`, what is known of the directory itself. */
enum err_code place_list(struct place_view *view, const char *dir, const struct place_child *status, struct place_children *ret, struct err *err) WARN_UNUSED;

/* The same of a remote directory with its hidden names: for who deletes what is in it. ERR_UNSUPPORTED: it is one of this machine. */
enum err_code place_list_all(const char *dir, struct place_children *ret, struct err *err) WARN_UNUSED;

/* Deletes a file (CHILD_FILE) or a directory in which nothing is (CHILD_DIRECTORY) of a remote place, and never more; the directory around it stays, also in S3, where it would go with its
 * last key. ERR_NOT_FOUND: it is not there, which S3 does not say of a file. ERR_BUSY: something is in the directory. ERR_AWAY: no answer came, and it may be gone all the same.
 * ERR_UNSUPPORTED: a directory of this machine, where ingest/source/log_remove.h deletes logs itself, looking closely. */
enum err_code place_remove(const char *address, enum child_kind kind, struct err *err) WARN_UNUSED;

/* ---- reading a remote file (local ones are read by who needs them: a file descriptor cannot be bettered) */

struct place_file;
enum err_code place_file_open(struct place_file **ret, const char *address, struct err *err) WARN_UNUSED; /* asks nobody yet */

/* Bytes from `offset` on, at most `room`. ERR_OK: *ret_len > 0. ERR_EOF: the end as it is now; a file may grow, and opened anew it shows more. One that is replaced while it is read
 * is ERR_IO. Reading on is one answer after another, each longer (up to PLACE_ASK_MAX_BYTES), with at most FETCH_AHEAD_BYTES of it in memory; a connection that breaks is begun again. */
#define PLACE_ASK_FIRST_BYTES ((int64_t)64 << 10)
#define PLACE_ASK_MAX_BYTES ((int64_t)64 << 20)
enum err_code place_file_read(struct place_file *self, int64_t offset, void *into, size_t room, size_t *ret_len, struct err *err) WARN_UNUSED;
enum err_code place_file_stat(struct place_file *self, struct place_child *ret, struct err *err) WARN_UNUSED; /* asked once; strings are the file's */
void place_file_close(struct place_file *self);                                                               /* NULL is fine */

/* For a thread that others wait for: from now on it gives up at the first answer that does not come within PLACE_BRIEF_MS. */
#define PLACE_BRIEF_MS 2000
void place_be_brief(void);

/* From any thread: all that waits for a server gives up at once with ERR_CANCELLED, and does so until place_go_on. For the end of a program. */
void place_stop(void);
void place_go_on(void);

#endif
