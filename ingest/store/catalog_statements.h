/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the catalogue share: the handle, its prepared statements and transactions. For catalog*.c alone; everybody else uses catalog.h. */
#ifndef STORE_CATALOG_STATEMENTS_H
#define STORE_CATALOG_STATEMENTS_H

#include <sys/types.h>

#include "base/arena.h"
#include "ingest/store/catalog.h"

/* Why a log is not shown, before the path of the one that is. */
#define CATALOG_COPY_REASON "another copy of this run is shown, which holds more or is newer: "

/* The order in which catalog_statements.c has them. */
enum catalog_statement {
    SQL_ROW_BY_ID,
    SQL_ROW_BY_PATH,
    SQL_INSERT_LOG,
    SQL_CHANGE_LOG,
    SQL_SET_PLACE,
    SQL_ADOPT_FINGERPRINT,
    SQL_REJECT,
    SQL_RENAMED_OLD,
    SQL_RENAMED_NEW,
    SQL_RENAMED_APP,
    SQL_PLACE_INSERT,
    SQL_PLACE_ID,
    SQL_PLACE_SCANNED,
    SQL_FINGERPRINTS,
    SQL_PRESENT,
    SQL_PRESENT_COUNT,
    SQL_GONE,
    SQL_BACK,
    SQL_RELEASE_COPIES,
    SQL_WANT,
    SQL_APP_SOURCE,
    SQL_SET_KEY,
    SQL_COPY_SKIPPED,
    SQL_COPIES_SKIPPED,
    SQL_LISTED_APP,
    SQL_RUN_ACCESS,
    SQL_GENERATION,
    SQL_LOADING,
    SQL_PROGRESS,
    SQL_DONE,
    SQL_LOADED_APP,
    SQL_UNLIST_APP,
    SQL_UNLIST_LOG,
    SQL_PUT_OFF,
    SQL_NOT_LOADED,
    SQL_LIST_ONLY,
    SQL_OPENED,
    SQL_ABANDONED,
    SQL_REMOVING,
    SQL_REMOVED,
    SQL_NOT_REMOVED,
    SQL_PUT_AWAY,
    SQL_PUT_AWAY_LOG,
    SQL_RELOAD,
    SQL_FORGET_LOGS,
    SQL_FORGET_APP,
    SQL_PIN,
    CATALOG_STATEMENT_COUNT
};

struct catalog {
    struct db db;
    char *store_dir;                                      /* owned */
    dev_t device;
    ino_t inode;                                          /* of catalog.db when it was opened */
    sqlite3_stmt *statements[CATALOG_STATEMENT_COUNT];    /* prepared when first used */
    struct arena row_arena;                               /* texts of the last catalog_row */
    char remark[320];
};

/* The statement, prepared when first used: owned by the catalogue, ready to be bound. It is reset by whoever runs it (db_run, or db_step to the end, or db_reset). */
enum err_code catalog_statement(struct catalog *self, enum catalog_statement which, sqlite3_stmt **ret, struct err *err) WARN_UNUSED;
/* Runs a statement whose one parameter is an id. */
enum err_code catalog_exec_id(struct catalog *self, enum catalog_statement which, int64_t id, struct err *err) WARN_UNUSED;
/* Parameters: an id, a text (NULL: none) and, where there is a third, now. */
enum err_code catalog_exec_id_text_time(struct catalog *self, enum catalog_statement which, int64_t id, const char *text, struct err *err) WARN_UNUSED;

/* Several statements that belong together: a transaction of their own where the caller has none. catalog_leave commits when `rc` is ERR_OK, else it undoes all; it
 * returns `rc`, or why the commit failed. */
enum err_code catalog_enter(struct catalog *self, bool *ret_own, struct err *err) WARN_UNUSED;
enum err_code catalog_leave(struct catalog *self, bool own, enum err_code rc, struct err *err) WARN_UNUSED;

/* Who may see the run. app_key NULL: that of the log, as a whole load tells it; else as its head does, which a load knows better. In catalog_runs.c. */
enum err_code catalog_write_access(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, struct err *err) WARN_UNUSED;

#endif
