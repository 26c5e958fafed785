/* SPDX-License-Identifier: Apache-2.0
 *
 * STORE/arrivals/: databases that were made elsewhere (ingest/backfill.h) and wait to become runs of this store. Whoever makes one puts it there under its lasting name by a rename and
 * touches nothing else of the store: no lock, no catalogue. The worker whose catalogue it is moves it to apps/ and writes its row, or drops it where the store has as much already. */
#ifndef STORE_CATALOG_ARRIVALS_H
#define STORE_CATALOG_ARRIVALS_H

#include "ingest/store/catalog.h"
#include "ingest/store/run_file.h"

#define ARRIVALS_DIR "arrivals"
#define ARRIVALS_REFUSED ".refused"  /* behind the name of one that is no such database */
#define ARRIVALS_PART ".part"        /* behind that of one that is being written */

enum arrival_end {
    ARRIVAL_ADOPTED,                 /* the run is loaded, the file is apps/<key>.db */
    ARRIVAL_DROPPED,                 /* the store has as much, another copy of the run is better, or the log has changed since: the file is gone */
    ARRIVAL_LATER,                   /* its log is being loaded just now: the file stays */
};

/* `file` was read from `path`, and its run has history, summary and grades as far as they are known. The rules are those of a load: which log gives the run, what becomes of its copies. The
 * caller has the lock of the run (app_lock.h). *ret_log_id: of its row, except of one that was dropped. All happens or nothing. */
enum err_code catalog_adopt(struct catalog *self, const char *path, const struct run_file *file, int64_t place_id, enum arrival_end *ret, int64_t *ret_log_id, struct err *err) WARN_UNUSED;

#endif
