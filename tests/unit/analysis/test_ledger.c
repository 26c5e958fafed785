/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures by what they say and the ledger of lost work (spec/findings.md 10.1); what adaptive execution changed (10.3). */
#include "analysed_app.h"

#include "analysis/failure_signature.h"
#include "analysis/ledger.h"

static void exit_codes_are_read_and_explained(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(STR_LIT("Container marked as failed. Exit status: 143. Diagnostics")), 143);
    assert_int_equal(exit_code_of(STR_LIT("Command exited with code 52")), 52);
    assert_int_equal(exit_code_of(STR_LIT("exitCode=-104, killed")), -104);
    assert_int_equal(exit_code_of(STR_LIT("Remote RPC client disassociated")), UNKNOWN);
    assert_int_equal(exit_code_of(STR_LIT("exit code: none, then exit code 7")), 7);
    assert_int_equal(exit_code_of(STR_NONE), UNKNOWN);
    assert_string_equal(exit_code_meaning(52), "out of memory");
    assert_string_equal(exit_code_meaning(137), "killed (137)");
    assert_null(exit_code_meaning(1));
}

static void a_fetch_failure_names_its_executor(void **state)
{
    (void)state;
    struct str host;
    assert_true(str_is(fetched_from(STR_LIT("FetchFailed(BlockManagerId(3, host, 7337, None), shuffleId=0"), &host), "3"));
    assert_true(str_is(host, "host"));
    assert_false(str_known(fetched_from(STR_LIT("FetchFailed(null, shuffleId=0"), &host)));
    assert_false(str_known(host));
    assert_true(str_is(fetched_from(STR_LIT("BlockManagerId("), &host), ""));
    assert_false(str_known(host));
    assert_true(str_is(fetched_from(STR_LIT("BlockManagerId(3, "), &host), "3"));
    assert_true(str_is(host, ""));
}

/* Executors 2 and 3 are on machine m, which goes at 20 s; the log tells the end of 3 alone. A fetch from 2 fails at 23 s after 2 s: the machine's doing. One from another machine is not. */
static void a_machine_takes_all_its_executors_along(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, UNKNOWN);
    add_executor(3, "3", 2, T0, T0 + 20000);
    app_sql("UPDATE executor SET host = 'm', remove_reason = 'worker lost' WHERE executor_ref > 1");
    app_sql("INSERT INTO text VALUES (1, 'FetchFailed(BlockManagerId(2, m, 1, None), shuffleId=0)'), (2, 'FetchFailed(BlockManagerId(2, other, 1, None), shuffleId=0)')");
    run_stage(0, 1, 2, 4000, UNKNOWN);
    for (int64_t i = 0; i < 2; i++) {
        struct task_cells *task = add_task(0, next_task++, 2 + i, 1, T0 + 21000, T0 + 23000);
        fail_task(task, REASON_FETCH);
        task->error_text_id = 1 + i;
    }
    app_sql("UPDATE stage SET num_tasks = 4, completion_ms = %lld", (long long)T0 + 40000);
    analyse_app();
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'removal' AND executor_ref = 3"), 2000.0);
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'fetch'"), 2000.0);
    /* It ended without an exit code, and was lost all the same. */
    assert_near(number_of("SELECT executors FROM failure_signature WHERE signature = 'worker lost'"), 1.0);
}

/* Executor 2 goes at 20 s with a running task of 4 s; its output of 6 s is made again; a fetch of it fails after 2 s, a fetch of a living one after 1 s. Two tasks throw the same but for a
 * number, 3 s each. A copy loses 5 s. */
static void each_lost_attempt_has_one_cause(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 20000);
    app_sql("UPDATE executor SET remove_reason = 'Command exited with code 137' WHERE executor_ref = 2");
    app_sql("INSERT INTO text VALUES (1, 'FetchFailed(BlockManagerId(2, h, 1, None), shuffleId=0, mapIndex=1)'), (2, 'FetchFailed(BlockManagerId(1, h, 1, None), shuffleId=0)'),"
            " (3, 'org.x.RowException: row 5 is bad'), (4, 'org.x.RowException: row 6 is bad'), (5, 'ExecutorLostFailure (executor 2 exited) Reason: exit code 137')");
    run_stage(0, 1, 2, 4000, UNKNOWN);
    const struct {
        int64_t index, executor, begin_s, ms, reason, text;
    } lost[] = {{2, 2, 16, 4000, REASON_LOST, 5},
                {3, 1, 21, 2000, REASON_FETCH, 1},
                {4, 1, 24, 1000, REASON_FETCH, 2},
                {5, 1, 26, 3000, REASON_EXCEPTION, 3},
                {6, 1, 30, 3000, REASON_EXCEPTION, 4}};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        struct task_cells *task = add_task(0, next_task++, lost[i].index, lost[i].executor, T0 + lost[i].begin_s * 1000, T0 + lost[i].begin_s * 1000 + lost[i].ms);
        fail_task(task, lost[i].reason);
        task->error_text_id = lost[i].text;
        task->input_bytes = 1000;
    }
    app_sql("UPDATE stage SET num_tasks = 7, completion_ms = %lld", (long long)T0 + 40000);
    analyse_app();
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'removal' AND executor_ref = 2"), 6000.0);
    assert_near(number_of("SELECT attempts FROM lost_cause WHERE cause = 'removal'"), 2.0);
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'fetch'"), 1000.0);
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'exception'"), 6000.0);
    assert_near(number_of("SELECT count(*) FROM lost_cause"), 3.0);
    assert_near(number_of("SELECT sum(slot_ms) FROM lost_work"), number_of("SELECT slot_ms FROM account WHERE scope = 0 AND bucket = 'lost'"));
    assert_near(number_of("SELECT sum(read_bytes) FROM lost_work"), 5000.0);
    /* What was first comes first, and the exceptions are one. */
    assert_near(number_of("SELECT failure_no FROM failure_signature WHERE kind = 'other' AND tasks = 2 AND first_key = '5'"),
                number_of("SELECT failure_no FROM lost_cause WHERE cause = 'exception'"));
    assert_near(number_of("SELECT tasks + executors FROM failure_signature WHERE failure_no = 1"), 1.0);
    assert_near(number_of("SELECT exit_code FROM failure_signature WHERE failure_no = 1"), 137.0);
    assert_near(number_of("SELECT sum(executors) FROM failure_signature WHERE exit_meaning = 'killed (137)'"), 1.0);
}

/* A hostile log; the rest of the run is judged all the same. */
static void a_lost_task_may_name_no_executor(void **state)
{
    (void)state;
    run_stage(0, 1, 2, 4000, UNKNOWN);
    fail_task(add_task(0, next_task++, 0, UNKNOWN, T0 + 1000, T0 + 4000), REASON_EXCEPTION);
    analyse_app();
    assert_near(number_of("SELECT slot_ms FROM lost_work WHERE executor_ref IS NULL"), 3000.0);
}

/* One of two executors goes while a job runs (1 s to 9 s): with nothing on it that is a word, with a running task it is a tenth of all and more. */
static void a_lost_executor_is_as_grave_as_what_it_took_along(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 8500);
    app_sql("UPDATE executor SET remove_reason = 'Command exited with code 137' WHERE executor_ref = 2");
    run_stage(0, 1, 4, 4000, UNKNOWN);
    analyse_app();
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'EXEC.LOST'"), (double)GRADE_LOW);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'EXEC.LOST'"), (double)GRADE_OK);
    assert_string_equal(text_of("SELECT args ->> '$.reason.v' FROM finding WHERE rule_id = 'EXEC.LOST'"), "killed (137)");
    app_sql("DELETE FROM task_column");
    app_sql("UPDATE executor SET remove_reason = 'Gone with the wind' || char(10) || 'at x' WHERE executor_ref = 2"); /* for which there is no code: its first line is quoted */
    fail_task(add_task(0, next_task++, 4, 2, T0 + 4500, T0 + 8500), REASON_LOST);
    analyse_app();
    assert_string_equal(text_of("SELECT args ->> '$.reason.v' FROM finding WHERE rule_id = 'EXEC.LOST'"), "Gone with the wind");
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'EXEC.LOST'"), (double)GRADE_SEVERE);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'EXEC.LOST'"), (double)GRADE_SEVERE);
}

static void a_sound_run_has_an_empty_ledger(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, UNKNOWN);
    analyse_app();
    assert_near(number_of("SELECT (SELECT count(*) FROM lost_cause) + (SELECT count(*) FROM lost_work) + (SELECT count(*) FROM failure_signature)"), 0.0);
}

/* What succeeded in a job that failed: 4 × 4 s. */
static void work_of_failed_jobs_is_a_memo(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, UNKNOWN);
    app_sql("UPDATE job SET status = 2");
    analyse_app();
    assert_near(number_of("SELECT slot_ms FROM lost_cause WHERE cause = 'failed jobs'"), 16000.0);
}

/* ---- adaptive execution */

static int64_t next_id;

static void version(int64_t plan, int64_t number)
{
    app_sql("INSERT INTO sql_plan VALUES (%lld, 0, %lld, NULL, %lld, 0, %lld, 0)", (long long)plan, (long long)number, (long long)plan, (long long)T0 + number * 1000);
}

static void node(int64_t plan, int64_t id, int64_t parent, const char *name, const char *text, const char *accumulators)
{
    app_sql("INSERT INTO text VALUES (%lld, '%s')", (long long)++next_id + 100, text);
    app_sql("INSERT INTO sql_node VALUES (%lld, %lld, 0, NULL, '%s', %lld, NULL, '%s')", (long long)plan, (long long)id, name, (long long)next_id + 100, accumulators);
    if (parent >= 0)
        app_sql("INSERT INTO sql_edge SELECT %lld, count(*), %lld, %lld FROM sql_edge WHERE plan_id = %lld", (long long)plan, (long long)id, (long long)parent, (long long)plan);
}

/* A sort-merge join becomes a broadcast one whose large side is read where it was written; a second shuffle is merged from 16 to 3 partitions. */
static void changes_from_version_to_version(void **state)
{
    (void)state;
    next_id = 0;
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, status, start_seen, end_seen, plan_id) VALUES (0, 0, %lld, 1, 1, 1, 2)", (long long)T0);
    run_stage(0, 1, 4, 4000, 0);
    run_stage(1, 0, 1, 400, 0); /* before the update */
    app_sql("UPDATE job SET submission_ms = submission_ms + 1250 WHERE job_id = 0");
    static const char join[] = "SortMergeJoin [a#1], [b#2], Inner", broadcast[] = "BroadcastHashJoin [a#1], [b#2], Inner, BuildRight, false";
    version(1, 0);
    node(1, 0, -1, "SortMergeJoin", join, "");
    node(1, 1, 0, "Exchange", "Exchange hashpartitioning(a#1, 16), ENSURE_REQUIREMENTS, [plan_id=5]", "");
    node(1, 2, 0, "Exchange", "Exchange hashpartitioning(b#2, 16), ENSURE_REQUIREMENTS, [plan_id=6]", "");
    version(2, 1);
    node(2, 0, -1, "BroadcastHashJoin", broadcast, "");
    node(2, 1, 0, "AQEShuffleRead", "AQEShuffleRead local", "");
    node(2, 2, 1, "Exchange", "Exchange hashpartitioning(a#1, 16), ENSURE_REQUIREMENTS, [plan_id=25]", "50 51");
    node(2, 3, 0, "AQEShuffleRead", "AQEShuffleRead coalesced", "52");
    node(2, 4, 3, "Exchange", "Exchange hashpartitioning(b#2, 16), ENSURE_REQUIREMENTS, [plan_id=26]", "53 54");
    app_sql(
        "INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, reported_count, total) VALUES (0, 50, 'shuffle bytes written', 'size', 1, 777), (0, 51, 'records read', 'sum',"
        " 1, 5), (0, 52, 'number of partitions', 'sum', 1, 3), (0, 53, 'number of partitions', 'sum', 1, 16), (0, 54, 'records read', 'sum', 1, 5)");
    app_sql("INSERT INTO stage_accumulable (stage_ref, ordinal, accumulable_id, internal, metadata) VALUES (0, 0, 54, 0, 'sql')");
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM aqe_change"), 3.0);
    assert_string_equal(text_of("SELECT before || ' > ' || after FROM aqe_change WHERE kind = 'join'"), "SortMergeJoin > BroadcastHashJoin");
    assert_near(number_of("SELECT shuffle_bytes FROM aqe_change WHERE kind = 'local read'"), 777.0);
    assert_near(number_of("SELECT partitions_before FROM aqe_change WHERE kind = 'coalesced'"), 16.0);
    assert_near(number_of("SELECT partitions_after FROM aqe_change WHERE kind = 'coalesced'"), 3.0);
    assert_near(number_of("SELECT stage_ref FROM aqe_change WHERE kind = 'coalesced'"), 0.0);
    assert_near(number_of("SELECT logged_ms FROM aqe_change WHERE kind = 'join'"), (double)(T0 + 1000));
    assert_near(number_of("SELECT min(replanning_ms) + max(replanning_ms) FROM aqe_change"), 2 * 1250.0); /* the next job began 1.25 s after the update */
}

static void equal_versions_change_nothing(void **state)
{
    (void)state;
    next_id = 0;
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, status, start_seen, end_seen, plan_id) VALUES (0, 0, %lld, 1, 1, 1, 2)", (long long)T0);
    for (int64_t plan = 1; plan <= 2; plan++) {
        version(plan, plan - 1);
        node(plan, 0, -1, "SortMergeJoin", "SortMergeJoin [a#1], [b#2], Inner", "");
        node(plan, 1, 0, "AQEShuffleRead", "AQEShuffleRead coalesced", "");
        node(plan, 2, 1, "Exchange", plan == 1 ? "Exchange hashpartitioning(a#1, 16), [plan_id=5]" : "Exchange hashpartitioning(a#1, 16), [plan_id=9]", "");
        node(plan, 3, 0, "EmptyRelation", "EmptyRelation", "");
    }
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM aqe_change"), 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_read_and_explained),
        cmocka_unit_test(a_fetch_failure_names_its_executor),
        TEST(a_machine_takes_all_its_executors_along),
        TEST(each_lost_attempt_has_one_cause),
        TEST(a_lost_task_may_name_no_executor),
        TEST(a_lost_executor_is_as_grave_as_what_it_took_along),
        TEST(a_sound_run_has_an_empty_ledger),
        TEST(work_of_failed_jobs_is_a_memo),
        TEST(changes_from_version_to_version),
        TEST(equal_versions_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
