/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/task_parts.h"

#include "base/attributes.h"

/* Takes what is too much from `part`; returns what is still too much. */
static double cut(double *part, double excess)
{
    double taken = MIN(*part, excess);
    *part -= taken;
    return excess - taken;
}

static double take(double *room, double wanted)
{
    double taken = MIN(*room, wanted);
    *room -= taken;
    return taken;
}

struct task_parts task_parts(const struct task_times *times)
{
    struct task_parts parts = {.run = times->run, .deser = times->deser, .ser = times->ser, .getres = times->getres};
    double excess = parts.getres + parts.ser + parts.deser + parts.run - times->occupancy;
    if (excess > 0)
        cut(&parts.run, cut(&parts.deser, cut(&parts.ser, cut(&parts.getres, excess))));
    parts.delay = MAX(0, times->occupancy - parts.getres - parts.ser - parts.deser - parts.run);
    parts.rest = parts.run;
    parts.gc_in_run = take(&parts.rest, times->gc);
    parts.gc_in_deser = MIN(times->gc - parts.gc_in_run, parts.deser);
    parts.fetch = take(&parts.rest, times->fetch);
    parts.cpu = take(&parts.rest, times->cpu);
    parts.shwrite = take(&parts.rest, times->shwrite);
    return parts;
}
