/* SPDX-License-Identifier: Apache-2.0
 *
 * A page of a sorted column, without sorting everything. Any thread. */
#ifndef SERVER_TASK_PAGE_H
#define SERVER_TASK_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Positions of a page: of those i with keep[i] (NULL: all), ordered by key (UNKNOWN last either way, ties by `tie` and then by position, ascending, the reverse when
 * descending), the ones from `offset`, at most `limit`. ret_positions has room for `limit`; *ret_count is how many were written, *ret_total how many were kept.
 * Linear in the count. count < 2^32. ERR_NOMEM. */
enum err_code task_page(const int64_t *key, const int64_t *tie, const unsigned char *keep, size_t count, bool descending, size_t offset, size_t limit,
                                size_t *ret_positions, size_t *ret_count, size_t *ret_total, struct err *err) WARN_UNUSED;

#endif
