/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of Spark's settings as numbers: "4g", "512m", "60s", "true". UNKNOWN where the text is none or no number, and on overflow. */
#ifndef ANALYSIS_CONF_VALUE_H
#define ANALYSIS_CONF_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

#define BYTES_PER_MIB ((int64_t)1 << 20)

/* A size; a bare number counts units of `bare_bytes` (Spark: MiB for memory, bytes for most else). */
int64_t conf_bytes(struct str value, int64_t bare_bytes);
/* A duration; a bare number counts units of `bare_ms`. */
int64_t conf_duration_ms(struct str value, int64_t bare_ms);
int64_t conf_count(struct str value);
/* `otherwise` where it is not set. */
bool conf_true(struct str value, bool otherwise);
/* NaN where it is not set or no number. */
double conf_number(struct str value);

#endif
