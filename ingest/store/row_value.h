/* SPDX-License-Identifier: Apache-2.0
 *
 * What those who write rows share. The statements of a writer: an array with a text for each. A row written in place: row_put(statement, err, ROW_VALUES(N(job->job_id), S(job->name)))
 * binds the values in order and runs the statement. */
#ifndef STORE_ROW_VALUE_H
#define STORE_ROW_VALUE_H

#include "base/attributes.h"
#include "base/db.h"
#include "base/err.h"

/* Positions without a text are left alone. After a failure rows_finalize gives back what there is. */
static inline enum err_code rows_prepare(sqlite3_stmt **statements, const char *const *texts, size_t count, struct db *db, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < count && !rc; i++)
        if (texts[i])
            rc = db_prepare(db, &statements[i], texts[i], err);
    return rc;
}

static inline void rows_finalize(sqlite3_stmt **statements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        db_finalize(TAKE(statements[i]));
}

struct value {
    int64_t number;
    struct str text;                 /* borrowed for the call */
    double real;
    enum { NUMBER, TEXT, REAL, BLOB } kind;
};
#define N(x) ((struct value){.number = (x), .kind = NUMBER})
#define S(x) ((struct value){.text = (x), .kind = TEXT})
#define R(x) ((struct value){.real = (x), .kind = REAL})
#define B(x) ((struct value){.text = (x), .kind = BLOB})
#define ROW_VALUES(...) (const struct value[]){__VA_ARGS__}, sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value)

static inline enum err_code row_put(sqlite3_stmt *stmt, struct err *err, const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int position = (int)i + 1;
        switch (values[i].kind) {
        case NUMBER: db_bind_i64(stmt, position, values[i].number); break;
        case TEXT: db_bind_str(stmt, position, values[i].text); break;
        case REAL: db_bind_f64(stmt, position, values[i].real); break;
        case BLOB: db_bind_blob(stmt, position, values[i].text.ptr, values[i].text.len); break;
        }
    }
    return db_run(stmt, err);
}

#endif
