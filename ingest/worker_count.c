/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_count.h"

#include "base/units.h"

static void add(atomic_int_fast64_t *count, int64_t n)
{
    atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

void worker_count_load(struct worker *self, const struct job *job, enum load_end end)
{
    struct worker_counts *counts = self->options->counts;
    if (!counts || job->kind != JOB_LOAD)
        return;
    add(&counts->load_ends[end], 1);
    add(&counts->read_bytes, MAX(job->new_bytes, 0));
    if (end == LOAD_END_LOADED || end == LOAD_END_PARTIAL)
        time_counts_add(&counts->load_times, load_bounds_us, job->took_ns / 1000);
}

void worker_count_put_off(struct worker *self, const struct job *job)
{
    if (job->rc != ERR_BUSY && job->rc != ERR_CANCELLED) /* another process has the run; we are asked to end */
        worker_count_load(self, job, job->rc == ERR_NOMEM ? LOAD_END_NO_MEMORY : job->rc == ERR_NO_SPACE ? LOAD_END_NO_SPACE : LOAD_END_STORE);
}

void worker_count_scan(struct worker *self, bool failed)
{
    struct worker_counts *counts = self->options->counts;
    if (counts)
        add(failed ? &counts->failed_scans : &counts->scans, 1);
}

void worker_count_queue(struct worker *self)
{
    struct worker_counts *counts = self->options->counts;
    if (!counts)
        return;
    size_t listing = self->to_list.count + crew_started_count(&self->crew, JOB_LIST);
    bool looked_at = true;
    for (size_t i = 0; i < self->options->place_count; i++)
        looked_at &= self->places[i].looked_at;
    if (looked_at && listing == 0)
        atomic_store(&counts->listed, true);
    atomic_store(&counts->queue[QUEUE_TO_LIST], (int64_t)listing);
    atomic_store(&counts->queue[QUEUE_TO_LOAD], (int64_t)self->queue.count);
    atomic_store(&counts->queue[QUEUE_PUT_OFF], (int64_t)self->queue.aside_count);
    atomic_store(&counts->queue[QUEUE_LOADING], (int64_t)crew_started_count(&self->crew, JOB_LOAD));
}
