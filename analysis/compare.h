/* SPDX-License-Identifier: Apache-2.0
 *
 * Two runs of one job side by side (spec/findings.md 9.4, 9.5): where the difference of their wall times comes from, in parts that sum to it exactly; which settings differ; which findings came
 * and went. Made at read time from two records; the databases must be open while a comparison is made (plans are read of queries that changed), not afterwards. One thread. */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include "analysis/baseline.h"
#include "analysis/match.h"
#include "analysis/run_record.h"

/* In the order in which they are taken; each takes what the earlier ones left. */
#define COMPARE_PARTS(X)                                                                                                                                                      \
    X(STARTUP, "startup")                                                                                                                                                     \
    X(WAIT_EXEC, "wait_exec")                                                                                                                                                 \
    X(DRIVER, "driver") X(SHUTDOWN, "shutdown") X(LOST, "lost") X(PLAN, "plan") X(NEW_STAGE, "new_stage") X(REMOVED_STAGE, "removed_stage") X(DATA, "data") X(SLOTS, "slots") \
        X(SKEW, "skew") X(GC, "gc") X(FETCH, "fetch") X(SPILL, "spill") X(DELAY, "delay") X(DESER, "deser") X(PYTHON, "python") X(SLOWER_ROWS, "slower_rows") X(CODE, "code") \
            X(UNEXPLAINED, "unexplained") X(OTHER, "other")
enum compare_part_kind {
#define X(id, name) COMPARE_##id,
    COMPARE_PARTS(X)
#undef X
        COMPARE_PART_KIND_COUNT
};
extern const char *const compare_part_names[COMPARE_PART_KIND_COUNT];

/* How a query's plan changed. */
enum plan_change { PLAN_SAME, PLAN_BROADCAST_LOST, PLAN_BROADCAST_GAINED, PLAN_JOIN, PLAN_EXCHANGES, PLAN_ADAPTIVE, PLAN_OTHER, PLAN_CHANGE_COUNT };
extern const char *const plan_change_names[PLAN_CHANGE_COUNT];
enum plan_change plan_compare(const struct run_operator *base, size_t base_count, const struct run_operator *new_run, size_t new_count, int64_t *ret_before, int64_t *ret_after);

#define COMPARE_LINKS 6
struct compare_part {
    enum compare_part_kind kind;
    int64_t ms;                  /* above 0: the new run is slower for it */
    enum bucket gap;             /* DRIVER: its class */
    enum plan_change change;     /* PLAN */
    struct str what;             /* name of the stage that gives most of it (of the job behind the gap, of the first query); STR_NONE: not one */
    int64_t base_id, new_id;     /* of that stage, or query, in either run; UNKNOWN: not there */
    double before, after;        /* what changed, in `unit`; NaN: nothing to tell */
    const char *unit;            /* static */
    int64_t count;               /* stages or queries that it comes from */
    int64_t largest_ms;          /* of the one that `what` names */
    double noise_ms;             /* up to here runs of the job differ in this anyway: outside of jobs by what is usual for it, where that is known, else by what is for the wall */
    size_t links[COMPARE_LINKS]; /* positions in settings: keys that may be behind it */
    size_t link_count;
};

enum setting_group { SETTINGS_RESOURCES, SETTINGS_SQL, SETTINGS_SHUFFLE, SETTINGS_MEMORY, SETTINGS_OTHER, SETTING_GROUP_COUNT };
extern const char *const setting_group_names[SETTING_GROUP_COUNT];
/* An id, address or time: another value in every run. */
bool setting_is_per_run(struct str name);
struct compare_setting {
    struct str name, base, new_run; /* STR_NONE: not set there */
    enum setting_group group;
};

enum finding_news { FINDING_NEW, FINDING_GONE, FINDING_WORSE, FINDING_BETTER, FINDING_SAME, FINDING_NEWS_COUNT };
extern const char *const finding_news_names[FINDING_NEWS_COUNT];
struct compare_finding {
    enum finding_news news;
    const struct rule *rule;
    enum subject_kind kind;
    struct str base_key, new_key; /* STR_NONE: not there */
    enum grade base_grade, new_grade;
    int64_t base_price_ms, new_price_ms; /* UNKNOWN: none */
};

/* A stage of the new run that takes longer, or less, than its noise allows. */
struct compare_stage {
    struct str name;
    int64_t base_id, new_id;
    bool is_wall; /* of its wall time, else of the work of its tasks */
    double usual_ms, ms;
};

enum compare_state { COMPARE_DONE, COMPARE_INCOMPLETE /* C of a run is below 80, or it may have taken longer than the other one: its log has no end */, COMPARE_TOO_FEW /* earlier runs */ };
enum compare_verdict { COMPARE_NO_CHANGE, COMPARE_SLOWER, COMPARE_FASTER };

#define COMPARE_MAX_PARTS 64
#define COMPARE_STAGES 20

struct comparison {
    struct arena arena;
    struct run_record base, new_run; /* base: the chosen run, or the baseline's reference */
    enum compare_state state;
    const struct baseline *baseline; /* borrowed; NULL: with one chosen run, so the noise is not known */
    struct noise wall;               /* of the baseline, or of the one run */
    int64_t usual_ms;                /* median of the baseline, or the run's wall */
    int64_t delta_ms;                /* new wall − usual */
    enum compare_verdict verdict;
    enum grade grade; /* of RUN.REGRESSION: OK where it does not fire */
    double matched_share;
    bool code_changed;                            /* below 80 %: only what lies outside of jobs is told apart */
    bool partly_known;                            /* more than 30 % is unexplained */
    struct compare_part parts[COMPARE_MAX_PARTS]; /* largest first; sum: delta_ms */
    size_t part_count;
    struct compare_setting *settings;            /* by group and name */
    struct compare_finding *findings;            /* by news, grade and rule */
    struct compare_stage stages[COMPARE_STAGES]; /* with a baseline; largest difference first */
    struct noise metrics[RUN_METRIC_COUNT];      /* with a baseline: count 0 without */
    size_t setting_count, finding_count, stage_count;
    size_t hidden_setting_count; /* that differ in every run (ids, ports, start times): not in settings */
};

/* With a chosen run. `base` and `new_run` are analysed databases; ERR_NOT_FOUND: one is not. */
enum err_code compare_runs(struct comparison *ret, struct db *base, struct db *new_run, struct err *err) WARN_UNUSED;
/* With what is usual. The baseline stays borrowed; its members are read below store_dir/apps, and the nearest to the median that can be read becomes its reference. */
enum err_code compare_usual(struct comparison *ret, struct baseline *baseline, const char *store_dir, struct db *new_run, struct err *err) WARN_UNUSED;
void comparison_dispose(struct comparison *self); /* idempotent */

/* The steps, for tests: over ret->base, ret->new_run, usual_ms. */
enum err_code compare_decompose(struct comparison *self, const struct run_match *match, struct db *base, struct db *new_run, struct err *err) WARN_UNUSED;
enum err_code compare_settings(struct comparison *self, struct err *err) WARN_UNUSED; /* also links parts to keys */
enum err_code compare_findings(struct comparison *self, const struct run_match *match, struct err *err) WARN_UNUSED;
void compare_noise(struct comparison *self); /* of the parts, once metrics are there */

/* The log of a run has no end, and so far the run was faster, by so much, than the other one: it may not be in the end. */
bool compare_is_open(const struct run_record *run, int64_t faster_by_ms);

/* The measure of RUN.REGRESSION: the difference as a share of what is usual; NaN where it does not fire: not above max(2 %, 2 s), or not above 3 σ̂. */
double regression_measure(const struct noise *wall, int64_t wall_ms);

#endif
