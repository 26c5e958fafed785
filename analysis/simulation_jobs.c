/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulation_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Two times that mean the same moment differ by no more. */
#define NEAR_US US_PER_MS

struct job_order {
    int64_t begin_us, end_us;
    uint32_t job, turn;
};

static int compare_turns(const void *a, const void *b)
{
    const struct job_order *x = a, *y = b;
    return x->begin_us != y->begin_us ? (x->begin_us > y->begin_us) - (x->begin_us < y->begin_us) : (x->job > y->job) - (x->job < y->job);
}

static int compare_ends(const void *a, const void *b)
{
    const struct job_order *x = a, *y = b;
    return x->end_us != y->end_us ? (x->end_us > y->end_us) - (x->end_us < y->end_us) : (x->turn > y->turn) - (x->turn < y->turn);
}

/* Position of the job's root SQL execution; NO_ENTITY. */
static uint32_t root_of(const struct facts *facts, const struct job_fact *job)
{
    int64_t id = job->sql_execution_id;
    for (int step = 0; step < 2 && known(id); step++) {
        uint32_t sql = facts_sql(facts, id);
        if (sql == NO_ENTITY || step || !known(facts->sqls[sql].root_id) || facts->sqls[sql].root_id == id)
            return sql;
        id = facts->sqls[sql].root_id;
    }
    return NO_ENTITY;
}

/* The predecessor is a job of an earlier turn that was over at most 1 ms after this one began: the one that ended last, of the same SQL execution if there is one. Ends are gone
 * through in step with begins. A job that ended before a begin and has a later turn (both are within that 1 ms) is no predecessor. */
enum err_code maker_predecessors(struct maker *self)
{
    struct simulation *sim = self->sim;
    const struct facts *facts = self->facts;
    size_t count = sim->job_count;
    struct job_order *turns = mem_array(count + 1, sizeof *turns), *ends = mem_array(count + 1, sizeof *ends);
    uint32_t *last_of_root = mem_array(facts->sql_count + 1, sizeof *last_of_root);
    if (!turns || !ends || !last_of_root) {
        mem_free(turns);
        mem_free(ends);
        mem_free(last_of_root);
        return err_nomem(self->err);
    }
    for (size_t i = 0; i < count; i++)
        turns[i] = (struct job_order){sim->jobs[i].begin_us, sim->jobs[i].end_us, (uint32_t)i, 0};
    for (size_t i = 0; i < facts->sql_count; i++)
        last_of_root[i] = SIM_NONE;
    qsort(turns, count, sizeof *turns, compare_turns);
    for (uint32_t i = 0; i < count; i++) {
        sim->by_turn[i] = turns[i].job;
        sim->jobs[turns[i].job].turn = turns[i].turn = i;
    }
    memcpy(ends, turns, count * sizeof *ends);
    qsort(ends, count, sizeof *ends, compare_ends);
    size_t ended = 0;
    uint32_t last = SIM_NONE;
    for (size_t i = 0; i < count; i++) {
        struct sim_job *job = &sim->jobs[turns[i].job];
        uint32_t root = root_of(facts, &facts->jobs[turns[i].job]);
        for (; ended < count && ends[ended].end_us <= job->begin_us + NEAR_US && sim->jobs[ends[ended].job].turn < i; ended++) {
            last = ends[ended].job;
            uint32_t its_root = root_of(facts, &facts->jobs[last]);
            if (its_root != NO_ENTITY)
                last_of_root[its_root] = last;
        }
        job->predecessor = root != NO_ENTITY && last_of_root[root] != SIM_NONE ? last_of_root[root] : last;
        int64_t gap = job->begin_us - (job->predecessor == SIM_NONE ? 0 : sim->jobs[job->predecessor].end_us);
        job->gap_us = gap > 0 ? gap : 0;
    }
    mem_free(turns);
    mem_free(ends);
    mem_free(last_of_root);
    return ERR_OK;
}

/* Lists of followers, and the cuts (simulation.h). */
enum err_code maker_successors(struct maker *self)
{
    struct simulation *sim = self->sim;
    uint32_t *outside = mem_array(sim->job_count + 1, sizeof *outside); /* by turn: jobs behind the cut that follow on it directly */
    if (!outside)
        return err_nomem(self->err);
    uint32_t total = 0;
    for (size_t i = 0; i < sim->job_count; i++)
        if (sim->jobs[i].predecessor != SIM_NONE)
            sim->jobs[sim->jobs[i].predecessor].successor_count++;
    for (size_t i = 0; i < sim->job_count; i++) {
        sim->jobs[i].first_successor = total;
        total += sim->jobs[i].successor_count;
        sim->jobs[i].successor_count = 0;
    }
    for (uint32_t turn = 0; turn < sim->job_count; turn++) {
        uint32_t job = sim->by_turn[turn], before = sim->jobs[job].predecessor;
        if (before != SIM_NONE)
            sim->successors[sim->jobs[before].first_successor + sim->jobs[before].successor_count++] = job;
    }
    for (size_t k = 0; k <= sim->job_count; k++)
        sim->cuts[k] = (struct sim_cut){SIM_NONE, -1};
    size_t different = 0;
    uint64_t sum = 0; /* of the different turns: the turn itself where there is one */
    for (size_t k = sim->job_count; k-- > 1;) {
        uint32_t before = sim->jobs[sim->by_turn[k]].predecessor;
        if (before == SIM_NONE)
            break;
        uint32_t turn = sim->jobs[before].turn;
        if (outside[k]) {
            different--;
            sum -= k;
        }
        if (!outside[turn]++) {
            different++;
            sum += turn;
        }
        if (different == 1)
            sim->cuts[k].pivot = sim->by_turn[sum];
    }
    mem_free(outside);
    return ERR_OK;
}
