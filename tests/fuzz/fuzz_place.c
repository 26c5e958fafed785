/* SPDX-License-Identifier: Apache-2.0
 *
 * What a WebHDFS or S3 server may answer. place/fetch.h is implemented here: answers come from the input, one after the other, and after the last one nobody answers. First byte: what is asked of whom (see `questions`).
 * Then answers, parted by a byte 0x1E, each a line "STATUS [RANGE_TOTAL [ETAG_OR_LOCATION]]" and the body.
 *
 * Beside the sanitizers: names that come out are names, sizes are no less than 0 or unknown, the same input says the same, no question is asked without end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_pull.h"
#include "base/mem.h"
#include "base/units.h"
#include "place/config.h"
#include "place/place_driver.h"
#include "place/xml.h"

#define ANSWERS_MAX 64
#define SEPARATOR '\x1E'

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    struct str rest;
    size_t count;
} answers;

struct fetch_stream {
    struct fetch_head head;
    struct str body;
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- fetch.h */

static struct str take_word(struct str *line)
{
    while (line->len && *line->ptr == ' ')
        line->ptr++, line->len--;
    struct str word = {line->ptr, 0};
    while (line->len && *line->ptr != ' ')
        word.len++, line->ptr++, line->len--;
    return word;
}

enum err_code fetch_open(struct fetch_stream **ret, const struct fetch_request *request, struct err *err)
{
    require(strncasecmp(request->url, "http://", 7) == 0 || strncasecmp(request->url, "https://", 8) == 0);
    for (const char *p = request->url; *p; p++)
        require((unsigned char)*p > ' ');
    *ret = NULL;
    if (answers.rest.len == 0 || ++answers.count > ANSWERS_MAX)
        return err_set(err, ERR_AWAY, "%s: nobody answers", request->what);
    const char *end = memchr(answers.rest.ptr, SEPARATOR, answers.rest.len);
    struct str answer = {answers.rest.ptr, end ? (size_t)(end - answers.rest.ptr) : answers.rest.len};
    size_t used = answer.len + (end ? 1 : 0);
    answers.rest = (struct str){answers.rest.ptr + used, answers.rest.len - used};
    const char *newline = memchr(answer.ptr, '\n', answer.len);
    struct str line = {answer.ptr, newline ? (size_t)(newline - answer.ptr) : answer.len};
    struct fetch_stream *self = mem_zalloc(sizeof *self);
    require(self);
    self->body = newline ? (struct str){newline + 1, answer.len - line.len - 1} : STR_NONE;
    int64_t status, total;
    self->head = (struct fetch_head){.status = str_to_i64(take_word(&line), &status) && status >= 100 && status < 600 ? (int)status : 200,
                                     .length = (int64_t)self->body.len,
                                     .range_begin = UNKNOWN,
                                     .range_total = UNKNOWN,
                                     .modified_ms = UNKNOWN};
    if (str_to_i64(take_word(&line), &total) && total >= 0) {
        self->head.range_total = total;
        self->head.range_begin = 0;
    }
    struct str more = take_word(&line);
    snprintf(self->head.etag, sizeof self->head.etag, "%.*s", (int)MIN(more.len, (size_t)255), more.ptr ? more.ptr : "");
    snprintf(self->head.location, sizeof self->head.location, "%.*s", (int)MIN(more.len, (size_t)FETCH_LOCATION_BYTES - 1), more.ptr ? more.ptr : "");
    for (char *p = self->head.location; *p; p++)
        if ((unsigned char)*p <= ' ') /* libcurl hands out header lines without control characters */
            *p = '_';
    *ret = self;
    return ERR_OK;
}

const struct fetch_head *fetch_head(const struct fetch_stream *self)
{
    return &self->head;
}

enum err_code fetch_read(struct fetch_stream *self, void *into, size_t room, size_t *ret_len, struct err *err)
{
    (void)err;
    *ret_len = MIN(MIN(room, self->body.len), (size_t)1000);
    if (*ret_len == 0)
        return ERR_EOF;
    memcpy(into, self->body.ptr, *ret_len);
    self->body = (struct str){self->body.ptr + *ret_len, self->body.len - *ret_len};
    return ERR_OK;
}

void fetch_close(struct fetch_stream *self)
{
    mem_free(self);
}

enum err_code fetch_take(struct fetch_stream *self, struct buf *body, struct err *err)
{
    static const char padding[JSON_PADDING];
    buf_clear(body);
    buf_append(body, self->body.ptr ? self->body.ptr : "", self->body.len);
    fetch_close(self);
    if (!buf_reserve(body, JSON_PADDING))
        return err_set(err, ERR_LIMIT, "too long");
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


void fetch_be_brief(int64_t ms)
{
    (void)ms;
}

bool fetch_is_brief(void)
{
    return true; /* nothing is waited for */
}

bool fetch_stopped(void)
{
    return false;
}

void fetch_stop(bool stop)
{
    (void)stop;
}

/* ---- what is asked */

static void check_child(const struct place_child *child)
{
    require(child->kind <= CHILD_UNREADABLE);
    require(child->bytes >= 0 || !known(child->bytes));
}

static void stat_it(const char *address, struct place_view *view)
{
    (void)view;
    struct place_child child;
    struct err err = {0};
    if (place_probe(address, &child, &err) == ERR_OK) {
        check_child(&child);
        place_child_dispose(&child);
    }
}

static void list_it(const char *address, struct place_view *view)
{
    struct place_children children = {0};
    struct err err = {0};
    if (place_list(view, address, NULL, &children, &err) == ERR_OK)
        for (size_t i = 0; i < children.count; i++) {
            const char *name = children.items[i].name;
            require(name && strlen(name) <= PLACE_NAME_MAX + 8 && !strchr(name, '\n') &&
                    (children.items[i].kind == CHILD_BAD_NAME || (*name && *name != '.' && !strchr(name, '/'))));
            check_child(&children.items[i]);
        }
    place_children_dispose(&children);
}

static void read_it(const char *address, struct place_view *view)
{
    (void)view;
    struct place_file *file = NULL;
    struct err err = {0};
    char bytes[5000];
    size_t len = 0;
    int64_t offset = 0;
    if (place_file_open(&file, address, &err))
        return;
    for (int i = 0; i < 100 && place_file_read(file, offset, bytes, sizeof bytes, &len, &err) == ERR_OK; i++) {
        require(len > 0 && len <= sizeof bytes);
        offset += (int64_t)len;
    }
    struct place_child child;
    if (place_file_stat(file, &child, &err) == ERR_OK)
        check_child(&child);
    place_file_close(file);
}

static void forget_it(const char *address, struct place_view *view)
{
    (void)view;
    struct err err = {0};
    if (place_remove(address, CHILD_FILE, &err) || place_remove(address, CHILD_DIRECTORY, &err)) { /* whatever it says */
    }
}

static void walk_xml(void)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, (size_t)1 << 20);
    struct xml xml;
    xml_init(&xml, answers.rest);
    for (enum xml_event event; (event = xml_next(&xml)) > XML_END;) {
        require(xml.depth >= 0 && xml.depth <= XML_DEPTH_MAX);
        buf_clear(&text);
        if (event == XML_TEXT)
            require(xml_text(&xml, &text) != 0 || text.len <= xml.raw.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *address;
        void (*ask)(const char *address, struct place_view *view);
    } questions[] = {
        {"hdfs://nodes.example:8020/logs", list_it},
        {"hdfs://nodes.example:8020/logs/app-1", stat_it},
        {"hdfs://nodes.example:8020/logs/app-1.inprogress", read_it},
        {"hdfs://nodes.example:8020/logs/app-1", forget_it},
        {"s3a://bucket/logs", list_it},
        {"s3a://bucket/logs/app-1", stat_it},
        {"s3a://bucket/logs/app-1", read_it},
        {"s3a://bucket", list_it},
    };
    static bool set_up;
    if (!set_up) {
        static const char *const config[][2] = {{"fs.s3a.access.key", "key"},
                                                {"fs.s3a.secret.key", "secret"},
                                                {"fs.s3a.endpoint", "http://s3.example"},
                                                {"afterglow.hdfs.user", "fuzz"}};
        for (size_t i = 0; i < ARRAY_LENGTH(config); i++)
            require(place_config_set(str_of(config[i][0]), str_of(config[i][1]), NULL) == ERR_OK);
        set_up = true;
    }
    if (size < 1 || size > (size_t)256 << 10)
        return 0;
    const struct str rest = {(const char *)data + 1, size - 1};
    answers.rest = rest;
    walk_xml();
    for (int viewed = 0; viewed < 2; viewed++) {
        struct place_view *view = NULL;
        struct err err = {0};
        const char *address = questions[data[0] % ARRAY_LENGTH(questions)].address;
        answers.rest = rest;
        answers.count = 0;
        if (viewed && (place_view_new(address, &view, &err) || place_view_begin(view, &err))) {
            place_view_free(view);
            continue;
        }
        struct place_child child;
        answers.rest = STR_LIT("404\n");
        if (place_probe(address, &child, NULL) == ERR_OK) /* a place that was away before is not now */
            place_child_dispose(&child);
        answers.rest = rest;
        answers.count = 0;
        questions[data[0] % ARRAY_LENGTH(questions)].ask(address, view);
        place_view_free(view);
    }
    return 0;
}
