/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account_parts.h"
#include "analysis/facts_parts.h"
#include "base/mem.h"

#define MAX_CHANGES ((size_t)1 << 28)

static enum err_code add_change(struct gap_state *self, int64_t time_ms, enum gap_event event, uint32_t sql, struct err *err)
{
    if (mem_grow((void **)&self->changes, &self->change_capacity, self->change_count + 1, MAX_CHANGES, sizeof *self->changes))
        return err_nomem(err);
    self->changes[self->change_count++] = (struct gap_change){clip_time(self->facts, time_ms), event, sql};
    return ERR_OK;
}

/* Nothing where the begin is unknown; to the end of the run where the end is. */
static enum err_code add_interval(struct gap_state *self, int64_t begin_ms, int64_t end_ms, enum gap_event begin, enum gap_event end, uint32_t sql, struct err *err)
{
    end_ms = known_or(end_ms, self->facts->end_ms);
    if (!known(begin_ms) || end_ms < begin_ms)
        return ERR_OK;
    enum err_code rc = add_change(self, begin_ms, begin, sql, err);
    return rc ? rc : add_change(self, end_ms, end, sql, err);
}

static void note_job(struct gap_state *self, uint32_t sql, const struct job_fact *job)
{
    if (sql == NO_ENTITY)
        return;
    self->first_job_ms[sql] = min_known(self->first_job_ms[sql], job->begin_ms);
    self->last_job_ms[sql] = max_known(self->last_job_ms[sql], job->end_ms);
}

static enum err_code add_executions(struct gap_state *self, struct err *err)
{
    const struct facts *facts = self->facts;
    for (size_t i = 0; i < facts->sql_count; i++)
        self->first_job_ms[i] = self->last_job_ms[i] = UNKNOWN;
    for (size_t i = 0; i < facts->job_count; i++) {
        uint32_t sql = known(facts->jobs[i].sql_execution_id) ? facts_sql(facts, facts->jobs[i].sql_execution_id) : NO_ENTITY;
        note_job(self, sql, &facts->jobs[i]);
        if (sql != NO_ENTITY && known(facts->sqls[sql].root_id) && facts->sqls[sql].root_id != facts->sqls[sql].execution_id)
            note_job(self, facts_sql(facts, facts->sqls[sql].root_id), &facts->jobs[i]);
    }
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < facts->sql_count && !rc; i++) {
        size_t before = self->change_count;
        rc = add_interval(self, facts->sqls[i].begin_ms, facts->sqls[i].end_ms, GAP_SQL_BEGIN, GAP_SQL_END, (uint32_t)i, err);
        self->sql_left += self->change_count > before;
    }
    return rc;
}

/* The log does not say when a query ended, only that it did: with its last trigger, or later, when it was last seen idle. */
static const char queries_sql[] = "SELECT q.start_ms, min(p.trigger_ms), q.end_seen, max(p.trigger_ms + coalesce(p.batch_duration_ms, 0)), q.last_idle_ms FROM streaming_query q"
                                  "  LEFT JOIN streaming_progress p USING (run_ref) GROUP BY q.run_ref";

static enum err_code query_row(struct gap_state *self, sqlite3_stmt *stmt, struct err *err)
{
    int64_t begin_ms = sound_time(known_or(db_i64(stmt, 0), db_i64(stmt, 1)));
    int64_t end_ms = max_known(sound_time(db_i64(stmt, 3)), sound_time(db_i64(stmt, 4)));
    return add_interval(self, begin_ms, db_i64(stmt, 2) == 1 ? known_or(end_ms, begin_ms) : UNKNOWN, GAP_STREAM_BEGIN, GAP_STREAM_END, NO_ENTITY, err);
}

static enum err_code trigger_row(struct gap_state *self, sqlite3_stmt *stmt, struct err *err)
{
    for (int column = 0; column < 2; column++) {
        int64_t time_ms = sound_time(db_i64(stmt, column));
        enum err_code rc = known(time_ms) ? add_change(self, time_ms, GAP_TRIGGER, NO_ENTITY, err) : ERR_OK;
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err_code session_row(struct gap_state *self, sqlite3_stmt *stmt, struct err *err)
{
    return add_interval(self, sound_time(db_i64(stmt, 0)), sound_time(db_i64(stmt, 1)), GAP_SESSION_BEGIN, GAP_SESSION_END, NO_ENTITY, err);
}

static enum err_code operation_row(struct gap_state *self, sqlite3_stmt *stmt, struct err *err)
{
    return add_interval(self, sound_time(db_i64(stmt, 0)), sound_time(db_i64(stmt, 1)), GAP_OPERATION_BEGIN, GAP_OPERATION_END, NO_ENTITY, err);
}

static enum err_code each_row(struct gap_state *self, const char *sql, enum err_code (*row)(struct gap_state *, sqlite3_stmt *, struct err *), struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->facts->db, &stmt, sql, err);
    if (rc)
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK && (rc = row(self, stmt, err)) == ERR_OK)
        ;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code gap_state_make(struct gap_state *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct gap_state){.facts = facts};
    ret->first_job_ms = mem_array(facts->sql_count + 1, sizeof *ret->first_job_ms);
    ret->last_job_ms = mem_array(facts->sql_count + 1, sizeof *ret->last_job_ms);
    ret->open = mem_array(facts->sql_count + 1, sizeof *ret->open);
    ret->ended = mem_array(facts->sql_count + 1, sizeof *ret->ended);
    if (!ret->first_job_ms || !ret->last_job_ms || !ret->open || !ret->ended)
        return err_nomem(err);
    enum err_code rc;
    if ((rc = add_executions(ret, err)) || (rc = each_row(ret, queries_sql, query_row, err)) ||
        (rc = each_row(ret, "SELECT trigger_ms, trigger_ms + batch_duration_ms FROM streaming_progress", trigger_row, err)) ||
        (rc = each_row(ret, "SELECT start_ms, finish_ms FROM server_session", session_row, err)))
        return rc;
    /* Until its result is there: a client that has it and does not close the operation is idle. */
    return each_row(ret, "SELECT start_ms, coalesce(finish_ms, close_ms) FROM server_operation", operation_row, err);
}

void gap_state_dispose(struct gap_state *self)
{
    mem_free(TAKE(self->changes));
    mem_free(TAKE(self->first_job_ms));
    mem_free(TAKE(self->last_job_ms));
    mem_free(TAKE(self->open));
    mem_free(TAKE(self->ended));
}

void gap_state_apply(struct gap_state *self, const struct gap_change *change)
{
    switch (change->event) {
    case GAP_SQL_BEGIN:
        self->open[self->open_count++] = change->sql;
        self->sql_left--;
        break;
    case GAP_SQL_END: self->ended[change->sql] = true; break;
    case GAP_STREAM_BEGIN: self->streams++; break;
    case GAP_STREAM_END: self->streams--; break;
    case GAP_SESSION_BEGIN: self->sessions++; break;
    case GAP_SESSION_END: self->sessions--; break;
    case GAP_OPERATION_BEGIN: self->operations++; break;
    case GAP_OPERATION_END: self->operations--; break;
    case GAP_TRIGGER: break;
    }
}

bool gap_event_cuts(enum gap_event event)
{
    return event == GAP_SQL_BEGIN || event == GAP_SQL_END || event == GAP_TRIGGER;
}

static const char *part_of_execution(const struct gap_state *self, uint32_t sql, int64_t now_ms)
{
    if (!known(self->first_job_ms[sql]))
        return "command";
    return now_ms < self->first_job_ms[sql] ? "planning" : now_ms >= self->last_job_ms[sql] ? "commit" : "between";
}

struct driver_gap gap_state_class(struct gap_state *self, int64_t now_ms, bool begun, bool over)
{
    struct driver_gap gap = {.from_ms = now_ms, .to_ms = now_ms, .sql_execution_id = UNKNOWN, .job_before = NO_ENTITY, .job_after = NO_ENTITY};
    while (self->open_count && self->ended[self->open[self->open_count - 1]])
        self->open_count--;
    if (self->open_count) {
        /* Of several the one that began last: a command's inner query, not the command that waits for it. */
        uint32_t sql = self->open[self->open_count - 1];
        gap.kind = BUCKET_GAP_SQL;
        gap.sub = part_of_execution(self, sql, now_ms);
        gap.sql_execution_id = self->facts->sqls[sql].execution_id;
    } else if (self->streams) {
        gap.kind = BUCKET_GAP_STREAM;
    } else if (self->sessions && !self->operations) {
        gap.kind = BUCKET_GAP_SERVER;
    } else if (!begun) {
        gap.kind = BUCKET_GAP_STARTUP;
    } else {
        gap.kind = over && !self->sql_left ? BUCKET_GAP_SHUTDOWN : BUCKET_GAP_USER;
    }
    return gap;
}
