/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/pick.h"

#include "base/mem.h"

#define MAX_ROWS ((size_t)1 << 24)   /* a page that far down is 16 million rows away */

void pick_init(struct pick *self, size_t want, bool descending, struct arena *arena)
{
    *self = (struct pick){.want = MIN(want, MAX_ROWS), .descending = descending, .arena = arena};
}

void pick_dispose(struct pick *self)
{
    mem_free(self->rows);
    self->rows = NULL;
}

/* a comes before b. */
static bool before(const struct pick *self, const struct pick_row *a, const struct pick_row *b)
{
    if (a->known != b->known)
        return a->known;
    int order = 0;
    if (a->known)
        order = str_known(a->text) || str_known(b->text) ? str_compare(a->text, b->text) : (a->number > b->number) - (a->number < b->number);
    if (order == 0)
        order = (a->id > b->id) - (a->id < b->id);
    return self->descending ? order > 0 : order < 0;
}

static void swap(struct pick_row *a, struct pick_row *b)
{
    struct pick_row kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct pick *self, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(self, &self->rows[child], &self->rows[child + 1]))
            child++;
        if (!before(self, &self->rows[at], &self->rows[child]))
            return;
        swap(&self->rows[at], &self->rows[child]);
    }
}

static void rise(struct pick *self, size_t at)
{
    for (size_t parent; at && (parent = (at - 1) / 2, before(self, &self->rows[parent], &self->rows[at])); at = parent)
        swap(&self->rows[at], &self->rows[parent]);
}

enum err_code pick_offer(struct pick *self, const struct pick_row *row, struct err *err)
{
    self->offered++;
    bool full = self->count == self->want;
    if (full && (!self->want || !before(self, row, &self->rows[0])))
        return ERR_OK;
    if (!full && mem_grow((void **)&self->rows, &self->capacity, self->count + 1, MAX_ROWS, sizeof *self->rows))
        return err_nomem(err);
    struct pick_row *place = &self->rows[full ? 0 : self->count];
    *place = *row;
    if (arena_str(self->arena, row->text, &place->text))
        return err_nomem(err);
    if (full)
        sink(self, 0, self->count);
    else
        rise(self, self->count++);
    return ERR_OK;
}

void pick_sort(struct pick *self)
{
    for (size_t left = self->count; left > 1; left--) {
        swap(&self->rows[0], &self->rows[left - 1]);
        sink(self, 0, left - 1);
    }
}
