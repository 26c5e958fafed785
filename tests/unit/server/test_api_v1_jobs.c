/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

#define INTO_JOB \
    "INSERT INTO job (job_id, name, description, job_group, tags, sql_execution_id, submission_ms, completion_ms, status, failure_text_id, start_seen, num_tasks, active_tasks, " \
    "completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, completed_stages, skipped_stages, failed_stages) VALUES "

static int make_jobs(void **state)
{
    make_store(state);
    add_app("a");
    /* Job 1: all that a job can have. Job 2: nothing but its start. Job 3: only its end was read. */
    app_sql("a", "INSERT INTO text VALUES (1, 'Stage cancelled');"
                 INTO_JOB "(1, 'count', 'a \"b\"', 'g', 'x,y', 7, 1000, 2000, 2, NULL, 1, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);"
                 INTO_JOB "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
                 INTO_JOB "(3, NULL, NULL, NULL, NULL, NULL, NULL, 2500, 1, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
                 "INSERT INTO job_stage VALUES (1, 0, 5, 0, 1, 0), (1, 1, 4, 1, 0, 3);"
                 "INSERT INTO kill_reason (owner_kind, owner, reason_text_id, task_count) VALUES (0, 1, 1, 5), (1, 1, 1, 99);");
    return 0;
}

static void a_job_has_sparks_fields(void **state)
{
    (void)state;
    assert_answer("/api/v1/applications/a/jobs/1",
                  "{\"jobId\":1,\"name\":\"count\",\"description\":\"a"
                  " \\\"b\\\"\",\"submissionTime\":\"1970-01-01T00:00:01.000GMT\",\"completionTime\":\"1970-01-01T00:00:02.000GMT\","
                  "\"stageIds\":[5,4],\"jobGroup\":\"g\",\"jobTags\":[\"x\",\"y\"],\"status\":\"FAILED\",\"numTasks\":10,\"numActiveTasks\":1,\"numCompletedTasks\":2,"
                  "\"numSkippedTasks\":3,\"numFailedTasks\":4,\"numKilledTasks\":5,\"numCompletedIndices\":6,\"numActiveStages\":7,\"numCompletedStages\":8,"
                  "\"numSkippedStages\":9,\"numFailedStages\":10,\"killedTasksSummary\":{\"Stage cancelled\":5}}");
    assert_answer("/api/v1/applications/a/jobs/2",
                  "{\"jobId\":2,\"name\":\"\",\"stageIds\":[],\"jobTags\":[],\"status\":\"RUNNING\",\"numTasks\":0,\"numActiveTasks\":0,\"numCompletedTasks\":0,"
                  "\"numSkippedTasks\":0,\"numFailedTasks\":0,\"numKilledTasks\":0,\"numCompletedIndices\":0,\"numActiveStages\":0,\"numCompletedStages\":0,"
                  "\"numSkippedStages\":0,\"numFailedStages\":0,\"killedTasksSummary\":{}}");
}

static void jobs_come_newest_first_and_by_status(void **state)
{
    (void)state;
    assert_column("/api/v1/applications/a/jobs", "jobId", "[2,1]");
    assert_column("/api/v1/applications/a/jobs?status=running&status=succeeded", "jobId", "[2]");
    assert_column("/api/v1/applications/a/jobs?status=FAILED", "jobId", "[1]");
    assert_answer("/api/v1/applications/a/jobs?status=unknown", "[]");
    assert_answer("/api/v1/applications/a/jobs?status=", "[]");
    assert_page_not_found("/api/v1/applications/a/jobs?status=bogus");
    assert_refused("/api/v1/applications/a/jobs/999999", 404, "unknown job: 999999");
    assert_refused("/api/v1/applications/a/jobs/3", 404, "unknown job: 3");
}

/* app-20261129213331-0000 of ../shared, job 1: a task was killed behind the end of its job, another never ended. */
static void counts_stop_at_the_end_of_the_job(void **state)
{
    (void)state;
    app_sql("a", "UPDATE job SET late_active_tasks = -1, late_completed_tasks = 1, late_failed_tasks = 2, late_killed_tasks = 5, late_completed_indices = 3, "
                 "active_stages = 1, late_active_stages = -1, completed_stages = 4, late_completed_stages = 1, failed_stages = 5, late_failed_stages = 3 WHERE job_id = 1;"
                 "UPDATE kill_reason SET late_count = 5 WHERE owner_kind = 0; INSERT INTO text VALUES (2, 'another attempt succeeded');"
                 "INSERT INTO kill_reason VALUES (0, 1, 2, 3, 1)");
    assert_value("/api/v1/applications/a/jobs/1", "numActiveTasks", "2");
    assert_value("/api/v1/applications/a/jobs/1", "numCompletedTasks", "1");
    assert_value("/api/v1/applications/a/jobs/1", "numFailedTasks", "2");
    assert_value("/api/v1/applications/a/jobs/1", "numKilledTasks", "0");
    assert_value("/api/v1/applications/a/jobs/1", "numCompletedIndices", "3");
    assert_value("/api/v1/applications/a/jobs/1", "numActiveStages", "2");
    assert_value("/api/v1/applications/a/jobs/1", "numCompletedStages", "3");
    assert_value("/api/v1/applications/a/jobs/1", "numFailedStages", "2");
    assert_value("/api/v1/applications/a/jobs/1", "killedTasksSummary", "{\"another attempt succeeded\":2}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILLED_STORE_TEST(a_job_has_sparks_fields, make_jobs),
        FILLED_STORE_TEST(jobs_come_newest_first_and_by_status, make_jobs),
        FILLED_STORE_TEST(counts_stop_at_the_end_of_the_job, make_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
