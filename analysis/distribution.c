/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/distribution.h"

#include <math.h>

#include "base/attributes.h"
#include "base/int_column.h"

#define SORT_COUNT 64 /* up to here an insertion sort is the fastest selection */
#define BUCKET_BITS 11

static const double shares[] = {0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99};
enum { SHARES = ARRAY_LENGTH(shares), RANKS = 2 * SHARES };

double quantile_type7(const double *sorted, size_t count, double q)
{
    if (!count)
        return NAN;
    double h = (double)(count - 1) * q;
    size_t i = (size_t)h;
    return i + 1 < count ? sorted[i] + (h - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

static void insertion_sort(int64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* ret[i] := the value of rank ranks[i] among `keys`, which begin at rank `first`. Ranks ascend. */
static void select_ranks(int64_t *keys, size_t count, size_t first, const size_t *ranks, size_t rank_count, double *ret)
{
    if (!rank_count)
        return;
    if (count <= SORT_COUNT) {
        insertion_sort(keys, count);
        for (size_t i = 0; i < rank_count; i++)
            ret[i] = order_value(keys[ranks[i] - first]);
        return;
    }
    size_t middle = rank_count / 2, at = ranks[middle] - first, below = middle, above = middle;
    select_nth(keys, count, at);
    while (below > 0 && ranks[below - 1] == ranks[middle])
        below--;
    while (above < rank_count && ranks[above] == ranks[middle])
        ret[above++] = order_value(keys[at]);
    for (size_t i = below; i < middle; i++)
        ret[i] = ret[middle];
    select_ranks(keys, at, first, ranks, below, ret);
    select_ranks(keys + at + 1, count - at - 1, ranks[middle] + 1, ranks + above, rank_count - above, ret + above);
}

/* The bucket of a value: by the bits of value + 1, so about by its logarithm. An outlier does not press all others into one bucket, nor does a 0. */
static size_t bucket_of(double value, uint64_t first_key, unsigned shift)
{
    return (size_t)(((uint64_t)order_key(value + 1) - first_key) >> shift);
}

/* Keeps of `values` what lies in a bucket where a rank is, which is little, and selects there. */
static void select_ranks_of_many(const double *values, size_t count, double min, double max, const size_t *ranks, size_t rank_count, double *ret, int64_t *scratch)
{
    uint64_t first_key = (uint64_t)order_key(min + 1), range = (uint64_t)order_key(max + 1) - first_key;
    unsigned bits = range ? 64 - (unsigned)__builtin_clzll(range) : 0, shift = bits > BUCKET_BITS ? bits - BUCKET_BITS : 0;
    uint32_t counts[1 << BUCKET_BITS] = {0}, odd_counts[1 << BUCKET_BITS] = {0}; /* two: neighbours of one value would wait for each other */
    uint8_t wanted[1 << BUCKET_BITS] = {0};
    for (size_t i = 0; i + 1 < count; i += 2) {
        counts[bucket_of(values[i], first_key, shift)]++;
        odd_counts[bucket_of(values[i + 1], first_key, shift)]++;
    }
    if (count % 2)
        counts[bucket_of(values[count - 1], first_key, shift)]++;

    size_t kept_ranks[RANKS], before = 0, dropped = 0, next = 0;
    for (size_t bucket = 0; next < rank_count; bucket++) {
        size_t in_bucket = counts[bucket] + odd_counts[bucket];
        before += in_bucket;
        wanted[bucket] = ranks[next] < before;
        for (; next < rank_count && ranks[next] < before; next++)
            kept_ranks[next] = ranks[next] - dropped;
        if (!wanted[bucket])
            dropped += in_bucket;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        scratch[kept] = order_key(values[i]);
        kept += wanted[bucket_of(values[i], first_key, shift)];
    }
    select_ranks(scratch, kept, 0, kept_ranks, rank_count, ret);
}

static void values_at_ranks(const double *values, size_t count, double min, double max, const size_t *ranks, size_t rank_count, double *ret, int64_t *scratch)
{
    if (count > SORT_COUNT) {
        select_ranks_of_many(values, count, min, max, ranks, rank_count, ret, scratch);
        return;
    }
    for (size_t i = 0; i < count; i++)
        scratch[i] = order_key(values[i]);
    select_ranks(scratch, count, 0, ranks, rank_count, ret);
}

double quantile_of(const double *values, size_t count, double q, int64_t *scratch)
{
    if (!count)
        return NAN;
    double min = values[0], max = values[0], h = (double)(count - 1) * q, at_ranks[2];
    for (size_t i = 1; i < count; i++) {
        min = MIN(values[i], min);
        max = MAX(values[i], max);
    }
    if (min == max)
        return min;
    size_t rank = (size_t)h, ranks[] = {rank, MIN(rank + 1, count - 1)};
    values_at_ranks(values, count, min, max, ranks, ARRAY_LENGTH(ranks), at_ranks, scratch);
    return at_ranks[0] + (h - (double)rank) * (at_ranks[1] - at_ranks[0]);
}

/* All but count, sum, min, max, mean, sigma, from the values at the ranks of `shares`. */
static void finish(struct distribution *self, const double *at_ranks, double floor)
{
    double *quantiles[SHARES] = {&self->p10, &self->p25, &self->p50, &self->p75, &self->p90, &self->p95, &self->p99};
    for (size_t i = 0; i < SHARES; i++) {
        double h = (double)(self->count - 1) * shares[i], low = at_ranks[2 * i], high = at_ranks[2 * i + 1];
        *quantiles[i] = low + (h - (double)(size_t)h) * (high - low);
    }
    self->ratio = self->max / fmax(self->p50, floor);
    self->r95 = self->p95 / fmax(self->p50, floor);
    self->z = self->sigma > 0 ? (self->max - self->mean) / self->sigma : 0;
    self->cv = self->sigma > 0 ? self->sigma / self->mean : 0;
}

static const struct distribution of_none = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

struct distribution distribution_of_equal(double value, size_t count, double floor)
{
    if (!count)
        return of_none;
    double ratio = value >= floor ? 1 : value / floor;
    return (struct distribution){.count = count,
                                 .sum = value * (double)count,
                                 .min = value,
                                 .p10 = value,
                                 .p25 = value,
                                 .p50 = value,
                                 .p75 = value,
                                 .p90 = value,
                                 .p95 = value,
                                 .p99 = value,
                                 .max = value,
                                 .mean = value,
                                 .ratio = ratio,
                                 .r95 = ratio};
}

static inline void add_moment(double value, double first, double *sum, double *square, double *min, double *max)
{
    double from_first = value - first;
    *sum += from_first;
    *square += from_first * from_first;
    *min = MIN(value, *min);
    *max = MAX(value, *max);
}

/* Sums in lanes, which the processor adds side by side; of squares from the first value on, so that they do not cancel out. */
static struct distribution moments(const double *values, size_t count)
{
    enum { LANES = 4 };
    double sums[LANES] = {0}, squares[LANES] = {0}, mins[LANES], maxs[LANES], first = values[0];
    for (size_t lane = 0; lane < LANES; lane++)
        mins[lane] = maxs[lane] = first;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            add_moment(values[i + lane], first, &sums[lane], &squares[lane], &mins[lane], &maxs[lane]);
    for (; i < count; i++)
        add_moment(values[i], first, &sums[0], &squares[0], &mins[0], &maxs[0]);
    double n = (double)count, sum = sums[0] + sums[1] + sums[2] + sums[3], square = squares[0] + squares[1] + squares[2] + squares[3];
    return (struct distribution){.count = count,
                                 .sum = sum + first * n,
                                 .min = MIN(MIN(mins[0], mins[1]), MIN(mins[2], mins[3])),
                                 .max = MAX(MAX(maxs[0], maxs[1]), MAX(maxs[2], maxs[3])),
                                 .mean = first + sum / n,
                                 .sigma = sqrt(MAX(square / n - (sum / n) * (sum / n), 0))};
}

struct distribution distribution_of(const double *values, size_t count, double floor, int64_t *scratch)
{
    if (!count)
        return of_none;
    struct distribution self = moments(values, count);
    if (self.min == self.max)
        return distribution_of_equal(self.min, count, floor);

    size_t ranks[RANKS];
    for (size_t i = 0; i < SHARES; i++) {
        ranks[2 * i] = (size_t)((double)(count - 1) * shares[i]);
        ranks[2 * i + 1] = MIN(ranks[2 * i] + 1, count - 1);
    }
    double at_ranks[RANKS];
    values_at_ranks(values, count, self.min, self.max, ranks, RANKS, at_ranks, scratch);
    finish(&self, at_ranks, floor);
    return self;
}
