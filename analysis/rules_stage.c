/* SPDX-License-Identifier: Apache-2.0
 *
 * How the tasks of a stage are spread (spec/findings.md 7.2). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stage_view.h"
#include "base/mem.h"

#define KIB 1024.0
#define MIB (1024 * KIB)

/* STAGE.SKEW_DATA */
#define SKEW_LEAST_TASKS 3
#define SKEW_LEAST_BYTES MIB
#define SKEW_LEAST_RECORDS 10000.0
#define CAUSE_SHARE 0.5          /* of the outliers' seconds, warm-up left out */
#define SKEW_UNPRICED_RATIO 10.0 /* worth an info without a price */
/* STAGE.SKEW_WRITE */
#define WRITE_LEAST_BYTES (64 * KIB)
#define WRITE_LOW_BYTES MIB
/* STAGE.STRAGGLER: what the slow tasks read is ordinary below this multiple of the median. */
#define STRAGGLER_READ_RATIO 2.0
/* STAGE.SLOW_HOST */
#define SLOW_HOST_LEAST_RATIO 1.3
#define SLOW_HOST_ABOVE_SHARE 0.7 /* of its tasks take longer than three quarters of the others (5.3 step 1) */
/* STAGE.SLOW_STORAGE */
#define STORAGE_LEAST_TASKS 10.0
/* STAGE.UNEVEN: executors are the reason from this share of the variance on. */
#define UNEVEN_EXECUTORS_SHARE 0.5
/* STAGE.WARMUP: so many stages, those with most of it, are in its price. */
#define WARMUP_PRICED_STAGES 200

struct stage_rules {
    const struct rule *skew, *write, *straggler, *storage, *uneven;
};

static double seconds_but_warmup(const struct outliers *outliers)
{
    return outliers->total_ms - outliers->ms[CAUSE_WARMUP];
}

static bool is_cause(const struct outliers *outliers, double ms)
{
    double all = seconds_but_warmup(outliers);
    return all > 0 && ms >= CAUSE_SHARE * all;
}

static bool counted_in_records(enum stat_column column)
{
    return column == STAT_READ_RECORDS || column == STAT_INPUT_RECORDS;
}

static void say_cause(struct finding *finding, const struct outliers *outliers, enum cause cause, double ms)
{
    double all = seconds_but_warmup(outliers);
    finding->distribution = true;
    finding->cause = cause_names[cause];
    finding->cause_share = all > 0 ? ms / all : (double)NAN;
}

static void skew_of_data(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct outliers *outliers = &view->stats->outliers;
    const struct stage_extra *extra = view->extra;
    if (extra->data_column == STAT_COLUMN_COUNT || !(is_cause(outliers, outliers->ms[CAUSE_DATA]) || extra->big_reader))
        return;
    bool records = counted_in_records(extra->data_column);
    enum mute mute = view->count < SKEW_LEAST_TASKS                                        ? MUTE_FEW_TASKS
                     : extra->data_max < (records ? SKEW_LEAST_RECORDS : SKEW_LEAST_BYTES) ? MUTE_TINY_DATA
                     : outliers->warmup_mutes                                              ? MUTE_WARMUP
                                                                                           : MUTE_NONE;
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, extra->data_ratio, view->stats->rec_spread_ms);
    if (!finding)
        return;
    const char *unit = records ? "records" : "bytes";
    finding->executor = extra->data_task.executor;
    say_cause(finding, outliers, CAUSE_DATA, outliers->ms[CAUSE_DATA]);
    /* The spec's floor is in bytes: what a skew without a price in seconds still says of the data. */
    if (extra->data_ratio >= SKEW_UNPRICED_RATIO && extra->data_task.read_bytes >= SKEW_LEAST_BYTES)
        finding->at_least = GRADE_INFO;
    finding_arg(findings, "t", (double)extra->data_task.task_id, "id");
    finding_arg(findings, "x", extra->data_max, unit);
    /* Of nothing there is no multiple that says anything. */
    finding_arg(findings, "ratio", extra->data_median > 0 ? extra->data_ratio : (double)NAN, "ratio");
    finding_arg(findings, "med", extra->data_median, unit);
    finding_arg(findings, "dur", extra->data_task.duration_ms, "ms");
    finding_arg(findings, "meddur", view->stats->of[STAT_OCCUPANCY].p50, "ms");
    finding_arg(findings, "pct", finding->cause_share, "share");
    finding_arg(findings, "half_of_max", ceil(extra->data_task.read_bytes / 2), "bytes");
    finding_arg(findings, "salt", MIN(MAX(8.0, ceil(extra->data_ratio)), 128.0), "count");
    finding_measure(findings, "rec_cap", view->stats->rec_cap_ms, "ms");
    finding_measure(findings, "rec_spread", view->stats->rec_spread_ms, "ms");
    evidence_task(judged, findings, &extra->data_task, "culprit");
    evidence_task(judged, findings, &extra->peer, "peer");
    evidence_stage(findings, view, "context");
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "S2");
    if (extra->data_task.duration_ms > outliers->cut_ms)
        filter_outliers(findings, view);
    finding_change(findings, "W2", BAND_NORMAL, (struct change){.kind = CHANGE_SPREAD, .stage = view->position, .first_wave_apart = outliers->beside_warmup});
}

static void skew_of_writes(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct stage_extra *extra = view->extra;
    enum mute mute = extra->write_max < WRITE_LEAST_BYTES ? MUTE_TINY_DATA : view->count < SKEW_LEAST_TASKS ? MUTE_FEW_TASKS : MUTE_NONE;
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, extra->write_ratio, (double)NAN);
    if (!finding)
        return;
    finding->distribution = true;
    if (extra->write_max < WRITE_LOW_BYTES)
        finding->at_most = GRADE_INFO;
    finding_arg(findings, "x", extra->write_max, "bytes");
    finding_arg(findings, "ratio", extra->write_ratio, "ratio");
    evidence_stage(findings, view, "culprit");
    FORMULA(findings, NULL, rule->ladder.step[0], "S3", {"max", extra->write_max, "bytes"}, {"median", extra->write_median, "bytes"});
}

static void straggler(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct outliers *outliers = &view->stats->outliers;
    /* Unpacking beyond what warming up takes: nobody else tells of a task that waited for its code (STAGE.DESER looks at warm ones). */
    static const enum cause causes[] = {CAUSE_WAITING, CAUSE_CODE_CPU, CAUSE_DESER, CAUSE_UNEXPLAINED};
    enum cause cause = causes[0];
    double own = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(causes); i++) {
        own += outliers->ms[causes[i]];
        if (outliers->ms[causes[i]] > outliers->ms[cause])
            cause = causes[i];
    }
    if (!view->stats->slow_executor.slow)
        own += outliers->ms[CAUSE_EXECUTOR]; /* its few tasks there take a little longer, too: no slow machine, and no other rule tells of them */
    if (!outliers->count || !is_cause(outliers, own) || view->extra->outlier_read_ratio >= STRAGGLER_READ_RATIO)
        return;
    enum mute mute = view->count < SKEW_LEAST_TASKS ? MUTE_FEW_TASKS : outliers->warmup_mutes ? MUTE_WARMUP : MUTE_NONE;
    const struct distribution *o = &view->stats->of[STAT_OCCUPANCY];
    struct finding *finding = consider_stage(judged, findings, rule, view, mute, o->ratio, view->stats->rec_cap_ms);
    if (!finding)
        return;
    say_cause(finding, outliers, cause, own);
    finding_arg(findings, "t", (double)view->extra->worst.task_id, "id");
    finding_arg(findings, "dur", view->extra->worst.duration_ms, "ms");
    finding_arg(findings, "med", o->p50, "ms");
    finding_arg_text(findings, "sub", str_of(cause_names[cause]));
    finding_arg_text(findings, "exec", executor_name(judged, view->extra->worst.executor));
    finding_arg(findings, "retried", outliers->any_retried ? 1 : 0, "flag");
    finding_measure(findings, "rec_cap", view->stats->rec_cap_ms, "ms");
    evidence_task(judged, findings, &view->extra->worst, "culprit");
    evidence_task(judged, findings, &view->extra->peer, "peer");
    evidence_stage(findings, view, "context");
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "S2");
    filter_outliers(findings, view);
    finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_CAP, .stage = view->position, .first_wave_apart = outliers->beside_warmup});
}

static void slow_storage(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct stage_extra *extra = view->extra;
    if (extra->read_rate_count < 1 || extra->slow_read_busy)
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, extra->read_rate_count < STORAGE_LEAST_TASKS ? MUTE_FEW_TASKS : MUTE_NONE,
                                             extra->read_rate_median / MAX(extra->read_rate_min, 1.0), extra->slow_read_ms / view->slots);
    if (!finding)
        return;
    finding->distribution = true;
    finding_arg(findings, "n", extra->slow_read_count, "count");
    finding_arg(findings, "slow", extra->read_rate_min, "bytes");
    finding_arg(findings, "med", extra->read_rate_median, "bytes");
    evidence_task(judged, findings, &extra->worst, "culprit");
    evidence_task(judged, findings, &extra->peer, "peer");
    FORMULA(findings, NULL, rule->ladder.step[0], "CP", {"median", extra->read_rate_median, "bytes_per_s"}, {"slowest", extra->read_rate_min, "bytes_per_s"});
    finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_CAP, .stage = view->position});
}

static void uneven(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view)
{
    const struct stage_stats *stats = view->stats;
    if (stats->verdict != VERDICT_UNEVEN)
        return;
    struct finding *finding = consider_stage(judged, findings, rule, view, stats->outliers.warmup_mutes ? MUTE_WARMUP : MUTE_NONE, stats->of[STAT_RUN].cv, stats->rec_cap_ms);
    if (!finding)
        return;
    finding->distribution = true;
    finding->cause = stats->eta2 >= UNEVEN_EXECUTORS_SHARE ? "executors" : "partitions";
    finding_arg(findings, "cv", stats->of[STAT_RUN].cv, "ratio");
    finding_arg(findings, "eta", stats->eta2 >= UNEVEN_EXECUTORS_SHARE ? stats->eta2 : 1 - stats->eta2, "share");
    finding_arg_text(findings, "who", str_of(finding->cause));
    evidence_stage(findings, view, "culprit");
    evidence_task(judged, findings, &view->extra->worst, "context");
    FORMULA(findings, NULL, rule->ladder.step[0], "ST", {"sigma", stats->of[STAT_RUN].sigma, "ms"}, {"mean", stats->of[STAT_RUN].mean, "ms"});
    finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_CAP, .stage = view->position});
}

/* ---- slow executors and hosts, over all stages */

struct slowness {
    uint32_t executor, stage;
    double ratio, cost_ms;
};

static int by_executor(const void *a, const void *b)
{
    const struct slowness *x = a, *y = b;
    return x->executor != y->executor ? (x->executor > y->executor) - (x->executor < y->executor) : (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* What an executor's winners of a stage took each; NaN: it ran none. */
static double mean_task_ms(const struct facts *facts, uint32_t stage, uint32_t executor)
{
    const struct stage_fact *fact = &facts->stages[stage];
    double sum = 0, count = 0;
    for (size_t i = 0; i < fact->attempt_count; i++) {
        const struct attempt *attempt = &facts->attempts[fact->first_attempt + i];
        if (attempt->executor != executor || attempt->kind != WINNER)
            continue;
        sum += (double)attempt_occupancy_ms(attempt);
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* What an executor was slow in tells of those beside it on the same machine: *ret_fast is one that was fast there (NO_ENTITY: none). True: some one was, or was elsewhere; it is not the machine. */
static bool others_beside_are_well(const struct facts *facts, const bool *slow, const struct slowness *of, size_t count, uint32_t *ret_fast)
{
    uint32_t executor = of->executor;
    struct str host = facts->executors[executor].host;
    bool well = false;
    *ret_fast = NO_ENTITY;
    for (uint32_t i = 0; i < facts->executor_count && *ret_fast == NO_ENTITY; i++) {
        if (i == executor || facts->executors[i].is_driver || !str_eq(facts->executors[i].host, host))
            continue;
        bool met = false;
        for (size_t k = 0; k < count && *ret_fast == NO_ENTITY; k++) {
            double here = mean_task_ms(facts, of[k].stage, executor), beside = mean_task_ms(facts, of[k].stage, i);
            met |= !isnan(beside);
            if (here >= SLOW_HOST_LEAST_RATIO * beside)
                *ret_fast = i;
        }
        well |= !met && !slow[i];
    }
    return well || *ret_fast != NO_ENTITY;
}

static bool host_has_others(const struct facts *facts, uint32_t executor)
{
    size_t alone = 0, all = 0;
    for (size_t i = 0; i < facts->executor_count; i++)
        if (!facts->executors[i].is_driver) {
            all++;
            alone += str_eq(facts->executors[i].host, facts->executors[executor].host);
        }
    return alone < all; /* a host that carries everything is no slower than another */
}

static void add_slow(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct slowness *of, size_t count, const bool *slow)
{
    const struct facts *facts = judged->facts;
    const struct executor_fact *executor = &facts->executors[of->executor];
    uint32_t fast = NO_ENTITY;
    bool placed = str_known(executor->host) && executor->host.len;
    bool host = placed && !others_beside_are_well(facts, slow, of, count, &fast) && host_has_others(facts, of->executor);
    double ratio = of[count / 2].ratio, cost = 0;
    struct str key = host ? executor->host : executor->id;
    for (size_t i = 0; i < count; i++)
        cost += of[i].cost_ms;
    enum mute common = mute_of(judged, rule, NO_ENTITY);
    struct finding *finding = findings_consider(findings, rule,
                                                common            ? common
                                                : facts->is_local ? MUTE_LOCAL
                                                                  : MUTE_NONE,
                                                ratio, cost, host ? SUBJECT_HOST : SUBJECT_EXECUTOR, "%.*s", (int)MIN(key.len, (size_t)255), key.ptr ? key.ptr : "");
    if (!finding)
        return;
    finding->distribution = true;
    finding->executor = of->executor;
    finding->stage = count == 1 ? of->stage : NO_ENTITY;
    finding->cause = host ? "host" : fast != NO_ENTITY ? "beside" : "executor";
    if (count == 1)
        finding->confidence--; /* one stage alone says so */
    finding_filter(findings, "status", STR_LIT("success"));
    finding_filter(findings, host ? "host" : "executor", key);
    finding_arg_text(findings, "exec", executor->id);
    finding_arg_text(findings, "host", placed ? executor->host : STR_NONE);
    finding_arg_text(findings, "fast", fast != NO_ENTITY ? facts->executors[fast].id : STR_NONE);
    finding_arg(findings, "r", ratio, "ratio");
    finding_arg(findings, "n", (double)count, "count");
    struct evidence_cell cells[] = {{"ratio", ratio, "ratio"}, {"cost", cost, "ms"}, {"stages", (double)count, "count"}};
    finding_evidence(findings, host ? SUBJECT_HOST : SUBJECT_EXECUTOR, key, "culprit", cells, ARRAY_LENGTH(cells));
    for (size_t i = 0; i < count; i++) {
        char stage[48];
        struct evidence_cell row[] = {{"ratio", of[i].ratio, "ratio"}, {"cost", of[i].cost_ms, "ms"}};
        snprintf(stage, sizeof stage, STAGE_KEY, STAGE_KEY_OF(&facts->stages[of[i].stage]));
        finding_evidence(findings, SUBJECT_STAGE, str_of(stage), "context", row, ARRAY_LENGTH(row));
        finding_change(findings, "W3", BAND_NORMAL, (struct change){.kind = CHANGE_HOST, .stage = of[i].stage, .executor = of->executor, .number = of[i].ratio});
        if (!i)
            finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
    }
}

static enum err_code slow_hosts(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct rule *rule = rule_find(STR_LIT("STAGE.SLOW_HOST"));
    CLEANUP(mem_freep) struct slowness *all = mem_array(facts->stage_count + 1, sizeof *all);
    CLEANUP(mem_freep) bool *slow = mem_array(facts->executor_count + 1, sizeof *slow);
    size_t count = 0;
    if (!all || !slow)
        return err_nomem(err);
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        const struct slow_executor *found = &judged->stages[i]->slow_executor;
        struct stage_view view;
        if (found->executor >= facts->executor_count || !(found->ratio >= SLOW_HOST_LEAST_RATIO) || !(found->above_share >= SLOW_HOST_ABOVE_SHARE) ||
            !stage_view(judged, i, &view) || mute_of(judged, rule, i))
            continue;
        all[count++] = (struct slowness){found->executor, i, found->ratio, found->cost_ms};
        slow[found->executor] = true;
    }
    qsort(all, count, sizeof *all, by_executor);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && all[end].executor == all[begin].executor; end++)
            ;
        add_slow(judged, findings, rule, all + begin, end - begin, slow);
    }
    return ERR_OK;
}

/* ---- the first wave */

static int by_warmup(const void *a, const void *b)
{
    const struct slowness *x = a, *y = b;
    return (x->cost_ms < y->cost_ms) - (x->cost_ms > y->cost_ms);
}

static enum err_code warmup(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct rule *rule = rule_find(STR_LIT("STAGE.WARMUP"));
    CLEANUP(mem_freep) struct slowness *of = mem_array(facts->stage_count + 1, sizeof *of);
    double busy = 0, warm = 0;
    size_t count = 0;
    if (!of)
        return err_nomem(err);
    for (uint32_t i = 0; i < facts->stage_count; i++) {
        struct stage_view view;
        if (!stage_view(judged, i, &view))
            continue;
        busy += view.occupancy_ms;
        warm += view.stats->outliers.ms[CAUSE_WARMUP];
        if (view.stats->outliers.warmup_mutes && !mute_of(judged, rule, i))
            of[count++] = (struct slowness){.stage = i, .cost_ms = view.stats->outliers.ms[CAUSE_WARMUP]};
    }
    if (busy <= 0)
        return ERR_OK;
    qsort(of, count, sizeof *of, by_warmup);
    struct finding *finding = findings_add(findings, "STAGE.WARMUP", SUBJECT_APP, "-");
    finding->measure = warm / busy;
    finding->local_saving_ms = warm / (double)MAX(facts->slot_peak, 1);
    finding->cause = cause_names[CAUSE_WARMUP];
    finding_arg(findings, "sec", warm, "ms");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"warmup", warm, "ms"}, {"busy", busy, "ms"}}, 2);
    formula_share(findings, rule, warm, busy);
    for (size_t i = 0; i < count && i < WARMUP_PRICED_STAGES; i++)
        finding_change(findings, "W1", BAND_NORMAL, (struct change){.kind = CHANGE_CAP, .stage = of[i].stage});
    return ERR_OK;
}

enum err_code rules_stage(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct stage_rules rule = {rule_find(STR_LIT("STAGE.SKEW_DATA")), rule_find(STR_LIT("STAGE.SKEW_WRITE")), rule_find(STR_LIT("STAGE.STRAGGLER")),
                                     rule_find(STR_LIT("STAGE.SLOW_STORAGE")), rule_find(STR_LIT("STAGE.UNEVEN"))};
    for (uint32_t i = 0; i < judged->facts->stage_count; i++) {
        struct stage_view view;
        if (!stage_view(judged, i, &view))
            continue;
        skew_of_data(judged, findings, rule.skew, &view);
        skew_of_writes(judged, findings, rule.write, &view);
        straggler(judged, findings, rule.straggler, &view);
        slow_storage(judged, findings, rule.storage, &view);
        uneven(judged, findings, rule.uneven, &view);
    }
    enum err_code rc = slow_hosts(judged, findings, err);
    return rc ? rc : warmup(judged, findings, err);
}
