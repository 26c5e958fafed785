/* SPDX-License-Identifier: Apache-2.0
 *
 * A store scripted in SQL and the answers of /api/v1 over it, without HTTP: for the test_api_v1_*.c programs. */
#ifndef TEST_V1_STORE_H
#define TEST_V1_STORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/int_column.h"
#include "base/units.h"
#include "server/api_context.h"
#include "server/response_body.h"
#include "server/router.h"
#include "server/server.h"

struct answer {
    int status;
    char type[64];
    char *text;
    cJSON *json;                     /* NULL: not JSON */
};

static char store[64];
static struct server *server;
static struct server_settings settings;      /* of the server, which reads them at each request */

static void open_file(struct db *db, const char *name, bool catalog)
{
    char path[256];
    struct err err = {0};
    snprintf(path, sizeof path, "%s/%s", store, name);
    if (db_open(db, path, DB_WRITE, catalog ? schema_catalog_sql : schema_app_sql, catalog ? DB_CATALOG_ID : DB_APP_ID, catalog ? DB_CATALOG_VERSION : DB_APP_VERSION, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(db_exec(db, "PRAGMA foreign_keys = OFF", NULL), ERR_OK);
}

static void run_sql(const char *name, bool catalog, const char *sql)
{
    struct db db;
    struct err err = {0};
    open_file(&db, name, catalog);
    if (db_exec(&db, sql, &err))
        fail_msg("%s: %s", err.message, sql);
    assert_int_equal(db_seal(&db, NULL), ERR_OK);
}

UNUSED static void catalog_sql(const char *sql)
{
    run_sql("catalog.db", true, sql);
}

UNUSED static void app_sql(const char *key, const char *sql)
{
    char name[128];
    snprintf(name, sizeof name, "apps/%s.db", key);
    run_sql(name, false, sql);
}

/* A loaded application without attempt id, with an empty database: key and id are the same. */
UNUSED static void add_app(const char *id)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO log (path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) VALUES ('/logs/%s', 0, 1, 10, 5000, '', "
             "'loaded', 0, 0);"
             "INSERT INTO app (app_key, app_id, start_ms, end_ms, complete, log_id, loaded, generation, spark_version) VALUES ('%s', '%s', 1000, 3000, 1, "
             "last_insert_rowid(), 1, 1, '3.5.7');",
             id, id, id);
    catalog_sql(sql);
    snprintf(sql, sizeof sql,
             "INSERT INTO load (app_key, generation, state, program_version, log_path, layout, finished_name, log_modified_ms, started_ms) "
             "VALUES ('%s', 1, 'done', 'x', '/logs/%s', 0, 1, 50000, 60000);"
             "INSERT INTO application (app_id, spark_version, start_ms, end_ms) VALUES ('%s', '3.5.7', 1000, 3000);"
             "INSERT INTO log_health VALUES (1, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);",
             id, id, id);
    app_sql(id, sql);
}

/* Stage attempts of which nothing is said but this. */
UNUSED static void add_stage(const char *key, int ref, int id, int attempt, int status, int task_rows, int first_seq, int last_seq)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, num_tasks, active_tasks, complete_tasks, failed_tasks, "
             "killed_tasks, completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed, locality_process, "
             "locality_node, locality_none, locality_rack, locality_any, task_rows, ended_tasks, first_task_seq, last_task_seq, peaks_set) "
             "VALUES (%d, %d, %d, %d, 1, 1, 1, %d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, %d, %d, nullif(%d, 0), nullif(%d, 0), 0)",
             ref, id, attempt, status, task_rows, task_rows, task_rows, first_seq, last_seq);
    app_sql(key, sql);
}

/* An executor that never did anything: all counts are 0. */
UNUSED static void add_idle_executor(const char *key, int ref, const char *id, int superseded, int active)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO executor (executor_ref, executor_id, announced, superseded, active, active_tasks, failed_tasks, completed_tasks, total_tasks, total_duration_ms, "
             "total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes, task_count, failed_task_count, killed_task_count, task_time_ms, "
             "rdd_blocks, memory_used_bytes, disk_used_bytes, is_excluded, excluded_in_stages, peaks_set) "
             "VALUES (%d, '%s', 1, %d, %d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0)",
             ref, id, superseded, active);
    app_sql(key, sql);
}

UNUSED static struct answer ask(const char *address)
{
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, 1 << 24);
    struct request *request = calloc(1, sizeof *request);
    request->method = STR_LIT("GET");
    request->arena = &arena;
    request->address = str_of(address);
    assert_int_equal(request_parse(request, request->address, STR_LIT(""), &err), ERR_OK);
    const struct route *route = router_match(api_v1_routes, request);
    if (!route)
        fail_msg("no route for %s", address);
    struct response *response;
    assert_int_equal(response_new(&response, &arena, false, "/tmp", &err), ERR_OK);
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    if (route->handler(&ctx, request, response, &err))
        fail_msg("%s: %s", address, err.message);
    struct response_parts parts;
    assert_int_equal(response_finish(response, STR_NONE, &parts, &err), ERR_OK);
    assert_int_equal(parts.kind, RESPONSE_MEMORY);
    struct answer answer = {.status = parts.status, .text = strndup(parts.memory.ptr, parts.memory.len)};
    snprintf(answer.type, sizeof answer.type, "%s", parts.content_type);
    if (str_starts(str_of(answer.type), "application/json")) {
        answer.json = cJSON_Parse(answer.text);
        if (!answer.json)
            fail_msg("no JSON: %s", answer.text);
    }
    response_free(response);
    arena_dispose(&arena);
    free(request);
    return answer;
}

UNUSED static void forget(struct answer *answer)
{
    cJSON_Delete(answer->json);
    free(answer->text);
}

UNUSED static void assert_refused(const char *address, int status, const char *text)
{
    struct answer answer = ask(address);
    assert_string_equal(answer.text, text);
    assert_int_equal(answer.status, status);
    assert_true(str_starts(str_of(answer.type), "text/plain"));
    forget(&answer);
}

UNUSED static void assert_page_not_found(const char *address)
{
    struct answer answer = ask(address);
    assert_int_equal(answer.status, 404);
    assert_true(str_starts(str_of(answer.type), "text/html"));
    forget(&answer);
}

/* Compares as values: order of keys is free, numbers are numbers. */
UNUSED static void assert_json(const cJSON *actual, const char *expected)
{
    cJSON *want = cJSON_Parse(expected);
    assert_non_null(want);
    if (!cJSON_Compare(want, actual, true)) {
        char *text = cJSON_PrintUnformatted(actual);
        fail_msg("expected %s\ngot      %s", expected, text);
    }
    cJSON_Delete(want);
}

UNUSED static void assert_answer(const char *address, const char *expected)
{
    struct answer answer = ask(address);
    assert_int_equal(answer.status, 200);
    assert_json(answer.json, expected);
    forget(&answer);
}

/* The values of `key` in an answer that is an array of objects. */
UNUSED static void assert_column(const char *address, const char *key, const char *expected)
{
    struct answer answer = ask(address);
    if (!cJSON_IsArray(answer.json))
        fail_msg("%s: %d %s", address, answer.status, answer.text);
    cJSON *values = cJSON_CreateArray();
    for (const cJSON *item = answer.json->child; item; item = item->next)
        cJSON_AddItemToArray(values, cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(item, key), true));
    assert_json(values, expected);
    cJSON_Delete(values);
    forget(&answer);
}

/* The value at "a.b.c" of an answer; numbers in names index arrays. */
struct value {
    const char *path, *expected;     /* NULL: there is none */
};

static void check_value(const struct answer *answer, const struct value *value)
{
    const cJSON *at = answer->json;
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", value->path);
    for (const char *name; at && (name = strsep(&rest, "."));)
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name)) : cJSON_GetObjectItemCaseSensitive(at, name);
    if (!at != !value->expected)
        fail_msg("%s is %s in %s", value->path, at ? "there" : "missing", answer->text);
    if (value->expected)
        assert_json(at, value->expected);
}

UNUSED static void check_values(const char *address, const struct value *values, size_t count)
{
    struct answer answer = ask(address);
    for (size_t i = 0; i < count; i++)
        check_value(&answer, &values[i]);
    forget(&answer);
}

/* Several values of one answer: assert_values(address, {"a.b", "1"}, {"c", NULL}). */
#define assert_values(address, ...) check_values(address, (const struct value[]){__VA_ARGS__}, ARRAY_LENGTH(((const struct value[]){__VA_ARGS__})))

UNUSED static void assert_value(const char *address, const char *path, const char *expected)
{
    assert_values(address, {path, expected});
}

UNUSED static void assert_absent(const char *address, const char *path)
{
    assert_value(address, path, NULL);
}

/* The server and its folder, where there are any. */
static void drop_store(void)
{
    char command[128];
    if (!store[0])
        return;
    server_free(TAKE(server));
    snprintf(command, sizeof command, "rm -r %s", store);
    if (system(command))
        fprintf(stderr, "%s stays\n", store);
    store[0] = '\0';
}

static int make_store(void **state)
{
    (void)state;
    char path[128];
    struct err err = {0};
    static bool before;
    if (!before)
        atexit(drop_store);          /* cmocka does not tear down what a failing set-up leaves */
    before = true;
    drop_store();
    strcpy(store, "/tmp/test_api_v1_XXXXXX");
    assert_non_null(mkdtemp(store));
    snprintf(path, sizeof path, "%s/apps", store);
    assert_int_equal(mkdir(path, 0700), 0);
    settings = (struct server_settings){.store_dir = store, .host = "127.0.0.1"};
    if (server_new(&server, &settings, &err))
        fail_msg("%s", err.message);
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    drop_store();
    return 0;
}

#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, make_store, remove_store)
/* `make`: a set-up function that calls make_store and fills the store. */
#define FILLED_STORE_TEST(function, make) cmocka_unit_test_setup_teardown(function, make, remove_store)

#endif
