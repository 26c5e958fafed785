/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking at the places: what is new, has changed, has another name, is no log, or is gone. What is found to wait is handed to worker_schedule.h. Unchanged logs cost a
 * stat: `settled` remembers their fingerprints. */
#ifndef INGEST_WORKER_SCAN_H
#define INGEST_WORKER_SCAN_H

#include "ingest/source/log_entry.h"
#include "ingest/worker_state.h"

/* All places, one after the other; finished jobs are looked after meanwhile (worker_pump). A stop ends it early, without an error. Sets the time of the next scan. */
enum err_code worker_scan(struct worker *self, struct err *err) WARN_UNUSED;
/* Those alone that are wanted. Likewise, but the next scan comes when it would have come. */
enum err_code worker_scan_wanted(struct worker *self, struct err *err) WARN_UNUSED;
/* The database of a loaded log was found missing or unreadable: the next scan looks at the file, once for each scan however often it is asked for. */
void worker_look_again(struct worker *self, const struct catalog_row *row);

struct catalog_sighting worker_sighting_of(const struct log_entry *entry, int64_t place_id);      /* texts are the entry's */
/* A log was seen, in a scan or under another name by a job. */
enum err_code worker_see(struct worker *self, const struct catalog_sighting *sighting, struct err *err) WARN_UNUSED;
/* The log is not there any more. One that is at work is left to its job, which finds out. */
enum err_code worker_log_gone(struct worker *self, int64_t log_id, struct err *err) WARN_UNUSED;

#endif
