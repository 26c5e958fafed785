/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings (spec/findings.md 7.8): the configuration audit as findings, and settings that have a symptom. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/audits.h"
#include "analysis/conf_value.h"
#include "analysis/finding_order.h"
#include "analysis/stage_view.h"

#define MIB ((double)BYTES_PER_MIB)
#define GIB (1024 * MIB)

/* CONF.SHUFFLE_PARTITIONS: what one partition should hold [S1 128–256 MB]. */
#define PARTITION_BYTES (192 * MIB)
/* CONF.MEMORY_RATIO [YQ 4/16, DE, own] */
#define CORE_LEAST_BYTES GIB
#define CORE_MOST_BYTES (16 * GIB)
#define MANY_CORES 8
#define HEAP_MOST_BYTES (64 * GIB)
#define OVERHEAD_SHARE 0.4

static void evidence_conf(struct findings *findings, struct str key, const struct evidence_cell *cells, size_t count)
{
    finding_evidence(findings, SUBJECT_CONF, key, "culprit", cells, count);
}

/* Prices come later; until then what the stage alone would save stands for them. */
static bool fires(const struct finding *finding, int64_t wall_ms)
{
    double saving = finding->rule->kind == RULE_TIME ? finding->local_saving_ms : (double)NAN;
    return !finding->mute && ladder_grade(&finding->rule->ladder, finding->measure) > GRADE_OK && (isnan(saving) || price_grade((int64_t)MIN(saving, 1e15), wall_ms) > GRADE_OK);
}

static bool any_fires(const struct judged *judged, const struct findings *findings, const char *rule_id)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].rule->id, rule_id) == 0 && fires(&findings->items[i], judged->wall_ms))
            return true;
    return false;
}

/* ---- CONF.SERIALIZER */

/* Shuffled by RDD code on the JVM: SQL rows have a format of their own, and Python hands over bytes. */
static enum err_code rdd_shuffle_bytes(const struct facts *facts, double *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT stage_id, attempt, shuffle_write_bytes FROM stage WHERE sql_execution_id IS NULL AND shuffle_write_bytes > 0", err);
    *ret = 0;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        uint32_t stage = facts_stage(facts, db_i64(stmt, 0), db_i64(stmt, 1));
        if (stage != NO_ENTITY && !facts->stages[stage].is_python)
            *ret += (double)db_i64(stmt, 2);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Serialised caches of RDDs; cached tables, again, have their own format. */
static double serialised_cache_bytes(const struct judged *judged)
{
    double sum = 0;
    for (size_t i = 0; i < judged->audits->caches.count; i++) {
        const struct cache_row *row = &judged->audits->caches.rows[i];
        const struct rdd_fact *rdd = &judged->facts->rdds[row->rdd];
        if (!rdd->deserialized && !rdd->is_python && known(row->most_memory_bytes))
            sum += (double)row->most_memory_bytes + (double)known_or(row->most_disk_bytes, 0);
    }
    return sum;
}

static enum err_code serializer(const struct judged *judged, struct findings *findings, struct err *err)
{
    double shuffled;
    struct str value = facts_conf(judged->facts, "spark.serializer");
    bool java = !value.len || memmem(value.ptr, value.len, "JavaSerializer", 14);
    enum err_code rc = rdd_shuffle_bytes(judged->facts, &shuffled, err);
    if (rc)
        return rc;
    bool symptom = any_fires(judged, findings, "STAGE.DESER") || any_fires(judged, findings, "STAGE.GC_HIGH");
    double cached = serialised_cache_bytes(judged), bytes = shuffled + cached;
    struct finding *finding = findings_add(findings, "CONF.SERIALIZER", SUBJECT_CONF, "spark.serializer");
    finding->measure = java ? bytes : 0;
    finding->at_least = java && symptom && bytes >= GIB ? GRADE_LOW : GRADE_OK;
    finding_arg(findings, "bytes", bytes, "bytes");
    evidence_conf(findings, STR_LIT("spark.serializer"), (struct evidence_cell[]){{"shuffled", shuffled, "bytes"}, {"cached", cached, "bytes"}}, 2);
    finding_formula(findings, java ? NULL : "other", NULL, 0, finding->rule->ladder.step[0], "DE");
    return ERR_OK;
}

/* ---- CONF.SHUFFLE_PARTITIONS */

struct symptom {
    const char *rule_id;
    bool too_many;
};
static const struct symptom symptoms[] = {{"STAGE.TINY_TASKS", true}, {"STAGE.SPILL", false}, {"STAGE.BIG_PARTITION", false}, {"STAGE.FEW_TASKS", false}};

static double ideal_partitions(double bytes, double slots)
{
    double ideal = MAX(ceil(bytes / PARTITION_BYTES), 2 * slots);
    return ceil(ideal / slots) * slots;
}

static void shuffle_partitions(const struct judged *judged, struct findings *findings)
{
    const struct facts *facts = judged->facts;
    const struct rule *rule = rule_find(STR_LIT("CONF.SHUFFLE_PARTITIONS"));
    bool adaptive = conf_true(facts_conf(facts, "spark.sql.adaptive.enabled"), facts->spark_major > 3 || (facts->spark_major == 3 && facts->spark_minor >= 2));
    double slots = (double)MAX(facts->slot_peak, 1);
    for (size_t i = 0, before = findings->count; i < before; i++) {
        const struct finding *cause = &findings->items[i];
        const struct symptom *symptom = NULL;
        for (size_t k = 0; k < ARRAY_LENGTH(symptoms) && !symptom; k++)
            symptom = strcmp(cause->rule->id, symptoms[k].rule_id) == 0 ? &symptoms[k] : NULL;
        if (!symptom || cause->stage == NO_ENTITY || !fires(cause, judged->wall_ms))
            continue;
        const struct stage_fact *stage = &facts->stages[cause->stage];
        const struct distribution *read = &judged->stages[cause->stage]->of[STAT_READ_BYTES];
        double bytes = read->count ? read->sum : 0, count = (double)known_or(stage->num_tasks, 0);
        if (!(bytes > 0) || count < 1)
            continue;
        double ideal = ideal_partitions(bytes, slots);
        if (symptom->too_many ? count <= ideal : count >= ideal)
            continue;
        bool sql = known(stage->sql_execution_id);
        const char *key = sql ? "spark.sql.shuffle.partitions" : "spark.default.parallelism";
        struct finding *finding =
            findings_consider(findings, rule, sql && adaptive ? MUTE_AQE : MUTE_NONE, MAX(count / ideal, ideal / count), (double)NAN, SUBJECT_CONF, "%s", key);
        if (!finding)
            continue;
        char id[48];
        snprintf(id, sizeof id, STAGE_KEY, STAGE_KEY_OF(stage));
        finding->stage = (uint32_t)(stage - facts->stages);
        finding->cause = symptom->too_many ? "lower" : "raise";
        finding_arg_text(findings, "key", str_of(key));
        finding_arg(findings, "n", count, "count");
        finding_arg(findings, "bytes", bytes, "bytes");
        finding_arg(findings, "S", slots, "slots");
        finding_arg(findings, "ideal", ideal, "count");
        finding_arg_text(findings, "s", str_of(id));
        evidence_conf(findings, str_of(key), (struct evidence_cell[]){{"partitions", count, "count"}, {"ideal", ideal, "count"}}, 2);
        finding_evidence(findings, SUBJECT_STAGE, str_of(id), "context", (struct evidence_cell[]){{"read", bytes, "bytes"}}, 1);
        FORMULA(findings, NULL, rule->ladder.step[0], "S1", {"count", count, "count"}, {"ideal", ideal, "count"});
    }
}

static bool has_symptom(const struct judged *judged, const struct findings *findings, const struct finding *of)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        for (size_t k = 0; k < ARRAY_LENGTH(symptoms) && finding->stage == of->stage; k++)
            if (strcmp(finding->rule->id, symptoms[k].rule_id) == 0 && symptoms[k].too_many == (strcmp(of->cause, "lower") == 0) &&
                finding_shows(finding, NULL, judged->wall_ms))
                return true;
    }
    return false;
}

void conf_confirm(const struct judged *judged, struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (strcmp(finding->rule->id, "CONF.SHUFFLE_PARTITIONS") == 0 && !finding->mute && finding->cause && !has_symptom(judged, findings, finding))
            finding->mute = MUTE_OFF_PATH;
    }
}

/* ---- CONF.MEMORY_RATIO */

static int64_t usual_cores(const struct facts *facts)
{
    int64_t most = UNKNOWN;
    for (size_t i = 0; i < facts->executor_count; i++)
        if (!facts->executors[i].is_driver && facts->executors[i].slots)
            most = max_known(most, facts->executors[i].cores);
    return most;
}

static bool has_python(const struct facts *facts)
{
    for (size_t i = 0; i < facts->stage_count; i++)
        if (facts->stages[i].is_python)
            return true;
    return false;
}

static void memory_ratio(const struct judged *judged, struct findings *findings)
{
    const struct facts *facts = judged->facts;
    int64_t cores = usual_cores(facts), overhead = conf_bytes(facts_conf(facts, "spark.executor.memoryOverhead"), BYTES_PER_MIB);
    if (facts->is_local || !known(cores) || cores < 1)
        return;
    double heap = (double)executor_heap_bytes(facts), a_core = heap / (double)cores;
    const struct {
        bool holds;
        const char *name;
    } problems[] = {{a_core < CORE_LEAST_BYTES, "little heap a core"},
                    {a_core > CORE_MOST_BYTES, "much heap a core"},
                    {cores > MANY_CORES, "many cores"},
                    {heap > HEAP_MOST_BYTES, "large heap"},
                    {known(overhead) && (double)overhead > OVERHEAD_SHARE * heap && !has_python(facts), "much overhead"}};
    struct finding *finding = findings_add(findings, "CONF.MEMORY_RATIO", SUBJECT_CONF, "spark.executor.memory");
    const char *first = NULL;
    finding->measure = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(problems); i++) {
        finding->measure += problems[i].holds;
        if (problems[i].holds && !first)
            first = problems[i].name;
        if (problems[i].holds)
            finding_measure(findings, problems[i].name, 1, "count");
    }
    finding->cause = first;
    finding_arg(findings, "heap", heap, "bytes");
    finding_arg(findings, "cores", (double)cores, "count");
    finding_arg_text(findings, "problem", str_of(first ? first : "ok"));
    evidence_conf(findings, STR_LIT("spark.executor.memory"),
                  (struct evidence_cell[]){{"heap", heap, "bytes"}, {"cores", (double)cores, "count"}, {"heap_a_core", a_core, "bytes"}}, 3);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "YQ");
}

/* ---- of the audit */

static void conflicts(const struct conf_audit *audit, struct findings *findings)
{
    const struct conf_conflict *first = audit->conflict_count ? &audit->conflicts[0] : NULL;
    struct finding *finding = findings_add(findings, "CONF.CONFLICT", SUBJECT_CONF, "%s", first ? first->key : "-");
    finding->measure = (double)audit->conflict_count;
    finding->cause = first ? first->other : NULL; /* what to do depends on it */
    finding_arg_text(findings, "key", str_of(first ? first->key : "-"));
    finding_arg_text(findings, "v", first && str_known(first->value) ? first->value : STR_LIT("?"));
    finding_arg_text(findings, "other", str_of(first ? first->other : "-"));
    for (size_t i = 0; i < audit->conflict_count; i++) {
        evidence_conf(findings, str_of(audit->conflicts[i].key), NULL, 0);
        finding_evidence(findings, SUBJECT_CONF, str_of(audit->conflicts[i].other), "context", NULL, 0);
    }
    if (!first)
        evidence_conf(findings, STR_LIT("-"), NULL, 0);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
}

static void far(const struct conf_audit *audit, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "CONF.FAR", SUBJECT_CONF, "-");
    finding->measure = (double)audit->far_count;
    finding_arg(findings, "n", finding->measure, "count");
    if (!audit->far_count)
        evidence_conf(findings, STR_LIT("-"), NULL, 0);
    for (size_t i = 0; i < audit->count; i++)
        if (audit->rows[i].distance > 0 && audit->rows[i].state == CONF_EFFECTIVE)
            evidence_conf(findings, audit->rows[i].key, (struct evidence_cell[]){{"distance", audit->rows[i].distance, "ratio"}}, 1);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
}

static void jars(const struct conf_audit *audit, struct findings *findings)
{
    const struct jar_conflict *first = audit->jar_count ? &audit->jars[0] : NULL;
    for (size_t i = 0; i < audit->jar_count && first && !first->sparks_own; i++)
        if (audit->jars[i].sparks_own)
            first = &audit->jars[i];
    struct finding *finding = findings_add(findings, "CONF.JARS", SUBJECT_CONF, "%s", "classpath");
    finding->measure = (double)audit->jar_count;
    finding->at_least = first && (first->sparks_own || first->scala) ? GRADE_LOW : GRADE_OK;
    finding_arg_text(findings, "jar", first ? first->name : STR_LIT("-"));
    finding_arg_text(findings, "v1", first ? first->first : STR_LIT("-"));
    finding_arg_text(findings, "v2", first ? first->second : STR_LIT("-"));
    for (size_t i = 0; i < audit->jar_count; i++)
        evidence_conf(findings, audit->jars[i].name, NULL, 0);
    if (!audit->jar_count)
        evidence_conf(findings, STR_LIT("classpath"), NULL, 0);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
}

enum err_code rules_conf(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct conf_audit *audit = &judged->audits->conf;
    enum err_code rc = serializer(judged, findings, err);
    if (rc)
        return rc;
    shuffle_partitions(judged, findings);
    memory_ratio(judged, findings);
    conflicts(audit, findings);
    far(audit, findings);
    jars(audit, findings);
    return ERR_OK;
}
