/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which lists show findings (spec/findings.md 8.2): what is to be seen by grade and price, then what was checked by how near it came. */
#ifndef ANALYSIS_FINDING_ORDER_H
#define ANALYSIS_FINDING_ORDER_H

#include "analysis/judge.h"

/* Numbers inside compare as numbers: stage 2.0 before 10.0. */
int subject_key_compare(struct str a, struct str b);

/* Passes its first threshold, by the default ladder or its own floor, and is not too small to be judged. Prices do not matter. */
bool finding_fires(const struct finding *finding);
/* Lists show it: graded, neither muted nor suppressed (1.2). */
bool finding_shows(const struct finding *finding, const struct profile *profile, int64_t wall_ms);

/* `profile` may be NULL: the default thresholds. */
void findings_sort(struct findings *self, const struct profile *profile, int64_t wall_ms);

#endif
