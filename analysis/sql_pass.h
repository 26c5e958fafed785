/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over the latest plans of all executions (spec/findings.md 7.7): every plan is read once, and every rule about nodes looks at it then. A family of such rules is a file
 * rules_sql_SUBJECT.c with functions of the form look_fn (or one for the whole plan); rules_sql.c calls them. */
#ifndef ANALYSIS_SQL_PASS_H
#define ANALYSIS_SQL_PASS_H

#include "analysis/audits.h"
#include "analysis/plan.h"

/* Rules by number, found once. */
#define SQL_RULES(X)                                                                                                                                           \
    X(FAILED)                                                                                                                                                  \
    X(SMALL_FILES_READ)                                                                                                                                        \
    X(SMALL_FILES_WRITE) X(BROADCAST_MISSED) X(BROADCAST_LARGE) X(ROW_EXPLOSION) X(FULL_SCAN) X(DPP) X(PUSHDOWN) X(PYTHON_UDF) X(AQE_OFF) X(AQE_OVERCOALESCED) \
        X(AQE_SKEW_UNHANDLED) X(WRITE_AMPLIFICATION) X(REPEATED_SCAN) X(SINGLE_PARTITION) X(LONG_PLAN) X(AGG_FALLBACK) X(NATIVE_FALLBACK)
enum sql_rule {
#define X(id) SQL_##id,
    SQL_RULES(X)
#undef X
        SQL_RULE_COUNT
};

struct scan_seen;
struct fragment;
struct skewed_stage;

struct sql_pass {
    const struct judged *judged;
    const struct facts *facts;
    struct findings *findings;
    struct plan_reader *reader;
    const struct plan *plan; /* the present one */
    struct arena scratch;    /* dies with it */
    const struct rule *rules[SQL_RULE_COUNT];
    bool *python_seen, *coalesced_seen; /* by stage: it has its row of SQL.PYTHON_UDF, of SQL.AQE_OVERCOALESCED */
    bool *streaming;                    /* by execution: a batch of a streaming query */
    double *planning_ms;                /* by execution: on the driver before its first job */
    struct scan_seen *scans;            /* of all plans so far; rules_sql_scan.c */
    size_t scan_count, scan_capacity;
    struct fragment *fragments;         /* of all plans so far; rules_sql_fragment.c */
    size_t fragment_count, fragment_capacity;
    struct skewed_stage *skewed; /* stages that STAGE.SKEW_DATA is about, by execution; rules_sql_aqe.c */
    size_t skewed_count;
    double adaptive_shuffles; /* shuffles that adaptive execution did not look at */
};

typedef enum err_code look_fn(struct sql_pass *pass, const struct plan_node *node, struct err *err);
look_fn look_at_scan, look_at_write, look_at_join, look_at_broadcast, look_at_explosion, look_at_single_partition, look_at_aggregate, look_at_python, look_at_amplification,
    look_at_overcoalesced, look_at_skew_unhandled;
/* Behind the last plan. */
enum err_code sql_repeated_scans(struct sql_pass *pass, struct err *err) WARN_UNUSED;
enum err_code sql_repeated_fragments(struct sql_pass *pass, struct err *err) WARN_UNUSED;
enum err_code sql_python_rdds(struct sql_pass *pass, struct err *err) WARN_UNUSED;
/* For each plan but those of streaming queries, whose batches are all alike. */
enum err_code sql_note_fragments(struct sql_pass *pass, struct err *err) WARN_UNUSED;
/* Before the first. */
enum err_code sql_find_skewed(struct sql_pass *pass, struct err *err) WARN_UNUSED;

#define NODE_KEY_BYTES 48
/* "execution/node" */
const char *node_key(const struct sql_pass *pass, const struct plan_node *node, char out[NODE_KEY_BYTES]);

/* findings_consider of a node, with the rule's common mutes before its own. `stage`: the one it is about, NO_ENTITY for none or several. NULL: nothing to do. */
struct finding *consider_node(struct sql_pass *pass, enum sql_rule rule, const struct plan_node *node, uint32_t stage, enum mute mute, double measure, double saving_ms);
/* The node as culprit, with these numbers. */
void evidence_node(struct sql_pass *pass, const struct plan_node *node, const char *role, const struct evidence_cell *cells, size_t count);
void evidence_stage_of(struct sql_pass *pass, uint32_t stage, const char *role);

/* The stage whose tasks reported this metric of the node, the one with most work of several; NO_ENTITY: none is known. */
enum err_code stage_of_metric(struct sql_pass *pass, const struct plan_node *node, const char *metric, uint32_t *ret, struct err *err) WARN_UNUSED;
/* Of any of its metrics. */
enum err_code stage_of_node(struct sql_pass *pass, const struct plan_node *node, uint32_t *ret, struct err *err) WARN_UNUSED;
/* The stage that wrote a shuffle, and the one that read it. */
enum err_code shuffle_stages(struct sql_pass *pass, const struct plan_node *shuffle, uint32_t *ret_writer, uint32_t *ret_reader, struct err *err) WARN_UNUSED;
/* Σ o' of the stage's winners, at least 1; its slots. */
double stage_work_ms(const struct sql_pass *pass, uint32_t stage);
double stage_slots(const struct sql_pass *pass, uint32_t stage);
/* "Scan parquet db.t" → "db.t"; without a table the path that its Location begins with; at last the name. */
struct str scan_source(struct sql_pass *pass, const struct plan_node *node);

#endif
