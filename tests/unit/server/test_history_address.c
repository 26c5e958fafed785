/* SPDX-License-Identifier: Apache-2.0 */
#include "server/history_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

/* Every row of spec/files.md §6.2, then the parameters. */
static const struct {
    const char *address, *wanted;
} rows[] = {
    {"/", ""},
    {"/jobs/", "jobs"},
    {"/jobs", "jobs"},
    {"/jobs/json", "jobs"},
    {"/jobs/job/?id=7", "jobs/7"},
    {"/jobs/job?id=7", "jobs/7"},
    {"/jobs/job/?id=7&completedStage.page=2", "jobs/7?status=complete&page=2"},
    {"/jobs/job/?id=7&failedStage.sort=Shuffle%20Read&failedStage.desc=true&failedStage.pageSize=20", "jobs/7?status=failed&sort=-shuffleRead&limit=20"},
    {"/stages/", "stages"},
    {"/stages/stage/?id=3&attempt=1", "stages/3.1"},
    {"/stages/stage/?id=3", "stages/3.0"},
    {"/stages/pool/?poolname=x", "stages"},
    {"/storage/", "storage"},
    {"/storage/rdd/?id=5&block.page=2", "storage/5?page=2"},
    {"/environment/", "env"},
    {"/executors/", "executors"},
    {"/executors/threadDump/?executorId=1", "executors?exec=1"},
    {"/executors/threadDump/", "executors"},
    {"/executors/heapHistogram/?executorId=driver", "executors?exec=driver"},
    {"/stages/taskThreadDump/?executorId=1&taskId=2", "executors?exec=1"},
    {"/SQL/", "sql"},
    {"/SQL/execution/?id=1", "sql/1"},
    {"/SQL/execution?id=1", "sql/1"},
    {"/SQL/execution/?id=x", "sql"},
    {"/StreamingQuery/", "streaming"},
    {"/StreamingQuery/statistics/?id=00000000-0000-0000-0000-000000000000", "streaming/00000000-0000-0000-0000-000000000000"},
    {"/StreamingQuery/statistics?id=a%2Fb%20%3Cc%3E", "streaming/a%2Fb%20%3Cc%3E"},
    {"/StreamingQuery/statistics/", "streaming"},
    {"/sqlserver/", "sessions"},
    {"/sqlserver/session/?id=x", "sessions/x"},
    {"/connect/", "sessions"},
    {"/connect/session/?id=x", "sessions/x"},
    {"/connect/session/?id=..", "sessions"},
    {"/connect/session/?id=%252e%252e", "sessions"},
    {"/connect/session/?id=%0d%0aX", "sessions/%0D%0AX"},
    {"/connect/session/", "sessions"},
    {"/streaming/", "dstreams"},
    {"/streaming/batch/?id=1767225600000", "dstreams?batch=1767225600000"},
    {"/streaming/batch?id=1%26q%3D2", "dstreams?batch=1%26q%3D2"},
    {"/logs/", ""},
    {"/nothing/like/this", ""},
    /* numbers */
    {"/jobs/job/", "jobs"},
    {"/jobs/job/?id=x", "jobs"},
    {"/jobs/job/?id=-1", "jobs"},
    {"/jobs/job/?id=2147483647", "jobs/2147483647"},
    {"/jobs/job/?id=2147483648", "jobs"},
    {"/stages/stage/?id=%2533", "stages/3.0"},                                   /* encoded once more by a proxy */
    {"/stages/stage/?id=..%2F..%2Fx&attempt=%0d%0aX", "stages"},
    {"/stages/stage/?id=1&attempt=%0d%0aX", "stages/1.0"},
    /* tables */
    {"/jobs/?completedJob.page=3&completedJob.sort=Duration&completedJob.desc=true&completedJob.pageSize=20", "jobs?status=succeeded&sort=-duration&page=3&limit=20"},
    {"/jobs/?failedJob.sort=Description&failedJob.desc=false", "jobs?status=failed&sort=name"},
    {"/jobs/?activeJob.sort=Job+Id", "jobs?status=running&sort=-id"},
    {"/jobs/?completedJob.sort=Job+Id+%28Job+Group%29&completedJob.desc=false", "jobs?status=succeeded&sort=id"},
    {"/jobs/?completedJob.pageSize=100000&completedJob.page=1", "jobs?status=succeeded&limit=1000"},
    {"/jobs/?completedJob.page=0&completedJob.pageSize=x&completedJob.sort=%3Cscript%3E", "jobs?status=succeeded"},
    {"/jobs/?other.page=2", "jobs"},
    {"/stages/?completedStage.sort=Shuffle%2520Read&completedStage.desc=true", "stages?status=complete&sort=-shuffleRead"},
    {"/stages/?pendingStage.page=2", "stages?status=pending&page=2"},
    {"/stages/?skippedStage.page=2", "stages?status=skipped&page=2"},
    {"/stages/?failedStage.sort=Input&failedStage.desc=false", "stages?status=failed&sort=input"},
    {"/stages/?activeStage.sort=Stage+Id", "stages?status=active&sort=-id"},
    {"/stages/stage/?id=3&attempt=0&task.sort=Duration&task.desc=true&task.pageSize=50", "stages/3.0?sort=-durationMs&limit=50"},
    {"/stages/stage/?id=3&attempt=0&task.sort=Index", "stages/3.0?sort=index"},
    {"/stages/stage/?id=3&attempt=0&task.sort=GC+Time&task.desc=true&task.eventTimelinePageNumber=2", "stages/3.0?sort=-jvmGcTimeMs"},
    {"/stages/stage/?id=3&attempt=0&task.sort=Input+Size+%2F+Records&task.page=4", "stages/3.0?sort=inputBytes&page=4"},
    {"/storage/rdd/?id=5&block.sort=Block+Name", "storage/5?sort=-name"},
    {"/storage/rdd/?id=5&block.sort=Size+in+Memory&block.desc=true&block.pageSize=20", "storage/5?sort=-memory&limit=20"},
    {"/storage/rdd/?id=x&block.page=2", "storage"},
    {"/SQL/?completed.sort=Duration&completed.desc=true&completed.page=2", "sql?status=completed&sort=-duration&page=2"},
    {"/SQL/?failed.sort=ID", "sql?status=failed&sort=-id"},
    {"/SQL/?running.sort=Submitted", "sql?status=running&sort=submission"},
    {"/StreamingQuery/?completed.sort=Avg+Input+%2Fsec&completed.desc=true", "streaming?sort=-inputRate"},
    {"/StreamingQuery/?active.sort=Start+Time", "streaming?sort=-start"},
    {"/sqlserver/?sqlstat.sort=Execution+Time&sqlstat.desc=true&sqlstat.page=3", "sessions?sort=-executionTime&page=3"},
    {"/sqlserver/?sessionstat.sort=Total+Execute&sessionstat.desc=true&sessionstat.page=3", "sessions?sessionssort=-operations&sessionspage=3"},
    {"/sqlserver/session/?id=a&sqlsessionstat.sort=State", "sessions/a?sort=state"},
};

static void every_page_leads_to_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct arena arena;
        struct request request = {.arena = &arena};
        struct buf out;
        arena_init(&arena, 1 << 16);
        buf_init(&out, HISTORY_ADDRESS_BYTES);
        assert_int_equal(request_parse(&request, str_of(rows[i].address), STR_LIT(""), NULL), ERR_OK);
        history_page(request.path, &request, &out);
        assert_false(buf_failed(&out));
        if (!str_is(buf_str(&out), rows[i].wanted))
            fail_msg("%s leads to %s, not to %s", rows[i].address, out.data ? out.data : "", rows[i].wanted);
        buf_dispose(&out);
        arena_dispose(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_page_leads_to_ours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
