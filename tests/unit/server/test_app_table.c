/* SPDX-License-Identifier: Apache-2.0
 *
 * The table against a real catalogue that is written meanwhile: pages, and that each kind of change is seen. */
#include "server/api/app_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/messages.h"
#include "base/units.h"

static char store[64], path[96];
static struct db writer;
static struct db_pool *pool;
static struct app_table *table;

static void sql(const char *text)
{
    struct err err = {0};
    if (db_exec(&writer, text, &err))
        fail_msg("%s: %s", text, err.message);
}

static void make_catalog(void)
{
    assert_int_equal(db_open(&writer, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL), ERR_OK);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(store, "/tmp/test_app_table_XXXXXX");
    assert_non_null(mkdtemp(store));
    snprintf(path, sizeof path, "%s/catalog.db", store);
    make_catalog();
    assert_int_equal(db_pool_new(&pool, store, NULL, NULL), ERR_OK);
    assert_int_equal(app_table_new(&table, NULL), ERR_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    app_table_free(table);
    db_pool_free(pool);
    db_close(&writer);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", store);
    return system(command);
}

static void add_log(int64_t id, const char *state)
{
    char text[512];
    snprintf(text, sizeof text,
             "INSERT INTO log (log_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) "
             "VALUES (%lld, '/logs/%lld', 0, 1, 1, 1, '', '%s', 1, 1)", (long long)id, (long long)id, state);
    sql(text);
}

/* `values`: name, user, start_ms, duration_ms, outcome. The rowid is the log's id. */
static void add_app(int64_t id, const char *values)
{
    char text[512];
    add_log(id, "loaded");
    snprintf(text, sizeof text,
             "INSERT INTO app (rowid, app_key, app_id, log_id, complete, loaded, generation, name, user, start_ms, duration_ms, outcome) "
             "VALUES (%lld, 'key-%lld', 'App-%lld', %lld, 1, 1, 1, %s)", (long long)id, (long long)id, (long long)id, (long long)id, values);
    sql(text);
}

/* As the catalogue does it: in one transaction with a change of the run's row. `values`: grade, completeness, saving_ms, busy_share, rules. */
static void judge(int64_t id, const char *values, const char *run_key)
{
    char text[512];
    snprintf(text, sizeof text,
             "BEGIN; INSERT OR REPLACE INTO run_summary (app_key, grade, completeness, saving_ms, busy_share, rules, costs, verdict_en, verdict_zh) VALUES ('key-%lld', %s, '', '', '');"
             "INSERT OR REPLACE INTO run_history VALUES ('key-%lld', %s, 0, 0, 100, 1, x''); UPDATE app SET loaded = 1 WHERE rowid = %lld; COMMIT",
             (long long)id, values, (long long)id, run_key, (long long)id);
    sql(text);
}

static void fill(void)
{
    add_app(1, "'daily', 'alice', 100, 5000, 'succeeded'");
    add_app(2, "'Daily', 'bob', 300, NULL, 'failed'");
    add_app(3, "NULL, NULL, NULL, 7000, NULL");
    add_app(4, "'weekly', 'alice', 300, 5000, 'succeeded'");
    judge(1, "0, 100, NULL, NULL, ''", "'daily'");
    judge(2, "3, 60, 900, 0.5, 'STAGE.SKEW_DATA APP.DRIVER_GAP'", "'daily'");
    judge(3, "4, 100, 100, 0.25, 'APP.DRIVER_GAP'", "NULL");
}

static const struct viewer everybody = {.sees_all = true};

#define ANYBODY .viewer = &everybody, .complete = -1, .same_job_as = UNKNOWN
#define ANY ANYBODY, .from_ms = UNKNOWN, .to_ms = UNKNOWN, .least_duration_ms = UNKNOWN

/* The page as rowids with blanks between. */
static const char *page_of(struct app_filter filter, enum app_column column, bool descending, int64_t limit, int64_t page, int64_t further, struct app_page *ret)
{
    static char text[256];
    struct db_lease catalog;
    struct err err = {0};
    assert_int_equal(db_pool_catalog(pool, &catalog, &err), ERR_OK);
    assert_int_equal(app_table_page(table, &catalog, &filter, &(struct app_order){.column = column, .descending = descending}, further, limit, &page, ret, &err), ERR_OK);
    db_pool_return(pool, &catalog);
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ret->count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i ? " %lld" : "%lld", (long long)ret->rowids[i]);
    app_page_dispose(ret);
    return text;
}

static const char *ordered(enum app_column column, bool descending)
{
    struct app_page page;
    return page_of((struct app_filter){ANY}, column, descending, 100, 1, 0, &page);
}

static const char *filtered(struct app_filter filter)
{
    struct app_page page;
    return page_of(filter, APP_START, false, 100, 1, 0, &page);
}

static void orders_put_unknown_last_and_equal_ones_by_rowid(void **state)
{
    (void)state;
    fill();
    assert_string_equal(ordered(APP_START, false), "1 2 4 3");
    assert_string_equal(ordered(APP_START, true), "4 2 1 3");
    assert_string_equal(ordered(APP_DURATION, false), "1 4 3 2");
    assert_string_equal(ordered(APP_DURATION, true), "3 4 1 2");
    assert_string_equal(ordered(APP_NAME, false), "2 1 4 3");
    assert_string_equal(ordered(APP_NAME, true), "4 1 2 3");
    assert_string_equal(ordered(APP_USER, false), "1 4 2 3");
    assert_string_equal(ordered(APP_TASKS, false), "1 2 3 4");
    assert_string_equal(ordered(APP_TASKS, true), "4 3 2 1");
    assert_string_equal(ordered(APP_SEVERITY, true), "3 2 1 4");                                 /* 4 was not judged */
    assert_string_equal(ordered(APP_SEVERITY, false), "1 2 3 4");
    assert_string_equal(ordered(APP_SAVING, true), "2 3 4 1");
    assert_string_equal(ordered(APP_BUSY, false), "3 2 1 4");
    assert_string_equal(ordered(APP_COMPLETENESS, false), "2 1 3 4");
}

static void equal_grades_go_by_what_would_be_saved(void **state)
{
    (void)state;
    fill();
    judge(4, "3, 100, 901, NULL, ''", "NULL");
    assert_string_equal(ordered(APP_SEVERITY, true), "3 4 2 1");
}

static void filters_leave_what_fits(void **state)
{
    (void)state;
    fill();
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("DAIL")}), "1 2");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("app-3")}), "3");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("lic")}), "1 4");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("loaded")}), "");         /* a state is no name */
    assert_string_equal(filtered((struct app_filter){ANY, .user = STR_LIT("alice")}), "1 4");
    assert_string_equal(filtered((struct app_filter){ANY, .user = STR_LIT("ALICE")}), "");
    assert_string_equal(filtered((struct app_filter){ANY, .user = STR_LIT("nobody")}), "");
    assert_string_equal(filtered((struct app_filter){ANY, .outcome = STR_LIT("failed")}), "2");
    assert_string_equal(filtered((struct app_filter){ANY, .state = STR_LIT("loaded")}), "1 2 4 3");
    assert_string_equal(filtered((struct app_filter){ANY, .grade = 3}), "2 3");
    assert_string_equal(filtered((struct app_filter){ANY, .grade = 4}), "3");
    assert_string_equal(filtered((struct app_filter){ANYBODY, .from_ms = 101, .to_ms = UNKNOWN, .least_duration_ms = UNKNOWN}), "2 4");
    assert_string_equal(filtered((struct app_filter){ANYBODY, .from_ms = UNKNOWN, .to_ms = 300, .least_duration_ms = UNKNOWN}), "1 2 4");
    assert_string_equal(filtered((struct app_filter){ANYBODY, .from_ms = UNKNOWN, .to_ms = UNKNOWN, .least_duration_ms = 5001}), "3");
}

static void filters_know_rules_queues_places_and_damage(void **state)
{
    (void)state;
    fill();
    assert_string_equal(filtered((struct app_filter){ANY, .rule = rule_find(STR_LIT("APP.DRIVER_GAP"))}), "2 3");
    assert_string_equal(filtered((struct app_filter){ANY, .rule = rule_find(STR_LIT("STAGE.SKEW_DATA"))}), "2");
    assert_string_equal(filtered((struct app_filter){ANY, .rule = rule_find(STR_LIT("STAGE.GC_HIGH"))}), "");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("skew_d")}), "2");                    /* a rule's id, */
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("stage.sk")}), "2");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("stage")}), "");                      /* but not all of a family, */
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("while the DRIVER")}), "2 3");        /* its name, */
    assert_string_equal(filtered((struct app_filter){ANY, .q = str_of(message(LANG_ZH_CN, "rules", STR_LIT("STAGE.SKEW_DATA"), "name"))}), "2");     /* in each language */
    sql("UPDATE app SET queue = 'nightly' WHERE rowid IN (1, 3); INSERT INTO place (place_id, uri, name) VALUES (1, '/logs', NULL), (2, '/more', 'more')");
    sql("UPDATE log SET place_id = 1 WHERE log_id < 3; UPDATE log SET place_id = 2 WHERE log_id = 3; UPDATE log SET flags = 'name cut' WHERE log_id = 4; "
        "UPDATE log SET flags = 'notice empty' WHERE log_id = 1");
    assert_string_equal(filtered((struct app_filter){ANY, .queue = STR_LIT("nightly")}), "1 3");
    assert_string_equal(filtered((struct app_filter){ANY, .place = STR_LIT("/logs")}), "1 2");
    assert_string_equal(filtered((struct app_filter){ANY, .place = STR_LIT("more")}), "3");
    assert_string_equal(filtered((struct app_filter){ANY, .damaged = true}), "4");
    sql("UPDATE place SET name = 'first' WHERE place_id = 1");
    assert_string_equal(filtered((struct app_filter){ANY, .place = STR_LIT("first")}), "1 2");
}

/* Seven runs of one job, 10 to 70 s, and two of none. */
static void fill_job(void)
{
    char text[64];
    for (int64_t i = 1; i <= 7; i++) {
        snprintf(text, sizeof text, "'nightly', '%s', %lld, %lld, 'succeeded'", i == 3 ? "bob" : "alice", (long long)(8 - i) * 100, (long long)i * 10000);
        add_app(i, text);
        judge(i, "0, 100, NULL, NULL, ''", "'nightly|'");
    }
    add_app(8, "'other', 'alice', 900, 1, 'succeeded'");
    add_app(9, "'other', 'alice', 50, 1, 'succeeded'");
}

static const char *history_of(const struct app_page *page, size_t at)
{
    static char text[256];
    size_t n = (size_t)snprintf(text, sizeof text, "%lld:", (long long)page->histories[at].total);
    for (size_t i = 0; i < page->histories[at].count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %lld", (long long)page->runs[page->histories[at].first + i]);
    return text;
}

static struct app_page job_page(struct app_filter filter, struct app_order order)
{
    struct db_lease catalog;
    struct app_page page;
    int64_t number = 1;
    assert_int_equal(db_pool_catalog(pool, &catalog, NULL), ERR_OK);
    assert_int_equal(app_table_page(table, &catalog, &filter, &order, 0, 100, &number, &page, NULL), ERR_OK);
    db_pool_return(pool, &catalog);
    return page;
}

static void a_row_knows_the_runs_of_its_job(void **state)
{
    (void)state;
    fill_job();
    struct app_page page = job_page((struct app_filter){ANY}, (struct app_order){APP_START, true, .history = 3});
    assert_int_equal(page.count, 9);
    assert_int_equal(page.rowids[0], 8);
    assert_string_equal(history_of(&page, 0), "0:");                     /* of no known job */
    assert_int_equal(page.rowids[1], 1);
    assert_string_equal(history_of(&page, 1), "7: 3 2 1");
    assert_string_equal(history_of(&page, 3), "7: 3 2 1");               /* the newest ones hold it */
    assert_int_equal(page.rowids[4], 4);
    assert_string_equal(history_of(&page, 4), "7: 6 5 4");               /* those that end with it */
    assert_string_equal(history_of(&page, 7), "7: 7");
    app_page_dispose(&page);
    const struct viewer bob = {.user = STR_LIT("bob"), .groups = STR_LIT("")};
    sql("UPDATE app SET view_users = 'bob' WHERE rowid IN (5, 7)");
    struct app_filter own = {ANY};
    own.viewer = &bob;
    page = job_page(own, (struct app_order){APP_START, true, .history = 3});
    assert_int_equal(page.count, 3);
    assert_string_equal(history_of(&page, 0), "3: 7 5 3");
    app_page_dispose(&page);
}

static void a_folded_page_has_one_row_for_each_job(void **state)
{
    (void)state;
    fill_job();
    struct app_page page = job_page((struct app_filter){ANY}, (struct app_order){APP_START, false, .folded = true, .history = 2});
    assert_int_equal(page.matched, 3);
    assert_int_equal(page.all, 9);
    assert_int_equal(page.rowids[0], 9);
    assert_int_equal(page.rowids[1], 1);                                 /* the newest of seven */
    assert_string_equal(history_of(&page, 1), "7: 2 1");
    assert_int_equal(page.rowids[2], 8);
    app_page_dispose(&page);
    page = job_page((struct app_filter){ANYBODY, .from_ms = UNKNOWN, .to_ms = 450, .least_duration_ms = 10}, (struct app_order){APP_DURATION, true, .folded = true});
    assert_int_equal(page.matched, 1);
    assert_int_equal(page.rowids[0], 4);                                 /* of those that match */
    app_page_dispose(&page);
}

static void runs_of_one_job_can_be_asked_for(void **state)
{
    (void)state;
    fill_job();
    struct app_filter filter = {ANY};
    filter.same_job_as = 5;
    assert_string_equal(filtered(filter), "7 6 5 4 3 2 1");
    filter.same_job_as = 8;                                              /* its job is not known: itself */
    assert_string_equal(filtered(filter), "8");
    filter.same_job_as = 0;
    assert_string_equal(filtered(filter), "");
    const struct viewer bob = {.user = STR_LIT("bob"), .groups = STR_LIT("")};
    filter.viewer = &bob;
    filter.same_job_as = 5;                                              /* a run that may not be seen has no job */
    assert_string_equal(filtered(filter), "");
    filter.same_job_as = 3;
    assert_string_equal(filtered(filter), "3");
}

static void note_facet(void *context, enum app_facet_kind kind, const struct app_facet *facet)
{
    char *text = context;
    snprintf(text + strlen(text), 512 - strlen(text), "%d %.*s %lld; ", (int)kind, (int)facet->text.len, facet->text.ptr, (long long)facet->run_count);
}

static void facets_count_what_a_viewer_may_see(void **state)
{
    (void)state;
    char text[512] = "";
    int64_t totals[FACET_KIND_COUNT];
    struct db_lease catalog;
    const struct viewer bob = {.user = STR_LIT("bob"), .groups = STR_LIT("")};
    fill();
    sql("UPDATE app SET queue = 'nightly' WHERE rowid IN (1, 3)");
    assert_int_equal(db_pool_catalog(pool, &catalog, NULL), ERR_OK);
    assert_int_equal(app_table_facets(table, &catalog, &everybody, note_facet, text, totals, NULL), ERR_OK);
    assert_string_equal(text, "0 APP.DRIVER_GAP 2; 0 STAGE.SKEW_DATA 1; 1 alice 2; 1 bob 1; 2 nightly 2; ");
    assert_int_equal(totals[FACET_USER], 2);
    assert_int_equal(totals[FACET_PLACE], 0);
    text[0] = '\0';
    assert_int_equal(app_table_facets(table, &catalog, &bob, note_facet, text, totals, NULL), ERR_OK);
    assert_string_equal(text, "0 APP.DRIVER_GAP 1; 0 STAGE.SKEW_DATA 1; 1 bob 1; ");
    db_pool_return(pool, &catalog);
}

static void a_viewer_finds_and_counts_only_what_they_may_see(void **state)
{
    (void)state;
    fill();
    sql("UPDATE app SET view_users = 'carol, bob' WHERE rowid = 1; UPDATE app SET view_groups = 'staff' WHERE rowid = 3; UPDATE app SET complete = 0 WHERE rowid = 4");
    const struct viewer bob = {.user = STR_LIT("bob"), .groups = STR_LIT("")}, dave = {.user = STR_LIT("dave"), .groups = STR_LIT("staff,ops")},
                        eve = {.user = STR_LIT("eve"), .groups = STR_LIT("")}, refused = {.refusal = "no"};
    struct app_page page;
    struct app_filter filter = {ANY};
    filter.viewer = &bob;
    assert_string_equal(page_of(filter, APP_START, false, 100, 1, 0, &page), "1 2");
    assert_int_equal(page.all, 2);
    filter.viewer = &dave;
    assert_string_equal(page_of(filter, APP_START, false, 100, 1, 0, &page), "3");
    filter.viewer = &eve;
    assert_string_equal(page_of(filter, APP_START, false, 100, 1, 0, &page), "");
    assert_int_equal(page.all, 0);
    filter.viewer = &refused;
    assert_string_equal(page_of(filter, APP_START, false, 100, 1, 0, &page), "");
    filter.viewer = &everybody;
    filter.complete = 0;
    assert_string_equal(page_of(filter, APP_START, false, 100, 1, 0, &page), "4");
    assert_int_equal(page.all, 4);
    assert_int_equal(page.matched, 1);
}

static void a_page_too_far_is_the_last(void **state)
{
    (void)state;
    struct app_page page;
    struct app_filter any = {ANY};
    fill();
    assert_string_equal(page_of(any, APP_START, false, 3, 1, 0, &page), "1 2 4");
    assert_int_equal(page.matched, 4);
    assert_int_equal(page.all, 4);
    assert_string_equal(page_of(any, APP_START, false, 3, 2, 0, &page), "3");
    assert_string_equal(page_of(any, APP_START, false, 3, (int64_t)1 << 40, 0, &page), "3");
    assert_string_equal(page_of(any, APP_START, false, 3, 9, 3, &page), "");                     /* the third page is all of another kind */
    assert_string_equal(page_of((struct app_filter){ANY, .grade = 4}, APP_START, false, 3, 5, 0, &page), "3");
    assert_int_equal(page.matched, 1);
    assert_int_equal(page.all, 4);
}

static void an_empty_catalogue_has_an_empty_page(void **state)
{
    (void)state;
    struct app_page page;
    assert_string_equal(page_of((struct app_filter){ANY, .q = STR_LIT("x")}, APP_NAME, true, 3, 2, 0, &page), "");
    assert_int_equal(page.all, 0);
}

static void changes_are_seen(void **state)
{
    (void)state;
    struct app_page page;
    struct app_filter any = {ANY};
    fill();
    assert_string_equal(ordered(APP_START, false), "1 2 4 3");
    sql("UPDATE app SET start_ms = 1, name = 'aaa' WHERE rowid = 4");
    assert_string_equal(ordered(APP_START, false), "4 1 2 3");
    assert_string_equal(ordered(APP_NAME, false), "2 4 1 3");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("weekly")}), "");
    add_app(7, "'new', 'eve', 2, 1, 'succeeded'");
    add_app(6, "'older', 'eve', 3, 1, 'succeeded'");
    assert_string_equal(ordered(APP_START, false), "4 7 6 1 2 3");
    sql("DELETE FROM app WHERE rowid IN (1, 7)");
    assert_string_equal(page_of(any, APP_START, false, 100, 1, 0, &page), "4 6 2 3");
    assert_int_equal(page.all, 4);
    sql("DELETE FROM log WHERE log_id = 7");
    add_app(7, "'again', 'eve', 5, 1, 'succeeded'");   /* a number that was free comes back */
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("eve")}), "6 7");
}

static void changes_of_logs_are_seen(void **state)
{
    (void)state;
    fill();
    assert_string_equal(filtered((struct app_filter){ANY, .state = STR_LIT("gone")}), "");
    sql("UPDATE log SET state = 'gone' WHERE log_id = 2");
    assert_string_equal(filtered((struct app_filter){ANY, .state = STR_LIT("gone")}), "2");
    sql("UPDATE log SET flags = 'cut lines' WHERE log_id = 4");
    assert_string_equal(filtered((struct app_filter){ANY, .flags = STR_LIT("line")}), "4");
    add_log(9, "partial");
    sql("UPDATE app SET log_id = 9 WHERE rowid = 1");
    assert_string_equal(filtered((struct app_filter){ANY, .state = STR_LIT("partial")}), "1");
    assert_string_equal(ordered(APP_STATE, false), "2 3 4 1");
}

/* What is written all the time, the progress of a load and scans that find nothing new, must not make readers read. */
static void progress_is_no_change(void **state)
{
    (void)state;
    fill();
    int64_t before = 0, after = 0;
    assert_int_equal(db_query_i64(&writer, "SELECT max(change_no) FROM app_change", &before, NULL), ERR_OK);
    sql("UPDATE log SET read_bytes = 5, line_count = 6, state = state, changed_ms = 7");
    assert_int_equal(db_query_i64(&writer, "SELECT max(change_no) FROM app_change", &after, NULL), ERR_OK);
    assert_int_equal(after, before);
    assert_int_equal(db_query_i64(&writer, "SELECT count(*) FROM app_change", &after, NULL), ERR_OK);
    assert_int_equal(after, 4);
}

static void another_catalogue_is_read_anew(void **state)
{
    (void)state;
    char aside[128];
    fill();
    assert_string_equal(ordered(APP_START, false), "1 2 4 3");
    db_close(&writer);
    snprintf(aside, sizeof aside, "%s.old", path);
    assert_int_equal(rename(path, aside), 0);
    make_catalog();
    add_app(2, "'only', 'eve', 2, 1, 'succeeded'");
    assert_string_equal(ordered(APP_START, false), "2");
    assert_string_equal(filtered((struct app_filter){ANY, .q = STR_LIT("daily")}), "");
}

/* 1,000 rows whose starts are a permutation: each page against what it must be. */
static void every_page_of_many_is_right(void **state)
{
    (void)state;
    sql("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO log (log_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) "
        "SELECT i, '/logs/' || i, 0, 1, 1, 1, '', 'loaded', 1, 1 FROM n");
    sql("INSERT INTO app (rowid, app_key, app_id, log_id, complete, loaded, generation, start_ms) "
        "SELECT log_id, 'key-' || log_id, 'app-' || log_id, log_id, 1, 1, 1, log_id * 7919 % 1000 FROM log");
    struct db_lease catalog;
    struct app_filter any = {ANY};
    assert_int_equal(db_pool_catalog(pool, &catalog, NULL), ERR_OK);
    for (int descending = 0; descending < 2; descending++) {
        for (int64_t number = 1; number <= 15; number++) {
            struct app_page page;
            int64_t asked = number;
            assert_int_equal(app_table_page(table, &catalog, &any, &(struct app_order){.column = APP_START, .descending = descending}, 0, 70, &asked, &page, NULL), ERR_OK);
            assert_int_equal(asked, number);
            assert_int_equal(page.count, number == 15 ? 20 : 70);
            for (size_t i = 0; i < page.count; i++) {
                int64_t place = (number - 1) * 70 + (int64_t)i;
                assert_int_equal(page.rowids[i] * 7919 % 1000, descending ? 999 - place : place);
            }
            app_page_dispose(&page);
        }
    }
    db_pool_return(pool, &catalog);
}

static void *read_often(void *context)
{
    (void)context;
    for (int i = 0; i < 100; i++) {
        struct db_lease catalog;
        struct app_page page;
        int64_t number = 1;
        if (db_pool_catalog(pool, &catalog, NULL) ||
            app_table_page(table, &catalog, &(struct app_filter){ANY}, &(struct app_order){.column = APP_NAME}, 0, 10, &number, &page, NULL) || page.all < 4)
            return table;
        app_page_dispose(&page);
        db_pool_return(pool, &catalog);
    }
    return NULL;
}

static void threads_share_the_table(void **state)
{
    (void)state;
    pthread_t threads[4];
    fill();
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, NULL), 0);
    for (int i = 10; i < 60; i++)
        add_app(i, "'more', 'eve', 5, 1, 'succeeded'");
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders_put_unknown_last_and_equal_ones_by_rowid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filters_leave_what_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_grades_go_by_what_would_be_saved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filters_know_rules_queues_places_and_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_row_knows_the_runs_of_its_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folded_page_has_one_row_for_each_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_of_one_job_can_be_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facets_count_what_a_viewer_may_see, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_too_far_is_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_viewer_finds_and_counts_only_what_they_may_see, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_catalogue_has_an_empty_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_of_logs_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(progress_is_no_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_catalogue_is_read_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_page_of_many_is_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_share_the_table, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
