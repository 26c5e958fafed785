/* SPDX-License-Identifier: Apache-2.0
 *
 * Which finding explains which other one away (spec/findings.md 1.7). The loser is kept, with the winner's name. */
#ifndef ANALYSIS_SUPPRESSION_H
#define ANALYSIS_SUPPRESSION_H

#include "analysis/judge.h"

/* Sets suppressed_by, in the order of the table: what was suppressed suppresses nothing. After prices and confidence: only what shows can win. */
enum err_code suppress(const struct judged *judged, struct findings *findings, struct err *err) WARN_UNUSED;

#endif
