/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "ingest/stop_signals.h"
#include "ingest/worker_arrivals.h"
#include "ingest/worker_control.h"
#include "ingest/worker_loop.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_unjudged.h"
#include "ingest/worker_state.h"
#include "ingest/writer_role.h"
#include "place/place.h"

int worker_default_jobs(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 4 ? (int)MIN(cores / 2, 64L) : 2;
}

static enum err_code open_pipe(struct worker *self, struct err *err)
{
    if (pipe2(self->wake, O_CLOEXEC | O_NONBLOCK))
        return err_set_errno(err, errno, "cannot make a pipe");
    return ERR_OK;
}

/* Until this worker is the one that writes, or is to stop. */
static enum err_code stand_by(struct worker *self, struct err *err)
{
    char holder[WRITER_NAME_BYTES];
    for (bool told = false; !stop_signals_came() && !self->stop; told = true) {
        enum err_code rc = writer_role_take(self->options->store_dir, &self->writer_lock, holder, err);
        if (self->options->counts)
            atomic_store(&self->options->counts->standby, !rc && self->writer_lock < 0);
        if (rc || self->writer_lock >= 0) {
            if (!rc && told)
                log_info("the process that wrote the store has ended: this one writes now");
            return rc;
        }
        if (!told)
            log_info("another process writes the store (%s): this one hands on what it is asked for, and takes over when that ends", holder);
        struct pollfd fds[2] = {{.fd = self->wake[0], .events = POLLIN}, {.fd = self->options->control ? STDIN_FILENO : -1, .events = POLLIN}};
        if (poll(fds, 2, WRITER_PAUSE_MS) > 0 && fds[1].revents)
            worker_read_control(self);
    }
    return ERR_OK;
}

static enum err_code set_up(struct worker *self, struct err *err)
{
    enum err_code rc;
    if ((rc = catalog_open(&self->catalog, self->options->store_dir, err)))
        return rc;
    if (catalog_remark(self->catalog))
        log_warning("%s", catalog_remark(self->catalog));
    int level = self->options->confine ? self->options->confine(self->options->context) : 0;
    if (self->options->counts)
        atomic_store(&self->options->counts->confined, level);
    int64_t crashed;
    if ((rc = worker_marker_leave(&self->marker, self->catalog, self->options->store_dir, &crashed, err)))
        return rc;
    if (self->options->counts)
        atomic_fetch_add(&self->options->counts->load_ends[LOAD_END_CRASHED], crashed);
    rc = crew_init(&self->crew, self->options->store_dir, self->options->jobs, self->wake[1], err);
    if (rc || (rc = worker_unjudged_find(self, err)))
        return rc;
    return worker_scan_start(self, err);
}

static void tear_down(struct worker *self)
{
    place_stop();                            /* who waits for a server waits no longer */
    if (self->crew.store_dir)
        crew_dispose(&self->crew);
    worker_scan_end(self);
    place_go_on();
    worker_arrivals_dispose(self);
    worker_unjudged_dispose(self);
    worker_policy_dispose(self);
    kept_loads_dispose(&self->kept);
    catalog_close(self->catalog);
    for (int i = 0; i < 2; i++)
        if (self->wake[i] >= 0)
            close(self->wake[i]);
    worker_marker_remove(&self->marker);
    if (self->writer_lock >= 0)
        close(self->writer_lock);
    load_queue_dispose(&self->queue);
    imap_dispose(&self->under_way);
    imap_dispose(&self->settled);
    imap_dispose(&self->damage.told);
    list_queue_dispose(&self->to_list);
    mem_free(self);
}

enum err_code worker_run(const struct worker_options *options, struct worker_summary *ret, struct err *err)
{
    *ret = (struct worker_summary){0};
    struct worker *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    place_be_brief();                        /* what the cleaner asks remote places holds up all else of this thread */
    self->options = options;
    self->summary = ret;
    self->wake[0] = self->wake[1] = self->marker.fd = self->writer_lock = -1;
    self->policy.clock_offset_ms = UNKNOWN;
    imap_init(&self->under_way, WORKER_MAX_LOGS);
    imap_init(&self->settled, WORKER_MAX_LOGS);
    imap_init(&self->damage.told, WORKER_MAX_LOGS);
    enum err_code rc = open_pipe(self, err);
    if (!rc) {
        struct stop_signals before;
        stop_signals_catch(&before, self->wake[1]);
        if (options->watch)
            rc = stand_by(self, err);
        bool begins = !rc && !self->stop && !stop_signals_came();
        if (begins && !(rc = set_up(self, err))) {
            if ((rc = worker_loop(self, err)))
                err_prefix(err, "store %s", options->store_dir);
            worker_wind_up(self);
        }
        ret->stopped = !rc && (self->stop || stop_signals_came());
        stop_signals_restore(&before);
    }
    tear_down(self);
    return rc;
}
