/* SPDX-License-Identifier: Apache-2.0
 *
 * The dates of the application list's filters as the History Server reads them (spec/files.md §6.6): first yyyy-MM-dd'T'HH:mm:ss.SSSz, else the leading yyyy-MM-dd at midnight
 * GMT whatever follows. Numbers are lenient: month 13 is next January, -1 a month of the year before, and beyond 32 bits
 * they are cut as Java cuts them. Zones: GMT+08:00, -0500, and names (zone_names.h). Digits of other scripts, which Java takes too, are none here. */
#ifndef API_V1_DATES_H
#define API_V1_DATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

bool v1_parse_date(struct str text, int64_t *ret_epoch_ms);

#endif
