/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that was done again, and caches that helped less than they could (spec/findings.md 7.6). What is known of caches is in the cache audit; here it becomes findings. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audits.h"
#include "analysis/recompute.h"
#include "analysis/sort.h"
#include "analysis/stage_view.h"
#include "base/mem.h"

#define PRICED_STAGES 1000 /* of one finding: the first of them */
/* RDD.CACHE_UNUSED: filling it took so much of all task time (own). */
#define UNUSED_BUILD_SHARE 0.1

/* ---- RDD.RECOMPUTE */

/* One action's computation of a shared RDD: which stages, and what they cost. */
struct occurrence {
    uint64_t action;
    uint32_t stage; /* the cheapest of its stages that computed it, the earliest of equals */
    double cost_ms; /* Σ o' of that stage */
    int64_t begin_ms;
};

struct shared {
    uint32_t rdd;
    size_t first, count; /* its occurrences, by begin */
    bool below;          /* an RDD made of it is shared as often: that one is what to cache */
};

struct recompute {
    const struct judged *judged;
    struct occurrence *occurrences;
    size_t occurrence_count, occurrence_capacity;
    struct shared *shared;
    size_t shared_count, shared_capacity;
};

/* Transformations that run a job by themselves, each time they are called: looking for bounds of ranges or sizes of partitions. */
static bool runs_itself(struct str stage_name)
{
    static const char *const names[] = {"sortByKey", "sortBy", "zipWithIndex", "repartitionAndSort"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (str_starts(stage_name, names[i]))
            return true;
    return false;
}

/* A number for the action that a stage ran for: its root query, or its job. Stages of transformations that run jobs themselves are one action a name. */
static uint64_t action_of(const struct facts *facts, const struct stage_fact *stage)
{
    const struct job_fact *job = &facts->jobs[stage->job];
    if (runs_itself(stage->name))
        return hash_bytes(stage->name.ptr, stage->name.len) << 2 | 2;
    uint32_t sql = known(job->sql_execution_id) ? facts_sql(facts, job->sql_execution_id) : NO_ENTITY;
    if (sql != NO_ENTITY)
        return (uint64_t)known_or(facts->sqls[sql].root_id, facts->sqls[sql].execution_id) << 2 | 1;
    return (uint64_t)job->job_id << 2;
}

static int by_action(const void *a, const void *b)
{
    const struct occurrence *x = a, *y = b;
    if (x->action != y->action)
        return x->action < y->action ? -1 : 1;
    if (x->cost_ms < y->cost_ms || x->cost_ms > y->cost_ms)
        return x->cost_ms < y->cost_ms ? -1 : 1;
    return x->stage < y->stage ? -1 : x->stage > y->stage;
}

static int by_begin(const void *a, const void *b)
{
    const struct occurrence *x = a, *y = b;
    if (x->begin_ms != y->begin_ms)
        return x->begin_ms < y->begin_ms ? -1 : 1;
    return x->stage < y->stage ? -1 : x->stage > y->stage;
}

/* The uses of one RDD, an action each; kept when there are two or more. */
static enum err_code note_shared(struct recompute *self, const struct lineage_use *uses, size_t count, struct err *err)
{
    const struct facts *facts = self->judged->facts;
    if (count < 2)
        return ERR_OK;
    size_t first = self->occurrence_count, kept = first;
    for (size_t i = 0; i < count; i++) {
        const struct stage_fact *stage = &facts->stages[uses[i].stage];
        double cost = self->judged->accounts->stages[uses[i].stage].occupancy_ms;
        if (stage->job == NO_ENTITY)
            continue;
        if (mem_grow((void **)&self->occurrences, &self->occurrence_capacity, self->occurrence_count + 1, (size_t)1 << 27, sizeof *self->occurrences))
            return err_nomem(err);
        self->occurrences[self->occurrence_count++] = (struct occurrence){action_of(facts, stage), uses[i].stage, cost, stage->first_launch_ms};
    }
    if (self->occurrence_count == first)
        return ERR_OK; /* stages that no job lists */
    qsort(self->occurrences + first, self->occurrence_count - first, sizeof *self->occurrences, by_action);
    for (size_t i = first; i < self->occurrence_count; i++)
        if (kept == first || self->occurrences[kept - 1].action != self->occurrences[i].action)
            self->occurrences[kept++] = self->occurrences[i];
    self->occurrence_count = kept;
    if (kept - first < 2) {
        self->occurrence_count = first;
        return ERR_OK;
    }
    qsort(self->occurrences + first, kept - first, sizeof *self->occurrences, by_begin);
    if (mem_grow((void **)&self->shared, &self->shared_capacity, self->shared_count + 1, facts->rdd_count, sizeof *self->shared))
        return err_nomem(err);
    self->shared[self->shared_count++] = (struct shared){.rdd = uses->rdd, .first = first, .count = kept - first};
    return ERR_OK;
}

static struct shared *find_shared(struct recompute *self, int64_t rdd_id)
{
    size_t low = 0;
    for (size_t high = self->shared_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (self->judged->facts->rdds[self->shared[i].rdd].rdd_id < rdd_id)
            low = i + 1;
        else
            high = i;
    }
    return low < self->shared_count && self->judged->facts->rdds[self->shared[low].rdd].rdd_id == rdd_id ? &self->shared[low] : NULL;
}

static void mark_below(struct recompute *self)
{
    for (size_t i = 0; i < self->shared_count; i++) {
        const struct rdd_fact *rdd = &self->judged->facts->rdds[self->shared[i].rdd];
        for (size_t p = 0; p < rdd->parent_count; p++) {
            struct shared *parent = find_shared(self, rdd->parents[p]);
            if (parent && parent->count <= self->shared[i].count)
                parent->below = true;
        }
    }
}

/* Old Spark calls an RDD that nobody named by its id: "RDD 7". `room` holds that. */
static struct str rdd_name(const struct rdd_fact *rdd, char room[32])
{
    int64_t number;
    const char *line_end = rdd->name.len ? memchr(rdd->name.ptr, '\n', rdd->name.len) : NULL; /* a cached table without a name has its plan as one */
    if (rdd->name.len && !str_to_i64(rdd->name, &number))
        return line_end ? (struct str){rdd->name.ptr, (size_t)(line_end - rdd->name.ptr)} : rdd->name;
    snprintf(room, 32, "RDD %lld", (long long)rdd->rdd_id);
    return str_of(room);
}

static enum err_code tell(const struct recompute *self, struct findings *findings, const struct shared *shared, struct err *err)
{
    CLEANUP(mem_freep) struct computation *computations = mem_array(shared->count, sizeof *computations);
    const struct rdd_fact *rdd = &self->judged->facts->rdds[shared->rdd];
    char key[24], name[32];
    if (!computations)
        return err_nomem(err);
    for (size_t i = 0; i < shared->count; i++) {
        const struct occurrence *at = &self->occurrences[shared->first + i];
        computations[i] = (struct computation){&at->stage, 1, at->cost_ms};
    }
    snprintf(key, sizeof key, "%lld", (long long)rdd->rdd_id);
    recompute_tell(self->judged, findings, computations, shared->count, SUBJECT_RDD, key, rdd_name(rdd, name));
    return ERR_OK;
}

static enum err_code recompute(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct lineage *lineage = &judged->audits->caches.lineage;
    struct recompute self = {.judged = judged};
    enum err_code rc = ERR_OK;
    for (size_t i = 0, end; i < lineage->computed_count && !rc; i = end) {
        for (end = i; end < lineage->computed_count && lineage->computed[end].rdd == lineage->computed[i].rdd; end++)
            ;
        rc = note_shared(&self, lineage->computed + i, end - i, err);
    }
    if (!rc)
        mark_below(&self);
    for (size_t i = 0; i < self.shared_count && !rc; i++)
        if (!self.shared[i].below)
            rc = tell(&self, findings, &self.shared[i], err);
    mem_free(self.occurrences);
    mem_free(self.shared);
    return rc;
}

/* ---- RDD.CACHE_… */

static double number(int64_t value)
{
    return known(value) ? (double)value : (double)NAN;
}

/* NULL: there are many RDDs, and this one is not worth its memory. A measure that is unknown is kept once. */
static struct finding *about_cache(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct cache_row *row, double measure)
{
    const struct rdd_fact *rdd = &judged->facts->rdds[row->rdd];
    char key[24], name[32];
    snprintf(key, sizeof key, "%lld", (long long)rdd->rdd_id);
    struct finding *finding = findings_consider(findings, rule, MUTE_NONE, measure, (double)NAN, SUBJECT_RDD, "%s", key);
    if (!finding)
        return NULL;
    struct evidence_cell cells[] = {{"partitions", number(row->partitions), "count"},    {"most_cached", number(row->most_partitions), "count"},
                                    {"memory", number(row->most_memory_bytes), "bytes"}, {"disk", number(row->most_disk_bytes), "bytes"},
                                    {"reads", (double)row->read_count, "count"},         {"build", row->build_ms, "ms"}};
    finding_arg_text(findings, "name", rdd_name(rdd, name));
    finding_arg(findings, "bytes", known(row->most_memory_bytes) ? (double)row->most_memory_bytes + (double)known_or(row->most_disk_bytes, 0) : (double)NAN, "bytes");
    finding_evidence(findings, SUBJECT_RDD, str_of(key), "culprit", cells, ARRAY_LENGTH(cells));
    return finding;
}

/* Beyond filling it. */
static bool is_used_again(const struct cache_row *row)
{
    return row->use_count > (row->filled_ahead ? 2 : 1);
}

/* 1 − what was there at most, or the share of reading tasks that found nothing; NaN: nobody read it, or neither is known. */
static double missing_of(const struct cache_row *row)
{
    if (row->built_by == NO_ENTITY || !is_used_again(row))
        return (double)NAN;
    return isnan(row->fraction) ? row->missing_share : 1 - row->fraction;
}

static void partial(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct cache_row *row)
{
    double missing = missing_of(row);
    struct finding *finding = about_cache(judged, findings, rule, row, missing);
    if (!finding)
        return;
    finding_arg(findings, "k", round((1 - missing) * number(row->partitions)), "count");
    finding_arg(findings, "n", number(row->partitions), "count");
    finding_arg_text(findings, "level", judged->facts->rdds[row->rdd].storage_level);
    finding_measure(findings, "evicted", number(row->evicted_partitions), "count");
    FORMULA(findings, isnan(row->fraction) ? "tasks" : NULL, rule->ladder.step[0], "own", {"most", number(row->most_partitions), "count"},
            {"partitions", number(row->partitions), "count"});
    if (!(missing > 0) || !(row->build_ms > 0))
        return;
    /* A reader computed the missing part again: at most that part of what filling it cost. */
    for (size_t i = 1; i < MIN(row->use_count, (size_t)PRICED_STAGES); i++) {
        uint32_t stage = judged->audits->caches.lineage.met[row->first_use + i].stage;
        double own = judged->accounts->stages[stage].occupancy_ms;
        if (own > 0)
            finding_change(findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = stage, .number = 1 - MIN(1.0, missing * row->build_ms / own)});
    }
}

static double task_time_ms(const struct judged *judged)
{
    double out = 0;
    for (size_t i = 0; i < judged->facts->stage_count; i++)
        out += judged->accounts->stages[i].occupancy_ms;
    return out;
}

static void unused(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct cache_row *row, double task_ms)
{
    if (row->built_by == NO_ENTITY)
        return;
    /* A stage whose tasks report no input did not read it either, but that it was of no use is RDD.CACHE_PARTIAL's. */
    bool idle = !is_used_again(row);
    struct finding *finding = about_cache(judged, findings, rule, row, !idle ? 0 : row->storage_share > 0 ? row->storage_share : DBL_MIN);
    if (!finding)
        return;
    /* How much memory it took is often unknown; how long it took to fill is not. */
    if (idle && row->build_ms >= UNUSED_BUILD_SHARE * task_ms)
        finding->at_least = GRADE_LOW;
    finding_measure(findings, "held", row->held_byte_ms / 1000, "byte·s");
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[1], "own");
}

static void leak(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct cache_row *row)
{
    double idle = cache_idle_share(row, judged->facts);
    if (!about_cache(judged, findings, rule, row, idle * row->storage_share))
        return;
    finding_arg(findings, "dur", idle * (double)judged->wall_ms, "ms");
    FORMULA(findings, NULL, rule->ladder.step[0], "own", {"idle", idle, "share"}, {"share", row->storage_share, "share"});
}

enum err_code rules_reuse(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct cache_audit *caches = &judged->audits->caches;
    const struct rule *partial_rule = rule_find(STR_LIT("RDD.CACHE_PARTIAL")), *unused_rule = rule_find(STR_LIT("RDD.CACHE_UNUSED")),
                      *leak_rule = rule_find(STR_LIT("RDD.CACHE_LEAK"));
    bool part_unknown = false, leak_unknown = false;
    double task_ms = task_time_ms(judged);
    enum err_code rc = recompute(judged, findings, err);
    for (size_t i = 0; i < caches->count && !rc; i++) {
        const struct cache_row *row = &caches->rows[i];
        partial(judged, findings, partial_rule, row);
        unused(judged, findings, unused_rule, row, task_ms);
        leak(judged, findings, leak_rule, row);
        part_unknown |= row->read_count && isnan(missing_of(row));
        leak_unknown |= row->read_count && isnan(row->storage_share);
    }
    if (part_unknown)
        findings_say_unknown(findings, partial_rule);
    if (leak_unknown)
        findings_say_unknown(findings, leak_rule);
    return rc;
}
