/* SPDX-License-Identifier: Apache-2.0 */
#include "place/fetch.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json_pull.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/config.h"

#define POLL_MS 200         /* how soon fetch_stop is noticed */
#define KEPT_STREAMS 32     /* with their connections, between two requests */
#define CONNECTIONS_KEPT 8L /* of one stream: a name node and the data nodes it sent us to */
#define BUFFER_FIRST_BYTES ((size_t)64 << 10)
#define TIMEOUT_MS 10000

struct fetch_stream {
    CURLM *multi;
    CURL *easy;
    struct fetch_stream *next; /* in the pool */
    struct curl_slist *headers;
    char what[128];
    struct fetch_head head;
    size_t head_bytes;
    bool negotiates, head_whole, body_whole, paused, attached;
    enum err_code failed; /* of a callback */
    CURLcode result;      /* once body_whole */
    char *data;           /* what came and was not taken: data[begin … begin + len) */
    size_t begin, len, capacity;
    char curl_error[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fetch_stream *pool;
static size_t pool_count;
static atomic_bool stopped;

static _Thread_local int64_t brief_ms; /* 0: it has all the patience there is */

void fetch_be_brief(int64_t ms)
{
    brief_ms = ms;
}

bool fetch_is_brief(void)
{
    return brief_ms > 0;
}

bool fetch_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

void fetch_stop(bool stop)
{
    atomic_store(&stopped, stop);
}

/* ---- what libcurl calls */

static struct str trim(struct str s)
{
    while (s.len > 0 && (s.ptr[s.len - 1] == '\r' || s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == ' '))
        s.len--;
    while (s.len > 0 && (*s.ptr == ' ' || *s.ptr == '\t')) {
        s.ptr++;
        s.len--;
    }
    return s;
}

/* A value that does not fit is none: half of one would be another. */
static void keep_text(char *into, size_t room, struct str value)
{
    size_t len = value.len < room && !memchr(value.ptr, '\0', value.len) ? value.len : 0;
    memcpy(into, value.ptr, len);
    into[len] = '\0';
}

static void read_range(struct fetch_head *head, struct str value)
{
    long long begin, end, total;
    char text[80];
    keep_text(text, sizeof text, value);
    int found = sscanf(text, "bytes %lld-%lld/%lld", &begin, &end, &total);
    if (found >= 2 && begin >= 0)
        head->range_begin = begin;
    if (found == 3 && total >= 0)
        head->range_total = total;
}

static void read_header(struct fetch_head *head, struct str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon)
        return;
    struct str value = trim((struct str){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    char name[32];
    keep_text(name, sizeof name, (struct str){line.ptr, (size_t)(colon - line.ptr)});
    if (strcasecmp(name, "content-length") == 0) {
        if (!str_to_i64(value, &head->length) || head->length < 0)
            head->length = UNKNOWN;
    } else if (strcasecmp(name, "content-range") == 0) {
        read_range(head, value);
    } else if (strcasecmp(name, "etag") == 0) {
        keep_text(head->etag, sizeof head->etag, value);
    } else if (strcasecmp(name, "location") == 0) {
        keep_text(head->location, sizeof head->location, value);
    } else if (strcasecmp(name, "x-amz-bucket-region") == 0) {
        keep_text(head->region, sizeof head->region, value);
    } else if (strcasecmp(name, "last-modified") == 0) {
        char date[64];
        keep_text(date, sizeof date, value);
        time_t seconds = curl_getdate(date, NULL);
        head->modified_ms = seconds < 0 ? UNKNOWN : (int64_t)seconds * 1000;
    }
}

static void forget_head(struct fetch_head *head)
{
    *head = (struct fetch_head){.length = UNKNOWN, .range_begin = UNKNOWN, .range_total = UNKNOWN, .modified_ms = UNKNOWN};
}

static void note_head(struct fetch_stream *self)
{
    long status = 0;
    if (self->head_whole)
        return;
    curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &status);
    self->head.status = (int)status;
    self->head_whole = status >= 200;
}

static size_t on_header(char *bytes, size_t one, size_t len, void *context)
{
    struct fetch_stream *self = context;
    (void)one;
    self->head_bytes += len;
    if (self->head_bytes > FETCH_HEAD_MAX_BYTES) {
        self->failed = ERR_LIMIT;
        return 0;
    }
    if (len > 5 && strncmp(bytes, "HTTP/", 5) == 0) /* of the answer, after one that only said to go on, or asked who we are */
        forget_head(&self->head);
    else if (len <= 2 && !self->negotiates) /* else it counts once there is a body, or the end: libcurl may ask again */
        note_head(self);
    else
        read_header(&self->head, (struct str){bytes, len});
    return len;
}

static size_t on_body(char *bytes, size_t one, size_t len, void *context)
{
    struct fetch_stream *self = context;
    (void)one;
    note_head(self);
    if (self->len + len > FETCH_AHEAD_BYTES) {
        self->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (self->begin + self->len + len > self->capacity && self->begin > 0) {
        memmove(self->data, self->data + self->begin, self->len);
        self->begin = 0;
    }
    if (self->len + len > self->capacity) {
        size_t capacity = MAX(self->capacity * 2, BUFFER_FIRST_BYTES);
        while (capacity < self->len + len)
            capacity *= 2;
        char *data = mem_realloc(self->data, capacity);
        if (!data) {
            self->failed = ERR_NOMEM;
            return 0;
        }
        self->data = data;
        self->capacity = capacity;
    }
    memcpy(self->data + self->begin + self->len, bytes, len);
    self->len += len;
    return len;
}

/* ---- streams */

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void free_stream(struct fetch_stream *self)
{
    if (self->easy)
        curl_easy_cleanup(self->easy);
    if (self->multi)
        curl_multi_cleanup(self->multi);
    curl_slist_free_all(self->headers);
    mem_free(self->data);
    mem_free(self);
}

static struct fetch_stream *take_stream(void)
{
    pthread_once(&once, start_curl);
    pthread_mutex_lock(&pool_lock);
    struct fetch_stream *self = pool;
    if (self) {
        pool = self->next;
        pool_count--;
    }
    pthread_mutex_unlock(&pool_lock);
    if (self)
        return self;
    if (!(self = mem_zalloc(sizeof *self)))
        return NULL;
    self->multi = curl_multi_init();
    self->easy = curl_easy_init();
    if (self->multi && self->easy) {
        curl_multi_setopt(self->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_KEPT);
        return self;
    }
    free_stream(self);
    return NULL;
}

void fetch_close(struct fetch_stream *self)
{
    if (!self)
        return;
    if (self->attached)
        curl_multi_remove_handle(self->multi, self->easy);
    self->attached = false;
    curl_slist_free_all(self->headers);
    self->headers = NULL;
    if (self->capacity > BUFFER_FIRST_BYTES) {
        mem_free(TAKE(self->data));
        self->capacity = 0;
    }
    pthread_mutex_lock(&pool_lock);
    bool keep = pool_count < KEPT_STREAMS;
    if (keep) {
        self->next = pool;
        pool = self;
        pool_count++;
    }
    pthread_mutex_unlock(&pool_lock);
    if (!keep)
        free_stream(self);
}

static int64_t timeout_ms(void)
{
    int64_t ms;
    const char *text = place_config("afterglow.places.timeoutMs");
    if (!text || !str_to_i64(str_of(text), &ms) || ms <= 0)
        ms = TIMEOUT_MS;
    return brief_ms > 0 ? MIN(ms, brief_ms) : ms;
}

static bool set_options(struct fetch_stream *self, const struct fetch_request *request)
{
    CURL *easy = self->easy;
    const char *ca_file = place_config("afterglow.places.caFile"), *proxy = place_config("afterglow.places.proxy");
    curl_easy_reset(easy);
    for (size_t i = 0; i < request->header_count; i++) {
        struct curl_slist *more = curl_slist_append(self->headers, request->headers[i]);
        if (!more)
            return false;
        self->headers = more;
    }
    bool ok = true;
#define SET(option, value) ok = ok && curl_easy_setopt(easy, option, value) == CURLE_OK
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_USERAGENT, "afterglow/" AFTERGLOW_VERSION);
    SET(CURLOPT_PROXY, proxy ? proxy : "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms());
    SET(CURLOPT_BUFFERSIZE, 256L << 10);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_ERRORBUFFER, self->curl_error);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, self);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, self);
    if (ca_file && *ca_file)
        SET(CURLOPT_CAINFO, ca_file);
    if (request->negotiate) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_NEGOTIATE);
        SET(CURLOPT_USERPWD, ":");
    }
    if (request->body.ptr) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        SET(CURLOPT_COPYPOSTFIELDS, request->body.ptr);
    }
    if (request->method && strcmp(request->method, "HEAD") == 0)
        SET(CURLOPT_NOBODY, 1L);
    else if (request->method && strcmp(request->method, "GET") != 0)
        SET(CURLOPT_CUSTOMREQUEST, request->method);
    SET(CURLOPT_HTTPHEADER, self->headers);
#undef SET
    return ok;
}

/* Why the transfer ended before it was over. */
static enum err_code transfer_failed(const struct fetch_stream *self, struct err *err)
{
    if (self->failed == ERR_NOMEM || self->result == CURLE_OUT_OF_MEMORY)
        return err_nomem(err);
    if (self->failed == ERR_LIMIT)
        return err_set(err, ERR_LIMIT, "%s: the head of the answer is longer than %zu bytes", self->what, FETCH_HEAD_MAX_BYTES);
    enum err_code code = ERR_IO;
    switch ((int)self->result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: code = ERR_AWAY; break;
    default: break;
    }
    return err_set(err, code, "%s: %s", self->what, self->curl_error[0] ? self->curl_error : curl_easy_strerror(self->result));
}

/* Until there is a head (or, with `body`, a byte of the body or its end). */
static enum err_code await(struct fetch_stream *self, bool body, struct err *err)
{
    int64_t quiet_since_ns = time_monotonic_ns(), most_ns = timeout_ms() * NS_PER_MS;
    while (body ? self->len == 0 && !self->body_whole : !self->head_whole) {
        int running = 0, left = 0;
        size_t before = self->len + self->head_bytes;
        if (fetch_stopped())
            return err_set(err, ERR_CANCELLED, "%s: stopped", self->what);
        if (self->paused) {
            self->paused = false;
            curl_easy_pause(self->easy, CURLPAUSE_CONT);
        }
        if (curl_multi_perform(self->multi, &running) != CURLM_OK)
            return err_set(err, ERR_IO, "%s: libcurl refuses", self->what);
        for (const CURLMsg *message; (message = curl_multi_info_read(self->multi, &left));)
            if (message->msg == CURLMSG_DONE) {
                self->result = message->data.result;
                self->body_whole = true;
                if (self->result == CURLE_OK)
                    note_head(self); /* an answer without a body */
            }
        if (self->body_whole)
            break;
        if (self->len + self->head_bytes != before) {
            quiet_since_ns = time_monotonic_ns();
            continue;
        }
        if (time_monotonic_ns() - quiet_since_ns > most_ns)
            return err_set(err, ERR_AWAY, "%s: no answer for %lld ms", self->what, (long long)(most_ns / NS_PER_MS));
        curl_multi_poll(self->multi, NULL, 0, POLL_MS, NULL);
    }
    /* What came before it broke is given first. */
    bool broken = self->body_whole && self->result != CURLE_OK && (body ? self->len == 0 : !self->head_whole);
    return broken ? transfer_failed(self, err) : ERR_OK;
}

enum err_code fetch_open(struct fetch_stream **ret, const struct fetch_request *request, struct err *err)
{
    *ret = NULL;
    struct fetch_stream *self = take_stream();
    if (!self)
        return err_nomem(err);
    forget_head(&self->head);
    self->head_bytes = self->begin = self->len = 0;
    self->head_whole = self->body_whole = self->paused = false;
    self->negotiates = request->negotiate;
    self->failed = ERR_OK;
    self->result = CURLE_OK;
    self->curl_error[0] = '\0';
    snprintf(self->what, sizeof self->what, "%s", request->what);
    enum err_code rc = ERR_OK;
    if (!set_options(self, request))
        rc = err_set(err, ERR_IO, "%s: libcurl refuses the request", self->what);
    else if (curl_multi_add_handle(self->multi, self->easy) != CURLM_OK)
        rc = err_nomem(err);
    else
        self->attached = true;
    if (!rc)
        rc = await(self, false, err);
    if (rc) {
        fetch_close(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

const struct fetch_head *fetch_head(const struct fetch_stream *self)
{
    return &self->head;
}

enum err_code fetch_read(struct fetch_stream *self, void *into, size_t room, size_t *ret_len, struct err *err)
{
    *ret_len = 0;
    enum err_code rc = await(self, true, err);
    if (rc)
        return rc;
    if (self->len == 0)
        return err_set(err, ERR_EOF, "the end of the answer");
    size_t len = MIN(room, self->len);
    memcpy(into, self->data + self->begin, len);
    self->begin = len == self->len ? 0 : self->begin + len;
    self->len -= len;
    *ret_len = len;
    return ERR_OK;
}

enum err_code fetch_take(struct fetch_stream *self, struct buf *body, struct err *err)
{
    static const char padding[JSON_PADDING];
    enum err_code rc = ERR_OK;
    buf_clear(body);
    while (!rc) {
        size_t len;
        if (!buf_reserve(body, BUFFER_FIRST_BYTES + JSON_PADDING)) {
            bool full = body->len + BUFFER_FIRST_BYTES + JSON_PADDING > body->max_bytes;
            rc = full ? err_set(err, ERR_LIMIT, "%s: an answer of more than %zu bytes", self->what, body->max_bytes) : err_nomem(err);
            break;
        }
        rc = fetch_read(self, body->data + body->len, BUFFER_FIRST_BYTES, &len, err);
        body->len += len;
    }
    fetch_close(self);
    if (rc != ERR_EOF)
        return rc;
    memcpy(body->data + body->len, padding, sizeof padding);
    return ERR_OK;
}

enum err_code fetch_whole(const struct fetch_request *request, struct fetch_head *ret, struct buf *body, struct err *err)
{
    struct fetch_stream *stream;
    enum err_code rc = fetch_open(&stream, request, err);
    if (rc)
        return rc;
    *ret = stream->head;
    return fetch_take(stream, body, err);
}
