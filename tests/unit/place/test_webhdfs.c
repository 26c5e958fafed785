/* SPDX-License-Identifier: Apache-2.0
 *
 * WebHDFS against servers that answer what name nodes and data nodes answer (recorded from Hadoop 3.4.1), and what they never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/config.h"
#include "place/place.h"
#include "tests/unit/place/fake_server.h"

#define STATUS(name, type, length, time, id)                                                                                                         \
    "{\"accessTime\":1,\"blockSize\":134217728,\"childrenNum\":0,\"fileId\":" id ",\"group\":\"g\",\"length\":" length ",\"modificationTime\":" time \
    ",\"owner\":\"o\",\"pathSuffix\":\"" name "\",\"permission\":\"644\",\"replication\":1,\"storagePolicy\":0,\"type\":\"" type "\"}"
#define EXCEPTION(name, message) "{\"RemoteException\":{\"exception\":\"" name "\",\"javaClassName\":\"x." name "\",\"message\":\"" message "\"}}"

static struct fake_server one, two;
static char address[200], text[20000];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    err = (struct err){0};
    assert_int_equal(place_config_set(STR_LIT("afterglow.hdfs.user"), STR_LIT("me"), NULL), ERR_OK);
    assert_int_equal(place_config_set(STR_LIT("afterglow.places.timeoutMs"), STR_LIT("1000"), NULL), ERR_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    place_config_clear();
    return 0;
}

static const char *at(const char *path)
{
    snprintf(address, sizeof address, "webhdfs://127.0.0.1:%d%s", one.port, path);
    return address;
}

static bool asks(const struct fake_request *request, const char *part)
{
    return strstr(request->target, part) != NULL;
}

/* ---- listing */

static void answer_batches(const struct fake_request *request, struct buf *out)
{
    if (asks(request, "startAfter=b%2Fx"))
        fake_reply(out, 200, "",
                   "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" STATUS("c%41", "DIRECTORY", "0", "3", "13") "]}},\"remainingEntries\":0}}");
    else if (asks(request, "op=LISTSTATUS_BATCH") && asks(request, "/webhdfs/v1/a%20dir?") && asks(request, "&user.name=me"))
        fake_reply(out, 200, "",
                   "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[\n" STATUS("a", "FILE", "7", "1", "11") "," STATUS(
                       ".crc", "FILE", "7", "1", "14") "," STATUS("b\\/x", "FILE", "7", "2", "12") "]}},\"remainingEntries\":1}}");
    else
        fake_reply(out, 500, "", "");
}

static void names_come_in_batches_and_hostile_ones_are_told(void **state)
{
    (void)state;
    struct place_children children;
    fake_start(&one, answer_batches);
    assert_int_equal(place_list(NULL, at("/a dir"), NULL, &children, &err), ERR_OK);
    assert_int_equal(children.count, 3);
    assert_string_equal(children.items[0].name, "a");
    assert_int_equal(children.items[0].kind, CHILD_FILE);
    assert_int_equal(children.items[0].bytes, 7);
    assert_int_equal(children.items[0].modified_ms, 1);
    assert_int_equal(children.items[0].inode, 11);
    assert_string_equal(children.items[1].name, "b?x");
    assert_int_equal(children.items[1].kind, CHILD_BAD_NAME);
    assert_string_equal(children.items[2].name, "c%41");
    assert_int_equal(children.items[2].kind, CHILD_DIRECTORY);
    place_children_dispose(&children);
    fake_stop(&one);
}

static void answer_old(const struct fake_request *request, struct buf *out)
{
    if (asks(request, "LISTSTATUS_BATCH"))
        fake_reply(out, 400, "", EXCEPTION("IllegalArgumentException", "Invalid value for webhdfs parameter \\\"op\\\": No enum constant LISTSTATUS_BATCH"));
    else
        fake_reply(out, 200, "", "{\"FileStatuses\":{\"FileStatus\":[" STATUS("a", "FILE", "7", "1", "11") "]}}");
}

static void a_server_without_batches_is_asked_for_all(void **state)
{
    (void)state;
    struct place_children children;
    fake_start(&one, answer_old);
    assert_int_equal(place_list(NULL, at("/d"), NULL, &children, &err), ERR_OK);
    assert_int_equal(children.count, 1);
    place_children_dispose(&children);
    fake_stop(&one);
}

static const char *canned;
static int canned_status;
static void answer_canned(const struct fake_request *request, struct buf *out)
{
    (void)request;
    fake_reply(out, canned_status, "", canned);
}

static void nonsense_is_an_error_and_never_more(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        enum err_code code;
    } cases[] = {
        {200, "", ERR_IO},
        {200, "<html>", ERR_IO},
        {200, "{}", ERR_IO},
        {200, "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[", ERR_IO},
        {200, "{\"FileStatuses\":{\"FileStatus\":[{\"type\":\"FILE\"}]}}", ERR_IO},
        {200, "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[]}},\"remainingEntries\":5}}", ERR_IO},
        {404, EXCEPTION("FileNotFoundException", "File /d does not exist."), ERR_NOT_FOUND},
        {403, EXCEPTION("AccessControlException", "Permission denied: user=me"), ERR_PERMISSION},
        {401, "", ERR_PERMISSION},
        {404, "<html>proxy", ERR_NOT_FOUND},
        {500, EXCEPTION("IOException", "two\\nlines"), ERR_IO},
        {302, "", ERR_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct place_children children;
        canned = cases[i].body;
        canned_status = cases[i].status;
        fake_start(&one, answer_canned);
        assert_int_equal(place_list(NULL, at("/d"), NULL, &children, &err), cases[i].code);
        assert_true(err.message[0] && !strchr(err.message, '\n'));
        fake_stop(&one);
    }
}

static void answer_with_endless_head(const struct fake_request *request, struct buf *out)
{
    (void)request;
    buf_text(out, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        buf_printf(out, "X-%d: 0123456789\r\n", i);
}

static void a_head_has_an_end(void **state)
{
    (void)state;
    struct place_children children;
    fake_start(&one, answer_with_endless_head);
    assert_int_equal(place_list(NULL, at("/d"), NULL, &children, &err), ERR_LIMIT);
    fake_stop(&one);
}

/* ---- name nodes */

static void answer_standby(const struct fake_request *request, struct buf *out)
{
    (void)request;
    fake_reply(out, 403, "", EXCEPTION("StandbyException", "Operation category READ is not supported in state standby"));
}

static void answer_directory(const struct fake_request *request, struct buf *out)
{
    (void)request;
    fake_reply(out, 200, "", "{\"FileStatus\":" STATUS("", "DIRECTORY", "0", "1", "10") "}");
}

static void PRINTF_LIKE(2, 3) set(const char *key, const char *fmt, ...)
{
    char value[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    assert_int_equal(place_config_set(str_of(key), str_of(value), NULL), ERR_OK);
}

static void standby_leads_to_the_next_which_is_first_from_then_on(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&one, answer_standby);
    fake_start(&two, answer_directory);
    set("afterglow.hdfs.nameNodes", "prod=127.0.0.1:%d, prod=http://127.0.0.1:%d", one.port, two.port);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(place_stat("hdfs://prod/logs", &child, &err), ERR_OK);
        assert_int_equal(child.kind, CHILD_DIRECTORY);
        assert_string_equal(child.name, "logs");
        place_child_dispose(&child);
    }
    assert_int_equal(one.count, 1);
    assert_int_equal(two.count, 3);
    fake_stop(&one);
    fake_stop(&two);
}

static void hadoop_says_where_the_nodes_of_a_service_are(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&two, answer_directory);
    set("fs.defaultFS", "hdfs://ns1");
    set("dfs.ha.namenodes.ns1", "nn1,nn2");
    set("dfs.namenode.http-address.ns1.nn1", "127.0.0.1:1");
    set("dfs.namenode.http-address.ns1.nn2", "127.0.0.1:%d", two.port);
    assert_int_equal(place_stat("hdfs:///logs", &child, &err), ERR_OK);
    place_child_dispose(&child);
    fake_stop(&two);
}

static void answer_safe_mode_first(const struct fake_request *request, struct buf *out)
{
    if (request->number < 3)
        fake_reply(out, 403, "", EXCEPTION("RetriableException", "NameNode still not started"));
    else
        answer_directory(request, out);
}

static void a_node_that_starts_is_asked_again(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&one, answer_safe_mode_first);
    assert_int_equal(place_stat(at("/logs"), &child, &err), ERR_OK);
    place_child_dispose(&child);
    assert_int_equal(one.count, 3);
    fake_stop(&one);
}

static void what_is_away_keeps_nobody_waiting_until_it_is_probed(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&one, answer_standby);
    place_be_brief(); /* one try: the patience itself is seconds */
    assert_int_equal(place_stat(at("/logs"), &child, &err), ERR_AWAY);
    assert_int_equal(place_stat(at("/logs/x"), &child, &err), ERR_AWAY);
    assert_non_null(strstr(err.message, "StandbyException"));
    assert_int_equal(one.count, 1);
    one.answer = answer_directory;
    assert_int_equal(place_probe(at("/logs"), &child, &err), ERR_OK);
    place_child_dispose(&child);
    assert_int_equal(place_stat(at("/logs/x"), &child, &err), ERR_OK);
    place_child_dispose(&child);
    assert_int_equal(one.count, 3);
    fake_stop(&one);
}

/* ---- reading */

static char stored[300000];
static size_t reported, visible; /* what the name node and what the data node know */
static int opens;

static int64_t number(const struct fake_request *request, const char *key)
{
    const char *found = strstr(request->target, key);
    return found ? strtoll(found + strlen(key), NULL, 10) : -1;
}

static void answer_file(const struct fake_request *request, struct buf *out)
{
    int64_t offset = number(request, "offset="), length = number(request, "length=");
    if (asks(request, "op=GETFILESTATUS")) {
        char body[1000];
        snprintf(body, sizeof body, "{\"FileStatus\":{\"fileId\":9,\"length\":%zu,\"modificationTime\":5,\"pathSuffix\":\"\",\"type\":\"FILE\"}}", reported);
        fake_reply(out, 200, "", body);
    } else if (!asks(request, "/datanode")) {
        if (offset < 0 || (reported > 0 && (size_t)offset >= reported)) { /* as NamenodeWebHdfsMethods does */
            fake_reply(out, 403, "", EXCEPTION("IOException", "Offset is out of the range; OPEN"));
            return;
        }
        char location[400];
        snprintf(location, sizeof location, "Location: http://127.0.0.1:%d/datanode/webhdfs/v1/f?op=OPEN&user.name=me&namenoderpcaddress=x&offset=%lld\r\n", one.port,
                 (long long)offset);
        if (length >= 0)
            snprintf(location + strlen(location) - 2, 60, "&length=%lld\r\n", (long long)length);
        fake_reply(out, 307, location, "");
    } else {
        opens++;
        if ((size_t)offset > visible) {
            fake_reply(out, 403, "", EXCEPTION("EOFException", "Attempted to read past end of file"));
            return;
        }
        size_t len = visible - (size_t)offset;
        if (length >= 0 && (size_t)length < len)
            len = (size_t)length;
        buf_printf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", len);
        buf_append(out, stored + offset, len);
    }
}

static void answer_broken(const struct fake_request *request, struct buf *out)
{
    answer_file(request, out);
    if (asks(request, "/datanode") && opens % 2 == 1)
        out->len -= out->len / 3; /* the connection ends early */
}

static size_t read_all(const char *name, int64_t from)
{
    struct place_file *file;
    size_t used = 0, len;
    enum err_code rc;
    static char got[sizeof stored];
    assert_int_equal(place_file_open(&file, at(name), &err), ERR_OK);
    while ((rc = place_file_read(file, from + (int64_t)used, got + used, sizeof got - used < 10000 ? sizeof got - used : 10000, &len, &err)) == ERR_OK)
        used += len;
    assert_int_equal(rc, ERR_EOF);
    assert_memory_equal(got, stored + from, used);
    place_file_close(file);
    return used;
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof stored; i++)
        stored[i] = (char)('a' + i * 7919 % 26 + i / 1000 % 7);
    opens = 0;
}

static void a_file_is_read_in_growing_answers(void **state)
{
    (void)state;
    fill();
    reported = visible = sizeof stored;
    fake_start(&one, answer_file);
    assert_int_equal(read_all("/f", 0), sizeof stored);
    assert_int_equal(opens, 2); /* 64 KiB, then the rest */
    assert_int_equal(read_all("/f", 299990), 10);
    fake_stop(&one);
}

static void a_connection_that_breaks_is_begun_again_where_it_broke(void **state)
{
    (void)state;
    fill();
    reported = visible = sizeof stored;
    fake_start(&one, answer_broken);
    assert_int_equal(read_all("/f", 0), sizeof stored);
    assert_int_equal(opens, 2); /* two thirds of 64 KiB, then the rest, which fits 256 KiB */
    fake_stop(&one);
}

static void reading_goes_on_behind_the_length_that_the_name_node_knows(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 50000, 200000};
    fill();
    visible = 200000;
    fake_start(&one, answer_file);
    for (size_t i = 0; i < 4; i++) {
        struct place_child child;
        reported = lengths[i];
        assert_int_equal(place_stat(at("/f.inprogress"), &child, &err), ERR_OK);
        assert_int_equal(child.bytes, 200000);
        place_child_dispose(&child);
        assert_int_equal(read_all("/f.inprogress", 0), 200000);
        assert_int_equal(read_all("/f.inprogress", 150000), 50000);
        assert_int_equal(read_all("/f.inprogress", 200000), 0);
        assert_int_equal(read_all("/f.inprogress", 250000), 0);
    }
    fake_stop(&one);
}

static void a_closed_file_ends_where_the_name_node_says(void **state)
{
    (void)state;
    fill();
    reported = visible = 1000;
    fake_start(&one, answer_file);
    assert_int_equal(read_all("/f", 1000), 0);
    assert_int_equal(opens, 0);
    fake_stop(&one);
}

static const char *redirect_to;
static void answer_redirect(const struct fake_request *request, struct buf *out)
{
    char location[10000];
    if (asks(request, "op=GETFILESTATUS")) {
        fake_reply(out, 200, "", "{\"FileStatus\":" STATUS("", "FILE", "100", "1", "10") "}");
        return;
    }
    snprintf(location, sizeof location, "%s", redirect_to);
    if (strcmp(redirect_to, "round") == 0)
        snprintf(location, sizeof location, "Location: http://127.0.0.1:%d/again?offset=0\r\n", one.port);
    fake_reply(out, 307, location, "");
}

static void redirects_lead_nowhere_but_to_data_nodes(void **state)
{
    (void)state;
    static const char *const cases[] = {"Location: file:///etc/passwd\r\n", "Location: gopher://127.0.0.1/\r\n", "", "Location: /relative\r\n", "round"};
    fake_start(&one, answer_redirect);
    for (size_t i = 0; i < 5; i++) {
        struct place_file *file;
        size_t len;
        redirect_to = cases[i];
        assert_int_equal(place_file_open(&file, at("/f"), &err), ERR_OK);
        assert_int_equal(place_file_read(file, 0, text, sizeof text, &len, &err), ERR_IO);
        place_file_close(file);
    }
    fake_stop(&one);
}

/* ---- what scans remember */

static int listed_finished, listed_running;
static void answer_tree(const struct fake_request *request, struct buf *out)
{
    if (asks(request, "finished?op=LIST")) {
        listed_finished++;
        fake_reply(out, 200, "", "{\"FileStatuses\":{\"FileStatus\":[" STATUS("appstatus_a", "FILE", "0", "1", "21") "," STATUS("events_1_a", "FILE", "9", "1", "22") "]}}");
    } else if (asks(request, "running?op=LIST")) {
        listed_running++;
        fake_reply(out, 200, "",
                   "{\"FileStatuses\":{\"FileStatus\":[" STATUS("appstatus_b.inprogress", "FILE", "0", "1",
                                                                "31") "," STATUS("events_9_b", "FILE", "100", "1", "32") "," STATUS("events_10_b", "FILE", "0", "1", "33") "]}}");
    } else if (asks(request, "events_10_b?op=OPEN")) {
        buf_text(out, "HTTP/1.1 200 OK\r\nContent-Length: 4242\r\nConnection: close\r\n\r\n");
    } else {
        fake_reply(out, 404, "", EXCEPTION("FileNotFoundException", "no"));
    }
}

static void finished_rolling_logs_are_asked_for_once_and_growing_ones_measured(void **state)
{
    (void)state;
    struct place_view *view;
    struct place_child finished = {.kind = CHILD_DIRECTORY, .modified_ms = 5, .inode = 20}, running = {.kind = CHILD_DIRECTORY, .modified_ms = 5, .inode = 30};
    struct place_children children;
    fake_start(&one, answer_tree);
    assert_int_equal(place_view_new(at("/logs"), &view, &err), ERR_OK);
    for (int scan = 0; scan < 3; scan++) {
        if (scan == 2)
            finished.modified_ms = 6; /* a name in it changed */
        assert_int_equal(place_view_begin(view, &err), ERR_OK);
        assert_int_equal(place_list(view, at("/logs/finished"), &finished, &children, &err), ERR_OK);
        assert_int_equal(children.count, 2);
        assert_int_equal(children.items[1].bytes, 9);
        place_children_dispose(&children);
        assert_int_equal(place_list(view, at("/logs/running"), &running, &children, &err), ERR_OK);
        assert_int_equal(children.count, 3);
        assert_string_equal(children.items[1].name, "events_10_b");
        assert_int_equal(children.items[1].bytes, 4242);
        assert_int_equal(children.items[2].bytes, 100);
        place_children_dispose(&children);
    }
    assert_int_equal(listed_finished, 2);
    assert_int_equal(listed_running, 3);
    place_view_free(view);
    fake_stop(&one);
}

/* ---- who asks */

static void answer_with_token(const struct fake_request *request, struct buf *out)
{
    if (asks(request, "&delegation=to%2Fken") && !asks(request, "user.name"))
        answer_directory(request, out);
    else
        fake_reply(out, 401, "", "");
}

static void a_delegation_token_goes_before_names_and_is_never_told(void **state)
{
    (void)state;
    struct place_child child;
    char path[] = "/tmp/afterglow-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "to/ken\n", 7) == 7);
    close(fd);
    assert_int_equal(place_config_set(STR_LIT("afterglow.hdfs.tokenFile"), str_of(path), NULL), ERR_OK);
    fake_start(&one, answer_with_token);
    assert_int_equal(place_stat(at("/d"), &child, &err), ERR_OK);
    place_child_dispose(&child);
    one.answer = answer_canned;
    canned = "";
    canned_status = 403;
    assert_int_equal(place_stat(at("/d"), &child, &err), ERR_PERMISSION);
    assert_null(strstr(err.message, "ken"));
    fake_stop(&one);
    unlink(path);
}

static void answer_late(const struct fake_request *request, struct buf *out)
{
    (void)request;
    (void)out;
    usleep(1500 * 1000);
}

static void a_server_that_says_nothing_is_away(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&one, answer_late);
    int64_t began_ns = time_monotonic_ns();
    assert_int_equal(place_stat(at("/slow"), &child, &err), ERR_AWAY);
    assert_true(time_monotonic_ns() - began_ns < 3000 * (int64_t)NS_PER_MS);
    fake_stop(&one);
}

static void place_stop_ends_all_waiting(void **state)
{
    (void)state;
    struct place_child child;
    fake_start(&one, answer_late);
    place_stop();
    assert_int_equal(place_probe(at("/slow"), &child, &err), ERR_CANCELLED);
    place_go_on();
    fake_stop(&one);
}

static void answer_delete(const struct fake_request *request, struct buf *out)
{
    if (strcmp(request->method, "DELETE") != 0 || !asks(request, "?op=DELETE&recursive=false&user.name=me"))
        fake_reply(out, 400, "", "");
    else if (asks(request, "/logs/full?"))
        fake_reply(out, 403, "", EXCEPTION("PathIsNotEmptyDirectoryException", "`/logs/full is non empty': Directory is not empty"));
    else if (asks(request, "/logs/foreign?"))
        fake_reply(out, 403, "", EXCEPTION("AccessControlException", "Permission denied: user=me, access=WRITE, inode=\\\"/logs\\\""));
    else
        fake_reply(out, 200, "", asks(request, "/webhdfs/v1/logs/app-1?") ? "{\"boolean\":true}" : "{\"boolean\":false}");
}

static void what_is_deleted_is_told_and_so_is_what_was_not_there(void **state)
{
    (void)state;
    fake_start(&one, answer_delete);
    assert_int_equal(place_remove(at("/logs/app-1"), CHILD_FILE, &err), ERR_OK);
    assert_int_equal(place_remove(at("/logs/app-2"), CHILD_FILE, &err), ERR_NOT_FOUND);
    assert_int_equal(place_remove(at("/logs/full"), CHILD_DIRECTORY, &err), ERR_BUSY);
    assert_int_equal(place_remove(at("/logs/foreign"), CHILD_FILE, &err), ERR_PERMISSION);
    fake_stop(&one);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(names_come_in_batches_and_hostile_ones_are_told),
        CASE(a_server_without_batches_is_asked_for_all),
        CASE(nonsense_is_an_error_and_never_more),
        CASE(a_head_has_an_end),
        CASE(standby_leads_to_the_next_which_is_first_from_then_on),
        CASE(hadoop_says_where_the_nodes_of_a_service_are),
        CASE(a_node_that_starts_is_asked_again),
        CASE(a_file_is_read_in_growing_answers),
        CASE(a_connection_that_breaks_is_begun_again_where_it_broke),
        CASE(reading_goes_on_behind_the_length_that_the_name_node_knows),
        CASE(a_closed_file_ends_where_the_name_node_says),
        CASE(redirects_lead_nowhere_but_to_data_nodes),
        CASE(finished_rolling_logs_are_asked_for_once_and_growing_ones_measured),
        CASE(a_delegation_token_goes_before_names_and_is_never_told),
        CASE(what_is_deleted_is_told_and_so_is_what_was_not_there),
        CASE(what_is_away_keeps_nobody_waiting_until_it_is_probed), /* from here on this thread has no patience */
        CASE(a_server_that_says_nothing_is_away),
        CASE(place_stop_ends_all_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
