/* SPDX-License-Identifier: Apache-2.0
 *
 * What was cached, also after it was released: the list of RDDs with what analysis found out about each, one RDD with the executors that held it, its cached partitions, and blocks of
 * receivers. What an RDD has at the end of the log, and so its partitions, needs logged block updates. */
#include "server/api/handlers.h"

#define MOST_STAGES "1000"
#define MOST_HOLDERS "10000" /* executors of an RDD */

static const struct list_sort sorts[] = {
    {"id", "r.rdd_id"},
    {"name", "coalesce(r.storage_name, r.name)"},
    {"memory", "r.memory_used_bytes"},
    {"disk", "r.disk_used_bytes"},
    {"mostMemory", "r.most_memory_bytes"},
    {"partitions", "coalesce(r.storage_partitions, r.num_partitions)"},
    {"reads", "c.read_count"},
    {"saved", "c.saved_ms"},
    {"fraction", "c.fraction"},
    {NULL, NULL},
};

/* RDDs that a stage was submitted with while they were to be kept (spec/core.md 2.9). */
#define RDD_COLUMNS                                                                                                                                                     \
    "SELECT r.unpersisted, b.stage_id, b.attempt, l.stage_id, l.attempt,"                                                                                               \
    "       r.rdd_id AS id, coalesce(r.storage_name, r.name) AS name, r.callsite, r.storage_level, coalesce(r.storage_partitions, r.num_partitions) AS num_partitions," \
    "       (SELECT count(*) FROM rdd_partition p WHERE p.rdd_id = r.rdd_id) AS cached_partitions, r.memory_used_bytes, r.disk_used_bytes,"                             \
    "       r.most_partitions, r.most_memory_bytes, r.most_disk_bytes, r.evicted_partitions, r.unpersist_ms,"                                                           \
    "       c.verdict, c.read_count, c.last_read_ms, c.fraction, c.missing_share, c.build_ms, c.saved_ms, c.storage_share"
#define RDD_FIRST_PLAIN 5
#define RDD_FROM                                                                                                                                                          \
    " FROM rdd r LEFT JOIN cache_audit c ON c.rdd_id = r.rdd_id LEFT JOIN stage b ON b.stage_ref = c.built_stage_ref LEFT JOIN stage l ON l.stage_ref = c.last_stage_ref" \
    " WHERE r.storage_level IS NOT NULL"

/* Block updates are in the log only where the application asked for them. */
static enum err_code write_logged(struct json_writer *json, struct db *db, struct err *err)
{
    int64_t logged = 0;
    enum err_code rc =
        db_query_i64(db, "SELECT EXISTS (SELECT 1 FROM event_count WHERE event IN ('SparkListenerBlockUpdated', 'org.apache.spark.scheduler.SparkListenerBlockUpdated'))", &logged,
                     err);
    json_kv_bool(json, "blockUpdatesLogged", logged == 1);
    return rc;
}

static void write_stage(struct json_writer *json, const char *key, int64_t stage_id, int64_t attempt)
{
    json_key(json, key);
    if (!known(stage_id)) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_kv_i64(json, "stageId", stage_id);
    json_kv_i64(json, "attempt", attempt);
    json_object_end(json);
}

/* The members of an RDD; the caller's object is open. */
static void write_rdd(struct json_writer *json, sqlite3_stmt *stmt)
{
    api_columns(json, stmt, RDD_FIRST_PLAIN, sqlite3_column_count(stmt));
    json_kv_bool(json, "unpersisted", db_i64(stmt, 0) == 1);
    write_stage(json, "builtBy", db_i64(stmt, 1), db_i64(stmt, 2));
    write_stage(json, "lastReadBy", db_i64(stmt, 3), db_i64(stmt, 4));
}

/* The rows of the query as elements. */
static enum err_code each_row(struct json_writer *json, struct db *db, struct query *query, void write(struct json_writer *json, sqlite3_stmt *stmt), struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write(json, stmt);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_columns(struct json_writer *json, sqlite3_stmt *stmt)
{
    api_columns(json, stmt, 0, sqlite3_column_count(stmt));
}

static enum err_code write_list(const struct api_app *app, struct list *list, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    int64_t total;
    query_init(&query, request->arena);
    enum err_code rc = db_query_i64(app->db, "SELECT count(*) FROM rdd WHERE storage_level IS NOT NULL", &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    query_add(&query, RDD_COLUMNS RDD_FROM);
    query_order(&query, list, "r.rdd_id");
    query_page(&query, list);
    struct json_writer *json = list_begin(list, response);
    rc = each_row(json, app->db, &query, write_rdd, err);
    list_end(list, json);
    if (!rc)
        rc = write_logged(json, app->db, err);
    json_object_end(json);
    return rc;
}

enum err_code api_storage(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "id", err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_list(&app, &list, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- one RDD ---- */

static const char stages_sql[] =
    "SELECT s.stage_id, s.attempt, s.name, s.status FROM stage_rdd x JOIN stage s USING (stage_ref) WHERE x.rdd_id = ? ORDER BY s.stage_id, s.attempt LIMIT " MOST_STAGES;

static const char holders_sql[] =
    "SELECT executor_id, address, memory_used_bytes, memory_remaining_bytes, disk_used_bytes, on_heap_used_bytes, on_heap_remaining_bytes, off_heap_used_bytes,"
    "       off_heap_remaining_bytes FROM rdd_distribution WHERE rdd_id = ? ORDER BY ordinal LIMIT " MOST_HOLDERS;

static void write_using_stage(struct json_writer *json, sqlite3_stmt *stmt)
{
    static const char *const statuses[] = {"pending", "active", "complete", "failed", "skipped"};
    api_columns(json, stmt, 0, 3);
    json_kv_text(json, "status", API_WORD(statuses, db_i64(stmt, 3)));
}

static enum err_code write_rows(struct json_writer *json, struct db *db, const char *key, const char *sql, int64_t rdd_id, struct arena *arena,
                                void write(struct json_writer *json, sqlite3_stmt *stmt), struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_number(&query, sql, rdd_id);
    json_key(json, key);
    json_array_begin(json);
    enum err_code rc = each_row(json, db, &query, write, err);
    json_array_end(json);
    return rc;
}

static enum err_code write_one(const struct api_app *app, int64_t rdd_id, const struct request *request, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt, RDD_COLUMNS RDD_FROM " AND r.rdd_id = ?", err);
    if (!rc) {
        db_bind_i64(stmt, 1, rdd_id);
        rc = db_step(stmt, err);
    }
    if (rc) {
        db_finalize(stmt);
        if (rc == ERR_EOF)
            response_error(response, 404, "not_found", "there is no RDD with this id that was to be cached");
        return rc == ERR_EOF ? ERR_OK : rc;
    }
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    write_rdd(json, stmt);
    db_finalize(stmt);
    if (!(rc = write_logged(json, app->db, err)) && !(rc = write_rows(json, app->db, "stages", stages_sql, rdd_id, request->arena, write_using_stage, err)))
        rc = write_rows(json, app->db, "executors", holders_sql, rdd_id, request->arena, write_columns, err);
    json_object_end(json);
    return rc;
}

enum err_code api_rdd(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_one(&app, api_path_id(request, 1), request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- its partitions ---- */

/* Block names end in the number of the partition: rdd_7_12. */
static const struct list_sort partition_sorts[] = {
    {"name", "CAST(substr(p.block_name, length(p.rdd_id) + 6) AS INTEGER)"},
    {"memory", "p.memory_used_bytes"},
    {"disk", "p.disk_used_bytes"},
    {"level", "p.storage_level"},
    {"executors", "p.executors"},
    {NULL, NULL},
};

static void write_partition(struct json_writer *json, sqlite3_stmt *stmt)
{
    api_columns(json, stmt, 1, sqlite3_column_count(stmt));
    api_words(json, "executors", db_str(stmt, 0), ' ');
}

/* What differs between the two lists of blocks. */
struct blocks {
    struct query count, query;
    const char *tie;
    void (*write)(struct json_writer *json, sqlite3_stmt *stmt);
    const char *executors_sql; /* NULL: the answer has no executors */
};

static enum err_code write_executors(struct json_writer *json, struct db *db, const char *sql, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, sql);
    json_key(json, "executors");
    json_array_begin(json);
    enum err_code rc = each_row(json, db, &query, write_columns, err);
    json_array_end(json);
    return rc;
}

static enum err_code write_blocks(const struct api_app *app, struct list *list, struct blocks *blocks, struct arena *arena, struct response *response, struct err *err)
{
    int64_t total;
    enum err_code rc = query_i64(&blocks->count, app->db, &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    query_order(&blocks->query, list, blocks->tie);
    query_number(&blocks->query, " LIMIT ?", list->limit);
    query_number(&blocks->query, " OFFSET ?", list->offset);
    struct json_writer *json = list_begin(list, response);
    rc = each_row(json, app->db, &blocks->query, blocks->write, err);
    list_end(list, json);
    if (!rc && blocks->executors_sql)
        rc = write_executors(json, app->db, blocks->executors_sql, arena, err);
    json_object_end(json);
    return rc;
}

enum err_code api_rdd_partitions(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct api_app app;
    struct blocks blocks = {.tie = "p.ordinal", .write = write_partition};
    enum err_code rc;
    bool unsound = list_read(&list, request, partition_sorts, "name", err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    query_init(&blocks.count, request->arena);
    query_init(&blocks.query, request->arena);
    query_number(&blocks.count, "SELECT count(*) FROM rdd_partition WHERE rdd_id = ?", api_path_id(request, 1));
    query_number(&blocks.query, "SELECT p.executors, p.block_name, p.storage_level, p.memory_used_bytes, p.disk_used_bytes FROM rdd_partition p WHERE p.rdd_id = ?",
                 api_path_id(request, 1));
    rc = write_blocks(&app, &list, &blocks, request->arena, response, err);
    query_dispose(&blocks.count);
    query_dispose(&blocks.query);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- blocks of receivers (DStreams) ---- */

static const struct list_sort receiver_sorts[] = {
    {"block", "s.block_name"}, {"executor", "s.executor_id"}, {"memory", "s.memory_used_bytes"}, {"disk", "s.disk_used_bytes"}, {NULL, NULL},
};

static void write_receiver_block(struct json_writer *json, sqlite3_stmt *stmt)
{
    json_kv_bool(json, "useMemory", db_i64(stmt, 0) == 1);
    json_kv_bool(json, "useDisk", db_i64(stmt, 1) == 1);
    json_kv_bool(json, "deserialized", db_i64(stmt, 2) == 1);
    api_columns(json, stmt, 3, sqlite3_column_count(stmt));
}

enum err_code api_receiver_blocks(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    if (list_read(&list, request, receiver_sorts, "block", err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct api_app app;
    struct blocks blocks = {.tie = "s.executor_id",
                            .write = write_receiver_block,
                            .executors_sql = "SELECT executor_id, max(host_port) AS address, sum(memory_used_bytes) AS memory_used_bytes, sum(disk_used_bytes) AS disk_used_bytes,"
                                             "       count(*) AS block_count FROM stream_block GROUP BY executor_id ORDER BY executor_id LIMIT " MOST_HOLDERS};
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    query_init(&blocks.count, request->arena);
    query_init(&blocks.query, request->arena);
    query_add(&blocks.count, "SELECT count(*) FROM stream_block");
    query_add(&blocks.query,
              "SELECT s.use_memory, s.use_disk, s.deserialized, s.block_name, s.executor_id, s.host_port AS address, s.storage_level, s.memory_used_bytes, s.disk_used_bytes,"
              "       (SELECT count(*) FROM stream_block x WHERE x.block_name = s.block_name) AS replication FROM stream_block s");
    rc = write_blocks(&app, &list, &blocks, request->arena, response, err);
    query_dispose(&blocks.count);
    query_dispose(&blocks.query);
    api_app_close(ctx, &app);
    return rc;
}
