/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/audits.h"

enum err_code audits_make(struct audits *ret, const struct judged *judged, struct err *err)
{
    const struct facts *facts = judged->facts;
    *ret = (struct audits){0};
    enum err_code rc = cache_audit_make(&ret->caches, judged, err);
    if (!rc)
        rc = conf_audit_make(&ret->conf, facts, err);
    if (!rc)
        rc = stream_health_make(&ret->streams, facts, err);
    if (!rc)
        rc = failure_signatures_make(&ret->failures, facts, judged->lost, err);
    if (!rc)
        rc = ledger_make(&ret->ledger, judged, &ret->failures, err);
    if (!rc)
        rc = aqe_changes_make(&ret->adaptive, facts, err);
    if (rc)
        audits_dispose(ret);
    return rc;
}

void audits_dispose(struct audits *self)
{
    cache_audit_dispose(&self->caches);
    conf_audit_dispose(&self->conf);
    stream_health_dispose(&self->streams);
    failure_signatures_dispose(&self->failures);
    ledger_dispose(&self->ledger);
    aqe_changes_dispose(&self->adaptive);
}

enum err_code audits_store(const struct audits *self, const struct judged *judged, const struct findings *findings, struct db *db, struct err *err)
{
    const struct facts *facts = judged->facts;
    enum err_code rc = cache_audit_store(&self->caches, facts, db, err);
    if (!rc)
        rc = conf_audit_store(&self->conf, judged, findings, db, err);
    if (!rc)
        rc = stream_health_store(&self->streams, db, err);
    if (!rc)
        rc = failure_signatures_store(&self->failures, db, err);
    if (!rc)
        rc = ledger_store(&self->ledger, judged, &self->failures, db, err);
    if (!rc)
        rc = aqe_changes_store(&self->adaptive, facts, db, err);
    return rc;
}

enum err_code audits_clear(struct db *db, struct err *err)
{
    return db_exec(db,
                   "DELETE FROM cache_audit; DELETE FROM conf_audit; DELETE FROM jar_conflict; DELETE FROM stream_health; DELETE FROM failure_signature; DELETE FROM lost_cause;"
                   "DELETE FROM lost_work; DELETE FROM aqe_change",
                   err);
}
