/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/worker_count.h"
#include "ingest/worker_outcome.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_schedule.h"
#include "ingest/worker_tell.h"
#include "place/place.h"

struct catalog_sighting worker_sighting_of(const struct log_entry *entry, int64_t place_id)
{
    return (struct catalog_sighting){.place_id = place_id, .path = entry->path, .fingerprint = entry->fingerprint, .layout = (int64_t)entry->layout, .bytes = entry->bytes,
        .modified_ms = entry->modified_ms, .finished_name = entry->finished_name};
}

static enum err_code note_seen(struct place_state *place, int64_t log_id, struct err *err)
{
    if (mem_grow((void **)&place->seen, &place->seen_capacity, place->seen_count + 1, WORKER_MAX_LOGS, sizeof *place->seen))
        return err_nomem(err);
    place->seen[place->seen_count++] = log_id;
    return ERR_OK;
}

/* Remembers which log has this key, and whether something may still become of it as it is. Copies that are skipped may be wanted without having changed: they are asked for each time. */
static enum err_code note_settled(struct worker *self, int64_t key, const struct catalog_row *row, struct err *err)
{
    bool settled = !worker_stage_of(self, row->log_id) && (row->state == LOG_LOADED || row->state == LOG_PARTIAL || row->state == LOG_LISTED || row->state == LOG_FAILED);
    size_t seen_count = 0;
    for (size_t i = 0; i < self->options->place_count; i++)
        seen_count += self->places[i].seen_count;
    if (self->settled.count > 4 * seen_count + 10000)
        imap_clear(&self->settled);          /* old fingerprints of growing logs; the next scan fills it again */
    return imap_put(&self->settled, key, (void *)(intptr_t)(settled ? row->log_id : -row->log_id)) ? err_nomem(err) : ERR_OK;
}

/* The next scan that sees it asks the catalogue, although it did not change. */
static void unsettle(struct worker *self, const struct catalog_row *row)
{
    int64_t key = lookout_key(row->path, row->fingerprint);
    if (imap_put(&self->settled, key, (void *)(intptr_t)-row->log_id))
        imap_remove(&self->settled, key);
}

void worker_unsettle_all(struct worker *self)
{
    for (size_t i = 0; i < self->settled.count; i++) {
        struct imap_entry *entry = &self->settled.entries[i];
        entry->value = (void *)(intptr_t)-imaxabs((intptr_t)entry->value);
    }
}

/* *ret_log_id: of its row. */
static enum err_code see(struct worker *self, const struct catalog_sighting *sighting, bool check_file, int64_t *ret_log_id, struct err *err)
{
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from;
    int64_t key = lookout_key(sighting->path, sighting->fingerprint), remembered = (int64_t)(intptr_t)imap_get(&self->settled, key);
    *ret_log_id = remembered < 0 ? -remembered : remembered;
    if (remembered > 0 || (remembered < 0 && worker_stage_of(self, -remembered)))
        return ERR_OK;
    enum err_code rc = catalog_find(self->catalog, sighting->path, &row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && worker_stage_of(self, row.log_id)) {
        *ret_log_id = row.log_id;            /* on its way; compared again by the next scan */
        return note_settled(self, key, &row, err);
    }
    if ((rc = catalog_see(self->catalog, sighting, check_file, &news, &renamed_from, &row, err)))
        return rc;
    *ret_log_id = row.log_id;
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
    if ((rc = note_settled(self, key, &row, err)))
        return rc;
    if (row.state == LOG_WAITING)
        return worker_take_waiting(self, &row, err);
    if (row.state == LOG_LOADING)
        return worker_take_foreign(self, &row, err);
    if (!self->options->watch)
        worker_tell_row(self, &row, false, false);
    return ERR_OK;
}

/* A log of which the scan says only that it is as it was told: the row has what it said then. *ret_is_that: else the row was written by somebody else, or is gone from the catalogue. */
static enum err_code see_again(struct worker *self, int64_t key, int64_t log_id, int64_t looked_ms, bool check_file, bool *ret_is_that, struct err *err)
{
    struct catalog_row row;
    char fingerprint[LOG_FINGERPRINT_BYTES];
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    *ret_is_that = !rc && lookout_key(row.path, row.fingerprint) == key;
    if (!*ret_is_that)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    CLEANUP(mem_freep) char *path = mem_strndup(row.path, strlen(row.path));
    if (!path)
        return err_nomem(err);
    snprintf(fingerprint, sizeof fingerprint, "%s", row.fingerprint);
    const struct catalog_sighting sighting = {.place_id = row.place_id, .path = path, .fingerprint = fingerprint, .layout = row.layout, .bytes = row.bytes, .modified_ms = row.modified_ms,
        .looked_ms = looked_ms, .finished_name = row.finished_name};
    return see(self, &sighting, check_file, &log_id, err);
}

enum err_code worker_see(struct worker *self, const struct catalog_sighting *sighting, struct err *err)
{
    int64_t log_id;
    return see(self, sighting, false, &log_id, err);
}

/* What lies in a place shows that it is a directory, where that was not known before. */
static enum err_code show_place(struct worker *self, struct place_state *place, bool is_place, struct err *err)
{
    const char *name = self->options->places[place - self->places].name;
    return is_place || known(place->place_id) ? ERR_OK : catalog_place(self->catalog, place->path, name, &place->place_id, err);
}

static enum err_code take_log(struct worker *self, struct place_state *place, const struct seen *seen, struct err *err)
{
    const struct log_entry *entry = &seen->entry;
    bool is_place = strcmp(entry->path, place->path) == 0;
    int64_t log_id;
    enum err_code rc = show_place(self, place, is_place, err);
    if (rc)
        return rc;
    place->entry_count++;
    place->is_log |= is_place;
    struct catalog_sighting sighting = worker_sighting_of(entry, is_place ? UNKNOWN : place->place_id);
    sighting.looked_ms = seen->looked_ms;
    rc = see(self, &sighting, place->check_files, &log_id, err);
    return rc ? rc : note_seen(place, log_id, err);
}

static enum err_code take_same(struct worker *self, struct place_state *place, const struct seen *seen, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < seen->same_count && !rc; i++) {
        int64_t remembered = (int64_t)(intptr_t)imap_get(&self->settled, seen->same[i]), log_id = imaxabs(remembered);
        bool is_that = remembered != 0;
        if (remembered < 0 && !worker_stage_of(self, log_id))
            rc = see_again(self, seen->same[i], log_id, seen->looked_ms, place->check_files, &is_that, err);
        place->entry_count++;
        place->forgotten |= !is_that;
        if (!rc && is_that)
            rc = note_seen(place, log_id, err);
    }
    return rc;
}

/* Somebody asked for it by name: it goes before all others. */
static enum err_code take_found(struct worker *self, const struct place_state *place, const struct seen *seen, struct err *err)
{
    int64_t log_id;
    struct catalog_row row;
    struct catalog_sighting sighting = worker_sighting_of(&seen->entry, place->place_id);
    sighting.looked_ms = seen->looked_ms;
    enum err_code rc = see(self, &sighting, false, &log_id, err);
    if (rc || (rc = catalog_get(self->catalog, log_id, &row, err)))
        return rc;
    return row.state == LOG_WAITING ? worker_put_in_front(self, &row, err) : ERR_OK;
}

static enum err_code note_closed(struct place_state *place, const char *path, struct err *err)
{
    char *copy = mem_strndup(path, strlen(path));
    if (!copy || mem_grow((void **)&place->closed, &place->closed_capacity, place->closed_count + 1, WORKER_MAX_LOGS, sizeof *place->closed)) {
        mem_free(copy);
        return err_nomem(err);
    }
    place->closed[place->closed_count++] = copy;
    return ERR_OK;
}

static enum err_code take_reject(struct worker *self, struct place_state *place, const struct seen *reject, struct err *err)
{
    static const char *const words[] = {[REJECT_NOT_A_LOG] = "not-a-log", [REJECT_EMPTY] = "empty", [REJECT_UNREADABLE] = "unreadable"};
    bool is_place = strcmp(reject->path, place->path) == 0;
    enum err_code rc = show_place(self, place, is_place, err);
    if (rc)
        return rc;
    place->entry_count++;
    place->is_log |= is_place;
    const struct catalog_sighting sighting = {.place_id = is_place ? UNKNOWN : place->place_id, .path = reject->path, .fingerprint = "", .bytes = known_or(reject->bytes, 0),
        .modified_ms = known_or(reject->modified_ms, 0), .looked_ms = reject->looked_ms};
    struct catalog_row row;
    int64_t begun_ms = time_now_ms();
    if (reject->reject == REJECT_UNREADABLE)
        rc = note_closed(place, reject->path, err);
    if (rc || (rc = catalog_reject(self->catalog, &sighting, words[reject->reject], reject->reason, &row, err)) || (rc = note_seen(place, row.log_id, err)))
        return rc;
    bool fresh = row.changed_ms >= begun_ms;
    if (!self->options->watch || fresh)
        worker_tell_row(self, &row, fresh, false);
    self->summary->refused_count += is_place && reject->reject == REJECT_NOT_A_LOG;
    return ERR_OK;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct missing {
    const struct place_state *place;
    int64_t *ids;                            /* owned */
    size_t count, capacity;
};

static bool lies_below(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0' || (len && directory[len - 1] == '/'));
}

const struct place_state *worker_place_of(const struct worker *self, const char *path)
{
    for (size_t i = 0; i < self->options->place_count; i++)
        if (lies_below(path, self->places[i].path))
            return &self->places[i];
    return NULL;
}

static enum err_code find_missing(void *context, int64_t log_id, const char *path)
{
    struct missing *missing = context;
    const struct place_state *place = missing->place;
    if (place->seen_count && bsearch(&log_id, place->seen, place->seen_count, sizeof log_id, compare_ids))
        return ERR_OK;
    for (size_t i = 0; i < place->closed_count; i++)
        if (lies_below(path, place->closed[i]))
            return ERR_OK;
    if (mem_grow((void **)&missing->ids, &missing->capacity, missing->count + 1, WORKER_MAX_LOGS, sizeof *missing->ids))
        return ERR_NOMEM;
    missing->ids[missing->count++] = log_id;
    return ERR_OK;
}

enum err_code worker_log_gone(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    kept_loads_drop(&self->kept, log_id);
    unsettle(self, &row);                    /* one that comes back must be seen to */
    return worker_stage_of(self, log_id) == STAGE_AT_WORK ? ERR_OK : catalog_gone(self->catalog, log_id, err);
}

/* Its logs are of no other place. */
static bool stands_alone(const struct worker *self, const struct place_state *place)
{
    for (size_t i = 0; i < self->options->place_count; i++) {
        const struct place_state *other = &self->places[i];
        if (other != place && (lies_below(other->path, place->path) || lies_below(place->path, other->path)))
            return false;
    }
    return true;
}

static enum err_code mark_missing(struct worker *self, struct place_state *place, struct err *err)
{
    struct missing missing = {.place = place};
    int64_t present_count;
    enum err_code rc = catalog_count_present(self->catalog, place->place_id, &present_count, err);
    if (rc || (present_count == (int64_t)place->seen_count && stands_alone(self, place)))
        return rc;                           /* all that were seen are there, so nothing else is */
    if (place->seen_count)
        qsort(place->seen, place->seen_count, sizeof *place->seen, compare_ids);
    rc = catalog_each_present(self->catalog, place->place_id, find_missing, &missing, err);
    for (size_t i = 0; i < missing.count && !rc; i++)
        rc = worker_log_gone(self, missing.ids[i], err);
    mem_free(missing.ids);
    return rc;
}

static void forget_look(struct place_state *place)
{
    for (size_t i = 0; i < place->closed_count; i++)
        mem_free(place->closed[i]);
    place->closed_count = place->seen_count = 0;
    place->entry_count = 0;
    place->is_log = place->spoiled = place->forgotten = false;
}

static enum err_code begin_look(struct worker *self, size_t index, const struct seen *seen, struct err *err)
{
    struct place_state *place = &self->places[index];
    if (seen->is_hidden) /* whoever starts the worker again has it allowed */
        return err_set(err, ERR_INVALID, "the directory at %s is another one than at the start, which this process may not open", place->path);
    forget_look(place);
    place->check_files = !place->scanned;
    /* A directory is a place. While watching, so is what is not there: the list says why nothing comes from it. */
    if (!known(place->place_id) && (seen->is_directory || (!seen->is_there && self->options->watch)))
        return catalog_place(self->catalog, place->path, self->options->places[index].name, &place->place_id, err);
    return ERR_OK;
}

/* A place that cannot be looked at: its logs stay as they are, except that a single log that is not there is gone. */
static enum err_code place_failed(struct worker *self, struct place_state *place, const struct seen *end, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = ERR_OK;
    if (known(place->place_id))
        rc = catalog_place_scanned(self->catalog, place->place_id, end->duration_ms, place->entry_count, end->err.message, err);
    if (!rc && end->rc == ERR_NOT_FOUND && !catalog_find(self->catalog, place->path, &row, NULL) && row.state != LOG_GONE)
        rc = worker_log_gone(self, row.log_id, err);
    self->summary->missing_count++;
    if (self->options->watch && !place->failing)
        log_warning("%s cannot be looked at: %s", place->path, end->err.message);
    place->failing = true;
    if (!self->options->watch) {
        const struct worker_result result = {.path = place->path, .state = LOG_FAILED, .flags = "unreadable", .bytes = UNKNOWN, .line_count = UNKNOWN,
            .bad_line_count = UNKNOWN, .task_count = UNKNOWN, .load_ms = UNKNOWN, .message = end->err.message, .fresh = true};
        if (self->options->on_result)
            self->options->on_result(self->options->context, &result);
    }
    return rc;
}

static enum err_code end_look(struct worker *self, struct place_state *place, const struct seen *end, struct err *err)
{
    if (end->rc == ERR_CANCELLED)
        return ERR_OK;
    worker_count_scan(self, end->rc != ERR_OK);
    place->looked_at |= end->rc || !place->spoiled;
    if (end->rc)
        return place_failed(self, place, end, err);
    if (place->failing)
        log_info("%s can be looked at again", place->path);
    place->failing = false;
    if (place->spoiled)
        return ERR_OK;
    if (place->forgotten) {                  /* what it was cannot be told from its key any more */
        lookout_tell_anew(self->lookout, (size_t)(place - self->places));
        return ERR_OK;
    }
    place->scanned = true;
    if (!known(place->place_id))
        return ERR_OK;
    if (place->is_log) {
        int64_t place_id = place->place_id;
        place->place_id = UNKNOWN;
        return catalog_place_drop(self->catalog, place_id, err);
    }
    enum err_code rc = mark_missing(self, place, err);
    return rc ? rc : catalog_place_scanned(self->catalog, place->place_id, end->duration_ms, place->entry_count, NULL, err);
}

static enum err_code take(struct worker *self, const struct seen *seen, struct err *err)
{
    struct place_state *place = &self->places[seen->place];
    if (place->spoiled && (seen->kind == SEEN_LOG || seen->kind == SEEN_SAME || seen->kind == SEEN_REJECT))
        return ERR_OK;
    switch (seen->kind) {
    case SEEN_BEGIN: return begin_look(self, seen->place, seen, err);
    case SEEN_LOG: return take_log(self, place, seen, err);
    case SEEN_SAME: return take_same(self, place, seen, err);
    case SEEN_REJECT: return take_reject(self, place, seen, err);
    case SEEN_END: return end_look(self, place, seen, err);
    case SEEN_FOUND: return take_found(self, place, seen, err);
    }
    return ERR_OK;
}

enum err_code worker_take_sightings(struct worker *self, struct err *err)
{
    int64_t until_ns = time_monotonic_ns() + WORKER_PUMP_NS;
    struct seen seen;
    enum err_code rc = ERR_OK;
    while (!rc && time_monotonic_ns() < until_ns && lookout_next(self->lookout, &seen)) {
        struct err why = {0};
        rc = take(self, &seen, &why);
        if (rc && self->options->watch && worker_error_passes(rc)) {
            if (!self->places[seen.place].spoiled)
                log_error("what lies in %s could not be written down: %s", self->places[seen.place].path, why.message);
            self->places[seen.place].spoiled = true;
            rc = ERR_OK;
        }
        worker_hand_on(err, &why, rc);
        seen_dispose(&seen);
    }
    return rc;
}

/* What needs no look: logs that the catalogue knows with their fingerprints. */
static enum err_code note_known(void *context, const char *path, const char *fingerprint)
{
    struct imap *known_logs = context;
    return fingerprint[0] && imap_put(known_logs, lookout_key(path, fingerprint), known_logs) ? ERR_NOMEM : ERR_OK;
}

enum err_code worker_scan_start(struct worker *self, struct err *err)
{
    size_t count = self->options->place_count;
    struct imap known_logs;
    imap_init(&known_logs, WORKER_MAX_LOGS);
    enum err_code rc = ERR_OK;
    self->addresses = mem_array(count + 1, sizeof *self->addresses);
    if (!self->addresses || !(self->places = mem_array(count + 1, sizeof *self->places)))
        return err_nomem(err);
    for (size_t i = 0; i < count && !rc; i++) {
        self->places[i].place_id = UNKNOWN;
        if ((rc = place_address(self->options->places[i].path, &self->places[i].path, err)))
            err_prefix(err, "%s", place_shown(self->options->places[i].path));
        self->addresses[i] = self->places[i].path;
    }
    const struct lookout_options options = {.places = self->addresses, .place_count = count, .again = self->options->watch, .interval_ms = self->options->interval_ms, .wake_fd = self->wake[1]};
    if (!rc && !(rc = catalog_each_fingerprint(self->catalog, note_known, &known_logs, err)))
        rc = lookout_start(&self->lookout, &options, &known_logs, err);
    imap_dispose(&known_logs);
    return rc;
}

void worker_scan_end(struct worker *self)
{
    lookout_stop(TAKE(self->lookout));
    for (size_t i = 0; self->places && i < self->options->place_count; i++) {
        struct place_state *place = &self->places[i];
        forget_look(place);
        mem_free(place->path);
        mem_free(place->seen);
        mem_free(place->closed);
    }
    mem_free(TAKE(self->places));
    mem_free(TAKE(self->addresses));
}

void worker_look_again(struct worker *self, const struct catalog_row *row)
{
    unsettle(self, row);
    for (size_t i = 0; i < self->options->place_count; i++)
        self->places[i].scanned = false;
}
