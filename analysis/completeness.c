/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/completeness.h"

#include <math.h>

const char *const missing_kind_names[MISSING_KIND_COUNT] = {"task_successes", "task_ends", "stage_ends", "job_ends", "sql_ends", "files", "lines"};
const char *const completeness_cap_names[COMPLETENESS_CAP_COUNT] = {"no_app_start", "compacted", "roll_gap", "no_app_end", "tail_cut", "bad_lines"};

static const int caps[COMPLETENESS_CAP_COUNT] = {40, 60, 50, 95, 98, 98};

/* There of what was expected; more than that counts as all. */
static double share(int64_t there, int64_t expected)
{
    if (expected <= 0)
        return 1;
    return fmin(1, (double)MAX(there, 0) / (double)expected);
}

static struct missing missing(int64_t there, int64_t expected)
{
    return (struct missing){MAX(expected - MAX(there, 0), 0), MAX(expected, 0)};
}

/* Successes of the stage attempts that ended without a failure: they had one for each task. */
static struct missing missing_successes(const struct facts *facts)
{
    int64_t expected = 0, seen = 0;
    for (size_t i = 0; i < facts->stage_count; i++) {
        const struct stage_fact *stage = &facts->stages[i];
        if (!stage->completed_seen || stage->failed || !known(stage->num_tasks) || stage->num_tasks <= 0)
            continue;
        expected = add_known(expected, stage->num_tasks);
        seen = add_known(seen, stage->seen_success);
    }
    return missing(seen, expected);
}

static unsigned find_caps(const struct completeness_counts *counts, bool gap)
{
    const bool hold[COMPLETENESS_CAP_COUNT] = {!counts->app_start, counts->compacted, gap, !counts->app_end, counts->tail_cut, counts->lines_bad > 0};
    unsigned found = 0;
    for (size_t i = 0; i < COMPLETENESS_CAP_COUNT; i++)
        found |= (unsigned)hold[i] << i;
    return found;
}

static double files_share(const struct completeness_counts *counts, int64_t expected)
{
    double files = share(counts->roll_present, expected);
    return counts->rolling && counts->roll_min > 1 && !counts->compacted ? files * 0.5 : files;
}

struct completeness completeness_of(const struct facts *facts)
{
    const struct completeness_counts *counts = &facts->counts;
    int64_t files = counts->rolling ? known_or(elapsed_known(counts->roll_min, counts->roll_max), INT64_MAX - 1) + 1 : 0;
    struct completeness ret = {.final = counts->app_end || !counts->in_progress, .open = 1, .stages = 1, .jobs = 1, .sqls = 1};
    struct missing *const lacks = ret.missing;
    lacks[MISSING_TASK_SUCCESSES] = missing_successes(facts);
    ret.tasks = share(lacks[MISSING_TASK_SUCCESSES].of - lacks[MISSING_TASK_SUCCESSES].count, lacks[MISSING_TASK_SUCCESSES].of);
    if (ret.final) {
        lacks[MISSING_TASK_ENDS] = missing(counts->task_start - counts->task_open, counts->task_start);
        lacks[MISSING_STAGE_ENDS] = missing(counts->stage_done, counts->stage_sub);
        lacks[MISSING_JOB_ENDS] = missing(counts->job_end, counts->job_start);
        lacks[MISSING_SQL_ENDS] = missing(counts->sql_end, counts->sql_start);
        ret.open = share(counts->task_start - counts->task_open, counts->task_start);
        ret.stages = share(counts->stage_done, counts->stage_sub);
        ret.jobs = share(counts->job_end, counts->job_start);
        ret.sqls = share(counts->sql_end, counts->sql_start);
    }
    lacks[MISSING_FILES] = missing(counts->roll_present, files);
    lacks[MISSING_LINES] = (struct missing){MIN(counts->lines_bad, counts->lines), counts->lines};
    ret.files = files_share(counts, files);
    ret.lines = 1 - share(counts->lines_bad, MAX(counts->lines, 1));
    ret.caps = find_caps(counts, lacks[MISSING_FILES].count > 0);
    ret.score = (int)floor(100 * ret.tasks * ret.open * fmin(ret.stages, fmin(ret.jobs, ret.sqls)) * ret.files * ret.lines);
    for (size_t i = 0; i < COMPLETENESS_CAP_COUNT; i++)
        if (ret.caps >> i & 1)
            ret.score = MIN(ret.score, caps[i]);
    return ret;
}
