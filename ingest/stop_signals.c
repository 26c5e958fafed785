/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/stop_signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t signalled;
static int signal_fd = -1;

static void on_signal(int number)
{
    int saved = errno;
    (void)number;
    signalled = 1;
    if (signal_fd >= 0 && write(signal_fd, "s", 1) < 0) { /* full: awake anyway */ }
    errno = saved;
}

void stop_signals_catch(struct stop_signals *self, int wake_fd)
{
    const struct sigaction stop = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, ignore = {.sa_handler = SIG_IGN};
    signalled = 0;
    signal_fd = wake_fd;
    sigaction(SIGTERM, &stop, &self->old_term);
    sigaction(SIGINT, &stop, &self->old_int);
    sigaction(SIGPIPE, &ignore, &self->old_pipe);
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &stops, &self->old_mask);       /* a parent may have left them blocked */
}

bool stop_signals_came(void)
{
    return signalled;
}

void stop_signals_restore(const struct stop_signals *self)
{
    signal_fd = -1;
    sigaction(SIGTERM, &self->old_term, NULL);
    sigaction(SIGINT, &self->old_int, NULL);
    sigaction(SIGPIPE, &self->old_pipe, NULL);
    pthread_sigmask(SIG_SETMASK, &self->old_mask, NULL);
}
