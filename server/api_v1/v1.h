/* SPDX-License-Identifier: Apache-2.0
 *
 * What every resource of /api/v1 shares: finding the application that an address names, the History Server's refusals, its parameters and its JSON habits
 * (spec/core.md §3.1, §3.2). A handler of an application's resource is an api_handler of one line that calls v1_in_app with the function that answers:
 *
 *     enum err_code v1_jobs(struct api_ctx *ctx, …) { return v1_in_app(ctx, request, response, 0, convert_status, jobs, err); }
 *
 * All JSON of this interface omits what is absent and never writes null; a count or size that the log does not hold is 0. */
#ifndef API_V1_V1_H
#define API_V1_V1_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "server/api_context.h"
#include "server/app_lookup.h"
#include "server/executor_logs.h"

#define V1_SPARK_VERSION "4.3.0"     /* the History Server whose answers these are */
#define V1_MAX_OWN_ARGS 3

/* One request for a resource of an application. */
struct v1_scope {
    struct api_ctx *ctx;
    const struct request *request;
    struct response *response;
    struct db *db;                   /* of the attempt */
    struct str app, attempt;         /* as addressed; attempt STR_NONE: none */
    struct str own[V1_MAX_OWN_ARGS]; /* the route's arguments after those two */
    /* Filled by the route's v1_convert, as far as it has them. */
    int64_t ids[V1_MAX_OWN_ARGS];    /* `own` as numbers */
    int64_t offset, length;
    unsigned wanted, tasks_wanted;       /* v1_param_words: of status, of taskStatus */
    int sort_word;                       /* v1_param_word: of sortBy */
    bool filtered, tasks_filtered;
};

/* Converts what a History Server's router converts before the application is looked for. False: there is no such address (v1_not_found). */
typedef bool v1_convert(struct v1_scope *scope);

typedef enum err_code v1_answer(struct v1_scope *scope, struct err *err);

/* Calls `convert` (NULL: nothing to convert), then opens the application of the address ({app} or {app}, {attempt} are the first arguments, `own_count` more follow) and calls `answer`; or answers 404, or 503 while it is not
 * wholly loaded: a script must not take half of a run for the run. */
enum err_code v1_in_app(struct api_ctx *ctx, const struct request *request, struct response *response, size_t own_count, v1_convert *convert, v1_answer *answer,
                        struct err *err);

/* ---- Refusals ---- */

/* 404 of the application's own kind, as for a log that lacks what the resource is made of. */
enum err_code v1_no_such_app(struct v1_scope *scope);
/* 404 as a web server says it: an unknown word or number in a parameter or path. */
enum err_code v1_not_found(const struct request *request, struct response *response, struct err *err) WARN_UNUSED;

/* ---- Parameters ---- */

/* v1_convert of a route whose arguments are 32-bit decimals ("\d+"): into `ids`. */
bool v1_convert_ids(struct v1_scope *scope);
/* The same where the first one has 64 bits. */
bool v1_convert_long_id(struct v1_scope *scope);

/* A 32-bit query parameter; absent or empty is `otherwise`. False: no number. */
bool v1_param_int(const struct request *request, const char *name, int64_t otherwise, int64_t *ret);

/* The repeatable parameter `name`, each value one of `words` in any case. *ret_mask: bit i for words[i]; *ret_given: there was one (an empty one matches nothing).
 * False: an unknown word. */
bool v1_param_words(const struct request *request, const char *name, const char *const *words, size_t word_count, unsigned *ret_mask, bool *ret_given);

/* The parameter `name`, which the first one decides: the place of its word in `words`, in any case; -1: absent or empty. False: an unknown word. */
bool v1_param_word(const struct request *request, const char *name, const char *const *words, size_t word_count, int *ret);

/* The parameter `quantiles` (or the text `otherwise`) as ascending doubles in the request's arena. When a part is no double, or below 0 and
 * not `negative`, answers 400 and sets *ret_answered. */
enum err_code v1_param_quantiles(const struct request *request, struct response *response, const char *otherwise, bool negative, const double **ret, size_t *ret_count,
                                 bool *ret_answered, struct err *err) WARN_UNUSED;

/* ---- JSON ---- */

void v1_date(struct json_writer *w, const char *key, int64_t epoch_ms);      /* unknown: -1, the last millisecond of 1969 */
void v1_date_if(struct json_writer *w, const char *key, int64_t epoch_ms);   /* unknown: omitted */
void v1_count(struct json_writer *w, const char *key, int64_t value);        /* unknown: 0 */
void v1_text(struct json_writer *w, const char *key, struct str value);      /* unknown: "" */
void v1_text_if(struct json_writer *w, const char *key, struct str value);   /* unknown: omitted */
void v1_double(struct json_writer *w, double value);                         /* Java's form: 16.0, 4.7496E7, "NaN" */
/* executorLogs of an executor. */
enum err_code v1_executor_logs(struct json_writer *w, struct executor_logs *logs, int64_t executor_ref, struct err *err) WARN_UNUSED;
/* accumulatorUpdates of a stage or task, whose number `rows` takes; rows: id, name, update, value. */
enum err_code v1_accumulables(struct json_writer *w, sqlite3_stmt *rows, int64_t owner, struct err *err) WARN_UNUSED;

#endif
