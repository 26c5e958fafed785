/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/facts.h"

#include "analysis/facts_parts.h"
#include "base/mem.h"

#define MAX_TEXTS ((size_t)1 << 24)
#define MAX_SETTINGS ((size_t)1 << 20)

const char *const lost_kind_names[LOST_KIND_COUNT] = {"winner", "fetch", "executor", "unfinished", "speculative", "cancelled", "failed", "recomputed"};

struct facts_scratch {
    struct sort_item *items; /* owned */
    size_t room;
};

struct sort_item *facts_scratch(struct facts *self, size_t count)
{
    struct facts_scratch *scratch = self->scratch;
    return mem_grow((void **)&scratch->items, &scratch->room, 2 * count + 1, 2 * FACTS_MAX_ATTEMPTS + 1, sizeof *scratch->items) ? NULL : scratch->items;
}

static enum err_code load(struct facts *self, struct err *err)
{
    enum err_code rc;
    if ((rc = facts_read_entities(self, err)) || (rc = facts_read_tasks(self, err)) || (rc = facts_bound(self, err)) || (rc = facts_lanes(self, err)))
        return rc;
    return facts_own(self, err);
}

enum err_code facts_load(struct facts *ret, struct db *db, struct err *err)
{
    *ret = (struct facts){.db = db, .spark_major = -1, .spark_minor = -1};
    arena_init(&ret->arena, FACTS_ARENA_BYTES);
    smap_init(&ret->texts, MAX_TEXTS, FACTS_ARENA_BYTES);
    smap_init(&ret->conf, MAX_SETTINGS, FACTS_ARENA_BYTES);
    struct facts_scratch scratch = {0};
    ret->scratch = &scratch;
    enum err_code rc = load(ret, err);
    mem_free(scratch.items);
    ret->scratch = NULL;
    if (rc)
        facts_dispose(ret);
    return rc;
}

void facts_dispose(struct facts *self)
{
    facts_close_tasks(self);
    mem_free(TAKE(self->executors));
    mem_free(TAKE(self->jobs));
    mem_free(TAKE(self->stages));
    mem_free(TAKE(self->rdds));
    mem_free(TAKE(self->sqls));
    mem_free(TAKE(self->attempts));
    mem_free(TAKE(self->launches));
    mem_free(TAKE(self->by_executor));
    self->executor_count = self->job_count = self->stage_count = self->rdd_count = self->sql_count = self->attempt_count = 0;
    smap_dispose(&self->texts);
    smap_dispose(&self->conf);
    arena_dispose(&self->arena);
}

struct str facts_conf(const struct facts *self, const char *key)
{
    const struct str *value = smap_get(&self->conf, str_of(key));
    return value ? *value : STR_NONE;
}

/* The first of `count` items for which `at_least` holds, which holds for all behind it. */
#define LOWER_BOUND(count, at_least)           \
    size_t low = 0;                            \
    for (size_t high = (count); low < high;) { \
        size_t i = low + (high - low) / 2;     \
        if (at_least)                          \
            high = i;                          \
        else                                   \
            low = i + 1;                       \
    }

uint32_t facts_stage(const struct facts *self, int64_t stage_id, int64_t attempt)
{
    const struct stage_fact *stages = self->stages;
    LOWER_BOUND(self->stage_count, stages[i].stage_id > stage_id || (stages[i].stage_id == stage_id && stages[i].attempt >= attempt))
    return low < self->stage_count && stages[low].stage_id == stage_id && stages[low].attempt == attempt ? (uint32_t)low : NO_ENTITY;
}

uint32_t facts_job(const struct facts *self, int64_t job_id)
{
    LOWER_BOUND(self->job_count, self->jobs[i].job_id >= job_id)
    return low < self->job_count && self->jobs[low].job_id == job_id ? (uint32_t)low : NO_ENTITY;
}

uint32_t facts_sql(const struct facts *self, int64_t execution_id)
{
    LOWER_BOUND(self->sql_count, self->sqls[i].execution_id >= execution_id)
    return low < self->sql_count && self->sqls[low].execution_id == execution_id ? (uint32_t)low : NO_ENTITY;
}

uint32_t facts_executor(const struct facts *self, struct str id)
{
    for (size_t i = self->executor_count; i-- > 0;) /* the latest life of an id that came back */
        if (str_eq(self->executors[i].id, id))
            return (uint32_t)i;
    return NO_ENTITY;
}

enum err_code facts_text(const struct facts *self, int64_t text_id, struct arena *arena, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    if (!known(text_id))
        return ERR_OK;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(self->db, &stmt, "SELECT body FROM text WHERE text_id = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, text_id);
    if ((rc = db_step(stmt, err)) == ERR_OK && arena_str(arena, db_str(stmt, 0), ret))
        rc = err_nomem(err);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}
