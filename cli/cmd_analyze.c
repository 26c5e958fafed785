/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow analyze: runs the rules again over the facts of a store. A finished file never changes: the new judgements go into a copy, which takes its name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "base/attributes.h"
#include "base/file_copy.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/run_lookup.h"
#include "ingest/app_lock.h"
#include "ingest/store/run_file_state.h"
#include "ingest/summarise.h"

#define PATH_BYTES 4600
#define RUNS_MAX ((size_t)1 << 24)

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE)."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "analyze",
    "analyze --store DIR [APP[/ATTEMPT]…]",
    "Run the rules again over the facts of a store, without the logs.",
    options,
    "Without APP all runs of the store are judged anew. Facts stay as they are. A run whose log is being read at the moment\n"
    "is left out, and judged at the end of that.\n\n"
    "Exit status: 0 done; 1 a run could not be judged; 2 usage.\n",
};

static enum err_code judge_copy(const char *store, const char *copy_key, struct err *err)
{
    struct db app;
    enum err_code rc = run_open(store, copy_key, DB_BULK, &app, err);
    if (rc)
        return rc;
    rc = db_begin(&app, err);
    if (!rc)
        rc = analyse(&app, err);
    if (!rc)
        rc = db_exec(&app, "UPDATE load SET generation = generation + 1", err);
    if (!rc)
        rc = db_commit(&app, err);
    if (rc) {
        db_close(&app);
        return rc;
    }
    return db_seal(&app, err);
}

/* Readers compare generations to see that a run has changed; what lists show of it and its job's history may have changed too. */
static enum err_code tell_catalogue(const char *store, const char *key, struct err *err)
{
    char path[PATH_BYTES];
    struct db catalog;
    struct run_judgement judgement;
    sqlite3_stmt *stmt = NULL;
    snprintf(path, sizeof path, "%s/catalog.db", store);
    enum err_code rc = summarise_run(&judgement, store, key, err);
    if (rc || (rc = db_open(&catalog, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err))) {
        run_judgement_dispose(&judgement);
        return rc;
    }
    if (!(rc = db_begin(&catalog, err)) && !(rc = run_history_write(&catalog, key, &judgement.history, err)) && !(rc = run_summary_write(&catalog, key, &judgement.summary, err)) &&
        !(rc = db_prepare(&catalog, &stmt, "UPDATE app SET generation = generation + 1 WHERE app_key = ?1", err))) {
        db_bind_str(stmt, 1, str_of(key));
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    if (!rc)
        rc = db_commit(&catalog, err);
    db_rollback(&catalog);
    db_close(&catalog);
    run_judgement_dispose(&judgement);
    return rc;
}

/* A worker that followed the run and died may have left its last commits beside the file; a copy of the file alone would lack them. */
static enum err_code make_whole(const char *path, struct err *err)
{
    static const char *const endings[] = {"-wal", "-journal"};
    char beside[PATH_BYTES + 10];
    bool whole = true;
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        snprintf(beside, sizeof beside, "%s%s", path, endings[i]);
        whole &= access(beside, F_OK) != 0;
    }
    return whole ? ERR_OK : run_file_settle(path, err);
}

/* The copy has the name of a load that is going on, so that the next load clears it away if this program is killed. */
static enum err_code analyse_locked(const char *store, const char *key, struct err *err)
{
    char path[PATH_BYTES], copy[PATH_BYTES], copy_key[RUN_KEY_BYTES + 10];
    snprintf(copy_key, sizeof copy_key, "%s.loading", key);
    snprintf(path, sizeof path, "%s/apps/%s.db", store, key);
    snprintf(copy, sizeof copy, "%s/apps/%s.db", store, copy_key);
    enum err_code rc = make_whole(path, err);
    if (!rc)
        rc = file_copy(path, copy, false, err);
    if (!rc)
        rc = judge_copy(store, copy_key, err);
    if (!rc)
        db_remove_beside(path); /* must not meet the new file */
    if (!rc && rename(copy, path))
        rc = err_set_errno(err, errno, "%s", path);
    if (rc) {
        unlink(copy);
        return rc;
    }
    return tell_catalogue(store, key, err);
}

static enum err_code analyse_run(const char *store, const char *key, struct err *err)
{
    int lock = -1;
    int64_t began_ns = time_monotonic_ns();
    char time[FORMAT_BYTES];
    enum err_code rc = app_lock_acquire(store, key, &lock, err);
    if (rc == ERR_BUSY) {
        printf("left out  %s: it is being read at the moment\n", key);
        return ERR_OK;
    }
    if (rc)
        return rc;
    rc = analyse_locked(store, key, err);
    app_lock_release(store, key, lock);
    if (!rc)
        printf("analysed  %s in %s\n", key, format_duration((time_monotonic_ns() - began_ns) / 1000000, time));
    return rc;
}

struct keys {
    char (*items)[RUN_KEY_BYTES]; /* owned */
    size_t count, capacity;
};

static enum err_code add_key(struct keys *keys, const char *key, struct err *err)
{
    if (mem_grow((void **)&keys->items, &keys->capacity, keys->count + 1, RUNS_MAX, sizeof *keys->items))
        return err_nomem(err);
    snprintf(keys->items[keys->count++], RUN_KEY_BYTES, "%s", key);
    return ERR_OK;
}

static enum err_code all_keys(const char *store, struct keys *keys, struct err *err)
{
    char path[PATH_BYTES];
    struct db catalog;
    sqlite3_stmt *stmt = NULL;
    snprintf(path, sizeof path, "%s/catalog.db", store);
    enum err_code rc = db_open(&catalog, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err);
    if (rc) {
        err_prefix(err, "%s", path);
        return rc;
    }
    rc = db_prepare(&catalog, &stmt, "SELECT app_key FROM app WHERE loaded ORDER BY app_key", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = add_key(keys, db_str(stmt, 0).ptr, err);
    db_finalize(stmt);
    db_close(&catalog);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code named_keys(const struct cli *cli, const char *store, struct keys *keys, struct err *err)
{
    char key[RUN_KEY_BYTES];
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < cli->argument_count && !rc; i++)
        if (!(rc = run_find(store, cli->arguments[i], key, err)))
            rc = add_key(keys, key, err);
    return rc;
}

int cmd_analyze(int argc, char **argv)
{
    struct cli cli;
    struct keys keys = {0};
    struct err err = {0};
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    const char *store = cli_store(&cli);
    status = store ? EXIT_DONE : EXIT_USAGE;
    if (store && (cli.argument_count ? named_keys(&cli, store, &keys, &err) : all_keys(store, &keys, &err)))
        status = cli_failed(&verb, "%s", err.message);
    for (size_t i = 0; i < keys.count && status != EXIT_USAGE; i++)
        if (analyse_run(store, keys.items[i], &err))
            status = cli_failed(&verb, "%s: %s", keys.items[i], err.message);
    mem_free(keys.items);
    cli_end(&cli);
    return status;
}
