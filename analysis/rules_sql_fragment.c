/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of plans that several queries computed (RDD.RECOMPUTE, spec/findings.md 7.6): what lies below a shuffle, told alike but for ids, and as many rows each time, so that the same words about
 * a table that grew are no repetition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/recompute.h"
#include "analysis/sql_pass.h"
#include "base/map.h"
#include "base/mem.h"

#define FRAGMENTS_MAX ((size_t)1 << 22)
#define PLAN_FRAGMENTS 1000 /* of one plan */
#define FRAGMENT_STAGES 64  /* of one fragment: they are priced */
#define NAME_BYTES 200

struct fragment {
    uint64_t hash; /* of its nodes and its rows */
    int64_t root_id, execution_id, node_id;
    uint32_t position;           /* of the shuffle in its plan */
    uint32_t writer;             /* the stage that wrote the shuffle */
    int64_t begin_ms;            /* of that stage */
    double cost_ms;              /* Σ o' of it and of the writers below */
    size_t plan_first, plan_end; /* the fragments of its plan */
    size_t above;                /* the fragment that this one is a part of; SIZE_MAX: none */
    struct str name;             /* in the arena of findings */
};

/* Of the plan at hand, by position of node. */
struct walk {
    uint64_t *hashes;
    uint8_t *states; /* 0 not seen, 1 under way, 2 done */
    uint32_t *stack;
    size_t *fragments; /* of a shuffle */
};

static bool is_wrapper(const struct plan_node *node)
{
    return plan_is_shuffle_read(node) || plan_named(node, "ShuffleQueryStage") || plan_named(node, "BroadcastQueryStage") || plan_named(node, "InputAdapter");
}

static uint64_t hash_node(const struct plan *plan, const struct walk *walk, uint32_t position)
{
    const struct plan_node *node = &plan->nodes[position];
    uint64_t hash = is_wrapper(node) ? 0 : plan_text_hash(node->text, plan_text_hash(node->name, node->child_count));
    for (size_t i = 0; i < node->child_count; i++)
        hash = hash_i64((int64_t)(hash ^ walk->hashes[node->children[i]]));
    return hash;
}

/* Children before parents; of a circle, which no plan has, the way back counts as nothing. */
static void hash_plan(const struct plan *plan, struct walk *walk)
{
    for (uint32_t start = 0; start < plan->node_count; start++) {
        size_t depth = 0;
        if (!walk->states[start])
            walk->stack[depth++] = start;
        while (depth) {
            uint32_t at = walk->stack[depth - 1];
            const struct plan_node *node = &plan->nodes[at];
            uint32_t next = NO_ENTITY;
            walk->states[at] = 1;
            for (size_t i = 0; i < node->child_count && next == NO_ENTITY; i++)
                if (!walk->states[node->children[i]])
                    next = node->children[i];
            if (next != NO_ENTITY) {
                walk->stack[depth++] = next;
                continue;
            }
            walk->hashes[at] = hash_node(plan, walk, at);
            walk->states[at] = 2;
            depth--;
        }
    }
}

/* "HashAggregate (db.orders)": the operator whose rows are shuffled, and what it begins with. */
static struct str fragment_name(struct sql_pass *pass, const struct plan_node *shuffle)
{
    char text[NAME_BYTES];
    const struct plan *plan = pass->plan;
    const struct plan_node *top = shuffle->child_count ? &plan->nodes[shuffle->children[0]] : shuffle, *node = top;
    for (size_t steps = 0; steps <= plan->node_count && node->child_count && !plan_is_scan(node); steps++)
        node = &plan->nodes[node->children[0]];
    struct str source = plan_is_scan(node) ? scan_source(pass, node) : node->name, kept = STR_NONE;
    size_t most = utf8_valid_prefix(source.ptr ? source.ptr : "", MIN(source.len, (size_t)100)),
           len = utf8_valid_prefix(top->name.ptr ? top->name.ptr : "", MIN(top->name.len, (size_t)60));
    snprintf(text, sizeof text, "%.*s (%.*s)", (int)len, top->name.ptr ? top->name.ptr : "", (int)most, source.ptr ? source.ptr : "");
    return arena_str(pass->findings->arena, str_of(text), &kept) ? STR_NONE : kept;
}

/* A shuffle that this very execution wrote: one that it took from an earlier one was not computed again. */
static enum err_code note_fragment(struct sql_pass *pass, struct walk *walk, uint32_t position, struct err *err)
{
    const struct plan_node *node = &pass->plan->nodes[position];
    const struct sql_fact *sql = &pass->facts->sqls[pass->plan->sql];
    double rows = plan_total(pass->plan, node, "shuffle records written");
    uint32_t writer = NO_ENTITY, reader;
    enum err_code rc = rows > 0 ? shuffle_stages(pass, node, &writer, &reader, err) : ERR_OK;
    if (rc || writer == NO_ENTITY || !pass->facts->stages[writer].winner_count)
        return rc;
    if (mem_grow((void **)&pass->fragments, &pass->fragment_capacity, pass->fragment_count + 1, FRAGMENTS_MAX, sizeof *pass->fragments))
        return err_nomem(err);
    walk->fragments[position] = pass->fragment_count;
    pass->fragments[pass->fragment_count++] = (struct fragment){.hash = hash_i64((int64_t)(walk->hashes[position] ^ (uint64_t)rows)),
                                                                .root_id = known_or(sql->root_id, sql->execution_id),
                                                                .execution_id = sql->execution_id,
                                                                .node_id = node->node_id,
                                                                .position = position,
                                                                .writer = writer,
                                                                .begin_ms = pass->facts->stages[writer].first_launch_ms,
                                                                .above = SIZE_MAX,
                                                                .name = fragment_name(pass, node)};
    return ERR_OK;
}

/* Which one each is a part of; what they cost with what lies below. */
static void connect(struct sql_pass *pass, const struct walk *walk, size_t first)
{
    const struct plan *plan = pass->plan;
    for (size_t i = first; i < pass->fragment_count; i++) {
        struct fragment *of = &pass->fragments[i];
        uint32_t at = of->position;
        of->plan_first = first;
        of->plan_end = pass->fragment_count;
        for (size_t steps = 0; of->above == SIZE_MAX && steps < plan->node_count && plan->nodes[at].parent_count; steps++) {
            at = plan->nodes[at].parents[0];
            of->above = walk->fragments[at];
        }
    }
    for (size_t i = first; i < pass->fragment_count; i++) {
        double own = pass->judged->accounts->stages[pass->fragments[i].writer].occupancy_ms;
        for (size_t up = i, steps = 0; up != SIZE_MAX && steps < PLAN_FRAGMENTS; up = pass->fragments[up].above, steps++)
            pass->fragments[up].cost_ms += own;
    }
}

enum err_code sql_note_fragments(struct sql_pass *pass, struct err *err)
{
    const struct plan *plan = pass->plan;
    size_t first = pass->fragment_count, count = plan->node_count + 1;
    if (plan->sql == NO_ENTITY)
        return ERR_OK;
    struct walk walk = {arena_zalloc(&pass->scratch, count, sizeof *walk.hashes), arena_zalloc(&pass->scratch, count, sizeof *walk.states),
                        arena_zalloc(&pass->scratch, count, sizeof *walk.stack), arena_zalloc(&pass->scratch, count, sizeof *walk.fragments)};
    if (!walk.hashes || !walk.states || !walk.stack || !walk.fragments)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        walk.fragments[i] = SIZE_MAX;
    hash_plan(plan, &walk);
    enum err_code rc = ERR_OK;
    for (uint32_t i = 0; i < plan->node_count && pass->fragment_count - first < PLAN_FRAGMENTS && !rc; i++)
        if (plan_is_shuffle(&plan->nodes[i]))
            rc = note_fragment(pass, &walk, i, err);
    if (!rc)
        connect(pass, &walk, first);
    return rc;
}

/* ---- behind the last plan */

static int by_hash(const void *a, const void *b)
{
    const struct fragment *x = *(struct fragment *const *)a, *y = *(struct fragment *const *)b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->root_id != y->root_id)
        return x->root_id < y->root_id ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_begin(const void *a, const void *b)
{
    const struct fragment *x = *(struct fragment *const *)a, *y = *(struct fragment *const *)b;
    if (x->begin_ms != y->begin_ms)
        return x->begin_ms < y->begin_ms ? -1 : 1;
    return (x > y) - (x < y);
}

/* Stages of a fragment: its own, then those of its parts. */
static void list_stages(const struct sql_pass *pass, const struct fragment *of, struct computation *ret, uint32_t room[FRAGMENT_STAGES])
{
    size_t self = (size_t)(of - pass->fragments), count = 0;
    room[count++] = of->writer;
    for (size_t i = of->plan_first; i < of->plan_end && count < FRAGMENT_STAGES; i++) {
        size_t up = i == self ? SIZE_MAX : i;
        for (size_t steps = 0; up != SIZE_MAX && up != self && steps < PLAN_FRAGMENTS; steps++)
            up = pass->fragments[up].above;
        if (up == self)
            room[count++] = pass->fragments[i].writer;
    }
    *ret = (struct computation){room, count, of->cost_ms};
}

static enum err_code tell(const struct sql_pass *pass, struct fragment **group, size_t count, struct err *err)
{
    CLEANUP(mem_freep) struct computation *computations = mem_array(count, sizeof *computations);
    CLEANUP(mem_freep) uint32_t *rooms = mem_array(count, FRAGMENT_STAGES * sizeof *rooms);
    char key[NODE_KEY_BYTES];
    if (!computations || !rooms)
        return err_nomem(err);
    qsort(group, count, sizeof *group, by_begin);
    for (size_t i = 0; i < count; i++)
        list_stages(pass, group[i], &computations[i], rooms + i * FRAGMENT_STAGES);
    snprintf(key, sizeof key, "%lld/%lld", (long long)group[0]->execution_id, (long long)group[0]->node_id);
    recompute_tell(pass->judged, pass->findings, computations, count, SUBJECT_NODE, key, group[0]->name);
    return ERR_OK;
}

enum err_code sql_repeated_fragments(struct sql_pass *pass, struct err *err)
{
    CLEANUP(mem_freep) struct fragment **order = mem_array(pass->fragment_count + 1, sizeof *order);
    CLEANUP(mem_freep) size_t *times = mem_array(pass->fragment_count + 1, sizeof *times); /* in how many queries; by fragment */
    size_t kept = 0;
    if (!order || !times)
        return err_nomem(err);
    for (size_t i = 0; i < pass->fragment_count; i++)
        order[i] = &pass->fragments[i];
    qsort(order, pass->fragment_count, sizeof *order, by_hash);
    /* A query that computes it twice counts once, with the first. */
    for (size_t i = 0; i < pass->fragment_count; i++)
        if (!kept || order[kept - 1]->hash != order[i]->hash || order[kept - 1]->root_id != order[i]->root_id)
            order[kept++] = order[i];
    for (size_t i = 0, end; i < kept; i = end) {
        for (end = i; end < kept && order[end]->hash == order[i]->hash; end++)
            ;
        for (size_t k = i; k < end; k++)
            times[order[k] - pass->fragments] = end - i;
    }
    enum err_code rc = ERR_OK;
    for (size_t i = 0, end; i < kept && !rc; i = end) {
        bool is_part = false;
        for (end = i; end < kept && order[end]->hash == order[i]->hash; end++) {
            size_t above = order[end]->above;
            is_part |= above != SIZE_MAX && times[above] >= times[order[end] - pass->fragments];
        }
        if (end - i >= 2 && !is_part)
            rc = tell(pass, order + i, end - i, err);
    }
    return rc;
}
