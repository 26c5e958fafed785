/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules look at and what they write to. A family of rules is one function in a file rules_AREA.c: it goes through its subjects, measures, and adds a finding for each subject
 * that could matter, whether it fires or not; it never grades. What follows for all families alike is in judge.c: prices, off-path mutes, common mutes, confidence, suppression, the joint
 * price, and which rows are kept. Functions on findings are in findings.c. */
#ifndef ANALYSIS_JUDGE_H
#define ANALYSIS_JUDGE_H

#include "analysis/account.h"
#include "analysis/completeness.h"
#include "analysis/facts.h"
#include "analysis/finding.h"
#include "analysis/lost_tasks.h"
#include "analysis/simulate.h"
#include "analysis/stage_extra.h"
#include "analysis/stage_stats.h"
#include "base/buf.h"

/* So many stages have their tasks looked at, one by one: what is behind them has less than a two-thousandth of the work each. */
#define STAGES_LOOKED_AT 2000

struct audits;

struct judged {
    const struct facts *facts;
    const struct accounts *accounts;
    const struct lost_tasks *lost;
    /* By position of stage, never NULL. Of stages without winners, and of those behind the STAGES_LOOKED_AT with most work, all counts 0 and numbers NaN, verdict muted. */
    const struct stage_stats *const *stages;
    const struct stage_extra *const *extras; /* what rules ask beyond that */
    const struct simulation *simulation;
    struct calibration calibration;
    const struct chain *chain;
    const struct audits *audits;             /* analysis/audits.h */
    const struct what_if *what_ifs;          /* of the whole run */
    size_t what_if_count;
    int completeness;                        /* C of 2.2 */
    const struct completeness *log;          /* what is missing */
    int64_t wall_ms;                         /* W */
};

struct findings {
    struct arena *arena;                     /* borrowed: texts of findings. All else zero to begin with */
    struct finding *items;                   /* owned */
    size_t count, capacity;
    bool out_of_memory;                      /* sticks: rules need not look after each call */
    struct buf args, measures, evidence, formula, filter;    /* of the newest item, until findings_close */
    size_t evidence_count, change_capacity;
    bool open;                               /* there is a newest item, and it takes texts */
    struct finding spare;
    struct rule_seen *seen;                  /* owned; by position in rules: what findings_consider has let through */
};
#define FINDINGS_MAX ((size_t)1 << 20)
/* Of one rule so many subjects are kept, those with most at stake; how many more there were is measure `further_subjects` of the first of them. */
#define FINDINGS_PER_RULE 500
#define FINDING_EVIDENCE_MAX 50

/* The new one is valid until the next findings_add; never NULL (out of memory or an unknown rule: a spare that is thrown away). Prices unknown, measure NaN, confidence 2. */
struct finding *findings_add(struct findings *self, const char *rule_id, enum subject_kind kind, const char *key_format, ...) PRINTF_LIKE(4, 5);

/* For rules with as many subjects as there are stages: adds a finding only if it is worth its memory – it passes the first threshold and has more at stake than others of this rule, or it
 * came nearest to it so far. NULL: nothing to do. `mute`: of one that is muted from the start. `saving_ms` becomes local_saving_ms; NaN where seconds say nothing. */
struct finding *findings_consider(struct findings *self, const struct rule *rule, enum mute mute, double measure, double saving_ms, enum subject_kind kind, const char *key_format, ...)
    PRINTF_LIKE(7, 8);

/* There was something to judge, and the log does not hold its measure: one row says so, muted no_metric, where the rule has none yet. */
void findings_say_unknown(struct findings *self, const struct rule *rule);

/* How many it kept out that passed their first threshold. */
size_t findings_refused(const struct findings *self, const struct rule *rule);

/* To the finding that was added last. Units: ms s bytes share ratio count records slots …; the page formats them. A NaN is written as null. */
void finding_arg(struct findings *self, const char *name, double value, const char *unit);       /* a placeholder of the rule's sentence */
void finding_arg_text(struct findings *self, const char *name, struct str text);                 /* at most 300 bytes are kept */
void finding_measure(struct findings *self, const char *name, double value, const char *unit);
struct evidence_cell {
    const char *name;
    double value;
    const char *unit;
};
void finding_evidence(struct findings *self, enum subject_kind kind, struct str key, const char *role /* culprit peer context */, const struct evidence_cell *cells, size_t count);   /* at most 50 rows are kept */
/* How the measure came about: the rule's text `formula` in messages, or `formula_VARIANT`, with these numbers, the finding's placeholders and measures, and {m}, the measure itself; the
 * threshold, and where that comes from. */
void finding_formula(struct findings *self, const char *variant, const struct evidence_cell *numbers, size_t count, double threshold, const char *source);
#define FORMULA(findings, variant, threshold, source, ...)                                                                                                                  \
    finding_formula(findings, variant, (struct evidence_cell[]){__VA_ARGS__}, sizeof((struct evidence_cell[]){__VA_ARGS__}) / sizeof(struct evidence_cell), threshold, source)
/* One more parameter of the query of a task list (GET …/stages/{key}/tasks) that lists just the tasks it is about: of the stage that is its subject, or of each stage among its evidence. */
void finding_filter(struct findings *self, const char *name, struct str value);
/* One more thing that would be otherwise without this fault; `scenario` and `band` are the finding's. */
void finding_change(struct findings *self, const char *scenario, enum band band, struct change change);
/* Puts the texts of the newest into it. The next findings_add does so too. */
void findings_close(struct findings *self);

/* 1.6, 2.3: whether subjects of this rule are to be judged at all: a tiny or incomplete application or stage; MUTE_NONE: yes. stage: NO_ENTITY for rules that are about no single one. */
enum mute mute_of(const struct judged *judged, const struct rule *rule, uint32_t stage);

/* 1.8: 0 low, 1 medium, 2 high; what the rule itself took off is in finding->confidence. */
int confidence_of(const struct judged *judged, const struct finding *finding);

/* Families; each in its file. */
typedef enum err_code rules_fn(const struct judged *judged, struct findings *findings, struct err *err);
rules_fn rules_app, rules_stage, rules_memory, rules_shuffle, rules_failure, rules_reuse, rules_sql, rules_conf, rules_stream, rules_log;

/* Behind the prices: what settings are found at fault for must show itself in a finding that is left. */
void conf_confirm(const struct judged *judged, struct findings *findings);

/* Items that prices of one application may simulate, all scenarios together: what is worth most is priced first, the last one may overdraw it, and what is left over says `unpriced`: budget. */
#define PRICE_BUDGET_ITEMS(attempt_count) ((size_t)100000 + (size_t)(attempt_count) / 2)

/* Savings of the first findings together (6.6); order: that of prices. */
struct joint_price {
    size_t finding;                          /* position in findings */
    int64_t saving_ms;                       /* of this one and all before it */
};
#define JOINT_PRICES 10

/* Runs all families and what follows for all of them. `ret` (with its arena set) is sorted as lists show it (8.2), and holds at least one row of each rule (1.5). */
enum err_code judge(const struct judged *judged, struct findings *ret, struct joint_price ret_joint[JOINT_PRICES], size_t *ret_joint_count, struct err *err) WARN_UNUSED;
void findings_dispose(struct findings *self);

#endif
