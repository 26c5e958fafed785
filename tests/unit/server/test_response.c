/* SPDX-License-Identifier: Apache-2.0 */
#include "server/response_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

static struct arena arena;
static struct response *response;
static struct response_parts parts;

static int begin(bool accepts_gzip, const char *dir)
{
    arena_init(&arena, (size_t)1 << 20);
    return response_new(&response, &arena, accepts_gzip, dir, NULL);
}

static int setup(void **state)
{
    (void)state;
    return begin(false, "/tmp");
}

static int setup_gzip(void **state)
{
    (void)state;
    return begin(true, "/tmp");
}

static int setup_no_dir(void **state)
{
    (void)state;
    return begin(false, "/nonexistent/afterglow");
}

static int teardown(void **state)
{
    (void)state;
    response_free(response);
    arena_dispose(&arena);
    return 0;
}

static void finish(const char *if_none_match)
{
    struct err err = {0};
    assert_int_equal(response_finish(response, str_of(if_none_match), &parts, &err), ERR_OK);
}

/* 17 bytes a piece, numbered. */
static void write_pieces(size_t count)
{
    char piece[32];
    for (size_t i = 0; i < count; i++) {
        int n = snprintf(piece, sizeof piece, "piece %010zu\n", i);
        assert_int_equal(n, 17);
        assert_int_equal(response_write(response, piece, (size_t)n), ERR_OK);
    }
}

static void check_pieces(const char *body, size_t len, size_t count)
{
    char piece[32];
    assert_int_equal(len, count * 17);
    for (size_t i = 0; i < count; i++) {
        snprintf(piece, sizeof piece, "piece %010zu\n", i);
        assert_memory_equal(body + i * 17, piece, 17);
    }
}

static void a_short_body_stays_in_memory(void **state)
{
    (void)state;
    write_pieces(3);
    finish(NULL);
    assert_int_equal(parts.kind, RESPONSE_MEMORY);
    assert_int_equal(parts.status, 200);
    check_pieces(parts.memory.ptr, parts.memory.len, 3);
}

static void a_mebibyte_stays_in_memory(void **state)
{
    (void)state;
    size_t fits = RESPONSE_MEMORY_BYTES / 17;
    write_pieces(fits);
    finish(NULL);
    assert_int_equal(parts.kind, RESPONSE_MEMORY);
}

static void a_spilled_body_is_whole_and_its_file_has_no_name(void **state)
{
    (void)state;
    size_t count = RESPONSE_MEMORY_BYTES / 17 + 1000;
    write_pieces(count);
    finish(NULL);
    assert_int_equal(parts.kind, RESPONSE_FILE);
    assert_int_equal(parts.file_bytes, count * 17);
    char *body = test_malloc((size_t)parts.file_bytes);
    assert_int_equal(pread(parts.fd, body, (size_t)parts.file_bytes, 0), parts.file_bytes);
    check_pieces(body, (size_t)parts.file_bytes, count);
    test_free(body);
    int fd = response_take_fd(response);
    assert_int_equal(fd, parts.fd);
    close(fd);
}

/* As many answers as fit, the next is refused, and fits when another has gone, also one whose file is being sent. */
static void files_of_all_answers_have_one_bound(void **state UNUSED)
{
    static char block[RESPONSE_MEMORY_BYTES + 1];
    struct response *others[2] = {0};
    struct err err = {0};
    response_limit_files(2 * (int64_t)sizeof block);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(response_new(&others[i], &arena, false, "/tmp", NULL), ERR_OK);
        assert_int_equal(response_write(others[i], block, sizeof block), ERR_OK);
        assert_int_equal(response_finish(others[i], STR_NONE, &parts, NULL), ERR_OK);
        assert_int_equal(parts.kind, RESPONSE_FILE);
    }
    close(response_take_fd(others[1]));
    assert_int_equal(response_write(response, block, sizeof block), ERR_BUSY);
    assert_int_equal(response_finish(response, STR_NONE, &parts, &err), ERR_BUSY);
    response_error(response, 503, "busy", "%s", err.message);
    finish(NULL);
    assert_int_equal(parts.status, 503);
    response_free(others[1]);
    response_free(response);
    assert_int_equal(response_new(&response, &arena, false, "/tmp", NULL), ERR_OK);
    assert_int_equal(response_write(response, block, sizeof block), ERR_OK);
    response_free(others[0]);
    response_limit_files(RESPONSE_FILES_BYTES);
}

static void a_missing_temporary_directory_is_told_once_the_body_is_long(void **state)
{
    (void)state;
    struct err err = {0};
    char block[4096];
    memset(block, 'x', sizeof block);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i <= RESPONSE_MEMORY_BYTES / sizeof block && !rc; i++)
        rc = response_write(response, block, sizeof block);
    assert_int_equal(rc, ERR_NOT_FOUND);
    assert_int_equal(response_finish(response, STR_NONE, &parts, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/afterglow"));
    response_error(response, 500, "internal", "%s", err.message); /* the answer can still be made an error */
    finish(NULL);
    assert_int_equal(parts.status, 500);
}

static void inflate_and_check(const char *bytes, size_t len, size_t count)
{
    z_stream z = {0};
    char *out = test_malloc(count * 17 + 1);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (z_const Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)(count * 17 + 1);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    check_pieces(out, z.total_out, count);
    inflateEnd(&z);
    test_free(out);
}

static void long_text_is_compressed_on_the_way(void **state)
{
    (void)state;
    response_content_type(response, "text/plain");
    write_pieces(200000);
    finish(NULL);
    assert_true(parts.gzip && parts.varies);
    assert_int_equal(parts.kind, RESPONSE_MEMORY);
    assert_true(parts.memory.len < 200000 * 17 / 4);
    inflate_and_check(parts.memory.ptr, parts.memory.len, 200000);
}

/* From the least size on, up to all that stays in memory, in one go; one byte more goes piece by piece. */
static void text_of_each_size_is_compressed(void **state)
{
    (void)state;
    static const size_t counts[] = {61, 1000, RESPONSE_MEMORY_BYTES / 17, RESPONSE_MEMORY_BYTES / 17 + 1};
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
        response_plain(response, 200, "%s", "");
        response_content_type(response, "application/json");
        write_pieces(counts[i]);
        finish(NULL);
        assert_true(parts.gzip && parts.varies);
        assert_int_equal(parts.kind, RESPONSE_MEMORY);
        inflate_and_check(parts.memory.ptr, parts.memory.len, counts[i]);
    }
}

static void a_text_that_would_not_shrink_goes_out_as_it_is(void **state)
{
    (void)state;
    unsigned char noise[2048];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        seed = seed * 1664525 + 1013904223;
        noise[i] = (unsigned char)(seed >> 24);
    }
    response_content_type(response, "text/plain");
    assert_int_equal(response_write(response, noise, sizeof noise), ERR_OK);
    finish(NULL);
    assert_false(parts.gzip);
    assert_true(parts.varies);
    assert_int_equal(parts.memory.len, sizeof noise);
    assert_memory_equal(parts.memory.ptr, noise, sizeof noise);
}

static void short_or_unknown_bodies_are_not_compressed(void **state)
{
    (void)state;
    response_content_type(response, "text/plain");
    write_pieces(60); /* 1020 bytes */
    finish(NULL);
    assert_false(parts.gzip);
    check_pieces(parts.memory.ptr, parts.memory.len, 60);
    response_plain(response, 200, "%s", "");
    response_content_type(response, "application/zip");
    write_pieces(1000);
    finish(NULL);
    assert_false(parts.gzip || parts.varies);
}

static void an_error_forgets_what_was_written(void **state)
{
    (void)state;
    struct json_writer *json = response_json(response, false);
    response_etag(response, STR_LIT("\"1\""));
    response_header(response, "X-Test", STR_LIT("1"));
    json_object_begin(json);
    json_key(json, "half");
    response_error(response, 404, "not_found", "there is no %s", "\"job\"");
    finish(NULL);
    assert_int_equal(parts.status, 404);
    assert_null(parts.etag);
    assert_int_equal(parts.header_count, 0);
    assert_string_equal(parts.content_type, "application/json");
    assert_true(str_is(parts.memory, "{\"status\":404,\"error\":\"not_found\",\"detail\":\"there is no \\\"job\\\"\"}"));
}

static void a_known_tag_gives_304_without_a_body(void **state)
{
    (void)state;
    response_etag(response, STR_LIT("\"7-x\""));
    response_content_type(response, "application/json");
    write_pieces(1);
    finish("\"6-x\", \"7-x\"");
    assert_int_equal(parts.status, 304);
    assert_int_equal(parts.memory.len, 0);
    assert_string_equal(parts.etag, "W/\"7-x\"");
}

static void a_tag_names_one_sequence_of_bytes(void **state)
{
    (void)state;
    response_etag(response, STR_LIT("\"7-x\""));
    response_content_type(response, "application/zip");
    write_pieces(1);
    finish("\"8-x\"");
    assert_int_equal(parts.status, 200);
    assert_string_equal(parts.etag, "\"7-x\""); /* never compressed: strong */
}

static void an_error_is_never_304(void **state)
{
    (void)state;
    response_status(response, 409);
    response_etag(response, STR_LIT("\"7-x\""));
    finish("\"7-x\"");
    assert_int_equal(parts.status, 409);
}

static void headers_with_line_breaks_are_left_out(void **state)
{
    (void)state;
    response_header(response, "X-Good", STR_LIT("a b"));
    response_header(response, "X-Bad", STR_LIT("a\r\nSet-Cookie: x"));
    response_header(response, "X-Nul", (struct str){"a\0b", 3});
    response_etag(response, STR_LIT("\"a\nb\""));
    finish(NULL);
    assert_int_equal(parts.header_count, 1);
    assert_string_equal(parts.headers[0].name, "X-Good");
    assert_null(parts.etag);
}

static void a_static_body_has_its_twin(void **state)
{
    (void)state;
    response_static(response, "text/css", STR_LIT("plain"), STR_LIT("twin"));
    finish(NULL);
    assert_true(parts.gzip && parts.varies);
    assert_true(str_is(parts.memory, "twin"));
}

static int done_count;

static int64_t read_nothing(void *context, char *out, size_t room)
{
    (void)context, (void)out, (void)room;
    return 0;
}

static void count_done(void *context)
{
    (void)context;
    done_count++;
}

static void the_context_of_a_stream_is_freed_once(void **state)
{
    (void)state;
    done_count = 0;
    response_stream(response, read_nothing, count_done, NULL);
    response_error(response, 500, "internal", "too late");
    assert_int_equal(done_count, 1);
    response_stream(response, read_nothing, count_done, NULL);
    finish(NULL);
    assert_int_equal(parts.kind, RESPONSE_STREAM);
    response_take_stream(response);
    response_free(TAKE(response));
    assert_int_equal(done_count, 1);
}

struct steps {
    int next, fails_at;
};

/* Three steps of 40 bytes; the second writes nothing. */
static enum err_code step(void *context, bool *ret_more, struct err *err)
{
    struct steps *self = context;
    if (self->next == self->fails_at)
        return err_set(err, ERR_CORRUPT, "no");
    if (self->next != 1)
        assert_int_equal(response_write(response, "forty bytes that are the same each time\n", 40), ERR_OK);
    *ret_more = ++self->next < 3;
    return ERR_OK;
}

static void a_body_in_steps_comes_in_any_room_and_its_context_is_freed_once(void **state)
{
    (void)state;
    char body[160];
    size_t len = 0;
    int64_t n;
    struct steps steps = {0, -1};
    done_count = 0;
    response_content_type(response, "text/csv");
    assert_int_equal(response_write(response, "head\n", 5), ERR_OK);
    response_steps(response, step, count_done, &steps);
    finish(NULL);
    assert_int_equal(parts.kind, RESPONSE_STREAM);
    assert_false(parts.gzip);
    while ((n = parts.read(parts.context, body + len, 7)) > 0)
        len += (size_t)n;
    assert_int_equal(n, 0);
    assert_int_equal(len, 85);
    assert_memory_equal(body, "head\nforty bytes", 16);
    parts.done(parts.context);
    assert_int_equal(done_count, 0);
    response_free(TAKE(response));
    assert_int_equal(done_count, 1);
}

static void steps_are_compressed_as_other_bodies_are(void **state)
{
    (void)state;
    char packed[512], body[160];
    size_t len = 0;
    int64_t n;
    struct steps steps = {0, -1};
    response_content_type(response, "text/csv");
    response_steps(response, step, count_done, &steps);
    finish(NULL);
    assert_true(parts.gzip && parts.varies);
    while ((n = parts.read(parts.context, packed + len, 5)) > 0)
        len += (size_t)n;
    z_stream z = {.next_in = (Bytef *)packed, .avail_in = (uInt)len, .next_out = (Bytef *)body, .avail_out = sizeof body};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, 80);
    inflateEnd(&z);
}

static void a_step_that_fails_cuts_the_body_off(void **state)
{
    (void)state;
    char body[160];
    struct steps steps = {0, 1};
    done_count = 0;
    response_steps(response, step, count_done, &steps);
    finish(NULL);
    assert_int_equal(parts.read(parts.context, body, sizeof body), 40);
    assert_int_equal(parts.read(parts.context, body, sizeof body), -1);
    response_free(TAKE(response));
    assert_int_equal(done_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_short_body_stays_in_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mebibyte_stays_in_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_spilled_body_is_whole_and_its_file_has_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_temporary_directory_is_told_once_the_body_is_long, setup_no_dir, teardown),
        cmocka_unit_test_setup_teardown(long_text_is_compressed_on_the_way, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(text_of_each_size_is_compressed, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(a_text_that_would_not_shrink_goes_out_as_it_is, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(short_or_unknown_bodies_are_not_compressed, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(an_error_forgets_what_was_written, setup, teardown),
        cmocka_unit_test_setup_teardown(a_known_tag_gives_304_without_a_body, setup, teardown),
        cmocka_unit_test_setup_teardown(a_tag_names_one_sequence_of_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_is_never_304, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_all_answers_have_one_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_with_line_breaks_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_static_body_has_its_twin, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(the_context_of_a_stream_is_freed_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_body_in_steps_comes_in_any_room_and_its_context_is_freed_once, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_are_compressed_as_other_bodies_are, setup_gzip, teardown),
        cmocka_unit_test_setup_teardown(a_step_that_fails_cuts_the_body_off, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
