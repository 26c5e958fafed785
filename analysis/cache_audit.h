/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cached RDDs were worth it (spec/findings.md 10.2): who filled one, who read it, how much of it stayed, what it saved and how long it lay there unread. How much was cached is
 * known from logged block updates alone (spark.eventLog.logBlockUpdates.enabled, off by default); without them those numbers are UNKNOWN and NaN. One thread. */
#ifndef ANALYSIS_CACHE_AUDIT_H
#define ANALYSIS_CACHE_AUDIT_H

#include "analysis/judge.h"
#include "analysis/lineage.h"

enum cache_verdict {
    CACHE_UNTOUCHED, /* persist() was called, no task computed it */
    CACHE_UNUSED,    /* filled and never read */
    CACHE_PARTIAL,   /* less than all of it was ever there */
    CACHE_LEAKED,    /* kept long after its last use */
    CACHE_LEVEL,     /* as objects it takes more than half of the memory, or much of it lies on disks */
    CACHE_USEFUL,
    CACHE_UNPROVEN, /* it was read; how much of it was there is not in the log */
    CACHE_VERDICT_COUNT
};
extern const char *const cache_verdict_names[CACHE_VERDICT_COUNT];

struct cache_row {
    uint32_t rdd;                   /* position in facts */
    uint32_t built_by, last_reader; /* positions of stages; NO_ENTITY */
    size_t first_use, use_count;    /* its stages: lineage.met[first_use …] */
    bool filled_ahead;              /* in a job of its own, and the first use behind it is that of the query which asked for it: no read */
    size_t read_count;              /* stages behind the first whose tasks report input, in other jobs or the same */
    int64_t last_read_ms;           /* end of the last of them; UNKNOWN */
    int64_t partitions, most_partitions, evicted_partitions, most_memory_bytes, most_disk_bytes;
    int64_t unpersist_ms; /* UNKNOWN: it stayed to the end */
    double held_byte_ms;  /* Σ bytes × time */
    double fraction;      /* most_partitions ÷ partitions; NaN: unknown, or no stage ever asked for all of them */
    double
        missing_share; /* of the reading tasks, those that report no input: what is known of `fraction` without block updates; NaN: nobody read, or all of a stage's reads are mixed */
    double build_ms;      /* Σ o' of the stages that filled it and of those that ran for them alone */
    double saved_ms;      /* at most: reads × build × fraction ÷ slots; without a fraction as if all of it stayed */
    double storage_share; /* most_memory_bytes ÷ the mean storage memory of the executors; NaN */
    enum cache_verdict verdict;
};

struct cache_audit {
    struct lineage lineage;
    struct cache_row *rows; /* by RDD; owned */
    size_t count;
    double storage_bytes; /* mean storage memory over the run; NaN: the log does not say */
};

enum err_code cache_audit_make(struct cache_audit *ret, const struct judged *judged, struct err *err) WARN_UNUSED;
void cache_audit_dispose(struct cache_audit *self);
/* How much of the run it lay there after its last read; NaN: nobody read it. */
double cache_idle_share(const struct cache_row *row, const struct facts *facts);
/* Into table cache_audit. */
enum err_code cache_audit_store(const struct cache_audit *self, const struct facts *facts, struct db *db, struct err *err) WARN_UNUSED;

#endif
