/* SPDX-License-Identifier: Apache-2.0
 *
 * Analysis at the end of a load: the published file holds judgements, and each allocation that analysis makes may fail without a trace of it in the database. */
#include "ingest/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/analyse.h"
#include "base/attributes.h"
#include "base/db.h"
#include "base/mem.h"
#include "ingest/source/log_entry.h"
#include "ingest/store/catalog.h"

static char store[64], path[128];

static int load_one(void **state)
{
    struct catalog *catalog = NULL;
    struct log_entry entry;
    struct load_report report;
    struct load *kept = NULL;
    (void)state;
    snprintf(store, sizeof store, "/tmp/afterglow-judged-XXXXXX");
    if (!mkdtemp(store) || catalog_open(&catalog, store, NULL))
        return -1;
    catalog_close(catalog);
    snprintf(path, sizeof path, "%s/apps/key.db", store);
    memset(&entry, 0, sizeof entry);
    const struct load_options options = {.store_dir = store, .app_key = "key", .generation = 1};
    if (log_entry_probe(TEST_DATA "/logs/failures/app-20261129213331-0000.zstd", &entry, NULL) || load_run(&entry, &options, &report, &kept, NULL))
        return -1;
    load_free(kept);
    log_entry_dispose(&entry);
    return report.message[0] ? -1 : 0;
}

static int remove_all(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", store);
    return system(command);
}

static struct db open_file(void)
{
    struct db app;
    struct err err;
    if (db_open(&app, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err))
        fail_msg("%s", err.message);
    return app;
}

static int64_t count(struct db *app, const char *table)
{
    char sql[80];
    int64_t rows = -1;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(db_query_i64(app, sql, &rows, NULL), ERR_OK);
    return rows;
}

static const char *const tables[] = {"analysis", "account", "stage_analysis", "stage_distribution", "chain_segment", "what_if", "finding"};

static void a_published_file_is_judged(void **state)
{
    struct db app = open_file();
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        assert_true(count(&app, tables[i]) > 0);
    assert_int_equal(count(&app, "finding WHERE rule_id = 'JOB.FAILED' AND mute IS NULL"), 1);
    db_close(&app);
}

static void each_failed_allocation_leaves_nothing(void **state)
{
    unsigned long long refused = 0;
    struct db app = open_file();
    (void)state;
    for (unsigned long long nth = 1;; nth++) {
        struct err err = {0};
        assert_int_equal(db_begin(&app, NULL), ERR_OK);
        mem_fail_at(nth, 0);
        enum err_code rc = analyse(&app, &err);
        bool reached_the_end = mem_alloc_count() < nth;
        mem_fail_at(0, 0);
        if (rc) {
            refused++;
            /* An arena does not tell whether the machine or its own limit refused. */
            if ((rc != ERR_NOMEM && rc != ERR_LIMIT) || !err.message[0])
                fail_msg("allocation %llu: code %d, message '%s'", nth, (int)rc, err.message);
            for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
                assert_int_equal(count(&app, tables[i]), 0);
        } else {
            assert_int_equal(count(&app, "analysis"), 1);
        }
        db_rollback(&app);
        if (reached_the_end)
            break;
    }
    db_close(&app);
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_published_file_is_judged), cmocka_unit_test(each_failed_allocation_leaves_nothing)};
    return cmocka_run_group_tests(tests, load_one, remove_all);
}
