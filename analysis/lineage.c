/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lineage.h"

#include <stdlib.h>

#include "analysis/sort.h"
#include "base/mem.h"

#define MAX_USES ((size_t)1 << 27)

/* One RDD of the list of the stage that is walked. */
struct listed {
    uint32_t rdd;
    bool persisted;
    bool walked;
    bool from_data; /* from a source or a cache, not from what a shuffle kept alone */
};

struct walk {
    const struct facts *facts;
    struct lineage *lineage;
    size_t computed_capacity, met_capacity;
    struct sort_item *stage_refs; /* key: stage_ref */
    struct listed *list;          /* of one stage */
    size_t list_count, list_capacity;
    uint32_t *stack;
    size_t stack_count, stack_capacity;
    uint32_t *place; /* by RDD: its place in the list + 1; 0: it is not in it */
};

static uint32_t rdd_position(const struct facts *facts, int64_t rdd_id)
{
    size_t low = 0;
    for (size_t high = facts->rdd_count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (facts->rdds[i].rdd_id < rdd_id)
            low = i + 1;
        else
            high = i;
    }
    return low < facts->rdd_count && facts->rdds[low].rdd_id == rdd_id ? (uint32_t)low : NO_ENTITY;
}

static enum err_code add_use(struct lineage_use **uses, size_t *count, size_t *capacity, uint32_t rdd, uint32_t stage, struct err *err)
{
    if (mem_grow((void **)uses, capacity, *count + 1, MAX_USES, sizeof **uses))
        return err_nomem(err);
    (*uses)[(*count)++] = (struct lineage_use){rdd, stage};
    return ERR_OK;
}

static enum err_code push(struct walk *self, uint32_t rdd, struct err *err)
{
    if (mem_grow((void **)&self->stack, &self->stack_capacity, self->stack_count + 1, MAX_USES, sizeof *self->stack))
        return err_nomem(err);
    self->stack[self->stack_count++] = rdd;
    return ERR_OK;
}

static int by_rdd(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->rdd > y->rdd) - (x->rdd < y->rdd);
}

/* NULL: behind a shuffle. */
static struct listed *listed(const struct walk *self, uint32_t rdd)
{
    return rdd == NO_ENTITY || !self->place[rdd] ? NULL : &self->list[self->place[rdd] - 1];
}

/* From the stage's own RDD backwards, up to what was persisted. */
static enum err_code walk_back(struct walk *self, uint32_t own, uint32_t stage, struct err *err)
{
    const struct facts *facts = self->facts;
    struct lineage *lineage = self->lineage;
    self->stack_count = 0;
    enum err_code rc = push(self, own, err);
    while (!rc && self->stack_count) {
        struct listed *at = listed(self, self->stack[--self->stack_count]);
        if (!at || at->walked)
            continue;
        at->walked = true;
        if (at->persisted) {
            rc = add_use(&lineage->met, &lineage->met_count, &self->met_capacity, at->rdd, stage, err);
            continue;
        }
        const struct rdd_fact *fact = &facts->rdds[at->rdd];
        for (size_t p = 0; p < fact->parent_count && !rc; p++)
            rc = push(self, rdd_position(facts, fact->parents[p]), err);
    }
    return rc;
}

/* An RDD has a higher id than those it is made of: these are looked at first. */
static enum err_code note_computed(struct walk *self, uint32_t stage, struct err *err)
{
    const struct facts *facts = self->facts;
    struct lineage *lineage = self->lineage;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->list_count && !rc; i++) {
        struct listed *at = &self->list[i];
        const struct rdd_fact *fact = &facts->rdds[at->rdd];
        at->from_data = at->persisted || !fact->parent_count;
        if (!at->walked || at->from_data)
            continue;
        for (size_t p = 0; p < fact->parent_count; p++) {
            const struct listed *parent = listed(self, rdd_position(facts, fact->parents[p]));
            at->from_data |= parent && parent->from_data;
        }
        if (at->from_data)
            rc = add_use(&lineage->computed, &lineage->computed_count, &self->computed_capacity, at->rdd, stage, err);
    }
    return rc;
}

/* The first of a list is the stage's own RDD (StageInfo.fromStage puts it there), the rest are what it comes from. */
static enum err_code walk_stage(struct walk *self, uint32_t stage, struct err *err)
{
    if (!self->list_count)
        return ERR_OK;
    uint32_t own = self->list[0].rdd;
    qsort(self->list, self->list_count, sizeof *self->list, by_rdd);
    for (size_t i = 0; i < self->list_count; i++)
        self->place[self->list[i].rdd] = (uint32_t)i + 1;
    enum err_code rc = walk_back(self, own, stage, err);
    if (!rc)
        rc = note_computed(self, stage, err);
    for (size_t i = 0; i < self->list_count; i++)
        self->place[self->list[i].rdd] = 0;
    self->list_count = 0;
    return rc;
}

static bool ran(const struct stage_fact *stage)
{
    return stage->attempt == 0 && stage->attempt_count && known(stage->first_launch_ms);
}

static uint32_t stage_of_ref(const struct walk *self, int64_t stage_ref)
{
    size_t low = 0, count = self->facts->stage_count;
    for (size_t high = count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (self->stage_refs[i].key < stage_ref)
            low = i + 1;
        else
            high = i;
    }
    return low < count && self->stage_refs[low].key == stage_ref && ran(&self->facts->stages[self->stage_refs[low].position]) ? self->stage_refs[low].position : NO_ENTITY;
}

static enum err_code list_rdd(struct walk *self, uint32_t stage, uint32_t rdd, int64_t cached, int64_t unpersist_ms, struct err *err)
{
    const struct rdd_fact *fact = &self->facts->rdds[rdd];
    if (mem_grow((void **)&self->list, &self->list_capacity, self->list_count + 1, MAX_USES, sizeof *self->list))
        return err_nomem(err);
    /* Without what a job said of the stage: it was persisted at some time, and not released before the stage began. */
    bool persisted = known(cached) ? cached == 1 : fact->persisted && !(known(unpersist_ms) && unpersist_ms < self->facts->stages[stage].first_launch_ms);
    self->list[self->list_count++] = (struct listed){.rdd = rdd, .persisted = persisted};
    return ERR_OK;
}

static enum err_code walk_stages(struct walk *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(self->facts->db, &stmt,
                   "SELECT s.stage_ref, s.rdd_id, s.cached, r.unpersist_ms FROM stage_rdd s LEFT JOIN rdd r ON r.rdd_id = s.rdd_id ORDER BY s.stage_ref, s.ordinal", err);
    int64_t ref = UNKNOWN;
    uint32_t stage = NO_ENTITY;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        if (db_i64(stmt, 0) != ref) {
            if (stage != NO_ENTITY && (rc = walk_stage(self, stage, err)))
                break;
            ref = db_i64(stmt, 0);
            stage = stage_of_ref(self, ref);
        }
        uint32_t rdd = stage == NO_ENTITY ? NO_ENTITY : rdd_position(self->facts, db_i64(stmt, 1));
        if (rdd != NO_ENTITY)
            rc = list_rdd(self, stage, rdd, db_i64(stmt, 2), db_i64(stmt, 3), err);
    }
    if (rc == ERR_EOF)
        rc = stage == NO_ENTITY ? ERR_OK : walk_stage(self, stage, err);
    db_finalize(stmt);
    return rc;
}

static enum err_code order_uses(const struct facts *facts, struct lineage_use *uses, size_t count, struct err *err)
{
    if (!count)
        return ERR_OK;
    CLEANUP(mem_freep) struct sort_item *items = mem_array(2 * count, sizeof *items);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sort_item){uses[i].rdd, facts->stages[uses[i].stage].first_launch_ms, uses[i].stage};
    sort_items(items, items + count, count);
    for (size_t i = 0; i < count; i++)
        uses[i] = (struct lineage_use){(uint32_t)items[i].key, items[i].position};
    return ERR_OK;
}

enum err_code lineage_make(struct lineage *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct lineage){0};
    if (!facts->rdd_count || !facts->stage_count)
        return ERR_OK;
    struct walk walk = {.facts = facts, .lineage = ret};
    CLEANUP(mem_freep) struct sort_item *refs = mem_array(2 * facts->stage_count, sizeof *refs);
    CLEANUP(mem_freep) uint32_t *place = mem_array(facts->rdd_count, sizeof *place);
    if (!refs || !place)
        return err_nomem(err);
    for (size_t i = 0; i < facts->stage_count; i++)
        refs[i] = (struct sort_item){facts->stages[i].stage_ref, 0, (uint32_t)i};
    sort_items(refs, refs + facts->stage_count, facts->stage_count);
    walk.stage_refs = refs;
    walk.place = place;
    enum err_code rc = walk_stages(&walk, err);
    mem_free(walk.list);
    mem_free(walk.stack);
    if (!rc)
        rc = order_uses(facts, ret->computed, ret->computed_count, err);
    if (!rc)
        rc = order_uses(facts, ret->met, ret->met_count, err);
    if (rc)
        lineage_dispose(ret);
    return rc;
}

void lineage_dispose(struct lineage *self)
{
    mem_free(self->computed);
    mem_free(self->met);
    *self = (struct lineage){0};
}

size_t lineage_uses(const struct lineage_use *uses, size_t count, uint32_t rdd, size_t *ret_count)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t i = low + (high - low) / 2;
        if (uses[i].rdd < rdd)
            low = i + 1;
        else
            high = i;
    }
    size_t end = low;
    while (end < count && uses[end].rdd == rdd)
        end++;
    *ret_count = end - low;
    return low;
}
