/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow ingest: runs the worker and shows what it does, to people, to pipes, or as JSON lines. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/confine.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/worker_rights.h"
#include "ingest/backfill.h"
#include "ingest/worker.h"
#include "place/place.h"

#define PIPE_PROGRESS_MS 5000
#define LINE_WIDTH 100

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store; made where it is missing (environment: AFTERGLOW_STORE)."},
    {"--watch", NULL, CLI_OWN, "Go on: look for new and growing logs every spark.history.fs.update.interval (10 s) until stopped."},
    {"--jobs", "N", SETTING_JOBS, "Load N logs at the same time (default: half the processors, at least two)."},
    {"--json", NULL, CLI_OWN, "Print one JSON object a log on standard output, as soon as it is done."},
    {"--from-stdin", NULL, CLI_OWN,
     "A part of a back-fill: read paths of logs from standard input, one a line, and answer each with one JSON object. The databases go into STORE/arrivals, from where the server of that store takes them; nothing else of the store is written."},
    {"--share", "I/N", CLI_OWN, "With --from-stdin: of the paths only the share I, from 0, of N: all processes get the whole list, and each takes its own."},
    {"--control", NULL, CLI_OWN,
     "Take commands on standard input: \"want LOG_ID\" puts a log in front, \"opened LOG_ID\" says that somebody opened its run, \"scan\" looks for new logs now, \"scan N\" in the Nth place, from 0; its end stops the program. For 'afterglow serve'."},
    {"--counts", "FD", CLI_OWN, "Count in the memory behind this open file. For 'afterglow serve'."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "ingest", "ingest --store DIR [--watch] [--jobs N] [--json] LOG_OR_DIR_OR_URI…\n   or: afterglow ingest --store DIR --from-stdin [--share I/N] [--jobs N] < LIST", "Read event logs into the store.", options,
    "Each argument is an event log (a file, a rolling or legacy directory, a zip of the logs route) or a directory,\n"
    "which is searched with everything below it; also in HDFS (hdfs://, webhdfs://) and S3 (s3a://). Without arguments the directories of spark.history.fs.logDirectory\n"
    "are read. Logs that are in the store and did not change are not read again. Logs that were opened in the browser\n"
    "come first, then small ones, then new ones.\n\n"
    "Exit status: 0 done; 1 failed, or nothing could be read; 2 usage; 3 done, but some input was damaged: what was\n"
    "readable is stored. With --from-stdin a log's faults are in its answer, and 1 means that some logs want another try.\n",
};

struct show {
    bool json, watch, terminal;
    bool line_open;                  /* a progress line stands on the terminal */
    int64_t began_ms, last_pipe_ms;  /* monotonic, as all here */
    int64_t rate_time_ms, rate_bytes;/* start of the span the rate is taken over */
    double rate;                     /* bytes a second */
    const struct worker_options *run;
    const char *store;               /* of a back-fill */
};

static int64_t monotonic_ms(void)
{
    return time_monotonic_ns() / NS_PER_MS;
}

static void clear_line(struct show *show)
{
    if (show->line_open)
        fputs("\r\033[K", stderr);
    show->line_open = false;
}

static void print_json(const struct worker_result *result)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, (size_t)1 << 20);
    struct json_writer w;
    json_writer_init(&w, json_sink_buf, &text, false);
    json_object_begin(&w);
    json_kv_text(&w, "path", result->path);
    json_kv_text(&w, "key", result->app_key);
    json_kv_text(&w, "appId", result->app_id);
    json_kv_text(&w, "attemptId", result->attempt_id);
    json_kv_text(&w, "state", log_state_name(result->state));
    json_kv_bool(&w, "complete", result->complete);
    json_key(&w, "flags");
    json_array_begin(&w);
    for (const char *p = result->flags; *p;) {
        size_t len = strcspn(p, " ");
        json_str(&w, (struct str){p, len});
        p += len;
        p += *p == ' ';
    }
    json_array_end(&w);
    json_kv_i64(&w, "bytes", result->bytes);
    json_kv_i64(&w, "lines", result->line_count);
    json_kv_i64(&w, "badLines", result->bad_line_count);
    json_kv_i64(&w, "tasks", result->task_count);
    json_key(&w, "seconds");
    if (known(result->load_ms))
        json_f64(&w, (double)result->load_ms / 1000);
    else
        json_null(&w);
    json_kv_text(&w, "message", result->message);
    json_object_end(&w);
    if (json_writer_end(&w))
        return;
    buf_char(&text, '\n');
    fwrite(text.data, 1, text.len, stdout);
    fflush(stdout);                  /* as soon as it is done, also into a pipe */
}

static void print_text(const struct worker_result *result)
{
    char tasks[FORMAT_BYTES], size[FORMAT_BYTES], time[FORMAT_BYTES];
    printf("%-8s", log_state_name(result->state));
    print_clean(stdout, str_of(result->path), 1000);
    if (result->state == LOG_LOADED || result->state == LOG_PARTIAL) {
        fputs("  ", stdout);
        print_clean(stdout, str_of(result->app_id ? result->app_id : "?"), 100);
        if (result->attempt_id) {
            putchar('/');
            print_clean(stdout, str_of(result->attempt_id), 40);
        }
        printf("  %s tasks, %s%s%s", format_count(result->task_count, tasks), format_size(result->bytes, size), result->fresh ? ", " : ", was in the store already",
            result->fresh ? format_duration(result->load_ms, time) : "");
    }
    if (result->message) {
        fputs("  ", stdout);
        print_clean(stdout, str_of(result->message), 400);
    }
    putchar('\n');
    fflush(stdout);
}

static void log_result(const struct worker_result *result)
{
    char tasks[FORMAT_BYTES], size[FORMAT_BYTES], time[FORMAT_BYTES];
    enum log_level level = result->state == LOG_FAILED || result->state == LOG_PARTIAL ? LOG_WARNING : LOG_INFO;
    if (result->state == LOG_LOADED || result->state == LOG_PARTIAL)
        log_line(level, "%s %s: %s tasks, %s, %s%s%s", log_state_name(result->state), result->path, format_count(result->task_count, tasks), format_size(result->bytes, size),
            format_duration(result->load_ms, time), result->message ? ": " : "", result->message ? result->message : "");
    else
        log_line(level, "%s %s%s%s", log_state_name(result->state), result->path, result->message ? ": " : "", result->message ? result->message : "");
}

static void on_result(void *context, const struct worker_result *result)
{
    struct show *show = context;
    clear_line(show);
    if (show->json)
        print_json(result);
    else if (show->watch)
        log_result(result);
    else
        print_text(result);
}

/* Over the last seconds, so that a slow log shows as slow. */
static void measure_rate(struct show *show, int64_t now_ms, int64_t read_bytes)
{
    int64_t span_ms = now_ms - show->rate_time_ms;
    if (span_ms < 2000 && show->rate > 0)
        return;
    if (span_ms > 0)
        show->rate = (double)(read_bytes - show->rate_bytes) * 1000 / (double)span_ms;
    if (span_ms >= 2000) {
        show->rate_time_ms = now_ms;
        show->rate_bytes = read_bytes;
    }
}

static void print_progress(const struct show *show, const struct worker_progress *progress)
{
    char done[FORMAT_BYTES], total[FORMAT_BYTES], rate[FORMAT_BYTES], left[FORMAT_BYTES];
    int64_t rest = progress->total_bytes - progress->read_bytes;
    fprintf(stderr, "%zu of %zu logs, %s of %s, %s/s", progress->done_count, progress->total_count, format_size(progress->read_bytes, done),
        format_size(progress->total_bytes, total), format_size((int64_t)show->rate, rate));
    if (progress->listing_count)
        fprintf(stderr, ", %zu to be listed", progress->listing_count);
    else if (show->rate >= 1 && rest > 0)
        fprintf(stderr, ", %s left", format_duration((int64_t)((double)rest * 1000 / show->rate), left));
}

static void on_progress(void *context, const struct worker_progress *progress)
{
    struct show *show = context;
    int64_t now_ms = monotonic_ms();
    if (show->watch)
        return;                      /* pages show it there */
    measure_rate(show, now_ms, progress->read_bytes);
    if (show->terminal) {
        clear_line(show);
        print_progress(show, progress);
        if (progress->path) {
            const char *slash = strrchr(progress->path, '/');
            fputs("  ", stderr);
            print_clean(stderr, str_of(slash ? slash + 1 : progress->path), 40);
        }
        fflush(stderr);
        show->line_open = true;
    } else if (now_ms - show->last_pipe_ms >= PIPE_PROGRESS_MS) {
        show->last_pipe_ms = now_ms;
        print_progress(show, progress);
        fputc('\n', stderr);
    }
}

/* Only what 'afterglow serve' starts: it is started again when a directory comes that was not there. By hand one has the rights of one's own. */
static int confine(void *context)
{
    const struct show *show = context;
    return worker_rights_confine(show->run);
}

/* Names belong to the log directories of the settings: arguments have them when they are those directories, as 'afterglow serve' passes them on, with that of added logs behind them. */
static bool names_apply(const struct cli *cli, size_t directories)
{
    size_t names = settings_list_count(cli->settings, SETTING_LOG_NAMES);
    if (names == 0)
        return false;
    for (size_t i = 0; i < cli->argument_count && i < directories; i++)
        if (strcmp(settings_list_at(cli->settings, SETTING_LOGS, i), cli->arguments[i]) != 0)
            return false;
    if (names != directories)
        log_warning("%zu names for %zu log directories: the names are not used", names, directories);
    return names == directories;
}

/* The places: arguments, else the log directories of the settings. NULL after telling what is wrong. */
static struct worker_place *places_of(const struct cli *cli, size_t *ret_count, int *ret_status)
{
    bool given = cli->argument_count > 0;
    size_t count = given ? cli->argument_count : settings_list_count(cli->settings, SETTING_LOGS);
    if (!given && settings_origin(cli->settings, SETTING_LOGS) == FROM_DEFAULT)
        count = 0;
    if (count == 0) {
        *ret_status = cli_usage_error(&verb, "nothing to read: name a log or a directory");
        return NULL;
    }
    size_t directories = settings_list_count(cli->settings, SETTING_LOGS);
    bool named = count >= directories && names_apply(cli, given ? directories : count);
    struct worker_place *places = mem_array(count, sizeof *places);
    if (!places) {
        *ret_status = cli_failed(&verb, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const char *uri = given ? cli->arguments[i] : settings_list_at(cli->settings, SETTING_LOGS, i);
        struct err err = {0};
        char *address = NULL;
        enum err_code rc = place_address(uri, &address, &err);
        mem_free(address);
        places[i] = (struct worker_place){.path = uri, .name = named && i < directories ? settings_list_at(cli->settings, SETTING_LOG_NAMES, i) : NULL};
        if (rc) {
            *ret_status = cli_usage_error(&verb, "%s: %s", place_shown(uri), err.message);
            mem_free(places);
            return NULL;
        }
    }
    *ret_count = count;
    return places;
}

static int status_of(const struct worker_summary *s, bool watch)
{
    size_t bad = s->partial_count + s->failed_count + s->unreadable_count, good = s->loaded_count + s->partial_count;
    if (watch)
        return EXIT_DONE;
    if (s->stopped || s->store_failed_count || s->missing_count || s->refused_count || (bad && !good))
        return EXIT_FAILED;
    return bad ? EXIT_DAMAGED : EXIT_DONE;
}

static void print_summary(const struct show *show, const struct worker_summary *s)
{
    char time[FORMAT_BYTES];
    fprintf(stderr, "%zu loaded, %zu partial, %zu failed, %zu skipped", s->loaded_count, s->partial_count, s->failed_count + s->missing_count, s->skipped_count);
    if (s->store_failed_count)
        fprintf(stderr, ", %zu not loaded for want of memory or disk", s->store_failed_count);
    fprintf(stderr, " in %s%s\n", format_duration(monotonic_ms() - show->began_ms, time), s->stopped ? "; stopped" : "");
}

/* "I/N", 0 <= I < N. */
static bool parse_share(const char *text, int64_t *ret_share, int64_t *ret_shares)
{
    const char *slash = strchr(text, '/');
    return slash && str_to_i64((struct str){text, (size_t)(slash - text)}, ret_share) && str_to_i64(str_of(slash + 1), ret_shares) && *ret_share >= 0 && *ret_share < *ret_shares;
}

static void confine_load(void *context, const char *address, const char *scratch)
{
    const struct show *show = context;
    worker_rights_confine_load(address, show->store, scratch);
}

static int back_fill(const struct cli *cli, const char *store, int jobs)
{
    struct show show = {.json = true, .store = store};
    struct backfill_options run = {.store_dir = store, .jobs = jobs, .input = STDIN_FILENO, .shares = 1, .confine = confine_load, .on_result = on_result, .context = &show};
    const char *share = cli_value(cli, "--share");
    struct worker_summary summary;
    struct err err = {0};
    if (cli_switch(cli, "--watch") || cli_switch(cli, "--control") || cli->argument_count)
        return cli_usage_error(&verb, "--from-stdin takes its logs from standard input alone, and ends with it");
    if (share && !parse_share(share, &run.share, &run.shares))
        return cli_usage_error(&verb, "--share %s: not a share I/N with I from 0 to N - 1", share);
    if (!confine_level())
        log_warning("the processes that read logs are not confined: this kernel has no Landlock, or it is off");
    if (backfill_run(&run, &summary, &err))
        return cli_failed(&verb, "%s", err.message);
    return summary.stopped || summary.store_failed_count ? EXIT_FAILED : EXIT_DONE;
}

int cmd_ingest(int argc, char **argv)
{
    struct cli cli;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    struct show show = {.json = cli_switch(&cli, "--json"), .watch = cli_switch(&cli, "--watch"), .terminal = isatty(STDERR_FILENO) != 0, .began_ms = monotonic_ms()};
    show.last_pipe_ms = show.rate_time_ms = show.began_ms;
    const char *store = cli_store(&cli);
    int64_t jobs = settings_i64(cli.settings, SETTING_JOBS);
    if (store && cli_switch(&cli, "--from-stdin")) {
        status = back_fill(&cli, store, known(jobs) ? (int)jobs : worker_default_jobs());
        cli_end(&cli);
        return status;
    }
    size_t count = 0;
    CLEANUP(mem_freep) struct worker_place *places = store ? places_of(&cli, &count, &status) : NULL;
    if (!places) {
        cli_end(&cli);
        return status >= 0 ? status : EXIT_USAGE;
    }
    const char *uploads = settings_text(cli.settings, SETTING_UPLOADS_DIR);
    char *added_dir = uploads && uploads[0] ? realpath(uploads, NULL) : NULL; /* not there: nothing lies below it */
    struct worker_options run = {.store_dir = store,
                                       .places = places,
                                       .place_count = count,
                                       .added_dir = added_dir,
                                       .jobs = known(jobs) ? (int)jobs : worker_default_jobs(),
                                       .watch = show.watch,
                                       .control = cli_switch(&cli, "--control"),
                                       .interval_ms = settings_i64(cli.settings, SETTING_UPDATE_INTERVAL),
                                       .on_result = on_result,
                                       .on_progress = on_progress,
                                       .confine = cli_switch(&cli, "--control") ? confine : NULL,
                                       .context = &show};
    show.run = &run;
    int64_t counts_fd;
    if (cli_value(&cli, "--counts") && str_to_i64(str_of(cli_value(&cli, "--counts")), &counts_fd) && counts_fd >= 0 && counts_fd <= INT_MAX)
        run.counts = worker_counts_open((int)counts_fd);
    cli_policy(&cli, &run.policy);
    struct worker_summary summary;
    struct err err = {0};
    enum err_code rc = worker_run(&run, &summary, &err);
    free(added_dir);
    clear_line(&show);
    if (rc && show.watch)
        log_error("%s", err.message);
    else if (rc)
        cli_failed(&verb, "%s", err.message);
    else if (!show.watch && !show.json)
        print_summary(&show, &summary);
    status = rc ? EXIT_FAILED : status_of(&summary, show.watch);
    cli_end(&cli);
    return status;
}
