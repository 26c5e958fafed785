/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cache_audit.h"

#include <math.h>

#include "base/mem.h"

/* Kept too long: so much of the run, weighed with its share of the memory (RDD.CACHE_LEAK, first step). */
#define LEAKED_SHARE 0.1
/* Unsuitable level: objects in more than this of the storage memory; more than this of its bytes on disks. */
#define OBJECTS_SHARE 0.5
#define DISK_SHARE 0.3
#define FULL_SHARE 0.999 /* a share above this is all of it */
/* Stages that are gone through to find out what filling one RDD cost, all RDDs together; beyond it that is unknown. Real audits take some thousand. */
#define BUILD_STEPS 20000000

const char *const cache_verdict_names[CACHE_VERDICT_COUNT] = {"untouched", "unused", "partial", "leaked", "level", "useful", "unproven"};

struct auditor {
    const struct judged *judged;
    struct cache_audit *audit;
    uint32_t *seen;      /* by stage: row + 1 that counted it */
    uint32_t *met;       /* by stage: how many persisted RDDs it met */
    bool *reports_input; /* by stage */
    uint32_t *stack;
    size_t stack_capacity, steps;
    sqlite3_stmt *own_rdd; /* of a stage_ref */
};

static double mean_storage_bytes(const struct facts *facts)
{
    double sum = 0, wall = (double)(facts->end_ms - facts->begin_ms);
    for (size_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (executor->slots && known(executor->max_memory_bytes) && executor->max_memory_bytes > 0)
            sum += (double)executor->max_memory_bytes * (double)(executor->to_ms - executor->from_ms);
    }
    return sum > 0 && wall > 0 ? sum / wall : (double)NAN;
}

/* Σ o' of the stages that filled it and, in the same job, of all that ran before for them. */
static enum err_code build_cost(struct auditor *self, uint32_t stage, uint32_t stamp, double *ret, struct err *err)
{
    const struct facts *facts = self->judged->facts;
    size_t count = 0;
    *ret = 0;
    if (mem_grow((void **)&self->stack, &self->stack_capacity, 1, facts->stage_count, sizeof *self->stack))
        return err_nomem(err);
    self->stack[count++] = stage;
    self->seen[stage] = stamp;
    while (count) {
        const struct stage_fact *fact = &facts->stages[self->stack[--count]];
        *ret += self->judged->accounts->stages[fact - facts->stages].occupancy_ms;
        self->steps += 1 + fact->parent_count;
        for (size_t i = 0; i < fact->parent_count; i++) {
            uint32_t parent = fact->parents[i];
            if (self->seen[parent] == stamp || facts->stages[parent].job != fact->job)
                continue;
            if (mem_grow((void **)&self->stack, &self->stack_capacity, count + 1, facts->stage_count, sizeof *self->stack))
                return err_nomem(err);
            self->seen[parent] = stamp;
            self->stack[count++] = parent;
        }
    }
    return ERR_OK;
}

/* Tasks of a reading stage that report no input. A stage that reads several cached RDDs, or a shuffle besides, says nothing of one of them. */
static enum err_code count_missing(const struct facts *facts, uint32_t stage, double *missing, double *tasks, struct err *err)
{
    const struct stage_fact *fact = &facts->stages[stage];
    struct task_values values;
    enum err_code rc = facts_values(facts, stage, 1U << VALUE_INPUT_BYTES, &values, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < fact->attempt_count && i < values.count; i++) {
        const struct attempt *attempt = &facts->attempts[fact->first_attempt + i];
        if (attempt->kind != WINNER || !attempt->has_metrics)
            continue;
        *tasks += 1;
        *missing += known_or(values.of[VALUE_INPUT_BYTES][i], 0) <= 0;
    }
    task_values_dispose(&values);
    return ERR_OK;
}

/* Whose tasks report input: blocks of caches are input, too. Rows come in the order of facts. */
static enum err_code read_inputs(struct auditor *self, struct err *err)
{
    const struct facts *facts = self->judged->facts;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT stage_id, attempt FROM stage WHERE input_bytes > 0 ORDER BY stage_id, attempt", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        uint32_t stage = facts_stage(facts, db_i64(stmt, 0), db_i64(stmt, 1));
        if (stage != NO_ENTITY)
            self->reports_input[stage] = true;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A stage that ends in the RDD did nothing with it: adaptive execution fills a table's cache in a job of its own (3.5) before the query that asked for the table reads it. */
static enum err_code ends_in(struct auditor *self, uint32_t stage, uint32_t rdd, bool *ret, struct err *err)
{
    db_reset(self->own_rdd);
    db_bind_i64(self->own_rdd, 1, self->judged->facts->stages[stage].stage_ref);
    enum err_code rc = db_step(self->own_rdd, err);
    *ret = rc == ERR_OK && db_i64(self->own_rdd, 0) == self->judged->facts->rdds[rdd].rdd_id;
    return rc == ERR_EOF ? ERR_OK : rc;
}

static bool in_another_job_of_its_query(const struct facts *facts, uint32_t built_by, uint32_t reader)
{
    uint32_t a = facts->stages[built_by].job, b = facts->stages[reader].job;
    return a != NO_ENTITY && b != NO_ENTITY && a != b && known(facts->jobs[a].sql_execution_id) && facts->jobs[a].sql_execution_id == facts->jobs[b].sql_execution_id;
}

static enum err_code audit_uses(struct auditor *self, struct cache_row *row, struct err *err)
{
    const struct facts *facts = self->judged->facts;
    const struct lineage_use *uses = self->audit->lineage.met + row->first_use;
    double missing = 0, tasks = 0;
    bool whole = false, own_job = false;
    for (size_t i = 0; i < row->use_count; i++) {
        const struct stage_fact *stage = &facts->stages[uses[i].stage];
        whole |= known(row->partitions) && row->partitions > 0 && (int64_t)stage->winner_count >= row->partitions;
        if (i == 0) {
            enum err_code rc = ends_in(self, row->built_by = uses[0].stage, row->rdd, &own_job, err);
            if (rc)
                return rc;
            continue;
        }
        if (!self->reports_input[uses[i].stage])
            continue;
        if (own_job && !row->filled_ahead && in_another_job_of_its_query(facts, row->built_by, uses[i].stage)) {
            row->filled_ahead = true; /* without a cache it would have computed it, too */
            continue;
        }
        row->read_count++;
        if (!known(row->last_read_ms) || stage->last_finish_ms > row->last_read_ms) {
            row->last_read_ms = stage->last_finish_ms;
            row->last_reader = uses[i].stage;
        }
        enum err_code rc =
            known(row->most_partitions) || self->met[uses[i].stage] != 1 || stage->parent_count ? ERR_OK : count_missing(facts, uses[i].stage, &missing, &tasks, err);
        if (rc)
            return rc;
    }
    row->fraction = whole && known(row->most_partitions) ? MIN(1.0, (double)row->most_partitions / (double)row->partitions) : (double)NAN;
    row->missing_share = tasks > 0 ? missing / tasks : (double)NAN;
    if (row->built_by == NO_ENTITY)
        return ERR_OK;
    enum err_code rc = ERR_OK;
    if (self->steps < BUILD_STEPS)
        rc = build_cost(self, row->built_by, (uint32_t)(row - self->audit->rows) + 1, &row->build_ms, err);
    row->saved_ms = (double)row->read_count * row->build_ms * (isnan(row->fraction) ? 1 : row->fraction) / (double)MAX(facts->slot_peak, 1);
    return rc;
}

static enum cache_verdict verdict_of(const struct auditor *self, const struct cache_row *row)
{
    const struct facts *facts = self->judged->facts;
    const struct rdd_fact *rdd = &facts->rdds[row->rdd];
    if (row->built_by == NO_ENTITY)
        return CACHE_UNTOUCHED;
    if (!row->read_count)
        return CACHE_UNUSED;
    if (row->fraction < FULL_SHARE)
        return CACHE_PARTIAL;
    if (cache_idle_share(row, facts) * row->storage_share >= LEAKED_SHARE)
        return CACHE_LEAKED;
    double memory = (double)known_or(row->most_memory_bytes, 0), disk = (double)known_or(row->most_disk_bytes, 0);
    if ((rdd->deserialized && row->storage_share > OBJECTS_SHARE) || (disk > 0 && disk / (memory + disk) > DISK_SHARE))
        return CACHE_LEVEL;
    return isnan(row->fraction) ? CACHE_UNPROVEN : CACHE_USEFUL;
}

double cache_idle_share(const struct cache_row *row, const struct facts *facts)
{
    int64_t end = known(row->unpersist_ms) ? row->unpersist_ms : facts->end_ms, wall = facts->end_ms - facts->begin_ms;
    int64_t idle = elapsed_known(row->last_read_ms, MIN(end, facts->end_ms));
    return known(idle) && wall > 0 ? (double)idle / (double)wall : (double)NAN;
}

static enum err_code read_rows(struct auditor *self, struct err *err)
{
    const struct facts *facts = self->judged->facts;
    struct cache_audit *audit = self->audit;
    size_t capacity = 0;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(facts->db, &stmt,
                   "SELECT rdd_id, storage_partitions, most_partitions, evicted_partitions, most_memory_bytes, most_disk_bytes, unpersist_ms, held_byte_ms, held_to_ms,"
                   " memory_used_bytes, disk_used_bytes FROM rdd WHERE storage_partitions IS NOT NULL ORDER BY rdd_id",
                   err);
    size_t at = 0;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        int64_t rdd_id = db_i64(stmt, 0), held_ms = elapsed_known(db_i64(stmt, 8), facts->end_ms);
        while (at < facts->rdd_count && facts->rdds[at].rdd_id < rdd_id)
            at++;
        if (at == facts->rdd_count || facts->rdds[at].rdd_id != rdd_id)
            continue;
        if (mem_grow((void **)&audit->rows, &capacity, audit->count + 1, facts->rdd_count, sizeof *audit->rows)) {
            rc = err_nomem(err);
            break;
        }
        struct cache_row *row = &audit->rows[audit->count++];
        *row = (struct cache_row){.rdd = (uint32_t)at,
                                  .built_by = NO_ENTITY,
                                  .last_reader = NO_ENTITY,
                                  .last_read_ms = UNKNOWN,
                                  .partitions = db_i64(stmt, 1),
                                  .most_partitions = db_i64(stmt, 2),
                                  .evicted_partitions = db_i64(stmt, 3),
                                  .most_memory_bytes = db_i64(stmt, 4),
                                  .most_disk_bytes = db_i64(stmt, 5),
                                  .unpersist_ms = db_i64(stmt, 6),
                                  .held_byte_ms = db_f64(stmt, 7),
                                  .build_ms = (double)NAN,
                                  .saved_ms = (double)NAN};
        double left = (double)known_or(db_i64(stmt, 9), 0) + (double)known_or(db_i64(stmt, 10), 0);
        if (known(held_ms))
            row->held_byte_ms += left * (double)held_ms;
        row->storage_share = known(row->most_memory_bytes) ? (double)row->most_memory_bytes / audit->storage_bytes : (double)NAN;
        row->first_use = lineage_uses(audit->lineage.met, audit->lineage.met_count, row->rdd, &row->use_count);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code cache_audit_make(struct cache_audit *ret, const struct judged *judged, struct err *err)
{
    const struct facts *facts = judged->facts;
    *ret = (struct cache_audit){.storage_bytes = mean_storage_bytes(facts)};
    struct auditor self = {.judged = judged, .audit = ret};
    size_t stages = MAX(facts->stage_count, (size_t)1);
    self.seen = mem_array(stages, sizeof *self.seen);
    self.met = mem_array(stages, sizeof *self.met);
    self.reports_input = mem_array(stages, sizeof *self.reports_input);
    enum err_code rc = self.seen && self.met && self.reports_input ? lineage_make(&ret->lineage, facts, err) : err_nomem(err);
    for (size_t i = 0; i < ret->lineage.met_count && !rc; i++)
        self.met[ret->lineage.met[i].stage]++;
    if (!rc)
        rc = read_inputs(&self, err);
    if (!rc)
        rc = read_rows(&self, err);
    if (!rc)
        rc = db_prepare(facts->db, &self.own_rdd, "SELECT rdd_id FROM stage_rdd WHERE stage_ref = ? AND ordinal = 0", err);
    for (size_t i = 0; i < ret->count && !rc; i++)
        if (!(rc = audit_uses(&self, &ret->rows[i], err)))
            ret->rows[i].verdict = verdict_of(&self, &ret->rows[i]);
    mem_free(self.seen);
    mem_free(self.met);
    mem_free(self.reports_input);
    mem_free(self.stack);
    db_finalize(self.own_rdd);
    if (rc)
        cache_audit_dispose(ret);
    return rc;
}

void cache_audit_dispose(struct cache_audit *self)
{
    lineage_dispose(&self->lineage);
    mem_free(self->rows);
    *self = (struct cache_audit){0};
}

static int64_t whole(double value)
{
    return value >= 0 && value < 9e18 ? (int64_t)(value + 0.5) : UNKNOWN;
}

enum err_code cache_audit_store(const struct cache_audit *self, const struct facts *facts, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(
        db, &stmt,
        "INSERT INTO cache_audit (rdd_id, verdict, built_stage_ref, read_count, last_read_ms, last_stage_ref, fraction, missing_share, evicted_partitions, build_ms, saved_ms,"
        " held_byte_ms, storage_share) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct cache_row *row = &self->rows[i];
        db_bind_i64(stmt, 1, facts->rdds[row->rdd].rdd_id);
        db_bind_str(stmt, 2, str_of(cache_verdict_names[row->verdict]));
        db_bind_i64(stmt, 3, row->built_by == NO_ENTITY ? UNKNOWN : facts->stages[row->built_by].stage_ref);
        db_bind_i64(stmt, 4, (int64_t)row->read_count);
        db_bind_i64(stmt, 5, row->last_read_ms);
        db_bind_i64(stmt, 6, row->last_reader == NO_ENTITY ? UNKNOWN : facts->stages[row->last_reader].stage_ref);
        db_bind_f64(stmt, 7, row->fraction);
        db_bind_f64(stmt, 8, row->missing_share);
        db_bind_i64(stmt, 9, row->evicted_partitions);
        db_bind_i64(stmt, 10, whole(row->build_ms));
        db_bind_i64(stmt, 11, whole(row->saved_ms));
        db_bind_f64(stmt, 12, row->held_byte_ms);
        db_bind_f64(stmt, 13, row->storage_share);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
