/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/regression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/comparison_report.h"
#include "analysis/finding_order.h"
#include "analysis/judge.h"
#include "base/attributes.h"

static const char rule_id[] = "RUN.REGRESSION";

/* The new one stands behind findings of a higher grade and behind those of its own grade that have a price or an earlier name. */
static size_t place_of(const struct report *report, enum grade grade)
{
    size_t i = 0;
    while (i < report->shown_count) {
        const struct report_finding *other = &report->findings[i];
        if (other->grade < grade || (other->grade == grade && !known(other->finding.price.ms) && strcmp(other->finding.rule->id, rule_id) > 0))
            break;
        i++;
    }
    return i;
}

static enum err_code insert(struct report *report, const struct finding *finding, enum grade grade, const struct profile *profile, struct err *err)
{
    struct report_finding *all = arena_zalloc(&report->arena, report->finding_count + 1, sizeof *all);
    if (!all)
        return err_nomem(err);
    size_t at = place_of(report, grade), kept = 0;
    for (size_t i = 0; i <= report->finding_count; i++) {
        if (i == at)
            all[kept++] = (struct report_finding){.finding = *finding, .grade = grade, .margin = finding_margin(finding, profile), .is_shown = true};
        /* What analysis stored of this rule says that it had nothing to judge by. */
        if (i < report->finding_count && (i < report->shown_count || report->findings[i].finding.rule != finding->rule))
            all[kept++] = report->findings[i];
    }
    for (size_t i = 0; i < report->joint_count; i++)
        report->joint[i].finding += report->joint[i].finding >= at;
    report->findings = all;
    report->finding_count = kept;
    report->shown_count++;
    return ERR_OK;
}

static enum err_code add(struct report *report, const struct comparison *comparison, const struct profile *profile, enum lang lang, struct err *err)
{
    CLEANUP(buf_dispose) struct buf parts;
    CLEANUP(findings_dispose) struct findings findings = {.arena = &report->arena};
    buf_init(&parts, (size_t)64 << 10);
    comparison_parts(&parts, lang, comparison);
    double delta_ms = (double)comparison->delta_ms, usual_ms = (double)comparison->usual_ms, z = noise_z(&comparison->wall, (double)comparison->new_run.wall_ms);
    struct finding *finding = findings_add(&findings, rule_id, SUBJECT_APP, "-");
    finding->measure = regression_measure(&comparison->wall, comparison->new_run.wall_ms);
    finding_arg(&findings, "delta", delta_ms, "ms");
    finding_arg(&findings, "med", usual_ms, "ms");
    finding_arg(&findings, "n", (double)comparison->wall.count, "count");
    finding_arg_text(&findings, "parts", buf_str(&parts));
    finding_measure(&findings, "z", z, "ratio");
    finding_measure(&findings, "sigma", comparison->wall.sigma, "ms");
    const struct evidence_cell cells[] = {{"wall", (double)comparison->new_run.wall_ms, "ms"}}, usual[] = {{"wall", (double)comparison->base.wall_ms, "ms"}};
    finding_evidence(&findings, SUBJECT_APP, STR_LIT("-"), "culprit", cells, ARRAY_LENGTH(cells));
    finding_evidence(&findings, SUBJECT_APP, comparison->base.app_id, "peer", usual, ARRAY_LENGTH(usual));
    FORMULA(&findings, NULL, finding->rule->ladder.step[0], "own", {"wall", (double)comparison->new_run.wall_ms, "ms"});
    findings_close(&findings);
    if (findings.out_of_memory)
        return err_nomem(err);
    enum grade grade = finding_grade(&findings.items[0], profile, report->wall_ms);
    return grade == GRADE_OK ? ERR_OK : insert(report, &findings.items[0], grade, profile, err);
}

enum err_code regression_add(struct report *report, struct baseline *baseline, const char *store_dir, const struct profile *profile, enum lang lang, struct err *err)
{
    CLEANUP(comparison_dispose) struct comparison comparison = {0};
    if (baseline->member_count < BASELINE_FEWEST || isnan(regression_measure(&baseline->wall, report->wall_ms)))
        return ERR_OK;
    enum err_code rc = compare_usual(&comparison, baseline, store_dir, report->db, err);
    if (rc == ERR_NOT_FOUND)
        return ERR_OK; /* the earlier runs' files are gone */
    /* A log too incomplete to be compared is no regression. */
    return rc || comparison.state != COMPARE_DONE || comparison.grade == GRADE_OK ? rc : add(report, &comparison, profile, lang, err);
}
