/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold of all of analysis together – facts to findings to reports – whatever the rows say: ten thousand random applications. */
#include "random_app.h"

#include <math.h>

#include "analysis/analyse.h"
#include "analysis/report.h"
#include "analysis/verdict.h"

#ifdef __SANITIZE_ADDRESS__
#define RUNS 1000 /* many times as slow, and watched at every step */
#else
#define RUNS 10000
#endif

static uint64_t run;

#define EXPECT(condition, ...)                                  \
    do {                                                        \
        if (!(condition)) {                                     \
            print_error("run %llu: ", (unsigned long long)run); \
            fail_msg(__VA_ARGS__);                              \
        }                                                       \
    } while (0)

#define MUST(call) EXPECT((call) == ERR_OK, "%s", err.message)

static void analyse_run(void)
{
    struct err err = {0};
    MUST(analyse(&app_db, &err));
}

/* Rows of which a query finds any are wrong; the first column says which. */
static void expect_none(const char *what, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(db_prepare(&app_db, &stmt, sql, NULL), ERR_OK);
    EXPECT(db_step(stmt, NULL) == ERR_EOF, "%s: %.*s", what, (int)db_str(stmt, 0).len, db_str(stmt, 0).ptr);
    db_finalize(stmt);
}

/* Numbers are numbers (infinities are caught here; SQLite keeps NaN as NULL, so what every run has must be there), no time is below nothing, prices lie in their bands and in the run, texts are JSON. */
static void check_rows(void)
{
    expect_none(
        "price",
        "SELECT rule_id FROM finding, analysis WHERE NOT (price_low_ms BETWEEN 0 AND price_ms AND price_ms <= price_high_ms) OR price_ms > wall_ms OR measure - measure <> 0 OR measure < 0");
    expect_none("JSON", "SELECT rule_id FROM finding WHERE NOT json_valid(args) OR NOT json_valid(measures) OR NOT json_valid(evidence)");
    expect_none(
        "argument",
        "SELECT rule_id || ' ' || a.key || ' ' || a.value FROM finding, json_each(args) AS a WHERE a.value ->> 'u' IN ('ms', 's', 'ns', 'bytes', 'count', 'share', 'records') AND "
        "((a.value ->> 'v') < 0 OR (a.value ->> 'v') - (a.value ->> 'v') <> 0)");
    expect_none(
        "measure",
        "SELECT rule_id || ' ' || a.key || ' ' || a.value FROM finding, json_each(measures) AS a WHERE a.value ->> 'u' IN ('ms', 's', 'ns', 'bytes', 'count', 'share', 'records') AND "
        "((a.value ->> 'v') < 0 OR (a.value ->> 'v') - (a.value ->> 'v') <> 0)");
    expect_none(
        "evidence",
        "SELECT rule_id || ' ' || c.value FROM finding, json_each(evidence) AS e, json_each(e.value, '$.cols') AS c WHERE c.value ->> 'u' IN ('ms', 's', 'ns') AND (c.value ->> 'v') < 0");
    expect_none("number", "SELECT 'simulation' FROM analysis WHERE simulated_ms IS NULL OR simulation_error IS NULL OR bound_infinite_ms IS NULL OR bound_work_ms IS NULL UNION ALL "
                          "SELECT rule_id FROM finding WHERE (price_ms IS NULL) <> (price_low_ms IS NULL) OR (price_ms IS NULL) <> (price_high_ms IS NULL)");
    expect_none("account", "SELECT bucket FROM account WHERE slot_ms < 0 OR wall_ms < 0");
    expect_none("gap", "SELECT kind FROM driver_gap WHERE to_ms < from_ms");
    expect_none("chain", "SELECT label FROM chain_segment WHERE to_ms <= from_ms");
    expect_none(
        "stage",
        "SELECT stage_ref FROM stage_analysis WHERE on_path_ms < 0 OR base_ms < 0 OR rec_cap_ms < 0 OR rec_spread_ms < 0 OR gc_share NOT BETWEEN 0 AND 1 OR cause_share NOT BETWEEN 0 AND 1");
    expect_none("cache", "SELECT rdd_id FROM cache_audit WHERE build_ms < 0 OR saved_ms < 0 OR held_byte_ms < 0 OR fraction NOT BETWEEN 0 AND 1");
    expect_none("lost work", "SELECT cause FROM lost_cause WHERE slot_ms < 0 OR price_ms < 0");
    /* The chain is the wall. */
    expect_none("chain's length", "SELECT wall_ms FROM analysis WHERE wall_ms <> (SELECT coalesce(sum(to_ms - from_ms), 0) FROM chain_segment)");
    /* No scenario, and with no number of slots, is below the longest chain of work; findings together never save more than there is. */
    expect_none("bound", "SELECT simulated_ms FROM analysis WHERE simulated_ms < bound_infinite_ms OR bound_infinite_ms < 0 OR bound_work_ms < 0");
    expect_none("what-if", "SELECT scenario || subject FROM what_if, analysis WHERE low_ms < 0 OR NOT what_if.wall_ms BETWEEN low_ms AND high_ms OR "
                           "(scenario IN ('W9', 'W10') AND what_if.wall_ms < analysis.wall_ms - simulated_ms + bound_infinite_ms - 1)");
    expect_none(
        "joint price",
        "SELECT k || ' ' || saving_ms || ' of ' || wall_ms || ' sim ' || simulated_ms||' err '||simulation_error||' jobs_ms '||jobs_ms||' begin '||begin_ms||' end '||end_ms||(select group_concat(from_ms||'-'||to_ms||label) FROM chain_segment)|| ' finding ' || (SELECT group_concat(rule_id || price_ms || scenario) FROM finding WHERE price_ms > 0) FROM joint_price, analysis WHERE saving_ms NOT BETWEEN 0 AND wall_ms");
}

static bool is_given(const char *placeholder, const struct word_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(args[i].name, (struct str){placeholder, strcspn(placeholder, "?}")}))
            return true;
    return false;
}

/* What is shown names every placeholder of its sentence: a value may be unknown, never forgotten. */
static void check_sentence(const struct report_finding *found, enum lang lang, const struct word_arg *args, size_t count)
{
    const char *part = message(lang, "rules", str_of(found->finding.rule->id), "shorter") ? "shorter" : "sentence";
    const char *const texts[] = {message(lang, "rules", str_of(found->finding.rule->id), part), message(lang, "rules", str_of(found->finding.rule->id), "do")};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        for (const char *p = strchr(texts[i], '{'); p; p = strchr(p + 1, '{'))
            EXPECT(is_given(p + 1, args, count), "%s has no value for %.20s", found->finding.rule->id, p);
}

static void check_report(struct report *report, enum lang lang, enum report_format format)
{
    struct err err = {0};
    struct buf out;
    buf_init(&out, 1 << 24);
    MUST(verdict_app(report, lang, &out, &err));
    EXPECT(out.len, "no verdict");
    buf_clear(&out);
    for (size_t i = 0; i < report->finding_count; i++) {
        struct word_arg args[REPORT_ARGS];
        size_t count;
        MUST(report_args(report, lang, &report->findings[i].finding, args, &count, &err));
        if (report->findings[i].is_shown)
            check_sentence(&report->findings[i], lang, args, count);
        struct report_evidence evidence;
        MUST(report_evidence(report, lang, &report->findings[i].finding, args, count, &evidence, &err));
        EXPECT(!report->findings[i].is_shown || (evidence.row_count && evidence.formula.len), "%s shows no evidence", report->findings[i].finding.rule->id);
        /* Numbers beyond all measure are a dash, too. */
        EXPECT(!evidence.formula.len || !(report->findings[i].finding.measure < 1e9) || !memmem(evidence.formula.ptr, evidence.formula.len, "= —", 5), "%s: %.*s",
               report->findings[i].finding.rule->id, (int)evidence.formula.len, evidence.formula.ptr);
    }
    const struct report_style style = {.format = format, .lang = lang};
    MUST(report_write(report, &style, &out, &err));
    buf_char(&out, '\0');
    if (format == REPORT_JSON) {
        sqlite3_stmt *stmt = NULL;
        assert_int_equal(db_prepare(&app_db, &stmt, "SELECT json_valid(?)", NULL), ERR_OK);
        db_bind_str(stmt, 1, (struct str){out.data, out.len - 1});
        EXPECT(db_step(stmt, NULL) == ERR_OK && db_i64(stmt, 0) == 1, "the report is no JSON");
        db_finalize(stmt);
    } else {
        const char *text = format == REPORT_HTML ? strstr(out.data, "</style>") : out.data;
        EXPECT(text && !strstr(text, " nan") && !strstr(text, " inf ") && !strstr(text, "-0 ms"), "the report holds what is no number");
    }
    buf_dispose(&out);
}

/* What findings say, without the texts around their numbers: sums of doubles in another order may differ in the last place. */
struct told {
    char what[200];
    double measure, price_ms;
};
static struct told told[2][1000];

static size_t tell(struct told *ret)
{
    sqlite3_stmt *stmt = NULL;
    size_t count = 0;
    assert_int_equal(
        db_prepare(
            &app_db, &stmt,
            "SELECT rule_id || ' ' || subject_kind || ' ' || subject_key || json_array(mute, suppressed_by, confidence, grade_shift, at_most, at_least, cause, scenario), measure, price_ms "
            "FROM finding ORDER BY 1",
            NULL),
        ERR_OK);
    for (; db_step(stmt, NULL) == ERR_OK; count++) {
        assert_true(count < ARRAY_LENGTH(told[0]));
        snprintf(ret[count].what, sizeof ret[count].what, "%.*s", (int)db_str(stmt, 0).len, db_str(stmt, 0).ptr);
        ret[count].measure = db_f64(stmt, 1);
        ret[count].price_ms = db_f64(stmt, 2);
    }
    db_finalize(stmt);
    return count;
}

static bool is_near(double a, double b, double most)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= most;
}

static void check_order_does_not_matter(void)
{
    size_t count = tell(told[0]);
    app_sql("DELETE FROM task_column");
    random_shuffle_tasks();
    app_pack_chunks(1 + (size_t)random_to(5));
    analyse_run();
    EXPECT(tell(told[1]) == count, "other findings in another order");
    for (size_t i = 0; i < count; i++) {
        const struct told *a = &told[0][i], *b = &told[1][i];
        EXPECT(strcmp(a->what, b->what) == 0 && is_near(a->measure, b->measure, 1e-9 * fabs(a->measure)) && is_near(a->price_ms, b->price_ms, 1),
               "%s %g %g, in another order %s %g %g", a->what, a->measure, a->price_ms, b->what, b->measure, b->price_ms);
    }
}

static void any_application_is_judged_and_told(void **state)
{
    (void)state;
    for (run = 1; run <= RUNS; run++) {
        struct err err = {0};
        struct report report;
        random_begin(run);
        random_run();
        random_rest();
        random_drop_twins();
        app_pack();
        analyse_run();
        check_rows();
        MUST(report_load(&report, &app_db, NULL, &err));
        check_report(&report, run % 3 ? LANG_EN : LANG_ZH_CN, (enum report_format)(run % REPORT_FORMAT_COUNT));
        report_dispose(&report);
        if (run % 4 == 0)
            check_order_does_not_matter();
        app_clear(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_application_is_judged_and_told),
    };
    return cmocka_run_group_tests(tests, app_open, app_close);
}
