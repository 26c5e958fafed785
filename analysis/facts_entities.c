/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/facts_parts.h"
#include "base/mem.h"

#define MAX_ENTITIES ((size_t)1 << 26) /* of one kind: 64 million stages are beyond what the store writes in a day */

/* One query and where its rows go. */
struct rows {
    struct facts *facts;
    sqlite3_stmt *stmt;
    size_t capacity;                    /* of the array that is filled */
    const struct sort_item *stage_refs; /* ascending; position: of the stage */
    size_t at;                          /* among stage_refs: rows come by stage_ref */
    int64_t *ids;                       /* of the stage, RDD or so that the last row belongs to; owned */
    size_t id_count, id_capacity;
    int64_t owner;
    struct imap *set;
};

typedef enum err_code row_fn(struct rows *rows, struct err *err);

static enum err_code each_row(struct rows *rows, const char *sql, row_fn *row, struct err *err)
{
    enum err_code rc = db_prepare(rows->facts->db, &rows->stmt, sql, err);
    if (rc)
        return rc;
    while ((rc = db_step(rows->stmt, err)) == ERR_OK && (rc = row(rows, err)) == ERR_OK)
        ;
    db_finalize(TAKE(rows->stmt));
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code read_rows(struct facts *self, const char *sql, row_fn *row, struct err *err)
{
    struct rows rows = {.facts = self};
    return each_row(&rows, sql, row, err);
}

/* A text of the row, each kept once: names, pools and groups repeat over thousands of jobs and stages. */
static enum err_code text(struct rows *rows, int column, struct str *ret, struct err *err)
{
    struct str logged = db_str(rows->stmt, column);
    *ret = STR_NONE;
    if (!str_known(logged))
        return ERR_OK;
    struct smap *texts = &rows->facts->texts;
    const struct str *kept = smap_get(texts, logged);
    if (!kept) {
        struct str *fresh = arena_alloc(&rows->facts->arena, sizeof *fresh);
        if (!fresh || smap_put(texts, logged, fresh))
            return err_set(err, ERR_LIMIT, "more text in the database than analysis keeps");
        *fresh = texts->entries[texts->count - 1].key;
        kept = fresh;
    }
    *ret = *kept;
    return ERR_OK;
}

static int64_t time_of(struct rows *rows, int column)
{
    return sound_time(db_i64(rows->stmt, column));
}

/* A zeroed place at the end of one of the arrays of facts; NULL: out of memory. */
#define NEW_PLACE(rows, array, count) \
    (mem_grow((void **)&(array), &(rows)->capacity, (count) + 1, MAX_ENTITIES, sizeof *(array)) ? NULL : (memset(&(array)[count], 0, sizeof *(array)), &(array)[(count)++]))

/* ---- Application, settings, health ---- */

static enum err_code application_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    enum err_code rc;
    if ((rc = text(rows, 0, &self->app_id, err)) || (rc = text(rows, 1, &self->attempt_id, err)) || (rc = text(rows, 2, &self->name, err)) ||
        (rc = text(rows, 3, &self->user, err)) || (rc = text(rows, 4, &self->spark_version, err)))
        return rc;
    self->begin_ms = time_of(rows, 5);
    if (!known(self->begin_ms))
        self->begin_ms = time_of(rows, 8);
    self->end_ms = time_of(rows, 6);
    self->exit_code = db_i64(rows->stmt, 7);
    if (str_known(self->spark_version) && sscanf(self->spark_version.ptr, "%9d.%9d", &self->spark_major, &self->spark_minor) < 2)
        self->spark_major = self->spark_minor = -1;
    return ERR_OK;
}

static enum err_code conf_row(struct rows *rows, struct err *err)
{
    struct str *value = arena_zalloc(&rows->facts->arena, 1, sizeof *value);
    if (!value || smap_put(&rows->facts->conf, db_str(rows->stmt, 0), value))
        return err_nomem(err);
    return text(rows, 1, value, err);
}

/* A count of the store: none is negative or beyond what doubles hold exactly, unless somebody made it up. */
static int64_t count_of(struct rows *rows, int column)
{
    int64_t count = known_or(db_i64(rows->stmt, column), 0);
    return count < 0 ? 0 : MIN(count, INT64_C(1) << 53);
}

static enum err_code health_row(struct rows *rows, struct err *err)
{
    (void)err;
    struct completeness_counts *counts = &rows->facts->counts;
    counts->app_end = db_i64(rows->stmt, 0) == 1;
    counts->lines_bad = count_of(rows, 1);
    counts->tail_cut = db_i64(rows->stmt, 2) == 1;
    counts->compacted = db_i64(rows->stmt, 3) == 1;
    counts->app_start = db_i64(rows->stmt, 4) == 0;
    counts->task_open = count_of(rows, 5);
    counts->task_end_only = count_of(rows, 6);
    counts->lines = count_of(rows, 7);
    counts->in_progress = !counts->app_end && db_i64(rows->stmt, 8) == 0;
    return ERR_OK;
}

static enum err_code file_row(struct rows *rows, struct err *err)
{
    (void)err;
    struct completeness_counts *counts = &rows->facts->counts;
    counts->roll_min = db_i64(rows->stmt, 0);
    counts->roll_max = db_i64(rows->stmt, 1);
    counts->roll_present = db_i64(rows->stmt, 2);
    counts->rolling = counts->roll_present > 0;
    return ERR_OK;
}

/* ---- Executors ---- */

static enum err_code executor_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    struct executor_fact *executor = NEW_PLACE(rows, self->executors, self->executor_count);
    if (!executor)
        return err_nomem(err);
    sqlite3_stmt *stmt = rows->stmt;
    executor->executor_ref = db_i64(stmt, 0);
    enum err_code rc;
    if ((rc = text(rows, 1, &executor->id, err)) || (rc = text(rows, 2, &executor->host, err)) || (rc = text(rows, 3, &executor->remove_reason, err)))
        return rc;
    executor->first_launch_ms = executor->last_finish_ms = UNKNOWN;
    executor->is_driver = str_is(executor->id, "driver");
    executor->announced = db_i64(stmt, 4) == 1;
    executor->superseded = db_i64(stmt, 5) == 1;
    executor->removed = db_i64(stmt, 6) == 0;
    executor->add_ms = time_of(rows, 7);
    executor->remove_ms = time_of(rows, 8);
    executor->cores = db_i64(stmt, 9);
    executor->profile_id = db_i64(stmt, 10);
    executor->max_memory_bytes = db_i64(stmt, 11);
    executor->has_peaks = db_i64(stmt, 12) == 1;
    executor->held_storage_bytes = db_i64(stmt, 27);
    int64_t *const numbers[] = {&executor->peak_heap_bytes,    &executor->peak_off_heap_bytes, &executor->peak_storage_bytes, &executor->peak_unified_bytes,
                                &executor->peak_rss_bytes,     &executor->peak_major_gc_count, &executor->peak_major_gc_ms,   &executor->task_count,
                                &executor->failed_task_count,  &executor->task_time_ms,        &executor->gc_time_ms,         &executor->input_bytes,
                                &executor->shuffle_read_bytes, &executor->shuffle_write_bytes};
    for (int i = 0; i < (int)ARRAY_LENGTH(numbers); i++)
        *numbers[i] = db_i64(stmt, 13 + i);
    return ERR_OK;
}

static const char executors_sql[] =
    "SELECT executor_ref, executor_id, host, remove_reason, announced, superseded, active, add_ms, remove_ms, total_cores, resource_profile_id, max_memory_bytes, peaks_set,"
    "  peak_jvm_heap_memory_bytes, peak_jvm_off_heap_memory_bytes, peak_on_heap_storage_memory_bytes, peak_on_heap_unified_memory_bytes,"
    "  iif(peak_process_tree_jvm_rss_memory_bytes > 0, 0.0 + peak_process_tree_jvm_rss_memory_bytes + coalesce(peak_process_tree_python_rss_memory_bytes, 0)"
    "    + coalesce(peak_process_tree_other_rss_memory_bytes, 0), NULL), peak_major_gc_count, peak_major_gc_time_ms,"
    "  task_count, failed_task_count, task_time_ms, gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes,"
    "  on_heap_used_bytes FROM executor ORDER BY executor_ref";

/* ---- Jobs ---- */

static enum err_code job_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    struct job_fact *job = NEW_PLACE(rows, self->jobs, self->job_count);
    if (!job)
        return err_nomem(err);
    sqlite3_stmt *stmt = rows->stmt;
    job->job_id = db_i64(stmt, 0);
    enum err_code rc;
    if ((rc = text(rows, 1, &job->name, err)) || (rc = text(rows, 2, &job->description, err)) || (rc = text(rows, 3, &job->group, err)))
        return rc;
    job->sql_execution_id = db_i64(stmt, 4);
    job->begin_ms = time_of(rows, 5);
    job->end_ms = time_of(rows, 6);
    job->end_seen = db_i64(stmt, 7) != 0;
    job->failed = db_i64(stmt, 7) == 2;
    job->failure_text_id = db_i64(stmt, 8);
    job->start_seen = db_i64(stmt, 9) == 1;
    self->counts.job_start += job->start_seen;
    self->counts.job_end += job->end_seen;
    return ERR_OK;
}

static enum err_code pool_row(struct rows *rows, struct err *err)
{
    uint32_t job = facts_job(rows->facts, db_i64(rows->stmt, 0));
    return job == NO_ENTITY ? ERR_OK : text(rows, 1, &rows->facts->jobs[job].pool, err);
}

/* ---- Stages ---- */

static enum err_code stage_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    struct stage_fact *stage = NEW_PLACE(rows, self->stages, self->stage_count);
    if (!stage)
        return err_nomem(err);
    sqlite3_stmt *stmt = rows->stmt;
    stage->stage_ref = db_i64(stmt, 0);
    stage->stage_id = db_i64(stmt, 1);
    stage->attempt = db_i64(stmt, 2);
    enum err_code rc;
    if ((rc = text(rows, 3, &stage->name, err)) || (rc = text(rows, 4, &stage->description, err)) || (rc = text(rows, 5, &stage->pool, err)))
        return rc;
    stage->details_text_id = db_i64(stmt, 6);
    stage->failure_text_id = db_i64(stmt, 7);
    stage->num_tasks = db_i64(stmt, 8);
    stage->submission_ms = time_of(rows, 9);
    stage->completion_ms = time_of(rows, 10);
    stage->submitted_seen = db_i64(stmt, 11) == 1;
    stage->completed_seen = db_i64(stmt, 12) == 1;
    stage->failed = db_i64(stmt, 13) == 3;
    stage->skipped = db_i64(stmt, 13) == 4;
    stage->profile_id = db_i64(stmt, 14);
    stage->sql_execution_id = db_i64(stmt, 15);
    stage->attempt_count = (size_t)count_of(rows, 16); /* rows, until facts_read_tasks has read them */
    self->has_cpu_time |= !db_is_null(stmt, 17);
    stage->first_launch_ms = stage->last_finish_ms = stage->begin_ms = stage->end_ms = UNKNOWN;
    stage->job = NO_ENTITY;
    self->counts.stage_sub += stage->submitted_seen;
    self->counts.stage_done += stage->completed_seen;
    self->counts.task_end = add_known(self->counts.task_end, count_of(rows, 18));
    return ERR_OK;
}

static const char stages_sql[] =
    "SELECT stage_ref, stage_id, attempt, name, description, pool, details_text_id, failure_text_id, num_tasks, submission_ms, completion_ms, submitted_seen, completed_seen,"
    "  status, resource_profile_id, sql_execution_id, task_rows, executor_cpu_time_ns, ended_tasks FROM stage ORDER BY stage_id, attempt";

/* Lists of ids that belong to one entity come as rows of (owner, id), by owner: collected until the owner changes. */
static const int64_t *take_ids(struct rows *rows, struct err *err)
{
    int64_t *kept = arena_alloc(&rows->facts->arena, MAX(rows->id_count, (size_t)1) * sizeof *kept);
    if (kept && rows->id_count)
        memcpy(kept, rows->ids, rows->id_count * sizeof *kept);
    if (!kept)
        err_set(err, ERR_LIMIT, "more lists in the database than analysis keeps");
    return kept;
}

static enum err_code collect_id(struct rows *rows, enum err_code (*give)(struct rows *, struct err *), struct err *err)
{
    int64_t owner = db_i64(rows->stmt, 0);
    enum err_code rc = owner != rows->owner ? give(rows, err) : ERR_OK;
    if (rc)
        return rc;
    if (owner != rows->owner)
        rows->id_count = 0;
    rows->owner = owner;
    if (mem_grow((void **)&rows->ids, &rows->id_capacity, rows->id_count + 1, MAX_ENTITIES, sizeof *rows->ids))
        return err_nomem(err);
    rows->ids[rows->id_count++] = db_i64(rows->stmt, 1);
    return ERR_OK;
}

static enum err_code read_lists(struct rows *rows, const char *sql, row_fn *row, row_fn *give, struct err *err)
{
    rows->owner = UNKNOWN;
    enum err_code rc = each_row(rows, sql, row, err);
    if (!rc)
        rc = give(rows, err);
    mem_free(TAKE(rows->ids));
    return rc;
}

static enum err_code give_parents(struct rows *rows, struct err *err)
{
    if (!rows->id_count)
        return ERR_OK;
    struct facts *self = rows->facts;
    const int64_t *ids = take_ids(rows, err);
    if (!ids)
        return ERR_LIMIT;
    while (rows->at < self->stage_count && self->stages[rows->at].stage_id < rows->owner)
        rows->at++;
    for (; rows->at < self->stage_count && self->stages[rows->at].stage_id == rows->owner; rows->at++) {
        self->stages[rows->at].parent_ids = ids;
        self->stages[rows->at].parent_id_count = rows->id_count;
    }
    return ERR_OK;
}

static enum err_code parent_row(struct rows *rows, struct err *err)
{
    return collect_id(rows, give_parents, err);
}

/* The stage whose stage_ref is `ref`; rows come with ascending ones. */
static struct stage_fact *stage_of_ref(struct rows *rows, int64_t ref)
{
    const struct facts *self = rows->facts;
    while (rows->at < self->stage_count && rows->stage_refs[rows->at].key < ref)
        rows->at++;
    return rows->at < self->stage_count && rows->stage_refs[rows->at].key == ref ? &self->stages[rows->stage_refs[rows->at].position] : NULL;
}

static const struct rdd_fact *find_rdd(const struct facts *self, int64_t rdd_id)
{
    size_t low = 0;
    for (size_t high = self->rdd_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (self->rdds[i].rdd_id < rdd_id)
            low = i + 1;
        else
            high = i;
    }
    return low < self->rdd_count && self->rdds[low].rdd_id == rdd_id ? &self->rdds[low] : NULL;
}

static enum err_code give_rdds(struct rows *rows, struct err *err)
{
    struct stage_fact *stage = rows->id_count ? stage_of_ref(rows, rows->owner) : NULL;
    if (!stage)
        return ERR_OK;
    if (!(stage->rdds = take_ids(rows, err)))
        return ERR_LIMIT;
    stage->rdd_count = rows->id_count;
    for (size_t i = 0; i < stage->rdd_count && !stage->is_python; i++) {
        const struct rdd_fact *rdd = find_rdd(rows->facts, stage->rdds[i]);
        stage->is_python = rdd && rdd->is_python;
    }
    return ERR_OK;
}

static enum err_code stage_rdd_row(struct rows *rows, struct err *err)
{
    return collect_id(rows, give_rdds, err);
}

/* ---- Python: what 3.4 goes by ---- */

static bool names_python(struct str name)
{
    static const char *const words[] = {"Python", "InPandas", "InArrow", "InPySpark", "AttachDistributedSequence"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (str_known(name) && memmem(name.ptr, name.len, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Each accumulator of a plan node that evaluates Python. */
static enum err_code python_node_row(struct rows *rows, struct err *err)
{
    if (!names_python(db_str(rows->stmt, 0)))
        return ERR_OK;
    struct str list = db_str(rows->stmt, 1);
    for (size_t begin = 0; begin < list.len;) {
        size_t end = begin;
        while (end < list.len && list.ptr[end] != ' ')
            end++;
        int64_t id;
        if (str_to_i64((struct str){list.ptr + begin, end - begin}, &id) && imap_put(rows->set, id, rows->set))
            return err_nomem(err);
        begin = end + 1;
    }
    return ERR_OK;
}

static enum err_code accumulable_row(struct rows *rows, struct err *err)
{
    (void)err;
    struct stage_fact *stage = imap_get(rows->set, db_i64(rows->stmt, 1)) ? stage_of_ref(rows, db_i64(rows->stmt, 0)) : NULL;
    if (stage)
        stage->is_python = true;
    return ERR_OK;
}

static enum err_code read_python_nodes(struct rows *rows, struct err *err)
{
    struct imap accumulators;
    imap_init(&accumulators, MAX_ENTITIES);
    rows->set = &accumulators;
    enum err_code rc = each_row(rows, "SELECT name, accumulator_ids FROM sql_node WHERE accumulator_ids <> ''", python_node_row, err);
    rows->at = 0;
    if (!rc && accumulators.count)
        rc = each_row(rows, "SELECT stage_ref, accumulable_id FROM stage_accumulable ORDER BY stage_ref", accumulable_row, err);
    imap_dispose(&accumulators);
    return rc;
}

/* ---- RDDs, SQL ---- */

static enum err_code rdd_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    struct rdd_fact *rdd = NEW_PLACE(rows, self->rdds, self->rdd_count);
    if (!rdd)
        return err_nomem(err);
    sqlite3_stmt *stmt = rows->stmt;
    rdd->rdd_id = db_i64(stmt, 0);
    rdd->num_partitions = db_i64(stmt, 1);
    enum err_code rc;
    if ((rc = text(rows, 2, &rdd->name, err)) || (rc = text(rows, 3, &rdd->scope, err)) || (rc = text(rows, 4, &rdd->callsite, err)) ||
        (rc = text(rows, 5, &rdd->storage_level, err)))
        return rc;
    rdd->use_disk = db_i64(stmt, 6) == 1;
    rdd->use_memory = db_i64(stmt, 7) == 1;
    rdd->deserialized = db_i64(stmt, 8) == 1;
    rdd->unpersisted = db_i64(stmt, 9) == 1;
    rdd->persisted = rdd->use_disk || rdd->use_memory || str_known(rdd->storage_level);
    rdd->memory_bytes = db_i64(stmt, 10);
    rdd->disk_bytes = db_i64(stmt, 11);
    rdd->cached_partitions = db_i64(stmt, 12);
    rdd->is_python = names_python(rdd->name) || names_python(rdd->scope);
    return ERR_OK;
}

static const char rdds_sql[] =
    "SELECT rdd_id, num_partitions, r.name, s.name, callsite, storage_level, use_disk, use_memory, deserialized, unpersisted, memory_used_bytes, disk_used_bytes, cached"
    "  FROM rdd r LEFT JOIN rdd_scope s USING (scope_id) LEFT JOIN (SELECT rdd_id, count(*) AS cached FROM rdd_partition GROUP BY rdd_id) USING (rdd_id) ORDER BY rdd_id";

static enum err_code give_rdd_parents(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    while (rows->at < self->rdd_count && self->rdds[rows->at].rdd_id < rows->owner)
        rows->at++;
    if (!rows->id_count || rows->at == self->rdd_count || self->rdds[rows->at].rdd_id != rows->owner)
        return ERR_OK;
    struct rdd_fact *rdd = &self->rdds[rows->at];
    if (!(rdd->parents = take_ids(rows, err)))
        return ERR_LIMIT;
    rdd->parent_count = rows->id_count;
    return ERR_OK;
}

static enum err_code rdd_parent_row(struct rows *rows, struct err *err)
{
    return collect_id(rows, give_rdd_parents, err);
}

static enum err_code sql_row(struct rows *rows, struct err *err)
{
    struct facts *self = rows->facts;
    struct sql_fact *sql = NEW_PLACE(rows, self->sqls, self->sql_count);
    if (!sql)
        return err_nomem(err);
    sqlite3_stmt *stmt = rows->stmt;
    sql->execution_id = db_i64(stmt, 0);
    sql->root_id = db_i64(stmt, 1);
    enum err_code rc = text(rows, 2, &sql->description, err);
    sql->error_text_id = db_i64(stmt, 3);
    sql->begin_ms = time_of(rows, 4);
    sql->end_ms = time_of(rows, 5);
    sql->failed = db_i64(stmt, 6) == 2;
    sql->start_seen = db_i64(stmt, 7) == 1;
    sql->end_seen = db_i64(stmt, 8) == 1;
    sql->plan_id = db_i64(stmt, 9);
    self->counts.sql_start += sql->start_seen;
    self->counts.sql_end += sql->end_seen;
    return rc;
}

/* ---- All ---- */

static enum err_code read_stages(struct facts *self, struct err *err)
{
    enum err_code rc = read_rows(self, stages_sql, stage_row, err);
    if (rc)
        return rc;
    struct sort_item *refs = facts_scratch(self, self->stage_count);
    if (!refs)
        return err_nomem(err);
    for (size_t i = 0; i < self->stage_count; i++)
        refs[i] = (struct sort_item){self->stages[i].stage_ref, 0, (uint32_t)i};
    sort_items(refs, refs + self->stage_count, self->stage_count);
    struct rows rows = {.facts = self, .stage_refs = refs};
    if ((rc = read_lists(&rows, "SELECT stage_id, parent_id FROM stage_parent ORDER BY stage_id, parent_id", parent_row, give_parents, err)))
        return rc;
    rows = (struct rows){.facts = self, .stage_refs = refs};
    if ((rc = read_lists(&rows, "SELECT stage_ref, rdd_id FROM stage_rdd ORDER BY stage_ref, ordinal", stage_rdd_row, give_rdds, err)))
        return rc;
    rows = (struct rows){.facts = self, .stage_refs = refs};
    return read_python_nodes(&rows, err);
}

static enum err_code read_rdds(struct facts *self, struct err *err)
{
    enum err_code rc = read_rows(self, rdds_sql, rdd_row, err);
    struct rows rows = {.facts = self};
    return rc ? rc : read_lists(&rows, "SELECT rdd_id, parent_id FROM rdd_parent ORDER BY rdd_id, ordinal", rdd_parent_row, give_rdd_parents, err);
}

static bool is_local(struct str master)
{
    return str_is(master, "local") || str_starts(master, "local[");
}

enum err_code facts_read_entities(struct facts *self, struct err *err)
{
    self->begin_ms = self->end_ms = self->exit_code = self->counts.roll_min = self->counts.roll_max = UNKNOWN;
    static const struct {
        const char *sql;
        row_fn *row;
    } parts[] = {
        {"SELECT app_id, attempt_id, name, user, spark_version, start_ms, end_ms, exit_code, first_event_ms FROM application LIMIT 1", application_row},
        {"SELECT name, value FROM environment WHERE section = 1", conf_row},
        {"SELECT complete, bad_line_count, cut, compacted, no_application_start, tasks_without_end, tasks_without_start, (SELECT line_count FROM load),"
         "  (SELECT finished_name FROM load) FROM log_health LIMIT 1",
         health_row},
        {"SELECT min(roll_index), max(roll_index), count(DISTINCT roll_index) FROM log_file", file_row},
        {executors_sql, executor_row},
        {"SELECT job_id, name, description, job_group, sql_execution_id, submission_ms, completion_ms, status, failure_text_id, start_seen FROM job ORDER BY job_id", job_row},
        {"SELECT job_id, value FROM job_property WHERE name = 'spark.scheduler.pool'", pool_row},
        {"SELECT execution_id, root_execution_id, description, error_text_id, submission_ms, completion_ms, status, start_seen, end_seen, plan_id FROM sql_execution"
         "  ORDER BY execution_id",
         sql_row},
    };
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(parts) && !rc; i++)
        rc = read_rows(self, parts[i].sql, parts[i].row, err);
    self->is_local = is_local(facts_conf(self, "spark.master"));
    if (!rc)
        rc = read_rdds(self, err);
    return rc ? rc : read_stages(self, err);
}
