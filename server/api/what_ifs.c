/* SPDX-License-Identifier: Apache-2.0
 *
 * The run again under other conditions: what analysis has stored, and any number of executors, simulated for the request. */
#include <stdio.h>

#include "analysis/simulate.h"
#include "server/api/handlers.h"

/* A simulation keeps tens of bytes a task attempt while it runs: beyond so many the stored ones must do. */
#define LIVE_MAX_TASKS 2000000
#define MOST_EXECUTORS 100000

static void write_what_if(struct json_writer *json, struct str scenario, struct str subject, int64_t wall_ms, int64_t low_ms, int64_t high_ms)
{
    json_object_begin(json);
    json_kv_str(json, "scenario", scenario);
    json_kv_str(json, "subject", subject);
    json_kv_i64(json, "wallMs", wall_ms);
    json_kv_i64(json, "lowMs", low_ms);
    json_kv_i64(json, "highMs", high_ms);
    json_object_end(json);
}

static enum err_code write_stored(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT scenario, subject, wall_ms, low_ms, high_ms FROM what_if ORDER BY scenario, subject", err);
    json_key(json, "whatIfs");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        write_what_if(json, db_str(stmt, 0), db_str(stmt, 1), db_i64(stmt, 2), db_i64(stmt, 3), db_i64(stmt, 4));
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Executors of the peak, as `executors` more or less is counted from. */
static int64_t executors_of(const struct facts *facts)
{
    int64_t count = 0;
    for (size_t i = 0; i < facts->executor_count; i++)
        count += facts->executors[i].slots > 0 && !facts->executors[i].superseded;
    return count;
}

static enum err_code simulate(const struct facts *facts, const struct accounts *accounts, int64_t executors, struct what_if *ret, bool *ret_allowed, struct err *err)
{
    struct simulation *simulation = NULL;
    struct calibration calibration;
    struct simulated simulated;
    char subject[24];
    const struct change change = {.kind = CHANGE_SLOTS, .stage = NO_ENTITY, .number = 1, .executors = executors - executors_of(facts)};
    enum err_code rc = simulation_make(&simulation, facts, accounts, err);
    if (!rc)
        rc = simulation_calibrate(simulation, &calibration, err);
    if (!rc)
        rc = simulation_run(simulation, &change, 1, &simulated, err);
    if (!rc) {
        snprintf(subject, sizeof subject, "%lld", (long long)executors);
        *ret = what_if_of(&calibration, "W9", subject, simulated.wall_ms, BAND_SLOTS);
        *ret_allowed = calibration.prices_allowed;
    }
    simulation_free(simulation);
    return rc;
}

/* "executors": what the run would take with so many; null where it cannot be said. */
static enum err_code write_live(struct json_writer *json, struct db *db, int64_t executors, struct err *err)
{
    struct facts facts;
    struct accounts accounts;
    struct what_if what_if;
    bool is_allowed = false;
    int64_t tasks;
    enum err_code rc = db_query_i64(db, "SELECT count(*) FROM task", &tasks, err);
    json_key(json, "executors");
    if (rc || tasks > LIVE_MAX_TASKS) {
        json_null(json);
        return rc;
    }
    if (!(rc = facts_load(&facts, db, err))) {
        if (!(rc = accounts_make(&accounts, &facts, err))) {
            rc = simulate(&facts, &accounts, executors, &what_if, &is_allowed, err);
            accounts_dispose(&accounts);
        }
        facts_dispose(&facts);
    }
    if (!rc && is_allowed)
        write_what_if(json, str_of(what_if.scenario), str_of(what_if.subject), what_if.wall_ms, what_if.low_ms, what_if.high_ms);
    else
        json_null(json);
    return rc;
}

static enum err_code answer(struct db *db, int64_t executors, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    enum err_code rc = db_prepare(db, &stmt, "SELECT wall_ms, simulated_ms, simulation_error, bound_infinite_ms, bound_work_ms FROM analysis", err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        api_columns(json, stmt, 0, 5);
    db_finalize(stmt);
    if (!rc)
        rc = write_stored(json, db, err);
    if (!rc && known(executors))
        rc = write_live(json, db, executors, err);
    json_object_end(json);
    return rc;
}

enum err_code api_what_ifs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    int64_t executors;
    enum err_code rc;
    bool unsound = request_param_i64(request, "executors", UNKNOWN, 1, MOST_EXECUTORS, &executors, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err))
        rc = answer(app.db, executors, response, err);
    api_app_close(ctx, &app);
    return rc;
}
