/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_loop.h"

#include <poll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/stop_signals.h"
#include "ingest/worker_arrivals.h"
#include "ingest/worker_control.h"
#include "ingest/worker_count.h"
#include "ingest/worker_outcome.h"
#include "ingest/worker_policy.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_schedule.h"
#include "ingest/worker_tell.h"
#include "ingest/worker_unjudged.h"
#include "place/place.h"

#define PROGRESS_NS (NS_PER_S / 4)           /* on the terminal, and as read_bytes in the catalogue, for pages */

static enum err_code collect(struct worker *self, struct err *err)
{
    for (struct job *job; (job = crew_next_done(&self->crew));) {
        enum err_code rc = worker_act_on(self, job, err);
        if (rc)
            return rc;
        crew_release(&self->crew, job);
    }
    return ERR_OK;
}

static enum err_code write_progress(struct worker *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = CREW_LOADERS_FROM; i < self->crew.count && !rc; i++) {
        struct job *job = &self->crew.jobs[i];
        if (job->state == JOB_STARTED)
            rc = catalog_load_progress(self->catalog, job->item.log_id, atomic_load(&job->read_bytes), atomic_load(&job->line_count), err);
    }
    return rc;
}

static enum err_code step(struct worker *self, struct err *err)
{
    int64_t now_ns = time_monotonic_ns();
    load_queue_wake(&self->queue, now_ns);
    enum err_code rc;
    if ((rc = collect(self, err)) || (rc = worker_give_lists(self, err)) || (rc = worker_give_arrivals(self, err)) || (rc = worker_give_loads(self, err)))
        return rc;
    if (now_ns < self->next_progress_ns)
        return ERR_OK;
    self->next_progress_ns = now_ns + PROGRESS_NS;
    worker_tell_progress(self);
    return write_progress(self, err);
}

enum err_code worker_pump(struct worker *self, struct err *err)
{
    struct err why = {0};
    int64_t now_ns = time_monotonic_ns();
    if (now_ns < self->quiet_until_ns)
        return ERR_OK;
    enum err_code rc = step(self, &why);
    if (rc && self->options->watch && worker_error_passes(rc)) {
        if (!self->failing)
            log_error("the store cannot be written: %s", why.message);
        self->failing = true;
        self->quiet_until_ns = now_ns + WORKER_RETRY_FIRST_NS;
        return ERR_OK;
    }
    if (rc)
        return worker_hand_on(err, &why, rc);
    if (self->failing)
        log_info("the store can be written again");
    self->failing = false;
    return ERR_OK;
}

/* Whoever starts the worker again has the catalogue made anew. */
static enum err_code check_catalog(struct worker *self, struct err *err)
{
    int64_t now_ns = time_monotonic_ns();
    enum err_code rc = worker_check_damage(self, err);
    if (rc || now_ns < self->next_check_ns)
        return rc;
    self->next_check_ns = now_ns + self->options->interval_ms * NS_PER_MS;
    return catalog_in_place(self->catalog) ? ERR_OK : err_set(err, ERR_CORRUPT, "catalog.db was removed or replaced by another file");
}

/* Until a job is done, a line or a signal comes, or the next thing is due. */
static void wait_for_news(struct worker *self)
{
    int64_t now_ns = time_monotonic_ns(), until_ns = load_queue_wake(&self->queue, now_ns);
    if (self->options->watch)
        until_ns = MIN(MIN(until_ns, self->next_wishes_ns), MIN(self->next_check_ns, self->arrivals.next_look_ns));
    if (crew_started_count(&self->crew, JOB_LIST) || crew_started_count(&self->crew, JOB_LOAD))
        until_ns = MIN(until_ns, self->next_progress_ns);
    if (self->quiet_until_ns > now_ns)
        until_ns = MIN(MAX(until_ns, now_ns + WORKER_PUMP_NS), self->quiet_until_ns);
    else if (self->unjudged.count || lookout_has_news(self->lookout) || worker_policy_is_busy(self))
        until_ns = now_ns;
    int64_t pause_ms = until_ns == INT64_MAX ? 60000 : MAX(0, MIN((until_ns - now_ns) / NS_PER_MS + 1, 60000));
    struct pollfd fds[2] = {{.fd = self->wake[0], .events = POLLIN}, {.fd = self->options->control ? STDIN_FILENO : -1, .events = POLLIN}};
    if (poll(fds, 2, (int)pause_ms) <= 0)
        return;
    char bytes[256];
    while (fds[0].revents && read(self->wake[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    if (fds[1].revents)
        worker_read_control(self);
}

enum err_code worker_loop(struct worker *self, struct err *err)
{
    enum err_code rc = ERR_OK;
    while (!rc && !stop_signals_came() && !self->stop) {
        if (self->options->watch)
            rc = check_catalog(self, err);
        if (!rc)
            rc = worker_take_sightings(self, err);
        if (!rc)
            rc = worker_pump(self, err);
        if (!rc)
            rc = worker_unjudged_some(self, err);
        if (!rc)
            rc = worker_apply_policy(self, err);
        worker_take_wishes(self);
        worker_count_queue(self);
        if (!rc && !self->options->watch && !lookout_is_busy(self->lookout) && worker_is_idle(self) && !worker_arrivals_wait(self) && !self->unjudged.count)
            break;
        if (!rc && !stop_signals_came() && !self->stop)
            wait_for_news(self);
    }
    if (!rc && !self->options->watch) {      /* the last loads */
        self->policy.next_budget_ns = self->policy.next_mark_ns = 0;
        do
            rc = worker_apply_policy(self, err);
        while (!rc && worker_policy_is_busy(self) && !stop_signals_came());
    }
    return rc;
}

void worker_wind_up(struct worker *self)
{
    atomic_store(&self->crew.cancelled, true);
    place_stop();
    while (crew_started_count(&self->crew, JOB_LIST) || crew_started_count(&self->crew, JOB_CHECK) || crew_started_count(&self->crew, JOB_LOAD)) {
        for (struct job *job; (job = crew_next_done(&self->crew));) {
            if (worker_act_on(self, job, NULL)) { /* not written down: the next start finds the row and no marker of a death */ }
            crew_release(&self->crew, job);
        }
        struct pollfd fd = {.fd = self->wake[0], .events = POLLIN};
        char bytes[256];
        if (poll(&fd, 1, 100) > 0 && read(self->wake[0], bytes, sizeof bytes) < 0)
            continue;
    }
}
