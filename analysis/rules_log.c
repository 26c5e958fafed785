/* SPDX-License-Identifier: Apache-2.0
 *
 * The log itself (spec/findings.md 7.10). RUN.REGRESSION compares runs and is judged where other runs are known. */
#include <stdio.h>

#include "analysis/judge.h"

static void incomplete(const struct judged *judged, struct findings *findings)
{
    const struct completeness *log = judged->log;
    struct finding *finding = findings_add(findings, "LOG.INCOMPLETE", SUBJECT_LOG, "-");
    struct evidence_cell cells[MISSING_KIND_COUNT + 1] = {{"completeness", log->score, "points"}};
    char text[300];
    size_t len = 0, count = 1;
    text[0] = '\0';
    finding->measure = log->score;
    if (judged->facts->end_at_least)
        finding->cause = "running"; /* for all that the log says */
    else if (log->caps >> CAP_COMPACTED & 1)
        finding->cause = "compacted";
    for (int kind = 0; kind < MISSING_KIND_COUNT; kind++) {
        const struct missing *missing = &log->missing[kind];
        if (missing->count <= 0)
            continue;
        cells[count++] = (struct evidence_cell){missing_kind_names[kind], (double)missing->count, "count"};
        if (len < sizeof text)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%s: %lld of %lld", len ? "; " : "", missing_kind_names[kind], (long long)missing->count, (long long)missing->of);
    }
    for (int cap = 0; cap < COMPLETENESS_CAP_COUNT; cap++)
        if ((log->caps >> cap & 1) && len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? "; " : "", completeness_cap_names[cap]);
    finding_arg_text(findings, "missing", str_of(text));
    finding_arg(findings, "C", log->score, "points");
    finding_evidence(findings, SUBJECT_LOG, STR_LIT("-"), "culprit", cells, count);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
}

static void first_fault(const struct facts *facts, struct findings *findings)
{
    static const enum subject_kind kinds[] = {[CLOCK_TASK] = SUBJECT_TASK, [CLOCK_STAGE] = SUBJECT_STAGE, [CLOCK_JOB] = SUBJECT_JOB, [CLOCK_EXECUTOR] = SUBJECT_EXECUTOR};
    const struct clock_fault *fault = &facts->first_fault;
    char key[48];
    struct str id = STR_NONE;
    if (fault->of == CLOCK_NONE)
        return;
    snprintf(key, sizeof key, known(fault->attempt) ? "%lld.%lld" : "%lld", (long long)fault->id, (long long)fault->attempt);
    for (size_t i = 0; fault->of == CLOCK_EXECUTOR && i < facts->executor_count; i++)
        if (facts->executors[i].executor_ref == fault->id)
            id = facts->executors[i].id;
    struct evidence_cell cells[] = {{"begins", (double)fault->begin_ms, "time"}, {"ends", (double)fault->end_ms, "time"}};
    finding_evidence(findings, kinds[fault->of], str_known(id) ? id : str_of(key), "culprit", cells, ARRAY_LENGTH(cells));
    finding_arg(findings, "at", (double)fault->end_ms, "time");
}

static void clock_faults(const struct judged *judged, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "LOG.CLOCK", SUBJECT_LOG, "-");
    finding->measure = (double)judged->facts->clock_faults;
    finding_arg(findings, "n", finding->measure, "count");
    finding_evidence(findings, SUBJECT_LOG, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"faults", finding->measure, "count"}}, 1);
    first_fault(judged->facts, findings);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
}

enum err_code rules_log(const struct judged *judged, struct findings *findings, struct err *err)
{
    (void)err;
    incomplete(judged, findings);
    clock_faults(judged, findings);
    return ERR_OK;
}
