/* SPDX-License-Identifier: Apache-2.0 */
#include "server/on_demand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/map.h"
#include "base/time.h"
#include "base/units.h"
#include "server/app_lookup.h"
#include "server/server.h"

#define POLL_MS 25
#define REF_MAX_BYTES 200
#define REMEMBERED 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t hash;
    int64_t asked_ns;
} recent[REMEMBERED];
static atomic_int waiters;

static bool is_plausible(struct str ref)
{
    bool digit = false;
    for (size_t i = 0; i < ref.len; i++) {
        char c = ref.ptr[i];
        digit |= c >= '0' && c <= '9';
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
            return false;
    }
    return digit && ref.len <= REF_MAX_BYTES; /* schedulers count or tell the time in their ids */
}

/* Not within the last seconds. */
static bool is_due(struct str ref)
{
    uint64_t hash = hash_bytes(ref.ptr, ref.len);
    int64_t now_ns = time_monotonic_ns();
    pthread_mutex_lock(&lock);
    bool due = recent[hash % REMEMBERED].hash != hash || now_ns - recent[hash % REMEMBERED].asked_ns > (int64_t)ON_DEMAND_AGAIN_MS * NS_PER_MS;
    if (due) {
        recent[hash % REMEMBERED].hash = hash;
        recent[hash % REMEMBERED].asked_ns = now_ns;
    }
    pthread_mutex_unlock(&lock);
    return due;
}

void on_demand(struct api_ctx *ctx, const struct request *request, struct str ref)
{
    if (!is_plausible(ref) || !server_finds(ctx->server) || app_is_listed(ctx, request, ref))
        return;
    if (!is_due(ref))
        return;
    server_find(ctx->server, ref);
    int64_t until_ns = time_monotonic_ns() + (int64_t)ON_DEMAND_WAIT_MS * NS_PER_MS;
    if (atomic_fetch_add(&waiters, 1) < ON_DEMAND_WAITERS)
        while (time_monotonic_ns() < until_ns && !app_is_listed(ctx, request, ref))
            usleep(POLL_MS * 1000);
    atomic_fetch_sub(&waiters, 1);
}
