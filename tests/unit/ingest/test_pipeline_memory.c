/* SPDX-License-Identifier: Apache-2.0
 *
 * The n-th allocation of a load fails, for n = 1, 2, 3 … until one succeeds: each time the load either ends with "out of memory" and leaves no finished file, or comes through
 * with all that is in the log. Under the address sanitizer, so that nothing leaks on the way; in other builds some of them do. */
#include "ingest/pipeline.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "ingest/source/log_entry.h"
#include "ingest/store/catalog.h"

static char store[64];

static void remove_tree(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) && rmdir(path))
            remove_tree(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static int make_store(void **state)
{
    (void)state;
    snprintf(store, sizeof store, "/tmp/afterglow-load-XXXXXX");
    struct catalog *catalog = NULL;
    if (!mkdtemp(store) || catalog_open(&catalog, store, NULL))
        return -1;
    catalog_close(catalog);
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    mem_fail_at(0, 0);
    remove_tree(store);
    return 0;
}

static bool finished_file_exists(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/apps/key.db", store);
    return access(path, F_OK) == 0;
}

static enum err_code load(const char *log, struct load_report *report, struct err *err)
{
    struct log_entry entry;
    memset(&entry, 0, sizeof entry);
    memset(report, 0, sizeof *report);
    char path[512];
    snprintf(path, sizeof path, "%s%s", *log == '/' ? "" : TEST_DATA "/damaged/", log);
    enum err_code rc = log_entry_probe(path, &entry, err);
    if (rc)
        return rc;
    struct load *kept = NULL;
    const struct load_options options = {.store_dir = store, .app_key = "key", .generation = 1};
    rc = load_run(&entry, &options, report, &kept, err);
    load_free(kept);
    log_entry_dispose(&entry);
    return rc;
}

#ifdef __SANITIZE_ADDRESS__
#define STEP 1
#else
#define STEP 7
#endif

static void walk(const char *log, bool forever, int64_t task_count, int64_t bad_line_count)
{
    bool reached_the_end = false;
    unsigned refused = 0;
    unsigned long long step = STEP;
    for (unsigned long long nth = 1; !reached_the_end; nth += step) {
        struct load_report report;
        struct err err = {0};
        mem_fail_at(nth, forever);
        enum err_code rc = load(log, &report, &err);
        reached_the_end = mem_alloc_count() < nth;
        mem_fail_at(0, 0);
        if (rc) {
            if (rc != ERR_NOMEM || !err.message[0] || finished_file_exists())
                fail_msg("%s, allocation %llu: code %d, message '%s', finished file: %d", log, nth, (int)rc, err.message, finished_file_exists());
            refused++;
            continue;
        }
        /* The judging of runs walks its allocations by itself (test_judged_load): here some of them do. */
        step = strstr(report.message, "could not be judged") ? 29 : STEP;
        if (report.task_count != task_count || report.bad_line_count != bad_line_count)
            fail_msg("%s, allocation %llu: done with %lld tasks and %lld bad lines, without a word", log, nth, (long long)report.task_count, (long long)report.bad_line_count);
        char path[128];
        snprintf(path, sizeof path, "%s/apps/key.db", store);
        assert_int_equal(unlink(path), 0);
    }
    assert_true(refused > 20 / STEP);
}

static void a_plain_log_survives_each_failed_allocation(void **state)
{
    (void)state;
    walk("good/app-20260101000000-7000", false, 21, 0);
}

static void a_load_ends_when_memory_is_gone_for_good(void **state)
{
    (void)state;
    walk("good/app-20260101000000-7000", true, 21, 0);
}

static void a_rolling_log_of_several_codecs_survives_each_failed_allocation(void **state)
{
    (void)state;
    walk("rolling-mixed-codecs/eventlog_v2_app-20260101000112-7072", false, 21, 0);
}

static void a_log_with_bad_lines_survives_each_failed_allocation(void **state)
{
    (void)state;
    walk("not-objects/app-20260101000017-7017", false, 21, 9);
}

/* Streaming queries, sessions, operations and jobs that name them. */
static void a_log_of_streams_and_statements_survives_each_failed_allocation(void **state)
{
    (void)state;
#define Q "{\"Event\":\"org.apache.spark.sql.streaming.StreamingQueryListener$Query"
#define C "{\"Event\":\"org.apache.spark.sql.connect.service.SparkListenerConnect"
    static const char log[] =
        "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"a\",\"Timestamp\":1767225600000}\n"
        Q "StartedEvent\",\"id\":\"i\",\"runId\":\"r\",\"name\":\"n\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"jobTags\":[\"a\",\"b\"]}\n"
        Q "ProgressEvent\",\"progress\":{\"runId\":\"r\",\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"batchId\":1,\"durationMs\":{\"addBatch\":5},"
          "\"stateOperators\":[{\"operatorName\":\"o\",\"customMetrics\":{\"m\":1}}],\"sources\":[{\"description\":\"s\",\"endOffset\":\"password=x\","
          "\"metrics\":{\"a\":\"b\"}}],\"sink\":{\"description\":\"k\",\"metrics\":{\"a\":\"b\"}},\"observedMetrics\":{\"a\":{}}}}\n"
        Q "TerminatedEvent\",\"runId\":\"r\",\"exception\":\"E\"}\n"
        C "SessionStarted\",\"sessionId\":\"s\",\"userId\":\"u\",\"eventTime\":1767225600000}\n"
        C "OperationStarted\",\"jobTag\":\"SparkConnect_OperationTag_x\",\"operationId\":\"o\",\"eventTime\":1767225600000,\"sessionId\":\"s\","
          "\"statementText\":\"t\",\"sparkSessionTags\":[\"g\"]}\n"
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":1,\"Submission Time\":1767225600000,\"Stage Infos\":[],\"Stage IDs\":[],"
          "\"Properties\":{\"spark.job.tags\":\"SparkConnect_OperationTag_x,g\",\"spark.streaming.internal.batchTime\":\"1\"}}\n"
        "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1767225700000}\n";
#undef Q
#undef C
    char path[128];
    snprintf(path, sizeof path, "%s/streams", store);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(log, file) >= 0);
    assert_int_equal(fclose(file), 0);
    walk(path, false, 0, 0);
}

static void a_log_with_queries_survives_each_failed_allocation(void **state)
{
    (void)state;
    walk("../logs/tiny_app/local-1795989117127", false, 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plain_log_survives_each_failed_allocation, make_store, remove_store),
        cmocka_unit_test_setup_teardown(a_load_ends_when_memory_is_gone_for_good, make_store, remove_store),
        cmocka_unit_test_setup_teardown(a_rolling_log_of_several_codecs_survives_each_failed_allocation, make_store, remove_store),
        cmocka_unit_test_setup_teardown(a_log_of_streams_and_statements_survives_each_failed_allocation, make_store, remove_store),
        cmocka_unit_test_setup_teardown(a_log_with_bad_lines_survives_each_failed_allocation, make_store, remove_store),
        cmocka_unit_test_setup_teardown(a_log_with_queries_survives_each_failed_allocation, make_store, remove_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
