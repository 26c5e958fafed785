/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories of this machine: the local half of place.h, which says what these do. */
#ifndef PLACE_PLACE_LOCAL_H
#define PLACE_PLACE_LOCAL_H

#include "place/place.h"

enum err_code place_local_stat(const char *path, struct place_child *ret, struct err *err) WARN_UNUSED;    /* all but the name */
enum err_code place_local_list(const char *path, struct place_children *ret, struct err *err) WARN_UNUSED; /* visible names, unsorted */

#endif
