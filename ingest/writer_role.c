/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/writer_role.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directories.h"
#include "base/map.h"

#define PATH_BYTES 4400

static void tell_holder(int fd)
{
    char text[WRITER_NAME_BYTES], host[65] = "";
    gethostname(host, sizeof host - 1);
    int len = snprintf(text, sizeof text, "%s %ld\n", host, (long)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len) { /* only people miss it */ }
}

enum err_code writer_role_take(const char *store_dir, int *ret_fd, char *holder, struct err *err)
{
    char path[PATH_BYTES];
    *ret_fd = -1;
    enum err_code rc = directories_make(store_dir, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/writer.lock", store_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set_errno(err, errno, "%s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        tell_holder(fd);
        *ret_fd = fd;
        return ERR_OK;
    }
    int failed = errno;
    ssize_t got = pread(fd, holder, WRITER_NAME_BYTES - 1, 0);
    close(fd);
    holder[got > 0 ? got : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return failed == EWOULDBLOCK ? ERR_OK : err_set_errno(err, failed, "cannot lock %s", path);
}

static size_t count_wishes(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

void wishes_put(const char *store_dir, const char *line)
{
    char folder[PATH_BYTES], made[PATH_BYTES + 64], path[PATH_BYTES + 64];
    size_t len = strlen(line);
    snprintf(folder, sizeof folder, "%s/wishes", store_dir);
    if (!len || len >= WISH_BYTES || (mkdir(folder, 0777) && errno != EEXIST) || count_wishes(folder) >= WISHES_MAX)
        return;
    uint64_t name = hash_bytes(line, len);   /* the same wish twice is one */
    snprintf(made, sizeof made, "%s/.%016" PRIx64 ".%ld", folder, name, (long)getpid());
    snprintf(path, sizeof path, "%s/%016" PRIx64, folder, name);
    int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    bool written = write(fd, line, len) == (ssize_t)len;
    close(fd);
    if (!written || rename(made, path))
        unlink(made);
}

/* False: it is none, or another one took it. */
static bool read_wish(const char *path, char line[WISH_BYTES])
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? read(fd, line, WISH_BYTES - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (unlink(path) || got <= 0)
        return false;
    line[got] = '\0';
    return strcspn(line, "\n") == (size_t)got;
}

void wishes_take(const char *store_dir, void (*each)(void *context, char *line), void *context)
{
    char path[PATH_BYTES], line[WISH_BYTES];
    snprintf(path, sizeof path, "%s/wishes", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/wishes/%s", store_dir, entry->d_name);
        if (entry->d_name[0] != '.' && read_wish(path, line))
            each(context, line);
    }
    closedir(dir);
}
