/* SPDX-License-Identifier: Apache-2.0
 *
 * What the name of a file says of a log (spec/files.md 1.2, 2.1). Names are hints; content decides. Nothing here allocates. */
#ifndef SOURCE_LOG_NAME_H
#define SOURCE_LOG_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct codec;

struct log_name {
    struct str id;               /* what is left without suffixes; borrowed from the name */
    const struct codec *codec;   /* NULL: the name claims none */
    bool in_progress, compact;
};

/* Takes .inprogress, .compact and codec suffixes off the end, in any order. */
struct log_name log_name_split(const char *name);

/* events_<N>_<rest>: N, at least 0, and the rest. False: not such a name, or one that is being written (….inprogress). */
bool log_name_events(const char *name, int64_t *ret_index, struct str *ret_rest);

/* eventlog (0) and eventlog-YYYY-MM-DD--HH-MM… (1); -1: neither. */
int log_name_databricks(const char *name);

/* Begins as Spark's names do: app- application_ local- spark- eventlog_v2_ */
bool log_name_looks_like_log(const char *name);

#define ROLLING_PREFIX "eventlog_v2_"

#endif
