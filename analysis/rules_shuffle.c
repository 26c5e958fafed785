/* SPDX-License-Identifier: Apache-2.0
 *
 * Shuffle, input and output, how many tasks there are (spec/findings.md 7.4). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/conf_value.h"
#include "analysis/stage_view.h"
#include "base/mem.h"

#define MIB ((double)BYTES_PER_MIB)
#define GIB (1024 * MIB)

#define FETCH_LEAST_BYTES (16 * MIB)
#define VOLUME_LEAST_BYTES GIB
#define REREAD_LEAST_BYTES GIB
/* STAGE.FEW_TASKS */
#define FEW_SURE_WALL_MS 10000.0 /* below it, a stage needs data to be worth more tasks */
#define FEW_LEAST_BYTES (8 * MIB)
#define SPLIT_DEFAULT_BYTES (128 * MIB) /* of spark.sql.files.maxPartitionBytes: more of it makes fewer tasks */
#define SPLIT_WAVES 2.0                 /* S0: two or three tasks a slot */
/* STAGE.TINY_TASKS */
#define TINY_LEAST_WAVES 3.0
#define TINY_TARGET_BYTES (128 * MIB)
/* STAGE.BIG_PARTITION */
#define BIG_LEAST_BYTES GIB
/* STAGE.LOCALITY: so many tasks are wanted on either side. */
#define LOCALITY_LEAST_TASKS 5.0
/* Shorter, an executor waits for the driver, not for a place (own: spark.locality.wait is 3 s, starting a stage takes up to a second on a busy machine). */
#define PLACE_LEAST_WAIT_MS 2000
/* STAGE.SCHED_DELAY */
#define DELAY_TARGET_MS 10.0
/* STAGE.DESER */
#define DESER_LEAST_WARM_TASKS 3.0
/* STAGE.RESULT_LARGE: severe from this share of what Spark allows on; 1 GiB where it is not set. */
#define RESULT_LIMIT_SHARE 0.9
#define RESULT_DEFAULT_LIMIT GIB

struct shuffle_rules {
    const struct rule *fetch, *write, *volume, *few, *single, *tiny, *big, *locality, *delay, *deser;
};

/* What winners fetched from other executors, of all they fetched. NaN: not logged (or no memory for it, which others will meet). */
static double remote_share(const struct facts *facts, uint32_t stage, double read)
{
    struct task_values values;
    double remote = 0;
    bool any = false;
    if (facts_values(facts, stage, 1U << VALUE_SHUFFLE_REMOTE_BYTES, &values, NULL))
        return (double)NAN;
    for (size_t i = 0; i < values.count; i++) {
        const struct attempt *attempt = &facts->attempts[facts->stages[stage].first_attempt + i];
        int64_t bytes = values.of[VALUE_SHUFFLE_REMOTE_BYTES][i];
        if (attempt->kind != WINNER || !attempt->has_metrics || !known(bytes))
            continue;
        any = true;
        remote += (double)bytes;
    }
    task_values_dispose(&values);
    return any && read > 0 ? MIN(1.0, remote / read) : (double)NAN;
}

static void fetch_wait(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double wait = view->account->winner_ms[BUCKET_FETCH], read = view->stats->of[STAT_READ_BYTES].sum;
    if (!(read > 0) || view->occupancy_ms <= 0)
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, read < FETCH_LEAST_BYTES ? MUTE_TINY_DATA : MUTE_NONE, wait / view->occupancy_ms, wait / view->slots);
    if (!finding)
        return;
    finding_arg(findings, "sec", wait, "ms");
    finding_arg(findings, "pct", finding->measure, "share");
    finding_arg(findings, "read", read, "bytes");
    finding_arg(findings, "remote", remote_share(judged->facts, view->position, read), "share");
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->worst, "context");
    formula_share(findings, rule, wait, view->occupancy_ms);
    finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_FETCH, .number = 0});
}

static void shuffle_write(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double write = view->account->winner_ms[BUCKET_SHWRITE];
    if (!(view->stats->of[STAT_WRITE_BYTES].sum > 0) || view->occupancy_ms <= 0)
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, MUTE_NONE, write / view->occupancy_ms, write / view->slots);
    if (!finding)
        return;
    finding_arg(findings, "pct", finding->measure, "share");
    finding_arg(findings, "bytes", view->stats->of[STAT_WRITE_BYTES].sum, "bytes");
    evidence_stage(findings, view, "culprit");
    formula_share(findings, rule, write, view->occupancy_ms);
    finding_change(findings, "W8", BAND_WEAK, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_SHWRITE, .number = 0});
}

static void shuffle_volume(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double write = view->stats->of[STAT_WRITE_BYTES].sum;
    if (!(write > 0))
        return;
    /* Rows that nobody counts in bytes (generated, from a database, from memory) are no input of 0 bytes. */
    enum mute mute = !(view->read_bytes > 0) ? MUTE_NO_METRIC : write < VOLUME_LEAST_BYTES ? MUTE_TINY_DATA : MUTE_NONE;
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, mute == MUTE_NO_METRIC ? (double)NAN : write / view->read_bytes, (double)NAN);
    if (!finding)
        return;
    finding_arg(findings, "w", write, "bytes");
    finding_arg(findings, "i", view->read_bytes, "bytes");
    finding_arg(findings, "ratio", finding->measure, "ratio");
    evidence_stage(findings, view, "culprit");
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "YQ");
}

/* What splitting each task into `f` would save on the stage's slots alone; each piece pays the overhead of a task. */
static double split_saving(const struct stage_view *view, double f)
{
    double v = isnan(view->extra->overhead_p50_ms) ? 0 : view->extra->overhead_p50_ms, longest = view->stats->of[STAT_OCCUPANCY].max;
    double even = (view->occupancy_ms + view->count * (f - 1) * v) / view->slots;
    return MAX(0.0, (isnan(view->stats->base_ms) ? longest : view->stats->base_ms) - MAX(even, MAX(0.0, longest - v) / f + v));
}

/* All tasks of the stage, those that never succeeded too: of a stage that failed few may have. */
static double task_count(const struct stage_view *view)
{
    return MAX(view->count, (double)known_or(view->fact->num_tasks, 0));
}

static double split_factor(const struct stage_view *view)
{
    return ceil(SPLIT_WAVES * view->slots / task_count(view));
}

static const struct rdd_fact *find_rdd(const struct facts *facts, int64_t rdd_id)
{
    size_t low = 0;
    for (size_t high = facts->rdd_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (facts->rdds[i].rdd_id < rdd_id)
            low = i + 1;
        else
            high = i;
    }
    return low < facts->rdd_count && facts->rdds[low].rdd_id == rdd_id ? &facts->rdds[low] : NULL;
}

/* Somebody merged partitions into as few as the stage has tasks, without a shuffle (Spark's CoalescedRDD): what is before that in the stage runs in as few. One that follows a shuffle which it
 * asked for, as repartition() does, merges nothing. */
static bool merges_partitions(const struct facts *facts, const struct stage_fact *stage)
{
    for (size_t i = 0; i < stage->rdd_count; i++) {
        const struct rdd_fact *rdd = find_rdd(facts, stage->rdds[i]);
        if (!rdd || !str_is(rdd->name, "CoalescedRDD") || rdd->num_partitions != stage->num_tasks)
            continue;
        for (size_t p = 0; p < rdd->parent_count; p++) {
            const struct rdd_fact *parent = find_rdd(facts, rdd->parents[p]);
            if (parent && known(parent->num_partitions) && parent->num_partitions > rdd->num_partitions)
                return true;
        }
    }
    return false;
}

/* Where the data of a stage comes from, which says who decides how many tasks it has: who merged partitions, a shuffle of a query or of RDDs, a scan of a query, or the program that made it. */
static const char *fed_by(const struct facts *facts, const struct stage_view *view)
{
    if (merges_partitions(facts, view->fact))
        return "coalesced";
    double input = view->stats->of[STAT_INPUT_BYTES].count ? view->stats->of[STAT_INPUT_BYTES].sum : 0, shuffled = view->read_bytes - input;
    bool query = known(view->fact->sql_execution_id);
    return shuffled > input ? query ? "shuffle" : "rdd_shuffle" : input > 0 && query ? "scan" : "source";
}

/* Spark's own job that lists the folders of a read, one task each, when there are many (HadoopFSUtils). */
static bool lists_files(const struct facts *facts, const struct stage_view *view)
{
    static const char words[] = "Listing leaf files and directories";
    struct str said = view->fact->job != NO_ENTITY ? facts->jobs[view->fact->job].description : STR_NONE;
    return str_known(said) && str_starts(said, words);
}

/* An attempt after the first has only those tasks whose output is missing: that they are few is nobody's choice. */
static bool runs_what_was_missing(const struct facts *facts, const struct stage_view *view)
{
    uint32_t first = view->position;
    while (first > 0 && facts->stages[first - 1].stage_id == view->fact->stage_id)
        first--;
    return first < view->position && known(facts->stages[first].num_tasks) && view->fact->num_tasks < facts->stages[first].num_tasks;
}

static void few_tasks(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view, bool streaming)
{
    if (runs_what_was_missing(judged->facts, view))
        return;
    /* Of a stage that makes its data, or reads what Spark does not count, bytes say nothing: its seconds do. */
    bool is_tiny = view->read_bytes > 0 && MAX(view->read_bytes, view->written_bytes) < FEW_LEAST_BYTES && view->wall_ms < FEW_SURE_WALL_MS;
    enum mute mute = streaming ? MUTE_STREAMING : view->wall_ms < FEW_LEAST_WALL_MS ? MUTE_TINY_STAGE : is_tiny ? MUTE_TINY_DATA : MUTE_NONE;
    double f = split_factor(view), count = task_count(view);
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, count / view->slots, split_saving(view, f));
    if (!finding)
        return;
    finding_arg(findings, "n", count, "count");
    finding_arg(findings, "S", view->slots, "slots");
    finding_arg(findings, "dur", view->wall_ms, "ms");
    finding_arg(findings, "idle", view->account->few_tasks_slot_ms, "ms");
    finding_arg(findings, "ideal", f * count, "count");
    finding_arg(findings, "partitions", f * count, "count");
    double input = view->stats->of[STAT_INPUT_BYTES].count ? view->stats->of[STAT_INPUT_BYTES].sum : 0;
    finding->cause = fed_by(judged->facts, view);
    /* One task of a query behind a shuffle: an operator gathers all rows, and no number of shuffle partitions changes that. */
    if (view->fact->num_tasks == 1 && strcmp(finding->cause, "shuffle") == 0)
        finding->cause = "gathered";
    if (input > 0)
        finding_arg(findings, "split_bytes", MIN(SPLIT_DEFAULT_BYTES, MAX(MIB, ceil(input / (f * count)))), "bytes");
    evidence_stage(findings, view, "culprit");
    FORMULA(findings, NULL, rule->ladder.step[0], "S0", {"slots", view->slots, "count"});
    finding_change(findings, "W6", BAND_NORMAL, (struct change){.kind = CHANGE_SPLIT, .stage = view->position, .number = f});
}

static void single_task(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    if (view->fact->num_tasks != 1 || view->slots < 2 || runs_what_was_missing(judged->facts, view))
        return;
    double f = split_factor(view);
    struct finding *finding = consider_stage(judged, findings, rule, view, MUTE_NONE, view->wall_ms / 1000, split_saving(view, f));
    if (!finding)
        return;
    finding->cause = fed_by(judged->facts, view);
    finding_arg(findings, "dur", view->wall_ms, "ms");
    finding_arg(findings, "S", view->slots, "slots");
    finding_arg(findings, "partitions", f, "count");
    finding_arg_text(findings, "why", view->fact->name);
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->worst, "context");
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "CP");
    finding_change(findings, "W6", BAND_NORMAL, (struct change){.kind = CHANGE_SPLIT, .stage = view->position, .number = f});
}

static void tiny_tasks(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double run_p50 = view->stats->of[STAT_RUN].p50, wait = view->account->sched_wait_slot_ms;
    if (view->count < TINY_LEAST_WAVES * view->slots || !(run_p50 < TINY_TASK_RUN_MS))
        return;
    double overhead = view->stats->of[STAT_DELAY].sum + view->stats->of[STAT_DESER].sum + view->stats->of[STAT_SER].sum + wait;
    double tasks = MIN(view->count, MAX(TINY_LEAST_WAVES * view->slots, ceil(MAX(view->read_bytes, view->written_bytes) / TINY_TARGET_BYTES)));
    double each = isnan(view->extra->overhead_p50_ms) ? 0 : view->extra->overhead_p50_ms + wait / view->count;
    struct finding *finding = consider_stage(judged, findings, rule, view, MUTE_NONE, overhead / MAX(view->occupancy_ms + wait, 1.0), (view->count - tasks) * each / view->slots);
    if (!finding)
        return;
    finding_arg(findings, "n", view->count, "count");
    finding_arg(findings, "med", view->stats->of[STAT_OCCUPANCY].p50, "ms");
    finding_arg(findings, "pct", finding->measure, "share");
    finding_arg(findings, "m", tasks, "count");
    finding_arg(findings, "ideal", tasks, "count");
    finding_arg(findings, "partitions", tasks, "count");
    finding_arg(findings, "split_bytes", MAX(SPLIT_DEFAULT_BYTES, ceil(view->read_bytes / tasks)), "bytes");
    finding->cause = lists_files(judged->facts, view) ? "listing" : fed_by(judged->facts, view);
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->peer, "peer");
    formula_share(findings, rule, overhead, view->occupancy_ms + wait);
    finding_change(findings, "W7", BAND_NORMAL, (struct change){.kind = CHANGE_MERGE, .stage = view->position, .number = tasks, .overhead_ms = view->extra->overhead_p50_ms});
}

static void big_partition(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct facts *facts = judged->facts;
    uint32_t executor = view->extra->worst.executor;
    double slots = executor < facts->executor_count ? (double)MAX(facts->executors[executor].slots, 1) : 1, room = unified_memory_bytes(facts) / slots;
    struct finding *finding =
        consider_stage(judged, findings, rule, view, view->extra->largest_bytes < BIG_LEAST_BYTES ? MUTE_TINY_DATA : MUTE_NONE, view->extra->largest_bytes / room, (double)NAN);
    if (!finding)
        return;
    finding_arg(findings, "x", view->extra->largest_bytes, "bytes");
    finding_arg(findings, "ratio", finding->measure, "ratio");
    evidence_stage(findings, view, "culprit");
    FORMULA(findings, NULL, rule->ladder.step[0], "S1", {"memory", unified_memory_bytes(facts), "bytes"}, {"slots", slots, "count"});
    if (view->stats->of[STAT_DISK_SPILL].sum > 0)
        finding_change(findings, "W6", BAND_NORMAL, (struct change){.kind = CHANGE_SPLIT, .stage = view->position, .number = MAX(2.0, ceil(finding->measure))});
}

/* Free slots while tasks waited, as long as there was one that had a better place: until the last such task was launched. */
static double waited_for_place_ms(const struct facts *facts, const struct stage_view *view)
{
    const struct stage_fact *stage = view->fact;
    for (size_t i = stage->attempt_count; i-- > 0;) {
        const struct attempt_launch *launch = &facts->launches[stage->first_attempt + i];
        if (launch->task_id != view->extra->last_near_task)
            continue;
        double until = (double)known_or(elapsed_known(stage->first_launch_ms, launch->launch_ms), 0);
        return MIN(view->account->sched_wait_slot_ms / view->slots, until);
    }
    return 0;
}

/* Nobody ran away from its data: slots of executors that were there but got a task of the stage late or never, while its tasks waited for a place near what they read. A driver that is slow
 * to start tasks keeps all executors waiting alike, and for less than this. */
static enum err_code kept_for_places_ms(const struct facts *facts, const struct stage_view *view, double *ret_ms, double *ret_slots, struct err *err)
{
    const struct stage_fact *stage = view->fact;
    *ret_ms = *ret_slots = 0;
    if (view->account->sched_wait_slot_ms < PLACE_LEAST_WAIT_MS)
        return ERR_OK;
    CLEANUP(mem_freep) int64_t *first_ms = mem_array(facts->executor_count + 1, sizeof *first_ms);
    int64_t last_ms = stage->first_launch_ms;
    if (!first_ms)
        return err_nomem(err);
    for (size_t e = 0; e < facts->executor_count; e++)
        first_ms[e] = INT64_MAX;
    for (size_t i = stage->first_attempt; i < stage->first_attempt + stage->attempt_count; i++) {
        uint32_t e = facts->attempts[i].executor;
        last_ms = MAX(last_ms, facts->launches[i].launch_ms);
        if (e < facts->executor_count)
            first_ms[e] = MIN(first_ms[e], facts->launches[i].launch_ms);
    }
    for (size_t e = 0; e < facts->executor_count; e++) {
        const struct executor_fact *executor = &facts->executors[e];
        int64_t idle_ms = MIN(MIN(first_ms[e], last_ms), executor->to_ms) - MAX(executor->from_ms, stage->first_launch_ms);
        if (executor->slots <= 0 || idle_ms < PLACE_LEAST_WAIT_MS || (known(stage->profile_id) && executor->profile_id != stage->profile_id))
            continue;
        *ret_ms += (double)idle_ms * (double)executor->slots;
        *ret_slots += (double)executor->slots;
    }
    *ret_ms = MIN(*ret_ms, view->account->sched_wait_slot_ms) / view->slots;
    return ERR_OK;
}

static enum err_code locality(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view, struct err *err)
{
    const struct stage_extra *extra = view->extra;
    double lost = extra->away_ms / view->slots, wait = 0, free_slots = 0;
    if (extra->near_count < 1 || view->wall_ms <= 0)
        return ERR_OK;
    bool nobody_away = extra->away_count < 1, few = extra->near_count < LOCALITY_LEAST_TASKS || (!nobody_away && extra->away_count < LOCALITY_LEAST_TASKS);
    enum err_code rc = nobody_away ? kept_for_places_ms(judged->facts, view, &wait, &free_slots, err) : ERR_OK;
    if (rc || (nobody_away && wait <= 0))
        return rc;
    if (!nobody_away)
        wait = waited_for_place_ms(judged->facts, view);
    enum mute mute = judged->facts->is_local ? MUTE_LOCAL : few ? MUTE_FEW_TASKS : MUTE_NONE;
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, (lost + wait) / view->wall_ms, lost + wait);
    if (!finding)
        return ERR_OK;
    finding->cause = nobody_away ? "wait" : NULL;
    finding_arg(findings, "n", extra->away_count, "count");
    finding_arg(findings, "sec", lost, "ms");
    finding_arg(findings, "wait", wait, "ms");
    finding_arg(findings, "free", nobody_away ? free_slots : (double)NAN, "count");
    if (extra->some_rack != extra->some_any)
        finding_filter(findings, "locality", extra->some_any ? STR_LIT("ANY") : STR_LIT("RACK_LOCAL"));
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &extra->worst, "context");
    formula_share(findings, rule, lost + wait, view->wall_ms);
    if (nobody_away) {
        finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_SCHED_WAIT, .number = DELAY_TARGET_MS});
        return ERR_OK;
    }
    finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_CAP, .stage = view->position});
    finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_DELAY, .number = DELAY_TARGET_MS});
    return ERR_OK;
}

static void sched_delay(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double delay = view->stats->of[STAT_DELAY].sum, wait = view->account->sched_wait_slot_ms, whole = view->occupancy_ms + wait;
    if (whole <= 0)
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, MUTE_NONE, (delay + wait) / whole, MAX(0.0, delay - DELAY_TARGET_MS * view->count) / view->slots);
    if (!finding)
        return;
    finding_arg(findings, "pct", finding->measure, "share");
    finding_arg(findings, "d", delay, "ms");
    finding_arg(findings, "w", wait, "ms");
    finding_arg(findings, "rate", view->wall_ms > 0 ? view->count / view->wall_ms * 1000 : (double)NAN, "count");
    /* Where there are few, their number is not what keeps the driver. */
    finding->cause = view->count <= TINY_LEAST_WAVES * view->slots ? "few" : NULL;
    finding_arg(findings, "partitions", MAX(TINY_LEAST_WAVES * view->slots, 1.0), "count");
    finding_arg(findings, "ideal", MAX(TINY_LEAST_WAVES * view->slots, 1.0), "count");
    evidence_stage(findings, view, "culprit");
    formula_share(findings, rule, delay + wait, whole);
    finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_DELAY, .number = DELAY_TARGET_MS});
}

static void deserialisation(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct stage_extra *extra = view->extra;
    double p25 = view->stats->of[STAT_DESER].p25;
    if (!(extra->warm_ms > 0))
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, extra->warm_count < DESER_LEAST_WARM_TASKS ? MUTE_FEW_TASKS : MUTE_NONE,
                                             extra->warm_serde_ms / extra->warm_ms, MAX(0.0, extra->warm_deser_ms - p25 * extra->warm_count) / view->slots);
    if (!finding)
        return;
    /* Spark sends tasks by Java's serialisation, whatever spark.serializer says. */
    finding->cause = view->stats->of[STAT_DESER].sum >= view->stats->of[STAT_SER].sum ? "tasks" : NULL;
    finding_arg(findings, "pct", finding->measure, "share");
    evidence_stage(findings, view, "culprit");
    formula_share(findings, rule, extra->warm_serde_ms, extra->warm_ms);
    finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_DESER, .number = p25, .warm_only = true});
}

/* ---- jobs and the application */

/* Jobs of streaming queries and of DStream batches, by position: STREAM.* judges them. */
static enum err_code streaming_jobs(const struct facts *facts, bool *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT job_id FROM job WHERE batch_ms IS NOT NULL OR job_group IN (SELECT run_id FROM streaming_query)", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        uint32_t job = facts_job(facts, db_i64(stmt, 0));
        if (job != NO_ENTITY)
            ret[job] = true;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Σ result sizes of all task ends by stage attempt. */
static enum err_code result_sizes(const struct facts *facts, double *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT stage_id, attempt, result_size_bytes FROM stage WHERE result_size_bytes > 0", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        uint32_t stage = facts_stage(facts, db_i64(stmt, 0), db_i64(stmt, 1));
        if (stage != NO_ENTITY)
            ret[stage] = (double)db_i64(stmt, 2);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The attempts of a job's last stage: the one that hands results to the driver. */
static void result_large(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position, const double *sizes)
{
    const struct facts *facts = judged->facts;
    const struct job_fact *job = &facts->jobs[position];
    double bytes = 0, tasks = 0, getres = 0, limit = RESULT_DEFAULT_LIMIT;
    int64_t conf = conf_bytes(facts_conf(facts, "spark.driver.maxResultSize"), 1);
    if (known(conf))
        limit = conf > 0 ? (double)conf : (double)INFINITY; /* 0: unlimited */
    uint32_t last = NO_ENTITY;
    for (size_t i = 0; i < job->stage_count; i++)
        if (last == NO_ENTITY || facts->stages[job->stages[i]].stage_id >= facts->stages[last].stage_id)
            last = job->stages[i];
    if (last == NO_ENTITY)
        return;
    for (size_t i = 0; i < job->stage_count; i++)
        if (facts->stages[job->stages[i]].stage_id == facts->stages[last].stage_id) {
            bytes += sizes[job->stages[i]];
            tasks += (double)facts->stages[job->stages[i]].attempt_count;
            getres += judged->accounts->stages[job->stages[i]].winner_ms[BUCKET_GETRES];
        }
    struct finding *finding = findings_consider(findings, rule, MUTE_NONE, bytes, (double)NAN, SUBJECT_JOB, "%lld", (long long)job->job_id);
    if (!finding)
        return;
    finding->stage = last;
    if (bytes >= RESULT_LIMIT_SHARE * limit)
        finding->at_least = GRADE_SEVERE;
    finding_arg(findings, "j", (double)job->job_id, "id");
    finding_arg(findings, "bytes", bytes, "bytes");
    finding_arg(findings, "n", tasks, "count");
    finding_measure(findings, "getres", getres, "ms");
    finding_measure(findings, "limit", limit, "bytes");
    char key[48];
    snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(&facts->stages[last]));
    struct evidence_cell cells[] = {{"results", bytes, "bytes"}, {"tasks", tasks, "count"}, {"getting_results", getres, "ms"}};
    finding_evidence(findings, SUBJECT_STAGE, str_of(key), "culprit", cells, ARRAY_LENGTH(cells));
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
    finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = last, .part = BUCKET_GETRES, .number = 0});
}

static void skipped(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position)
{
    const struct job_fact *job = &judged->facts->jobs[position];
    struct finding *finding = findings_consider(findings, rule, MUTE_NONE, (double)known_or(job->skipped_stage_count, 0), (double)NAN, SUBJECT_JOB, "%lld", (long long)job->job_id);
    if (!finding)
        return;
    char key[24];
    finding_arg(findings, "n", finding->measure, "count");
    finding_arg(findings, "j", (double)job->job_id, "id");
    snprintf(key, sizeof key, "%lld", (long long)job->job_id);
    finding_evidence(findings, SUBJECT_JOB, str_of(key), "culprit",
                     (struct evidence_cell[]){{"skipped", finding->measure, "count"}, {"stages", (double)job->listed_stage_count, "count"}}, 2);
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
}

static bool reads_what_others_read(const struct stage_fact *stage, const uint32_t *readers)
{
    for (size_t k = 0; stage->attempt_count && k < stage->parent_count; k++)
        if (readers[stage->parents[k]] > 1)
            return true;
    return false;
}

/* How often the application's shuffle data was read. The stages whose output several others read are the evidence; the readers are named. */
static enum err_code reread(const struct judged *judged, struct findings *findings, const struct rule *rule, struct err *err)
{
    const struct facts *facts = judged->facts;
    double read = 0, written = 0;
    for (size_t i = 0; i < facts->executor_count; i++) {
        read += (double)known_or(facts->executors[i].shuffle_read_bytes, 0);
        written += (double)known_or(facts->executors[i].shuffle_write_bytes, 0);
    }
    if (written <= 0)
        return ERR_OK;
    struct finding *finding = findings_add(findings, rule->id, SUBJECT_APP, "-");
    finding->measure = read / written;
    finding->mute = read - written < REREAD_LEAST_BYTES ? MUTE_TINY_DATA : MUTE_NONE;
    finding_arg(findings, "ratio", finding->measure, "ratio");
    CLEANUP(mem_freep) uint32_t *readers = mem_array(facts->stage_count + 1, sizeof *readers);
    if (!readers)
        return err_nomem(err);
    for (size_t i = 0; i < facts->stage_count; i++)
        for (size_t k = 0; facts->stages[i].attempt_count && k < facts->stages[i].parent_count; k++)
            readers[facts->stages[i].parents[k]]++;
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"read", read, "bytes"}, {"written", written, "bytes"}}, 2);
    char list[200];
    size_t len = 0;
    list[0] = '\0';
    for (size_t i = 0; i < facts->stage_count; i++) {
        char key[48];
        bool reads = reads_what_others_read(&facts->stages[i], readers);
        if (readers[i] < 2 && !reads)
            continue;
        snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(&facts->stages[i]));
        if (readers[i] > 1)
            finding_evidence(findings, SUBJECT_STAGE, str_of(key), "context", (struct evidence_cell[]){{"readers", readers[i], "count"}}, 1);
        if (reads && len + sizeof key < sizeof list)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", len ? ", " : "", key);
    }
    finding_arg_text(findings, "list", len ? str_of(list) : STR_NONE);
    FORMULA(findings, NULL, rule->ladder.step[0], "S2", {"read", read, "bytes"}, {"written", written, "bytes"});
    return ERR_OK;
}

enum err_code rules_shuffle(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct shuffle_rules rule = {rule_find(STR_LIT("STAGE.FETCH_WAIT")),    rule_find(STR_LIT("STAGE.SHUFFLE_WRITE")), rule_find(STR_LIT("STAGE.SHUFFLE_VOLUME")),
                                       rule_find(STR_LIT("STAGE.FEW_TASKS")),     rule_find(STR_LIT("STAGE.SINGLE_TASK")),   rule_find(STR_LIT("STAGE.TINY_TASKS")),
                                       rule_find(STR_LIT("STAGE.BIG_PARTITION")), rule_find(STR_LIT("STAGE.LOCALITY")),      rule_find(STR_LIT("STAGE.SCHED_DELAY")),
                                       rule_find(STR_LIT("STAGE.DESER"))};
    const struct rule *large = rule_find(STR_LIT("STAGE.RESULT_LARGE")), *skip = rule_find(STR_LIT("STAGE.SKIPPED"));
    CLEANUP(mem_freep) bool *streaming = mem_array(facts->job_count + 1, sizeof *streaming);
    CLEANUP(mem_freep) double *sizes = mem_array(facts->stage_count + 1, sizeof *sizes);
    if (!streaming || !sizes)
        return err_nomem(err);
    enum err_code rc = streaming_jobs(facts, streaming, err);
    if (rc || (rc = result_sizes(facts, sizes, err)))
        return rc;
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        struct stage_view view;
        if (!stage_view(judged, i, &view))
            continue;
        fetch_wait(judged, findings, rule.fetch, &view);
        shuffle_write(judged, findings, rule.write, &view);
        shuffle_volume(judged, findings, rule.volume, &view);
        few_tasks(judged, findings, rule.few, &view, view.fact->job != NO_ENTITY && streaming[view.fact->job]);
        single_task(judged, findings, rule.single, &view);
        tiny_tasks(judged, findings, rule.tiny, &view);
        big_partition(judged, findings, rule.big, &view);
        if ((rc = locality(judged, findings, rule.locality, &view, err)))
            return rc;
        sched_delay(judged, findings, rule.delay, &view);
        deserialisation(judged, findings, rule.deser, &view);
    }
    for (uint32_t i = 0; i < facts->job_count; i++) {
        result_large(judged, findings, large, i, sizes);
        skipped(judged, findings, skip, i);
    }
    return reread(judged, findings, rule_find(STR_LIT("STAGE.SHUFFLE_REREAD")), err);
}
