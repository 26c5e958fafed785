/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers of /api/v1, for routes.c: one name a resource, in the order of the History Server's documentation. */
#ifndef API_V1_RESOURCES_H
#define API_V1_RESOURCES_H

#include "server/api_context.h"

api_handler v1_applications, v1_application, v1_attempt, v1_version;                       /* applications.c */
api_handler v1_jobs, v1_job;                                                               /* jobs.c */
api_handler v1_stages, v1_stage, v1_stage_attempt;                                         /* stages.c */
api_handler v1_task_summary, v1_task_list;                                                 /* tasks.c */
api_handler v1_task_table;                                                                 /* task_table.c */
api_handler v1_executors, v1_all_executors, v1_processes, v1_executor_threads, v1_threads; /* executors.c */
api_handler v1_environment;                                                                /* environment.c */
api_handler v1_rdds, v1_rdd;                                                               /* storage.c */
api_handler v1_logs;                                                                       /* logs.c */
api_handler v1_sql_list, v1_sql, v1_sql_table;                                             /* sql.c */
api_handler v1_streaming, v1_streaming_receiver, v1_streaming_batches, v1_streaming_batch, v1_streaming_operation;        /* streaming.c */

#endif
