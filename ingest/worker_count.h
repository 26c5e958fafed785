/* SPDX-License-Identifier: Apache-2.0
 *
 * What the worker counts for the server that started it (base/worker_counts.h). Nothing where nobody did. */
#ifndef INGEST_WORKER_COUNT_H
#define INGEST_WORKER_COUNT_H

#include "ingest/worker_state.h"

/* A load that is over: how, what it read, and how long it took. */
void worker_count_load(struct worker *self, const struct job *job, enum load_end end);
/* The same of a load that failed for a reason that is not the log's. */
void worker_count_put_off(struct worker *self, const struct job *job);
void worker_count_scan(struct worker *self, bool failed);
/* Lengths of the queues, and whether all places were looked at. */
void worker_count_queue(struct worker *self);

#endif
