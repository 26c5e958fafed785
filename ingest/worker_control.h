/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands on standard input, a line each (worker.h: `control`): "want LOG_ID", "opened LOG_ID", "scan", "scan PLACE", "reload LOG_ID", "forget LOG_ID". What is not understood is logged and passed over. A worker
 * that stands by leaves them to the one that writes (writer_role.h). */
#ifndef INGEST_WORKER_CONTROL_H
#define INGEST_WORKER_CONTROL_H

#include "ingest/worker_state.h"

/* Reads what is there and obeys; for when poll says that something is. The end of input sets self->stop. */
void worker_read_control(struct worker *self);
/* What the workers that stand by were told; looked for every WRITER_PAUSE_MS. */
void worker_take_wishes(struct worker *self);

#endif
