/* SPDX-License-Identifier: Apache-2.0 */
#include "server/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"

extern char **environ;

struct supervisor {
    const char *const *argv;         /* borrowed */
    int counts_fd;                   /* borrowed */
    pthread_mutex_t lock;
    pthread_cond_t changed;          /* stopping, or the child ended; monotonic clock */
    pthread_t watcher;
    bool stopping;
    pid_t child;                     /* -1: none runs */
    int control;                     /* our end of its standard input; -1: none */
    struct ingest_status status;
};

/* Waits on `changed` with the lock held. */
static void wait_ms(struct supervisor *self, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * NS_PER_MS;
    if (until.tv_nsec >= 1000L * NS_PER_MS) {
        until.tv_sec++;
        until.tv_nsec -= 1000L * NS_PER_MS;
    }
    pthread_cond_timedwait(&self->changed, &self->lock, &until);
}

/* The child gets one end of a pipe as standard input, the counts as its third descriptor, our standard error as both outputs, and the signals as a fresh program has them. */
static int spawn(const char *const *argv, int counts_fd, pid_t *ret_pid, int *ret_control)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTERM);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int code = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, counts_fd, atoi(SUPERVISE_COUNTS_FD));
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    /* A group of its own: Ctrl-C in a terminal is for the server, which then ends the child in order. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (!code)
        code = posix_spawn(ret_pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[0]);
    if (code) {
        close(ends[1]);
        return code;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *ret_control = ends[1];
    return 0;
}

static void close_control(struct supervisor *self)
{
    if (self->control >= 0)
        close(self->control);
    self->control = -1;
}

/* Blocks until the child ends; lock held on entry and exit, not in between. Reaps under the lock, so that nobody signals a number that is another's by now. */
static void await_child(struct supervisor *self)
{
    pid_t child = self->child;
    siginfo_t info;
    pthread_mutex_unlock(&self->lock);
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    pthread_mutex_lock(&self->lock);
    int how = 0;
    waitpid(child, &how, 0);
    self->child = -1;
    self->status.running = false;
    self->status.pid = -1;
    self->status.since_ms = time_now_ms();
    close_control(self);
    if (WIFSIGNALED(how))
        snprintf(self->status.message, sizeof self->status.message, "the ingest process was ended by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(self->status.message, sizeof self->status.message, "the ingest process ended with exit status %d", WEXITSTATUS(how));
    pthread_cond_broadcast(&self->changed);
}

static void *watch(void *context)
{
    struct supervisor *self = context;
    int64_t delay_ms = SUPERVISE_FIRST_DELAY_MS;
    pthread_mutex_lock(&self->lock);
    for (bool first = true; !self->stopping; first = false) {
        int64_t begin_ns = time_monotonic_ns();
        int code = spawn(self->argv, self->counts_fd, &self->child, &self->control);
        if (code) {
            self->child = -1;
            snprintf(self->status.message, sizeof self->status.message, "the ingest process cannot be started: %s", strerror(code));
        } else {
            self->status.running = true;
            self->status.pid = self->child;
            self->status.since_ms = time_now_ms();
            self->status.restarts += !first;
            await_child(self);
        }
        if ((time_monotonic_ns() - begin_ns) / NS_PER_MS >= SUPERVISE_HEALTHY_MS)
            delay_ms = SUPERVISE_FIRST_DELAY_MS;
        for (int64_t end_ns = time_monotonic_ns() + delay_ms * NS_PER_MS, now; !self->stopping && (now = time_monotonic_ns()) < end_ns;)
            wait_ms(self, (end_ns - now) / NS_PER_MS + 1);
        delay_ms = MIN(delay_ms * 2, (int64_t)SUPERVISE_LONGEST_DELAY_MS);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

enum err_code supervise_start(struct supervisor **ret, const char *const *argv, int counts_fd, struct err *err)
{
    *ret = NULL;
    struct supervisor *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->argv = argv;
    self->counts_fd = counts_fd;
    self->child = self->status.pid = -1;
    self->status.since_ms = UNKNOWN;
    self->control = -1;
    self->status.enabled = true;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&self->lock, NULL);
    int code = pthread_create(&self->watcher, NULL, watch, self);
    if (code) {
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->lock);
        mem_free(self);
        return err_set_errno(err, code, "the thread that watches the ingest process cannot be started");
    }
    *ret = self;
    return ERR_OK;
}

void supervise_status(struct supervisor *self, struct ingest_status *ret)
{
    pthread_mutex_lock(&self->lock);
    *ret = self->status;
    pthread_mutex_unlock(&self->lock);
}

/* False: nobody reads, or the pipe is full. */
static bool tell(struct supervisor *self, const char *line)
{
    pthread_mutex_lock(&self->lock);
    bool told = self->control >= 0 && write(self->control, line, strlen(line)) > 0;      /* lines are shorter than PIPE_BUF: written whole or not at all */
    if (!told && self->control >= 0 && errno == EPIPE)
        close_control(self);
    pthread_mutex_unlock(&self->lock);
    return told;
}

static bool tell_of(struct supervisor *self, const char *word, int64_t number)
{
    char line[48];
    snprintf(line, sizeof line, "%s %" PRId64 "\n", word, number);
    return tell(self, line);
}

void supervise_want(struct supervisor *self, int64_t log_id)
{
    tell_of(self, "want", log_id);
}

void supervise_opened(struct supervisor *self, int64_t log_id)
{
    tell_of(self, "opened", log_id);
}

void supervise_scan(struct supervisor *self, size_t place)
{
    tell_of(self, "scan", (int64_t)place);
}

void supervise_damaged(struct supervisor *self, int64_t log_id)
{
    tell_of(self, "damaged", log_id);
}

bool supervise_reload(struct supervisor *self, int64_t log_id)
{
    return tell_of(self, "reload", log_id);
}

bool supervise_forget(struct supervisor *self, int64_t log_id)
{
    return tell_of(self, "forget", log_id);
}

bool supervise_pin(struct supervisor *self, struct str words)
{
    char line[SUPERVISE_PIN_BYTES + 8];
    if (words.len >= SUPERVISE_PIN_BYTES)
        return false;
    snprintf(line, sizeof line, "pin %.*s\n", (int)words.len, words.ptr);
    return tell(self, line);
}

void supervise_find(struct supervisor *self, struct str app_id)
{
    char line[300];
    snprintf(line, sizeof line, "find %.*s\n", (int)MIN(app_id.len, (size_t)250), app_id.ptr);
    tell(self, line);
}

void supervise_free(struct supervisor *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    close_control(self);
    if (self->child > 0)
        kill(self->child, SIGTERM);
    pthread_cond_broadcast(&self->changed);
    for (int64_t end_ns = time_monotonic_ns() + (int64_t)SUPERVISE_STOP_MS * NS_PER_MS, now; self->child > 0 && (now = time_monotonic_ns()) < end_ns;)
        wait_ms(self, (end_ns - now) / NS_PER_MS + 1);
    if (self->child > 0)
        kill(self->child, SIGKILL);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->watcher, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}
