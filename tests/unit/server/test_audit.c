/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A request for an address, by somebody. */
static struct request request_for(struct arena *arena, const char *method, const char *address, const char *user)
{
    struct request request = {.arena = arena, .method = str_of(method), .address = str_of(address), .viewer = {.user = str_of(user), .asker = str_of(user)}};
    assert_int_equal(request_parse(&request, str_of(address), STR_NONE, NULL), ERR_OK);
    return request;
}

static void kind_and_run_are_those_of_the_address(void **state)
{
    (void)state;
    static const struct {
        const char *method, *address, *kind, *run, *other;
    } cases[] = {
        {"GET", "/", "page", NULL, NULL},
        {"GET", "/?showIncomplete=true", "page", NULL, NULL},
        {"GET", "/a/app-1", "page", "app-1", NULL},
        {"HEAD", "/a/app-1/stages/3.0", "page", "app-1", NULL},
        {"GET", "/compare?a=app-1&b=app-2", "page", "app-2", "app-1"},
        {"GET", "/history/app-1/1/jobs/", "page", "app-1", NULL},
        {"GET", "/api/v1/applications", "answer", NULL, NULL},
        {"GET", "/api/v1/version", "answer", NULL, NULL},
        {"GET", "/api/v1/applications/app-1/stages", "answer", "app-1", NULL},
        {"GET", "/api/v1/applications/app-1/1/logs", "download", "app-1", NULL},
        {"GET", "/api/afterglow/v1/apps", "answer", NULL, NULL},
        {"GET", "/api/afterglow/v1/apps?format=csv", "download", NULL, NULL},
        {"GET", "/api/afterglow/v1/apps/app%2d1/tasks?format=csv", "download", "app-1", NULL},
        {"GET", "/api/afterglow/v1/apps/app-1/report", "download", "app-1", NULL},
        {"GET", "/api/afterglow/v1/compare?base=usual&new=app-1", "answer", "app-1", "usual"},
        {"GET", "/api/afterglow/v1/compare/stages?base=x&new=app-1&format=csv", "download", "app-1", "x"},
        {"POST", "/api/afterglow/v1/uploads?upload=1", "change", NULL, NULL},
        {"POST", "/api/afterglow/v1/apps/app-1/reload", "change", "app-1", NULL},
        {"DELETE", "/nothing", "change", NULL, NULL},
        {"GET", "/healthz", NULL, NULL, NULL},
        {"GET", "/assets/app-1234.js", NULL, NULL, NULL},
        {"GET", "/app.css", NULL, NULL, NULL},
        {"GET", "/apps", NULL, NULL, NULL},
        {"GET", "/historyx/y", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct arena arena;
        struct buf line;
        arena_init(&arena, 1 << 20);
        buf_init(&line, 1 << 16);
        struct request request = request_for(&arena, cases[i].method, cases[i].address, "alice");
        const struct audit_record record = {.request = &request, .id = "1-1", .peer = STR_LIT("::1"), .status = 200};
        bool written = audit_line(&record, 0, &line);
        if (written != (cases[i].kind != NULL))
            fail_msg("case %zu", i);
        cJSON *json = written ? cJSON_Parse(line.data) : NULL;
        const char *run = cJSON_GetStringValue(cJSON_GetObjectItem(json, "run")), *other = cJSON_GetStringValue(cJSON_GetObjectItem(json, "other"));
        if (written && (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(json, "kind")), cases[i].kind) != 0 || !str_eq(str_of(run), str_of(cases[i].run)) ||
                        !str_eq(str_of(other), str_of(cases[i].other))))
            fail_msg("case %zu: %s", i, line.data);
        cJSON_Delete(json);
        buf_dispose(&line);
        arena_dispose(&arena);
    }
}

static void a_line_is_this(void **state)
{
    (void)state;
    struct arena arena;
    struct buf line;
    arena_init(&arena, 1 << 20);
    buf_init(&line, 1 << 16);
    struct request request = request_for(&arena, "GET", "/a/app-1?x=password=hunter2", NULL);
    const struct audit_record record = {.request = &request, .id = "5f1c09aa-2a", .peer = STR_LIT("10.0.0.7"), .via = STR_LIT("127.0.0.1"), .claimed = STR_LIT("eve"), .status = 401};
    assert_true(audit_line(&record, 1795985796123, &line));
    assert_string_equal(line.data, "{\"time\":\"2026-11-29T20:56:36.123Z\",\"request\":\"5f1c09aa-2a\",\"peer\":\"10.0.0.7\",\"via\":\"127.0.0.1\",\"user\":null,\"claimed\":\"eve\",\"kind\":\"page\",\"run\":\"app-1\","
                                   "\"method\":\"GET\",\"address\":\"/a/app-1?x=password=*********(redacted)\",\"status\":401,\"allowed\":false}\n");
    buf_dispose(&line);
    arena_dispose(&arena);
}

static void what_is_allowed_follows_the_status(void **state)
{
    (void)state;
    static const int refused[] = {401, 403, 429}, allowed[] = {200, 302, 304, 404, 409, 500, 503};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct request request = request_for(&arena, "GET", "/", NULL);
    struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1")};
    for (size_t i = 0; i < ARRAY_LENGTH(refused) + ARRAY_LENGTH(allowed); i++) {
        struct buf line;
        buf_init(&line, 1 << 16);
        bool is_refused = i < ARRAY_LENGTH(refused);
        record.status = is_refused ? refused[i] : allowed[i - ARRAY_LENGTH(refused)];
        assert_true(audit_line(&record, 0, &line));
        assert_non_null(strstr(line.data, is_refused ? "\"allowed\":false}\n" : "\"allowed\":true}\n"));
        buf_dispose(&line);
    }
    arena_dispose(&arena);
}

/* Whatever a client writes: one line, valid JSON, bounded. */
static void hostile_texts_stay_inside_their_line(void **state)
{
    (void)state;
    static char large[9000], name[4000];
    struct arena arena;
    struct buf line;
    arena_init(&arena, 1 << 20);
    buf_init(&line, 1 << 16);
    memset(large, '\x01', sizeof large - 1);
    memcpy(large, "/a/x\n\"},{\"user\":\"root\"}\r\xFF\x80", 26);
    memset(name, '\x02', sizeof name - 1);
    struct request request = {.arena = &arena, .method = STR_LIT("GET\n\""), .address = str_of(large), .path = str_of(large), .viewer = {.user = str_of(name), .asker = str_of(name)}};
    const struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1"), .claimed = str_of(name), .status = 404};
    assert_true(audit_line(&record, 0, &line));
    assert_ptr_equal(strchr(line.data, '\n'), line.data + line.len - 1);
    assert_true(line.len < 16384);
    cJSON *json = cJSON_Parse(line.data);
    assert_non_null(json);
    assert_int_equal(strlen(cJSON_GetStringValue(cJSON_GetObjectItem(json, "user"))), 256);
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "status")), 404);
    assert_true(utf8_valid_prefix(line.data, line.len) == line.len);
    cJSON_Delete(json);
    buf_dispose(&line);
    arena_dispose(&arena);
}

static int lines_of(const char *path)
{
    int lines = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

static void a_renamed_file_is_made_anew(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-audit-XXXXXX", old[64];
    struct audit *audit;
    struct arena arena;
    struct err err = {0};
    close(mkstemp(path));
    snprintf(old, sizeof old, "%s.1", path);
    arena_init(&arena, 1 << 20);
    struct request request = request_for(&arena, "GET", "/", NULL), asset = request_for(&arena, "GET", "/app.js", NULL);
    struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1"), .status = 200};
    assert_int_equal(audit_new(&audit, path, NULL), ERR_OK);
    audit_write(audit, &record);
    record.request = &asset;
    audit_write(audit, &record);
    record.request = &request;
    assert_int_equal(audit_refresh(audit, &err), ERR_OK);
    assert_int_equal(lines_of(path), 1);
    assert_int_equal(rename(path, old), 0);
    audit_write(audit, &record);
    assert_int_equal(lines_of(old), 2);
    assert_int_equal(audit_refresh(audit, &err), ERR_OK);
    audit_write(audit, &record);
    assert_int_equal(lines_of(old), 2);
    assert_int_equal(lines_of(path), 1);
    audit_reopen(audit);
    assert_int_equal(audit_refresh(audit, &err), ERR_OK);
    audit_write(audit, &record);
    assert_int_equal(lines_of(path), 2);
    audit_free(audit);
    audit_write(NULL, &record);
    unlink(path);
    unlink(old);
    arena_dispose(&arena);
    assert_int_equal(audit_new(&audit, "/nowhere/at/all", &err), ERR_NOT_FOUND);
}

static void lines_that_are_lost_are_counted(void **state)
{
    (void)state;
    struct audit *audit;
    struct arena arena;
    struct err err = {0};
    if (access("/dev/full", W_OK))
        skip();
    arena_init(&arena, 1 << 20);
    struct request request = request_for(&arena, "GET", "/", NULL);
    const struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1"), .status = 200};
    assert_int_equal(audit_new(&audit, "/dev/full", NULL), ERR_OK);
    audit_write(audit, &record);
    audit_write(audit, &record);
    assert_int_equal(audit_refresh(audit, &err), ERR_IO);
    assert_string_equal(err.message, "/dev/full: 2 lines were lost, the disk may be full");
    assert_int_equal(audit_refresh(audit, &err), ERR_OK);
    audit_free(audit);
    arena_dispose(&arena);
}

static void nobody_waits_for_the_reader_of_a_pipe(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-audit-XXXXXX";
    struct audit *audit;
    struct arena arena;
    struct err err = {0};
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    arena_init(&arena, 1 << 20);
    struct request request = request_for(&arena, "GET", "/", NULL);
    const struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1"), .status = 200};
    assert_int_not_equal(audit_new(&audit, path, &err), ERR_OK); /* nobody reads */
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(audit_new(&audit, path, NULL), ERR_OK);
    for (int i = 0; i < 2000; i++) /* of a hundred bytes and more; a pipe holds 64 KiB */
        audit_write(audit, &record);
    assert_int_equal(audit_refresh(audit, &err), ERR_IO);
    close(reader);
    unlink(path);
    audit_free(audit);
    arena_dispose(&arena);
}

static void what_comes_after_half_a_line_stands_by_itself(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-audit-XXXXXX", text[4096];
    struct audit *audit;
    struct arena arena;
    struct rlimit before, small;
    close(mkstemp(path));
    arena_init(&arena, 1 << 20);
    struct request request = request_for(&arena, "GET", "/", NULL);
    const struct audit_record record = {.request = &request, .id = "1", .peer = STR_LIT("::1"), .status = 200};
    assert_int_equal(audit_new(&audit, path, NULL), ERR_OK);
    audit_write(audit, &record);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){(rlim_t)st.st_size * 3 / 2, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    audit_write(audit, &record); /* half of it */
    audit_write(audit, &record); /* nothing */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    audit_write(audit, &record);
    audit_write(audit, &record);
    FILE *file = fopen(path, "r");
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    int whole = 0, broken = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *json = cJSON_Parse(line);
        *(json ? &whole : &broken) += 1;
        cJSON_Delete(json);
    }
    assert_int_equal(whole, 3);
    assert_int_equal(broken, 1);
    unlink(path);
    audit_free(audit);
    arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_and_run_are_those_of_the_address), cmocka_unit_test(a_line_is_this),
        cmocka_unit_test(what_is_allowed_follows_the_status),    cmocka_unit_test(hostile_texts_stay_inside_their_line),
        cmocka_unit_test(a_renamed_file_is_made_anew),           cmocka_unit_test(lines_that_are_lost_are_counted),
        cmocka_unit_test(nobody_waits_for_the_reader_of_a_pipe), cmocka_unit_test(what_comes_after_half_a_line_stands_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
