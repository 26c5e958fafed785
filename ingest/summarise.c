/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/summarise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/annotate.h"
#include "analysis/verdict.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"

#define COSTS 3 /* rules that a row of the list has room for */
#define VERDICT_BYTES ((size_t)64 << 10)
#define RULES_BYTES ((size_t)16 << 10)

/* Slot time in which a task ran, of what there was: as rule APP.IDLE_SLOTS has it. */
static double busy_share(const struct report *report)
{
    double busy = 0;
    for (int b = BUCKET_CPU; b <= BUCKET_LOST; b++)
        busy += report->account[b].is_there ? (double)report->account[b].slot_ms : 0;
    return report->allocated_ms > 0 ? MIN(busy / (double)report->allocated_ms, 1.0) : (double)NAN;
}

/* One rule once, the first of its findings: they are in the order of importance. */
static bool is_first_of_rule(const struct report *report, size_t position)
{
    for (size_t i = 0; i < position; i++)
        if (report->findings[i].finding.rule == report->findings[position].finding.rule)
            return false;
    return true;
}

static char *owned(const struct buf *text)
{
    return mem_strndup(text->len ? text->data : "", text->len);
}

static enum err_code list_rules(const struct report *report, struct run_summary *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf ids, costs;
    size_t cost_count = 0;
    buf_init(&ids, RULES_BYTES);
    buf_init(&costs, RULES_BYTES);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct report_finding *f = &report->findings[i];
        int64_t price_ms = f->finding.price.ms;
        ret->grade = MAX(ret->grade, (int64_t)f->grade);
        if (!is_first_of_rule(report, i))
            continue;
        buf_printf(&ids, "%s%s", ids.len ? " " : "", f->finding.rule->id);
        if (cost_count == COSTS || (f->grade < GRADE_MODERATE && known_or(price_ms, 0) <= 0))
            continue;
        buf_printf(&costs, "%s%s:", cost_count++ ? " " : "", f->finding.rule->id);
        if (known(price_ms))
            buf_printf(&costs, "%" PRId64, price_ms);
    }
    ret->rules = owned(&ids);
    ret->costs = owned(&costs);
    return buf_failed(&ids) || buf_failed(&costs) || !ret->rules || !ret->costs ? err_nomem(err) : ERR_OK;
}

static enum err_code put_into_words(struct report *report, enum lang lang, char **ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, VERDICT_BYTES);
    enum err_code rc = verdict_app(report, lang, &text, err);
    if (rc)
        return rc;
    *ret = owned(&text);
    return *ret ? ERR_OK : err_nomem(err);
}

/* The worst of what one or two rules found; 0: nothing. */
static int64_t worst_of(const struct report *report, const char *rule, const char *other)
{
    int64_t worst = GRADE_OK;
    for (size_t i = 0; i < report->shown_count; i++) {
        const char *id = report->findings[i].finding.rule->id;
        if (strcmp(id, rule) == 0 || strcmp(id, other) == 0)
            worst = MAX(worst, (int64_t)report->findings[i].grade);
    }
    return worst;
}

static enum err_code summarise_report(struct run_judgement *judgement, struct db *app, struct err *err)
{
    struct report report;
    enum err_code rc = report_load(&report, app, NULL, err);
    if (rc)
        return rc;
    judgement->skew_grade = worst_of(&report, ANNOTATE_RULE_SKEW, ANNOTATE_RULE_STRAGGLER);
    judgement->gc_grade = worst_of(&report, ANNOTATE_RULE_GC, ANNOTATE_RULE_GC);
    struct run_summary *ret = &judgement->summary;
    *ret = (struct run_summary){.known = true,
                                .completeness = report.completeness,
                                .saving_ms = report.joint_count ? report.joint[report.joint_count - 1].saving_ms : UNKNOWN,
                                .busy_share = busy_share(&report)};
    if (!(rc = list_rules(&report, ret, err)) && !(rc = put_into_words(&report, LANG_EN, &ret->verdict_en, err)))
        rc = put_into_words(&report, LANG_ZH_CN, &ret->verdict_zh, err);
    report_dispose(&report);
    return rc;
}

enum err_code summarise(struct run_judgement *ret, struct db *app, struct err *err)
{
    int64_t analysed = 0;
    *ret = (struct run_judgement){.skew_grade = UNKNOWN, .gc_grade = UNKNOWN};
    enum err_code rc;
    if ((rc = run_history_read(&ret->history, app, err)) || (rc = db_query_i64(app, "SELECT count(*) FROM analysis", &analysed, err)) || analysed == 0)
        return rc;
    return summarise_report(ret, app, err);
}

enum err_code summarise_run(struct run_judgement *ret, const char *store_dir, const char *app_key, struct err *err)
{
    struct db app;
    char path[4400];
    *ret = (struct run_judgement){.skew_grade = UNKNOWN, .gc_grade = UNKNOWN};
    snprintf(path, sizeof path, "%s/apps/%s.db", store_dir, app_key);
    enum err_code rc = db_open(&app, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, err);
    if (rc)
        return rc;
    rc = summarise(ret, &app, err);
    db_close(&app);
    return rc;
}

void run_judgement_dispose(struct run_judgement *self)
{
    run_history_dispose(&self->history);
    run_summary_dispose(&self->summary);
}
