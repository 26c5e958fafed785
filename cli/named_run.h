/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that a command line names: a log, which is read into a temporary store of its own, or a run of the store. A name that is both is the log. The temporary store is gone when
 * named_run_open returns, whatever ends the program afterwards: the open file stays readable. */
#ifndef CLI_NAMED_RUN_H
#define CLI_NAMED_RUN_H

#include <stdbool.h>

#include "analysis/baseline.h"
#include "base/db.h"
#include "base/err.h"
#include "cli/run_lookup.h"

struct named_run {
    struct db db; /* read-only; closed: not open */
    char key[RUN_KEY_BYTES];
    bool in_store;   /* false: it was a log */
    bool is_damaged; /* the log was readable in part */
};

/* `store` NULL or empty: none is named, and only a log can be opened. ERR_CANCELLED: SIGINT or SIGTERM ended the reading. */
enum err_code named_run_open(struct named_run *ret, const char *name, const char *store, struct err *err) WARN_UNUSED;
/* What is usual for it; ERR_INVALID for a log, which has no history. */
enum err_code named_run_baseline(const struct named_run *self, const char *store, struct baseline *ret, struct err *err) WARN_UNUSED;
void named_run_close(struct named_run *self); /* idempotent */

#endif
