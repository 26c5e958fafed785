/* SPDX-License-Identifier: Apache-2.0
 *
 * What of one run is which of another one: their stages, or their queries, in pairs with what either took. What only one of the runs has is a pair with one side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/baseline.h"
#include "analysis/match.h"
#include "base/attributes.h"
#include "base/mem.h"
#include "server/answer_cache.h"
#include "server/api/handlers.h"
#include "server/server.h"

enum order { ORDER_SIZE, ORDER_DIFFERENCE, ORDER_BASE, ORDER_NEW, ORDER_NAME, ORDER_ID };
static const struct list_sort sorts[] = {
    [ORDER_SIZE] = {"size", NULL},
    [ORDER_DIFFERENCE] = {"difference", NULL},
    [ORDER_BASE] = {"base", NULL},
    [ORDER_NEW] = {"new", NULL},
    [ORDER_NAME] = {"name", NULL},
    [ORDER_ID] = {"id", NULL},
    {NULL, NULL},
};

struct pair {
    uint32_t base, new_run; /* positions in either record; NO_MATCH: not there */
    struct str name;
    int64_t id;             /* the new run's where it has one */
    double base_ms, new_ms; /* NaN: not there, or not known */
    double difference_ms;   /* of one side alone: all of it; NaN: not known */
    bool changed;           /* by more than runs of a job differ anyway, or only one run has it, or its plan is another one */
};

struct pairs {
    struct run_record base, new_run;
    struct run_match match;
    struct pair *items; /* owned */
    size_t count;
    bool of_queries;
};

static double stage_ms(const struct run_record *run, uint32_t position)
{
    return position == NO_MATCH || !known(run->stages[position].wall_ms) ? (double)NAN : (double)run->stages[position].wall_ms;
}

static double query_ms(const struct run_record *run, uint32_t position)
{
    return position == NO_MATCH || !known(run->queries[position].wall_ms) ? (double)NAN : (double)run->queries[position].wall_ms;
}

static void add_pair(struct pairs *self, uint32_t base, uint32_t new_run)
{
    bool both = base != NO_MATCH && new_run != NO_MATCH;
    const struct run_record *run = new_run != NO_MATCH ? &self->new_run : &self->base;
    uint32_t position = new_run != NO_MATCH ? new_run : base;
    struct pair *pair = &self->items[self->count++];
    *pair = (struct pair){.base = base, .new_run = new_run};
    if (self->of_queries) {
        pair->name = run->queries[position].description;
        pair->id = run->queries[position].execution_id;
        pair->base_ms = query_ms(&self->base, base);
        pair->new_ms = query_ms(&self->new_run, new_run);
        pair->changed = both && self->base.queries[base].final != self->new_run.queries[new_run].final;
    } else {
        pair->name = run->stages[position].name;
        pair->id = run->stages[position].stage_id;
        pair->base_ms = stage_ms(&self->base, base);
        pair->new_ms = stage_ms(&self->new_run, new_run);
    }
    pair->difference_ms = both ? pair->new_ms - pair->base_ms : new_run != NO_MATCH ? pair->new_ms : -pair->base_ms;
    double value = pair->base_ms;
    struct noise noise = noise_of(&value, 1, "ms");
    pair->changed |= !both || (!isnan(pair->difference_ms) && !noise_no_change(&noise, pair->new_ms));
}

static enum err_code make_pairs(struct pairs *self, bool changed_only, struct err *err)
{
    size_t base_count = self->of_queries ? self->base.query_count : self->base.stage_count, new_count = self->of_queries ? self->new_run.query_count : self->new_run.stage_count;
    const uint32_t *in_base = self->of_queries ? self->match.query_in_base : self->match.stage_in_base,
                   *in_new = self->of_queries ? self->match.query_in_new : self->match.stage_in_new;
    if (!(self->items = mem_array(base_count + new_count + 1, sizeof *self->items)))
        return err_nomem(err);
    for (size_t i = 0; i < new_count; i++)
        add_pair(self, in_base[i], (uint32_t)i);
    for (size_t i = 0; i < base_count; i++)
        if (in_new[i] == NO_MATCH)
            add_pair(self, (uint32_t)i, NO_MATCH);
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!changed_only || self->items[i].changed)
            self->items[kept++] = self->items[i];
    self->count = kept;
    return ERR_OK;
}

/* ---- order ---- */

static double number_of(const struct pair *pair, enum order order)
{
    return order == ORDER_SIZE ? fabs(pair->difference_ms) : order == ORDER_DIFFERENCE ? pair->difference_ms : order == ORDER_BASE ? pair->base_ms : pair->new_ms;
}

static int by_id(const struct pair *x, const struct pair *y)
{
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->new_run == NO_MATCH) - (y->new_run == NO_MATCH);
}

static int compare_pairs(const void *a, const void *b, void *context)
{
    const struct list *list = context;
    const struct pair *x = a, *y = b;
    enum order order = (enum order)(list->sort - sorts);
    int sign = list->descending ? -1 : 1, result = 0;
    if (order == ORDER_NAME) {
        result = str_compare(x->name, y->name) * sign;
    } else if (order != ORDER_ID) {
        double p = number_of(x, order), q = number_of(y, order);
        if (isnan(p) || isnan(q))
            result = isnan(p) - isnan(q); /* unknown last, either way */
        else
            result = ((p > q) - (p < q)) * sign;
    }
    return result ? result : by_id(x, y) * (order == ORDER_ID ? sign : 1);
}

/* ---- answer ---- */

static void write_stage(struct json_writer *json, const char *side, const struct run_stage *stage)
{
    static const char *const names[][4] = {{"baseTaskTimeMs", "baseTaskCount", "baseReadBytes", "baseSqlExecutionId"},
                                           {"newTaskTimeMs", "newTaskCount", "newReadBytes", "newSqlExecutionId"}};
    const char *const *keys = names[side[0] == 'n'];
    json_kv_i64(json, keys[0], stage ? stage->work_ms : UNKNOWN);
    json_kv_i64(json, keys[1], stage ? stage->task_count : UNKNOWN);
    json_kv_f64(json, keys[2], stage ? stage->bytes : (double)NAN);
    json_kv_i64(json, keys[3], stage ? stage->execution_id : UNKNOWN);
}

static int64_t id_of(const struct pairs *self, const struct run_record *run, uint32_t position)
{
    return position == NO_MATCH ? UNKNOWN : self->of_queries ? run->queries[position].execution_id : run->stages[position].stage_id;
}

static void write_pair(struct json_writer *json, const struct pairs *self, const struct pair *pair)
{
    bool in_base = pair->base != NO_MATCH, in_new = pair->new_run != NO_MATCH;
    json_object_begin(json);
    json_kv_text(json, "state", in_base && in_new ? "both" : in_new ? "added" : "removed");
    json_kv_i64(json, "baseId", id_of(self, &self->base, pair->base));
    json_kv_i64(json, "newId", id_of(self, &self->new_run, pair->new_run));
    json_kv_str(json, "name", pair->name);
    json_kv_f64(json, "baseMs", pair->base_ms);
    json_kv_f64(json, "newMs", pair->new_ms);
    json_kv_f64(json, "differenceMs", pair->difference_ms);
    json_kv_bool(json, "changed", pair->changed);
    if (self->of_queries) {
        json_key(json, "planChanged");
        if (in_base && in_new)
            json_bool(json, self->base.queries[pair->base].final != self->new_run.queries[pair->new_run].final);
        else
            json_null(json);
    } else {
        write_stage(json, "base", in_base ? &self->base.stages[pair->base] : NULL);
        write_stage(json, "new", in_new ? &self->new_run.stages[pair->new_run] : NULL);
    }
    json_object_end(json);
}

static void write_list(struct pairs *self, struct list *list, struct response *response)
{
    if (self->count)
        qsort_r(self->items, self->count, sizeof *self->items, compare_pairs, list);
    list_total(list, (int64_t)self->count);
    struct json_writer *json = list_begin(list, response);
    for (int64_t i = list->offset; i < list->total && i < list->offset + list->limit; i++)
        write_pair(json, self, &self->items[i]);
    list_end(list, json);
    json_object_end(json);
}

static enum err_code answer(const struct api_app *base, const struct api_app *new_run, struct list *list, bool changed_only, bool of_queries, struct response *response,
                            struct err *err)
{
    struct pairs pairs = {.of_queries = of_queries};
    enum err_code rc = run_record_load(&pairs.base, base->db, err);
    if (!rc)
        rc = run_record_load(&pairs.new_run, new_run->db, err);
    if (!rc && !(rc = run_match_make(&pairs.match, &pairs.base, &pairs.new_run, err))) {
        if (!(rc = make_pairs(&pairs, changed_only, err)))
            write_list(&pairs, list, response);
        run_match_dispose(&pairs.match);
    }
    mem_free(pairs.items);
    run_record_dispose(&pairs.base);
    run_record_dispose(&pairs.new_run);
    return rc;
}

/* True: the client has this very answer, or it was remembered. */
static bool tag(struct api_ctx *ctx, const struct request *request, const struct app_ref *base, const struct app_ref *new_run, struct response *response)
{
    char both[2 * APP_ETAG_BYTES];
    size_t len = strlen(base->etag);
    if (!base->loaded || !new_run->loaded || len < 2 || !new_run->etag[0])
        return false;
    snprintf(both, sizeof both, "%.*s-%s", (int)(len - 1), base->etag, new_run->etag + 1);
    return answer_cache_tag(server_answers(ctx->server), request, both, response);
}

static enum err_code pairs(struct api_ctx *ctx, const struct request *request, bool of_queries, struct response *response, struct err *err)
{
    struct str base_name = request_param(request, "base"), new_name = request_param(request, "new");
    struct api_app base, new_run;
    struct list list;
    enum err_code rc;
    if (list_read(&list, request, sorts, "-size", err) || ((!base_name.len || !new_name.len) && err_set(err, ERR_INVALID, "base and new name two runs"))) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    bool changed_only = request_param_true(request, "changed", false);
    if (!api_run_open(ctx, request, response, base_name, &base, &rc, err))
        return rc;
    if (api_run_open(ctx, request, response, new_name, &new_run, &rc, err)) {
        if (analysis_is_there(&base, response, &rc, err) && analysis_is_there(&new_run, response, &rc, err) && !tag(ctx, request, &base.ref, &new_run.ref, response))
            rc = answer(&base, &new_run, &list, changed_only, of_queries, response, err);
        api_app_close(ctx, &new_run);
    }
    api_app_close(ctx, &base);
    return rc;
}

enum err_code api_compare_stages(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return pairs(ctx, request, false, response, err);
}

enum err_code api_compare_queries(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return pairs(ctx, request, true, response, err);
}
