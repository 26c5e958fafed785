/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/cleaner.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "ingest/load_queue.h"
#include "ingest/source/log_remove.h"

#define MOST_LOGS LOAD_QUEUE_MAX
#define KEY_BYTES ((size_t)1 << 33)          /* of application ids; they are in the catalogue already */

struct planning {
    const struct clean_scope *scope;
    struct clean_plan *plan;
    struct smap apps;                        /* application id → its number + 1 */
    struct clean_log *logs;                  /* owned */
    int64_t *ids;                            /* owned; as logs */
    size_t count, log_capacity, id_capacity;
    size_t at;                               /* second pass: the next of logs */
    int64_t now_ms;
};

static bool in_scope(const struct clean_scope *scope, const char *place)
{
    for (size_t i = 0; i < scope->place_count; i++)
        if (strcmp(scope->places[i], place) == 0)
            return true;
    return false;
}

static int64_t updated_ms(const struct catalog_clean_row *row)
{
    int64_t updated = MAX(row->modified_ms, known_or(row->grown_ms, 0));
    return row->complete || !row->app_id ? updated : MAX(updated, row->first_seen_ms);
}

/* −1: out of memory. */
static int number_app(struct planning *self, const char *app_id, int64_t *ret)
{
    *ret = UNKNOWN;
    if (!app_id)
        return 0;
    void *found = smap_get(&self->apps, str_of(app_id));
    if (!found) {
        found = (void *)(uintptr_t)(self->apps.count + 1);
        if (smap_put(&self->apps, str_of(app_id), found))
            return -1;
    }
    *ret = (int64_t)(uintptr_t)found;
    return 0;
}

static enum err_code gather(void *context, const struct catalog_clean_row *row)
{
    struct planning *self = context;
    if (!in_scope(self->scope, row->place))
        return ERR_OK;
    struct clean_log log = {.updated_ms = updated_ms(row), .ended = row->complete,
        .settled = row->state != LOG_WAITING && row->state != LOG_LOADING && clean_is_settled(row->first_seen_ms, self->scope->settle_ms, self->now_ms)};
    if (number_app(self, row->app_id, &log.app) || mem_grow((void **)&self->logs, &self->log_capacity, self->count + 1, MOST_LOGS, sizeof *self->logs) ||
        mem_grow((void **)&self->ids, &self->id_capacity, self->count + 1, MOST_LOGS, sizeof *self->ids))
        return ERR_NOMEM;
    self->plan->unsettled_count += !log.settled;
    self->ids[self->count] = row->log_id;
    self->logs[self->count++] = log;
    return ERR_OK;
}

static char *copy_of(const char *text, bool *out_of_memory)
{
    char *copy = text ? mem_strndup(text, strlen(text)) : NULL;
    *out_of_memory |= text && !copy;
    return copy;
}

static void item_dispose(struct clean_item *item)
{
    char *const texts[] = {item->path, item->place, item->fingerprint, item->app_id, item->attempt_id, item->name};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        mem_free(texts[i]);
}

/* The rows come in the order of the first pass; one that is new or gone since then is passed over. */
static enum err_code keep_chosen(void *context, const struct catalog_clean_row *row)
{
    struct planning *self = context;
    struct clean_plan *plan = self->plan;
    while (self->at < self->count && self->ids[self->at] < row->log_id)
        self->at++;
    if (self->at == self->count || self->ids[self->at] != row->log_id || !self->logs[self->at].reason)
        return ERR_OK;
    if (mem_grow((void **)&plan->items, &plan->capacity, plan->count + 1, MOST_LOGS, sizeof *plan->items))
        return ERR_NOMEM;
    bool out_of_memory = false;
    struct clean_item item = {.log_id = row->log_id, .layout = row->layout, .bytes = row->bytes, .updated_ms = self->logs[self->at].updated_ms, .state = row->state,
        .run_stays = row->loaded, .reason = self->logs[self->at].reason, .path = copy_of(row->path, &out_of_memory), .place = copy_of(row->place, &out_of_memory),
        .fingerprint = copy_of(row->fingerprint, &out_of_memory), .app_id = copy_of(row->app_id, &out_of_memory), .attempt_id = copy_of(row->attempt_id, &out_of_memory),
        .name = copy_of(row->name, &out_of_memory)};
    if (out_of_memory) {
        item_dispose(&item);
        return ERR_NOMEM;
    }
    plan->items[plan->count++] = item;
    plan->bytes += item.bytes;
    return ERR_OK;
}

enum err_code clean_plan_make(struct clean_plan *ret, struct db *catalog, const struct clean_scope *scope, const struct clean_rules *rules, int64_t now_ms, struct err *err)
{
    *ret = (struct clean_plan){0};
    struct planning self = {.scope = scope, .plan = ret, .now_ms = now_ms};
    smap_init(&self.apps, MOST_LOGS, KEY_BYTES);
    enum err_code rc = catalog_each_to_clean(catalog, gather, &self, err);
    if (!rc && clean_choose(self.logs, self.count, rules, now_ms))
        rc = err_nomem(err);
    if (!rc)
        rc = catalog_each_to_clean(catalog, keep_chosen, &self, err);
    ret->log_count = self.count;
    smap_dispose(&self.apps);
    mem_free(self.logs);
    mem_free(self.ids);
    if (rc)
        clean_plan_dispose(ret);
    return rc;
}

void clean_plan_dispose(struct clean_plan *self)
{
    for (size_t i = 0; i < self->count; i++)
        item_dispose(&self->items[i]);
    mem_free(self->items);
    *self = (struct clean_plan){0};
}

/* ERR_BUSY: it is not as the last scan saw it. */
static enum err_code look_again(const struct clean_item *item, struct err *err)
{
    struct log_entry entry;
    enum err_code rc = log_entry_probe(item->path, &entry, err);
    if (rc)
        return rc;
    if (strcmp(entry.path, item->path) != 0 || strcmp(entry.fingerprint, item->fingerprint) != 0)
        rc = err_set(err, ERR_BUSY, "it has changed since the last scan");
    log_entry_dispose(&entry);
    return rc;
}

enum err_code clean_item_delete(struct catalog *catalog, const struct clean_item *item, struct err *err)
{
    char reason[160];
    bool begun;
    enum err_code rc = look_again(item, err);
    if (rc || (rc = catalog_removing(catalog, item->log_id, err)))
        return rc;
    if ((rc = log_remove(item->place, item->path, (enum log_layout)item->layout, &begun, err))) {
        if (!begun && catalog_not_removed(catalog, item->log_id, item->state, NULL)) { /* the next pass finds it in removing_ms */ }
        return rc;
    }
    snprintf(reason, sizeof reason, "the cleaner deleted the log (%s)", clean_reason_word(item->reason));
    return catalog_removed(catalog, item->log_id, reason, err);
}

/* ---- what a killed cleaner began */

struct unfinished {
    const struct clean_scope *scope;
    struct clean_item *items;                /* owned */
    size_t count, capacity;
};

static enum err_code note_unfinished(void *context, const struct catalog_clean_row *row)
{
    struct unfinished *self = context;
    if (!in_scope(self->scope, row->place))
        return ERR_OK;
    if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, MOST_LOGS, sizeof *self->items))
        return ERR_NOMEM;
    bool out_of_memory = false;
    struct clean_item *item = &self->items[self->count++];
    *item = (struct clean_item){.log_id = row->log_id, .layout = row->layout, .path = copy_of(row->path, &out_of_memory), .place = copy_of(row->place, &out_of_memory)};
    return out_of_memory ? ERR_NOMEM : ERR_OK;
}

enum err_code clean_resume(struct catalog *catalog, const struct clean_scope *scope, struct err *err)
{
    struct unfinished unfinished = {.scope = scope};
    enum err_code rc = catalog_each_removing(catalog_db(catalog), note_unfinished, &unfinished, err);
    for (size_t i = 0; i < unfinished.count && !rc; i++) {
        const struct clean_item *item = &unfinished.items[i];
        struct err why = {0};
        bool begun;
        if (log_remove(item->place, item->path, (enum log_layout)item->layout, &begun, &why))
            log_warning("%s: its deletion began and cannot be ended: %s", item->path, why.message);
        else
            rc = catalog_removed(catalog, item->log_id, "the cleaner deleted the log", err);
    }
    for (size_t i = 0; i < unfinished.count; i++)
        item_dispose(&unfinished.items[i]);
    mem_free(unfinished.items);
    return rc;
}
