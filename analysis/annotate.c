/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate.h"

#include <math.h>
#include <stdbool.h>

#include "base/attributes.h"

/* Largest against median, of durations and of bytes: issue 3; spec/findings.md 4.4 ("uneven" from 3, "heavily skewed" from 10). */
#define SKEW_HIGH_RATIO 3.0
#define SKEW_VERY_HIGH_RATIO 10.0

/* Below this many tasks "the others" are too few to say what is normal (spec/findings.md 5.1 needs 3 besides the one). */
#define SKEW_LEAST_TASKS 4

/* A stage whose largest task is shorter than this, or ends this little after the median, is not worth a reader's time. */
#define SKEW_LEAST_MAX_MS 2000
#define SKEW_LEAST_EXCESS_MS 1000

/* Where the slow task did not read more than the others, its excess must pass what the first tasks of a fresh JVM lose to class loading and code generation. That was 5.0 s at
 * most over the healthy stages of the sample logs (broadcast_missed, 4.3.0: 5.6 s against a median of 0.6 s; balanced_keys and healthy_*: up to 4.2 s); twice that here.
 * The planted straggler (straggler_even_bytes) lies 11.7 s above its median. */
#define SKEW_LEAST_EXCESS_EVEN_BYTES_MS 10000

/* Data is uneven from the same ratio on, if its largest task read this much at least (spec/findings.md, STAGE.SKEW_DATA, floor x_max). */
#define SKEW_LEAST_UNEVEN_BYTES ((int64_t)1 << 20)

/* Share of task time, above which: issue 3; spec/findings.md, STAGE.GC_HIGH, its second and last step. */
#define GC_HIGH_SHARE 0.10
#define GC_VERY_HIGH_SHARE 0.30

/* A toy spends a fifth of its two seconds in collections, and nobody could win more than those: at least this much task time, and this much of it in collections
 * (the rule's floor of 0.5 s of wall time on two slots). */
#define GC_LEAST_TASK_TIME_MS 5000
#define GC_LEAST_GC_TIME_MS 1000

static double ratio_of(int64_t max, int64_t median)
{
    return known(max) && known(median) && median > 0 ? (double)max / (double)median : (double)NAN;
}

/* `matters`: there is enough at stake. */
static enum annotate_height height_of_ratio(double ratio, bool matters)
{
    if (isnan(ratio))
        return ANNOTATE_UNKNOWN;
    if (!matters || ratio < SKEW_HIGH_RATIO)
        return ANNOTATE_USUAL;
    return ratio < SKEW_VERY_HIGH_RATIO ? ANNOTATE_HIGH : ANNOTATE_VERY_HIGH;
}

struct annotate_skew annotate_skew(const struct annotate_spread *spread)
{
    struct annotate_skew out = {.duration_ratio = (double)NAN, .bytes = ANNOTATE_BYTES_NONE, .bytes_ratio = (double)NAN};
    bool lasts = known(spread->task_count) && spread->task_count >= SKEW_LEAST_TASKS && known(spread->max_ms) && spread->max_ms >= SKEW_LEAST_MAX_MS;
    int64_t shuffle = known_or(spread->max_shuffle_read_bytes, 0), input = known_or(spread->max_input_bytes, 0);
    int64_t max_bytes = MAX(shuffle, input), median_bytes = UNKNOWN;
    if (max_bytes > 0) {
        out.bytes = shuffle >= input ? ANNOTATE_BYTES_SHUFFLE_READ : ANNOTATE_BYTES_INPUT;
        median_bytes = shuffle >= input ? spread->median_shuffle_read_bytes : spread->median_input_bytes;
        out.bytes_ratio = ratio_of(max_bytes, median_bytes);
        out.bytes_height = height_of_ratio(out.bytes_ratio, lasts && max_bytes >= SKEW_LEAST_UNEVEN_BYTES);
    }
    if (!known(spread->max_ms) || !known(spread->median_ms) || spread->max_ms < 0 || spread->median_ms < 0)
        return out;
    /* Clocks tick in milliseconds: a median of 0 is one below 1. */
    out.duration_ratio = ratio_of(spread->max_ms, MAX(spread->median_ms, 1));
    bool uneven = max_bytes >= SKEW_LEAST_UNEVEN_BYTES && (median_bytes == 0 || out.bytes_ratio >= SKEW_HIGH_RATIO);
    int64_t excess_ms = spread->max_ms - spread->median_ms;
    out.height = height_of_ratio(out.duration_ratio, lasts && excess_ms >= (uneven ? SKEW_LEAST_EXCESS_MS : SKEW_LEAST_EXCESS_EVEN_BYTES_MS));
    return out;
}

struct annotate_gc annotate_gc(int64_t task_time_ms, int64_t gc_time_ms)
{
    struct annotate_gc out = {.share = (double)NAN};
    if (!known(task_time_ms) || !known(gc_time_ms) || task_time_ms <= 0 || gc_time_ms < 0)
        return out;
    out.share = (double)gc_time_ms / (double)task_time_ms;
    bool matters = task_time_ms >= GC_LEAST_TASK_TIME_MS && gc_time_ms >= GC_LEAST_GC_TIME_MS;
    out.height = !matters || out.share <= GC_HIGH_SHARE ? ANNOTATE_USUAL : out.share <= GC_VERY_HIGH_SHARE ? ANNOTATE_HIGH : ANNOTATE_VERY_HIGH;
    return out;
}
