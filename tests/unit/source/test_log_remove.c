/* SPDX-License-Identifier: Apache-2.0
 *
 * What is deleted, and above all what is not: links, hostile paths, foreign files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "ingest/source/log_remove.h"
#include "place/place.h"
#include "tests/unit/place/fake_server.h"

static char root[64], place[80];

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/afterglow-test-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(place, sizeof place, "%s/logs", root);
    return mkdir(place, 0777);
}

static int tear_down(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", root, root);
    return system(command);
}

static const char *at(const char *name)
{
    static char paths[4][4400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void put(const char *name)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    fputs("x\n", file);
    fclose(file);
}

static bool there(const char *name)
{
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static void expect(const char *name, enum log_layout layout, enum err_code wanted, bool wanted_begun)
{
    bool begun = !wanted_begun;
    struct err err = {0};
    assert_int_equal(log_remove(place, at(name), layout, &begun, &err), wanted);
    assert_int_equal(begun, wanted_begun);
}

static void a_file_goes_and_nothing_beside_it(void **state)
{
    (void)state;
    put("logs/app-1");
    put("logs/app-1.inprogress");
    put("logs/.app-1.crc"); /* Hadoop's check sum, which its local file system deletes as well */
    put("logs/.app-1.inprogress.crc");
    expect("logs/app-1", LAYOUT_FILE, ERR_OK, true);
    assert_false(there("logs/app-1"));
    assert_false(there("logs/.app-1.crc"));
    assert_true(there("logs/.app-1.inprogress.crc"));
    assert_true(there("logs/app-1.inprogress"));
    expect("logs/app-1", LAYOUT_FILE, ERR_OK, false);                /* again: it is gone already */
    assert_int_equal(mkdir(at("logs/below"), 0777), 0);
    put("logs/below/app \xff\n'2");
    expect("logs/below/app \xff\n'2", LAYOUT_FILE, ERR_OK, true);
    assert_true(there("logs/below"));
}

static void a_rolling_directory_goes_whole(void **state)
{
    (void)state;
    mkdir(at("logs/eventlog_v2_a"), 0777);
    put("logs/eventlog_v2_a/events_1_a.zstd.compact");
    put("logs/eventlog_v2_a/events_2_a.zstd");
    put("logs/eventlog_v2_a/.events_2_a.zstd.crc");
    put("logs/eventlog_v2_a/appstatus_a");
    expect("logs/eventlog_v2_a", LAYOUT_ROLLING, ERR_OK, true);
    assert_false(there("logs/eventlog_v2_a"));
    expect("logs/eventlog_v2_a", LAYOUT_ROLLING, ERR_OK, false);
}

static void foreign_files_and_their_directory_stay(void **state)
{
    (void)state;
    mkdir(at("logs/eventlog_v2_a"), 0777);
    mkdir(at("logs/eventlog_v2_a/events_9_directory"), 0777);
    put("logs/eventlog_v2_a/notes.txt");
    put("logs/eventlog_v2_a/appstatus_a");
    bool begun;
    assert_int_equal(log_remove(place, at("logs/eventlog_v2_a"), LAYOUT_ROLLING, &begun, NULL), ERR_INVALID);    /* a directory where a file belongs */
    assert_int_equal(rmdir(at("logs/eventlog_v2_a/events_9_directory")), 0);
    assert_int_equal(log_remove(place, at("logs/eventlog_v2_a"), LAYOUT_ROLLING, &begun, NULL), ERR_OK);
    assert_true(there("logs/eventlog_v2_a/notes.txt"));
    assert_false(there("logs/eventlog_v2_a/appstatus_a"));
}

static void links_are_not_followed(void **state)
{
    (void)state;
    mkdir(at("outside"), 0777);
    mkdir(at("outside/eventlog_v2_a"), 0777);
    put("outside/app-1");
    put("outside/eventlog_v2_a/events_1_a");
    assert_int_equal(symlink(at("outside/app-1"), at("logs/app-1")), 0);
    assert_int_equal(symlink(at("outside"), at("logs/below")), 0);
    assert_int_equal(symlink(at("outside/eventlog_v2_a"), at("logs/eventlog_v2_a")), 0);
    mkdir(at("logs/eventlog_v2_b"), 0777);
    assert_int_equal(symlink(at("outside/app-1"), at("logs/eventlog_v2_b/events_1_b")), 0);
    expect("logs/app-1", LAYOUT_FILE, ERR_INVALID, false);
    expect("logs/below/app-1", LAYOUT_FILE, ERR_INVALID, false);
    expect("logs/eventlog_v2_a", LAYOUT_ROLLING, ERR_INVALID, false);
    expect("logs/eventlog_v2_b", LAYOUT_ROLLING, ERR_INVALID, false);
    assert_true(there("outside/app-1") && there("outside/eventlog_v2_a/events_1_a") && there("logs/app-1") && there("logs/eventlog_v2_b/events_1_b"));
}

static void a_place_that_is_a_link_is_the_operators_choice(void **state)
{
    (void)state;
    put("logs/app-1");
    char link[96], path[128];
    bool begun;
    snprintf(link, sizeof link, "%s/by-link", root);
    assert_int_equal(symlink(place, link), 0);
    snprintf(path, sizeof path, "%s/app-1", link);
    assert_int_equal(log_remove(link, path, LAYOUT_FILE, &begun, NULL), ERR_OK);
    assert_false(there("logs/app-1"));
}

static void paths_that_leave_their_place_are_refused(void **state)
{
    (void)state;
    put("app-1");
    put("logs-too");
    mkdir(at("logs/below"), 0777);
    static const char *const names[] = {"app-1", "logs-too", "logs", "logs/", "logs/../app-1", "logs/below/../../app-1", "logs/.", "logs/..", "logs//app-1", "logs/below/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(names[i], LAYOUT_FILE, ERR_INVALID, false);
    char long_name[400] = "logs/";
    memset(long_name + 5, 'a', 300);
    expect(long_name, LAYOUT_FILE, ERR_INVALID, false);
    assert_true(there("app-1") && there("logs-too"));
}

static void other_kinds_are_refused(void **state)
{
    (void)state;
    put("logs/logs.zip");
    mkdir(at("logs/dir"), 0777);
    put("logs/dir/events_1_a");
    expect("logs/logs.zip", LAYOUT_ZIP, ERR_UNSUPPORTED, false);
    expect("logs/dir", LAYOUT_LEGACY, ERR_UNSUPPORTED, false);
    expect("logs/dir", LAYOUT_DATABRICKS, ERR_UNSUPPORTED, false);
    expect("logs/dir", LAYOUT_ROLLING, ERR_UNSUPPORTED, false);
    expect("logs/dir", LAYOUT_FILE, ERR_INVALID, false);
    assert_true(there("logs/logs.zip") && there("logs/dir/events_1_a"));
}

static void a_place_that_is_away_deletes_nothing(void **state)
{
    (void)state;
    bool begun;
    char away[96], path[128];
    snprintf(away, sizeof away, "%s/away", root);
    snprintf(path, sizeof path, "%s/app-1", away);
    assert_int_equal(log_remove(away, path, LAYOUT_FILE, &begun, NULL), ERR_NOT_FOUND);
}

/* ---- HDFS: a name node that knows one rolling log, and says what it was asked to delete */

static struct fake_server node;
static char deleted[400];
static const char *foreign; /* one more name in the directory; NULL: none */

static void answer_deletes(const struct fake_request *request, struct buf *out)
{
    const char *path = request->target + strlen("/webhdfs/v1");
    char reply[600];
    size_t used = strlen(deleted);
    if (strstr(request->target, "op=LISTSTATUS_BATCH") && strncmp(path, "/logs/eventlog_v2_a?", 20) == 0) {
        static const char one[] = "{\"fileId\":%d,\"length\":3,\"modificationTime\":1,\"pathSuffix\":\"%s\",\"type\":\"%s\"}";
        CLEANUP(buf_dispose) struct buf body;
        buf_init(&body, 10000);
        buf_text(&body, "{\"FileStatuses\":{\"FileStatus\":[");
        buf_printf(&body, one, 1, "events_1_a", "FILE");
        buf_char(&body, ',');
        buf_printf(&body, one, 2, "appstatus_a", "FILE");
        if (foreign) {
            buf_char(&body, ',');
            buf_printf(&body, one, 3, foreign, strncmp(foreign, "events_", 7) == 0 ? "DIRECTORY" : "FILE");
        }
        buf_text(&body, "]}}");
        fake_reply(out, 200, "", body.data);
    } else if (strcmp(request->method, "DELETE") == 0 && strstr(request->target, "recursive=false")) {
        bool full = foreign && strncmp(path, "/logs/eventlog_v2_a?", 20) == 0, closed = strncmp(path, "/logs/closed?", 13) == 0, gone = strncmp(path, "/logs/gone?", 11) == 0;
        snprintf(reply, sizeof reply, "{\"RemoteException\":{\"exception\":\"%s\",\"javaClassName\":\"x\",\"message\":\"no\"}}", full ? "PathIsNotEmptyDirectoryException" : "AccessControlException");
        fake_reply(out, full || closed ? 403 : 200, "", full || closed ? reply : gone ? "{\"boolean\":false}" : "{\"boolean\":true}");
        if (!full && !closed && !gone)
            snprintf(deleted + used, sizeof deleted - used, "%.*s;", (int)strcspn(path, "?"), path);
    } else {
        fake_reply(out, 404, "", "");
    }
}

static int set_up_node(void **state)
{
    (void)state;
    deleted[0] = '\0';
    foreign = NULL;
    place_be_brief();
    fake_start(&node, answer_deletes);
    snprintf(place, sizeof place, "webhdfs://127.0.0.1:%d/logs", node.port);
    return 0;
}

static int tear_down_node(void **state)
{
    (void)state;
    fake_stop(&node);
    return 0;
}

static void expect_remote(const char *name, enum log_layout layout, enum err_code wanted, bool wanted_begun, const char *wanted_deleted)
{
    char path[200];
    bool begun = !wanted_begun;
    struct err err = {0};
    deleted[0] = '\0';
    snprintf(path, sizeof path, "%s/%s", place, name);
    assert_int_equal(log_remove(place, path, layout, &begun, &err), wanted);
    assert_int_equal(begun, wanted_begun);
    assert_string_equal(deleted, wanted_deleted);
}

static void a_remote_log_goes_by_the_same_rules(void **state)
{
    (void)state;
    expect_remote("app-1", LAYOUT_FILE, ERR_OK, true, "/logs/app-1;");
    expect_remote("below/app-1", LAYOUT_FILE, ERR_OK, true, "/logs/below/app-1;");
    expect_remote("gone", LAYOUT_FILE, ERR_OK, false, "");
    expect_remote("closed", LAYOUT_FILE, ERR_PERMISSION, false, "");
    expect_remote("eventlog_v2_a", LAYOUT_ROLLING, ERR_OK, true, "/logs/eventlog_v2_a/appstatus_a;/logs/eventlog_v2_a/events_1_a;/logs/eventlog_v2_a;");
    expect_remote("eventlog_v2_none", LAYOUT_ROLLING, ERR_OK, false, "");
    foreign = ".events_1_a.crc"; /* Hadoop's check sum, copied there from a local directory */
    expect_remote("eventlog_v2_a", LAYOUT_ROLLING, ERR_OK, true, "/logs/eventlog_v2_a/.events_1_a.crc;/logs/eventlog_v2_a/appstatus_a;/logs/eventlog_v2_a/events_1_a;");
    foreign = "notes.txt";
    expect_remote("eventlog_v2_a", LAYOUT_ROLLING, ERR_OK, true, "/logs/eventlog_v2_a/appstatus_a;/logs/eventlog_v2_a/events_1_a;");
    foreign = "events_2_directory";
    expect_remote("eventlog_v2_a", LAYOUT_ROLLING, ERR_INVALID, true, "/logs/eventlog_v2_a/appstatus_a;/logs/eventlog_v2_a/events_1_a;");
}

static void what_is_refused_here_is_refused_there(void **state)
{
    (void)state;
    expect_remote("", LAYOUT_FILE, ERR_INVALID, false, "");
    expect_remote("../other/app-1", LAYOUT_FILE, ERR_INVALID, false, "");
    expect_remote("below/./app-1", LAYOUT_FILE, ERR_INVALID, false, "");
    expect_remote("dir", LAYOUT_ROLLING, ERR_UNSUPPORTED, false, "");
    expect_remote("logs.zip", LAYOUT_ZIP, ERR_UNSUPPORTED, false, "");
    bool begun;
    assert_int_equal(log_remove(place, "webhdfs://127.0.0.1:1/logs/app-1", LAYOUT_FILE, &begun, NULL), ERR_INVALID);
    assert_int_equal(log_remove("hdfs:///", "hdfs://nn/app-1", LAYOUT_FILE, &begun, NULL), ERR_INVALID);
}

static void a_log_of_a_place_without_an_answer_may_be_gone(void **state)
{
    (void)state;
    bool begun = false;
    assert_int_equal(log_remove("webhdfs://127.0.0.1:1/logs", "webhdfs://127.0.0.1:1/logs/app-1", LAYOUT_FILE, &begun, NULL), ERR_AWAY);
    assert_true(begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_goes_and_nothing_beside_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rolling_directory_goes_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_files_and_their_directory_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_are_not_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_place_that_is_a_link_is_the_operators_choice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_that_leave_their_place_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_kinds_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_place_that_is_away_deletes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_remote_log_goes_by_the_same_rules, set_up_node, tear_down_node),
        cmocka_unit_test_setup_teardown(what_is_refused_here_is_refused_there, set_up_node, tear_down_node),
        cmocka_unit_test_setup_teardown(a_log_of_a_place_without_an_answer_may_be_gone, set_up_node, tear_down_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
