/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/v1.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/time.h"
#include "base/units.h"
#include "server/answer_cache.h"
#include "server/api_v1/error_page.h"
#include "server/server.h"

static void answer_unknown(const struct v1_scope *scope)
{
    if (str_known(scope->attempt))
        response_plain(scope->response, 404, "no such app: %.*s/%.*s", (int)scope->app.len, scope->app.ptr, (int)scope->attempt.len, scope->attempt.ptr);
    else
        response_plain(scope->response, 404, "no such app: %.*s", (int)scope->app.len, scope->app.ptr);
}

enum err_code v1_no_such_app(struct v1_scope *scope)
{
    answer_unknown(scope);
    return ERR_OK;
}

enum err_code v1_not_found(const struct request *request, struct response *response, struct err *err)
{
    return v1_error_page(request, response, 404, "Not Found", err);
}

/* Whether a run that is not there will be: what waits or is read now, what is only listed until somebody asks, and what was loaded and lost its file or has that of another version. */
static bool is_to_come(struct str state)
{
    static const char *const states[] = {"waiting", "loading", "loaded", "partial", "listed"};
    for (size_t i = 0; i < ARRAY_LENGTH(states); i++)
        if (str_is(state, states[i]))
            return true;
    return false;
}

static enum err_code answer_not_loaded(const struct v1_scope *scope, const struct app_ref *ref)
{
    response_plain(scope->response, 503, "application %.*s is not loaded yet (%.*s%s%.*s)", (int)scope->app.len, scope->app.ptr, (int)ref->state.len, ref->state.ptr,
                   str_known(ref->reason) ? ": " : "", (int)ref->reason.len, str_known(ref->reason) ? ref->reason.ptr : "");
    response_header(scope->response, "Retry-After", RESPONSE_RETRY_AFTER);      /* after the error, which forgets headers */
    if (is_to_come(ref->state))
        response_later(scope->response);
    return ERR_OK;
}

enum err_code v1_in_app(struct api_ctx *ctx, const struct request *request, struct response *response, size_t own_count, v1_convert *convert, v1_answer *answer,
                        struct err *err)
{
    struct v1_scope scope = {.ctx = ctx, .request = request, .response = response, .app = request->path_args[0], .attempt = STR_NONE};
    if (request->path_arg_count == own_count + 2)
        scope.attempt = request->path_args[1];
    for (size_t i = 0; i < own_count; i++)
        scope.own[i] = request->path_args[request->path_arg_count - own_count + i];
    if (convert && !convert(&scope))
        return v1_not_found(request, response, err);

    struct app_ref ref;
    enum err_code rc = app_lookup_v1(ctx, request, scope.app, scope.attempt, &ref, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_BUSY && app_ref_is_lost(&ref)))
        rc = v1_no_such_app(&scope);
    else if ((rc == ERR_BUSY && str_known(ref.key)) || (rc == ERR_OK && !ref.loaded))
        rc = answer_not_loaded(&scope, &ref);
    else if (rc == ERR_OK) {
        response_etag(response, str_of(ref.etag));
        scope.db = ref.lease.db;
        if (!answer_cache_recall(server_answers(ctx->server), request, ref.etag, response))
            rc = answer(&scope, err);
    }
    app_ref_dispose(ctx, &ref);
    return rc;
}

static bool convert_ids(struct v1_scope *scope, int64_t first_max)
{
    for (size_t i = 0; i < V1_MAX_OWN_ARGS && str_known(scope->own[i]); i++)
        if (!str_to_i64(scope->own[i], &scope->ids[i]) || scope->ids[i] < 0 || scope->ids[i] > (i ? INT32_MAX : first_max))
            return false;
    return true;
}

bool v1_convert_ids(struct v1_scope *scope)
{
    return convert_ids(scope, INT32_MAX);
}

bool v1_convert_long_id(struct v1_scope *scope)
{
    return convert_ids(scope, INT64_MAX);
}

bool v1_param_int(const struct request *request, const char *name, int64_t otherwise, int64_t *ret)
{
    struct str text = request_param(request, name);
    *ret = otherwise;
    return text.len == 0 || (str_to_i64(text, ret) && *ret >= INT32_MIN && *ret <= INT32_MAX);
}

static bool same_word(struct str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static bool find_word(struct str value, const char *const *words, size_t word_count, size_t *ret)
{
    for (*ret = 0; *ret < word_count; ++*ret)
        if (same_word(value, words[*ret]))
            return true;
    return false;
}

bool v1_param_word(const struct request *request, const char *name, const char *const *words, size_t word_count, int *ret)
{
    struct str value = request_param(request, name);
    size_t place;
    *ret = -1;
    if (!value.len)
        return true;
    if (!find_word(value, words, word_count, &place))
        return false;
    *ret = (int)place;
    return true;
}

bool v1_param_words(const struct request *request, const char *name, const char *const *words, size_t word_count, unsigned *ret_mask, bool *ret_given)
{
    *ret_mask = 0;
    *ret_given = false;
    for (size_t i = 0; i < request->param_count; i++) {
        if (!str_is(request->params[i].name, name))
            continue;
        struct str value = request->params[i].value;
        *ret_given = true;
        if (!value.len)
            continue;
        size_t place;
        if (!find_word(value, words, word_count, &place))
            return false;
        *ret_mask |= 1u << place;
    }
    return true;
}

/* Past the digits at p, then a point and more of them. False: there are none. */
static bool skip_number(const char **p, const char *digits)
{
    size_t whole = strspn(*p, digits);
    *p += whole;
    size_t fraction = **p == '.' ? strspn(++*p, digits) : 0;
    *p += fraction;
    return whole || fraction;
}

/* What Java's Double.parseDouble takes: blanks around, a sign, NaN, Infinity, digits with a point and an exponent, hexadecimal ones with an exponent, a letter d or f behind. */
static bool java_double(struct str text, struct arena *arena, double *ret)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = (struct str){text.ptr + 1, text.len - 1};
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    const char *copy = arena_strndup(arena, text.ptr, text.len), *p = copy;
    if (!copy)
        return false;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (strcmp(p, "NaN") == 0 || strcmp(p, "Infinity") == 0) {
        *ret = *p == 'N' ? (double)NAN : negative ? (double)-INFINITY : (double)INFINITY;
        return true;
    }
    bool hexadecimal = p[0] == '0' && (p[1] | 0x20) == 'x';
    p += hexadecimal ? 2 : 0;
    if (!skip_number(&p, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789"))
        return false;
    if ((*p | 0x20) == (hexadecimal ? 'p' : 'e')) {
        p++;
        p += *p == '-' || *p == '+';
        size_t exponent = strspn(p, "0123456789");
        if (!exponent)
            return false;
        p += exponent;
    } else if (hexadecimal) {
        return false;
    }
    *ret = strtod(copy, NULL);
    p += *p && strchr("dDfF", *p);
    return *p == '\0';
}

/* Java's order of doubles: NaN after everything. */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return x < y ? -1 : x > y;
}

enum err_code v1_param_quantiles(const struct request *request, struct response *response, const char *otherwise, bool negative, const double **ret, size_t *ret_count,
                                 bool *ret_answered, struct err *err)
{
    struct str text = request_param(request, "quantiles");
    if (!str_known(text))
        text = str_of(otherwise);
    *ret_answered = false;
    *ret_count = 0;
    double *values = arena_zalloc(request->arena, text.len / 2 + 1, sizeof *values);
    if (!values)
        return err_nomem(err);
    *ret = values;
    size_t end = text.len;           /* empty parts at the end are dropped, as Java's split does; a wholly empty text is one empty part */
    while (end && text.ptr[end - 1] == ',')
        end--;
    if (!end && text.len)
        return ERR_OK;
    for (size_t at = 0;;) {
        const char *comma = end > at ? memchr(text.ptr + at, ',', end - at) : NULL;
        struct str part = {text.ptr + at, comma ? (size_t)(comma - text.ptr) - at : end - at};
        bool is_double = java_double(part, request->arena, &values[*ret_count]);
        if (!is_double || (values[*ret_count] < 0 && !negative)) {
            response_plain(response, 400, "Bad value for parameter \"quantiles\".  Expected a %s, got \"%.*s\"", is_double ? "number from 0 to 1" : "double", (int)part.len, part.ptr);
            *ret_answered = true;
            return ERR_OK;
        }
        ++*ret_count;
        if (!comma)
            break;
        at += part.len + 1;
    }
    qsort(values, *ret_count, sizeof *values, by_value);
    return ERR_OK;
}

void v1_date(struct json_writer *w, const char *key, int64_t epoch_ms)
{
    char text[TIME_ISO_BYTES];
    json_kv_text(w, key, time_format_gmt(known_or(epoch_ms, -1), text));
}

void v1_date_if(struct json_writer *w, const char *key, int64_t epoch_ms)
{
    if (known(epoch_ms))
        v1_date(w, key, epoch_ms);
}

void v1_count(struct json_writer *w, const char *key, int64_t value)
{
    json_kv_i64(w, key, known_or(value, 0));
}

void v1_text(struct json_writer *w, const char *key, struct str value)
{
    json_kv_str(w, key, str_known(value) ? value : STR_LIT(""));
}

void v1_text_if(struct json_writer *w, const char *key, struct str value)
{
    if (str_known(value))
        json_kv_str(w, key, value);
}

void v1_double(struct json_writer *w, double value)
{
    if (!isfinite(value)) {
        json_text(w, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    char digits[32];
    if (value == trunc(value) && fabs(value) < 1e7 && !signbit(value)) {        /* most are */
        json_raw(w, (struct str){digits, (size_t)snprintf(digits, sizeof digits, "%d.0", (int)value)});
        return;
    }
    /* The shortest digits that read back: d.ddddE[-]x */
    int precision = 0;
    do
        snprintf(digits, sizeof digits, "%.*e", precision, value);
    while (strtod(digits, NULL) != value && ++precision < 17);
    char text[48];
    double size = fabs(value);
    int len;
    if (size == 0 || (size >= 1e-3 && size < 1e7)) {
        const char *e = strchr(digits, 'e');
        int exponent = e ? atoi(e + 1) : 0;
        len = snprintf(text, sizeof text, "%.*f", precision > exponent ? precision - exponent : 1, value);
    } else {
        char *e = strchr(digits, 'e');
        int exponent = e ? atoi(e + 1) : 0;
        if (e)
            *e = '\0';
        len = snprintf(text, sizeof text, "%s%sE%d", digits, precision ? "" : ".0", exponent);
    }
    json_raw(w, (struct str){text, (size_t)len});
}

enum err_code v1_accumulables(struct json_writer *w, sqlite3_stmt *rows, int64_t owner, struct err *err)
{
    enum err_code rc;
    json_key(w, "accumulatorUpdates");
    json_array_begin(w);
    db_bind_i64(rows, 1, owner);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(w);
        v1_count(w, "id", db_i64(rows, 0));
        v1_text_if(w, "name", db_str(rows, 1));
        v1_text_if(w, "update", db_str(rows, 2));
        v1_text_if(w, "value", db_str(rows, 3));
        json_object_end(w);
    }
    json_array_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_log(void *w, struct str name, struct str address)
{
    json_key_str(w, name);
    json_str(w, str_known(address) ? address : STR_LIT(""));
}

enum err_code v1_executor_logs(struct json_writer *w, struct executor_logs *logs, int64_t executor_ref, struct err *err)
{
    json_key(w, "executorLogs");
    json_object_begin(w);
    enum err_code rc = executor_logs_each(logs, executor_ref, write_log, w, err);
    json_object_end(w);
    return rc;
}
