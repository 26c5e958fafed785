/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/units.h"
#include "ingest/listing.h"
#include "ingest/pipeline.h"

#define LOG_START "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.7\"}\n"
#define ENVIRONMENT "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{\"spark.app.id\":\"id-of-environment\",\"spark.yarn.queue\":\"root.night\"}}\n"
#define START \
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"nightly\",\"App ID\":\"application_1_2\",\"Timestamp\":1700000000000,\"User\":\"etl\",\"App Attempt ID\":\"2\"}\n"
#define JOB "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1700000005000,\"Stage IDs\":[]}\n"
#define END "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1700000009000}\n"

static char directory[64], path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/afterglow-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void write_log(const char *name, const char *text, size_t len)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    fclose(file);
}

static void list(struct listing *ret)
{
    struct log_entry entry = {0};
    struct err err = {0};
    assert_int_equal(log_entry_probe(path, &entry, &err), ERR_OK);
    assert_int_equal(listing_read(&entry, ret, &err), ERR_OK);
    log_entry_dispose(&entry);
}

static void list_text(const char *name, const char *text, struct listing *ret)
{
    write_log(name, text, strlen(text));
    list(ret);
}

static void head_and_tail_give_the_row(void **state)
{
    (void)state;
    struct listing listing;
    list_text("application_1_2_2", LOG_START ENVIRONMENT START JOB END, &listing);
    assert_true(listing.readable && listing.has_start && listing.has_end && listing.has_attempt_id);
    assert_string_equal(listing.app_id, "application_1_2");
    assert_string_equal(listing.attempt_id, "2");
    assert_string_equal(listing.name, "nightly");
    assert_string_equal(listing.user, "etl");
    assert_string_equal(listing.spark_version, "3.5.7");
    assert_string_equal(listing.queue, "root.night");
    assert_int_equal(listing.start_ms, 1700000000000);
    assert_false(listing.start_inferred);
    assert_int_equal(listing.end_ms, 1700000009000);
}

static void the_order_of_start_and_environment_does_not_matter(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app", LOG_START START JOB ENVIRONMENT, &listing);
    assert_string_equal(listing.app_id, "application_1_2");
    assert_string_equal(listing.queue, "root.night");
    assert_false(listing.has_end);
    assert_false(known(listing.end_ms));
}

static void without_a_start_the_environment_names_the_run(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app-7", LOG_START ENVIRONMENT JOB END, &listing);
    assert_false(listing.has_start);
    assert_string_equal(listing.app_id, "id-of-environment");
    assert_int_equal(listing.start_ms, 1700000005000);                      /* first time seen */
    assert_false(listing.start_inferred);                                   /* there is no start that lacks it */
    assert_true(listing.has_end);
}

static void with_neither_the_file_names_the_run(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app-20260101-0007.inprogress", LOG_START JOB, &listing);
    assert_string_equal(listing.app_id, "app-20260101-0007");
    assert_false(listing.has_attempt_id);
}

static void bad_lines_do_not_hide_the_run(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app", LOG_START "garbage\n[]\n" ENVIRONMENT "{\"Event\":\n" START END "{\"Event\":\"Spar", &listing);
    assert_string_equal(listing.name, "nightly");
    assert_true(listing.has_end);
}

static void an_end_that_other_records_follow_is_found(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app", LOG_START ENVIRONMENT START END JOB, &listing);
    assert_true(listing.has_end);
}

/* 40 MB of jobs between a head and `tail`, with an end record in the middle. */
static void list_long(const char *tail, struct listing *ret)
{
    size_t room = (size_t)40 << 20, used = 0;
    char *text = mem_alloc(room);
    assert_non_null(text);
    used += (size_t)snprintf(text, room, "%s", LOG_START ENVIRONMENT START);
    for (bool middle = true; used + 1000 < room;) {
        used += (size_t)snprintf(text + used, room - used, "%s", JOB);
        if (middle && used > room / 2) {
            used += (size_t)snprintf(text + used, room - used, "%s", END);
            middle = false;
        }
    }
    used += (size_t)snprintf(text + used, room - used, "%s", tail);
    write_log("app", text, used);
    mem_free(text);
    list(ret);
}

static void a_long_log_is_not_read_through(void **state)
{
    (void)state;
    struct listing listing;
    list_long(END, &listing);
    assert_string_equal(listing.name, "nightly");
    assert_true(listing.has_end);
    list_long(JOB, &listing);
    assert_false(listing.has_end);           /* the one in the middle was not met */
}

static void an_end_before_the_start_is_a_clock_step(void **state)
{
    (void)state;
    struct listing listing;
    list_text("app", LOG_START ENVIRONMENT START "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":0}\n", &listing);
    assert_true(listing.has_end);
    assert_false(known(listing.end_ms));
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    write_log("app", LOG_START ENVIRONMENT START END, strlen(LOG_START ENVIRONMENT START END));
    struct log_entry entry = {0};
    assert_int_equal(log_entry_probe(path, &entry, NULL), ERR_OK);
    for (uint64_t nth = 1;; nth++) {
        struct listing listing;
        mem_fail_at(nth, 0);
        enum err_code rc = listing_read(&entry, &listing, NULL);
        mem_fail_at(0, 0);
        if (rc == ERR_OK) {
            assert_true(nth > 1);
            assert_string_equal(listing.name, "nightly");
            break;
        }
        assert_int_equal(rc, ERR_NOMEM);
    }
    log_entry_dispose(&entry);
}

static void keys_are_safe_file_names_and_tell_runs_apart(void **state)
{
    (void)state;
    char a[LISTING_KEY_BYTES], b[LISTING_KEY_BYTES], long_id[600];
    listing_app_key("../../etc/pass wd", NULL, "/l", false, a);
    assert_null(strpbrk(a, "/ "));
    assert_int_not_equal(a[0], '.');
    listing_app_key("app-1", NULL, "/l", false, a);
    assert_int_equal(strncmp(a, "app-1-", 6), 0);
    assert_int_equal(strlen(a), 6 + 8);
    assert_string_equal(listing_app_key("app-1", NULL, "/l", false, b), a);        /* the same run, the same key */
    assert_string_not_equal(listing_app_key("app-1", NULL, "/m", false, b), a);    /* another place */
    assert_string_not_equal(listing_app_key("app-1", "", "/l", false, b), a);      /* an empty attempt id is one */
    assert_string_not_equal(listing_app_key("APP-1", NULL, "/l", false, b), a);
    listing_app_key("app-1", NULL, "/l", true, b);                                 /* somebody added it: a mark that no id of a log can bring along */
    assert_int_equal(b[0], '~');
    assert_string_equal(b + 1, a);
    assert_int_not_equal(listing_app_key("~app-1", NULL, "/l", false, b)[0], '~');
    assert_int_equal(strncmp(listing_app_key("../x", NULL, "/l", true, b), "~_", 2), 0);
    listing_app_key("a", "1", "/l", false, a);
    assert_string_not_equal(listing_app_key("a_1", NULL, "/l", false, b), a);
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    assert_true(strlen(listing_app_key(long_id, long_id, "/l", true, a)) < LISTING_KEY_BYTES);
}

static void flags_are_written_in_one_order(void **state)
{
    (void)state;
    char out[80];
    assert_string_equal(flags_text(0, out, sizeof out), "");
    assert_string_equal(flags_text(FLAG_NOTICE | FLAG_CUT, out, sizeof out), "cut notice");
    assert_string_equal(flags_text(0xFF, out, sizeof out), "cut lines gap name empty unreadable not-a-log notice");
}

static void access_lists_are_of_the_first_environment(void **state)
{
    (void)state;
    static const char more[] =
        "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{\"spark.ui.view.acls\":\"ann, bob\",\"spark.admin.acls\":\"carl\",\"spark.ui.view.acls.groups\":\"g\"}}\n";
    static const char later[] = "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{\"spark.ui.view.acls\":\"*\"}}\n";
    char text[4096];
    struct listing listing;
    snprintf(text, sizeof text, "%s%s%s%s", LOG_START, more, later, START);
    list_text("log", text, &listing);
    assert_string_equal(listing.view_users, "ann, bob,carl");
    assert_string_equal(listing.view_groups, "g");
    list_text("log", LOG_START START, &listing);
    assert_string_equal(listing.view_users, "");
}

static void half_a_name_is_not_let_in(void **state)
{
    (void)state;
    static char longer[2 * LISTING_ACCESS_BYTES], out[LISTING_ACCESS_BYTES];
    memset(longer, 'x', sizeof longer - 1);
    memcpy(longer, "ann,", 4);
    assert_string_equal(listing_join_lists(str_of(longer), STR_LIT(",bob,,carl"), out), "ann,bob,carl");
    longer[LISTING_ACCESS_BYTES - 2] = ',';      /* fits with its NUL, and nothing behind it */
    listing_join_lists(str_of(longer), STR_LIT("bob"), out);
    assert_int_equal(strlen(out), LISTING_ACCESS_BYTES - 2);
    assert_string_equal(listing_join_lists(STR_NONE, STR_NONE, out), "");
}

static void secrets_in_the_name_are_hidden(void **state)
{
    (void)state;
    struct listing listing;
    list_text("log", "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"x password=hunter2\",\"App ID\":\"a\",\"Timestamp\":1700000000000,\"User\":\"u\"}\n", &listing);
    assert_string_equal(listing.name, "x password=*********(redacted)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(head_and_tail_give_the_row),
        TEST(the_order_of_start_and_environment_does_not_matter),
        TEST(without_a_start_the_environment_names_the_run),
        TEST(with_neither_the_file_names_the_run),
        TEST(bad_lines_do_not_hide_the_run),
        TEST(an_end_that_other_records_follow_is_found),
        TEST(a_long_log_is_not_read_through),
        TEST(an_end_before_the_start_is_a_clock_step),
        TEST(every_failed_allocation_is_survived),
        TEST(keys_are_safe_file_names_and_tell_runs_apart),
        TEST(flags_are_written_in_one_order),
        TEST(access_lists_are_of_the_first_environment),
        TEST(half_a_name_is_not_let_in),
        TEST(secrets_in_the_name_are_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
