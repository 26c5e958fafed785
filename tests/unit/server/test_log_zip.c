/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "server/log_zip.h"

#define ZSTD_MAGIC "\x28\xB5\x2F\xFD"

static char folder[64];
static struct buf zip;

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_log_zip_XXXXXX");
    buf_init(&zip, (size_t)64 << 20);
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[96];
    buf_dispose(&zip);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t len)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static struct log_zip *zip_of(const char *name)
{
    struct log_zip *self;
    struct err err = {0};
    assert_int_equal(log_zip_new(&self, &err), ERR_OK);
    assert_int_equal(log_zip_add(self, str_of(path_of(name)), &err), ERR_OK);
    return self;
}

/* Takes at most `most` bytes; false: the end. */
static bool take(struct log_zip *self, size_t room, size_t most)
{
    char bytes[4096];
    for (size_t taken = 0; taken < most;) {
        int64_t len = log_zip_read(self, bytes, room);
        assert_true(len >= 0);
        if (!len)
            return false;
        buf_append(&zip, bytes, (size_t)len);
        taken += (size_t)len;
    }
    return true;
}

static void take_all(struct log_zip *self, size_t room)
{
    assert_false(take(self, room, SIZE_MAX));
    assert_int_equal(log_zip_read(self, folder, 1), 0);
    log_zip_free(self);
    assert_false(buf_failed(&zip));
}

struct reader {
    struct archive *archive;
    struct archive_entry *entry;
};

static struct reader open_zip(void)
{
    struct reader reader = {archive_read_new(), NULL};
    archive_read_support_format_zip_seekable(reader.archive);
    assert_int_equal(archive_read_open_memory(reader.archive, zip.data, zip.len), ARCHIVE_OK);
    return reader;
}

static void assert_entry(struct reader *reader, const char *name, const void *bytes, size_t len)
{
    assert_int_equal(archive_read_next_header(reader->archive, &reader->entry), ARCHIVE_OK);
    assert_string_equal(archive_entry_pathname(reader->entry), name);
    char *read = malloc(len + 1);
    assert_int_equal(archive_read_data(reader->archive, read, len + 1), len);
    assert_memory_equal(read, bytes, len);
    free(read);
}

static void assert_end(struct reader *reader)
{
    assert_int_equal(archive_read_next_header(reader->archive, &reader->entry), ARCHIVE_EOF);
    archive_read_free(reader->archive);
}

/* Bytes that do not compress: a reader of the archive is never far behind the file. */
static char *pattern(size_t len)
{
    char *bytes = malloc(len);
    uint32_t x = 1;
    for (size_t i = 0; i < len; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (char)(x >> 24);
    }
    return bytes;
}

static void a_file_comes_back_whatever_the_room(void **state)
{
    (void)state;
    static const size_t rooms[] = {1, 7, 4096};
    char *bytes = pattern(300000);
    put("app-1", bytes, 300000);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        buf_clear(&zip);
        take_all(zip_of("app-1"), rooms[i]);
        struct reader reader = open_zip();
        assert_entry(&reader, "app-1", bytes, 300000);
        assert_end(&reader);
    }
    free(bytes);
}

static void plain_text_is_deflated_and_compressed_logs_are_not(void **state)
{
    (void)state;
    char zeros[100000] = {0};
    put("plain", zeros, sizeof zeros);
    take_all(zip_of("plain"), 4096);
    assert_true(zip.len < 5000);
    memcpy(zeros, ZSTD_MAGIC, 4);
    put("app.zstd", zeros, sizeof zeros);
    buf_clear(&zip);
    take_all(zip_of("app.zstd"), 4096);
    assert_true(zip.len > sizeof zeros);
    struct reader reader = open_zip();
    assert_entry(&reader, "app.zstd", zeros, sizeof zeros);
    assert_end(&reader);
}

/* The form that readers from the front take (Java's ZipInputStream): deflated, lengths of 32 bits behind the data. */
static void entries_say_their_end_by_themselves(void **state)
{
    (void)state;
    static const char *const contents[] = {"{\"Event\":1}", ZSTD_MAGIC "packed", ""};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        put("log", contents[i], strlen(contents[i]));
        buf_clear(&zip);
        take_all(zip_of("log"), 4096);
        const unsigned char *bytes = (const unsigned char *)zip.data;
        assert_memory_equal(bytes, "PK\3\4\x14\0\x08\x08\x08\0", 10);       /* version 2.0; lengths behind, name in UTF-8; deflated */
        assert_memory_equal(bytes + 14, "\0\0\0\0\0\0\0\0\0\0\0\0\3\0", 14);    /* no checksum, no lengths; three bytes of name */
        size_t descriptor = zip.len;
        while (descriptor > 0 && memcmp(bytes + descriptor, "PK\7\x08", 4) != 0)
            descriptor--;
        assert_true(descriptor > 0);
        assert_memory_equal(bytes + descriptor + 12, ((unsigned char[]){(unsigned char)strlen(contents[i]), 0, 0, 0}), 4);
        assert_memory_equal(bytes + descriptor + 16, "PK\1\2", 4);               /* nothing between it and the directory */
    }
}

static void an_empty_file_is_an_entry(void **state)
{
    (void)state;
    put("empty", "", 0);
    take_all(zip_of("empty"), 4096);
    struct reader reader = open_zip();
    assert_entry(&reader, "empty", "", 0);
    assert_end(&reader);
}

/* As the capture of eventlog_v2_local-1623876083964 has it: the directory, then its files, the last name first. */
static void a_directory_comes_with_its_files(void **state)
{
    (void)state;
    mkdir(path_of("eventlog_v2_a"), 0700);
    mkdir(path_of("eventlog_v2_a/inner"), 0700);
    put("eventlog_v2_a/appstatus_a", "", 0);
    put("eventlog_v2_a/events_1_a", "one", 3);
    put("eventlog_v2_a/events_2_a", "two", 3);
    put("eventlog_v2_a/.events_1_a.crc", "x", 1);
    put("secret", "secret", 6);
    assert_int_equal(symlink("../secret", path_of("eventlog_v2_a/events_3_a")), 0);
    assert_int_equal(mkfifo(path_of("eventlog_v2_a/events_4_a"), 0600), 0);
    take_all(zip_of("eventlog_v2_a"), 4096);
    struct reader reader = open_zip();
    assert_entry(&reader, "eventlog_v2_a/", "", 0);
    assert_entry(&reader, "eventlog_v2_a/events_2_a", "two", 3);
    assert_entry(&reader, "eventlog_v2_a/events_1_a", "one", 3);
    assert_entry(&reader, "eventlog_v2_a/appstatus_a", "", 0);
    assert_end(&reader);
}

static void a_link_is_no_log(void **state)
{
    (void)state;
    struct log_zip *self;
    struct err err = {0};
    put("secret", "secret", 6);
    assert_int_equal(symlink("secret", path_of("link")), 0);
    assert_int_equal(log_zip_new(&self, &err), ERR_OK);
    assert_int_equal(log_zip_add(self, str_of(path_of("link")), &err), ERR_NOT_FOUND);
    assert_int_equal(log_zip_add(self, str_of(path_of("missing")), &err), ERR_NOT_FOUND);
    assert_int_equal(log_zip_count(self), 0);
    /* … nor when the log becomes one before it is read */
    put("log", "log", 3);
    assert_int_equal(log_zip_add(self, str_of(path_of("log")), &err), ERR_OK);
    assert_int_equal(remove(path_of("log")), 0);
    assert_int_equal(symlink("secret", path_of("log")), 0);
    char bytes[100];
    assert_int_equal(log_zip_read(self, bytes, sizeof bytes), -1);
    log_zip_free(self);
}

/* `magic`: in stored blocks, else compressed. */
static void change_while_read(const char *magic, off_t new_bytes, size_t expected)
{
    char *bytes = pattern(1000000);
    memcpy(bytes, magic, strlen(magic));
    put("log", bytes, 1000000);
    buf_clear(&zip);
    struct log_zip *self = zip_of("log");
    assert_true(take(self, 100, 100));
    if (new_bytes < 1000000) {
        assert_int_equal(truncate(path_of("log"), new_bytes), 0);
    } else {
        FILE *file = fopen(path_of("log"), "ab");
        fputs("more", file);
        fclose(file);
    }
    take_all(self, 4096);
    struct reader reader = open_zip();
    assert_entry(&reader, "log", bytes, expected);
    assert_end(&reader);
    free(bytes);
}

static void a_log_that_grows_ends_where_it_ended(void **state)
{
    (void)state;
    change_while_read(ZSTD_MAGIC, 1000004, 1000000);
    change_while_read("{\"Ev", 1000004, 1000000);
}

static void a_log_that_shrinks_ends_where_it_ends_now(void **state)
{
    (void)state;
    change_while_read(ZSTD_MAGIC, 400000, 400000);
    change_while_read("{\"Ev", 400000, 400000);
}

static void an_archive_can_be_left_in_the_middle(void **state)
{
    (void)state;
    char *bytes = pattern(1000000);
    put("log", bytes, 1000000);
    struct log_zip *self = zip_of("log");
    assert_true(take(self, 100, 1000));
    log_zip_free(self);
    log_zip_free(zip_of("log"));
    log_zip_free(NULL);
    free(bytes);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_comes_back_whatever_the_room),
        FILE_TEST(plain_text_is_deflated_and_compressed_logs_are_not),
        FILE_TEST(entries_say_their_end_by_themselves),
        FILE_TEST(an_empty_file_is_an_entry),
        FILE_TEST(a_directory_comes_with_its_files),
        FILE_TEST(a_link_is_no_log),
        FILE_TEST(a_log_that_grows_ends_where_it_ended),
        FILE_TEST(a_log_that_shrinks_ends_where_it_ends_now),
        FILE_TEST(an_archive_can_be_left_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
