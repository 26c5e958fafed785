/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_control.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/store/catalog_policy.h"
#include "ingest/store_budget.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_schedule.h"
#include "ingest/writer_role.h"

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

/* "reload" and "forget" are asked for once, by a person: what became of them is told. */
static void act(struct worker *self, const char *what, int64_t log_id, enum err_code (*action)(struct worker *, int64_t, struct err *))
{
    struct err err = {0};
    if (action(self, log_id, &err))
        log_warning("log %lld could not be %s: %s", (long long)log_id, what, err.message);
}

static void obey(struct worker *self, const char *line)
{
    int64_t log_id, place;
    struct err err = {0};
    if (strcmp(line, "scan") == 0)
        lookout_poke(self->lookout, LOOKOUT_ALL);
    else if (strncmp(line, "scan ", 5) == 0 && str_to_i64(str_of(line + 5), &place) && place >= 0 && (size_t)place < self->options->place_count)
        lookout_poke(self->lookout, (size_t)place);
    else if (strncmp(line, "find ", 5) == 0 && line[5])
        lookout_find(self->lookout, line + 5);
    else if (strncmp(line, "want ", 5) == 0 && str_to_i64(str_of(line + 5), &log_id)) {
        if (want(self, log_id, &err))
            log_warning("log %lld could not be put in front: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "opened ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        if (catalog_opened(self->catalog, log_id, &err))
            log_warning("log %lld: that it was opened could not be noted: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "reload ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        act(self, "read anew", log_id, reload);
    } else if (strncmp(line, "forget ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        act(self, "forgotten", log_id, forget);
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

static void obey_wish(void *self, const char *line)
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
