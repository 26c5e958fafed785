/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "base/map.h"
#include "base/mem.h"

#define COMPLETE_ENOUGH 80 /* C below which a run is compared with nothing (spec/findings.md 2.3) */
#define REGRESSION_SHARE 0.02
#define REGRESSION_MS 2000.0
#define REGRESSION_Z 3.0

double regression_measure(const struct noise *wall, int64_t wall_ms)
{
    double delta = (double)wall_ms - wall->median;
    return wall->count && wall->median > 0 && delta > fmax(REGRESSION_SHARE * wall->median, REGRESSION_MS) && noise_z(wall, (double)wall_ms) > REGRESSION_Z ? delta / wall->median
                                                                                                                                                            : (double)NAN;
}

/* What the wall times say alone. */
static void judge_wall(struct comparison *self)
{
    double wall_ms = (double)self->new_run.wall_ms, share = regression_measure(&self->wall, self->new_run.wall_ms);
    self->delta_ms = self->new_run.wall_ms - self->usual_ms;
    self->verdict = noise_no_change(&self->wall, wall_ms) ? COMPARE_NO_CHANGE : self->delta_ms > 0 ? COMPARE_SLOWER : COMPARE_FASTER;
    self->grade = isnan(share) ? GRADE_OK : ladder_grade(&rule_find(STR_LIT("RUN.REGRESSION"))->ladder, share);
}

bool compare_is_open(const struct run_record *run, int64_t faster_by_ms)
{
    return run->end_at_least && faster_by_ms >= 0;
}

/* Records are there: the rest. */
static enum err_code compare(struct comparison *self, struct db *base, struct db *new_run, struct err *err)
{
    struct run_match match;
    arena_init(&self->arena, (size_t)64 << 20);
    judge_wall(self);
    if (self->base.completeness < COMPLETE_ENOUGH || self->new_run.completeness < COMPLETE_ENOUGH || compare_is_open(&self->new_run, -self->delta_ms) ||
        compare_is_open(&self->base, self->delta_ms)) {
        self->state = COMPARE_INCOMPLETE;
        self->verdict = COMPARE_NO_CHANGE;
        self->grade = GRADE_OK;
        return ERR_OK;
    }
    enum err_code rc = run_match_make(&match, &self->base, &self->new_run, err);
    if (rc)
        return rc;
    if (!(rc = compare_decompose(self, &match, base, new_run, err)) && !(rc = compare_settings(self, err)))
        rc = compare_findings(self, &match, err);
    run_match_dispose(&match);
    return rc;
}

enum err_code compare_runs(struct comparison *ret, struct db *base, struct db *new_run, struct err *err)
{
    *ret = (struct comparison){0};
    enum err_code rc = run_record_load(&ret->base, base, err);
    if (!rc)
        rc = run_record_load(&ret->new_run, new_run, err);
    if (!rc) {
        double wall = (double)ret->base.wall_ms;
        ret->wall = noise_of(&wall, 1, "ms");
        ret->usual_ms = ret->base.wall_ms;
        rc = compare(ret, base, new_run, err);
    }
    if (rc)
        comparison_dispose(ret);
    else
        compare_noise(ret);
    return rc;
}

/* --- stages against what is usual for them (9.3) */

/* Of one member: work and wall of all stages of a fingerprint, where the new run has it too. */
struct usual_stages {
    struct imap positions; /* fingerprint → position, from 1 */
    double *work, *wall;   /* [position × BASELINE_MOST + member]; NaN: that member has none. Owned */
    size_t count;
};

static enum err_code read_member(struct usual_stages *self, const char *path, size_t member, struct err *err)
{
    struct db app;
    sqlite3_stmt *row = NULL;
    if (db_open(&app, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, NULL))
        return ERR_OK;
    enum err_code rc =
        db_prepare(&app, &row,
                   "SELECT f.fingerprint, total(s.task_time_ms), total(max(0, s.last_task_finish_ms - s.first_task_launch_ms)) "
                   "FROM stage AS s JOIN stage_fingerprint AS f ON f.stage_ref = s.stage_ref JOIN stage_analysis AS a ON a.stage_ref = s.stage_ref GROUP BY f.fingerprint",
                   err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        size_t position = (size_t)(uintptr_t)imap_get(&self->positions, sqlite3_column_int64(row, 0));
        if (!position)
            continue;
        self->work[(position - 1) * BASELINE_MOST + member] = db_f64(row, 1);
        self->wall[(position - 1) * BASELINE_MOST + member] = db_f64(row, 2);
    }
    db_finalize(row);
    db_close(&app);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static double changed_by(const struct compare_stage *stage)
{
    return fabs(stage->ms - stage->usual_ms);
}

static void add_stage(struct comparison *self, const struct compare_stage *stage)
{
    size_t at = self->stage_count;
    while (at > 0 && changed_by(&self->stages[at - 1]) < changed_by(stage))
        at--;
    if (at == COMPARE_STAGES)
        return;
    self->stage_count = MIN(self->stage_count + 1, (size_t)COMPARE_STAGES);
    for (size_t i = self->stage_count - 1; i > at; i--)
        self->stages[i] = self->stages[i - 1];
    self->stages[at] = *stage;
}

static void judge_stage(struct comparison *self, const struct run_stage *stage, double *usual, double ms, bool is_wall)
{
    struct noise noise = noise_of(usual, BASELINE_MOST, "ms");
    if (noise.count < BASELINE_FEWEST || noise_no_change(&noise, ms))
        return;
    const struct compare_stage changed = {.name = stage->name, .new_id = stage->stage_id, .base_id = UNKNOWN, .is_wall = is_wall, .usual_ms = noise.median, .ms = ms};
    add_stage(self, &changed);
}

/* Stages of one fingerprint are one here: the new run's sums are gathered in order of their first. */
static enum err_code judge_stages(struct comparison *self, const char *store_dir, struct err *err)
{
    const struct run_record *run = &self->new_run;
    struct usual_stages usual = {0};
    size_t places = run->stage_count * BASELINE_MOST + 1;
    CLEANUP(mem_freep) struct run_stage *sums = mem_array(run->stage_count + 1, sizeof *sums);
    usual.work = mem_array(places, sizeof *usual.work);
    usual.wall = mem_array(places, sizeof *usual.wall);
    imap_init(&usual.positions, run->stage_count + 1);
    enum err_code rc = sums && usual.work && usual.wall ? ERR_OK : err_nomem(err);
    for (size_t i = 0; i < places && !rc; i++)
        usual.work[i] = usual.wall[i] = (double)NAN;
    for (size_t i = 0; i < run->stage_count && !rc; i++) {
        size_t position = (size_t)(uintptr_t)imap_get(&usual.positions, run->stages[i].fingerprint);
        if (position) {
            sums[position - 1].work_ms = add_known(sums[position - 1].work_ms, run->stages[i].work_ms);
            sums[position - 1].wall_ms = add_known(sums[position - 1].wall_ms, run->stages[i].wall_ms);
        } else {
            sums[usual.count++] = run->stages[i];
            if (imap_put(&usual.positions, run->stages[i].fingerprint, (void *)(uintptr_t)usual.count))
                rc = err_nomem(err);
        }
    }
    for (size_t i = 0; i < self->baseline->member_count && !rc; i++) {
        char path[4600];
        struct str key = self->baseline->members[i].app_key;
        snprintf(path, sizeof path, "%s/apps/%.*s.db", store_dir, (int)MIN(key.len, (size_t)255), key.ptr);
        rc = read_member(&usual, path, i, err);
    }
    for (size_t i = 0; i < usual.count && !rc; i++) {
        judge_stage(self, &sums[i], usual.work + i * BASELINE_MOST, (double)sums[i].work_ms, false);
        judge_stage(self, &sums[i], usual.wall + i * BASELINE_MOST, (double)sums[i].wall_ms, true);
    }
    imap_dispose(&usual.positions);
    mem_free(usual.work);
    mem_free(usual.wall);
    return rc;
}

/* The file of a run may be gone, or be an older program's that waits to be made anew: then the next one is the reference. False: none is left. */
static bool open_reference(struct baseline *baseline, const char *store_dir, struct db *ret)
{
    bool tried[BASELINE_MOST] = {false};
    for (size_t left = baseline->member_count; left > 0; left--) {
        size_t nearest = baseline->member_count;
        for (size_t i = 0; i < baseline->member_count; i++)
            if (!tried[i] && (nearest == baseline->member_count || baseline_distance(baseline, i) < baseline_distance(baseline, nearest)))
                nearest = i;
        char path[4600];
        struct str key = baseline->members[nearest].app_key;
        snprintf(path, sizeof path, "%s/apps/%.*s.db", store_dir, (int)MIN(key.len, (size_t)255), key.ptr);
        tried[nearest] = true;
        baseline->reference = nearest;
        if (!db_open(ret, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, NULL))
            return true;
    }
    return false;
}

enum err_code compare_usual(struct comparison *ret, struct baseline *baseline, const char *store_dir, struct db *new_run, struct err *err)
{
    struct db reference;
    *ret = (struct comparison){.baseline = baseline, .wall = baseline->wall, .usual_ms = baseline->median_ms};
    enum err_code rc = run_record_load(&ret->new_run, new_run, err);
    if (!rc && baseline->member_count < BASELINE_FEWEST) {
        ret->state = COMPARE_TOO_FEW;
        ret->usual_ms = UNKNOWN;
        ret->delta_ms = UNKNOWN;
        return ERR_OK;
    }
    if (!rc && !open_reference(baseline, store_dir, &reference)) {
        rc = err_set(err, ERR_NOT_FOUND, "none of the %zu earlier runs can be read from the store", baseline->member_count);
    } else if (!rc) {
        if (!(rc = run_record_load(&ret->base, &reference, err)))
            rc = compare(ret, &reference, new_run, err);
        db_close(&reference);
    }
    if (!rc && ret->state == COMPARE_DONE && !(rc = baseline_measure(baseline, store_dir, ret->metrics, err)))
        rc = judge_stages(ret, store_dir, err);
    if (rc)
        comparison_dispose(ret);
    else
        compare_noise(ret);
    return rc;
}

void comparison_dispose(struct comparison *self)
{
    run_record_dispose(&self->base);
    run_record_dispose(&self->new_run);
    mem_free(TAKE(self->settings));
    mem_free(TAKE(self->findings));
    arena_dispose(&self->arena);
}
