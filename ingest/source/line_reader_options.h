/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader with other sizes than the usual, and started in the middle of a file: for line_reader_tail and for tests. Not for other floors. */
#ifndef SOURCE_LINE_READER_OPTIONS_H
#define SOURCE_LINE_READER_OPTIONS_H

#include "ingest/source/line_reader.h"

struct codec;

struct line_reader_options {
    size_t read_bytes;               /* stored bytes asked for at a time */
    size_t block_bytes;
    size_t line_max_bytes;           /* ≥ block_bytes */
    int64_t start_offset;            /* first stored byte of the first file; 0 unless it is a plain file of the file system and `codec` is given */
    const struct codec *codec;       /* NULL: by content */
};

#define LINE_READER_READ_BYTES ((size_t)256 << 10)   /* a few frames ahead; stays in the second-level cache beside the block that is filled */

extern const struct line_reader_options line_reader_defaults;

enum err_code line_reader_open_with(struct line_reader **ret, const struct log_entry *entry, const struct line_reader_options *options, struct err *err) WARN_UNUSED;

#endif
