/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists: the page a client asks for, the order it names, and a statement put together from fixed pieces of SQL with bound values.
 *
 *   {"items":[…],"total":N,"page":P,"limit":L,"next":"cursor or null"}
 *
 * A cursor is opaque to clients; ours names the next page. */
#ifndef SERVER_API_LIST_H
#define SERVER_API_LIST_H

#include "base/buf.h"
#include "server/api_context.h"

#define LIST_DEFAULT_LIMIT 50
#define LIST_MAX_LIMIT 1000
#define LIST_MAX_PAGE ((int64_t)1 << 40)

/* One order: the name in ?sort= and the SQL expression (or what the handler makes of it). Tables end with a NULL name. */
struct list_sort {
    const char *name;
    const char *sql;
};

struct list {
    int64_t page, limit, total, offset;
    bool is_csv;                     /* all pages, as list_csv.h says */
    struct str csv_name;             /* of its file */
    struct arena *arena;             /* the request's */
    const struct list_sort *sort;
    bool descending;
};

/* Reads format, page, cursor and limit; the rest of *self stays. As CSV the limit is that of a page that holds everything. ERR_INVALID: a bad parameter. */
enum err_code list_read_page(struct list *self, const struct request *request, struct err *err) WARN_UNUSED;

/* Reads those and sort. otherwise: "-duration". ERR_INVALID: a bad parameter. */
enum err_code list_read(struct list *self, const struct request *request, const struct list_sort *sorts, const char *otherwise, struct err *err) WARN_UNUSED;

/* Once the total is known: snaps the page to the last one and says where it begins. */
void list_total(struct list *self, int64_t total);

/* {"items":[ … and … ],"total":…; the object stays open for further keys. As CSV all but the items is dropped. */
struct json_writer *list_begin(const struct list *self, struct response *response);
void list_end(const struct list *self, struct json_writer *json);

#define QUERY_MAX_VALUES 24
#define QUERY_MAX_SQL ((size_t)64 << 10)

/* A statement in pieces. Each ? of a piece takes the value that comes with it; texts are borrowed until the statement is finalized. */
struct query {
    struct buf sql;
    struct arena *arena;             /* borrowed: patterns are made in it */
    struct query_value {
        bool is_text;
        struct str text;
        int64_t number;
        const void *pointer;
        const char *type;            /* not NULL: a pointer of that type (a literal), for a function of ours */
    } values[QUERY_MAX_VALUES];
    size_t value_count;
};

void query_init(struct query *self, struct arena *arena);
void query_add(struct query *self, const char *sql);
void query_text(struct query *self, const char *sql, struct str value);
void query_number(struct query *self, const char *sql, int64_t value);

/* NULL is bound as NULL. */
void query_pointer(struct query *self, const char *sql, const void *pointer, const char *type);

/* Every ? of the piece is bound to %value% with \ before what LIKE would take for a pattern; the piece says LIKE ? ESCAPE '\'. */
void query_contains(struct query *self, const char *sql, struct str value);

/* Appends the pieces of another query with its values. */
void query_append(struct query *self, const struct query *other);

/* Once the total is known: " LIMIT … OFFSET …", the page. */
void query_page(struct query *self, const struct list *list);

/* " ORDER BY <sort> ASC|DESC NULLS LAST, <tie> ASC|DESC" */
void query_order(struct query *self, const struct list *list, const char *tie);

enum err_code query_prepare(struct query *self, struct db *db, sqlite3_stmt **ret, struct err *err) WARN_UNUSED;

/* First column of the first row. */
enum err_code query_i64(struct query *self, struct db *db, int64_t *ret, struct err *err) WARN_UNUSED;
/* Its answer is how many rows the list has: list_total. */
enum err_code list_count(struct list *self, struct query *count, struct db *db, struct err *err) WARN_UNUSED;
void query_dispose(struct query *self);

/* For enumerated parameters: the index of the word, -1 when absent. ERR_INVALID: another word. */
enum err_code param_word(const struct request *request, const char *name, const char *const *words, size_t count, int *ret, struct err *err) WARN_UNUSED;

#endif
