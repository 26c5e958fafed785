/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "tests/unit/analysis/run_records.h"

static struct run_match matched(const struct run_record *base, const struct run_record *new_run)
{
    struct run_match match;
    assert_int_equal(run_match_make(&match, base, new_run, NULL), ERR_OK);
    return match;
}

static void assert_pairs(const uint32_t *in_new, const uint32_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(in_new[i], expected[i]);
}

static struct run_stage of_query(struct run_stage stage, int64_t execution_id, int64_t job_id)
{
    stage.execution_id = execution_id;
    stage.job_id = job_id;
    return stage;
}

/* Ids mean nothing; what is done does, in order. */
static void stages_with_other_ids_match_by_fingerprint_in_order(void **state)
{
    const struct run_stage old[] = {stage_of(0, 11, 100), stage_of(1, 22, 100), stage_of(2, 11, 100)},
                           now[] = {stage_of(40, 11, 100), stage_of(50, 11, 100), stage_of(60, 22, 100)};
    struct run_record base = record_of(1000, old, 3, NULL, 0), new_run = record_of(1000, now, 3, NULL, 0);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    assert_pairs(match.stage_in_new, (uint32_t[]){0, 2, 1}, 3);
    assert_pairs(match.stage_in_base, (uint32_t[]){0, 2, 1}, 3);
    assert_float_equal(match.share, 1, 0);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

/* The second query of either run has the same stage: its stage goes with its own query, although the first one's is left. */
static void stages_of_a_query_go_with_their_query(void **state)
{
    const struct run_query old_queries[] = {{.execution_id = 0, .first = 1}, {.execution_id = 1, .first = 2}},
                           now_queries[] = {{.execution_id = 5, .first = 2}, {.execution_id = 6, .first = 1}};
    const struct run_stage old[] = {of_query(stage_of(0, 11, 100), 0, 0), of_query(stage_of(1, 11, 100), 1, 1)},
                           now[] = {of_query(stage_of(7, 11, 100), 5, 3), of_query(stage_of(8, 11, 100), 6, 4)};
    struct run_record base = record_of(1000, old, 2, old_queries, 2), new_run = record_of(1000, now, 2, now_queries, 2);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    assert_pairs(match.query_in_new, (uint32_t[]){1, 0}, 2);
    assert_pairs(match.stage_in_new, (uint32_t[]){1, 0}, 2);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

static void queries_of_one_place_match_when_their_plan_changed(void **state)
{
    const struct run_query old[] = {{.execution_id = 0, .first = 1, .description = STR_LIT("collect at job.py:375")},
                                    {.execution_id = 1, .first = 2, .description = STR_LIT("save at job.py:9")}},
                           now[] = {{.execution_id = 0, .first = 9, .description = STR_LIT("save at job.py:11")},
                                    {.execution_id = 1, .first = 8, .description = STR_LIT("collect at job.py:380")}};
    struct run_record base = record_of(1000, NULL, 0, old, 2), new_run = record_of(1000, NULL, 0, now, 2);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    assert_pairs(match.query_in_new, (uint32_t[]){1, 0}, 2);
    assert_float_equal(match.share, 1, 0); /* no task time */
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

/* Between the stages 11 and 22 that both have lies one whose fingerprint changed, and one more after them: each goes with the one in its place. */
static void changed_stages_match_by_call_site_and_place(void **state)
{
    const struct run_stage old[] = {stage_of(0, 11, 100), stage_of(1, 33, 100), stage_of(2, 22, 100), stage_of(3, 34, 100)},
                           now[] = {stage_of(0, 11, 100), stage_of(1, 44, 100), stage_of(2, 22, 100), stage_of(3, 45, 100)};
    struct run_record base = record_of(1000, old, 4, NULL, 0), new_run = record_of(1000, now, 4, NULL, 0);
    (void)state;
    new_run.stages[3].call_site = base.stages[3].call_site;
    struct run_match match = matched(&base, &new_run);
    assert_pairs(match.stage_in_new, (uint32_t[]){0, 1, 2, 3}, 4);
    run_match_dispose(&match);
    new_run.stages[1].call_site = 99; /* another place in the program */
    match = matched(&base, &new_run);
    assert_pairs(match.stage_in_new, (uint32_t[]){0, NO_MATCH, 2, 3}, 4);
    /* 100 of 400 in either run have no counterpart. */
    assert_float_equal(match.share, 0.75, 1e-9);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

static struct run_stage reading(struct run_stage stage, double bytes)
{
    stage.bytes = bytes;
    return stage;
}

/* A join that lost its broadcast (the pair regression_base and regression_slow): the small side was read first, is read second now, and there is a stage for the join. What reads as much as before is
 * the same; a table that doubled since is still in its place. */
static void changed_stages_go_with_those_that_read_as_much(void **state)
{
    const struct run_stage old[] = {reading(stage_of(2, 31, 100), 7885), reading(stage_of(3, 32, 100), 300940000)},
                           now[] = {reading(stage_of(2, 41, 100), 300940000), reading(stage_of(3, 42, 100), 7885), reading(stage_of(6, 43, 100), 327155712)},
                           grown[] = {reading(stage_of(2, 41, 100), 20000), reading(stage_of(3, 42, 100), 900000000)};
    struct run_record base = record_of(1000, old, 2, NULL, 0), new_run = record_of(1000, now, 3, NULL, 0), larger = record_of(1000, grown, 2, NULL, 0);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    assert_pairs(match.stage_in_new, (uint32_t[]){1, 0}, 2);
    assert_pairs(match.stage_in_base, (uint32_t[]){1, 0, NO_MATCH}, 3);
    run_match_dispose(&match);
    match = matched(&base, &larger);
    assert_pairs(match.stage_in_new, (uint32_t[]){0, 1}, 2);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
    run_record_dispose(&larger);
}

/* A place is one between common stages in the same order: 22 and 11 changed places, so only one of them is an anchor. */
static void survives_stages_in_another_order(void **state)
{
    const struct run_stage old[] = {stage_of(0, 11, 100), stage_of(1, 33, 100), stage_of(2, 22, 100)}, now[] = {stage_of(0, 22, 100), stage_of(1, 44, 100), stage_of(2, 11, 100)};
    struct run_record base = record_of(1000, old, 3, NULL, 0), new_run = record_of(1000, now, 3, NULL, 0);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    assert_int_equal(match.stage_in_new[0], 2);
    assert_int_equal(match.stage_in_new[2], 0);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

static void different_programs_have_nothing_in_common(void **state)
{
    const struct run_stage old[] = {stage_of(0, 11, 100)}, now[] = {stage_of(0, 22, 100)};
    struct run_record base = record_of(1000, old, 1, NULL, 0), new_run = record_of(1000, now, 1, NULL, 0);
    (void)state;
    new_run.stages[0].call_site = 1;
    struct run_match match = matched(&base, &new_run);
    assert_int_equal(match.stage_in_new[0], NO_MATCH);
    assert_float_equal(match.share, 0, 0);
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

static void keys_of_subjects_become_the_new_runs(void **state)
{
    const struct run_query queries[] = {{.execution_id = 0, .first = 1}}, new_queries[] = {{.execution_id = 4, .first = 1}};
    const struct run_stage old[] = {of_query(stage_of(3, 11, 100), 0, 2)}, now[] = {of_query(stage_of(30, 11, 100), 4, 20)};
    static const struct {
        enum subject_kind kind;
        const char *base, *now; /* NULL: no counterpart */
    } table[] = {{SUBJECT_STAGE, "3.1", "30.1"}, {SUBJECT_STAGE, "4.0", NULL}, {SUBJECT_JOB, "2", "20"},   {SUBJECT_JOB, "3", NULL}, {SUBJECT_SQL, "0", "4"},
                 {SUBJECT_NODE, "0/7", "4/7"},   {SUBJECT_NODE, "junk", NULL}, {SUBJECT_HOST, "h1", "h1"}, {SUBJECT_APP, "-", "-"},  {SUBJECT_TASK, "5", NULL}};
    struct run_record base = record_of(1000, old, 1, queries, 1), new_run = record_of(1000, now, 1, new_queries, 1);
    (void)state;
    struct run_match match = matched(&base, &new_run);
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        struct buf out;
        buf_init(&out, 100);
        assert_int_equal(run_match_subject(&match, &base, &new_run, table[i].kind, str_of(table[i].base), &out), table[i].now != NULL);
        if (table[i].now)
            assert_string_equal(out.data, table[i].now);
        buf_dispose(&out);
    }
    run_match_dispose(&match);
    run_record_dispose(&base);
    run_record_dispose(&new_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_with_other_ids_match_by_fingerprint_in_order), cmocka_unit_test(stages_of_a_query_go_with_their_query),
        cmocka_unit_test(queries_of_one_place_match_when_their_plan_changed),  cmocka_unit_test(changed_stages_match_by_call_site_and_place),
        cmocka_unit_test(changed_stages_go_with_those_that_read_as_much),      cmocka_unit_test(survives_stages_in_another_order),
        cmocka_unit_test(different_programs_have_nothing_in_common),           cmocka_unit_test(keys_of_subjects_become_the_new_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
