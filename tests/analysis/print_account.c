/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the time account of each application database that is named, one JSON object a line: what tests/analysis/accounts.py compares with the worked examples of spec/findings.md 11.1.
 * `errors`: the worst closure of all accounts of a kind, relative; `negative`: the most negative bucket anywhere. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "analysis/account.h"
#include "analysis/facts.h"

struct worst {
    double application, jobs, stages, allocated, negative;
    bool bad; /* NaN or infinity somewhere */
};

static void look(const struct account *account, double *error, struct worst *worst)
{
    *error = fmax(*error, account_closure_error(account));
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        worst->negative = fmin(worst->negative, fmin(account->slot_ms[b], account->wall_ms[b]));
        worst->bad |= !isfinite(account->slot_ms[b]) || !isfinite(account->wall_ms[b]);
    }
}

static struct worst check(const struct facts *facts, const struct accounts *accounts)
{
    struct worst worst = {0};
    look(&accounts->app, &worst.application, &worst);
    double costs = 0;
    for (size_t i = 0; i < facts->job_count; i++) {
        look(&accounts->job_windows[i], &worst.jobs, &worst);
        look(&accounts->job_costs[i], &worst.jobs, &worst);
        costs += accounts->job_costs[i].slot_total_ms;
    }
    for (size_t i = 0; i < facts->stage_count; i++) {
        look(&accounts->stages[i].window, &worst.stages, &worst);
        look(&accounts->stages[i].cost, &worst.stages, &worst);
    }
    double sum = costs + accounts->idle_gap_ms + accounts->unowned_ms;
    worst.allocated = accounts->allocated_ms > 0 ? fabs(sum - accounts->allocated_ms) / accounts->allocated_ms : fabs(sum);
    return worst;
}

static double wall(const struct accounts *accounts, enum bucket first, enum bucket last)
{
    double sum = 0;
    for (size_t b = first; b <= (size_t)last; b++)
        sum += accounts->app.wall_ms[b];
    return sum;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static enum err_code print(const char *path, struct err *err)
{
    struct db db;
    struct facts facts;
    struct accounts accounts;
    enum err_code rc = db_open(&db, path, DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err);
    if (rc)
        return rc;
    double begin = now_ms();
    if ((rc = db_read_begin(&db, err)) || (rc = facts_load(&facts, &db, err))) {
        db_close(&db);
        return rc;
    }
    double loaded = now_ms();
    if ((rc = accounts_make(&accounts, &facts, err)) == ERR_OK) {
        double made = now_ms();
        struct worst worst = check(&facts, &accounts);
        printf("{\"path\":\"%s\",\"tasks\":%zu,\"facts_ms\":%.1f,\"account_ms\":%.1f,\"wall\":%.6f,\"S\":%lld,\"alloc\":%.6f,\"overlap\":%.3f,\"jobs\":%.6f,\"clock_faults\":%lld,"
               "\"errors\":{\"application\":%.3g,\"jobs\":%.3g,\"stages\":%.3g,\"allocated\":%.3g},\"negative\":%.3g,\"bad\":%s,\"gaps\":%zu,\"buckets\":{",
               path, facts.attempt_count, loaded - begin, made - loaded, (double)(facts.end_ms - facts.begin_ms) / 1e3, (long long)facts.slot_peak, accounts.allocated_ms / 1e3,
               facts.overlap_ms / 1e3, accounts.jobs_ms / 1e3, (long long)facts.clock_faults, worst.application, worst.jobs, worst.stages, worst.allocated, worst.negative,
               worst.bad ? "true" : "false", accounts.gap_count);
        for (size_t b = 0; b < BUCKET_COUNT; b++)
            printf("%s\"%s\":[%.6f,%.6f]", b ? "," : "", bucket_names[b], accounts.app.slot_ms[b] / 1e3, accounts.app.wall_ms[b] / 1e3);
        printf("},\"busy\":%.6f,\"gap\":%.6f}\n", wall(&accounts, BUCKET_CPU, BUCKET_NOMETRICS) / 1e3, wall(&accounts, BUCKET_GAP_SQL, BUCKET_GAP_USER) / 1e3);
        accounts_dispose(&accounts);
    }
    facts_dispose(&facts);
    db_read_end(&db);
    db_close(&db);
    return rc;
}

int main(int argc, char **argv)
{
    db_setup();
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct err err = {0};
        if (print(argv[i], &err)) {
            fprintf(stderr, "%s: %s\n", argv[i], err.message);
            failed = 1;
        }
    }
    return failed;
}
