/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/recompute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stage_view.h"

/* What was computed again must be worth this much of wall time. */
#define RECOMPUTE_LEAST_MS 1000.0
#define LIST_STAGES 12     /* so many stages are named in a sentence */
#define PRICED_STAGES 1000 /* of one finding: the first of them */

static void list_stage(char *text, size_t size, const struct stage_fact *stage, size_t i)
{
    size_t len = strlen(text);
    if (i == LIST_STAGES)
        snprintf(text + len, size - len, " …");
    else if (i < LIST_STAGES)
        snprintf(text + len, size - len, "%s%lld.%lld", len ? ", " : "", (long long)stage->stage_id, (long long)stage->attempt);
}

static bool run_together(const struct facts *facts, uint32_t a, uint32_t b)
{
    const struct stage_fact *x = &facts->stages[a], *y = &facts->stages[b];
    return a == b || (x->job != NO_ENTITY && x->job == y->job) || (known(x->sql_execution_id) && x->sql_execution_id == y->sql_execution_id);
}

/* Collections or spill hit the jobs that compute it: what its first cure, a cache in memory, would make worse. */
static bool memory_is_tight(const struct judged *judged, const struct findings *findings, const struct computation *at, size_t count)
{
    static const char *const tight[] = {"STAGE.GC_HIGH", "STAGE.SPILL"};
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        bool tells = strcmp(finding->rule->id, tight[0]) == 0 || strcmp(finding->rule->id, tight[1]) == 0;
        if (!tells || finding->mute || finding->stage == NO_ENTITY || ladder_grade(&finding->rule->ladder, finding->measure) < GRADE_LOW ||
            price_grade((int64_t)fmin(finding->local_saving_ms, 1e15), judged->wall_ms) == GRADE_OK)
            continue;
        for (size_t k = 0; k < count; k++)
            if (run_together(judged->facts, at[k].stages[0], finding->stage))
                return true;
    }
    return false;
}

static void price(struct findings *findings, const struct computation *later, double least_ms, size_t *priced)
{
    for (size_t s = 0; s < later->stage_count && later->cost_ms > 0 && *priced < PRICED_STAGES; s++, (*priced)++)
        finding_change(findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = later->stages[s], .number = 1 - least_ms / later->cost_ms});
}

void recompute_tell(const struct judged *judged, struct findings *findings, const struct computation *at, size_t count, enum subject_kind kind, const char *key, struct str name)
{
    const struct facts *facts = judged->facts;
    const struct rule *rule = rule_find(STR_LIT("RDD.RECOMPUTE"));
    double least = at[0].cost_ms;
    for (size_t i = 1; i < count; i++)
        least = MIN(least, at[i].cost_ms);
    double again = least * (double)(count - 1), wall = again / (double)MAX(facts->slot_peak, 1);
    enum mute mute = mute_of(judged, rule, NO_ENTITY);
    if (!mute && wall < RECOMPUTE_LEAST_MS)
        mute = MUTE_TINY_STAGE;
    struct finding *finding = findings_consider(findings, rule, mute, (double)count, wall, kind, "%s", key);
    if (!finding)
        return;
    char list[400] = "";
    finding_arg_text(findings, "name", name);
    finding_arg(findings, "n", (double)count, "count");
    for (size_t i = 0; i < count; i++)
        list_stage(list, sizeof list, &facts->stages[at[i].stages[0]], i);
    finding_arg_text(findings, "list", str_of(list));
    finding->cause = memory_is_tight(judged, findings, at, count) ? "memory_tight" : NULL;
    finding_measure(findings, "again", again, "ms");
    finding_evidence(findings, kind, str_of(key), "culprit", (struct evidence_cell[]){{"times", (double)count, "count"}, {"again", again, "ms"}}, 2);
    size_t priced = 0;
    for (size_t i = 0; i < count; i++) {
        char stage[48];
        snprintf(stage, sizeof stage, STAGE_KEY, STAGE_KEY_OF(&facts->stages[at[i].stages[0]]));
        finding_evidence(findings, SUBJECT_STAGE, str_of(stage), "context", (struct evidence_cell[]){{"task_time", at[i].cost_ms, "ms"}}, 1);
        if (i)
            price(findings, &at[i], least, &priced);
    }
    FORMULA(findings, NULL, rule->ladder.step[0], "own", {"least", least, "ms"});
}
