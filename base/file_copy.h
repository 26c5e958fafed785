/* SPDX-License-Identifier: Apache-2.0
 *
 * A file's bytes under another name. */
#ifndef BASE_FILE_COPY_H
#define BASE_FILE_COPY_H

#include <stdbool.h>

#include "base/err.h"

/* `to` is made, or emptied before. With `flush` it is on disk afterwards. After an error it may be there in part. Messages name the file that was at fault. */
enum err_code file_copy(const char *from, const char *to, bool flush, struct err *err) WARN_UNUSED;

#endif
