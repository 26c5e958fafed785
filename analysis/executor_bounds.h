/* SPDX-License-Identifier: Apache-2.0
 *
 * How many executors an application asked for, as far as its settings say. A log does not hold what dynamic allocation asked for from moment to moment, only what it began with and between what it was held:
 *
 *     at the start  the largest of dynamicAllocation.initialExecutors, .minExecutors and executor.instances (Spark's Utils.getDynamicAllocationInitialExecutors); without dynamic allocation executor.instances, to the end
 *     least, most   dynamicAllocation.minExecutors, .maxExecutors; not set: Spark's 0 and no bound, which is nothing to draw
 *
 * With several resource profiles the bounds hold for each of them alone, so there is none in all; in local mode there are no executors to ask for. */
#ifndef ANALYSIS_EXECUTOR_BOUNDS_H
#define ANALYSIS_EXECUTOR_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/db.h"

/* Counts of executors; UNKNOWN: not set, or not to be read as a number. */
struct executor_bounds {
    bool dynamic;
    int64_t least, at_start, most;
    int64_t slots_each; /* of every executor that came, where all have as many; before one came as set. UNKNOWN: they differ, or nothing says */
};

/* db: of the application, tables environment, executor and resource_profile. */
enum err_code executor_bounds_read(struct executor_bounds *ret, struct db *db, struct err *err) WARN_UNUSED;

#endif
