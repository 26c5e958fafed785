/* SPDX-License-Identifier: Apache-2.0
 *
 * A packed column of 64-bit integers with unknowns: the blobs of table task_column. Small (a constant column is 16 bytes), fast to decode, no
 * compression library. Layout, little endian:
 *
 *   byte 0      version, 1
 *   byte 1      width of a value in bytes, 0 … 8; 0: every known value equals `base`
 *   byte 2      1: a bitmap of known values follows the head (bit i % 8 of byte i / 8, ceil(count / 8) bytes); 0: all are known
 *   byte 3      0
 *   bytes 4-7   count
 *   bytes 8-15  base: the smallest known value
 *   then        bitmap if any, then count × width bytes: value − base, unsigned; 0 where unknown
 *
 * Decoding checks every length: a damaged blob is ERR_CORRUPT, never a wild read. */
#ifndef BASE_INT_COLUMN_H
#define BASE_INT_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the blob to `out`. `count` up to 2^32 - 1. Returns false, with nothing appended, when every value is UNKNOWN. Look at buf_failed. */
bool int_column_pack(const int64_t *values, size_t count, struct buf *out);

/* Number of values in the blob, without unpacking. */
enum err_code int_column_count(struct str blob, size_t *ret_count, struct err *err) WARN_UNUSED;

/* The smallest known value of the blob, likewise. */
enum err_code int_column_least(struct str blob, int64_t *ret, struct err *err) WARN_UNUSED;

/* Writes exactly the blob's count of values to `ret` (room for `room`; ERR_CORRUPT when it holds more). */
enum err_code int_column_unpack(struct str blob, int64_t *ret, size_t room, struct err *err) WARN_UNUSED;

/* Spark's choice of a quantile: element trunc(q * count) of the ascending values, at most the last (AppStatusStore.taskSummary). count > 0, 0 ≤ q ≤ 1. */
size_t quantile_index(double q, size_t count);

/* Rearranges `values` so that values[nth] is what it would be if sorted, smaller ones before it. */
void select_nth(int64_t *values, size_t count, size_t nth);

#endif
