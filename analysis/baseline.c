/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/run_key.h"
#include "base/attributes.h"

#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */
#define SIGMA_SHARE 0.02    /* own: nothing is known better than to 2 % */
#define SIGMA_MS 500.0      /* own */
#define NO_CHANGE_SIGMAS 3.0
#define NO_CHANGE_MS 2000.0    /* own: nobody cares about 2 s */
#define DRIFT_SHARE 0.20       /* own */
#define SHAPE_SHARE 0.5        /* stages in common, by time, of one series */
#define EARLIER_LOOKED_AT 1000 /* runs: series that take turns under one name are found among them */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_sorted(const double *values, size_t count)
{
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct noise noise_of(double *values, size_t count, const char *unit)
{
    struct noise ret = {.median = (double)NAN, .mad = (double)NAN, .sigma = (double)NAN, .allowed = (double)NAN};
    bool is_time = strcmp(unit, "ms") == 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[ret.count++] = values[i];
    if (!ret.count)
        return ret;
    qsort(values, ret.count, sizeof *values, compare_doubles);
    ret.median = median_of_sorted(values, ret.count);
    for (size_t i = 0; i < ret.count; i++)
        values[i] = fabs(values[i] - ret.median);
    qsort(values, ret.count, sizeof *values, compare_doubles);
    ret.mad = median_of_sorted(values, ret.count);
    ret.sigma = fmax(MAD_TO_SIGMA * ret.mad, fmax(SIGMA_SHARE * fabs(ret.median), is_time ? SIGMA_MS : 0));
    ret.allowed = fmax(NO_CHANGE_SIGMAS * ret.sigma, fmax(SIGMA_SHARE * fabs(ret.median), is_time ? NO_CHANGE_MS : 0));
    return ret;
}

bool noise_no_change(const struct noise *noise, double value)
{
    return noise->count && fabs(value - noise->median) <= noise->allowed;
}

double noise_z(const struct noise *noise, double value)
{
    return noise->count && noise->sigma > 0 ? (value - noise->median) / noise->sigma : (double)NAN;
}

double trend_of(const double *values, size_t count)
{
    double slopes[BASELINE_MOST * (BASELINE_MOST - 1) / 2];
    size_t slope_count = 0;
    count = MIN(count, (size_t)BASELINE_MOST);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            slopes[slope_count++] = (values[k] - values[i]) / (double)(k - i);
    qsort(slopes, slope_count, sizeof *slopes, compare_doubles);
    return slope_count ? median_of_sorted(slopes, slope_count) : 0;
}

/* Members like `shape` among the earlier runs; at most BASELINE_MOST. */
static size_t series_of(struct baseline_run members[BASELINE_MOST], const struct baseline_run *earlier, size_t count, struct str shape)
{
    size_t found = 0;
    for (size_t i = 0; i < count && found < BASELINE_MOST; i++)
        if (shape_overlap(earlier[i].shape, shape) >= SHAPE_SHARE)
            members[found++] = earlier[i];
    return found;
}

static struct noise wall_noise(const struct baseline *self, double walls[BASELINE_MOST])
{
    for (size_t i = 0; i < self->member_count; i++)
        walls[i] = (double)self->members[i].wall_ms;
    return noise_of(walls, self->member_count, "ms");
}

double baseline_distance(const struct baseline *self, size_t member)
{
    return fabs((double)self->members[member].wall_ms - self->wall.median);
}

void baseline_choose(struct baseline *ret, const struct baseline_run *earlier, size_t count, struct str shape)
{
    double walls[BASELINE_MOST];
    ret->earlier_count = count;
    ret->member_count = series_of(ret->members, earlier, count, shape);
    ret->other_shape = ret->member_count < BASELINE_FEWEST && count && shape_overlap(earlier[0].shape, shape) < SHAPE_SHARE;
    if (ret->other_shape)
        ret->member_count = series_of(ret->members, earlier, count, earlier[0].shape);
    ret->wall = wall_noise(ret, walls);
    for (size_t i = 0; i < ret->member_count; i++)
        walls[i] = (double)ret->members[i].wall_ms;
    ret->drifts = ret->member_count > BASELINE_AFTER_DRIFT && fabs(trend_of(walls, ret->member_count)) * (double)(ret->member_count - 1) > DRIFT_SHARE * ret->wall.median;
    if (ret->drifts) {
        ret->member_count = BASELINE_AFTER_DRIFT;
        ret->wall = wall_noise(ret, walls);
    }
    ret->reference = 0;
    ret->median_ms = ret->member_count ? llround(ret->wall.median) : UNKNOWN;
    for (size_t i = 1; i < ret->member_count; i++)
        if (baseline_distance(ret, i) < baseline_distance(ret, ret->reference))
            ret->reference = i;
}

static enum err_code keep(struct baseline *self, struct str text, struct str *ret, struct err *err)
{
    return arena_str(&self->arena, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code read_earlier(struct baseline *self, struct db *catalog, struct str app_key, int64_t begin_ms, struct baseline_run *ret, size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(catalog, &row,
                                  "SELECT h.app_key, h.begin_ms, h.wall_ms, h.shape, (SELECT generation FROM app AS a WHERE a.app_key = h.app_key) FROM run_history AS h "
                                  "WHERE h.run_key = ?1 AND (h.begin_ms, h.app_key) < (?2, ?3) AND h.eligible AND (NOT " DB_IS_ADDED("h.app_key") " OR " DB_IS_ADDED("?3") ") ORDER BY h.begin_ms DESC, h.app_key DESC LIMIT ?4",
                                  err);
    if (rc)
        return rc;
    db_bind_str(row, 1, self->run_key);
    db_bind_i64(row, 2, begin_ms);
    db_bind_str(row, 3, app_key);
    db_bind_i64(row, 4, EARLIER_LOOKED_AT);
    *ret_count = 0;
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        struct baseline_run *run = &ret[*ret_count];
        *run = (struct baseline_run){.begin_ms = db_i64(row, 1), .wall_ms = db_i64(row, 2), .generation = db_i64(row, 4)};
        if (!(rc = keep(self, db_str(row, 0), &run->app_key, err)) && !(rc = keep(self, db_blob(row, 3), &run->shape, err)))
            ++*ret_count;
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code baseline_find(struct baseline *ret, struct db *catalog, struct str app_key, baseline_allow_fn *allow, void *context, struct err *err)
{
    sqlite3_stmt *row = NULL;
    struct str shape = STR_NONE;
    int64_t begin_ms = 0;
    *ret = (struct baseline){.median_ms = UNKNOWN};
    arena_init(&ret->arena, (size_t)32 << 20);
    struct baseline_run *earlier = arena_zalloc(&ret->arena, EARLIER_LOOKED_AT, sizeof *earlier);
    enum err_code rc = earlier ? db_prepare(catalog, &row, "SELECT run_key, begin_ms, shape FROM run_history WHERE app_key = ?1", err) : err_nomem(err);
    if (!rc) {
        db_bind_str(row, 1, app_key);
        rc = db_step(row, err);
        if (rc == ERR_EOF)
            rc = err_set(err, ERR_NOT_FOUND, "the run was not analysed");
    }
    if (!rc) {
        begin_ms = db_i64(row, 1);
        rc = keep(ret, db_blob(row, 2), &shape, err);
        if (!rc && !db_is_null(row, 0))
            rc = keep(ret, db_str(row, 0), &ret->run_key, err);
    }
    db_finalize(row);
    size_t count = 0;
    if (!rc && str_known(ret->run_key))
        rc = read_earlier(ret, catalog, app_key, begin_ms, earlier, &count, err);
    if (rc) {
        baseline_dispose(ret);
        return rc;
    }
    size_t allowed = 0;
    for (size_t i = 0; i < count; i++)
        if (!allow || allow(context, earlier[i].app_key))
            earlier[allowed++] = earlier[i];
    baseline_choose(ret, earlier, allowed, shape);
    return ERR_OK;
}

uint64_t baseline_state(const struct baseline *self)
{
    uint64_t state = hash_i64((int64_t)self->member_count);
    for (size_t i = 0; i < self->member_count; i++)
        state = hash_i64((int64_t)(state ^ hash_bytes(self->members[i].app_key.ptr, self->members[i].app_key.len))) ^ hash_i64(self->members[i].generation);
    return state;
}

void baseline_dispose(struct baseline *self)
{
    arena_dispose(&self->arena);
}

size_t baseline_rank(const struct baseline *self, int64_t wall_ms)
{
    size_t faster = 0;
    for (size_t i = 0; i < self->member_count; i++)
        faster += self->members[i].wall_ms < wall_ms;
    return faster;
}

enum err_code baseline_measure(const struct baseline *self, const char *store_dir, struct noise ret[RUN_METRIC_COUNT], struct err *err)
{
    double of[BASELINE_MOST][RUN_METRIC_COUNT], values[BASELINE_MOST];
    size_t count = 0;
    for (size_t i = 0; i < self->member_count; i++) {
        char path[4600];
        struct db app;
        snprintf(path, sizeof path, "%s/apps/%.*s.db", store_dir, (int)MIN(self->members[i].app_key.len, (size_t)255), self->members[i].app_key.ptr);
        if (db_open(&app, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, NULL))
            continue;
        enum err_code rc = run_metrics_load(of[count], &app, err);
        db_close(&app);
        if (rc == ERR_NOMEM)
            return rc;
        count += rc == ERR_OK;
    }
    for (int m = 0; m < RUN_METRIC_COUNT; m++) {
        for (size_t i = 0; i < count; i++)
            values[i] = of[i][m];
        ret[m] = noise_of(values, count, run_metric_unit((enum run_metric)m));
    }
    return ERR_OK;
}
