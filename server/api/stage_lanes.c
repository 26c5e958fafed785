/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/stage_lanes.h"

#include "analysis/lane_heap.h"
#include "analysis/sort_packed.h"
#include "base/mem.h"

/* From here on, and half of its time, a task that begins before its lane is free ran beside the other one: less is a time stamp that came late from a busy driver. */
#define CLEAR_OVERLAP_MS INT64_C(250)

/* Tasks without an end go on to the end of the stage; where it has none, to the last event of the log. */
static enum err_code read_open_end(struct stage_lanes *self, struct db *db, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT coalesce(completion_ms, (SELECT last_event_ms FROM application)) FROM stage WHERE stage_ref = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_ref);
    rc = db_step(stmt, err);
    self->open_end_ms = rc == ERR_OK ? db_i64(stmt, 0) : UNKNOWN;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* How many tasks each executor had, by its ref. */
static enum err_code count_tasks(const struct stage_lanes *self, uint32_t *ret, struct err *err)
{
    for (size_t i = 0; i < self->count; i++) {
        int64_t ref = known_or(self->executor_ref[i], 0);
        if (ref < 0 || (size_t)ref >= self->ref_count)
            return err_set(err, ERR_CORRUPT, "a task names an executor that is not there");
        ret[ref]++;
    }
    return ERR_OK;
}

static bool contains(struct str text, struct str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (sqlite3_strnicmp(text.ptr + i, part.ptr, (int)part.len) == 0)
            return true;
    return false;
}

static void add_executor(struct stage_lanes *self, size_t ref, struct stage_executor executor, struct str filter)
{
    executor.is_picked = !filter.len || contains(executor.id, filter) || contains(executor.host, filter);
    self->executors[self->executor_count++] = executor;
    self->place_of_ref[ref] = (uint32_t)self->executor_count;
}

/* In local mode the driver runs the tasks, and the log says nothing of its slots unless it was announced. */
static const char executors_sql[] =
    "SELECT executor_ref, executor_id, host, coalesce(max_tasks, total_cores) FROM executor"
    " ORDER BY executor_id <> 'driver', executor_id GLOB '*[^0-9]*', CAST(executor_id AS INTEGER), executor_id, executor_ref";

static enum err_code read_executors(struct stage_lanes *self, struct db *db, struct str filter, struct arena *arena, struct err *err)
{
    int64_t last_ref;
    enum err_code rc = db_query_i64(db, "SELECT coalesce(max(executor_ref), 0) FROM executor", &last_ref, err);
    if (rc)
        return rc;
    if (last_ref < 0 || last_ref > STAGE_MAX_EXECUTOR_REF)
        return err_set(err, ERR_LIMIT, "more executors than can be drawn");
    self->ref_count = (size_t)last_ref + 1;
    self->place_of_ref = mem_array(self->ref_count, sizeof *self->place_of_ref);
    CLEANUP(mem_freep) uint32_t *tasks = mem_array(self->ref_count, sizeof *tasks);
    if (!self->place_of_ref || !tasks)
        return err_nomem(err);
    if ((rc = count_tasks(self, tasks, err)))
        return rc;
    size_t busy = 0;
    for (size_t ref = 0; ref < self->ref_count; ref++)
        busy += tasks[ref] > 0;
    sqlite3_stmt *stmt = NULL;
    if (!(self->executors = mem_array(busy + 1, sizeof *self->executors)))
        return err_nomem(err);
    if ((rc = db_prepare(db, &stmt, executors_sql, err)))
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        size_t ref = (size_t)db_i64(stmt, 0);
        if (!tasks[ref])
            continue;
        struct stage_executor executor = {.slots = db_i64(stmt, 3), .task_count = tasks[ref]};
        if (arena_str(arena, db_str(stmt, 1), &executor.id) || arena_str(arena, db_str(stmt, 2), &executor.host)) {
            rc = err_nomem(err);
            break;
        }
        if (known(executor.slots) && (executor.slots <= 0 || executor.slots > SLOTS_MAX))
            executor.slots = UNKNOWN;
        add_executor(self, ref, executor, filter);
    }
    db_finalize(stmt);
    for (size_t ref = 0; ref < self->ref_count && rc == ERR_EOF; ref++)  /* that nothing else speaks of; ref 0: of tasks that name none */
        if (tasks[ref] && !self->place_of_ref[ref])
            add_executor(self, ref, (struct stage_executor){.slots = UNKNOWN, .task_count = tasks[ref]}, filter);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code stage_lanes_open(struct stage_lanes *ret, struct db *db, struct task_columns *columns, int64_t stage_ref, struct str filter, struct arena *arena, struct err *err)
{
    *ret = (struct stage_lanes){.count = task_columns_count(columns), .begin_ms = UNKNOWN, .end_ms = UNKNOWN};
    enum err_code rc;
    if ((rc = task_columns_get(columns, "launch_ms", &ret->launch_ms, err)) || (rc = task_columns_get(columns, "finish_ms", &ret->finish_ms, err)) ||
        (rc = task_columns_get(columns, "executor_ref", &ret->executor_ref, err)) || (rc = read_open_end(ret, db, stage_ref, err)) ||
        (rc = read_executors(ret, db, filter, arena, err)))
        return rc;
    for (size_t i = 0; i < ret->count; i++) {
        int64_t begin_ms, end_ms;
        if (!stage_task_place(ret, i, &begin_ms, &end_ms))
            continue;
        ret->begin_ms = min_known(ret->begin_ms, begin_ms);
        ret->end_ms = max_known(ret->end_ms, end_ms);
    }
    return ERR_OK;
}

/* ---- lanes ---- */

struct heap {
    struct lane *lanes; /* owned */
    size_t count, capacity;
};

/* Puts a task on the lane that is free first, or opens one more. */
static enum err_code put(struct stage_lanes *self, struct heap *heap, struct stage_executor *executor, size_t task, int64_t begin_ms, int64_t end_ms, struct err *err)
{
    int64_t free_ms = heap->count ? heap->lanes[0].free_ms : INT64_MAX, late_ms = MIN(free_ms, end_ms) - begin_ms;
    bool has_slots = known(executor->slots), room = has_slots && heap->count < (size_t)executor->slots;
    bool beside = has_slots ? late_ms >= MAX(CLEAR_OVERLAP_MS, (end_ms - begin_ms + 1) / 2) : true;
    if (free_ms > begin_ms && (room || beside || !heap->count) && heap->count < SLOTS_MAX) {
        if (mem_grow((void **)&heap->lanes, &heap->capacity, heap->count + 1, SLOTS_MAX, sizeof *heap->lanes))
            return err_nomem(err);
        lane_add(heap->lanes, heap->count++, begin_ms);
    }
    self->lane[task] = heap->lanes[0].number;
    self->begun_ms[task] = MIN(MAX(begin_ms, heap->lanes[0].free_ms), end_ms);
    if (end_ms > heap->lanes[0].free_ms)
        lane_sink(heap->lanes, heap->count, end_ms);
    executor->lane_count = heap->count;
    return ERR_OK;
}

enum err_code stage_lanes_fill(struct stage_lanes *self, struct err *err)
{
    CLEANUP(mem_freep) uint64_t *order = mem_array(self->count + 1, sizeof *order);
    CLEANUP(mem_freep) uint64_t *scratch = mem_array(self->count + 1, sizeof *scratch);
    struct heap *heaps = mem_array(self->executor_count + 1, sizeof *heaps);
    self->lane = mem_array(self->count + 1, sizeof *self->lane);
    self->begun_ms = mem_array(self->count + 1, sizeof *self->begun_ms);
    enum err_code rc = order && scratch && heaps && self->lane && self->begun_ms ? ERR_OK : err_nomem(err);
    size_t placed = 0;
    int64_t begin_ms, end_ms;
    for (size_t i = 0; i < self->count && !rc; i++)
        if (stage_task_place(self, i, &begin_ms, &end_ms))
            order[placed++] = packed_item((double)(begin_ms - self->begin_ms), (uint32_t)i);
    if (!rc)
        sort_packed(order, placed, scratch);
    for (size_t i = 0; i < placed && !rc; i++) {
        size_t task = (uint32_t)order[i], executor = stage_task_executor(self, task);
        stage_task_place(self, task, &begin_ms, &end_ms);
        rc = put(self, &heaps[executor], &self->executors[executor], task, begin_ms, end_ms, err);
    }
    for (size_t e = 0; heaps && e < self->executor_count; e++)
        mem_free(heaps[e].lanes);
    mem_free(heaps);
    return rc;
}

void stage_lanes_dispose(struct stage_lanes *self)
{
    mem_free(self->executors);
    mem_free(self->place_of_ref);
    mem_free(self->lane);
    mem_free(self->begun_ms);
    *self = (struct stage_lanes){0};
}
