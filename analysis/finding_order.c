/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str digits_at(struct str text, size_t at)
{
    size_t end = at;
    while (at + 1 < text.len && text.ptr[at] == '0' && is_digit(text.ptr[at + 1]))
        at++;
    while (end < text.len && is_digit(text.ptr[end]))
        end++;
    return (struct str){text.ptr + at, end - at};
}

int subject_key_compare(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len) {
        if (is_digit(a.ptr[i]) && is_digit(b.ptr[k])) {
            struct str x = digits_at(a, i), y = digits_at(b, k);
            int order = x.len != y.len ? (x.len > y.len) - (x.len < y.len) : memcmp(x.ptr, y.ptr, x.len);
            if (order)
                return order;
            i = (size_t)(x.ptr + x.len - a.ptr);
            k = (size_t)(y.ptr + y.len - b.ptr);
            continue;
        }
        if (a.ptr[i] != b.ptr[k])
            return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[k] ? -1 : 1;
        i++;
        k++;
    }
    return (i < a.len) - (k < b.len);
}

bool finding_fires(const struct finding *finding)
{
    return !mute_is_early(finding->mute) && finding->mute != MUTE_NO_SUBJECT && !isnan(finding->measure) &&
           (ladder_grade(&finding->rule->ladder, finding->measure) > GRADE_OK || finding->at_least > GRADE_OK);
}

bool finding_shows(const struct finding *finding, const struct profile *profile, int64_t wall_ms)
{
    return !finding->mute && !str_known(finding->suppressed_by) && finding_grade(finding, profile, wall_ms) > GRADE_OK;
}

/* These come first in their grade though they have no price. */
static bool comes_first(const struct rule *rule)
{
    return strcmp(rule->id, "JOB.FAILED") == 0 || strcmp(rule->id, "STREAM.FAILED") == 0 || strcmp(rule->id, "LOG.INCOMPLETE") == 0;
}

struct order {
    const struct profile *profile;
    int64_t wall_ms;
};

static int order_of(const void *a, const void *b, void *context)
{
    const struct finding *x = a, *y = b;
    const struct profile *profile = ((const struct order *)context)->profile;
    int64_t wall_ms = ((const struct order *)context)->wall_ms;
    bool shows_x = finding_shows(x, profile, wall_ms), shows_y = finding_shows(y, profile, wall_ms);
    if (shows_x != shows_y)
        return (int)shows_y - (int)shows_x;
    if (shows_x) {
        enum grade grade_x = finding_grade(x, profile, wall_ms), grade_y = finding_grade(y, profile, wall_ms);
        if (grade_x != grade_y)
            return grade_x < grade_y ? 1 : -1;
        if (comes_first(x->rule) != comes_first(y->rule))
            return comes_first(y->rule) ? 1 : -1;
        int64_t price_x = known_or(x->price.ms, -1), price_y = known_or(y->price.ms, -1);
        if (price_x != price_y)
            return price_x < price_y ? 1 : -1;
    } else {
        double margin_x = finding_margin(x, profile), margin_y = finding_margin(y, profile);
        if (isnan(margin_x) != isnan(margin_y))
            return isnan(margin_x) ? 1 : -1;
        if (margin_x > margin_y || margin_x < margin_y)
            return margin_x < margin_y ? 1 : -1;
    }
    int order = strcmp(x->rule->id, y->rule->id);
    if (order)
        return order;
    order = subject_key_compare(x->subject_key, y->subject_key);
    return order ? order : (int)x->subject_kind - (int)y->subject_kind;
}

void findings_sort(struct findings *self, const struct profile *profile, int64_t wall_ms)
{
    struct order order = {profile, wall_ms};
    if (self->count)
        qsort_r(self->items, self->count, sizeof *self->items, order_of, &order);
}
