/* SPDX-License-Identifier: Apache-2.0 */
#include "place/aws_credentials.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_pull.h"
#include "base/time.h"
#include "base/units.h"
#include "place/config.h"
#include "place/place_driver.h"
#include "place/xml.h"

#define ANSWER_MAX_BYTES ((size_t)256 << 10)
#define FILE_MAX_BYTES ((size_t)64 << 10)
#define EARLY_MS ((int64_t)5 * 60 * 1000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aws_credentials fetched; /* from STS or a container; expires_ms 0: none */

const char *aws_setting(struct str bucket, const char *key)
{
    const char *own = place_config_f("fs.s3a.bucket.%.*s.%s", (int)MIN(bucket.len, (size_t)100), bucket.ptr, key);
    return own ? own : place_config_f("fs.s3a.%s", key);
}

/* False: one of them is missing, or too long to be one. */
static bool take(struct aws_credentials *ret, struct str access, struct str secret, struct str token)
{
    if (!access.len || !secret.len || access.len >= sizeof ret->access_key || secret.len >= sizeof ret->secret_key || token.len >= sizeof ret->token)
        return false;
    snprintf(ret->access_key, sizeof ret->access_key, "%.*s", (int)access.len, access.ptr);
    snprintf(ret->secret_key, sizeof ret->secret_key, "%.*s", (int)secret.len, secret.ptr);
    snprintf(ret->token, sizeof ret->token, "%.*s", (int)token.len, token.ptr ? token.ptr : "");
    ret->expires_ms = UNKNOWN;
    return true;
}

static bool read_small(const char *path, char *out, size_t room)
{
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(out, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    out[len] = '\0';
    struct str text = xml_trim((struct str){out, strlen(out)});
    memmove(out, text.ptr, text.len);
    out[text.len] = '\0';
    return text.len > 0;
}

/* An INI file: [profile], key = value. */
static bool from_profile(struct aws_credentials *ret)
{
    const char *named = getenv("AWS_SHARED_CREDENTIALS_FILE"), *home = getenv("HOME"), *profile = getenv("AWS_PROFILE");
    char path[4096], text[FILE_MAX_BYTES];
    snprintf(path, sizeof path, "%s%s", named ? named : home ? home : "", named ? "" : "/.aws/credentials");
    if (!profile || !*profile)
        profile = "default";
    if (!read_small(path, text, sizeof text))
        return false;
    struct str access = STR_NONE, secret = STR_NONE, token = STR_NONE;
    bool inside = false;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        struct str s = xml_trim(str_of(line));
        if (s.len > 2 && *s.ptr == '[') {
            inside = str_eq(xml_trim((struct str){s.ptr + 1, s.len - 2}), str_of(profile));
            continue;
        }
        const char *equals = memchr(s.ptr, '=', s.len);
        if (!inside || !equals || *s.ptr == '#')
            continue;
        struct str key = xml_trim((struct str){s.ptr, (size_t)(equals - s.ptr)}), value = xml_trim((struct str){equals + 1, s.len - (size_t)(equals + 1 - s.ptr)});
        if (str_is(key, "aws_access_key_id"))
            access = value;
        else if (str_is(key, "aws_secret_access_key"))
            secret = value;
        else if (str_is(key, "aws_session_token"))
            token = value;
    }
    bool found = take(ret, access, secret, token);
    explicit_bzero(text, sizeof text);
    return found;
}

/* <AccessKeyId>, <SecretAccessKey>, <SessionToken>, <Expiration>, wherever they stand. */
static bool read_sts(struct str body, struct aws_credentials *ret)
{
    struct xml xml;
    enum xml_event event;
    struct str field = STR_NONE, access = STR_NONE, secret = STR_NONE, token = STR_NONE, expires = STR_NONE;
    xml_init(&xml, body);
    while ((event = xml_next(&xml)) > XML_END) {
        if (event != XML_TEXT) {
            field = event == XML_OPEN ? xml.name : STR_NONE;
            continue;
        }
        struct str value = xml_trim(xml.raw); /* base 64 and dates: no references */
        if (str_is(field, "AccessKeyId"))
            access = value;
        else if (str_is(field, "SecretAccessKey"))
            secret = value;
        else if (str_is(field, "SessionToken"))
            token = value;
        else if (str_is(field, "Expiration"))
            expires = value;
    }
    if (event != XML_END || !take(ret, access, secret, token))
        return false;
    ret->expires_ms = time_parse_iso(expires);
    return true;
}

static enum err_code from_web_identity(const char *token_file, const char *role, const char *region, struct aws_credentials *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf form, body, url;
    buf_init(&form, FILE_MAX_BYTES * 4);
    buf_init(&body, ANSWER_MAX_BYTES);
    buf_init(&url, 4096);
    char token[FILE_MAX_BYTES];
    const char *session = getenv("AWS_ROLE_SESSION_NAME"), *endpoint = getenv("AWS_ENDPOINT_URL_STS");
    if (!read_small(token_file, token, sizeof token))
        return err_set(err, ERR_PERMISSION, "the file of AWS_WEB_IDENTITY_TOKEN_FILE is empty or cannot be read");
    buf_text(&form, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    place_escape(&form, str_of(role), false);
    buf_text(&form, "&RoleSessionName=");
    place_escape(&form, str_of(session && *session ? session : "afterglow"), false);
    buf_text(&form, "&WebIdentityToken=");
    place_escape(&form, str_of(token), false);
    if (endpoint && *endpoint)
        buf_printf(&url, "%s/", endpoint);
    else
        buf_printf(&url, "https://sts.%s.amazonaws.com/", region);
    explicit_bzero(token, sizeof token);
    if (buf_failed(&form) || buf_failed(&url))
        return err_nomem(err);
    const struct fetch_request request = {.method = "POST",
                                          .url = url.data,
                                          .what = "AssumeRoleWithWebIdentity",
                                          .headers = {"Content-Type: application/x-www-form-urlencoded"},
                                          .header_count = 1,
                                          .body = buf_str(&form)};
    struct fetch_head head;
    enum err_code rc = fetch_whole(&request, &head, &body, err);
    if (rc)
        return rc;
    if (head.status != 200)
        return err_set(err, head.status >= 500 ? ERR_AWAY : ERR_PERMISSION, "AssumeRoleWithWebIdentity: HTTP status %d", head.status);
    return read_sts(buf_str(&body), ret) ? ERR_OK : err_set(err, ERR_IO, "AssumeRoleWithWebIdentity: the answer is not what it should be");
}

static bool read_container(struct str text, struct aws_credentials *ret)
{
    enum { ACCESS, SECRET, TOKEN, EXPIRES };
    static const struct json_key keys[] = {JSON_KEY("AccessKeyId", ACCESS), JSON_KEY("SecretAccessKey", SECRET), JSON_KEY("Token", TOKEN), JSON_KEY("Expiration", EXPIRES)};
    struct str values[4] = {STR_NONE, STR_NONE, STR_NONE, STR_NONE};
    struct arena scratch;
    struct json_pull in;
    struct json_object o;
    arena_init(&scratch, ANSWER_MAX_BYTES * 4);
    json_pull_init(&in, text, &scratch);
    if (json_object_begin(&in, &o, KEYS(keys)))
        for (int key; (key = json_next(&in, &o)) >= 0;) {
            if (key < (int)ARRAY_LENGTH(values))
                values[key] = json_str(&in);
            else
                json_skip(&in);
        }
    bool found = !in.failed && take(ret, values[ACCESS], values[SECRET], values[TOKEN]);
    if (found)
        ret->expires_ms = time_parse_iso(values[EXPIRES]);
    arena_dispose(&scratch);
    return found;
}

static enum err_code from_container(const char *full, const char *relative, struct aws_credentials *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, ANSWER_MAX_BYTES);
    char url[2048], header[FILE_MAX_BYTES + 32] = "Authorization: ";
    const char *file = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"), *token = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    snprintf(url, sizeof url, "%s%s", relative ? "http://169.254.170.2" : "", relative ? relative : full);
    size_t used = strlen(header);
    bool has_token = file ? read_small(file, header + used, sizeof header - used) : token && snprintf(header + used, sizeof header - used, "%s", token) > 0;
    const struct fetch_request request = {.url = url, .what = "the container's credentials", .headers = {header}, .header_count = has_token};
    struct fetch_head head;
    enum err_code rc = fetch_whole(&request, &head, &body, err);
    if (rc)
        return rc;
    if (head.status != 200 || !read_container(buf_str(&body), ret))
        return err_set(err, head.status >= 500 ? ERR_AWAY : ERR_PERMISSION, "the container's credentials: HTTP status %d, or not what they should be", head.status);
    return ERR_OK;
}

enum err_code aws_credentials(struct str bucket, const char *region, struct aws_credentials *ret, struct err *err)
{
    *ret = (struct aws_credentials){.expires_ms = UNKNOWN};
    if (take(ret, str_of(aws_setting(bucket, "access.key")), str_of(aws_setting(bucket, "secret.key")), str_of(aws_setting(bucket, "session.token"))) ||
        take(ret, str_of(getenv("AWS_ACCESS_KEY_ID")), str_of(getenv("AWS_SECRET_ACCESS_KEY")), str_of(getenv("AWS_SESSION_TOKEN"))))
        return ERR_OK;
    const char *token_file = getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), *role = getenv("AWS_ROLE_ARN");
    const char *full = getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"), *relative = getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    bool by_web = token_file && *token_file && role && *role;
    if (!by_web && (from_profile(ret) || (!full && !relative)))
        return ERR_OK;
    enum err_code rc = ERR_OK;
    pthread_mutex_lock(&lock);
    if (!fetched.access_key[0] || (known(fetched.expires_ms) && fetched.expires_ms - EARLY_MS < time_now_ms())) {
        struct aws_credentials fresh = {.expires_ms = UNKNOWN};
        rc = by_web ? from_web_identity(token_file, role, region, &fresh, err) : from_container(full, relative, &fresh, err);
        if (!rc)
            fetched = fresh;
    }
    *ret = fetched;
    pthread_mutex_unlock(&lock);
    return rc;
}
