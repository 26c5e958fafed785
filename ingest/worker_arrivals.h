/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases that a back-fill put into STORE/arrivals (backfill.h, store/catalog_arrivals.h): looked for at the start and every scan interval, checked by the crew, adopted by the worker's
 * thread. What comes from elsewhere is believed only when it is what this program writes (run_file.h), under the name of the run that it holds, from a log that lies in one of the worker's
 * places: else somebody who may put files there could have any file of the machine served as a log. What is refused stays, with ARRIVALS_REFUSED behind its name (links and pipes go), and the log says why. */
#ifndef INGEST_WORKER_ARRIVALS_H
#define INGEST_WORKER_ARRIVALS_H

#include "ingest/worker_state.h"

/* Looks for some when it is time, and hands them to checkers that are free. */
enum err_code worker_give_arrivals(struct worker *self, struct err *err) WARN_UNUSED;
/* One was checked: it becomes a run, or is dropped, refused or left for the next look. */
enum err_code worker_arrival_checked(struct worker *self, struct job *job, struct err *err) WARN_UNUSED;
bool worker_arrivals_wait(struct worker *self);      /* some are being checked, or are next; or nobody looked yet */
void worker_arrivals_dispose(struct worker *self);

#endif
