/* SPDX-License-Identifier: Apache-2.0
 *
 * One application attempt in memory, as all of analysis looks at it: read once from its database (schema.sql), then enriched step by step, never written back from here.
 * The order of the steps, and what each fills:
 *
 *      facts_load          entities, attempts, the interval [begin_ms, end_ms)                     spec/findings.md 3.1
 *      facts_classify      attempt.kind: winners and the kinds of lost work                        3.3
 *      facts_lanes         executor.slots, attempt.lane, begin_ms, cold                            3.2
 *      facts_own           stage.job: which job a stage attempt's work belongs to                  3.8
 *
 * Memory: 56 bytes an attempt and an arena for the rest; values of tasks (metrics) are read for one stage at a time (facts_values). One thread. Everything is freed by
 * facts_dispose. Times are epoch ms; a time or number that the log does not hold is UNKNOWN. Order of rows in the database does not matter: entities are sorted by their ids,
 * attempts by (stage, launch, task id). facts_load uses a second thread for large applications. */
#ifndef ANALYSIS_FACTS_H
#define ANALYSIS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"

#define NO_ENTITY UINT32_MAX     /* where a position is expected: there is none */

/* Why an attempt's work was lost; also the kinds of the ledger (10.1) and of table lost_work. */
enum lost_kind { WINNER, LOST_FETCH, LOST_EXECUTOR, LOST_UNFINISHED, LOST_SPECULATIVE, LOST_CANCELLED, LOST_FAILED, LOST_RECOMPUTED, LOST_KIND_COUNT };
/* Attempts that failed: one that was killed because another one failed or won, or that never ended, did not. */
#define LOST_FAILURES (1U << LOST_FAILED | 1U << LOST_EXECUTOR | 1U << LOST_FETCH)
extern const char *const lost_kind_names[LOST_KIND_COUNT];   /* "winner" "fetch" … */

/* What is asked for again and again, and no more: passes over a million of them are bound by memory. */
struct attempt {
    int64_t begin_ms, finish_ms;     /* L': from when its lane was free for it; F of the spec, see launch_ms */
    uint32_t stage, executor;        /* positions in facts; an executor is always there: tasks that name none share one without an id */
    uint32_t row;                    /* which of the stage attempt's rows (order of task_seq) it is: the place of its values in columns */
    uint16_t lane;
    uint8_t kind;                    /* enum lost_kind */
    bool success : 1, ended : 1, has_metrics : 1, speculative : 1;
    bool again : 1;                  /* not the first attempt of its index */
    bool cold : 1;                   /* first winner of its stage on its lane (4.1) */
};

/* The rest of an attempt, for the few that ask: facts->launches at the same position. */
struct attempt_launch {
    int64_t task_id;
    int64_t launch_ms;               /* L of the spec. L and F are inside the application's interval; an attempt without an end gets one (3.3); F < L becomes F = L, a clock fault */
    int32_t index, partition;        /* −1: not logged */
};

struct executor_fact {
    int64_t executor_ref;
    struct str id, host;
    bool is_driver, announced, removed, superseded;
    int64_t add_ms, remove_ms;       /* as logged */
    struct str remove_reason;
    int64_t cores, profile_id;       /* UNKNOWN where not logged */
    int64_t slots;                   /* s_e ≥ 1; 0: no executor (a driver that runs no tasks, an id that was only named) */
    bool slots_inferred;             /* more tasks ran side by side than its cores allow */
    int64_t from_ms, to_ms;          /* alive, inside the application's interval; from = to where slots is 0 */
    int64_t first_launch_ms, last_finish_ms;       /* over its attempts; UNKNOWN: none */
    size_t first_attempt, attempt_count;           /* its attempts: facts->by_executor[first_attempt …] */
    int64_t max_memory_bytes;
    int64_t held_storage_bytes;      /* on the heap, cached when the log ended; UNKNOWN without block updates in it */
    bool has_peaks;
    int64_t peak_heap_bytes, peak_off_heap_bytes, peak_storage_bytes, peak_unified_bytes, peak_rss_bytes /* JVM + Python + other */, peak_major_gc_count, peak_major_gc_ms;
    int64_t task_count, failed_task_count, task_time_ms, gc_time_ms, input_bytes, shuffle_read_bytes, shuffle_write_bytes;
};

struct job_fact {
    int64_t job_id;
    struct str name, description, group, pool;
    int64_t sql_execution_id;
    int64_t begin_ms, end_ms;        /* by the rules of 3.6: never UNKNOWN, begin ≤ end, inside the application's interval */
    bool end_seen, failed, start_seen;
    int64_t failure_text_id;         /* see facts_text */
    const uint32_t *stages;          /* positions of the stage attempts that it owns (3.8), ascending; owned by the arena */
    size_t stage_count;
    int64_t listed_stage_count, skipped_stage_count;
};

struct stage_fact {
    int64_t stage_ref, stage_id, attempt;
    struct str name, description, pool;
    int64_t details_text_id, failure_text_id;      /* call stack, failure reason: see facts_text */
    int64_t num_tasks;
    int64_t submission_ms, completion_ms;          /* as logged; UNKNOWN also where that is no time (SOUND_TIME_…) */
    int64_t first_launch_ms, last_finish_ms;       /* over its attempts; UNKNOWN: none */
    int64_t begin_ms, end_ms;        /* its window (3.8): from submission, or else first launch, to its last finish, inside the interval; UNKNOWN without attempts */
    bool submitted_seen, completed_seen, failed, skipped;
    int64_t profile_id, sql_execution_id;
    uint32_t job;                    /* owner (3.8), position; NO_ENTITY: none */
    size_t first_attempt, attempt_count;           /* its attempts: facts->attempts[first_attempt …], by (launch, task id) */
    size_t winner_count;
    const uint32_t *parents;         /* positions of the parents' attempts that count as its dependencies (6.2) */
    size_t parent_count;
    const int64_t *parent_ids, *rdds;              /* stage ids; RDD ids in the order of the log */
    size_t parent_id_count, rdd_count;
    bool is_python;                  /* it evaluates Python (3.4) */
    int64_t seen_success;            /* distinct indexes with a success, at most num_tasks */
    double completeness;             /* Cs of 2.2; NaN: unknown */
};

struct rdd_fact {
    int64_t rdd_id, num_partitions;
    struct str name, scope, callsite, storage_level;
    bool persisted, unpersisted;     /* it had a storage level; it was released */
    bool is_python;                  /* its name or scope says that it evaluates Python */
    bool use_disk, use_memory, deserialized;
    int64_t memory_bytes, disk_bytes;              /* cached at the end of the log; UNKNOWN without block updates */
    int64_t cached_partitions;
    const int64_t *parents;
    size_t parent_count;
};

struct sql_fact {
    int64_t execution_id, root_id;
    struct str description;
    int64_t error_text_id;           /* see facts_text */
    int64_t begin_ms, end_ms;        /* as logged; end UNKNOWN: not read */
    bool start_seen, end_seen, failed;
    int64_t plan_id;                 /* of its latest plan; UNKNOWN: none */
};

/* What log health counted (2.1); straight from the store, which counts lines that are refused among the bad ones. */
struct completeness_counts {
    int64_t lines, lines_bad, task_start, task_end, task_end_only, task_open, stage_sub, stage_done, job_start, job_end, sql_start, sql_end, roll_min, roll_max, roll_present;
    bool tail_cut, app_start, app_end, compacted, in_progress, rolling;
};

/* What can be asked of a stage's tasks (facts_values). */
enum task_value {
    VALUE_RUN_MS, VALUE_DESERIALIZE_MS, VALUE_SERIALIZE_MS, VALUE_GETTING_RESULT_MS /* epoch, as logged */, VALUE_GC_MS, VALUE_CPU_NS, VALUE_FETCH_WAIT_MS, VALUE_SHUFFLE_WRITE_NS,
    VALUE_DISK_SPILL_BYTES, VALUE_MEMORY_SPILL_BYTES, VALUE_INPUT_BYTES, VALUE_INPUT_RECORDS, VALUE_SHUFFLE_READ_BYTES /* local + remote */, VALUE_SHUFFLE_REMOTE_BYTES,
    VALUE_SHUFFLE_READ_RECORDS, VALUE_OUTPUT_BYTES, VALUE_OUTPUT_RECORDS, VALUE_SHUFFLE_WRITE_BYTES, VALUE_SHUFFLE_WRITE_RECORDS, VALUE_RESULT_BYTES, VALUE_PEAK_MEMORY_BYTES,
    VALUE_LOCALITY, VALUE_END_REASON, VALUE_ERROR_TEXT_ID, TASK_VALUE_COUNT
};

/* Something that ends before it begins, or lies outside of the run: a task, a stage attempt, a job, an executor (by executor_ref). */
enum clock_fault_of { CLOCK_NONE, CLOCK_TASK, CLOCK_STAGE, CLOCK_JOB, CLOCK_EXECUTOR };
struct clock_fault {
    enum clock_fault_of of;
    int64_t id, attempt;             /* attempt: of a stage */
    int64_t begin_ms, end_ms;        /* as logged */
};

struct facts {
    struct arena arena;
    struct db *db;                   /* borrowed; for facts_values */
    struct smap texts, conf;         /* each name once; settings: texts of arena */
    struct task_reader *tasks;       /* of the columns of tasks; internal, as is */
    struct facts_scratch *scratch;   /* what is sorted while facts are loaded */
    struct str app_id, attempt_id, name, user, spark_version;
    int spark_major, spark_minor;    /* −1: unknown */
    int64_t begin_ms, end_ms;        /* A0 ≤ A1 */
    bool end_at_least;               /* A1 is the last event seen, not ApplicationEnd */
    bool is_local;                   /* master is local or local[…] */
    bool has_cpu_time;               /* the writer records executor CPU time (2.1) */
    int64_t exit_code;
    int64_t clock_faults;
    struct clock_fault first_fault;  /* with the earliest end; of 0: none */
    struct completeness_counts counts;
    struct executor_fact *executors; /* by executor_ref */
    struct job_fact *jobs;           /* by job_id */
    struct stage_fact *stages;       /* by (stage_id, attempt) */
    struct rdd_fact *rdds;           /* by rdd_id */
    struct sql_fact *sqls;           /* by execution_id */
    struct attempt *attempts;        /* by (stage, launch, task id) */
    struct attempt_launch *launches; /* of the attempts, at their positions */
    uint32_t *by_executor;           /* positions of attempts by (executor, launch, task id) */
    size_t executor_count, job_count, stage_count, rdd_count, sql_count, attempt_count;
    int64_t slot_peak;               /* S_ref */
    double overlap_ms;               /* Σ (o − o') */
};

/* o' = F − L' of the spec, ≥ 0: hostile logs have tasks of years. */
static inline int64_t attempt_occupancy_ms(const struct attempt *attempt)
{
    return attempt->finish_ms - attempt->begin_ms;
}

/* As the log says it; UNKNOWN: it does not (facts->end_ms is its last event then). */
static inline int64_t facts_logged_end_ms(const struct facts *self)
{
    return self->counts.app_end ? self->end_ms : UNKNOWN;
}

/* Of one of facts->attempts. */
static inline const struct attempt_launch *attempt_launch(const struct facts *self, const struct attempt *attempt)
{
    return &self->launches[attempt - self->attempts];
}

/* A time outside of this is none (-1 stands for unknown in old logs; the end is the year 3000): it keeps sums of hostile times far from overflow. */
#define SOUND_TIME_MIN_MS INT64_C(0)
#define SOUND_TIME_MAX_MS INT64_C(32503680000000)
/* More tasks side by side on one executor than any machine runs: where cores and tasks say more, this many are its slots, and the rest counts as overlap. */
#define SLOTS_MAX 65535

/* Bytes the arena may take; what a hostile database holds beyond fails with ERR_LIMIT. */
#define FACTS_ARENA_BYTES ((size_t)1 << 30)
#define FACTS_MAX_ATTEMPTS ((size_t)1 << 28)
/* From so many attempts on a second thread is worth its beginning. */
#define FACTS_BESIDE_FROM ((size_t)4096)

enum err_code facts_load(struct facts *ret, struct db *db, struct err *err) WARN_UNUSED;      /* the four steps above, in order */
void facts_dispose(struct facts *self);                                                       /* idempotent */

/* The effective value of a setting: environment section Spark; STR_NONE where it is not set. */
struct str facts_conf(const struct facts *self, const char *key);
/* Positions, or NO_ENTITY. */
uint32_t facts_stage(const struct facts *self, int64_t stage_id, int64_t attempt);
uint32_t facts_job(const struct facts *self, int64_t job_id);
uint32_t facts_executor(const struct facts *self, struct str id);      /* its latest life; one look at each executor */
uint32_t facts_sql(const struct facts *self, int64_t execution_id);
/* A long text (failures, call stacks) by its id, into the caller's arena; STR_NONE for UNKNOWN and for ids that are not there. */
enum err_code facts_text(const struct facts *self, int64_t text_id, struct arena *arena, struct str *ret, struct err *err) WARN_UNUSED;

/* Values of a stage's tasks, in the order of its attempts. UNKNOWN: not logged. */
struct task_values {
    size_t count;
    int64_t *of[TASK_VALUE_COUNT];   /* NULL: not asked for. Owned; give back with task_values_dispose */
};
#define TASK_BATCH_ROWS ((size_t)16384) /* as many as a chunk has at most (schema.sql) */
/* The same without the memory, for who goes over all tasks once: batches of up to TASK_BATCH_ROWS tasks in the order of the store. places[i]: which of the stage's attempts the values at i belong to.
 * Borrowed for the call; other values are not asked for meanwhile. */
typedef enum err_code values_fn(void *to, const struct task_values *batch, const uint32_t *places, struct err *err);
enum err_code facts_value_batches(const struct facts *self, uint32_t stage, uint32_t wanted, values_fn *take, void *to, struct err *err) WARN_UNUSED;

/* `wanted`: bits 1 << enum task_value. 8 bytes an attempt and value: callers ask for what they look at. */
enum err_code facts_values(const struct facts *self, uint32_t stage, uint32_t wanted, struct task_values *ret, struct err *err) WARN_UNUSED;
void task_values_dispose(struct task_values *self);

#endif
