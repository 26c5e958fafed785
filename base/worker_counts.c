/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker_counts.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORM (UINT64_C(0xAF7E461000010000) + sizeof(struct worker_counts))

#define MS 1000
#define S ((int64_t)1000 * MS)
const int64_t load_bounds_us[TIME_BUCKETS] = {50 * MS, 100 * MS, 500 * MS, S, 5 * S, 10 * S, 30 * S, 60 * S, 300 * S, 1800 * S};

const char *const load_end_names[LOAD_END_COUNT] = {"loaded", "partial", "empty", "unreadable", "too_large", "gone", "crashed", "no_memory", "no_space", "store"};
const char *const queue_stage_names[QUEUE_STAGE_COUNT] = {"to_list", "to_load", "put_off", "loading"};

void time_counts_add(struct time_counts *self, const int64_t *bounds_us, int64_t us)
{
    size_t i = 0;
    while (i < TIME_BUCKETS && us > bounds_us[i])
        i++;
    atomic_fetch_add_explicit(&self->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->sum_us, us, memory_order_relaxed);
}

static struct worker_counts *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct worker_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

enum err_code worker_counts_new(struct worker_counts **ret, int *ret_fd, struct err *err)
{
    *ret = NULL;
    int fd = *ret_fd = memfd_create("worker counts", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof **ret) || !(*ret = map(fd))) {
        int kept = errno;
        if (fd >= 0)
            close(fd);
        *ret_fd = -1;
        return err_set_errno(err, kept, "no memory to share with the ingest process");
    }
    (*ret)->form = FORM;
    return ERR_OK;
}

void worker_counts_free(struct worker_counts *self, int fd)
{
    if (!self)
        return;
    munmap(self, sizeof *self);
    close(fd);
}

struct worker_counts *worker_counts_open(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size != (off_t)sizeof(struct worker_counts))
        return NULL;
    struct worker_counts *self = map(fd);
    if (self && self->form != FORM) {
        munmap(self, sizeof *self);
        return NULL;
    }
    return self;
}
