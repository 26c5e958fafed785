/* SPDX-License-Identifier: Apache-2.0
 *
 * The observed critical chain (spec/findings.md 6.1): from the end of the application back to its begin, along what was waited for. */
#include <stdlib.h>
#include <string.h>

#include "analysis/simulate.h"
#include "base/attributes.h"
#include "base/mem.h"

/* Which stage kept slots busy while another waited is looked up for so many (stage, wait) pairs; a log made to have more leaves behind_stage unknown. */
#define BEHIND_PAIRS ((size_t)50000000)

struct walk {
    const struct facts *facts;
    const struct accounts *accounts;
    struct chain *chain;
    size_t capacity;
    int64_t now_ms;             /* everything after is told */
    int64_t *end_ms, *begin_ms; /* by stage: finish of its last winner, or where all failed of its last attempt, and its launch; UNKNOWN: no attempt */
    size_t *last;               /* by stage: that attempt */
    bool *stage_used, *job_used;
    uint32_t *by_end; /* jobs, latest end first, then larger id */
    size_t next_by_end;
    uint32_t *running; /* heap of unused jobs that end after now, by (begin, id) */
    size_t running_count;
    struct err *err;
};

/* Goes back to `from_ms`; nothing is written where no time passes. The walk goes backwards, and so do the segments until it is over. */
static enum err_code back_to(struct walk *self, int64_t from_ms, struct chain_segment segment)
{
    from_ms = MAX(from_ms, self->facts->begin_ms);
    if (from_ms >= self->now_ms)
        return ERR_OK;
    struct chain *chain = self->chain;
    if (mem_grow((void **)&chain->segments, &self->capacity, chain->count + 1, SIZE_MAX / sizeof segment, sizeof segment))
        return err_nomem(self->err);
    segment.from_ms = from_ms;
    segment.to_ms = self->now_ms;
    chain->segments[chain->count++] = segment;
    self->now_ms = from_ms;
    return ERR_OK;
}

static struct chain_segment segment_of(const char *label, uint32_t job, uint32_t stage)
{
    return (struct chain_segment){.label = label, .job = job, .stage = stage, .behind_stage = NO_ENTITY, .attempt = SIZE_MAX};
}

/* --- jobs --- */

static bool begins_before(const struct walk *self, uint32_t a, uint32_t b)
{
    int64_t x = self->facts->jobs[a].begin_ms, y = self->facts->jobs[b].begin_ms;
    return x != y ? x < y : a < b;
}

static void running_add(struct walk *self, uint32_t job)
{
    size_t i = self->running_count++;
    for (; i > 0 && begins_before(self, job, self->running[(i - 1) / 2]); i = (i - 1) / 2)
        self->running[i] = self->running[(i - 1) / 2];
    self->running[i] = job;
}

static void running_drop_first(struct walk *self)
{
    uint32_t last = self->running[--self->running_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < self->running_count; i = child) {
        child += child + 1 < self->running_count && begins_before(self, self->running[child + 1], self->running[child]);
        if (!begins_before(self, self->running[child], last))
            break;
        self->running[i] = self->running[child];
    }
    self->running[i] = last;
}

/* The unused job that runs now (begin < now < end) and began first; NO_ENTITY. */
static uint32_t running_job(struct walk *self)
{
    const struct job_fact *jobs = self->facts->jobs;
    for (; self->next_by_end < self->facts->job_count && jobs[self->by_end[self->next_by_end]].end_ms > self->now_ms; self->next_by_end++)
        running_add(self, self->by_end[self->next_by_end]);
    while (self->running_count && self->job_used[self->running[0]])
        running_drop_first(self);
    return self->running_count && jobs[self->running[0]].begin_ms < self->now_ms ? self->running[0] : NO_ENTITY;
}

/* The unused job that was over by now, and last; NO_ENTITY. */
static uint32_t job_before(struct walk *self)
{
    const struct job_fact *jobs = self->facts->jobs;
    size_t i = self->next_by_end;
    while (i < self->facts->job_count && (self->job_used[self->by_end[i]] || jobs[self->by_end[i]].end_ms > self->now_ms)) {
        if (jobs[self->by_end[i]].end_ms > self->now_ms && !self->job_used[self->by_end[i]])
            running_add(self, self->by_end[i]);
        i++;
    }
    self->next_by_end = i;
    return i < self->facts->job_count ? self->by_end[i] : NO_ENTITY;
}

/* The driver between jobs, with its gaps as the account has them. */
static enum err_code gap_back_to(struct walk *self, int64_t from_ms)
{
    const struct accounts *accounts = self->accounts;
    size_t low = 0, high = accounts ? accounts->gap_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (accounts->gaps[middle].from_ms < self->now_ms)
            low = middle + 1;
        else
            high = middle;
    }
    enum err_code rc = ERR_OK;
    struct chain_segment segment = segment_of("gap", NO_ENTITY, NO_ENTITY);
    for (; low > 0 && self->now_ms > from_ms && accounts->gaps[low - 1].to_ms > from_ms && !rc; low--) {
        const struct driver_gap *gap = &accounts->gaps[low - 1];
        segment.gap = gap->kind;
        rc = back_to(self, gap->from_ms > from_ms ? gap->from_ms : from_ms, segment);
    }
    segment.gap = BUCKET_GAP_USER;
    return rc ? rc : back_to(self, from_ms, segment);
}

/* --- stages --- */

/* Of a stage's own time: its last task, what was before it in the queue, and what it waited for before its first launch. That wait gets its name when all are known. */
static enum err_code stage_waits(struct walk *self, uint32_t stage)
{
    const struct stage_fact *of = &self->facts->stages[stage];
    return known(of->submission_ms) ? back_to(self, of->submission_ms, segment_of(NULL, of->job, stage)) : ERR_OK;
}

static enum err_code stage_task(struct walk *self, uint32_t stage)
{
    const struct stage_fact *of = &self->facts->stages[stage];
    struct chain_segment segment = segment_of("task", of->job, stage);
    segment.attempt = self->last[stage];
    enum err_code rc = back_to(self, self->begin_ms[stage], segment);
    if (!rc && known(of->first_launch_ms))
        rc = back_to(self, of->first_launch_ms, segment_of("queue", of->job, stage));
    return rc ? rc : stage_waits(self, stage);
}

static bool later_end(const struct walk *self, uint32_t a, uint32_t b)
{
    return b == NO_ENTITY || self->end_ms[a] > self->end_ms[b] || (self->end_ms[a] == self->end_ms[b] && a > b);
}

static bool is_over(const struct walk *self, uint32_t stage)
{
    return !self->stage_used[stage] && known(self->end_ms[stage]) && self->end_ms[stage] <= self->now_ms;
}

/* The job's stage that was over last, by now. */
static uint32_t last_stage(const struct walk *self, uint32_t job)
{
    uint32_t best = NO_ENTITY;
    const struct job_fact *of = &self->facts->jobs[job];
    for (size_t i = 0; i < of->stage_count; i++)
        if (is_over(self, of->stages[i]) && later_end(self, of->stages[i], best))
            best = of->stages[i];
    return best;
}

/* The job's stage that is running now; of several the one that ended last. */
static uint32_t active_stage(const struct walk *self, uint32_t job)
{
    uint32_t best = NO_ENTITY;
    const struct job_fact *of = &self->facts->jobs[job];
    for (size_t i = 0; i < of->stage_count; i++) {
        uint32_t stage = of->stages[i];
        int64_t first = self->facts->stages[stage].first_launch_ms;
        if (!self->stage_used[stage] && known(self->end_ms[stage]) && known(first) && first < self->now_ms && self->end_ms[stage] > self->now_ms && later_end(self, stage, best))
            best = stage;
    }
    return best;
}

/* What the stage waited for: a parent, or the attempt before. */
static uint32_t stage_before(const struct walk *self, uint32_t stage)
{
    const struct stage_fact *of = &self->facts->stages[stage];
    uint32_t best = NO_ENTITY;
    for (size_t i = 0; i < of->parent_count; i++)
        if (of->parents[i] < self->facts->stage_count && is_over(self, of->parents[i]) && later_end(self, of->parents[i], best))
            best = of->parents[i];
    if (stage > 0 && self->facts->stages[stage - 1].stage_id == of->stage_id && is_over(self, stage - 1) && later_end(self, stage - 1, best))
        best = stage - 1;
    return best;
}

/* From a stage down to the begin of its job. Stages that were told before end it: a circle among parents is no longer than its stages. */
static enum err_code job_down(struct walk *self, uint32_t job, uint32_t stage)
{
    enum err_code rc = ERR_OK;
    while (stage != NO_ENTITY && !rc) {
        uint32_t before = stage_before(self, stage);
        int64_t begin_ms = self->facts->jobs[job].begin_ms;
        rc = back_to(self, before == NO_ENTITY ? begin_ms : self->end_ms[before], segment_of("stage_lag", job, stage));
        if (before == NO_ENTITY || rc)
            break;
        self->stage_used[before] = true;
        rc = stage_task(self, before);
        stage = before;
    }
    return rc;
}

/* Enters a job now: at its end, or in its midst where none of its stages is active. */
static enum err_code job_from_end(struct walk *self, uint32_t job)
{
    uint32_t stage = last_stage(self, job);
    if (stage == NO_ENTITY)
        return back_to(self, self->facts->jobs[job].begin_ms, segment_of("job_tail", job, NO_ENTITY));
    self->stage_used[stage] = true;
    enum err_code rc = back_to(self, self->end_ms[stage], segment_of("job_tail", job, stage));
    if (!rc)
        rc = stage_task(self, stage);
    return rc ? rc : job_down(self, job, stage);
}

static enum err_code job_from_midst(struct walk *self, uint32_t job)
{
    uint32_t stage = active_stage(self, job);
    if (stage == NO_ENTITY)
        return job_from_end(self, job);
    self->stage_used[stage] = true;
    enum err_code rc = back_to(self, self->facts->stages[stage].first_launch_ms, segment_of("overlap", job, stage));
    if (!rc)
        rc = stage_waits(self, stage);
    return rc ? rc : job_down(self, job, stage);
}

static enum err_code walk_back(struct walk *self)
{
    const struct facts *facts = self->facts;
    self->now_ms = facts->end_ms;
    uint32_t job = job_before(self);
    enum err_code rc = job == NO_ENTITY ? ERR_OK : back_to(self, facts->jobs[job].end_ms, segment_of("shutdown", NO_ENTITY, NO_ENTITY));
    bool midst = false;
    while (job != NO_ENTITY && !rc) {
        self->job_used[job] = true;
        rc = midst ? job_from_midst(self, job) : job_from_end(self, job);
        if (!rc)
            rc = back_to(self, facts->jobs[job].begin_ms, segment_of("stage_lag", job, NO_ENTITY));
        if (rc)
            break;
        job = running_job(self);
        midst = job != NO_ENTITY;
        if (midst)
            continue;
        job = job_before(self);
        if (job != NO_ENTITY)
            rc = gap_back_to(self, facts->jobs[job].end_ms);
    }
    return rc ? rc : back_to(self, facts->begin_ms, segment_of("startup", NO_ENTITY, NO_ENTITY));
}

/* --- waits before a first launch --- */

struct wait { /* ascending in time, apart from each other */
    int64_t from_ms, to_ms;
    double busy_ms, most_ms, now_ms; /* slot time of all attempts; of the stage that had most; of the stage being looked at */
    uint32_t most_stage;
    size_t segment;
};

/* First wait that ends after then. */
static size_t wait_after(const struct wait *waits, size_t count, int64_t at_ms)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (waits[middle].to_ms <= at_ms)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Adds one stage's attempts to the waits [low, high). Attempts that span whole waits are counted at their borders: `spans` has high − low + 1 places, all 0, and is left so. */
static void add_stage(const struct facts *facts, uint32_t stage, struct wait *waits, size_t low, size_t high, int64_t *spans)
{
    const struct stage_fact *of = &facts->stages[stage];
    for (size_t i = of->first_attempt; i < of->first_attempt + of->attempt_count; i++) {
        int64_t from = facts->attempts[i].begin_ms, to = facts->attempts[i].finish_ms;
        size_t first = low + wait_after(waits + low, high - low, from);
        if (first == high || waits[first].from_ms >= to)
            continue;
        size_t last = low + wait_after(waits + low, high - low, to - 1);
        if (last == high || waits[last].from_ms >= to)
            last--;
        /* the first and the last one in part, those between whole */
        int64_t begin = from > waits[first].from_ms ? from : waits[first].from_ms;
        waits[first].now_ms += (double)(MIN(to, waits[first].to_ms) - begin);
        if (last > first) {
            waits[last].now_ms += (double)(MIN(to, waits[last].to_ms) - waits[last].from_ms);
            spans[first + 1 - low]++;
            spans[last - low]--;
        }
    }
    int64_t spanning = 0;
    for (size_t w = low; w < high; w++) {
        spanning += spans[w - low];
        spans[w - low] = 0;
        double busy = waits[w].now_ms + (double)spanning * (double)(waits[w].to_ms - waits[w].from_ms);
        waits[w].now_ms = 0;
        waits[w].busy_ms += busy;
        if (busy > waits[w].most_ms) {
            waits[w].most_ms = busy;
            waits[w].most_stage = stage;
        }
    }
    spans[high - low] = 0;
}

static void name_wait(struct chain_segment *segment, const struct wait *wait, double slot_ms)
{
    if (slot_ms <= 0) {
        segment->label = "wait_exec";
    } else if (slot_ms - wait->busy_ms >= 0.5 * slot_ms) {
        segment->label = "launch_lag";
    } else {
        segment->label = "behind";
        segment->behind_stage = wait->most_stage;
    }
}

static enum err_code name_waits(struct walk *self)
{
    const struct facts *facts = self->facts;
    struct chain *chain = self->chain;
    struct wait *waits = mem_array(chain->count + 1, sizeof *waits);
    int64_t *spans = mem_array(chain->count + 1, sizeof *spans);
    struct slot_curve curve = {0};
    enum err_code rc = waits && spans ? slot_curve_make(&curve, facts, self->err) : err_nomem(self->err);
    size_t count = 0, pairs = 0;
    for (size_t i = 0; i < chain->count && !rc; i++)
        if (!chain->segments[i].label)
            waits[count++] = (struct wait){.from_ms = chain->segments[i].from_ms, .to_ms = chain->segments[i].to_ms, .most_stage = NO_ENTITY, .segment = i};
    for (uint32_t s = 0; s < facts->stage_count && !rc && count; s++) {
        const struct stage_fact *stage = &facts->stages[s];
        if (!stage->attempt_count || !known(stage->first_launch_ms) || !known(stage->last_finish_ms))
            continue;
        size_t low = wait_after(waits, count, stage->first_launch_ms), high = wait_after(waits, count, stage->last_finish_ms);
        if (high < count && waits[high].from_ms < stage->last_finish_ms)
            high++;
        if (high <= low || (pairs += high - low) > BEHIND_PAIRS)
            continue;
        add_stage(facts, s, waits, low, high, spans);
    }
    for (size_t w = 0; w < count && !rc; w++)
        name_wait(&chain->segments[waits[w].segment], &waits[w], slot_curve_integral(&curve, waits[w].from_ms, waits[w].to_ms));
    slot_curve_dispose(&curve);
    mem_free(waits);
    mem_free(spans);
    return rc;
}

/* --- all --- */

struct job_end {
    int64_t end_ms;
    uint32_t job;
};

static int compare_ends(const void *a, const void *b)
{
    const struct job_end *x = a, *y = b;
    return x->end_ms != y->end_ms ? (x->end_ms < y->end_ms) - (x->end_ms > y->end_ms) : (x->job < y->job) - (x->job > y->job);
}

static enum err_code prepare(struct walk *self)
{
    const struct facts *facts = self->facts;
    size_t stages = facts->stage_count, jobs = facts->job_count;
    struct job_end *ends = mem_array(jobs + 1, sizeof *ends);
    self->end_ms = mem_array(stages + 1, sizeof *self->end_ms);
    self->begin_ms = mem_array(stages + 1, sizeof *self->begin_ms);
    self->last = mem_array(stages + 1, sizeof *self->last);
    self->stage_used = mem_array(stages + 1, sizeof *self->stage_used);
    self->job_used = mem_array(jobs + 1, sizeof *self->job_used);
    self->by_end = mem_array(jobs + 1, sizeof *self->by_end);
    self->running = mem_array(jobs + 1, sizeof *self->running);
    self->chain->stage_ms = mem_array(stages + 1, sizeof *self->chain->stage_ms);
    if (!ends || !self->end_ms || !self->begin_ms || !self->last || !self->stage_used || !self->job_used || !self->by_end || !self->running || !self->chain->stage_ms) {
        mem_free(ends);
        return err_nomem(self->err);
    }
    for (uint32_t s = 0; s < stages; s++) {
        const struct stage_fact *stage = &facts->stages[s];
        self->end_ms[s] = UNKNOWN;
        for (size_t i = stage->first_attempt; i < stage->first_attempt + stage->attempt_count; i++) {
            const struct attempt *attempt = &facts->attempts[i];
            if (stage->winner_count && attempt->kind != WINNER)
                continue;
            if (known(self->end_ms[s]) &&
                (attempt->finish_ms < self->end_ms[s] || (attempt->finish_ms == self->end_ms[s] && facts->launches[i].task_id < facts->launches[self->last[s]].task_id)))
                continue;
            self->end_ms[s] = attempt->finish_ms;
            self->begin_ms[s] = facts->launches[i].launch_ms;
            self->last[s] = i;
        }
    }
    for (uint32_t j = 0; j < jobs; j++)
        ends[j] = (struct job_end){facts->jobs[j].end_ms, j};
    qsort(ends, jobs, sizeof *ends, compare_ends);
    for (size_t j = 0; j < jobs; j++)
        self->by_end[j] = ends[j].job;
    mem_free(ends);
    return ERR_OK;
}

static void turn_round(struct chain *chain)
{
    for (size_t i = 0, k = chain->count; i + 1 < k; i++) {
        struct chain_segment other = chain->segments[i];
        chain->segments[i] = chain->segments[--k];
        chain->segments[k] = other;
    }
}

/* The waits and the work of a stage are on the path; where it waited behind another, that one is. */
static void sum_stages(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_segment *segment = &chain->segments[i];
        bool behind = !strcmp(segment->label, "behind");
        uint32_t stage = behind ? segment->behind_stage : segment->stage;
        if (stage != NO_ENTITY && (behind || !strcmp(segment->label, "task") || !strcmp(segment->label, "queue") || !strcmp(segment->label, "overlap")))
            chain->stage_ms[stage] += (double)(segment->to_ms - segment->from_ms);
    }
}

enum err_code chain_make(struct chain *ret, const struct facts *facts, const struct accounts *accounts, struct err *err)
{
    *ret = (struct chain){0};
    struct walk walk = {.facts = facts, .accounts = accounts, .chain = ret, .err = err};
    enum err_code rc = prepare(&walk);
    if (!rc)
        rc = walk_back(&walk);
    if (!rc) {
        turn_round(ret);
        rc = name_waits(&walk);
    }
    if (!rc)
        sum_stages(ret);
    mem_free(walk.end_ms);
    mem_free(walk.begin_ms);
    mem_free(walk.last);
    mem_free(walk.stage_used);
    mem_free(walk.job_used);
    mem_free(walk.by_end);
    mem_free(walk.running);
    if (rc)
        chain_dispose(ret);
    return rc;
}

void chain_dispose(struct chain *self)
{
    mem_free(self->segments);
    mem_free(self->stage_ms);
    *self = (struct chain){0};
}
