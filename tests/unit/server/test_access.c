/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access.h"
#include "server/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* spec/files.md §7.2, clause by clause. */
static void the_rule_of_the_history_server(void **state)
{
    (void)state;
    static const struct {
        const char *user, *groups, *owner, *view_users, *view_groups;
        bool wanted;
    } cases[] = {
        {NULL, "", "alice", NULL, NULL, true}, /* nobody is named */
        {"alice", "", "alice", NULL, NULL, true},
        {"bob", "", "alice", NULL, NULL, false},
        {"bob", "", NULL, NULL, NULL, false},                /* a log that does not say whose it is */
        {"bob", "", "alice", "carol, bob ,dan", NULL, true}, /* split at commas, trimmed */
        {"bob", "", "alice", "bobby,bo", NULL, false},
        {"bob", "", "alice", "Bob", NULL, false},
        {"bob", "", "alice", "x,*", NULL, true},
        {"bob", "", "alice", "", "", false},
        {"bob", "", "alice", " , ,", " , ", false},
        {"bob", "", "alice", NULL, "*", true},
        {"bob", "dev", "alice", NULL, "ops,dev", true},
        {"bob", "dev,ops", "alice", NULL, " ops ", true},
        {"bob", "dev", "alice", "dev", NULL, false},              /* a group is no user */
        {"dev", "x", "alice", NULL, "dev", false},                /* and a user no group */
        {"bob", "", "alice", "*********(redacted)", NULL, false}, /* as Spark hid it */
        {"*", "", "alice", "x", NULL, false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const struct viewer viewer = {.user = str_of(cases[i].user), .groups = str_of(cases[i].groups)};
        const struct access_rules rules = {str_of(cases[i].owner), str_of(cases[i].view_users), str_of(cases[i].view_groups)};
        if (access_may_see(&viewer, &rules) != cases[i].wanted)
            fail_msg("case %zu", i);
    }
    const struct access_rules closed = {STR_LIT("alice"), STR_NONE, STR_NONE}, open = {STR_LIT("alice"), STR_LIT("*"), STR_NONE};
    assert_true(access_may_see(&(struct viewer){.sees_all = true, .user = STR_LIT("root")}, &closed));
    assert_false(access_may_see(&(struct viewer){.refusal = "no", .sees_all = true}, &open));
}

static const char *const admins[] = {"root"}, *const admin_groups[] = {"ops"}, *const proxies[] = {"127.0.0.0/8", "10.1.2.3", "2001:db8::/33"};

static const char *password_of; /* whose password came and was right; NULL: nobody's */

static struct viewer who(struct access_settings settings, const char *peer, const char *user, const char *groups, const char *do_as, struct arena *arena)
{
    struct access *access;
    struct viewer viewer;
    unsigned char address[16];
    settings.admins = admins;
    settings.admin_count = 1;
    settings.admin_groups = admin_groups;
    settings.admin_group_count = 1;
    settings.proxies = proxies;
    settings.proxy_count = ARRAY_LENGTH(proxies);
    assert_true(network_parse_address(peer, address));
    assert_int_equal(access_new(&access, &settings, NULL), ERR_OK);
    assert_int_equal(access_identify(access, address, str_of(password_of), str_of(user), str_of(groups), str_of(do_as), arena, &viewer, NULL), ERR_OK);
    access_free(access);
    return viewer;
}

static void a_name_is_believed_from_a_proxy_only(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct access_settings on = {.enabled = true, .header = "X-User", .groups_header = "X-Groups"}, off = {.header = "X-User", .groups_header = "X-Groups"},
                                 nameless = {.enabled = true};
    for (size_t i = 0; i < 5; i++) {
        static const char *const near[] = {"127.0.0.1", "127.9.9.9", "10.1.2.3", "2001:db8::1", "2001:db8:7fff::1"}, *const far[] = {"128.0.0.1", "10.1.2.4", "::1",
                                                                                                                                     "2001:db8:8000::1", "::"};
        struct viewer viewer = who(on, near[i], "bob", "a,b", NULL, &arena);
        assert_true(str_is(viewer.user, "bob") && str_is(viewer.groups, "a,b") && !viewer.sees_all && !viewer.refusal);
        assert_non_null(who(on, far[i], "root", NULL, NULL, &arena).refusal);
        assert_non_null(who(on, far[i], NULL, NULL, NULL, &arena).refusal);
        /* Without access lists the proxy is all that keeps others out. */
        assert_non_null(who(off, far[i], "bob", NULL, NULL, &arena).refusal);
        assert_false(who(off, far[i], "bob", NULL, NULL, &arena).sees_all);
        viewer = who(off, near[i], "bob", NULL, NULL, &arena);
        assert_true(viewer.sees_all && !viewer.refusal && str_is(viewer.user, "bob"));
        assert_true(who(nameless, far[i], "bob", NULL, NULL, &arena).sees_all);
    }
    assert_true(who(on, "127.0.0.1", NULL, NULL, NULL, &arena).sees_all);
    assert_true(who(on, "127.0.0.1", "root", NULL, NULL, &arena).sees_all);
    assert_true(who(on, "127.0.0.1", "bob", "x,ops", NULL, &arena).sees_all);
    assert_non_null(who(on, "127.0.0.1", "ro\not", NULL, NULL, &arena).refusal);
    assert_non_null(who(on, "127.0.0.1", "a,root", NULL, NULL, &arena).refusal);
    arena_dispose(&arena);
}

static void a_password_names_who_came_without_a_proxy(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct access_settings lists = {.enabled = true, .login = true}, none = {.login = true}, both = {.enabled = true, .login = true, .header = "X-User", .groups_header = "X-Groups"};
    struct viewer viewer = who(lists, "128.0.0.1", "root", "ops", NULL, &arena);
    assert_true(viewer.refusal && viewer.must_log_in && !viewer.sees_all && !str_known(viewer.user)); /* nobody asked for that header */
    viewer = who(lists, "128.0.0.1", NULL, NULL, "root", &arena);
    assert_true(viewer.refusal && viewer.must_log_in && !str_known(viewer.user)); /* doAs is no name */
    viewer = who(none, "127.0.0.1", NULL, NULL, NULL, &arena);
    assert_true(viewer.refusal && viewer.must_log_in && !viewer.sees_all);
    viewer = who(both, "127.0.0.1", "", NULL, NULL, &arena);
    assert_true(viewer.must_log_in); /* a proxy that names nobody lets nobody in */
    viewer = who(both, "127.0.0.1", "carol", "ops", NULL, &arena);
    assert_true(str_is(viewer.user, "carol") && viewer.sees_all && !viewer.must_log_in);
    viewer = who(both, "128.0.0.1", "root", NULL, NULL, &arena);
    assert_true(viewer.must_log_in && viewer.refusal);

    password_of = "bob";
    viewer = who(lists, "128.0.0.1", "root", "ops", NULL, &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all && !viewer.refusal && !viewer.must_log_in);
    viewer = who(none, "128.0.0.1", NULL, NULL, NULL, &arena);
    assert_true(str_is(viewer.user, "bob") && viewer.sees_all);
    viewer = who(both, "128.0.0.1", "root", "ops", NULL, &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all); /* neither header is believed from there */
    viewer = who(both, "127.0.0.1", NULL, "ops", NULL, &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all); /* the proxy named nobody: the groups are the client's own words */
    viewer = who(both, "127.0.0.1", "root", NULL, NULL, &arena);
    assert_true(str_is(viewer.user, "root") && viewer.sees_all);
    assert_string_equal(who(lists, "128.0.0.1", NULL, NULL, "root", &arena).refusal, "User bob is not allowed to impersonate others.");
    password_of = "root";
    viewer = who(lists, "128.0.0.1", NULL, NULL, "bob", &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all);
    password_of = NULL;
    arena_dispose(&arena);
}

static void the_client_is_who_the_proxies_say(void **state)
{
    (void)state;
    static const struct {
        const char *peer, *forwarded, *wanted;
    } cases[] = {
        {"127.0.0.1", NULL, "127.0.0.1"},
        {"127.0.0.1", "192.0.2.7", "192.0.2.7"},
        {"127.0.0.1", "192.0.2.7:4711", "192.0.2.7"},
        {"127.0.0.1", "[2001:470::7]:4711", "2001:470::7"},
        {"127.0.0.1", "2001:470::7", "2001:470::7"},
        {"127.0.0.1", "::ffff:192.0.2.7", "192.0.2.7"},
        {"192.0.2.1", "192.0.2.7", "192.0.2.1"},                          /* not a proxy of ours */
        {"127.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"},            /* the first is what the client wrote itself */
        {"127.0.0.1", "198.51.100.1, 192.0.2.7 ,10.1.2.3", "192.0.2.7"},  /* two proxies */
        {"127.0.0.1", "10.1.2.3, 127.0.0.9", "10.1.2.3"},                 /* nobody but proxies */
        {"127.0.0.1", "192.0.2.7, unknown", "127.0.0.1"},
        {"127.0.0.1", "192.0.2.7, <script>, 10.1.2.3", "10.1.2.3"},
        {"127.0.0.1", ",", "127.0.0.1"},
        {"127.0.0.1", "192.0.2.7,", "127.0.0.1"},
        {"127.0.0.1", "", "127.0.0.1"},
    };
    struct access *access;
    const struct access_settings settings = {.proxies = proxies, .proxy_count = ARRAY_LENGTH(proxies)};
    assert_int_equal(access_new(&access, &settings, NULL), ERR_OK);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        unsigned char peer[16], client[16];
        char text[ACCESS_ADDRESS_BYTES];
        assert_true(network_parse_address(cases[i].peer, peer));
        access_client(access, peer, str_of(cases[i].forwarded), client);
        assert_string_equal(access_address_text(client, text), cases[i].wanted);
    }
    access_free(access);
}

static void do_as_is_for_administrators_and_oneself(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct access_settings on = {.enabled = true, .header = "X-User", .groups_header = "X-Groups"};
    struct viewer viewer = who(on, "127.0.0.1", "root", "ops", "bob", &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all && str_is(viewer.groups, "") && !viewer.refusal);
    assert_true(str_is(viewer.asker, "root"));
    viewer = who(on, "127.0.0.1", "bob", "x", "bob", &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.refusal && str_is(viewer.groups, "x"));
    assert_string_equal(who(on, "127.0.0.1", "bob", "x", "root", &arena).refusal, "User bob is not allowed to impersonate others.");
    viewer = who(on, "127.0.0.1", NULL, NULL, "bob", &arena);
    assert_true(str_is(viewer.user, "bob") && !viewer.sees_all);
    assert_non_null(who(on, "127.0.0.1", "root", NULL, "`touch /tmp/x`\n", &arena).refusal);
    arena_dispose(&arena);
}

static void groups_come_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-groups-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "dev:x:1:bob, carol\n#ops:x:2:bob\nempty:x:3:\nshort:x\nops:x:2:carol\nlast:x:4:bob";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct access_settings on = {.enabled = true, .header = "X-User", .groups_file = path};
    assert_true(str_is(who(on, "127.0.0.1", "bob", "ops", NULL, &arena).groups, "dev,last"));
    assert_true(who(on, "127.0.0.1", "carol", NULL, NULL, &arena).sees_all);
    assert_true(str_is(who(on, "127.0.0.1", "dan", NULL, NULL, &arena).groups, ""));
    unlink(path);
    assert_true(str_is(who(on, "127.0.0.1", "bob", NULL, NULL, &arena).groups, ""));
    arena_dispose(&arena);
}

static void groups_come_from_the_system(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct access_settings on = {.enabled = true, .header = "X-User"};
    struct viewer viewer = who(on, "127.0.0.1", "daemon", NULL, NULL, &arena);
    assert_true(str_starts(viewer.groups, "daemon")); /* user and group of Debian's base */
    assert_true(str_is(who(on, "127.0.0.1", "no-such-user-here", NULL, NULL, &arena).groups, ""));
    arena_dispose(&arena);
}

static void headers_must_be_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "X User", "X-User: a", "X-User\r\nY", "\xC3\xA4"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct access *access;
        assert_int_equal(access_new(&access, &(struct access_settings){.header = bad[i]}, NULL), ERR_INVALID);
        access_free(access);
        assert_int_equal(access_new(&access, &(struct access_settings){.groups_header = bad[i]}, NULL), ERR_INVALID);
        access_free(access);
    }
}

static void proxies_must_be_addresses(void **state)
{
    (void)state;
    static const char *const bad[] = {"proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "::1/129", "10.0.0.0/", "10.0.0.0/x", ""};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct access *access;
        struct err err = {0};
        const struct access_settings settings = {.proxies = &bad[i], .proxy_count = 1};
        assert_int_equal(access_new(&access, &settings, &err), ERR_INVALID);
        assert_true(str_starts(str_of(err.message), "afterglow.auth.proxies: "));
        access_free(access);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_of_the_history_server), cmocka_unit_test(a_name_is_believed_from_a_proxy_only), cmocka_unit_test(do_as_is_for_administrators_and_oneself),
        cmocka_unit_test(groups_come_from_a_file),        cmocka_unit_test(groups_come_from_the_system),          cmocka_unit_test(proxies_must_be_addresses),
        cmocka_unit_test(headers_must_be_names), cmocka_unit_test(a_password_names_who_came_without_a_proxy), cmocka_unit_test(the_client_is_who_the_proxies_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
