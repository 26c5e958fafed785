/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding.h"

#include <math.h>
#include <string.h>

#include "base/attributes.h"

const char *const grade_names[GRADE_COUNT] = {"ok", "info", "low", "moderate", "severe"};
const char *const subject_kind_names[SUBJECT_KIND_COUNT] = {"app", "job", "stage", "task", "exec", "host", "sql", "node", "rdd", "query", "batch", "conf", "log"};
const char *const mute_names[MUTE_COUNT] = {NULL,  "tiny_app", "tiny_stage", "few_tasks", "tiny_data", "incomplete", "no_metric",
                                            "aqe", "local",    "streaming",  "warmup",    "off_path",  "vendor",     "no_subject"};

bool mute_is_early(enum mute mute)
{
    return mute >= MUTE_TINY_APP && mute <= MUTE_INCOMPLETE;
}

/* 1.3: what a price is worth, own. The share of the wall keeps a run of seconds from shouting, the absolute part keeps one of hours from hiding minutes. */
static const struct {
    int64_t least_ms;
    double least_share;
    int64_t alone_ms;
} price_steps[GRADE_COUNT] = {
    [GRADE_INFO] = {200, 0, 200},
    [GRADE_LOW] = {1000, 0.02, 60000},
    [GRADE_MODERATE] = {3000, 0.05, 300000},
    [GRADE_SEVERE] = {10000, 0.10, 900000},
};

#define MARGIN_MOST 99.0
/* Where a price should be and none was made, nothing above this is said (2.3, 6.4). */
#define UNPRICED_AT_MOST GRADE_LOW

enum grade ladder_grade(const struct ladder *ladder, double measure)
{
    enum grade grade = GRADE_OK;
    for (int i = 0; i < 4; i++)
        if (ladder->down ? measure <= ladder->step[i] : measure >= ladder->step[i]) /* false for a NaN on either side */
            grade = (enum grade)(i + 1);
    return grade;
}

enum grade price_grade(int64_t price_ms, int64_t wall_ms)
{
    for (int grade = GRADE_SEVERE; grade > GRADE_OK; grade--)
        if ((price_ms >= price_steps[grade].least_ms && (double)price_ms >= price_steps[grade].least_share * (double)wall_ms) || price_ms >= price_steps[grade].alone_ms)
            return (enum grade)grade;
    return GRADE_OK;
}

static const struct ladder *ladder_of(const struct finding *finding, const struct profile *profile)
{
    return profile && profile->ladders ? &profile->ladders[finding->rule - rules] : &finding->rule->ladder;
}

enum grade finding_grade(const struct finding *finding, const struct profile *profile, int64_t wall_ms)
{
    if (isnan(finding->measure))
        return GRADE_OK;
    enum grade grade = ladder_grade(ladder_of(finding, profile), finding->measure);
    if (finding->rule->kind == RULE_TIME && finding->scenario) {
        enum grade worth = known(finding->price.ms) ? price_grade(finding->price.ms, wall_ms) : UNPRICED_AT_MOST;
        grade = MIN(grade, worth);
    }
    if (grade > GRADE_OK && finding->grade_shift) {
        int shifted = (int)grade + finding->grade_shift;
        grade = (enum grade)MIN(MAX(shifted, (int)GRADE_OK), (int)GRADE_SEVERE);
    }
    grade = MAX(grade, finding->at_least);
    grade = MIN(grade, finding->at_most);
    grade = MIN(grade, finding->rule->at_most);
    return finding->confidence == 0 ? MIN(grade, GRADE_LOW) : grade;
}

static double first_step(const struct ladder *ladder)
{
    for (int i = 0; i < 4; i++)
        if (!isnan(ladder->step[i]))
            return ladder->step[i];
    return (double)NAN;
}

double finding_margin(const struct finding *finding, const struct profile *profile)
{
    const struct ladder *ladder = ladder_of(finding, profile);
    double step = first_step(ladder), over = ladder->down ? finding->measure : step, margin = (ladder->down ? step : finding->measure) / over;
    if (isnan(step))
        return 0;
    if (isnan(finding->measure))
        return (double)NAN;
    if (over <= 0)
        margin = MARGIN_MOST;
    margin = MIN(MAX(margin, 0.0), MARGIN_MOST);
    if (finding->rule->kind == RULE_TIME && known(finding->price.ms))
        margin = MIN(margin, (double)finding->price.ms / (double)price_steps[GRADE_INFO].least_ms);
    return margin;
}

bool subject_key_split(struct str key, char mark, int64_t *ret_first, struct str *ret_rest)
{
    const char *at = key.len ? memchr(key.ptr, mark, key.len) : NULL;
    size_t n = at ? (size_t)(at - key.ptr) : key.len;
    *ret_rest = (struct str){key.ptr + n, key.len - n};
    return str_to_i64((struct str){key.ptr, n}, ret_first);
}

bool subject_key_pair(struct str key, char mark, int64_t *ret_first, int64_t *ret_second)
{
    struct str rest;
    return subject_key_split(key, mark, ret_first, &rest) && rest.len && str_to_i64((struct str){rest.ptr + 1, rest.len - 1}, ret_second);
}
