/* SPDX-License-Identifier: Apache-2.0 */
#include "place/place_local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/units.h"

static void fill_child(struct place_child *child, const struct stat *st)
{
    child->kind = S_ISREG(st->st_mode) ? CHILD_FILE : S_ISDIR(st->st_mode) ? CHILD_DIRECTORY : CHILD_SPECIAL;
    child->bytes = st->st_size;
    child->modified_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / NS_PER_MS;
    child->device = (uint64_t)st->st_dev;
    child->inode = (uint64_t)st->st_ino;
}

static void look_at_child(int dir_fd, struct place_child *child)
{
    struct stat st;
    child->bytes = child->modified_ms = UNKNOWN;
    if (fstatat(dir_fd, child->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        child->kind = CHILD_UNREADABLE;
        child->error = errno;
        return;
    }
    bool link = S_ISLNK(st.st_mode);
    if (link && fstatat(dir_fd, child->name, &st, 0) != 0) {
        child->kind = errno == EACCES ? CHILD_UNREADABLE : CHILD_BAD_LINK;
        child->error = errno;
        return;
    }
    fill_child(child, &st);
    if (link && child->kind == CHILD_DIRECTORY)
        child->kind = CHILD_LINKED_DIRECTORY;
}

enum err_code place_local_stat(const char *path, struct place_child *ret, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set_errno(err, errno, "cannot look at it");
    fill_child(ret, &st);
    return ERR_OK;
}

enum err_code place_local_list(const char *path, struct place_children *ret, struct err *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return err_set_errno(err, errno, "cannot read the directory");
    enum err_code rc = ERR_OK;
    while (!rc) {
        errno = 0;
        const struct dirent *item = readdir(dir);
        if (!item) {
            if (errno != 0)
                rc = err_set_errno(err, errno, "cannot read the directory");
            break;
        }
        if (item->d_name[0] == '.')
            continue;
        struct place_child child = {.name = mem_strndup(item->d_name, strlen(item->d_name))};
        if (!child.name) {
            rc = err_nomem(err);
            break;
        }
        look_at_child(dirfd(dir), &child);
        if (child.kind == CHILD_UNREADABLE && child.error == ENOENT) /* gone while we looked */
            mem_free(child.name);
        else
            rc = place_children_add(ret, &child, err);
    }
    closedir(dir);
    return rc;
}
