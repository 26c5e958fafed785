/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs' intervals (spec/findings.md 3.6), which job a stage attempt belongs to (3.8), and which stage attempts it waited for (6.2). */

#include "analysis/facts_parts.h"
#include "base/mem.h"

#define MAX_LISTED ((size_t)1 << 28)
#define NEAR_MS 1        /* two times that mean the same moment differ by no more */
#define PARENT_TRIES 256 /* attempts of a parent that are looked at, latest first: Spark gives a stage up after a few */

/* ---- Which jobs list which stages ---- */

struct listing {
    struct facts *facts;
    struct sort_item *items; /* key: position of the first attempt of the stage, tie: position of the job; owned */
    size_t count, capacity;
    int64_t *first_ms, *last_ms;             /* submission and completion over the stages that ran for it, by job; owned */
    int64_t *stage_first_ms, *stage_last_ms; /* the same over all attempts of a stage, at the position of its first; owned */
};

static size_t first_attempt_of(const struct facts *self, int64_t stage_id)
{
    size_t low = 0;
    for (size_t high = self->stage_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (self->stages[i].stage_id < stage_id)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static enum err_code listing_row(struct listing *self, int64_t job_id, int64_t stage_id, bool skipped, bool ran, uint32_t *job, struct err *err)
{
    struct facts *facts = self->facts;
    if (*job == NO_ENTITY || facts->jobs[*job].job_id != job_id)
        *job = facts_job(facts, job_id);
    if (*job == NO_ENTITY)
        return ERR_OK;
    facts->jobs[*job].listed_stage_count++;
    facts->jobs[*job].skipped_stage_count += skipped;
    size_t stage = first_attempt_of(facts, stage_id);
    if (stage == facts->stage_count || facts->stages[stage].stage_id != stage_id)
        return ERR_OK;
    if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, MAX_LISTED, sizeof *self->items))
        return err_nomem(err);
    self->items[self->count] = (struct sort_item){(int64_t)stage, *job, (uint32_t)self->count};
    self->count++;
    if (ran || !skipped) {
        self->first_ms[*job] = min_known(self->first_ms[*job], self->stage_first_ms[stage]);
        self->last_ms[*job] = max_known(self->last_ms[*job], self->stage_last_ms[stage]);
    }
    return ERR_OK;
}

static enum err_code make_listing(struct listing *self, struct facts *facts, struct err *err)
{
    *self = (struct listing){.facts = facts};
    int64_t **const times[] = {&self->first_ms, &self->last_ms, &self->stage_first_ms, &self->stage_last_ms};
    const size_t counts[] = {facts->job_count, facts->job_count, facts->stage_count, facts->stage_count};
    for (size_t t = 0; t < ARRAY_LENGTH(times); t++) {
        if (!(*times[t] = mem_array(counts[t] + 1, sizeof **times[t])))
            return err_nomem(err);
        for (size_t i = 0; i < counts[t]; i++)
            (*times[t])[i] = UNKNOWN;
    }
    for (size_t i = 0, first = 0; i < facts->stage_count; i++) {
        const struct stage_fact *stage = &facts->stages[i];
        if (stage->stage_id != facts->stages[first].stage_id)
            first = i;
        self->stage_first_ms[first] = min_known(self->stage_first_ms[first], stage->submission_ms);
        self->stage_last_ms[first] = max_known(self->stage_last_ms[first], stage->completion_ms);
    }
    return ERR_OK;
}

static void free_listing(struct listing *self)
{
    mem_free(self->items);
    mem_free(self->first_ms);
    mem_free(self->last_ms);
    mem_free(self->stage_first_ms);
    mem_free(self->stage_last_ms);
}

static enum err_code read_listing(struct listing *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->facts->db, &stmt, "SELECT job_id, stage_id, skipped, ran FROM job_stage ORDER BY job_id, ordinal", err);
    if (rc)
        return rc;
    uint32_t job = NO_ENTITY;
    while ((rc = db_step(stmt, err)) == ERR_OK && (rc = listing_row(self, db_i64(stmt, 0), db_i64(stmt, 1), db_i64(stmt, 2) == 1, db_i64(stmt, 3) == 1, &job, err)) == ERR_OK)
        ;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void bound_jobs(struct listing *self)
{
    struct facts *facts = self->facts;
    for (size_t i = 0; i < facts->job_count; i++) {
        struct job_fact *job = &facts->jobs[i];
        int64_t begin_ms = known_or(job->begin_ms, self->first_ms[i]), end_ms = known_or(job->end_ms, self->last_ms[i]);
        if (!job->end_seen)
            end_ms = MAX(facts->end_ms, known_or(begin_ms, facts->end_ms));
        begin_ms = known_or(begin_ms, known_or(end_ms, facts->begin_ms));
        end_ms = known_or(end_ms, begin_ms);
        if (end_ms < begin_ms)
            note_clock_fault(facts, (struct clock_fault){CLOCK_JOB, job->job_id, UNKNOWN, begin_ms, end_ms});
        job->begin_ms = clip_time(facts, begin_ms);
        job->end_ms = MAX(clip_time(facts, end_ms), job->begin_ms);
    }
}

/* ---- Owners ---- */

/* Jobs that list a stage and run at the time at hand, smallest on top. */
struct running {
    uint32_t *heap; /* owned */
    size_t count, room;
};

static int push(struct running *self, uint32_t job)
{
    if (mem_grow((void **)&self->heap, &self->room, self->count + 1, MAX_LISTED, sizeof *self->heap))
        return -1;
    size_t i = self->count++;
    for (; i && self->heap[(i - 1) / 2] > job; i = (i - 1) / 2)
        self->heap[i] = self->heap[(i - 1) / 2];
    self->heap[i] = job;
    return 0;
}

static void pop(struct running *self)
{
    uint32_t last = self->heap[--self->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < self->count; i = child) {
        if (child + 1 < self->count && self->heap[child + 1] < self->heap[child])
            child++;
        if (self->heap[child] >= last)
            break;
        self->heap[i] = self->heap[child];
    }
    self->heap[i] = last;
}

/* Attempts of one stage in the order of their submission meet the jobs that list it in the order of their begin: each job comes and goes once. */
struct owners {
    struct facts *facts;
    struct sort_item *jobs, *attempts; /* by time; twice the room; owned */
    size_t job_room, attempt_room;
    struct running running;
};

static int64_t submitted_ms(const struct facts *self, const struct stage_fact *stage)
{
    return clip_time(self, known(stage->submission_ms) ? stage->submission_ms : known_or(stage->first_launch_ms, known_or(stage->completion_ms, self->begin_ms)));
}

/* `listed`: the jobs that list the stage, ascending, at least one. The smallest of those that ran when the attempt was submitted; of a damaged log the smallest that lists it. */
static enum err_code own_stage(struct owners *self, size_t first, const struct sort_item *listed, size_t count, struct err *err)
{
    struct facts *facts = self->facts;
    size_t attempts = 0, next = 0;
    while (first + attempts < facts->stage_count && facts->stages[first + attempts].stage_id == facts->stages[first].stage_id)
        attempts++;
    if (mem_grow((void **)&self->jobs, &self->job_room, 2 * count, 2 * MAX_LISTED, sizeof *self->jobs) ||
        mem_grow((void **)&self->attempts, &self->attempt_room, 2 * attempts, 2 * MAX_LISTED, sizeof *self->attempts))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        self->jobs[i] = (struct sort_item){facts->jobs[listed[i].tie].begin_ms, (int64_t)i, (uint32_t)listed[i].tie};
    for (size_t i = 0; i < attempts; i++)
        self->attempts[i] = (struct sort_item){submitted_ms(facts, &facts->stages[first + i]), 0, (uint32_t)(first + i)};
    sort_items(self->jobs, self->jobs + count, count);
    sort_items(self->attempts, self->attempts + attempts, attempts);
    self->running.count = 0;
    for (size_t i = 0; i < attempts; i++) {
        struct stage_fact *stage = &facts->stages[self->attempts[i].position];
        int64_t at_ms = self->attempts[i].key;
        for (; next < count && self->jobs[next].key <= at_ms + NEAR_MS; next++)
            if (push(&self->running, self->jobs[next].position))
                return err_nomem(err);
        while (self->running.count && facts->jobs[self->running.heap[0]].end_ms < at_ms - NEAR_MS)
            pop(&self->running);
        if (stage->attempt_count || stage->submitted_seen)
            stage->job = self->running.count ? self->running.heap[0] : (uint32_t)listed[0].tie;
    }
    return ERR_OK;
}

static enum err_code own_stages(struct listing *listing, struct err *err)
{
    struct sort_item *scratch = facts_scratch(listing->facts, listing->count);
    if (!scratch)
        return err_nomem(err);
    sort_items(listing->items, scratch, listing->count);
    struct owners owners = {.facts = listing->facts};
    enum err_code rc = ERR_OK;
    for (size_t begin = 0, end; begin < listing->count && !rc; begin = end) {
        for (end = begin + 1; end < listing->count && listing->items[end].key == listing->items[begin].key; end++)
            ;
        rc = own_stage(&owners, (size_t)listing->items[begin].key, listing->items + begin, end - begin, err);
    }
    mem_free(owners.jobs);
    mem_free(owners.attempts);
    mem_free(owners.running.heap);
    return rc;
}

static enum err_code give_stages(struct facts *self, struct err *err)
{
    CLEANUP(mem_freep) size_t *next = mem_array(self->job_count + 1, sizeof *next);
    uint32_t *stages = arena_alloc(&self->arena, (self->stage_count + 1) * sizeof *stages);
    if (!next || !stages)
        return err_nomem(err);
    for (size_t i = 0; i < self->stage_count; i++)
        if (self->stages[i].job != NO_ENTITY)
            self->jobs[self->stages[i].job].stage_count++;
    for (size_t i = 0, first = 0; i < self->job_count; first += self->jobs[i++].stage_count) {
        self->jobs[i].stages = stages + first;
        next[i] = first;
    }
    for (size_t i = 0; i < self->stage_count; i++)
        if (self->stages[i].job != NO_ENTITY)
            stages[next[self->stages[i].job]++] = (uint32_t)i;
    return ERR_OK;
}

/* ---- Parents ---- */

/* The highest attempt of stage `id` that ran for the same job and was not submitted later. */
static uint32_t parent_of(const struct facts *self, const struct stage_fact *stage, int64_t id)
{
    size_t end = id < INT64_MAX ? first_attempt_of(self, id + 1) : self->stage_count;
    for (size_t i = end, tries = 0; i-- > 0 && self->stages[i].stage_id == id && tries < PARENT_TRIES; tries++) {
        const struct stage_fact *parent = &self->stages[i];
        if (parent != stage && parent->attempt_count && parent->job == stage->job && parent->begin_ms <= stage->begin_ms)
            return (uint32_t)i;
    }
    return NO_ENTITY;
}

static enum err_code find_parents(struct facts *self, struct err *err)
{
    for (size_t i = 0; i < self->stage_count; i++) {
        struct stage_fact *stage = &self->stages[i];
        const struct stage_fact *before = i && self->stages[i - 1].stage_id == stage->stage_id ? stage - 1 : NULL;
        if (!stage->attempt_count || (!stage->parent_id_count && !before))
            continue;
        uint32_t *parents = arena_alloc(&self->arena, (stage->parent_id_count + 1) * sizeof *parents);
        if (!parents)
            return err_nomem(err);
        stage->parents = parents;
        if (before && before->attempt_count && before->attempt == stage->attempt - 1)
            parents[stage->parent_count++] = (uint32_t)(i - 1);
        for (size_t p = 0; p < stage->parent_id_count; p++) {
            uint32_t parent = parent_of(self, stage, stage->parent_ids[p]);
            if (parent != NO_ENTITY)
                parents[stage->parent_count++] = parent;
        }
    }
    return ERR_OK;
}

enum err_code facts_own(struct facts *self, struct err *err)
{
    struct listing listing;
    enum err_code rc = make_listing(&listing, self, err);
    if (!rc)
        rc = read_listing(&listing, err);
    if (!rc) {
        bound_jobs(&listing);
        rc = own_stages(&listing, err);
    }
    free_listing(&listing);
    if (!rc)
        rc = give_stages(self, err);
    return rc ? rc : find_parents(self, err);
}
