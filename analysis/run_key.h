/* SPDX-License-Identifier: Apache-2.0
 *
 * Which job a run is a run of (spec/findings.md 9.1). First: what a scheduler or the user says in the run's properties; then name, user and program, without dates and numbers. What its stages
 * are, its shape, tells runs of different programs apart that share a name. */
#ifndef ANALYSIS_RUN_KEY_H
#define ANALYSIS_RUN_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

#define RUN_KEY_MAX_BYTES 512 /* longer ones are cut: they are names that people gave */

/* Asks for a setting of the run; STR_NONE: not set. */
typedef struct str run_key_lookup_fn(void *context, const char *key);

/* Appends the key to `out` and returns where it comes from, static: a property's name, "name"; "none" when nothing was appended. `command` is the driver's command line
 * (system property sun.java.command), where it is known: it names the main class, or the script or jar. */
const char *run_key_make(struct buf *out, run_key_lookup_fn *lookup, void *context, struct str name, struct str user, struct str command);

/* Its main class, or the script's or jar's file name; STR_NONE: it does not say (shells). */
struct str run_key_program(struct str command);

/* The share of two runs' task time that stages with one fingerprint took: 0 … 1; 1 where neither has any. Both are blobs of run_identity.shape; a damaged one has no stages. */
double shape_overlap(struct str a, struct str b);

/* Fills run_identity from the facts and stage_fingerprint. Part of analyse(). */
enum err_code run_identity_write(struct db *app, struct err *err) WARN_UNUSED;

#endif
