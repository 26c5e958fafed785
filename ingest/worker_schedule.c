/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process_usage.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/worker_arrivals.h"
#include "ingest/worker_tell.h"

#define REREAD_SHARE 10                      /* a growing log that cannot be followed is read anew at most this part of the time */
#define REREAD_LONGEST_NS (600 * NS_PER_S)
#define LARGE_BYTES ((int64_t)64 << 20)      /* logs from here on do not take all loaders while watching: small ones that come meanwhile must not wait */

enum stage worker_stage_of(const struct worker *self, int64_t log_id)
{
    return (enum stage)(intptr_t)imap_get(&self->under_way, log_id);
}

static enum err_code set_stage(struct worker *self, int64_t log_id, enum stage stage, struct err *err)
{
    return imap_put(&self->under_way, log_id, (void *)(intptr_t)stage) ? err_nomem(err) : ERR_OK;
}

static enum err_code push_list(struct worker *self, const struct load_item *item, struct err *err)
{
    if (list_queue_push(&self->to_list, item))
        return err_nomem(err);
    return set_stage(self, item->log_id, STAGE_TO_LIST, err);
}

enum err_code worker_push_load(struct worker *self, const struct load_item *item, struct err *err)
{
    if (load_queue_push(&self->queue, item, time_monotonic_ns()))
        return err_nomem(err);
    return set_stage(self, item->log_id, STAGE_TO_LOAD, err);
}

static struct load_item item_of(const struct catalog_row *row)
{
    return (struct load_item){.log_id = row->log_id, .bytes = row->bytes, .modified_ms = row->modified_ms, .wanted_ms = row->wanted_ms, .tries = row->tries};
}

void worker_finish(struct worker *self, const struct load_item *item)
{
    imap_remove(&self->under_way, item->log_id);
    self->done_bytes += item->bytes;
    self->done_count++;
    /* A look lets logs be that are on their way. What came meanwhile is not left to the next one, which may be an hour away: the rest of a log that somebody adds. */
    for (size_t i = 0; i < self->options->place_count; i++)
        if (self->places[i].asked) {
            self->places[i].asked = false;
            lookout_poke(self->lookout, i);
        }
}

static void begin(struct worker *self, const struct catalog_row *row)
{
    self->total_bytes += row->bytes;
    self->total_count++;
}

enum err_code worker_take_waiting(struct worker *self, const struct catalog_row *row, struct err *err)
{
    struct load_item item = item_of(row);
    begin(self, row);
    if (kept_loads_has(&self->kept, row->log_id))
        return worker_push_load(self, &item, err);
    if (row->loaded && !row->finished_name && known(row->load_ms) && !known(row->wanted_ms))
        item.due_ns = time_monotonic_ns() + MIN(row->load_ms * NS_PER_MS * REREAD_SHARE, REREAD_LONGEST_NS);
    return push_list(self, &item, err);
}

enum err_code worker_take_foreign(struct worker *self, const struct catalog_row *row, struct err *err)
{
    struct load_item item = item_of(row);
    item.due_ns = time_monotonic_ns() + WORKER_FOREIGN_RETRY_NS;
    begin(self, row);
    return worker_push_load(self, &item, err);
}

enum err_code worker_put_in_front(struct worker *self, struct catalog_row *row, struct err *err)
{
    int64_t now_ms = time_now_ms(), log_id = row->log_id;
    if (load_queue_want(&self->queue, log_id, now_ms))
        return ERR_OK;
    list_queue_want(&self->to_list, log_id, now_ms);
    for (size_t i = 0; i < CREW_LISTERS; i++)
        if (self->crew.jobs[i].state != JOB_FREE && self->crew.jobs[i].item.log_id == log_id)
            self->crew.jobs[i].item.wanted_ms = now_ms;
    row->wanted_ms = now_ms;
    return worker_stage_of(self, log_id) ? ERR_OK : worker_take_waiting(self, row, err);
}

static bool key_at_work(struct worker *self, const char *app_key)
{
    for (size_t i = CREW_LOADERS_FROM; i < self->crew.count; i++)
        if (self->crew.jobs[i].state != JOB_FREE && strcmp(self->crew.jobs[i].app_key, app_key) == 0)
            return true;
    return false;
}

static size_t large_at_work(struct worker *self, bool *ret_alone)
{
    size_t count = 0;
    *ret_alone = false;
    for (size_t i = CREW_LOADERS_FROM; i < self->crew.count; i++)
        if (self->crew.jobs[i].state != JOB_FREE) {
            count += self->crew.jobs[i].item.bytes >= LARGE_BYTES;
            *ret_alone |= self->crew.jobs[i].item.tries > 0;
        }
    return count;
}

static enum err_code start_load(struct worker *self, struct job *job, const struct load_item *item, const struct catalog_row *row, struct err *err)
{
    job->item = *item;
    snprintf(job->app_key, sizeof job->app_key, "%s", row->app_key);
    job->keep = self->options->watch;
    if (!(job->path = mem_strndup(row->path, strlen(row->path))))
        return err_nomem(err);
    enum err_code rc = catalog_load_begin(self->catalog, item->log_id, &job->generation, err);
    if (!rc)
        rc = set_stage(self, item->log_id, STAGE_AT_WORK, err);
    if (rc) {
        mem_free(TAKE(job->path));
        return rc;
    }
    job->load = kept_loads_take(&self->kept, item->log_id, job->app_key);
    crew_start(&self->crew, job);
    return ERR_OK;
}

/* The row says that somebody else dealt with it, or that there is nothing to do any more. */
static void settled_elsewhere(struct worker *self, const struct load_item *item, const struct catalog_row *row)
{
    worker_finish(self, item);
    worker_tell_row(self, row, false, false);
}

/* Open loads of growing logs go before anything waits: they can be made anew. */
static bool memory_is_short(struct worker *self)
{
    const int64_t most = self->options->policy.max_memory_bytes;
    if (!most)
        return false;
    while (process_resident_bytes() > most)
        if (!kept_loads_drop_oldest(&self->kept))
            return true;
    return false;
}

enum err_code worker_give_loads(struct worker *self, struct err *err)
{
    struct load_item held[8];
    size_t held_count = 0;
    enum err_code rc = ERR_OK;
    while (!rc && held_count < ARRAY_LENGTH(held)) {
        struct load_item item;
        struct catalog_row row;
        bool alone;
        struct job *job = crew_free_job(&self->crew, JOB_LOAD);
        size_t large = large_at_work(self, &alone), at_work = crew_started_count(&self->crew, JOB_LOAD), loaders = self->crew.count - CREW_LOADERS_FROM;
        if (!job || alone || !load_queue_pop(&self->queue, &item))
            break;
        bool listing = self->to_list.count || crew_started_count(&self->crew, JOB_LIST);
        /* What was made elsewhere need not be loaded. Who watches meets it later, too, and loads what is new meanwhile. */
        bool must_wait = (item.tries > 0 && at_work) || (!self->options->watch && worker_arrivals_wait(self)) || (at_work && memory_is_short(self)) || (listing && !known(item.wanted_ms)) ||
            (self->options->watch && loaders > 1 && item.bytes >= LARGE_BYTES && !known(item.wanted_ms) && large >= loaders - 1);
        if (must_wait) {                     /* all that follow must wait for the same reason */
            held[held_count++] = item;
            break;
        }
        if ((rc = catalog_get(self->catalog, item.log_id, &row, err)))
            held[held_count++] = item;
        else if ((row.state != LOG_WAITING && row.state != LOG_LOADING) || !row.app_key)
            settled_elsewhere(self, &item, &row);
        else if (key_at_work(self, row.app_key))
            held[held_count++] = item;       /* an older name of the same run is being read */
        else if ((rc = start_load(self, job, &item, &row, err)))
            held[held_count++] = item;
    }
    for (size_t i = 0; i < held_count; i++) {
        enum err_code again = worker_push_load(self, &held[i], rc ? NULL : err);
        rc = rc ? rc : again;
    }
    return rc;
}

enum err_code worker_give_lists(struct worker *self, struct err *err)
{
    while (self->to_list.count) {
        struct job *job = crew_free_job(&self->crew, JOB_LIST);
        if (!job)
            return ERR_OK;
        struct catalog_row row;
        const struct load_item *item = list_queue_first(&self->to_list);
        enum err_code rc = catalog_get(self->catalog, item->log_id, &row, err);
        if (rc)
            return rc;
        job->item = *item;
        if (!(job->path = mem_strndup(row.path, strlen(row.path))))
            return err_nomem(err);
        if ((rc = set_stage(self, item->log_id, STAGE_AT_WORK, err))) {
            mem_free(TAKE(job->path));
            return rc;
        }
        list_queue_pop(&self->to_list);
        crew_start(&self->crew, job);
    }
    return ERR_OK;
}

bool worker_is_idle(struct worker *self)
{
    return !self->to_list.count && !self->queue.count && !self->queue.aside_count && !crew_started_count(&self->crew, JOB_LIST) && !crew_started_count(&self->crew, JOB_LOAD);
}
