/* SPDX-License-Identifier: Apache-2.0
 *
 * What analysis found out, graded with the thresholds of the request. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/regression.h"
#include "analysis/report_parts.h"
#include "analysis/verdict.h"
#include "base/mem.h"
#include "server/answer_cache.h"
#include "server/api/handlers.h"
#include "server/api/sql_findings.h"
#include "server/server.h"

#define DEFAULT_FINDINGS 200
#define MOST_FINDINGS 1000
#define THRESHOLD "threshold."

enum err_code request_lang(const struct request *request, enum lang *ret, struct err *err)
{
    struct str name = request_param(request, "lang");
    *ret = LANG_EN;
    return !name.len || lang_find(name, ret) ? ERR_OK : err_set(err, ERR_INVALID, "lang is en or zh-CN");
}

/* "0.1,0.2,0.3,0.5" or "0.1,-,-,0.5": four steps, a minus for one that does not exist. */
static bool read_steps(struct str text, double ret[4])
{
    char number[64];
    for (int i = 0; i < 4; i++) {
        const char *comma = i < 3 ? memchr(text.ptr, ',', text.len) : NULL;
        size_t len = i == 3 ? text.len : comma ? (size_t)(comma - text.ptr) : SIZE_MAX;
        char *end = NULL;
        if (len == 0 || len >= sizeof number)
            return false;
        memcpy(number, text.ptr, len);
        number[len] = '\0';
        ret[i] = strcmp(number, "-") == 0 ? (double)NAN : strtod(number, &end);
        if (end && (*end || !isfinite(ret[i])))
            return false;
        text.ptr += len + (i < 3);
        text.len -= len + (i < 3);
    }
    return true;
}

/* Steps must not turn back, or a higher grade would be easier to reach than a lower one. */
static bool is_ladder(const struct ladder *ladder)
{
    double last = (double)NAN;
    for (int i = 0; i < 4; i++) {
        if (isnan(ladder->step[i]))
            continue;
        if (!isnan(last) && (ladder->down ? ladder->step[i] > last : ladder->step[i] < last))
            return false;
        last = ladder->step[i];
    }
    return true;
}

enum err_code request_ladders(const struct request *request, struct ladder **ret, struct err *err)
{
    *ret = NULL;
    for (size_t i = 0; i < request->param_count; i++) {
        const struct request_param *param = &request->params[i];
        if (!str_starts(param->name, THRESHOLD))
            continue;
        struct str id = {param->name.ptr + strlen(THRESHOLD), param->name.len - strlen(THRESHOLD)};
        const struct rule *rule = rule_find(id);
        if (!rule)
            return err_set(err, ERR_INVALID, "%.*s: there is no such rule", (int)MIN(id.len, (size_t)60), id.ptr);
        if (!*ret) {
            if (!(*ret = arena_zalloc(request->arena, rule_count, sizeof **ret)))
                return err_nomem(err);
            for (size_t r = 0; r < rule_count; r++)
                (*ret)[r] = rules[r].ladder;
        }
        struct ladder *ladder = &(*ret)[rule - rules];
        if (!read_steps(param->value, ladder->step) || !is_ladder(ladder))
            return err_set(err, ERR_INVALID, "threshold.%s is four numbers from info to severe, comma-separated, each %s the one before or - for none", rule->id,
                           rule->ladder.down ? "at most" : "at least");
    }
    return ERR_OK;
}

/* Positions of the findings that the parameters kind, key, rule, sql and stage ask for. */
struct picked {
    size_t *positions; /* owned */
    size_t count, shown_count;
};

/* About the stage attempt, or with a row of evidence that names it: a slow host is what is wrong with a stage, too. Evidence is taken apart only where the key is somewhere in it: there may be
 * thousands of findings. */
static enum err_code bears_on_stage(struct db *db, const struct finding *finding, struct str stage, bool *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    *ret = finding->subject_kind == SUBJECT_STAGE && str_eq(finding->subject_key, stage);
    if (*ret || !finding->evidence.len || !memmem(finding->evidence.ptr, finding->evidence.len, stage.ptr, stage.len))
        return ERR_OK;
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT 1 FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '[]' END)"
                                  " WHERE type = 'object' AND value ->> 'kind' = 'stage' AND value ->> 'key' = ?2",
                                  err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, finding->evidence);
    db_bind_str(stmt, 2, stage);
    rc = db_step(stmt, err);
    *ret = rc == ERR_OK;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code pick(const struct report *report, const struct request *request, int64_t sql, struct picked *ret, struct err *err)
{
    enum err_code rc;
    struct str kind = request_param(request, "kind"), key = request_param(request, "key"), rule = request_param(request, "rule"), stage = request_param(request, "stage");
    *ret = (struct picked){.positions = mem_array(report->finding_count + 1, sizeof *ret->positions)};
    if (!ret->positions)
        return err_nomem(err);
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct finding *f = &report->findings[i].finding;
        if ((kind.len && !str_is(kind, subject_kind_names[f->subject_kind])) || (key.len && !str_eq(key, f->subject_key)) || (rule.len && !str_is(rule, f->rule->id)))
            continue;
        if (known(sql)) {
            int64_t execution_id;
            if ((rc = sql_of_finding(report->db, f, &execution_id, err)))
                return rc;
            if (execution_id != sql)
                continue;
        }
        bool bears = true;
        if (stage.len && (rc = bears_on_stage(report->db, f, stage, &bears, err)))
            return rc;
        if (!bears)
            continue;
        ret->positions[ret->count++] = i;
        ret->shown_count += report->findings[i].is_shown;
    }
    return ERR_OK;
}

bool analysis_is_there(const struct api_app *app, struct response *response, enum err_code *ret_rc, struct err *err)
{
    int64_t count = 0;
    *ret_rc = db_query_i64(app->db, "SELECT count(*) FROM analysis", &count, err);
    if (!*ret_rc && count <= 0)
        response_error(response, 409, "not_analysed", "this run has not been judged: its log is being read, or 'afterglow analyze' must run");
    return !*ret_rc && count > 0;
}

static enum err_code write_findings(struct json_writer *json, struct report *report, const struct picked *picked, enum lang lang, bool all, size_t limit, struct err *err)
{
    size_t count = all ? picked->count : picked->shown_count;
    size_t lead = verdict_lead(report);
    enum err_code rc = ERR_OK;
    json_kv_i64(json, "total", (int64_t)count);
    json_key(json, "findings");
    json_array_begin(json);
    for (size_t i = 0; i < count && i < limit && !rc; i++) {
        struct report_item item;
        if (!(rc = report_item(report, picked->positions[i], lang, &item, err)))
            report_json_finding(json, lang, &item, report_part_of(report, picked->positions[i], lead));
    }
    json_array_end(json);
    return rc;
}

/* Why pages of this run have nothing to show; null: they have. */
static enum err_code write_empty(struct json_writer *json, struct db *db, enum lang lang, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    enum err_code rc = ERR_OK;
    buf_init(&text, 4096);
    json_key(json, "emptyPages");
    json_object_begin(json);
    for (int i = 0; i < EMPTY_PAGE_COUNT && !rc; i++) {
        buf_clear(&text);
        rc = verdict_empty(db, (enum empty_page)i, lang, &text, err);
        json_kv_str(json, empty_page_names[i], text.len ? buf_str(&text) : STR_NONE);
    }
    json_object_end(json);
    return rc;
}

/* The one question that each page answers, in the order of reading. */
static void write_questions(struct json_writer *json, enum lang lang)
{
    static const char *const pages[] = {"overview", "jobs", "stages", "tasks", "executors", "storage", "environment", "sql", "streaming", "compare"};
    json_key(json, "questions");
    json_object_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
        json_kv_text(json, pages[i], message_of(lang, "pages", pages[i]));
    json_object_end(json);
}

/* Parameters of a request that are no filters of the report. */
struct wish {
    enum lang lang;
    int64_t limit, sql;  /* sql: findings of this execution and its operators; UNKNOWN: of all */
};

static enum err_code answer_findings(struct report *report, const struct request *request, struct response *response, const struct wish *wish, struct err *err)
{
    CLEANUP(buf_dispose) struct buf verdict;
    struct picked picked;
    buf_init(&verdict, (size_t)64 << 10);
    bool whole = !request_param(request, "kind").len && !request_param(request, "key").len && !request_param(request, "rule").len && !request_param(request, "stage").len && !known(wish->sql);
    enum err_code rc = pick(report, request, wish->sql, &picked, err);
    if (!rc)
        rc = whole ? verdict_app(report, wish->lang, &verdict, err) : verdict_page(report, wish->lang, picked.positions, picked.count, &verdict, err);
    if (!rc) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        json_kv_i64(json, "analysisVersion", report->analysis_version);
        json_kv_i64(json, "wallMs", report->wall_ms);
        json_kv_i64(json, "completeness", report->completeness);
        json_kv_str(json, "verdict", buf_str(&verdict));
        if (whole)
            rc = report_json_first_step(json, report, wish->lang, err);
        if (!rc)
            rc = write_findings(json, report, &picked, wish->lang, request_param_true(request, "all", false), (size_t)wish->limit, err);
        report_json_joint(json, report);
        if (!rc && whole) {
            write_questions(json, wish->lang);
            rc = write_empty(json, report->db, wish->lang, err);
        }
        json_object_end(json);
    }
    mem_free(picked.positions);
    return rc;
}

bool usual_tag(struct api_ctx *ctx, const struct request *request, const struct api_app *app, const struct baseline *usual, struct response *response)
{
    char tag[APP_ETAG_BYTES + 20];
    snprintf(tag, sizeof tag, "%.*s-%016" PRIx64 "\"", (int)strlen(app->ref.etag) - 1, app->ref.etag, baseline_state(usual));
    return app->ref.loaded && answer_cache_tag(server_answers(ctx->server), request, tag, response);
}

static enum err_code judge_run(struct api_ctx *ctx, const struct request *request, const struct api_app *app, struct baseline *usual, const struct profile *profile, const struct wish *wish,
                               struct response *response, struct err *err)
{
    struct report report;
    enum err_code rc;
    if (!analysis_is_there(app, response, &rc, err) || (rc = report_load(&report, app->db, profile, err)))
        return rc;
    rc = regression_add(&report, usual, server_store(ctx->server), profile, wish->lang, err);
    if (!rc)
        rc = answer_findings(&report, request, response, wish, err);
    report_dispose(&report);
    return rc;
}

enum err_code api_findings(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct baseline usual;
    struct profile profile = {NULL};
    struct ladder *ladders;
    struct wish wish;
    enum err_code rc;
    if (request_lang(request, &wish.lang, err) || request_ladders(request, &ladders, err) ||
        request_param_i64(request, "limit", DEFAULT_FINDINGS, 1, MOST_FINDINGS, &wish.limit, err) || request_param_i64(request, "sql", UNKNOWN, 0, INT64_MAX, &wish.sql, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (!api_run_open(ctx, request, response, request->path_args[0], &app, &rc, err))
        return rc;
    profile.ladders = ladders;
    rc = usual_find(ctx, request, app.ref.key, &usual, err);
    if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    if (!rc && !usual_tag(ctx, request, &app, &usual, response))
        rc = judge_run(ctx, request, &app, &usual, &profile, &wish, response, err);
    baseline_dispose(&usual);
    api_app_close(ctx, &app);
    return rc;
}
