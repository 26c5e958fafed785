/* SPDX-License-Identifier: Apache-2.0
 *
 * The time account (spec/findings.md 3): where slots × wall went. Two views of one integrand, slot-ms and wall-ms; both sums close by construction. For the application, and as
 * windows and as costs for each job and stage attempt. Doubles inside; who stores them rounds with account_round. One thread. Time: linear in attempts but for sorting them, whatever
 * overlaps; memory: 32 bytes an attempt and the values of one stage's tasks while it is made. */
#ifndef ANALYSIS_ACCOUNT_H
#define ANALYSIS_ACCOUNT_H

#include "analysis/facts.h"

/* In the order of pages and reports. Busy buckets (3.4), lost, then idle ones (3.5) and gaps (3.6). BUCKET_OTHERS: attempts of others, in windows alone. */
#define ACCOUNT_BUCKETS(X)                                                                                                                                            \
    X(CPU, "cpu") X(GC, "gc") X(DESER, "deser") X(SER, "ser") X(FETCH, "fetch") X(SHWRITE, "shwrite") X(PYTHON, "python") X(SPILL_IO, "spill_io")                         \
    X(STORAGE_IO, "storage_io") X(OTHER, "other") X(RUN_UNSPLIT, "run_unsplit") X(DELAY, "delay") X(GETRES, "getres") X(NOMETRICS, "nometrics") X(LOST, "lost")           \
    X(OTHERS, "others") X(SCHED_WAIT, "sched_wait") X(FEW_TASKS, "few_tasks") X(TAIL, "tail") X(STAGE_GAP, "stage_gap") X(UNKNOWN_WORK, "unknown")                        \
    X(STARTUP, "startup") X(WAIT_EXEC, "wait_exec") X(NOT_ALLOC, "not_alloc") X(GAP_SQL, "gap_sql") X(GAP_STREAM, "gap_stream") X(GAP_SERVER, "gap_server")               \
    X(GAP_STARTUP, "gap_startup") X(GAP_SHUTDOWN, "gap_shutdown") X(GAP_USER, "gap_user")
enum bucket {
#define X(id, name) BUCKET_##id,
    ACCOUNT_BUCKETS(X)
#undef X
    BUCKET_COUNT
};
extern const char *const bucket_names[BUCKET_COUNT];

struct account {
    double slot_ms[BUCKET_COUNT], wall_ms[BUCKET_COUNT];
    double slot_total_ms, wall_total_ms;      /* what the sums must be: of the application frame and wall, of a window ∫ slots and its length, of a cost simply the sums */
};

/* A maximal interval without a running job, or a part of one cut at SQL and streaming boundaries (3.6). */
struct driver_gap {
    int64_t from_ms, to_ms;
    enum bucket kind;                /* BUCKET_GAP_… */
    const char *sub;                 /* static: planning, commit, between, command of gap_sql; else NULL */
    int64_t sql_execution_id;        /* of gap_sql; else UNKNOWN */
    uint32_t job_before, job_after;  /* positions; NO_ENTITY */
};

/* Sums over the winners with metrics of a stage attempt, by bucket, beside its window and cost: what rules ask about a stage. */
struct stage_account {
    struct account window, cost;
    double winner_ms[BUCKET_COUNT];  /* busy buckets alone */
    double occupancy_ms;             /* Σ o' of all its attempts */
    double winner_occupancy_ms;
    double slots;                    /* S_s of 4.3: mean slots over [first launch, end] as integer ≥ 1; 0: no attempts */
    double sched_wait_slot_ms, few_tasks_slot_ms, tail_slot_ms;     /* its share of what was idle while it was active: those of `cost` */
};

/* A sum that is exact enough to be subtracted: what a short window holds of a run of centuries. hi + lo. */
struct exact_sum {
    double hi, lo;
};
static inline void exact_add(struct exact_sum *self, double value)
{
    double sum = self->hi + value, from_value = sum - self->hi;
    self->lo += (self->hi - (sum - from_value)) + (value - from_value);
    self->hi = sum;
}
static inline double exact_since(struct exact_sum now, struct exact_sum then)
{
    return (now.hi - then.hi) + (now.lo - then.lo);
}

/* Slots alive over time: breakpoints ascending, slots[i] from times[i] to times[i + 1], the first at the interval's begin, the last one, with no slots, at its end. */
struct slot_curve {
    int64_t *times_ms;
    int64_t *slots;
    struct exact_sum *slot_ms, *wall_ms;      /* up to times[i]: ∫ slots; ∫ 1/slots, which is 0 where there are none (K of 3.7) */
    size_t count, usual;                      /* usual: where it stands still longest */
};
enum err_code slot_curve_make(struct slot_curve *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void slot_curve_dispose(struct slot_curve *self);
double slot_curve_integral(const struct slot_curve *self, int64_t from_ms, int64_t to_ms);     /* ∫ slots */
double slot_curve_per_slot(const struct slot_curve *self, int64_t from_ms, int64_t to_ms);     /* ∫ 1/slots: by how much wall time one busy slot counts */

struct accounts {
    struct account app;              /* the frame: S_ref × wall */
    double allocated_ms;             /* = costs of all jobs + idle_gap_ms + unowned_ms */
    double idle_gap_ms;              /* slots that were there and idle while no job ran */
    double unowned_ms;               /* occupancy of attempts whose stage no job lists (damaged logs) */
    struct account *job_windows, *job_costs;  /* by position of job */
    struct stage_account *stages;             /* by position of stage */
    struct driver_gap *gaps;         /* by time, from the first executor on; their lengths sum to the wall view of the gap buckets and of what attempts did meanwhile */
    size_t gap_count;
    double jobs_ms;                  /* T_jobs: length of the union of job intervals */
    struct slot_curve curve;
    struct account_sweep *sweep;     /* on the way: what account_spans_make and accounts_end go along; NULL behind it */
};

enum err_code accounts_make(struct accounts *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void accounts_dispose(struct accounts *self);
/* |Σ − total| / total over both views; 0 where the total is 0. The gate is 0.01, what is measured 1e-13. */
double account_closure_error(const struct account *account);
/* Integers that sum to the rounded total (3.9): largest remainder. `ret` has BUCKET_COUNT places. */
void account_round(const double *buckets, double total, int64_t *ret);

/* One attempt's busy buckets (3.4): parts sum to o'. `values` are those of its stage, `i` its place among the stage's attempts. */
void attempt_buckets(const struct facts *facts, const struct attempt *attempt, const struct task_values *values, size_t i, double ret[BUCKET_COUNT]);
#define ACCOUNT_VALUES                                                                                                                                                \
    (1U << VALUE_RUN_MS | 1U << VALUE_DESERIALIZE_MS | 1U << VALUE_SERIALIZE_MS | 1U << VALUE_GETTING_RESULT_MS | 1U << VALUE_GC_MS | 1U << VALUE_CPU_NS |                \
     1U << VALUE_FETCH_WAIT_MS | 1U << VALUE_SHUFFLE_WRITE_NS | 1U << VALUE_DISK_SPILL_BYTES | 1U << VALUE_INPUT_BYTES | 1U << VALUE_OUTPUT_BYTES)

/* accounts_make in steps, for who takes the values of all tasks for other things, too. accounts_begin knows each stage's slots; then, stage by stage in the order of facts, where it has
 * attempts: begin, add with each batch (facts_value_batches) of ACCOUNT_VALUES or more, end; then accounts_end, from which on all the rest is known. A pass borrows and has nothing to free. account_spans_make
 * can run beside all passes: it asks for facts and slots alone. */
struct account_pass {
    struct accounts *accounts;
    const struct facts *facts;
    const struct stage_fact *stage;
    struct stage_account *account;
    const struct job_fact *job; /* NULL: nobody's */
    bool in_stage, in_job;      /* all attempts lie inside its window, its job's window: then their sums do */
};
enum err_code accounts_begin(struct accounts *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void account_pass_begin(struct account_pass *self, struct accounts *accounts, const struct facts *facts, uint32_t stage);
void account_pass_add(struct account_pass *self, const struct task_values *values, const uint32_t *places);
void account_pass_end(struct account_pass *self);
/* What attempts did between the changes of slots, jobs and stages: linear in attempts, which accounts_end is not any more. */
enum err_code account_spans_make(struct accounts *self, const struct facts *facts, struct err *err) WARN_UNUSED;
enum err_code accounts_end(struct accounts *self, const struct facts *facts, struct err *err) WARN_UNUSED;

#endif
