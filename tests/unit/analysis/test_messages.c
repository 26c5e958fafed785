/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/account.h"
#include "analysis/error_text.h"
#include "analysis/finding.h"
#include "analysis/stage_stats.h"
#include "base/attributes.h"

static void assert_said(const char *section, const char *entry, const char *part)
{
    for (int lang = 0; lang < LANG_COUNT; lang++)
        if (!message((enum lang)lang, section, str_of(entry), part))
            fail_msg("%s: no text %s/%s%s%s", lang_names[lang], section, entry, part ? "/" : "", part ? part : "");
}

static void has_the_same_paths_in_both_languages(void **state)
{
    size_t en_count, zh_count;
    const struct message *en = messages_all(LANG_EN, &en_count), *zh = messages_all(LANG_ZH_CN, &zh_count);
    (void)state;
    for (size_t i = 0; i < en_count && i < zh_count; i++)
        assert_string_equal(en[i].path, zh[i].path);
    assert_int_equal(en_count, zh_count);
}

/* "{a}" or "{a?one|many}" stands in `text`. */
static bool has_placeholder(const char *text, const char *name, size_t len)
{
    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{'))
        if (strncmp(p + 1, name, len) == 0 && (p[1 + len] == '}' || p[1 + len] == '?'))
            return true;
    return false;
}

static void assert_placeholders_of(const struct message *one, const struct message *other)
{
    for (const char *p = strchr(one->text, '{'); p; p = strchr(p + 1, '{')) {
        size_t len = strcspn(p + 1, "?}");
        assert_non_null(strchr(p, '}'));
        if (!has_placeholder(other->text, p + 1, len))
            fail_msg("%s: %.*s stands in one language alone", one->path, (int)len, p + 1);
    }
}

static void has_the_same_placeholders_in_both_languages(void **state)
{
    size_t count;
    const struct message *en = messages_all(LANG_EN, &count), *zh = messages_all(LANG_ZH_CN, &count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_placeholders_of(&en[i], &zh[i]);
        assert_placeholders_of(&zh[i], &en[i]);
    }
}

static void says_every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < rule_count; i++) {
        assert_said("rules", rules[i].id, "name");
        assert_said("rules", rules[i].id, "sentence");
        assert_said("rules", rules[i].id, "do");
        assert_said("rules", rules[i].id, "formula");
        assert_said("questions", rules[i].question, NULL);
    }
}

static void says_no_rule_that_is_none(void **state)
{
    size_t count;
    const struct message *all = messages_all(LANG_EN, &count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        if (strncmp(all[i].path, "rules/", 6) == 0)
            assert_non_null(rule_find((struct str){all[i].path + 6, strcspn(all[i].path + 6, "/")}));
}

static void says_every_name(void **state)
{
    (void)state;
    for (int i = 0; i < GRADE_COUNT; i++) {
        assert_said("grades", grade_names[i], NULL);
        assert_said("grade_meanings", grade_names[i], NULL);
    }
    for (int i = 0; i < SUBJECT_KIND_COUNT; i++)
        assert_said("kinds", subject_kind_names[i], NULL);
    for (int i = MUTE_NONE + 1; i < MUTE_COUNT; i++)
        assert_said("mutes", mute_names[i], NULL);
    for (int i = 0; i < BUCKET_COUNT; i++) {
        assert_said("buckets", bucket_names[i], "name");
        assert_said("buckets", bucket_names[i], "meaning");
    }
    for (int i = 0; i < CAUSE_COUNT; i++)
        assert_said("causes", cause_names[i], NULL);
    for (int i = 0; i < STAGE_VERDICT_COUNT; i++)
        assert_said("verdicts", stage_verdict_names[i], NULL);
    for (int i = 0; i < LOST_KIND_COUNT; i++)
        assert_said("lost", lost_kind_names[i], NULL);
}

/* What is copied goes with what is advised. */
static void cures_go_with_causes(void **state)
{
    static const struct {
        const char *rule, *cause, *fixes;
    } cases[] = {{"RDD.RECOMPUTE", NULL, "PERSIST UNPERSIST CHECKPOINT"},
                 {"RDD.RECOMPUTE", "memory_tight", "CHECKPOINT"},
                 {"APP.DRIVER_GAP", "at_the_end", "DYNALLOC"},
                 {"APP.DRIVER_GAP", "between_jobs", "THREADS DYNALLOC"},
                 {"SQL.DPP", "pruned", ""},
                 {"JOB.FAILED", "timeout", "TASK_RETRY"},
                 {"TASK.FAILURES", "python", ""},
                 {"TASK.FAILURES", NULL, ""}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_string_equal(finding_fixes(&(struct finding){.rule = rule_find(str_of(cases[i].rule)), .cause = cases[i].cause}), cases[i].fixes);
    for (int kind = 0; kind < ERROR_KIND_COUNT; kind++)
        if (kind != ERROR_OTHER && kind != ERROR_ASSERTION && kind != ERROR_COMMIT_DENIED)
            assert_said("failures", error_kind_names[kind], NULL);
}

static void knows_nothing_of_foreign_entries(void **state)
{
    char longest[4096];
    (void)state;
    memset(longest, 'x', sizeof longest);
    assert_null(message(LANG_EN, "rules", (struct str){longest, sizeof longest}, "name"));
    assert_null(message(LANG_EN, "rules", STR_LIT("no such"), "name"));
    assert_null(message(LANG_EN, "kinds", STR_NONE, NULL));
    assert_string_equal(message_of(LANG_EN, "grades", "purple"), "purple");
}

static void finds_languages_by_name(void **state)
{
    enum lang lang;
    (void)state;
    assert_true(lang_find(STR_LIT("en"), &lang) && lang == LANG_EN);
    assert_true(lang_find(STR_LIT("zh"), &lang) && lang == LANG_ZH_CN);
    assert_true(lang_find(STR_LIT("ZH-cn"), &lang) && lang == LANG_ZH_CN);
    assert_false(lang_find(STR_LIT("de"), &lang));
    assert_false(lang_find(STR_LIT(""), &lang));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_same_paths_in_both_languages),
        cmocka_unit_test(has_the_same_placeholders_in_both_languages),
        cmocka_unit_test(says_every_rule),
        cmocka_unit_test(says_no_rule_that_is_none),
        cmocka_unit_test(says_every_name),
        cmocka_unit_test(cures_go_with_causes),
        cmocka_unit_test(knows_nothing_of_foreign_entries),
        cmocka_unit_test(finds_languages_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
