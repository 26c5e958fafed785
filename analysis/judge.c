/* SPDX-License-Identifier: Apache-2.0
 *
 * From families of rules to the list of findings: what follows for all of them alike. */
#include "analysis/judge.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding_order.h"
#include "analysis/suppression.h"
#include "base/beside.h"
#include "base/mem.h"

static rules_fn *const families[] = {rules_app, rules_stage, rules_memory, rules_shuffle, rules_failure, rules_reuse, rules_sql, rules_conf, rules_stream, rules_log};

/* 1.6 */
#define TINY_APP_MS 10000
#define TINY_STAGE_WALL_MS 1000
#define TINY_STAGE_WORK_MS 2000.0
/* 2.2, 2.3: what completeness is needed for what. */
#define COMPLETE 99
#define COMPLETE_FOR_TIME_RULES 80
#define STAGE_COMPLETE 0.99
/* 1.6, 6.6: where the stage alone would win this much and the run as a whole does not, the stage is off the critical path. */
#define OFF_PATH_PRICE_MS 200
#define OFF_PATH_SAVING_MS 1000.0
/* 1.8 */
#define CONFIDENT_ERROR 0.05
#define CONFIDENT_TASKS 10
#define CONFIDENT_CAUSE 0.6
#define CONFIDENT_METRICS 20 /* one winner in so many without metrics, 5 %, is too many */

/* ---- whether a subject is judged */

static bool tiny_stage(const struct judged *judged, uint32_t stage)
{
    const struct stage_fact *fact = &judged->facts->stages[stage];
    return known_or(elapsed_known(fact->first_launch_ms, fact->last_finish_ms), 0) < TINY_STAGE_WALL_MS || judged->accounts->stages[stage].occupancy_ms < TINY_STAGE_WORK_MS;
}

/* Health rules always run (2.3), but for those whose findings the damage alone would make: they set what is there against what is not, and a log that lacks the one or the other is no witness. */
static bool may_be_damage(const struct rule *rule)
{
    static const char *const ids[] = {"APP.OVERALLOC", "STAGE.SKEW_WRITE", "STAGE.SHUFFLE_VOLUME", "STAGE.SHUFFLE_REREAD", "EXEC.HOTSPOT",
                                      "EXEC.MEM_OVER", "EXEC.GC_LOW",      "RDD.CACHE_PARTIAL",    "RDD.CACHE_UNUSED",     "RDD.CACHE_LEAK"};
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
        if (strcmp(rule->id, ids[i]) == 0)
            return true;
    return false;
}

enum mute mute_of(const struct judged *judged, const struct rule *rule, uint32_t stage)
{
    if (rule->kind == RULE_HEALTH)
        return judged->completeness < COMPLETE_FOR_TIME_RULES && may_be_damage(rule) ? MUTE_INCOMPLETE : MUTE_NONE;
    if (judged->wall_ms < TINY_APP_MS)
        return MUTE_TINY_APP;
    if (judged->completeness < COMPLETE_FOR_TIME_RULES)
        return MUTE_INCOMPLETE;
    if (stage == NO_ENTITY)
        return MUTE_NONE;
    return judged->facts->stages[stage].completeness < STAGE_COMPLETE ? MUTE_INCOMPLETE : tiny_stage(judged, stage) ? MUTE_TINY_STAGE : MUTE_NONE;
}

static void mute_common(const struct judged *judged, struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        enum mute common = mute_of(judged, finding->rule, finding->stage);
        if (common)
            finding->mute = common;
    }
}

/* ---- one more member for a finding that is closed already */

static void add_member(struct findings *findings, struct str *object, const char *name, const char *json)
{
    bool empty = object->len <= 2;
    char *text = arena_printf(findings->arena, "%.*s%s\"%s\":{\"v\":%s}}", (int)object->len - 1, object->ptr, empty ? "" : ",", name, json);
    if (text)
        *object = str_of(text);
    else
        findings->out_of_memory = true;
}

/* ---- what is kept (1.5): subjects that pass the first threshold, those with most at stake; else the nearest */

static double stake(const struct finding *finding)
{
    return isnan(finding->local_saving_ms) ? finding_margin(finding, NULL) : finding->local_saving_ms;
}

static int keep_order(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->rule != y->rule)
        return (x->rule > y->rule) - (x->rule < y->rule);
    bool fires_x = finding_fires(x), fires_y = finding_fires(y), early_x = mute_is_early(x->mute), early_y = mute_is_early(y->mute);
    if (fires_x != fires_y)
        return (int)fires_y - (int)fires_x;
    if (early_x != early_y)
        return (int)early_x - (int)early_y;
    double stake_x = fires_x ? stake(x) : finding_margin(x, NULL), stake_y = fires_y ? stake(y) : finding_margin(y, NULL);
    if (isnan(stake_x) != isnan(stake_y))
        return isnan(stake_x) ? 1 : -1;
    if (stake_x > stake_y || stake_x < stake_y)
        return stake_x < stake_y ? 1 : -1;
    return subject_key_compare(x->subject_key, y->subject_key);
}

static void keep_best(struct findings *findings)
{
    size_t kept = 0;
    if (findings->count)
        qsort(findings->items, findings->count, sizeof *findings->items, keep_order);
    for (size_t begin = 0, end; begin < findings->count; begin = end) {
        const struct rule *rule = findings->items[begin].rule;
        size_t fire = 0, first = kept;
        for (end = begin; end < findings->count && findings->items[end].rule == rule; end++)
            fire += finding_fires(&findings->items[end]);
        size_t keep = fire ? MIN(fire, (size_t)FINDINGS_PER_RULE) : 1, further = fire - MIN(fire, keep) + findings_refused(findings, rule);
        for (size_t i = begin; i < begin + keep; i++)
            findings->items[kept++] = findings->items[i];
        if (further) {
            char number[24];
            snprintf(number, sizeof number, "%zu", further);
            add_member(findings, &findings->items[first].measures, "further_subjects", number);
        }
    }
    findings->count = kept;
}

static void add_unjudged(struct findings *findings)
{
    size_t count = findings->count;
    for (size_t r = 0, i = 0; r < rule_count; r++) {
        while (i < count && findings->items[i].rule < &rules[r])
            i++;
        if (i == count || findings->items[i].rule != &rules[r])
            findings_add(findings, rules[r].id, SUBJECT_APP, "-")->mute = MUTE_NO_SUBJECT;
    }
    findings_close(findings);
}

/* ---- prices (6.5, 6.6) */

struct pricing {
    const struct judged *judged;
    size_t budget; /* items left */
    bool allowed;
    const char *refusal; /* JSON: why nothing is priced */
};

static struct pricing pricing_of(const struct judged *judged)
{
    struct pricing out = {.judged = judged, .budget = PRICE_BUDGET_ITEMS(judged->facts->attempt_count)};
    out.allowed = judged->completeness >= COMPLETE_FOR_PRICES && judged->calibration.prices_allowed;
    out.refusal = judged->completeness < COMPLETE_FOR_PRICES ? "\"incomplete\"" : "\"simulator error\"";
    return out;
}

/* A finding's run, where it is there before its turn. */
struct early_run {
    struct simulated simulated;
    bool known;
};

/* What the run would win; *ret_within false: the budget was used up before. The last run may overdraw it. `early`: NULL where there is none. */
static enum err_code saving(struct pricing *self, const struct change *changes, size_t count, const struct early_run *early, bool *ret_within, int64_t *ret_ms, struct err *err)
{
    struct simulated simulated = {0};
    *ret_within = self->budget > 0;
    if (!*ret_within)
        return ERR_OK;
    enum err_code rc = ERR_OK;
    if (early && early->known)
        simulated = early->simulated;
    else
        rc = simulation_run(self->judged->simulation, changes, count, &simulated, err);
    *ret_ms = rc ? 0 : MAX(0, self->judged->calibration.as_observed_ms - simulated.wall_ms);
    if (!rc)
        self->budget -= MIN(self->budget, simulated.items + 1);
    return rc;
}

static int by_stake(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    double sx = isnan(x->local_saving_ms) ? -1 : x->local_saving_ms, sy = isnan(y->local_saving_ms) ? -1 : y->local_saving_ms;
    if (sx > sy || sx < sy)
        return sx < sy ? 1 : -1;
    return (x > y) - (x < y);
}

/* What the run would win if the stage took no time at all (6.6). */
static enum err_code stage_most(struct pricing *self, uint32_t stage, bool *ret_within, int64_t *ret_ms, struct err *err)
{
    return saving(self, &(struct change){.kind = CHANGE_ZERO, .stage = stage}, 1, NULL, ret_within, ret_ms, err);
}

/* The same work spread ideally. */
static double spread_most_ms(const struct judged *judged, uint32_t stage)
{
    const struct stage_stats *stats = judged->stages[stage];
    return stats->base_ms - MAX(stats->of[STAT_OCCUPANCY].sum / MAX(1.0, judged->accounts->stages[stage].slots), stats->of[STAT_OCCUPANCY].p75);
}

static enum err_code price_one(struct pricing *self, struct findings *findings, struct finding *finding, const struct early_run *early, struct err *err)
{
    bool within;
    int64_t saved;
    if (!self->allowed) {
        add_member(findings, &finding->measures, "unpriced", self->refusal);
        return ERR_OK;
    }
    enum err_code rc = saving(self, finding->changes, finding->change_count, early, &within, &saved, err);
    if (rc)
        return rc;
    if (!within) {
        add_member(findings, &finding->measures, "unpriced", "\"budget\"");
        return ERR_OK;
    }
    struct price price = price_of(&self->judged->calibration, saved, (enum band)finding->band);
    bool told_anyway = finding->rule->kind == RULE_HEALTH || finding->at_least > GRADE_OK;
    if (told_anyway && price.ms < OFF_PATH_PRICE_MS)
        price.ms = price.low_ms = 0; /* no saving to speak of (1.3), and none to be ranked by */
    finding->price.ms = price.ms;
    finding->price.low_ms = price.low_ms;
    finding->price.high_ms = price.high_ms;
    bool is_spread = finding->scenario && strcmp(finding->scenario, "W2") == 0 && finding->stage != NO_ENTITY;
    /* Only a subject with something to lose is told that losing it would not matter. */
    if (finding->rule->kind == RULE_TIME && price.ms < OFF_PATH_PRICE_MS && finding->local_saving_ms >= OFF_PATH_SAVING_MS)
        finding->mute = MUTE_OFF_PATH;
    if (finding->stage == NO_ENTITY || (!is_spread && finding->mute != MUTE_OFF_PATH))
        return ERR_OK;
    int64_t most;
    if ((rc = stage_most(self, finding->stage, &within, &most, err)) || !within)
        return rc;
    if (finding->mute == MUTE_OFF_PATH) {
        char number[32];
        snprintf(number, sizeof number, "%lld,\"u\":\"ms\"", (long long)most);
        add_member(findings, &finding->measures, "slack", number);
    }
    /* The upper end of W2 is the ideal spread, as far as the run would feel it. */
    double spread = is_spread ? fmin(spread_most_ms(self->judged, finding->stage), (double)most) : (double)NAN;
    if (is_spread && !isnan(spread))
        finding->price.high_ms = MAX(finding->price.ms, (int64_t)(spread + 0.5));
    return ERR_OK;
}

/* Runs that need no database, in the order of their turns, by whichever of two threads is free. All that have begun come before those still to come: what they cost is never more than
 * what was used up when it is a later one's turn, so that none is left out that has a turn. */
struct running_early {
    const struct pricing *pricing;
    struct finding *const *order;
    size_t count;
    struct early_run *runs; /* by place in `order` */
    atomic_size_t next, used;
};

static bool runs_early(const struct finding *finding)
{
    for (size_t i = 0; i < finding->change_count; i++)
        if (change_reads_values(&finding->changes[i]))
            return false;
    return true;
}

/* One that fails is run again when it is its turn. */
static void run_early(void *context)
{
    struct running_early *self = context;
    for (size_t i; atomic_load(&self->used) < self->pricing->budget && (i = atomic_fetch_add(&self->next, 1)) < self->count;) {
        struct err ignored;
        struct early_run *run = &self->runs[i];
        if (!runs_early(self->order[i]))
            continue;
        run->known = !simulation_run(self->pricing->judged->simulation, self->order[i]->changes, self->order[i]->change_count, &run->simulated, &ignored);
        atomic_fetch_add(&self->used, run->simulated.items + 1);
    }
}

static enum err_code price_all(struct pricing *self, struct findings *findings, struct err *err)
{
    CLEANUP(mem_freep) struct finding **order = mem_array(findings->count + 1, sizeof *order);
    CLEANUP(mem_freep) struct early_run *early = mem_array(findings->count + 1, sizeof *early);
    size_t count = 0;
    enum err_code rc = ERR_OK;
    if (!order || !early)
        return err_nomem(err);
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].change_count && !findings->items[i].mute)
            order[count++] = &findings->items[i];
    qsort(order, count, sizeof *order, by_stake);
    if (self->allowed && count > 1 && self->judged->facts->attempt_count >= FACTS_BESIDE_FROM) {
        struct running_early running = {.pricing = self, .order = order, .count = count, .runs = early};
        struct beside beside;
        beside_start(&beside, true, run_early, &running);
        run_early(&running);
        beside_join(&beside);
    }
    for (size_t i = 0; i < count && !rc; i++)
        rc = price_one(self, findings, order[i], &early[i], err);
    return rc;
}

static bool is_priced_finding(const struct judged *judged, const struct finding *finding)
{
    return known(finding->price.ms) && finding->price.ms > 0 && finding->change_count && !finding_is_usual(finding) && finding_shows(finding, NULL, judged->wall_ms);
}

/* Savings of the first findings together, by price: what one change took another can not take again. */
static enum err_code price_jointly(struct pricing *self, const struct findings *findings, struct joint_price *ret, size_t *ret_count, struct err *err)
{
    size_t order[JOINT_PRICES], count = 0, change_count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        if (!is_priced_finding(self->judged, &findings->items[i]))
            continue;
        size_t at = MIN(count, (size_t)JOINT_PRICES - 1);
        if (count == JOINT_PRICES && findings->items[order[at]].price.ms >= findings->items[i].price.ms)
            continue;
        for (; at && findings->items[order[at - 1]].price.ms < findings->items[i].price.ms; at--)
            order[at] = order[at - 1];
        order[at] = i;
        count = MIN(count + 1, (size_t)JOINT_PRICES);
    }
    for (size_t k = 0; k < count; k++)
        change_count += findings->items[order[k]].change_count;
    CLEANUP(mem_freep) struct change *changes = mem_array(change_count + 1, sizeof *changes);
    enum err_code rc = changes ? ERR_OK : err_nomem(err);
    *ret_count = change_count = 0;
    for (size_t k = 0; k < count && !rc; k++) {
        const struct finding *finding = &findings->items[order[k]];
        bool within = true;
        int64_t saved = finding->price.ms;
        memcpy(changes + change_count, finding->changes, finding->change_count * sizeof *changes);
        change_count += finding->change_count;
        if (k)
            rc = saving(self, changes, change_count, NULL, &within, &saved, err);
        if (rc || !within)
            break;
        ret[(*ret_count)++] = (struct joint_price){.finding = order[k], .saving_ms = saved};
    }
    return rc;
}

/* Executors are idle because stages had too few tasks: more of these come before fewer executors. */
static void blame_few_tasks(const struct judged *judged, struct findings *findings)
{
    static const char *const few[] = {"STAGE.FEW_TASKS", "STAGE.SINGLE_TASK", "SQL.AQE_OVERCOALESCED", "SQL.SINGLE_PARTITION"};
    bool any = false;
    for (size_t i = 0; i < findings->count; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(few); k++)
            any |= strcmp(findings->items[i].rule->id, few[k]) == 0 && finding_shows(&findings->items[i], NULL, judged->wall_ms);
    for (size_t i = 0; any && i < findings->count; i++)
        if (strcmp(findings->items[i].rule->id, "APP.OVERALLOC") == 0)
            findings->items[i].cause = "few_tasks";
}

/* ---- confidence (1.8) */

int confidence_of(const struct judged *judged, const struct finding *finding)
{
    bool time = finding->rule->kind == RULE_TIME;
    int sure = finding->confidence;
    sure -= judged->completeness < COMPLETE;
    sure -= time && finding->scenario && fabs(judged->calibration.error) > CONFIDENT_ERROR;
    sure -= finding->weak;
    sure -= finding->cause_share < CONFIDENT_CAUSE;
    if (finding->stage != NO_ENTITY) {
        size_t measured = judged->stages[finding->stage]->of[STAT_OCCUPANCY].count, winners = judged->facts->stages[finding->stage].winner_count;
        sure -= finding->distribution && measured < CONFIDENT_TASKS;
        sure -= measured && winners > measured && CONFIDENT_METRICS * (winners - measured) >= winners;
    }
    if (time && judged->completeness < COMPLETE_FOR_PRICES)
        return 0;
    return MAX(sure, 0);
}

enum err_code judge(const struct judged *judged, struct findings *ret, struct joint_price ret_joint[JOINT_PRICES], size_t *ret_joint_count, struct err *err)
{
    enum err_code rc = ERR_OK;
    *ret_joint_count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(families) && !rc; i++)
        rc = families[i](judged, ret, err);
    findings_close(ret);
    if (rc || ret->out_of_memory)
        return rc ? rc : err_nomem(err);
    struct pricing pricing = pricing_of(judged);
    mute_common(judged, ret);
    keep_best(ret);
    add_unjudged(ret);
    if ((rc = price_all(&pricing, ret, err)))
        return rc;
    for (size_t i = 0; i < ret->count; i++)
        ret->items[i].confidence = confidence_of(judged, &ret->items[i]);
    conf_confirm(judged, ret);
    if ((rc = suppress(judged, ret, err)))
        return rc;
    blame_few_tasks(judged, ret);
    findings_sort(ret, NULL, judged->wall_ms);
    if (pricing.allowed)
        rc = price_jointly(&pricing, ret, ret_joint, ret_joint_count, err);
    return rc ? rc : ret->out_of_memory ? err_nomem(err) : ERR_OK;
}
