/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_arrivals.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/app_lock.h"
#include "ingest/store/catalog_arrivals.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_tell.h"

#define NAME_MAX_BYTES (LISTING_KEY_BYTES + 8)
#define STALE_PART_MS ((int64_t)24 * 3600 * 1000)    /* a copy takes seconds: whoever wrote it is dead */

/* What a killed back-fill left. */
static void remove_stale(const char *path)
{
    struct stat file;
    if (stat(path, &file) == 0 && (int64_t)file.st_mtim.tv_sec * 1000 + STALE_PART_MS < time_now_ms())
        unlink(path);
}

static enum err_code look(struct worker *self, struct err *err)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/" ARRIVALS_DIR, self->options->store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? ERR_OK : err_set_errno(err, errno, "%s", path);
    if (access(path, W_OK | X_OK)) { /* what is adopted could not be removed */
        if (!self->arrivals.told)
            log_error("%s cannot be written, so nothing of it is taken into the store: %s", path, strerror(errno));
        self->arrivals.told = true;
        closedir(dir);
        return ERR_OK;
    }
    self->arrivals.told = false;
    enum err_code rc = ERR_OK;
    for (struct dirent *entry; !rc && (entry = readdir(dir));) {
        struct str name = str_of(entry->d_name);
        if (str_ends(name, ARRIVALS_PART)) {
            snprintf(path, sizeof path, "%s/" ARRIVALS_DIR "/%s", self->options->store_dir, entry->d_name);
            remove_stale(path);
        } else if (str_ends(name, ".db") && name.ptr[0] != '.' && name.len < NAME_MAX_BYTES) {
            char *copy = mem_strndup(name.ptr, name.len);
            if (!copy || mem_grow((void **)&self->arrivals.names, &self->arrivals.capacity, self->arrivals.count + 1, WORKER_MAX_LOGS, sizeof *self->arrivals.names)) {
                mem_free(copy);
                rc = err_nomem(err);
            } else {
                self->arrivals.names[self->arrivals.count++] = copy;
            }
        }
    }
    closedir(dir);
    return rc;
}

enum err_code worker_give_arrivals(struct worker *self, struct err *err)
{
    int64_t now_ns = time_monotonic_ns();
    char path[4400];
    if (!self->arrivals.count && now_ns >= self->arrivals.next_look_ns && !crew_started_count(&self->crew, JOB_CHECK)) {
        self->arrivals.next_look_ns = now_ns + self->options->interval_ms * NS_PER_MS;
        enum err_code rc = look(self, err);
        if (rc)
            return rc;
    }
    while (self->arrivals.count) {
        struct job *job = crew_free_job(&self->crew, JOB_CHECK);
        if (!job)
            return ERR_OK;
        const char *name = self->arrivals.names[self->arrivals.count - 1];
        int len = snprintf(path, sizeof path, "%s/" ARRIVALS_DIR "/%s", self->options->store_dir, name);
        if (!(job->path = mem_strndup(path, (size_t)len)))
            return err_nomem(err);
        snprintf(job->app_key, sizeof job->app_key, "%.*s", (int)(strlen(name) - 3), name);
        mem_free(self->arrivals.names[--self->arrivals.count]);
        crew_start(&self->crew, job);
    }
    return ERR_OK;
}

static void refuse(struct worker *self, const struct job *job, const char *why)
{
    char to[4500];
    struct stat entry;
    /* Links, pipes and the like hold nothing that could be missed, and a confined process may not give them names (base/confine.h). */
    bool holds_nothing = lstat(job->path, &entry) == 0 && !S_ISREG(entry.st_mode) && !S_ISDIR(entry.st_mode);
    snprintf(to, sizeof to, "%s" ARRIVALS_REFUSED, job->path);
    if (holds_nothing ? unlink(job->path) : rename(job->path, to))
        log_error("%s cannot be set aside: %s", job->path, strerror(errno));
    log_warning("%s is not taken into the store: %s", job->path, why);
    const struct worker_result told = {.path = job->path, .state = LOG_FAILED, .flags = "unreadable", .bytes = UNKNOWN, .line_count = UNKNOWN, .bad_line_count = UNKNOWN,
        .task_count = UNKNOWN, .load_ms = UNKNOWN, .message = why, .fresh = true};
    worker_tell(self, &told);
}

static bool is_in_a_place(const struct worker *self, const struct run_file *file)
{
    return !strstr(file->log_path, "/../") && !strstr(file->log_path, "/./") && worker_place_of(self, file->log_path);
}

/* NULL: its log is one of ours, and the file has the name of its run. */
static const char *why_foreign(const struct worker *self, const struct job *job)
{
    const struct run_file *file = &job->file;
    const char *added = self->options->added_dir;
    size_t added_len = added ? strlen(added) : 0;
    if (strcmp(file->app_key, job->app_key) != 0)
        return "it holds another run than its name says";
    if (str_starts(str_of(job->app_key), DB_ADDED_MARK) || (added_len && strncmp(file->log_path, added, added_len) == 0))
        return "it says that somebody added its log in the browser";
    return is_in_a_place(self, file) ? NULL : "its log lies in none of the places that are read here";
}

static bool cannot_be_told(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_IO || rc == ERR_BUSY || rc == ERR_PERMISSION || rc == ERR_CANCELLED;
}

static enum err_code adopt(struct worker *self, struct job *job, struct err *err)
{
    enum arrival_end end = ARRIVAL_LATER;
    int64_t log_id = 0;
    int lock;
    enum err_code rc = app_lock_acquire(self->options->store_dir, job->app_key, &lock, err);
    if (rc)
        return rc == ERR_BUSY ? ERR_OK : rc;         /* it is being loaded: the next look finds it again */
    struct catalog_run *run = &job->file.run;
    run->skew_grade = job->judgement.skew_grade;
    run->gc_grade = job->judgement.gc_grade;
    run->history = &job->judgement.history;
    run->summary = &job->judgement.summary;
    rc = catalog_adopt(self->catalog, job->path, &job->file, worker_place_of(self, job->file.log_path)->place_id, &end, &log_id, err);
    app_lock_release(self->options->store_dir, job->app_key, lock);
    if (rc || end != ARRIVAL_ADOPTED)
        return rc;
    worker_store_grew(self);
    return self->options->watch ? worker_tell_log(self, log_id, true, false, err) : ERR_OK;     /* else the look at its place tells of it */
}

enum err_code worker_arrival_checked(struct worker *self, struct job *job, struct err *err)
{
    if (job->rc == ERR_NOT_FOUND)                    /* another worker took it */
        return ERR_OK;
    if (job->rc && cannot_be_told(job->rc)) {
        log_warning("%s cannot be looked at: %s", job->path, job->err.message);
        return ERR_OK;
    }
    /* Who reads some logs by hand decides nothing about others. */
    if (!job->rc && !self->options->watch && !is_in_a_place(self, &job->file))
        return ERR_OK;
    const char *why = job->rc ? job->err.message : why_foreign(self, job);
    if (!why)
        return adopt(self, job, err);
    refuse(self, job, why);
    return ERR_OK;
}

bool worker_arrivals_wait(struct worker *self)
{
    return self->arrivals.count || !self->arrivals.next_look_ns || crew_started_count(&self->crew, JOB_CHECK);
}

void worker_arrivals_dispose(struct worker *self)
{
    while (self->arrivals.count)
        mem_free(self->arrivals.names[--self->arrivals.count]);
    mem_free(self->arrivals.names);
}
