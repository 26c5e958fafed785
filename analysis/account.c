/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/account_parts.h"
#include "base/mem.h"

const char *const bucket_names[BUCKET_COUNT] = {
#define X(id, name) name,
    ACCOUNT_BUCKETS(X)
#undef X
};

static double mean_slots(const struct slot_curve *curve, const struct stage_fact *stage)
{
    double length = (double)(stage->last_finish_ms - stage->first_launch_ms);
    return length > 0 ? fmax(1, floor(slot_curve_integral(curve, stage->first_launch_ms, stage->last_finish_ms) / length + 0.5)) : 1;
}

enum err_code accounts_begin(struct accounts *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct accounts){.job_windows = mem_array(facts->job_count + 1, sizeof *ret->job_windows),
                             .job_costs = mem_array(facts->job_count + 1, sizeof *ret->job_costs),
                             .stages = mem_array(facts->stage_count + 1, sizeof *ret->stages)};
    enum err_code rc = ret->job_windows && ret->job_costs && ret->stages ? slot_curve_make(&ret->curve, facts, err) : err_nomem(err);
    for (size_t i = 0; i < facts->stage_count && !rc; i++)
        if (facts->stages[i].attempt_count)
            ret->stages[i].slots = mean_slots(&ret->curve, &facts->stages[i]);
    if (!rc)
        rc = account_sweep_make(ret, facts, err);
    if (rc)
        accounts_dispose(ret);
    return rc;
}

enum err_code accounts_end(struct accounts *self, const struct facts *facts, struct err *err)
{
    enum err_code rc = account_idle(self, facts, err);
    account_sweep_free(TAKE(self->sweep));
    return rc;
}

enum err_code accounts_make(struct accounts *ret, const struct facts *facts, struct err *err)
{
    enum err_code rc = accounts_begin(ret, facts, err);
    if (!rc)
        rc = account_busy(ret, facts, err);
    if (!rc)
        rc = account_spans_make(ret, facts, err);
    if (!rc)
        rc = accounts_end(ret, facts, err);
    if (rc)
        accounts_dispose(ret);
    return rc;
}

void accounts_dispose(struct accounts *self)
{
    mem_free(TAKE(self->job_windows));
    mem_free(TAKE(self->job_costs));
    mem_free(TAKE(self->stages));
    mem_free(TAKE(self->gaps));
    slot_curve_dispose(&self->curve);
    account_sweep_free(TAKE(self->sweep));
    self->gap_count = 0;
}

static double error_of(const double *buckets, double total)
{
    double sum = 0;
    for (size_t b = 0; b < BUCKET_COUNT; b++)
        sum += buckets[b];
    return total > 0 ? fabs(sum - total) / total : fabs(sum);
}

double account_closure_error(const struct account *account)
{
    return fmax(error_of(account->slot_ms, account->slot_total_ms), error_of(account->wall_ms, account->wall_total_ms));
}

struct remainder {
    double part;
    size_t bucket;
};

static int largest_first(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->part != y->part)
        return x->part > y->part ? -1 : 1;
    return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static int64_t whole(double value)
{
    return value >= (double)INT64_MAX ? INT64_MAX : (int64_t)value;
}

void account_round(const double *buckets, double total, int64_t *ret)
{
    struct remainder remainders[BUCKET_COUNT];
    int64_t left = whole(floor(total + 0.5));
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        double floored = floor(buckets[b]);
        ret[b] = whole(floored);
        remainders[b] = (struct remainder){buckets[b] - floored, b};
        left -= ret[b];
    }
    qsort(remainders, BUCKET_COUNT, sizeof *remainders, largest_first);
    for (size_t i = 0; i < BUCKET_COUNT && left > 0; i++, left--)
        ret[remainders[i].bucket]++;
}
