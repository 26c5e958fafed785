/* SPDX-License-Identifier: Apache-2.0
 *
 * storage/rdd, storage/rdd/{id} (spec/core.md §2.9, §3.4 RDDStorageInfo). */
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

#define RDD_COLUMNS \
    "SELECT r.rdd_id, r.storage_name, r.storage_partitions, (SELECT count(*) FROM rdd_partition p WHERE p.rdd_id = r.rdd_id) AS cached, r.storage_level, " \
    "r.memory_used_bytes, r.disk_used_bytes FROM rdd r WHERE r.tracked = 1 "

static const char cached_sql[] = RDD_COLUMNS "AND cached > 0 ORDER BY r.rdd_id";
static const char one_sql[] = RDD_COLUMNS "AND r.rdd_id = ?1";

struct rdd_writer {
    struct json_writer *w;
    sqlite3_stmt *distribution, *partitions;
};

static enum err_code rdd_writer_init(struct rdd_writer *self, struct db *db, struct json_writer *w, struct err *err)
{
    *self = (struct rdd_writer){.w = w};
    enum err_code rc = db_prepare(db, &self->distribution,
                                  "SELECT address, memory_used_bytes, memory_remaining_bytes, disk_used_bytes, on_heap_used_bytes, off_heap_used_bytes, "
                                  "on_heap_remaining_bytes, off_heap_remaining_bytes FROM rdd_distribution WHERE rdd_id = ?1 AND address IS NOT NULL ORDER BY ordinal",
                                  err);
    if (rc)
        return rc;
    return db_prepare(db, &self->partitions,
                      "SELECT block_name, storage_level, memory_used_bytes, disk_used_bytes, executors FROM rdd_partition WHERE rdd_id = ?1 ORDER BY ordinal", err);
}

static void rdd_writer_dispose(struct rdd_writer *self)
{
    db_finalize(self->distribution);
    db_finalize(self->partitions);
}

static void count_if(struct json_writer *w, const char *key, sqlite3_stmt *row, int column)
{
    if (!db_is_null(row, column))
        json_kv_i64(w, key, db_i64(row, column));
}

/* Left out when no executor holds anything. One without an address was never added: the History Server knows none such. */
static enum err_code write_distribution(struct rdd_writer *self, int64_t rdd_id, struct err *err)
{
    struct json_writer *w = self->w;
    sqlite3_stmt *rows = self->distribution;
    enum err_code rc;
    bool any = false;
    db_bind_i64(rows, 1, rdd_id);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        if (!any) {
            json_key(w, "dataDistribution");
            json_array_begin(w);
            any = true;
        }
        json_object_begin(w);
        v1_text(w, "address", db_str(rows, 0));
        v1_count(w, "memoryUsed", db_i64(rows, 1));
        v1_count(w, "memoryRemaining", db_i64(rows, 2));
        v1_count(w, "diskUsed", db_i64(rows, 3));
        count_if(w, "onHeapMemoryUsed", rows, 4);
        count_if(w, "offHeapMemoryUsed", rows, 5);
        count_if(w, "onHeapMemoryRemaining", rows, 6);
        count_if(w, "offHeapMemoryRemaining", rows, 7);
        json_object_end(w);
    }
    if (any)
        json_array_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_words(struct json_writer *w, const char *key, struct str words)
{
    json_key(w, key);
    json_array_begin(w);
    while (words.len) {
        struct str word = str_word(&words, ' ');
        if (word.len)
            json_str(w, word);
    }
    json_array_end(w);
}

static enum err_code write_partitions(struct rdd_writer *self, int64_t rdd_id, struct err *err)
{
    struct json_writer *w = self->w;
    sqlite3_stmt *rows = self->partitions;
    enum err_code rc;
    json_key(w, "partitions");
    json_array_begin(w);
    db_bind_i64(rows, 1, rdd_id);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(w);
        v1_text(w, "blockName", db_str(rows, 0));
        v1_text(w, "storageLevel", db_str(rows, 1));
        v1_count(w, "memoryUsed", db_i64(rows, 2));
        v1_count(w, "diskUsed", db_i64(rows, 3));
        write_words(w, "executors", db_str(rows, 4));
        json_object_end(w);
    }
    json_array_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_rdd(struct rdd_writer *self, sqlite3_stmt *row, struct err *err)
{
    struct json_writer *w = self->w;
    int64_t id = db_i64(row, 0);
    enum err_code rc;
    json_object_begin(w);
    json_kv_i64(w, "id", id);
    v1_text(w, "name", db_str(row, 1));
    v1_count(w, "numPartitions", db_i64(row, 2));
    v1_count(w, "numCachedPartitions", db_i64(row, 3));
    v1_text(w, "storageLevel", db_str(row, 4));
    v1_count(w, "memoryUsed", db_i64(row, 5));
    v1_count(w, "diskUsed", db_i64(row, 6));
    rc = write_distribution(self, id, err);
    if (rc == ERR_OK)
        rc = write_partitions(self, id, err);
    json_object_end(w);
    return rc;
}

static enum err_code rdds(struct v1_scope *scope, struct err *err)
{
    struct json_writer *w = response_json(scope->response, true);
    CLEANUP(rdd_writer_dispose) struct rdd_writer writer;
    sqlite3_stmt *rows = NULL;
    enum err_code rc = rdd_writer_init(&writer, scope->db, w, err);
    if (rc || (rc = db_prepare(scope->db, &rows, cached_sql, err)))
        return rc;
    json_array_begin(w);
    while ((rc = db_step(rows, err)) == ERR_OK && (rc = write_rdd(&writer, rows, err)) == ERR_OK)
        ;
    json_array_end(w);
    db_finalize(rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code rdd(struct v1_scope *scope, struct err *err)
{
    int64_t id = scope->ids[0];
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(scope->db, &rows, one_sql, err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, id);
    if ((rc = db_step(rows, err)) == ERR_OK) {
        CLEANUP(rdd_writer_dispose) struct rdd_writer writer;
        rc = rdd_writer_init(&writer, scope->db, response_json(scope->response, true), err);
        if (rc == ERR_OK)
            rc = write_rdd(&writer, rows, err);
    } else if (rc == ERR_EOF) {
        response_plain(scope->response, 404, "no rdd found w/ id %lld", (long long)id);
        rc = ERR_OK;
    }
    db_finalize(rows);
    return rc;
}

enum err_code v1_rdds(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, rdds, err);
}

enum err_code v1_rdd(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, v1_convert_ids, rdd, err);
}
