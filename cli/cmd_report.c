/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow report: what was wrong with one run, what it cost, what to change; of a run of the store, or of a log without any store. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/annotate_app.h"
#include "analysis/report.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/run_lookup.h"
#include "ingest/worker.h"

#define TEMPORARY_BYTES 4200
#define REPORT_MAX_BYTES ((size_t)1 << 30)   /* JSON of 43,000 findings (REPORT_BYTES), escaped */

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE). Not needed for a log."},
    {"--format", "WORD", CLI_OWN, "text (default), json, html or markdown."},
    {"--lang", "WORD", CLI_OWN, "en (default) or zh-CN."},
    {"--out", "FILE", CLI_OWN, "Write to FILE instead of standard output."},
    {"--fail-on", "GRADE", CLI_OWN, "End with exit status 4 when a finding has this grade or a higher one: info, low, moderate or severe."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "report", "report [--store DIR] APP[/ATTEMPT]|LOG [--format text|json|html|markdown] [--lang en|zh-CN] [--out FILE] [--fail-on GRADE]",
    "Say what was wrong with a run, what it cost and what to change.", options,
    "LOG is an event log (a file or a rolling directory): it is read into a temporary store, which is removed at the end.\n"
    "APP is an application id (its newest attempt) or a key of the store. A name that is both is the log.\n\n"
    "Exit status: 0 done; 1 failed; 2 usage; 3 the log is damaged: the report is of what was readable; 4 see --fail-on.\n",
};

/* ---- a log without a store */

struct temporary {
    char dir[TEMPORARY_BYTES];       /* empty: none */
    size_t run_count;
    char key[RUN_KEY_BYTES];         /* of the first run */
    bool is_damaged;
    char message[300];               /* of the worker on the log */
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
            remove_files(path);      /* apps/, which holds files alone */
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

/* Reads the log into a directory of its own. Asked to stop: ERR_CANCELLED. */
static enum err_code load(struct temporary *self, const char *log, struct err *err)
{
    const char *base = getenv("TMPDIR");
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
        .store_dir = self->dir, .places = &place, .place_count = 1, .jobs = worker_default_jobs(), .judge = annotate_app, .on_result = on_result, .context = self};
    struct worker_summary summary;
    enum err_code rc = worker_run(&run, &summary, err);
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

/* ---- the report */

struct wish {
    struct report_style style;
    const char *out;                 /* NULL: standard output */
    enum grade fail_on;              /* GRADE_COUNT: none */
};

static int word_index(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* -1: all is well, else the exit status. */
static int read_wish(const struct cli *cli, struct wish *ret)
{
    const char *format = cli_value(cli, "--format"), *lang = cli_value(cli, "--lang"), *fail_on = cli_value(cli, "--fail-on");
    int which = format ? word_index(format, report_format_names, REPORT_FORMAT_COUNT) : REPORT_TEXT;
    int grade = fail_on ? word_index(fail_on, grade_names, GRADE_COUNT) : GRADE_COUNT;
    *ret = (struct wish){.out = cli_value(cli, "--out"), .fail_on = (enum grade)grade};
    if (which < 0)
        return cli_usage_error(&verb, "--format: '%s' is none of text, json, html, markdown", format);
    if (lang && !lang_find(str_of(lang), &ret->style.lang))
        return cli_usage_error(&verb, "--lang: '%s' is neither en nor zh-CN", lang);
    if (grade < 0 || grade == GRADE_OK)
        return cli_usage_error(&verb, "--fail-on: '%s' is none of info, low, moderate, severe", fail_on);
    if (cli->argument_count != 1)
        return cli_usage_error(&verb, cli->argument_count ? "one run at a time" : "no application and no log is named");
    ret->style.format = (enum report_format)which;
    ret->style.colour = which == REPORT_TEXT && !ret->out && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    return -1;
}

static enum err_code put(const struct wish *wish, const struct buf *text, struct err *err)
{
    FILE *to = wish->out ? fopen(wish->out, "w") : stdout;
    if (!to)
        return err_set_errno(err, errno, "cannot write %s", wish->out);
    bool failed = fwrite(text->data, 1, text->len, to) != text->len;
    failed |= (wish->out ? fclose(to) : fflush(to)) != 0;
    return failed ? err_set(err, ERR_IO, "cannot write to %s", wish->out ? wish->out : "standard output") : ERR_OK;
}

static enum err_code write_report(struct db *app, const struct wish *wish, bool *ret_found, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    struct report report;
    buf_init(&text, REPORT_MAX_BYTES);
    enum err_code rc = report_load(&report, app, NULL, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < report.shown_count; i++)
        *ret_found |= report.findings[i].grade >= wish->fail_on;
    rc = report_write(&report, &wish->style, &text, err);
    report_dispose(&report);
    return rc ? rc : put(wish, &text, err);
}

static enum err_code report_of(const struct cli *cli, const struct wish *wish, struct temporary *temporary, bool *ret_found, struct err *err)
{
    const char *name = cli->arguments[0], *log = cli_local_path(name), *store = temporary->dir;
    struct stat info;
    struct db app;
    enum err_code rc;
    if (log && stat(log, &info) == 0) {
        catch_signals(on_signal);
        rc = load(temporary, log, err);
    } else if ((store = settings_text(cli->settings, SETTING_STORE)) == NULL || !*store) {
        return err_set(err, ERR_NOT_FOUND, "%s: no such log, and no store is named (--store DIR)", name);
    } else {
        rc = run_find(store, name, temporary->key, err);
    }
    if (!rc)
        rc = run_open(store, temporary->key, DB_READ, &app, err);
    temporary_remove(temporary);     /* the open file stays readable; whatever ends the program from here on leaves nothing behind */
    catch_signals(SIG_DFL);
    if (rc)
        return rc;
    rc = write_report(&app, wish, ret_found, err);
    db_close(&app);
    return rc;
}

int cmd_report(int argc, char **argv)
{
    struct cli cli;
    struct wish wish;
    struct temporary temporary = {0};
    struct err err = {0};
    bool found = false;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    if ((status = read_wish(&cli, &wish)) < 0) {
        enum err_code rc = report_of(&cli, &wish, &temporary, &found, &err);
        status = rc ? cli_failed(&verb, "%s", err.message) : found ? EXIT_FINDING : temporary.is_damaged ? EXIT_DAMAGED : EXIT_DONE;
    }
    cli_end(&cli);
    return status;
}
