/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

struct str str_word(struct str *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
    struct str word = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t used = word.len + (end ? 1 : 0);
    if (used)
        *rest = (struct str){rest->ptr + used, rest->len - used};
    return word;
}

struct str str_base_name(struct str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at ? (struct str){path.ptr + at, path.len - at} : path;
}

bool str_starts(struct str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && memcmp(s.ptr, prefix, len) == 0;
}

bool str_ends(struct str s, const char *suffix)
{
    size_t len = strlen(suffix);
    return s.len >= len && memcmp(s.ptr + s.len - len, suffix, len) == 0;
}

int str_compare(struct str a, struct str b)
{
    size_t shared = MIN(a.len, b.len);
    int c = shared ? memcmp(a.ptr, b.ptr, shared) : 0;
    if (c)
        return c;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    size_t i = 0;
    bool negative = false;
    if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
        negative = s.ptr[i++] == '-';
    if (i == s.len)
        return false;
    uint64_t value = 0;
    for (; i < s.len; i++) {
        unsigned digit = (unsigned char)s.ptr[i] - (unsigned)'0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Length of the valid sequence at p, 0 when there is none (Unicode 15, table 3-7). */
static size_t sequence(const unsigned char *p, size_t left)
{
    unsigned char c = p[0];
    if (c < 0x80)
        return 1;
    size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || left < need)
        return 0;
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

size_t utf8_valid_prefix(const char *ptr, size_t len)
{
    const unsigned char *p = (const unsigned char *)ptr;
    size_t i = 0;
    while (i < len) {
        uint64_t word;
        while (len - i >= sizeof word) {
            memcpy(&word, p + i, sizeof word);
            if (word & 0x8080808080808080ULL)
                break;
            i += sizeof word;
        }
        if (i == len)
            break;
        size_t n = sequence(p + i, len - i);
        if (!n)
            break;
        i += n;
    }
    return i;
}

size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

size_t utf8_repair(struct str in, char *out)
{
    size_t i = 0, o = 0;
    while (i < in.len) {
        size_t good = utf8_valid_prefix(in.ptr + i, in.len - i);
        memcpy(out + o, in.ptr + i, good);
        i += good;
        o += good;
        if (i < in.len) {
            memcpy(out + o, "\xEF\xBF\xBD", 3);
            o += 3;
            i++;
        }
    }
    return o;
}
