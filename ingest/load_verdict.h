/* SPDX-License-Identifier: Apache-2.0
 *
 * What a load that came to its end says of its log, in the words of the catalogue (log.state, flags, reason). */
#ifndef INGEST_LOAD_VERDICT_H
#define INGEST_LOAD_VERDICT_H

#include "ingest/pipeline.h"
#include "ingest/store/catalog.h"

struct load_verdict {
    enum log_state state;            /* LOADED, PARTIAL, FAILED, or SKIPPED: the run has only begun to write */
    char flags[96];
    char reason[256];                /* empty: nothing to say */
};

/* `rc` and `why` are those of load_run, where it failed for a reason that is the log's (more than this program can hold). */
struct load_verdict load_verdict_of(const struct log_entry *entry, const struct load_report *report, enum err_code rc, const struct err *why);

#endif
