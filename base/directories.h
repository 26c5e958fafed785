/* SPDX-License-Identifier: Apache-2.0
 *
 * A directory with all those above it, as the store and its parts are made. */
#ifndef BASE_DIRECTORIES_H
#define BASE_DIRECTORIES_H

#include "base/err.h"

/* Makes what is not there yet. One that is there is no error, whatever it is. */
enum err_code directories_make(const char *path, struct err *err) WARN_UNUSED;

#endif
