/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow compare: where the difference between two runs of one job comes from; or between a run and what is usual for its job. */
#include <string.h>

#include "analysis/comparison_report.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/named_run.h"
#include "cli/report_wish.h"

#define COMPARISON_MAX_BYTES ((size_t)256 << 20)

static const struct cli_option options[] = {
    {"--store", "DIR", SETTING_STORE, "Directory of the store (environment: AFTERGLOW_STORE). Not needed for logs."},
    REPORT_WISH_OPTIONS,
    {"--fail-on", "GRADE", CLI_OWN, "End with exit status 4 when NEW is slower by this grade or a higher one: info, low, moderate or severe."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {
    "compare",
    "compare [--store DIR] BASE NEW [--format text|json|html|markdown] [--lang en|zh-CN] [--out FILE] [--fail-on GRADE]",
    "Say where the difference between two runs of a job comes from.",
    options,
    "BASE and NEW are logs, application ids (their newest attempts) or keys of the store, as for report. BASE may be the word\n"
    "usual: then NEW, a run of the store, is measured against the earlier runs of its job there, at least three.\n"
    "Slower is: by more than 2 %, 2 seconds and three times what runs of this job differ anyway. Grades: info; low from 10 %,\n"
    "moderate from 25 %, severe from 50 % on.\n\n"
    "Exit status: 0 done; 1 failed; 2 usage; 3 a log is damaged, too incomplete to compare, or there are too few earlier runs;\n"
    "4 see --fail-on.\n",
};

static enum err_code put(const struct report_wish *wish, const struct comparison *comparison, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, COMPARISON_MAX_BYTES);
    enum err_code rc = comparison_write(comparison, &wish->style, &text, err);
    return rc ? rc : report_wish_put(wish, &text, err);
}

/* What the exit status says, where nothing failed. */
static int judge(const struct comparison *comparison, const struct report_wish *wish, bool is_damaged)
{
    if (comparison->grade >= wish->fail_on)
        return EXIT_FINDING;
    return is_damaged || comparison->state != COMPARE_DONE ? EXIT_DAMAGED : EXIT_DONE;
}

static enum err_code compare(const struct cli *cli, const struct report_wish *wish, int *ret_status, struct err *err)
{
    CLEANUP(named_run_close) struct named_run base = {0};
    CLEANUP(named_run_close) struct named_run new_run = {0};
    CLEANUP(comparison_dispose) struct comparison comparison = {0};
    CLEANUP(baseline_dispose) struct baseline baseline = {0};
    const char *store = settings_text(cli->settings, SETTING_STORE);
    bool usual = strcmp(cli->arguments[0], "usual") == 0;
    enum err_code rc = named_run_open(&new_run, cli->arguments[1], store, err);
    if (!rc && usual)
        rc = named_run_baseline(&new_run, store, &baseline, err);
    else if (!rc)
        rc = named_run_open(&base, cli->arguments[0], store, err);
    if (!rc)
        rc = usual ? compare_usual(&comparison, &baseline, store, &new_run.db, err) : compare_runs(&comparison, &base.db, &new_run.db, err);
    if (!rc)
        rc = put(wish, &comparison, err);
    if (!rc)
        *ret_status = judge(&comparison, wish, base.is_damaged || new_run.is_damaged);
    return rc;
}

int cmd_compare(int argc, char **argv)
{
    struct cli cli;
    struct report_wish wish;
    struct err err = {0};
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    if ((status = report_wish_read(&cli, &wish)) < 0 && cli.argument_count != 2)
        status = cli_usage_error(&verb, "two runs are compared: BASE and NEW");
    if (status < 0 && compare(&cli, &wish, &status, &err))
        status = cli_failed(&verb, "%s", err.message);
    cli_end(&cli);
    return status;
}
