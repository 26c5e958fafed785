/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/time.h"

/* A look at the log before it is read. False: it is gone, no log any more, or has another name now (ERR_NOT_FOUND, and the entry tells the name). */
static bool probe(struct job *job)
{
    job->rc = log_entry_probe(job->path, &job->entry, &job->err);
    job->has_entry = true;
    if (!job->rc && strcmp(job->entry.path, job->path) != 0)
        job->rc = ERR_NOT_FOUND;
    job->probed = !job->rc;
    return job->probed;
}

static void run_list(struct job *job)
{
    if (probe(job))
        job->rc = listing_read(&job->entry, &job->listing, &job->err);
}

/* The job of this thread. A load that is followed passes from job to job, but its progress always comes from the thread that is advancing it. */
static _Thread_local struct job *current_job;

static bool on_load_progress(void *context, int64_t read_bytes, int64_t total_bytes, int64_t line_count)
{
    struct crew *crew = context;
    (void)total_bytes;
    if (current_job) {
        atomic_store_explicit(&current_job->read_bytes, read_bytes, memory_order_relaxed);
        atomic_store_explicit(&current_job->line_count, line_count, memory_order_relaxed);
    }
    return !atomic_load(&crew->cancelled);
}

/* What the list shows of it. A judgement that fails leaves the run without one; the next start tries again. */
static void judge(struct job *job)
{
    if (!job->report.nothing_readable && summarise_run(&job->judgement, job->crew->store_dir, job->app_key, NULL)) {
        run_judgement_dispose(&job->judgement);
        job->judgement.skew_grade = job->judgement.gc_grade = UNKNOWN;
    }
}

/* Is it one of ours, and what does it say? Its judgement is made as after a load. */
static void run_check(struct job *job)
{
    struct db app;
    job->judgement.skew_grade = job->judgement.gc_grade = UNKNOWN;
    if ((job->rc = run_file_open_foreign(&app, job->path, &job->err)))
        return;
    if (!(job->rc = run_file_read(&job->file, &app, &job->err)) && summarise(&job->judgement, &app, NULL)) {
        run_judgement_dispose(&job->judgement);
        job->judgement.skew_grade = job->judgement.gc_grade = UNKNOWN;
    }
    db_close(&app);
}

static void run_load(struct job *job)
{
    job->judgement.skew_grade = job->judgement.gc_grade = UNKNOWN;
    if (!probe(job))
        return;
    if (job->load) {
        int64_t before = load_read_bytes(job->load);
        job->rc = load_advance(job->load, &job->entry, &job->report, &job->err);
        if (!job->rc) {
            job->new_bytes = job->report.stored_bytes - before;
            judge(job);
            return;
        }
        load_free(job->load);
        job->load = NULL;
        if (job->rc != ERR_UNSUPPORTED)
            return;
        job->err = (struct err){0};  /* replaced or shrunk: anew */
    }
    const struct load_options options = {.store_dir = job->crew->store_dir, .app_key = job->app_key, .generation = job->generation,
        .keep = job->keep, .progress = on_load_progress, .progress_context = job->crew};
    job->rc = load_run(&job->entry, &options, &job->report, &job->load, &job->err);
    job->new_bytes = job->rc ? atomic_load(&job->read_bytes) : job->report.stored_bytes;
    if (!job->rc)
        judge(job);
}

static void *work(void *context)
{
    struct job *job = context;
    struct crew *crew = job->crew;
    current_job = job;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (job->state != JOB_STARTED && !crew->ending)
            pthread_cond_wait(&crew->work, &crew->lock);
        if (job->state != JOB_STARTED)
            break;
        pthread_mutex_unlock(&crew->lock);
        int64_t begin_ns = time_monotonic_ns();
        if (job->kind == JOB_LIST)
            run_list(job);
        else if (job->kind == JOB_CHECK)
            run_check(job);
        else
            run_load(job);
        job->took_ns = time_monotonic_ns() - begin_ns;
        pthread_mutex_lock(&crew->lock);
        job->state = JOB_DONE;
        /* The pipe does not block; when it is full the worker is awake anyway. */
        if (write(crew->wake_fd, "j", 1) < 0 && errno != EAGAIN)
            break;
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

enum err_code crew_init(struct crew *self, const char *store_dir, int loaders, int wake_fd, struct err *err)
{
    self->store_dir = store_dir;
    self->wake_fd = wake_fd;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->work, NULL);
    size_t wanted = CREW_LOADERS_FROM + (size_t)MIN(MAX(loaders, 1), CREW_MAX - CREW_LOADERS_FROM);
    /* Signals that are sent are for the worker's thread; those of a fault belong to the thread that has it: blocked, they would end the program before a sanitizer or a debugger could say where. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t sent, before;
    sigfillset(&sent);
    for (size_t i = 0; i < ARRAY_LENGTH(faults); i++)
        sigdelset(&sent, faults[i]);
    pthread_sigmask(SIG_SETMASK, &sent, &before);
    int failed = 0;
    while (self->count < wanted && !failed) {
        struct job *job = &self->jobs[self->count];
        job->crew = self;
        job->kind = self->count < CREW_LISTERS ? JOB_LIST : self->count < CREW_LOADERS_FROM ? JOB_CHECK : JOB_LOAD;
        failed = pthread_create(&job->thread, NULL, work, job);
        self->count += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? err_set_errno(err, failed, "cannot start a thread") : ERR_OK;
}

struct job *crew_free_job(struct crew *self, enum job_kind kind)
{
    struct job *found = NULL;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count && !found; i++)
        if (self->jobs[i].kind == kind && self->jobs[i].state == JOB_FREE)
            found = &self->jobs[i];
    pthread_mutex_unlock(&self->lock);
    return found;
}

void crew_start(struct crew *self, struct job *job)
{
    job->rc = ERR_OK;
    job->err = (struct err){0};
    job->report = (struct load_report){0};
    job->entry = (struct log_entry){0};
    atomic_store(&job->read_bytes, 0);
    atomic_store(&job->line_count, 0);
    pthread_mutex_lock(&self->lock);
    job->state = JOB_STARTED;
    pthread_cond_broadcast(&self->work);
    pthread_mutex_unlock(&self->lock);
}

struct job *crew_next_done(struct crew *self)
{
    struct job *found = NULL;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count && !found; i++)
        if (self->jobs[i].state == JOB_DONE)
            found = &self->jobs[i];
    pthread_mutex_unlock(&self->lock);
    return found;
}

void crew_release(struct crew *self, struct job *job)
{
    if (job->has_entry)
        log_entry_dispose(&job->entry);
    job->has_entry = false;
    mem_free(TAKE(job->path));
    run_judgement_dispose(&job->judgement);
    run_file_dispose(&job->file);
    load_free(TAKE(job->load));
    pthread_mutex_lock(&self->lock);
    job->state = JOB_FREE;
    pthread_mutex_unlock(&self->lock);
}

size_t crew_started_count(struct crew *self, enum job_kind kind)
{
    size_t count = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        count += self->jobs[i].kind == kind && self->jobs[i].state != JOB_FREE;
    pthread_mutex_unlock(&self->lock);
    return count;
}

void crew_dispose(struct crew *self)
{
    atomic_store(&self->cancelled, true);
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    pthread_cond_broadcast(&self->work);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        pthread_join(self->jobs[i].thread, NULL);
    for (size_t i = 0; i < self->count; i++)
        if (self->jobs[i].state != JOB_FREE)
            crew_release(self, &self->jobs[i]);
    pthread_cond_destroy(&self->work);
    pthread_mutex_destroy(&self->lock);
}
