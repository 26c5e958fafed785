/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/db.h"
#include "ingest/store/app_writer.h"

struct fixture {
    char dir[64], loading[96], fresh[112], path[96];
    struct app_writer *writer;
    struct row_sink sink;
    struct app_model *model;
    struct load_facts facts;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err;
    snprintf(f->dir, sizeof f->dir, "/tmp/test_app_writer.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->loading, sizeof f->loading, "%s/k.loading.db", f->dir);
    snprintf(f->fresh, sizeof f->fresh, "%s" APP_WRITER_NEW, f->loading);
    snprintf(f->path, sizeof f->path, "%s/k.db", f->dir);
    assert_int_equal(app_writer_open(&f->writer, f->loading, false, &err), ERR_OK);
    f->sink = app_writer_sink(f->writer);
    f->model = app_model_new(f->sink);
    f->facts.app_key = f->facts.log_path = f->facts.flags = f->facts.missing_files = f->facts.id_from_name = STR_LIT("k");
    assert_non_null(f->model);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    app_writer_free(f->writer);
    app_model_free(f->model);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    int failed = system(command);
    free(f);
    return failed;
}

static void add_task(struct fixture *f, int64_t seq)
{
    struct task_row row;
    struct err err;
    memset(&row, 0, sizeof row);
    row.task_seq = seq;
    assert_int_equal(f->sink.task(f->sink.context, &row, &err), ERR_OK);
}

/* Tasks that a reader finds at `path`; −1: there is nothing to open. */
static int64_t tasks_at(const char *path)
{
    struct db db;
    struct err err;
    int64_t count;
    if (db_open(&db, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, &err))
        return -1;
    assert_int_equal(db_query_i64(&db, "SELECT count(*) FROM task", &count, &err), ERR_OK);
    db_close(&db);
    return count;
}

static void readers_find_the_file_from_the_first_checkpoint_on(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add_task(f, 1);
    assert_int_equal(access(f->loading, F_OK), -1);
    assert_int_equal(access(f->fresh, F_OK), 0);
    assert_int_equal(app_writer_checkpoint(f->writer, f->model, &f->facts, &err), ERR_OK);
    add_task(f, 2);
    assert_int_equal(app_writer_checkpoint(f->writer, f->model, &f->facts, &err), ERR_OK);   /* waits for what the first one left to the writer's thread */
    assert_int_equal(access(f->fresh, F_OK), -1);
    assert_true(tasks_at(f->loading) >= 1);
    add_task(f, 3);
    assert_int_equal(app_writer_finish(f->writer, f->model, &f->facts, &err), ERR_OK);
    assert_int_equal(tasks_at(f->loading), 2);
    assert_int_equal(app_writer_publish(f->writer, f->path, false, &err), ERR_OK);
    assert_int_equal(access(f->loading, F_OK), -1);
    assert_int_equal(tasks_at(f->path), 3);
}

static void a_short_load_gets_its_name_at_once(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add_task(f, 1);
    assert_int_equal(app_writer_finish(f->writer, f->model, &f->facts, &err), ERR_OK);
    assert_int_equal(app_writer_publish(f->writer, f->path, true, &err), ERR_OK);
    assert_int_equal(access(f->loading, F_OK), -1);
    assert_int_equal(access(f->fresh, F_OK), -1);
    assert_int_equal(tasks_at(f->path), 1);
    add_task(f, 2);                         /* the log goes on, and readers see what is committed */
    assert_int_equal(app_writer_finish(f->writer, f->model, &f->facts, &err), ERR_OK);
    assert_int_equal(app_writer_publish(f->writer, f->path, true, &err), ERR_OK);
    assert_int_equal(tasks_at(f->path), 2);
}

/* What cannot be committed is told by a later call, and nothing takes the lasting name. */
static void a_failed_commit_is_told(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add_task(f, 1);
    assert_int_equal(unlink(f->fresh), 0);  /* the name to give away is gone */
    enum err_code rc = app_writer_checkpoint(f->writer, f->model, &f->facts, &err);
    if (!rc)
        rc = app_writer_checkpoint(f->writer, f->model, &f->facts, &err);
    assert_int_not_equal(rc, ERR_OK);
    assert_int_equal(access(f->path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(readers_find_the_file_from_the_first_checkpoint_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_short_load_gets_its_name_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_commit_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
