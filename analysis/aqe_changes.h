/* SPDX-License-Identifier: Apache-2.0
 *
 * What adaptive execution changed while queries ran (spec/findings.md 10.3): each version of a plan against the one before it. Nodes have no names that last from version to version, but their
 * texts do: joins are known by their keys, shuffle reads by the shuffle below them. Numbers (partitions, sizes, the stage that was fed) are those of the latest version. One thread. */
#ifndef ANALYSIS_AQE_CHANGES_H
#define ANALYSIS_AQE_CHANGES_H

#include "analysis/facts.h"

enum aqe_change_kind { AQE_COALESCED, AQE_SKEW_SPLIT, AQE_LOCAL_READ, AQE_JOIN, AQE_EMPTY, AQE_REUSED, AQE_BROADCAST_ABANDONED, AQE_CHANGE_KIND_COUNT };
extern const char *const aqe_change_names[AQE_CHANGE_KIND_COUNT];

struct aqe_change {
    int64_t execution_id, version, logged_ms;
    enum aqe_change_kind kind;
    uint64_t identity;
    int64_t node_id;                            /* in the latest version; UNKNOWN: it is not there any more */
    struct str text;                            /* of the node, cut; owned by the changes */
    struct str before, after;                   /* strategies of a join; STR_NONE */
    double partitions_before, partitions_after; /* NaN: unknown, or no shuffle read; after: of a skew split, too */
    double skewed, splits;
    double size_min, size_median, size_max; /* bytes of its partitions */
    double shuffle_bytes;                   /* that had been written before the change */
    uint32_t stage;                         /* the one it feeds; NO_ENTITY */
    int64_t replanning_ms;                  /* from the update to the next job of the query, all changes of one update alike; UNKNOWN: none followed */
};

struct aqe_changes {
    struct arena arena;
    struct aqe_change *rows; /* by (execution, version); owned */
    size_t count;
};

enum err_code aqe_changes_make(struct aqe_changes *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void aqe_changes_dispose(struct aqe_changes *self);
enum err_code aqe_changes_store(const struct aqe_changes *self, const struct facts *facts, struct db *db, struct err *err) WARN_UNUSED;

#endif
