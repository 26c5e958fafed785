/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/named_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "ingest/source/log_entry.h"
#include "ingest/worker.h"
#include "place/place.h"

#define TEMPORARY_BYTES 4200
#define NAMED_LOGS 3 /* so many of several are named */

struct temporary {
    char dir[TEMPORARY_BYTES]; /* empty: none */
    size_t run_count;
    char key[RUN_KEY_BYTES]; /* of the first run */
    bool is_damaged;
    char message[300]; /* of the worker on the log */
};

/* While a temporary store exists, a signal is noted and ends the work where that store can be removed. The worker catches signals itself while it runs, and gives them back. */
static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
    asked_to_stop = number;
}

static void catch_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void remove_files(const char *dir)
{
    DIR *entries = opendir(dir);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        char path[TEMPORARY_BYTES + 300];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (unlink(path) && (errno == EISDIR || errno == EPERM))
            remove_files(path); /* apps/, which holds files alone */
    }
    if (entries)
        closedir(entries);
    rmdir(dir);
}

static void temporary_remove(struct temporary *self)
{
    if (self->dir[0])
        remove_files(self->dir);
    self->dir[0] = '\0';
}

static void on_result(void *context, const struct worker_result *result)
{
    struct temporary *self = context;
    if (result->message)
        snprintf(self->message, sizeof self->message, "%s", result->message);
    if (result->state != LOG_LOADED && result->state != LOG_PARTIAL)
        return;
    if (self->run_count++ == 0)
        snprintf(self->key, sizeof self->key, "%s", result->app_key ? result->app_key : "");
    self->is_damaged |= result->state == LOG_PARTIAL;
}

/* ---- one log or several */

struct choice {
    const char *folder; /* as it was named: what lies in it is called by its path from there */
    size_t count;
    char names[NAMED_LOGS][64]; /* a message is one line */
};

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    struct choice *choice = context;
    const char *base = strrchr(entry->path, '/') ? strrchr(entry->path, '/') + 1 : entry->path;
    size_t folder = strlen(choice->folder);
    const char *name = strncmp(entry->path, choice->folder, folder) == 0 ? entry->path + folder + strspn(entry->path + folder, "/") : base;
    if (choice->count < NAMED_LOGS)
        snprintf(choice->names[choice->count], sizeof choice->names[0], "%s", strlen(name) < sizeof choice->names[0] ? name : base);
    log_entry_dispose(entry);
    return ++choice->count > NAMED_LOGS ? ERR_CANCELLED : ERR_OK; /* nobody counts a folder of a hundred thousand */
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    (void)context;
    (void)reject;
    return ERR_OK;
}

/* Before anything is read: a folder of many logs takes as long to read as it is large, and is refused in the end. */
static enum err_code expect_one(const char *log, struct err *err)
{
    struct choice choice = {.folder = log};
    struct err stopped = {0};
    enum err_code rc = log_scan(log, &(struct log_scan){.context = &choice, .on_entry = on_entry, .on_reject = on_reject}, &stopped);
    if (choice.count > 1)
        return err_set(err, ERR_INVALID, "%.100s holds more than one log: name one of them (%s, %s%s%s%s)", log, choice.names[0], choice.names[1], choice.count > 2 ? ", " : "",
                       choice.count > 2 ? choice.names[2] : "", choice.count > NAMED_LOGS ? ", …" : "");
    return rc == ERR_NOMEM ? err_nomem(err) : ERR_OK; /* what else is wrong, the worker says better */
}

/* Reads the log into a directory of its own. Asked to stop: ERR_CANCELLED. */
static enum err_code load(struct temporary *self, const char *log, struct err *err)
{
    const char *base = getenv("TMPDIR");
    enum err_code rc = expect_one(log, err);
    if (rc)
        return rc;
    snprintf(self->dir, sizeof self->dir, "%.4000s/afterglow-report-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(self->dir)) {
        int failed = errno;
        char place[TEMPORARY_BYTES];
        snprintf(place, sizeof place, "%s", self->dir);
        self->dir[0] = '\0';
        return err_set_errno(err, failed, "cannot make a temporary store %s", place);
    }
    struct worker_place place = {.path = log};
    const struct worker_options run = {
        .store_dir = self->dir, .places = &place, .place_count = 1, .jobs = worker_default_jobs(), .on_result = on_result, .context = self};
    struct worker_summary summary;
    rc = worker_run(&run, &summary, err);
    if (rc)
        return rc;
    if (summary.stopped || asked_to_stop)
        return err_set(err, ERR_CANCELLED, "stopped");
    if (self->run_count == 0)
        return err_set(err, ERR_INVALID, "%s: %s", log, self->message[0] ? self->message : "nothing in it can be read as an event log");
    if (self->run_count > 1)
        return err_set(err, ERR_INVALID, "%s holds %zu runs: name the log of one", log, self->run_count);
    return ERR_OK;
}

enum err_code named_run_open(struct named_run *ret, const char *name, const char *store, struct err *err)
{
    struct temporary temporary = {0};
    struct stat info;
    CLEANUP(mem_freep) char *log = NULL;
    enum err_code rc = place_address(name, &log, err);
    *ret = (struct named_run){0};
    if (rc == ERR_NOMEM || (rc && place_is_remote(name)))
        return err_prefix(err, "%s", place_shown(name));
    if (!rc && (place_is_remote(log) || stat(log, &info) == 0)) {
        catch_signals(on_signal);
        rc = load(&temporary, log, err);
        snprintf(ret->key, sizeof ret->key, "%s", temporary.key);
        store = temporary.dir;
    } else if (!store || !*store) {
        return err_set(err, ERR_NOT_FOUND, "%s: no such log, and no store is named (--store DIR)", name);
    } else {
        rc = run_find(store, name, ret->key, err);
        ret->in_store = true;
    }
    if (!rc)
        rc = run_open(store, ret->key, DB_READ, &ret->db, err);
    ret->is_damaged = temporary.is_damaged;
    temporary_remove(&temporary);
    catch_signals(SIG_DFL);
    return rc;
}

enum err_code named_run_baseline(const struct named_run *self, const char *store, struct baseline *ret, struct err *err)
{
    char path[TEMPORARY_BYTES + 300];
    struct db catalog;
    if (!self->in_store)
        return err_set(err, ERR_INVALID, "what is usual is known of runs of a store: name one of its runs, or a second log instead of usual");
    snprintf(path, sizeof path, "%s/catalog.db", store);
    enum err_code rc = db_open(&catalog, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err);
    if (rc) {
        err_prefix(err, "%s", path);
        return rc;
    }
    rc = baseline_find(ret, &catalog, str_of(self->key), NULL, NULL, err);
    db_close(&catalog);
    return rc;
}

void named_run_close(struct named_run *self)
{
    db_close(&self->db);
}
