/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that were put away have no file in apps/ from which a new catalogue could know them: what an old catalogue says of them is carried over. So are pinned views, which are nowhere else. */
#ifndef STORE_CATALOG_CARRY_H
#define STORE_CATALOG_CARRY_H

#include "base/db.h"

/* From the catalogue at `old_path`, of any version, as far as it can be read: rows of put-away runs with history and summary, when runs were opened, and pinned views. All or nothing; *ret_count:
 * how many runs. A file that is none, or is damaged, gives nothing: it is no error. */
enum err_code catalog_carry_over(struct db *catalog, const char *old_path, int64_t *ret_count, struct err *err) WARN_UNUSED;

#endif
