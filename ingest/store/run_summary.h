/* SPDX-License-Identifier: Apache-2.0
 *
 * What the catalogue keeps of a judged run for lists of runs (table run_summary): what its findings cost, its verdict. Made by ingest/summarise.h out of the run's own file when a load
 * ends, when runs are analysed again, and in the background after a catalogue was rebuilt. */
#ifndef STORE_RUN_SUMMARY_H
#define STORE_RUN_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"

struct run_summary {
    bool known; /* false: the run was not analysed, and nothing below is set */
    int64_t grade, completeness;
    int64_t saving_ms;                             /* UNKNOWN: nothing is priced */
    double busy_share;                             /* NaN: it had no slots */
    char *rules, *costs, *verdict_en, *verdict_zh; /* owned; as in the table */
};

void run_summary_dispose(struct run_summary *self); /* idempotent */

/* Replaces what the catalogue had of this run; one that is not known takes it away. */
enum err_code run_summary_write(struct db *catalog, const char *app_key, const struct run_summary *summary, struct err *err) WARN_UNUSED;

#endif
