/* SPDX-License-Identifier: Apache-2.0
 *
 * A log's text as blocks of whole lines: stored bytes, decoded by each file's own codec, over all files of the log in order. Damage is named, not fatal: after a
 * bad frame the reader looks for the next place where reading can go on (next frame or block magic), else for the next file.
 *
 *   struct line_reader *r = NULL;
 *   line_reader_open(&r, &entry, &err);
 *   while ((rc = line_reader_next(r, &block, &err)) == ERR_OK) { … lines of block …; line_block_free(block); }
 *
 * A block holds whole lines, each ended by LF except perhaps the last line of a file, and lines of one file only. A line that is broken by damage in the middle of a file is
 * ended with a LF of our own: its beginning is one bad line, what is found after the gap begins a block and another line. A UTF-8 byte order mark at the start of a file is
 * dropped; CR before LF stays (JSON white space). Where lines are shorter than LINE_MEAN_MIN_BYTES a block holds less text than usual. A line longer than LINE_MAX_BYTES is dropped whole, in constant memory, and reported as a problem. One thread uses a reader;
 * a block may be handed to another. Memory: a block, the decoder's window (zstd at most 128 MiB window, only as large as the frame asks), and up to LINE_MAX_BYTES for a long
 * line.
 *
 * Growing logs: after ERR_EOF the same reader can be asked again with line_reader_resume; it goes on with new bytes and new files (an unterminated last line is then
 * delivered again from its start, as a whole, once there is more of it). Between the two it holds no file open. */
#ifndef SOURCE_LINE_READER_H
#define SOURCE_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ingest/source/log_entry.h"

#define LINE_BLOCK_BYTES ((size_t)1 << 20)       /* a block's usual text: some 300 task ends; fits the second-level cache of most machines */
#define LINE_MAX_BYTES ((size_t)64 << 20)        /* production plans of 20 MB and more exist (SPARK-49872); 64 MiB keeps a load within its memory budget */
#define LINE_MEAN_MIN_BYTES ((size_t)32)         /* of the lines of a full block: bounds the list of their ends to an eighth of the text; Spark's shortest event has 51 bytes */
#define LINE_PADDING 64                          /* readable zero bytes after a block's text, for vector loads */

struct line_block {
    char *text;                  /* owned by the block; text[len … len + LINE_PADDING) are zero; no alignment promised */
    size_t len;
    int32_t file_no;             /* from 1, index into the entry's files + 1 */
    int64_t first_line;          /* line number of its first line in that file, from 1 */
    int64_t text_offset;         /* decompressed offset of text[0] in that file */
    bool unterminated;           /* the last line has no LF: the file ends there (whole or cut, the decoder of events will tell) */
    const uint32_t *line_feeds;  /* owned by the block; text[line_feeds[i]] is the i-th LF of the text: whoever reads the lines need not look for their ends again */
    size_t line_feed_count;
};

enum source_problem_kind {
    PROBLEM_FRAME,               /* text is missing here */
    PROBLEM_LINE_TOO_LONG,       /* a line was left out */
    PROBLEM_FILE,                /* cannot be opened, or not read to its end, or holds no text at all (noise, still handed out as lines) */
    PROBLEM_TRAILING,            /* zero bytes behind the last frame; nothing is missing */
};
struct source_problem {          /* line, text_offset: where in the text it was met, as in a block; stored_offset: of the bytes that cannot be used */
    enum source_problem_kind kind;
    int32_t file_no;
    int64_t line, text_offset, stored_offset;
    char reason[160];
};

/* How the reading of a file ended. */
struct file_state {
    const char *codec;           /* static: none zstd lz4 snappy lzf gzip */
    bool name_disagrees;         /* the name says another codec */
    bool done;                   /* read to its present end */
    bool cut;                    /* ended inside a frame, block or chunk */
    int64_t stored_bytes, text_bytes, line_count;   /* so far; lines with an unterminated last one and those left out */
    bool failed;                 /* not opened, a read error, or no way on after damage: there is, or may be, text that was not read; see problems */
};

struct line_reader;

enum err_code line_reader_open(struct line_reader **ret, const struct log_entry *entry, struct err *err) WARN_UNUSED;   /* keeps a copy of what it needs */
enum err_code line_reader_next(struct line_reader *self, struct line_block **ret, struct err *err) WARN_UNUSED;         /* ERR_EOF at the end of the log; ERR_AWAY, ERR_CANCELLED: as byte_source_read, and nothing is known of the log */
enum err_code line_reader_resume(struct line_reader *self, const struct log_entry *entry, struct err *err) WARN_UNUSED; /* ERR_UNSUPPORTED: shrank or replaced, read anew */
void line_block_free(struct line_block *block);

/* Problems since the last call, oldest first; returns how many were written (at most max). All are counted even when not kept. */
size_t line_reader_take_problems(struct line_reader *self, struct source_problem *ret, size_t max);
int64_t line_reader_problem_count(const struct line_reader *self);
const struct file_state *line_reader_file(const struct line_reader *self, size_t index);   /* borrowed; valid until close */
int64_t line_reader_stored_position(const struct line_reader *self);                       /* stored bytes read so far; safe to call from another thread */
void line_reader_close(struct line_reader *self);

/* The text of the end of a log, at least `want_bytes` of it where the log has as much, from a line's start: for list rows without a load. Plain files are read from near
 * their end; zstd, lz4, snappy and lzf from a frame, block or chunk near the end, gzip, lz4 frames and zip members from their start. At most TAIL_DECODE_MAX stored bytes
 * of compressed files are decoded: less text than wanted may come back then, or ERR_UNSUPPORTED when there is none. Damage is passed over. Text is owned by the caller
 * (mem_free), padded as a block. */
#define TAIL_DECODE_MAX ((int64_t)8 << 20)
enum err_code line_reader_tail(const struct log_entry *entry, size_t want_bytes, char **ret_text, size_t *ret_len, struct err *err) WARN_UNUSED;

#endif
