/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules look at and what they write to. A family of rules is one function in a file rules_AREA.c: it goes through its subjects, measures, and adds a finding for each subject
 * that could matter, whether it fires or not; it never grades. What follows for all families alike is in judge.c: prices, off-path mutes, common mutes, confidence, suppression, the joint
 * price, and which rows are kept. */
#ifndef ANALYSIS_JUDGE_H
#define ANALYSIS_JUDGE_H

#include "analysis/account.h"
#include "analysis/facts.h"
#include "analysis/finding.h"
#include "analysis/simulate.h"
#include "analysis/stage_stats.h"

struct judged {
    const struct facts *facts;
    const struct accounts *accounts;
    const struct stage_stats *stages;        /* by position of stage; of stages without winners all NaN, verdict muted */
    const struct simulation *simulation;
    struct calibration calibration;
    const struct chain *chain;
    int completeness;                        /* C of 2.2 */
    int64_t wall_ms;                         /* W */
};

struct findings {
    struct arena *arena;                     /* borrowed: texts of findings */
    struct finding *items;                   /* owned */
    size_t count, capacity;
    bool out_of_memory;                      /* sticks: rules need not look after each call */
};
#define FINDINGS_MAX ((size_t)1 << 20)

/* The new one is valid until the next findings_add; never NULL (out of memory: a spare that is thrown away). Prices unknown, measure NaN, confidence 2. */
struct finding *findings_add(struct findings *self, const char *rule_id, enum subject_kind kind, const char *key_format, ...) PRINTF_LIKE(4, 5);

/* To the finding that was added last. Units: ms s bytes share ratio count records slots text … ; the page formats them. A NaN is written as null. */
void finding_arg(struct findings *self, const char *name, double value, const char *unit);       /* a placeholder of the rule's sentence */
void finding_arg_text(struct findings *self, const char *name, struct str text);
void finding_measure(struct findings *self, const char *name, double value, const char *unit);
struct evidence_cell { const char *name; double value; const char *unit; };
void finding_evidence(struct findings *self, enum subject_kind kind, struct str key, const char *role /* culprit peer context */, const struct evidence_cell *cells, size_t count);   /* at most 50 rows are kept */
void finding_formula(struct findings *self, const char *text, double threshold, const char *source, const char *filter);

/* Families; each in its file. */
typedef enum err_code rules_fn(const struct judged *judged, struct findings *findings, struct err *err);
rules_fn rules_app, rules_stage, rules_memory, rules_shuffle, rules_failure, rules_reuse, rules_sql, rules_conf, rules_stream, rules_log;

/* Runs all families and what follows for all of them. `ret` is sorted as lists show it (8.2). */
enum err_code judge(const struct judged *judged, struct findings *ret, struct err *err) WARN_UNUSED;
void findings_dispose(struct findings *self);

#endif
