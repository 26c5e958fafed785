/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/suppression.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/finding_order.h"
#include "analysis/stage_view.h"
#include "base/attributes.h"

/* The hot tasks carry this share of a stage's spill or collections: they are the skew's doing. */
#define IN_OUTLIERS 0.8
/* Storage takes this share of the memory and more: caches are released first. */
#define STORAGE_FULL 0.7
/* Jobs fill less than this share of the wall: idle executors waited for the driver. */
#define JOBS_SHARE 0.5

typedef bool holds_fn(const struct judged *judged, const struct finding *winner, const struct finding *loser);

static bool touches(const struct finding *finding, uint32_t stage)
{
    if (stage == NO_ENTITY || finding->stage == stage)
        return stage != NO_ENTITY;
    for (size_t i = 0; i < finding->change_count; i++)
        if (finding->changes[i].stage == stage)
            return true;
    return false;
}

static bool anywhere(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)judged, (void)winner, (void)loser;
    return true;
}

static bool same_stage(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)judged;
    return touches(winner, loser->stage);
}

static bool same_source(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)judged;
    if (touches(winner, loser->stage))
        return true;
    for (size_t i = 0; i < loser->change_count; i++)
        if (touches(winner, loser->changes[i].stage))
            return true;
    return false;
}

static bool same_executor(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)judged;
    return winner->executor != NO_ENTITY && winner->executor == loser->executor;
}

/* A machine that is this much slower explains what its tasks do to a stage (5.3 step 1). */
#define SLOW_HOST_RATIO 1.5
static bool slow_host(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)judged;
    return winner->measure >= SLOW_HOST_RATIO && touches(winner, loser->stage);
}

/* Of two with one cure the graver one is told. */
static bool not_weaker(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    return touches(winner, loser->stage) && finding_grade(winner, NULL, judged->wall_ms) >= finding_grade(loser, NULL, judged->wall_ms);
}

static bool spill_in_outliers(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    return touches(winner, loser->stage) && judged->extras[loser->stage]->spill_outlier_share >= IN_OUTLIERS;
}

static bool gc_in_outliers(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    return touches(winner, loser->stage) && judged->extras[loser->stage]->gc_outlier_share >= IN_OUTLIERS;
}

static bool ran_on(const struct facts *facts, uint32_t stage, uint32_t executor)
{
    const struct stage_fact *fact = &facts->stages[stage];
    for (size_t i = 0; i < fact->attempt_count; i++)
        if (facts->attempts[fact->first_attempt + i].executor == executor)
            return true;
    return false;
}

static bool storage_is_full(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    return winner->measure >= STORAGE_FULL && winner->executor != NO_ENTITY && loser->stage != NO_ENTITY && ran_on(judged->facts, loser->stage, winner->executor);
}

/* The stage ran more than once, or lost attempts with an executor. */
static bool was_retried(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    const struct facts *facts = judged->facts;
    (void)winner;
    if (loser->stage == NO_ENTITY)
        return false;
    const struct stage_fact *fact = &facts->stages[loser->stage];
    for (size_t i = 0; i < fact->attempt_count; i++) {
        uint8_t kind = facts->attempts[fact->first_attempt + i].kind;
        if (kind == LOST_EXECUTOR || kind == LOST_FETCH || kind == LOST_RECOMPUTED)
            return true;
    }
    return fact->attempt > 0;
}

static bool same_execution(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    int64_t execution;
    struct str node;
    return loser->stage != NO_ENTITY && subject_key_split(winner->subject_key, '/', &execution, &node) && judged->facts->stages[loser->stage].sql_execution_id == execution;
}

/* A task that waits, for what it works on or for its code, takes no less time when it is cut into pieces; and a stage that is long by its slow tasks alone has enough of the others. */
static bool slow_tasks_are_it(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    struct stage_view view;
    if (!touches(winner, loser->stage))
        return false;
    if (winner->cause && (strcmp(winner->cause, "waiting") == 0 || strcmp(winner->cause, "deser") == 0))
        return true;
    return stage_view(judged, loser->stage, &view) && view.wall_ms - view.stats->rec_cap_ms < FEW_LEAST_WALL_MS;
}

/* The driver fetched results for longer than tasks waited for it: that is what kept it from starting them. */
static bool results_kept_the_driver(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    if (!touches(winner, loser->stage))
        return false;
    const struct stage_account *account = &judged->accounts->stages[loser->stage];
    return account->winner_ms[BUCKET_GETRES] >= account->winner_ms[BUCKET_DELAY] + account->sched_wait_slot_ms;
}

/* What is idle beside the driver's gaps is below the rule's first threshold. */
static bool gaps_explain(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    const struct account *app = &judged->accounts->app;
    double gaps = app->slot_ms[BUCKET_GAP_USER] + app->slot_ms[BUCKET_GAP_SHUTDOWN], idle = loser->measure * judged->accounts->allocated_ms - gaps,
           rest = judged->accounts->allocated_ms - gaps;
    (void)winner;
    return rest <= 0 || idle / rest < loser->rule->ladder.step[0];
}

static bool nothing_submitted(const struct judged *judged, const struct finding *winner, const struct finding *loser)
{
    (void)winner, (void)loser;
    return judged->accounts->jobs_ms < JOBS_SHARE * (double)judged->wall_ms;
}

/* In this order. A winner that ends with '*' is a family. LOG.INCOMPLETE is not here: below its grade severe time rules are muted altogether (2.3). */
static const struct {
    const char *winner, *loser;
    holds_fn *holds;
} pairs[] = {
    {"STAGE.RETRY_CHAIN", "STAGE.STRAGGLER", same_stage},
    {"STAGE.RETRY_CHAIN", "STAGE.UNEVEN", same_stage},
    {"STAGE.RETRY_CHAIN", "STAGE.FETCH_WAIT", same_stage},
    {"EXEC.LOST", "STAGE.STRAGGLER", was_retried},
    {"EXEC.LOST", "STAGE.UNEVEN", was_retried},
    {"EXEC.LOST", "STAGE.FETCH_WAIT", was_retried},
    {"STAGE.SKEW_DATA", "STAGE.SKEW_WRITE", same_stage},
    {"STAGE.SKEW_DATA", "STAGE.SPILL", spill_in_outliers},
    {"STAGE.SKEW_DATA", "STAGE.GC_HIGH", gc_in_outliers},
    {"STAGE.SKEW_DATA", "EXEC.MEM_NEAR", same_executor},
    {"STAGE.SKEW_DATA", "CONF.MEMORY_RATIO", anywhere},
    {"STAGE.SKEW_DATA", "EXEC.HOTSPOT", same_executor},
    {"STAGE.SLOW_HOST", "STAGE.STRAGGLER", slow_host},
    {"STAGE.SLOW_HOST", "STAGE.UNEVEN", slow_host},
    {"STAGE.SLOW_HOST", "EXEC.HOTSPOT", same_executor},
    {"STAGE.SKEW_DATA", "STAGE.UNEVEN", same_stage}, /* few slow tasks make run times vary: one cure */
    {"STAGE.STRAGGLER", "STAGE.UNEVEN", same_stage},
    {"STAGE.SINGLE_TASK", "STAGE.FEW_TASKS", not_weaker},
    {"STAGE.FEW_TASKS", "STAGE.SINGLE_TASK", same_stage},
    {"STAGE.SINGLE_TASK", "STAGE.BIG_PARTITION", same_stage},
    {"STAGE.STRAGGLER", "STAGE.FEW_TASKS", slow_tasks_are_it},
    {"SQL.AQE_OVERCOALESCED", "STAGE.FEW_TASKS", same_stage},
    {"SQL.AQE_OVERCOALESCED", "STAGE.SINGLE_TASK", same_stage},
    {"STAGE.TINY_TASKS", "STAGE.SCHED_DELAY", same_stage},
    {"STAGE.TINY_TASKS", "STAGE.DESER", same_stage},
    {"STAGE.RESULT_LARGE", "STAGE.SCHED_DELAY", results_kept_the_driver},
    {"STAGE.TINY_TASKS", "CONF.SHUFFLE_PARTITIONS", same_stage}, /* it names how many would do: two numbers for one setting would contradict each other */
    {"SQL.SMALL_FILES_READ", "STAGE.TINY_TASKS", same_stage},
    {"EXEC.STORAGE_FULL", "STAGE.GC_HIGH", storage_is_full},
    {"EXEC.STORAGE_FULL", "STAGE.SPILL", storage_is_full},
    {"STAGE.GC_HIGH", "EXEC.MEM_OVER", anywhere},
    {"STAGE.GC_HIGH", "EXEC.GC_LOW", anywhere},
    {"STAGE.SPILL", "EXEC.MEM_OVER", anywhere},
    {"STAGE.SPILL", "EXEC.GC_LOW", anywhere},
    {"SQL.ROW_EXPLOSION", "STAGE.BIG_PARTITION", same_execution},
    {"SQL.ROW_EXPLOSION", "STAGE.SPILL", same_execution},
    {"SQL.ROW_EXPLOSION", "STAGE.SHUFFLE_VOLUME", same_execution},
    {"RDD.RECOMPUTE", "SQL.REPEATED_SCAN", same_source},
    {"RDD.CACHE_PARTIAL", "SQL.REPEATED_SCAN", same_source},
    {"APP.DRIVER_GAP", "APP.LOW_UTIL", gaps_explain},
    {"APP.DRIVER_GAP", "APP.OVERALLOC", nothing_submitted},
    {"STREAM.*", "APP.DRIVER_GAP", anywhere},
    {"STREAM.*", "JOB.MANY_SMALL", anywhere},
};

static bool is_of(const struct rule *rule, const char *name)
{
    size_t len = strlen(name);
    return name[len - 1] == '*' ? strncmp(rule->id, name, len - 1) == 0 : strcmp(rule->id, name) == 0;
}

static enum err_code suppress_one(struct findings *findings, const struct finding *winner, struct finding *loser, struct err *err)
{
    char *name = arena_printf(findings->arena, "%s %s %.*s", winner->rule->id, subject_kind_names[winner->subject_kind], (int)winner->subject_key.len, winner->subject_key.ptr);
    if (!name)
        return err_nomem(err);
    loser->suppressed_by = str_of(name);
    return ERR_OK;
}

enum err_code suppress(const struct judged *judged, struct findings *findings, struct err *err)
{
    for (size_t p = 0; p < ARRAY_LENGTH(pairs); p++)
        for (size_t w = 0; w < findings->count; w++) {
            const struct finding *winner = &findings->items[w];
            if (!is_of(winner->rule, pairs[p].winner) || !finding_shows(winner, NULL, judged->wall_ms))
                continue;
            for (size_t l = 0; l < findings->count; l++) {
                struct finding *loser = &findings->items[l];
                if (!is_of(loser->rule, pairs[p].loser) || loser->mute || str_known(loser->suppressed_by) || !pairs[p].holds(judged, winner, loser))
                    continue;
                enum err_code rc = suppress_one(findings, winner, loser, err);
                if (rc)
                    return rc;
            }
        }
    return ERR_OK;
}
