/* SPDX-License-Identifier: Apache-2.0
 *
 * Aggregates, Python, and rewrites of tables (spec/findings.md 7.7). */
#include <math.h>
#include <stdio.h>

#include "analysis/sql_pass.h"

/* SQL.AGG_FALLBACK */
#define MANY_ROWS 1e7
#define USELESS_PARTIAL 0.9 /* of the rows are left behind a partial aggregation */
/* SQL.PYTHON_UDF: what a function for whole columns leaves of the time (W12). */
#define PYTHON_FACTOR 0.5
/* SQL.WRITE_AMPLIFICATION [DF]: that few rows changed. */
#define FEW_CHANGED 0.3

/* ---- SQL.AGG_FALLBACK */

static bool is_partial(const struct plan_node *node)
{
    return node->text.len && memmem(node->text.ptr, node->text.len, "partial_", 8) != NULL;
}

enum err_code look_at_aggregate(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    (void)err;
    bool sorted = plan_named(node, "SortAggregate") || plan_named(node, "ObjectHashAggregate");
    if (!sorted && !plan_named(node, "HashAggregate"))
        return ERR_OK;
    uint32_t child = plan_child(pass->plan, node);
    double in = child == NO_ENTITY ? (double)NAN : pass->plan->nodes[child].rows, fell_back = plan_total(pass->plan, node, "number of sort fallback tasks");
    double kept = node->rows / in;
    bool useless = is_partial(node) && in >= MANY_ROWS && kept > USELESS_PARTIAL, slow = sorted && in >= MANY_ROWS;
    if (isnan(in) && !(fell_back > 0))
        return ERR_OK;
    /* One fallback is worth a word however many rows there are, and where nobody counted them. */
    double measure = useless || slow ? in : fell_back > 0 ? (in > MANY_ROWS ? in : MANY_ROWS) : 0;
    struct finding *finding = consider_node(pass, SQL_AGG_FALLBACK, node, NO_ENTITY, MUTE_NONE, measure, (double)NAN);
    if (!finding)
        return ERR_OK;
    finding->cause = useless ? "partial" : fell_back > 0 ? "fallback" : slow ? "sort" : NULL;
    finding_arg(pass->findings, "pct", useless ? kept : (double)NAN, "share");
    finding_arg(pass->findings, "rows", in, "records");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"rows_in", in, "records"}, {"rows_out", node->rows, "records"}, {"fallback_tasks", fell_back, "count"}}, 3);
    finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
    return ERR_OK;
}

/* ---- SQL.PYTHON_UDF */

/* "BatchEvalPython [f(x#1)#2], […]" → "f". */
static struct str function_name(const struct plan_node *node)
{
    const char *open = node->text.len ? memchr(node->text.ptr, '[', node->text.len) : NULL;
    struct str rest = open ? (struct str){open + 1, node->text.len - (size_t)(open + 1 - node->text.ptr)} : node->name;
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '(' && rest.ptr[end] != ']')
        end++;
    rest.len = end;
    return rest.len ? rest : node->name;
}

static bool is_row_by_row(const struct plan_node *node)
{
    return plan_named(node, "BatchEvalPython") || plan_named(node, "BatchEvalPythonUDTF");
}

static double python_share(const struct sql_pass *pass, uint32_t stage)
{
    return pass->judged->accounts->stages[stage].winner_ms[BUCKET_PYTHON] / stage_work_ms(pass, stage);
}

static double python_saving(const struct sql_pass *pass, uint32_t stage)
{
    return (1 - PYTHON_FACTOR) * pass->judged->accounts->stages[stage].winner_ms[BUCKET_PYTHON] / stage_slots(pass, stage);
}

static void arg_stage(struct sql_pass *pass, uint32_t stage)
{
    char key[48];
    snprintf(key, sizeof key, "%lld.%lld", (long long)pass->facts->stages[stage].stage_id, (long long)pass->facts->stages[stage].attempt);
    finding_arg_text(pass->findings, "s", str_of(key));
}

static void python_formula(struct sql_pass *pass, uint32_t stage, const struct finding *finding)
{
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[0], "ST", {"python", pass->judged->accounts->stages[stage].winner_ms[BUCKET_PYTHON], "ms"},
            {"work", stage_work_ms(pass, stage), "ms"});
}

enum err_code look_at_python(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    uint32_t stage;
    if (!plan_is_python(node))
        return ERR_OK;
    enum err_code rc = stage_of_node(pass, node, &stage, err);
    if (rc || stage == NO_ENTITY || pass->python_seen[stage])
        return rc;
    pass->python_seen[stage] = true;
    struct finding *finding = consider_node(pass, SQL_PYTHON_UDF, node, stage, MUTE_NONE, python_share(pass, stage), python_saving(pass, stage));
    if (!finding)
        return ERR_OK;
    finding->at_most = is_row_by_row(node) ? GRADE_SEVERE : GRADE_LOW;
    finding->cause = is_row_by_row(node) ? "row by row" : "arrow";
    finding_arg(pass->findings, "pct", finding->measure, "share");
    arg_stage(pass, stage);
    finding_arg_text(pass->findings, "udf", function_name(node));
    finding_arg(pass->findings, "rows", is_row_by_row(node) ? node->rows : (double)NAN, "records");
    evidence_node(pass, node, "culprit",
                  (struct evidence_cell[]){{"rows", node->rows, "records"},
                                           {"sent", plan_total(pass->plan, node, "data sent to Python workers"), "bytes"},
                                           {"run", plan_total_ms(pass->plan, node, "time to run Python workers"), "ms"}},
                  3);
    evidence_stage_of(pass, stage, "context");
    python_formula(pass, stage, finding);
    finding_change(pass->findings, "W12", BAND_WEAK, (struct change){.kind = CHANGE_FACTOR, .stage = stage, .part = BUCKET_PYTHON, .number = PYTHON_FACTOR});
    return ERR_OK;
}

/* Stages of Python code without a plan: worth a word, but no price and no advice, for there is no other function to call. */
enum err_code sql_python_rdds(struct sql_pass *pass, struct err *err)
{
    (void)err;
    for (uint32_t i = 0; i < pass->facts->stage_count; i++) {
        const struct stage_fact *stage = &pass->facts->stages[i];
        if (!stage->is_python || pass->python_seen[i] || known(stage->sql_execution_id) || !stage->winner_count)
            continue;
        const struct rule *rule = pass->rules[SQL_PYTHON_UDF];
        struct finding *finding = findings_consider(pass->findings, rule, mute_of(pass->judged, rule, i), python_share(pass, i), (double)NAN, SUBJECT_STAGE, "%lld.%lld",
                                                    (long long)stage->stage_id, (long long)stage->attempt);
        if (!finding)
            continue;
        finding->stage = i;
        finding->at_most = GRADE_INFO;
        finding->cause = "rdd";
        finding_arg(pass->findings, "pct", finding->measure, "share");
        arg_stage(pass, i);
        finding_arg_text(pass->findings, "udf", STR_LIT("Python RDD code"));
        finding_arg(pass->findings, "rows", (double)NAN, "records");
        evidence_stage_of(pass, i, "culprit");
        python_formula(pass, i, finding);
    }
    return ERR_OK;
}

/* ---- SQL.WRITE_AMPLIFICATION */

static double sum_of(const struct sql_pass *pass, const struct plan_node *node, const char *const *names, size_t count)
{
    double sum = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        double value = plan_total(pass->plan, node, names[i]);
        if (!isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

struct rewrite {
    double changed, copied; /* rows */
    double removed, all;    /* files, before it */
};

/* Delta's MERGE, UPDATE and DELETE count both on one node. */
static struct rewrite delta_rewrite(const struct sql_pass *pass, const struct plan_node *node)
{
    static const char *const changed[] = {"number of inserted rows", "number of updated rows", "number of deleted rows"};
    static const char *const copied[] = {"number of target rows rewritten unmodified", "number of rows rewritten unmodified", "number of copied rows"};
    static const char *const removed[] = {"number of files removed to target", "number of files removed"};
    static const char *const all[] = {"number of target files before skipping", "number of files before skipping"};
    return (struct rewrite){sum_of(pass, node, changed, ARRAY_LENGTH(changed)), sum_of(pass, node, copied, ARRAY_LENGTH(copied)),
                            sum_of(pass, node, removed, ARRAY_LENGTH(removed)), sum_of(pass, node, all, ARRAY_LENGTH(all))};
}

/* Iceberg (1.10) reports its commit at the node that writes; rows of a MERGE are counted by Spark's own node below it (4.1). Without that one, rows that are gone were deleted and the others of
 * the replaced files copied; an UPDATE, which leaves as many as there were, does not say how many it changed. */
static struct rewrite iceberg_rewrite(const struct sql_pass *pass, const struct plan_node *node)
{
    static const char *const changed[] = {"number of target rows inserted", "number of target rows updated", "number of target rows deleted"};
    const struct plan *plan = pass->plan;
    double removed = plan_total(plan, node, "number of removed data files"), added = plan_total(plan, node, "number of added data files");
    double records_removed = plan_total(plan, node, "number of removed records"), records_added = plan_total(plan, node, "number of added records");
    struct rewrite out = {(double)NAN, (double)NAN, removed, plan_total(plan, node, "total number of data files") - added + removed};
    if (isnan(out.all) || removed <= 0)
        return out;
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *rows = &plan->nodes[i];
        if (!plan_named(rows, "MergeRows"))
            continue;
        out.changed = sum_of(pass, rows, changed, ARRAY_LENGTH(changed));
        out.copied = plan_total(plan, rows, "number of target rows copied unmodified because they did not match any action");
        return out;
    }
    if (records_removed > records_added) {
        out.changed = records_removed - records_added;
        out.copied = records_added;
    }
    return out;
}

enum err_code look_at_amplification(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    (void)err;
    struct rewrite rewrite = delta_rewrite(pass, node);
    if (isnan(rewrite.all))
        rewrite = iceberg_rewrite(pass, node);
    double changed = rewrite.changed, copied = rewrite.copied, removed = rewrite.removed, all = rewrite.all;
    if (isnan(changed) || isnan(copied) || isnan(removed) || isnan(all) || changed + copied <= 0 || all <= 0)
        return ERR_OK;
    double rows = changed / (changed + copied), files = MIN(1.0, removed / all);
    struct finding *finding = consider_node(pass, SQL_WRITE_AMPLIFICATION, node, NO_ENTITY, MUTE_NONE, rows < FEW_CHANGED ? files : 0, (double)NAN);
    if (!finding)
        return ERR_OK;
    finding_arg(pass->findings, "p", files, "share");
    finding_arg(pass->findings, "q", rows, "share");
    evidence_node(pass, node, "culprit",
                  (struct evidence_cell[]){{"files_replaced", removed, "count"}, {"files", all, "count"}, {"rows_changed", changed, "records"}, {"rows_copied", copied, "records"}},
                  4);
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[1], "DF", {"removed", removed, "count"}, {"files", all, "count"}, {"changed", changed, "records"},
            {"rows", changed + copied, "records"});
    return ERR_OK;
}
