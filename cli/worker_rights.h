/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process that reads logs may do from its start on (base/confine.h), by the settings: read the log directories (and delete there, where the cleaner is on), write the store, and, where there are remote
 * places, what is needed to reach them: name resolution, certificates, and the files that say who we are, which others renew while it runs. With local places alone: no TCP, nothing of /etc. */
#ifndef CLI_WORKER_RIGHTS_H
#define CLI_WORKER_RIGHTS_H

#include "ingest/worker.h"

/* The store must be there, and the settings with place/config.h (cli_begin). Returns the level that holds, 0 for none, after a line in the log. */
int worker_rights_confine(const struct worker_options *options);

/* The same for a process of a back-fill, which reads one log: that log, the store (to write, its arrivals alone), `scratch`. Says nothing. */
void worker_rights_confine_load(const char *address, const char *store_dir, const char *scratch);

#endif
