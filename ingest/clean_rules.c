/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/clean_rules.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/units.h"

const char *clean_reason_word(enum clean_reason reason)
{
    static const char *const words[] = {[CLEAN_KEEP] = "", [CLEAN_AGE] = "age", [CLEAN_NUMBER] = "number", [CLEAN_ABANDONED] = "abandoned"};
    return words[reason];
}

static enum clean_reason by_age(const struct clean_log *log, const struct clean_rules *rules, int64_t now_ms)
{
    if (!log->settled)
        return CLEAN_KEEP;
    if (known(log->app) && !log->ended)
        return rules->abandoned && log->updated_ms < now_ms - rules->abandoned_after_ms ? CLEAN_ABANDONED : CLEAN_KEEP;
    return log->updated_ms < now_ms - rules->max_age_ms ? CLEAN_AGE : CLEAN_KEEP;
}

/* A log that is left after the first rule, in the order in which the second goes through them. */
struct left {
    struct clean_log *log;
    int64_t oldest_ms, newest_ms;       /* of its application */
};

static int compare_apps(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    if (x->log->app != y->log->app)
        return x->log->app > y->log->app ? 1 : -1;
    return (x->log->updated_ms > y->log->updated_ms) - (x->log->updated_ms < y->log->updated_ms);
}

static int compare_oldest(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    if (x->oldest_ms != y->oldest_ms)
        return x->oldest_ms > y->oldest_ms ? 1 : -1;
    return compare_apps(a, b);
}

static bool same_app(const struct left *left, size_t i)      /* as the one before */
{
    return i > 0 && left[i].log->app == left[i - 1].log->app;
}

/* `unsettled_ms`: the oldest log that cannot be judged yet. Its turn would come before that of applications that have a newer one: they wait. */
static void by_number(struct left *left, size_t count, int64_t surplus, int64_t unsettled_ms)
{
    qsort(left, count, sizeof *left, compare_apps);
    for (size_t i = 0; i < count; i++)
        left[i].oldest_ms = same_app(left, i) ? left[i - 1].oldest_ms : left[i].log->updated_ms;
    for (size_t i = count; i-- > 0;)
        left[i].newest_ms = i + 1 < count && same_app(left, i + 1) ? left[i + 1].newest_ms : left[i].log->updated_ms;
    qsort(left, count, sizeof *left, compare_oldest);
    for (size_t i = 0; i < count; i++) {
        struct clean_log *log = left[i].log;
        if (!same_app(left, i) && (surplus <= 0 || left[i].newest_ms >= unsettled_ms))
            return;
        if (log->ended && log->settled) {
            log->reason = CLEAN_NUMBER;
            surplus--;
        }
    }
}

int clean_choose(struct clean_log *logs, size_t count, const struct clean_rules *rules, int64_t now_ms)
{
    size_t left_count = 0, app_count = 0;
    int64_t unsettled_ms = INT64_MAX;
    struct left *left = mem_array(count ? count : 1, sizeof *left);
    for (size_t i = 0; i < count; i++) {
        logs[i].reason = left ? by_age(&logs[i], rules, now_ms) : CLEAN_KEEP;
        if (!left || logs[i].reason)
            continue;
        left_count++;
        if (!logs[i].settled && (logs[i].ended || !known(logs[i].app)))      /* one that runs does not go in any case */
            unsettled_ms = MIN(unsettled_ms, logs[i].updated_ms);
        if (known(logs[i].app))
            left[app_count++].log = &logs[i];
    }
    if (left && known(rules->max_count) && (int64_t)left_count > rules->max_count)
        by_number(left, app_count, (int64_t)left_count - rules->max_count, unsettled_ms);
    mem_free(left);
    return left ? 0 : -1;
}

bool clean_is_settled(int64_t first_seen_ms, int64_t settle_ms, int64_t now_ms)
{
    return first_seen_ms <= now_ms - settle_ms || first_seen_ms > now_ms + CLEAN_CLOCK_STEP_MS;
}

bool clean_clock_was_set(int64_t *offset_ms, int64_t now_ms, int64_t boot_ms)
{
    int64_t before_ms = *offset_ms;
    *offset_ms = now_ms - boot_ms;
    return known(before_ms) && (*offset_ms - before_ms > CLEAN_CLOCK_STEP_MS || before_ms - *offset_ms > CLEAN_CLOCK_STEP_MS);
}
