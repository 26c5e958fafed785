/* SPDX-License-Identifier: Apache-2.0
 *
 * What analysis found out about one application, read back from its database for people: graded with the thresholds of the moment, sorted as lists show it, and put into sentences.
 * `afterglow report` writes it as text, JSON, Markdown or HTML (report_write); the server asks for parts. Made by report_load; everything borrowed from it lives until report_dispose. The
 * database may be read-only, must stay open, and must have been analysed. One thread. Memory: all rows of table finding, some kilobytes each. */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "analysis/account.h"
#include "analysis/finding.h"
#include "analysis/messages.h"
#include "analysis/wording.h"
#include "base/arena.h"
#include "base/db.h"

#define REPORT_BYTES ((size_t)512 << 20)     /* 43,000 findings (500 a rule) of at most 10 kB, nearly always less than one */
#define REPORT_ARGS 64                       /* placeholders and measures of one finding */

/* The list of runs calls one abandoned from then on (afterglow.abandoned.age); this is its default. Reports know no settings. */
#define ABANDONED_AGE_MS (INT64_C(7) * 24 * 3600 * 1000)

struct report_finding {
    struct finding finding;
    enum grade grade;
    double margin;                   /* 1.5; NaN: unknown */
    bool is_shown;                   /* grade info or above, neither muted nor suppressed */
    struct str error;                /* of one that tells of a failure: its signature, or the code of its reason. Different errors are not told in one sentence; STR_NONE: there is none */
    /* Of shown ones, by report_links.h. */
    size_t same_as;                  /* position of the finding that tells of the same failure, and more of it; its own: it tells of its own */
    int64_t failed_attempts;         /* of one about failed tasks; UNKNOWN */
    struct str pieces_of;            /* the stage whose number of tasks its cure sets; STR_NONE: it sets none */
};

struct report {
    struct arena arena;
    struct db *db;                   /* borrowed */
    struct {
        struct str id, attempt, name, user, spark_version;
        int64_t start_ms;            /* epoch */
        bool complete;               /* ApplicationEnd was read */
        bool failed;                 /* exit code, or its last job; a server goes on when a job fails */
        bool is_shell, is_server;
        bool is_abandoned;           /* no end, and nothing was written to the log for ABANDONED_AGE_MS: it is not called running */
        struct str failure;          /* failed_job.h; STR_NONE: the log does not say */
        int64_t job_count, failed_job_count, task_count;
    } app;
    int64_t analysis_version, begin_ms, end_ms, wall_ms, jobs_ms, completeness, slot_peak, frame_ms, allocated_ms, clock_faults;
    bool end_at_least;
    int64_t simulated_ms, bound_infinite_ms, bound_work_ms;      /* UNKNOWN: not simulated */
    double simulation_error;
    bool prices_allowed;
    struct {
        int64_t slot_ms, wall_ms;    /* wall UNKNOWN: this view has none */
        bool is_there;
    } account[BUCKET_COUNT];
    struct report_finding *findings; /* shown ones first (8.2), then the others, nearest to their limit first */
    size_t finding_count, shown_count;
    struct {
        size_t finding;              /* position */
        int64_t saving_ms;           /* of it and all before it */
    } joint[10];
    size_t joint_count;
};

/* `profile` may be NULL. ERR_NOT_FOUND: the application has not been analysed. */
enum err_code report_load(struct report *ret, struct db *app, const struct profile *profile, struct err *err) WARN_UNUSED;
void report_dispose(struct report *self);                    /* idempotent */

/* Placeholders and further measures of a finding, codes of ours in words ("sub:waiting" in section "words"); texts live in the report's arena. */
enum err_code report_args(struct report *self, enum lang lang, const struct finding *finding, struct word_arg ret[REPORT_ARGS], size_t *ret_count, struct err *err) WARN_UNUSED;

/* One cell of the evidence table of a finding. Cells of a row follow one another; a culprit that is nothing but a name has one cell without a name. */
struct report_cell {
    size_t row;
    struct str kind, key, role;      /* of the row */
    struct str name, text, unit;     /* text unknown: value */
    double value;
};
struct report_evidence {
    struct report_cell *cells;       /* in the arena */
    size_t count, row_count;
    struct str formula, source;      /* formula: how the measure came about, in words; STR_NONE where there is none */
    struct str filter;               /* see finding_filter; STR_NONE: it is about no single tasks, or about all of them */
    double threshold;
};
/* `args` as report_args gave them. */
enum err_code report_evidence(struct report *self, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count, struct report_evidence *ret,
                              struct err *err) WARN_UNUSED;

/* Its sentence, or that of its cause where it has one, with "Possibly" before it at low confidence, or the shorter one where the run lacks what the sentence says (a job that failed without a failed task); the name of its rule; what to do, in words; where it is ("stage 1.0"). */
void report_sentence(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count);
const char *report_rule_name(enum lang lang, const struct finding *finding);
void report_advice(struct buf *out, enum lang lang, const struct finding *finding, const struct word_arg *args, size_t count);
void report_subject(struct buf *out, enum lang lang, struct str kind, struct str key);
/* What the log lacks, as words joined by "; "; nothing where it lacks nothing. */
enum err_code report_missing(struct report *self, enum lang lang, struct buf *out, struct err *err) WARN_UNUSED;

/* Buckets with wall time, largest first. Returns their number. */
size_t report_buckets(const struct report *self, enum bucket ret[BUCKET_COUNT]);

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_HTML, REPORT_MARKDOWN, REPORT_FORMAT_COUNT };
extern const char *const report_format_names[REPORT_FORMAT_COUNT];
struct report_style {
    enum report_format format;
    enum lang lang;
    bool colour;                     /* of text */
};
/* The whole report. JSON's shape is in analysis/README.md. What does not fit in a readable report is counted there and is in the JSON. */
enum err_code report_write(struct report *self, const struct report_style *style, struct buf *out, struct err *err) WARN_UNUSED;

#endif
