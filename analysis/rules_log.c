/* SPDX-License-Identifier: Apache-2.0
 *
 * The log itself (spec/findings.md 7.10). RUN.REGRESSION compares runs and is judged where other runs are known. */
#include <stdio.h>

#include "analysis/judge.h"

/* One line of what is missing: "4212 of 128152 task ends". */
struct missing {
    const char *name;
    int64_t missing, all;
};

static void incomplete(const struct judged *judged, struct findings *findings)
{
    const struct completeness_counts *counts = &judged->facts->counts;
    const struct missing missing[] = {{"task_ends", counts->task_open, counts->task_start},
                                      {"stage_ends", counts->stage_sub - counts->stage_done, counts->stage_sub},
                                      {"job_ends", counts->job_start - counts->job_end, counts->job_start},
                                      {"sql_ends", counts->sql_start - counts->sql_end, counts->sql_start},
                                      {"lines", counts->lines_bad, counts->lines},
                                      {"files", counts->rolling ? counts->roll_max - counts->roll_min + 1 - counts->roll_present : 0, counts->roll_present}};
    struct finding *finding = findings_add(findings, "LOG.INCOMPLETE", SUBJECT_LOG, "-");
    char text[200];
    size_t len = 0;
    finding->measure = judged->completeness;
    for (size_t i = 0; i < ARRAY_LENGTH(missing); i++) {
        if (missing[i].missing <= 0)
            continue;
        finding_measure(findings, missing[i].name, (double)missing[i].missing, "count");
        if (len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s: %lld of %lld", len ? "; " : "", missing[i].name, (long long)missing[i].missing, (long long)missing[i].all);
    }
    if (!counts->app_end && len < sizeof text)
        len += (size_t)snprintf(text + len, sizeof text - len, "%sno end of the application", len ? "; " : "");
    if (!len)
        snprintf(text, sizeof text, "nothing");
    finding_arg_text(findings, "missing", str_of(text));
    finding_arg(findings, "C", judged->completeness, "points");
    finding_evidence(findings, SUBJECT_LOG, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"completeness", judged->completeness, "points"}}, 1);
    finding_formula(findings, "completeness of the log, 0 … 100", finding->rule->ladder.step[0], "own", NULL);
}

static void clock_faults(const struct judged *judged, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "LOG.CLOCK", SUBJECT_LOG, "-");
    finding->measure = (double)judged->facts->clock_faults;
    finding_arg(findings, "n", finding->measure, "count");
    finding_evidence(findings, SUBJECT_LOG, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"faults", finding->measure, "count"}}, 1);
    finding_formula(findings, "ends before their begins", finding->rule->ladder.step[0], "own", NULL);
}

enum err_code rules_log(const struct judged *judged, struct findings *findings, struct err *err)
{
    (void)err;
    incomplete(judged, findings);
    clock_faults(judged, findings);
    return ERR_OK;
}
