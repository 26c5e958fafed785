/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite, behind one header: opening with our pragmas, versions, transactions, statements. <sqlite3.h> is included here and nowhere else; other
 * code binds and reads through the short functions below, which map UNKNOWN to NULL and back.
 * A connection belongs to one thread at a time. All functions that can fail fill `err` with SQLite's text. */
#ifndef BASE_DB_H
#define BASE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/units.h"

/* PRAGMA application_id of our files: "AftG" and "AftC". */
#define DB_APP_ID 0x41667447
#define DB_CATALOG_ID 0x41667443

/* PRAGMA user_version. A file of another version is rebuilt from its log (app) or from apps/ and the log directories (catalog). */
#define DB_APP_VERSION 7
#define DB_CATALOG_VERSION 10

/* Keys of runs from logs that somebody added (server/uploads.h) begin with this, and no others do: such a log says itself which run it is, and whose. So no other run is taken from
 * it, no id means it that a log directory knows, and it counts as an earlier run of added ones only. */
#define DB_ADDED_MARK "~"
#define DB_IS_ADDED(key) "(" key " GLOB '" DB_ADDED_MARK "*')"

/* The two parts of schema.sql, compiled in. */
extern const char schema_app_sql[];
extern const char schema_catalog_sql[];

enum db_mode {
    DB_READ,       /* an existing file, never written; fails with ERR_NOT_FOUND when there is none */
    DB_WRITE,      /* made when missing; WAL, synchronous=NORMAL */
    DB_NEW,        /* made to be filled by this connection alone, and thrown away when anything fails: no journal, and nobody else can open it */
    DB_NEW_LARGE,  /* the same for many rows: pages of 16 KiB load an eighth faster, and cost some 500 kB a file whose tables are nearly empty */
    DB_BULK,       /* a file that is being filled while others read it, and can be thrown away: WAL, synchronous=OFF */
};

struct db {
    sqlite3 *handle;   /* NULL when closed */
};

/* How many statements a connection keeps after db_keep_statements: more than the different ones of all our answers about one application; a kept one is some kilobytes. */
#define DB_KEPT_STATEMENTS 48

/* Once, before the first database is opened: no locks inside connections (each belongs to one thread at a time) and no memory statistics, whose lock all threads would share. */
void db_setup(void);

/* Where SQLite puts what does not fit into its memory, from now on: a directory that may be written, copied. SQLITE_TMPDIR would do only before SQLite was used at all. Before other threads
 * are made; it lasts as long as the program. */
void db_temporary_directory(const char *dir);

/* Opens; on failure *self is closed. sum() of SQL is ours: exact, and at the end of 64 bits where the result would not fit, at which SQLite's own fails. Busy time-out 5 s. In all modes but DB_READ an empty file gets `schema`, the id and the version. A file
 * whose application_id is another's is ERR_INVALID, one of another version ERR_UNSUPPORTED. */
enum err_code db_open(struct db *self, const char *path, enum db_mode mode, const char *schema, int application_id, int version, struct err *err) WARN_UNUSED;
void db_close(struct db *self);                                                  /* idempotent */

/* For connections that are asked the same again and again: from now on db_finalize leaves a statement with its connection, and db_prepare of the same text takes it from
 * there, which costs nothing against compiling it anew. The least recently used one goes when there are too many. */
enum err_code db_keep_statements(struct db *self, struct err *err) WARN_UNUSED;

/* The place of a kept statement for what a caller worked out about it: one allocation of mem_alloc, freed with the statement. NULL: the statement is none that is kept. */
void **db_statement_note(sqlite3_stmt *stmt);

/* What is read from here to db_read_end is one state of the database. It also spares the locks and looks at files that SQLite needs for each statement otherwise. */
enum err_code db_read_begin(struct db *self, struct err *err) WARN_UNUSED;
void db_read_end(struct db *self);                                                        /* quiet when nothing is open */

/* Removes what SQLite keeps beside the file at `path` (-wal, -shm, -journal): of a file that is gone or is about to be replaced. Left there, a journal would be rolled back into the next file of that name. */
void db_remove_beside(const char *path);

/* Lets the kernel begin to write the file out, without waiting, so that sealing it later finds little left to do. */
void db_start_writeback(struct db *self);

/* Closes for good (from WAL too): after this the file is whole by itself (no -wal) and on disk. Readers that have it open meanwhile keep reading. Nothing may be open in it.
 * ERR_BUSY: a reader did not let go within the busy time-out. Closed in any case. */
enum err_code db_seal(struct db *self, struct err *err) WARN_UNUSED;

enum err_code db_exec(struct db *self, const char *sql, struct err *err) WARN_UNUSED;     /* one or more statements, no values in them */
enum err_code db_begin(struct db *self, struct err *err) WARN_UNUSED;                     /* BEGIN IMMEDIATE */
enum err_code db_commit(struct db *self, struct err *err) WARN_UNUSED;
void db_rollback(struct db *self);                                                        /* quiet when nothing is open */

enum err_code db_prepare(struct db *self, sqlite3_stmt **ret, const char *sql, struct err *err) WARN_UNUSED;
void db_finalize(sqlite3_stmt *stmt);                                            /* NULL is fine */

/* Positions from 1. Text and blobs are borrowed until the statement is stepped and reset (SQLITE_STATIC). */
void db_bind_i64(sqlite3_stmt *stmt, int position, int64_t value);               /* UNKNOWN binds NULL */
void db_bind_f64(sqlite3_stmt *stmt, int position, double value);                /* NaN binds NULL */
void db_bind_str(sqlite3_stmt *stmt, int position, struct str value);            /* unknown binds NULL */
void db_bind_blob(sqlite3_stmt *stmt, int position, const void *bytes, size_t len);

/* ERR_OK: a row is there. ERR_EOF: no (more) row; the statement is reset and its bindings cleared. */
enum err_code db_step(sqlite3_stmt *stmt, struct err *err) WARN_UNUSED;
/* For statements without rows: step, reset, clear. */
enum err_code db_run(sqlite3_stmt *stmt, struct err *err) WARN_UNUSED;
void db_reset(sqlite3_stmt *stmt);

/* Columns from 0. */
int64_t db_i64(sqlite3_stmt *stmt, int column);                                  /* NULL gives UNKNOWN */
double db_f64(sqlite3_stmt *stmt, int column);                                   /* NULL gives NaN */
struct str db_str(sqlite3_stmt *stmt, int column);                               /* borrowed until the next step; NULL gives STR_NONE */
struct str db_blob(sqlite3_stmt *stmt, int column);
bool db_is_null(sqlite3_stmt *stmt, int column);

/* First column of the first row of a query without parameters; UNKNOWN when there is no row. */
enum err_code db_query_i64(struct db *self, const char *sql, int64_t *ret, struct err *err) WARN_UNUSED;

/* The error of the last call on this connection, mapped to our codes: full disk, read-only, busy, out of memory … */
enum err_code db_error(sqlite3 *handle, struct err *err, const char *what);

#endif
