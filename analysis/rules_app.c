/* SPDX-License-Identifier: Apache-2.0
 *
 * The application and its jobs: waiting, driver, use of slots (spec/findings.md 7.1). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/conf_value.h"
#include "analysis/error_text.h"
#include "analysis/executor_loss.h"
#include "analysis/failed_job.h"
#include "analysis/interactive.h"
#include "analysis/stage_view.h"
#include "base/map.h"
#include "base/mem.h"

/* APP.START_WAIT: W13's τ. */
#define START_TARGET_MS 15000.0
#define WAIT_LEAST_MS 5000.0
/* APP.DRIVER_GAP, APP.SQL_DRIVER: W5's τ, and what counts. */
#define GAP_LEAST_MS 1000
#define GAP_TARGET_MS 1000.0
#define SQL_GAP_LEAST_MS 2000.0
/* The first query of a run loads the optimiser's code: so much planning is no fault of its own (own, as what APP.START_WAIT allows). */
#define SQL_FIRST_PLANNING_MS 15000.0
/* APP.LOW_UTIL: what less than two minutes of a core cost is worth a word and no more (own). Waiting before the first job is APP.START_WAIT's, and most of a short run. */
#define IDLE_LEAST_MS 120000.0
/* APP.OFF_CPU */
#define OFF_CPU_LEAST_RUN_MS 60000.0
/* APP.OVERALLOC: executors that lived shorter say nothing. How many tasks ran at once is looked at in so many pieces of the run: what overlaps within one counts as at once. */
#define ALIVE_LEAST_MS 10000
#define BUSY_PIECES 65536
/* APP.DYN_ALLOC: minExecutors that are held idle for this share of the run. */
#define IDLE_SHARE 0.5
/* What a run may wait for executors before its settings are asked about; what both backlog time-outs are by default. */
#define DYNAMIC_WAIT_SHARE 0.05
#define BACKLOG_MS 1000
/* APP.SCALING is worth saying where the simulator is this good. */
#define SCALING_MOST_ERROR 0.05
#define SCALING_LEAST_SHARE 0.005 /* less of the run is nothing */
#define TASKS_A_SLOT 2.0          /* advice where there are too few tasks: two or three a slot (S0) */
#define SMALLER_PARTITIONS 2.0    /* advice where memory ran out: halves, to begin with */
/* JOB.MANY_SMALL; so many of the small jobs, the first ones, are in its price. */
#define SMALL_JOB_MS 1000
#define SMALL_LEAST_JOBS 100
#define SMALL_PRICED_JOBS 1000
/* JOB.FAILED: of more failed tasks of one stage the further ones are not told apart. */
#define FAILED_TASKS_MAX ((size_t)1 << 20)

/* ---- before the first job, and while executors are missing */

static enum err_code start_wait(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    double startup = judged->accounts->app.wall_ms[BUCKET_STARTUP], before = judged->accounts->app.wall_ms[BUCKET_GAP_STARTUP];
    int64_t first = UNKNOWN;
    bool shell;
    enum err_code rc = app_is_shell(facts->db, &shell, err);
    for (size_t i = 0; i < facts->job_count; i++)
        first = min_known(first, facts->jobs[i].begin_ms);
    if (rc || !known(first))
        return rc;
    /* A job may be submitted before there is an executor: nothing runs until that one comes. */
    double wait = MAX((double)known_or(elapsed_known(facts->begin_ms, first), 0), startup);
    struct finding *finding = findings_add(findings, "APP.START_WAIT", SUBJECT_APP, "-");
    finding->measure = wait / 1000;
    finding->cause = startup >= wait - startup ? "cluster" : "program"; /* which of both kept it longer */
    finding->local_saving_ms = MAX(0.0, startup - START_TARGET_MS);
    if (shell)
        finding->at_most = GRADE_INFO;
    finding_arg(findings, "wait", wait, "ms");
    finding_arg(findings, "a", startup, "ms");
    finding_arg(findings, "b", before > 0 ? before : (double)NAN, "ms");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"startup", startup, "ms"}, {"before_first_job", before, "ms"}}, 2);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
    finding_change(findings, "W13", BAND_NORMAL, (struct change){.kind = CHANGE_STARTUP, .stage = NO_ENTITY, .number = START_TARGET_MS});
    return ERR_OK;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static enum err_code wait_executors(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct account *app = &judged->accounts->app;
    /* The slot view holds all of it: also the times without any slot, at the peak's height. */
    double wait = app->slot_ms[BUCKET_WAIT_EXEC] / (double)MAX(facts->slot_peak, 1);
    if (!facts->attempt_count || judged->wall_ms <= 0)
        return ERR_OK;
    CLEANUP(mem_freep) int64_t *from = mem_array(facts->executor_count + 1, sizeof *from);
    CLEANUP(mem_freep) int64_t *to = mem_array(facts->executor_count + 1, sizeof *to);
    if (!from || !to)
        return err_nomem(err);
    int64_t first_launch = INT64_MAX, peak_ms = facts->begin_ms;
    size_t count = 0, alive = 0, at_first = 0, peak = 0;
    for (size_t i = 0; i < facts->stage_count; i++)
        if (facts->stages[i].attempt_count)
            first_launch = MIN(first_launch, facts->stages[i].first_launch_ms);
    for (size_t i = 0; i < facts->executor_count; i++)
        if (facts->executors[i].slots > 0) {
            from[count] = facts->executors[i].from_ms;
            to[count++] = facts->executors[i].to_ms;
            at_first += facts->executors[i].from_ms <= first_launch && facts->executors[i].to_ms > first_launch;
        }
    qsort(from, count, sizeof *from, compare_times);
    qsort(to, count, sizeof *to, compare_times);
    for (size_t a = 0, b = 0; a < count; a++) {
        for (alive++; b < count && to[b] <= from[a]; b++)
            alive--;
        if (alive > peak) {
            peak = alive;
            peak_ms = from[a];
        }
    }
    struct finding *finding = findings_add(findings, "APP.WAIT_EXECUTORS", SUBJECT_APP, "-");
    finding->measure = wait / (double)judged->wall_ms;
    finding->local_saving_ms = wait;
    finding->mute = wait < WAIT_LEAST_MS ? MUTE_TINY_DATA : MUTE_NONE;
    finding_arg(findings, "sec", wait, "ms");
    finding_arg(findings, "wall", (double)judged->wall_ms, "ms");
    finding_arg(findings, "n0", (double)at_first, "count");
    finding_arg(findings, "n1", (double)peak, "count");
    finding_arg(findings, "ramp", (double)known_or(elapsed_known(first_launch, peak_ms), 0), "ms");
    finding_arg(findings, "initial_executors", (double)peak, "count");
    finding_arg(findings, "max_executors", (double)peak, "count");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit",
                     (struct evidence_cell[]){{"waiting", wait, "ms"}, {"at_first", (double)at_first, "count"}, {"peak", (double)peak, "count"}}, 3);
    formula_share(findings, finding->rule, wait, (double)judged->wall_ms);
    finding_change(findings, "W10", BAND_SLOTS, (struct change){.kind = CHANGE_RAMP, .stage = NO_ENTITY});
    return ERR_OK;
}

/* ---- the driver */

static double length_of(const struct driver_gap *gap)
{
    return (double)known_or(elapsed_known(gap->from_ms, gap->to_ms), 0);
}

static void evidence_gap(const struct facts *facts, struct findings *findings, const struct driver_gap *gap, const char *role)
{
    char key[24];
    const struct job_fact *before = gap->job_before == NO_ENTITY ? NULL : &facts->jobs[gap->job_before], *after = gap->job_after == NO_ENTITY ? NULL : &facts->jobs[gap->job_after];
    snprintf(key, sizeof key, "%lld", before ? (long long)before->job_id : after ? (long long)after->job_id : -1);
    struct evidence_cell cells[] = {{"from", (double)gap->from_ms, "time"},
                                    {"length", length_of(gap), "ms"},
                                    {"job_before", before ? (double)before->job_id : (double)NAN, "job"},
                                    {"job_after", after ? (double)after->job_id : (double)NAN, "job"}};
    finding_evidence(findings, before || after ? SUBJECT_JOB : SUBJECT_APP, before || after ? str_of(key) : STR_LIT("-"), role, cells, ARRAY_LENGTH(cells));
}

static enum err_code driver_gap(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct accounts *accounts = judged->accounts;
    bool shell, server;
    enum err_code rc = app_is_shell(facts->db, &shell, err);
    if (rc || (rc = app_is_server(facts->db, &server, err)))
        return rc;
    size_t *places = arena_zalloc(findings->arena, accounts->gap_count + 1, sizeof *places), count = 0, longest = 0;
    double sum = 0, saving = 0;
    if (!places)
        return err_nomem(err);
    for (size_t i = 0; i < accounts->gap_count; i++) {
        const struct driver_gap *gap = &accounts->gaps[i];
        if ((gap->kind != BUCKET_GAP_USER && gap->kind != BUCKET_GAP_SHUTDOWN) || length_of(gap) < GAP_LEAST_MS)
            continue;
        if (!count || length_of(gap) > length_of(&accounts->gaps[longest]))
            longest = i;
        places[count++] = i;
        sum += length_of(gap);
        saving += length_of(gap) - GAP_TARGET_MS;
    }
    if (judged->wall_ms <= 0 || !facts->job_count)
        return ERR_OK;
    struct finding *finding = findings_add(findings, "APP.DRIVER_GAP", SUBJECT_APP, "-");
    finding->measure = sum / (double)judged->wall_ms;
    finding->local_saving_ms = saving;
    finding->mute = accounts->app.wall_ms[BUCKET_GAP_STREAM] > 0 ? MUTE_STREAMING : MUTE_NONE;
    finding_arg(findings, "slots", (double)facts->slot_peak, "slots");
    finding_arg(findings, "sec", sum, "ms");
    finding_arg(findings, "pct", finding->measure, "share");
    finding_arg(findings, "n", (double)count, "count");
    if (!count) {
        finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"gaps", 0, "ms"}}, 1);
        return ERR_OK;
    }
    const struct driver_gap *gap = &accounts->gaps[longest];
    finding->cause = shell ? "shell" : server ? "server" : gap->job_after == NO_ENTITY ? "at_the_end" : "between_jobs";
    finding_arg(findings, "max", length_of(gap), "ms");
    if (gap->job_before != NO_ENTITY)
        finding_arg(findings, "j1", (double)facts->jobs[gap->job_before].job_id, "id");
    if (gap->job_after != NO_ENTITY)
        finding_arg(findings, "j2", (double)facts->jobs[gap->job_after].job_id, "id");
    uint32_t beside = gap->job_after != NO_ENTITY ? gap->job_after : gap->job_before;
    finding_arg_text(findings, "callsite", beside != NO_ENTITY ? facts->jobs[beside].name : STR_NONE);
    evidence_gap(facts, findings, gap, "culprit");
    for (size_t i = 0; i < count; i++)
        if (places[i] != longest)
            evidence_gap(facts, findings, &accounts->gaps[places[i]], "culprit");
    formula_share(findings, finding->rule, sum, (double)judged->wall_ms);
    finding_change(findings, "W5", BAND_NORMAL, (struct change){.kind = CHANGE_GAPS, .stage = NO_ENTITY, .number = GAP_TARGET_MS, .gaps = places, .gap_count = count});
    return ERR_OK;
}

struct sql_gap {
    int64_t execution_id;
    size_t place;
};

static int by_execution(const void *a, const void *b)
{
    const struct sql_gap *x = a, *y = b;
    return x->execution_id != y->execution_id ? (x->execution_id > y->execution_id) - (x->execution_id < y->execution_id) : (x->place > y->place) - (x->place < y->place);
}

static void sql_driver_of(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct sql_gap *gaps, size_t count, bool is_first)
{
    const struct accounts *accounts = judged->accounts;
    double sum = 0, saving = 0, planning = 0, commit = 0, between = 0;
    bool has_jobs = false;
    for (size_t i = 0; i < count; i++) {
        const struct driver_gap *gap = &accounts->gaps[gaps[i].place];
        double length = length_of(gap);
        sum += length;
        saving += MAX(0.0, length - GAP_TARGET_MS);
        has_jobs |= !gap->sub || !str_is(str_of(gap->sub), "command");
        *(gap->sub && str_is(str_of(gap->sub), "planning") ? &planning : gap->sub && str_is(str_of(gap->sub), "commit") ? &commit : &between) += length;
    }
    enum mute common = mute_of(judged, rule, NO_ENTITY);
    struct finding *finding = findings_consider(findings, rule,
                                                common                   ? common
                                                : sum < SQL_GAP_LEAST_MS ? MUTE_TINY_DATA
                                                                         : MUTE_NONE,
                                                sum / (double)judged->wall_ms, saving, SUBJECT_SQL, "%lld", (long long)gaps->execution_id);
    if (!finding)
        return;
    char key[24];
    size_t *places = arena_zalloc(findings->arena, count, sizeof *places);
    if (!places) {
        findings->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        places[i] = gaps[i].place;
    bool warms_up = is_first && sum - planning < SQL_GAP_LEAST_MS && planning < SQL_FIRST_PLANNING_MS, plans_most = planning >= commit && planning >= between;
    finding->cause = !has_jobs ? "command" : plans_most && warms_up ? "first" : plans_most ? "planning" : commit >= between ? "commit" : "between";
    if (warms_up)
        finding->at_most = GRADE_LOW;
    finding_arg(findings, "id", (double)gaps->execution_id, "id");
    finding_arg(findings, "sec", sum, "ms");
    if (has_jobs) {
        finding_arg(findings, "plan", planning, "ms");
        finding_arg(findings, "commit", commit, "ms");
        finding_arg(findings, "between", between, "ms");
    }
    snprintf(key, sizeof key, "%lld", (long long)gaps->execution_id);
    struct evidence_cell cells[] = {{"planning", planning, "ms"}, {"commit", commit, "ms"}, {"between", between, "ms"}}, alone = {"time", sum, "ms"};
    finding_evidence(findings, SUBJECT_SQL, str_of(key), "culprit", has_jobs ? cells : &alone, has_jobs ? ARRAY_LENGTH(cells) : 1);
    formula_share(findings, rule, sum, (double)judged->wall_ms);
    finding_change(findings, "W5", BAND_NORMAL, (struct change){.kind = CHANGE_GAPS, .stage = NO_ENTITY, .number = GAP_TARGET_MS, .gaps = places, .gap_count = count});
}

static int64_t first_execution(const struct facts *facts)
{
    const struct sql_fact *first = NULL;
    for (size_t i = 0; i < facts->sql_count; i++)
        if (known(facts->sqls[i].begin_ms) && (!first || facts->sqls[i].begin_ms < first->begin_ms))
            first = &facts->sqls[i];
    return first ? first->execution_id : UNKNOWN;
}

static enum err_code sql_driver(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct accounts *accounts = judged->accounts;
    const struct rule *rule = rule_find(STR_LIT("APP.SQL_DRIVER"));
    CLEANUP(mem_freep) struct sql_gap *gaps = mem_array(accounts->gap_count + 1, sizeof *gaps);
    size_t count = 0;
    if (!gaps)
        return err_nomem(err);
    for (size_t i = 0; i < accounts->gap_count; i++)
        if (accounts->gaps[i].kind == BUCKET_GAP_SQL && known(accounts->gaps[i].sql_execution_id))
            gaps[count++] = (struct sql_gap){accounts->gaps[i].sql_execution_id, i};
    int64_t first = first_execution(judged->facts);
    qsort(gaps, count, sizeof *gaps, by_execution);
    for (size_t begin = 0, end; begin < count && judged->wall_ms > 0; begin = end) {
        for (end = begin; end < count && gaps[end].execution_id == gaps[begin].execution_id; end++)
            ;
        sql_driver_of(judged, findings, rule, gaps + begin, end - begin, gaps[begin].execution_id == first);
    }
    return ERR_OK;
}

/* ---- slots and processors */

static double busy_slot_ms(const struct account *app)
{
    double busy = app->slot_ms[BUCKET_LOST];
    for (int b = BUCKET_CPU; b <= BUCKET_NOMETRICS; b++)
        busy += app->slot_ms[b];
    return busy;
}

/* Of what was allocated, what lay in gaps of the driver: the rest. The account's own gaps hold the times without any slot, too. */
static double gap_slot_ms(const struct accounts *accounts, double busy)
{
    static const enum bucket idle[] = {BUCKET_STAGE_GAP, BUCKET_SCHED_WAIT, BUCKET_FEW_TASKS, BUCKET_TAIL, BUCKET_UNKNOWN_WORK};
    double rest = accounts->allocated_ms - busy;
    for (size_t i = 0; i < ARRAY_LENGTH(idle); i++)
        rest -= accounts->app.slot_ms[idle[i]];
    return MAX(rest, 0.0);
}

static enum err_code low_util(const struct judged *judged, struct findings *findings, struct err *err)
{
    bool shell, server;
    const struct account *app = &judged->accounts->app;
    double allocated = judged->accounts->allocated_ms, busy = busy_slot_ms(app);
    enum err_code rc = app_is_shell(judged->facts->db, &shell, err);
    if (rc || (rc = app_is_server(judged->facts->db, &server, err)) || !judged->facts->job_count || allocated <= 0)
        return rc;
    struct finding *finding = findings_add(findings, "APP.LOW_UTIL", SUBJECT_APP, "-");
    finding->measure = MIN(MAX(1 - busy / allocated, 0.0), 1.0);
    double idle = allocated - busy, later = idle - app->slot_ms[BUCKET_GAP_STARTUP];
    finding->mute = mute_of(judged, rule_find(STR_LIT("APP.DRIVER_GAP")), NO_ENTITY); /* seconds of a toy are no waste, and a cut log hides work */
    if (!finding->mute && app->slot_ms[BUCKET_GAP_STREAM] > later / 2)
        finding->mute = MUTE_STREAMING; /* it waits for its next trigger */
    if (later < IDLE_LEAST_MS)
        finding->at_most = GRADE_LOW;
    finding->grade_shift = dynamic_allocation(judged->facts) ? -1 : 0;
    finding_arg(findings, "busy", busy, "ms");
    finding_arg(findings, "alloc", allocated, "ms");
    struct idle_part {
        const char *why; /* in messages: words/why:…, and what to do: do_… */
        double ms;
    } parts[] = {{"driver", gap_slot_ms(judged->accounts, busy)},
                 {"few_tasks", app->slot_ms[BUCKET_FEW_TASKS]},
                 {"tail", app->slot_ms[BUCKET_TAIL]},
                 {"sched_wait", app->slot_ms[BUCKET_SCHED_WAIT]},
                 {"stage_gap", app->slot_ms[BUCKET_STAGE_GAP]}},
      most = parts[0];
    for (size_t i = 1; i < ARRAY_LENGTH(parts); i++)
        if (parts[i].ms > most.ms)
            most = parts[i];
    finding->cause = most.why != parts[0].why ? most.why : shell ? "shell" : server ? "server" : most.why;
    finding_arg(findings, "most", most.ms, "ms");
    finding_arg_text(findings, "why", str_of(most.why));
    finding_arg(findings, "partitions", TASKS_A_SLOT * (double)judged->facts->slot_peak, "count");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit",
                     (struct evidence_cell[]){{"busy", busy, "ms"},
                                              {"allocated", allocated, "ms"},
                                              {"driver", parts[0].ms, "ms"},
                                              {"few_tasks", parts[1].ms, "ms"},
                                              {"tail", parts[2].ms, "ms"},
                                              {"sched_wait", parts[3].ms, "ms"},
                                              {"stage_gap", parts[4].ms, "ms"}},
                     7);
    formula_share(findings, finding->rule, busy, allocated);
    return ERR_OK;
}

static void off_cpu(const struct judged *judged, struct findings *findings)
{
    const struct facts *facts = judged->facts;
    double run = 0, off = 0, cpu = 0;
    for (size_t i = 0; i < facts->stage_count; i++) {
        const struct stage_account *stage = &judged->accounts->stages[i];
        if (facts->stages[i].is_python || !judged->stages[i]->of[STAT_RUN].count)
            continue;
        run += judged->stages[i]->of[STAT_RUN].sum;
        cpu += stage->winner_ms[BUCKET_CPU];
        off += stage->winner_ms[BUCKET_STORAGE_IO] + stage->winner_ms[BUCKET_SPILL_IO] + stage->winner_ms[BUCKET_OTHER];
    }
    if (run <= 0)
        return;
    struct finding *finding = findings_add(findings, "APP.OFF_CPU", SUBJECT_APP, "-");
    finding->measure = facts->has_cpu_time ? off / run : (double)NAN;
    finding->mute = !facts->has_cpu_time ? MUTE_NO_METRIC : run < OFF_CPU_LEAST_RUN_MS ? MUTE_TINY_DATA : MUTE_NONE;
    finding_arg(findings, "cpu", cpu / run, "share");
    finding_arg(findings, "off", off / run, "share");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"run", run, "ms"}, {"cpu", cpu, "ms"}, {"off", off, "ms"}}, 3);
    formula_share(findings, finding->rule, off, run);
}

/* An upper bound of how many attempts ran at once. */
static enum err_code most_at_once(const struct judged *judged, int64_t *ret, struct err *err)
{
    const struct facts *facts = judged->facts;
    CLEANUP(mem_freep) int32_t *step = mem_array(BUSY_PIECES + 2, sizeof *step);
    double pieces_a_ms = MIN(BUSY_PIECES / MAX((double)judged->wall_ms, 1.0), 1.0);
    int64_t now = 0;
    *ret = 0;
    if (!step)
        return err_nomem(err);
    for (size_t i = 0; i < facts->attempt_count; i++) {
        const struct attempt *attempt = &facts->attempts[i];
        if (attempt_occupancy_ms(attempt) <= 0)
            continue;
        double from = (double)(attempt->begin_ms - facts->begin_ms), to = from + (double)attempt_occupancy_ms(attempt) - 1;
        step[(size_t)MIN(MAX(from * pieces_a_ms, 0.0), (double)BUSY_PIECES)]++;
        step[(size_t)MIN(MAX(to * pieces_a_ms, 0.0), (double)BUSY_PIECES) + 1]--;
    }
    for (size_t i = 0; i <= BUSY_PIECES; i++) {
        now += step[i];
        *ret = MAX(*ret, now);
    }
    return ERR_OK;
}

static enum err_code overalloc(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    int64_t at_once = 0;
    enum err_code rc = most_at_once(judged, &at_once, err);
    if (rc)
        return rc;
    size_t count = 0, idle = 0;
    double unused_ms = 0;
    for (size_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (executor->is_driver || executor->to_ms - executor->from_ms < ALIVE_LEAST_MS)
            continue;
        count++;
        idle += !executor->attempt_count;
        if (!executor->attempt_count)
            unused_ms += (double)(executor->to_ms - executor->from_ms) * (double)MAX(executor->slots, 1);
    }
    if (!count || !facts->slot_peak || !facts->job_count || !facts->attempt_count) /* a log that ends before the first task */
        return ERR_OK;
    at_once = MIN(at_once, facts->slot_peak);
    double never = (double)idle / (double)count, spare = 1 - (double)at_once / (double)facts->slot_peak;
    struct finding *finding = findings_add(findings, "APP.OVERALLOC", SUBJECT_APP, "-");
    finding->measure = MAX(never, spare);
    finding->mute = facts->is_local ? MUTE_LOCAL : MUTE_NONE;
    finding->grade_shift = dynamic_allocation(facts) ? -1 : 0;
    finding->cause = idle ? "idle_executors" : "spare_slots";
    finding_arg(findings, "n", idle ? (double)idle : (double)NAN, "count"); /* none: slots were to spare, and it says no more */
    finding_arg(findings, "m", (double)count, "count");
    finding_arg(findings, "busy", (double)at_once, "slots");
    finding_arg(findings, "slots", (double)facts->slot_peak, "slots");
    finding_arg(findings, "partitions", TASKS_A_SLOT * (double)facts->slot_peak, "count");
    finding_arg(findings, "executors", MAX(1.0, ceil((double)count * (1 - finding->measure))), "count");
    finding_measure(findings, "unused_core_hours", unused_ms / 3.6e6, "h");
    for (size_t i = 0; i < facts->executor_count; i++)
        if (!facts->executors[i].is_driver && !facts->executors[i].attempt_count && facts->executors[i].to_ms - facts->executors[i].from_ms >= ALIVE_LEAST_MS)
            finding_evidence(findings, SUBJECT_EXECUTOR, facts->executors[i].id, "culprit",
                             (struct evidence_cell[]){{"alive", (double)(facts->executors[i].to_ms - facts->executors[i].from_ms), "ms"}, {"tasks", 0, "count"}}, 2);
    if (!idle)
        finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit",
                         (struct evidence_cell[]){{"at_once", (double)at_once, "slots"}, {"slots", (double)facts->slot_peak, "slots"}}, 2);
    FORMULA(findings, never >= spare ? NULL : "slots", finding->rule->ladder.step[0], "CP", {"idle", (double)idle, "count"}, {"executors", (double)count, "count"},
            {"spare", (double)(facts->slot_peak - at_once), "count"}, {"slots", (double)facts->slot_peak, "count"});
    return ERR_OK;
}

static void scaling(const struct judged *judged, struct findings *findings)
{
    for (size_t i = 0; i < judged->what_if_count; i++) {
        const struct what_if *twice = &judged->what_ifs[i];
        if (!str_is(str_of(twice->scenario), "W9") || !str_is(str_of(twice->subject), "2"))
            continue;
        double as_observed = (double)MAX(judged->calibration.as_observed_ms, 1), simulated = as_observed + (double)(twice->wall_ms - judged->calibration.observed_ms);
        double saved = MAX(0, as_observed - simulated); /* more slots may take longer (Graham's anomaly): that is no price of anything */
        struct finding *finding = findings_add(findings, "APP.SCALING", SUBJECT_APP, "-");
        finding->measure = simulated / as_observed;
        finding->at_least = fabs(judged->calibration.error) <= SCALING_MOST_ERROR ? GRADE_INFO : GRADE_OK;
        finding_arg(findings, "save", saved >= SCALING_LEAST_SHARE * as_observed ? saved : (double)NAN, "ms");
        finding_arg(findings, "pct", saved / as_observed, "share");
        finding_arg(findings, "tinf", (double)judged->calibration.t_inf_ms, "ms");
        finding_arg(findings, "corehours", judged->accounts->allocated_ms / 3.6e6, "h");
        finding_measure(findings, "t_work", (double)judged->calibration.t_work_ms, "ms");
        finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"as_observed", as_observed, "ms"}, {"twice", simulated, "ms"}}, 2);
        FORMULA(findings, NULL, (double)NAN, "SL", {"simulated", simulated, "ms"}, {"observed", as_observed, "ms"});
    }
}

/* ---- dynamic allocation */

#define PROBLEMS_BYTES 300
struct problems {
    char text[PROBLEMS_BYTES];
    size_t len;
    int count;
};

static void problem(struct problems *self, const char *name)
{
    self->count++;
    if (self->len < sizeof self->text)
        self->len += (size_t)snprintf(self->text + self->len, sizeof self->text - self->len, "%s%s", self->len ? ", " : "", name);
}

/* Executors asked for again after one had gone: what a too short idle time-out makes. */
static int64_t rerequests(const struct facts *facts)
{
    int64_t first_removal = INT64_MAX, count = 0;
    for (size_t i = 0; i < facts->executor_count; i++)
        if (!facts->executors[i].is_driver && facts->executors[i].removed && known(facts->executors[i].remove_ms))
            first_removal = MIN(first_removal, facts->executors[i].remove_ms);
    for (size_t i = 0; i < facts->executor_count; i++)
        count += !facts->executors[i].is_driver && known(facts->executors[i].add_ms) && facts->executors[i].add_ms > first_removal;
    return count;
}

static enum err_code gap_p95(const struct accounts *accounts, double *ret, struct err *err)
{
    CLEANUP(mem_freep) int64_t *lengths = mem_array(accounts->gap_count + 1, sizeof *lengths);
    size_t count = 0;
    *ret = (double)NAN;
    if (!lengths)
        return err_nomem(err);
    for (size_t i = 0; i < accounts->gap_count; i++)
        if (accounts->gaps[i].job_before != NO_ENTITY && accounts->gaps[i].job_after != NO_ENTITY)
            lengths[count++] = (int64_t)length_of(&accounts->gaps[i]);
    qsort(lengths, count, sizeof *lengths, compare_times);
    if (count)
        *ret = (double)lengths[(size_t)(0.95 * (double)(count - 1))];
    return ERR_OK;
}

static enum err_code dyn_alloc(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    if (!dynamic_allocation(facts))
        return ERR_OK;
    struct problems problems = {.len = 0};
    /* Shuffle tracking is on by default since 3.4. */
    bool tracking_default = facts->spark_major > 3 || (facts->spark_major == 3 && facts->spark_minor >= 4);
    if (!conf_true(facts_conf(facts, "spark.shuffle.service.enabled"), false) &&
        !conf_true(facts_conf(facts, "spark.dynamicAllocation.shuffleTracking.enabled"), tracking_default) &&
        !conf_true(facts_conf(facts, "spark.storage.decommission.shuffleBlocks.enabled"), false))
        problem(&problems, "no_shuffle_service");
    int64_t least = conf_count(facts_conf(facts, "spark.dynamicAllocation.minExecutors")), most = conf_count(facts_conf(facts, "spark.dynamicAllocation.maxExecutors"));
    double wait = judged->accounts->app.slot_ms[BUCKET_WAIT_EXEC] / (double)MAX(facts->slot_peak, 1), p95;
    double gaps = 0; /* when nothing ran, and the least there may be was held */
    for (int b = BUCKET_GAP_SQL; b <= BUCKET_GAP_USER; b++)
        gaps += judged->accounts->app.wall_ms[b];
    if (known_or(least, 0) > 1 && gaps >= IDLE_SHARE * (double)judged->wall_ms)
        problem(&problems, "min_idle");
    int64_t demand = 0, each = 1;
    for (size_t i = 0; i < facts->stage_count; i++)
        demand = MAX(demand, (int64_t)facts->stages[i].attempt_count);
    for (size_t i = 0; i < facts->executor_count; i++)
        each = MAX(each, facts->executors[i].slots);
    if (!known(most))
        problem(&problems, "no_max");
    else if (most < demand / each && wait >= DYNAMIC_WAIT_SHARE * (double)judged->wall_ms)
        problem(&problems, "max_too_low");
    int64_t backlog_ms = known_or(conf_duration_ms(facts_conf(facts, "spark.dynamicAllocation.schedulerBacklogTimeout"), 1000), BACKLOG_MS);
    int64_t sustained_ms = known_or(conf_duration_ms(facts_conf(facts, "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout"), 1000), backlog_ms);
    if (MAX(backlog_ms, sustained_ms) > BACKLOG_MS && wait >= DYNAMIC_WAIT_SHARE * (double)judged->wall_ms)
        problem(&problems, "asks_slowly");
    enum err_code rc = gap_p95(judged->accounts, &p95, err);
    double timeout = (double)known_or(conf_duration_ms(facts_conf(facts, "spark.dynamicAllocation.executorIdleTimeout"), 1000), 60000);
    if (timeout < p95 && rerequests(facts) >= 3)
        problem(&problems, "timeout_short");
    struct finding *finding = findings_add(findings, "APP.DYN_ALLOC", SUBJECT_APP, "-");
    finding->measure = problems.count;
    finding_arg_text(findings, "problems", str_of(problems.text));
    finding_evidence(findings, SUBJECT_CONF, STR_LIT("spark.dynamicAllocation.enabled"), "culprit", (struct evidence_cell[]){{"problems", problems.count, "count"}}, 1);
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "DE");
    return rc;
}

/* ---- jobs */

static double longest_task_ms(const struct facts *facts, const struct job_fact *job)
{
    int64_t longest = 0;
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct stage_fact *stage = &facts->stages[job->stages[i]];
        for (size_t k = 0; k < stage->attempt_count; k++)
            longest = MAX(longest, attempt_occupancy_ms(&facts->attempts[stage->first_attempt + k]));
    }
    return (double)longest;
}

static void many_small(const struct judged *judged, struct findings *findings)
{
    const struct facts *facts = judged->facts;
    double lost = 0;
    size_t count = 0;
    if (!facts->job_count || judged->wall_ms <= 0)
        return;
    for (size_t i = 0; i < facts->job_count; i++) {
        int64_t length = known_or(elapsed_known(facts->jobs[i].begin_ms, facts->jobs[i].end_ms), 0);
        if (length >= SMALL_JOB_MS)
            continue;
        count++;
        lost += MAX(0.0, (double)length - longest_task_ms(facts, &facts->jobs[i]));
    }
    struct finding *finding = findings_add(findings, "JOB.MANY_SMALL", SUBJECT_APP, "-");
    finding->measure = lost / (double)judged->wall_ms;
    finding->local_saving_ms = lost;
    finding->mute = count < SMALL_LEAST_JOBS ? MUTE_FEW_TASKS : judged->accounts->app.wall_ms[BUCKET_GAP_STREAM] > 0 ? MUTE_STREAMING : MUTE_NONE;
    finding_arg(findings, "n", (double)count, "count");
    finding_arg(findings, "sec", lost, "ms");
    finding_arg(findings, "wall", (double)judged->wall_ms, "ms");
    finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"small_jobs", (double)count, "count"}, {"starting", lost, "ms"}}, 2);
    formula_share(findings, finding->rule, lost, (double)judged->wall_ms);
    if (count < SMALL_LEAST_JOBS)
        return;
    for (size_t i = 0, priced = 0; i < facts->job_count && priced < SMALL_PRICED_JOBS; i++) {
        const struct job_fact *job = &facts->jobs[i];
        if (known_or(elapsed_known(job->begin_ms, job->end_ms), 0) >= SMALL_JOB_MS)
            continue;
        priced++;
        for (size_t k = 0; k < job->stage_count; k++) {
            finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_PART, .stage = job->stages[k], .part = BUCKET_DELAY, .number = 0});
            finding_change(findings, "W8", BAND_NORMAL, (struct change){.kind = CHANGE_LAG, .stage = job->stages[k]});
        }
    }
}

/* Executors that went while the job ran and before the application's end was logged, though nobody had asked for that; *ret_first: the one that went first. */
static size_t executors_gone(const struct facts *facts, const struct job_fact *job, uint32_t *ret_first)
{
    int64_t end_ms = facts_logged_end_ms(facts);
    size_t count = 0;
    *ret_first = NO_ENTITY;
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (executor->is_driver || !executor->removed || !known(executor->remove_ms) || executor_loss_is_wanted(executor->remove_reason) ||
            executor->remove_ms < job->begin_ms || (known(end_ms) && executor->remove_ms >= end_ms))
            continue;
        count++;
        if (*ret_first == NO_ENTITY || executor->remove_ms < facts->executors[*ret_first].remove_ms)
            *ret_first = i;
    }
    return count;
}

/* Of the failed attempts of a job's failed stages: how many, when the first one ended, and which task failed most often, for that is what a job fails by: its first failed attempt. Others went
 * down beside it, as on an executor that was lost. */
struct failed_attempts {
    const struct attempt *first;
    uint32_t stage;
    double count, stopped;
    int64_t first_ms;
};

static enum err_code failed_attempts_of(const struct facts *facts, const struct job_fact *job, struct failed_attempts *ret, struct err *err)
{
    enum err_code rc = ERR_OK;
    uintptr_t most = 0;
    *ret = (struct failed_attempts){.stage = NO_ENTITY, .first_ms = UNKNOWN};
    for (size_t i = 0; i < job->stage_count && !rc; i++) {
        const struct stage_fact *fact = &facts->stages[job->stages[i]];
        struct imap by_index; /* how often each task failed */
        imap_init(&by_index, FAILED_TASKS_MAX);
        for (size_t k = fact->first_attempt; fact->failed && k < fact->first_attempt + fact->attempt_count; k++) {
            const struct attempt *attempt = &facts->attempts[k];
            ret->stopped += attempt->kind == LOST_CANCELLED || attempt->kind == LOST_UNFINISHED;
            if (!(LOST_FAILURES >> attempt->kind & 1))
                continue;
            ret->count++;
            ret->first_ms = min_known(ret->first_ms, attempt->finish_ms);
            int64_t index = facts->launches[k].index;
            uintptr_t failed = (uintptr_t)imap_get(&by_index, index) + 1;
            if ((failed > 1 || by_index.count < FAILED_TASKS_MAX) && !rc && imap_put(&by_index, index, (void *)failed))
                rc = err_nomem(err);
        }
        for (size_t k = fact->first_attempt; fact->failed && k < fact->first_attempt + fact->attempt_count; k++) {
            const struct attempt *attempt = &facts->attempts[k];
            if (!(LOST_FAILURES >> attempt->kind & 1))
                continue;
            uintptr_t failed = (uintptr_t)imap_get(&by_index, facts->launches[k].index);
            if (!ret->first || failed > most || (failed == most && attempt->finish_ms < ret->first->finish_ms)) {
                ret->first = attempt;
                ret->stage = job->stages[i];
                most = failed;
            }
        }
        imap_dispose(&by_index);
    }
    return rc;
}

static enum err_code job_failed(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t position, double share, bool is_last, struct err *err)
{
    const struct job_fact *job = &judged->facts->jobs[position];
    struct finding *finding = findings_consider(findings, rule, MUTE_NONE, share, is_last ? (double)INT64_MAX : (double)NAN, SUBJECT_JOB, "%lld", (long long)job->job_id);
    if (!finding)
        return ERR_OK;
    const struct facts *facts = judged->facts;
    struct str failure;
    enum err_code rc = facts_text(facts, job->failure_text_id, findings->arena, &failure, err);
    if (rc)
        return rc;
    char key[24], signature[ERROR_SIGNATURE_BYTES], reason[ERROR_SUMMARY_BYTES], origin[ERROR_ORIGIN_BYTES];
    struct failed_attempts failed;
    if ((rc = failed_attempts_of(facts, job, &failed, err)))
        return rc;
    const struct attempt *first = failed.first;
    double attempts = failed.count, stopped = failed.stopped;
    uint32_t stage = failed.stage;
    finding->local_saving_ms = (double)NAN;
    if (is_last)
        finding->at_least = GRADE_SEVERE;
    finding->stage = stage;
    error_signature(failure, signature);
    finding_arg(findings, "id", (double)job->job_id, "id");
    finding_arg(findings, "dur", (double)known_or(elapsed_known(job->begin_ms, job->end_ms), 0), "ms");
    error_summary(failure, reason);
    finding_arg_text(findings, "class", error_class_of(failure));
    finding_arg_text(findings, "reason", str_of(reason));
    error_origin(failure, origin);
    if (origin[0])
        finding_arg_text(findings, "origin", str_of(origin));
    finding_arg_text(findings, "signature", str_of(signature));
    enum error_kind kind = error_kind_of(failure);
    finding->cause = error_is_shutdown(failure) ? "shut_down" : kind == ERROR_OTHER && first && first->kind == LOST_EXECUTOR ? "executor_gone" : error_kind_names[kind];
    uint32_t gone;
    size_t gone_count = error_is_shutdown(failure) ? executors_gone(facts, job, &gone) : 0;
    if (gone_count) {
        finding->cause = "shut_down_lost";
        finding_arg(findings, "lost", (double)gone_count, "count");
        finding_arg_text(findings, "e", facts->executors[gone].id);
        finding_arg(findings, "gone", (double)facts->executors[gone].remove_ms, "time");
        finding_evidence(findings, SUBJECT_EXECUTOR, facts->executors[gone].id, "culprit",
                         (struct evidence_cell[]){{"removed", (double)facts->executors[gone].remove_ms, "time"}}, 1);
    }
    finding_arg_text(findings, "kind", str_of(finding->cause));
    if (first)
        finding_arg(findings, "attempts", attempts, "count");
    if (first) {
        char stage_key[48];
        snprintf(stage_key, sizeof stage_key, STAGE_KEY, STAGE_KEY_OF(&facts->stages[stage]));
        finding_arg_text(findings, "stage", str_of(stage_key));
        if (error_is_oom(error_kind_of(failure)))
            finding_arg(findings, "ideal", SMALLER_PARTITIONS * (double)MAX(known_or(facts->stages[stage].num_tasks, 1), 1), "count");
        finding_arg(findings, "task", (double)attempt_launch(facts, first)->task_id, "id");
        finding_arg(findings, "t", (double)failed.first_ms, "time");
        snprintf(key, sizeof key, "%lld", (long long)attempt_launch(facts, first)->task_id);
        finding_evidence(findings, SUBJECT_TASK, str_of(key), "culprit", (struct evidence_cell[]){{"failed_at", (double)first->finish_ms, "time"}}, 1);
        finding_evidence(findings, SUBJECT_STAGE, str_of(stage_key), "context",
                         (struct evidence_cell[]){{"failed_attempts", attempts, "count"}, {"stopped_attempts", stopped, "count"}}, 2);
        finding_filter(findings, "status", STR_LIT("failed"));
    }
    snprintf(key, sizeof key, "%lld", (long long)job->job_id);
    finding_evidence(findings, SUBJECT_JOB, str_of(key), first ? "context" : "culprit", (struct evidence_cell[]){{"failed_attempts", attempts, "count"}}, first ? 1 : 0);
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "DE");
    return ERR_OK;
}

/* Failed jobs, by position, but for those that were stopped with their streaming query. */
static enum err_code find_failed(const struct facts *facts, bool *ret_failed, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT job_id FROM job WHERE status = 2 AND " STOPPED_WITH_ITS_QUERY, err);
    for (size_t i = 0; i < facts->job_count; i++)
        ret_failed[i] = facts->jobs[i].failed;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        uint32_t job = facts_job(facts, db_i64(stmt, 0));
        if (job != NO_ENTITY)
            ret_failed[job] = false;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code jobs_failed(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct rule *rule = rule_find(STR_LIT("JOB.FAILED"));
    uint32_t last = NO_ENTITY;
    int64_t blamed;
    struct str text;
    size_t failed = 0;
    CLEANUP(mem_freep) bool *fails = mem_array(facts->job_count + 1, sizeof *fails);
    enum err_code rc = fails ? find_failed(facts, fails, err) : err_nomem(err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < facts->job_count; i++) {
        failed += fails[i];
        if (last == NO_ENTITY || facts->jobs[i].end_ms >= facts->jobs[last].end_ms)
            last = i;
    }
    if (!facts->job_count)
        return ERR_OK;
    if (!failed) {
        struct finding *none = findings_add(findings, rule->id, SUBJECT_APP, "-");
        none->measure = 0;
        finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"jobs", (double)facts->job_count, "count"}}, 1);
        return ERR_OK;
    }
    bool app_failed = known(facts->exit_code) && facts->exit_code != 0;
    rc = failed_job(facts->db, findings->arena, &blamed, &text, err);
    for (uint32_t i = 0; i < facts->job_count && !rc; i++)
        if (fails[i])
            rc = job_failed(judged, findings, rule, i, (double)failed / (double)facts->job_count, facts->jobs[i].job_id == blamed && (app_failed || facts->jobs[last].failed), err);
    return rc;
}

enum err_code rules_app(const struct judged *judged, struct findings *findings, struct err *err)
{
    enum err_code rc = start_wait(judged, findings, err);
    if (!rc)
        rc = wait_executors(judged, findings, err);
    if (!rc)
        rc = driver_gap(judged, findings, err);
    if (!rc)
        rc = sql_driver(judged, findings, err);
    if (!rc)
        rc = overalloc(judged, findings, err);
    if (!rc)
        rc = dyn_alloc(judged, findings, err);
    if (!rc)
        rc = low_util(judged, findings, err);
    off_cpu(judged, findings);
    scaling(judged, findings);
    many_small(judged, findings);
    return rc ? rc : jobs_failed(judged, findings, err);
}
