/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's threads: listers, which read heads and tails, checkers, which look at databases that were made elsewhere, and loaders, which run loads. The worker fills a job and hands it over (crew_start); the thread does it, marks it
 * done and writes a byte to the wake pipe; the worker takes the result (crew_next_done), acts on it and gives the job back (crew_release). Between start and done
 * a job belongs to its thread, except for the progress numbers. No thread but the worker's touches the catalogue. */
#ifndef INGEST_WORKER_CREW_H
#define INGEST_WORKER_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/db.h"
#include "base/err.h"
#include "ingest/listing.h"
#include "ingest/load_queue.h"
#include "ingest/pipeline.h"
#include "ingest/source/log_entry.h"
#include "ingest/store/run_file.h"
#include "ingest/summarise.h"

#define CREW_LISTERS 4               /* they wait for disks and servers more than they work */
#define CREW_CHECKERS 2              /* they read each page of a database; the worker's thread, which adopts them, is as fast as two */
#define CREW_LOADERS_FROM (CREW_LISTERS + CREW_CHECKERS)
#define CREW_MAX (CREW_LOADERS_FROM + 256)

enum job_kind { JOB_LIST, JOB_CHECK, JOB_LOAD };
enum job_state { JOB_FREE, JOB_STARTED, JOB_DONE };

struct crew;

struct job {
    struct crew *crew;
    enum job_kind kind;
    _Atomic enum job_state state;    /* changed under the crew's lock, read anywhere */
    pthread_t thread;
    /* in */
    struct load_item item;
    char *path;                      /* owned; of the log, or of the database to be checked */
    char app_key[LISTING_KEY_BYTES];
    int64_t generation;
    bool keep;                       /* follow the log afterwards where it may grow */
    struct load *load;               /* owned; in: a load to advance, or NULL; out: one that can be followed, or NULL */
    /* out */
    bool has_entry;                  /* `entry` wants disposing */
    bool probed;                     /* the look at the log succeeded: rc is that of what followed */
    struct log_entry entry;          /* owned: the log as it was when its reading began */
    struct listing listing;
    struct load_report report;
    struct run_file file;            /* owned: what a database that was checked says */
    struct run_judgement judgement;  /* owned */
    enum err_code rc;
    struct err err;
    int64_t took_ns;
    int64_t new_bytes;               /* of the log, read by this job; of a load that failed, as far as it told */
    /* while it runs, from any thread */
    atomic_int_fast64_t read_bytes, line_count;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t work;
    const char *store_dir;           /* borrowed */
    int wake_fd;                     /* write end; borrowed */
    bool ending;
    atomic_bool cancelled;           /* loads stop at their next progress call */
    struct job jobs[CREW_MAX];
    size_t count;                    /* CREW_LISTERS, then CREW_CHECKERS, then loaders */
};

enum err_code crew_init(struct crew *self, const char *store_dir, int loaders, int wake_fd, struct err *err) WARN_UNUSED;
struct job *crew_free_job(struct crew *self, enum job_kind kind);      /* NULL: all are at work */
void crew_start(struct crew *self, struct job *job);
struct job *crew_next_done(struct crew *self);                         /* NULL: none */
void crew_release(struct crew *self, struct job *job);                 /* frees what the job owns */
size_t crew_started_count(struct crew *self, enum job_kind kind);
void crew_dispose(struct crew *self);                                  /* cancels, waits for all threads, frees */

#endif
