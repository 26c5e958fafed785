/* SPDX-License-Identifier: Apache-2.0
 *
 * The only way JSON leaves the program. Escapes, counts nesting, asserts balance, puts commas; output is always valid UTF-8 (bad bytes become
 * U+FFFD). Bytes go to a sink, so a list of any length takes constant memory: the sink is called when some 16 KiB are there and at json_writer_end.
 * Integers beyond ±2^53 are written as they are: the REST interface needs that. One thread.
 *
 *   json_object_begin(w); json_key(w, "id"); json_str(w, id); json_object_end(w);
 */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define JSON_WRITER_DEPTH 64
#define JSON_WRITER_BUFFER 16384

/* Takes `len` bytes; a code other than ERR_OK stops the writer (it then swallows everything and json_writer_end returns the code). */
typedef enum err_code json_sink_fn(void *context, const char *bytes, size_t len);

struct json_writer {
    json_sink_fn *sink;
    void *context;
    enum err_code failed;
    bool pretty;                       /* two blanks a level, `"key" : value`: the History Server's form (spec/core.md §3.1) */
    int depth, object_depth;           /* open levels; those of them that are objects */
    bool has_item[JSON_WRITER_DEPTH];  /* this level has an item already */
    bool is_array[JSON_WRITER_DEPTH];
    bool after_key;
    size_t used;
    char buffer[JSON_WRITER_BUFFER];
};

void json_writer_init(struct json_writer *self, json_sink_fn *sink, void *context, bool pretty);
enum err_code json_writer_end(struct json_writer *self) WARN_UNUSED;     /* asserts balance, flushes */

void json_object_begin(struct json_writer *self);
void json_object_end(struct json_writer *self);
void json_array_begin(struct json_writer *self);
void json_array_end(struct json_writer *self);
void json_key(struct json_writer *self, const char *key);
void json_key_str(struct json_writer *self, struct str key);
void json_key_raw(struct json_writer *self, struct str quoted);          /* with its quotes, already valid JSON made by us */

void json_str(struct json_writer *self, struct str value);               /* unknown gives null */
void json_text(struct json_writer *self, const char *value);             /* NULL gives null */
void json_i64(struct json_writer *self, int64_t value);                  /* UNKNOWN gives null */
void json_f64(struct json_writer *self, double value);                   /* shortest text that reads back; NaN and infinity give null */
void json_bool(struct json_writer *self, bool value);
void json_null(struct json_writer *self);
void json_raw(struct json_writer *self, struct str json);                /* one value, already valid JSON made by us */

/* key and value in one call */
void json_kv_str(struct json_writer *self, const char *key, struct str value);
void json_kv_text(struct json_writer *self, const char *key, const char *value);
void json_kv_i64(struct json_writer *self, const char *key, int64_t value);
void json_kv_f64(struct json_writer *self, const char *key, double value);
void json_kv_bool(struct json_writer *self, const char *key, bool value);

/* A sink that appends to a struct buf (context). */
enum err_code json_sink_buf(void *context, const char *bytes, size_t len);

#endif
