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

#include "base/attributes.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/store/catalog_policy.h"

static char store[64];
static struct catalog *catalog;
static struct err err;
static int64_t place;

static void ok(enum err_code rc)
{
    if (rc)
        fail_msg("%s: %s", err_code_name(rc), err.message);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(store, sizeof store, "/tmp/afterglow-test-XXXXXX");
    err = (struct err){0};
    return mkdtemp(store) && !catalog_open(&catalog, store, &err) ? catalog_place(catalog, "/l", NULL, &place, &err) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    catalog_close(TAKE(catalog));
    snprintf(command, sizeof command, "rm -rf %s", store);
    return system(command);
}

static struct catalog_row see(const char *path, int64_t bytes, int64_t modified_ms, enum sighting_news wanted_news, enum log_state wanted_state)
{
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%lld", (long long)bytes);
    const struct catalog_sighting s = {.place_id = place, .path = path, .fingerprint = fingerprint, .bytes = bytes, .modified_ms = modified_ms, .finished_name = true};
    enum sighting_news news;
    int64_t from;
    struct catalog_row row;
    ok(catalog_see(catalog, &s, false, &news, &from, &row, &err));
    assert_int_equal(news, wanted_news);
    assert_int_equal(row.state, wanted_state);
    return row;
}

static void list(int64_t log_id, const char *key, const char *app_id, bool complete)
{
    const struct catalog_run run = {.app_id = app_id, .name = "n", .start_ms = 5, .end_ms = complete ? 9 : UNKNOWN, .last_event_ms = UNKNOWN, .complete = complete};
    bool chosen;
    ok(catalog_listed(catalog, log_id, key, &run, &chosen, &err));
    assert_true(chosen);
}

static void load(int64_t log_id, int64_t bytes, enum log_state state, const char *app_id, bool complete)
{
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%lld", (long long)bytes);
    const struct catalog_sighting s = {.place_id = place, .fingerprint = fingerprint, .bytes = bytes, .modified_ms = 1000, .finished_name = true};
    const struct catalog_run run = {.app_id = app_id, .name = "n", .start_ms = 5, .end_ms = 9, .last_event_ms = 8, .complete = complete, .outcome = "succeeded", .job_count = 3};
    struct catalog_result result = {.state = state, .flags = "", .read = &s, .line_count = 1, .task_count = 1, .load_ms = 1};
    ok(catalog_load_begin(catalog, log_id, &result.generation, &err));
    ok(catalog_load_done(catalog, log_id, &result, &run, &err));
}

/* A loaded run with key k in /l/a, 100 bytes. */
static int64_t loaded(void)
{
    int64_t id = see("/l/a", 100, 1000, SIGHTING_NEW, LOG_WAITING).log_id;
    list(id, "k", "app-1", true);
    load(id, 100, LOG_LOADED, "app-1", true);
    return id;
}

static int64_t query(const char *sql)
{
    int64_t value = UNKNOWN;
    ok(db_query_i64(catalog_db(catalog), sql, &value, &err));
    return value;
}

static void put_away(bool wanted)
{
    bool done;
    ok(catalog_put_away(catalog, "k", &done, &err));
    assert_int_equal(done, wanted);
}

static void a_run_that_is_put_away_keeps_its_row(void **state)
{
    (void)state;
    int64_t id = loaded();
    put_away(true);
    put_away(false);
    struct catalog_row row = see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LISTED);
    assert_true(row.put_away && !row.loaded);
    assert_int_equal(query("SELECT count(*) FROM app WHERE job_count = 3 AND outcome = 'succeeded' AND NOT loaded"), 1);
    ok(catalog_want(catalog, id, &err));
    see("/l/a", 100, 1000, SIGHTING_SAME, LOG_WAITING);
    list(id, "k", "app-1", true);            /* head and tail know less than the load did */
    assert_int_equal(query("SELECT last_event_ms FROM app"), 8);
    load(id, 100, LOG_FAILED, "", false);    /* nothing readable any more: the row stays */
    assert_int_equal(query("SELECT count(*) FROM app WHERE job_count = 3"), 1);
}

static void a_log_is_read_anew_when_it_rests(void **state)
{
    (void)state;
    struct catalog_row row;
    int64_t id = loaded(), generation;
    ok(catalog_reload(catalog, id, &err));
    ok(catalog_get(catalog, id, &row, &err));
    assert_int_equal(row.state, LOG_WAITING);
    assert_true(known(row.wanted_ms) && row.loaded); /* what was loaded is shown meanwhile */
    ok(catalog_load_begin(catalog, id, &generation, &err));
    assert_int_equal(catalog_reload(catalog, id, &err), ERR_BUSY);
    ok(catalog_load_put_off(catalog, id, NULL, &err));
    ok(catalog_gone(catalog, id, &err));
    assert_int_equal(catalog_reload(catalog, id, &err), ERR_BUSY);
}

static void a_forgotten_run_comes_back_when_its_log_changes(void **state)
{
    (void)state;
    struct catalog_row row;
    int64_t id = loaded(), copy = see("/l/b", 100, 1000, SIGHTING_NEW, LOG_WAITING).log_id;
    const struct catalog_run run = {.app_id = "app-1", .name = "n", .start_ms = 5, .end_ms = 9, .last_event_ms = UNKNOWN, .complete = true};
    bool chosen;
    ok(catalog_listed(catalog, copy, "k", &run, &chosen, &err));
    assert_false(chosen);
    ok(catalog_opened(catalog, id, &err));
    put_away(true);
    ok(catalog_forget(catalog, "k", &err));
    assert_int_equal(query("SELECT (SELECT count(*) FROM app) + (SELECT count(*) FROM run_use) + (SELECT count(*) FROM run_history)"), 0);
    assert_int_equal(query("SELECT count(*) FROM log WHERE flags = 'forgotten' AND app_key IS NULL"), 2);
    see("/l/a", 100, 1000, SIGHTING_SAME, LOG_SKIPPED);
    see("/l/b", 100, 1000, SIGHTING_SAME, LOG_SKIPPED);
    assert_int_equal(catalog_reload(catalog, id, &err), ERR_BUSY);
    row = see("/l/a", 101, 2000, SIGHTING_CHANGED, LOG_WAITING);
    assert_string_equal(row.flags, "");
    list(id, "k", "app-1", true);
    load(id, 101, LOG_LOADED, "app-1", true);
    assert_int_equal(query("SELECT count(*) FROM app WHERE loaded"), 1);
}

static void a_run_that_waits_or_loads_is_not_put_away(void **state)
{
    (void)state;
    int64_t id = loaded(), generation;
    see("/l/a", 200, 2000, SIGHTING_CHANGED, LOG_WAITING);
    put_away(false);
    ok(catalog_load_begin(catalog, id, &generation, &err));
    put_away(false);
    assert_int_equal(query("SELECT loaded FROM app"), 1);
}

static void a_put_away_run_whose_log_was_away_is_not_read_again(void **state)
{
    (void)state;
    int64_t id = loaded();
    put_away(true);
    ok(catalog_gone(catalog, id, &err));
    see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LISTED);
    ok(catalog_gone(catalog, id, &err));
    see("/l/a", 101, 1000, SIGHTING_CHANGED, LOG_WAITING);
}

static void a_log_that_is_only_listed_waits_when_it_is_wanted_or_changes(void **state)
{
    (void)state;
    int64_t id = see("/l/a", 100, 1000, SIGHTING_NEW, LOG_WAITING).log_id;
    list(id, "k", "app-1", true);
    ok(catalog_list_only(catalog, id, &err));
    assert_false(see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LISTED).put_away);
    see("/l/a", 200, 2000, SIGHTING_CHANGED, LOG_WAITING);
    ok(catalog_list_only(catalog, id, &err));
    ok(catalog_want(catalog, id, &err));
    see("/l/a", 200, 2000, SIGHTING_SAME, LOG_WAITING);
}

static void what_is_left_of_a_log_that_is_being_deleted_is_passed_over(void **state)
{
    (void)state;
    int64_t id = loaded();
    ok(catalog_removing(catalog, id, &err));
    assert_int_equal(catalog_removing(catalog, id, NULL), ERR_BUSY);
    int64_t begun_ms = query("SELECT removing_ms FROM log");
    see("/l/a", 60, begun_ms, SIGHTING_SAME, LOG_GONE);      /* half of it */
    const struct catalog_sighting rest = {.place_id = place, .path = "/l/a", .fingerprint = "", .bytes = 0, .modified_ms = begun_ms + 5};
    struct catalog_row row;
    ok(catalog_reject(catalog, &rest, "empty", "nothing to read in it", &row, &err));        /* a directory without its files */
    assert_int_equal(row.state, LOG_GONE);
    assert_int_equal(query("SELECT loaded FROM app"), 1);
    see("/l/a", 60, begun_ms + 5, SIGHTING_CHANGED, LOG_WAITING);            /* a new log of that name */
    assert_int_equal(query("SELECT removing_ms IS NULL FROM log"), 1);
}

/* Places are looked at while logs are deleted: what a look that began before had seen comes in afterwards. */
static void what_was_seen_before_a_log_went_tells_nothing(void **state)
{
    (void)state;
    int64_t id = loaded();
    ok(catalog_removing(catalog, id, &err));
    ok(catalog_removed(catalog, id, "deleted", &err));
    int64_t gone_ms = query("SELECT changed_ms FROM log");
    struct catalog_sighting seen = {.place_id = place, .path = "/l/a", .fingerprint = "100", .bytes = 100, .modified_ms = 1000, .looked_ms = gone_ms - 1, .finished_name = true};
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from;
    ok(catalog_see(catalog, &seen, false, &news, &renamed_from, &row, &err));        /* whole */
    assert_int_equal(news, SIGHTING_SAME);
    assert_int_equal(row.state, LOG_GONE);
    seen.fingerprint = "half";
    seen.bytes = 60;
    ok(catalog_see(catalog, &seen, false, &news, &renamed_from, &row, &err));
    assert_int_equal(row.state, LOG_GONE);
    ok(catalog_reject(catalog, &seen, "empty", "nothing to read in it", &row, &err));
    assert_int_equal(row.state, LOG_GONE);
    seen.looked_ms = gone_ms + 1;                            /* a log of that name, put there since */
    ok(catalog_see(catalog, &seen, false, &news, &renamed_from, &row, &err));
    assert_int_equal(row.state, LOG_WAITING);
}

static void a_log_that_went_by_a_clock_that_was_set_back_is_seen_again(void **state)
{
    (void)state;
    int64_t id = loaded();
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from;
    ok(catalog_gone(catalog, id, &err));
    ok(db_exec(catalog_db(catalog), "UPDATE log SET changed_ms = changed_ms + 36000000", &err));
    struct catalog_sighting seen = {.place_id = place, .path = "/l/a", .fingerprint = "100", .bytes = 100, .modified_ms = 1000, .looked_ms = query("SELECT changed_ms - 35999990 FROM log"), .finished_name = true};
    ok(catalog_see(catalog, &seen, false, &news, &renamed_from, &row, &err));
    assert_int_not_equal(row.state, LOG_GONE);
}

static void a_deletion_that_failed_leaves_the_log_as_it_was(void **state)
{
    (void)state;
    int64_t id = loaded();
    ok(catalog_removing(catalog, id, &err));
    ok(catalog_not_removed(catalog, id, LOG_LOADED, &err));
    see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LOADED);
    ok(catalog_removing(catalog, id, &err));
    ok(catalog_removed(catalog, id, "deleted", &err));
    assert_int_equal(query("SELECT count(*) FROM log WHERE state = 'gone' AND reason = 'deleted' AND removing_ms IS NULL"), 1);
}

static void runs_without_an_end_are_called_abandoned_until_they_grow(void **state)
{
    (void)state;
    int64_t id = see("/l/a", 100, 1000, SIGHTING_NEW, LOG_WAITING).log_id, now = time_now_ms();
    list(id, "k", "app-1", false);
    load(id, 100, LOG_LOADED, "app-1", false);
    ok(catalog_mark_abandoned(catalog, 1000, &err));         /* changed at that time, not before */
    assert_string_equal(see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LOADED).flags, "");
    int64_t tag = query("SELECT tag FROM list_state");
    ok(catalog_mark_abandoned(catalog, 1001, &err));
    assert_string_equal(see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LOADED).flags, "abandoned");
    assert_int_not_equal(query("SELECT tag FROM list_state"), tag);
    tag = query("SELECT tag FROM list_state");
    ok(catalog_mark_abandoned(catalog, now, &err));          /* again: nothing changes */
    assert_int_equal(query("SELECT tag FROM list_state"), tag);
    assert_string_equal(see("/l/a", 150, 1000, SIGHTING_CHANGED, LOG_WAITING).flags, "");    /* with the old time, as a name node tells it */
    load(id, 150, LOG_LOADED, "app-1", false);
    ok(catalog_mark_abandoned(catalog, now, &err));
    assert_string_equal(see("/l/a", 150, 1000, SIGHTING_SAME, LOG_LOADED).flags, "");
}

struct seen {
    int count;
    char paths[200];
};

static enum err_code note(void *context, const struct catalog_clean_row *row)
{
    struct seen *seen = context;
    seen->count++;
    snprintf(seen->paths + strlen(seen->paths), sizeof seen->paths - strlen(seen->paths), "%s%s ", row->path, row->app_id ? "" : "?");
    return ERR_OK;
}

static void the_cleaner_sees_logs_of_places_alone(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct catalog_row row;
    loaded();
    int64_t gone = see("/l/gone", 1, 1, SIGHTING_NEW, LOG_WAITING).log_id, copy = see("/l/b", 50, 1000, SIGHTING_NEW, LOG_WAITING).log_id;
    ok(catalog_gone(catalog, gone, &err));
    const struct catalog_sighting reject = {.place_id = place, .path = "/l/README", .fingerprint = ""};
    ok(catalog_reject(catalog, &reject, "not-a-log", "text", &row, &err));
    place = UNKNOWN;
    see("/named", 1, 1, SIGHTING_NEW, LOG_WAITING);
    const struct catalog_run run = {.app_id = "app-1", .name = "n", .start_ms = 5, .end_ms = 9, .last_event_ms = UNKNOWN, .complete = true};
    bool chosen;
    ok(catalog_listed(catalog, copy, "k", &run, &chosen, &err));
    assert_false(chosen);
    ok(catalog_each_to_clean(catalog_db(catalog), note, &seen, &err));
    assert_string_equal(seen.paths, "/l/a /l/b ");
}

static void reopen_as_another_version(void)
{
    ok(db_exec(catalog_db(catalog), "PRAGMA user_version = 99", &err));
    catalog_close(TAKE(catalog));
    ok(catalog_open(&catalog, store, &err));
    assert_non_null(catalog_remark(catalog));
}

static void a_new_catalogue_takes_put_away_runs_from_the_old_one(void **state)
{
    (void)state;
    int64_t id = loaded();
    ok(catalog_opened(catalog, id, &err));
    ok(db_exec(catalog_db(catalog), "INSERT INTO run_summary (app_key, grade, completeness, rules, costs, verdict_en, verdict_zh) VALUES ('k', 3, 100, 'R1', '', 'slow', 'x')", &err));
    const struct catalog_pin pin = {.token = "t", .app_key = "k", .address = "/stages/0.0?task=1", .author = NULL, .generation = 1, .analysis_version = UNKNOWN};
    const struct catalog_pin of_none = {.token = "u", .app_key = "nobody", .address = "", .author = NULL, .generation = 1, .analysis_version = UNKNOWN};
    ok(catalog_pin(catalog, &pin, &err));
    ok(catalog_pin(catalog, &of_none, &err));
    put_away(true);
    int64_t never_loaded = see("/l/b", 7, 7, SIGHTING_NEW, LOG_WAITING).log_id;      /* the next scan finds it again */
    list(never_loaded, "k2", "app-2", true);
    /* As if it were of a version that had columns of its own, and had not some of ours. */
    ok(db_exec(catalog_db(catalog), "ALTER TABLE app ADD COLUMN of_old_times TEXT; ALTER TABLE log DROP COLUMN grown_ms", &err));
    reopen_as_another_version();
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
    assert_int_equal(query("SELECT count(*) FROM app JOIN log USING (log_id) JOIN run_summary USING (app_key) JOIN run_use USING (app_key) "
        "WHERE app.app_key = 'k' AND job_count = 3 AND NOT loaded AND generation > 0 AND path = '/l/a' AND state = 'listed' AND grade = 3"), 1);
    assert_int_equal(query("SELECT count(*) FROM pin"), 1);
    assert_int_equal(query("SELECT count(*) FROM pin WHERE token = 't' AND app_key = 'k' AND address = '/stages/0.0?task=1' AND author IS NULL AND generation = 1 AND analysis_version IS NULL"), 1);
    /* And from a catalogue of before there were pinned views. */
    ok(db_exec(catalog_db(catalog), "DROP TABLE pin", &err));
    reopen_as_another_version();
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
    ok(catalog_place(catalog, "/l", NULL, &place, &err));
    see("/l/a", 100, 1000, SIGHTING_SAME, LOG_LISTED);
    see("/l/b", 7, 7, SIGHTING_NEW, LOG_WAITING);
}

static void a_damaged_old_catalogue_gives_nothing(void **state)
{
    (void)state;
    loaded();
    put_away(true);
    ok(db_exec(catalog_db(catalog), "DROP TABLE run_history", &err));
    reopen_as_another_version();
    assert_int_equal(query("SELECT count(*) FROM app"), 0);
    assert_int_equal(query("SELECT count(*) FROM log"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_that_is_put_away_keeps_its_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_is_read_anew_when_it_rests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forgotten_run_comes_back_when_its_log_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_waits_or_loads_is_not_put_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_put_away_run_whose_log_was_away_is_not_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_that_is_only_listed_waits_when_it_is_wanted_or_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_left_of_a_log_that_is_being_deleted_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_seen_before_a_log_went_tells_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_that_went_by_a_clock_that_was_set_back_is_seen_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deletion_that_failed_leaves_the_log_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_without_an_end_are_called_abandoned_until_they_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cleaner_sees_logs_of_places_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_catalogue_takes_put_away_runs_from_the_old_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_old_catalogue_gives_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
