/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directories.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err_code make(const char *path, struct err *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? ERR_OK : err_set_errno(err, errno, "cannot make %s", path);
}

enum err_code directories_make(const char *path, struct err *err)
{
    char part[4096];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof part)
        return err_set(err, ERR_INVALID, "the path of a directory is empty or too long");
    memcpy(part, path, len + 1);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        enum err_code rc = access(part, F_OK) == 0 ? ERR_OK : make(part, err);
        *slash = '/';
        if (rc)
            return rc;
    }
    return make(part, err);
}
