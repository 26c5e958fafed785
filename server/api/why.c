/* SPDX-License-Identifier: Apache-2.0
 *
 * Why one task took longer than the median of its stage. Worked out for the request: the store keeps this of the slowest tasks together only. */
#include <math.h>

#include "analysis/account.h"
#include "analysis/stage_sample.h"
#include "analysis/wording.h"
#include "base/mem.h"
#include "server/api/handlers.h"

/* Facts of an application take 56 bytes an attempt and half a microsecond each. */
#define WHY_MAX_TASKS 2000000

/* The task among the application's attempts; SIZE_MAX: there is none. */
static size_t find_attempt(const struct facts *facts, int64_t task_id)
{
    for (size_t i = 0; i < facts->attempt_count; i++)
        if (facts->launches[i].task_id == task_id)
            return i;
    return SIZE_MAX;
}

/* What a task did while it had its slot, as buckets of the account, in the order in which it usually happens. */
enum part { PART_DELAY, PART_DESER, PART_FETCH, PART_CPU, PART_GC, PART_REST, PART_SHWRITE, PART_SER, PART_GETRES, PART_COUNT };

struct explained {
    bool is_known;                   /* false: the task does not count (it failed, was killed, or has no metrics), so that there is nothing to compare */
    struct slow_task slow;
    double ms, median_ms;
    double parts[PART_COUNT], typical[PART_COUNT]; /* sum to ms and to median_ms */
};

static double stat(const struct stage_sample *sample, enum stat_column column, size_t i)
{
    return sample->of[column] ? sample->of[column][i] : 0;
}

/* GC is taken from R first (analysis/task_parts.h), so that what R cannot hold of it is D's. */
static void add_parts(const struct stage_sample *sample, size_t i, double ret[PART_COUNT])
{
    double run = stat(sample, STAT_RUN, i), gc = stat(sample, STAT_GC, i), gc_in_run = MIN(gc, run);
    ret[PART_DELAY] += stat(sample, STAT_DELAY, i);
    ret[PART_DESER] += stat(sample, STAT_DESER, i) - (gc - gc_in_run);
    ret[PART_FETCH] += stat(sample, STAT_FETCH, i);
    ret[PART_CPU] += stat(sample, STAT_CPU, i);
    ret[PART_GC] += gc;
    ret[PART_REST] += run - gc_in_run - stat(sample, STAT_FETCH, i) - stat(sample, STAT_CPU, i) - stat(sample, STAT_SHWRITE, i);
    ret[PART_SHWRITE] += stat(sample, STAT_SHWRITE, i);
    ret[PART_SER] += stat(sample, STAT_SER, i);
    ret[PART_GETRES] += stat(sample, STAT_GETRES, i);
}

/* A typical task: the parts of the middle half together, so that one odd task does not decide, in the time of the median. */
static void typical_parts(const struct stage_sample *sample, const struct distribution *occupancy, double ret[PART_COUNT])
{
    double sum = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (stat(sample, STAT_OCCUPANCY, i) >= occupancy->p25 && stat(sample, STAT_OCCUPANCY, i) <= occupancy->p75)
            add_parts(sample, i, ret);
    for (int p = 0; p < PART_COUNT; p++)
        sum += ret[p];
    for (int p = 0; p < PART_COUNT; p++)
        ret[p] *= sum > 0 ? occupancy->p50 / sum : 0;
}

static enum err_code ask(const struct stage_samples *samples, size_t place, struct explained *ret, struct err *err)
{
    struct distribution *of = mem_array(STAT_COLUMN_COUNT, sizeof *of);
    struct stage_medians *medians = NULL;
    enum err_code rc = of ? stage_distributions(&samples->sample, of, err) : err_nomem(err);
    if (!rc)
        rc = stage_medians_make(&medians, &samples->sample, of, err);
    if (!rc) {
        ret->slow = why_slow(&samples->sample, medians, place);
        ret->ms = stat(&samples->sample, STAT_OCCUPANCY, place);
        ret->median_ms = of[STAT_OCCUPANCY].p50;
        add_parts(&samples->sample, place, ret->parts);
        typical_parts(&samples->sample, &of[STAT_OCCUPANCY], ret->typical);
    }
    stage_medians_free(medians);
    mem_free(of);
    return rc;
}

static enum err_code why(const struct facts *facts, const struct accounts *accounts, size_t attempt, struct explained *ret, struct err *err)
{
    struct stage_samples samples = {0};
    uint32_t stage = facts->attempts[attempt].stage, place = NOT_IN_SAMPLE;
    enum err_code rc = stage_samples_read(&samples, facts, stage, accounts->stages[stage].slots, err);
    if (!rc)
        place = samples.places[attempt - facts->stages[stage].first_attempt];
    ret->is_known = place != NOT_IN_SAMPLE;
    if (ret->is_known)
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

static void write_parts(struct json_writer *json, const struct explained *explained, bool is_python, enum lang lang)
{
    static const char *const buckets[PART_COUNT] = {"delay", "deser", "fetch", "cpu", "gc", "other", "shwrite", "ser", "getres"};
    json_key(json, "parts");
    json_array_begin(json);
    for (int p = 0; explained->is_known && p < PART_COUNT; p++) {
        const char *bucket = p == PART_REST && is_python ? "python" : buckets[p];
        if (!(explained->parts[p] > 0) && !(explained->typical[p] > 0))
            continue;
        json_object_begin(json);
        json_kv_text(json, "bucket", bucket);
        json_kv_text(json, "name", message(lang, "buckets", str_of(bucket), "name"));
        json_kv_f64(json, "ms", explained->parts[p]);
        json_kv_f64(json, "typicalMs", explained->typical[p]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_answer(struct json_writer *json, const struct facts *facts, size_t attempt, const struct explained *explained, enum lang lang)
{
    const struct stage_fact *stage = &facts->stages[facts->attempts[attempt].stage];
    const struct slow_task *slow = &explained->slow;
    bool is_known = explained->is_known, is_slow = is_known && slow->excess_ms > 0;
    json_object_begin(json);
    json_kv_i64(json, "taskId", facts->launches[attempt].task_id);
    json_kv_i64(json, "stageId", stage->stage_id);
    json_kv_i64(json, "stageAttempt", stage->attempt);
    json_kv_f64(json, "durationMs", is_known ? explained->ms : (double)NAN);
    json_kv_f64(json, "medianMs", is_known ? explained->median_ms : (double)NAN);
    json_kv_f64(json, "excessMs", is_known ? slow->excess_ms : (double)NAN);
    json_kv_text(json, "cause", is_slow && slow->first != CAUSE_NONE ? cause_names[slow->first] : NULL);
    json_kv_f64(json, "causeShare", is_slow ? slow->first_share : (double)NAN);
    json_kv_bool(json, "retried", is_slow && slow->retried);
    write_causes(json, is_slow ? slow : NULL, lang);
    write_parts(json, explained, stage->is_python, lang);
    write_sentence(json, facts->launches[attempt].task_id, slow, is_known, lang);
    json_object_end(json);
}

static enum err_code answer(struct db *db, int64_t task_id, enum lang lang, struct response *response, struct err *err)
{
    struct facts facts;
    struct accounts accounts;
    struct explained explained = {0};
    enum err_code rc = facts_load(&facts, db, err);
    if (rc)
        return rc;
    size_t attempt = find_attempt(&facts, task_id);
    if (attempt == SIZE_MAX) {
        response_error(response, 404, "not_found", "there is no such task");
    } else if (!(rc = accounts_make(&accounts, &facts, err))) {
        rc = why(&facts, &accounts, attempt, &explained, err);
        accounts_dispose(&accounts);
        if (!rc)
            write_answer(response_json(response, false), &facts, attempt, &explained, lang);
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
    bool unsound = request_lang(request, &lang, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
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
