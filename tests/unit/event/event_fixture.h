/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of ingest/event: decodes one line that lies at the end of an allocation of exactly its length and the padding, so that the address sanitizer sees
 * every read too far. The padding holds what tempts a reader to go on: the bytes that would make the line whole. */
#ifndef TESTS_EVENT_FIXTURE_H
#define TESTS_EVENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/event/event_decode.h"

#define SCRATCH_BYTES ((size_t)64 << 20)

struct fixture {
    struct arena scratch;
    struct event_memory memory;
    char *line;
    struct event event;
    struct err err;
};

static inline int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->scratch, SCRATCH_BYTES);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    arena_dispose(&f->scratch);
    free(f->line);
    free(f);
    return 0;
}

/* `rest`: what stands in the padding. */
static inline enum err_code decode_bytes_before(struct fixture *f, const char *bytes, size_t len, const char *rest, size_t rest_len)
{
    free(f->line);
    f->line = malloc(len + EVENT_LINE_PADDING);
    if (len)
        memcpy(f->line, bytes, len);
    memset(f->line + len, '}', EVENT_LINE_PADDING);
    memcpy(f->line + len, rest, MIN(rest_len, (size_t)EVENT_LINE_PADDING));
    arena_reset(&f->scratch);
    memset(&f->event, 0x5A, sizeof f->event);
    memset(&f->err, 0, sizeof f->err);
    enum err_code code = event_decode((struct str){f->line, len}, &f->scratch, &f->memory, &f->event, &f->err);
    assert_int_equal(f->err.code, code);
    assert_true((code == ERR_OK) == (f->err.message[0] == '\0'));
    return code;
}

static inline enum err_code decode_bytes(struct fixture *f, const char *bytes, size_t len)
{
    static const char tempting[] = "9\"}]}]}}}}";
    return decode_bytes_before(f, bytes, len, tempting, sizeof tempting - 1);
}

/* JSON in C strings is written with ' for ". */
static inline enum err_code decode_text(struct fixture *f, const char *text)
{
    size_t len = strlen(text);
    char *json = malloc(len + 1);
    for (size_t i = 0; i <= len; i++)
        json[i] = text[i] == '\'' ? '"' : text[i];
    enum err_code code = decode_bytes(f, json, len);
    free(json);
    return code;
}

/* Decodes a line that must be sound and of this kind. */
static inline struct event *must_decode(struct fixture *f, enum event_kind kind, const char *text)
{
    enum err_code code = decode_text(f, text);
    if (code)
        print_error("%s\n", f->err.message);
    assert_int_equal(code, ERR_OK);
    assert_int_equal(f->event.kind, kind);
    return &f->event;
}

static inline void assert_text_(struct str got, const char *want, const char *file, int line)
{
    if (want == NULL ? !str_known(got) : str_known(got) && str_is(got, want))
        return;
    print_error("got \"%.*s\", want %s\n", (int)got.len, got.ptr ? got.ptr : "(none)", want ? want : "(none)");
    _fail(file, line);
}
/* want NULL: STR_NONE. */
#define assert_text(got, want) assert_text_((got), (want), __FILE__, __LINE__)

static inline void assert_i64_(int64_t got, int64_t want, const char *file, int line)
{
    if (got == want)
        return;
    print_error("got %lld, want %lld\n", (long long)got, (long long)want);
    _fail(file, line);
}
#define assert_i64(got, want) assert_i64_((got), (want), __FILE__, __LINE__)

static inline void assert_kv_(struct kv_list list, size_t at, const char *name, const char *value, const char *file, int line)
{
    if (at >= list.count) {
        print_error("only %zu entries\n", list.count);
        _fail(file, line);
    }
    assert_text_(list.items[at].name, name, file, line);
    assert_text_(list.items[at].value, value, file, line);
}
#define assert_kv(list, at, name, value) assert_kv_((list), (at), (name), (value), __FILE__, __LINE__)

#endif
