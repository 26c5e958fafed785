/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of a log whose head and tail were read, or whose load ended: the row gets its state and reason, the log goes to the next stage or is finished, and it is
 * told. What is not the log's fault (memory, disk, a lock) is tried again while watching, ever more slowly, at most a minute apart; else it is told and left for the next
 * start. */
#ifndef INGEST_WORKER_OUTCOME_H
#define INGEST_WORKER_OUTCOME_H

#include "ingest/worker_state.h"

/* Acts on a job that is done. After an error the job is as it was and can be acted on again; after ERR_OK it wants crew_release. */
enum err_code worker_act_on(struct worker *self, struct job *job, struct err *err) WARN_UNUSED;

/* Errors that pass: memory, disk, locks. */
bool worker_error_passes(enum err_code rc);

#endif
