/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a file is still the one that was read: by its place on the disk, size and time. A name that leads to another file (a link that was turned, as Kubernetes does with secrets) is another file. */
#ifndef SERVER_FILE_STAMP_H
#define SERVER_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct file_stamp {
    uint64_t device, inode;
    int64_t size_bytes, modified_ns, changed_ns; /* ns since the epoch; all 0: there is no file */
};

/* As it is now. Take it before the file is read: what is written meanwhile is seen the next time. path NULL: no file. */
struct file_stamp file_stamp_of(const char *path);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* Whether the name leads to the file that is open. */
bool file_is_open_at(int fd, const char *path);

#endif
