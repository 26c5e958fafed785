/* SPDX-License-Identifier: Apache-2.0
 *
 * print_stages APP.db: the statistics of every stage attempt as JSON, one object a line, for tests that compare them with tables of worked values (tests/golden/stages.py). */
#include <stdio.h>

#include "analysis/account.h"
#include "analysis/stage_sample.h"
#include "base/buf.h"
#include "base/json_writer.h"

static void print_stage(struct json_writer *w, const struct facts *facts, const struct stage_fact *stage, const struct stage_samples *samples, const struct stage_stats *stats)
{
    json_object_begin(w);
    json_kv_str(w, "app", facts->app_id);
    json_kv_i64(w, "stage", stage->stage_id);
    json_kv_i64(w, "attempt", stage->attempt);
    json_kv_i64(w, "wallMs", stage->last_finish_ms - stage->first_launch_ms);
    json_kv_i64(w, "count", (int64_t)samples->sample.count);
    json_kv_f64(w, "slots", samples->sample.slots);
    json_kv_f64(w, "ratio", stats->of[STAT_RUN].ratio);
    json_kv_f64(w, "baseMs", stats->base_ms);
    json_kv_f64(w, "recCapMs", stats->rec_cap_ms);
    json_kv_f64(w, "recSpreadMs", stats->rec_spread_ms);
    json_kv_f64(w, "gcShare", stats->gc_share);
    json_kv_f64(w, "eta2", stats->eta2);
    json_kv_text(w, "verdict", stage_verdict_names[stats->verdict]);
    json_kv_text(w, "cause", cause_names[stats->outliers.cause]);
    json_kv_f64(w, "causeShare", stats->outliers.cause_share);
    json_kv_i64(w, "outliers", (int64_t)stats->outliers.count);
    json_kv_f64(w, "slowExecutorRatio", stats->slow_executor.ratio);
    json_key(w, "causes");
    json_object_begin(w);
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
        if (stats->outliers.ms[cause] > 0)
            json_kv_f64(w, cause_names[cause], stats->outliers.ms[cause]);
    json_object_end(w);
    json_object_end(w);
}

static enum err_code to_stdout(void *context, const char *bytes, size_t len)
{
    (void)context;
    return fwrite(bytes, 1, len, stdout) == len ? ERR_OK : ERR_IO;
}

static enum err_code print_stages(const struct facts *facts, struct err *err)
{
    struct stage_samples samples = {0};
    struct accounts accounts;
    enum err_code rc = accounts_make(&accounts, facts, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < facts->stage_count && !rc; i++) {
        const struct stage_fact *stage = &facts->stages[i];
        struct stage_stats stats;
        if (!stage->attempt_count || (rc = stage_samples_read(&samples, facts, i, accounts.stages[i].slots, err)) || (rc = stage_stats_make(&stats, &samples.sample, err)))
            continue;
        struct json_writer w;
        json_writer_init(&w, to_stdout, NULL, false);
        print_stage(&w, facts, stage, &samples, &stats);
        rc = json_writer_end(&w);
        putchar('\n');
    }
    stage_samples_dispose(&samples);
    accounts_dispose(&accounts);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct db db = {0};
    struct facts facts = {0};
    db_setup();
    enum err_code rc = argc == 2 ? db_open(&db, argv[1], DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err) : err_set(&err, ERR_INVALID, "print_stages APP.db");
    if (!rc)
        rc = facts_load(&facts, &db, &err);
    if (!rc)
        rc = print_stages(&facts, &err);
    facts_dispose(&facts);
    db_close(&db);
    if (rc)
        fprintf(stderr, "%s\n", err.message);
    return rc ? 1 : 0;
}
