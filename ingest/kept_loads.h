/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads that stay open because their log may grow: the next load of that log goes on where the last one ended. At most KEPT_LOADS_MAX; the one that has not grown for the
 * longest time makes room. An open load holds the lock on its run's file (app_lock.h). One thread. Made of zeroes. */
#ifndef INGEST_KEPT_LOADS_H
#define INGEST_KEPT_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/listing.h"
#include "ingest/pipeline.h"

#define KEPT_LOADS_MAX 16            /* an open load holds its model, a decoder and a database: some tens of MB for a large run */

struct kept_loads {
    struct kept_load {
        struct load *load;           /* owned; NULL: free */
        int64_t log_id, used_ns;     /* monotonic */
        char app_key[LISTING_KEY_BYTES];
    } slots[KEPT_LOADS_MAX];
};

void kept_loads_keep(struct kept_loads *self, int64_t log_id, const char *app_key, struct load *load);      /* takes the load over */
bool kept_loads_has(struct kept_loads *self, int64_t log_id);
void kept_loads_rename(struct kept_loads *self, int64_t from_log_id, int64_t to_log_id);                   /* nothing where it is not in here */
void kept_loads_drop(struct kept_loads *self, int64_t log_id);
bool kept_loads_drop_oldest(struct kept_loads *self);       /* the one that was not used for longest; false: there is none */
/* The log is to be read: hands its load over (NULL: there is none) and ends those of other copies of the run. */
struct load *kept_loads_take(struct kept_loads *self, int64_t log_id, const char *app_key) WARN_UNUSED;
void kept_loads_dispose(struct kept_loads *self);

#endif
