/* SPDX-License-Identifier: Apache-2.0
 *
 * The addresses of an executor's logs: as logged, or made from the operator's pattern (spark.history.custom.executor.log.url; spec/core.md §3.9, spec/files.md §5.5).
 * {{NAME}} in the pattern is the executor's attribute NAME, as it is: the History Server encodes nothing either. With {{FILE_NAME}} there is an address for each file in the
 * attribute LOG_FILES (comma-separated), named after it; without, one named "log". Where an attribute is missing the addresses are those of the log.
 * Attributes are text of a log: an address is at most EXECUTOR_LOG_BYTES, of files the first EXECUTOR_LOG_FILES count; an address that would be longer is left out. */
#ifndef SERVER_EXECUTOR_LOGS_H
#define SERVER_EXECUTOR_LOGS_H

#include "base/buf.h"
#include "base/db.h"
#include "server/server.h"

#define EXECUTOR_LOG_BYTES ((size_t)16 << 10)
#define EXECUTOR_LOG_FILES 100

/* Prepared once for many executors. */
struct executor_logs {
    struct str pattern;              /* borrowed; STR_NONE: as logged */
    sqlite3_stmt *logged, *attribute;
    struct buf address, files;
};

/* Takes `name` and `address`, borrowed during the call; STR_NONE: the log has null there. */
typedef void executor_log_fn(void *context, struct str name, struct str address);

/* `db`: of the run. Dispose in every case. */
enum err_code executor_logs_init(struct executor_logs *self, const struct server *server, struct db *db, struct err *err) WARN_UNUSED;
void executor_logs_dispose(struct executor_logs *self);

/* Calls `take` for each log of the executor. */
enum err_code executor_logs_each(struct executor_logs *self, int64_t executor_ref, executor_log_fn *take, void *context, struct err *err) WARN_UNUSED;

#endif
