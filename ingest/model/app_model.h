/* SPDX-License-Identifier: Apache-2.0
 *
 * One application attempt while its log is read: the state machine of spec/core.md §2, without the History Server's retention limits. Events go in (app_model_apply),
 * task rows go out through the sink at once, everything else stays here as plain structs that store/app_writer copies into tables.
 *
 * The order of events is not trusted: an end may come before its start, a task before its stage, the same line twice. Totals come out the same; where an order decides
 * (which job a stage attempt counts for) the History Server's rule is followed.
 *
 * Memory: texts and structs live in the model's arena and die with it. It grows with stages, executors and RDDs; of a task only one bit a flag stays. `dirty` marks what
 * changed since the writer last looked; the writer clears it. One thread at a time. */
#ifndef MODEL_APP_MODEL_H
#define MODEL_APP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "ingest/event/event.h"
#include "ingest/model/bit_set.h"
#include "ingest/model/row_sink.h"

#define MODEL_ARENA_BYTES ((size_t)4 << 30)      /* a driver that lived for months has a million stages of some kB; beyond that the load fails with a message */
#define MODEL_MAX_ENTITIES ((size_t)50 << 20)    /* of one kind; ids are 32-bit in Spark */

enum stage_status { STAGE_PENDING, STAGE_ACTIVE, STAGE_COMPLETE, STAGE_FAILED, STAGE_SKIPPED };
enum job_status { JOB_NO_END, JOB_SUCCEEDED, JOB_FAILED };

/* How tasks ended, as counted in jobs and stages (spec/core.md §2.7 step 2). */
struct task_counts {
    int64_t active, completed, failed, killed;
};

struct job_stage {
    int64_t stage_id;
    bool skipped;                    /* for this job */
    bool completed;
    bool ran;                        /* an attempt ended for this job, well or not */
    int64_t num_tasks;               /* counted as skipped */
    struct bit_set indices;          /* task indices that succeeded */
};

struct job {
    int64_t job_id;
    struct str name, description, job_group, tags;
    int64_t sql_execution_id, submission_ms, completion_ms, status, failure_text_id, start_seen, num_tasks;
    int64_t batch_ms, output_op_id;  /* of a DStream batch */
    struct task_counts tasks;
    int64_t skipped_tasks, completed_indices, active_stages, completed_stages, skipped_stages, failed_stages;
    struct job_stage *stages;        /* arena */
    size_t stage_count;
    size_t last_found;               /* where job_stage_find ended */
    struct imap stage_at;            /* stage id → index + 1 into stages; only for lists that are too long to be searched */
    struct kv_list properties;       /* those that differ from the environment; arena */
    struct imap kills;               /* text id of the reason → number of tasks */
    /* How much of tasks, completed_indices, stages and kills was read behind the job's own end and is not in the History Server's record of it (spec/core.md §2.5) */
    struct task_counts late;
    int64_t late_indices, late_active_stages, late_completed_stages, late_failed_stages;
    struct imap late_kills;
    bool dirty, lists_dirty;
};

/* What one executor did in one stage attempt since the writer last looked; the writer adds it to the row. */
struct executor_stage {
    struct executor *executor;       /* any life of the id */
    int64_t task_time_ms, failed_tasks, succeeded_tasks, killed_tasks, is_excluded, peaks_set;
    int64_t metrics[TASK_METRIC_COUNT], peaks[EXECUTOR_METRIC_COUNT];
};

struct stage {
    int64_t stage_ref, stage_id, attempt;
    struct str name, description, pool;
    int64_t details_text_id, status, announced, submitted_seen, completed_seen, num_tasks;
    int64_t submission_ms, completion_ms, first_task_launch_ms, last_task_finish_ms, failure_text_id;
    int64_t resource_profile_id, shuffle_push_enabled, shuffle_mergers_count, sql_execution_id;
    struct task_counts tasks;
    int64_t completed_indices;
    int64_t speculative_tasks;
    struct task_counts speculative;
    int64_t locality[LOCALITY_COUNT];
    int64_t task_rows, ended_tasks, first_task_seq, last_task_seq, task_time_ms, peaks_set;
    int64_t metrics[TASK_METRIC_COUNT], peaks[EXECUTOR_METRIC_COUNT];
    /* lists of the latest Stage Info; arena */
    struct id_list parents, rdds;
    bool *rdd_cached;                /* by position in rdds, as the first job described the stage; NULL: none did */
    size_t rdd_cached_count;
    struct accumulable_list accumulables;   /* owned, one piece (free_accumulables); gone once they are written: there are hundreds in every stage of a query */
    bool accumulables_dirty;
    struct imap kills;               /* text id of the reason → number of tasks */
    /* state */
    struct job **jobs;               /* whom its tasks count for; owned */
    size_t job_count, job_capacity;
    struct task_counts unattributed; /* counted before any job was known */
    int info_level;                  /* which event described it last: 1 JobStart, 2 StageSubmitted, 3 StageCompleted */
    bool pending_again;              /* a job lists it after it had ended: that job skips it unless it is submitted again */
    struct id_flags ids;             /* task ids: TASK_ID_STARTED, … */
    struct bit_set indices;
    struct imap executors;           /* executor serial number → struct executor_stage (owned); emptied by the writer when the stage is done */
    bool dirty, lists_dirty, executors_dirty;
    bool stats_due;                  /* quantiles want computing */
    bool done;                       /* handed to row_sink.stage_done */
};
enum { TASK_ID_STARTED = 1, TASK_ID_ENDED = 2, TASK_ID_RESUBMITTED = 4 };

/* All attempts of one stage id, and the jobs that list it. */
struct stage_group {
    struct stage **attempts;         /* owned */
    struct job **jobs;               /* owned */
    size_t attempt_count, attempt_capacity, job_count, job_capacity;
};

/* What all tasks of an executor did, summed up for lists: of the metrics in executor_work_metrics (tasks.c). */
enum executor_work { WORK_RUN, WORK_CPU, WORK_DESERIALIZE, WORK_RESULT_SERIALIZATION, WORK_FETCH_WAIT, WORK_SHUFFLE_WRITE, WORK_REMOTE_READ, WORK_DISK_SPILLED, EXECUTOR_WORK_COUNT };

struct executor {
    int64_t executor_ref;
    struct str executor_id, host, host_port, remove_reason;
    int64_t id_serial;               /* the same for all lives of an id */
    int64_t announced, superseded, add_ms, remove_ms, active, total_cores, max_tasks, resource_profile_id;
    int64_t max_memory_bytes, max_on_heap_memory_bytes, max_off_heap_memory_bytes, request_ms, registration_ms;
    int64_t active_tasks, failed_tasks, completed_tasks, total_tasks, total_duration_ms, total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes;
    int64_t task_count, failed_task_count, killed_task_count, task_time_ms, gc_time_ms, work[EXECUTOR_WORK_COUNT];
    int64_t rdd_blocks, memory_used_bytes, disk_used_bytes, on_heap_used_bytes, off_heap_used_bytes;
    int64_t is_excluded, peaks_set;
    int64_t peaks[EXECUTOR_METRIC_COUNT];
    struct kv_list logs, attributes; /* arena */
    struct kv_list resources;        /* value: JSON array of addresses */
    int64_t *excluded_in_stages;     /* ascending; owned */
    size_t excluded_count, excluded_capacity;
    bool dirty, maps_dirty;
};

struct host {
    int64_t host_ref;
    struct str name;
};

struct rdd_block {
    struct str block_name;
    int64_t memory_bytes, disk_bytes;
    struct executor **holders;       /* owned */
    size_t holder_count, holder_capacity;
    bool live;
};
struct rdd_distribution {
    struct executor *executor;
    struct str address;
    int64_t memory_used_bytes, memory_remaining_bytes, disk_used_bytes, on_heap_used_bytes, off_heap_used_bytes, on_heap_remaining_bytes, off_heap_remaining_bytes;
    bool live;
};
struct rdd {
    int64_t rdd_id;
    struct str name, callsite, scope_id;
    bool has_level;
    struct storage_level level;
    int64_t num_partitions, barrier, determinism, tracked, unpersisted;
    struct id_list parents;
    /* as first submitted with a valid level (spec/core.md §2.9) */
    struct str storage_name;
    struct storage_level storage;
    int64_t storage_partitions, memory_used_bytes, disk_used_bytes;
    int64_t unpersist_ms;            /* neither UnpersistRDD nor block updates have a time: the latest time in the log before them */
    int64_t live_partitions, most_partitions, evicted_partitions;    /* that have a block; at most at any time; that lost their last one to an update */
    int64_t most_memory_bytes, most_disk_bytes, held_to_ms;
    double held_byte_ms;             /* Σ bytes × time up to held_to_ms */
    struct rdd_block *blocks;        /* in order of creation; owned */
    size_t block_count, block_capacity;
    struct smap block_by_name;       /* name → index + 1 */
    struct rdd_distribution *distributions;
    size_t distribution_count, distribution_capacity;
    bool dirty;
};
struct rdd_scope {
    struct str id, name, parent_id;
};
struct stream_block {
    struct stream_block *next;       /* the same block on another executor */
    struct str block_name;
    struct executor *executor;
    struct str host_port;
    struct storage_level level;
    int64_t memory_bytes, disk_bytes;
    bool live;
};

struct resource_profile {
    int64_t id;
    struct resource_request *executor, *task;    /* arena */
    size_t executor_count, task_count;
};
struct process {
    struct str id, host_port;
    int64_t add_ms, cores;
    struct kv_list logs;
};
struct exclusion {
    int64_t time_ms, lifted, stage_id, stage_attempt, failures;
    struct str executor_id, host;
};

/* Counters of table log_health that the model knows. */
struct model_health {
    bool application_start, environment, log_start;
    int64_t application_start_count;
    int64_t jobs_without_end, stages_without_end, tasks_without_end, jobs_without_start, stages_without_start, tasks_without_start;   /* filled by app_model_finish */
    int64_t duplicate_event_count, clock_step_count, out_of_range_count, repaired_count;
};

/* A growing array of owned or arena pointers, in order of appearance. */
struct entities {
    void **items;
    size_t count, capacity;
};

struct pending_task;                 /* tasks.c */
struct streaming_model;              /* streaming.h */
struct session_model;                /* sessions.h */
struct sql_model;                    /* sql.h */

struct app_model {
    struct row_sink sink;
    struct arena arena;
    /* the application */
    struct str app_id, attempt_id, name, user, spark_version;
    bool vendor_version;             /* spark_version is from a vendor's first record; no SparkListenerLogStart was read */
    bool has_end;
    int64_t start_ms, end_ms, exit_code, first_event_ms, last_event_ms;
    struct str view_acls, view_acls_groups, admin_acls, admin_acls_groups;
    struct kv_list driver_logs, driver_attributes;
    bool has_driver_logs;
    struct arena environment_arena;  /* of the last update alone */
    struct arena hidden;             /* a text of an event without its secrets, until it is copied */
    struct kv_list environment[ENV_SECTION_COUNT];
    struct smap spark_properties;    /* for telling job properties that differ; value: struct str * */
    int64_t cpus_per_task;
    bool environment_dirty;
    struct entities jobs, stages, executors, hosts, rdds, scopes, profiles, processes, exclusions, stream_blocks;
    struct imap job_by_id, rdd_by_id, profile_by_id;
    struct imap stage_by_key;        /* stage id << 32 | attempt */
    struct imap group_by_stage_id;   /* struct stage_group, owned */
    struct smap executor_by_id, host_by_name, scope_by_id, process_by_id, stream_block_by_name;
    struct imap pending;             /* task id → struct pending_task: starts without an end */
    struct pending_task *spare;      /* used ones, for the next start */
    struct smap texts;               /* hash of text → id; value: (void *)(intptr_t)id */
    int64_t next_task_seq, next_text_id, task_end_count, task_row_count;
    struct model_health health;
    int64_t next_executor_serial;
    struct stage *last_stage;
    bool block_updates_seen;
    int64_t stage_exclusion_count;   /* entries of all excluded_in_stages */
    struct streaming_model *streaming;      /* made with the first event of its kind, and so the other; NULL: none yet */
    struct session_model *sessions;
    struct sql_model *sql;           /* owned */
};

struct app_model *app_model_new(struct row_sink sink);                /* NULL: out of memory */
void app_model_free(struct app_model *self);

/* ERR_OK also when an event makes no sense in the present state (that is counted). Other codes end the load: memory, the sink. */
enum err_code app_model_apply(struct app_model *self, const struct event *event, struct err *err) WARN_UNUSED;

/* The log has (for now) ended: hands out rows of tasks without an end and counts what is open. May be called again after more events; the task_seq of the rows handed out here
 * are then given again, so the writer drops those rows first (app_writer_resume). */
enum err_code app_model_finish(struct app_model *self, struct err *err) WARN_UNUSED;

void *model_entity(struct app_model *self, struct entities *to, size_t bytes);                                     /* zeroed, in the arena, appended; NULL: out of memory */

/* Look-ups, shared by the model's files. The `_get` ones make the entity when it is missing; NULL: out of memory. */
struct stage *model_stage_find(struct app_model *self, int64_t stage_id, int64_t attempt);
struct stage *model_stage_get(struct app_model *self, int64_t stage_id, int64_t attempt);
struct executor *model_executor_find(struct app_model *self, struct str id);
struct executor *model_executor_get(struct app_model *self, struct str id);
struct executor_stage *model_executor_stage(struct app_model *self, struct stage *stage, struct executor *executor);
struct host *model_host_get(struct app_model *self, struct str name);
enum err_code model_text_id(struct app_model *self, struct str body, int64_t *ret, struct err *err) WARN_UNUSED;   /* without its secrets; UNKNOWN for unknown text */
enum err_code model_id(struct app_model *self, struct str *to, struct str from, struct err *err) WARN_UNUSED;      /* copies into the arena; keeps an equal old text */
enum err_code model_str(struct app_model *self, struct str *to, struct str from, struct err *err) WARN_UNUSED;     /* the same for what people write: without its secrets */
enum err_code model_kv_copy(struct app_model *self, struct kv_list *to, const struct kv_list *from, struct err *err) WARN_UNUSED;
struct str kv_find(const struct kv_list *list, const char *name);
void model_time(struct app_model *self, int64_t time_ms);                                                          /* widens first_event_ms, last_event_ms */
bool peaks_measured(const int64_t *peaks);                                                                         /* false: written without a measurement (spec/core.md §1.8) */
bool peaks_raise(int64_t *peaks, const int64_t *with);                                                             /* element-wise maximum; true when one grew */

/* jobs_stages.c, tasks.c, executors.c, storage.c, sql.c, streaming.c, sessions.c: one handler an event class. */
typedef enum err_code model_handler(struct app_model *self, const struct event *event, struct err *err);
model_handler model_job_start, model_job_end, model_stage_submitted, model_stage_completed;
model_handler model_task_start, model_task_end;
model_handler model_resource_profile, model_block_manager_added, model_executor_added, model_executor_removed, model_exclusion, model_stage_executor_metrics,
    model_executor_metrics_update, model_process_added;
model_handler model_unpersist, model_block_updated;
model_handler model_streaming_started, model_streaming_progress, model_streaming_idle, model_streaming_terminated;
model_handler model_server_session, model_server_operation, model_server_service;
void model_streaming_free(struct app_model *self);
void model_sessions_free(struct app_model *self);
model_handler model_sql_start, model_sql_end, model_sql_driver_updates, model_sql_plan_update, model_sql_metric_update;
struct stage_group *model_stage_group(struct app_model *self, int64_t stage_id);                                   /* makes it; NULL: out of memory */
bool model_job_has_ended(const struct job *job);
struct job_stage *job_stage_find(struct job *job, int64_t stage_id);
enum err_code model_stage_check_done(struct app_model *self, struct stage *stage, struct err *err) WARN_UNUSED;
void model_stage_unskip(struct app_model *self, struct stage *stage);
enum err_code kill_counts_add(struct imap *counts, int64_t text_id, struct err *err) WARN_UNUSED;
void free_accumulables(struct stage *stage);
/* What running tasks say of themselves (local mode) counts in their stages and executors until their ends do, and is theirs when those never come (spec/core.md §2.8). */
enum err_code model_tasks_reported(struct app_model *self, const struct task_report *reports, size_t count, struct err *err) WARN_UNUSED;
enum err_code model_tasks_finish(struct app_model *self, struct err *err) WARN_UNUSED;
enum err_code model_rdds_of_stage(struct app_model *self, const struct stage_info *info, bool submitted, struct err *err) WARN_UNUSED;
void model_storage_executor_removed(struct app_model *self, struct executor *executor);
void model_pending_free(struct app_model *self);
void model_storage_free(struct app_model *self);
void model_stage_set_excluded(struct app_model *self, struct executor *executor, int64_t stage_id, bool excluded);
bool storage_level_valid(const struct storage_level *level);
char *storage_level_text(const struct storage_level *level, int64_t replication, char *out, size_t size);          /* "Disk Memory Deserialized 1x Replicated" */

#endif
