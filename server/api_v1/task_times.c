/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/task_times.h"

#include "base/mem.h"
#include "base/time.h"
#include "server/api_v1/tasks.h"

int64_t v1_getting_result_time_ms(int64_t launch_ms, int64_t end_ms, int64_t fetch_ms, int64_t now_ms)
{
    int64_t duration_ms = elapsed_known(launch_ms, end_ms);
    return known_or(task_getting_result_time_ms(known(duration_ms) && duration_ms > 0 ? end_ms : now_ms, fetch_ms), 0);
}

struct columns_of_times {
    const int64_t *launch, *finish, *fetch;
    int64_t end_ms;                  /* of tasks without one */
};

static enum err_code times_open(struct columns_of_times *self, struct db *db, struct task_columns *columns, struct err *err)
{
    enum err_code rc;
    if ((rc = v1_end_of_open_tasks(db, &self->end_ms, err)) || (rc = task_columns_get(columns, "launch_ms", &self->launch, err)) ||
        (rc = task_columns_get(columns, "finish_ms", &self->finish, err)))
        return rc;
    return task_columns_get(columns, "getting_result_ms", &self->fetch, err);
}

static void times_forget(struct task_columns *columns)
{
    task_columns_forget(columns, "launch_ms");
    task_columns_forget(columns, "finish_ms");
    task_columns_forget(columns, "getting_result_ms");
}

enum err_code v1_getting_result_times(struct db *db, struct task_columns *columns, int64_t **ret, struct err *err)
{
    struct columns_of_times in;
    enum err_code rc = times_open(&in, db, columns, err);
    if (rc)
        return rc;
    size_t count = task_columns_count(columns);
    int64_t now_ms = time_now_ms(), *times = mem_alloc((count ? count : 1) * sizeof *times);
    if (!times)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        times[i] = v1_getting_result_time_ms(in.launch[i], known_or(in.finish[i], in.end_ms), in.fetch[i], now_ms);
    times_forget(columns);
    *ret = times;
    return ERR_OK;
}

enum err_code v1_scheduler_delays(struct db *db, struct task_columns *columns, int64_t **ret, struct err *err)
{
    struct columns_of_times in;
    const int64_t *run, *deserialize, *serialize;
    enum err_code rc;
    if ((rc = times_open(&in, db, columns, err)) || (rc = task_columns_get(columns, "executor_run_time_ms", &run, err)) ||
        (rc = task_columns_get(columns, "executor_deserialize_time_ms", &deserialize, err)) || (rc = task_columns_get(columns, "result_serialization_time_ms", &serialize, err)))
        return rc;
    size_t count = task_columns_count(columns);
    int64_t *delays = mem_alloc((count ? count : 1) * sizeof *delays);
    if (!delays)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        delays[i] = known_or(task_scheduler_delay_ms(known_or(in.finish[i], in.end_ms), in.launch[i], in.fetch[i], run[i], deserialize[i], serialize[i]), 0);
    times_forget(columns);
    task_columns_forget(columns, "executor_run_time_ms");
    task_columns_forget(columns, "executor_deserialize_time_ms");
    task_columns_forget(columns, "result_serialization_time_ms");
    *ret = delays;
    return ERR_OK;
}
