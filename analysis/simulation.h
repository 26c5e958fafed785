/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the simulator share; others use simulate.h. simulation_make.c with its steps (simulation_make.h) calibrates a log into nodes, items, jobs and slots (spec/findings.md 6.2), simulation_costs.c
 * makes and changes the items of a node (6.5), simulation_engine.c runs them (6.3), simulate.c puts scenarios, bounds and bands together (6.4–6.6).
 *
 * Times are µs from the begin of the application's interval, for what lies between two short tasks is less than a ms. Positions of jobs are those of facts; nodes are in the order in which Spark's FIFO takes stages: (job, stage, attempt).
 *
 * Turns and cuts. Jobs in the order of (begin, id) have turns 0, 1, …. A cut k lies between turns k − 1 and k and is there when all jobs from turn k on follow, directly or through
 * each other, on one job before it: the pivot. If a run reaches the pivot's end with nothing else running, what follows depends on that time alone. Of a scenario that changes a
 * few jobs therefore only what lies around these is run: between a cut behind one of them and a cut before the next all is as observed, shifted. */
#ifndef ANALYSIS_SIMULATION_H
#define ANALYSIS_SIMULATION_H

#include <pthread.h>

#include "analysis/simulate.h"
#include "base/arena.h"

#define SIM_NONE UINT32_MAX
/* Longer than an application can be (SOUND_TIME_MAX_MS), and far from overflow when such times are added up: 2⁵⁶ µs are 2 283 years. */
#define SIM_MAX_US ((int64_t)1 << 56)
/* More slots or waiting tasks than this are not told apart. */
#define SIM_SLOTS_MAX ((int64_t)1 << 50)

/* An item: its cost in µs, doubled, + 1 if its node waits for it. */
static inline int64_t item_cost(int64_t item)
{
    return item >> 1;
}

/* A speculative copy: it cannot begin before this long after its node's first item. */
struct sim_late {
    int64_t offset_us, item;
};

struct sim_costs {
    const int64_t *items;        /* in the order of launch */
    const struct sim_late *late; /* by offset */
    size_t count, late_count, gating_count;
    int64_t longest_us; /* from begin to end of the node if all could run at once */
};

struct sim_node {
    uint32_t stage, job, queue;
    uint32_t parent_count, first_child, child_count;
    double gap_ms;  /* what lies between two tasks of the stage on one slot while others wait: part of each item's cost */
    int64_t lag_us; /* from the end of its parents to its first launch */
    int64_t first_begin_us;
    bool lossy;             /* it has lost work, speculative copies or retries */
    struct sim_costs costs; /* as observed */
};

struct sim_job {
    uint32_t predecessor, turn;
    int64_t gap_us;           /* from the predecessor's end; without one from the begin of the interval */
    int64_t tail_us;          /* from its last node's end */
    int64_t begin_us, end_us; /* observed */
    uint32_t first_node, node_count, first_successor, successor_count;
};

/* From then on the pool has so many slots. */
struct sim_slots {
    int64_t time_us;
    uint32_t pool;
    int64_t capacity;
};

/* Executors of one resource profile. */
struct sim_pool {
    int64_t profile, peak, per_executor /* slots of its median executor */;
};

/* Stages of one pool of slots and one scheduler pool; one a pool of slots under FIFO. */
struct sim_queue {
    uint32_t pool, rank; /* rank: of the scheduler pool's name */
};

struct sim_cut {
    uint32_t pivot;  /* SIM_NONE: no cut here */
    int64_t time_us; /* in the run as observed; −1: it was not reached with nothing running */
};

/* See simulation_without_lost: all that changes in a simulation once it is made. */
struct without_lost {
    pthread_mutex_t lock;
    bool known;
    struct simulated simulated;
};

struct simulation {
    const struct facts *facts;
    const struct accounts *accounts;
    struct arena arena;
    struct sim_node *nodes;
    struct sim_job *jobs; /* by position in facts */
    uint32_t *children, *successors, *by_turn;
    struct sim_pool *pools;
    struct sim_queue *queues;
    uint32_t *pool_queue;    /* the pool's only queue; SIM_NONE: several */
    struct sim_slots *slots; /* by time */
    uint32_t *executor_pool;
    int64_t *executor_from_us, *executor_to_us; /* when its slots take tasks; to: INT64_MAX if it outlived the last job */
    uint32_t *stage_node;
    struct sim_cut *cuts;               /* by k, job_count + 1 */
    int64_t *job_begin_us, *job_end_us; /* simulated, as observed */
    size_t node_count, job_count, pool_count, queue_count, slot_count, item_count;
    double work_ms;            /* Σ w */
    int64_t first_executor_us; /* when the first one was there; 0: none ever was */
    int64_t wall_us;           /* observed */
    int64_t last_end_us;       /* observed end of the last job */
    int64_t as_observed_us;    /* simulated wall */
    struct without_lost *without_lost;
};

/* One run: the simulation, and what is different. */
struct sim_override {
    uint32_t node;
    bool no_lag, no_tail; /* tail: of its job */
    struct sim_costs costs;
};
struct sim_run {
    const struct simulation *simulation;
    const struct sim_override *overrides; /* by node */
    size_t override_count;
    const struct sim_slots *slots;
    size_t slot_count;
    const int64_t *gaps_us; /* by job; NULL: as observed */
    bool unlimited;         /* slots */
    bool partial;           /* cuts may be used: nothing but jobs of these turns differs from the run as observed */
    const uint32_t *turns;  /* ascending */
    size_t turn_count;
    size_t *items; /* counts those of released jobs and their nodes; NULL: nobody asks */
    bool record;   /* the run as observed: fill cuts and simulated times of jobs */
};
enum err_code sim_engine(const struct sim_run *run, int64_t *ret_last_end_us, struct err *err) WARN_UNUSED;

/* Items of a node while they are changed. What is as observed has no array: all attempts of its stage, what each took. */
struct sim_work {
    double *cost_ms, less_ms; /* less: than observed, each; 0 where there are costs */
    bool nothing; /* is what each costs; never where there are costs */
    uint32_t *attempt; /* position in facts; NULL: `count` from first_attempt on */
    size_t first_attempt, count;
    bool no_copies; /* speculative copies stand for the attempts they outran */
    bool retries_merged; /* what retries of the stage won is in its first attempt already */
};
struct sim_work sim_work_of(const struct simulation *sim, const struct sim_node *node); /* as observed */
void sim_work_dispose(struct sim_work *self);
enum err_code sim_work_change(const struct simulation *sim, const struct sim_node *node, struct sim_work *work, const struct change *change, struct err *err) WARN_UNUSED;
enum err_code sim_work_seal(const struct simulation *sim, const struct sim_node *node, const struct sim_work *work, struct arena *arena, struct sim_costs *ret,
                            struct err *err) WARN_UNUSED;

#endif
