/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that came into the catalogue without a judgement, from a rebuild: their summaries are made beside all other work, the newest run first, so that a new version of the catalogue
 * does not keep new logs waiting. Some milliseconds a run. */
#ifndef INGEST_WORKER_UNJUDGED_H
#define INGEST_WORKER_UNJUDGED_H

#include "ingest/worker_state.h"

/* Once, before the first round. */
enum err_code worker_unjudged_find(struct worker *self, struct err *err) WARN_UNUSED;

/* As many as there is time for between two rounds. self->unjudged.count says how many are left. */
enum err_code worker_unjudged_some(struct worker *self, struct err *err) WARN_UNUSED;

void worker_unjudged_dispose(struct worker *self);

#endif
