/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow list: every log the store knows and the run in it, for people (a table) or for programs (one JSON object a line with all columns of the catalogue). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/db.h"
#include "base/json_writer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/format.h"

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE)."},
    {"--json", NULL, CLI_OWN, "Print one JSON object a log with everything the catalogue says of it and of its run."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "list", "list --store DIR [--json]", "Show every log the store knows, its state, and the run in it.", options,
    "Most recent first. States: waiting (not loaded yet), loading, loaded, partial (readable in part), listed (loaded when\n"
    "somebody opens it: afterglow.load, or put away to make room), failed (nothing readable), skipped (no log, or another\n"
    "copy of a run that is shown), gone (the log is not there any more; its run stays). What is wrong with a log stands at\n"
    "the end of its line. Times are UTC.\n",
};

/* The second part: runs whose log's place is taken by another run now. */
static const char *const list_sql =
    "SELECT * FROM ("
    "SELECT l.log_id, l.place_id, l.path, l.layout, l.finished_name, l.bytes, l.modified_ms, l.state, l.reason, l.flags, l.first_seen_ms, l.changed_ms, "
    "l.wanted_ms, l.tries, l.read_bytes, l.line_count, l.bad_line_count, l.load_ms, l.app_key, a.app_id, a.attempt_id, a.name, a.user, "
    "a.spark_version, a.queue, a.start_ms, a.end_ms, a.last_event_ms, a.complete, a.loaded, a.generation, a.outcome, a.duration_ms, a.job_count, "
    "a.failed_job_count, a.stage_count, a.failed_stage_count, coalesce(a.task_count, l.task_count) AS task_count, a.failed_task_count, a.executor_count, "
    "a.lost_executor_count, a.task_time_ms, a.gc_time_ms, a.input_bytes, a.output_bytes, a.shuffle_read_bytes, a.shuffle_write_bytes, a.disk_spill_bytes, "
    "a.skew_grade, a.gc_grade, a.exit_code, a.view_users, a.view_groups, a.vendor_version, a.start_inferred, l.grown_ms, l.removing_ms, "
    "(SELECT u.opened_ms FROM run_use AS u WHERE u.app_key = a.app_key) AS opened_ms "
    "FROM log AS l LEFT JOIN app AS a ON a.app_key = l.app_key "
    "UNION ALL "
    "SELECT l.log_id, l.place_id, l.path, l.layout, l.finished_name, NULL, NULL, 'gone', 'another run has taken the place of this log', '', l.first_seen_ms, "
    "l.changed_ms, NULL, 0, NULL, NULL, NULL, NULL, a.app_key, a.app_id, a.attempt_id, a.name, a.user, a.spark_version, a.queue, a.start_ms, a.end_ms, "
    "a.last_event_ms, a.complete, a.loaded, a.generation, a.outcome, a.duration_ms, a.job_count, a.failed_job_count, a.stage_count, a.failed_stage_count, "
    "a.task_count, a.failed_task_count, a.executor_count, a.lost_executor_count, a.task_time_ms, a.gc_time_ms, a.input_bytes, a.output_bytes, "
    "a.shuffle_read_bytes, a.shuffle_write_bytes, a.disk_spill_bytes, a.skew_grade, a.gc_grade, a.exit_code, a.view_users, a.view_groups, a.vendor_version, a.start_inferred, NULL, NULL, "
    "(SELECT u.opened_ms FROM run_use AS u WHERE u.app_key = a.app_key) "
    "FROM app AS a JOIN log AS l ON l.log_id = a.log_id WHERE l.app_key IS NOT a.app_key) "
    "ORDER BY coalesce(start_ms, modified_ms) DESC, path, app_key";

enum { COLUMN_PATH = 2, COLUMN_BYTES = 5, COLUMN_STATE = 7, COLUMN_REASON = 8, COLUMN_APP_ID = 19, COLUMN_ATTEMPT = 20, COLUMN_NAME = 21, COLUMN_START = 25,
    COLUMN_DURATION = 32, COLUMN_TASKS = 37 };

/* "log_id" → "logId". */
static void camel_case(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (bool upper = false; *name && used + 1 < size; name++) {
        if (*name == '_') {
            upper = true;
            continue;
        }
        out[used++] = upper ? (char)toupper((unsigned char)*name) : *name;
        upper = false;
    }
    out[used] = '\0';
}

static bool is_yes_or_no(const char *column)
{
    return strcmp(column, "finished_name") == 0 || strcmp(column, "complete") == 0 || strcmp(column, "loaded") == 0;
}

static void write_words(struct json_writer *w, struct str words)
{
    json_array_begin(w);
    for (size_t i = 0; i < words.len;) {
        size_t len = 0;
        while (i + len < words.len && words.ptr[i + len] != ' ')
            len++;
        if (len)
            json_str(w, (struct str){words.ptr + i, len});
        i += len + 1;
    }
    json_array_end(w);
}

static void write_json(sqlite3_stmt *row, struct buf *text)
{
    struct json_writer w;
    json_writer_init(&w, json_sink_buf, text, false);
    json_object_begin(&w);
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *column = sqlite3_column_name(row, i);
        char key[64];
        camel_case(column, key, sizeof key);
        json_key(&w, key);
        if (db_is_null(row, i))
            json_null(&w);
        else if (strcmp(column, "flags") == 0)
            write_words(&w, db_str(row, i));
        else if (is_yes_or_no(column))
            json_bool(&w, db_i64(row, i) != 0);
        else if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
            json_i64(&w, db_i64(row, i));
        else
            json_str(&w, db_str(row, i));
    }
    json_object_end(&w);
    if (json_writer_end(&w))
        text->failed = true;
    buf_char(text, '\n');
}

static enum err_code list_json(sqlite3_stmt *row, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, (size_t)4 << 20);
    enum err_code rc;
    while ((rc = db_step(row, err)) == ERR_OK) {
        buf_clear(&text);
        write_json(row, &text);
        if (buf_failed(&text))
            return err_nomem(err);
        if (fwrite(text.data, 1, text.len, stdout) != text.len)
            return err_set(err, ERR_IO, "cannot write to standard output");
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The columns of the table; the last one, path with reason, is as wide as it is. */
enum { CELL_STATE, CELL_APP, CELL_NAME, CELL_START, CELL_DURATION, CELL_TASKS, CELL_SIZE, CELL_COUNT };
static const struct {
    const char *title;
    int max;
    bool right;
} cells[CELL_COUNT] = {{"STATE", 8, false},    {"APPLICATION", 60, false}, {"NAME", 40, false}, {"STARTED (UTC)", 20, false},
                       {"DURATION", 16, true}, {"TASKS", 16, true},        {"SIZE", 12, true}};

#define CELL_BYTES 1200

static void fill_cells(sqlite3_stmt *row, char text[CELL_COUNT][CELL_BYTES])
{
    struct str id = db_str(row, COLUMN_APP_ID), attempt = db_str(row, COLUMN_ATTEMPT), name = db_str(row, COLUMN_NAME), state = db_str(row, COLUMN_STATE);
    snprintf(text[CELL_STATE], CELL_BYTES, "%.*s", (int)MIN(state.len, (size_t)20), state.ptr);
    snprintf(text[CELL_APP], CELL_BYTES, "%.*s%s%.*s", id.ptr ? (int)MIN(id.len, (size_t)600) : 1, id.ptr ? id.ptr : "-", attempt.ptr ? "/" : "",
        (int)MIN(attempt.len, (size_t)200), attempt.ptr ? attempt.ptr : "");
    snprintf(text[CELL_NAME], CELL_BYTES, "%.*s", name.ptr ? (int)MIN(name.len, (size_t)600) : 1, name.ptr ? name.ptr : "-");
    format_time(db_i64(row, COLUMN_START), text[CELL_START]);
    format_duration(db_i64(row, COLUMN_DURATION), text[CELL_DURATION]);
    format_count(db_i64(row, COLUMN_TASKS), text[CELL_TASKS]);
    format_size(db_i64(row, COLUMN_BYTES), text[CELL_SIZE]);
}

static void print_cell(const char *text, int cell, int width)
{
    int used = clean_width(str_of(text), cells[cell].max);
    if (cells[cell].right)
        printf("%*s", width - used, "");
    print_clean(stdout, str_of(text), cells[cell].max);
    printf("%*s", (cells[cell].right ? 0 : width - used) + 2, "");
}

static enum err_code list_table(sqlite3_stmt *row, struct err *err)
{
    static char text[CELL_COUNT][CELL_BYTES];
    int widths[CELL_COUNT];
    enum err_code rc;
    for (int i = 0; i < CELL_COUNT; i++)
        widths[i] = (int)strlen(cells[i].title);
    size_t count = 0;
    while ((rc = db_step(row, err)) == ERR_OK) {         /* a first pass for the widths */
        fill_cells(row, text);
        for (int i = 0; i < CELL_COUNT; i++)
            widths[i] = MAX(widths[i], clean_width(str_of(text[i]), cells[i].max));
        count++;
    }
    if (rc != ERR_EOF)
        return rc;
    if (count == 0) {
        puts("The store knows no logs.");
        return ERR_OK;
    }
    for (int i = 0; i < CELL_COUNT; i++)
        print_cell(cells[i].title, i, widths[i]);
    puts("LOG");
    while ((rc = db_step(row, err)) == ERR_OK) {
        fill_cells(row, text);
        for (int i = 0; i < CELL_COUNT; i++)
            print_cell(text[i], i, MAX(widths[i], clean_width(str_of(text[i]), cells[i].max)));      /* a row that came in between the passes */
        print_clean(stdout, db_str(row, COLUMN_PATH), 1000);
        if (!db_is_null(row, COLUMN_REASON)) {
            fputs("  — ", stdout);
            print_clean(stdout, db_str(row, COLUMN_REASON), 400);
        }
        putchar('\n');
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

int cmd_list(int argc, char **argv)
{
    struct cli cli;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    const char *store = cli_store(&cli);
    if (!store || cli.argument_count) {
        status = store ? cli_usage_error(&verb, "%s is not expected here", cli.arguments[0]) : EXIT_USAGE;
        cli_end(&cli);
        return status;
    }
    char path[4200];
    struct err err = {0};
    struct db db;
    sqlite3_stmt *stmt = NULL;
    snprintf(path, sizeof path, "%s/catalog.db", store);
    enum err_code rc = db_open(&db, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, &err);
    if (!rc && !(rc = db_prepare(&db, &stmt, list_sql, &err)))
        rc = cli_switch(&cli, "--json") ? list_json(stmt, &err) : list_table(stmt, &err);
    if (!rc && fflush(stdout))
        rc = err_set(&err, ERR_IO, "cannot write to standard output");
    if (rc)
        cli_failed(&verb, "%s: %s", path, err.message);
    db_finalize(stmt);
    db_close(&db);
    cli_end(&cli);
    return rc ? EXIT_FAILED : EXIT_DONE;
}
