/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions and operations (statements) of a Thrift server or of Spark Connect. An end without its start makes its row too (start_seen 0). The state of an operation is the
 * highest that was logged (enum operation_state), so that the order of lines decides nothing; in the order in which Spark writes them this is the state machine of
 * spec/sql.md §8. Texts live in the model's arena; `dirty` is cleared by the writer. */
#ifndef MODEL_SESSIONS_H
#define MODEL_SESSIONS_H

#include "ingest/model/app_model.h"

struct server_session {
    int64_t session_ref, server;
    struct str session_id, user, ip;
    int64_t start_ms, finish_ms, start_seen, end_seen;
    bool dirty;
};

struct server_operation {
    int64_t operation_ref, server;
    struct str operation_key, operation_id, session_id, user, job_group, tags;
    int64_t state;                   /* enum operation_state */
    int64_t outcome;                 /* highest of FINISHED … CANCELED; UNKNOWN: none was logged */
    int64_t start_ms, finish_ms, close_ms, start_seen;
    int64_t statement_text_id, plan_text_id, error_text_id, trace_text_id, produced_rows;
    bool dirty;
};

/* A time that a Connect server listened. An end belongs to the service that began last, if that has the same address and no end yet. */
struct server_service {
    int64_t service_ref, port, start_ms, end_ms;
    struct str host;
    bool ended, dirty;
};

struct session_model {
    struct entities sessions, operations, services;
    struct smap session_by_id[2], operation_by_key[2];       /* by enum server_kind */
};

#endif
