/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle slots over time (spec/findings.md 3.5 to 3.8). Two kinds of things change what slots do: begins, ends and launches of attempts, by the million, which change two numbers; and
 * everything else, which is rare. Between two rare changes the numbers of slots, jobs and stages stand still, so a span there is summed up in a tight loop over three sorted arrays
 * of times, and put into running sums once. Windows and costs are differences of these sums at the changes where they begin and end: no matter how many overlap. */
#include <math.h>
#include <string.h>

#include "analysis/account_parts.h"
#include "analysis/sort.h"
#include "base/mem.h"

#define MAX_OPEN ((size_t)1 << 26)

/* Kinds of running sums: what slots did, in the two views. The first ones are shared among the jobs that run, the first of these among their stages. */
enum sum_kind {
    SUM_SCHED_WAIT,
    SUM_FEW_TASKS,
    SUM_TAIL,
    SUM_UNKNOWN,
    STAGE_SUMS,
    SUM_STAGE_GAP = STAGE_SUMS,
    SUM_WAIT_EXEC,
    JOB_SUMS,
    SUM_STARTUP = JOB_SUMS,
    SUM_GAP_SQL,
    SUM_GAP_STREAM,
    SUM_GAP_SERVER,
    SUM_GAP_STARTUP,
    SUM_GAP_SHUTDOWN,
    SUM_GAP_USER,
    SUM_BUSY,
    SUM_COUNT
};
static const enum bucket bucket_of_sum[SUM_BUSY] = {BUCKET_SCHED_WAIT,  BUCKET_FEW_TASKS,    BUCKET_TAIL,    BUCKET_UNKNOWN_WORK, BUCKET_STAGE_GAP,
                                                    BUCKET_WAIT_EXEC,   BUCKET_STARTUP,      BUCKET_GAP_SQL, BUCKET_GAP_STREAM,   BUCKET_GAP_SERVER,
                                                    BUCKET_GAP_STARTUP, BUCKET_GAP_SHUTDOWN, BUCKET_GAP_USER};

struct both {
    struct exact_sum slot, wall; /* slot: of slots that are there */
};

static struct sum_pair {
    double slot, wall;
} both_since(struct both now, struct both then)
{
    return (struct sum_pair){exact_since(now.slot, then.slot), exact_since(now.wall, then.wall)};
}

static void both_add(struct both *to, double slot, double wall)
{
    exact_add(&to->slot, slot);
    exact_add(&to->wall, wall);
}

struct open_stage {
    struct both then[SUM_COUNT];   /* the running sums at its begin */
    struct both share[STAGE_SUMS]; /* its job's `spread` when it joined */
    bool joined;                   /* its job runs */
    uint32_t next_free;
};

struct open_job {
    struct both then[SUM_COUNT];
    struct both share[JOB_SUMS];    /* the shares of a running job at its begin */
    struct both last[STAGE_SUMS];   /* the same when the number of its active stages last changed */
    struct both spread[STAGE_SUMS]; /* what one active stage of it has got since its begin */
    size_t stages;                  /* active ones */
    uint32_t next_free;
};

#define NOT_OPEN UINT32_MAX

/* Begins before ends where times are equal: a window of no length is opened and closed. */
enum rare_kind { RARE_SLOTS, RARE_JOB_BEGIN, RARE_STAGE_BEGIN, RARE_GAP, RARE_STAGE_END = RARE_GAP + 16, RARE_JOB_END };

/* What attempts did between two rare changes, in slot-ms. */
struct span {
    double busy, sched_wait, few_tasks, tail, wait_exec;
};

/* What the sweep goes along. */
struct account_sweep {
    struct gap_state gaps;
    struct sort_item *rare; /* by time; owned */
    size_t rare_count;
    struct span *spans; /* up to each of them; owned */
};

struct sweep {
    struct accounts *accounts;
    const struct facts *facts;
    struct gap_state *gaps;
    const struct slot_curve *curve;

    int64_t now_ms, first_executor_ms;
    int64_t slots, tasks;                   /* S N of 3.5 */
    size_t jobs, jobs_begun, unsure_stages; /* unsure: their completeness is low */
    uint32_t last_job;                      /* that ended */
    bool cut;                               /* the gap at hand ends here */

    struct both sums[SUM_COUNT], shares[JOB_SUMS];
    double frame_wait_exec_ms, frame_not_alloc_ms, frame_empty_ms[SUM_COUNT]; /* of the frame: slots that were not there */
    struct open_stage *open_stages;                                           /* owned */
    struct open_job *open_jobs;                                               /* owned */
    size_t open_stage_count, open_stage_capacity, open_job_count, open_job_capacity, gap_capacity;
    uint32_t free_stage, free_job;
    uint32_t *stage_place, *job_place; /* in the two arrays; NOT_OPEN; owned */
};

/* Ends that are missing make it unsure what slots waited for. Where a stage failed or had not ended there need be none: the tasks were killed later, or ran. */
static bool is_unsure(const struct stage_fact *stage)
{
    return stage->completed_seen && !stage->failed && stage->completeness < 0.99;
}

/* ---- What changes ---- */

static int64_t task_count(const struct facts *facts, const struct stage_fact *stage)
{
    if (known(stage->num_tasks) && stage->num_tasks > 0)
        return MIN(stage->num_tasks, INT32_MAX);
    int64_t count = 0;
    for (size_t i = 0; i < stage->attempt_count; i++)
        count += !facts->attempts[stage->first_attempt + i].again;
    return count;
}

static void add_rare(struct account_sweep *self, int64_t time_ms, int kind, size_t position)
{
    self->rare[self->rare_count++] = (struct sort_item){time_ms, kind, (uint32_t)position};
}

static enum err_code collect_rare(struct account_sweep *self, const struct accounts *accounts, const struct facts *facts, struct err *err)
{
    const struct slot_curve *curve = &accounts->curve;
    size_t room = curve->count + 2 * facts->job_count + 2 * facts->stage_count + self->gaps.change_count;
    self->rare = mem_array(2 * room + 1, sizeof *self->rare);
    if (!self->rare)
        return err_nomem(err);
    for (size_t i = 0; i < curve->count; i++)
        add_rare(self, curve->times_ms[i], RARE_SLOTS, i);
    for (size_t i = 0; i < facts->job_count; i++) {
        add_rare(self, facts->jobs[i].begin_ms, RARE_JOB_BEGIN, i);
        add_rare(self, facts->jobs[i].end_ms, RARE_JOB_END, i);
    }
    for (size_t i = 0; i < facts->stage_count; i++) {
        if (!facts->stages[i].attempt_count)
            continue;
        add_rare(self, facts->stages[i].begin_ms, RARE_STAGE_BEGIN, i);
        add_rare(self, facts->stages[i].end_ms, RARE_STAGE_END, i);
    }
    for (size_t i = 0; i < self->gaps.change_count; i++)
        add_rare(self, self->gaps.changes[i].time_ms, RARE_GAP + (int)self->gaps.changes[i].event, i);
    sort_items(self->rare, self->rare + room, self->rare_count);
    return ERR_OK;
}

enum err_code account_sweep_make(struct accounts *accounts, const struct facts *facts, struct err *err)
{
    struct account_sweep *self = accounts->sweep = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    enum err_code rc = gap_state_make(&self->gaps, facts, err);
    return rc ? rc : collect_rare(self, accounts, facts, err);
}

void account_sweep_free(struct account_sweep *self)
{
    if (!self)
        return;
    gap_state_dispose(&self->gaps);
    mem_free(self->rare);
    mem_free(self->spans);
    mem_free(self);
}

/* ---- Between two rare changes ---- */

struct spanning {
    const struct facts *facts;
    uint32_t *launched;                /* indexes that a stage launched, at most its tasks; owned, as are the times */
    int64_t *begins, *ends, *launches; /* of attempts that occupied a slot; first launches of indexes: sorted */
    size_t begin_count, end_count, launch_count;
    size_t begin, end, launch;                   /* those that are next */
    int64_t now_ms, slots, busy, pending, tasks; /* S B P N of 3.5 */
};

static void collect_attempts(struct spanning *self, size_t position)
{
    const struct facts *facts = self->facts;
    const struct stage_fact *stage = &facts->stages[position];
    int64_t tasks = task_count(facts, stage);
    for (size_t i = 0; i < stage->attempt_count; i++) {
        const struct attempt *attempt = &facts->attempts[stage->first_attempt + i];
        /* Rows come in the order of ends: put there, little is left to sort. */
        self->ends[stage->first_attempt + attempt->row] = attempt_occupancy_ms(attempt) ? attempt->finish_ms : INT64_MAX;
        if (attempt_occupancy_ms(attempt))
            self->begins[self->begin_count++] = attempt->begin_ms;
        if (!attempt->again && self->launched[position] < tasks) {
            self->launches[self->launch_count++] = MAX(facts->launches[stage->first_attempt + i].launch_ms, stage->begin_ms);
            self->launched[position]++;
        }
    }
}

static enum err_code collect_times(struct spanning *self, struct err *err)
{
    size_t count = self->facts->attempt_count;
    self->begins = mem_alloc((count + 1) * sizeof *self->begins);
    self->ends = mem_alloc((count + 1) * sizeof *self->ends);
    self->launches = mem_alloc((count + 1) * sizeof *self->launches);
    self->launched = mem_array(self->facts->stage_count + 1, sizeof *self->launched);
    CLEANUP(mem_freep) int64_t *scratch = mem_alloc((count + 1) * sizeof *scratch);
    if (!self->launched || !self->begins || !self->ends || !self->launches || !scratch)
        return err_nomem(err);
    for (size_t i = 0; i < self->facts->stage_count; i++)
        collect_attempts(self, i);
    sort_times(self->begins, scratch, self->begin_count);
    sort_times(self->ends, scratch, count);
    sort_times(self->launches, scratch, self->launch_count);
    self->end_count = self->begin_count;
    return ERR_OK;
}

/* The next time at which an attempt begins or ends or an index is launched, or `to_ms` if that is earlier; what happens now is done before. */
static int64_t next_change(struct spanning *self, int64_t to_ms)
{
    while (self->end < self->end_count && self->ends[self->end] <= self->now_ms) {
        self->end++;
        self->busy--;
    }
    while (self->begin < self->begin_count && self->begins[self->begin] <= self->now_ms) {
        self->begin++;
        self->busy++;
    }
    while (self->launch < self->launch_count && self->launches[self->launch] <= self->now_ms) {
        self->launch++;
        self->pending--;
    }
    if (self->end < self->end_count)
        to_ms = MIN(to_ms, self->ends[self->end]);
    if (self->begin < self->begin_count)
        to_ms = MIN(to_ms, self->begins[self->begin]);
    if (self->launch < self->launch_count)
        to_ms = MIN(to_ms, self->launches[self->launch]);
    return to_ms;
}

static struct span sum_span(struct spanning *self, int64_t to_ms)
{
    struct span span = {0};
    int64_t slots = self->slots, missing = self->facts->slot_peak - slots, never = MAX(0, slots - self->tasks);
    while (self->now_ms < to_ms) {
        int64_t next_ms = next_change(self, to_ms);
        double length = (double)(next_ms - self->now_ms);
        int64_t idle = slots - self->busy, wait = MIN(idle, self->pending), rest = idle - wait, few = MIN(rest, never);
        span.busy += (double)self->busy * length;
        span.sched_wait += (double)wait * length;
        span.few_tasks += (double)few * length;
        span.tail += (double)(rest - few) * length;
        span.wait_exec += (double)MIN(missing, MAX(0, self->busy + self->pending - slots)) * length;
        self->now_ms = next_ms;
    }
    return span;
}

static void change_numbers(struct spanning *self, const struct slot_curve *curve, const struct sort_item *rare)
{
    if (rare->tie == RARE_SLOTS) {
        self->slots = curve->slots[rare->position];
    } else if (rare->tie == RARE_STAGE_BEGIN || rare->tie == RARE_STAGE_END) {
        int64_t tasks = task_count(self->facts, &self->facts->stages[rare->position]), sign = rare->tie == RARE_STAGE_BEGIN ? 1 : -1;
        self->tasks += sign * tasks;
        self->pending += sign > 0 ? tasks : self->launched[rare->position] - tasks;
    }
}

enum err_code account_spans_make(struct accounts *accounts, const struct facts *facts, struct err *err)
{
    struct account_sweep *sweep = accounts->sweep;
    struct spanning self = {.facts = facts, .now_ms = facts->begin_ms};
    enum err_code rc = collect_times(&self, err);
    if (!rc && !(sweep->spans = mem_array(sweep->rare_count + 1, sizeof *sweep->spans)))
        rc = err_nomem(err);
    for (size_t i = 0; i < sweep->rare_count && !rc; i++) {
        sweep->spans[i] = sum_span(&self, sweep->rare[i].key);
        change_numbers(&self, &accounts->curve, &sweep->rare[i]);
    }
    mem_free(self.launched);
    mem_free(self.begins);
    mem_free(self.ends);
    mem_free(self.launches);
    return rc;
}

/* ---- Sums, in the order of the rare changes ---- */

static void add_idle(struct sweep *self, enum sum_kind kind, double slot, double wall)
{
    both_add(&self->sums[kind], slot, wall);
    if (kind < JOB_SUMS && self->jobs)
        both_add(&self->shares[kind], slot / (double)self->jobs, wall / (double)self->jobs);
}

static enum err_code add_gap(struct sweep *self, int64_t from_ms, const struct driver_gap *class, struct err *err)
{
    struct accounts *accounts = self->accounts;
    struct driver_gap *last = accounts->gap_count ? &accounts->gaps[accounts->gap_count - 1] : NULL;
    bool goes_on = last && !self->cut && last->to_ms == from_ms && last->kind == class->kind && last->sub == class->sub && last->sql_execution_id == class->sql_execution_id;
    self->cut = false;
    if (!goes_on) {
        if (mem_grow((void **)&accounts->gaps, &self->gap_capacity, accounts->gap_count + 1, MAX_OPEN, sizeof *accounts->gaps))
            return err_nomem(err);
        last = &accounts->gaps[accounts->gap_count++];
        *last = *class;
        last->job_before = self->last_job;
    }
    last->to_ms = self->now_ms;
    return ERR_OK;
}

/* No slot is there: the frame's slots, all of which are missing, do what the wall does. */
static void add_empty(struct sweep *self, enum sum_kind kind, double length)
{
    add_idle(self, kind, 0, length);
    self->frame_empty_ms[kind] += (double)self->facts->slot_peak * length;
}

static enum err_code pass_span(struct sweep *self, const struct span *span, int64_t to_ms, struct err *err)
{
    int64_t from_ms = self->now_ms;
    if (from_ms >= to_ms)
        return ERR_OK;
    double length = (double)(to_ms - from_ms), slots = (double)self->slots;
    self->now_ms = to_ms;
    bool started = from_ms >= self->first_executor_ms, is_gap = !self->jobs && started;
    enum sum_kind gap_kind = SUM_COUNT;
    if (is_gap) {
        struct driver_gap class = gap_state_class(self->gaps, from_ms, self->jobs_begun > 0, self->jobs_begun == self->facts->job_count);
        enum err_code rc = add_gap(self, from_ms, &class, err);
        if (rc)
            return rc;
        gap_kind = (enum sum_kind)(SUM_GAP_SQL + (class.kind - BUCKET_GAP_SQL));
    }
    if (self->jobs)
        self->accounts->jobs_ms += length;
    if (!self->slots) {
        add_empty(self, !started ? SUM_STARTUP : is_gap ? gap_kind : SUM_WAIT_EXEC, length);
        return ERR_OK;
    }
    self->frame_wait_exec_ms += span->wait_exec;
    self->frame_not_alloc_ms += ((double)self->facts->slot_peak - slots) * length - span->wait_exec;
    both_add(&self->sums[SUM_BUSY], span->busy, span->busy / slots);
    double idle = span->sched_wait + span->few_tasks + span->tail;
    if (is_gap) {
        add_idle(self, gap_kind, idle, idle / slots);
        self->accounts->idle_gap_ms += idle;
    } else if (!self->tasks) {
        add_idle(self, SUM_STAGE_GAP, idle, idle / slots);
    } else if (self->unsure_stages) {
        add_idle(self, SUM_UNKNOWN, idle, idle / slots);
    } else {
        add_idle(self, SUM_SCHED_WAIT, span->sched_wait, span->sched_wait / slots);
        add_idle(self, SUM_FEW_TASKS, span->few_tasks, span->few_tasks / slots);
        add_idle(self, SUM_TAIL, span->tail, span->tail / slots);
    }
    return ERR_OK;
}

/* ---- Windows and costs ---- */

/* What slots did in a window besides its own attempts, which are in it already. */
static void close_window(const struct sweep *self, struct account *window, const struct both *then, int64_t from_ms, int64_t to_ms)
{
    struct sum_pair busy = both_since(self->sums[SUM_BUSY], then[SUM_BUSY]);
    for (size_t b = 0; b <= BUCKET_LOST; b++) {
        busy.slot -= window->slot_ms[b];
        busy.wall -= window->wall_ms[b];
    }
    window->slot_ms[BUCKET_OTHERS] = fmax(busy.slot, 0);
    window->wall_ms[BUCKET_OTHERS] = fmax(busy.wall, 0);
    for (size_t k = 0; k < SUM_BUSY; k++) {
        struct sum_pair idle = both_since(self->sums[k], then[k]);
        window->slot_ms[bucket_of_sum[k]] = fmax(idle.slot, 0);
        window->wall_ms[bucket_of_sum[k]] = fmax(idle.wall, 0);
    }
    window->slot_total_ms = slot_curve_integral(self->curve, from_ms, to_ms);
    window->wall_total_ms = (double)(to_ms - from_ms);
}

static void close_cost(struct account *cost)
{
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        cost->slot_total_ms += cost->slot_ms[b];
        cost->wall_total_ms += cost->wall_ms[b];
    }
}

static void add_share(struct account *cost, enum sum_kind kind, struct sum_pair share)
{
    cost->slot_ms[bucket_of_sum[kind]] += fmax(share.slot, 0);
    cost->wall_ms[bucket_of_sum[kind]] += fmax(share.wall, 0);
}

/* The number of the job's active stages is about to change. */
static void settle(struct sweep *self, struct open_job *job)
{
    for (size_t k = 0; k < STAGE_SUMS; k++) {
        if (job->stages) {
            struct sum_pair share = both_since(self->shares[k], job->last[k]);
            both_add(&job->spread[k], share.slot / (double)job->stages, share.wall / (double)job->stages);
        }
        job->last[k] = self->shares[k];
    }
}

static void join(struct sweep *self, uint32_t position)
{
    uint32_t job_position = self->facts->stages[position].job;
    if (job_position == NO_ENTITY || self->job_place[job_position] == NOT_OPEN)
        return;
    struct open_stage *stage = &self->open_stages[self->stage_place[position]];
    struct open_job *job = &self->open_jobs[self->job_place[job_position]];
    settle(self, job);
    job->stages++;
    memcpy(stage->share, job->spread, sizeof stage->share);
    stage->joined = true;
}

static void leave(struct sweep *self, uint32_t position)
{
    struct open_stage *stage = &self->open_stages[self->stage_place[position]];
    if (!stage->joined)
        return;
    struct open_job *job = &self->open_jobs[self->job_place[self->facts->stages[position].job]];
    settle(self, job);
    job->stages--;
    stage->joined = false;
    for (size_t k = 0; k < STAGE_SUMS; k++)
        add_share(&self->accounts->stages[position].cost, (enum sum_kind)k, both_since(job->spread[k], stage->share[k]));
}

static enum err_code begin_stage(struct sweep *self, uint32_t position, struct err *err)
{
    const struct stage_fact *stage = &self->facts->stages[position];
    uint32_t place = self->free_stage;
    if (place == NOT_OPEN) {
        if (mem_grow((void **)&self->open_stages, &self->open_stage_capacity, self->open_stage_count + 1, MAX_OPEN, sizeof *self->open_stages))
            return err_nomem(err);
        place = (uint32_t)self->open_stage_count++;
    } else {
        self->free_stage = self->open_stages[place].next_free;
    }
    self->stage_place[position] = place;
    struct open_stage *open = &self->open_stages[place];
    open->joined = false;
    memcpy(open->then, self->sums, sizeof open->then);
    join(self, position);
    self->tasks += task_count(self->facts, stage);
    self->unsure_stages += is_unsure(stage);
    return ERR_OK;
}

static void end_stage(struct sweep *self, uint32_t position)
{
    const struct stage_fact *stage = &self->facts->stages[position];
    struct stage_account *account = &self->accounts->stages[position];
    leave(self, position);
    uint32_t place = self->stage_place[position];
    close_window(self, &account->window, self->open_stages[place].then, stage->begin_ms, stage->end_ms);
    close_cost(&account->cost);
    account->sched_wait_slot_ms = account->cost.slot_ms[BUCKET_SCHED_WAIT];
    account->few_tasks_slot_ms = account->cost.slot_ms[BUCKET_FEW_TASKS];
    account->tail_slot_ms = account->cost.slot_ms[BUCKET_TAIL];
    self->open_stages[place].next_free = self->free_stage;
    self->free_stage = place;
    self->stage_place[position] = NOT_OPEN;
    self->tasks -= task_count(self->facts, stage);
    self->unsure_stages -= is_unsure(stage);
}

static enum err_code begin_job(struct sweep *self, uint32_t position, struct err *err)
{
    uint32_t place = self->free_job;
    if (place == NOT_OPEN) {
        if (mem_grow((void **)&self->open_jobs, &self->open_job_capacity, self->open_job_count + 1, MAX_OPEN, sizeof *self->open_jobs))
            return err_nomem(err);
        place = (uint32_t)self->open_job_count++;
    } else {
        self->free_job = self->open_jobs[place].next_free;
    }
    self->job_place[position] = place;
    struct open_job *open = &self->open_jobs[place];
    memset(open, 0, sizeof *open);
    memcpy(open->then, self->sums, sizeof open->then);
    memcpy(open->share, self->shares, sizeof open->share);
    memcpy(open->last, self->shares, sizeof open->last);
    const struct job_fact *job = &self->facts->jobs[position];
    for (size_t i = 0; i < job->stage_count; i++)
        if (self->stage_place[job->stages[i]] != NOT_OPEN)
            join(self, job->stages[i]);
    self->jobs++;
    self->jobs_begun++;
    for (size_t g = self->accounts->gap_count; g-- > 0 && self->accounts->gaps[g].job_after == NO_ENTITY;)
        self->accounts->gaps[g].job_after = position;
    return ERR_OK;
}

static void end_job(struct sweep *self, uint32_t position)
{
    const struct job_fact *job = &self->facts->jobs[position];
    for (size_t i = 0; i < job->stage_count; i++)
        if (self->stage_place[job->stages[i]] != NOT_OPEN)
            leave(self, job->stages[i]);
    uint32_t place = self->job_place[position];
    struct open_job *open = &self->open_jobs[place];
    struct account *cost = &self->accounts->job_costs[position];
    for (size_t k = 0; k < JOB_SUMS; k++)
        add_share(cost, (enum sum_kind)k, both_since(self->shares[k], open->share[k]));
    close_cost(cost);
    close_window(self, &self->accounts->job_windows[position], open->then, job->begin_ms, job->end_ms);
    open->next_free = self->free_job;
    self->free_job = place;
    self->job_place[position] = NOT_OPEN;
    self->jobs--;
    self->last_job = position;
}

static enum err_code apply(struct sweep *self, const struct sort_item *rare, struct err *err)
{
    switch (rare->tie) {
    case RARE_SLOTS: self->slots = self->curve->slots[rare->position]; return ERR_OK;
    case RARE_JOB_BEGIN: return begin_job(self, rare->position, err);
    case RARE_STAGE_BEGIN: return begin_stage(self, rare->position, err);
    case RARE_STAGE_END: end_stage(self, rare->position); return ERR_OK;
    case RARE_JOB_END: end_job(self, rare->position); return ERR_OK;
    default: {
        const struct gap_change *change = &self->gaps->changes[rare->position];
        gap_state_apply(self->gaps, change);
        self->cut |= gap_event_cuts(change->event);
        return ERR_OK;
    }
    }
}

/* ---- The application ---- */

static void close_application(struct sweep *self)
{
    struct account *app = &self->accounts->app;
    const struct both none = {0};
    for (size_t k = 0; k < SUM_BUSY; k++) {
        struct sum_pair idle = both_since(self->sums[k], none);
        app->slot_ms[bucket_of_sum[k]] += idle.slot + self->frame_empty_ms[k];
        app->wall_ms[bucket_of_sum[k]] += idle.wall;
    }
    app->slot_ms[BUCKET_WAIT_EXEC] += self->frame_wait_exec_ms;
    app->slot_ms[BUCKET_NOT_ALLOC] += fmax(self->frame_not_alloc_ms, 0);
    app->wall_total_ms = (double)(self->facts->end_ms - self->facts->begin_ms);
    app->slot_total_ms = (double)self->facts->slot_peak * app->wall_total_ms;
    self->accounts->allocated_ms = slot_curve_integral(self->curve, self->facts->begin_ms, self->facts->end_ms);
}

static enum err_code run(struct sweep *self, struct err *err)
{
    const struct facts *facts = self->facts;
    self->stage_place = mem_array(facts->stage_count + 1, sizeof *self->stage_place);
    self->job_place = mem_array(facts->job_count + 1, sizeof *self->job_place);
    if (!self->stage_place || !self->job_place)
        return err_nomem(err);
    memset(self->stage_place, 0xff, facts->stage_count * sizeof *self->stage_place);
    memset(self->job_place, 0xff, facts->job_count * sizeof *self->job_place);
    const struct account_sweep *sweep = self->accounts->sweep;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < sweep->rare_count && !rc; i++) {
        if ((rc = pass_span(self, &sweep->spans[i], sweep->rare[i].key, err)) == ERR_OK)
            rc = apply(self, &sweep->rare[i], err);
    }
    if (!rc)
        close_application(self);
    return rc;
}

enum err_code account_idle(struct accounts *self, const struct facts *facts, struct err *err)
{
    const struct slot_curve *curve = &self->curve;
    struct sweep sweep = {.accounts = self,
                          .facts = facts,
                          .curve = curve,
                          .gaps = &self->sweep->gaps,
                          .now_ms = facts->begin_ms,
                          .first_executor_ms = INT64_MAX,
                          .last_job = NO_ENTITY,
                          .free_stage = NOT_OPEN,
                          .free_job = NOT_OPEN};
    for (size_t i = 0; i < curve->count && sweep.first_executor_ms == INT64_MAX; i++)
        if (curve->slots[i] > 0)
            sweep.first_executor_ms = curve->times_ms[i];
    enum err_code rc = run(&sweep, err);
    mem_free(sweep.open_stages);
    mem_free(sweep.open_jobs);
    mem_free(sweep.stage_place);
    mem_free(sweep.job_place);
    return rc;
}
