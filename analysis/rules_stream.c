/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured streaming (spec/findings.md 7.9): the health of each query run as findings. */
#include <math.h>
#include <stdio.h>

#include "analysis/audits.h"

#define LEAST_BATCHES 5 /* with rows: fewer say nothing of how it keeps up */
#define STATE_LEAST_ROWS 1e5

struct stream_pass {
    struct findings *findings;
    const struct stream_row *row;
    struct str key; /* run id */
};

/* NULL: nothing to do, or unknown (then a row of the rule says so, once). */
static struct finding *consider(struct stream_pass *pass, const struct rule *rule, enum mute mute, double measure, const struct evidence_cell *numbers, size_t count,
                                const char *variant)
{
    if (isnan(measure))
        return NULL;
    struct finding *finding = findings_consider(pass->findings, rule, mute, measure, (double)NAN, SUBJECT_QUERY, "%.*s", (int)pass->key.len, pass->key.ptr);
    if (!finding)
        return NULL;
    const struct stream_row *row = pass->row;
    struct evidence_cell cells[] = {{"batches", (double)row->batch_count, "count"},
                                    {"duration", row->duration_ms, "ms"},
                                    {"interval", row->interval_ms, "ms"},
                                    {"rows", row->rows, "records"}};
    finding_arg_text(pass->findings, "name", row->name.len ? row->name : row->run_id);
    finding_evidence(pass->findings, SUBJECT_QUERY, pass->key, "culprit", cells, ARRAY_LENGTH(cells));
    finding_formula(pass->findings, variant, numbers, count, rule->ladder.step[0], "own");
    return finding;
}

/* One batch after the other without a pause is how a query without a trigger runs: worth more than a word only when it does not catch up. */
static enum grade pace_cap(const struct stream_row *row)
{
    return row->back_to_back && !row->growing ? GRADE_INFO : GRADE_SEVERE;
}

static void pace(struct stream_pass *pass, const struct rule *behind, const struct rule *rate)
{
    const struct stream_row *row = pass->row;
    enum mute mute = row->row_batch_count < LEAST_BATCHES ? MUTE_FEW_TASKS : MUTE_NONE;
    const struct evidence_cell batches[] = {{"recent", row->recent_ms, "ms"}, {"every", row->interval_ms, "ms"}},
                               rates[] = {{"input", row->input_rate, "records"}, {"processed", row->processed_rate, "records"}};
    struct finding *finding = consider(pass, behind, mute, row->behind, batches, ARRAY_LENGTH(batches), row->back_to_back ? "back_to_back" : NULL);
    if (finding) {
        finding->at_most = pace_cap(row);
        finding_arg(pass->findings, "dur", row->recent_ms, "ms");
        finding_arg(pass->findings, "trig", row->interval_ms, "ms");
        finding_measure(pass->findings, "delay", row->delay_ms, "ms");
        finding_measure(pass->findings, "slow_every", row->period ? row->period : (double)NAN, "count");
    }
    if ((finding = consider(pass, rate, mute, row->rate_ratio, rates, ARRAY_LENGTH(rates), NULL))) {
        finding->at_most = pace_cap(row);
        finding_arg(pass->findings, "in", row->input_rate, "records");
        finding_arg(pass->findings, "proc", row->processed_rate, "records");
    }
}

static void state(struct stream_pass *pass, const struct rule *rule)
{
    const struct stream_row *row = pass->row;
    const struct evidence_cell numbers[] = {{"growth", row->state_growth * row->state_rows, "records"}, {"rows", row->state_rows, "records"}};
    enum mute mute = row->state_rows < STATE_LEAST_ROWS ? MUTE_TINY_DATA : row->batch_count < LEAST_BATCHES ? MUTE_FEW_TASKS : MUTE_NONE;
    if (!consider(pass, rule, mute, row->state_growth, numbers, ARRAY_LENGTH(numbers), NULL))
        return;
    finding_arg(pass->findings, "a", row->state_first, "records");
    finding_arg(pass->findings, "b", row->state_rows, "records");
    finding_measure(pass->findings, "state_bytes", row->state_bytes, "bytes");
}

static void watermark(struct stream_pass *pass, const struct rule *lag, const struct rule *dropped)
{
    const struct stream_row *row = pass->row;
    const struct evidence_cell behind[] = {{"behind", row->watermark_lag_ms, "ms"}}, rows[] = {{"dropped", row->dropped_rows, "records"}, {"rows", row->input_rows, "records"}};
    if (consider(pass, lag, row->batch_count < LEAST_BATCHES ? MUTE_FEW_TASKS : MUTE_NONE, row->watermark_ratio, behind, ARRAY_LENGTH(behind), NULL)) {
        finding_arg(pass->findings, "lag", row->watermark_lag_ms, "ms");
        finding_measure(pass->findings, "delay", row->watermark_delay_ms, "ms");
    }
    if (consider(pass, dropped, MUTE_NONE, row->dropped_share, rows, ARRAY_LENGTH(rows), NULL))
        finding_arg(pass->findings, "n", row->dropped_rows, "records");
}

static void source(struct stream_pass *pass, const struct rule *rule)
{
    const struct stream_row *row = pass->row;
    const struct evidence_cell numbers[] = {{"behind", row->offsets_behind, "records"}, {"rows", row->rows, "records"}};
    if (consider(pass, rule, MUTE_NONE, row->offsets_ratio, numbers, ARRAY_LENGTH(numbers), NULL))
        finding_arg(pass->findings, "n", row->offsets_behind, "records");
}

static void overhead(struct stream_pass *pass, const struct rule *rule)
{
    const struct stream_row *row = pass->row;
    if (!consider(pass, rule, row->batch_count < LEAST_BATCHES ? MUTE_FEW_TASKS : MUTE_NONE, row->overhead, NULL, 0, NULL))
        return;
    finding_arg(pass->findings, "pct", row->overhead, "share");
    finding_arg_text(pass->findings, "what", str_of(row->overhead_phase ? row->overhead_phase : "?"));
    finding_measure(pass->findings, "phase_share", row->overhead_phase_share, "share");
}

static void failed(struct stream_pass *pass, const struct rule *rule)
{
    const struct stream_row *row = pass->row;
    if (!consider(pass, rule, MUTE_NONE, row->failed ? 1 : 0, NULL, 0, NULL))
        return;
    finding_arg(pass->findings, "b", known(row->last_batch_id) ? (double)row->last_batch_id : (double)NAN, "id");
    finding_arg_text(pass->findings, "msg", row->error);
}

enum err_code rules_stream(const struct judged *judged, struct findings *findings, struct err *err)
{
    static const char *const ids[] = {"STREAM.BEHIND",       "STREAM.INPUT_GT_PROCESS", "STREAM.STATE_GROWTH", "STREAM.WATERMARK_LAG",
                                      "STREAM.LATE_DROPPED", "STREAM.SOURCE_LAG",       "STREAM.OVERHEAD",     "STREAM.FAILED"};
    const struct rule *rule[ARRAY_LENGTH(ids)];
    const struct stream_health *health = &judged->audits->streams;
    (void)err;
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
        rule[i] = rule_find(str_of(ids[i]));
    for (size_t i = 0; i < health->count; i++) {
        struct stream_pass pass = {.findings = findings, .row = &health->rows[i], .key = health->rows[i].run_id};
        if (!pass.key.len)
            pass.key = STR_LIT("?");
        pace(&pass, rule[0], rule[1]);
        state(&pass, rule[2]);
        watermark(&pass, rule[3], rule[4]);
        source(&pass, rule[5]);
        overhead(&pass, rule[6]);
        failed(&pass, rule[7]);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(ids) && health->count; i++)
        findings_say_unknown(findings, rule[i]);
    return ERR_OK;
}
