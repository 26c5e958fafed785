/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands beside two numbers on the pages: does one task of a stage take far longer, or read far more, than the others (skew), and does much time go into garbage collection. It
 * says in two steps how high the number is, so that a reader's eye finds it; whether that matters, and how much, findings say, which know what it costs (analysis/finding.h). Pure
 * functions: numbers in, struct out; no database, no allocation, any thread. Thresholds are named in annotate.c with unit and source. */
#ifndef ANALYSIS_ANNOTATE_H
#define ANALYSIS_ANNOTATE_H

#include <stdint.h>

#include "base/units.h"

/* The rules whose findings about a stage judge these numbers. */
#define ANNOTATE_RULE_SKEW "STAGE.SKEW_DATA"
#define ANNOTATE_RULE_STRAGGLER "STAGE.STRAGGLER"
#define ANNOTATE_RULE_GC "STAGE.GC_HIGH"

/* UNKNOWN: of a number that nobody knows. Where too little time is at stake for a reader's, a number is USUAL however large it is. */
enum annotate_height { ANNOTATE_UNKNOWN, ANNOTATE_USUAL, ANNOTATE_HIGH, ANNOTATE_VERY_HIGH };

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
    enum annotate_height height; /* of duration_ratio */
    double duration_ratio;       /* largest / median; NaN: unknown */
    enum annotate_bytes bytes;   /* which of the two bytes_ratio is about: the one with the larger task; NONE: tasks read nothing */
    enum annotate_height bytes_height;
    double bytes_ratio; /* NaN: unknown, or the median task read nothing */
};

struct annotate_gc {
    enum annotate_height height;
    double share; /* GC time / task time; NaN: unknown */
};

struct annotate_skew annotate_skew(const struct annotate_spread *spread);

/* Of a stage, an executor or an application: sums over its tasks. */
struct annotate_gc annotate_gc(int64_t task_time_ms, int64_t gc_time_ms);

#endif
