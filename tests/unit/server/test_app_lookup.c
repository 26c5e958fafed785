/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own rule for addresses; the History Server's is tested with the answers it leads to (test_api_v1_applications.c). */
#include "v1_store.h"

#include "server/app_lookup.h"

static struct arena arena;

static enum err_code look_up(const char *ref, struct app_ref *found, struct err *err)
{
    static struct request request;
    arena_reset(&arena);
    request.arena = &arena;
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    enum err_code rc = app_lookup(&ctx, &request, str_of(ref), found, err);
    app_ref_dispose(&ctx, found);
    return rc;
}

static void assert_finds(const char *ref, const char *key)
{
    struct app_ref found;
    struct err err = {0};
    if (look_up(ref, &found, &err))
        fail_msg("%s: %s", ref, err.message);
    assert_true(str_is(found.key, key));
}

static void add_attempts(void)
{
    add_app("k1");
    add_app("k2");
    add_app("k3");
    add_app("k4");
    catalog_sql("UPDATE app SET app_id = 'app.x', attempt_id = '1', start_ms = 1000 WHERE app_key = 'k1'; UPDATE app SET app_id = 'app.x', attempt_id = '2.b', "
                "start_ms = 2000 WHERE app_key = 'k2';"
                "UPDATE app SET app_id = 'k1' WHERE app_key = 'k3'; UPDATE app SET app_id = 'app' WHERE app_key = 'k4'");
}

static void keys_come_before_ids_and_ids_before_attempts(void **state)
{
    (void)state;
    add_attempts();
    assert_finds("k1", "k1");
    assert_finds("k3", "k3");
    assert_finds("app", "k4");
    assert_finds("app.x", "k2");                     /* its newest attempt */
    assert_finds("app.x.1", "k1");
    assert_finds("app.x.2.b", "k2");
}

static const char *tag_of(const char *ref)
{
    static struct app_ref found;
    assert_int_equal(look_up(ref, &found, NULL), ERR_OK);
    return found.etag;
}

/* Answers are kept by their tag, and hold the state of the log and a name that depends on the other runs of the id. */
static void a_tag_changes_with_all_that_an_answer_tells(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE app SET generation = generation + 1 WHERE app_key = 'k1'",
        "UPDATE log SET state = 'gone' WHERE app_key = 'k1' OR log_id = (SELECT log_id FROM app WHERE app_key = 'k1')",
        "UPDATE app SET app_id = 'app.x' WHERE app_key = 'k3'",
    };
    char before[APP_ETAG_BYTES];
    add_attempts();
    for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
        strcpy(before, tag_of("k1"));
        assert_string_equal(tag_of("app.x.1"), before);
        catalog_sql(changes[i]);
        assert_string_not_equal(tag_of("k1"), before);
    }
    strcpy(before, tag_of("k1"));
    catalog_sql("UPDATE app SET generation = generation + 1 WHERE app_key = 'k4'");     /* another application's */
    assert_string_equal(tag_of("k1"), before);
    assert_true(before[0] == '"' && strlen(before) < APP_ETAG_BYTES - 1 && before[strlen(before) - 1] == '"');
}

static void what_is_unknown_is_not_found(void **state)
{
    (void)state;
    add_attempts();
    static const char *const refs[] = {"", ".", "app.x.3", "app.x.", ".1", "nothing", "k1.1.1"};
    struct app_ref found;
    for (size_t i = 0; i < ARRAY_LENGTH(refs); i++)
        assert_int_equal(look_up(refs[i], &found, NULL), ERR_NOT_FOUND);
}

static void a_run_that_is_not_loaded_is_busy_and_says_why(void **state)
{
    (void)state;
    add_attempts();
    char path[128];
    struct app_ref found;
    struct err err = {0};
    snprintf(path, sizeof path, "%s/apps/k4.db", store);
    assert_int_equal(remove(path), 0);
    catalog_sql("UPDATE app SET loaded = 0; UPDATE log SET state = 'failed', reason = 'why'");
    assert_int_equal(look_up("k4", &found, &err), ERR_BUSY);
    assert_true(str_is(found.app_id, "app"));
    assert_true(str_is(found.state, "failed"));
    assert_true(str_is(found.reason, "why"));
    assert_false(found.loaded);
    /* One that is being filled can be read, and says so. */
    assert_int_equal(look_up("k3", &found, &err), ERR_OK);
    assert_false(found.loaded);
}

static void a_file_of_another_version_counts_as_not_loaded(void **state)
{
    (void)state;
    add_attempts();
    app_sql("k4", "PRAGMA user_version = 999");
    struct app_ref found;
    assert_int_equal(look_up("k4", &found, NULL), ERR_BUSY);
}

static int make(void **state)
{
    arena_init(&arena, 1 << 20);
    return make_store(state);
}

static int clean(void **state)
{
    arena_dispose(&arena);
    return remove_store(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_come_before_ids_and_ids_before_attempts, make, clean),
        cmocka_unit_test_setup_teardown(a_tag_changes_with_all_that_an_answer_tells, make, clean),
        cmocka_unit_test_setup_teardown(what_is_unknown_is_not_found, make, clean),
        cmocka_unit_test_setup_teardown(a_run_that_is_not_loaded_is_busy_and_says_why, make, clean),
        cmocka_unit_test_setup_teardown(a_file_of_another_version_counts_as_not_loaded, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
