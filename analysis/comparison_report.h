/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison for people who do not know Spark (text, Markdown, HTML) and for programs (JSON, described in analysis/README.md). Texts: sections "compare…" of analysis/messages. One thread. */
#ifndef ANALYSIS_COMPARISON_REPORT_H
#define ANALYSIS_COMPARISON_REPORT_H

#include "analysis/compare.h"
#include "analysis/report.h"
#include "base/json_writer.h"

enum err_code comparison_write(const struct comparison *comparison, const struct report_style *style, struct buf *out, struct err *err) WARN_UNUSED;
/* One object. */
void comparison_json(struct json_writer *w, const struct comparison *comparison, enum lang lang);

/* What is usual for a job, and how a run with these numbers lies in it; `metrics`: of baseline_measure. One object. */
void baseline_json(struct json_writer *w, const struct baseline *baseline, const struct noise metrics[RUN_METRIC_COUNT], const double values[RUN_METRIC_COUNT], enum lang lang);

/* "6.6 s slower than usual (20.4 s, 5 earlier runs): +5.1 s …, +1.3 s …, 0.2 s unexplained." */
void comparison_sentence(struct buf *out, enum lang lang, const struct comparison *comparison);
/* Its end: "+5.1 s …, +1.3 s …, 0.2 s unexplained". */
void comparison_parts(struct buf *out, enum lang lang, const struct comparison *comparison);
const char *comparison_metric_name(enum lang lang, enum run_metric metric);
/* What a part is, in words: "3 fewer broadcast joins (3 → 0)". */
void comparison_part(struct buf *out, enum lang lang, const struct compare_part *part);

#endif
