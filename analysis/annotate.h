/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands beside two numbers on the pages: does one task of a stage take far longer than the others (skew), and does much time go into garbage collection. It says whether the
 * number is high, so that a reader's eye finds it; whether that matters, and how much, findings say, which know what it costs (analysis/finding.h). Pure functions: numbers in,
 * struct out; no database, no allocation, any thread. Thresholds are named in annotate.c with unit and source. */
#ifndef ANALYSIS_ANNOTATE_H
#define ANALYSIS_ANNOTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

/* The rules whose findings about a stage judge these numbers. */
#define ANNOTATE_RULE_SKEW "STAGE.SKEW_DATA"
#define ANNOTATE_RULE_STRAGGLER "STAGE.STRAGGLER"
#define ANNOTATE_RULE_GC "STAGE.GC_HIGH"

/* What the tasks of a stage read, for the question whether their data is uneven. */
enum annotate_bytes { ANNOTATE_BYTES_NONE, ANNOTATE_BYTES_SHUFFLE_READ, ANNOTATE_BYTES_INPUT };

/* Over the successful tasks of one stage attempt; any number may be UNKNOWN. */
struct annotate_spread {
    int64_t task_count;
    int64_t median_ms, max_ms; /* task durations */
    int64_t median_shuffle_read_bytes, max_shuffle_read_bytes;
    int64_t median_input_bytes, max_input_bytes;
};

struct annotate_skew {
    bool high;
    double duration_ratio;     /* largest / median; NaN: unknown. Never high alone */
    enum annotate_bytes bytes; /* which of the two bytes_ratio is about: the one with the larger task; NONE: tasks read nothing */
    double bytes_ratio;        /* NaN: unknown, or the median task read nothing */
};

struct annotate_gc {
    bool high;
    double share; /* GC time / task time; NaN: unknown */
};

struct annotate_skew annotate_skew(const struct annotate_spread *spread);

/* Of a stage, an executor or an application: sums over its tasks. */
struct annotate_gc annotate_gc(int64_t task_time_ms, int64_t gc_time_ms);

#endif
