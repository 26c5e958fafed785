/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a store by the names people give them. */
#ifndef CLI_RUN_LOOKUP_H
#define CLI_RUN_LOOKUP_H

#include <stddef.h>

#include "base/db.h"
#include "base/err.h"

#define RUN_KEY_BYTES 256

/* APP[/ATTEMPT] to a key: a key, an id with its attempt, an id (its newest attempt). Of several places the best copy counts. ERR_NOT_FOUND: the store knows no such run. */
enum err_code run_find(const char *store, const char *name, char ret_key[RUN_KEY_BYTES], struct err *err) WARN_UNUSED;

/* The database of a run; close it with db_close. ERR_NOT_FOUND: it is listed and not loaded yet. */
enum err_code run_open(const char *store, const char *key, enum db_mode mode, struct db *ret, struct err *err) WARN_UNUSED;

#endif
