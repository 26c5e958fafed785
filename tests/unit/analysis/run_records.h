/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs made by hand, for tests of matching and comparison: stages with the numbers that matter, everything else as if nothing had happened. */
#ifndef TESTS_RUN_RECORDS_H
#define TESTS_RUN_RECORDS_H

#include <math.h>
#include <string.h>

#include "analysis/run_record.h"
#include "base/mem.h"

/* `stages` and `queries` are copied; dispose with run_record_dispose. */
static struct run_record record_of(int64_t wall_ms, const struct run_stage *stages, size_t stage_count, const struct run_query *queries, size_t query_count)
{
    struct run_record record = {.wall_ms = wall_ms, .completeness = 100, .slot_peak = 4, .lost_ms = 0, .stage_count = stage_count, .query_count = query_count};
    arena_init(&record.arena, RUN_RECORD_BYTES);
    record.stages = mem_array(stage_count + 1, sizeof *record.stages);
    record.queries = mem_array(query_count + 1, sizeof *record.queries);
    if (stage_count)
        memcpy(record.stages, stages, stage_count * sizeof *stages);
    if (query_count)
        memcpy(record.queries, queries, query_count * sizeof *queries);
    return record;
}

/* A stage of 10 tasks on 4 slots that read 1000 bytes, outside of queries. */
static struct run_stage stage_of(int64_t stage_id, int64_t fingerprint, int64_t chain_ms)
{
    struct run_stage stage = {.stage_id = stage_id,
                              .fingerprint = fingerprint,
                              .call_site = 7,
                              .name = STR_LIT("collect at job.py:1"),
                              .job_id = 0,
                              .execution_id = UNKNOWN,
                              .chain_ms = chain_ms,
                              .work_ms = chain_ms * 4,
                              .wall_ms = chain_ms,
                              .task_count = 10,
                              .bytes = 1000,
                              .records = 100,
                              .cpu_ms = 1000,
                              .slots = 4};
    return stage;
}

#endif
