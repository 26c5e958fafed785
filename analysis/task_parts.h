/* SPDX-License-Identifier: Apache-2.0
 *
 * What one attempt did while it had its slot (spec/findings.md 3.4): Spark's own times, clipped so that they sum to the occupancy. All are ms ≥ 0; what the log does not hold
 * counts 0. Pure; here as inline functions since they are called for each task. */
#ifndef ANALYSIS_TASK_PARTS_H
#define ANALYSIS_TASK_PARTS_H

/* As logged; CPU and write time in ms, too; getres: from the start of fetching the result to the end. */
struct task_times {
    double occupancy, run, deser, ser, getres, gc, cpu, fetch, shwrite;
};

struct task_parts {
    double run, deser, ser, getres, delay; /* R D S G and the rest: sum to the occupancy */
    double gc_in_run, gc_in_deser;         /* parts of R and D: the JVM's collections span both */
    double fetch, cpu, shwrite, rest;      /* with gc_in_run, they sum to R */
};

static inline double task_take(double *left, double wanted)
{
    double taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* What is more than the time there was is taken from G first and from R last, so R gets its time first. */
static inline struct task_parts task_parts(const struct task_times *times)
{
    struct task_parts parts = {.delay = times->occupancy};
    parts.run = parts.rest = task_take(&parts.delay, times->run);
    parts.deser = task_take(&parts.delay, times->deser);
    parts.ser = task_take(&parts.delay, times->ser);
    parts.getres = task_take(&parts.delay, times->getres);
    double deser_left = parts.deser;
    parts.gc_in_run = task_take(&parts.rest, times->gc);
    parts.gc_in_deser = task_take(&deser_left, times->gc - parts.gc_in_run);
    parts.fetch = task_take(&parts.rest, times->fetch);
    parts.cpu = task_take(&parts.rest, times->cpu);
    parts.shwrite = task_take(&parts.rest, times->shwrite);
    return parts;
}

#endif
