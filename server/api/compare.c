/* SPDX-License-Identifier: Apache-2.0
 *
 * A run against another one, or against what is usual for its job. Answers have no tag: what is usual changes with every run of the job. Earlier runs that the viewer may not see do not
 * count for this viewer. */
#include "analysis/comparison_report.h"
#include "server/api/handlers.h"
#include "server/server.h"

struct asking {
    struct api_ctx *ctx;
    const struct request *request;
};

static bool may_know(void *context, struct str app_key)
{
    struct asking *asking = context;
    bool allowed = false;
    return asking->request->viewer.sees_all || (!app_allowed(asking->ctx, asking->request, app_key, &allowed, NULL) && allowed);
}

enum err_code usual_find(struct api_ctx *ctx, const struct request *request, struct str app_key, struct baseline *ret, struct err *err)
{
    struct db_lease catalog;
    struct asking asking = {ctx, request};
    *ret = (struct baseline){0};
    enum err_code rc = api_catalog(ctx, &catalog, err);
    if (!rc)
        rc = catalog.db ? baseline_find(ret, catalog.db, app_key, may_know, &asking, err) : ERR_NOT_FOUND;
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

enum err_code compare_sentence(struct api_ctx *ctx, const struct request *request, struct str base, const struct app_ref *run, enum lang lang, struct buf *out, struct err *err)
{
    CLEANUP(comparison_dispose) struct comparison comparison = {0};
    CLEANUP(baseline_dispose) struct baseline baseline = {0};
    struct app_ref other = {0};
    enum err_code rc;
    if (base.len) {
        if (!(rc = app_lookup(ctx, request, base, &other, err)))
            rc = compare_runs(&comparison, other.lease.db, run->lease.db, err);
        app_ref_dispose(ctx, &other);
    } else if (!(rc = usual_find(ctx, request, run->key, &baseline, err))) {
        rc = compare_usual(&comparison, &baseline, server_store(ctx->server), run->lease.db, err);
    }
    if (!rc)
        comparison_sentence(out, lang, &comparison);
    return rc;
}

/* False: the answer is made, or *ret_rc is not ERR_OK. */
static bool find_baseline(struct api_ctx *ctx, const struct request *request, struct response *response, struct str app_key, struct baseline *ret, enum err_code *ret_rc,
                          struct err *err)
{
    *ret_rc = usual_find(ctx, request, app_key, ret, err);
    if (*ret_rc == ERR_NOT_FOUND) {
        *ret_rc = ERR_OK;
        response_error(response, 409, "not_analysed", "the history of this run is not known yet: its log is being read, or 'afterglow analyze' must run");
        return false;
    }
    return !*ret_rc;
}

static enum err_code answer(const struct comparison *comparison, struct response *response, enum lang lang)
{
    comparison_json(response_json(response, false), comparison, lang);
    return ERR_OK;
}

static enum err_code compare_with_usual(struct api_ctx *ctx, const struct request *request, struct response *response, const struct api_app *app, enum lang lang, struct err *err)
{
    struct baseline baseline;
    struct comparison comparison;
    enum err_code rc;
    if (!find_baseline(ctx, request, response, app->ref.key, &baseline, &rc, err))
        return rc;
    if (!(rc = compare_usual(&comparison, &baseline, server_store(ctx->server), app->db, err))) {
        rc = answer(&comparison, response, lang);
        comparison_dispose(&comparison);
    }
    baseline_dispose(&baseline);
    return rc;
}

static enum err_code compare_with_run(struct api_ctx *ctx, const struct request *request, struct response *response, struct str name, const struct api_app *app, enum lang lang,
                                      struct err *err)
{
    struct api_app base;
    struct comparison comparison;
    enum err_code rc;
    if (!api_run_open(ctx, request, response, name, &base, &rc, err))
        return rc;
    if (analysis_is_there(&base, response, &rc, err) && !(rc = compare_runs(&comparison, base.db, app->db, err))) {
        rc = answer(&comparison, response, lang);
        comparison_dispose(&comparison);
    }
    api_app_close(ctx, &base);
    return rc;
}

enum err_code api_compare(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct str base = request_param(request, "base"), new_run = request_param(request, "new");
    struct api_app app;
    enum lang lang;
    enum err_code rc;
    if (request_lang(request, &lang, err) || ((!base.len || !new_run.len) && err_set(err, ERR_INVALID, "base and new name two runs; base may be the word usual"))) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (!api_run_open(ctx, request, response, new_run, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err))
        rc = str_is(base, "usual") ? compare_with_usual(ctx, request, response, &app, lang, err) : compare_with_run(ctx, request, response, base, &app, lang, err);
    api_app_close(ctx, &app);
    return rc;
}

enum err_code api_baseline(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct noise metrics[RUN_METRIC_COUNT];
    double values[RUN_METRIC_COUNT];
    struct api_app app;
    struct baseline baseline;
    enum lang lang;
    enum err_code rc;
    if (request_lang(request, &lang, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (!api_run_open(ctx, request, response, request->path_args[0], &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err) && find_baseline(ctx, request, response, app.ref.key, &baseline, &rc, err)) {
        if (!(rc = run_metrics_load(values, app.db, err)) && !(rc = baseline_measure(&baseline, server_store(ctx->server), metrics, err)))
            baseline_json(response_json(response, false), &baseline, metrics, values, lang);
        baseline_dispose(&baseline);
    }
    api_app_close(ctx, &app);
    return rc;
}
