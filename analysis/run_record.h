/* SPDX-License-Identifier: Apache-2.0
 *
 * One run as comparison looks at it: read from what analysis stored in its database, never from facts in memory, so that runs of long ago compare as fast as those of today. The database may be
 * read-only and closed afterwards; all texts are in the record's arena. A value that is not known is UNKNOWN or NaN. One thread. */
#ifndef ANALYSIS_RUN_RECORD_H
#define ANALYSIS_RUN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account.h"
#include "analysis/finding.h"
#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

#define RUN_RECORD_BYTES ((size_t)1 << 30) /* 100,000 stages take 25 MB */

/* What runs of one job are measured by (spec/findings.md 9.3); behind these the wall buckets, RUN_BUCKETS + enum bucket. */
#define RUN_METRICS(X)                                                                                                                      \
    X(WALL, "wall", "ms")                                                                                                                   \
    X(SLOT_TIME, "slot_time", "ms")                                                                                                         \
    X(INPUT_BYTES, "input", "bytes") X(SHUFFLE_BYTES, "shuffle", "bytes") X(SPILL_BYTES, "spill", "bytes") X(GC_SHARE, "gc_share", "share") \
        X(FAILED_ATTEMPTS, "failed_attempts", "count") X(PEAK_MEMORY, "peak_memory", "bytes")
enum run_metric {
#define X(id, name, unit) RUN_##id,
    RUN_METRICS(X)
#undef X
        RUN_BUCKETS,
    RUN_METRIC_COUNT = RUN_BUCKETS + BUCKET_COUNT
};
const char *run_metric_name(enum run_metric metric); /* static */
const char *run_metric_unit(enum run_metric metric);

/* NaN where the run does not say. ERR_NOT_FOUND: it was not analysed. */
enum err_code run_metrics_load(double ret[RUN_METRIC_COUNT], struct db *app, struct err *err) WARN_UNUSED;

/* Parts of task time that comparison looks at one by one, in the order in which it does (9.4 step 2 f). */
enum run_part { RUN_PART_GC, RUN_PART_FETCH, RUN_PART_SPILL, RUN_PART_DELAY, RUN_PART_DESER, RUN_PART_PYTHON, RUN_PART_COUNT };

/* A stage with all its attempts. */
struct run_stage {
    int64_t stage_id, fingerprint, call_site;
    struct str name;
    int64_t job_id;                 /* the first that it ran for; UNKNOWN: none */
    int64_t execution_id;           /* UNKNOWN: not of a query */
    int64_t chain_ms, queue_ms;     /* on the critical chain; of it, waiting for a slot behind its own tasks */
    int64_t work_ms;                /* of all its task attempts */
    int64_t wall_ms;                /* first launch to last finish */
    int64_t task_count, lost_count; /* winners; attempts whose work was lost */
    double bytes, records;          /* read: input and shuffle */
    double cpu_ms;                  /* NaN: not recorded */
    double slots;
    double rec_cap_ms;              /* what normal work of its outliers would save */
    double part_ms[RUN_PART_COUNT]; /* over all its tasks; NaN: not stored of stages with little work */
};

struct run_query {
    int64_t execution_id, first, final; /* fingerprints */
    struct str description;
    int64_t wall_ms; /* UNKNOWN: it has no end, or no begin */
    int64_t plan_id; /* whose rows hold its final graph; UNKNOWN */
};

/* The longest time without a job of a class. */
struct run_gap {
    int64_t ms, begin_ms;     /* 0: none; epoch */
    struct str after, before; /* names of the jobs around it */
};

struct run_setting {
    struct str name, value;
};

struct run_finding {
    const struct rule *rule;
    enum subject_kind kind;
    struct str key;
    struct str
        identity; /* what tells its subject in every run, where that is not the key: name and place of an RDD, id of a streaming query; "" of tasks and batches, which are never the same
                                        again; STR_NONE: stages, jobs, queries and their nodes (match.h), and where the key is it */
    enum grade grade;
    int64_t price_ms; /* UNKNOWN: none */
    uint64_t node; /* of a plan's node: what it is and does (fingerprint.h), since its number is another one in another plan; 0: it is none, or nothing is known of it */
};

struct run_record {
    struct arena arena;
    struct str app_id, attempt_id, name, user, spark_version;
    int64_t begin_ms, wall_ms, completeness, slot_peak, executor_count;
    bool end_at_least;               /* the log has no end: the run took wall_ms or more */
    int64_t lost_ms;                 /* what the run would save without lost work (scenario W4); UNKNOWN: not simulated */
    int64_t bucket_ms[BUCKET_COUNT]; /* of the wall; sum: wall_ms */
    double metrics[RUN_METRIC_COUNT];
    struct run_gap gaps[BUCKET_COUNT]; /* of BUCKET_GAP_… */
    struct run_stage *stages;          /* by stage_id; those that ran */
    struct run_query *queries;         /* by execution_id */
    struct run_setting *settings;      /* by name: properties of the run, over them what all queries of the session had */
    struct run_finding *findings;      /* that lists show */
    size_t stage_count, query_count, setting_count, finding_count;
};

enum err_code run_record_load(struct run_record *ret, struct db *app, struct err *err) WARN_UNUSED;
void run_record_dispose(struct run_record *self); /* idempotent */

/* Which operators a plan is made of, by name and number, ascending by name; in the record's arena. */
struct run_operator {
    struct str name;
    int64_t count;
};
enum err_code run_plan_load(struct run_record *self, struct db *app, int64_t plan_id, struct run_operator **ret, size_t *ret_count, struct err *err) WARN_UNUSED;

#endif
