/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/load_verdict.h"

#include <stdio.h>

struct load_verdict load_verdict_of(const struct log_entry *entry, const struct load_report *report, enum err_code rc, const struct err *why)
{
    struct load_verdict ret = {0};
    bool nothing = report->nothing_readable || rc;
    const char *reason = report->message[0] ? report->message : nothing ? "nothing in it could be read" : "";
    flags_text(report->flags | (nothing ? FLAG_UNREADABLE : 0), ret.flags, sizeof ret.flags);
    ret.state = catalog_state_of_flags(ret.flags);
    if (rc) {                                /* more than this program can hold, for one */
        ret.state = LOG_FAILED;
        reason = why->message;
    } else if (nothing && !entry->finished_name && report->bad_line_count == 0 && !(report->flags & FLAG_LINES)) {
        ret.state = LOG_SKIPPED;
        reason = "the run has only begun to write: no whole record is there yet";
        flags_text(FLAG_EMPTY, ret.flags, sizeof ret.flags);
    } else if (nothing) {
        ret.state = LOG_FAILED;
    }
    snprintf(ret.reason, sizeof ret.reason, "%s", reason);
    return ret;
}
