/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of SQL executions, one after the other, each in memory while it is looked at: its graph (schema.sql, sql_node and sql_edge), the sums of its metrics, and which stages
 * ran a node. What names and texts mean stands in spec/sql.md 10; both are those of the log, any bytes. Memory: that of the largest plan. One thread.
 *
 *      struct plan_reader *reader; const struct plan *plan;
 *      plan_reader_open(&reader, facts, PLANS_LATEST, err);
 *      while ((rc = plan_next(reader, &plan, err)) == ERR_OK) …        rc is ERR_EOF at the end
 *      plan_reader_close(reader); */
#ifndef ANALYSIS_PLAN_H
#define ANALYSIS_PLAN_H

#include <string.h>

#include "analysis/facts.h"

struct plan_metric {
    int64_t accumulator_id;
    struct str name;                 /* without the suffixes of Spark 2: " total (min, med, max)", " (bytes)", " (ms)" */
    struct str type;                 /* sum size timing nsTiming average … */
    int64_t total, min, median, max; /* UNKNOWN: nobody reported it */
    int64_t reported_count;
    int64_t max_stage_id, max_stage_attempt, max_task_id;
};

struct plan_node {
    int64_t node_id;
    struct str name;                    /* without blanks at its end */
    struct str text;                    /* simpleString: its first PLAN_TEXT_BYTES */
    size_t text_bytes;                  /* all of it */
    struct str metadata;                /* JSON object of texts; STR_NONE */
    bool is_cluster;                    /* WholeStageCodegen: has no edges */
    bool is_subquery;                   /* its rows do not flow into its parent */
    uint32_t cluster;                   /* position of the WholeStageCodegen that it is in; NO_ENTITY */
    const uint32_t *children, *parents; /* positions, in the order of the log; data flows from child to parent */
    size_t child_count, parent_count;
    const uint32_t *metrics; /* positions in plan->metrics */
    size_t metric_count;
    double rows; /* that leave it: its own count, or that of the nodes below where it makes none and changes none; NaN: unknown */
};

struct plan {
    const struct facts *facts;
    int64_t execution_id;
    uint32_t sql;    /* position in facts->sqls */
    int64_t version; /* 0: as it began */
    bool latest, final;
    bool too_large;     /* no graph is stored */
    int64_t text_bytes; /* of its plan text; UNKNOWN: none */
    int64_t logged_ms;
    const struct plan_node *nodes; /* ascending node ids */
    size_t node_count;
    const struct plan_metric *metrics; /* of the execution, ascending accumulator ids; none of plans that are not the latest */
    size_t metric_count;
};

#define PLAN_TEXT_BYTES 8192
#define PLAN_MAX_NODES ((size_t)1 << 20) /* ingest stores 100,000 at most */
#define PLAN_ARENA_BYTES ((size_t)1 << 30)

struct plan_reader;
/* The latest plan of each execution; or all versions of those executions that have more than one. By execution and version. */
enum plans { PLANS_LATEST, PLANS_CHANGED };
enum err_code plan_reader_open(struct plan_reader **ret, const struct facts *facts, enum plans which, struct err *err) WARN_UNUSED;
void plan_reader_close(struct plan_reader *self);
/* Valid until the next call. ERR_EOF: there is no more. */
enum err_code plan_next(struct plan_reader *self, const struct plan **ret, struct err *err) WARN_UNUSED;
/* Stage attempts of the present execution whose tasks reported this metric: positions, ascending; valid until the next call of plan_next. */
enum err_code plan_stages(struct plan_reader *self, int64_t accumulator_id, const uint32_t **ret, size_t *ret_count, struct err *err) WARN_UNUSED;

/* Whether the node is `name`, or "name(…", "name …" of that family: SortMergeJoin(skew=true), Scan parquet t. */
static inline bool plan_named(const struct plan_node *node, const char *name)
{
    if (!node->name.len || node->name.ptr[0] != name[0]) /* asked some fifty times a node: most names end here */
        return false;
    size_t len = strlen(name);
    return node->name.len >= len && memcmp(node->name.ptr, name, len) == 0 && (node->name.len == len || node->name.ptr[len] == '(' || node->name.ptr[len] == ' ');
}
bool plan_is_scan(const struct plan_node *node); /* of files, tables, other systems; not of rows that are there already */
bool plan_is_join(const struct plan_node *node);
bool plan_is_shuffle(const struct plan_node *node);      /* Exchange, and what accelerators put in its place */
bool plan_is_shuffle_read(const struct plan_node *node); /* AQEShuffleRead, before 3.2 CustomShuffleReader */
bool plan_is_python(const struct plan_node *node);
/* The metric of that name, NULL where the node has none or nobody reported it. */
const struct plan_metric *plan_metric(const struct plan *plan, const struct plan_node *node, const char *name);
double plan_total(const struct plan *plan, const struct plan_node *node, const char *name); /* NaN: none */
/* Times as milliseconds, whichever unit their type has. */
double plan_total_ms(const struct plan *plan, const struct plan_node *node, const char *name);
/* The only data child; NO_ENTITY where there are none or several. */
uint32_t plan_child(const struct plan *plan, const struct plan_node *node);
/* From `from` down through operators that keep all rows apart and have one child (sort, shuffle read, project …) to the first shuffle; NO_ENTITY: another operator comes first. */
uint32_t plan_shuffle_below(const struct plan *plan, uint32_t from);
/* A text of the node's metadata into `arena`; STR_NONE: it has none. */
struct str plan_metadata(const struct plan_node *node, const char *key, struct arena *arena);
/* Behind "key: " in the text of a scan, up to the next ", Key: ": a part of the node's text. */
struct str plan_text_field(const struct plan_node *node, const char *key);
/* Text with what differs from run to run as '#' or '?' (spec/findings.md 9.2): expression and plan ids, generated numbers. The hash is stable across processes. */
uint64_t plan_text_hash(struct str text, uint64_t seed);

#endif
