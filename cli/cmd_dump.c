/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow dump: the tables of one run as text that is the same on every machine, for tests and people. One row a line: table|column=value|…, known values only. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/db.h"
#include "base/int_column.h"
#include "base/mem.h"
#include "base/packed_text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/run_lookup.h"

#define SHOWN_VALUES 64          /* of a packed column; the rest is in table task, and a hash stands for it */

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE)."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "dump", "dump --store DIR APP[/ATTEMPT] [TABLE…]", "Print the stored tables of one run as sorted text.", options,
    "APP is an application id (its newest attempt) or a key of the store. Each row is a line 'table|column=value|…'; values\n"
    "that are not known are left out. What differs from machine to machine is left out too: times of the load, keys, and\n"
    "the directory of the log. Without TABLE all tables are printed, in the order of the schema.\n",
};

/* Columns that differ from load to load and from machine to machine. */
static const struct {
    const char *table, *column;
} left_out[] = {
    {"load", "app_key"}, {"load", "generation"}, {"load", "program_version"}, {"load", "started_ms"}, {"load", "ended_ms"}, {"load", "log_modified_ms"},
    {"analysis", "duration_ms"},
};

static bool is_left_out(const char *table, const char *column)
{
    for (size_t i = 0; i < ARRAY_LENGTH(left_out); i++)
        if (strcmp(left_out[i].table, table) == 0 && strcmp(left_out[i].column, column) == 0)
            return true;
    return false;
}

/* A value on one line: \n \r \t \\ and \| for what would break it, \xNN for other control characters. */
static void print_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\n')
            fputs("\\n", stdout);
        else if (c == '\r')
            fputs("\\r", stdout);
        else if (c == '\t')
            fputs("\\t", stdout);
        else if (c == '\\' || c == '|')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
}

/* FNV-1a: the same everywhere and for good, as a committed dump needs it. */
static uint64_t stable_hash(struct str bytes)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ (unsigned char)bytes.ptr[i]) * 0x100000001B3u;
    return hash;
}

static void print_blob(struct str blob)
{
    size_t count = 0;
    int64_t *values = NULL;
    bool packed = int_column_count(blob, &count, NULL) == ERR_OK && count <= (size_t)1 << 24 && (values = mem_array(count ? count : 1, sizeof *values)) &&
        int_column_unpack(blob, values, count, NULL) == ERR_OK;
    if (packed)
        printf("%zu:", count);
    for (size_t i = 0; packed && i < MIN(count, (size_t)SHOWN_VALUES); i++) {
        if (known(values[i]))
            printf("%s%" PRId64, i ? "," : "", values[i]);
        else
            fputs(i ? ",-" : "-", stdout);
    }
    if (!packed || count > SHOWN_VALUES)
        printf("%s%zu bytes %016" PRIx64, packed ? ",… " : "", blob.len, stable_hash(blob));
    mem_free(values);
}

static void print_value(sqlite3_stmt *row, int column)
{
    struct str text;
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: printf("%" PRId64, db_i64(row, column)); break;
    case SQLITE_FLOAT: printf("%.17g", db_f64(row, column)); break;
    case SQLITE_BLOB: print_blob(db_blob(row, column)); break;
    default:
        text = db_str(row, column);
        if (strcmp(sqlite3_column_name(row, column), "log_path") == 0) {
            const char *slash = memrchr(text.ptr, '/', text.len);
            if (slash)
                text = (struct str){slash + 1, text.len - (size_t)(slash + 1 - text.ptr)};
        }
        print_text(text);
    }
}

/* One frame of plan_text, with its base first where it has one; owned by the caller. NULL: damaged, or out of memory. */
static char *unpack_plan_text(struct db *db, int64_t id, struct str base, size_t *ret_bytes)
{
    sqlite3_stmt *row = NULL;
    char *text = NULL;
    if (db_prepare(db, &row, "SELECT packed, text_bytes FROM plan_text WHERE plan_text_id = ?", NULL))
        return NULL;
    db_bind_i64(row, 1, id);
    if (db_step(row, NULL) == ERR_OK && db_i64(row, 1) >= 0 && db_i64(row, 1) <= (int64_t)PACKED_TEXT_MAX_BYTES) {
        *ret_bytes = (size_t)db_i64(row, 1);
        text = mem_alloc(*ret_bytes + 1);
        if (text && packed_text_unpack(db_blob(row, 0), base, text, *ret_bytes, NULL))
            mem_free(TAKE(text));
    }
    db_finalize(row);
    return text;
}

/* Frames differ from one version of zstd to the next; texts do not. */
static void print_plan_text(struct db *db, int64_t id, int64_t base_id)
{
    size_t base_bytes = 0, bytes = 0;
    CLEANUP(mem_freep) char *base = known(base_id) ? unpack_plan_text(db, base_id, STR_NONE, &base_bytes) : NULL;
    CLEANUP(mem_freep) char *text = unpack_plan_text(db, id, (struct str){base, base_bytes}, &bytes);
    print_text(text ? (struct str){text, bytes} : STR_LIT("(damaged)"));
}

static enum err_code dump_table(struct db *db, const char *table, struct err *err)
{
    CLEANUP(buf_dispose) struct buf sql;
    sqlite3_stmt *row = NULL;
    buf_init(&sql, 16384);
    /* `table` is a name out of sqlite_schema. Ordered by all columns: rows have an order that depends on nothing but them. */
    buf_printf(&sql, "SELECT * FROM \"%s\"", table);
    enum err_code rc = db_prepare(db, &row, sql.data, err);
    if (rc)
        return rc;
    int columns = sqlite3_column_count(row);
    db_finalize(row);
    row = NULL;
    for (int i = 0; i < columns; i++)
        buf_printf(&sql, "%s%d", i ? ", " : " ORDER BY ", i + 1);
    if (buf_failed(&sql))
        return err_nomem(err);
    if ((rc = db_prepare(db, &row, sql.data, err)))
        return rc;
    while ((rc = db_step(row, err)) == ERR_OK) {
        fputs(table, stdout);
        for (int i = 0; i < columns; i++) {
            if (db_is_null(row, i) || is_left_out(table, sqlite3_column_name(row, i)))
                continue;
            printf("|%s=", sqlite3_column_name(row, i));
            if (strcmp(table, "plan_text") == 0 && strcmp(sqlite3_column_name(row, i), "packed") == 0)
                print_plan_text(db, db_i64(row, 0), db_i64(row, 1));
            else
                print_value(row, i);
        }
        putchar('\n');
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static bool is_asked_for(const struct cli *cli, const char *table)
{
    for (size_t i = 1; i < cli->argument_count; i++)
        if (strcmp(cli->arguments[i], table) == 0)
            return true;
    return cli->argument_count == 1;
}

/* Before anything is printed: every table that is asked for is there. */
static enum err_code check_tables(const struct cli *cli, struct db *db, struct err *err)
{
    sqlite3_stmt *table = NULL;
    enum err_code rc = db_prepare(db, &table, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", err);
    for (size_t i = 1; !rc && i < cli->argument_count; i++) {
        db_bind_str(table, 1, str_of(cli->arguments[i]));
        if ((rc = db_step(table, err)) == ERR_EOF)
            rc = err_set(err, ERR_INVALID, "there is no table '%s'; without a name all are shown", cli->arguments[i]);
        db_reset(table);
    }
    db_finalize(table);
    return rc;
}

static enum err_code dump_tables(const struct cli *cli, struct db *db, struct err *err)
{
    sqlite3_stmt *tables = NULL;
    enum err_code rc = db_prepare(db, &tables, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid", err);
    if (rc)
        return rc;
    while ((rc = db_step(tables, err)) == ERR_OK) {
        const char *table = db_str(tables, 0).ptr;
        if (is_asked_for(cli, table) && (rc = dump_table(db, table, err)))
            break;
    }
    db_finalize(tables);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code dump(const struct cli *cli, const char *store, struct err *err)
{
    char key[RUN_KEY_BYTES];
    struct db db;
    enum err_code rc = run_find(store, cli->arguments[0], key, err);
    if (!rc)
        rc = run_open(store, key, DB_READ, &db, err);
    if (rc)
        return rc;
    if (!(rc = check_tables(cli, &db, err)))
        rc = dump_tables(cli, &db, err);
    db_close(&db);
    return rc;
}

int cmd_dump(int argc, char **argv)
{
    struct cli cli;
    struct err err = {0};
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    const char *store = cli_store(&cli);
    if (!store || cli.argument_count == 0) {
        status = store ? cli_usage_error(&verb, "no application is named") : EXIT_USAGE;
        cli_end(&cli);
        return status;
    }
    enum err_code rc = dump(&cli, store, &err);
    if (!rc && fflush(stdout))
        rc = err_set(&err, ERR_IO, "cannot write to standard output");
    if (rc)
        cli_failed(&verb, "%s", err.message);
    cli_end(&cli);
    return rc ? EXIT_FAILED : EXIT_DONE;
}
