/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots alive and busy over time, for charts: the account's integrand before it is summed up, so the areas are its allocated slot time and its occupancy. Exact steps where
 * they are few; of a large run means over equal parts, neighbours that are equal joined. Needs facts_lanes. Made and freed by the caller. One thread; time: linear in attempts, but
 * for sorting few of them; memory: some kilobytes. */
#ifndef ANALYSIS_SLOT_USE_H
#define ANALYSIS_SLOT_USE_H

#include "analysis/facts.h"

/* More than a chart has pixels, and 40 kB in the store. */
#define SLOT_USE_STEPS 2000

struct slot_step {
    int64_t from_ms;                 /* until the next one's, the last until the end of the interval */
    double alive, busy;              /* means; busy ≤ alive but for rounding */
};
struct slot_use {
    struct slot_step *steps;         /* ascending; owned. Empty where the interval is */
    size_t count;                    /* ≤ SLOT_USE_STEPS */
};

enum err_code slot_use_make(struct slot_use *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void slot_use_dispose(struct slot_use *self);

#endif
