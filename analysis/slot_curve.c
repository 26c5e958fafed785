/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account.h"
#include "analysis/sort.h"
#include "base/mem.h"

static void add_point(struct slot_curve *self, int64_t time_ms, int64_t slots)
{
    size_t last = self->count - 1;
    if (self->count && self->times_ms[last] == time_ms) {
        self->slots[last] = slots;
        return;
    }
    self->times_ms[self->count] = time_ms;
    self->slots[self->count] = slots;
    if (self->count) {
        double length = (double)(time_ms - self->times_ms[last]), before = (double)self->slots[last];
        self->slot_ms[self->count] = self->slot_ms[last];
        self->wall_ms[self->count] = self->wall_ms[last];
        exact_add(&self->slot_ms[self->count], before * length);
        exact_add(&self->wall_ms[self->count], before > 0 ? length / before : 0);
    }
    self->count++;
}

enum err_code slot_curve_make(struct slot_curve *ret, const struct facts *facts, struct err *err)
{
    size_t room = 2 * facts->executor_count + 2, count = 0;
    *ret = (struct slot_curve){
        mem_array(room, sizeof *ret->times_ms), mem_array(room, sizeof *ret->slots), mem_array(room, sizeof *ret->slot_ms), mem_array(room, sizeof *ret->wall_ms), 0, 0};
    CLEANUP(mem_freep) struct sort_item *items = mem_array(2 * room, sizeof *items);
    if (!ret->times_ms || !ret->slots || !ret->slot_ms || !ret->wall_ms || !items) {
        slot_curve_dispose(ret);
        return err_nomem(err);
    }
    for (size_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (executor->from_ms == executor->to_ms)
            continue;
        items[count++] = (struct sort_item){executor->from_ms, executor->slots, (uint32_t)i};
        items[count++] = (struct sort_item){executor->to_ms, -executor->slots, (uint32_t)i};
    }
    sort_items(items, items + room, count);
    int64_t slots = 0;
    add_point(ret, facts->begin_ms, 0);
    for (size_t i = 0; i < count; i++) {
        slots += items[i].tie;
        add_point(ret, items[i].key, slots);
    }
    add_point(ret, facts->end_ms, 0);
    for (size_t i = 0; i + 1 < ret->count; i++)
        if (ret->times_ms[i + 1] - ret->times_ms[i] > ret->times_ms[ret->usual + 1] - ret->times_ms[ret->usual])
            ret->usual = i;
    return ERR_OK;
}

void slot_curve_dispose(struct slot_curve *self)
{
    mem_free(TAKE(self->times_ms));
    mem_free(TAKE(self->slots));
    mem_free(TAKE(self->slot_ms));
    mem_free(TAKE(self->wall_ms));
    self->count = 0;
}

/* The last point at or before the time. */
static size_t point_before(const struct slot_curve *self, int64_t time_ms)
{
    size_t low = 0;
    for (size_t high = self->count; high - low > 1;) {
        size_t i = low + (high - low) / 2;
        if (self->times_ms[i] <= time_ms)
            low = i;
        else
            high = i;
    }
    return low;
}

static double part(int64_t slots, double length, bool per_slot)
{
    return !per_slot ? (double)slots * length : slots > 0 ? length / (double)slots : 0;
}

static double integral(const struct slot_curve *self, const struct exact_sum *sums, int64_t from_ms, int64_t to_ms, bool per_slot)
{
    from_ms = MAX(from_ms, self->times_ms[0]);
    to_ms = MIN(to_ms, self->times_ms[self->count - 1]);
    if (from_ms >= to_ms)
        return 0;
    size_t first = self->usual; /* nearly all tasks run while the same slots are there */
    if (from_ms < self->times_ms[first] || first + 1 == self->count || to_ms > self->times_ms[first + 1])
        first = point_before(self, from_ms);
    if (first + 1 == self->count || to_ms <= self->times_ms[first + 1])
        return part(self->slots[first], (double)(to_ms - from_ms), per_slot);
    size_t last = point_before(self, to_ms);
    return part(self->slots[first], (double)(self->times_ms[first + 1] - from_ms), per_slot) + exact_since(sums[last], sums[first + 1]) +
           part(self->slots[last], (double)(to_ms - self->times_ms[last]), per_slot);
}

double slot_curve_integral(const struct slot_curve *self, int64_t from_ms, int64_t to_ms)
{
    return integral(self, self->slot_ms, from_ms, to_ms, false);
}

double slot_curve_per_slot(const struct slot_curve *self, int64_t from_ms, int64_t to_ms)
{
    return integral(self, self->wall_ms, from_ms, to_ms, true);
}
