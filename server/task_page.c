/* SPDX-License-Identifier: Apache-2.0
 *
 * A histogram over the range of the keys tells in which bucket the first row of the page lies and in which the last, and how many rows lie before. If few rows are in those
 * buckets they are sorted with what is between; a full bucket is looked at more closely until it holds few rows or one value. Of many rows with one value the tie decides,
 * found in the same way, so that a column of a million equal values costs no more than another.
 * The loops are written without branches on the data: a column's values come in no order that a processor could guess. */
#include "server/task_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/units.h"

#define BUCKETS ((size_t)4096)
#define SORT_AT_MOST 1024            /* rows of an end's bucket that are sorted as they are */

/* The rows that a search looks at: those with a known key, or those whose key is one value. */
struct rows {
    const int64_t *key;
    const unsigned char *keep;       /* NULL: all */
    size_t count;
    bool any_known;
    int64_t equal;
};

static size_t in(const struct rows *self, size_t i)
{
    size_t wanted = self->any_known ? known(self->key[i]) : self->key[i] == self->equal;
    return wanted & (self->keep ? self->keep[i] != 0 : 1);
}

/* A range of values around a rank. */
struct span {
    int64_t low, high;
    size_t below, inside;            /* rows under low; rows from low to high */
};

static bool one_value(const struct span *self)
{
    return self->low == self->high;
}

/* More than one wants to sort, and nothing to narrow. */
static bool crowded(const struct span *self)
{
    return one_value(self) && self->inside > SORT_AT_MOST;
}

static unsigned shift_of(const struct span *self)
{
    uint64_t range = (uint64_t)self->high - (uint64_t)self->low;
    unsigned shift = 0;
    while (range >> shift >= BUCKETS)
        shift++;
    return shift;
}

static void fill_histogram(const struct rows *rows, const int64_t *values, const struct span *span, unsigned shift, size_t *histogram)
{
    memset(histogram, 0, BUCKETS * sizeof *histogram);
    uint64_t base = (uint64_t)span->low, range = (uint64_t)span->high - base;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t at = (uint64_t)values[i] - base;
        size_t inside = in(rows, i) & (at <= range);
        histogram[(at & (0 - (uint64_t)inside)) >> shift] += inside;
    }
}

/* The bucket with the rank, as a span. */
static struct span bucket_of(const struct span *span, unsigned shift, const size_t *histogram, size_t rank)
{
    size_t below = span->below, bucket = 0;
    while (rank - below >= histogram[bucket])
        below += histogram[bucket++];
    uint64_t low = (uint64_t)span->low + ((uint64_t)bucket << shift), high = low + (((uint64_t)1 << shift) - 1);
    if (high - (uint64_t)span->low > (uint64_t)span->high - (uint64_t)span->low)
        high = (uint64_t)span->high;
    return (struct span){(int64_t)low, (int64_t)high, below, histogram[bucket]};
}

/* Spans of the ranks `first` ≤ `last` in the order of `values`: few rows each, or one value. There are more than `last` rows. */
static void find_spans(const struct rows *rows, const int64_t *values, size_t first, size_t last, struct span *ret_first, struct span *ret_last)
{
    struct span all = {INT64_MAX, INT64_MIN, 0, 0};
    for (size_t i = 0; i < rows->count; i++) {
        size_t inside = in(rows, i);
        int64_t at_least = inside ? values[i] : INT64_MAX, at_most = inside ? values[i] : INT64_MIN;
        all.low = MIN(all.low, at_least);
        all.high = MAX(all.high, at_most);
        all.inside += inside;
    }
    *ret_first = *ret_last = all;
    if (one_value(&all))
        return;
    size_t histogram[BUCKETS];
    unsigned shift = shift_of(&all);
    fill_histogram(rows, values, &all, shift, histogram);
    *ret_first = bucket_of(&all, shift, histogram, first);
    *ret_last = bucket_of(&all, shift, histogram, last);
    bool together = ret_first->low == ret_last->low;
    while (!one_value(ret_first) && ret_first->inside > SORT_AT_MOST) {
        struct span span = *ret_first;
        shift = shift_of(&span);
        fill_histogram(rows, values, &span, shift, histogram);
        *ret_first = bucket_of(&span, shift, histogram, first);
        if (together) {
            *ret_last = bucket_of(&span, shift, histogram, last);
            together = ret_first->low == ret_last->low;
        }
    }
    while (!one_value(ret_last) && ret_last->inside > SORT_AT_MOST) {
        struct span span = *ret_last;
        shift = shift_of(&span);
        fill_histogram(rows, values, &span, shift, histogram);
        *ret_last = bucket_of(&span, shift, histogram, last);
    }
}

struct candidate {
    int64_t key, tie;
    size_t position;
};

static int by_key_tie_position(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Sorts the `expected` rows whose key and tie lie in these ranges and gives the positions of ranks [from, to) among them. */
static enum err_code sort_some(const struct rows *rows, const int64_t *tie, int64_t low, int64_t high, int64_t tie_low, int64_t tie_high, size_t expected, size_t from,
                               size_t to, size_t *out, struct err *err)
{
    CLEANUP(mem_freep) struct candidate *found = mem_alloc(expected * sizeof *found);
    if (!found)
        return err_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < rows->count && n < expected; i++)
        if (((rows->key[i] >= low) & (rows->key[i] <= high) & (tie[i] >= tie_low) & (tie[i] <= tie_high)) && in(rows, i))
            found[n++] = (struct candidate){rows->key[i], tie[i], i};
    qsort(found, n, sizeof *found, by_key_tie_position);
    for (size_t rank = from; rank < to; rank++)
        out[rank - from] = found[rank].position;
    return ERR_OK;
}

/* Of the `group` rows whose key is `value`, those of ranks [from, to) by tie and position. */
static enum err_code select_equal(const struct rows *all, const int64_t *tie, int64_t value, size_t group, size_t from, size_t to, size_t *out, struct err *err)
{
    if (from >= to)
        return ERR_OK;
    struct rows rows = {all->key, all->keep, all->count, false, value};
    struct span first = {INT64_MIN, INT64_MAX, 0, group}, last = first;
    if (group > SORT_AT_MOST)
        find_spans(&rows, tie, from, to - 1, &first, &last);
    return sort_some(&rows, tie, value, value, first.low, last.high, last.below + last.inside - first.below, from - first.below, to - first.below, out, err);
}

/* Of the rows with a known key, those of ranks [from, to) in ascending order. */
static enum err_code select_known(const struct rows *rows, const int64_t *tie, size_t from, size_t to, size_t *out, struct err *err)
{
    if (from >= to)
        return ERR_OK;
    struct span first, last;
    find_spans(rows, rows->key, from, to - 1, &first, &last);
    /* What is sorted: ranks [begin, end), keys [low, high]. A crowd at an end stands aside. */
    size_t begin = first.below, end = last.below + last.inside;
    int64_t low = first.low, high = last.high;
    enum err_code rc;
    if (crowded(&first)) {
        begin = first.below + first.inside;
        low = first.high < INT64_MAX ? first.high + 1 : INT64_MAX;
        if ((rc = select_equal(rows, tie, first.low, first.inside, from - first.below, MIN(to, begin) - first.below, out, err)))
            return rc;
        if (to <= begin)
            return ERR_OK;
    }
    if (crowded(&last)) {
        end = last.below;
        high = last.low - 1;
        size_t skip = MAX(from, end);
        if ((rc = select_equal(rows, tie, last.low, last.inside, skip - end, to - end, out + (skip - from), err)))
            return rc;
    }
    size_t sorted_from = MAX(from, begin), sorted_to = MIN(to, end);
    if (sorted_from >= sorted_to)
        return ERR_OK;
    return sort_some(rows, tie, low, high, INT64_MIN, INT64_MAX, end - begin, sorted_from - begin, sorted_to - begin, out + (sorted_from - from), err);
}

static void reverse(size_t *values, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        size_t swap = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = swap;
    }
}

enum err_code task_page(const int64_t *key, const int64_t *tie, const unsigned char *keep, size_t count, bool descending, size_t offset, size_t limit,
                                size_t *ret_positions, size_t *ret_count, size_t *ret_total, struct err *err)
{
    struct rows rows = {key, keep, count, true, 0};
    size_t known_count = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        known_count += in(&rows, i);
        total += keep ? keep[i] != 0 : 1;
    }
    *ret_total = total;
    *ret_count = 0;
    if (offset >= total || !limit)
        return ERR_OK;
    size_t end = offset + MIN(limit, total - offset), unknown_count = total - known_count;
    size_t from = MIN(offset, known_count), to = MIN(end, known_count), written = to - from;
    enum err_code rc = descending ? select_known(&rows, tie, known_count - to, known_count - from, ret_positions, err) : select_known(&rows, tie, from, to, ret_positions, err);
    if (rc)
        return rc;
    if (descending)
        reverse(ret_positions, written);
    size_t *unknowns = ret_positions + written;
    from = MAX(offset, known_count) - known_count;
    to = MAX(end, known_count) - known_count;
    rc = descending ? select_equal(&rows, tie, UNKNOWN, unknown_count, unknown_count - to, unknown_count - from, unknowns, err)
                    : select_equal(&rows, tie, UNKNOWN, unknown_count, from, to, unknowns, err);
    if (rc)
        return rc;
    if (descending)
        reverse(unknowns, to - from);
    *ret_count = written + (to - from);
    return ERR_OK;
}
