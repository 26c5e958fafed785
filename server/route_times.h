/* SPDX-License-Identifier: Apache-2.0
 *
 * How long answers took to make, by route and class of status, for /metrics: from the head of the request to the answer that is ready to be sent, so that a slow reader is not our slowness. A route is its pattern in
 * a table, never the address that was asked for: there are as many as we have, whatever is asked. Adding is two atomic additions, without a lock. Threads: safe. */
#ifndef SERVER_ROUTE_TIMES_H
#define SERVER_ROUTE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/worker_counts.h"
#include "server/api_context.h"

/* What is not in a table. Behind these come the numbers of the tables' routes (route_number). */
enum {
    ROUTE_NONE, /* nothing is there, or the request was refused before its address was looked at */
    ROUTE_LIST,
    ROUTE_RUN,
    ROUTE_COMPARE,
    ROUTE_STATUS,
    ROUTE_PINNED,
    ROUTE_HISTORY,
    ROUTE_FILE, /* of the pages */
    ROUTE_HEALTH,
    ROUTE_READY,
    ROUTE_METRICS,
    ROUTE_UPLOAD,
    ROUTE_FIXED_COUNT
};

size_t route_number(const struct route *route); /* one of api_routes, api_actions, api_v1_routes */
const char *route_name(size_t number);          /* static; its pattern */

#define STATUS_CLASSES 5 /* 1xx … 5xx */
extern const int64_t answer_bounds_us[TIME_BUCKETS];

struct route_times;

enum err_code route_times_new(struct route_times **ret, struct err *err) WARN_UNUSED;
void route_times_free(struct route_times *self);                                                      /* NULL is fine */
void route_times_add(struct route_times *self, size_t number, int status, int64_t us, int64_t bytes); /* bytes: of the body; below 0: not known yet */
size_t route_times_count(const struct route_times *self);
struct time_counts *route_times_of(struct route_times *self, size_t number, int status_class); /* borrowed */
int64_t route_times_bytes(struct route_times *self);                                           /* of all bodies */

#endif
