/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store_budget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "ingest/app_lock.h"
#include "ingest/load_queue.h"

#define PATH_BYTES 4400

static const char *const endings[] = {".db", ".db-wal", ".db-shm"};  /* the database first: without it the others are nothing */

const char *budget_reason_word(enum budget_reason reason)
{
    static const char *const words[] = {[BUDGET_KEEP] = "", [BUDGET_SPACE] = "space", [BUDGET_AGE] = "age"};
    return words[reason];
}

/* ---- choosing */

static int compare_use(const void *a, const void *b)
{
    const struct budget_run *x = a, *y = b;
    if (x->log_gone != y->log_gone)
        return x->log_gone ? 1 : -1;
    int64_t x_opened = known_or(x->opened_ms, 0), y_opened = known_or(y->opened_ms, 0);
    if (x_opened != y_opened)
        return x_opened > y_opened ? 1 : -1;
    int64_t x_ended = known_or(x->ended_ms, 0), y_ended = known_or(y->ended_ms, 0);
    if (x_ended != y_ended)
        return x_ended > y_ended ? 1 : -1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int compare_going(const void *a, const void *b)
{
    bool x = ((const struct budget_run *)a)->reason != BUDGET_KEEP, y = ((const struct budget_run *)b)->reason != BUDGET_KEEP;
    return x != y ? (x ? -1 : 1) : compare_use(a, b);
}

void budget_choose(struct budget_plan *self, const struct budget_limits *limits, int64_t now_ms)
{
    self->going_count = 0;
    self->freed_bytes = 0;
    if (!self->count)
        return;
    qsort(self->runs, self->count, sizeof *self->runs, compare_use);
    for (int pass = 0; pass < 2; pass++)     /* what is too old goes first: it may be enough */
        for (size_t i = 0; i < self->count; i++) {
            struct budget_run *run = &self->runs[i];
            int64_t used_ms = MAX(known_or(run->opened_ms, 0), run->loaded_ms);
            bool opened_lately = known(run->opened_ms) && run->opened_ms > now_ms - BUDGET_GRACE_MS && run->opened_ms < now_ms + BUDGET_GRACE_MS; /* beyond: by a clock that was set back since */
            bool too_old = limits->max_age_ms && !run->log_gone && used_ms < now_ms - limits->max_age_ms;
            bool too_much = limits->max_bytes && self->store_bytes - self->freed_bytes > limits->max_bytes;
            if (pass == 0)
                run->reason = BUDGET_KEEP;
            if (run->reason || opened_lately || !(pass == 0 ? too_old : too_much))
                continue;
            run->reason = pass == 0 ? BUDGET_AGE : BUDGET_SPACE;
            self->freed_bytes += run->bytes;
            self->going_count++;
        }
    qsort(self->runs, self->count, sizeof *self->runs, compare_going);
}

/* ---- what is there */

static enum err_code measure(int dir_fd, DIR *dir, int64_t *ret_bytes)
{
    *ret_bytes = 0;
    for (struct dirent *item; (item = readdir(dir));) {
        struct stat st;
        if (item->d_name[0] != '.' && !fstatat(dir_fd, item->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
            *ret_bytes += st.st_size;
    }
    return ERR_OK;
}

struct gathering {
    struct budget_plan *plan;
    int apps_fd;
};

static void run_dispose(struct budget_run *run)
{
    char *const texts[] = {run->app_key, run->app_id, run->attempt_id, run->name};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        mem_free(texts[i]);
}

static enum err_code gather(void *context, const struct catalog_kept_row *row)
{
    struct gathering *self = context;
    struct budget_plan *plan = self->plan;
    struct budget_run run = {.opened_ms = row->opened_ms, .ended_ms = row->ended_ms, .log_gone = row->log_gone};
    char name[300];
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        struct stat st;
        if ((size_t)snprintf(name, sizeof name, "%s%s", row->app_key, endings[i]) >= sizeof name || fstatat(self->apps_fd, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        run.bytes += st.st_size;
        run.loaded_ms = i ? run.loaded_ms : (int64_t)st.st_mtim.tv_sec * 1000;
    }
    if (!run.loaded_ms)              /* its file is missing: nothing to put away */
        return ERR_OK;
    const char *const from[] = {row->app_key, row->app_id, row->attempt_id, row->name};
    char **const to[] = {&run.app_key, &run.app_id, &run.attempt_id, &run.name};
    bool failed = mem_grow((void **)&plan->runs, &plan->capacity, plan->count + 1, LOAD_QUEUE_MAX, sizeof *plan->runs) != 0;
    for (size_t i = 0; i < ARRAY_LENGTH(from) && !failed; i++)
        failed = from[i] && !(*to[i] = mem_strndup(from[i], strlen(from[i])));
    if (failed) {
        run_dispose(&run);
        return ERR_NOMEM;
    }
    plan->runs[plan->count++] = run;
    return ERR_OK;
}

enum err_code budget_plan_make(struct budget_plan *ret, struct db *catalog, const char *store_dir, const struct budget_limits *limits, int64_t now_ms, struct err *err)
{
    char path[PATH_BYTES];
    *ret = (struct budget_plan){0};
    snprintf(path, sizeof path, "%s/apps", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return err_set_errno(err, errno, "%s", path);
    struct gathering gathering = {.plan = ret, .apps_fd = dirfd(dir)};
    enum err_code rc = measure(dirfd(dir), dir, &ret->store_bytes);
    bool too_much = limits->max_bytes && ret->store_bytes > limits->max_bytes;
    if (!rc && (too_much || limits->max_age_ms))
        rc = catalog_each_kept(catalog, gather, &gathering, err);
    closedir(dir);
    if (rc)
        budget_plan_dispose(ret);
    else
        budget_choose(ret, limits, now_ms);
    return rc;
}

void budget_plan_dispose(struct budget_plan *self)
{
    for (size_t i = 0; i < self->count; i++)
        run_dispose(&self->runs[i]);
    mem_free(self->runs);
    *self = (struct budget_plan){0};
}

/* ---- putting away */

static enum err_code remove_files(const char *store_dir, const char *app_key, struct err *err)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/apps/%s%s", store_dir, app_key, endings[i]) >= sizeof path)
            return err_set(err, ERR_LIMIT, "the store's path is too long");
        if (unlink(path) && errno != ENOENT)
            return err_set_errno(err, errno, "%s", path);
    }
    return ERR_OK;
}

enum err_code budget_put_away(struct catalog *catalog, const char *store_dir, const char *app_key, bool *ret_done, struct err *err)
{
    int lock;
    *ret_done = false;
    enum err_code rc = app_lock_acquire(store_dir, app_key, &lock, err);
    if (rc)
        return rc == ERR_BUSY ? ERR_OK : rc;
    rc = catalog_put_away(catalog, app_key, ret_done, err);
    if (!rc && *ret_done)
        rc = remove_files(store_dir, app_key, err);
    app_lock_release(store_dir, app_key, lock);
    return rc;
}

struct sweeping {
    char **keys;                     /* owned, and each */
    size_t count, capacity;
    const char *store_dir;
};

static enum err_code note_leftover(void *context, const char *app_key)
{
    struct sweeping *self = context;
    char path[PATH_BYTES];
    if ((size_t)snprintf(path, sizeof path, "%s/apps/%s.db", self->store_dir, app_key) >= sizeof path || access(path, F_OK) != 0)
        return ERR_OK;
    char *copy = mem_strndup(app_key, strlen(app_key));
    if (!copy || mem_grow((void **)&self->keys, &self->capacity, self->count + 1, LOAD_QUEUE_MAX, sizeof *self->keys)) {
        mem_free(copy);
        return ERR_NOMEM;
    }
    self->keys[self->count++] = copy;
    return ERR_OK;
}

enum err_code budget_sweep(struct catalog *catalog, const char *store_dir, struct err *err)
{
    struct sweeping self = {.store_dir = store_dir};
    enum err_code rc = catalog_each_put_away(catalog, note_leftover, &self, err);
    for (size_t i = 0; i < self.count; i++) {
        int lock;
        if (!rc && !app_lock_acquire(store_dir, self.keys[i], &lock, NULL)) {
            rc = remove_files(store_dir, self.keys[i], err);
            app_lock_release(store_dir, self.keys[i], lock);
        }
        mem_free(self.keys[i]);
    }
    mem_free(self.keys);
    return rc;
}
