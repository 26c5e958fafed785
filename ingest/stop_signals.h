/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGTERM and SIGINT ask the worker to stop; a second one kills. A broken pipe is an error to be returned, not a death. Signals are the
 * process's: one worker at a time. */
#ifndef INGEST_STOP_SIGNALS_H
#define INGEST_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* What was in force before; filled by stop_signals_catch. */
struct stop_signals {
    struct sigaction old_term, old_int, old_pipe;
    sigset_t old_mask;
};

/* From here on a signal writes a byte to `wake_fd` (borrowed, non-blocking). */
void stop_signals_catch(struct stop_signals *self, int wake_fd);
bool stop_signals_came(void);
void stop_signals_restore(const struct stop_signals *self);

#endif
