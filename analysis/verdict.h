/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page says first (spec/findings.md 8): the cause that matters most among the findings shown on it, and the names of others. Texts are appended to `out`. One thread. */
#ifndef ANALYSIS_VERDICT_H
#define ANALYSIS_VERDICT_H

#include "analysis/report.h"

/* Of the whole run (8.3): the first that holds of failed, incomplete log, mostly waiting, something to change, healthy; further causes and a regression are added. A short run that waited
 * for nothing but its usual start does not begin with that, nor one with something that failed. */
enum err_code verdict_app(struct report *report, enum lang lang, struct buf *out, struct err *err) WARN_UNUSED;

/* Position of the finding that verdict_app is about, which a list of what to change begins with; finding_count: it is about none (a failed run, a healthy one). */
size_t verdict_lead(const struct report *report);

/* Position of the finding whose advice is to be followed first: the verdict's; of a run that failed that of its failure, of a shell in which mostly nobody typed only what is worth more than a word, of a log that lacks much, or its end, and shows no fault besides, of that; finding_count: none. */
size_t verdict_first_step(const struct report *report);

/* A shell, and most of its time nobody typed. */
bool verdict_waited_for_people(const struct report *report);

/* Too short, and nothing grave happened: not judged as a whole (1.6). */
bool verdict_is_too_short(const struct report *report);

/* What all that has a price would save together, the one figure of the verdict and of the list of changes. UNKNOWN: nothing to speak of; the run failed, and has to work first; or nothing of the
 * list saves anything by itself: a run that is told to be healthy is not told what to save. */
int64_t verdict_saving_ms(const struct report *report);

/* Of a page (8.2): of the findings about its subjects, given as positions in report->findings in their order. Where none is shown, the one that came nearest. */
enum err_code verdict_page(struct report *report, enum lang lang, const size_t *findings, size_t count, struct buf *out, struct err *err) WARN_UNUSED;

/* Was judged, does not show, and is worth naming as near: a whole log, 100 points with a limit of 98, always comes near; and what is beyond its limit, and not told for another reason, is not near it. */
bool verdict_may_be_closest(const struct report_finding *finding);
/* The finding that is nearest to its limit among those that were judged and do not show; finding_count: none. `findings` NULL: among all. */
size_t verdict_closest(const struct report *report, const size_t *findings, size_t count);

/* Why a page has nothing to show (8.4), from facts; nothing is appended where it has something. */
enum empty_page { EMPTY_STORAGE, EMPTY_SQL, EMPTY_STREAMING, EMPTY_EXECUTOR_PEAKS, EMPTY_JOBS, EMPTY_PAGE_COUNT };
extern const char *const empty_page_names[EMPTY_PAGE_COUNT];
enum err_code verdict_empty(struct db *app, enum empty_page page, enum lang lang, struct buf *out, struct err *err) WARN_UNUSED;

#endif
