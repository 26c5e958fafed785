/* SPDX-License-Identifier: Apache-2.0
 *
 * Winners and the kinds of lost work (spec/findings.md 3.3), over all attempts of one stage id at a time. */
#include <math.h>
#include <string.h>

#include "analysis/facts_parts.h"
#include "base/mem.h"

#define OFFSET_BITS 17 /* of a stage attempt among those of its stage, above a time of 45 bits: no log has more */

struct group {
    struct facts *facts;
    size_t first, end; /* stage attempts of one stage id */
    uint64_t *seen;    /* bits: work with a success; owned */
    size_t seen_room;
    int64_t *indexes; /* with a success, of one stage attempt; twice; owned */
    size_t index_room;
};

/* Whose output an attempt makes: successes with the same key are the same work. −1: cannot be told. */
static int64_t work_key(const struct group *group, const struct attempt *attempt)
{
    const struct attempt_launch *launch = attempt_launch(group->facts, attempt);
    if (launch->partition >= 0)
        return launch->partition;
    if (launch->index < 0)
        return -1;
    return launch->index + ((group->facts->stages[attempt->stage].attempt > 0 ? (int64_t)(attempt->stage - group->first) : 0) << 32);
}

static void win(struct facts *facts, struct attempt *attempt)
{
    attempt->kind = WINNER;
    facts->stages[attempt->stage].winner_count++;
}

/* Of two successes of the same work the later one is a copy that came too late, unless it had to be made because the earlier one's output was lost: in a later stage attempt, or after a
 * Resubmitted event. The store keeps none of these, and need not: only they make the scheduler launch an index again that has succeeded. */
static bool made_again(const struct facts *facts, const struct attempt *winner, const struct attempt *later)
{
    int64_t launch_ms = attempt_launch(facts, later)->launch_ms;
    return later->stage > winner->stage || launch_ms > winner->finish_ms || (launch_ms == winner->finish_ms && !later->speculative);
}

static void judge_successes(struct facts *facts, const struct sort_item *items, size_t count)
{
    struct attempt *winner = NULL;
    for (size_t i = 0; i < count; i++) {
        struct attempt *attempt = &facts->attempts[items[i].position];
        bool same_work = winner && items[i].key == items[i - 1].key;
        if (!same_work || attempt->stage != facts->attempts[items[i - 1].position].stage)
            facts->stages[attempt->stage].seen_success++;
        if (same_work && !made_again(facts, winner, attempt)) {
            attempt->kind = LOST_SPECULATIVE;
            continue;
        }
        if (same_work) {
            winner->kind = LOST_RECOMPUTED;
            facts->stages[winner->stage].winner_count--;
        }
        winner = attempt;
        win(facts, attempt);
    }
}

/* Nearly always each piece of work has one success, and nothing has to be compared. */
static bool all_distinct(struct group *group, size_t first, size_t end)
{
    const struct facts *facts = group->facts;
    int64_t limit = 8 * (int64_t)(end - first) + 64;
    size_t words = (size_t)limit / 64 + 1;
    if (mem_grow((void **)&group->seen, &group->seen_room, words, FACTS_MAX_ATTEMPTS, sizeof *group->seen))
        return false;
    memset(group->seen, 0, words * sizeof *group->seen);
    for (size_t i = first; i < end; i++) {
        const struct attempt *attempt = &facts->attempts[i];
        int64_t key = attempt->ended && attempt->success ? work_key(group, attempt) : -1;
        if (key < 0)
            continue;
        if (key >= limit || group->seen[key / 64] >> (key % 64) & 1)
            return false;
        group->seen[key / 64] |= UINT64_C(1) << (key % 64);
    }
    return true;
}

static enum err_code judge_group(struct group *group, struct err *err)
{
    struct facts *facts = group->facts;
    size_t first = facts->stages[group->first].first_attempt;
    size_t end = facts->stages[group->end - 1].first_attempt + facts->stages[group->end - 1].attempt_count, count = 0;
    bool distinct = all_distinct(group, first, end);
    struct sort_item *items = distinct ? NULL : facts_scratch(facts, end - first);
    if (!distinct && !items)
        return err_nomem(err);
    for (size_t i = first; i < end; i++) {
        struct attempt *attempt = &facts->attempts[i];
        if (!attempt->ended || !attempt->success) {
            attempt->kind = attempt->ended ? attempt->kind : LOST_UNFINISHED;
            continue;
        }
        int64_t key = work_key(group, attempt), offset = MIN((int64_t)(attempt->stage - group->first), (INT64_C(1) << OFFSET_BITS) - 1);
        if (distinct || key < 0) {
            facts->stages[attempt->stage].seen_success++;
            win(facts, attempt);
        } else {
            items[count++] = (struct sort_item){key, (offset << 45) + (attempt->finish_ms - facts->begin_ms), (uint32_t)i};
        }
    }
    if (!count)
        return ERR_OK;
    sort_items(items, items + count, count);
    judge_successes(facts, items, count);
    return ERR_OK;
}

static bool has(const int64_t *sorted, size_t count, int64_t value)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (sorted[i] < value)
            low = i + 1;
        else
            high = i;
    }
    return low < count && sorted[low] == value;
}

static bool is_lost_so_far(const struct stage_fact *stage, const struct attempt *attempt)
{
    return attempt->kind == LOST_CANCELLED || (attempt->kind == LOST_UNFINISHED && stage->completed_seen && !stage->failed);
}

/* Indexes with a success, ascending. */
static size_t list_successes(struct group *group, const struct stage_fact *stage, bool of_copies)
{
    const struct attempt *attempts = group->facts->attempts + stage->first_attempt;
    const struct attempt_launch *launches = group->facts->launches + stage->first_attempt;
    size_t count = 0;
    for (size_t i = 0; i < stage->attempt_count; i++)
        if (attempts[i].success && launches[i].index >= 0 && (attempts[i].speculative || !of_copies))
            group->indexes[count++] = launches[i].index;
    sort_times(group->indexes, group->indexes + count, count);
    return count;
}

/* Killed because another attempt of the index succeeded: the loser of a speculation. So is one that had not ended when its stage was done, if one of the two was a copy: it is killed then, and
 * where the application ends with the stage nobody logs that. */
static enum err_code judge_killed(struct group *group, const struct stage_fact *stage, struct err *err)
{
    struct attempt *attempts = group->facts->attempts + stage->first_attempt;
    const struct attempt_launch *launches = group->facts->launches + stage->first_attempt;
    size_t lost = 0;
    for (size_t i = 0; i < stage->attempt_count; i++)
        lost += is_lost_so_far(stage, &attempts[i]);
    if (!lost)
        return ERR_OK;
    if (mem_grow((void **)&group->indexes, &group->index_room, 2 * stage->attempt_count, 2 * FACTS_MAX_ATTEMPTS, sizeof *group->indexes))
        return err_nomem(err);
    for (int of_copies = 0; of_copies < 2; of_copies++) {
        size_t count = list_successes(group, stage, of_copies);
        for (size_t i = 0; i < stage->attempt_count && count; i++) {
            bool may = attempts[i].kind == LOST_CANCELLED || of_copies || attempts[i].speculative;
            if (is_lost_so_far(stage, &attempts[i]) && may && has(group->indexes, count, launches[i].index))
                attempts[i].kind = LOST_SPECULATIVE;
        }
    }
    return ERR_OK;
}

static void rate(struct facts *self, struct stage_fact *stage)
{
    stage->completeness = NAN;
    if (known(stage->num_tasks))
        stage->seen_success = MIN(stage->seen_success, MAX(stage->num_tasks, 0));
    if (stage->failed) {
        size_t ended = 0;
        for (size_t i = 0; i < stage->attempt_count; i++)
            ended += self->attempts[stage->first_attempt + i].ended;
        if (stage->attempt_count)
            stage->completeness = (double)ended / (double)stage->attempt_count;
    } else if (known(stage->num_tasks) && stage->num_tasks > 0) {
        stage->completeness = (double)stage->seen_success / (double)stage->num_tasks;
    }
}

enum err_code facts_classify(struct facts *self, struct err *err)
{
    struct group group = {.facts = self};
    enum err_code rc = ERR_OK;
    for (size_t begin = 0; begin < self->stage_count && !rc; begin = group.end) {
        group.first = group.end = begin;
        while (group.end < self->stage_count && self->stages[group.end].stage_id == self->stages[begin].stage_id)
            group.end++;
        rc = judge_group(&group, err);
        for (size_t i = begin; i < group.end && !rc; i++)
            rc = judge_killed(&group, &self->stages[i], err);
    }
    for (size_t i = 0; i < self->stage_count && !rc; i++)
        rate(self, &self->stages[i]);
    mem_free(group.seen);
    mem_free(group.indexes);
    return rc;
}
