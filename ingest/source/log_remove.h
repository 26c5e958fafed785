/* SPDX-License-Identifier: Apache-2.0
 *
 * Deleting a log: the one function of the program that changes anything in a log directory. Who calls it has decided (ingest/clean_rules.h) and has just seen that the log is as it was.
 * The same in remote places (place_remove), where nothing tells links. */
#ifndef SOURCE_LOG_REMOVE_H
#define SOURCE_LOG_REMOVE_H

#include <stdbool.h>

#include "base/err.h"
#include "ingest/source/log_entry.h"

/* Deletes the log at `path` (as log_entry.path), which lies somewhere below the directory `place`, an address as it. Links are never followed, except where `place` itself is one: a log that is a
 * link, or lies behind one, is refused. Of a rolling directory what belongs to its log goes (events_*, appstatus_* and their .crc files), then the directory, unless something else
 * is in it; with a file its .crc, where it lies in a directory of this machine. What is not there any more counts as deleted, so that an interrupted call can be made again.
 *
 * ERR_UNSUPPORTED: such logs are not deleted (archives, the layouts that a History Server does not know); ERR_INVALID: not below the place, or a link, or no longer what it was. Nothing
 * was deleted then. Other errors: *ret_begun says whether a part of the log is gone already, or may be (a place that did not answer). */
enum err_code log_remove(const char *place, const char *path, enum log_layout layout, bool *ret_begun, struct err *err) WARN_UNUSED;

#endif
