/* SPDX-License-Identifier: Apache-2.0
 *
 * The ledgers and audits of spec/findings.md 10, each in a file of its own: made once of everything that is known, looked at by rules, stored in tables of their own. */
#ifndef ANALYSIS_AUDITS_H
#define ANALYSIS_AUDITS_H

#include "analysis/aqe_changes.h"
#include "analysis/cache_audit.h"
#include "analysis/conf_audit.h"
#include "analysis/failure_signature.h"
#include "analysis/ledger.h"
#include "analysis/stream_health.h"

struct audits {
    struct cache_audit caches;
    struct conf_audit conf;
    struct stream_health streams;
    struct failure_signatures failures;
    struct ledger ledger;
    struct aqe_changes adaptive;
};

/* `judged` with all but findings and audits. */
enum err_code audits_make(struct audits *ret, const struct judged *judged, struct err *err) WARN_UNUSED;
void audits_dispose(struct audits *self); /* of a zeroed one, too */
enum err_code audits_store(const struct audits *self, const struct judged *judged, const struct findings *findings, struct db *db, struct err *err) WARN_UNUSED;
/* Deletes what was stored. */
enum err_code audits_clear(struct db *db, struct err *err) WARN_UNUSED;

#endif
