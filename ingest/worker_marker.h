/* SPDX-License-Identifier: Apache-2.0
 *
 * STORE/worker-XXXXXX is locked while a worker lives and removed when it ends by itself. One that is there and not locked is the trace of a worker that was killed; rows
 * that it left in `loading` then count a try (catalog_recover). */
#ifndef INGEST_WORKER_MARKER_H
#define INGEST_WORKER_MARKER_H

#include "base/err.h"
#include "ingest/store/catalog.h"

struct worker_marker {
    int fd;                          /* -1: none is left */
    char path[4200];
};

/* Leaves this worker's marker, looks at those of others, and puts right what dead ones left when no other worker lives. One process at a time (catalog.lock). What was
 * found is logged. */
enum err_code worker_marker_leave(struct worker_marker *self, struct catalog *catalog, const char *store_dir, int64_t *ret_crashed_loads, struct err *err) WARN_UNUSED;
void worker_marker_remove(struct worker_marker *self);

#endif
