/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyse.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/analysis_rows.h"
#include "analysis/audits.h"
#include "analysis/fingerprint.h"
#include "analysis/run_key.h"
#include "analysis/slot_use.h"
#include "analysis/stage_desks.h"
#include "base/beside.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/time.h"

/* Texts of findings: FINDINGS_PER_RULE of each rule at some kilobytes each, and lists of lost attempts. */
#define TEXTS_MAX_BYTES ((size_t)512 << 20)
/* Tasks of a batch from which on its samples are worth a thread: some 300 µs of work. */
#define SAMPLE_BESIDE_FROM ((size_t)8192)

struct looked_at {
    struct stage_stats stats;
    struct stage_extra extra;
};

/* Everything on the way; each part borrows from those above it. */
struct analysis {
    struct arena arena;
    struct facts facts;
    struct accounts accounts;
    struct lost_tasks lost;
    struct completeness log;
    struct stage_desks desks;
    struct looked_at nothing, *looked_at; /* by place among those that are looked at */
    const struct stage_stats **stages;
    const struct stage_extra **extras;
    struct simulation *simulation;
    struct chain chain;
    struct what_if *what_ifs;
    size_t what_if_count;
    struct audits audits;
    struct slot_use slot_use;
    struct beside using_slots; /* makes it, once there is time */
    bool uses_slots;           /* it was begun */
    enum err_code slot_use_rc;
    struct findings findings;
    struct judged judged;
    /* The thread beside, and what the two hand to each other: the simulation (with the spans of the account, which are made before), its calibration. */
    pthread_t thread;
    bool beside; /* it runs */
    struct queue made, calibrated;
    enum err_code beside_rc;
    struct err beside_err;
};

static void analysis_free(struct analysis *self)
{
    if (!self)
        return;
    findings_dispose(&self->findings);
    slot_use_dispose(&self->slot_use);
    audits_dispose(&self->audits);
    what_ifs_free(self->what_ifs);
    chain_dispose(&self->chain);
    simulation_free(self->simulation);
    mem_free(self->stages);
    mem_free(self->extras);
    mem_free(self->looked_at);
    stage_desks_dispose(&self->desks);
    queue_dispose(&self->made);
    queue_dispose(&self->calibrated);
    lost_tasks_dispose(&self->lost);
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

/* What rules ask beyond stage_stats, which needs the first half of that alone. */
struct more {
    struct looked_at *ret;
    const struct stage_sample *sample;
    enum err_code rc;
    struct err err;
};

static void ask_more(void *context)
{
    struct more *self = context;
    self->rc = stage_extra_make(&self->ret->extra, self->sample, &self->ret->stats, &self->err);
}

static enum err_code look_at_one(void *context, struct stage_desk *desk, struct err *err)
{
    struct analysis *self = context;
    const struct stage_samples *samples = &desk->samples;
    struct looked_at *ret = &self->looked_at[desk->place];
    struct stats_making making;
    enum err_code rc = stage_stats_begin(&making, &ret->stats, &samples->sample, err);
    if (rc)
        return rc;
    struct more more = {.ret = ret, .sample = &samples->sample};
    struct beside asking;
    beside_start(&asking, stage_is_large(&samples->sample), ask_more, &more);
    rc = stage_stats_end(&making, err);
    beside_join(&asking);
    if (rc || more.rc || !samples->sample.count)
        return rc || !more.rc ? rc : err_set(err, more.rc, "%s", more.err.message);
    ret->extra.worst.executor = executor_position(samples, ret->extra.worst.executor);
    ret->extra.peer.executor = executor_position(samples, ret->extra.peer.executor);
    ret->extra.data_task.executor = executor_position(samples, ret->extra.data_task.executor);
    ret->stats.slow_executor.executor = executor_position(samples, ret->stats.slow_executor.executor);
    self->stages[desk->stage] = &ret->stats;
    self->extras[desk->stage] = &ret->extra;
    return ERR_OK;
}

static double work_of(const struct facts *facts, const struct stage_fact *stage)
{
    double sum = 0;
    for (size_t i = 0; i < stage->attempt_count; i++)
        sum += (double)attempt_occupancy_ms(&facts->attempts[stage->first_attempt + i]);
    return sum;
}

/* The stages to look at, in their order; behind the last one NO_ENTITY. */
static enum err_code choose_stages(struct analysis *self, struct worked **ret, struct err *err)
{
    const struct facts *facts = &self->facts;
    struct worked *order = *ret = mem_array(facts->stage_count + 1, sizeof *order);
    size_t count = 0;
    self->stages = mem_array(facts->stage_count + 1, sizeof *self->stages);
    self->extras = mem_array(facts->stage_count + 1, sizeof *self->extras);
    if (!order || !self->stages || !self->extras)
        return err_nomem(err);
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        self->stages[i] = &self->nothing.stats;
        self->extras[i] = &self->nothing.extra;
        if (facts->stages[i].winner_count)
            order[count++].stage = i;
    }
    if (count > STAGES_LOOKED_AT) {
        for (size_t i = 0; i < count; i++)
            order[i].work_ms = work_of(facts, &facts->stages[order[i].stage]);
        qsort(order, count, sizeof *order, by_work);
        count = STAGES_LOOKED_AT;
        qsort(order, count, sizeof *order, by_stage);
    }
    order[count].stage = NO_ENTITY;
    return (self->looked_at = mem_array(count + 1, sizeof *self->looked_at)) ? ERR_OK : err_nomem(err);
}

/* Who takes the values of a stage's tasks. */
struct takers {
    struct account_pass account;
    struct stage_samples *samples; /* NULL: it is not looked at */
    struct lost_tasks *lost;       /* NULL: it loses no work */
    const struct facts *facts;
    uint32_t stage;
    /* The batch at hand, for the samples beside. */
    const struct task_values *values;
    const uint32_t *places;
    enum err_code sampled;
    struct err sample_err;
};

static void add_samples(void *context)
{
    struct takers *self = context;
    self->sampled = stage_samples_add(self->samples, self->values, self->places, &self->sample_err);
}

static enum err_code take_values(void *to, const struct task_values *values, const uint32_t *places, struct err *err)
{
    struct takers *self = to;
    struct beside sampling;
    self->values = values;
    self->places = places;
    if (self->samples)
        beside_start(&sampling, values->count >= SAMPLE_BESIDE_FROM, add_samples, self);
    account_pass_add(&self->account, values, places);
    enum err_code rc = self->lost ? lost_tasks_add(self->lost, self->facts, self->stage, values, places, err) : ERR_OK;
    if (self->samples)
        beside_join(&sampling);
    return rc || !self->sampled ? rc : err_set(err, self->sampled, "%s", self->sample_err.message);
}

static enum err_code pass_stage(struct analysis *self, uint32_t stage, struct stage_samples *samples, struct err *err)
{
    struct takers takers = {.samples = samples, .facts = &self->facts, .stage = stage};
    takers.lost = stage_loses_work(&self->facts.stages[stage]) ? &self->lost : NULL;
    enum err_code rc = samples ? stage_samples_begin(samples, &self->facts, stage, self->accounts.stages[stage].slots, err) : ERR_OK;
    if (rc)
        return rc;
    account_pass_begin(&takers.account, &self->accounts, &self->facts, stage);
    rc = facts_value_batches(&self->facts, stage, ACCOUNT_VALUES | (samples ? SAMPLE_VALUES : 0) | (takers.lost ? LOST_VALUES : 0), take_values, &takers, err);
    account_pass_end(&takers.account);
    lost_tasks_end_stage(&self->lost, &self->facts, stage);
    if (samples)
        stage_samples_end(samples);
    return rc;
}

/* One pass over the values of all tasks: accounts, and the stages that are looked at. */
static enum err_code pass_stages(struct analysis *self, struct err *err)
{
    const struct facts *facts = &self->facts;
    CLEANUP(mem_freep) struct worked *order = NULL;
    const struct stage_sample none = {.slots = 1};
    enum err_code rc = choose_stages(self, &order, err);
    if (!rc)
        rc = stage_stats_make(&self->nothing.stats, &none, err);
    if (!rc)
        rc = stage_extra_make(&self->nothing.extra, &none, &self->nothing.stats, err);
    size_t place = 0;
    for (uint32_t i = 0; i < facts->stage_count && !rc; i++) {
        if (!facts->stages[i].attempt_count)
            continue;
        if (order[place].stage != i) {
            rc = pass_stage(self, i, NULL, err);
            continue;
        }
        struct stage_desk *desk = stage_desks_take(&self->desks, facts->stages[i].attempt_count);
        if (!desk)
            break;
        desk->stage = i;
        desk->place = place++;
        if (!(rc = pass_stage(self, i, &desk->samples, err)))
            stage_desks_ready(&self->desks, desk);
    }
    return rc;
}

/* ---- beside: what needs no database */

/* Makes what asks for facts alone while the values of tasks are read, largest first, for samples grow meanwhile; then looks at stages as they come. The run without lost work is for who
 * asks later. */
static void make_and_look(struct analysis *self)
{
    struct simulated without_lost;
    struct err *err = &self->beside_err;
    enum err_code rc = simulation_make(&self->simulation, &self->facts, &self->accounts, err);
    if (!rc)
        rc = simulation_without_lost(self->simulation, &without_lost, err);
    if (!rc)
        rc = account_spans_make(&self->accounts, &self->facts, err);
    self->beside_rc = rc;
    if (rc || !queue_push(&self->made, self->simulation))
        queue_close(&self->made);
    stage_desks_work(&self->desks);
}

/* Of the two threads that which comes first. */
static enum err_code ask_what_if(struct analysis *self, struct err *err)
{
    const struct calibration *calibration = queue_pop(&self->calibrated);
    return calibration ? what_ifs_make(&self->what_ifs, &self->what_if_count, self->simulation, calibration, err) : ERR_OK;
}

static void *work_beside(void *context)
{
    struct analysis *self = context;
    make_and_look(self);
    if (!self->beside_rc)
        self->beside_rc = ask_what_if(self, &self->beside_err);
    return NULL;
}

/* Without it all is done here, one after the other. */
static void start_beside(struct analysis *self)
{
    self->beside = self->facts.attempt_count >= FACTS_BESIDE_FROM && !pthread_create(&self->thread, NULL, work_beside, self);
}

/* `rc`: of this thread's own work, which comes first if both failed. */
static enum err_code end_beside(struct analysis *self, enum err_code rc, struct err *err)
{
    stage_desks_close(&self->desks);
    queue_close(&self->made);
    queue_close(&self->calibrated);
    if (self->beside)
        pthread_join(self->thread, NULL);
    const struct err *why = self->desks.rc ? &self->desks.err : &self->beside_err;
    if (rc || !(rc = self->desks.rc ? self->desks.rc : self->beside_rc))
        return rc;
    return err_set(err, rc, "%s", why->message);
}

/* ---- the story */

static void use_slots(void *context)
{
    struct analysis *self = context;
    struct err ignored; /* nothing but memory can be missing */
    self->slot_use_rc = slot_use_make(&self->slot_use, &self->facts, &ignored);
}

static enum err_code run_both(struct analysis *self, struct err *err)
{
    struct judged *judged = &self->judged;
    enum err_code rc = pass_stages(self, err);
    stage_desks_close(&self->desks);
    if (rc)
        return rc;
    if (!self->beside)
        make_and_look(self);
    judged->simulation = queue_pop(&self->made);
    if (!judged->simulation)
        return ERR_OK; /* end_beside says why */
    /* The curve of slots asks for facts alone; from here on one thread has nothing to do most of the time. */
    self->uses_slots = true;
    beside_start(&self->using_slots, self->facts.attempt_count >= FACTS_BESIDE_FROM, use_slots, self);
    rc = accounts_end(&self->accounts, &self->facts, err);
    if (!rc)
        rc = chain_make(&self->chain, &self->facts, &self->accounts, err);
    if (!rc)
        rc = simulation_calibrate(judged->simulation, &judged->calibration, err);
    if (rc || !queue_push(&self->calibrated, &judged->calibration))
        return rc;
    judged->facts = &self->facts;
    judged->accounts = &self->accounts;
    judged->lost = &self->lost;
    judged->stages = self->stages;
    judged->extras = self->extras;
    judged->chain = &self->chain;
    self->log = completeness_of(&self->facts);
    judged->completeness = self->log.score;
    judged->log = &self->log;
    judged->wall_ms = self->facts.end_ms - self->facts.begin_ms;
    self->findings.arena = &self->arena;
    judged->audits = &self->audits;
    rc = audits_make(&self->audits, judged, err);
    queue_close(&self->calibrated);
    return rc ? rc : ask_what_if(self, err);
}

static enum err_code run(struct analysis *self, struct err *err)
{
    enum err_code rc = accounts_begin(&self->accounts, &self->facts, err);
    if (rc)
        return rc;
    start_beside(self);
    rc = end_beside(self, run_both(self, err), err);
    for (size_t i = 0; i < DESK_COUNT; i++) /* the columns of the largest stage: more than all that is still to come */
        stage_samples_dispose(&self->desks.desks[i].samples);
    self->judged.what_ifs = self->what_ifs;
    self->judged.what_if_count = self->what_if_count;
    return rc;
}

/* With what is beside it done. */
static enum err_code judge_run(struct analysis *self, struct analysis_result *result, struct joint_price joint[JOINT_PRICES], struct err *err)
{
    enum err_code rc = run(self, err);
    if (!rc)
        rc = judge(&self->judged, &self->findings, joint, &result->joint_count, err);
    if (self->uses_slots)
        beside_join(&self->using_slots);
    return rc || !self->slot_use_rc ? rc : err_nomem(err);
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
    stage_desks_init(&self->desks, look_at_one, self);
    queue_init(&self->made, 1);
    queue_init(&self->calibrated, 1);
    struct joint_price joint[JOINT_PRICES];
    struct analysis_result result = {.judged = &self->judged, .findings = &self->findings, .slot_use = &self->slot_use, .joint = joint};
    rc = facts_load(&self->facts, app, err);
    if (!rc)
        rc = judge_run(self, &result, joint, err);
    if (!rc)
        rc = analysis_rows_write(app, &result, err);
    if (!rc)
        rc = fingerprints_write(app, err);
    if (!rc)
        rc = run_identity_write(app, err);
    if (!rc)
        rc = audits_store(&self->audits, &self->judged, &self->findings, app, err);
    if (!rc)
        rc = analysis_rows_end(app, (time_monotonic_ns() - begun_ns) / NS_PER_MS, err);
    if (rc) {
        struct err ignored;
        enum err_code cleared = analysis_rows_clear(app, &ignored);
        (void)cleared; /* the first error is the one to tell */
    }
    return rc;
}
