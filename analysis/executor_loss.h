/* SPDX-License-Identifier: Apache-2.0
 *
 * Why an executor went, told from the text of its removal: any bytes, in the words of Spark, YARN and Kubernetes. Exit codes are read, and explained, in failure_signature.h. Pure. */
#ifndef ANALYSIS_EXECUTOR_LOSS_H
#define ANALYSIS_EXECUTOR_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* One that goes this shortly before the end goes with the application. */
#define EXECUTOR_SHUTDOWN_MS 5000

/* A static word whose sentence is messages' words/reason:WORD; "unknown" where the text says none that is known here. */
const char *executor_loss_reason(struct str text);
/* Asked for by Spark itself: too long without work, or drained on purpose. */
bool executor_loss_is_wanted(struct str text);
/* It went before its time and nobody asked for that. Times in epoch ms, UNKNOWN where the log has none; end_ms: of the application. A log without an end tells of no shutdown either: what
 * went while it was written was lost. */
bool executor_was_lost(bool active, int64_t remove_ms, struct str reason, int64_t end_ms);

#endif
