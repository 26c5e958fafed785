/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lookout saw, in the catalogue: what is new, has changed, has another name, is no log, or is gone. What is found to wait is handed to worker_schedule.h. Unchanged logs cost a
 * stat: `settled` remembers their keys. */
#ifndef INGEST_WORKER_SCAN_H
#define INGEST_WORKER_SCAN_H

#include "ingest/source/log_entry.h"
#include "ingest/worker_state.h"

/* The places begin to be looked at (lookout.h), by threads of their own. ERR_INVALID, ERR_UNSUPPORTED: an address that makes no sense. */
enum err_code worker_scan_start(struct worker *self, struct err *err) WARN_UNUSED;
/* Takes what was seen, for WORKER_PUMP_NS at most. While watching a store that cannot be written spoils the looks that go on, and the next ones begin anew. */
enum err_code worker_take_sightings(struct worker *self, struct err *err) WARN_UNUSED;
void worker_scan_end(struct worker *self);
/* The database of a loaded log was found missing or unreadable: the next scan looks at the file, once for each scan however often it is asked for. */
void worker_look_again(struct worker *self, const struct catalog_row *row);

/* Logs that come back by the names they had are seen to, whichever they are. */
void worker_unsettle_all(struct worker *self);

struct catalog_sighting worker_sighting_of(const struct log_entry *entry, int64_t place_id);      /* texts are the entry's */
/* A log was seen, in a scan or under another name by a job. */
enum err_code worker_see(struct worker *self, const struct catalog_sighting *sighting, struct err *err) WARN_UNUSED;
/* The log is not there any more. One that is at work is left to its job, which finds out. */
enum err_code worker_log_gone(struct worker *self, int64_t log_id, struct err *err) WARN_UNUSED;

/* The place in which a log lies, by its address alone; NULL: none of ours. */
const struct place_state *worker_place_of(const struct worker *self, const char *path);

#endif
