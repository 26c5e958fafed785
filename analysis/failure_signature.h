/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that failed, grouped by what it says (spec/findings.md 10.1): task attempts, executors, stages, jobs and queries whose texts are equal but for numbers, paths and ids. In
 * the order of their first times: what failed first is most likely why the rest did. One thread. */
#ifndef ANALYSIS_FAILURE_SIGNATURE_H
#define ANALYSIS_FAILURE_SIGNATURE_H

#include "analysis/error_text.h"
#include "analysis/facts.h"
#include "analysis/finding.h"
#include "analysis/lost_tasks.h"

enum failure_source { FAILED_TASKS, FAILED_EXECUTORS, FAILED_STAGES, FAILED_JOBS, FAILED_SQLS, FAILURE_SOURCE_COUNT };

struct failure_row {
    char signature[ERROR_SIGNATURE_BYTES];
    enum error_kind kind;
    struct str error_class, message; /* STR_NONE: it names no class */
    size_t counts[FAILURE_SOURCE_COUNT];
    int64_t first_ms, last_ms; /* UNKNOWN: nothing of it has a time */
    enum subject_kind first_kind;
    struct str first_key;
    struct str host; /* of the first task; STR_NONE */
    bool several_hosts;
    int64_t exit_code;        /* UNKNOWN: it names none */
    const char *exit_meaning; /* static word; NULL */
};

struct failure_signatures {
    struct arena arena;
    struct failure_row *rows; /* by first_ms, unknown ones last; owned */
    size_t count;
    struct imap by_text; /* text id → position in rows + 1, before they were sorted: see failure_of_text */
    uint32_t *sorted;    /* position before → position now */
};
/* Different signatures that are told apart; what comes behind them counts with the last. */
#define FAILURES_MAX 500

enum err_code failure_signatures_make(struct failure_signatures *ret, const struct facts *facts, const struct lost_tasks *lost, struct err *err) WARN_UNUSED;
void failure_signatures_dispose(struct failure_signatures *self);
/* Position in rows of the failure with this text; NO_ENTITY: nothing failed with it. */
uint32_t failure_of_text(const struct failure_signatures *self, int64_t text_id);
enum err_code failure_signatures_store(const struct failure_signatures *self, struct db *db, struct err *err) WARN_UNUSED;

/* What Spark, YARN and the kernel mean by it; NULL: nothing special. Static. */
const char *exit_code_meaning(int64_t code);

#endif
