/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include <math.h>
#include <stdio.h>

#include "analysis/executor_loss.h"
#include "analysis/finding.h"
#include "base/mem.h"
#include "server/answer_cache.h"
#include "server/server.h"

#define LONGEST_NAME 80              /* column names are ours */

static void not_loaded(struct response *response, const struct app_ref *ref)
{
    static const char detail[] = "the log of this application is not loaded yet; it is loaded next";
    struct str state = str_known(ref->state) ? ref->state : STR_LIT("waiting");
    bool failed = str_is(state, "failed") || str_is(state, "gone");
    response_status(response, 409);
    response_cache(response, "no-cache, no-store, must-revalidate");
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_i64(json, "status", 409);
    json_kv_text(json, "error", "not_loaded");
    if (app_ref_is_lost(ref) && ref->other_version)
        json_kv_text(json, "detail", "this application was stored by another version of the program, and its log is gone, from which it would be loaded anew: only its row in the list is left");
    else if (app_ref_is_lost(ref))
        json_kv_text(json, "detail", "this application was put away to hold the budget of the store, and its log is gone: only its row in the list is left");
    else if (failed && str_known(ref->reason))
        json_kv_str(json, "detail", ref->reason);
    else
        json_kv_text(json, "detail", failed ? "the log of this application could not be loaded" : detail);
    json_kv_str(json, "state", state);
    json_object_end(json);
}

/* The name or an end record says that nothing will follow. */
static enum err_code has_ended(struct db *db, bool *ret, struct err *err)
{
    int64_t ended = UNKNOWN;
    enum err_code rc = db_query_i64(db, "SELECT max((SELECT max(finished_name) FROM load), ifnull((SELECT max(complete) FROM log_health), 0))", &ended, err);
    *ret = ended == 1;
    return rc;
}

bool api_run_open(struct api_ctx *ctx, const struct request *request, struct response *response, struct str ref, struct api_app *ret, enum err_code *ret_rc, struct err *err)
{
    *ret = (struct api_app){0};
    *ret_rc = app_lookup(ctx, request, ref, &ret->ref, err);
    if (*ret_rc == ERR_NOT_FOUND) {
        *ret_rc = ERR_OK;
        response_error(response, 404, "not_found", "there is no application of this name");
    } else if (*ret_rc == ERR_BUSY && !ret->ref.lease.db && str_known(ret->ref.key)) {
        *ret_rc = ERR_OK;
        not_loaded(response, &ret->ref);
    } else if (!*ret_rc) {
        ret->db = ret->ref.lease.db;
        return true;
    }
    app_ref_dispose(ctx, &ret->ref);
    return false;
}

bool api_app_open(struct api_ctx *ctx, const struct request *request, struct response *response, struct api_app *ret, enum err_code *ret_rc, struct err *err)
{
    if (!api_run_open(ctx, request, response, request->path_args[0], ret, ret_rc, err))
        return false;
    /* A file that is being filled changes under its generation: it has no tag. */
    if ((ret->ref.loaded && answer_cache_tag(server_answers(ctx->server), request, ret->ref.etag, response)) || (*ret_rc = has_ended(ret->db, &ret->ended, err))) {
        api_app_close(ctx, ret);
        return false;
    }
    return true;
}

bool api_app_open_for(struct api_ctx *ctx, const struct request *request, struct response *response, bool unsound, struct api_app *ret, enum err_code *ret_rc, struct err *err)
{
    if (!unsound)
        return api_app_open(ctx, request, response, ret, ret_rc, err);
    *ret_rc = ERR_OK;
    api_bad_parameter(response, err);
    return false;
}

void api_app_close(struct api_ctx *ctx, struct api_app *app)
{
    app_ref_dispose(ctx, &app->ref);
    app->db = NULL;
}

enum err_code api_catalog(struct api_ctx *ctx, struct db_lease *ret, struct err *err)
{
    *ret = (struct db_lease){0};
    enum err_code rc = db_pool_catalog(ctx->pool, ret, err);
    return catalog_is_to_come(ctx->server, rc) ? ERR_OK : rc;
}

void api_bad_parameter(struct response *response, const struct err *err)
{
    response_error(response, 400, "bad_parameter", "%s", err->message);
}

/* executor_run_time_ms -> executorRunTimeMs. `out` has LONGEST_NAME bytes. */
static struct str camel_case(struct str name, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < LONGEST_NAME; i++) {
        bool after = name.ptr[i] == '_' && i + 1 < name.len;
        char c = name.ptr[i += after];
        out[n++] = after && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return (struct str){out, n};
}

void api_key(struct json_writer *json, const char *column_name)
{
    char key[LONGEST_NAME];
    json_key_str(json, camel_case(str_of(column_name), key));
}

void api_name(struct json_writer *json, const char *key, struct str column_name)
{
    char name[LONGEST_NAME];
    json_kv_str(json, key, camel_case(column_name, name));
}

void api_stored_json(struct json_writer *json, struct str stored)
{
    if (str_known(stored))
        json_raw(json, stored);
    else
        json_null(json);
}

/* A database is one thread's while it is lent, so that a value needs no protection of its own. */
static void column_value(struct json_writer *json, sqlite3_stmt *stmt, int i)
{
    sqlite3_value *value = sqlite3_column_value(stmt, i);
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: json_i64(json, sqlite3_value_int64(value)); break;
    case SQLITE_FLOAT: json_f64(json, sqlite3_value_double(value)); break;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_value_text(value);
        json_str(json, text ? (struct str){text, (size_t)sqlite3_value_bytes(value)} : STR_NONE);
        break;
    }
    default: json_null(json);
    }
}

/* The keys of a statement's columns as they are written, with quotes: made once, for all rows of all answers. NULL: no memory. */
static struct str *make_column_keys(sqlite3_stmt *stmt)
{
    int count = sqlite3_column_count(stmt);
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += sizeof(struct str) + MIN(strlen(sqlite3_column_name(stmt, i)), (size_t)LONGEST_NAME) + 2;
    struct str *keys = mem_alloc(bytes);
    char *out = keys ? (char *)(keys + count) : NULL;
    for (int i = 0; keys && i < count; i++) {
        struct str key = camel_case(str_of(sqlite3_column_name(stmt, i)), out + 1);
        out[0] = out[1 + key.len] = '"';
        keys[i] = (struct str){out, key.len + 2};
        out += key.len + 2;
    }
    return keys;
}

void api_columns(struct json_writer *json, sqlite3_stmt *stmt, int first, int end)
{
    void **note = db_statement_note(stmt);
    if (note && !*note)
        *note = make_column_keys(stmt);
    const struct str *keys = note ? *note : NULL;
    for (int i = first; i < end; i++) {
        if (keys)
            json_key_raw(json, keys[i]);
        else
            api_key(json, sqlite3_column_name(stmt, i));
        column_value(json, stmt, i);
    }
}

enum err_code api_rows(struct json_writer *json, const char *key, const char *switch_key, sqlite3_stmt *stmt, struct err *err)
{
    enum err_code rc;
    json_key(json, key);
    json_array_begin(json);
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        if (switch_key)
            json_kv_bool(json, switch_key, db_i64(stmt, 0) == 1);
        api_columns(json, stmt, switch_key ? 1 : 0, sqlite3_column_count(stmt));
        json_object_end(json);
    }
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void each_word(struct json_writer *json, const char *key, struct str text, char separator, bool numbers)
{
    json_key(json, key);
    json_array_begin(json);
    while (text.len) {
        struct str word = str_word(&text, separator);
        int64_t number;
        if (numbers && str_to_i64(word, &number))
            json_i64(json, number);
        else if (!numbers && word.len)
            json_str(json, word);
    }
    json_array_end(json);
}

void api_words(struct json_writer *json, const char *key, struct str text, char separator)
{
    each_word(json, key, text, separator, false);
}

void api_numbers(struct json_writer *json, const char *key, struct str blank_separated)
{
    each_word(json, key, blank_separated, ' ', true);
}

enum err_code api_pairs(struct json_writer *json, struct db *db, const char *key, const char *sql, int64_t id, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    json_key(json, key);
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc)
        db_bind_i64(stmt, 1, id);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_array_begin(json);
        json_str(json, db_str(stmt, 0));
        json_str(json, db_str(stmt, 1));
        json_array_end(json);
    }
    db_finalize(stmt);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

const struct api_found api_not_judged = {.grade = UNKNOWN, .price_ms = UNKNOWN};

static void write_height(struct json_writer *json, const char *key, enum annotate_height height)
{
    static const char *const words[] = {[ANNOTATE_UNKNOWN] = NULL, [ANNOTATE_USUAL] = "usual", [ANNOTATE_HIGH] = "high", [ANNOTATE_VERY_HIGH] = "veryHigh"};
    json_kv_text(json, key, words[height]);
}

static void write_found(struct json_writer *json, enum annotate_height height, const struct api_found *found)
{
    json_kv_i64(json, "grade", found->grade);
    json_kv_text(json, "rule", found->rule);
    json_kv_i64(json, "priceMs", found->price_ms);
    write_height(json, "height", height);
}

void api_skew(struct json_writer *json, const struct annotate_spread *spread, const struct api_found *found)
{
    static const char *const bytes[] = {[ANNOTATE_BYTES_NONE] = NULL, [ANNOTATE_BYTES_SHUFFLE_READ] = "shuffleRead", [ANNOTATE_BYTES_INPUT] = "input"};
    struct annotate_skew skew = annotate_skew(spread);
    json_key(json, "skew");
    json_object_begin(json);
    write_found(json, skew.height, found);
    json_kv_f64(json, "durationRatio", skew.duration_ratio);
    json_kv_f64(json, "bytesRatio", skew.bytes_ratio);
    write_height(json, "bytesHeight", skew.bytes_height);
    json_kv_text(json, "bytes", bytes[skew.bytes]);
    json_object_end(json);
}

void api_gc(struct json_writer *json, int64_t task_time_ms, int64_t gc_time_ms, const struct api_found *found)
{
    struct annotate_gc gc = annotate_gc(task_time_ms, gc_time_ms);
    json_key(json, "gc");
    json_object_begin(json);
    write_found(json, gc.height, found);
    json_kv_f64(json, "share", gc.share);
    json_object_end(json);
}

static int64_t argument(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? UNKNOWN : sqlite3_value_int64(value);
}

/* finding_grade(rule, measure, price_ms, scenario, confidence, shift, at most, at least, wall_ms, ladders): as analysis grades. */
static void grade_finding(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const char *id = (const char *)sqlite3_value_text(values[0]);
    const struct rule *rule = id ? rule_find(str_of(id)) : NULL;
    if (!rule) {
        sqlite3_result_int(context, GRADE_OK);
        return;
    }
    struct finding finding = {.rule = rule,
                              .measure = sqlite3_value_type(values[1]) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(values[1]),
                              .price = {.ms = sqlite3_value_type(values[2]) == SQLITE_NULL ? UNKNOWN : sqlite3_value_int64(values[2])},
                              .scenario = sqlite3_value_type(values[3]) == SQLITE_NULL ? NULL : "",
                              .confidence = sqlite3_value_int(values[4]),
                              .grade_shift = sqlite3_value_int(values[5]),
                              .at_most = (enum grade)sqlite3_value_int(values[6]),
                              .at_least = (enum grade)sqlite3_value_int(values[7])};
    struct profile profile = {sqlite3_value_pointer(values[9], API_LADDERS)};
    sqlite3_result_int(context, (int)finding_grade(&finding, &profile, sqlite3_value_int64(values[8])));
}

static void executor_lost(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const char *reason = (const char *)sqlite3_value_text(values[2]);
    struct str text = reason ? (struct str){reason, (size_t)sqlite3_value_bytes(values[2])} : STR_NONE;
    sqlite3_result_int(context, executor_was_lost(argument(values[0]) != 0, argument(values[1]), text, argument(values[3])));
}

enum err_code api_register_grades(struct db *db, struct err *err)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (sqlite3_create_function_v2(db->handle, "finding_grade", 10, flags, NULL, grade_finding, NULL, NULL, NULL) ||
        sqlite3_create_function_v2(db->handle, "executor_lost", 4, flags, NULL, executor_lost, NULL, NULL, NULL))
        return db_error(db->handle, err, "cannot add SQL functions");
    return ERR_OK;
}

#define FILE_NAME_BYTES 120

static void write_file_name(struct str text, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < room; i++) {
        char c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c == '.' && n > 0);
        if (plain || (n > 0 && out[n - 1] != '-'))
            out[n++] = plain ? c : '-';
    }
    out[n] = '\0';
    if (!n)
        snprintf(out, room, "afterglow");
}

void api_download(struct response *response, struct str name, const char *ending)
{
    char file[FILE_NAME_BYTES], disposition[FILE_NAME_BYTES + 64];
    write_file_name(name, file, sizeof file);
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s%s\"", file, ending);
    response_header(response, "Content-Disposition", str_of(disposition));
}

int64_t api_path_id(const struct request *request, size_t index)
{
    int64_t id;
    return str_to_i64(request->path_args[index], &id) ? id : UNKNOWN;
}

void api_peaks(struct json_writer *json, sqlite3_stmt *stmt, int64_t set, int first)
{
    static const size_t prefix = sizeof "peak_" - 1;
    json_key(json, "peaks");
    if (set != 1) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    for (int i = first; i < first + API_PEAK_COUNT; i++) {
        api_key(json, sqlite3_column_name(stmt, i) + prefix);
        column_value(json, stmt, i);
    }
    json_object_end(json);
}
