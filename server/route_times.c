/* SPDX-License-Identifier: Apache-2.0 */
#include "server/route_times.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"

#define MS 1000
const int64_t answer_bounds_us[TIME_BUCKETS] = {MS, 5 * MS / 2, 5 * MS, 10 * MS, 25 * MS, 50 * MS, 100 * MS, 250 * MS, 1000 * MS, 5000 * MS};

static const char *const fixed_names[ROUTE_FIXED_COUNT] = {
    "none", "/", "/a/{ref}", "/compare", "/status", "/p/{token}", "/history", "file", "/healthz", "/readyz", "/metrics", "/api/afterglow/v1/uploads"};
static const struct route *const tables[] = {api_routes, api_actions, api_v1_routes};

struct route_times {
    size_t count;
    atomic_int_fast64_t bytes;
    struct time_counts times[]; /* STATUS_CLASSES a route */
};

static size_t length_of(const struct route *table)
{
    size_t n = 0;
    while (table[n].pattern)
        n++;
    return n;
}

size_t route_number(const struct route *route)
{
    size_t number = ROUTE_FIXED_COUNT;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++) {
        size_t n = length_of(tables[i]);
        if (route >= tables[i] && route < tables[i] + n)
            return number + (size_t)(route - tables[i]);
        number += n;
    }
    return ROUTE_NONE;
}

const char *route_name(size_t number)
{
    if (number < ROUTE_FIXED_COUNT)
        return fixed_names[number];
    number -= ROUTE_FIXED_COUNT;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++) {
        size_t n = length_of(tables[i]);
        if (number < n)
            return tables[i][number].pattern;
        number -= n;
    }
    return fixed_names[ROUTE_NONE];
}

enum err_code route_times_new(struct route_times **ret, struct err *err)
{
    size_t count = ROUTE_FIXED_COUNT;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        count += length_of(tables[i]);
    struct route_times *self = *ret = mem_zalloc(sizeof *self + count * STATUS_CLASSES * sizeof *self->times);
    if (!self)
        return err_nomem(err);
    self->count = count;
    return ERR_OK;
}

void route_times_free(struct route_times *self)
{
    mem_free(self);
}

struct time_counts *route_times_of(struct route_times *self, size_t number, int status_class)
{
    return &self->times[number * STATUS_CLASSES + (size_t)(status_class - 1)];
}

void route_times_add(struct route_times *self, size_t number, int status, int64_t us, int64_t bytes)
{
    time_counts_add(route_times_of(self, number < self->count ? number : ROUTE_NONE, MIN(MAX(status / 100, 1), STATUS_CLASSES)), answer_bounds_us, us);
    atomic_fetch_add_explicit(&self->bytes, MAX(bytes, 0), memory_order_relaxed);
}

size_t route_times_count(const struct route_times *self)
{
    return self->count;
}

int64_t route_times_bytes(struct route_times *self)
{
    return atomic_load(&self->bytes);
}
