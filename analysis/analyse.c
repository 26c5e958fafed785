/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyse.h"

#include <stdlib.h>

#include "analysis/analysis_rows.h"
#include "analysis/audits.h"
#include "analysis/fingerprint.h"
#include "analysis/run_key.h"
#include "analysis/stage_sample.h"
#include "base/mem.h"
#include "base/time.h"

/* Texts of findings: FINDINGS_PER_RULE of each rule at some kilobytes each, and lists of lost attempts. */
#define TEXTS_MAX_BYTES ((size_t)512 << 20)

struct looked_at {
    struct stage_stats stats;
    struct stage_extra extra;
};

/* Everything on the way; each part borrows from those above it. */
struct analysis {
    struct arena arena;
    struct facts facts;
    struct accounts accounts;
    struct completeness log;
    struct stage_samples samples;
    struct looked_at nothing, *looked_at;
    const struct stage_stats **stages;
    const struct stage_extra **extras;
    struct simulation *simulation;
    struct chain chain;
    struct what_if *what_ifs;
    struct audits audits;
    struct findings findings;
    struct judged judged;
};

static void analysis_free(struct analysis *self)
{
    if (!self)
        return;
    findings_dispose(&self->findings);
    audits_dispose(&self->audits);
    what_ifs_free(self->what_ifs);
    chain_dispose(&self->chain);
    simulation_free(self->simulation);
    mem_free(self->stages);
    mem_free(self->extras);
    mem_free(self->looked_at);
    stage_samples_dispose(&self->samples);
    accounts_dispose(&self->accounts);
    facts_dispose(&self->facts);
    arena_dispose(&self->arena);
    mem_free(self);
}

static void analysis_freep(struct analysis **self)
{
    analysis_free(*self);
}

/* ---- the tasks of the stages with most work */

struct worked {
    double work_ms;
    uint32_t stage;
};

static int by_work(const void *a, const void *b)
{
    const struct worked *x = a, *y = b;
    if (x->work_ms > y->work_ms || x->work_ms < y->work_ms)
        return x->work_ms < y->work_ms ? 1 : -1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

/* In the order of stages, so that columns are read as they lie. */
static int by_stage(const void *a, const void *b)
{
    const struct worked *x = a, *y = b;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

/* The sample numbers its executors; everything else speaks of their positions. */
static uint32_t executor_position(const struct stage_samples *samples, uint32_t number)
{
    return number == UINT32_MAX ? NO_ENTITY : samples->executors[number];
}

static enum err_code look_at_one(struct analysis *self, uint32_t stage, struct looked_at *ret, struct err *err)
{
    enum err_code rc = stage_samples_read(&self->samples, &self->facts, stage, self->accounts.stages[stage].slots, err);
    if (!rc)
        rc = stage_stats_make(&ret->stats, &self->samples.sample, err);
    if (!rc)
        rc = stage_extra_make(&ret->extra, &self->samples.sample, &ret->stats, err);
    if (rc || !self->samples.sample.count)
        return rc;
    ret->extra.worst.executor = executor_position(&self->samples, ret->extra.worst.executor);
    ret->extra.peer.executor = executor_position(&self->samples, ret->extra.peer.executor);
    ret->extra.data_task.executor = executor_position(&self->samples, ret->extra.data_task.executor);
    ret->stats.slow_executor.executor = executor_position(&self->samples, ret->stats.slow_executor.executor);
    self->stages[stage] = &ret->stats;
    self->extras[stage] = &ret->extra;
    return ERR_OK;
}

static enum err_code look_at_stages(struct analysis *self, struct err *err)
{
    const struct facts *facts = &self->facts;
    CLEANUP(mem_freep) struct worked *order = mem_array(facts->stage_count + 1, sizeof *order);
    size_t count = 0;
    self->stages = mem_array(facts->stage_count + 1, sizeof *self->stages);
    self->extras = mem_array(facts->stage_count + 1, sizeof *self->extras);
    if (!order || !self->stages || !self->extras)
        return err_nomem(err);
    const struct stage_sample none = {.slots = 1};
    enum err_code rc = stage_stats_make(&self->nothing.stats, &none, err);
    if (!rc)
        rc = stage_extra_make(&self->nothing.extra, &none, &self->nothing.stats, err);
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        self->stages[i] = &self->nothing.stats;
        self->extras[i] = &self->nothing.extra;
        if (facts->stages[i].winner_count)
            order[count++] = (struct worked){self->accounts.stages[i].occupancy_ms, i};
    }
    if (count > STAGES_LOOKED_AT) {
        qsort(order, count, sizeof *order, by_work);
        count = STAGES_LOOKED_AT;
        qsort(order, count, sizeof *order, by_stage);
    }
    if (!rc && !(self->looked_at = mem_array(count + 1, sizeof *self->looked_at)))
        rc = err_nomem(err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = look_at_one(self, order[i].stage, &self->looked_at[i], err);
    stage_samples_dispose(&self->samples);   /* the columns of the largest stage: more than all that is still to come */
    return rc;
}

/* ---- the story */

static enum err_code simulate(struct analysis *self, struct err *err)
{
    struct judged *judged = &self->judged;
    enum err_code rc = simulation_make(&self->simulation, &self->facts, &self->accounts, err);
    if (!rc)
        rc = simulation_calibrate(self->simulation, &judged->calibration, err);
    if (!rc)
        rc = what_ifs_make(&self->what_ifs, &judged->what_if_count, self->simulation, &judged->calibration, err);
    judged->simulation = self->simulation;
    judged->what_ifs = self->what_ifs;
    return rc;
}

static enum err_code run(struct analysis *self, struct db *app, struct err *err)
{
    struct judged *judged = &self->judged;
    enum err_code rc = facts_load(&self->facts, app, err);
    if (!rc)
        rc = accounts_make(&self->accounts, &self->facts, err);
    if (!rc)
        rc = look_at_stages(self, err);
    if (!rc)
        rc = chain_make(&self->chain, &self->facts, &self->accounts, err);
    if (!rc)
        rc = simulate(self, err);
    if (rc)
        return rc;
    judged->facts = &self->facts;
    judged->accounts = &self->accounts;
    judged->stages = self->stages;
    judged->extras = self->extras;
    judged->chain = &self->chain;
    self->log = completeness_of(&self->facts);
    judged->completeness = self->log.score;
    judged->log = &self->log;
    judged->wall_ms = self->facts.end_ms - self->facts.begin_ms;
    self->findings.arena = &self->arena;
    judged->audits = &self->audits;
    return audits_make(&self->audits, judged, err);
}

enum err_code analyse(struct db *app, struct err *err)
{
    int64_t begun_ns = time_monotonic_ns();
    enum err_code rc = analysis_rows_clear(app, err);
    if (rc)
        return rc;
    CLEANUP(analysis_freep) struct analysis *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    arena_init(&self->arena, TEXTS_MAX_BYTES);
    struct joint_price joint[JOINT_PRICES];
    struct analysis_result result = {.judged = &self->judged, .findings = &self->findings, .joint = joint};
    rc = run(self, app, err);
    if (!rc)
        rc = judge(&self->judged, &self->findings, joint, &result.joint_count, err);
    if (!rc) {
        result.duration_ms = (time_monotonic_ns() - begun_ns) / NS_PER_MS;
        rc = analysis_rows_write(app, &result, err);
    }
    if (!rc)
        rc = fingerprints_write(app, err);
    if (!rc)
        rc = run_identity_write(app, err);
    if (!rc)
        rc = audits_store(&self->audits, &self->judged, &self->findings, app, err);
    if (rc) {
        struct err ignored;
        enum err_code cleared = analysis_rows_clear(app, &ignored);
        (void)cleared; /* the first error is the one to tell */
    }
    return rc;
}
