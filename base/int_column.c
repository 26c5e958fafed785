/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int_column.h"

#include <string.h>

#include "base/units.h"

#define HEAD_BYTES ((size_t)16)
#define COLUMN_VERSION 1

static unsigned width_of(uint64_t range)
{
    unsigned width = 0;
    while (range) {
        width++;
        range >>= 8;
    }
    return width;
}

static void put_le(char *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, value >>= 8)
        out[i] = (char)(value & 0xFF);
}

static uint64_t get_le(const char *in, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = width; i-- > 0;)
        value = value << 8 | (unsigned char)in[i];
    return value;
}

bool int_column_pack(const int64_t *values, size_t count, struct buf *out)
{
    /* Without branches: UNKNOWN is the smallest of all, so it never is the largest, and one less, unsigned, it is the largest and never the smallest. */
    uint64_t least = UINT64_MAX;
    int64_t high = UNKNOWN;
    size_t unknown_count = 0;
    bool constant = count > 1 && memcmp(values, values + 1, (count - 1) * sizeof *values) == 0;   /* half of a task's metrics are: one look is enough for them */
    size_t looks = constant ? 1 : count;
    for (size_t i = 0; i < looks; i++) {
        uint64_t shifted = ((uint64_t)values[i] ^ (uint64_t)UNKNOWN) - 1;
        least = MIN(least, shifted);
        high = MAX(high, values[i]);
        unknown_count += values[i] == UNKNOWN;
    }
    if (unknown_count == looks)
        return false;
    int64_t low = (int64_t)((least + 1) ^ (uint64_t)UNKNOWN);
    unsigned width = width_of((uint64_t)high - (uint64_t)low);
    size_t bitmap = unknown_count ? (count + 7) / 8 : 0;
    size_t total = HEAD_BYTES + bitmap + count * width;
    if (!buf_reserve(out, total + sizeof(uint64_t)))
        return true;   /* buf_failed tells */
    char *p = out->data + out->len;
    memset(p, 0, HEAD_BYTES + bitmap);
    p[0] = COLUMN_VERSION;
    p[1] = (char)width;
    p[2] = bitmap ? 1 : 0;
    put_le(p + 4, count, 4);
    put_le(p + 8, (uint64_t)low, 8);
    char *bits = p + HEAD_BYTES, *cell = bits + bitmap;
    for (size_t i = 0; i < count && !bitmap && width; i++, cell += width) {
        uint64_t delta = (uint64_t)values[i] - (uint64_t)low;
        memcpy(cell, &delta, sizeof delta);   /* little-endian machines only; room for the overshoot was reserved */
    }
    for (size_t i = 0; i < count && bitmap; i++, cell += width) {
        uint64_t delta = 0;
        if (known(values[i])) {
            delta = (uint64_t)values[i] - (uint64_t)low;
            if (bitmap)
                bits[i / 8] = (char)(bits[i / 8] | 1 << (i % 8));
        }
        memcpy(cell, &delta, sizeof delta);
    }
    out->len += total;
    out->data[out->len] = '\0';
    return true;
}

static enum err_code head(struct str blob, size_t *count, unsigned *width, bool *bitmap, struct err *err)
{
    *count = *width = 0;
    *bitmap = false;
    if (blob.len < HEAD_BYTES || blob.ptr[0] != COLUMN_VERSION || (unsigned char)blob.ptr[1] > 8 || (unsigned char)blob.ptr[2] > 1)
        return err_set(err, ERR_CORRUPT, "bad column head");
    *width = (unsigned char)blob.ptr[1];
    *bitmap = blob.ptr[2] == 1;
    *count = (size_t)get_le(blob.ptr + 4, 4);
    if (blob.len != HEAD_BYTES + (*bitmap ? (*count + 7) / 8 : 0) + *count * *width)
        return err_set(err, ERR_CORRUPT, "bad column length");
    return ERR_OK;
}

enum err_code int_column_count(struct str blob, size_t *ret_count, struct err *err)
{
    unsigned width;
    bool bitmap;
    return head(blob, ret_count, &width, &bitmap, err);
}

enum err_code int_column_least(struct str blob, int64_t *ret, struct err *err)
{
    size_t count;
    unsigned width;
    bool bitmap;
    enum err_code rc = head(blob, &count, &width, &bitmap, err);
    *ret = rc ? UNKNOWN : (int64_t)get_le(blob.ptr + 8, 8);
    return rc;
}

enum err_code int_column_unpack(struct str blob, int64_t *ret, size_t room, struct err *err)
{
    size_t count;
    unsigned width;
    bool bitmap;
    enum err_code rc = head(blob, &count, &width, &bitmap, err);
    if (rc)
        return rc;
    if (count > room)
        return err_set(err, ERR_CORRUPT, "column is longer than its chunk");
    uint64_t base = get_le(blob.ptr + 8, 8);
    const char *bits = blob.ptr + HEAD_BYTES, *cell = bits + (bitmap ? (count + 7) / 8 : 0), *end = blob.ptr + blob.len;
    uint64_t mask = width == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * width)) - 1;
    size_t i = 0;
    if (!width)
        for (; i < count; i++)
            ret[i] = (int64_t)base;
    else
        for (; i < count && (size_t)(end - cell) >= sizeof(uint64_t); i++, cell += width) {
            uint64_t raw;
            memcpy(&raw, cell, sizeof raw);
            ret[i] = (int64_t)(base + (raw & mask));
        }
    for (; i < count; i++, cell += width)
        ret[i] = (int64_t)(base + get_le(cell, width));
    for (size_t byte = 0; bitmap && byte < (count + 7) / 8; byte++) {
        unsigned known_bits = (unsigned char)bits[byte];
        if (known_bits == 0xFF)   /* mostly all are known, or none is */
            continue;
        for (i = 8 * byte; i < count && i < 8 * byte + 8; i++)
            ret[i] = known_bits >> (i % 8) & 1 ? ret[i] : UNKNOWN;
    }
    return ERR_OK;
}

size_t quantile_index(double q, size_t count)
{
    double at = q * (double)count;
    if (!(at > 0))
        return 0;
    if (at >= (double)count)
        return count - 1;
    return (size_t)at;
}

/* Moves the values below `pivot` (or, with `or_equal`, not above it) to the front; returns how many. Without a branch that data decides: on random values a mispredicted one costs
 * more than all the rest. */
static size_t move_to_front(int64_t *values, size_t count, int64_t pivot, bool or_equal)
{
    size_t front = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = values[i];
        values[i] = values[front];
        values[front] = value;
        front += (value < pivot) | ((value == pivot) & or_equal);
    }
    return front;
}

static int64_t median_of_3(int64_t a, int64_t b, int64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

void select_nth(int64_t *values, size_t count, size_t nth)
{
    while (count > 1) {
        size_t step = count / 8, middle = count / 2;
        int64_t pivot = median_of_3(values[0], values[middle], values[count - 1]);
        if (count > 64)   /* a better guess where a pass is long; sorted and constant input stay linear */
            pivot = median_of_3(median_of_3(values[0], values[step], values[2 * step]), median_of_3(values[middle - step], values[middle], values[middle + step]),
                                median_of_3(values[count - 1 - 2 * step], values[count - 1 - step], values[count - 1]));
        size_t below = move_to_front(values, count, pivot, false);
        if (nth < below) {
            count = below;
            continue;
        }
        values += below;
        nth -= below;
        count -= below;
        size_t equal = move_to_front(values, count, pivot, true);
        if (nth < equal)
            return;
        values += equal;
        nth -= equal;
        count -= equal;
    }
}
