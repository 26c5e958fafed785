/* SPDX-License-Identifier: Apache-2.0
 *
 * The ledger of lost work (spec/findings.md 10.1): each attempt whose work was lost, with exactly one cause: the removal of an executor before a fetch failure before its own exception before
 * speculation before cancelling before never having ended. Sums of the rows are the bucket `lost` of the time account. One thread. */
#ifndef ANALYSIS_LEDGER_H
#define ANALYSIS_LEDGER_H

#include "analysis/failure_signature.h"
#include "analysis/judge.h"

enum lost_cause { CAUSE_REMOVAL, CAUSE_FETCH_FAILURE, CAUSE_EXCEPTION, CAUSE_SPECULATION, CAUSE_CANCELLATION, CAUSE_UNFINISHED, LOST_CAUSE_COUNT };
extern const char *const lost_cause_names[LOST_CAUSE_COUNT];

/* What caused losses: one removal, one error, or all of a kind. */
struct ledger_cause {
    enum lost_cause cause;
    uint32_t subject; /* position of the executor; of the row of failure_signatures; NO_ENTITY */
    size_t attempts;
    double slot_ms;
    int64_t price_ms; /* what the run would win without it (W4); UNKNOWN: not priced */
};

struct ledger_row {
    uint32_t cause; /* position in causes */
    uint32_t stage, executor;
    enum lost_kind kind;
    size_t attempts;
    double slot_ms, read_bytes; /* what they had read, and somebody reads again */
};

struct ledger {
    struct ledger_cause *causes; /* those with most slot time first; owned, as rows */
    size_t cause_count;
    struct ledger_row *rows; /* by (cause, stage, executor, kind) */
    size_t row_count;
    double failed_jobs_ms; /* beside it: occupancy of what succeeded in jobs that failed */
};
/* So many causes have a price of their own. */
#define LEDGER_PRICED 10

enum err_code ledger_make(struct ledger *ret, const struct judged *judged, const struct failure_signatures *failures, struct err *err) WARN_UNUSED;
void ledger_dispose(struct ledger *self);
enum err_code ledger_store(const struct ledger *self, const struct judged *judged, const struct failure_signatures *failures, struct db *db, struct err *err) WARN_UNUSED;

/* The executor that a fetch failure names, and its machine: "FetchFailed(BlockManagerId(3, host, …" → 3, host; STR_NONE. */
struct str fetched_from(struct str text, struct str *ret_host);

#endif
