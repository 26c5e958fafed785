/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done next, and why: a log that waits is listed first, then loaded (load_queue.h has the order), each by a free thread of the crew. While something is to be
 * listed only what somebody wants is loaded; a log that ended a worker goes alone; one run is read by one loader; while watching, large logs leave a loader free.
 *
 * A log is on its way (under_way) from worker_take_* to worker_finish, at one stage: */
#ifndef INGEST_WORKER_SCHEDULE_H
#define INGEST_WORKER_SCHEDULE_H

#include "ingest/worker_state.h"

enum stage { STAGE_TO_LIST = 1, STAGE_TO_LOAD, STAGE_AT_WORK };
enum stage worker_stage_of(const struct worker *self, int64_t log_id);       /* 0: not on its way */

/* A row that waits: list it, or go on with the load that is kept for it. */
enum err_code worker_take_waiting(struct worker *self, const struct catalog_row *row, struct err *err) WARN_UNUSED;
/* A row that another process is loading, or was killed while doing so: the load itself finds out. */
enum err_code worker_take_foreign(struct worker *self, const struct catalog_row *row, struct err *err) WARN_UNUSED;
/* Somebody wants the waiting log of `row`: it goes first. */
enum err_code worker_put_in_front(struct worker *self, struct catalog_row *row, struct err *err) WARN_UNUSED;

/* To the load queue, at the item's due time: listed, or to be tried again. */
enum err_code worker_push_load(struct worker *self, const struct load_item *item, struct err *err) WARN_UNUSED;
/* The log is dealt with, for now. */
void worker_finish(struct worker *self, const struct load_item *item);

/* Hand work to free threads. */
enum err_code worker_give_lists(struct worker *self, struct err *err) WARN_UNUSED;
enum err_code worker_give_loads(struct worker *self, struct err *err) WARN_UNUSED;
bool worker_is_idle(struct worker *self);            /* nothing waits and nobody works */

#endif
