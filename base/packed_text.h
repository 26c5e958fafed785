/* SPDX-License-Identifier: Apache-2.0
 *
 * Long texts as zstd frames: the blobs of table plan_text. A text may be packed with another one as its base: what both hold costs nearly nothing then, wherever in them it stands.
 * The same base must be there to unpack it. Memory while packing: some times the two texts, given back at once. Threads: safe. */
#ifndef BASE_PACKED_TEXT_H
#define BASE_PACKED_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define PACKED_TEXT_MAX_BYTES ((size_t)64 << 20)     /* a text is never longer than a line of a log */

/* Appends the frame to `out`. `base` STR_NONE: none; it must not share memory with the text (zstd would leave it out). */
enum err_code packed_text_pack(struct str text, struct str base, struct buf *out, struct err *err) WARN_UNUSED;

/* Fills `ret` with exactly `text_bytes` bytes; ERR_CORRUPT when the frame holds more or less. */
enum err_code packed_text_unpack(struct str packed, struct str base, char *ret, size_t text_bytes, struct err *err) WARN_UNUSED;

#endif
