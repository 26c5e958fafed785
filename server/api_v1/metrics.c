/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/metrics.h"

#include "server/api_v1/v1.h"

const char *const v1_peak_names[V1_PEAK_COUNT] = {
    "JVMHeapMemory", "JVMOffHeapMemory", "OnHeapExecutionMemory", "OffHeapExecutionMemory", "OnHeapStorageMemory", "OffHeapStorageMemory",
    "OnHeapUnifiedMemory", "OffHeapUnifiedMemory", "DirectPoolMemory", "MappedPoolMemory", "ProcessTreeJVMVMemory", "ProcessTreeJVMRSSMemory",
    "ProcessTreePythonVMemory", "ProcessTreePythonRSSMemory", "ProcessTreeOtherVMemory", "ProcessTreeOtherRSSMemory", "MinorGCCount", "MinorGCTime",
    "MajorGCCount", "MajorGCTime", "TotalGCTime", "ConcurrentGCCount", "ConcurrentGCTime",
};

void v1_peaks(struct json_writer *w, const char *key, sqlite3_stmt *stmt, int column)
{
    json_key(w, key);
    json_object_begin(w);
    for (int i = 0; i < V1_PEAK_COUNT; i++)
        v1_count(w, v1_peak_names[i], db_i64(stmt, column + i));
    json_object_end(w);
}

/* The keys in the order of V1_TASK_METRICS, one object after the other. */
static const char *const plain[] = {
    "executorDeserializeTime", "executorDeserializeCpuTime", "executorRunTime", "executorCpuTime", "resultSize", "jvmGcTime", "resultSerializationTime",
    "memoryBytesSpilled", "diskBytesSpilled", "peakExecutionMemory",
};
static const char *const input[] = {"bytesRead", "recordsRead"};
static const char *const output[] = {"bytesWritten", "recordsWritten"};
static const char *const shuffle_read[] = {
    "remoteBlocksFetched", "localBlocksFetched", "fetchWaitTime", "remoteBytesRead", "remoteBytesReadToDisk", "localBytesRead", "recordsRead", "remoteReqsDuration",
};
static const char *const push_read[] = {
    "corruptMergedBlockChunks", "mergedFetchFallbackCount", "remoteMergedBlocksFetched", "localMergedBlocksFetched", "remoteMergedChunksFetched",
    "localMergedChunksFetched", "remoteMergedBytesRead", "localMergedBytesRead", "remoteMergedReqsDuration",
};
static const char *const shuffle_write[] = {"bytesWritten", "writeTime", "recordsWritten"};

static int counts(struct json_writer *w, const char *const *keys, size_t count, sqlite3_stmt *stmt, int column)
{
    for (size_t i = 0; i < count; i++)
        v1_count(w, keys[i], db_i64(stmt, column++));
    return column;
}

static int object(struct json_writer *w, const char *key, const char *const *keys, size_t count, sqlite3_stmt *stmt, int column)
{
    json_key(w, key);
    json_object_begin(w);
    column = counts(w, keys, count, stmt, column);
    json_object_end(w);
    return column;
}

void v1_task_metrics(struct json_writer *w, sqlite3_stmt *stmt, int column)
{
    json_key(w, "taskMetrics");
    json_object_begin(w);
    column = counts(w, plain, ARRAY_LENGTH(plain), stmt, column);
    column = object(w, "inputMetrics", input, ARRAY_LENGTH(input), stmt, column);
    column = object(w, "outputMetrics", output, ARRAY_LENGTH(output), stmt, column);
    json_key(w, "shuffleReadMetrics");
    json_object_begin(w);
    column = counts(w, shuffle_read, ARRAY_LENGTH(shuffle_read), stmt, column);
    column = object(w, "shufflePushReadMetrics", push_read, ARRAY_LENGTH(push_read), stmt, column);
    json_object_end(w);
    object(w, "shuffleWriteMetrics", shuffle_write, ARRAY_LENGTH(shuffle_write), stmt, column);
    json_object_end(w);
}
