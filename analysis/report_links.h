/* SPDX-License-Identifier: Apache-2.0
 *
 * What shown findings of one report have to do with one another, found when it is loaded: which tell of the same failure once more, and which want one and the same number changed. Lists for
 * people say it; JSON and the interface keep every finding. Texts live in the report's arena. */
#ifndef ANALYSIS_REPORT_LINKS_H
#define ANALYSIS_REPORT_LINKS_H

#include "analysis/report.h"

/* Sets same_as, failed_attempts and pieces_of of what is shown; all others stand for themselves. */
enum err_code report_link(struct report *self, struct err *err) WARN_UNUSED;

/* Of those whose cure sets the same number of pieces as this one's the finding that comes first: what the verdict is about, then by their order. finding_count: there is no other, or this is it. */
size_t report_sets_the_same(const struct report *self, size_t position);

#endif
