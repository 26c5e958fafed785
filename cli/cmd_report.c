/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow report: what was wrong with one run, what it cost, what to change; of a run of the store, or of a log without any store. */
#include "analysis/regression.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/named_run.h"
#include "cli/report_wish.h"

#define REPORT_MAX_BYTES ((size_t)1 << 30) /* JSON of 43,000 findings (REPORT_BYTES), escaped */

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE). Not needed for a log."},
    REPORT_WISH_OPTIONS,
    {"--fail-on", "GRADE", CLI_OWN, "End with exit status 4 when a finding has this grade or a higher one: info, low, moderate or severe."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "report",
    "report [--store DIR] APP[/ATTEMPT]|LOG [--format text|json|html|markdown] [--lang en|zh-CN] [--out FILE] [--fail-on GRADE]",
    "Say what was wrong with a run, what it cost and what to change.",
    options,
    "LOG is an event log (a file or a rolling directory): it is read into a temporary store, which is removed at the end.\n"
    "APP is an application id (its newest attempt) or a key of the store. A name that is both is the log.\n\n"
    "Exit status: 0 done; 1 failed; 2 usage; 3 the log is damaged: the report is of what was readable; 4 see --fail-on.\n",
};

/* Where the store knows what is usual for the job, the report says whether the run was slower. */
static enum err_code add_regression(struct report *report, const struct named_run *run, const char *store, enum lang lang, struct err *err)
{
    CLEANUP(baseline_dispose) struct baseline baseline = {0};
    if (!run->in_store)
        return ERR_OK;
    enum err_code rc = named_run_baseline(run, store, &baseline, err);
    if (rc == ERR_NOT_FOUND)
        return ERR_OK; /* it was analysed by an older program, or is being read */
    return rc ? rc : regression_add(report, &baseline, store, NULL, lang, err);
}

static enum err_code write_report(struct named_run *run, const char *store, const struct report_wish *wish, bool *ret_found, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    struct report report;
    buf_init(&text, REPORT_MAX_BYTES);
    enum err_code rc = report_load(&report, &run->db, NULL, err);
    if (rc)
        return rc;
    rc = add_regression(&report, run, store, wish->style.lang, err);
    for (size_t i = 0; i < report.shown_count; i++)
        *ret_found |= report.findings[i].grade >= wish->fail_on;
    if (!rc)
        rc = report_write(&report, &wish->style, &text, err);
    report_dispose(&report);
    return rc ? rc : report_wish_put(wish, &text, err);
}

int cmd_report(int argc, char **argv)
{
    struct cli cli;
    struct report_wish wish;
    struct named_run run = {0};
    struct err err = {0};
    bool found = false;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    if ((status = report_wish_read(&cli, &wish)) < 0 && cli.argument_count != 1)
        status = cli_usage_error(&verb, cli.argument_count ? "one run at a time" : "no application and no log is named");
    if (status < 0) {
        const char *store = settings_text(cli.settings, SETTING_STORE);
        enum err_code rc = named_run_open(&run, cli.arguments[0], store, &err);
        if (!rc)
            rc = write_report(&run, store, &wish, &found, &err);
        status = rc ? cli_failed(&verb, "%s", err.message) : found ? EXIT_FINDING : run.is_damaged ? EXIT_DAMAGED : EXIT_DONE;
    }
    named_run_close(&run);
    cli_end(&cli);
    return status;
}
