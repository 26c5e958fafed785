/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands on standard input, a line each (worker.h: `control`): "want LOG_ID", "opened LOG_ID", "scan", "scan PLACE", "reload LOG_ID", "forget LOG_ID",
 * "pin TOKEN GENERATION ANALYSIS_VERSION APP_KEY .ADDRESS[ AUTHOR]" (struct catalog_pin; a version of -1: none). What is not understood is logged and passed over.
 * A worker that stands by leaves them to the one that writes (writer_role.h). */
#ifndef INGEST_WORKER_CONTROL_H
#define INGEST_WORKER_CONTROL_H

#include "ingest/worker_state.h"

/* Reads what is there and obeys; for when poll says that something is. The end of input sets self->stop. */
void worker_read_control(struct worker *self);
/* What the workers that stand by were told; looked for every WRITER_PAUSE_MS. */
void worker_take_wishes(struct worker *self);

/* Looks at the catalogue where the server could not read it. ERR_CORRUPT: it is damaged, and set aside by whoever opens it next. */
enum err_code worker_check_damage(struct worker *self, struct err *err) WARN_UNUSED;

#endif
