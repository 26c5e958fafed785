/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison for programs. Keys may be added, never renamed; analysis/README.md and server/openapi.yaml describe them. */
#include "analysis/comparison_report.h"

#include <math.h>

#include "analysis/report_parts.h"
#include "base/attributes.h"

#define TEXT_BYTES ((size_t)64 << 10)

static void write_run(struct json_writer *w, const char *key, const struct run_record *run)
{
    json_key(w, key);
    json_object_begin(w);
    json_kv_str(w, "id", run->app_id);
    json_kv_str(w, "attemptId", run->attempt_id);
    json_kv_str(w, "name", run->name);
    json_kv_str(w, "sparkVersion", run->spark_version);
    json_kv_i64(w, "startMs", run->begin_ms);
    json_kv_i64(w, "wallMs", run->wall_ms);
    json_kv_bool(w, "endAtLeast", run->end_at_least);
    json_kv_i64(w, "completeness", run->completeness);
    json_kv_i64(w, "slotPeak", run->slot_peak);
    json_object_end(w);
}

static void write_noise(struct json_writer *w, const struct noise *noise, double value)
{
    json_kv_i64(w, "count", (int64_t)noise->count);
    json_kv_f64(w, "median", noise->median);
    json_kv_f64(w, "mad", noise->mad);
    json_kv_f64(w, "sigma", noise->sigma);
    json_kv_f64(w, "allowed", noise->allowed);
    json_kv_f64(w, "z", noise_z(noise, value));
}

/* The members of an object. */
static void write_members(struct json_writer *w, const struct baseline *baseline, int64_t wall_ms)
{
    json_kv_str(w, "runKey", baseline->run_key);
    json_kv_i64(w, "needed", BASELINE_FEWEST);
    json_kv_bool(w, "drifts", baseline->drifts);
    json_kv_bool(w, "otherShape", baseline->other_shape);
    json_kv_i64(w, "slowerThan", (int64_t)baseline_rank(baseline, wall_ms));
    json_key(w, "members");
    json_array_begin(w);
    for (size_t i = 0; i < baseline->member_count; i++) {
        json_object_begin(w);
        json_kv_str(w, "key", baseline->members[i].app_key);
        json_kv_i64(w, "startMs", baseline->members[i].begin_ms);
        json_kv_i64(w, "wallMs", baseline->members[i].wall_ms);
        json_kv_bool(w, "isReference", i == baseline->reference);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_usual(struct json_writer *w, const struct noise *noise, double value)
{
    json_key(w, "usual");
    if (!noise->count) {
        json_null(w);
        return;
    }
    json_object_begin(w);
    write_noise(w, noise, value);
    json_kv_bool(w, "changed", !isnan(value) && !noise_no_change(noise, value));
    json_object_end(w);
}

void baseline_json(struct json_writer *w, const struct baseline *baseline, const struct noise metrics[RUN_METRIC_COUNT], const double values[RUN_METRIC_COUNT], enum lang lang)
{
    bool enough = baseline->member_count >= BASELINE_FEWEST;
    int64_t wall_ms = llround(fmin(fmax(values[RUN_WALL], 0), 9e15));
    double share = enough ? regression_measure(&baseline->wall, wall_ms) : (double)NAN;
    json_object_begin(w);
    json_kv_bool(w, "enough", enough);
    json_kv_i64(w, "wallMs", wall_ms);
    json_kv_i64(w, "usualMs", enough ? baseline->median_ms : UNKNOWN);
    json_kv_text(w, "regressionGrade", grade_names[isnan(share) ? GRADE_OK : ladder_grade(&rule_find(STR_LIT("RUN.REGRESSION"))->ladder, share)]);
    write_members(w, baseline, wall_ms);
    json_key(w, "metrics");
    json_array_begin(w);
    for (int m = 0; m < RUN_METRIC_COUNT; m++) {
        json_object_begin(w);
        json_kv_text(w, "metric", run_metric_name((enum run_metric)m));
        json_kv_text(w, "name", comparison_metric_name(lang, (enum run_metric)m));
        json_kv_text(w, "unit", run_metric_unit((enum run_metric)m));
        json_kv_f64(w, "value", values[m]);
        write_usual(w, &metrics[m], values[m]);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

static void write_baseline(struct json_writer *w, const struct comparison *self)
{
    json_key(w, "baseline");
    if (!self->baseline) {
        json_null(w);
        return;
    }
    json_object_begin(w);
    write_members(w, self->baseline, self->new_run.wall_ms);
    json_object_end(w);
}

static void write_part(struct json_writer *w, const struct comparison *self, const struct compare_part *part, enum lang lang)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, TEXT_BYTES);
    comparison_part(&text, lang, part);
    json_object_begin(w);
    json_kv_text(w, "part", compare_part_names[part->kind]);
    json_kv_i64(w, "ms", part->ms);
    json_kv_str(w, "text", buf_str(&text));
    json_kv_text(w, "gap", part->kind == COMPARE_DRIVER ? bucket_names[part->gap] : NULL);
    json_kv_text(w, "change", part->kind == COMPARE_PLAN ? plan_change_names[part->change] : NULL);
    json_kv_str(w, "what", part->what);
    json_kv_text(w, "idKind", !known(part->base_id) && !known(part->new_id) ? NULL : part->kind == COMPARE_PLAN ? "sql" : "stage");
    json_kv_i64(w, "baseId", part->base_id);
    json_kv_i64(w, "newId", part->new_id);
    json_kv_f64(w, "before", part->before);
    json_kv_f64(w, "after", part->after);
    json_kv_text(w, "unit", part->unit);
    json_kv_i64(w, "count", part->count);
    json_kv_f64(w, "noiseMs", part->noise_ms);
    json_kv_bool(w, "withinNoise", fabs((double)part->ms) <= part->noise_ms);
    json_key(w, "settings");
    json_array_begin(w);
    for (size_t i = 0; i < part->link_count; i++)
        json_str(w, self->settings[part->links[i]].name);
    json_array_end(w);
    json_object_end(w);
}

static void write_settings(struct json_writer *w, const struct comparison *self)
{
    json_key(w, "settings");
    json_array_begin(w);
    for (size_t i = 0; i < self->setting_count; i++) {
        json_object_begin(w);
        json_kv_str(w, "name", self->settings[i].name);
        json_kv_text(w, "group", setting_group_names[self->settings[i].group]);
        json_kv_str(w, "base", self->settings[i].base);
        json_kv_str(w, "new", self->settings[i].new_run);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_findings(struct json_writer *w, const struct comparison *self, enum lang lang)
{
    json_key(w, "findings");
    json_array_begin(w);
    for (size_t i = 0; i < self->finding_count; i++) {
        const struct compare_finding *finding = &self->findings[i];
        json_object_begin(w);
        json_kv_text(w, "news", finding_news_names[finding->news]);
        json_kv_text(w, "rule", finding->rule->id);
        json_kv_text(w, "name", message(lang, "rules", str_of(finding->rule->id), "name"));
        json_kv_text(w, "subjectKind", subject_kind_names[finding->kind]);
        json_kv_str(w, "baseSubject", finding->base_key);
        json_kv_str(w, "newSubject", finding->new_key);
        json_kv_text(w, "baseGrade", str_known(finding->base_key) ? grade_names[finding->base_grade] : NULL);
        json_kv_text(w, "newGrade", str_known(finding->new_key) ? grade_names[finding->new_grade] : NULL);
        json_kv_i64(w, "basePriceMs", finding->base_price_ms);
        json_kv_i64(w, "newPriceMs", finding->new_price_ms);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_stages(struct json_writer *w, const struct comparison *self)
{
    json_key(w, "stages");
    json_array_begin(w);
    for (size_t i = 0; i < self->stage_count; i++) {
        json_object_begin(w);
        json_kv_i64(w, "id", self->stages[i].new_id);
        json_kv_str(w, "name", self->stages[i].name);
        json_kv_text(w, "of", self->stages[i].is_wall ? "wall" : "work");
        json_kv_f64(w, "usualMs", self->stages[i].usual_ms);
        json_kv_f64(w, "ms", self->stages[i].ms);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_metrics(struct json_writer *w, const struct comparison *self, enum lang lang)
{
    json_key(w, "metrics");
    json_array_begin(w);
    for (int m = 0; m < RUN_METRIC_COUNT; m++) {
        const struct noise *noise = &self->metrics[m];
        double value = self->new_run.metrics[m];
        json_object_begin(w);
        json_kv_text(w, "metric", run_metric_name((enum run_metric)m));
        json_kv_text(w, "unit", run_metric_unit((enum run_metric)m));
        json_kv_text(w, "name", comparison_metric_name(lang, (enum run_metric)m));
        json_kv_f64(w, "base", self->base.metrics[m]);
        json_kv_f64(w, "new", value);
        write_usual(w, noise, value);
        json_object_end(w);
    }
    json_array_end(w);
}

void comparison_json(struct json_writer *w, const struct comparison *self, enum lang lang)
{
    static const char *const states[] = {[COMPARE_DONE] = "done", [COMPARE_INCOMPLETE] = "incomplete", [COMPARE_TOO_FEW] = "too_few"};
    static const char *const verdicts[] = {[COMPARE_NO_CHANGE] = "no_change", [COMPARE_SLOWER] = "slower", [COMPARE_FASTER] = "faster"};
    CLEANUP(buf_dispose) struct buf sentence;
    buf_init(&sentence, TEXT_BYTES);
    comparison_sentence(&sentence, lang, self);
    bool done = self->state == COMPARE_DONE;
    json_object_begin(w);
    json_kv_text(w, "state", states[self->state]);
    json_kv_text(w, "verdict", done ? verdicts[self->verdict] : NULL);
    json_kv_str(w, "sentence", buf_str(&sentence));
    if (self->state == COMPARE_TOO_FEW) {
        json_key(w, "base");
        json_null(w);
    } else {
        write_run(w, "base", &self->base);
    }
    write_run(w, "new", &self->new_run);
    write_baseline(w, self);
    json_kv_i64(w, "usualMs", self->usual_ms);
    json_kv_i64(w, "deltaMs", self->delta_ms);
    json_key(w, "wall");
    json_object_begin(w);
    write_noise(w, &self->wall, (double)self->new_run.wall_ms);
    json_object_end(w);
    json_kv_text(w, "regressionGrade", grade_names[self->grade]);
    if (done) {
        json_kv_f64(w, "matchedShare", self->matched_share);
        json_kv_bool(w, "codeChanged", self->code_changed);
        json_kv_bool(w, "partlyKnown", self->partly_known);
        json_key(w, "parts");
        json_array_begin(w);
        for (size_t i = 0; i < self->part_count; i++)
            write_part(w, self, &self->parts[i], lang);
        json_array_end(w);
        write_settings(w, self);
        json_kv_i64(w, "hiddenSettingCount", (int64_t)self->hidden_setting_count);
        write_findings(w, self, lang);
        write_stages(w, self);
        write_metrics(w, self, lang);
    }
    json_object_end(w);
}
