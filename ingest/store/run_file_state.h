/* SPDX-License-Identifier: Apache-2.0
 *
 * STORE/apps/<key>.db as a file: whether a run of this program's version can be in it, making one whole, and setting a damaged one aside, as STORE/damaged/<key>.db. Nothing is lost by that and nothing reads it there; whoever
 * runs the store looks at it or deletes it. A second one of the same run replaces the first. */
#ifndef STORE_RUN_FILE_STATE_H
#define STORE_RUN_FILE_STATE_H

#include "base/err.h"

enum run_file_state { RUN_FILE_GOOD, RUN_FILE_MISSING, RUN_FILE_OTHER_VERSION, RUN_FILE_DAMAGED };

/* By its head and its length; one whose head is still in its -wal is opened. DAMAGED: no database, another program's, or shorter than it says. Pages further on are not read: whoever meets a bad one says so
 * (worker_control.c, "damaged"). */
enum run_file_state run_file_look(const char *store_dir, const char *app_key);

/* With what belongs to it. ERR_NOT_FOUND: there is none. */
enum err_code run_file_set_aside(const char *store_dir, const char *app_key, struct err *err) WARN_UNUSED;

/* Makes what was committed beside the file at `path` (-wal) a part of it, and what was not (-journal) go: the file of a run whose log was followed, with nobody there to go on. Then it is read
 * where nothing may be written, too, and copied as a whole. Under the lock of the run (app_lock.h), or where no worker lives. ERR_BUSY: a reader holds it; it stays as it is. */
enum err_code run_file_settle(const char *path, struct err *err) WARN_UNUSED;

#endif
