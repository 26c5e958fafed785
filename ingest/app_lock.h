/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may write apps/<key>.*: one process at a time, by a lock on apps/<key>.lock. The lock goes with the process, however it ends; the file is removed on release. */
#ifndef INGEST_APP_LOCK_H
#define INGEST_APP_LOCK_H

#include "base/err.h"

/* *ret_lock is to be given to app_lock_release. ERR_BUSY: another process (or load) has it. */
enum err_code app_lock_acquire(const char *store_dir, const char *app_key, int *ret_lock, struct err *err) WARN_UNUSED;
void app_lock_release(const char *store_dir, const char *app_key, int lock);      /* lock −1: nothing */

#endif
