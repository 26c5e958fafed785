/* SPDX-License-Identifier: Apache-2.0
 *
 * Why one task took longer than the median of its stage. Worked out for the request: the store keeps this of the slowest tasks together only. */
#include <math.h>

#include "analysis/account.h"
#include "analysis/stage_sample.h"
#include "analysis/wording.h"
#include "base/mem.h"
#include "server/api/handlers.h"

/* Facts of an application take 64 bytes an attempt and half a microsecond each. */
#define WHY_MAX_TASKS 2000000

/* The task among the application's attempts; SIZE_MAX: there is none. */
static size_t find_attempt(const struct facts *facts, int64_t task_id)
{
    for (size_t i = 0; i < facts->attempt_count; i++)
        if (facts->attempts[i].task_id == task_id)
            return i;
    return SIZE_MAX;
}

static enum err_code ask(const struct stage_samples *samples, size_t place, struct slow_task *ret, struct err *err)
{
    struct distribution *of = mem_array(STAT_COLUMN_COUNT, sizeof *of);
    struct stage_medians *medians = NULL;
    enum err_code rc = of ? stage_distributions(&samples->sample, of, err) : err_nomem(err);
    if (!rc)
        rc = stage_medians_make(&medians, &samples->sample, of, err);
    if (!rc)
        *ret = why_slow(&samples->sample, medians, place);
    stage_medians_free(medians);
    mem_free(of);
    return rc;
}

/* *ret_known false: the task does not count (it failed, was killed, or has no metrics), so that there is nothing to compare. */
static enum err_code why(const struct facts *facts, const struct accounts *accounts, size_t attempt, struct slow_task *ret, bool *ret_known, struct err *err)
{
    struct stage_samples samples = {0};
    uint32_t stage = facts->attempts[attempt].stage, place = NOT_IN_SAMPLE;
    enum err_code rc = stage_samples_read(&samples, facts, stage, accounts->stages[stage].slots, err);
    if (!rc)
        place = samples.places[attempt - facts->stages[stage].first_attempt];
    *ret_known = place != NOT_IN_SAMPLE;
    if (*ret_known)
        rc = ask(&samples, place, ret, err);
    stage_samples_dispose(&samples);
    return rc;
}

static void write_sentence(struct json_writer *json, int64_t task_id, const struct slow_task *slow, bool is_known, enum lang lang)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, 4096);
    const char *what = !is_known ? "task_unknown" : !(slow->excess_ms > 0) ? "task_ordinary" : slow->first == CAUSE_NONE ? "task_slow" : "task_slow_cause";
    const char *cause = is_known && slow->first != CAUSE_NONE ? message_of(lang, "causes", cause_names[slow->first]) : "";
    const struct word_arg args[] = {{.name = STR_LIT("t"), .value = (double)task_id, .unit = STR_LIT("id")},
                                    {.name = STR_LIT("excess"), .value = is_known ? slow->excess_ms : (double)NAN, .unit = STR_LIT("ms")},
                                    {.name = STR_LIT("cause"), .text = str_of(cause)},
                                    {.name = STR_LIT("pct"), .value = is_known ? slow->first_share : (double)NAN, .unit = STR_LIT("share")}};
    word_fill(&text, message_of(lang, "verdict", what), args, ARRAY_LENGTH(args));
    json_kv_str(json, "sentence", buf_str(&text));
}

static void write_causes(struct json_writer *json, const struct slow_task *slow, enum lang lang)
{
    json_key(json, "causes");
    json_array_begin(json);
    for (int i = 0; slow && i < CAUSE_COUNT; i++) {
        if (!(slow->ms[i] > 0))
            continue;
        json_object_begin(json);
        json_kv_text(json, "cause", cause_names[i]);
        json_kv_text(json, "name", message_of(lang, "causes", cause_names[i]));
        json_kv_f64(json, "ms", slow->ms[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_answer(struct json_writer *json, const struct facts *facts, size_t attempt, const struct slow_task *slow, bool is_known, enum lang lang)
{
    const struct stage_fact *stage = &facts->stages[facts->attempts[attempt].stage];
    bool is_slow = is_known && slow->excess_ms > 0;
    json_object_begin(json);
    json_kv_i64(json, "taskId", facts->attempts[attempt].task_id);
    json_kv_i64(json, "stageId", stage->stage_id);
    json_kv_i64(json, "stageAttempt", stage->attempt);
    json_kv_f64(json, "excessMs", is_known ? slow->excess_ms : (double)NAN);
    json_kv_text(json, "cause", is_slow && slow->first != CAUSE_NONE ? cause_names[slow->first] : NULL);
    json_kv_f64(json, "causeShare", is_slow ? slow->first_share : (double)NAN);
    json_kv_bool(json, "retried", is_slow && slow->retried);
    write_causes(json, is_slow ? slow : NULL, lang);
    write_sentence(json, facts->attempts[attempt].task_id, slow, is_known, lang);
    json_object_end(json);
}

static enum err_code answer(struct db *db, int64_t task_id, enum lang lang, struct response *response, struct err *err)
{
    struct facts facts;
    struct accounts accounts;
    struct slow_task slow = {0};
    bool is_known = false;
    enum err_code rc = facts_load(&facts, db, err);
    if (rc)
        return rc;
    size_t attempt = find_attempt(&facts, task_id);
    if (attempt == SIZE_MAX) {
        response_error(response, 404, "not_found", "there is no such task");
    } else if (!(rc = accounts_make(&accounts, &facts, err))) {
        rc = why(&facts, &accounts, attempt, &slow, &is_known, err);
        accounts_dispose(&accounts);
        if (!rc)
            write_answer(response_json(response, false), &facts, attempt, &slow, is_known, lang);
    }
    facts_dispose(&facts);
    return rc;
}

enum err_code api_why(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum lang lang;
    int64_t tasks = 0;
    enum err_code rc;
    if (request_lang(request, &lang, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err) && !(rc = db_query_i64(app.db, "SELECT count(*) FROM task", &tasks, err))) {
        if (tasks > WHY_MAX_TASKS)
            response_error(response, 409, "too_large", "single tasks are explained up to %d of them; /stages/{id}.{attempt}/analysis explains the slow ones together",
                           WHY_MAX_TASKS);
        else
            rc = answer(app.db, api_path_id(request, 1), lang, response, err);
    }
    api_app_close(ctx, &app);
    return rc;
}
