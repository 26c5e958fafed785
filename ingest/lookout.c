/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/lookout.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/place.h"

#define QUEUE_LENGTH ((size_t)1024)
#define KNOWN_MAX ((size_t)100 << 20)
#define FINDS 16
#define GLANCES 10 /* in an interval */

struct lane {
    struct lookout *lookout;
    pthread_t thread;
    bool running;                          /* the thread was made */
    bool looking, poked, done;             /* under the lock */
    char finds[FINDS][LOOKOUT_FIND_BYTES]; /* under the lock */
    size_t find_count;
    atomic_bool has_finds;
};

struct watched {
    const char *address; /* borrowed */
    size_t lane;
    bool wanted;             /* at once; under the lock */
    bool anew;               /* nothing counts as told; under the lock */
    struct place_view *view; /* owned; made by its lane */
    bool has_view;
    int64_t modified_ms;       /* of its directory, right before the last look; UNKNOWN: it is none, was not there, or has no such time (S3) */
    int64_t ended_ns, took_ns; /* the last look */
    struct imap seen[2]; /* of the last look and of this one: keys → a_log, or why it is none */
    struct imap told[2]; /* the same: stamps of logs in one file → their keys */
};

struct lookout {
    struct lookout_options options;
    pthread_mutex_t lock;
    pthread_cond_t room, news; /* monotonic clock; for lanes: the queue has room; something is to be done */
    atomic_bool ending;        /* set under the lock */
    struct seen *queue;        /* a ring */
    size_t first, count;
    struct imap known; /* read-only once the lanes run */
    struct watched *places;
    struct lane lanes[1 + LOOKOUT_REMOTE_LANES];
    size_t lane_count;
};

int64_t lookout_key(const char *path, const char *fingerprint)
{
    return (int64_t)(hash_bytes(path, strlen(path)) * 31 + hash_bytes(fingerprint, strlen(fingerprint)));
}

void seen_dispose(struct seen *self)
{
    log_entry_dispose(&self->entry);
    mem_free(self->path);
    mem_free(self->reason);
    mem_free(self->same);
    *self = (struct seen){0};
}

/* ---- the queue */

/* Takes over what `seen` owns. ERR_CANCELLED: nobody will take it. */
static enum err_code put(struct lookout *self, struct seen *seen)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == QUEUE_LENGTH && !self->ending)
        pthread_cond_wait(&self->room, &self->lock);
    bool ending = self->ending, first = self->count == 0;
    if (!ending) {
        self->queue[(self->first + self->count) % QUEUE_LENGTH] = *seen;
        self->count++;
    }
    pthread_mutex_unlock(&self->lock);
    if (ending) {
        seen_dispose(seen);
        return ERR_CANCELLED;
    }
    /* The pipe does not block; when it is full the worker is awake anyway. */
    if (first && write(self->options.wake_fd, "l", 1) < 0 && errno != EAGAIN)
        return ERR_CANCELLED;
    return ERR_OK;
}

bool lookout_next(struct lookout *self, struct seen *ret)
{
    pthread_mutex_lock(&self->lock);
    bool there = self->count > 0;
    if (there) {
        *ret = self->queue[self->first];
        self->first = (self->first + 1) % QUEUE_LENGTH;
        if (self->count-- == QUEUE_LENGTH)
            pthread_cond_broadcast(&self->room);
    }
    pthread_mutex_unlock(&self->lock);
    return there;
}

bool lookout_has_news(struct lookout *self)
{
    pthread_mutex_lock(&self->lock);
    bool news = self->count > 0;
    pthread_mutex_unlock(&self->lock);
    return news;
}

bool lookout_is_busy(struct lookout *self)
{
    pthread_mutex_lock(&self->lock);
    bool busy = self->count > 0;
    for (size_t i = 0; i < self->lane_count; i++)
        busy |= self->lanes[i].looking || (!self->options.again && !self->lanes[i].done);
    pthread_mutex_unlock(&self->lock);
    return busy;
}

/* ---- logs that are asked for by name */

/* As Spark makes a file name of an id (spec/files.md 1.2). */
static void sanitise(char *id)
{
    for (char *p = id; *p; p++) {
        if (strchr(" :/", *p))
            *p = '-';
        else if (strchr(".${}'\"", *p))
            *p = '_';
        else if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + ('a' - 'A'));
    }
}

/* ERR_OK: found and told, or not there; an error: looking further is no use. */
static enum err_code try_name(struct lookout *self, size_t place, const char *name)
{
    struct seen seen = {.kind = SEEN_FOUND, .place = place, .looked_ms = time_now_ms()};
    char *path = place_join(self->places[place].address, name);
    enum err_code rc = path ? log_entry_probe(path, &seen.entry, NULL) : ERR_NOMEM;
    mem_free(path);
    if (!rc)
        return put(self, &seen);
    return rc == ERR_AWAY || rc == ERR_CANCELLED || rc == ERR_NOMEM ? rc : ERR_OK;
}

static enum err_code find_in(struct lookout *self, size_t place, const char *id)
{
    static const char *const attempts[] = {"", "_1", "_2"};
    static const char *const suffixes[] = {"", ".zstd", ".lz4", ".snappy", ".lzf"};
    char name[LOOKOUT_FIND_BYTES + 64], clean[LOOKOUT_FIND_BYTES];
    enum err_code rc = ERR_OK;
    snprintf(clean, sizeof clean, "%s", id);
    sanitise(clean);
    for (size_t a = 0; a < ARRAY_LENGTH(attempts) && !rc; a++) {
        snprintf(name, sizeof name, "eventlog_v2_%s%s", clean, attempts[a]);
        rc = try_name(self, place, name);
        for (size_t s = 0; s < ARRAY_LENGTH(suffixes) && !rc; s++) {
            /* A probe of the running one looks for the finished one first. */
            snprintf(name, sizeof name, "%s%s%s.inprogress", clean, attempts[a], suffixes[s]);
            rc = try_name(self, place, name);
        }
    }
    return rc;
}

static void find_logs(struct lane *lane)
{
    struct lookout *self = lane->lookout;
    char id[LOOKOUT_FIND_BYTES];
    for (;;) {
        pthread_mutex_lock(&self->lock);
        bool there = lane->find_count > 0 && !self->ending;
        if (there)
            snprintf(id, sizeof id, "%s", lane->finds[--lane->find_count]);
        atomic_store(&lane->has_finds, lane->find_count > 0);
        pthread_mutex_unlock(&self->lock);
        if (!there)
            return;
        for (size_t i = 0; i < self->options.place_count; i++)
            if (&self->lanes[self->places[i].lane] == lane && find_in(self, i, id) == ERR_CANCELLED)
                return;
    }
}

void lookout_find(struct lookout *self, const char *app_id)
{
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->lane_count; i++) {
        struct lane *lane = &self->lanes[i];
        bool there = lane->find_count == FINDS;
        for (size_t f = 0; f < lane->find_count; f++)
            there |= strcmp(lane->finds[f], app_id) == 0;
        if (!there)
            snprintf(lane->finds[lane->find_count++], LOOKOUT_FIND_BYTES, "%s", app_id);
        atomic_store(&lane->has_finds, true);
    }
    pthread_cond_broadcast(&self->news);
    pthread_mutex_unlock(&self->lock);
}

/* ---- looking at a place */

struct look {
    struct lookout *lookout;
    struct watched *place;
    size_t index;
    int64_t began_ms;
    int64_t *same; /* owned; keys that go with the next SEEN_SAME */
    size_t same_count;
};

static const char a_log[] = ""; /* what a key of a log leads to; one of a reject leads to its reason, which is static */

static bool is_known(void *context, const char *path, const char *fingerprint, const char **ret_reason)
{
    struct look *look = context;
    int64_t key = lookout_key(path, fingerprint);
    const char *reason = imap_get(&look->place->seen[0], key);
    *ret_reason = reason == a_log ? NULL : reason;
    return reason || imap_get(&look->lookout->known, key);
}

static enum err_code remember(struct look *look, const char *path, const char *fingerprint, const char *reason)
{
    return imap_put(&look->place->seen[1], lookout_key(path, fingerprint), (void *)(uintptr_t)reason) ? ERR_NOMEM : ERR_OK;
}

static enum err_code go_on(struct look *look)
{
    struct lane *lane = &look->lookout->lanes[look->place->lane];
    if (atomic_load_explicit(&lane->has_finds, memory_order_relaxed))
        find_logs(lane);
    return look->lookout->ending ? ERR_CANCELLED : ERR_OK;
}

static enum err_code tell_same(struct look *look)
{
    struct seen seen = {.kind = SEEN_SAME, .place = look->index, .looked_ms = look->began_ms, .same = look->same, .same_count = look->same_count};
    look->same = NULL;
    look->same_count = 0;
    return seen.same_count ? put(look->lookout, &seen) : ERR_OK;
}

static enum err_code pass_over(void *context, int64_t stamp, bool *ret_passed)
{
    struct look *look = context;
    void *key = imap_get(&look->place->told[0], stamp);
    *ret_passed = key != NULL;
    if (!key)
        return ERR_OK;
    if (imap_put(&look->place->told[1], stamp, key) || imap_put(&look->place->seen[1], (int64_t)(intptr_t)key, (void *)(uintptr_t)a_log) ||
        (!look->same && !(look->same = mem_array(LOOKOUT_SAME_COUNT, sizeof *look->same))))
        return ERR_NOMEM;
    look->same[look->same_count++] = (int64_t)(intptr_t)key;
    if (look->same_count < LOOKOUT_SAME_COUNT)
        return ERR_OK;
    enum err_code rc = tell_same(look);
    return rc ? rc : go_on(look);
}

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    struct look *look = context;
    struct seen seen = {.kind = SEEN_LOG, .place = look->index, .looked_ms = look->began_ms, .entry = *entry};
    if (remember(look, entry->path, entry->fingerprint, a_log) ||
        (entry->stamp && imap_put(&look->place->told[1], entry->stamp, (void *)(intptr_t)lookout_key(entry->path, entry->fingerprint)))) {
        seen_dispose(&seen);
        return ERR_NOMEM;
    }
    enum err_code rc = put(look->lookout, &seen);
    return rc ? rc : go_on(look);
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    struct look *look = context;
    struct seen seen = {.kind = SEEN_REJECT,
                        .place = look->index,
                        .looked_ms = look->began_ms,
                        .reject = reject->kind,
                        .bytes = reject->bytes,
                        .modified_ms = reject->modified_ms,
                        .path = mem_strndup(reject->path, strlen(reject->path)),
                        .reason = mem_strndup(reject->reason, strlen(reject->reason))};
    if (!seen.path || !seen.reason || (reject->fingerprint && remember(look, reject->path, reject->fingerprint, reject->reason))) {
        seen_dispose(&seen);
        return ERR_NOMEM;
    }
    enum err_code rc = put(look->lookout, &seen);
    return rc ? rc : go_on(look);
}

/* Whether all is to be told as if nothing had been; whoever takes it does so. */
static bool take_wish_for_all(struct lookout *self, size_t place)
{
    pthread_mutex_lock(&self->lock);
    bool anew = self->places[place].anew;
    self->places[place].anew = false;
    pthread_mutex_unlock(&self->lock);
    return anew;
}

static enum err_code look_at(struct lookout *self, size_t index)
{
    struct watched *place = &self->places[index];
    struct look look = {.lookout = self, .place = place, .index = index, .began_ms = time_now_ms()};
    struct seen begin = {.kind = SEEN_BEGIN, .place = index, .looked_ms = look.began_ms};
    struct seen end = {.kind = SEEN_END, .place = index, .looked_ms = look.began_ms};
    int64_t began_ns = time_monotonic_ns();
    struct place_child child;
    if (take_wish_for_all(self, index))
        imap_clear(&place->told[0]);
    place->modified_ms = UNKNOWN;
    if (place_is_remote(place->address)) { /* what lies in it will show what it is; to ask now would be to wait twice */
        begin.is_there = begin.is_directory = self->options.again;
    } else if ((begin.is_there = place_stat(place->address, &child, NULL) == ERR_OK)) {
        begin.is_directory = child.kind == CHILD_DIRECTORY;
        begin.is_hidden = begin.is_directory && confine_hides(place->address);
        place_child_dispose(&child);
    }
    enum err_code rc = put(self, &begin);
    if (rc)
        return rc;
    if (!place->has_view)
        end.rc = place_view_new(place->address, &place->view, &end.err);
    place->has_view = !end.rc;
    const struct log_scan scan = {.context = &look, .on_entry = on_entry, .on_reject = on_reject, .is_known = is_known, .pass_over = pass_over, .view = place->view,
                                  .ret_modified_ms = &place->modified_ms};
    if (!end.rc)
        end.rc = log_scan(place->address, &scan, &end.err);
    if (!end.rc)
        end.rc = tell_same(&look);
    mem_free(look.same);
    if (end.rc && !end.err.message[0])
        err_set(&end.err, end.rc, "%s", err_code_name(end.rc));
    if (!end.rc) { /* of a look that broke off the earlier one still tells */
        imap_dispose(&place->seen[0]);
        place->seen[0] = place->seen[1];
        imap_init(&place->seen[1], KNOWN_MAX);
        imap_dispose(&place->told[0]);
        place->told[0] = place->told[1];
        imap_init(&place->told[1], KNOWN_MAX);
    }
    place->ended_ns = time_monotonic_ns();
    place->took_ns = place->ended_ns - began_ns;
    end.duration_ms = place->took_ns / NS_PER_MS;
    return put(self, &end);
}

/* What lies in it may be another by its directory's time, and to look now is cheap. */
static bool has_stirred(const struct watched *place)
{
    struct place_child child;
    if (!known(place->modified_ms) || time_monotonic_ns() - place->ended_ns < place->took_ns * (LOOKOUT_EARLY_SHARE - 1) || place_stat(place->address, &child, NULL))
        return false;
    bool stirred = child.modified_ms != place->modified_ms;
    place_child_dispose(&child);
    return stirred;
}

/* From the end of a look to the next. What comes right after a look passed it is told when the next one ends, and that shall be within the interval, a tenth of which is left for reading
 * it. Where that cannot be, no more than half of the time is spent on looking, and no pause is longer than the interval. */
static int64_t pause_ns(const struct lookout *self, int64_t took_ns)
{
    int64_t interval_ns = self->options.interval_ms * NS_PER_MS;
    return MAX(interval_ns - interval_ns / GLANCES - 2 * took_ns, MIN(took_ns, interval_ns));
}

/* Until `until_ns` at most; with the lock held. False: the lane ends. */
static bool wait_for_work(struct lane *lane, int64_t until_ns)
{
    struct lookout *self = lane->lookout;
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
    while (!self->ending && !lane->poked && lane->find_count == 0 && time_monotonic_ns() < until_ns)
        pthread_cond_timedwait(&self->news, &self->lock, &until);
    return !self->ending;
}

/* Whether somebody wants that place to be looked at now. */
static bool take_wish(struct lookout *self, size_t place)
{
    pthread_mutex_lock(&self->lock);
    bool wanted = self->places[place].wanted;
    self->places[place].wanted = false;
    pthread_mutex_unlock(&self->lock);
    return wanted;
}

static void *keep_looking(void *context)
{
    struct lane *lane = context;
    struct lookout *self = lane->lookout;
    int64_t due_ns = 0, glance_ns = INT64_MAX;
    pthread_setname_np(pthread_self(), "lookout");
    pthread_mutex_lock(&self->lock);
    while (wait_for_work(lane, MIN(due_ns, glance_ns))) {
        int64_t began_ns = time_monotonic_ns();
        bool due = began_ns >= due_ns;
        lane->looking = due || lane->poked;
        lane->poked = false;
        pthread_mutex_unlock(&self->lock);
        find_logs(lane);
        enum err_code rc = ERR_OK;
        for (size_t i = 0; i < self->options.place_count && !rc; i++)
            if (&self->lanes[self->places[i].lane] == lane && (take_wish(self, i) || due || has_stirred(&self->places[i])))
                rc = look_at(self, i);
        int64_t ended_ns = time_monotonic_ns();
        glance_ns = ended_ns + self->options.interval_ms * NS_PER_MS / GLANCES;
        pthread_mutex_lock(&self->lock);
        lane->looking = false;
        lane->done = true;
        if (due)
            due_ns = ended_ns + pause_ns(self, ended_ns - began_ns);
        if (!self->options.again)
            break;
    }
    pthread_mutex_unlock(&self->lock);
    if (write(self->options.wake_fd, "l", 1) < 0 && errno != EAGAIN)
        return NULL;
    return NULL;
}

void lookout_poke(struct lookout *self, size_t place)
{
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->options.place_count; i++)
        if (place == LOOKOUT_ALL || place == i) {
            self->places[i].wanted = true;
            self->lanes[self->places[i].lane].poked = true;
        }
    pthread_cond_broadcast(&self->news);
    pthread_mutex_unlock(&self->lock);
}

void lookout_tell_anew(struct lookout *self, size_t place)
{
    pthread_mutex_lock(&self->lock);
    self->places[place].anew = true;
    pthread_mutex_unlock(&self->lock);
}

/* ---- from start to end */

static void assign_lanes(struct lookout *self)
{
    size_t remote = 0;
    for (size_t i = 0; i < self->options.place_count; i++)
        self->places[i].lane = place_is_remote(self->options.places[i]) ? 1 + remote++ % LOOKOUT_REMOTE_LANES : 0;
    self->lane_count = 1 + MIN(remote, (size_t)LOOKOUT_REMOTE_LANES);
}

enum err_code lookout_start(struct lookout **ret, const struct lookout_options *options, struct imap *known, struct err *err)
{
    *ret = NULL;
    struct lookout *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->options = *options;
    self->known = *known;
    imap_init(known, KNOWN_MAX);
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->room, &monotonic);
    pthread_cond_init(&self->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    self->queue = mem_array(QUEUE_LENGTH, sizeof *self->queue);
    self->places = mem_array(options->place_count + 1, sizeof *self->places);
    if (!self->queue || !self->places) {
        self->options.place_count = 0;
        lookout_stop(self);
        return err_nomem(err);
    }
    for (size_t i = 0; i < options->place_count; i++) {
        self->places[i].address = options->places[i];
        self->places[i].modified_ms = UNKNOWN;
        for (int g = 0; g < 2; g++) {
            imap_init(&self->places[i].seen[g], KNOWN_MAX);
            imap_init(&self->places[i].told[g], KNOWN_MAX);
        }
    }
    assign_lanes(self);
    int failed = 0;
    for (size_t i = 0; i < self->lane_count && !failed; i++) {
        self->lanes[i].lookout = self;
        failed = pthread_create(&self->lanes[i].thread, NULL, keep_looking, &self->lanes[i]);
        self->lanes[i].running = !failed;
    }
    if (failed) {
        lookout_stop(self);
        return err_set_errno(err, failed, "cannot start a thread");
    }
    *ret = self;
    return ERR_OK;
}

void lookout_stop(struct lookout *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    pthread_cond_broadcast(&self->room);
    pthread_cond_broadcast(&self->news);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->lane_count; i++)
        if (self->lanes[i].running)
            pthread_join(self->lanes[i].thread, NULL);
    for (struct seen seen; self->queue && lookout_next(self, &seen);)
        seen_dispose(&seen);
    for (size_t i = 0; i < self->options.place_count; i++) {
        place_view_free(self->places[i].view);
        for (int g = 0; g < 2; g++) {
            imap_dispose(&self->places[i].seen[g]);
            imap_dispose(&self->places[i].told[g]);
        }
    }
    imap_dispose(&self->known);
    mem_free(self->places);
    mem_free(self->queue);
    pthread_cond_destroy(&self->room);
    pthread_cond_destroy(&self->news);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}
