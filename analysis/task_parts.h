/* SPDX-License-Identifier: Apache-2.0
 *
 * What one attempt did while it had its slot (spec/findings.md 3.4): Spark's own times, clipped so that they sum to the occupancy. All are ms ≥ 0; what the log does not hold
 * counts 0. Pure. */
#ifndef ANALYSIS_TASK_PARTS_H
#define ANALYSIS_TASK_PARTS_H

#include <stdint.h>

/* As logged; ms, CPU and write time already divided. */
struct task_times {
    double occupancy, run, deser, ser, getres, gc, cpu, fetch, shwrite;
};

struct task_parts {
    double run, deser, ser, getres, delay; /* R D S G and the rest: sum to the occupancy */
    double gc_in_run, gc_in_deser;         /* parts of R and D: Spark's GC time spans both */
    double fetch, cpu, shwrite;            /* further parts of R, each as far as the ones before leave room */
    double rest;                           /* of R */
};

struct task_parts task_parts(const struct task_times *times);

#endif
