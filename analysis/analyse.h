/* SPDX-License-Identifier: Apache-2.0
 *
 * All of analysis on one application: facts → account → statistics → simulation → rules → rows. Reads and writes one database in which the caller has a transaction open: at the end of a load
 * the loader's own connection, before the file gets its name; again by `afterglow analyze`. What was there of an earlier analysis is replaced; when it fails nothing is left of either (a database
 * that is loaded has no journal to roll back with). Memory: 56 bytes a task attempt and some columns of the largest stage. The caller's thread alone touches the database; from
 * some thousand tasks on a second one works beside it (analyse.c), and a third while it looks at a large stage. */
#ifndef ANALYSIS_ANALYSE_H
#define ANALYSIS_ANALYSE_H

#include "base/db.h"
#include "base/err.h"

/* Raised whenever any rule or formula changes: `analyze` then runs again over old stores. */
#define ANALYSIS_VERSION 9

enum err_code analyse(struct db *app, struct err *err) WARN_UNUSED;

#endif
