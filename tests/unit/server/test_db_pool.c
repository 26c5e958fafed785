/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/db_pool.h"

static char store[64];

static void path_of(const char *name, char out[128])
{
    snprintf(out, 128, "%s/apps/%s", store, name);
}

static void write_app(const char *file, const char *app_id)
{
    char path[128], sql[256];
    struct db db;
    path_of(file, path);
    assert_int_equal(db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL), ERR_OK);
    snprintf(sql, sizeof sql, "INSERT INTO application (app_id) VALUES ('%s')", app_id);
    assert_int_equal(db_exec(&db, sql, NULL), ERR_OK);
    assert_int_equal(db_seal(&db, NULL), ERR_OK);
    db_close(&db);
}

static int set_up(void **state)
{
    strcpy(store, "/tmp/test_db_pool_XXXXXX");
    assert_non_null(mkdtemp(store));
    char apps[128];
    path_of("", apps);
    assert_int_equal(mkdir(apps, 0700), 0);
    struct db_pool *pool;
    assert_int_equal(db_pool_new(&pool, store, NULL, NULL), ERR_OK);
    *state = pool;
    return 0;
}

static int tear_down(void **state)
{
    db_pool_free(*state);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", store);
    return system(command);
}

/* The application id in the database that the pool lends for `key`. */
static void assert_app_is(struct db_pool *pool, const char *key, const char *app_id)
{
    struct db_lease lease;
    struct err err = {0};
    assert_int_equal(db_pool_app(pool, str_of(key), &lease, &err), ERR_OK);
    sqlite3_stmt *stmt;
    assert_int_equal(db_prepare(lease.db, &stmt, "SELECT app_id FROM application", &err), ERR_OK);
    assert_int_equal(db_step(stmt, &err), ERR_OK);
    assert_true(str_is(db_str(stmt, 0), app_id));
    db_finalize(stmt);
    db_pool_return(pool, &lease);
}

static void a_returned_connection_is_lent_again(void **state)
{
    write_app("a.db", "app-1");
    struct db_lease first, second;
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &first, NULL), ERR_OK);
    void *slot = first.slot;
    db_pool_return(*state, &first);
    assert_null(first.db);
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &second, NULL), ERR_OK);
    assert_ptr_equal(second.slot, slot);
    db_pool_return(*state, &second);
    db_pool_return(*state, &second);
}

static void two_calls_at_once_get_two_connections(void **state)
{
    write_app("a.db", "app-1");
    struct db_lease first, second;
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &first, NULL), ERR_OK);
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &second, NULL), ERR_OK);
    assert_ptr_not_equal(first.db, second.db);
    db_pool_return(*state, &first);
    db_pool_return(*state, &second);
}

static void a_replaced_file_is_opened_anew(void **state)
{
    char from[128], to[128];
    write_app("a.db", "old");
    assert_app_is(*state, "a", "old");
    write_app("b.db", "new");
    path_of("b.db", from);
    path_of("a.db", to);
    assert_int_equal(rename(from, to), 0);
    assert_app_is(*state, "a", "new");
}

static void the_loading_file_serves_until_the_finished_one_is_there(void **state)
{
    char from[128], to[128];
    write_app("a.loading.db", "half");
    assert_app_is(*state, "a", "half");
    path_of("a.loading.db", from);
    path_of("a.db", to);
    assert_int_equal(rename(from, to), 0);
    assert_app_is(*state, "a", "half");
    struct db_lease lease;
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &lease, NULL), ERR_OK);
    assert_string_equal(sqlite3_db_filename(lease.db->handle, "main") + strlen(store), "/apps/a.db");
    db_pool_return(*state, &lease);
}

static void keys_cannot_leave_the_folder(void **state)
{
    struct db_lease lease;
    char above[128];
    snprintf(above, sizeof above, "%s/x.db", store);
    struct db db;
    assert_int_equal(db_open(&db, above, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL), ERR_OK);
    db_close(&db);
    const char *const bad[] = {"", "../x", ".", "a/../../x", "nothing-there"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(db_pool_app(*state, str_of(bad[i]), &lease, NULL), ERR_NOT_FOUND);
        assert_null(lease.db);
    }
    char long_key[300];
    memset(long_key, 'k', sizeof long_key);
    assert_int_equal(db_pool_app(*state, (struct str){long_key, sizeof long_key}, &lease, NULL), ERR_NOT_FOUND);
    assert_int_equal(db_pool_app(*state, (struct str){"a\0b", 3}, &lease, NULL), ERR_NOT_FOUND);
}

static void files_of_other_kinds_and_versions_are_refused(void **state)
{
    char path[128];
    struct db db;
    struct db_lease lease;
    path_of("other.db", path);
    assert_int_equal(db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION + 1, NULL), ERR_OK);
    db_close(&db);
    assert_int_equal(db_pool_app(*state, STR_LIT("other"), &lease, NULL), ERR_UNSUPPORTED);
    path_of("kind.db", path);
    assert_int_equal(db_open(&db, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL), ERR_OK);
    db_close(&db);
    assert_int_equal(db_pool_app(*state, STR_LIT("kind"), &lease, NULL), ERR_INVALID);
}

static void lent_databases_cannot_be_written(void **state)
{
    write_app("a.db", "app-1");
    struct db_lease lease;
    assert_int_equal(db_pool_app(*state, STR_LIT("a"), &lease, NULL), ERR_OK);
    assert_int_not_equal(db_exec(lease.db, "DELETE FROM application", NULL), ERR_OK);
    db_pool_return(*state, &lease);
}

static size_t open_files(void)
{
    size_t n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

static void idle_connections_are_bounded(void **state)
{
    enum { LENT = DB_POOL_MAX_IDLE + 20 };
    write_app("a.db", "app-1");
    static struct db_lease leases[LENT];
    size_t before = open_files();
    for (int i = 0; i < LENT; i++)
        assert_int_equal(db_pool_app(*state, STR_LIT("a"), &leases[i], NULL), ERR_OK);
    assert_true(open_files() >= before + LENT);
    for (int i = 0; i < LENT; i++)
        db_pool_return(*state, &leases[i]);
    assert_true(open_files() <= before + DB_POOL_MAX_IDLE + 8);        /* SQLite keeps few of its own per file */
}

static void *borrow_often(void *pool)
{
    for (int i = 0; i < 200; i++) {
        struct db_lease lease;
        int64_t rows;
        if (db_pool_app(pool, i % 2 ? STR_LIT("a") : STR_LIT("b"), &lease, NULL) || db_query_i64(lease.db, "SELECT count(*) FROM application", &rows, NULL) || rows != 1)
            return pool;
        db_pool_return(pool, &lease);
    }
    return NULL;
}

static void threads_may_borrow_at_once(void **state)
{
    write_app("a.db", "app-1");
    write_app("b.db", "app-2");
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, borrow_often, *state), 0);
    for (size_t i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_returned_connection_is_lent_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_calls_at_once_get_two_connections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_replaced_file_is_opened_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_loading_file_serves_until_the_finished_one_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_cannot_leave_the_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_other_kinds_and_versions_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lent_databases_cannot_be_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(idle_connections_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_may_borrow_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
