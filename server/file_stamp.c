/* SPDX-License-Identifier: Apache-2.0 */
#include "server/file_stamp.h"

#include <stddef.h>
#include <sys/stat.h>

#define NS_PER_SECOND 1000000000

struct file_stamp file_stamp_of(const char *path)
{
    struct stat st;
    if (!path || stat(path, &st))
        return (struct file_stamp){0};
    return (struct file_stamp){.device = st.st_dev, .inode = st.st_ino, .size_bytes = st.st_size, .modified_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec,
                               .changed_ns = (int64_t)st.st_ctim.tv_sec * NS_PER_SECOND + st.st_ctim.tv_nsec};
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes && a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

bool file_is_open_at(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}
