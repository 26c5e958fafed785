/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that were put away have no file in apps/ from which a new catalogue could know them, and files of another version are not read: what an old catalogue says of these runs is carried
 * over. Where their logs are still there they are loaded anew. Pinned views, which are nowhere else, are carried too. */
#ifndef STORE_CATALOG_CARRY_H
#define STORE_CATALOG_CARRY_H

#include "base/db.h"

/* From the catalogue at `old_path`, of any version, as far as it can be read: rows of runs that are not in the new one, with history and summary, when runs were opened, and pinned views. All or nothing; *ret_count:
 * how many runs. A file that is none, or is damaged, gives nothing: it is no error. */
enum err_code catalog_carry_over(struct db *catalog, const char *old_path, int64_t *ret_count, struct err *err) WARN_UNUSED;

#endif
