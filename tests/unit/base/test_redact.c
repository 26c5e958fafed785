/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"

/* What stands between { and } is the secret; the text without these two is what is given, and they are part of no text here. */
static void split(const char *marked, struct buf *given, struct buf *wanted)
{
    bool secret = false;
    buf_init(given, 1 << 16);
    buf_init(wanted, 1 << 16);
    for (const char *p = marked; *p; p++) {
        if (*p == '{') {
            secret = true;
            buf_text(wanted, REDACTED);
        } else if (*p == '}') {
            secret = false;
        } else {
            buf_char(given, *p);
            if (!secret)
                buf_char(wanted, *p);
        }
    }
}

static void check(const char *marked)
{
    struct buf given, wanted;
    split(marked, &given, &wanted);
    char *exact = malloc(given.len ? given.len : 1); /* so that the address sanitizer sees a read past the end */
    assert_non_null(exact);
    if (given.len)
        memcpy(exact, given.data, given.len);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct str got;
    assert_int_equal(redact_text(&arena, (struct str){exact, given.len}, &got), 0);
    char *text = arena_strndup(&arena, got.ptr, got.len);
    assert_non_null(text);
    assert_string_equal(text, wanted.len ? wanted.data : "");

    struct str again; /* what is hidden stays as it is */
    assert_int_equal(redact_text(&arena, got, &again), 0);
    assert_true(str_eq(got, again));

    char small[4096];
    assert_int_equal(redact_into((struct str){exact, given.len}, small, sizeof small), got.len);
    assert_string_equal(small, text);
    arena_dispose(&arena);
    buf_dispose(&given);
    buf_dispose(&wanted);
    free(exact);
}

static void hides_the_values_of_keys(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "password={hunter2}",
        "PassWord = {hunter2} and more",
        "spark-submit --conf x.password={hunter2} --conf spark.executor.cores=4 /opt/secret-lib.jar",
        "spark-submit --conf \"x.password={hunter2}\" --class org.example.Main",
        "run --password {hunter2} --user me",
        "-Dmy.secret.key={hunter2} -Xmx1g",
        "fs.s3a.secret.key -> {hunter2}, fs.s3a.endpoint -> x",
        "Map(password -> {hunter2}, url -> jdbc:h2:mem)",
        "Map(password->{hunter2})",
        "[user=me,password={hunter2},driver=org.x.Y]",
        "[driver=org.x.Y, password={hunter2}]",
        "password={hunter,2}",
        "password={hunter)2x}",
        "api_key: {hunter2}\nnext line",
        "AccountKey={hunter2/+a==};EndpointSuffix=core.windows.net",
        "fs.azure.account.key.store.dfs.core.windows.net={hunter2}",
        "SecretAccessKey: {hunter2}",
        "pwd={hunter2}",
        "token=>{hunter2}",
        "\"spark.x.token\" : \"{hunter2}\", \"b\":1",
        "'password': '{hunter''2}'",
        "option(\"password\", \"{hunter2}\").load()",
        "[\"fs.s3a.secret.key\",\"{hunter2}\"]",
        "List((url,jdbc:h2), (x.password,{hunter2}))",
        "((token,{hunter2}),(a,b))",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check(texts[i]);
}

static void expect(const char *given, const char *wanted)
{
    char got[1024];
    redact_into(str_of(given), got, sizeof got);
    assert_string_equal(got, wanted);
}

static void hides_values_inside_json_and_escaped_json(void **state)
{
    (void)state;
    expect("{\"password\":\"hunter2\",\"n\":1}", "{\"password\":\"" REDACTED "\",\"n\":1}");
    expect("{\"a\":\"{\\\"password\\\":\\\"hunter2\\\",\\\"b\\\":\\\"c\\\"}\"}", "{\"a\":\"{\\\"password\\\":\\\"" REDACTED "\\\",\\\"b\\\":\\\"c\\\"}\"}");
    expect("{\"password\":\"hun\\\"ter2\"}", "{\"password\":\"" REDACTED "\"}");
    expect("{\"password\":\"hunter\\\\\"}", "{\"password\":\"" REDACTED "\"}");
    expect("{\"Event\":\"X\",\"spark.x.password\":\"hunte", "{\"Event\":\"X\",\"spark.x.password\":\"" REDACTED);
    expect("{password=hunter2}", "{password=" REDACTED "}");
}

static void hides_options_of_statements(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:h2:mem', password '{hunter2}', dbtable \"x\")",
        "CREATE TABLE t USING jdbc OPTIONS ( password \"{hunter2}\" )",
        "OPTIONS ('secret_key' = '{hunter2}', 'path' = 's3a://b/p')",
        "OPTIONS ('secret_key'='{hunter2}')",
        "OPTIONS (`password` '{hunter2}')",
        "WITH (session_token '{hunter2}')",
        "OPTIONS (token '{hunter2}')",
        "SET spark.hadoop.fs.s3a.secret.key={hunter2}",
        "SET x.password = {hunter2};",
        "CREATE USER u IDENTIFIED BY '{hunter2}' WITH x",
        "password '{it''s hunter2}', b 'c'",
        "password '{never closed hunter2}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check(texts[i]);
}

static void hides_what_stands_in_addresses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "jdbc:mysql://root:{hunter2}@db.example:3306/shop?useSSL=true",
        "jdbc:mysql://root:{hun/ter2}@db.example/shop",
        "jdbc:mysql://root:{hun@ter2}@db.example/shop",
        "jdbc:mysql://root:{1234}@db.example/shop",
        "jdbc:postgresql://h:5432/db?user=u&password={hunter2}&ssl=true",
        "jdbc:sqlserver://h:1433;user=sa;password={hunter2};encrypt=true",
        "jdbc:sqlserver://h\\inst:abc;password={hunter2};encrypt=true",
        "jdbc:oracle:thin:scott/{hunter2}@//h:1521/x",
        "s3a://KEY:{hunter2}@bucket/path and mongodb://u:{p}@h1:27017,h2:27017/db",
        "https://api.example/x?access_token={hunter2}#here",
        "Authorization: Bearer {0123456789abcdefhunter2}",
        "id {AKIAIOSFODNN7EXAMPLE} was refused",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check(texts[i]);
    expect("jdbc:sqlserver://h;password={hun;ter2};encrypt=true", "jdbc:sqlserver://h;password={" REDACTED "};encrypt=true");
}

static void leaves_what_only_looks_like_a_secret(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "password",
        "password=",
        "password ",
        "token:",
        "://",
        "://:",
        "/opt/secret-lib.jar",
        "/opt/secret-lib.jar:/opt/other.jar:/opt/token-1.jar:/opt/z.jar",
        "\tat org.apache.spark.deploy.security.HadoopDelegationTokenManager.renew(HadoopDelegationTokenManager.scala:75)",
        "org.apache.hadoop.security.token.SecretManager$InvalidToken: token (HDFS_DELEGATION_TOKEN token 123 for me) can't be found in cache",
        "Caused by: TokenManager: not started",
        "File \"/x/token.py\", line 3",
        "Filter (isnotnull(token#12) AND (token#12 = abc))",
        "Project [id#1, access_token#2 AS password#3]",
        "ReadSchema: struct<id:int,password:string,token:decimal(10,2)>",
        "root\n |-- token: string (nullable = true)",
        "SELECT a.token FROM a JOIN b ON a.token = b.token AND (a.secret = b.secret)",
        "token::string",
        "password = NULL, secret IS NOT NULL",
        "unexpected token 'FROM' near 'x'",
        "hdfs://nn:8020/user/x@y/part-0",
        "hdfs://nameservice1:/user/x",
        "spark://CoarseGrainedScheduler@10.0.0.1:35555",
        "kafka://h1:9092,h2:9092/x@y",
        "http://[::1]:8080/a@b",
        "ssh://git@host:org/repo",
        "collect at Main.scala:10",
        "PWD=/home/me OLDPWD=/tmp",
        "a bearer bond",
        "AKIAIOSFODNN7EXAMPLEX and XAKIAIOSFODNN7EXAMPLE",
        "x.password=*********(redacted) y",
        "Map(x.password -> *********(redacted))",
        "INSERT INTO t (password,user) SELECT concat(password,salt)",
        "keyboard worker kick back comic : : ckwb",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check(texts[i]);
}

static void a_text_without_secrets_is_not_copied(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 12);
    struct str text = STR_LIT("count at Main.scala:10"), got;
    assert_int_equal(redact_text(&arena, text, &got), 0);
    assert_ptr_equal(got.ptr, text.ptr);
    assert_int_equal(redact_text(&arena, STR_NONE, &got), 0);
    assert_false(str_known(got));
    assert_int_equal(arena_bytes(&arena), 0);
    arena_dispose(&arena);
}

static void a_full_arena_is_told(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 16);
    struct str got;
    assert_int_equal(redact_text(&arena, STR_LIT("password=hunter2"), &got), -1);
    arena_dispose(&arena);
}

static void a_small_buffer_cuts(void **state)
{
    (void)state;
    char out[16];
    assert_int_equal(redact_into(STR_LIT("password=hunter2 and more"), out, sizeof out), 15);
    assert_string_equal(out, "password=******");
}

static void secrets_are_found_by_the_words_of_spark(void **state)
{
    (void)state;
    assert_true(redact_is_secret(STR_LIT("spark.my.PASSWORD")));
    assert_true(redact_is_secret(STR_LIT("fs.s3a.access.key")));
    assert_true(redact_is_secret(STR_LIT("awsAccessKeyId")));
    assert_true(redact_is_secret(STR_LIT("fs.s3a.aws.credentials.provider")));
    assert_false(redact_is_secret(STR_LIT("fs.s3a.access-key")));
    assert_false(redact_is_secret(STR_LIT("spark.app.name")));
}

/* Texts made to be looked at again and again. Half a MiB is a matter of milliseconds, or, where each byte were looked at for each other, of minutes. */
static void time_is_linear(void **state)
{
    (void)state;
    static const char *const patterns[] = {"://a:b",      "://a:b@", "token", "password=", "password='",       "password \\\"", "a,b,",
                                           "password=a,", "secret.", "\\",    "k",         "jdbc:oracle:x:y/", "((token,",      "-"};
    for (size_t p = 0; p < ARRAY_LENGTH(patterns); p++) {
        size_t each = strlen(patterns[p]), count = ((size_t)512 << 10) / each;
        char *text = malloc(each * count);
        assert_non_null(text);
        for (size_t i = 0; i < count; i++)
            memcpy(text + i * each, patterns[p], each);
        clock_t begin = clock();
        struct str secret;
        for (size_t position = 0; redact_next((struct str){text, each * count}, &position, &secret);)
            continue;
        assert_true(clock() - begin < (clock_t)5 * CLOCKS_PER_SEC);   /* of this process, whatever else the machine does */
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_the_values_of_keys),
        cmocka_unit_test(hides_values_inside_json_and_escaped_json),
        cmocka_unit_test(hides_options_of_statements),
        cmocka_unit_test(hides_what_stands_in_addresses),
        cmocka_unit_test(leaves_what_only_looks_like_a_secret),
        cmocka_unit_test(a_text_without_secrets_is_not_copied),
        cmocka_unit_test(a_full_arena_is_told),
        cmocka_unit_test(a_small_buffer_cuts),
        cmocka_unit_test(secrets_are_found_by_the_words_of_spark),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
