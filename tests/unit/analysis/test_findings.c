/* SPDX-License-Identifier: Apache-2.0
 *
 * The list that rules write to, and the order in which it is shown. */
#include "analysis/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/finding_order.h"

static struct arena arena;

static void assert_text(struct str text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

static void texts(void **state)
{
    struct findings list = {.arena = &arena};
    (void)state;
    struct finding *finding = findings_add(&list, "STAGE.SPILL", SUBJECT_STAGE, "%d.%d", 3, 1);
    finding->measure = 0.5;
    finding_arg(&list, "disk", 1024, "bytes");
    finding_arg(&list, "none", (double)NAN, "ms");
    finding_arg_text(&list, "s", STR_LIT("3.1 \"x\"\n"));
    finding_measure(&list, "share", 0.25, "share");
    finding_evidence(&list, SUBJECT_TASK, STR_LIT("7"), "culprit", (struct evidence_cell[]){{"run", 12.5, "ms"}}, 1);
    FORMULA(&list, "other", 0.1, "DE", {"data", 2048, "bytes"});
    findings_close(&list);
    assert_int_equal(list.count, 1);
    assert_text(list.items[0].subject_key, "3.1");
    assert_text(list.items[0].args, "{\"disk\":{\"v\":1024,\"u\":\"bytes\"},\"none\":{\"v\":null,\"u\":\"ms\"},\"s\":{\"v\":\"3.1 \\\"x\\\"\\n\"}}");
    assert_text(list.items[0].measures, "{\"share\":{\"v\":0.25,\"u\":\"share\"}}");
    assert_text(list.items[0].evidence, "[{\"kind\":\"task\",\"key\":\"7\",\"role\":\"culprit\",\"cols\":[{\"n\":\"run\",\"v\":12.5,\"u\":\"ms\"}]},"
                                        "{\"formula\":{\"variant\":\"other\",\"numbers\":{\"data\":{\"v\":2048,\"u\":\"bytes\"}}},\"threshold\":0.1,\"source\":\"DE\"}]");
    assert_false(list.out_of_memory);
    findings_dispose(&list);
}

static void evidence_is_bounded(void **state)
{
    struct findings list = {.arena = &arena};
    (void)state;
    findings_add(&list, "STAGE.SPILL", SUBJECT_STAGE, "0.0");
    for (int i = 0; i < 200; i++)
        finding_evidence(&list, SUBJECT_TASK, STR_LIT("1"), "peer", NULL, 0);
    findings_close(&list);
    size_t rows = 0;
    for (const char *p = list.items[0].evidence.ptr, *end = p + list.items[0].evidence.len; p < end; p++)
        rows += *p == '{';
    assert_int_equal(rows, FINDING_EVIDENCE_MAX);
    findings_dispose(&list);
}

static void changes_grow(void **state)
{
    struct findings list = {.arena = &arena};
    (void)state;
    struct finding *finding = findings_add(&list, "STAGE.WARMUP", SUBJECT_APP, "-");
    for (uint32_t i = 0; i < 100; i++)
        finding_change(&list, "W1", BAND_WEAK, (struct change){.kind = CHANGE_CAP, .stage = i});
    assert_int_equal(finding->change_count, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(finding->changes[i].stage, i);
    assert_true(finding->weak);
    assert_string_equal(finding->scenario, "W1");
    findings_dispose(&list);
}

/* Of ten thousand stages that fire, those with most at stake are let through in the end, and few on the way. */
static void only_the_best_are_let_through(void **state)
{
    struct findings list = {.arena = &arena};
    const struct rule *rule = rule_find(STR_LIT("STAGE.GC_HIGH"));
    (void)state;
    for (int i = 0; i < 10000; i++) {
        int saving = i * 7919 % 10000; /* each number below 10000 once, in no order */
        findings_consider(&list, rule, MUTE_NONE, 0.3, saving, SUBJECT_STAGE, "%d.0", i);
    }
    size_t best = 0;
    for (size_t i = 0; i < list.count; i++)
        best += list.items[i].local_saving_ms >= 10000 - FINDINGS_PER_RULE;
    assert_int_equal(best, FINDINGS_PER_RULE);
    assert_true(list.count < 4 * FINDINGS_PER_RULE); /* 500 (1 + ln 20) = 1998 in random order */
    assert_int_equal(findings_refused(&list, rule), 10000 - list.count);
    findings_dispose(&list);
}

/* 1.5: of subjects that do not fire the nearest is wanted; those too small to be judged count apart. */
static void the_nearest_is_let_through(void **state)
{
    struct findings list = {.arena = &arena};
    const struct rule *rule = rule_find(STR_LIT("STAGE.GC_HIGH"));
    (void)state;
    assert_non_null(findings_consider(&list, rule, MUTE_NONE, 0.01, 0, SUBJECT_STAGE, "0.0"));
    assert_null(findings_consider(&list, rule, MUTE_NONE, 0.01, 0, SUBJECT_STAGE, "1.0"));
    assert_null(findings_consider(&list, rule, MUTE_NONE, (double)NAN, 0, SUBJECT_STAGE, "2.0"));
    assert_non_null(findings_consider(&list, rule, MUTE_NONE, 0.04, 0, SUBJECT_STAGE, "3.0"));
    assert_non_null(findings_consider(&list, rule, MUTE_TINY_STAGE, 0.5, 9000, SUBJECT_STAGE, "4.0"));
    assert_null(findings_consider(&list, rule, MUTE_TINY_STAGE, 0.4, 9000, SUBJECT_STAGE, "5.0"));
    assert_non_null(findings_consider(&list, rule, MUTE_WARMUP, 0.05, 0, SUBJECT_STAGE, "6.0")); /* muted, and to be seen */
    assert_null(findings_consider(&list, rule, MUTE_NONE, 0.045, 0, SUBJECT_STAGE, "7.0"));      /* the rule fires elsewhere */
    assert_int_equal(list.count, 4);
    findings_dispose(&list);
}

static void keys(void **state)
{
    (void)state;
    assert_true(subject_key_compare(STR_LIT("2.0"), STR_LIT("10.0")) < 0);
    assert_true(subject_key_compare(STR_LIT("2.1"), STR_LIT("2.0")) > 0);
    assert_int_equal(subject_key_compare(STR_LIT("007"), STR_LIT("7")), 0);
    assert_true(subject_key_compare(STR_LIT("a"), STR_LIT("ab")) < 0);
    assert_true(subject_key_compare(STR_LIT("99999999999999999999998"), STR_LIT("99999999999999999999999")) < 0);
    assert_int_equal(subject_key_compare(STR_LIT(""), STR_LIT("")), 0);
}

/* 8.2: grade, price, rule, subject; unpriced ones behind priced ones, failures before all of their grade; what is muted comes last. */
static void order(void **state)
{
    struct findings list = {.arena = &arena};
    const int64_t wall_ms = 20000;
    (void)state;
    static const struct {
        const char *rule, *key;
        double measure;
        int64_t price_ms;
        enum mute mute;
    } in[] = {{"APP.LOW_UTIL", "a", 0.75, UNKNOWN, MUTE_NONE},  {"STAGE.STRAGGLER", "10.0", 40, 5000, MUTE_NONE}, {"STAGE.STRAGGLER", "2.0", 40, 5000, MUTE_NONE},
              {"STAGE.SKEW_DATA", "1.0", 40, 12000, MUTE_NONE}, {"JOB.FAILED", "1", 0.4, UNKNOWN, MUTE_NONE},     {"STAGE.GC_HIGH", "3.0", 0.4, 6000, MUTE_NONE},
              {"STAGE.SPILL", "4.0", 3, 19000, MUTE_WARMUP},    {"LOG.CLOCK", "-", 0, UNKNOWN, MUTE_NONE}};
    static const char *const out[] = {"STAGE.SKEW_DATA 1.0",  "JOB.FAILED 1",   "STAGE.GC_HIGH 3.0", "STAGE.STRAGGLER 2.0",
                                      "STAGE.STRAGGLER 10.0", "APP.LOW_UTIL a", "STAGE.SPILL 4.0",   "LOG.CLOCK -"};
    for (size_t i = 0; i < ARRAY_LENGTH(in); i++) {
        struct finding *finding = findings_add(&list, in[i].rule, SUBJECT_STAGE, "%s", in[i].key);
        finding->measure = in[i].measure;
        finding->price.ms = in[i].price_ms;
        finding->scenario = known(in[i].price_ms) ? "W1" : NULL;
        finding->mute = in[i].mute;
    }
    findings_close(&list);
    findings_sort(&list, NULL, wall_ms);
    for (size_t i = 0; i < ARRAY_LENGTH(out); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s %.*s", list.items[i].rule->id, (int)list.items[i].subject_key.len, list.items[i].subject_key.ptr);
        assert_string_equal(name, out[i]);
    }
    findings_dispose(&list);
}

int main(void)
{
    arena_init(&arena, (size_t)64 << 20);
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts),
                                       cmocka_unit_test(evidence_is_bounded),
                                       cmocka_unit_test(changes_grow),
                                       cmocka_unit_test(only_the_best_are_let_through),
                                       cmocka_unit_test(the_nearest_is_let_through),
                                       cmocka_unit_test(keys),
                                       cmocka_unit_test(order)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_dispose(&arena);
    return failed;
}
