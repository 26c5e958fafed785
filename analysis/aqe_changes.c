/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/aqe_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plan.h"
#include "base/mem.h"

#define ARENA_BYTES ((size_t)128 << 20)
#define MAX_CHANGES ((size_t)1 << 20)
#define TEXT_BYTES 300

const char *const aqe_change_names[AQE_CHANGE_KIND_COUNT] = {"coalesced", "skew split", "local read", "join", "empty side removed", "exchange reused", "broadcast abandoned"};

/* What a version of a plan shows. */
enum trait_kind { TRAIT_JOIN, TRAIT_READ, TRAIT_EMPTY, TRAIT_REUSED };
struct trait {
    enum trait_kind kind;
    uint64_t identity;
    uint64_t value; /* strategy or way of reading, hashed */
    uint32_t node;
};

struct traits {
    struct trait *items;
    size_t count, capacity;
};

struct differ {
    struct aqe_changes *out;
    struct plan_reader *reader;
    const struct plan *plan;
    struct traits now, before;
    struct arena names;       /* of strategies in `before` */
    struct str *before_names; /* by trait of `before` */
    size_t names_capacity, capacity;
    size_t first; /* change of the present execution */
    int64_t execution_id;
};

/* ---- traits */

/* Keys of a join without its strategy; of a shuffle without the id that each plan gives it anew. */
static uint64_t join_identity(const struct plan_node *node)
{
    const char *open = node->text.len ? memchr(node->text.ptr, '[', node->text.len) : NULL;
    struct str keys = open ? (struct str){open, node->text.len - (size_t)(open - node->text.ptr)} : STR_LIT("");
    size_t lists = 0, end = 0;
    int depth = 0;
    for (; end < keys.len && lists < 2; end++) {
        depth += (keys.ptr[end] == '[') - (keys.ptr[end] == ']');
        lists += depth == 0 && keys.ptr[end] == ']';
    }
    keys.len = end;
    return hash_bytes(keys.ptr, keys.len);
}

static uint64_t shuffle_identity(const struct plan_node *node)
{
    struct str text = node->text;
    const char *id = text.len ? memmem(text.ptr, text.len, ", [plan_id=", 11) : NULL;
    if (!id && text.len)
        id = memmem(text.ptr, text.len, ", [id=#", 7);
    if (id)
        text.len = (size_t)(id - text.ptr);
    return hash_bytes(text.ptr ? text.ptr : "", text.len);
}

static struct str read_way(const struct plan_node *node)
{
    const char *blank = node->text.len ? memchr(node->text.ptr, ' ', node->text.len) : NULL;
    return blank ? (struct str){blank + 1, node->text.len - (size_t)(blank + 1 - node->text.ptr)} : STR_LIT("");
}

static struct str strategy(const struct plan_node *node)
{
    const char *open = memchr(node->name.ptr, '(', node->name.len);
    return open ? (struct str){node->name.ptr, (size_t)(open - node->name.ptr)} : node->name;
}

static enum err_code add_trait(struct traits *self, enum trait_kind kind, uint64_t identity, struct str value, uint32_t node, struct err *err)
{
    if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, 2 * PLAN_MAX_NODES, sizeof *self->items))
        return err_nomem(err);
    self->items[self->count++] = (struct trait){kind, identity, hash_bytes(value.ptr ? value.ptr : "", value.len), node};
    return ERR_OK;
}

static enum err_code node_traits(struct differ *self, uint32_t position, struct err *err)
{
    const struct plan_node *node = &self->plan->nodes[position];
    if (plan_is_join(node))
        return add_trait(&self->now, TRAIT_JOIN, join_identity(node), strategy(node), position, err);
    if (plan_is_shuffle_read(node)) {
        uint32_t child = plan_child(self->plan, node), shuffle = child == NO_ENTITY ? NO_ENTITY : plan_shuffle_below(self->plan, child);
        return shuffle == NO_ENTITY ? ERR_OK : add_trait(&self->now, TRAIT_READ, shuffle_identity(&self->plan->nodes[shuffle]), read_way(node), position, err);
    }
    bool empty = plan_named(node, "EmptyRelation") || (plan_named(node, "LocalTableScan") && node->text.len && memmem(node->text.ptr, node->text.len, "<empty>", 7));
    if (empty)
        return add_trait(&self->now, TRAIT_EMPTY, 0, STR_NONE, position, err);
    if (plan_named(node, "ReusedExchange") || (plan_is_shuffle(node) && node->parent_count > 1))
        return add_trait(&self->now, TRAIT_REUSED, 0, STR_NONE, position, err);
    return ERR_OK;
}

static int by_trait(const void *a, const void *b)
{
    const struct trait *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->identity != y->identity)
        return x->identity < y->identity ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* ---- from one version to the next */

static enum err_code copy_text(struct arena *arena, struct str text, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    if (!text.len)
        return ERR_OK;
    text.len = utf8_valid_prefix(text.ptr, MIN(text.len, (size_t)TEXT_BYTES));
    return arena_str(arena, text, ret) ? err_nomem(err) : ERR_OK;
}

static enum err_code add_change(struct differ *self, enum aqe_change_kind kind, const struct trait *trait, struct str before, struct str after, struct err *err)
{
    struct aqe_changes *out = self->out;
    const double unknown = (double)NAN;
    enum err_code rc;
    if (mem_grow((void **)&out->rows, &self->capacity, out->count + 1, MAX_CHANGES, sizeof *out->rows))
        return err_set(err, ERR_LIMIT, "more changes of plans than are kept");
    struct aqe_change *change = &out->rows[out->count];
    *change = (struct aqe_change){.execution_id = self->plan->execution_id,
                                  .version = self->plan->version,
                                  .logged_ms = self->plan->logged_ms,
                                  .kind = kind,
                                  .identity = trait->identity,
                                  .node_id = UNKNOWN,
                                  .partitions_before = unknown,
                                  .partitions_after = unknown,
                                  .skewed = unknown,
                                  .splits = unknown,
                                  .size_min = unknown,
                                  .size_median = unknown,
                                  .size_max = unknown,
                                  .shuffle_bytes = unknown,
                                  .stage = NO_ENTITY};
    if ((rc = copy_text(&out->arena, self->plan->nodes[trait->node].text, &change->text, err)) || (rc = copy_text(&out->arena, before, &change->before, err)) ||
        (rc = copy_text(&out->arena, after, &change->after, err)))
        return rc;
    out->count++;
    return ERR_OK;
}

static bool says(struct str text, const char *word)
{
    return text.len && memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static enum err_code new_read(struct differ *self, const struct trait *trait, struct err *err)
{
    struct str way = read_way(&self->plan->nodes[trait->node]);
    enum err_code rc = ERR_OK;
    if (says(way, "coalesced"))
        rc = add_change(self, AQE_COALESCED, trait, STR_NONE, STR_NONE, err);
    if (!rc && says(way, "skewed"))
        rc = add_change(self, AQE_SKEW_SPLIT, trait, STR_NONE, STR_NONE, err);
    return rc || !says(way, "local") ? rc : add_change(self, AQE_LOCAL_READ, trait, STR_NONE, STR_NONE, err);
}

/* The trait that both have in common but for its value; NULL: there is none. */
static const struct trait *counterpart(const struct traits *in, const struct trait *trait, size_t from)
{
    for (size_t i = from; i < in->count && in->items[i].kind == trait->kind && in->items[i].identity == trait->identity; i++)
        return &in->items[i];
    return NULL;
}

/* Both lists are in order; what is in `now` more often than in `before` is new. */
static enum err_code compare(struct differ *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    size_t k = 0;
    for (size_t i = 0; i < self->now.count && !rc; i++) {
        const struct trait *trait = &self->now.items[i];
        while (k < self->before.count &&
               (self->before.items[k].kind < trait->kind || (self->before.items[k].kind == trait->kind && self->before.items[k].identity < trait->identity)))
            k++;
        size_t same = k;
        while (same < self->before.count && self->before.items[same].kind == trait->kind && self->before.items[same].identity == trait->identity &&
               self->before.items[same].value < trait->value)
            same++;
        if (same < self->before.count && self->before.items[same].kind == trait->kind && self->before.items[same].identity == trait->identity &&
            self->before.items[same].value == trait->value) {
            k = trait->kind == TRAIT_EMPTY || trait->kind == TRAIT_REUSED ? same + 1 : k; /* these are counted */
            continue;
        }
        const struct trait *was = counterpart(&self->before, trait, k);
        struct str after = strategy(&self->plan->nodes[trait->node]);
        switch (trait->kind) {
        case TRAIT_JOIN:
            if (was) {
                struct str before = self->before_names[was - self->before.items];
                bool abandoned = str_starts(before, "Broadcast") && !str_starts(after, "Broadcast");
                rc = add_change(self, abandoned ? AQE_BROADCAST_ABANDONED : AQE_JOIN, trait, before, after, err);
            }
            break;
        case TRAIT_READ: rc = new_read(self, trait, err); break;
        case TRAIT_EMPTY: rc = add_change(self, AQE_EMPTY, trait, STR_NONE, STR_NONE, err); break;
        case TRAIT_REUSED: rc = add_change(self, AQE_REUSED, trait, STR_NONE, STR_NONE, err); break;
        }
    }
    return rc;
}

/* The present version becomes the one before; names of its strategies outlive it. */
static enum err_code keep_version(struct differ *self, struct err *err)
{
    struct traits swapped = self->before;
    self->before = self->now;
    self->now = swapped;
    self->now.count = 0;
    arena_reset(&self->names);
    if (self->before.count && mem_grow((void **)&self->before_names, &self->names_capacity, self->before.count, 2 * PLAN_MAX_NODES, sizeof *self->before_names))
        return err_nomem(err);
    for (size_t i = 0; i < self->before.count; i++) {
        enum err_code rc = copy_text(&self->names, strategy(&self->plan->nodes[self->before.items[i].node]), &self->before_names[i], err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* ---- numbers, out of the latest version */

static enum err_code fed_stage(struct differ *self, const struct plan_node *shuffle, uint32_t *ret, struct err *err)
{
    static const char *const names[] = {"records read", "local blocks read", "remote blocks read"};
    for (size_t i = 0; i < ARRAY_LENGTH(names) && *ret == NO_ENTITY; i++) {
        const struct plan_metric *metric = plan_metric(self->plan, shuffle, names[i]);
        const uint32_t *stages;
        size_t count;
        if (!metric)
            continue;
        enum err_code rc = plan_stages(self->reader, metric->accumulator_id, &stages, &count, err);
        if (rc)
            return rc;
        if (count)
            *ret = stages[count - 1];
    }
    return ERR_OK;
}

static enum err_code fill_read(struct differ *self, struct aqe_change *change, const struct plan_node *read, struct err *err)
{
    uint32_t child = plan_child(self->plan, read), shuffle = child == NO_ENTITY ? NO_ENTITY : plan_shuffle_below(self->plan, child);
    const struct plan_metric *size = plan_metric(self->plan, read, "partition data size");
    change->partitions_after = plan_total(self->plan, read, "number of partitions");
    change->skewed = plan_total(self->plan, read, "number of skewed partitions");
    change->splits = plan_total(self->plan, read, "number of skewed partition splits");
    if (size) {
        change->size_min = known(size->min) ? (double)size->min : (double)NAN;
        change->size_median = known(size->median) ? (double)size->median : (double)NAN;
        change->size_max = known(size->max) ? (double)size->max : (double)NAN;
    }
    if (shuffle == NO_ENTITY)
        return ERR_OK;
    change->partitions_before = plan_total(self->plan, &self->plan->nodes[shuffle], "number of partitions");
    change->shuffle_bytes = plan_total(self->plan, &self->plan->nodes[shuffle], "shuffle bytes written");
    return fed_stage(self, &self->plan->nodes[shuffle], &change->stage, err);
}

static enum err_code fill(struct differ *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = self->first; i < self->out->count && !rc; i++) {
        struct aqe_change *change = &self->out->rows[i];
        enum trait_kind kind = change->kind == AQE_JOIN || change->kind == AQE_BROADCAST_ABANDONED ? TRAIT_JOIN : TRAIT_READ;
        if (change->kind == AQE_EMPTY || change->kind == AQE_REUSED)
            continue;
        struct trait wanted = {.kind = kind, .identity = change->identity};
        size_t low = 0;
        for (size_t high = self->now.count; low < high;) {
            size_t at = low + (high - low) / 2;
            if (by_trait(&self->now.items[at], &wanted) < 0)
                low = at + 1;
            else
                high = at;
        }
        const struct trait *found = low < self->now.count ? counterpart(&self->now, &wanted, low) : NULL;
        if (!found)
            continue;
        change->node_id = self->plan->nodes[found->node].node_id;
        if (kind == TRAIT_READ)
            rc = fill_read(self, change, &self->plan->nodes[found->node], err);
    }
    return rc;
}

static enum err_code next_version(struct differ *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    bool same = self->plan->execution_id == self->execution_id;
    if (!same) {
        self->execution_id = self->plan->execution_id;
        self->first = self->out->count;
    }
    self->now.count = 0;
    for (uint32_t i = 0; i < self->plan->node_count && !rc; i++)
        rc = node_traits(self, i, err);
    if (self->now.count)
        qsort(self->now.items, self->now.count, sizeof *self->now.items, by_trait);
    if (!rc && same)
        rc = compare(self, err);
    if (!rc && self->plan->latest)
        rc = fill(self, err);
    return rc ? rc : keep_version(self, err);
}

struct job_begin {
    int64_t execution_id, begin_ms;
};

static int by_begin(const void *a, const void *b)
{
    const struct job_begin *x = a, *y = b;
    if (x->execution_id != y->execution_id)
        return x->execution_id < y->execution_id ? -1 : 1;
    return (x->begin_ms > y->begin_ms) - (x->begin_ms < y->begin_ms);
}

/* The first job of the query from the update on: what lies between is the time in which the rest was planned anew. */
static enum err_code replanning(struct aqe_changes *self, const struct facts *facts, struct err *err)
{
    CLEANUP(mem_freep) struct job_begin *begins = mem_array(facts->job_count + 1, sizeof *begins);
    size_t count = 0;
    if (!begins)
        return err_nomem(err);
    for (size_t i = 0; i < facts->job_count; i++)
        if (known(facts->jobs[i].sql_execution_id))
            begins[count++] = (struct job_begin){facts->jobs[i].sql_execution_id, facts->jobs[i].begin_ms};
    qsort(begins, count, sizeof *begins, by_begin);
    for (size_t i = 0; i < self->count; i++) {
        struct aqe_change *change = &self->rows[i];
        const struct job_begin wanted = {change->execution_id, change->logged_ms};
        size_t low = 0;
        for (size_t high = count; low < high;) {
            size_t at = low + (high - low) / 2;
            if (by_begin(&begins[at], &wanted) < 0)
                low = at + 1;
            else
                high = at;
        }
        bool follows = known(change->logged_ms) && low < count && begins[low].execution_id == change->execution_id;
        change->replanning_ms = follows ? elapsed_known(change->logged_ms, begins[low].begin_ms) : UNKNOWN;
    }
    return ERR_OK;
}

enum err_code aqe_changes_make(struct aqe_changes *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct aqe_changes){0};
    arena_init(&ret->arena, ARENA_BYTES);
    struct differ self = {.out = ret, .execution_id = UNKNOWN};
    arena_init(&self.names, PLAN_ARENA_BYTES);
    enum err_code rc = plan_reader_open(&self.reader, facts, PLANS_CHANGED, err);
    while (!rc && (rc = plan_next(self.reader, &self.plan, err)) == ERR_OK)
        rc = next_version(&self, err);
    plan_reader_close(self.reader);
    mem_free(self.now.items);
    mem_free(self.before.items);
    mem_free(self.before_names);
    arena_dispose(&self.names);
    rc = rc == ERR_EOF ? replanning(ret, facts, err) : rc;
    if (rc)
        aqe_changes_dispose(ret);
    return rc;
}

void aqe_changes_dispose(struct aqe_changes *self)
{
    mem_free(self->rows);
    arena_dispose(&self->arena);
    *self = (struct aqe_changes){0};
}

enum err_code aqe_changes_store(const struct aqe_changes *self, const struct facts *facts, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "INSERT INTO aqe_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct aqe_change *change = &self->rows[i];
        const double numbers[] = {change->partitions_before, change->partitions_after, change->skewed,   change->splits,
                                  change->size_min,          change->size_median,      change->size_max, change->shuffle_bytes};
        int at = 1;
        db_bind_i64(stmt, at++, (int64_t)i + 1);
        db_bind_i64(stmt, at++, change->execution_id);
        db_bind_i64(stmt, at++, change->version);
        db_bind_i64(stmt, at++, change->logged_ms);
        db_bind_str(stmt, at++, str_of(aqe_change_names[change->kind]));
        db_bind_i64(stmt, at++, change->node_id);
        db_bind_str(stmt, at++, change->text);
        db_bind_str(stmt, at++, change->before);
        db_bind_str(stmt, at++, change->after);
        for (size_t k = 0; k < ARRAY_LENGTH(numbers); k++)
            db_bind_f64(stmt, at++, numbers[k]);
        db_bind_i64(stmt, at++, change->stage == NO_ENTITY ? UNKNOWN : facts->stages[change->stage].stage_ref);
        db_bind_i64(stmt, at++, change->replanning_ms);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
