/* SPDX-License-Identifier: Apache-2.0
 *
 * Grades, margins and the table of rules (spec/findings.md 1.3, 1.5; appendix B 6). */
#include "analysis/finding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/attributes.h"
#include "base/mem.h"

#define NONE ((double)NAN)

static void ladders(void **state)
{
    (void)state;
    const struct ladder up = {false, {2, 3, 10, 30}}, down = {true, {0.9, 0.75, 0.5, 0.25}}, holes = {false, {NONE, 0.3, 0.6, NONE}}, same = {false, {1, 1, 2, 5}};
    assert_int_equal(ladder_grade(&up, 1.99), GRADE_OK);
    assert_int_equal(ladder_grade(&up, 2), GRADE_INFO);
    assert_int_equal(ladder_grade(&up, 3), GRADE_LOW);
    assert_int_equal(ladder_grade(&up, 29.9), GRADE_MODERATE);
    assert_int_equal(ladder_grade(&up, 30), GRADE_SEVERE);
    assert_int_equal(ladder_grade(&up, NONE), GRADE_OK);
    assert_int_equal(ladder_grade(&down, 0.91), GRADE_OK);
    assert_int_equal(ladder_grade(&down, 0.9), GRADE_INFO);
    assert_int_equal(ladder_grade(&down, 0.5), GRADE_MODERATE);
    assert_int_equal(ladder_grade(&down, 0), GRADE_SEVERE);
    assert_int_equal(ladder_grade(&holes, 0.2), GRADE_OK);
    assert_int_equal(ladder_grade(&holes, 0.3), GRADE_LOW);
    assert_int_equal(ladder_grade(&holes, 1e9), GRADE_MODERATE);
    assert_int_equal(ladder_grade(&same, 1), GRADE_LOW);
}

/* The table of 1.3, both columns, at and below each edge. */
static void prices(void **state)
{
    (void)state;
    const int64_t hour = 3600000, short_run = 20000, half_minute = 30000;
    assert_int_equal(price_grade(199, short_run), GRADE_OK);
    assert_int_equal(price_grade(200, short_run), GRADE_INFO);
    assert_int_equal(price_grade(200, 100 * hour), GRADE_INFO);
    assert_int_equal(price_grade(999, short_run), GRADE_INFO);
    assert_int_equal(price_grade(1000, short_run), GRADE_LOW);
    assert_int_equal(price_grade(1000, 50001), GRADE_INFO);     /* below 2 % of the wall */
    assert_int_equal(price_grade(60000, 10 * hour), GRADE_LOW); /* a minute counts however long it ran */
    assert_int_equal(price_grade(2999, short_run), GRADE_LOW);
    assert_int_equal(price_grade(3000, short_run), GRADE_MODERATE);
    assert_int_equal(price_grade(3000, 60001), GRADE_LOW);
    assert_int_equal(price_grade(300000, 10 * hour), GRADE_MODERATE);
    assert_int_equal(price_grade(9999, half_minute), GRADE_MODERATE);
    assert_int_equal(price_grade(10000, half_minute), GRADE_SEVERE);
    assert_int_equal(price_grade(10000, 100001), GRADE_MODERATE);
    assert_int_equal(price_grade(900000, 10 * hour), GRADE_SEVERE);
}

static struct finding of(const char *id, double measure)
{
    return (struct finding){.rule = rule_find(str_of(id)), .measure = measure, .price = {UNKNOWN, UNKNOWN, UNKNOWN}, .confidence = 2, .at_most = GRADE_SEVERE};
}

static void time_rules_take_the_smaller_of_both(void **state)
{
    (void)state;
    struct finding skew = of("STAGE.SKEW_DATA", 31.6);
    skew.scenario = "W2";
    skew.price.ms = 1420;
    assert_int_equal(finding_grade(&skew, NULL, 20650), GRADE_LOW); /* 11.3, skew_hot_key 3.5.7 */
    skew.price.ms = 680;
    assert_int_equal(finding_grade(&skew, NULL, 20950), GRADE_INFO); /* and 4.3.0 */
    skew.price.ms = UNKNOWN;
    assert_int_equal(finding_grade(&skew, NULL, 20650), GRADE_LOW); /* no price where one should be: 2 */
    skew.scenario = NULL;
    assert_int_equal(finding_grade(&skew, NULL, 20650), GRADE_SEVERE); /* W0: the measure alone */
    skew.at_least = GRADE_INFO;
    skew.scenario = "W2";
    skew.price.ms = 0;
    assert_int_equal(finding_grade(&skew, NULL, 20650), GRADE_INFO);
    skew.measure = NONE;
    assert_int_equal(finding_grade(&skew, NULL, 20650), GRADE_OK);
}

static void shifts_and_caps(void **state)
{
    (void)state;
    struct finding util = of("APP.LOW_UTIL", 0.9);
    assert_int_equal(finding_grade(&util, NULL, 60000), GRADE_MODERATE); /* its rule's cap */
    util.grade_shift = -1;
    assert_int_equal(finding_grade(&util, NULL, 60000), GRADE_MODERATE); /* severe less one */
    util.measure = 0.6;
    assert_int_equal(finding_grade(&util, NULL, 60000), GRADE_INFO);
    util.measure = 0.1;
    util.grade_shift = 1;
    assert_int_equal(finding_grade(&util, NULL, 60000), GRADE_OK); /* what is fine is not raised */
    struct finding failed = of("JOB.FAILED", 0.01);
    failed.at_least = GRADE_SEVERE;
    assert_int_equal(finding_grade(&failed, NULL, 60000), GRADE_SEVERE);
    failed.at_most = GRADE_INFO;
    assert_int_equal(finding_grade(&failed, NULL, 60000), GRADE_INFO);
    failed.at_most = GRADE_SEVERE;
    failed.confidence = 0;
    assert_int_equal(finding_grade(&failed, NULL, 60000), GRADE_LOW); /* 1.8 */
}

/* B 6: other thresholds change grades and margins, and no measure. */
static void regrade(void **state)
{
    (void)state;
    struct ladder *ladders_of_mine = mem_array(rule_count, sizeof *ladders_of_mine);
    for (size_t i = 0; i < rule_count; i++)
        ladders_of_mine[i] = rules[i].ladder;
    struct finding util = of("APP.LOW_UTIL", 0.4);
    const struct profile mine = {ladders_of_mine};
    assert_int_equal(finding_grade(&util, &mine, 60000), GRADE_INFO);
    assert_true(fabs(finding_margin(&util, &mine) - 0.4 / 0.3) < 1e-12);
    ladders_of_mine[util.rule - rules].step[0] = 0.5;
    assert_int_equal(finding_grade(&util, &mine, 60000), GRADE_OK);
    assert_true(fabs(finding_margin(&util, &mine) - (0.8)) < 1e-12);
    assert_int_equal(finding_grade(&util, NULL, 60000), GRADE_INFO);
    assert_true(fabs(util.measure - (0.4)) < 1e-12);
    mem_free(ladders_of_mine);
}

static void margins(void **state)
{
    (void)state;
    struct finding few = of("STAGE.FEW_TASKS", 1.8), gc = of("STAGE.GC_HIGH", 0.1), scaling = of("APP.SCALING", 0.7), failures = of("TASK.FAILURES", 0);
    assert_true(fabs(finding_margin(&few, NULL) - (0.5)) < 1e-12); /* 0.9 ÷ 1.8 */
    few.measure = 0;
    assert_true(fabs(finding_margin(&few, NULL) - (99)) < 1e-12);
    assert_true(fabs(finding_margin(&gc, NULL) - (2)) < 1e-12);
    gc.price.ms = 100;
    assert_true(fabs(finding_margin(&gc, NULL) - (0.5)) < 1e-12); /* the price is nearer to nothing: 0.1 s of 0.2 s */
    gc.measure = NONE;
    assert_true(isnan(finding_margin(&gc, NULL)));
    assert_true(fabs(finding_margin(&scaling, NULL) - (0)) < 1e-12); /* a rule without thresholds */
    assert_true(fabs(finding_margin(&failures, NULL) - (0)) < 1e-12);
    failures.measure = 0.001;
    assert_true(fabs(finding_margin(&failures, NULL) - (99)) < 1e-12);
}

static void every_rule_is_whole(void **state)
{
    static const char *const areas[] = {"APP", "JOB", "STAGE", "TASK", "EXEC", "DRIVER", "RDD", "SQL", "CONF", "STREAM", "LOG", "RUN"};
    (void)state;
    assert_int_equal(rule_count, 86); /* spec/findings.md 7 says 85 and lists 86 */
    for (size_t i = 0; i < rule_count; i++) {
        const char *dot = strchr(rules[i].id, '.');
        bool area = false;
        assert_non_null(dot);
        for (size_t a = 0; a < ARRAY_LENGTH(areas); a++)
            area |= strlen(areas[a]) == (size_t)(dot - rules[i].id) && strncmp(areas[a], rules[i].id, strlen(areas[a])) == 0;
        assert_true(area);
        assert_ptr_equal(rule_find(str_of(rules[i].id)), &rules[i]);
        for (int s = 1; s < 4; s++) { /* steps go one way; false where one is missing */
            double before = rules[i].ladder.step[s - 1], step = rules[i].ladder.step[s];
            assert_false(rules[i].ladder.down ? step > before : step < before);
        }
        assert_true(rules[i].version >= 1 && rules[i].at_most > GRADE_OK);
    }
    assert_null(rule_find(STR_LIT("STAGE.NOTHING")));
}

static void keys_come_apart(void **state)
{
    (void)state;
    int64_t first, second;
    struct str rest;
    assert_true(subject_key_split(STR_LIT("12.3"), '.', &first, &rest) && first == 12 && str_is(rest, ".3"));
    assert_true(subject_key_split(STR_LIT("12"), '.', &first, &rest) && first == 12 && rest.len == 0);
    assert_false(subject_key_split(STR_LIT("driver"), '.', &first, &rest));
    assert_false(subject_key_split(STR_NONE, '.', &first, &rest));
    assert_true(subject_key_pair(STR_LIT("3/17"), '/', &first, &second) && first == 3 && second == 17);
    assert_false(subject_key_pair(STR_LIT("3"), '/', &first, &second));
    assert_false(subject_key_pair(STR_LIT("3/"), '/', &first, &second));
    assert_false(subject_key_pair(STR_LIT("3/a"), '/', &first, &second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ladders),
                                       cmocka_unit_test(prices),
                                       cmocka_unit_test(time_rules_take_the_smaller_of_both),
                                       cmocka_unit_test(shifts_and_caps),
                                       cmocka_unit_test(regrade),
                                       cmocka_unit_test(margins),
                                       cmocka_unit_test(every_rule_is_whole),
                                       cmocka_unit_test(keys_come_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
