/* SPDX-License-Identifier: Apache-2.0
 *
 * Spark SQL: executions, the versions of their plans, and what their metrics come to (spec/sql.md §2-4). A part of the app model; sql.c has the life of an execution, sql_graph.c
 * makes graphs of plans, sql_metrics.c adds up. The store's side is store/sql_rows.
 *
 * The History Server's results depend on the order of the log, and so do these: an execution's metrics are added up when its end is read, once; what its tasks, its driver or a job
 * that opens it again say later changes nothing. (Adding later task ends would need every tracker for as long as a task may still come; in no capture one did. An end that comes
 * before anything else of its execution is not taken for that: then the jobs' ends decide.) Executions whose end was not read are added up when the log ends, and again when it has
 * gone on. Where it differs: an error message is kept when a later job opens the execution again, a word about its plan then is one more version and not a new execution in its place,
 * and an execution of which only the end was read has a row.
 *
 * The life of an execution: live, from the first word of it → aggregated, its end was read → final, its jobs have ended as well (a JobStart makes it live again) → settled, final and
 * written: only what a later job needs is kept.
 *
 * Memory: an execution that is settled costs some 550 bytes, its jobs and stage ids. Live ones hold their known metrics, their packed first plan text, their texts, of each
 * task of their stages the values it reported, in as many bytes as they need (value_array.h): 1,000,000 tasks of 20 metrics took 83 MB, and the driver's updates, packed likewise:
 * 9,000,000 in three lines took 350 MB, most of it while the lines were read and the numbers added up. All that for as long as the query lives; it counts in tracked_bytes, and
 * more than SQL_TRACKED_MAX_BYTES ends the load. Plans wait in `fresh` for the next checkpoint, and final executions with what they hold; the pipeline makes one when
 * SQL_FRESH_BYTES wait: 200,000 executions in 4 s took 900 MB when that was done once a second alone, and take 170 MB. */
#ifndef MODEL_SQL_H
#define MODEL_SQL_H

#include "ingest/model/app_model.h"
#include "ingest/model/digest.h"
#include "ingest/model/value_array.h"

#define SQL_TRACKED_MAX_BYTES ((size_t)2 << 30)
#define SQL_METRIC_BYTES ((size_t)200)       /* about what a known metric costs: itself, its place in the map, twice that while arrays grow */
#define SQL_UPDATE_BYTES ((size_t)16)        /* what adding up an update of the driver takes, beside its packed bytes */
#define SQL_FRESH_BYTES ((size_t)16 << 20)

/* How values count (spec/sql.md §3.3). */
enum sql_metric_kind {
    SQL_SUM,                         /* all values */
    SQL_CUSTOM,                      /* v2Custom_…: all values */
    SQL_AVERAGE,                     /* those > 0 */
    SQL_SIZE_OR_TIMING,              /* size, timing, nsTiming: those ≥ 0; so the History Server of 4.3 takes types it does not know (Databricks' count, maximum, minimum) */
};

struct sql_metric {
    int64_t accumulator_id;
    struct str name, type;           /* static for the model's life */
    enum sql_metric_kind kind;
    int64_t value_count, raw_count, reported_count, total, min, median, max, max_stage_id, max_stage_attempt, max_task_id;      /* as the columns of sql_metric say */
};

/* What one task metric of a tracked stage attempt has come to. */
struct sql_tracked {
    int64_t accumulator_id;
    struct value_array values;
    int64_t max, max_task_id;        /* of kinds but SQL_SUM: the first reporter, then whoever had more */
};

/* One stage attempt of a live execution. */
struct sql_tracker {
    const struct sql_execution *execution;       /* whose known metrics it takes */
    int64_t attempt, task_count;                 /* UNKNOWN: not said */
    struct bit_set complete;         /* task indices of which a success was read */
    struct sql_tracked *metrics;     /* owned */
    size_t metric_count, metric_capacity, next;  /* next: where the next update is looked for first */
    struct imap metric_at;           /* accumulator id → position + 1 */
    size_t bytes;
};

struct sql_stage {
    size_t live_executions;          /* that hold it */
    struct sql_tracker *tracker;     /* owned; NULL: nothing to track */
};

struct sql_execution {
    int64_t execution_id, root_execution_id, submission_ms, completion_ms, outcome, details_text_id, error_text_id, plan_id;
    struct str description, job_group, job_tags, query_id;      /* in `texts` */
    struct kv_list configs;
    struct arena texts;              /* given back when settled */
    struct job **jobs;               /* owned, the array */
    size_t job_count, job_capacity, ended_jobs;
    struct imap stages;              /* stage ids of its jobs, in order; given back when final */
    struct sql_metric *metrics;      /* owned; the known ones, in order of appearance; given back when aggregated and written */
    size_t metric_count, metric_capacity;
    struct imap metric_at;           /* accumulator id → position + 1 */
    unsigned char *updates;          /* owned: the driver's, packed: accumulator id, value, … */
    size_t update_count, update_bytes, update_capacity;
    struct smap graphs;              /* digest of a stored graph → plan_id; given back when settled */
    int64_t next_version, base_text_id;
    char *base;                      /* owned: its first plan text, packed; prefix for the later ones */
    size_t base_packed_bytes, base_bytes;
    size_t counted_bytes;            /* its part of tracked_bytes */
    bool start_seen, end_seen, aggregated, final, settled;
    bool stages_left;                /* it was final once: it holds no stage, and new ones are not noted */
    bool metrics_settled;            /* those before were written and given back: what comes now is only added */
    bool dirty, configs_dirty, metrics_dirty;
};

struct sql_graph_node {
    struct str name, accumulators;
    int64_t cluster_id, description_text_id, metadata_text_id;
    bool is_cluster;
    const struct sql_plan_node *source;          /* valid while its event is */
};
struct sql_graph_edge { int64_t from, to; };
struct sql_graph {
    struct sql_graph_node *nodes;    /* position = node_id */
    struct sql_graph_edge *edges;
    size_t node_count, edge_count;
    bool final;                      /* isFinalPlan=true */
};

/* Rows of sql_plan and plan_text that wait for the writer; in sql_model.fresh. */
struct sql_plan {
    int64_t plan_id, execution_id, version, plan_text_id, graph_plan_id, logged_ms;
    bool too_large;
    struct sql_graph graph;          /* without nodes when graph_plan_id is an earlier one */
};
struct sql_plan_text {
    int64_t plan_text_id, base_id, text_bytes;
    struct str packed;
};

struct sql_model {
    struct entities executions;
    struct imap by_id;
    struct imap stages;              /* stage id → struct sql_stage, owned */
    struct arena arena;              /* executions; names and types of metrics */
    struct smap names;               /* text → struct str of the arena */
    struct smap plan_texts;          /* digest → plan_text_id */
    int64_t next_plan_id, next_plan_text_id;
    size_t tracked_bytes;
    size_t settling_bytes;           /* of executions that have become final since the last checkpoint */
    struct arena fresh;
    struct sql_plan *plans;          /* owned, the arrays */
    size_t plan_count, plan_capacity;
    struct sql_plan_text *texts;
    size_t text_count, text_capacity;
};

struct sql_model *sql_model_new(void);                       /* NULL: out of memory */
void sql_model_free(struct sql_model *self);

struct sql_task {
    int64_t stage_id, stage_attempt, task_id, index;
    bool succeeded;
};

/* What the other handlers tell (sql.c). */
enum err_code sql_job_start(struct app_model *model, struct job *job, const struct event_job_start *event, struct err *err) WARN_UNUSED;
enum err_code sql_job_end(struct app_model *model, struct job *job, struct err *err) WARN_UNUSED;
void sql_stage_submitted(struct app_model *model, const struct stage *submitted);
/* A task's updates: of its end, or (not succeeded) of a report while it runs. A success without any counts too: what a copy of the task says later does not. */
enum err_code sql_task_updates(struct app_model *model, const struct sql_task *task, const struct accumulator_update_list *updates, struct err *err) WARN_UNUSED;
enum err_code sql_finish(struct app_model *model, struct err *err) WARN_UNUSED;

/* For the writer. */
int64_t sql_execution_status(const struct sql_execution *self);              /* column status */
size_t sql_fresh_bytes(const struct sql_model *self);        /* what a checkpoint would give back */
void sql_fresh_written(struct sql_model *self);                              /* plans and texts may go */
void sql_execution_written(struct sql_model *model, struct sql_execution *self);     /* its rows are as it is: what nobody needs any more may go */

/* Between sql.c and its parts. */
enum err_code sql_graph_make(struct app_model *model, const struct sql_plan_info *plan, struct sql_graph *ret, struct err *err) WARN_UNUSED;        /* sql_graph.c; in `fresh` */
void sql_graph_digest(const struct sql_graph *graph, struct digest *ret);
enum err_code sql_metric_learn(struct sql_model *self, struct sql_execution *execution, const struct sql_plan_metric *from, struct err *err) WARN_UNUSED;
enum err_code sql_check_bytes(const struct sql_model *self, struct err *err) WARN_UNUSED;
enum err_code sql_keep_updates(struct sql_execution *execution, const struct accumulator_update_list *updates, struct err *err) WARN_UNUSED;          /* of the driver; sql_metrics.c */
enum err_code sql_track(struct sql_model *self, struct sql_tracker *tracker, const struct sql_task *task, const struct accumulator_update_list *updates,
                        struct err *err) WARN_UNUSED;          /* sql_metrics.c */
struct sql_tracker *sql_tracker_new(const struct sql_execution *execution, int64_t attempt, int64_t task_count);
void sql_tracker_restart(struct sql_model *self, struct sql_tracker *tracker, int64_t attempt);
void sql_tracker_free(struct sql_model *self, struct sql_tracker *tracker);
enum err_code sql_aggregate(struct sql_model *model, struct sql_execution *execution, struct err *err) WARN_UNUSED;
/* `keys` in order of insertion, as a Scala 2.13 Set of Int hands them out (spec/sql.md §3.6). `room`: as many again. */
void sql_set_order(int64_t *keys, int64_t *room, size_t count);

#endif
