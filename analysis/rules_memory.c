/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory, garbage collection, spill (spec/findings.md 7.3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/audits.h"
#include "analysis/conf_value.h"
#include "analysis/stage_view.h"
#include "base/mem.h"

#define MIB ((double)BYTES_PER_MIB)
#define GIB (1024 * MIB)

/* STAGE.GC_HIGH: collections that cost less than this of wall time are not worth a word. */
#define GC_LEAST_WALL_MS 500.0
#define GC_LEAST_WARM_TASKS 3.0
/* … unless so much is collected that no starting JVM does it: stages of two tasks, a slot each, are all first wave (spec/findings.md 11.3 prices two of those). */
#define GC_SURE_SHARE 0.2
#define GC_SURE_WALL_MS 1000.0
#define SMALLER_PARTITIONS 2.0 /* advice: halves, to begin with */
/* EXEC.GC_LOW */
#define GC_LOW_LEAST_RUN_MS 600000.0
#define GC_LOW_HEAP_SHARE 0.4
/* STAGE.SPILL */
#define SPILL_LEAST_BYTES (64 * MIB)
#define SPILL_FEW 0.1
#define SPILL_MOST 0.5
#define SPILL_LEAST_R2 0.5
/* EXEC.MEM_OVER: smaller heaps cannot shrink by much. */
#define MEM_OVER_LEAST_HEAP (2 * GIB)
#define MEM_HEADROOM 1.25 /* advice: 1.25 × peak + 300 MiB */
/* DRIVER.MEM: so many executors want a driver of 2 GiB. */
#define DRIVER_MANY_EXECUTORS 50
#define DRIVER_SMALL_BYTES (2 * GIB)
/* EXEC.HOTSPOT [DE] */
#define HOTSPOT_LEAST_EXECUTORS 3
#define HOTSPOT_LEAST_MS 300000.0
#define HOTSPOT_LEAST_BYTES (100 * MIB)
#define HOTSPOT_ALIVE_SHARE 0.8
/* Spark's default overhead: a tenth of the heap, 384 MiB at least. */
#define OVERHEAD_SHARE 0.1
#define OVERHEAD_LEAST_BYTES (384 * MIB)

static void gc_high(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double gc = view->stats->of[STAT_GC].sum;
    bool sure = view->stats->gc_share >= GC_SURE_SHARE && gc / view->slots >= GC_SURE_WALL_MS;
    enum mute mute = gc / view->slots < GC_LEAST_WALL_MS ? MUTE_TINY_DATA : view->extra->warm_count < GC_LEAST_WARM_TASKS && !sure ? MUTE_FEW_TASKS : MUTE_NONE;
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, view->stats->gc_share, view->extra->gc_excess_ms / view->slots);
    if (!finding)
        return;
    double whole = view->stats->of[STAT_RUN].sum + view->stats->of[STAT_DESER].sum;
    finding->cause = judged->audits->caches.count ? "cached" : "not_cached";
    finding_arg(findings, "g", finding->measure, "share");
    finding_arg(findings, "ideal", SMALLER_PARTITIONS * view->count, "count");
    finding_arg(findings, "sec", gc, "ms");
    finding_arg_text(findings, "dist", view->extra->gc_outlier_share >= SPILL_MOST ? STR_LIT("few") : STR_LIT("most"));
    finding_measure(findings, "outlier_share", view->extra->gc_outlier_share, "share");
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->worst, "context");
    formula_share(findings, rule, gc, whole);
    finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_GC, .number = GC_TARGET_SHARE});
}

static void spill(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    double disk = view->stats->of[STAT_DISK_SPILL].sum, data = MAX(MAX(view->read_bytes, view->written_bytes), 1.0), io = view->account->winner_ms[BUCKET_SPILL_IO];
    if (!(disk > 0))
        return;
    /* Of an RDD's stage in Python: there it is Python's own shuffle that spills. A query's is the JVM's. */
    bool in_python = view->fact->is_python && (view->fact->job == NO_ENTITY || !known(judged->facts->jobs[view->fact->job].sql_execution_id));
    /* What tasks that spilled more took longer, where that is seen; else what they waited for neither processor nor network. */
    bool regression = view->extra->spill_r2 >= SPILL_LEAST_R2 && view->extra->spill_slope > 0;
    struct change cure = regression ? (struct change){.kind = CHANGE_SPILL, .stage = view->position, .number = view->extra->spill_slope}
                                    : (struct change){.kind = CHANGE_PART, .stage = view->position, .part = BUCKET_SPILL_IO, .number = 0};
    if (regression)
        io = view->extra->spill_slope * disk;
    bool unseen = in_python && !(io > 0); /* Python's time is told by nobody: no price, which is not one of nothing */
    struct finding *finding = consider_stage(judged, findings, rule, view, disk < SPILL_LEAST_BYTES ? MUTE_TINY_DATA : MUTE_NONE, disk / data, unseen ? (double)NAN : io / view->slots);
    if (!finding)
        return;
    double share = view->extra->spilled_tasks / view->count;
    bool has_cores = known_or(judged->facts->executors[view->extra->worst.executor].cores, 1) > 1;
    double input = view->stats->of[STAT_INPUT_BYTES].count ? view->stats->of[STAT_INPUT_BYTES].sum : 0;
    bool is_shuffled = view->read_bytes - input > input; /* else no number of shuffle partitions makes its tasks smaller */
    finding->cause = share < SPILL_FEW ? "few" : share <= SPILL_MOST ? "some" : in_python ? "python" : !is_shuffled ? "input" : has_cores ? "most_cores" : "most";
    /* Where files of a spill stay in the page cache no time is seen that it cost: still nothing that was meant. */
    if (finding->measure >= rule->ladder.step[1] && disk >= SPILL_LEAST_BYTES)
        finding->at_least = GRADE_INFO;
    finding_arg(findings, "partitions", SMALLER_PARTITIONS * view->count, "count");
    finding_arg(findings, "disk", disk, "bytes");
    finding_arg(findings, "mem", view->stats->of[STAT_MEMORY_SPILL].sum, "bytes");
    finding_arg(findings, "q", finding->measure, "ratio");
    finding_arg(findings, "k", view->extra->spilled_tasks, "count");
    finding_arg(findings, "ideal", SMALLER_PARTITIONS * view->count, "count");
    finding_arg(findings, "n", view->count, "count");
    finding_measure(findings, "outlier_share", view->extra->spill_outlier_share, "share");
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->worst, "context");
    FORMULA(findings, NULL, rule->ladder.step[1], "DE", {"data", data, "bytes"});
    if (regression)
        finding_measure(findings, "r2", view->extra->spill_r2, "ratio");
    if (unseen)
        finding->at_most = GRADE_LOW; /* as everything that has no price though it should */
    else
        finding_change(findings, "W8", BAND_WEAK, cure);
}

/* ---- executors */

static bool runs_tasks(const struct facts *facts, const struct executor_fact *executor)
{
    return !executor->is_driver || facts->is_local;
}

static struct finding *consider_executor(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position, enum mute mute, double measure)
{
    struct str id = judged->facts->executors[position].id;
    struct finding *finding = findings_consider(findings, rule, mute, measure, (double)NAN, SUBJECT_EXECUTOR, "%.*s", (int)MIN(id.len, (size_t)255), id.ptr ? id.ptr : "");
    if (finding) {
        finding->executor = position;
        finding_arg_text(findings, "e", id);
    }
    return finding;
}

static void evidence_executor(const struct judged *judged, struct findings *findings, uint32_t position, const char *role, const struct evidence_cell *cells, size_t count)
{
    finding_evidence(findings, SUBJECT_EXECUTOR, judged->facts->executors[position].id, role, cells, count);
}

static void unknown_peaks(struct findings *findings, const char *rule_id)
{
    findings_add(findings, rule_id, SUBJECT_APP, "-")->mute = MUTE_NO_METRIC;
}

static void gc_long(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position)
{
    const struct executor_fact *executor = &judged->facts->executors[position];
    if (!known(executor->peak_major_gc_ms) || !known(executor->peak_major_gc_count))
        return;
    double mean_ms = (double)executor->peak_major_gc_ms / (double)MAX(executor->peak_major_gc_count, 1);
    struct finding *finding = consider_executor(judged, findings, rule, position, MUTE_NONE, mean_ms / 1000);
    if (!finding)
        return;
    finding_arg(findings, "ms", mean_ms, "ms");
    evidence_executor(judged, findings, position, "culprit",
                      (struct evidence_cell[]){{"time", (double)executor->peak_major_gc_ms, "ms"}, {"collections", (double)executor->peak_major_gc_count, "count"}}, 2);
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "S2");
}

/* What resource managers allow a container (ResourceProfile.calculateOverHeadMemory and its sum): memory outside of the heap and Python's own come on top where they are set. */
static double total_limit(const struct facts *facts, double heap)
{
    int64_t overhead = conf_bytes(facts_conf(facts, "spark.executor.memoryOverhead"), BYTES_PER_MIB),
            python = conf_bytes(facts_conf(facts, "spark.executor.pyspark.memory"), BYTES_PER_MIB);
    int64_t off_heap = conf_true(facts_conf(facts, "spark.memory.offHeap.enabled"), false) ? conf_bytes(facts_conf(facts, "spark.memory.offHeap.size"), 1) : UNKNOWN;
    double factor = conf_number(facts_conf(facts, "spark.executor.memoryOverheadFactor")); /* since 3.3 */
    return heap + (known(overhead) ? (double)overhead : MAX(OVERHEAD_LEAST_BYTES, (factor > 0 ? factor : OVERHEAD_SHARE) * heap)) + (double)known_or(off_heap, 0) +
           (double)known_or(python, 0);
}

static void mem_near(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position)
{
    const struct executor_fact *executor = &judged->facts->executors[position];
    double heap = (double)executor_heap_bytes(judged->facts), limit = total_limit(judged->facts, heap);
    double of_heap = known(executor->peak_heap_bytes) ? (double)executor->peak_heap_bytes / heap : 0,
           of_all = known(executor->peak_rss_bytes) ? (double)executor->peak_rss_bytes / limit : 0;
    if (of_heap > 1)
        return; /* no heap holds more than it has: the setting is not in the log */
    struct finding *finding = consider_executor(judged, findings, rule, position, MUTE_NONE, MAX(of_heap, of_all));
    if (!finding)
        return;
    finding_arg(findings, "use", finding->measure, "share");
    evidence_executor(judged, findings, position, "culprit",
                      (struct evidence_cell[]){{"heap", of_heap * heap, "bytes"}, {"heap_limit", heap, "bytes"}, {"process", of_all * limit, "bytes"}, {"limit", limit, "bytes"}},
                      4);
    FORMULA(findings, NULL, rule->ladder.step[0], "DF", {"used", of_heap * heap, "bytes"}, {"heap", heap, "bytes"}, {"process", of_all * limit, "bytes"},
            {"limit", limit, "bytes"});
}

/* Whether a stage with short memory ran on this executor. */
static bool stage_ran_on(const struct facts *facts, uint32_t stage, uint32_t executor)
{
    const struct stage_fact *fact = &facts->stages[stage];
    for (size_t i = 0; i < fact->attempt_count; i++)
        if (facts->attempts[fact->first_attempt + i].executor == executor)
            return true;
    return false;
}

/* A finding of `rule` about a stage that ran there. */
static bool short_on(const struct judged *judged, const struct findings *findings, const struct rule *rule, uint32_t executor)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->rule == rule && !finding->mute && finding->stage != NO_ENTITY && ladder_grade(&finding->rule->ladder, finding->measure) >= GRADE_INFO &&
            stage_ran_on(judged->facts, finding->stage, executor))
            return true;
    }
    return false;
}

/* Behind STAGE.GC_HIGH and STAGE.SPILL, which raise it. */
static void storage_full(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct rule *gc, const struct rule *spilled, uint32_t position)
{
    const struct executor_fact *executor = &judged->facts->executors[position];
    /* Without metrics (before Spark 3) block updates still say what was cached at the end. */
    double storage = (double)max_known(executor->has_peaks ? executor->peak_storage_bytes : UNKNOWN, executor->held_storage_bytes), unified = unified_memory_bytes(judged->facts);
    bool collects = short_on(judged, findings, gc, position), spills = short_on(judged, findings, spilled, position);
    struct finding *finding = consider_executor(judged, findings, rule, position, MUTE_NONE, storage / unified);
    if (!finding)
        return;
    finding->grade_shift = collects || spills;
    finding_arg(findings, "use", finding->measure, "share");
    if (collects || spills)
        finding_arg_text(findings, "also", !spills ? STR_LIT("gc") : !collects ? STR_LIT("spill") : STR_LIT("both"));
    evidence_executor(judged, findings, position, "culprit", (struct evidence_cell[]){{"storage", storage, "bytes"}, {"unified", unified, "bytes"}}, 2);
    FORMULA(findings, NULL, rule->ladder.step[0], "S0", {"storage", storage, "bytes"}, {"unified", unified, "bytes"});
}

/* Of a stage: results of all its tasks. */
static enum err_code largest_result(const struct facts *facts, double *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    *ret = (double)NAN;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT max(result_size_bytes) FROM stage", err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        *ret = db_f64(stmt, 0);
    db_finalize(stmt);
    return rc;
}

static void driver_memory(const struct judged *judged, struct findings *findings, const struct rule *rule, double largest)
{
    const struct facts *facts = judged->facts;
    double heap = (double)driver_heap_bytes(facts);
    size_t executors = 0;
    bool seen = false;
    for (uint32_t i = 0; i < facts->executor_count; i++)
        executors += !facts->executors[i].is_driver;
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *driver = &facts->executors[i];
        if (!driver->is_driver || !driver->has_peaks || !known(driver->peak_heap_bytes) || driver->peak_heap_bytes <= 0)
            continue;
        if ((double)driver->peak_heap_bytes > heap)
            continue; /* no heap holds more than it has: the setting is not in the log */
        seen = true;
        bool small = executors > DRIVER_MANY_EXECUTORS && heap < DRIVER_SMALL_BYTES;
        struct finding *finding = findings_add(findings, rule->id, SUBJECT_EXECUTOR, "driver");
        finding->executor = i;
        finding->measure = (double)driver->peak_heap_bytes / heap;
        finding->at_least = small ? GRADE_INFO : GRADE_OK;
        finding_arg(findings, "use", finding->measure, "share");
        finding_arg(findings, "mem", heap, "bytes");
        double results = 0;
        for (size_t s = 0; s < facts->stage_count; s++)
            results = MAX(results, judged->accounts->stages[s].winner_ms[BUCKET_GETRES]);
        finding_arg(findings, "res", largest > 0 ? largest : (double)NAN, "bytes");
        finding_measure(findings, "getting_results", results, "ms");
        finding_measure(findings, "executors", (double)executors, "count");
        evidence_executor(judged, findings, i, "culprit", (struct evidence_cell[]){{"heap", (double)driver->peak_heap_bytes, "bytes"}, {"limit", heap, "bytes"}}, 2);
        finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "DF");
    }
    if (!seen)
        unknown_peaks(findings, rule->id);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double work_of(const struct executor_fact *executor, bool bytes)
{
    return bytes ? (double)known_or(executor->input_bytes, 0) + (double)known_or(executor->shuffle_read_bytes, 0) : (double)known_or(executor->task_time_ms, 0);
}

/* The busiest of the executors that were there nearly all the time, by time or by bytes: whichever is further from the median. */
struct hot {
    uint32_t executor;
    size_t count;
    bool bytes, small; /* small: that much work is no hotspot, whatever the others did */
    double most, median;
};

static double hot_ratio(const struct hot *hot)
{
    return hot->most / MAX(hot->median, 1.0);
}

static struct hot hottest(const struct judged *judged, bool bytes, double *work)
{
    const struct facts *facts = judged->facts;
    struct hot hot = {.executor = NO_ENTITY, .bytes = bytes};
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (!runs_tasks(facts, executor) || (double)(executor->to_ms - executor->from_ms) < HOTSPOT_ALIVE_SHARE * (double)judged->wall_ms)
            continue;
        work[hot.count++] = work_of(executor, bytes);
        if (hot.executor == NO_ENTITY || work_of(executor, bytes) > hot.most) {
            hot.executor = i;
            hot.most = work_of(executor, bytes);
        }
    }
    qsort(work, hot.count, sizeof *work, compare_doubles);
    if (hot.count)
        hot.median = (work[(hot.count - 1) / 2] + work[hot.count / 2]) / 2;
    hot.small = hot.most < (bytes ? HOTSPOT_LEAST_BYTES : HOTSPOT_LEAST_MS);
    return hot;
}

static enum err_code hotspot(const struct judged *judged, struct findings *findings, const struct rule *rule, struct err *err)
{
    const struct facts *facts = judged->facts;
    CLEANUP(mem_freep) double *work = mem_array(facts->executor_count + 1, sizeof *work);
    if (!work)
        return err_nomem(err);
    struct hot hot = hottest(judged, false, work), by_bytes = hottest(judged, true, work);
    /* Minutes of work do not make a few bytes more into a hotspot, nor the other way round. */
    if (hot.small != by_bytes.small ? hot.small : hot_ratio(&by_bytes) > hot_ratio(&hot))
        hot = by_bytes;
    if (hot.executor == NO_ENTITY)
        return ERR_OK;
    struct finding *finding = consider_executor(judged, findings, rule, hot.executor,
                                                hot.count < HOTSPOT_LEAST_EXECUTORS ? MUTE_FEW_TASKS
                                                : hot.small                         ? MUTE_TINY_DATA
                                                                                    : MUTE_NONE,
                                                hot_ratio(&hot));
    if (!finding)
        return ERR_OK;
    const char *unit = hot.bytes ? "bytes" : "ms";
    finding_arg(findings, "ratio", finding->measure, "ratio");
    finding_arg_text(findings, "what", hot.bytes ? STR_LIT("bytes") : STR_LIT("time"));
    evidence_executor(judged, findings, hot.executor, "culprit", (struct evidence_cell[]){{hot.bytes ? "bytes" : "time", hot.most, unit}, {"median", hot.median, unit}}, 2);
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "DE");
    return ERR_OK;
}

/* ---- the application's heap as a whole */

struct heap_use {
    double peak_bytes; /* largest of any executor */
    size_t executors, measured;
};

static struct heap_use heap_use(const struct facts *facts)
{
    struct heap_use use = {0};
    for (size_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (!runs_tasks(facts, executor))
            continue;
        use.executors++;
        if (executor->has_peaks && known(executor->peak_heap_bytes) && executor->peak_heap_bytes > 0) {
            use.measured++;
            use.peak_bytes = MAX(use.peak_bytes, (double)executor->peak_heap_bytes);
        }
    }
    return use;
}

/* A collection or spill finding of this grade at least, of the measure alone. */
static bool memory_is_short(const struct findings *findings, const struct rule *gc, const struct rule *spilled)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if ((finding->rule == gc || finding->rule == spilled) && !finding->mute && ladder_grade(&finding->rule->ladder, finding->measure) >= GRADE_INFO)
            return true;
    }
    return false;
}

/* For snippets, which copy texts alone: a bare number of spark.executor.memory counts MiB. */
static void arg_memory(struct findings *findings, const struct facts *facts, double bytes)
{
    char text[32];
    int64_t cores = UNKNOWN;
    snprintf(text, sizeof text, "%.0fm", ceil(bytes / MIB));
    finding_arg_text(findings, "executor_memory", str_of(text));
    for (size_t i = 0; i < facts->executor_count; i++)
        if (!facts->executors[i].is_driver && facts->executors[i].slots)
            cores = max_known(cores, facts->executors[i].cores);
    if (known(cores))
        finding_arg(findings, "executor_cores", (double)cores, "count");
}

static void heap_too_large(const struct judged *judged, struct findings *findings, const struct rule *gc, const struct rule *spilled)
{
    const struct facts *facts = judged->facts;
    struct heap_use use = heap_use(facts);
    double heap = (double)executor_heap_bytes(facts), collected = 0, whole = 0, run = 0;
    if (!use.measured || use.peak_bytes > heap) {
        unknown_peaks(findings, "EXEC.MEM_OVER");
        unknown_peaks(findings, "EXEC.GC_LOW");
        return;
    }
    for (size_t i = 0; i < facts->stage_count; i++) {
        const struct stage_stats *stats = judged->stages[i];
        if (!stats->of[STAT_RUN].count)
            continue;
        collected += stats->of[STAT_GC].sum;
        run += stats->of[STAT_RUN].sum;
        whole += stats->of[STAT_RUN].sum + stats->of[STAT_DESER].sum;
    }
    bool is_short = memory_is_short(findings, gc, spilled);
    struct evidence_cell cells[] = {{"peak", use.peak_bytes, "bytes"}, {"heap", heap, "bytes"}, {"executors_in_all", (double)use.executors, "count"}};

    struct finding *over = findings_add(findings, "EXEC.MEM_OVER", SUBJECT_APP, "-");
    double wasted = 0;
    over->measure = MAX(0.0, 1 - use.peak_bytes / heap);
    over->mute = heap < MEM_OVER_LEAST_HEAP ? MUTE_TINY_DATA : MUTE_NONE;
    over->grade_shift = dynamic_allocation(facts) ? -1 : 0;
    for (size_t i = 0; i < facts->executor_count; i++)
        if (runs_tasks(facts, &facts->executors[i]))
            wasted += heap / GIB * over->measure * (double)(facts->executors[i].to_ms - facts->executors[i].from_ms) / 3.6e6;
    finding_arg(findings, "use", MIN(use.peak_bytes / heap, 1.0), "share");
    finding_arg(findings, "heap", heap, "bytes");
    finding_arg(findings, "ask", MEM_HEADROOM * use.peak_bytes + 300 * MIB, "bytes");
    arg_memory(findings, facts, MEM_HEADROOM * use.peak_bytes + 300 * MIB);
    finding_measure(findings, "wasted", wasted, "GiB·h");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", cells, ARRAY_LENGTH(cells));
    FORMULA(findings, NULL, over->rule->ladder.step[0], "DF", {"peak", use.peak_bytes, "bytes"});

    struct finding *low = findings_add(findings, "EXEC.GC_LOW", SUBJECT_APP, "-");
    low->measure = whole > 0 ? collected / whole : (double)NAN;
    /* Below its thresholds unless the heap is mostly empty too: both belong to the rule. */
    low->mute = run < GC_LOW_LEAST_RUN_MS || is_short || use.peak_bytes >= GC_LOW_HEAP_SHARE * heap ? MUTE_TINY_DATA : MUTE_NONE;
    finding_arg(findings, "g", low->measure, "share");
    finding_arg(findings, "use", use.peak_bytes / heap, "share");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", cells, ARRAY_LENGTH(cells));
    formula_share(findings, low->rule, collected, whole);
}

enum err_code rules_memory(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct rule *gc = rule_find(STR_LIT("STAGE.GC_HIGH")), *spilled = rule_find(STR_LIT("STAGE.SPILL")), *full_gc = rule_find(STR_LIT("EXEC.GC_LONG")),
                      *near = rule_find(STR_LIT("EXEC.MEM_NEAR")), *full = rule_find(STR_LIT("EXEC.STORAGE_FULL"));
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        struct stage_view view;
        if (!stage_view(judged, i, &view))
            continue;
        gc_high(judged, findings, gc, &view);
        spill(judged, findings, spilled, &view);
    }
    bool measured = false, stored = false;
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (!runs_tasks(facts, executor))
            continue;
        if (executor->has_peaks) {
            measured = true;
            gc_long(judged, findings, full_gc, i);
            mem_near(judged, findings, near, i);
        }
        if ((executor->has_peaks && known(executor->peak_storage_bytes)) || known(executor->held_storage_bytes)) {
            stored = true;
            storage_full(judged, findings, full, gc, spilled, i);
        }
    }
    if (!measured) {
        unknown_peaks(findings, full_gc->id);
        unknown_peaks(findings, near->id);
    }
    if (!stored)
        unknown_peaks(findings, full->id);
    heap_too_large(judged, findings, gc, spilled);
    double largest;
    enum err_code rc = largest_result(facts, &largest, err);
    if (rc)
        return rc;
    driver_memory(judged, findings, rule_find(STR_LIT("DRIVER.MEM")), largest);
    return hotspot(judged, findings, rule_find(STR_LIT("EXEC.HOTSPOT")), err);
}
