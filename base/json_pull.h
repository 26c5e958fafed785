/* SPDX-License-Identifier: Apache-2.0
 *
 * A pull reader over one line of JSON: the caller asks for what it expects, the reader walks the bytes once, from front to back. No tree, no recursion; the
 * only memory is for texts that cannot be borrowed as they stand.
 *
 *     struct json_object o;
 *     if (json_object_begin(in, &o, KEYS(table)))           anything but an object is skipped, and false
 *         for (int key; (key = json_next(in, &o)) >= 0;)
 *             switch (key) {
 *             case KEY_ID: id = json_count(in); break;      each value must be taken or skipped
 *             default: json_skip(in);                       JSON_OTHER: a key that is not in the table; its text is in in->key
 *             }
 *
 * Strict where it guards against damage: the grammar is checked in values that are read and in those that are skipped alike, so whether a line is sound does
 * not depend on who reads it. Lenient about meaning: a value of the wrong kind is skipped and reads as UNKNOWN, STR_NONE or false.
 *
 * Failing: the first error sticks (`failed`, `what`, `failed_at`) and moves the reader to the end; every call after it returns at once, json_next with
 * JSON_END and json_array_next with false. So decoders look at `failed` once, when they are done.
 *
 * The names live beside those of base/json_writer.h, which no file includes together with this one (what is linked has names of its own: json_double, json_span).
 *
 * Bounds: nothing is believed that begins at or behind `end`. What begins before it may reach behind it (the fast half of the reader loads up to JSON_PADDING
 * bytes from any byte of the line and does not look twice); then the next step finds itself behind the end and fails, and a closing brace is only ever taken
 * before it.
 * Speed: keys are predicted. A table lists the keys in the order in which Spark writes them; the next key of the table is compared with the line, with quotes and
 * colon, sixteen bytes at a time. Only a miss looks further. */
#ifndef BASE_JSON_PULL_H
#define BASE_JSON_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "base/attributes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"

#define JSON_PADDING 64       /* readable bytes after the line */
#define JSON_MAX_DEPTH 10000  /* of open brackets; kept as one bit each on the stack of json_skip */
#define JSON_KEY_BYTES 48

/* Results of json_next beside the ids of the table. */
#define JSON_END (-1)
#define JSON_OTHER 255

struct json_key {
    char text[JSON_KEY_BYTES];   /* with quotes and colon: "Stage ID": */
    uint8_t len;
    uint8_t id;
};
/* A row of a table. Longer keys do not compile into fewer bytes: the assertion is in the array size. */
#define JSON_KEY(key, key_id) {.text = "\"" key "\":", .len = sizeof(key) + 2, .id = (key_id)}
#define KEYS(table) (table), ARRAY_LENGTH(table)

struct json_object {
    const struct json_key *keys;
    unsigned count;
    unsigned expected;           /* index of the key that Spark would write next */
};

struct event_memory;

struct json_pull {
    const char *p;               /* next byte */
    const char *end;
    bool fresh;                  /* directly after an opening bracket: no comma before the next item */
    unsigned depth;              /* open brackets of the caller */
    struct str key;              /* text of the last JSON_OTHER */
    struct arena *scratch;       /* borrowed: texts with escapes or bad bytes */
    uint32_t out_of_range;       /* numbers that became UNKNOWN because they do not fit or cannot be negative */
    struct event_memory *memory; /* borrowed: of the decoders, see event_decode.h; may be NULL */
    bool event_again;            /* decode_other met a second "Event" */
    uint32_t repaired;           /* texts that hold a U+FFFD which the log did not */
    enum err_code failed;
    const char *what;            /* static: why it failed */
    const char *failed_at;
    const char *start;
};

/* `line` is borrowed, and so are the texts read from it. Blanks, NUL bytes (blocks that a file system lost) and a byte order mark before the value are passed over. */
void json_pull_init(struct json_pull *self, struct str line, struct arena *scratch);

/* Objects and arrays. _begin skips values of another kind. json_object_at puts the reader inside an object whose `{` was read by someone else. */
ALWAYS_INLINE bool json_object_begin(struct json_pull *self, struct json_object *ret, const struct json_key *keys, size_t count) WARN_UNUSED;
ALWAYS_INLINE void json_object_at(struct json_object *ret, const struct json_key *keys, size_t count);
ALWAYS_INLINE int json_next(struct json_pull *self, struct json_object *object) WARN_UNUSED;   /* an id of the table, JSON_OTHER, or JSON_END behind the closing brace */
/* The same, but first takes the numbers of ids below `limit` as long as they come as predicted: values[id] = json_count. */
ALWAYS_INLINE int json_next_counts(struct json_pull *self, struct json_object *object, int64_t *values, unsigned limit) WARN_UNUSED;
bool json_next_any(struct json_pull *self) WARN_UNUSED;       /* for objects with free keys: key in self->key */
ALWAYS_INLINE bool json_array_begin(struct json_pull *self) WARN_UNUSED;
ALWAYS_INLINE bool json_array_next(struct json_pull *self) WARN_UNUSED;

/* Values. */
void json_skip(struct json_pull *self);
ALWAYS_INLINE int64_t json_i64(struct json_pull *self);       /* fractions are cut off, as Spark's reader does; what does not fit in 64 bits is UNKNOWN and counted */
ALWAYS_INLINE int64_t json_count(struct json_pull *self);     /* the same, for what cannot be negative: negative is UNKNOWN and counted */
ALWAYS_INLINE int64_t json_id(struct json_pull *self); /* the same, for ids that are an Int in Spark (jobs, stages, their attempts, RDDs): what is beyond is UNKNOWN and counted */
ALWAYS_INLINE bool json_bool(struct json_pull *self, bool otherwise);
ALWAYS_INLINE struct str json_str(struct json_pull *self);    /* borrowed from the line when it is sound UTF-8 without escapes, else in the scratch arena */
int64_t json_flag(struct json_pull *self);                    /* 0, 1, UNKNOWN */
double json_double(struct json_pull *self);                      /* NaN for anything but a number */
ALWAYS_INLINE struct str json_text(struct json_pull *self);   /* any scalar as text; object and array: empty; null: STR_NONE */
struct str json_span(struct json_pull *self);                  /* the value as it stands in the line, for a reader of its own later */

/* Records a failure of the caller's: ERR_NOMEM or ERR_LIMIT of the scratch arena. */
void json_fail(struct json_pull *self, enum err_code code, const char *what);
/* From the scratch arena, aligned to 16; on failure NULL, and the reader has failed. */
void *json_scratch(struct json_pull *self, size_t bytes) WARN_UNUSED;

/* The rest is inline because every value of every task passes through it. The _slow halves know everything; the halves here know the bytes that Spark writes. */

int json_next_slow(struct json_pull *self, struct json_object *object);
int64_t json_i64_slow(struct json_pull *self);
struct str json_str_slow(struct json_pull *self);
int64_t json_out_of_range(struct json_pull *self);
bool json_bool_slow(struct json_pull *self, bool otherwise);
struct str json_text_slow(struct json_pull *self);
bool json_begin_slow(struct json_pull *self, char bracket);
bool json_array_next_slow(struct json_pull *self);

ALWAYS_INLINE uint64_t json_load64(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

#ifdef __SSE2__
ALWAYS_INLINE __m128i json_load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

ALWAYS_INLINE __m128i json_equal16(const char *a, const char *b)
{
    return _mm_cmpeq_epi8(json_load16(a), json_load16(b));
}
#endif

/* The `len` bytes at p are those of `text`; at most 48, and 48 are there of both. Short ones are compared with what is behind them, the others as three runs of 16 that overlap. */
ALWAYS_INLINE bool json_text_here(const char *p, const char *text, unsigned len)
{
#ifdef __SSE2__
    if (len < 16)
        return !(~(unsigned)_mm_movemask_epi8(json_equal16(p, text)) & ((1U << len) - 1));
    unsigned last = len - 16, middle = last / 2;
    __m128i same = _mm_and_si128(_mm_and_si128(json_equal16(p, text), json_equal16(p + middle, text + middle)), json_equal16(p + last, text + last));
    return _mm_movemask_epi8(same) == 0xFFFF;
#else
    return memcmp(p, text, len) == 0;
#endif
}

/* Bit i: byte i ends the plain run of a string: quote, backslash, control character. *high gets the same for bytes from 0x80. */
ALWAYS_INLINE unsigned json_special16(const char *p, unsigned *high)
{
#ifdef __SSE2__
    __m128i v = json_load16(p);
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v));
    *high = (unsigned)_mm_movemask_epi8(v);
    return (unsigned)_mm_movemask_epi8(special);
#else
    unsigned special = 0, above = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned char c = (unsigned char)p[i];
        special |= (unsigned)(c == '"' || c == '\\' || c < 0x20) << i;
        above |= (unsigned)(c >> 7) << i;
    }
    *high = above;
    return special;
#endif
}

/* Both in one: bit i is set where byte i is no plain ASCII, or a quote. */
ALWAYS_INLINE unsigned json_not_plain16(const char *p)
{
#ifdef __SSE2__
    __m128i v = json_load16(p), quoting = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(quoting, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20))));   /* as signed bytes those from 0x80 are below too */
#else
    unsigned high, special = json_special16(p, &high);
    return special | high;
#endif
}

ALWAYS_INLINE bool json_key_here(const char *p, const struct json_key *key)
{
    return json_text_here(p, key->text, key->len);
}

ALWAYS_INLINE bool json_begin(struct json_pull *self, char bracket)
{
    if (UNLIKELY(self->p >= self->end || *self->p != bracket))
        return json_begin_slow(self, bracket);
    self->p++;
    self->fresh = true;
    self->depth++;
    return true;
}

ALWAYS_INLINE void json_object_at(struct json_object *ret, const struct json_key *keys, size_t count)
{
    *ret = (struct json_object){.keys = keys, .count = (unsigned)count};
}

ALWAYS_INLINE bool json_object_begin(struct json_pull *self, struct json_object *ret, const struct json_key *keys, size_t count)
{
    json_object_at(ret, keys, count);
    return json_begin(self, '{');
}

ALWAYS_INLINE int json_next(struct json_pull *self, struct json_object *object)
{
    const char *p = self->p;
    if (LIKELY(p < self->end)) {
        if (self->fresh || *p == ',') {
            const struct json_key *key = object->keys + object->expected;
            p += self->fresh ? 0 : 1;
            if (LIKELY(json_key_here(p, key))) {
                self->p = p + key->len;
                self->fresh = false;
                object->expected = object->expected + 1 == object->count ? 0 : object->expected + 1;
                return key->id;
            }
        } else if (*p == '}') {
            self->p = p + 1;
            self->depth--;
            return JSON_END;
        }
    }
    return json_next_slow(self, object);
}

ALWAYS_INLINE bool json_array_begin(struct json_pull *self)
{
    return json_begin(self, '[');
}

ALWAYS_INLINE bool json_array_next(struct json_pull *self)
{
    if (UNLIKELY(self->p >= self->end || self->fresh || *self->p != ','))
        return json_array_next_slow(self);
    self->p++;
    return true;
}

/* Bit 7 of each byte that is no digit. */
ALWAYS_INLINE uint64_t json_no_digits(uint64_t word)
{
    word ^= 0x3030303030303030ULL;
    return ((word + 0x7676767676767676ULL) | word) & 0x8080808080808080ULL;
}

/* Number of leading digits of eight bytes, and their value: three multiplications for all of them. */
ALWAYS_INLINE unsigned json_digits8(uint64_t word, uint64_t *ret_value)
{
    uint64_t other = json_no_digits(word);
    unsigned count = other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
    word = count ? (word ^ 0x3030303030303030ULL) << (64 - 8 * count) : 0;
    word = word * 10 + (word >> 8);
    *ret_value = ((word & 0x000000FF000000FFULL) * 0x000F424000000064ULL + ((word >> 16) & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >> 32;
    return count;
}

/* Bit i: byte i is no digit, 16 bytes. */
ALWAYS_INLINE unsigned json_no_digits16(const char *p)
{
#ifdef __SSE2__
    __m128i v = _mm_sub_epi8(json_load16(p), _mm_set1_epi8('0'));
    return 0xFFFFU ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v));
#else
    unsigned other = 0;
    for (unsigned i = 0; i < 16; i++)
        other |= (unsigned)((unsigned char)(p[i] - '0') > 9) << i;
    return other;
#endif
}

/* Number of leading digits, up to 32. */
ALWAYS_INLINE unsigned json_digits(const char *p)
{
    unsigned other = json_no_digits16(p);
    if (LIKELY(other))
        return (unsigned)__builtin_ctz(other);
    other = json_no_digits16(p + 16);
    return other ? 16 + (unsigned)__builtin_ctz(other) : 32;
}

ALWAYS_INLINE bool json_number_stops(char after)
{
    return after == ',' || after == '}' || after == ']';
}

/* The plain number of up to 15 digits at p, of which JSON_PADDING bytes are there. Returns its length; 0: no such number. */
ALWAYS_INLINE unsigned json_short_number(const char *p, int64_t *ret)
{
    static const uint32_t power[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t value, low;
    unsigned count = json_digits8(json_load64(p), &value);
    if (count == 8) {
        unsigned more = json_digits8(json_load64(p + 8), &low);
        if (more == 8)
            return 0;
        value = value * power[more] + low;
        count += more;
    }
    *ret = (int64_t)value;
    return LIKELY(json_number_stops(p[count]) && (*p != '0' || count == 1)) ? count : 0;
}

ALWAYS_INLINE int64_t json_i64(struct json_pull *self)
{
    const char *p = self->p;
    int64_t value;
    if (LIKELY(p < self->end)) {
        unsigned count = json_short_number(p, &value);
        if (LIKELY(count)) {
            self->p = p + count;
            return value;
        }
    }
    return json_i64_slow(self);
}

/* Position and prediction stay in registers: half of what a task end holds passes through here, most of it zeros. */
ALWAYS_INLINE int json_next_counts(struct json_pull *self, struct json_object *object, int64_t *values, unsigned limit)
{
    const char *p = self->p, *end = self->end;
    const struct json_key *key = object->keys + object->expected, *last = object->keys + object->count - 1;
    if (self->fresh || *p == ',') {
        p += self->fresh ? 0 : 1;
        while (p < end && key->id < limit && json_key_here(p, key)) {
            const char *number = p + key->len;
            int64_t value;
            unsigned count = 1;
            if (*number == '0' && number[1] == ',')
                value = 0;
            else if (number >= end || !(count = json_short_number(number, &value)))
                break;
            values[key->id] = value;
            key = key == last ? object->keys : key + 1;
            self->p = number + count;
            self->fresh = false;
            p = self->p + 1;
            if (*self->p != ',')
                break;
        }
        object->expected = (unsigned)(key - object->keys);
    }
    return json_next(self, object);
}

ALWAYS_INLINE int64_t json_count(struct json_pull *self)
{
    int64_t value = json_i64(self);
    return LIKELY(value >= 0) || !known(value) ? value : json_out_of_range(self);
}

ALWAYS_INLINE int64_t json_id(struct json_pull *self)
{
    int64_t value = json_count(self);
    return LIKELY(value <= INT32_MAX) ? value : json_out_of_range(self);
}

ALWAYS_INLINE bool json_bool(struct json_pull *self, bool otherwise)
{
    const char *p = self->p;
    if (LIKELY(p < self->end)) {
        if (memcmp(p, "true", 4) == 0) {
            self->p = p + 4;
            return true;
        }
        if (memcmp(p, "false", 5) == 0) {
            self->p = p + 5;
            return false;
        }
    }
    return json_bool_slow(self, otherwise);
}

/* Length of the plain ASCII text at p, of which JSON_PADDING - 1 bytes are there, when it ends in a quote in them; else -1. */
ALWAYS_INLINE int json_short_text(const char *p)
{
    unsigned stops = json_not_plain16(p) | json_not_plain16(p + 16) << 16, from = 0;
    if (!stops) {
        stops = json_not_plain16(p + 32) | json_not_plain16(p + 47) >> 1 << 16;
        from = 32;
        if (!stops)
            return -1;
    }
    unsigned len = from + (unsigned)__builtin_ctz(stops);
    return p[len] == '"' ? (int)len : -1;
}

ALWAYS_INLINE struct str json_str(struct json_pull *self)
{
    const char *p = self->p;
    if (LIKELY(p < self->end && *p == '"')) {
        int len = json_short_text(p + 1);
        if (LIKELY(len >= 0)) {
            self->p = p + len + 2;
            return (struct str){p + 1, (size_t)len};
        }
    }
    return json_str_slow(self);
}

ALWAYS_INLINE struct str json_text(struct json_pull *self)
{
    const char *p = self->p;
    if (LIKELY(p < self->end)) {
        if (*p == '"')
            return json_str(self);
        unsigned count = json_digits(p);
        if (LIKELY(count && json_number_stops(p[count]) && (*p != '0' || count == 1))) {
            self->p = p + count;
            return (struct str){p, count};
        }
    }
    return json_text_slow(self);
}

#endif
