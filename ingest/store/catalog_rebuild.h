/* SPDX-License-Identifier: Apache-2.0
 *
 * A new catalogue from what apps/ holds: each finished file gives its run and its log. What only the catalogue knew is lost: places, logs that gave no run (the next scan
 * finds them), when a log was first seen. Used by catalog_open alone. */
#ifndef STORE_CATALOG_REBUILD_H
#define STORE_CATALOG_REBUILD_H

#include "base/db.h"
#include "base/err.h"

/* The fingerprint of a log that was read back: the next scan keeps the load when size and time are still those. */
#define CATALOG_REBUILT "rebuilt"

/* Fills the empty catalogue. Files that cannot be read are left out: their logs are loaded anew. */
enum err_code catalog_rebuild(struct db *catalog, const char *store_dir, int64_t *ret_run_count, struct err *err) WARN_UNUSED;

#endif
