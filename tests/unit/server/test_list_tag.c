/* SPDX-License-Identifier: Apache-2.0
 *
 * The tag against a real catalogue that is written meanwhile: every change that a list tells makes another one, at once. */
#include "v1_store.h"

#include "server/db_pool.h"
#include "server/list_tag.h"

#define ADD_LOG \
    "INSERT INTO log (place_id, path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) VALUES (1, '/logs/a', 0, 1, 1, 1, '', 'waiting', 1, 1)"
#define ADD_APP "INSERT INTO app (app_key, app_id, log_id, complete, loaded, generation) VALUES ('a', 'app-a', 1, 1, 0, 1)"

static struct db writer;

static void read_tag(bool sees_all, char *out)
{
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    struct db_lease catalog;
    struct request *request = calloc(1, sizeof *request);
    request->viewer.sees_all = sees_all;
    assert_int_equal(db_pool_catalog(ctx.pool, &catalog, NULL), ERR_OK);
    assert_int_equal(list_tag_read(&ctx, request, catalog.db, out, NULL), ERR_OK);
    db_pool_return(ctx.pool, &catalog);
    free(request);
}

static void write_sql(const char *sql)
{
    struct err err = {0};
    if (db_exec(&writer, sql, &err))
        fail_msg("%s: %s", err.message, sql);
}

static void assert_changes(const char *sql, bool expected)
{
    char before[LIST_TAG_BYTES], after[LIST_TAG_BYTES];
    read_tag(true, before);
    write_sql(sql);
    read_tag(true, after);
    if ((strcmp(before, after) != 0) != expected)
        fail_msg("%s: %s, then %s", sql, before, after);
}

static int make_catalog(void **state)
{
    int rc = make_store(state);
    open_file(&writer, "catalog.db", true);
    write_sql("INSERT INTO place (place_id, uri) VALUES (1, '/logs')");
    return rc;
}

static int drop_catalog(void **state)
{
    db_close(&writer);
    return remove_store(state);
}

static void each_change_of_the_list_makes_another_tag(void **state)
{
    (void)state;
    assert_changes(ADD_LOG, true);
    assert_changes(ADD_APP, true);
    assert_changes("UPDATE log SET state = 'loading', read_bytes = 0", true);
    assert_changes("UPDATE log SET read_bytes = 1000", true);
    assert_changes("UPDATE app SET name = 'nightly'", true);
    assert_changes("UPDATE log SET reason = 'cut'", true);
    assert_changes("UPDATE place SET name = 'prod'", true);
    assert_changes("UPDATE log SET bytes = 5, modified_ms = 7", true);
    assert_changes("DELETE FROM app", true);
    assert_changes("DELETE FROM log", true);
}

static void a_scan_that_finds_nothing_new_leaves_the_tag(void **state)
{
    (void)state;
    write_sql(ADD_LOG);
    assert_changes("UPDATE place SET last_scan_ms = 5, last_scan_duration_ms = 1, entry_count = 1, last_error = NULL", false);
    assert_changes("INSERT INTO place (uri, name) VALUES ('/logs', NULL) ON CONFLICT (uri) DO UPDATE SET name = coalesce(excluded.name, name)", false);
    assert_changes("BEGIN; UPDATE log SET bytes = 9; ROLLBACK", false);
}

/* Far more commits than a file system's clock has ticks: there and back again, so that the rows of each second state are the same. */
static void changes_within_a_moment_are_told_apart(void **state)
{
    (void)state;
    write_sql(ADD_LOG);
    for (int i = 0; i < 200; i++)
        assert_changes(i % 2 ? "UPDATE log SET bytes = 1" : "UPDATE log SET bytes = 2", true);
}

static void two_catalogues_have_no_tag_in_common(void **state)
{
    char first[LIST_TAG_BYTES], second[LIST_TAG_BYTES];
    read_tag(true, first);
    drop_catalog(state);
    make_catalog(state);
    read_tag(true, second);
    assert_string_not_equal(first, second);
}

static void who_does_not_see_everything_gets_none(void **state)
{
    (void)state;
    char tag[LIST_TAG_BYTES];
    read_tag(false, tag);
    assert_string_equal(tag, "");
    read_tag(true, tag);
    assert_true(strlen(tag) > 2 && tag[0] == '"' && tag[strlen(tag) - 1] == '"');
}

#define CATALOG_TEST(function) cmocka_unit_test_setup_teardown(function, make_catalog, drop_catalog)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOG_TEST(each_change_of_the_list_makes_another_tag),
        CATALOG_TEST(a_scan_that_finds_nothing_new_leaves_the_tag),
        CATALOG_TEST(changes_within_a_moment_are_told_apart),
        CATALOG_TEST(two_catalogues_have_no_tag_in_common),
        CATALOG_TEST(who_does_not_see_everything_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
