/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

enum err_code file_copy(const char *from, const char *to, bool flush, struct err *err)
{
    struct stat info;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    enum err_code rc = ERR_OK;
    if (in < 0 || fstat(in, &info))
        rc = err_set_errno(err, errno, "%s", from);
    else if ((out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, info.st_mode & 0777)) < 0)
        rc = err_set_errno(err, errno, "%s", to);
    for (off_t left = rc ? 0 : info.st_size; left > 0;) {
        ssize_t sent = sendfile(out, in, NULL, (size_t)MIN(left, (off_t)1 << 30));
        if (sent <= 0) {
            rc = err_set_errno(err, sent < 0 ? errno : EIO, "%s", to);
            break;
        }
        left -= sent;
    }
    if (!rc && flush && fsync(out))
        rc = err_set_errno(err, errno, "%s", to);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) && !rc)
        rc = err_set_errno(err, errno, "%s", to);
    return rc;
}
