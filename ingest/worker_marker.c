/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"

static enum err_code leave(struct worker_marker *self, const char *store, bool *ret_died, bool *ret_alone, struct err *err)
{
    char path[4200];
    *ret_died = false;
    *ret_alone = true;
    DIR *dir = opendir(store);
    if (!dir)
        return err_set_errno(err, errno, "%s", store);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strncmp(entry->d_name, "worker-", 7) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", store, entry->d_name);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            *ret_died = true;
            unlink(path);
        } else {
            *ret_alone = false;
        }
        close(fd);
    }
    closedir(dir);
    snprintf(self->path, sizeof self->path, "%s/worker-XXXXXX", store);
    self->fd = mkostemp(self->path, O_CLOEXEC);
    if (self->fd < 0 || flock(self->fd, LOCK_EX | LOCK_NB))
        return err_set_errno(err, errno, "%s", self->path);
    return ERR_OK;
}

enum err_code worker_marker_leave(struct worker_marker *self, struct catalog *catalog, const char *store_dir, int64_t *ret_crashed_loads, struct err *err)
{
    char path[4200];
    bool died, alone;
    struct catalog_recovery recovery = {0};
    snprintf(path, sizeof path, "%s/catalog.lock", store_dir);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);      /* one at a time looks at the markers */
    if (lock < 0 || flock(lock, LOCK_EX)) {
        enum err_code rc = err_set_errno(err, errno, "%s", path);
        if (lock >= 0)
            close(lock);
        return rc;
    }
    enum err_code rc = leave(self, store_dir, &died, &alone, err);
    if (!rc && alone)
        rc = catalog_recover(catalog, died, &recovery, err);
    close(lock);
    *ret_crashed_loads = died ? recovery.reset_count + recovery.set_aside_count : 0;
    if (recovery.reset_count)
        log_warning("%lld loads were not finished when the last worker ended: they begin again", (long long)recovery.reset_count);
    if (recovery.set_aside_count)
        log_error("%lld logs are set aside: loading them ended the worker twice", (long long)recovery.set_aside_count);
    return rc;
}

void worker_marker_remove(struct worker_marker *self)
{
    if (self->fd < 0)
        return;
    unlink(self->path);
    close(self->fd);
}
