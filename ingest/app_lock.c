/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/app_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

static void lock_path(const char *store_dir, const char *app_key, char *out)
{
    snprintf(out, PATH_BYTES, "%s/apps/%s.lock", store_dir, app_key);
}

/* A file that was removed between open and lock belongs to nobody: try again with the new one. */
static int is_current(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

enum err_code app_lock_acquire(const char *store_dir, const char *app_key, int *ret_lock, struct err *err)
{
    char path[PATH_BYTES];
    lock_path(store_dir, app_key, path);
    *ret_lock = -1;
    for (int attempt = 0; attempt < 100; attempt++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            return err_set_errno(err, errno, "cannot lock the application's database");
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int why = errno;
            close(fd);
            return why == EWOULDBLOCK ? err_set(err, ERR_BUSY, "another process is loading this run") : err_set_errno(err, why, "cannot lock the application's database");
        }
        if (is_current(fd, path)) {
            *ret_lock = fd;
            return ERR_OK;
        }
        close(fd);
    }
    return err_set(err, ERR_BUSY, "another process is loading this run");
}

void app_lock_release(const char *store_dir, const char *app_key, int lock)
{
    if (lock < 0)
        return;
    char path[PATH_BYTES];
    lock_path(store_dir, app_key, path);
    unlink(path);
    close(lock);
}
