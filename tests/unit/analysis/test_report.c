/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report_parts.h"
#include "analysis/verdict.h"
#include "base/attributes.h"
#include "base/time.h"

static struct db db;
static struct report report;
static struct buf out;
static struct err err;

static void exec(const char *sql)
{
    if (db_exec(&db, sql, &err))
        fail_msg("%s: %s", sql, err.message);
}

/* A run of 100 s that ended well, analysed, with nothing found. */
static int start(void **state)
{
    (void)state;
    db_setup();
    buf_init(&out, 1 << 22);
    assert_int_equal(db_open(&db, ":memory:", DB_NEW, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err), ERR_OK);
    exec("INSERT INTO application (app_id, name, user, spark_version, start_ms, end_ms) VALUES ('app-1', 'nightly', 'ann', '4.3.0', 1000, 101000)");
    exec("INSERT INTO log_health VALUES (1, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");
    exec("INSERT INTO analysis VALUES (1, 5, 1000, 101000, 0, 100000, 90000, 100, 4, 400000, 390000, 0, 0, 100000, 0.0, 50000, 60000, 1)");
    exec("INSERT INTO account VALUES (0, 0, 'cpu', 300000, 75000), (0, 0, 'startup', 80000, 20000), (0, 0, 'tail', 20000, 5000)");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    report_dispose(&report);
    buf_dispose(&out);
    db_close(&db);
    return 0;
}

#define UNEVEN_ARGS "{\"s\":{\"v\":\"1.0\"},\"cv\":{\"v\":2,\"u\":\"ratio\"},\"who\":{\"v\":\"partitions\"},\"eta\":{\"v\":0.4,\"u\":\"share\"}}"

/* measure 2 is twice the first threshold of STAGE.UNEVEN (0.5) and above all its steps. */
static void add_finding(const char *rule, const char *kind, const char *key, double measure, int64_t price_ms, int confidence, const char *args)
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(
        db_prepare(
            &db, &stmt,
            "INSERT INTO finding (rule_id, rule_version, subject_kind, subject_key, measure, unit, price_ms, price_low_ms, price_high_ms, scenario, weak, confidence, "
            "grade_shift, at_most, at_least, args, measures, evidence) VALUES (?1, 1, ?2, ?3, ?4, '', ?5, ?5 - 100, ?5 + 100, CASE WHEN ?5 IS NULL THEN NULL ELSE 'W1' END, "
            "0, ?6, 0, 4, 0, ?7, '{}', '[{\"kind\":\"task\",\"key\":\"7\",\"role\":\"culprit\",\"cols\":[{\"n\":\"run\",\"v\":5000,\"u\":\"ms\"},{\"n\":\"spill\",\"v\":0,\"u\":\"bytes\"}]},"
            "{\"formula\":{\"variant\":null,\"numbers\":{\"sigma\":{\"v\":4000,\"u\":\"ms\"},\"mean\":{\"v\":2000,\"u\":\"ms\"}}},\"threshold\":0.5,\"source\":\"own\"}]')",
            &err),
        ERR_OK);
    db_bind_str(stmt, 1, str_of(rule));
    db_bind_str(stmt, 2, str_of(kind));
    db_bind_str(stmt, 3, str_of(key));
    db_bind_f64(stmt, 4, measure);
    db_bind_i64(stmt, 5, price_ms);
    db_bind_i64(stmt, 6, confidence);
    db_bind_str(stmt, 7, str_of(args));
    assert_int_equal(db_run(stmt, &err), ERR_OK);
    db_finalize(stmt);
}

/* One that ended well in the middle of the run. */
static void add_job(void)
{
    exec("INSERT INTO job (job_id, status, completion_ms, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, "
         "completed_stages, skipped_stages, failed_stages) VALUES (90, 1, 50000, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0)");
}

static void load(void)
{
    report_dispose(&report);
    if (report_load(&report, &db, NULL, &err))
        fail_msg("%s", err.message);
}

static const char *verdict(enum lang lang)
{
    buf_clear(&out);
    load();
    assert_int_equal(verdict_app(&report, lang, &out, &err), ERR_OK);
    return out.data;
}

static const char *text_report(void)
{
    const struct report_style style = {.format = REPORT_TEXT};
    buf_clear(&out);
    load();
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    return out.data;
}

static void says_that_a_healthy_run_is_healthy_and_what_came_nearest(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 0.45, 30000, 2, "{}");
    assert_string_equal(verdict(LANG_EN), "Healthy: nothing in 1 m 40 s is worth changing. Nearest to a warning: Tasks of very different length (90 % of the warning level).");
}

/* What is worth an info alone is listed among the notes with what it saves. Where that is a tenth of the run and more the verdict is about it, and it is listed as something to change; below, the verdict
 * says that it is little, and how much. Where it is next to nothing (below 200 ms) nothing is listed as a saving either. */
static void a_healthy_verdict_does_not_contradict_the_savings_listed_below(void **state)
{
    (void)state;
    add_finding("JOB.MANY_SMALL", "app", "-", 0.09, 14000, 2, "{\"n\":{\"v\":199,\"u\":\"count\"},\"sec\":{\"v\":2100,\"u\":\"ms\"},\"wall\":{\"v\":100000,\"u\":\"ms\"}}");
    exec("INSERT INTO joint_price VALUES (1, 1, 14000)");
    assert_string_equal(verdict(LANG_EN), "No grave fault, but about 14.0 s of 1 m 40 s could be saved. "
                                          "199 jobs took less than a second each; 2.1 s of 1 m 40 s went into starting them rather than into work.");
    assert_null(strstr(text_report(), "Nothing that needs a change."));
    assert_non_null(strstr(out.data, " 1  info  Many tiny jobs · application · saves about 14.0 s"));
    exec("UPDATE joint_price SET saving_ms = 9900");
    exec("UPDATE finding SET price_ms = 9900");
    assert_string_equal(verdict(LANG_EN), "Healthy: what could still be saved is little, about 9.9 s of 1 m 40 s: Many tiny jobs.");
    assert_string_equal(verdict(LANG_ZH_CN), "整体健康：还能节省的不多，1 m 40 s 中约 9.9 s：大量极小作业。");
    assert_non_null(strstr(text_report(), "Nothing that needs a change."));
    exec("UPDATE joint_price SET saving_ms = 199");
    exec("UPDATE finding SET price_ms = 199");
    assert_non_null(strstr(verdict(LANG_EN), "Healthy: nothing in 1 m 40 s is worth changing."));
    assert_null(strstr(text_report(), "saves about"));
}

/* A log without an end. It may still be written until its file did not change for seven days, or its last event lies as far back: a copy is younger than what it is a copy of. */
static void a_run_without_an_end_is_abandoned_after_a_week(void **state)
{
    static const char *const running = "and may still be running.", *const gone = "and nothing was written to it after ";
    int64_t now_ms = time_now_ms(), week_ms = INT64_C(7) * 24 * 3600 * 1000;
    const struct {
        int64_t last_event_ms, modified_ms;
        bool is_abandoned;
    } cases[] = {{now_ms, now_ms, false},
                 {now_ms - week_ms + 60000, now_ms - week_ms + 60000, false},
                 {now_ms - week_ms - 60000, now_ms, true},
                 {now_ms, now_ms - week_ms - 60000, true},
                 {now_ms - week_ms - 60000, UNKNOWN, true}};
    char sql[400];
    (void)state;
    exec("UPDATE application SET end_ms = NULL");
    exec("UPDATE log_health SET complete = 0");
    exec("INSERT INTO load (app_key, generation, state, program_version, log_path, layout, finished_name, started_ms) VALUES ('a', 1, 'done', '1', '/l', 0, 0, 0)");
    add_finding("LOG.INCOMPLETE", "log", "-", 90, UNKNOWN, 2, "{}");
    exec("UPDATE finding SET cause = 'running'");
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        snprintf(sql, sizeof sql, "UPDATE analysis SET end_at_least = 1, completeness = 90, begin_ms = %lld, end_ms = %lld", (long long)cases[i].last_event_ms - 100000,
                 (long long)cases[i].last_event_ms);
        exec(sql);
        exec("UPDATE load SET log_modified_ms = NULL");
        snprintf(sql, sizeof sql, "UPDATE load SET log_modified_ms = %lld", (long long)cases[i].modified_ms);
        if (known(cases[i].modified_ms))
            exec(sql);
        verdict(LANG_EN);
        assert_non_null(strstr(out.data, cases[i].is_abandoned ? gone : running));
        assert_null(strstr(out.data, cases[i].is_abandoned ? running : gone));
        text_report();
        assert_int_equal(strstr(out.data, "still be running: read it again later") != NULL, !cases[i].is_abandoned);
        assert_int_equal(strstr(out.data, "spark.stop()") != NULL, cases[i].is_abandoned);
    }
    exec("UPDATE log_health SET complete = 1");
    load();
    assert_false(report.app.is_abandoned);
}

#define ONE_ERROR_ARGS "{\"signature\":{\"v\":\"ValueError: no\"},\"error\":{\"v\":\"ValueError: no\"},\"msg\":{\"v\":\"no\"},\"reason\":{\"v\":\"ValueError: no\"},\"k\":{\"v\":4},\"n\":{\"v\":9}," \
                    "\"s\":{\"v\":\"7.0\"},\"id\":{\"v\":90}}"
#define OTHER_ERROR_ARGS "{\"signature\":{\"v\":\"OSError: gone\"},\"error\":{\"v\":\"OSError: gone\"},\"k\":{\"v\":1},\"n\":{\"v\":9},\"s\":{\"v\":\"8.0\"}}"

static void add_stage(int stage)
{
    char sql[800];
    snprintf(sql, sizeof sql,
             "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, active_tasks, complete_tasks, failed_tasks, killed_tasks, "
             "completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed, locality_process, locality_node, locality_none, "
             "locality_rack, locality_any, task_rows, ended_tasks, peaks_set) VALUES (%d, %d, 0, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
             stage, stage);
    exec(sql);
}

/* Job 90 of query 3 failed with its stage 7; stage 8 of it met another error, and stage 9 of another job, which went well, the same one. */
static void add_failed_job(void)
{
    add_job();
    exec("UPDATE job SET status = 2, sql_execution_id = 3");
    exec("INSERT INTO job_stage VALUES (90, 0, 7, 0, 1, 0), (90, 1, 8, 0, 1, 0)");
    for (int stage = 7; stage <= 9; stage++)
        add_stage(stage);
    add_finding("JOB.FAILED", "job", "90", 0.5, UNKNOWN, 2, ONE_ERROR_ARGS);
    add_finding("SQL.FAILED", "sql", "3", 1, UNKNOWN, 2, ONE_ERROR_ARGS);
    add_finding("TASK.FAILURES", "stage", "7.0", 0.5, UNKNOWN, 2, ONE_ERROR_ARGS);
    exec("UPDATE finding SET at_least = 4");
}

/* One entry for one failure: the job, with what else tells of it. JSON keeps each. */
static void a_failure_is_listed_once(void **state)
{
    (void)state;
    add_failed_job();
    text_report();
    assert_non_null(strstr(out.data, " 1  severe  Failed job · job 90"));
    assert_non_null(strstr(out.data, "    Also: query 3, stage 7.0 (4 failed attempts)\n"));
    assert_null(strstr(out.data, "Failed query"));
    assert_null(strstr(out.data, "Failed tasks"));
    assert_null(strstr(verdict(LANG_EN), "Also:"));
    const struct report_style style = {.format = REPORT_JSON};
    buf_clear(&out);
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "\"SQL.FAILED\""));
    assert_non_null(strstr(out.data, "\"TASK.FAILURES\""));
    /* The job's text may lack the class of the exception, and nothing else. */
    exec("UPDATE finding SET args = json_set(args, '$.signature.v', 'no') WHERE rule_id = 'JOB.FAILED'");
    assert_non_null(strstr(text_report(), "    Also: query 3, stage 7.0 (4 failed attempts)\n"));
    exec("UPDATE finding SET args = json_set(args, '$.signature.v', 'o') WHERE rule_id = 'JOB.FAILED'");
    assert_non_null(strstr(text_report(), "Failed tasks · stage 7.0"));
    exec("UPDATE finding SET args = json_set(args, '$.signature.v', 'ValueError: no') WHERE rule_id = 'JOB.FAILED'");
    /* Another error of that job's stage is another entry; so is the same one where no job failed of it. */
    add_finding("TASK.FAILURES", "stage", "8.0", 0.5, UNKNOWN, 2, OTHER_ERROR_ARGS);
    add_finding("TASK.FAILURES", "stage", "9.0", 0.5, UNKNOWN, 2, ONE_ERROR_ARGS);
    text_report();
    assert_non_null(strstr(out.data, "Failed tasks · stage 8.0"));
    assert_non_null(strstr(out.data, "Failed tasks · stage 9.0"));
    assert_non_null(strstr(out.data, "    Also: query 3, stage 7.0 (4 failed attempts)\n"));
}

/* Memory that ran out in the driver tells why the query failed: that is the entry, and the verdict, though the run was mostly waiting. */
static void what_ended_of_the_drivers_memory_is_listed_with_it(void **state)
{
    (void)state;
    exec("UPDATE account SET wall_ms = 15000 WHERE bucket = 'cpu'");
    exec("UPDATE account SET wall_ms = 80000 WHERE bucket = 'startup'");
    add_finding("SQL.FAILED", "sql", "3", 1, UNKNOWN, 2, ONE_ERROR_ARGS);
    add_finding("TASK.OOM", "sql", "3", 1, UNKNOWN, 2, "{\"kind\":{\"v\":\"oom_heap\"},\"error\":{\"v\":\"java.lang.OutOfMemoryError\"}}");
    exec("UPDATE finding SET at_least = 4");
    exec("UPDATE finding SET cause = 'driver' WHERE rule_id = 'TASK.OOM'");
    verdict(LANG_EN);
    assert_ptr_equal(strstr(out.data, "The driver"), out.data);
    assert_null(strstr(out.data, "Also:"));
    text_report();
    assert_non_null(strstr(out.data, " 1  severe  Out of memory · query 3"));
    assert_null(strstr(out.data, "Failed query"));
    assert_null(strstr(out.data, "Also: query 3"));
}

/* Stage 1 is written in 300 tasks: one cure for its files, one for its tasks, and both are the number of its tasks. The lesser one says so. */
static void of_two_cures_for_one_number_one_is_enough(void **state)
{
    (void)state;
    add_finding("STAGE.TINY_TASKS", "stage", "1.0", 0.9, 3700, 2, "{\"s\":{\"v\":\"1.0\"},\"m\":{\"v\":6,\"u\":\"count\"}}");
    add_finding("STAGE.TINY_TASKS", "stage", "2.0", 0.9, 3600, 2, "{\"s\":{\"v\":\"2.0\"},\"m\":{\"v\":6,\"u\":\"count\"}}");
    add_finding("SQL.SMALL_FILES_WRITE", "node", "0/0", 1000, UNKNOWN, 2, "{\"written_by\":{\"v\":\"1.0\"},\"partitions\":{\"v\":1,\"u\":\"count\"}}");
    exec("UPDATE finding SET cause = 'one' WHERE rule_id = 'SQL.SMALL_FILES_WRITE'");
    exec("UPDATE finding SET cause = 'source' WHERE rule_id = 'STAGE.TINY_TASKS'");
    text_report();
    const char *tiny = strstr(out.data, "Too many tiny tasks · stage 1.0"), *said = strstr(out.data, "It sets the same number as");
    assert_non_null(tiny);
    assert_non_null(said);
    assert_true(said > tiny);
    assert_non_null(strstr(said, "“Writes many small files”"));
    assert_null(strstr(said + 1, "It sets the same number as")); /* neither the greater one nor stage 2 */
}

static void assert_code_of(const char *kind, const char *key, const char *expected)
{
    struct report_item item;
    exec("DELETE FROM finding");
    add_finding("RDD.RECOMPUTE", kind, key, 3, 5000, 2, "{}");
    load();
    assert_int_equal(report_item(&report, 0, LANG_EN, &item, &err), ERR_OK);
    if (!expected)
        assert_int_equal(item.code.len, 0);
    else if (!str_is(item.code, expected))
        fail_msg("%s %s: %.*s", kind, key, (int)item.code.len, item.code.ptr ? item.code.ptr : "");
}

/* Where a call is Spark's own or came through Python's gateway, the line that led to it is that of the stage, the job, or another job of its query. What a description says stays. */
static void the_users_line_is_found_behind_sparks_own(void **state)
{
    (void)state;
    add_stage(7);
    exec("UPDATE stage SET name = 'coalesce at NativeMethodAccessorImpl.java:0'");
    exec("INSERT INTO rdd (rdd_id, name, callsite, use_disk, use_memory, use_off_heap, deserialized, tracked, unpersisted) VALUES "
         "(1, 'PythonRDD', 'RDD at PythonRDD.scala:59', 0, 0, 0, 0, 0, 0), (2, 'CoalescedRDD', 'coalesce at NativeMethodAccessorImpl.java:0', 0, 0, 0, 0, 0, 0), "
         "(3, 'R', 'map at Main.scala:12', 0, 0, 0, 0, 0, 0)");
    exec("INSERT INTO stage_rdd (stage_ref, ordinal, rdd_id) VALUES (7, 0, 1), (7, 1, 2), (7, 2, 3)");
    assert_code_of("rdd", "1", NULL); /* nobody knows */
    assert_code_of("rdd", "2", "coalesce");
    add_job();
    exec("UPDATE job SET name = 'count at /jobs/a.py:137', sql_execution_id = 3");
    exec("INSERT INTO job_stage VALUES (90, 0, 7, 0, 1, 0)");
    assert_code_of("rdd", "1", "count at /jobs/a.py:137");
    assert_code_of("rdd", "2", "coalesce · count at /jobs/a.py:137");
    assert_code_of("rdd", "3", "map at Main.scala:12");
    assert_code_of("stage", "7.0", "coalesce · count at /jobs/a.py:137");
    assert_code_of("sql", "3", "count at /jobs/a.py:137");
    assert_code_of("node", "3/8", "count at /jobs/a.py:137");
    exec("UPDATE job SET name = '$anonfun$withThreadLocalCaptured$1 at CompletableFuture.java:1768'");
    assert_code_of("job", "90", NULL);
    exec("UPDATE stage SET name = 'show at <console>:33'");
    assert_code_of("rdd", "2", "coalesce · show at <console>:33");
}

static void names_the_first_finding_and_what_the_first_few_save(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2,
                "{\"s\":{\"v\":\"1.0\"},\"cv\":{\"v\":2,\"u\":\"ratio\"},\"who\":{\"v\":\"partitions\"},\"eta\":{\"v\":0.4,\"u\":\"share\"}}");
    exec("INSERT INTO joint_price VALUES (1, 1, 10000)");
    assert_string_equal(
        verdict(LANG_EN),
        "Run times in stage 1.0 vary a lot (coefficient of variation 2); differences between partitions explain 40 % of it. Fixing that saves about 10.0 s of 1 m 40 s.");
    assert_string_equal(verdict(LANG_ZH_CN), "阶段 1.0 的任务耗时波动很大（变异系数 2），其中 40 % 来自分区之间的差异。解决它约可节省 10.0 s（全程 1 m 40 s）。");
}

static void says_how_a_measure_came_about_in_both_languages(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    assert_non_null(strstr(text_report(), "Evidence: standard deviation 4.0 s / mean 2.0 s = 2\n"));
    const struct report_style style = {.format = REPORT_TEXT, .lang = LANG_ZH_CN};
    buf_clear(&out);
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "标准差 4.0 s / 平均 2.0 s = 2\n"));
}

static void shows_evidence_that_is_nothing_but_a_name(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    exec("UPDATE finding SET evidence = '[{\"kind\":\"conf\",\"key\":\"guava\",\"role\":\"culprit\",\"cols\":[]}]'");
    load();
    struct report_evidence evidence;
    assert_int_equal(report_evidence(&report, LANG_EN, &report.findings[0].finding, NULL, 0, &evidence, &err), ERR_OK);
    assert_int_equal(evidence.row_count, 1);
    assert_true(str_is(evidence.cells[0].key, "guava"));
    assert_false(str_known(evidence.cells[0].name));
    assert_non_null(strstr(text_report(), "guava\n"));
}

static void says_possibly_where_it_is_not_sure(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 0, "{}");
    assert_non_null(strstr(verdict(LANG_EN), "No grave fault, but about 10.0 s of 1 m 40 s could be saved. Possibly: Run times"));
}

static void says_a_regression_once(void **state)
{
    (void)state;
    add_finding("RUN.REGRESSION", "app", "-", 0.6, UNKNOWN, 2,
                "{\"delta\":{\"v\":37500,\"u\":\"ms\"},\"med\":{\"v\":62500,\"u\":\"ms\"},\"n\":{\"v\":5,\"u\":\"count\"},\"parts\":{\"v\":\"more data\"}}");
    const char *said = verdict(LANG_EN), *first = strstr(said, "slower than the usual");
    assert_non_null(first);
    assert_null(strstr(first + 1, "slower than the usual"));
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 12000, 2, "{}");
    exec("UPDATE finding SET measure = 0.3 WHERE rule_id = 'RUN.REGRESSION'");
    said = verdict(LANG_EN);
    assert_non_null(strstr(said, "Run times"));
    assert_non_null(strstr(said, "slower than the usual"));
}

/* Low by its measure, and yet a tenth of the run. */
static void does_not_call_healthy_what_could_be_much_shorter(void **state)
{
    (void)state;
    add_finding("RDD.RECOMPUTE", "rdd", "2", 2, 10000, 2, "{\"name\":{\"v\":\"x\"},\"n\":{\"v\":2,\"u\":\"count\"},\"list\":{\"v\":\"1.0, 2.0\"}}");
    assert_non_null(strstr(verdict(LANG_EN), "No grave fault, but about 10.0 s of 1 m 40 s could be saved."));
    exec("UPDATE finding SET price_ms = 9999");
    assert_non_null(strstr(verdict(LANG_EN), "Largely healthy; about 10.0 s"));
}

static void advises_by_the_cause(void **state)
{
    (void)state;
    add_finding("RDD.RECOMPUTE", "rdd", "2", 2, 10000, 2, "{}");
    assert_non_null(strstr(text_report(), "Do this first\n  Call persist() on it"));
    exec("UPDATE finding SET cause = 'memory_tight'");
    assert_non_null(strstr(text_report(), "Do this first\n  Write it to files once and go on"));
    assert_null(strstr(text_report(), "data.persist("));
}

/* What is small still has a price and an advice: the verdict may lead with it, and no other line would say what to do. What is no fault has none. */
static void says_what_to_do_about_small_ones(void **state)
{
    (void)state;
    add_finding("STAGE.DESER", "stage", "1.0", 0.06, 900, 2, "{}");
    add_finding("APP.SCALING", "app", "-", 2, UNKNOWN, 2, "{}");
    const char *notes = strstr(text_report(), "Worth knowing");
    assert_non_null(notes);
    assert_non_null(strstr(notes, "Unpacking tasks and results · saves about 900 ms"));
    const char *advice = strstr(notes, "First: Use the Kryo");
    assert_non_null(advice);
    assert_null(strstr(advice + 1, "First:"));
}

/* A price that no grade begins at is no saving to speak of, and a run without a finding worth one has no sum. */
static void does_not_speak_of_savings_of_nothing(void **state)
{
    (void)state;
    add_finding("TASK.FAILURES", "stage", "1.0", 0.4, 199, 2, "{\"s\":{\"v\":\"1.0\"},\"k\":{\"v\":2},\"n\":{\"v\":5},\"error\":{\"v\":\"E: m\"}}");
    add_finding("STAGE.DESER", "stage", "1.0", 0.06, 199, 2, "{}");
    exec("INSERT INTO joint_price VALUES (1, 2, 900), (2, 1, 1000)");
    assert_null(strstr(text_report(), "saves about"));
    assert_null(strstr(out.data, "largest savings"));
    assert_non_null(strstr(out.data, "2 of 5 task attempts of stage 1.0 failed: E: m.\n"));
    exec("UPDATE finding SET price_ms = 200 WHERE rule_id = 'TASK.FAILURES'");
    assert_non_null(strstr(text_report(), "saves about 200 ms"));
    assert_non_null(strstr(out.data, "The 2 largest savings, small ones below included, come to about 1.0 s together"));
}

/* Forty per cent idle are beyond the rule's 30, which dynamic allocation forgives: that is not told, and "133 % of its limit" is not near it. 24 per cent are. */
static void what_is_beyond_its_limit_is_not_near_it(void **state)
{
    (void)state;
    add_finding("APP.LOW_UTIL", "app", "-", 0.4, UNKNOWN, 2, "{}");
    exec("UPDATE finding SET grade_shift = -1");
    assert_null(strstr(text_report(), "Executors mostly idle"));
    exec("UPDATE finding SET measure = 0.24");
    assert_non_null(strstr(text_report(), "Executors mostly idle (80 % of the warning level)"));
    add_finding("STAGE.UNEVEN", "stage", "1.0", 0.45, 3000, 2, UNEVEN_ARGS);
    assert_non_null(strstr(text_report(), "Nearest to a warning: Tasks of very different length (90 % of the warning level)"));
    add_finding("STAGE.UNEVEN", "stage", "2.0", 2, 3000, 2, UNEVEN_ARGS); /* the rule has something to say: what came near elsewhere is not */
    assert_non_null(strstr(text_report(), "Nearest to a warning: Executors mostly idle (80 % of the warning level)"));
}

static void gives_the_filter_of_its_tasks(void **state)
{
    (void)state;
    const struct report_style style = {.format = REPORT_JSON};
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    load();
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "\"filter\" : null"));
    exec("UPDATE finding SET evidence = json_insert(evidence, '$[#]', json('{\"filter\":\"status=failed\"}'))");
    load();
    buf_clear(&out);
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "\"filter\" : \"status=failed\""));
}

static void says_that_a_run_failed_and_why(void **state)
{
    (void)state;
    exec("INSERT INTO text VALUES (1, 'Job aborted due to stage failure: Lost task 0.3 in stage 1.0: java.lang.IllegalStateException: no such bucket\n\tat x')");
    exec(
        "INSERT INTO job (job_id, status, failure_text_id, completion_ms, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, "
        "completed_stages, skipped_stages, failed_stages) VALUES (0, 2, 1, 100000, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)");
    assert_string_equal(verdict(LANG_EN), "Failed after 1 m 40 s: java.lang.IllegalStateException: no such bucket. It comes from: x");
    assert_string_equal(verdict(LANG_ZH_CN), "运行 1 m 40 s 后失败：java.lang.IllegalStateException: no such bucket。源头：x");
    exec("INSERT INTO text VALUES (2, 'Job 1 cancelled part of cancelled job group nightly')");
    exec("CREATE TEMP TABLE later AS SELECT * FROM job; UPDATE later SET job_id = 1, failure_text_id = 2, completion_ms = 100500; INSERT INTO job SELECT * FROM later");
    assert_string_equal(verdict(LANG_EN), "Failed after 1 m 40 s: java.lang.IllegalStateException: no such bucket. It comes from: x");
    exec("DELETE FROM job WHERE job_id = 0");
    assert_string_equal(verdict(LANG_EN), "Failed after 1 m 40 s: Job 1 cancelled part of cancelled job group nightly");
}

static void says_why_a_job_went_down_with_its_application(void **state)
{
    (void)state;
    add_finding("JOB.FAILED", "job", "6", 0.3, UNKNOWN, 2, "{\"id\":{\"v\":6,\"u\":\"id\"},\"dur\":{\"v\":5800,\"u\":\"ms\"},\"reason\":{\"v\":\"SparkContext was shut down\"}}");
    exec("UPDATE finding SET cause = 'shut_down'");
    assert_non_null(strstr(text_report(), "Do this first\n  The application was ended while this job ran"));
}

static void tells_a_cancelled_job_as_that(void **state)
{
    (void)state;
    add_finding("JOB.FAILED", "job", "6", 0.3, UNKNOWN, 2, "{\"id\":{\"v\":6,\"u\":\"id\"},\"dur\":{\"v\":5800,\"u\":\"ms\"},\"reason\":{\"v\":\"Job 6 cancelled\"}}");
    exec("UPDATE finding SET cause = 'cancelled'");
    assert_non_null(strstr(text_report(), "    Job 6 was cancelled after 5.8 s.\n"));
    assert_non_null(strstr(out.data, "Do this first\n  It was stopped on purpose"));
    assert_null(strstr(out.data, "spark.task.maxFailures"));
}

/* What stands between the verdict and the account. */
static const char *first_step(void)
{
    static char step[2000];
    const char *begin = strstr(text_report(), "\nDo this first\n"), *end = begin ? strstr(begin, "\n\nWhere the time went") : NULL;
    assert_non_null(end);
    begin += strlen("\nDo this first\n");
    assert_true((size_t)(end - begin) < sizeof step);
    snprintf(step, sizeof step, "%.*s", (int)(end - begin), begin);
    return step;
}

static void says_what_to_do_first_where_and_what_it_saves(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, UNEVEN_ARGS);
    add_finding("STAGE.WARMUP", "app", "-", 0.3, 12000, 2, "{}");
    const char *step = first_step();
    assert_non_null(strstr(step, "\n  Where: stage 1.0\n  This saves about 10.0 s of 1 m 40 s (between 9.9 s and 10.1 s).\n  How: "));
    assert_non_null(strstr(out.data, "    First: As said above, under \"Do this first\"."));
    assert_true(strstr(out.data, "    How: ") == NULL); /* told once */
}

static void says_that_nothing_is_to_be_done(void **state)
{
    (void)state;
    add_job();
    assert_string_equal(first_step(), "  Nothing: this run needs no change.");
    exec("UPDATE analysis SET end_at_least = 1");
    assert_string_equal(first_step(), "  Nothing so far: what is in the log needs no change.");
    exec("DELETE FROM job");
    assert_string_equal(first_step(), "  If a result was expected: look in the program at what should have asked for one. No job ran.");
    exec("UPDATE analysis SET wall_ms = 9000");
    assert_string_equal(first_step(), "  Nothing: 9.0 s are too short to judge.");
}

/* 900 ms of 100 s are no news beside 80 s in which nobody typed; three seconds are. */
static void of_a_shell_only_what_is_worth_it_is_to_be_done(void **state)
{
    (void)state;
    add_job();
    exec("UPDATE account SET wall_ms = CASE bucket WHEN 'startup' THEN 80000 ELSE 10000 END");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 900, 2, UNEVEN_ARGS);
    assert_null(strstr(first_step(), "Nothing"));
    exec("INSERT INTO environment VALUES (3, 'sun.java.command', 'org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main spark-shell')");
    assert_string_equal(first_step(), "  Nothing: most of this run was waiting for somebody to type.");
    exec("UPDATE finding SET price_ms = 3000");
    assert_null(strstr(first_step(), "Nothing"));
}

/* Why it was killed comes before what made it slow; of one that may still run that is not asked. */
static void of_an_abandoned_run_its_end_comes_first(void **state)
{
    (void)state;
    add_job();
    exec("UPDATE log_health SET complete = 0");
    exec("UPDATE analysis SET end_at_least = 1");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, UNEVEN_ARGS);
    add_finding("LOG.INCOMPLETE", "log", "-", 90, UNKNOWN, 2, "{}");
    exec("UPDATE finding SET cause = 'running' WHERE rule_id = 'LOG.INCOMPLETE'");
    assert_non_null(strstr(first_step(), "  Find out why the run ended"));
}

/* A saving is no comfort to a run that failed, and what failed comes before what is dearer. */
static void of_a_failed_run_the_failure_comes_first(void **state)
{
    (void)state;
    add_job();
    exec("UPDATE job SET status = 2");
    assert_string_equal(first_step(), "  Read what the program itself printed: the log says that the run failed, not why.");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, UNEVEN_ARGS);
    add_finding("JOB.FAILED", "job", "90", 0.3, UNKNOWN, 2, "{\"id\":{\"v\":90,\"u\":\"id\"},\"dur\":{\"v\":5800,\"u\":\"ms\"},\"reason\":{\"v\":\"no such bucket\"}}");
    assert_non_null(strstr(first_step(), "\n  Where: job 90"));
    assert_null(strstr(first_step(), "saves"));
}

static void of_a_log_that_lacks_much_and_shows_nothing_else_that_comes_first(void **state)
{
    (void)state;
    exec("UPDATE analysis SET completeness = 60");
    exec("UPDATE log_health SET complete = 0, tasks_without_end = 1, cut = 1");
    add_finding("LOG.INCOMPLETE", "log", "-", 60, UNKNOWN, 2, "{}");
    const char *step = first_step();
    assert_null(strstr(step, "Nothing"));
    assert_non_null(strstr(step, "\n  Where: event log"));
    exec("UPDATE analysis SET completeness = 100, end_at_least = 1");
    assert_non_null(strstr(first_step(), "\n  Where: event log"));
}

static void says_what_an_incomplete_log_lacks(void **state)
{
    (void)state;
    exec("UPDATE analysis SET completeness = 60");
    exec("UPDATE log_health SET complete = 0, tasks_without_end = 1, cut = 1");
    assert_string_equal(verdict(LANG_EN), "The log is incomplete: 1 of 0 task ends is missing; there is no record of the application's end; the log ends in the middle of a line.");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, UNEVEN_ARGS);
    assert_non_null(strstr(verdict(LANG_EN), " in the middle of a line. What follows is a lower bound. Run times in stage 1.0"));
}

static void says_that_waiting_was_most_of_it(void **state)
{
    (void)state;
    exec("UPDATE account SET wall_ms = CASE bucket WHEN 'startup' THEN 60000 ELSE 20000 END");
    assert_string_equal(verdict(LANG_EN),
                        "Mostly waiting: 60 % of 1 m 40 s, mainly starting up (1 m 00 s). No job ran: the program never asked Spark for a result. Nothing else stands out.");
    add_job();
    assert_string_equal(verdict(LANG_EN), "Mostly waiting: 60 % of 1 m 40 s, mainly starting up (1 m 00 s). Nothing else stands out.");
    exec("INSERT INTO environment VALUES (3, 'sun.java.command', 'org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main spark-shell')");
    assert_string_equal(verdict(LANG_EN),
                        "Mostly waiting: 60 % of 1 m 40 s, mainly starting up (1 m 00 s). In a shell that is mostly the time in which nobody typed. Nothing else stands out.");
}

/* Three quarters of the slots idle is moderate, 900 ms of uneven tasks are worth a word: the tasks are why. */
static void names_the_cause_before_what_it_leads_to(void **state)
{
    (void)state;
    add_finding("APP.LOW_UTIL", "app", "-", 0.75, UNKNOWN, 2, "{}");
    add_finding("STAGE.WARMUP", "app", "-", 0.3, 2500, 2, "{}");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 900, 2, UNEVEN_ARGS);
    assert_string_equal(verdict(LANG_EN),
                        "Run times in stage 1.0 vary a lot (coefficient of variation 2); differences between partitions explain 40 % of it. Also: Executors mostly idle.");
    exec("UPDATE finding SET measure = 0.5 WHERE rule_id = 'APP.LOW_UTIL'");
    assert_non_null(strstr(verdict(LANG_EN), "Largely healthy; about 900 ms of 1 m 40 s could be saved. Run times in stage 1.0"));
    assert_null(strstr(out.data, "Also:"));
    exec("DELETE FROM finding WHERE rule_id = 'STAGE.UNEVEN'");
    assert_non_null(strstr(verdict(LANG_EN), "Largely healthy. Executors were paid for"));
}

/* Warming up costs seconds, and usually nothing need be done about it: it is told last, is no saving, and makes no run unhealthy. */
static void tells_what_is_usual_last(void **state)
{
    (void)state;
    add_finding("STAGE.WARMUP", "app", "-", 0.3, 9000, 2, "{\"sec\":{\"v\":9000,\"u\":\"ms\"}}");
    add_finding("STAGE.DESER", "stage", "1.0", 0.06, 900, 2, "{}");
    assert_non_null(strstr(text_report(), "What to change\n  Nothing that needs a change.\n"));
    assert_true(strstr(out.data, "  · Unpacking tasks and results") < strstr(out.data, "  · First tasks warm up: The first tasks on each executor spent 9.0 s"));
    assert_null(strstr(out.data, "9.5 s"));
    assert_null(strstr(verdict(LANG_EN), "First tasks warm up"));
    exec("DELETE FROM finding WHERE rule_id = 'STAGE.DESER'");
    assert_string_equal(verdict(LANG_EN),
                        "Healthy: nothing in 1 m 40 s is worth changing. The first tasks on each executor spent 9.0 s starting the JVM, compiling code or starting Python.");
}

/* In a shell nobody typed: however grave the gap is, what can be changed comes before it. */
static void puts_the_gaps_of_a_shell_behind_what_can_be_changed(void **state)
{
    (void)state;
    add_job();
    add_finding("APP.DRIVER_GAP", "app", "-", 0.5, 50000, 2, "{}");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 3000, 2, UNEVEN_ARGS);
    exec("INSERT INTO joint_price VALUES (1, 2, 3000)");
    exec("UPDATE finding SET cause = 'shell' WHERE rule_id = 'APP.DRIVER_GAP'");
    assert_non_null(strstr(verdict(LANG_EN), "Largely healthy; about 3.0 s of 1 m 40 s could be saved. Run times in stage 1.0"));
    assert_null(strstr(out.data, "Also:"));
    text_report();
    assert_true(strstr(out.data, "Tasks of very different length · stage 1.0") < strstr(out.data, "Idle while the driver works"));
    assert_null(strstr(out.data, "saves about 50.0 s"));
}

/* What saves is named where the lead itself saves nothing; what it saves is said where it does, alone, in several places, or with others. */
static void names_what_saves(void **state)
{
    (void)state;
    add_finding("SQL.SMALL_FILES_WRITE", "node", "0/1", 1000, UNKNOWN, 2,
                "{\"node\":{\"v\":\"Write\"},\"files\":{\"v\":300,\"u\":\"count\"},\"mean\":{\"v\":1000,\"u\":\"bytes\"},\"parts\":{\"v\":0,\"u\":\"count\"}}");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 0.8, 4000, 2, UNEVEN_ARGS);
    add_finding("STAGE.GC_HIGH", "stage", "2.0", 0.12, 3200, 2, "{}");
    exec("INSERT INTO joint_price VALUES (1, 2, 4000), (2, 3, 7200)");
    assert_non_null(
        strstr(verdict(LANG_EN), " Apart from that, about 7.2 s of 1 m 40 s could be saved: Tasks of very different length (stage 1.0), Much garbage collection (stage 2.0)."));
    assert_null(strstr(out.data, "Also:"));
    assert_non_null(strstr(verdict(LANG_ZH_CN), "除此之外，约可节省 7.2 s（全程 1 m 40 s）：任务时长差异大（阶段 1.0）、垃圾回收过多（阶段 2.0）。"));
    exec("DELETE FROM finding WHERE rule_id = 'SQL.SMALL_FILES_WRITE'; UPDATE finding SET measure = 2, price_ms = 6000 WHERE rule_id = 'STAGE.UNEVEN'");
    assert_non_null(strstr(verdict(LANG_EN), " Fixing that and the following saves about 7.2 s of 1 m 40 s in all: Much garbage collection (stage 2.0)."));
    exec("UPDATE finding SET rule_id = 'STAGE.UNEVEN', measure = 2, price_ms = 5500 WHERE rule_id = 'STAGE.GC_HIGH'");
    assert_non_null(strstr(verdict(LANG_EN), " Fixing that in 2 places saves about 7.2 s of 1 m 40 s."));
    exec("UPDATE joint_price SET saving_ms = 199"); /* no saving to speak of */
    assert_null(strstr(verdict(LANG_EN), "Fixing that"));
}

/* A run of a quarter of a minute always starts up for half of it: what is wrong comes first. */
static void does_not_begin_with_the_usual_start_of_a_short_run(void **state)
{
    (void)state;
    add_job();
    exec("UPDATE analysis SET wall_ms = 16000, end_ms = 17000; UPDATE account SET wall_ms = CASE bucket WHEN 'startup' THEN 9000 ELSE 3500 END");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 3000, 2, UNEVEN_ARGS);
    exec("INSERT INTO joint_price VALUES (1, 1, 3000)");
    assert_string_equal(verdict(LANG_EN),
                        "Run times in stage 1.0 vary a lot (coefficient of variation 2); differences between partitions explain 40 % of it. Fixing that saves about 3.0 s of "
                        "16.0 s. Before any work began: starting up 9.0 s. That is usual; in so short a run (16.0 s) it is much.");
    exec("DELETE FROM joint_price; DELETE FROM finding");
    assert_string_equal(verdict(LANG_EN),
                        "Healthy: nothing in 16.0 s is worth changing. Before any work began: starting up 9.0 s. That is usual; in so short a run (16.0 s) it is much.");
    exec("INSERT INTO account VALUES (0, 0, 'gap_startup', 9600, 2400); UPDATE account SET wall_ms = 6600 WHERE bucket = 'startup'");
    assert_non_null(strstr(verdict(LANG_EN), " Before any work began: starting up 6.6 s, before the first job 2.4 s. That is usual"));
    assert_non_null(strstr(verdict(LANG_ZH_CN), "开始工作之前：启动 6.6 s、首个作业之前 2.4 s。"));
}

/* Adaptive execution off is low and has no price, the uneven stage is told as info: the verdict is about that stage, and so the list begins with it. Both forms give 1.5 s for both savings. */
static void begins_the_list_with_what_the_verdict_names(void **state)
{
    (void)state;
    add_finding("SQL.AQE_OFF", "app", "-", 3, UNKNOWN, 2, "{\"n\":{\"v\":3,\"u\":\"count\"}}");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 900, 2, UNEVEN_ARGS);
    add_finding("STAGE.DESER", "stage", "2.0", 0.06, 700, 2, "{}");
    exec("INSERT INTO joint_price VALUES (1, 2, 900), (2, 3, 1500)");
    assert_non_null(strstr(verdict(LANG_EN), "Largely healthy; about 1.5 s of 1 m 40 s could be saved together, 900 ms of it by the first point. Run times in stage 1.0"));
    assert_non_null(strstr(verdict(LANG_ZH_CN), "整体健康；1 m 40 s 中合计约可节省 1.5 s，其中第一项 900 ms。"));
    const char *first = strstr(text_report(), " 1  info  Tasks of very different length"), *second = strstr(out.data, " 2  low  Adaptive execution is off");
    assert_true(first && second && first < second);
    assert_non_null(strstr(out.data, "The 2 largest savings, small ones below included, come to about 1.5 s together"));
    assert_non_null(strstr(out.data, "Worth knowing\n  · Unpacking tasks and results"));
}

/* What failed comes before what waited, and before a sum of savings where the run failed. */
static void puts_a_failure_before_waiting(void **state)
{
    (void)state;
    add_job();
    exec("UPDATE account SET wall_ms = CASE bucket WHEN 'startup' THEN 60000 ELSE 20000 END");
    add_finding("TASK.FAILURES", "stage", "1.0", 0.4, 2000, 2, "{\"s\":{\"v\":\"1.0\"},\"k\":{\"v\":2},\"n\":{\"v\":5},\"error\":{\"v\":\"E: m\"}}");
    assert_string_equal(verdict(LANG_EN), "2 of 5 task attempts of stage 1.0 failed: E: m.");
    add_finding("STAGE.DESER", "stage", "1.0", 0.3, 2000, 2, "{}");
    exec("INSERT INTO joint_price VALUES (1, 2, 2000), (2, 1, 3500)");
    assert_non_null(strstr(text_report(), "The 2 largest savings"));
    exec("UPDATE application SET exit_code = 1");
    assert_null(strstr(text_report(), "The 2 largest savings"));
    assert_non_null(strstr(verdict(LANG_EN), "Failed after 1 m 40 s"));
    assert_null(strstr(out.data, "saves"));
}

#define FAILED_ARGS(stage, error, then)                                                                                          \
    "{\"s\":{\"v\":\"" stage "\"},\"k\":{\"v\":2},\"n\":{\"v\":5},\"error\":{\"v\":\"" error "\"},\"signature\":{\"v\":\"" error \
    "\"},\"hosts\":{\"v\":\"h1\"},\"then\":{\"v\":\"" then "\"}}"

/* Three stages with two errors: those alike are told together, and each error has a sentence of its own. Of many errors the first four are told, and the rest counted. */
static void tells_different_errors_apart(void **state)
{
    (void)state;
    add_finding("TASK.FAILURES", "stage", "1.0", 0.4, 9000, 2, FAILED_ARGS("1.0", "E: m", "failed"));
    add_finding("TASK.FAILURES", "stage", "2.0", 0.4, 8000, 2, FAILED_ARGS("2.0", "F: n", "succeeded"));
    add_finding("TASK.FAILURES", "stage", "3.0", 0.4, 7000, 2, FAILED_ARGS("3.0", "E: m", "succeeded"));
    text_report();
    assert_non_null(strstr(out.data, "    2 of 5 task attempts of stage 1.0 failed: E: m (h1).\n"));
    assert_non_null(strstr(out.data, "    2 of 5 task attempts of stage 2.0 failed: F: n (h1). Its tasks succeeded when they were"));
    assert_non_null(strstr(out.data, "    Also: stage 3.0 (7.0 s)\n"));
    assert_null(strstr(out.data, "Also: stage 2.0"));
    assert_non_null(strstr(out.data, "86 rules were checked; 1 has something to say."));
    for (int i = 4; i <= 9; i++) {
        char key[8], args[300];
        snprintf(key, sizeof key, "%d.0", i);
        snprintf(args, sizeof args, "{\"s\":{\"v\":\"%s\"},\"signature\":{\"v\":\"other %d\"}}", key, i);
        add_finding("TASK.FAILURES", "stage", key, 0.4, 6000 - i, 2, args);
    }
    text_report();
    assert_non_null(strstr(out.data, "Failed tasks · stage 5.0"));
    assert_null(strstr(out.data, "Failed tasks · stage 6.0"));
    assert_non_null(strstr(out.data, "    Also: 4 more\n"));
    const struct report_style style = {.format = REPORT_MARKDOWN};
    buf_clear(&out);
    load();
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "**Also**: stage 3.0 (7.0 s)\n"));
    assert_non_null(strstr(out.data, "**Also**: 4 more\n"));
}

/* A statement that fails is no failure of its server, which goes on; and that it waited for clients is nothing to cure. */
static void tells_a_failed_statement_of_a_server(void **state)
{
    (void)state;
    exec("INSERT INTO job (job_id, status, completion_ms, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, "
         "completed_stages, skipped_stages, failed_stages, name, description) VALUES "
         "(0, 1, 40000, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, NULL, NULL), (1, 2, 50000, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 'run at AccessController.java:712', 'SELECT 1 / 0')");
    add_finding("JOB.FAILED", "job", "1", 0.5, UNKNOWN, 2, "{\"id\":{\"v\":1,\"u\":\"id\"},\"dur\":{\"v\":5800,\"u\":\"ms\"},\"reason\":{\"v\":\"E: m\"}}");
    assert_non_null(strstr(verdict(LANG_EN), "Failed after 1 m 40 s"));
    exec("INSERT INTO server_session (server, session_id, start_ms, start_seen, end_seen) VALUES (0, 's', 2000, 1, 0)");
    assert_string_equal(verdict(LANG_EN), "1 of 2 jobs failed; the server itself ended normally. Job 1 failed after 5.8 s: E: m.");
    assert_string_equal(verdict(LANG_ZH_CN), "2 个作业中有 1 个失败；服务器自身正常结束。作业 1 在 5.8 s 后失败：E: m。");
    assert_non_null(strstr(text_report(), "    In your code: run · SELECT 1 / 0\n"));
    exec("UPDATE job SET description = 'Spark Connect - session_id: \"a\" user_context { user_id: \"ann\" }'");
    assert_non_null(strstr(text_report(), "    In your code: run\n"));
    exec("UPDATE job SET name = description");
    assert_null(strstr(text_report(), "In your code"));
}

/* The call and the query that a subject comes from, where the log has them; lines of Java that each call of Python comes through are left out. */
static void says_which_code_a_subject_comes_from(void **state)
{
    (void)state;
    exec("INSERT INTO rdd (rdd_id, name, callsite, tracked, unpersisted) VALUES (2, 'MapPartitionsRDD', 'textFile at etl.py:7', 0, 0)");
    add_finding("RDD.RECOMPUTE", "rdd", "2", 2, 10000, 2, "{}");
    assert_non_null(strstr(text_report(), "    In your code: textFile at etl.py:7\n"));
    assert_non_null(strstr(out.data, "\n  Where: RDD 2 · textFile at etl.py:7\n"));
    exec("UPDATE rdd SET callsite = 'collect at NativeMethodAccessorImpl.java:0'");
    assert_non_null(strstr(text_report(), "    In your code: collect\n"));
    exec("DELETE FROM rdd");
    assert_null(strstr(text_report(), "In your code"));
}

/* 900 ms of 100 s are less than one in a hundred: the rows of each form add up to the run with one for what is small. And the joint saving stands in each. */
static void says_in_every_form_what_the_others_say(void **state)
{
    enum report_format formats[] = {REPORT_TEXT, REPORT_MARKDOWN, REPORT_HTML};
    (void)state;
    exec("INSERT INTO account VALUES (0, 0, 'gc', 2000, 500), (0, 0, 'deser', 1600, 400)");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, UNEVEN_ARGS);
    add_finding("STAGE.GC_HIGH", "stage", "2.0", 0.5, 9000, 2, "{}");
    exec("INSERT INTO joint_price VALUES (1, 1, 10000), (2, 2, 15000)");
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
        const struct report_style style = {.format = formats[i]};
        buf_clear(&out);
        load();
        assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
        const char *step = strstr(out.data, "Do this first"), *evidence = strstr(out.data, "Evidence"), *how = step ? strstr(step, "data.repartition(") : NULL;
        const char *above = strstr(out.data, "As said above");
        if (!strstr(out.data, "2 smaller ones") || !strstr(out.data, "come to about 15.0 s together") || !strstr(out.data, "task 7: ran 5.0 s") ||
            !strstr(out.data, "In this order: ") || !(evidence && how && above && step < how && how < above && above < evidence))
            fail_msg("%s: %s", report_format_names[formats[i]], out.data);
    }
}

/* Where it was thrown stands in every form, escaped as each wants it. */
static void says_where_a_failure_was_thrown(void **state)
{
    enum report_format formats[] = {REPORT_TEXT, REPORT_MARKDOWN, REPORT_HTML, REPORT_JSON};
    const char *const said[] = {"    Comes from: a.py, line 3, in <lambda>: f(\"x\")\n", "**Comes from**: a.py, line 3, in \\<lambda\\>: f(\"x\")",
                                "<strong>Comes from</strong> <code>a.py, line 3, in &lt;lambda&gt;: f(&quot;x&quot;)</code>", "a.py, line 3, in <lambda>: f(\\\"x\\\")"};
    (void)state;
    add_finding("TASK.FAILURES", "stage", "1.0", 0.4, 2000, 2,
                "{\"s\":{\"v\":\"1.0\"},\"k\":{\"v\":2},\"n\":{\"v\":5},\"error\":{\"v\":\"E: m\"},\"origin\":{\"v\":\"a.py, line 3, in <lambda>: f(\\\"x\\\")\"}}");
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
        const struct report_style style = {.format = formats[i]};
        buf_clear(&out);
        load();
        assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
        if (!strstr(out.data, said[i]))
            fail_msg("%s: no %s", report_format_names[formats[i]], said[i]);
    }
}

/* Divided by next to nothing: the division says it all. */
static void leaves_out_the_result_of_a_division_by_nothing(void **state)
{
    (void)state;
    add_finding("STAGE.SKEW_DATA", "stage", "1.0", 11390100, 10000, 2, "{\"x\":{\"v\":11390100,\"u\":\"records\"},\"med\":{\"v\":0,\"u\":\"records\"}}");
    assert_non_null(strstr(text_report(), "Evidence: largest 11,390,100 records / median 0 records\n"));
    exec("UPDATE finding SET measure = 9999");
    assert_non_null(strstr(text_report(), "Evidence: largest 11,390,100 records / median 0 records = 9,999\n"));
}

static void names_operators_of_queries(void **state)
{
    (void)state;
    report_subject(&out, LANG_EN, STR_LIT("node"), STR_LIT("12/8"));
    buf_char(&out, ' ');
    report_subject(&out, LANG_ZH_CN, STR_LIT("node"), STR_LIT("12/8"));
    assert_string_equal(out.data, "operator 8 of query 12 查询 12 的算子 8");
}

/* Both of a run of 100 s: three quarters, and a fifth; the third is too small to be explained. */
static void explains_the_largest_parts_of_the_account(void **state)
{
    const struct report_style style = {.format = REPORT_MARKDOWN};
    (void)state;
    load();
    assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "there were at most 4. \"computing\" means tasks using a processor; \"starting up\" means before the first executor was there.\n"));
    assert_null(strstr(out.data, "last tasks\" means"));
}

static void puts_a_setting_behind_what_costs_time(void **state)
{
    (void)state;
    add_finding("SQL.AQE_OFF", "app", "-", 3, UNKNOWN, 2, "{\"n\":{\"v\":3,\"u\":\"count\"}}");
    assert_string_equal(verdict(LANG_EN),
                        "Largely healthy. Spark cut 3 shuffles (rows on their way between executors) into pieces beforehand and neither merged nor split them to fit their data, because adaptive execution is off.");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 900, 2, UNEVEN_ARGS);
    assert_non_null(strstr(verdict(LANG_EN), "could be saved. Run times in stage 1.0"));
}

/* Six rules, one of them about two stages: one sentence, three names, and how many more. */
static void names_further_causes_and_counts_the_rest(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 9000, 2, UNEVEN_ARGS);
    add_finding("STAGE.UNEVEN", "stage", "2.0", 2, 8000, 2, "{}");
    add_finding("APP.DRIVER_GAP", "app", "-", 0.5, 7000, 2, "{}");
    assert_non_null(strstr(verdict(LANG_EN), " Also: Idle while the driver works."));
    add_finding("STAGE.GC_HIGH", "stage", "3.0", 0.5, 6000, 2, "{}");
    add_finding("STAGE.DESER", "stage", "4.0", 0.5, 5500, 2, "{}");
    add_finding("STAGE.FETCH_WAIT", "stage", "5.0", 0.5, 4000, 2, "{}");
    add_finding("STAGE.TINY_TASKS", "stage", "6.0", 5, 3500, 2, "{}");
    assert_non_null(strstr(verdict(LANG_EN), " Also: Idle while the driver works, Much garbage collection (stage 3.0), Unpacking tasks and results (stage 4.0), and 2 more."));
    assert_non_null(strstr(verdict(LANG_ZH_CN), "（阶段 4.0），另有 2 项。"));
}

/* A list of notes stands below: they stand out, and need no change. */
static void does_not_deny_its_notes(void **state)
{
    (void)state;
    exec("UPDATE account SET wall_ms = CASE bucket WHEN 'startup' THEN 60000 ELSE 20000 END");
    add_job();
    add_finding("CONF.FAR", "app", "-", 3, UNKNOWN, 2, "{\"n\":{\"v\":3,\"u\":\"count\"}}");
    add_finding("STAGE.UNEVEN", "stage", "1.0", 0.4, 900, 2, UNEVEN_ARGS);
    assert_string_equal(verdict(LANG_EN), "Mostly waiting: 60 % of 1 m 40 s, mainly starting up (1 m 00 s). Nothing needs a change.");
    exec("UPDATE finding SET measure = 2 WHERE rule_id = 'STAGE.UNEVEN'");
    assert_non_null(strstr(verdict(LANG_EN), "(1 m 00 s). Run times in stage 1.0"));
}

static void does_not_judge_a_run_of_seconds(void **state)
{
    (void)state;
    exec("UPDATE analysis SET wall_ms = 9999");
    assert_string_equal(verdict(LANG_EN), "Too small to judge: the run took 10.0 s.");
}

static void has_no_report_before_the_run_was_judged(void **state)
{
    (void)state;
    exec("DELETE FROM analysis");
    assert_int_equal(report_load(&report, &db, NULL, &err), ERR_NOT_FOUND);
}

static void grades_with_the_thresholds_of_the_caller(void **state)
{
    struct ladder *ladders = malloc(rule_count * sizeof *ladders);
    const struct profile profile = {ladders};
    (void)state;
    assert_non_null(ladders);
    for (size_t i = 0; i < rule_count; i++) {
        ladders[i] = rules[i].ladder;
        if (strcmp(rules[i].id, "STAGE.UNEVEN") == 0)
            ladders[i] = (struct ladder){false, {5, 6, 7, 8}};
    }
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    add_finding("STAGE.GC_HIGH", "stage", "2.0", 0.2, 1500, 2, "{}");
    load();
    assert_int_equal(report.shown_count, 2 - (report.findings[1].grade == GRADE_OK));
    assert_string_equal(report.findings[0].finding.rule->id, "STAGE.UNEVEN");
    report_dispose(&report);
    assert_int_equal(report_load(&report, &db, &profile, &err), ERR_OK);
    for (size_t i = 0; i < report.finding_count; i++)
        if (strcmp(report.findings[i].finding.rule->id, "STAGE.UNEVEN") == 0) {
            assert_int_equal(report.findings[i].grade, GRADE_OK);
            assert_float_equal(report.findings[i].margin, 0.4, 1e-9);
            assert_float_equal(report.findings[i].finding.measure, 2, 0);
        }
    free(ladders);
}

static void shows_the_account_largest_first(void **state)
{
    const char *text;
    (void)state;
    text = text_report();
    assert_non_null(strstr(text, "computing                       1 m 15 s     75 %"));
    assert_true(strstr(text, "computing") < strstr(text, "starting up"));
    assert_true(strstr(text, "starting up") < strstr(text, "waiting for the last tasks"));
}

static void leaves_out_of_evidence_what_did_not_happen(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    assert_non_null(strstr(text_report(), "task 7: ran 5.0 s\n"));
}

static void keeps_lines_within_the_width(void **state)
{
    enum lang langs[] = {LANG_EN, LANG_ZH_CN};
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    add_finding("STAGE.GC_HIGH", "stage", "1.0", 0.5, 9000, 2, "{}");
    for (size_t i = 0; i < ARRAY_LENGTH(langs); i++) {
        const struct report_style style = {.format = REPORT_TEXT, .lang = langs[i]};
        buf_clear(&out);
        load();
        assert_int_equal(report_write(&report, &style, &out, &err), ERR_OK);
        for (const char *p = out.data; *p;) {
            size_t len = strcspn(p, "\n"), columns = 0;
            for (size_t at = 0; at < len; at++) /* a character of three bytes is a wide one or a piece of a bar, whose rows are short */
                columns += ((unsigned char)p[at] & 0xC0) != 0x80 ? ((unsigned char)p[at] >= 0xE3 ? 2 : 1) : 0;
            if (columns > 96 && p[0] == ' ' && p[7] != ' ')
                fail_msg("%zu columns: %.*s", columns, (int)len, p);
            p += len + (p[len] == '\n');
        }
    }
}

static void survives_broken_json_and_unknown_rules(void **state)
{
    (void)state;
    add_finding("STAGE.UNEVEN", "stage", "1.0", 2, 10000, 2, "{}");
    add_finding("NO.SUCH_RULE", "stage", "1.0", 2, 10000, 2, "{}");
    exec("UPDATE finding SET args = '{{', evidence = 'x', measures = '[1,2'");
    text_report();
    assert_int_equal(report.finding_count, 1);
}

static void says_why_a_page_is_empty(void **state)
{
    (void)state;
    assert_int_equal(verdict_empty(&db, EMPTY_SQL, LANG_EN, &out, &err), ERR_OK);
    assert_string_equal(out.data, "No query ran, and no job either.");
    exec("INSERT INTO job (job_id, status, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, "
         "completed_stages, skipped_stages, failed_stages) VALUES (0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");
    buf_clear(&out);
    assert_int_equal(verdict_empty(&db, EMPTY_SQL, LANG_EN, &out, &err), ERR_OK);
    assert_string_equal(out.data, "The application used RDDs only; look at jobs and stages.");
    buf_clear(&out);
    assert_int_equal(verdict_empty(&db, EMPTY_STORAGE, LANG_EN, &out, &err), ERR_OK);
    assert_non_null(strstr(out.data, "Nothing was persisted"));
    buf_clear(&out);
    assert_int_equal(verdict_empty(&db, EMPTY_STREAMING, LANG_ZH_CN, &out, &err), ERR_OK);
    assert_string_equal(out.data, "没有运行结构化流查询。");
    exec("UPDATE log_health SET complete = 0; UPDATE analysis SET completeness = 90, end_ms = 1700000000000");
    buf_clear(&out);
    assert_int_equal(verdict_empty(&db, EMPTY_SQL, LANG_EN, &out, &err), ERR_OK);
    assert_string_equal(out.data, "The application used RDDs only; look at jobs and stages. The log stops at 2023-11-14 22:13:20; later data is missing.");
    exec("UPDATE log_health SET complete = 1; UPDATE analysis SET completeness = 100");
    exec("UPDATE application SET spark_version = '1.6.3'");
    buf_clear(&out);
    assert_int_equal(verdict_empty(&db, EMPTY_SQL, LANG_EN, &out, &err), ERR_OK);
    assert_string_equal(out.data, "This version of Spark writes no SQL events.");
    for (int page = 0; page < EMPTY_PAGE_COUNT; page++)
        assert_int_equal(verdict_empty(&db, (enum empty_page)page, LANG_EN, &out, &err), ERR_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(says_that_a_healthy_run_is_healthy_and_what_came_nearest),
        TEST(a_healthy_verdict_does_not_contradict_the_savings_listed_below),
        TEST(a_run_without_an_end_is_abandoned_after_a_week),
        TEST(a_failure_is_listed_once),
        TEST(what_ended_of_the_drivers_memory_is_listed_with_it),
        TEST(of_two_cures_for_one_number_one_is_enough),
        TEST(the_users_line_is_found_behind_sparks_own),
        TEST(names_the_first_finding_and_what_the_first_few_save),
        TEST(shows_evidence_that_is_nothing_but_a_name),
        TEST(says_how_a_measure_came_about_in_both_languages),
        TEST(says_a_regression_once),
        TEST(says_possibly_where_it_is_not_sure),
        TEST(does_not_call_healthy_what_could_be_much_shorter),
        TEST(advises_by_the_cause),
        TEST(says_what_to_do_about_small_ones),
        TEST(does_not_speak_of_savings_of_nothing),
        TEST(what_is_beyond_its_limit_is_not_near_it),
        TEST(gives_the_filter_of_its_tasks),
        TEST(says_that_a_run_failed_and_why),
        TEST(says_why_a_job_went_down_with_its_application),
        TEST(tells_a_cancelled_job_as_that),
        TEST(says_what_to_do_first_where_and_what_it_saves),
        TEST(says_that_nothing_is_to_be_done),
        TEST(of_a_shell_only_what_is_worth_it_is_to_be_done),
        TEST(of_an_abandoned_run_its_end_comes_first),
        TEST(of_a_failed_run_the_failure_comes_first),
        TEST(of_a_log_that_lacks_much_and_shows_nothing_else_that_comes_first),
        TEST(says_what_an_incomplete_log_lacks),
        TEST(says_that_waiting_was_most_of_it),
        TEST(names_the_cause_before_what_it_leads_to),
        TEST(tells_what_is_usual_last),
        TEST(puts_the_gaps_of_a_shell_behind_what_can_be_changed),
        TEST(names_what_saves),
        TEST(does_not_begin_with_the_usual_start_of_a_short_run),
        TEST(begins_the_list_with_what_the_verdict_names),
        TEST(puts_a_failure_before_waiting),
        TEST(tells_different_errors_apart),
        TEST(tells_a_failed_statement_of_a_server),
        TEST(says_which_code_a_subject_comes_from),
        TEST(says_in_every_form_what_the_others_say),
        TEST(says_where_a_failure_was_thrown),
        TEST(leaves_out_the_result_of_a_division_by_nothing),
        TEST(names_operators_of_queries),
        TEST(explains_the_largest_parts_of_the_account),
        TEST(puts_a_setting_behind_what_costs_time),
        TEST(names_further_causes_and_counts_the_rest),
        TEST(does_not_deny_its_notes),
        TEST(does_not_judge_a_run_of_seconds),
        TEST(has_no_report_before_the_run_was_judged),
        TEST(grades_with_the_thresholds_of_the_caller),
        TEST(shows_the_account_largest_first),
        TEST(leaves_out_of_evidence_what_did_not_happen),
        TEST(keeps_lines_within_the_width),
        TEST(survives_broken_json_and_unknown_rules),
        TEST(says_why_a_page_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
