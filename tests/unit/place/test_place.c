/* SPDX-License-Identifier: Apache-2.0 */
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

#include "base/buf.h"
#include "base/mem.h"
#include "place/config.h"
#include "place/place.h"
#include "place/place_driver.h"

static void expect_address(const char *text, const char *address)
{
    char *ret;
    struct err err = {0};
    assert_int_equal(place_address(text, &ret, &err), ERR_OK);
    assert_string_equal(ret, address);
    mem_free(ret);
}

static void addresses_have_one_spelling(void **state)
{
    (void)state;
    expect_address("/a//b/./c/", "/a/b/c");
    expect_address("file:/a/b", "/a/b");
    expect_address("file:///a/b/", "/a/b");
    expect_address("/", "/");
    expect_address("hdfs://prod/a//b/./c/", "hdfs://prod/a/b/c");
    expect_address("hdfs://nn:8020", "hdfs://nn:8020/");
    expect_address("webhdfs://n1:9870,n2:9870/x", "webhdfs://n1:9870,n2:9870/x");
    expect_address("s3a://bucket", "s3a://bucket/");
    expect_address("s3://bucket/a b/%41", "s3://bucket/a b/%41");
    char here[4096], expected[4200];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/x", strcmp(here, "/") ? here : "");
    expect_address("x", expected);
    expect_address(".", here);
    expect_address("./x/", expected);
}

static void addresses_that_make_no_sense_are_refused_without_their_secrets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err_code code;
    } cases[] = {
        {"gs://bucket/x", ERR_UNSUPPORTED},
        {"http://host/x", ERR_UNSUPPORTED},
        {"ftp://x/y", ERR_UNSUPPORTED},
        {"s3a://KEY:hunter2@bucket/x", ERR_INVALID},
        {"s3a:///x", ERR_INVALID},
        {"s3a://b?x/y", ERR_INVALID},
        {"hdfs://prod/a/../b", ERR_INVALID},
        {"file://host/x", ERR_INVALID},
        {"file:x", ERR_INVALID},
        {"hdfs:///x", ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *ret;
        struct err err = {0};
        assert_int_equal(place_address(cases[i].text, &ret, &err), cases[i].code);
        assert_null(ret);
        assert_null(strstr(err.message, "hunter2"));
    }
}

static void an_address_with_a_secret_is_not_told(void **state)
{
    (void)state;
    assert_null(strstr(place_shown("s3a://KEY:hunter2@bucket/x"), "hunter2"));
    assert_string_equal(place_shown("gs://bucket/x"), "gs://bucket/x");
    assert_string_equal(place_shown("/home/me@work"), "/home/me@work");
}

static void parents_and_members_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *address, *parent, *name;
    } cases[] = {{"/a/b", "/a", "b"}, {"/a", "/", "a"}, {"/", "/", ""}, {"hdfs://n/a/b", "hdfs://n/a", "b"}, {"hdfs://n/a", "hdfs://n/", "a"}, {"s3a://b/", "s3a://b/", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name;
        char *parent = place_parent(cases[i].address, &name);
        assert_string_equal(parent, cases[i].parent);
        assert_string_equal(name, cases[i].name);
        mem_free(parent);
    }
    assert_null(place_member("hdfs://n/a/b.zip"));
    assert_string_equal(place_member("hdfs://n/a/b.zip//log"), "//log");
    assert_string_equal(place_member("/a/b.zip//log"), "//log");
    assert_null(place_member("/"));
}

static void escapes_go_there_and_back(void **state)
{
    (void)state;
    char all[256], back[256];
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, 1024);
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    place_escape(&out, str_of(all), false);
    assert_true(place_unescape(buf_str(&out), back, sizeof back));
    assert_string_equal(all, back);
    assert_false(place_unescape(STR_LIT("%4"), back, sizeof back));
    assert_false(place_unescape(STR_LIT("%"), back, sizeof back));
    assert_false(place_unescape(STR_LIT("%G1"), back, sizeof back));
    assert_false(place_unescape(STR_LIT("%00"), back, sizeof back));
    assert_false(place_unescape(STR_LIT("abcd"), back, 4));
    assert_true(place_unescape(STR_LIT("abc"), back, 4));
}

static void local_directories_are_listed(void **state)
{
    (void)state;
    char root[] = "/tmp/afterglow-place-XXXXXX", path[200];
    struct err err = {0};
    assert_non_null(mkdtemp(root));
    static const char *const names[] = {"b", ".hidden", "a\nb"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        FILE *file = fopen(path, "w");
        fputs("text", file);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/link", root);
    assert_int_equal(symlink("/", path), 0);
    struct place_children children;
    assert_int_equal(place_list(NULL, root, NULL, &children, &err), ERR_OK);
    assert_int_equal(children.count, 3);
    assert_string_equal(children.items[0].name, "a\nb"); /* what the file system has is no server's invention */
    assert_int_equal(children.items[1].kind, CHILD_FILE);
    assert_int_equal(children.items[1].bytes, 4);
    assert_int_equal(children.items[2].kind, CHILD_LINKED_DIRECTORY);
    assert_non_null(place_children_find(&children, "b"));
    assert_null(place_children_find(&children, "c"));
    place_children_dispose(&children);
    assert_int_equal(place_remove(root, CHILD_FILE, &err), ERR_UNSUPPORTED);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    assert_int_equal(place_list(NULL, root, NULL, &children, &err), ERR_NOT_FOUND);
}

static void hadoops_files_are_read(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-site-XXXXXX";
    struct err err = {0};
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(
        "<?xml version=\"1.0\"?>\n<?xml-stylesheet href=\"x\"?>\n<configuration>\n<property>\n <name> fs.defaultFS </name>\n <value>hdfs://a&amp;b</value>\n <final>true</final>\n"
        "</property><property><name>empty</name><value/></property></configuration>",
        file);
    fclose(file);
    assert_int_equal(place_config_set(STR_LIT("fs.defaultFS"), STR_LIT("weaker"), NULL), ERR_OK);
    assert_int_equal(place_config_read_site(path, &err), ERR_OK);
    assert_string_equal(place_config("fs.defaultFS"), "hdfs://a&b");
    assert_string_equal(place_config_f("%s", "empty"), "");
    assert_null(place_config("none"));
    file = fopen(path, "w");
    fputs("<!DOCTYPE x><configuration/>", file);
    fclose(file);
    assert_int_equal(place_config_read_site(path, &err), ERR_CORRUPT);
    unlink(path);
    assert_int_equal(place_config_read_site(path, &err), ERR_NOT_FOUND);
    place_config_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_one_spelling),
        cmocka_unit_test(addresses_that_make_no_sense_are_refused_without_their_secrets),
        cmocka_unit_test(an_address_with_a_secret_is_not_told),
        cmocka_unit_test(parents_and_members_are_told_apart),
        cmocka_unit_test(escapes_go_there_and_back),
        cmocka_unit_test(local_directories_are_listed),
        cmocka_unit_test(hadoops_files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
