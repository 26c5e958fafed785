/* SPDX-License-Identifier: Apache-2.0
 *
 * The dates of the application list's filters as the History Server reads them (spec/files.md §6.6): first yyyy-MM-dd'T'HH:mm:ss.SSSz, else the leading yyyy-MM-dd at midnight
 * GMT whatever follows. Numbers are lenient: month 13 is next January. Zones: GMT, UTC, GMT+08:00, -0500 and the common abbreviations in dates.c. */
#ifndef API_V1_DATES_H
#define API_V1_DATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

bool v1_parse_date(struct str text, int64_t *ret_epoch_ms);

#endif
