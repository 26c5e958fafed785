/* SPDX-License-Identifier: Apache-2.0
 *
 * What test_log_zip.c cannot make of files: many entries, odd names and times, and no memory. Read back by libarchive. */
#include "server/zip_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static struct buf out;

static struct zip_writer *begin(void)
{
    struct zip_writer *self;
    buf_init(&out, (size_t)64 << 20);
    assert_int_equal(zip_writer_new(&self, &out, NULL), ERR_OK);
    return self;
}

static void add(struct zip_writer *self, const char *name, int64_t modified_s, const char *text)
{
    zip_writer_begin(self, str_of(name), modified_s, false);
    zip_writer_write(self, text, strlen(text));
    zip_writer_end(self);
}

static struct archive *finish(struct zip_writer *self)
{
    zip_writer_finish(self);
    assert_false(zip_writer_failed(self));
    zip_writer_free(self);
    struct archive *archive = archive_read_new();
    archive_read_support_format_zip_seekable(archive);
    assert_int_equal(archive_read_open_memory(archive, out.data, out.len), ARCHIVE_OK);
    return archive;
}

/* It warns of names that the C locale cannot show. */
static struct archive_entry *next(struct archive *archive)
{
    struct archive_entry *entry;
    int rc = archive_read_next_header(archive, &entry);
    return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? entry : NULL;
}

static void end(struct archive *archive)
{
    assert_null(next(archive));
    archive_read_free(archive);
    buf_dispose(&out);
}

static void more_entries_than_16_bits_count(void **state)
{
    (void)state;
    struct zip_writer *self = begin();
    char name[16], text[16];
    for (int i = 0; i < 70000; i++) {
        snprintf(name, sizeof name, "%d", i);
        add(self, name, 0, name);
    }
    struct archive *archive = finish(self);
    for (int i = 0; i < 70000; i++) {
        snprintf(name, sizeof name, "%d", i);
        struct archive_entry *entry = next(archive);
        assert_non_null(entry);
        assert_string_equal(archive_entry_pathname(entry), name);
        assert_int_equal(archive_read_data(archive, text, sizeof text), strlen(name));
        assert_memory_equal(text, name, strlen(name));
    }
    end(archive);
}

/* Bit 11 of the flags, 6 bytes behind the beginning of an entry. */
static void only_names_in_utf8_are_marked_as_such(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int mark;
    } names[] = {{"app-1", 8}, {"gr\xC3\xB6\xC3\x9F" "e", 8}, {"gr\xF6\xDF" "e", 0}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        struct zip_writer *self = begin();
        add(self, names[i].name, 0, "x");
        assert_int_equal(out.data[7] & 8, names[i].mark);
        struct archive *archive = finish(self);
        assert_non_null(next(archive));
        end(archive);
    }
}

/* DOS has 1980 to 2107 by two seconds; the extra field has seconds up to 2038. */
static void times_that_do_not_fit_are_the_nearest(void **state)
{
    (void)state;
    static const struct {
        int64_t modified_s;
        unsigned dos_time, dos_date;
        int64_t read_s;
    } times[] = {
        {1785328401, 12 << 11 | 33 << 5 | 10, 46 << 9 | 7 << 5 | 29, 1785328401},        /* 2026-07-29T12:33:21Z */
        {0, 0, 1 << 5 | 1, 0},
        {-5, 0, 1 << 5 | 1, 0},
        {INT64_MAX, 23 << 11 | 59 << 5 | 29, 127 << 9 | 12 << 5 | 31, INT32_MAX},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
        struct zip_writer *self = begin();
        add(self, "a", times[i].modified_s, "x");
        const unsigned char *bytes = (const unsigned char *)out.data;
        assert_int_equal(bytes[10] | bytes[11] << 8, times[i].dos_time);
        assert_int_equal(bytes[12] | bytes[13] << 8, times[i].dos_date);
        struct archive *archive = finish(self);
        struct archive_entry *entry = next(archive);
        assert_non_null(entry);
        assert_int_equal(archive_entry_mtime(entry), times[i].read_s);
        end(archive);
    }
}

static void an_output_that_is_full_fails_for_good(void **state)
{
    (void)state;
    struct zip_writer *self;
    buf_init(&out, 40);
    assert_int_equal(zip_writer_new(&self, &out, NULL), ERR_OK);
    add(self, "a-name-that-does-not-fit-with-its-header", 0, "x");
    assert_true(zip_writer_failed(self));
    add(self, "b", 0, "x");
    zip_writer_finish(self);
    assert_true(zip_writer_failed(self));
    zip_writer_free(self);
    zip_writer_free(NULL);
    buf_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_entries_than_16_bits_count),
        cmocka_unit_test(only_names_in_utf8_are_marked_as_such),
        cmocka_unit_test(times_that_do_not_fit_are_the_nearest),
        cmocka_unit_test(an_output_that_is_full_fails_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
