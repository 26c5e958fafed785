/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules leave behind: one measure a (rule, subject), whether it fired or not (spec/findings.md 1.3–1.8). Grades are computed when it is read, with the thresholds of a
 * profile; nothing here depends on a threshold but which rows were kept. Stored in table finding; the texts come from analysis/messages. */
#ifndef ANALYSIS_FINDING_H
#define ANALYSIS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

enum grade { GRADE_OK, GRADE_INFO, GRADE_LOW, GRADE_MODERATE, GRADE_SEVERE, GRADE_COUNT };
extern const char *const grade_names[GRADE_COUNT];          /* ok info low moderate severe */

enum subject_kind { SUBJECT_APP, SUBJECT_JOB, SUBJECT_STAGE, SUBJECT_TASK, SUBJECT_EXECUTOR, SUBJECT_HOST, SUBJECT_SQL, SUBJECT_NODE, SUBJECT_RDD, SUBJECT_QUERY, SUBJECT_BATCH,
                    SUBJECT_CONF, SUBJECT_LOG, SUBJECT_KIND_COUNT };
extern const char *const subject_kind_names[SUBJECT_KIND_COUNT];    /* 1.1 */

enum mute { MUTE_NONE, MUTE_TINY_APP, MUTE_TINY_STAGE, MUTE_FEW_TASKS, MUTE_TINY_DATA, MUTE_INCOMPLETE, MUTE_NO_METRIC, MUTE_AQE, MUTE_LOCAL, MUTE_STREAMING, MUTE_WARMUP,
            MUTE_OFF_PATH, MUTE_VENDOR, MUTE_NO_SUBJECT, MUTE_COUNT };
extern const char *const mute_names[MUTE_COUNT];            /* NULL of MUTE_NONE */
/* Too small or too damaged to be judged at all: of such subjects only the nearest is kept, where a rule has no other. */
bool mute_is_early(enum mute mute);

/* Direction and the four thresholds info … severe; NaN: that step does not exist. */
struct ladder {
    bool down;
    double step[4];
};

enum rule_kind { RULE_TIME, RULE_HEALTH };
struct rule {
    const char *id;                  /* AREA.NAME */
    int version;                     /* raised whenever the formula changes */
    enum rule_kind kind;
    const char *question;            /* slow memory config failure data streaming */
    enum subject_kind subject;
    const char *unit;                /* of the measure: ratio share ms bytes count … */
    struct ladder ladder;            /* of the default profile */
    enum grade at_most;              /* GRADE_SEVERE: no cap */
    const char *fixes;               /* blank-separated snippet ids of appendix A, in order */
};
extern const struct rule rules[];
extern const size_t rule_count;
const struct rule *rule_find(struct str id);
struct finding;
/* Snippets for it, like rule.fixes: those that go with its cause where that wants others than the rule usually does. */
const char *finding_fixes(const struct finding *finding);
/* It tells of nothing that could be better: what went well, and what more executors would do. Worth reading, but no mark beside what it is about. */
bool finding_is_no_fault(const struct finding *finding);
/* Usually nothing need be done about it: first tasks and the first query warmed up, nobody typed into a shell. It is told last, and what it costs is no saving. */
bool finding_is_usual(const struct finding *finding);
/* It tells that time went by, and other findings tell why: slots were idle or to spare; and what is usual. A verdict is about it where there is nothing else to name. */
bool finding_is_symptom(const struct finding *finding);

struct change;                       /* analysis/simulate.h */

struct finding {
    const struct rule *rule;
    enum subject_kind subject_kind;
    struct str subject_key;
    double measure;                  /* NaN: unknown */
    struct {
        int64_t ms, low_ms, high_ms; /* UNKNOWN: no price */
    } price;
    const char *scenario;            /* W1 … W13, static; NULL: W0, a price makes no sense */
    bool weak;                       /* its scenario is (6.5): a wide band */
    enum mute mute;
    struct str suppressed_by;        /* "RULE.ID kind key"; STR_NONE */
    int confidence;                  /* 0 low, 1 medium, 2 high */
    int grade_shift;                 /* −1: `dynamic`; +1: a rule says so */
    enum grade at_most, at_least;    /* caps of this very finding: confidence, a failed last job; GRADE_SEVERE and GRADE_OK: none */
    const char *cause;               /* static; NULL */
    struct str args;                 /* JSON object: placeholders of the sentences: {"wait":{"v":1234,"u":"ms"},"stage":{"v":"1.0"}} */
    struct str measures;             /* JSON object of further named measures */
    struct str evidence;             /* JSON of 1.4 */
    /* While rules run, not stored: what would be otherwise without this fault, for its price and the joint price (6.6); and how the price's band is to be (enum band). */
    const struct change *changes;
    size_t change_count;
    int band;
    double local_saving_ms;          /* what the stage alone would save; NaN: unknown. Decides what is priced first and what is off the path */
    uint32_t stage;                  /* what it is about, for suppression and completeness: positions in facts; NO_ENTITY: none, or several */
    uint32_t executor;
    bool distribution;               /* it judges how tasks are spread: ten of them are wanted for full confidence (1.8) */
    double cause_share;              /* of the dominant cause; NaN: it has none */
};

/* Thresholds that a caller brings along. */
struct profile {
    const struct ladder *ladders;    /* by position in rules; NULL: the defaults */
};
/* Keys like "3.1" (a stage's attempt) and "3/17" (a node of an execution's plan): what stands before the first `mark`, and from it on (".1"; empty where there is none). False: the first is no number. */
bool subject_key_split(struct str key, char mark, int64_t *ret_first, struct str *ret_rest);
bool subject_key_pair(struct str key, char mark, int64_t *ret_first, int64_t *ret_second); /* both numbers; false: they are not */

/* 1.3: min(gm, gp) of time rules, gm of health rules; then shift, floor and caps. A time rule that has a scenario and no price (2.3, 6.4, or too many subjects) gets low at most.
 * wall_ms: of the application. `profile` may be NULL: the defaults. Muted or suppressed findings keep their grade: showing them is the caller's. */
enum grade finding_grade(const struct finding *finding, const struct profile *profile, int64_t wall_ms);
enum grade ladder_grade(const struct ladder *ladder, double measure);
enum grade price_grade(int64_t price_ms, int64_t wall_ms);
double finding_margin(const struct finding *finding, const struct profile *profile);      /* 1.5: 0 … 99; NaN: the measure is unknown */

#endif
