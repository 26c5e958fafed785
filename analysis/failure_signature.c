/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/failure_signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/executor_loss.h"
#include "base/mem.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define MAX_TEXTS ((size_t)1 << 26)

/* ---- exit codes */

/* SparkExitCode and ExecutorExitCode, YARN's ContainerExitStatus, and 128 + signal. */
const char *exit_code_meaning(int64_t code)
{
    static const struct {
        int64_t code;
        const char *meaning;
    } meanings[] = {{50, "uncaught exception"},     {51, "uncaught exception"}, {52, "out of memory"},
                    {53, "no local directory"},     {56, "heartbeat failed"},   {101, "class not found"},
                    {126, "cannot be executed"},    {127, "command not found"}, {134, "aborted"},
                    {137, "killed (137)"},          {139, "crashed"},           {143, "terminated (143)"},
                    {-100, "container lost"},       {-101, "bad disks"},        {-102, "preempted"},
                    {-103, "virtual memory limit"}, {-104, "memory limit"},     {-105, "killed by its master"},
                    {-106, "killed by the manager"}};
    for (size_t i = 0; i < ARRAY_LENGTH(meanings); i++)
        if (meanings[i].code == code)
            return meanings[i].meaning;
    return NULL;
}

/* ---- grouping */

struct collector {
    struct failure_signatures *out;
    const struct facts *facts;
    sqlite3_stmt *text;
    size_t capacity;
};

/* One failure: what it says, when, what failed. */
struct failure {
    enum failure_source source;
    int64_t text_id; /* UNKNOWN: the text is at hand */
    struct str text;
    int64_t time_ms;
    enum subject_kind kind;
    const char *key;
    struct str host;
};

static enum err_code copy_part(struct arena *arena, struct str text, size_t most, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    if (!text.len)
        return ERR_OK;
    text.len = utf8_valid_prefix(text.ptr, MIN(text.len, most));
    return arena_str(arena, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code row_of_text(struct collector *self, struct str body, size_t *ret, struct err *err)
{
    struct failure_signatures *out = self->out;
    char signature[ERROR_SIGNATURE_BYTES];
    enum err_code rc;
    error_signature(body, signature);
    for (*ret = 0; *ret < out->count; ++*ret)
        if (strcmp(out->rows[*ret].signature, signature) == 0)
            return ERR_OK;
    if (out->count == FAILURES_MAX) {
        *ret = FAILURES_MAX - 1;
        return ERR_OK;
    }
    if (mem_grow((void **)&out->rows, &self->capacity, out->count + 1, FAILURES_MAX, sizeof *out->rows))
        return err_nomem(err);
    struct failure_row *row = &out->rows[out->count];
    *row = (struct failure_row){.kind = error_kind_of(body), .first_ms = UNKNOWN, .last_ms = UNKNOWN, .exit_code = exit_code_of(body)};
    row->exit_meaning = known(row->exit_code) ? exit_code_meaning(row->exit_code) : NULL;
    memcpy(row->signature, signature, sizeof signature);
    if ((rc = copy_part(&out->arena, error_class_of(body), 200, &row->error_class, err)) || (rc = copy_part(&out->arena, error_message_of(body), 300, &row->message, err)))
        return rc;
    out->count++;
    return ERR_OK;
}

static enum err_code row_of(struct collector *self, const struct failure *failure, size_t *ret, struct err *err)
{
    if (!known(failure->text_id))
        return row_of_text(self, failure->text, ret, err);
    size_t found = (size_t)(uintptr_t)imap_get(&self->out->by_text, failure->text_id);
    if (found) {
        *ret = found - 1;
        return ERR_OK;
    }
    db_bind_i64(self->text, 1, failure->text_id);
    enum err_code rc = db_step(self->text, err);
    if (rc == ERR_OK) {
        rc = row_of_text(self, db_str(self->text, 0), ret, err);
        db_reset(self->text);
    } else if (rc == ERR_EOF)
        rc = row_of_text(self, STR_NONE, ret, err);
    if (!rc && imap_put(&self->out->by_text, failure->text_id, (void *)(uintptr_t)(*ret + 1)))
        rc = err_nomem(err);
    return rc;
}

static enum err_code note(struct collector *self, const struct failure *failure, struct err *err)
{
    size_t at;
    enum err_code rc = row_of(self, failure, &at, err);
    if (rc)
        return rc;
    struct failure_row *row = &self->out->rows[at];
    bool first = !row->first_key.ptr || (known(failure->time_ms) && (!known(row->first_ms) || failure->time_ms < row->first_ms));
    row->counts[failure->source]++;
    if (first) {
        row->first_kind = failure->kind;
        if ((rc = copy_part(&self->out->arena, str_of(failure->key), 300, &row->first_key, err)))
            return rc;
    }
    if (failure->host.len) {
        row->several_hosts |= row->host.len && !str_eq(row->host, failure->host);
        if (!row->host.len)
            row->host = failure->host; /* of facts, which live longer */
    }
    row->first_ms = min_known(row->first_ms, failure->time_ms);
    row->last_ms = max_known(row->last_ms, failure->time_ms);
    return ERR_OK;
}

/* ---- what failed */

static bool has_failed(const struct attempt *attempt)
{
    return attempt->kind == LOST_FAILED || attempt->kind == LOST_EXECUTOR || attempt->kind == LOST_FETCH;
}

static enum err_code failed_tasks(struct collector *self, const struct lost_tasks *lost, struct err *err)
{
    const struct facts *facts = self->facts;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < lost->count && !rc; i++) {
        const struct attempt *attempt = &facts->attempts[lost->items[i].attempt];
        char key[24];
        if (!has_failed(attempt))
            continue;
        snprintf(key, sizeof key, "%lld", (long long)attempt_launch(facts, attempt)->task_id);
        struct failure failure = {FAILED_TASKS, lost->items[i].error_text_id, STR_LIT(""), attempt->finish_ms, SUBJECT_TASK, key, facts->executors[attempt->executor].host};
        rc = note(self, &failure, err);
    }
    return rc;
}

static enum err_code failed_executors(struct collector *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->facts->executor_count && !rc; i++) {
        const struct executor_fact *executor = &self->facts->executors[i];
        if (executor->is_driver || !executor->remove_reason.len || !executor_was_lost(!executor->removed, executor->remove_ms, executor->remove_reason, facts_logged_end_ms(self->facts)))
            continue; /* it was sent away, or went with the application */
        char key[128];
        snprintf(key, sizeof key, "%.*s", (int)MIN(executor->id.len, sizeof key - 1), executor->id.ptr ? executor->id.ptr : "");
        struct failure failure = {FAILED_EXECUTORS, UNKNOWN, executor->remove_reason, executor->remove_ms, SUBJECT_EXECUTOR, key, executor->host};
        rc = note(self, &failure, err);
    }
    return rc;
}

static enum err_code failed_rest(struct collector *self, struct err *err)
{
    const struct facts *facts = self->facts;
    enum err_code rc = ERR_OK;
    char key[48];
    for (size_t i = 0; i < facts->stage_count && !rc; i++) {
        const struct stage_fact *stage = &facts->stages[i];
        snprintf(key, sizeof key, "%lld.%lld", (long long)stage->stage_id, (long long)stage->attempt);
        if (stage->failed && known(stage->failure_text_id))
            rc = note(self, &(struct failure){FAILED_STAGES, stage->failure_text_id, STR_NONE, stage->completion_ms, SUBJECT_STAGE, key, STR_NONE}, err);
    }
    for (size_t i = 0; i < facts->job_count && !rc; i++) {
        const struct job_fact *job = &facts->jobs[i];
        snprintf(key, sizeof key, "%lld", (long long)job->job_id);
        if (job->failed && known(job->failure_text_id))
            rc = note(self, &(struct failure){FAILED_JOBS, job->failure_text_id, STR_NONE, job->end_ms, SUBJECT_JOB, key, STR_NONE}, err);
    }
    for (size_t i = 0; i < facts->sql_count && !rc; i++) {
        const struct sql_fact *sql = &facts->sqls[i];
        snprintf(key, sizeof key, "%lld", (long long)sql->execution_id);
        if (sql->failed && known(sql->error_text_id))
            rc = note(self, &(struct failure){FAILED_SQLS, sql->error_text_id, STR_NONE, sql->end_ms, SUBJECT_SQL, key, STR_NONE}, err);
    }
    return rc;
}

/* ---- all of it */

static int by_first(const void *a, const void *b)
{
    const struct failure_row *x = a, *y = b;
    if (known(x->first_ms) != known(y->first_ms))
        return known(x->first_ms) ? -1 : 1;
    if (x->first_ms != y->first_ms)
        return x->first_ms < y->first_ms ? -1 : 1;
    return strcmp(x->signature, y->signature);
}

static enum err_code sort_rows(struct failure_signatures *self, struct err *err)
{
    size_t count = self->count;
    CLEANUP(mem_freep) struct failure_row *before = mem_array(count + 1, sizeof *before);
    self->sorted = mem_array(count + 1, sizeof *self->sorted);
    if (!before || !self->sorted)
        return err_nomem(err);
    if (!count)
        return ERR_OK;
    memcpy(before, self->rows, count * sizeof *before);
    qsort(self->rows, count, sizeof *self->rows, by_first);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(before[i].signature, self->rows[k].signature) == 0)
                self->sorted[i] = (uint32_t)k;
    return ERR_OK;
}

enum err_code failure_signatures_make(struct failure_signatures *ret, const struct facts *facts, const struct lost_tasks *lost, struct err *err)
{
    *ret = (struct failure_signatures){0};
    arena_init(&ret->arena, ARENA_BYTES);
    imap_init(&ret->by_text, MAX_TEXTS);
    struct collector self = {.out = ret, .facts = facts};
    enum err_code rc = db_prepare(facts->db, &self.text, "SELECT body FROM text WHERE text_id = ?1", err);
    if (!rc)
        rc = failed_tasks(&self, lost, err);
    if (!rc)
        rc = failed_executors(&self, err);
    if (!rc)
        rc = failed_rest(&self, err);
    if (!rc)
        rc = sort_rows(ret, err);
    db_finalize(self.text);
    if (rc)
        failure_signatures_dispose(ret);
    return rc;
}

void failure_signatures_dispose(struct failure_signatures *self)
{
    mem_free(self->rows);
    mem_free(self->sorted);
    imap_dispose(&self->by_text);
    arena_dispose(&self->arena);
    *self = (struct failure_signatures){0};
}

uint32_t failure_of_text(const struct failure_signatures *self, int64_t text_id)
{
    size_t found = (size_t)(uintptr_t)imap_get(&self->by_text, text_id);
    return found ? self->sorted[found - 1] : NO_ENTITY;
}

enum err_code failure_signatures_store(const struct failure_signatures *self, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "INSERT INTO failure_signature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct failure_row *row = &self->rows[i];
        int at = 1;
        db_bind_i64(stmt, at++, (int64_t)i + 1);
        db_bind_str(stmt, at++, str_of(row->signature));
        db_bind_str(stmt, at++, str_of(error_kind_names[row->kind]));
        db_bind_str(stmt, at++, row->error_class);
        db_bind_str(stmt, at++, row->message);
        for (int k = 0; k < FAILURE_SOURCE_COUNT; k++)
            db_bind_i64(stmt, at++, (int64_t)row->counts[k]);
        db_bind_i64(stmt, at++, row->first_ms);
        db_bind_i64(stmt, at++, row->last_ms);
        db_bind_str(stmt, at++, str_of(subject_kind_names[row->first_kind]));
        db_bind_str(stmt, at++, row->first_key);
        db_bind_str(stmt, at++, row->host);
        db_bind_i64(stmt, at++, row->several_hosts);
        db_bind_i64(stmt, at++, row->exit_code);
        db_bind_str(stmt, at++, str_of(row->exit_meaning));
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
