/* SPDX-License-Identifier: Apache-2.0
 *
 * What the worker says to whoever started it: results of logs, counted in the summary, and how far it is. */
#ifndef INGEST_WORKER_TELL_H
#define INGEST_WORKER_TELL_H

#include "ingest/worker_state.h"

void worker_tell(struct worker *self, const struct worker_result *result);
/* `fresh`, `store_failed`: as in struct worker_result. */
void worker_tell_row(struct worker *self, const struct catalog_row *row, bool fresh, bool store_failed);
enum err_code worker_tell_log(struct worker *self, int64_t log_id, bool fresh, bool store_failed, struct err *err) WARN_UNUSED;
void worker_tell_progress(struct worker *self);

#endif
