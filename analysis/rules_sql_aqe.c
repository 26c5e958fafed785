/* SPDX-License-Identifier: Apache-2.0
 *
 * Adaptive execution: what it merged too far, and the skew that it left alone (spec/findings.md 7.7). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/conf_value.h"
#include "analysis/sql_pass.h"
#include "base/mem.h"

#define MIB ((double)BYTES_PER_MIB)

/* SQL.AQE_OVERCOALESCED: a shorter stage does not matter, as for STAGE.FEW_TASKS. */
#define SHORT_STAGE_MS 3000
/* Spark's own thresholds for splitting a partition. */
#define SKEW_THRESHOLD_BYTES (256 * MIB)
#define SKEW_FACTOR 5.0

/* ---- SQL.AQE_OVERCOALESCED */

enum err_code look_at_overcoalesced(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    if (!plan_is_shuffle_read(node) || !node->text.len || !memmem(node->text.ptr, node->text.len, "coalesced", 9))
        return ERR_OK;
    uint32_t child = plan_child(pass->plan, node), shuffle = child == NO_ENTITY ? NO_ENTITY : plan_shuffle_below(pass->plan, child), writer, reader;
    double after = plan_total(pass->plan, node, "number of partitions"),
           before = shuffle == NO_ENTITY ? (double)NAN : plan_total(pass->plan, &pass->plan->nodes[shuffle], "number of partitions");
    double slots = (double)pass->facts->slot_peak;
    if (shuffle == NO_ENTITY || isnan(after) || slots < 1 || (!isnan(before) && before < slots))
        return ERR_OK;
    enum err_code rc = shuffle_stages(pass, &pass->plan->nodes[shuffle], &writer, &reader, err);
    if (rc || reader == NO_ENTITY || pass->coalesced_seen[reader])
        return rc;
    pass->coalesced_seen[reader] = true; /* both sides of a join are merged alike */
    const struct stage_fact *stage = &pass->facts->stages[reader];
    int64_t wall = elapsed_known(stage->first_launch_ms, stage->last_finish_ms);
    double tasks = (double)stage->winner_count;
    if (tasks < 1)
        return ERR_OK;
    double split = ceil(2 * slots / tasks), saving = (double)known_or(wall, 0) * MAX(0.0, 1 - tasks / slots);
    struct finding *finding = consider_node(pass, SQL_AQE_OVERCOALESCED, node, reader, known_or(wall, 0) < SHORT_STAGE_MS ? MUTE_TINY_STAGE : MUTE_NONE, tasks / slots, saving);
    if (!finding)
        return ERR_OK;
    char key[48];
    snprintf(key, sizeof key, "%lld.%lld", (long long)stage->stage_id, (long long)stage->attempt);
    finding_arg(pass->findings, "a", before, "count");
    finding_arg(pass->findings, "b", after, "count");
    finding_arg(pass->findings, "S", slots, "slots");
    finding_arg_text(pass->findings, "s", str_of(key));
    finding_arg(pass->findings, "dur", (double)known_or(wall, 0), "ms");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"partitions", after, "count"}, {"partitions_before", before, "count"}}, 2);
    evidence_stage_of(pass, reader, "context");
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[0], "S0", {"tasks", tasks, "count"}, {"slots", slots, "count"});
    finding_change(pass->findings, "W6", BAND_NORMAL, (struct change){.kind = CHANGE_SPLIT, .stage = reader, .number = split});
    return ERR_OK;
}

/* ---- SQL.AQE_SKEW_UNHANDLED */

struct skewed_stage {
    int64_t execution_id;
    uint32_t stage;
    double ratio, saving_ms, max_bytes;
    bool told;
};

static int by_execution(const void *a, const void *b)
{
    const struct skewed_stage *x = a, *y = b;
    if (x->execution_id != y->execution_id)
        return x->execution_id < y->execution_id ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

/* rules_stage has run: its rows say which stages are skewed. */
enum err_code sql_find_skewed(struct sql_pass *pass, struct err *err)
{
    const struct rule *skew = rule_find(STR_LIT("STAGE.SKEW_DATA"));
    size_t capacity = 0;
    for (size_t i = 0; i < pass->findings->count; i++) {
        const struct finding *finding = &pass->findings->items[i];
        if (finding->rule != skew || finding->mute || finding->stage == NO_ENTITY || ladder_grade(&skew->ladder, finding->measure) == GRADE_OK)
            continue;
        if (mem_grow((void **)&pass->skewed, &capacity, pass->skewed_count + 1, FINDINGS_MAX, sizeof *pass->skewed))
            return err_nomem(err);
        pass->skewed[pass->skewed_count++] = (struct skewed_stage){.execution_id = pass->facts->stages[finding->stage].sql_execution_id,
                                                                   .stage = finding->stage,
                                                                   .ratio = finding->measure,
                                                                   .saving_ms = finding->local_saving_ms,
                                                                   .max_bytes = pass->judged->extras[finding->stage]->data_task.read_bytes};
    }
    if (pass->skewed_count)
        qsort(pass->skewed, pass->skewed_count, sizeof *pass->skewed, by_execution);
    return ERR_OK;
}

static struct skewed_stage *find_skewed(struct sql_pass *pass, uint32_t stage)
{
    for (size_t low = 0, high = pass->skewed_count; low < high;) {
        size_t i = low + (high - low) / 2;
        struct skewed_stage *at = &pass->skewed[i];
        if (at->execution_id == pass->plan->execution_id && at->stage == stage)
            return at;
        if (at->execution_id < pass->plan->execution_id || (at->execution_id == pass->plan->execution_id && at->stage < stage))
            low = i + 1;
        else
            high = i;
    }
    return NULL;
}

static const char *reason_for(const struct sql_pass *pass, const struct plan_node *join, const struct skewed_stage *skewed)
{
    int64_t set = conf_bytes(facts_conf(pass->facts, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"), 1);
    double factor = conf_number(facts_conf(pass->facts, "spark.sql.adaptive.skewJoin.skewedPartitionFactor"));
    if (!conf_true(facts_conf(pass->facts, "spark.sql.adaptive.skewJoin.enabled"), true))
        return "switched off";
    if (!plan_named(join, "SortMergeJoin") && !(plan_named(join, "ShuffledHashJoin")))
        return "not a shuffled join";
    if (skewed->max_bytes <= (known(set) ? (double)set : SKEW_THRESHOLD_BYTES))
        return "below the size threshold";
    if (skewed->ratio <= (isnan(factor) ? SKEW_FACTOR : factor))
        return "below the factor";
    return "another operator needs its partitioning";
}

static bool is_adaptive(const struct plan *plan)
{
    return plan->node_count && plan_named(&plan->nodes[0], "AdaptiveSparkPlan");
}

enum err_code look_at_skew_unhandled(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    if (!pass->skewed_count || !plan_is_join(node) || !is_adaptive(pass->plan))
        return ERR_OK;
    if (memmem(node->name.ptr, node->name.len, "skew=true", 9))
        return ERR_OK;
    for (size_t i = 0; i < node->child_count; i++) {
        uint32_t shuffle = plan_shuffle_below(pass->plan, node->children[i]), writer, reader;
        if (shuffle == NO_ENTITY)
            continue;
        enum err_code rc = shuffle_stages(pass, &pass->plan->nodes[shuffle], &writer, &reader, err);
        struct skewed_stage *skewed = rc || reader == NO_ENTITY ? NULL : find_skewed(pass, reader);
        if (rc)
            return rc;
        if (!skewed || skewed->told)
            continue;
        struct finding *finding = consider_node(pass, SQL_AQE_SKEW_UNHANDLED, node, reader, MUTE_NONE, skewed->ratio, skewed->saving_ms);
        skewed->told = true;
        if (!finding)
            continue;
        const char *reason = reason_for(pass, node, skewed);
        finding->cause = reason;
        finding_arg_text(pass->findings, "reason", str_of(reason));
        finding_arg(pass->findings, "half_of_max", ceil(skewed->max_bytes / 2), "bytes");
        evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"ratio", skewed->ratio, "ratio"}, {"max", skewed->max_bytes, "bytes"}}, 2);
        evidence_stage_of(pass, reader, "context");
        finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "S1");
        finding_change(pass->findings, "W2", BAND_NORMAL,
                       (struct change){.kind = CHANGE_SPREAD, .stage = reader, .first_wave_apart = pass->judged->stages[reader]->outliers.beside_warmup});
    }
    return ERR_OK;
}
