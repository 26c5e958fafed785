/* SPDX-License-Identifier: Apache-2.0 */
#include "base/db.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define SCHEMA "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, share REAL, bytes BLOB) STRICT;"

static char folder[64], path[128];
static struct db db;
static struct err err;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/afterglow-db-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    db_close(&db);
    char name[160];
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static enum err_code open_as(enum db_mode mode, int id, int version)
{
    return db_open(&db, path, mode, SCHEMA, id, version, &err);
}

static bool exists(const char *suffix)
{
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

static void a_new_file_gets_schema_id_and_version(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 3), ERR_OK);
    int64_t value = 0;
    assert_int_equal(db_query_i64(&db, "PRAGMA application_id", &value, &err), ERR_OK);
    assert_int_equal(value, DB_APP_ID);
    assert_int_equal(db_query_i64(&db, "PRAGMA user_version", &value, &err), ERR_OK);
    assert_int_equal(value, 3);
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM thing", &value, &err), ERR_OK);
    assert_int_equal(value, 0);
    assert_int_equal(db_query_i64(&db, "SELECT id FROM thing", &value, &err), ERR_OK);
    assert_false(known(value));
    db_close(&db);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 3), ERR_OK);
}

static void files_of_others_and_of_other_versions_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    db_close(&db);
    assert_int_equal(open_as(DB_READ, DB_CATALOG_ID, 1), ERR_INVALID);
    assert_null(db.handle);
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 2), ERR_UNSUPPORTED);
    assert_null(db.handle);
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
}

static void reading_makes_no_file_and_writes_nothing(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_NOT_FOUND);
    assert_false(exists(""));
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    db_close(&db);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id) VALUES (1)", &err), ERR_PERMISSION);
}

static void noise_is_no_database(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 500; i++)
        fprintf(file, "this is no database %d\n", i);
    fclose(file);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_CORRUPT);
    assert_null(db.handle);
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_CORRUPT);
    assert_true(strlen(err.message) > 0);
}

static void unknown_goes_in_and_out_as_null(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_BULK, DB_APP_ID, 1), ERR_OK);
    sqlite3_stmt *insert = NULL, *select = NULL;
    assert_int_equal(db_prepare(&db, &insert, "INSERT INTO thing VALUES (?1, ?2, ?3, ?4)", &err), ERR_OK);
    db_bind_i64(insert, 1, 1);
    db_bind_str(insert, 2, STR_NONE);
    db_bind_f64(insert, 3, (double)NAN);
    db_bind_blob(insert, 4, NULL, 0);
    assert_int_equal(db_run(insert, &err), ERR_OK);
    db_bind_i64(insert, 1, INT64_MAX);
    db_bind_str(insert, 2, STR_LIT(""));
    db_bind_f64(insert, 3, 0.5);
    db_bind_blob(insert, 4, "a\0b", 3);
    assert_int_equal(db_run(insert, &err), ERR_OK);
    assert_int_equal(db_prepare(&db, &select, "SELECT name, share, bytes, id, nullif(1, 1) FROM thing ORDER BY id", &err), ERR_OK);
    assert_int_equal(db_step(select, &err), ERR_OK);
    assert_false(str_known(db_str(select, 0)));
    assert_true(isnan(db_f64(select, 1)));
    assert_true(db_is_null(select, 2));
    assert_false(known(db_i64(select, 4)));
    assert_int_equal(db_step(select, &err), ERR_OK);
    assert_true(str_known(db_str(select, 0)));
    assert_true(db_f64(select, 1) == 0.5);
    assert_int_equal(db_blob(select, 2).len, 3);
    assert_true(db_i64(select, 3) == INT64_MAX);
    assert_int_equal(db_step(select, &err), ERR_EOF);
    db_finalize(insert);
    db_finalize(select);
    db_finalize(NULL);
}

/* A statement that is run again without new bindings stores NULL, not the values of the run before. */
static void bindings_do_not_outlive_their_run(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_BULK, DB_APP_ID, 1), ERR_OK);
    sqlite3_stmt *insert = NULL;
    assert_int_equal(db_prepare(&db, &insert, "INSERT INTO thing (name) VALUES (?1)", &err), ERR_OK);
    db_bind_str(insert, 1, STR_LIT("old"));
    assert_int_equal(db_run(insert, &err), ERR_OK);
    assert_int_equal(db_run(insert, &err), ERR_OK);
    db_finalize(insert);
    int64_t count = 0;
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM thing WHERE name IS NULL", &count, &err), ERR_OK);
    assert_int_equal(count, 1);
}

static void a_rollback_takes_back_and_is_quiet_without_need(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    db_rollback(&db);
    assert_int_equal(db_begin(&db, &err), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id) VALUES (1)", &err), ERR_OK);
    db_rollback(&db);
    assert_int_equal(db_begin(&db, &err), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id) VALUES (2)", &err), ERR_OK);
    assert_int_equal(db_commit(&db, &err), ERR_OK);
    int64_t sum = 0;
    assert_int_equal(db_query_i64(&db, "SELECT sum(id) FROM thing", &sum, &err), ERR_OK);
    assert_int_equal(sum, 2);
}

static void a_sealed_file_is_whole_by_itself(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_BULK, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id) VALUES (7)", &err), ERR_OK);
    assert_true(exists("-wal"));
    assert_int_equal(db_seal(&db, &err), ERR_OK);
    assert_null(db.handle);
    assert_false(exists("-wal"));
    /* As on a read-only file system: no write permission, no side files. */
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_OK);
    int64_t id = 0;
    assert_int_equal(db_query_i64(&db, "SELECT id FROM thing", &id, &err), ERR_OK);
    assert_int_equal(id, 7);
    assert_false(exists("-wal") || exists("-shm"));
}

/* The server looks at a file while it is filled; that must neither stop the seal nor be disturbed by it. */
static void a_reader_survives_the_seal_and_the_rename(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_BULK, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id) VALUES (7)", &err), ERR_OK);
    struct db reader;
    int64_t id = 0;
    assert_int_equal(db_open(&reader, path, DB_READ, SCHEMA, DB_APP_ID, 1, &err), ERR_OK);
    assert_int_equal(db_query_i64(&reader, "SELECT id FROM thing", &id, &err), ERR_OK);
    assert_int_equal(db_seal(&db, &err), ERR_OK);

    char finished[160];
    snprintf(finished, sizeof finished, "%s/finished.db", folder);
    assert_int_equal(rename(path, finished), 0);
    assert_int_equal(db_open(&db, finished, DB_READ, SCHEMA, DB_APP_ID, 1, &err), ERR_OK);
    assert_int_equal(db_query_i64(&db, "SELECT id FROM thing", &id, &err), ERR_OK);
    assert_int_equal(id, 7);
    assert_int_equal(db_query_i64(&reader, "SELECT count(*) FROM thing", &id, &err), ERR_OK);
    assert_int_equal(id, 1);
    db_close(&reader);
    db_close(&db);
    unlink(finished);
}

static void a_missing_folder_is_an_error_that_names_the_reason(void **state)
{
    (void)state;
    char inside[200];
    snprintf(inside, sizeof inside, "%s/none/a.db", folder);
    assert_int_not_equal(db_open(&db, inside, DB_WRITE, SCHEMA, DB_APP_ID, 1, &err), ERR_OK);
    assert_null(db.handle);
    assert_non_null(strstr(err.message, "open"));
}

static void a_full_disk_has_its_own_code(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_exec(&db, "PRAGMA max_page_count = 10", &err), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (bytes) VALUES (zeroblob(1000000))", &err), ERR_NO_SPACE);
}

static int64_t number(const char *sql)
{
    int64_t value;
    assert_int_equal(db_query_i64(&db, sql, &value, &err), ERR_OK);
    return value;
}

static void a_sum_stops_at_the_ends_of_the_range(void **state)
{
    (void)state;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    assert_true(number("SELECT sum(column1) FROM (VALUES (9000000000000000000), (9000000000000000000))") == INT64_MAX);
    assert_true(number("SELECT sum(column1) FROM (VALUES (-9000000000000000000), (-9000000000000000000))") == INT64_MIN + 1);      /* INT64_MIN is UNKNOWN */
    assert_int_equal(number("SELECT sum(column1) FROM (VALUES (9000000000000000000), (NULL), (9000000000000000000), (-9000000000000000000), (-8999999999999999990))"), 10);
    assert_false(known(number("SELECT sum(column1) FROM (VALUES (NULL))")));
    assert_false(known(number("SELECT sum(id) FROM thing")));
    assert_int_equal(number("SELECT typeof(sum(column1)) = 'real' AND sum(column1) = 2.5 FROM (VALUES (1), (1.5))"), 1);
    assert_int_equal(number("SELECT group_concat(s) = '1,3,5,7' FROM (SELECT sum(column1) OVER (ORDER BY column1 ROWS 1 PRECEDING) AS s FROM (VALUES (1), (2), (3), (4)))"), 1);
}

static int prepare_count;

static int count_prepares(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    prepare_count += action == SQLITE_SELECT;        /* asked once while a SELECT is compiled */
    return SQLITE_OK;
}

static int64_t id_of(const char *name)
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(db_prepare(&db, &stmt, "SELECT id FROM thing WHERE name IS ?1", &err), ERR_OK);
    db_bind_str(stmt, 1, str_of(name));
    int64_t id = db_step(stmt, &err) == ERR_OK ? db_i64(stmt, 0) : UNKNOWN;
    db_finalize(stmt);
    return id;
}

static void open_keeping(void)
{
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (id, name) VALUES (1, 'one'), (2, 'two'), (3, NULL)", &err), ERR_OK);
    db_close(&db);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_keep_statements(&db, &err), ERR_OK);
    sqlite3_set_authorizer(db.handle, count_prepares, NULL);
    prepare_count = 0;
}

static void kept_statements_are_compiled_once(void **state)
{
    (void)state;
    open_keeping();
    assert_int_equal(id_of("one"), 1);
    assert_int_equal(id_of("two"), 2);
    assert_int_equal(id_of(NULL), 3);                /* bindings do not stay */
    assert_int_equal(prepare_count, 1);
}

static void a_statement_in_use_is_not_lent_twice(void **state)
{
    (void)state;
    open_keeping();
    static const char sql[] = "SELECT id FROM thing ORDER BY id";
    sqlite3_stmt *outer = NULL, *inner = NULL, *again = NULL;
    assert_int_equal(db_prepare(&db, &outer, sql, &err), ERR_OK);
    assert_int_equal(db_prepare(&db, &inner, sql, &err), ERR_OK);
    assert_ptr_not_equal(outer, inner);
    assert_int_equal(db_step(outer, &err), ERR_OK);
    assert_int_equal(db_step(outer, &err), ERR_OK);
    assert_int_equal(db_step(inner, &err), ERR_OK);
    assert_int_equal(db_i64(outer, 0), 2);
    assert_int_equal(db_i64(inner, 0), 1);
    db_finalize(outer);
    assert_int_equal(db_prepare(&db, &again, sql, &err), ERR_OK);
    assert_ptr_equal(again, outer);
    assert_int_equal(db_step(again, &err), ERR_OK);
    assert_int_equal(db_i64(again, 0), 1);           /* from its first row */
    db_finalize(again);
    db_finalize(inner);
}

static void a_note_stays_with_its_statement(void **state)
{
    (void)state;
    open_keeping();
    sqlite3_stmt *kept = NULL, *other = NULL;
    assert_int_equal(db_prepare(&db, &kept, "SELECT id FROM thing", &err), ERR_OK);
    assert_null(*db_statement_note(kept));
    *db_statement_note(kept) = mem_strndup("id", 2);
    assert_int_equal(db_prepare(&db, &other, "SELECT name FROM thing", &err), ERR_OK);
    assert_null(*db_statement_note(other));
    db_finalize(kept);
    db_finalize(other);
    assert_int_equal(db_prepare(&db, &kept, "SELECT id FROM thing", &err), ERR_OK);
    assert_string_equal(*db_statement_note(kept), "id");
    db_finalize(kept);
    /* Pushed out by as many others as are kept, the note goes too: the leak checker would tell. */
    for (int i = 0; i < DB_KEPT_STATEMENTS; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT id + %d FROM thing", i);
        assert_int_equal(db_prepare(&db, &other, sql, &err), ERR_OK);
        db_finalize(other);
    }
    assert_int_equal(db_prepare(&db, &kept, "SELECT id FROM thing", &err), ERR_OK);
    assert_null(*db_statement_note(kept));
    db_finalize(kept);
    db_close(&db);
    assert_int_equal(open_as(DB_READ, DB_APP_ID, 1), ERR_OK);        /* nothing is kept here */
    assert_int_equal(db_prepare(&db, &other, "SELECT id FROM thing", &err), ERR_OK);
    assert_null(db_statement_note(other));
    db_finalize(other);
}

static void kept_statements_are_bounded(void **state)
{
    (void)state;
    open_keeping();
    sqlite3_stmt *lent[DB_KEPT_STATEMENTS + 8];
    char sql[64];
    for (int i = 0; i < DB_KEPT_STATEMENTS + 8; i++) {
        snprintf(sql, sizeof sql, "SELECT id + %d FROM thing", i);
        assert_int_equal(db_prepare(&db, &lent[i], sql, &err), ERR_OK);
    }
    for (int i = 0; i < DB_KEPT_STATEMENTS + 8; i++)
        db_finalize(lent[i]);
    for (int i = 0; i < 3 * DB_KEPT_STATEMENTS; i++) {
        snprintf(sql, sizeof sql, "SELECT id - %d FROM thing", i);
        assert_int_equal(db_prepare(&db, &lent[0], sql, &err), ERR_OK);
        db_finalize(lent[0]);
    }
    int there = 0;
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(db.handle, stmt));)
        there++;
    assert_int_equal(there, DB_KEPT_STATEMENTS);
}

static void one_read_sees_one_state(void **state)
{
    (void)state;
    struct db reader;
    int64_t count = 0;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);
    assert_int_equal(db_open(&reader, path, DB_READ, NULL, DB_APP_ID, 1, &err), ERR_OK);
    assert_int_equal(db_read_begin(&reader, &err), ERR_OK);
    assert_int_equal(db_query_i64(&reader, "SELECT count(*) FROM thing", &count, &err), ERR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(db_exec(&db, "INSERT INTO thing (name) VALUES ('one')", &err), ERR_OK);
    assert_int_equal(db_query_i64(&reader, "SELECT count(*) FROM thing", &count, &err), ERR_OK);
    assert_int_equal(count, 0);
    db_read_end(&reader);
    db_read_end(&reader);
    assert_int_equal(db_query_i64(&reader, "SELECT count(*) FROM thing", &count, &err), ERR_OK);
    assert_int_equal(count, 1);
    db_close(&reader);
}

/* schema.sql itself: both parts are accepted by this SQLite and hold what the name says. */
static void both_parts_of_the_schema_make_a_database(void **state)
{
    (void)state;
    int64_t count = 0;
    assert_int_equal(db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err), ERR_OK);
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('application', 'stage', 'task')", &count, &err), ERR_OK);
    assert_int_equal(count, 3);
    db_close(&db);
    unlink(path);
    assert_int_equal(db_open(&db, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, &err), ERR_OK);
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('place', 'log', 'app')", &count, &err), ERR_OK);
    assert_int_equal(count, 3);
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('task', 'stage')", &count, &err), ERR_OK);
    assert_int_equal(count, 0);
}

/* Whether this process has an open file of which the name begins so; those of SQLite have none any more, and /proc tells what it was. */
static bool has_open(const char *prefix)
{
    bool found = false;
    for (int fd = 3; fd < 100 && !found; fd++) {
        char link[64], target[300];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t len = readlink(link, target, sizeof target - 1);
        target[MAX(len, 0)] = '\0';
        found = strncmp(target, prefix, strlen(prefix)) == 0;
    }
    return found;
}

static void what_memory_does_not_hold_lies_where_it_was_said(void **state)
{
    (void)state;
    char prefix[100];
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(open_as(DB_WRITE, DB_APP_ID, 1), ERR_OK);       /* SQLite has looked at SQLITE_TMPDIR now */
    db_temporary_directory(folder);
    assert_int_equal(db_exec(&db, "PRAGMA cache_size = 10; PRAGMA temp_store = FILE", &err), ERR_OK);
    assert_int_equal(db_prepare(&db, &stmt, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n ORDER BY hex(i * 7919 % 20011), i", &err), ERR_OK);
    assert_int_equal(db_step(stmt, &err), ERR_OK);
    snprintf(prefix, sizeof prefix, "%s/etilqs_", folder);
    assert_true(has_open(prefix));
    db_finalize(stmt);
    db_temporary_directory("/tmp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_gets_schema_id_and_version, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_of_others_and_of_other_versions_are_told_apart, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(reading_makes_no_file_and_writes_nothing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(noise_is_no_database, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(unknown_goes_in_and_out_as_null, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(bindings_do_not_outlive_their_run, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_rollback_takes_back_and_is_quiet_without_need, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_sealed_file_is_whole_by_itself, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_reader_survives_the_seal_and_the_rename, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_missing_folder_is_an_error_that_names_the_reason, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_sum_stops_at_the_ends_of_the_range, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_has_its_own_code, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(kept_statements_are_compiled_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_statement_in_use_is_not_lent_twice, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_note_stays_with_its_statement, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(kept_statements_are_bounded, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(one_read_sees_one_state, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(both_parts_of_the_schema_make_a_database, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_memory_does_not_hold_lies_where_it_was_said, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
