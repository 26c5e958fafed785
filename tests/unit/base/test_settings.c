/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/settings.h"
#include "base/units.h"

static struct settings *settings;
static char file_path[64];

static int set_up(void **state)
{
    (void)state;
    unsetenv("SPARK_HISTORY_OPTS");
    for (int id = 0; id < SETTING_COUNT; id++)
        if (setting_table[id].environment)
            unsetenv(setting_table[id].environment);
    snprintf(file_path, sizeof file_path, "/tmp/afterglow-test-XXXXXX");
    int fd = mkstemp(file_path);
    if (fd < 0)
        return -1;
    close(fd);
    return settings_new(&settings, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file_path);
    settings_free(settings);
    settings = NULL;
    return 0;
}

static void write_file(const char *text)
{
    FILE *file = fopen(file_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void defaults_are_sparks(void **state)
{
    (void)state;
    assert_int_equal(settings_i64(settings, SETTING_UPDATE_INTERVAL), 10000);
    assert_int_equal(settings_i64(settings, SETTING_PORT), 18080);
    assert_string_equal(settings_list_at(settings, SETTING_LOGS, 0), "file:/tmp/spark-events");
    assert_null(settings_text(settings, SETTING_STORE));
    assert_false(known(settings_i64(settings, SETTING_JOBS)));
}

static void a_stronger_origin_wins_in_any_order(void **state)
{
    (void)state;
    write_file("afterglow.store = /from/file\nspark.history.ui.port 1111\nspark.history.fs.update.interval=1m\n");
    setenv("SPARK_HISTORY_OPTS", "-Xmx2g -Dspark.history.ui.port=2222 -Dspark.history.fs.update.interval=2m", 1);
    setenv("AFTERGLOW_STORE", "/from/environment", 1);
    setenv("AFTERGLOW_UPDATE_INTERVAL", "3m", 1);
    assert_int_equal(settings_set(settings, SETTING_STORE, "/from/command", FROM_COMMAND_LINE, NULL), ERR_OK);
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_string_equal(settings_text(settings, SETTING_STORE), "/from/command");
    assert_int_equal(settings_i64(settings, SETTING_PORT), 2222);                       /* -D over the file */
    assert_int_equal(settings_i64(settings, SETTING_UPDATE_INTERVAL), 180000);          /* the variable over -D */
    assert_int_equal(settings_origin(settings, SETTING_PORT), FROM_ENVIRONMENT);
}

static void settings_of_hadoop_are_handed_on_with_the_stronger_last(void **state)
{
    (void)state;
    struct str key, value;
    write_file("spark.hadoop.fs.s3a.endpoint http://file\nspark.hadoop.dfs.nameservices prod\nspark.other x\n");
    setenv("SPARK_HISTORY_OPTS", "-Dspark.hadoop.fs.s3a.endpoint=http://environment", 1);
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    static const char *const expected[][2] = {{"fs.s3a.endpoint", "http://file"}, {"dfs.nameservices", "prod"}, {"fs.s3a.endpoint", "http://environment"}};
    for (size_t i = 0; i < 3; i++) {
        assert_true(settings_hadoop(settings, i, &key, &value));
        assert_true(str_is(key, expected[i][0]) && str_is(value, expected[i][1]));
    }
    assert_false(settings_hadoop(settings, 3, &key, &value));
}

static void java_options_are_split_like_a_shell_does(void **state)
{
    (void)state;
    setenv("SPARK_HISTORY_OPTS", " '-Dspark.history.fs.logDirectory=file:/a b,/c' \"-Dafterglow.store=/s \\\"q\\\"\" -Dspark.ui.proxyBase=/x\\ y", 1);
    assert_int_equal(settings_load(settings, NULL, NULL), ERR_OK);
    assert_int_equal(settings_list_count(settings, SETTING_LOGS), 2);
    assert_string_equal(settings_list_at(settings, SETTING_LOGS, 0), "file:/a b");
    assert_string_equal(settings_list_at(settings, SETTING_LOGS, 1), "/c");
    assert_string_equal(settings_text(settings, SETTING_STORE), "/s \"q\"");
    assert_string_equal(settings_text(settings, SETTING_PROXY_BASE), "/x y");
}

static void old_spellings_of_a_key_are_read(void **state)
{
    (void)state;
    write_file("spark.history.fs.update.interval.seconds 7\nafterglow.jobs 5\nspark.history.fs.cleaner.maxAge.seconds 60\n"
               "spark.history.fs.cleaner.interval.seconds 30\nspark.history.store.maxDiskUsage 10g\n");
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_int_equal(settings_i64(settings, SETTING_UPDATE_INTERVAL), 7000);
    assert_int_equal(settings_i64(settings, SETTING_JOBS), 5);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_MAX_AGE), 60000);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_INTERVAL), 30000);
    assert_int_equal(settings_i64(settings, SETTING_STORE_MAX_BYTES), (int64_t)10 << 30);
}

static void nothing_is_deleted_or_put_away_unless_that_is_asked_for(void **state)
{
    (void)state;
    write_file("");
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER), 0);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_ABANDONED), 0);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_MAX_AGE), 7 * 86400000LL);       /* the History Server's, for when it is on */
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_INTERVAL), 86400000LL);
    assert_int_equal(settings_i64(settings, SETTING_CLEANER_MAX_NUM), UNKNOWN);
    assert_int_equal(settings_i64(settings, SETTING_STORE_MAX_BYTES), UNKNOWN);
    assert_int_equal(settings_i64(settings, SETTING_STORE_MAX_AGE), UNKNOWN);
}

static void unknown_keys_of_ours_are_remarked_on_and_foreign_ones_are_not(void **state)
{
    (void)state;
    write_file("spark.executor.memory 4g\nafterglow.stoer /typo\nspark.history.kerberos.enabled true\n");
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_non_null(strstr(settings_remark(settings, 0), "afterglow.stoer"));
    assert_non_null(strstr(settings_remark(settings, 0), "line 2"));
    assert_null(settings_remark(settings, 1));
}

static void keys_of_the_history_server_that_do_nothing_are_known_once(void **state)
{
    (void)state;
    write_file("spark.history.retainedApplications 50\nspark.history.retainedApplications 60\nspark.history.ui.port 1\nspark.executor.memory 4g\nspark.ssl.historyServer.protocol TLSv1.3\n"
               "spark.ssl.protocol TLSv1.3\nspark.history.fs.updateInterval 5\n");
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_string_equal(settings_idle(settings, 0), "spark.history.retainedApplications");
    assert_string_equal(settings_idle(settings, 1), "spark.ssl.historyServer.protocol");
    assert_null(settings_idle(settings, 2));
}

static void a_bad_value_is_refused_with_key_and_place(void **state)
{
    (void)state;
    struct err err = {0};
    write_file("\nspark.history.fs.update.interval soon\n");
    assert_int_equal(settings_load(settings, file_path, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "line 2"));
    assert_non_null(strstr(err.message, "spark.history.fs.update.interval: 'soon'"));
    assert_int_equal(settings_set(settings, SETTING_PORT, "70000", FROM_COMMAND_LINE, &err), ERR_INVALID);
    assert_int_equal(settings_set(settings, SETTING_PORT, "80x", FROM_COMMAND_LINE, &err), ERR_INVALID);
    assert_int_equal(settings_set(settings, SETTING_LOG_LEVEL, "warn", FROM_COMMAND_LINE, &err), ERR_INVALID);
    assert_int_equal(settings_set(settings, SETTING_JOBS, "0", FROM_COMMAND_LINE, &err), ERR_INVALID);
}

static void lists_skip_empty_items_and_grow_from_the_command_line(void **state)
{
    (void)state;
    assert_int_equal(settings_set(settings, SETTING_LOGS, " /a , ,/b,", FROM_FILE, NULL), ERR_OK);
    assert_int_equal(settings_list_count(settings, SETTING_LOGS), 2);
    assert_string_equal(settings_list_at(settings, SETTING_LOGS, 1), "/b");
    assert_int_equal(settings_add(settings, SETTING_LOGS, "/c,d", FROM_COMMAND_LINE, NULL), ERR_OK);
    assert_int_equal(settings_add(settings, SETTING_LOGS, "/e", FROM_COMMAND_LINE, NULL), ERR_OK);
    assert_int_equal(settings_add(settings, SETTING_LOGS, "/f", FROM_FILE, NULL), ERR_OK);
    assert_int_equal(settings_list_count(settings, SETTING_LOGS), 2);
    assert_string_equal(settings_list_at(settings, SETTING_LOGS, 0), "/c,d");
    assert_null(settings_list_at(settings, SETTING_LOGS, 2));
}

static void times_are_those_of_spark(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"10", 10000}, {"10s", 10000}, {" 5min ", 300000}, {"5m", 300000}, {"2H", 7200000}, {"7d", 604800000}, {"250ms", 250}, {"1500us", 1}, {"-1", -1000}};
    static const char *const bad[] = {"", "s", "1.5s", "1 s", "10sec", "99999999999999999999s", "9223372036854775807d"};
    int64_t ms;
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        assert_true(setting_parse_time(str_of(good[i].text), "s", &ms));
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(setting_parse_time(str_of(bad[i]), "s", &ms));
}

static void sizes_are_binary(void **state)
{
    (void)state;
    int64_t bytes;
    assert_true(setting_parse_size(STR_LIT("512"), &bytes) && bytes == 512);
    assert_true(setting_parse_size(STR_LIT("64k"), &bytes) && bytes == 65536);
    assert_true(setting_parse_size(STR_LIT("1MB"), &bytes) && bytes == 1048576);
    assert_true(setting_parse_size(STR_LIT("10g"), &bytes) && bytes == 10737418240);
    assert_true(setting_parse_size(STR_LIT("2t"), &bytes) && bytes == 2199023255552);
    assert_false(setting_parse_size(STR_LIT("-1"), &bytes));
    assert_false(setting_parse_size(STR_LIT("1.5g"), &bytes));
    assert_false(setting_parse_size(STR_LIT("9000000000000000p"), &bytes));
}

static void expect_listen(const char *text, const char *want_host, int want_port)
{
    char host[256];
    int port = -1;
    assert_int_equal(settings_set(settings, SETTING_LISTEN, text, FROM_COMMAND_LINE, NULL), ERR_OK);
    assert_int_equal(settings_listen(settings, host, &port, NULL), ERR_OK);
    assert_string_equal(host, want_host);
    assert_int_equal(port, want_port);
}

static void the_address_is_taken_apart(void **state)
{
    (void)state;
    expect_listen("127.0.0.1:8080", "127.0.0.1", 8080);
    expect_listen("example.org", "example.org", 18080);
    expect_listen(":0", "0.0.0.0", 0);
    expect_listen("[::1]:9000", "::1", 9000);
    expect_listen("[::1]", "::1", 18080);
    expect_listen("::", "::", 18080);
    static const char *const bad[] = {"host:port", "[::1", "host:70000", "[::1]x", "host:-1", "8080", "8080:1"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        char host[256];
        int port;
        assert_int_equal(settings_set(settings, SETTING_LISTEN, bad[i], FROM_COMMAND_LINE, NULL), ERR_OK);
        assert_int_equal(settings_listen(settings, host, &port, NULL), ERR_INVALID);
    }
}

static void a_colon_that_a_properties_file_lost_is_explained(void **state)
{
    (void)state;
    struct err err = {0};
    char host[256];
    int port;
    write_file("afterglow.listen :18080\n");       /* Java: a colon behind blanks parts key and value */
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
    assert_int_equal(settings_listen(settings, host, &port, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "write 0.0.0.0:18080"));
}

static void a_port_from_a_stronger_origin_beats_the_one_in_the_address(void **state)
{
    (void)state;
    char host[256];
    int port;
    assert_int_equal(settings_set(settings, SETTING_LISTEN, "0.0.0.0:8080", FROM_FILE, NULL), ERR_OK);
    assert_int_equal(settings_set(settings, SETTING_PORT, "9999", FROM_ENVIRONMENT, NULL), ERR_OK);
    assert_int_equal(settings_listen(settings, host, &port, NULL), ERR_OK);
    assert_string_equal(host, "0.0.0.0");
    assert_int_equal(port, 9999);
}

static void load_text(const char *text)
{
    FILE *file = fopen(file_path, "w");
    fputs(text, file);
    fclose(file);
    assert_int_equal(settings_load(settings, file_path, NULL), ERR_OK);
}

/* SSLOptions.parse: a service's own key, else that of all services; the port is a service's own. */
static void keys_of_all_services_hold_where_the_servers_own_are_not_set(void **state)
{
    (void)state;
    setenv("SPARK_HISTORY_OPTS", "-Dspark.ssl.keyStore=/stronger -Dspark.ssl.enabled=true", 1);
    load_text("spark.ssl.historyServer.keyStore /own\nspark.ssl.keyStore /all\nspark.ssl.enabled false\nspark.ssl.keyStorePassword x\nspark.ssl.port 1\nspark.ssl.unknown 1\n");
    unsetenv("SPARK_HISTORY_OPTS");
    assert_string_equal(settings_text(settings, SETTING_SSL_KEYSTORE), "/own");
    assert_int_equal(settings_i64(settings, SETTING_SSL_ENABLED), 1);
    assert_string_equal(settings_text(settings, SETTING_SSL_KEYSTORE_PASSWORD), "x");
    assert_int_equal(settings_i64(settings, SETTING_SSL_PORT), UNKNOWN);
    assert_null(settings_remark(settings, 0));
    load_text("spark.ssl.historyServer.enabled false\n");
    assert_int_equal(settings_i64(settings, SETTING_SSL_ENABLED), 0);
    load_text("spark.ssl.enabled true\n");
    assert_int_equal(settings_i64(settings, SETTING_SSL_ENABLED), 0);
}

static void the_table_is_whole(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    settings_markdown(&text);
    for (int id = 0; id < SETTING_COUNT; id++) {
        assert_non_null(setting_table[id].key);
        assert_non_null(setting_table[id].help);
        assert_non_null(strstr(text.data, setting_table[id].key));
    }
    buf_dispose(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults_are_sparks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stronger_origin_wins_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_of_hadoop_are_handed_on_with_the_stronger_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(java_options_are_split_like_a_shell_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_spellings_of_a_key_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_deleted_or_put_away_unless_that_is_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_keys_of_ours_are_remarked_on_and_foreign_ones_are_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_of_the_history_server_that_do_nothing_are_known_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_bad_value_is_refused_with_key_and_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_skip_empty_items_and_grow_from_the_command_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_are_those_of_spark, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_are_binary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_address_is_taken_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_colon_that_a_properties_file_lost_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_port_from_a_stronger_origin_beats_the_one_in_the_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_of_all_services_hold_where_the_servers_own_are_not_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_table_is_whole, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
