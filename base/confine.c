/* SPDX-License-Identifier: Apache-2.0 */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What came after Debian 12's <linux/landlock.h> (ABI 2); numbers are the kernel's for good. */
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */
#define ACCESS_NET_BIND (UINT64_C(1) << 0)     /* ABI 4 */
#define ACCESS_NET_CONNECT (UINT64_C(1) << 1)
#define ACCESS_FS_DEVICE (UINT64_C(1) << 15)     /* ABI 5: ioctl of devices */
#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0) /* ABI 6 */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)
#define NEWEST_ABI 6

#define READ_FILE LANDLOCK_ACCESS_FS_READ_FILE
#define READ_DIR LANDLOCK_ACCESS_FS_READ_DIR
#define REMOVE (LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR)
#define WRITE_FILE (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_TRUNCATE)
#define MAKE (LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REFER)
#define FIRST_RIGHTS (LANDLOCK_ACCESS_FS_REFER - 1) /* all of ABI 1 */

struct ruleset { /* struct landlock_ruleset_attr of ABI 6; an older kernel takes it as long as the rest is 0 */
    uint64_t files, network, scoped;
};

#define IDENTITIES 512 /* more places than anybody names; with more of them nothing is called hidden */
static struct {
    bool on;
    size_t count;
    struct {
        uint64_t device, inode;
    } items[IDENTITIES];
} allowed;

void confine_privileges(void)
{
    const struct rlimit none = {0, 0};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
}

static uint64_t rights_of(int abi)
{
    return FIRST_RIGHTS | (abi >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (abi >= 3 ? ACCESS_FS_TRUNCATE : 0) | (abi >= 5 ? ACCESS_FS_DEVICE : 0);
}

int confine_level(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi < 1 ? 0 : abi > NEWEST_ABI ? NEWEST_ABI : (int)abi;
}

void confine_begin(struct confine *self, bool network)
{
    *self = (struct confine){.level = confine_level(), .fd = -1};
    if (!self->level)
        return;
    const struct ruleset ruleset = {.files = rights_of(self->level),
                                    .network = self->level < 4 ? 0
                                               : network       ? ACCESS_NET_BIND
                                                               : ACCESS_NET_BIND | ACCESS_NET_CONNECT,
                                    .scoped = self->level < 6 ? 0 : SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL};
    self->fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0);
    if (self->fd < 0)
        self->level = 0;
}

void confine_allow(struct confine *self, const char *path, int rights)
{
    if (self->fd < 0)
        return;
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0) {
        uint64_t mask = READ_FILE | READ_DIR | (rights & (CONFINE_REMOVE | CONFINE_WRITE) ? REMOVE : 0) | (rights & CONFINE_WRITE ? WRITE_FILE | MAKE : 0);
        if (!S_ISDIR(st.st_mode))
            mask &= READ_FILE | WRITE_FILE;
        const struct landlock_path_beneath_attr rule = {.allowed_access = mask & rights_of(self->level), .parent_fd = fd};
        if (syscall(SYS_landlock_add_rule, self->fd, LANDLOCK_RULE_PATH_BENEATH, &rule,
                    0)) { /* no file system for this: it cannot be opened then, and that is told where it is tried */
        }
        if (allowed.count < IDENTITIES) {
            allowed.items[allowed.count].device = (uint64_t)st.st_dev;
            allowed.items[allowed.count++].inode = (uint64_t)st.st_ino;
        }
    }
    close(fd);
}

int confine_apply(struct confine *self)
{
    if (self->fd >= 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* the kernel's condition */
        allowed.on = syscall(SYS_landlock_restrict_self, self->fd, 0) == 0;
        close(self->fd);
        self->fd = -1;
    }
    return allowed.on ? self->level : 0;
}

bool confine_hides(const char *directory)
{
    if (!allowed.on || allowed.count == IDENTITIES)
        return false;
    struct stat st;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || errno != EACCES || stat(directory, &st))
        return false;
    for (size_t i = 0; i < allowed.count; i++)
        if (allowed.items[i].device == (uint64_t)st.st_dev && allowed.items[i].inode == (uint64_t)st.st_ino)
            return false;
    return true;
}
