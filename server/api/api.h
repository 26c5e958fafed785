/* SPDX-License-Identifier: Apache-2.0
 *
 * What the handlers of /api/afterglow/v1 share: opening a run, errors, and writing rows as JSON. Columns become keys by their names: executor_run_time_ms is
 * executorRunTimeMs, so the SQL of a handler says what its answer looks like. */
#ifndef SERVER_API_API_H
#define SERVER_API_API_H

#include "analysis/annotate.h"
#include "server/api_context.h"
#include "server/app_lookup.h"

/* One run, opened for one request. */
struct api_app {
    struct app_ref ref;
    struct db *db;                   /* borrowed from ref.lease */
    bool ended;                      /* the log has ended: what has no end in it never will */
    const struct ladder *ladders;    /* thresholds that the request moved, as request_ladders reads them, in handlers that grade; NULL: the usual ones */
};

/* Opens the run that path argument 0 names. True: go on, and api_app_close it. False: the answer is made (404, 409 not_loaded, 304) or *ret_rc is not ERR_OK. */
bool api_app_open(struct api_ctx *ctx, const struct request *request, struct response *response, struct api_app *ret, enum err_code *ret_rc, struct err *err);
/* The same behind the reading of parameters: `unsound` says that err holds what is wrong with one, and the answer is 400. */
bool api_app_open_for(struct api_ctx *ctx, const struct request *request, struct response *response, bool unsound, struct api_app *ret, enum err_code *ret_rc, struct err *err);
/* The same for the run that `ref` names, without a tag: for answers that depend on more than this run. */
bool api_run_open(struct api_ctx *ctx, const struct request *request, struct response *response, struct str ref, struct api_app *ret, enum err_code *ret_rc, struct err *err);
void api_app_close(struct api_ctx *ctx, struct api_app *app);

/* The catalogue, or *ret without a database (and ERR_OK) while the ingest process has not made it yet. Return it with db_pool_return. */
enum err_code api_catalog(struct api_ctx *ctx, struct db_lease *ret, struct err *err) WARN_UNUSED;

/* 400 bad_parameter with the sentence of err. */
void api_bad_parameter(struct response *response, const struct err *err);

/* Columns [first, end) of the row as keys and values: integers, reals, texts, null. */
void api_columns(struct json_writer *json, sqlite3_stmt *stmt, int first, int end);

/* Under the key an array of what is left of a statement with its values bound: each row an object of all its columns. With a switch_key (NULL: none) the first is a switch of that name. */
enum err_code api_rows(struct json_writer *json, const char *key, const char *switch_key, sqlite3_stmt *stmt, struct err *err) WARN_UNUSED;

/* A column's name as a key. */
void api_key(struct json_writer *json, const char *column_name);

/* JSON that ingest made and stored, as a value; unknown: null. */
void api_stored_json(struct json_writer *json, struct str stored);

/* What api_columns makes of a column's name, as the value of a key. */
void api_name(struct json_writer *json, const char *key, struct str column_name);

/* Words of a text, split at `separator`, empty ones left out; unknown: an empty array. Numbers only where the text holds nothing else. */
void api_words(struct json_writer *json, const char *key, struct str text, char separator);
void api_numbers(struct json_writer *json, const char *key, struct str blank_separated);

/* Under the key an array of [name, value]: the rows of a statement with two text columns, whose one parameter is an id. */
enum err_code api_pairs(struct json_writer *json, struct db *db, const char *key, const char *sql, int64_t id, struct err *err) WARN_UNUSED;

/* What findings say of a number that stands in a list. */
struct api_found {
    const char *rule;                /* the worst of them is of this one, static; NULL: none fired */
    int64_t grade;                   /* its own; 0: none; UNKNOWN: nothing judges the number, or not yet */
    int64_t price_ms;                /* of the dearest, whether it fired or not; UNKNOWN: none */
};
void api_skew(struct json_writer *json, const struct annotate_spread *spread, const struct api_found *found);
void api_gc(struct json_writer *json, int64_t task_time_ms, int64_t gc_time_ms, const struct api_found *found);
/* For api_gc where no rule is about the number: executors, hosts. */
extern const struct api_found api_not_judged;

/* SQL functions for lists that filter and sort by judgements: finding_grade(columns of table finding, wall_ms of table analysis, ladders; see api.c), and
 * executor_lost(active, remove_ms, remove_reason, end_ms): 1, it went before its time. */
#define API_LADDERS "ladders"        /* type of the pointer: struct ladder[rule_count]; NULL: the default thresholds */
enum err_code api_register_grades(struct db *db, struct err *err) WARN_UNUSED;

/* SQL: bytes of shuffles that table `t` read, from other machines and its own; unknown where both are, and at most what 64 bits hold. */
#define API_SHUFFLE_READ(t) \
    "CASE WHEN " t ".shuffle_remote_read_bytes IS NOT NULL OR " t ".shuffle_local_read_bytes IS NOT NULL" \
    " THEN min(ifnull(" t ".shuffle_remote_read_bytes, 0) + ifnull(" t ".shuffle_local_read_bytes, 0), 9223372036854775807) END"

/* Path argument as a number; the router has seen that it is digits. A longer one than an id can be gives UNKNOWN, which is nobody's. */
int64_t api_path_id(const struct request *request, size_t index);

/* The answer is a file to keep, called NAME and `ending` ("-report.html"): of the name what any file system takes, and without quotes in a header. */
void api_download(struct response *response, struct str name, const char *ending);

/* The word of a code, or NULL beyond the table. */
#define API_WORD(words, code) ((code) >= 0 && (code) < (int64_t)ARRAY_LENGTH(words) ? (words)[code] : NULL)

/* Writes "peaks": the 23 columns peak_… from `first` on, without that prefix, or null when set is not 1. */
#define API_PEAK_COUNT 23
void api_peaks(struct json_writer *json, sqlite3_stmt *stmt, int64_t set, int first);

/* The peak columns of the tables executor and executor_stage, and the metrics of task, stage and executor_stage, in the order of schema.sql, for SELECT lists. */
#define API_PEAK_COLUMNS(t) \
    t "peak_jvm_heap_memory_bytes, " t "peak_jvm_off_heap_memory_bytes, " t "peak_on_heap_execution_memory_bytes, " t "peak_off_heap_execution_memory_bytes, " \
    t "peak_on_heap_storage_memory_bytes, " t "peak_off_heap_storage_memory_bytes, " t "peak_on_heap_unified_memory_bytes, " t "peak_off_heap_unified_memory_bytes, " \
    t "peak_direct_pool_memory_bytes, " t "peak_mapped_pool_memory_bytes, " t "peak_process_tree_jvm_v_memory_bytes, " t "peak_process_tree_jvm_rss_memory_bytes, " \
    t "peak_process_tree_python_v_memory_bytes, " t "peak_process_tree_python_rss_memory_bytes, " t "peak_process_tree_other_v_memory_bytes, " \
    t "peak_process_tree_other_rss_memory_bytes, " t "peak_minor_gc_count, " t "peak_minor_gc_time_ms, " t "peak_major_gc_count, " t "peak_major_gc_time_ms, " \
    t "peak_total_gc_time_ms, " t "peak_concurrent_gc_count, " t "peak_concurrent_gc_time_ms"

#endif
