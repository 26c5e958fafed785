/* SPDX-License-Identifier: Apache-2.0
 *
 * The metrics that several tables have in the same columns, and how they appear in JSON: a list of SQL columns beside the function that writes them. */
#ifndef API_V1_METRICS_H
#define API_V1_METRICS_H

#include "base/db.h"
#include "base/json_writer.h"

/* Before 3.0 a task's metrics did not have it. Ingest finds it among the accumulables there; the History Server does not, and answers 0. Versions before 1.3 and damaged logs
 * name none: then it can only come from the metrics. */
#define V1_PEAK_EXECUTION_MEMORY "peak_execution_memory_bytes * (SELECT " V1_HAS_PEAK_EXECUTION_MEMORY " FROM application)"
#define V1_HAS_PEAK_EXECUTION_MEMORY "coalesce(CAST(spark_version AS INTEGER) NOT IN (1, 2), 1)"

/* Of a task, in the order of TaskMetrics. */
#define V1_TASK_METRICS \
    "executor_deserialize_time_ms, executor_deserialize_cpu_time_ns, executor_run_time_ms, executor_cpu_time_ns, result_size_bytes, jvm_gc_time_ms, " \
    "result_serialization_time_ms, memory_spilled_bytes, disk_spilled_bytes, " V1_PEAK_EXECUTION_MEMORY ", " \
    "input_bytes, input_records, output_bytes, output_records, " \
    "shuffle_remote_blocks_fetched, shuffle_local_blocks_fetched, shuffle_fetch_wait_time_ms, shuffle_remote_read_bytes, shuffle_remote_read_to_disk_bytes, " \
    "shuffle_local_read_bytes, shuffle_records_read, shuffle_remote_requests_duration_ms, " \
    "push_corrupt_merged_block_chunks, push_merged_fetch_fallback_count, push_remote_merged_blocks_fetched, push_local_merged_blocks_fetched, " \
    "push_remote_merged_chunks_fetched, push_local_merged_chunks_fetched, push_remote_merged_read_bytes, push_local_merged_read_bytes, " \
    "push_remote_merged_requests_duration_ms, " \
    "shuffle_write_bytes, shuffle_write_time_ns, shuffle_write_records"

/* "taskMetrics" : {…} from the columns that begin at `column`. */
void v1_task_metrics(struct json_writer *w, sqlite3_stmt *stmt, int column);

#define V1_PEAK_COUNT 23

/* Peaks of memory and GC, in the order of ExecutorMetricType. */
#define V1_PEAKS \
    "peak_jvm_heap_memory_bytes, peak_jvm_off_heap_memory_bytes, peak_on_heap_execution_memory_bytes, peak_off_heap_execution_memory_bytes, " \
    "peak_on_heap_storage_memory_bytes, peak_off_heap_storage_memory_bytes, peak_on_heap_unified_memory_bytes, peak_off_heap_unified_memory_bytes, " \
    "peak_direct_pool_memory_bytes, peak_mapped_pool_memory_bytes, peak_process_tree_jvm_v_memory_bytes, peak_process_tree_jvm_rss_memory_bytes, " \
    "peak_process_tree_python_v_memory_bytes, peak_process_tree_python_rss_memory_bytes, peak_process_tree_other_v_memory_bytes, " \
    "peak_process_tree_other_rss_memory_bytes, peak_minor_gc_count, peak_minor_gc_time_ms, peak_major_gc_count, peak_major_gc_time_ms, " \
    "peak_total_gc_time_ms, peak_concurrent_gc_count, peak_concurrent_gc_time_ms"

extern const char *const v1_peak_names[V1_PEAK_COUNT];

/* key : {…} from the columns that begin at `column`. */
void v1_peaks(struct json_writer *w, const char *key, sqlite3_stmt *stmt, int column);

#endif
