/* SPDX-License-Identifier: Apache-2.0 */
#include "server/log_troubles.h"

const char *const log_troubles[LOG_TROUBLE_COUNT] = {"crashed", "unreadable", "damaged", "put_off", "not_permitted", "not_a_log", "empty", "forgotten"};
const char *const log_states[LOG_STATE_COUNT] = {"waiting", "loading", "loaded", "partial", "listed", "failed", "skipped", "gone"};

/* Rows of a word and a number. */
static enum err_code read_counts(struct db *catalog, const char *sql, const char *const *words, int64_t *ret, size_t count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        for (size_t i = 0; i < count; i++)
            if (str_is(db_str(stmt, 0), words[i]))
                ret[i] = db_i64(stmt, 1);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code log_counts_read(struct log_counts *ret, struct db *catalog, struct err *err)
{
    *ret = (struct log_counts){.waiting_bytes = UNKNOWN};
    enum err_code rc = read_counts(catalog, "SELECT state, count(*) FROM log GROUP BY state", log_states, ret->states, LOG_STATE_COUNT, err);
    if (!rc)
        rc = read_counts(catalog, "SELECT " LOG_TROUBLE_SQL " AS trouble, count(*) FROM log WHERE " LOG_TROUBLE_WHERE " GROUP BY 1", log_troubles, ret->troubles, LOG_TROUBLE_COUNT, err);
    if (!rc)
        rc = db_query_i64(catalog, "SELECT ifnull(sum(bytes), 0) FROM log WHERE state IN ('waiting', 'loading')", &ret->waiting_bytes, err);
    return rc;
}
