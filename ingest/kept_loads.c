/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/kept_loads.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

void kept_loads_keep(struct kept_loads *self, int64_t log_id, const char *app_key, struct load *load)
{
    struct kept_load *slot = &self->slots[0];
    for (size_t i = 0; i < KEPT_LOADS_MAX && slot->load; i++)
        if (!self->slots[i].load || self->slots[i].used_ns < slot->used_ns)
            slot = &self->slots[i];
    load_free(slot->load);
    *slot = (struct kept_load){.load = load, .log_id = log_id, .used_ns = time_monotonic_ns()};
    snprintf(slot->app_key, sizeof slot->app_key, "%s", app_key);
}

static struct kept_load *find(struct kept_loads *self, int64_t log_id)
{
    for (size_t i = 0; i < KEPT_LOADS_MAX; i++)
        if (self->slots[i].load && self->slots[i].log_id == log_id)
            return &self->slots[i];
    return NULL;
}

bool kept_loads_has(struct kept_loads *self, int64_t log_id)
{
    return find(self, log_id) != NULL;
}

void kept_loads_rename(struct kept_loads *self, int64_t from_log_id, int64_t to_log_id)
{
    struct kept_load *kept = find(self, from_log_id);
    if (kept)
        kept->log_id = to_log_id;
}

void kept_loads_drop(struct kept_loads *self, int64_t log_id)
{
    struct kept_load *kept = find(self, log_id);
    if (kept)
        load_free(TAKE(kept->load));
}

bool kept_loads_drop_oldest(struct kept_loads *self)
{
    struct kept_load *oldest = NULL;
    for (size_t i = 0; i < KEPT_LOADS_MAX; i++)
        if (self->slots[i].load && (!oldest || self->slots[i].used_ns < oldest->used_ns))
            oldest = &self->slots[i];
    if (oldest)
        load_free(TAKE(oldest->load));
    return oldest != NULL;
}

struct load *kept_loads_take(struct kept_loads *self, int64_t log_id, const char *app_key)
{
    struct load *load = NULL;
    for (size_t i = 0; i < KEPT_LOADS_MAX; i++) {
        struct kept_load *kept = &self->slots[i];
        if (kept->load && kept->log_id == log_id)
            load = TAKE(kept->load);
        else if (kept->load && strcmp(kept->app_key, app_key) == 0)
            load_free(TAKE(kept->load));     /* it holds the lock on the run's file */
    }
    return load;
}

void kept_loads_dispose(struct kept_loads *self)
{
    for (size_t i = 0; i < KEPT_LOADS_MAX; i++)
        load_free(self->slots[i].load);
}
