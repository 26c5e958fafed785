/* SPDX-License-Identifier: Apache-2.0
 *
 * Rule RUN.REGRESSION (spec/findings.md 7.10): a run that is slower than its job usually is. What is usual changes with every run, so this finding is made when somebody reads a report and is
 * stored nowhere. */
#ifndef ANALYSIS_REGRESSION_H
#define ANALYSIS_REGRESSION_H

#include "analysis/compare.h"
#include "analysis/report.h"

/* Compares the report's run with what is usual (baseline_find; its members are read below store_dir/apps), and if it is slower puts the finding among the report's, in its place (8.2). Its parts
 * are told in `lang`; `profile` as for report_load. Too few earlier runs: nothing is added. */
enum err_code regression_add(struct report *report, struct baseline *baseline, const char *store_dir, const struct profile *profile, enum lang lang, struct err *err) WARN_UNUSED;

#endif
