/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/worker_crew.h"

#define NS_PER_S ((int64_t)1000000000)
#define MAX_LOGS ((size_t)50 << 20)
#define PUMP_NS (NS_PER_S / 10)              /* during a scan: how often finished jobs are looked after */
#define PROGRESS_NS (NS_PER_S / 4)
#define ROW_PROGRESS_NS NS_PER_S             /* read_bytes in the catalogue, for pages */
#define FOREIGN_RETRY_NS (NS_PER_S / 2)      /* another process has the run */
#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LONGEST_NS (60 * NS_PER_S)     /* back within a minute once there is memory or disk again */
#define REREAD_SHARE 10                      /* a growing log that cannot be followed is read anew at most this part of the time */
#define REREAD_LONGEST_NS (600 * NS_PER_S)
#define LARGE_BYTES ((int64_t)64 << 20)      /* logs from here on do not take all loaders while watching: small ones that come meanwhile must not wait */

/* What is known of a log that is on its way: in the map `under_way`. */
enum stage { STAGE_TO_LIST = 1, STAGE_TO_LOAD, STAGE_AT_WORK };

struct kept {
    struct load *load;                       /* owned */
    int64_t log_id, used_ns;
    char app_key[LISTING_KEY_BYTES];
};

struct worker {
    const struct worker_options *options;
    struct worker_summary *summary;
    struct catalog *catalog;
    struct crew crew;
    struct load_queue queue;
    struct load_item *to_list;               /* ring of logs to be listed */
    size_t list_head, list_count, list_capacity;
    struct imap under_way;                   /* log_id → enum stage */
    struct imap settled; /* hash of path and fingerprint → log_id: logs with which nothing is to be done; spares a scan the catalogue and the look at the file */
    struct kept kept[WORKER_KEPT_LOADS];
    struct place_state {
        bool scanned;                        /* once, in this process */
        int64_t place_id;                    /* UNKNOWN: not a directory, or not known yet */
    } *places;                               /* owned; as options->places */
    int wake[2], marker_fd;
    char marker_path[4200];
    bool stop, failing;                      /* failing: the last write to the catalogue did not succeed */
    int64_t quiet_until_ns;
    int64_t next_scan_ns, next_progress_ns, next_row_progress_ns, next_pump_ns;
    /* the scan that is running */
    int64_t place_id;
    char *place_path;                        /* owned */
    bool check_files, place_is_log;
    int64_t entry_count;
    int64_t *seen;                           /* log ids */
    size_t seen_count, seen_capacity;
    char **closed;                           /* owned; directories that could not be read: what lies below is not gone */
    size_t closed_count, closed_capacity;
    struct err scan_err;
    /* progress */
    int64_t total_bytes, done_bytes;
    size_t total_count, done_count;
    char control_line[64];
    size_t control_used;
};

static volatile sig_atomic_t signalled;
static int signal_fd = -1;

static void on_signal(int number)
{
    int saved = errno;
    (void)number;
    signalled = 1;
    if (signal_fd >= 0 && write(signal_fd, "s", 1) < 0) { /* full: awake anyway */ }
    errno = saved;
}

int worker_default_jobs(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 4 ? (int)MIN(cores / 2, 64L) : 2;
}

/* Gives an error that was caught to a caller who may not want its text. */
static enum err_code hand_on(struct err *err, const struct err *why, enum err_code rc)
{
    if (err && rc)
        *err = *why;
    return rc;
}

static enum stage stage_of(const struct worker *self, int64_t log_id)
{
    return (enum stage)(intptr_t)imap_get(&self->under_way, log_id);
}

static enum err_code set_stage(struct worker *self, int64_t log_id, enum stage stage, struct err *err)
{
    return imap_put(&self->under_way, log_id, (void *)(intptr_t)stage) ? err_nomem(err) : ERR_OK;
}

/* --- telling */

static void count_result(struct worker *self, const struct worker_result *result)
{
    struct worker_summary *s = self->summary;
    if (result->store_failed)
        s->store_failed_count++;
    else if (result->state == LOG_LOADED)
        s->loaded_count++;
    else if (result->state == LOG_PARTIAL)
        s->partial_count++;
    else if (result->state == LOG_FAILED)
        s->failed_count++;
    else if (result->state == LOG_SKIPPED) {
        s->skipped_count++;
        s->unreadable_count += strstr(result->flags, "unreadable") != NULL;
    }
}

static void tell(struct worker *self, const struct worker_result *result)
{
    count_result(self, result);
    if (self->options->on_result)
        self->options->on_result(self->options->context, result);
}

static void tell_row(struct worker *self, const struct catalog_row *row, bool fresh, bool store_failed)
{
    const struct worker_result result = {.path = row->path, .app_key = row->app_key, .app_id = row->app_id, .attempt_id = row->attempt_id,
        .state = store_failed ? LOG_FAILED : row->state, .complete = row->complete, .flags = row->flags, .bytes = row->bytes, .line_count = row->line_count,
        .bad_line_count = row->bad_line_count, .task_count = row->task_count, .load_ms = row->load_ms, .message = row->reason, .fresh = fresh, .store_failed = store_failed};
    tell(self, &result);
}

static void tell_progress(struct worker *self)
{
    struct worker_progress progress = {.read_bytes = self->done_bytes, .total_bytes = self->total_bytes, .done_count = self->done_count, .total_count = self->total_count,
        .listing_count = self->list_count + crew_started_count(&self->crew, JOB_LIST)};
    int64_t largest = -1;
    for (size_t i = CREW_LISTERS; i < self->crew.count; i++) {
        struct job *job = &self->crew.jobs[i];
        if (job->state == JOB_FREE)          /* only this thread frees a job */
            continue;
        progress.read_bytes += atomic_load(&job->read_bytes);
        if (job->item.bytes > largest) {
            largest = job->item.bytes;
            progress.path = job->path;
        }
    }
    if (self->options->on_progress)
        self->options->on_progress(self->options->context, &progress);
}

/* --- queues */

static enum err_code push_list(struct worker *self, const struct load_item *item, struct err *err)
{
    if (self->list_count == self->list_capacity) {
        size_t wanted = self->list_capacity ? self->list_capacity * 2 : 64;
        struct load_item *ring = wanted > MAX_LOGS ? NULL : mem_array(wanted, sizeof *ring);
        if (!ring)
            return err_nomem(err);
        for (size_t i = 0; i < self->list_count; i++)
            ring[i] = self->to_list[(self->list_head + i) % self->list_capacity];
        mem_free(self->to_list);
        self->to_list = ring;
        self->list_head = 0;
        self->list_capacity = wanted;
    }
    self->to_list[(self->list_head + self->list_count++) % self->list_capacity] = *item;
    return set_stage(self, item->log_id, STAGE_TO_LIST, err);
}

static void pop_list(struct worker *self)
{
    self->list_head = (self->list_head + 1) % self->list_capacity;
    self->list_count--;
}

static enum err_code push_load(struct worker *self, const struct load_item *item, struct err *err)
{
    if (load_queue_push(&self->queue, item, time_monotonic_ns()))
        return err_nomem(err);
    return set_stage(self, item->log_id, STAGE_TO_LOAD, err);
}

static struct load_item item_of(const struct catalog_row *row)
{
    return (struct load_item){.log_id = row->log_id, .bytes = row->bytes, .modified_ms = row->modified_ms, .wanted_ms = row->wanted_ms, .tries = row->tries};
}

/* The log is dealt with, for now. */
static void finish(struct worker *self, const struct load_item *item)
{
    imap_remove(&self->under_way, item->log_id);
    self->done_bytes += item->bytes;
    self->done_count++;
}

static void begin(struct worker *self, const struct catalog_row *row)
{
    self->total_bytes += row->bytes;
    self->total_count++;
}

/* --- loads that are followed */

static struct kept *find_kept(struct worker *self, int64_t log_id)
{
    for (size_t i = 0; i < WORKER_KEPT_LOADS; i++)
        if (self->kept[i].load && self->kept[i].log_id == log_id)
            return &self->kept[i];
    return NULL;
}

static void drop_kept(struct worker *self, int64_t log_id)
{
    struct kept *kept = find_kept(self, log_id);
    if (kept)
        load_free(TAKE(kept->load));
}

/* Takes the load over; the one that has not grown for the longest time makes room. */
static void keep_load(struct worker *self, const struct job *job, struct load *load)
{
    struct kept *slot = &self->kept[0];
    for (size_t i = 0; i < WORKER_KEPT_LOADS && slot->load; i++)
        if (!self->kept[i].load || self->kept[i].used_ns < slot->used_ns)
            slot = &self->kept[i];
    load_free(slot->load);
    *slot = (struct kept){.load = load, .log_id = job->item.log_id, .used_ns = time_monotonic_ns()};
    memcpy(slot->app_key, job->app_key, sizeof slot->app_key);
}

/* --- what a look at the places finds */

static struct catalog_sighting sighting_of(const struct log_entry *entry, int64_t place_id)
{
    return (struct catalog_sighting){.place_id = place_id, .path = entry->path, .fingerprint = entry->fingerprint, .layout = (int64_t)entry->layout, .bytes = entry->bytes,
        .modified_ms = entry->modified_ms, .finished_name = entry->finished_name};
}

/* A row that waits: list it, or go on with the load that is kept for it. */
static enum err_code take_waiting(struct worker *self, const struct catalog_row *row, struct err *err)
{
    struct load_item item = item_of(row);
    begin(self, row);
    if (find_kept(self, row->log_id))
        return push_load(self, &item, err);
    if (row->loaded && !row->finished_name && known(row->load_ms) && !known(row->wanted_ms))
        item.due_ns = time_monotonic_ns() + MIN(row->load_ms * NS_PER_MS * REREAD_SHARE, REREAD_LONGEST_NS);
    return push_list(self, &item, err);
}

/* Another process is loading it, or was killed while doing so: the load itself finds out. */
static enum err_code take_foreign(struct worker *self, const struct catalog_row *row, struct err *err)
{
    struct load_item item = item_of(row);
    item.due_ns = time_monotonic_ns() + FOREIGN_RETRY_NS;
    begin(self, row);
    return push_load(self, &item, err);
}

static enum err_code note_seen(struct worker *self, int64_t log_id, struct err *err)
{
    if (mem_grow((void **)&self->seen, &self->seen_capacity, self->seen_count + 1, MAX_LOGS, sizeof *self->seen))
        return err_nomem(err);
    self->seen[self->seen_count++] = log_id;
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
    if (row->state != LOG_LOADED && row->state != LOG_PARTIAL && row->state != LOG_FAILED)
        return ERR_OK;
    if (self->settled.count > 4 * self->seen_count + 10000)
        imap_clear(&self->settled);          /* old fingerprints of growing logs; the next scan fills it again */
    return imap_put(&self->settled, settled_key(row->path, row->fingerprint), (void *)(intptr_t)row->log_id) ? err_nomem(err) : ERR_OK;
}

static enum err_code see_entry(struct worker *self, const struct catalog_sighting *sighting, struct err *err)
{
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from, settled_id = (int64_t)(intptr_t)imap_get(&self->settled, settled_key(sighting->path, sighting->fingerprint));
    if (settled_id)
        return note_seen(self, settled_id, err);
    enum err_code rc = catalog_find(self->catalog, sighting->path, &row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && stage_of(self, row.log_id))
        return note_seen(self, row.log_id, err);         /* on its way; compared again by the next scan */
    if ((rc = catalog_see(self->catalog, sighting, self->check_files, &news, &renamed_from, &row, err)) || (rc = note_seen(self, row.log_id, err)))
        return rc;
    if (renamed_from) {
        struct kept *kept = find_kept(self, renamed_from);
        if (kept)
            kept->log_id = row.log_id;
    }
    /* Set aside for having ended the worker twice: a person who asks for it gets another try, last and alone; a server is spared. */
    if (row.state == LOG_FAILED && row.tries > 0 && !self->options->watch && !(rc = catalog_load_put_off(self->catalog, row.log_id, row.reason, err)))
        row.state = LOG_WAITING;
    if (rc)
        return rc;
    if (row.state == LOG_WAITING)
        return take_waiting(self, &row, err);
    if (row.state == LOG_LOADING)
        return take_foreign(self, &row, err);
    if (!self->options->watch)
        tell_row(self, &row, false, false);
    return note_settled(self, &row, err);
}

static enum err_code pump(struct worker *self, struct err *err);

/* A scan may take long: finished jobs are looked after meanwhile. */
static enum err_code breathe(struct worker *self)
{
    enum err_code rc = ERR_OK;
    if (time_monotonic_ns() >= self->next_pump_ns) {
        rc = pump(self, &self->scan_err);
        self->next_pump_ns = time_monotonic_ns() + PUMP_NS;
    }
    return rc ? rc : self->stop || signalled ? ERR_CANCELLED : ERR_OK;
}

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    struct worker *self = context;
    self->entry_count++;
    bool is_place = strcmp(entry->path, self->place_path) == 0;
    self->place_is_log |= is_place;
    struct catalog_sighting sighting = sighting_of(entry, is_place ? UNKNOWN : self->place_id);
    enum err_code rc = see_entry(self, &sighting, &self->scan_err);
    log_entry_dispose(entry);
    return rc ? rc : breathe(self);
}

static enum err_code note_closed(struct worker *self, const char *path, struct err *err)
{
    char *copy = mem_strndup(path, strlen(path));
    if (!copy || mem_grow((void **)&self->closed, &self->closed_capacity, self->closed_count + 1, MAX_LOGS, sizeof *self->closed)) {
        mem_free(copy);
        return err_nomem(err);
    }
    self->closed[self->closed_count++] = copy;
    return ERR_OK;
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    static const char *const words[] = {[REJECT_NOT_A_LOG] = "not-a-log", [REJECT_EMPTY] = "empty", [REJECT_UNREADABLE] = "unreadable"};
    struct worker *self = context;
    struct err *err = &self->scan_err;
    bool is_place = strcmp(reject->path, self->place_path) == 0;
    self->entry_count++;
    self->place_is_log |= is_place;
    const struct catalog_sighting sighting = {.place_id = is_place ? UNKNOWN : self->place_id, .path = reject->path, .fingerprint = "", .bytes = known_or(reject->bytes, 0),
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
        tell_row(self, &row, fresh, false);
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
    if (bsearch(&log_id, self->seen, self->seen_count, sizeof log_id, compare_ids))
        return ERR_OK;
    for (size_t i = 0; i < self->closed_count; i++)
        if (lies_below(path, self->closed[i]))
            return ERR_OK;
    if (mem_grow((void **)&missing->ids, &missing->capacity, missing->count + 1, MAX_LOGS, sizeof *missing->ids))
        return ERR_NOMEM;
    missing->ids[missing->count++] = log_id;
    return ERR_OK;
}

static enum err_code log_gone(struct worker *self, int64_t log_id, struct err *err)
{
    drop_kept(self, log_id);
    imap_clear(&self->settled);              /* one that comes back must be seen to */
    return stage_of(self, log_id) == STAGE_AT_WORK ? ERR_OK : catalog_gone(self->catalog, log_id, err);
}

static enum err_code mark_missing(struct worker *self, struct err *err)
{
    struct missing missing = {.worker = self};
    if (self->seen_count)
        qsort(self->seen, self->seen_count, sizeof *self->seen, compare_ids);
    enum err_code rc = catalog_each_present(self->catalog, self->place_id, find_missing, &missing, err);
    for (size_t i = 0; i < missing.count && !rc; i++)
        rc = log_gone(self, missing.ids[i], err);
    mem_free(missing.ids);
    return rc;
}

static void forget_scan(struct worker *self)
{
    for (size_t i = 0; i < self->closed_count; i++)
        mem_free(self->closed[i]);
    self->closed_count = self->seen_count = 0;
    mem_free(TAKE(self->place_path));
}

/* A place that cannot be looked at: its logs stay as they are, except that a single log that is not there is gone. */
static enum err_code place_failed(struct worker *self, const struct err *why, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = ERR_OK;
    if (known(self->place_id))
        rc = catalog_place_scanned(self->catalog, self->place_id, 0, self->entry_count, why->message, err);
    if (!rc && why->code == ERR_NOT_FOUND && !catalog_find(self->catalog, self->place_path, &row, NULL) && row.state != LOG_GONE)
        rc = log_gone(self, row.log_id, err);
    self->summary->missing_count++;
    if (!self->options->watch) {
        const struct worker_result result = {.path = self->place_path, .state = LOG_FAILED, .flags = "unreadable", .bytes = UNKNOWN, .line_count = UNKNOWN,
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
    self->place_id = state->place_id;
    self->check_files = !state->scanned;
    self->entry_count = 0;
    self->place_is_log = false;
    self->scan_err = (struct err){0};
    if (!(self->place_path = log_absolute_path(place->path, err)))
        return ERR_NOMEM;
    enum err_code rc = ERR_OK;
    bool there = stat(self->place_path, &st) == 0;
    /* A directory is a place. While watching, so is what is not there: the list says why nothing comes from it. */
    if (!known(self->place_id) && ((there && S_ISDIR(st.st_mode)) || (!there && self->options->watch)) &&
        (rc = catalog_place(self->catalog, self->place_path, place->name, &self->place_id, err)))
        return rc;
    state->place_id = self->place_id;
    const struct log_scan scan = {.context = self, .on_entry = on_entry, .on_reject = on_reject, .is_known = is_known};
    rc = log_scan(self->place_path, &scan, &scan_err);
    if (self->scan_err.code)                 /* the catalogue or memory, not the place */
        return hand_on(err, &self->scan_err, self->scan_err.code);
    if (rc == ERR_CANCELLED || self->stop)
        return ERR_CANCELLED;
    if (rc)
        return place_failed(self, &scan_err, err);
    state->scanned = true;
    if (!known(self->place_id))
        return ERR_OK;
    if (self->place_is_log) {
        state->place_id = UNKNOWN;
        return catalog_place_drop(self->catalog, self->place_id, err);
    }
    if ((rc = mark_missing(self, err)))
        return rc;
    return catalog_place_scanned(self->catalog, self->place_id, (time_monotonic_ns() - began_ns) / NS_PER_MS, self->entry_count, NULL, err);
}

static enum err_code scan_all(struct worker *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->options->place_count && !rc; i++) {
        rc = scan_place(self, i, err);
        forget_scan(self);
    }
    self->next_scan_ns = time_monotonic_ns() + self->options->interval_ms * NS_PER_MS;
    return rc == ERR_CANCELLED ? ERR_OK : rc;
}

/* --- what the crew finds */

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static enum err_code tell_log(struct worker *self, int64_t log_id, bool fresh, bool store_failed, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (!rc)
        tell_row(self, &row, fresh, store_failed);
    return rc;
}

/* The log is not where it was: under another name, gone, or not to be read. */
static enum err_code log_moved(struct worker *self, struct job *job, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, job->item.log_id, &row, err);
    if (rc)
        return rc;
    if (job->rc != ERR_NOT_FOUND) {
        bool closed = job->rc == ERR_PERMISSION || job->rc == ERR_IO;
        const struct catalog_sighting sighting = {.place_id = row.place_id, .path = job->path, .fingerprint = "", .bytes = row.bytes, .modified_ms = row.modified_ms};
        rc = catalog_reject(self->catalog, &sighting, closed ? "unreadable" : "not-a-log", job->err.message, &row, err);
    } else if (job->entry.path && strcmp(job->entry.path, job->path) != 0) {
        const struct catalog_sighting sighting = sighting_of(&job->entry, row.place_id);
        if ((rc = see_entry(self, &sighting, err)) || (rc = catalog_get(self->catalog, job->item.log_id, &row, err)))
            return rc;
        if (row.state == LOG_LOADING || row.state == LOG_WAITING)        /* the new name was there before: nothing was handed over */
            rc = catalog_gone(self->catalog, job->item.log_id, err);
        if (!rc)
            finish(self, &job->item);
        return rc;
    } else {
        rc = log_gone(self, job->item.log_id, err);
    }
    if (rc || (rc = tell_log(self, job->item.log_id, true, false, err)))
        return rc;
    finish(self, &job->item);
    return ERR_OK;
}

/* Errors that pass: memory, disk, locks. */
static bool is_passing(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_NO_SPACE || rc == ERR_DB || rc == ERR_BUSY || rc == ERR_IO || rc == ERR_PERMISSION || rc == ERR_CANCELLED;
}

/* Not the log's fault. While watching it is tried again, ever more slowly; else it is told, and left for the next start. */
static enum err_code put_off(struct worker *self, struct job *job, struct err *err)
{
    struct load_item item = job->item;
    char reason[320];
    snprintf(reason, sizeof reason, "not loaded: %s", job->err.message[0] ? job->err.message : err_code_name(job->rc));
    enum err_code rc;
    if (job->rc == ERR_BUSY) {               /* another process has it: its row is that process's */
        item.due_ns = time_monotonic_ns() + FOREIGN_RETRY_NS;
        return push_load(self, &item, err);
    }
    if ((rc = catalog_load_put_off(self->catalog, item.log_id, job->rc == ERR_CANCELLED ? NULL : reason, err)))
        return rc;
    if (self->options->watch && job->kind == JOB_LOAD && job->rc != ERR_CANCELLED) {
        int64_t pause = MIN(RETRY_FIRST_NS << MIN(item.attempts, 6), RETRY_LONGEST_NS);
        log_warning("%s: %s; next try in %lld s", job->path, reason, (long long)(pause / NS_PER_S));
        item.attempts++;
        item.due_ns = time_monotonic_ns() + pause;
        return push_load(self, &item, err);
    }
    if (job->rc != ERR_CANCELLED && (rc = tell_log(self, item.log_id, true, true, err)))
        return rc;
    finish(self, &job->item);
    return ERR_OK;
}

static enum err_code list_done(struct worker *self, struct job *job, struct err *err)
{
    const struct listing *listing = &job->listing;
    const struct log_entry *entry = &job->entry;
    if (job->rc == ERR_NOMEM)
        return put_off(self, job, err);      /* while watching, the next scan finds it waiting */
    if (job->rc)
        return log_moved(self, job, err);
    char key[LISTING_KEY_BYTES];
    const struct catalog_run run = {.app_id = listing->app_id,
                                    .attempt_id = listing->has_attempt_id ? listing->attempt_id : NULL,
                                    .name = listing->has_start ? listing->name : NULL,
                                    .user = listing->has_start ? listing->user : NULL,
                                    .spark_version = text_or_null(listing->spark_version),
                                    .queue = text_or_null(listing->queue),
                                    .start_ms = listing->start_ms,
                                    .end_ms = listing->end_ms,
                                    .exit_code = listing->exit_code,
                                    .vendor_version = listing->vendor_version,
                                    .last_event_ms = UNKNOWN,
                                    .complete = listing->has_end};
    listing_app_key(run.app_id, run.attempt_id, entry->dir, key);
    bool chosen;
    enum err_code rc = catalog_listed(self->catalog, job->item.log_id, key, &run, &chosen, err);
    if (rc)
        return rc;
    if (chosen)
        return push_load(self, &job->item, err);
    if ((rc = tell_log(self, job->item.log_id, true, false, err)))
        return rc;
    finish(self, &job->item);
    return ERR_OK;
}

static struct catalog_run run_of(const struct job *job)
{
    const struct load_report *report = &job->report;
    return (struct catalog_run){.app_id = report->app_id, .attempt_id = report->has_attempt_id ? report->attempt_id : NULL, .name = text_or_null(report->name),
        .user = text_or_null(report->user), .spark_version = text_or_null(report->spark_version), .queue = text_or_null(report->queue), .start_ms = report->start_ms,
        .end_ms = report->end_ms, .last_event_ms = report->last_event_ms, .complete = report->complete, .outcome = report->outcome, .duration_ms = report->duration_ms,
        .job_count = report->job_count, .failed_job_count = report->failed_job_count, .stage_count = report->stage_count, .failed_stage_count = report->failed_stage_count,
        .task_count = report->task_count, .failed_task_count = report->failed_task_count, .executor_count = report->executor_count,
        .lost_executor_count = report->lost_executor_count, .task_time_ms = report->task_time_ms, .gc_time_ms = report->gc_time_ms, .input_bytes = report->input_bytes,
        .output_bytes = report->output_bytes, .shuffle_read_bytes = report->shuffle_read_bytes, .shuffle_write_bytes = report->shuffle_write_bytes,
        .disk_spill_bytes = report->disk_spill_bytes, .exit_code = report->exit_code, .vendor_version = report->vendor_version, .skew_grade = job->skew_grade, .gc_grade = job->gc_grade};
}

static enum err_code load_done(struct worker *self, struct job *job, struct err *err)
{
    if (job->rc && !job->probed && job->rc != ERR_NOMEM)
        return log_moved(self, job, err);    /* the look at it failed, not the load */
    if (job->rc && is_passing(job->rc))
        return put_off(self, job, err);
    const struct load_report *report = &job->report;
    const struct catalog_sighting read = sighting_of(&job->entry, UNKNOWN);
    struct catalog_run run = run_of(job);
    char flags[96];
    bool nothing = report->nothing_readable || job->rc;
    flags_text(report->flags | (nothing ? FLAG_UNREADABLE : 0), flags, sizeof flags);
    if (!run.app_id[0])
        run.app_id = job->entry.id_from_name;
    enum log_state state = catalog_state_of_flags(flags);
    const char *reason = text_or_null(report->message);
    if (nothing && !reason)
        reason = "nothing in it could be read";
    if (job->rc) {                           /* more than this program can hold, for one */
        state = LOG_FAILED;
        reason = job->err.message;
    } else if (nothing && !job->entry.finished_name && report->bad_line_count == 0 && !(report->flags & FLAG_LINES)) {
        state = LOG_SKIPPED;
        reason = "the run has only begun to write: no whole record is there yet";
        flags_text(FLAG_EMPTY, flags, sizeof flags);
    } else if (nothing) {
        state = LOG_FAILED;
    }
    const struct catalog_result result = {.state = state, .flags = flags, .reason = reason, .read = &read, .generation = job->generation,
        .line_count = report->line_count, .bad_line_count = report->bad_line_count, .task_count = report->task_count, .load_ms = report->load_ms};
    enum err_code rc = catalog_load_done(self->catalog, job->item.log_id, &result, &run, err);
    if (rc)
        return rc;
    if (job->load && self->options->watch && !job->entry.finished_name)
        keep_load(self, job, TAKE(job->load));
    finish(self, &job->item);
    const struct worker_result told = {.path = job->path, .app_key = state == LOG_LOADED || state == LOG_PARTIAL ? job->app_key : NULL,
        .app_id = text_or_null(run.app_id), .attempt_id = run.attempt_id, .state = state, .complete = report->complete, .flags = flags, .bytes = report->stored_bytes,
        .line_count = report->line_count, .bad_line_count = report->bad_line_count, .task_count = report->task_count, .load_ms = report->load_ms,
        .message = reason, .fresh = true};
    tell(self, &told);
    return ERR_OK;
}

/* --- giving work */

static bool key_at_work(struct worker *self, const char *app_key)
{
    for (size_t i = CREW_LISTERS; i < self->crew.count; i++)
        if (self->crew.jobs[i].state != JOB_FREE && strcmp(self->crew.jobs[i].app_key, app_key) == 0)
            return true;
    return false;
}

static size_t large_at_work(struct worker *self, bool *ret_alone)
{
    size_t count = 0;
    *ret_alone = false;
    for (size_t i = CREW_LISTERS; i < self->crew.count; i++)
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
    for (size_t i = 0; i < WORKER_KEPT_LOADS; i++) {
        struct kept *kept = &self->kept[i];
        if (kept->load && kept->log_id == item->log_id)
            job->load = TAKE(kept->load);
        else if (kept->load && strcmp(kept->app_key, job->app_key) == 0)
            load_free(TAKE(kept->load));     /* of another copy of the run: it holds the lock on the run's file */
    }
    crew_start(&self->crew, job);
    return ERR_OK;
}

/* The row says that somebody else dealt with it, or that there is nothing to do any more. */
static void settled_elsewhere(struct worker *self, const struct load_item *item, const struct catalog_row *row)
{
    finish(self, item);
    tell_row(self, row, false, false);
}

static enum err_code give_loads(struct worker *self, struct err *err)
{
    struct load_item held[8];
    size_t held_count = 0;
    enum err_code rc = ERR_OK;
    while (!rc && held_count < ARRAY_LENGTH(held)) {
        struct load_item item;
        struct catalog_row row;
        bool alone;
        struct job *job = crew_free_job(&self->crew, JOB_LOAD);
        size_t large = large_at_work(self, &alone), at_work = crew_started_count(&self->crew, JOB_LOAD), loaders = self->crew.count - CREW_LISTERS;
        if (!job || alone || !load_queue_pop(&self->queue, &item))
            break;
        bool listing = self->list_count || crew_started_count(&self->crew, JOB_LIST);
        bool must_wait = (item.tries > 0 && at_work) || (listing && !known(item.wanted_ms)) ||
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
        enum err_code again = push_load(self, &held[i], rc ? NULL : err);
        rc = rc ? rc : again;
    }
    return rc;
}

static enum err_code give_lists(struct worker *self, struct err *err)
{
    while (self->list_count) {
        struct job *job = crew_free_job(&self->crew, JOB_LIST);
        if (!job)
            return ERR_OK;
        struct catalog_row row;
        const struct load_item *item = &self->to_list[self->list_head];
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
        pop_list(self);
        crew_start(&self->crew, job);
    }
    return ERR_OK;
}

/* --- the loop */

static enum err_code collect(struct worker *self, struct err *err)
{
    for (struct job *job; (job = crew_next_done(&self->crew));) {
        enum err_code rc = job->kind == JOB_LIST ? list_done(self, job, err) : load_done(self, job, err);
        if (rc)
            return rc;
        crew_release(&self->crew, job);
    }
    return ERR_OK;
}

static enum err_code write_progress(struct worker *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = CREW_LISTERS; i < self->crew.count && !rc; i++) {
        struct job *job = &self->crew.jobs[i];
        if (job->state == JOB_STARTED)
            rc = catalog_load_progress(self->catalog, job->item.log_id, atomic_load(&job->read_bytes), atomic_load(&job->line_count), err);
    }
    return rc;
}

static enum err_code step(struct worker *self, struct err *err)
{
    int64_t now_ns = time_monotonic_ns();
    load_queue_wake(&self->queue, now_ns);
    enum err_code rc;
    if ((rc = collect(self, err)) || (rc = give_lists(self, err)) || (rc = give_loads(self, err)))
        return rc;
    if (now_ns >= self->next_row_progress_ns) {
        self->next_row_progress_ns = now_ns + ROW_PROGRESS_NS;
        if ((rc = write_progress(self, err)))
            return rc;
    }
    if (now_ns >= self->next_progress_ns) {
        self->next_progress_ns = now_ns + PROGRESS_NS;
        tell_progress(self);
    }
    return ERR_OK;
}

/* One round. While watching, a catalogue that cannot be written (disk full, locked) is waited for: nothing is lost, finished jobs stay finished until they are written down. */
static enum err_code pump(struct worker *self, struct err *err)
{
    struct err why = {0};
    int64_t now_ns = time_monotonic_ns();
    if (now_ns < self->quiet_until_ns)
        return ERR_OK;
    enum err_code rc = step(self, &why);
    if (rc && self->options->watch && is_passing(rc)) {
        if (!self->failing)
            log_error("the store cannot be written: %s", why.message);
        self->failing = true;
        self->quiet_until_ns = now_ns + RETRY_FIRST_NS;
        return ERR_OK;
    }
    if (rc)
        return hand_on(err, &why, rc);
    if (self->failing)
        log_info("the store can be written again");
    self->failing = false;
    return ERR_OK;
}

static enum err_code scan_when_due(struct worker *self, struct err *err)
{
    struct err why = {0};
    if (time_monotonic_ns() < self->next_scan_ns)
        return ERR_OK;
    if (!catalog_in_place(self->catalog))   /* whoever starts the worker again has it made anew */
        return err_set(err, ERR_CORRUPT, "catalog.db was removed or replaced by another file");
    enum err_code rc = scan_all(self, &why);
    if (rc && self->options->watch && is_passing(rc)) {
        log_error("the log directories could not be looked at: %s", why.message);
        return ERR_OK;
    }
    return hand_on(err, &why, rc);
}

static enum err_code want(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    int64_t now_ms = time_now_ms();
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    if (row.state == LOG_LOADED || row.state == LOG_PARTIAL) {
        /* Whoever asks found its database missing or unreadable: the next scan looks at the file, once for each scan however often it is asked for. */
        imap_remove(&self->settled, settled_key(row.path, row.fingerprint));
        for (size_t i = 0; i < self->options->place_count; i++)
            self->places[i].scanned = false;
        return ERR_OK;
    }
    if (row.state != LOG_WAITING)
        return ERR_OK;
    if ((rc = catalog_want(self->catalog, log_id, err)))
        return rc;
    if (load_queue_want(&self->queue, log_id, now_ms))
        return ERR_OK;
    for (size_t i = 0; i < self->list_count; i++) {
        struct load_item *item = &self->to_list[(self->list_head + i) % self->list_capacity];
        if (item->log_id == log_id)
            item->wanted_ms = now_ms;
    }
    for (size_t i = 0; i < CREW_LISTERS; i++)
        if (self->crew.jobs[i].state != JOB_FREE && self->crew.jobs[i].item.log_id == log_id)
            self->crew.jobs[i].item.wanted_ms = now_ms;
    row.wanted_ms = now_ms;
    return stage_of(self, log_id) ? ERR_OK : take_waiting(self, &row, err);
}

static void obey(struct worker *self, const char *line)
{
    int64_t log_id;
    struct err err = {0};
    if (strcmp(line, "scan") == 0)
        self->next_scan_ns = 0;
    else if (strncmp(line, "want ", 5) == 0 && str_to_i64(str_of(line + 5), &log_id)) {
        if (want(self, log_id, &err))
            log_warning("log %lld could not be put in front: %s", (long long)log_id, err.message);
    } else {
        log_warning("not understood on standard input: %.60s", line);
    }
}

static void read_control(struct worker *self)
{
    char bytes[512];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got == 0)
        self->stop = true;                   /* the server is gone */
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            if (self->control_used < sizeof self->control_line - 1)
                self->control_line[self->control_used++] = bytes[i];
            continue;
        }
        self->control_line[self->control_used] = '\0';
        self->control_used = 0;
        obey(self, self->control_line);
    }
}

static bool is_idle(struct worker *self)
{
    return !self->list_count && !self->queue.count && !self->queue.aside_count && !crew_started_count(&self->crew, JOB_LIST) && !crew_started_count(&self->crew, JOB_LOAD);
}

/* Until a job is done, a line or a signal comes, or the next thing is due. */
static void wait_for_news(struct worker *self)
{
    int64_t now_ns = time_monotonic_ns(), until_ns = load_queue_wake(&self->queue, now_ns);
    if (self->options->watch)
        until_ns = MIN(until_ns, self->next_scan_ns);
    if (crew_started_count(&self->crew, JOB_LIST) || crew_started_count(&self->crew, JOB_LOAD))
        until_ns = MIN(until_ns, self->next_progress_ns);
    if (self->quiet_until_ns > now_ns)
        until_ns = MIN(MAX(until_ns, now_ns + PUMP_NS), self->quiet_until_ns);
    int64_t pause_ms = until_ns == INT64_MAX ? 60000 : MAX(0, MIN((until_ns - now_ns) / NS_PER_MS + 1, 60000));
    struct pollfd fds[2] = {{.fd = self->wake[0], .events = POLLIN}, {.fd = self->options->control ? STDIN_FILENO : -1, .events = POLLIN}};
    if (poll(fds, 2, (int)pause_ms) <= 0)
        return;
    char bytes[256];
    while (fds[0].revents && read(self->wake[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    if (fds[1].revents)
        read_control(self);
}

static enum err_code loop(struct worker *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    bool scanned = false;
    while (!rc && !signalled && !self->stop) {
        if (!scanned || self->options->watch)
            rc = scan_when_due(self, err);
        scanned = true;
        if (!rc)
            rc = pump(self, err);
        if (!rc && !self->options->watch && is_idle(self))
            break;
        if (!rc && !signalled && !self->stop)
            wait_for_news(self);
    }
    return rc;
}

/* Asked to stop, or the store failed: running loads are cancelled, and what they were doing is put back. */
static void wind_up(struct worker *self)
{
    atomic_store(&self->crew.cancelled, true);
    while (crew_started_count(&self->crew, JOB_LIST) || crew_started_count(&self->crew, JOB_LOAD)) {
        for (struct job *job; (job = crew_next_done(&self->crew));) {
            /* What is finished is written down as usual; where that fails, the next start finds the row and no marker of a death. */
            (void)(job->kind == JOB_LIST ? list_done(self, job, NULL) : load_done(self, job, NULL));
            crew_release(&self->crew, job);
        }
        struct pollfd fd = {.fd = self->wake[0], .events = POLLIN};
        char bytes[256];
        if (poll(&fd, 1, 100) > 0 && read(self->wake[0], bytes, sizeof bytes) < 0)
            continue;
    }
}

/* --- start and end */

/* STORE/worker-XXXXXX is locked while a worker lives and removed when it ends by itself. One that is there and not locked is the trace of a worker that was killed. */
static enum err_code leave_marker(struct worker *self, bool *ret_died, bool *ret_alone, struct err *err)
{
    char path[4200];
    const char *store = self->options->store_dir;
    *ret_died = false;
    *ret_alone = true;
    DIR *dir = opendir(store);
    if (!dir)
        return err_set_errno(err, errno, "%s", store);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strncmp(entry->d_name, "worker-", 7) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", store, entry->d_name);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            *ret_died = true;
            unlink(path);
        } else {
            *ret_alone = false;
        }
        close(fd);
    }
    closedir(dir);
    snprintf(self->marker_path, sizeof self->marker_path, "%s/worker-XXXXXX", store);
    self->marker_fd = mkostemp(self->marker_path, O_CLOEXEC);
    if (self->marker_fd < 0 || flock(self->marker_fd, LOCK_EX | LOCK_NB))
        return err_set_errno(err, errno, "%s", self->marker_path);
    return ERR_OK;
}

static enum err_code recover(struct worker *self, struct err *err)
{
    char path[4200];
    bool died, alone;
    struct catalog_recovery recovery = {0};
    snprintf(path, sizeof path, "%s/catalog.lock", self->options->store_dir);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);      /* one at a time looks at the markers */
    if (lock < 0 || flock(lock, LOCK_EX)) {
        enum err_code rc = err_set_errno(err, errno, "%s", path);
        if (lock >= 0)
            close(lock);
        return rc;
    }
    enum err_code rc = leave_marker(self, &died, &alone, err);
    if (!rc && alone)
        rc = catalog_recover(self->catalog, died, &recovery, err);
    close(lock);
    if (recovery.reset_count)
        log_warning("%lld loads were not finished when the last worker ended: they begin again", (long long)recovery.reset_count);
    if (recovery.set_aside_count)
        log_error("%lld logs are set aside: loading them ended the worker twice", (long long)recovery.set_aside_count);
    return rc;
}

static enum err_code open_pipe(struct worker *self, struct err *err)
{
    if (pipe2(self->wake, O_CLOEXEC | O_NONBLOCK))
        return err_set_errno(err, errno, "cannot make a pipe");
    return ERR_OK;
}

struct keys {
    char **items;                    /* owned, and each */
    size_t count, capacity;
};

static enum err_code keep_key(void *context, const char *app_key)
{
    struct keys *keys = context;
    char *copy = mem_strndup(app_key, strlen(app_key));
    if (!copy || mem_grow((void **)&keys->items, &keys->capacity, keys->count + 1, MAX_LOGS, sizeof *keys->items)) {
        mem_free(copy);
        return ERR_NOMEM;
    }
    keys->items[keys->count++] = copy;
    return ERR_OK;
}

/* Runs that came into the catalogue without a judgement, from a rebuild. */
static enum err_code judge_rest(struct worker *self, struct err *err)
{
    struct keys keys = {0};
    enum err_code rc = self->options->judge ? catalog_each_unjudged(self->catalog, keep_key, &keys, err) : ERR_OK;
    for (size_t i = 0; i < keys.count; i++) {
        int64_t skew_grade, gc_grade;
        if (!rc && crew_judge(&self->crew, keys.items[i], &skew_grade, &gc_grade))
            rc = catalog_judged(self->catalog, keys.items[i], skew_grade, gc_grade, err);
        mem_free(keys.items[i]);
    }
    mem_free(keys.items);
    return rc;
}

static enum err_code set_up(struct worker *self, struct err *err)
{
    enum err_code rc;
    size_t count = self->options->place_count;
    imap_init(&self->under_way, MAX_LOGS);
    imap_init(&self->settled, MAX_LOGS);
    if (!(self->places = mem_array(count ? count : 1, sizeof *self->places)))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        self->places[i].place_id = UNKNOWN;
    if ((rc = catalog_open(&self->catalog, self->options->store_dir, err)))
        return rc;
    if (catalog_remark(self->catalog))
        log_warning("%s", catalog_remark(self->catalog));
    if ((rc = recover(self, err)) || (rc = open_pipe(self, err)))
        return rc;
    rc = crew_init(&self->crew, self->options->store_dir, self->options->judge, self->options->jobs, self->wake[1], err);
    return rc ? rc : judge_rest(self, err);
}

static void tear_down(struct worker *self)
{
    if (self->crew.store_dir)
        crew_dispose(&self->crew);
    for (size_t i = 0; i < WORKER_KEPT_LOADS; i++)
        load_free(self->kept[i].load);
    catalog_close(self->catalog);
    for (int i = 0; i < 2; i++)
        if (self->wake[i] >= 0)
            close(self->wake[i]);
    if (self->marker_fd >= 0) {
        unlink(self->marker_path);
        close(self->marker_fd);
    }
    load_queue_dispose(&self->queue);
    imap_dispose(&self->under_way);
    imap_dispose(&self->settled);
    mem_free(self->to_list);
    mem_free(self->places);
    mem_free(self->seen);
    mem_free(self->closed);
    mem_free(self);
}

enum err_code worker_run(const struct worker_options *options, struct worker_summary *ret, struct err *err)
{
    *ret = (struct worker_summary){0};
    struct worker *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->options = options;
    self->summary = ret;
    self->wake[0] = self->wake[1] = self->marker_fd = -1;
    enum err_code rc = set_up(self, err);
    if (!rc) {
        const struct sigaction stop = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, ignore = {.sa_handler = SIG_IGN};
        struct sigaction old_term, old_int, old_pipe;
        signalled = 0;
        signal_fd = self->wake[1];
        sigaction(SIGTERM, &stop, &old_term);
        sigaction(SIGINT, &stop, &old_int);
        sigaction(SIGPIPE, &ignore, &old_pipe);
        sigset_t stops, old_mask;
        sigemptyset(&stops);
        sigaddset(&stops, SIGTERM);
        sigaddset(&stops, SIGINT);
        pthread_sigmask(SIG_UNBLOCK, &stops, &old_mask);     /* a parent may have left them blocked */
        if ((rc = loop(self, err)))
            err_prefix(err, "store %s", options->store_dir);
        ret->stopped = !rc && (self->stop || signalled);
        wind_up(self);
        signal_fd = -1;
        sigaction(SIGTERM, &old_term, NULL);
        sigaction(SIGINT, &old_int, NULL);
        sigaction(SIGPIPE, &old_pipe, NULL);
        pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
    }
    tear_down(self);
    return rc;
}
