/* SPDX-License-Identifier: Apache-2.0
 *
 * RDDs, their operation graph and their storage: spec/core.md §2.9 and §2.10. Storage needs block updates in the log (spark.eventLog.logBlockUpdates.enabled). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"
#include "base/json_pull.h"
#include "ingest/model/app_model.h"

#define MAX_SCOPE_DEPTH 100          /* nested RDD scopes; Spark makes one or two */

bool storage_level_valid(const struct storage_level *level)
{
    return (level->use_memory || level->use_disk) && level->replication > 0;
}

char *storage_level_text(const struct storage_level *level, int64_t replication, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s %lldx Replicated", level->use_disk ? "Disk " : "", !level->use_memory ? "" : level->use_off_heap ? "Memory (off heap) " : "Memory ",
             level->deserialized ? "Deserialized" : "Serialized", (long long)replication);
    return out;
}

static struct rdd *rdd_get(struct app_model *self, int64_t rdd_id)
{
    struct rdd *rdd = imap_get(&self->rdd_by_id, rdd_id);
    if (rdd)
        return rdd;
    rdd = model_entity(self, &self->rdds, sizeof *rdd);
    if (!rdd || imap_put(&self->rdd_by_id, rdd_id, rdd))
        return NULL;
    rdd->rdd_id = rdd_id;
    rdd->num_partitions = rdd->barrier = rdd->determinism = rdd->storage_partitions = rdd->unpersist_ms = rdd->held_to_ms = UNKNOWN;
    smap_init(&rdd->block_by_name, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    return rdd;
}

/* "Scope" is JSON in a text: {"id","name","parent":{…}}. Registers the chain and gives the innermost id. */
static enum err_code read_scope(struct app_model *self, struct str text, struct str *ret_id, struct err *err)
{
    CLEANUP(mem_freep) char *padded = mem_alloc(text.len + JSON_PADDING);
    if (!padded)
        return err_nomem(err);
    memcpy(padded, text.ptr, text.len);
    memset(padded + text.len, 0, JSON_PADDING);
    CLEANUP(arena_dispose) struct arena scratch;
    arena_init(&scratch, text.len * 4 + 65536);
    struct json_pull json;
    struct str raw = {padded, text.len};
    struct rdd_scope *child = NULL;
    for (int depth = 0; depth < MAX_SCOPE_DEPTH && str_known(raw); depth++) {
        struct str id = STR_NONE, name = STR_NONE, parent = STR_NONE;
        struct json_object object;
        static const struct json_key keys[] = {JSON_KEY("id", 0), JSON_KEY("name", 1), JSON_KEY("parent", 2)};
        json_pull_init(&json, raw, &scratch);
        if (json_object_begin(&json, &object, KEYS(keys)))
            for (int key; (key = json_next(&json, &object)) >= 0;)
                switch (key) {
                case 0: id = json_text(&json); break;
                case 1: name = json_text(&json); break;
                case 2: parent = json_span(&json); break;
                default: json_skip(&json);
                }
        if (json.failed || !str_known(id))
            return ERR_OK;
        if (child && arena_str(&self->arena, id, &child->parent_id))
            return err_nomem(err);
        if (!child && arena_str(&self->arena, id, ret_id))
            return err_nomem(err);
        struct rdd_scope *scope = smap_get(&self->scope_by_id, id);
        if (scope)
            return ERR_OK;   /* known, and so are those around it */
        scope = model_entity(self, &self->scopes, sizeof *scope);
        if (!scope || arena_str(&self->arena, id, &scope->id) || redact_copy(&self->arena, name, &scope->name) || smap_put(&self->scope_by_id, scope->id, scope))
            return err_nomem(err);
        child = scope;
        raw = parent;
    }
    return ERR_OK;
}

static enum err_code describe_rdd(struct app_model *self, struct rdd *rdd, const struct rdd_info *info, struct err *err)
{
    enum err_code rc;
    const struct id_list *parents = &info->parents;
    bool same_parents = parents->count == rdd->parents.count && (!parents->count || memcmp(parents->items, rdd->parents.items, parents->count * sizeof(int64_t)) == 0);
    bool same = rdd->has_level && rdd->level.use_disk == info->level.use_disk && rdd->level.use_memory == info->level.use_memory &&
                rdd->level.use_off_heap == info->level.use_off_heap && rdd->level.deserialized == info->level.deserialized && rdd->level.replication == info->level.replication &&
                rdd->num_partitions == info->num_partitions && same_parents && str_eq(rdd->name, info->name);
    if (same)
        return ERR_OK;   /* every stage describes its whole lineage again; caching, naming and checkpointing change it */
    rdd->dirty = true;
    rdd->has_level = true;
    rdd->level = info->level;
    rdd->num_partitions = info->num_partitions;
    rdd->barrier = info->barrier;
    rdd->determinism = info->determinism;
    if ((rc = model_str(self, &rdd->name, info->name, err)) || (rc = model_str(self, &rdd->callsite, info->callsite, err)))
        return rc;
    if (str_known(info->scope) && !str_known(rdd->scope_id) && (rc = read_scope(self, info->scope, &rdd->scope_id, err)))
        return rc;
    if (!same_parents) {
        rdd->parents.items = arena_alloc(&self->arena, info->parents.count * sizeof(int64_t));
        if (!rdd->parents.items)
            return err_nomem(err);
        if (info->parents.count)
            memcpy(rdd->parents.items, info->parents.items, info->parents.count * sizeof(int64_t));
        rdd->parents.count = info->parents.count;
    }
    return ERR_OK;
}

enum err_code model_rdds_of_stage(struct app_model *self, const struct stage_info *info, bool submitted, struct err *err)
{
    for (size_t i = 0; i < info->rdd_count; i++) {
        const struct rdd_info *described = &info->rdds[i];
        struct rdd *rdd = rdd_get(self, described->id);
        if (!rdd)
            return err_nomem(err);
        enum err_code rc = describe_rdd(self, rdd, described, err);
        if (rc)
            return rc;
        if (!submitted || rdd->tracked || !storage_level_valid(&described->level))
            continue;
        rdd->tracked = 1;
        rdd->unpersisted = 0;
        rdd->storage = described->level;
        rdd->storage_partitions = described->num_partitions;
        if ((rc = model_str(self, &rdd->storage_name, described->name, err)))
            return rc;
    }
    return ERR_OK;
}

static int64_t floored(int64_t sum, int64_t change)
{
    int64_t out = add_known(sum, change);
    return out < 0 ? 0 : out;
}

/* `part`: what of `memory` counts for the heap, or for what is off it. */
static void use_memory(struct executor *executor, bool off_heap, int64_t memory, int64_t part, int64_t disk)
{
    if (known(executor->on_heap_used_bytes)) {
        int64_t *sum = off_heap ? &executor->off_heap_used_bytes : &executor->on_heap_used_bytes;
        *sum = floored(*sum, part);
    }
    executor->memory_used_bytes = floored(executor->memory_used_bytes, memory);
    executor->disk_used_bytes = floored(executor->disk_used_bytes, disk);
    executor->dirty = true;
}

static void snapshot(struct rdd_distribution *d)
{
    const struct executor *executor = d->executor;
    d->address = str_known(executor->host_port) ? executor->host_port : executor->host;
    d->memory_remaining_bytes = known(executor->max_memory_bytes) ? executor->max_memory_bytes - executor->memory_used_bytes : UNKNOWN;
    d->on_heap_remaining_bytes = known(executor->max_on_heap_memory_bytes) ? executor->max_on_heap_memory_bytes - known_or(executor->on_heap_used_bytes, 0) : UNKNOWN;
    d->off_heap_remaining_bytes = known(executor->max_off_heap_memory_bytes) ? executor->max_off_heap_memory_bytes - known_or(executor->off_heap_used_bytes, 0) : UNKNOWN;
}

static struct rdd_distribution *distribution_of(struct rdd *rdd, const struct executor *executor)
{
    for (size_t i = 0; i < rdd->distribution_count; i++)
        if (rdd->distributions[i].live && rdd->distributions[i].executor == executor)
            return &rdd->distributions[i];
    return NULL;
}

static struct rdd_distribution *distribution_get(struct rdd *rdd, struct executor *executor)
{
    struct rdd_distribution *d = distribution_of(rdd, executor);
    if (d)
        return d;
    if (mem_grow((void **)&rdd->distributions, &rdd->distribution_capacity, rdd->distribution_count + 1, MODEL_MAX_ENTITIES, sizeof *rdd->distributions))
        return NULL;
    d = &rdd->distributions[rdd->distribution_count++];
    bool split = known(executor->max_on_heap_memory_bytes);
    *d = (struct rdd_distribution){.executor = executor, .live = true, .on_heap_used_bytes = split ? 0 : UNKNOWN, .off_heap_used_bytes = split ? 0 : UNKNOWN};
    return d;
}

static size_t holder_at(const struct rdd_block *block, const struct executor *executor)
{
    size_t i = 0;
    while (i < block->holder_count && block->holders[i]->id_serial != executor->id_serial)
        i++;
    return i;
}

static void drop_holder(struct rdd_block *block, size_t at)
{
    memmove(block->holders + at, block->holders + at + 1, (--block->holder_count - at) * sizeof *block->holders);
}

static void drop_block(struct rdd_block *block)
{
    block->live = false;
    block->memory_bytes = block->disk_bytes = 0;
}

/* Before the bytes of an RDD change: what it held so far counts until now. */
static void hold(const struct app_model *self, struct rdd *rdd)
{
    int64_t held_ms = elapsed_known(rdd->held_to_ms, self->last_event_ms);
    if (known(held_ms))
        rdd->held_byte_ms += ((double)rdd->memory_used_bytes + (double)rdd->disk_used_bytes) * (double)held_ms;
    rdd->held_to_ms = self->last_event_ms;
}

/* The live partition of that name, made at the end of the list when there is none. */
static struct rdd_block *block_get(struct app_model *self, struct rdd *rdd, struct str name)
{
    size_t found = (size_t)(intptr_t)smap_get(&rdd->block_by_name, name);
    if (found && rdd->blocks[found - 1].live)
        return &rdd->blocks[found - 1];
    if (mem_grow((void **)&rdd->blocks, &rdd->block_capacity, rdd->block_count + 1, MODEL_MAX_ENTITIES, sizeof *rdd->blocks))
        return NULL;
    struct rdd_block *block = &rdd->blocks[rdd->block_count];
    *block = (struct rdd_block){.live = true};
    if (arena_str(&self->arena, name, &block->block_name) || smap_put(&rdd->block_by_name, name, (void *)(intptr_t)(rdd->block_count + 1)))
        return NULL;
    rdd->block_count++;
    return block;
}

/* A block of a tracked RDD; the change of the executor's block count goes to *ret_delta. */
static enum err_code rdd_block_updated(struct app_model *self, struct rdd *rdd, struct executor *executor, const struct event_block_updated *e, int64_t memory, int64_t disk,
                                       int64_t *ret_delta, struct err *err)
{
    struct rdd_block *block = block_get(self, rdd, e->block_id);
    if (!block)
        return err_nomem(err);
    size_t at = holder_at(block, executor), held_before = block->holder_count;
    hold(self, rdd);
    if (storage_level_valid(&e->level)) {
        if (at == block->holder_count) {
            if (mem_grow((void **)&block->holders, &block->holder_capacity, block->holder_count + 1, MODEL_MAX_ENTITIES, sizeof *block->holders))
                return err_nomem(err);
            block->holders[block->holder_count++] = executor;
            *ret_delta = 1;
        }
    } else {
        if (at < block->holder_count)
            drop_holder(block, at);
        *ret_delta = -1;
    }
    if (block->holder_count) {
        block->memory_bytes = floored(block->memory_bytes, memory);
        block->disk_bytes = floored(block->disk_bytes, disk);
    } else
        drop_block(block);
    if (!held_before && block->holder_count) {
        rdd->live_partitions++;
        rdd->most_partitions = MAX(rdd->most_partitions, rdd->live_partitions);
    } else if (held_before && !block->holder_count) {
        rdd->live_partitions--;
        rdd->evicted_partitions++;
    }
    if (executor->active) {
        if (executor->rdd_blocks + *ret_delta > 0) {
            struct rdd_distribution *d = distribution_get(rdd, executor);
            if (!d)
                return err_nomem(err);
            d->memory_used_bytes = floored(d->memory_used_bytes, memory);
            d->disk_used_bytes = floored(d->disk_used_bytes, disk);
            int64_t *part = e->level.use_off_heap ? &d->off_heap_used_bytes : &d->on_heap_used_bytes;
            if (known(*part))
                *part = floored(*part, memory);
        } else {
            struct rdd_distribution *d = distribution_of(rdd, executor);
            if (d)
                d->live = false;
        }
        for (size_t i = 0; i < self->rdds.count; i++) {
            struct rdd *other = self->rdds.items[i];
            struct rdd_distribution *d = other->distribution_count ? distribution_of(other, executor) : NULL;
            if (d) {
                snapshot(d);
                other->dirty = true;
            }
        }
    }
    rdd->memory_used_bytes = floored(rdd->memory_used_bytes, memory);
    rdd->disk_used_bytes = floored(rdd->disk_used_bytes, disk);
    rdd->most_memory_bytes = MAX(rdd->most_memory_bytes, rdd->memory_used_bytes);
    rdd->most_disk_bytes = MAX(rdd->most_disk_bytes, rdd->disk_used_bytes);
    rdd->dirty = true;
    return ERR_OK;
}

static enum err_code stream_block_updated(struct app_model *self, struct executor *executor, const struct event_block_updated *e, struct err *err)
{
    struct stream_block *first = smap_get(&self->stream_block_by_name, e->block_id), *block = first;
    while (block && block->executor->id_serial != executor->id_serial)
        block = block->next;
    if (!block) {
        block = model_entity(self, &self->stream_blocks, sizeof *block);
        if (!block || arena_str(&self->arena, e->block_id, &block->block_name))
            return err_nomem(err);
        block->executor = executor;
        block->next = first;
        if (smap_put(&self->stream_block_by_name, block->block_name, block))
            return err_nomem(err);
    }
    block->live = storage_level_valid(&e->level);
    block->host_port = executor->host_port;
    block->level = e->level;
    block->memory_bytes = e->memory_bytes;
    block->disk_bytes = e->disk_bytes;
    return ERR_OK;
}

/* rdd_<id>_<partition>, whole. */
static bool rdd_of_block(struct str name, int64_t *ret_rdd_id)
{
    if (!str_starts(name, "rdd_"))
        return false;
    const char *middle = memchr(name.ptr + 4, '_', name.len - 4);
    int64_t partition;
    return middle && str_to_i64((struct str){name.ptr + 4, (size_t)(middle - name.ptr - 4)}, ret_rdd_id) &&
           str_to_i64((struct str){middle + 1, (size_t)(name.ptr + name.len - middle - 1)}, &partition);
}

/* The first block update of the log: from now on no blocks means none, not unknown. */
static void storage_known(struct app_model *self)
{
    self->block_updates_seen = true;
    for (size_t i = 0; i < self->executors.count; i++)
        ((struct executor *)self->executors.items[i])->dirty = true;
    for (size_t i = 0; i < self->rdds.count; i++)
        ((struct rdd *)self->rdds.items[i])->dirty = true;
}

enum err_code model_block_updated(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_block_updated *e = &event->block_updated;
    if (!self->block_updates_seen)
        storage_known(self);
    if (!str_known(e->manager.executor_id) || !str_known(e->block_id))
        return ERR_OK;
    struct executor *executor = model_executor_get(self, e->manager.executor_id);
    if (!executor)
        return err_nomem(err);
    int64_t memory = known_or(e->memory_bytes, 0) * (e->level.use_memory ? 1 : -1), disk = known_or(e->disk_bytes, 0) * (e->level.use_disk ? 1 : -1);
    int64_t rdd_id, delta = 0;
    if (rdd_of_block(e->block_id, &rdd_id)) {
        if (executor->active)
            use_memory(executor, e->level.use_off_heap, memory, memory, disk);
        struct rdd *rdd = imap_get(&self->rdd_by_id, rdd_id);
        if (rdd && rdd->tracked) {
            enum err_code rc = rdd_block_updated(self, rdd, executor, e, memory, disk, &delta, err);
            if (rc)
                return rc;
        }
        if (executor->active)
            executor->rdd_blocks += delta;
        return ERR_OK;
    }
    if (str_starts(e->block_id, "broadcast_") && executor->active)
        use_memory(executor, e->level.use_off_heap, memory, memory, disk);
    return str_starts(e->block_id, "input-") ? stream_block_updated(self, executor, e, err) : ERR_OK;
}

enum err_code model_unpersist(struct app_model *self, const struct event *event, struct err *err UNUSED)
{
    struct rdd *rdd = imap_get(&self->rdd_by_id, event->unpersist.rdd_id);
    if (!rdd)
        return ERR_OK;
    for (size_t i = 0; i < rdd->block_count; i++) {
        struct rdd_block *block = &rdd->blocks[i];
        for (size_t h = 0; h < block->holder_count; h++)
            if (block->holders[h]->active) {
                block->holders[h]->rdd_blocks--;
                block->holders[h]->dirty = true;
            }
        block->holder_count = 0;
        drop_block(block);
    }
    for (size_t i = 0; i < rdd->distribution_count; i++) {
        struct rdd_distribution *d = &rdd->distributions[i];
        /* Only one part is given back, the one that the RDD's level names, although blocks may have had another level: so does the History Server. */
        bool off_heap = rdd->storage.use_off_heap;
        if (d->live && d->executor->active)
            use_memory(d->executor, off_heap, -d->memory_used_bytes, -known_or(off_heap ? d->off_heap_used_bytes : d->on_heap_used_bytes, 0), -d->disk_used_bytes);
        d->live = false;
    }
    hold(self, rdd);
    rdd->live_partitions = 0;
    rdd->unpersist_ms = self->last_event_ms;
    rdd->tracked = 0;
    rdd->unpersisted = 1;
    rdd->memory_used_bytes = rdd->disk_used_bytes = 0;
    rdd->dirty = true;
    return ERR_OK;
}

void model_storage_executor_removed(struct app_model *self, struct executor *executor)
{
    for (size_t i = 0; i < self->rdds.count; i++) {
        struct rdd *rdd = self->rdds.items[i];
        struct rdd_distribution *d = rdd->distribution_count ? distribution_of(rdd, executor) : NULL;
        if (d)
            d->live = false;
        for (size_t b = 0; b < rdd->block_count; b++) {
            struct rdd_block *block = &rdd->blocks[b];
            size_t at = block->live ? holder_at(block, executor) : block->holder_count;
            if (at == block->holder_count)
                continue;
            hold(self, rdd);
            int64_t memory = block->memory_bytes / (int64_t)block->holder_count, disk = block->disk_bytes / (int64_t)block->holder_count;
            rdd->memory_used_bytes = floored(rdd->memory_used_bytes, -memory);
            rdd->disk_used_bytes = floored(rdd->disk_used_bytes, -disk);
            block->memory_bytes = floored(block->memory_bytes, -memory);
            block->disk_bytes = floored(block->disk_bytes, -disk);
            drop_holder(block, at);
            if (!block->holder_count) {
                drop_block(block);
                rdd->live_partitions--;
            }
        }
        if (rdd->tracked)
            rdd->dirty = true;
    }
}

void model_storage_free(struct app_model *self)
{
    for (size_t i = 0; i < self->rdds.count; i++) {
        struct rdd *rdd = self->rdds.items[i];
        for (size_t b = 0; b < rdd->block_count; b++)
            mem_free(rdd->blocks[b].holders);
        mem_free(rdd->blocks);
        mem_free(rdd->distributions);
        smap_dispose(&rdd->block_by_name);
    }
}
