/* SPDX-License-Identifier: Apache-2.0
 *
 * How numbers spread: quantiles by linear interpolation (type 7: what R and numpy call the default; spec/findings.md 4.2), mean, σ of the population. The API's own
 * quantiles are Spark's and are made at load (stage_quantile). Linear in `count`: ranks are selected, nothing is sorted. Pure; any thread. Numbers are finite and ≥ 0. */
#ifndef ANALYSIS_DISTRIBUTION_H
#define ANALYSIS_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* NaN where count is 0, never else. */
struct distribution {
    size_t count;
    double sum, min, p10, p25, p50, p75, p90, p95, p99, max, mean, sigma;
    double ratio, r95; /* max and p95 ÷ max(p50, floor) */
    double z;          /* (max − mean) ÷ σ; 0 where σ is */
    double cv;         /* σ ÷ mean; 0 where σ is */
};

/* `floor`, of the two ratios, makes them finite where the median is 0: 1 ms, 1 KiB, 1 record. `scratch` has `count` places. */
struct distribution distribution_of(const double *values, size_t count, double floor, int64_t *scratch);
struct distribution distribution_of_equal(double value, size_t count, double floor);
double quantile_of(const double *values, size_t count, double q, int64_t *scratch); /* one alone, in less time; NaN where count is 0 */
double quantile_type7(const double *sorted, size_t count, double q); /* NaN where count is 0 */

/* A whole number whose order is that of the doubles, negative ones too, so that they can be selected by their bits (select_nth). −0 and 0 are one. */
static inline int64_t order_key(double value)
{
    int64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits; /* negative doubles are ordered backwards by their bits */
}

static inline double order_value(int64_t key)
{
    double value;
    int64_t bits = key < 0 ? key ^ INT64_MAX : key;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
