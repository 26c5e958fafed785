/* SPDX-License-Identifier: Apache-2.0
 *
 * Which SQL execution a finding is about: it itself, an operator of its plan, or a job or stage attempt that ran for it. */
#ifndef SERVER_API_SQL_FINDINGS_H
#define SERVER_API_SQL_FINDINGS_H

#include "analysis/finding.h"
#include "base/buf.h"
#include "server/api/api.h"

/* UNKNOWN: it is about none. */
enum err_code sql_of_finding(struct db *db, const struct finding *finding, int64_t *ret_execution_id, struct err *err) WARN_UNUSED;

/* Findings about executions that lists show, graded by the profile (NULL: as usual), as JSON for statements: [[execution, grade (enum grade), saving in ms or null], …]. STR_NONE: the run has not been judged. */
enum err_code sql_findings_json(struct db *db, const struct profile *profile, struct buf *ret, bool *ret_known, struct err *err) WARN_UNUSED;

#endif
