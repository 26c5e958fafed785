/* SPDX-License-Identifier: Apache-2.0
 *
 * What the worker keeps, and what it deletes: the cleaner of logs (cleaner.h), the budget of the store (store_budget.h), the mark on abandoned runs; each when it is due. */
#ifndef INGEST_WORKER_POLICY_H
#define INGEST_WORKER_POLICY_H

#include "ingest/worker_state.h"

/* A round of it, between other work. What fails is logged and tried again; only want of memory is an error. */
enum err_code worker_apply_policy(struct worker *self, struct err *err) WARN_UNUSED;
bool worker_policy_is_busy(const struct worker *self);      /* there is more to do at once */
void worker_policy_dispose(struct worker *self);
/* A load ended: the store may have grown beyond its budget. */
void worker_store_grew(struct worker *self);
/* Is a run only listed for now, whose log is new or has changed? Not one that somebody opened, or that is loaded. One that was put away is not loaded for each line that is added
 * to its log, but when that has `ended`: what the list says of it would stay wrong. */
bool worker_only_lists(const struct worker *self, const struct catalog_row *row, bool ended);

#endif
