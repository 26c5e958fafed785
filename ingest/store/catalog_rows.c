/* SPDX-License-Identifier: Apache-2.0
 *
 * One row of table log with its run: reading it, and the words for its state. */
#include <string.h>

#include "ingest/store/catalog_statements.h"

static const char *const state_names[] = {"waiting", "loading", "loaded", "partial", "listed", "failed", "skipped", "gone"};

const char *log_state_name(enum log_state state)
{
    return state_names[state];
}

enum log_state log_state_of(struct str name)
{
    for (int i = LOG_WAITING; i <= LOG_GONE; i++)
        if (str_is(name, state_names[i]))
            return (enum log_state)i;
    return LOG_WAITING;
}

enum log_state catalog_state_of_flags(const char *flags)
{
    static const char *const partial[] = {"cut", "lines", "gap", "unreadable"};
    for (const char *p = flags; *p;) {
        size_t len = strcspn(p, " ");
        for (size_t i = 0; i < ARRAY_LENGTH(partial); i++)
            if (strlen(partial[i]) == len && strncmp(p, partial[i], len) == 0)
                return LOG_PARTIAL;
        p += len;
        p += *p == ' ';
    }
    return LOG_LOADED;
}

static const char *keep(struct catalog *self, sqlite3_stmt *stmt, int column, bool *out_of_memory)
{
    struct str text = db_str(stmt, column);
    if (!text.ptr)
        return NULL;
    char *copy = arena_strndup(&self->row_arena, text.ptr, text.len);
    *out_of_memory |= copy == NULL;
    return copy;
}

/* Steps a statement made of ROW_COLUMNS (catalog_statements.c) once. */
static enum err_code read_row(struct catalog *self, sqlite3_stmt *stmt, struct catalog_row *ret, struct err *err)
{
    enum err_code rc = db_step(stmt, err);
    if (rc)
        return rc == ERR_EOF ? ERR_NOT_FOUND : rc;
    bool out_of_memory = false;
    arena_reset(&self->row_arena);
    *ret = (struct catalog_row){
        .log_id = db_i64(stmt, 0), .place_id = db_i64(stmt, 1),
        .path = keep(self, stmt, 2, &out_of_memory), .fingerprint = keep(self, stmt, 3, &out_of_memory),
        .reason = keep(self, stmt, 4, &out_of_memory), .flags = keep(self, stmt, 5, &out_of_memory),
        .layout = db_i64(stmt, 6), .bytes = db_i64(stmt, 7), .modified_ms = db_i64(stmt, 8), .changed_ms = db_i64(stmt, 9), .wanted_ms = db_i64(stmt, 10),
        .tries = db_i64(stmt, 11), .line_count = db_i64(stmt, 12), .bad_line_count = db_i64(stmt, 13), .task_count = db_i64(stmt, 14), .load_ms = db_i64(stmt, 15),
        .finished_name = db_i64(stmt, 16) == 1, .state = log_state_of(db_str(stmt, 17)),
        .app_key = keep(self, stmt, 18, &out_of_memory), .app_id = keep(self, stmt, 19, &out_of_memory), .attempt_id = keep(self, stmt, 20, &out_of_memory),
        .complete = db_i64(stmt, 21) == 1, .loaded = db_i64(stmt, 22) == 1, .is_source = db_i64(stmt, 23) == 1, .removing_ms = db_i64(stmt, 24), .put_away = db_i64(stmt, 25) == 1,
    };
    db_reset(stmt);
    return out_of_memory ? err_nomem(err) : ERR_OK;
}

enum err_code catalog_get(struct catalog *self, int64_t log_id, struct catalog_row *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_ROW_BY_ID, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    return read_row(self, stmt, ret, err);
}

enum err_code catalog_find(struct catalog *self, const char *path, struct catalog_row *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_ROW_BY_PATH, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(path));
    return read_row(self, stmt, ret, err);
}
