/* SPDX-License-Identifier: Apache-2.0
 *
 * One stage attempt as rules look at it: everything that is known of it side by side, and the words they all use of it. Borrowed from `judged`. */
#ifndef ANALYSIS_STAGE_VIEW_H
#define ANALYSIS_STAGE_VIEW_H

#include "analysis/judge.h"

struct stage_view {
    uint32_t position;
    const struct stage_fact *fact;
    const struct stage_account *account;
    const struct stage_stats *stats;
    const struct stage_extra *extra;
    double count;                    /* winners with metrics, ≥ 1 */
    double slots;                    /* S_s, ≥ 1 */
    double wall_ms;                  /* W_s: first launch → end */
    double occupancy_ms;             /* Σ o' of the winners */
    double read_bytes, written_bytes;/* input + shuffle read, output + shuffle write */
};

/* False: nothing to judge: its end was not read, or no winner has metrics. */
bool stage_view(const struct judged *judged, uint32_t position, struct stage_view *ret);

/* STAGE.FEW_TASKS: a shorter stage does not matter. */
#define FEW_LEAST_WALL_MS 3000.0

#define STAGE_KEY "%lld.%lld"
#define STAGE_KEY_OF(stage) (long long)(stage)->stage_id, (long long)(stage)->attempt

/* findings_consider of a stage, with its mutes, its place, and {s} in its sentence. `mute`: the rule's own; the common ones go before it. NULL: nothing to do. */
struct finding *consider_stage(const struct judged *judged, struct findings *findings, const struct rule *rule, const struct stage_view *view, enum mute mute, double measure, double saving_ms);

/* Evidence: a task, with its duration, what it read, its executor; the stage itself with its tasks and wall time. */
void evidence_task(const struct judged *judged, struct findings *findings, const struct extra_task *task, const char *role);
void evidence_stage(struct findings *findings, const struct stage_view *view, const char *role);
/* The filter of findings about a stage's outliers (5.2): winners that took longer than its cut. */
void filter_outliers(struct findings *findings, const struct stage_view *view);
/* The formula of rules that measure a share of times: numbers part and whole. */
void formula_share(struct findings *findings, const struct rule *rule, double part_ms, double whole_ms);
/* The text `of what` has: an executor's id. */
struct str executor_name(const struct judged *judged, uint32_t executor);
/* spark.executor.memory in bytes; in local mode spark.driver.memory. Spark's own default of 1 GiB where it is not set. */
int64_t executor_heap_bytes(const struct facts *facts);
int64_t driver_heap_bytes(const struct facts *facts);
/* What execution and storage share: (heap − 300 MiB) × spark.memory.fraction. */
double unified_memory_bytes(const struct facts *facts);
bool dynamic_allocation(const struct facts *facts);

#endif
