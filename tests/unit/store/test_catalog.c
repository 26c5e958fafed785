/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "base/file_copy.h"
#include "base/mem.h"
#include "ingest/store/catalog.h"

static char store[64];
static struct catalog *catalog;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    snprintf(store, sizeof store, "/tmp/afterglow-test-XXXXXX");
    err = (struct err){0};
    return mkdtemp(store) ? catalog_open(&catalog, store, &err) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    catalog_close(TAKE(catalog));
    snprintf(command, sizeof command, "rm -rf %s", store);
    return system(command);
}

static void ok(enum err_code rc)
{
    if (rc)
        fail_msg("%s: %s", err_code_name(rc), err.message);
}

static struct catalog_sighting sighting(const char *path, int64_t bytes, const char *fingerprint)
{
    const char *dot = strrchr(path, '.');
    return (struct catalog_sighting){.place_id = UNKNOWN, .path = path, .fingerprint = fingerprint, .bytes = bytes, .modified_ms = 1000 + bytes,
        .finished_name = !(dot && strcmp(dot, ".inprogress") == 0)};
}

static int64_t see(const char *path, int64_t bytes, const char *fingerprint, enum sighting_news want_news, enum log_state want_state)
{
    const struct catalog_sighting s = sighting(path, bytes, fingerprint);
    enum sighting_news news;
    int64_t from;
    struct catalog_row row;
    ok(catalog_see(catalog, &s, false, &news, &from, &row, &err));
    assert_int_equal(news, want_news);
    assert_int_equal(row.state, want_state);
    return row.log_id;
}

static bool list(int64_t log_id, const char *key, const char *app_id, const char *name, bool complete)
{
    const struct catalog_run run = {.app_id = app_id, .name = name, .start_ms = 5, .end_ms = complete ? 9 : UNKNOWN, .last_event_ms = UNKNOWN, .complete = complete};
    bool chosen = false;
    ok(catalog_listed(catalog, log_id, key, &run, &chosen, &err));
    return chosen;
}

/* Loads a log that was seen as `s`, as the worker does. */
static int64_t load(int64_t log_id, const struct catalog_sighting *s, enum log_state state, const char *app_id, bool complete)
{
    int64_t generation;
    ok(catalog_load_begin(catalog, log_id, &generation, &err));
    const struct catalog_run run = {.app_id = app_id,
                                    .name = "n",
                                    .start_ms = 5,
                                    .end_ms = complete ? 9 : UNKNOWN,
                                    .last_event_ms = 8,
                                    .complete = complete,
                                    .outcome = "succeeded",
                                    .duration_ms = 4,
                                    .job_count = 3,
                                    .task_count = 12};
    const struct catalog_result result = {.state = state, .flags = state == LOG_PARTIAL ? "lines" : "", .reason = state == LOG_LOADED ? NULL : "because", .read = s,
        .generation = generation, .line_count = 100, .bad_line_count = 0, .task_count = 12, .load_ms = 7};
    ok(catalog_load_done(catalog, log_id, &result, &run, &err));
    return generation;
}

static int64_t query(const char *sql)
{
    int64_t value = UNKNOWN;
    ok(db_query_i64(catalog_db(catalog), sql, &value, &err));
    return value;
}

static enum log_state state_of(int64_t log_id)
{
    struct catalog_row row;
    ok(catalog_get(catalog, log_id, &row, &err));
    return row.state;
}

static void a_log_goes_from_seen_to_loaded(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/app-1", 100, "f1");
    int64_t id = see("/l/app-1", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "app-1-k", "app-1", "n", true));
    assert_int_equal(query("SELECT loaded FROM app WHERE app_key = 'app-1-k'"), 0);
    int64_t generation = load(id, &s, LOG_LOADED, "app-1", true);
    assert_int_equal(query("SELECT loaded FROM app WHERE app_key = 'app-1-k'"), 1);
    assert_int_equal(query("SELECT task_count FROM app WHERE app_key = 'app-1-k'"), 12);
    assert_int_equal(query("SELECT generation FROM app"), generation);
    assert_int_equal(see("/l/app-1", 100, "f1", SIGHTING_SAME, LOG_LOADED), id);
}

static void a_log_that_grew_waits_again_and_its_run_stays_loaded(void **state)
{
    (void)state;
    struct catalog_sighting s = sighting("/l/a.inprogress", 100, "f1");
    int64_t id = see("/l/a.inprogress", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "a-k", "a", "n", false));
    int64_t first = load(id, &s, LOG_LOADED, "a", false);
    see("/l/a.inprogress", 200, "f2", SIGHTING_CHANGED, LOG_WAITING);
    assert_int_equal(query("SELECT loaded FROM app"), 1);
    s = sighting("/l/a.inprogress", 200, "f2");
    assert_true(load(id, &s, LOG_LOADED, "a", true) > first);
    assert_int_equal(query("SELECT complete FROM app"), 1);
}

static void what_a_load_read_is_what_the_next_look_is_compared_with(void **state)
{
    (void)state;
    int64_t id = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "a-k", "a", "n", false));
    const struct catalog_sighting later = sighting("/l/a", 150, "f2");      /* it grew between the look and the load */
    load(id, &later, LOG_LOADED, "a", false);
    see("/l/a", 150, "f2", SIGHTING_SAME, LOG_LOADED);
}

static void a_renamed_log_keeps_its_run(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/a.zstd.inprogress", 100, "f1"), renamed = sighting("/l/a.zstd", 120, "f2");
    int64_t old = see("/l/a.zstd.inprogress", 100, "f1", SIGHTING_NEW, LOG_WAITING), from = 0;
    assert_true(list(old, "a-k", "a", "n", false));
    load(old, &s, LOG_LOADED, "a", false);
    enum sighting_news news;
    struct catalog_row row;
    ok(catalog_see(catalog, &renamed, false, &news, &from, &row, &err));
    assert_int_equal(news, SIGHTING_NEW);
    assert_int_equal(from, old);
    assert_string_equal(row.app_key, "a-k");
    assert_true(row.is_source && row.loaded);
    assert_int_equal(state_of(old), LOG_GONE);
    assert_true(list(row.log_id, "a-k", "a", "n", true));
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
}

static void a_key_made_from_a_name_stays_when_the_start_record_comes(void **state)
{
    (void)state;
    int64_t id = see("/l/app-1.inprogress", 10, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "from-name", "app-1", NULL, false));               /* no ApplicationStart yet */
    see("/l/app-1.inprogress", 20, "f2", SIGHTING_CHANGED, LOG_WAITING);
    assert_true(list(id, "from-record", "App-1", "n", false));
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
    assert_int_equal(query("SELECT count(*) FROM app WHERE app_key = 'from-name' AND app_id = 'App-1'"), 1);
}

static void another_run_in_the_same_place_is_another_run(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/x", 100, "f1");
    int64_t id = see("/l/x", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "k1", "app-1", "n", true));
    load(id, &s, LOG_LOADED, "app-1", true);
    see("/l/x", 90, "f2", SIGHTING_CHANGED, LOG_WAITING);
    assert_true(list(id, "k2", "app-2", "n", true));
    assert_int_equal(query("SELECT count(*) FROM app"), 2);
    assert_int_equal(query("SELECT loaded FROM app WHERE app_key = 'k1'"), 1);   /* never forgotten */
}

static void of_copies_the_complete_then_the_larger_then_the_newer_is_loaded(void **state)
{
    (void)state;
    int64_t large_cut = see("/l/large-cut", 500, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(large_cut, "k", "a", "n", false));
    int64_t complete = see("/l/complete", 100, "f2", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(complete, "k", "a", "n", true));
    assert_int_equal(state_of(large_cut), LOG_SKIPPED);
    int64_t larger = see("/l/larger", 101, "f3", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(larger, "k", "a", "n", true));
    assert_int_equal(state_of(complete), LOG_SKIPPED);
    int64_t lesser = see("/l/lesser", 99, "f4", SIGHTING_NEW, LOG_WAITING);
    assert_false(list(lesser, "k", "a", "n", true));
    struct catalog_row row;
    ok(catalog_get(catalog, lesser, &row, &err));
    assert_int_equal(row.state, LOG_SKIPPED);
    assert_non_null(strstr(row.reason, "/l/larger"));
    assert_int_equal(query("SELECT log_id FROM app WHERE app_key = 'k'"), larger);
}

static void a_copy_that_was_being_loaded_when_a_better_one_came_is_no_second_row(void **state)
{
    (void)state;
    const struct catalog_sighting of_cut = sighting("/l/cut", 100, "f1"), of_whole = sighting("/l/whole", 200, "f2");
    int64_t generation, cut = see("/l/cut", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(cut, "k", "a", "n", true));
    ok(catalog_load_begin(catalog, cut, &generation, &err));
    int64_t whole = see("/l/whole", 200, "f2", SIGHTING_NEW, LOG_WAITING), other = see("/l/other", 300, "f3", SIGHTING_NEW, LOG_WAITING);
    const struct catalog_sighting of_other = sighting("/l/other", 300, "f3");
    assert_true(list(other, "other", "b", "n", true));
    load(other, &of_other, LOG_LOADED, "b", true);
    assert_true(list(whole, "k", "a", "n", true));
    assert_int_equal(state_of(cut), LOG_LOADING);
    load(cut, &of_cut, LOG_PARTIAL, "a", true);
    load(whole, &of_whole, LOG_LOADED, "a", true);
    struct catalog_row row;
    ok(catalog_get(catalog, cut, &row, &err));
    assert_int_equal(row.state, LOG_SKIPPED);
    assert_non_null(strstr(row.reason, "/l/whole"));
    assert_int_equal(state_of(whole), LOG_LOADED);
    assert_int_equal(state_of(other), LOG_LOADED);
    assert_int_equal(query("SELECT log_id FROM app WHERE app_key = 'k'"), whole);
}

static void when_the_shown_copy_fails_the_others_are_looked_at_again(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/b", 200, "f2");
    int64_t a = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING), b = see("/l/b", 200, "f2", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(a, "k", "a", "n", true));
    assert_true(list(b, "k", "a", "n", true));
    load(b, &s, LOG_FAILED, "a", false);
    assert_int_equal(query("SELECT count(*) FROM app"), 0);                 /* nothing of it was ever readable */
    assert_int_equal(see("/l/a", 100, "f1", SIGHTING_CHANGED, LOG_WAITING), a);
    assert_true(list(a, "k", "a", "n", true));
}

static void a_log_that_goes_leaves_its_run_and_hands_it_to_an_equal_copy(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/a", 100, "f1");
    int64_t a = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(a, "k", "a", "n", true));
    load(a, &s, LOG_LOADED, "a", true);
    int64_t b = see("/l/b", 100, "f2", SIGHTING_NEW, LOG_WAITING);
    assert_false(list(b, "k", "a", "n", true));
    ok(catalog_gone(catalog, a, &err));
    assert_int_equal(state_of(a), LOG_GONE);
    assert_int_equal(query("SELECT loaded FROM app"), 1);
    assert_int_equal(see("/l/b", 100, "f2", SIGHTING_CHANGED, LOG_WAITING), b);
    assert_true(list(b, "k", "a", "n", true));
    assert_int_equal(query("SELECT log_id FROM app"), b);
}

static void a_lesser_copy_does_not_replace_what_was_read_from_a_log_that_is_gone(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/a", 100, "f1");
    int64_t a = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(a, "k", "a", "n", true));
    load(a, &s, LOG_LOADED, "a", true);
    ok(catalog_gone(catalog, a, &err));
    assert_false(list(see("/l/b", 50, "f2", SIGHTING_NEW, LOG_WAITING), "k", "a", "n", false));
}

static void an_entry_that_is_no_log_is_kept_with_its_reason(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/README", 10, "");
    struct catalog_row row;
    ok(catalog_reject(catalog, &s, "not-a-log", "text without events", &row, &err));
    assert_int_equal(row.state, LOG_SKIPPED);
    assert_string_equal(row.reason, "text without events");
    int64_t id = row.log_id, changed_ms = row.changed_ms;
    ok(catalog_reject(catalog, &s, "not-a-log", "text without events", &row, &err));
    assert_int_equal(row.changed_ms, changed_ms);                           /* nothing was written */
    assert_int_equal(see("/l/README", 500, "f", SIGHTING_CHANGED, LOG_WAITING), id);     /* it became a log */
}

static void a_load_that_killed_the_worker_twice_is_set_aside(void **state)
{
    (void)state;
    struct catalog_recovery recovery;
    int64_t generation, id = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "k", "a", "n", true));
    ok(catalog_load_begin(catalog, id, &generation, &err));
    ok(catalog_recover(catalog, false, &recovery, &err));                   /* an orderly end counts for nothing */
    assert_int_equal(state_of(id), LOG_WAITING);
    assert_int_equal(query("SELECT tries FROM log"), 0);
    for (int death = 1; death <= 2; death++) {
        ok(catalog_load_begin(catalog, id, &generation, &err));
        ok(catalog_recover(catalog, true, &recovery, &err));
        assert_int_equal(query("SELECT tries FROM log"), death);
        assert_int_equal(recovery.set_aside_count, death == 2);
        assert_int_equal(recovery.reset_count, death == 1);
    }
    struct catalog_row row;
    ok(catalog_get(catalog, id, &row, &err));
    assert_int_equal(row.state, LOG_FAILED);
    assert_string_equal(row.reason, "set aside: loading it ended the worker twice");
    see("/l/a", 100, "f1", SIGHTING_SAME, LOG_FAILED);
    see("/l/a", 101, "f2", SIGHTING_CHANGED, LOG_WAITING);                  /* a changed log gets a new chance */
    assert_int_equal(query("SELECT tries FROM log"), 0);
}

static void leftovers_of_unfinished_loads_are_removed(void **state)
{
    (void)state;
    static const char *const names[] = {"k.loading.db", "k.loading.db-wal", "k.loading.db-shm", "k.loading.db-new", "k.lock", "k.db"};
    char path[128];
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        snprintf(path, sizeof path, "%s/apps/%s", store, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    struct catalog_recovery recovery;
    ok(catalog_recover(catalog, true, &recovery, &err));
    assert_int_equal(recovery.removed_file_count, 5);
    assert_int_equal(access(path, F_OK), 0);                                /* k.db */
}

static void a_file_that_was_being_followed_is_closed_for_good(void **state)
{
    (void)state;
    static const char *const names[] = {"", "-wal", "-shm"};
    char from[128], to[160];
    struct db db;
    snprintf(from, sizeof from, "%s/apps/follow.db", store);
    ok(db_open(&db, from, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err));
    ok(db_exec(&db, "INSERT INTO text VALUES (7, 'in the -wal')", &err));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) { /* as a death leaves it */
        snprintf(to, sizeof to, "%s/apps/k.db%s", store, names[i]);
        snprintf(from, sizeof from, "%s/apps/follow.db%s", store, names[i]);
        ok(file_copy(from, to, false, &err));
    }
    db_close(&db);
    struct catalog_recovery recovery;
    ok(catalog_recover(catalog, true, &recovery, &err));
    snprintf(to, sizeof to, "%s/apps/k.db-wal", store);
    assert_int_equal(access(to, F_OK), -1);
    to[strlen(to) - strlen("-wal")] = '\0';
    FILE *file = fopen(to, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 18, SEEK_SET), 0);
    assert_int_equal(fgetc(file), 1); /* a rollback journal from here on: SQLite's file format, 1.3 */
    fclose(file);
    int64_t found;
    ok(db_open(&db, to, DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err));
    ok(db_query_i64(&db, "SELECT count(*) FROM text WHERE text_id = 7", &found, &err));
    assert_int_equal(found, 1);
    db_close(&db);
}

/* A finished file below apps/, as app_writer leaves it. */
static void make_app_file(const char *key, const char *log_path)
{
    char path[128], sql[1024];
    struct db db;
    snprintf(path, sizeof path, "%s/apps/%s.db", store, key);
    ok(db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err));
    snprintf(sql, sizeof sql,
        "INSERT INTO load VALUES ('%s', 77, 'done', '0', '%s', 0, 1, 1100, 100, 100, 400, 10, 50, 60);"
        "INSERT INTO application (app_id, attempt_id, name, user, start_ms, end_ms, last_event_ms) VALUES ('app-9', '1', 'nine', 'u', 5, 25, 25);"
        "INSERT INTO environment VALUES (1, 'spark.yarn.queue', 'q');"
        "INSERT INTO log_health VALUES (1, 'lines', 1, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
        "INSERT INTO log_problem (problem_no, kind, reason) VALUES (1, 'line', 'not JSON');", key, log_path);
    ok(db_exec(&db, sql, &err));
    ok(db_seal(&db, &err));
    db_close(&db);
}

static void reopen_after(const char *damage)
{
    char command[256];
    catalog_close(TAKE(catalog));
    snprintf(command, sizeof command, "cd %s && %s", store, damage);
    assert_int_equal(system(command), 0);
    ok(catalog_open(&catalog, store, &err));
}

static void expect_rebuilt(void)
{
    assert_non_null(catalog_remark(catalog));
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
    assert_int_equal(query("SELECT count(*) FROM app WHERE app_id = 'app-9' AND attempt_id = '1' AND name = 'nine' AND queue = 'q' AND complete = 1 AND loaded = 1 "
        "AND generation = 77 AND start_ms = 5 AND start_inferred = 0 AND duration_ms = 20 AND outcome = 'unknown' AND job_count = 0"), 1);
    assert_int_equal(query("SELECT count(*) FROM log WHERE path = '/l/nine' AND state = 'partial' AND reason = 'not JSON' AND bad_line_count = 1 AND app_key = 'nine-k'"), 1);
    see("/l/nine", 100, "fresh", SIGHTING_SAME, LOG_PARTIAL);               /* same size and time: not loaded again */
    see("/l/nine", 100, "fresh", SIGHTING_SAME, LOG_PARTIAL);
    see("/l/nine", 100, "other", SIGHTING_CHANGED, LOG_WAITING);
}

static void a_catalogue_of_another_version_is_rebuilt(void **state)
{
    (void)state;
    make_app_file("nine-k", "/l/nine");
    ok(db_exec(catalog_db(catalog), "PRAGMA user_version = 99", &err));
    reopen_after("true");
    expect_rebuilt();
}

static void a_catalogue_cut_in_half_is_rebuilt(void **state)
{
    (void)state;
    make_app_file("nine-k", "/l/nine");
    see("/l/lost", 1, "f", SIGHTING_NEW, LOG_WAITING);
    ok(db_exec(catalog_db(catalog), "PRAGMA wal_checkpoint(TRUNCATE)", &err));
    reopen_after("truncate -s $(( $(stat -c %s catalog.db) / 2 )) catalog.db");
    expect_rebuilt();
    reopen_after("ls catalog.db.old-* > /dev/null");                     /* set aside, not thrown away */
    assert_null(catalog_remark(catalog));
}

static void a_catalogue_that_was_removed_is_noticed_and_rebuilt(void **state)
{
    (void)state;
    char path[128];
    make_app_file("nine-k", "/l/nine");
    assert_true(catalog_in_place(catalog));
    snprintf(path, sizeof path, "%s/catalog.db", store);
    assert_int_equal(unlink(path), 0);
    assert_false(catalog_in_place(catalog));
    reopen_after("true");
    assert_true(catalog_in_place(catalog));
    expect_rebuilt();
}

static void a_catalogue_of_noise_is_rebuilt(void **state)
{
    (void)state;
    make_app_file("nine-k", "/l/nine");
    reopen_after("head -c 100000 /dev/urandom > catalog.db");
    expect_rebuilt();
}

static void a_missing_or_foreign_file_below_apps_makes_the_log_wait_again(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/a", 100, "f1");
    enum sighting_news news;
    int64_t from, id = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    struct catalog_row row;
    assert_true(list(id, "k", "a", "n", true));
    load(id, &s, LOG_LOADED, "a", true);
    make_app_file("k", "/l/a");
    ok(catalog_see(catalog, &s, true, &news, &from, &row, &err));
    assert_int_equal(news, SIGHTING_SAME);
    char path[128];
    snprintf(path, sizeof path, "%s/apps/k.db", store);
    assert_int_equal(unlink(path), 0);
    ok(catalog_see(catalog, &s, true, &news, &from, &row, &err));
    assert_int_equal(news, SIGHTING_CHANGED);
    assert_int_equal(row.state, LOG_WAITING);
    assert_false(row.loaded);
}

static void a_directory_that_was_away_does_not_cost_a_new_load(void **state)
{
    (void)state;
    const struct catalog_sighting s = sighting("/l/a", 100, "f1");
    int64_t id = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    assert_true(list(id, "k", "a", "n", true));
    load(id, &s, LOG_PARTIAL, "a", true);
    make_app_file("k", "/l/a");
    ok(catalog_gone(catalog, id, &err));
    see("/l/a", 100, "f1", SIGHTING_SAME, LOG_PARTIAL);
    ok(catalog_gone(catalog, id, &err));
    see("/l/a", 101, "f2", SIGHTING_CHANGED, LOG_WAITING);
}

static enum err_code collect_path(void *context, int64_t log_id, const char *path)
{
    (void)log_id;
    strcat(context, path);
    return ERR_OK;
}

static void places_know_their_logs_and_their_last_scan(void **state)
{
    (void)state;
    int64_t place = 0, again = 0, from;
    char found[256] = "";
    struct catalog_row row;
    enum sighting_news news;
    ok(catalog_place(catalog, "/l", "logs", &place, &err));
    ok(catalog_place(catalog, "/l", NULL, &again, &err));
    assert_int_equal(place, again);
    assert_int_equal(query("SELECT count(*) FROM place WHERE name = 'logs'"), 1);
    see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);                      /* first named on a command line */
    struct catalog_sighting s = sighting("/l/a", 100, "f1");
    s.place_id = place;
    ok(catalog_see(catalog, &s, false, &news, &from, &row, &err));
    assert_int_equal(row.place_id, place);
    ok(catalog_each_present(catalog, place, collect_path, found, &err));
    assert_string_equal(found, "/l/a");
    ok(catalog_place_scanned(catalog, place, 12, 1, "cannot be read", &err));
    assert_int_equal(query("SELECT count(*) FROM place WHERE last_error = 'cannot be read' AND entry_count = 1 AND last_scan_ms > 0"), 1);
    ok(catalog_place_drop(catalog, place, &err));
    assert_int_equal(query("SELECT count(*) FROM place"), 0);
    assert_int_equal(query("SELECT count(*) FROM log WHERE place_id IS NULL"), 1);
}

static void a_load_put_off_waits_with_its_reason(void **state)
{
    (void)state;
    int64_t generation, id = see("/l/a", 100, "f1", SIGHTING_NEW, LOG_WAITING);
    struct catalog_row row;
    ok(catalog_load_begin(catalog, id, &generation, &err));
    ok(catalog_load_progress(catalog, id, 50, 7, &err));
    assert_int_equal(query("SELECT read_bytes FROM log"), 50);
    ok(catalog_load_put_off(catalog, id, "not loaded: disk full", &err));
    ok(catalog_get(catalog, id, &row, &err));
    assert_int_equal(row.state, LOG_WAITING);
    assert_string_equal(row.reason, "not loaded: disk full");
}

static void paths_may_be_anything(void **state)
{
    (void)state;
    static const char *const odd = "/l/a'b\"; DROP TABLE log; --\n%s%n\xFF";
    int64_t id = see(odd, 1, "f", SIGHTING_NEW, LOG_WAITING);
    struct catalog_row row;
    ok(catalog_find(catalog, odd, &row, &err));
    assert_int_equal(row.log_id, id);
    assert_string_equal(row.path, odd);
}

static void a_store_that_cannot_be_made_says_why(void **state)
{
    (void)state;
    struct catalog *none = NULL;
    struct err why = {0};
    assert_int_not_equal(catalog_open(&none, "/proc/nowhere/store", &why), ERR_OK);
    assert_non_null(strstr(why.message, "/proc/nowhere"));
    assert_null(none);
}

static void every_failed_allocation_while_opening_is_survived(void **state)
{
    (void)state;
    catalog_close(TAKE(catalog));
    for (uint64_t nth = 1;; nth++) {
        mem_fail_at(nth, 0);
        enum err_code rc = catalog_open(&catalog, store, NULL);
        mem_fail_at(0, 0);
        if (rc == ERR_OK) {
            assert_true(nth > 1);
            return;
        }
        assert_int_equal(rc, ERR_NOMEM);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_log_goes_from_seen_to_loaded),
        TEST(a_log_that_grew_waits_again_and_its_run_stays_loaded),
        TEST(what_a_load_read_is_what_the_next_look_is_compared_with),
        TEST(a_renamed_log_keeps_its_run),
        TEST(a_key_made_from_a_name_stays_when_the_start_record_comes),
        TEST(another_run_in_the_same_place_is_another_run),
        TEST(of_copies_the_complete_then_the_larger_then_the_newer_is_loaded),
        TEST(a_copy_that_was_being_loaded_when_a_better_one_came_is_no_second_row),
        TEST(when_the_shown_copy_fails_the_others_are_looked_at_again),
        TEST(a_log_that_goes_leaves_its_run_and_hands_it_to_an_equal_copy),
        TEST(a_lesser_copy_does_not_replace_what_was_read_from_a_log_that_is_gone),
        TEST(an_entry_that_is_no_log_is_kept_with_its_reason),
        TEST(a_load_that_killed_the_worker_twice_is_set_aside),
        TEST(leftovers_of_unfinished_loads_are_removed),
        TEST(a_file_that_was_being_followed_is_closed_for_good),
        TEST(a_catalogue_of_another_version_is_rebuilt),
        TEST(a_catalogue_cut_in_half_is_rebuilt),
        TEST(a_catalogue_of_noise_is_rebuilt),
        TEST(a_catalogue_that_was_removed_is_noticed_and_rebuilt),
        TEST(a_missing_or_foreign_file_below_apps_makes_the_log_wait_again),
        TEST(a_directory_that_was_away_does_not_cost_a_new_load),
        TEST(places_know_their_logs_and_their_last_scan),
        TEST(a_load_put_off_waits_with_its_reason),
        TEST(paths_may_be_anything),
        TEST(a_store_that_cannot_be_made_says_why),
        TEST(every_failed_allocation_while_opening_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
