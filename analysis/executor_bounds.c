/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_bounds.h"

#include "analysis/conf_value.h"

enum setting { MASTER, DYNAMIC, LEAST, INITIAL, MOST, INSTANCES, CORES, TASK_CPUS, SETTING_COUNT };

static const char *const names[SETTING_COUNT] = {
    [MASTER] = "spark.master",
    [DYNAMIC] = "spark.dynamicAllocation.enabled",
    [LEAST] = "spark.dynamicAllocation.minExecutors",
    [INITIAL] = "spark.dynamicAllocation.initialExecutors",
    [MOST] = "spark.dynamicAllocation.maxExecutors",
    [INSTANCES] = "spark.executor.instances",
    [CORES] = "spark.executor.cores",
    [TASK_CPUS] = "spark.task.cpus",
};

struct settings {
    bool is_local, dynamic;
    int64_t counts[SETTING_COUNT]; /* at least 0; UNKNOWN: not set */
};

static enum err_code read_settings(struct settings *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT value FROM environment WHERE section = 1 AND name = ?", err);
    for (int i = 0; i < SETTING_COUNT && !rc; i++) {
        self->counts[i] = UNKNOWN;
        db_bind_str(stmt, 1, str_of(names[i]));
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            struct str value = db_str(stmt, 0);
            int64_t count = conf_count(value);
            self->counts[i] = known(count) && count >= 0 ? count : UNKNOWN;
            self->is_local |= i == MASTER && str_starts(value, "local");
            self->dynamic |= i == DYNAMIC && conf_true(value, false);
        }
        sqlite3_reset(stmt);
        rc = rc == ERR_EOF ? ERR_OK : rc;
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code read_slots(int64_t *ret, const struct settings *settings, struct db *db, struct err *err)
{
    static const char sql[] = "SELECT min(slots), max(slots) FROM (SELECT coalesce(max_tasks, total_cores) AS slots FROM executor WHERE executor_id <> 'driver')";
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc && !(rc = db_step(stmt, err))) {
        int64_t least = db_i64(stmt, 0), most = db_i64(stmt, 1), cores = settings->counts[CORES], cpus = known_or(settings->counts[TASK_CPUS], 1);
        *ret = known(most) ? (least == most ? most : UNKNOWN) : known(cores) && cpus > 0 ? cores / cpus : UNKNOWN;
        *ret = known(*ret) && *ret > 0 ? *ret : UNKNOWN;
    }
    db_finalize(stmt);
    return rc;
}

enum err_code executor_bounds_read(struct executor_bounds *ret, struct db *db, struct err *err)
{
    struct settings settings = {0};
    int64_t profiles = 0;
    *ret = (struct executor_bounds){.least = UNKNOWN, .at_start = UNKNOWN, .most = UNKNOWN, .slots_each = UNKNOWN};
    enum err_code rc;
    if ((rc = read_settings(&settings, db, err)) || (rc = db_query_i64(db, "SELECT count(*) FROM resource_profile", &profiles, err)) || settings.is_local)
        return rc;
    ret->dynamic = settings.dynamic;
    if (profiles <= 1) {
        const int64_t *counts = settings.counts;
        ret->at_start = counts[INSTANCES];
        if (ret->dynamic) {
            ret->least = counts[LEAST];
            ret->most = counts[MOST];
            /* UNKNOWN is the least number there is. */
            ret->at_start = MAX(MAX(counts[INSTANCES], counts[INITIAL]), counts[LEAST]);
        }
    }
    return read_slots(&ret->slots_each, &settings, db, err);
}
