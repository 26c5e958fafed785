/* SPDX-License-Identifier: Apache-2.0
 *
 * What the catalogue keeps of a judged run so that the earlier runs of its job are found fast (table run_history): read out of the run's own file, where analysis left it, when a load ends,
 * when runs are analysed again and when the catalogue is rebuilt. */
#ifndef STORE_RUN_HISTORY_H
#define STORE_RUN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"

struct run_history {
    bool known;    /* false: the run was not analysed, and nothing below is set */
    char *run_key; /* owned; NULL: none */
    int64_t begin_ms, wall_ms, completeness;
    bool eligible;
    void *shape; /* owned; shape_bytes long */
    size_t shape_bytes;
};

enum err_code run_history_read(struct run_history *ret, struct db *app, struct err *err) WARN_UNUSED;
void run_history_dispose(struct run_history *self); /* idempotent */

/* Replaces what the catalogue had of this run; one that is not known takes it away. */
enum err_code run_history_write(struct db *catalog, const char *app_key, const struct run_history *history, struct err *err) WARN_UNUSED;

#endif
