/* SPDX-License-Identifier: Apache-2.0
 *
 * The worst skew and GC grade over the stages of one application, from its database: what the catalogue's app.skew_grade and app.gc_grade hold. Called by the worker at the end of
 * a load and by `analyze`. Reads stage and stage_quantile only; the connection may be read-only. */
#ifndef ANALYSIS_ANNOTATE_APP_H
#define ANALYSIS_ANNOTATE_APP_H

#include <stdint.h>

#include "base/db.h"
#include "base/err.h"

/* Grades as enum grade; UNKNOWN for an application without an ended task. */
enum err_code annotate_app(struct db *app, int64_t *ret_skew_grade, int64_t *ret_gc_grade, struct err *err) WARN_UNUSED;

#endif
