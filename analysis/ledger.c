/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A fetch failure is a removal's doing when it comes so soon behind it. */
#define FETCH_AFTER_MS 120000
/* So often executors are looked at for one that went from the same machine, all fetch failures together: more of them than any real run has are the shuffle's own doing. */
#define HOST_LOOKS ((size_t)4000000)
/* Causes are simulated with this part of what findings may use. */
#define BUDGET_PARTS 8

const char *const lost_cause_names[LOST_CAUSE_COUNT] = {"removal", "fetch", "exception", "speculation", "cancellation", "unfinished"};

/* One lost attempt with its cause. */
struct entry {
    uint64_t cause;   /* cause << 32 | subject */
    uint32_t attempt; /* position */
    double read_bytes;
};

struct keeper {
    const struct judged *judged;
    const struct facts *facts;
    const struct failure_signatures *failures;
    struct entry *entries;
    size_t count;
    sqlite3_stmt *text;
    size_t looks; /* at executors of a machine */
};

struct str fetched_from(struct str text, struct str *ret_host)
{
    *ret_host = STR_NONE;
    static const char word[] = "BlockManagerId(";
    const char *at = text.len ? memmem(text.ptr, text.len, word, sizeof word - 1) : NULL;
    if (!at)
        return STR_NONE;
    at += sizeof word - 1;
    size_t len = 0, most = (size_t)(text.ptr + text.len - at);
    while (len < most && at[len] != ',' && at[len] != ')')
        len++;
    size_t host = len + 1, end = host + 1;
    if (host < most && at[len] == ',' && at[host] == ' ') {
        while (end < most && at[end] != ',' && at[end] != ')')
            end++;
        *ret_host = (struct str){at + host + 1, end - host - 1};
    }
    return (struct str){at, len};
}

static uint64_t cause_of(enum lost_cause cause, uint32_t subject)
{
    return (uint64_t)cause << 32 | subject;
}

static bool was_removed(const struct facts *facts, uint32_t executor, int64_t until_ms)
{
    const struct executor_fact *fact = &facts->executors[executor];
    return fact->removed && known(fact->remove_ms) && fact->remove_ms <= until_ms;
}

static bool went_near(const struct executor_fact *executor, int64_t ms)
{
    return executor->removed && known(executor->remove_ms) && ms - executor->remove_ms <= FETCH_AFTER_MS && executor->remove_ms - ms <= FETCH_AFTER_MS;
}

/* Of several that went from this machine the one that went nearest in time: a machine takes all of its executors along, and the one that held the data may be told later, or never. */
static uint32_t gone_from(struct keeper *self, struct str host, int64_t ms)
{
    uint32_t found = NO_ENTITY;
    for (uint32_t i = 0; host.len && i < self->facts->executor_count && self->looks < HOST_LOOKS; i++, self->looks++) {
        const struct executor_fact *executor = &self->facts->executors[i];
        if (!executor->is_driver && went_near(executor, ms) && str_eq(executor->host, host) &&
            (found == NO_ENTITY || llabs(executor->remove_ms - ms) < llabs(self->facts->executors[found].remove_ms - ms)))
            found = i;
    }
    return found;
}

/* The removal that made this fetch fail: of the executor it names, or of one beside it, a short time before or behind. */
static enum err_code removal_behind(struct keeper *self, const struct attempt *attempt, int64_t text_id, uint32_t *ret, struct err *err)
{
    *ret = NO_ENTITY;
    if (!known(text_id))
        return ERR_OK;
    db_bind_i64(self->text, 1, text_id);
    enum err_code rc = db_step(self->text, err);
    if (rc)
        return rc == ERR_EOF ? ERR_OK : rc;
    struct str host, named = fetched_from(db_str(self->text, 0), &host);
    uint32_t executor = named.len ? facts_executor(self->facts, named) : NO_ENTITY;
    *ret = executor != NO_ENTITY && went_near(&self->facts->executors[executor], attempt->finish_ms) ? executor : gone_from(self, host, attempt->finish_ms);
    db_reset(self->text);
    return ERR_OK;
}

static enum err_code find_cause(struct keeper *self, const struct attempt *attempt, int64_t text_id, uint64_t *ret, struct err *err)
{
    enum err_code rc = ERR_OK;
    uint32_t executor = NO_ENTITY;
    switch ((enum lost_kind)attempt->kind) {
    case LOST_EXECUTOR: *ret = cause_of(CAUSE_REMOVAL, attempt->executor); break;
    case LOST_RECOMPUTED:
        /* Its output went with its executor; without a removal only a fetch that failed says so. */
        *ret = self->facts->executors[attempt->executor].removed ? cause_of(CAUSE_REMOVAL, attempt->executor) : cause_of(CAUSE_FETCH_FAILURE, NO_ENTITY);
        break;
    case LOST_FETCH:
        rc = removal_behind(self, attempt, text_id, &executor, err);
        *ret = executor == NO_ENTITY ? cause_of(CAUSE_FETCH_FAILURE, NO_ENTITY) : cause_of(CAUSE_REMOVAL, executor);
        break;
    case LOST_FAILED: *ret = cause_of(CAUSE_EXCEPTION, known(text_id) ? failure_of_text(self->failures, text_id) : NO_ENTITY); break;
    case LOST_SPECULATIVE: *ret = cause_of(CAUSE_SPECULATION, NO_ENTITY); break;
    case LOST_CANCELLED: *ret = cause_of(CAUSE_CANCELLATION, NO_ENTITY); break;
    case LOST_UNFINISHED:
        *ret = was_removed(self->facts, attempt->executor, attempt->finish_ms) ? cause_of(CAUSE_REMOVAL, attempt->executor) : cause_of(CAUSE_UNFINISHED, NO_ENTITY);
        break;
    case WINNER:
    case LOST_KIND_COUNT: break;
    }
    return rc;
}

static enum err_code enter_lost(struct keeper *self, const struct lost_tasks *lost, struct err *err)
{
    enum err_code rc = ERR_OK;
    self->entries = mem_array(lost->count + 1, sizeof *self->entries);
    if (!self->entries)
        return err_nomem(err);
    for (size_t i = 0; i < lost->count && !rc; i++) {
        const struct lost_task *task = &lost->items[i];
        struct entry *entry = &self->entries[self->count++];
        double read = (double)known_or(task->input_bytes, 0) + (double)known_or(task->shuffle_read_bytes, 0);
        *entry = (struct entry){.attempt = task->attempt, .read_bytes = MAX(read, 0.0)};
        rc = find_cause(self, &self->facts->attempts[task->attempt], task->error_text_id, &entry->cause, err);
    }
    return rc;
}

/* ---- rows out of entries */

static int by_cause(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static int by_slot_time(const void *a, const void *b)
{
    const struct ledger_cause *x = a, *y = b;
    if (x->slot_ms < y->slot_ms || x->slot_ms > y->slot_ms)
        return x->slot_ms > y->slot_ms ? -1 : 1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return (x->subject > y->subject) - (x->subject < y->subject);
}

static int by_row(const void *a, const void *b)
{
    const struct ledger_row *x = a, *y = b;
    const uint32_t left[] = {x->cause, x->stage, x->executor, (uint32_t)x->kind}, right[] = {y->cause, y->stage, y->executor, (uint32_t)y->kind};
    for (size_t i = 0; i < ARRAY_LENGTH(left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static enum err_code make_causes(struct ledger *self, const struct keeper *keeper, struct err *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < keeper->count; i++) {
        const struct entry *entry = &keeper->entries[i];
        if (!i || entry->cause != keeper->entries[i - 1].cause) {
            if (mem_grow((void **)&self->causes, &capacity, self->cause_count + 1, FACTS_MAX_ATTEMPTS, sizeof *self->causes))
                return err_nomem(err);
            self->causes[self->cause_count++] = (struct ledger_cause){.cause = (enum lost_cause)(entry->cause >> 32), .subject = (uint32_t)entry->cause, .price_ms = UNKNOWN};
        }
        self->causes[self->cause_count - 1].attempts++;
        self->causes[self->cause_count - 1].slot_ms += (double)attempt_occupancy_ms(&keeper->facts->attempts[entry->attempt]);
    }
    if (self->cause_count)
        qsort(self->causes, self->cause_count, sizeof *self->causes, by_slot_time);
    return ERR_OK;
}

/* Positions of causes as they are sorted, by their number: entries come by number. */
struct numbered {
    uint64_t number;
    uint32_t position;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static enum err_code make_rows(struct ledger *self, const struct keeper *keeper, struct err *err)
{
    if (!keeper->count)
        return ERR_OK;
    CLEANUP(mem_freep) struct numbered *numbers = mem_array(self->cause_count, sizeof *numbers);
    self->rows = mem_array(keeper->count, sizeof *self->rows);
    if (!numbers || !self->rows)
        return err_nomem(err);
    for (size_t i = 0; i < self->cause_count; i++)
        numbers[i] = (struct numbered){cause_of(self->causes[i].cause, self->causes[i].subject), (uint32_t)i};
    qsort(numbers, self->cause_count, sizeof *numbers, by_number);
    for (size_t i = 0, at = 0; i < keeper->count; i++) {
        const struct entry *entry = &keeper->entries[i];
        const struct attempt *attempt = &keeper->facts->attempts[entry->attempt];
        while (numbers[at].number != entry->cause)
            at++;
        self->rows[i] = (struct ledger_row){numbers[at].position, attempt->stage, attempt->executor, (enum lost_kind)attempt->kind, 1, (double)attempt_occupancy_ms(attempt),
                                            entry->read_bytes};
    }
    qsort(self->rows, keeper->count, sizeof *self->rows, by_row);
    for (size_t i = 0; i < keeper->count; i++) {
        struct ledger_row *last = self->row_count ? &self->rows[self->row_count - 1] : NULL;
        if (last && by_row(last, &self->rows[i]) == 0) {
            last->attempts++;
            last->slot_ms += self->rows[i].slot_ms;
            last->read_bytes += self->rows[i].read_bytes;
        } else
            self->rows[self->row_count++] = self->rows[i];
    }
    return ERR_OK;
}

/* A retry goes with all that was lost, not with the attempts of one cause. */
static bool has_retries(const struct facts *facts)
{
    for (size_t i = 1; i < facts->stage_count; i++)
        if (facts->stages[i].stage_id == facts->stages[i - 1].stage_id)
            return true;
    return false;
}

/* What the run would win without the attempts of one cause (W4). */
static enum err_code price_causes(struct ledger *self, const struct keeper *keeper, struct err *err)
{
    const struct judged *judged = keeper->judged;
    if (!judged->simulation || !judged->calibration.prices_allowed || !keeper->count)
        return ERR_OK;
    size_t budget = PRICE_BUDGET_ITEMS(keeper->facts->attempt_count) / BUDGET_PARTS;
    bool all = self->cause_count == 1 && !has_retries(keeper->facts);
    CLEANUP(mem_freep) bool *lost = mem_array(keeper->facts->attempt_count, sizeof *lost);
    if (!lost)
        return err_nomem(err);
    for (size_t i = 0; i < MIN(self->cause_count, (size_t)LEDGER_PRICED) && budget; i++) {
        struct ledger_cause *cause = &self->causes[i];
        struct simulated simulated;
        memset(lost, 0, keeper->facts->attempt_count * sizeof *lost);
        for (size_t k = 0; k < keeper->count; k++)
            lost[keeper->entries[k].attempt] = keeper->entries[k].cause == cause_of(cause->cause, cause->subject);
        struct change change = {.kind = CHANGE_NO_LOST, .stage = NO_ENTITY, .executor = NO_ENTITY, .lost_attempts = lost};
        enum err_code rc = all ? simulation_without_lost(judged->simulation, &simulated, err) : simulation_run(judged->simulation, &change, 1, &simulated, err);
        if (rc)
            return rc;
        budget -= MIN(budget, simulated.items + 1);
        cause->price_ms = price_of(&judged->calibration, judged->calibration.as_observed_ms - simulated.wall_ms, BAND_NORMAL).ms;
    }
    return ERR_OK;
}

static double work_of_failed_jobs(const struct judged *judged)
{
    const struct facts *facts = judged->facts;
    double sum = 0;
    for (size_t i = 0; i < facts->stage_count; i++)
        if (facts->stages[i].job != NO_ENTITY && facts->jobs[facts->stages[i].job].failed)
            for (size_t k = 0; k < facts->stages[i].attempt_count; k++) {
                const struct attempt *attempt = &facts->attempts[facts->stages[i].first_attempt + k];
                sum += attempt->kind == WINNER ? (double)attempt_occupancy_ms(attempt) : 0;
            }
    return sum;
}

enum err_code ledger_make(struct ledger *ret, const struct judged *judged, const struct failure_signatures *failures, struct err *err)
{
    *ret = (struct ledger){0};
    struct keeper keeper = {.judged = judged, .facts = judged->facts, .failures = failures};
    enum err_code rc = db_prepare(judged->facts->db, &keeper.text, "SELECT body FROM text WHERE text_id = ?1", err);
    if (!rc)
        rc = enter_lost(&keeper, judged->lost, err);
    if (keeper.count)
        qsort(keeper.entries, keeper.count, sizeof *keeper.entries, by_cause);
    if (!rc)
        rc = make_causes(ret, &keeper, err);
    if (!rc)
        rc = make_rows(ret, &keeper, err);
    if (!rc)
        rc = price_causes(ret, &keeper, err);
    ret->failed_jobs_ms = work_of_failed_jobs(judged);
    db_finalize(keeper.text);
    mem_free(keeper.entries);
    if (rc)
        ledger_dispose(ret);
    return rc;
}

void ledger_dispose(struct ledger *self)
{
    mem_free(self->causes);
    mem_free(self->rows);
    *self = (struct ledger){0};
}

static enum err_code store_causes(const struct ledger *self, const struct judged *judged, const struct failure_signatures *failures, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "INSERT INTO lost_cause (cause_no, cause, executor_ref, failure_no, attempts, slot_ms, price_ms) VALUES (?, ?, ?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->cause_count && !rc; i++) {
        const struct ledger_cause *cause = &self->causes[i];
        bool subject = cause->subject != NO_ENTITY;
        db_bind_i64(stmt, 1, (int64_t)i + 1);
        db_bind_str(stmt, 2, str_of(lost_cause_names[cause->cause]));
        db_bind_i64(stmt, 3, subject && cause->cause == CAUSE_REMOVAL ? judged->facts->executors[cause->subject].executor_ref : UNKNOWN);
        db_bind_i64(stmt, 4, subject && cause->cause == CAUSE_EXCEPTION && cause->subject < failures->count ? (int64_t)cause->subject + 1 : UNKNOWN);
        db_bind_i64(stmt, 5, (int64_t)cause->attempts);
        db_bind_i64(stmt, 6, (int64_t)MIN(cause->slot_ms, 9e18));
        db_bind_i64(stmt, 7, cause->price_ms);
        rc = db_run(stmt, err);
    }
    if (!rc && self->failed_jobs_ms > 0) {
        db_bind_i64(stmt, 1, (int64_t)self->cause_count + 1);
        db_bind_str(stmt, 2, STR_LIT("failed jobs"));
        db_bind_i64(stmt, 3, UNKNOWN);
        db_bind_i64(stmt, 4, UNKNOWN);
        db_bind_i64(stmt, 5, 0);
        db_bind_i64(stmt, 6, (int64_t)MIN(self->failed_jobs_ms, 9e18));
        db_bind_i64(stmt, 7, UNKNOWN);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

enum err_code ledger_store(const struct ledger *self, const struct judged *judged, const struct failure_signatures *failures, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = store_causes(self, judged, failures, db, err);
    if (!rc)
        rc = db_prepare(db, &stmt, "INSERT INTO lost_work (cause_no, stage_ref, executor_ref, kind, attempts, slot_ms, read_bytes) VALUES (?, ?, ?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->row_count && !rc; i++) {
        const struct ledger_row *row = &self->rows[i];
        db_bind_i64(stmt, 1, (int64_t)row->cause + 1);
        db_bind_i64(stmt, 2, judged->facts->stages[row->stage].stage_ref);
        db_bind_i64(stmt, 3, judged->facts->executors[row->executor].executor_ref);
        db_bind_str(stmt, 4, str_of(lost_kind_names[row->kind]));
        db_bind_i64(stmt, 5, (int64_t)row->attempts);
        db_bind_i64(stmt, 6, (int64_t)MIN(row->slot_ms, 9e18));
        db_bind_f64(stmt, 7, row->read_bytes);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
