/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of one run as a file to keep or to send: what `afterglow report` writes. It is a download, never a page of ours: the HTML brings its own style and policy. */
#include "analysis/regression.h"
#include "server/api/handlers.h"
#include "server/server.h"

#define REPORT_MAX_BYTES ((size_t)256 << 20) /* JSON of all findings of a run with thousands of them; readable forms are bounded by themselves (report_parts.h) */

static const struct {
    const char *type, *ending;
} forms[REPORT_FORMAT_COUNT] = {
    [REPORT_TEXT] = {"text/plain;charset=utf-8", "-report.txt"},
    [REPORT_JSON] = {"application/json", "-report.json"},
    [REPORT_HTML] = {"text/html;charset=utf-8", "-report.html"},
    [REPORT_MARKDOWN] = {"text/markdown;charset=utf-8", "-report.md"},
};

static enum err_code write_report(struct api_ctx *ctx, const struct request *request, const struct api_app *app, struct baseline *usual, const struct report_style *style,
                                  struct response *response, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    struct report report;
    buf_init(&text, REPORT_MAX_BYTES);
    enum err_code rc = report_load(&report, app->db, NULL, err);
    if (rc)
        return rc;
    if (!(rc = regression_add(&report, usual, server_store(ctx->server), NULL, style->lang, err)))
        rc = report_write(&report, style, &text, err);
    report_dispose(&report);
    if (!rc && buf_failed(&text))
        rc = err_set(err, ERR_LIMIT, "the report is longer than %zu MiB", REPORT_MAX_BYTES >> 20);
    if (rc)
        return rc;
    response_content_type(response, forms[style->format].type);
    api_download(response, request->path_args[0], forms[style->format].ending);
    return response_write(response, text.data, text.len);
}

enum err_code api_report(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct report_style style = {.format = REPORT_HTML};
    struct api_app app;
    struct baseline usual;
    int format;
    enum err_code rc;
    if (request_lang(request, &style.lang, err) || param_word(request, "format", report_format_names, REPORT_FORMAT_COUNT, &format, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    if (format >= 0)
        style.format = (enum report_format)format;
    if (!api_run_open(ctx, request, response, request->path_args[0], &app, &rc, err))
        return rc;
    rc = usual_find(ctx, request, app.ref.key, &usual, err);
    if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    if (!rc && analysis_is_there(&app, response, &rc, err) && !usual_tag(ctx, request, &app, &usual, response))
        rc = write_report(ctx, request, &app, &usual, &style, response, err);
    baseline_dispose(&usual);
    api_app_close(ctx, &app);
    return rc;
}
