/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures of AWS's own documentation ("Examples: Signature Calculations in AWS Signature Version 4", Amazon S3 API Reference), with its keys and date. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "place/sigv4.h"

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HOST STR_LIT("host:examplebucket.s3.amazonaws.com")
#define HASH STR_LIT("x-amz-content-sha256:" EMPTY_HASH)
#define DATE STR_LIT("x-amz-date:20130524T000000Z")

static struct sigv4_request example(const char *path, const char *query)
{
    return (struct sigv4_request){.method = "GET",
                                  .path = path,
                                  .query = query,
                                  .headers = {HOST, HASH, DATE},
                                  .header_count = 3,
                                  .body_hash = EMPTY_HASH,
                                  .date = "20130524T000000Z",
                                  .region = "us-east-1",
                                  .service = "s3",
                                  .access_key = "AKIAIOSFODNN7EXAMPLE",
                                  .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
}

static void expect(const struct sigv4_request *request, const char *line)
{
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, 4096);
    assert_int_equal(sigv4_sign(request, &out, NULL), ERR_OK);
    assert_string_equal(out.data, line);
}

#define SCOPE "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"

static void signs_a_part_of_an_object(void **state)
{
    (void)state;
    struct sigv4_request request = example("/test.txt", "");
    request.headers[1] = STR_LIT("range:bytes=0-9");
    request.headers[2] = HASH;
    request.headers[3] = DATE;
    request.header_count = 4;
    expect(&request, SCOPE "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void signs_a_query_without_a_value(void **state)
{
    (void)state;
    struct sigv4_request request = example("/", "lifecycle=");
    expect(&request, SCOPE "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

static void signs_a_listing(void **state)
{
    (void)state;
    struct sigv4_request request = example("/", "max-keys=2&prefix=J");
    expect(&request, SCOPE "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void hashes_and_dates_are_those_of_the_examples(void **state)
{
    (void)state;
    char hash[SIGV4_HASH_BYTES], date[SIGV4_DATE_BYTES];
    assert_int_equal(sigv4_hash(STR_LIT(""), hash, NULL), ERR_OK);
    assert_string_equal(hash, EMPTY_HASH);
    sigv4_date(1369353600000, date);
    assert_string_equal(date, "20130524T000000Z");
}

static void a_key_that_cannot_be_one_is_refused(void **state)
{
    (void)state;
    char key[2000];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    struct sigv4_request request = example("/", "");
    request.secret_key = key;
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, 4096);
    assert_int_equal(sigv4_sign(&request, &out, NULL), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_a_part_of_an_object),
        cmocka_unit_test(signs_a_query_without_a_value),
        cmocka_unit_test(signs_a_listing),
        cmocka_unit_test(hashes_and_dates_are_those_of_the_examples),
        cmocka_unit_test(a_key_that_cannot_be_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
