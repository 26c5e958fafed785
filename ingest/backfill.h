/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a back-fill: paths of logs come in, one a line, and each log becomes a database in STORE/arrivals that the server of that store adopts (worker_arrivals.h). Any engine that can
 * hand lists to processes can fan it out, and nothing of ours coordinates it: no catalogue is opened, no lock taken and nothing read of the store but whether it has the run already. A
 * database is made in a directory of this machine's own and copied when it is whole, so that the store may lie on any file system that can rename: SQLite's locks and shared memory are not to
 * be trusted on those of a network.
 *
 * Each log is read by a process of its own: one that kills it, or takes all memory, costs its own line, which says so. That costs a millisecond a log, and connections to remote places are
 * not kept from one log to the next.
 *
 * The same log twice, at once or later, is harmless: the second sees what the first made, or makes the same file again. */
#ifndef INGEST_BACKFILL_H
#define INGEST_BACKFILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ingest/worker.h"

#define BACKFILL_LINE_BYTES 8192     /* of a path; Linux's own are half as long */
#define BACKFILL_MAX_JOBS 256

struct backfill_options {
    const char *store_dir;
    int jobs;                        /* logs at the same time */
    int input;                       /* open file with the paths; borrowed */
    int64_t share, shares;           /* of the paths those whose hash falls to `share`, from 0, of `shares`; the others are passed over without a word */
    /* May be NULL. Gives up what is not needed to read the log at `address` and to write below `scratch` and in STORE/arrivals; called in the process that reads that one log. */
    void (*confine)(void *context, const char *address, const char *scratch);
    void (*on_result)(void *context, const struct worker_result *result);        /* prints it on standard output; called in the processes that read logs, too */
    void *context;
};

/* Returns when the input has ended and all is answered. Results that were not printed in full are not printed at all. A log's own faults are in its result; ret->store_failed_count: logs
 * that were not read, or whose database could not be put into the store, for want of memory, disk or a place that is away: another try may do. An error: there is no store, no
 * temporary directory, or nobody reads the results. ret->stopped: by SIGTERM or SIGINT; what was being read is left. */
enum err_code backfill_run(const struct backfill_options *options, struct worker_summary *ret, struct err *err) WARN_UNUSED;

#endif
