/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/stop_signals.h"
#include "ingest/worker_loop.h"
#include "ingest/worker_count.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_schedule.h"
#include "ingest/worker_tell.h"

struct catalog_sighting worker_sighting_of(const struct log_entry *entry, int64_t place_id)
{
    return (struct catalog_sighting){.place_id = place_id, .path = entry->path, .fingerprint = entry->fingerprint, .layout = (int64_t)entry->layout, .bytes = entry->bytes,
        .modified_ms = entry->modified_ms, .finished_name = entry->finished_name};
}

static enum err_code note_seen(struct worker *self, int64_t log_id, struct err *err)
{
    if (mem_grow((void **)&self->scan.seen, &self->scan.seen_capacity, self->scan.seen_count + 1, WORKER_MAX_LOGS, sizeof *self->scan.seen))
        return err_nomem(err);
    self->scan.seen[self->scan.seen_count++] = log_id;
    return ERR_OK;
}

static int64_t settled_key(const char *path, const char *fingerprint)
{
    return (int64_t)(hash_bytes(path, strlen(path)) * 31 + hash_bytes(fingerprint, strlen(fingerprint)));
}

static bool is_known(void *context, const char *path, const char *fingerprint)
{
    const struct worker *self = context;
    return imap_get(&self->settled, settled_key(path, fingerprint)) != NULL;
}

/* Remembers a log that is loaded, or was found unreadable. Copies that are skipped may be wanted without having changed: they are asked for each time. */
static enum err_code note_settled(struct worker *self, const struct catalog_row *row, struct err *err)
{
    if (row->state != LOG_LOADED && row->state != LOG_PARTIAL && row->state != LOG_LISTED && row->state != LOG_FAILED)
        return ERR_OK;
    if (self->settled.count > 4 * self->scan.seen_count + 10000)
        imap_clear(&self->settled);          /* old fingerprints of growing logs; the next scan fills it again */
    return imap_put(&self->settled, settled_key(row->path, row->fingerprint), (void *)(intptr_t)row->log_id) ? err_nomem(err) : ERR_OK;
}

enum err_code worker_see(struct worker *self, const struct catalog_sighting *sighting, struct err *err)
{
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from, settled_id = (int64_t)(intptr_t)imap_get(&self->settled, settled_key(sighting->path, sighting->fingerprint));
    if (settled_id)
        return note_seen(self, settled_id, err);
    enum err_code rc = catalog_find(self->catalog, sighting->path, &row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && worker_stage_of(self, row.log_id))
        return note_seen(self, row.log_id, err);         /* on its way; compared again by the next scan */
    if ((rc = catalog_see(self->catalog, sighting, self->scan.check_files, &news, &renamed_from, &row, err)) || (rc = note_seen(self, row.log_id, err)))
        return rc;
    if (renamed_from)
        kept_loads_rename(&self->kept, renamed_from, row.log_id);
    /* Set aside for having ended the worker twice: a person who asks for it gets another try, last and alone; a server is spared. */
    if (row.state == LOG_FAILED && row.tries > 0 && !self->options->watch && !(rc = catalog_load_put_off(self->catalog, row.log_id, row.reason, err)))
        row.state = LOG_WAITING;
    /* Listed while only what somebody opened was loaded; what was put away stays so, unless it is named. */
    bool wanted = row.put_away ? !self->options->watch && !known(sighting->place_id) : !worker_only_lists(self, &row, true);
    if (!rc && row.state == LOG_LISTED && wanted && !(rc = catalog_load_put_off(self->catalog, row.log_id, NULL, err)))
        row.state = LOG_WAITING;
    if (rc)
        return rc;
    if (row.state == LOG_WAITING)
        return worker_take_waiting(self, &row, err);
    if (row.state == LOG_LOADING)
        return worker_take_foreign(self, &row, err);
    if (!self->options->watch)
        worker_tell_row(self, &row, false, false);
    return note_settled(self, &row, err);
}

/* A scan may take long: finished jobs are looked after meanwhile. */
static enum err_code breathe(struct worker *self)
{
    enum err_code rc = ERR_OK;
    if (time_monotonic_ns() >= self->next_pump_ns) {
        rc = worker_pump(self, &self->scan.err);
        self->next_pump_ns = time_monotonic_ns() + WORKER_PUMP_NS;
    }
    return rc ? rc : self->stop || stop_signals_came() ? ERR_CANCELLED : ERR_OK;
}

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    struct worker *self = context;
    self->scan.entry_count++;
    bool is_place = strcmp(entry->path, self->scan.place_path) == 0;
    self->scan.place_is_log |= is_place;
    struct catalog_sighting sighting = worker_sighting_of(entry, is_place ? UNKNOWN : self->scan.place_id);
    enum err_code rc = worker_see(self, &sighting, &self->scan.err);
    log_entry_dispose(entry);
    return rc ? rc : breathe(self);
}

static enum err_code note_closed(struct worker *self, const char *path, struct err *err)
{
    char *copy = mem_strndup(path, strlen(path));
    if (!copy || mem_grow((void **)&self->scan.closed, &self->scan.closed_capacity, self->scan.closed_count + 1, WORKER_MAX_LOGS, sizeof *self->scan.closed)) {
        mem_free(copy);
        return err_nomem(err);
    }
    self->scan.closed[self->scan.closed_count++] = copy;
    return ERR_OK;
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    static const char *const words[] = {[REJECT_NOT_A_LOG] = "not-a-log", [REJECT_EMPTY] = "empty", [REJECT_UNREADABLE] = "unreadable"};
    struct worker *self = context;
    struct err *err = &self->scan.err;
    bool is_place = strcmp(reject->path, self->scan.place_path) == 0;
    self->scan.entry_count++;
    self->scan.place_is_log |= is_place;
    const struct catalog_sighting sighting = {.place_id = is_place ? UNKNOWN : self->scan.place_id, .path = reject->path, .fingerprint = "", .bytes = known_or(reject->bytes, 0),
        .modified_ms = known_or(reject->modified_ms, 0)};
    struct catalog_row row;
    int64_t begun_ms = time_now_ms();
    enum err_code rc = ERR_OK;
    if (reject->kind == REJECT_UNREADABLE)
        rc = note_closed(self, reject->path, err);
    if (rc || (rc = catalog_reject(self->catalog, &sighting, words[reject->kind], reject->reason, &row, err)) || (rc = note_seen(self, row.log_id, err)))
        return rc;
    bool fresh = row.changed_ms >= begun_ms;
    if (!self->options->watch || fresh)
        worker_tell_row(self, &row, fresh, false);
    self->summary->refused_count += is_place && reject->kind == REJECT_NOT_A_LOG;
    return breathe(self);
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct missing {
    struct worker *worker;
    int64_t *ids;                            /* owned */
    size_t count, capacity;
};

static bool lies_below(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static enum err_code find_missing(void *context, int64_t log_id, const char *path)
{
    struct missing *missing = context;
    struct worker *self = missing->worker;
    if (bsearch(&log_id, self->scan.seen, self->scan.seen_count, sizeof log_id, compare_ids))
        return ERR_OK;
    for (size_t i = 0; i < self->scan.closed_count; i++)
        if (lies_below(path, self->scan.closed[i]))
            return ERR_OK;
    if (mem_grow((void **)&missing->ids, &missing->capacity, missing->count + 1, WORKER_MAX_LOGS, sizeof *missing->ids))
        return ERR_NOMEM;
    missing->ids[missing->count++] = log_id;
    return ERR_OK;
}

enum err_code worker_log_gone(struct worker *self, int64_t log_id, struct err *err)
{
    kept_loads_drop(&self->kept, log_id);
    imap_clear(&self->settled);              /* one that comes back must be seen to */
    return worker_stage_of(self, log_id) == STAGE_AT_WORK ? ERR_OK : catalog_gone(self->catalog, log_id, err);
}

static enum err_code mark_missing(struct worker *self, struct err *err)
{
    struct missing missing = {.worker = self};
    if (self->scan.seen_count)
        qsort(self->scan.seen, self->scan.seen_count, sizeof *self->scan.seen, compare_ids);
    enum err_code rc = catalog_each_present(self->catalog, self->scan.place_id, find_missing, &missing, err);
    for (size_t i = 0; i < missing.count && !rc; i++)
        rc = worker_log_gone(self, missing.ids[i], err);
    mem_free(missing.ids);
    return rc;
}

static void forget_scan(struct worker *self)
{
    for (size_t i = 0; i < self->scan.closed_count; i++)
        mem_free(self->scan.closed[i]);
    self->scan.closed_count = self->scan.seen_count = 0;
    mem_free(TAKE(self->scan.place_path));
}

/* A place that cannot be looked at: its logs stay as they are, except that a single log that is not there is gone. */
static enum err_code place_failed(struct worker *self, const struct err *why, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = ERR_OK;
    if (known(self->scan.place_id))
        rc = catalog_place_scanned(self->catalog, self->scan.place_id, 0, self->scan.entry_count, why->message, err);
    if (!rc && why->code == ERR_NOT_FOUND && !catalog_find(self->catalog, self->scan.place_path, &row, NULL) && row.state != LOG_GONE)
        rc = worker_log_gone(self, row.log_id, err);
    self->summary->missing_count++;
    if (!self->options->watch) {
        const struct worker_result result = {.path = self->scan.place_path, .state = LOG_FAILED, .flags = "unreadable", .bytes = UNKNOWN, .line_count = UNKNOWN,
            .bad_line_count = UNKNOWN, .task_count = UNKNOWN, .load_ms = UNKNOWN, .message = why->message, .fresh = true};
        if (self->options->on_result)
            self->options->on_result(self->options->context, &result);
    }
    return rc;
}

static enum err_code scan_place(struct worker *self, size_t index, struct err *err)
{
    struct stat st;
    struct err scan_err = {0};
    int64_t began_ns = time_monotonic_ns();
    const struct worker_place *place = &self->options->places[index];
    struct place_state *state = &self->places[index];
    self->scan.place_id = state->place_id;
    self->scan.check_files = !state->scanned;
    self->scan.entry_count = 0;
    self->scan.place_is_log = false;
    self->scan.err = (struct err){0};
    if (!(self->scan.place_path = log_absolute_path(place->path, err)))
        return ERR_NOMEM;
    enum err_code rc = ERR_OK;
    bool there = stat(self->scan.place_path, &st) == 0;
    /* A directory is a place. While watching, so is what is not there: the list says why nothing comes from it. */
    if (!known(self->scan.place_id) && ((there && S_ISDIR(st.st_mode)) || (!there && self->options->watch)) &&
        (rc = catalog_place(self->catalog, self->scan.place_path, place->name, &self->scan.place_id, err)))
        return rc;
    state->place_id = self->scan.place_id;
    const struct log_scan scan = {.context = self, .on_entry = on_entry, .on_reject = on_reject, .is_known = is_known};
    rc = log_scan(self->scan.place_path, &scan, &scan_err);
    if (self->scan.err.code)                 /* the catalogue or memory, not the place */
        return worker_hand_on(err, &self->scan.err, self->scan.err.code);
    if (rc == ERR_CANCELLED || self->stop)
        return ERR_CANCELLED;
    state->looked_at = true;
    worker_count_scan(self, rc != ERR_OK);
    if (rc)
        return place_failed(self, &scan_err, err);
    state->scanned = true;
    if (!known(self->scan.place_id))
        return ERR_OK;
    if (self->scan.place_is_log) {
        state->place_id = UNKNOWN;
        return catalog_place_drop(self->catalog, self->scan.place_id, err);
    }
    if ((rc = mark_missing(self, err)))
        return rc;
    return catalog_place_scanned(self->catalog, self->scan.place_id, (time_monotonic_ns() - began_ns) / NS_PER_MS, self->scan.entry_count, NULL, err);
}

static enum err_code scan_places(struct worker *self, bool all, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->options->place_count && !rc; i++) {
        if (!all && !self->places[i].wanted)
            continue;
        self->places[i].wanted = false;
        rc = scan_place(self, i, err);
        forget_scan(self);
    }
    return rc == ERR_CANCELLED ? ERR_OK : rc;
}

enum err_code worker_scan(struct worker *self, struct err *err)
{
    enum err_code rc = scan_places(self, true, err);
    self->next_scan_ns = time_monotonic_ns() + self->options->interval_ms * NS_PER_MS;
    return rc;
}

enum err_code worker_scan_wanted(struct worker *self, struct err *err)
{
    return scan_places(self, false, err);
}

void worker_look_again(struct worker *self, const struct catalog_row *row)
{
    imap_remove(&self->settled, settled_key(row->path, row->fingerprint));
    for (size_t i = 0; i < self->options->place_count; i++)
        self->places[i].scanned = false;
}
