/* SPDX-License-Identifier: Apache-2.0
 *
 * S3 against a server that answers what S3 answers (Amazon S3 API Reference; recorded from moto 5), and what it never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "base/units.h"
#include "place/config.h"
#include "place/place.h"
#include "tests/unit/place/fake_server.h"

#define LIST_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix>p/</Prefix>"
#define OBJECT(key, size) "<Contents><Key>" key "</Key><LastModified>2026-11-29T20:56:36.000Z</LastModified><ETag>&quot;e" size "&quot;</ETag><Size>" size "</Size></Contents>"
#define PREFIX(key) "<CommonPrefixes><Prefix>" key "</Prefix></CommonPrefixes>"
#define LIST_END "<IsTruncated>false</IsTruncated></ListBucketResult>"

static struct fake_server server;
static struct err err;

static void set(const char *key, const char *value)
{
    assert_int_equal(place_config_set(str_of(key), str_of(value), NULL), ERR_OK);
}

static void start(void (*answer)(const struct fake_request *request, struct buf *out))
{
    char endpoint[64];
    fake_start(&server, answer);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", server.port);
    set("fs.s3a.endpoint", endpoint);
    place_be_brief();
}

static int set_up(void **state)
{
    (void)state;
    err = (struct err){0};
    static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",       "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE",
                                        "AWS_ROLE_ARN",      "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    setenv("HOME", "/nonexistent", 1);
    set("fs.s3a.path.style.access", "true");
    set("fs.s3a.access.key", "AKID");
    set("fs.s3a.secret.key", "SECRET");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_stop(&server);
    place_config_clear();
    return 0;
}

static bool asks(const struct fake_request *request, const char *part)
{
    return strstr(request->target, part) != NULL;
}

/* ---- listing */

static void answer_flat(const struct fake_request *request, struct buf *out)
{
    if (!asks(request, "list-type=2&max-keys=1000&prefix=p%2F") || !fake_has_header(request, "Authorization: AWS4-HMAC-SHA256 Credential=AKID/"))
        fake_reply(out, 403, "", "<Error><Code>SignatureDoesNotMatch</Code></Error>");
    else if (asks(request, "continuation-token=t%2F%2B1&"))
        fake_reply(out, 200, "", LIST_HEAD OBJECT("p/eventlog_v2_app-2/events_1_app-2", "5") OBJECT("p/eventlog_v2_app-2/sub/x", "5") OBJECT("p/z%2B%C3%BC+z", "9") LIST_END);
    else
        fake_reply(out, 200, "",
                   LIST_HEAD OBJECT("p/", "0") OBJECT("p/app-1", "3") OBJECT("p/bad%0Aname", "1") OBJECT("p//empty", "1")
                       OBJECT("p/eventlog_v2_app-2/appstatus_app-2", "0") "<IsTruncated>true</IsTruncated><NextContinuationToken>t/+1</"
                                                                          "NextContinuationToken></ListBucketResult>");
}

static void a_scan_asks_once_and_finds_the_directories_in_the_keys(void **state)
{
    (void)state;
    struct place_view *view;
    struct place_children children;
    start(answer_flat);
    assert_int_equal(place_view_new("s3a://b/p", &view, &err), ERR_OK);
    assert_int_equal(place_view_begin(view, &err), ERR_OK);
    assert_int_equal(place_list(view, "s3a://b/p", NULL, &children, &err), ERR_OK);
    static const struct {
        const char *name;
        enum child_kind kind;
        int64_t bytes;
    } expected[] = {{"", CHILD_BAD_NAME, 0}, {"app-1", CHILD_FILE, 3}, {"bad?name", CHILD_BAD_NAME, 1}, {"eventlog_v2_app-2", CHILD_DIRECTORY, 0}, {"z+\xC3\xBC z", CHILD_FILE, 9}};
    assert_int_equal(children.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(children.items[i].name, expected[i].name);
        assert_int_equal(children.items[i].kind, expected[i].kind);
        assert_int_equal(children.items[i].bytes, expected[i].bytes);
    }
    assert_int_equal(children.items[1].modified_ms, 1795985796000);
    uint64_t first = children.items[1].inode;
    place_children_dispose(&children);
    assert_int_equal(place_list(view, "s3a://b/p/eventlog_v2_app-2", NULL, &children, &err), ERR_OK);
    assert_int_equal(children.count, 3);
    assert_string_equal(children.items[0].name, "appstatus_app-2");
    assert_string_equal(children.items[2].name, "sub");
    assert_int_equal(children.items[2].kind, CHILD_DIRECTORY);
    assert_true(children.items[1].inode != first);
    place_children_dispose(&children);
    assert_int_equal(server.count, 2);
    place_view_free(view);
}

static void answer_delimited(const struct fake_request *request, struct buf *out)
{
    if (asks(request, "delimiter=%2F&encoding-type=url&list-type=2"))
        fake_reply(out, 200, "", LIST_HEAD OBJECT("p/d/a", "3") PREFIX("p/d/sub%20dir/") LIST_END);
    else
        fake_reply(out, 500, "", "");
}

static void other_listings_ask_with_a_delimiter(void **state)
{
    (void)state;
    struct place_children children;
    start(answer_delimited);
    assert_int_equal(place_list(NULL, "s3a://b/p/d", NULL, &children, &err), ERR_OK);
    assert_int_equal(children.count, 2);
    assert_string_equal(children.items[1].name, "sub dir");
    assert_int_equal(children.items[1].kind, CHILD_DIRECTORY);
    place_children_dispose(&children);
}

static const char *canned, *canned_headers;
static int canned_status;
static void answer_canned(const struct fake_request *request, struct buf *out)
{
    (void)request;
    fake_reply(out, canned_status, canned_headers, canned);
}

static void nonsense_is_an_error_and_never_more(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *headers, *body;
        enum err_code code;
    } cases[] = {
        {200, "", "", ERR_IO},
        {200, "", "<html></html>", ERR_IO},
        {200, "", LIST_HEAD, ERR_IO},
        {200, "", LIST_HEAD "<IsTruncated>true</IsTruncated></ListBucketResult>", ERR_IO},
        {200, "", LIST_HEAD "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>", ERR_IO},
        {200, "", LIST_HEAD OBJECT("p/%zz", "1") LIST_END, ERR_IO},
        {200, "", LIST_HEAD OBJECT("p/%00", "1") LIST_END, ERR_IO},
        {200, "", LIST_HEAD OBJECT("&x;", "1") LIST_END, ERR_IO},
        {404, "", "<Error><Code>NoSuchBucket</Code></Error>", ERR_NOT_FOUND},
        {403, "", "<Error><Code>Access\nDenied</Code></Error>", ERR_PERMISSION},
        {301, "x-amz-bucket-region: eu-west-1\r\nLocation: http://127.0.0.1:1/\r\n", "", ERR_INVALID},
        {307, "Location: file:///etc/passwd\r\n", "", ERR_IO},
    };
    start(answer_canned);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct place_children children;
        canned = cases[i].body;
        canned_headers = cases[i].headers;
        canned_status = cases[i].status;
        assert_int_equal(place_list(NULL, "s3a://b/p", NULL, &children, &err), cases[i].code);
        assert_true(err.message[0] && !strchr(err.message, '\n') && !strstr(err.message, "SECRET"));
    }
    canned_status = 503;
    struct place_children children;
    assert_int_equal(place_list(NULL, "s3a://away/p", NULL, &children, &err), ERR_AWAY);
}

/* ---- one object */

static const char *etag;
static char object[100000];
static void answer_object(const struct fake_request *request, struct buf *out)
{
    const char *range = strstr(request->head, "Range: bytes=");
    long long begin = 0, end = 0;
    if (asks(request, "list-type=2")) {
        fake_reply(out, 200, "", LIST_HEAD LIST_END);
    } else if (!asks(request, "/b/p/o%20o")) {
        fake_reply(out, 404, "", "");
    } else if (strcmp(request->method, "HEAD") == 0) {
        buf_printf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nETag: %s\r\nLast-Modified: Sun, 29 Nov 2026 20:56:36 GMT\r\nConnection: close\r\n\r\n", sizeof object, etag);
    } else if (strstr(request->head, "If-Match: ") && !fake_has_header(request, etag)) {
        fake_reply(out, 412, "", "<Error><Code>PreconditionFailed</Code></Error>");
    } else if (!range || sscanf(range, "Range: bytes=%lld-%lld", &begin, &end) != 2 || begin >= (long long)sizeof object) {
        fake_reply(out, 416, "", "<Error><Code>InvalidRange</Code></Error>");
    } else {
        if (end >= (long long)sizeof object)
            end = (long long)sizeof object - 1;
        buf_printf(out, "HTTP/1.1 206 Partial\r\nContent-Length: %lld\r\nContent-Range: bytes %lld-%lld/%zu\r\nETag: %s\r\nConnection: close\r\n\r\n", end - begin + 1, begin, end,
                   sizeof object, etag);
        buf_append(out, object + begin, (size_t)(end - begin + 1));
    }
}

static void an_object_is_read_by_ranges_while_it_stays_the_same(void **state)
{
    (void)state;
    struct place_file *file;
    struct place_child child;
    char got[sizeof object];
    size_t used = 0, len;
    enum err_code rc;
    for (size_t i = 0; i < sizeof object; i++)
        object[i] = (char)('a' + i % 23);
    etag = "\"one\"";
    start(answer_object);
    assert_int_equal(place_file_open(&file, "s3a://b/p/o o", &err), ERR_OK);
    assert_int_equal(place_file_stat(file, &child, &err), ERR_OK);
    assert_int_equal(child.bytes, sizeof object);
    assert_int_equal(child.modified_ms, 1795985796000);
    while ((rc = place_file_read(file, (int64_t)used, got + used, 7000, &len, &err)) == ERR_OK)
        used += len;
    assert_int_equal(rc, ERR_EOF);
    assert_int_equal(used, sizeof object);
    assert_memory_equal(got, object, used);
    assert_int_equal(server.count, 3);
    assert_int_equal(place_file_read(file, 10, got, 10, &len, &err), ERR_OK);
    etag = "\"two\"";
    assert_int_equal(place_file_read(file, 90000, got, 10, &len, &err), ERR_IO);
    assert_non_null(strstr(err.message, "replaced"));
    place_file_close(file);
}

static void another_content_is_another_file(void **state)
{
    (void)state;
    struct place_child a, b;
    etag = "\"one\"";
    start(answer_object);
    assert_int_equal(place_stat("s3a://b/p/o o", &a, &err), ERR_OK);
    etag = "\"two\"";
    assert_int_equal(place_stat("s3a://b/p/o o", &b, &err), ERR_OK);
    assert_true(a.inode != b.inode && a.device == b.device);
    place_child_dispose(&a);
    place_child_dispose(&b);
    assert_int_equal(place_stat("s3a://b/p/none", &a, &err), ERR_NOT_FOUND);
}

/* ---- deleting: a bucket that is what was put into it */

static char keys[8][40], changes[400];
static bool may_put;

static void bucket(const char *const *names)
{
    memset(keys, 0, sizeof keys);
    changes[0] = '\0';
    may_put = true;
    for (size_t i = 0; names[i]; i++)
        snprintf(keys[i], sizeof keys[i], "%s", names[i]);
}

static bool already_listed(const char *const *listed, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(listed[i]) == len && strncmp(listed[i], name, len) == 0)
            return true;
    return false;
}

static void list_bucket(const struct fake_request *request, struct buf *out)
{
    char prefix[40] = "", listed_text[8][40];
    const char *listed[8], *from = strstr(request->target, "prefix=");
    size_t count = 0, len = 0;
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, 10000);
    for (from += 7; *from; from++, len++) {
        prefix[len] = strncmp(from, "%2F", 3) == 0 ? '/' : *from;
        from += prefix[len] == '/' ? 2 : 0;
    }
    buf_text(&body, LIST_HEAD);
    for (size_t i = 0; i < 8; i++) {
        if (!keys[i][0] || strncmp(keys[i], prefix, len) != 0)
            continue;
        size_t end = asks(request, "delimiter=") ? strcspn(keys[i] + len, "/") : strlen(keys[i] + len);
        bool below = keys[i][len + end] == '/';
        if (below && already_listed(listed, count, keys[i], len + end + 1))
            continue;
        snprintf(listed_text[count], sizeof listed_text[count], "%.*s", (int)(len + end + below), keys[i]);
        buf_printf(&body, below ? PREFIX("%s") : OBJECT("%s", "3"), listed_text[count]);
        listed[count] = listed_text[count];
        count++;
    }
    buf_text(&body, LIST_END);
    fake_reply(out, 200, "", body.data);
}

static void answer_changes(const struct fake_request *request, struct buf *out)
{
    const char *key = strncmp(request->target, "/b/", 3) == 0 ? request->target + 3 : "";
    size_t free_one = 8, used = strlen(changes);
    if (asks(request, "list-type=2")) {
        list_bucket(request, out);
        return;
    }
    if (strcmp(request->method, "HEAD") == 0) {
        fake_reply(out, 404, "", "");
        return;
    }
    snprintf(changes + used, sizeof changes - used, "%s %s;", request->method, key);
    if (!fake_has_header(request, "Authorization: AWS4-HMAC-SHA256 Credential=AKID/") ||
        (strcmp(request->method, "PUT") == 0 && (!may_put || !fake_has_header(request, "Content-Length: 0")))) {
        fake_reply(out, 403, "", "<Error><Code>AccessDenied</Code></Error>");
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        free_one = keys[i][0] ? free_one : i;
        if (strcmp(request->method, "DELETE") == 0 && strcmp(keys[i], key) == 0)
            keys[i][0] = '\0';
    }
    if (strcmp(request->method, "PUT") == 0)
        snprintf(keys[free_one], sizeof keys[free_one], "%s", key);
    buf_text(out,
             strcmp(request->method, "PUT") == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" : "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

static void a_key_goes_and_its_directory_stays(void **state)
{
    (void)state;
    start(answer_changes);
    bucket((const char *const[]){"p/app-1", "p/app-2", NULL});
    assert_int_equal(place_remove("s3a://b/p/app-1", CHILD_FILE, &err), ERR_OK);
    assert_string_equal(changes, "DELETE p/app-1;");
    /* the last one: the directory gets its marker before */
    assert_int_equal(place_remove("s3a://b/p/app-2", CHILD_FILE, &err), ERR_OK);
    assert_string_equal(changes, "DELETE p/app-1;PUT p/;DELETE p/app-2;");
    struct place_child child;
    assert_int_equal(place_stat("s3a://b/p", &child, &err), ERR_OK);
    assert_int_equal(child.kind, CHILD_DIRECTORY);
    place_child_dispose(&child);
    bucket((const char *const[]){"p/app-2", NULL});
    may_put = false;
    assert_int_equal(place_remove("s3a://b/p/app-2", CHILD_FILE, &err), ERR_PERMISSION);
    assert_string_equal(changes, "PUT p/;"); /* and nothing was deleted */
    bucket((const char *const[]){"app-2", NULL});
    assert_int_equal(place_remove("s3a://b/app-2", CHILD_FILE, &err), ERR_OK);
    assert_string_equal(changes, "DELETE app-2;"); /* a bucket stays by itself */
    assert_int_equal(place_remove("s3a://b/", CHILD_DIRECTORY, &err), ERR_INVALID);
}

static void a_directory_goes_when_nothing_is_in_it(void **state)
{
    (void)state;
    start(answer_changes);
    bucket((const char *const[]){"p/d/", "p/d/notes", "p/e/", "p/f", NULL});
    assert_int_equal(place_remove("s3a://b/p/d", CHILD_DIRECTORY, &err), ERR_BUSY);
    assert_int_equal(place_remove("s3a://b/p/none", CHILD_DIRECTORY, &err), ERR_NOT_FOUND);
    assert_string_equal(changes, "");
    assert_int_equal(place_remove("s3a://b/p/e", CHILD_DIRECTORY, &err), ERR_OK);
    assert_string_equal(changes, "DELETE p/e/;");
}

/* ---- who asks */

static char seen_head[16000];
static void answer_and_remember(const struct fake_request *request, struct buf *out)
{
    snprintf(seen_head, sizeof seen_head, "%s", request->head);
    fake_reply(out, 200, "", LIST_HEAD OBJECT("p/a", "3") LIST_END);
}

static void list_once(void)
{
    struct place_children children;
    assert_int_equal(place_list(NULL, "s3a://b/p", NULL, &children, &err), ERR_OK);
    place_children_dispose(&children);
}

static void settings_of_a_bucket_go_before_those_of_all(void **state)
{
    (void)state;
    start(answer_and_remember);
    set("fs.s3a.bucket.b.access.key", "OWN");
    set("fs.s3a.bucket.b.secret.key", "OWNSECRET");
    set("fs.s3a.bucket.b.session.token", "TOKEN");
    set("fs.s3a.endpoint.region", "eu-central-1");
    list_once();
    assert_non_null(strstr(seen_head, "Credential=OWN/"));
    assert_non_null(strstr(seen_head, "/eu-central-1/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    assert_non_null(strstr(seen_head, "x-amz-security-token:TOKEN\r\n"));
    assert_null(strstr(seen_head, "OWNSECRET"));
}

static void environment_profile_and_nobody_follow(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-aws-XXXXXX";
    start(answer_and_remember);
    set("fs.s3a.access.key", "");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
    list_once();
    assert_non_null(strstr(seen_head, "Credential=ENV/"));
    unsetenv("AWS_ACCESS_KEY_ID");
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("[default]\naws_access_key_id = DEF\naws_secret_access_key=x\n\n[ logs ]\n aws_access_key_id = PROFILE \naws_secret_access_key = y=z\n", file);
    fclose(file);
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    setenv("AWS_PROFILE", "logs", 1);
    list_once();
    assert_non_null(strstr(seen_head, "Credential=PROFILE/"));
    unsetenv("AWS_PROFILE");
    list_once();
    assert_non_null(strstr(seen_head, "Credential=DEF/"));
    unlink(path);
    list_once();
    assert_null(strstr(seen_head, "Authorization"));
}

static int exchanged;
static void answer_sts(const struct fake_request *request, struct buf *out)
{
    if (strcmp(request->method, "POST") == 0) {
        exchanged++;
        fake_reply(
            out, 200, "",
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>STS</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
            "<SessionToken>T</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
        return;
    }
    answer_and_remember(request, out);
}

static void a_web_identity_is_exchanged_once(void **state)
{
    (void)state;
    char path[] = "/tmp/afterglow-token-XXXXXX", endpoint[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "jwt", 3) == 3);
    close(fd);
    start(answer_sts);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", server.port);
    set("fs.s3a.access.key", "");
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", path, 1);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r", 1);
    setenv("AWS_ENDPOINT_URL_STS", endpoint, 1);
    list_once();
    list_once();
    assert_int_equal(exchanged, 1);
    assert_non_null(strstr(seen_head, "Credential=STS/"));
    assert_non_null(strstr(seen_head, "x-amz-security-token:T\r\n"));
    unlink(path);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_scan_asks_once_and_finds_the_directories_in_the_keys),
        CASE(other_listings_ask_with_a_delimiter),
        CASE(nonsense_is_an_error_and_never_more),
        CASE(an_object_is_read_by_ranges_while_it_stays_the_same),
        CASE(another_content_is_another_file),
        CASE(a_key_goes_and_its_directory_stays),
        CASE(a_directory_goes_when_nothing_is_in_it),
        CASE(settings_of_a_bucket_go_before_those_of_all),
        CASE(environment_profile_and_nobody_follow),
        CASE(a_web_identity_is_exchanged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
