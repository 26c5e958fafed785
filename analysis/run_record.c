/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_rows.h"
#include "analysis/finding_order.h"
#include "analysis/fingerprint.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"

#define WALL_MAX_MS ((int64_t)1 << 52) /* 140,000 years: sums of these never overflow, whatever a file that came by mail says */

static const struct {
    const char *name, *unit;
} metric_words[] = {
#define X(id, name, unit) [RUN_##id] = {name, unit},
    RUN_METRICS(X)
#undef X
};

const char *run_metric_name(enum run_metric metric)
{
    return metric < RUN_BUCKETS ? metric_words[metric].name : bucket_names[metric - RUN_BUCKETS];
}

const char *run_metric_unit(enum run_metric metric)
{
    return metric < RUN_BUCKETS ? metric_words[metric].unit : "ms";
}

static int bucket_find(struct str name)
{
    for (int i = 0; i < BUCKET_COUNT; i++)
        if (str_is(name, bucket_names[i]))
            return i;
    return -1;
}

/* --- numbers of the whole run */

enum err_code run_metrics_load(double ret[RUN_METRIC_COUNT], struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    for (int i = 0; i < RUN_METRIC_COUNT; i++)
        ret[i] = (double)NAN;
    enum err_code rc =
        db_prepare(app, &row,
                   "SELECT a.wall_ms, a.allocated_ms, t.input, t.shuffle, t.spill, iif(t.task_time > 0, t.gc * 1.0 / t.task_time, NULL), t.failed, "
                   "(SELECT nullif(max(peak_jvm_heap_memory_bytes + coalesce(peak_jvm_off_heap_memory_bytes, 0)), 0) FROM executor WHERE peaks_set AND executor_id <> 'driver') "
                   "FROM analysis AS a, (SELECT sum(input_bytes) AS input, total(shuffle_remote_read_bytes) + total(shuffle_local_read_bytes) AS shuffle, "
                   "sum(disk_spilled_bytes) AS spill, total(task_time_ms) AS task_time, total(jvm_gc_time_ms) AS gc, total(failed_tasks) AS failed FROM stage) AS t",
                   err);
    if (!rc && !(rc = db_step(row, err)))
        for (int i = 0; i < RUN_BUCKETS; i++)
            ret[i] = db_f64(row, i);
    db_finalize(row);
    row = NULL;
    if (rc)
        return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the run was not analysed") : rc;
    for (int i = RUN_BUCKETS; i < RUN_METRIC_COUNT; i++)
        ret[i] = 0;
    rc = db_prepare(app, &row, "SELECT bucket, wall_ms FROM account WHERE scope = 0", err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        int bucket = bucket_find(db_str(row, 0));
        if (bucket >= 0 && !db_is_null(row, 1))
            ret[RUN_BUCKETS + bucket] = db_f64(row, 1);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code keep(struct run_record *self, struct str text, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    return str_known(text) && arena_str(&self->arena, text, ret) ? err_set(err, ERR_LIMIT, "the run has more texts than fit into memory for a comparison") : ERR_OK;
}

static int64_t between(int64_t value, int64_t low, int64_t high)
{
    return !known(value) || value < low ? low : value > high ? high : value;
}

static enum err_code load_head(struct run_record *self, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(app, &row,
                                  "SELECT p.app_id, p.attempt_id, p.name, p.user, p.spark_version, a.begin_ms, a.wall_ms, a.completeness, a.slot_peak, "
                                  "(SELECT count(DISTINCT executor_id) FROM executor WHERE executor_id <> 'driver'), "
                                  "max(0, a.simulated_ms - (SELECT wall_ms FROM what_if WHERE scenario = 'W4' LIMIT 1)), a.end_at_least FROM analysis AS a, application AS p LIMIT 1",
                                  err);
    if (!rc && !(rc = db_step(row, err))) {
        struct str *const texts[] = {&self->app_id, &self->attempt_id, &self->name, &self->user, &self->spark_version};
        for (size_t i = 0; i < ARRAY_LENGTH(texts) && !rc; i++)
            rc = keep(self, db_str(row, (int)i), texts[i], err);
        self->begin_ms = db_i64(row, 5);
        self->wall_ms = between(db_i64(row, 6), 0, WALL_MAX_MS);
        self->completeness = db_i64(row, 7);
        self->slot_peak = db_i64(row, 8);
        self->executor_count = db_i64(row, 9);
        self->end_at_least = db_i64(row, 11) == 1;
        self->lost_ms = known(db_i64(row, 10)) ? between(db_i64(row, 10), 0, self->wall_ms) : UNKNOWN;
    }
    db_finalize(row);
    if (rc)
        return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the run was not analysed") : rc;
    if ((rc = run_metrics_load(self->metrics, app, err)))
        return rc;
    for (int i = 0; i < BUCKET_COUNT; i++)
        self->bucket_ms[i] = llround(fmin(fmax(self->metrics[RUN_BUCKETS + i], 0), (double)self->wall_ms));
    return ERR_OK;
}

static enum err_code load_gaps(struct run_record *self, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc =
        db_prepare(app, &row,
                   "SELECT g.kind, max(g.to_ms - g.from_ms), g.from_ms, (SELECT name FROM job WHERE job_id = g.job_before), (SELECT name FROM job WHERE job_id = g.job_after) "
                   "FROM driver_gap AS g GROUP BY g.kind",
                   err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        int bucket = bucket_find(db_str(row, 0));
        if (bucket < 0)
            continue;
        struct run_gap *gap = &self->gaps[bucket];
        gap->ms = db_i64(row, 1);
        gap->begin_ms = db_i64(row, 2);
        if (!(rc = keep(self, db_str(row, 3), &gap->after, err)))
            rc = keep(self, db_str(row, 4), &gap->before, err);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* --- stages */

static double sum_known(double sum, double value)
{
    return isnan(value) ? sum : isnan(sum) ? value : sum + value;
}

/* Seconds on the chain are parts of the wall: `chain_left_ms` is what others left of it. */
static void add_attempt(struct run_stage *stage, sqlite3_stmt *row, int64_t *chain_left_ms)
{
    int64_t chain_ms = between(db_i64(row, 6), 0, *chain_left_ms);
    *chain_left_ms -= chain_ms;
    stage->chain_ms += chain_ms;
    stage->queue_ms += between(db_i64(row, 7), 0, chain_ms);
    stage->work_ms = add_known(stage->work_ms, known_or(db_i64(row, 8), 0));
    stage->wall_ms = add_known(stage->wall_ms, MAX(known_or(db_i64(row, 9), 0), 0));
    stage->task_count = add_known(stage->task_count, known_or(db_i64(row, 10), 0));
    stage->lost_count = add_known(stage->lost_count, known_or(db_i64(row, 11), 0));
    stage->bytes = sum_known(stage->bytes, db_f64(row, 12));
    stage->records = sum_known(stage->records, db_f64(row, 13));
    stage->cpu_ms = sum_known(stage->cpu_ms, db_f64(row, 14) / NS_PER_MS);
    if (!isnan(db_f64(row, 15)))
        stage->slots = fmax(stage->slots, db_f64(row, 15));
    stage->rec_cap_ms = sum_known(stage->rec_cap_ms, db_f64(row, 16));
    stage->fingerprint = sqlite3_column_int64(row, 1);
    stage->call_site = sqlite3_column_int64(row, 2);
}

/* Attempts of one stage become one stage; of what they are, the latest counts. */
static enum err_code load_stages(struct run_record *self, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int64_t count = 0, chain_left_ms = self->wall_ms;
    enum err_code rc = db_query_i64(app, "SELECT count(DISTINCT stage_id) FROM stage AS s JOIN stage_analysis AS a ON a.stage_ref = s.stage_ref", &count, err);
    if (!rc && !(self->stages = mem_array((size_t)count + 1, sizeof *self->stages)))
        rc = err_nomem(err);
    if (!rc)
        rc = db_prepare(
            app, &row,
            "SELECT s.stage_id, f.fingerprint, f.call_site, s.name, s.sql_execution_id, (SELECT min(job_id) FROM job_stage AS j WHERE j.stage_id = s.stage_id AND j.ran), "
            "a.on_path_ms, q.ms, s.task_time_ms, s.last_task_finish_ms - s.first_task_launch_ms, a.winner_count, a.lost_count, "
            "total(s.input_bytes) + total(s.shuffle_remote_read_bytes) + total(s.shuffle_local_read_bytes), total(s.input_records) + total(s.shuffle_records_read), "
            "s.executor_cpu_time_ns, a.slots, a.rec_cap_ms "
            "FROM stage AS s JOIN stage_analysis AS a ON a.stage_ref = s.stage_ref JOIN stage_fingerprint AS f ON f.stage_ref = s.stage_ref "
            "LEFT JOIN (SELECT stage_ref, sum(to_ms - from_ms) AS ms FROM chain_segment WHERE label = 'queue' GROUP BY stage_ref) AS q ON q.stage_ref = s.stage_ref "
            "GROUP BY s.stage_id, s.attempt ORDER BY s.stage_id, s.attempt",
            err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        struct run_stage *stage = self->stage_count ? &self->stages[self->stage_count - 1] : NULL;
        if (!stage || stage->stage_id != db_i64(row, 0)) {
            if (self->stage_count == (size_t)count)
                break; /* cannot be: the connection reads one state */
            stage = &self->stages[self->stage_count++];
            *stage = (struct run_stage){.stage_id = db_i64(row, 0),
                                        .execution_id = db_i64(row, 4),
                                        .job_id = db_i64(row, 5),
                                        .bytes = (double)NAN,
                                        .records = (double)NAN,
                                        .cpu_ms = (double)NAN,
                                        .rec_cap_ms = (double)NAN,
                                        .slots = 1};
            for (int i = 0; i < RUN_PART_COUNT; i++)
                stage->part_ms[i] = (double)NAN;
            rc = keep(self, db_str(row, 3), &stage->name, err);
        }
        add_attempt(stage, row, &chain_left_ms);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static int by_stage_id(const void *key, const void *item)
{
    int64_t id = *(const int64_t *)key, other = ((const struct run_stage *)item)->stage_id;
    return (id > other) - (id < other);
}

/* Parts of task time, of the stages that have an account of their own (scope 4: its cost). */
static enum err_code load_parts(struct run_record *self, struct db *app, struct err *err)
{
    static const enum bucket buckets[RUN_PART_COUNT] = {BUCKET_GC, BUCKET_FETCH, BUCKET_SPILL_IO, BUCKET_DELAY, BUCKET_DESER, BUCKET_PYTHON};
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(app, &row, "SELECT s.stage_id, a.bucket, a.slot_ms FROM account AS a JOIN stage AS s ON s.stage_ref = a.owner WHERE a.scope = 4", err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        int64_t id = db_i64(row, 0);
        struct run_stage *stage = self->stage_count ? bsearch(&id, self->stages, self->stage_count, sizeof *stage, by_stage_id) : NULL;
        int bucket = bucket_find(db_str(row, 1));
        for (int i = 0; stage && i < RUN_PART_COUNT; i++)
            stage->part_ms[i] = sum_known(stage->part_ms[i], bucket == (int)buckets[i] ? db_f64(row, 2) : 0);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* --- queries, settings, findings */

static enum err_code load_queries(struct run_record *self, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    size_t capacity = 0;
    enum err_code rc = db_prepare(
        app, &row,
        "SELECT e.execution_id, f.first, f.final, e.description, p.graph_plan_id, e.submission_ms, e.completion_ms FROM sql_execution AS e JOIN sql_fingerprint AS f ON f.execution_id = e.execution_id "
        "LEFT JOIN sql_plan AS p ON p.plan_id = e.plan_id ORDER BY e.execution_id",
        err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        if (mem_grow((void **)&self->queries, &capacity, self->query_count + 1, RUN_RECORD_BYTES / sizeof *self->queries, sizeof *self->queries)) {
            rc = err_nomem(err);
            break;
        }
        struct run_query *query = &self->queries[self->query_count++];
        *query = (struct run_query){.execution_id = db_i64(row, 0),
                                    .first = sqlite3_column_int64(row, 1),
                                    .final = sqlite3_column_int64(row, 2),
                                    .plan_id = db_i64(row, 4),
                                    .wall_ms = elapsed_known(db_i64(row, 5), db_i64(row, 6))};
        rc = keep(self, db_str(row, 3), &query->description, err);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A setting that queries of one session had with several values is told with all of them. */
static enum err_code load_settings(struct run_record *self, struct db *app, struct err *err)
{
    sqlite3_stmt *row = NULL;
    size_t capacity = 0;
    enum err_code rc =
        db_prepare(app, &row,
                   "WITH session AS (SELECT name, group_concat(value, ' | ') AS value FROM (SELECT DISTINCT name, value FROM sql_config ORDER BY name, value) GROUP BY name) "
                   "SELECT name, value FROM session UNION ALL SELECT name, value FROM environment WHERE section = 1 AND name NOT IN (SELECT name FROM session) ORDER BY 1",
                   err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        if (mem_grow((void **)&self->settings, &capacity, self->setting_count + 1, RUN_RECORD_BYTES / sizeof *self->settings, sizeof *self->settings)) {
            rc = err_nomem(err);
            break;
        }
        struct run_setting *setting = &self->settings[self->setting_count++];
        if (!(rc = keep(self, db_str(row, 0), &setting->name, err)))
            rc = keep(self, db_is_null(row, 1) ? STR_LIT("") : db_str(row, 1), &setting->value, err);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Data sets of one name and place are told apart by their order. */
static const char *const rdd_identity_sql = "SELECT coalesce(r.name, '') || '|' || coalesce(r.callsite, '') || '|' || (SELECT count(*) FROM rdd AS o "
                                            "WHERE o.rdd_id < r.rdd_id AND o.name IS r.name AND o.callsite IS r.callsite) FROM rdd AS r WHERE r.rdd_id = CAST(?1 AS INTEGER)";
static const char *const query_identity_sql = "SELECT coalesce(query_id, name) FROM streaming_query WHERE run_id = ?1";

static enum err_code identify_node(struct db *app, struct run_finding *finding, struct err *err)
{
    int64_t execution_id, node_id;
    sqlite3_stmt *row = NULL;
    if (!subject_key_pair(finding->key, '/', &execution_id, &node_id))
        return ERR_OK;
    CLEANUP(buf_dispose) struct buf cleaned;
    buf_init(&cleaned, RUN_RECORD_BYTES);
    enum err_code rc = db_prepare(app, &row,
                                  "SELECT n.name, t.body FROM sql_execution AS e JOIN sql_plan AS p ON p.plan_id = e.plan_id JOIN sql_node AS n ON n.plan_id = p.graph_plan_id "
                                  "LEFT JOIN text AS t ON t.text_id = n.description_text_id WHERE e.execution_id = ?1 AND n.node_id = ?2",
                                  err);
    if (!rc) {
        db_bind_i64(row, 1, execution_id);
        db_bind_i64(row, 2, node_id);
        if (!(rc = db_step(row, err))) {
            clean_plan(&cleaned, db_str(row, 1));
            finding->node = fingerprint_join((const uint64_t[]){fingerprint_of(db_str(row, 0)), fingerprint_of(buf_str(&cleaned))}, 2);
            rc = buf_failed(&cleaned) ? err_nomem(err) : ERR_OK;
        }
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code identify(struct run_record *self, struct db *app, struct run_finding *finding, struct err *err)
{
    sqlite3_stmt *row = NULL;
    finding->identity = STR_NONE;
    if (finding->kind == SUBJECT_NODE)
        return identify_node(app, finding, err);
    if (finding->kind == SUBJECT_TASK || finding->kind == SUBJECT_BATCH) {
        finding->identity = STR_LIT("");
        return ERR_OK;
    }
    if (finding->kind != SUBJECT_RDD && finding->kind != SUBJECT_QUERY)
        return ERR_OK;
    enum err_code rc = db_prepare(app, &row, finding->kind == SUBJECT_RDD ? rdd_identity_sql : query_identity_sql, err);
    if (!rc) {
        db_bind_str(row, 1, finding->key);
        if (!(rc = db_step(row, err)))
            rc = keep(self, db_str(row, 0), &finding->identity, err);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code load_findings(struct run_record *self, struct db *app, struct err *err)
{
    struct stored_findings stored;
    const struct profile profile = {0};
    enum err_code rc = analysis_rows_read(app, &self->arena, &stored, err);
    if (rc || !stored.count)
        return rc;
    if (!(self->findings = mem_array(stored.count, sizeof *self->findings)))
        return err_nomem(err);
    for (size_t i = 0; i < stored.count && !rc; i++) {
        const struct finding *finding = &stored.items[i];
        if (!finding_shows(finding, &profile, self->wall_ms))
            continue;
        struct run_finding *kept = &self->findings[self->finding_count++];
        *kept = (struct run_finding){.rule = finding->rule,
                                     .kind = finding->subject_kind,
                                     .key = finding->subject_key,
                                     .grade = finding_grade(finding, &profile, self->wall_ms),
                                     .price_ms = finding->price.ms};
        rc = identify(self, app, kept, err);
    }
    return rc;
}

enum err_code run_record_load(struct run_record *ret, struct db *app, struct err *err)
{
    *ret = (struct run_record){0};
    arena_init(&ret->arena, RUN_RECORD_BYTES);
    enum err_code rc = load_head(ret, app, err);
    if (!rc)
        rc = load_gaps(ret, app, err);
    if (!rc)
        rc = load_stages(ret, app, err);
    if (!rc)
        rc = load_parts(ret, app, err);
    if (!rc)
        rc = load_queries(ret, app, err);
    if (!rc)
        rc = load_settings(ret, app, err);
    if (!rc)
        rc = load_findings(ret, app, err);
    if (rc)
        run_record_dispose(ret);
    return rc;
}

void run_record_dispose(struct run_record *self)
{
    mem_free(TAKE(self->stages));
    mem_free(TAKE(self->queries));
    mem_free(TAKE(self->settings));
    mem_free(TAKE(self->findings));
    arena_dispose(&self->arena);
}

enum err_code run_plan_load(struct run_record *self, struct db *app, int64_t plan_id, struct run_operator **ret, size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    size_t count = 0, capacity = 0;
    struct run_operator *operators = NULL;
    enum err_code rc = db_prepare(app, &row, "SELECT name, count(*) FROM sql_node WHERE plan_id = ?1 AND NOT is_cluster GROUP BY name ORDER BY name", err);
    if (!rc)
        db_bind_i64(row, 1, plan_id);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        if (count == capacity) {
            size_t more = capacity ? capacity * 2 : 16;
            struct run_operator *grown = arena_zalloc(&self->arena, more, sizeof *grown);
            if (!grown) {
                rc = err_nomem(err);
                break;
            }
            if (count)
                memcpy(grown, operators, count * sizeof *grown);
            operators = grown;
            capacity = more;
        }
        operators[count].count = db_i64(row, 1);
        rc = keep(self, db_str(row, 0), &operators[count++].name, err);
    }
    db_finalize(row);
    *ret = operators;
    *ret_count = count;
    return rc == ERR_EOF ? ERR_OK : rc;
}
