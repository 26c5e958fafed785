/* SPDX-License-Identifier: Apache-2.0
 *
 * S3 and what speaks like it: s3://BUCKET/PREFIX, s3a://BUCKET/PREFIX. Where it is and how it is asked comes from Hadoop's own keys (fs.s3a.endpoint, .endpoint.region,
 * .path.style.access, .connection.ssl.enabled, each also as fs.s3a.bucket.BUCKET.…) and AWS's environment (AWS_ENDPOINT_URL_S3, AWS_REGION); who asks: aws_credentials.h.
 *
 * There are no directories, only keys with slashes in them. A scan lists all keys below its root at once, a thousand an answer, and finds the directories in them: a rolling log costs
 * its keys and no question of its own (100,000 of them: 300 answers, where a question for each directory would be 100,000). Other listings ask with a delimiter.
 * An object never grows, it is replaced: its ETag tells one content from another, and reading goes on only while the ETag stays (If-Match).
 * A directory would go with its last key, and Spark does not start where its log directory is not there: before that key is deleted the directory gets an empty object "DIRECTORY/", the
 * marker that S3A leaves as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/aws_credentials.h"
#include "place/config.h"
#include "place/place_driver.h"
#include "place/sigv4.h"
#include "place/xml.h"

#define ANSWER_MAX_BYTES ((size_t)16 << 20) /* a thousand keys of 1,024 bytes, each byte escaped, and their element names */
#define URL_BYTES ((size_t)16 << 10)
#define PAGE_KEYS 1000              /* that S3 gives in one answer */
#define KEY_BYTES 4097              /* of 1,024 characters of UTF-8 */
#define KEYS_MAX ((size_t)20 << 20) /* below one root; some 4 GB of memory */
#define REGION "us-east-1"

/* ---- questions */

static bool is_true(const char *text, bool otherwise)
{
    return text && *text ? strcasecmp(text, "true") == 0 : otherwise;
}

static const char *region_of(struct str bucket)
{
    const char *set = aws_setting(bucket, "endpoint.region"), *environment = getenv("AWS_REGION"), *older = getenv("AWS_DEFAULT_REGION");
    return set && *set ? set : environment && *environment ? environment : older && *older ? older : REGION;
}

static const char *endpoint_of(struct str bucket)
{
    const char *set = aws_setting(bucket, "endpoint"), *own = getenv("AWS_ENDPOINT_URL_S3"), *general = getenv("AWS_ENDPOINT_URL");
    return set && *set ? set : own && *own ? own : general && *general ? general : NULL;
}

static bool is_bucket_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.ptr[i] >= 'a' && s.ptr[i] <= 'z') || (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z') || (s.ptr[i] >= '0' && s.ptr[i] <= '9') || s.ptr[i] == '-' || s.ptr[i] == '.' ||
              s.ptr[i] == '_'))
            return false;
    return s.len > 0 && s.len <= 255;
}

static enum err_code check(const struct place_uri *uri, struct err *err)
{
    if (!is_bucket_name(uri->authority))
        return err_set(err, ERR_INVALID, "s3a://BUCKET/PREFIX: the name of a bucket is missing, or is none");
    return ERR_OK;
}

/* Scheme and host of the answerer, with the bucket in the host or in front of the path. */
static void locate(struct str bucket, const char *region, struct buf *origin, struct buf *path)
{
    const char *endpoint = endpoint_of(bucket), *scheme = is_true(aws_setting(bucket, "connection.ssl.enabled"), true) ? "https" : "http";
    bool path_style = is_true(aws_setting(bucket, "path.style.access"), false) || memchr(bucket.ptr, '.', bucket.len) != NULL;
    const char *given = endpoint ? strstr(endpoint, "://") : NULL;
    int scheme_len = given ? (int)(given - endpoint) : (int)strlen(scheme);
    const char *host = given ? given + 3 : endpoint;
    size_t host_len = host ? strcspn(host, "/") : 0;
    /* As in libcurl's Host header, which is signed: without the scheme's own port. */
    const char *own_port = scheme_len == 5 ? ":443" : ":80";
    if (host_len > strlen(own_port) && strncmp(host + host_len - strlen(own_port), own_port, strlen(own_port)) == 0)
        host_len -= strlen(own_port);
    buf_printf(origin, "%.*s://", scheme_len, given ? endpoint : scheme);
    if (!path_style)
        buf_printf(origin, "%.*s.", (int)bucket.len, bucket.ptr);
    if (host)
        buf_append(origin, host, host_len);
    else
        buf_printf(origin, "s3.%s.amazonaws.com", region);
    if (path_style)
        buf_printf(path, "/%.*s", (int)bucket.len, bucket.ptr);
}

struct question {
    const struct place_uri *uri;
    const char *method, *query;                        /* the query sorted and encoded */
    const char *key;                                   /* begins with a slash; empty: the bucket */
    char range[80], match[PLACE_VALIDATOR_BYTES + 16]; /* whole headers; empty: none */
};

/* What goes into the head of a signed request. The lines are headers as they are sent; the first, of the host, libcurl sends itself. */
struct signature {
    char lines[4][sizeof((struct aws_credentials *)0)->token + 64];
    struct buf authorization;
};

static enum err_code sign(struct signature *self, const struct question *q, const char *host, const char *path, const char *region, const struct aws_credentials *who,
                          struct fetch_request *request, struct err *err)
{
    char date[SIGV4_DATE_BYTES], hash[SIGV4_HASH_BYTES];
    enum err_code rc = sigv4_hash(STR_LIT(""), hash, err);
    if (rc)
        return rc;
    sigv4_date(time_now_ms(), date);
    snprintf(self->lines[0], sizeof self->lines[0], "host:%s", host);
    snprintf(self->lines[1], sizeof self->lines[1], "x-amz-content-sha256:%s", hash);
    snprintf(self->lines[2], sizeof self->lines[2], "x-amz-date:%s", date);
    snprintf(self->lines[3], sizeof self->lines[3], "x-amz-security-token:%s", who->token);
    struct sigv4_request to_sign = {.method = q->method,
                                    .path = path,
                                    .query = q->query,
                                    .header_count = who->token[0] ? 4 : 3,
                                    .body_hash = hash,
                                    .date = date,
                                    .region = region,
                                    .service = "s3",
                                    .access_key = who->access_key,
                                    .secret_key = who->secret_key};
    for (size_t i = 0; i < to_sign.header_count; i++)
        to_sign.headers[i] = str_of(self->lines[i]);
    if ((rc = sigv4_sign(&to_sign, &self->authorization, err)))
        return rc;
    for (size_t i = 1; i < to_sign.header_count; i++)
        request->headers[request->header_count++] = self->lines[i];
    request->headers[request->header_count++] = self->authorization.data;
    return ERR_OK;
}

/* <Error><Code>NoSuchKey</Code>…: the word of the code, clean. */
static void read_error_code(struct str body, char *word, size_t room)
{
    struct xml xml;
    enum xml_event event;
    struct str field = STR_NONE;
    word[0] = '\0';
    xml_init(&xml, body);
    while ((event = xml_next(&xml)) > XML_END) {
        if (event == XML_TEXT && str_is(field, "Code"))
            snprintf(word, room, "%.*s", (int)MIN(xml.raw.len, room - 1), xml.raw.ptr);
        field = event == XML_OPEN ? xml.name : STR_NONE;
    }
    for (char *p = word; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7F)
            *p = '?';
}

static enum err_code refused(const char *what, struct fetch_stream *stream, bool is_signed, struct err *err)
{
    const struct fetch_head *head = fetch_head(stream);
    char body[4096], word[64];
    size_t used = 0, len;
    while (used < sizeof body && fetch_read(stream, body + used, sizeof body - used, &len, NULL) == ERR_OK)
        used += len;
    read_error_code((struct str){body, used}, word, sizeof word);
    if (head->region[0] && (head->status == 301 || head->status == 307 || head->status == 400))
        return err_set(err, ERR_INVALID, "%s: the bucket lies in %s: set fs.s3a.endpoint.region", what, head->region);
    if (head->status == 412)
        return err_set(err, ERR_IO, "%s: it was replaced while it was read", what);
    enum err_code rc = head->status == 404                          ? ERR_NOT_FOUND
                       : head->status == 401 || head->status == 403 ? ERR_PERMISSION
                       : head->status >= 500 || head->status == 429 ? ERR_AWAY
                                                                    : ERR_IO;
    return err_set(err, rc, "%s: HTTP status %d%s%s%s", what, head->status, word[0] ? ", " : "", word, rc == ERR_PERMISSION && !is_signed ? " (no credentials were found)" : "");
}

/* A stream of an answer with status 200, 204, 206 or 416. */
static enum err_code ask(const struct question *q, struct fetch_stream **ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf origin, path, url;
    struct str bucket = q->uri->authority;
    const char *region = region_of(bucket);
    char what[128];
    *ret = NULL;
    buf_init(&origin, URL_BYTES);
    buf_init(&path, URL_BYTES);
    buf_init(&url, 2 * URL_BYTES);
    locate(bucket, region, &origin, &path);
    place_escape(&path, str_of(q->key), true);
    if (path.len == 0)
        buf_char(&path, '/');
    buf_printf(&url, "%s%s%s%s", origin.data, path.data, q->query[0] ? "?" : "", q->query);
    if (buf_failed(&origin) || buf_failed(&path) || buf_failed(&url))
        return err_set(err, ERR_LIMIT, "the address is too long");
    snprintf(what, sizeof what, "%s of bucket %.*s", q->query[0] ? "ListObjectsV2" : q->method, (int)MIN(bucket.len, (size_t)64), bucket.ptr);
    struct place_patience patience = {0};
    struct err why = {0};
    do {
        struct aws_credentials who;
        struct signature signature;
        struct fetch_request request = {.method = q->method, .url = url.data, .what = what};
        buf_init(&signature.authorization, URL_BYTES);
        enum err_code rc = aws_credentials(bucket, region, &who, &why);
        if (!rc && who.access_key[0])
            rc = sign(&signature, q, strstr(origin.data, "://") + 3, path.data, region, &who, &request, &why);
        if (!rc && q->range[0])
            request.headers[request.header_count++] = q->range;
        if (!rc && q->match[0])
            request.headers[request.header_count++] = q->match;
        if (!rc && strcmp(q->method, "PUT") == 0) {
            request.headers[request.header_count++] = "Content-Type: application/x-directory";
            request.body = STR_LIT("");
        }
        if (!rc)
            rc = fetch_open(ret, &request, &why);
        buf_dispose(&signature.authorization);
        int status = rc ? 0 : fetch_head(*ret)->status;
        if (status == 200 || status == 204 || status == 206 || status == 416)
            return ERR_OK;
        if (!rc) {
            rc = refused(what, *ret, who.access_key[0], &why);
            fetch_close(TAKE(*ret));
        }
        if (rc != ERR_AWAY)
            return err_set(err, rc, "%s", why.message);
    } while (place_wait(&patience));
    return err_set(err, fetch_stopped() ? ERR_CANCELLED : ERR_AWAY, "%s", why.message);
}

/* ---- answers */

/* Which object it is, with which content. */
static uint64_t object_id(const char *key, const char *etag)
{
    return place_hash(str_of(key), str_of(etag));
}

static uint64_t device_of(const struct place_uri *uri)
{
    return place_hash(uri->authority, STR_LIT("s3"));
}

struct object {
    char *key; /* owned */
    int64_t bytes, modified_ms;
    uint64_t id;
};

struct objects {
    struct object *items; /* owned */
    size_t count, capacity;
};

static void free_objects(struct objects *self)
{
    for (size_t i = 0; i < self->count; i++)
        mem_free(self->items[i].key);
    mem_free(self->items);
    *self = (struct objects){0};
}

static enum err_code add_object(struct objects *self, const char *key, int64_t bytes, int64_t modified_ms, const char *etag, struct err *err)
{
    struct object object = {.key = mem_strndup(key, strlen(key)), .bytes = bytes, .modified_ms = modified_ms, .id = object_id(key, etag)};
    if (!object.key || mem_grow((void **)&self->items, &self->capacity, self->count + 1, KEYS_MAX, sizeof *self->items)) {
        bool full = object.key && self->count >= KEYS_MAX;
        mem_free(object.key);
        return full ? err_set(err, ERR_LIMIT, "more than %zu keys", KEYS_MAX) : err_nomem(err);
    }
    self->items[self->count++] = object;
    return ERR_OK;
}

/* One answer of ListObjectsV2. Common prefixes become objects without a size. *ret_next: empty at the end. */
static enum err_code read_page(struct str body, struct objects *into, struct buf *ret_next, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, KEY_BYTES * 4);
    struct xml xml;
    enum xml_event event;
    struct str field = STR_NONE;
    char key[KEY_BYTES] = "", etag[PLACE_VALIDATOR_BYTES] = "";
    int64_t bytes = UNKNOWN, modified_ms = UNKNOWN;
    bool in_contents = false, in_prefixes = false, whole = false, is_list = false;
    enum err_code rc = ERR_OK;
    buf_clear(ret_next);
    xml_init(&xml, body);
    while (!rc && (event = xml_next(&xml)) > XML_END) {
        if (event == XML_OPEN) {
            is_list |= str_is(xml.name, "ListBucketResult");
            if (str_is(xml.name, "Contents") || str_is(xml.name, "CommonPrefixes")) {
                in_contents = str_is(xml.name, "Contents");
                in_prefixes = !in_contents;
                key[0] = etag[0] = '\0';
                bytes = modified_ms = UNKNOWN;
            }
            field = xml.name;
            continue;
        }
        if (event == XML_CLOSE) {
            if (str_is(xml.name, in_contents ? "Contents" : "CommonPrefixes") && (in_contents || in_prefixes)) {
                if (key[0])
                    rc = add_object(into, key, in_contents ? bytes : UNKNOWN, modified_ms, etag, err);
                in_contents = in_prefixes = false;
            }
            field = STR_NONE;
            continue;
        }
        buf_clear(&text);
        if (xml_text(&xml, &text))
            return err_set(err, ERR_IO, "ListObjectsV2: a text that is too long, or none");
        struct str value = buf_str(&text);
        if ((in_contents && str_is(field, "Key")) || (in_prefixes && str_is(field, "Prefix"))) {
            if (!place_unescape(value, key, sizeof key))
                return err_set(err, ERR_IO, "ListObjectsV2: a key that cannot be one");
        } else if (in_contents && str_is(field, "Size")) {
            if (!str_to_i64(value, &bytes) || bytes < 0)
                bytes = UNKNOWN;
        } else if (in_contents && str_is(field, "LastModified")) {
            modified_ms = time_parse_iso(value);
        } else if (in_contents && str_is(field, "ETag")) {
            snprintf(etag, sizeof etag, "%.*s", (int)MIN(value.len, sizeof etag - 1), value.ptr ? value.ptr : "");
        } else if (!in_contents && !in_prefixes && str_is(field, "NextContinuationToken")) {
            buf_append(ret_next, value.ptr, value.len);
        } else if (!in_contents && !in_prefixes && str_is(field, "IsTruncated")) {
            whole = str_is(value, "false");
        }
    }
    if (rc)
        return rc;
    if (event == XML_FAILED || !is_list || buf_failed(ret_next) || (!whole && ret_next->len == 0))
        return err_set(err, ERR_IO, "ListObjectsV2: the answer is not what it should be");
    if (whole)
        buf_clear(ret_next);
    return ERR_OK;
}

/* All keys that begin with `prefix`; with a delimiter those below a further slash as one. `most` below PAGE_KEYS: the first ones only. */
static enum err_code list_keys(const struct place_uri *uri, const char *prefix, bool delimiter, int most, struct objects *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf query, body, next;
    buf_init(&query, URL_BYTES);
    buf_init(&body, ANSWER_MAX_BYTES);
    buf_init(&next, URL_BYTES / 4);
    for (;;) {
        size_t before = ret->count;
        buf_clear(&query);
        if (next.len) {
            buf_text(&query, "continuation-token=");
            place_escape(&query, buf_str(&next), false);
            buf_char(&query, '&');
        }
        buf_text(&query, delimiter ? "delimiter=%2F&" : "");
        buf_printf(&query, "encoding-type=url&list-type=2&max-keys=%d&prefix=", most);
        place_escape(&query, str_of(prefix), false);
        if (buf_failed(&query))
            return err_set(err, ERR_LIMIT, "a prefix that is too long");
        struct fetch_stream *stream;
        const struct question q = {.uri = uri, .method = "GET", .query = query.data, .key = ""};
        enum err_code rc = ask(&q, &stream, err);
        if (rc)
            return rc;
        if ((rc = fetch_take(stream, &body, err)) || (rc = read_page(buf_str(&body), ret, &next, err)))
            return rc;
        if (next.len == 0 || most < PAGE_KEYS)
            return ERR_OK;
        if (ret->count == before)
            return err_set(err, ERR_IO, "ListObjectsV2: keys are promised and none comes");
    }
}

/* The key of an address: its path without the first slash. With `as_directory` a slash behind it, unless it is the bucket. Owned. */
static char *key_of(const struct place_uri *uri, bool as_directory)
{
    const char *path = uri->path + (*uri->path == '/');
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    char *key = mem_alloc(len + 2);
    if (!key)
        return NULL;
    memcpy(key, path, len);
    if (as_directory && len > 0)
        key[len++] = '/';
    key[len] = '\0';
    return key;
}

static enum err_code s3_stat(const struct place_uri *uri, struct place_child *ret, char validator[PLACE_VALIDATOR_BYTES], struct err *err)
{
    struct fetch_stream *stream;
    struct err why = {0};
    const struct question q = {.uri = uri, .method = "HEAD", .query = "", .key = uri->path};
    CLEANUP(mem_freep) char *key = key_of(uri, false);
    CLEANUP(mem_freep) char *prefix = key_of(uri, true);
    if (!key || !prefix)
        return err_nomem(err);
    ret->device = device_of(uri);
    enum err_code rc = key[0] ? ask(&q, &stream, &why) : ERR_NOT_FOUND;
    if (!rc) {
        const struct fetch_head *head = fetch_head(stream);
        ret->kind = CHILD_FILE;
        ret->bytes = head->length;
        ret->modified_ms = head->modified_ms;
        ret->inode = object_id(key, head->etag);
        if (validator)
            snprintf(validator, PLACE_VALIDATOR_BYTES, "%s", head->etag);
        fetch_close(stream);
        return ERR_OK;
    }
    /* Whoever may not list gets 403 for what is not there. */
    if (rc != ERR_NOT_FOUND && rc != ERR_PERMISSION)
        return err_set(err, rc, "%s", why.message);
    struct objects found = {0};
    rc = list_keys(uri, prefix, false, 1, &found, err);
    bool there = found.count > 0 || !key[0];
    free_objects(&found);
    if (rc)
        return rc;
    ret->kind = CHILD_DIRECTORY;
    ret->bytes = 0;
    ret->inode = object_id(prefix, "");
    return there ? ERR_OK : err_set(err, ERR_NOT_FOUND, "no key begins with it");
}

/* ---- listing */

struct s3_view {
    struct place_uri root;  /* into address */
    char *address;          /* owned */
    struct objects objects; /* below the root, sorted */
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->key, ((const struct object *)b)->key);
}

static enum err_code view_new(const struct place_uri *root, void **ret, struct err *err)
{
    struct s3_view *self = *ret = mem_zalloc(sizeof *self);
    size_t len = (size_t)(root->path - root->scheme.ptr) + strlen(root->path);
    if (!self || !(self->address = mem_strndup(root->scheme.ptr, len))) {
        mem_free(self);
        return err_nomem(err);
    }
    self->root = place_uri_of(self->address);
    return ERR_OK;
}

static enum err_code view_begin(void *view, struct err *err)
{
    struct s3_view *self = view;
    CLEANUP(mem_freep) char *prefix = key_of(&self->root, true);
    free_objects(&self->objects);
    if (!prefix)
        return err_nomem(err);
    enum err_code rc = list_keys(&self->root, prefix, false, PAGE_KEYS, &self->objects, err);
    if (!rc && self->objects.count > 1)
        qsort(self->objects.items, self->objects.count, sizeof *self->objects.items, compare_keys);
    return rc;
}

static void view_free(void *view)
{
    struct s3_view *self = view;
    free_objects(&self->objects);
    mem_free(self->address);
    mem_free(self);
}

/* The child that an object is, or lies in. *ret_len: of its name. False: it is the directory's own marker. */
static bool child_of(const struct object *object, size_t prefix_len, size_t *ret_len)
{
    const char *name = object->key + prefix_len;
    *ret_len = strcspn(name, "/");
    return name[0] != '\0';
}

static enum err_code add_child(struct place_children *ret, const struct place_uri *uri, const struct object *object, size_t prefix_len, size_t len, struct err *err)
{
    bool directory = object->key[prefix_len + len] == '/';
    struct place_child child = {.name = mem_strndup(object->key + prefix_len, len),
                                .kind = directory ? CHILD_DIRECTORY : CHILD_FILE,
                                .bytes = directory ? 0 : object->bytes,
                                .modified_ms = directory ? UNKNOWN : object->modified_ms,
                                .device = device_of(uri),
                                .inode = object->id};
    return child.name ? place_children_add(ret, &child, err) : err_nomem(err);
}

/* Of sorted objects: those below a directory follow each other, and so do those of each child. */
static enum err_code add_children(struct place_children *ret, const struct place_uri *uri, const struct objects *objects, const char *prefix, struct err *err)
{
    size_t low = 0, high = objects->count, prefix_len = strlen(prefix);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(objects->items[middle].key, prefix) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const char *last = NULL;
    size_t last_len = 0;
    for (; low < objects->count && strncmp(objects->items[low].key, prefix, prefix_len) == 0; low++) {
        const struct object *object = &objects->items[low];
        size_t len;
        if (!child_of(object, prefix_len, &len))
            continue;
        const char *name = object->key + prefix_len;
        /* A key and a "directory" of the same name are two things to S3, and the key is a marker if it is empty. */
        if (last && last_len == len && strncmp(last, name, len) == 0 && name[len] == '/' && ret->count && ret->items[ret->count - 1].kind == CHILD_DIRECTORY)
            continue;
        enum err_code rc = add_child(ret, uri, object, prefix_len, len, err);
        if (rc)
            return rc;
        last = name;
        last_len = len;
    }
    return ERR_OK;
}

static enum err_code s3_list(void *view_context, const struct place_uri *dir, const struct place_child *status, struct place_children *ret, struct err *err)
{
    struct s3_view *view = view_context;
    CLEANUP(mem_freep) char *prefix = key_of(dir, true);
    (void)status;
    if (!prefix)
        return err_nomem(err);
    if (view)
        return add_children(ret, dir, &view->objects, prefix, err);
    struct objects objects = {0};
    enum err_code rc = list_keys(dir, prefix, true, PAGE_KEYS, &objects, err);
    if (!rc && objects.count > 1)
        qsort(objects.items, objects.count, sizeof *objects.items, compare_keys);
    if (!rc)
        rc = add_children(ret, dir, &objects, prefix, err);
    free_objects(&objects);
    return rc;
}

/* ---- reading */

static enum err_code s3_read(const struct place_uri *uri, int64_t offset, int64_t len, char validator[PLACE_VALIDATOR_BYTES], struct fetch_stream **ret, struct err *err)
{
    struct question q = {.uri = uri, .method = "GET", .query = "", .key = uri->path};
    snprintf(q.range, sizeof q.range, "Range: bytes=%lld-%lld", (long long)offset, (long long)(offset + len - 1));
    if (validator[0])
        snprintf(q.match, sizeof q.match, "If-Match: %s", validator);
    enum err_code rc = ask(&q, ret, err);
    if (rc)
        return rc;
    const struct fetch_head *head = fetch_head(*ret);
    if (head->status == 416)
        rc = err_set(err, ERR_EOF, "end of file");
    else if (head->status == 200 ? offset != 0 : head->range_begin != offset)
        rc = err_set(err, ERR_IO, "GET: other bytes than were asked for");
    else if (validator[0] && head->etag[0] && strcmp(validator, head->etag) != 0)
        rc = err_set(err, ERR_IO, "GET: it was replaced while it was read");
    if (rc) {
        fetch_close(TAKE(*ret));
        return rc;
    }
    snprintf(validator, PLACE_VALIDATOR_BYTES, "%s", head->etag);
    return ERR_OK;
}

/* ---- deleting */

static enum err_code change(const struct place_uri *uri, const char *method, const char *key, struct err *err)
{
    CLEANUP(mem_freep) char *path = place_join("", key);
    if (!path)
        return err_nomem(err);
    struct fetch_stream *stream;
    const struct question q = {.uri = uri, .method = method, .query = "", .key = path};
    enum err_code rc = ask(&q, &stream, err);
    if (!rc)
        fetch_close(stream);
    return rc;
}

/* Gives the directory around `key` (which ends with a slash, if it is one itself) its marker, where nothing else would be left in it. */
static enum err_code keep_parent(const struct place_uri *uri, const char *key, struct err *err)
{
    size_t len = strlen(key) - 1; /* without the slash at the end */
    while (len > 0 && key[len - 1] != '/')
        len--;
    if (len == 0)
        return ERR_OK; /* the bucket */
    CLEANUP(mem_freep) char *parent = mem_strndup(key, len);
    if (!parent)
        return err_nomem(err);
    struct objects left = {0};
    enum err_code rc = list_keys(uri, parent, true, 2, &left, err);
    bool alone = left.count == 1 && strcmp(left.items[0].key, key) == 0;
    free_objects(&left);
    return !rc && alone ? change(uri, "PUT", parent, err) : rc;
}

static enum err_code check_empty(const struct place_uri *uri, const char *key, struct err *err)
{
    struct objects found = {0};
    enum err_code rc = list_keys(uri, key, false, 2, &found, err);
    if (!rc && found.count == 0)
        rc = err_set(err, ERR_NOT_FOUND, "no key begins with it");
    for (size_t i = 0; i < found.count && !rc; i++)
        if (strcmp(found.items[i].key, key) != 0)
            rc = err_set(err, ERR_BUSY, "something is in the directory");
    free_objects(&found);
    return rc;
}

static enum err_code s3_remove(const struct place_uri *uri, enum child_kind kind, struct err *err)
{
    CLEANUP(mem_freep) char *key = key_of(uri, kind == CHILD_DIRECTORY);
    if (!key)
        return err_nomem(err);
    if (!key[0])
        return err_set(err, ERR_INVALID, "a bucket is not deleted");
    enum err_code rc = kind == CHILD_DIRECTORY ? check_empty(uri, key, err) : ERR_OK;
    if (!rc)
        rc = keep_parent(uri, key, err);
    return rc ? rc : change(uri, "DELETE", key, err);
}

const struct place_driver place_s3 = {
    .schemes = {"s3a", "s3", "s3n", NULL},
    .check = check,
    .stat = s3_stat,
    .list = s3_list,
    .read = s3_read,
    .remove = s3_remove,
    .view_new = view_new,
    .view_begin = view_begin,
    .view_free = view_free,
};
