/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_control.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/app_lock.h"
#include "ingest/store/catalog_policy.h"
#include "ingest/store/run_file_state.h"
#include "ingest/store_budget.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_schedule.h"
#include "ingest/writer_role.h"

#define CATALOG_CHECK_PAUSE_NS (60 * NS_PER_S)       /* it is read whole */

static enum err_code want(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    if (row.state == LOG_LOADED || row.state == LOG_PARTIAL) {
        worker_look_again(self, &row);
        return ERR_OK;
    }
    if (row.state != LOG_WAITING && row.state != LOG_LISTED)
        return ERR_OK;
    if ((rc = catalog_want(self->catalog, log_id, err)) || (rc = catalog_get(self->catalog, log_id, &row, err)))
        return rc;
    return worker_put_in_front(self, &row, err);
}

/* False, and told: the log is being read, or about to be, and its row is that work's. */
static bool at_rest(struct worker *self, const struct catalog_row *row)
{
    enum stage stage = worker_stage_of(self, row->log_id);
    bool rests = row->state != LOG_LOADING && (!stage || stage == STAGE_TO_LOAD);
    if (!rests)
        log_warning("%s: it is being read just now; nothing is done to it", row->path);
    return rests;
}

static enum err_code reload(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc || !at_rest(self, &row))
        return rc;
    log_info("%s: read anew, as an administrator asked", row.path);
    kept_loads_drop(&self->kept, log_id);
    worker_look_again(self, &row);
    if ((rc = catalog_reload(self->catalog, log_id, err)) || (rc = catalog_get(self->catalog, log_id, &row, err)))
        return rc;
    return worker_put_in_front(self, &row, err);
}

static enum err_code forget(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    bool done;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc || !row.app_key || !at_rest(self, &row))
        return rc;
    log_info("%s: forgotten, as an administrator asked", row.path);
    CLEANUP(mem_freep) char *app_key = mem_strndup(row.app_key, strlen(row.app_key));
    if (!app_key)
        return err_nomem(err);
    kept_loads_drop(&self->kept, log_id);
    worker_look_again(self, &row);
    if (row.loaded && ((rc = budget_put_away(self->catalog, self->options->store_dir, app_key, &done, err)) || !done))
        return rc ? rc : err_set(err, ERR_BUSY, "it is about to be read");
    return catalog_forget(self->catalog, app_key, err);
}

/* The server met something in the run's file that cannot be. Once for each run: where it is so again after a load, it is not the file. */
static enum err_code damaged(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    struct err why = {0};
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc == ERR_NOT_FOUND || (!rc && (!row.app_key || !row.loaded || worker_stage_of(self, log_id) || imap_get(&self->damage.told, log_id))))
        return ERR_OK;
    if (rc)
        return rc;
    if (imap_put(&self->damage.told, log_id, self))
        return err_nomem(err);
    if (row.state != LOG_LOADED && row.state != LOG_PARTIAL) {
        log_warning("%s: its file in the store, %s.db, is damaged, and its log is not there: what can be read of it stays", row.path, row.app_key);
        return ERR_OK;
    }
    CLEANUP(mem_freep) char *app_key = mem_strndup(row.app_key, strlen(row.app_key));
    int lock;
    if (!app_key)
        return err_nomem(err);
    if ((rc = app_lock_acquire(self->options->store_dir, app_key, &lock, err)))
        return rc;
    bool kept = !run_file_set_aside(self->options->store_dir, app_key, &why);
    log_warning("%s: its file in the store, %s.db, is damaged: %s%s; it is read anew", row.path, app_key, kept ? "set aside as damaged/" : why.message, kept ? app_key : "");
    kept_loads_drop(&self->kept, log_id);
    worker_look_again(self, &row);
    rc = catalog_run_damaged(self->catalog, log_id, app_key, err);
    app_lock_release(self->options->store_dir, app_key, lock);
    if (rc || (rc = catalog_get(self->catalog, log_id, &row, err)))
        return rc;
    return worker_put_in_front(self, &row, err);
}

enum err_code worker_check_damage(struct worker *self, struct err *err)
{
    int64_t now_ns = time_monotonic_ns();
    if (!self->damage.catalog || now_ns < self->damage.catalog_not_before_ns)
        return ERR_OK;
    self->damage.catalog = false;
    self->damage.catalog_not_before_ns = now_ns + CATALOG_CHECK_PAUSE_NS;
    enum err_code rc = catalog_check(self->catalog, err);
    return rc == ERR_CORRUPT ? err_prefix(err, "catalog.db is damaged") : ERR_OK;
}

/* "reload" and "forget" are asked for once, by a person: what became of them is told. */
static void act(struct worker *self, const char *what, int64_t log_id, enum err_code (*action)(struct worker *, int64_t, struct err *))
{
    struct err err = {0};
    if (action(self, log_id, &err))
        log_warning("log %lld could not be %s: %s", (long long)log_id, what, err.message);
}

/* The next word of the line, which ends there from now on; NULL: there is none. */
static char *next_word(char **rest)
{
    char *word = *rest, *blank = word ? strchr(word, ' ') : NULL;
    *rest = blank ? blank + 1 : NULL;
    if (blank)
        *blank = '\0';
    return word;
}

static void pin(struct worker *self, char *rest)
{
    struct catalog_pin pin = {.analysis_version = UNKNOWN};
    struct err err = {0};
    pin.token = next_word(&rest);
    const char *generation = next_word(&rest), *analysis = next_word(&rest);
    pin.app_key = next_word(&rest);
    const char *address = next_word(&rest);
    pin.author = rest;                       /* a name may have blanks */
    if (!address || address[0] != '.' || !str_to_i64(str_of(generation), &pin.generation) || !str_to_i64(str_of(analysis), &pin.analysis_version)) {
        log_warning("a view that cannot be pinned came on standard input");
        return;
    }
    pin.address = address + 1;
    pin.analysis_version = pin.analysis_version < 0 ? UNKNOWN : pin.analysis_version;
    if (catalog_pin(self->catalog, &pin, &err))
        log_warning("a view of %s could not be pinned: %s", pin.app_key, err.message);
}

static void obey(struct worker *self, char *line)
{
    int64_t log_id, place;
    struct err err = {0};
    if (strcmp(line, "scan") == 0)
        lookout_poke(self->lookout, LOOKOUT_ALL);
    else if (strncmp(line, "scan ", 5) == 0 && str_to_i64(str_of(line + 5), &place) && place >= 0 && (size_t)place < self->options->place_count) {
        lookout_poke(self->lookout, (size_t)place);
        self->places[place].asked = true;
    } else if (strncmp(line, "find ", 5) == 0 && line[5])
        lookout_find(self->lookout, line + 5);
    else if (strncmp(line, "want ", 5) == 0 && str_to_i64(str_of(line + 5), &log_id)) {
        if (want(self, log_id, &err))
            log_warning("log %lld could not be put in front: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "opened ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        if (catalog_opened(self->catalog, log_id, &err))
            log_warning("log %lld: that it was opened could not be noted: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "reload ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        act(self, "read anew", log_id, reload);
    } else if (strncmp(line, "damaged ", 8) == 0 && str_to_i64(str_of(line + 8), &log_id)) {
        if (log_id == 0)
            self->damage.catalog = true;
        else if (damaged(self, log_id, &err))
            log_warning("log %lld: that its file is damaged could not be noted: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "forget ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        act(self, "forgotten", log_id, forget);
    } else if (strncmp(line, "pin ", 4) == 0) {
        pin(self, line + 4);
    } else {
        log_warning("not understood on standard input: %.60s", line);
    }
}

void worker_read_control(struct worker *self)
{
    char bytes[512];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got == 0)
        self->stop = true;                   /* the server is gone */
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            if (self->control.used < sizeof self->control.line - 1)
                self->control.line[self->control.used++] = bytes[i];
            continue;
        }
        self->control.line[self->control.used] = '\0';
        self->control.used = 0;
        if (self->writer_lock >= 0 || !self->options->watch)
            obey(self, self->control.line);
        else
            wishes_put(self->options->store_dir, self->control.line);
    }
}

static void obey_wish(void *self, char *line)
{
    obey(self, line);
}

void worker_take_wishes(struct worker *self)
{
    int64_t now_ns = time_monotonic_ns();
    if (!self->options->watch || now_ns < self->next_wishes_ns)
        return;
    self->next_wishes_ns = now_ns + WRITER_PAUSE_MS * NS_PER_MS;
    wishes_take(self->options->store_dir, obey_wish, self);
}
