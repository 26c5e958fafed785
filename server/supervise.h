/* SPDX-License-Identifier: Apache-2.0
 *
 * The ingest child: `afterglow ingest --watch --control --store S PLACES…`, the same program file. It is started again, ever more slowly, when it dies: a log that kills the
 * worker costs the worker, not the server. The only channel to it is a pipe on its standard input: lines "want LOG_ID", "opened LOG_ID", "scan PLACE" and others (ingest/worker_control.h). When the server ends, however it ends, the child
 * reads end of file there and stops. A thread of its own watches; all functions may be called from any thread. */
#ifndef SERVER_SUPERVISE_H
#define SERVER_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

#define SUPERVISE_FIRST_DELAY_MS 1000
#define SUPERVISE_LONGEST_DELAY_MS 60000     /* a child that cannot start must not eat a core, and must be back within a minute once it can */
#define SUPERVISE_HEALTHY_MS 60000           /* a child that lived this long starts the ladder anew */
#define SUPERVISE_STOP_MS 10000              /* for its last commit, before it is killed */

struct ingest_status {
    bool enabled;                    /* there is a child to watch */
    bool running;
    int64_t restarts;                /* starts after the first */
    int64_t since_ms;                /* when it last started or ended; UNKNOWN: it never started */
    pid_t pid;                       /* -1: none runs */
    char message[256];               /* why it last ended; empty: it did not */
};

struct supervisor;

#define SUPERVISE_COUNTS_FD "3"              /* where the child finds its counts (base/worker_counts.h), as an argument */

/* argv is borrowed until supervise_free; argv[0] is the file to run; ends with NULL. counts_fd stays the caller's. */
enum err_code supervise_start(struct supervisor **ret, const char *const *argv, int counts_fd, struct err *err) WARN_UNUSED;
void supervise_status(struct supervisor *self, struct ingest_status *ret);
void supervise_opened(struct supervisor *self, int64_t log_id);   /* as supervise_want; a lost one is made good by the next */
void supervise_want(struct supervisor *self, int64_t log_id);     /* dropped when the pipe is full: the row in the list is asked for again */
void supervise_scan(struct supervisor *self, size_t place);       /* look at that one of the places now, by its position in argv, from 0; as above */
void supervise_find(struct supervisor *self, struct str app_id);   /* look for logs of that name; it has no control characters. As above */
void supervise_damaged(struct supervisor *self, int64_t log_id);  /* the file of that log's run cannot be read; 0: the catalogue. As above */
/* A view that somebody pinned: what follows "pin " in the line (ingest/worker_control.h), shorter than SUPERVISE_PIN_BYTES and without control characters. As below. */
#define SUPERVISE_PIN_BYTES 4000
bool supervise_pin(struct supervisor *self, struct str words) WARN_UNUSED;
/* What a person asked for once. False: it could not be told. */
bool supervise_reload(struct supervisor *self, int64_t log_id) WARN_UNUSED;
bool supervise_forget(struct supervisor *self, int64_t log_id) WARN_UNUSED;
void supervise_free(struct supervisor *self);                     /* closes the pipe, asks with SIGTERM, waits, at last kills; NULL is fine */

#endif
