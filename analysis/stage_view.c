/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_view.h"

#include <math.h>
#include <stdio.h>

#include "analysis/conf_value.h"

#define RESERVED_BYTES (300 * BYTES_PER_MIB) /* Spark's RESERVED_SYSTEM_MEMORY_BYTES */
#define DEFAULT_HEAP_BYTES (1024 * BYTES_PER_MIB)
#define DEFAULT_MEMORY_FRACTION 0.6

static double sum_of(const struct stage_stats *stats, enum stat_column column)
{
    return stats->of[column].count ? stats->of[column].sum : 0;
}

bool stage_view(const struct judged *judged, uint32_t position, struct stage_view *ret)
{
    const struct stage_fact *fact = &judged->facts->stages[position];
    const struct stage_stats *stats = judged->stages[position];
    if (!fact->completed_seen || !stats->of[STAT_OCCUPANCY].count)
        return false;
    int64_t wall_ms = elapsed_known(fact->first_launch_ms, fact->last_finish_ms);
    *ret = (struct stage_view){.position = position,
                               .fact = fact,
                               .account = &judged->accounts->stages[position],
                               .stats = stats,
                               .extra = judged->extras[position],
                               .count = (double)stats->of[STAT_OCCUPANCY].count,
                               .slots = MAX(1.0, judged->accounts->stages[position].slots),
                               .wall_ms = (double)known_or(wall_ms, 0),
                               .occupancy_ms = stats->of[STAT_OCCUPANCY].sum,
                               .read_bytes = sum_of(stats, STAT_INPUT_BYTES) + sum_of(stats, STAT_READ_BYTES),
                               .written_bytes = sum_of(stats, STAT_OUTPUT_BYTES) + sum_of(stats, STAT_WRITE_BYTES)};
    return true;
}

struct finding *consider_stage(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view, enum mute mute, double measure,
                               double saving_ms)
{
    enum mute common = mute_of(judged, rule, view->position);
    struct finding *finding = findings_consider(findings, rule, common ? common : mute, measure, saving_ms, SUBJECT_STAGE, STAGE_KEY, STAGE_KEY_OF(view->fact));
    if (finding) {
        char key[48];
        finding->stage = view->position;
        snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(view->fact));
        finding_arg_text(findings, "s", str_of(key));
    }
    return finding;
}

struct str executor_name(const struct judged *judged, uint32_t executor)
{
    return executor < judged->facts->executor_count ? judged->facts->executors[executor].id : STR_LIT("?");
}

void evidence_task(const struct judged *judged, struct findings *findings, const struct extra_task *task, const char *role)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)task->task_id);
    struct evidence_cell cells[] = {{"duration", task->duration_ms, "ms"},
                                    {"run", task->run_ms, "ms"},
                                    {"gc", task->gc_ms, "ms"},
                                    {"read", task->read_bytes, "bytes"},
                                    {"records", task->read_records, "records"},
                                    {"spill", task->disk_spill_bytes, "bytes"}};
    finding_evidence(findings, SUBJECT_TASK, str_of(key), role, cells, ARRAY_LENGTH(cells));
    if (task->executor < judged->facts->executor_count)
        finding_evidence(findings, SUBJECT_EXECUTOR, executor_name(judged, task->executor), "context", NULL, 0);
}

void evidence_stage(struct findings *findings, const struct stage_view *view, const char *role)
{
    char key[48];
    snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(view->fact));
    struct evidence_cell cells[] = {{"tasks", view->count, "count"},
                                    {"wall", view->wall_ms, "ms"},
                                    {"task_time", view->occupancy_ms, "ms"},
                                    {"slots", view->slots, "slots"},
                                    {"median", view->stats->of[STAT_OCCUPANCY].p50, "ms"},
                                    {"max", view->stats->of[STAT_OCCUPANCY].max, "ms"}};
    finding_evidence(findings, SUBJECT_STAGE, str_of(key), role, cells, ARRAY_LENGTH(cells));
}

void filter_outliers(struct findings *findings, const struct stage_view *view)
{
    char least[32];
    double cut = view->stats->outliers.cut_ms;
    if (!(cut >= 0 && cut < 1e15))
        return;
    snprintf(least, sizeof least, "%.0f", floor(cut) + 1);
    finding_filter(findings, "status", STR_LIT("success"));
    finding_filter(findings, "minDurationMs", str_of(least));
}

void formula_share(struct findings *findings, const struct rule *rule, double part_ms, double whole_ms)
{
    FORMULA(findings, NULL, rule->ladder.step[0], NULL, {"part", part_ms, "ms"}, {"whole", whole_ms, "ms"});
}

/* No JVM starts without a heap: 0 is no setting. */
static int64_t heap_bytes(const struct facts *facts, const char *setting)
{
    int64_t bytes = conf_bytes(facts_conf(facts, setting), BYTES_PER_MIB);
    return known(bytes) && bytes > 0 ? bytes : DEFAULT_HEAP_BYTES;
}

int64_t driver_heap_bytes(const struct facts *facts)
{
    return heap_bytes(facts, "spark.driver.memory");
}

int64_t executor_heap_bytes(const struct facts *facts)
{
    return heap_bytes(facts, facts->is_local ? "spark.driver.memory" : "spark.executor.memory");
}

double unified_memory_bytes(const struct facts *facts)
{
    double fraction = conf_number(facts_conf(facts, "spark.memory.fraction"));
    int64_t heap = executor_heap_bytes(facts);
    return MAX(1.0, (double)(heap > RESERVED_BYTES ? heap - RESERVED_BYTES : 0) * (fraction > 0 && fraction <= 1 ? fraction : DEFAULT_MEMORY_FRACTION));
}

bool dynamic_allocation(const struct facts *facts)
{
    return conf_true(facts_conf(facts, "spark.dynamicAllocation.enabled"), false);
}
