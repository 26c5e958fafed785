/* SPDX-License-Identifier: Apache-2.0
 *
 * Several servers on one store: which of their workers writes. The one that holds the lock of STORE/writer.lock scans, loads, adopts, deletes; the others stand by, and one of them takes over
 * within WRITER_PAUSE_MS when the lock is free, however its holder ended. The file says who that is ("HOST PID"), for people.
 *
 * Whoever stands by does not touch the catalogue. What its server is asked for ("want 17", "find app-…", worker_control.h) it leaves as a wish: a file in STORE/wishes with the line, which
 * the writer takes within the same pause. So a run that is opened in any of the servers is loaded. */
#ifndef INGEST_WRITER_ROLE_H
#define INGEST_WRITER_ROLE_H

#include <stdbool.h>

#include "base/err.h"

#define WRITER_PAUSE_MS 1000
#define WRITER_NAME_BYTES 256
#define WISH_BYTES 8192              /* of a line; longer ones are dropped */
#define WISHES_MAX 1000              /* that lie there; further ones are dropped: nobody takes them */

/* *ret_fd: the lock, to be closed; −1: another process has it, and `holder` (WRITER_NAME_BYTES) says which. Makes the store where it is missing. */
enum err_code writer_role_take(const char *store_dir, int *ret_fd, char *holder, struct err *err) WARN_UNUSED;

/* Leaves a wish. What cannot be a line of ours, or written down, is lost, as a wish is when the writer is busy being replaced: who asks asks again. */
void wishes_put(const char *store_dir, const char *line);
/* Takes all that lie there, in no order. `each` may cut its line up. */
void wishes_take(const char *store_dir, void (*each)(void *context, char *line), void *context);

#endif
