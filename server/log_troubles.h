/* SPDX-License-Identifier: Apache-2.0
 *
 * Why logs are not (wholly) in the list, as one word each, from what the catalogue says of a log: for /metrics and for the page of the server's state.
 *
 *     crashed        loading it ended the ingest process twice: it is set aside
 *     unreadable     nothing in it could be read, or more than can be held
 *     damaged        it is loaded, and something of it could not be read
 *     put_off        there was no memory, no space on the disk, or no way to write the store: it is tried again
 *     not_permitted  it may not be opened
 *     not_a_log      a file among the logs that is none
 *     empty          nothing is in it yet
 *     forgotten      an administrator had it forgotten */
#ifndef SERVER_LOG_TROUBLES_H
#define SERVER_LOG_TROUBLES_H

#include "base/db.h"

#define LOG_TROUBLE_COUNT 8
extern const char *const log_troubles[LOG_TROUBLE_COUNT];

#define LOG_STATE_COUNT 8
extern const char *const log_states[LOG_STATE_COUNT];        /* log.state of the catalogue */

/* How many logs the catalogue has of each. */
struct log_counts {
    int64_t states[LOG_STATE_COUNT], troubles[LOG_TROUBLE_COUNT];
    int64_t waiting_bytes;                                   /* of those that wait to be loaded or are being loaded */
};
enum err_code log_counts_read(struct log_counts *ret, struct db *catalog, struct err *err) WARN_UNUSED;

/* For a SELECT on log: the word, NULL for logs without trouble, copies of a run among them; and a condition that leaves out most of those by an index. */
#define LOG_TROUBLE_SQL \
    "CASE state WHEN 'failed' THEN iif(tries > 0, 'crashed', 'unreadable') WHEN 'partial' THEN 'damaged' WHEN 'waiting' THEN iif(reason IS NULL, NULL, 'put_off') " \
    "WHEN 'skipped' THEN CASE WHEN flags LIKE '%not-a-log%' THEN 'not_a_log' WHEN flags LIKE '%unreadable%' THEN 'not_permitted' WHEN flags LIKE '%empty%' THEN 'empty' " \
    "WHEN flags LIKE '%forgotten%' THEN 'forgotten' END END"
#define LOG_TROUBLE_WHERE "state IN ('failed', 'partial', 'waiting', 'skipped')"

#endif
