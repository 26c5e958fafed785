/* SPDX-License-Identifier: Apache-2.0
 *
 * Which logs the cleaner deletes: the rules of the History Server's FsHistoryProvider.cleanLogs (spec/files.md 5.4, tried against a 4.3.0 by tests/api/cleaner.py), with the one
 * difference that a log without an end is not deleted for its age unless that is asked for. A pure function of what the catalogue knows; the dry run and the cleaner both ask it.
 *
 * 1. Age: of an application all attempts go that were last updated before now - max_age_ms; also logs that hold no application.
 * 2. Number: where more than max_count logs are left, whole applications lose their ended attempts, that with the oldest attempt first, until no more than that are left. It may be
 *    fewer then.
 * 3. Ours: a log without an end goes only with `abandoned`, when its updated_ms is abandoned_after_ms ago; the same age for which the list calls it abandoned. */
#ifndef INGEST_CLEAN_RULES_H
#define INGEST_CLEAN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

enum clean_reason { CLEAN_KEEP, CLEAN_AGE, CLEAN_NUMBER, CLEAN_ABANDONED };
const char *clean_reason_word(enum clean_reason reason);     /* "age", "number", "abandoned"; "" of CLEAN_KEEP */

struct clean_log {
    int64_t app;             /* equal for attempts of one application; UNKNOWN: the log holds none */
    int64_t updated_ms;      /* when it last changed: its modification time, or when it was seen to grow; without an end at least when it was first seen, as a name node may tell an
                                old time of a log that is being written */
    bool ended;              /* its end record was read */
    bool settled;            /* it was looked at more than once, has not changed, and nobody is reading it: it may go */
    enum clean_reason reason;        /* out */
};

struct clean_rules {
    int64_t max_age_ms, max_count;   /* max_count UNKNOWN: any number */
    bool abandoned;
    int64_t abandoned_after_ms;
};

/* Sets the reason of each. Logs that are not settled count and stay, and the second rule waits for them where they are older. -1: out of memory, and all are kept. */
int clean_choose(struct clean_log *logs, size_t count, const struct clean_rules *rules, int64_t now_ms) WARN_UNUSED;

/* Was the log first seen long enough ago for a second scan to have seen it? By a clock that ran ahead and was set back since, too. */
bool clean_is_settled(int64_t first_seen_ms, int64_t settle_ms, int64_t now_ms);

/* Has the wall clock been set since the last call, by more than CLEAN_CLOCK_STEP_MS? What is old by a clock that jumped must not go at once. `boot_ms` is a clock that nobody
 * sets and that counts sleep; *offset_ms is kept from call to call, UNKNOWN before the first. */
#define CLEAN_CLOCK_STEP_MS ((int64_t)3600000)
bool clean_clock_was_set(int64_t *offset_ms, int64_t now_ms, int64_t boot_ms);

#endif
