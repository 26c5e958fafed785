/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's rounds: scan when it is time, act on finished jobs, hand out work, say how far it is, wait for news. */
#ifndef INGEST_WORKER_LOOP_H
#define INGEST_WORKER_LOOP_H

#include "ingest/worker_state.h"

/* Until all is done, or with `watch` until a signal or the end of control. */
enum err_code worker_loop(struct worker *self, struct err *err) WARN_UNUSED;

/* One round without scan and wait. While watching, a catalogue that cannot be written (disk full, locked) is waited for: nothing is lost, finished jobs stay finished
 * until they are written down. */
enum err_code worker_pump(struct worker *self, struct err *err) WARN_UNUSED;

/* Asked to stop, or the store failed: running loads are cancelled, and what they were doing is put back. */
void worker_wind_up(struct worker *self);

#endif
