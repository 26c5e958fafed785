/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow clean: which logs and which loaded runs would go by the settings, and why; with --delete they go. */
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/db.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/format.h"
#include "ingest/cleaner.h"
#include "ingest/store_budget.h"
#include "ingest/worker.h"
#include "place/place.h"

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE)."},
    {"--logs", "DIR…", SETTING_LOGS, "Only logs below these directories go (spark.history.fs.logDirectory)."},
    {"--delete", NULL, CLI_OWN, "Delete what would go. Without it nothing is changed."},
    {"--json", NULL, CLI_OWN, "Print one JSON object for each log and run that goes."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "clean", "clean --store DIR [--logs DIR…] [--delete] [--json]", "Say which logs and which loaded runs would go, and why; or delete them.", options,
    "A dry run of the cleaner (spark.history.fs.cleaner.maxAge, .maxNum, afterglow.cleaner.abandoned) and of the store's\n"
    "budget (afterglow.store.maxBytes, afterglow.store.maxAge), over what the last scan saw, whether the cleaner is\n"
    "switched on or not. A log goes for its age, for the number of logs, or because it is abandoned; the run that was read\n"
    "from it stays (one that is not loaded: as a row of the list). A loaded run goes for want of space or for its age; its\n"
    "row, verdict and findings stay, and opening it loads it again.\n\n"
    "Exit status: 0 done; 1 failed, or something could not be deleted; 2 usage.\n",
};

struct clean_run {
    const char *store;
    bool json, deleting;
    struct clean_scope scope;
    struct catalog *catalog;         /* with --delete */
    size_t kept_count;               /* could not be deleted */
    int64_t freed_bytes;             /* of what was, or would be */
    bool titled;
    struct buf text;                 /* one JSON object */
};

/* What goes: one line or object. */
struct line {
    const char *kind, *why, *app_id, *attempt_id, *name, *path, *stays, *error;
    int64_t bytes, used_ms;
    bool dry;
};

static void print_json(struct clean_run *self, const struct line *line)
{
    struct json_writer w;
    buf_clear(&self->text);
    json_writer_init(&w, json_sink_buf, &self->text, false);
    json_object_begin(&w);
    json_kv_text(&w, "kind", line->kind);
    json_kv_text(&w, "why", line->why);
    json_kv_text(&w, "appId", line->app_id);
    json_kv_text(&w, "attemptId", line->attempt_id);
    json_kv_text(&w, "name", line->name);
    json_kv_text(&w, "path", line->path);
    json_kv_i64(&w, "bytes", line->bytes);
    json_kv_i64(&w, "lastUsedMs", line->used_ms);
    json_kv_text(&w, "runStays", line->stays);
    json_kv_bool(&w, "deleted", !line->dry && !line->error);
    json_kv_text(&w, "error", line->error);
    json_object_end(&w);
    if (json_writer_end(&w) || buf_failed(&self->text))
        return;
    buf_char(&self->text, '\n');
    fwrite(self->text.data, 1, self->text.len, stdout);
}

static void print_line(struct clean_run *self, const struct line *line)
{
    char size[FORMAT_BYTES], used[FORMAT_BYTES];
    if (self->json) {
        print_json(self, line);
        return;
    }
    if (!self->titled)
        printf("%-5s%-11s%10s  %-21s%s\n", "WHAT", "WHY", "SIZE", "LAST USED (UTC)", "RUN AND LOG");
    self->titled = true;
    printf("%-5s%-11s%10s  %-21s", line->kind, line->why, format_size(line->bytes, size), format_time(line->used_ms, used));
    print_clean(stdout, str_of(line->app_id ? line->app_id : "-"), 80);
    if (line->attempt_id) {
        putchar('/');
        print_clean(stdout, str_of(line->attempt_id), 40);
    }
    if (line->path) {
        fputs("  ", stdout);
        print_clean(stdout, str_of(line->path), 1000);
    }
    if (line->error) {
        fputs("  — stays: ", stdout);
        print_clean(stdout, str_of(line->error), 400);
    }
    putchar('\n');
}

static void account(struct clean_run *self, const struct line *line)
{
    if (line->error)
        self->kept_count++;
    else
        self->freed_bytes += line->bytes;
    print_line(self, line);
}

static void clean_logs(struct clean_run *self, const struct clean_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct clean_item *item = &plan->items[i];
        struct err err = {0};
        bool failed = self->deleting && clean_item_delete(self->catalog, item, &err);
        account(self, &(struct line){.kind = "log", .why = clean_reason_word(item->reason), .app_id = item->app_id, .attempt_id = item->attempt_id, .name = item->name,
            .path = item->path, .stays = !item->app_id ? NULL : item->run_stays ? "whole" : "row", .bytes = item->bytes, .used_ms = item->updated_ms, .dry = !self->deleting,
            .error = failed ? err.message : NULL});
    }
}

static void clean_store(struct clean_run *self, const struct budget_plan *plan)
{
    for (size_t i = 0; i < plan->going_count; i++) {
        const struct budget_run *run = &plan->runs[i];
        struct err err = {0};
        bool done = true;
        if (self->deleting && !budget_put_away(self->catalog, self->store, run->app_key, &done, &err) && !done)
            err_set(&err, ERR_BUSY, "it is being loaded");
        account(self, &(struct line){.kind = "run", .why = budget_reason_word(run->reason), .app_id = run->app_id, .attempt_id = run->attempt_id, .name = run->name, .stays = "row",
            .bytes = run->bytes, .used_ms = MAX(known_or(run->opened_ms, 0), run->loaded_ms), .dry = !self->deleting, .error = err.code ? err.message : NULL});
    }
}

static enum err_code plan_and_do(struct clean_run *self, struct db *catalog, const struct worker_policy *policy, struct err *err)
{
    struct clean_plan logs;
    struct budget_plan runs;
    int64_t now_ms = time_now_ms();
    enum err_code rc = clean_plan_make(&logs, catalog, &self->scope, &policy->clean, now_ms, err);
    if (rc)
        return rc;
    clean_logs(self, &logs);
    if (!(rc = budget_plan_make(&runs, catalog, self->store, &policy->store, now_ms, err))) {
        clean_store(self, &runs);
        if (!self->json) {
            char freed[FORMAT_BYTES], store[FORMAT_BYTES];
            fputs(self->titled ? "\n" : "", stdout);
            if (self->scope.place_count)
                printf("%zu of %zu logs and ", logs.count, logs.log_count);
            else
                puts("No logs were looked at: name log directories with --logs, or in spark.history.fs.logDirectory.");
            printf("%zu loaded runs %s, %s; the store takes %s%s\n", runs.going_count, self->deleting ? "were chosen" : "would go", format_size(self->freed_bytes, freed), format_size(runs.store_bytes, store),
                policy->store.max_bytes ? "" : ", without a limit");
            if (!policy->cleaner)
                puts("spark.history.fs.cleaner.enabled is false: logs do not go by themselves.");
        }
        budget_plan_dispose(&runs);
    }
    clean_plan_dispose(&logs);
    return rc;
}

static enum err_code run(struct clean_run *self, const struct cli *cli, struct err *err)
{
    struct worker_policy policy;
    cli_policy(cli, &policy);
    self->scope.settle_ms = settings_i64(cli->settings, SETTING_UPDATE_INTERVAL);
    if (self->deleting) {
        enum err_code rc = catalog_open(&self->catalog, self->store, err);
        if (!rc)
            rc = clean_resume(self->catalog, &self->scope, err);
        if (!rc)
            rc = budget_sweep(self->catalog, self->store, err);
        if (!rc)
            rc = plan_and_do(self, catalog_db(self->catalog), &policy, err);
        catalog_close(self->catalog);
        return rc;
    }
    char path[4200];
    struct db db;
    snprintf(path, sizeof path, "%s/catalog.db", self->store);
    enum err_code rc = db_open(&db, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, err);
    if (rc) {
        err_prefix(err, "%s", path);
        return rc;
    }
    if (!(rc = db_read_begin(&db, err)))
        rc = plan_and_do(self, &db, &policy, err);
    db_read_end(&db);
    db_close(&db);
    return rc;
}

int cmd_clean(int argc, char **argv)
{
    struct cli cli;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    struct err err = {0};
    bool named = settings_origin(cli.settings, SETTING_LOGS) != FROM_DEFAULT;
    size_t count = named ? settings_list_count(cli.settings, SETTING_LOGS) : 0;
    char **places = mem_array(count + 1, sizeof *places);
    struct clean_run self = {.store = cli_store(&cli), .json = cli_switch(&cli, "--json"), .deleting = cli_switch(&cli, "--delete"),
        .scope = {.places = (const char *const *)places}};
    buf_init(&self.text, (size_t)1 << 20);
    enum err_code rc = places ? ERR_OK : err_nomem(&err);
    for (size_t i = 0; i < count && !rc; i++) {
        char *address;
        if (!(rc = place_address(settings_list_at(cli.settings, SETTING_LOGS, i), &address, &err)))
            places[self.scope.place_count++] = address;
    }
    if (!self.store || cli.argument_count) {
        status = self.store ? cli_usage_error(&verb, "what is '%s'?", cli.arguments[0]) : EXIT_USAGE;
    } else {
        rc = rc ? rc : run(&self, &cli, &err);
        if (!rc && fflush(stdout))
            rc = err_set(&err, ERR_IO, "cannot write to standard output");
        if (rc)
            cli_failed(&verb, "%s", err.message);
        status = rc || self.kept_count ? EXIT_FAILED : EXIT_DONE;
    }
    for (size_t i = 0; places && i < self.scope.place_count; i++)
        mem_free(places[i]);
    mem_free(places);
    buf_dispose(&self.text);
    cli_end(&cli);
    return status;
}
