/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/backfill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/directories.h"
#include "base/file_copy.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/load_verdict.h"
#include "ingest/stop_signals.h"
#include "ingest/store/catalog_arrivals.h"
#include "place/place.h"

#define ANSWER_BYTES ((size_t)1 << 20)       /* of one log: a path and some words */
#define SCRATCH_BYTES 4200
#define STORE_FAILED 9               /* exit status of a process whose log another try may read */

struct slot {
    char dir[SCRATCH_BYTES];         /* a store of its own, for one log at a time */
    pid_t child;                     /* 0: free */
    int output;                      /* what it answers */
    struct buf answer;
    char line[BACKFILL_LINE_BYTES];
};

struct backfill {
    const struct backfill_options *options;
    struct worker_summary *summary;
    char scratch[SCRATCH_BYTES - 40];
    struct slot *slots;
    size_t slot_count;
    int wake[2];
    char pending[BACKFILL_LINE_BYTES + 1];   /* what was read and is no whole line yet */
    size_t pending_len;
    bool too_long;                   /* the line that is being read; its rest is dropped */
    bool ended;                      /* the input */
};

/* ---- one log, in a process of its own */

/* A name that no other process writes to, on whatever machine. */
static enum err_code deliver(const char *made, const char *store_dir, const char *app_key, struct err *err)
{
    char host[65] = "", part[4400], to[4400];
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        *c = *c == '/' ? '_' : *c;
    snprintf(to, sizeof to, "%s/" ARRIVALS_DIR "/%s.db", store_dir, app_key);
    snprintf(part, sizeof part, "%s/" ARRIVALS_DIR "/.%s.%s.%ld" ARRIVALS_PART, store_dir, app_key, host, (long)getpid());
    enum err_code rc = file_copy(made, part, true, err);
    if (!rc && rename(part, to))
        rc = err_set_errno(err, errno, "%s", to);
    if (rc)
        unlink(part);
    return rc;
}

/* Is there a database of the log as it is now? Then there is nothing to do, and *ret says what is in it. */
static bool is_made(struct run_file *ret, const char *store_dir, const char *folder, const char *app_key, const struct log_entry *entry)
{
    char path[4400];
    struct db app;
    snprintf(path, sizeof path, "%s/%s/%s.db", store_dir, folder, app_key);
    if (access(path, F_OK) || db_open(&app, path, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, NULL))
        return false;
    bool same = run_file_read(ret, &app, NULL) == ERR_OK && ret->stored_bytes == entry->bytes && ret->modified_ms == entry->modified_ms && strcmp(ret->log_path, entry->path) == 0;
    db_close(&app);
    if (!same)
        run_file_dispose(ret);
    return same;
}

static void tell_made(const struct backfill_options *options, const struct run_file *file)
{
    const struct worker_result told = {.path = file->log_path, .app_key = file->app_key, .app_id = file->run.app_id, .attempt_id = file->run.attempt_id,
        .state = catalog_state_of_flags(file->flags), .complete = file->run.complete, .flags = file->flags, .bytes = file->stored_bytes, .line_count = file->line_count,
        .bad_line_count = file->bad_line_count, .task_count = file->run.task_count, .load_ms = file->load_ms, .message = "it is in the store already"};
    options->on_result(options->context, &told);
}

static void tell_failed(const struct backfill_options *options, const char *path, const char *why, bool store_failed)
{
    const struct worker_result told = {.path = path, .state = LOG_FAILED, .flags = "", .bytes = UNKNOWN, .line_count = UNKNOWN, .bad_line_count = UNKNOWN, .task_count = UNKNOWN,
        .load_ms = UNKNOWN, .message = why, .fresh = true, .store_failed = store_failed};
    options->on_result(options->context, &told);
}

/* The log's own fault, or one of this machine or the store: then another try may do. */
static bool may_pass(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_NO_SPACE || rc == ERR_DB || rc == ERR_BUSY || rc == ERR_IO || rc == ERR_PERMISSION || rc == ERR_AWAY || rc == ERR_CANCELLED;
}

static enum err_code load_into(const struct backfill_options *options, const char *dir, const char *app_key, const struct log_entry *entry, struct err *err)
{
    struct load_report report;
    const struct load_options load = {.store_dir = dir, .app_key = app_key, .generation = time_now_ms()};
    enum err_code rc = load_run(entry, &load, &report, NULL, err);
    if (rc && may_pass(rc))
        return rc;
    const struct load_verdict verdict = load_verdict_of(entry, &report, rc, err);
    bool stored = verdict.state == LOG_LOADED || verdict.state == LOG_PARTIAL;
    char made[4400];
    snprintf(made, sizeof made, "%s/apps/%s.db", dir, app_key);
    if (stored && (rc = deliver(made, options->store_dir, app_key, err)))
        return rc;
    const struct worker_result told = {.path = entry->path, .app_key = stored ? app_key : NULL, .app_id = report.app_id[0] ? report.app_id : NULL,
        .attempt_id = report.has_attempt_id ? report.attempt_id : NULL, .state = verdict.state, .complete = report.complete, .flags = verdict.flags, .bytes = report.stored_bytes,
        .line_count = report.line_count, .bad_line_count = report.bad_line_count, .task_count = report.task_count, .load_ms = report.load_ms,
        .message = verdict.reason[0] ? verdict.reason : NULL, .fresh = true};
    options->on_result(options->context, &told);
    return ERR_OK;
}

/* Returns the exit status of the process. */
static int do_log(const struct backfill_options *options, const char *dir, const char *line)
{
    struct err err = {0};
    struct log_entry entry = {0};
    struct listing listing;
    struct run_file file = {0};
    char key[LISTING_KEY_BYTES];
    CLEANUP(mem_freep) char *address = NULL;
    enum err_code rc = place_address(line, &address, &err);
    if (!rc && options->confine)
        options->confine(options->context, address, dir);
    if (!rc)
        rc = log_entry_probe(address, &entry, &err);
    if (rc) {                                /* it is not there, no log, or not to be read */
        bool again = rc == ERR_AWAY || rc == ERR_NOMEM || rc == ERR_CANCELLED;
        tell_failed(options, line, err.message, again);
        return again ? STORE_FAILED : 0;
    }
    if (!(rc = listing_read(&entry, &listing, &err))) {
        listing_app_key(listing.app_id, listing.has_attempt_id ? listing.attempt_id : NULL, entry.dir, false, key);
        if (is_made(&file, options->store_dir, ARRIVALS_DIR, key, &entry) || is_made(&file, options->store_dir, "apps", key, &entry))
            tell_made(options, &file);
        else
            rc = load_into(options, dir, key, &entry, &err);
    }
    if (rc)
        tell_failed(options, entry.path, err.message, true);
    run_file_dispose(&file);
    log_entry_dispose(&entry);
    return rc ? STORE_FAILED : 0;
}

/* ---- the process that hands them out */

static void empty_slot(const struct slot *slot)
{
    char path[SCRATCH_BYTES + 300];
    snprintf(path, sizeof path, "%s/apps", slot->dir);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' || entry->d_name[strspn(entry->d_name, ".")]) {
            snprintf(path, sizeof path, "%s/apps/%s", slot->dir, entry->d_name);
            unlink(path);
        }
    if (dir)
        closedir(dir);
}

static enum err_code set_up(struct backfill *self, struct err *err)
{
    char path[4400];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/" ARRIVALS_DIR, self->options->store_dir);
    enum err_code rc = directories_make(path, err);
    if (rc)
        return rc;
    if (access(path, W_OK | X_OK))
        return err_set_errno(err, errno, "%s cannot be written", path);
    if (pipe2(self->wake, O_CLOEXEC | O_NONBLOCK))
        return err_set_errno(err, errno, "cannot make a pipe");
    snprintf(self->scratch, sizeof self->scratch, "%.4000s/afterglow-backfill-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(self->scratch)) {
        rc = err_set_errno(err, errno, "cannot make a temporary directory %s", self->scratch);
        self->scratch[0] = '\0';
        return rc;
    }
    size_t wanted = (size_t)MAX(1, MIN(self->options->jobs, BACKFILL_MAX_JOBS));
    if (!(self->slots = mem_array(wanted, sizeof *self->slots)))
        return err_nomem(err);
    for (; self->slot_count < wanted; self->slot_count++) {
        struct slot *slot = &self->slots[self->slot_count];
        slot->output = -1;
        buf_init(&slot->answer, ANSWER_BYTES);
        snprintf(slot->dir, sizeof slot->dir, "%s/%zu", self->scratch, self->slot_count);
        snprintf(path, sizeof path, "%s/apps", slot->dir);
        if ((rc = directories_make(path, err)))
            return rc;
    }
    return ERR_OK;
}

static void tear_down(struct backfill *self)
{
    char path[SCRATCH_BYTES + 16];
    for (size_t i = 0; i < self->slot_count; i++) {
        struct slot *slot = &self->slots[i];
        if (slot->child > 0) {
            kill(slot->child, SIGKILL);
            while (waitpid(slot->child, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        if (slot->output >= 0)
            close(slot->output);
        empty_slot(slot);
        snprintf(path, sizeof path, "%s/apps", slot->dir);
        rmdir(path);
        rmdir(slot->dir);
        buf_dispose(&slot->answer);
    }
    if (self->scratch[0])
        rmdir(self->scratch);
    for (int i = 0; i < 2; i++)
        if (self->wake[i] >= 0)
            close(self->wake[i]);
    mem_free(self->slots);
}

static enum err_code start(struct backfill *self, struct slot *slot, struct err *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC))
        return err_set_errno(err, errno, "cannot make a pipe");
    fflush(NULL);
    slot->child = fork();
    if (slot->child < 0) {
        int failed = errno;
        slot->child = 0;
        close(ends[0]);
        close(ends[1]);
        return err_set_errno(err, failed, "cannot start a process");
    }
    if (slot->child == 0) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || dup2(ends[1], STDOUT_FILENO) < 0)
            _exit(STORE_FAILED);
        int status = do_log(self->options, slot->dir, slot->line);
        _exit(fflush(stdout) ? STORE_FAILED : status);
    }
    close(ends[1]);
    slot->output = ends[0];
    return ERR_OK;
}

static enum err_code print(const struct buf *answer, struct err *err)
{
    for (size_t done = 0; done < answer->len;) {
        ssize_t n = write(STDOUT_FILENO, answer->data + done, answer->len - done);
        if (n < 0 && errno != EINTR)
            return err_set_errno(err, errno, "the results cannot be written");
        done += n > 0 ? (size_t)n : 0;
    }
    return ERR_OK;
}

/* It has closed its output: what it said, or how it ended. */
static enum err_code finish(struct backfill *self, struct slot *slot, struct err *err)
{
    int how = 0;
    enum err_code rc = ERR_OK;
    close(slot->output);
    slot->output = -1;
    while (waitpid(slot->child, &how, 0) < 0 && errno == EINTR)
        ;
    slot->child = 0;
    bool whole = WIFEXITED(how) && slot->answer.len && !buf_failed(&slot->answer) && slot->answer.data[slot->answer.len - 1] == '\n';
    if (whole) {
        self->summary->store_failed_count += WEXITSTATUS(how) != 0;
        self->summary->loaded_count += WEXITSTATUS(how) == 0;
        rc = print(&slot->answer, err);
    } else {
        char why[160];
        if (WIFSIGNALED(how))
            snprintf(why, sizeof why, "reading it ended the process by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
        else
            snprintf(why, sizeof why, "reading it ended the process with exit status %d", WEXITSTATUS(how));
        self->summary->failed_count++;
        tell_failed(self->options, slot->line, why, false);
    }
    buf_clear(&slot->answer);
    empty_slot(slot);
    return rc;
}

static struct slot *free_slot(struct backfill *self)
{
    for (size_t i = 0; i < self->slot_count; i++)
        if (!self->slots[i].child)
            return &self->slots[i];
    return NULL;
}

static enum err_code take_line(struct backfill *self, struct slot *slot, const char *line, size_t len, struct err *err)
{
    if (len && line[len - 1] == '\r')
        len--;
    if (self->too_long) {
        self->too_long = false;
        self->summary->failed_count++;
        tell_failed(self->options, "", "a line is longer than any path", false);
        return ERR_OK;
    }
    if (!len || hash_bytes(line, len) % (uint64_t)self->options->shares != (uint64_t)self->options->share)
        return ERR_OK;
    memcpy(slot->line, line, len);
    slot->line[len] = '\0';
    return start(self, slot, err);
}

/* Lines that were read, as long as somebody is free to take one. */
static enum err_code take_lines(struct backfill *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    size_t at = 0;
    for (struct slot *slot; !rc && (slot = free_slot(self));) {
        char *end = memchr(self->pending + at, '\n', self->pending_len - at);
        bool rest = !end && self->ended && (at < self->pending_len || self->too_long);
        if (!end && !rest)
            break;
        size_t len = end ? (size_t)(end - self->pending) - at : self->pending_len - at;
        rc = take_line(self, slot, self->pending + at, len, err);
        at += len + (end != NULL);
    }
    memmove(self->pending, self->pending + at, self->pending_len - at);
    self->pending_len -= at;
    return rc;
}

static enum err_code read_input(struct backfill *self, struct err *err)
{
    if (self->pending_len == BACKFILL_LINE_BYTES) {      /* no end of line in all of it */
        self->too_long = true;
        self->pending_len = 0;
    }
    ssize_t got = read(self->options->input, self->pending + self->pending_len, BACKFILL_LINE_BYTES - self->pending_len);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? ERR_OK : err_set_errno(err, errno, "the list of logs cannot be read");
    self->ended = got == 0;
    self->pending_len += (size_t)got;
    return ERR_OK;
}

static enum err_code read_answer(struct backfill *self, struct slot *slot, struct err *err)
{
    char bytes[4096];
    ssize_t got = read(slot->output, bytes, sizeof bytes);
    if (got > 0)
        buf_append(&slot->answer, bytes, (size_t)got);
    return got == 0 || (got < 0 && errno != EINTR) ? finish(self, slot, err) : ERR_OK;
}

static bool is_busy(const struct backfill *self)
{
    for (size_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].child)
            return true;
    return false;
}

static enum err_code hand_out(struct backfill *self, struct err *err)
{
    struct pollfd fds[BACKFILL_MAX_JOBS + 2];
    enum err_code rc = ERR_OK;
    while (!rc && !stop_signals_came()) {
        if ((rc = take_lines(self, err)) || (self->ended && !self->pending_len && !self->too_long && !is_busy(self)))
            break;
        bool reads = !self->ended && free_slot(self);
        fds[0] = (struct pollfd){.fd = reads ? self->options->input : -1, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = self->wake[0], .events = POLLIN};
        for (size_t i = 0; i < self->slot_count; i++)
            fds[2 + i] = (struct pollfd){.fd = self->slots[i].output, .events = POLLIN};
        if (poll(fds, 2 + self->slot_count, -1) < 0)
            continue;                        /* a signal */
        for (size_t i = 0; i < self->slot_count && !rc; i++)
            if (fds[2 + i].revents)
                rc = read_answer(self, &self->slots[i], err);
        if (!rc && fds[0].revents)
            rc = read_input(self, err);
    }
    return rc;
}

enum err_code backfill_run(const struct backfill_options *options, struct worker_summary *ret, struct err *err)
{
    *ret = (struct worker_summary){0};
    struct backfill *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->options = options;
    self->summary = ret;
    self->wake[0] = self->wake[1] = -1;
    enum err_code rc = set_up(self, err);
    if (!rc) {
        struct stop_signals before;
        stop_signals_catch(&before, self->wake[1]);
        rc = hand_out(self, err);
        ret->stopped = stop_signals_came();
        stop_signals_restore(&before);
    }
    tear_down(self);
    mem_free(self);
    return rc;
}
