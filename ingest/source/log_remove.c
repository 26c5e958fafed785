/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/str.h"
#include "ingest/source/log_name.h"
#include "place/place.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Opens the directory that holds the last part of `below`, part by part and through no link. */
static enum err_code open_parent(const char *place, const char *below, int *ret_fd, struct err *err)
{
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0) {
        size_t len = strcspn(below, "/");
        char part[NAME_MAX + 1];
        if (len > NAME_MAX) {
            close(fd);
            return err_set(err, ERR_INVALID, "not the path of a log below its place");
        }
        if (!below[len]) {
            *ret_fd = fd;
            return ERR_OK;
        }
        memcpy(part, below, len);
        part[len] = '\0';
        int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int code = errno;
        close(fd);
        errno = code;
        fd = next;
        below += len + 1;
    }
    if (errno == ELOOP || errno == ENOTDIR)
        return err_set(err, ERR_INVALID, "it lies behind a link");
    return err_set_errno(err, errno, "cannot open its directory");
}

static enum err_code remove_file(int dir, const char *name, bool *ret_begun, struct err *err)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ERR_OK : err_set_errno(err, errno, "cannot look at it");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, S_ISLNK(st.st_mode) ? "it is a link" : "it is no file");
    if (unlinkat(dir, name, 0) && errno != ENOENT)
        return err_set_errno(err, errno, "cannot delete it");
    *ret_begun = true;
    return ERR_OK;
}

/* A name that Spark writes into a rolling directory, or Hadoop's check sum of one. */
static bool belongs_to_rolling(const char *name)
{
    struct str s = str_of(name);
    return str_starts(s, "events_") || str_starts(s, "appstatus_") || ((str_starts(s, ".events_") || str_starts(s, ".appstatus_")) && str_ends(s, ".crc"));
}

/* With Hadoop's check sum of it, as its local file system does; HDFS and S3 have none, and leave one that was copied there. */
static enum err_code remove_single(int parent, const char *name, bool *ret_begun, struct err *err)
{
    char sum[NAME_MAX + 1];
    bool ignored;
    enum err_code rc = remove_file(parent, name, ret_begun, err);
    if (!rc && (size_t)snprintf(sum, sizeof sum, ".%s.crc", name) < sizeof sum && remove_file(parent, sum, &ignored, NULL)) {
        /* something else has that name: it stays */
    }
    return rc;
}

static enum err_code remove_rolling(int parent, const char *name, bool *ret_begun, struct err *err)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return ERR_OK;
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return err_set(err, ERR_INVALID, "it is a link, or no directory");
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        enum err_code rc = err_set_errno(err, errno, "cannot read the directory");
        close_fd(&fd);
        return rc;
    }
    enum err_code rc = ERR_OK;
    for (struct dirent *item; !rc && (item = readdir(dir));)
        if (belongs_to_rolling(item->d_name))
            rc = remove_file(dirfd(dir), item->d_name, ret_begun, err);
    closedir(dir);
    if (!rc && unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
        rc = err_set_errno(err, errno, "cannot delete the directory");
    return rc;
}

/* ---- remote places */

static bool are_names(const char *below)
{
    for (;; below++) {
        size_t len = strcspn(below, "/");
        if (len == 0 || (below[0] == '.' && (len == 1 || (len == 2 && below[1] == '.'))))
            return false;
        below += len;
        if (!*below)
            return true;
    }
}

static enum err_code remove_remote(const char *address, enum child_kind kind, bool *ret_begun, struct err *err)
{
    struct err why = {0};
    enum err_code rc = place_remove(address, kind, &why);
    *ret_begun |= rc == ERR_OK || rc == ERR_AWAY;
    return rc && rc != ERR_NOT_FOUND ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

static enum err_code remove_remote_rolling(const char *address, bool *ret_begun, struct err *err)
{
    struct place_children children;
    struct err why = {0};
    enum err_code rc = place_list_all(address, &children, &why);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : err_set(err, rc, "%s", why.message);
    for (size_t i = 0; i < children.count && !rc; i++) {
        const struct place_child *child = &children.items[i];
        if (!belongs_to_rolling(child->name))
            continue;
        char *file = child->kind == CHILD_FILE ? place_join(address, child->name) : NULL;
        rc = file ? remove_remote(file, CHILD_FILE, ret_begun, err) : child->kind == CHILD_FILE ? err_nomem(err) : err_set(err, ERR_INVALID, "it is no file");
        mem_free(file);
    }
    place_children_dispose(&children);
    if (rc)
        return rc;
    rc = remove_remote(address, CHILD_DIRECTORY, ret_begun, &why);
    return rc && rc != ERR_BUSY ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

enum err_code log_remove(const char *place, const char *path, enum log_layout layout, bool *ret_begun, struct err *err)
{
    *ret_begun = false;
    size_t len = strlen(place);
    if (layout != LAYOUT_FILE && layout != LAYOUT_ROLLING)
        return err_set(err, ERR_UNSUPPORTED, "logs of this kind are not deleted (%s)", log_layout_name(layout));
    if (len > 1 && place[len - 1] == '/') /* a root; of "hdfs:///" no more than that */
        len--;
    if (strncmp(path, place, len) != 0 || (len > 1 && path[len] != '/'))
        return err_set(err, ERR_INVALID, "it does not lie below its place");
    const char *below = path + len + (len > 1), *name = strrchr(below, '/');
    name = name ? name + 1 : below;
    if (!are_names(below))
        return err_set(err, ERR_INVALID, "not the path of a log below its place");
    if (layout == LAYOUT_ROLLING && strncmp(name, ROLLING_PREFIX, strlen(ROLLING_PREFIX)) != 0)
        return err_set(err, ERR_UNSUPPORTED, "a rolling log in a directory whose name does not begin with " ROLLING_PREFIX " is not deleted");
    if (place_is_remote(place))
        return layout == LAYOUT_FILE ? remove_remote(path, CHILD_FILE, ret_begun, err) : remove_remote_rolling(path, ret_begun, err);
    CLEANUP(close_fd) int parent = -1;
    enum err_code rc = open_parent(place, below, &parent, err);
    if (rc)
        return rc;
    return layout == LAYOUT_FILE ? remove_single(parent, name, ret_begun, err) : remove_rolling(parent, name, ret_begun, err);
}
