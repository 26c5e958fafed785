/* SPDX-License-Identifier: Apache-2.0
 *
 * Between event_decode.c (the table) and the decoders, one file a subject. Private to this folder.
 *
 * A decoder is called with the reader inside the event's object, before any of its keys or behind "Event". It fills its member of the union completely, reads to
 * the closing brace, and returns NULL, or a static text that says which id is missing ("job start without a job id"). Damage is the reader's to remember
 * (in->failed). */
#ifndef EVENT_DECODE_H
#define EVENT_DECODE_H

#include "ingest/event/event.h"
#include "base/json_pull.h"

typedef const char *event_decoder_fn(struct json_pull *in, struct event *event);

/* decode_app.c */
event_decoder_fn decode_log_start, decode_databricks_start, decode_application_start, decode_application_end, decode_environment_update;
event_decoder_fn decode_resource_profile, decode_process_added;
/* decode_executor.c */
event_decoder_fn decode_block_manager_added, decode_block_manager_removed, decode_executor_added, decode_executor_removed, decode_exclusion, decode_exclusion_lifted;
event_decoder_fn decode_stage_executor_metrics, decode_executor_metrics_update;
/* decode_job_stage.c */
event_decoder_fn decode_job_start, decode_job_end, decode_stage;
/* decode_task.c */
event_decoder_fn decode_task_start, decode_task_getting_result, decode_task_end;
/* decode_storage.c */
event_decoder_fn decode_block_updated, decode_unpersist;
/* decode_streaming.c */
event_decoder_fn decode_streaming_query, decode_streaming_progress;
/* decode_session.c */
event_decoder_fn decode_thrift_session, decode_thrift_operation, decode_connect_session, decode_connect_operation, decode_connect_service;
/* decode_sql.c */
event_decoder_fn decode_sql_start, decode_sql_end, decode_sql_driver_updates, decode_sql_plan_update, decode_sql_metric_update;

/* decode_common.c: what more than one event holds. All take the value under the reader, whatever it is. */

/* A key of the event itself that nobody reads. Notices a second "Event" (the last one wins: event_decode then starts again). */
void decode_other(struct json_pull *in);
int64_t decode_time(struct json_pull *in);                                      /* epoch ms; −1 is Spark's "none": UNKNOWN, not out of range */
struct kv_list decode_kv(struct json_pull *in, bool *ret_object);               /* order of the log, duplicate keys once, the last value; ret_object may be NULL */
struct str decode_words(struct json_pull *in);                                  /* an array of texts as one, comma-separated; empty ones are left out; none: STR_NONE */
struct id_list decode_ids(struct json_pull *in);                                /* entries that are no ids are left out */
struct storage_level decode_storage_level(struct json_pull *in);
struct block_manager_id decode_block_manager_id(struct json_pull *in);
bool decode_peaks(struct json_pull *in, int64_t peaks[EXECUTOR_METRIC_COUNT]);  /* all UNKNOWN, then those that are there; false: no object */
void peaks_unknown(int64_t peaks[EXECUTOR_METRIC_COUNT]);

/* One accumulable; false when it is not an object with an id. */
bool decode_accumulable(struct json_pull *in, struct accumulable *ret);
struct accumulable_list decode_accumulables(struct json_pull *in);

/* task_error.c: "Task End Reason" to `reason`, `error` and `kill_reason`. */
void decode_end_reason(struct json_pull *in, struct event_task_end *ret);

/* Room for one more item of an array in the scratch arena, doubling; NULL, and the reader has failed, when there is none. Items are not zeroed. */
void *list_push(struct json_pull *in, void **items, size_t *count, size_t *capacity, size_t each_bytes) WARN_UNUSED;

#endif
