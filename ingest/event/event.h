/* SPDX-License-Identifier: Apache-2.0
 *
 * What Afterglow reads of a Spark event log: one struct per event class of spec/core.md §1, filled by event_decode, consumed by model/.
 *
 * Memory: every struct str and array of an event is borrowed: from the line, or from the scratch arena given to event_decode (texts with escapes).
 * Both die when the next line is read. Text is valid UTF-8 (bad bytes replaced and counted in `repaired`).
 * Values: UNKNOWN where the log has no such key, null, the wrong kind of value, a number beyond 64 bits (ids of jobs, stages, attempts and RDDs, which are an Int in Spark: beyond
 * 2^31 - 1), or a negative number where none can be (the last two are counted in `out_of_range`). Strings: STR_NONE likewise. Versions of Spark are named where a key came. */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

enum event_kind {
    EVENT_UNKNOWN,                   /* a class that is not read here: only `name` is set */
    EVENT_LOG_START,
    EVENT_APPLICATION_START,
    EVENT_APPLICATION_END,
    EVENT_ENVIRONMENT_UPDATE,
    EVENT_RESOURCE_PROFILE_ADDED,
    EVENT_BLOCK_MANAGER_ADDED,
    EVENT_BLOCK_MANAGER_REMOVED,
    EVENT_EXECUTOR_ADDED,
    EVENT_EXECUTOR_REMOVED,
    EVENT_EXCLUSION,                 /* all Excluded/Unexcluded/Blacklisted/Unblacklisted events of executors and nodes */
    EVENT_JOB_START,
    EVENT_JOB_END,
    EVENT_STAGE_SUBMITTED,
    EVENT_STAGE_COMPLETED,
    EVENT_TASK_START,
    EVENT_TASK_GETTING_RESULT,
    EVENT_TASK_END,
    EVENT_UNPERSIST_RDD,
    EVENT_BLOCK_UPDATED,
    EVENT_STAGE_EXECUTOR_METRICS,
    EVENT_EXECUTOR_METRICS_UPDATE,
    EVENT_PROCESS_ADDED,
    EVENT_STREAMING_STARTED,
    EVENT_STREAMING_PROGRESS,
    EVENT_STREAMING_IDLE,
    EVENT_STREAMING_TERMINATED,
    EVENT_SERVER_SESSION,            /* of a Thrift server or Spark Connect: created and closed */
    EVENT_SERVER_OPERATION,          /* what happened to one statement of such a session */
    EVENT_SERVER_SERVICE,            /* Spark Connect: begins and ends to listen */
    EVENT_SQL_START,
    EVENT_SQL_END,
    EVENT_SQL_DRIVER_UPDATES,
    EVENT_SQL_PLAN_UPDATE,           /* SQLAdaptiveExecutionUpdate */
    EVENT_SQL_METRIC_UPDATE,         /* SQLAdaptiveSQLMetricUpdates */
    EVENT_KIND_MAX_
};

/* Task metrics: enumerator, column in schema.sql, group in the record, key in the record, name of the internal accumulable
 * (below internal.metrics.; NULL where there is none). The order is that of the columns in tables task, stage and executor_stage. */
#define TASK_METRICS(X) \
    X(EXECUTOR_DESERIALIZE_TIME, "executor_deserialize_time_ms", TOP, "Executor Deserialize Time", "executorDeserializeTime") \
    X(EXECUTOR_DESERIALIZE_CPU_TIME, "executor_deserialize_cpu_time_ns", TOP, "Executor Deserialize CPU Time", "executorDeserializeCpuTime") \
    X(EXECUTOR_RUN_TIME, "executor_run_time_ms", TOP, "Executor Run Time", "executorRunTime") \
    X(EXECUTOR_CPU_TIME, "executor_cpu_time_ns", TOP, "Executor CPU Time", "executorCpuTime") \
    X(PEAK_EXECUTION_MEMORY, "peak_execution_memory_bytes", TOP, "Peak Execution Memory", "peakExecutionMemory") \
    X(PEAK_EXECUTION_MEMORY_ON_HEAP, "peak_execution_memory_on_heap_bytes", TOP, "Peak On Heap Execution Memory", NULL) \
    X(PEAK_EXECUTION_MEMORY_OFF_HEAP, "peak_execution_memory_off_heap_bytes", TOP, "Peak Off Heap Execution Memory", NULL) \
    X(RESULT_SIZE, "result_size_bytes", TOP, "Result Size", "resultSize") \
    X(JVM_GC_TIME, "jvm_gc_time_ms", TOP, "JVM GC Time", "jvmGCTime") \
    X(RESULT_SERIALIZATION_TIME, "result_serialization_time_ms", TOP, "Result Serialization Time", "resultSerializationTime") \
    X(MEMORY_SPILLED, "memory_spilled_bytes", TOP, "Memory Bytes Spilled", "memoryBytesSpilled") \
    X(DISK_SPILLED, "disk_spilled_bytes", TOP, "Disk Bytes Spilled", "diskBytesSpilled") \
    X(INPUT_BYTES, "input_bytes", INPUT, "Bytes Read", "input.bytesRead") \
    X(INPUT_RECORDS, "input_records", INPUT, "Records Read", "input.recordsRead") \
    X(OUTPUT_BYTES, "output_bytes", OUTPUT, "Bytes Written", "output.bytesWritten") \
    X(OUTPUT_RECORDS, "output_records", OUTPUT, "Records Written", "output.recordsWritten") \
    X(SHUFFLE_REMOTE_BLOCKS_FETCHED, "shuffle_remote_blocks_fetched", SHUFFLE_READ, "Remote Blocks Fetched", "shuffle.read.remoteBlocksFetched") \
    X(SHUFFLE_LOCAL_BLOCKS_FETCHED, "shuffle_local_blocks_fetched", SHUFFLE_READ, "Local Blocks Fetched", "shuffle.read.localBlocksFetched") \
    X(SHUFFLE_FETCH_WAIT_TIME, "shuffle_fetch_wait_time_ms", SHUFFLE_READ, "Fetch Wait Time", "shuffle.read.fetchWaitTime") \
    X(SHUFFLE_REMOTE_READ, "shuffle_remote_read_bytes", SHUFFLE_READ, "Remote Bytes Read", "shuffle.read.remoteBytesRead") \
    X(SHUFFLE_REMOTE_READ_TO_DISK, "shuffle_remote_read_to_disk_bytes", SHUFFLE_READ, "Remote Bytes Read To Disk", "shuffle.read.remoteBytesReadToDisk") \
    X(SHUFFLE_LOCAL_READ, "shuffle_local_read_bytes", SHUFFLE_READ, "Local Bytes Read", "shuffle.read.localBytesRead") \
    X(SHUFFLE_RECORDS_READ, "shuffle_records_read", SHUFFLE_READ, "Total Records Read", "shuffle.read.recordsRead") \
    X(SHUFFLE_REMOTE_REQUESTS_DURATION, "shuffle_remote_requests_duration_ms", SHUFFLE_READ, "Remote Requests Duration", "shuffle.read.remoteReqsDuration") \
    X(PUSH_CORRUPT_MERGED_BLOCK_CHUNKS, "push_corrupt_merged_block_chunks", PUSH, "Corrupt Merged Block Chunks", "shuffle.push.read.corruptMergedBlockChunks") \
    X(PUSH_MERGED_FETCH_FALLBACK_COUNT, "push_merged_fetch_fallback_count", PUSH, "Merged Fetch Fallback Count", "shuffle.push.read.mergedFetchFallbackCount") \
    X(PUSH_REMOTE_MERGED_BLOCKS_FETCHED, "push_remote_merged_blocks_fetched", PUSH, "Merged Remote Blocks Fetched", "shuffle.push.read.remoteMergedBlocksFetched") \
    X(PUSH_LOCAL_MERGED_BLOCKS_FETCHED, "push_local_merged_blocks_fetched", PUSH, "Merged Local Blocks Fetched", "shuffle.push.read.localMergedBlocksFetched") \
    X(PUSH_REMOTE_MERGED_CHUNKS_FETCHED, "push_remote_merged_chunks_fetched", PUSH, "Merged Remote Chunks Fetched", "shuffle.push.read.remoteMergedChunksFetched") \
    X(PUSH_LOCAL_MERGED_CHUNKS_FETCHED, "push_local_merged_chunks_fetched", PUSH, "Merged Local Chunks Fetched", "shuffle.push.read.localMergedChunksFetched") \
    X(PUSH_REMOTE_MERGED_READ, "push_remote_merged_read_bytes", PUSH, "Merged Remote Bytes Read", "shuffle.push.read.remoteMergedBytesRead") \
    X(PUSH_LOCAL_MERGED_READ, "push_local_merged_read_bytes", PUSH, "Merged Local Bytes Read", "shuffle.push.read.localMergedBytesRead") \
    X(PUSH_REMOTE_MERGED_REQUESTS_DURATION, "push_remote_merged_requests_duration_ms", PUSH, "Merged Remote Requests Duration", "shuffle.push.read.remoteMergedReqsDuration") \
    X(SHUFFLE_WRITE_BYTES, "shuffle_write_bytes", SHUFFLE_WRITE, "Shuffle Bytes Written", "shuffle.write.bytesWritten") \
    X(SHUFFLE_WRITE_TIME, "shuffle_write_time_ns", SHUFFLE_WRITE, "Shuffle Write Time", "shuffle.write.writeTime") \
    X(SHUFFLE_WRITE_RECORDS, "shuffle_write_records", SHUFFLE_WRITE, "Shuffle Records Written", "shuffle.write.recordsWritten")
/* The push group is "Push Based Shuffle" inside "Shuffle Read Metrics". "Shuffle Push Read Metrics", which the History Server looked for up to 4.1, is written by no Spark and read
 * by none since 4.3 (spec/shs-4.3.md). */

enum task_metric {
#define X(id, column, group, key, accumulable) METRIC_##id,
    TASK_METRICS(X)
#undef X
    TASK_METRIC_COUNT
};

/* Executor metrics ("Task Executor Metrics", "Executor Metrics"), spec/core.md §1.8: enumerator, column, key. */
#define EXECUTOR_METRICS(X) \
    X(JVM_HEAP_MEMORY, "peak_jvm_heap_memory_bytes", "JVMHeapMemory") \
    X(JVM_OFF_HEAP_MEMORY, "peak_jvm_off_heap_memory_bytes", "JVMOffHeapMemory") \
    X(ON_HEAP_EXECUTION_MEMORY, "peak_on_heap_execution_memory_bytes", "OnHeapExecutionMemory") \
    X(OFF_HEAP_EXECUTION_MEMORY, "peak_off_heap_execution_memory_bytes", "OffHeapExecutionMemory") \
    X(ON_HEAP_STORAGE_MEMORY, "peak_on_heap_storage_memory_bytes", "OnHeapStorageMemory") \
    X(OFF_HEAP_STORAGE_MEMORY, "peak_off_heap_storage_memory_bytes", "OffHeapStorageMemory") \
    X(ON_HEAP_UNIFIED_MEMORY, "peak_on_heap_unified_memory_bytes", "OnHeapUnifiedMemory") \
    X(OFF_HEAP_UNIFIED_MEMORY, "peak_off_heap_unified_memory_bytes", "OffHeapUnifiedMemory") \
    X(DIRECT_POOL_MEMORY, "peak_direct_pool_memory_bytes", "DirectPoolMemory") \
    X(MAPPED_POOL_MEMORY, "peak_mapped_pool_memory_bytes", "MappedPoolMemory") \
    X(PROCESS_TREE_JVM_V_MEMORY, "peak_process_tree_jvm_v_memory_bytes", "ProcessTreeJVMVMemory") \
    X(PROCESS_TREE_JVM_RSS_MEMORY, "peak_process_tree_jvm_rss_memory_bytes", "ProcessTreeJVMRSSMemory") \
    X(PROCESS_TREE_PYTHON_V_MEMORY, "peak_process_tree_python_v_memory_bytes", "ProcessTreePythonVMemory") \
    X(PROCESS_TREE_PYTHON_RSS_MEMORY, "peak_process_tree_python_rss_memory_bytes", "ProcessTreePythonRSSMemory") \
    X(PROCESS_TREE_OTHER_V_MEMORY, "peak_process_tree_other_v_memory_bytes", "ProcessTreeOtherVMemory") \
    X(PROCESS_TREE_OTHER_RSS_MEMORY, "peak_process_tree_other_rss_memory_bytes", "ProcessTreeOtherRSSMemory") \
    X(MINOR_GC_COUNT, "peak_minor_gc_count", "MinorGCCount") \
    X(MINOR_GC_TIME, "peak_minor_gc_time_ms", "MinorGCTime") \
    X(MAJOR_GC_COUNT, "peak_major_gc_count", "MajorGCCount") \
    X(MAJOR_GC_TIME, "peak_major_gc_time_ms", "MajorGCTime") \
    X(TOTAL_GC_TIME, "peak_total_gc_time_ms", "TotalGCTime") \
    X(CONCURRENT_GC_COUNT, "peak_concurrent_gc_count", "ConcurrentGCCount") \
    X(CONCURRENT_GC_TIME, "peak_concurrent_gc_time_ms", "ConcurrentGCTime")

enum executor_metric {
#define X(id, column, key) PEAK_##id,
    EXECUTOR_METRICS(X)
#undef X
    EXECUTOR_METRIC_COUNT
};

struct kv {
    struct str name, value;          /* value STR_NONE: null, or not a string */
};
struct kv_list {
    struct kv *items;
    size_t count;
};
struct id_list {
    int64_t *items;
    size_t count;
};

struct accumulable {
    int64_t id;
    struct str name, update, value, metadata;   /* update and value as text, spec/core.md §1.7 */
    bool internal;
};
struct accumulable_list {
    struct accumulable *items;
    size_t count;
};

/* What a task or the driver added to an accumulator. */
struct accumulator_update { int64_t id, value; };
struct accumulator_update_list {
    struct accumulator_update *items;
    size_t count;
};

struct storage_level {
    bool use_disk, use_memory, use_off_heap, deserialized;
    int64_t replication;
};

struct block_manager_id {
    struct str executor_id, host;
    int64_t port;
};

struct rdd_info {
    int64_t id;
    struct str name, callsite;
    struct str scope;                /* the JSON text of "Scope", unescaped */
    struct id_list parents;
    struct storage_level level;
    bool barrier;
    int64_t determinism;             /* 0 DETERMINATE, 1 UNORDERED, 2 INDETERMINATE */
    int64_t num_partitions;
};

struct stage_info {
    int64_t id, attempt;             /* attempt 0 when missing */
    struct str name, details, failure_reason;
    int64_t num_tasks;
    struct rdd_info *rdds;
    size_t rdd_count;
    struct id_list parents;
    int64_t submission_ms, completion_ms;
    struct accumulable_list accumulables;
    int64_t resource_profile_id;
    int64_t shuffle_push_enabled;    /* 0, 1, UNKNOWN */
    int64_t shuffle_mergers_count;
};

enum locality { LOCALITY_PROCESS, LOCALITY_NODE, LOCALITY_NONE, LOCALITY_RACK, LOCALITY_ANY, LOCALITY_COUNT };

enum end_reason {
    END_SUCCESS, END_RESUBMITTED, END_FETCH_FAILED, END_EXCEPTION, END_RESULT_LOST, END_KILLED, END_COMMIT_DENIED, END_EXECUTOR_LOST, END_UNKNOWN,
    END_OTHER                        /* a word from the future; `error` then holds it */
};

struct task_info {
    int64_t id, index, attempt, partition_id;
    int64_t launch_ms, finish_ms, getting_result_ms;    /* 0 in the log means none: UNKNOWN here */
    struct str executor_id, host;
    int64_t locality;                /* enum locality or UNKNOWN */
    bool speculative, failed, killed;
};

struct event_log_start { struct str spark_version; bool databricks; };     /* also DBCEventLoggingListenerMetadata */
struct event_application_start {
    struct str name, id, user, attempt_id;
    int64_t time_ms;
    struct kv_list driver_logs, driver_attributes;
    bool has_driver_logs;
};
struct event_application_end { int64_t time_ms, exit_code; };

enum environment_section { ENV_JVM, ENV_SPARK, ENV_HADOOP, ENV_SYSTEM, ENV_METRICS, ENV_CLASSPATH, ENV_SECTION_COUNT };
struct event_environment_update { struct kv_list sections[ENV_SECTION_COUNT]; };

struct resource_request {
    struct str name, resource_name, discovery_script, vendor;
    double amount;
};
struct event_resource_profile {
    int64_t id;
    struct resource_request *executor, *task;
    size_t executor_count, task_count;
};
struct event_block_manager {
    struct block_manager_id id;
    int64_t time_ms, max_memory_bytes, max_on_heap_bytes, max_off_heap_bytes;
};
struct executor_resource { struct str name; struct str *addresses; size_t address_count; };
struct event_executor_added {
    int64_t time_ms;
    struct str id, host;
    int64_t total_cores, resource_profile_id, registration_ms, request_ms;
    struct kv_list logs, attributes;
    struct executor_resource *resources;
    size_t resource_count;
};
struct event_executor_removed { int64_t time_ms; struct str id, reason; };
struct event_exclusion {
    int64_t time_ms;
    struct str executor_id, host;    /* one of the two */
    bool lifted;
    bool old_name;                   /* Blacklisted: 3.1 and later write both spellings */
    int64_t stage_id, stage_attempt; /* UNKNOWN: the whole application */
    int64_t failures;
};
struct event_job_start {
    int64_t id, submission_ms;
    struct stage_info *stages;       /* from "Stage Infos"; made from "Stage IDs" where there are none (spec/core.md §1.4) */
    size_t stage_count;
    struct kv_list properties;
};
struct event_job_end { int64_t id, completion_ms; bool succeeded; struct str failure; };   /* failure: Exception.Message */
struct event_stage { struct stage_info info; struct kv_list properties; };                 /* submitted and completed */
struct event_task_start { int64_t stage_id, stage_attempt; struct task_info info; };
struct event_task_end {
    int64_t stage_id, stage_attempt;
    struct task_info info;
    enum end_reason reason;
    struct str error;                /* the History Server's errorMessage, spec/core.md §1.6; STR_NONE for Success */
    struct str kill_reason;          /* what killedTasksSummary counts under: kill reason, or the text of TaskCommitDenied */
    bool has_metrics, has_peaks;
    int64_t metrics[TASK_METRIC_COUNT];
    int64_t peaks[EXECUTOR_METRIC_COUNT];
    struct accumulable_list shown;   /* accumulables that people may see: neither internal nor SQL metrics */
    struct accumulator_update_list updates;      /* whole-number updates of all accumulables but the task metrics (internal.metrics.…): SQL metrics are known by id alone */
};
struct event_unpersist { int64_t rdd_id; };
struct event_block_updated {
    struct block_manager_id manager;
    struct str block_id;
    struct storage_level level;
    int64_t memory_bytes, disk_bytes;
};
struct event_stage_executor_metrics { struct str executor_id; int64_t stage_id, stage_attempt; int64_t peaks[EXECUTOR_METRIC_COUNT]; };
struct stage_peaks { int64_t stage_id, stage_attempt; int64_t peaks[EXECUTOR_METRIC_COUNT]; };
/* What a running task has done so far: metrics that are not 0 yet are not named. Logged for the driver alone, so of tasks in local mode. */
struct task_report {
    int64_t task_id, stage_id, stage_attempt;
    int64_t metrics[TASK_METRIC_COUNT];
    struct accumulator_update_list updates;      /* of the others, as in event_task_end */
};
struct event_executor_metrics_update {
    struct str executor_id;
    struct stage_peaks *items;
    size_t count;
    struct task_report *tasks;
    size_t task_count;
};
struct event_process_added { int64_t time_ms, cores; struct str id, host_port; struct kv_list logs; };

/* Structured Streaming, spec/sql.md §1.4. Started, idle (3.5) and terminated share one struct. */
struct event_streaming_query {
    struct str id, run_id, name;     /* id survives restarts; run_id is one start */
    int64_t time_ms;                 /* UNKNOWN for terminated */
    struct str exception;            /* stack trace; none when it was stopped */
    struct str error_class;          /* (3.5) */
    struct str job_tags;             /* comma-separated, in the order of the log (4.1) */
};
struct name_count { struct str name; int64_t value; };
struct name_count_list {
    struct name_count *items;
    size_t count;
};
struct streaming_source {
    struct str description, start_offset, end_offset, latest_offset;   /* offsets: text, usually JSON; latest 3.3 */
    int64_t input_rows;
    double input_rows_per_second, processed_rows_per_second;           /* NaN: not known, also where the log says NaN or Infinity */
    struct kv_list metrics;          /* (3.3) */
};
/* Names in the log: allUpdatesTimeMs and so on. 3.1 had the first two, memory and numLateInputs, which is rows_dropped here. */
struct streaming_operator {
    struct str name;                 /* (3.2) */
    int64_t rows_total, rows_updated, updates_time_ms, rows_removed, removals_time_ms, commit_time_ms, memory_bytes, rows_dropped, shuffle_partitions, store_instances;
    struct name_count_list custom_metrics;
};
struct event_streaming_progress {
    struct str id, run_id, name;
    int64_t trigger_ms;              /* epoch: when the trigger began */
    int64_t batch_id, batch_duration_ms;                               /* duration (3.1) */
    struct name_count_list durations;                                  /* by phase; what is not there did not happen */
    int64_t event_time_min_ms, event_time_max_ms, event_time_avg_ms, watermark_ms;
    struct streaming_operator *operators;
    size_t operator_count;
    struct streaming_source *sources;
    size_t source_count;
    struct str sink;                 /* description */
    int64_t output_rows;             /* (3.0); -1 in the log: UNKNOWN */
    struct kv_list sink_metrics;     /* (3.4) */
    struct str observed;             /* the JSON text of observedMetrics, opaque (3.0); none when it is empty */
};

/* Sessions and operations of the Thrift server (3.0) and of Spark Connect (3.5), spec/sql.md §1.5, §1.6. */
enum server_kind { SERVER_THRIFT, SERVER_CONNECT };
/* By rank: an operation is in the state of the highest one that was logged, whatever the order of lines. */
enum operation_state {
    OPERATION_STARTED, OPERATION_COMPILED, OPERATION_READY, OPERATION_FINISHED, OPERATION_FAILED, OPERATION_TIMED_OUT, OPERATION_CANCELED, OPERATION_CLOSED,
    OPERATION_STATE_COUNT
};
struct event_server_session {
    enum server_kind server;
    bool closed;                     /* else created */
    struct str id, user, ip;         /* ip: Thrift alone */
    int64_t time_ms;
};
struct event_server_service {        /* Connect alone (4.0) */
    bool ended;                      /* else started */
    struct str host;
    int64_t port, time_ms;
};
struct event_server_operation {
    enum server_kind server;
    enum operation_state state;      /* which event this is */
    struct str key;                  /* what its other events name it by: id (Thrift), job tag (Connect) */
    struct str id, session_id, user;
    struct str job_group;            /* Thrift: which jobs are its own; Connect: those that have the key among their tags */
    struct str statement, plan, error, trace, tags;                    /* tags: comma-separated, in the order of the log */
    int64_t time_ms, produced_rows;
};
/* spec/sql.md §1.1 and §2.1. A plan is a tree in one array, each node before its children; no recursion is needed to read or to walk it. */
#define SQL_PLAN_MAX_NODES ((size_t)100000)      /* real plans have some thousands; more costs the plan its graph (too_large) */
#define SQL_PLAN_NO_NODE UINT32_MAX

struct sql_plan_metric { struct str name, type; int64_t accumulator_id; };
struct sql_plan_node {
    struct str name, simple_string;  /* STR_NONE: missing */
    struct kv_list metadata;         /* of file scans */
    size_t first_metric, metric_count;           /* in sql_plan_info.metrics */
    uint32_t parent, first_child, last_child, next_sibling;     /* positions in sql_plan_info.nodes, or SQL_PLAN_NO_NODE */
};
struct sql_plan_info {
    struct sql_plan_node *nodes;     /* the first is the root; one that no child list leads to was overwritten by a duplicate key */
    size_t node_count;               /* 0: no plan */
    struct sql_plan_metric *metrics;
    size_t metric_count;
    bool too_large;                  /* more than SQL_PLAN_MAX_NODES: there are no nodes */
};
struct event_sql_start {
    int64_t execution_id, root_execution_id, time_ms;           /* root: 3.4 */
    struct str description, details, plan_text;
    struct sql_plan_info plan;
    struct kv_list configs;          /* 3.3 */
    struct str *tags;                /* 3.5 */
    size_t tag_count;
    struct str job_group, query_id;  /* 4.0, 4.2 */
};
struct event_sql_end { int64_t execution_id, time_ms; struct str error; };                 /* error: 3.4; empty: it succeeded */
struct event_sql_driver_updates { int64_t execution_id; struct accumulator_update_list updates; };
struct event_sql_plan_update { int64_t execution_id; struct str plan_text; struct sql_plan_info plan; };
struct event_sql_metric_update { int64_t execution_id; struct sql_plan_metric *metrics; size_t metric_count; };

struct event {
    enum event_kind kind;
    struct str name;                 /* value of "Event" as logged */
    uint32_t out_of_range;           /* numbers that became UNKNOWN because they cannot be */
    uint32_t repaired;               /* texts with bytes that are not UTF-8 */
    union {
        struct event_log_start log_start;
        struct event_application_start application_start;
        struct event_application_end application_end;
        struct event_environment_update environment;
        struct event_resource_profile resource_profile;
        struct event_block_manager block_manager;
        struct event_executor_added executor_added;
        struct event_executor_removed executor_removed;
        struct event_exclusion exclusion;
        struct event_job_start job_start;
        struct event_job_end job_end;
        struct event_stage stage;
        struct event_task_start task_start;      /* also TaskGettingResult, where stage ids are UNKNOWN */
        struct event_task_end task_end;
        struct event_unpersist unpersist;
        struct event_block_updated block_updated;
        struct event_stage_executor_metrics stage_executor_metrics;
        struct event_executor_metrics_update executor_metrics_update;
        struct event_process_added process_added;
        struct event_streaming_query streaming_query;
        struct event_streaming_progress streaming_progress;
        struct event_server_session server_session;
        struct event_server_operation server_operation;
        struct event_server_service server_service;
        struct event_sql_start sql_start;
        struct event_sql_end sql_end;
        struct event_sql_driver_updates sql_driver_updates;
        struct event_sql_plan_update sql_plan_update;
        struct event_sql_metric_update sql_metric_update;
    };
};

#endif
