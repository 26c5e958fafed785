/* SPDX-License-Identifier: Apache-2.0
 *
 * A log as it lies in a directory: which files, in which order, in which layout (spec/files.md §1), and what is odd about it. Looks at names, sizes and the
 * first bytes only (a compressed file is decoded as far as its first 64 KiB of text). Trust bytes over names: the codec is found by magic when a file is opened.
 * A struct log_entry owns all its strings; free with log_entry_dispose. One thread. */
#ifndef SOURCE_LOG_ENTRY_H
#define SOURCE_LOG_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct place_view;

enum log_layout {                /* as in schema.sql, log.layout */
    LAYOUT_FILE,                 /* <id>[_<attempt>][.<codec>][.inprogress] */
    LAYOUT_ROLLING,              /* eventlog_v2_<id>[_<attempt>]/events_N_… */
    LAYOUT_LEGACY,               /* Spark 1.0-1.2: <dir>/EVENT_LOG_1, SPARK_VERSION_…, COMPRESSION_CODEC_…, APPLICATION_COMPLETE */
    LAYOUT_DATABRICKS,           /* <dir>/eventlog-YYYY-MM-DD--HH-MM.gz … eventlog */
    LAYOUT_ZIP,                  /* an archive of the /logs route; one entry per log inside it */
};

struct log_file {
    char *path;                  /* to open: a file, or the archive; an address as place.h spells it */
    char *name;                  /* to show: last component, or the member's name */
    char *member;                /* zip only: name inside the archive */
    int64_t roll_index;          /* N of events_N_…; UNKNOWN otherwise */
    bool compact;
    int64_t bytes;               /* stored; in a zip the member's decompressed size, UNKNOWN when the archive does not say */
    int64_t modified_ms;
    uint64_t device, inode;
};

/* Remarks, a bit set */
enum {
    ENTRY_NO_APPSTATUS = 1 << 0,         /* rolling: the marker is missing */
    ENTRY_BOTH_APPSTATUS = 1 << 1,       /* rolling: finished and .inprogress marker; the finished one wins */
    ENTRY_COMPACTED = 1 << 2,            /* rolling: begins with a .compact file */
    ENTRY_GAP = 1 << 3,                  /* rolling: `missing` is not empty */
    ENTRY_SUPERSEDES_INPROGRESS = 1 << 4 /* file: a shorter <name>.inprogress lies beside it and belongs to the same run */
};

#define LOG_ENTRY_MAX_FILES 100000       /* a rolling log of 50 GB in 2 MiB files has 25,000 */
#define LOG_FINGERPRINT_BYTES 64

struct log_entry {
    enum log_layout layout;
    char *path;                  /* an address (place.h): a URI, or absolute, no symlinks resolved away from the user's spelling except a leading relative part; zip: "<archive>//<log>" */
    char *dir;                   /* URI or absolute real path of the directory it lies in (zip: of the archive): the "place" in a run's key */
    char *id_from_name;          /* application id guessed from the name, without codec and .inprogress; for logs without ApplicationStart */
    bool finished_name;          /* name or marker says ended */
    struct log_file *files;      /* reading order */
    size_t file_count;
    int64_t *missing;            /* rolling: absent indices between the first there (or 1) and the last, at most 1000 listed */
    size_t missing_count;
    int64_t bytes;               /* of all files */
    int64_t modified_ms;         /* newest file */
    unsigned remarks;
    int64_t stamp;               /* of a single file: equal stamp, equal fingerprint, found without making an entry (log_scan.pass_over); 0: none */
    char fingerprint[LOG_FINGERPRINT_BYTES];   /* equal fingerprint: nothing changed (path, inode, size, mtime of every file, markers) */
};

/* What a scan says of something that is no log. */
enum reject_kind { REJECT_NOT_A_LOG, REJECT_EMPTY, REJECT_UNREADABLE };
struct log_reject {
    const char *path;            /* borrowed for the call */
    enum reject_kind kind;
    const char *reason;          /* one line */
    const char *fingerprint;     /* of a file whose bytes say that it is no log, for is_known, and its reason is static then; else NULL */
    int64_t bytes, modified_ms;
};

/* Called for each log and each reject; a code other than ERR_OK ends the scan and is returned. on_entry takes ownership of *entry (dispose it). */
struct log_scan {
    void *context;
    enum err_code (*on_entry)(void *context, struct log_entry *entry);
    enum err_code (*on_reject)(void *context, const struct log_reject *reject);
    /* May be NULL. True: a file of this path and fingerprint was looked at before, so its first bytes need no look (a scan of 100,000 known logs then opens none of them). *ret_reason:
     * NULL where it was a log, else why it is none, as log_reject told it. */
    bool (*is_known)(void *context, const char *path, const char *fingerprint, const char **ret_reason);
    /* May be NULL. *ret_passed: a scan before told the log of this stamp, and that it is still there is all there is to say: no entry is made of it. */
    enum err_code (*pass_over)(void *context, int64_t stamp, bool *ret_passed);
    struct place_view *view;         /* borrowed: what earlier scans of this place remember; may be NULL */
    /* May be NULL. When, before the scan looked into it, the directory that it began with was changed last; left alone where it is none, or (S3) nobody knows. */
    int64_t *ret_modified_ms;
};

/* Looks at `path`: a log (file, rolling directory, legacy directory, Databricks directory, zip) or a directory of logs, which is walked recursively
 * (at most LOG_SCAN_MAX_DEPTH deep, hidden names skipped, links to directories not followed and named as rejects, each file seen once). The order is by name (zip: of the archive).
 * Not regular files (pipes, sockets, devices) are rejects and never opened. A file counts as a candidate by a look at its first bytes: a codec's magic (then by what
 * is inside), or a JSON object that begins with "Event" or has it near its start; else REJECT_NOT_A_LOG. A compressed file whose first text is not there yet (cut, just begun) is
 * taken when its name is a log's. Where <x> and <x>.inprogress both exist: one entry, the finished. Of a zip archive only the whole is rejected, not each foreign member.
 * `path` itself missing, a directory that cannot be read, a place that is away (ERR_AWAY): an error. In remote places a file whose name is a log's is taken without a look,
 * and a zip archive is read only where `path` names it: each scan would fetch it. */
#define LOG_SCAN_MAX_DEPTH 16
enum err_code log_scan(const char *path, const struct log_scan *scan, struct err *err) WARN_UNUSED;

/* The same look at one known log, after it changed; `path` as in log_entry.path. A .inprogress that was renamed, or has its finished file beside it: ERR_OK, and *ret has the
 * new name. ERR_NOT_FOUND: gone. ERR_INVALID, ERR_PERMISSION: it is there, and no log any more (the reject's reason). ERR_AWAY, ERR_CANCELLED: it cannot be told now.
 * *ret is empty then. */
enum err_code log_entry_probe(const char *path, struct log_entry *ret, struct err *err) WARN_UNUSED;

void log_entry_dispose(struct log_entry *self);
const char *log_layout_name(enum log_layout layout);

#endif
