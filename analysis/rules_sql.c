/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL (spec/findings.md 7.7): the pass over all plans, and the rules about executions as a whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/conf_value.h"
#include "analysis/error_text.h"
#include "analysis/sql_pass.h"
#include "base/mem.h"

/* SQL.LONG_PLAN: what counts as long [DF 1,000 characters]. */
#define LONG_NODES 500.0
#define LONG_TEXT_BYTES (1024.0 * 1024)
#define LONG_FILTER_BYTES 1000.0
#define LONG_PLANNING_MS 5000.0
/* Long planning is the plan's doing where it reaches this share of a size's limit (own); else files were listed, or the machine was busy, which APP.SQL_DRIVER tells. */
#define LONG_LEAST_SIZE 0.2
#define FAILURE_GROUPS_MAX 200 /* different failures of one application; those behind it count with the last */

static const char *const rule_ids[SQL_RULE_COUNT] = {
#define X(id) "SQL." #id,
    SQL_RULES(X)
#undef X
};

/* ---- what node rules share */

const char *node_key(const struct sql_pass *pass, const struct plan_node *node, char out[NODE_KEY_BYTES])
{
    snprintf(out, NODE_KEY_BYTES, "%lld/%lld", (long long)pass->plan->execution_id, (long long)node->node_id);
    return out;
}

struct finding *consider_node(struct sql_pass *pass, enum sql_rule rule, const struct plan_node *node, uint32_t stage, enum mute mute, double measure, double saving_ms)
{
    char key[NODE_KEY_BYTES];
    enum mute common = mute_of(pass->judged, pass->rules[rule], stage);
    struct finding *finding = findings_consider(pass->findings, pass->rules[rule], common ? common : mute, measure, saving_ms, SUBJECT_NODE, "%s", node_key(pass, node, key));
    if (finding) {
        finding->stage = stage;
        finding_arg_text(pass->findings, "node", node->name);
        finding_arg(pass->findings, "id", (double)pass->plan->execution_id, "id");
    }
    return finding;
}

void evidence_node(struct sql_pass *pass, const struct plan_node *node, const char *role, const struct evidence_cell *cells, size_t count)
{
    char key[NODE_KEY_BYTES];
    finding_evidence(pass->findings, SUBJECT_NODE, str_of(node_key(pass, node, key)), role, cells, count);
}

void evidence_stage_of(struct sql_pass *pass, uint32_t stage, const char *role)
{
    if (stage == NO_ENTITY)
        return;
    const struct stage_fact *fact = &pass->facts->stages[stage];
    char key[48];
    snprintf(key, sizeof key, "%lld.%lld", (long long)fact->stage_id, (long long)fact->attempt);
    struct evidence_cell cells[] = {{"tasks", (double)fact->winner_count, "count"}, {"task_time", stage_work_ms(pass, stage), "ms"}};
    finding_evidence(pass->findings, SUBJECT_STAGE, str_of(key), role, cells, ARRAY_LENGTH(cells));
}

double stage_work_ms(const struct sql_pass *pass, uint32_t stage)
{
    return MAX(1.0, pass->judged->accounts->stages[stage].winner_occupancy_ms);
}

double stage_slots(const struct sql_pass *pass, uint32_t stage)
{
    return MAX(1.0, pass->judged->accounts->stages[stage].slots);
}

static enum err_code busiest_stage(struct sql_pass *pass, int64_t accumulator_id, uint32_t *ret, struct err *err)
{
    const uint32_t *stages;
    size_t count;
    enum err_code rc = plan_stages(pass->reader, accumulator_id, &stages, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        if (*ret == NO_ENTITY || stage_work_ms(pass, stages[i]) > stage_work_ms(pass, *ret))
            *ret = stages[i];
    return rc;
}

enum err_code stage_of_metric(struct sql_pass *pass, const struct plan_node *node, const char *metric, uint32_t *ret, struct err *err)
{
    const struct plan_metric *found = plan_metric(pass->plan, node, metric);
    *ret = NO_ENTITY;
    return found ? busiest_stage(pass, found->accumulator_id, ret, err) : ERR_OK;
}

enum err_code stage_of_node(struct sql_pass *pass, const struct plan_node *node, uint32_t *ret, struct err *err)
{
    enum err_code rc = ERR_OK;
    *ret = NO_ENTITY;
    for (size_t i = 0; i < node->metric_count && !rc; i++)
        rc = busiest_stage(pass, pass->plan->metrics[node->metrics[i]].accumulator_id, ret, err);
    if (!rc && *ret == NO_ENTITY && node->cluster != NO_ENTITY)
        rc = stage_of_metric(pass, &pass->plan->nodes[node->cluster], "duration", ret, err);
    return rc;
}

enum err_code shuffle_stages(struct sql_pass *pass, const struct plan_node *shuffle, uint32_t *ret_writer, uint32_t *ret_reader, struct err *err)
{
    static const char *const written[] = {"shuffle bytes written", "data size"}, *const read[] = {"records read", "local blocks read", "remote blocks read"};
    enum err_code rc = ERR_OK;
    *ret_writer = *ret_reader = NO_ENTITY;
    for (size_t i = 0; i < ARRAY_LENGTH(written) && *ret_writer == NO_ENTITY && !rc; i++)
        rc = stage_of_metric(pass, shuffle, written[i], ret_writer, err);
    for (size_t i = 0; i < ARRAY_LENGTH(read) && *ret_reader == NO_ENTITY && !rc; i++)
        rc = stage_of_metric(pass, shuffle, read[i], ret_reader, err);
    return rc;
}

struct str scan_source(struct sql_pass *pass, const struct plan_node *node)
{
    /* "Scan FORMAT TABLE", "BatchScan TABLE" */
    const char *blank = node->name.len ? memchr(node->name.ptr, ' ', node->name.len) : NULL;
    struct str rest = blank ? (struct str){blank + 1, node->name.len - (size_t)(blank + 1 - node->name.ptr)} : STR_NONE;
    blank = rest.len ? memchr(rest.ptr, ' ', rest.len) : NULL;
    if (blank)
        return (struct str){blank + 1, rest.len - (size_t)(blank + 1 - rest.ptr)};
    struct str location = plan_metadata(node, "Location", &pass->scratch);
    if (!location.len)
        location = plan_text_field(node, "Location");
    const char *open = location.len ? memchr(location.ptr, '[', location.len) : NULL;
    if (open) {
        struct str path = {open + 1, location.len - (size_t)(open + 1 - location.ptr)};
        size_t end = 0;
        while (end < path.len && path.ptr[end] != ']' && path.ptr[end] != ',')
            end++;
        path.len = end;
        return path;
    }
    return node->name;
}

/* ---- one plan as a whole */

/* Milliseconds of planning before the first job, by execution: from the driver's gaps. */
static enum err_code sum_planning(struct sql_pass *pass, struct err *err)
{
    const struct accounts *accounts = pass->judged->accounts;
    if (!(pass->planning_ms = mem_array(pass->facts->sql_count + 1, sizeof *pass->planning_ms)))
        return err_nomem(err);
    for (size_t i = 0; i < accounts->gap_count; i++) {
        const struct driver_gap *gap = &accounts->gaps[i];
        uint32_t sql = gap->sub && strcmp(gap->sub, "planning") == 0 ? facts_sql(pass->facts, gap->sql_execution_id) : NO_ENTITY;
        if (sql != NO_ENTITY)
            pass->planning_ms[sql] += (double)(gap->to_ms - gap->from_ms);
    }
    return ERR_OK;
}

static struct finding *consider_plan(struct sql_pass *pass, enum sql_rule rule, double measure)
{
    struct finding *finding = findings_consider(pass->findings, pass->rules[rule], MUTE_NONE, measure, (double)NAN, SUBJECT_SQL, "%lld", (long long)pass->plan->execution_id);
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)pass->plan->execution_id);
    if (finding)
        finding_arg_text(pass->findings, "id", str_of(key));
    return finding;
}

static void evidence_plan(struct sql_pass *pass, const struct evidence_cell *cells, size_t count)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)pass->plan->execution_id);
    finding_evidence(pass->findings, SUBJECT_SQL, str_of(key), "culprit", cells, count);
}

static void long_plan(struct sql_pass *pass)
{
    const struct plan *plan = pass->plan;
    double nodes = (double)plan->node_count, bytes = known(plan->text_bytes) ? (double)plan->text_bytes : 0, filter = 0;
    double planning = plan->sql == NO_ENTITY ? 0 : pass->planning_ms[plan->sql];
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan_named(&plan->nodes[i], "Filter"))
            filter = MAX(filter, (double)plan->nodes[i].text_bytes);
    double measure = MAX(MAX(nodes / LONG_NODES, bytes / LONG_TEXT_BYTES), filter / LONG_FILTER_BYTES);
    if (measure < LONG_LEAST_SIZE && !plan->too_large)
        planning = 0;
    measure = MAX(measure, planning / LONG_PLANNING_MS);
    if (plan->too_large)
        measure = MAX(measure, 2.0); /* more than 100,000 nodes */
    struct finding *finding = consider_plan(pass, SQL_LONG_PLAN, measure);
    if (!finding)
        return;
    /* What is said of it is what is largest beside its limit. */
    if (planning < LONG_PLANNING_MS && !plan->too_large && nodes / LONG_NODES < measure)
        finding->cause = filter / LONG_FILTER_BYTES >= measure ? "filter" : "text";
    finding_arg(pass->findings, "filter", filter, "count");
    finding_arg(pass->findings, "text", bytes, "bytes");
    finding_arg(pass->findings, "n", plan->too_large ? (double)NAN : nodes, "count");
    finding_arg(pass->findings, "sec", planning >= LONG_PLANNING_MS ? planning : (double)NAN, "ms");
    evidence_plan(pass, (struct evidence_cell[]){{"nodes", nodes, "count"}, {"text", bytes, "bytes"}, {"longest_filter", filter, "bytes"}, {"planning", planning, "ms"}}, 4);
    FORMULA(pass->findings, NULL, pass->rules[SQL_LONG_PLAN]->ladder.step[0], "DF", {"nodes", nodes, "count"}, {"text", bytes, "bytes"}, {"filter", filter, "count"},
            {"planning", planning, "ms"});
}

/* Nodes that stand for no operator, or for one that runs on the driver. */
static bool is_wrapper(const struct plan_node *node)
{
    return node->is_cluster || plan_named(node, "AdaptiveSparkPlan") || plan_named(node, "ReusedExchange") || plan_named(node, "Subquery") || plan_named(node, "CommandResult") ||
           str_starts(node->name, "Execute ") || plan_is_shuffle_read(node);
}

static bool is_accelerated(const struct plan_node *node)
{
    static const char *const prefixes[] = {"Gpu", "Photon", "Comet"};
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (str_starts(node->name, prefixes[i]))
            return true;
    return str_ends(node->name, "Transformer"); /* Gluten */
}

static bool is_transition(const struct plan_node *node)
{
    static const char *const names[] = {"GpuRowToColumnar", "GpuColumnarToRow", "CometColumnarToRow", "CometRowToColumnar"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (plan_named(node, names[i]))
            return true;
    return false;
}

static void native_fallback(struct sql_pass *pass)
{
    double all = 0, left = 0;
    bool accelerated = false;
    for (size_t i = 0; i < pass->plan->node_count; i++) {
        const struct plan_node *node = &pass->plan->nodes[i];
        if (is_wrapper(node))
            continue;
        all++;
        left += !is_accelerated(node) || is_transition(node);
        accelerated |= is_accelerated(node);
    }
    if (!accelerated || !consider_plan(pass, SQL_NATIVE_FALLBACK, left / all))
        return;
    finding_arg(pass->findings, "k", left, "count");
    finding_arg(pass->findings, "n", all, "count");
    evidence_plan(pass, (struct evidence_cell[]){{"left", left, "count"}, {"operators", all, "count"}}, 2);
    finding_formula(pass->findings, NULL, NULL, 0, pass->rules[SQL_NATIVE_FALLBACK]->ladder.step[0], "own");
}

/* Batches of streaming queries: adaptive execution never looks at them, and what happens to them is told of the query (STREAM.FAILED). */
static bool is_streaming(const struct plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan_named(&plan->nodes[i], "MicroBatchScan") || plan_named(&plan->nodes[i], "StateStoreSave") || plan_named(&plan->nodes[i], "StreamingRelation"))
            return true;
    return false;
}

static void count_adaptive(struct sql_pass *pass)
{
    double shuffles = 0;
    for (size_t i = 0; i < pass->plan->node_count; i++) {
        const struct plan_node *node = &pass->plan->nodes[i];
        if (plan_named(node, "AdaptiveSparkPlan"))
            return; /* it looked */
        shuffles += plan_is_shuffle(node);
    }
    pass->adaptive_shuffles += shuffles;
}

/* ---- the application */

/* On by default from 3.2 on; there since 3.0. */
static void adaptive_off(struct sql_pass *pass)
{
    const struct facts *facts = pass->facts;
    bool known_to_spark = facts->spark_major >= 3, by_default = facts->spark_major > 3 || (facts->spark_major == 3 && facts->spark_minor >= 2);
    if (!known_to_spark || !facts->sql_count)
        return;
    bool on = conf_true(facts_conf(facts, "spark.sql.adaptive.enabled"), by_default);
    struct finding *finding = findings_add(pass->findings, "SQL.AQE_OFF", SUBJECT_APP, "-");
    finding->measure = on ? 0 : pass->adaptive_shuffles;
    finding->at_most = by_default ? GRADE_SEVERE : GRADE_INFO;
    finding_arg(pass->findings, "n", finding->measure, "count");
    finding_evidence(pass->findings, SUBJECT_CONF, STR_LIT("spark.sql.adaptive.enabled"), "culprit", (struct evidence_cell[]){{"shuffles", finding->measure, "count"}}, 1);
    finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "SA");
}

struct failed_group {
    char signature[ERROR_SIGNATURE_BYTES];
    struct str message;
    bool is_cancelled;
    size_t count;
    uint32_t first, last; /* positions of executions */
};

static enum err_code group_failures(struct sql_pass *pass, struct failed_group *groups, size_t *count, struct err *err)
{
    const struct facts *facts = pass->facts;
    struct imap by_text;
    imap_init(&by_text, facts->sql_count + 1);
    enum err_code rc = ERR_OK;
    for (uint32_t i = 0; i < facts->sql_count && !rc; i++) {
        const struct sql_fact *sql = &facts->sqls[i];
        if (!sql->failed || pass->streaming[i])
            continue;
        size_t at = (size_t)(uintptr_t)imap_get(&by_text, sql->error_text_id);
        if (!at) {
            char signature[ERROR_SIGNATURE_BYTES];
            struct str body = STR_NONE;
            if ((rc = facts_text(facts, sql->error_text_id, &pass->scratch, &body, err)))
                break;
            error_signature(body, signature);
            for (at = 0; at < *count && strcmp(groups[at].signature, signature) != 0; at++)
                ;
            if (at == FAILURE_GROUPS_MAX)
                at--;
            if (at == *count) {
                struct str message = error_message_of(body);
                memcpy(groups[at].signature, signature, sizeof signature);
                groups[at].first = i;
                groups[at].is_cancelled = error_kind_of(body) == ERROR_CANCELLED;
                message.len = str_known(message) ? utf8_valid_prefix(message.ptr, MIN(message.len, (size_t)200)) : 0;
                if (message.len && arena_str(pass->findings->arena, message, &groups[at].message)) {
                    rc = err_nomem(err);
                    break;
                }
                ++*count;
            }
            arena_reset(&pass->scratch);
            if (imap_put(&by_text, sql->error_text_id, (void *)(uintptr_t)++at))
                rc = err_nomem(err);
        }
        groups[at - 1].count++;
        groups[at - 1].last = i;
    }
    imap_dispose(&by_text);
    return rc;
}

/* Positions are by id, and ids by begin. */
static uint32_t last_root(const struct sql_pass *pass)
{
    const struct facts *facts = pass->facts;
    for (uint32_t i = (uint32_t)facts->sql_count; i-- > 0;)
        if (!pass->streaming[i] && (!known(facts->sqls[i].root_id) || facts->sqls[i].root_id == facts->sqls[i].execution_id))
            return i;
    return NO_ENTITY;
}

static enum err_code failed(struct sql_pass *pass, struct err *err)
{
    const struct facts *facts = pass->facts;
    CLEANUP(mem_freep) struct failed_group *groups = mem_array(FAILURE_GROUPS_MAX, sizeof *groups);
    size_t count = 0;
    if (!groups)
        return err_nomem(err);
    enum err_code rc = group_failures(pass, groups, &count, err);
    uint32_t last = last_root(pass);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct sql_fact *first = &facts->sqls[groups[i].first];
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)first->execution_id);
        struct finding *finding = findings_add(pass->findings, "SQL.FAILED", SUBJECT_SQL, "%s", key);
        finding->measure = (double)groups[i].count;
        finding->at_least = last != NO_ENTITY && groups[i].last == last && !groups[i].is_cancelled ? GRADE_SEVERE : GRADE_OK;
        finding->cause = groups[i].is_cancelled ? error_kind_names[ERROR_CANCELLED] : NULL;
        finding_arg_text(pass->findings, "id", str_of(key));
        if (groups[i].message.len)
            finding_arg_text(pass->findings, "msg", groups[i].message);
        finding_arg_text(pass->findings, "signature", str_of(groups[i].signature));
        finding_evidence(pass->findings, SUBJECT_SQL, str_of(key), "culprit", (struct evidence_cell[]){{"failures", finding->measure, "count"}}, 1);
        finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
    }
    if (!count && facts->sql_count && !rc) {
        struct finding *finding = findings_add(pass->findings, "SQL.FAILED", SUBJECT_APP, "-");
        finding->measure = 0;
        finding_evidence(pass->findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"executions", (double)facts->sql_count, "count"}}, 1);
    }
    return rc;
}

/* ---- the pass */

static enum err_code look_at_plan(struct sql_pass *pass, struct err *err)
{
    static look_fn *const looks[] = {look_at_scan,      look_at_write,  look_at_join,          look_at_broadcast,     look_at_explosion,     look_at_single_partition,
                                     look_at_aggregate, look_at_python, look_at_amplification, look_at_overcoalesced, look_at_skew_unhandled};
    enum err_code rc = ERR_OK;
    arena_reset(&pass->scratch);
    for (size_t i = 0; i < pass->plan->node_count && !rc; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(looks) && !rc; k++)
            rc = looks[k](pass, &pass->plan->nodes[i], err);
    if (rc)
        return rc;
    native_fallback(pass);
    if (pass->plan->sql != NO_ENTITY && is_streaming(pass->plan)) {
        pass->streaming[pass->plan->sql] = true;
        return ERR_OK;
    }
    long_plan(pass);
    count_adaptive(pass);
    return sql_note_fragments(pass, err);
}

static enum err_code look_at_plans(struct sql_pass *pass, struct err *err)
{
    enum err_code rc = plan_reader_open(&pass->reader, pass->facts, PLANS_LATEST, err);
    while (!rc && (rc = plan_next(pass->reader, &pass->plan, err)) == ERR_OK)
        rc = look_at_plan(pass, err);
    plan_reader_close(TAKE(pass->reader));
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define SCRATCH_BYTES ((size_t)64 << 20)

enum err_code rules_sql(const struct judged *judged, struct findings *findings, struct err *err)
{
    struct sql_pass pass = {.judged = judged, .facts = judged->facts, .findings = findings};
    arena_init(&pass.scratch, SCRATCH_BYTES);
    for (size_t i = 0; i < SQL_RULE_COUNT; i++)
        pass.rules[i] = rule_find(str_of(rule_ids[i]));
    pass.python_seen = mem_array(judged->facts->stage_count + 1, sizeof *pass.python_seen);
    pass.streaming = mem_array(judged->facts->sql_count + 1, sizeof *pass.streaming);
    pass.coalesced_seen = mem_array(judged->facts->stage_count + 1, sizeof *pass.coalesced_seen);
    enum err_code rc = pass.python_seen && pass.coalesced_seen && pass.streaming ? sum_planning(&pass, err) : err_nomem(err);
    if (!rc)
        rc = sql_find_skewed(&pass, err);
    if (!rc)
        rc = look_at_plans(&pass, err);
    if (!rc)
        rc = sql_repeated_scans(&pass, err);
    if (!rc)
        rc = sql_repeated_fragments(&pass, err);
    if (!rc)
        rc = sql_python_rdds(&pass, err);
    if (!rc)
        rc = failed(&pass, err);
    if (!rc)
        adaptive_off(&pass);
    mem_free(pass.python_seen);
    mem_free(pass.coalesced_seen);
    mem_free(pass.streaming);
    mem_free(pass.planning_ms);
    mem_free(pass.scans);
    mem_free(pass.fragments);
    mem_free(pass.skewed);
    arena_dispose(&pass.scratch);
    return rc;
}
