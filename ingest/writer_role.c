/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/writer_role.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directories.h"

#define PATH_BYTES 4400
#define BLANK '+'                    /* in the name of a file */

static void tell_holder(int fd)
{
    char text[WISH_BYTES], host[65] = "";
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
    ssize_t got = pread(fd, holder, WISH_BYTES - 1, 0);
    close(fd);
    holder[got > 0 ? got : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return failed == EWOULDBLOCK ? ERR_OK : err_set_errno(err, failed, "cannot lock %s", path);
}

/* Letters, digits and what ids are made of; blanks only in a line. */
static bool is_sound(const char *text, char blank)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (i && c == '.') || c == blank))
            return false;
    }
    return len > 0 && len < WISH_BYTES - 1;
}

static void replace(char *text, char from, char to)
{
    for (; *text; text++)
        if (*text == from)
            *text = to;
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
    char name[WISH_BYTES], path[PATH_BYTES];
    if (!is_sound(line, ' '))
        return;
    snprintf(path, sizeof path, "%s/wishes", store_dir);
    if ((mkdir(path, 0777) && errno != EEXIST) || count_wishes(path) >= WISHES_MAX)
        return;
    snprintf(name, sizeof name, "%s", line);
    replace(name, ' ', BLANK);
    snprintf(path, sizeof path, "%s/wishes/%s", store_dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0)
        close(fd);
}

void wishes_take(const char *store_dir, void (*each)(void *context, const char *line), void *context)
{
    char path[PATH_BYTES], name[WISH_BYTES];
    snprintf(path, sizeof path, "%s/wishes", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/wishes/%s", store_dir, entry->d_name);
        if (unlink(path) || !is_sound(entry->d_name, BLANK))
            continue;                        /* somebody else took it, or it is none */
        snprintf(name, sizeof name, "%s", entry->d_name);
        replace(name, BLANK, ' ');
        each(context, name);
    }
    closedir(dir);
}
