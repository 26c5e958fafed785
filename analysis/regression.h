/* SPDX-License-Identifier: Apache-2.0
 *
 * Rule RUN.REGRESSION (spec/findings.md 7.10): a run that is slower than its job usually is. What is usual changes with every run, so this finding is made when somebody reads a report and is
 * stored nowhere. */
#ifndef ANALYSIS_REGRESSION_H
#define ANALYSIS_REGRESSION_H

#include "analysis/compare.h"
#include "analysis/report.h"

/* Puts the finding among the report's, in its place (8.2), when the comparison of that run with what is usual says so; its parts are told in `lang`. */
enum err_code regression_add(struct report *report, const struct comparison *comparison, enum lang lang, struct err *err) WARN_UNUSED;

#endif
