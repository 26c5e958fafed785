/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns of the list of applications, in memory: what it can be sorted and filtered by, for every row of table app. SQL has no index for each pair of a filter and an
 * order, so that it reads all rows for most of them; from memory any page of 100,000 runs is found within a few milliseconds. The items themselves are read from the catalogue.
 *
 * The table follows the catalogue by its change numbers (schema.sql, app_change): before it is used, the rows that changed since are read again, whatever the number of rows;
 * everything only when the catalogue is new or another one. Some 250 bytes a run: 25 MB for 100,000. Threads: safe; those who look share it, one that brings it up to date is
 * alone.
 *
 * Runs of one job are those with the same run key (schema.sql, run_history): a page can be folded to the newest run of each job, and it knows the earlier runs of each of its rows. */
#ifndef SERVER_API_APP_TABLE_H
#define SERVER_API_APP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/finding.h"
#include "base/err.h"
#include "base/str.h"
#include "server/access.h"
#include "server/db_pool.h"

enum app_column {
    /* numbers */
    APP_START,
    APP_END,
    APP_DURATION,
    APP_TASKS,
    APP_FAILED_TASKS,
    APP_STAGES,
    APP_JOBS,
    APP_TASK_TIME,
    APP_INPUT,
    APP_SHUFFLE_READ,
    APP_SPILL,
    APP_SEVERITY,                    /* the worst finding, then what would be saved */
    APP_SAVING,
    APP_BUSY,                        /* share of slot time, in millionths */
    APP_COMPLETENESS,
    APP_NUMBER_COUNT,
    /* texts */
    APP_NAME = APP_NUMBER_COUNT,
    APP_USER,
    APP_SPARK_VERSION,
    APP_QUEUE,
    APP_STATE,                       /* of the log; the last one that can be an order (apps.c) */
    APP_FLAGS,                       /* of the log */
    APP_OUTCOME,
    APP_PLACE,                       /* of the log: its name, or where it is */
    APP_VIEW_USERS,                  /* who may see the run beside its owner (access.h) */
    APP_VIEW_GROUPS,
    APP_COLUMN_COUNT,
};

/* What is asked for. Texts without a length and unknown numbers do not filter. */
struct app_filter {
    struct str q;                    /* within name, id or user, or words of a rule that shows (its id, its name in any language); letters of ASCII in either case, as SQL's LIKE */
    struct str flags;                /* the same within the flags */
    struct str user, state, outcome, queue, place;       /* exactly */
    const struct rule *rule;         /* shows; NULL: any */
    int64_t same_job_as;             /* rowid: runs of its job, itself among them; UNKNOWN: any. A row that is not there has none */
    int64_t from_ms, to_ms;          /* of the start */
    int64_t least_duration_ms;
    int64_t grade;                   /* least of the worst finding; 0: any */
    int complete;                    /* 0, 1; -1: any */
    bool damaged;                    /* only those of logs of which something could not be read */
    const struct viewer *viewer;     /* borrowed; runs that they may not see are as if they were not there */
};

/* How it is shown. */
struct app_order {
    enum app_column column;          /* unknown values are last either way, equal ones go by rowid */
    bool descending;
    bool folded;                     /* of the runs of one job that match only the newest; runs of no known job are all there */
    int64_t history;                 /* so many runs of its job with each row, itself among them: the newest ones, or those that end with it; 0: none */
};

/* Runs of the job of a row, by start. */
struct app_history {
    int64_t total;                   /* all of them that the viewer may see */
    size_t first, count;             /* in app_page.runs */
};

/* A page. */
struct app_page {
    int64_t all;                     /* rows of table app that the viewer may see */
    int64_t matched;                 /* rows that pass the filter; folded: jobs */
    int64_t *rowids;                 /* owned */
    size_t count;
    struct app_history *histories;   /* owned; as rowids; NULL: none were asked for */
    int64_t *runs;                   /* owned; rowids */
};

/* SQL over a row l of table log: something of the log could not be read. */
#define LOG_IS_DAMAGED "(' ' || l.flags || ' ' GLOB '* cut *' OR ' ' || l.flags || ' ' GLOB '* lines *' OR ' ' || l.flags || ' ' GLOB '* gap *' OR ' ' || l.flags || ' ' GLOB '* unreadable *')"

struct app_table;

enum err_code app_table_new(struct app_table **ret, struct err *err) WARN_UNUSED;

/* Brings the table up to the state of a lent catalogue. */
enum err_code app_table_refresh(struct app_table *self, const struct db_lease *catalog, struct err *err) WARN_UNUSED;

/* The rows [(page - 1) * limit, page * limit) of those that match, after a refresh. `further` rows of another kind follow them: a page beyond the end of both becomes the last,
 * which is written to *page. Dispose in every case. */
enum err_code app_table_page(struct app_table *self, const struct db_lease *catalog, const struct app_filter *filter, const struct app_order *order, int64_t further, int64_t limit,
                             int64_t *page, struct app_page *ret, struct err *err) WARN_UNUSED;
void app_page_dispose(struct app_page *page);

/* What can be filtered by, of the runs that a viewer may see: each value and how many runs have it, the most frequent first, at most APP_FACETS of each kind. */
#define APP_FACETS 200
enum app_facet_kind { FACET_RULE, FACET_USER, FACET_QUEUE, FACET_PLACE, FACET_KIND_COUNT };
struct app_facet {
    struct str text;                 /* a rule's id, or the text; borrowed from the table: valid within `each` */
    int64_t run_count;
};
typedef void app_facet_fn(void *context, enum app_facet_kind kind, const struct app_facet *facet);
/* *ret_totals: how many values there are of each kind. */
enum err_code app_table_facets(struct app_table *self, const struct db_lease *catalog, const struct viewer *viewer, app_facet_fn *each, void *context, int64_t ret_totals[FACET_KIND_COUNT],
                               struct err *err) WARN_UNUSED;

void app_table_free(struct app_table *self);     /* NULL is fine */

#endif
