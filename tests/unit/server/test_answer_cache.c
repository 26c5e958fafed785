/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct answer_cache *cache;

static int setup(void **state)
{
    (void)state;
    return answer_cache_new(&cache, NULL);
}

static int teardown(void **state)
{
    (void)state;
    answer_cache_free(cache);
    return 0;
}

/* One request and its response. */
struct exchange {
    struct arena arena;
    struct request request;
    struct response *response;
    struct response_parts parts;
};

static void begin(struct exchange *self, const char *address, bool gzip)
{
    memset(self, 0, sizeof *self);
    arena_init(&self->arena, (size_t)1 << 20);
    self->request.arena = &self->arena;
    self->request.address = str_of(address);
    self->request.accepts_gzip = gzip;
    if (response_new(&self->response, &self->arena, gzip, "/tmp", NULL))
        abort();
}

static void end(struct exchange *self)
{
    response_free(self->response);
    arena_dispose(&self->arena);
}

/* An answer of `count` bytes of JSON text, kept. */
static void keep(const char *address, const char *etag, bool gzip, int status, const char *type, size_t count)
{
    struct exchange x;
    begin(&x, address, gzip);
    response_status(x.response, status);
    if (etag)
        response_etag(x.response, str_of(etag));
    response_content_type(x.response, type);
    char *body = mem_alloc(count);
    for (size_t i = 0; i < count; i++)
        body[i] = (char)('a' + i % 23);
    if (response_write(x.response, body, count) || response_finish(x.response, STR_NONE, &x.parts, NULL))
        abort();
    answer_cache_keep(cache, &x.request, &x.parts);
    mem_free(body);
    end(&x);
}

/* Bytes that would be sent; -1: not recalled. *ret_gzip: their coding. */
static int64_t recall(const char *address, const char *etag, bool gzip, bool *ret_gzip)
{
    struct exchange x;
    int64_t bytes = -1;
    begin(&x, address, gzip);
    if (answer_cache_recall(cache, &x.request, etag, x.response)) {
        response_etag(x.response, str_of(etag));
        if (response_finish(x.response, STR_NONE, &x.parts, NULL) || x.parts.status != 200 || strcmp(x.parts.content_type, "application/json") != 0 || !x.parts.varies)
            abort();
        bytes = (int64_t)x.parts.memory.len;
        *ret_gzip = x.parts.gzip;
    }
    end(&x);
    return bytes;
}

static void an_answer_comes_back_for_its_address_and_tag_alone(void **state)
{
    (void)state;
    bool gzip = true;
    keep("/a?x=1", "\"1-b\"", false, 200, "application/json", 5000);
    assert_int_equal(recall("/a?x=1", "\"1-b\"", false, &gzip), 5000);
    assert_false(gzip);
    assert_int_equal(recall("/a?x=2", "\"1-b\"", false, &gzip), -1);
    assert_int_equal(recall("/a", "\"1-b\"", false, &gzip), -1);
    assert_int_equal(recall("/a?x=1", "\"2-b\"", false, &gzip), -1);
}

static void each_coding_is_an_answer_of_its_own(void **state)
{
    (void)state;
    bool gzip = false;
    keep("/a", "\"1\"", false, 200, "application/json", 5000);
    assert_int_equal(recall("/a", "\"1\"", true, &gzip), -1);
    keep("/a", "\"1\"", true, 200, "application/json", 5000);
    int64_t packed = recall("/a", "\"1\"", true, &gzip);
    assert_true(gzip && packed > 20 && packed < 500);
    assert_int_equal(recall("/a", "\"1\"", false, &gzip), 5000);
    assert_false(gzip);
    keep("/short", "\"1\"", true, 200, "application/json", 100);         /* too short to be compressed for anybody */
    assert_int_equal(recall("/short", "\"1\"", true, &gzip), 100);
    assert_int_equal(recall("/short", "\"1\"", false, &gzip), 100);
    assert_false(gzip);
}

static void what_may_not_be_kept_is_not(void **state)
{
    (void)state;
    bool gzip;
    keep("/error", "\"1\"", false, 404, "application/json", 2000);
    keep("/untagged", NULL, false, 200, "application/json", 2000);
    keep("/page", "\"1\"", false, 200, "text/html", 2000);
    keep("/large", "\"1\"", false, 200, "application/json", ANSWER_CACHE_LARGEST + 1);
    keep("/file", "\"1\"", false, 200, "application/json", RESPONSE_MEMORY_BYTES + 1);
    static const char *const addresses[] = {"/error", "/untagged", "/page", "/large", "/file"};
    for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++)
        assert_int_equal(recall(addresses[i], "\"1\"", false, &gzip), -1);
    struct exchange x;                               /* a 304 has no body to keep */
    begin(&x, "/same", false);
    response_etag(x.response, STR_LIT("\"1\""));
    response_content_type(x.response, "application/json");
    assert_int_equal(response_finish(x.response, STR_LIT("\"1\""), &x.parts, NULL), ERR_OK);
    assert_int_equal(x.parts.status, 304);
    answer_cache_keep(cache, &x.request, &x.parts);
    end(&x);
    assert_int_equal(recall("/same", "\"1\"", false, &gzip), -1);
}

static void the_least_recently_used_go_first(void **state)
{
    (void)state;
    bool gzip;
    char address[32];
    enum { COUNT = 2 * ANSWER_CACHE_BYTES / ANSWER_CACHE_LARGEST };
    for (int i = 0; i < COUNT; i++) {
        snprintf(address, sizeof address, "/%d", i);
        keep(address, "\"1\"", false, 200, "application/json", ANSWER_CACHE_LARGEST);
        assert_int_equal(recall("/0", "\"1\"", false, &gzip), ANSWER_CACHE_LARGEST);     /* always in use */
    }
    size_t here = 0;
    for (int i = 0; i < COUNT; i++) {
        snprintf(address, sizeof address, "/%d", i);
        here += recall(address, "\"1\"", false, &gzip) >= 0;
    }
    assert_int_equal(here, ANSWER_CACHE_BYTES / ANSWER_CACHE_LARGEST - 1);               /* keys and heads take the room of one */
    assert_int_equal(recall("/1", "\"1\"", false, &gzip), -1);
}

static void a_lack_of_memory_only_forgets(void **state)
{
    (void)state;
    bool gzip;
    for (uint64_t n = 1; n < 12; n++) {
        struct exchange x;
        begin(&x, "/a", false);
        response_etag(x.response, STR_LIT("\"1\""));
        response_content_type(x.response, "application/json");
        assert_int_equal(response_write(x.response, "[1,2]", 5), ERR_OK);
        assert_int_equal(response_finish(x.response, STR_NONE, &x.parts, NULL), ERR_OK);
        mem_fail_at(n, 1);
        answer_cache_keep(cache, &x.request, &x.parts);
        mem_fail_at(0, 0);
        end(&x);
        begin(&x, "/a", false);
        mem_fail_at(n, 1);
        bool recalled = answer_cache_recall(cache, &x.request, "\"1\"", x.response);
        mem_fail_at(0, 0);
        (void)recalled;
        end(&x);
    }
    assert_int_equal(recall("/a", "\"1\"", false, &gzip), 5);
}

static void *use(void *context)
{
    char address[32];
    bool gzip;
    for (int i = 0; i < 300; i++) {
        snprintf(address, sizeof address, "/%d", i % 50);
        int64_t bytes = recall(address, "\"1\"", false, &gzip);
        if (bytes != -1 && bytes != 2000)
            return context;
        keep(address, "\"1\"", false, 200, "application/json", 2000);
    }
    return NULL;
}

static void threads_share_it(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, &threads), 0);
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_comes_back_for_its_address_and_tag_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(each_coding_is_an_answer_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(what_may_not_be_kept_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(the_least_recently_used_go_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lack_of_memory_only_forgets, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_share_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
